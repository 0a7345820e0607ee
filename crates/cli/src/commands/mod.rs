//! One file a command: flags, then calls into the library. What commands share lives elsewhere.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod evaluate;
pub(crate) mod export;
pub(crate) mod info;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod suggest;
pub(crate) mod train;
pub(crate) mod tune;
pub(crate) mod update;

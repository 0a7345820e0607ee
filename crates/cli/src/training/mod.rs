//! Training runs: what `train`, `demo` and a cross-validation share.

pub(crate) mod cross_validation;
pub(crate) mod run_args;
pub(crate) mod train_run;
pub(crate) mod trials;
pub(crate) mod world;

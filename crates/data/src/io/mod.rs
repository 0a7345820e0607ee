//! Bytes in and out: where they come from, how they are compressed, and files that appear complete or not at all.
//!
//! ```
//! use std::io::Write;
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("model.json");
//! inducing_data::write_atomically(&path, |out| out.write_all(b"{}"))?;
//! assert_eq!(std::fs::read(&path)?, b"{}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod atomic;
pub(crate) mod compression;
pub(crate) mod input;
pub(crate) mod output;
pub(crate) mod shards;
pub(crate) mod sniff;
pub(crate) mod source;

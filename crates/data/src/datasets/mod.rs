//! Data sets by name: public ones that lie below a data directory, and functions that are sampled.
//!
//! ```
//! use inducing_data::{NamedSet, SetKind, Simulated};
//!
//! let table = Simulated::Levy.sample(100, 0, 0.1);
//! assert_eq!((table.rows(), table.names().len()), (100, 5));
//! assert_eq!(NamedSet::from_name("mnist").map(NamedSet::kind), Some(SetKind::Images));
//! ```

pub(crate) mod named;
pub(crate) mod named_table;
pub(crate) mod simulated;

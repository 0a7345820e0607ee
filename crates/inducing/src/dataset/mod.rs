//! What is learned from and predicted: a [`Dataset`] as the user named it, its inputs in memory, their schema, and the
//! same split and encoded for a run.

mod custom;
mod inputs;
mod prepared;
mod schema;
mod source;
mod stream;
mod suspicion;

pub(crate) use custom::EncoderFactory;
pub use custom::{CustomSchema, CustomShape, Labels};
pub(crate) use inputs::conform_images;
pub use inputs::{Images, Inputs, Matrix};
pub use prepared::Prepared;
pub(crate) use prepared::{Values, WILDEST};
pub use schema::Schema;
pub use source::{Dataset, DatasetReader};
pub(crate) use source::{Loaded, Origin};
pub(crate) use stream::{RowStream, Window};

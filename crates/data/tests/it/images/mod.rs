//! Images of every kind, from files made here.

mod bad_containers;
mod bad_folders;
mod containers;
mod decoding;
mod folders;
pub(crate) mod make;
mod named;
mod schema;
mod shapes;

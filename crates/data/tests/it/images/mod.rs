//! Images of every kind, from files made here.

mod bad_containers;
mod bad_folders;
mod containers;
mod folders;
mod make;
mod named;
mod pictures;
mod schema;
mod shapes;

//! Kernels as [`Code`](crate::code::Code). Nothing here knows a device beyond its [`Can`](crate::Can): tests need none.

pub mod contract;
pub mod gather;
pub mod index;
pub mod map;
pub mod network;
pub mod reduce;
pub mod rows;
pub mod scan;
pub mod scatter;
pub mod sort;
pub mod space;

mod element;
mod integer;
mod module;
mod remainder;
mod scalar;
mod tree;
mod words;

pub use scalar::{Needs, needs};

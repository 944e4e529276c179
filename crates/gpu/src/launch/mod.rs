//! From a launch (operands with layouts) to dispatches (windows of buffers and arguments).

pub mod contract;
pub mod gather;
pub mod map;
pub mod reduce;
pub mod rows;
pub mod scan;
pub mod scatter;
pub mod sort;

mod indexed;
mod network;
mod pieces;
mod variants;
mod window;

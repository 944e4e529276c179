//! From a launch (operands with layouts) to dispatches (windows of buffers and arguments).

pub mod map;
pub mod reduce;

mod pieces;
mod window;

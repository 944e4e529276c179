//! Every kernel kind against the reference, on every tier and thread count, in guarded buffers.

mod attention;
mod backend;
mod bytes;
mod contract;
mod harness;
mod kept;
mod map;
mod movement;
mod passes;
mod reduce;
mod rows;
mod small;
mod sums;
mod window;

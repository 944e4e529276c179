//! Checks of the scalar functions: accuracy, special values, the sweep over all float32 inputs, and the recorded programs
//! against the functions themselves; the emulated fused multiply-add.

mod accuracy;
mod exhaustive;
mod fma;
mod recorded;
mod special;

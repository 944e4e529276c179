//! Checks of the scalar functions: accuracy, special values, the sweep over all float32 inputs, and the recorded programs
//! against the functions themselves.

mod accuracy;
mod exhaustive;
mod recorded;
mod special;

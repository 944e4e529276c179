//! Checks of the scalar functions: accuracy, special values, and the recorded programs against the functions
//! themselves.

mod accuracy;
mod recorded;
mod special;

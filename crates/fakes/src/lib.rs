//! Devices that do not exist, for tests: they hold the backend trait to what a real device is like.
//!
//! [`Hostile`] can do little, late, and not always. What runs on it correctly does not rely on anything only the CPU has.

mod hostile;
mod memory;
mod worker;

pub use hostile::{Faults, Hostile, MAX_BUFFER};

//! The engine over the CPU backend, as one test binary.

mod fallback;
mod session;
mod support;

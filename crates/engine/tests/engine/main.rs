//! The engine over the CPU backend, as one test binary.

mod fallback;
mod hostile;
mod rewrite;
mod session;
mod support;

//! The engine over the CPU backend, as one test binary.

mod attention;
mod fallback;
mod fuse;
mod hostile;
mod narrow;
mod profile;
mod rewrite;
mod rows;
mod session;
mod support;
mod vulkan;
mod walk;

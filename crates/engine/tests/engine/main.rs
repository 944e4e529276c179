//! The engine over the CPU backend, as one test binary.
// With the feature `fault` the whole process's memory and threads fail: only the walk over that runs.
#![cfg_attr(feature = "fault", allow(dead_code))]

#[cfg(not(feature = "fault"))]
mod attention;
#[cfg(not(feature = "fault"))]
mod fallback;
#[cfg(feature = "fault")]
mod fault;
#[cfg(not(feature = "fault"))]
mod hostile;
#[cfg(not(feature = "fault"))]
mod narrow;
#[cfg(not(feature = "fault"))]
mod profile;
#[cfg(not(feature = "fault"))]
mod rewrite;
#[cfg(not(feature = "fault"))]
mod rows;
#[cfg(not(feature = "fault"))]
mod session;
mod support;
#[cfg(not(feature = "fault"))]
mod vulkan;
mod walk;

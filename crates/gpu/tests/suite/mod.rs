//! Kernels of `ferrotensor_gpu` on a device, beside the reference, for the test binary of each backend: it has a module `host` with its
//! `Device`, what the first one can do (`can`), ways to open it (`first`, `open` as told, `open_bare` without what it offers beside that),
//! and what is wrong with code as it prints it (`complaint`).

pub mod launches;
pub mod random;

mod careful;
mod contract;
mod convolution;
mod emitter;
mod indexed;
mod kernels;
mod poor;
mod rows;
mod scans;
mod sort;

pub use emitter::everything;

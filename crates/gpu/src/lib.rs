//! What GPU backends share: kernels as code, and launches as dispatches of them. A backend prints the code, compiles it, and records
//! the dispatches; nothing here names one, and nothing depends on which it is beyond its [`Can`].
//!
//! A kernel becomes a plain program (`ferrotensor_core::scalar::plain`), then [`Code`](code::Code) (`emit/`). A launch becomes
//! dispatches (`launch/`) that a backend's [`Recorder`] takes. `lower.rs` says which kernels there are.

mod can;
pub mod code;
pub mod emit;
pub mod free_list;
pub mod hazards;
mod kernel;
mod launch;
pub mod loss;
pub mod lower;
mod recorder;
pub mod report;

pub use can::Can;
pub use kernel::{Program, Ready};
pub use recorder::{Binding, Compiled, Compiler, Recorder};

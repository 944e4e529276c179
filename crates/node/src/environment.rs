//! What one Node environment owns: its session, handles, shared buffers and error classes. The engine is the process's.

use crate::callback::Bound;
use crate::error::ErrorClasses;
use crate::files::Encoded;
use crate::handles::Handles;
use crate::program::Buffers;
use crate::promise::Promises;
use crate::sources::Sources;
use crate::watch::Watched;
use ferrotensor_core::backend::Backend;
use ferrotensor_core::registry::{Known, Registry};
use ferrotensor_engine::{Completion, Engine, Session};
use napi_sys as sys;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

/// The engine of this process, made on first use: devices are probed once, memory is budgeted once.
pub fn engine() -> &'static Arc<Engine> {
    static ENGINE: OnceLock<Arc<Engine>> = OnceLock::new();
    ENGINE.get_or_init(|| {
        ferrotensor_host::set_threads(ferrotensor_cpu::threads());
        Engine::new(Registry::new(BACKENDS), ferrotensor_host::run)
    })
}

/// Every backend by name, those that are still to be written included: `devices()` says of each why it is absent. Of devices
/// of one class the first one here is the default: a vendor's own interface comes before Vulkan.
const BACKENDS: &[Known] = &[
    Known { name: "cpu", probe: ferrotensor_cpu::probe, complete: true },
    Known { name: "cuda", probe: absent, complete: false },
    Known { name: "rocm", probe: absent, complete: false },
    // Dense linear algebra and FFT need the CPU, and no GPU has been asked yet.
    Known { name: "vulkan", probe: ferrotensor_vulkan::probe, complete: false },
    Known { name: "systolic", probe: simulated, complete: false },
];

fn absent() -> Result<Vec<Arc<dyn Backend>>, String> {
    Err(concat!("not part of ferrotensor ", env!("CARGO_PKG_VERSION")).into())
}

/// There are systolic arrays in TypeScript, which are no device.
fn simulated() -> Result<Vec<Arc<dyn Backend>>, String> {
    Err(concat!("no such device in ferrotensor ", env!("CARGO_PKG_VERSION"), "; ft.systolic simulates arrays on the host")
        .into())
}

/// The state behind every callback of one environment. Used on that environment's JavaScript thread only.
pub struct Environment {
    /// The environment itself.
    pub env: sys::napi_env,
    /// Types, attributes, schedules and queue of this environment.
    pub session: Session,
    /// Tensors JavaScript holds.
    pub handles: Handles,
    /// Recorded expressions to run under pressure.
    pub watched: Watched,
    /// Memory shared with TypeScript.
    pub buffers: Buffers,
    /// The registered TypeScript classes.
    pub errors: ErrorClasses,
    /// Opened files.
    pub sources: Sources,
    /// A file in memory that JavaScript has not taken yet.
    pub encoded: Encoded,
    /// The way back from other threads.
    pub promises: Promises,
    /// For each device, the program of the last output that was not ready when it was queued.
    pub queued: HashMap<u16, Arc<Completion>>,
    /// Warnings TypeScript has not taken yet.
    pub warnings: Vec<String>,
    /// The functions bound to this state.
    pub functions: Box<[Bound]>,
}

impl Environment {
    /// The state of a new environment.
    pub fn new(env: sys::napi_env) -> Self {
        Environment {
            env,
            session: Session::new(engine().clone()),
            handles: Handles::new(env),
            watched: Watched::default(),
            buffers: Buffers::default(),
            errors: ErrorClasses::default(),
            sources: Sources::default(),
            encoded: Encoded::default(),
            promises: Promises::default(),
            queued: HashMap::new(),
            warnings: Vec::new(),
            functions: Box::default(),
        }
    }
}

/// Runs when the environment ends (not for the main one after `process.exit()`): drops queued programs and every tensor,
/// and lets devices come to rest.
///
/// # Safety
/// `state` is the pointer given to `napi_add_env_cleanup_hook`, and no callback runs any more.
pub unsafe extern "C" fn cleanup(state: *mut c_void) {
    // SAFETY: made by `Box::into_raw` in `napi_register_module_v1`; Node calls the hook once.
    let state = unsafe { Box::from_raw(state.cast::<Environment>()) };
    // A panic must not cross into C++; there is nobody left to tell.
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        state.session.abandon();
        drop(state);
        engine().settle();
    }));
}

#[cfg(test)]
mod tests {
    use super::BACKENDS;

    #[test]
    fn the_absent_systolic_device_says_what_there_is_instead() {
        let known = BACKENDS.iter().find(|known| known.name == "systolic").expect("it is known");
        let reason = (known.probe)().err().expect("it is absent");
        assert!(reason.starts_with("no such device") && reason.contains("ft.systolic"), "{reason}");
    }
}

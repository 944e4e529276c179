//! Promises settled from other threads: one threadsafe function per environment, ref'ed only while promises are pending.
//!
//! Never libuv's pool: a pool thread stuck in native code makes `process.exit()` and uncaught exceptions hang. 1.8 us per
//! promise in batches, against 48 us with a threadsafe function for each.

use crate::environment::Environment;
use crate::reference::Scope;
use crate::value;
use ferrotensor_core::planted;
use ferrotensor_core::{Error, Result};
use ferrotensor_io::Source;
use napi_sys as sys;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

/// What a promise resolves to.
pub enum Answer {
    /// `undefined`.
    Nothing,
    /// An `ArrayBuffer`.
    Bytes(Vec<u8>),
    /// The description of an opened source, which the environment keeps.
    Source(Source),
}

/// The end of a promise.
pub type Settled = Result<Answer>;

/// The promises of one environment.
#[derive(Default)]
pub struct Promises {
    port: Option<Arc<Port>>,
    pending: usize,
}

/// The way to an environment's thread; empty once the environment ends.
struct Port(Mutex<Option<Function>>);

struct Function(sys::napi_threadsafe_function);
// SAFETY: threadsafe functions may be called from any thread; the port's lock keeps calls before their end.
unsafe impl Send for Function {}

/// Settles one promise, from any thread. Dropped without an answer when the environment has ended.
pub struct Settle {
    deferred: sys::napi_deferred,
    port: Arc<Port>,
}
// SAFETY: the deferred is only carried; it is used on its environment's thread (in `deliver`).
unsafe impl Send for Settle {}

struct Delivery {
    deferred: sys::napi_deferred,
    outcome: Settled,
}

impl Settle {
    /// Whether somebody still waits: no longer, once the environment has ended.
    pub fn is_awaited(&self) -> bool {
        self.port.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Sends the outcome to the environment's thread.
    pub fn settle(self, outcome: Settled) {
        let delivery = Box::into_raw(Box::new(Delivery { deferred: self.deferred, outcome }));
        let port = self.port.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lost = planted::is("a-promise-is-never-settled");
        // SAFETY: the port is emptied, under its lock, before Node frees the function.
        let sent = port.as_ref().filter(|_| !lost).is_some_and(|f| unsafe {
            sys::napi_call_threadsafe_function(f.0, delivery.cast(), sys::ThreadsafeFunctionCallMode::nonblocking)
                == sys::Status::napi_ok
        });
        if !sent {
            // SAFETY: nobody took it.
            drop(unsafe { Box::from_raw(delivery) });
        }
    }
}

impl Environment {
    /// A new pending promise, and what settles it.
    ///
    /// # Errors
    /// `Code::Internal` when Node refuses.
    pub fn promise(&mut self) -> Result<(sys::napi_value, Settle)> {
        let port = self.port()?;
        let (mut deferred, mut promise) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: inside a callback of `env`.
        value::check(unsafe { sys::napi_create_promise(self.env, &mut deferred, &mut promise) }, "napi_create_promise")?;
        if self.promises.pending == 0 {
            self.keep_alive(&port, true);
        }
        self.promises.pending += 1;
        Ok((promise, Settle { deferred, port }))
    }

    /// Whether pending promises keep the process alive.
    fn keep_alive(&self, port: &Port, alive: bool) {
        if let Some(f) = port.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            // SAFETY: on the environment's thread, with the function alive (it is in the port).
            unsafe {
                if alive {
                    sys::napi_ref_threadsafe_function(self.env, f.0);
                } else {
                    sys::napi_unref_threadsafe_function(self.env, f.0);
                }
            }
        }
    }

    /// The threadsafe function, made on first use.
    fn port(&mut self) -> Result<Arc<Port>> {
        if let Some(port) = &self.promises.port {
            return Ok(port.clone());
        }
        let mut function = ptr::null_mut();
        let context = ptr::from_mut(self).cast::<c_void>();
        let name = value::from_text(self.env, "ferrotensor");
        let (none, null) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: `deliver` matches the signature. The context outlives the function: the environment's own cleanup hook was
        // added first, so it runs last, and `deliver` does not touch the context once Node has passed a null `env`.
        let status = unsafe {
            sys::napi_create_threadsafe_function(
                self.env,
                none,
                none,
                name,
                0,
                1,
                null,
                None,
                context,
                Some(deliver),
                &mut function,
            )
        };
        value::check(status, "napi_create_threadsafe_function")?;
        let port = Arc::new(Port(Mutex::new(Some(Function(function)))));
        // SAFETY: `close_port` takes the count given here. Added after the function, so it runs before Node frees it.
        unsafe {
            sys::napi_unref_threadsafe_function(self.env, function);
            sys::napi_add_env_cleanup_hook(self.env, Some(close_port), Arc::into_raw(port.clone()).cast_mut().cast());
        }
        self.promises.port = Some(port.clone());
        Ok(port)
    }
}

unsafe extern "C" fn close_port(port: *mut c_void) {
    // SAFETY: the count given to `napi_add_env_cleanup_hook`; the hook runs once.
    let port = unsafe { Arc::from_raw(port.cast::<Port>()) };
    port.0.lock().unwrap_or_else(PoisonError::into_inner).take();
}

/// Runs on the environment's thread for each settled promise.
unsafe extern "C" fn deliver(env: sys::napi_env, _: sys::napi_value, context: *mut c_void, data: *mut c_void) {
    // SAFETY: made by `Box::into_raw` in `settle`; Node delivers it once.
    let Delivery { deferred, outcome } = *unsafe { Box::from_raw(data.cast::<Delivery>()) };
    if env.is_null() {
        return;
    }
    // SAFETY: see `port`.
    let state = unsafe { &mut *context.cast::<Environment>() };
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let _scope = Scope::open(env);
        // First: a count that stays up would keep the process alive for ever.
        state.promises.pending -= 1;
        if state.promises.pending == 0
            && let Some(port) = state.promises.port.clone()
        {
            state.keep_alive(&port, false);
        }
        let value = outcome.and_then(|answer| match answer {
            Answer::Nothing => Ok(ptr::null_mut()),
            Answer::Bytes(bytes) if bytes.len() <= COPIED => value::own_buffer(env, &bytes),
            Answer::Bytes(bytes) => lent_buffer(env, bytes),
            Answer::Source(source) => state.sources.describe(env, source),
        });
        // SAFETY: `deferred` is pending and belongs to `env`; `undefined` stands for no value.
        unsafe {
            match value {
                Ok(mut value) => {
                    if value.is_null() {
                        sys::napi_get_undefined(env, &mut value);
                    }
                    sys::napi_resolve_deferred(env, deferred, value);
                }
                Err(error) => {
                    // Without an object the worker is being terminated: nobody waits.
                    if let Some(object) = state.errors.object(env, &error) {
                        sys::napi_reject_deferred(env, deferred, object);
                    }
                }
            }
        }
    }));
}

/// The largest buffer of foreign memory that every supported Node takes (`buffer.constants.MAX_LENGTH` of Node 20).
const NODE_BUFFER_MAX: usize = 1 << 32;

/// Bytes up to which a result is copied on the JavaScript thread: 64 KiB take 5 us there.
const COPIED: usize = 64 << 10;

/// Bytes as an `ArrayBuffer` that owns them; copied where the runtime forbids memory of ours. They are freed in a turn of the event loop: for
/// the results of promises alone, each of which needs one.
fn lent_buffer(env: sys::napi_env, bytes: Vec<u8>) -> Result<sys::napi_value> {
    let mut out = ptr::null_mut();
    let len = bytes.len();
    if len > NODE_BUFFER_MAX {
        // Node would refuse after calling `free_bytes`, so that nobody could tell whether the vector is gone.
        return Err(Error::out_of_memory(format!("no ArrayBuffer of {len} bytes")));
    }
    let owned = Box::into_raw(Box::new(bytes));
    // SAFETY: the vector's memory stays where it is until `free_bytes` drops it; when Node refuses, nobody else has it.
    unsafe {
        let data = (*owned).as_mut_ptr().cast();
        let status = sys::napi_create_external_arraybuffer(env, data, len, Some(free_bytes), owned.cast(), &mut out);
        if status == sys::Status::napi_ok {
            return Ok(out);
        }
        value::own_buffer(env, &Box::from_raw(owned))
    }
}

unsafe extern "C" fn free_bytes(_: sys::napi_env, _: *mut c_void, bytes: *mut c_void) {
    // SAFETY: made by `Box::into_raw` in `lent_buffer`; the finalizer runs once.
    drop(unsafe { Box::from_raw(bytes.cast::<Vec<u8>>()) });
}

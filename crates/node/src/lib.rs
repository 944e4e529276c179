//! The native module: Node-API only. Environment state, handles, conversion, promises; no arithmetic and no shape logic.
//!
//! Reading order: `environment.rs` (what one Node environment owns), `callback.rs` (how JavaScript calls arrive),
//! `program.rs` (the hot calls, in the words of `protocol.rs`), `handles.rs` (which tensors JavaScript holds), `readback.rs` and
//! `promise.rs` (values and waiting), `control.rs` (devices, memory, statistics), `plan.rs` (what a program would do), `profile.rs` (what kernels took), `share.rs`
//! (tokens between workers), `files.rs` (files read and written; `sources.rs`: what is open, `tables.rs`: tables of text), `flat.rs` (operations on memory without tensors).
//!
//! Raw callbacks instead of `#[napi]` functions: 32-40 ns against 170-270 ns per call, and state hangs on the callback's data
//! pointer, so the module may be loaded several times in one thread and in any number of workers.

mod callback;
mod control;
mod environment;
mod error;
mod files;
mod flat;
mod handles;
mod hash;
mod plan;
mod profile;
mod program;
mod promise;
mod protocol;
mod readback;
mod reference;
mod share;
mod sources;
mod tables;
mod value;
mod watch;

use callback::{Bound, Callback};
use environment::Environment;
use napi_sys as sys;
use std::ffi::CStr;
use std::sync::Once;

/// Every function JavaScript sees.
const FUNCTIONS: &[(&CStr, Callback)] = &[
    (c"setErrorClasses", error::set_classes),
    (c"table", program::table),
    (c"setBuffers", program::set_buffers),
    (c"run", program::run),
    (c"infer", program::infer),
    (c"internType", program::intern_type),
    (c"typeOf", program::type_of),
    (c"internAttrs", program::intern_attrs),
    (c"endEpoch", program::end_epoch),
    (c"upload", program::upload),
    (c"read", readback::read),
    (c"readAsync", readback::read_async),
    (c"wait", readback::wait),
    (c"waitAsync", readback::wait_async),
    (c"drain", readback::drain),
    (c"dispose", handles::dispose),
    (c"adopt", handles::adopt),
    (c"closeScope", handles::close_scope),
    (c"collect", handles::collect),
    (c"press", handles::press),
    (c"watch", watch::watch),
    (c"pruneWatched", watch::prune),
    (c"watched", watch::watched),
    (c"takeWatched", watch::take),
    (c"share", share::share),
    (c"fromShared", share::from_shared),
    (c"openSource", files::open),
    (c"openSourceAsync", files::open_async),
    (c"closeSource", files::close),
    (c"holdSource", files::hold),
    (c"reserve", program::reserve),
    (c"lend", files::lend),
    (c"fill", files::fill),
    (c"fillAsync", files::fill_async),
    (c"texts", tables::texts),
    (c"write", files::write),
    (c"encoded", files::encoded),
    (c"writeAsync", files::write_async),
    (c"engine", flat::engine),
    (c"flat", flat::flat),
    (c"flatAsync", flat::flat_async),
    (c"memory", control::memory),
    (c"setLimit", control::set_limit),
    (c"trim", control::trim),
    (c"devices", control::devices),
    (c"deviceName", control::device_name),
    (c"findDevice", control::find_device),
    (c"preferredDevice", control::preferred_device),
    (c"setThreads", control::set_threads),
    (c"stats", control::stats),
    (c"takeWarnings", control::take_warnings),
    (c"resetStats", control::reset_stats),
    (c"config", control::config),
    (c"plan", plan::plan),
    (c"openProfile", profile::open),
    (c"closeProfile", profile::close),
];

/// Called by Node for each environment that loads the module.
///
/// # Safety
/// `env` and `exports` are the live environment and object Node passes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn napi_register_module_v1(env: sys::napi_env, exports: sys::napi_value) -> sys::napi_value {
    static PROCESS: Once = Once::new();
    PROCESS.call_once(|| {
        // SAFETY: first use of Node-API in this process. The library handle is leaked: symbols stay loaded for good.
        std::mem::forget(unsafe { sys::setup() });
        error::install_panic_hook();
    });
    let state = Box::into_raw(Box::new(Environment::new(env)));
    let functions: Box<[Bound]> = FUNCTIONS.iter().map(|&(_, callback)| Bound { callback, state }).collect();
    // SAFETY: `env` is live; `state`, and the functions it owns, are freed by the cleanup hook alone, after which no
    // JavaScript runs in `env`.
    unsafe {
        (*state).functions = functions;
        sys::napi_add_env_cleanup_hook(env, Some(environment::cleanup), state.cast());
        for ((name, _), bound) in FUNCTIONS.iter().zip(&(*state).functions) {
            callback::define(env, exports, name, bound);
        }
    }
    exports
}

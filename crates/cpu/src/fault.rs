//! What the process refuses this backend on demand, for tests (feature `fault`). The counters are the process's: one walk at a
//! time, in a process of its own.

use ferrotensor_core::fault::Countdown;
use std::sync::atomic::{AtomicBool, Ordering};

/// Host memory, of tensors and of kernels' scratch.
pub static MEMORY: Countdown = Countdown::never();
/// The workers of the pool.
pub static THREADS: Countdown = Countdown::never();

static FORGETFUL: AtomicBool = AtomicBool::new(false);

/// From now on no thread keeps scratch memory for its next launch: each block is asked for anew, and may be refused.
pub fn keep_no_scratch() {
    FORGETFUL.store(true, Ordering::Relaxed);
}

/// Whether [`keep_no_scratch`] was called.
pub(crate) fn is_forgetful() -> bool {
    FORGETFUL.load(Ordering::Relaxed)
}

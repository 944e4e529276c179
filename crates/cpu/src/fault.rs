//! What the process refuses this backend on demand, for tests (feature `fault`). The counters are the process's: one walk at a
//! time.

use ferrotensor_core::fault::Countdown;

/// Host memory, of tensors and of kernels' scratch.
pub static MEMORY: Countdown = Countdown::never();
/// The workers of the pool.
pub static THREADS: Countdown = Countdown::never();

//! What the process refuses the engine on demand, for tests (feature `fault`). The counters are the process's: one walk at a
//! time.

use ferrotensor_core::fault::Countdown;

/// Host memory for what a fallback carries.
pub static MEMORY: Countdown = Countdown::never();
/// The executors' threads and the reader thread.
pub static THREADS: Countdown = Countdown::never();

//! That a device is gone: told by its driver, or found when it has not moved for too long. What a device that hangs may still write
//! is never given back.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// How long a device may take for one submission before it counts as hanging. Submissions are cut to an estimated 100 ms; this
/// leaves room for a factor of a thousand.
pub const PATIENCE: Duration = Duration::from_secs(120);

const LOST: u8 = 1;
const HANGS: u8 = 2;

/// What became of a device.
#[derive(Default)]
pub struct Loss(AtomicU8);

impl Loss {
    /// Its driver says that it is gone.
    pub fn tell(&self) {
        self.0.fetch_max(LOST, Ordering::AcqRel);
    }

    /// It does not answer, and nobody knows what it still does.
    pub fn tell_hanging(&self) {
        self.0.fetch_max(HANGS, Ordering::AcqRel);
    }

    /// Whether it is not to be used again.
    pub fn is_told(&self) -> bool {
        self.0.load(Ordering::Acquire) >= LOST
    }

    /// Whether it may still be writing.
    pub fn is_hanging(&self) -> bool {
        self.0.load(Ordering::Acquire) == HANGS
    }
}

/// How far a device had come, and since when it was not seen to move.
#[derive(Clone, Copy)]
pub struct Progress {
    value: u64,
    since: Instant,
}

impl Progress {
    /// It is there now.
    pub fn at(value: u64) -> Progress {
        Progress { value, since: Instant::now() }
    }

    /// Looks again: whether it has stood there for longer than `patience`.
    pub fn is_stalled(&mut self, value: u64, patience: Duration) -> bool {
        if value != self.value {
            *self = Progress::at(value);
        }
        self.since.elapsed() > patience
    }
}

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

/// What one look at a device counts for at most: between two of them the whole process may have stood still (a debugger, a container
/// that is paused, a lid that is closed), and a software device with it.
const LOOK: Duration = Duration::from_secs(1);

/// How far a device had come, and for how long it was watched and did not move.
#[derive(Clone, Copy)]
pub struct Progress {
    value: u64,
    watched: Duration,
    looked: Instant,
}

impl Progress {
    /// It is there now.
    pub fn at(value: u64) -> Progress {
        Progress { value, watched: Duration::ZERO, looked: Instant::now() }
    }

    /// Looks again: whether it was seen to stand there for longer than `patience`.
    pub fn is_stalled(&mut self, value: u64, patience: Duration) -> bool {
        if value != self.value {
            *self = Progress::at(value);
        }
        self.watched += self.looked.elapsed().min(LOOK);
        self.looked = Instant::now();
        self.watched > patience
    }
}

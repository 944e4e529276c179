//! Failures on demand, for tests: a counter of the calls until the one that fails. Whoever takes a resource asks it, in a fake
//! device always, in the product only when it is built with the feature `fault`.

use std::sync::atomic::{AtomicU64, Ordering};

/// Says which call fails. Walked as k = 1, 2, ... until the k-th call does not happen any more, it makes every failure of a
/// scenario happen once (SQLite's way of testing: <https://sqlite.org/testing.html>, section 3).
#[derive(Debug, Default)]
pub struct Countdown(AtomicU64);

impl Countdown {
    /// After a call that failed and whose repetition fails too.
    const AGAIN: u64 = u64::MAX;

    /// No call fails.
    pub const fn never() -> Self {
        Countdown(AtomicU64::new(0))
    }

    /// The k-th call from now on fails; with 0 none does.
    pub fn arm(&self, k: u64) {
        self.0.store(k, Ordering::Release);
    }

    /// Whether the call that fails is still to come.
    pub fn is_armed(&self) -> bool {
        !matches!(self.0.load(Ordering::Acquire), 0 | Self::AGAIN)
    }

    /// Counts a call; true for the one that fails.
    pub fn strikes(&self) -> bool {
        self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1)) == Ok(1)
    }

    /// As [`Countdown::strikes`], and true once more for the call after it: for resources that their user asks for twice.
    pub fn strikes_twice(&self) -> bool {
        let next = |n: u64| match n {
            0 => None,
            1 => Some(Self::AGAIN),
            Self::AGAIN => Some(0),
            n => Some(n - 1),
        };
        matches!(self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next), Ok(1 | Self::AGAIN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kth_call_fails_once_or_twice() {
        let c = Countdown::never();
        assert_eq!([c.strikes(), c.strikes_twice(), c.is_armed()], [false; 3]);
        c.arm(2);
        assert_eq!([c.is_armed(), c.strikes(), c.strikes(), c.strikes(), c.is_armed()], [true, false, true, false, false]);
        c.arm(2);
        assert_eq!([c.strikes_twice(), c.strikes_twice(), c.is_armed()], [false, true, false]);
        assert_eq!([c.strikes_twice(), c.strikes_twice()], [true, false]);
    }
}

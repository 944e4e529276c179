//! Which dispatches need a barrier between them: ranges read and written since the last one (ggml's way, its pull request
//! 15489). Knows no device: a buffer is a number.

use ferrotensor_core::planted;

/// The bytes of one binding.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// Which buffer.
    pub buffer: u64,
    /// First byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
    /// Whether it is written; else it is read.
    pub write: bool,
}

impl Touch {
    fn overlaps(&self, other: &Touch) -> bool {
        self.buffer == other.buffer && self.start < other.end && other.start < self.end
    }
}

/// More than this many ranges cost more to compare than a barrier costs to run.
const MOST: usize = 256;

/// What was touched since the last barrier.
#[derive(Default)]
pub struct Hazards {
    read: Vec<Touch>,
    written: Vec<Touch>,
}

impl Hazards {
    /// Enters a dispatch; whether a barrier belongs before it. It does when it writes what was touched, or reads what was
    /// written.
    pub fn enter(&mut self, touches: impl Iterator<Item = Touch> + Clone) -> bool {
        let mut hit = self.read.len() + self.written.len() > MOST;
        for touch in touches.clone() {
            let any = |list: &[Touch]| list.iter().any(|t| t.overlaps(&touch));
            hit = hit || any(&self.written) || (touch.write && any(&self.read));
        }
        if hit {
            self.clear();
        }
        for touch in touches {
            if touch.write { self.written.push(touch) } else { self.read.push(touch) }
        }
        hit && !planted::is("a-barrier-is-missing")
    }

    /// A barrier that stands anyway.
    pub fn clear(&mut self) {
        self.read.clear();
        self.written.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(buffer: u64, start: u64, end: u64, write: bool) -> Touch {
        Touch { buffer, start, end, write }
    }

    #[test]
    fn a_barrier_stands_only_between_dependent_dispatches() {
        let mut h = Hazards::default();
        let mut enter = |list: &[Touch]| h.enter(list.iter().copied());
        assert!(!enter(&[touch(1, 0, 10, false), touch(2, 0, 10, true)]));
        assert!(!enter(&[touch(1, 0, 10, false), touch(2, 10, 20, true)]), "other bytes");
        assert!(!enter(&[touch(3, 0, 10, false), touch(4, 0, 10, true)]), "other buffers");
        assert!(enter(&[touch(2, 5, 6, false), touch(5, 0, 1, true)]), "read after write");
        assert!(!enter(&[touch(4, 0, 10, false)]), "the barrier was for all before it");
        assert!(enter(&[touch(4, 9, 12, true)]), "write after read");
        assert!(enter(&[touch(4, 11, 12, true)]), "write after write");
    }
}

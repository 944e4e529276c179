//! Where temporaries lie: one block for each program, its parts reused by lifetime.

use ferrotensor_core::planted;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// A temporary's size and the steps it lives through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// Bytes.
    pub bytes: usize,
    /// The step that writes it.
    pub from: usize,
    /// The last step that reads it.
    pub until: usize,
}

/// Parts start at multiples of this: a cache line, and every element size divides it.
const ALIGN: usize = 64;

/// Temporaries that are placed by their size, which compares each with each: a plan of 58,000 operations took 36 us an operation so, and takes 20 by time.
const MOST_BY_SIZE: usize = 2048;

/// Offsets of the temporaries in one block, and the block's size.
pub fn place(lives: &[Life]) -> (Vec<usize>, usize) {
    if lives.len() <= MOST_BY_SIZE { by_size(lives) } else { by_time(lives) }
}

/// First fit, largest first: least memory, in time that grows with the square of their number.
fn by_size(lives: &[Life]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..lives.len()).collect();
    order.sort_by_key(|&i| (Reverse(lives[i].bytes), i));
    let mut offsets = vec![0; lives.len()];
    let mut placed: Vec<usize> = Vec::new();
    let mut total = 0;
    for i in order {
        let life = lives[i];
        let mut busy: Vec<(usize, usize)> = placed
            .iter()
            .filter(|&&j| lives[j].from <= life.until && life.from <= lives[j].until)
            .filter(|&&j| !planted::is("temporaries-overlap") || lives[j].until != life.from)
            .map(|&j| (offsets[j], offsets[j] + lives[j].bytes))
            .collect();
        busy.sort_unstable();
        let mut at = 0;
        for (start, end) in busy {
            if at + life.bytes <= start {
                break;
            }
            at = at.max(end.next_multiple_of(ALIGN));
        }
        offsets[i] = at;
        total = total.max(at + life.bytes);
        placed.push(i);
    }
    (offsets, total)
}

/// Best fit, in the order in which they are written, as an allocator would: so many are a loop's, whose sizes repeat and leave few gaps.
fn by_time(lives: &[Life]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..lives.len()).collect();
    order.sort_by_key(|&i| (lives[i].from, Reverse(lives[i].bytes), i));
    let mut offsets = vec![0; lives.len()];
    let mut living: BinaryHeap<Reverse<(usize, usize)>> = BinaryHeap::new();
    let mut gaps = Gaps::default();
    for i in order {
        let Life { bytes, from, until } = lives[i];
        while let Some(&Reverse((end, j))) = living.peek()
            && end < from
        {
            living.pop();
            gaps.free(offsets[j], padded(lives[j].bytes));
        }
        offsets[i] = gaps.take(padded(bytes));
        living.push(Reverse((until, i)));
    }
    (offsets, gaps.end)
}

/// Bytes that a temporary takes: one of none has a place too.
fn padded(bytes: usize) -> usize {
    bytes.max(1).next_multiple_of(ALIGN)
}

/// What is free below the end of the block.
#[derive(Default)]
struct Gaps {
    /// Bytes by offset; no gap touches another.
    by_offset: BTreeMap<usize, usize>,
    /// The same, as bytes and offset.
    by_size: BTreeSet<(usize, usize)>,
    end: usize,
}

impl Gaps {
    /// The offset of so many bytes: in the smallest gap that has them, or at the end.
    fn take(&mut self, bytes: usize) -> usize {
        let found = self.by_size.range((bytes, 0)..).next().copied();
        if let Some((size, at)) = found {
            self.remove(at, size);
            if size > bytes {
                self.insert(at + bytes, size - bytes);
            }
            return at;
        }
        // The last gap grows, if it lies at the end.
        let last = self.by_offset.last_key_value().map(|(&at, &size)| (at, size));
        let at = match last.filter(|(at, size)| at + size == self.end) {
            Some((at, size)) => {
                self.remove(at, size);
                at
            }
            None => self.end,
        };
        self.end = at + bytes;
        at
    }

    /// Gives bytes back, joined with what is free beside them.
    fn free(&mut self, mut at: usize, mut bytes: usize) {
        if let Some((&below, &size)) = self.by_offset.range(..at).next_back()
            && below + size == at
        {
            self.remove(below, size);
            (at, bytes) = (below, bytes + size);
        }
        if let Some(&size) = self.by_offset.get(&(at + bytes)) {
            self.remove(at + bytes, size);
            bytes += size;
        }
        self.insert(at, bytes);
    }

    fn insert(&mut self, at: usize, bytes: usize) {
        self.by_offset.insert(at, bytes);
        self.by_size.insert((bytes, at));
    }

    fn remove(&mut self, at: usize, bytes: usize) {
        self.by_offset.remove(&at);
        self.by_size.remove(&(bytes, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that live at once, at most.
    fn least(lives: &[Life]) -> usize {
        let end = lives.iter().map(|life| life.until + 2).max().unwrap_or(0);
        let mut change = vec![0isize; end];
        for life in lives {
            change[life.from] += padded(life.bytes).cast_signed();
            change[life.until + 1] -= padded(life.bytes).cast_signed();
        }
        let running = change.iter().scan(0, |sum, c| {
            *sum += c;
            Some(*sum)
        });
        running.max().unwrap_or(0).cast_unsigned()
    }

    /// Temporaries of a recurrent layer with gradients: each step keeps values for the way back, and has others for a few operations.
    fn gradient(steps: usize) -> Vec<Life> {
        let step = |i: usize| {
            let (there, back) = (4 * i, 8 * steps - 4 * i);
            [
                Life { bytes: 4096, from: there, until: back },
                Life { bytes: 1024, from: there + 1, until: back - 1 },
                Life { bytes: 4096, from: there, until: there + 2 },
                Life { bytes: 1024, from: there + 1, until: there + 3 },
                Life { bytes: 65536, from: back, until: back + 1 },
                Life { bytes: 1024, from: back + 1, until: back + 2 },
                Life { bytes: 65536, from: back + 2, until: back + 5 },
            ]
        };
        (0..steps).flat_map(step).collect()
    }

    #[test]
    fn many_temporaries_take_little_more_than_what_lives_at_once_and_few_the_least() {
        for steps in [3, 200, 600] {
            let lives = gradient(steps);
            let (offsets, total) = place(&lives);
            assert!(total <= least(&lives) + least(&lives) / 20, "{steps} steps: {total} of {}", least(&lives));
            // Each byte is one living temporary's at each step: in the order of time, what lies below starts after what lived there.
            let mut last: BTreeMap<usize, usize> = BTreeMap::new();
            let mut order: Vec<usize> = (0..lives.len()).collect();
            order.sort_by_key(|&i| lives[i].from);
            for i in order {
                for block in (offsets[i] / ALIGN)..(offsets[i] + lives[i].bytes).div_ceil(ALIGN) {
                    assert!(last.insert(block, lives[i].until).is_none_or(|until| until < lives[i].from), "{steps} steps");
                }
            }
        }
    }

    #[test]
    fn living_temporaries_never_overlap_and_dead_ones_are_reused() {
        let mut state = 1u64;
        let mut random = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        for _ in 0..200 {
            let lives: Vec<Life> = (0..random(20))
                .map(|_| {
                    let from = random(30) as usize;
                    Life { bytes: 1 + random(1000) as usize, from, until: from + random(6) as usize }
                })
                .collect();
            for (offsets, total) in [by_size(&lives), by_time(&lives)] {
                for (i, a) in lives.iter().enumerate() {
                    assert!(offsets[i] % ALIGN == 0 && offsets[i] + a.bytes <= total);
                    for (j, b) in lives.iter().enumerate().skip(i + 1) {
                        let together = a.from <= b.until && b.from <= a.until;
                        let apart = offsets[i] + a.bytes <= offsets[j] || offsets[j] + b.bytes <= offsets[i];
                        assert!(!together || apart);
                    }
                }
            }
        }
        let chain: Vec<Life> = (0..10).map(|i| Life { bytes: 64, from: i, until: i + 1 }).collect();
        assert_eq!([by_size(&chain).1, by_time(&chain).1], [128, 128]);
    }
}

//! Where temporaries lie: one block for each program, its parts reused by lifetime.

use ferrotensor_core::planted;

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

/// Offsets of the temporaries in one block, and the block's size: first fit, largest first.
pub fn place(lives: &[Life]) -> (Vec<usize>, usize) {
    let mut order: Vec<usize> = (0..lives.len()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(lives[i].bytes), i));
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

#[cfg(test)]
mod tests {
    use super::*;

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
            let (offsets, total) = place(&lives);
            for (i, a) in lives.iter().enumerate() {
                assert!(offsets[i] % ALIGN == 0 && offsets[i] + a.bytes <= total);
                for (j, b) in lives.iter().enumerate().skip(i + 1) {
                    let together = a.from <= b.until && b.from <= a.until;
                    let apart = offsets[i] + a.bytes <= offsets[j] || offsets[j] + b.bytes <= offsets[i];
                    assert!(!together || apart);
                }
            }
        }
        let chain: Vec<Life> = (0..10).map(|i| Life { bytes: 64, from: i, until: i + 1 }).collect();
        assert_eq!(place(&chain).1, 128);
    }
}

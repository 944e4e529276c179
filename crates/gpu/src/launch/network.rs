//! Sorting rows of (key, index) pairs that lie in memory of the launch's own.

use super::pieces::FARTHEST;
use super::variants::Variants;
use crate::Can;
use crate::Compiler;
use crate::emit::network::{self, BLOCK, Blocks, Exchange, LOG_BLOCK, Stage};
use crate::{Binding, Recorder};
use ferrotensor_core::backend::Buffer;
use ferrotensor_core::{DType, Error, Result};
use std::ops::Range;

/// What a step of a pair in shared memory counts for, of a GPU and of a software device, in bytes moved at 10 GB/s: Mesa's takes 14 ns
/// of a core, as every barrier changes the thread.
const SHARED: [usize; 2] = [4, 128];
/// The same of a step through the device's memory, beside what it moves: 6 ns.
const MEMORY: [usize; 2] = [0, 64];
/// What a dispatch over blocks may count for: the 100 ms that a submission may take.
const LONGEST: usize = 1 << 30;

/// Rows of pairs, one row after the other: a buffer of keys, and one of indices below 2^31.
pub struct Pairs {
    /// Elements of uint32 or uint64.
    pub keys: Buffer,
    /// Elements of uint32.
    pub indices: Buffer,
}

impl Pairs {
    /// Memory for so many pairs, with keys of uint32 or uint64.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn new(recorder: &mut dyn Recorder, key: DType, count: usize) -> Result<Pairs> {
        let mut scratch = |bytes: usize| recorder.scratch((count.max(1) * bytes) as u64);
        Ok(Pairs { keys: scratch(key.bytes())?, indices: scratch(4)? })
    }
}

/// The network for keys of one dtype, and its pipelines.
pub struct Network {
    key: DType,
    can: Can,
    pipelines: Variants<2>,
}

/// A pass over blocks: what is read, and what of it is written where.
struct Pass<'a> {
    from: (&'a Pairs, usize),
    to: (&'a Pairs, usize),
    rows: usize,
    /// Pairs of a segment that are written.
    kept: usize,
    /// Whether segments are sorted, else the last steps of a stage are made.
    sorts: bool,
    numbered: bool,
}

impl Network {
    /// The network for keys of uint32 or uint64.
    pub fn new(key: DType, can: &Can) -> Network {
        Network { key, can: can.clone(), pipelines: Variants::default() }
    }

    /// Compiles its kernels, which the first launch would do else.
    ///
    /// # Errors
    /// The driver's.
    pub fn prepare(&self, compiler: &dyn Compiler) -> Result<()> {
        let mut stages = [Stage::Blocks, Stage::Exchange].into_iter();
        stages.try_for_each(|stage| self.pipelines.get(stage as usize, compiler, || self.shader(stage)).map(drop))
    }

    fn shader(&self, stage: Stage) -> Result<crate::code::Code, String> {
        Ok(network::shader(self.key, stage, &self.can))
    }

    /// Sorts `rows` rows of `length` pairs each in place: by key, ascending, those of equal keys by index. With `numbered` the indices
    /// are yet to be made: that of a pair is its place in its row, so that the sort is stable.
    ///
    /// # Errors
    /// `Code::Unsupported` for 2^31 pairs and more; the driver's.
    pub fn sort(
        &self,
        recorder: &mut dyn Recorder,
        pairs: &Pairs,
        rows: usize,
        length: usize,
        numbered: bool,
    ) -> Result<()> {
        if rows == 0 || length == 0 {
            return Ok(());
        }
        if rows.saturating_mul(length) > FARTHEST as usize {
            return Err(Error::unsupported(format!("a sort of {rows} times {length} pairs, of 2^31 and more")));
        }
        let mut pass =
            Pass { from: (pairs, length), to: (pairs, length), rows, kept: BLOCK as usize, sorts: true, numbered };
        self.blocks(recorder, &pass)?;
        (pass.sorts, pass.numbered) = (false, false);
        let last = length.next_power_of_two().trailing_zeros();
        for stage in LOG_BLOCK + 1..=last {
            for log in (LOG_BLOCK..stage).rev() {
                self.exchange(recorder, pairs, rows, length, log, log + 1 == stage)?;
            }
            self.blocks(recorder, &pass)?;
        }
        Ok(())
    }

    /// Whether [`Network::least`] takes the first `count` of a row of so many pairs.
    pub fn selects(length: usize, count: usize) -> bool {
        length > BLOCK as usize && count <= BLOCK as usize / 2
    }

    /// Pairs of a row that are left of `length` when `count` of each block are kept.
    pub fn left(length: usize, count: usize) -> usize {
        let block = BLOCK as usize;
        length / block * count + count.min(length % block)
    }

    /// The first `count` pairs of each row, at the beginning of shorter rows, of which they are the sorted first ones. Returns which of
    /// the two has them, and the length of its rows. The second has room for [`Network::left`] pairs of each row, the first is used too.
    /// Indices are made as with [`Network::sort`] and `numbered`.
    ///
    /// # Errors
    /// As [`Network::sort`].
    pub fn least<'a>(
        &self,
        recorder: &mut dyn Recorder,
        [pairs, other]: [&'a Pairs; 2],
        rows: usize,
        length: usize,
        count: usize,
    ) -> Result<(&'a Pairs, usize)> {
        if rows.saturating_mul(length) > FARTHEST as usize {
            return Err(Error::unsupported(format!("a sort of {rows} times {length} pairs, of 2^31 and more")));
        }
        let (mut now, mut next, mut length, mut numbered) = (pairs, other, length, true);
        while length > BLOCK as usize {
            let left = Network::left(length, count);
            let (from, to) = ((now, length), (next, left));
            self.blocks(recorder, &Pass { from, to, rows, kept: count, sorts: true, numbered })?;
            (now, next, length, numbered) = (next, now, left, false);
        }
        let row = (now, length);
        self.blocks(recorder, &Pass { from: row, to: row, rows, kept: BLOCK as usize, sorts: true, numbered })?;
        Ok((now, length))
    }

    /// Pairs that one window of keys or indices shows, wherever it begins.
    fn shown(&self) -> usize {
        let range = (self.can.max_range as usize).min(FARTHEST as usize) / self.key.bytes();
        range.saturating_sub(self.unit())
    }

    /// Pairs that windows begin at multiples of.
    fn unit(&self) -> usize {
        (self.can.alignment as usize / 4).max(1)
    }

    /// The window of some pairs, and the pair it begins with.
    fn window<'a>(&self, pairs: &'a Pairs, shown: Range<usize>, write: bool) -> ([Binding<'a>; 2], u32) {
        let first = shown.start / self.unit() * self.unit();
        let of = |buffer: &'a Buffer, size: usize| {
            let (offset, bytes) = ((first * size) as u64, ((shown.end - first) * size) as u64);
            Binding { buffer, offset, bytes, write }
        };
        ([of(&pairs.keys, self.key.bytes()), of(&pairs.indices, 4)], first as u32)
    }

    fn blocks(&self, recorder: &mut dyn Recorder, pass: &Pass) -> Result<()> {
        let ((source, length), (target, row)) = (pass.from, pass.to);
        let log = length.next_power_of_two().trailing_zeros().min(LOG_BLOCK);
        let (size, each) = (1usize << log, length.div_ceil(1 << log));
        let kept = pass.kept.min(size);
        let total = pass.rows * each;
        let steps = if pass.sorts { log * (log + 1) / 2 } else { log } as usize;
        // Moving a pair counts for some steps.
        let weight = SHARED[self.can.software as usize] * (steps + 4);
        let most = self.shown().min(LONGEST / weight) / size;
        if most == 0 {
            return Err(Error::unsupported(format!("a sort on a device whose descriptors show no {BLOCK} pairs")));
        }
        let pipeline = self.pipelines.get(Stage::Blocks as usize, recorder.compiler(), || self.shader(Stage::Blocks))?;
        for begin in (0..total).step_by(most) {
            let end = total.min(begin + most);
            // Where a segment begins, and where the last one ends.
            let covers = |length: usize, size: usize| {
                let last = (end - 1) % each * size;
                let start = begin / each * length + begin % each * size;
                start..(end - 1) / each * length + (last + size).min(length)
            };
            let (read, from) = self.window(source, covers(length, size), false);
            let (written, to) = self.window(target, covers(row, kept), true);
            let tiles = ((end - begin) << log).div_ceil(BLOCK as usize) as u32;
            let words = Blocks {
                tiles,
                log,
                segments: [begin as u32, end as u32],
                each: each as u32,
                length: length as u32,
                first: if pass.sorts { 1 } else { log },
                mirrored: pass.sorts,
                kept: [kept as u32, row as u32],
                windows: [from, to],
                numbered: pass.numbered,
            };
            recorder.charge((weight * ((end - begin) << log)) as u64);
            let bindings = [read[0], read[1], written[0], written[1]];
            recorder.dispatch(&pipeline, &words.words(), &bindings, None, tiles.min(self.can.max_groups))?;
        }
        Ok(())
    }

    /// A step of a stage whose comparisons reach beyond blocks.
    fn exchange(
        &self,
        recorder: &mut dyn Recorder,
        pairs: &Pairs,
        rows: usize,
        length: usize,
        log: u32,
        mirrored: bool,
    ) -> Result<()> {
        let make = || self.shader(Stage::Exchange);
        let pipeline = self.pipelines.get(Stage::Exchange as usize, recorder.compiler(), make)?;
        let log_row = length.next_power_of_two().trailing_zeros() - 1;
        let weight = MEMORY[self.can.software as usize];
        let mut step = |comparisons: Range<usize>, low: Range<usize>, high: Range<usize>| {
            let (lower, low_from) = self.window(pairs, low, true);
            let (upper, high_from) = self.window(pairs, high, true);
            let count = comparisons.len();
            let (first, windows) = (comparisons.start as u32, [low_from, high_from]);
            let words = Exchange { count: count as u32, first, log_row, log, mirrored, length: length as u32, windows };
            let bindings = [lower[0], lower[1], upper[0], upper[1]];
            recorder.charge((weight * 2 * count) as u64);
            recorder.dispatch(&pipeline, &words.words(), &bindings, None, self.can.groups(count))
        };
        let shown = self.shown();
        let together = shown / length;
        if together > 0 {
            for begin in (0..rows).step_by(together) {
                let end = rows.min(begin + together);
                let all = begin * length..end * length;
                step(begin << log_row..end << log_row, all.clone(), all)?;
            }
            return Ok(());
        }
        // Rows longer than a window: so many comparisons that the lower pairs of each dispatch follow each other, and the upper ones.
        let half = 1usize << log;
        let chunk = (1 << (shown / 2).max(1).ilog2()).min(1usize << log_row);
        for row in 0..rows {
            let (before, numbered) = (row * length, row << log_row);
            for first in (0..1usize << log_row).step_by(chunk) {
                let (low, high) = if chunk > half {
                    (2 * first..2 * (first + chunk), 2 * first..2 * (first + chunk))
                } else {
                    let low = (first >> log << (log + 1)) + first % half;
                    // Mirrored, the last comparison is about the lowest of the upper pairs.
                    let apart = if mirrored { 2 * (half - first % half) - chunk } else { half };
                    (low..low + chunk, low + apart..low + apart + chunk)
                };
                if high.start >= length {
                    continue;
                }
                let inside = |r: Range<usize>| before + r.start..before + r.end.min(length);
                step(numbered + first..numbered + first + chunk, inside(low), inside(high))?;
            }
        }
        Ok(())
    }
}

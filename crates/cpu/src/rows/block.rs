//! Blocks of rows: every step over some rows, before the next rows, by one thread.

use super::fused::{Pass, SHORTEST};
use super::plain::Plain;
use super::spread::{Spread, spread};
use super::{Part, RowsKernel, Sizes, Step};
use crate::cache;
use crate::launch::{Context, Slots};
use crate::map::frame::{Bound, Frame, Memory};
use crate::map::view::splat;
use crate::parallel::parallel_for;
use crate::reduce::lanes::{LONGEST, TreeFns};
use crate::reduce::short::ShortItems;
use crate::reduce::tree::Tree;
use crate::reduce::{Accumulate, ReduceKernel, Rule};
use crate::scratch::Scratch;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::rows::Per;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

// Bytes of all values of a block, in memory and in operands: 64 KiB and 1 MiB are up to 20 % slower.
const BLOCK_BYTES: usize = 1 << 18;
// From here on a step goes along one row at a time, and meets the row's value in a register filled with it; shorter ones share a
// tile, in which their values are spread.
const LONG_ROW: usize = 512;
// From here on largest elements are found by their pass: of shorter rows whole tiles are faster (softmax of 64 elements: 0.93 and 1.27 ns each).
const LONG_EXTREME: usize = 256;
// A load whose low 12 address bits are those of a store just before it waits for that, though they are unrelated: what a thread
// keeps of an element has the low bits it would have in an operand of a page's alignment, which was read before.
const PAGE: usize = 4096;

/// The programs of a step with the operands of a launch.
#[allow(clippy::large_enum_variant, reason = "a launch has a few of them, and makes them without an allocation each")]
enum Ready<'a> {
    Map(Bound<'a>),
    Reduce { kernel: &'a ReduceKernel, fns: TreeFns, pre: Bound<'a>, post: Bound<'a> },
}

/// A launch over blocks.
pub(super) struct Launch<'a> {
    kernel: &'a RowsKernel,
    pub(super) extent: usize,
    /// Whether steps are done by their passes.
    fused: bool,
    /// Values of elements that are met in an operand which is plain.
    pub(super) plain: Vec<Option<Plain>>,
    /// Whether a value of elements is met in an operand.
    in_memory: Vec<bool>,
    /// Where a value lies in a thread's memory, unless in an operand.
    offsets: Vec<usize>,
    bytes: usize,
    steps: Vec<Ready<'a>>,
    moved: Vec<Bound<'a>>,
}

impl RowsKernel {
    pub(super) fn by_blocks(&self, slots: &Slots, sizes: &Sizes, params: &[u64], context: &Context) -> Result<()> {
        let memory = self.memory(slots);
        let plain: Vec<Option<Plain>> = memory
            .iter()
            .zip(&self.values)
            .map(|(m, &(size, per))| {
                m.filter(|_| per == Per::Element)
                    .and_then(|(layout, start)| Plain::new(layout, start, size, sizes.kept.len()))
            })
            .collect();
        let fused = sizes.extent >= SHORTEST
            && self
                .passes
                .iter()
                .zip(&self.steps)
                .all(|(pass, step)| self.fits(pass.as_ref(), step, &memory, &plain, sizes.extent));
        let of_row = |&(size, per): &(usize, Per)| if per == Per::Element { size * sizes.extent } else { size };
        let block = (BLOCK_BYTES / self.values.iter().map(of_row).sum::<usize>().max(1)).clamp(1, sizes.rows);
        let mut launch = Launch {
            kernel: self,
            extent: sizes.extent,
            fused,
            plain,
            in_memory: memory.iter().zip(&self.values).map(|(m, (_, per))| m.is_some() && *per == Per::Element).collect(),
            offsets: Vec::with_capacity(self.values.len()),
            // For the alignment of what follows.
            bytes: PAGE,
            steps: Vec::with_capacity(self.steps.len()),
            moved: Vec::with_capacity(self.moved.len()),
        };
        for (value, &in_memory) in self.values.iter().zip(&launch.in_memory) {
            launch.offsets.push(launch.bytes - PAGE);
            if !in_memory {
                launch.bytes += (of_row(value) * block).next_multiple_of(PAGE) + PAGE;
            }
        }
        let whole = |v: usize| -> Memory { memory[v].filter(|_| launch.in_memory[v]) };
        let of_values =
            launch.in_memory.iter().zip(&self.values).filter(|(m, _)| **m).map(|(_, (size, _))| size * sizes.extent);
        let moved = of_values.sum::<usize>().saturating_mul(sizes.rows);
        let mut nanos = 0.0;
        for step in &self.steps {
            let own = &params[step.params.clone()];
            // SAFETY: a launch's layouts lie inside its buffers and its outputs overlap nothing.
            let ready = unsafe { ready(step, whole, own)? };
            // Results that no later step reads go past the caches where they would not stay there.
            let ready = match ready {
                Ready::Map(bound) if launch.in_memory[step.to] && !step.is_read => Ready::Map(bound.passing_among(moved)),
                other => other,
            };
            let each = match &ready {
                Ready::Map(bound) => bound.nanos(),
                Ready::Reduce { kernel, pre, .. } => pre.nanos() + 0.02 * kernel.acc_size as f64,
            };
            let elements = matches!(step.part, Part::Reduce(_)) || self.values[step.to].1 == Per::Element;
            // Beginning a step costs about 20 ns.
            nanos += each * if elements { sizes.extent as f64 } else { 1.0 } + 20.0 / block as f64;
            launch.steps.push(ready);
        }
        for (v, map) in &self.moved {
            let slot: Memory = memory[*v];
            let operands = if *v < self.inputs { [slot, None] } else { [None, slot] };
            // SAFETY: as above.
            launch.moved.push(unsafe { Bound::new(map.program(), &operands, &[])? });
        }
        let launch = &launch;
        parallel_for(sizes.rows.div_ceil(block), nanos * block as f64, &|blocks| {
            let mut worker = Worker::new(launch)?;
            for n in blocks {
                if context.abandoned.load(Relaxed) {
                    break;
                }
                // SAFETY: blocks are apart, and each is one thread's.
                unsafe { worker.run(n * block..((n + 1) * block).min(sizes.rows)) };
            }
            cache::fence();
            Ok(())
        })
    }
}

/// # Safety
/// As [`Bound::new`].
unsafe fn ready<'a>(step: &'a Step, whole: impl Fn(usize) -> Memory<'a>, params: &'a [u64]) -> Result<Ready<'a>> {
    match &step.part {
        Part::Map(map) => {
            let operands: SmallVec<[Memory; 4]> = step.operands.iter().chain([&step.to]).map(|&v| whole(v)).collect();
            // SAFETY: by the contract above.
            Ok(Ready::Map(unsafe { Bound::new(map.program(), &operands, params)? }))
        }
        Part::Reduce(kernel) => {
            let Rule::Value(fns) = kernel.rule else { return Err(Error::internal("rows: a reduction to a position")) };
            let (before, after) = params.split_at(kernel.pre_params);
            // SAFETY: by the contract above.
            unsafe {
                let pre = Bound::new(&kernel.pre, &[whole(step.operands[0]), None], before)?;
                let post = Bound::new(&kernel.post, &[None, None], after)?;
                Ok(Ready::Reduce { kernel, fns, pre, post })
            }
        }
    }
}

/// What a thread runs a step with.
#[allow(clippy::large_enum_variant, reason = "a launch has a few of them, and makes them without an allocation each")]
enum Tools<'a> {
    Map(Frame<'a>),
    Reduce { pre: Frame<'a>, post: Frame<'a>, tree: Tree },
}

/// A thread's programs and memory.
struct Worker<'a> {
    launch: &'a Launch<'a>,
    tools: SmallVec<[Tools<'a>; 8]>,
    moved: SmallVec<[Frame<'a>; 4]>,
    memory: Scratch,
}

impl<'a> Worker<'a> {
    fn new(launch: &'a Launch<'a>) -> Result<Worker<'a>> {
        let bounds = launch.steps.iter().flat_map(|step| match step {
            Ready::Map(bound) => SmallVec::<[&Bound; 2]>::from_slice(&[bound]),
            Ready::Reduce { pre, post, .. } => SmallVec::from_slice(&[pre, post]),
        });
        let room = |bound: &Bound| bound.frame_bytes().next_multiple_of(64);
        let registers: usize = bounds.chain(&launch.moved).map(room).sum();
        let memory = Scratch::take(launch.bytes + registers)?;
        let mut at = launch.bytes;
        let mut frame = |bound: &'a Bound<'a>| {
            at += room(bound);
            // SAFETY: the memory has room for every frame beside the values, and lives as long as they do.
            unsafe { Frame::within(bound, usize::MAX, memory.as_ptr().wrapping_add(at - room(bound))) }
        };
        let tools = launch.steps.iter().map(|step| match step {
            Ready::Map(bound) => Ok(Tools::Map(frame(bound))),
            Ready::Reduce { fns, pre, post, .. } => {
                Ok(Tools::Reduce { pre: frame(pre), post: frame(post), tree: Tree::new(*fns, 1, launch.extent)? })
            }
        });
        let tools = tools.collect::<Result<_>>()?;
        Ok(Worker { tools, moved: launch.moved.iter().map(frame).collect(), memory, launch })
    }

    /// # Safety
    /// The rows exist, and no other thread has them.
    unsafe fn run(&mut self, rows: Range<usize>) {
        let (launch, kernel) = (self.launch, self.launch.kernel);
        let start = self.memory.as_ptr();
        let block = Block { launch, memory: start.wrapping_add(start.align_offset(PAGE)), rows };
        // SAFETY: by the contract above, here and below.
        let cross = |frames: &mut [Frame], comes: bool| unsafe {
            for (n, frame) in frames.iter_mut().enumerate().filter(|(n, _)| (kernel.moved[*n].0 < kernel.inputs) == comes) {
                block.cross(kernel.moved[n].0, &launch.moved[n], frame, comes);
            }
        };
        cross(&mut self.moved, true);
        for (n, tools) in self.tools.iter_mut().enumerate() {
            let step = &kernel.steps[n];
            let elements = kernel.values[step.to].1 == Per::Element;
            let pass = if launch.fused { kernel.passes[n].as_ref() } else { None };
            // SAFETY: as above.
            unsafe {
                match (tools, &launch.steps[n], pass) {
                    (_, _, Some(Pass::Absorbed)) => {}
                    (_, _, Some(Pass::Scale { run, x, less, row, others })) => {
                        block.scale(*run, [*x, *row, step.to], *less, others);
                    }
                    (Tools::Map(frame), Ready::Map(bound), _) if elements => block.map_elements(step, bound, frame),
                    (Tools::Map(frame), Ready::Map(_), _) => block.map_rows(step, frame),
                    (Tools::Reduce { pre, post, tree }, Ready::Reduce { kernel, fns, pre: bound, .. }, pass) => {
                        let mut results = Results { block: &block, kernel, to: step.to, post, done: 0, count: 0 };
                        let from = step.operands[0];
                        let extent = launch.extent;
                        match pass {
                            Some(Pass::Sum { run, x, y, row, kept }) => block.sum(*run, *x, [*y, *row, *kept], &mut results),
                            Some(Pass::Extreme { run, x }) if extent >= LONG_EXTREME => {
                                block.extreme(*run, *x, &mut results, |rows, results| {
                                    block.reduce(rows, from, bound, pre, tree, results)
                                });
                            }
                            _ if extent <= LONGEST.min(pre.tile()) && bound.domain.keeps(extent) => {
                                block.reduce_short(from, *fns, bound, pre, &mut results);
                            }
                            _ => block.reduce(block.rows.clone(), from, bound, pre, tree, &mut results),
                        }
                        results.flush();
                    }
                    // Both come from one list of steps.
                    (Tools::Map(_), Ready::Reduce { .. }, _) | (Tools::Reduce { .. }, Ready::Map(_), _) => {}
                }
            }
        }
        cross(&mut self.moved, false);
    }
}

/// Rows that one thread has, and its memory.
pub(super) struct Block<'a> {
    pub(super) launch: &'a Launch<'a>,
    memory: *mut u8,
    pub(super) rows: Range<usize>,
}

impl Block<'_> {
    /// Where a value begins that is in no operand: of elements and of rows, that of the block's first.
    fn value(&self, v: usize) -> *mut u8 {
        self.memory.wrapping_add(self.launch.offsets[v])
    }

    pub(super) fn size(&self, v: usize) -> usize {
        self.launch.kernel.values[v].0
    }

    /// The value of a row.
    pub(super) fn of_row(&self, v: usize, row: usize) -> *mut u8 {
        self.value(v).wrapping_add((row - self.rows.start) * self.size(v))
    }

    /// Where element `at` of a value is that is in no operand.
    pub(super) fn element(&self, v: usize, at: usize) -> *mut u8 {
        let (first, size) = (self.rows.start * self.launch.extent, self.size(v));
        self.value(v).wrapping_add(first * size % PAGE + (at - first) * size)
    }

    /// A value of rows comes from an operand, or goes there.
    ///
    /// # Safety
    /// The rows are this thread's, as in all methods.
    unsafe fn cross(&self, v: usize, bound: &Bound, frame: &mut Frame, comes: bool) {
        let mut row = self.rows.start;
        while row < self.rows.end {
            let len = bound.domain.piece(row, frame.tile().min(self.rows.end - row));
            let tile = self.of_row(v, row);
            if comes {
                frame.place(0, tile)
            } else {
                frame.set(0, tile)
            }
            // SAFETY: by the contract above; the block has a place for each of its rows.
            unsafe { frame.run(row, len) };
            row += len;
        }
    }

    /// # Safety
    /// As [`Block::cross`].
    unsafe fn map_rows(&self, step: &Step, frame: &mut Frame) {
        let mut row = self.rows.start;
        while row < self.rows.end {
            let len = frame.tile().min(self.rows.end - row);
            step.operands.iter().enumerate().for_each(|(n, &o)| frame.set(n, self.of_row(o, row)));
            frame.place(0, self.of_row(step.to, row));
            // SAFETY: every operand is a value of rows.
            unsafe { frame.run(row, len) };
            row += len;
        }
    }

    /// # Safety
    /// As [`Block::cross`].
    unsafe fn map_elements(&self, step: &Step, bound: &Bound, frame: &mut Frame) {
        let (launch, extent) = (self.launch, self.launch.extent);
        let (mut at, end) = (self.rows.start * extent, self.rows.end * extent);
        let is_row = |o: usize| launch.kernel.values[o].1 == Per::Row;
        let by_rows = extent >= LONG_ROW && step.operands.iter().any(|&o| is_row(o));
        // The row whose values fill registers, and how far.
        let mut filled = (usize::MAX, 0);
        while at < end {
            let mut len = bound.domain.piece(at, frame.tile().min(end - at));
            if by_rows {
                len = len.min(extent - at % extent);
            }
            let row = at / extent;
            for (n, &o) in step.operands.iter().enumerate() {
                if launch.in_memory[o] {
                    continue;
                }
                if !is_row(o) {
                    frame.set(n, self.element(o, at));
                } else if !by_rows {
                    let (from, first) = (self.of_row(o, row), extent - at % extent);
                    // SAFETY: a register has room for a tile.
                    unsafe { spread(self.size(o), Spread { from, extent, first, to: frame.input(n), len }) };
                } else if filled.0 != row || filled.1 < len {
                    // SAFETY: as above.
                    unsafe { splat(self.of_row(o, row), self.size(o), len, frame.input(n)) };
                }
            }
            filled = if filled.0 == row { (row, filled.1.max(len)) } else { (row, len) };
            if !launch.in_memory[step.to] {
                frame.place(0, self.element(step.to, at));
            }
            // SAFETY: the elements exist, are this thread's, and those in no operand have a place in the block.
            unsafe { frame.run(at, len) };
            at += len;
        }
    }

    /// Short rows, whole tiles of them.
    ///
    /// # Safety
    /// As [`Block::cross`].
    unsafe fn reduce_short(&self, from: usize, fns: TreeFns, bound: &Bound, pre: &mut Frame, results: &mut Results) {
        let extent = self.launch.extent;
        let most = (pre.tile() / extent).min(results.post.tile());
        let mut row = self.rows.start;
        while row < self.rows.end {
            let len = bound.domain.piece(row * extent, most.min(self.rows.end - row) * extent);
            let items = len / extent;
            if !self.launch.in_memory[from] {
                pre.set(0, self.element(from, row * extent));
            }
            // SAFETY: the elements exist, pieces end where rows do, and there is room for as many results.
            unsafe {
                pre.run(row * extent, len);
                (fns.short)(ShortItems { src: pre.result(0).cast_const(), out: results.room(items), items, extent });
            }
            row += items;
        }
    }

    /// Rows of any length.
    ///
    /// # Safety
    /// As [`Block::cross`].
    unsafe fn reduce(
        &self,
        rows: Range<usize>,
        from: usize,
        bound: &Bound,
        pre: &mut Frame,
        tree: &mut Tree,
        results: &mut Results,
    ) {
        let extent = self.launch.extent;
        for row in rows {
            let (mut at, end) = (row * extent, (row + 1) * extent);
            while at < end {
                let len = bound.domain.piece(at, pre.tile().min(end - at));
                if !self.launch.in_memory[from] {
                    pre.set(0, self.element(from, at));
                }
                // SAFETY: the elements exist, and the program's result has as many.
                unsafe {
                    pre.run(at, len);
                    tree.feed(pre.result(0).cast_const(), len);
                }
                at += len;
            }
            // SAFETY: there is room for a result, and a row has elements.
            unsafe { tree.finish(results.room(1)) };
        }
    }
}

/// Results of a reduction until a tile of them goes through its second program.
pub(super) struct Results<'a, 'b> {
    block: &'a Block<'a>,
    kernel: &'a ReduceKernel,
    to: usize,
    post: &'a mut Frame<'b>,
    /// Rows of the block that are through, and those that wait.
    done: usize,
    count: usize,
}

impl Results<'_, '_> {
    /// Where the results of the next rows go, at most a tile of them.
    pub(super) fn room(&mut self, rows: usize) -> *mut u8 {
        if self.count + rows > self.post.tile() {
            self.flush();
        }
        self.count += rows;
        self.post.input(0).wrapping_add((self.count - rows) * self.kernel.acc_size)
    }

    /// How many wait at most.
    pub(super) fn most(&self) -> usize {
        self.post.tile()
    }

    /// The last ones, which had room, come again.
    pub(super) fn retract(&mut self, rows: usize) {
        self.count -= rows;
    }

    fn flush(&mut self) {
        let first = self.block.rows.start + self.done;
        self.post.place(0, self.block.of_row(self.to, first));
        // SAFETY: the results that wait are in the program's input, and the block has a place for each row.
        unsafe { self.post.run(first, self.count) };
        (self.done, self.count) = (self.done + self.count, 0);
    }
}

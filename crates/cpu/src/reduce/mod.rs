//! `Reduce` kernels: how the elements of an operand reach the reduction tree, and how results leave it.
//!
//! An input `[kept..., reduced...]` is walked in one of two orders: item by item `[kept...][reduced...]`, or, where the last
//! kept axis lies closer in memory than the reduced ones, in blocks `[kept..., block][reduced...][width]` of `width` outputs
//! side by side. Both build the same tree for each output.

pub mod lanes;
mod position;
pub mod short;
pub mod tree;
mod walk;

use crate::launch::{Context, Run, Slots};
use crate::map::cast_program;
use crate::map::compile::{Results, TileProgram, compile};
use crate::map::frame::{Bound, Frame};
use crate::map::table::ordered;
use crate::map::view::splat;
use crate::memory::CpuBuffer;
use crate::number::{Item, Number, Ordered};
use crate::parallel::{parallel_for, threads};
use crate::tier::Tier;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::{Combine, Monoid, Reduce};
use ferrotensor_core::planted;
use ferrotensor_core::{Bool, DType, match_dtype};
use lanes::{GROUP, LONGEST, TreeFns};
use position::{PositionFns, Positions, position_fns};
use short::ShortItems;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use tree::Tree;
use walk::Walk;

/// What takes the elements of a few outputs side by side and gives one result for each.
pub trait Accumulate {
    /// Takes the next `len` elements, in the flat order `[extent][width]`.
    ///
    /// # Safety
    /// `src` has them, aligned.
    unsafe fn feed(&mut self, src: *const u8, len: usize);

    /// Writes the results and starts anew.
    ///
    /// # Safety
    /// `out` has room for `width` results, and at least one element of each output was fed.
    unsafe fn finish(&mut self, out: *mut u8);
}

/// How elements are combined.
#[derive(Clone, Copy)]
pub enum Rule {
    Value(TreeFns),
    Position(PositionFns),
}

/// A compiled `Reduce`.
pub struct ReduceKernel {
    /// Input to accumulator.
    pub pre: TileProgram,
    /// Result of the rule to output.
    pub post: TileProgram,
    /// What happens between them.
    pub rule: Rule,
    /// The result of reducing nothing, by its bytes; `None` where there is none.
    of_nothing: Option<[u64; 2]>,
    axes: usize,
    /// Launch parameters of `pre`; the others are those of `post`.
    pub pre_params: usize,
    /// Bytes of an accumulator.
    pub acc_size: usize,
    result_size: usize,
}

// Groups that one thread reduces on its own when an output has many: 65536 elements, 15 us of float32.
// Any power of two gives the same tree: Miri, which interprets few elements, gets two chunks all the same.
const CHUNK: usize = if cfg!(miri) { GROUP } else { 128 * GROUP };

/// Compiles a reduction.
///
/// # Errors
/// A sentence for a monoid that the dtype does not have, or a program that does not fit.
pub fn prepare(kernel: &Reduce, tier: Tier) -> Result<ReduceKernel, String> {
    let (rule, result) = match kernel.combine {
        Combine::Value(monoid) => (Rule::Value(TreeFns::new(monoid, kernel.acc, tier)?), kernel.acc),
        Combine::ArgMax | Combine::ArgMin => {
            (Rule::Position(position_fns(kernel.combine == Combine::ArgMax, kernel.acc, tier)?), DType::I32)
        }
    };
    let pre = kernel.pre.clone().unwrap_or_else(|| cast_program(kernel.input, kernel.acc));
    let post = kernel.post.clone().unwrap_or_else(|| cast_program(result, result));
    if pre.inputs != [kernel.input] || post.inputs != [result] || pre.outputs.len() != 1 || post.outputs.len() != 1 {
        return Err("reduce: a program needs one input and one output of the kernel's dtypes".into());
    }
    let pre_params = pre.params.len();
    let (pre, post) = (compile(&pre, Results::Kept, tier)?, compile(&post, Results::Stored, tier)?);
    if pre.outputs[0].1 != kernel.acc.bytes() {
        return Err("reduce: the first program's result is not the accumulator's dtype".into());
    }
    let of_nothing = match kernel.combine {
        Combine::Value(monoid) => Some(of_nothing(monoid, kernel.acc)),
        Combine::ArgMax | Combine::ArgMin => None,
    };
    let (acc_size, result_size) = (kernel.acc.bytes(), result.bytes());
    Ok(ReduceKernel { pre, post, rule, of_nothing, axes: kernel.axes, pre_params, acc_size, result_size })
}

/// What reducing no element gives, in the first bytes.
fn of_nothing(monoid: Monoid, dtype: DType) -> [u64; 2] {
    fn bytes<T: Item>(value: T::Value) -> [u64; 2] {
        let mut out = [0u64; 2];
        bytemuck::bytes_of_mut(&mut out)[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&T::store(value)));
        out
    }
    match monoid {
        Monoid::Sum => match_dtype!(dtype, T => bytes::<T>(Number::ZERO)),
        Monoid::Prod => match_dtype!(dtype, T => bytes::<T>(Number::ONE)),
        Monoid::Max => ordered!(dtype, T => bytes::<T>(Ordered::SMALLEST), else [0; 2]),
        Monoid::Min => ordered!(dtype, T => bytes::<T>(Ordered::LARGEST), else [0; 2]),
        Monoid::All => bytes::<Bool>(true),
        Monoid::Any => bytes::<Bool>(false),
    }
}

impl Run for ReduceKernel {
    fn run(&self, slots: &Slots, params: &[u64], context: &Context) -> Result<()> {
        let ([input], [output]) = (&slots.inputs[..], &slots.outputs[..]) else {
            return Err(Error::internal("reduce: one input and one output"));
        };
        let kept = input.0.rank().checked_sub(self.axes).filter(|&n| &input.0.dims()[..n] == output.0.dims());
        let Some(kept) = kept else { return Err(Error::internal("reduce: the output does not have the kept axes")) };
        let extent: usize = input.0.dims()[kept..].iter().product();
        if output.0.is_empty() {
            return Ok(());
        }
        let (pre_params, post_params) = params.split_at(self.pre_params.min(params.len()));
        let launch = ReduceLaunch { kernel: self, extent, context };
        // SAFETY: a launch's layouts lie inside its buffers and its outputs overlap nothing.
        let post = unsafe { Bound::new(&self.post, &[None, Some(*output)], post_params)? };
        if extent == 0 {
            return launch.fill(&post);
        }
        if matches!(self.rule, Rule::Position(_)) && extent > i32::MAX as usize {
            return Err(Error::unsupported(format!("{extent} elements have positions beyond int32")));
        }
        for walk in self.walks(input.0, kept)? {
            // SAFETY: the walk's elements are those of the launch's layout.
            let pre = unsafe { Bound::new(&self.pre, &[Some((&walk.layout, input.1)), None], pre_params)? };
            launch.walk(&walk, &pre, &post)?;
        }
        Ok(())
    }
}

impl ReduceKernel {
    fn accumulator(&self, width: usize, extent: usize) -> Result<Box<dyn Accumulate>> {
        Ok(match self.rule {
            Rule::Value(fns) => Box::new(Tree::new(fns, width, extent)?),
            Rule::Position(fns) => Box::new(Positions::new(fns, width)?),
        })
    }
}

struct ReduceLaunch<'a> {
    kernel: &'a ReduceKernel,
    extent: usize,
    context: &'a Context<'a>,
}

impl ReduceLaunch<'_> {
    /// Every output is what reducing nothing gives.
    fn fill(&self, post: &Bound) -> Result<()> {
        let Some(nothing) = self.kernel.of_nothing else {
            return Err(Error::argument("argmax and argmin need at least one element"));
        };
        let mut outbox = Outbox::new(self, post)?;
        for output in 0..post.domain.total {
            // SAFETY: the outbox has room for one result.
            unsafe { splat(nothing.as_ptr().cast(), self.kernel.result_size, 1, outbox.room(output, 1)) };
        }
        outbox.flush();
        Ok(())
    }

    fn walk(&self, walk: &Walk, pre: &Bound, post: &Bound) -> Result<()> {
        let nanos = (pre.nanos() + 0.02 * self.kernel.acc_size as f64) * walk.width as f64;
        if let (Rule::Value(fns), true) = (self.kernel.rule, self.extent >= 2 * CHUNK) {
            return self.walk_chunks(walk, pre, post, fns, nanos);
        }
        if let (Rule::Value(fns), Some(step)) = (self.kernel.rule, walk.step) {
            return self.walk_columns(walk, pre, post, fns, step, nanos);
        }
        if self.is_short(walk, pre) {
            return self.walk_short(pre, post, walk.items, nanos);
        }
        if let (Rule::Position(fns), true) = (self.kernel.rule, self.has_long_contests(walk)) {
            return self.walk_contests(walk, pre, post, fns, nanos);
        }
        parallel_for(walk.items, nanos * self.extent as f64 + 20.0, &|items| {
            let mut accumulator = self.kernel.accumulator(walk.width, self.extent)?;
            let mut frame = Frame::new(pre, self.kernel.pre.tile)?;
            let mut outbox = Outbox::new(self, post)?;
            let run = self.extent * walk.width;
            let mut item = items.start;
            self.feed(pre, &mut frame, items.start * run..items.end * run, run, &mut *accumulator, |accumulator| {
                // SAFETY: the outbox has room for an item's results, and the item has been fed.
                unsafe { accumulator.finish(outbox.room(walk.output(item), walk.width)) };
                item += 1;
            });
            outbox.flush();
            Ok(())
        })
    }

    /// Whether tiles can hold whole items, whose outputs lie side by side (not those of a last block).
    fn is_short(&self, walk: &Walk, pre: &Bound) -> bool {
        let fits = self.extent <= LONGEST.min(self.kernel.pre.tile);
        walk.width == 1 && walk.stride == 1 && fits && pre.domain.keeps(self.extent)
    }

    /// Short extents, for which the bookkeeping of a tree or a contest would cost more than the elements.
    fn walk_short(&self, pre: &Bound, post: &Bound, items: usize, nanos: f64) -> Result<()> {
        let extent = self.extent;
        let short = match self.kernel.rule {
            Rule::Value(fns) => fns.short,
            Rule::Position(fns) => fns.short,
        };
        let most = (self.kernel.pre.tile / extent).min(self.kernel.post.tile) * extent;
        parallel_for(items, nanos * extent as f64 + 8.0, &|items| {
            let (mut frame, mut outbox) = (Frame::new(pre, self.kernel.pre.tile)?, Outbox::new(self, post)?);
            let (mut at, end) = (items.start * extent, items.end * extent);
            while at < end && !self.context.abandoned.load(Relaxed) {
                let len = pre.domain.piece(at, most.min(end - at));
                let items = len / extent;
                // SAFETY: the elements exist, the input is only read, and the outbox has room for the items.
                unsafe {
                    frame.run(at, len);
                    let (src, out) = (frame.result(0).cast_const(), outbox.room(at / extent, items));
                    short(ShortItems { src, out, items, extent });
                }
                at += len;
            }
            outbox.flush();
            Ok(())
        })
    }

    /// Columns of an operand as it lies in memory, a group of rows at a time.
    fn walk_columns(&self, walk: &Walk, pre: &Bound, post: &Bound, fns: TreeFns, step: isize, nanos: f64) -> Result<()> {
        let (extent, width) = (self.extent, walk.width);
        let step = step * self.kernel.acc_size as isize;
        parallel_for(walk.items, nanos * extent as f64 + 20.0, &|items| {
            let (mut tree, mut outbox) = (Tree::new(fns, width, extent)?, Outbox::new(self, post)?);
            for item in items {
                for row in (0..extent).step_by(GROUP) {
                    if self.context.abandoned.load(Relaxed) {
                        return Ok(());
                    }
                    let src = pre.element(0, (item * extent + row) * width);
                    let src = src.ok_or_else(|| Error::internal("reduce: an operand without memory"))?;
                    // SAFETY: the rows exist; each group is whole but the last.
                    unsafe { tree.feed_rows(src, step, GROUP.min(extent - row)) };
                }
                // SAFETY: the outbox has room for an item's results, and the item has been fed.
                unsafe { tree.finish(outbox.room(walk.output(item), width)) };
            }
            outbox.flush();
            Ok(())
        })
    }

    /// Feeds the elements in `range`, which starts where an item does; `done` is called whenever an item is complete.
    fn feed(
        &self,
        pre: &Bound,
        frame: &mut Frame,
        range: Range<usize>,
        run: usize,
        accumulator: &mut dyn Accumulate,
        mut done: impl FnMut(&mut dyn Accumulate),
    ) {
        // Tiles end where items do if items fit.
        let tile = if run <= frame.tile() { frame.tile() / run * run } else { frame.tile() };
        let (mut at, mut left) = (range.start, run);
        while at < range.end && !self.context.abandoned.load(Relaxed) {
            let len = pre.domain.piece(at, tile.min(range.end - at));
            // SAFETY: the elements exist; the input is only read.
            unsafe { frame.run(at, len) };
            let (mut src, mut fed) = (frame.result(0).cast_const(), 0);
            while fed < len {
                let count = left.min(len - fed);
                // SAFETY: the piece has `len` elements.
                unsafe { accumulator.feed(src, count) };
                src = src.wrapping_add(count * self.kernel.acc_size);
                (fed, left) = (fed + count, left - count);
                if left == 0 {
                    done(accumulator);
                    left = run;
                }
            }
            at += len;
        }
    }

    /// Long extents: whole chunks first, each to one partial; then for each item its partials and what is left over.
    fn walk_chunks(&self, walk: &Walk, pre: &Bound, post: &Bound, fns: TreeFns, nanos: f64) -> Result<()> {
        let (kernel, context) = (self.kernel, self.context);
        let (chunks, run, chunk) = (self.extent / CHUNK, self.extent * walk.width, CHUNK * walk.width);
        let bytes = Tree::new(fns, walk.width, 0)?.partial_bytes();
        let size = walk.items.checked_mul(chunks).and_then(|n| n.checked_mul(bytes));
        let size = size.ok_or_else(|| Error::out_of_memory("the partial results of a reduction do not fit into memory"))?;
        let partials = CpuBuffer::new(size, context.account)?;
        let partial = |n: usize| partials.as_ptr().wrapping_add(n * bytes);
        parallel_for(walk.items * chunks, nanos * CHUNK as f64, &|units| {
            let mut tree = Tree::new(fns, walk.width, CHUNK)?;
            let mut frame = Frame::new(pre, kernel.pre.tile)?;
            for unit in units {
                let start = unit / chunks * run + unit % chunks * chunk;
                self.feed(pre, &mut frame, start..start + chunk, usize::MAX, &mut tree, |_| {});
                // SAFETY: each unit has its own partial.
                unsafe { std::ptr::copy_nonoverlapping(tree.sole_partial(), partial(unit), bytes) };
                tree.restart(walk.width);
            }
            Ok(())
        })?;
        let rest = (self.extent - chunks * CHUNK) * walk.width;
        parallel_for(walk.items, nanos * CHUNK as f64, &|items| {
            let mut tree = Tree::new(fns, walk.width, self.extent)?;
            let mut frame = Frame::new(pre, kernel.pre.tile)?;
            let mut outbox = Outbox::new(self, post)?;
            for item in items {
                for c in 0..chunks {
                    let turned = planted::is("partial-sums-in-the-order-of-threads") && threads() > 1;
                    let from = if turned { chunks - 1 - c } else { c };
                    // SAFETY: the partials were written above.
                    unsafe { tree.push_chunk(c, partial(item * chunks + from)) };
                }
                let end = (item + 1) * run;
                self.feed(pre, &mut frame, end - rest..end, usize::MAX, &mut tree, |_| {});
                // SAFETY: the outbox has room for an item's results.
                unsafe { tree.finish(outbox.room(walk.output(item), walk.width)) };
            }
            outbox.flush();
            Ok(())
        })
    }
}

/// Collects results until a tile of neighbours can go through the second program.
struct Outbox<'a> {
    launch: &'a ReduceLaunch<'a>,
    post: &'a Bound<'a>,
    frame: Frame<'a>,
    /// The second program's own input register.
    results: *mut u8,
    first: usize,
    count: usize,
}

impl<'a> Outbox<'a> {
    fn new(launch: &'a ReduceLaunch<'a>, post: &'a Bound<'a>) -> Result<Outbox<'a>> {
        let frame = Frame::new(post, launch.kernel.post.tile)?;
        let results = frame.input(0);
        Ok(Outbox { launch, post, frame, results, first: 0, count: 0 })
    }

    /// Where the results of `count` outputs from `output` on (at most a block) have to be written.
    fn room(&mut self, output: usize, count: usize) -> *mut u8 {
        if self.first + self.count != output || self.count + count > self.frame.tile() {
            self.flush();
            self.first = output;
        }
        self.count += count;
        self.results.wrapping_add((self.count - count) * self.launch.kernel.result_size)
    }

    fn flush(&mut self) {
        let mut done = 0;
        while done < self.count && !self.launch.context.abandoned.load(Relaxed) {
            let len = self.post.domain.piece(self.first + done, self.count - done);
            self.frame.set(0, self.results.wrapping_add(done * self.launch.kernel.result_size));
            // SAFETY: the outputs exist, and no other thread has them.
            unsafe { self.frame.run(self.first + done, len) };
            done += len;
        }
        self.count = 0;
    }
}

//! `Reduce` kernels: how the elements of an operand reach the reduction tree, and how results leave it.
//!
//! Inputs `[kept..., reduced...]` are walked in one of two orders: item by item `[kept...][reduced...]`, or, where the last
//! kept axis lies closer in memory than the reduced ones, in blocks `[kept..., block][reduced...][width]` of `width` outputs
//! side by side. Both build the same tree for each output, and one for each of several sums.

pub mod lanes;
mod position;
pub mod short;
pub mod tree;
mod walk;

use crate::launch::{Context, Run, Slots};
use crate::map::cast_program;
use crate::map::compile::{Results, TileProgram, compile};
use crate::map::frame::{Bound, Frame, Memory};
use crate::map::table::ordered;
use crate::map::view::splat;
use crate::memory::CpuBuffer;
use crate::number::{Item, Number, Ordered};
use crate::parallel::{parallel_for, threads};
use crate::tier::Tier;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::{Combine, Monoid, Reduce};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::planted;
use ferrotensor_core::scalar::{Builder, Program, Value};
use ferrotensor_core::{Bool, DType, match_dtype};
use lanes::{GROUP, LONGEST, TreeFns};
use position::{PositionFns, Positions, position_fns};
use short::ShortItems;
use smallvec::SmallVec;
use std::iter::repeat_n;
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

impl Accumulate for Box<dyn Accumulate> {
    unsafe fn feed(&mut self, src: *const u8, len: usize) {
        // SAFETY: the caller's contract is the same.
        unsafe { (**self).feed(src, len) }
    }

    unsafe fn finish(&mut self, out: *mut u8) {
        // SAFETY: the caller's contract is the same.
        unsafe { (**self).finish(out) }
    }
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
    /// How many values are combined.
    sums: usize,
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
    kernel.verify()?;
    let pre = kernel.pre.clone().unwrap_or_else(|| cast_program(kernel.input, kernel.acc));
    let post = kernel.post.clone().unwrap_or_else(|| identities(result, kernel.sums()));
    let pre_params = pre.params.len();
    let (pre, post) = (compile(&pre, Results::Kept, tier)?, compile(&post, Results::Stored, tier)?);
    let of_nothing = match kernel.combine {
        Combine::Value(monoid) => Some(of_nothing(monoid, kernel.acc)),
        Combine::ArgMax | Combine::ArgMin => None,
    };
    let (acc_size, result_size) = (kernel.acc.bytes(), result.bytes());
    let (axes, sums) = (kernel.axes, kernel.sums());
    Ok(ReduceKernel { pre, post, rule, of_nothing, axes, sums, pre_params, acc_size, result_size })
}

/// Values as they are.
fn identities(dtype: DType, values: usize) -> Program {
    let mut b = Builder::new();
    let values: Vec<Value> = (0..values).map(|_| b.input(dtype)).collect();
    b.finish(&values)
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
        let (Some(dims), Some(output)) = (slots.inputs.first().map(|i| i.0.dims()), slots.outputs.first()) else {
            return Err(Error::internal("reduce: an operand is missing"));
        };
        let results = output.0.dims();
        let kept = dims.len().checked_sub(self.axes).filter(|&n| &dims[..n] == results);
        let alike = slots.inputs.iter().all(|i| i.0.dims() == dims) && slots.outputs.iter().all(|o| o.0.dims() == results);
        let Some(kept) = kept.filter(|_| alike) else {
            return Err(Error::internal("reduce: an output does not have the kept axes"));
        };
        let extent: usize = dims[kept..].iter().product();
        if output.0.is_empty() {
            return Ok(());
        }
        let (pre_params, post_params) = params.split_at(self.pre_params.min(params.len()));
        let launch = ReduceLaunch { kernel: self, extent, context };
        let beside: SmallVec<[Memory; 4]> =
            repeat_n(None, self.sums).chain(slots.outputs.iter().map(|&slot| Some(slot))).collect();
        // SAFETY: a launch's layouts lie inside its buffers and its outputs overlap nothing.
        let post = unsafe { Bound::new(&self.post, &beside, post_params)? };
        if extent == 0 {
            return launch.fill(&post);
        }
        if matches!(self.rule, Rule::Position(_)) && extent > i32::MAX as usize {
            return Err(Error::unsupported(format!("{extent} elements have positions beyond int32")));
        }
        let inputs: SmallVec<[&Layout; 2]> = slots.inputs.iter().map(|input| input.0).collect();
        for walk in self.walks(&inputs, kept)? {
            let from = walk.layouts.iter().zip(&slots.inputs).map(|(layout, input)| Some((layout, input.1)));
            let memory: SmallVec<[Memory; 4]> = from.chain(repeat_n(None, self.sums)).collect();
            // SAFETY: the walk's elements are those of the launch's layouts.
            let pre = unsafe { Bound::new(&self.pre, &memory, pre_params)? };
            launch.walk(&walk, &pre, &post)?;
        }
        Ok(())
    }
}

impl ReduceKernel {
    /// One for each value that is combined.
    fn accumulators(&self, width: usize, extent: usize) -> Result<SmallVec<[Box<dyn Accumulate>; 2]>> {
        let one = |_| -> Result<Box<dyn Accumulate>> {
            Ok(match self.rule {
                Rule::Value(fns) => Box::new(Tree::new(fns, width, extent)?),
                Rule::Position(fns) => Box::new(Positions::new(fns, width)?),
            })
        };
        (0..self.sums).map(one).collect()
    }

    /// Trees for values, as [`ReduceKernel::accumulators`].
    fn trees(&self, fns: TreeFns, width: usize, extent: usize) -> Result<SmallVec<[Tree; 2]>> {
        (0..self.sums).map(|_| Tree::new(fns, width, extent)).collect()
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
            let room = outbox.room(output, 1);
            for sum in 0..self.kernel.sums {
                // SAFETY: the outbox has room for one result of each.
                unsafe { splat(nothing.as_ptr().cast(), self.kernel.result_size, 1, outbox.at(sum, room)) };
            }
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
            let mut accumulators = self.kernel.accumulators(walk.width, self.extent)?;
            let mut frame = Frame::new(pre, self.kernel.pre.tile)?;
            let mut outbox = Outbox::new(self, post)?;
            let run = self.extent * walk.width;
            let mut item = items.start;
            self.feed(pre, &mut frame, items.start * run..items.end * run, run, &mut accumulators, |accumulators| {
                outbox.finish(accumulators, walk.output(item), walk.width);
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
                let room = outbox.room(at / extent, items);
                // SAFETY: the elements exist, the inputs are only read, and the outbox has room for the items.
                unsafe {
                    frame.run(at, len);
                    for sum in 0..self.kernel.sums {
                        let (src, out) = (frame.result(sum).cast_const(), outbox.at(sum, room));
                        short(ShortItems { src, out, items, extent });
                    }
                }
                at += len;
            }
            outbox.flush();
            Ok(())
        })
    }

    /// Columns of a sole operand as it lies in memory, a group of rows at a time.
    fn walk_columns(&self, walk: &Walk, pre: &Bound, post: &Bound, fns: TreeFns, step: isize, nanos: f64) -> Result<()> {
        let (extent, width) = (self.extent, walk.width);
        let step = step * self.kernel.acc_size as isize;
        parallel_for(walk.items, nanos * extent as f64 + 20.0, &|items| {
            let (mut trees, mut outbox) = (self.kernel.trees(fns, width, extent)?, Outbox::new(self, post)?);
            for item in items {
                for row in (0..extent).step_by(GROUP) {
                    if self.context.abandoned.load(Relaxed) {
                        return Ok(());
                    }
                    let src = pre.element(0, (item * extent + row) * width);
                    let src = src.ok_or_else(|| Error::internal("reduce: an operand without memory"))?;
                    // SAFETY: the rows exist; each group is whole but the last.
                    unsafe { trees[0].feed_rows(src, step, GROUP.min(extent - row)) };
                }
                outbox.finish(&mut trees, walk.output(item), width);
            }
            outbox.flush();
            Ok(())
        })
    }

    /// Feeds the elements in `range`, which starts where an item does; `done` is called whenever an item is complete.
    fn feed<A: Accumulate>(
        &self,
        pre: &Bound,
        frame: &mut Frame,
        range: Range<usize>,
        run: usize,
        accumulators: &mut [A],
        mut done: impl FnMut(&mut [A]),
    ) {
        // Tiles end where items do if items fit.
        let tile = if run <= frame.tile() { frame.tile() / run * run } else { frame.tile() };
        let (mut at, mut left) = (range.start, run);
        while at < range.end && !self.context.abandoned.load(Relaxed) {
            let len = pre.domain.piece(at, tile.min(range.end - at));
            // SAFETY: the elements exist; the inputs are only read.
            unsafe { frame.run(at, len) };
            let mut fed = 0;
            while fed < len {
                let count = left.min(len - fed);
                for (sum, accumulator) in accumulators.iter_mut().enumerate() {
                    let src = frame.result(sum).cast_const().wrapping_add(fed * self.kernel.acc_size);
                    // SAFETY: the piece has `len` elements.
                    unsafe { accumulator.feed(src, count) };
                }
                (fed, left) = (fed + count, left - count);
                if left == 0 {
                    done(accumulators);
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
        let size = walk.items.checked_mul(chunks * kernel.sums).and_then(|n| n.checked_mul(bytes));
        let size = size.ok_or_else(|| Error::out_of_memory("the partial results of a reduction do not fit into memory"))?;
        let partials = CpuBuffer::new(size, context.account)?;
        let partial = |n: usize| partials.as_ptr().wrapping_add(n * bytes);
        parallel_for(walk.items * chunks, nanos * CHUNK as f64, &|units| {
            let mut trees = kernel.trees(fns, walk.width, CHUNK)?;
            let mut frame = Frame::new(pre, kernel.pre.tile)?;
            for unit in units {
                let start = unit / chunks * run + unit % chunks * chunk;
                self.feed(pre, &mut frame, start..start + chunk, usize::MAX, &mut trees, |_| {});
                for (sum, tree) in trees.iter_mut().enumerate() {
                    let to = partial(unit * kernel.sums + sum);
                    // SAFETY: each unit has a partial of its own for each sum.
                    unsafe { std::ptr::copy_nonoverlapping(tree.sole_partial(), to, bytes) };
                    tree.restart(walk.width);
                }
            }
            Ok(())
        })?;
        let rest = (self.extent - chunks * CHUNK) * walk.width;
        parallel_for(walk.items, nanos * CHUNK as f64, &|items| {
            let mut trees = kernel.trees(fns, walk.width, self.extent)?;
            let mut frame = Frame::new(pre, kernel.pre.tile)?;
            let mut outbox = Outbox::new(self, post)?;
            for item in items {
                for c in 0..chunks {
                    let turned = planted::is("partial-sums-in-the-order-of-threads") && threads() > 1;
                    let from = if turned { chunks - 1 - c } else { c };
                    for (sum, tree) in trees.iter_mut().enumerate() {
                        // SAFETY: the partials were written above.
                        unsafe { tree.push_chunk(c, partial((item * chunks + from) * kernel.sums + sum)) };
                    }
                }
                let end = (item + 1) * run;
                self.feed(pre, &mut frame, end - rest..end, usize::MAX, &mut trees, |_| {});
                outbox.finish(&mut trees, walk.output(item), walk.width);
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
    /// The second program's own input registers.
    results: SmallVec<[*mut u8; 2]>,
    first: usize,
    count: usize,
}

impl<'a> Outbox<'a> {
    fn new(launch: &'a ReduceLaunch<'a>, post: &'a Bound<'a>) -> Result<Outbox<'a>> {
        let frame = Frame::new(post, launch.kernel.post.tile)?;
        let results = (0..launch.kernel.sums).map(|sum| frame.input(sum)).collect();
        Ok(Outbox { launch, post, frame, results, first: 0, count: 0 })
    }

    /// Makes room for the results of `count` outputs from `output` on (at most a block): the place of the first in each register.
    fn room(&mut self, output: usize, count: usize) -> usize {
        if self.first + self.count != output || self.count + count > self.frame.tile() {
            self.flush();
            self.first = output;
        }
        self.count += count;
        self.count - count
    }

    /// Where a result of a sum has to be written.
    fn at(&self, sum: usize, place: usize) -> *mut u8 {
        self.results[sum].wrapping_add(place * self.launch.kernel.result_size)
    }

    /// Takes the results of an item, which was fed: of `width` outputs from `output` on.
    fn finish<A: Accumulate>(&mut self, accumulators: &mut [A], output: usize, width: usize) {
        let room = self.room(output, width);
        for (sum, accumulator) in accumulators.iter_mut().enumerate() {
            // SAFETY: there is room for them.
            unsafe { accumulator.finish(self.at(sum, room)) };
        }
    }

    fn flush(&mut self) {
        let mut done = 0;
        while done < self.count && !self.launch.context.abandoned.load(Relaxed) {
            let len = self.post.domain.piece(self.first + done, self.count - done);
            for sum in 0..self.results.len() {
                self.frame.set(sum, self.at(sum, done));
            }
            // SAFETY: the outputs exist, and no other thread has them.
            unsafe { self.frame.run(self.first + done, len) };
            done += len;
        }
        self.count = 0;
    }
}

//! `Attention` kernels: each thread has a block of queries' scores and weights in its caches, from the products that make them to those
//! they are for.

mod causal;
mod copies;

use super::blocks::{self, pieces};
use super::post::{After, Post};
use super::product::{Product, Whole, scratch};
use super::stored::Stored;
use super::tile::{Float, Onto, Tile};
use super::{Matrix, Sizes, operands};
use crate::indices::leading;
use crate::launch::{Context, Run, Slot, Slots};
use crate::map::frame::{Bound, Frame, Memory};
use crate::parallel::{parallel_for, start, threads, unshared};
use crate::rows::{self, RowsKernel};
use crate::scratch::Scratch;
use crate::tier::Tier;
use causal::{Causal, has_minus_zero};
use copies::{Copied, Copies};
use ferrotensor_core::DType;
use ferrotensor_core::attention::Attention;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::Contract;
use ferrotensor_core::layout::Layout;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Bytes of a block's scores, and of its queries, unless a tile has more: they, the weights and what the steps between keep are in a
/// second-level cache, beside keys and values.
const SCORES: usize = 1 << 18;
/// Units of work for a thread, unless they would be less than a tile.
const UNITS: usize = 4;
/// Bytes of keys and values that a second-level cache holds beside them. More come from memory for each block, which then has at least a
/// quarter as many rows as a key and a value have places: they are read for as long as the scores pass.
const CACHED: usize = 1 << 20;
/// Rows a page apart lie in one set of the first-level cache, of which a tile would read more than there is room for.
const PAGE: usize = 4096;

/// Compiles a kernel.
///
/// # Errors
/// A sentence: a broken rule, a dtype without tiles of its own, or what a part says.
pub fn prepare(kernel: &Attention, tier: Tier) -> Result<Box<dyn Run>, String> {
    kernel.verify()?;
    match (kernel.scores.dtype, kernel.values.dtype) {
        (DType::F32, DType::F32) => Ok(Box::new(AttentionKernel::<f32>::new(kernel, tier)?)),
        (DType::F64, DType::F64) => Ok(Box::new(AttentionKernel::<f64>::new(kernel, tier)?)),
        (scores, values) => Err(format!("attention with scores of {scores} and values of {values}")),
    }
}

struct AttentionKernel<T: Stored> {
    kernel: Attention,
    product: Product<T>,
    /// Of the scores, and of the values.
    posts: [Option<Post>; 2],
    weights: RowsKernel,
    causal: Option<Causal>,
}

/// A launch: `a b` is of `sizes`, its weights meet `v` of so many columns.
struct Launch<'a> {
    sizes: Sizes,
    columns: usize,
    a: Slot<'a>,
    b: Slot<'a>,
    /// The map after the scores, from memory of a thread to memory of a thread.
    first: Option<Bound<'a>>,
    /// What the weights take.
    beside: &'a [Slot<'a>],
    v: Slot<'a>,
    out: Slot<'a>,
    /// The map after the values.
    last: Option<After<'a>>,
    /// Of the weights.
    params: &'a [u64],
    /// From a row of scores to the next one.
    row: usize,
    /// Rows of a block, whole tiles.
    block: usize,
    /// Units of each matrix.
    groups: usize,
    leaves_out: bool,
}
// SAFETY: inputs are only read, and each thread writes its own rows of the output.
unsafe impl Sync for Launch<'_> {}

impl<T: Float> AttentionKernel<T> {
    fn new(kernel: &Attention, tier: Tier) -> Result<AttentionKernel<T>, String> {
        if kernel.scores.result() != kernel.scores.dtype || kernel.values.result() != kernel.values.dtype {
            return Err("attention with scores or values of another dtype than their products".into());
        }
        let post = |k: &Contract| k.post.as_ref().map(|p| Post::new(p, k.dtype, tier)).transpose();
        Ok(AttentionKernel {
            posts: [post(&kernel.scores)?, post(&kernel.values)?],
            product: Product::new(tier),
            weights: rows::prepare(&kernel.weights, tier)?,
            causal: Causal::of(kernel),
            kernel: kernel.clone(),
        })
    }

    /// `square`: the shape of the scores.
    fn launch<'a>(&'a self, slots: &'a Slots, params: &'a [u64], square: &'a [usize]) -> Result<Launch<'a>> {
        let Some([&[a, b, ref after @ ..], beside, &[v, ref more @ ..]]) = self.kernel.split(&slots.inputs) else {
            return Err(unfit());
        };
        let out = slots.outputs[0];
        // The second product is checked as a product of the scores, whose shape the first one has.
        let layout = Layout::new(square, &vec![0; square.len()], 0, usize::MAX)?;
        let slot = (&layout, std::ptr::null_mut());
        let (_, sizes) = operands(&Slots { inputs: SmallVec::from_slice(&[a, b]), outputs: SmallVec::from_slice(&[slot]) })?;
        operands(&Slots { inputs: SmallVec::from_slice(&[slot, v]), outputs: SmallVec::from_slice(&[out]) })?;
        let kept = &square[..square.len() - 1];
        if !beside.iter().all(|(o, _)| o.dims() == square || o.dims() == kept) {
            return Err(unfit());
        }
        let columns = out.0.dims()[kept.len()];
        let Sizes { batch, m, k, n } = sizes;
        let (size, height) = (size_of::<T>(), self.product.tiles.rows());
        let row = if (n * size).is_multiple_of(PAGE) { n + self.product.tiles.lanes } else { n };
        let least = if n * (k + columns) * size > CACHED { (k + columns) / 4 } else { 1 }.max(height);
        let groups = (UNITS * threads()).div_ceil(batch.max(1)).clamp(1, m.div_ceil(least).max(1));
        let most = (SCORES / size / row.max(k)).max(least).min(m.div_ceil(groups));
        let params = self.kernel.params_of(params);
        let scored: SmallVec<[Memory; 4]> = [None].into_iter().chain(after.iter().map(|&o| Some(o))).chain([None]).collect();
        let [first, last] = &self.posts;
        // SAFETY: a launch's layouts lie inside its buffers and its outputs overlap nothing.
        let (first, last) = unsafe {
            let first = first.as_ref().map(|p| Bound::over(p.program(), &scored, params[0], square)).transpose()?;
            (first, last.as_ref().map(|p| p.bind(more, out, params[2])).transpose()?)
        };
        Ok(Launch {
            sizes,
            columns,
            a,
            b,
            first,
            beside,
            v,
            out,
            last,
            params: params[1],
            row,
            block: most.next_multiple_of(height).max(height),
            groups,
            leaves_out: self.causal.as_ref().is_some_and(|c| c.fits(square.len())),
        })
    }
}

/// Of operands that break the kernel's contract.
fn unfit() -> Error {
    Error::internal("attention: operand shapes do not fit")
}

impl<T: Float> Run for AttentionKernel<T> {
    fn run(&self, slots: &Slots, params: &[u64], context: &Context) -> Result<()> {
        let [(a, _), (b, _), ..] = slots.inputs[..] else { return Err(unfit()) };
        let (Some((_, kept)), Some(&n)) = (a.dims().split_last(), b.dims().last()) else { return Err(unfit()) };
        let square = [kept, &[n]].concat();
        let launch = &self.launch(slots, params, &square)?;
        let (Sizes { batch, m, k, n }, groups) = (launch.sizes, launch.groups);
        if batch * m * launch.columns == 0 {
            return Ok(());
        }
        // Where several units have one matrix, its keys and values are copied once for all of them: the batch is small then.
        let shared = if groups > 1 { Some(Copies::new(&self.product, launch, batch)?) } else { None };
        if let Some(copies) = &shared {
            let parts = copies.parts();
            let each = (n * (k + launch.columns) * size_of::<T>()) as f64 / parts as f64;
            // About 10 GB/s.
            parallel_for(batch * parts, each / 10.0, &|range| {
                // SAFETY: the operands exist, and each panel is copied by one thread.
                range.into_iter().for_each(|n| unsafe { copies.copy(n / parts, n % parts, n / parts) });
                Ok(())
            })?;
        }
        let each = m.div_ceil(groups);
        // The last is about as much as the weights of a softmax cost.
        let nanos = self.product.nanos(each, k, n) + self.product.nanos(each, n, launch.columns) + 0.6 * (each * n) as f64;
        parallel_for(batch * groups, nanos, &|units| {
            let own = if shared.is_none() { Some(Copies::new(&self.product, launch, 1)?) } else { None };
            let worker = Worker::new(self, launch)?;
            let mut frame = launch.first.as_ref().map(|bound| Frame::new(bound, usize::MAX)).transpose()?;
            for unit in units {
                if context.abandoned.load(Relaxed) {
                    break;
                }
                let (i, group) = (unit / groups, unit % groups);
                // SAFETY: the operands exist, and own copies are this thread's.
                let copied = own.as_ref().map(|own| unsafe { own.whole(i) }).or_else(|| shared.as_ref().map(|s| s.of(i)));
                let Some(copied) = copied else { break };
                let height = self.product.tiles.rows();
                let from = |g: usize| (start(g, groups, m.div_ceil(height)) * height).min(m);
                // SAFETY: as above, and these rows of the output are this thread's.
                unsafe { worker.group(i, from(group)..from(group + 1), &copied, &mut frame, context)? };
            }
            Ok(())
        })
    }
}

/// A thread's memory.
struct Worker<'a, T: Stored> {
    kernel: &'a AttentionKernel<T>,
    launch: &'a Launch<'a>,
    /// Scores, and weights; what a map after the scores makes of them takes the place of the weights meanwhile.
    rooms: [Scratch; 2],
    queries: Scratch,
}

/// Rows of a matrix of the batch, over so many keys, the first ones.
struct Block<'a, T> {
    matrix: usize,
    rows: Range<usize>,
    keys: usize,
    copied: &'a Copied<T>,
}

impl<'a, T: Float> Worker<'a, T> {
    fn new(kernel: &'a AttentionKernel<T>, launch: &'a Launch<'a>) -> Result<Worker<'a, T>> {
        let rows = launch.block.min(launch.sizes.m);
        let room = || scratch::<T>(&[rows, launch.row]);
        let panels = rows.div_ceil(kernel.product.tiles.rows());
        let queries = scratch::<T>(&[panels, kernel.product.rows_width(rows), launch.sizes.k])?;
        Ok(Worker { rooms: [room()?, room()?], queries, kernel, launch })
    }

    fn matrix(&self, slot: Slot<'a>, i: usize) -> Matrix {
        Matrix::of(slot, i, size_of::<T>())
    }

    /// Rows of a matrix of the batch, whose keys and values are copied.
    ///
    /// # Safety
    /// They exist, and those of the output are this thread's, as in all methods.
    unsafe fn group(
        &self,
        i: usize,
        rows: Range<usize>,
        copied: &Copied<T>,
        first: &mut Option<Frame>,
        context: &Context,
    ) -> Result<()> {
        let (launch, n, width) = (self.launch, self.launch.sizes.n, self.kernel.product.tiles.full.count);
        for from in rows.clone().step_by(launch.block) {
            let rows = from..(from + launch.block).min(rows.end);
            let keys = if copied.leaves_out { rows.end.next_multiple_of(width).min(n) } else { n };
            let mut block = Block { matrix: i, rows, keys, copied };
            let out = self.matrix(launch.out, i);
            // SAFETY: by the contract above.
            unsafe {
                self.block(&block, first, context)?;
                if context.abandoned.load(Relaxed) {
                    break;
                }
                if keys < n && has_minus_zero::<T>(out, block.rows.clone(), launch.columns) {
                    block.keys = n;
                    self.block(&block, first, context)?;
                }
                if let Some(last) = &launch.last {
                    let whole = Whole { batch: i, c: out, m: launch.sizes.m, n: launch.columns, is_turned: false };
                    last.map(whole, block.rows, 0..launch.columns, context)?;
                }
            }
        }
        Ok(())
    }

    /// # Safety
    /// As [`Worker::group`].
    unsafe fn block(&self, block: &Block<T>, first: &mut Option<Frame>, context: &Context) -> Result<()> {
        let [scores, weights] = self.rooms.each_ref().map(Scratch::as_ptr);
        // SAFETY: by the contract above; the rooms are as large as blocks.
        unsafe {
            self.scores(block, scores)?;
            let (scores, weights) = match (first, &self.launch.first) {
                (Some(frame), Some(bound)) => {
                    self.after(block, (bound, frame), (scores, weights));
                    (weights, scores)
                }
                _ => (scores, weights),
            };
            self.weigh(block, (scores, weights), context)?;
            self.collect(block, weights)
        }
    }

    /// The rows of each tile of a block: the first one, and how many.
    fn tiles(&self, rows: usize) -> impl Iterator<Item = (usize, usize)> {
        let panels = rows.div_ceil(self.kernel.product.tiles.rows());
        (0..panels).map(move |panel| {
            let first = start(panel, panels, rows);
            (first, start(panel + 1, panels, rows) - first)
        })
    }

    /// The scores of a block.
    ///
    /// # Errors
    /// As [`Product::sums_of`].
    ///
    /// # Safety
    /// As [`Worker::group`]; `to` has room for them.
    unsafe fn scores(&self, block: &Block<T>, to: *mut u8) -> Result<()> {
        let (product, k) = (&self.kernel.product, self.launch.sizes.k);
        let (a, width) = (self.matrix(self.launch.a, block.matrix), product.rows_width(block.rows.len()));
        let copy = |panel: usize| self.queries.as_ptr().cast::<T>().wrapping_add(panel * width * k);
        let to = Matrix { start: to, rows: self.launch.row as isize, columns: 1 };
        let sums = product.sums_of(to, (block.rows.len(), k, block.keys))?;
        // SAFETY: by the contract above.
        unsafe {
            for (panel, (first, count)) in self.tiles(block.rows.len()).enumerate() {
                product.copy_rows(a, (block.rows.start + first, count), (0, k), copy(panel));
            }
            for places in pieces(0..k, blocks::places_of_total::<T>()) {
                for j in (0..block.keys).step_by(product.tiles.full.count) {
                    let count = product.tiles.full.count.min(block.keys - j);
                    let tiles = product.tiles.fitting(count);
                    let b = block.copied.keys.wrapping_add(j * k + places.start * tiles.count);
                    for (panel, (i, rows)) in self.tiles(block.rows.len()).enumerate() {
                        let a = copy(panel).wrapping_add(places.start * product.tiles.packed_width(rows)).cast_const();
                        let tile = Tile::reading(places.len(), (a, b), (0, 0, tiles.count as isize), Onto::Nothing);
                        product.add(&sums, (tiles.packed[rows - 1], tiles.count), tile, (i, rows), (j, count));
                    }
                }
                product.set_aside(&sums, 0..block.rows.len(), 0..block.keys, places.start == 0);
            }
        }
        Ok(())
    }

    /// The map after the scores.
    ///
    /// # Safety
    /// As [`Worker::group`]; the scores are there, and there is room for what becomes of them.
    unsafe fn after(&self, block: &Block<T>, (bound, frame): (&Bound, &mut Frame), (from, to): (*mut u8, *mut u8)) {
        let (Sizes { m, n, .. }, row, size) = (self.launch.sizes, self.launch.row, size_of::<T>());
        // Rows that follow each other at once.
        let (run, len) = if row == block.keys { (block.rows.len(), block.rows.len() * n) } else { (1, block.keys) };
        for first in block.rows.clone().step_by(run) {
            let mut at = (block.matrix * m + first) * n;
            let (end, mut place) = (at + len, (first - block.rows.start) * row * size);
            while at < end {
                let len = bound.domain.piece(at, frame.tile().min(end - at));
                frame.set(0, from.wrapping_add(place));
                frame.place(0, to.wrapping_add(place));
                // SAFETY: by the contract above.
                unsafe { frame.run(at, len) };
                (at, place) = (at + len, place + len * size);
            }
        }
    }

    /// The weights of a block.
    ///
    /// # Safety
    /// As [`Worker::after`].
    unsafe fn weigh(&self, block: &Block<T>, (from, to): (*mut u8, *mut u8), context: &Context) -> Result<()> {
        let (launch, dims) = (self.launch, [block.rows.len(), block.keys]);
        let room = Layout::new(&dims, &[launch.row as isize, 1], 0, usize::MAX)?;
        let axes = launch.a.0.rank() - 2;
        let part = |(layout, _): &Slot| {
            let own = &layout.strides()[axes..];
            let at = layout.offset() as isize + leading(layout, axes, block.matrix) + block.rows.start as isize * own[0];
            Layout::new(&dims[..own.len()], own, at as usize, usize::MAX)
        };
        let beside = launch.beside.iter().map(part).collect::<Result<SmallVec<[Layout; 2]>>>()?;
        let beside: SmallVec<[Slot; 2]> = beside.iter().zip(launch.beside).map(|(layout, (_, at))| (layout, *at)).collect();
        let inputs = self.kernel.kernel.weighed(&beside, (&room, from)).into();
        let slots = Slots { inputs, outputs: SmallVec::from_slice(&[(&room, to)]) };
        unshared(|| self.kernel.weights.run(&slots, launch.params, context))
    }

    /// The products of a block's weights and values.
    ///
    /// # Errors
    /// As [`Product::sums_of`].
    ///
    /// # Safety
    /// As [`Worker::group`]; the weights are there.
    unsafe fn collect(&self, block: &Block<T>, weights: *mut u8) -> Result<()> {
        let (launch, product, n) = (self.launch, &self.kernel.product, self.launch.sizes.n);
        let (rows, total) = (&block.rows, blocks::places_of_total::<T>());
        let to = self.matrix(launch.out, block.matrix).from(rows.start, 0, size_of::<T>());
        let sums = product.sums_of(to, (rows.len(), block.keys, launch.columns))?;
        // All rows meet a block of values, which stay in a near cache, before the next ones.
        for Range { start: p, end } in pieces(0..block.keys, blocks::places::<T>()) {
            let onto = if p.is_multiple_of(total) { Onto::Nothing } else { Onto::Total };
            for j in (0..launch.columns).step_by(product.tiles.full.count) {
                let count = product.tiles.full.count.min(launch.columns - j);
                let tiles = product.tiles.fitting(count);
                let b = block.copied.values.wrapping_add(j * n + p * tiles.count);
                for (i, rows) in self.tiles(rows.len()) {
                    let a = weights.cast::<T>().wrapping_add(i * launch.row + p).cast_const();
                    let tile = Tile::reading(end - p, (a, b), (launch.row as isize, 1, tiles.count as isize), onto);
                    let run = (tiles.strided[rows - 1], tiles.count);
                    // SAFETY: by the contract above.
                    unsafe { product.add(&sums, run, tile, (i, rows), (j, count)) };
                }
            }
            if end == block.keys || end.is_multiple_of(total) {
                // SAFETY: by the contract above.
                unsafe { product.set_aside(&sums, 0..rows.len(), 0..launch.columns, p < total) };
            }
        }
        Ok(())
    }
}

//! `Attention` kernels: each thread has a block of queries' scores and weights in its caches, from the products that make them to those
//! they are for.

use super::causal::{Causal, are_finite, has_minus_zero};
use super::post::{After, Post};
use super::product::{Product, Whole, scratch};
use super::stored::Stored;
use super::sums::Sums;
use super::tile::{Float, Tile};
use super::{Matrix, Sizes, operands};
use crate::indices::leading;
use crate::launch::{Context, Run, Slot, Slots};
use crate::map::frame::{Bound, Frame, Memory};
use crate::parallel::{alone, parallel_for, start, threads};
use crate::rows::{self, RowsKernel};
use crate::scratch::Scratch;
use crate::tier::Tier;
use ferrotensor_core::DType;
use ferrotensor_core::attention::Attention;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::Contract;
use ferrotensor_core::layout::Layout;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Bytes of a block's scores: they, the weights and what the steps between keep are in a second-level cache, beside keys and values.
const SCORES: usize = 1 << 18;
/// Units of work for a thread, unless they would be less than a block.
const UNITS: usize = 4;
/// Places of values that all rows of a block meet before the next ones: they stay in a first-level cache.
const PLACES: usize = 256;
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
    /// What the map after the scores takes.
    after: &'a [Slot<'a>],
    /// What the weights take.
    beside: &'a [Slot<'a>],
    v: Slot<'a>,
    out: Slot<'a>,
    /// The map after the values.
    last: Option<After<'a>>,
    /// Of each part.
    params: [&'a [u64]; 3],
    /// From a row of scores to the next one.
    row: usize,
    /// Rows of a block, whole tiles.
    block: usize,
}
// SAFETY: inputs are only read, and each thread writes its own rows of the output.
unsafe impl Sync for Launch<'_> {}

impl<T: Float> AttentionKernel<T> {
    fn new(kernel: &Attention, tier: Tier) -> Result<AttentionKernel<T>, String> {
        let post = |k: &Contract| k.post.as_ref().map(|p| Post::new(p, k.dtype, tier)).transpose();
        Ok(AttentionKernel {
            posts: [post(&kernel.scores)?, post(&kernel.values)?],
            product: Product::new(tier),
            weights: rows::prepare(&kernel.weights, tier)?,
            causal: Causal::of(kernel),
            kernel: kernel.clone(),
        })
    }

    fn launch<'a>(&'a self, slots: &'a Slots, params: &'a [u64]) -> Result<Launch<'a>> {
        let unfit = || Error::internal("attention: operand shapes do not fit");
        let Some([&[a, b, ref after @ ..], beside, &[v, ref more @ ..]]) = self.kernel.split(&slots.inputs) else {
            return Err(unfit());
        };
        let params = self.kernel.params_of(params);
        let out = slots.outputs[0];
        // The second product is checked as a product of the scores, whose shape the first one has.
        let (Some(&n), Some(&columns), [kept @ .., _]) = (b.0.dims().last(), v.0.dims().last(), a.0.dims()) else {
            return Err(unfit());
        };
        let square = Layout::new(&[kept, &[n]].concat(), &vec![0; kept.len() + 1], 0, usize::MAX)?;
        let slot = (&square, std::ptr::null_mut());
        let (_, sizes) = operands(&Slots { inputs: SmallVec::from_slice(&[a, b]), outputs: SmallVec::from_slice(&[slot]) })?;
        operands(&Slots { inputs: SmallVec::from_slice(&[slot, v]), outputs: SmallVec::from_slice(&[out]) })?;
        let fits = |(o, _): &Slot| o.dims() == square.dims() || o.dims() == kept;
        if !after.iter().chain(beside).all(fits) {
            return Err(unfit());
        }
        let row = if (n * size_of::<T>()).is_multiple_of(PAGE) { n + self.product.tiles.lanes } else { n };
        let height = self.product.tiles.rows();
        let block = (SCORES / size_of::<T>() / row.max(1) / height).max(1) * height;
        // SAFETY: a launch's layouts lie inside its buffers and its outputs overlap nothing.
        let last = self.posts[1].as_ref().map(|p| unsafe { p.bind(more, out, params[2]) }).transpose()?;
        Ok(Launch { sizes, columns, a, b, after, beside, v, out, last, params, row, block })
    }
}

impl<T: Float> Run for AttentionKernel<T> {
    fn run(&self, slots: &Slots, params: &[u64], context: &Context) -> Result<()> {
        let launch = &self.launch(slots, params)?;
        let Sizes { batch, m, k, n } = launch.sizes;
        if batch * m * launch.columns == 0 {
            return Ok(());
        }
        // As few as keep the threads busy: each copies keys and values for itself.
        let blocks = m.div_ceil(launch.block);
        let groups = (UNITS * threads()).div_ceil(batch).clamp(1, blocks);
        let each = m.div_ceil(groups);
        // About as much as the weights of a softmax cost.
        let nanos = self.product.nanos(each, k, n) + self.product.nanos(each, n, launch.columns) + 0.6 * (each * n) as f64;
        parallel_for(batch * groups, nanos, &|units| {
            let mut worker = Worker::new(self, launch)?;
            for unit in units {
                let (i, group) = (unit / groups, unit % groups);
                let block = |g: usize| (start(g, groups, blocks) * launch.block).min(m);
                // SAFETY: the operands exist, and these rows of the output are this thread's.
                unsafe { worker.group(i, block(group)..block(group + 1), context)? };
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
    keys: Scratch,
    values: Scratch,
    /// Of which matrix of the batch the keys and values are.
    copied: Option<usize>,
    /// Whether keys that a block's queries do not see may be left out.
    leaves_out: bool,
}

impl<'a, T: Float> Worker<'a, T> {
    fn new(kernel: &'a AttentionKernel<T>, launch: &'a Launch<'a>) -> Result<Worker<'a, T>> {
        let (tiles, Sizes { m, k, n, .. }) = (&kernel.product.tiles, launch.sizes);
        let rows = launch.block.min(m);
        let panels = |columns: usize| columns.div_ceil(tiles.full.count);
        let room = || scratch::<T>(&[rows, launch.row]);
        Ok(Worker {
            rooms: [room()?, room()?],
            queries: scratch::<T>(&[rows.div_ceil(tiles.rows()), kernel.product.rows_width(rows), k])?,
            keys: scratch::<T>(&[panels(n), tiles.full.count, k])?,
            values: scratch::<T>(&[panels(launch.columns), tiles.full.count, n])?,
            copied: None,
            leaves_out: false,
            kernel,
            launch,
        })
    }

    /// Rows of a matrix of the batch.
    ///
    /// # Safety
    /// They exist, and those of the output are this thread's, as in all methods.
    unsafe fn group(&mut self, i: usize, rows: Range<usize>, context: &Context) -> Result<()> {
        let (launch, Sizes { k, n, .. }) = (self.launch, self.launch.sizes);
        let matrix = |slot: Slot<'a>| Matrix::of(slot, i, size_of::<T>());
        // SAFETY: by the contract above, here and below; the rooms are as large as the blocks.
        unsafe {
            if self.copied != Some(i) {
                self.copy(matrix(launch.b), (n, k), &self.keys);
                let width = self.copy(matrix(launch.v), (launch.columns, n), &self.values);
                self.copied = Some(i);
                let copy = std::slice::from_raw_parts(self.values.as_ptr().cast::<T>(), n * width);
                let causal = self.kernel.causal.as_ref().is_some_and(|c| c.fits(launch.a.0.rank()));
                self.leaves_out = causal && are_finite(copy);
            }
            for from in rows.clone().step_by(launch.block) {
                if context.abandoned.load(Relaxed) {
                    break;
                }
                let block = from..(from + launch.block).min(rows.end);
                let width = self.kernel.product.tiles.full.count;
                let seen = if self.leaves_out { block.end.next_multiple_of(width).min(n) } else { n };
                self.block(i, block.clone(), seen, context)?;
                let out = matrix(launch.out);
                if seen < n && has_minus_zero::<T>(out, block.clone(), launch.columns) {
                    self.block(i, block.clone(), n, context)?;
                }
                if let Some(last) = &launch.last {
                    let whole = Whole { batch: i, c: out, m: launch.sizes.m, n: launch.columns, is_turned: false };
                    last.map(whole, block, 0..launch.columns, context)?;
                }
            }
        }
        Ok(())
    }

    /// A block of rows over so many keys, the first ones.
    ///
    /// # Safety
    /// As [`Worker::group`], whose keys and values are copied.
    unsafe fn block(&self, i: usize, block: Range<usize>, keys: usize, context: &Context) -> Result<()> {
        let matrix = |slot: Slot<'a>| Matrix::of(slot, i, size_of::<T>());
        let [scores, weights] = self.rooms.each_ref().map(Scratch::as_ptr);
        // SAFETY: by the contract above; the rooms are as large as blocks.
        unsafe {
            self.scores(matrix(self.launch.a), block.clone(), keys, scores);
            let (scores, weights) = match &self.kernel.posts[0] {
                Some(post) => {
                    self.after(post, i, block.clone(), keys, (scores, weights))?;
                    (weights, scores)
                }
                None => (scores, weights),
            };
            self.weigh(i, block.clone(), keys, (scores, weights), context)?;
            self.collect(weights, matrix(self.launch.out), block, keys);
        }
        Ok(())
    }

    /// Copies the columns of an operand for tiles; how many floats there are at each place.
    ///
    /// # Safety
    /// There are so many columns and places, and room for them.
    unsafe fn copy(&self, b: Matrix, (columns, places): (usize, usize), to: &Scratch) -> usize {
        let (product, width) = (&self.kernel.product, self.kernel.product.tiles.full.count);
        let mut floats = 0;
        for j in (0..columns).step_by(width) {
            let count = width.min(columns - j);
            let to = to.as_ptr().cast::<T>().wrapping_add(j * places);
            // SAFETY: as the caller promises.
            unsafe { product.copy_columns(b, (j, count), (0, places), product.tiles.fitting(count).count, to) };
            floats += product.tiles.fitting(count).count;
        }
        floats
    }

    /// The rows of each tile of a block: the first one, and how many.
    fn tiles(&self, rows: usize) -> impl Iterator<Item = (usize, usize)> {
        let panels = rows.div_ceil(self.kernel.product.tiles.rows());
        (0..panels)
            .map(move |panel| (start(panel, panels, rows), start(panel + 1, panels, rows)))
            .map(|(first, end)| (first, end - first))
    }

    /// The scores of a block.
    ///
    /// # Safety
    /// As [`Worker::group`]; `to` has room for them.
    unsafe fn scores(&self, a: Matrix, block: Range<usize>, keys: usize, to: *mut u8) {
        let (product, k) = (&self.kernel.product, self.launch.sizes.k);
        let width = product.rows_width(block.len());
        let copy = |panel: usize| self.queries.as_ptr().cast::<T>().wrapping_add(panel * width * k);
        let sums = Sums::at(Matrix { start: to, rows: self.launch.row as isize, columns: 1 });
        // SAFETY: by the contract above.
        unsafe {
            for (panel, (first, count)) in self.tiles(block.len()).enumerate() {
                product.copy_rows(a, (block.start + first, count), (0, k), copy(panel));
            }
            for j in (0..keys).step_by(product.tiles.full.count) {
                let count = product.tiles.full.count.min(keys - j);
                let tiles = product.tiles.fitting(count);
                let b = self.keys.as_ptr().cast::<T>().wrapping_add(j * k).cast_const();
                for (panel, (i, rows)) in self.tiles(block.len()).enumerate() {
                    let tile = Tile::reading(k, (copy(panel).cast_const(), b), (0, 0, tiles.count as isize), true);
                    product.add(&sums, (tiles.packed[rows - 1], tiles.count), tile, (i, rows), (j, count));
                }
            }
        }
    }

    /// The map after the scores.
    ///
    /// # Safety
    /// As [`Worker::group`]; the scores are there, and there is room for what becomes of them.
    unsafe fn after(
        &self,
        post: &Post,
        i: usize,
        block: Range<usize>,
        keys: usize,
        (from, to): (*mut u8, *mut u8),
    ) -> Result<()> {
        let (launch, Sizes { m, n, .. }) = (self.launch, self.launch.sizes);
        // All rows of all matrices, of which those of this block lie in its room.
        let dims = [&launch.a.0.dims()[..launch.a.0.rank() - 1], &[n]].concat();
        let mut strides = vec![0; dims.len()];
        strides[dims.len() - 2..].copy_from_slice(&[launch.row as isize, 1]);
        let layout = Layout::new(&dims, &strides, 0, usize::MAX)?;
        let row = launch.row * size_of::<T>();
        let place = (&layout, to.wrapping_sub(block.start * row));
        let operands: SmallVec<[Memory; 4]> =
            [None].into_iter().chain(launch.after.iter().chain([&place]).map(|&o| Some(o))).collect();
        // SAFETY: by the contract above.
        unsafe {
            let bound = Bound::new(post.program(), &operands, launch.params[0])?;
            let mut frame = Frame::new(&bound, usize::MAX)?;
            // Rows that follow each other at once.
            let (run, len) = if launch.row == keys { (block.len(), block.len() * n) } else { (1, keys) };
            for first in block.clone().step_by(run) {
                let mut at = (i * m + first) * n;
                let end = at + len;
                let mut from = from.wrapping_add((first - block.start) * row);
                while at < end {
                    let len = bound.domain.piece(at, frame.tile().min(end - at));
                    frame.set(0, from);
                    frame.run(at, len);
                    from = from.wrapping_add(len * size_of::<T>());
                    at += len;
                }
            }
        }
        Ok(())
    }

    /// The weights of a block.
    ///
    /// # Safety
    /// As [`Worker::after`].
    unsafe fn weigh(
        &self,
        i: usize,
        block: Range<usize>,
        keys: usize,
        (from, to): (*mut u8, *mut u8),
        context: &Context,
    ) -> Result<()> {
        let launch = self.launch;
        let room = Layout::new(&[block.len(), keys], &[launch.row as isize, 1], 0, usize::MAX)?;
        let axes = launch.a.0.rank() - 2;
        let part = |(layout, _): &Slot| {
            let own = &layout.strides()[axes..];
            let at = layout.offset() as isize + leading(layout, axes, i) + block.start as isize * own[0];
            Layout::new(&[block.len(), keys][..own.len()], own, at as usize, usize::MAX)
        };
        let beside = launch.beside.iter().map(part).collect::<Result<SmallVec<[Layout; 2]>>>()?;
        let beside: SmallVec<[Slot; 2]> = beside.iter().zip(launch.beside).map(|(layout, (_, at))| (layout, *at)).collect();
        let inputs = self.kernel.kernel.weighed(&beside, (&room, from)).into();
        let slots = Slots { inputs, outputs: SmallVec::from_slice(&[(&room, to)]) };
        alone(|| self.kernel.weights.run(&slots, launch.params[1], context))
    }

    /// The products of a block's weights and values.
    ///
    /// # Safety
    /// As [`Worker::group`]; the weights are there.
    unsafe fn collect(&self, weights: *mut u8, out: Matrix, block: Range<usize>, keys: usize) {
        let (launch, product, n) = (self.launch, &self.kernel.product, self.launch.sizes.n);
        let sums = Sums::at(out);
        for p in (0..keys.max(1)).step_by(PLACES) {
            let places = PLACES.min(keys - p);
            for j in (0..launch.columns).step_by(product.tiles.full.count) {
                let count = product.tiles.full.count.min(launch.columns - j);
                let tiles = product.tiles.fitting(count);
                let b = self.values.as_ptr().cast::<T>().wrapping_add(j * n + p * tiles.count).cast_const();
                for (i, rows) in self.tiles(block.len()) {
                    let a = weights.cast::<T>().wrapping_add(i * launch.row + p).cast_const();
                    let tile = Tile::reading(places, (a, b), (launch.row as isize, 1, tiles.count as isize), p == 0);
                    let run = (tiles.strided[rows - 1], tiles.count);
                    // SAFETY: by the contract above.
                    unsafe { product.add(&sums, run, tile, (block.start + i, rows), (j, count)) };
                }
            }
        }
    }
}

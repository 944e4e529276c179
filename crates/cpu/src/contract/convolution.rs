//! Convolutions of floats by the tiles of products: rows of weights times columns that are windows. A tile reads its columns where they lie
//! side by side in the data or in a copy of them (`window/phases.rs`), place by place from a table; where windows are few it gets them
//! collected. Every output is a sum over channels and places in the order of products, as if the windows were a matrix.

use super::Matrix;
use super::blocks::{self, pieces};
use super::grid::{Apart, Grid, Sizes};
use super::product::{Product, scratch};
use super::stored::Stored;
use super::sums::Row;
use super::tile::{Columns, Onto, Tile, Tiled};
use crate::indices::leading;
use crate::launch::{Context, Run, Slot, Slots};
use crate::map::tile::Cast;
use crate::map::transpose;
use crate::number::cast::CastTo;
use crate::parallel::{grain, parallel_for, start, threads};
use crate::scratch::Scratch;
use crate::tier::{Tier, compiled};
use crate::window::phases::{CopyPlane, Plane, runs, stretch, volume};
use ferrotensor_core::DType;
use ferrotensor_core::element::{bf16, f16};
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::{Window, WindowAxis};
use ferrotensor_core::layout::Layout;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Rows of a unit of work at most.
const ROWS: usize = 252;
/// Columns of a unit of work at most.
const COLUMNS: usize = 256;
/// Units for a thread to take turns.
const UNITS: usize = 8;
/// Columns are read where they lie if windows and what lies between their rows are no more than so many eighths of the windows.
const WASTE: usize = 12;

/// A compiled convolution.
pub struct ConvolutionKernel<S: Stored> {
    axes: Vec<WindowAxis>,
    product: Product<S>,
    copy: unsafe fn(Plane<S, S::Real>),
}

/// Compiles a convolution.
///
/// # Errors
/// For integers and complex numbers, whose windows are unfolded.
pub fn prepare(kernel: &Window, tier: Tier) -> Result<Box<dyn Run>, String> {
    fn of<S: Stored + CastTo<S::Real>>(kernel: &Window, tier: Tier) -> Box<dyn Run> {
        let copy = compiled::<CopyPlane<Cast, S, S::Real>>(tier);
        Box::new(ConvolutionKernel::<S> { axes: kernel.axes.clone(), product: Product::new(tier), copy })
    }
    Ok(match kernel.dtype {
        DType::F16 => of::<f16>(kernel, tier),
        DType::BF16 => of::<bf16>(kernel, tier),
        DType::F32 => of::<f32>(kernel, tier),
        DType::F64 => of::<f64>(kernel, tier),
        d => return Err(format!("windows of {d} are unfolded")),
    })
}

/// Some columns of a product.
struct Chunk {
    /// Columns, with what lies between rows of windows.
    count: usize,
    /// Which of them are windows.
    spans: SmallVec<[Span; 16]>,
    /// Where the first one lies, if columns are read where they lie.
    start: isize,
    /// How many may be read from there on.
    readable: usize,
}

/// Windows beside each other.
struct Span {
    /// The first one's column.
    column: usize,
    count: usize,
    /// Where it lies in the data.
    from: isize,
    image: usize,
    /// Its number among an image's windows.
    window: usize,
}

/// A launch.
struct Job<'a, S: Stored> {
    kernel: &'a ConvolutionKernel<S>,
    sizes: Sizes<'a>,
    grid: Grid<S::Real>,
    /// Rows of weights, packed for tiles: those of a group after the other.
    weights: *const S::Real,
    /// Tiles of rows, and floats of one.
    panels: (usize, usize),
    /// Whether columns are read where they lie: then chunks are of one image.
    is_direct: bool,
    /// Columns: of an image, or of all.
    columns: usize,
    /// Parts of the rows.
    parts: usize,
    out: Slot<'a>,
}
// SAFETY: the operands are only read, and each thread writes its own part of the output.
unsafe impl<S: Stored> Sync for Job<'_, S> {}

impl<S: Stored> ConvolutionKernel<S> {
    /// Packs all rows of weights `[group, rows, places]` for tiles.
    fn packed(&self, (layout, from): Slot, sizes: &Sizes, panels: (usize, usize)) -> Result<Scratch> {
        let room = scratch::<S::Real>(&[sizes.group, panels.0, panels.1])?;
        let (to, from) = (&Apart(room.as_ptr().cast::<S::Real>()), &Apart(from));
        // About 10 GB/s.
        parallel_for(sizes.group * panels.0, (panels.1 * size_of::<S::Real>()) as f64 * 0.1, &|range| {
            let (Apart(to), Apart(from)) = (to, from);
            for n in range {
                let (group, panel) = (n / panels.0, n % panels.0);
                let rows = start(panel, panels.0, sizes.rows)..start(panel + 1, panels.0, sizes.rows);
                let a = Matrix::of((layout, *from), group, size_of::<S>());
                // SAFETY: the rows exist, and the copy has room for each panel.
                unsafe {
                    self.product.copy_rows(a, (rows.start, rows.len()), (0, sizes.places), to.wrapping_add(n * panels.1));
                }
            }
            Ok(())
        })?;
        Ok(room)
    }

    fn convolve(&self, data: Slot, weights: Slot, out: Slot, context: &Context) -> Result<()> {
        let sizes = Sizes::new(&self.axes, data.0, weights.0, out.0)?;
        if out.0.is_empty() {
            return Ok(());
        }
        let matrices = [sizes.group, sizes.rows, sizes.places];
        let (layout, weights, _copy) = match weights.0.reshape(&matrices) {
            Some(layout) => (layout, weights.1, None),
            // A copy of weights that do not lie as rows, as those of gradients.
            None => {
                // SAFETY: a launch's layouts lie inside its buffers.
                let (copy, _) = unsafe { transpose::dense(weights, size_of::<S>(), context)? };
                (Layout::dense(&matrices)?, copy.as_ptr(), Some(copy))
            }
        };
        let tiles = &self.product.tiles;
        let grid = match Grid::in_place::<S>(&self.axes, data, &sizes) {
            Some(grid) => grid,
            None => Grid::copied(&self.axes, data, &sizes, (self.copy, tiles.full.count), context)?,
        };
        let count = sizes.rows.div_ceil(tiles.rows());
        let panels = (count, volume([self.product.rows_width(sizes.rows), sizes.places])?);
        let packed = self.packed((&layout, weights), &sizes, panels)?;

        let windows = volume(sizes.counts.iter().copied())?;
        let stretch = stretch(&grid.steps, sizes.counts);
        let width = tiles.full.count;
        let is_direct = stretch <= windows * WASTE / 8 && windows >= width;
        let (images, columns) = if is_direct { (sizes.batch, stretch) } else { (1, volume([sizes.batch, windows])?) };
        // Few columns at a time where that makes units for all threads, then few rows.
        let wanted = UNITS * threads();
        let mut parts = (sizes.rows.div_ceil(ROWS)).min(panels.0);
        let outer = images * sizes.group;
        let chunk = (columns * outer * parts).div_ceil(wanted).next_multiple_of(width).clamp(width, COLUMNS);
        let chunks = columns.div_ceil(chunk);
        let nanos = self.product.nanos(sizes.rows, sizes.places, columns) / chunks as f64;
        while outer * chunks * parts < wanted && parts < panels.0 && nanos / parts as f64 > f64::from(grain()) {
            parts = (2 * parts).min(panels.0);
        }
        let weights = packed.as_ptr().cast::<S::Real>().cast_const();
        let job = &Job { kernel: self, sizes, grid, weights, panels, is_direct, columns, parts, out };
        parallel_for(outer * chunks * parts, nanos / parts as f64, &|units| {
            for unit in units {
                if context.abandoned.load(Relaxed) {
                    break;
                }
                let (n, part) = (unit / parts, unit % parts);
                let (n, at) = (n / chunks, n % chunks * chunk);
                // SAFETY: the operands exist, and this part of the output is this thread's.
                unsafe { job.unit((n / job.sizes.group, n % job.sizes.group), at..(at + chunk).min(columns), part)? };
            }
            Ok(())
        })
    }
}

impl<S: Stored> Job<'_, S> {
    /// Which columns these are. `image` says of which image, if they are read where they lie.
    fn columns(&self, image: usize, group: usize, columns: Range<usize>) -> Chunk {
        let Grid { images, steps, slack, .. } = &self.grid;
        let (sizes, mut spans) = (&self.sizes, SmallVec::new());
        if self.is_direct {
            let of_image = images[image * sizes.group + group];
            runs(steps, sizes.counts, columns.start, columns.end, |run| {
                spans.push(Span {
                    column: run.at - columns.start,
                    count: run.count,
                    from: of_image + run.at as isize,
                    image,
                    window: run.window,
                });
            });
            let readable = self.columns + slack - columns.start;
            return Chunk { count: columns.len(), spans, start: of_image + columns.start as isize, readable };
        }
        let windows: usize = sizes.counts.iter().product();
        let row = sizes.counts[sizes.counts.len() - 1];
        let mut at = columns.start;
        while at < columns.end {
            let (image, window) = (at / windows, at % windows);
            let count = (row - window % row).min(columns.end - at);
            let (mut rest, mut from) = (window, images[image * sizes.group + group]);
            for (&n, &step) in sizes.counts.iter().zip(steps).rev() {
                from += (rest % n * step) as isize;
                rest /= n;
            }
            spans.push(Span { column: at - columns.start, count, from, image, window });
            at += count;
        }
        Chunk { count: columns.len(), spans, start: 0, readable: 0 }
    }

    /// A part of the rows of some columns.
    ///
    /// # Errors
    /// `Code::OutOfMemory` for sums.
    ///
    /// # Safety
    /// The operands exist, and this part of the output is the caller's.
    unsafe fn unit(&self, (image, group): (usize, usize), columns: Range<usize>, part: usize) -> Result<()> {
        let (tiles, sizes, (panels, floats)) = (&self.kernel.product.tiles, &self.sizes, self.panels);
        let panel = start(part, self.parts, panels)..start(part + 1, self.parts, panels);
        let row = |panel: usize| start(panel, panels, sizes.rows);
        let rows = row(panel.start)..row(panel.end);
        let chunk = self.columns(image, group, columns);
        let width = chunk.count.next_multiple_of(tiles.full.count);
        let (block, total) = (blocks::places::<S>(), blocks::places_of_total::<S>());
        let area = rows.len() * width;
        let memory = scratch::<S::Real>(&[area])?;
        // Of what is set aside after each running total, but the last one.
        let aside = if sizes.places > total { Some(scratch::<S::Real>(&[area])?) } else { None };
        let room = scratch::<S::Real>(&[block, tiles.full.count])?;
        let (sums, room) = (memory.as_ptr().cast::<S::Real>(), room.as_ptr().cast::<S::Real>());
        // The data that a tile's columns show in a block stay in the first-level cache while rows of weights pass.
        for Range { start: p, end } in pieces(0..sizes.places, block) {
            let k = end - p;
            let onto = if p.is_multiple_of(total) { Onto::Nothing } else { Onto::Total };
            for j in (0..chunk.count).step_by(tiles.full.count) {
                let of_width: &Columns<S::Real> = tiles.fitting(chunk.count - j);
                let in_place = j + of_width.count <= chunk.readable;
                if !in_place {
                    // SAFETY: the windows exist, and the room holds a tile's columns.
                    unsafe { self.collect(&chunk, (p, k), j..(j + of_width.count).min(chunk.count), of_width.count, room) };
                }
                for panel in panel.clone() {
                    let (first, end) = (row(panel), row(panel + 1));
                    let count = end - first;
                    let of_panel = self.weights.wrapping_add((group * panels + panel) * floats);
                    let a = of_panel.wrapping_add(p * tiles.packed_width(count));
                    let b = self.grid.start.wrapping_offset(chunk.start + j as isize);
                    let b = if in_place { b } else { room.cast_const() };
                    let tile = Tile::reading(k, (a, b), (0, 0, of_width.count as isize), onto);
                    let c = sums.wrapping_add((first - rows.start) * width + j);
                    let places = self.grid.places.as_ptr().wrapping_add(p);
                    let tile = Tile { places, c, c_row: width as isize, ..tile };
                    let run = if in_place { of_width.by_table[count - 1] } else { of_width.packed[count - 1] };
                    // SAFETY: the rows are packed, the columns can be read, and there is room for the sums.
                    unsafe { run(tile) };
                }
            }
            if let Some(aside) = &aside
                && (end == sizes.places || end.is_multiple_of(total))
            {
                // SAFETY: both have as many sums, and are this thread's.
                unsafe { carry(sums, aside.as_ptr().cast(), area, end <= total) };
            }
        }
        let sums = aside.as_ref().map_or(sums, |aside| aside.as_ptr().cast());
        for i in rows.clone() {
            let row = sums.wrapping_add((i - rows.start) * width);
            // SAFETY: the sums are whole, and this part of the output is the caller's.
            chunk.spans.iter().for_each(|span| unsafe { self.store(span, group, i, row) });
        }
        Ok(())
    }

    /// Columns beside each other at `k` places from `p` on, zeros behind them.
    ///
    /// # Safety
    /// The windows exist, and `to` has room for `width` columns at each place.
    unsafe fn collect(&self, chunk: &Chunk, (p, k): (usize, usize), columns: Range<usize>, width: usize, to: *mut S::Real) {
        for (q, &place) in self.grid.places[p..p + k].iter().enumerate() {
            let to = to.wrapping_add(q * width);
            // SAFETY: as the caller promises.
            unsafe { std::slice::from_raw_parts_mut(to, width).fill(S::Real::default()) };
            for span in &chunk.spans {
                let (first, end) = (span.column.max(columns.start), (span.column + span.count).min(columns.end));
                if first < end {
                    let from = self.grid.start.wrapping_offset(span.from + place + (first - span.column) as isize);
                    // SAFETY: as the caller promises.
                    unsafe { std::ptr::copy_nonoverlapping(from, to.wrapping_add(first - columns.start), end - first) };
                }
            }
        }
    }

    /// Writes sums of a row, rounded.
    ///
    /// # Safety
    /// This part of the output is the caller's.
    unsafe fn store(&self, span: &Span, group: usize, row: usize, sums: *const S::Real) {
        let ((layout, start), sizes) = (self.out, &self.sizes);
        let windows: usize = sizes.counts.iter().product();
        let number = ((span.image * sizes.group + group) * sizes.rows + row) * windows + span.window;
        let at = layout.offset() as isize + leading(layout, layout.rank(), number);
        let to = start.cast::<S>().wrapping_offset(at);
        let (from, step) = (sums.wrapping_add(span.column), layout.strides()[layout.rank() - 1]);
        // SAFETY: as the caller promises.
        unsafe { (self.kernel.product.round)(Row { from, to, step, count: span.count }) };
    }
}

/// Adds sums to what was set aside, unless they are the `first`.
///
/// # Safety
/// There are so many of both.
unsafe fn carry<T: Tiled>(sums: *const T, aside: *mut T, count: usize, first: bool) {
    for n in 0..count {
        // SAFETY: as the caller promises.
        unsafe { *aside.add(n) = if first { *sums.add(n) } else { *aside.add(n) + *sums.add(n) } };
    }
}

impl<S: Stored> Run for ConvolutionKernel<S> {
    fn run(&self, slots: &Slots, _: &[u64], context: &Context) -> Result<()> {
        let ([data, weights], [out]) = (&slots.inputs[..], &slots.outputs[..]) else {
            return Err(Error::internal("window: two inputs and one output"));
        };
        self.convolve(*data, *weights, *out, context)
    }
}

//! Products of integers of 8 bits, in 32 or in their own: as products of quads, for which operands whose places lie apart are copied.

use super::grid::Apart;
use super::post::Post;
use super::product::{Product, scratch};
use super::quads::Quad;
use super::{Sizes, dense, operands};
use crate::indices::leading;
use crate::launch::{Context, Run, Slot, Slots};
use crate::map::MapKernel;
use crate::parallel::parallel_for;
use crate::scratch::Scratch;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::error::Result;
use ferrotensor_core::kernel::Contract;
use ferrotensor_core::layout::{Layout, Strides};
use ferrotensor_core::{DType, Dims};
use std::sync::atomic::Ordering;

/// Integers of a quad.
const QUAD: usize = 4;
/// Sums beside an output of 8 bits: 4 MB, which stay in the cache until they are narrowed.
const SUMS: usize = 1 << 20;

/// Compiles a product of integers of 8 bits; `None` for others, and where there are no instructions for them.
pub fn prepare(kernel: &Contract, tier: Tier) -> Option<Result<Box<dyn Run>, String>> {
    let is_byte = |d: DType| d == DType::I8 || d == DType::U8;
    let gives = matches!(kernel.dtype, DType::I32 | DType::U32) || (is_byte(kernel.dtype) && kernel.post.is_none());
    if tier < Tier::Avx2 || !gives || !kernel.operands.into_iter().all(is_byte) {
        return None;
    }
    // The low 8 bits of a sum are the same whether integers have a sign or not.
    let signed = kernel.operands.map(|d| d == DType::I8 || is_byte(kernel.dtype));
    Some(match signed {
        [false, false] => BytesKernel::<false, false>::prepare(kernel, tier),
        [false, true] => BytesKernel::<false, true>::prepare(kernel, tier),
        [true, false] => BytesKernel::<true, false>::prepare(kernel, tier),
        [true, true] => BytesKernel::<true, true>::prepare(kernel, tier),
    })
}

/// A compiled product.
struct BytesKernel<const A: bool, const B: bool> {
    product: Product<Quad<A, B>>,
    interleave: unsafe fn(Interleaved),
    /// From sums to elements of 8 bits.
    narrowed: Option<MapKernel>,
    post: Option<Post>,
}

/// For operands whose memory is a copy, of which nothing is kept: another one may lie there next.
fn passing<'a>(context: &Context<'a>) -> Context<'a> {
    Context { spare: 0, ..*context }
}

impl<const A: bool, const B: bool> BytesKernel<A, B> {
    fn prepare(kernel: &Contract, tier: Tier) -> Result<Box<dyn Run>, String> {
        let cast = || MapKernel::cast(DType::I32, kernel.dtype, tier);
        // Sums have the same bits in uint32.
        let narrowed = if kernel.dtype.bytes() == 4 { None } else { Some(cast()?) };
        let post = kernel.post.as_ref().map(|p| Post::new(p, kernel.dtype, tier)).transpose()?;
        Ok(Box::new(Self { product: Product::new(tier), interleave: compiled::<Interleave>(tier), narrowed, post }))
    }

    /// An operand as quads along an axis, one of the last two: as it lies, if its places lie beside each other, or a copy.
    fn quads(&self, (layout, start): Slot, axis: usize, context: &Context) -> Result<InQuads> {
        let (dims, strides) = (layout.dims(), layout.strides());
        let is_whole = |n: usize| n.is_multiple_of(QUAD);
        let steps_whole = |a: usize| a == axis || dims[a] == 1 || is_whole(strides[a].unsigned_abs());
        let starts_whole = is_whole(layout.offset()) && is_whole(start as usize);
        if strides[axis] != 1 || !is_whole(dims[axis]) || !starts_whole || !(0..dims.len()).all(steps_whole) {
            return self.copied((layout, start), axis, context);
        }
        let mut quads: Dims = dims.into();
        quads[axis] /= QUAD;
        let mut steps: Strides = strides.iter().map(|s| s / QUAD as isize).collect();
        steps[axis] = 1;
        Ok(InQuads { layout: Layout::new(&quads, &steps, layout.offset() / QUAD, usize::MAX)?, start, _copy: None })
    }

    /// A copy as quads. What is one matrix of a batch, or one row, is copied once.
    fn copied(&self, (layout, start): Slot, axis: usize, context: &Context) -> Result<InQuads> {
        let axes = layout.rank() - 2;
        let (other, last) = (2 * axes + 1 - axis, axes + 1);
        let once =
            (0..axes).chain([other]).filter(|&a| layout.strides()[a] == 0).fold(layout.clone(), |l, a| l.slice(a, 0, 1, 1));
        let batch: usize = once.dims()[..axes].iter().product();
        let (k, along) = (layout.dims()[axis], once.dims()[other]);
        let (place, step) = (layout.strides()[axis], layout.strides()[other]);
        let quads = k.div_ceil(QUAD);
        // Rows of the copy: of quads, if places lie beside each other, else of what does.
        let by_places = place == 1;
        let (rows, columns, inner) = if by_places { (along, quads, axis) } else { (quads, along, other) };
        let copy = scratch::<i32>(&[batch, rows, columns])?;
        let (from, to) = (&Apart(start.cast_const()), &Apart(copy.as_ptr().cast::<i32>()));
        // Read at about 5 GB/s.
        parallel_for(batch * rows, (columns * QUAD) as f64 * 0.2, &|range| {
            for n in range {
                if context.abandoned.load(Ordering::Relaxed) {
                    break;
                }
                let (matrix, row) = (once.offset() as isize + leading(&once, axes, n / rows), n % rows);
                let at = matrix + if by_places { row as isize * step } else { (row * QUAD) as isize * place };
                let to = to.0.wrapping_add(n * columns);
                let row_of = |quad: usize, count: usize, places: usize, step: isize| {
                    let from = from.0.wrapping_offset(at + quad as isize * step);
                    // SAFETY: the operand has these integers, and the copy room for the row.
                    unsafe {
                        (self.interleave)(Interleaved { from, place, step, places, count, to: to.wrapping_add(quad) })
                    };
                };
                if by_places {
                    row_of(0, k / QUAD, QUAD, QUAD as isize);
                    row_of(k / QUAD, quads - k / QUAD, k % QUAD, QUAD as isize);
                } else {
                    row_of(0, along, QUAD.min(k - row * QUAD), step);
                }
            }
            Ok(())
        })?;
        let mut dims: Dims = once.dims().into();
        (dims[axes], dims[last]) = (rows, columns);
        let mut lies = Layout::dense(&dims)?;
        if inner != last {
            let order: Dims = (0..axes).chain([last, axes]).collect();
            lies = lies.permute(&order);
        }
        dims = layout.dims().into();
        dims[axis] = quads;
        Ok(InQuads { layout: lies.broadcast(&dims), start: copy.as_ptr(), _copy: Some(copy) })
    }

    /// A product of quads to elements of 8 bits, for which sums of a part at a time lie beside the output.
    fn narrow(&self, narrowed: &MapKernel, [a, b, c]: [Slot; 3], sizes: Sizes, context: &Context) -> Result<()> {
        let dims = c.0.dims();
        if c.0.len() <= SUMS {
            let (sums, layout) = (scratch::<i32>(&[c.0.len()])?, dense(c.0)?);
            let sums = (&layout, sums.as_ptr());
            self.product.multiply([a, b, sums], sizes, None, &passing(context))?;
            // SAFETY: the sums are ours, and the output is a launch's.
            return unsafe { narrowed.apply(&[sums, c], &[], context) };
        }
        // Halves of the first axis that has some.
        let axis = dims.iter().position(|&d| d > 1).unwrap_or(0);
        let half = dims[axis] / 2;
        let (rows, columns) = (dims.len() - 2, dims.len() - 1);
        for (start, len) in [(0, half), (half, dims[axis] - half)] {
            let part = |layout: &Layout, along: bool| if along { layout.slice(axis, start, 1, len) } else { layout.clone() };
            let parts = [part(a.0, axis != columns), part(b.0, axis != rows), part(c.0, true)];
            let [a, b, c] = [(&parts[0], a.1), (&parts[1], b.1), (&parts[2], c.1)];
            let (m, n) = (parts[2].dims()[rows], parts[2].dims()[columns]);
            let batch = parts[2].dims()[..rows].iter().product();
            self.narrow(narrowed, [a, b, c], Sizes { batch, m, n, ..sizes }, context)?;
        }
        Ok(())
    }
}

impl<const A: bool, const B: bool> Run for BytesKernel<A, B> {
    fn run(&self, slots: &Slots, params: &[u64], context: &Context) -> Result<()> {
        let ([a, b, c], sizes) = operands(slots)?;
        if sizes.batch == 0 || sizes.m == 0 || sizes.n == 0 {
            return Ok(());
        }
        // SAFETY: a launch's layouts lie inside its buffers and its outputs overlap nothing.
        let after = self.post.as_ref().map(|p| unsafe { p.bind(&slots.inputs[2..], c, params) }).transpose()?;
        let last = c.0.rank() - 1;
        let (x, y) = (self.quads(a, last, context)?, self.quads(b, last - 1, context)?);
        let sizes = Sizes { k: sizes.k.div_ceil(QUAD), ..sizes };
        let operands = [(&x.layout, x.start), (&y.layout, y.start), c];
        match &self.narrowed {
            None => self.product.multiply(operands, sizes, after.as_ref(), &passing(context)),
            Some(narrowed) => self.narrow(narrowed, operands, sizes, context),
        }
    }
}

/// An operand as quads, and the copy they are in.
struct InQuads {
    layout: Layout,
    start: *mut u8,
    _copy: Option<Scratch>,
}

/// A row of quads to be.
struct Interleaved {
    /// The first integer of the first one.
    from: *const u8,
    /// From an integer of a quad to the next one.
    place: isize,
    /// From a quad's first integer to the next one's.
    step: isize,
    /// Integers of each quad; those that are missing are 0.
    places: usize,
    /// Quads.
    count: usize,
    to: *mut i32,
}

/// Copies a row of quads.
struct Interleave;

impl Source for Interleave {
    type Args = Interleaved;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(Interleaved { from, place, step, places, count, to }: Interleaved) {
        // SAFETY: as many integers exist, here and below.
        let at = |q: usize, p: usize| unsafe { *from.wrapping_offset(q as isize * step + p as isize * place) };
        // SAFETY: there is room for as many quads.
        let store = |q: usize, quad: [u8; QUAD]| unsafe { *to.add(q) = i32::from_le_bytes(quad) };
        if places < QUAD {
            for q in 0..count {
                store(q, std::array::from_fn(|p| if p < places { at(q, p) } else { 0 }));
            }
        } else if step == 1 {
            // The loop joins registers of the same place.
            let lines: [*const u8; QUAD] = std::array::from_fn(|p| from.wrapping_offset(p as isize * place));
            for q in 0..count {
                // SAFETY: as above.
                store(q, lines.map(|line| unsafe { *line.add(q) }));
            }
        } else {
            for q in 0..count {
                store(q, std::array::from_fn(|p| at(q, p)));
            }
        }
    }
}

//! Products of float32 and float64 by the vendor's library, where FERROTENSOR_BLAS asks for one. Their bits are the library's.

use super::float::FloatKernel;
use super::post::{After, Post};
use super::product::{LONG, Whole};
use super::stored::Stored;
use super::{Matrix, Operands, Shared, Sizes, folded, operands};
use crate::blas::{self, Blas, Float, Rows};
use crate::launch::{Context, Run, Slots};
use crate::parallel::parallel_for;
use crate::tier::Tier;
use ferrotensor_core::DType;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::Contract;
use ferrotensor_core::planted;
use std::sync::atomic::Ordering;

/// Multiply-adds in a nanosecond, of one thread: enough to tell short products from long ones.
const RATE: f64 = 30.0;

/// A product by the library, where somebody asked for one and it has the dtype.
///
/// # Errors
/// Why there is none; as [`FloatKernel::new`].
pub fn prepare(kernel: &Contract, tier: Tier) -> Option<Result<Box<dyn Run>, String>> {
    blas::asked()?;
    match kernel.dtype {
        DType::F32 => Some(VendorKernel::<f32>::new(kernel, tier).map(|k| Box::new(k) as Box<dyn Run>)),
        DType::F64 => Some(VendorKernel::<f64>::new(kernel, tier).map(|k| Box::new(k) as Box<dyn Run>)),
        _ => None,
    }
}

/// A product by the library.
pub struct VendorKernel<S: Stored> {
    library: &'static Blas,
    /// For operands that no BLAS reads: walked backwards, or with gaps both ways.
    own: FloatKernel<S>,
    post: Option<Post>,
}

/// What a product reads, where it writes, and elements from a row of that to the next one.
struct Matrices<S> {
    a: Rows<S>,
    b: Rows<S>,
    c: Matrix,
    leading: usize,
}

impl<S: Stored + Float> VendorKernel<S> {
    fn new(kernel: &Contract, tier: Tier) -> Result<VendorKernel<S>, String> {
        let post = kernel.post.as_ref().map(|p| Post::new(p, kernel.dtype, tier)).transpose()?;
        Ok(VendorKernel { library: blas::library()?, own: FloatKernel::new(kernel, tier)?, post })
    }

    /// How the library reads a matrix; `None` where it cannot.
    fn rows(&self, matrix: Matrix, rows: usize, columns: usize) -> Option<Rows<S>> {
        let start = matrix.start.cast_const().cast();
        // Between rows that there is one of, any stride will do.
        let leading = |stride: isize, count: usize, length: usize| {
            let stride = if count == 1 { length } else { usize::try_from(stride).ok()? };
            (stride >= length && self.library.holds(stride)).then_some(stride)
        };
        if matrix.columns == 1 || columns == 1 {
            return Some(Rows { start, leading: leading(matrix.rows, rows, columns)?, is_transposed: false });
        }
        if matrix.rows == 1 || rows == 1 {
            let is_transposed = !planted::is("a-library-gets-rows-and-columns-exchanged");
            return Some(Rows { start, leading: leading(matrix.columns, columns, rows)?, is_transposed });
        }
        None
    }

    /// The matrices of a product as the library takes them; `None` where it cannot, of all in a batch, whose strides are the same.
    fn readable(&self, operands: &Operands, i: usize, Sizes { m, k, n, .. }: Sizes) -> Option<Matrices<S>> {
        let [a, b, c] = operands.map(|o| Matrix::of(o, i, size_of::<S>()));
        let leading = self.rows(c, m, n).filter(|out| !out.is_transposed)?.leading;
        let holds = [m, k, n].iter().all(|&size| size > 0 && self.library.holds(size));
        if holds { Some(Matrices { a: self.rows(a, m, k)?, b: self.rows(b, k, n)?, c, leading }) } else { None }
    }

    /// Operands that are [`VendorKernel::readable`].
    fn multiply(&self, operands: Operands, sizes: Sizes, after: Option<&After>, context: &Context) -> Result<()> {
        let Sizes { batch, m, k, n } = sizes;
        let shared = &Shared(operands);
        let nanos = m as f64 * n as f64 * k as f64 / RATE;
        let matrices = |i: usize| {
            let Shared(operands) = shared;
            self.readable(operands, i, sizes).ok_or_else(|| Error::internal("matrices of a batch have other strides"))
        };
        let whole = |batch: usize, c: Matrix| Whole { batch, c, m, n, is_turned: false };
        let is_abandoned = || context.abandoned.load(Ordering::Relaxed);
        let finish = |whole: Whole, rows| {
            after.map_or(Ok(()), |after| {
                // SAFETY: the product is there, and these rows of it are this thread's.
                unsafe { after.map(whole, rows, 0..n, context) }
            })
        };
        if batch > 1 && nanos < LONG {
            return self.library.with_threads(1, || {
                parallel_for(batch, nanos, &|mut range| {
                    range.try_for_each(|i| {
                        if is_abandoned() || blas::is_ending() {
                            return Ok(());
                        }
                        let Matrices { a, b, c, leading } = matrices(i)?;
                        // SAFETY: the matrices exist, `readable` has checked sizes and strides, and outputs overlap nothing.
                        unsafe { self.library.multiply([m, n, k], a, b, (c.start.cast(), leading)) };
                        finish(whole(i, c), 0..m)
                    })
                })
            });
        }
        let per_row = after.map_or(0.0, After::nanos) * n as f64;
        (0..batch).try_for_each(|i| {
            let Matrices { a, b, c, leading } = matrices(i)?;
            // SAFETY: as above.
            unsafe { self.library.product([m, n, k], a, b, (c.start.cast(), leading), is_abandoned) };
            if after.is_none() { Ok(()) } else { parallel_for(m, per_row, &|rows| finish(whole(i, c), rows)) }
        })
    }
}

impl<S: Stored + Float> Run for VendorKernel<S> {
    fn run(&self, slots: &Slots, params: &[u64], context: &Context) -> Result<()> {
        let (given, sizes) = operands(slots)?;
        let [x, y, z] = given.map(|o| o.1);
        let folded = folded(&given, &sizes);
        // One product of all rows, where a batch has the same columns.
        let rows = folded
            .as_ref()
            .map(|[a, b, c]| ([(a, x), (b, y), (c, z)], Sizes { batch: 1, m: sizes.batch * sizes.m, ..sizes }));
        let ways = [rows, Some((given, sizes))];
        let way = ways.into_iter().flatten().find(|(o, sizes)| sizes.batch > 0 && self.readable(o, 0, *sizes).is_some());
        let Some((operands, sizes)) = way else { return self.own.run(slots, params, context) };
        // SAFETY: a launch's layouts lie inside its buffers and its outputs overlap nothing.
        let after = self.post.as_ref().map(|p| unsafe { p.bind(&slots.inputs[2..], given[2], params) }).transpose()?;
        self.multiply(operands, sizes, after.as_ref(), context)
    }
}

//! Products of integers, which wrap, and of bools (or of and): exact in any order.

use super::{Matrix, Shared, Sizes, dense, operands};
use crate::launch::{Context, Run, Slot, Slots};
use crate::map::MapKernel;
use crate::memory::CpuBuffer;
use crate::number::{Item, Number};
use crate::parallel::parallel_for;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::{Contract, Map};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::{Bool, DType, match_dtype};
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

/// One row of dense matrices: `out[n] = sum over k of a[k] * b[k][n]`.
struct RowProduct {
    a: *const u8,
    b: *const u8,
    out: *mut u8,
    k: usize,
    n: usize,
}

struct Rows<T>(PhantomData<T>);

// Columns handled at a time: the sums of a block and a row of b stay in the first-level cache.
const COLUMNS: usize = 512;

impl<T: Item> Source for Rows<T> {
    type Args = RowProduct;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(r: RowProduct) {
        let mut j = 0;
        while j < r.n {
            let len = COLUMNS.min(r.n - j);
            // SAFETY: columns j..j + len of the output row, which overlaps no operand.
            let out = unsafe { std::slice::from_raw_parts_mut(r.out.cast::<T>().add(j), len) };
            out.fill(T::store(Number::ZERO));
            for i in 0..r.k {
                // SAFETY: element i of the row of a, and columns j..j + len of row i of b.
                let (a, b) = unsafe {
                    ((*r.a.cast::<T>().add(i)).load(), std::slice::from_raw_parts(r.b.cast::<T>().add(i * r.n + j), len))
                };
                for (x, y) in out.iter_mut().zip(b) {
                    *x = T::store(Number::add(x.load(), Number::mul(a, y.load())));
                }
            }
            j += len;
        }
    }
}

/// Any integer dtype, and bool.
pub struct IntegerKernel {
    /// Of operands, in the dtype of the product.
    copies: [MapKernel; 2],
    rows: unsafe fn(RowProduct),
    /// Bytes of an element of the product.
    size: usize,
    /// From the product to the output.
    last: MapKernel,
}

impl IntegerKernel {
    /// For a kernel on a tier.
    ///
    /// # Errors
    /// A sentence for a dtype that is neither integer nor bool.
    pub fn new(kernel: &Contract, tier: Tier) -> Result<IntegerKernel, String> {
        let dtype = kernel.dtype;
        let rows = match dtype {
            DType::Bool => compiled::<Rows<Bool>>(tier),
            d => match_dtype!(d, integers T => compiled::<Rows<T>>(tier), else return Err(format!("{d} is not an integer"))),
        };
        let [a, b] = kernel.operands;
        let copies = [MapKernel::cast(a, dtype, tier)?, MapKernel::cast(b, dtype, tier)?];
        let last = match &kernel.post {
            Some(post) => MapKernel::new(&Map { program: post.clone() }, tier)?,
            None => MapKernel::cast(dtype, dtype, tier)?,
        };
        Ok(IntegerKernel { copies, rows, size: dtype.bytes(), last })
    }
}

impl Run for IntegerKernel {
    fn run(&self, slots: &Slots, params: &[u64], context: &Context) -> Result<()> {
        let ([a, b, c], Sizes { batch, m, k, n }) = operands(slots)?;
        if batch == 0 || m == 0 || n == 0 {
            return Ok(());
        }
        let room = |layout: &Layout| -> Result<(Layout, CpuBuffer)> {
            let bytes =
                layout.len().checked_mul(self.size).ok_or_else(|| Error::out_of_memory("operand too large to pack"))?;
            Ok((dense(layout)?, CpuBuffer::new(bytes, context.account)?))
        };
        let (pa, pb, pc) = (room(a.0)?, room(b.0)?, room(c.0)?);
        // SAFETY: a launch's layouts lie inside its buffers, and the copies are ours.
        unsafe {
            self.copies[0].apply(&[a, (&pa.0, pa.1.as_ptr())], &[], context)?;
            self.copies[1].apply(&[b, (&pb.0, pb.1.as_ptr())], &[], context)?;
        }
        let shared = &Shared([(&pa.0, pa.1.as_ptr()), (&pb.0, pb.1.as_ptr()), (&pc.0, pc.1.as_ptr())]);
        parallel_for(batch * m, 0.05 * (self.size * n * k.max(1)) as f64, &|rows| {
            let Shared(operands) = shared;
            for row in rows {
                if context.abandoned.load(Ordering::Relaxed) {
                    break;
                }
                let [a, b, c] = operands.map(|o| Matrix::of(o, row / m, self.size));
                let (a, out) = (a.from(row % m, 0, self.size).start, c.from(row % m, 0, self.size).start);
                // SAFETY: dense matrices of these sizes; the output row is this thread's.
                unsafe { (self.rows)(RowProduct { a, b: b.start, out, k, n }) };
            }
            Ok(())
        })?;
        let after: Vec<Slot> =
            [(&pc.0, pc.1.as_ptr())].into_iter().chain(slots.inputs[2..].iter().copied()).chain([c]).collect();
        // SAFETY: as above.
        unsafe { self.last.apply(&after, params, context) }
    }
}

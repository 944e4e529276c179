//! Products of floats and complex numbers.

use super::{Matrix, Operands, Shared, Sizes, dense, operands};
use crate::launch::{Context, Run, Slots};
use crate::map::MapKernel;
use crate::memory::CpuBuffer;
use crate::parallel::parallel_for;
use crate::tier::Tier;
use ferrotensor_core::DType;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::layout::Layout;
use matrixmultiply::CGemmOption::Standard;
use std::sync::atomic::Ordering;

/// float32, float64, complex64, complex128.
pub struct FloatKernel(pub DType);

impl Run for FloatKernel {
    fn run(&self, slots: &Slots, _: &[u64], context: &Context) -> Result<()> {
        let (operands, sizes) = operands(slots)?;
        multiply(self.0, operands, sizes, context)
    }
}

// A part smaller than this would repack the other operand too often: packing costs about as much as 30 rows of products.
const PART: usize = 256;
// More parts than this help no machine we know, and each repacks.
const PARTS: usize = 16;

/// `c = a b` for every matrix of the batch.
fn multiply(dtype: DType, operands: Operands, sizes: Sizes, context: &Context) -> Result<()> {
    let Sizes { batch, m, k, n } = sizes;
    if batch == 0 || m == 0 || n == 0 {
        return Ok(());
    }
    // The longer side is cut, into parts that depend on the shape alone.
    let by_rows = m >= n;
    let long = if by_rows { m } else { n };
    let part = long.div_ceil(PARTS).next_multiple_of(64).max(PART).min(long);
    let parts = long.div_ceil(part);
    // 60 GFLOP/s for float32, a fourth for complex numbers of the same size.
    let cost = if dtype.is_complex() { 8.0 } else { 2.0 } * dtype.bytes() as f64 / 4.0 / 60.0;
    let nanos = cost * (part * m.min(n)) as f64 * k.max(1) as f64;
    let shared = &Shared(operands);
    parallel_for(batch * parts, nanos, &|units| {
        let Shared([a, b, c]) = shared;
        let size = dtype.bytes();
        for unit in units {
            if context.abandoned.load(Ordering::Relaxed) {
                break;
            }
            let (i, first) = (unit / parts, unit % parts * part);
            let len = part.min(long - first);
            let [a, b, c] = [a, b, c].map(|&o| Matrix::of(o, i, size));
            let (a, b, c, m, n) = if by_rows {
                (a.from(first, 0, size), b, c.from(first, 0, size), len, n)
            } else {
                (a, b.from(0, first, size), c.from(0, first, size), m, len)
            };
            // SAFETY: the matrices exist, and this part of the output is this thread's.
            unsafe { gemm(dtype, m, k, n, a, b, c)? };
        }
        Ok(())
    })
}

/// `c = a b` for one matrix.
///
/// # Safety
/// The matrices exist; `c` overlaps nothing and is nobody else's.
unsafe fn gemm(dtype: DType, m: usize, k: usize, n: usize, a: Matrix, b: Matrix, c: Matrix) -> Result<()> {
    macro_rules! call {
        ($f:path, [$($option:expr),*], $t:ty, $one:expr, $zero:expr) => {
            // SAFETY: by the contract above.
            unsafe {
                $f($($option,)* m, k, n, $one, a.start.cast::<$t>(), a.rows, a.columns, b.start.cast::<$t>(), b.rows, b.columns,
                    $zero, c.start.cast::<$t>(), c.rows, c.columns)
            }
        };
    }
    match dtype {
        DType::F32 => call!(matrixmultiply::sgemm, [], f32, 1.0, 0.0),
        DType::F64 => call!(matrixmultiply::dgemm, [], f64, 1.0, 0.0),
        DType::C64 => call!(matrixmultiply::cgemm, [Standard, Standard], [f32; 2], [1.0, 0.0], [0.0, 0.0]),
        DType::C128 => call!(matrixmultiply::zgemm, [Standard, Standard], [f64; 2], [1.0, 0.0], [0.0, 0.0]),
        d => return Err(Error::internal(format!("contract: {d} is not a float"))),
    }
    Ok(())
}

/// float16 and bfloat16: widened, multiplied in float32, rounded once.
pub struct HalfKernel {
    widen: MapKernel,
    narrow: MapKernel,
}

impl HalfKernel {
    /// For a dtype.
    ///
    /// # Errors
    /// As [`MapKernel::cast`].
    pub fn new(dtype: DType, tier: Tier) -> Result<HalfKernel, String> {
        Ok(HalfKernel {
            widen: MapKernel::cast(dtype, DType::F32, tier)?,
            narrow: MapKernel::cast(DType::F32, dtype, tier)?,
        })
    }
}

impl Run for HalfKernel {
    fn run(&self, slots: &Slots, _: &[u64], context: &Context) -> Result<()> {
        let ([a, b, c], sizes) = operands(slots)?;
        let wide = |layout: &Layout| -> Result<(Layout, CpuBuffer)> {
            // The elements of a half exist, so twice their bytes do not overflow.
            Ok((dense(layout)?, CpuBuffer::new(layout.len() * size_of::<f32>(), context.used)?))
        };
        let (wa, wb, wc) = (wide(a.0)?, wide(b.0)?, wide(c.0)?);
        // SAFETY: a launch's layouts lie inside its buffers, its outputs overlap nothing, and the copies are ours.
        unsafe {
            self.widen.apply(&[a, (&wa.0, wa.1.as_ptr())], &[], context)?;
            self.widen.apply(&[b, (&wb.0, wb.1.as_ptr())], &[], context)?;
            let operands = [(&wa.0, wa.1.as_ptr()), (&wb.0, wb.1.as_ptr()), (&wc.0, wc.1.as_ptr())];
            multiply(DType::F32, operands, sizes, context)?;
            self.narrow.apply(&[(&wc.0, wc.1.as_ptr()), c], &[], context)
        }
    }
}

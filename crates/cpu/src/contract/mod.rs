//! `Contract` kernels: batches of matrix products. Floats by tiles of fused multiply-adds, float16 and bfloat16 in float32, complex
//! numbers as twice as many floats; integers and bool by a loop.

mod blocks;
mod few_rows;
mod float;
mod integer;
mod lanes;
mod pack;
mod product;
mod stored;
mod tile;

use crate::launch::{Run, Slot, Slots};
use crate::tier::Tier;
use ferrotensor_core::DType;
use ferrotensor_core::element::{Complex, bf16, f16};
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::Contract;
use ferrotensor_core::layout::Layout;

/// Compiles a contraction.
///
/// # Errors
/// For what comes after a product: a pass over it is a map as good as any.
pub fn prepare(kernel: &Contract, tier: Tier) -> Result<Box<dyn Run>, String> {
    if kernel.post.is_some() {
        return Err("a product with a map after it".into());
    }
    match kernel.dtype {
        DType::F16 => Ok(Box::new(float::FloatKernel::<f16>::new(tier))),
        DType::BF16 => Ok(Box::new(float::FloatKernel::<bf16>::new(tier))),
        DType::F32 => Ok(Box::new(float::FloatKernel::<f32>::new(tier))),
        DType::F64 => Ok(Box::new(float::FloatKernel::<f64>::new(tier))),
        DType::C64 => Ok(Box::new(float::FloatKernel::<Complex<f32>>::new(tier))),
        DType::C128 => Ok(Box::new(float::FloatKernel::<Complex<f64>>::new(tier))),
        d => Ok(Box::new(integer::IntegerKernel::new(d, tier)?)),
    }
}

/// The sizes of a launch.
#[derive(Clone, Copy)]
struct Sizes {
    batch: usize,
    m: usize,
    k: usize,
    n: usize,
}

/// The operands of a launch: `a`, `b`, output.
type Operands<'a> = [Slot<'a>; 3];

/// The operands and sizes of a launch, checked.
fn operands<'a>(slots: &Slots<'a>) -> Result<(Operands<'a>, Sizes)> {
    let ([a, b], [c]) = (&slots.inputs[..], &slots.outputs[..]) else {
        return Err(Error::internal("contract: two inputs and one output"));
    };
    match (a.0.dims(), b.0.dims(), c.0.dims()) {
        ([a_batch @ .., m, k], [b_batch @ .., k2, n], [batch @ .., m2, n2])
            if a_batch == batch && b_batch == batch && k == k2 && m == m2 && n == n2 =>
        {
            Ok(([*a, *b, *c], Sizes { batch: batch.iter().product(), m: *m, k: *k, n: *n }))
        }
        (a, b, c) => Err(Error::internal(format!("contract: {a:?} and {b:?} do not make {c:?}"))),
    }
}

/// The `i`-th matrix of a batch: its first element's address, row and column stride.
#[derive(Clone, Copy)]
struct Matrix {
    start: *mut u8,
    rows: isize,
    columns: isize,
}

impl Matrix {
    fn of((layout, start): Slot, i: usize, size: usize) -> Matrix {
        let axes = layout.rank() - 2;
        let at = layout.offset() as isize + crate::indices::leading(layout, axes, i);
        let strides = &layout.strides()[axes..];
        Matrix { start: start.wrapping_offset(at * size as isize), rows: strides[0], columns: strides[1] }
    }

    /// The part from row `i` and column `j` on.
    fn from(self, i: usize, j: usize, size: usize) -> Matrix {
        let at = i as isize * self.rows + j as isize * self.columns;
        Matrix { start: self.start.wrapping_offset(at * size as isize), ..self }
    }
}

/// The dense layout of an operand of this shape, from the start of a buffer.
fn dense(layout: &Layout) -> Result<Layout> {
    Layout::dense(layout.dims())
}

/// Operands that threads share.
struct Shared<'a>(Operands<'a>);
// SAFETY: inputs are only read, and each thread writes its own part of the output.
unsafe impl Sync for Shared<'_> {}

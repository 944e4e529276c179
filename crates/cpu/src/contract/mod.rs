//! `Contract` kernels: batches of matrix products. Floats by tiles of fused multiply-adds, float16 and bfloat16 in float32, complex
//! numbers as twice as many floats; integers of 8 bits by tiles of four places at once, other integers and bool by a loop.

pub mod attention;
mod blocks;
#[cfg(target_arch = "x86_64")]
mod bytes;
mod constant;
pub mod convolution;
mod dots;
mod float;
mod grid;
mod integer;
pub mod lanes;
mod pack;
mod packed;
mod post;
mod product;
#[cfg(target_arch = "x86_64")]
mod quads;
mod stored;
mod sums;
mod tile;
mod unpacked;
mod vendor;

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
/// For floats narrower than their product: a pass over them is a map as good as any. As [`Contract::verify`].
pub fn prepare(kernel: &Contract, tier: Tier) -> Result<Box<dyn Run>, String> {
    kernel.verify()?;
    #[cfg(target_arch = "x86_64")]
    if let Some(bytes) = bytes::prepare(kernel, tier) {
        return bytes;
    }
    if kernel.dtype.is_integer() || kernel.dtype == DType::Bool {
        return Ok(Box::new(integer::IntegerKernel::new(kernel, tier)?));
    }
    if kernel.is_narrow() {
        return Err(format!("a product of {} and {} in {}", kernel.operands[0], kernel.operands[1], kernel.dtype));
    }
    vendor::prepare(kernel, tier).unwrap_or_else(|| own(kernel, tier))
}

/// Compiles a contraction of floats by our own tiles, whatever library was asked for.
///
/// # Errors
/// As [`prepare`].
pub fn own(kernel: &Contract, tier: Tier) -> Result<Box<dyn Run>, String> {
    Ok(match kernel.dtype {
        DType::F16 => Box::new(float::FloatKernel::<f16>::new(kernel, tier)?),
        DType::BF16 => Box::new(float::FloatKernel::<bf16>::new(kernel, tier)?),
        DType::F32 => Box::new(float::FloatKernel::<f32>::new(kernel, tier)?),
        DType::F64 => Box::new(float::FloatKernel::<f64>::new(kernel, tier)?),
        DType::C64 => Box::new(float::FloatKernel::<Complex<f32>>::new(kernel, tier)?),
        _ => Box::new(float::FloatKernel::<Complex<f64>>::new(kernel, tier)?),
    })
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

/// The operands and sizes of a launch, checked; what a map after it takes stays with the launch.
fn operands<'a>(slots: &Slots<'a>) -> Result<(Operands<'a>, Sizes)> {
    let ([a, b, ..], [c]) = (&slots.inputs[..], &slots.outputs[..]) else {
        return Err(Error::internal("contract: at least two inputs and one output"));
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
pub(crate) struct Matrix {
    start: *mut u8,
    rows: isize,
    columns: isize,
}

// SAFETY: inputs are only read, and each thread writes its own part of the output.
unsafe impl Sync for Matrix {}

impl Matrix {
    fn of((layout, start): Slot, i: usize, size: usize) -> Matrix {
        let axes = layout.rank() - 2;
        let at = layout.offset() as isize + crate::indices::leading(layout, axes, i);
        let strides = &layout.strides()[axes..];
        Matrix { start: start.wrapping_offset(at * size as isize), rows: strides[0], columns: strides[1] }
    }

    /// Its transpose.
    fn transposed(self) -> Matrix {
        Matrix { rows: self.columns, columns: self.rows, ..self }
    }

    /// The part from row `i` and column `j` on.
    fn from(self, i: usize, j: usize, size: usize) -> Matrix {
        let at = i as isize * self.rows + j as isize * self.columns;
        Matrix { start: self.start.wrapping_offset(at * size as isize), ..self }
    }
}

/// One product instead of a batch of products with the same `b`, where the rows of all follow each other.
fn folded(operands: &Operands, sizes: &Sizes) -> Option<[Layout; 3]> {
    let [(a, _), (b, _), (c, _)] = operands;
    let axes = b.rank() - 2;
    let is_same = b.dims().iter().zip(b.strides()).take(axes).all(|(&d, &s)| d == 1 || s == 0);
    if sizes.batch < 2 || !is_same {
        return None;
    }
    let b = (0..axes).fold((*b).clone(), |b, _| b.pick(0, 0));
    let rows = sizes.batch * sizes.m;
    Some([a.reshape(&[rows, sizes.k])?, b, c.reshape(&[rows, sizes.n])?])
}

/// The dense layout of an operand of this shape, from the start of a buffer.
fn dense(layout: &Layout) -> Result<Layout> {
    Layout::dense(layout.dims())
}

/// Operands that threads share.
struct Shared<'a>(Operands<'a>);
// SAFETY: inputs are only read, and each thread writes its own part of the output.
unsafe impl Sync for Shared<'_> {}

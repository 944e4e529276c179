//! Dense routines that every backend may fall back to: linear systems, factors and reductions by `faer`, eigenvalues and
//! singular values of the reduced matrices by rotations of our own, Fourier transforms by `rustfft`.
//!
//! Operands are dense row-major bytes in host memory, batched over their leading axes. Both crates are generic and slow to
//! compile; they are instantiated here only, behind [`run`].

mod bidiagonal;
mod cholesky;
mod eig;
mod eigh;
mod expm;
mod fft;
mod jacobi;
mod lu;
mod matrix;
mod ql;
mod qr;
mod reduction;
mod reflections;
mod rotations;
mod solve;
mod svd;
mod tall;
mod triangular;

pub use matrix::set_threads;

use bytemuck::Pod;
use faer::{c32, c64};
use ferrotensor_core::kernel::{Kernel, Routine};
use ferrotensor_core::{DType, Error, Result, layout};
use std::borrow::Cow;

/// Calls with the element type of a dtype.
macro_rules! by_dtype {
    ($dtype:expr, $T:ident => $call:expr) => {{
        macro_rules! call {
            ($t:ty) => {{
                type $T = $t;
                $call
            }};
        }
        match $dtype {
            DType::F32 => call!(f32),
            DType::F64 => call!(f64),
            DType::C64 => call!(c32),
            DType::C128 => call!(c64),
            other => Err(Error::internal(format!("no dense routine takes {other}"))),
        }
    }};
}

/// Runs a routine; operands as [`Routine`] documents them, each as (bytes, shape). Empty batches and matrices are valid.
///
/// A matrix that holds NaN or infinity yields NaN in all of its results.
///
/// # Errors
/// `Code::LinAlg` for a singular matrix (a pivot is exactly zero, or finite operands give a solution that is not finite), for one
/// that is not positive definite, and where an iteration does not converge; results are then undefined. `Code::OutOfMemory` for scratch memory. `Code::Internal` for operands that break the
/// routine's contract.
pub fn run(routine: &Routine, inputs: &[(&[u8], &[usize])], outputs: &mut [(&mut [u8], &[usize])]) -> Result<()> {
    let kernel = Kernel::Routine(*routine);
    let wrong = || Error::internal(format!("{routine:?}: wrong dtype or number of operands"));
    let dtypes = [kernel.inputs(), kernel.outputs()].concat();
    let operands = inputs.iter().map(|(bytes, dims)| (bytes.len(), *dims));
    let operands: Vec<_> = operands.chain(outputs.iter().map(|(bytes, dims)| (bytes.len(), *dims))).collect();
    if (inputs.len(), operands.len()) != (kernel.inputs().len(), dtypes.len()) {
        return Err(wrong());
    }
    for ((length, dims), dtype) in operands.into_iter().zip(dtypes) {
        if layout::count(dims)?.checked_mul(dtype.bytes()) != Some(length) {
            return Err(Error::internal(format!("{length} bytes are not a {dtype} operand of shape {dims:?}")));
        }
    }
    match (routine, inputs, outputs) {
        (&Routine::Cholesky(dtype), [a], [l]) => by_dtype!(dtype, T => cholesky::run::<T>(*a, l)),
        (&Routine::Lu(dtype), [a], [l, u, rows, sign]) => by_dtype!(dtype, T => lu::run::<T>(*a, l, u, rows, sign)),
        (&Routine::Triangular { dtype, upper, unit }, [a, b], [x]) => {
            by_dtype!(dtype, T => triangular::run::<T>(*a, *b, x, upper, unit))
        }
        (&Routine::Eigh { dtype, .. }, [a], [w, v @ ..]) => by_dtype!(dtype, T => eigh::run::<T>(*a, w, v.first_mut())),
        (&Routine::Svd { dtype, .. }, [a], [s]) => by_dtype!(dtype, T => svd::values::<T>(*a, s)),
        (&Routine::Svd { dtype, .. }, [a], [u, s, vh]) => by_dtype!(dtype, T => svd::vectors::<T>(*a, u, s, vh)),
        (&Routine::Eig { dtype, .. }, [a], [w, v @ ..]) => by_dtype!(dtype, T => eig::run::<T>(*a, w, v.first_mut())),
        (&Routine::Expm(dtype), [a], [e]) => by_dtype!(dtype, T => expm::run::<T>(*a, e)),
        (Routine::Solve(DType::F32), [a, b], [x]) => solve::run::<f32>(*a, *b, x),
        (Routine::Solve(DType::F64), [a, b], [x]) => solve::run::<f64>(*a, *b, x),
        (Routine::Solve(DType::C64), [a, b], [x]) => solve::run::<c32>(*a, *b, x),
        (Routine::Solve(DType::C128), [a, b], [x]) => solve::run::<c64>(*a, *b, x),
        (Routine::Qr(DType::F32), [a], [q, r]) => qr::run::<f32>(*a, q, r),
        (Routine::Qr(DType::F64), [a], [q, r]) => qr::run::<f64>(*a, q, r),
        (Routine::Qr(DType::C64), [a], [q, r]) => qr::run::<c32>(*a, q, r),
        (Routine::Qr(DType::C128), [a], [q, r]) => qr::run::<c64>(*a, q, r),
        (Routine::Fft { dtype: DType::C64, inverse }, [x], [y]) => fft::run::<f32>(*x, y, *inverse),
        (Routine::Fft { dtype: DType::C128, inverse }, [x], [y]) => fft::run::<f64>(*x, y, *inverse),
        _ => Err(wrong()),
    }
}

/// The error for shapes that do not fit a routine.
fn misfit(routine: &str, shapes: &[&[usize]]) -> Error {
    Error::internal(format!("{routine}: shapes {shapes:?} do not fit"))
}

/// Bytes as elements: borrowed where aligned, else copied.
fn elements<T: Pod>(bytes: &[u8]) -> Result<Cow<'_, [T]>> {
    if let Ok(elements) = bytemuck::try_cast_slice(bytes) {
        return Ok(Cow::Borrowed(elements));
    }
    let mut copy = scratch(bytes.len() / size_of::<T>())?;
    bytemuck::cast_slice_mut(&mut copy).copy_from_slice(bytes);
    Ok(Cow::Owned(copy))
}

/// Lets `fill` write bytes as elements: in place where aligned, else through a copy.
fn write<T: Pod>(bytes: &mut [u8], fill: impl FnOnce(&mut [T]) -> Result<()>) -> Result<()> {
    if let Ok(elements) = bytemuck::try_cast_slice_mut(bytes) {
        return fill(elements);
    }
    let mut copy = scratch(bytes.len() / size_of::<T>())?;
    fill(&mut copy)?;
    bytes.copy_from_slice(bytemuck::cast_slice(&copy));
    Ok(())
}

/// Zeroed scratch memory.
///
/// # Errors
/// `Code::OutOfMemory` instead of an abort.
fn scratch<T: Pod>(length: usize) -> Result<Vec<T>> {
    let mut memory = Vec::new();
    memory.try_reserve_exact(length).map_err(|_| no_memory(length.saturating_mul(size_of::<T>())))?;
    memory.resize(length, T::zeroed());
    Ok(memory)
}

fn no_memory(bytes: usize) -> Error {
    Error::out_of_memory(format!("no memory for {bytes} bytes of scratch"))
}

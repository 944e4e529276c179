//! What the factorisations need: the element trait, scaling, triangles, phases, scratch for `faer`, and how many threads it gets.

use crate::{no_memory, scratch};
use bytemuck::Pod;
use faer::dyn_stack::{MemBuffer, StackReq};
use faer::traits::math_utils::{abs, conj, from_real, mul_real, one, real};
use faer::traits::{ComplexField, RealField};
use faer::{Par, c32, c64};
use ferrotensor_core::{Error, Result};
use num_traits::{Float, NumCast, One, ToPrimitive, Zero};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// float32, float64, complex64 or complex128.
pub trait Element: ComplexField<Real: Float + Pod + RealField> + Pod {}
impl Element for f32 {}
impl Element for f64 {}
impl Element for c32 {}
impl Element for c64 {}

/// The i-th matrix of `count` in words, for errors.
pub fn which(i: usize, count: usize) -> String {
    if count == 1 { "the matrix".into() } else { format!("matrix {i} of the batch") }
}

/// The error of an iteration that was given up.
pub fn no_convergence(what: &str, i: usize, count: usize) -> Error {
    Error::linalg(format!("the {what} of {} do not converge", which(i, count)))
}

/// A triangle of the row-major `matrix [n, n]` as a row-major matrix of its own, zeros elsewhere.
pub fn triangle<T: Element>(matrix: &[T], n: usize, upper: bool) -> Result<Vec<T>> {
    let mut copy = scratch::<T>(matrix.len())?;
    for i in 0..n {
        let kept = if upper { i..n } else { 0..i + 1 };
        copy[i * n..][kept.clone()].copy_from_slice(&matrix[i * n..][kept]);
    }
    Ok(copy)
}

/// A Hermitian matrix of which the lower triangle is read, with a real diagonal; a copy where it needs one.
pub fn hermitian<T: Element>(matrix: &[T], n: usize) -> Result<Cow<'_, [T]>> {
    if T::IS_REAL {
        return Ok(Cow::Borrowed(matrix));
    }
    let mut copy = triangle(matrix, n, false)?;
    (0..n).for_each(|i| copy[i * n + i] = from_real(&real(&copy[i * n + i])));
    Ok(Cow::Owned(copy))
}

/// The number of modulus 1 in the direction of `x`; 1 where `x` has next to none.
pub fn phase<T: Element>(x: &T) -> T {
    let size = abs(x);
    if size < T::Real::min_positive_value() {
        one()
    } else if T::IS_REAL {
        *x / from_real::<T>(&size)
    } else {
        mul_real(x, &Float::recip(size))
    }
}

/// What a vector is multiplied with so that the first of its largest entries becomes real and positive.
pub fn towards_real<T: Element>(vector: &[T]) -> T {
    let zero = <T::Real as Zero>::zero();
    let largest = vector.iter().fold((zero, T::zeroed()), |most, x| {
        let size = abs(x);
        if size > most.0 { (size, *x) } else { most }
    });
    conj(&phase(&largest.1))
}

/// Multiplies a vector so that the first of its largest entries is real and positive.
pub fn settle<T: Element>(vector: &mut [T]) {
    let by = towards_real(vector);
    vector.iter_mut().for_each(|x| *x *= by);
}

/// The power of two to factor `matrix` times, or `None` if it holds NaN or infinity.
///
/// `faer` takes reciprocals of pivots and compares norms with the smallest normal number. Those are safe while the largest
/// entry (of complex ones: the largest part) is between the square roots of the extremes; only outside is a matrix scaled, to
/// about 1 (exactly, but for entries that underflow beside it).
pub fn scale<T: Element>(matrix: &[T]) -> Option<T::Real> {
    scale_rows(std::iter::once(matrix))
}

/// The same for the lower triangle alone.
pub fn scale_lower<T: Element>(matrix: &[T], n: usize) -> Option<T::Real> {
    scale_rows((0..n).map(|i| &matrix[i * n..=i * (n + 1)]))
}

fn scale_rows<'a, T: Element>(rows: impl Iterator<Item = &'a [T]>) -> Option<T::Real> {
    let zero = <T::Real as Zero>::zero();
    // Several numbers at a time: in a single chain each comparison waits for the one before.
    let (mut most, mut wrong) = ([zero; 16], [zero; 16]);
    for row in rows {
        let mut see = |part: &[T::Real]| {
            for ((most, wrong), x) in most.iter_mut().zip(&mut wrong).zip(part) {
                let size = Float::abs(*x);
                *most = if size > *most { size } else { *most };
                // Not zero only of NaN and infinity.
                *wrong += size * zero;
            }
        };
        let parts = bytemuck::cast_slice::<T, T::Real>(row).chunks_exact(16);
        let rest = parts.remainder();
        parts.for_each(&mut see);
        see(rest);
    }
    if wrong.iter().any(|x| !x.is_zero()) {
        return None;
    }
    let largest = most.into_iter().fold(zero, Float::max);
    let low = Float::sqrt(T::Real::min_positive_value());
    if largest.is_zero() || (low..Float::recip(low)).contains(&largest) {
        return Some(One::one());
    }
    // Clamped so that neither the factor nor its reciprocal is subnormal.
    let two = <T::Real as NumCast>::from(2)?;
    let limit = -Float::log2(low) * two;
    let exponent = Float::min(Float::max(-Float::floor(Float::log2(largest)), -limit), limit);
    Some(Float::powi(two, exponent.to_i32()?))
}

/// Writes the transpose of `from [rows, columns]`, times `factor`, to `to [columns, rows]`.
///
/// Operands are row-major, and `faer` is 3 times faster on column-major matrices (LU, float64, n = 512 and 1024).
pub fn transpose<T: Element>(from: &[T], rows: usize, columns: usize, factor: T::Real, to: &mut [T]) {
    // 8 columns at a time: a row's part is one cache line of float64, and 8 lines written side by side stay in the cache
    // even where a power of two as row count maps them all to one set.
    for first in (0..columns).step_by(8) {
        for i in 0..rows {
            for j in first..columns.min(first + 8) {
                to[j * rows + i] = mul_real(&from[i * columns + j], &factor);
            }
        }
    }
}

/// The same for the lower triangle of `from [n, n]`, which becomes the upper one; the rest is left as it is.
pub fn transpose_lower<T: Element>(from: &[T], n: usize, factor: T::Real, to: &mut [T]) {
    for first in (0..n).step_by(8) {
        for i in first..n {
            for j in first..(first + 8).min(i + 1) {
                to[j * n + i] = mul_real(&from[i * n + j], &factor);
            }
        }
    }
}

/// The same for the upper triangle, which becomes the lower one.
pub fn transpose_upper<T: Element>(from: &[T], n: usize, factor: T::Real, to: &mut [T]) {
    for first in (0..n).step_by(8) {
        let end = n.min(first + 8);
        for i in 0..end {
            for j in first.max(i)..end {
                to[j * n + i] = mul_real(&from[i * n + j], &factor);
            }
        }
    }
}

/// The row-major `matrix [rows, columns]` times `factor` as a column-major one in new memory.
pub fn column_major<T: Element>(matrix: &[T], rows: usize, columns: usize, factor: T::Real) -> Result<Vec<T>> {
    let mut copy = scratch(matrix.len())?;
    transpose(matrix, rows, columns, factor, &mut copy);
    Ok(copy)
}

/// The indices of values as `compare` has them, equal ones by their place.
pub fn order<R>(values: &[R], compare: impl Fn(&R, &R) -> Option<Ordering>) -> Result<Vec<usize>> {
    let mut order = scratch::<usize>(values.len())?;
    order.iter_mut().enumerate().for_each(|(i, at)| *at = i);
    order.sort_unstable_by(|&i, &j| compare(&values[i], &values[j]).unwrap_or(Ordering::Equal).then(i.cmp(&j)));
    Ok(order)
}

/// Workspace for `faer`.
pub fn stack(needed: StackReq) -> Result<MemBuffer> {
    MemBuffer::try_new(needed).map_err(|_| no_memory(needed.size_bytes()))
}

/// More threads only wait for each other in a factorisation of the sizes that fit into memory.
const MOST_THREADS: usize = 16;

/// Threads wanted and, once they are needed, their pool. Rayon's global pool belongs to nobody.
static POOL: Mutex<(usize, Option<Arc<ThreadPool>>)> = Mutex::new((1, None));

/// Sets the number of threads of a factorisation, the caller included; 0 is taken as 1, and from 16 on all are the same.
pub fn set_threads(n: usize) {
    *POOL.lock().unwrap_or_else(PoisonError::into_inner) = (n.clamp(1, MOST_THREADS), None);
}

/// Rows and columns of a matrix from which threads share its factors: on two cores those of 512 columns take 1.3 to 1.8 times as long on both
/// (LU, QR, Cholesky), those of 1024 as long or a little less.
pub const FACTORS_SHARED_FROM: usize = 1024;
/// The same for its singular values or eigenvalues, whose rotations go over rows apart: of 512 columns they take 0.8 to 1 times as long.
pub const ROTATIONS_SHARED_FROM: usize = 512;

/// Runs `work` on several threads where the matrix has so many rows and columns.
pub fn with_threads<R: Send>(from: usize, rows: usize, columns: usize, work: impl FnOnce(Par) -> R + Send) -> R {
    match (rows.min(columns) >= from).then(pool).flatten() {
        Some(pool) => pool.install(|| work(Par::rayon(pool.current_num_threads()))),
        None => work(Par::Seq),
    }
}

/// `None` for one thread, or where the system refuses threads.
pub fn pool() -> Option<Arc<ThreadPool>> {
    let mut guard = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let (threads, pool) = &mut *guard;
    if *threads > 1 && pool.is_none() {
        let name = |i| format!("ferrotensor-host-{i}");
        *pool = ThreadPoolBuilder::new().num_threads(*threads).thread_name(name).build().ok().map(Arc::new);
    }
    pool.clone()
}

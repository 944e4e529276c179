//! Arrays of float64 and complex128 as vectors of real numbers, which derivatives are taken in.

use crate::values::Rng;
use ferrotensor_core::reference::Array;
use ferrotensor_core::{DType, Result};

/// The parts of a differentiable array, one after the other.
pub fn numbers(a: &Array) -> Option<Vec<f64>> {
    let number = |b: &[u8]| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]);
    matches!(a.dtype(), DType::F64 | DType::C128).then(|| a.bytes().chunks_exact(8).map(number).collect())
}

pub fn array(dtype: DType, dims: &[usize], x: &[f64]) -> Result<Array> {
    Array::new(dtype, dims, x.iter().flat_map(|v| v.to_le_bytes()).collect())
}

/// Numbers from -1 to 1.
pub fn random(dtype: DType, dims: &[usize], rng: &mut Rng) -> Result<Array> {
    let n = dims.iter().product::<usize>() * dtype.bytes() / 8;
    let x: Vec<f64> = (0..n).map(|_| 2.0 * rng.unit() - 1.0).collect();
    array(dtype, dims, &x)
}

/// The real inner product.
pub fn dot(a: &[Array], b: &[Array]) -> f64 {
    let terms = a.iter().zip(b).filter_map(|(a, b)| Some((numbers(a)?, numbers(b)?)));
    terms.flat_map(|(a, b)| a.into_iter().zip(b).map(|(x, y)| x * y).collect::<Vec<_>>()).sum()
}

/// What of it may cancel.
pub fn size(a: &[Array], b: &[Array]) -> f64 {
    let terms = a.iter().zip(b).filter_map(|(a, b)| Some((numbers(a)?, numbers(b)?)));
    terms.flat_map(|(a, b)| a.into_iter().zip(b).map(|(x, y)| (x * y).abs()).collect::<Vec<_>>()).sum()
}

/// Zeros but for the first positions of an axis, counted from behind.
pub fn first_of(a: &Array, (axis, keep): (usize, usize)) -> Result<Array> {
    let mut x = numbers(a).unwrap_or_default();
    let (parts, dims) = (a.dtype().bytes() / 8, a.dims());
    let (inner, size) = (dims[dims.len() + 1 - axis..].iter().product::<usize>(), dims[dims.len() - axis]);
    x.iter_mut().enumerate().for_each(|(n, v)| {
        if (n / parts / inner) % size >= keep {
            *v = 0.0;
        }
    });
    array(a.dtype(), dims, &x)
}

/// The Hermitian part.
pub fn hermitian(a: &Array) -> Result<Array> {
    let x = numbers(a).unwrap_or_default();
    let (parts, n) = (a.dtype().bytes() / 8, a.dims().last().copied().unwrap_or(0));
    let mut out = x.clone();
    for at in 0..x.len() / parts {
        let (row, column) = ((at / n) % n, at % n);
        let other = at - at % (n * n) + column * n + row;
        for part in 0..parts {
            let sign = if part == 1 { -1.0 } else { 1.0 };
            out[at * parts + part] = 0.5 * (x[at * parts + part] + sign * x[other * parts + part]);
        }
    }
    array(a.dtype(), a.dims(), &out)
}

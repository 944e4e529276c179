//! Eigenvalues and eigenvectors of general square matrices: Hessenberg form and multishift QR (`faer`).

use crate::matrix::{Element, ROTATIONS_SHARED_FROM, column_major, no_convergence, scale, settle, stack, with_threads};
use crate::{elements, misfit, scratch, write};
use faer::diag::DiagMut;
use faer::dyn_stack::MemStack;
use faer::linalg::evd::{self, ComputeEigenvectors, EvdError};
use faer::traits::math_utils::{abs, nan};
use faer::{MatMut, MatRef, Par, Spec, c32, c64};
use ferrotensor_core::Result;
use num_complex::Complex;
use num_traits::Float;
use std::cmp::Ordering;

type Bytes<'a, 'b> = (&'a mut [u8], &'b [usize]);

/// A complex number with these parts.
type Wide<T> = <T as General>::Wide;

/// An element with its complex counterpart and the decomposition of matrices of it.
pub trait General: Element {
    /// complex64 or complex128.
    type Wide: Element<Real = Self::Real>;

    /// The number `re + im i`.
    fn wide(re: Self::Real, im: Self::Real) -> Self::Wide;

    /// Real and imaginary part.
    fn parts(x: &Self::Wide) -> (Self::Real, Self::Real);

    /// Eigenvalues and, where wanted, eigenvectors as columns, of a column-major matrix.
    fn decompose(a: &[Self], n: usize, w: &mut [Self::Wide], v: &mut [Self::Wide], par: Par)
    -> Result<Result<(), EvdError>>;
}

fn wanted(vectors: bool) -> ComputeEigenvectors {
    if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No }
}

macro_rules! general {
    ($real:ty, $complex:ty) => {
        impl General for $real {
            type Wide = $complex;

            fn wide(re: $real, im: $real) -> $complex {
                Complex::new(re, im)
            }

            fn parts(x: &$complex) -> ($real, $real) {
                (x.re, x.im)
            }

            fn decompose(
                a: &[$real],
                n: usize,
                w: &mut [$complex],
                v: &mut [$complex],
                par: Par,
            ) -> Result<Result<(), EvdError>> {
                let vectors = !v.is_empty();
                let (mut re, mut im, mut packed) = (scratch(n)?, scratch(n)?, scratch::<$real>(v.len())?);
                let compute = wanted(vectors);
                let needed = evd::evd_scratch::<$real>(n, ComputeEigenvectors::No, compute, par, Spec::default());
                let mut memory = stack(needed)?;
                let right = vectors.then(|| MatMut::from_column_major_slice_mut(&mut packed, n, n));
                let (s_re, s_im) = (DiagMut::from_slice_mut(&mut re), DiagMut::from_slice_mut(&mut im));
                let a = MatRef::from_column_major_slice(a, n, n);
                let done = evd::evd_real(a, s_re, s_im, None, right, par, MemStack::new(&mut memory), Spec::default());
                w.iter_mut().zip(re.iter().zip(&im)).for_each(|(w, (re, im))| *w = Complex::new(*re, *im));
                // A pair of conjugate vectors takes two columns: the real parts, the imaginary parts.
                let mut j = 0;
                while vectors && j < n {
                    let pair = im[j] != 0.0 && j + 1 < n;
                    for i in 0..n {
                        let part = if pair { packed[(j + 1) * n + i] } else { 0.0 };
                        v[j * n + i] = Complex::new(packed[j * n + i], part);
                        if pair {
                            v[(j + 1) * n + i] = Complex::new(packed[j * n + i], -part);
                        }
                    }
                    j += 1 + pair as usize;
                }
                Ok(done)
            }
        }

        impl General for $complex {
            type Wide = $complex;

            fn wide(re: $real, im: $real) -> $complex {
                Complex::new(re, im)
            }

            fn parts(x: &$complex) -> ($real, $real) {
                (x.re, x.im)
            }

            fn decompose(
                a: &[$complex],
                n: usize,
                w: &mut [$complex],
                v: &mut [$complex],
                par: Par,
            ) -> Result<Result<(), EvdError>> {
                let vectors = !v.is_empty();
                let compute = wanted(vectors);
                let needed = evd::evd_scratch::<$complex>(n, ComputeEigenvectors::No, compute, par, Spec::default());
                let mut memory = stack(needed)?;
                let right = vectors.then(|| MatMut::from_column_major_slice_mut(v, n, n));
                let a = MatRef::from_column_major_slice(a, n, n);
                let w = DiagMut::from_slice_mut(w);
                Ok(evd::evd_cplx(a, w, None, right, par, MemStack::new(&mut memory), Spec::default()))
            }
        }
    };
}
general!(f32, c32);
general!(f64, c64);

/// `a [batch..., n, n]` -> complex `w [batch..., n]` and, where wanted, `v [batch..., n, n]`.
pub fn run<T: General>(a: (&[u8], &[usize]), w: &mut Bytes, v: Option<&mut Bytes>) -> Result<()> {
    let [batch @ .., n, n2] = a.1 else { return Err(misfit("eig", &[a.1])) };
    if n != n2 || w.1 != [batch, &[*n]].concat() || v.as_ref().is_some_and(|v| v.1 != a.1) {
        return Err(misfit("eig", &[a.1, w.1]));
    }
    let (a, n, count) = (elements::<T>(a.0)?, *n, batch.iter().product::<usize>());
    let each = |w: &mut [Wide<T>], v: &mut [Wide<T>]| {
        for i in 0..count {
            let (matrix, all) = (i * n * n..(i + 1) * n * n, v.len() == count * n * n);
            let v = if all { &mut v[matrix.clone()] } else { &mut [] };
            eig_one(&a[matrix], n, &mut w[i * n..(i + 1) * n], v)?.ok_or_else(|| no_convergence("eigenvalues", i, count))?;
        }
        Ok(())
    };
    write::<Wide<T>>(w.0, |w| match v {
        Some(v) => write::<Wide<T>>(v.0, |v| each(w, v)),
        None => each(w, &mut []),
    })
}

/// One matrix; `v` may be empty. `None` where the iteration does not converge.
fn eig_one<T: General>(a: &[T], n: usize, w: &mut [Wide<T>], v: &mut [Wide<T>]) -> Result<Option<()>> {
    if n == 0 {
        return Ok(Some(()));
    }
    let Some(factor) = scale(a) else {
        w.fill(nan());
        v.fill(nan());
        return Ok(Some(()));
    };
    let (work, mut columns) = (column_major(a, n, n, factor)?, scratch::<Wide<T>>(v.len())?);
    let mut found = scratch::<Wide<T>>(n)?;
    if with_threads(ROTATIONS_SHARED_FROM, n, n, |par| T::decompose(&work, n, &mut found, &mut columns, par))?.is_err() {
        return Ok(None);
    }
    let mut order = scratch::<usize>(n)?;
    order.iter_mut().enumerate().for_each(|(i, at)| *at = i);
    let compare = |x: T::Real, y: T::Real| x.partial_cmp(&y).unwrap_or(Ordering::Equal);
    order.sort_unstable_by(|&i, &j| {
        let (x, y) = (T::parts(&found[i]), T::parts(&found[j]));
        compare(x.0, y.0).then(compare(x.1, y.1)).then(i.cmp(&j))
    });
    let back = Float::recip(factor);
    for (j, &from) in order.iter().enumerate() {
        let (re, im) = T::parts(&found[from]);
        w[j] = T::wide(re * back, im * back);
        if v.is_empty() {
            continue;
        }
        let column = &mut columns[from * n..(from + 1) * n];
        // By `hypot`, since squares of entries may overflow.
        let size = column.iter().fold(<T::Real as num_traits::Zero>::zero(), |norm, x| Float::hypot(norm, abs(x)));
        column.iter_mut().for_each(|x| {
            let (re, im) = T::parts(x);
            *x = T::wide(re / size, im / size);
        });
        settle(column);
        column.iter().enumerate().for_each(|(i, &x)| v[i * n + j] = x);
    }
    Ok(Some(()))
}

//! How far a correct backend may be from the reference, derived from kernel kind and dtype; there is no table of tolerances.
//!
//! | kernel | bound |
//! |---|---|
//! | Map of arithmetic, moves, integers, Scan, Scatter, Sort, max, min | none: equal bits |
//! | Map that ends in one function | 1 ulp (float64: 2, and 1 for the oracle, which is float64 too) of the result, or of the |
//! |  | terms it is a difference of (`math::resolution`; for the oracle's float64 also around zeros of positive arguments) |
//! | Map with functions inside | the effect of that error on the result, found by perturbing each call, and 1 ulp |
//! | sum | (log2 n + 16) eps sum abs x: the fixed tree (architecture, "What numbers promise") |
//! | product | n eps abs p: one rounding for each factor (Higham, Accuracy and Stability, 2002, lemma 3.1) |
//! | Contract | blocks(K) u (abs A)(abs B) + (K + 1) the smallest number in the compute dtype, and the last roundings; blocks(K): the |
//! |  | roundings on the longest way through the blocks of K places (`ferrotensor_core::blocks::roundings`) |
//! | Window | as sum, or as Contract with K = channels x places |
//! | Fft | 8 (log2 n + 2) eps norm2 y (Higham, theorem 24.2, with room for Bluestein's three transforms) |
//! | Solve | 8 n eps norm(inv A) norm(A) norm(x) (Higham, theorem 9.4, growth factor of random matrices) |
//! | Qr | 16 m eps cond(R) norm(A) (Higham, theorem 19.4 and Stewart 1977) |
//! | Triangular | 8 n eps norm(inv T) norm(T) norm(x) (Higham, theorem 8.5) |
//! | Cholesky | 8 n eps cond(L)^2 norm(L) (Higham, theorem 10.8) |
//! | Lu | 8 n eps cond(L) cond(U) norm(A) (Higham, theorem 9.15) |
//! | Eigh, Svd | 16, 8 n eps norm(A), of vectors beside the gap of their value (Weyl; Davis and Kahan; Stewart and Sun) |
//! | Eig | 16 n eps norm(A) times the value's condition, of vectors times all of them beside the gap (Bauer and Fike) |
//! | Expm | 16 n eps (norm(A) + 1) max norm(exp(t A)) norm(exp((1 - t) A)) (Higham, Functions of Matrices, 10.2) |
//! | routines on complex numbers, but Fft | 4 times that (Higham, lemma 3.5) |
//!
//! Inexact operands add their own bounds, carried through each kernel. An infinite bound says that the result is not
//! defined: a sum whose terms exceed the dtype may overflow on the way, whatever the order, and so may the terms of a
//! complex product.

mod attention;
mod map;
mod product;
mod reduction;
mod routine;
mod rows;
mod spectral;

use crate::compare::{epsilon, largest, spacing};
use crate::executor::Known;
use ferrotensor_core::kernel::{Gather, Kernel, Monoid, Scatter, Update};
use ferrotensor_core::reference::{self, Array, Scalar};
use ferrotensor_core::{DType, Result};
pub use map::{LONG, rounds_freely};

/// Largest allowed difference from the reference.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// Equal bits, NaN apart.
    Exact,
    /// Of each element, in row-major order; infinite where nothing is promised.
    Absolute(Vec<f64>),
}

impl Bound {
    /// The bounds of some elements.
    pub fn picked(&self, positions: &[usize]) -> Bound {
        match self {
            Bound::Exact => Bound::Exact,
            Bound::Absolute(errors) => Bound::Absolute(positions.iter().map(|&p| errors[p]).collect()),
        }
    }

    /// One number for each element.
    pub fn absolute(&self, array: &Array) -> Vec<f64> {
        match self {
            Bound::Exact => vec![0.0; array.len()],
            Bound::Absolute(errors) => errors.clone(),
        }
    }
}

/// The outputs of a kernel with their bounds.
///
/// # Errors
/// As [`reference::run`], for kernels over inexact operands that have no defined result.
pub fn after(kernel: &Kernel, inputs: &[&Known], params: &[u64], outputs: Vec<Array>) -> Result<Vec<Known>> {
    let exact_inputs = inputs.iter().all(|k| k.bound == Bound::Exact);
    let errors: Vec<Option<Vec<f64>>> = match kernel {
        Kernel::Map(map) => map::errors(map, inputs, params, &outputs)?,
        Kernel::Reduce(k) => vec![reduction::errors(k, inputs[0], &outputs[0])?],
        Kernel::Contract(k) => vec![product::contract_errors(k, inputs, &outputs[0])?],
        Kernel::Window(k) => vec![product::window_errors(k, inputs, &outputs[0])?],
        Kernel::Routine(routine) => routine::errors(*routine, inputs, &outputs)?,
        Kernel::Scatter(k) if exact_inputs && !multiplies_freely(k) => vec![None; outputs.len()],
        Kernel::Scan(_) | Kernel::Gather(_) | Kernel::Sort(_) if exact_inputs => vec![None; outputs.len()],
        Kernel::Scan(k) => vec![Some(reduction::scan_errors(k, inputs[0], &outputs[0])?)],
        Kernel::Gather(k) => {
            let moved = Gather { dtype: DType::F64, ..k.clone() };
            vec![Some(moves(Kernel::Gather(moved), inputs, &[0], outputs[0].dims())?)]
        }
        Kernel::Scatter(k) => {
            let moved = Kernel::Scatter(Scatter { dtype: DType::F64, ..k.clone() });
            let over =
                |f: fn(&Known) -> Vec<f64>| moves_of(moved.clone(), inputs, &[0, inputs.len() - 1], outputs[0].dims(), f);
            // What each update rounds, where it is rounded at all.
            let unit = inputs[inputs.len() - 1].array.len() as f64 * epsilon(k.dtype);
            let errors = match k.update {
                Update::Set | Update::Combine(Monoid::Max | Monoid::All | Monoid::Any) => over(absolute)?,
                // Of a minimum the larger error, as of a maximum.
                Update::Combine(Monoid::Min) => {
                    let largest =
                        Kernel::Scatter(Scatter { update: Update::Combine(Monoid::Max), dtype: DType::F64, ..k.clone() });
                    moves_of(largest, inputs, &[0, inputs.len() - 1], outputs[0].dims(), absolute)?
                }
                Update::Combine(Monoid::Sum) => {
                    over(absolute)?.into_iter().zip(over(finite_sizes)?).map(|(e, size)| e + unit * size).collect()
                }
                Update::Combine(Monoid::Prod) => {
                    let most =
                        |known: &Known| finite_sizes(known).into_iter().zip(absolute(known)).map(|(v, e)| v + e).collect();
                    let grown = |known: &Known| {
                        let factor = |v: f64| if v.is_finite() { v.max(1.0) } else { f64::INFINITY };
                        magnitudes(known).into_iter().map(factor).collect()
                    };
                    // A complex product is two sums of two: it overflows where a term does, and vanishes where both do.
                    let (units, tiny) = if multiplies_freely(k) { (4.0 * unit, spacing(k.dtype, 0.0)) } else { (unit, 0.0) };
                    let error = |((most, size), grown): ((f64, f64), f64)| {
                        let lost = multiplies_freely(k) && (grown.is_nan() || grown >= largest(k.dtype) / 4.0);
                        let rounded = most * (1.0 + units) - size + units / epsilon(k.dtype) * tiny * grown;
                        if lost { f64::INFINITY } else { rounded }
                    };
                    over(most)?.into_iter().zip(over(finite_sizes)?).zip(over(grown)?).map(error).collect()
                }
            };
            vec![Some(errors)]
        }
        Kernel::Sort(k) => reduction::sort_errors(k, inputs[0], &outputs),
        Kernel::Rows(k) => return rows::known(k, inputs, params),
        Kernel::Attention(k) => return attention::known(k, inputs, params, outputs[0].dims()),
    };
    // Nothing by something infinite: nothing is promised. Sums of nothing are minus zero, of which every error is a negative share.
    let or_undefined = |e: f64| if e.is_nan() { f64::INFINITY } else { e + 0.0 };
    let bound = |errors: Option<Vec<f64>>| match errors {
        Some(errors) => Bound::Absolute(errors.into_iter().map(or_undefined).collect()),
        None => Bound::Exact,
    };
    Ok(outputs.into_iter().zip(errors).map(|(array, errors)| Known { array, bound: bound(errors) }).collect())
}

/// Whether the updates of a scatter may differ between correct backends: complex products.
fn multiplies_freely(scatter: &Scatter) -> bool {
    scatter.dtype.is_complex() && scatter.update == Update::Combine(Monoid::Prod)
}

fn floating(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_complex()
}

fn magnitudes(known: &Known) -> Vec<f64> {
    known.array.scalars().map(|x| x.magnitude().hi).collect()
}

/// Of what is finite of each element: a complex number with an infinite part adds the other to a sum.
fn finite_sizes(known: &Known) -> Vec<f64> {
    let finite = |v: f64| if v.is_finite() { v } else { 0.0 };
    let size = |x: Scalar| match x {
        Scalar::Complex(re, im) => finite(re.hi).hypot(finite(im.hi)),
        x => finite(x.magnitude().hi),
    };
    known.array.scalars().map(size).collect()
}

fn absolute(known: &Known) -> Vec<f64> {
    known.bound.absolute(&known.array)
}

/// Runs a moving kernel over numbers about its operands instead of the operands.
fn moves_of(
    kernel: Kernel,
    inputs: &[&Known],
    which: &[usize],
    dims: &[usize],
    of: fn(&Known) -> Vec<f64>,
) -> Result<Vec<f64>> {
    let arrays = inputs
        .iter()
        .enumerate()
        .map(|(i, k)| if which.contains(&i) { Array::from_slice(k.array.dims(), &of(k)) } else { Ok(k.array.clone()) });
    reference::run(&kernel, &arrays.collect::<Result<Vec<_>>>()?, &[dims], &[])?[0].to_vec()
}

fn moves(kernel: Kernel, inputs: &[&Known], which: &[usize], dims: &[usize]) -> Result<Vec<f64>> {
    moves_of(kernel, inputs, which, dims, absolute)
}

/// Where finite terms of this total size may overflow on the way, nothing is promised.
fn or_undefined(error: f64, finite_size: f64, dtype: DType) -> f64 {
    if finite_size > largest(dtype) { f64::INFINITY } else { error }
}

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
//! | Contract | (K + 1) (u (abs A)(abs B) + the smallest number) in the compute dtype, and the last roundings |
//! | Window | as sum, or as Contract with K = channels x places |
//! | Fft | 8 (log2 n + 2) eps norm2 y (Higham, theorem 24.2, with room for Bluestein's three transforms) |
//! | Solve | 8 n eps norm(inv A) norm(A) norm(x) (Higham, theorem 9.4, growth factor of random matrices) |
//! | Qr | 16 m eps cond(R) norm(A) (Higham, theorem 19.4 and Stewart 1977) |
//! | Solve and Qr of complex numbers | 4 times that (Higham, lemma 3.5) |
//!
//! Inexact operands add their own bounds, carried through each kernel. An infinite bound says that the result is not
//! defined: a sum whose terms exceed the dtype may overflow on the way, whatever the order, and so may the terms of a
//! complex product. Complex products and quotients of infinite or NaN parts have as many results as there are formulas (C99,
//! annex G).

mod map;
mod product;
mod reduction;
mod routine;

use crate::compare::{epsilon, largest};
use crate::executor::Known;
use ferrotensor_core::kernel::{Gather, Kernel, Scatter};
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
        _ if exact_inputs => vec![None; outputs.len()],
        Kernel::Scan(k) => vec![Some(reduction::scan_errors(k, inputs[0], &outputs[0])?)],
        Kernel::Gather(k) => {
            let moved = Gather { dtype: DType::F64, index: k.index.clone() };
            vec![Some(moves(Kernel::Gather(moved), inputs, &[0], outputs[0].dims())?)]
        }
        Kernel::Scatter(k) => {
            let moved = Scatter { dtype: DType::F64, ..k.clone() };
            let sizes =
                moves_of(Kernel::Scatter(moved.clone()), inputs, &[0, inputs.len() - 1], outputs[0].dims(), finite_sizes)?;
            let mut errors = moves(Kernel::Scatter(moved), inputs, &[0, inputs.len() - 1], outputs[0].dims())?;
            let unit = inputs[inputs.len() - 1].array.len() as f64 * epsilon(k.dtype);
            errors.iter_mut().zip(sizes).for_each(|(e, size)| *e += unit * size);
            vec![Some(errors)]
        }
        Kernel::Sort(k) => reduction::sort_errors(k, inputs[0], &outputs),
    };
    let known = outputs
        .into_iter()
        .zip(errors)
        .map(|(array, errors)| Known { array, bound: errors.map_or(Bound::Exact, Bound::Absolute) });
    Ok(known.collect())
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

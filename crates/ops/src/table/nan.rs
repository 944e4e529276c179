//! Order and running combinations of what is a number: NaN left out.

use super::cumulative::{RUNNING, running};
use super::quantile::{QUANTILE, numbers, quantile};
use super::reduce::{AXES, accumulated, axes_of};
use super::rows::{doc, ranged, tensor};
use super::statistics::{REAL, first_dtype, is_floating, median, midpoint, of_nothing, sorted_over, without_nan};
use crate::def::{ErrorCase, Lowering, OpDef};
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::Monoid;
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Result};

/// The number in the middle of each line, or the mean of both; NaN of a line that has none.
fn nan_median(l: &mut Lower) -> Result<Vec<Val>> {
    if !is_floating(l)? {
        return median(l);
    }
    let x = accumulated(l)?;
    let (of, axes) = (first_dtype(l)?, axes_of(l, x)?);
    if let Some(nan) = of_nothing(l, x, &axes)? {
        return Ok(nan);
    }
    let sorted = sorted_over(l, x, &axes)?;
    let (count, kept) = (numbers(l, sorted)?, l.dims(sorted)[0]);
    let line = l.map(&[kept], &[], |b, _| b.index(0, DType::I64))?;
    let mut at_half = |less: usize| -> Result<Val> {
        let place = l.map(&[kept], &[count], |b, v| {
            let (less, two) = (b.size(less), b.size(2));
            let before = b.binary(Op::Sub, v[0], less);
            // Of no numbers -1 / 2 = 0, where NaN stands.
            b.binary(Op::Div, before, two)
        })?;
        Ok(l.gather(sorted, &[line, place]))
    };
    let (low, high) = (at_half(1)?, at_half(0)?);
    let (out, dims) = (l.out_dtype(0), l.out_dims(0));
    // Of an odd number both are one, whose middle it is.
    let median = l.map(&[kept], &[low, high], |b, v| {
        let middle = midpoint(b, v[0], v[1], of);
        b.cast(middle, out)
    })?;
    Ok(vec![l.reshape(median, &dims)])
}

fn nan_running(l: &mut Lower, monoid: Monoid, identity: f64) -> Result<Vec<Val>> {
    let floating = is_floating(l)?;
    let x = l.operand(0)?;
    let x = if floating { without_nan(l, x, identity)? } else { x };
    running(l, x, monoid, identity)
}

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "nanmedian", attrs: AXES, shape: shape::reduce, lower: Lowering::Graph(nan_median),
        doc: doc("Median over axes (all by default) of what is not NaN, of an even number the mean of both in the middle; NaN where all are.", "(x_(floor((n - 1) / 2)) + x_(floor(n / 2))) / 2 of the n sorted numbers of x", "ft.tensor([[3, NaN, 2], [9, 7, 8]]).nanmedian(1) // [2.5, 8]", "nanmedian", ""), ..REAL },
    OpDef { name: "nanquantile", lower: Lowering::Graph(|l| quantile(l, 1.0, false)),
        errors: &[ErrorCase { call: "ft.zeros([2]).nanquantile(-0.5)", code: Code::Index }],
        doc: doc("quantile without NaN: the element at the fraction q of the sorted numbers over axes; NaN if all elements are.", "x_(q (n - 1)) of the n sorted numbers of x", "ft.tensor([1, NaN, 3, 5]).nanquantile(0.75) // 4", "nanquantile", "nanquantile"), ..QUANTILE },
    OpDef { name: "nanpercentile", operands: &[tensor("x"), ranged("q", 0.0, 100.0)], lower: Lowering::Graph(|l| quantile(l, 100.0, false)),
        errors: &[ErrorCase { call: "ft.zeros([2]).nanpercentile(101)", code: Code::Index }],
        doc: doc("percentile without NaN: nanquantile with q from 0 to 100.", "x_(q (n - 1) / 100) of the n sorted numbers of x", "ft.tensor([1, NaN, 3, 5]).nanpercentile(50) // 3", "nanpercentile", "nanquantile"), ..QUANTILE },
    OpDef { name: "nancumulativeSum", lower: Lowering::Graph(|l| nan_running(l, Monoid::Sum, 0.0)),
        errors: &[ErrorCase { call: "ft.zeros([2, 2]).nancumulativeSum()", code: Code::Argument }],
        doc: doc("Running sum along an axis with NaN counted as 0; with includeInitial a leading zero. Integers that their dtype does not hold are refused as in sum.", "out_j = sum_{i <= j : x_i = x_i} x_i", "ft.tensor([1, NaN, 3]).nancumulativeSum() // [1, 1, 4]", "nancumsum", ""), ..RUNNING },
    OpDef { name: "nancumulativeProd", lower: Lowering::Graph(|l| nan_running(l, Monoid::Prod, 1.0)),
        errors: &[ErrorCase { call: "ft.zeros([2, 2]).nancumulativeProd()", code: Code::Argument }],
        doc: doc("Running product along an axis with NaN counted as 1; with includeInitial a leading one. Integers that their dtype does not hold are refused as in sum.", "out_j = prod_{i <= j : x_i = x_i} x_i", "ft.tensor([2, NaN, 3]).nancumulativeProd() // [2, 2, 6]", "nancumprod", ""), ..RUNNING },
];

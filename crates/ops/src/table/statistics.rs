//! Statistics over axes: spread, order, counts, and what is left without NaN.

use super::reduce::{AXES, EXTREME, SUM, accumulated, axes_of, finish, mean, mean_over};
use super::rows::{BASE, doc};
use super::unary::is_finite;
use crate::def::{ErrorCase, Lowering, OpDef, ParamDef, ParamKind};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::gradient::{Gradient, rules};
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Combine, Monoid, SortOutputs};
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};
use ferrotensor_core::{DType, Result, layout};

/// The square of a number's size.
pub fn squared(b: &mut Builder, x: Value) -> Value {
    if !b.dtype(x).is_complex() {
        return b.binary(Op::Mul, x, x);
    }
    let (re, im) = (b.re(x), b.im(x));
    let (re, im) = (b.binary(Op::Mul, re, re), b.binary(Op::Mul, im, im));
    b.binary(Op::Add, re, im)
}

/// Whether sums and differences of two such numbers may overflow in the dtype they are computed in: those of integers and float16 do not.
pub fn may_overflow(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64 | DType::BF16)
}

/// `(x + y) / 2`, by halves where the sum overflows, which of numbers of some dtypes (`of`) it does not; everywhere they would lose a bit of
/// numbers below the normal range.
pub fn midpoint(b: &mut Builder, x: Value, y: Value, of: DType) -> Value {
    let (sum, half) = (b.binary(Op::Add, x, y), b.lit(b.dtype(x), 0.5));
    let mean = b.binary(Op::Mul, sum, half);
    if !may_overflow(of) {
        return mean;
    }
    let (x, y) = (b.binary(Op::Mul, x, half), b.binary(Op::Mul, y, half));
    let (by_halves, fits) = (b.binary(Op::Add, x, y), is_finite(b, sum));
    b.select(fits, mean, by_halves)
}

/// `t gap` for the gap `y - x` of two real numbers, which may overflow where that does not: the gap of their halves goes 2 t.
pub fn part_of_gap(b: &mut Builder, x: Value, y: Value, gap: Value, t: Value) -> Value {
    let (half, part) = (b.lit(b.dtype(x), 0.5), b.binary(Op::Mul, t, gap));
    let (x, y, twice) = (b.binary(Op::Mul, x, half), b.binary(Op::Mul, y, half), b.binary(Op::Add, t, t));
    let halves = b.binary(Op::Sub, y, x);
    let (by_halves, fits) = (b.binary(Op::Mul, twice, halves), is_finite(b, gap));
    b.select(fits, part, by_halves)
}

/// `n` less the correction of the call, but not less than nothing.
pub fn freedom(b: &mut Builder, n: Value, correction: Value) -> Value {
    let (left, zero) = (b.binary(Op::Sub, n, correction), b.lit(b.dtype(n), 0.0));
    b.binary(Op::Max, left, zero)
}

/// The variance or its root. Deviations are taken from the mean, never from zero: large means do not cancel.
fn variance(l: &mut Lower, root: bool) -> Result<Vec<Val>> {
    let x = accumulated(l)?;
    let (dims, axes, keep) = (l.dims(x), axes_of(l, x)?, l.attrs().bool("keepdims"));
    if let Some(nan) = of_nothing(l, x, &axes)? {
        return Ok(nan);
    }
    let count: usize = axes.iter().map(|&a| dims[a]).product();
    let mean = mean_over(l, x, &axes, true)?;
    let gaps = l.map(&dims, &[x, mean], |b, v| b.binary(Op::Sub, v[0], v[1]))?;
    let squares = l.map(&dims, &[gaps], |b, v| squared(b, v[0]))?;
    let total = l.reduce(squares, &axes, Combine::Value(Monoid::Sum), keep);
    let (dims, part, out) = (l.dims(total), l.dtype(total), l.out_dtype(0));
    let correction = l.param(0, part);
    let mut terms = vec![total];
    if loses_digits(l)? {
        terms.push(l.reduce(gaps, &axes, Combine::Value(Monoid::Sum), keep));
    }
    Ok(vec![l.map_with(&dims, &terms, &[correction], |b, v| {
        let (n, correction) = (b.lit(part, count as f64), v[v.len() - 1]);
        let total = if v.len() > 2 { about_mean(b, v[0], v[1], n) } else { v[0] };
        let n = freedom(b, n, correction);
        spread(b, total, n, root, out)
    })?])
}

/// Whether a mean of the first operand, of real numbers, can be rounded beyond their digits: deviations from it have lost digits then.
pub fn loses_digits(l: &mut Lower) -> Result<bool> {
    let dtype = first_dtype(l)?;
    Ok(dtype.bytes() >= 4 && !dtype.is_complex())
}

/// `x` less its mean over some axes and, `twice`, less the mean of what rounding that left.
pub fn centred(l: &mut Lower, x: Val, axes: &[usize], twice: bool) -> Result<Val> {
    let (dims, mean) = (l.dims(x), mean_over(l, x, axes, true)?);
    let near = l.map(&dims, &[x, mean], |b, v| b.binary(Op::Sub, v[0], v[1]))?;
    if !twice {
        return Ok(near);
    }
    let rest = mean_over(l, near, axes, true)?;
    let few = l.dims(rest);
    let rest = l.map(&few, &[rest], |b, v| still(b, v[0]))?;
    l.map(&dims, &[near, rest], |b, v| b.binary(Op::Sub, v[0], v[1]))
}

/// The sum of squares about the mean of n numbers, from those of deviations from a mean that was rounded: `total` of their squares, `rest` of
/// themselves. Beside a large mean its rounding is most of the deviations (of a mean of 2^24 in float32, with a spread of 1, all of them).
/// Derivatives take what is subtracted as a constant, since the sum of deviations has the derivative 0. Where rounding or overflow made it no smaller
/// than the total, nothing is.
fn about_mean(b: &mut Builder, total: Value, rest: Value, n: Value) -> Value {
    let (square, zero) = (squared(b, rest), b.lit(b.dtype(total), 0.0));
    let part = b.binary(Op::Div, square, n);
    let smaller = b.compare(Op::Lt, part, total);
    let part = b.select(smaller, part, zero);
    let part = still(b, part);
    b.binary(Op::Sub, total, part)
}

/// The same number, which derivatives take as a constant: they go through a float that is made of another's bits (`gradient/scalar.rs`, `of_bits`),
/// but not through an exclusive or of bits, and that with 0 is left out only when kernels are made. The derivative of a mean of deviations from the
/// mean is 0, and would be computed at the price of two more reductions.
fn still(b: &mut Builder, x: Value) -> Value {
    let (d, bits) = (b.dtype(x), if b.dtype(x) == DType::F64 { DType::U64 } else { DType::U32 });
    let (number, zero) = (b.bitcast(x, bits), b.lit(bits, 0.0));
    let same = b.binary(Op::Xor, number, zero);
    b.bitcast(same, d)
}

fn spread(b: &mut Builder, total: Value, n: Value, root: bool, out: DType) -> Value {
    let variance = b.binary(Op::Div, total, n);
    let spread = if root { b.unary(Op::Sqrt, variance) } else { variance };
    b.cast(spread, out)
}

pub fn is_nan(b: &mut Builder, x: Value) -> Value {
    b.compare(Op::Ne, x, x)
}

/// Whether elements of the call's first operand can be NaN or infinite.
pub fn is_floating(l: &mut Lower) -> Result<bool> {
    let x = l.operand(0)?;
    Ok(l.dtype(x).is_float() || l.dtype(x).is_complex())
}

/// The dtype of the first operand as it was given.
pub fn first_dtype(l: &mut Lower) -> Result<DType> {
    let x = l.operand(0)?;
    Ok(l.dtype(x))
}

/// NaN for each result, where `x` has no elements to take it from.
pub fn of_nothing(l: &mut Lower, x: Val, axes: &[usize]) -> Result<Option<Vec<Val>>> {
    if axes.iter().all(|&a| l.dims(x)[a] > 0) {
        return Ok(None);
    }
    let (dims, out) = (l.out_dims(0), l.out_dtype(0));
    Ok(Some(vec![l.map(&dims, &[], |b, _| b.lit(out, f64::NAN))?]))
}

/// `x` with a number in place of NaN.
pub fn without_nan(l: &mut Lower, x: Val, instead: f64) -> Result<Val> {
    let (d, dims) = (l.dtype(x), l.dims(x));
    l.map(&dims, &[x], |b, v| {
        let (nan, instead) = (is_nan(b, v[0]), b.lit(d, instead));
        b.select(nan, instead, v[0])
    })
}

fn nan_reduction(l: &mut Lower, monoid: Monoid, identity: f64) -> Result<Vec<Val>> {
    let x = if is_floating(l)? {
        let x = accumulated(l)?;
        without_nan(l, x, identity)?
    } else {
        l.operand(0)?
    };
    finish(l, x, monoid)
}

/// The extreme of what is not NaN; NaN of nothing else.
fn nan_extreme(l: &mut Lower, monoid: Monoid, identity: f64) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    if !is_floating(l)? {
        return finish(l, x, monoid);
    }
    let (dims, d, axes, out) = (l.dims(x), l.dtype(x), axes_of(l, x)?, l.out_dims(0));
    let numbers = without_nan(l, x, identity)?;
    let extreme = l.reduce(numbers, &axes, Combine::Value(monoid), false);
    let nan = l.map(&dims, &[x], |b, v| is_nan(b, v[0]))?;
    let nothing = l.reduce(nan, &axes, Combine::Value(Monoid::All), false);
    let dims = l.dims(extreme);
    let extreme = l.map(&dims, &[extreme, nothing], |b, v| {
        let nan = b.lit(d, f64::NAN);
        b.select(v[1], nan, v[0])
    })?;
    Ok(vec![l.reshape(extreme, &out)])
}

/// How many elements are not NaN, over axes, in a real dtype.
fn numbers(l: &mut Lower, x: Val, axes: &[usize], keepdims: bool) -> Result<Val> {
    let (dims, part) = (l.dims(x), l.dtype(x).info().real);
    let counted = l.map(&dims, &[x], |b, v| {
        let number = b.compare(Op::Eq, v[0], v[0]);
        b.cast(number, part)
    })?;
    Ok(l.reduce(counted, axes, Combine::Value(Monoid::Sum), keepdims))
}

/// The mean of what is not NaN, and how many that are.
fn nan_mean_over(l: &mut Lower, x: Val, axes: &[usize], keepdims: bool) -> Result<(Val, Val)> {
    let known = without_nan(l, x, 0.0)?;
    let total = l.reduce(known, axes, Combine::Value(Monoid::Sum), keepdims);
    let (count, dims) = (numbers(l, x, axes, keepdims)?, l.dims(total));
    Ok((l.map(&dims, &[total, count], |b, v| b.binary(Op::Div, v[0], v[1]))?, count))
}

fn nan_mean(l: &mut Lower) -> Result<Vec<Val>> {
    if !is_floating(l)? {
        return mean(l);
    }
    let x = accumulated(l)?;
    let (axes, keep, out) = (axes_of(l, x)?, l.attrs().bool("keepdims"), l.out_dtype(0));
    if let Some(nan) = of_nothing(l, x, &axes)? {
        return Ok(nan);
    }
    let (mean, _) = nan_mean_over(l, x, &axes, keep)?;
    Ok(vec![l.cast(mean, out)?])
}

fn nan_variance(l: &mut Lower, root: bool) -> Result<Vec<Val>> {
    if !is_floating(l)? {
        return variance(l, root);
    }
    let x = accumulated(l)?;
    let (dims, d, axes, keep) = (l.dims(x), l.dtype(x), axes_of(l, x)?, l.attrs().bool("keepdims"));
    if let Some(nan) = of_nothing(l, x, &axes)? {
        return Ok(nan);
    }
    let (mean, count) = nan_mean_over(l, x, &axes, true)?;
    let gaps = l.map(&dims, &[x, mean], |b, v| {
        let (nan, zero, gap) = (is_nan(b, v[0]), b.lit(d, 0.0), b.binary(Op::Sub, v[0], v[1]));
        b.select(nan, zero, gap)
    })?;
    let squares = l.map(&dims, &[gaps], |b, v| squared(b, v[0]))?;
    let total = l.reduce(squares, &axes, Combine::Value(Monoid::Sum), keep);
    let (dims, part, out) = (l.dims(total), l.dtype(total), l.out_dtype(0));
    let (count, correction) = (l.reshape(count, &dims), l.param(0, part));
    let mut terms = vec![total, count];
    if loses_digits(l)? {
        terms.push(l.reduce(gaps, &axes, Combine::Value(Monoid::Sum), keep));
    }
    Ok(vec![l.map_with(&dims, &terms, &[correction], |b, v| {
        let total = if v.len() > 3 { about_mean(b, v[0], v[2], v[1]) } else { v[0] };
        let n = freedom(b, v[1], v[v.len() - 1]);
        spread(b, total, n, root, out)
    })?])
}

fn count_nonzero(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let truth = l.cast(x, DType::Bool)?;
    finish(l, truth, Monoid::Sum)
}

fn ptp(l: &mut Lower) -> Result<Vec<Val>> {
    let x = l.operand(0)?;
    let (axes, keep) = (axes_of(l, x)?, l.attrs().bool("keepdims"));
    let (high, low) =
        (l.reduce(x, &axes, Combine::Value(Monoid::Max), keep), l.reduce(x, &axes, Combine::Value(Monoid::Min), keep));
    let dims = l.dims(high);
    Ok(vec![l.map(&dims, &[high, low], |b, v| b.binary(Op::Sub, v[0], v[1]))?])
}

/// Exponentials of what the largest element leaves: at most the largest number, so that no infinity is taken from another.
fn logsumexp(l: &mut Lower) -> Result<Vec<Val>> {
    let floating = is_floating(l)?;
    let x = accumulated(l)?;
    let (dims, d, axes, keep) = (l.dims(x), l.dtype(x), axes_of(l, x)?, l.attrs().bool("keepdims"));
    let mut shift = l.reduce(x, &axes, Combine::Value(Monoid::Max), true);
    if floating {
        let (kept, most) = (l.dims(shift), d.float_format().map_or(0.0, |f| f.max()));
        shift = l.map(&kept, &[shift], |b, v| {
            let (high, low) = (b.lit(d, most), b.lit(d, -most));
            let shift = b.binary(Op::Min, v[0], high);
            b.binary(Op::Max, shift, low)
        })?;
    }
    let exps = l.map(&dims, &[x, shift], |b, v| {
        let gap = b.binary(Op::Sub, v[0], v[1]);
        b.call(MathFn::Exp, &[gap])
    })?;
    let total = l.reduce(exps, &axes, Combine::Value(Monoid::Sum), keep);
    let (dims, out) = (l.dims(total), l.out_dtype(0));
    let shift = l.reshape(shift, &dims);
    Ok(vec![l.map(&dims, &[total, shift], |b, v| {
        let log = b.call(MathFn::Log, &v[..1]);
        let sum = b.binary(Op::Add, log, v[1]);
        b.cast(sum, out)
    })?])
}

/// The elements over some axes in ascending order: `[kept, n]`, whatever the rank, which may be the highest there is.
pub fn sorted_over(l: &mut Lower, x: Val, axes: &[usize]) -> Result<Val> {
    let dims = l.dims(x);
    let n: usize = axes.iter().map(|&a| dims[a]).product();
    let order = l.axes_last(dims.len(), axes);
    let moved = l.permute(x, &order);
    let kept = layout::count(&shape::reduced_dims(&dims, axes, false))?;
    let lines = l.reshape(moved, &[kept, n]);
    Ok(l.sort(lines, 1, false, n, SortOutputs::Values)[0])
}

/// The element in the middle of the sorted ones, or the mean of both; NaN, which is sorted last, wins.
pub fn median(l: &mut Lower) -> Result<Vec<Val>> {
    let (floating, of) = (is_floating(l)?, first_dtype(l)?);
    let x = accumulated(l)?;
    let (axes, out) = (axes_of(l, x)?, l.out_dtype(0));
    if let Some(nan) = of_nothing(l, x, &axes)? {
        return Ok(nan);
    }
    let sorted = sorted_over(l, x, &axes)?;
    let (kept, n) = (l.dims(sorted)[0], l.dims(sorted)[1]);
    let (low, high) = (l.pick(sorted, 1, (n - 1) / 2), l.pick(sorted, 1, n / 2));
    let middle = match n % 2 {
        1 => low,
        _ => l.map(&[kept], &[low, high], |b, v| midpoint(b, v[0], v[1], of))?,
    };
    let median = if floating {
        let last = l.pick(sorted, 1, n - 1);
        l.map(&[kept], &[middle, last], |b, v| {
            let nan = is_nan(b, v[1]);
            b.select(nan, v[1], v[0])
        })?
    } else {
        middle
    };
    let (median, dims) = (l.cast(median, out)?, l.out_dims(0));
    Ok(vec![l.reshape(median, &dims)])
}

const CORRECTION: &[ParamDef] = &[ParamDef { name: "correction", default: Some(0.0), kind: ParamKind::Number }];
const SPREAD: OpDef = OpDef {
    attrs: AXES,
    params: CORRECTION,
    dtype: DTypeRule::new(Class::Any, Compute::Float, Out::RealPart),
    errors: &[ErrorCase { call: "ft.zeros([2]).var({ axis: 1 })", code: Code::Index }],
    ..SUM
};
pub const REAL: OpDef =
    OpDef { attrs: AXES, dtype: DTypeRule::new(Class::RealOrBool, Compute::Float, Out::Compute), errors: &[], ..SUM };

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "var", lower: Lowering::Graph(|l| variance(l, false)),
        doc: doc("Variance over axes (all by default), of n elements divided by n - correction (or 0); of complex numbers that of their distances from the mean.", "sum_i |x_i - mean x|^2 / max(n - correction, 0)", "ft.tensor([1, 2, 3, 4]).var({ correction: 1 }) // 1.6666666", "var", "var"), ..SPREAD },
    OpDef { name: "std", gradient: Gradient::Rooted(rules::always), lower: Lowering::Graph(|l| variance(l, true)),
        doc: doc("Standard deviation over axes (all by default): the root of the variance.", "sqrt(var x)", "ft.tensor([1, 3]).std() // 1", "std", "std"), ..SPREAD },
    OpDef { name: "median", attrs: AXES, shape: shape::reduce, lower: Lowering::Graph(median),
        doc: doc("Median over axes (all by default), of an even number the mean of both in the middle; NaN wins; NaN of no elements.", "(x_(floor((n - 1) / 2)) + x_(floor(n / 2))) / 2 of the sorted x", "ft.tensor([[3, 1, 2], [9, 7, 8]]).median(1) // [2, 8]", "median", ""), ..REAL },
    OpDef { name: "ptp", lower: Lowering::Graph(ptp), dtype: DTypeRule::new(Class::Real, Compute::Own, Out::Compute), errors: &[ErrorCase { call: "ft.zeros([0]).ptp()", code: Code::Shape }],
        doc: doc("Range of the elements over axes (all by default); integers wrap.", "max x - min x", "ft.tensor([[1, 5], [7, 4]]).ptp(1) // [4, 3]", "ptp", ""), ..EXTREME },
    OpDef { name: "logsumexp", gradient: Gradient::Rule(rules::logsumexp), lower: Lowering::Graph(logsumexp), shape: shape::reduce_nonempty, errors: &[ErrorCase { call: "ft.zeros([0]).logsumexp()", code: Code::Shape }],
        doc: doc("Logarithm of the sum of exponentials over axes (all by default), without overflow.", "ln(sum_i e^x_i)", "ft.tensor([1000, 1000]).logsumexp() // 1000.69315", "", "logsumexp"), ..REAL },
    OpDef { name: "countNonzero", attrs: AXES, shape: shape::reduce, lower: Lowering::Graph(count_nonzero), dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Int32), errors: &[ErrorCase { call: "ft.zeros([2]).countNonzero(1)", code: Code::Index }],
        doc: doc("How many elements are not zero, over axes (all by default), as int32.", "sum_i (x_i != 0)", "ft.tensor([[0, 5], [7, 4]]).countNonzero(1) // [1, 2]", "count_nonzero", "count_nonzero"), ..BASE },
    OpDef { name: "nansum", lower: Lowering::Graph(|l| nan_reduction(l, Monoid::Sum, 0.0)),
        doc: doc("Sum over axes (all by default) with NaN counted as 0. Integers that their dtype does not hold are refused as in sum.", "sum_{i : x_i = x_i} x_i", "ft.tensor([1, NaN, 3]).nansum() // 4", "nansum", "nansum"), ..SUM },
    OpDef { name: "nanprod", lower: Lowering::Graph(|l| nan_reduction(l, Monoid::Prod, 1.0)),
        doc: doc("Product over axes (all by default) with NaN counted as 1. Integers that their dtype does not hold are refused as in sum.", "prod_{i : x_i = x_i} x_i", "ft.tensor([2, NaN, 3]).nanprod() // 6", "nanprod", ""), ..SUM },
    OpDef { name: "nanmax", lower: Lowering::Graph(|l| nan_extreme(l, Monoid::Max, f64::NEG_INFINITY)),
        doc: doc("Largest element over axes (all by default) that is not NaN; NaN where all are.", "max_{i : x_i = x_i} x_i", "ft.tensor([1, NaN, 3]).nanmax() // 3", "nanmax", ""), ..EXTREME },
    OpDef { name: "nanmin", lower: Lowering::Graph(|l| nan_extreme(l, Monoid::Min, f64::INFINITY)),
        doc: doc("Smallest element over axes (all by default) that is not NaN; NaN where all are.", "min_{i : x_i = x_i} x_i", "ft.tensor([1, NaN, 3]).nanmin() // 1", "nanmin", ""), ..EXTREME },
    OpDef { name: "nanmean", lower: Lowering::Graph(nan_mean),
        doc: doc("Arithmetic mean over axes (all by default) of what is not NaN; NaN where all are.", "sum_{i : x_i = x_i} x_i / |{ i : x_i = x_i }|", "ft.tensor([1, NaN, 3]).nanmean() // 2", "nanmean", "nanmean"), ..REAL },
    OpDef { name: "nanvar", lower: Lowering::Graph(|l| nan_variance(l, false)), params: CORRECTION,
        doc: doc("Variance over axes (all by default) of what is not NaN, as var.", "sum_i |x_i - mean x|^2 / max(n - correction, 0) over i : x_i = x_i", "ft.tensor([1, NaN, 3]).nanvar() // 1", "nanvar", ""), ..REAL },
    OpDef { name: "nanstd", gradient: Gradient::Rooted(rules::always), lower: Lowering::Graph(|l| nan_variance(l, true)), params: CORRECTION,
        doc: doc("Standard deviation over axes (all by default) of what is not NaN, as std.", "sqrt(nanvar x)", "ft.tensor([1, NaN, 3]).nanstd() // 1", "nanstd", ""), ..REAL },
];

//! Norms of vectors and of matrices, and what follows from them.

use super::factor::pivots;
use super::linalg::{LINALG, identity, inverse, matrix, native, stacked};
use super::rows::{attr, doc};
use super::singular::singular_values;
use super::statistics::squared;
use crate::def::{AttrDef, AttrKind, Domain, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::gradient::{Gradient, rules};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Combine, Monoid};
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};
use ferrotensor_core::{Dims, Error, Result};

/// Absolute values of an operand in the dtype norms are computed in: float32 for half floats.
fn sizes(l: &mut Lower, x: Val) -> Result<Val> {
    l.op("abs", &[x], |a| a)
}

fn each(l: &mut Lower, x: Val, f: impl FnOnce(&mut Builder, Value) -> Value) -> Result<Val> {
    let dims = l.dims(x);
    l.map(&dims, &[x], |b, v| f(b, v[0]))
}

/// The root of the sum of squares over some axes.
fn euclidean(l: &mut Lower, x: Val, axes: &[usize], keepdims: bool) -> Result<Val> {
    let squares = each(l, x, squared)?;
    let sum = l.reduce(squares, axes, Combine::Value(Monoid::Sum), keepdims);
    each(l, sum, |b, x| b.unary(Op::Sqrt, x))
}

fn vector_norm_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    // The largest of no elements does not exist.
    if ctx.attrs.number("ord").is_infinite() { shape::reduce_nonempty(ctx) } else { shape::reduce(ctx) }
}

fn vector_norm(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, ord, keep) = (native(l, 0)?, l.attrs().number("ord"), l.attrs().bool("keepdims"));
    let axes = shape::axes(l.attrs().ints("axis"), l.dims(x).len())?;
    let norm = if ord == 2.0 {
        euclidean(l, x, &axes, keep)?
    } else {
        let power = |l: &mut Lower, x: Val, p: f64| {
            each(l, x, |b, x| {
                let p = b.lit(b.dtype(x), p);
                b.call(MathFn::Pow, &[x, p])
            })
        };
        let terms = match ord {
            0.0 => each(l, x, |b, x| {
                let (d, part) = (b.dtype(x), b.dtype(x).info().real);
                let (zero, none, one) = (b.lit(d, 0.0), b.lit(part, 0.0), b.lit(part, 1.0));
                let is_zero = b.compare(Op::Eq, x, zero);
                b.select(is_zero, none, one)
            })?,
            p if p == 1.0 || p.is_infinite() => sizes(l, x)?,
            p => {
                let sizes = sizes(l, x)?;
                power(l, sizes, p)?
            }
        };
        let monoid = if ord == f64::INFINITY {
            Monoid::Max
        } else if ord == f64::NEG_INFINITY {
            Monoid::Min
        } else {
            Monoid::Sum
        };
        let total = l.reduce(terms, &axes, Combine::Value(monoid), keep);
        if ord == 0.0 || ord == 1.0 || ord.is_infinite() { total } else { power(l, total, 1.0 / ord)? }
    };
    Ok(vec![l.cast(norm, l.out_dtype(0))?])
}

/// How the size of a matrix is measured.
const ORDS: AttrKind = AttrKind::Choice(&["fro", "nuc", "1", "-1", "2", "-2", "Infinity", "-Infinity"]);
/// The same with another default.
const COND_ORDS: AttrKind = AttrKind::Choice(&["2", "-2", "fro", "nuc", "1", "-1", "Infinity", "-Infinity"]);

fn word(kind: AttrKind, at: i64) -> &'static str {
    let AttrKind::Choice(words) = kind else { return "" };
    words.get(at as usize).copied().unwrap_or("")
}

fn matrix_norm_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (batch, m, n) = matrix(ctx.shape(0), "x")?;
    let summed = matches!(word(ORDS, ctx.attrs.int("ord")), "fro" | "nuc");
    if m * n == 0 && !summed && !batch.contains(&0) {
        return Err(Error::shape(format!("a matrix of no elements, {m} x {n}, has no such norm")));
    }
    let rank = batch.len() + 2;
    Ok(vec![shape::reduced_dims(ctx.shape(0), &[rank - 2, rank - 1], ctx.attrs.bool("keepdims"))])
}

/// The norm of stacked matrices, without their two axes.
fn measured(l: &mut Lower, x: Val, ord: &str) -> Result<Val> {
    let last = l.dims(x).len() - 1;
    let extreme = if ord.starts_with('-') { Monoid::Min } else { Monoid::Max };
    match ord {
        "fro" => euclidean(l, x, &[last - 1, last], false),
        "nuc" => {
            let values = singular_values(l, x);
            Ok(l.sum(values, last - 1, false))
        }
        "2" | "-2" => {
            let values = singular_values(l, x);
            Ok(l.reduce(values, &[last - 1], Combine::Value(extreme), false))
        }
        _ => {
            let (sizes, axis) = (sizes(l, x)?, if ord.ends_with('1') { last - 1 } else { last });
            let sums = l.sum(sizes, axis, false);
            Ok(l.reduce(sums, &[last - 1], Combine::Value(extreme), false))
        }
    }
}

fn matrix_norm(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, dims, ord) = (native(l, 0)?, l.out_dims(0), word(ORDS, l.attrs().int("ord")));
    let norm = measured(l, x, ord)?;
    let norm = l.reshape(norm, &dims);
    Ok(vec![l.cast(norm, l.out_dtype(0))?])
}

fn cond_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (batch, m, n) = matrix(ctx.shape(0), "x")?;
    let spectral = matches!(word(COND_ORDS, ctx.attrs.int("ord")), "2" | "-2");
    if m != n && !spectral {
        return Err(Error::shape(format!("the matrix must be square for this norm, got {m} x {n}")));
    }
    if m * n == 0 && !batch.contains(&0) {
        return Err(Error::shape(format!("a matrix of no elements, {m} x {n}, has no condition number")));
    }
    Ok(vec![batch.iter().copied().collect()])
}

fn cond(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, ord) = (native(l, 0)?, word(COND_ORDS, l.attrs().int("ord")));
    let cond = if matches!(ord, "2" | "-2") { spectral_cond(l, x, ord == "2")? } else { cond_by_inverse(l, x, ord)? };
    Ok(vec![l.cast(cond, l.out_dtype(0))?])
}

/// The ratio of the extreme singular values.
fn spectral_cond(l: &mut Lower, x: Val, most_first: bool) -> Result<Val> {
    let values = singular_values(l, x);
    let last = l.dims(values).len() - 1;
    let most = l.reduce(values, &[last], Combine::Value(Monoid::Max), false);
    let least = l.reduce(values, &[last], Combine::Value(Monoid::Min), false);
    let ratio = if most_first { [most, least] } else { [least, most] };
    l.map(&l.out_dims(0), &ratio, |b, v| {
        // Of nothing but zeros the quotient would be NaN.
        let (zero, infinity) = (b.lit(b.dtype(v[0]), 0.0), b.lit(b.dtype(v[0]), f64::INFINITY));
        let (is_zero, quotient) = (b.compare(Op::Eq, v[1], zero), b.binary(Op::Div, v[0], v[1]));
        b.select(is_zero, infinity, quotient)
    })
}

/// A norm of the matrix times that of its inverse; the singular ones stand aside as unit matrices.
fn cond_by_inverse(l: &mut Lower, x: Val, ord: &str) -> Result<Val> {
    let (shape, dims) = (l.dims(x), l.out_dims(0));
    let (pivots, _) = pivots(l, x)?;
    let zeros = each(l, pivots, |b, x| {
        let zero = b.lit(b.dtype(x), 0.0);
        b.compare(Op::Eq, x, zero)
    })?;
    let singular = l.reduce(zeros, &[dims.len()], Combine::Value(Monoid::Any), false);
    let aside = l.reshape(singular, &stacked(&dims, &[1, 1]));
    let unit = identity(l, &shape, l.dtype(x))?;
    let regular = l.map(&shape, &[aside, unit, x], |b, v| b.select(v[0], v[1], v[2]))?;
    let inverse = inverse(l, regular)?;
    let (norm, of_inverse) = (measured(l, regular, ord)?, measured(l, inverse, ord)?);
    l.map(&dims, &[singular, norm, of_inverse], |b, v| {
        let (infinity, product) = (b.lit(b.dtype(v[1]), f64::INFINITY), b.binary(Op::Mul, v[1], v[2]));
        b.select(v[0], infinity, product)
    })
}

const KEEPDIMS: AttrDef = attr("keepdims", AttrKind::Bool(false));
const NORM: OpDef = OpDef { dtype: DTypeRule::new(Class::Any, Compute::Float, Out::RealPart), ..LINALG };

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "vectorNorm", gradient: Gradient::Rule(rules::vector_norm), domain: Domain::Any, attrs: &[attr("axis", AttrKind::Axes), KEEPDIMS, attr("ord", AttrKind::Number(2.0))], shape: vector_norm_shape, lower: Lowering::Graph(vector_norm),
        errors: &[ErrorCase { call: "ft.linalg.vectorNorm(ft.zeros([0]), { ord: Infinity })", code: Code::Shape }, ErrorCase { call: "ft.linalg.vectorNorm(ft.zeros([2]), { ord: NaN })", code: Code::Argument }, ErrorCase { call: "ft.linalg.vectorNorm(ft.zeros([2]), 1)", code: Code::Index }],
        doc: doc("Norm of the vector of all elements, or of those along some axes: of any order, Infinity for the largest absolute value, -Infinity for the smallest, 0 for the number of elements that are not zero.", "(sum |x|^ord)^(1 / ord)", "ft.linalg.vectorNorm(ft.tensor([3, -4])) // 5", "linalg.vector_norm", "linalg.vector_norm"), ..NORM },
    OpDef { name: "matrixNorm", gradient: Gradient::Rooted(rules::is_frobenius), attrs: &[KEEPDIMS, attr("ord", ORDS)], shape: matrix_norm_shape, lower: Lowering::Graph(matrix_norm),
        errors: &[ErrorCase { call: "ft.linalg.matrixNorm(ft.zeros([2]))", code: Code::Shape }, ErrorCase { call: "ft.linalg.matrixNorm(ft.zeros([0, 2]), { ord: 1 })", code: Code::Shape }, ErrorCase { call: "ft.linalg.matrixNorm(ft.zeros([2, 2]), { ord: 3 })", code: Code::Argument }],
        doc: doc("Norm of the matrices of the last two axes: 'fro' the root of the sum of squares, 'nuc' the sum of the singular values, 2 and -2 the largest and the smallest of them, 1 and -1 the largest and the smallest sum of a column's absolute values, Infinity and -Infinity of a row's.", "sqrt(sum |x_ij|^2)", "ft.linalg.matrixNorm(ft.tensor([[1, 2], [2, 4]])) // 5", "linalg.matrix_norm", "linalg.matrix_norm"), ..NORM },
    OpDef { name: "cond", attrs: &[attr("ord", COND_ORDS)], shape: cond_shape, lower: Lowering::Graph(cond),
        errors: &[ErrorCase { call: "ft.linalg.cond(ft.zeros([2, 3]), { ord: 1 })", code: Code::Shape }],
        doc: doc("Condition number of the matrices of the last two axes for solving with them: the ratio of the extreme singular values, or in another norm (see matrixNorm) that of the matrix times that of its inverse; infinite for a singular matrix.", "norm(x) norm(inv x)", "ft.linalg.cond(ft.tensor([[2, 0], [0, 8]])) // 4", "linalg.cond", "linalg.cond"), ..NORM },
];

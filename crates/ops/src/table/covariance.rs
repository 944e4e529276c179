//! Covariances and correlation coefficients of variables.

use super::diagonals::taken;
use super::rows::{BASE, attr, doc};
use super::statistics::{centred, freedom, loses_digits};
use crate::def::{AttrKind, ErrorCase, Lowering, OpDef, ParamDef, ParamKind};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::scalar::{Builder, Op};
use ferrotensor_core::{Dims, Error, Result};

/// Variables, and observations of each, where `x` has both.
fn variables(dims: &[usize], rowvar: bool) -> Result<(usize, usize)> {
    match *dims {
        [] => Ok((1, 1)),
        [n] => Ok((1, n)),
        [m, n] if rowvar => Ok((m, n)),
        [n, m] => Ok((m, n)),
        _ => Err(Error::shape(format!("takes a vector or a matrix of observations, got shape {dims:?}"))),
    }
}

fn covariance_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (m, _) = variables(ctx.shape(0), ctx.attrs.bool("rowvar"))?;
    let rank = if ctx.shape(0).len() < 2 { 0 } else { 2 };
    Ok(vec![[m, m].into_iter().take(rank).collect()])
}

/// The variables as rows, less their means and what rounding those left, in the dtype they are computed in.
fn deviations(l: &mut Lower) -> Result<Val> {
    let (x, acc, rowvar) = (l.operand(0)?, l.compute().compute(), l.attrs().bool("rowvar"));
    let (m, n) = variables(&l.dims(x), rowvar)?;
    let x = l.cast(x, acc)?;
    let turned = if l.dims(x).len() == 2 && !rowvar { l.permute(x, &[1, 0]) } else { x };
    let rows = l.reshape(turned, &[m, n]);
    let twice = loses_digits(l)?;
    centred(l, rows, &[1], twice)
}

/// Products of each two rows, the second conjugated.
fn products(l: &mut Lower, rows: Val) -> Result<Val> {
    let conjugate = l.op("conj", &[rows], |a| a)?;
    let turned = l.permute(conjugate, &[1, 0]);
    Ok(l.contract(rows, turned))
}

fn cov(l: &mut Lower) -> Result<Vec<Val>> {
    let (rows, out, dims) = (deviations(l)?, l.out_dtype(0), l.out_dims(0));
    let (m, n) = (l.dims(rows)[0], l.dims(rows)[1]);
    let (total, part) = (products(l, rows)?, l.dtype(rows).info().real);
    let correction = l.param(0, part);
    let cov = l.map_with(&[m, m], &[total], &[correction], |b, v| {
        let n = b.lit(part, n as f64);
        let n = freedom(b, n, v[1]);
        let d = b.dtype(v[0]);
        let n = b.cast(n, d);
        let cov = b.binary(Op::Div, v[0], n);
        b.cast(cov, out)
    })?;
    Ok(vec![l.reshape(cov, &dims)])
}

/// Products of rows by the lengths of both, no further from 0 than 1.
fn corrcoef(l: &mut Lower) -> Result<Vec<Val>> {
    let (rows, out, dims) = (deviations(l)?, l.out_dtype(0), l.out_dims(0));
    let m = l.dims(rows)[0];
    let (total, part) = (products(l, rows)?, l.dtype(rows).info().real);
    let squares = taken(l, total, 0);
    let lengths = l.map(&[m], &[squares], |b, v| {
        let square = b.cast(v[0], part);
        b.unary(Op::Sqrt, square)
    })?;
    let column = l.reshape(lengths, &[m, 1]);
    let coefficient = l.map(&[m, m], &[total, column, lengths], |b, v| {
        let d = b.dtype(v[0]);
        let within = |b: &mut Builder, x| {
            let (low, high) = (b.lit(part, -1.0), b.lit(part, 1.0));
            let x = b.binary(Op::Max, x, low);
            b.binary(Op::Min, x, high)
        };
        if !d.is_complex() {
            let by_first = b.binary(Op::Div, v[0], v[1]);
            let by_both = b.binary(Op::Div, by_first, v[2]);
            let coefficient = within(b, by_both);
            return b.cast(coefficient, out);
        }
        let parts = [b.re(v[0]), b.im(v[0])].map(|x| {
            let by_first = b.binary(Op::Div, x, v[1]);
            let by_both = b.binary(Op::Div, by_first, v[2]);
            within(b, by_both)
        });
        let coefficient = b.complex(d, parts[0], parts[1]);
        b.cast(coefficient, out)
    })?;
    Ok(vec![l.reshape(coefficient, &dims)])
}

const CORRECTION: &[ParamDef] = &[ParamDef { name: "correction", default: Some(1.0), kind: ParamKind::Number }];
const COVARIANCE: OpDef = OpDef {
    attrs: &[attr("rowvar", AttrKind::Bool(true))],
    dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Compute),
    shape: covariance_shape,
    errors: &[ErrorCase { call: "ft.zeros([2, 2, 2]).cov()", code: Code::Shape }],
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "cov", params: CORRECTION, lower: Lowering::Graph(cov),
        doc: doc("Covariance matrix: each row of x is a variable and each column an observation, without rowvar the other way round. The sum over n observations is divided by n - correction (at least 0). A vector is one variable, and gives one number.", "sum_k (x_ik - mean x_i) conj(x_jk - mean x_j) / max(n - correction, 0)", "ft.tensor([[1, 2, 3], [6, 4, 2]]).cov() // [[1, -2], [-2, 4]]", "cov", "cov"), ..COVARIANCE },
    OpDef { name: "corrcoef", lower: Lowering::Graph(corrcoef),
        doc: doc("Pearson's correlation coefficients, from -1 to 1: each row of x is a variable and each column an observation, without rowvar the other way round. NaN for a variable that does not vary.", "cov_ij / sqrt(cov_ii cov_jj)", "ft.tensor([[1, 2, 3], [6, 4, 2]]).corrcoef() // [[1, -1], [-1, 1]]", "corrcoef", "corrcoef"), ..COVARIANCE },
];

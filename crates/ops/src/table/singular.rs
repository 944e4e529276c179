//! Singular values and vectors, and what they decide: rank, pseudoinverse, least squares.

use super::linalg::{LINALG, Sides, adjoint, matrix, native, sides, sides_shape, stacked};
use super::rows::{attr, doc, tensor};
use crate::def::{AttrKind, ErrorCase, Lowering, OpDef, ParamDef, ParamKind};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::gradient::{Facts, Gradient, rules, walk};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Routine, SvdOutputs};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Dims, Result};

/// The singular values of stacked matrices, descending.
pub fn singular_values(l: &mut Lower, x: Val) -> Val {
    let (dims, dtype) = (l.dims(x), l.dtype(x));
    let (tail, batch) = (dims.len() - 2, &dims[..dims.len() - 2]);
    let values = stacked(batch, &[dims[tail].min(dims[tail + 1])]);
    l.routine(Routine::Svd { dtype, outputs: SvdOutputs::Values }, &[x], &[values])[0]
}

/// u, s, vh with as many columns and rows as there are values, or all of them.
fn decomposed(l: &mut Lower, x: Val, full: bool) -> Result<[Val; 3]> {
    let (dims, dtype) = (l.dims(x), l.dtype(x));
    let outputs = if full { SvdOutputs::Full } else { SvdOutputs::Thin };
    let found = l.routine(Routine::Svd { dtype, outputs }, &[x], &svd_dims(&dims, full)?);
    Ok([found[0], found[1], found[2]])
}

fn svd_dims(dims: &[usize], full: bool) -> Result<[Dims; 3]> {
    let (batch, m, n) = matrix(dims, "x")?;
    let k = m.min(n);
    let (columns, rows) = if full { (m, n) } else { (k, k) };
    Ok([stacked(batch, &[m, columns]), stacked(batch, &[k]), stacked(batch, &[rows, n])])
}

fn svd_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    Ok(svd_dims(ctx.shape(0), ctx.attrs.bool("fullMatrices"))?.to_vec())
}

fn svd(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, full) = (native(l, 0)?, l.attrs().bool("fullMatrices"));
    let found = decomposed(l, x, full)?;
    found.into_iter().enumerate().map(|(n, v)| l.cast(v, l.out_dtype(n))).collect()
}

fn values_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (batch, m, n) = matrix(ctx.shape(0), "x")?;
    Ok(vec![stacked(batch, &[m.min(n)])])
}

fn svdvals(l: &mut Lower) -> Result<Vec<Val>> {
    let x = native(l, 0)?;
    let values = singular_values(l, x);
    Ok(vec![l.cast(values, l.out_dtype(0))?])
}

/// The relative size up to which a singular value counts as zero: max(m, n) eps where the row's first number is NaN.
fn default_tolerance(dims: &[usize], dtype: DType) -> f64 {
    let eps = if matches!(dtype.info().real, DType::F64) { f64::EPSILON } else { f32::EPSILON as f64 };
    dims.iter().rev().take(2).copied().max().unwrap_or(0) as f64 * eps
}

/// For each singular value what `f` makes of it and of whether it counts: NaN does not.
fn weighed(
    l: &mut Lower,
    values: Val,
    of: &[usize],
    out: DType,
    f: impl FnOnce(&mut ferrotensor_core::scalar::Builder, u32, u32) -> u32,
) -> Result<Val> {
    let (dims, dtype) = (l.dims(values), l.dtype(values));
    let default = default_tolerance(of, dtype);
    // They descend; of no values there is no largest, and nothing to weigh.
    let last = dims.len() - 1;
    let largest = if dims[last] == 0 { values } else { l.narrow(values, last, 0, 1) };
    let rtol = l.param(0, dtype);
    l.map_with(&dims, &[values, largest], &[rtol], |b, v| {
        let (given, default) = (b.compare(Op::Eq, v[2], v[2]), b.lit(dtype, default));
        let rtol = b.select(given, v[2], default);
        let cut = b.binary(Op::Mul, rtol, v[1]);
        let counts = b.compare(Op::Lt, cut, v[0]);
        let made = f(b, v[0], counts);
        b.cast(made, out)
    })
}

fn rank_of(l: &mut Lower, values: Val, of: &[usize]) -> Result<Val> {
    let counted = weighed(l, values, of, DType::I32, |b, _, counts| b.cast(counts, DType::I32))?;
    let last = l.dims(counted).len() - 1;
    Ok(l.sum(counted, last, false))
}

fn rank_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    Ok(vec![matrix(ctx.shape(0), "x")?.0.iter().copied().collect()])
}

fn matrix_rank(l: &mut Lower) -> Result<Vec<Val>> {
    let x = native(l, 0)?;
    let values = singular_values(l, x);
    Ok(vec![rank_of(l, values, &l.dims(x))?])
}

/// Reciprocals of the values that do not count as zero, zero for those that do.
fn reciprocals(l: &mut Lower, values: Val, of: &[usize]) -> Result<Val> {
    let dtype = l.dtype(values);
    weighed(l, values, of, dtype, |b, value, counts| {
        let (zero, one) = (b.lit(dtype, 0.0), b.lit(dtype, 1.0));
        let reciprocal = b.binary(Op::Div, one, value);
        b.select(counts, reciprocal, zero)
    })
}

/// The rows of a stack of matrices, each times its number.
fn rows_times(l: &mut Lower, rows: Val, by: Val) -> Result<Val> {
    let (dims, dtype) = (l.dims(rows), l.dtype(rows));
    let column = stacked(&l.dims(by), &[1]);
    let by = l.reshape(by, &column);
    l.map(&dims, &[rows, by], |b, v| {
        let by = b.cast(v[1], dtype);
        b.binary(Op::Mul, v[0], by)
    })
}

fn pinv_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (batch, m, n) = matrix(ctx.shape(0), "x")?;
    Ok(vec![stacked(batch, &[n, m])])
}

fn pinv(l: &mut Lower) -> Result<Vec<Val>> {
    let x = native(l, 0)?;
    let product = pseudoinverse(l, x)?;
    Ok(vec![l.cast(product, l.out_dtype(0))?])
}

fn pseudoinverse(l: &mut Lower, x: Val) -> Result<Val> {
    let [u, s, vh] = decomposed(l, x, false)?;
    let by = reciprocals(l, s, &l.dims(x))?;
    let (uh, v) = (adjoint(l, u)?, adjoint(l, vh)?);
    let uh = rows_times(l, uh, by)?;
    Ok(l.contract(v, uh))
}

fn lstsq_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (of, m, n) = matrix(ctx.shape(0), "the matrix")?;
    let (batch, columns) = sides_shape(ctx.shape(0), ctx.shape(1))?;
    let solution = batch.iter().copied().chain([n]).chain(columns).collect();
    let residuals = batch.iter().copied().chain(columns).collect();
    Ok(vec![solution, residuals, of.iter().copied().collect(), stacked(of, &[m.min(n)])])
}

fn lstsq(l: &mut Lower) -> Result<Vec<Val>> {
    let x = native(l, 0)?;
    let of = l.dims(x);
    let [u, s, vh] = decomposed(l, x, false)?;
    let rank = rank_of(l, s, &of)?;
    let by = reciprocals(l, s, &of)?;
    let Sides { a, b, batch, .. } = sides(l)?;
    let whole = |l: &mut Lower, v: Val, tail: usize| {
        let dims = l.dims(v);
        l.broadcast(v, &stacked(&batch, &dims[dims.len() - tail..]))
    };
    let (uh, v) = (adjoint(l, u)?, adjoint(l, vh)?);
    let (uh, v, by) = (whole(l, uh, 2)?, whole(l, v, 2)?, whole(l, by, 1)?);
    let parts = l.contract(uh, b);
    let parts = rows_times(l, parts, by)?;
    let solution = l.contract(v, parts);
    let residuals = residuals(l, a, b, solution)?;
    let (solution, residuals) = (l.reshape(solution, &l.out_dims(0)), l.reshape(residuals, &l.out_dims(1)));
    let found = [solution, residuals, rank, s];
    found.into_iter().enumerate().map(|(n, v)| l.cast(v, l.out_dtype(n))).collect()
}

/// The sum of squares of `b - a x` for each column.
fn residuals(l: &mut Lower, a: Val, b: Val, solution: Val) -> Result<Val> {
    let reached = l.contract(a, solution);
    let dims = l.dims(b);
    let squares = l.map(&dims, &[b, reached], |b, v| {
        let off = b.binary(Op::Sub, v[0], v[1]);
        if !b.dtype(off).is_complex() {
            return b.binary(Op::Mul, off, off);
        }
        let (re, im) = (b.re(off), b.im(off));
        let (re, im) = (b.binary(Op::Mul, re, re), b.binary(Op::Mul, im, im));
        b.binary(Op::Add, re, im)
    })?;
    Ok(l.sum(squares, dims.len() - 2, false))
}

/// As products with the pseudoinverse, whose rule needs no vectors that equal singular values leave open; what is cut off counts as zero.
fn lstsq_back(l: &mut Lower, _: &[Val], g: &[Option<Val>]) -> Result<Option<Vec<Option<Val>>>> {
    let (Some(first), Some(second)) = (l.tensor(0), l.tensor(1)) else { return Ok(None) };
    let x = native(l, 0)?;
    let p = pseudoinverse(l, x)?;
    let start = l.graph.nodes.len();
    let Sides { a, b, batch, .. } = sides(l)?;
    let whole = stacked(&batch, &l.dims(p)[l.dims(p).len() - 2..]);
    let whole = l.broadcast(p, &whole)?;
    let solution = l.contract(whole, b);
    let residuals = residuals(l, a, b, solution)?;
    let (solution, residuals) = (l.reshape(solution, &l.out_dims(0)), l.reshape(residuals, &l.out_dims(1)));
    let again = native(l, 0)?;
    let values = singular_values(l, again);
    let mut seeds = Vec::new();
    for (n, v) in [(0, solution), (1, residuals), (3, values)] {
        if let Some(g) = g[n] {
            seeds.push((l.cast(v, l.out_dtype(n))?, g));
        }
    }
    let mut found = walk(l.graph, l.op, start, &seeds, &[first, second, p], Facts::default())?;
    if let Some(g) = found[2] {
        let more = rules::pinv_back(l, x, p, g)?;
        let more = l.cast(more, l.dtype(first))?;
        found[0] = Some(match found[0] {
            Some(g) => l.binary(Op::Add, g, more)?,
            None => more,
        });
    }
    found.truncate(2);
    Ok(Some(found))
}

const RTOL: &[ParamDef] = &[ParamDef { name: "rtol", default: Some(f64::NAN), kind: ParamKind::Number }];

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "svd", attrs: &[attr("fullMatrices", AttrKind::Bool(true))], outputs: &["u", "s", "vh"], shape: svd_shape, lower: Lowering::Graph(svd),
        dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Each(&[Out::Compute, Out::RealPart, Out::Compute])),
        errors: &[ErrorCase { call: "ft.linalg.svd(ft.zeros([2]))", code: Code::Shape }],
        doc: doc("Singular values, descending, with the left singular vectors as columns of u and the right ones as rows of vh, in each of which the first entry of the largest size is real and positive; without fullMatrices only those that have a value.", "x = u @ diag(s) @ vh", "ft.linalg.svd(ft.tensor([[0, 2], [3, 0]])).s // [3, 2]", "linalg.svd", "linalg.svd"), ..LINALG },
    OpDef { name: "svdvals", shape: values_shape, lower: Lowering::Graph(svdvals),
        dtype: DTypeRule::new(Class::Any, Compute::Float, Out::RealPart),
        errors: &[ErrorCase { call: "ft.linalg.svdvals(ft.zeros([2]))", code: Code::Shape }],
        doc: doc("Singular values of matrices, descending.", "sqrt(eigenvalues of x^H @ x)", "ft.linalg.svdvals(ft.tensor([[0, 2], [3, 0]])) // [3, 2]", "linalg.svdvals", "linalg.svdvals"), ..LINALG },
    OpDef { name: "matrixRank", params: RTOL, shape: rank_shape, lower: Lowering::Graph(matrix_rank),
        dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Int32),
        errors: &[ErrorCase { call: "ft.linalg.matrixRank(ft.zeros([2]))", code: Code::Shape }],
        doc: doc("How many singular values of a matrix are above rtol times the largest: max(m, n) units in the last place of 1 where rtol is left out or NaN.", "count(s_i > rtol max s)", "ft.linalg.matrixRank(ft.tensor([[1, 2], [2, 4]])) // 1", "linalg.matrix_rank", "linalg.matrix_rank"), ..LINALG },
    OpDef { name: "pinv", gradient: Gradient::Rule(rules::pinv), params: RTOL, shape: pinv_shape, lower: Lowering::Graph(pinv),
        errors: &[ErrorCase { call: "ft.linalg.pinv(ft.zeros([2]))", code: Code::Shape }],
        doc: doc("Pseudoinverses of matrices of any shape and rank (Moore-Penrose); singular values up to rtol times the largest count as zero, rtol as in matrixRank.", "vh^H @ diag(1 / s) @ u^H", "ft.linalg.pinv(ft.tensor([[2, 0], [0, 0]])) // [[0.5, 0], [0, 0]]", "linalg.pinv", "linalg.pinv"), ..LINALG },
    OpDef { name: "lstsq", gradient: Gradient::Rule(lstsq_back), operands: &[tensor("x1"), tensor("x2")], params: RTOL, outputs: &["solution", "residuals", "rank", "singularValues"], shape: lstsq_shape, lower: Lowering::Graph(lstsq),
        dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Each(&[Out::Compute, Out::RealPart, Out::Int32, Out::RealPart])),
        errors: &[ErrorCase { call: "ft.linalg.lstsq(ft.zeros([2, 3]), ft.zeros([3]))", code: Code::Shape }],
        doc: doc("Least squares: the x for which the sum of squares of x2 - x1 @ x is smallest, of several the shortest. residuals has that sum for each column, rank the rank of x1, singularValues its singular values; those up to rtol times the largest count as zero, rtol as in matrixRank. x2 is a vector or a stack of matrices.", "solution = pinv(x1) @ x2", "ft.linalg.lstsq(ft.tensor([[1], [1]]), ft.tensor([1, 3])).solution // [2]", "linalg.lstsq", "linalg.lstsq"), ..LINALG },
];

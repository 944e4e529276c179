//! Diagonals: taken out of matrices, summed, and put into one.

use super::exact;
use super::rows::{BASE, attr, doc};
use crate::def::{AttrDef, AttrKind, ErrorCase, Lowering, Namespace, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::graph::{IndexItem, Number, View};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::{Dims, Error, Result};

/// Where a diagonal of row-major `m x n` matrices starts, and how many elements it has.
pub fn extent(m: usize, n: usize, k: i64) -> (usize, usize) {
    let by = usize::try_from(k.unsigned_abs()).unwrap_or(usize::MAX);
    if k >= 0 { (by, m.min(n.saturating_sub(by))) } else { (by.saturating_mul(n), n.min(m.saturating_sub(by))) }
}

fn diagonal_dims(dims: &[usize], k: i64) -> Result<Dims> {
    match dims {
        [batch @ .., m, n] => Ok(batch.iter().copied().chain([extent(*m, *n, k).1]).collect()),
        _ => Err(Error::shape(format!("needs at least two axes, got shape {dims:?}"))),
    }
}

/// A view of the diagonals of stacked matrices: of their elements in row-major order every (n + 1)-th.
pub fn taken(l: &mut Lower, x: Val, k: i64) -> Val {
    let dims = l.dims(x);
    let (m, n) = (dims[dims.len() - 2], dims[dims.len() - 1]);
    let (start, len) = extent(m, n, k);
    let batch = &dims[..dims.len() - 2];
    let flat: Vec<usize> = batch.iter().copied().chain([m * n]).collect();
    let whole = |&len: &usize| IndexItem::Slice { start: Number::Const(0), step: Number::Const(1), len };
    let items: Vec<IndexItem> = batch.iter().map(whole).chain([along(if len == 0 { 0 } else { start }, n, len)]).collect();
    let x = l.reshape(x, &flat);
    l.index(x, &items)
}

/// The elements of a diagonal among those of a matrix of `n` columns.
fn along(start: usize, n: usize, len: usize) -> IndexItem {
    IndexItem::Slice { start: Number::Const(start as i64), step: Number::Const(n as i64 + 1), len }
}

fn diagonal_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    Ok(vec![diagonal_dims(ctx.shape(0), ctx.attrs.int("offset"))?])
}

fn diagonal(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, k) = (l.operand(0)?, l.attrs().int("offset"));
    Ok(vec![taken(l, x, k)])
}

fn trace_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut dims = diagonal_dims(ctx.shape(0), ctx.attrs.int("offset"))?;
    dims.pop();
    Ok(vec![dims])
}

fn trace(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, k, out) = (l.operand(0)?, l.attrs().int("offset"), l.compute());
    let diagonal = taken(l, x, k);
    let (dims, last) = (l.dims(diagonal), l.dims(diagonal).len() - 1);
    let sum = exact::summed(l, diagonal, out.compute(), dims[last], |l, x| Ok(l.sum(x, last, false)))?;
    Ok(vec![l.cast(sum, out)?])
}

fn diag_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (dims, k) = (ctx.shape(0), ctx.attrs.int("k"));
    match *dims {
        [len] => {
            let by = usize::try_from(k.unsigned_abs()).ok();
            let n = by.and_then(|by| len.checked_add(by)).ok_or_else(|| Error::shape("size overflows"))?;
            Ok(vec![[n, n].into_iter().collect()])
        }
        [_, _] => Ok(vec![diagonal_dims(dims, k)?]),
        _ => Err(Error::shape(format!("takes a vector or a matrix, got shape {dims:?}; see diagonal"))),
    }
}

fn diag(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, dims, k) = (l.operand(0)?, l.out_dims(0), l.attrs().int("k"));
    let [len] = l.dims(x)[..] else { return Ok(vec![taken(l, x, k)]) };
    let (n, dtype) = (dims[0], l.dtype(x));
    let flat = [n * n];
    let zeros = l.map(&flat, &[], |b, _| b.lit(dtype, 0.0))?;
    let start = if len == 0 { 0 } else { extent(n, n, k).0 };
    let region = Some(View::Index([along(start, n, len)].into_iter().collect()));
    let matrix = l.assemble(&flat, Some(zeros), vec![(x, region)])?;
    Ok(vec![l.reshape(matrix, &dims)])
}

const OFFSET: AttrDef = attr("offset", AttrKind::Int(Some(0)));

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "diagonal", also: &[Namespace::Linalg], attrs: &[OFFSET], shape: diagonal_shape, lower: Lowering::Graph(diagonal),
        errors: &[ErrorCase { call: "ft.zeros([2]).diagonal()", code: Code::Shape }, ErrorCase { call: "ft.zeros([2, 2]).diagonal({ offset: 0.5 })", code: Code::Argument }],
        doc: doc("The diagonals of the matrices of the last two axes: the main one, one above it (offset > 0) or below. A view where the layout allows it.", "out_i = x_(i, i + offset)", "ft.tensor([[1, 2], [3, 4]]).diagonal() // [1, 4]", "linalg.diagonal", "linalg.diagonal"), ..BASE },
    OpDef { name: "trace", also: &[Namespace::Linalg], attrs: &[OFFSET, attr("dtype", AttrKind::OptDType)], shape: trace_shape, lower: Lowering::Graph(trace),
        dtype: DTypeRule::new(Class::Any, Compute::Sum, Out::Compute),
        errors: &[ErrorCase { call: "ft.zeros([2]).trace()", code: Code::Shape }],
        doc: doc("Sum of the elements of a diagonal of the matrices of the last two axes. Integers that their dtype does not hold are refused as in sum.", "sum_i x_(i, i + offset)", "ft.tensor([[1, 2], [3, 4]]).trace() // 5", "linalg.trace", "trace"), ..BASE },
    OpDef { name: "diag", attrs: &[attr("k", AttrKind::Int(Some(0)))], shape: diag_shape, lower: Lowering::Graph(diag),
        errors: &[ErrorCase { call: "ft.zeros([2, 2, 2]).diag()", code: Code::Shape }, ErrorCase { call: "ft.zeros([2]).diag({ k: 9007199254740991 })", code: Code::Shape }],
        doc: doc("Of a vector the square matrix with it as k-th diagonal and zeros elsewhere, of a matrix its k-th diagonal.", "out_(i, i + k) = x_i, or out_i = x_(i, i + k)", "ft.tensor([1, 2]).diag() // [[1, 0], [0, 2]]", "diag", "diag"), ..BASE },
];

//! Linear algebra on stacks of matrices.

use super::join::join;
use super::rows::{BASE, arg, attr, doc, tensor};
use crate::def::{AttrKind, Domain, ErrorCase, Form, Lowering, Namespace, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::Routine;
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Dims, Error, Result, layout};

/// Batch axes and the two matrix axes.
pub fn matrix<'a>(dims: &'a [usize], what: &str) -> Result<(&'a [usize], usize, usize)> {
    match dims {
        [batch @ .., m, n] => Ok((batch, *m, *n)),
        _ => Err(Error::shape(format!("{what} must have at least two axes, got shape {dims:?}"))),
    }
}

/// The operand in the dtype the routine runs in: float32 for half floats.
pub fn native(l: &mut Lower, operand: usize) -> Result<Val> {
    let x = l.operand(operand)?;
    l.cast(x, l.compute().compute())
}

/// The shape of a square matrix: its batch axes and its size.
pub fn square(dims: &[usize]) -> Result<(&[usize], usize)> {
    match matrix(dims, "the matrix")? {
        (batch, m, n) if m == n => Ok((batch, n)),
        (_, m, n) => Err(Error::shape(format!("the matrix must be square, got {m} x {n}"))),
    }
}

/// The first operand's shape, which must be that of square matrices.
pub fn square_same(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    square(ctx.shape(0))?;
    Ok(vec![ctx.shape(0).iter().copied().collect()])
}

/// Sizes behind batch axes.
pub fn stacked(batch: &[usize], tail: &[usize]) -> Dims {
    batch.iter().chain(tail).copied().collect()
}

/// Unit matrices of a shape.
pub fn identity(l: &mut Lower, dims: &[usize], dtype: DType) -> Result<Val> {
    let rank = dims.len() as u8;
    l.map(dims, &[], |b, _| {
        let (row, column) = (b.index(rank - 2, DType::I64), b.index(rank - 1, DType::I64));
        let hit = b.compare(Op::Eq, row, column);
        b.cast(hit, dtype)
    })
}

/// The inverses of stacked matrices.
pub fn inverse(l: &mut Lower, x: Val) -> Result<Val> {
    let (dims, dtype) = (l.dims(x), l.dtype(x));
    let eye = identity(l, &dims, dtype)?;
    Ok(l.routine(Routine::Solve(dtype), &[x, eye], &[dims])[0])
}

/// Matrices with rows and columns exchanged, and conjugated.
pub fn adjoint(l: &mut Lower, x: Val) -> Result<Val> {
    let rank = l.dims(x).len();
    let mut order: Vec<usize> = (0..rank).collect();
    order.swap(rank - 2, rank - 1);
    // Of real matrices it is a view: a copy of the transpose of 100,000 x 4 takes longer than its product with a vector.
    let x = if l.dtype(x).is_complex() { l.op("conj", &[x], |a| a)? } else { x };
    Ok(l.permute(x, &order))
}

fn inv(l: &mut Lower) -> Result<Vec<Val>> {
    let x = native(l, 0)?;
    let out = inverse(l, x)?;
    Ok(vec![l.cast(out, l.out_dtype(0))?])
}

/// By squaring: as many products as the power has binary digits and ones among them.
fn matrix_power(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, n) = (native(l, 0)?, l.attrs().int("n"));
    let mut base = if n < 0 { inverse(l, x)? } else { x };
    let (mut left, mut power) = (n.unsigned_abs(), None);
    while left > 0 {
        if left & 1 == 1 {
            power = Some(match power {
                Some(p) => l.contract(p, base),
                None => base,
            });
        }
        left >>= 1;
        if left > 0 {
            base = l.contract(base, base);
        }
    }
    let power = match power {
        Some(p) => p,
        None => identity(l, &l.out_dims(0), l.dtype(x))?,
    };
    Ok(vec![l.cast(power, l.out_dtype(0))?])
}

/// The right side of a system, with the operand's vector as a column, broadcast with the matrix.
pub struct Sides {
    pub a: Val,
    pub b: Val,
    /// Batch axes of both.
    pub batch: Dims,
}

/// As in the array API: the right side is a vector only if it has exactly one axis. Its last axes but one, as many as the matrix
/// has rows.
pub fn sides_shape(a: &[usize], b: &[usize]) -> Result<(Dims, Option<usize>)> {
    let (batch, m, n) = matrix(a, "the matrix")?;
    let (other, rows, columns): (&[usize], usize, Option<usize>) = match b {
        [rows] => (&[], *rows, None),
        [other @ .., rows, columns] => (other, *rows, Some(*columns)),
        [] => return Err(Error::shape("the right side must have at least one axis")),
    };
    if rows != m {
        return Err(Error::shape(format!("right side of shape {b:?} does not fit a {m} x {n} matrix")));
    }
    Ok((layout::broadcast_shapes(batch, other)?, columns))
}

/// Both operands of a system as a routine wants them.
pub fn sides(l: &mut Lower) -> Result<Sides> {
    let (a, mut b) = (native(l, 0)?, native(l, 1)?);
    let (batch, columns) = sides_shape(&l.dims(a), &l.dims(b))?;
    let dims = l.dims(a);
    let (m, n) = (dims[dims.len() - 2], dims[dims.len() - 1]);
    if columns.is_none() {
        b = l.reshape(b, &[m, 1]);
    }
    let a = l.broadcast(a, &stacked(&batch, &[m, n]))?;
    let b = l.broadcast(b, &stacked(&batch, &[m, columns.unwrap_or(1)]))?;
    Ok(Sides { a, b, batch })
}

pub fn solve_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (_, n) = square(ctx.shape(0))?;
    let (batch, columns) = sides_shape(ctx.shape(0), ctx.shape(1))?;
    Ok(vec![batch.into_iter().chain([n]).chain(columns).collect()])
}

fn solve(l: &mut Lower) -> Result<Vec<Val>> {
    let Sides { a, b, .. } = sides(l)?;
    let (dims, dtype, out) = (l.dims(b), l.dtype(a), l.out_dims(0));
    let x = l.routine(Routine::Solve(dtype), &[a, b], &[dims])[0];
    let x = l.reshape(x, &out);
    Ok(vec![l.cast(x, l.out_dtype(0))?])
}

fn qr_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (batch, m, n) = matrix(ctx.shape(0), "the matrix")?;
    let k = if ctx.attrs.int("mode") == 1 { m } else { m.min(n) };
    let with = |tail: [usize; 2]| -> Dims { batch.iter().copied().chain(tail).collect() };
    Ok(vec![with([m, k]), with([k, n])])
}

fn qr(l: &mut Lower) -> Result<Vec<Val>> {
    let mut a = native(l, 0)?;
    let (dims, dtype) = ([l.out_dims(0), l.out_dims(1)], l.dtype(a));
    let (mut r, rank) = (dims[1].clone(), dims[0].len());
    let (m, n) = (dims[0][rank - 2], r[rank - 1]);
    if dims[0][rank - 1] > n {
        // Unit vectors behind the columns complete the basis: the last ones first, which the columns of a matrix with a large
        // diagonal do not span.
        let square = stacked(&dims[0][..rank - 2], &[m, m]);
        let eye = identity(l, &square, dtype)?;
        let turned = l.flip(eye, &[rank - 1]);
        a = join(l, rank - 1, &[a, turned])?;
        r[rank - 1] = n + m;
    }
    let factors = l.routine(Routine::Qr(dtype), &[a], &[dims[0].clone(), r]);
    let r = l.narrow(factors[1], rank - 1, 0, n);
    [factors[0], r].into_iter().map(|v| l.cast(v, l.out_dtype(0))).collect()
}

pub const LINALG: OpDef = OpDef {
    namespace: Namespace::Linalg,
    form: Form::Function,
    domain: Domain::Matrix,
    dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Compute),
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "solve", operands: &[tensor("x1"), tensor("x2")], shape: solve_shape, lower: Lowering::Graph(solve),
        errors: &[ErrorCase { call: "ft.linalg.solve(ft.zeros([2, 3]), ft.zeros([2]))", code: Code::Shape }, ErrorCase { call: "ft.linalg.solve(ft.zeros([2, 2]), ft.ones([2])).toArray()", code: Code::LinAlg }],
        doc: doc("Solution of a system of linear equations by LU with partial pivoting; x2 is a vector or a stack of matrices. A singular matrix is a LinAlgError when the result is read.", "x1 @ out = x2", "ft.linalg.solve(ft.tensor([[2, 0], [0, 4]]), ft.tensor([2, 2])) // [1, 0.5]", "linalg.solve", "linalg.solve"), ..LINALG },
    OpDef { name: "qr", outputs: &["q", "r"], attrs: &[attr("mode", AttrKind::Choice(&["reduced", "complete"]))], dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Twice), shape: qr_shape, lower: Lowering::Graph(qr),
        errors: &[ErrorCase { call: "ft.linalg.qr(ft.zeros([2]))", code: Code::Shape }],
        doc: doc("QR factorisation: orthonormal columns times an upper triangle whose diagonal is real and not negative. Reduced, there are as many columns as the shorter side has; complete, they are a basis: q is square and r as large as x.", "x = q @ r", "ft.linalg.qr(ft.tensor([[0, 2], [3, 0]])).r // [[3, 0], [0, 2]]", "linalg.qr", "linalg.qr"), ..LINALG },
    OpDef { name: "inv", shape: square_same, lower: Lowering::Graph(inv),
        errors: &[ErrorCase { call: "ft.linalg.inv(ft.zeros([2, 3]))", code: Code::Shape }, ErrorCase { call: "ft.linalg.inv(ft.ones([2, 2])).toArray()", code: Code::LinAlg }],
        doc: doc("Inverses of square matrices; to solve with one, solve is faster and more accurate. A singular matrix is a LinAlgError when the result is read.", "x @ out = 1", "ft.linalg.inv(ft.tensor([[2, 0], [0, 4]])) // [[0.5, 0], [0, 0.25]]", "linalg.inv", "linalg.inv"), ..LINALG },
    OpDef { name: "matrixPower", attrs: &[arg("n", AttrKind::Int(None))], shape: square_same, lower: Lowering::Graph(matrix_power),
        errors: &[ErrorCase { call: "ft.linalg.matrixPower(ft.zeros([2, 3]), 2)", code: Code::Shape }, ErrorCase { call: "ft.linalg.matrixPower(ft.ones([2, 2]), 0.5)", code: Code::Argument }, ErrorCase { call: "ft.linalg.matrixPower(ft.ones([2, 2]), -1).toArray()", code: Code::LinAlg }],
        doc: doc("Whole powers of square matrices: of the inverse for negative ones, which a singular matrix does not have (a LinAlgError when the result is read); the 0th is the unit matrix.", "x @ x @ ... @ x", "ft.linalg.matrixPower(ft.tensor([[1, 1], [0, 1]]), 5) // [[1, 5], [0, 1]]", "linalg.matrix_power", "linalg.matrix_power"), ..LINALG },
];

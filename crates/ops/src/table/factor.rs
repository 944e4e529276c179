//! Factors of matrices, what is read off them, and what is solved with them.

use super::diagonals::taken;
use super::linalg::{LINALG, Sides, adjoint, matrix, native, sides, solve_shape, square, square_same, stacked};
use super::rows::{attr, doc, tensor};
use super::unary::unit;
use crate::def::{AttrDef, AttrKind, Domain, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Combine, Monoid, Routine};
use ferrotensor_core::scalar::{MathFn, Op};
use ferrotensor_core::{DType, Dims, Result};

fn cholesky(l: &mut Lower) -> Result<Vec<Val>> {
    let (mut x, upper, dims) = (native(l, 0)?, l.attrs().bool("upper"), l.out_dims(0));
    // The upper triangle is the lower one of the adjoint.
    if upper {
        x = adjoint(l, x)?;
    }
    let mut factor = l.routine(Routine::Cholesky(l.dtype(x)), &[x], &[dims])[0];
    if upper {
        factor = adjoint(l, factor)?;
    }
    Ok(vec![l.cast(factor, l.out_dtype(0))?])
}

/// Stacked matrices as l, u, the rows' order, and its sign.
struct Lu {
    l: Val,
    u: Val,
    rows: Val,
    sign: Val,
}

fn factored(l: &mut Lower, x: Val) -> Result<Lu> {
    let dims = l.dims(x);
    let (batch, m, n) = matrix(&dims, "x")?;
    let k = m.min(n);
    let shapes = [stacked(batch, &[m, k]), stacked(batch, &[k, n]), stacked(batch, &[m]), stacked(batch, &[])];
    let out = l.routine(Routine::Lu(l.dtype(x)), &[x], &shapes);
    Ok(Lu { l: out[0], u: out[1], rows: out[2], sign: out[3] })
}

fn lu_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (batch, m, n) = matrix(ctx.shape(0), "x")?;
    let k = m.min(n);
    Ok(vec![stacked(batch, &[m, m]), stacked(batch, &[m, k]), stacked(batch, &[k, n])])
}

fn lu(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, dims, dtype) = (native(l, 0)?, l.out_dims(0), l.out_dtype(0));
    let Lu { l: lower, u, rows, .. } = factored(l, x)?;
    let row = stacked(&dims[..dims.len() - 2], &[1, dims[dims.len() - 1]]);
    let rows = l.reshape(rows, &row);
    let axis = dims.len() as u8 - 2;
    let p = l.map(&dims, &[rows], |b, v| {
        let row = b.index(axis, DType::I32);
        let hit = b.compare(Op::Eq, v[0], row);
        b.cast(hit, dtype)
    })?;
    Ok(vec![p, l.cast(lower, dtype)?, l.cast(u, dtype)?])
}

fn without_matrix(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    Ok(vec![square(ctx.shape(0))?.0.iter().copied().collect()])
}

/// The diagonal of u, and the sign of the rows' order.
pub fn pivots(l: &mut Lower, x: Val) -> Result<(Val, Val)> {
    let Lu { u, sign, .. } = factored(l, x)?;
    Ok((taken(l, u, 0), sign))
}

fn times(l: &mut Lower, factors: Val, sign: Val) -> Result<Val> {
    let last = l.dims(factors).len() - 1;
    let product = l.reduce(factors, &[last], Combine::Value(Monoid::Prod), false);
    let dims = l.dims(product);
    l.map(&dims, &[product, sign], |b, v| b.binary(Op::Mul, v[0], v[1]))
}

fn det(l: &mut Lower) -> Result<Vec<Val>> {
    let x = native(l, 0)?;
    let (pivots, sign) = pivots(l, x)?;
    let det = times(l, pivots, sign)?;
    Ok(vec![l.cast(det, l.out_dtype(0))?])
}

fn slogdet_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = without_matrix(ctx)?;
    Ok([dims.clone(), dims].concat())
}

fn slogdet(l: &mut Lower) -> Result<Vec<Val>> {
    let x = native(l, 0)?;
    let (pivots, sign) = pivots(l, x)?;
    // Of a matrix with infinite elements there is no direction.
    let (dims, is_complex) = (l.dims(pivots), l.dtype(pivots).is_complex());
    let signs = if is_complex { l.map(&dims, &[pivots], |b, v| unit(b, v[0]))? } else { l.op("sign", &[pivots], |a| a)? };
    let sign = times(l, signs, sign)?;
    let sizes = l.op("abs", &[pivots], |a| a)?;
    let dims = l.dims(sizes);
    let logs = l.map(&dims, &[sizes], |b, v| b.call(MathFn::Log, v))?;
    let sum = l.sum(logs, dims.len() - 1, false);
    Ok(vec![l.cast(sign, l.out_dtype(0))?, l.cast(sum, l.out_dtype(1))?])
}

fn solve_triangular(l: &mut Lower) -> Result<Vec<Val>> {
    let Sides { mut a, b, .. } = sides(l)?;
    let (mut upper, unit) = (l.attrs().bool("upper"), l.attrs().bool("unitDiagonal"));
    if l.attrs().bool("transposed") {
        let rank = l.dims(a).len();
        let mut order: Vec<usize> = (0..rank).collect();
        order.swap(rank - 2, rank - 1);
        a = l.permute(a, &order);
        upper = !upper;
    }
    let (dims, dtype, out) = (l.dims(b), l.dtype(a), l.out_dims(0));
    let x = l.routine(Routine::Triangular { dtype, upper, unit }, &[a, b], &[dims])[0];
    let x = l.reshape(x, &out);
    Ok(vec![l.cast(x, l.out_dtype(0))?])
}

fn expm(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, dims) = (native(l, 0)?, l.out_dims(0));
    let out = l.routine(Routine::Expm(l.dtype(x)), &[x], &[dims])[0];
    Ok(vec![l.cast(out, l.out_dtype(0))?])
}

const UPPER: AttrDef = attr("upper", AttrKind::Bool(false));

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "cholesky", attrs: &[UPPER], shape: square_same, lower: Lowering::Graph(cholesky),
        errors: &[ErrorCase { call: "ft.linalg.cholesky(ft.zeros([2, 3]))", code: Code::Shape }, ErrorCase { call: "ft.linalg.cholesky(ft.tensor([[1, 2], [2, 1]])).toArray()", code: Code::LinAlg }],
        doc: doc("Lower triangle l with a positive diagonal whose product with its adjoint is the symmetric (Hermitian) positive definite matrix x, of which only the lower triangle is read; with upper the adjoint of l, from the upper triangle. Another matrix is a LinAlgError when the result is read.", "x = l @ l^H", "ft.linalg.cholesky(ft.tensor([[4, 2], [2, 2]])) // [[2, 0], [1, 1]]", "linalg.cholesky", "linalg.cholesky"), ..LINALG },
    OpDef { name: "lu", outputs: &["p", "l", "u"], dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Each(&[Out::Compute; 3])), shape: lu_shape, lower: Lowering::Graph(lu),
        errors: &[ErrorCase { call: "ft.linalg.lu(ft.zeros([2]))", code: Code::Shape }],
        doc: doc("A permutation, a lower triangle with a diagonal of ones, and an upper triangle, by elimination with partial pivoting.", "x = p @ l @ u", "ft.linalg.lu(ft.tensor([[1, 3], [2, 4]])).u // [[2, 4], [0, 1]]", "linalg.lu", "linalg.lu"), ..LINALG },
    OpDef { name: "det", shape: without_matrix, lower: Lowering::Graph(det),
        errors: &[ErrorCase { call: "ft.linalg.det(ft.zeros([2, 3]))", code: Code::Shape }],
        doc: doc("Determinants of square matrices, by LU; 1 of a matrix without rows.", "prod_i u_ii, times -1 for each exchange of rows", "ft.linalg.det(ft.tensor([[0, 2], [3, 0]])) // -6", "linalg.det", "linalg.det"), ..LINALG },
    OpDef { name: "slogdet", outputs: &["sign", "logabsdet"], dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Each(&[Out::Compute, Out::RealPart])), shape: slogdet_shape, lower: Lowering::Graph(slogdet),
        errors: &[ErrorCase { call: "ft.linalg.slogdet(ft.zeros([2, 3]))", code: Code::Shape }],
        doc: doc("Sign (of complex determinants the direction) and logarithm of the absolute value of the determinants of square matrices, where those themselves would overflow or vanish; 0 and -Infinity for a singular one.", "det x = sign exp(logabsdet)", "ft.linalg.slogdet(ft.tensor([[0, 1], [1, 0]])).sign // -1", "linalg.slogdet", "linalg.slogdet"), ..LINALG },
    OpDef { name: "solveTriangular", operands: &[tensor("x1"), tensor("x2")], attrs: &[UPPER, attr("unitDiagonal", AttrKind::Bool(false)), attr("transposed", AttrKind::Bool(false))], shape: solve_shape, lower: Lowering::Graph(solve_triangular),
        errors: &[ErrorCase { call: "ft.linalg.solveTriangular(ft.zeros([2, 3]), ft.zeros([2]))", code: Code::Shape }, ErrorCase { call: "ft.linalg.solveTriangular(ft.zeros([2, 2]), ft.ones([2])).toArray()", code: Code::LinAlg }],
        doc: doc("Solution of a system with a triangular matrix: the lower triangle of x1, or with upper the upper one, and nothing else of it is read; with unitDiagonal ones in place of its diagonal, with transposed the triangle's transpose; x2 is a vector or a stack of matrices. A zero on the diagonal is a LinAlgError when the result is read.", "tril(x1) @ out = x2", "ft.linalg.solveTriangular(ft.tensor([[2, 0], [1, 4]]), ft.tensor([2, 9])) // [1, 2]", "linalg.solve_triangular", "linalg.solve_triangular"), ..LINALG },
    OpDef { name: "expm", domain: Domain::Unit, shape: square_same, lower: Lowering::Graph(expm),
        errors: &[ErrorCase { call: "ft.linalg.expm(ft.zeros([2, 3]))", code: Code::Shape }],
        doc: doc("Exponentials of square matrices, by a Pade approximation with scaling and squaring.", "1 + x + x @ x / 2 + x @ x @ x / 6 + ...", "ft.linalg.expm(ft.tensor([[0, 1], [0, 0]])) // [[1, 1], [0, 1]]", "linalg.expm", "linalg.matrix_exp"), ..LINALG },
];

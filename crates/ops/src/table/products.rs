//! Products of vectors and of blocks, made of elementwise products, sums and the matrix product.

use super::exact;
use super::join::join;
use super::rows::{BASE, attr, doc, tensor};
use crate::def::{AttrKind, Domain, ErrorCase, Lowering, Namespace, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{Dims, Error, Result, layout};

/// Both operands in the promoted dtype.
pub fn pair(l: &mut Lower) -> Result<(Val, Val)> {
    let compute = l.compute();
    let (x, y) = (l.operand(0)?, l.operand(1)?);
    Ok((l.cast(x, compute)?, l.cast(y, compute)?))
}

fn multiplied(l: &mut Lower, x: Val, y: Val, dims: &[usize]) -> Result<Val> {
    l.map(dims, &[x, y], |b, v| b.binary(Op::Mul, v[0], v[1]))
}

fn outer_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    match (ctx.shape(0), ctx.shape(1)) {
        (&[m], &[n]) => Ok(vec![[m, n].into_iter().collect()]),
        (x, y) => Err(Error::shape(format!("takes two vectors, got shapes {x:?} and {y:?}; flatten with reshape([-1])"))),
    }
}

fn outer(l: &mut Lower) -> Result<Vec<Val>> {
    let ((x, y), dims) = (pair(l)?, l.out_dims(0));
    let column = l.reshape(x, &[dims[0], 1]);
    Ok(vec![multiplied(l, column, y, &dims)?])
}

fn inner_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    match (ctx.shape(0), ctx.shape(1)) {
        ([], other) | (other, []) => Ok(vec![other.iter().copied().collect()]),
        ([x @ .., m], [y @ .., n]) if m == n => Ok(vec![x.iter().chain(y).copied().collect()]),
        (x, y) => Err(Error::shape(format!("last axes differ: {x:?} and {y:?}"))),
    }
}

fn inner(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, y, dims) = (l.operand(0)?, l.operand(1)?, l.out_dims(0));
    if l.dims(x).is_empty() || l.dims(y).is_empty() {
        let product = exact::multiplied(l, &[x, y], l.compute(), (2, 1), |l, v| multiplied(l, v[0], v[1], &dims))?;
        return Ok(vec![product]);
    }
    let places = l.dims(x)[l.dims(x).len() - 1];
    let flat = |l: &mut Lower, v: Val| {
        let dims = l.dims(v);
        let k = dims[dims.len() - 1];
        let rows = dims[..dims.len() - 1].iter().product::<usize>();
        l.reshape(v, &[rows, k])
    };
    let (x, y) = (flat(l, x), flat(l, y));
    let y = l.permute(y, &[1, 0]);
    let product = exact::multiplied(l, &[x, y], l.compute(), (2, places), |l, v| {
        let product = l.contract(v[0], v[1]);
        Ok(l.reshape(product, &dims))
    });
    Ok(vec![product?])
}

/// The operands' common shape, and which of its axes is meant: as the standard wants, counted in both from the end.
fn common(x: &[usize], y: &[usize], at: i64) -> Result<(Dims, usize)> {
    let (all, back) = (layout::broadcast_shapes(x, y), x.len().min(y.len()));
    // An axis that both have is a negative one.
    let least = -(back as i64);
    if at >= 0 && x.len() == y.len() {
        let axis = shape::axis(at, back)?;
        return Ok((all?, axis));
    }
    if at < least || at >= 0 {
        return Err(Error::index(format!("axis {at} must be from {least} to -1 for shapes {x:?} and {y:?}")));
    }
    let all = all?;
    let axis = (all.len() as i64 + at) as usize;
    Ok((all, axis))
}

/// The size of an operand's axis, which is not broadcast.
fn sizes(x: &[usize], y: &[usize], rank: usize, axis: usize) -> (usize, usize) {
    let of = |d: &[usize]| d[d.len() - (rank - axis)];
    (of(x), of(y))
}

fn vecdot_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (x, y) = (ctx.shape(0), ctx.shape(1));
    let (all, axis) = common(x, y, ctx.attrs.int("axis"))?;
    let (m, n) = sizes(x, y, all.len(), axis);
    if m != n {
        return Err(Error::shape(format!("vectors of {m} and of {n} elements: {x:?} and {y:?}")));
    }
    Ok(vec![shape::reduced_dims(&all, &[axis], false)])
}

fn vecdot(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, y, compute) = (l.operand(0)?, l.operand(1)?, l.compute());
    let (all, axis) = common(&l.dims(x), &l.dims(y), l.attrs().int("axis"))?;
    let x = l.op("conj", &[x], |a| a)?;
    // Half floats multiply in the dtype they add in, and round once.
    let sum = exact::multiplied(l, &[x, y], compute.compute(), (2, all[axis]), |l, v| {
        let product = multiplied(l, v[0], v[1], &all)?;
        Ok(l.sum(product, axis, false))
    })?;
    Ok(vec![l.cast(sum, compute)?])
}

fn cross_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (x, y) = (ctx.shape(0), ctx.shape(1));
    let (all, axis) = common(x, y, ctx.attrs.int("axis"))?;
    if sizes(x, y, all.len(), axis) != (3, 3) {
        return Err(Error::shape(format!("the axis must have 3 elements in both operands: {x:?} and {y:?}")));
    }
    Ok(vec![all])
}

fn cross(l: &mut Lower) -> Result<Vec<Val>> {
    let ((x, y), dims) = (pair(l)?, l.out_dims(0));
    let (_, axis) = common(&l.dims(x), &l.dims(y), l.attrs().int("axis"))?;
    let (x, y) = (l.broadcast(x, &dims)?, l.broadcast(y, &dims)?);
    let wide = l.compute().compute();
    let mut part = dims.clone();
    part[axis] = 1;
    let mut parts = Vec::new();
    for i in 0..3 {
        let mut at = |v: Val, from: usize| l.narrow(v, axis, from % 3, 1);
        let factors = [at(x, i + 1), at(y, i + 2), at(x, i + 2), at(y, i + 1)];
        let difference = l.map(&part, &factors, |b, v| {
            let d = b.dtype(v[0]);
            let v: Vec<_> = v.iter().map(|&v| b.cast(v, wide)).collect();
            let (up, down) = (b.binary(Op::Mul, v[0], v[1]), b.binary(Op::Mul, v[2], v[3]));
            let out = b.binary(Op::Sub, up, down);
            b.cast(out, d)
        })?;
        parts.push(difference);
    }
    Ok(vec![join(l, axis, &parts)?])
}

/// Sizes with ones before them up to a rank.
fn padded(dims: &[usize], rank: usize) -> Vec<usize> {
    std::iter::repeat_n(1, rank - dims.len()).chain(dims.iter().copied()).collect()
}

fn kron_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (x, y) = (ctx.shape(0), ctx.shape(1));
    let rank = x.len().max(y.len());
    if 2 * rank > layout::MAX_RANK {
        return Err(Error::shape(format!("takes tensors of up to {} axes, got {rank}", layout::MAX_RANK / 2)));
    }
    let sizes = padded(x, rank).into_iter().zip(padded(y, rank));
    let product = |(m, n): (usize, usize)| m.checked_mul(n).ok_or_else(|| Error::shape("size overflows"));
    Ok(vec![sizes.map(product).collect::<Result<Dims>>()?])
}

fn kron(l: &mut Lower) -> Result<Vec<Val>> {
    let ((x, y), dims) = (pair(l)?, l.out_dims(0));
    let (m, n) = (padded(&l.dims(x), dims.len()), padded(&l.dims(y), dims.len()));
    let between =
        |a: &[usize], first: bool| -> Vec<usize> { a.iter().flat_map(|&d| if first { [d, 1] } else { [1, d] }).collect() };
    let (x, y) = (l.reshape(x, &between(&m, true)), l.reshape(y, &between(&n, false)));
    let blocks: Vec<usize> = m.iter().zip(&n).flat_map(|(&m, &n)| [m, n]).collect();
    let product = multiplied(l, x, y, &blocks)?;
    Ok(vec![l.reshape(product, &dims)])
}

const PRODUCT: OpDef = OpDef {
    operands: &[tensor("x1"), tensor("x2")],
    dtype: DTypeRule::new(Class::Numeric, Compute::Promote, Out::Compute),
    domain: Domain::Special,
    ..BASE
};
/// Small integers multiply and add up in 32 bits, as in sums.
const SUMS: DTypeRule = DTypeRule::new(Class::Numeric, Compute::Sum, Out::Compute);
const ALONG: OpDef = OpDef { attrs: &[attr("axis", AttrKind::Int(Some(-1)))], also: &[Namespace::Linalg], ..PRODUCT };

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "vecdot", dtype: SUMS, shape: vecdot_shape, lower: Lowering::Graph(vecdot),
        errors: &[ErrorCase { call: "ft.zeros([3]).vecdot(ft.zeros([1]))", code: Code::Shape }, ErrorCase { call: "ft.zeros([2, 3]).vecdot(ft.zeros([3]), 0)", code: Code::Index }],
        doc: doc("Dot products of vectors along an axis, the other axes broadcast; complex numbers of x1 are conjugated. In operands of different rank the axis is counted from the end. Small integers give 32 bits, as in sum; a result that its dtype does not hold is a DTypeError when it is read.", "sum_i conj(x1_i) x2_i", "ft.tensor([[1, 2], [3, 4]]).vecdot(ft.tensor([1, 1])) // [3, 7]", "vecdot", "linalg.vecdot"), ..ALONG },
    OpDef { name: "cross", shape: cross_shape, lower: Lowering::Graph(cross),
        errors: &[ErrorCase { call: "ft.zeros([2]).cross(ft.zeros([2]))", code: Code::Shape }, ErrorCase { call: "ft.zeros([3]).cross(ft.zeros([3]), { axis: 1 })", code: Code::Index }],
        doc: doc("Cross products of vectors of 3 elements along an axis, the other axes broadcast.", "(x1_1 x2_2 - x1_2 x2_1, x1_2 x2_0 - x1_0 x2_2, x1_0 x2_1 - x1_1 x2_0)", "ft.tensor([1, 2, 3]).cross(ft.tensor([4, 5, 6])) // [-3, 6, -3]", "cross", "linalg.cross"), ..ALONG },
    OpDef { name: "outer", also: &[Namespace::Linalg], shape: outer_shape, lower: Lowering::Graph(outer),
        errors: &[ErrorCase { call: "ft.zeros([2, 2]).outer(ft.zeros([2]))", code: Code::Shape }],
        doc: doc("Products of each element of one vector with each of another.", "out_ij = x1_i x2_j", "ft.tensor([1, 2]).outer(ft.tensor([3, 4])) // [[3, 4], [6, 8]]", "outer", "outer"), ..PRODUCT },
    OpDef { name: "inner", dtype: SUMS, shape: inner_shape, lower: Lowering::Graph(inner),
        errors: &[ErrorCase { call: "ft.zeros([2, 3]).inner(ft.zeros([2]))", code: Code::Shape }],
        doc: doc("Sums of products over the last axes of both tensors; the product with a tensor of rank 0. Nothing is conjugated. Small integers give 32 bits, as in sum; a result that its dtype does not hold is a DTypeError when it is read.", "out_ij = sum_k x1_ik x2_jk", "ft.tensor([[1, 2], [3, 4]]).inner(ft.tensor([1, 1])) // [3, 7]", "inner", "inner"), ..PRODUCT },
    OpDef { name: "kron", shape: kron_shape, lower: Lowering::Graph(kron),
        errors: &[ErrorCase { call: "ft.zeros(Array(17).fill(1)).kron(ft.zeros([1]))", code: Code::Shape }, ErrorCase { call: "ft.zeros([2 ** 30, 0]).kron(ft.zeros([2 ** 30, 0]))", code: Code::Shape }],
        doc: doc("Kronecker product: x2 as a block at the place of each element of x1, times that element; the tensor of lower rank is seen with axes of size 1 before its own.", "out_(i n + j) = x1_i x2_j", "ft.tensor([1, 2]).kron(ft.tensor([3, 4])) // [3, 4, 6, 8]", "kron", "kron"), ..PRODUCT },
];

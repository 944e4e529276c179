//! Tensors out of nothing.

use super::rows::{BASE, arg, attr, doc, weak};
use crate::def::{AttrDef, AttrKind, ErrorCase, Form, Lowering, OpDef, ParamDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::scalar::{Builder, Op, Value};
use ferrotensor_core::{DType, Dims, Error, Result, layout};
use smallvec::{SmallVec, smallvec};

fn shape_attr(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    Ok(vec![SmallVec::from_slice(ctx.attrs.shape("shape"))])
}

fn size(ctx: &ShapeCtx, name: &str) -> Result<usize> {
    let n = ctx.attrs.int(name);
    usize::try_from(n).map_err(|_| Error::shape(format!("{name} {n} is negative")))
}

fn length(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    Ok(vec![smallvec![size(ctx, "length")?]])
}

fn constant(l: &mut Lower, value: f64) -> Result<Vec<Val>> {
    let (dims, dtype) = (l.out_dims(0), l.out_dtype(0));
    Ok(vec![l.map(&dims, &[], |b, _| real_as(b, value, dtype))?])
}

/// A constant of any dtype, complex too.
fn real_as(b: &mut Builder, value: f64, dtype: DType) -> Value {
    let real = b.lit(dtype.info().real, value);
    b.cast(real, dtype)
}

/// `start + i * step`: integers count in int64, everything else in float64, rounded once to the result.
fn arange(l: &mut Lower) -> Result<Vec<Val>> {
    let (dims, dtype) = (l.out_dims(0), l.out_dtype(0));
    let wide = if dtype.is_integer() { DType::I64 } else { DType::F64 };
    let params = [l.param(0, wide), l.param(1, wide)];
    Ok(vec![l.map_with(&dims, &[], &params, |b, p| {
        let i = b.index(0, DType::I64);
        let i = b.cast(i, wide);
        let far = b.binary(Op::Mul, i, p[1]);
        let value = b.binary(Op::Add, p[0], far);
        b.cast(value, dtype)
    })?])
}

/// `start + i * (stop - start) / (n - 1)` in float64, the last element exactly `stop`.
fn linspace(l: &mut Lower) -> Result<Vec<Val>> {
    let (dims, dtype) = (l.out_dims(0), l.out_dtype(0));
    let last = dims[0].saturating_sub(1).max(1) as f64;
    let params = [l.param(0, DType::F64), l.param(1, DType::F64)];
    Ok(vec![l.map_with(&dims, &[], &params, |b, p| {
        let i = b.index(0, DType::I64);
        let i = b.cast(i, DType::F64);
        let n = b.lit(DType::F64, last);
        let width = b.binary(Op::Sub, p[1], p[0]);
        let step = b.binary(Op::Div, width, n);
        let far = b.binary(Op::Mul, i, step);
        let value = b.binary(Op::Add, p[0], far);
        let zero = b.lit(DType::F64, 0.0);
        let (at_end, inside) = (b.compare(Op::Eq, i, n), b.compare(Op::Ne, i, zero));
        let end = b.binary(Op::And, at_end, inside);
        let value = b.select(end, p[1], value);
        b.cast(value, dtype)
    })?])
}

fn eye_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let rows = size(ctx, "rows")?;
    let cols = if ctx.attrs.opt_int("cols").is_some() { size(ctx, "cols")? } else { rows };
    Ok(vec![smallvec![rows, cols]])
}

fn eye(l: &mut Lower) -> Result<Vec<Val>> {
    let (dims, dtype, k) = (l.out_dims(0), l.out_dtype(0), l.param(0, DType::I64));
    Ok(vec![l.map_with(&dims, &[], &[k], |b, p| {
        let (row, col) = (b.index(0, DType::I64), b.index(1, DType::I64));
        let diagonal = b.binary(Op::Add, row, p[0]);
        let hit = b.compare(Op::Eq, diagonal, col);
        b.cast(hit, dtype)
    })?])
}

fn full_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (value, dims) = (ctx.shape(0), ctx.attrs.shape("shape"));
    match layout::broadcast_shapes(value, dims) {
        Ok(all) if all.as_slice() == dims => shape_attr(ctx),
        _ => Err(Error::shape(format!("a fill value of shape {value:?} does not broadcast to {dims:?}"))),
    }
}

const SHAPE: AttrDef = arg("shape", AttrKind::Shape);
const DTYPE: AttrDef = attr("dtype", AttrKind::OptDType);
const DEVICE: AttrDef = attr("device", AttrKind::Device);
const NEW: OpDef = OpDef {
    form: Form::Function,
    operands: &[],
    attrs: &[SHAPE, DTYPE, DEVICE],
    dtype: DTypeRule::new(Class::Any, Compute::Own, Out::AttrOr(DType::F32)),
    shape: shape_attr,
    errors: &[
        ErrorCase { call: "ft.zeros([-1])", code: Code::Shape },
        ErrorCase { call: "ft.zeros([1.5])", code: Code::Argument },
        ErrorCase { call: "ft.zeros([2 ** 40, 2 ** 40])", code: Code::Shape },
    ],
    ..BASE
};
const COUNTED: OpDef = OpDef {
    form: Form::Internal,
    attrs: &[attr("length", AttrKind::Int(None)), DTYPE, DEVICE],
    shape: length,
    errors: &[],
    ..NEW
};
const START: ParamDef = ParamDef { name: "start", default: None, integer: false };
const STEP: ParamDef = ParamDef { name: "step", default: None, integer: false };
const STOP: ParamDef = ParamDef { name: "stop", default: None, integer: false };

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "zeros", lower: Lowering::Graph(|l| constant(l, 0.0)),
        doc: doc("Zeros of a shape, float32 unless told otherwise.", "0", "ft.zeros([2]) // [0, 0]", "zeros", "zeros"), ..NEW },
    OpDef { name: "ones", lower: Lowering::Graph(|l| constant(l, 1.0)),
        doc: doc("Ones of a shape, float32 unless told otherwise.", "1", "ft.ones([2]) // [1, 1]", "ones", "ones"), ..NEW },
    OpDef { name: "empty", lower: Lowering::Graph(|l| constant(l, 0.0)),
        doc: doc("A tensor of a shape whose values do not matter (zeros: memory of others is never shown).", "0", "ft.empty([2]) // [0, 0]", "empty", "empty"), ..NEW },
    OpDef { name: "full", operands: &[weak("fillValue")], shape: full_shape, dtype: DTypeRule::new(Class::Any, Compute::AttrOrPromote, Out::Compute),
        lower: Lowering::Graph(|l| { let (v, dims, d) = (l.operand(0)?, l.out_dims(0), l.out_dtype(0)); let v = l.cast(v, d)?; Ok(vec![l.map(&dims, &[v], |_, x| x[0])?]) }),
        errors: &[ErrorCase { call: "ft.full([2], 0.5, { dtype: 'int32' })", code: Code::DType }, ErrorCase { call: "ft.full([2], ft.ones([3]))", code: Code::Shape }],
        doc: doc("One value in every element; a number gives float32, a bigint int64, a boolean bool, unless told otherwise.", "fillValue", "ft.full([2], 7) // [7, 7]", "full", "full"), ..NEW },
    OpDef { name: "eye", attrs: &[arg("rows", AttrKind::Int(None)), attr("cols", AttrKind::OptAxis), DTYPE, DEVICE], params: &[ParamDef { name: "k", default: Some(0.0), integer: true }],
        shape: eye_shape, lower: Lowering::Graph(eye), errors: &[ErrorCase { call: "ft.eye(-1)", code: Code::Shape }, ErrorCase { call: "ft.eye(2, { k: 0.5 })", code: Code::Argument }],
        doc: doc("Ones on the k-th diagonal, zeros elsewhere.", "out_ij = (j - i == k)", "ft.eye(2) // [[1, 0], [0, 1]]", "eye", "eye"), ..NEW },
    OpDef { name: "arange", params: &[START, STEP], lower: Lowering::Graph(arange),
        doc: doc("Equally spaced numbers, behind `ft.arange`.", "start + i * step", "", "arange", "arange"), ..COUNTED },
    OpDef { name: "linspace", params: &[START, STOP], lower: Lowering::Graph(linspace),
        doc: doc("Equally spaced numbers between two ends, behind `ft.linspace`.", "start + i * (stop - start) / (n - 1)", "", "linspace", "linspace"), ..COUNTED },
];

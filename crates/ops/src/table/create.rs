//! Tensors out of nothing.

use super::rows::{BASE, arg, attr, doc, weak};
use crate::def::{AttrDef, AttrKind, ErrorCase, Form, Lowering, OpDef, ParamDef, ParamKind};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};
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

/// `start + i * (stop - start) / n` in float64, `n` being the number of steps; with `endpoint` the last element is exactly
/// `stop`.
fn spaced(l: &mut Lower, dtype: DType) -> Result<Val> {
    let (dims, endpoint) = (l.out_dims(0), l.attrs().bool("endpoint"));
    let steps = (dims[0] - usize::from(endpoint && dims[0] > 0)).max(1) as f64;
    let params = [l.param(0, DType::F64), l.param(1, DType::F64)];
    l.map_with(&dims, &[], &params, |b, p| {
        let i = b.index(0, DType::I64);
        let i = b.cast(i, DType::F64);
        let n = b.lit(DType::F64, steps);
        let width = b.binary(Op::Sub, p[1], p[0]);
        let step = b.binary(Op::Div, width, n);
        let far = b.binary(Op::Mul, i, step);
        let mut value = b.binary(Op::Add, p[0], far);
        if endpoint {
            let end = b.compare(Op::Eq, i, n);
            value = b.select(end, p[1], value);
        }
        b.cast(value, dtype)
    })
}

fn linspace(l: &mut Lower) -> Result<Vec<Val>> {
    let dtype = l.out_dtype(0);
    Ok(vec![spaced(l, dtype)?])
}

/// `base ^ linspace(start, stop)`, in float64.
fn logspace(l: &mut Lower) -> Result<Vec<Val>> {
    let (dims, dtype, base) = (l.out_dims(0), l.out_dtype(0), l.param(2, DType::F64));
    let exponents = spaced(l, DType::F64)?;
    Ok(vec![l.map_with(&dims, &[exponents], &[base], |b, v| {
        let power = b.call(MathFn::Pow, &[v[1], v[0]]);
        b.cast(power, dtype)
    })?])
}

/// Elements whose column compares like this with that of the k-th diagonal; zero elsewhere.
fn triangle(l: &mut Lower, keeps: fn(&mut Builder, Value, Value) -> Value) -> Result<Vec<Val>> {
    let (x, dims, dtype, k) = (l.operand(0)?, l.out_dims(0), l.out_dtype(0), l.param(0, DType::I64));
    let rank = dims.len() as u8;
    Ok(vec![l.map_with(&dims, &[x], &[k], |b, v| {
        let (row, col) = (b.index(rank - 2, DType::I64), b.index(rank - 1, DType::I64));
        let diagonal = b.binary(Op::Add, row, v[1]);
        let kept = keeps(b, col, diagonal);
        let zero = real_as(b, 0.0, dtype);
        b.select(kept, v[0], zero)
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
/// Numbers between two ends, the second one included or not.
const SPACED: OpDef = OpDef {
    attrs: &[attr("length", AttrKind::Int(None)), DTYPE, DEVICE, attr("endpoint", AttrKind::Bool(true))],
    ..COUNTED
};
const TRIANGLE: OpDef = OpDef { params: &[DIAGONAL], shape: shape::matrix, ..BASE };
const DIAGONAL: ParamDef = ParamDef { name: "k", default: Some(0.0), kind: ParamKind::Integer };
const BASE_OF_POWERS: ParamDef = ParamDef { name: "base", default: Some(10.0), kind: ParamKind::Number };
const START: ParamDef = ParamDef { name: "start", default: None, kind: ParamKind::Number };
const STEP: ParamDef = ParamDef { name: "step", default: None, kind: ParamKind::Number };
const STOP: ParamDef = ParamDef { name: "stop", default: None, kind: ParamKind::Number };

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "zeros", lower: Lowering::Graph(|l| constant(l, 0.0)),
        doc: doc("Zeros of a shape, float32 by default.", "0", "ft.zeros([2]) // [0, 0]", "zeros", "zeros"), ..NEW },
    OpDef { name: "ones", lower: Lowering::Graph(|l| constant(l, 1.0)),
        doc: doc("Ones of a shape, float32 by default.", "1", "ft.ones([2]) // [1, 1]", "ones", "ones"), ..NEW },
    OpDef { name: "empty", lower: Lowering::Graph(|l| constant(l, 0.0)),
        doc: doc("A tensor of a shape whose values do not matter (zeros: memory of others is never shown).", "0", "ft.empty([2]) // [0, 0]", "empty", "empty"), ..NEW },
    OpDef { name: "full", operands: &[weak("fillValue")], shape: full_shape, dtype: DTypeRule::new(Class::Any, Compute::AttrOrPromote, Out::Compute),
        lower: Lowering::Graph(|l| { let (v, dims, d) = (l.operand(0)?, l.out_dims(0), l.out_dtype(0)); let v = l.cast(v, d)?; Ok(vec![l.map(&dims, &[v], |_, x| x[0])?]) }),
        errors: &[ErrorCase { call: "ft.full([2], 0.5, { dtype: 'int32' })", code: Code::DType }, ErrorCase { call: "ft.full([2], ft.ones([3]))", code: Code::Shape }],
        doc: doc("One value in every element; a number gives float32, a bigint int64, a boolean bool by default.", "fillValue", "ft.full([2], 7) // [7, 7]", "full", "full"), ..NEW },
    OpDef { name: "eye", attrs: &[arg("rows", AttrKind::Int(None)), attr("cols", AttrKind::OptAxis), DTYPE, DEVICE], params: &[DIAGONAL],
        shape: eye_shape, lower: Lowering::Graph(eye), errors: &[ErrorCase { call: "ft.eye(-1)", code: Code::Shape }, ErrorCase { call: "ft.eye(2, { k: 0.5 })", code: Code::Argument }],
        doc: doc("Ones on the k-th diagonal, zeros elsewhere.", "out_ij = (j - i == k)", "ft.eye(2) // [[1, 0], [0, 1]]", "eye", "eye"), ..NEW },
    OpDef { name: "arange", params: &[START, STEP], lower: Lowering::Graph(arange),
        doc: doc("Equally spaced numbers, behind ft.arange.", "start + i * step", "", "arange", "arange"), ..COUNTED },
    OpDef { name: "linspace", params: &[START, STOP], lower: Lowering::Graph(linspace),
        doc: doc("Equally spaced numbers between two ends, behind ft.linspace.", "start + i * (stop - start) / (n - 1)", "", "linspace", "linspace"), ..SPACED },
    OpDef { name: "logspace", params: &[START, STOP, BASE_OF_POWERS], lower: Lowering::Graph(logspace),
        doc: doc("Powers with equally spaced exponents, behind ft.logspace.", "base ^ (start + i * (stop - start) / (n - 1))", "", "logspace", "logspace"), ..SPACED },
    OpDef { name: "tril", lower: Lowering::Graph(|l| triangle(l, |b, col, diagonal| b.compare(Op::Le, col, diagonal))),
        errors: &[ErrorCase { call: "ft.zeros([2]).tril()", code: Code::Shape }, ErrorCase { call: "ft.zeros([2, 2]).tril({ k: 0.5 })", code: Code::Argument }],
        doc: doc("Elements on and below the k-th diagonal of the last two axes, zero above.", "out_ij = j <= i + k ? x_ij : 0", "ft.ones([2, 2]).tril() // [[1, 0], [1, 1]]", "tril", "tril"), ..TRIANGLE },
    OpDef { name: "triu", lower: Lowering::Graph(|l| triangle(l, |b, col, diagonal| b.compare(Op::Le, diagonal, col))),
        errors: &[ErrorCase { call: "ft.zeros([2]).triu()", code: Code::Shape }, ErrorCase { call: "ft.zeros([2, 2]).triu({ k: 0.5 })", code: Code::Argument }],
        doc: doc("Elements on and above the k-th diagonal of the last two axes, zero below.", "out_ij = j >= i + k ? x_ij : 0", "ft.ones([2, 2]).triu() // [[1, 1], [0, 1]]", "triu", "triu"), ..TRIANGLE },
];

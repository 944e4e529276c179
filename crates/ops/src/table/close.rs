//! Whether tensors are equal, nearly or exactly.

use super::rows::{BASE, attr, binary, doc, tensor};
use super::unary::{is_infinite, size};
use crate::def::{AttrDef, AttrKind, ErrorCase, Lowering, OpDef, ParamDef, ParamKind};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Combine, Monoid};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Dims, Result, layout};

/// `|x - y| <= atol + rtol |y|`; equal infinities are close, and on request NaNs.
fn close(l: &mut Lower) -> Result<Val> {
    let compute = l.compute();
    let (x, y) = (l.operand(0)?, l.operand(1)?);
    let dims = layout::broadcast_shapes(&l.dims(x), &l.dims(y))?;
    let (equal_nan, part) = (l.attrs().bool("equalNan"), compute.compute().info().real);
    let params = [l.param(0, part), l.param(1, part)];
    // Half floats are compared in float32.
    let wide = compute.compute();
    l.map_with(&dims, &[x, y], &params, |b, v| {
        let (x, y) = (b.cast(v[0], wide), b.cast(v[1], wide));
        let gap = b.binary(Op::Sub, x, y);
        let (gap, of) = (size(b, gap), size(b, y));
        let relative = b.binary(Op::Mul, v[2], of);
        let allowed = b.binary(Op::Add, v[3], relative);
        let (near, infinite) = (b.compare(Op::Le, gap, allowed), is_infinite(b, y));
        let finite = b.unary(Op::Not, infinite);
        let (near, equal) = (b.binary(Op::And, near, finite), b.compare(Op::Eq, x, y));
        let out = b.binary(Op::Or, near, equal);
        if !equal_nan {
            return out;
        }
        let (x_nan, y_nan) = (b.compare(Op::Ne, x, x), b.compare(Op::Ne, y, y));
        let both = b.binary(Op::And, x_nan, y_nan);
        b.binary(Op::Or, out, both)
    })
}

/// Whether every element of a bool value is true.
fn all(l: &mut Lower, truth: Val) -> Val {
    let axes: Vec<usize> = (0..l.dims(truth).len()).collect();
    l.reduce(truth, &axes, Combine::Value(Monoid::All), false)
}

fn array_equal(l: &mut Lower) -> Result<Vec<Val>> {
    let compute = l.compute();
    let (x, y) = (l.operand(0)?, l.operand(1)?);
    let dims = l.dims(x);
    if dims != l.dims(y) {
        return Ok(vec![l.map(&[], &[], |b, _| b.lit(DType::Bool, 0.0))?]);
    }
    let equal_nan = l.attrs().bool("equalNan");
    let equal = l.map(&dims, &[x, y], |b, v| {
        let (x, y) = (b.cast(v[0], compute), b.cast(v[1], compute));
        let equal = b.compare(Op::Eq, x, y);
        if !equal_nan {
            return equal;
        }
        let (x_nan, y_nan) = (b.compare(Op::Ne, x, x), b.compare(Op::Ne, y, y));
        let both = b.binary(Op::And, x_nan, y_nan);
        b.binary(Op::Or, equal, both)
    })?;
    Ok(vec![all(l, equal)])
}

/// One truth value, of operands that broadcast.
fn one(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    crate::shape::broadcast(ctx)?;
    Ok(vec![Dims::new()])
}

const EQUAL_NAN: &[AttrDef] = &[attr("equalNan", AttrKind::Bool(false))];
const TOLERANCES: &[ParamDef] = &[
    ParamDef { name: "rtol", default: Some(1e-5), kind: ParamKind::Number },
    ParamDef { name: "atol", default: Some(1e-8), kind: ParamKind::Number },
];
const CLOSE: OpDef = OpDef {
    attrs: EQUAL_NAN,
    params: TOLERANCES,
    errors: &[ErrorCase { call: "ft.zeros([2]).isclose(ft.zeros([3]))", code: Code::Shape }],
    ..binary(Class::Any, Compute::Float, Out::Bool)
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "isclose", lower: Lowering::Graph(|l| Ok(vec![close(l)?])),
        doc: doc("Whether elements are equal within a relative and an absolute tolerance; infinities only where they are equal, NaN only with equalNan.", "|x1 - x2| <= atol + rtol |x2|", "ft.tensor([1, 2]).isclose(ft.tensor([1.000001, 2.1])) // [true, false]", "isclose", "isclose"), ..CLOSE },
    OpDef { name: "allclose", shape: one, lower: Lowering::Graph(|l| { let near = close(l)?; Ok(vec![all(l, near)]) }),
        doc: doc("Whether all elements are equal within a relative and an absolute tolerance, as isclose.", "and_i |x1_i - x2_i| <= atol + rtol |x2_i|", "ft.tensor([1, 2]).allclose(ft.tensor([1.000001, 2])) // true", "allclose", "allclose"), ..CLOSE },
    OpDef { name: "arrayEqual", operands: &[tensor("x1"), tensor("x2")], attrs: EQUAL_NAN, shape: |_| Ok(vec![Dims::new()]), lower: Lowering::Graph(array_equal),
        dtype: DTypeRule::new(Class::Any, Compute::Promote, Out::Bool),
        doc: doc("Whether two tensors have the same shape and equal elements; NaN equals NaN only with equalNan.", "shape(x1) = shape(x2) and and_i x1_i = x2_i", "ft.tensor([1, 2]).arrayEqual(ft.tensor([1, 2])) // true", "array_equal", "equal"), ..BASE },
];

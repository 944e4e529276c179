//! Derivatives, integrals and values between samples.

use super::join::join;
use super::lookup::positions;
use super::rows::{BASE, attr, doc, optional, optional_tensor, tensor};
use super::statistics::{first_dtype, may_overflow, midpoint};
use super::unary::is_finite;
use crate::def::{AttrDef, AttrKind, Domain, ErrorCase, Lowering, OpDef, ParamDef, ParamKind};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::scalar::{Builder, Op, Value};
use ferrotensor_core::{DType, Dims, Error, Result};

/// The samples of a call in the dtype they are computed in, float32 for half floats, and the axis along which they lie.
fn samples(l: &mut Lower) -> Result<(Val, usize)> {
    let (x, acc) = (l.operand(0)?, l.compute().compute());
    let axis = shape::axis(l.attrs().int("axis"), l.dims(x).len())?;
    Ok((l.cast(x, acc)?, axis))
}

/// The coordinates of the samples, shaped to broadcast with them along the axis.
fn coordinates(l: &mut Lower, operand: usize, rank: usize, axis: usize) -> Result<Val> {
    let (x, acc) = (l.operand(operand)?, l.compute().compute());
    let mut dims = vec![1; rank];
    dims[axis] = l.dims(x)[0];
    let x = l.cast(x, acc)?;
    Ok(l.reshape(x, &dims))
}

/// That the coordinates, where there are any, are one for each sample.
fn check_coordinates(ctx: &ShapeCtx, operand: usize, samples: usize) -> Result<()> {
    match ctx.dims.get(operand).and_then(|d| d.as_ref()) {
        Some(dims) if dims.as_slice() != [samples] => {
            Err(Error::shape(format!("{samples} samples need as many coordinates, got shape {:?}", dims.as_slice())))
        }
        _ => Ok(()),
    }
}

fn gradient_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = ctx.shape(0);
    let axis = shape::axis(ctx.attrs.int("axis"), dims.len())?;
    let least = 2 + ctx.attrs.int("edgeOrder") as usize;
    if dims[axis] < least {
        return Err(Error::shape(format!("needs at least {least} samples along axis {axis}, got shape {dims:?}")));
    }
    check_coordinates(ctx, 1, dims[axis])?;
    shape::same(ctx)
}

/// The derivative at one of three neighbouring samples, by the parabola through them. `h` and `k` are the distances between them.
fn slope(b: &mut Builder, y: [Value; 3], h: Value, k: Value, at: usize) -> Value {
    let d = b.dtype(y[0]);
    let (sum, two) = (b.binary(Op::Add, h, k), b.lit(d, 2.0));
    let (first, second) = {
        let (up, down) = (b.binary(Op::Sub, y[1], y[0]), b.binary(Op::Sub, y[2], y[1]));
        (b.binary(Op::Div, up, h), b.binary(Op::Div, down, k))
    };
    // Slopes of both halves, weighed by how far each is from the sample.
    let weighed = |b: &mut Builder, near: Value, far: Value, near_weight: Value, far_weight: Value| {
        let (x, y) = (b.binary(Op::Mul, near, near_weight), b.binary(Op::Mul, far, far_weight));
        let total = if at == 1 { b.binary(Op::Add, x, y) } else { b.binary(Op::Sub, x, y) };
        b.binary(Op::Div, total, sum)
    };
    match at {
        0 => {
            let double = b.binary(Op::Mul, two, h);
            let weight = b.binary(Op::Add, double, k);
            weighed(b, first, second, weight, h)
        }
        1 => weighed(b, first, second, k, h),
        _ => {
            let double = b.binary(Op::Mul, two, k);
            let weight = b.binary(Op::Add, double, h);
            weighed(b, second, first, weight, k)
        }
    }
}

/// Differences of neighbours along an axis.
fn steps(l: &mut Lower, x: Val, axis: usize) -> Result<Val> {
    let n = l.dims(x)[axis];
    let (later, earlier) = (l.narrow(x, axis, 1, n - 1), l.narrow(x, axis, 0, n - 1));
    let dims = l.dims(later);
    l.map(&dims, &[later, earlier], |b, v| b.binary(Op::Sub, v[0], v[1]))
}

fn gradient(l: &mut Lower) -> Result<Vec<Val>> {
    let (y, axis) = samples(l)?;
    let (dims, d, second_order) = (l.dims(y), l.dtype(y), l.attrs().int("edgeOrder") == 1);
    let n = dims[axis];
    let gaps = if l.is_absent(1) {
        let mut one = vec![1; dims.len()];
        one[axis] = n - 1;
        let spacing = l.param(0, d);
        l.map_with(&one, &[], &[spacing], |_, v| v[0])?
    } else {
        let x = coordinates(l, 1, dims.len(), axis)?;
        steps(l, x, axis)?
    };
    // Three neighbours from `start` on, `len` times, and the distances between them.
    let parabola = |l: &mut Lower, start: usize, len: usize, at: usize| -> Result<Val> {
        let y = [0, 1, 2].map(|i| l.narrow(y, axis, start + i, len));
        let gaps = [0, 1].map(|i| l.narrow(gaps, axis, start + i, len));
        let part = l.dims(y[0]);
        l.map(&part, &[y[0], y[1], y[2], gaps[0], gaps[1]], |b, v| slope(b, [v[0], v[1], v[2]], v[3], v[4], at))
    };
    let edge = |l: &mut Lower, start: usize| -> Result<Val> {
        let (y, gap) = ([0, 1].map(|i| l.narrow(y, axis, start + i, 1)), l.narrow(gaps, axis, start, 1));
        let part = l.dims(y[0]);
        l.map(&part, &[y[0], y[1], gap], |b, v| {
            let rise = b.binary(Op::Sub, v[1], v[0]);
            b.binary(Op::Div, rise, v[2])
        })
    };
    let (first, last) =
        if second_order { (parabola(l, 0, 1, 0)?, parabola(l, n - 3, 1, 2)?) } else { (edge(l, 0)?, edge(l, n - 2)?) };
    let parts = if n > 2 { vec![first, parabola(l, 0, n - 2, 1)?, last] } else { vec![first, last] };
    let gradient = join(l, axis, &parts)?;
    Ok(vec![l.cast(gradient, l.out_dtype(0))?])
}

fn trapezoid_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = ctx.shape(0);
    let axis = shape::axis(ctx.attrs.int("axis"), dims.len())?;
    check_coordinates(ctx, 1, dims[axis])?;
    Ok(vec![shape::reduced_dims(dims, &[axis], false)])
}

fn trapezoid(l: &mut Lower) -> Result<Vec<Val>> {
    let ((y, axis), of, out) = (samples(l)?, first_dtype(l)?, l.out_dtype(0));
    let (dims, d) = (l.dims(y), l.dtype(y));
    if dims[axis] < 2 {
        let dims = l.out_dims(0);
        return Ok(vec![l.map(&dims, &[], |b, _| b.lit(out, 0.0))?]);
    }
    let n = dims[axis];
    let (later, earlier) = (l.narrow(y, axis, 1, n - 1), l.narrow(y, axis, 0, n - 1));
    let gaps = if l.is_absent(1) {
        None
    } else {
        let x = coordinates(l, 1, dims.len(), axis)?;
        Some(steps(l, x, axis)?)
    };
    let operands: Vec<Val> = [later, earlier].into_iter().chain(gaps).collect();
    let (part, spacing) = (l.dims(later), l.param(0, d));
    let areas = l.map_with(&part, &operands, &[spacing], |b, v| {
        // The row's number follows the operands: it stands for the gaps where there are none.
        let (mean, gap) = (midpoint(b, v[0], v[1], of), v[2]);
        b.binary(Op::Mul, mean, gap)
    })?;
    let area = l.sum(areas, axis, false);
    Ok(vec![l.cast(area, out)?])
}

fn interp_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (xp, fp) = (ctx.shape(1), ctx.shape(2));
    match xp {
        [n] if *n > 0 && fp == xp => {}
        _ => {
            return Err(Error::shape(format!(
                "samples and their coordinates are vectors of one size, got {fp:?} at {xp:?}"
            )));
        }
    }
    for operand in 3..5 {
        if ctx.dims.get(operand).and_then(|d| d.as_ref()).is_some_and(|d| !d.is_empty()) {
            return Err(Error::shape(format!("'{}' must be one number", ctx.op.operands[operand].name)));
        }
    }
    shape::same(ctx)
}

/// A value on the line through two samples, from the second where it is NaN from the first: one of them is infinite.
fn or_from_second(b: &mut Builder, value: Value, [x, x1, y1]: [Value; 3], slope: Value) -> Value {
    let back = b.binary(Op::Sub, x, x1);
    let down = b.binary(Op::Mul, slope, back);
    let (from_second, number) = (b.binary(Op::Add, y1, down), b.compare(Op::Eq, value, value));
    b.select(number, value, from_second)
}

/// A value on the line through two samples, by halves where their distance, in either direction, or the slope overflows.
fn or_by_halves(b: &mut Builder, value: Value, [x, x0, x1, y0, y1]: [Value; 5], [run, slope]: [Value; 2]) -> Value {
    let (half, one) = (b.lit(b.dtype(x), 0.5), b.lit(b.dtype(x), 1.0));
    let [x, x0, x1, u, v] = [x, x0, x1, y0, y1].map(|end| b.binary(Op::Mul, end, half));
    let (way, whole, rise) = (b.binary(Op::Sub, x, x0), b.binary(Op::Sub, x1, x0), b.binary(Op::Sub, v, u));
    let share = b.binary(Op::Div, way, whole);
    let rest = b.binary(Op::Sub, one, share);
    // From the nearer sample: the whole rise is twice what is there, and overflows.
    let [up, down] = [share, rest].map(|part| {
        let twice = b.binary(Op::Add, part, part);
        b.binary(Op::Mul, twice, rise)
    });
    let (from_first, from_second) = (b.binary(Op::Add, y0, up), b.binary(Op::Sub, y1, down));
    let near = b.compare(Op::Lt, share, half);
    let by_halves = b.select(near, from_first, from_second);
    let (run, slope) = (is_finite(b, run), is_finite(b, slope));
    let (fits, number) = (b.binary(Op::And, run, slope), is_finite(b, by_halves));
    let wanted = b.unary(Op::Not, fits);
    // Beside infinite samples the halves have no line either.
    let wanted = b.binary(Op::And, wanted, number);
    b.select(wanted, by_halves, value)
}

fn interp(l: &mut Lower) -> Result<Vec<Val>> {
    let (acc, out, dims) = (l.compute().compute(), l.out_dtype(0), l.out_dims(0));
    let operand = |l: &mut Lower, n: usize| -> Result<Val> {
        let v = l.operand(n)?;
        l.cast(v, acc)
    };
    let mut dtypes = Vec::new();
    for n in 0..3 {
        let v = l.operand(n)?;
        dtypes.push(l.dtype(v));
    }
    let (floating, overflow) = (dtypes.iter().any(|d| d.is_float()), dtypes.iter().any(|&d| may_overflow(d)));
    let (x, xp, fp) = (operand(l, 0)?, operand(l, 1)?, operand(l, 2)?);
    let n = l.dims(xp)[0];
    let beyond = |l: &mut Lower, n: usize, at: usize| if l.is_absent(n) { Ok(l.pick(fp, 0, at)) } else { operand(l, n) };
    let (left, right) = (beyond(l, 3, 0)?, beyond(l, 4, n - 1)?);
    // The samples around x: the last one at or before it, and the next. Before the first sample -1 stands for the last one, as good
    // as any.
    let behind = positions(l, xp, x, |b, xp, x| b.compare(Op::Le, xp, x))?;
    let low = l.map(&dims, &[behind], |b, v| {
        let one = b.lit(DType::I32, 1.0);
        b.binary(Op::Sub, v[0], one)
    })?;
    let high = l.map(&dims, &[behind], |b, v| {
        let last = b.lit(DType::I32, (n - 1) as f64);
        b.binary(Op::Min, v[0], last)
    })?;
    let around = [l.gather(xp, &[low]), l.gather(xp, &[high]), l.gather(fp, &[low]), l.gather(fp, &[high])];
    let inputs = [x, around[0], around[1], around[2], around[3], left, right];
    let value = l.map(&dims, &inputs, |b, v| {
        let [x, x0, x1, y0, y1, left, right] = [v[0], v[1], v[2], v[3], v[4], v[5], v[6]];
        let (run, rise, way) = (b.binary(Op::Sub, x1, x0), b.binary(Op::Sub, y1, y0), b.binary(Op::Sub, x, x0));
        let slope = b.binary(Op::Div, rise, run);
        let up = b.binary(Op::Mul, slope, way);
        let on_line = b.binary(Op::Add, y0, up);
        let on_line = if floating { or_from_second(b, on_line, [x, x1, y1], slope) } else { on_line };
        let on_line = if overflow { or_by_halves(b, on_line, [x, x0, x1, y0, y1], [run, slope]) } else { on_line };
        // At the last sample, which is the next one too, there is no line, and none between infinite ones.
        let level = b.compare(Op::Eq, y0, y1);
        let known = if floating {
            let hit = b.compare(Op::Eq, x, x0);
            b.binary(Op::Or, hit, level)
        } else {
            level
        };
        let inside = b.select(known, y0, on_line);
        let (before, after) = (b.compare(Op::Lt, x, x0), b.compare(Op::Lt, x1, x));
        let or_left = b.select(before, left, inside);
        let known = b.select(after, right, or_left);
        if !floating {
            return known;
        }
        // NaN gives NaN.
        let number = b.compare(Op::Eq, x, x);
        b.select(number, known, x)
    })?;
    Ok(vec![l.cast(value, out)?])
}

const ALONG: AttrDef = attr("axis", AttrKind::Int(Some(-1)));
const FLOAT: DTypeRule = DTypeRule::new(Class::RealOrBool, Compute::Float, Out::Compute);

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "gradient", operands: &[tensor("y"), optional_tensor("coordinates")], attrs: &[ALONG, attr("edgeOrder", AttrKind::Choice(&["1", "2"]))], params: &[ParamDef { name: "spacing", default: Some(1.0), kind: ParamKind::Number }], dtype: FLOAT, shape: gradient_shape, lower: Lowering::Graph(gradient), domain: Domain::Special,
        errors: &[ErrorCase { call: "ft.zeros([1]).gradient()", code: Code::Shape }, ErrorCase { call: "ft.zeros([2]).gradient(undefined, { edgeOrder: 2 })", code: Code::Shape }, ErrorCase { call: "ft.zeros([3]).gradient(ft.zeros([2]))", code: Code::Shape }, ErrorCase { call: "ft.zeros([3]).gradient(undefined, { axis: 1 })", code: Code::Index }],
        doc: doc("Derivative of samples along an axis (the last by default; NumPy's walks over all of them), a fixed spacing apart or at coordinates: of the parabola through each sample and its neighbours, at both ends of the line or with edgeOrder 2 the parabola through the outermost.", "(y_(i + 1) - y_(i - 1)) / (2 spacing)", "ft.tensor([1, 2, 4, 7]).gradient() // [1, 1.5, 2.5, 3]", "gradient", "gradient"), ..BASE },
    OpDef { name: "trapezoid", operands: &[tensor("y"), optional_tensor("coordinates")], attrs: &[ALONG], params: &[ParamDef { name: "dx", default: Some(1.0), kind: ParamKind::Number }], dtype: FLOAT, shape: trapezoid_shape, lower: Lowering::Graph(trapezoid), domain: Domain::Special,
        errors: &[ErrorCase { call: "ft.zeros([3]).trapezoid(ft.zeros([2]))", code: Code::Shape }, ErrorCase { call: "ft.zeros([3]).trapezoid(undefined, 1)", code: Code::Index }],
        doc: doc("Integral of samples along an axis (the last by default), a fixed distance dx apart or at coordinates, by the trapezoidal rule; 0 of fewer than two.", "sum_i (x_(i + 1) - x_i) (y_i + y_(i + 1)) / 2", "ft.tensor([1, 2, 4]).trapezoid() // 4.5", "trapezoid", "trapezoid"), ..BASE },
    OpDef { name: "interp", operands: &[tensor("x"), tensor("xp"), tensor("fp"), optional("left"), optional("right")], dtype: FLOAT, shape: interp_shape, lower: Lowering::Graph(interp), domain: Domain::Special,
        errors: &[ErrorCase { call: "ft.zeros([2]).interp(ft.zeros([0]), ft.zeros([0]))", code: Code::Shape }, ErrorCase { call: "ft.zeros([2]).interp(ft.zeros([2]), ft.zeros([3]))", code: Code::Shape }, ErrorCase { call: "ft.zeros([2]).interp(ft.zeros([2]), ft.zeros([2]), ft.zeros([2]))", code: Code::Shape }],
        doc: doc("Values on the lines between samples fp at increasing coordinates xp; below the first left, above the last right, which are the outermost samples by default.", "fp_i + (x - xp_i) (fp_(i + 1) - fp_i) / (xp_(i + 1) - xp_i)", "ft.tensor([0, 1.5, 9]).interp(ft.tensor([1, 2]), ft.tensor([10, 20])) // [10, 15, 20]", "interp", ""), ..BASE },
];

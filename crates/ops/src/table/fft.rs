//! Fourier transforms.

use super::join::join;
use super::parts::conjugate;
use super::rows::{BASE, arg, attr, doc};
use crate::attrs::Attrs;
use crate::def::{AttrDef, AttrKind, ErrorCase, Form, Lowering, Namespace, OpDef, ParamDef, ParamKind};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use crate::write::inverse;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::Routine;
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Dims, Error, Result};
use smallvec::SmallVec;

const NORMS: &[&str] = &["backward", "ortho", "forward"];

fn transform_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut dims: Dims = SmallVec::from_slice(ctx.shape(0));
    let axis = shape::axis(ctx.attrs.int("axis"), dims.len())?;
    dims[axis] = points(ctx.attrs.opt_int("n").unwrap_or(dims[axis] as i64))?;
    Ok(vec![dims])
}

/// `x` cut or padded with zeros to `n` points along `axis`.
fn resize(l: &mut Lower, x: Val, axis: usize, n: usize) -> Result<Val> {
    let dims = l.dims(x);
    if dims[axis] == n {
        return Ok(x);
    }
    if dims[axis] > n {
        return Ok(l.narrow(x, axis, 0, n));
    }
    let (dtype, mut rest) = (l.dtype(x), dims.clone());
    rest[axis] = n - dims[axis];
    let zeros = l.map(&rest, &[], |b, _| b.lit(dtype, 0.0))?;
    join(l, axis, &[x, zeros])
}

/// The unscaled transform of a complex value along one axis.
fn along(l: &mut Lower, x: Val, axis: usize, inverse_sign: bool) -> Val {
    let order = l.axes_last(l.dims(x).len(), &[axis]);
    let (moved, dtype) = (l.permute(x, &order), l.dtype(x));
    let dims = l.dims(moved);
    let y = l.routine(Routine::Fft { dtype, inverse: inverse_sign }, &[moved], std::slice::from_ref(&dims))[0];
    l.permute(y, &inverse(&order))
}

/// `x` scaled as the call's norm asks of a transform of `n` points.
fn scaled(l: &mut Lower, x: Val, n: f64, inverse_sign: bool) -> Result<Val> {
    let scale = match (l.attrs().int("norm"), inverse_sign) {
        (1, _) => 1.0 / n.sqrt(),
        (0, true) | (2, false) => 1.0 / n,
        _ => return Ok(x),
    };
    let (dims, d) = (l.dims(x), l.dtype(x));
    l.map(&dims, &[x], |b, v| {
        let real = b.lit(d.info().real, scale);
        let factor = b.cast(real, d);
        b.binary(Op::Mul, v[0], factor)
    })
}

/// The first operand as complex numbers.
fn complex_operand(l: &mut Lower) -> Result<Val> {
    let (x, compute) = (l.operand(0)?, l.compute());
    l.cast(x, compute)
}

fn transform(l: &mut Lower, inverse_sign: bool) -> Result<Vec<Val>> {
    let (x, out) = (complex_operand(l)?, l.out_dims(0));
    let axis = shape::axis(l.attrs().int("axis"), out.len())?;
    let x = resize(l, x, axis, out[axis])?;
    let y = along(l, x, axis, inverse_sign);
    Ok(vec![scaled(l, y, out[axis] as f64, inverse_sign)?])
}

/// Points along an axis of the whole and of the half spectrum of real points: `n` and `n / 2 + 1`.
fn half(n: usize) -> usize {
    n / 2 + 1
}

fn half_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut shapes = transform_shape(ctx)?;
    let axis = shape::axis(ctx.attrs.int("axis"), shapes[0].len())?;
    shapes[0][axis] = half(shapes[0][axis]);
    Ok(shapes)
}

/// Without `n` as many points as an even number of them would have made this half spectrum.
fn whole_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut dims: Dims = SmallVec::from_slice(ctx.shape(0));
    let axis = shape::axis(ctx.attrs.int("axis"), dims.len())?;
    let n = points(ctx.attrs.opt_int("n").unwrap_or(2 * (dims[axis] as i64 - 1)))?;
    dims[axis] = n;
    Ok(vec![dims])
}

/// The half spectrum of real points, with its conjugate for the other sign.
fn real_transform(l: &mut Lower, conjugate: bool) -> Result<Vec<Val>> {
    let (x, out) = (complex_operand(l)?, l.out_dims(0));
    let axis = shape::axis(l.attrs().int("axis"), out.len())?;
    let n = l.attrs().opt_int("n").map_or(l.dims(x)[axis], |n| n as usize);
    let x = resize(l, x, axis, n)?;
    let y = along(l, x, axis, conjugate);
    let y = l.narrow(y, axis, 0, out[axis]);
    Ok(vec![scaled(l, y, n as f64, conjugate)?])
}

/// All `n` points of a spectrum along an axis from the first half: those behind it are conjugates, in the other order.
fn whole(l: &mut Lower, x: Val, axis: usize, n: usize) -> Result<Val> {
    let x = resize(l, x, axis, half(n))?;
    if n < 3 {
        return resize(l, x, axis, n);
    }
    let mirrored = l.narrow(x, axis, 1, n - half(n));
    let (mirrored, dims) = (l.flip(mirrored, &[axis]), l.dims(mirrored));
    let conjugates = l.map(&dims, &[mirrored], |b, v| conjugate(b, v[0]))?;
    join(l, axis, &[x, conjugates])
}

/// Real points from a half spectrum, whose other half is its conjugate.
fn to_real(l: &mut Lower, inverse_sign: bool) -> Result<Vec<Val>> {
    let (x, out) = (complex_operand(l)?, l.out_dims(0));
    let axis = shape::axis(l.attrs().int("axis"), out.len())?;
    let x = whole(l, x, axis, out[axis])?;
    let y = along(l, x, axis, inverse_sign);
    let y = l.map(&out, &[y], |b, v| b.re(v[0]))?;
    Ok(vec![scaled(l, y, out[axis] as f64, inverse_sign)?])
}

fn points(n: i64) -> Result<usize> {
    match usize::try_from(n) {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(Error::shape(format!("a transform needs at least one point, got {n}"))),
    }
}

/// The axes of a transform along several, and how many points it has along each: those of `s`, or of the tensor.
fn plan(attrs: &Attrs, dims: &[usize]) -> Result<Vec<(usize, Option<usize>)>> {
    let (named, sizes) = (attrs.ints("axes"), attrs.ints("s"));
    let axes = match (named, sizes) {
        (Some(list), _) => list.iter().map(|&a| shape::axis(a, dims.len())).collect::<Result<Vec<_>>>()?,
        (None, Some(s)) if s.len() <= dims.len() => (dims.len() - s.len()..dims.len()).collect(),
        (None, _) => (0..dims.len()).collect(),
    };
    shape::axes(named, dims.len())?;
    let Some(sizes) = sizes else { return Ok(axes.into_iter().map(|a| (a, None)).collect()) };
    let sizes = sizes.iter().map(|&n| points(n)).collect::<Result<Vec<_>>>()?;
    if sizes.len() != axes.len() {
        return Err(Error::argument(format!("s has {} sizes for {} axes", sizes.len(), axes.len())));
    }
    Ok(axes.into_iter().zip(sizes.into_iter().map(Some)).collect())
}

/// The shape of a transform along several axes: the last of its axes as half or whole spectrum, where it is one of real points.
fn several_shape(ctx: &ShapeCtx, last: fn(usize, bool) -> Result<usize>) -> Result<Vec<Dims>> {
    let mut dims: Dims = SmallVec::from_slice(ctx.shape(0));
    let plan = plan(ctx.attrs, &dims)?;
    for (i, &(axis, n)) in plan.iter().enumerate() {
        let size = n.unwrap_or(dims[axis]);
        dims[axis] = if i + 1 == plan.len() { last(size, n.is_some())? } else { points(size as i64)? };
    }
    Ok(vec![dims])
}

/// Transforms along the axes of a plan, the last first.
fn along_several(l: &mut Lower, inverse_sign: bool) -> Result<Vec<Val>> {
    let mut x = complex_operand(l)?;
    let plan = plan(l.attrs(), &l.dims(x))?;
    let mut count = 1.0;
    for &(axis, n) in plan.iter().rev() {
        let n = n.unwrap_or(l.dims(x)[axis]);
        x = resize(l, x, axis, n)?;
        x = along(l, x, axis, inverse_sign);
        count *= n as f64;
    }
    Ok(vec![scaled(l, x, count, inverse_sign)?])
}

fn real_along_several(l: &mut Lower) -> Result<Vec<Val>> {
    let (mut x, out) = (complex_operand(l)?, l.out_dims(0));
    let plan = plan(l.attrs(), &l.dims(x))?;
    let mut count = 1.0;
    for (i, &(axis, n)) in plan.iter().rev().enumerate() {
        let n = n.unwrap_or(l.dims(x)[axis]);
        x = resize(l, x, axis, n)?;
        x = along(l, x, axis, false);
        if i == 0 {
            x = l.narrow(x, axis, 0, out[axis]);
        }
        count *= n as f64;
    }
    Ok(vec![scaled(l, x, count, false)?])
}

fn to_real_along_several(l: &mut Lower) -> Result<Vec<Val>> {
    let (mut x, out) = (complex_operand(l)?, l.out_dims(0));
    let plan = plan(l.attrs(), &l.dims(x))?;
    let mut count = 1.0;
    for (i, &(axis, _)) in plan.iter().enumerate() {
        let n = out[axis];
        x = if i + 1 == plan.len() { whole(l, x, axis, n)? } else { resize(l, x, axis, n)? };
        x = along(l, x, axis, true);
        count *= n as f64;
    }
    let y = l.map(&out, &[x], |b, v| b.re(v[0]))?;
    Ok(vec![scaled(l, y, count, true)?])
}

/// At least one axis: without any there is no half of a spectrum.
fn some_axis(ctx: &ShapeCtx) -> Result<()> {
    match plan(ctx.attrs, ctx.shape(0))?.is_empty() {
        true => Err(Error::argument("a transform of real points needs at least one axis")),
        false => Ok(()),
    }
}

fn shift_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    shape::axes(ctx.attrs.ints("axes"), ctx.shape(0).len())?;
    shape::same(ctx)
}

/// The first half of each axis and the second exchanged; `more` of an odd number stay in front.
fn shift(l: &mut Lower, more: bool) -> Result<Vec<Val>> {
    let mut x = l.operand(0)?;
    let dims = l.dims(x);
    for axis in shape::axes(l.attrs().ints("axes"), dims.len())? {
        let n = dims[axis];
        let at = if more { n.div_ceil(2) } else { n / 2 };
        if at > 0 && at < n {
            let (front, back) = (l.narrow(x, axis, 0, at), l.narrow(x, axis, at, n - at));
            x = join(l, axis, &[back, front])?;
        }
    }
    Ok(vec![x])
}

fn frequencies_shape(ctx: &ShapeCtx, count: fn(usize) -> usize) -> Result<Vec<Dims>> {
    match ctx.attrs.dtype("dtype") {
        Some(d) if !d.is_float() => Err(Error::dtype(format!("frequencies are of a floating dtype, not {d}"))),
        _ => Ok(vec![SmallVec::from_slice(&[count(points(ctx.attrs.int("n"))?)])]),
    }
}

/// `k / (n d)` for `k` from 0 on, from the middle on less `n` where the spectrum is whole.
fn frequencies(l: &mut Lower, whole: bool) -> Result<Vec<Val>> {
    let (dims, out, n) = (l.out_dims(0), l.out_dtype(0), l.attrs().int("n"));
    let spacing = [l.param(0, DType::F64)];
    Ok(vec![l.map_with(&dims, &[], &spacing, |b, p| {
        let k = b.index(0, DType::I64);
        let k = b.cast(k, DType::F64);
        let points = b.lit(DType::F64, n as f64);
        let k = if whole {
            let (middle, below) = (b.lit(DType::F64, (n - n / 2) as f64), b.binary(Op::Sub, k, points));
            let front = b.compare(Op::Lt, k, middle);
            b.select(front, k, below)
        } else {
            k
        };
        let span = b.binary(Op::Mul, points, p[0]);
        let frequency = b.binary(Op::Div, k, span);
        b.cast(frequency, out)
    })?])
}

const ATTRS: &[AttrDef] =
    &[attr("n", AttrKind::OptAxis), attr("axis", AttrKind::Int(Some(-1))), attr("norm", AttrKind::Choice(NORMS))];
const FFT: OpDef = OpDef {
    namespace: Namespace::Fft,
    form: Form::Function,
    attrs: ATTRS,
    dtype: DTypeRule::new(Class::Complex, Compute::ComplexFloat, Out::Compute),
    shape: transform_shape,
    errors: &[
        ErrorCase { call: "ft.fft.fft(ft.zeros([2]), { axis: 1 })", code: Code::Index },
        ErrorCase { call: "ft.fft.fft(ft.zeros([2]), { n: 0 })", code: Code::Shape },
    ],
    ..BASE
};

const REAL: OpDef =
    OpDef { dtype: DTypeRule::new(Class::RealOrBool, Compute::ComplexFloat, Out::Compute), shape: half_shape, ..FFT };
const TO_REAL: OpDef = OpDef {
    dtype: DTypeRule::new(Class::Complex, Compute::ComplexFloat, Out::RealPart),
    shape: whole_shape,
    errors: &[
        ErrorCase { call: "ft.fft.irfft(ft.zeros([2]), { axis: 1 })", code: Code::Index },
        ErrorCase { call: "ft.fft.irfft(ft.zeros([1]))", code: Code::Shape },
    ],
    ..FFT
};
const SEVERAL: OpDef = OpDef {
    attrs: &[attr("axes", AttrKind::Axes), attr("s", AttrKind::Axes), attr("norm", AttrKind::Choice(NORMS))],
    shape: |ctx| several_shape(ctx, |n, _| points(n as i64)),
    errors: &[
        ErrorCase { call: "ft.fft.fftn(ft.zeros([2]), { axes: [1] })", code: Code::Index },
        ErrorCase { call: "ft.fft.fftn(ft.zeros([2]), { s: [0] })", code: Code::Shape },
        ErrorCase { call: "ft.fft.fftn(ft.zeros([2, 2]), { s: [2], axes: [0, 1] })", code: Code::Argument },
    ],
    ..FFT
};
const SHIFT: OpDef = OpDef {
    attrs: &[attr("axes", AttrKind::Axes)],
    dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Compute),
    shape: shift_shape,
    errors: &[ErrorCase { call: "ft.fft.fftshift(ft.zeros([2]), { axes: [1] })", code: Code::Index }],
    ..FFT
};
const FREQUENCIES: OpDef = OpDef {
    operands: &[],
    attrs: &[arg("n", AttrKind::Int(None)), attr("dtype", AttrKind::OptDType), attr("device", AttrKind::Device)],
    params: &[ParamDef { name: "d", default: Some(1.0), kind: ParamKind::Number }],
    dtype: DTypeRule::new(Class::Float, Compute::Own, Out::AttrOr(DType::F32)),
    errors: &[ErrorCase { call: "ft.fft.fftfreq(0)", code: Code::Shape }],
    ..FFT
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "fft", lower: Lowering::Graph(|l| transform(l, false)),
        doc: doc("Discrete Fourier transform along an axis (the last by default), cut or padded with zeros to n points; complex64, complex128 for float64 and complex128.", "out_k = sum_j x_j e^(-2 pi i jk / n)", "ft.fft.fft(ft.tensor([1, 0])) // [{ re: 1, im: 0 }, { re: 1, im: 0 }]", "fft.fft", "fft.fft"), ..FFT },
    OpDef { name: "ifft", lower: Lowering::Graph(|l| transform(l, true)),
        doc: doc("Inverse discrete Fourier transform along an axis (the last by default).", "out_j = 1/n sum_k x_k e^(2 pi i jk / n)", "ft.fft.ifft(ft.tensor([2, 0])) // [{ re: 1, im: 0 }, { re: 1, im: 0 }]", "fft.ifft", "fft.ifft"), ..FFT },
    OpDef { name: "fftn", lower: Lowering::Graph(|l| along_several(l, false)),
        doc: doc("Discrete Fourier transform along several axes (all by default), cut or padded with zeros to s points along each.", "out_k = sum_j x_j e^(-2 pi i sum_a j_a k_a / n_a)", "ft.fft.fftn(ft.tensor([[1, 0], [0, 0]])).real() // [[1, 1], [1, 1]]", "fft.fftn", "fft.fftn"), ..SEVERAL },
    OpDef { name: "ifftn", lower: Lowering::Graph(|l| along_several(l, true)),
        doc: doc("Inverse discrete Fourier transform along several axes (all by default).", "out_j = 1/n sum_k x_k e^(2 pi i sum_a j_a k_a / n_a)", "ft.fft.ifftn(ft.tensor([[4, 0], [0, 0]])).real() // [[1, 1], [1, 1]]", "fft.ifftn", "fft.ifftn"), ..SEVERAL },
    OpDef { name: "rfft", lower: Lowering::Graph(|l| real_transform(l, false)),
        doc: doc("Discrete Fourier transform of real numbers along an axis (the last by default): the first n/2 + 1 points, of which the others are conjugates.", "out_k = sum_j x_j e^(-2 pi i jk / n), k <= n / 2", "ft.fft.rfft(ft.tensor([1, 0, 0])).real() // [1, 1]", "fft.rfft", "fft.rfft"), ..REAL },
    OpDef { name: "irfft", lower: Lowering::Graph(|l| to_real(l, true)),
        doc: doc("Inverse of rfft along an axis (the last by default): the n real numbers whose Fourier transform begins with these points; of m points n is 2 (m - 1) by default.", "the x of rfft(x)", "ft.fft.irfft(ft.tensor([1, 1])) // [1, 0]", "fft.irfft", "fft.irfft"), ..TO_REAL },
    OpDef { name: "rfftn", lower: Lowering::Graph(real_along_several), dtype: REAL.dtype, shape: |ctx| { some_axis(ctx)?; several_shape(ctx, |n, _| points(n as i64).map(half)) },
        doc: doc("Discrete Fourier transform of real numbers along several axes (all by default): along the last of them the first n/2 + 1 points.", "fftn of rfft along the last axis", "ft.fft.rfftn(ft.tensor([[1, 0], [0, 0]])).real() // [[1, 1], [1, 1]]", "fft.rfftn", "fft.rfftn"), ..SEVERAL },
    OpDef { name: "irfftn", lower: Lowering::Graph(to_real_along_several), dtype: TO_REAL.dtype, shape: |ctx| { some_axis(ctx)?; several_shape(ctx, |n, given| points(if given { n as i64 } else { 2 * (n as i64 - 1) })) },
        doc: doc("Real numbers whose transform along several axes (all by default) has these points as its first half along the last of them.", "the x of rfftn(x)", "ft.fft.irfftn(ft.tensor([[4, 4], [4, 4]])) // [[4, 0], [0, 0]]", "fft.irfftn", "fft.irfftn"), ..SEVERAL },
    OpDef { name: "hfft", lower: Lowering::Graph(|l| to_real(l, false)),
        doc: doc("Discrete Fourier transform of a Hermitian signal, given by its first m points along an axis: n real numbers, 2 (m - 1) by default.", "out_k = sum_j x_j e^(-2 pi i jk / n), x_(n - j) = conj x_j", "ft.fft.hfft(ft.tensor([1, 2, 3])) // [8, -2, 0, -2]", "fft.hfft", "fft.hfft"), ..TO_REAL },
    OpDef { name: "ihfft", lower: Lowering::Graph(|l| real_transform(l, true)),
        doc: doc("First n/2 + 1 points of the inverse discrete Fourier transform of real numbers along an axis (the last by default), of which the others are conjugates.", "out_j = 1/n sum_k x_k e^(2 pi i jk / n), j <= n / 2", "ft.fft.ihfft(ft.tensor([8, -2, 0, -2])).real() // [1, 2, 3]", "fft.ihfft", "fft.ihfft"), ..REAL },
    OpDef { name: "fftshift", lower: Lowering::Graph(|l| shift(l, true)),
        doc: doc("The point of frequency 0 moved to the middle of each axis (of all by default).", "out_i = x_{(i + ceil(n / 2)) mod n}", "ft.fft.fftshift(ft.tensor([0, 1, 2, -2, -1])) // [-2, -1, 0, 1, 2]", "fft.fftshift", "fft.fftshift"), ..SHIFT },
    OpDef { name: "ifftshift", lower: Lowering::Graph(|l| shift(l, false)),
        doc: doc("The point of frequency 0 moved from the middle of each axis (of all by default) to its start: undoes fftshift.", "out_i = x_{(i + floor(n / 2)) mod n}", "ft.fft.ifftshift(ft.tensor([-2, -1, 0, 1, 2])) // [0, 1, 2, -2, -1]", "fft.ifftshift", "fft.ifftshift"), ..SHIFT },
    OpDef { name: "fftfreq", shape: |ctx| frequencies_shape(ctx, |n| n), lower: Lowering::Graph(|l| frequencies(l, true)),
        doc: doc("Frequencies of the points of a Fourier transform of n samples, taken d apart; float32 by default.", "k / (n d), from the middle on (k - n) / (n d)", "ft.fft.fftfreq(4) // [0, 0.25, -0.5, -0.25]", "fft.fftfreq", "fft.fftfreq"), ..FREQUENCIES },
    OpDef { name: "rfftfreq", shape: |ctx| frequencies_shape(ctx, half), lower: Lowering::Graph(|l| frequencies(l, false)),
        doc: doc("Frequencies of the points of a Fourier transform of n real samples, taken d apart; float32 by default.", "k / (n d), k <= n / 2", "ft.fft.rfftfreq(4) // [0, 0.25, 0.5]", "fft.rfftfreq", "fft.rfftfreq"), ..FREQUENCIES },
];

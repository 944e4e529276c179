//! Spatial axes of `[batch, channels, spatial...]` made as long as asked: adaptive pooling and interpolation.

use super::rows::{BASE, arg, attr, doc};
use super::windows::{per_axis, spatial};
use crate::def::{AttrKind, Domain, EachAxis, ErrorCase, Form, Lowering, Namespace, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::selection::Selection;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Monoid, Window, WindowAxis, WindowCombine};
use ferrotensor_core::scalar::{Builder, Op, Value};
use ferrotensor_core::{DType, Dims, Error, Result, layout};

/// Spatial axes in the order in which they are resized: what shrinks most comes first.
fn order(from: &[usize], to: &[usize]) -> Vec<usize> {
    let mut axes: Vec<usize> = (2..from.len()).collect();
    axes.sort_by_key(|&a| (to[a] as u128 * (1 << 53) / from[a].max(1) as u128, a));
    axes
}

/// The last one first: of several largest elements the first in row-major order is that of the first row that has one.
fn backwards(from: &[usize], _: &[usize]) -> Vec<usize> {
    (2..from.len()).rev().collect()
}

fn resized_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    shape_by(ctx, order)
}

fn largest_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    shape_by(ctx, backwards)
}

fn shape_by(ctx: &ShapeCtx, axes: fn(&[usize], &[usize]) -> Vec<usize>) -> Result<Vec<Dims>> {
    let x = ctx.shape(0);
    let sizes = per_axis("size", ctx.attrs.ints("size").unwrap_or(&[]), spatial(x)?)?;
    if x[2..].contains(&0) {
        return Err(Error::shape(format!("a spatial axis of {x:?} has no elements")));
    }
    let out: Dims = x[..2].iter().copied().chain(sizes).collect();
    let mut dims: Dims = x.into();
    for axis in axes(x, &out) {
        // Positions are products of both extents, and twice that; parts are seen beside each other.
        layout::count(&[2, x[axis], out[axis]])?;
        dims[axis] = out[axis];
        layout::count(&[dims.as_slice(), &[x[axis] / out[axis] + 2]].concat())?;
    }
    Ok(vec![out])
}

fn interpolated_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    if ctx.attrs.bool("alignCorners") && ctx.attrs.int("mode") != LINEAR {
        return Err(Error::argument("alignCorners is about the mode 'linear'; the nearest element has no corners"));
    }
    resized_shape(ctx)
}

/// How elements are interpolated, as the option names it.
const MODES: AttrKind = AttrKind::Choice(&["nearest", "linear"]);
const LINEAR: i64 = 1;

/// First position of the part of `from` positions that element i of `to` covers: `floor(i from / to)`.
fn first(b: &mut Builder, i: Value, from: usize, to: usize) -> Value {
    let (from, to) = (b.size(from), b.size(to));
    let scaled = b.binary(Op::Mul, i, from);
    b.binary(Op::Div, scaled, to)
}

/// The position behind that part: `ceil((i + 1) from / to)`.
fn behind(b: &mut Builder, i: Value, from: usize, to: usize) -> Value {
    let (length, rest, count) = (b.size(from), b.size(from + to - 1), b.size(to));
    let scaled = b.binary(Op::Mul, i, length);
    let up = b.binary(Op::Add, scaled, rest);
    b.binary(Op::Div, up, count)
}

/// How many positions a part of the longest kind covers.
fn longest(from: usize, to: usize) -> usize {
    if from.is_multiple_of(to) { from / to } else { from / to + 2 }
}

/// Parts of an axis, `to` of them, beside each other as two axes. Behind its end a part shows its last element.
fn parts(l: &mut Lower, x: Val, axis: usize, to: usize) -> Result<Val> {
    let dims = l.dims(x);
    let from = dims[axis];
    let places = [to, longest(from, to)];
    let shown = l.map(&places, &[], |b, _| {
        let (i, place, one) = (b.index(0, DType::I64), b.index(1, DType::I64), b.size(1));
        let (start, end) = (first(b, i, from, to), behind(b, i, from, to));
        let (there, last) = (b.binary(Op::Add, start, place), b.binary(Op::Sub, end, one));
        b.binary(Op::Min, there, last)
    })?;
    let selection = Selection::along(&dims, axis, &places)?;
    l.gather_selection(x, &selection, &[shown])
}

/// A value for each position of one axis, or of two neighbours, as one of `rank` axes, the others behind.
fn beside(l: &mut Lower, v: Val, rank: usize) -> Val {
    let mut dims = l.dims(v);
    dims.resize(rank, 1);
    l.reshape(v, &dims)
}

/// Sums of the parts of an axis. Which places of a part are inside is computed once for all other axes.
fn summed(l: &mut Lower, x: Val, axis: usize, to: usize) -> Result<Val> {
    let from = l.dims(x)[axis];
    if from.is_multiple_of(to) {
        let mut dims = l.dims(x);
        dims[axis] = to;
        dims.insert(axis + 1, from / to);
        let seen = l.reshape(x, &dims);
        return Ok(l.sum(seen, axis + 1, false));
    }
    let seen = parts(l, x, axis, to)?;
    let wide = l.dims(seen);
    let inside = l.map(&[to, wide[axis + 1]], &[], |b, _| {
        let (i, place) = (b.index(0, DType::I64), b.index(1, DType::I64));
        let (start, end) = (first(b, i, from, to), behind(b, i, from, to));
        let there = b.binary(Op::Add, start, place);
        b.compare(Op::Lt, there, end)
    })?;
    let inside = beside(l, inside, wide.len() - axis);
    let seen = l.map(&wide, &[seen, inside], |b, v| {
        let zero = b.lit(b.dtype(v[0]), 0.0);
        b.select(v[1], v[0], zero)
    })?;
    Ok(l.sum(seen, axis + 1, false))
}

/// Windows over the parts of an axis, whose largest elements have the gradient as those of any pooling: the first ones.
fn largest(l: &mut Lower, x: Val, axis: usize, to: usize) -> Result<Val> {
    let (dtype, mut seen, mut dims) = (l.dtype(x), x, l.dims(x));
    let size = longest(dims[axis], to);
    if dims[axis] != to * size {
        seen = parts(l, x, axis, to)?;
        dims[axis] = to * size;
        seen = l.reshape(seen, &dims);
    }
    // Windows are over all axes from one on.
    let whole = |size: usize| WindowAxis { size, stride: size, dilation: 1, low: 0 };
    let axes = std::iter::once(whole(size)).chain(dims[axis + 1..].iter().map(|_| whole(1))).collect();
    dims[axis] = to;
    Ok(l.window(Window { combine: WindowCombine::Reduce(Monoid::Max), dtype, axes }, &[seen], &dims[axis..]))
}

fn adaptive_max(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, dtype, out) = (l.operand(0)?, l.compute().compute(), l.out_dims(0));
    let mut x = l.cast(x, dtype)?;
    for axis in backwards(&out, &out) {
        x = largest(l, x, axis, out[axis])?;
    }
    Ok(vec![l.cast(x, l.out_dtype(0))?])
}

fn adaptive_avg(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, acc, counts, out) = (l.operand(0)?, l.compute().compute(), l.out_dims(0), l.out_dtype(0));
    let (from, mut total) = (l.dims(x), l.cast(x, acc)?);
    let mut inputs = Vec::new();
    for axis in order(&from, &counts) {
        total = summed(l, total, axis, counts[axis])?;
        let lengths = l.map(&[counts[axis]], &[], |b, _| {
            let i = b.index(0, DType::I64);
            let (start, end) = (first(b, i, from[axis], counts[axis]), behind(b, i, from[axis], counts[axis]));
            b.binary(Op::Sub, end, start)
        })?;
        inputs.push(beside(l, lengths, counts.len() - axis));
    }
    inputs.insert(0, total);
    Ok(vec![l.map(&counts, &inputs, |b, v| {
        let count = v[2..].iter().fold(v[1], |count, &length| b.binary(Op::Mul, count, length));
        let count = b.cast(count, b.dtype(v[0]));
        let mean = b.binary(Op::Div, v[0], count);
        b.cast(mean, out)
    })?])
}

/// Where element i of `to` lies among `from` elements: a numerator and its denominator.
fn place(b: &mut Builder, i: Value, from: usize, to: usize, corners: bool) -> (Value, usize) {
    if corners {
        let last = b.size(from - 1);
        return (b.binary(Op::Mul, i, last), (to - 1).max(1));
    }
    // The middle of element i: (i + 1/2) from / to - 1/2, not before the middle of the first.
    let (twice, odd, zero) = (b.size(2 * from), from as f64 - to as f64, b.size(0));
    let (scaled, odd) = (b.binary(Op::Mul, i, twice), b.lit(DType::I64, odd));
    let middle = b.binary(Op::Add, scaled, odd);
    (b.binary(Op::Max, middle, zero), 2 * to)
}

/// What is between two elements of an axis: their positions, and how much the second weighs, for each of `to` places.
struct Between {
    axis: usize,
    low: Val,
    high: Val,
    weight: Val,
}

impl Between {
    fn new(l: &mut Lower, axis: usize, [from, to]: [usize; 2], dtype: DType, corners: bool) -> Result<Between> {
        let mut at = |f: &dyn Fn(&mut Builder, Value, Value) -> Value| {
            l.map(&[to], &[], |b, _| {
                let i = b.index(0, DType::I64);
                let (numerator, denominator) = place(b, i, from, to, corners);
                let denominator = b.size(denominator);
                f(b, numerator, denominator)
            })
        };
        let low = at(&|b, n, d| b.binary(Op::Div, n, d))?;
        let high = at(&|b, n, d| {
            let (low, one, last) = (b.binary(Op::Div, n, d), b.size(1), b.size(from - 1));
            let there = b.binary(Op::Add, low, one);
            b.binary(Op::Min, there, last)
        })?;
        let weight = at(&|b, n, d| {
            let rest = b.binary(Op::Rem, n, d);
            let (rest, whole) = (b.cast(rest, dtype), b.cast(d, dtype));
            b.binary(Op::Div, rest, whole)
        })?;
        Ok(Between { axis, low, high, weight })
    }

    /// The elements at one of both positions.
    fn taken(&self, l: &mut Lower, x: Val, position: Val) -> Result<Val> {
        let selection = Selection::along(&l.dims(x), self.axis, &l.dims(position))?;
        l.gather_selection(x, &selection, &[position])
    }

    /// Elements at the first positions and at the second, mixed; `finite` says that none is infinite.
    fn mixed(&self, l: &mut Lower, [low, high]: [Val; 2], finite: bool) -> Result<Val> {
        let wide = l.dims(low);
        let weight = beside(l, self.weight, wide.len() - self.axis);
        l.map(&wide, &[low, high, weight], |b, v| {
            let (d, t) = (b.dtype(v[0]), v[2]);
            let one = b.lit(d, 1.0);
            let left = b.binary(Op::Sub, one, t);
            let (from_low, from_high) = (b.binary(Op::Mul, v[0], left), b.binary(Op::Mul, v[1], t));
            let mixed = b.binary(Op::Add, from_low, from_high);
            if finite {
                return mixed;
            }
            // An infinite neighbour has no part in what lies on an element.
            let zero = b.lit(d, 0.0);
            let there = b.compare(Op::Eq, t, zero);
            b.select(there, v[0], mixed)
        })
    }
}

fn nearest(l: &mut Lower, x: Val, axis: usize, to: usize) -> Result<Val> {
    let dims = l.dims(x);
    let shown = l.map(&[to], &[], |b, _| {
        let i = b.index(0, DType::I64);
        first(b, i, dims[axis], to)
    })?;
    let selection = Selection::along(&dims, axis, &[to])?;
    l.gather_selection(x, &selection, &[shown])
}

fn interpolate(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, acc, out, dtype) = (l.operand(0)?, l.compute().compute(), l.out_dims(0), l.out_dtype(0));
    let (smooth, corners) = (l.attrs().int("mode") == LINEAR, l.attrs().bool("alignCorners"));
    let (finite, dims) = (!l.dtype(x).is_float(), l.dims(x));
    let (mut x, axes) = (l.cast(x, acc)?, order(&dims, &out));
    if smooth {
        for axis in axes {
            let between = Between::new(l, axis, [dims[axis], out[axis]], acc, corners)?;
            let sides = [between.taken(l, x, between.low)?, between.taken(l, x, between.high)?];
            x = between.mixed(l, sides, finite)?;
        }
    } else {
        for axis in axes {
            x = nearest(l, x, axis, out[axis])?;
        }
    }
    Ok(vec![l.cast(x, dtype)?])
}

const RESIZED: OpDef = OpDef {
    namespace: Namespace::Nn,
    form: Form::Function,
    attrs: &[arg("size", AttrKind::PerAxis(EachAxis::Required))],
    shape: resized_shape,
    domain: Domain::Special,
    dtype: DTypeRule::new(Class::Real, Compute::Float, Out::Compute),
    errors: &[
        ErrorCase { call: "ft.nn.adaptiveAvgPool(ft.zeros([4, 4]), 2)", code: Code::Shape },
        ErrorCase { call: "ft.nn.adaptiveMaxPool(ft.zeros([1, 1, 0]), 2)", code: Code::Shape },
        ErrorCase { call: "ft.nn.interpolate(ft.zeros([1, 1, 4, 4]), [2, 2, 2])", code: Code::Shape },
        ErrorCase { call: "ft.nn.interpolate(ft.zeros([1, 1, 4, 4]), 0)", code: Code::Argument },
        ErrorCase { call: "ft.nn.interpolate(ft.zeros([1, 1, 4]), 2, { alignCorners: true })", code: Code::Argument },
    ],
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "adaptiveAvgPool", lower: Lowering::Graph(adaptive_avg),
        doc: doc("Arithmetic means of parts of x [batch, channels, spatial...], as many along each spatial axis as the size says; parts overlap where it does not divide the axis.", "y_(b,c,i) = mean x_(b,c,floor(i n / size) .. ceil((i + 1) n / size) - 1)", "ft.nn.adaptiveAvgPool(ft.tensor([[[1, 2, 3, 4, 5]]]), 2) // [[[2, 4]]]", "", "nn.functional.adaptive_avg_pool2d"), ..RESIZED },
    OpDef { name: "adaptiveMaxPool", shape: largest_shape, lower: Lowering::Graph(adaptive_max), dtype: DTypeRule::new(Class::Real, Compute::Own, Out::Compute),
        doc: doc("Largest elements of parts of x [batch, channels, spatial...], as many along each spatial axis as the size says; NaN wins.", "y_(b,c,i) = max x_(b,c,floor(i n / size) .. ceil((i + 1) n / size) - 1)", "ft.nn.adaptiveMaxPool(ft.tensor([[[1, 2, 3, 4, 5]]]), 2) // [[[3, 5]]]", "", "nn.functional.adaptive_max_pool2d"), ..RESIZED },
    OpDef { name: "interpolate", attrs: &[arg("size", AttrKind::PerAxis(EachAxis::Required)), attr("mode", MODES), attr("alignCorners", AttrKind::Bool(false))], shape: interpolated_shape, lower: Lowering::Graph(interpolate),
        doc: doc("x [batch, channels, spatial...] with spatial axes of another size: the nearest element before each place, or between its neighbours along each axis (linear, bilinear, trilinear). Elements are cells, whose middles are matched; with alignCorners they are points, whose first and last are. Integers give float32.", "y_(b,c,i) = x_(b,c,floor(i n / size)), or (1 - t) x_(b,c,j) + t x_(b,c,j+1) with j + t = (i + 1/2) n / size - 1/2", "ft.nn.interpolate(ft.tensor([[[1, 3]]]), 4, { mode: 'linear' }) // [[[1, 1.5, 2.5, 3]]]", "", "nn.functional.interpolate"), ..RESIZED },
];

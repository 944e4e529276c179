//! Windows over any axes: each combined to one element, or the place of its largest or smallest one given an element.

use super::rows::{BASE, arg, attr, doc, tensor};
use super::windows::{Windows, per_axis};
use crate::attrs::Attrs;
use crate::def::{AttrDef, AttrKind, Domain, ErrorCase, Lowering, OpDef, ParamDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::selection::Selection;
use crate::write::inverse;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Combine, Monoid, Update, Window, WindowAxis, WindowCombine};
use ferrotensor_core::scalar::{Builder, Op, Value};
use ferrotensor_core::{DType, Dims, Error, Result, layout};

/// The windows over all axes of `x`.
fn windows(attrs: &Attrs, x: &[usize]) -> Result<Windows> {
    let sizes = per_axis("window", attrs.ints("window").unwrap_or(&[]), x.len())?;
    Windows::new(attrs, x, &sizes, &vec![1; x.len()])
}

/// The axes along which windows are more than the elements, as they lie there, and how many there are along each.
fn sliding(windows: &Windows, dims: &[usize]) -> (Vec<usize>, Vec<WindowAxis>, Dims) {
    let still = |a: &usize| windows.axes[*a].size == 1 && windows.counts[*a] == dims[*a];
    let axes: Vec<usize> = (0..dims.len()).filter(|a| !still(a)).collect();
    (axes.clone(), axes.iter().map(|&a| windows.axes[a]).collect(), axes.iter().map(|&a| windows.counts[a]).collect())
}

fn sliding_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    Ok(vec![windows(ctx.attrs, ctx.shape(0))?.counts])
}

fn combined(l: &mut Lower, monoid: Monoid) -> Result<Vec<Val>> {
    // Half floats are combined in float32 and rounded once.
    let (x, dtype, out) = (l.operand(0)?, l.compute().compute(), l.out_dtype(0));
    let (x, dims) = (l.cast(x, dtype)?, l.dims(x));
    let (moving, axes, counts) = sliding(&windows(l.attrs(), &dims)?, &dims);
    if moving.is_empty() {
        return Ok(vec![l.cast(x, out)?]);
    }
    let order = l.axes_last(dims.len(), &moving);
    let moved = l.permute(x, &order);
    let combined = l.window(Window { combine: WindowCombine::Reduce(monoid), dtype, axes }, &[moved], &counts);
    let combined = l.permute(combined, &inverse(&order));
    Ok(vec![l.cast(combined, out)?])
}

fn scattered_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (x, source) = (ctx.shape(0), ctx.shape(1));
    let windows = windows(ctx.attrs, x)?;
    windows.expect_data(ctx.attrs)?;
    if x.contains(&0) && !windows.counts.contains(&0) {
        return Err(Error::shape(format!("windows over {x:?} have no elements")));
    }
    let most = (layout::MAX_RANK - 1) / 2;
    if sliding(&windows, x).0.len() > most {
        return Err(Error::shape(format!("takes windows along at most {most} axes, got {:?}", windows.counts)));
    }
    if source != windows.counts.as_slice() {
        return Err(Error::shape(format!(
            "a source of shape {source:?} is not one element for each of {:?} windows",
            windows.counts
        )));
    }
    Ok(vec![x.into()])
}

/// The position that a place of a window shows; one outside the data shows the nearest, which the window shows too.
fn position(b: &mut Builder, window: Value, place: Value, axis: WindowAxis, extent: usize) -> Value {
    let number = |b: &mut Builder, v: usize| b.lit(DType::I64, v as f64);
    let (stride, low, zero, last) = (number(b, axis.stride), number(b, axis.low), number(b, 0), number(b, extent - 1));
    let start = b.binary(Op::Mul, window, stride);
    let there = b.binary(Op::Add, start, place);
    let moved = b.binary(Op::Sub, there, low);
    let least = b.binary(Op::Max, moved, zero);
    b.binary(Op::Min, least, last)
}

fn scattered(l: &mut Lower, pick: Combine) -> Result<Vec<Val>> {
    let (x, source) = (l.operand(0)?, l.operand(1)?);
    let (dims, dtype, out) = (l.dims(x), l.compute().compute(), l.out_dtype(0));
    let (x, source, init) = (l.cast(x, dtype)?, l.cast(source, dtype)?, l.param(0, dtype));
    let base = l.map_with(&dims, &[], &[init], |_, v| v[0])?;
    if l.dims(source).contains(&0) {
        return Ok(vec![l.cast(base, out)?]);
    }
    let (moving, axes, counts) = sliding(&windows(l.attrs(), &dims)?, &dims);
    let order = l.axes_last(dims.len(), &moving);
    let (moved, source) = (l.permute(x, &order), l.permute(source, &order));
    let lead = layout::count(&l.dims(moved)[..dims.len() - moving.len()])?;
    let extents: Vec<usize> = moving.iter().map(|&a| dims[a]).collect();
    // All windows: [lead, windows of the first axis, its places, windows of the second axis, ...].
    let mut seen = l.reshape(moved, &[&[lead], extents.as_slice()].concat());
    for (i, axis) in axes.iter().enumerate() {
        let places = [counts[i], axis.size];
        let shown = l.map(&places, &[], |b, _| {
            let (window, place) = (b.index(0, DType::I64), b.index(1, DType::I64));
            position(b, window, place, *axis, extents[i])
        })?;
        let selection = Selection::along(&l.dims(seen), 1 + 2 * i, &places)?;
        seen = l.gather_selection(seen, &selection, &[shown])?;
    }
    let order_of_places: Vec<usize> =
        std::iter::once(0).chain((0..axes.len()).map(|i| 1 + 2 * i)).chain((0..axes.len()).map(|i| 2 + 2 * i)).collect();
    let seen = l.permute(seen, &order_of_places);
    let windows: Dims = std::iter::once(lead).chain(counts.iter().copied()).collect();
    let places = axes.iter().map(|a| a.size).product();
    let seen = l.reshape(seen, &[windows.as_slice(), &[places]].concat());
    let chosen = l.reduce(seen, &[windows.len()], pick, false);
    // Where the chosen element stands among all: the windows' axes are the last ones.
    let flat = l.map(&windows, &[chosen], |b, v| {
        let mut rest = b.cast(v[0], DType::I64);
        let number = |b: &mut Builder, v: usize| b.lit(DType::I64, v as f64);
        let (mut flat, mut step) = (number(b, 0), 1);
        for (i, axis) in axes.iter().enumerate().rev() {
            let (size, window) = (number(b, axis.size), b.index(i as u8 + 1, DType::I64));
            let place = b.binary(Op::Rem, rest, size);
            rest = b.binary(Op::Div, rest, size);
            let (at, weight) = (position(b, window, place, *axis, extents[i]), number(b, step));
            let part = b.binary(Op::Mul, at, weight);
            flat = b.binary(Op::Add, flat, part);
            step *= extents[i];
        }
        let (line, weight) = (b.index(0, DType::I64), number(b, step));
        let part = b.binary(Op::Mul, line, weight);
        b.binary(Op::Add, flat, part)
    })?;
    let count = layout::count(&windows)?;
    let (flat, source) = (l.reshape(flat, &[count]), l.reshape(source, &[count]));
    let base = l.reshape(base, &[layout::count(&dims)?]);
    let sums = l.scatter(base, &[flat], source, Update::Combine(Monoid::Sum));
    let moved: Dims = order.iter().map(|&a| dims[a]).collect();
    let sums = l.reshape(sums, &moved);
    let sums = l.permute(sums, &inverse(&order));
    Ok(vec![l.cast(sums, out)?])
}

const COMBINED_ATTRS: &[AttrDef] = &[
    arg("window", AttrKind::PerAxis(None)),
    attr("stride", AttrKind::PerAxis(Some("1"))),
    attr("padding", AttrKind::Padding),
    attr("dilation", AttrKind::PerAxis(Some("1"))),
];
const SCATTERED_ATTRS: &[AttrDef] = &[
    arg("window", AttrKind::PerAxis(None)),
    attr("stride", AttrKind::PerAxis(Some("1"))),
    attr("padding", AttrKind::Padding),
];

const COMBINED: OpDef = OpDef {
    attrs: COMBINED_ATTRS,
    shape: sliding_shape,
    domain: Domain::Special,
    dtype: DTypeRule::new(Class::Numeric, Compute::Own, Out::Compute),
    errors: &[
        ErrorCase { call: "ft.zeros([3]).windowSum(4)", code: Code::Shape },
        ErrorCase { call: "ft.zeros([3, 3]).windowSum([1, 2, 3])", code: Code::Shape },
        ErrorCase { call: "ft.zeros([3]).windowSum(0)", code: Code::Argument },
    ],
    ..BASE
};
const EXTREME: DTypeRule = DTypeRule::new(Class::Real, Compute::Own, Out::Compute);
const SCATTERED: OpDef = OpDef {
    operands: &[tensor("x"), tensor("source")],
    attrs: SCATTERED_ATTRS,
    params: &[ParamDef { name: "initial", default: Some(0.0), integer: false }],
    shape: scattered_shape,
    domain: Domain::Special,
    dtype: DTypeRule::new(Class::Real, Compute::Promote, Out::Compute),
    errors: &[
        ErrorCase { call: "ft.zeros([4]).windowScatterMax(ft.zeros([2]), 2)", code: Code::Shape },
        ErrorCase { call: "ft.zeros([4]).windowScatterMax(ft.zeros([5]), 2, { padding: 2 })", code: Code::Shape },
    ],
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "windowSum", lower: Lowering::Graph(|l| combined(l, Monoid::Sum)),
        doc: doc("Sums of windows over all axes, whose sizes are one number or one for each axis; places outside x count as 0.", "y_p = sum_k x_(p stride + k dilation - padding)", "ft.tensor([1, 2, 3, 4]).windowSum(2) // [3, 5, 7]", "lib.stride_tricks.sliding_window_view", "Tensor.unfold"), ..COMBINED },
    OpDef { name: "windowProd", lower: Lowering::Graph(|l| combined(l, Monoid::Prod)),
        doc: doc("Products of windows over all axes; places outside x count as 1.", "y_p = prod_k x_(p stride + k dilation - padding)", "ft.tensor([1, 2, 3, 4]).windowProd(2, { padding: 'same' }) // [2, 6, 12, 4]", "lib.stride_tricks.sliding_window_view", "Tensor.unfold"), ..COMBINED },
    OpDef { name: "windowMin", lower: Lowering::Graph(|l| combined(l, Monoid::Min)), dtype: EXTREME,
        doc: doc("Smallest elements of windows over all axes; NaN wins, places outside x never do.", "y_p = min_k x_(p stride + k dilation - padding)", "ft.tensor([3, 1, 2, 4]).windowMin(2, { stride: 2 }) // [1, 2]", "lib.stride_tricks.sliding_window_view", "Tensor.unfold"), ..COMBINED },
    OpDef { name: "windowMax", lower: Lowering::Graph(|l| combined(l, Monoid::Max)), dtype: EXTREME,
        doc: doc("Largest elements of windows over all axes; NaN wins, places outside x never do.", "y_p = max_k x_(p stride + k dilation - padding)", "ft.tensor([[1, 2, 3], [6, 5, 4]]).windowMax([1, 2]) // [[2, 3], [6, 5]]", "lib.stride_tricks.sliding_window_view", "nn.functional.max_pool2d"), ..COMBINED },
    OpDef { name: "windowScatterMax", lower: Lowering::Graph(|l| scattered(l, Combine::ArgMax)),
        doc: doc("A tensor like x of one number (initial, 0 by default) to which the source's element for each window is added where the window's largest element stands, the first of several (NaN wins): the gradient of windowMax. Every window must show data.", "y_i = initial + sum_{p : argmax_k x_(p stride + k - padding) is i} source_p", "ft.tensor([1, 3, 2, 4]).windowScatterMax(ft.tensor([10, 20, 5]), 2) // [0, 30, 0, 5]", "", "nn.functional.max_unpool2d"), ..SCATTERED },
    OpDef { name: "windowScatterMin", lower: Lowering::Graph(|l| scattered(l, Combine::ArgMin)),
        doc: doc("A tensor like x of one number (initial, 0 by default) to which the source's element for each window is added where the window's smallest element stands, the first of several (NaN wins): the gradient of windowMin. Every window must show data.", "y_i = initial + sum_{p : argmin_k x_(p stride + k - padding) is i} source_p", "ft.tensor([1, 3, 2, 4]).windowScatterMin(ft.tensor([10, 20, 5]), 2) // [10, 0, 25, 0]", "", "nn.functional.max_unpool2d"), ..SCATTERED },
];

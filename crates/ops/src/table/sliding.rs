//! Windows over any axes: each combined to one element, or the place of its largest or smallest one given an element.

use super::exact;
use super::rows::{BASE, arg, attr, doc, tensor};
use super::windows::{Windows, per_axis};
use crate::attrs::Attrs;
use crate::def::{AttrDef, AttrKind, Domain, EachAxis, ErrorCase, Lowering, OpDef, ParamDef, ParamKind};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::rewrite::pad;
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
    let axes: Vec<usize> = (0..dims.len()).filter(|&a| windows.moves(a, dims[a])).collect();
    (axes.clone(), axes.iter().map(|&a| windows.axes[a]).collect(), axes.iter().map(|&a| windows.counts[a]).collect())
}

fn sliding_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    Ok(vec![windows(ctx.attrs, ctx.shape(0))?.counts])
}

fn combined(l: &mut Lower, monoid: Monoid) -> Result<Vec<Val>> {
    // Half floats are combined in float32 and rounded once.
    let (x, dtype, out) = (l.operand(0)?, l.compute().compute(), l.out_dtype(0));
    let dims = l.dims(x);
    let (moving, axes, counts) = sliding(&windows(l.attrs(), &dims)?, &dims);
    if moving.is_empty() {
        return Ok(vec![l.cast(x, out)?]);
    }
    let places = axes.iter().map(|axis| axis.size).product();
    let seen = |l: &mut Lower, x: Val| {
        let order = l.axes_last(dims.len(), &moving);
        let (moved, dtype) = (l.permute(x, &order), l.dtype(x));
        let window = Window { combine: WindowCombine::Reduce(monoid), dtype, axes: axes.clone() };
        let combined = l.window(window, &[moved], &counts);
        Ok(l.permute(combined, &inverse(&order)))
    };
    let combined = exact::combined(l, x, dtype, (monoid, places), seen)?;
    Ok(vec![l.cast(combined, out)?])
}

fn scattered_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (x, source) = (ctx.shape(0), ctx.shape(1));
    let windows = windows(ctx.attrs, x)?;
    windows.expect_data(x)?;
    if source != windows.counts.as_slice() {
        let counts = windows.counts.as_slice();
        return Err(Error::shape(format!("a source of shape {source:?} is not one element for each of {counts:?} windows")));
    }
    Ok(vec![x.into()])
}

/// The position among all elements `[lead..., s1, ..., sn]` of the place that each window `[lead..., o1, ..., on]` chose.
fn flat_position(b: &mut Builder, chosen: Value, dims: &[usize], axes: &[WindowAxis]) -> Value {
    let lead = dims.len() - axes.len();
    let (mut rest, mut flat, mut step) = (b.cast(chosen, DType::I64), b.size(0), 1);
    for (a, &extent) in dims.iter().enumerate().rev() {
        let window = b.index(a as u8, DType::I64);
        let at = match a.checked_sub(lead).map(|i| axes[i]) {
            None => window,
            Some(axis) => {
                let (size, stride, dilation) = (b.size(axis.size), b.size(axis.stride), b.size(axis.dilation));
                let mut place = rest;
                if a > lead {
                    place = b.binary(Op::Rem, rest, size);
                    rest = b.binary(Op::Div, rest, size);
                }
                let (start, further) = (b.binary(Op::Mul, window, stride), b.binary(Op::Mul, place, dilation));
                let there = b.binary(Op::Add, start, further);
                let (low, zero) = (b.size(axis.low), b.size(0));
                let inside = b.binary(Op::Sub, there, low);
                // Only the first place of a window is ever chosen outside, which is never behind the data.
                b.binary(Op::Max, inside, zero)
            }
        };
        let weight = b.size(step);
        let part = b.binary(Op::Mul, at, weight);
        flat = b.binary(Op::Add, flat, part);
        step *= extent;
    }
    flat
}

fn scattered(l: &mut Lower, pick: Combine, monoid: Monoid) -> Result<Vec<Val>> {
    // The place is that of x as it is: elements that differ may be equal in the dtype of the sums.
    let (x, source) = (l.operand(0)?, l.operand(1)?);
    let (dims, dtype, out) = (l.dims(x), l.compute().compute(), l.out_dtype(0));
    let (source, initial) = (l.cast(source, dtype)?, l.param(0, dtype));
    let base = l.map_with(&[layout::count(&dims)?], &[], &[initial], |_, v| v[0])?;
    let places = layout::count(&l.dims(source))?;
    let sums = if places == 0 {
        base
    } else {
        let (moving, axes, counts) = sliding(&windows(l.attrs(), &dims)?, &dims);
        let order = l.axes_last(dims.len(), &moving);
        let (moved, source) = (l.permute(x, &order), l.permute(source, &order));
        let (from, lead) = (l.dims(moved), dims.len() - moving.len());
        // Where all of a window is as large as what stands around the data, the first place is chosen, and the position nearest to
        // it is that of the first element.
        let around = monoid.identity_literal(l.dtype(x));
        let mut seen = pad(l, moved, &axes, &counts, around)?;
        for (i, axis) in axes.iter().enumerate() {
            seen = l.unfold(seen, lead + i, counts[i], *axis);
        }
        let windows = l.dims(source);
        let inside: Vec<usize> = (dims.len()..dims.len() + axes.len()).collect();
        let flat = if inside.is_empty() {
            l.map(&windows, &[], |b, _| {
                let first = b.size(0);
                flat_position(b, first, &from, &axes)
            })?
        } else {
            let chosen = l.reduce(seen, &inside, pick, false);
            l.map(&windows, &[chosen], |b, v| flat_position(b, v[0], &from, &axes))?
        };
        let (flat, source) = (l.reshape(flat, &[places]), l.reshape(source, &[places]));
        let sums = l.scatter(base, &[flat], source, Update::Combine(Monoid::Sum));
        let sums = l.reshape(sums, &from);
        l.permute(sums, &inverse(&order))
    };
    let sums = l.reshape(sums, &dims);
    Ok(vec![l.cast(sums, out)?])
}

const COMBINED_ATTRS: &[AttrDef] = &[
    arg("window", AttrKind::PerAxis(EachAxis::Required)),
    attr("stride", AttrKind::PerAxis(EachAxis::Number(1))),
    attr("padding", AttrKind::Padding),
    attr("dilation", AttrKind::PerAxis(EachAxis::Number(1))),
];
const SCATTERED_ATTRS: &[AttrDef] = &[
    arg("window", AttrKind::PerAxis(EachAxis::Required)),
    attr("stride", AttrKind::PerAxis(EachAxis::Number(1))),
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
    params: &[ParamDef { name: "initial", default: Some(0.0), kind: ParamKind::Element }],
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
        doc: doc("Sums of windows over all axes, whose sizes are one number or one for each axis; places outside x add nothing. An axis that windows move along counts twice among the 32 a tensor may have. Integers that their dtype does not hold are refused as in sum.", "y_p = sum_k x_(p stride + k dilation - padding)", "ft.tensor([1, 2, 3, 4]).windowSum(2) // [3, 5, 7]", "lib.stride_tricks.sliding_window_view", "Tensor.unfold"), ..COMBINED },
    OpDef { name: "windowProd", lower: Lowering::Graph(|l| combined(l, Monoid::Prod)),
        doc: doc("Products of windows over all axes; places outside x count as 1. Integers that their dtype does not hold are refused as in sum.", "y_p = prod_k x_(p stride + k dilation - padding)", "ft.tensor([1, 2, 3, 4]).windowProd(2, { padding: 'same' }) // [2, 6, 12, 4]", "lib.stride_tricks.sliding_window_view", "Tensor.unfold"), ..COMBINED },
    OpDef { name: "windowMin", lower: Lowering::Graph(|l| combined(l, Monoid::Min)), dtype: EXTREME,
        doc: doc("Smallest elements of windows over all axes; NaN wins, places outside x never do.", "y_p = min_k x_(p stride + k dilation - padding)", "ft.tensor([3, 1, 2, 4]).windowMin(2, { stride: 2 }) // [1, 2]", "lib.stride_tricks.sliding_window_view", "Tensor.unfold"), ..COMBINED },
    OpDef { name: "windowMax", lower: Lowering::Graph(|l| combined(l, Monoid::Max)), dtype: EXTREME,
        doc: doc("Largest elements of windows over all axes; NaN wins, places outside x never do.", "y_p = max_k x_(p stride + k dilation - padding)", "ft.tensor([[1, 2, 3], [6, 5, 4]]).windowMax([1, 2]) // [[2, 3], [6, 5]]", "lib.stride_tricks.sliding_window_view", "nn.functional.max_pool2d"), ..COMBINED },
    OpDef { name: "windowScatterMax", lower: Lowering::Graph(|l| scattered(l, Combine::ArgMax, Monoid::Max)),
        doc: doc("The gradient of windowMax without dilation: in a tensor of the shape of x that holds initial (0 by default), the source's element for each window is added at the place of the window's largest element, the first of several (NaN wins). Every window must show data.", "y_i = initial + sum_{p : argmax_k x_(p stride + k - padding) is i} source_p", "ft.tensor([1, 3, 2, 4]).windowScatterMax(ft.tensor([10, 20, 5]), 2) // [0, 30, 0, 5]", "", ""), ..SCATTERED },
    OpDef { name: "windowScatterMin", lower: Lowering::Graph(|l| scattered(l, Combine::ArgMin, Monoid::Min)),
        doc: doc("The gradient of windowMin without dilation: in a tensor of the shape of x that holds initial (0 by default), the source's element for each window is added at the place of the window's smallest element, the first of several (NaN wins). Every window must show data.", "y_i = initial + sum_{p : argmin_k x_(p stride + k - padding) is i} source_p", "ft.tensor([1, 3, 2, 4]).windowScatterMin(ft.tensor([10, 20, 5]), 2) // [10, 0, 25, 0]", "", ""), ..SCATTERED },
];

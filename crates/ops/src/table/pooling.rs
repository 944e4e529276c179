//! Pooling: windows over the spatial axes of `[batch, channels, spatial...]`, each combined to one element.

use super::rows::{BASE, arg, attr, doc};
use super::windows::{Windows, per_axis, spatial};
use crate::attrs::Attrs;
use crate::def::{AttrDef, AttrKind, Domain, EachAxis, ErrorCase, Form, Lowering, Namespace, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Monoid, Window, WindowCombine};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{Dims, Result};

/// The windows of a pooling of `x`.
fn windows(attrs: &Attrs, x: &[usize]) -> Result<Windows> {
    let sizes = per_axis("window", attrs.ints("window").unwrap_or(&[]), spatial(x)?)?;
    let windows = Windows::new(attrs, x, &sizes, &sizes)?;
    windows.expect_data(x)?;
    Ok(windows)
}

fn pool_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let x = ctx.shape(0);
    let counts = windows(ctx.attrs, x)?.counts;
    Ok(vec![x[..2].iter().copied().chain(counts).collect()])
}

/// The combined windows in the accumulator dtype (float32 for half floats), and how many places each has.
fn pool(l: &mut Lower, monoid: Monoid) -> Result<(Val, usize)> {
    let dtype = l.compute().compute();
    let x = l.operand(0)?;
    let x = l.cast(x, dtype)?;
    let Windows { axes, counts } = windows(l.attrs(), &l.dims(x))?;
    let places = axes.iter().map(|a| a.size).product();
    Ok((l.window(Window { combine: WindowCombine::Reduce(monoid), dtype, axes }, &[x], &counts), places))
}

fn max_pool(l: &mut Lower) -> Result<Vec<Val>> {
    let (largest, _) = pool(l, Monoid::Max)?;
    let out = l.out_dtype(0);
    Ok(vec![l.cast(largest, out)?])
}

fn avg_pool(l: &mut Lower) -> Result<Vec<Val>> {
    let (total, places) = pool(l, Monoid::Sum)?;
    let (dims, out) = (l.dims(total), l.out_dtype(0));
    Ok(vec![l.map(&dims, &[total], |b, v| {
        let n = b.lit(b.dtype(v[0]), places as f64);
        let mean = b.binary(Op::Div, v[0], n);
        b.cast(mean, out)
    })?])
}

const POOL_ATTRS: &[AttrDef] = &[
    arg("window", AttrKind::PerAxis(EachAxis::Required)),
    attr("stride", AttrKind::PerAxis(EachAxis::Window)),
    attr("padding", AttrKind::Padding),
    attr("dilation", AttrKind::PerAxis(EachAxis::Number(1))),
];

const POOL: OpDef = OpDef {
    namespace: Namespace::Nn,
    form: Form::Function,
    attrs: POOL_ATTRS,
    shape: pool_shape,
    domain: Domain::Special,
    errors: &[
        ErrorCase { call: "ft.nn.maxPool(ft.zeros([1, 1, 3]), 4)", code: Code::Shape },
        ErrorCase { call: "ft.nn.maxPool(ft.zeros([1, 1, 3]), 0)", code: Code::Argument },
        ErrorCase { call: "ft.nn.maxPool(ft.zeros([1, 1, 3]), 2, { padding: 2 })", code: Code::Shape },
        ErrorCase { call: "ft.nn.avgPool(ft.zeros([4, 4]), 2)", code: Code::Shape },
        ErrorCase { call: "ft.nn.avgPool(ft.zeros([1, 1, 4, 4]), [2, 2, 2])", code: Code::Shape },
    ],
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "maxPool", dtype: DTypeRule::new(Class::Real, Compute::Own, Out::Compute), lower: Lowering::Graph(max_pool),
        doc: doc("Largest element of each window over the spatial axes of x [batch, channels, spatial...]; NaN wins, what lies outside x never does.", "y_(b,c,p) = max_k x_(b,c,p stride + k dilation - padding)", "ft.nn.maxPool(ft.tensor([[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]]), 2, { stride: 1 }) // [[[[5, 6], [8, 9]]]]", "", "nn.functional.max_pool2d"), ..POOL },
    OpDef { name: "avgPool", dtype: DTypeRule::new(Class::Real, Compute::Float, Out::Compute), lower: Lowering::Graph(avg_pool),
        doc: doc("Arithmetic mean of each window over the spatial axes of x [batch, channels, spatial...]; places outside x count as zeros; integers give float32.", "y_(b,c,p) = sum_k x_(b,c,p stride + k dilation - padding) / places", "ft.nn.avgPool(ft.tensor([[[1, 2, 3, 4]]]), 2) // [[[1.5, 3.5]]]", "", "nn.functional.avg_pool2d"), ..POOL },
];

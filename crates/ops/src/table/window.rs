//! Convolution and pooling: windows over the spatial axes of `[batch, channels, spatial...]`.

use super::rows::{BASE, arg, attr, doc, tensor};
use crate::attrs::Attrs;
use crate::def::{AttrDef, AttrKind, Domain, ErrorCase, Form, Lowering, Namespace, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Monoid, Window, WindowAxis, WindowCombine};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{Dims, Error, Result, layout};

/// How windows lie over the spatial axes, and how many there are along each.
struct Windows {
    axes: Vec<WindowAxis>,
    counts: Dims,
}

/// One number for each of `n` axes, from a list of one or of `n`.
fn per_axis(name: &str, list: &[i64], n: usize) -> Result<Vec<usize>> {
    let at = |i: usize| list.get(if list.len() == 1 { 0 } else { i }).and_then(|&v| usize::try_from(v).ok());
    let all = (0..n).map(at).collect::<Option<Vec<_>>>().filter(|_| list.len() == 1 || list.len() == n);
    all.ok_or_else(|| Error::shape(format!("{name} {list:?} does not fit {n} spatial axes")))
}

impl Windows {
    /// Windows of these sizes over data `dims`, whose spatial axes are the last `sizes.len()`. `stride` is what a stride
    /// left out means.
    fn new(attrs: &Attrs, dims: &[usize], sizes: &[usize], stride: &[usize]) -> Result<Windows> {
        let n = sizes.len();
        let (lead, spatial) = dims.split_at(dims.len() - n);
        let strides = attrs.ints("stride").map_or(Ok(stride.to_vec()), |list| per_axis("stride", list, n))?;
        let dilations = per_axis("dilation", attrs.ints("dilation").unwrap_or(&[1]), n)?;
        let (low, high) = attrs.pairs("padding");
        let same = low.is_empty();
        let zero: &[i64] = &[0];
        let low = per_axis("padding", if same { zero } else { low }, n)?;
        let high = per_axis("padding", if same { zero } else { high }, n)?;
        let mut out = Windows { axes: Vec::new(), counts: Dims::new() };
        let (mut padded, mut shown): (Dims, Dims) = (lead.into(), lead.into());
        for i in 0..n {
            let (size, stride, dilation, extent) = (sizes[i], strides[i], dilations[i], spatial[i]);
            let overflow = || Error::shape(format!("windows over {dims:?} reach beyond 2^53 positions"));
            if [size, stride, dilation, low[i], high[i]].iter().any(|&v| v > layout::MAX_ELEMENTS) {
                return Err(overflow());
            }
            let span = (size - 1).checked_mul(dilation).filter(|&s| s < layout::MAX_ELEMENTS).ok_or_else(overflow)? + 1;
            let (low, high) = if same {
                let missing = (extent.div_ceil(stride).saturating_sub(1) * stride + span).saturating_sub(extent);
                (missing / 2, missing - missing / 2)
            } else {
                (low[i], high[i])
            };
            let length = low + extent + high;
            let count = match length.checked_sub(span) {
                _ if same => extent.div_ceil(stride),
                Some(rest) => rest / stride + 1,
                None => {
                    return Err(Error::shape(format!(
                        "a window of {size} places (dilation {dilation}, {span} positions) is larger than axis {} of {dims:?} \
                         with padding [{low}, {high}]",
                        lead.len() + i
                    )));
                }
            };
            out.axes.push(WindowAxis { size, stride, dilation, low });
            out.counts.push(count);
            padded.push(length.max(out.axes[i].reach(count)));
            shown.extend([count, size]);
        }
        // What a device without windows stores or views must be countable too.
        layout::count(&padded)?;
        layout::count(&shown)?;
        Ok(out)
    }

    /// Of a convolution of `x` with `w`.
    ///
    /// # Errors
    /// `Code::Shape` and `Code::Argument` for shapes and options that do not go together.
    fn of_conv(attrs: &Attrs, x: &[usize], w: &[usize]) -> Result<Windows> {
        if !(3..=5).contains(&x.len()) || w.len() != x.len() {
            return Err(Error::shape(format!(
                "takes [batch, channels, spatial...] and weights [out, channels / groups, window...] with 1 to 3 spatial axes, \
                 got {x:?} and {w:?}"
            )));
        }
        let groups = attrs.int("groups");
        let fits = usize::try_from(groups).ok().filter(|&g| g > 0 && w[1].checked_mul(g) == Some(x[1]));
        match fits {
            Some(g) if !w[0].is_multiple_of(g) => {
                Err(Error::shape(format!("{} output channels of weights {w:?} are not {g} equal groups", w[0])))
            }
            Some(_) if w[2..].contains(&0) => Err(Error::shape(format!("weights {w:?} have a window of no places"))),
            Some(_) => Windows::new(attrs, x, &w[2..], &vec![1; w.len() - 2]),
            None if groups < 1 => Err(Error::argument(format!("groups must be positive, got {groups}"))),
            None => Err(Error::shape(format!(
                "{} channels of {x:?} are not {groups} group(s) of the {} that weights {w:?} take",
                x[1], w[1]
            ))),
        }
    }

    /// Of a pooling of `x`.
    ///
    /// # Errors
    /// As [`Windows::of_conv`].
    fn of_pool(attrs: &Attrs, x: &[usize]) -> Result<Windows> {
        if !(3..=5).contains(&x.len()) {
            return Err(Error::shape(format!("takes [batch, channels, spatial...] with 1 to 3 spatial axes, got {x:?}")));
        }
        let sizes = per_axis("window", attrs.ints("window").unwrap_or(&[]), x.len() - 2)?;
        let windows = Windows::new(attrs, x, &sizes, &sizes)?;
        let (low, high) = attrs.pairs("padding");
        for (i, axis) in windows.axes.iter().enumerate() {
            let side = |list: &[i64]| list.get(if list.len() == 1 { 0 } else { i }).copied().unwrap_or(0);
            if side(low).max(side(high)) >= axis.span() as i64 {
                return Err(Error::shape(format!(
                    "padding {:?} would leave windows {sizes:?} over {x:?} without data",
                    [side(low), side(high)]
                )));
            }
        }
        Ok(windows)
    }
}

fn conv_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (x, w) = (ctx.shape(0), ctx.shape(1));
    let counts = Windows::of_conv(ctx.attrs, x, w)?.counts;
    let out: Dims = [x[0], w[0]].into_iter().chain(counts.iter().copied()).collect();
    // The unfolded data, channels and places together.
    layout::count(&[&[x[0], x[1]], &w[2..], &counts].concat())?;
    Ok(vec![out])
}

fn conv(l: &mut Lower) -> Result<Vec<Val>> {
    let dtype = l.compute();
    let (mut x, mut w) = (l.operand(0)?, l.operand(1)?);
    x = l.cast(x, dtype)?;
    w = l.cast(w, dtype)?;
    let (from, weights, out) = (l.dims(x), l.dims(w), l.out_dims(0));
    let Windows { axes, counts } = Windows::of_conv(l.attrs(), &from, &weights)?;
    let groups = l.attrs().int("groups") as usize;
    x = l.reshape(x, &[&[from[0], groups, weights[1]], &from[2..]].concat());
    w = l.reshape(w, &[&[groups, weights[0] / groups], &weights[1..]].concat());
    let y = l.window(Window { combine: WindowCombine::Dot, dtype, axes }, &[x, w], &counts);
    Ok(vec![l.reshape(y, &out)])
}

fn pool_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let x = ctx.shape(0);
    let counts = Windows::of_pool(ctx.attrs, x)?.counts;
    Ok(vec![x[..2].iter().copied().chain(counts).collect()])
}

/// The combined windows in the accumulator dtype (float32 for half floats), and how many places each has.
fn pool(l: &mut Lower, monoid: Monoid) -> Result<(Val, usize)> {
    let dtype = l.compute().compute();
    let x = l.operand(0)?;
    let x = l.cast(x, dtype)?;
    let Windows { axes, counts } = Windows::of_pool(l.attrs(), &l.dims(x))?;
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
    arg("window", AttrKind::PerAxis(None)),
    attr("stride", AttrKind::PerAxis(Some("the window's size"))),
    attr("padding", AttrKind::Padding),
    attr("dilation", AttrKind::PerAxis(Some("1"))),
];
const CONV_ATTRS: &[AttrDef] = &[
    attr("stride", AttrKind::PerAxis(Some("1"))),
    attr("padding", AttrKind::Padding),
    attr("dilation", AttrKind::PerAxis(Some("1"))),
    attr("groups", AttrKind::Int(Some(1))),
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
    OpDef { name: "conv", namespace: Namespace::Nn, form: Form::Function, operands: &[tensor("x"), tensor("weights")], attrs: CONV_ATTRS,
        dtype: DTypeRule::new(Class::Numeric, Compute::Promote, Out::Compute), shape: conv_shape, lower: Lowering::Graph(conv), domain: Domain::Special,
        errors: &[
            ErrorCase { call: "ft.nn.conv(ft.zeros([1, 3, 8, 8]), ft.zeros([4, 2, 3, 3]))", code: Code::Shape },
            ErrorCase { call: "ft.nn.conv(ft.zeros([1, 1, 2]), ft.zeros([1, 1, 3]))", code: Code::Shape },
            ErrorCase { call: "ft.nn.conv(ft.zeros([3, 3]), ft.zeros([2, 2]))", code: Code::Shape },
            ErrorCase { call: "ft.nn.conv(ft.zeros([1, 2, 4]), ft.zeros([3, 1, 2]), { groups: 2 })", code: Code::Shape },
            ErrorCase { call: "ft.nn.conv(ft.zeros([1, 1, 4]), ft.zeros([1, 1, 2]), { stride: 0 })", code: Code::Argument },
            ErrorCase { call: "ft.nn.conv(ft.zeros([1, 1, 4]), ft.zeros([1, 1, 2]), { padding: [[1, -1]] })", code: Code::Argument },
        ],
        doc: doc("Convolution (cross-correlation) of x [batch, channels, spatial...] with weights [out, channels / groups, window...], over one to three spatial axes; what lies outside x counts as zero.", "y_(b,o,p) = sum_(c,k) weights_(o,c,k) x_(b,c,p stride + k dilation - padding)", "ft.nn.conv(ft.tensor([[[1, 2, 3, 4]]]), ft.tensor([[[1, 10]]]), { stride: 2, padding: 1 }) // [[[10, 32, 4]]]", "", "nn.functional.conv2d"), ..BASE },
    OpDef { name: "maxPool", dtype: DTypeRule::new(Class::Real, Compute::Own, Out::Compute), lower: Lowering::Graph(max_pool),
        doc: doc("Largest element of each window over the spatial axes of x [batch, channels, spatial...]; NaN wins, what lies outside x never does.", "y_(b,c,p) = max_k x_(b,c,p stride + k dilation - padding)", "ft.nn.maxPool(ft.tensor([[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]]), 2, { stride: 1 }) // [[[[5, 6], [8, 9]]]]", "", "nn.functional.max_pool2d"), ..POOL },
    OpDef { name: "avgPool", dtype: DTypeRule::new(Class::Real, Compute::Float, Out::Compute), lower: Lowering::Graph(avg_pool),
        doc: doc("Arithmetic mean of each window over the spatial axes of x [batch, channels, spatial...]; places outside x count as zeros; integers give float32.", "y_(b,c,p) = sum_k x_(b,c,p stride + k dilation - padding) / places", "ft.nn.avgPool(ft.tensor([[[1, 2, 3, 4]]]), 2) // [[[1.5, 3.5]]]", "", "nn.functional.avg_pool2d"), ..POOL },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attrs::Value;

    /// Windows of `size` along one axis of `extent`, and the padding before the first.
    fn one(extent: usize, size: usize, padding: Value, stride: i64, dilation: i64) -> Result<(usize, usize)> {
        let attrs = Attrs::decode(&ROWS[0], &[-1.0, 1.0, 0.0, 1.0, 0.0, -1.0, 1.0])?;
        let attrs = attrs.with("padding", padding).with("stride", Value::Ints(vec![stride]));
        let windows = Windows::new(&attrs.with("dilation", Value::Ints(vec![dilation])), &[2, 3, extent], &[size], &[1])?;
        Ok((windows.counts[0], windows.axes[0].low))
    }

    #[test]
    fn windows_are_counted_as_documented() {
        let sides = |low, high| Value::Pairs(vec![low], vec![high]);
        assert_eq!(one(7, 3, sides(0, 0), 2, 1), Ok((3, 0)));
        assert_eq!(one(7, 3, sides(1, 0), 2, 2), Ok((2, 1)));
        assert_eq!(one(0, 2, sides(1, 1), 1, 1), Ok((1, 1)));
        for (extent, size, stride, dilation) in [(7, 3, 2, 1), (7, 4, 1, 3), (5, 1, 3, 1), (1, 5, 4, 2), (0, 3, 2, 1)] {
            let (count, low) = one(extent, size, Value::None, stride as i64, dilation as i64).unwrap();
            assert_eq!(count, extent.div_ceil(stride));
            assert!(extent == 0 || low <= (size - 1) * dilation / 2);
        }
        let huge = 1 << 53;
        for (size, padding, dilation) in [(5, 0, 1), (2, 0, 7), (3, 0, huge - 1), (2, huge, 1), (1 << 40, 0, 1 << 40)] {
            assert_eq!(one(4, size, sides(padding, 0), 1, dilation).unwrap_err().code, Code::Shape);
        }
    }
}

//! Transposed convolution: the elements of data, each times the weights, where a convolution would have read them.

use super::convolution::{apart, spread, windowed};
use super::rows::{BASE, attr, doc, tensor};
use super::windows::{Windows, per_axis, sides, spatial};
use crate::attrs::Attrs;
use crate::def::{AttrKind, Domain, EachAxis, ErrorCase, Form, Lowering, Namespace, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::WindowAxis;
use ferrotensor_core::{Dims, Error, Result, layout};

/// Along one spatial axis: the result's extent, and where it starts in what all elements reach.
struct Along {
    stride: usize,
    dilation: usize,
    start: usize,
    extent: usize,
}

/// How the weights lie along each spatial axis.
fn along(attrs: &Attrs, x: &[usize], w: &[usize]) -> Result<Vec<Along>> {
    let n = spatial(x)?;
    if w.len() != n + 2 {
        return Err(Error::shape(format!(
            "takes [batch, channels, spatial...] and weights [channels, out / groups, window...] with 1 to 3 spatial axes, \
             got {x:?} and {w:?}"
        )));
    }
    let groups = attrs.int("groups");
    if w[0] != x[1] {
        return Err(Error::shape(format!("{} channels of {x:?} are not the {} of weights {w:?}", x[1], w[0])));
    }
    match usize::try_from(groups) {
        Ok(g) if g > 0 && x[1].is_multiple_of(g) => {}
        Ok(g) if g > 0 => return Err(Error::shape(format!("{} channels of {x:?} are not {g} equal groups", x[1]))),
        _ => return Err(Error::argument(format!("groups must be positive, got {groups}"))),
    }
    if w[2..].contains(&0) {
        return Err(Error::shape(format!("weights {w:?} have a window of no places")));
    }
    if x[2..].contains(&0) {
        return Err(Error::shape(format!("a spatial axis of {x:?} has no elements")));
    }
    let strides = per_axis("stride", attrs.ints("stride").unwrap_or(&[1]), n)?;
    let dilations = per_axis("dilation", attrs.ints("dilation").unwrap_or(&[1]), n)?;
    let more = per_axis("outputPadding", attrs.ints("outputPadding").unwrap_or(&[0]), n)?;
    let sides = sides(attrs, n)?;
    if sides.is_none() && more.iter().any(|&m| m > 0) {
        return Err(Error::argument("padding 'same' says how long the result is; it leaves no choice to outputPadding"));
    }
    let one = |i: usize| -> Result<Along> {
        let (extent, size, stride, dilation) = (x[i + 2], w[i + 2], strides[i], dilations[i]);
        let overflow = || Error::shape(format!("transposed windows over {x:?} reach beyond 2^53 positions"));
        let within = |v: Option<usize>| v.filter(|&v| v < layout::MAX_ELEMENTS).ok_or_else(overflow);
        let (reach, before) = ((extent - 1).checked_mul(stride), (size - 1).checked_mul(dilation));
        let (reach, before) = (within(reach)?, within(before)?);
        let Some([low, high]) = &sides else {
            return Ok(Along {
                stride,
                dilation,
                start: (before + 1).saturating_sub(stride) / 2,
                extent: within(extent.checked_mul(stride))?,
            });
        };
        let (low, high, more) = (within(Some(low[i]))?, within(Some(high[i]))?, within(Some(more[i]))?);
        if more >= stride.max(dilation) {
            let least = stride.max(dilation);
            return Err(Error::argument(format!("outputPadding {more} must be below the stride or dilation {least}")));
        }
        match (reach + before + 1 + more).checked_sub(low + high) {
            Some(n) if n > 0 => Ok(Along { stride, dilation, start: low, extent: n }),
            _ => Err(Error::shape(format!("padding [{low}, {high}] leaves nothing of {} positions", reach + before + 1))),
        }
    };
    (0..n).map(one).collect()
}

fn transposed_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (x, w) = (ctx.shape(0), ctx.shape(1));
    let along = along(ctx.attrs, x, w)?;
    let channels = w[1].checked_mul(ctx.attrs.int("groups") as usize).ok_or_else(|| Error::shape("size overflows"))?;
    // The unfolded data, channels and places together, and the data with zeros between and around them.
    let extents: Vec<usize> = along.iter().map(|a| a.extent).collect();
    layout::count(&[&[x[0], x[1]], &w[2..], &extents].concat())?;
    let padded = along.iter().zip(&w[2..]).map(|(a, &size)| a.extent + (size - 1) * a.dilation);
    layout::count(&x[..2].iter().copied().chain(padded).collect::<Dims>())?;
    apart(x, &along.iter().map(|a| a.stride).collect::<Vec<_>>())?;
    Ok(vec![[x[0], channels].into_iter().chain(extents).collect()])
}

/// A convolution with the weights turned around, over the data with zeros between neighbours (Dumoulin and Visin, 2016).
fn transposed(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, w) = (l.operand(0)?, l.operand(1)?);
    let (from, weights, groups) = (l.dims(x), l.dims(w), l.attrs().int("groups") as usize);
    let along = along(l.attrs(), &from, &weights)?;
    let strides: Vec<usize> = along.iter().map(|a| a.stride).collect();
    let mut x = spread(l, x, &strides)?;
    let mut windows = Windows { axes: Vec::new(), counts: Dims::new() };
    for (i, a) in along.iter().enumerate() {
        let (size, before) = (weights[i + 2], (weights[i + 2] - 1) * a.dilation);
        // Positions cut off at the start are cut off the data where no window reaches back to them.
        if let Some(cut @ 1..) = a.start.checked_sub(before) {
            let n = l.dims(x)[i + 2];
            x = l.narrow(x, i + 2, cut.min(n), n.saturating_sub(cut));
        }
        windows.axes.push(WindowAxis { size, stride: 1, dilation: a.dilation, low: before.saturating_sub(a.start) });
        windows.counts.push(a.extent);
    }
    let spatial: Vec<usize> = (2..weights.len()).collect();
    let turned = l.flip(w, &spatial);
    let grouped = l.reshape(turned, &[&[groups, weights[0] / groups], &weights[1..]].concat());
    let order: Vec<usize> = [0, 2, 1].into_iter().chain(3..weights.len() + 1).collect();
    let grouped = l.permute(grouped, &order);
    Ok(vec![windowed(l, x, grouped, windows)?])
}

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "convTranspose", namespace: Namespace::Nn, form: Form::Function, operands: &[tensor("x"), tensor("weights")],
        attrs: &[attr("stride", AttrKind::PerAxis(EachAxis::Number(1))), attr("padding", AttrKind::Padding), attr("outputPadding", AttrKind::PerAxis(EachAxis::Number(0))), attr("dilation", AttrKind::PerAxis(EachAxis::Number(1))), attr("groups", AttrKind::Int(Some(1)))],
        dtype: DTypeRule::new(Class::Numeric, Compute::Sum, Out::Compute), shape: transposed_shape, lower: Lowering::Graph(transposed), domain: Domain::Special,
        errors: &[
            ErrorCase { call: "ft.nn.convTranspose(ft.zeros([1, 3, 8]), ft.zeros([2, 4, 3]))", code: Code::Shape },
            ErrorCase { call: "ft.nn.convTranspose(ft.zeros([1, 3, 8]), ft.zeros([3, 4, 3]), { groups: 2 })", code: Code::Shape },
            ErrorCase { call: "ft.nn.convTranspose(ft.zeros([1, 1, 2]), ft.zeros([1, 1, 2]), { padding: 2 })", code: Code::Shape },
            ErrorCase { call: "ft.nn.convTranspose(ft.zeros([1, 1, 2]), ft.zeros([1, 1, 2]), { stride: 2, outputPadding: 2 })", code: Code::Argument },
        ],
        doc: doc("Transposed convolution of x [batch, channels, spatial...] with weights [channels, out / groups, window...], over one to three spatial axes: the gradient of a convolution by its data. With padding 'same' the result is stride times as long. Small integers give 32 bits, as in sum; a result that its dtype does not hold is a DTypeError when it is read.", "y_(b,o,i stride + k dilation - padding) += x_(b,c,i) weights_(c,o,k)", "ft.nn.convTranspose(ft.tensor([[[1, 2]]]), ft.tensor([[[1, 10, 100]]]), { stride: 2 }) // [[[1, 10, 102, 20, 200]]]", "", "nn.functional.conv_transpose2d"), ..BASE },
];

//! Convolution, as neural networks have it: windows over the spatial axes of `[batch, channels, spatial...]` times weights.

use super::exact;
use super::pad;
use super::rows::{BASE, attr, doc, tensor};
use super::windows::{Windows, per_axis, spatial};
use crate::attrs::Attrs;
use crate::def::{AttrDef, AttrKind, Domain, EachAxis, ErrorCase, Form, Lowering, Namespace, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::graph::{IndexItem, Number, View};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Window, WindowCombine};
use ferrotensor_core::{Dims, Error, Result, layout};

/// What stands around the data, as the option names it, in the order of `pad`'s modes but for zeros.
const MODES: AttrKind = AttrKind::Choice(&["zeros", "replicate", "reflect", "symmetric", "circular"]);

/// The windows of a convolution of `x`, whose elements are already apart, with `w`.
fn windows(attrs: &Attrs, x: &[usize], w: &[usize]) -> Result<Windows> {
    if w.len() != spatial(x)? + 2 {
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

/// Elements too far apart to be counted.
fn overflow(x: &[usize]) -> Error {
    Error::shape(format!("{x:?} with zeros between its elements reaches beyond 2^53 positions"))
}

/// `[batch, channels, spatial...]` with as many zeros between neighbours along each spatial axis as make them so far apart.
///
/// # Errors
/// `Code::Shape` for more than a tensor may hold.
pub fn apart(x: &[usize], steps: &[usize]) -> Result<Dims> {
    let spread = |(&d, &step): (&usize, &usize)| d.saturating_sub(1).checked_mul(step).and_then(|n| n.checked_add(d.min(1)));
    let spatial = x[2..].iter().zip(steps).map(spread).collect::<Option<Vec<_>>>();
    let dims: Dims = x[..2].iter().copied().chain(spatial.ok_or_else(|| overflow(x))?).collect();
    layout::count(&dims)?;
    Ok(dims)
}

/// The data with zeros between neighbours, see [`apart`].
pub fn spread(l: &mut Lower, x: Val, steps: &[usize]) -> Result<Val> {
    let (from, dtype) = (l.dims(x), l.dtype(x));
    let dims = apart(&from, steps)?;
    if dims == from {
        return Ok(x);
    }
    let zeros = l.map(&dims, &[], |b, _| b.lit(dtype, 0.0))?;
    let region = from.iter().enumerate().map(|(axis, &len)| {
        let step = if axis < 2 { 1 } else { steps[axis - 2] as i64 };
        IndexItem::Slice { start: Number::Const(0), step: Number::Const(step), len }
    });
    l.assemble(&dims, Some(zeros), vec![(x, Some(View::Index(region.collect())))])
}

/// Steps between neighbours of `x` along its spatial axes.
fn steps(attrs: &Attrs, x: &[usize]) -> Result<Vec<usize>> {
    per_axis("inputDilation", attrs.ints("inputDilation").unwrap_or(&[1]), spatial(x)?)
}

fn conv_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (x, w) = (ctx.shape(0), ctx.shape(1));
    let steps = steps(ctx.attrs, x)?;
    let Windows { counts, .. } = windows(ctx.attrs, &apart(x, &steps)?, w)?;
    if ctx.attrs.int("paddingMode") != 0 && x[2..].contains(&0) && !counts.contains(&0) {
        return Err(Error::shape(format!("an axis of no elements cannot be continued, got shape {x:?}")));
    }
    let out: Dims = [x[0], w[0]].into_iter().chain(counts.iter().copied()).collect();
    // The unfolded data, channels and places together.
    layout::count(&[&[x[0], x[1]], &w[2..], &counts].concat())?;
    Ok(vec![out])
}

/// Windows over `x [batch, channels, spatial...]` times weights `[groups, out, in, window...]`.
pub fn windowed(l: &mut Lower, x: Val, weights: Val, windows: Windows) -> Result<Val> {
    let (from, to) = (l.dims(x), l.dims(weights));
    let x = l.reshape(x, &[&[from[0], to[0], to[2]], &from[2..]].concat());
    let Windows { axes, counts } = windows;
    let places = to[2..].iter().product();
    let y = exact::multiplied(l, &[x, weights], l.compute(), (2, places), |l, v| {
        let window = Window { combine: WindowCombine::Dot, dtype: l.dtype(v[0]), axes: axes.clone() };
        Ok(l.window(window, v, &counts))
    })?;
    Ok(l.reshape(y, &[&[from[0], to[0] * to[1]], counts.as_slice()].concat()))
}

fn conv(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, w, mode) = (l.operand(0)?, l.operand(1)?, l.attrs().int("paddingMode"));
    let steps = steps(l.attrs(), &l.dims(x))?;
    let mut x = spread(l, x, &steps)?;
    let (from, weights) = (l.dims(x), l.dims(w));
    let mut windows = windows(l.attrs(), &from, &weights)?;
    if mode != pad::CONSTANT && !windows.counts.contains(&0) {
        let mut widths = vec![(0, 0); 2];
        for (i, axis) in windows.axes.iter_mut().enumerate() {
            let reach = axis.reach(windows.counts[i]);
            widths.push((axis.low, reach.saturating_sub(axis.low + from[i + 2])));
            axis.low = 0;
        }
        x = pad::continued(l, x, &widths, mode)?;
    }
    let groups = l.attrs().int("groups") as usize;
    let w = l.reshape(w, &[&[groups, weights[0] / groups], &weights[1..]].concat());
    Ok(vec![windowed(l, x, w, windows)?])
}

const CONV_ATTRS: &[AttrDef] = &[
    attr("stride", AttrKind::PerAxis(EachAxis::Number(1))),
    attr("padding", AttrKind::Padding),
    attr("dilation", AttrKind::PerAxis(EachAxis::Number(1))),
    attr("groups", AttrKind::Int(Some(1))),
    attr("inputDilation", AttrKind::PerAxis(EachAxis::Number(1))),
    attr("paddingMode", MODES),
];

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "conv", namespace: Namespace::Nn, form: Form::Function, operands: &[tensor("x"), tensor("weights")], attrs: CONV_ATTRS,
        dtype: DTypeRule::new(Class::Numeric, Compute::Sum, Out::Compute), shape: conv_shape, lower: Lowering::Graph(conv), domain: Domain::Special,
        errors: &[
            ErrorCase { call: "ft.nn.conv(ft.zeros([1, 3, 8, 8]), ft.zeros([4, 2, 3, 3]))", code: Code::Shape },
            ErrorCase { call: "ft.nn.conv(ft.zeros([1, 1, 2]), ft.zeros([1, 1, 3]))", code: Code::Shape },
            ErrorCase { call: "ft.nn.conv(ft.zeros([3, 3]), ft.zeros([2, 2]))", code: Code::Shape },
            ErrorCase { call: "ft.nn.conv(ft.zeros([1, 2, 4]), ft.zeros([3, 1, 2]), { groups: 2 })", code: Code::Shape },
            ErrorCase { call: "ft.nn.conv(ft.zeros([1, 1, 4]), ft.zeros([1, 1, 2]), { stride: 0 })", code: Code::Argument },
            ErrorCase { call: "ft.nn.conv(ft.zeros([1, 1, 4]), ft.zeros([1, 1, 2]), { padding: [[1, -1]] })", code: Code::Argument },
        ],
        doc: doc("Convolution (cross-correlation) of x [batch, channels, spatial...] with weights [out, channels / groups, window...], over one to three spatial axes; what lies outside x counts as zero, or shows it again (paddingMode). inputDilation sets zeros between its elements. Small integers give 32 bits, as in sum; a result that its dtype does not hold is a DTypeError when it is read.", "y_(b,o,p) = sum_(c,k) weights_(o,c,k) x_(b,c,p stride + k dilation - padding)", "ft.nn.conv(ft.tensor([[[1, 2, 3, 4]]]), ft.tensor([[[1, 10]]]), { stride: 2, padding: 1 }) // [[[10, 32, 4]]]", "", "nn.functional.conv2d"), ..BASE },
];

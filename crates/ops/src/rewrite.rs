//! Kernels in terms of others, for devices that lack them: [`Window`] becomes padding, views of windows, and a map, a
//! reduction or a matrix product. Every rewriting stands here and has the bits (or the bound) that the kernel promises.

use crate::def::OpId;
use crate::graph::{Def, Graph, IndexItem, Number, Val, View};
use crate::write::{Writer, band};
use ferrotensor_core::kernel::{Combine, Kernel, Monoid, Window, WindowAxis, WindowCombine, tree};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Dims, Result};
use smallvec::SmallVec;

/// A kernel that was rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// The operation it belongs to.
    pub op: OpId,
    /// Its kind, see [`Kernel::kind`].
    pub kernel: &'static str,
    /// Dtype of its first operand.
    pub dtype: DType,
}

/// Replaces each kernel that the device lacks and that has a rewriting; `outputs` keep meaning the same values. What the
/// rewriting is made of may be lacking too: that is for the next step of resolution.
///
/// # Errors
/// `Code::Internal` for operands that break a kernel's contract.
pub fn rewrite(graph: &mut Graph, outputs: &mut [Val], supports: &dyn Fn(&Kernel) -> bool) -> Result<Vec<Rewritten>> {
    let lacks = |def: &Def| matches!(def, Def::Kernel { kernel: kernel @ Kernel::Window(_), .. } if !supports(kernel));
    if !graph.nodes.iter().any(|n| lacks(&n.def)) {
        return Ok(Vec::new());
    }
    let old = std::mem::take(graph);
    let (mut now, mut rewritten): (Vec<Val>, Vec<Rewritten>) = (Vec::with_capacity(old.values.len()), Vec::new());
    for mut node in old.nodes {
        let lacking = lacks(&node.def);
        let values = &old.values[node.first.0 as usize..][..node.outputs as usize];
        node.def.operands_mut(|v| *v = now[v.0 as usize]);
        match node.def {
            Def::Kernel { kernel: Kernel::Window(kernel), inputs, .. } if lacking => {
                rewritten.push(Rewritten { op: node.op, kernel: "window", dtype: kernel.dtype });
                let mut w = Writer { graph, op: node.op, call: () };
                now.push(window(&mut w, &kernel, &inputs, &values[0].dims, supports)?);
            }
            def => {
                let first = graph.push(node.op, def, values.iter().map(|v| (v.dtype, v.dims.clone())));
                now.extend((first.0..).take(values.len()).map(Val));
            }
        }
    }
    outputs.iter_mut().for_each(|v| *v = now[v.0 as usize]);
    Ok(rewritten)
}

/// Places of a window that one map reads side by side: a 3 x 3 pooling is five times faster so, and each place is a stream
/// that the hardware prefetcher must follow.
const SIDE_BY_SIDE: usize = 12;

/// Of fewer windows than this a convolution is one product for all of the batch: below, the columns of one are too few for the tiles of a
/// matrix product. The gradient of 3 x 3 weights over 32 x 32 windows takes 75 ms instead of 213, of 8 x 8 windows 0.8 instead of 2.
const FEW_WINDOWS: usize = 64;

/// A pooling of small windows is a map that combines one strided view for each place, of large ones a reduction of the
/// unfolded data. A convolution multiplies the weights, as a matrix `[cout, cin w1 ... wn]`, with the unfolded data as a
/// matrix of one column for each window (im2col: that matrix is stored, unless all windows are single places).
fn window(w: &mut Writer, kernel: &Window, inputs: &[Val], out: &Dims, supports: &dyn Fn(&Kernel) -> bool) -> Result<Val> {
    let n = kernel.axes.len();
    let lead = out.len() - n;
    let outside = match kernel.combine {
        WindowCombine::Reduce(monoid) => monoid.identity_literal(kernel.dtype),
        WindowCombine::Dot => 0.0,
    };
    let mut v = pad(w, inputs[0], &kernel.axes, &out[lead..], outside)?;
    let places: usize = kernel.axes.iter().map(|a| a.size).product();
    if let (WindowCombine::Reduce(monoid), true) = (kernel.combine, places <= SIDE_BY_SIDE) {
        let map = side_by_side(w, v, &kernel.axes, monoid, out)?;
        // A device may take fewer operands; the map is then used by nobody.
        if matches!(w.graph.nodes.last().map(|n| &n.def), Some(Def::Kernel { kernel, .. }) if supports(kernel)) {
            return Ok(map);
        }
    }
    for (i, (axis, &windows)) in kernel.axes.iter().zip(&out[lead..]).enumerate() {
        v = w.unfold(v, lead + i, windows, *axis);
    }
    let last: Vec<usize> = (out.len()..out.len() + n).collect();
    let WindowCombine::Reduce(monoid) = kernel.combine else {
        let windows: usize = out[lead..].iter().product();
        if out[0] > 1 && windows < FEW_WINDOWS {
            return Ok(merged(w, v, inputs[1], out, &last));
        }
        // [batch, group, cin, o..., w...] -> [batch, group, cin w..., o...]
        let order: Vec<usize> = (0..lead).chain(last).chain(lead..out.len()).collect();
        let v = w.permute(v, &order);
        let dims = w.dims(v);
        let inner = dims[2..lead + n].iter().product();
        let columns = w.reshape(v, &[dims[0], dims[1], inner, windows]);
        let rows = w.reshape(inputs[1], &[dims[1], out[2], inner]);
        let rows = w.broadcast(rows, &[dims[0], dims[1], out[2], inner])?;
        let product = w.contract(rows, columns);
        return Ok(w.reshape(product, out));
    };
    Ok(w.reduce(v, &last, Combine::Value(monoid), false))
}

/// A product for each group instead of one for each of the batch too: of few windows those have next to no columns, and would read all
/// weights for each of the batch. The gradient of a convolution's weights is such a one.
fn merged(w: &mut Writer, windows: Val, weights: Val, out: &Dims, last: &[usize]) -> Val {
    let (rank, n) = (out.len(), last.len());
    // [batch, group, cin, o..., w...] -> [group, cin w..., batch o...]
    let order: Vec<usize> = [1, 2].into_iter().chain(last.iter().copied()).chain([0]).chain(3..rank).collect();
    let v = w.permute(windows, &order);
    let dims = w.dims(v);
    let (inner, columns) = (dims[1..2 + n].iter().product(), dims[2 + n..].iter().product());
    let columns = w.reshape(v, &[dims[0], inner, columns]);
    let rows = w.reshape(weights, &[dims[0], out[2], inner]);
    let product = w.contract(rows, columns);
    let apart: Vec<usize> = [out[1], out[2], out[0]].into_iter().chain(out[3..].iter().copied()).collect();
    let product = w.reshape(product, &apart);
    let order: Vec<usize> = [2, 0, 1].into_iter().chain(3..rank).collect();
    w.permute(product, &order)
}

/// All windows at once, place by place, in the order of [`tree`] for one row of lanes.
fn side_by_side(w: &mut Writer, padded: Val, axes: &[WindowAxis], monoid: Monoid, out: &Dims) -> Result<Val> {
    let lead = out.len() - axes.len();
    let mut views = Vec::new();
    for mut place in 0..axes.iter().map(|a| a.size).product() {
        let mut items: SmallVec<[IndexItem; 6]> = SmallVec::new();
        for (a, &len) in out.iter().enumerate().rev() {
            let (start, step) = match a.checked_sub(lead) {
                Some(i) => {
                    let k = place % axes[i].size;
                    place /= axes[i].size;
                    (k * axes[i].dilation, axes[i].stride)
                }
                None => (0, 1),
            };
            items.push(IndexItem::Slice { start: Number::Const(start as i64), step: Number::Const(step as i64), len });
        }
        items.reverse();
        views.push(w.index(padded, &items));
    }
    let op = match monoid {
        // On bool they are or and and.
        Monoid::Sum | Monoid::Any => Op::Add,
        Monoid::Prod | Monoid::All => Op::Mul,
        Monoid::Max => Op::Max,
        Monoid::Min => Op::Min,
    };
    w.map(out, &views, |b, elements| {
        let mut lanes = elements.to_vec();
        let mut width = tree::LANES / 2;
        while width > 0 {
            for lane in 0..width.min(lanes.len().saturating_sub(width)) {
                lanes[lane] = b.binary(op, lanes[lane], lanes[lane + width]);
            }
            width /= 2;
        }
        lanes[0]
    })
}

/// The data with `outside` around it, as far as the windows reach.
///
/// # Errors
/// As [`Writer::assemble`].
pub fn pad<C>(w: &mut Writer<C>, data: Val, axes: &[WindowAxis], windows: &[usize], outside: f64) -> Result<Val> {
    let (dims, dtype) = (w.dims(data), w.dtype(data));
    let lead = dims.len() - axes.len();
    let mut padded = dims.clone();
    for (i, (axis, &count)) in axes.iter().zip(windows).enumerate() {
        padded[lead + i] = (axis.low + dims[lead + i]).max(axis.reach(count));
    }
    if padded == dims {
        return Ok(data);
    }
    let fill = w.map(&[], &[], |b, _| {
        // A complex literal has +0 as imaginary part, which is no identity of -0.
        if dtype.is_complex() && outside == 0.0 && outside.is_sign_negative() {
            let zero = b.lit(dtype, 0.0);
            return b.unary(Op::Neg, zero);
        }
        b.lit(dtype, outside)
    })?;
    let mut parts = Vec::new();
    for (i, axis) in axes.iter().enumerate() {
        let (a, end) = (lead + i, axis.low + dims[lead + i]);
        for (start, len) in [(0, axis.low), (end, padded[a] - end)] {
            if len > 0 {
                let mut strip = padded.clone();
                strip[a] = len;
                parts.push((w.broadcast(fill, &strip)?, Some(View::Index(band(&padded, a, start, len)))));
            }
        }
    }
    let inside = |(a, &len): (usize, &usize)| IndexItem::Slice {
        start: Number::Const(if a < lead { 0 } else { axes[a - lead].low as i64 }),
        step: Number::Const(1),
        len,
    };
    let region: SmallVec<[IndexItem; 6]> = dims.iter().enumerate().map(inside).collect();
    parts.push((data, Some(View::Index(region))));
    w.assemble(&padded, None, parts)
}

//! Windows backwards. A convolution's data get a convolution of the cotangent, spread out by the stride, with the turned weights; its
//! weights get one of the data with the cotangent, strides and dilations exchanged. A sum of windows is a convolution with ones; an
//! extreme goes to the first place of its window that has it, as PyTorch's pooling has it.

use super::back::{Back, Launch};
use crate::graph::{IndexItem, Number, Val, View};
use crate::rewrite::pad;
use crate::write::Writer;
use ferrotensor_core::kernel::{Combine, Monoid, Window, WindowAxis, WindowCombine};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Result};
use smallvec::SmallVec;

/// A window kernel.
pub fn window(back: &mut Back, kernel: &Window, launch: &Launch) -> Result<()> {
    let Some(g) = launch.cotangents[0] else { return Ok(()) };
    // Windows of nothing, or none: nothing depends on anything.
    let inputs_empty = launch.inputs.iter().any(|&v| back.w.dims(v).contains(&0));
    if inputs_empty || back.w.dims(g).contains(&0) {
        return Ok(());
    }
    match kernel.combine {
        WindowCombine::Dot => dot(back, kernel, launch, g),
        WindowCombine::Reduce(Monoid::Sum) => {
            let x = launch.inputs[0];
            let g = under(&mut back.w, kernel, x, g, &[])?;
            back.give(x, g)
        }
        WindowCombine::Reduce(monoid @ (Monoid::Max | Monoid::Min)) => {
            let x = launch.inputs[0];
            let g = extreme(&mut back.w, kernel, x, g, monoid)?;
            back.give(x, g)
        }
        WindowCombine::Reduce(monoid) => {
            let (x, start) = (launch.inputs[0], back.w.graph.nodes.len());
            let dims = back.w.dims(g);
            let n = kernel.axes.len();
            let windows = unfolded(&mut back.w, kernel, x, &dims, monoid.identity_literal(kernel.dtype))?;
            let last: Vec<usize> = (dims.len()..dims.len() + n).collect();
            let y = back.w.reduce(windows, &last, Combine::Value(monoid), false);
            back.through(start, y, g, &[x])
        }
    }
}

/// All windows of the padded data, their places as last axes.
fn unfolded(w: &mut Writer, kernel: &Window, x: Val, out: &[usize], outside: f64) -> Result<Val> {
    let lead = out.len() - kernel.axes.len();
    let mut v = pad(w, x, &kernel.axes, &out[lead..], outside)?;
    for (i, axis) in kernel.axes.iter().enumerate() {
        v = w.unfold(v, lead + i, out[lead + i], *axis);
    }
    Ok(v)
}

fn dot(back: &mut Back, kernel: &Window, launch: &Launch, g: Val) -> Result<()> {
    let (data, weights) = (launch.inputs[0], launch.inputs[1]);
    let n = kernel.axes.len();
    if back.wants(data) {
        // [group, cout, cin, w...] with the channels exchanged and the places turned.
        let spatial: Vec<usize> = (3..3 + n).collect();
        let turned = back.w.flip(weights, &spatial);
        let order: Vec<usize> = [0, 2, 1].into_iter().chain(spatial).collect();
        let turned = back.w.permute(turned, &order);
        let turned = back.w.conjugate(turned)?;
        let g = under(&mut back.w, kernel, data, g, &[turned])?;
        back.give(data, g)?;
    }
    if back.wants(weights) {
        let w = &mut back.w;
        let (sizes, windows) = (w.dims(weights), w.dims(g));
        let axes = kernel.axes.iter().zip(&windows[3..]);
        let axes = axes.map(|(a, &o)| WindowAxis { size: o, stride: a.dilation, dilation: a.stride, low: a.low }).collect();
        // The batch is what is added up: data [cin, group, batch, s...], weights [group, cout, batch, o...].
        let order = |front: [usize; 3]| -> Vec<usize> { front.into_iter().chain(3..3 + n).collect() };
        let rows = w.permute(data, &order([2, 1, 0]));
        let rows = w.conjugate(rows)?;
        let by = w.permute(g, &order([1, 2, 0]));
        let kernel = Window { axes, ..kernel.clone() };
        let g = w.window(kernel, &[rows, by], &sizes[3..]);
        // [cin, group, cout, w...] -> [group, cout, cin, w...].
        let g = w.permute(g, &order([1, 2, 0]));
        back.give(weights, g)?;
    }
    Ok(())
}

/// The transpose of the windows: for each position of the data the cotangents of the windows that show it, combined over the places
/// where they do. Windows of the same size, one for each position, over the cotangents at their windows' starts.
fn under(w: &mut Writer, kernel: &Window, data: Val, g: Val, weights: &[Val]) -> Result<Val> {
    let (dims, windows) = (w.dims(data), w.dims(g));
    let lead = dims.len() - kernel.axes.len();
    let (mut apart, mut spread, mut axes) = (windows.clone(), false, Vec::new());
    let mut region: SmallVec<[IndexItem; 6]> = SmallVec::new();
    let mut seen = Vec::new();
    for (a, &len) in windows.iter().enumerate() {
        let stride = if a < lead { 1 } else { kernel.axes[a - lead].stride };
        apart[a] = (len - 1) * stride + 1;
        spread |= stride > 1 && len > 1;
        region.push(IndexItem::Slice { start: Number::Const(0), step: Number::Const(stride as i64), len });
        let Some(axis) = a.checked_sub(lead).map(|i| kernel.axes[i]) else { continue };
        // Padding wider than the window: its first positions see no data.
        let reach = (axis.size - 1) * axis.dilation;
        axes.push(WindowAxis { stride: 1, low: reach.saturating_sub(axis.low), ..axis });
        seen.push(axis.low.saturating_sub(reach));
    }
    let mut g = g;
    if spread {
        let zeros = w.filled(&apart, w.dtype(g), 0.0)?;
        g = w.assemble(&apart, Some(zeros), vec![(g, Some(View::Index(region)))])?;
    }
    for (i, &start) in seen.iter().enumerate().filter(|(_, start)| **start > 0) {
        let len = w.dims(g)[lead + i];
        g = w.narrow(g, lead + i, start.min(len), len.saturating_sub(start));
    }
    let inputs: Vec<Val> = std::iter::once(g).chain(weights.iter().copied()).collect();
    Ok(w.window(Window { axes, ..kernel.clone() }, &inputs, &dims[lead..]))
}

/// Each window's cotangent at the first of its places that has the extreme.
fn extreme(w: &mut Writer, kernel: &Window, x: Val, g: Val, monoid: Monoid) -> Result<Val> {
    let (dims, out) = (w.dims(x), w.dims(g));
    let (n, lead) = (kernel.axes.len(), out.len() - kernel.axes.len());
    let windows = unfolded(w, kernel, x, &out, monoid.identity_literal(kernel.dtype))?;
    let last: Vec<usize> = (out.len()..out.len() + n).collect();
    let combine = if monoid == Monoid::Max { Combine::ArgMax } else { Combine::ArgMin };
    let place = w.reduce(windows, &last, combine, false);
    // Positions in the padded data of one line of all spatial axes.
    let padded: Vec<usize> =
        (0..n).map(|i| (kernel.axes[i].low + dims[lead + i]).max(kernel.axes[i].reach(out[lead + i]))).collect();
    let at = w.map(&out, &[place], |b, v| {
        let mut rest = b.cast(v[0], DType::I64);
        let mut parts = Vec::new();
        for axis in kernel.axes.iter().rev() {
            let size = b.size(axis.size);
            parts.push(b.binary(Op::Rem, rest, size));
            rest = b.binary(Op::Div, rest, size);
        }
        parts.reverse();
        let mut position = b.size(0);
        for (i, (axis, part)) in kernel.axes.iter().zip(parts).enumerate() {
            let window = b.index((lead + i) as u8, DType::I64);
            let (stride, dilation, extent) = (b.size(axis.stride), b.size(axis.dilation), b.size(padded[i]));
            let (start, off) = (b.binary(Op::Mul, window, stride), b.binary(Op::Mul, part, dilation));
            let here = b.binary(Op::Add, start, off);
            let before = b.binary(Op::Mul, position, extent);
            position = b.binary(Op::Add, before, here);
        }
        b.cast(position, DType::I32)
    })?;
    let (rows, count) = (dims[..lead].iter().product::<usize>(), out[lead..].iter().product::<usize>());
    let (g, at) = (w.reshape(g, &[rows, count]), w.reshape(at, &[rows, count]));
    let total = w.spread_along(g, at, padded.iter().product())?;
    let whole: Vec<usize> = dims[..lead].iter().copied().chain(padded).collect();
    let mut total = w.reshape(total, &whole);
    for (i, axis) in kernel.axes.iter().enumerate() {
        total = w.narrow(total, lead + i, axis.low, dims[lead + i]);
    }
    Ok(total)
}

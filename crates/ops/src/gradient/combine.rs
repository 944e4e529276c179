//! Reductions and scans backwards. Products of all but one are made of running products from both ends, so that zeros need no
//! division; extremes go to the elements that are equal to them, in equal parts in a reduction, to the last one so far in a scan (as
//! PyTorch's `amax` and `cummax`).

use super::back::{Back, Launch};
use super::scalar::is_differentiable;
use crate::graph::{Param, Val};
use crate::write::Writer;
use ferrotensor_core::kernel::{Combine, Kernel, Map, Monoid, Reduce, Scan};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Result};

/// A reduction.
pub fn reduce(back: &mut Back, kernel: &Reduce, launch: &Launch, params: &[Param]) -> Result<()> {
    let (x, Some(g)) = (launch.inputs[0], launch.cotangents[0]) else { return Ok(()) };
    let Combine::Value(monoid) = kernel.combine else { return Ok(()) };
    if kernel.pre.is_some() || kernel.post.is_some() {
        return in_steps(back, kernel, launch, params, g);
    }
    let extreme = back.extreme(launch);
    let w = &mut back.w;
    let dims = w.dims(x);
    let kept = dims.len() - kernel.axes;
    let ones: Vec<usize> = dims[..kept].iter().copied().chain(std::iter::repeat_n(1, kernel.axes)).collect();
    let over = w.reshape(g, &ones);
    let over = w.broadcast(over, &dims)?;
    let g = match monoid {
        Monoid::Sum => over,
        Monoid::Prod => {
            let n = dims[kept..].iter().product();
            let rows: Vec<usize> = dims[..kept].iter().copied().chain([n]).collect();
            let line = w.reshape(x, &rows);
            let others = all_but_one(w, line)?;
            let others = w.reshape(others, &dims);
            let others = w.conjugate(others)?;
            w.binary(Op::Mul, over, others)?
        }
        Monoid::Max | Monoid::Min => {
            let y = w.reshape(extreme, &ones);
            let y = w.broadcast(y, &dims)?;
            let d = w.dtype(x);
            // NaN is the extreme wherever there is one.
            let hit = w.map(&dims, &[x, y], |b, v| {
                let (same, x_nan, y_nan) =
                    (b.compare(Op::Eq, v[0], v[1]), b.compare(Op::Ne, v[0], v[0]), b.compare(Op::Ne, v[1], v[1]));
                let both = b.binary(Op::And, x_nan, y_nan);
                b.binary(Op::Or, same, both)
            })?;
            let counted = w.each(hit, |b, x| b.cast(x, DType::F32))?;
            let axes: Vec<usize> = (kept..dims.len()).collect();
            let count = w.reduce(counted, &axes, Combine::Value(Monoid::Sum), true);
            w.map(&dims, &[hit, over, count], |b, v| {
                let (zero, count) = (b.lit(d, 0.0), b.cast(v[2], d));
                let share = b.binary(Op::Div, v[1], count);
                b.select(v[0], share, zero)
            })?
        }
        Monoid::All | Monoid::Any => return Ok(()),
    };
    back.give(x, g)
}

/// The same in three steps: what comes before, the combination, what comes behind.
fn in_steps(back: &mut Back, kernel: &Reduce, launch: &Launch, params: &[Param], g: Val) -> Result<()> {
    let (x, start) = (launch.inputs[0], back.w.graph.nodes.len());
    let (dims, out) = (back.w.dims(x), back.w.dims(launch.outputs[0]));
    let before = kernel.pre.as_ref().map_or(0, |p| p.params.len());
    let mut v = x;
    if let Some(program) = &kernel.pre {
        v = back.w.launch(Kernel::Map(Map { program: program.clone() }), &[v], &params[..before], &[dims]);
    }
    let bare = Reduce { input: kernel.acc, pre: None, post: None, ..kernel.clone() };
    v = back.w.launch(Kernel::Reduce(bare), &[v], &[], std::slice::from_ref(&out));
    if let Some(program) = &kernel.post {
        v = back.w.launch(Kernel::Map(Map { program: program.clone() }), &[v], &params[before..], &[out]);
    }
    back.through(start, v, g, &[x])
}

/// For each element of the last axis the product of the others.
fn all_but_one(w: &mut Writer, x: Val) -> Result<Val> {
    let before = products_before(w, x)?;
    let last = w.dims(x).len() - 1;
    let turned = w.flip(x, &[last]);
    let behind = products_before(w, turned)?;
    let behind = w.flip(behind, &[last]);
    w.binary(Op::Mul, before, behind)
}

/// For each element of the last axis the product of those before it.
fn products_before(w: &mut Writer, x: Val) -> Result<Val> {
    let dims = w.dims(x);
    let (last, n) = (dims.len() - 1, dims[dims.len() - 1]);
    if n < 2 {
        return w.filled(&dims, w.dtype(x), 1.0);
    }
    let x = w.narrow(x, last, 0, n - 1);
    let products = w.scan(x, last, Monoid::Prod);
    w.placed(products, last, 1, n, 1.0)
}

/// A scan.
pub fn scan(back: &mut Back, kernel: &Scan, launch: &Launch) -> Result<()> {
    let (x, Some(g)) = (launch.inputs[0], launch.cotangents[0]) else { return Ok(()) };
    if !is_differentiable(kernel.dtype) {
        return Ok(());
    }
    let y = back.extreme(launch);
    let w = &mut back.w;
    let dims = w.dims(x);
    let (last, n) = (dims.len() - 1, dims[dims.len() - 1]);
    let g = match kernel.combine {
        Monoid::Sum => {
            let turned = w.flip(g, &[last]);
            let total = w.scan(turned, last, Monoid::Sum);
            w.flip(total, &[last])
        }
        Monoid::Prod => {
            let factor = products_before(w, x)?;
            let factor = w.conjugate(factor)?;
            let later = followed(w, x, g)?;
            w.binary(Op::Mul, factor, later)?
        }
        Monoid::Max | Monoid::Min => {
            let axis = last as u8;
            // The place of the running extreme is the last one so far that is equal to it; from a NaN on, the last NaN.
            let places = w.map(&dims, &[x, y], |b, v| {
                let (same, nan) = (b.compare(Op::Eq, v[0], v[1]), b.compare(Op::Ne, v[0], v[0]));
                let hit = b.binary(Op::Or, same, nan);
                let (here, nowhere) = (b.index(axis, DType::I32), b.lit(DType::I32, 0.0));
                b.select(hit, here, nowhere)
            })?;
            let places = w.scan(places, last, Monoid::Max);
            let (g, places) = (w.lines(g), w.lines(places));
            let spread = w.spread_along(g, places, n)?;
            w.reshape(spread, &dims)
        }
        Monoid::All | Monoid::Any => return Ok(()),
    };
    back.give(x, g)
}

/// `s_k = g_k + conj(x_(k+1)) s_(k+1)` along the last axis, by doubling: after a step, `s_k` has the terms of twice as many places,
/// and `a_k` the product of as many factors. No element is divided by, so that zeros are numbers like all others, to every order.
fn followed(w: &mut Writer, x: Val, g: Val) -> Result<Val> {
    let dims = w.dims(x);
    let (last, n) = (dims.len() - 1, dims[dims.len() - 1]);
    let x = w.conjugate(x)?;
    let mut sums = g;
    let mut factors = if n > 1 { w.narrow(x, last, 1, n - 1) } else { x };
    let mut step = 1;
    while step < n {
        // factors[k] belongs to k = 0 .. n - step.
        let later = w.narrow(sums, last, step, n - step);
        let terms = w.binary(Op::Mul, factors, later)?;
        let terms = w.placed(terms, last, 0, n, 0.0)?;
        sums = w.binary(Op::Add, sums, terms)?;
        if 2 * step < n {
            let (near, far) = (w.narrow(factors, last, 0, n - 2 * step), w.narrow(factors, last, step, n - 2 * step));
            factors = w.binary(Op::Mul, near, far)?;
        }
        step *= 2;
    }
    Ok(sums)
}

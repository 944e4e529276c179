//! Gathers, scatters and sorts backwards: each is the other's transpose.

use super::back::{Back, Launch};
use crate::graph::Val;
use crate::write::Writer;
use ferrotensor_core::kernel::{Monoid, Scatter, Sort, SortOutputs, Update};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Dims, Result};

/// A gather: what was taken several times is added up.
pub fn gather(back: &mut Back, launch: &Launch) -> Result<()> {
    let (data, Some(g)) = (launch.inputs[0], launch.cotangents[0]) else { return Ok(()) };
    if !back.wants(data) {
        return Ok(());
    }
    let dims = back.w.dims(data);
    let g = back.w.scattered_sum(&dims, back.w.dtype(data), &launch.inputs[1..], g)?;
    back.give(data, g)
}

/// A scatter.
pub fn scatter(back: &mut Back, kernel: &Scatter, launch: &Launch) -> Result<()> {
    let Some(g) = launch.cotangents[0] else { return Ok(()) };
    // What is known may come from another computation of the updates, which extremes would not be equal to.
    let (last, y) = (launch.inputs.len() - 1, launch.own[0]);
    let (data, indices, updates) = (launch.inputs[0], &launch.inputs[1..last], launch.inputs[last]);
    let call = Call { data, indices, updates, y, g };
    let (wants_data, wants_updates) = (back.wants(data), back.wants(updates));
    let w = &mut back.w;
    let (of_data, of_updates) = match kernel.update {
        Update::Set => set(w, &call, wants_data, wants_updates)?,
        Update::Combine(Monoid::Sum) => (Some(g), Some(w.gather(g, indices))),
        Update::Combine(Monoid::Prod) => multiplied(w, &call)?,
        Update::Combine(Monoid::Max | Monoid::Min) => extreme(w, &call)?,
        Update::Combine(Monoid::All | Monoid::Any) => return Ok(()),
    };
    of_data.map_or(Ok(()), |g| back.give(data, g))?;
    of_updates.map_or(Ok(()), |g| back.give(updates, g))
}

struct Call<'a> {
    data: Val,
    indices: &'a [Val],
    updates: Val,
    y: Val,
    g: Val,
}

type Both = (Option<Val>, Option<Val>);

/// What was written over has no part in the result; of several updates of one place the last one has.
fn set(w: &mut Writer, call: &Call, wants_data: bool, wants_updates: bool) -> Result<Both> {
    let (dims, dtype) = (w.dims(call.updates), w.dtype(call.updates));
    let mut of_data = None;
    if wants_data {
        let zeros = w.filled(&dims, dtype, 0.0)?;
        of_data = Some(w.scatter(call.g, call.indices, zeros, Update::Set));
    }
    let mut of_updates = None;
    if wants_updates {
        let taken = w.gather(call.g, call.indices);
        let winners = winners(w, call)?;
        of_updates = Some(w.map(&dims, &[winners, taken], |b, v| {
            let zero = b.lit(dtype, 0.0);
            b.select(v[0], v[1], zero)
        })?);
    }
    Ok((of_data, of_updates))
}

/// Whether each update is the last one of its place: updates are numbered, and the numbers written in the same order.
fn winners(w: &mut Writer, call: &Call) -> Result<Val> {
    let (all, places) = (w.dims(call.updates), w.dims(call.indices[0]));
    let count: usize = places.iter().product();
    let numbers = w.map(&[count], &[], |b, _| b.index(0, DType::I32))?;
    let numbers = w.reshape(numbers, &places);
    let sizes: Dims = w.dims(call.data)[..call.indices.len()].iter().copied().collect();
    let nobody = w.filled(&sizes, DType::I32, -1.0)?;
    let written = w.scatter(nobody, call.indices, numbers, Update::Set);
    let written = w.gather(written, call.indices);
    let last = w.map(&places, &[numbers, written], |b, v| b.compare(Op::Eq, v[0], v[1]))?;
    // Rows of updates go together.
    let rows: Vec<usize> = places.iter().copied().chain(std::iter::repeat_n(1, all.len() - places.len())).collect();
    let last = w.reshape(last, &rows);
    w.broadcast(last, &all)
}

/// Each factor has the product of the others of its place: all of them by it where none is zero, those that are not zero where
/// it is the only one that is.
fn multiplied(w: &mut Writer, call: &Call) -> Result<Both> {
    let (dims, dtype) = (w.dims(call.data), w.dtype(call.data));
    let ones = w.filled(&dims, dtype, 1.0)?;
    let factors = w.scatter(ones, call.indices, call.updates, Update::Combine(Monoid::Prod));
    let factors = w.conjugate(factors)?;
    let of_data = w.binary(Op::Mul, call.g, factors)?;
    let is_zero = w.each(call.updates, |b, x| {
        let zero = b.lit(b.dtype(x), 0.0);
        b.compare(Op::Eq, x, zero)
    })?;
    let counted = w.each(is_zero, |b, x| b.cast(x, DType::I32))?;
    let nothing = w.filled(&dims, DType::I32, 0.0)?;
    let zeros = w.scatter(nothing, call.indices, counted, Update::Combine(Monoid::Sum));
    let from = w.dims(call.updates);
    let numbers = w.map(&from, &[is_zero, call.updates], |b, v| {
        let one = b.lit(dtype, 1.0);
        b.select(v[0], one, v[1])
    })?;
    let product = w.scatter(call.data, call.indices, numbers, Update::Combine(Monoid::Prod));
    let (product, numbers) = (w.conjugate(product)?, w.conjugate(numbers)?);
    let whole = w.binary(Op::Mul, call.g, product)?;
    let (whole, zeros) = (w.gather(whole, call.indices), w.gather(zeros, call.indices));
    let of_updates = w.map(&from, &[whole, numbers, zeros, counted], |b, v| {
        let (none, quotient) = (b.lit(dtype, 0.0), b.binary(Op::Div, v[0], v[1]));
        // As many zeros as this one is: none, or itself alone.
        let alone = b.compare(Op::Eq, v[2], v[3]);
        b.select(alone, quotient, none)
    })?;
    Ok((Some(of_data), Some(of_updates)))
}

/// Equal parts for all that are equal to the extreme, what was there before among them.
fn extreme(w: &mut Writer, call: &Call) -> Result<Both> {
    let (dims, dtype, from) = (w.dims(call.data), w.dtype(call.data), w.dims(call.updates));
    let taken = w.gather(call.y, call.indices);
    let kept = w.map(&dims, &[call.data, call.y], |b, v| b.compare(Op::Eq, v[0], v[1]))?;
    let hits = w.map(&from, &[call.updates, taken], |b, v| b.compare(Op::Eq, v[0], v[1]))?;
    let (of_data, of_updates) = (w.each(kept, |b, x| b.cast(x, DType::I32))?, w.each(hits, |b, x| b.cast(x, DType::I32))?);
    let count = w.scatter(of_data, call.indices, of_updates, Update::Combine(Monoid::Sum));
    let share = w.map(&dims, &[call.g, count], |b, v| {
        let count = b.cast(v[1], dtype);
        b.binary(Op::Div, v[0], count)
    })?;
    let taken = w.gather(share, call.indices);
    let one = |w: &mut Writer, dims: &[usize], hit: Val, share: Val| {
        w.map(dims, &[hit, share], |b, v| {
            let zero = b.lit(dtype, 0.0);
            b.select(v[0], v[1], zero)
        })
    };
    Ok((Some(one(w, &dims, kept, share)?), Some(one(w, &from, hits, taken)?)))
}

/// A sort: each value goes back to where it came from.
pub fn sort(back: &mut Back, kernel: &Sort, launch: &Launch) -> Result<()> {
    let (x, Some(g)) = (launch.inputs[0], launch.cotangents[0]) else { return Ok(()) };
    if kernel.outputs == SortOutputs::Indices {
        return Ok(());
    }
    let w = &mut back.w;
    let (dims, sorted) = (w.dims(x), w.dims(g));
    let last = dims.len() - 1;
    let at = match launch.outputs.get(1) {
        Some(&indices) => indices,
        None => w.sort(x, last, kernel.descending, sorted[last], SortOutputs::Indices)[0],
    };
    let (g, at) = (w.lines(g), w.lines(at));
    let spread = w.spread_along(g, at, dims[last])?;
    let spread = w.reshape(spread, &dims);
    back.give(x, spread)
}

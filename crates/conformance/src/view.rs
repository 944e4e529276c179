//! Views by index arithmetic: for each element of the result the element it shows. Shares nothing with `core::layout`.

use ferrotensor_core::reference::Array;
use ferrotensor_core::{Error, Result};
use ferrotensor_ops::graph::{IndexItem, Number, View};

/// Row-major position in `from` of every element of a view of shape `to`, in row-major order.
///
/// # Errors
/// `Code::Index` for run-time numbers out of range, `Code::Internal` for a view that does not fit its shapes.
pub fn positions(view: &View, from: &[usize], to: &[usize], params: &[u64]) -> Result<Vec<usize>> {
    let unfit = || Error::internal(format!("{view:?} does not take {from:?} to {to:?}"));
    if let View::Unfold { axis, window, .. } = view {
        let element = |linear: usize| {
            let mut at = coordinates(to, linear);
            let place = at.pop().ok_or_else(unfit)?;
            let index = at.get_mut(*axis).ok_or_else(unfit)?;
            *index = *index * window.stride + place * window.dilation;
            if at.len() != from.len() || at.iter().zip(from).any(|(i, d)| i >= d) {
                return Err(unfit());
            }
            Ok(at.iter().zip(from).fold(0, |position, (i, d)| position * d + i))
        };
        return (0..to.iter().product()).map(element).collect();
    }
    if let View::Reshape(_) = view {
        let n = to.iter().product();
        return if from.iter().product::<usize>() == n { Ok((0..n).collect()) } else { Err(unfit()) };
    }
    // For each axis of `from`: the axis of `to` that moves it (if any), its start and its step.
    let mut axes: Vec<(Option<usize>, i64, i64)> = Vec::new();
    match view {
        View::Permute(order) => {
            axes = vec![(None, 0, 0); from.len()];
            for (i, &a) in order.iter().enumerate() {
                *axes.get_mut(a).ok_or_else(unfit)? = (Some(i), 0, 1);
            }
        }
        View::Broadcast(_) => {
            let lead = to.len().checked_sub(from.len()).ok_or_else(unfit)?;
            axes.extend(from.iter().enumerate().map(|(a, &d)| (Some(lead + a), 0, if d == 1 { 0 } else { 1 })));
        }
        View::Flip(flipped) => axes.extend(
            from.iter()
                .enumerate()
                .map(|(a, &d)| if flipped.contains(&a) { (Some(a), d as i64 - 1, -1) } else { (Some(a), 0, 1) }),
        ),
        View::Index(items) => {
            let mut axis = 0;
            for item in items {
                match item {
                    IndexItem::NewAxis => axis += 1,
                    IndexItem::Pick(at) => axes.push((None, number(at, params)?, 0)),
                    IndexItem::Slice { start, step, .. } => {
                        axes.push((Some(axis), number(start, params)?, number(step, params)?));
                        axis += 1;
                    }
                }
            }
        }
        View::Reshape(_) | View::Unfold { .. } => {}
    }
    if axes.len() != from.len() {
        return Err(unfit());
    }
    let count: usize = to.iter().product();
    let mut out = Vec::with_capacity(count);
    for linear in 0..count {
        let at = coordinates(to, linear);
        let mut position = 0;
        for (&(axis, start, step), &size) in axes.iter().zip(from) {
            let index = start + step * axis.map_or(0, |a| at[a] as i64);
            if index < 0 || index >= size as i64 {
                return Err(Error::index(format!("{index} is out of range for size {size}")));
            }
            position = position * size + index as usize;
        }
        out.push(position);
    }
    Ok(out)
}

fn number(n: &Number, params: &[u64]) -> Result<i64> {
    match n {
        Number::Const(v) => Ok(*v),
        Number::Param(p) => {
            let value =
                f64::from_bits(*params.get(*p as usize).ok_or_else(|| Error::internal("a view names an absent parameter"))?);
            if value.fract() == 0.0 { Ok(value as i64) } else { Err(Error::index(format!("{value} is not an integer"))) }
        }
    }
}

fn coordinates(dims: &[usize], mut linear: usize) -> Vec<usize> {
    let mut at = vec![0; dims.len()];
    for (a, &d) in dims.iter().enumerate().rev() {
        (at[a], linear) = (linear % d, linear / d);
    }
    at
}

/// The elements at these positions, as an array of a shape.
///
/// # Errors
/// `Code::Shape` when they are not as many as the shape has.
pub fn pick(array: &Array, positions: &[usize], dims: &[usize]) -> Result<Array> {
    let size = array.dtype().bytes();
    let bytes = positions.iter().flat_map(|&p| array.bytes()[p * size..(p + 1) * size].iter().copied()).collect();
    Array::new(array.dtype(), dims, bytes)
}

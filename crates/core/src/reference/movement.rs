//! Kernels that move elements: gather, scatter, sort.

use super::array::Array;
use super::value::Scalar;
use crate::dtype::DType;
use crate::error::{Code, Error, Result};
use crate::kernel::{Gather, Scatter, Sort, SortOutputs, Update};
use std::cmp::Ordering;

/// For each position of `b` the first element of data's row that the indices select.
///
/// # Errors
/// `Code::Index` for an index out of range.
fn rows(data: &[usize], indices: &[Array]) -> Result<(Vec<usize>, usize)> {
    let (Some((indexed, rest)), true) =
        (data.split_at_checked(indices.len()), indices.iter().all(|index| index.dims() == indices[0].dims()))
    else {
        return Err(Error::internal("gather or scatter: index operands fit neither each other nor the data"));
    };
    let row: usize = rest.iter().product();
    let count = indices.first().map_or(1, Array::len);
    let start = |position: usize| {
        let mut at = 0;
        for (index, &dim) in indices.iter().zip(indexed) {
            let asked = index.get(position).int();
            let found = if asked < 0 { asked + dim as i128 } else { asked };
            if found < 0 || found >= dim as i128 {
                return Err(Error::index(format!("index {asked} is out of range for an axis of size {dim}")));
            }
            at = at * dim + found as usize;
        }
        Ok(at * row)
    };
    Ok(((0..count).map(start).collect::<Result<_>>()?, row))
}

fn expect(what: &str, found: &[usize], data: &[usize], indices: &[Array]) -> Result<()> {
    let mut dims = indices.first().map_or(&[][..], Array::dims).to_vec();
    dims.extend_from_slice(data.get(indices.len()..).unwrap_or_default());
    if found == dims { Ok(()) } else { Err(Error::internal(format!("{what} has shape {found:?}, expected {dims:?}"))) }
}

/// [`Gather`].
pub(super) fn gather(kernel: &Gather, data: &Array, indices: &[Array], output: &[usize]) -> Result<Array> {
    let (starts, row) = rows(data.dims(), indices).map_err(|e| if e.code == Code::Index { kernel.failed(e) } else { e })?;
    expect("gather: output", output, data.dims(), indices)?;
    let values = starts.into_iter().flat_map(|start| (start..start + row).map(|at| data.get(at)));
    Array::from_scalars(kernel.dtype, output, values)
}

/// [`Scatter`]: one update after the other, each rounded.
pub(super) fn scatter(kernel: &Scatter, data: &Array, indices: &[Array], updates: &Array) -> Result<Array> {
    let (starts, row) = rows(data.dims(), indices)?;
    expect("scatter: updates", updates.dims(), data.dims(), indices)?;
    let mut values: Vec<Scalar> = data.scalars().collect();
    for (b, start) in starts.into_iter().enumerate() {
        for i in 0..row {
            let (update, to) = (updates.get(b * row + i), &mut values[start + i]);
            *to = match kernel.update {
                Update::Set => update,
                Update::Combine(monoid) => monoid.combine(*to, update).fit(kernel.dtype),
            };
        }
    }
    Array::from_scalars(kernel.dtype, data.dims(), values)
}

/// [`Sort`]; `outputs` are the shapes asked for, their last axis the `k` first elements.
pub(super) fn sort(kernel: &Sort, input: &Array, outputs: &[&[usize]]) -> Result<Vec<Array>> {
    let (Some((&n, rest)), Some(&output)) = (input.dims().split_last(), outputs.first()) else {
        return Err(Error::internal("sort: the input needs an axis, and an output"));
    };
    let k = output.last().copied().unwrap_or(0);
    if k > n || output.split_last().map(|(_, rest)| rest) != Some(rest) || outputs.iter().any(|&o| o != output) {
        return Err(Error::internal(format!("sort: {:?} does not make {outputs:?}", input.dims())));
    }
    let ascending = |x: Scalar, y: Scalar| match (x.is_nan(), y.is_nan()) {
        (false, false) => x.compare(y).unwrap_or(Ordering::Equal),
        (x, y) => x.cmp(&y),
    };
    let mut order = Vec::with_capacity(output.iter().product());
    for row in 0..rest.iter().product() {
        let mut positions: Vec<usize> = (row * n..(row + 1) * n).collect();
        // Stable, so equal elements keep their order in both directions.
        positions.sort_by(|&x, &y| {
            let (x, y) = (input.get(x), input.get(y));
            if kernel.descending { ascending(y, x) } else { ascending(x, y) }
        });
        order.extend(positions.into_iter().take(k));
    }
    let values = || Array::from_scalars(kernel.dtype, output, order.iter().map(|&at| input.get(at)));
    let indices = || Array::from_scalars(DType::I32, output, order.iter().map(|&at| Scalar::Int((at % n) as i128)));
    match kernel.outputs {
        SortOutputs::Values => Ok(vec![values()?]),
        SortOutputs::Indices => Ok(vec![indices()?]),
        SortOutputs::Both => Ok(vec![values()?, indices()?]),
    }
}

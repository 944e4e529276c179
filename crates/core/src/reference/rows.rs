//! Kernels of rows: their steps, one after the other, as the maps and reductions they are.

use super::array::Array;
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::rows::{Per, RowStep, Rows};

/// The steps in order, each over whole arrays.
pub(super) fn run(kernel: &Rows, inputs: &[Array], output_dims: &[&[usize]], params: &[u64]) -> Result<Vec<Array>> {
    let (rank, types) = (kernel.axes, kernel.values());
    let of = |per: Per| types.iter().position(|t| t.1 == per);
    // Elements come in from outside: programs of nothing but numbers have values of rows.
    let whole = of(Per::Element).and_then(|n| inputs.get(n)).map(|a| a.dims().to_vec());
    let dims = whole.ok_or_else(|| Error::internal("rows: no operand has elements"))?;
    let kept = dims.len().checked_sub(rank).map(|n| &dims[..n]);
    let kept = kept.ok_or_else(|| Error::internal("rows: fewer axes than a row has"))?;
    let shape = |per: Per| if per == Per::Element { &dims[..] } else { kept };
    let given = inputs.iter().zip(&kernel.inputs).all(|(a, (_, per))| a.dims() == shape(*per));
    if !given || !kernel.results().iter().zip(output_dims).all(|((_, per), &d)| d == shape(*per)) {
        return Err(Error::internal("rows: operand shapes do not fit"));
    }
    let mut values = inputs.to_vec();
    let mut left = params;
    for (step, &(_, per)) in kernel.steps.iter().zip(&types[inputs.len()..]) {
        let (own, rest) = left.split_at(step.params().len());
        left = rest;
        let operands = step.operands().iter().map(|&o| match (types[o].1, per, step) {
            (Per::Row, Per::Element, _) => spread(&values[o], &dims, kept),
            _ => Ok(values[o].clone()),
        });
        let operands = operands.collect::<Result<Vec<Array>>>()?;
        let part = match step {
            RowStep::Map { map, .. } => Kernel::Map(map.clone()),
            RowStep::Reduce { reduce, .. } => Kernel::Reduce(reduce.clone()),
        };
        values.extend(super::run(&part, &operands, &[shape(per)], own)?);
    }
    Ok(kernel.outputs.iter().map(|&o| values[o].clone()).collect())
}

/// A value of each row, for each of its elements.
fn spread(rows: &Array, dims: &[usize], kept: &[usize]) -> Result<Array> {
    let length: usize = dims[kept.len()..].iter().product();
    let elements = rows.scalars().flat_map(|v| std::iter::repeat_n(v, length));
    Array::from_scalars(rows.dtype(), dims, elements)
}

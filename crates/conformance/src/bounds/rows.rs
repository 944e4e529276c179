//! Kernels of rows: the bounds of their steps, one after the other.

use super::after;
use crate::bounds::Bound;
use crate::executor::Known;
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::reference::{self, Array};
use ferrotensor_core::rows::{Per, RowStep, Rows};
use ferrotensor_core::{Error, Result};

/// Each output with its bound.
///
/// # Errors
/// As [`after`].
pub fn known(kernel: &Rows, inputs: &[&Known], params: &[u64]) -> Result<Vec<Known>> {
    let types = kernel.values();
    let whole = types.iter().zip(inputs).find(|((_, per), _)| *per == Per::Element);
    let dims = whole.map(|(_, k)| k.array.dims().to_vec()).ok_or_else(|| Error::internal("rows: no elements"))?;
    let kept = &dims[..dims.len() - kernel.axes];
    let mut values: Vec<Known> = inputs.iter().map(|&k| k.clone()).collect();
    let mut from = 0;
    for step in &kernel.steps {
        let own = &params[from..from + step.params().len()];
        from += own.len();
        let per = types[values.len()].1;
        let operands = step.operands().iter().map(|&o| match (types[o].1, per) {
            (Per::Row, Per::Element) => spread(&values[o], &dims, kept),
            _ => Ok(values[o].clone()),
        });
        let operands = operands.collect::<Result<Vec<Known>>>()?;
        let part = match step {
            RowStep::Map { map, .. } => Kernel::Map(map.clone()),
            RowStep::Reduce { reduce, .. } => Kernel::Reduce(reduce.clone()),
        };
        let arrays: Vec<Array> = operands.iter().map(|k| k.array.clone()).collect();
        let shape = if per == Per::Element { &dims } else { kept };
        let outputs = reference::run(&part, &arrays, &[shape], own)?;
        values.extend(after(&part, &operands.iter().collect::<Vec<_>>(), own, outputs)?);
    }
    Ok(kernel.outputs.iter().map(|&o| values[o].clone()).collect())
}

/// A value of each row, for each of its elements.
fn spread(rows: &Known, dims: &[usize], kept: &[usize]) -> Result<Known> {
    let mut strides = ferrotensor_core::layout::row_major(kept);
    strides.resize(dims.len(), 0);
    let layout = Layout::new(dims, &strides, 0, rows.array.len())?;
    let array = Array::gather(rows.array.bytes(), &layout, rows.array.dtype())?;
    let bound = match &rows.bound {
        Bound::Exact => Bound::Exact,
        Bound::Absolute(errors) => {
            Bound::Absolute(ferrotensor_core::layout::positions(&layout).map(|p| errors[p]).collect())
        }
    };
    Ok(Known { array, bound })
}

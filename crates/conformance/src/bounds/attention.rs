//! Attention: the bounds of its parts, one after the other.

use super::after;
use crate::executor::Known;
use ferrotensor_core::attention::Attention;
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::reference::{self, Array};
use ferrotensor_core::{Error, Result};

/// The output with its bound.
///
/// # Errors
/// As [`after`].
pub fn known(kernel: &Attention, inputs: &[&Known], params: &[u64], dims: &[usize]) -> Result<Vec<Known>> {
    let split = kernel.split(inputs).ok_or_else(|| Error::internal("attention: too few operands"));
    let [factors, beside, more] = split?;
    let n = factors[1].array.dims().last().copied().unwrap_or(0);
    let kept = &dims[..dims.len() - 1];
    let square = [kept, &[n]].concat();
    let ([scores, weights, values], own) = (kernel.parts(), kernel.params_of(params));
    let scores = part(&scores, factors, &square, own[0])?;
    let weights = part(&weights, &kernel.weighed(beside, &scores), &square, own[1])?;
    Ok(vec![part(&values, &[&[&weights], more].concat(), dims, own[2])?])
}

fn part(kernel: &Kernel, inputs: &[&Known], dims: &[usize], params: &[u64]) -> Result<Known> {
    let arrays: Vec<Array> = inputs.iter().map(|k| k.array.clone()).collect();
    let outputs = reference::run(kernel, &arrays, &[dims], params)?;
    after(kernel, inputs, params, outputs)?.pop().ok_or_else(|| Error::internal("attention: a part without a result"))
}

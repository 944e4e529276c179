//! Attention as its three parts, one after the other.

use super::{Array, run};
use crate::attention::Attention;
use crate::error::{Error, Result};

/// Runs a kernel that keeps its rules.
pub(super) fn run_parts(k: &Attention, inputs: &[Array], dims: &[&[usize]], params: &[u64]) -> Result<Vec<Array>> {
    let unfit = || Error::internal("attention: operand shapes do not fit");
    let [factors, beside, more] = k.split(inputs).ok_or_else(unfit)?;
    let ([kept @ .., _], Some(&n)) = (factors[0].dims(), factors[1].dims().last()) else { return Err(unfit()) };
    let square = [kept, &[n]].concat();
    let ([scores, weights, values], own) = (k.parts(), k.params_of(params));
    let scores = run(&scores, factors, &[&square], own[0])?.remove(0);
    let weights = run(&weights, &k.weighed(beside, scores), &[&square], own[1])?.remove(0);
    run(&values, &[&[weights], more].concat(), dims, own[2])
}

//! Attention as its three parts, one after the other.

use super::{Array, run};
use crate::attention::Attention;
use crate::error::{Error, Result};
use crate::kernel::Kernel;

/// Runs a kernel that keeps its rules.
pub(super) fn run_parts(k: &Attention, inputs: &[Array], dims: &[&[usize]], params: &[u64]) -> Result<Vec<Array>> {
    let unfit = || Error::internal("attention: operand shapes do not fit");
    let (factors, [beside @ .., v]) = inputs.split_at(k.factors()) else { return Err(unfit()) };
    let ([kept @ .., _], Some(&n)) = (factors[0].dims(), factors[1].dims().last()) else { return Err(unfit()) };
    let dims_of_scores = [kept, &[n]].concat();
    let scores = Kernel::Contract(k.scores.clone());
    let (first, second) = params.split_at(scores.params().len());
    let scores = run(&scores, factors, &[&dims_of_scores], first)?.remove(0);
    let weights = run(&Kernel::Rows(k.weights.clone()), &k.weighed(beside, scores), &[&dims_of_scores], second)?.remove(0);
    run(&Kernel::Contract(k.values()), &[weights, v.clone()], dims, &[])
}

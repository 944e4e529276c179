//! The kernel of attention: a product, rows of it, and the product of those, without either of them in memory as a whole.

use crate::dtype::DType;
use crate::kernel::{Contract, Kernel};
use crate::rows::{Per, Rows};

/// `scores = a b`, `weights` of them row by row, and `weights v`. The bits are those of [`Contract`], [`Rows`] and [`Contract`] kernels
/// run one after the other; a device has scores and weights of some rows at a time (Dao et al., FlashAttention, 2022, do the same with
/// sums that are scaled as they go; rows of a few thousand elements fit a core's cache whole, and need no scaling).
///
/// Operands: those of the scores; the inputs of the weights but for the scores; those of the values but for the weights, of which
/// `v [batch..., n, d]` is the first -> output `[batch..., m, d]`. Launch parameters: those of the scores, of the weights, of the values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attention {
    /// `a [batch..., m, k]`, `b [batch..., k, n]` and what `post` takes -> `[batch..., m, n]`.
    pub scores: Contract,
    /// Along one axis, with one output of elements.
    pub weights: Rows,
    /// Which input of the weights the scores are.
    pub input: usize,
    /// The weights `[batch..., m, n]`, `v` and what `post` takes -> the output.
    pub values: Contract,
}

impl Attention {
    /// The operands of the scores, those of the weights but for the scores, and those of the values but for the weights; nothing where
    /// they are too few.
    pub fn split<'a, T>(&self, operands: &'a [T]) -> Option<[&'a [T]; 3]> {
        let beside = |k: &Contract| k.post.as_ref().map_or(0, |post| post.inputs.len() - 1);
        let (scores, rest) = operands.split_at_checked(2 + beside(&self.scores))?;
        let (weights, values) = rest.split_at_checked(self.weights.inputs.len() - 1)?;
        (values.len() == 1 + beside(&self.values)).then_some([scores, weights, values])
    }

    /// The inputs of the weights, from those beside the scores.
    pub fn weighed<T: Clone>(&self, beside: &[T], scores: T) -> Vec<T> {
        let (before, after) = beside.split_at(self.input.min(beside.len()));
        before.iter().cloned().chain([scores]).chain(after.iter().cloned()).collect()
    }

    /// The parts as kernels of their own.
    pub fn parts(&self) -> [Kernel; 3] {
        [Kernel::Contract(self.scores.clone()), Kernel::Rows(self.weights.clone()), Kernel::Contract(self.values.clone())]
    }

    /// The launch parameters of each part.
    pub fn params_of<'a>(&self, params: &'a [u64]) -> [&'a [u64]; 3] {
        let of_product = |k: &Contract| k.post.as_ref().map_or(0, |post| post.params.len()).min(params.len());
        let (scores, rest) = params.split_at(of_product(&self.scores));
        let (weights, values) = rest.split_at(rest.len().saturating_sub(of_product(&self.values)));
        [scores, weights, values]
    }

    /// Dtype of each operand.
    pub fn inputs(&self) -> Vec<DType> {
        let [scores, mut weights, values] = self.parts().map(|part| part.inputs());
        weights.remove(self.input);
        [&scores[..], &weights, &values[1..]].concat()
    }

    /// Dtype of each launch parameter.
    pub fn params(&self) -> Vec<DType> {
        self.parts().iter().flat_map(Kernel::params).collect()
    }

    /// The rules stated above.
    ///
    /// # Errors
    /// A sentence naming the first one that is broken.
    pub fn verify(&self) -> Result<(), String> {
        self.weights.verify()?;
        if self.weights.inputs.get(self.input) != Some(&(self.scores.result(), Per::Element)) {
            return Err("attention: scores are an input of the weights, an element each".into());
        }
        if [&self.scores, &self.values].iter().any(|k| k.is_narrow()) {
            return Err("attention: products of operands of their own dtype".into());
        }
        match (self.weights.axes, &self.weights.results()[..]) {
            (1, [(dtype, Per::Element)]) if *dtype == self.values.dtype => Ok(()),
            _ => Err("attention: weights have one axis and one output of elements, of the dtype of values".into()),
        }
    }
}

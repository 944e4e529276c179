//! The kernel of attention: a product, rows of it, and the product of those, without either of them in memory as a whole.

use crate::dtype::DType;
use crate::kernel::{Contract, Kernel};
use crate::rows::{Per, Rows};

/// `scores = a b`, `weights` of them row by row, and `weights v`. The bits are those of [`Contract`], [`Rows`] and [`Contract`] kernels
/// run one after the other; a device has scores and weights of some rows at a time (Dao et al., FlashAttention, 2022, do the same with
/// sums that are scaled as they go; rows of a few thousand elements fit a core's cache whole, and need no scaling).
///
/// Operands: those of the scores; the inputs of the weights but for the scores; `v [batch..., n, d]` -> output `[batch..., m, d]`. Launch
/// parameters: those of the scores, then those of the weights.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attention {
    /// `a [batch..., m, k]`, `b [batch..., k, n]` and what `post` takes -> `[batch..., m, n]`.
    pub scores: Contract,
    /// Along one axis, with one output of elements.
    pub weights: Rows,
    /// Which input of the weights the scores are.
    pub input: usize,
}

impl Attention {
    /// How many operands the scores have.
    pub fn factors(&self) -> usize {
        2 + self.scores.post.as_ref().map_or(0, |post| post.inputs.len() - 1)
    }

    /// Dtype of the weights, of `v` and of the output.
    pub fn dtype(&self) -> DType {
        self.weights.results()[0].0
    }

    /// The product of weights and `v`.
    pub fn values(&self) -> Contract {
        Contract::new(self.dtype())
    }

    /// The inputs of the weights, from all operands but those of the scores and `v`.
    pub fn weighed<T: Clone>(&self, beside: &[T], scores: T) -> Vec<T> {
        let (before, after) = beside.split_at(self.input.min(beside.len()));
        before.iter().cloned().chain([scores]).chain(after.iter().cloned()).collect()
    }

    /// Dtype of each operand.
    pub fn inputs(&self) -> Vec<DType> {
        let beside = self.weights.inputs.iter().enumerate().filter(|(n, _)| *n != self.input).map(|(_, i)| i.0);
        let scores = Kernel::Contract(self.scores.clone()).inputs();
        scores.into_iter().chain(beside).chain([self.dtype()]).collect()
    }

    /// Dtype of each launch parameter.
    pub fn params(&self) -> Vec<DType> {
        [Kernel::Contract(self.scores.clone()), Kernel::Rows(self.weights.clone())].iter().flat_map(Kernel::params).collect()
    }

    /// The rules stated above.
    ///
    /// # Errors
    /// A sentence naming the first one that is broken.
    pub fn verify(&self) -> Result<(), String> {
        self.weights.verify()?;
        let scores = Kernel::Contract(self.scores.clone()).outputs()[0];
        if self.weights.inputs.get(self.input) != Some(&(scores, Per::Element)) {
            return Err("attention: scores are an input of the weights, an element each".into());
        }
        match (self.weights.axes, &self.weights.results()[..]) {
            (1, [(_, Per::Element)]) => Ok(()),
            _ => Err("attention: weights have one axis and one output of elements".into()),
        }
    }
}

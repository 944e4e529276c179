//! Products of floats and complex numbers.

use super::operands;
use super::product::Product;
use super::stored::Stored;
use crate::launch::{Context, Run, Slots};
use crate::tier::Tier;
use ferrotensor_core::error::Result;

/// Any float or complex dtype.
pub struct FloatKernel<S: Stored>(Product<S>);

impl<S: Stored> FloatKernel<S> {
    /// For a tier.
    pub fn new(tier: Tier) -> FloatKernel<S> {
        FloatKernel(Product::new(tier))
    }
}

impl<S: Stored> Run for FloatKernel<S> {
    fn run(&self, slots: &Slots, _: &[u64], context: &Context) -> Result<()> {
        let (operands, sizes) = operands(slots)?;
        self.0.multiply(operands, sizes, context)
    }
}

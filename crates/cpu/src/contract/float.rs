//! Products of floats and complex numbers.

use super::operands;
use super::post::Post;
use super::product::Product;
use super::stored::Stored;
use crate::launch::{Context, Run, Slots};
use crate::tier::Tier;
use ferrotensor_core::error::Result;
use ferrotensor_core::kernel::Contract;

/// Any float or complex dtype.
pub struct FloatKernel<S: Stored> {
    product: Product<S>,
    post: Option<Post>,
}

impl<S: Stored> FloatKernel<S> {
    /// For a kernel on a tier.
    ///
    /// # Errors
    /// As [`Post::new`].
    pub fn new(kernel: &Contract, tier: Tier) -> Result<FloatKernel<S>, String> {
        let post = kernel.post.as_ref().map(|p| Post::new(p, kernel.dtype, tier)).transpose()?;
        Ok(FloatKernel { product: Product::new(tier), post })
    }
}

impl<S: Stored> Run for FloatKernel<S> {
    fn run(&self, slots: &Slots, params: &[u64], context: &Context) -> Result<()> {
        let (operands, sizes) = operands(slots)?;
        // SAFETY: a launch's layouts lie inside its buffers and its outputs overlap nothing.
        let after = self.post.as_ref().map(|p| unsafe { p.bind(&slots.inputs[2..], operands[2], params) }).transpose()?;
        self.product.multiply(operands, sizes, after.as_ref(), context)
    }
}

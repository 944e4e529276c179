//! The pipelines of one kernel: those it is made ready with, and those for other numbers of loops, made when first met.

use crate::emit::code::Code;
use crate::pipelines::{Pipeline, Pipelines};
use ferrotensor_core::{Error, Result};
use std::sync::{Arc, OnceLock};

/// Pipelines by number.
pub struct Variants<const N: usize>([OnceLock<Arc<Pipeline>>; N]);

impl<const N: usize> Default for Variants<N> {
    fn default() -> Self {
        Variants([const { OnceLock::new() }; N])
    }
}

impl<const N: usize> Variants<N> {
    /// The n-th, made of this shader if it is the first time.
    ///
    /// # Errors
    /// `Code::Unsupported` with the shader's reason; the driver's.
    pub fn get(
        &self,
        n: usize,
        pipelines: &Pipelines,
        shader: impl FnOnce() -> Result<Code, String>,
    ) -> Result<Arc<Pipeline>> {
        if let Some(made) = self.0[n].get() {
            return Ok(Arc::clone(made));
        }
        let shader = shader().map_err(Error::unsupported)?;
        let made = pipelines.of(&shader)?;
        Ok(Arc::clone(self.0[n].get_or_init(|| made)))
    }
}

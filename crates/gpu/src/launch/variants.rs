//! The pipelines of one kernel: those it is made ready with, and those for other numbers of loops, made when first met.

use crate::code::Code;
use crate::{Compiled, Compiler};
use ferrotensor_core::{Error, Result};
use std::sync::{Arc, OnceLock};

/// Pipelines by number.
pub struct Variants<const N: usize>([OnceLock<Compiled>; N]);

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
    pub fn get(&self, n: usize, compiler: &dyn Compiler, shader: impl FnOnce() -> Result<Code, String>) -> Result<Compiled> {
        if let Some(made) = self.0[n].get() {
            return Ok(Arc::clone(made));
        }
        let shader = shader().map_err(Error::unsupported)?;
        let made = compiler.compile(&shader)?;
        Ok(Arc::clone(self.0[n].get_or_init(|| made)))
    }
}

//! `Window` kernels: poolings of a few places ([`pool`]), convolutions of floats (`contract/convolution.rs`). Both go over a copy of the
//! data in which the windows' elements lie beside each other ([`phases`]); the largest and smallest of long rows need none ([`lines`]).

mod lines;
pub mod phases;
mod pool;

use crate::contract::convolution;
use crate::launch::Run;
use crate::tier::Tier;
use ferrotensor_core::kernel::{Window, WindowCombine};

/// Compiles a kernel.
///
/// # Errors
/// For windows that other kernels do as well: see [`pool::prepare`] and [`convolution::prepare`].
pub fn prepare(kernel: &Window, tier: Tier) -> Result<Box<dyn Run>, String> {
    if kernel.axes.is_empty() || kernel.axes.iter().any(|a| a.size * a.stride * a.dilation == 0) {
        return Err("windows of nothing".into());
    }
    match kernel.combine {
        WindowCombine::Reduce(monoid) => pool::prepare(kernel, monoid, tier),
        WindowCombine::Dot => convolution::prepare(kernel, tier),
    }
}

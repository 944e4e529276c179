//! What emitters and launches ask of a device, as plain data: a backend fills it in, and tests take some of it away.

use crate::code::GROUP;
use ferrotensor_core::scalar::Arithmetic;

/// Capabilities and limits of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Can {
    /// float64 arithmetic.
    pub float64: bool,
    /// int64 arithmetic.
    pub int64: bool,
    /// 16-bit elements of buffers.
    pub storage16: bool,
    /// 8-bit elements of buffers.
    pub storage8: bool,
    /// Whether the built-in float32 `fma` rounds once; false until a probe on the open device found so.
    pub fma32: bool,
    /// The same of float64.
    pub fma64: bool,
    /// Whether square roots of float32 are correctly rounded: unless a probe on the open device finds otherwise.
    pub roots: bool,
    /// The same of quotients.
    pub quotients: bool,
    /// Whether arithmetic keeps subnormal numbers of float32: likewise.
    pub subnormals: bool,
    /// A program that imitates a GPU on the CPU.
    pub software: bool,
    /// Largest range of a buffer that a dispatch binds, in bytes.
    pub max_range: u64,
    /// Largest range of the argument block, in bytes.
    pub max_uniform: u64,
    /// Largest number of groups of a dispatch.
    pub max_groups: u32,
    /// Largest number of threads of a group.
    pub max_invocations: u32,
    /// Largest shared memory of a group, in bytes.
    pub max_shared: u32,
    /// Largest number of buffers of a dispatch.
    pub max_buffers: u32,
    /// Threads that run together.
    pub subgroup: u32,
    /// What the offset of any binding is a multiple of, in bytes.
    pub alignment: u64,
}

impl Can {
    /// The same with what a probe on the open device found out about `fma`.
    pub fn with_fma(self, f32: bool, f64: bool) -> Can {
        Can { fma32: f32, fma64: f64, ..self }
    }

    /// What its float32 is like.
    pub fn arithmetic(&self) -> Arithmetic {
        let Can { fma32: fused, roots, quotients, subnormals, .. } = *self;
        Arithmetic { fused, roots, quotients, subnormals, doubles: self.float64 && self.int64 }
    }

    /// Groups for so many elements, a thread for each while there are enough.
    pub fn groups(&self, elements: usize) -> u32 {
        elements.div_ceil(GROUP as usize).min(self.max_groups as usize) as u32
    }
}

//! Instruction sets without a fused multiply-add.

use super::Lanes;
use ferrotensor_core::math::EmulatedFma;
use std::ops::Add;

/// One float of a machine without a fused multiply-add: exact, and as slow as that is.
#[derive(Clone, Copy)]
pub struct Emulated<T>(T);

impl<T: EmulatedFma + Add<Output = T>> Lanes for Emulated<T> {
    type Item = T;
    const COUNT: usize = 1;

    #[inline(always)]
    unsafe fn splat(x: T) -> Self {
        Emulated(x)
    }
    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: as the caller promises.
        Emulated(unsafe { *from })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: as the caller promises.
        unsafe { *to = self.0 }
    }
    #[inline(always)]
    unsafe fn add(self, b: Self) -> Self {
        Emulated(self.0 + b.0)
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        let (result, in_doubt) = T::quick(self.0, b.0, c.0);
        Emulated(if in_doubt { T::exact(self.0, b.0, c.0) } else { result })
    }
    #[inline(always)]
    unsafe fn transpose(_: &mut [Self; 16]) {}
}

//! Registers of floats that products are computed in, one type for each instruction set.

#[cfg(target_arch = "aarch64")]
pub mod arm;
#[cfg(target_arch = "x86_64")]
pub mod x86;

use ferrotensor_core::math::EmulatedFma;

/// As many floats as a register holds.
///
/// # Safety
/// Of every function: the machine has the register's instructions, and what pointers are read or written through is there.
pub trait Lanes: Copy {
    /// One of them.
    type Item: Copy;
    /// How many.
    const COUNT: usize;

    /// The same float everywhere.
    #[allow(clippy::missing_safety_doc, reason = "said above")]
    unsafe fn splat(x: Self::Item) -> Self;
    /// Floats beside each other, at any address.
    #[allow(clippy::missing_safety_doc, reason = "said above")]
    unsafe fn load(from: *const Self::Item) -> Self;
    /// Writes them beside each other.
    #[allow(clippy::missing_safety_doc, reason = "said above")]
    unsafe fn store(self, to: *mut Self::Item);
    /// `self * b + c`, rounded once.
    #[allow(clippy::missing_safety_doc, reason = "said above")]
    unsafe fn fma(self, b: Self, c: Self) -> Self;
}

/// One float of a machine without a fused multiply-add: exact, and as slow as that is.
#[derive(Clone, Copy)]
pub struct Emulated<T>(T);

impl<T: EmulatedFma> Lanes for Emulated<T> {
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
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        let (result, in_doubt) = T::quick(self.0, b.0, c.0);
        Emulated(if in_doubt { T::exact(self.0, b.0, c.0) } else { result })
    }
}

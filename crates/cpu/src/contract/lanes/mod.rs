//! Registers of floats that products are computed in, one type for each instruction set.

#[cfg(target_arch = "aarch64")]
pub mod arm;
#[cfg(not(target_arch = "aarch64"))]
pub mod emulated;
#[cfg(target_arch = "x86_64")]
pub mod x86;

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
    /// Transposes a square block: its first `COUNT` registers.
    #[allow(clippy::missing_safety_doc, reason = "said above")]
    unsafe fn transpose(block: &mut [Self; 16]);
}

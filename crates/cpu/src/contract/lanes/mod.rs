//! Registers of floats (or of quads) that products are computed in, one type for each instruction set.

/// Registers with the instructions for each function.
macro_rules! lanes {
    ($($register:ty: $count:literal of $item:ty, $splat:ident $load:ident $store:ident $add:ident, |$x:ident, $b:ident, $c:ident| $fma:expr, $transpose:path;)*) => {$(
        impl Lanes for $register {
            type Item = $item;
            const COUNT: usize = $count;

            #[inline(always)]
            unsafe fn splat(x: $item) -> Self {
                // SAFETY: as the caller promises.
                unsafe { $splat(x) }
            }
            #[inline(always)]
            unsafe fn load(from: *const $item) -> Self {
                // SAFETY: as the caller promises.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $item) {
                // SAFETY: as the caller promises.
                unsafe { $store(to, self) }
            }
            #[inline(always)]
            unsafe fn add(self, b: Self) -> Self {
                // SAFETY: as the caller promises.
                unsafe { $add(self, b) }
            }
            #[inline(always)]
            unsafe fn fma(self, $b: Self, $c: Self) -> Self {
                let $x = self;
                // SAFETY: as the caller promises.
                unsafe { $fma }
            }
            #[inline(always)]
            unsafe fn transpose(block: &mut [Self; 16]) {
                // SAFETY: as the caller promises.
                unsafe { $transpose(block) }
            }
        }
    )*};
}

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
    /// `self + b`.
    #[allow(clippy::missing_safety_doc, reason = "said above")]
    unsafe fn add(self, b: Self) -> Self;
    /// `self * b + c`, rounded once.
    #[allow(clippy::missing_safety_doc, reason = "said above")]
    unsafe fn fma(self, b: Self, c: Self) -> Self;
    /// Transposes a square block: its first `COUNT` registers.
    #[allow(clippy::missing_safety_doc, reason = "said above")]
    unsafe fn transpose(block: &mut [Self; 16]);
}

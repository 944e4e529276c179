//! What the caches are told: which lines come next, and which are not worth keeping.

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// Bytes of all operands of a launch from which results may go past the caches: a line that is written whole need not be read
/// first. Plain loops on two Zen 4 cores with 32 MiB of cache: adding 40 MB arrays takes 2.2 ms instead of 4.1, copying them 1.6
/// instead of 1.9, and copying 16 MB, which the caches hold, 0.64 instead of 0.43. Intel's servers have a third-level cache that is
/// hardly faster than memory to write to: copying 32 MB takes two Emerald Rapids cores 0.7 ms past it and 1.3 through it, of 4 MB
/// their second-level caches still hold most.
pub fn past() -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        static PAST: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
        *PAST.get_or_init(|| {
            // "GenuineIntel" ends so.
            let intel = std::arch::x86_64::__cpuid(0).ecx == u32::from_le_bytes(*b"ntel");
            if intel { 8 << 20 } else { 32 << 20 }
        })
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    usize::MAX
}

/// Asks for the line at `at`, which may be anywhere.
#[inline(always)]
pub fn prefetch(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a hint, of which no address is wrong.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast())
    };
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}

/// Copies `bytes`, past the caches where that is possible. [`fence`] orders it before what other threads are told.
///
/// # Safety
/// As [`std::ptr::copy_nonoverlapping`].
pub unsafe fn store_past(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: by the contract above; whole vectors lie between the first and the last aligned address.
    unsafe {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let head = to.align_offset(LINE).min(bytes);
        let middle = (bytes - head) / LINE * LINE;
        std::ptr::copy_nonoverlapping(from, to, head);
        for at in (head..head + middle).step_by(LINE) {
            let (from, to) = (from.add(at).cast::<__m128i>(), to.add(at).cast::<__m128i>());
            let line = [0, 1, 2, 3].map(|n| _mm_loadu_si128(from.add(n)));
            for (n, part) in line.into_iter().enumerate() {
                _mm_stream_si128(to.add(n), part);
            }
        }
        let done = head + middle;
        std::ptr::copy_nonoverlapping(from.add(done), to.add(done), bytes - done);
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    // SAFETY: by the contract above.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, bytes)
    };
}

/// Makes what went past the caches seen by whoever sees a later store of this thread.
pub fn fence() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every processor of the architecture has it.
    unsafe {
        std::arch::x86_64::_mm_sfence()
    };
}

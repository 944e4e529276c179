//! What this machine does at best: fused multiply-adds in registers, and copies from memory to memory, on the pool's threads.
//! Measured when a profile first asks, which takes about a quarter of a second.

use crate::cache;
use crate::contract::lanes::Lanes;
use crate::memory::Block;
use crate::parallel;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::Result;
use ferrotensor_core::backend::Peak;
#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::{float32x4_t, float64x2_t};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::hint::black_box;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes copied at a time: twice the last-level cache of the machine it was chosen on. Larger caches show their own speed.
const COPIED: usize = 64 << 20;
/// Bytes of one thread's turn.
const PIECE: usize = 1 << 20;
/// Steps of one thread's turn of multiply-adds: about a millisecond.
const STEPS: usize = 200_000;
/// Turns for each thread, so that one that starts late is not waited for.
const TURNS: usize = 4;
/// Rounds, of which the fastest counts: the first wakes the threads and meets fresh pages.
const ROUNDS: usize = 5;

/// The peak on the present number of threads, measured once for each; `None` where memory for it is refused.
pub fn peak(tier: Tier) -> Option<Peak> {
    static KNOWN: Mutex<Vec<(Tier, usize, Peak)>> = Mutex::new(Vec::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let threads = parallel::threads();
    if let Some((.., peak)) = known.iter().find(|(t, n, _)| (*t, *n) == (tier, threads)) {
        return Some(*peak);
    }
    #[cfg(target_arch = "x86_64")]
    let (float32, float64) = match tier {
        Tier::Baseline => (rate::<__m128>(tier), rate::<__m128d>(tier)),
        Tier::Avx2 => (rate::<__m256>(tier), rate::<__m256d>(tier)),
        Tier::Avx512 => (rate::<__m512>(tier), rate::<__m512d>(tier)),
    };
    #[cfg(target_arch = "aarch64")]
    let (float32, float64) = (rate::<float32x4_t>(tier), rate::<float64x2_t>(tier));
    let peak = Peak { copy: copy_rate().ok()?, float32, float64 };
    known.push((tier, threads, peak));
    Some(peak)
}

/// The shortest of several rounds, in seconds.
fn fastest(mut round: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        round()?;
        best = best.min(start.elapsed());
    }
    Ok(best.as_secs_f64())
}

/// A register of floats. Left to the compiler, arrays of float32 came out as scalars, a hundredth of the peak.
trait Register: Copy {
    /// How many.
    const LANES: usize;

    /// # Safety
    /// The machine has the register's instructions.
    unsafe fn splat(x: f32) -> Self;

    /// `self * y + z`, in one instruction where the tier has it.
    ///
    /// # Safety
    /// As of `splat`.
    unsafe fn multiply_add(self, y: Self, z: Self) -> Self;
}

impl<V: Lanes<Item: From<f32>>> Register for V {
    const LANES: usize = V::COUNT;

    #[inline(always)]
    unsafe fn splat(x: f32) -> Self {
        // SAFETY: as the caller promises.
        unsafe { <V as Lanes>::splat(x.into()) }
    }

    #[inline(always)]
    unsafe fn multiply_add(self, y: Self, z: Self) -> Self {
        // SAFETY: as the caller promises.
        unsafe { self.fma(y, z) }
    }
}

/// Registers of the tier without a fused multiply-add, in which no product is computed.
#[cfg(target_arch = "x86_64")]
macro_rules! unfused {
    ($($register:ident: $lanes:literal of $float:ty, $splat:ident $mul:ident $add:ident;)*) => {$(
        impl Register for $register {
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn splat(x: f32) -> Self {
                // SAFETY: as the caller promises.
                unsafe { $splat(<$float>::from(x)) }
            }

            #[inline(always)]
            unsafe fn multiply_add(self, y: Self, z: Self) -> Self {
                // SAFETY: as the caller promises.
                unsafe { $add($mul(self, y), z) }
            }
        }
    )*};
}
#[cfg(target_arch = "x86_64")]
unfused! {
    __m128: 4 of f32, _mm_set1_ps _mm_mul_ps _mm_add_ps;
    __m128d: 2 of f64, _mm_set1_pd _mm_mul_pd _mm_add_pd;
}

/// Chains of multiply-adds side by side: latency 4 on two ports asks for 8, and 16 registers hold 12 and two operands.
const CHAINS: usize = 12;

struct Chains<R>(PhantomData<R>);

impl<R: Register> Source for Chains<R> {
    type Args = (f32, f32);

    #[inline(always)]
    unsafe fn run<const FMA: bool>((y, z): (f32, f32)) {
        // SAFETY: the caller's machine has the tier, whose register this is.
        unsafe {
            let (y, z) = (R::splat(y), R::splat(z));
            let mut sums = [y; CHAINS];
            for _ in 0..STEPS {
                for sum in &mut sums {
                    *sum = sum.multiply_add(y, z);
                }
            }
            black_box(&sums);
        }
    }
}

/// Floating-point operations a second, two for each multiply-add.
fn rate<R: Register>(tier: Tier) -> f64 {
    let run = compiled::<Chains<R>>(tier);
    let turns = TURNS * parallel::threads();
    let nanos = STEPS as f64 * CHAINS as f64 / 4.0;
    let seconds = fastest(|| {
        parallel::parallel_for(turns, nanos, &|range| {
            for _ in range {
                // SAFETY: the backend was made for this tier, so the machine has it; the source uses no pointers.
                unsafe { run(black_box((0.5, 0.25))) };
            }
            Ok(())
        })
    });
    let flops = (turns * STEPS * CHAINS * R::LANES * 2) as f64;
    seconds.map_or(0.0, |s| flops / s)
}

/// Bytes a second of a copy, read and written together.
fn copy_rate() -> Result<f64> {
    let (from, to) = (Block::new(COPIED)?, Block::new(COPIED)?);
    // SAFETY: the block has this many bytes; zeroed, it is no longer the one page that the system shows for untouched memory.
    unsafe { std::ptr::write_bytes(from.as_ptr(), 1, COPIED) };
    let seconds = fastest(|| {
        parallel::parallel_for(COPIED / PIECE, PIECE as f64 * 0.1, &|range| {
            for piece in range {
                // SAFETY: pieces lie inside of both blocks and do not overlap, and each is one thread's.
                unsafe { cache::store_past(from.as_ptr().add(piece * PIECE), to.as_ptr().add(piece * PIECE), PIECE) };
            }
            cache::fence();
            Ok(())
        })
    })?;
    Ok(2.0 * COPIED as f64 / seconds)
}

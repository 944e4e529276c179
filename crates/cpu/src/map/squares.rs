//! Squares of elements of 4 and 8 bytes, a cache line wide on either side, turned in vector registers.

#[cfg(all(target_arch = "x86_64", not(miri)))]
pub use vectors::{are_turned, lines, quarters, turn};

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod vectors {
    use crate::cache::LINE;
    use crate::tier::Tier;
    use std::arch::x86_64::*;

    /// Whether there is a way for elements of this size.
    pub fn are_turned(size: usize) -> bool {
        size == 4 || size == 8
    }

    /// Copies the element at `i * step + j` of the one side to `j * step + i` of the other, a cache line either way; `past` the caches where
    /// that is possible. The bytes are the same on any tier, so the newest one does it: with AVX-512 a line is one store, and 40 MB of
    /// float32 take half the time.
    ///
    /// # Safety
    /// The elements exist on both sides, which are apart; the target is aligned to cache lines if `past`.
    #[inline]
    pub unsafe fn turn<T>(from: (*mut T, isize), to: (*mut T, isize), past: bool) {
        // SAFETY: by the contract above; the machine has its newest tier.
        unsafe { if Tier::newest() == Tier::Avx512 { lines(from, to, past) } else { quarters(from, to, past) } }
    }

    /// By registers of a quarter of a line.
    ///
    /// # Safety
    /// As [`turn`].
    #[inline(always)]
    pub unsafe fn quarters<T>((from, from_step): (*mut T, isize), (to, to_step): (*mut T, isize), past: bool) {
        let edge = LINE / size_of::<T>();
        let vector = 16 / size_of::<T>();
        for j in (0..edge).step_by(vector) {
            for i in (0..edge).step_by(vector) {
                let source = |n: usize| from.wrapping_offset((i + n) as isize * from_step).wrapping_add(j).cast::<f32>();
                let target = |n: usize| to.wrapping_offset((j + n) as isize * to_step).wrapping_add(i).cast::<f32>();
                // SAFETY: by the contract above.
                unsafe {
                    let store = |n: usize, v: __m128| {
                        if past { _mm_stream_ps(target(n), v) } else { _mm_storeu_ps(target(n), v) }
                    };
                    if vector == 4 {
                        let [mut a, mut b, mut c, mut d] = [0, 1, 2, 3].map(|n| _mm_loadu_ps(source(n)));
                        _MM_TRANSPOSE4_PS(&mut a, &mut b, &mut c, &mut d);
                        [a, b, c, d].into_iter().enumerate().for_each(|(n, v)| store(n, v));
                    } else {
                        let [a, b] = [0, 1].map(|n| _mm_castps_pd(_mm_loadu_ps(source(n))));
                        store(0, _mm_castpd_ps(_mm_unpacklo_pd(a, b)));
                        store(1, _mm_castpd_ps(_mm_unpackhi_pd(a, b)));
                    }
                }
            }
        }
    }

    /// By registers of a line: pairs of rows are interleaved until each quarter of a register holds a column of 16 bytes, then quarters change
    /// places.
    ///
    /// # Safety
    /// As [`turn`], on a machine that has AVX-512.
    #[target_feature(enable = "avx512f")]
    pub unsafe fn lines<T>((from, from_step): (*mut T, isize), (to, to_step): (*mut T, isize), past: bool) {
        // SAFETY: by the contract above.
        let load = |n: usize| unsafe { _mm512_loadu_ps(from.wrapping_offset(n as isize * from_step).cast()) };
        let store = |n: usize, v: __m512| {
            let target = to.wrapping_offset(n as isize * to_step).cast();
            // SAFETY: as above.
            unsafe { if past { _mm512_stream_ps(target, v) } else { _mm512_storeu_ps(target, v) } };
        };
        let doubles = |a: __m512, b: __m512| {
            let (a, b) = (_mm512_castps_pd(a), _mm512_castps_pd(b));
            [_mm512_castpd_ps(_mm512_unpacklo_pd(a, b)), _mm512_castpd_ps(_mm512_unpackhi_pd(a, b))]
        };
        if size_of::<T>() == 8 {
            let pairs: [[__m512; 2]; 4] = std::array::from_fn(|n| doubles(load(2 * n), load(2 * n + 1)));
            for c in 0..2 {
                let lines = quarters_across(pairs.map(|pair| pair[c]));
                lines.into_iter().enumerate().for_each(|(quarter, line)| store(2 * quarter + c, line));
            }
            return;
        }
        let fours: [[__m512; 4]; 4] = std::array::from_fn(|n| {
            let [a, b, c, d] = std::array::from_fn(|i| load(4 * n + i));
            let low = doubles(_mm512_unpacklo_ps(a, b), _mm512_unpacklo_ps(c, d));
            let high = doubles(_mm512_unpackhi_ps(a, b), _mm512_unpackhi_ps(c, d));
            [low[0], low[1], high[0], high[1]]
        });
        for c in 0..4 {
            let lines = quarters_across(fours.map(|four| four[c]));
            lines.into_iter().enumerate().for_each(|(quarter, line)| store(4 * quarter + c, line));
        }
    }

    /// The first quarters of four registers, their second ones, and so on.
    #[target_feature(enable = "avx512f")]
    fn quarters_across([a, b, c, d]: [__m512; 4]) -> [__m512; 4] {
        const EVEN: i32 = 0b10_00_10_00;
        const ODD: i32 = 0b11_01_11_01;
        let (even, odd) = (_mm512_shuffle_f32x4::<EVEN>(a, b), _mm512_shuffle_f32x4::<ODD>(a, b));
        let (later_even, later_odd) = (_mm512_shuffle_f32x4::<EVEN>(c, d), _mm512_shuffle_f32x4::<ODD>(c, d));
        [
            _mm512_shuffle_f32x4::<EVEN>(even, later_even),
            _mm512_shuffle_f32x4::<EVEN>(odd, later_odd),
            _mm512_shuffle_f32x4::<ODD>(even, later_even),
            _mm512_shuffle_f32x4::<ODD>(odd, later_odd),
        ]
    }
}

/// Elsewhere one element after the other.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub fn are_turned(_: usize) -> bool {
    false
}

/// Never called.
///
/// # Safety
/// None.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub unsafe fn turn<T>(_: (*mut T, isize), _: (*mut T, isize), _: bool) {
    unreachable!("no square is turned as a whole")
}

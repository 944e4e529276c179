//! Square blocks of a register's length, transposed in registers. Each stage pairs registers that are twice as far apart.

use std::arch::x86_64::*;

/// Pairs of neighbours' floats, then pairs of those: register `4 i + j` then holds, in its l-th quarter or half, column `4 l + j` of
/// the rows `4 i` to `4 i + 3`.
macro_rules! fours {
    ($r:ident, $count:literal, $low:ident $high:ident, $low2:ident $high2:ident, $wide:ident $narrow:ident) => {
        for i in (0..$count).step_by(4) {
            let [a, b, c, d] = [$r[i], $r[i + 1], $r[i + 2], $r[i + 3]];
            let [low, high] = [[$low(a, b), $low(c, d)], [$high(a, b), $high(c, d)]];
            let [low, high] = [low.map(|x| $wide(x)), high.map(|x| $wide(x))];
            $r[i] = $narrow($low2(low[0], low[1]));
            $r[i + 1] = $narrow($high2(low[0], low[1]));
            $r[i + 2] = $narrow($low2(high[0], high[1]));
            $r[i + 3] = $narrow($high2(high[0], high[1]));
        }
    };
}

/// Register `2 i + j` then holds, in its l-th part, column `2 l + j` of the rows `2 i` and `2 i + 1`.
macro_rules! twos {
    ($r:ident, $count:literal, $low:ident $high:ident) => {
        for i in (0..$count).step_by(2) {
            ($r[i], $r[i + 1]) = ($low($r[i], $r[i + 1]), $high($r[i], $r[i + 1]));
        }
    };
}

/// Quarters of registers that are `step` apart become whole columns.
macro_rules! quarters {
    ($r:ident, $step:literal, $shuffle:ident) => {
        for j in 0..$step {
            let [a, b, c, d] = [$r[j], $r[$step + j], $r[2 * $step + j], $r[3 * $step + j]];
            let (even, odd) =
                ([$shuffle::<0x88>(a, b), $shuffle::<0x88>(c, d)], [$shuffle::<0xdd>(a, b), $shuffle::<0xdd>(c, d)]);
            $r[j] = $shuffle::<0x88>(even[0], even[1]);
            $r[$step + j] = $shuffle::<0x88>(odd[0], odd[1]);
            $r[2 * $step + j] = $shuffle::<0xdd>(even[0], even[1]);
            $r[3 * $step + j] = $shuffle::<0xdd>(odd[0], odd[1]);
        }
    };
}

/// Halves, likewise.
macro_rules! halves {
    ($r:ident, $step:literal, $permute:ident) => {
        for j in 0..$step {
            let (a, b) = ($r[j], $r[$step + j]);
            ($r[j], $r[$step + j]) = ($permute::<0x20>(a, b), $permute::<0x31>(a, b));
        }
    };
}

/// # Safety
/// Of all: the machine has the registers' instructions.
#[inline(always)]
pub unsafe fn f32x16(r: &mut [__m512; 16]) {
    // SAFETY: as the caller promises.
    unsafe {
        fours!(r, 16, _mm512_unpacklo_ps _mm512_unpackhi_ps, _mm512_unpacklo_pd _mm512_unpackhi_pd, _mm512_castps_pd _mm512_castpd_ps);
        quarters!(r, 4, _mm512_shuffle_f32x4);
    }
}

/// # Safety
/// As [`f32x16`].
#[inline(always)]
pub unsafe fn f64x8(r: &mut [__m512d; 16]) {
    // SAFETY: as the caller promises.
    unsafe {
        twos!(r, 8, _mm512_unpacklo_pd _mm512_unpackhi_pd);
        quarters!(r, 2, _mm512_shuffle_f64x2);
    }
}

/// # Safety
/// As [`f32x16`].
#[inline(always)]
pub unsafe fn f32x8(r: &mut [__m256; 16]) {
    // SAFETY: as the caller promises.
    unsafe {
        fours!(r, 8, _mm256_unpacklo_ps _mm256_unpackhi_ps, _mm256_unpacklo_pd _mm256_unpackhi_pd, _mm256_castps_pd _mm256_castpd_ps);
        halves!(r, 4, _mm256_permute2f128_ps);
    }
}

/// # Safety
/// As [`f32x16`].
#[inline(always)]
pub unsafe fn f64x4(r: &mut [__m256d; 16]) {
    // SAFETY: as the caller promises.
    unsafe {
        twos!(r, 4, _mm256_unpacklo_pd _mm256_unpackhi_pd);
        halves!(r, 2, _mm256_permute2f128_pd);
    }
}

//! The AVX-512 tier's registers give the bits of plain floats, which the AVX2 tier computes with, for every function: of one
//! float32 on all inputs (`npm run test:slow`; the quick tier takes every thousandth), of two and of float64 on special and
//! random ones.

use ferrotensor_core::DType;
use ferrotensor_core::scalar::{MathFn, Op};
use ferrotensor_cpu::Tier;
use ferrotensor_cpu::internals::map::{Tile, TileFn, tile_fn};

/// Elements of a tile: a multiple of no register's length, so that each ends with a part of one.
const TILE: usize = 2045;

/// A float by its bits.
trait Float: Copy + Default {
    const DTYPE: DType;
    fn from_low_bits(bits: u64) -> Self;
    /// Bits, one NaN for all.
    fn key(self) -> u64;
}

macro_rules! floats {
    ($($t:ident $bits:ident $dtype:ident)*) => {$(
        impl Float for $t {
            const DTYPE: DType = DType::$dtype;
            fn from_low_bits(bits: u64) -> Self {
                $t::from_bits(bits as $bits)
            }
            fn key(self) -> u64 {
                (if self.is_nan() { $t::NAN } else { self }).to_bits() as u64
            }
        }
    )*};
}
floats! { f32 u32 F32 f64 u64 F64 }

/// The function over a tile, compiled for a tier.
struct Compiled(TileFn);

impl Compiled {
    fn new<T: Float>(f: MathFn, tier: Tier) -> Compiled {
        Compiled(tile_fn(Op::Call(f), T::DTYPE, T::DTYPE, tier).expect("every function of floats has a tile function"))
    }

    fn run<T: Float>(&self, x: &[T], y: &[T]) -> Vec<T> {
        let mut out = vec![T::default(); x.len()];
        let args = [x.as_ptr().cast(), y.as_ptr().cast(), x.as_ptr().cast()];
        // SAFETY: three arrays of one length, of the function's dtype; the machine has the tier.
        unsafe { (self.0)(Tile { out: out.as_mut_ptr().cast(), args, len: x.len().min(y.len()) }) };
        out
    }
}

/// Where two results differ first.
fn first_difference<T: Float>(a: &[T], b: &[T]) -> Option<usize> {
    a.iter().zip(b).position(|(a, b)| a.key() != b.key())
}

/// Both tiers over tiles of pairs.
fn compare<T: Float>(f: MathFn, mut pairs: impl Iterator<Item = (T, T)>) {
    let (plain, registers) = (Compiled::new::<T>(f, Tier::Avx2), Compiled::new::<T>(f, Tier::Avx512));
    loop {
        let (x, y): (Vec<T>, Vec<T>) = pairs.by_ref().take(TILE).unzip();
        if x.is_empty() {
            return;
        }
        let (want, got) = (plain.run(&x, &y), registers.run(&x, &y));
        if let Some(at) = first_difference(&want, &got) {
            let bits = [x[at], y[at], want[at], got[at]].map(T::key);
            panic!("{} {}: x, y, plain and register {bits:#x?}", T::DTYPE, f.name());
        }
    }
}

/// Whether there is something to compare.
fn present() -> bool {
    Tier::Avx512.is_present()
}

/// Every `step`-th float32 with itself, in an order that puts large and small ones into one tile only where exponents change,
/// as tiles without large arguments take a way of their own.
fn sweep(step: usize) -> impl Iterator<Item = (f32, f32)> {
    (0..=u32::MAX).step_by(step).map(|bits| (f32::from_bits(bits), f32::from_bits(bits)))
}

/// Each pair of special values, of both signs.
fn special<T: Float>(width: u32, mantissa: u32) -> Vec<(T, T)> {
    let field = (1u64 << (width - 1 - mantissa)) - 1;
    let (bias, last) = (field / 2, 1u64 << mantissa);
    // Zero, the smallest and the largest subnormal and normal number, infinity, NaN; 1, 2, 3, 0.5 and neighbours of 1; beyond
    // what may be an odd or a broken number.
    let mut bits = vec![0, 1, last - 1, last, field * last - 1, field * last, field * last + last / 2];
    bits.extend([
        bias * last,
        bias * last - 1,
        bias * last + 1,
        (bias + 1) * last,
        (bias + 1) * last + last / 2,
        (bias - 1) * last,
    ]);
    bits.extend([
        (bias + mantissa as u64) * last + 1,
        (bias + mantissa as u64 + 1) * last,
        (bias + 15) * last,
        (bias + 16) * last,
    ]);
    let signed: Vec<u64> = bits.iter().flat_map(|&b| [b, b | 1 << (width - 1)]).collect();
    signed.iter().flat_map(|&x| signed.iter().map(move |&y| (T::from_low_bits(x), T::from_low_bits(y)))).collect()
}

/// Pairs of any bits, and of bits that make numbers of ordinary size (exponents from -8 to 7).
fn random<T: Float>(width: u32, mantissa: u32, count: u64) -> impl Iterator<Item = (T, T)> {
    let ordinary = move |bits: u64| {
        let field = (1u64 << (width - 1 - mantissa)) - 1;
        let exponent = field / 2 - 8 + (bits >> mantissa) % 16;
        T::from_low_bits((bits & ((1 << mantissa) - 1)) | exponent << mantissa | (bits >> 63) << (width - 1))
    };
    (0..count).map(move |i| {
        let x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let y = (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let any = |bits: u64| T::from_low_bits(bits >> (64 - width));
        // Runs of a tile each, for the same reason as in `sweep`.
        if (i / TILE as u64).is_multiple_of(2) { (any(x), any(y)) } else { (ordinary(x), ordinary(y)) }
    })
}

fn of_one_argument() -> impl Iterator<Item = MathFn> {
    MathFn::ALL.iter().copied().filter(|f| f.arity() == 1)
}

#[test]
fn registers_have_the_bits_of_plain_float32_on_a_sample_of_all_inputs() {
    if present() {
        of_one_argument().for_each(|f| compare(f, sweep(1021)));
    }
}

#[test]
#[ignore = "minutes: all float32 inputs (`npm run test:slow`)"]
fn registers_have_the_bits_of_plain_float32_on_all_inputs() {
    if present() {
        of_one_argument().for_each(|f| compare(f, sweep(1)));
    }
}

#[test]
fn registers_have_the_bits_of_plain_floats_on_special_and_random_pairs() {
    if present() {
        for &f in MathFn::ALL {
            compare::<f32>(f, special(32, 23).into_iter().chain(random(32, 23, 100_000)));
            compare::<f64>(f, special(64, 52).into_iter().chain(random(64, 52, 50_000)));
        }
    }
}

#[test]
fn the_comparison_sees_one_wrong_bit_and_takes_one_nan_for_another() {
    let x = [1.0f32, f32::NAN, 3.0, -0.0];
    assert_eq!(first_difference(&x, &[1.0, -f32::NAN, 3.0, -0.0]), None);
    assert_eq!(first_difference(&x, &[1.0, f32::NAN, f32::from_bits(3f32.to_bits() ^ 1), -0.0]), Some(2));
    assert_eq!(first_difference(&x, &[1.0, f32::NAN, 3.0, 0.0]), Some(3));
}

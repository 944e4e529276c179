//! Where operands' elements come from: a seeded generator, ordinary numbers by domain, random bit patterns, and the list of
//! special values of each dtype.

use crate::compare::{epsilon, largest, spacing};
use ferrotensor_core::reference::{Array, Double, Scalar};
use ferrotensor_core::{DType, Kind, Result, layout, math};
use ferrotensor_ops::def::Domain;

/// SplitMix64 (Steele, Lea, Flood, 2014): equal seeds give equal cases on every machine.
#[derive(Clone)]
pub struct Rng(u64);

impl Rng {
    /// A generator for a name: cases do not change when others are added.
    pub fn named(name: &str) -> Rng {
        Rng(math::fnv1a(name))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * 2f64.powi(-53)
    }
}

/// What an operand is filled with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fill {
    /// Moderate numbers of the row's domain, some of them equal so that ties occur.
    Ordinary(Domain),
    /// Random bit patterns: every exponent, every integer, NaN payloads.
    Bits,
    /// Special values of the dtype among ordinary ones, and of complex numbers' parts among those of any size.
    Special,
    /// Numbers whose exponents are likely all alike: half of them within the size of a mantissa from 1, where functions change their
    /// formulas, half of those whose squares are finite.
    AnySize,
    /// Valid indices for an axis of this size, negative ones too where the dtype has them.
    Index(usize),
    /// So many classes, often the last, which int8 may lack; or else -100 for every third, which stands for none, where the dtype has
    /// it.
    Classes(usize, bool),
    /// Numbers from 0 to this one, both ends among them.
    Fractions(f64),
    /// Square blocks with a dominant diagonal.
    Matrix,
    /// Nothing but this number; 1 instead of what an integer dtype lacks.
    Only(f64),
    /// Ordinary numbers beside 100.
    Far,
    /// Whole numbers one after the other, each twice.
    Rising,
    /// 0, 1, 2, and NaN from there on.
    RisingToNan,
    /// Matrices of blocks that turn by 257 radians, so that their exponentials stay small; of unsigned integers by as many imaginary
    /// ones of which the exponentials are large.
    Rotations,
    /// Ordinary numbers with NaN for every third.
    Holes,
    /// Ones, and so many zeros in so many elements.
    Coin(usize, usize),
    /// Numbers of so many digits that a half is the last of their quotients by numbers near 1.
    Steep,
    /// 0, 1, 257, which bfloat16 and int8 lack, and a quarter, which no integer is.
    Few,
    /// Whole numbers up to 130 in size, as many small as large; integers that are not negative, of any size. Half of the complex ones
    /// have an imaginary part.
    Whole,
    /// Numbers of these sizes or beside them, of both signs; the largest of a dtype or one of its smallest instead of what it lacks.
    /// Half of the complex ones are real. Integers are small ones.
    Turns(&'static [f64]),
    /// As turns, but one number for all elements.
    Alike(&'static [f64]),
    /// One of these numbers or its negative for all elements; of integers a small one.
    Real(&'static [f64]),
    /// The place along the last axis.
    Columns,
    /// What is smallest or largest (the infinities), and now and then the other.
    Extremes,
    /// Factors near 1 in size, so that a product of thousands neither overflows nor vanishes.
    Factors,
}

impl Fill {
    /// Whether its elements stand in no order and are not all of them together something: a product of bounded size, a position.
    fn repeats(self) -> bool {
        use Fill::{AnySize, Bits, Far, Fractions, Holes, Ordinary, Special, Steep, Turns, Whole};
        matches!(self, Ordinary(_) | Bits | Special | AnySize | Fractions(_) | Far | Holes | Steep | Whole | Turns(_))
    }
}

/// Elements after which those of [`repeated`] do: a prime, so that what is read a lane, a row or a tile beside its place is another one. The
/// reference computes a map once for each (`executor/distinct.rs`).
pub const PERIOD: usize = 251;

/// An array of a shape.
///
/// # Errors
/// As [`layout::count`].
pub fn array(dtype: DType, dims: &[usize], fill: Fill, rng: &mut Rng) -> Result<Array> {
    drawn(dtype, dims, fill, usize::MAX, rng)
}

/// The same, of which random elements repeat after [`PERIOD`].
///
/// # Errors
/// As [`layout::count`].
pub fn repeated(dtype: DType, dims: &[usize], fill: Fill, rng: &mut Rng) -> Result<Array> {
    drawn(dtype, dims, fill, if fill.repeats() { PERIOD } else { usize::MAX }, rng)
}

fn drawn(dtype: DType, dims: &[usize], fill: Fill, period: usize, rng: &mut Rng) -> Result<Array> {
    let n = layout::count(dims)?;
    let special = specials(dtype.info().real);
    let mut bytes = Vec::with_capacity(n * dtype.bytes());
    let most = if fill == Fill::Extremes { rng.below(2) } else { 0 };
    let alike = match fill {
        Fill::Real(sizes) if dtype.is_float() || dtype.is_complex() => {
            let x = sizes[rng.below(sizes.len())];
            Scalar::float(if rng.below(2) == 0 { -x } else { x }).fit(dtype)
        }
        Fill::Alike(sizes) | Fill::Real(sizes) => turn(dtype, sizes, rng),
        _ => Scalar::Bool(false),
    };
    for i in 0..n {
        if i >= period {
            let before = (i - period) * dtype.bytes();
            bytes.extend_from_within(before..before + dtype.bytes());
            continue;
        }
        let element = match fill {
            Fill::Alike(_) | Fill::Real(_) => alike.encode(dtype),
            Fill::Extremes => ends(dtype)[if rng.below(16) > 0 { most } else { 1 - most }].encode(dtype),
            Fill::Columns => Scalar::Int((i % dims.last().copied().unwrap_or(1)) as i128).encode(dtype),
            Fill::Bits => random_bits(dtype, rng),
            Fill::AnySize => any_size(dtype, rng).encode(dtype),
            Fill::Special if dtype.is_complex() => special_parts(dtype, &special, rng),
            Fill::Special if rng.below(2) == 0 => special[rng.below(special.len())],
            Fill::Special => ordinary(dtype, Domain::Any, rng).encode(dtype),
            Fill::Ordinary(domain) => ordinary(dtype, domain, rng).encode(dtype),
            Fill::Only(x) if dtype.is_float() || dtype.is_complex() => Scalar::float(x).fit(dtype).encode(dtype),
            Fill::Only(x) => Scalar::Int(if dtype.bytes() > 1 && x == 257.0 { 257 } else { 1 }).encode(dtype),
            Fill::Far => {
                let x = ordinary(dtype, Domain::Any, rng);
                if dtype.is_integer() || dtype == DType::Bool { x } else { x + Scalar::float(100.0).fit(dtype) }
                    .encode(dtype)
            }
            Fill::Rising => Scalar::Int((i / 2) as i128 % 100).encode(dtype),
            Fill::RisingToNan => Scalar::float(if i < 3 { i as f64 } else { f64::NAN }).fit(dtype).encode(dtype),
            Fill::Rotations => {
                let n = dims.last().copied().unwrap_or(1).max(1);
                let size = if dtype.bytes() > 1 { 257 } else { 1 };
                let below = if dtype.kind() == Kind::Unsigned { 1 } else { -size };
                Scalar::Int(match ((i / n) % n, i % n) {
                    (row, column) if row % 2 == 0 && column == row + 1 => size,
                    (row, column) if column % 2 == 0 && row == column + 1 => below,
                    _ => 0,
                })
                .encode(dtype)
            }
            Fill::Holes if rng.below(3) == 0 && (dtype.is_float() || dtype.is_complex()) => {
                Scalar::float(f64::NAN).fit(dtype).encode(dtype)
            }
            Fill::Holes => ordinary(dtype, Domain::Any, rng).encode(dtype),
            // Ends, eighths, and numbers whose place among elements is no fraction of theirs.
            Fill::Fractions(whole) => {
                let part = if rng.below(2) == 0 { rng.below(9) as f64 / 8.0 } else { rng.unit() };
                Scalar::float(whole * part).fit(dtype).encode(dtype)
            }
            Fill::Index(size) => index(dtype, size, rng).encode(dtype),
            // One that is left out, or now and then one that there is not.
            Fill::Classes(_, true) if rng.below(3) == 0 && dtype.kind() == Kind::Signed => {
                Scalar::Int(if rng.below(24) == 0 { -1 } else { -100 }).encode(dtype)
            }
            Fill::Classes(size, _) => {
                // Only those that the dtype can name.
                let count = size.clamp(1, if dtype.bytes() > 1 { usize::MAX } else { 128 });
                let class = if rng.below(4) == 0 { count - 1 } else { rng.below(count) };
                Scalar::Int(class as i128).encode(dtype)
            }
            Fill::Factors => factor(dtype, rng).encode(dtype),
            Fill::Steep if dtype.is_float() => {
                // Half floats divide in float32, where digits run out at larger quotients. The last are so small that a divisor
                // swallows them.
                let scales = [0.5 / epsilon(dtype), 1.0 / epsilon(dtype), 8.0 / epsilon(dtype), epsilon(dtype)];
                let scale = scales[if dtype.bytes() == 2 { 2 } else { rng.below(4) }];
                let x = (1.0 + rng.unit()) * scale.min(largest(dtype) / 4.0);
                Scalar::float(if rng.below(2) == 0 { -x } else { x }).encode(dtype)
            }
            Fill::Steep => any_size(dtype, rng).encode(dtype),
            Fill::Few => Scalar::float([0.0, 1.0, 257.0, 0.25][rng.below(4)]).encode(dtype),
            Fill::Whole => whole(dtype, rng).encode(dtype),
            Fill::Turns(sizes) => turn(dtype, sizes, rng).encode(dtype),
            Fill::Coin(zeros, of) => Scalar::Int((rng.below(of) >= zeros) as i128).encode(dtype),
            Fill::Matrix => {
                let n = dims.last().copied().unwrap_or(1).max(1);
                let (row, column) = ((i / n) % n, i % n);
                // Integers stay small beside the diagonal's, which of wide ones have more digits than half floats.
                let x = ordinary(if dtype.is_integer() { DType::I8 } else { dtype }, Domain::Any, rng);
                match dtype.kind() {
                    // A triangle of ones is regular, and all that bool has to offer.
                    Kind::Bool => Scalar::Bool(row == column || (row < column && x.truth())),
                    Kind::Float | Kind::Complex if row == column => x + Scalar::float(6.0 * n as f64).fit(dtype),
                    _ if row == column => {
                        x + Scalar::Int(if dtype.bytes() > 1 { 512 + 12 * n as i128 } else { (12 * n as i128).min(100) })
                    }
                    Kind::Unsigned if x.real().hi < 0.0 => -x,
                    _ => x,
                }
                .encode(dtype)
            }
        };
        bytes.extend_from_slice(&element[..dtype.bytes()]);
    }
    Array::new(dtype, dims, bytes)
}

fn ordinary(dtype: DType, domain: Domain, rng: &mut Rng) -> Scalar {
    if dtype.is_complex() {
        // Functions have values beyond their real domain.
        let domain = if domain == Domain::NonZero { domain } else { Domain::Any };
        let part = |rng: &mut Rng| ordinary(DType::F64, domain, rng).real();
        let re = part(rng);
        return Scalar::Complex(re, part(rng));
    }
    match dtype.kind() {
        Kind::Bool => Scalar::Bool(rng.below(2) == 0),
        Kind::Unsigned | Kind::Signed => {
            // Some of them are too large for the digits of half floats.
            let most = if dtype.bytes() > 1 && rng.below(8) == 0 { 1000 } else { 10 };
            let x = rng.below(most) as i128;
            let sign = if dtype.kind() == Kind::Signed && domain != Domain::Positive && rng.below(2) == 0 { -1 } else { 1 };
            Scalar::Int(
                sign * match domain {
                    Domain::NonZero | Domain::Positive => x + 1,
                    Domain::Unit => x % 2,
                    _ => x,
                },
            )
        }
        _ => {
            // Quarters now and then: ties in sorts and extremes, halves in rounding, exact zeros.
            let x = if rng.below(4) == 0 { (rng.below(25) as f64 - 12.0) / 4.0 } else { (rng.unit() - 0.5) * 10.0 };
            Scalar::float(match domain {
                Domain::Positive => x.abs() + 0.125,
                Domain::NonZero if x.abs() < 0.125 => 0.5,
                // Quarters beyond 4 are the ends.
                Domain::Unit => (x / 4.0).clamp(-1.0, 1.0),
                _ => x,
            })
        }
    }
}

/// Up to 2^12 and down to 2^-54, or of any size that has a square; integers of any number of bits. Not of a complex dtype.
fn any_size(dtype: DType, rng: &mut Rng) -> Scalar {
    if !dtype.is_float() {
        let bits = random_bits(dtype, rng);
        return match Scalar::decode(dtype, &bits) {
            Scalar::Int(x) => Scalar::Int(x >> rng.below(8 * dtype.bytes())),
            other => other,
        };
    }
    let wide = (largest(dtype).log2() / 2.0) as i32;
    let exponent = if rng.below(2) == 0 { rng.below(66) as i32 - 54 } else { rng.below(2 * wide as usize) as i32 - wide };
    let x = (1.0 + rng.unit()) * 2f64.powi(exponent);
    Scalar::float(if rng.below(2) == 0 { -x } else { x })
}

/// Near 1, 2 or a half, where functions change their formulas.
fn beside(rng: &mut Rng) -> f64 {
    [0.5, 1.0, 2.0][rng.below(3)] * (1.0 + near(rng))
}

/// Of any size below 1, of either sign.
fn near(rng: &mut Rng) -> f64 {
    let off = 2f64.powi(-(rng.below(54) as i32) - 1);
    if rng.below(2) == 0 { -off } else { off }
}

/// A complex number whose parts are special (some more often), ordinary, of any size, random bits, or as [`beside`], each by
/// itself.
fn special_parts(dtype: DType, special: &[[u8; 16]], rng: &mut Rng) -> [u8; 16] {
    let (real, half) = (dtype.info().real, dtype.bytes() / 2);
    let mut out = [0; 16];
    for n in 0..2 {
        let part = match rng.below(9) {
            0 | 1 => special[rng.below(special.len())],
            2 => ordinary(real, Domain::Any, rng).encode(real),
            3 | 4 => Scalar::float(beside(rng) * if rng.below(2) == 0 { 1.0 } else { -1.0 }).encode(real),
            5 => random_bits(real, rng),
            6 => {
                Scalar::float([0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN][rng.below(7)]).encode(real)
            }
            _ => any_size(real, rng).encode(real),
        };
        out[n * half..][..half].copy_from_slice(&part[..half]);
    }
    out
}

fn factor(dtype: DType, rng: &mut Rng) -> Scalar {
    if !dtype.is_float() && !dtype.is_complex() {
        return ordinary(dtype, Domain::NonZero, rng);
    }
    let x = 0.75 + 0.5 * rng.unit();
    if dtype.is_complex() {
        let angle = std::f64::consts::TAU * rng.unit();
        return Scalar::Complex((x * angle.cos()).into(), (x * angle.sin()).into());
    }
    Scalar::float(if rng.below(2) == 0 { -x } else { x })
}

fn whole(dtype: DType, rng: &mut Rng) -> Scalar {
    if !dtype.is_float() && !dtype.is_complex() {
        return match any_size(dtype, rng) {
            Scalar::Int(x) if x < 0 => Scalar::Int(!x),
            x => x,
        };
    }
    let most = if rng.below(2) == 0 { 4 } else { 130 };
    let x = rng.below(2 * most + 1) as f64 - most as f64;
    let im = if rng.below(2) == 0 { (rng.below(9) as f64 - 4.0) / 8.0 } else { 0.0 };
    if dtype.is_complex() { Scalar::Complex(x.into(), im.into()) } else { Scalar::float(x) }
}

fn turn(dtype: DType, sizes: &[f64], rng: &mut Rng) -> Scalar {
    if !dtype.is_float() && !dtype.is_complex() {
        let x: i128 = [0, 1, -1, 2, -2, 3, -3, 5][rng.below(8)];
        return match dtype.kind() {
            Kind::Bool => Scalar::Bool(x > 0),
            Kind::Unsigned => Scalar::Int(x.abs()),
            _ => Scalar::Int(x),
        };
    }
    let mut part = || -> Double {
        let size = sizes[rng.below(sizes.len())];
        let x = if rng.below(4) > 0 { size } else { size * (1.0 + near(rng)) };
        let x = if x.is_finite() && x > 0.0 { x.clamp(2.0 * spacing(dtype, 0.0), largest(dtype)) } else { x };
        if rng.below(2) == 0 { -x } else { x }.into()
    };
    let (re, im) = (part(), part());
    let zero = Double::from(if rng.below(2) == 0 { 0.0 } else { -0.0 });
    match dtype.is_complex() {
        true if rng.below(2) == 0 => Scalar::Complex(re, zero),
        true => Scalar::Complex(re, im),
        false => Scalar::Float(re),
    }
}

/// The smallest and the largest number of a dtype.
fn ends(dtype: DType) -> [Scalar; 2] {
    ferrotensor_core::match_dtype!(
        dtype,
        integers T => [Scalar::Int(T::MIN as i128), Scalar::Int(T::MAX as i128)],
        else [Scalar::float(f64::NEG_INFINITY), Scalar::float(f64::INFINITY)]
    )
}

fn index(dtype: DType, size: usize, rng: &mut Rng) -> Scalar {
    // Only positions that the dtype can name.
    let (low, high) = ferrotensor_core::match_dtype!(dtype, integers T => (T::MIN as i128, T::MAX as i128), else (0, 0));
    let x = rng.below((size as i128).clamp(1, high + 1) as usize) as i128;
    Scalar::Int(if rng.below(3) == 0 && x - size as i128 >= low { x - size as i128 } else { x })
}

fn random_bits(dtype: DType, rng: &mut Rng) -> [u8; 16] {
    let mut out = [0; 16];
    out[..8].copy_from_slice(&rng.bits().to_le_bytes());
    out[8..].copy_from_slice(&rng.bits().to_le_bytes());
    if dtype == DType::Bool {
        out[0] &= 1;
    }
    out
}

/// Elements where kernels go wrong: zeros of both signs, infinities, NaN (with a payload), subnormals, the largest and the
/// smallest values, halves, the neighbours of 1, and where float to integer conversion saturates. Not of a complex dtype.
pub fn specials(dtype: DType) -> Vec<[u8; 16]> {
    let raw = |bits: u64| {
        let mut out = [0; 16];
        out[..8].copy_from_slice(&bits.to_le_bytes());
        out
    };
    match dtype.kind() {
        Kind::Bool => vec![raw(0), raw(1)],
        Kind::Unsigned | Kind::Signed => {
            let (low, high) = ferrotensor_core::match_dtype!(
                dtype, integers T => (T::MIN as i128, T::MAX as i128), else (0, 1));
            // The first integers that bfloat16, float16 and float32 lack, and where the first becomes.
            let lacking = [256, 257, -257, 2049, 16_777_217];
            let wanted = [low, low + 1, -2, -1, 0, 1, 2, high / 2, high / 2 + 1, high - 1, high];
            let bits = 8 * dtype.bytes() as i128;
            wanted
                .into_iter()
                .chain(lacking)
                .chain([bits - 1, bits])
                .filter(|v| (low..=high).contains(v))
                .map(|v| Scalar::Int(v).encode(dtype))
                .collect()
        }
        _ => {
            let (mantissa, width) = match dtype {
                DType::F16 => (10, 16),
                DType::BF16 => (7, 16),
                DType::F32 => (23, 32),
                _ => (52, 64),
            };
            let infinity = ((1u64 << (width - 1)) - 1) >> mantissa << mantissa;
            let sign = 1u64 << (width - 1);
            let one = (infinity >> 1) & (infinity >> mantissa << mantissa);
            let magnitudes = [
                0,
                1,
                2,
                (1 << mantissa) - 1,
                1 << mantissa,
                one - 1,
                one,
                one + 1,
                infinity - 1,
                infinity,
                infinity | 1,
                infinity | (1 << (mantissa - 1)),
            ];
            let numbers = [
                0.5,
                1.5,
                2.5,
                2.0,
                3.0,
                4.0,
                10.0,
                88.7,
                127.5,
                255.5,
                256.0,
                257.0,
                2049.0,
                32768.0,
                65535.0,
                65536.0,
                16777217.0,
                2147483648.0,
                4294967296.0,
                9.3e18,
                1.9e19,
            ];
            let all = magnitudes.into_iter().map(raw).chain(numbers.into_iter().map(|v| Scalar::float(v).encode(dtype)));
            let negative = |mut e: [u8; 16]| {
                e[width / 8 - 1] ^= (sign >> (width - 8)) as u8;
                e
            };
            all.flat_map(|e| [e, negative(e)]).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_floats_hold_each_class() {
        for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            let values: Vec<f64> = specials(dtype).iter().map(|e| Scalar::decode(dtype, e).real().hi).collect();
            assert!(
                values.iter().any(|v| v.is_nan()) && values.contains(&f64::INFINITY) && values.contains(&f64::NEG_INFINITY)
            );
            assert!(values.contains(&1.0) && values.contains(&-2.5), "{dtype}: {values:?}");
            assert!(
                values.iter().any(|v| *v == 0.0 && v.is_sign_negative()) && values.iter().any(|v| *v > 0.0 && *v < 1e-4)
            );
        }
    }
}

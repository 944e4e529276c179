//! Operands on which an emulated fused multiply-add would err: for its tests and for `examples/fma.rs`, without end and
//! repeatable.

/// A float format, and its rounded product on bits.
#[derive(Clone, Copy)]
pub struct Format {
    /// Stored bits of the significand.
    pub mantissa: u32,
    /// Largest exponent.
    pub bias: i32,
    /// The rounded product.
    pub multiply: fn(u64, u64) -> u64,
}

/// float32.
pub const SINGLE: Format = Format {
    mantissa: 23,
    bias: 127,
    multiply: |x, y| (f32::from_bits(x as u32) * f32::from_bits(y as u32)).to_bits() as u64,
};
/// float64.
pub const DOUBLE: Format =
    Format { mantissa: 52, bias: 1023, multiply: |x, y| (f64::from_bits(x) * f64::from_bits(y)).to_bits() };

/// The bits of x, y and z, one triple after the other.
pub struct Triples {
    state: u64,
    format: Format,
}

impl Triples {
    /// The triples of a format from a seed.
    pub fn new(format: Format, seed: u64) -> Self {
        Triples { state: seed, format }
    }

    /// Steele, Lea and Flood's splitmix64.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// An integer from `low` to `high`.
    fn between(&mut self, low: i32, high: i32) -> i32 {
        low + (self.random() >> 33) as i32 % (high - low + 1).max(1)
    }

    /// Bits of the whole format.
    fn width(&self) -> u32 {
        self.format.mantissa + 2 + self.format.bias.ilog2()
    }

    /// A significand without its highest bit: close to 1, to 2 or to 3/2, of few bits, of few zeros, or any.
    fn mantissa(&mut self) -> u64 {
        let (any, bits) = (self.random(), self.format.mantissa);
        let place = self.between(0, bits as i32 - 1) as u32;
        let pattern = match self.random() % 10 {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << place,
            3 => !(1 << place),
            4 => u64::MAX << place,
            5 => u64::MAX >> (63 - place),
            6 => (1 << (bits - 1)) + (any % 5).wrapping_sub(2),
            7 => any & self.random() & self.random(),
            _ => any,
        };
        pattern & ((1 << bits) - 1)
    }

    /// A float of either sign, below 2^(exponent + 1): subnormal or as large as there is where the exponent says so.
    fn float(&mut self, exponent: i32, mantissa: u64) -> u64 {
        let Format { mantissa: bits, bias, .. } = self.format;
        let field = (exponent + bias).min(2 * bias);
        let magnitude = if field > 0 {
            (field as u64) << bits | mantissa
        } else {
            (mantissa | 1 << bits).checked_shr(1 + field.unsigned_abs()).unwrap_or(0)
        };
        magnitude | self.random() >> 63 << (self.width() - 1)
    }

    fn any_float(&mut self, exponent: i32) -> u64 {
        let mantissa = self.mantissa();
        self.float(exponent, mantissa)
    }

    /// Exponents, subnormal ones too, whose sum this is as far as it can be.
    fn factors(&mut self, sum: i32) -> (i32, i32) {
        let Format { mantissa: bits, bias, .. } = self.format;
        let (low, high) = (1 - bias - bits as i32, bias);
        let (low, high) = ((sum - high).max(low), (sum - low).min(high));
        let first = if low < high { self.between(low, high) } else { low.min(bias) };
        (first, sum - first)
    }

    /// An odd integer of so many bits, times 2^(exponent - bits).
    fn odd_integer(&mut self, length: u32, exponent: i32) -> u64 {
        let mantissa = self.format.mantissa;
        let integer = self.random() >> 1 >> (63 - length) | 1 << (length - 1) | 1;
        self.float(exponent, integer << (mantissa + 1 - length) & ((1 << mantissa) - 1))
    }

    /// The next triple.
    pub fn next(&mut self) -> [u64; 3] {
        let Format { mantissa, bias, multiply } = self.format;
        let (bits, least) = (mantissa as i32, 1 - bias);
        let sign = 1 << (self.width() - 1);
        match self.random() % 10 {
            0 => [0; 3].map(|_| self.random() >> (64 - self.width())),
            // Special values beside any others.
            1 => {
                let special = [0, (2 * bias as u64 + 1) << mantissa, sign - 1, 1, 1 << mantissa, (1 << mantissa) - 1];
                let (normal, largest) = ((bias as u64) << mantissa, ((2 * bias as u64 + 1) << mantissa) - 1);
                [0; 3].map(|_| match self.random() % 10 {
                    n @ 0..6 => special[n as usize] | self.random() >> 63 << (self.width() - 1),
                    6 => normal,
                    7 => largest | self.random() >> 63 << (self.width() - 1),
                    _ => {
                        let exponent = self.between(least - bits, bias);
                        self.any_float(exponent)
                    }
                })
            }
            // A product whose rounding is a tie, which an addend decides that may be as small as there is.
            2 => {
                let length = self.between(1, bits + 1) as u32;
                let (ex, ey) = (self.between(-bias / 2, bias / 2), self.between(-bias / 2, bias / 2));
                let x = self.odd_integer(length, ex);
                let y = self.odd_integer(mantissa + 2 - length, ey);
                let below = self.between(bits, 2 * bias);
                [x, y, self.any_float(ex + ey - below)]
            }
            // A product of half a unit of the addend, or nearly.
            3 => {
                let ez = self.between(least - bits, bias);
                let (ex, ey) = self.factors(ez - bits - 1);
                let power = self.float(ey, 0);
                [self.any_float(ex), power, self.any_float(ez)]
            }
            // What cancels, exactly or but for a few units.
            4 => {
                let sum = self.between(least - 3, bias - 1);
                let (ex, ey) = self.factors(sum);
                let (x, y) = (self.any_float(ex), self.any_float(ey));
                let off = self.between(-3, 3).max(0) as u64;
                [x, y, (multiply(x, y) ^ sign).wrapping_add(off)]
            }
            // Subnormal results.
            5 => {
                let sum = self.between(least - 2 * bits - 4, least + 2);
                let (ex, ey) = self.factors(sum);
                let ez = self.between(least - bits - 2, least + 1);
                [self.any_float(ex), self.any_float(ey), self.any_float(ez)]
            }
            // Results about the largest number.
            6 => {
                let sum = self.between(bias - 2, bias + 1);
                let (ex, ey) = self.factors(sum);
                let ez = self.between(bias - bits - 3, bias);
                [self.any_float(ex), self.any_float(ey), self.any_float(ez)]
            }
            // Product and addend at every distance.
            _ => {
                let sum = self.between(least - bits, bias);
                let (ex, ey) = self.factors(sum);
                let distance = self.between(-120, 120);
                [self.any_float(ex), self.any_float(ey), self.any_float(sum + distance)]
            }
        }
    }
}

//! Quotients: the device's quotient of the significands, moved to the whole number below the true one, and rounded.

use super::{INFINITY, NAN, NORMAL, SIGN, Writer};
use crate::dtype::DType;
use crate::scalar::{Op, Value};

/// Units in the last place that the device's quotient may be off, and one for what is cut.
pub(super) const OFF: usize = 4;

impl Writer {
    pub(super) fn quotient(&mut self, x: Value, y: Value) -> Value {
        let [(a, size_a), (b, size_b)] = [x, y].map(|v| (self.bits(v), self.size(v)));
        let ((sig_a, exp_a), (sig_b, exp_b)) = (self.taken_apart(size_a), self.taken_apart(size_b));
        // Significands whose quotient is in [1, 2).
        let is_less = self.b.compare(Op::Lt, sig_a, sig_b);
        let twice = self.with(Op::Shl, sig_a, 1);
        let sig_a = self.b.select(is_less, twice, sig_a);
        let [one, zero] = [1.0, 0.0].map(|v| self.b.lit(DType::I32, v));
        let less = self.b.select(is_less, one, zero);
        let exponent = self.b.binary(Op::Sub, exp_a, exp_b);
        let exponent = self.b.binary(Op::Sub, exponent, less);
        let [fa, fb] = [sig_a, sig_b].map(|v| self.b.cast(v, DType::F32));
        let guess = self.b.binary(Op::Div, fa, fb);
        let scale = self.b.lit(DType::F32, 2f64.powi(23));
        let guess = self.b.binary(Op::Mul, guess, scale);
        let guess = self.b.cast(guess, DType::U32);
        let (quotient, rest) = self.quotient_below((sig_a, sig_b), guess);
        let biased = self.with(Op::Add, exponent, 127);
        let result = self.rounded(quotient, (rest, sig_b), biased);
        self.special((a, size_a), (b, size_b), result)
    }

    /// The largest whole number that is not above `2^23 x / y`, and what is left, from another one at most [`OFF`] off.
    pub(super) fn quotient_below(&mut self, (x, y): (Value, Value), guess: Value) -> (Value, Value) {
        let [mut quotient, y] = [guess, y].map(|v| self.b.bitcast(v, DType::I32));
        let high = self.with(Op::Shl, x, 23);
        let high = self.b.bitcast(high, DType::I32);
        let product = self.b.binary(Op::Mul, quotient, y);
        // Of the lower 32 bits, which hold a few times y.
        let mut rest = self.b.binary(Op::Sub, high, product);
        let [zero, one, down] = [0, 1, -1].map(|v| self.b.lit(DType::I32, f64::from(v)));
        for _ in 0..OFF {
            let (is_above, is_below) = (self.b.compare(Op::Lt, rest, zero), self.b.compare(Op::Le, y, rest));
            let step = self.b.select(is_below, one, zero);
            let step = self.b.select(is_above, down, step);
            let change = self.b.binary(Op::Mul, step, y);
            quotient = self.b.binary(Op::Add, quotient, step);
            rest = self.b.binary(Op::Sub, rest, change);
        }
        (self.b.bitcast(quotient, DType::U32), self.b.bitcast(rest, DType::U32))
    }

    /// The bits of `quotient + rest / y`, a number of 24 bits and more, with this biased exponent (int32), ties to even.
    fn rounded(&mut self, quotient: Value, (rest, y): (Value, Value), biased: Value) -> Value {
        // Below the normal numbers as many bits are lost; where 26 are, nothing is left.
        let [zero, one, most] = [0.0, 1.0, 26.0].map(|v| self.b.lit(DType::I32, v));
        let is_normal = self.b.compare(Op::Lt, zero, biased);
        let lost = self.b.binary(Op::Sub, one, biased);
        let lost = self.b.select(is_normal, zero, lost);
        let is_all = self.b.compare(Op::Lt, most, lost);
        let lost = self.b.select(is_all, most, lost);
        let lost = self.b.bitcast(lost, DType::U32);
        // Twice the quotient with a last bit that says "and more" has the half of what is kept in the bit before.
        let twice = self.with(Op::Shl, quotient, 1);
        let doubled = self.with(Op::Shl, rest, 1);
        let is_half = self.b.compare(Op::Le, y, doubled);
        let [zero, one] = [0, 1].map(|v| self.b.bits(DType::U32, v));
        let half = self.b.select(is_half, one, zero);
        let scaled = self.b.binary(Op::Or, twice, half);
        let beyond = self.b.select(is_half, y, zero);
        let left = self.b.binary(Op::Sub, doubled, beyond);
        let is_more = self.b.compare(Op::Ne, left, zero);
        // What is lost of it, beside half a unit of what is kept.
        let cut = self.with(Op::Add, lost, 1);
        let kept = self.b.binary(Op::Shr, scaled, cut);
        let back = self.b.binary(Op::Shl, kept, cut);
        let below = self.b.binary(Op::Sub, scaled, back);
        let middle = self.b.binary(Op::Shl, one, lost);
        let (is_above, is_middle) = (self.b.compare(Op::Lt, middle, below), self.b.compare(Op::Eq, middle, below));
        let odd = self.with(Op::And, kept, 1);
        let is_odd = self.is(Op::Ne, odd, 0);
        let breaks = self.b.binary(Op::Or, is_more, is_odd);
        let up = self.b.binary(Op::And, is_middle, breaks);
        let up = self.b.binary(Op::Or, is_above, up);
        let up = self.b.select(up, one, zero);
        let exponent = self.b.bitcast(biased, DType::U32);
        let exponent = self.with(Op::Shl, exponent, 23);
        let low = self.with(Op::Sub, kept, NORMAL);
        let normal = self.b.binary(Op::Add, exponent, low);
        let size = self.b.select(is_normal, normal, kept);
        let size = self.b.binary(Op::Add, size, up);
        // Above the largest exponent there is infinity alone.
        let top = self.b.lit(DType::I32, 254.0);
        let is_beyond = self.b.compare(Op::Lt, top, biased);
        let infinity = self.b.bits(DType::U32, INFINITY);
        self.b.select(is_beyond, infinity, size)
    }

    /// A quotient's size, or what zeros, infinities and NaN make of it, with its sign.
    fn special(&mut self, (a, size_a): (Value, Value), (b, size_b): (Value, Value), size: Value) -> Value {
        let [no_a, no_b] = [size_a, size_b].map(|v| self.is(Op::Eq, v, 0));
        let [all_a, all_b] = [size_a, size_b].map(|v| self.is(Op::Eq, v, INFINITY));
        let [infinity, zero, nan] = [INFINITY, 0, NAN].map(|v| self.b.bits(DType::U32, v));
        let nothing = self.b.binary(Op::Or, no_a, all_b);
        let everything = self.b.binary(Op::Or, all_a, no_b);
        let size = self.b.select(nothing, zero, size);
        let size = self.b.select(everything, infinity, size);
        let sign = self.b.binary(Op::Xor, a, b);
        let sign = self.with(Op::And, sign, SIGN);
        let result = self.b.binary(Op::Or, size, sign);
        let both = self.b.binary(Op::And, nothing, everything);
        let [nan_a, nan_b] = [size_a, size_b].map(|v| self.b.compare(Op::Lt, infinity, v));
        let is_nan = self.b.binary(Op::Or, nan_a, nan_b);
        let is_nan = self.b.binary(Op::Or, is_nan, both);
        let result = self.b.select(is_nan, nan, result);
        self.float(result)
    }
}

//! Square roots: the device's root of the significand, moved to the whole number that is nearest to the true one.

use super::{INFINITY, NAN, NORMAL, Writer};
use crate::dtype::DType;
use crate::scalar::{Op, Value};

/// Units in the last place that the device's root may be off: a root is `1 / inverse_root`, 2 units and 2.5.
pub(super) const OFF: usize = 5;

impl Writer {
    pub(super) fn root(&mut self, x: Value) -> Value {
        let (bits, size) = (self.bits(x), self.size(x));
        let (significand, exponent) = self.taken_apart(size);
        // x = n 2^(2h) with n = significand 2^23 or 2^24, whose root has 24 bits.
        let odd = self.with(Op::And, exponent, 1);
        let is_odd = self.is(Op::Ne, odd, 0);
        let [near, far] = [23, 24].map(|by| self.with(Op::Shl, significand, by));
        // The lower half of n, whose square's lower half is all that the rest of a near root has.
        let n = self.b.select(is_odd, near, far);
        let whole = self.b.cast(significand, DType::F32);
        let [less, more] = [2f64.powi(23), 2f64.powi(24)].map(|by| {
            let by = self.b.lit(DType::F32, by);
            self.b.binary(Op::Mul, whole, by)
        });
        let of = self.b.select(is_odd, less, more);
        let guess = self.b.unary(Op::Sqrt, of);
        let guess = self.b.cast(guess, DType::U32);
        let root = self.nearest_root(n, guess);
        // e - 150 is 2h + 23 or 2h + 24, so that 2 (h + 150) = e + 127 or e + 126.
        let raised = self.with(Op::Add, exponent, 127);
        let h = self.with(Op::Shr, raised, 1);
        let h = self.b.bitcast(h, DType::U32);
        let high = self.with(Op::Shl, h, 23);
        let low = self.with(Op::Sub, root, NORMAL);
        let result = self.b.binary(Op::Add, high, low);
        // Zeros and infinity are their own roots; a negative number has none, and NaN is above infinity.
        let (is_zero, is_infinite) = (self.is(Op::Eq, size, 0), self.is(Op::Eq, bits, INFINITY));
        let is_own = self.b.binary(Op::Or, is_zero, is_infinite);
        let has_none = self.is(Op::Lt, bits, INFINITY);
        let has_none = self.b.unary(Op::Not, has_none);
        let nan = self.b.bits(DType::U32, NAN);
        let result = self.b.select(has_none, nan, result);
        let result = self.b.select(is_own, bits, result);
        self.float(result)
    }

    /// The whole number nearest to the root of one whose lower 32 bits are `n`, from another one at most [`OFF`] off.
    pub(super) fn nearest_root(&mut self, n: Value, guess: Value) -> Value {
        let mut root = self.b.bitcast(guess, DType::I32);
        let square = self.b.binary(Op::Mul, root, root);
        let n = self.b.bitcast(n, DType::I32);
        // n - root^2, which has 29 bits.
        let mut rest = self.b.binary(Op::Sub, n, square);
        for _ in 0..OFF {
            // (root + 1/2)^2 = root^2 + root + 1/4.
            let is_above = self.b.compare(Op::Lt, root, rest);
            let minus = self.b.unary(Op::Neg, root);
            let is_below = self.b.compare(Op::Le, rest, minus);
            let twice = self.b.binary(Op::Add, root, root);
            let [zero, one, down] = [0, 1, -1].map(|v| self.b.lit(DType::I32, f64::from(v)));
            let step = self.b.select(is_below, down, zero);
            let step = self.b.select(is_above, one, step);
            // (root + step)^2 = root^2 + 2 root step + step^2.
            let far = self.b.binary(Op::Add, twice, step);
            let change = self.b.binary(Op::Mul, far, step);
            rest = self.b.binary(Op::Sub, rest, change);
            root = self.b.binary(Op::Add, root, step);
        }
        self.b.bitcast(root, DType::U32)
    }
}

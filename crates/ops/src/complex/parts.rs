//! Numbers of a scalar program that is being written, with Rust's operators: formulas of complex functions are written in these.

use ferrotensor_core::DType;
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A real number.
#[derive(Clone, Copy)]
pub struct Real<'a> {
    to: &'a RefCell<Builder>,
    value: Value,
}

/// A truth value of each element.
#[derive(Clone, Copy)]
pub struct Mask<'a>(Real<'a>);

/// Both parts of a complex number.
#[derive(Clone, Copy)]
pub struct Complex<'a> {
    pub re: Real<'a>,
    pub im: Real<'a>,
}

macro_rules! operators {
    ($($Trait:ident $method:ident;)*) => {$(
        impl<'a> $Trait for Real<'a> {
            type Output = Real<'a>;
            fn $method(self, other: Real<'a>) -> Real<'a> {
                self.binary(Op::$Trait, other)
            }
        }
        impl<'a> $Trait<f64> for Real<'a> {
            type Output = Real<'a>;
            fn $method(self, other: f64) -> Real<'a> {
                self.binary(Op::$Trait, self.lit(other))
            }
        }
    )*};
}
operators! { Add add; Sub sub; Mul mul; Div div; }

impl<'a> Neg for Real<'a> {
    type Output = Real<'a>;
    fn neg(self) -> Real<'a> {
        self.with(|b| b.unary(Op::Neg, self.value))
    }
}

/// Writes the complex number that `f` makes of complex numbers of one dtype.
pub fn write<const N: usize>(b: &mut Builder, z: [Value; N], f: impl FnOnce([Complex; N]) -> Complex) -> Value {
    let dtype = b.dtype(z[0]);
    let parts = z.map(|z| (b.re(z), b.im(z)));
    let to = RefCell::new(std::mem::take(b));
    let part = |value| Real { to: &to, value };
    let w = f(parts.map(|(re, im)| Complex { re: part(re), im: part(im) }));
    let (re, im) = (w.re.value, w.im.value);
    *b = to.into_inner();
    b.complex(dtype, re, im)
}

impl<'a> Real<'a> {
    fn with(self, f: impl FnOnce(&mut Builder) -> Value) -> Real<'a> {
        let value = f(&mut self.to.borrow_mut());
        Real { value, ..self }
    }

    fn binary(self, op: Op, other: Real<'a>) -> Real<'a> {
        self.with(|b| b.binary(op, self.value, other.value))
    }

    fn compare(self, op: Op, other: Real<'a>) -> Mask<'a> {
        Mask(self.with(|b| b.compare(op, self.value, other.value)))
    }

    /// One of two, for float64 and float32.
    pub fn pick<T>(self, double: T, single: T) -> T {
        if self.to.borrow().dtype(self.value) == DType::F64 { double } else { single }
    }

    /// A constant of this number's dtype.
    pub fn lit(self, value: f64) -> Real<'a> {
        self.with(|b| b.lit(b.dtype(self.value), value))
    }

    pub fn call(self, f: MathFn) -> Real<'a> {
        self.with(|b| b.call(f, &[self.value]))
    }

    pub fn call2(self, f: MathFn, other: Real<'a>) -> Real<'a> {
        self.with(|b| b.call(f, &[self.value, other.value]))
    }

    pub fn abs(self) -> Real<'a> {
        self.with(|b| b.unary(Op::Abs, self.value))
    }

    pub fn sqrt(self) -> Real<'a> {
        self.with(|b| b.unary(Op::Sqrt, self.value))
    }

    pub fn floor(self) -> Real<'a> {
        self.with(|b| b.unary(Op::Floor, self.value))
    }

    pub fn max(self, other: Real<'a>) -> Real<'a> {
        self.binary(Op::Max, other)
    }

    pub fn min(self, other: Real<'a>) -> Real<'a> {
        self.binary(Op::Min, other)
    }

    /// `self * by + plus`, rounded once.
    pub fn fma(self, by: Real<'a>, plus: Real<'a>) -> Real<'a> {
        self.with(|b| b.fma(self.value, by.value, plus.value))
    }

    pub fn below(self, limit: f64) -> Mask<'a> {
        self.compare(Op::Lt, self.lit(limit))
    }

    pub fn above(self, limit: f64) -> Mask<'a> {
        self.lit(limit).compare(Op::Lt, self)
    }

    /// Equal to; `-0` is `0`.
    pub fn is(self, value: f64) -> Mask<'a> {
        self.equals(self.lit(value))
    }

    pub fn equals(self, other: Real<'a>) -> Mask<'a> {
        self.compare(Op::Eq, other)
    }

    pub fn is_nan(self) -> Mask<'a> {
        self.compare(Op::Ne, self)
    }

    pub fn is_infinite(self) -> Mask<'a> {
        self.abs().is(f64::INFINITY)
    }

    pub fn is_finite(self) -> Mask<'a> {
        self.abs().below(f64::INFINITY)
    }

    /// The absolute value with the sign of `sign`, that of zeros and NaN too.
    pub fn copysign(self, sign: Real<'a>) -> Real<'a> {
        let (bits, top) = self.pick((DType::U64, 1 << 63), (DType::U32, 1 << 31));
        self.with(|b| {
            let dtype = b.dtype(self.value);
            let size = b.unary(Op::Abs, self.value);
            let (size, sign, top) = (b.bitcast(size, bits), b.bitcast(sign.value, bits), b.bits(bits, top));
            let sign = b.binary(Op::And, sign, top);
            let joined = b.binary(Op::Or, size, sign);
            b.bitcast(joined, dtype)
        })
    }
}

impl<'a> Mask<'a> {
    pub fn select(self, yes: Real<'a>, no: Real<'a>) -> Real<'a> {
        self.0.with(|b| b.select(self.0.value, yes.value, no.value))
    }

    /// A complex number or another one.
    pub fn choose(self, yes: Complex<'a>, no: Complex<'a>) -> Complex<'a> {
        Complex { re: self.select(yes.re, no.re), im: self.select(yes.im, no.im) }
    }
}

impl<'a> BitAnd for Mask<'a> {
    type Output = Mask<'a>;
    fn bitand(self, other: Mask<'a>) -> Mask<'a> {
        Mask(self.0.binary(Op::And, other.0))
    }
}

impl<'a> BitOr for Mask<'a> {
    type Output = Mask<'a>;
    fn bitor(self, other: Mask<'a>) -> Mask<'a> {
        Mask(self.0.binary(Op::Or, other.0))
    }
}

impl<'a> Not for Mask<'a> {
    type Output = Mask<'a>;
    fn not(self) -> Mask<'a> {
        Mask(self.0.with(|b| b.unary(Op::Not, self.0.value)))
    }
}

impl<'a> Complex<'a> {
    /// `|z|`.
    pub fn size(self) -> Real<'a> {
        self.re.call2(MathFn::Hypot, self.im)
    }

    /// The larger part without its sign.
    pub fn larger(self) -> Real<'a> {
        self.re.abs().max(self.im.abs())
    }

    /// `i z`.
    pub fn turned(self) -> Complex<'a> {
        Complex { re: -self.im, im: self.re }
    }

    /// `-i z`.
    pub fn turned_back(self) -> Complex<'a> {
        Complex { re: self.im, im: -self.re }
    }

    /// `c z`, c real.
    pub fn times(self, c: Real<'a>) -> Complex<'a> {
        Complex { re: self.re * c, im: self.im * c }
    }

    /// `z w` by the formula of school.
    pub fn mul(self, w: Complex<'a>) -> Complex<'a> {
        Complex { re: self.re * w.re - self.im * w.im, im: self.re * w.im + self.im * w.re }
    }

    /// `1 + z`, keeping the sign of a zero imaginary part.
    pub fn plus_one(self) -> Complex<'a> {
        Complex { re: self.re + 1.0, ..self }
    }

    /// `z - 1`, likewise.
    pub fn minus_one(self) -> Complex<'a> {
        Complex { re: self.re - 1.0, ..self }
    }

    /// `1 - z`, likewise.
    pub fn one_minus(self) -> Complex<'a> {
        Complex { re: self.re.lit(1.0) - self.re, im: -self.im }
    }
}

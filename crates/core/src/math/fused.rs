//! The floats that carry their own way to a fused multiply-add: as an instruction where the target has one, else emulated.
//! The scalar functions are generic over their arithmetic; computed in [`Fused`] they take the way it names.

use super::fma::EmulatedFma;
use super::real::{Lane, Real};
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// A way to `x * y + z` rounded once.
pub trait Way: Copy {
    /// The result; bit 0 of `doubt` is set where it may be wrong.
    fn fma<F: EmulatedFma>(x: F, y: F, z: F, doubt: &Cell<u64>) -> F;
}

macro_rules! ways {
    ($($(#[$doc:meta])* $way:ident: |$x:ident, $y:ident, $z:ident, $doubt:ident| $fma:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $way;
        impl Way for $way {
            #[inline(always)]
            fn fma<F: EmulatedFma>($x: F, $y: F, $z: F, $doubt: &Cell<u64>) -> F { $fma }
        }
    )*};
}
ways! {
    /// The target's instruction.
    Instruction: |x, y, z, _doubt| x.fma(y, z);
    /// [`EmulatedFma::quick`], for a first pass over a block of elements.
    Quick: |x, y, z, doubt| {
        let (result, in_doubt) = F::quick(x, y, z);
        doubt.set(doubt.get() | in_doubt as u64);
        result
    };
    /// [`EmulatedFma::exact`], for a second pass over a block with doubts.
    Exact: |x, y, z, _doubt| F::exact(x, y, z);
    /// Rounded twice: a fault on purpose ([`crate::planted`]).
    Apart: |x, y, z, _doubt| x * y + z;
}

/// A float whose `fma` goes the way `W`. Doubts of whatever is computed from it are collected in one place, which becomes
/// a register of the loop around it.
pub struct Fused<'a, F, W> {
    value: F,
    doubt: &'a Cell<u64>,
    way: PhantomData<W>,
}

impl<F: Copy, W> Clone for Fused<'_, F, W> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Copy, W> Copy for Fused<'_, F, W> {}

impl<'a, F: EmulatedFma, W: Way> Fused<'a, F, W> {
    /// A float, and where to leave doubts.
    #[inline(always)]
    pub fn new(value: F, doubt: &'a Cell<u64>) -> Self {
        Fused { value, doubt, way: PhantomData }
    }

    /// The float alone.
    #[inline(always)]
    pub fn value(self) -> F {
        self.value
    }

    #[inline(always)]
    fn beside(self, value: F) -> Self {
        Self::new(value, self.doubt)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident)*) => {$(
        impl<F: EmulatedFma, W: Way> $trait for Fused<'_, F, W> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.beside($trait::$method(self.value, other.value))
            }
        }
    )*};
}
operators! { Add add Sub sub Mul mul Div div }

impl<F: EmulatedFma, W: Way> Neg for Fused<'_, F, W> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.beside(-self.value)
    }
}

impl<F: EmulatedFma, W: Way> Lane for Fused<'_, F, W> {
    type Mask = bool;
    #[inline(always)]
    fn select(mask: bool, yes: Self, no: Self) -> Self {
        yes.beside(F::select(mask, yes.value, no.value))
    }
    #[inline(always)]
    fn eq(self, other: Self) -> bool {
        self.value.eq(other.value)
    }
}

impl<F: EmulatedFma, W: Way> Real for Fused<'_, F, W> {
    type Bits = F::Bits;
    const WIDTH: u32 = F::WIDTH;
    #[inline(always)]
    fn lit(self, value: f64) -> Self {
        self.beside(self.value.lit(value))
    }
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        self.beside(W::fma(self.value, b.value, c.value, self.doubt))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.beside(self.value.abs())
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.beside(self.value.sqrt())
    }
    #[inline(always)]
    fn lt(self, other: Self) -> bool {
        self.value.lt(other.value)
    }
    #[inline(always)]
    fn bits(self) -> F::Bits {
        self.value.bits()
    }
    #[inline(always)]
    fn with_bits(self, bits: F::Bits) -> Self {
        self.beside(self.value.with_bits(bits))
    }
    // Three binary exponents are missing at most.
    #[inline(always)]
    fn not_below_lost(self, low: f64) -> Self {
        self.at_least(low - 3.0)
    }
    // A product that underflows takes processors 100 cycles and more: of what is lost anyway (scores that a mask left out) it is one with 0.
    #[inline(always)]
    fn times_power(self, n: Self, (p, q): (Self, Self)) -> Self {
        let kept = Self::select(n.lt(n.lit(Self::LOST + 0.5)), n.lit(0.0), p);
        self * kept * q
    }
}

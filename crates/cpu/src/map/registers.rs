//! Registers of AVX-512 as the arithmetic that scalar functions are written in, and the loop over a tile with them. LLVM
//! vectorises the same functions over plain floats; here they meet the instructions it does not find: a product with 2^n
//! rounded once, exponent and mantissa, the ends of a logarithm (of float32 `exp` takes 16 instructions for 16 elements, `log` 26).
//!
//! Every method is `#[inline(always)]`, and so takes on the features of the tier's copy of a kernel.

use super::function::Function;
use crate::number::{Item, Number};
use ferrotensor_core::math::Real;
use ferrotensor_core::planted;

/// A float that registers hold several of.
pub trait InRegisters: Copy {
    /// A register of them.
    type Register: Register<Item = Self>;
}

/// Several floats.
///
/// # Safety
/// Of whatever is done with one: the machine has the AVX-512 tier.
pub trait Register: Real {
    /// One of them.
    type Item;
    /// How many, at most [`MOST`].
    const COUNT: usize;
    /// `COUNT` floats, aligned or not.
    ///
    /// # Safety
    /// As above, and they are there.
    unsafe fn load(from: *const Self::Item) -> Self;
    /// Writes `COUNT` floats.
    ///
    /// # Safety
    /// As above, and there is room for them.
    unsafe fn store(self, to: *mut Self::Item);
}

/// Floats of the fullest register.
pub const MOST: usize = 16;

/// The function of each element. float16 and bfloat16 are widened and rounded on the way.
///
/// # Safety
/// The caller has the features of the AVX-512 tier. Operands are as long as `out`.
#[inline(always)]
pub unsafe fn pass<F: Function, T: Item<Value: InRegisters>>(out: &mut [T], args: [&[T]; 3]) {
    let count = <T::Value as InRegisters>::Register::COUNT;
    let whole = out.len() / count * count;
    for at in (0..whole).step_by(count) {
        // SAFETY: as the caller promises.
        unsafe { block::<F, T>(&mut out[at..at + count], args.map(|x| &x[at..at + count])) };
    }
    if whole < out.len() && !planted::is("avx512-functions-leave-out-the-tail") {
        // SAFETY: as above.
        unsafe { block::<F, T>(&mut out[whole..], args.map(|x| &x[whole..])) };
    }
}

/// The function of at most a register of elements.
///
/// # Safety
/// As [`pass`].
#[inline(always)]
unsafe fn block<F: Function, T: Item<Value: InRegisters>>(out: &mut [T], args: [&[T]; 3]) {
    let load = |x: &[T]| {
        let mut values = [T::Value::ZERO; MOST];
        values.iter_mut().zip(x).for_each(|(value, x)| *value = x.load());
        // SAFETY: as the caller promises; the array has as many as the fullest register.
        unsafe { <T::Value as InRegisters>::Register::load(values.as_ptr()) }
    };
    // What a function does not read is not loaded either.
    let x = load(args[0]);
    let y = if F::ARITY > 1 { load(args[1]) } else { x };
    let z = if F::ARITY > 2 { load(args[2]) } else { x };
    let mut values = [T::Value::ZERO; MOST];
    // SAFETY: as the caller promises.
    unsafe { F::call([x, y, z]).store(values.as_mut_ptr()) };
    out.iter_mut().zip(values).for_each(|(o, value)| *o = T::store(value));
}

macro_rules! operators {
    ($($trait:ident $method:ident $type:ident $instruction:ident;)*) => {$(
        impl std::ops::$trait for $type {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: whoever has a register has the instructions.
                $type(unsafe { $instruction(self.0, other.0) })
            }
        }
    )*};
}

/// A register, its integers and its masks, in a module that has given the instructions of one width their names.
macro_rules! register {
    ($item:ident $bits:ident: $count:literal) => {
        /// Floats.
        #[derive(Clone, Copy)]
        pub struct Floats(Vector);

        /// Unsigned integers as wide.
        #[derive(Clone, Copy)]
        pub struct Integers(__m512i);

        /// One bit for each.
        #[derive(Clone, Copy)]
        pub struct Chosen(Bitmask);

        impl InRegisters for $item {
            type Register = Floats;
        }

        impl Register for Floats {
            type Item = $item;
            const COUNT: usize = $count;
            #[inline(always)]
            unsafe fn load(from: *const $item) -> Self {
                // SAFETY: as the caller promises.
                Floats(unsafe { loadu(from) })
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $item) {
                // SAFETY: as the caller promises.
                unsafe { storeu(to, self.0) }
            }
        }

        impl std::ops::BitAnd for Chosen {
            type Output = Self;
            #[inline(always)]
            fn bitand(self, other: Self) -> Self {
                Chosen(self.0 & other.0)
            }
        }
        impl std::ops::BitOr for Chosen {
            type Output = Self;
            #[inline(always)]
            fn bitor(self, other: Self) -> Self {
                Chosen(self.0 | other.0)
            }
        }
        impl std::ops::Not for Chosen {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                Chosen(!self.0)
            }
        }
        impl Mask for Chosen {}

        operators! {
            Add add Floats add;
            Sub sub Floats sub;
            Mul mul Floats mul;
            Div div Floats div;
            BitAnd bitand Integers _mm512_and_si512;
            BitOr bitor Integers _mm512_or_si512;
            BitXor bitxor Integers _mm512_xor_si512;
        }

        impl std::ops::Neg for Floats {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                // The form that becomes part of a fused multiply-add.
                self.lit(-0.0) - self
            }
        }

        impl Lane for Floats {
            type Mask = Chosen;
            #[inline(always)]
            fn select(mask: Chosen, yes: Self, no: Self) -> Self {
                // SAFETY: whoever has a register has the instructions, here and below.
                Floats(unsafe { blend(mask.0, no.0, yes.0) })
            }
            #[inline(always)]
            fn eq(self, other: Self) -> Chosen {
                // SAFETY: as above.
                Chosen(unsafe { compare::<_CMP_EQ_OQ>(self.0, other.0) })
            }
        }

        impl Lane for Integers {
            type Mask = Chosen;
            #[inline(always)]
            fn select(mask: Chosen, yes: Self, no: Self) -> Self {
                // SAFETY: as above.
                Integers(unsafe { blend_integers(mask.0, no.0, yes.0) })
            }
            #[inline(always)]
            fn eq(self, other: Self) -> Chosen {
                // SAFETY: as above.
                Chosen(unsafe { equal_integers(self.0, other.0) })
            }
        }

        impl Bits for Integers {
            #[inline(always)]
            fn lit(self, value: u64) -> Self {
                // SAFETY: as above.
                Integers(unsafe { splat_integer(value as _) })
            }
            #[inline(always)]
            fn wrapping_add(self, other: Self) -> Self {
                // SAFETY: as above.
                Integers(unsafe { add_integers(self.0, other.0) })
            }
            #[inline(always)]
            fn wrapping_sub(self, other: Self) -> Self {
                // SAFETY: as above.
                Integers(unsafe { sub_integers(self.0, other.0) })
            }
            #[inline(always)]
            fn wrapping_mul(self, other: Self) -> Self {
                // SAFETY: as above.
                Integers(unsafe { mul_integers(self.0, other.0) })
            }
            #[inline(always)]
            fn mul_hi(self, other: Self) -> Self {
                // SAFETY: as above.
                Integers(unsafe { mul_high(self.0, other.0) })
            }
            #[inline(always)]
            fn shl(self, count: Self) -> Self {
                // SAFETY: as above.
                Integers(unsafe { shift_left(self.0, count.0) })
            }
            #[inline(always)]
            fn shr(self, count: Self) -> Self {
                // SAFETY: as above.
                Integers(unsafe { shift_right(self.0, count.0) })
            }
            #[inline(always)]
            fn lt(self, other: Self) -> Chosen {
                // SAFETY: as above.
                Chosen(unsafe { less_integers(self.0, other.0) })
            }
        }

        impl Real for Floats {
            type Bits = Integers;
            const WIDTH: u32 = $bits::BITS;
            #[inline(always)]
            fn lit(self, value: f64) -> Self {
                // SAFETY: as above.
                Floats(unsafe { splat(value as $item) })
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                // SAFETY: as above.
                Floats(unsafe { fmadd(self.0, b.0, c.0) })
            }
            #[inline(always)]
            fn abs(self) -> Self {
                // SAFETY: as above.
                Floats(unsafe { absolute(self.0) })
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: as above.
                Floats(unsafe { square_root(self.0) })
            }
            #[inline(always)]
            fn lt(self, other: Self) -> Chosen {
                // SAFETY: as above.
                Chosen(unsafe { compare::<_CMP_LT_OQ>(self.0, other.0) })
            }
            #[inline(always)]
            fn bits(self) -> Integers {
                // SAFETY: as above.
                Integers(unsafe { to_integers(self.0) })
            }
            #[inline(always)]
            fn with_bits(self, bits: Integers) -> Self {
                // SAFETY: as above.
                Floats(unsafe { to_floats(bits.0) })
            }
            // Of a number and a NaN, minimum and maximum give their second operand.
            #[inline(always)]
            fn at_most(self, high: f64) -> Self {
                // SAFETY: as above.
                Floats(unsafe { min(self.lit(high).0, self.0) })
            }
            #[inline(always)]
            fn at_least(self, low: f64) -> Self {
                // SAFETY: as above.
                Floats(unsafe { max(self.lit(low).0, self.0) })
            }
            #[inline(always)]
            fn not_below_lost(self, low: f64) -> Self {
                self.at_least(low - 3.0)
            }
            #[inline(always)]
            fn times_power(self, n: Self, _halves: (Self, Self)) -> Self {
                // Underflow takes as long as 25 others: what is lost anyway is left out. NaN is not.
                // SAFETY: as above.
                unsafe {
                    let lost = compare::<_CMP_LT_OQ>(n.0, n.lit(Self::LOST + 0.5).0);
                    Floats(scalef(!lost, self.0, n.0))
                }
            }
            #[inline(always)]
            fn split_exponent(self) -> (Self, Self) {
                // SAFETY: as above.
                unsafe {
                    let (k, m) = (getexp(self.0), getmant::<_MM_MANT_NORM_1_2, _MM_MANT_SIGN_ZERO>(self.0));
                    // Of sqrt(2).
                    let root = splat($item::from_bits(Self::ROOT_HALF as $bits + (1 << Self::MANTISSA)));
                    let upper = compare::<_CMP_GE_OQ>(m, root);
                    let (one, half) = (splat(1.0), splat(0.5));
                    (Floats(mask_add(k, upper, k, one)), Floats(mask_mul(m, upper, m, half)))
                }
            }
            #[inline(always)]
            fn or_ends_of_log(self, x: Self) -> Self {
                // By class of x, from the lowest four bits: NaN of both kinds stay NaN, 0 gives -inf, 1 the logarithm, -inf NaN,
                // inf itself, negative numbers NaN, positive ones the logarithm.
                // SAFETY: as above.
                Floats(unsafe { fixup::<0>(self.0, x.0, splat_integer(0x0353_0422)) })
            }
        }
    };
}

mod double;
mod single;

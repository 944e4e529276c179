//! The loops of scalar functions over one tile. Where the instruction set has no fused multiply-add, the functions are
//! computed with an emulated one, in two passes at most: a quick one, which vectorises, and, where it left a doubt in a
//! block, an exact one over that block.

use super::tile::{Tile, operand, target};
use crate::number::{Item, Number};
use crate::tier::Source;
use ferrotensor_core::for_each_math;
use ferrotensor_core::math::{self, Apart, EmulatedFma, Exact, Fused, Instruction, MODERATE, Quick, Real as _, Way};
use ferrotensor_core::planted;
use std::cell::Cell;
use std::marker::PhantomData;

/// A float that functions are computed in: float32 or float64.
#[cfg(target_arch = "x86_64")]
pub trait Value: EmulatedFma + Number + super::registers::InRegisters {}
#[cfg(target_arch = "x86_64")]
impl<T: EmulatedFma + Number + super::registers::InRegisters> Value for T {}

/// A float that functions are computed in: float32 or float64.
#[cfg(not(target_arch = "x86_64"))]
pub trait Value: EmulatedFma + Number {}
#[cfg(not(target_arch = "x86_64"))]
impl<T: EmulatedFma + Number> Value for T {}

/// A function of one to three floats, generic over its arithmetic.
pub trait Function {
    /// How many of them it reads.
    const ARITY: usize;
    /// Its value.
    fn call<V: math::Real>(x: [V; 3]) -> V;
}

macro_rules! functions {
    (unary: $(($one:ident, $f:path)),*; binary: $(($two:ident, $g:path)),*;) => {
        $(
            #[doc = concat!("`", stringify!($one), "`, single-sourced in [`ferrotensor_core::math`].")]
            pub struct $one;
            impl Function for $one {
                const ARITY: usize = 1;
                #[inline(always)]
                fn call<V: math::Real>([x, ..]: [V; 3]) -> V { $f(x) }
            }
        )*
        $(
            #[doc = concat!("`", stringify!($two), "`, single-sourced in [`ferrotensor_core::math`].")]
            pub struct $two;
            impl Function for $two {
                const ARITY: usize = 2;
                #[inline(always)]
                fn call<V: math::Real>([x, y, _]: [V; 3]) -> V { $g(x, y) }
            }
        )*
    };
}
for_each_math!(functions);

// Below MODERATE: equal bits, without the reduction of large arguments.
functions! {
    unary: (SinModerate, math::sin_moderate), (CosModerate, math::cos_moderate), (TanModerate, math::tan_moderate);
    binary: ;
}

/// `x * y + z`, rounded once.
pub struct Fma;
impl Function for Fma {
    const ARITY: usize = 3;
    #[inline(always)]
    fn call<V: math::Real>([x, y, z]: [V; 3]) -> V {
        x.fma(y, z)
    }
}

/// Loop of a [`Function`].
pub struct Call<F, T>(PhantomData<(F, T)>);

/// Elements after which doubts are looked at: enough to vectorise, few to be computed again.
const BLOCK: usize = 64;

impl<F: Function, T: Item<Value: Value>> Call<F, T> {
    /// The target and the operands; what the function does not read is given as its first one.
    ///
    /// # Safety
    /// The contract of `TileFn`.
    #[inline(always)]
    unsafe fn operands<'a>(t: &Tile) -> (&'a mut [T], [&'a [T]; 3]) {
        let at = |n: usize| t.args[if n < F::ARITY { n } else { 0 }];
        // SAFETY: as the caller promises.
        unsafe { (target::<T>(t.out, t.len), [0, 1, 2].map(|n| operand::<T>(at(n), t.len))) }
    }

    /// One pass; whether any result is in doubt.
    #[inline(always)]
    fn pass<W: Way>(out: &mut [T], [x, y, z]: [&[T]; 3]) -> bool {
        let doubt = Cell::new(0);
        for (((o, &x), &y), &z) in out.iter_mut().zip(x).zip(y).zip(z) {
            let [x, y, z] = [x.load(), y.load(), z.load()];
            let value = F::call([Fused::<_, W>::new(x, &doubt), Fused::new(y, &doubt), Fused::new(z, &doubt)]);
            *o = T::store(value.value());
        }
        doubt.get() != 0
    }
}

impl<F: Function, T: Item<Value: Value>> Source for Call<F, T> {
    type Args = Tile;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(t: Tile) {
        // SAFETY: the contract of `TileFn`.
        let (out, args) = unsafe { Self::operands(&t) };
        if FMA {
            Self::pass::<Instruction>(out, args);
            return;
        }
        if planted::is("baseline-functions-round-twice") {
            Self::pass::<Apart>(out, args);
            return;
        }
        for (n, out) in out.chunks_mut(BLOCK).enumerate() {
            let block = args.map(|x| &x[n * BLOCK..][..out.len()]);
            if Self::pass::<Quick>(out, block) {
                Self::pass::<Exact>(out, block);
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn run_avx512(t: Tile) {
        // SAFETY: the contract of `TileFn`; the caller has the features.
        unsafe {
            let (out, args) = Self::operands(&t);
            super::registers::pass::<F, T>(out, args);
        }
    }
}

/// Loop of `M` over tiles whose elements are all below [`MODERATE`] in size, of `F` over others.
pub struct Moderate<M, F, T>(PhantomData<(M, F, T)>);

impl<M: Function, F: Function, T: Item<Value: Value>> Source for Moderate<M, F, T> {
    type Args = Tile;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(t: Tile) {
        // SAFETY: the contract of `TileFn`.
        unsafe { if is_moderate::<T>(&t) { Call::<M, T>::run::<FMA>(t) } else { Call::<F, T>::run::<FMA>(t) } }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn run_avx512(t: Tile) {
        // SAFETY: the contract of `TileFn`; the caller has the features.
        unsafe { if is_moderate::<T>(&t) { Call::<M, T>::run_avx512(t) } else { Call::<F, T>::run_avx512(t) } }
    }
}

/// Whether the first operand is below [`MODERATE`] in size everywhere; NaN is not.
///
/// # Safety
/// The contract of `TileFn`.
#[inline(always)]
unsafe fn is_moderate<T: Item<Value: Value>>(t: &Tile) -> bool {
    // SAFETY: as the caller promises.
    let x = unsafe { operand::<T>(t.args[0], t.len) };
    x.iter().fold(true, |moderate, x| {
        let x = x.load();
        moderate & x.abs().lt(x.lit(MODERATE))
    })
}

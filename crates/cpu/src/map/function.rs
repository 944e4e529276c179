//! The loops of scalar functions over one tile. Where the instruction set has no fused multiply-add, the functions are
//! computed with an emulated one, in two passes at most: a quick one, which vectorises, and, where it left a doubt in a
//! block, an exact one over that block.

use super::tile::{Tile, operand, target};
use crate::number::Item;
use crate::number::cast::CastTo;
use crate::tier::Source;
use ferrotensor_core::for_each_math;
use ferrotensor_core::math::{self, EmulatedFma, Exact, Fused, Instruction, MODERATE, Quick, Way};
use std::cell::Cell;
use std::marker::PhantomData;

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

impl<F: Function, T: Item<Value: EmulatedFma>> Call<F, T> {
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

impl<F: Function, T: Item<Value: EmulatedFma>> Source for Call<F, T> {
    type Args = Tile;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(t: Tile) {
        // What the function does not read is given as its first operand.
        let at = |n: usize| t.args[if n < F::ARITY { n } else { 0 }];
        // SAFETY: the contract of `TileFn`.
        let (out, args) = unsafe { (target::<T>(t.out, t.len), [0, 1, 2].map(|n| operand::<T>(at(n), t.len))) };
        if FMA {
            Self::pass::<Instruction>(out, args);
            return;
        }
        for (n, out) in out.chunks_mut(BLOCK).enumerate() {
            let block = args.map(|x| &x[n * BLOCK..][..out.len()]);
            if Self::pass::<Quick>(out, block) {
                Self::pass::<Exact>(out, block);
            }
        }
    }
}

/// Loop of `M` over tiles whose elements are all below [`MODERATE`] in size, of `F` over others.
pub struct Moderate<M, F, T>(PhantomData<(M, F, T)>);

impl<M: Function, F: Function, T: Item<Value: EmulatedFma> + CastTo<f64>> Source for Moderate<M, F, T> {
    type Args = Tile;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(t: Tile) {
        // SAFETY: the contract of `TileFn`.
        let x = unsafe { operand::<T>(t.args[0], t.len) };
        let large = x.iter().fold(false, |large, &x| {
            let x: f64 = x.cast();
            large | (x.abs() >= MODERATE) | x.is_nan()
        });
        // SAFETY: the same contract.
        unsafe { if large { Call::<F, T>::run::<FMA>(t) } else { Call::<M, T>::run::<FMA>(t) } }
    }
}

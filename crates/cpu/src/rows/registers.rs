//! The lanes of passes in registers of AVX-512.

use super::wide::{PassItem, Wide};
use crate::map::function::{Exp, Function};
use crate::map::registers::{InRegisters, Register};
use ferrotensor_core::kernel::tree::LANES;
use ferrotensor_core::math::{Lane, Real};

/// By registers.
pub struct Registers;

/// Registers that hold all lanes of float64; of float32 the first half of them does.
const ALL: usize = 4;

type Of<T> = <T as InRegisters>::Register;

/// A value of each register in use; what the others are nobody asks.
macro_rules! each {
    ($T:ident, |$k:ident| $value:expr) => {{
        let $k = 0;
        let mut out = [$value; ALL];
        let mut $k = 1;
        while $k < LANES / <Of<$T> as Register>::COUNT {
            out[$k] = $value;
            $k += 1;
        }
        out
    }};
}

impl<T: PassItem + InRegisters<Register: Register<Item = T>>> Wide<T> for Registers {
    type Lanes = [Of<T>; ALL];

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self::Lanes {
        // SAFETY: as the caller promises, as in all functions here.
        each!(T, |k| unsafe { Of::<T>::load(from.add(k * Of::<T>::COUNT)) })
    }
    #[inline(always)]
    unsafe fn store(lanes: Self::Lanes, to: *mut T) {
        let mut k = 0;
        while k < LANES / Of::<T>::COUNT {
            // SAFETY: as above.
            unsafe { lanes[k].store(to.add(k * Of::<T>::COUNT)) };
            k += 1;
        }
    }
    #[inline(always)]
    unsafe fn same(value: T) -> Self::Lanes {
        let values = [value; LANES];
        // SAFETY: as above; a register has no more than all lanes.
        [unsafe { Of::<T>::load(values.as_ptr()) }; ALL]
    }
    #[inline(always)]
    unsafe fn add(x: Self::Lanes, y: Self::Lanes) -> Self::Lanes {
        each!(T, |k| x[k] + y[k])
    }
    #[inline(always)]
    unsafe fn sub(x: Self::Lanes, y: Self::Lanes) -> Self::Lanes {
        each!(T, |k| x[k] - y[k])
    }
    #[inline(always)]
    unsafe fn mul(x: Self::Lanes, y: Self::Lanes) -> Self::Lanes {
        each!(T, |k| x[k] * y[k])
    }
    #[inline(always)]
    unsafe fn exp(x: Self::Lanes) -> Self::Lanes {
        each!(T, |k| Exp::call([x[k]; 3]))
    }
    #[inline(always)]
    unsafe fn first(x: Self::Lanes, y: Self::Lanes, count: usize) -> Self::Lanes {
        let places: [T; LANES] = T::PLACES;
        // SAFETY: as above.
        let (places, limit) = unsafe { (Self::load(places.as_ptr()), Self::same(T::of(count))) };
        each!(T, |k| Lane::select(places[k].lt(limit[k]), x[k], y[k]))
    }
}

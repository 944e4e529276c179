//! The elements that meet the lanes of the reduction tree at once, and what passes do to them.

use crate::map::function::{Call, Exp, Value};
use crate::map::tile::{Add, Binary, Mul, Sub, Tile};
use crate::number::{Arithmetic, Item, Ordered};
use crate::tier::Source;
use ferrotensor_core::kernel::tree::LANES;

/// A float that passes are compiled for.
pub trait PassItem: Item<Value = Self> + Value + Arithmetic + Ordered {
    /// The numbers of the lanes.
    const PLACES: [Self; LANES];
    /// A number of lanes.
    fn of(count: usize) -> Self;
}

macro_rules! items {
    ($($item:ident)*) => {$(
        impl PassItem for $item {
            const PLACES: [Self; LANES] = {
                let mut places = [0.0; LANES];
                let mut l = 0;
                while l < LANES {
                    places[l] = l as Self;
                    l += 1;
                }
                places
            };
            #[inline(always)]
            fn of(count: usize) -> Self {
                count as Self
            }
        }
    )*};
}
items! { f32 f64 }

/// The lanes of the tree and what is done to them, by the instructions of a tier. Where it has registers of its own, an array of elements does
/// not do: LLVM took one apart into pieces of 4, 8 and 12 (layer norm on AVX-512: twice as slow as on AVX2).
///
/// # Safety
/// Of every function: the caller has the features of the tier.
pub trait Wide<T: PassItem> {
    type Lanes: Copy;
    /// # Safety
    /// As above, and [`LANES`] elements are there.
    unsafe fn load(from: *const T) -> Self::Lanes;
    /// # Safety
    /// As above, and there is room for [`LANES`] elements.
    unsafe fn store(lanes: Self::Lanes, to: *mut T);
    unsafe fn same(value: T) -> Self::Lanes;
    unsafe fn add(x: Self::Lanes, y: Self::Lanes) -> Self::Lanes;
    unsafe fn sub(x: Self::Lanes, y: Self::Lanes) -> Self::Lanes;
    unsafe fn mul(x: Self::Lanes, y: Self::Lanes) -> Self::Lanes;
    unsafe fn exp(x: Self::Lanes) -> Self::Lanes;
    /// The first `count` lanes of `x`, the others of `y`.
    unsafe fn first(x: Self::Lanes, y: Self::Lanes, count: usize) -> Self::Lanes;
}

/// By arrays, which LLVM vectorises.
pub struct Arrays<const FMA: bool>;

#[inline(always)]
fn each<F: Binary<T, T>, T: Copy>(mut x: [T; LANES], y: [T; LANES]) -> [T; LANES] {
    for l in 0..LANES {
        x[l] = F::apply(x[l], y[l]);
    }
    x
}

impl<T: PassItem, const FMA: bool> Wide<T> for Arrays<FMA> {
    type Lanes = [T; LANES];
    #[inline(always)]
    unsafe fn load(from: *const T) -> Self::Lanes {
        // SAFETY: as the caller promises.
        unsafe { from.cast::<Self::Lanes>().read_unaligned() }
    }
    #[inline(always)]
    unsafe fn store(lanes: Self::Lanes, to: *mut T) {
        // SAFETY: as the caller promises.
        unsafe { to.cast::<Self::Lanes>().write_unaligned(lanes) }
    }
    #[inline(always)]
    unsafe fn same(value: T) -> Self::Lanes {
        [value; LANES]
    }
    #[inline(always)]
    unsafe fn add(x: Self::Lanes, y: Self::Lanes) -> Self::Lanes {
        each::<Add, T>(x, y)
    }
    #[inline(always)]
    unsafe fn sub(x: Self::Lanes, y: Self::Lanes) -> Self::Lanes {
        each::<Sub, T>(x, y)
    }
    #[inline(always)]
    unsafe fn mul(x: Self::Lanes, y: Self::Lanes) -> Self::Lanes {
        each::<Mul, T>(x, y)
    }
    #[inline(always)]
    unsafe fn exp(x: Self::Lanes) -> Self::Lanes {
        let mut out = x;
        let tile = Tile { out: out.as_mut_ptr().cast(), args: [x.as_ptr().cast(); 3], len: LANES };
        // SAFETY: both arrays have as many elements; the caller has the features.
        unsafe { <Call<Exp, T> as Source>::run::<FMA>(tile) };
        out
    }
    #[inline(always)]
    unsafe fn first(x: Self::Lanes, mut y: Self::Lanes, count: usize) -> Self::Lanes {
        for l in 0..LANES {
            y[l] = if l < count { x[l] } else { y[l] };
        }
        y
    }
}

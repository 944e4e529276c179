//! Whole trees over many short extents, one after the other in memory: along each of them, or, where one is less than a row of lanes,
//! over many side by side.

use super::lanes::{combined, fold, folded, in_any_order, tree_of};
use crate::map::tile::Binary;
use crate::tier::Source;
use ferrotensor_core::kernel::tree::LANES;
use std::marker::PhantomData;

/// `items` whole items of `extent <= LONGEST` elements each, one after the other at `src`; their results go to `out`.
pub struct ShortItems {
    pub src: *const u8,
    pub out: *mut u8,
    pub items: usize,
    pub extent: usize,
}

/// Items side by side: a register of float32 for each element of an extent.
pub const SIDE: usize = 16;

/// The results of [`ShortItems`].
pub struct Short<F, T>(PhantomData<(F, T)>);

impl<F: Binary<T, T>, T: Copy> Source for Short<F, T> {
    type Args = ShortItems;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(s: ShortItems) {
        // SAFETY: see `ShortItems`.
        let (src, out) = unsafe {
            (
                std::slice::from_raw_parts(s.src.cast::<T>(), s.items * s.extent),
                std::slice::from_raw_parts_mut(s.out.cast::<T>(), s.items),
            )
        };
        let (blocks, rest) = if s.extent < LANES { out.as_chunks_mut::<SIDE>() } else { (&mut [][..], out) };
        let (beside, behind) = src.split_at(blocks.len() * SIDE * s.extent);
        for (items, out) in beside.chunks_exact(SIDE * s.extent).zip(blocks) {
            // Of ten elements an item, one item after the other took three times as long: 33 ns for a sum and 42 for a maximum, instead of 11 and 13.
            *out = if F::any_doubtful(items) { several::<F, T, false>(items) } else { several::<F, T, true>(items) };
        }
        for (item, out) in behind.chunks_exact(s.extent).zip(rest) {
            *out = one::<F, T>(item);
        }
    }
}

/// The trees over items of less than a row of lanes each: each element is a lane.
#[inline(always)]
fn several<F: Binary<T, T>, T: Copy, const QUICK: bool>(items: &[T]) -> [T; SIDE] {
    let extent = items.len() / SIDE;
    // SAFETY: there are as many items.
    let lane = |l: usize| -> [T; SIDE] { std::array::from_fn(|item| unsafe { *items.get_unchecked(item * extent + l) }) };
    let mut lanes = [lane(0); LANES];
    for (l, to) in lanes[..extent].iter_mut().enumerate().skip(1) {
        *to = lane(l);
    }
    fold(&mut lanes.as_flattened_mut()[..extent * SIDE], SIDE, combined::<F, T, QUICK>);
    lanes[0]
}

/// The tree over one item.
#[inline(always)]
fn one<F: Binary<T, T>, T: Copy>(item: &[T]) -> T {
    if F::ANY_ORDER
        && let Some((lanes, false)) = in_any_order::<F, T, true>(item)
    {
        let result = folded(lanes, F::rough);
        let clear = if F::unclear(result) { in_any_order::<F, T, false>(item) } else { None };
        return clear.map_or(result, |(lanes, _)| folded(lanes, F::quick));
    }
    if F::any_doubtful(item) { in_order::<F, T, false>(item) } else { in_order::<F, T, true>(item) }
}

#[inline(always)]
fn in_order<F: Binary<T, T>, T: Copy, const QUICK: bool>(item: &[T]) -> T {
    let mut lanes = tree_of::<F, T, QUICK>(item);
    if item.len() >= LANES {
        return folded(lanes, combined::<F, T, QUICK>);
    }
    fold(&mut lanes[..item.len()], 1, combined::<F, T, QUICK>);
    lanes[0]
}

//! Passes along rows: what is done to each element and the sum of what comes out, in one loop whose lanes stay in registers. A step after the
//! other reads and writes each element once for each of them; of a softmax in cache that takes twice as long.
//!
//! Traits and not closures say what a pass does: a closure does not take on the target features of a tier.

use super::wide::{Arrays, PassItem, Wide};
use crate::cache::{LINE, prefetch};
use crate::map::tile::{Add, Binary, Max, Min, Mul, Sub};
use crate::number::Number;
use crate::reduce::lanes::{folded, in_any_order};
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::kernel::tree::{LANES, ROWS};
use ferrotensor_core::rows::LONGEST;
use std::marker::PhantomData;

/// Partials of the tree at most: one for each bit of the number of groups.
const LEVELS: usize = (LONGEST / (LANES * ROWS)).ilog2() as usize + 1;

/// What a pass that sums is called with: rows one after the other, in elements of one dtype.
pub struct Sums {
    pub x: *const u8,
    /// A second operand of elements; anywhere if the pass reads none.
    pub y: *const u8,
    /// A value of each row; anywhere if the pass reads none.
    pub row: *const u8,
    /// Where what a later step reads goes, or null.
    pub kept: *mut u8,
    /// The sum of each row.
    pub sums: *mut u8,
    /// Elements that are asked for meanwhile, one for each of `x`, which may lie anywhere; or null.
    pub ahead: *const u8,
    pub rows: usize,
    /// Elements of a row, from [`LANES`] to [`LONGEST`].
    pub extent: usize,
}

/// What a pass that looks for an extreme is called with.
pub struct Extremes {
    pub x: *const u8,
    pub found: *mut u8,
    pub rows: usize,
    pub extent: usize,
    /// Set where the tree may give something else, since there is a NaN.
    pub in_doubt: *mut bool,
}

/// What a pass that scales is called with: each element by the value of its row, with weights and biases.
pub struct Scaled {
    pub x: *const u8,
    /// Values of rows that are subtracted first; anywhere if the pass reads none.
    pub less: *const u8,
    pub row: *const u8,
    /// Weights and biases; anywhere if the pass reads none.
    pub others: [*const u8; 2],
    /// Elements from those of a row to those of the next: all of a row, or none.
    pub steps: [usize; 2],
    pub out: *mut u8,
    pub rows: usize,
    pub extent: usize,
}

/// What a step makes of each element.
trait Kept {
    /// Whether it reads a second operand.
    const READS_OTHER: bool = false;
    /// # Safety
    /// As [`Wide`].
    unsafe fn kept<W: Wide<T>, T: PassItem>(x: W::Lanes, y: W::Lanes, row: W::Lanes) -> W::Lanes;
}

/// What is summed of that.
trait Summed {
    /// # Safety
    /// As [`Wide`].
    unsafe fn summed<W: Wide<T>, T: PassItem>(kept: W::Lanes) -> W::Lanes;
}

/// The element.
struct Same;
/// The element less the value of its row.
struct Less;
/// The exponential of that.
struct ExpLess;
/// The element times another.
struct Times;
/// The square.
struct Square;
/// The exponential.
struct Exponential;

impl Kept for Same {
    #[inline(always)]
    unsafe fn kept<W: Wide<T>, T: PassItem>(x: W::Lanes, _: W::Lanes, _: W::Lanes) -> W::Lanes {
        x
    }
}

impl Kept for Less {
    #[inline(always)]
    unsafe fn kept<W: Wide<T>, T: PassItem>(x: W::Lanes, _: W::Lanes, row: W::Lanes) -> W::Lanes {
        // SAFETY: as the caller promises, here and below.
        unsafe { W::sub(x, row) }
    }
}

impl Kept for ExpLess {
    #[inline(always)]
    unsafe fn kept<W: Wide<T>, T: PassItem>(x: W::Lanes, _: W::Lanes, row: W::Lanes) -> W::Lanes {
        // SAFETY: as above.
        unsafe { W::exp(W::sub(x, row)) }
    }
}

impl Kept for Times {
    const READS_OTHER: bool = true;
    #[inline(always)]
    unsafe fn kept<W: Wide<T>, T: PassItem>(x: W::Lanes, y: W::Lanes, _: W::Lanes) -> W::Lanes {
        // SAFETY: as above.
        unsafe { W::mul(x, y) }
    }
}

impl Summed for Same {
    #[inline(always)]
    unsafe fn summed<W: Wide<T>, T: PassItem>(kept: W::Lanes) -> W::Lanes {
        kept
    }
}

impl Summed for Square {
    #[inline(always)]
    unsafe fn summed<W: Wide<T>, T: PassItem>(kept: W::Lanes) -> W::Lanes {
        // SAFETY: as above.
        unsafe { W::mul(kept, kept) }
    }
}

impl Summed for Exponential {
    #[inline(always)]
    unsafe fn summed<W: Wide<T>, T: PassItem>(kept: W::Lanes) -> W::Lanes {
        // SAFETY: as above.
        unsafe { W::exp(kept) }
    }
}

struct Sum<K, S, T>(PhantomData<(K, S, T)>);

impl<K: Kept, S: Summed, T: PassItem> Sum<K, S, T> {
    /// # Safety
    /// `a` has what it says; the caller has the features of the tier.
    #[inline(always)]
    unsafe fn along<W: Wide<T>>(a: Sums) {
        // SAFETY: by the contract above.
        unsafe {
            let zero = T::store(Number::ZERO);
            let mut partials = [W::same(zero); LEVELS];
            for row in 0..a.rows {
                let value = if a.row.is_null() { zero } else { *a.row.cast::<T>().add(row) };
                *a.sums.cast::<T>().add(row) = Self::row::<W>(&a, row * a.extent, W::same(value), &mut partials);
            }
        }
    }

    /// The tree over one row. A last group of fewer than [`LANES`] elements meets the newest partial in its lanes, as its merges would.
    ///
    /// # Safety
    /// As [`Sum::along`].
    #[inline(always)]
    unsafe fn row<W: Wide<T>>(a: &Sums, first: usize, value: W::Lanes, partials: &mut [W::Lanes; LEVELS]) -> T {
        let (whole, rest) = (a.extent / LANES, a.extent % LANES);
        let (mut depth, mut at) = (0, 0);
        // SAFETY: as the caller promises.
        unsafe {
            for group in 0..whole.div_ceil(ROWS) {
                let end = (at + ROWS).min(whole);
                let mut lanes = Self::lanes::<W>(a, first + at * LANES, value);
                at += 1;
                while at < end {
                    lanes = W::add(lanes, Self::lanes::<W>(a, first + at * LANES, value));
                    at += 1;
                }
                if end == whole && whole % ROWS != 0 && rest > 0 {
                    let sums = W::add(lanes, Self::tail::<W>(a, first + whole * LANES, rest, value));
                    lanes = W::first(sums, lanes, rest);
                }
                for _ in 0..group.trailing_ones() {
                    depth -= 1;
                    lanes = W::add(partials[depth], lanes);
                }
                partials[depth] = lanes;
                depth += 1;
            }
            let mut lanes = partials[depth - 1];
            if whole % ROWS == 0 && rest > 0 {
                let sums = W::add(lanes, Self::tail::<W>(a, first + whole * LANES, rest, value));
                lanes = W::first(sums, lanes, rest);
            }
            for older in partials[..depth - 1].iter().rev() {
                lanes = W::add(*older, lanes);
            }
            let mut last = [T::store(Number::ZERO); LANES];
            W::store(lanes, last.as_mut_ptr());
            folded(last, <Add as Binary<T, T>>::apply)
        }
    }

    /// # Safety
    /// As [`Sum::along`], and the elements exist.
    #[inline(always)]
    unsafe fn lanes<W: Wide<T>>(a: &Sums, at: usize, value: W::Lanes) -> W::Lanes {
        // SAFETY: as the caller promises.
        unsafe {
            if !a.ahead.is_null() {
                for line in (0..size_of::<[T; LANES]>()).step_by(LINE) {
                    prefetch(a.ahead.wrapping_add(at * size_of::<T>() + line));
                }
            }
            let x = W::load(a.x.cast::<T>().add(at));
            let y = if K::READS_OTHER { W::load(a.y.cast::<T>().add(at)) } else { x };
            let kept = K::kept::<W, T>(x, y, value);
            if !a.kept.is_null() {
                W::store(kept, a.kept.cast::<T>().add(at));
            }
            S::summed::<W, T>(kept)
        }
    }

    /// The same for the first `rest` lanes; the others mean nothing.
    ///
    /// # Safety
    /// As [`Sum::lanes`].
    #[inline(always)]
    unsafe fn tail<W: Wide<T>>(a: &Sums, at: usize, rest: usize, value: W::Lanes) -> W::Lanes {
        // SAFETY: as the caller promises.
        unsafe {
            let x = Self::beginning::<W>(a.x, at, rest);
            let y = if K::READS_OTHER { Self::beginning::<W>(a.y, at, rest) } else { x };
            let kept = K::kept::<W, T>(x, y, value);
            if !a.kept.is_null() {
                let mut lanes = [T::store(Number::ZERO); LANES];
                W::store(kept, lanes.as_mut_ptr());
                std::ptr::copy_nonoverlapping(lanes.as_ptr(), a.kept.cast::<T>().add(at), rest);
            }
            S::summed::<W, T>(kept)
        }
    }

    /// # Safety
    /// As [`Sum::lanes`], of `rest` elements.
    #[inline(always)]
    unsafe fn beginning<W: Wide<T>>(from: *const u8, at: usize, rest: usize) -> W::Lanes {
        let mut lanes = [T::store(Number::ZERO); LANES];
        // SAFETY: as the caller promises.
        unsafe {
            std::ptr::copy_nonoverlapping(from.cast::<T>().add(at), lanes.as_mut_ptr(), rest);
            W::load(lanes.as_ptr())
        }
    }
}

impl<K: Kept, S: Summed, T: PassItem> Source for Sum<K, S, T> {
    type Args = Sums;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(a: Sums) {
        // SAFETY: as the caller promises.
        unsafe { Self::along::<Arrays<FMA>>(a) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn run_avx512(a: Sums) {
        // SAFETY: as the caller promises.
        unsafe { Self::along::<super::registers::Registers>(a) }
    }
}

struct Extreme<F, T>(PhantomData<(F, T)>);

impl<F: Binary<T, T>, T: PassItem> Source for Extreme<F, T> {
    type Args = Extremes;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(a: Extremes) {
        for row in 0..a.rows {
            // SAFETY: as the caller promises.
            unsafe {
                let x = std::slice::from_raw_parts(a.x.cast::<T>().add(row * a.extent), a.extent);
                match in_any_order::<F, T, true>(x) {
                    Some((lanes, false)) => {
                        let found = folded(lanes, F::apply);
                        let clear = if F::unclear(found) { in_any_order::<F, T, false>(x) } else { None };
                        *a.found.cast::<T>().add(row) = clear.map_or(found, |(lanes, _)| folded(lanes, F::apply));
                    }
                    _ => *a.in_doubt = true,
                }
            }
        }
    }
}

struct Scale<T, const LESS: bool, const OTHERS: usize>(PhantomData<T>);

impl<T: PassItem, const LESS: bool, const OTHERS: usize> Scale<T, LESS, OTHERS> {
    /// # Safety
    /// `a` has what it says; the caller has the features of the tier.
    #[inline(always)]
    unsafe fn along<W: Wide<T>>(a: Scaled) {
        let whole = a.extent / LANES * LANES;
        for row in 0..a.rows {
            // SAFETY: by the contract above.
            unsafe {
                let value = *a.row.cast::<T>().add(row);
                let less = if LESS { *a.less.cast::<T>().add(row) } else { value };
                let (x, out) = (a.x.cast::<T>().add(row * a.extent), a.out.cast::<T>().add(row * a.extent));
                let [weights, biases] = [0, 1].map(|n| a.others[n].cast::<T>().wrapping_add(row * a.steps[n]));
                let (values, lesses) = (W::same(value), W::same(less));
                for i in (0..whole).step_by(LANES) {
                    let mut lanes = W::load(x.add(i));
                    if LESS {
                        lanes = W::sub(lanes, lesses);
                    }
                    lanes = W::mul(lanes, values);
                    if OTHERS > 0 {
                        lanes = W::mul(lanes, W::load(weights.wrapping_add(i)));
                    }
                    if OTHERS > 1 {
                        lanes = W::add(lanes, W::load(biases.wrapping_add(i)));
                    }
                    W::store(lanes, out.add(i));
                }
                for i in whole..a.extent {
                    let mut element = *x.add(i);
                    if LESS {
                        element = <Sub as Binary<T, T>>::apply(element, less);
                    }
                    element = <Mul as Binary<T, T>>::apply(element, value);
                    if OTHERS > 0 {
                        element = <Mul as Binary<T, T>>::apply(element, *weights.wrapping_add(i));
                    }
                    if OTHERS > 1 {
                        element = <Add as Binary<T, T>>::apply(element, *biases.wrapping_add(i));
                    }
                    *out.add(i) = element;
                }
            }
        }
    }
}

impl<T: PassItem, const LESS: bool, const OTHERS: usize> Source for Scale<T, LESS, OTHERS> {
    type Args = Scaled;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(a: Scaled) {
        // SAFETY: as the caller promises.
        unsafe { Self::along::<Arrays<FMA>>(a) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn run_avx512(a: Scaled) {
        // SAFETY: as the caller promises.
        unsafe { Self::along::<super::registers::Registers>(a) }
    }
}

/// What a pass does to elements before it sums them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    Nothing,
    Less,
    ExpLess,
    Times,
}

/// And to what it sums, which later steps do not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    Nothing,
    Square,
    Exp,
}

/// The pass that sums so, where there is one.
pub fn sum<T: PassItem>(before: Before, within: Within, tier: Tier) -> Option<unsafe fn(Sums)> {
    Some(match (before, within) {
        (Before::Nothing, Within::Nothing) => compiled::<Sum<Same, Same, T>>(tier),
        (Before::Nothing, Within::Square) => compiled::<Sum<Same, Square, T>>(tier),
        (Before::Less, Within::Nothing) => compiled::<Sum<Less, Same, T>>(tier),
        (Before::Less, Within::Square) => compiled::<Sum<Less, Square, T>>(tier),
        (Before::Less, Within::Exp) => compiled::<Sum<Less, Exponential, T>>(tier),
        (Before::ExpLess, Within::Nothing) => compiled::<Sum<ExpLess, Same, T>>(tier),
        (Before::Times, Within::Nothing) => compiled::<Sum<Times, Same, T>>(tier),
        _ => return None,
    })
}

/// The pass that finds the largest elements, or the smallest.
pub fn extreme<T: PassItem>(largest: bool, tier: Tier) -> unsafe fn(Extremes)
where
    Max: Binary<T, T>,
    Min: Binary<T, T>,
{
    if largest { compiled::<Extreme<Max, T>>(tier) } else { compiled::<Extreme<Min, T>>(tier) }
}

/// The pass that scales, with something to subtract first or not, with so many of weights and biases.
pub fn scale<T: PassItem>(less: bool, others: usize, tier: Tier) -> unsafe fn(Scaled) {
    match (less, others) {
        (false, 0) => compiled::<Scale<T, false, 0>>(tier),
        (false, 1) => compiled::<Scale<T, false, 1>>(tier),
        (false, _) => compiled::<Scale<T, false, 2>>(tier),
        (true, 0) => compiled::<Scale<T, true, 0>>(tier),
        (true, 1) => compiled::<Scale<T, true, 1>>(tier),
        (true, _) => compiled::<Scale<T, true, 2>>(tier),
    }
}

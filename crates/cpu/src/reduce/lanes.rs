//! The loops of the reduction tree, one source for each of its steps: elements into the lanes of a group, lanes into lanes.

use super::short::{Short, ShortItems};
use crate::cache::{LINE, prefetch};
use crate::map::table::by_monoid;
use crate::map::tile::Binary;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::DType;
use ferrotensor_core::kernel::Monoid;
use ferrotensor_core::kernel::tree::{LANES, ROWS};
use ferrotensor_core::planted;
use std::marker::PhantomData;

/// Elements of a group, for one output.
pub const GROUP: usize = LANES * ROWS;

/// Elements whose tree is built within one function: a tile of float32.
pub const LONGEST: usize = 4 * GROUP;
/// Partials that tree has at most: of 1 group beside 2, while the fourth is merged.
const LEVELS: usize = 3;

/// Rows that are fetched ahead where columns are combined: they are a page or more apart, which no processor does by itself.
const AHEAD: usize = 8;

/// What the functions of a tree are called with.
pub struct Lanes {
    /// Accumulators.
    pub acc: *mut u8,
    /// Elements to combine with them, apart from the accumulators.
    pub src: *const u8,
    /// Number of elements.
    pub len: usize,
    /// Outputs side by side.
    pub width: usize,
}

/// The rows of one group, at most [`GROUP`], `width` elements each, for the accumulators at `acc`.
pub struct Columns {
    pub acc: *mut u8,
    /// The first row, and bytes from one to the next.
    pub src: *const u8,
    pub step: isize,
    pub rows: usize,
    pub width: usize,
}

type LaneFn = unsafe fn(Lanes);

/// A monoid over a dtype, compiled for a tier.
#[derive(Clone, Copy)]
pub struct TreeFns {
    /// `acc[i] = acc[i] op src[i]` for `len` elements.
    pub combine: LaneFn,
    /// For width 1: the rows in `len` elements at `src`, at most [`GROUP`] or a power of two of whole groups up to [`LONGEST`],
    /// combined into the lanes at `acc`.
    pub rows: LaneFn,
    /// The rows of a group combined into the lanes at `acc`.
    pub columns: unsafe fn(Columns),
    /// Combines the first `len` elements of the lanes at `acc` into the first `width`.
    pub lanes: LaneFn,
    /// Whole items at once.
    pub short: unsafe fn(ShortItems),
    /// Element size.
    pub size: usize,
}

struct Combine<F, T>(PhantomData<(F, T)>);
struct Rows<F, T>(PhantomData<(F, T)>);
struct Group<F, T>(PhantomData<(F, T)>);
struct Fold<F, T>(PhantomData<(F, T)>);

impl<F: Binary<T, T>, T: Copy> Source for Combine<F, T> {
    type Args = Lanes;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(a: Lanes) {
        // SAFETY: `len` elements at both, apart (see `Lanes`).
        let (acc, src) = unsafe {
            (std::slice::from_raw_parts_mut(a.acc.cast::<T>(), a.len), std::slice::from_raw_parts(a.src.cast::<T>(), a.len))
        };
        for (x, &y) in acc.iter_mut().zip(src) {
            *x = F::apply(*x, y);
        }
    }
}

impl<F: Binary<T, T>, T: Copy> Source for Rows<F, T> {
    type Args = Lanes;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(a: Lanes) {
        // SAFETY: `len` elements at `src`, and at `acc` room for as many up to `LANES`, apart.
        let (acc, src) = unsafe {
            let lanes = a.len.min(LANES);
            (std::slice::from_raw_parts_mut(a.acc.cast::<T>(), lanes), std::slice::from_raw_parts(a.src.cast::<T>(), a.len))
        };
        acc.copy_from_slice(&tree::<F, T>(src)[..acc.len()]);
    }
}

impl<F: Binary<T, T>, T: Copy> Source for Group<F, T> {
    type Args = Columns;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(c: Columns) {
        let (mut src, width) = (c.src, c.width);
        let ahead = (c.step * AHEAD as isize, (width * size_of::<T>()).div_ceil(LINE));
        let mut doubtful = false;
        for row in 0..c.rows {
            for line in 0..ahead.1 {
                prefetch(src.wrapping_offset(ahead.0).wrapping_add(line * LINE));
            }
            // SAFETY: `width` elements in each row, and at `acc` room for as many in each lane, apart.
            let (acc, elements) = unsafe {
                let lane = c.acc.cast::<T>().add(row % LANES * width);
                (std::slice::from_raw_parts_mut(lane, width), std::slice::from_raw_parts(src.cast::<T>(), width))
            };
            doubtful |= F::any_doubtful(elements);
            if row < LANES {
                acc.copy_from_slice(elements);
            } else if doubtful {
                acc.iter_mut().zip(elements).for_each(|(x, &y)| *x = F::apply(*x, y));
            } else {
                acc.iter_mut().zip(elements).for_each(|(x, &y)| *x = F::quick(*x, y));
            }
            src = src.wrapping_offset(c.step);
        }
    }
}

/// `F`, in few steps if no operand is doubtful.
#[inline(always)]
pub fn combined<F: Binary<T, T>, T: Copy, const QUICK: bool>(x: T, y: T) -> T {
    if QUICK { F::quick(x, y) } else { F::apply(x, y) }
}

/// The rows of one group, whole or not, combined into lanes; of a partial first row the other lanes have no meaning.
#[inline(always)]
fn group<F: Binary<T, T>, T: Copy, const QUICK: bool>(src: &[T]) -> [T; LANES] {
    let (rows, rest) = src.as_chunks::<LANES>();
    let Some((&first, rows)) = rows.split_first() else {
        let mut lanes = [rest[0]; LANES];
        lanes[..rest.len()].copy_from_slice(rest);
        return lanes;
    };
    let lanes = whole::<F, T, QUICK>(first, rows);
    let left_out = rest.is_empty() || planted::is("reduction-leaves-out-a-last-row");
    if left_out { lanes } else { begun::<F, T, QUICK>(lanes, rest) }
}

/// Lanes with whole rows: an array of which no part is chosen at run time stays in registers. In memory each row waited for the one
/// before it to be written (maxima of rows, Golden Cove: 10 cycles a row instead of 4).
#[inline(always)]
fn whole<F: Binary<T, T>, T: Copy, const QUICK: bool>(first: [T; LANES], rows: &[[T; LANES]]) -> [T; LANES] {
    let mut lanes = first;
    for row in rows {
        for l in 0..LANES {
            lanes[l] = combined::<F, T, QUICK>(lanes[l], row[l]);
        }
    }
    lanes
}

/// Lanes with the beginning of a row.
#[inline(always)]
fn begun<F: Binary<T, T>, T: Copy, const QUICK: bool>(mut lanes: [T; LANES], rest: &[T]) -> [T; LANES] {
    for (x, &y) in lanes.iter_mut().zip(rest) {
        *x = combined::<F, T, QUICK>(*x, y);
    }
    lanes
}

/// Two partials, of which the newer may have no more than so many lanes.
#[inline(always)]
fn merged<F: Binary<T, T>, T: Copy, const QUICK: bool>(older: &[T; LANES], newer: &[T; LANES], filled: usize) -> [T; LANES] {
    let mut lanes = *older;
    if filled == LANES {
        for l in 0..LANES {
            lanes[l] = combined::<F, T, QUICK>(lanes[l], newer[l]);
        }
    } else {
        for (x, &y) in lanes[..filled].iter_mut().zip(newer) {
            *x = combined::<F, T, QUICK>(*x, y);
        }
    }
    lanes
}

/// The lanes of the whole tree over `src`, 1 to [`LONGEST`] elements; lanes without an element have no meaning.
#[inline(always)]
fn tree<F: Binary<T, T>, T: Copy>(src: &[T]) -> [T; LANES] {
    if F::ANY_ORDER
        && let Some((lanes, false)) = in_any_order::<F, T, true>(src)
    {
        let unclear = lanes.iter().fold(false, |any, &x| any | F::unclear(x));
        let clear = if unclear { in_any_order::<F, T, false>(src) } else { None };
        return clear.map_or(lanes, |(lanes, _)| lanes);
    }
    tree_in_order::<F, T>(src)
}

/// The same, by the tree.
#[inline(always)]
fn tree_in_order<F: Binary<T, T>, T: Copy>(src: &[T]) -> [T; LANES] {
    if F::any_doubtful(src) { tree_of::<F, T, false>(src) } else { tree_of::<F, T, true>(src) }
}

/// Two rows.
const PAIR: usize = 2 * LANES;

/// The lanes of at least two rows of what may be combined in any order, and whether an element is doubtful. `ROUGH`: by [`Binary::rough`].
#[inline(always)]
pub fn in_any_order<F: Binary<T, T>, T: Copy, const ROUGH: bool>(src: &[T]) -> Option<([T; LANES], bool)> {
    let (pairs, behind) = src.as_chunks::<PAIR>();
    let (&first, pairs) = pairs.split_first()?;
    let (lanes, doubtful) = side_by_side::<F, T, ROUGH>(first, pairs);
    let (rows, rest) = behind.as_chunks::<LANES>();
    let lanes = whole::<F, T, true>(lanes, rows);
    let lanes = if rest.is_empty() { lanes } else { begun::<F, T, true>(lanes, rest) };
    Some((lanes, doubtful | F::any_doubtful(behind)))
}

/// The lanes of pairs of rows, which do not wait for each other, and whether an element is doubtful: an instruction for a register of
/// elements, half of one to look at it.
#[inline(always)]
fn side_by_side<F: Binary<T, T>, T: Copy, const ROUGH: bool>(first: [T; PAIR], pairs: &[[T; PAIR]]) -> ([T; LANES], bool) {
    let combine = |x: T, y: T| if ROUGH { F::rough(x, y) } else { F::quick(x, y) };
    let is_doubtful =
        |row: &[T; PAIR]| (0..LANES).fold(false, |any, l| any | F::doubtful(row[l]) | F::doubtful(row[LANES + l]));
    let (mut wide, mut doubtful) = (first, is_doubtful(&first));
    for row in pairs {
        doubtful |= is_doubtful(row);
        for l in 0..PAIR {
            wide[l] = combine(wide[l], row[l]);
        }
    }
    (std::array::from_fn(|l| combine(wide[l], wide[LANES + l])), doubtful)
}

/// The lanes of the whole tree over `src`, 1 to [`LONGEST`] elements; lanes without an element have no meaning.
#[inline(always)]
pub fn tree_of<F: Binary<T, T>, T: Copy, const QUICK: bool>(src: &[T]) -> [T; LANES] {
    let mut partials = [[src[0]; LANES]; LEVELS];
    let mut depth = 0;
    let mut filled = LANES;
    for (n, part) in src.chunks(GROUP).enumerate() {
        let mut lanes = group::<F, T, QUICK>(part);
        filled = part.len().min(LANES);
        for _ in 0..n.trailing_ones() {
            depth -= 1;
            lanes = merged::<F, T, QUICK>(&partials[depth], &lanes, filled);
            filled = LANES;
        }
        partials[depth] = lanes;
        depth += 1;
    }
    let mut lanes = partials[depth - 1];
    for older in partials[..depth - 1].iter().rev() {
        lanes = merged::<F, T, QUICK>(older, &lanes, filled);
        filled = LANES;
    }
    lanes
}

/// Combines all lanes, each `width` wide, into the first; `acc` ends where lanes without elements begin.
#[inline(always)]
pub fn fold<T: Copy>(acc: &mut [T], width: usize, combine: impl Fn(T, T) -> T) {
    let (mut half, mut filled) = (LANES / 2 * width, acc.len());
    while half >= width {
        if filled > half {
            let (low, high) = acc[..filled].split_at_mut(half);
            for (x, &y) in low.iter_mut().zip(high.iter()) {
                *x = combine(*x, y);
            }
            filled = half;
        }
        half /= 2;
    }
}

/// All lanes combined, in registers.
#[inline(always)]
pub fn folded<T: Copy>(lanes: [T; LANES], combine: impl Fn(T, T) -> T) -> T {
    #[inline(always)]
    fn halved<T: Copy, const N: usize, const M: usize>(lanes: [T; M], combine: &impl Fn(T, T) -> T) -> [T; N] {
        std::array::from_fn(|l| combine(lanes[l], lanes[N + l]))
    }
    let sixteen: [T; 16] = halved(lanes, &combine);
    let eight: [T; 8] = halved(sixteen, &combine);
    let four: [T; 4] = halved(eight, &combine);
    let two: [T; 2] = halved(four, &combine);
    combine(two[0], two[1])
}

impl<F: Binary<T, T>, T: Copy> Source for Fold<F, T> {
    type Args = Lanes;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(a: Lanes) {
        // SAFETY: `len` elements at `acc`.
        let acc = unsafe { std::slice::from_raw_parts_mut(a.acc.cast::<T>(), a.len) };
        fold(acc, a.width, F::apply);
    }
}

impl TreeFns {
    fn of<F: Binary<T, T>, T: Copy>(tier: Tier) -> TreeFns {
        TreeFns {
            combine: compiled::<Combine<F, T>>(tier),
            rows: compiled::<Rows<F, T>>(tier),
            columns: compiled::<Group<F, T>>(tier),
            lanes: compiled::<Fold<F, T>>(tier),
            short: compiled::<Short<F, T>>(tier),
            size: size_of::<T>(),
        }
    }

    /// The functions of a monoid.
    ///
    /// # Errors
    /// A sentence where the monoid is not defined for the dtype.
    pub fn new(monoid: Monoid, dtype: DType, tier: Tier) -> Result<TreeFns, String> {
        by_monoid!(monoid, dtype, F, T => TreeFns::of::<F, T>(tier))
    }
}

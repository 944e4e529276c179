//! Copies of operands as tiles read them: places one after the other, at each place the rows or columns of a tile beside each other.

use super::Matrix;
use super::lanes::Lanes;
use super::stored::Stored;
use crate::tier::Source;
use std::marker::PhantomData;

/// A part of an operand, and where its copy goes.
pub struct Part<S: Stored> {
    /// Its first row or column at its first place.
    pub from: *const S,
    /// From a row or column to the next one.
    pub step: isize,
    /// From a place to the next one.
    pub place: isize,
    /// Places.
    pub k: usize,
    /// Rows, or columns.
    pub count: usize,
    /// Floats the copy has at a place: behind the rows anything, behind the columns zeros.
    pub width: usize,
    /// The copy.
    pub to: *mut S::Real,
}

impl<S: Stored> Part<S> {
    /// Rows of `a` from row `i` and place `p` on.
    pub fn rows(a: Matrix, (i, count): (usize, usize), (p, k): (usize, usize), width: usize, to: *mut S::Real) -> Part<S> {
        let from = a.from(i, p, size_of::<S>()).start.cast_const().cast();
        Part { from, step: a.rows, place: a.columns, k, count, width, to }
    }

    /// Columns of `b` from column `j` and place `p` on.
    pub fn columns(
        b: Matrix,
        (j, count): (usize, usize),
        (p, k): (usize, usize),
        width: usize,
        to: *mut S::Real,
    ) -> Part<S> {
        let from = b.from(p, j, size_of::<S>()).start.cast_const().cast();
        Part { from, step: b.columns, place: b.rows, k, count, width, to }
    }
}

/// Rows of `a`. The floats of an element are places.
pub struct PackRows<S>(PhantomData<S>);

impl<S: Stored> Source for PackRows<S> {
    type Args = Part<S>;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(part: Part<S>) {
        let copy = |p: usize, i: usize, parts: [S::Real; 2]| {
            for (h, &x) in parts[..S::PARTS].iter().enumerate() {
                // SAFETY: the copy has room for as many places and rows.
                unsafe { *part.to.add((p * S::PARTS + h) * part.width + i) = x };
            }
        };
        each(&part, copy);
    }
}

/// Columns of `b`. The floats of an element are two columns of two places.
pub struct PackColumns<S>(PhantomData<S>);

impl<S: Stored> Source for PackColumns<S> {
    type Args = Part<S>;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(part: Part<S>) {
        let copy = |p: usize, j: usize, [re, im]: [S::Real; 2]| {
            let to = part.to.wrapping_add(p * S::PARTS * part.width + j * S::PARTS);
            // SAFETY: the copy has room for as many places and columns.
            unsafe {
                *to = re;
                if S::PARTS == 2 {
                    (*to.add(1), *to.add(part.width), *to.add(part.width + 1)) = (im, -im, re);
                }
            }
        };
        each(&part, copy);
        for place in 0..part.k * S::PARTS {
            for j in part.count * S::PARTS..part.width {
                // SAFETY: as above.
                unsafe { *part.to.add(place * part.width + j) = S::Real::default() };
            }
        }
    }
}

/// Rows or columns whose places lie beside each other, of floats as they are: by blocks that are transposed in registers. Behind the last
/// one it writes zeros, up to the width, a multiple of a register's.
pub struct Transposed<V>(PhantomData<V>);

impl<V: Lanes<Item: Stored<Real = V::Item> + Default>> Source for Transposed<V> {
    type Args = Part<V::Item>;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(part: Part<V::Item>) {
        let whole = part.k / V::COUNT * V::COUNT;
        // SAFETY: as many places and rows or columns exist, and the copy has room for the width at each place.
        unsafe {
            // Few rows at a time, as each is a stream of memory.
            for i in (0..part.width).step_by(V::COUNT) {
                for p in (0..whole).step_by(V::COUNT) {
                    if i + V::COUNT <= part.count {
                        transpose_block::<V, true>(&part, p, i);
                    } else {
                        transpose_block::<V, false>(&part, p, i);
                    }
                }
            }
            for p in whole..part.k {
                for i in 0..part.width {
                    let inside = i < part.count;
                    let x = if inside { *part.from.offset(i as isize * part.step).add(p) } else { V::Item::default() };
                    *part.to.add(p * part.width + i) = x;
                }
            }
        }
    }
}

/// A square of a register's length, from place `p` and row or column `i` on; all of its rows exist, if it is `FULL`.
///
/// # Safety
/// The places exist, and the copy has room.
#[inline(always)]
unsafe fn transpose_block<V: Lanes<Item: Default + Stored<Real = V::Item>>, const FULL: bool>(
    part: &Part<V::Item>,
    p: usize,
    i: usize,
) {
    // SAFETY: as the caller promises. Loops of constant length stay in registers.
    unsafe {
        let mut block = [V::splat(V::Item::default()); 16];
        for (r, lanes) in block.iter_mut().enumerate() {
            if r < V::COUNT && (FULL || i + r < part.count) {
                *lanes = V::load(part.from.offset((i + r) as isize * part.step).add(p));
            }
        }
        V::transpose(&mut block);
        for (q, lanes) in block.iter().enumerate() {
            if q < V::COUNT {
                lanes.store(part.to.add((p + q) * part.width + i));
            }
        }
    }
}

/// Places of a line of the cache.
const PLACES_OF_LINE: usize = 16;

/// Calls `copy` for each place and row or column, in an order in which memory lies.
#[inline(always)]
fn each<S: Stored>(part: &Part<S>, copy: impl Fn(usize, usize, [S::Real; 2])) {
    // SAFETY: of both: as many places and rows or columns exist.
    let read = |p: usize, i: usize, (place, step): (isize, isize)| unsafe {
        (*part.from.offset(p as isize * place + i as isize * step)).parts()
    };
    if part.place == 1 {
        // Where a row is as long as a power of two, all lie in one set of the first-level cache, which forgets a line before its next
        // place is asked for: each line is read once.
        for from in (0..part.k).step_by(PLACES_OF_LINE) {
            for i in 0..part.count {
                for p in from..(from + PLACES_OF_LINE).min(part.k) {
                    copy(p, i, read(p, i, (1, part.step)));
                }
            }
        }
        return;
    }
    // Where they lie beside each other the loop copies registers.
    let step = if part.step == 1 { 1 } else { part.step };
    for p in 0..part.k {
        for i in 0..part.count {
            copy(p, i, read(p, i, (part.place, step)));
        }
    }
}

//! The reduction tree of [`ferrotensor_core::kernel::tree`], for any number of outputs side by side.
//!
//! With a width of w outputs, element `i` of all of them lies at `i * w..`, so a lane is w elements wide and everything
//! else is the same code: an inner reduction has width 1, one over outer axes a block of kept elements.
//!
//! Lanes without an element are left out instead of holding the identity, which changes no value of a real dtype (the
//! identities are exact) and keeps `inf + 0i` from meeting `1 + 0i` in a complex product.

use super::Accumulate;
use crate::map::table::by_monoid;
use crate::map::tile::Binary;
use crate::scratch::Scratch;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::DType;
use ferrotensor_core::error::Result;
use ferrotensor_core::kernel::Monoid;
use ferrotensor_core::kernel::tree::{LANES, ROWS};
use std::marker::PhantomData;

/// Elements of a group, for one output.
pub const GROUP: usize = LANES * ROWS;

/// What the functions of a tree are called with.
pub struct Lanes {
    /// Accumulators.
    acc: *mut u8,
    /// Elements to combine with them, apart from the accumulators.
    src: *const u8,
    /// Number of elements.
    len: usize,
    /// Outputs side by side.
    width: usize,
}

/// `items` whole items of `extent <= GROUP` elements each, one after the other at `src`; their results go to `out`.
pub struct ShortItems {
    pub src: *const u8,
    pub out: *mut u8,
    pub items: usize,
    pub extent: usize,
}

type LaneFn = unsafe fn(Lanes);

/// A monoid over a dtype, compiled for a tier.
#[derive(Clone, Copy)]
pub struct TreeFns {
    /// `acc[i] = acc[i] op src[i]` for `len` elements.
    combine: LaneFn,
    /// For width 1: the rows in `len <= GROUP` elements at `src` combined into the lanes at `acc`.
    rows: LaneFn,
    /// Combines the first `len` elements of the lanes at `acc` into the first `width`.
    lanes: LaneFn,
    /// Whole items at once.
    pub short: unsafe fn(ShortItems),
    /// Element size.
    size: usize,
}

struct Combine<F, T>(PhantomData<(F, T)>);
struct Rows<F, T>(PhantomData<(F, T)>);
struct Fold<F, T>(PhantomData<(F, T)>);
struct Short<F, T>(PhantomData<(F, T)>);

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
        let Some(lanes) = group::<F, T>(src) else { return };
        acc.copy_from_slice(&lanes[..acc.len()]);
    }
}

/// The rows in `src`, at most [`GROUP`] elements, combined into lanes; of a partial first row the other lanes have no meaning.
#[inline(always)]
fn group<F: Binary<T, T>, T: Copy>(src: &[T]) -> Option<[T; LANES]> {
    let (rows, rest) = src.as_chunks::<LANES>();
    let Some((&first, rows)) = rows.split_first() else {
        let mut lanes = [*rest.first()?; LANES];
        lanes[..rest.len()].copy_from_slice(rest);
        return Some(lanes);
    };
    // A local array stays in vector registers.
    let mut lanes = first;
    for row in rows {
        for l in 0..LANES {
            lanes[l] = F::apply(lanes[l], row[l]);
        }
    }
    for (x, &y) in lanes.iter_mut().zip(rest) {
        *x = F::apply(*x, y);
    }
    Some(lanes)
}

/// Combines all lanes, each `width` wide, into the first; `acc` ends where lanes without elements begin.
#[inline(always)]
fn fold<F: Binary<T, T>, T: Copy>(acc: &mut [T], width: usize) {
    let (mut half, mut filled) = (LANES / 2 * width, acc.len());
    while half >= width {
        if filled > half {
            let (low, high) = acc[..filled].split_at_mut(half);
            for (x, &y) in low.iter_mut().zip(high.iter()) {
                *x = F::apply(*x, y);
            }
            filled = half;
        }
        half /= 2;
    }
}

impl<F: Binary<T, T>, T: Copy> Source for Fold<F, T> {
    type Args = Lanes;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(a: Lanes) {
        // SAFETY: `len` elements at `acc`.
        let acc = unsafe { std::slice::from_raw_parts_mut(a.acc.cast::<T>(), a.len) };
        fold::<F, T>(acc, a.width);
    }
}

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
        for (item, out) in src.chunks_exact(s.extent).zip(out) {
            if let Some(mut lanes) = group::<F, T>(item) {
                // With all lanes filled the length is a constant, and the loops unroll.
                if s.extent >= LANES {
                    fold::<F, T>(&mut lanes, 1)
                } else {
                    fold::<F, T>(&mut lanes[..s.extent], 1)
                }
                *out = lanes[0];
            }
        }
    }
}

impl TreeFns {
    fn of<F: Binary<T, T>, T: Copy>(tier: Tier) -> TreeFns {
        TreeFns {
            combine: compiled::<Combine<F, T>>(tier),
            rows: compiled::<Rows<F, T>>(tier),
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

/// A tree being built. Partials lie one above the other; the topmost is the group that is being filled.
pub struct Tree {
    fns: TreeFns,
    width: usize,
    memory: Scratch,
    /// Finished partials on the stack.
    depth: usize,
    /// Groups finished.
    groups: usize,
    /// Elements in the group being filled.
    position: usize,
    /// Elements filled in the topmost partial.
    filled: usize,
}

impl Tree {
    /// An empty tree for at most `extent` elements of each of at most `width` outputs.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn new(fns: TreeFns, width: usize, extent: usize) -> Result<Tree> {
        // One partial for each bit of the number of groups, and the group being filled.
        let levels = usize::BITS as usize - (extent / GROUP).leading_zeros() as usize + 2;
        let memory = Scratch::take(levels * LANES * width * fns.size)?;
        Ok(Tree { fns, width, memory, depth: 0, groups: 0, position: 0, filled: 0 })
    }

    /// Elements of all lanes.
    fn lanes(&self) -> usize {
        LANES * self.width
    }

    /// Bytes of a partial.
    pub fn partial_bytes(&self) -> usize {
        self.lanes() * self.fns.size
    }

    fn partial(&self, level: usize) -> *mut u8 {
        self.memory.as_ptr().wrapping_add(level * self.partial_bytes())
    }

    /// Merges the two topmost partials; the newer may lack lanes.
    fn merge(&mut self) {
        self.depth -= 1;
        let (acc, src) = (self.partial(self.depth - 1), self.partial(self.depth));
        // SAFETY: both partials are inside the memory, apart, and have at least `filled` elements.
        unsafe { (self.fns.combine)(Lanes { acc, src, len: self.filled, width: self.width }) };
        self.filled = self.lanes();
    }

    /// The group being filled is done.
    fn close_group(&mut self) {
        self.filled = self.position.min(self.lanes());
        self.position = 0;
        self.depth += 1;
        for _ in 0..self.groups.trailing_ones() {
            self.merge();
        }
        self.groups += 1;
    }

    /// The one partial of a power of two of whole groups.
    pub fn sole_partial(&self) -> *const u8 {
        self.partial(0)
    }

    /// Adds what [`Tree::sole_partial`] was for chunk `chunk` (from 0, in order) of a longer extent. Afterwards elements may
    /// follow that make no whole chunk.
    ///
    /// # Safety
    /// `partial` has [`Tree::partial_bytes`] bytes.
    pub unsafe fn push_chunk(&mut self, chunk: usize, partial: *const u8) {
        // SAFETY: by the contract above; the stack has a level for each bit of the number of groups.
        unsafe { std::ptr::copy_nonoverlapping(partial, self.partial(self.depth), self.partial_bytes()) };
        self.filled = self.lanes();
        self.depth += 1;
        for _ in 0..chunk.trailing_ones() {
            self.merge();
        }
    }

    /// Forgets everything, for other outputs side by side (not more than the tree was made for).
    pub fn restart(&mut self, width: usize) {
        (self.width, self.depth, self.groups, self.position, self.filled) = (width, 0, 0, 0, 0);
    }
}

impl Accumulate for Tree {
    unsafe fn feed(&mut self, src: *const u8, len: usize) {
        let (lanes, group) = (self.lanes(), GROUP * self.width);
        let mut done = 0;
        while done < len {
            let (acc, src) = (self.partial(self.depth), src.wrapping_add(done * self.fns.size));
            let (at, left) = (self.position % lanes, len - done);
            // `src` has `left` elements, and the topmost partial has room for `lanes` of them from `acc` on.
            let taken = if self.position == 0 && self.width == 1 {
                let taken = left.min(group);
                // SAFETY: `taken` is at most `left`, and stays within the partial.
                unsafe { (self.fns.rows)(Lanes { acc, src, len: taken, width: 1 }) };
                taken
            } else if self.position < lanes {
                let taken = left.min(lanes - at);
                // SAFETY: `taken` is at most `left`, and stays within the partial.
                unsafe { std::ptr::copy_nonoverlapping(src, acc.add(at * self.fns.size), taken * self.fns.size) };
                taken
            } else {
                let taken = left.min(lanes - at);
                let acc = acc.wrapping_add(at * self.fns.size);
                // SAFETY: `taken` is at most `left`, and stays within the partial.
                unsafe { (self.fns.combine)(Lanes { acc, src, len: taken, width: self.width }) };
                taken
            };
            (self.position, done) = (self.position + taken, done + taken);
            if self.position == group {
                self.close_group();
            }
        }
    }

    unsafe fn finish(&mut self, out: *mut u8) {
        if self.position > 0 {
            self.close_group();
        }
        while self.depth > 1 {
            self.merge();
        }
        let acc = self.partial(0);
        // SAFETY: the bottom partial has `filled` elements, of which the first `width` are the results.
        unsafe {
            (self.fns.lanes)(Lanes { acc, src: acc, len: self.filled, width: self.width });
            std::ptr::copy_nonoverlapping(acc, out, self.width * self.fns.size);
        }
        self.restart(self.width);
    }
}

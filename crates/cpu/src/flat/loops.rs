//! Loops over plain memory: sums of blocks, elements in place, and the product of whoever wants none of our tiles.

use crate::tier::Source;
use std::marker::PhantomData;

/// Terms of a block of a sum: 16 KB of float64.
pub const BLOCK: usize = 2048;
/// Sums that grow side by side in a block: each is 64 terms long, and four registers of the widest vectors hold them.
const LANES: usize = 32;
/// Rows, places and columns of a block of a product: its columns stay in the first-level cache.
const SIDE: usize = 64;

/// float32 or float64.
pub trait Element:
    Copy + Send + Sync + PartialEq + std::ops::Add<Output = Self> + std::ops::Mul<Output = Self> + Into<f64> + Default + 'static
{
    /// A number that it holds.
    fn of(value: f64) -> Self;
}
impl Element for f32 {
    fn of(value: f64) -> f32 {
        value as f32
    }
}
impl Element for f64 {
    fn of(value: f64) -> f64 {
        value
    }
}

/// Terms of a sum and where partial sums go.
#[derive(Clone, Copy)]
pub struct Partial<T> {
    /// Elements.
    pub a: *const T,
    /// What each is multiplied by, if by anything.
    pub b: Option<*const T>,
    /// A float64 for each block.
    pub to: *mut f64,
}
// SAFETY: elements are only read, and each thread writes the sums of its own blocks.
unsafe impl<T> Send for Partial<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Partial<T> {}

/// One block of a sum.
pub struct OneBlock<T> {
    a: *const T,
    b: Option<*const T>,
    len: usize,
    to: *mut f64,
}

impl<T> Partial<T> {
    /// A block of `len` terms in all.
    pub fn block(&self, block: usize, len: usize) -> OneBlock<T> {
        let at = block * BLOCK;
        let b = self.b.map(|b| b.wrapping_add(at));
        OneBlock { a: self.a.wrapping_add(at), b, len: BLOCK.min(len - at), to: self.to.wrapping_add(block) }
    }
}

/// Sum of a block, in float64.
pub struct Blocks<T>(PhantomData<T>);

impl<T: Element> Source for Blocks<T> {
    type Args = OneBlock<T>;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(block: OneBlock<T>) {
        // SAFETY: as many elements exist.
        let read = |from: *const T, i: usize| -> f64 { unsafe { *from.add(i) }.into() };
        let sum = match block.b {
            None => lanes(block.len, |i| read(block.a, i)),
            Some(b) => lanes(block.len, |i| read(block.a, i) * read(b, i)),
        };
        // SAFETY: there is room for it.
        unsafe { *block.to = sum };
    }
}

#[inline(always)]
fn lanes(len: usize, term: impl Fn(usize) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let whole = len / LANES * LANES;
    for i in (0..whole).step_by(LANES) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += term(i + lane);
        }
    }
    // A copy: an array that is handed on has an address, and its sums would go to memory after each term (16,384 terms: 5.9 us, not 1.5).
    let mut totals = sums;
    for i in whole..len {
        totals[i - whole] += term(i);
    }
    in_pairs(&totals)
}

/// The sum of neighbours, of those sums' neighbours, and so on.
pub fn in_pairs(terms: &[f64]) -> f64 {
    match terms {
        [] => 0.0,
        [term] => *term,
        _ => {
            let (low, high) = terms.split_at(terms.len().next_power_of_two() / 2);
            in_pairs(low) + in_pairs(high)
        }
    }
}

/// Elements that change where they are: `to += from`, or `to *= factor`.
pub struct InPlaceArgs<T> {
    /// How many.
    pub len: usize,
    /// What is added, which shares no memory with `to`.
    pub from: Option<*const T>,
    /// The factor where nothing is added.
    pub factor: T,
    /// What changes.
    pub to: *mut T,
}

/// The loop over them.
pub struct InPlace<T>(PhantomData<T>);

impl<T: Element> Source for InPlace<T> {
    type Args = InPlaceArgs<T>;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(args: InPlaceArgs<T>) {
        let InPlaceArgs { len, from, factor, to } = args;
        // SAFETY: as many elements exist, and nobody else has those that change.
        unsafe {
            match from {
                Some(from) => {
                    for i in 0..len {
                        *to.add(i) = *to.add(i) + *from.add(i);
                    }
                }
                None => {
                    for i in 0..len {
                        *to.add(i) = *to.add(i) * factor;
                    }
                }
            }
        }
    }
}

/// `c = a b` of m x k and k x n: each element adds its products in the order of places, both rounded.
///
/// # Safety
/// The matrices exist, and `c` shares memory with neither.
pub unsafe fn product<T: Element>([m, n, k]: [usize; 3], a: *const T, b: *const T, c: *mut T) {
    let blocks = |len: usize| (0..len).step_by(SIDE).map(move |at| (at, (at + SIDE).min(len)));
    // SAFETY: as the caller promises; each index lies in its matrix.
    unsafe {
        std::slice::from_raw_parts_mut(c, m * n).fill(T::default());
        for (first, last) in blocks(k) {
            for (left, right) in blocks(n) {
                for i in 0..m {
                    let row = std::slice::from_raw_parts_mut(c.add(i * n + left), right - left);
                    for p in first..last {
                        let x = *a.add(i * k + p);
                        let columns = std::slice::from_raw_parts(b.add(p * n + left), right - left);
                        for (sum, &y) in row.iter_mut().zip(columns) {
                            *sum = *sum + x * y;
                        }
                    }
                }
            }
        }
    }
}

//! The value of each row, for each of its elements.

use crate::map::table::by_size;
use crate::tier::{Source, Tier, compiled};
use std::marker::PhantomData;

/// Elements written at once, into what belongs to the next rows if a row ends before: those come later. A row of 10 that was filled to its end
/// took 10 ns.
const WIDE: usize = 16;

/// Rows whose values spread.
pub struct Spread {
    /// The value of the first row; the others follow.
    pub from: *const u8,
    /// Elements of a row, and of the first one those that are wanted.
    pub extent: usize,
    pub first: usize,
    /// Where they go, and how many.
    pub to: *mut u8,
    pub len: usize,
}

struct Elements<T>(PhantomData<T>);

impl<T: Copy> Source for Elements<T> {
    type Args = Spread;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(Spread { from, extent, first, to, len }: Spread) {
        let (mut from, to) = (from.cast::<T>(), to.cast::<T>());
        let (mut at, mut end) = (0, first.min(len));
        while at < len {
            // SAFETY: the contract of [`spread`]; nothing is written behind the last element.
            unsafe {
                let value = *from;
                let wide = (end - at).div_ceil(WIDE) * WIDE;
                if at + wide <= len {
                    for i in (at..at + wide).step_by(WIDE) {
                        to.add(i).cast::<[T; WIDE]>().write([value; WIDE]);
                    }
                } else {
                    std::slice::from_raw_parts_mut(to.add(at), end - at).fill(value);
                }
            }
            from = from.wrapping_add(1);
            (at, end) = (end, (end + extent).min(len));
        }
    }
}

/// Writes the value of its row for each of `len` elements of `size` bytes. The bytes are the same on any tier, so the newest one does it.
///
/// # Safety
/// Each row has a value, and `to` room for the elements, aligned and apart.
pub unsafe fn spread(size: usize, rows: Spread) {
    // SAFETY: by the contract above; the machine has its newest tier.
    by_size!(size, T => unsafe { compiled::<Elements<T>>(Tier::newest())(rows) });
}

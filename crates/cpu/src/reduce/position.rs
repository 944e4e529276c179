//! Positions of the first largest or smallest element, for any number of outputs side by side: the first NaN wins, and
//! `-0` equals `+0`. The rule has one answer whatever the order of comparison.

use super::Accumulate;
use crate::map::table::ordered;
use crate::number::{Item, Ordered};
use crate::scratch::Scratch;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::DType;
use ferrotensor_core::error::Result;
use std::marker::PhantomData;

/// What a comparison of elements with the best so far is called with.
pub struct Contest {
    /// Best element of each output.
    best: *mut u8,
    /// Its position.
    at: *mut i32,
    /// `len` elements, from element `position` of the flat order `[extent][width]` on.
    src: *const u8,
    len: usize,
    position: usize,
    width: usize,
}

/// Compares with one tier's code; the element size beside it.
pub type PositionFn = (unsafe fn(Contest), usize);

struct First<T, const LARGEST: bool>(PhantomData<T>);

/// Whether `x` takes the place of an earlier `best`.
#[inline(always)]
fn beats<V: Ordered, const LARGEST: bool>(x: V, best: V) -> bool {
    let better = if LARGEST { best.less(x) } else { x.less(best) };
    better | (x.is_nan() & !best.is_nan())
}

// Elements looked at before it is decided whether one of them is worth a closer look.
const BLOCK: usize = 256;

impl<T: Item<Value: Ordered>, const LARGEST: bool> Source for First<T, LARGEST> {
    type Args = Contest;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(c: Contest) {
        // SAFETY: `width` bests with their positions, `len` elements at `src`, all apart.
        let (best, at, src) = unsafe {
            (
                std::slice::from_raw_parts_mut(c.best.cast::<T>(), c.width),
                std::slice::from_raw_parts_mut(c.at, c.width),
                std::slice::from_raw_parts(c.src.cast::<T>(), c.len),
            )
        };
        if let ([best], [at]) = (&mut *best, &mut *at) {
            let mut position = c.position;
            for block in src.chunks(BLOCK) {
                let leader = best.load();
                if position == 0 || block.iter().fold(false, |any, x| any | beats::<_, LARGEST>(x.load(), leader)) {
                    for (i, x) in block.iter().enumerate() {
                        if position + i == 0 || beats::<_, LARGEST>(x.load(), best.load()) {
                            (*best, *at) = (*x, (position + i) as i32);
                        }
                    }
                }
                position += block.len();
            }
            return;
        }
        let (mut position, mut rest) = (c.position, src);
        while !rest.is_empty() {
            let (row, column) = (position / c.width, position % c.width);
            let (now, later) = rest.split_at(rest.len().min(c.width - column));
            for ((best, at), x) in best[column..].iter_mut().zip(&mut at[column..]).zip(now) {
                let wins = (row == 0) | beats::<_, LARGEST>(x.load(), best.load());
                *best = if wins { *x } else { *best };
                *at = if wins { row as i32 } else { *at };
            }
            position += now.len();
            rest = later;
        }
    }
}

/// The comparison for a dtype.
///
/// # Errors
/// A sentence for complex dtypes.
pub fn position_fn(largest: bool, dtype: DType, tier: Tier) -> Result<PositionFn, String> {
    let run = ordered!(dtype, T => if largest { compiled::<First<T, true>>(tier) } else { compiled::<First<T, false>>(tier) },
        else return Err(format!("{dtype} has no order")));
    Ok((run, dtype.bytes()))
}

/// The contest being held.
pub struct Positions {
    run: PositionFn,
    width: usize,
    position: usize,
    memory: Scratch,
}

impl Positions {
    /// For `width` outputs side by side.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn new(run: PositionFn, width: usize) -> Result<Positions> {
        let bytes = (width + 1) * (size_of::<i32>() + run.1);
        let memory = Scratch::take(bytes)?;
        // Bests are compared only after the first row has been stored over them, but they must be readable values.
        // SAFETY: the memory has that many bytes.
        unsafe { std::ptr::write_bytes(memory.as_ptr(), 0, bytes) };
        Ok(Positions { run, width, position: 0, memory })
    }

    fn at(&self) -> *mut i32 {
        // Behind the bests, whose total size may be odd.
        self.memory.as_ptr().wrapping_add((self.width * self.run.1).next_multiple_of(size_of::<i32>())).cast()
    }
}

impl Accumulate for Positions {
    unsafe fn feed(&mut self, src: *const u8, len: usize) {
        let contest =
            Contest { best: self.memory.as_ptr(), at: self.at(), src, len, position: self.position, width: self.width };
        // SAFETY: the caller's elements, and this value's own memory.
        unsafe { (self.run.0)(contest) };
        self.position += len;
    }

    unsafe fn finish(&mut self, out: *mut u8) {
        // SAFETY: `out` has room for `width` int32.
        unsafe { std::ptr::copy_nonoverlapping(self.at().cast::<u8>(), out, self.width * size_of::<i32>()) };
        self.position = 0;
    }
}

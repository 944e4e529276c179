//! Positions of the first largest or smallest element, for any number of outputs side by side: the first NaN wins, and
//! `-0` equals `+0`. The rule has one answer whatever the order of comparison.

use super::short::{SIDE, ShortItems};
use super::{Accumulate, CHUNK, Outbox, ReduceLaunch, Walk};
use crate::map::frame::{Bound, Frame};
use crate::map::table::ordered;
use crate::memory::CpuBuffer;
use crate::number::{Item, Number, Ordered};
use crate::parallel::parallel_for;
use crate::scratch::Scratch;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::DType;
use ferrotensor_core::error::{Error, Result};
use std::marker::PhantomData;
use std::slice::from_mut;

/// Outputs that are compared side by side, at most: they need no lanes, and long rows cost less to walk.
pub const WIDTH: usize = 1024;

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
    /// The row at which nothing has been compared yet.
    first: usize,
}

/// The winners of two parts of an extent, `width` each.
pub struct Final {
    best: *mut u8,
    at: *mut i32,
    /// Those of the later part.
    later: *const u8,
    later_at: *const i32,
    width: usize,
}

/// Comparisons of a dtype, with one tier's code.
#[derive(Clone, Copy)]
pub struct PositionFns {
    elements: unsafe fn(Contest),
    winners: unsafe fn(Final),
    /// Whole items at once, whose positions are int32.
    pub short: unsafe fn(ShortItems),
    /// Element size.
    size: usize,
}

struct First<T, const LARGEST: bool>(PhantomData<T>);

/// Whether `x` takes the place of an earlier `best`.
#[inline(always)]
fn beats<V: Ordered, const LARGEST: bool>(x: V, best: V) -> bool {
    let better = if LARGEST { best.less(x) } else { x.less(best) };
    better | (x.is_nan() & !best.is_nan())
}

// Elements compared side by side, and those looked at together to find the one sought, closer and closer.
const LANES: usize = 32;
const BLOCKS: [usize; 3] = [64, 8, 1];
// Elements that are compared, and then looked through for NaN while they are in the first level of cache.
const NEAR: usize = 256;

/// The best of some elements but NaN, and whether there is one. Two questions, each answered by an instruction or two for a register; a
/// comparison that NaN wins takes four, which wait for each other: a row of 1024 float32 took 230 ns, now 147 (rows of 64: 78, 60).
#[inline(always)]
fn best_of<T: Item<Value: Ordered>, const LARGEST: bool>(src: &[T]) -> (T::Value, bool) {
    let wins = |x: T::Value, best: T::Value| if LARGEST { best.less(x) } else { x.less(best) };
    let worst = if LARGEST { T::Value::SMALLEST } else { T::Value::LARGEST };
    let (mut lanes, mut has_nan) = ([worst; LANES], false);
    for near in src.chunks(NEAR) {
        let (rows, rest) = near.as_chunks::<LANES>();
        for row in rows {
            for (best, x) in lanes.iter_mut().zip(row) {
                let x = x.load();
                *best = if wins(x, *best) { x } else { *best };
            }
        }
        for (best, x) in lanes.iter_mut().zip(rest) {
            let x = x.load();
            *best = if wins(x, *best) { x } else { *best };
        }
        has_nan |= near.iter().fold(false, |any, x| any | x.load().is_nan());
    }
    // By halves: one lane after the other is a chain of 32 comparisons that wait for each other, in each row.
    let mut half = LANES / 2;
    while half > 0 {
        let (front, back) = lanes.split_at_mut(half);
        for (best, &x) in front.iter_mut().zip(&*back) {
            *best = if wins(x, *best) { x } else { *best };
        }
        half /= 2;
    }
    (lanes[0], has_nan)
}

/// Where the first element is that `is_it`.
#[inline(always)]
fn first_of<T: Copy>(src: &[T], is_it: impl Fn(T) -> bool) -> Option<usize> {
    let mut at = 0;
    for block in BLOCKS {
        let any = |elements: &[T]| elements.iter().fold(false, |any, &x| any | is_it(x));
        at += src[at..].chunks(block).position(any)? * block;
    }
    Some(at)
}

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
            // Which value, then where: two passes over what lies in the first level of cache, and no positions to carry along.
            let (found, has_nan) = best_of::<T, LARGEST>(src);
            let (begins, before) = (c.position == c.first, best.load());
            let place = match has_nan {
                true if begins || !before.is_nan() => first_of(src, |x| x.load().is_nan()),
                false if begins || beats::<_, LARGEST>(found, before) => first_of(src, |x| x.load().same(found)),
                _ => None,
            };
            if let Some(i) = place {
                (*best, *at) = (src[i], (c.position + i) as i32);
            }
            return;
        }
        let (mut position, mut rest) = (c.position, src);
        while !rest.is_empty() {
            let (row, column) = (position / c.width, position % c.width);
            let (now, later) = rest.split_at(rest.len().min(c.width - column));
            for ((best, at), x) in best[column..].iter_mut().zip(&mut at[column..]).zip(now) {
                let wins = (row == c.first) | beats::<_, LARGEST>(x.load(), best.load());
                *best = if wins { *x } else { *best };
                *at = if wins { row as i32 } else { *at };
            }
            position += now.len();
            rest = later;
        }
    }
}

/// The positions in [`ShortItems`].
struct ShortFirst<T, const LARGEST: bool>(PhantomData<T>);

impl<T: Item<Value: Ordered>, const LARGEST: bool> Source for ShortFirst<T, LARGEST> {
    type Args = ShortItems;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(s: ShortItems) {
        // SAFETY: see `ShortItems`.
        let (src, out) = unsafe {
            (
                std::slice::from_raw_parts(s.src.cast::<T>(), s.items * s.extent),
                std::slice::from_raw_parts_mut(s.out.cast::<i32>(), s.items),
            )
        };
        let (blocks, rest) = if s.extent < LANES { out.as_chunks_mut::<SIDE>() } else { (&mut [][..], out) };
        let (beside, behind) = src.split_at(blocks.len() * SIDE * s.extent);
        for (items, out) in beside.chunks_exact(SIDE * s.extent).zip(blocks) {
            *out = positions_beside::<T, LARGEST>(items);
        }
        for (item, out) in behind.chunks_exact(s.extent).zip(rest) {
            let (found, has_nan) = best_of::<T, LARGEST>(item);
            let place =
                if has_nan { first_of(item, |x| x.load().is_nan()) } else { first_of(item, |x| x.load().same(found)) };
            *out = place.unwrap_or(0) as i32;
        }
    }
}

/// The positions in [`SIDE`] items side by side. Of 3 elements an item, one item after the other took 34 ns each, now 5.
#[inline(always)]
fn positions_beside<T: Item<Value: Ordered>, const LARGEST: bool>(items: &[T]) -> [i32; SIDE] {
    let extent = items.len() / SIDE;
    // SAFETY: there are as many items.
    let lane = |l: usize| -> [T; SIDE] { std::array::from_fn(|item| unsafe { *items.get_unchecked(item * extent + l) }) };
    let (mut best, mut at) = (lane(0), [0; SIDE]);
    for l in 1..extent {
        let xs = lane(l);
        for ((best, at), x) in best.iter_mut().zip(&mut at).zip(xs) {
            let wins = beats::<_, LARGEST>(x.load(), best.load());
            *best = if wins { x } else { *best };
            *at = if wins { l as i32 } else { *at };
        }
    }
    at
}

struct Winners<T, const LARGEST: bool>(PhantomData<T>);

impl<T: Item<Value: Ordered>, const LARGEST: bool> Source for Winners<T, LARGEST> {
    type Args = Final;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(f: Final) {
        // SAFETY: `width` bests with their positions on both sides, all apart.
        let (best, at, later, later_at) = unsafe {
            (
                std::slice::from_raw_parts_mut(f.best.cast::<T>(), f.width),
                std::slice::from_raw_parts_mut(f.at, f.width),
                std::slice::from_raw_parts(f.later.cast::<T>(), f.width),
                std::slice::from_raw_parts(f.later_at, f.width),
            )
        };
        for ((best, at), (x, x_at)) in best.iter_mut().zip(at).zip(later.iter().zip(later_at)) {
            let wins = beats::<_, LARGEST>(x.load(), best.load());
            *best = if wins { *x } else { *best };
            *at = if wins { *x_at } else { *at };
        }
    }
}

/// The comparisons for a dtype.
///
/// # Errors
/// A sentence for complex dtypes.
pub fn position_fns(largest: bool, dtype: DType, tier: Tier) -> Result<PositionFns, String> {
    fn fns<T: Item<Value: Ordered>, const LARGEST: bool>(tier: Tier) -> PositionFns {
        let (elements, winners) = (compiled::<First<T, LARGEST>>(tier), compiled::<Winners<T, LARGEST>>(tier));
        PositionFns { elements, winners, short: compiled::<ShortFirst<T, LARGEST>>(tier), size: size_of::<T>() }
    }
    ordered!(dtype, T => Ok(if largest { fns::<T, true>(tier) } else { fns::<T, false>(tier) }),
        else Err(format!("{dtype} has no order")))
}

/// The contest being held.
pub struct Positions {
    fns: PositionFns,
    width: usize,
    position: usize,
    /// The row of the extent it began with.
    first: usize,
    memory: Scratch,
}

impl Positions {
    /// For `width` outputs side by side.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn new(fns: PositionFns, width: usize) -> Result<Positions> {
        let bytes = Positions::bytes(fns, width);
        let memory = Scratch::take(bytes)?;
        // Bests are compared only after the first row has been stored over them, but they must be readable values.
        // SAFETY: the memory has that many bytes.
        unsafe { std::ptr::write_bytes(memory.as_ptr(), 0, bytes) };
        Ok(Positions { fns, width, position: 0, first: 0, memory })
    }

    /// Bytes of bests and positions, a multiple of those of either.
    fn bytes(fns: PositionFns, width: usize) -> usize {
        (Positions::positions(fns, width) + width * size_of::<i32>()).next_multiple_of(16)
    }

    /// Where positions lie: behind the bests, whose total size may be odd.
    fn positions(fns: PositionFns, width: usize) -> usize {
        (width * fns.size).next_multiple_of(size_of::<i32>())
    }

    fn at(&self) -> *mut i32 {
        self.memory.as_ptr().wrapping_add(Positions::positions(self.fns, self.width)).cast()
    }

    /// Begins anew, at a row of the extent.
    fn restart(&mut self, row: usize) {
        (self.position, self.first) = (row * self.width, row);
    }

    /// Takes the winners of a later part of the extent.
    ///
    /// # Safety
    /// They are at `winners` as they are in a contest's memory.
    unsafe fn meet(&mut self, winners: *const u8) {
        let later_at = winners.wrapping_add(Positions::positions(self.fns, self.width)).cast();
        let (best, at, width) = (self.memory.as_ptr(), self.at(), self.width);
        // SAFETY: by the contract above.
        unsafe { (self.fns.winners)(Final { best, at, later: winners, later_at, width }) };
    }
}

impl Accumulate for Positions {
    unsafe fn feed(&mut self, src: *const u8, len: usize) {
        let (best, at, position, width, first) = (self.memory.as_ptr(), self.at(), self.position, self.width, self.first);
        // SAFETY: the caller's elements, and this value's own memory.
        unsafe { (self.fns.elements)(Contest { best, at, src, len, position, width, first }) };
        self.position += len;
    }

    unsafe fn finish(&mut self, out: *mut u8) {
        // SAFETY: `out` has room for `width` int32.
        unsafe { std::ptr::copy_nonoverlapping(self.at().cast::<u8>(), out, self.width * size_of::<i32>()) };
        self.restart(0);
    }
}

// Outputs from which threads have enough to do without sharing one's extent.
const MANY: usize = 64;

impl ReduceLaunch<'_> {
    /// Whether there are few outputs of many elements.
    pub(super) fn has_long_contests(&self, walk: &Walk) -> bool {
        walk.items < MANY && self.extent * walk.width >= 2 * CHUNK
    }

    /// The winners of chunks of each extent, then the winners among them.
    pub(super) fn walk_contests(&self, walk: &Walk, pre: &Bound, post: &Bound, fns: PositionFns, nanos: f64) -> Result<()> {
        let (run, length) = (self.extent * walk.width, CHUNK.div_ceil(walk.width));
        let (chunks, bytes) = (self.extent.div_ceil(length), Positions::bytes(fns, walk.width));
        let size = (walk.items * chunks).checked_mul(bytes);
        let size = size.ok_or_else(|| Error::out_of_memory("the winners of a reduction do not fit into memory"))?;
        let winners = CpuBuffer::new(size, self.context.account)?;
        let winners_of = |unit: usize| winners.as_ptr().wrapping_add(unit * bytes);
        parallel_for(walk.items * chunks, nanos * length as f64, &|units| {
            let mut contest = Positions::new(fns, walk.width)?;
            let mut frame = Frame::new(pre, self.kernel.pre.tile)?;
            for unit in units {
                let (start, row) = (unit / chunks * run, unit % chunks * length);
                let rows = start + row * walk.width..start + self.extent.min(row + length) * walk.width;
                contest.restart(row);
                self.feed(pre, &mut frame, rows, usize::MAX, from_mut(&mut contest), |_| {});
                // SAFETY: each unit has its own place.
                unsafe { std::ptr::copy_nonoverlapping(contest.memory.as_ptr(), winners_of(unit), bytes) };
            }
            Ok(())
        })?;
        let mut contest = Positions::new(fns, walk.width)?;
        let mut outbox = Outbox::new(self, post)?;
        for item in 0..walk.items {
            // SAFETY: the winners were written above.
            unsafe {
                std::ptr::copy_nonoverlapping(winners_of(item * chunks), contest.memory.as_ptr(), bytes);
                (item * chunks + 1..(item + 1) * chunks).for_each(|unit| contest.meet(winners_of(unit)));
            }
            outbox.finish(from_mut(&mut contest), walk.output(item), walk.width);
        }
        outbox.flush();
        Ok(())
    }
}

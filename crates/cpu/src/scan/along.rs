//! The loops of scans: rows or blocks of a row side by side, and one row from any place on.

use crate::cache::{LINE, prefetch};
use crate::map::squares::{are_turned, turn};
use crate::map::tile::Binary;
use crate::tier::Source;
use std::marker::PhantomData;

/// Rows or blocks gone along together: each element waits for the one before it, so four of them take the time of one. With more, of
/// powers of two elements, what is read has the low address bits of what another row's result was just written to, and waits for that.
const SIDE: usize = 4;

/// The most that go together: where elements are turned in registers, as many as a line of the cache has of 4 bytes.
pub const MOST: usize = 16;

/// Squares that are fetched ahead.
const AHEAD: usize = 4;

/// Rows of `len` elements, one after the other at `src`; their running values go to `out`, or the last ones only.
pub struct Beside {
    pub src: *const u8,
    pub out: *mut u8,
    pub rows: usize,
    pub len: usize,
}

/// Elements `at..at + len` of a row of `row`, or of it and the rows behind it.
pub struct Along {
    pub src: *const u8,
    pub out: *mut u8,
    pub len: usize,
    pub at: usize,
    pub row: usize,
    /// Elements of a block.
    pub block: usize,
    pub state: *mut State,
}

/// What a row has come to: elements of at most 16 bytes.
#[derive(Default)]
#[repr(C, align(16))]
pub struct State {
    /// The running value of the block that was left unfinished.
    running: [u64; 2],
    /// What the last whole block ended with.
    before: [u64; 2],
}

impl State {
    /// Where the running value lies.
    pub fn running(&mut self) -> *mut u8 {
        self.running.as_mut_ptr().cast()
    }

    /// Where the end of the last whole block lies.
    pub fn before(&mut self) -> *mut u8 {
        self.before.as_mut_ptr().cast()
    }
}

/// `N` rows of `len` elements each, at least one.
///
/// # Safety
/// The rows exist, with room for their results, apart from them.
#[inline(always)]
unsafe fn chains<F: Binary<T, T>, T: Copy, const N: usize>(src: *const T, out: *mut T, len: usize) {
    // SAFETY: by the contract above.
    unsafe {
        let mut running: [T; N] = std::array::from_fn(|r| *src.add(r * len));
        (0..N).for_each(|r| *out.add(r * len) = running[r]);
        for i in 1..len {
            for (r, running) in running.iter_mut().enumerate() {
                *running = F::apply(*running, *src.add(r * len + i));
                *out.add(r * len + i) = *running;
            }
        }
    }
}

#[repr(align(64))]
struct Square<T, const N: usize>([[T; N]; N]);

/// `N` rows of `len` elements each, a multiple of `N`: squares of them are turned, so that one instruction takes a step in each row
/// (10^6 float32 on two Golden Cove cores: 0.23 ms instead of 0.40). All running values go to `out`, the last ones to `ends`, if anywhere.
///
/// # Safety
/// As [`chains`]; a line of the cache has `N` elements, and `len` is not 0.
#[inline(always)]
unsafe fn turned<F: Binary<T, T>, T: Copy, const N: usize>(
    src: *const T,
    len: usize,
    out: Option<*mut T>,
    ends: Option<*mut T>,
) {
    // SAFETY: by the contract above; a square has a line for each of `N` elements.
    unsafe {
        let (mut square, mut running) = (Square([[*src; N]; N]), [*src; N]);
        let inside = (square.0.as_mut_ptr().cast::<T>(), N as isize);
        for at in (0..len).step_by(N) {
            // In these rows, or in as many behind them: no processor follows so many at a time by itself.
            let ahead = if at + AHEAD * N < len { at + AHEAD * N } else { at + AHEAD * N + (N - 1) * len };
            for row in 0..N {
                prefetch(src.wrapping_add(ahead + row * len).cast());
            }
            turn((src.add(at).cast_mut(), len as isize), inside, false);
            for (n, steps) in square.0.iter_mut().enumerate() {
                if at + n == 0 {
                    running = *steps;
                } else {
                    for (value, &x) in running.iter_mut().zip(&*steps) {
                        *value = F::apply(*value, x);
                    }
                }
                *steps = running;
            }
            if let Some(out) = out {
                turn(inside, (out.add(at), len as isize), false);
            }
        }
        if let Some(ends) = ends {
            ends.cast::<[T; N]>().write_unaligned(running);
        }
    }
}

/// The same with as many rows as a line of the cache has elements, if there are so many; how many that were.
///
/// # Safety
/// As [`chains`], with room where results go.
#[inline(always)]
unsafe fn a_square<F: Binary<T, T>, T: Copy>(
    src: *const T,
    len: usize,
    rows: usize,
    out: Option<*mut T>,
    ends: Option<*mut T>,
) -> Option<usize> {
    let edge = LINE / size_of::<T>();
    if !are_turned(size_of::<T>()) || rows < edge || !len.is_multiple_of(edge) {
        return None;
    }
    // SAFETY: as the caller promises.
    unsafe {
        match edge {
            16 => turned::<F, T, 16>(src, len, out, ends),
            _ => turned::<F, T, 8>(src, len, out, ends),
        }
    }
    Some(edge)
}

/// As many of `rows` as go together, at most [`MOST`]; how many that were.
///
/// # Safety
/// As [`chains`], `len` elements from one row to the next.
#[inline(always)]
unsafe fn some<F: Binary<T, T>, T: Copy>(src: *const T, out: *mut T, len: usize, rows: usize) -> usize {
    // SAFETY: by the contract above.
    unsafe {
        if let Some(count) = a_square::<F, T>(src, len, rows, Some(out), None) {
            return count;
        }
        match rows {
            1 => chains::<F, T, 1>(src, out, len),
            2..SIDE => chains::<F, T, 2>(src, out, len),
            _ => chains::<F, T, SIDE>(src, out, len),
        }
    }
    SIDE.min(1 << rows.ilog2())
}

/// Loop over [`Beside`].
pub struct Rows<F, T>(PhantomData<(F, T)>);

impl<F: Binary<T, T>, T: Copy> Source for Rows<F, T> {
    type Args = Beside;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(b: Beside) {
        let mut row = 0;
        while row < b.rows {
            let at = row * b.len;
            // SAFETY: the contract of `Beside`.
            row += unsafe { some::<F, T>(b.src.cast::<T>().add(at), b.out.cast::<T>().add(at), b.len, b.rows - row) };
        }
    }
}

/// Loop over [`Beside`] for the last running values only.
pub struct Ends<F, T>(PhantomData<(F, T)>);

impl<F: Binary<T, T>, T: Copy> Source for Ends<F, T> {
    type Args = Beside;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(b: Beside) {
        let mut row = 0;
        while row < b.rows {
            // SAFETY: the contract of `Beside`.
            unsafe {
                let (src, out) = (b.src.cast::<T>().add(row * b.len), b.out.cast::<T>().add(row));
                row += a_square::<F, T>(src, b.len, b.rows - row, None, Some(out)).unwrap_or_else(|| {
                    let values = std::slice::from_raw_parts(src, b.len);
                    *out = values[1..].iter().fold(values[0], |value, &x| F::apply(value, x));
                    1
                });
            }
        }
    }
}

/// Loop over [`Along`].
pub struct Row<F, T>(PhantomData<(F, T)>);

impl<F: Binary<T, T>, T: Copy> Source for Row<F, T> {
    type Args = Along;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(a: Along) {
        let (src, out) = (a.src.cast::<T>(), a.out.cast::<T>());
        let mut done = 0;
        while done < a.len {
            let place = (a.at + done) % a.row;
            // Blocks that fill rows lie one after the other, whichever row they are of.
            let left = if a.row.is_multiple_of(a.block) { a.len - done } else { (a.len - done).min(a.row - place) };
            let inside = place % a.block;
            // SAFETY: the contract of `Along`; a state holds an element of at most 16 bytes, which was written where it is read.
            unsafe {
                let (src, out) = (src.add(done), out.add(done));
                let (running, before) = ((*a.state).running().cast::<T>(), (*a.state).before().cast::<T>());
                if inside == 0 && left >= a.block {
                    let blocks = some::<F, T>(src, out, a.block, left / a.block);
                    for n in 0..blocks {
                        let block = std::slice::from_raw_parts_mut(out.add(n * a.block), a.block);
                        if !(place + n * a.block).is_multiple_of(a.row) {
                            after::<F, T>(*before, block);
                        }
                        *before = block[a.block - 1];
                    }
                    done += blocks * a.block;
                    continue;
                }
                let count = left.min(a.block - inside);
                let mut value = if inside == 0 { *src } else { F::apply(*running, *src) };
                *out = value;
                for i in 1..count {
                    value = F::apply(value, *src.add(i));
                    *out.add(i) = value;
                }
                *running = value;
                if place >= a.block {
                    after::<F, T>(*before, std::slice::from_raw_parts_mut(out, count));
                }
                if inside + count == a.block {
                    *before = *out.add(count - 1);
                }
                done += count;
            }
        }
    }
}

/// What stands before a block, combined with its running values.
#[inline(always)]
fn after<F: Binary<T, T>, T: Copy>(before: T, values: &mut [T]) {
    values.iter_mut().for_each(|value| *value = F::apply(before, *value));
}

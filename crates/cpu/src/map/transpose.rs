//! Copies between operands whose nearest neighbours lie along different axes: transposes, and what the tile machine would
//! otherwise collect one cache line an element.

use super::squares;
use super::table::by_size;
use crate::cache::{self, LINE};
use crate::launch::{Context, Slot};
use crate::memory::CpuBuffer;
use crate::parallel::parallel_for;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::layout::{Layout, Loops, coalesce};
use std::sync::atomic::Ordering;

// Below, everything stays in the second-level cache and the tile machine is as fast.
// Miri, which interprets hundreds of elements at most, gets here all the same.
const FROM_ELEMENTS: usize = if cfg!(miri) { 1 << 8 } else { 1 << 15 };
// Along the target's neighbours, and along the source's: of 16 x 3168 to 3168 x 16 the fastest for 40 MB of float32 (1.1 ms; 256
// x 256 1.5, 1024 x 64 2.7).
const PANEL: [usize; 2] = [64, 1024];
// Squares whose lines are fetched ahead: 1.1 ms, with one 1.3, with none 1.6.
const AHEAD: usize = 3;

/// Whether collecting an operand of these dims row by row would touch a cache line for each element while its neighbours lie
/// along another axis.
pub fn is_turned(layout: &Layout, size: usize) -> bool {
    let axes = || layout.dims().iter().zip(layout.strides()).filter(|&(&d, &s)| d > 1 && s != 0);
    let Some((&length, inner)) = axes().next_back().map(|(d, s)| (d, s.unsigned_abs())) else { return false };
    layout.len() >= FROM_ELEMENTS
        && length >= 16
        && inner * size >= LINE
        && axes().any(|(&d, &s)| d >= 16 && s.unsigned_abs() < inner)
}

/// One operand's place in a panel.
#[derive(Clone, Copy)]
struct Side {
    start: *mut u8,
    /// Strides along the two axes of the panel.
    steps: [isize; 2],
}

// SAFETY: panels are disjoint, and each is copied by one thread.
unsafe impl Sync for Side {}

/// Copies `from` to `to`, of one shape, elements of `size` bytes, panel by panel.
///
/// # Safety
/// The layouts lie inside their buffers, and `to` overlaps nothing.
///
/// # Errors
/// None of its own.
pub unsafe fn copy(from: Slot, to: Slot, size: usize, context: &Context) -> Result<()> {
    let loops = coalesce(&[from.0, to.0]);
    let Loops { dims, strides } = &loops;
    let nearest = |n: usize| {
        (0..dims.len()).filter(|&a| dims[a] > 1 && strides[n][a] != 0).min_by_key(|&a| strides[n][a].unsigned_abs())
    };
    let rows = nearest(1).unwrap_or(0);
    let columns = nearest(0).filter(|&c| c != rows);
    // Without a second axis a panel is one element wide.
    let axis = |n: usize, a: Option<usize>| a.map_or(0, |a| strides[n][a]);
    let lengths = [dims.get(rows).copied().unwrap_or(1), columns.map_or(1, |c| dims[c])];
    let sides = [(0, from), (1, to)].map(|(n, (layout, start))| Side {
        start: start.wrapping_add(layout.offset() * size),
        steps: [if dims.is_empty() { 0 } else { strides[n][rows] }, axis(n, columns)],
    });
    let panels = [0, 1].map(|n| lengths[n].div_ceil(PANEL[n]));
    let others: Vec<usize> = (0..dims.len()).filter(|&a| a != rows && Some(a) != columns).collect();
    let outer: usize = others.iter().map(|&a| dims[a]).product();
    let sides = &sides;
    let past = 2 * size * to.0.len() > cache::past();
    parallel_for(outer * panels[0] * panels[1], (PANEL[0] * PANEL[1] * size) as f64 * 0.1, &|units| {
        for unit in units {
            if context.abandoned.load(Ordering::Relaxed) {
                break;
            }
            let first = [unit / panels[1] % panels[0] * PANEL[0], unit % panels[1] * PANEL[1]];
            let count = [0, 1].map(|n| PANEL[n].min(lengths[n] - first[n]));
            let mut rest = unit / (panels[0] * panels[1]);
            let mut at = sides.map(|s| first[0] as isize * s.steps[0] + first[1] as isize * s.steps[1]);
            for &a in others.iter().rev() {
                for (at, strides) in at.iter_mut().zip(strides) {
                    *at += (rest % dims[a]) as isize * strides[a];
                }
                rest /= dims[a];
            }
            let [from, to] =
                [0, 1].map(|n| Side { start: sides[n].start.wrapping_offset(at[n] * size as isize), ..sides[n] });
            // SAFETY: the panel lies inside both layouts, and is this thread's.
            by_size!(size, T => unsafe { panel::<T>(from, to, count, past) });
        }
        if past {
            cache::fence();
        }
        Ok(())
    })
}

/// A dense copy of an operand whose rows lie across memory, for who goes along them: one more pass, but whole cache lines. Nothing for
/// others.
///
/// # Safety
/// As [`dense`].
///
/// # Errors
/// As [`dense`].
pub unsafe fn straightened(from: Slot, size: usize, context: &Context) -> Result<Option<(CpuBuffer, Layout)>> {
    // SAFETY: by the contract above.
    is_turned(from.0, size).then(|| unsafe { dense(from, size, context) }).transpose()
}

/// A dense copy of an operand with elements of `size` bytes.
///
/// # Safety
/// The layout lies inside its buffer.
///
/// # Errors
/// `Code::OutOfMemory`.
pub unsafe fn dense(from: Slot, size: usize, context: &Context) -> Result<(CpuBuffer, Layout)> {
    let bytes = from.0.len().checked_mul(size).ok_or_else(|| Error::out_of_memory("an operand too large to copy"))?;
    let (buffer, layout) = (CpuBuffer::new(bytes, context.account)?, Layout::dense(from.0.dims())?);
    // SAFETY: the buffer has room for every element; the rest by the contract above.
    unsafe { copy(from, (&layout, buffer.as_ptr()), size, context)? };
    Ok((buffer, layout))
}

/// Copies a panel in squares one cache line wide on either side; `past`: results may go past the caches.
///
/// # Safety
/// As [`copy`], for the panel's elements.
unsafe fn panel<T: Copy>(from: Side, to: Side, count: [usize; 2], past: bool) {
    let square = (LINE / size_of::<T>()).max(8);
    let crosses = from.steps[1] == 1 && to.steps[0] == 1 && squares::are_turned(size_of::<T>());
    // Lines that are not written whole are better left to the caches.
    let whole = [to.start as usize, to.steps[1].unsigned_abs() * size_of::<T>()].iter().all(|b| b.is_multiple_of(LINE));
    for i0 in (0..count[0]).step_by(square) {
        for j0 in (0..count[1]).step_by(square) {
            let at = |s: Side, i: usize, j: usize| {
                s.start.cast::<T>().wrapping_offset(i as isize * s.steps[0] + j as isize * s.steps[1])
            };
            if crosses && i0 + square <= count[0] && j0 + square <= count[1] {
                (0..square).for_each(|i| cache::prefetch(at(from, i0 + i, j0 + AHEAD * square).cast()));
                let (from, to) = ((at(from, i0, j0), from.steps[0]), (at(to, i0, j0), to.steps[1]));
                // SAFETY: by the contract above, and `to` is aligned where lines are whole: a square begins where one does.
                unsafe { squares::turn(from, to, past && whole) };
                continue;
            }
            for j in j0..(j0 + square).min(count[1]) {
                for i in i0..(i0 + square).min(count[0]) {
                    // SAFETY: by the contract above.
                    unsafe { *at(to, i, j) = *at(from, i, j) };
                }
            }
        }
    }
}

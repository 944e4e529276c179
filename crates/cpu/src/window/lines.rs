//! Largest and smallest of windows, for which any order of combining gives the same: the lines that a row of windows shows become one,
//! and then its places next to each other. Every element is read where it lies, and combined once for each window it meets along the
//! axes before the last, instead of once for each place: 9 places of windows of 3 x 3 take 4 steps.

use super::phases::{BLOCK, Phases};
use crate::map::tile::Binary;
use crate::tier::Source;
use std::marker::PhantomData;

/// A plane of data, whose neighbours along the last axis are neighbours in memory, and its windows, likewise.
pub struct PlaneLines {
    pub phases: *const Phases,
    /// Windows along each axis.
    pub counts: *const usize,
    /// The first element, and from one to the next along each axis.
    pub from: *const u8,
    pub strides: *const isize,
    /// The same of the results.
    pub out: *mut u8,
    pub out_strides: *const isize,
    /// Room for [`Phases::line_room`] elements.
    pub room: *mut u8,
    /// What lies outside the data.
    pub outside: *const u8,
    /// Whether an element was in doubt: then nothing was written.
    pub found: *mut bool,
}

/// Combines the places of each window by `F`.
///
/// Its contract: data and results have every element, apart from each other and from the room, and lines of both have [`BLOCK`].
pub struct Lines<F, T>(PhantomData<(F, T)>);

type Block<T> = [T; BLOCK];

/// Where blocks of a line begin: the last one ends where the line does.
#[inline(always)]
fn blocks(len: usize) -> impl Iterator<Item = usize> {
    (0..len.div_ceil(BLOCK)).map(move |b| (b * BLOCK).min(len - BLOCK))
}

/// # Safety
/// There is a block at `from`.
#[inline(always)]
unsafe fn load<T>(from: *const T) -> Block<T> {
    // SAFETY: by the contract above.
    unsafe { from.cast::<Block<T>>().read_unaligned() }
}

impl<F: Binary<T, T>, T: Copy> Lines<F, T> {
    #[inline(always)]
    fn meet(x: &mut Block<T>, y: Block<T>) {
        for (x, y) in x.iter_mut().zip(y) {
            *x = F::quick(*x, y);
        }
    }
}

/// Calls `each` with the digits of every number of so many digits of these sizes.
#[inline(always)]
fn odometer<const N: usize>(sizes: &[usize], mut each: impl FnMut(&[usize; N])) {
    let total: usize = sizes.iter().product();
    let mut digits = [0; N];
    for _ in 0..total {
        each(&digits);
        for (digit, &size) in digits.iter_mut().zip(sizes).rev() {
            *digit += 1;
            if *digit < size {
                break;
            }
            *digit = 0;
        }
    }
}

/// Axes before the last one, at most.
pub const OUTER: usize = 3;
/// Places of the largest windows: 8 x 8. Means of 5 x 5 places as views that were reduced took 12 times as long (1080 x 1920, stride 1).
pub const MOST_PLACES: usize = 64;

impl<F: Binary<T, T>, T: Copy> Source for Lines<F, T> {
    type Args = PlaneLines;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(p: PlaneLines) {
        // SAFETY: by the contract above.
        let phases = unsafe { &*p.phases };
        let outer = phases.axes.len() - 1;
        let last = &phases.axes[outer];
        let (window, width) = (last.window, phases.shown());
        // SAFETY: as many counts and strides as axes, and an element.
        let (counts, strides, out_strides, outside) = unsafe {
            (
                std::slice::from_raw_parts(p.counts, outer + 1),
                std::slice::from_raw_parts(p.strides, outer),
                std::slice::from_raw_parts(p.out_strides, outer),
                *p.outside.cast::<T>(),
            )
        };
        let (from, out, line) = (p.from.cast::<T>(), p.out.cast::<T>(), p.room.cast::<T>());
        let mut sizes = [0; OUTER];
        let place = |steps: &[isize], digits: &[usize; OUTER]| {
            steps.iter().zip(digits).map(|(&step, &digit)| step * digit as isize).sum::<isize>()
        };
        sizes.iter_mut().zip(&phases.axes[..outer]).for_each(|(size, axis)| *size = axis.len);
        // Lines that follow each other are looked at as one.
        let dense = outer > 0 && strides[outer - 1] == last.len as isize;
        let length = if dense { std::mem::replace(&mut sizes[outer - 1], 1) * last.len } else { last.len };
        let mut is_doubtful = false;
        odometer(&sizes[..outer], |digits| {
            let line = from.wrapping_offset(place(strides, digits));
            // SAFETY: a line of the data, or all of them that follow each other.
            is_doubtful |= F::any_doubtful(unsafe { std::slice::from_raw_parts(line, length) });
        });
        // SAFETY: the answer's place.
        unsafe { *p.found = is_doubtful };
        if is_doubtful {
            return;
        }
        // The line has what lies outside around the data, and goes on to whole blocks; its elements taken apart lie behind it.
        let (stride, padded) = (window.stride, phases.padded());
        let apart = line.wrapping_add(padded * stride);
        // SAFETY: there is room for it twice.
        unsafe { std::slice::from_raw_parts_mut(line, padded * stride) }.fill(outside);
        sizes.iter_mut().zip(&phases.axes[..outer]).for_each(|(size, axis)| *size = axis.window.size);
        let mut places = [0; MOST_PLACES];
        for (k, place) in places[..window.size].iter_mut().enumerate() {
            *place = k * window.dilation % stride * padded + k * window.dilation / stride;
        }
        // SAFETY: lines are those of the data, of at least a block; the line has room for what is shown of them and for every place of
        // every window, and so has what is taken apart.
        odometer(&counts[..outer], |at: &[usize; OUTER]| unsafe {
            let (mut lines, mut shown) = ([from; MOST_PLACES], 0);
            odometer(&sizes[..outer], |k: &[usize; OUTER]| {
                let mut first = Some(0);
                for (a, (axis, &step)) in phases.axes[..outer].iter().zip(strides).enumerate() {
                    let position = (at[a] * axis.window.stride + k[a] * axis.window.dilation)
                        .checked_sub(axis.window.low)
                        .filter(|&x| x < axis.len);
                    first = first.zip(position).map(|(first, x)| first + x as isize * step);
                }
                if let Some(first) = first {
                    lines[shown] = from.wrapping_offset(first);
                    shown += 1;
                }
            });
            let data = line.add(window.low);
            for x in blocks(width) {
                let mut best = if shown == 0 { [outside; BLOCK] } else { load(lines[0].add(x)) };
                for other in &lines[1..shown.max(1)] {
                    Self::meet(&mut best, load(other.add(x)));
                }
                data.add(x).cast::<Block<T>>().write_unaligned(best);
            }
            match stride {
                1 => {}
                2 => {
                    for x in (0..padded).step_by(BLOCK) {
                        let pairs = line.add(2 * x).cast::<[[T; 2]; BLOCK]>().read_unaligned();
                        apart.add(x).cast::<Block<T>>().write_unaligned(pairs.map(|[x, _]| x));
                        apart.add(padded + x).cast::<Block<T>>().write_unaligned(pairs.map(|[_, x]| x));
                    }
                }
                _ => {
                    for (x, rest) in (0..padded).flat_map(|x| (0..stride).map(move |rest| (x, rest))) {
                        *apart.add(rest * padded + x) = *line.add(x * stride + rest);
                    }
                }
            }
            let first = if stride == 1 { line } else { apart };
            let out = out.wrapping_offset(place(out_strides, at));
            for x in blocks(counts[outer]) {
                let mut best = load(first.add(x));
                for &place in &places[1..window.size] {
                    Self::meet(&mut best, load(first.add(place + x)));
                }
                out.add(x).cast::<Block<T>>().write_unaligned(best);
            }
        });
    }
}

//! Copies of data in which windows side by side show elements side by side: with what lies outside around it, and apart by the remainder
//! that a position leaves when divided by the windows' stride. A place of all windows is then one stretch of memory.

use crate::map::tile::{Copied, Unary};
use crate::tier::Source;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::WindowAxis;
use smallvec::{SmallVec, smallvec};
use std::marker::PhantomData;

/// One axis of the data.
pub struct Axis {
    pub window: WindowAxis,
    /// Positions of the data.
    pub len: usize,
    /// Positions of a phase.
    extent: usize,
    /// The remainders of those that windows show.
    phases: SmallVec<[usize; 3]>,
}

/// How the copy of a plane lies: `[phases...][extents...]`.
pub struct Phases {
    pub axes: SmallVec<[Axis; 3]>,
    /// From a window to the next one along each axis.
    pub steps: SmallVec<[usize; 3]>,
    /// Elements of a phase.
    pub phase: usize,
    /// How many there are.
    pub count: usize,
}

/// A plane to copy.
pub struct Plane<A, R> {
    /// How its copy lies.
    pub phases: *const Phases,
    /// Its first element.
    pub from: *const A,
    /// From an element to the next one along each axis.
    pub strides: *const isize,
    /// Where its copy begins.
    pub to: *mut R,
    /// From a phase of the copy to the next one.
    pub between: usize,
    /// Room for [`Phases::room`] elements.
    pub room: *mut R,
    /// What lies outside the data.
    pub outside: R,
}

/// Copies a [`Plane`], converting by `F`.
///
/// Its contract: the data and the copy have every element, and nobody else writes the copy and the room.
pub struct CopyPlane<F, A, R>(PhantomData<(F, A, R)>);

impl<F: Unary<A, R>, A: Copy, R: Copy> Source for CopyPlane<F, A, R> {
    type Args = Plane<A, R>;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(plane: Plane<A, R>) {
        // SAFETY: by the contract above, here and below.
        let phases = unsafe { &*plane.phases };
        let [outer @ .., last] = &phases.axes[..] else { return };
        let (stride, pitch) = (last.window.stride, last.pitch());
        let coarse = phases.count / last.phases.len();
        for n in 0..coarse {
            // Where there are more phases than one along the last axis, all are copied as they lie and taken apart in one go: lines of
            // networks are shorter than what a loop of registers is worth beginning for.
            let direct = last.is_direct();
            let to = if direct { plane.to.wrapping_add(n * last.phases.len() * plane.between) } else { plane.room };
            let mut rests: SmallVec<[usize; 3]> = smallvec![0; outer.len()];
            let mut number = n;
            for (rest, axis) in rests.iter_mut().zip(outer).rev() {
                *rest = axis.phases[number % axis.phases.len()];
                number /= axis.phases.len();
            }
            let lines: usize = outer.iter().map(|a| a.extent).product();
            for line in 0..lines {
                let (mut number, mut at) = (line, Some(0));
                for (a, axis) in outer.iter().enumerate().rev() {
                    let x = if a == 0 { number } else { number % axis.extent };
                    number /= if a == 0 { 1 } else { axis.extent };
                    let position =
                        (x * axis.window.stride + rests[a]).checked_sub(axis.window.low).filter(|&p| p < axis.len);
                    // SAFETY: as many strides as axes.
                    at = at.zip(position).map(|(at, p)| at + p as isize * unsafe { *plane.strides.add(a) });
                }
                let to = to.wrapping_add(line * pitch);
                let Some(at) = at else {
                    // SAFETY: as above.
                    unsafe { fill(to, pitch, plane.outside) };
                    continue;
                };
                let rest = if direct { last.phases[0] } else { 0 };
                let step = if direct { stride } else { 1 };
                // Position x * step + rest - low is in the data for x from `first` to `end`.
                let first = last.window.low.saturating_sub(rest).div_ceil(step).min(pitch);
                let end = (last.window.low + last.len).saturating_sub(rest).div_ceil(step).clamp(first, pitch);
                // SAFETY: as above.
                unsafe {
                    let stride = *plane.strides.add(outer.len());
                    let begin = (first * step + rest).wrapping_sub(last.window.low) as isize;
                    let from = plane.from.wrapping_offset(at + begin * stride);
                    fill(to, first, plane.outside);
                    stepped::<F, A, R>(from, stride * step as isize, to.add(first), end - first);
                    fill(to.add(end), pitch - end, plane.outside);
                }
            }
            if !direct {
                for (k, &rest) in last.phases.iter().enumerate() {
                    let to = plane.to.wrapping_add((n * last.phases.len() + k) * plane.between);
                    // SAFETY: as above.
                    unsafe { stepped::<Copied, R, R>(plane.room.add(rest), stride as isize, to, phases.phase) };
                }
            }
        }
    }
}

/// # Safety
/// There is room for `len` elements.
#[inline(always)]
unsafe fn fill<R: Copy>(to: *mut R, len: usize, with: R) {
    for i in 0..len {
        // SAFETY: by the contract above.
        unsafe { *to.add(i) = with };
    }
}

/// Elements of a register, about: what a loop is written for.
pub const BLOCK: usize = 16;

/// Copies `len` elements that lie `step` apart.
///
/// # Safety
/// They exist, and there is room for them.
#[inline(always)]
unsafe fn stepped<F: Unary<A, R>, A: Copy, R: Copy>(from: *const A, step: isize, to: *mut R, len: usize) {
    // With steps of 2 a block reads one element behind its last one.
    let whole = if step == 2 { len.saturating_sub(1) } else { len } / BLOCK * BLOCK;
    // SAFETY: by the contract above. Steps of 1 and 2 are written out, and all of a block is read before any is written, which leaves no
    // doubt that they are apart: so registers are loaded and not elements.
    unsafe {
        for at in (0..whole).step_by(BLOCK) {
            let block: [R; BLOCK] = match step {
                1 => from.add(at).cast::<[A; BLOCK]>().read_unaligned().map(F::apply),
                2 => {
                    let pairs = from.add(2 * at).cast::<[[A; 2]; BLOCK]>().read_unaligned();
                    pairs.map(|[x, _]| F::apply(x))
                }
                _ => std::array::from_fn(|i| F::apply(*from.offset((at + i) as isize * step))),
            };
            to.add(at).cast::<[R; BLOCK]>().write_unaligned(block);
        }
        (whole..len).for_each(|i| *to.add(i) = F::apply(*from.offset(i as isize * step)));
    }
}

/// Too large for any memory.
pub fn too_large() -> Error {
    Error::out_of_memory("windows of more data than memory holds")
}

/// The product of sizes.
///
/// # Errors
/// `Code::OutOfMemory` where it has none.
pub fn volume(sizes: impl IntoIterator<Item = usize>) -> Result<usize> {
    sizes.into_iter().try_fold(1usize, usize::checked_mul).filter(|&n| n <= isize::MAX as usize / 16).ok_or_else(too_large)
}

impl Phases {
    /// For so many windows over data of these lengths; there is at least one window along each axis.
    ///
    /// # Errors
    /// `Code::OutOfMemory` where a plane is too large.
    pub fn new(windows: &[WindowAxis], counts: &[usize], lengths: &[usize]) -> Result<Phases> {
        let mut axes: SmallVec<[Axis; 3]> = SmallVec::new();
        for ((&window, &count), &len) in windows.iter().zip(counts).zip(lengths) {
            let WindowAxis { size, stride, dilation, .. } = window;
            let last = (size - 1).checked_mul(dilation).ok_or_else(too_large)?;
            let mut phases: SmallVec<[usize; 3]> = SmallVec::new();
            for place in 0..size {
                let rest = place * dilation % stride;
                // Remainders come again after a while.
                if place > 0 && rest == 0 {
                    break;
                }
                phases.push(rest);
            }
            let extent = (last / stride).checked_add(count).ok_or_else(too_large)?;
            axes.push(Axis { window, len, extent, phases });
        }
        let phase = volume(axes.iter().map(|a| a.extent))?;
        let count = volume(axes.iter().map(|a| a.phases.len()))?;
        volume([phase, count])?;
        let mut steps: SmallVec<[usize; 3]> = smallvec![1; axes.len()];
        for a in (1..axes.len()).rev() {
            steps[a - 1] = steps[a] * axes[a].extent;
        }
        Ok(Phases { axes, steps, phase, count })
    }

    /// Where the first window's places lie, in row-major order: in which phase, and where there.
    pub fn places(&self) -> Vec<(usize, usize)> {
        let mut places = vec![(0, 0)];
        for (axis, &step) in self.axes.iter().zip(&self.steps) {
            let WindowAxis { size, stride, dilation, .. } = axis.window;
            let of_axis = |k: usize| (k % axis.phases.len(), k * dilation / stride * step);
            places = places
                .iter()
                .flat_map(|&(phase, at)| {
                    (0..size).map(of_axis).map(move |(p, more)| (phase * axis.phases.len() + p, at + more))
                })
                .collect();
        }
        places
    }

    /// Elements of a line of data that its windows show.
    #[inline(always)]
    pub fn shown(&self) -> usize {
        self.axes.last().map_or(0, |last| last.len.min((last.extent * last.window.stride).saturating_sub(last.window.low)))
    }

    /// Elements of each phase of a line, in whole blocks.
    #[inline(always)]
    pub fn padded(&self) -> usize {
        self.axes.last().map_or(0, |last| last.extent.next_multiple_of(BLOCK))
    }

    /// Elements of the room that meeting lines needs.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn line_room(&self) -> Result<usize> {
        volume([2, self.padded(), self.axes.last().map_or(1, |last| last.window.stride)])
    }

    /// Elements of the room that copying a plane needs.
    pub fn room(&self) -> usize {
        self.axes.last().filter(|a| !a.is_direct()).map_or(0, |last| self.phase * last.window.stride)
    }
}

impl Axis {
    /// Whether the only phase along the last axis is copied at once.
    #[inline(always)]
    fn is_direct(&self) -> bool {
        self.phases.len() == 1
    }

    /// Elements of a line before it is taken apart.
    #[inline(always)]
    fn pitch(&self) -> usize {
        if self.is_direct() { self.extent } else { self.extent * self.window.stride }
    }
}

/// Elements from the first window to the last one, both counted, and with what lies between rows of windows: `counts` along each axis,
/// `steps` apart, at least one.
pub fn stretch(steps: &[usize], counts: &[usize]) -> usize {
    1 + steps.iter().zip(counts).map(|(step, count)| step * (count - 1)).sum::<usize>()
}

/// Neighbouring windows of a stretch that exist: those between the end of a row and the next one's beginning do not.
#[derive(Clone, Copy)]
pub struct Run {
    /// The first one's number in the stretch.
    pub at: usize,
    /// How many.
    pub count: usize,
    /// The first one's place among all windows, in row-major order.
    pub window: usize,
}

/// Calls `each` for the windows among `at..end` of a stretch: `counts` windows along each axis, `steps` apart.
pub fn runs(steps: &[usize], counts: &[usize], at: usize, end: usize, mut each: impl FnMut(Run)) {
    let mut at = at;
    while at < end {
        // Digits of a number whose digits have room to spare: a digit without a window ends its row.
        let (mut rest, mut window, mut skipped) = (at, 0, None);
        for (a, (&step, &count)) in steps.iter().zip(counts).enumerate() {
            let digit = rest / step;
            if digit >= count {
                // To the next position of the axis before.
                skipped = Some(a.checked_sub(1).map_or(end, |b| at - rest + steps[b]));
                break;
            }
            rest %= step;
            window = window * count + digit;
        }
        match skipped {
            Some(next) => at = next,
            None => {
                let count = (counts[counts.len() - 1] - window % counts[counts.len() - 1]).min(end - at);
                each(Run { at, count, window });
                at += count;
            }
        }
    }
}

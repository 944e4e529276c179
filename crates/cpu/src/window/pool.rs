//! Poolings: each place of all windows is a stretch of memory, and stretches are combined in pairs, in the order of the reduction tree.

use super::lines::{Lines, MOST_PLACES, OUTER, PlaneLines};
use super::phases::{BLOCK, CopyPlane, Phases, Plane, runs, stretch, volume};
use crate::indices::leading;
use crate::launch::{Context, Run, Slot, Slots};
use crate::map::table::{by_monoid, by_size, ordered};
use crate::map::tile::{self, Binary, Copied, Map2, Tile, TileFn};
use crate::parallel::parallel_for;
use crate::scratch::Scratch;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::DType;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::{Monoid, Window, WindowAxis, tree};
use ferrotensor_core::scalar::literal_bits;
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;

/// Bytes of planes that a thread copies at a time: they stay in its second-level cache.
const GROUP_BYTES: usize = 256 << 10;
/// Bytes of a stretch: those of all pairs stay in the first-level cache.
const STRETCH_BYTES: usize = 4096;

/// What a pair is made of.
#[derive(Clone, Copy)]
enum Part {
    Place(usize),
    /// The stretch that holds an earlier pair.
    Stretch(usize),
}

/// Two parts that are combined.
struct Pair {
    of: [Part; 2],
    /// The stretch that takes the result, none of the parts.
    to: usize,
}

/// A compiled pooling.
pub struct PoolKernel {
    axes: Vec<WindowAxis>,
    /// Bytes of an element.
    size: usize,
    /// The identity's bytes.
    outside: [u64; 2],
    tier: Tier,
    combine: TileFn,
    /// The same in fewer steps, where nothing is in doubt.
    quick: TileFn,
    doubt: unsafe fn(Doubt),
    /// A plane line by line, where the order of combining does not matter.
    lines: Option<unsafe fn(PlaneLines)>,
    /// Pairs, each after those it is made of; the last one is the result.
    pairs: Vec<Pair>,
    /// Stretches that hold them.
    stretches: usize,
}

/// Compiles a pooling.
///
/// # Errors
/// Where the monoid is not defined for the dtype, and for windows that [`crate::reduce`] does as well.
pub fn prepare(kernel: &Window, monoid: Monoid, tier: Tier) -> Result<Box<dyn Run>, String> {
    let places = kernel.axes.iter().map(|a| a.size).fold(1, usize::saturating_mul);
    if !(2..=MOST_PLACES).contains(&places) {
        return Err(format!("windows of {places} places are views that are reduced"));
    }
    let (combine, quick, doubt) = by_monoid!(monoid, kernel.dtype, F, T => {
        let doubt = compiled::<Doubtful<F, T>>(tier);
        (compiled::<Map2<F, T, T>>(tier), compiled::<Map2<Quick<F>, T, T>>(tier), doubt)
    })?;
    let Tree { pairs, stretches, .. } = Tree::over(places);
    let lines = ordered!(kernel.dtype, T => match monoid {
        Monoid::Max => Some(compiled::<Lines<tile::Max, T>>(tier) as unsafe fn(PlaneLines)),
        Monoid::Min => Some(compiled::<Lines<tile::Min, T>>(tier) as unsafe fn(PlaneLines)),
        _ => None,
    }, else None);
    Ok(Box::new(PoolKernel {
        axes: kernel.axes.clone(),
        size: kernel.dtype.bytes(),
        outside: identity(monoid, kernel.dtype),
        tier,
        combine,
        quick,
        doubt,
        lines: lines.filter(|_| kernel.axes.len() <= OUTER + 1),
        pairs,
        stretches,
    }))
}

/// A [`Binary`] by its shorter way.
struct Quick<F>(PhantomData<F>);

impl<F: Binary<T, T>, T> Binary<T, T> for Quick<F> {
    #[inline(always)]
    fn apply(x: T, y: T) -> T {
        F::quick(x, y)
    }
}

/// Elements that are looked at, and whether any is in doubt.
struct Doubt {
    from: *const u8,
    len: usize,
    found: *mut bool,
}

/// Looks for elements for which the shorter way of `F` may be wrong.
struct Doubtful<F, T>(PhantomData<(F, T)>);

impl<F: Binary<T, T>, T: Copy> Source for Doubtful<F, T> {
    type Args = Doubt;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(Doubt { from, len, found }: Doubt) {
        // SAFETY: the elements exist, and so does the answer's place.
        unsafe { *found = F::any_doubtful(std::slice::from_raw_parts(from.cast::<T>(), len)) };
    }
}

/// The tree over the places of a window, depth first: 25 places take 5 stretches of memory, which stay in the first-level cache.
#[derive(Default)]
struct Tree {
    pairs: Vec<Pair>,
    /// Stretches so far, and those that nothing needs any more.
    stretches: usize,
    free: Vec<usize>,
}

impl Tree {
    fn over(places: usize) -> Tree {
        let mut tree = Tree::default();
        tree.lane(0, 1, places);
        tree
    }

    /// A lane after lanes from `width` on have been folded into those before.
    fn lane(&mut self, lane: usize, width: usize, places: usize) -> Part {
        if width == tree::LANES {
            let rows = (lane..places).step_by(tree::LANES).map(Part::Place);
            return rows.reduce(|lane, row| self.pair([lane, row])).unwrap_or(Part::Place(lane));
        }
        let older = self.lane(lane, 2 * width, places);
        if lane + width >= places {
            return older;
        }
        let newer = self.lane(lane + width, 2 * width, places);
        self.pair([older, newer])
    }

    fn pair(&mut self, of: [Part; 2]) -> Part {
        let to = self.free.pop().unwrap_or(self.stretches);
        self.stretches = self.stretches.max(to + 1);
        self.pairs.push(Pair { of, to });
        self.free.extend(of.iter().filter_map(|part| if let Part::Stretch(n) = part { Some(*n) } else { None }));
        Part::Stretch(to)
    }
}

/// What a place outside the data counts as.
fn identity(monoid: Monoid, dtype: DType) -> [u64; 2] {
    let number = monoid.identity_literal(dtype);
    let real = literal_bits(dtype.info().real, number);
    // The identity of a sum is -0 in both parts.
    let imaginary = if monoid == Monoid::Sum { real } else { 0 };
    match dtype {
        DType::C64 => [real | imaginary << 32, 0],
        DType::C128 => [real, imaginary],
        _ => [real, 0],
    }
}

/// The sizes of a launch.
struct Sizes<'a> {
    /// Axes before the windows'.
    lead: usize,
    planes: usize,
    /// Windows along each axis.
    counts: &'a [usize],
}

impl PoolKernel {
    fn sizes<'a>(&self, (data, _): Slot, (out, _): Slot<'a>) -> Result<Sizes<'a>> {
        let lead = out
            .rank()
            .checked_sub(self.axes.len())
            .filter(|&n| data.rank() == out.rank() && data.dims()[..n] == out.dims()[..n]);
        let lead =
            lead.ok_or_else(|| Error::internal(format!("window: {:?} does not make {:?}", data.dims(), out.dims())))?;
        Ok(Sizes { lead, planes: out.dims()[..lead].iter().product(), counts: &out.dims()[lead..] })
    }

    /// All windows, elements as `T`.
    ///
    /// # Safety
    /// The layouts lie inside their buffers, the output overlaps nothing, and `T` is as large as an element.
    unsafe fn pool<T: Copy + Send + Sync>(&self, data: Slot, out: Slot, context: &Context) -> Result<()> {
        let Sizes { lead, planes, counts } = self.sizes(data, out)?;
        if out.0.is_empty() {
            return Ok(());
        }
        let phases = Phases::new(&self.axes, counts, &data.0.dims()[lead..])?;
        let plane_bytes = volume([phases.phase, phases.count, size_of::<T>()])?;
        let group = (GROUP_BYTES / plane_bytes).clamp(1, planes);
        let job = Job {
            kernel: self,
            copy: compiled::<CopyPlane<Copied, T, T>>(self.tier),
            // SAFETY: as many bytes as an element has.
            outside: unsafe { *self.outside.as_ptr().cast::<T>() },
            places: phases.places().into_iter().map(|(n, at)| n * group * phases.phase + at).collect(),
            steps: [&[phases.phase], &phases.steps[..]].concat(),
            phases,
            data,
            out,
            lead,
            group,
        };
        let job = &job;
        let lines = self.lines.filter(|_| job.has_lines());
        // Copied at about 5 GB/s, combined at 10; by lines all of it at 20.
        let combined = (self.pairs.len() * job.phases.phase * size_of::<T>()) as f64 * 0.1;
        let nanos = if lines.is_some() { plane_bytes as f64 * 0.05 } else { plane_bytes as f64 * 0.2 + combined };
        parallel_for(planes.div_ceil(group), nanos * group as f64, &|groups| {
            let room = Scratch::take(plane_bytes * group)?;
            let line = job.phases.room().max(if lines.is_some() { job.phases.line_room()? } else { 0 });
            let line = Scratch::take(line * size_of::<T>())?;
            let stretches = Scratch::take(self.stretches * STRETCH_BYTES)?;
            for n in groups {
                if context.abandoned.load(Relaxed) {
                    break;
                }
                let planes = n * group..((n + 1) * group).min(planes);
                let (rooms, stretches) = ([room.as_ptr().cast(), line.as_ptr().cast()], stretches.as_ptr());
                // SAFETY: the rooms are this thread's and hold a group, or what meeting lines takes; these planes of the output are
                // its own.
                unsafe {
                    match lines {
                        None => job.group(planes, rooms, stretches),
                        Some(lines) => planes.filter(|&plane| !job.plane(lines, plane, rooms[1])).for_each(|plane| {
                            job.group(plane..plane + 1, rooms, stretches);
                        }),
                    }
                }
            }
            Ok(())
        })
    }
}

/// A launch.
struct Job<'a, T> {
    kernel: &'a PoolKernel,
    copy: unsafe fn(Plane<T, T>),
    outside: T,
    phases: Phases,
    /// Where each place of the first window lies in a group's copy.
    places: Vec<usize>,
    /// From a plane to the next one, and from a window to the next one along each axis.
    steps: Vec<usize>,
    data: Slot<'a>,
    out: Slot<'a>,
    lead: usize,
    /// Planes of a group.
    group: usize,
}
// SAFETY: the data are only read, and each thread writes its own planes.
unsafe impl<T: Sync> Sync for Job<'_, T> {}

impl<T: Copy> Job<'_, T> {
    /// Whether lines of data and of results lie in one piece and are long enough to be met.
    fn has_lines(&self) -> bool {
        let (data, out) = (self.data.0, self.out.0);
        let windows = out.dims().last().copied().unwrap_or(0);
        data.strides().last() == Some(&1)
            && out.strides().last() == Some(&1)
            && windows >= BLOCK
            && self.phases.shown() >= BLOCK
    }

    /// The windows of a plane, line by line; whether there was no doubt about an element.
    ///
    /// # Safety
    /// There are lines, room for them, and this plane of the output is this thread's.
    unsafe fn plane(&self, lines: unsafe fn(PlaneLines), plane: usize, room: *mut T) -> bool {
        let of = |(layout, start): Slot| {
            let at = layout.offset() as isize + leading(layout, self.lead, plane);
            (start.cast::<T>().wrapping_offset(at).cast::<u8>(), layout.strides()[self.lead..].as_ptr())
        };
        let ((from, strides), (out, out_strides)) = (of(self.data), of(self.out));
        let (counts, outside) = (self.out.0.dims()[self.lead..].as_ptr(), (&raw const self.outside).cast());
        let mut found = false;
        let (phases, room, found_at) = (&raw const self.phases, room.cast(), &raw mut found);
        // SAFETY: by the contract above.
        unsafe {
            lines(PlaneLines { phases, counts, from, strides, out, out_strides, room, outside, found: found_at });
        }
        !found
    }

    /// The windows of some planes.
    ///
    /// # Safety
    /// The rooms hold a group's copy and what copying takes, `stretches` those of the pairs; all and these planes of the output are this
    /// thread's.
    unsafe fn group(&self, planes: Range<usize>, [copy, room]: [*mut T; 2], stretches: *mut u8) {
        let (layout, start) = self.data;
        let between = self.group * self.phases.phase;
        let mut is_doubtful = false;
        for (n, plane) in planes.clone().enumerate() {
            let at = layout.offset() as isize + leading(layout, self.lead, plane);
            let from = start.cast_const().cast::<T>().wrapping_offset(at);
            let (to, strides) = (copy.wrapping_add(n * self.phases.phase), layout.strides()[self.lead..].as_ptr());
            // SAFETY: by the contract above.
            unsafe { (self.copy)(Plane { phases: &self.phases, from, strides, to, between, room, outside: self.outside }) };
        }
        for n in 0..self.phases.count {
            let (from, len) = (copy.wrapping_add(n * between).cast_const().cast(), planes.len() * self.phases.phase);
            let mut found = false;
            // SAFETY: as many elements have been copied.
            unsafe { (self.kernel.doubt)(Doubt { from, len, found: &mut found }) };
            is_doubtful |= found;
        }
        let combine = if is_doubtful { self.kernel.combine } else { self.kernel.quick };
        let counts = &self.out.0.dims()[self.lead..];
        let all: SmallVec<[usize; 4]> = [planes.len()].into_iter().chain(counts.iter().copied()).collect();
        let end = stretch(&self.steps, &all);
        let most = STRETCH_BYTES / size_of::<T>();
        for at in (0..end).step_by(most) {
            let len = most.min(end - at);
            // SAFETY: by the contract above; every place of every window is in the copy.
            unsafe {
                let result = self.combine(combine, copy.add(at), len, stretches);
                runs(&self.steps, &all, at, at + len, |run| {
                    self.store(planes.start, counts, run.window, result.add(run.at - at), run.count)
                });
            }
        }
    }

    /// The results of a stretch of windows.
    ///
    /// # Safety
    /// As [`Job::group`].
    unsafe fn combine(&self, combine: TileFn, first: *mut T, len: usize, stretches: *mut u8) -> *const T {
        let of = |part: Part| match part {
            Part::Place(p) => first.wrapping_add(self.places[p]).cast::<u8>().cast_const(),
            Part::Stretch(n) => stretches.wrapping_add(n * STRETCH_BYTES).cast_const(),
        };
        let mut out = stretches;
        for pair in &self.kernel.pairs {
            out = stretches.wrapping_add(pair.to * STRETCH_BYTES);
            let [x, y] = pair.of.map(of);
            // SAFETY: by the contract above; a pair's stretch is apart from those it is made of.
            unsafe { combine(Tile { out, args: [x, y, y], len }) };
        }
        out.cast_const().cast()
    }

    /// Writes results of windows beside each other; `window` counts from the group's first plane on.
    ///
    /// # Safety
    /// They are this thread's.
    unsafe fn store(&self, plane: usize, counts: &[usize], window: usize, from: *const T, count: usize) {
        let (layout, start) = self.out;
        let per_plane: usize = counts.iter().product();
        let at = layout.offset() as isize + leading(layout, layout.rank(), plane * per_plane + window);
        let to = start.cast::<T>().wrapping_offset(at);
        match layout.strides()[layout.rank() - 1] {
            // SAFETY: by the contract above.
            1 => unsafe { std::ptr::copy_nonoverlapping(from, to, count) },
            // SAFETY: by the contract above.
            step => (0..count).for_each(|i| unsafe { *to.wrapping_offset(i as isize * step) = *from.add(i) }),
        }
    }
}

impl Run for PoolKernel {
    fn run(&self, slots: &Slots, _: &[u64], context: &Context) -> Result<()> {
        let ([data], [out]) = (&slots.inputs[..], &slots.outputs[..]) else {
            return Err(Error::internal("window: one input and one output"));
        };
        // SAFETY: a launch's layouts lie inside its buffers and its outputs overlap nothing.
        by_size!(self.size, T => unsafe { self.pool::<T>(*data, *out, context) })
    }
}

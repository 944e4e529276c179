//! The data of a convolution as tiles read them: from the first window's places all others lie steps apart.

use super::product::scratch;
use super::stored::Stored;
use crate::indices::leading;
use crate::launch::{Context, Slot};
use crate::parallel::parallel_for;
use crate::scratch::Scratch;
use crate::window::phases::{Phases, Plane, volume};
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::WindowAxis;
use ferrotensor_core::layout::Layout;
use smallvec::SmallVec;
use std::sync::atomic::Ordering::Relaxed;

/// The sizes of a launch.
pub(super) struct Sizes<'a> {
    pub batch: usize,
    pub group: usize,
    /// Channels of the data.
    pub channels: usize,
    /// Rows: channels of the output.
    pub rows: usize,
    /// Windows along each axis.
    pub counts: &'a [usize],
    /// Positions of the data along each axis.
    pub lengths: &'a [usize],
    /// Places of a window, of all channels.
    pub places: usize,
}

impl<'a> Sizes<'a> {
    /// Of windows over data, weights and an output.
    ///
    /// # Errors
    /// `Code::Internal` where they do not fit each other, `Code::OutOfMemory` where windows have more places than memory.
    pub fn new(axes: &[WindowAxis], data: &'a Layout, weights: &Layout, out: &'a Layout) -> Result<Sizes<'a>> {
        let unfit =
            || Error::internal(format!("window: {:?} and {:?} do not make {:?}", data.dims(), weights.dims(), out.dims()));
        let (&[batch, group, channels, ref lengths @ ..], &[batch2, group2, rows, ref counts @ ..]) =
            (data.dims(), out.dims())
        else {
            return Err(unfit());
        };
        let taps = axes.iter().map(|a| a.size);
        let fits = weights.dims().iter().copied().eq([group, rows, channels].into_iter().chain(taps.clone()));
        if (batch, group) != (batch2, group2) || !fits || lengths.len() != axes.len() || counts.len() != axes.len() {
            return Err(unfit());
        }
        let places = volume([channels].into_iter().chain(taps))?;
        Ok(Sizes { batch, group, channels, rows, counts, lengths, places })
    }
}

/// Data in which windows beside each other show elements beside each other.
pub(super) struct Grid<T> {
    pub start: *const T,
    /// Where the channels of each image begin, of all groups.
    pub images: Vec<isize>,
    /// Where the first window's places lie, channel by channel.
    pub places: Vec<isize>,
    /// From a window to the next one along each axis.
    pub steps: SmallVec<[usize; 3]>,
    /// Elements behind an image's last window that a tile may read too.
    pub slack: usize,
    _copy: Option<Scratch>,
}

/// What threads share: each writes its own part.
pub(super) struct Apart<T>(pub T);
// SAFETY: as said above.
unsafe impl<T> Sync for Apart<T> {}

impl<T: Copy + Default> Grid<T> {
    /// The data themselves, where every window lies inside them and they are floats as they are.
    pub fn in_place<S: Stored<Real = T>>(axes: &[WindowAxis], (layout, start): Slot, sizes: &Sizes) -> Option<Grid<T>> {
        let strides = &layout.strides()[3..];
        let inside = |((axis, &count), &len): ((&WindowAxis, &usize), &usize)| {
            axis.low == 0 && axis.stride == 1 && axis.reach(count) <= len
        };
        let is_inside = axes.iter().zip(sizes.counts).zip(sizes.lengths).all(inside);
        // An axis of one window may have any stride.
        let nested = strides.windows(2).zip(sizes.counts.windows(2)).all(|(s, n)| s[0] >= s[1].max(1) * n[1] as isize);
        if !S::PLAIN || !is_inside || strides[strides.len() - 1] != 1 || !nested {
            return None;
        }
        let mut places = Vec::with_capacity(sizes.places);
        let taps: usize = axes.iter().map(|a| a.size).product();
        for channel in 0..sizes.channels {
            for tap in 0..taps {
                let (mut rest, mut at) = (tap, channel as isize * layout.strides()[2]);
                for a in (0..axes.len()).rev() {
                    at += (rest % axes[a].size * axes[a].dilation) as isize * strides[a];
                    rest /= axes[a].size;
                }
                places.push(at);
            }
        }
        let images = (0..sizes.batch * sizes.group).map(|n| layout.offset() as isize + leading(layout, 2, n)).collect();
        let steps = strides.iter().map(|&s| s as usize).collect();
        Some(Grid { start: start.cast_const().cast(), images, places, steps, slack: 0, _copy: None })
    }

    /// A copy of the data that has a stretch for each place.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn copied<S: Stored<Real = T>>(
        axes: &[WindowAxis],
        (layout, from): Slot,
        sizes: &Sizes,
        (copy, slack): (unsafe fn(Plane<S, T>), usize),
        context: &Context,
    ) -> Result<Grid<T>> {
        let phases = &Phases::new(axes, sizes.counts, sizes.lengths)?;
        let plane = volume([phases.phase, phases.count])?;
        let planes = volume([sizes.batch, sizes.group, sizes.channels])?;
        let room = scratch::<T>(&[volume([plane, planes])? + slack])?;
        let (to, from) = (&Apart(room.as_ptr().cast::<T>()), &Apart(from.cast_const().cast::<S>()));
        // Written at about 5 GB/s.
        parallel_for(planes, (plane * size_of::<T>()) as f64 * 0.2, &|range| {
            let between = scratch::<T>(&[phases.room()])?;
            for n in range {
                if context.abandoned.load(Relaxed) {
                    break;
                }
                let at = layout.offset() as isize + leading(layout, 3, n);
                let (from, strides) = (from.0.wrapping_offset(at), layout.strides()[3..].as_ptr());
                let (to, room) = (to.0.wrapping_add(n * plane), between.as_ptr().cast());
                // SAFETY: the data and the copy have every plane.
                unsafe { copy(Plane { phases, from, strides, to, between: phases.phase, room, outside: T::default() }) };
            }
            Ok(())
        })?;
        // SAFETY: room for them was asked for.
        unsafe { std::slice::from_raw_parts_mut(to.0.wrapping_add(planes * plane), slack).fill(T::default()) };
        let taps = phases.places();
        let of_channel = |c: usize| taps.iter().map(move |&(phase, at)| (c * plane, phase, at));
        let places =
            (0..sizes.channels).flat_map(of_channel).map(|(c, n, at)| (c + n * phases.phase + at) as isize).collect();
        let image = (sizes.channels * plane) as isize;
        let images = (0..(sizes.batch * sizes.group) as isize).map(|n| n * image).collect();
        Ok(Grid { start: to.0, images, places, steps: phases.steps.clone(), slack, _copy: Some(room) })
    }
}

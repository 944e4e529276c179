//! `Scatter` kernels: a copy of the data, then updates one after the other, so that duplicate indices have one result.

use crate::indices::{Block, IndexPrograms, IndexReader, NOWHERE, Row, axes, leading};
use crate::launch::{Context, Run, Slots};
use crate::map::MapKernel;
use crate::map::table::by_monoid;
use crate::map::tile::Binary;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::{Scatter, Update};
use ferrotensor_core::layout::{Layout, coalesce};
use ferrotensor_core::match_dtype;
use ferrotensor_core::planted;
use std::marker::PhantomData;
use std::sync::atomic::Ordering;

/// A row of updates, from `from` on (the second place of the row), and of the output, from `to` on.
struct Updates {
    to: *mut u8,
    from: *const u8,
    row: Row,
}

struct Apply<F, T>(PhantomData<(F, T)>);

/// The later value.
struct Latest;
impl<T> Binary<T, T> for Latest {
    #[inline(always)]
    fn apply(_: T, y: T) -> T {
        y
    }
}

impl<F: Binary<T, T>, T: Copy> Source for Apply<F, T> {
    type Args = Updates;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(u: Updates) {
        let (to, from) = (u.to.cast::<T>(), u.from.cast::<T>());
        if u.row.step == [1, 1] {
            // SAFETY: the row lies dense in both places, apart.
            let (to, from) =
                unsafe { (std::slice::from_raw_parts_mut(to, u.row.len), std::slice::from_raw_parts(from, u.row.len)) };
            for (x, &y) in to.iter_mut().zip(from) {
                *x = F::apply(*x, y);
            }
            return;
        }
        for i in 0..u.row.len as isize {
            // SAFETY: elements of the row, in both places.
            unsafe {
                let to = to.offset(i * u.row.step[0]);
                *to = F::apply(*to, *from.offset(i * u.row.step[1]));
            }
        }
    }
}

/// Updates that lie equally far apart, for blocks of neighbours of the output.
struct Spread {
    to: *mut u8,
    from: *const u8,
    /// Where each block begins, as an [`IndexReader`] says.
    positions: *const isize,
    count: usize,
    /// Elements from an update to the next one.
    step: isize,
    /// Elements of a block.
    len: usize,
}

/// Applies [`Spread`], update after update. Of single elements a call for each took 11 ns, now 1.3.
struct ApplyAll<F, T>(PhantomData<(F, T)>);

impl<F: Binary<T, T>, T: Copy> Source for ApplyAll<F, T> {
    type Args = Spread;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(s: Spread) {
        let (to, from) = (s.to.cast::<T>(), s.from.cast::<T>());
        // SAFETY: as many positions.
        let positions = unsafe { std::slice::from_raw_parts(s.positions, s.count) };
        let found = positions.iter().enumerate().filter(|(_, position)| **position != NOWHERE);
        if s.len == 1 {
            for (i, &position) in found {
                // SAFETY: the positions are those of elements of the output, and there are as many updates.
                unsafe {
                    let to = to.offset(position);
                    *to = F::apply(*to, *from.offset(i as isize * s.step));
                }
            }
            return;
        }
        for (i, &position) in found {
            // SAFETY: as above, for blocks, which lie apart.
            let (to, from) = unsafe {
                (
                    std::slice::from_raw_parts_mut(to.offset(position), s.len),
                    std::slice::from_raw_parts(from.offset(i as isize * s.step), s.len),
                )
            };
            for (x, &y) in to.iter_mut().zip(from) {
                *x = F::apply(*x, y);
            }
        }
    }
}

/// A compiled `Scatter`.
pub struct ScatterKernel {
    indices: IndexPrograms,
    copy: MapKernel,
    apply: unsafe fn(Updates),
    apply_all: unsafe fn(Spread),
    size: usize,
}

/// The loops of a way to update: row by row, and all at once.
type UpdateFns = (unsafe fn(Updates), unsafe fn(Spread));

fn both<F: Binary<T, T>, T: Copy>(tier: Tier) -> UpdateFns {
    (compiled::<Apply<F, T>>(tier), compiled::<ApplyAll<F, T>>(tier))
}

/// Elements from an update to the next one, where all are equally far apart.
fn step(updates: &Layout, batch: usize) -> Option<isize> {
    let steps = coalesce(&[&axes(updates, 0..batch)?]).strides.into_iter().next()?;
    match steps[..] {
        [] => Some(0),
        [step] => Some(step),
        _ => None,
    }
}

impl ScatterKernel {
    /// Compiles a kernel.
    ///
    /// # Errors
    /// As [`IndexPrograms::new`].
    pub fn new(kernel: &Scatter, tier: Tier) -> Result<ScatterKernel, String> {
        let d = kernel.dtype;
        let (apply, apply_all) = match kernel.update {
            Update::Set => match_dtype!(d, T => both::<Latest, T>(tier)),
            Update::Combine(monoid) => by_monoid!(monoid, d, F, T => both::<F, T>(tier))?,
        };
        let indices = IndexPrograms::new(&kernel.index, tier)?;
        Ok(ScatterKernel { indices, copy: MapKernel::cast(d, d, tier)?, apply, apply_all, size: d.bytes() })
    }
}

impl Run for ScatterKernel {
    fn run(&self, slots: &Slots, _: &[u64], context: &Context) -> Result<()> {
        let ([data, indices @ .., (updates, from)], [output]) = (&slots.inputs[..], &slots.outputs[..]) else {
            return Err(Error::internal("scatter: data, indices, updates and one output"));
        };
        let bounds = self.indices.bind(indices, output.0)?;
        let batch = indices[0].0.rank();
        if updates.dims().get(..batch) != Some(indices[0].0.dims()) {
            return Err(Error::internal("scatter: the updates do not have the indices' axes"));
        }
        let block = Block::new([output.0, updates], [indices.len(), batch])?;
        // SAFETY: a launch's layouts lie inside its buffers and its outputs overlap nothing.
        unsafe { self.copy.apply(&[*data, *output], &[], context)? };
        if indices[0].0.is_empty() {
            return Ok(());
        }
        // Indices into rows of no elements are checked all the same.
        let copies = !updates.is_empty();
        let byte = |at: isize| at * self.size as isize;
        let to = output.1.wrapping_add(output.0.offset() * self.size);
        let from = from.wrapping_add(updates.offset() * self.size).cast_const();
        let turned = planted::is("the-first-of-equal-targets-wins");
        let dense = block.dense().zip(step(updates, batch)).filter(|_| copies && !turned);
        let mut reader = IndexReader::new(&self.indices, &bounds, output.0)?;
        let (mut at, end) = (0, indices[0].0.len());
        while at < end && !context.abandoned.load(Ordering::Relaxed) {
            // SAFETY: the positions exist; inputs are only read.
            let positions = unsafe { reader.read(at, end) };
            let count = positions.len();
            if let Some((len, step)) = dense {
                let (from, positions) = (from.wrapping_offset(byte(at as isize * step)), positions.as_ptr());
                // SAFETY: the indices were checked against the output, so all blocks exist; they are of the kernel's dtype.
                unsafe { (self.apply_all)(Spread { to, from, positions, count, step, len }) };
                at += count;
                continue;
            }
            for i in (0..count).filter(|_| copies) {
                let i = if turned { count - 1 - i } else { i };
                let position = positions[i];
                if position == NOWHERE {
                    continue;
                }
                let source = leading(updates, batch, at + i);
                block.rows(|row| {
                    let to = to.wrapping_offset(byte(position + row.at[0]));
                    let from = from.wrapping_offset(byte(source + row.at[1]));
                    // SAFETY: the index was checked against the output, so both rows exist; they are of the kernel's dtype.
                    unsafe { (self.apply)(Updates { to, from, row }) };
                });
            }
            at += count;
        }
        match reader.failed {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

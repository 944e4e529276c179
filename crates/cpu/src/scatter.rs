//! `Scatter` kernels: a copy of the data, then updates one after the other, so that duplicate indices have one result.

use crate::indices::{Block, IndexPrograms, IndexReader, Row, leading};
use crate::launch::{Context, Run, Slots};
use crate::map::MapKernel;
use crate::map::table::by_monoid;
use crate::map::tile::Binary;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::{Scatter, Update};
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

/// A compiled `Scatter`.
pub struct ScatterKernel {
    indices: IndexPrograms,
    copy: MapKernel,
    apply: unsafe fn(Updates),
    size: usize,
}

impl ScatterKernel {
    /// Compiles a kernel.
    ///
    /// # Errors
    /// As [`IndexPrograms::new`].
    pub fn new(kernel: &Scatter, tier: Tier) -> Result<ScatterKernel, String> {
        let d = kernel.dtype;
        let apply = match kernel.update {
            Update::Set => match_dtype!(d, T => compiled::<Apply<Latest, T>>(tier)),
            Update::Combine(monoid) => by_monoid!(monoid, d, F, T => compiled::<Apply<F, T>>(tier))?,
        };
        let indices = IndexPrograms::new(&kernel.index, tier)?;
        Ok(ScatterKernel { indices, copy: MapKernel::cast(d, d, tier)?, apply, size: d.bytes() })
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
        let mut reader = IndexReader::new(&bounds, output.0)?;
        let (mut at, end) = (0, indices[0].0.len());
        while at < end && !context.abandoned.load(Ordering::Relaxed) {
            // SAFETY: the positions exist; inputs are only read.
            let positions = unsafe { reader.read(at, end) };
            let count = positions.len();
            for i in (0..count).filter(|_| copies) {
                let i = if planted::is("the-first-of-equal-targets-wins") { count - 1 - i } else { i };
                let Some(position) = positions[i] else { continue };
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

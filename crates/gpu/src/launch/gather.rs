//! Launches of gathers: a dispatch for each piece of the output, and for each window of data that one descriptor does not show.

use super::indexed::{Axes, repeated};
use super::pieces::{Walked, pieces};
use super::variants::Variants;
use super::window::{window, windows};
use crate::Can;
use crate::Compiler;
use crate::Program;
use crate::code::Code;
use crate::emit::{
    self,
    space::{Numbers, RANKS, variant},
};
use crate::report::Tell;
use crate::{Binding, Recorder};
use ferrotensor_core::backend::Launch;
use ferrotensor_core::kernel::Gather;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::{Error, Result};
use smallvec::SmallVec;
use std::sync::Arc;

/// Elements of a dispatch: some forty instructions each, of which a software device does 10^10 in a second and a GPU more, within the
/// 100 ms a submission may take.
const MOST: usize = 1 << 24;

/// A gather, and its pipelines for each number of loops.
pub struct GatherProgram {
    kernel: Gather,
    can: Can,
    pipelines: Variants<{ RANKS.len() }>,
}

/// The kernel over one loop.
///
/// # Errors
/// What the device lacks, in words.
pub fn emitted(kernel: &Gather, can: &Can) -> Result<Code, String> {
    emit::gather::shader(kernel, RANKS[0], can)
}

impl GatherProgram {
    /// # Errors
    /// `Code::Unsupported` as [`emitted`]; the driver's.
    pub fn new(kernel: &Gather, can: &Can, compiler: &dyn Compiler) -> Result<GatherProgram> {
        let made = GatherProgram { kernel: kernel.clone(), can: can.clone(), pipelines: Variants::default() };
        made.pipelines.get(0, compiler, || emitted(kernel, can))?;
        Ok(made)
    }
}

impl Program for GatherProgram {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        let ([data, indices @ ..], [output]) = (&launch.inputs[..], &launch.outputs[..]) else {
            return Err(Error::internal("gather: data, indices and one output"));
        };
        let axes = Axes::new(&data.layout, indices)?;
        let (kernel, tell) = (self.kernel.clone(), Arc::clone(&axes.tell));
        let tell: Tell = Arc::new(move |words: &[u32]| tell(words).map(|e| kernel.failed(e)));
        let (selected, rest) = data.layout.dims().split_at(indices.len());
        let places = indices[0].layout.dims();
        if [places, rest].concat() != output.layout.dims() {
            return Err(Error::internal("gather: the output does not have the indices' and the rows' axes"));
        }
        // Indices into rows of no elements are looked at all the same.
        let copies = !output.layout.is_empty();
        let more = if copies { rest } else { &[] };
        let dims = [places, more].concat();
        let nowhere = Layout::new(&dims, &vec![0; dims.len()], 0, 1)?;
        let row = if copies {
            let strides: SmallVec<[isize; 6]> =
                places.iter().map(|_| 0).chain(data.layout.strides()[selected.len()..].iter().copied()).collect();
            Layout::new(&dims, &strides, data.layout.offset(), usize::MAX >> 1)?
        } else {
            nowhere.clone()
        };
        let shown = indices.iter().map(|i| repeated(&i.layout, more)).collect::<Result<SmallVec<[Layout; 2]>>>()?;
        let size = self.kernel.dtype.bytes();
        let target = if copies { Walked::Memory(&output.layout, size, (0, 0)) } else { Walked::Place(&nowhere) };
        let widths = self.kernel.index.iter().map(|d| d.bytes());
        let indexed = shown.iter().zip(widths).map(|(layout, bytes)| Walked::Memory(layout, bytes, (0, 0)));
        let walked: SmallVec<[Walked; 4]> = [target, Walked::Place(&row)].into_iter().chain(indexed).collect();
        let (alignment, reach) = (self.can.alignment, (self.can.max_range - self.can.alignment) as usize);
        let pieces = pieces(&dims, &walked, reach, MOST)?;
        for (nth, seen) in windows(data, size, copies, false, &self.can)?.iter().enumerate() {
            for piece in &pieces {
                let variant = variant(piece.dims.len());
                let mut starts: SmallVec<[usize; 4]> = SmallVec::new();
                let mut bindings: SmallVec<[Binding; 4]> = SmallVec::from_iter([seen.binding]);
                let (write, to) = window(output, size, piece, 0, alignment, true)?;
                // Positions are relative to the window, and wrap.
                starts.extend([to, (piece.at[1].0 - seen.first as i64) as usize]);
                for (n, (operand, d)) in indices.iter().zip(&self.kernel.index).enumerate() {
                    let (binding, start) = window(operand, d.bytes(), piece, 2 + n, alignment, false)?;
                    bindings.push(binding);
                    starts.push(start);
                }
                bindings.push(write);
                let strided: SmallVec<[_; 4]> = starts.into_iter().zip(piece.strides.iter().map(|s| s.as_slice())).collect();
                let mut words = Numbers::from_slice(&[seen.elements as u32, (copies && nth == 0) as u32]);
                words.extend(axes.words(&data.layout.strides()[..selected.len()]));
                words.extend(emit::gather::arguments(&self.kernel, RANKS[variant]).write(&piece.dims, &strided, &[]));
                words.push(0);
                let make = || emit::gather::shader(&self.kernel, RANKS[variant], &self.can);
                let pipeline = self.pipelines.get(variant, recorder.compiler(), make)?;
                let count: usize = piece.dims.iter().product();
                recorder.charge(40 * count as u64);
                recorder.dispatch(&pipeline, &words, &bindings, Some(&tell), self.can.groups(count))?;
            }
        }
        Ok(())
    }
}

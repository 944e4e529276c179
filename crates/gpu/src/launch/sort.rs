//! Launches of sorts: keys are made of the elements, sorted with their positions in memory of the launch's own, and what comes first is
//! written.

use super::map::{MapProgram, computes};
use super::network::{Network, Pairs};
use super::pieces::{MOST, Piece, Walked, pieces};
use super::variants::Variants;
use super::window::{window, windows};
use crate::Can;
use crate::Compiler;
use crate::Program;
use crate::code::Code;
use crate::emit::{
    self,
    space::{RANKS, variant},
};
use crate::{Binding, Recorder};
use ferrotensor_core::backend::{Buffer, Launch, Operand};
use ferrotensor_core::kernel::{Map, Sort, SortOutputs};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::scalar::plain;
use ferrotensor_core::{Error, Result};
use smallvec::SmallVec;
use std::sync::Arc;

/// Pairs sorted together, in 48 MiB of memory at most, if a row has no more: enough to keep a large device busy.
const TOGETHER: usize = 1 << 22;

/// A sort, and its kernels.
pub struct SortProgram {
    kernel: Sort,
    can: Can,
    keys: MapProgram,
    network: Network,
    /// Of the kernel that writes, for each number of loops.
    pipelines: Variants<{ RANKS.len() }>,
}

/// What makes keys, and the kernel that writes over one loop.
///
/// # Errors
/// What the device lacks, in words.
pub fn emitted(kernel: &Sort, can: &Can) -> Result<(Map, Code), String> {
    let map = Map { program: emit::sort::keys(kernel)? };
    computes(&plain(&map.program, can.arithmetic()), can)?;
    let shader = emit::sort::shader(kernel, RANKS[0], can)?;
    Ok((map, shader))
}

/// The rows of a layout, the first element of each.
fn rows(layout: &Layout) -> Result<Layout> {
    let kept = layout.rank() - 1;
    Layout::new(&layout.dims()[..kept], &layout.strides()[..kept], layout.offset(), usize::MAX >> 1)
}

/// The n-th operand of a piece of rows, `length` elements of each, `apart` places from one to the next.
fn part(operand: &Operand, piece: &Piece, n: usize, length: usize, apart: isize) -> Result<Operand> {
    let dims: SmallVec<[usize; 6]> = piece.dims.iter().copied().chain([length]).collect();
    let strides: SmallVec<[isize; 6]> = piece.strides[n].iter().copied().chain([apart]).collect();
    let layout = Layout::new(&dims, &strides, piece.at[n].0 as usize, usize::MAX >> 1)?;
    Ok(Operand { buffer: Arc::clone(&operand.buffer), layout })
}

/// Memory of the launch's own, seen as rows of `length` elements of which the first `shown` are met.
fn own(buffer: &Buffer, dims: &[usize], length: usize, shown: usize) -> Result<Operand> {
    let whole = Layout::dense(&[dims, &[length]].concat())?;
    let layout = whole.slice(dims.len(), 0, 1, shown);
    Ok(Operand { buffer: Arc::clone(buffer), layout })
}

impl SortProgram {
    /// # Errors
    /// `Code::Unsupported` as [`emitted`]; the driver's.
    pub fn new(kernel: &Sort, can: &Can, compiler: &dyn Compiler) -> Result<SortProgram> {
        let (map, shader) = emitted(kernel, can).map_err(Error::unsupported)?;
        let keys = MapProgram::new(&map, can, compiler)?;
        let network = Network::new(emit::sort::key(kernel.dtype), can);
        network.prepare(compiler)?;
        let made = SortProgram { kernel: kernel.clone(), can: can.clone(), keys, network, pipelines: Variants::default() };
        made.pipelines.get(0, compiler, || Ok(shader))?;
        Ok(made)
    }

    /// Writes the first elements of sorted rows, in the order of `order`, and their positions.
    fn write(&self, recorder: &mut dyn Recorder, order: &Operand, input: &Operand, outputs: &[Operand]) -> Result<()> {
        let (dims, size) = (order.layout.dims(), self.kernel.dtype.bytes());
        let apart = input.layout.strides().last().copied().unwrap_or(0);
        let starts: SmallVec<[isize; 6]> = input.layout.strides().iter().take(dims.len() - 1).copied().chain([0]).collect();
        let starts = Layout::new(dims, &starts, input.layout.offset(), usize::MAX >> 1)?;
        let sizes: &[usize] = match self.kernel.outputs {
            SortOutputs::Values => &[size],
            SortOutputs::Indices => &[4],
            SortOutputs::Both => &[size, 4],
        };
        let values = self.kernel.outputs != SortOutputs::Indices;
        let targets = outputs.iter().zip(sizes).map(|(o, &bytes)| Walked::Memory(&o.layout, bytes, (0, 0)));
        let walked: SmallVec<[Walked; 4]> =
            [Walked::Memory(&order.layout, 4, (0, 0)), Walked::Place(&starts)].into_iter().chain(targets).collect();
        let (alignment, reach) = (self.can.alignment, (self.can.max_range - self.can.alignment) as usize);
        let pieces = pieces(dims, &walked, reach, MOST)?;
        for seen in &windows(input, size, values, false, &self.can)? {
            for piece in &pieces {
                let variant = variant(piece.dims.len());
                let (read, at) = window(order, 4, piece, 0, alignment, false)?;
                let mut bindings: SmallVec<[Binding; 4]> = SmallVec::from_iter([read]);
                bindings.extend(values.then_some(seen.binding));
                // Positions are relative to the window, and wrap.
                let mut places: SmallVec<[usize; 4]> =
                    SmallVec::from_iter([at, (piece.at[1].0 - seen.first as i64) as usize]);
                for (n, (output, &bytes)) in outputs.iter().zip(sizes).enumerate() {
                    let (binding, to) = window(output, bytes, piece, 2 + n, alignment, true)?;
                    bindings.push(binding);
                    places.push(to);
                }
                let strided: SmallVec<[_; 4]> = places.into_iter().zip(piece.strides.iter().map(|s| s.as_slice())).collect();
                let mut words = vec![seen.elements as u32, apart as u32];
                words.extend(emit::sort::arguments(&self.kernel, RANKS[variant]).write(&piece.dims, &strided, &[]));
                words.push(0);
                let make = || emit::sort::shader(&self.kernel, RANKS[variant], &self.can);
                let pipeline = self.pipelines.get(variant, recorder.compiler(), make)?;
                let count: usize = piece.dims.iter().product();
                recorder.charge(32 * count as u64);
                recorder.dispatch(&pipeline, &words, &bindings, None, self.can.groups(count))?;
            }
        }
        Ok(())
    }
}

impl Program for SortProgram {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        let ([input], Some(first)) = (&launch.inputs[..], launch.outputs.first()) else {
            return Err(Error::internal("sort: one input, and outputs"));
        };
        let (Some((&length, kept)), Some((&count, rest))) =
            (input.layout.dims().split_last(), first.layout.dims().split_last())
        else {
            return Err(Error::internal("sort: operands need an axis"));
        };
        if rest != kept || count > length || launch.outputs.iter().any(|o| o.layout.dims() != first.layout.dims()) {
            return Err(Error::internal("sort: input and outputs do not fit each other"));
        }
        if length > i32::MAX as usize {
            return Err(Error::unsupported(format!("{length} elements have positions beyond int32")));
        }
        if first.layout.is_empty() {
            return Ok(());
        }
        let operands: SmallVec<[&Operand; 3]> = [input].into_iter().chain(&launch.outputs).collect();
        let layouts = operands.iter().map(|o| rows(&o.layout)).collect::<Result<SmallVec<[Layout; 3]>>>()?;
        let walked: SmallVec<[Walked; 3]> = layouts.iter().map(Walked::Place).collect();
        let pieces = pieces(kept, &walked, usize::MAX >> 1, (TOGETHER / length).max(1))?;
        let most = pieces.iter().map(|p| p.dims.iter().product()).max().unwrap_or(0);
        let key = emit::sort::key(self.kernel.dtype);
        let pairs = Pairs::new(recorder, key, most * length)?;
        let selects = Network::selects(length, count);
        let other = if selects { Some(Pairs::new(recorder, key, most * Network::left(length, count))?) } else { None };
        for piece in &pieces {
            let parts = operands.iter().enumerate().map(|(n, &operand)| {
                let last = operand.layout.rank() - 1;
                part(operand, piece, n, operand.layout.dims()[last], operand.layout.strides()[last])
            });
            let parts = parts.collect::<Result<SmallVec<[Operand; 3]>>>()?;
            let (dims, rows) = (&piece.dims[..], piece.dims.iter().product());
            let keys = own(&pairs.keys, dims, length, length)?;
            self.keys.apply(recorder, &parts[..1], &[keys], &[])?;
            let (sorted, row) = match &other {
                Some(other) => self.network.least(recorder, [&pairs, other], rows, length, count)?,
                None => {
                    self.network.sort(recorder, &pairs, rows, length, true)?;
                    (&pairs, length)
                }
            };
            let order = own(&sorted.indices, dims, row, count)?;
            self.write(recorder, &order, &parts[0], &parts[1..])?;
        }
        Ok(())
    }
}

//! Launches of scans: a thread for each row, stretch after stretch of long rows; or, where the order of combining does not matter and
//! rows are few, a thread for each chunk of a row. Of sums that round, the blocks of long rows are scanned as rows of their own, then
//! what they end with, which a map combines with the elements of the next.

use super::map::{MapProgram, computes};
use super::pieces::{FARTHEST, Piece, ROUNDS, Walked, pieces};
use super::variants::Variants;
use super::window::{whole, window};
use crate::Can;
use crate::Compiler;
use crate::Program;
use crate::code::Code;
use crate::emit::scan::{self, Stage, step};
use crate::emit::{
    reduce::meet,
    space::{Numbers, RANKS, variant},
};
use crate::{Binding, Recorder};
use ferrotensor_core::backend::{Buffer, Launch, Operand};
use ferrotensor_core::kernel::{Combine, Map, Monoid, Scan};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::scalar::{self, Builder};
use ferrotensor_core::{Error, Result};
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// Elements that a dispatch goes along a row: at some 100 ns each, a GPU's way to its memory, 7 ms.
const LONGEST: usize = ROUNDS;
/// Elements of a dispatch over all rows, as of a map.
const MOST: usize = 1 << 25;
/// Threads that keep a large device busy.
const BUSY: usize = 1 << 16;
/// Elements that are worth a thread of their own.
const CHUNK: usize = 32;

/// A scan, and its pipelines for each number of loops over rows.
pub struct ScanProgram {
    kernel: Scan,
    step: scalar::Program,
    can: Can,
    pipelines: Variants<{ 3 * RANKS.len() }>,
    /// From the first sum of more than a block on.
    blocks: OnceLock<Blocks>,
}

/// What is done with the ends of blocks.
struct Blocks {
    /// They are laid beside each other: in their row they may be farther apart than a descriptor shows.
    collect: MapProgram,
    /// What stands before a block meets its elements.
    join: MapProgram,
}

impl Blocks {
    fn new(kernel: &Scan, can: &Can, compiler: &dyn Compiler) -> Result<Blocks> {
        let mut b = Builder::new();
        let x = b.input(kernel.dtype);
        let made = |program| MapProgram::new(&Map { program }, can, compiler);
        Ok(Blocks { collect: made(b.finish(&[x]))?, join: made(meet(Combine::Value(kernel.combine), kernel.dtype))? })
    }
}

/// How a value takes the next, and the kernel over one loop.
///
/// # Errors
/// What the device lacks, in words.
pub fn emitted(kernel: &Scan, can: &Can) -> Result<(scalar::Program, Code), String> {
    let step = step(kernel, can.arithmetic());
    computes(&step, can)?;
    let shader = scan::shader(kernel, &step, Stage::Rows, RANKS[0], can)?;
    Ok((step, shader))
}

impl ScanProgram {
    /// # Errors
    /// `Code::Unsupported` as [`emitted`]; the driver's.
    pub fn new(kernel: &Scan, can: &Can, compiler: &dyn Compiler) -> Result<ScanProgram> {
        let (step, shader) = emitted(kernel, can).map_err(Error::unsupported)?;
        let made = ScanProgram {
            kernel: kernel.clone(),
            step,
            can: can.clone(),
            pipelines: Variants::default(),
            blocks: OnceLock::new(),
        };
        made.pipelines.get(0, compiler, || Ok(shader))?;
        Ok(made)
    }
}

/// So many blocks of the last axis as an axis of their own, `len` elements of each, from element `first` on.
fn cut(operand: &Operand, first: usize, count: usize, block: usize, len: usize) -> Operand {
    let last = operand.layout.rank() - 1;
    let layout = operand.layout.slice(last, first, 1, 1).unfold(last, count, block, len, 1);
    Operand { buffer: Arc::clone(&operand.buffer), layout }
}

/// Whether every way to combine the elements gives the same bits.
fn is_exact(kernel: &Scan) -> bool {
    let rounds = kernel.dtype.is_float() || kernel.dtype.is_complex();
    !rounds || matches!(kernel.combine, Monoid::Max | Monoid::Min)
}

/// A dispatch for a piece of the rows or chunks of a launch.
struct Going<'a> {
    stage: Stage,
    piece: &'a Piece,
    /// Elements to go along at most, of the row, and whether there is something before.
    steps: usize,
    length: usize,
    goes_on: bool,
    /// How far neighbours are apart in input and output.
    apart: [isize; 2],
}

impl ScanProgram {
    fn dispatch(&self, recorder: &mut dyn Recorder, going: &Going, starts: &[usize], bindings: &[Binding]) -> Result<()> {
        let Going { stage, piece, steps, length, goes_on, apart } = *going;
        let nth = variant(piece.dims.len());
        let strides = piece.strides.iter().map(|s| s.as_slice());
        let strided: SmallVec<[_; 4]> = starts.iter().copied().zip(strides).collect();
        let mut words =
            Numbers::from_slice(&[steps as u32, length as u32, goes_on as u32, apart[0] as u32, apart[1] as u32]);
        words.extend(scan::arguments(stage, RANKS[nth]).write(&piece.dims, &strided, &[]));
        words.push(0);
        let make = || scan::shader(&self.kernel, &self.step, stage, RANKS[nth], &self.can);
        let pipeline = self.pipelines.get(stage as usize * RANKS.len() + nth, recorder.compiler(), make)?;
        let count: usize = piece.dims.iter().product();
        // A row costs its time however few there are.
        recorder.charge((count * steps).max(steps << 8) as u64);
        recorder.dispatch(&pipeline, &words, bindings, None, self.can.groups(count))
    }

    /// Row by row, in stretches of so many elements.
    fn rows(&self, recorder: &mut dyn Recorder, input: &Operand, output: &Operand, stretch: usize) -> Result<()> {
        let (dims, size) = (output.layout.dims(), self.kernel.dtype.bytes());
        let kept = dims.len() - 1;
        let length = dims[kept];
        let apart = [&input.layout, &output.layout].map(|l| l.strides()[kept]);
        let (alignment, reach) = (self.can.alignment, (self.can.max_range - self.can.alignment) as usize);
        for from in (0..length).step_by(stretch) {
            let steps = stretch.min(length - from);
            let margin = |step: isize, before: bool| {
                let (ahead, behind) = ((steps - 1) * step.unsigned_abs(), if before { step.unsigned_abs() } else { 0 });
                if step < 0 { (ahead, behind) } else { (behind, ahead) }
            };
            let (source, target) = (input.layout.pick(kept, from), output.layout.pick(kept, from));
            let walked = [
                Walked::Memory(&source, size, margin(apart[0], false)),
                Walked::Memory(&target, size, margin(apart[1], from > 0)),
            ];
            for piece in &pieces(&dims[..kept], &walked, reach, (MOST / steps).max(1))? {
                let (read, start) = window(input, size, piece, 0, alignment, false)?;
                let (write, to) = window(output, size, piece, 1, alignment, true)?;
                let going = Going { stage: Stage::Rows, piece, steps, length, goes_on: from > 0, apart };
                self.dispatch(recorder, &going, &[start, to], &[read, write])?;
            }
        }
        Ok(())
    }

    /// Chunks of so many elements side by side.
    fn chunks(&self, recorder: &mut dyn Recorder, input: &Operand, output: &Operand, chunk: usize) -> Result<()> {
        let (dims, size) = (output.layout.dims(), self.kernel.dtype.bytes());
        let kept = dims.len() - 1;
        let (length, count) = (dims[kept], dims[kept].div_ceil(chunk));
        let apart = [&input.layout, &output.layout].map(|l| l.strides()[kept]);
        let (alignment, reach) = (self.can.alignment, (self.can.max_range - self.can.alignment) as usize);
        let spread = [&dims[..kept], &[count]].concat();
        let totals = Layout::dense(&spread)?;
        let bytes = (totals.len() * size) as u64;
        let [sums, scanned] = [recorder.scratch(bytes)?, recorder.scratch(bytes)?];
        // A last chunk that is short reaches less far; its window would only be too wide.
        let starts = [&input.layout, &output.layout].map(|layout| {
            let steps =
                (0..=kept).map(|n| if n == kept { layout.strides()[n] * chunk as isize } else { layout.strides()[n] });
            Layout::new(&spread, &steps.collect::<SmallVec<[isize; 6]>>(), layout.offset(), usize::MAX >> 1)
        });
        let [source, target] = starts;
        let (source, target) = (source?, target?);
        let walked = [Walked::Place(&source), Walked::Place(&target), Walked::Axis(Some(kept)), Walked::Place(&totals)];
        let (read, from) = whole(input, &input.layout, size, alignment, false)?;
        let (write, to) = whole(output, &output.layout, size, alignment, true)?;
        let pieces = pieces(&spread, &walked, reach, (MOST / chunk).max(1))?;
        let own = |buffer, write| Binding { buffer, offset: 0, bytes, write };
        for stage in [Stage::Totals, Stage::Chunks] {
            if stage == Stage::Chunks {
                let between = |buffer: &Buffer| Operand { buffer: Arc::clone(buffer), layout: totals.clone() };
                self.scan(recorder, &between(&sums), &between(&scanned))?;
            }
            for piece in &pieces {
                let at = |n: usize| piece.at[n].0 as usize;
                let starts = [at(0).wrapping_sub(from), at(1).wrapping_sub(to), at(2), at(3)];
                let going = Going { stage, piece, steps: chunk, length, goes_on: false, apart };
                match stage {
                    Stage::Totals => self.dispatch(recorder, &going, &starts, &[read, own(&sums, true)])?,
                    _ => self.dispatch(recorder, &going, &starts, &[read, own(&scanned, false), write])?,
                }
            }
        }
        Ok(())
    }

    /// Sums of rows of more than a block.
    fn by_blocks(&self, recorder: &mut dyn Recorder, input: &Operand, output: &Operand, blocks: &Blocks) -> Result<()> {
        let kept = output.layout.rank() - 1;
        let (length, block) = (output.layout.dims()[kept], self.kernel.block());
        let (whole, rest) = (length / block, length % block);
        for (first, count, len) in [(0, whole, block), (whole * block, 1, rest)].into_iter().filter(|part| part.2 > 0) {
            self.serially(recorder, &cut(input, first, count, block, len), &cut(output, first, count, block, len))?;
        }
        // Blocks that something stands behind, and what each of them ends with in its row.
        let ended = whole - usize::from(rest == 0);
        let last = cut(output, block - 1, ended, block, 1);
        let last = Operand { layout: last.layout.pick(kept + 1, 0), ..last };
        let layout = Layout::dense(last.layout.dims())?;
        let bytes = (layout.len() * self.kernel.dtype.bytes()) as u64;
        let [own, ends] =
            [recorder.scratch(bytes)?, recorder.scratch(bytes)?].map(|buffer| Operand { buffer, layout: layout.clone() });
        blocks.collect.apply(recorder, &[last], std::slice::from_ref(&own), &[])?;
        self.serially(recorder, &own, &ends)?;
        for (first, count, len) in
            [(0, whole - 1, block), (whole - 1, 1, rest)].into_iter().filter(|part| part.1 * part.2 > 0)
        {
            let to = cut(output, (first + 1) * block, count, block, len);
            let layout = cut(&ends, first, count, 1, 1).layout.broadcast(to.layout.dims());
            blocks.join.apply(recorder, &[Operand { layout, ..ends.clone() }, to.clone()], &[to], &[])?;
        }
        Ok(())
    }

    fn scan(&self, recorder: &mut dyn Recorder, input: &Operand, output: &Operand) -> Result<()> {
        let (dims, block) = (output.layout.dims(), self.kernel.block());
        if is_exact(&self.kernel) || dims.last() <= Some(&block) || dims != input.layout.dims() || output.layout.is_empty() {
            return self.serially(recorder, input, output);
        }
        let blocks = match self.blocks.get() {
            Some(blocks) => blocks,
            None => {
                let made = Blocks::new(&self.kernel, &self.can, recorder.compiler())?;
                self.blocks.get_or_init(|| made)
            }
        };
        self.by_blocks(recorder, input, output, blocks)
    }

    /// Rows of one block each.
    fn serially(&self, recorder: &mut dyn Recorder, input: &Operand, output: &Operand) -> Result<()> {
        let (dims, size) = (output.layout.dims(), self.kernel.dtype.bytes());
        let Some((&length, kept)) = dims.split_last().filter(|_| input.layout.dims() == dims) else {
            return Err(Error::internal("scan: input and output differ in shape, or have no axis"));
        };
        if output.layout.is_empty() {
            return Ok(());
        }
        let reach = ((self.can.max_range - self.can.alignment) as usize).min(FARTHEST as usize * size);
        let rows: usize = kept.iter().product();
        let chunk = (length.saturating_mul(rows) / BUSY).clamp(CHUNK, LONGEST);
        let shown = |layout: &Layout| layout.range().len().saturating_mul(size) <= reach;
        let sides = [&input.layout, &output.layout];
        if is_exact(&self.kernel) && rows < BUSY / CHUNK && length >= 4 * chunk && sides.into_iter().all(shown) {
            return self.chunks(recorder, input, output, chunk);
        }
        // Of the output the place before a stretch is met too.
        let widest = sides.into_iter().map(|l| l.strides()[kept.len()].unsigned_abs()).fold(1, usize::max);
        let fitting = (reach / size / widest).saturating_sub(1);
        if fitting == 0 && length > 1 {
            return Err(Error::unsupported(format!("elements farther apart than the {reach} bytes a descriptor shows")));
        }
        self.rows(recorder, input, output, fitting.clamp(1, LONGEST).min(length))
    }
}

impl Program for ScanProgram {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        let ([input], [output]) = (&launch.inputs[..], &launch.outputs[..]) else {
            return Err(Error::internal("scan: one input and one output"));
        };
        self.scan(recorder, input, output)
    }
}

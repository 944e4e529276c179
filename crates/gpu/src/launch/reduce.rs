//! Launches of reductions: one dispatch, or two where an output has so many elements that a few threads would be left alone
//! with them.

use super::map::{LONGEST, MapProgram, computes};
use super::pieces::{FARTHEST, MOST, Piece, ROUNDS, Walked, pieces};
use super::variants::Variants;
use super::window::window;
use crate::Can;
use crate::Compiler;
use crate::Program;
use crate::code::Code;
use crate::emit::reduce::{Plan, SLOTS, Stage, shader, through};
use crate::emit::space::Numbers;
use crate::{Binding, Recorder};
use ferrotensor_core::backend::{Buffer, Launch, Operand};
use ferrotensor_core::kernel::tree::{LANES, ROWS};
use ferrotensor_core::kernel::{Map, Reduce};
use ferrotensor_core::layout::{Layout, Loops, coalesce};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{Error, Result, scalar};
use smallvec::SmallVec;
use std::sync::Arc;

/// Loops of a kernel: one for the outputs and for the elements of an output each. The last is the largest rank there is.
const RANKS: [usize; 4] = [1, 3, 8, 32];
/// Slots that keep a large device busy: 65,536 threads.
const BUSY: usize = 2048;
/// Groups of the tree that are worth a block: below, its lanes cost more to write and read than its elements.
const LEAST: usize = 8;
/// Groups of the tree that one thread goes along, a power of two: each has some twenty rounds of loops.
const GROUPS: usize = 2048;
const _: () = assert!(GROUPS * 20 < ROUNDS);

/// A reduction in plain form, and its pipelines for each number of loops and stage.
pub struct ReduceProgram {
    kernel: Reduce,
    plan: Plan,
    can: Can,
    pipelines: Variants<{ 3 * RANKS.len() }>,
}

/// The plan, and its first kernel.
///
/// # Errors
/// What the device lacks, in words.
pub fn emitted(kernel: &Reduce, can: &Can) -> Result<(Plan, Code), String> {
    let plan = Plan::new(kernel, can.arithmetic());
    plan.programs().into_iter().try_for_each(|program| computes(program, can))?;
    let shader = shader(&plan, RANKS[0], Stage::Whole, can)?;
    Ok((plan, shader))
}

/// How the elements of an output are cut: blocks, and groups of the tree in each.
fn cut(outputs: usize, elements: usize) -> (usize, usize) {
    let groups = elements.div_ceil(LANES * ROWS).max(1);
    let wanted = (BUSY / outputs.max(1)).clamp(1, (groups / LEAST).max(1));
    let span = groups.div_ceil(wanted).next_power_of_two().min(GROUPS);
    (groups.div_ceil(span), span)
}

/// Whether an element takes loops of its own, which may go far.
pub fn loops_inside(program: &scalar::Program) -> bool {
    program.instrs.iter().any(|i| i.op == Op::Gcd || i.op == Op::Rem && i.dtype.is_float())
}

/// Numbers of a launch that all its pieces share.
struct Shared<'a> {
    launch: &'a Launch,
    elements: usize,
    rank: usize,
    blocks: usize,
    span: usize,
    /// Number of the first element.
    first: usize,
    /// The words of the reduced space.
    reduced: Numbers,
}

impl ReduceProgram {
    /// # Errors
    /// `Code::Unsupported` as [`emitted`]; the driver's.
    pub fn new(kernel: &Reduce, can: &Can, compiler: &dyn Compiler) -> Result<ReduceProgram> {
        let (plan, shader) = emitted(kernel, can).map_err(Error::unsupported)?;
        let made = ReduceProgram { kernel: kernel.clone(), plan, can: can.clone(), pipelines: Variants::default() };
        made.pipelines.get(Stage::Whole as usize, compiler, || Ok(shader))?;
        Ok(made)
    }

    fn dispatch(
        &self,
        recorder: &mut dyn Recorder,
        of: &Shared,
        stage: Stage,
        (slots, kept): (usize, &[u32]),
        bindings: &[Binding],
    ) -> Result<()> {
        let make = || shader(&self.plan, RANKS[of.rank], stage, &self.can);
        let pipeline = self.pipelines.get(3 * of.rank + stage as usize, recorder.compiler(), make)?;
        let head = [slots as u32, of.blocks as u32, of.span as u32, of.first as u32];
        let words: Numbers = [&head[..], kept, &of.reduced, &[0]].into_iter().flatten().copied().collect();
        let groups = slots.div_ceil(SLOTS as usize).min(self.can.max_groups as usize) as u32;
        recorder.dispatch(&pipeline, &words, bindings, None, groups)
    }

    fn piece(&self, recorder: &mut dyn Recorder, of: &Shared, piece: &Piece) -> Result<()> {
        let (input, _, output) = self.plan.dtypes();
        let (source, target) = (&of.launch.inputs[0], &of.launch.outputs[0]);
        let (read, start) = window(source, input.bytes(), piece, 0, self.can.alignment, false)?;
        let (write, to) = window(target, output.bytes(), piece, 1, self.can.alignment, true)?;
        let starts = [start, to].into_iter().chain(piece.at[2..].iter().map(|&(first, ..)| first as usize));
        let strided: SmallVec<[_; 6]> = starts.zip(piece.strides.iter().map(|s| s.as_slice())).collect();
        let kept = self.plan.arguments(RANKS[of.rank]).0.write(&piece.dims, &strided, &[]);
        let outputs: usize = piece.dims.iter().product();
        recorder.charge((outputs * of.elements).saturating_mul(self.plan.work()) as u64);
        if of.blocks == 1 {
            return self.dispatch(recorder, of, Stage::Whole, (outputs, &kept), &[read, write]);
        }
        let lanes = self.lanes(recorder, outputs * of.blocks)?;
        let first: SmallVec<[Binding; 3]> = std::iter::once(read).chain(lanes.iter().map(|l| l.bind(true))).collect();
        self.dispatch(recorder, of, Stage::Blocks, (outputs * of.blocks, &kept), &first)?;
        let second: SmallVec<[Binding; 3]> = lanes.iter().map(|l| l.bind(false)).chain([write]).collect();
        self.dispatch(recorder, of, Stage::Rest, (outputs, &kept), &second)
    }

    /// The elements first stored one beside the other, as they lie along more than one way and beyond what a descriptor shows.
    fn stored(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        let Reduce { input, acc, pre, .. } = &self.kernel;
        let program = pre.clone().unwrap_or_else(|| through(*input, *acc));
        let params = program.params.len();
        let map = MapProgram::new(&Map { program }, &self.can, recorder.compiler())?;
        let rest = Reduce { input: *acc, pre: None, ..self.kernel.clone() };
        let rest = ReduceProgram::new(&rest, &self.can, recorder.compiler())?;
        let layout = Layout::dense(launch.inputs[0].layout.dims())?;
        let buffer = recorder.scratch((layout.len() * acc.bytes()) as u64)?;
        let between = Operand { buffer, layout };
        map.apply(recorder, &launch.inputs[..1], std::slice::from_ref(&between), &launch.params[..params])?;
        let rest_of = Launch {
            kernel: Arc::clone(&launch.kernel),
            inputs: SmallVec::from_iter([between]),
            outputs: launch.outputs.clone(),
            params: launch.params[params..].into(),
        };
        rest.record(recorder, &rest_of)
    }

    /// Outputs one by one, the elements of each in windows of whole blocks: more of them than a descriptor shows.
    fn windows(
        &self,
        recorder: &mut dyn Recorder,
        launch: &Launch,
        (kept, walked): (usize, &[Walked]),
        loops: &Loops,
        reach: usize,
    ) -> Result<()> {
        let (&[elements], Some(&[step])) = (&loops.dims[..], loops.strides.first().map(|s| &s[..])) else {
            return self.stored(recorder, launch);
        };
        let mut alone: SmallVec<[Walked; 6]> = walked.iter().copied().collect();
        if let Walked::Memory(_, _, margin) = &mut alone[0] {
            *margin = (0, 0);
        }
        let (from, partial, to) = self.plan.dtypes();
        let size = from.bytes();
        let (_, mut span) = cut(1, elements);
        // So many blocks together that their lanes begin where a binding may.
        let least = partial.iter().map(|d| d.bytes()).min().unwrap_or(1);
        let unit = (self.can.alignment as usize).div_ceil(LANES * least);
        let fitting = |span: usize| reach / size / step.unsigned_abs().max(1) / (span * LANES * ROWS) / unit * unit;
        while fitting(span) == 0 && span > 1 {
            span /= 2;
        }
        let (block, together) = (span * LANES * ROWS, fitting(span));
        if together == 0 && step.unsigned_abs() > 1 {
            return self.stored(recorder, launch);
        }
        if together == 0 {
            let text = format!("elements of one result beyond the {reach} bytes a descriptor shows, which are too few");
            return Err(Error::unsupported(text));
        }
        let blocks = elements.div_ceil(block);
        let (kept_words, reduced_words) = self.plan.arguments(RANKS[0]);
        for piece in pieces(&launch.inputs[0].layout.dims()[..kept], &alone, reach, 1)? {
            let (write, to) = window(&launch.outputs[0], to.bytes(), &piece, 1, self.can.alignment, true)?;
            let axes: SmallVec<[usize; 4]> = piece.at[2..].iter().map(|&(first, ..)| first as usize).collect();
            let outputs = |start: usize| {
                let starts = [start, to].into_iter().chain(axes.iter().copied());
                let places: SmallVec<[(usize, &[isize]); 6]> = starts.map(|first| (first, &[][..])).collect();
                kept_words.write(&[], &places, &[])
            };
            let inner = |first: usize, count: usize| {
                let places = loops.strides.iter().enumerate().map(|(n, s)| {
                    // Positions begin with the window, coordinates go on.
                    (if n == 0 { 0 } else { first * s[0] as usize }, &s[..])
                });
                let places: SmallVec<[(usize, &[isize]); 4]> = places.collect();
                reduced_words.write(&[count], &places, &launch.params)
            };
            let lanes = self.lanes(recorder, blocks)?;
            for begin in (0..blocks).step_by(together) {
                let now = together.min(blocks - begin);
                let (first, count) = (begin * block, (now * block).min(elements - begin * block));
                let at = piece.at[0].0 + first as i64 * step as i64;
                let end = at + (count as i64 - 1) * step as i64;
                let part = Piece::of(&[(at, at.min(end), at.max(end))]);
                let (read, start) = window(&launch.inputs[0], size, &part, 0, self.can.alignment, false)?;
                let parts = lanes.iter().map(|l| l.part(begin, now, blocks));
                let bindings: SmallVec<[Binding; 3]> = std::iter::once(read).chain(parts).collect();
                recorder.charge((count * self.plan.work()) as u64);
                let of = Shared { launch, elements, rank: 0, blocks: now, span, first, reduced: inner(first, count) };
                self.dispatch(recorder, &of, Stage::Blocks, (now, &outputs(start)), &bindings)?;
            }
            let bindings: SmallVec<[Binding; 3]> = lanes.iter().map(|l| l.bind(false)).chain([write]).collect();
            let of = Shared { launch, elements, rank: 0, blocks, span, first: 0, reduced: inner(0, elements) };
            self.dispatch(recorder, &of, Stage::Rest, (1, &outputs(0)), &bindings)?;
        }
        Ok(())
    }

    /// Memory for the lanes of blocks.
    fn lanes(&self, recorder: &mut dyn Recorder, slots: usize) -> Result<SmallVec<[Lanes; 2]>> {
        let (_, partial, _) = self.plan.dtypes();
        let made = partial.iter().map(|d| {
            let bytes = (slots * LANES * d.bytes()) as u64;
            Ok(Lanes { buffer: recorder.scratch(bytes)?, bytes })
        });
        made.collect()
    }
}

/// One part of the partial results of blocks.
struct Lanes {
    buffer: Buffer,
    bytes: u64,
}

impl Lanes {
    /// Those of some blocks, to be written.
    fn part(&self, from: usize, count: usize, blocks: usize) -> Binding<'_> {
        let each = self.bytes / blocks as u64;
        Binding { buffer: &self.buffer, offset: from as u64 * each, bytes: count as u64 * each, write: true }
    }

    fn bind(&self, write: bool) -> Binding<'_> {
        Binding { buffer: &self.buffer, offset: 0, bytes: self.bytes, write }
    }
}

/// The axes of a layout from `from` on, at position 0.
pub fn part(layout: &Layout, axes: std::ops::Range<usize>, offset: usize) -> Result<Layout> {
    Layout::new(&layout.dims()[axes.clone()], &layout.strides()[axes], offset, usize::MAX >> 1)
}

impl Program for ReduceProgram {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        let ([input], [output]) = (&launch.inputs[..], &launch.outputs[..]) else {
            return Err(Error::internal("reduce: one input and one output"));
        };
        let (rank, dims) = (input.layout.rank(), input.layout.dims());
        let kept = rank.checked_sub(self.kernel.axes).filter(|&n| dims[..n] == *output.layout.dims());
        let kept = kept.ok_or_else(|| Error::internal("reduce: the output does not have the kept axes"))?;
        let elements: usize = dims[kept..].iter().product();
        if output.layout.is_empty() {
            return Ok(());
        }
        if elements >= 1 << 31 {
            return Err(Error::unsupported("2^31 elements and more to one result"));
        }
        // What the reduced axes reach below and above an output's first element; a flipped axis reaches downwards.
        let mut margin = (0, 0);
        for (&dim, &stride) in dims[kept..].iter().zip(&input.layout.strides()[kept..]) {
            let reach = dim.saturating_sub(1) * stride.unsigned_abs();
            if stride < 0 { margin.0 += reach } else { margin.1 += reach }
        }
        let mut first = part(&input.layout, 0..kept, input.layout.offset())?;
        if elements == 0 {
            // Nothing is read, and strides of an empty layout lead anywhere.
            (margin, first) = ((0, 0), Layout::new(&dims[..kept], &vec![0; kept], 0, 1)?);
        }
        let (pre, post) = self.plan.axes();
        let (from, _, to) = self.plan.dtypes();
        let axis = |&a: &u8| Walked::Axis(Some(a as usize).filter(|&a| a < kept));
        let memory = [Walked::Memory(&first, from.bytes(), margin), Walked::Memory(&output.layout, to.bytes(), (0, 0))];
        let walked: SmallVec<[Walked; 6]> =
            memory.into_iter().chain(pre.iter().map(axis)).chain(post.iter().map(axis)).collect();
        let reach = ((self.can.max_range - self.can.alignment) as usize).min(FARTHEST as usize * from.bytes());
        if self.can.software && loops_inside(self.plan.pre()) {
            return self.stored(recorder, launch);
        }
        let inner = dims[kept..].len();
        let units = pre.iter().map(|&a| {
            let strides: SmallVec<[isize; 6]> = (0..inner).map(|n| (n + kept == a as usize) as isize).collect();
            Layout::new(&dims[kept..], &strides, 0, usize::MAX >> 1)
        });
        // Only steps count: what lies below the first element is in the window.
        let steps = part(&input.layout, kept..rank, margin.0)?;
        let layouts = std::iter::once(Ok(steps)).chain(units).collect::<Result<SmallVec<[Layout; 4]>>>()?;
        let references: SmallVec<[&Layout; 4]> = layouts.iter().collect();
        let loops = coalesce(&references);
        if (margin.0 + margin.1 + 1).saturating_mul(from.bytes()) > reach {
            return self.windows(recorder, launch, (kept, &walked), &loops, reach);
        }
        let most = LONGEST / elements.saturating_mul(self.plan.work()).max(1);
        let pieces = pieces(&dims[..kept], &walked, reach, most.clamp(1, MOST))?;
        let none = [0];
        let sizes: &[usize] = if elements == 0 { &none } else { &loops.dims };
        let most = pieces.iter().map(|p| p.dims.len()).max().unwrap_or(0).max(sizes.len());
        let rank = RANKS.iter().position(|&r| r >= most).ok_or_else(|| Error::internal("a rank above the largest"))?;
        let zeros = [0isize];
        let operands: SmallVec<[(usize, &[isize]); 4]> =
            loops.strides.iter().map(|s| (0, if elements == 0 { &zeros[..] } else { s.as_slice() })).collect();
        let reduced = self.plan.arguments(RANKS[rank]).1.write(sizes, &operands, &launch.params);
        for piece in &pieces {
            let (blocks, span) = cut(piece.dims.iter().product(), elements);
            let of = Shared { launch, elements, rank, blocks, span, first: 0, reduced: reduced.clone() };
            self.piece(recorder, &of, piece)?;
        }
        Ok(())
    }
}

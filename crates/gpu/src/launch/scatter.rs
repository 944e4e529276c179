//! Launches of scatters: a copy of the data, then stretches of updates in their order, each sorted by target.

use super::indexed::Axes;
use super::map::{MapProgram, computes};
use super::network::{Network, Pairs};
use super::pieces::{FARTHEST, ROUNDS, Walked, pieces};

use super::variants::Variants;
use super::window::{whole, windows};
use crate::Can;
use crate::Compiler;
use crate::Program;
use crate::code::{Code, GROUP};
use crate::emit::scatter::{self, step};
use crate::{Binding, Recorder};
use ferrotensor_core::backend::{Buffer, Launch, Operand};
use ferrotensor_core::kernel::{Map, Scatter};
use ferrotensor_core::layout::{Layout, coalesce, row_major};
use ferrotensor_core::{DType, Error, Result, scalar};
use smallvec::SmallVec;

/// Loops of each of a kernel's spaces. The last is the largest rank there is.
const DEPTHS: [usize; 4] = [1, 3, 8, 32];
/// Updates that are sorted together, of a software device and of a GPU: a thread may have to apply them all one after the other, in
/// fewer rounds than [`ROUNDS`], or in some 26 ms.
const STRETCH: [usize; 2] = [1 << 15, 1 << 18];
/// Elements of a dispatch: one for each thread of as many groups as every device takes, so that no thread goes along two targets.
const MOST: usize = 1 << 23;
const _: () = assert!(STRETCH[0] < ROUNDS && MOST <= ROUNDS * GROUP as usize);

/// A scatter, and its pipelines for each number of loops.
pub struct ScatterProgram {
    kernel: Scatter,
    step: Option<scalar::Program>,
    copy: MapProgram,
    sort: Network,
    can: Can,
    targets: Variants<{ DEPTHS.len() }>,
    apply: Variants<{ DEPTHS.len() }>,
}

/// How an update meets what is there, and the kernels over one loop.
///
/// # Errors
/// What the device lacks, in words.
pub fn emitted(kernel: &Scatter, can: &Can) -> Result<(Option<scalar::Program>, [Code; 2]), String> {
    let step = step(kernel, can.arithmetic());
    step.as_ref().map_or(Ok(()), |step| computes(step, can))?;
    let shaders = [scatter::targets(kernel, DEPTHS[0], can)?, scatter::apply(kernel, step.as_ref(), DEPTHS[0], can)?];
    Ok((step, shaders))
}

impl ScatterProgram {
    /// # Errors
    /// `Code::Unsupported` as [`emitted`]; the driver's.
    pub fn new(kernel: &Scatter, can: &Can, compiler: &dyn Compiler) -> Result<ScatterProgram> {
        let (step, [targets, apply]) = emitted(kernel, can).map_err(Error::unsupported)?;
        let copy = Map { program: scalar::Program::identity(kernel.dtype) };
        let made = ScatterProgram {
            kernel: kernel.clone(),
            step,
            copy: MapProgram::new(&copy, can, compiler)?,
            sort: Network::new(DType::U32, can),
            can: can.clone(),
            targets: Variants::default(),
            apply: Variants::default(),
        };
        made.sort.prepare(compiler)?;
        made.targets.get(0, compiler, || Ok(targets))?;
        made.apply.get(0, compiler, || Ok(apply))?;
        Ok(made)
    }

    /// The targets of a part's updates, as keys.
    fn targets(
        &self,
        recorder: &mut dyn Recorder,
        axes: &Axes,
        indices: &[Operand],
        part: &Part,
        keys: &Buffer,
    ) -> Result<()> {
        let references: SmallVec<[&Layout; 2]> = part.indices.iter().collect();
        let (loops, count) = (coalesce(&references), part.indices[0].len());
        let nth = depth(loops.dims.len());
        let mut bindings: SmallVec<[Binding; 4]> = SmallVec::new();
        let mut places: SmallVec<[(usize, &[isize]); 2]> = SmallVec::new();
        for (n, (operand, layout)) in indices.iter().zip(&part.indices).enumerate() {
            let (binding, begin) = whole(operand, layout, self.kernel.index[n].bytes(), self.can.alignment, false)?;
            bindings.push(binding);
            places.push((layout.offset() - begin, &loops.strides[n]));
        }
        bindings.push(Binding { buffer: keys, offset: 0, bytes: count as u64 * 4, write: true });
        // Targets are numbers in row-major order of the axes selected along.
        let mut words: Vec<u32> = axes.words(&row_major(axes.sizes())).collect();
        words.extend(scatter::targets_arguments(&self.kernel, DEPTHS[nth]).write(&loops.dims, &places, &[]));
        words.push(0);
        let make = || scatter::targets(&self.kernel, DEPTHS[nth], &self.can);
        let pipeline = self.targets.get(nth, recorder.compiler(), make)?;
        recorder.charge(40 * count as u64);
        recorder.dispatch(&pipeline, &words, &bindings, Some(&axes.tell), self.can.groups(count))
    }

    /// Sorts the updates of a part by target, and applies them.
    fn apply(&self, recorder: &mut dyn Recorder, launch: &Launch, axes: &Axes, part: &Part, pairs: &Pairs) -> Result<()> {
        let ([_, indices @ .., updates], [output]) = (&launch.inputs[..], &launch.outputs[..]) else {
            return Err(Error::internal("scatter: data, indices, updates and one output"));
        };
        let (count, batch) = (part.indices[0].len(), part.indices[0].rank());
        self.targets(recorder, axes, indices, part, &pairs.keys)?;
        // Indices into rows of no elements are looked at all the same.
        if part.updates.is_empty() || part.output.is_empty() {
            return Ok(());
        }
        self.sort.sort(recorder, pairs, 1, count, true)?;
        let selected = axes.sizes().len();
        let rest = &part.updates.dims()[batch..];
        let dims = [&[count], rest].concat();
        let along = |layout: &Layout, from: usize| {
            let strides: SmallVec<[isize; 6]> = std::iter::once(0).chain(layout.strides()[from..].iter().copied()).collect();
            // Only steps count; a flipped axis leads below the first element.
            let below = layout.dims()[from..].iter().zip(&strides[1..]).map(|(&d, &s)| (d - 1) * s.min(0).unsigned_abs());
            let below = below.sum();
            Ok::<_, Error>((Layout::new(&dims, &strides, below, usize::MAX >> 1)?, below))
        };
        let ((rows, row), (elements, element)) = (along(&part.output, selected)?, along(&part.updates, batch)?);
        let walked = [Walked::Axis(Some(0)), Walked::Place(&rows), Walked::Place(&elements)];
        let steps = |layout: &Layout, axes: usize| steps(&layout.dims()[..axes], &layout.strides()[..axes]);
        let (lead, own) = (steps(&part.output, selected), steps(&part.updates, batch));
        let size = self.kernel.dtype.bytes();
        let (from, begin) = whole(updates, &part.updates, size, self.can.alignment, false)?;
        let start = part.updates.offset() - begin;
        for seen in windows(output, size, true, true, &self.can)? {
            for piece in pieces(&dims, &walked, usize::MAX >> 1, MOST)? {
                let nth = depth(piece.dims.len().max(lead.0.len()).max(own.0.len()));
                let spaces = scatter::apply_arguments(DEPTHS[nth]);
                let strides = piece.strides.iter().map(|s| s.as_slice());
                let places: SmallVec<[_; 3]> = piece.at.iter().map(|&(first, ..)| first as usize).zip(strides).collect();
                // Positions are relative to windows, and wrap.
                let to = part.output.offset().wrapping_sub(row).wrapping_sub(seen.first);
                let mut words = vec![count as u32, seen.elements as u32];
                words.extend(spaces[0].write(&piece.dims, &places, &[]));
                words.extend(spaces[1].write(&lead.0, &[(to, &lead.1)], &[]));
                words.extend(spaces[2].write(&own.0, &[(start.wrapping_sub(element), &own.1)], &[]));
                words.push(0);
                let make = || scatter::apply(&self.kernel, self.step.as_ref(), DEPTHS[nth], &self.can);
                let pipeline = self.apply.get(nth, recorder.compiler(), make)?;
                let read = |buffer| Binding { buffer, offset: 0, bytes: count as u64 * 4, write: false };
                let bindings = [read(&pairs.keys), read(&pairs.indices), from, seen.binding];
                let elements: usize = piece.dims.iter().product();
                recorder.charge(100 * elements.max(count) as u64);
                recorder.dispatch(&pipeline, &words, &bindings, None, self.can.groups(elements))?;
            }
        }
        Ok(())
    }
}

fn depth(loops: usize) -> usize {
    DEPTHS.iter().position(|&r| r >= loops).unwrap_or(DEPTHS.len() - 1)
}

/// Axes as loops: sizes and strides.
fn steps(dims: &[usize], strides: &[isize]) -> (SmallVec<[usize; 6]>, SmallVec<[isize; 6]>) {
    dims.iter().zip(strides).filter(|(d, _)| **d != 1).map(|(&d, &s)| (d, s)).unzip()
}

/// Some of the updates of a launch, in order.
#[derive(Clone)]
struct Part {
    indices: SmallVec<[Layout; 2]>,
    updates: Layout,
    output: Layout,
}

impl Part {
    /// The axis to cut, where it is more than is sorted together or than one descriptor shows: of updates the first that has several,
    /// as their order is kept; of rows any, and the one that reaches farthest is where updates do not fit because of it.
    fn too_wide(&self, index: &[DType], size: usize, can: &Can) -> Option<usize> {
        let reach = (can.max_range - can.alignment) as usize;
        let shows =
            |layout: &Layout, size: usize| layout.range().len() <= FARTHEST as usize && layout.range().len() * size <= reach;
        let batch = self.indices[0].rank();
        let far = |axis: usize| (self.updates.dims()[axis] - 1).saturating_mul(self.updates.strides()[axis].unsigned_abs());
        let first = (0..batch).find(|&axis| self.updates.dims()[axis] > 1);
        let several = self.indices[0].len() > STRETCH[!can.software as usize];
        if several || !self.indices.iter().zip(index).all(|(layout, d)| shows(layout, d.bytes())) {
            return first;
        }
        if shows(&self.updates, size) {
            return None;
        }
        let row = (batch..self.updates.rank()).max_by_key(|&axis| far(axis)).filter(|&axis| far(axis) > 0);
        first.into_iter().chain(row).max_by_key(|&axis| far(axis))
    }

    /// The earlier and the later half along an axis of the updates.
    fn halves(&self, axis: usize) -> [Part; 2] {
        let (batch, dim) = (self.indices[0].rank(), self.updates.dims()[axis]);
        let part = |from: usize, to: usize| {
            let cut = |layout: &Layout, axis: usize| layout.slice(axis, from, 1, to - from);
            let mut part = self.clone();
            part.updates = cut(&self.updates, axis);
            if axis < batch {
                part.indices = self.indices.iter().map(|i| cut(i, axis)).collect();
            } else {
                part.output = cut(&self.output, self.output.rank() - (self.updates.rank() - axis));
            }
            part
        };
        [part(0, dim / 2), part(dim / 2, dim)]
    }
}

impl Program for ScatterProgram {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        let ([data, indices @ .., updates], [output]) = (&launch.inputs[..], &launch.outputs[..]) else {
            return Err(Error::internal("scatter: data, indices, updates and one output"));
        };
        let axes = Axes::new(&output.layout, indices)?;
        let rows = [indices[0].layout.dims(), &output.layout.dims()[axes.sizes().len()..]].concat();
        if updates.layout.dims() != rows || data.layout.dims() != output.layout.dims() {
            return Err(Error::internal("scatter: operands do not fit each other"));
        }
        let targets = axes.sizes().iter().try_fold(1usize, |all, &n| all.checked_mul(n)).filter(|&n| n < 1 << 31);
        if targets.is_none() {
            return Err(Error::unsupported("updates of one of 2^31 places and more"));
        }
        self.copy.apply(recorder, std::slice::from_ref(data), std::slice::from_ref(output), &[])?;
        let layouts = indices.iter().map(|i| i.layout.clone()).collect();
        let whole = Part { indices: layouts, updates: updates.layout.clone(), output: output.layout.clone() };
        let (mut left, mut parts) = (if indices[0].layout.is_empty() { Vec::new() } else { vec![whole] }, Vec::new());
        while let Some(part) = left.pop() {
            match part.too_wide(&self.kernel.index, self.kernel.dtype.bytes(), &self.can) {
                Some(axis) => {
                    let [earlier, later] = part.halves(axis);
                    left.extend([later, earlier]);
                }
                None => parts.push(part),
            }
        }
        // One after the other in the same memory.
        let most = parts.iter().map(|p| p.indices[0].len()).max().unwrap_or(0);
        let pairs = Pairs::new(recorder, DType::U32, most)?;
        parts.iter().try_for_each(|part| self.apply(recorder, launch, &axes, part, &pairs))
    }
}

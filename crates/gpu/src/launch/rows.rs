//! Launches of kernels of rows: one dispatch for as many rows as it may have; or the steps one after the other, where rows are longer
//! or reach farther than the kernel goes.

use super::map::{LONGEST as WORK, MapProgram, computes};
use super::pieces::{FARTHEST, MOST, Piece, ROUNDS, Walked, pieces};
use super::reduce::{ReduceProgram, loops_inside, part};
use super::variants::Variants;
use super::window::window;
use crate::Can;
use crate::Compiler;
use crate::Program;
use crate::code::Code;
use crate::emit::reduce::SLOTS;
use crate::emit::rows::{Plan, shader};
use crate::emit::space::RANKS;
use crate::{Binding, Recorder};
use ferrotensor_core::backend::{Launch, Operand};
use ferrotensor_core::kernel::tree::{LANES, ROWS};
use ferrotensor_core::layout::{Layout, coalesce};
use ferrotensor_core::rows::{LONGEST, Per, RowStep, Rows};
use ferrotensor_core::{DType, Error, Result};
use smallvec::SmallVec;
use std::sync::Arc;

/// Slots that keep a large device busy: 65,536 threads.
const BUSY: usize = 2048;

/// A kernel of rows in plain form, and its pipelines for each number of loops, of a slot a row and of all slots of a group.
pub struct RowsProgram {
    kernel: Rows,
    values: Vec<(DType, Per)>,
    plan: Plan,
    can: Can,
    pipelines: Variants<{ 2 * RANKS.len() }>,
}

/// The plan, and its first kernel.
///
/// # Errors
/// What the device lacks, in words.
pub fn emitted(kernel: &Rows, can: &Can) -> Result<(Plan, Code), String> {
    kernel.verify()?;
    let plan = Plan::new(kernel, can.arithmetic());
    plan.programs().try_for_each(|program| computes(program, can))?;
    if can.software && plan.programs().any(loops_inside) {
        return Err("elements of a row that take loops of their own".into());
    }
    let shader = shader(&plan, RANKS[0], 1, can)?;
    Ok((plan, shader))
}

/// Sizes of a launch.
struct Sizes<'a> {
    dims: &'a [usize],
    kept: usize,
    rows: usize,
    /// Elements of a row.
    elements: usize,
}

/// How a dispatch goes along rows.
struct Cut {
    /// Slots of a row, and groups of the tree in each.
    team: u32,
    span: usize,
    /// Rows of a dispatch at most.
    most: usize,
}

impl RowsProgram {
    /// # Errors
    /// `Code::Unsupported` as [`emitted`]; the driver's.
    pub fn new(kernel: &Rows, can: &Can, compiler: &dyn Compiler) -> Result<RowsProgram> {
        let (plan, shader) = emitted(kernel, can).map_err(Error::unsupported)?;
        let (kernel, values, can) = (kernel.clone(), kernel.values(), can.clone());
        let made = RowsProgram { kernel, values, plan, can, pipelines: Variants::default() };
        made.pipelines.get(0, compiler, || Ok(shader))?;
        Ok(made)
    }

    fn sizes<'a>(&self, launch: &'a Launch) -> Result<Sizes<'a>> {
        let whole = self.kernel.inputs.iter().zip(&launch.inputs).find(|((_, per), _)| *per == Per::Element);
        let dims = whole.map(|(_, o)| o.layout.dims()).ok_or_else(|| Error::internal("rows: no operand has elements"))?;
        let kept = dims.len().checked_sub(self.kernel.axes);
        let kept = kept.ok_or_else(|| Error::internal("rows: fewer axes than a row has"))?;
        let fits = |(v, o): (usize, &Operand)| {
            *o.layout.dims() == *if self.values[v].1 == Per::Element { dims } else { &dims[..kept] }
        };
        if !self.plan.operands().zip(launch.inputs.iter().chain(&launch.outputs)).all(fits) {
            return Err(Error::internal("rows: operand shapes do not fit"));
        }
        let count = |dims: &[usize]| dims.iter().product();
        Ok(Sizes { dims, kept, rows: count(&dims[..kept]), elements: count(&dims[kept..]) })
    }

    fn cut(&self, sizes: &Sizes) -> Cut {
        let groups = sizes.elements.div_ceil(LANES * ROWS);
        let team = if groups > 1 && sizes.rows < BUSY { SLOTS } else { 1 };
        let span = groups.div_ceil(team as usize).next_power_of_two();
        let (reductions, work) = self.plan.work();
        // Rounds of a thread's loops for one row: rows of the tree with the merging of groups, and the elements that are stored.
        let rounds = reductions * (span * (ROWS + 4) + 12) + sizes.elements / (team as usize * LANES) + 2;
        let together = (SLOTS / team) as usize * self.can.max_groups as usize;
        let most = (WORK / (sizes.elements * work)).min((ROUNDS / rounds).max(1).saturating_mul(together));
        Cut { team, span, most: most.clamp(1, MOST) }
    }

    /// The steps one after the other, each over whole operands.
    fn apart(&self, recorder: &mut dyn Recorder, launch: &Launch, sizes: &Sizes) -> Result<()> {
        let mut values: Vec<Operand> = launch.inputs.to_vec();
        let mut from = 0;
        for step in &self.kernel.steps {
            let (to, own) = (values.len(), step.params());
            let params = &launch.params[from..from + own.len()];
            from += own.len();
            let (dtype, per) = self.values[to];
            let target = match self.kernel.outputs.iter().position(|&o| o == to) {
                Some(n) => launch.outputs[n].clone(),
                None => {
                    let shape = if per == Per::Element { sizes.dims } else { &sizes.dims[..sizes.kept] };
                    let layout = Layout::dense(shape)?;
                    let buffer = recorder.scratch((layout.len() * dtype.bytes()).max(1) as u64)?;
                    Operand { buffer, layout }
                }
            };
            let seen = |&o: &usize| {
                let value = &values[o];
                if self.values[o].1 == per || per == Per::Row {
                    return Ok(value.clone());
                }
                // The value of a row for each of its elements.
                let strides = [value.layout.strides(), &vec![0; self.kernel.axes][..]].concat();
                let layout = Layout::new(sizes.dims, &strides, value.layout.offset(), usize::MAX >> 1)?;
                Ok(Operand { buffer: Arc::clone(&value.buffer), layout })
            };
            let operands = step.operands().iter().map(seen).collect::<Result<SmallVec<[Operand; 3]>>>()?;
            match step {
                RowStep::Map { map, .. } => {
                    let map = MapProgram::new(map, &self.can, recorder.compiler())?;
                    map.apply(recorder, &operands, std::slice::from_ref(&target), params)?;
                }
                RowStep::Reduce { reduce, .. } => {
                    let program = ReduceProgram::new(reduce, &self.can, recorder.compiler())?;
                    let part = Launch {
                        kernel: Arc::clone(&launch.kernel),
                        inputs: operands,
                        outputs: SmallVec::from_iter([target.clone()]),
                        params: params.into(),
                    };
                    program.record(recorder, &part)?;
                }
            }
            values.push(target);
        }
        Ok(())
    }

    fn piece(
        &self,
        recorder: &mut dyn Recorder,
        launch: &Launch,
        piece: &Piece,
        row: &[u32],
        (rank, sizes, cut): (usize, &Sizes, &Cut),
    ) -> Result<()> {
        let inputs = launch.inputs.len();
        let (mut bindings, mut starts): (SmallVec<[Binding; 4]>, SmallVec<[usize; 6]>) = Default::default();
        for (n, (operand, v)) in launch.inputs.iter().chain(&launch.outputs).zip(self.plan.operands()).enumerate() {
            let size = self.values[v].0.bytes();
            let (binding, start) = window(operand, size, piece, n, self.can.alignment, n >= inputs)?;
            bindings.push(binding);
            starts.push(start);
        }
        let strided: SmallVec<[_; 6]> = starts.into_iter().zip(piece.strides.iter().map(|s| s.as_slice())).collect();
        let rows: usize = piece.dims.iter().product();
        let space = self.plan.arguments(RANKS[rank]).0.write(&piece.dims, &strided, &[]);
        let words = [&[rows as u32, cut.span as u32][..], &space, row, &[0]].concat();
        let nth = 2 * rank + (cut.team > 1) as usize;
        let make = || shader(&self.plan, RANKS[rank], cut.team, &self.can);
        let pipeline = self.pipelines.get(nth, recorder.compiler(), make)?;
        recorder.charge((rows * sizes.elements).saturating_mul(self.plan.work().1) as u64);
        let groups = rows.div_ceil((SLOTS / cut.team) as usize).min(self.can.max_groups as usize) as u32;
        recorder.dispatch(&pipeline, &words, &bindings, None, groups)
    }
}

impl Program for RowsProgram {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        let given = launch.inputs.len() == self.kernel.inputs.len() && launch.outputs.len() == self.kernel.outputs.len();
        if !given || launch.params.len() != self.kernel.steps.iter().map(|s| s.params().len()).sum::<usize>() {
            return Err(Error::internal("rows: operands or parameters are not as many as the kernel has"));
        }
        let sizes = self.sizes(launch)?;
        if sizes.rows == 0 {
            return Ok(());
        }
        if sizes.elements == 0 || sizes.elements > LONGEST {
            return self.apart(recorder, launch, &sizes);
        }
        // Of each operand the first elements of rows, what a row reaches below and above them, and the steps along it.
        let (kept, rank) = (sizes.kept, sizes.dims.len());
        let whole = (self.can.max_range - self.can.alignment) as usize;
        let (mut firsts, mut margins, mut steps) = (Vec::new(), Vec::new(), Vec::new());
        let operands = || launch.inputs.iter().chain(&launch.outputs).zip(self.plan.operands());
        for (operand, v) in operands() {
            let layout = &operand.layout;
            let (mut margin, mut strides) = ((0, 0), SmallVec::<[isize; 6]>::from_elem(0, rank - kept));
            if self.values[v].1 == Per::Element {
                strides.copy_from_slice(&layout.strides()[kept..]);
            }
            for (&dim, &stride) in sizes.dims[kept..].iter().zip(&strides) {
                let reach = (dim - 1) * stride.unsigned_abs();
                if stride < 0 { margin.0 += reach } else { margin.1 += reach }
            }
            let size = self.values[v].0.bytes();
            if (margin.0 + margin.1 + 1).saturating_mul(size) > whole.min(FARTHEST as usize * size) {
                return self.apart(recorder, launch, &sizes);
            }
            firsts.push(part(layout, 0..kept, layout.offset())?);
            // Only steps count: what lies below the first element is in the window.
            steps.push(Layout::new(&sizes.dims[kept..], &strides, margin.0, usize::MAX >> 1)?);
            margins.push(margin);
        }
        let references: SmallVec<[&Layout; 8]> = steps.iter().collect();
        let loops = coalesce(&references);
        if loops.dims.len() > RANKS[RANKS.len() - 1] {
            return self.apart(recorder, launch, &sizes);
        }
        let walked: SmallVec<[Walked; 8]> = operands()
            .zip(firsts.iter().zip(&margins))
            .map(|((_, v), (first, &margin))| Walked::Memory(first, self.values[v].0.bytes(), margin))
            .collect();
        let cut = self.cut(&sizes);
        let all = pieces(&sizes.dims[..kept], &walked, whole, cut.most)?;
        let deepest = all.iter().map(|p| p.dims.len()).max().unwrap_or(0).max(loops.dims.len());
        let nth = crate::emit::space::variant(deepest);
        let places: SmallVec<[(usize, &[isize]); 8]> = loops.strides.iter().map(|s| (0, s.as_slice())).collect();
        let row = self.plan.arguments(RANKS[nth]).1.write(&loops.dims, &places, &launch.params);
        all.iter().try_for_each(|piece| self.piece(recorder, launch, piece, &row, (nth, &sizes, &cut)))
    }
}

//! `Rows` kernels: the maps and reductions that are their steps, made ready as such, and run over blocks of rows whose temporaries
//! stay in a core's cache ([`block`]), several at once where there is a pass for them ([`fused`]); or one after the other over whole operands, where
//! blocks would not do.

mod block;
mod fused;
mod passes;
mod plain;
#[cfg(target_arch = "x86_64")]
mod registers;
mod spread;
mod wide;

use crate::launch::{Context, Run, Slot, Slots};
use crate::map::MapKernel;
use crate::map::transpose::is_turned;
use crate::memory::CpuBuffer;
use crate::reduce::{self, ReduceKernel};
use crate::tier::Tier;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::rows::{LONGEST, Per, RowStep, Rows};
use fused::Pass;
use smallvec::SmallVec;
use std::ops::Range;

/// What is computed for a row.
enum Part {
    Map(MapKernel),
    Reduce(Box<ReduceKernel>),
}

struct Step {
    part: Part,
    /// Numbers of values.
    operands: Vec<usize>,
    /// The value it computes.
    to: usize,
    /// Whether a step reads that.
    is_read: bool,
    /// Its launch parameters among all.
    params: Range<usize>,
}

/// A compiled `Rows`.
pub struct RowsKernel {
    axes: usize,
    /// Values that come in.
    inputs: usize,
    /// Element size of each value, and how many of it there are.
    values: Vec<(usize, Per)>,
    steps: Vec<Step>,
    /// For each step the pass in its place.
    passes: Vec<Option<Pass>>,
    /// Values that go out.
    outputs: Vec<usize>,
    /// Copies of the values of rows that come in or go out, which blocks keep beside each other.
    moved: Vec<(usize, MapKernel)>,
}

/// Compiles a kernel.
///
/// # Errors
/// A sentence: a broken rule, or what one of its steps says.
pub fn prepare(kernel: &Rows, tier: Tier) -> Result<RowsKernel, String> {
    kernel.verify()?;
    let types = kernel.values();
    let (mut steps, mut from) = (Vec::new(), 0);
    for (n, step) in kernel.steps.iter().enumerate() {
        let part = match step {
            RowStep::Map { map, .. } => Part::Map(MapKernel::new(map, tier)?),
            RowStep::Reduce { reduce, .. } => Part::Reduce(Box::new(reduce::prepare(reduce, tier)?)),
        };
        let params = from..from + step.params().len();
        from = params.end;
        let to = kernel.inputs.len() + n;
        let is_read = kernel.steps.iter().any(|s| s.operands().contains(&to));
        steps.push(Step { part, operands: step.operands().to_vec(), to, is_read, params });
    }
    let crossing = (0..kernel.inputs.len()).chain(kernel.outputs.iter().copied()).filter(|&v| types[v].1 == Per::Row);
    let moved = crossing.map(|v| Ok((v, MapKernel::cast(types[v].0, types[v].0, tier)?)));
    Ok(RowsKernel {
        axes: kernel.axes,
        inputs: kernel.inputs.len(),
        moved: moved.collect::<Result<_, String>>()?,
        values: types.iter().map(|(d, per)| (d.bytes(), *per)).collect(),
        steps,
        passes: fused::passes(kernel, tier)?,
        outputs: kernel.outputs.clone(),
    })
}

/// Sizes of a launch.
struct Sizes<'a> {
    dims: &'a [usize],
    kept: &'a [usize],
    rows: usize,
    /// Elements of a row.
    extent: usize,
}

impl RowsKernel {
    fn sizes<'a>(&self, slots: &Slots<'a>) -> Result<Sizes<'a>> {
        let whole = (0..self.inputs).find(|&n| self.values[n].1 == Per::Element).map(|n| slots.inputs[n].0.dims());
        let dims = whole.ok_or_else(|| Error::internal("rows: no operand has elements"))?;
        let kept = dims.len().checked_sub(self.axes).map(|n| &dims[..n]);
        let kept = kept.ok_or_else(|| Error::internal("rows: fewer axes than a row has"))?;
        let fits = |(v, slot): (usize, &Slot)| slot.0.dims() == if self.values[v].1 == Per::Element { dims } else { kept };
        let numbers = (0..self.inputs).chain(self.outputs.iter().copied());
        if !numbers.zip(slots.inputs.iter().chain(&slots.outputs)).all(fits) {
            return Err(Error::internal("rows: operand shapes do not fit"));
        }
        let count = |dims: &[usize]| dims.iter().product();
        Ok(Sizes { dims, kept, rows: count(kept), extent: count(&dims[kept.len()..]) })
    }

    /// Where each value lies that comes in or goes out.
    fn memory<'a>(&self, slots: &Slots<'a>) -> Vec<Option<Slot<'a>>> {
        let mut memory: Vec<Option<Slot>> = slots.inputs.iter().map(|&s| Some(s)).collect();
        memory.resize(self.values.len(), None);
        for (&v, &slot) in self.outputs.iter().zip(&slots.outputs) {
            memory[v] = Some(slot);
        }
        memory
    }

    /// Each step over whole operands.
    fn apart(&self, slots: &Slots, sizes: &Sizes, params: &[u64], context: &Context) -> Result<()> {
        let dense = |per: Per| Layout::dense(if per == Per::Element { sizes.dims } else { sizes.kept });
        let mut layouts: Vec<Layout> = Vec::with_capacity(self.values.len());
        let (mut starts, mut held) = (Vec::with_capacity(self.values.len()), Vec::new());
        for (slot, &(size, per)) in self.memory(slots).iter().zip(&self.values) {
            let (layout, start) = match slot {
                Some((layout, start)) => ((*layout).clone(), *start),
                None => {
                    let layout = dense(per)?;
                    let bytes = layout.len().checked_mul(size).ok_or_else(|| Error::out_of_memory("a value too large"))?;
                    let buffer = CpuBuffer::new(bytes, context.account)?;
                    let start = buffer.as_ptr();
                    held.push(buffer);
                    (layout, start)
                }
            };
            layouts.push(layout);
            starts.push(start);
        }
        // The value of a row for each of its elements.
        let spread = layouts.iter().zip(&self.values).map(|(layout, (_, per))| match per {
            Per::Element => Ok(layout.clone()),
            Per::Row => {
                let strides = [layout.strides(), &vec![0; self.axes][..]].concat();
                Layout::new(sizes.dims, &strides, layout.offset(), usize::MAX)
            }
        });
        let spread = spread.collect::<Result<Vec<Layout>>>()?;
        for step in &self.steps {
            let own = &params[step.params.clone()];
            let seen = if self.values[step.to].1 == Per::Element { &spread } else { &layouts };
            let to = (&layouts[step.to], starts[step.to]);
            match &step.part {
                Part::Map(map) => {
                    let read = step.operands.iter().map(|&o| (&seen[o], starts[o]));
                    let operands: SmallVec<[Slot; 4]> = read.chain([to]).collect();
                    // SAFETY: a launch's layouts lie inside its buffers, its outputs overlap nothing, and temporaries have room.
                    unsafe { map.apply(&operands, own, context)? };
                }
                Part::Reduce(kernel) => {
                    let o = step.operands[0];
                    let slots = Slots {
                        inputs: SmallVec::from_iter([(&layouts[o], starts[o])]),
                        outputs: SmallVec::from_iter([to]),
                    };
                    kernel.run(&slots, own, context)?;
                }
            }
        }
        Ok(())
    }
}

impl Run for RowsKernel {
    fn run(&self, slots: &Slots, params: &[u64], context: &Context) -> Result<()> {
        let sizes = self.sizes(slots)?;
        let turned = |n: usize| self.values[n].1 == Per::Element && is_turned(slots.inputs[n].0, self.values[n].0);
        // A long row is shared among threads only as a whole operand is; a turned operand is collected once.
        if sizes.rows * sizes.extent == 0 || sizes.extent > LONGEST || (0..self.inputs).any(turned) {
            return self.apart(slots, &sizes, params, context);
        }
        self.by_blocks(slots, &sizes, params, context)
    }
}

//! `Map` kernels: tile programs over operands of one shape, any layouts.

pub mod compile;
pub mod coordinates;
pub mod frame;
pub mod function;
pub mod groups;
#[cfg(target_arch = "x86_64")]
pub mod registers;
mod single;
pub mod squares;
pub mod table;
pub mod tile;
pub mod transpose;
pub mod view;

use crate::launch::{Context, Run, Slots};
use crate::parallel::parallel_for;
use crate::tier::Tier;
use compile::{Results, TileProgram, compile_apart, simple};
use ferrotensor_core::DType;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::Map;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::scalar::{Builder, Op, Program};
use frame::{Bound, Frame, Memory};
use groups::Groups;
use single::run_single_tile;
use smallvec::SmallVec;

type Operands<'a> = SmallVec<[Memory<'a>; 4]>;

/// A compiled `Map`.
pub struct MapKernel {
    program: TileProgram,
    /// The same with what neighbours share, where there is something.
    groups: Option<Box<Groups>>,
}

impl MapKernel {
    /// Compiles a kernel.
    ///
    /// # Errors
    /// As [`compile::compile`].
    pub fn new(kernel: &Map, tier: Tier) -> Result<MapKernel, String> {
        MapKernel::of(&kernel.program, tier)
    }

    /// The conversion of one dtype to another; a copy where they are equal.
    ///
    /// # Errors
    /// As [`compile::compile`].
    pub fn cast(from: DType, to: DType, tier: Tier) -> Result<MapKernel, String> {
        MapKernel::of(&cast_program(from, to), tier)
    }

    fn of(program: &Program, tier: Tier) -> Result<MapKernel, String> {
        let program = simple(program)?;
        Ok(MapKernel {
            program: compile_apart(&program, Results::Stored, tier)?,
            groups: Groups::find(&program, tier).map(Box::new),
        })
    }

    /// What it does to a tile.
    pub fn program(&self) -> &TileProgram {
        &self.program
    }

    /// Runs over operands in memory: inputs, then outputs, of one shape.
    ///
    /// # Safety
    /// As [`Bound::new`].
    ///
    /// # Errors
    /// `Code::OutOfMemory`, or `Code::Internal` where the operands do not fit the program.
    pub unsafe fn apply(&self, operands: &[(&Layout, *mut u8)], params: &[u64], context: &Context) -> Result<()> {
        // SAFETY: by the contract above.
        unsafe { self.launch(&operands.iter().map(|&o| Some(o)).collect::<Operands>(), params, context) }
    }

    /// # Safety
    /// As [`Bound::new`].
    unsafe fn launch(&self, operands: &[Memory], params: &[u64], context: &Context) -> Result<()> {
        let turned = |i: usize, o: &Memory| o.is_some_and(|(l, _)| transpose::is_turned(l, self.program.inputs[i].0));
        let inputs = &operands[..self.program.inputs.len().min(operands.len())];
        if let Some(n) = inputs.iter().enumerate().position(|(i, o)| turned(i, o)) {
            // SAFETY: by the contract above.
            return unsafe { self.launch_turned(n, operands, params, context) };
        }
        let program = self.groups.as_ref().and_then(|groups| groups.fitting(operands)).unwrap_or(&self.program);
        // SAFETY: by the contract above.
        let bound = unsafe { Bound::new(program, operands, params)? }.passing();
        let (total, tile) = (bound.domain.total, program.tile);
        if total <= tile {
            // SAFETY: the whole domain, on this thread.
            unsafe { Frame::new(&bound, total)?.run_range(0, total, context.abandoned) };
            return Ok(());
        }
        let grain = bound.domain.grain(tile);
        parallel_for(total.div_ceil(grain), bound.nanos() * grain as f64, &|range| {
            let (at, end) = (range.start * grain, (range.end * grain).min(total));
            // SAFETY: ranges are disjoint.
            unsafe { Frame::new(&bound, tile)?.run_range(at, end - at, context.abandoned) };
            Ok(())
        })
    }
}

impl MapKernel {
    /// A launch whose input `n` is turned: copied straight where that is all there is to do, else made dense first (one
    /// more pass over memory, but 10 times less than a cache line for each element).
    ///
    /// # Safety
    /// As [`Bound::new`].
    unsafe fn launch_turned(&self, n: usize, operands: &[Memory], params: &[u64], context: &Context) -> Result<()> {
        let (Some(Some(from)), Some(to)) = (operands.get(n).copied(), operands.last().copied().flatten()) else {
            return Err(Error::internal("launch: an operand is missing"));
        };
        let size = self.program.inputs[n].0;
        if self.program.is_copy && operands.len() == 2 && from.0.dims() == to.0.dims() {
            // SAFETY: by the contract above.
            return unsafe { transpose::copy(from, to, size, context) };
        }
        // SAFETY: by the contract above.
        let (copy, layout) = unsafe { transpose::dense(from, size, context)? };
        let mut operands: Operands = operands.iter().copied().collect();
        operands[n] = Some((&layout, copy.as_ptr()));
        // SAFETY: by the contract above.
        unsafe { self.launch(&operands, params, context) }
    }
}

impl Run for MapKernel {
    fn run(&self, slots: &Slots, params: &[u64], context: &Context) -> Result<()> {
        // SAFETY: a launch's layouts lie inside its buffers and its outputs overlap nothing.
        if unsafe { run_single_tile(&self.program, &slots.inputs, &slots.outputs, params)? } {
            return Ok(());
        }
        let operands: Operands = slots.inputs.iter().chain(&slots.outputs).map(|&o| Some(o)).collect();
        // SAFETY: as above.
        unsafe { self.launch(&operands, params, context) }
    }
}

/// The program that converts its input.
pub fn cast_program(from: DType, to: DType) -> Program {
    let mut b = Builder::new();
    let x = b.input(from);
    let y = b.cast(x, to);
    b.finish(&[y])
}

/// The program that makes an int64 of an index of any integer dtype; what no int64 holds becomes the largest one, which is
/// out of every range.
pub fn index_program(from: DType) -> Program {
    let mut b = Builder::new();
    let mut x = b.input(from);
    if from == DType::U64 {
        let top = b.bits(from, i64::MAX as u64);
        x = b.binary(Op::Min, x, top);
    }
    let y = b.cast(x, DType::I64);
    b.finish(&[y])
}

//! Launches of maps.

use super::pieces::{MOST, Walked, pieces};
use super::variants::Variants;
use super::window::window;
use crate::Can;
use crate::Compiler;
use crate::Program;
use crate::code::Code;
use crate::emit::{
    self,
    space::{RANKS, variant},
};
use crate::{Binding, Recorder};
use ferrotensor_core::backend::{Launch, Operand};
use ferrotensor_core::kernel::Map;
use ferrotensor_core::scalar::{self, plain};
use ferrotensor_core::{Error, Result};
use smallvec::SmallVec;

/// Instructions of one dispatch. A software device executes some 10^10 of them in a second and a GPU more, so that this many take
/// at most the 100 ms a submission may take.
pub const LONGEST: usize = 1 << 30;

/// A map in plain form, and its pipelines for each number of loops.
pub struct MapProgram {
    program: scalar::Program,
    /// Coordinates its program asks for.
    axes: Vec<u8>,
    can: Can,
    pipelines: Variants<{ RANKS.len() }>,
}

/// The plain program, and its kernel over one loop.
///
/// # Errors
/// What the device lacks, in words.
pub fn emitted(map: &Map, can: &Can) -> Result<(scalar::Program, Code), String> {
    let program = plain(&map.program, can.arithmetic());
    computes(&program, can)?;
    emit::map::shader(&program, RANKS[0], can).map(|shader| (program, shader))
}

/// Whether the device has what a plain program computes in.
///
/// # Errors
/// What it lacks, in words.
pub fn computes(program: &scalar::Program, can: &Can) -> Result<(), String> {
    let needs = emit::needs(program);
    let lacks = [
        (needs.float64 && !can.float64, "no float64 to compute in"),
        (needs.int64 && !can.int64, "no int64 to compute in"),
        (needs.fma64 && !can.fma64, "no fused multiply-add of float64"),
    ];
    lacks.iter().find(|(lacks, _)| *lacks).map_or(Ok(()), |(_, reason)| Err((*reason).into()))
}

impl MapProgram {
    /// # Errors
    /// `Code::Unsupported` as [`emitted`]; the driver's.
    pub fn new(map: &Map, can: &Can, compiler: &dyn Compiler) -> Result<MapProgram> {
        let (program, shader) = emitted(map, can).map_err(Error::unsupported)?;
        let axes = emit::map::axes(&program);
        let made = MapProgram { program, axes, can: can.clone(), pipelines: Variants::default() };
        made.pipelines.get(0, compiler, || Ok(shader))?;
        Ok(made)
    }

    /// Records the map of operands.
    ///
    /// # Errors
    /// As [`Program::record`].
    pub fn apply(&self, recorder: &mut dyn Recorder, inputs: &[Operand], outputs: &[Operand], params: &[u64]) -> Result<()> {
        let first = outputs.first().ok_or_else(|| Error::internal("a map without outputs"))?;
        let dims = first.layout.dims();
        let results = (0..outputs.len()).map(|n| self.program.output_dtype(n));
        let dtypes: SmallVec<[_; 4]> = self.program.inputs.iter().copied().chain(results).collect();
        let operands: SmallVec<[_; 4]> = inputs.iter().chain(outputs).collect();
        let memory = operands.iter().zip(&dtypes).map(|(o, d)| Walked::Memory(&o.layout, d.bytes(), (0, 0)));
        let walked: SmallVec<[_; 6]> =
            memory.chain(self.axes.iter().map(|&axis| Walked::Axis(Some(axis as usize)))).collect();
        let alignment = self.can.alignment;
        // Work of an element in bytes moved at the same pace; what would hold up a submission alone is cut.
        let work = self.program.instrs.len();
        let most = (LONGEST / work.max(1)).clamp(1, MOST);
        for piece in pieces(dims, &walked, (self.can.max_range - alignment) as usize, most)? {
            let nth = variant(piece.dims.len());
            let mut bindings: SmallVec<[Binding; 4]> = SmallVec::new();
            let mut starts: SmallVec<[usize; 6]> = SmallVec::new();
            for (n, (operand, dtype)) in operands.iter().zip(&dtypes).enumerate() {
                let write = n >= inputs.len();
                let (binding, start) = window(operand, dtype.bytes(), &piece, n, alignment, write)?;
                bindings.push(binding);
                starts.push(start);
            }
            for &(first, _, last) in &piece.at[operands.len()..] {
                if last >= 1 << 31 {
                    return Err(Error::unsupported("a position of 2^31 and more"));
                }
                starts.push(first as usize);
            }
            let strided: SmallVec<[_; 6]> = starts.into_iter().zip(piece.strides.iter().map(|s| s.as_slice())).collect();
            let mut words = emit::map::arguments(&self.program, RANKS[nth]).write(&piece.dims, &strided, params);
            words.push(0);
            let count: usize = piece.dims.iter().product();
            let make = || emit::map::shader(&self.program, RANKS[nth], &self.can);
            let pipeline = self.pipelines.get(nth, recorder.compiler(), make)?;
            recorder.charge((count * work) as u64);
            recorder.dispatch(&pipeline, &words, &bindings, None, self.can.groups(count))?;
        }
        Ok(())
    }
}

impl Program for MapProgram {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        self.apply(recorder, &launch.inputs, &launch.outputs, &launch.params)
    }
}

//! The kernel of rows: maps and reductions along the last axes that meet each row once instead of the whole operand each.

use crate::dtype::DType;
use crate::kernel::{Combine, Map, Reduce};
use crate::scalar;

/// How many of a value there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Per {
    /// One for each element: `[kept..., row...]`.
    Element,
    /// One for each row: `[kept...]`.
    Row,
}

/// Steps along rows, in one pass. The bits are those of its steps run as [`Map`] and [`Reduce`] kernels one after the other.
///
/// Values have numbers: first the inputs, then one of each step. Where an elementwise step reads a value of rows, each element
/// meets that of its row. Launch parameters are those of the steps, in order. Any length of rows is computed, but the kernel is
/// made for rows of up to [`LONGEST`] elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rows {
    /// Number of trailing axes that make a row.
    pub axes: usize,
    /// Inputs, at most 64: `[kept..., row...]` or `[kept...]`, at least one of the first kind.
    pub inputs: Vec<(DType, Per)>,
    /// At least one.
    pub steps: Vec<RowStep>,
    /// Values of steps that are stored, each once; at least one.
    pub outputs: Vec<usize>,
}

/// What is done with a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RowStep {
    /// A program of one output that asks for no positions; the value is one for each element where an operand is.
    #[allow(missing_docs)]
    Map { map: Map, operands: Vec<usize> },
    /// A combination to a value (not to a position) of the elements of the row; its programs ask for no positions either.
    #[allow(missing_docs)]
    Reduce { reduce: Reduce, operand: usize },
}

/// Elements of a row at most in the kernels that fusion makes: more are a reduction's own work, which all threads share.
// 64 KiB of float32: the operands and temporaries of a row stay in a core's second-level cache, and one thread is done with a row
// before others could be woken.
pub const LONGEST: usize = 1 << 14;

impl RowStep {
    /// Numbers of the values it reads.
    pub fn operands(&self) -> &[usize] {
        match self {
            RowStep::Map { operands, .. } => operands,
            RowStep::Reduce { operand, .. } => std::slice::from_ref(operand),
        }
    }

    /// Dtype of each launch parameter.
    pub fn params(&self) -> Vec<DType> {
        match self {
            RowStep::Map { map, .. } => map.program.params.clone(),
            RowStep::Reduce { reduce, .. } => reduce.params(),
        }
    }

    /// Its programs.
    pub fn programs(&self) -> impl Iterator<Item = &scalar::Program> {
        let (map, reduce) = match self {
            RowStep::Map { map, .. } => (Some(&map.program), None),
            RowStep::Reduce { reduce, .. } => (None, Some(reduce)),
        };
        map.into_iter().chain(reduce.into_iter().flat_map(|r| r.pre.iter().chain(&r.post)))
    }
}

impl Rows {
    /// Type of each value, of a kernel that keeps the rules of [`Rows::verify`].
    pub fn values(&self) -> Vec<(DType, Per)> {
        let mut values = self.inputs.clone();
        for step in &self.steps {
            values.push(match step {
                RowStep::Map { map, operands } => {
                    let elements = operands.iter().any(|&o| values[o].1 == Per::Element);
                    (map.program.output_dtype(0), if elements { Per::Element } else { Per::Row })
                }
                RowStep::Reduce { reduce, .. } => (reduce.results()[0], Per::Row),
            });
        }
        values
    }

    /// Type of each output.
    pub fn results(&self) -> Vec<(DType, Per)> {
        let values = self.values();
        self.outputs.iter().map(|&o| values[o]).collect()
    }

    /// For each output the inputs that it depends on, as bits by their numbers.
    pub fn reach(&self) -> Vec<u64> {
        let mut reach: Vec<u64> = (0..self.inputs.len()).map(|n| 1 << n.min(63)).collect();
        for step in &self.steps {
            reach.push(step.operands().iter().fold(0, |mask, &o| mask | reach[o]));
        }
        self.outputs.iter().map(|&o| reach[o]).collect()
    }

    /// The rules stated above.
    ///
    /// # Errors
    /// A sentence naming the first one that is broken.
    pub fn verify(&self) -> Result<(), String> {
        if self.steps.is_empty() || self.outputs.is_empty() || !self.inputs.iter().any(|i| i.1 == Per::Element) {
            return Err("rows: a kernel has a step, an output and an input of elements".into());
        }
        let mut known = self.inputs.len();
        for step in &self.steps {
            if step.operands().iter().any(|&o| o >= known) {
                return Err("rows: a step reads a value that comes later".into());
            }
            for program in step.programs() {
                scalar::verify(program)?;
                if program.uses_index() || program.outputs.len() != 1 {
                    return Err("rows: a program needs one output, and may not ask for positions".into());
                }
            }
            known += 1;
        }
        let values = self.values();
        for step in &self.steps {
            let given: Vec<DType> = step.operands().iter().map(|&o| values[o].0).collect();
            let fits = match step {
                RowStep::Map { map, .. } => map.program.inputs == given,
                RowStep::Reduce { reduce, operand } => {
                    let valued = matches!(reduce.combine, Combine::Value(_));
                    reduce.is_plain()
                        && valued
                        && reduce.axes == self.axes
                        && given == [reduce.input]
                        && values[*operand].1 == Per::Element
                }
            };
            if !fits {
                return Err("rows: operands do not fit a step".into());
            }
        }
        let stored = |(n, o): (usize, &usize)| (self.inputs.len()..known).contains(o) && !self.outputs[..n].contains(o);
        match self.outputs.iter().enumerate().all(stored) {
            true => Ok(()),
            false => Err("rows: each output is the value of a step, and stored once".into()),
        }
    }
}

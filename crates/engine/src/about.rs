//! What the steps of a schedule launch, in words: for profiles and plans.

use crate::fuse::Ops;
use crate::schedule::{Schedule, Step};
use crate::work;
use ferrotensor_core::DType;
use ferrotensor_core::kernel::{Kernel, Map};
use ferrotensor_core::scalar::Program;
use ferrotensor_ops::def::by_id;
use smallvec::SmallVec;
use std::fmt::Write;

/// What a step launches.
pub struct About<'a> {
    /// What is computed.
    pub kernel: &'a Kernel,
    ops: Ops,
    inputs: SmallVec<[&'a [usize]; 3]>,
    outputs: SmallVec<[&'a [usize]; 1]>,
}

/// What a step launches; nothing for one that launches nothing.
pub fn about(schedule: &Schedule, step: u32) -> Option<About<'_>> {
    let n = step as usize;
    let dims = |v: u32| schedule.values[v as usize].1.as_slice();
    let copy = |kernel, v: u32| About {
        kernel,
        ops: Ops::from_slice(&[schedule.ops[n]]),
        inputs: SmallVec::from_slice(&[dims(v)]),
        outputs: SmallVec::from_slice(&[dims(v)]),
    };
    Some(match schedule.steps.get(n)? {
        Step::Launch { resolved, ops, inputs, to, outputs, .. } => About {
            kernel: &resolved.kernel,
            ops: ops.clone(),
            inputs: inputs.iter().map(|v| dims(v.0)).collect(),
            outputs: (0..outputs.len() as u32).map(|o| dims(to.0 + o)).collect(),
        },
        Step::View { copy: Some(c), of, .. } => copy(&c.resolved.kernel, of.0),
        Step::CopyInto { resolved, from, .. } => copy(&resolved.kernel, from.0),
        Step::View { copy: None, .. } | Step::Reserve { .. } => return None,
    })
}

impl About<'_> {
    /// Floating-point operations, where they are known.
    pub fn flops(&self) -> Option<f64> {
        work::flops(self.kernel, &self.inputs, &self.outputs)
    }

    /// Whether they are in float64.
    pub fn is_double(&self) -> bool {
        let wide = |d: &DType| matches!(d, DType::F64 | DType::C128);
        self.kernel.inputs().iter().chain(&self.kernel.outputs()).any(wide)
    }

    /// `map multiply add exp float32 [1024, 1024]`.
    pub fn name(&self) -> String {
        let copies =
            |map: &Map| map.program.outputs.len() == 1 && map.program == Program::identity(map.program.output_dtype(0));
        let kind = match self.kernel {
            Kernel::Map(map) if copies(map) => "copy",
            kernel => kernel.kind(),
        };
        let mut name = kind.to_owned();
        for op in self.ops.iter().filter_map(|&op| by_id(op)) {
            let path = op.path();
            if path != kind {
                let _ = write!(name, " {path}");
            }
        }
        let (takes, gives) = (self.kernel.inputs(), self.kernel.outputs());
        match (takes.first(), gives.first()) {
            (Some(from), Some(to)) if from != to => _ = write!(name, " {from} -> {to}"),
            (_, Some(to)) => _ = write!(name, " {to}"),
            _ => {}
        }
        let first = |shapes: &[&[usize]]| shapes.first().map_or_else(|| "[]".into(), |dims| format!("{dims:?}"));
        let (from, to) = (first(&self.inputs), first(&self.outputs));
        let _ = match (self.kernel, self.inputs.get(1)) {
            (Kernel::Contract(_) | Kernel::Attention(_), Some(b)) => write!(name, " {from} x {b:?}"),
            (Kernel::Map(_), _) => write!(name, " {to}"),
            _ if from == to || self.inputs.is_empty() => write!(name, " {to}"),
            _ => write!(name, " {from} -> {to}"),
        };
        name
    }
}

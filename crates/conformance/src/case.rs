//! One call of one row with its operands' elements and how they lie in memory; the same case runs on the reference and on
//! every variant of every backend.

use crate::executor::{self, Known};
use crate::view;
use ferrotensor_core::reference::Array;
use ferrotensor_core::{Dims, Error, Result};
use ferrotensor_ops::attrs::Attrs;
use ferrotensor_ops::def::OpDef;
use ferrotensor_ops::dtype_rule::Arg;
use ferrotensor_ops::graph::{Def, Graph, IndexItem, Number, Val, View};
use ferrotensor_ops::lower::{self, Operand as Lowered};

/// How an operand lies in its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Dense, row-major.
    Contiguous,
    /// Dense with the axes in reverse order.
    Transposed,
    /// A part of a larger tensor: an offset, gaps between rows, every second element of the last axis.
    Sliced,
    /// Stride 0 along one axis.
    Broadcast,
    /// Negative strides along all axes.
    Reversed,
}

impl Placement {
    /// Every placement.
    pub const ALL: [Placement; 5] =
        [Placement::Contiguous, Placement::Transposed, Placement::Sliced, Placement::Broadcast, Placement::Reversed];

    /// Name in cases.
    pub fn name(self) -> &'static str {
        match self {
            Placement::Contiguous => "contiguous",
            Placement::Transposed => "transposed",
            Placement::Sliced => "sliced",
            Placement::Broadcast => "broadcast",
            Placement::Reversed => "reversed",
        }
    }

    /// Whether an operand of this rank can lie so and differently from the others.
    pub fn fits(self, rank: usize) -> bool {
        match self {
            Placement::Contiguous => true,
            Placement::Transposed => rank >= 2,
            _ => rank >= 1,
        }
    }

    /// Shape of the dense tensor underneath.
    pub fn base_dims(self, dims: &[usize]) -> Dims {
        let last = dims.len().wrapping_sub(1);
        match self {
            Placement::Contiguous | Placement::Reversed => dims.iter().copied().collect(),
            Placement::Transposed => dims.iter().rev().copied().collect(),
            Placement::Sliced => dims.iter().enumerate().map(|(a, &d)| if a == last { 2 * d + 3 } else { d + 2 }).collect(),
            // The axis whose repetition is the more unusual: the inner one of even shapes, the outer one of others.
            Placement::Broadcast => {
                dims.iter().enumerate().map(|(a, &d)| if a == self.repeated(dims) { 1 } else { d }).collect()
            }
        }
    }

    fn repeated(self, dims: &[usize]) -> usize {
        if dims.iter().sum::<usize>() % 2 == 0 { dims.len() - 1 } else { 0 }
    }

    /// The view of the dense tensor.
    pub fn view(self, dims: &[usize]) -> Option<View> {
        let rank = dims.len();
        Some(match self {
            Placement::Contiguous => return None,
            Placement::Transposed => View::Permute((0..rank).rev().collect()),
            Placement::Reversed => View::Flip((0..rank).collect()),
            Placement::Broadcast => View::Broadcast(dims.iter().copied().collect()),
            Placement::Sliced => View::Index(
                (0..rank)
                    .map(|a| {
                        let step = if a + 1 == rank { 2 } else { 1 };
                        IndexItem::Slice { start: Number::Const(1), step: Number::Const(step), len: dims[a] }
                    })
                    .collect(),
            ),
        })
    }

    /// The row that makes the view, its attribute words and run-time numbers.
    pub fn call(self, dims: &[usize]) -> Option<(&'static str, Vec<f64>, Vec<f64>)> {
        let rank = dims.len() as f64;
        let sizes = || dims.iter().map(|&d| d as f64);
        Some(match self {
            Placement::Contiguous => return None,
            Placement::Transposed => {
                ("permuteDims", std::iter::once(rank).chain((0..dims.len()).rev().map(|a| a as f64)).collect(), vec![])
            }
            Placement::Reversed => ("flip", vec![-1.0], vec![]),
            Placement::Broadcast => ("broadcastTo", std::iter::once(rank).chain(sizes()).collect(), vec![]),
            Placement::Sliced => (
                "at",
                std::iter::once(rank).chain(sizes().flat_map(|d| [2.0, d])).collect(),
                (0..dims.len()).flat_map(|a| [1.0, if a + 1 == dims.len() { 2.0 } else { 1.0 }]).collect(),
            ),
        })
    }
}

/// One operand of a case.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A tensor.
    Tensor {
        /// The dense elements underneath.
        base: Array,
        /// How the operand shows them.
        placement: Placement,
        /// What it shows.
        logical: Array,
    },
    /// A weak scalar and its 8 bytes.
    Weak(Arg, u64),
    /// Left out.
    Absent,
}

impl Operand {
    /// A tensor of these elements, seen through a placement.
    ///
    /// # Errors
    /// `Code::Internal` when the base is not of the placement's base shape.
    pub fn tensor(base: Array, placement: Placement, dims: &[usize]) -> Result<Operand> {
        let logical = match placement.view(dims) {
            None => base.clone(),
            Some(v) => view::pick(&base, &view::positions(&v, base.dims(), dims, &[])?, dims)?,
        };
        Ok(Operand::Tensor { base, placement, logical })
    }
}

/// One call.
#[derive(Clone)]
pub struct Case {
    /// The row.
    pub op: &'static OpDef,
    /// Operands, as many as the row (or the variadic call) has.
    pub operands: Vec<Operand>,
    /// Attribute words, as TypeScript sends them.
    pub words: Vec<f64>,
    /// The row's own run-time numbers.
    pub numbers: Vec<f64>,
    /// The attribute word that names the device, for rows that have one.
    pub device_word: Option<usize>,
    /// Which value of which axis it stands for.
    pub axes: Vec<(String, String)>,
}

impl std::fmt::Display for Case {
    /// Its circumstances, without the elements.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let parts: Vec<String> = self.axes.iter().map(|(a, v)| format!("{a}={v}")).collect();
        write!(f, "{} [{}] attributes {:?} numbers {:?}", self.op.path(), parts.join(" "), self.words, self.numbers)
    }
}

impl Case {
    /// Program parameters: weak scalars in operand order, then the row's numbers.
    pub fn params(&self) -> Vec<u64> {
        let weak = self.operands.iter().filter_map(|o| if let Operand::Weak(_, bits) = o { Some(*bits) } else { None });
        weak.chain(self.numbers.iter().map(|n| n.to_bits())).collect()
    }

    /// The graph of the call and its outputs' values.
    ///
    /// # Errors
    /// Those of inference and lowering.
    pub fn lower(&self) -> Result<(Graph, Vec<Val>)> {
        let (mut graph, mut weak, mut inputs) = (Graph::default(), 0, 0);
        let mut operands = Vec::new();
        for operand in &self.operands {
            operands.push(match operand {
                Operand::Tensor { logical, .. } => {
                    let dims: Dims = logical.dims().iter().copied().collect();
                    inputs += 1;
                    Lowered::Val(graph.push(0, Def::Input(inputs - 1), [(logical.dtype(), dims)]))
                }
                Operand::Weak(kind, _) => {
                    weak += 1;
                    Lowered::Weak(weak - 1, *kind)
                }
                Operand::Absent => Lowered::Absent,
            });
        }
        let attrs = Attrs::decode(self.op, &self.words)?;
        let outputs = lower::lower(&mut graph, self.op, &operands, &attrs, weak)?;
        Ok((graph, outputs))
    }

    /// What the tensor operands show.
    pub fn inputs(&self) -> Vec<Known> {
        let shown =
            |o: &Operand| if let Operand::Tensor { logical, .. } = o { Some(Known::exact(logical.clone())) } else { None };
        self.operands.iter().filter_map(shown).collect()
    }

    /// The reference's outputs.
    ///
    /// # Errors
    /// `Code::Internal` for a row that breaks the rules of graphs; errors of the call as the whole.
    pub fn reference(&self) -> Result<Vec<Result<Known>>> {
        let (graph, outputs) = self.lower()?;
        picked(executor::evaluate(&graph, &self.inputs(), &self.params())?, &outputs)
    }

    /// What the reference makes of these values of a graph over the case's operands, without bounds.
    ///
    /// # Errors
    /// As [`executor::unbounded`].
    pub fn evaluate(&self, graph: &Graph, outputs: &[Val]) -> Result<Vec<Result<Known>>> {
        picked(executor::unbounded(graph, &self.inputs(), &self.params())?, outputs)
    }
}

fn picked(values: Vec<Result<Known>>, outputs: &[Val]) -> Result<Vec<Result<Known>>> {
    let one =
        |v: &Val| values.get(v.0 as usize).cloned().ok_or_else(|| Error::internal("an output is no value of the graph"));
    outputs.iter().map(one).collect()
}

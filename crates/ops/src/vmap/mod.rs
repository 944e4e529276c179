//! `vmap`: a call of another row at each position of a leading axis, all at once.
//!
//! The call is lowered as it is, in a graph of its own. Its views and kernels are then written again with the axis of positions in front
//! (`views.rs`, `kernels.rs`): six views and nine kernels have a rule, and so every row has one. What depends on no mapped operand stays one
//! value. A gradient is that of the call, mapped in the same way: `vjp` of a mapped call is a mapped `vjp`, with the rules of its row. JAX
//! calls these batching rules.

mod kernels;
mod views;

use crate::derived::Recorded;
use crate::dtype_rule::Arg;
use crate::gradient;
use crate::graph::{Def, Graph, Node, Val};
use crate::infer::Inferred;
use crate::lower::{self, Lower, Operand};
use crate::write::Writer;
use ferrotensor_core::{DType, Dims, Error, Result, layout};

/// The graph of a call being written again, with an axis of positions in front.
struct Mapped<'a> {
    w: Writer<'a>,
    /// Positions.
    size: usize,
    /// What stands for the program's inputs, and whether it has the axis.
    inputs: Vec<(Val, bool)>,
    /// What stands for each value of the call's graph, and whether it has the axis.
    values: Vec<(Val, bool)>,
}

impl Mapped<'_> {
    /// A shape with the axis of positions.
    fn with_axis(&self, dims: &[usize]) -> Dims {
        std::iter::once(self.size).chain(dims.iter().copied()).collect()
    }

    fn is_mapped(&self, v: Val) -> bool {
        self.values[v.0 as usize].1
    }

    /// What stands for a value of this shape, with the axis.
    fn whole(&mut self, v: Val, dims: &[usize]) -> Result<Val> {
        let (value, mapped) = self.values[v.0 as usize];
        if mapped {
            return Ok(value);
        }
        let dims = self.with_axis(dims);
        self.w.broadcast(value, &dims)
    }

    /// Writes all nodes of a graph.
    fn graph(&mut self, from: &Graph) -> Result<()> {
        from.nodes.iter().try_for_each(|node| self.node(from, node))
    }

    fn node(&mut self, from: &Graph, node: &Node) -> Result<()> {
        let outputs: Vec<(DType, Dims)> =
            (node.first.0..node.first.0 + node.outputs).map(|v| (from.dtype(Val(v)), from.dims(Val(v)).clone())).collect();
        self.w.op = node.op;
        let mut def = node.def.clone();
        let mut mapped = false;
        def.operands_mut(|v| mapped |= self.values[v.0 as usize].1);
        let found: Vec<(Val, bool)> = match def {
            Def::Input(n) => {
                vec![*self.inputs.get(n as usize).ok_or_else(|| Error::internal("vmap: an input of no operand"))?]
            }
            Def::View { of, view } if mapped => vec![(self.view(self.values[of.0 as usize].0, &view, &outputs[0].1), true)],
            Def::Assemble { base, parts } if mapped => vec![(self.assemble(from, base, &parts, &outputs[0].1)?, true)],
            Def::Kernel { kernel, inputs, params } if mapped => {
                let dims: Vec<Dims> = outputs.into_iter().map(|(_, dims)| dims).collect();
                self.kernel(from, &kernel, &inputs, &params, &dims)?.into_iter().map(|v| (v, true)).collect()
            }
            mut same => {
                same.operands_mut(|v| *v = self.values[v.0 as usize].0);
                let first = self.w.graph.push(node.op, same, outputs);
                (0..node.outputs).map(|n| (Val(first.0 + n), false)).collect()
            }
        };
        self.values.extend(found);
        Ok(())
    }
}

impl Recorded {
    /// Types of the call's tensors, which of a mapped call has the axis, and how many positions there are.
    fn positions(&self, types: &[(DType, Dims)]) -> Result<(Vec<(DType, Dims)>, usize)> {
        let other = || Error::internal("a mapped call of other operands than its own");
        if types.len() != self.given.len() {
            return Err(other());
        }
        let mut size = None;
        let mut own = Vec::with_capacity(types.len());
        for ((dtype, dims), &mapped) in types.iter().zip(&self.given) {
            let rest = if mapped {
                let (&first, rest) = dims.split_first().ok_or_else(other)?;
                if *size.get_or_insert(first) != first {
                    return Err(other());
                }
                rest
            } else {
                dims
            };
            own.push((*dtype, Dims::from_slice(rest)));
        }
        Ok((own, size.ok_or_else(other)?))
    }

    /// The type that comes out of the mapped call; operands are the call's tensors.
    ///
    /// # Errors
    /// As inference of the call, `Code::Shape` for a result that is too large; `Code::Internal` for operands that are not the call's.
    pub(crate) fn infer_mapped(&self, types: &[(DType, Dims)]) -> Result<Inferred> {
        let (own, size) = self.positions(types)?;
        let inferred = self.infer_call(&own)?;
        let (dtype, dims) = inferred.outputs.get(self.of).ok_or_else(|| Error::internal("a mapped call of no result"))?;
        let dims: Dims = std::iter::once(size).chain(dims.iter().copied()).collect();
        layout::count(&dims)?;
        Ok(Inferred { compute: inferred.compute, outputs: vec![(*dtype, dims)] })
    }
}

/// A call in a graph of its own, whose inputs are its tensors, and further values with the axis.
struct Apart {
    recorded: Recorded,
    graph: Graph,
    operands: Vec<Operand>,
    /// Number of the call's first run-time number.
    first_param: u16,
    size: usize,
    inputs: Vec<(Val, bool)>,
}

impl Apart {
    fn of(l: &Lower) -> Result<Apart> {
        let recorded = l.attrs().call()?.clone();
        let lacks = || Error::internal("a mapped call without all that it has");
        let values = (0..l.len()).map(|n| l.tensor(n).ok_or_else(lacks)).collect::<Result<Vec<Val>>>()?;
        let types: Vec<(DType, Dims)> = values.iter().map(|&v| (l.dtype(v), l.dims(v))).collect();
        let (own, size) = recorded.positions(&types)?;
        let inputs = values.into_iter().zip(recorded.given.iter().copied()).collect();
        let mut apart =
            Apart { graph: Graph::default(), operands: Vec::new(), first_param: l.first_param(), size, inputs, recorded };
        let mut tensors =
            (0..own.len()).map(|n| push_input(&mut apart.graph, n, own[n].clone())).collect::<Vec<_>>().into_iter();
        for form in &apart.recorded.forms {
            apart.operands.push(match form {
                None => Operand::Val(tensors.next().ok_or_else(lacks)?),
                Some(Arg::Absent) => Operand::Absent,
                Some(kind) => {
                    apart.first_param += 1;
                    Operand::Weak(apart.first_param - 1, *kind)
                }
            });
        }
        Ok(apart)
    }

    /// One more input: a value with the axis.
    fn more(&mut self, l: &Lower, v: Val) -> Val {
        self.inputs.push((v, true));
        push_input(&mut self.graph, self.inputs.len() - 1, (l.dtype(v), Dims::from_slice(&l.dims(v)[1..])))
    }

    fn lowered(&mut self) -> Result<Vec<Val>> {
        let op = self.recorded.def()?;
        lower::lower(&mut self.graph, op, &self.operands, &self.recorded.attrs, self.first_param)
    }

    /// The graph written again, into that of `l`.
    fn mapped<'a>(&self, l: &'a mut Lower) -> Result<Mapped<'a>> {
        let w = Writer { op: l.op, graph: &mut *l.graph, call: () };
        let mut mapped = Mapped { w, size: self.size, inputs: self.inputs.clone(), values: Vec::new() };
        mapped.graph(&self.graph)?;
        Ok(mapped)
    }
}

fn push_input(graph: &mut Graph, n: usize, ty: (DType, Dims)) -> Val {
    graph.push(0, Def::Input(n as u32), [ty])
}

/// The row's lowering.
pub(crate) fn vmap(l: &mut Lower) -> Result<Vec<Val>> {
    let mut apart = Apart::of(l)?;
    let result = apart.lowered()?.get(apart.recorded.of).copied();
    let result = result.ok_or_else(|| Error::internal("a mapped call of no result"))?;
    let dims = apart.graph.dims(result).clone();
    Ok(vec![apart.mapped(l)?.whole(result, &dims)?])
}

/// The row's rule: cotangents of the call, mapped; those of an operand that all positions share are added up.
pub(crate) fn cotangents(l: &mut Lower, outputs: &[Val], cotangents: &[Option<Val>]) -> Result<Option<Vec<Option<Val>>>> {
    let Some(g) = cotangents.first().copied().flatten() else { return Ok(Some(vec![None; l.len()])) };
    let mut apart = Apart::of(l)?;
    let (known, g) = (apart.more(l, outputs[0]), apart.more(l, g));
    let mut results = apart.lowered()?;
    let mut given = vec![None; results.len()];
    (results[apart.recorded.of], given[apart.recorded.of]) = (known, Some(g));
    let wrt: Vec<bool> = apart.operands.iter().map(|o| matches!(o, Operand::Val(_))).collect();
    let (op, recorded) = (apart.recorded.def()?, &apart.recorded);
    let found =
        gradient::vjp(&mut apart.graph, op, &apart.operands, &recorded.attrs, apart.first_param, &results, &given, &wrt)?;
    let tensors = apart.recorded.tensors();
    let mut mapped = apart.mapped(l)?;
    let each = tensors.iter().zip(&apart.recorded.given).map(|(&n, &of_each)| match found.get(n).copied().flatten() {
        None => Ok(None),
        Some(v) if of_each => mapped.whole(v, apart.graph.dims(v)).map(Some),
        Some(v) => mapped.total(&apart.graph, v).map(Some),
    });
    each.collect::<Result<Vec<Option<Val>>>>().map(Some)
}

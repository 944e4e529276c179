//! Reverse mode over a graph: the nodes that a call was lowered to, last to first, each by the rule of its kind.

use super::scalar::is_differentiable;
use super::{Gradient, combine, contract, elementwise, places, routine, views, window};
use crate::attrs::Attrs;
use crate::def::{OpDef, OpId};
use crate::graph::{Def, Graph, Node, Val, View};
use crate::write::{Writer, inverse};
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{Error, Result};
use std::collections::HashMap;

/// Cotangents on their way back.
pub struct Back<'a> {
    /// Writes what the rules give.
    pub w: Writer<'a>,
    cotangents: HashMap<Val, Val>,
    /// Values that depend on those asked for, by what is differentiable.
    active: Vec<bool>,
    facts: Facts,
    /// The first node that is walked over.
    start: usize,
}

/// What is known of the values that are walked over.
#[derive(Default)]
pub struct Facts {
    /// Values that need not be computed again.
    pub known: HashMap<Val, Val>,
    /// Whether a root of nothing stands still, instead of rising without bound.
    pub rooted: bool,
}

impl Facts {
    /// What holds of a row's nodes, and of those of its gradient when that is differentiated again.
    pub fn of(op: &OpDef, attrs: &Attrs) -> Facts {
        let rooted = matches!(op.gradient, Gradient::Rooted(is_root) if is_root(attrs));
        Facts { rooted, ..Facts::default() }
    }
}

/// A kernel being differentiated: its operands and results.
pub struct Launch<'a> {
    /// Input operands.
    pub inputs: &'a [Val],
    /// Results, known ones where they are known.
    pub outputs: &'a [Val],
    /// Results as they are computed again.
    pub own: &'a [Val],
    /// The results' cotangents.
    pub cotangents: &'a [Option<Val>],
}

/// Cotangents of `wrt` for those of some values that the nodes from `start` on define, or of `wrt` themselves.
///
/// # Errors
/// `Code::Unsupported` for a kernel without a derivative.
pub fn walk(
    graph: &mut Graph,
    op: OpId,
    start: usize,
    seeds: &[(Val, Val)],
    wrt: &[Val],
    facts: Facts,
) -> Result<Vec<Option<Val>>> {
    let end = graph.nodes.len();
    let mut active = vec![false; graph.values.len()];
    wrt.iter().filter(|v| is_differentiable(graph.dtype(**v))).for_each(|v| active[v.0 as usize] = true);
    for node in &mut graph.nodes[start..] {
        let mut depends = false;
        node.def.operands_mut(|v| depends |= active[v.0 as usize]);
        for v in node.first.0..node.first.0 + node.outputs {
            active[v as usize] |= depends && is_differentiable(graph.values[v as usize].dtype);
        }
    }
    let w = Writer { graph, op, call: () };
    let mut back = Back { w, cotangents: HashMap::new(), active, facts, start };
    back.learn(start, end);
    for &(v, g) in seeds {
        back.give(v, g)?;
    }
    for at in (start..end).rev() {
        let node = back.w.graph.nodes[at].clone();
        back.node(&node)?;
    }
    Ok(wrt.iter().map(|v| back.cotangents.get(v).copied()).collect())
}

impl Back<'_> {
    /// Whether a cotangent of this value is of use.
    pub fn wants(&self, v: Val) -> bool {
        self.active.get(v.0 as usize).copied().unwrap_or(false)
    }

    /// The value itself, or the known one that is equal.
    pub fn value(&self, v: Val) -> Val {
        self.facts.known.get(&v).copied().unwrap_or(v)
    }

    /// See [`Facts::rooted`].
    pub fn is_rooted(&self) -> bool {
        self.facts.rooted
    }

    /// The first result of an extreme, which elements are compared with. A known one may come from another computation of what the
    /// extreme was taken of, whose last digits differ; from operands themselves it is the same everywhere.
    pub fn extreme(&self, launch: &Launch) -> Val {
        let mut x = launch.inputs[0];
        loop {
            let node = self.w.graph.values[x.0 as usize].node as usize;
            match &self.w.graph.nodes[node].def {
                _ if node < self.start => return launch.outputs[0],
                Def::View { of, .. } => x = *of,
                _ => return launch.own[0],
            }
        }
    }

    /// Adds to the cotangent of a value.
    ///
    /// # Errors
    /// `Code::Internal` for one of another type.
    pub fn give(&mut self, v: Val, g: Val) -> Result<()> {
        if !self.wants(v) {
            return Ok(());
        }
        if self.w.dtype(v) != self.w.dtype(g) || self.w.dims(v) != self.w.dims(g) {
            let (is, should) = (self.w.graph.values[g.0 as usize].clone(), self.w.graph.values[v.0 as usize].clone());
            return Err(Error::internal(format!("a cotangent of {is:?} for {should:?}")));
        }
        let total = match self.cotangents.get(&v) {
            Some(&sum) => self.w.binary(Op::Add, sum, g)?,
            None => g,
        };
        self.cotangents.insert(v, total);
        Ok(())
    }

    /// What known results say of the values they are views of.
    fn learn(&mut self, start: usize, end: usize) {
        for at in (start..end).rev() {
            let node = &self.w.graph.nodes[at];
            let (Def::View { of, view }, Some(&known)) = (&node.def, self.facts.known.get(&node.first)) else { continue };
            let (of, view) = (*of, view.clone());
            let back = match &view {
                View::Permute(axes) => self.w.permute(known, &inverse(axes)),
                View::Reshape(_) => {
                    let dims = self.w.dims(of);
                    self.w.reshape(known, &dims)
                }
                View::Flip(axes) => self.w.flip(known, axes),
                _ => continue,
            };
            self.facts.known.entry(of).or_insert(back);
        }
    }

    fn node(&mut self, node: &Node) -> Result<()> {
        let outputs: Vec<Val> = (node.first.0..node.first.0 + node.outputs).map(Val).collect();
        let cotangents: Vec<Option<Val>> = outputs.iter().map(|v| self.cotangents.get(v).copied()).collect();
        if cotangents.iter().all(Option::is_none) {
            return Ok(());
        }
        let (own, outputs): (Vec<Val>, Vec<Val>) = outputs.into_iter().map(|v| (v, self.value(v))).unzip();
        match &node.def {
            Def::Input(_) => Ok(()),
            Def::View { of, view } => views::view(self, *of, view, cotangents[0]),
            Def::Assemble { base, parts } => views::assemble(self, *base, parts, cotangents[0]),
            Def::Kernel { kernel, inputs, params } => {
                let inputs: Vec<Val> = inputs.to_vec();
                let launch = Launch { inputs: &inputs, outputs: &outputs, own: &own, cotangents: &cotangents };
                match kernel {
                    Kernel::Map(k) => elementwise::map(self, k, &launch, params),
                    Kernel::Reduce(k) => combine::reduce(self, k, &launch, params),
                    Kernel::Scan(k) => combine::scan(self, k, &launch),
                    Kernel::Gather(_) => places::gather(self, &launch),
                    Kernel::Scatter(k) => places::scatter(self, k, &launch),
                    Kernel::Contract(_) => contract::contract(self, &launch),
                    Kernel::Window(k) => window::window(self, k, &launch),
                    Kernel::Sort(k) => places::sort(self, k, &launch),
                    Kernel::Routine(k) => routine::routine(self, *k, &launch),
                    Kernel::Rows(_) | Kernel::Attention(_) => {
                        Err(Error::internal("made when programs are fused, which comes later"))
                    }
                }
            }
        }
    }

    /// Differentiates what was just written, the nodes from `start` on, instead of the kernel whose results they give in other
    /// words: a cotangent of `output` becomes those of `inputs`.
    ///
    /// # Errors
    /// As [`walk`].
    pub fn through(&mut self, start: usize, output: Val, cotangent: Val, inputs: &[Val]) -> Result<()> {
        let wanted: Vec<Val> = inputs.iter().copied().filter(|&v| self.wants(v)).collect();
        let found = walk(self.w.graph, self.w.op, start, &[(output, cotangent)], &wanted, Facts::default())?;
        wanted.into_iter().zip(found).try_for_each(|(v, g)| g.map_or(Ok(()), |g| self.give(v, g)))
    }
}

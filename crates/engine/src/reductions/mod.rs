//! Reductions that no kernel of rows took: over leading axes, over all elements of large operands.
//!
//! Reductions of one operand become one pass over it. The map before them becomes part of that pass, with all its operands; where other maps
//! read its results too and it is cheap, they compute it anew instead of reading it from memory. Every instruction rounds to its own
//! dtype and each value has its own tree, so the bits are those of the parts.

mod pass;

use crate::fuse::{Merged, Ops, Users, count_uses, ops_of, users_of};
use ferrotensor_core::DType;
use ferrotensor_core::kernel::{Combine, Kernel, Map};
use ferrotensor_core::scalar::{Op, Program};
use ferrotensor_ops::graph::{Def, Graph, Node, Val, View};
use pass::{Operand, Pass};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Instructions of a map that is computed anew: they take less time than its results, which would come from memory.
const CHEAP: usize = 8;

/// Maps that compute one anew, so that planning stays linear.
const MAX_READERS: usize = 16;

/// Fuses in place, as [`crate::fuse::fuse`]; returns the number of kernels saved.
pub fn fuse(graph: &mut Graph, outputs: &mut [Val], supports: &dyn Fn(&Kernel) -> bool, merged: &mut Merged) -> u64 {
    let is_reduction = |n: &Node| matches!(&n.def, Def::Kernel { kernel: Kernel::Reduce(_), .. });
    if !graph.nodes.iter().any(is_reduction) {
        return 0;
    }
    let mut state = State::new(graph, outputs);
    let mut passes: HashMap<usize, Pass> = HashMap::new();
    for (operand, members) in state.groups() {
        let whole = Pass::new(state.graph, operand.clone(), &members);
        let together: Vec<Pass> = match whole.filter(|pass| members.len() == 1 || supports(&pass.kernel())) {
            Some(pass) => vec![pass],
            None => members.iter().filter_map(|&n| Pass::new(state.graph, operand.clone(), &[n])).collect(),
        };
        for mut pass in together {
            while state.absorb(&mut pass, supports) {}
            if pass.members.len() > 1 || !pass.absorbed.is_empty() {
                passes.insert(pass.members[0], pass);
            }
        }
    }
    let State { anew, .. } = state;
    let saved = passes.values().map(|pass| (pass.members.len() - 1 + pass.absorbed.len()) as u64).sum();
    if !passes.is_empty() {
        rebuild(graph, outputs, &passes, anew, merged);
    }
    saved
}

/// A map that takes in another one.
struct Anew {
    def: Def,
    /// Nodes of the maps it computes.
    absorbed: Vec<usize>,
}

/// The graph with what is known of it by now.
struct State<'a> {
    graph: &'a Graph,
    /// Live nodes that read each value; those that are in `taken` stand for who took them.
    users: Vec<Users>,
    /// Maps that are part of a pass, by whose first member they are read.
    taken: HashMap<usize, usize>,
    outputs: HashSet<Val>,
    /// Maps that compute others anew.
    anew: BTreeMap<usize, Anew>,
}

/// A map before a pass.
struct Found {
    node: usize,
    /// Maps that read its results too.
    readers: Vec<usize>,
}

impl<'a> State<'a> {
    fn new(graph: &'a Graph, outputs: &[Val]) -> State<'a> {
        let users = users_of(graph, &count_uses(graph, outputs));
        let outputs = outputs.iter().copied().collect();
        State { graph, users, taken: HashMap::new(), outputs, anew: BTreeMap::new() }
    }

    fn node_of(&self, v: Val) -> usize {
        self.graph.values[v.0 as usize].node as usize
    }

    fn def(&self, n: usize) -> &Def {
        self.anew.get(&n).map_or(&self.graph.nodes[n].def, |anew| &anew.def)
    }

    fn is_used(&self, n: usize) -> bool {
        let node = &self.graph.nodes[n];
        let values = node.first.0..node.first.0 + node.outputs;
        values.clone().any(|v| !self.users[v as usize].is_empty() || self.outputs.contains(&Val(v)))
    }

    /// What an operand shows: a value, or a permutation of one.
    fn shown(&self, v: Val) -> Operand {
        match self.def(self.node_of(v)) {
            Def::View { of, view: View::Permute(axes) } => (*of, Some(axes.clone())),
            _ => (v, None),
        }
    }

    /// Live reductions to values, those together that combine elements of one operand in the same way, in the order of nodes.
    fn groups(&self) -> Vec<(Operand, Vec<usize>)> {
        let mut groups: Vec<(Operand, Vec<usize>)> = Vec::new();
        let mut known: HashMap<(Operand, usize, Combine, DType), usize> = HashMap::new();
        for (n, node) in self.graph.nodes.iter().enumerate().filter(|(n, _)| self.is_used(*n)) {
            let Def::Kernel { kernel: Kernel::Reduce(k), inputs, .. } = &node.def else { continue };
            if !matches!(k.combine, Combine::Value(_)) || inputs.len() != 1 {
                continue;
            }
            let operand = self.shown(inputs[0]);
            let key = (operand.clone(), k.axes, k.combine, k.acc);
            match known.get(&key) {
                Some(&at) if groups[at].1.len() < pass::MAX_SUMS => groups[at].1.push(n),
                _ => {
                    known.insert(key, groups.len());
                    groups.push((operand, vec![n]));
                }
            }
        }
        groups
    }

    /// Takes a map before the pass into it, where there is one; says whether there was.
    fn absorb(&mut self, pass: &mut Pass, supports: &dyn Fn(&Kernel) -> bool) -> bool {
        for operand in 0..pass.inputs.len() {
            let Some(found) = self.before(pass, operand) else { continue };
            let Def::Kernel { kernel: Kernel::Map(map), inputs, params } = self.def(found.node) else { continue };
            let (map, inputs, params) = (map.clone(), inputs.clone(), params.clone());
            let value = self.graph.nodes[found.node].first;
            let Some(more) = pass.with(operand, &map, &inputs, &params, found.node) else { continue };
            let anew: Option<Vec<Def>> = found
                .readers
                .iter()
                .map(|&n| pass::inlined(self.graph, self.def(n), value, &map, &inputs, &params))
                .collect();
            let Some(anew) = anew else { continue };
            let accepts = |def: &Def| matches!(def, Def::Kernel { kernel, .. } if supports(kernel));
            if !supports(&more.kernel()) || !anew.iter().all(accepts) {
                continue;
            }
            *pass = more;
            // Nobody reads it any more; its operands are read by the pass and by those that compute it.
            self.users[value.0 as usize].clear();
            self.taken.insert(found.node, pass.members[0]);
            for v in &inputs {
                self.users[v.0 as usize].extend(found.readers.iter().copied());
            }
            for (n, def) in found.readers.into_iter().zip(anew) {
                let mut absorbed = self.anew.remove(&n).map_or_else(Vec::new, |known| known.absorbed);
                absorbed.push(found.node);
                self.anew.insert(n, Anew { def, absorbed });
            }
            return true;
        }
        false
    }

    /// The map whose results an operand of the pass shows, if it can be part of the pass.
    fn before(&self, pass: &Pass, operand: usize) -> Option<Found> {
        let (source, axes) = &pass.inputs[operand];
        let node = self.node_of(*source);
        let Def::Kernel { kernel: Kernel::Map(map), inputs, .. } = self.def(node) else { return None };
        if map.program.outputs.len() != 1 || map.program.uses_index() || inputs.is_empty() || self.outputs.contains(source) {
            return None;
        }
        if inputs.iter().any(|v| self.is_scattered(*v, pass.kept(axes.as_ref(), self.graph.dims(*source)))) {
            return None;
        }
        let mut readers: Vec<usize> = Vec::new();
        for n in &self.users[source.0 as usize] {
            let n = *self.taken.get(n).unwrap_or(n);
            if pass.members.contains(&n) || self.shows_to(n, pass) || readers.contains(&n) {
                continue;
            }
            let is_map = matches!(self.def(n), Def::Kernel { kernel: Kernel::Map(_), .. });
            if !is_map || readers.len() == MAX_READERS || !self.is_cheap(map, inputs) {
                return None;
            }
            readers.push(n);
        }
        readers.sort_unstable();
        Some(Found { node, readers })
    }

    /// Whether an operand is spread over some of the axes that are kept, and not over others: outputs side by side would be as few as the latter have
    /// (3 channels of 1,000 pixels: 3.3 ms, and with the map apart 2.1).
    fn is_scattered(&self, v: Val, kept: impl Iterator<Item = usize>) -> bool {
        let Def::View { of, view: View::Broadcast(to) } = self.def(self.node_of(v)) else { return false };
        let dims = self.graph.dims(*of);
        let absent = to.len() - dims.len();
        let is_spread = |axis: usize| axis < absent || dims[axis - absent] == 1;
        let mut spread = kept.filter(|&axis| to[axis] > 1).map(is_spread);
        spread.next().is_some_and(|first| spread.any(|other| other != first))
    }

    /// Whether a node is a permutation that the pass alone reads.
    fn shows_to(&self, n: usize, pass: &Pass) -> bool {
        let node = &self.graph.nodes[n];
        let is_turned = matches!(node.def, Def::View { view: View::Permute(_), .. }) && !self.outputs.contains(&node.first);
        is_turned && self.users[node.first.0 as usize].iter().all(|n| pass.members.contains(n))
    }

    /// Whether a map takes less time than reading its results: a few steps of arithmetic on one operand, and on what is spread over it.
    fn is_cheap(&self, map: &Map, inputs: &[Val]) -> bool {
        let is_spread = |v: &Val| matches!(self.def(self.node_of(*v)), Def::View { view: View::Broadcast(_), .. });
        map.program.instrs.len() <= CHEAP
            && is_arithmetic(&map.program)
            && inputs.iter().filter(|v| !is_spread(v)).count() <= 1
    }
}

/// Whether all that a program does takes a cycle or so.
fn is_arithmetic(program: &Program) -> bool {
    let is_quick = |op: &Op| {
        matches!(
            op,
            Op::Input(_)
                | Op::Param(_)
                | Op::Const(_)
                | Op::Neg
                | Op::Abs
                | Op::Add
                | Op::Sub
                | Op::Mul
                | Op::Min
                | Op::Max
                | Op::Select
                | Op::Cast
        )
    };
    program.instrs.iter().all(|instr| is_quick(&instr.op) && !instr.dtype.is_complex())
}

/// The graph with each pass in place of its first member, and with the maps that compute others.
fn rebuild(
    graph: &mut Graph,
    outputs: &mut [Val],
    passes: &HashMap<usize, Pass>,
    mut anew: BTreeMap<usize, Anew>,
    merged: &mut Merged,
) {
    let (old, before) = (std::mem::take(graph), std::mem::take(merged));
    let mut now: Vec<Val> = (0..old.values.len() as u32).map(Val).collect();
    let gone: HashSet<usize> = passes.values().flat_map(|pass| pass.members.iter().skip(1).copied()).collect();
    let names = |nodes: &mut dyn Iterator<Item = usize>| {
        let mut nodes: Vec<usize> = nodes.collect();
        nodes.sort_unstable();
        let mut ops: Ops = nodes.into_iter().flat_map(|n| ops_of(&old.nodes[n], &before)).collect();
        ops.dedup();
        ops
    };
    for (n, node) in old.nodes.iter().enumerate().filter(|(n, _)| !gone.contains(n)) {
        let first = node.first.0 as usize;
        if let Some(pass) = passes.get(&n) {
            let shown = pass.inputs.iter().map(|(v, axes)| match axes {
                None => now[v.0 as usize],
                Some(axes) => {
                    let (of, dims) = (now[v.0 as usize], old.dims(*v));
                    let turned = axes.iter().map(|&axis| dims[axis]).collect();
                    graph.push(node.op, Def::View { of, view: View::Permute(axes.clone()) }, [(old.dtype(*v), turned)])
                }
            });
            let inputs = shown.collect();
            let values = pass.members.iter().map(|&m| old.nodes[m].first);
            let types = values.clone().map(|v| (old.dtype(v), old.dims(v).clone()));
            let def = Def::Kernel { kernel: pass.kernel(), inputs, params: pass.params() };
            let new = graph.push(node.op, def, types);
            values.enumerate().for_each(|(k, v)| now[v.0 as usize] = Val(new.0 + k as u32));
            merged.insert(new, names(&mut pass.members.iter().chain(&pass.absorbed).copied()));
            continue;
        }
        let (mut def, ops) = match anew.remove(&n) {
            Some(Anew { def, absorbed }) => (def, Some(names(&mut absorbed.into_iter().chain([n])))),
            None => (node.def.clone(), before.get(&node.first).cloned()),
        };
        def.operands_mut(|v| *v = now[v.0 as usize]);
        let values = &old.values[first..first + node.outputs as usize];
        let new = graph.push(node.op, def, values.iter().map(|v| (v.dtype, v.dims.clone())));
        merged.extend(ops.map(|ops| (new, ops)));
        (0..values.len()).for_each(|k| now[first + k] = Val(new.0 + k as u32));
    }
    outputs.iter_mut().for_each(|v| *v = now[v.0 as usize]);
}

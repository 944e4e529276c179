//! Grows map regions: a map becomes part of the one map that uses it, a reduction's `pre` or `post`, or a product's `post`.
//!
//! Every instruction rounds to its own dtype, so a fused program has the bits of the unfused one.

use ferrotensor_core::kernel::{Combine, Contract, Kernel, Map};
use ferrotensor_core::planted;
use ferrotensor_core::scalar::{Builder, Program, Value, simplify};
use ferrotensor_ops::OpId;
use ferrotensor_ops::graph::{Def, Graph, Node, Param, Val, View};
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;

/// Largest fused program: beyond this its values no longer live in a tile's L1-resident slots.
pub const MAX_INSTRS: usize = 256;
/// Most operands of a fused kernel: each is a stream the hardware prefetcher must follow.
pub const MAX_INPUTS: usize = 12;

/// The operations of each kernel that others became part of, in order, by its first output: what a profile calls it.
pub type Merged = HashMap<Val, Ops>;
/// Operations, none twice in a row.
pub type Ops = SmallVec<[OpId; 4]>;

/// The operations that a node computes.
pub fn ops_of(node: &Node, merged: &Merged) -> Ops {
    merged.get(&node.first).cloned().unwrap_or_else(|| smallvec![node.op])
}

/// Fuses in place; nodes that became part of others are left without uses, and noted in `merged`. `supports` asks the device.
/// Returns the number of kernels saved.
pub fn fuse(graph: &mut Graph, outputs: &[Val], supports: &dyn Fn(&Kernel) -> bool, merged: &mut Merged) -> u64 {
    if planted::is("nothing-is-fused") {
        return 0;
    }
    let mut uses = count_uses(graph, outputs);
    let mut saved = 0;
    let accepts = |def: &Def| matches!(def, Def::Kernel { kernel, .. } if supports(kernel));
    // From the results backwards: each map takes in what only it needs, in one step, so that planning stays linear.
    for n in (0..graph.nodes.len()).rev() {
        if uses_of(&graph.nodes[n], &uses) == 0 {
            continue;
        }
        if let Some((def, members)) = region(graph, n, &uses).filter(|(def, _)| accepts(def)) {
            replace(graph, n, def, &mut uses, merged);
            saved += members;
        }
    }
    for n in 0..graph.nodes.len() {
        if uses_of(&graph.nodes[n], &uses) == 0 {
            continue;
        }
        saved += through_permutations(graph, n, &mut uses, merged, &accepts);
        while let Some(def) = reduction(graph, n, &uses).or_else(|| plain_product(graph, n, &uses)).filter(&accepts) {
            replace(graph, n, def, &mut uses, merged);
            saved += 1;
        }
    }
    saved
}

/// Gives a node another definition, in which kernels that nobody else reads have their part.
pub fn replace(graph: &mut Graph, n: usize, def: Def, uses: &mut [u32], merged: &mut Merged) {
    for v in operands(&def) {
        uses[v.0 as usize] += 1;
    }
    let old = std::mem::replace(&mut graph.nodes[n].def, def);
    let mut gone = Vec::new();
    for v in operands(&old) {
        uses[v.0 as usize] -= 1;
        release(graph, v, uses, &mut gone);
    }
    gone.sort_unstable();
    gone.push(n);
    let kernels = gone.iter().map(|&n| &graph.nodes[n]).filter(|node| matches!(node.def, Def::Kernel { .. }));
    let mut ops: Ops = kernels.flat_map(|node| ops_of(node, merged)).collect();
    ops.dedup();
    merged.insert(graph.nodes[n].first, ops);
}

/// Values that a definition reads.
pub fn operands(def: &Def) -> SmallVec<[Val; 4]> {
    match def {
        Def::Input(_) => SmallVec::new(),
        Def::View { of, .. } => SmallVec::from_slice(&[*of]),
        Def::Kernel { inputs, .. } => inputs.iter().copied().collect(),
        Def::Assemble { base, parts } => base.iter().copied().chain(parts.iter().map(|p| p.0)).collect(),
    }
}

/// How often each value is used, counting outputs.
pub fn count_uses(graph: &Graph, outputs: &[Val]) -> Vec<u32> {
    let mut uses = vec![0; graph.values.len()];
    for v in outputs {
        uses[v.0 as usize] += 1;
    }
    for node in graph.nodes.iter().rev() {
        if uses_of(node, &uses) > 0 {
            for v in operands(&node.def) {
                uses[v.0 as usize] += 1;
            }
        }
    }
    uses
}

/// Nodes that read a value.
pub type Users = SmallVec<[usize; 2]>;

/// Live nodes that read each value.
pub fn users_of(graph: &Graph, uses: &[u32]) -> Vec<Users> {
    let mut users = vec![Users::new(); graph.values.len()];
    for (n, node) in graph.nodes.iter().enumerate().filter(|(_, node)| uses_of(node, uses) > 0) {
        for v in operands(&node.def) {
            users[v.0 as usize].push(n);
        }
    }
    users
}

/// Uses of a node's outputs together.
pub fn uses_of(node: &Node, uses: &[u32]) -> u32 {
    let first = node.first.0 as usize;
    uses[first..first + node.outputs as usize].iter().sum()
}

/// After a value lost a use: what is used no more, `gone`, no longer uses its operands.
fn release(graph: &Graph, v: Val, uses: &mut [u32], gone: &mut Vec<usize>) {
    let mut stack = vec![v];
    while let Some(v) = stack.pop() {
        let n = graph.values[v.0 as usize].node as usize;
        let node = &graph.nodes[n];
        if uses_of(node, uses) == 0 {
            gone.push(n);
            for o in operands(&node.def) {
                uses[o.0 as usize] -= 1;
                // Once, though the node may take it twice.
                if uses_of(&graph.nodes[graph.values[o.0 as usize].node as usize], uses) == 0 {
                    stack.push(o);
                }
            }
        }
    }
}

fn def(graph: &Graph, v: Val) -> &Def {
    &graph.nodes[graph.values[v.0 as usize].node as usize].def
}

/// A reduction with the map before or after it taken in.
fn reduction(graph: &Graph, n: usize, uses: &[u32]) -> Option<Def> {
    let Def::Kernel { kernel, inputs, params } = &graph.nodes[n].def else { return None };
    match kernel {
        Kernel::Map(map) => reduction_post(graph, map, inputs, params, uses),
        Kernel::Reduce(_) => reduction_pre(graph, kernel, inputs, params, uses),
        _ => None,
    }
}

/// A map being grown: values computed inside it, and values it reads.
struct Region<'a> {
    graph: &'a Graph,
    uses: &'a [u32],
    /// Value inside the region and the node that computes it.
    inside: Vec<(Val, usize)>,
    /// Values read, each with the number of reads met so far.
    reads: Vec<(Val, u32)>,
    instrs: usize,
}

impl<'a> Region<'a> {
    fn map_of(&self, v: Val) -> Option<(usize, &'a Map, &'a [Val])> {
        let node = self.graph.values[v.0 as usize].node as usize;
        match &self.graph.nodes[node].def {
            Def::Kernel { kernel: Kernel::Map(map), inputs, .. } if map.program.outputs.len() == 1 => {
                Some((node, map, inputs))
            }
            _ => None,
        }
    }

    /// Notes reads of values, and takes in the maps that nobody else reads, and constants (which may be repeated, and seen
    /// through a broadcast).
    fn grow(&mut self, inputs: &[Val]) {
        let mut stack: Vec<Val> = inputs.to_vec();
        while let Some(v) = stack.pop() {
            if self.inside.iter().any(|(known, _)| *known == v) {
                continue;
            }
            let at = self.reads.iter().position(|(known, _)| *known == v).unwrap_or_else(|| {
                self.reads.push((v, 0));
                self.reads.len() - 1
            });
            self.reads[at].1 += 1;
            let source = match def(self.graph, v) {
                Def::View { of, view: View::Broadcast(_) } => *of,
                _ => v,
            };
            let Some((node, map, more)) = self.map_of(source) else { continue };
            let constant = more.is_empty() && !map.program.uses_index();
            let alone = source == v && self.reads[at].1 == self.uses[v.0 as usize];
            let added = more.iter().filter(|m| !self.reads.iter().any(|(known, _)| known == *m)).count();
            let fits = self.instrs + map.program.instrs.len() <= MAX_INSTRS && self.reads.len() - 1 + added <= MAX_INPUTS;
            if (constant || alone) && fits {
                self.reads.swap_remove(at);
                self.inside.push((v, node));
                self.instrs += map.program.instrs.len();
                stack.extend(more);
            }
        }
    }
}

/// Node `n` with all maps that belong to it; `None` when it is no map or there are none. Says how many there are.
fn region(graph: &Graph, n: usize, uses: &[u32]) -> Option<(Def, u64)> {
    let Def::Kernel { kernel: Kernel::Map(root), inputs, params } = &graph.nodes[n].def else { return None };
    let mut region = Region { graph, uses, inside: Vec::new(), reads: Vec::new(), instrs: root.program.instrs.len() };
    region.grow(inputs);
    let Region { mut inside, reads, .. } = region;
    if inside.is_empty() {
        return None;
    }
    // Nodes are in topological order.
    inside.sort_by_key(|(v, node)| (*node, *v));
    let mut b = Builder::new();
    let mut known: HashMap<Val, Value> = HashMap::new();
    let mut operands: SmallVec<[Val; 3]> = reads.iter().map(|(v, _)| *v).collect();
    operands.sort();
    for &v in &operands {
        known.insert(v, b.input(graph.dtype(v)));
    }
    let mut all: SmallVec<[Param; 2]> = SmallVec::new();
    let mut place = |b: &mut Builder, map: &Map, inputs: &[Val], params: &[Param], known: &HashMap<Val, Value>| {
        let inputs: Option<Vec<Value>> = inputs.iter().map(|v| known.get(v).copied()).collect();
        let numbers: Vec<Value> = params.iter().map(|p| b.param(p.dtype)).collect();
        all.extend_from_slice(params);
        Some(b.inline(&map.program, &inputs?, &numbers))
    };
    for (v, node) in &inside {
        let Def::Kernel { kernel: Kernel::Map(map), inputs, params } = &graph.nodes[*node].def else { return None };
        let value = place(&mut b, map, inputs, params, &known)?[0];
        known.insert(*v, value);
    }
    let outputs = place(&mut b, root, inputs, params, &known)?;
    let program = simplify(&b.finish(&outputs));
    Some((Def::Kernel { kernel: Kernel::Map(Map { program }), inputs: operands, params: all }, inside.len() as u64))
}

/// A map of one operand before a reduction becomes its `pre`.
fn reduction_pre(graph: &Graph, kernel: &Kernel, inputs: &[Val], params: &[Param], uses: &[u32]) -> Option<Def> {
    let Kernel::Reduce(reduce) = kernel else { return None };
    let v = inputs[0];
    let Def::Kernel { kernel: Kernel::Map(inner), inputs: more, params: more_params } = def(graph, v) else { return None };
    if uses[v.0 as usize] != 1 || more.len() != 1 || inner.program.uses_index() || inner.program.outputs.len() != 1 {
        return None;
    }
    let mut reduce = reduce.clone();
    reduce.pre = Some(match &reduce.pre {
        Some(pre) => compose(&inner.program, pre),
        None => inner.program.clone(),
    });
    reduce.input = graph.dtype(more[0]);
    let params = more_params.iter().chain(params).copied().collect();
    Some(Def::Kernel { kernel: Kernel::Reduce(reduce), inputs: more.clone(), params })
}

/// A reduction over leading axes reads a permutation. A map of one operand before that becomes the reduction's `pre`: the permutation is of the
/// map's operand instead. Returns how many did.
fn through_permutations(
    graph: &mut Graph,
    n: usize,
    uses: &mut [u32],
    merged: &mut Merged,
    accepts: &dyn Fn(&Def) -> bool,
) -> u64 {
    let mut saved = 0;
    while let Some((def, view, moved)) = permuted_pre(graph, n, uses).filter(|(def, ..)| accepts(def)) {
        let at = graph.values[view.0 as usize].node as usize;
        let Def::View { view: permutation, .. } = graph.nodes[at].def.clone() else { return saved };
        // Of one use, the reduction's: its dtype may change. What became part of the view is the reduction's.
        graph.values[view.0 as usize].dtype = graph.dtype(moved);
        replace(graph, at, Def::View { of: moved, view: permutation }, uses, merged);
        let taken = merged.remove(&view).unwrap_or_default();
        replace(graph, n, def, uses, merged);
        let ops = merged.entry(graph.nodes[n].first).or_default();
        ops.insert_many(0, taken);
        ops.dedup();
        saved += 1;
    }
    saved
}

/// The reduction with the map that lies before its permutation, the value that is permuted, and the one that is to be.
fn permuted_pre(graph: &Graph, n: usize, uses: &[u32]) -> Option<(Def, Val, Val)> {
    let Def::Kernel { kernel, inputs, params } = &graph.nodes[n].def else { return None };
    let view = *inputs.first()?;
    let Def::View { of, view: View::Permute(_) } = def(graph, view) else { return None };
    if uses[view.0 as usize] != 1 {
        return None;
    }
    let def = reduction_pre(graph, kernel, &[*of], params, uses)?;
    let Def::Kernel { kernel, inputs, params } = def else { return None };
    Some((Def::Kernel { kernel, inputs: smallvec![view], params }, view, inputs[0]))
}

/// A map that alone reads a reduction becomes its `post`.
fn reduction_post(graph: &Graph, map: &Map, inputs: &[Val], params: &[Param], uses: &[u32]) -> Option<Def> {
    let v = *inputs.first()?;
    let Def::Kernel { kernel: Kernel::Reduce(reduce), inputs: more, params: first } = def(graph, v) else { return None };
    let valued = matches!(reduce.combine, Combine::Value(_));
    if !valued || inputs.len() != 1 || uses[v.0 as usize] != 1 || map.program.uses_index() || map.program.outputs.len() != 1
    {
        return None;
    }
    let mut reduce = reduce.clone();
    reduce.post = Some(match &reduce.post {
        Some(post) => compose(post, &map.program),
        None => map.program.clone(),
    });
    let params = first.iter().chain(params).copied().collect();
    Some(Def::Kernel { kernel: Kernel::Reduce(reduce), inputs: more.clone(), params })
}

/// The same, but for maps that ask for positions: those are written for each of a product's tiles, which takes twice as long as a pass over
/// all of them (the lower triangle of a product of 1000^2 with 4 places: 2.5 ms, apart 1.2).
fn plain_product(graph: &Graph, n: usize, uses: &[u32]) -> Option<Def> {
    let asks = matches!(&graph.nodes[n].def, Def::Kernel { kernel: Kernel::Map(map), .. } if map.program.uses_index());
    if asks { None } else { product(graph, n, uses) }
}

/// A map that alone reads a product, beside operands of its own, becomes its `post`: a bias, an activation.
pub fn product(graph: &Graph, n: usize, uses: &[u32]) -> Option<Def> {
    let Def::Kernel { kernel: Kernel::Map(map), inputs, params } = &graph.nodes[n].def else { return None };
    if map.program.outputs.len() != 1 {
        return None;
    }
    let found = inputs.iter().position(|&v| {
        let bare = matches!(def(graph, v), Def::Kernel { kernel: Kernel::Contract(k), .. } if k.post.is_none());
        bare && uses[v.0 as usize] == 1
    })?;
    let Def::Kernel { kernel: Kernel::Contract(contract), inputs: factors, .. } = def(graph, inputs[found]) else {
        return None;
    };
    let beside: SmallVec<[Val; 3]> = inputs.iter().copied().filter(|&v| v != inputs[found]).collect();
    let mut b = Builder::new();
    let mut values: HashMap<Val, Value> = HashMap::new();
    for v in std::iter::once(inputs[found]).chain(beside.iter().copied()) {
        values.insert(v, b.input(graph.dtype(v)));
    }
    let inner: Vec<Value> = inputs.iter().map(|v| values[v]).collect();
    let numbers: Vec<Value> = params.iter().map(|p| b.param(p.dtype)).collect();
    let results = b.inline(&map.program, &inner, &numbers);
    let post = Some(simplify(&b.finish(&results)));
    let kernel = Kernel::Contract(Contract { post, ..contract.clone() });
    Some(Def::Kernel { kernel, inputs: factors.iter().copied().chain(beside).collect(), params: params.clone() })
}

/// `second` after `first`, both of one operand; parameters of `first` come first.
fn compose(first: &Program, second: &Program) -> Program {
    let mut b = Builder::new();
    let x = b.input(first.inputs[0]);
    let params: Vec<Value> = first.params.iter().chain(&second.params).map(|&d| b.param(d)).collect();
    let middle = b.inline(first, &[x], &params[..first.params.len()]);
    let out = b.inline(second, &middle, &params[first.params.len()..]);
    simplify(&b.finish(&out))
}

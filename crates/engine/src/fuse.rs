//! Grows map regions: a map becomes part of the one map that uses it, or a reduction's `pre` or `post`.
//!
//! Every instruction rounds to its own dtype, so a fused program has the bits of the unfused one.

use ferrotensor_core::kernel::{Combine, Kernel, Map};
use ferrotensor_core::scalar::{Builder, Program, Value, simplify};
use ferrotensor_ops::graph::{Def, Graph, Node, Param, Val, View};
use smallvec::SmallVec;

/// Largest fused program: beyond this its values no longer live in a tile's L1-resident slots.
const MAX_INSTRS: usize = 256;
/// Most operands of a fused kernel: each is a stream the hardware prefetcher must follow.
const MAX_INPUTS: usize = 12;

/// Fuses in place; nodes that became part of others are left without uses. `supports` asks the device. Returns the number
/// of kernels saved.
pub fn fuse(graph: &mut Graph, outputs: &[Val], supports: &dyn Fn(&Kernel) -> bool) -> u64 {
    let mut uses = count_uses(graph, outputs);
    let mut saved = 0;
    for n in 0..graph.nodes.len() {
        if uses_of(&graph.nodes[n], &uses) == 0 {
            continue;
        }
        while let Some((fused, from)) = step(graph, n, &uses, supports) {
            for v in operands(&graph.nodes[n].def) {
                uses[v.0 as usize] -= 1;
            }
            graph.nodes[n].def = fused;
            for v in operands(&graph.nodes[n].def) {
                uses[v.0 as usize] += 1;
            }
            release(graph, from, &mut uses);
            saved += 1;
        }
    }
    saved
}

fn operands(def: &Def) -> SmallVec<[Val; 4]> {
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

/// Uses of a node's outputs together.
pub fn uses_of(node: &Node, uses: &[u32]) -> u32 {
    let first = node.first.0 as usize;
    uses[first..first + node.outputs as usize].iter().sum()
}

/// After a value lost a use: what is used no more no longer uses its operands.
fn release(graph: &Graph, v: Val, uses: &mut [u32]) {
    let mut stack = vec![v];
    while let Some(v) = stack.pop() {
        let node = &graph.nodes[graph.values[v.0 as usize].node as usize];
        if uses_of(node, uses) == 0 {
            for o in operands(&node.def) {
                uses[o.0 as usize] -= 1;
                stack.push(o);
            }
        }
    }
}

fn def(graph: &Graph, v: Val) -> &Def {
    &graph.nodes[graph.values[v.0 as usize].node as usize].def
}

/// One fusion into node `n`: its new definition, and the value it no longer uses.
fn step(graph: &Graph, n: usize, uses: &[u32], supports: &dyn Fn(&Kernel) -> bool) -> Option<(Def, Val)> {
    let Def::Kernel { kernel, inputs, params } = &graph.nodes[n].def else { return None };
    let fused = match kernel {
        Kernel::Map(map) => (0..inputs.len()).find_map(|i| {
            into_map(graph, map, inputs, params, i, uses).or_else(|| reduction_post(graph, map, inputs, params, i, uses))
        }),
        Kernel::Reduce(_) => reduction_pre(graph, kernel, inputs, params, uses),
        _ => None,
    }?;
    match &fused.0 {
        Def::Kernel { kernel, .. } if supports(kernel) => Some(fused),
        _ => None,
    }
}

/// A map whose result this map alone reads, or a constant (which may be repeated, and broadcast).
fn into_map(graph: &Graph, map: &Map, inputs: &[Val], params: &[Param], i: usize, uses: &[u32]) -> Option<(Def, Val)> {
    let v = inputs[i];
    let mut source = v;
    if let Def::View { of, view: View::Broadcast(_) } = def(graph, v) {
        source = *of;
    }
    let Def::Kernel { kernel: Kernel::Map(inner), inputs: more, params: more_params } = def(graph, source) else {
        return None;
    };
    let constant = more.is_empty() && !inner.program.uses_index();
    let alone = source == v && uses[v.0 as usize] == 1 && inner.program.outputs.len() == 1;
    if !(constant || alone)
        || map.program.instrs.len() + inner.program.instrs.len() > MAX_INSTRS
        || inputs.len() + more.len() > MAX_INPUTS + 1
    {
        return None;
    }
    let mut b = Builder::new();
    // Operands: this map's without the fused one, then the inner map's; equal values once.
    let mut values: SmallVec<[Val; 3]> = SmallVec::new();
    let mut place = |v: Val, b: &mut Builder, known: &mut Vec<Value>| match values.iter().position(|&k| k == v) {
        Some(at) => known[at],
        None => {
            values.push(v);
            let value = b.input(graph.dtype(v));
            known.push(value);
            value
        }
    };
    let mut known = Vec::new();
    let outer: Vec<Option<Value>> =
        inputs.iter().enumerate().map(|(k, &v)| (k != i).then(|| place(v, &mut b, &mut known))).collect();
    let inner_inputs: Vec<Value> = more.iter().map(|&v| place(v, &mut b, &mut known)).collect();
    let all: SmallVec<[Param; 2]> = params.iter().chain(more_params).copied().collect();
    let param_values: Vec<Value> = all.iter().map(|p| b.param(p.dtype)).collect();
    let result = b.inline(&inner.program, &inner_inputs, &param_values[params.len()..])[0];
    let outer: Vec<Value> = outer.into_iter().map(|v| v.unwrap_or(result)).collect();
    let outputs = b.inline(&map.program, &outer, &param_values[..params.len()]);
    let program = simplify(&b.finish(&outputs));
    Some((Def::Kernel { kernel: Kernel::Map(Map { program }), inputs: values, params: all }, v))
}

/// A map of one operand before a reduction becomes its `pre`.
fn reduction_pre(graph: &Graph, kernel: &Kernel, inputs: &[Val], params: &[Param], uses: &[u32]) -> Option<(Def, Val)> {
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
    Some((Def::Kernel { kernel: Kernel::Reduce(reduce), inputs: more.clone(), params }, v))
}

/// A map that alone reads a reduction becomes its `post`.
fn reduction_post(graph: &Graph, map: &Map, inputs: &[Val], params: &[Param], i: usize, uses: &[u32]) -> Option<(Def, Val)> {
    let v = inputs[i];
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
    Some((Def::Kernel { kernel: Kernel::Reduce(reduce), inputs: more.clone(), params }, v))
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

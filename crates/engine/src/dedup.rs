//! Removes duplicates: a definition that was met before, with the same operands, is that value.
//!
//! Every kernel is a function of its operands and parameters, so equal definitions have equal bits. Barriers are no duplicates: they
//! are there so that something is computed again instead of kept.

use ferrotensor_core::planted;
use ferrotensor_ops::derived::is_barrier;
use ferrotensor_ops::graph::{Def, Graph, Val};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Merges in place; nodes that are somebody else's duplicates are left without uses. Returns the number of kernels saved.
pub fn dedup(graph: &mut Graph, outputs: &mut [Val]) -> u64 {
    let mut first: Vec<Val> = (0..graph.values.len() as u32).map(Val).collect();
    let mut met: HashMap<u64, Vec<usize>> = HashMap::with_capacity(graph.nodes.len());
    let mut saved = 0;
    for n in 0..graph.nodes.len() {
        graph.nodes[n].def.operands_mut(|v| *v = first[v.0 as usize]);
        let mut hasher = DefaultHasher::new();
        graph.nodes[n].def.hash(&mut hasher);
        let alike = met.entry(hasher.finish()).or_default();
        let barrier = is_barrier(graph.nodes[n].op);
        match alike.iter().copied().find(|&m| !barrier && is_same(graph, m, n)) {
            Some(m) => {
                let (from, to) = (graph.nodes[n].first.0, graph.nodes[m].first.0);
                for output in 0..graph.nodes[n].outputs {
                    first[(from + output) as usize] = Val(to + output);
                }
                saved += matches!(graph.nodes[n].def, Def::Kernel { .. }) as u64;
            }
            None if barrier => {}
            None => alike.push(n),
        }
    }
    for v in outputs {
        *v = first[v.0 as usize];
    }
    saved
}

/// Whether two nodes define the same values. A map without operands says its shape by its output alone.
fn is_same(graph: &Graph, m: usize, n: usize) -> bool {
    let (a, b) = (&graph.nodes[m], &graph.nodes[n]);
    let value = |first: Val, output: u32| &graph.values[(first.0 + output) as usize];
    a.outputs == b.outputs
        && a.def == b.def
        && (0..a.outputs).all(|output| {
            let (x, y) = (value(a.first, output), value(b.first, output));
            x.dtype == y.dtype && (x.dims == y.dims || planted::is("duplicates-whatever-their-shape"))
        })
}

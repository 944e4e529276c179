//! Makes one kernel ([`Attention`]) of a product, the rows it is read by, and the product of those: what is between, an element for each
//! pair of a query and a key, is never in memory as a whole. The bits are those of the parts.

use crate::fuse::{Merged, count_uses, replace, uses_of};
use ferrotensor_core::attention::Attention;
use ferrotensor_core::kernel::{Contract, Kernel};
use ferrotensor_core::rows::Rows;
use ferrotensor_ops::graph::{Def, Graph, Param, Val};
use smallvec::SmallVec;

/// Fuses in place, as [`crate::fuse::fuse`]; returns the number of kernels saved.
pub fn fuse(graph: &mut Graph, outputs: &[Val], supports: &dyn Fn(&Kernel) -> bool, merged: &mut Merged) -> u64 {
    if !graph.nodes.iter().any(|n| matches!(&n.def, Def::Kernel { kernel: Kernel::Rows(_), .. })) {
        return 0;
    }
    let mut uses = count_uses(graph, outputs);
    let mut saved = 0;
    for n in 0..graph.nodes.len() {
        if uses_of(&graph.nodes[n], &uses) == 0 {
            continue;
        }
        if let Some(def) = attention(graph, n, &uses)
            && matches!(&def, Def::Kernel { kernel, .. } if supports(kernel))
        {
            replace(graph, n, def, &mut uses, merged);
            saved += 2;
        }
    }
    saved
}

/// A kernel that computes a value.
struct Computed<'a, K> {
    kernel: &'a K,
    inputs: &'a [Val],
    params: &'a [Param],
}

fn contract(graph: &Graph, n: usize) -> Option<Computed<'_, Contract>> {
    let Def::Kernel { kernel: Kernel::Contract(kernel), inputs, params } = &graph.nodes[n].def else { return None };
    Some(Computed { kernel, inputs, params })
}

fn rows(graph: &Graph, n: usize) -> Option<Computed<'_, Rows>> {
    let Def::Kernel { kernel: Kernel::Rows(kernel), inputs, params } = &graph.nodes[n].def else { return None };
    Some(Computed { kernel, inputs, params })
}

/// Node `n`, a product, with the weights that only it reads and the product that only those read.
fn attention(graph: &Graph, n: usize, uses: &[u32]) -> Option<Def> {
    let alone = |v: Val| uses[v.0 as usize] == 1;
    let node = |v: Val| graph.values[v.0 as usize].node as usize;
    let values = contract(graph, n)?;
    let (&read, more) = values.inputs.split_first()?;
    let weights = rows(graph, node(read)).filter(|w| alone(read) && w.kernel.outputs.len() == 1)?;
    let (input, scores) = weights.inputs.iter().enumerate().find_map(|(input, &score)| {
        let scores = contract(graph, node(score)).filter(|_| alone(score))?;
        Some((input, scores))
    })?;
    let (scored, weighed, valued) = (scores.kernel.clone(), weights.kernel.clone(), values.kernel.clone());
    let made = Attention { scores: scored, weights: weighed, input, values: valued };
    made.verify().ok()?;
    let beside = weights.inputs.iter().enumerate().filter(|(n, _)| *n != input).map(|(_, &v)| v);
    let inputs: SmallVec<[Val; 3]> = scores.inputs.iter().copied().chain(beside).chain(more.iter().copied()).collect();
    let params = scores.params.iter().chain(weights.params).chain(values.params).copied().collect();
    Some(Def::Kernel { kernel: Kernel::Attention(Box::new(made)), inputs, params })
}

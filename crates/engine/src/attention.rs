//! Makes one kernel ([`Attention`]) of a product, the rows it is read by, and the product of those: what is between, an element for each
//! pair of a query and a key, is never in memory as a whole. The bits are those of the parts.

use crate::fuse::{Merged, count_uses, product, replace, uses_of};
use ferrotensor_core::attention::Attention;
use ferrotensor_core::kernel::{Contract, Kernel};
use ferrotensor_core::rows::{Per, Rows};
use ferrotensor_ops::graph::{Def, Graph, Param, Val};
use smallvec::SmallVec;

/// Queries of a matrix at least: for fewer, products read keys and values where they lie, which here are copied for tiles first (8 queries
/// of 4,096 keys: three times as long).
const FEWEST: usize = 16;

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
        if let Some((def, parts)) = attention(graph, n, &uses)
            && matches!(&def, Def::Kernel { kernel, .. } if supports(kernel))
        {
            replace(graph, n, def, &mut uses, merged);
            saved += parts - 1;
        }
    }
    saved
}

/// A kernel that computes a value.
struct Computed<K> {
    kernel: K,
    inputs: SmallVec<[Val; 3]>,
    params: SmallVec<[Param; 2]>,
}

fn contract(def: &Def) -> Option<Computed<Contract>> {
    let Def::Kernel { kernel: Kernel::Contract(kernel), inputs, params } = def else { return None };
    Some(Computed { kernel: kernel.clone(), inputs: inputs.clone(), params: params.clone() })
}

fn rows(def: &Def) -> Option<Computed<Rows>> {
    let Def::Kernel { kernel: Kernel::Rows(kernel), inputs, params } = def else { return None };
    Some(Computed { kernel: kernel.clone(), inputs: inputs.clone(), params: params.clone() })
}

/// Node `n`, a product, with the weights that only it reads and the product that only those read, perhaps through a map that asks for
/// positions (a causal mask). Says how many kernels that are.
fn attention(graph: &Graph, n: usize, uses: &[u32]) -> Option<(Def, u64)> {
    let alone = |v: Val| uses[v.0 as usize] == 1;
    let node = |v: Val| graph.values[v.0 as usize].node as usize;
    let Def::Kernel { kernel: Kernel::Contract(_), inputs, .. } = &graph.nodes[n].def else { return None };
    let (&read, more) = inputs.split_first()?;
    let queries = graph.dims(read).iter().nth_back(1).copied()?;
    if !alone(read) || queries < FEWEST {
        return None;
    }
    let weights = rows(&graph.nodes[node(read)].def).filter(|w| w.kernel.outputs.len() == 1)?;
    let whole = weights.inputs.iter().zip(&weights.kernel.inputs).enumerate();
    let mut whole = whole.filter(|(_, (score, of))| of.1 == Per::Element && alone(**score));
    let (input, scores, parts) = whole.find_map(|(input, (&score, _))| match contract(&graph.nodes[node(score)].def) {
        Some(scores) => Some((input, scores, 3)),
        None => Some((input, contract(&product(graph, node(score), uses)?)?, 4)),
    })?;
    let values = contract(&graph.nodes[n].def)?;
    let made = Attention { scores: scores.kernel, weights: weights.kernel, input, values: values.kernel };
    made.verify().ok()?;
    let beside = weights.inputs.iter().enumerate().filter(|(n, _)| *n != input).map(|(_, &v)| v);
    let inputs = scores.inputs.iter().copied().chain(beside).chain(more.iter().copied()).collect();
    let params = [scores.params, weights.params, values.params].concat().into();
    Some((Def::Kernel { kernel: Kernel::Attention(Box::new(made)), inputs, params }, parts))
}

//! A graph in which groups have taken the place of their members.

use super::{Made, Plan};
use crate::fuse::{Merged, Ops, operands, ops_of};
use ferrotensor_core::Dims;
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::rows::Per;
use ferrotensor_ops::graph::{Def, Graph, Val, View};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Live nodes and groups in an order in which each comes after what it reads, as near to the old one as may be. Groups are
/// numbered after the nodes. `None` where there is no such order.
pub fn order(plan: &Plan, groups: &[Made]) -> Option<Vec<usize>> {
    let nodes = plan.graph.nodes.len();
    let unit = |n: usize| plan.unit[n].map_or(n, |g| nodes + g as usize);
    let first = |u: usize| u.checked_sub(nodes).map_or(u, |g| groups[g].members[0]);
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); nodes + groups.len()];
    let mut waits = vec![0u32; nodes + groups.len()];
    let mut all = Vec::new();
    for (n, node) in plan.graph.nodes.iter().enumerate() {
        let alone = matches!(node.def, Def::Input(_)) || (plan.is_live(n) && plan.unit[n].is_none());
        if alone {
            all.push(n);
            for v in operands(&node.def) {
                readers[unit(plan.node_of(v))].push(n);
                waits[n] += 1;
            }
        }
    }
    for (g, made) in groups.iter().enumerate() {
        all.push(nodes + g);
        for (v, _) in &made.inputs {
            readers[unit(plan.node_of(*v))].push(nodes + g);
            waits[nodes + g] += 1;
        }
    }
    let mut ready: BinaryHeap<Reverse<(usize, usize)>> =
        all.iter().filter(|&&u| waits[u] == 0).map(|&u| Reverse((first(u), u))).collect();
    let mut order = Vec::with_capacity(all.len());
    while let Some(Reverse((_, u))) = ready.pop() {
        order.push(u);
        for &r in &readers[u] {
            waits[r] -= 1;
            if waits[r] == 0 {
                ready.push(Reverse((first(r), r)));
            }
        }
    }
    (order.len() == all.len()).then_some(order)
}

/// The graph with each group in place of its members, in this order.
pub fn rebuild(
    graph: &mut Graph,
    outputs: &mut [Val],
    groups: Vec<Made>,
    order: &[usize],
    live: &[bool],
    merged: &mut Merged,
) {
    let (old, mut before) = (std::mem::take(graph), std::mem::take(merged));
    let mut now: Vec<Option<Val>> = vec![None; old.values.len()];
    let mut groups: Vec<Option<Made>> = groups.into_iter().map(Some).collect();
    for &u in order {
        let Some(g) = u.checked_sub(old.nodes.len()) else {
            let node = &old.nodes[u];
            // A view that only a group read has nothing to show any more.
            if operands(&node.def).iter().any(|v| now[v.0 as usize].is_none()) {
                continue;
            }
            debug_assert!(live[u] || matches!(node.def, Def::Input(_)));
            let mut def = node.def.clone();
            def.operands_mut(|v| *v = now[v.0 as usize].unwrap_or(*v));
            let first = node.first.0 as usize;
            let values = &old.values[first..first + node.outputs as usize];
            let new = graph.push(node.op, def, values.iter().map(|v| (v.dtype, v.dims.clone())));
            merged.extend(before.remove(&node.first).map(|ops| (new, ops)));
            (0..values.len()).for_each(|n| now[first + n] = Some(Val(new.0 + n as u32)));
            continue;
        };
        let Some(made) = groups[g].take() else { continue };
        let Made { members, kernel, inputs, params, stored, dims, kept } = made;
        let op = members.last().map_or(0, |&n| old.nodes[n].op);
        let shaped = |graph: &mut Graph, v: Val, to: &Dims| {
            if graph.dims(v) == to {
                return v;
            }
            let dtype = graph.dtype(v);
            graph.push(op, Def::View { of: v, view: View::Reshape(to.clone()) }, [(dtype, to.clone())])
        };
        let inputs: SmallVec<[Val; 3]> = inputs
            .iter()
            .map(|&(v, per)| {
                let v = now[v.0 as usize].unwrap_or(v);
                if per == Per::Row { shaped(graph, v, &kept) } else { v }
            })
            .collect();
        let dtypes = kernel.outputs();
        let Kernel::Rows(rows) = &kernel else { continue };
        let shapes: Vec<Dims> =
            rows.results().iter().map(|(_, per)| if *per == Per::Element { dims.clone() } else { kept.clone() }).collect();
        let first = graph.push(op, Def::Kernel { kernel, inputs, params }, dtypes.into_iter().zip(shapes));
        let mut ops: Ops = members.iter().flat_map(|&n| ops_of(&old.nodes[n], &before)).collect();
        ops.dedup();
        merged.insert(first, ops);
        for (k, &n) in stored.iter().enumerate() {
            let value = old.nodes[n].first.0 as usize;
            now[value] = Some(shaped(graph, Val(first.0 + k as u32), &old.values[value].dims));
        }
    }
    outputs.iter_mut().for_each(|v| *v = now[v.0 as usize].unwrap_or(*v));
}

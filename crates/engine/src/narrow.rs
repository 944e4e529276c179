//! Products read operands as they are stored: conversions of both to a wider dtype become part of the product, whether they are made before
//! views of the operands, which nobody else may read then, or after. Wider values are exact, so that no bit changes.

use crate::fuse::{Merged, Ops, count_uses, replace, uses_of};
use ferrotensor_core::kernel::{Contract, Kernel};
use ferrotensor_core::scalar::Op;
use ferrotensor_ops::graph::{Def, Graph, Val};
use smallvec::SmallVec;

/// Fuses in place, as [`crate::fuse::fuse`], before that; returns the number of kernels saved.
pub fn fuse(graph: &mut Graph, outputs: &[Val], supports: &dyn Fn(&Kernel) -> bool, merged: &mut Merged) -> u64 {
    let mut uses = count_uses(graph, outputs);
    let mut saved = 0;
    for n in 0..graph.nodes.len() {
        let Def::Kernel { kernel: Kernel::Contract(product), inputs, params } = &graph.nodes[n].def else { continue };
        let (&[a, b, ..], true) = (&inputs[..], uses_of(&graph.nodes[n], &uses) > 0) else { continue };
        // A value times itself is read twice.
        let most = if a == b { 2 } else { 1 };
        let (Some(x), Some(y)) = (widened(graph, a, most, &uses), widened(graph, b, most, &uses)) else { continue };
        let narrow = Contract { operands: [graph.dtype(x.from), graph.dtype(y.from)], ..product.clone() };
        if narrow.verify().is_err() || !supports(&Kernel::Contract(narrow.clone())) {
            continue;
        }
        let conversions = [x.conversion, y.conversion];
        let mut inputs = inputs.clone();
        let params = params.clone();
        let mut converted = Ops::new();
        for (side, operand) in [x, y].into_iter().enumerate() {
            inputs[side] = operand.narrowed(graph, inputs[side], &mut uses, merged, &mut converted);
        }
        replace(graph, n, Def::Kernel { kernel: Kernel::Contract(narrow), inputs, params }, &mut uses, merged);
        if let Some(ops) = merged.get_mut(&graph.nodes[n].first) {
            ops.insert_many(0, converted);
            ops.dedup();
        }
        let is_gone = |v: Val| uses[v.0 as usize] == 0;
        saved += u64::from(is_gone(conversions[0])) + u64::from(is_gone(conversions[1]) && conversions[0] != conversions[1]);
    }
    saved
}

/// An operand that a conversion makes.
struct Widened {
    conversion: Val,
    /// What is converted.
    from: Val,
    /// Views of the conversion, from the product to it.
    views: SmallVec<[usize; 2]>,
}

/// Looks through views for a conversion; nobody but the product reads the views, the last one `most` times.
fn widened(graph: &Graph, operand: Val, most: u32, uses: &[u32]) -> Option<Widened> {
    let mut views = SmallVec::new();
    let mut v = operand;
    loop {
        let node = graph.values[v.0 as usize].node as usize;
        match &graph.nodes[node].def {
            Def::View { of, .. } if uses[v.0 as usize] <= if v == operand { most } else { 1 } => {
                views.push(node);
                v = *of;
            }
            Def::Kernel { kernel: Kernel::Map(map), inputs, .. } => {
                let [x, y] = &map.program.instrs[..] else { return None };
                let converts = (x.op, y.op) == (Op::Input(0), Op::Cast) && map.program.outputs[..] == [1];
                return converts.then(|| Widened { conversion: v, from: inputs[0], views });
            }
            _ => return None,
        }
    }
}

impl Widened {
    /// What the product reads instead of `operand`: the views are of what is converted now. The conversion joins those that are the product's.
    fn narrowed(self, graph: &mut Graph, operand: Val, uses: &mut [u32], merged: &mut Merged, converted: &mut Ops) -> Val {
        let Some(&last) = self.views.last() else { return self.from };
        let dtype = graph.dtype(self.from);
        for &node in &self.views {
            let first = graph.nodes[node].first;
            graph.values[first.0 as usize].dtype = dtype;
        }
        if let Def::View { of, view } = &graph.nodes[last].def
            && *of != self.from
        {
            let def = Def::View { of: self.from, view: view.clone() };
            let (view, first) = (graph.nodes[last].op, graph.nodes[last].first);
            replace(graph, last, def, uses, merged);
            converted.extend(merged.remove(&first).into_iter().flatten().filter(|&op| op != view));
        }
        operand
    }
}

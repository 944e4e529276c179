//! One pass over operands that combines several values.

use crate::fuse::{MAX_INPUTS, MAX_INSTRS};
use ferrotensor_core::kernel::{Kernel, Map, Reduce};
use ferrotensor_core::scalar::{Builder, Program, Value, simplify};
use ferrotensor_ops::graph::{Def, Graph, Param, Val};
use smallvec::SmallVec;

/// Values that one pass combines: each has a tree of its own in the first-level cache.
pub const MAX_SUMS: usize = 8;

/// The axes of a permutation.
pub type Axes = SmallVec<[usize; 6]>;
/// A value, or a permutation of it.
pub type Operand = (Val, Option<Axes>);

/// A pass that takes the place of reductions and of the maps before them.
#[derive(Clone)]
pub struct Pass {
    /// Nodes of the reductions, whose results are its outputs.
    pub members: Vec<usize>,
    /// Nodes of the maps.
    pub absorbed: Vec<usize>,
    pub inputs: Vec<Operand>,
    first: Reduce,
    pre: Program,
    post: Program,
    /// Parameters of `pre`, and those of `post`.
    params: [SmallVec<[Param; 2]>; 2],
}

impl Pass {
    /// Reductions of one operand that differ in what is done before and after; `None` where that is too much for a kernel.
    pub fn new(graph: &Graph, operand: Operand, members: &[usize]) -> Option<Pass> {
        let parts: Option<Vec<(&Reduce, &[Param])>> = members
            .iter()
            .map(|&n| match &graph.nodes[n].def {
                Def::Kernel { kernel: Kernel::Reduce(k), params, .. } => Some((k, &params[..])),
                _ => None,
            })
            .collect();
        let parts = parts?;
        let &(first, _) = parts.first()?;
        let (mut pre, mut post) = (Builder::new(), Builder::new());
        let x = pre.input(first.input);
        let mut params = [SmallVec::new(), SmallVec::new()];
        let (mut sums, mut results) = (Vec::new(), Vec::new());
        let totals: Vec<Value> = parts.iter().map(|_| post.input(first.acc)).collect();
        for ((k, own), total) in parts.iter().zip(totals) {
            let (before, after) = own.split_at(k.pre.as_ref().map_or(0, |p| p.params.len()));
            params[0].extend_from_slice(before);
            params[1].extend_from_slice(after);
            sums.push(match &k.pre {
                Some(program) => inline(&mut pre, program, &[x]),
                None => pre.cast(x, k.acc),
            });
            results.push(match &k.post {
                Some(program) => inline(&mut post, program, &[total]),
                None => total,
            });
        }
        let (pre, post) = (simplify(&pre.finish(&sums)), simplify(&post.finish(&results)));
        if pre.instrs.len().max(post.instrs.len()) > MAX_INSTRS {
            return None;
        }
        let members = members.to_vec();
        Some(Pass { members, absorbed: Vec::new(), inputs: vec![operand], first: first.clone(), pre, post, params })
    }

    /// What it computes.
    pub fn kernel(&self) -> Kernel {
        let (pre, post) = (Some(self.pre.clone()), Some(self.post.clone()));
        Kernel::Reduce(Reduce { input: self.pre.inputs[0], pre, post, ..self.first.clone() })
    }

    /// Axes of an operand of this shape that are kept, where a permutation turns them to the front.
    pub fn kept<'a>(&self, axes: Option<&'a Axes>, dims: &[usize]) -> impl Iterator<Item = usize> + 'a {
        let kept = dims.len() - self.first.axes;
        (0..kept).map(move |axis| axes.map_or(axis, |axes| axes[axis]))
    }

    /// Its launch parameters.
    pub fn params(&self) -> SmallVec<[Param; 2]> {
        self.params.iter().flatten().copied().collect()
    }

    /// The same with a map in the place of an operand; `None` where that is too much for a kernel.
    pub fn with(&self, operand: usize, map: &Map, inputs: &[Val], params: &[Param], node: usize) -> Option<Pass> {
        let mut operands: Vec<Operand> = self.inputs.clone();
        let (_, axes) = operands.remove(operand);
        for &v in inputs {
            if !operands.contains(&(v, axes.clone())) {
                operands.push((v, axes.clone()));
            }
        }
        if operands.len() > MAX_INPUTS || self.pre.instrs.len() + map.program.instrs.len() > MAX_INSTRS {
            return None;
        }
        let mut b = Builder::new();
        let mut dtypes = vec![None; operands.len()];
        let place = |operand: &Operand| operands.iter().position(|known| known == operand);
        for (v, dtype) in inputs.iter().zip(&map.program.inputs) {
            dtypes[place(&(*v, axes.clone()))?] = Some(*dtype);
        }
        for (known, dtype) in
            self.inputs.iter().zip(&self.pre.inputs).enumerate().filter(|(n, _)| *n != operand).map(|(_, k)| k)
        {
            dtypes[place(known)?] = Some(*dtype);
        }
        let values: Vec<Value> = dtypes.into_iter().map(|dtype| dtype.map(|d| b.input(d))).collect::<Option<_>>()?;
        let of_map: Vec<Value> =
            inputs.iter().map(|v| place(&(*v, axes.clone())).map(|n| values[n])).collect::<Option<_>>()?;
        // The map's parameters come first, as it does.
        let made = inline(&mut b, &map.program, &of_map);
        let taken: Option<Vec<Value>> = self
            .inputs
            .iter()
            .enumerate()
            .map(|(n, known)| if n == operand { Some(made) } else { place(known).map(|n| values[n]) })
            .collect();
        let sums = inline_all(&mut b, &self.pre, &taken?);
        let mut next = Pass { inputs: operands, pre: simplify(&b.finish(&sums)), ..self.clone() };
        next.params[0] = params.iter().chain(&self.params[0]).copied().collect();
        next.absorbed.push(node);
        Some(next)
    }
}

/// A map that computes another one, whose value it reads, anew; `None` where that is too much for a kernel.
pub fn inlined(graph: &Graph, reader: &Def, value: Val, map: &Map, inputs: &[Val], params: &[Param]) -> Option<Def> {
    let Def::Kernel { kernel: Kernel::Map(outer), inputs: before, params: own } = reader else { return None };
    let mut operands: SmallVec<[Val; 3]> = before.iter().copied().filter(|v| *v != value).collect();
    operands.extend(inputs.iter().copied().filter(|v| !before.contains(v)));
    operands.sort_unstable();
    operands.dedup();
    if operands.len() > MAX_INPUTS || outer.program.instrs.len() + map.program.instrs.len() > MAX_INSTRS {
        return None;
    }
    let mut b = Builder::new();
    let values: Vec<Value> = operands.iter().map(|&v| b.input(graph.dtype(v))).collect();
    let of = |v: &Val| operands.iter().position(|known| known == v).map(|n| values[n]);
    let of_map: Vec<Value> = inputs.iter().map(of).collect::<Option<_>>()?;
    let made = inline(&mut b, &map.program, &of_map);
    let of_outer: Option<Vec<Value>> = before.iter().map(|v| if *v == value { Some(made) } else { of(v) }).collect();
    let results = inline_all(&mut b, &outer.program, &of_outer?);
    let program = simplify(&b.finish(&results));
    let params = params.iter().chain(own).copied().collect();
    Some(Def::Kernel { kernel: Kernel::Map(Map { program }), inputs: operands, params })
}

/// Copies a program in, with parameters of its own.
fn inline_all(b: &mut Builder, program: &Program, inputs: &[Value]) -> Vec<Value> {
    let params: Vec<Value> = program.params.iter().map(|&dtype| b.param(dtype)).collect();
    b.inline(program, inputs, &params)
}

/// The same for a program of one output.
fn inline(b: &mut Builder, program: &Program, inputs: &[Value]) -> Value {
    inline_all(b, program, inputs)[0]
}

//! Mutations of a lowered graph: one thing changed in one node, whose type stays. Made mechanically for whatever a row lowers to,
//! so that a new row has its mutants without being named here.

mod program;

use ferrotensor_core::kernel::{
    Combine, Gather, Kernel, Map, Monoid, OutOfRange, Reduce, Routine, Scatter, Update, WindowCombine,
};
use ferrotensor_core::scalar::{Args, Instr, Op, Program, literal_bits};
use ferrotensor_core::{DType, Dims};
use ferrotensor_ops::graph::{Def, Graph, IndexItem, Number, Val, View};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops::Range;

/// A changed node.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// What is changed, the same for the same place of another call's graph: `Add: Sub instead #2`.
    pub name: String,
    node: usize,
    def: Def,
    /// Put between the n-th operand and the node.
    before: Vec<(usize, Step)>,
    /// Put between the node and what reads its first value.
    after: Option<Step>,
}

/// A node with one operand.
#[derive(Clone, Debug)]
enum Step {
    View(Box<View>, Dims),
    Map(Program),
}

impl Step {
    fn push(&self, graph: &mut Graph, op: u16, of: Val) -> Val {
        let (dtype, dims) = (graph.dtype(of), graph.dims(of).clone());
        match self {
            Step::View(view, dims) => graph.push(op, Def::View { of, view: View::clone(view) }, [(dtype, dims.clone())]),
            Step::Map(program) => {
                let kernel = Kernel::Map(Map { program: program.clone() });
                let def = Def::Kernel { kernel, inputs: SmallVec::from_slice(&[of]), params: SmallVec::new() };
                graph.push(op, def, [(program.output_dtype(0), dims)])
            }
        }
    }

    fn flip(dims: &Dims, axes: Range<usize>) -> Step {
        Step::View(Box::new(View::Flip(axes.collect())), dims.clone())
    }

    /// All but the last element of an axis that has one.
    fn shortened(dims: &Dims, axis: usize) -> Option<Step> {
        let mut out = dims.clone();
        out[axis] = dims[axis].checked_sub(1)?;
        let whole = |&len: &usize| IndexItem::Slice { start: Number::Const(0), step: Number::Const(1), len };
        Some(Step::View(Box::new(View::Index(out.iter().map(whole).collect())), out))
    }

    /// An operation of integers with a constant.
    fn integers(dtype: DType, op: Op, constant: f64) -> Step {
        let instr = |op, args: &[u32]| Instr { op, dtype, args: Args::from_slice(args) };
        let constant = Op::Const(literal_bits(dtype, constant));
        let instrs = vec![instr(Op::Input(0), &[]), instr(constant, &[]), instr(op, &[0, 1])];
        Step::Map(Program { inputs: vec![dtype], params: vec![], instrs, outputs: vec![2] })
    }
}

impl Mutation {
    /// The graph with the change, and where its values are now.
    pub fn apply(&self, graph: &Graph) -> (Graph, Vec<Val>) {
        let mut out = Graph::default();
        let mut moved: Vec<Val> = Vec::with_capacity(graph.values.len());
        for (n, node) in graph.nodes.iter().enumerate() {
            let here = n == self.node;
            let mut def = if here { self.def.clone() } else { node.def.clone() };
            let mut operand = 0;
            def.operands_mut(|v| {
                *v = moved[v.0 as usize];
                for (_, step) in self.before.iter().filter(|(k, _)| here && *k == operand) {
                    *v = step.push(&mut out, node.op, *v);
                }
                operand += 1;
            });
            let values = &graph.values[node.first.0 as usize..][..node.outputs as usize];
            let mut first = out.push(node.op, def, values.iter().map(|v| (v.dtype, v.dims.clone())));
            let others = (1..node.outputs).map(|i| Val(first.0 + i)).collect::<Vec<_>>();
            if let Some(step) = self.after.as_ref().filter(|_| here) {
                first = step.push(&mut out, node.op, first);
            }
            moved.push(first);
            moved.extend(others);
        }
        (out, moved)
    }

    /// The scalar program that was changed and what it was changed to, where that is all.
    pub fn programs<'a>(&'a self, graph: &'a Graph) -> Option<(&'a Program, &'a Program)> {
        match (&graph.nodes[self.node].def, &self.def) {
            (Def::Kernel { kernel: Kernel::Map(a), .. }, Def::Kernel { kernel: Kernel::Map(b), .. }) => {
                (self.before.is_empty() && a != b).then_some((&a.program, &b.program))
            }
            (Def::Kernel { kernel: Kernel::Reduce(a), .. }, Def::Kernel { kernel: Kernel::Reduce(b), .. }) => {
                [(&a.pre, &b.pre), (&a.post, &b.post)]
                    .into_iter()
                    .find(|(a, b)| a != b)
                    .and_then(|(a, b)| a.as_ref().zip(b.as_ref()))
            }
            _ => None,
        }
    }
}

/// Collects the mutations of a graph.
struct Writer<'a> {
    graph: &'a Graph,
    node: usize,
    out: Vec<Mutation>,
    named: BTreeMap<String, usize>,
}

/// Every mutation of a graph.
pub fn of(graph: &Graph) -> Vec<Mutation> {
    let mut w = Writer { graph, node: 0, out: Vec::new(), named: BTreeMap::new() };
    let looks = looks_for_overflow(graph);
    for (n, node) in graph.nodes.iter().enumerate().filter(|(n, _)| !looks[*n]) {
        w.node = n;
        match &node.def {
            Def::Input(_) => {}
            Def::View { of, view } => w.view(*of, view),
            Def::Kernel { kernel, inputs, .. } => {
                w.kernel(kernel, inputs);
                w.operands(kernel, inputs);
            }
            Def::Assemble { base, parts } => w.assemble(*base, parts),
        }
    }
    w.out
}

/// Which nodes only decide whether a result is beyond its dtype. Small errors of theirs change nothing, as results are compared with halves of
/// a dtype's range; answers at the ends of every dtype tell large ones (golden/ranges.py), and a look that is left out is a mutation.
fn looks_for_overflow(graph: &Graph) -> Vec<bool> {
    let of_value: Vec<usize> = graph.nodes.iter().enumerate().flat_map(|(n, node)| vec![n; node.outputs as usize]).collect();
    // What reads a node: nothing yet, lookers alone, or others too.
    let mut read: Vec<Option<bool>> = vec![None; graph.nodes.len()];
    for (n, node) in graph.nodes.iter().enumerate().rev() {
        let refuses =
            matches!(&node.def, Def::Kernel { kernel: Kernel::Gather(k), .. } if k.out_of_range == OutOfRange::Overflow);
        let (looks, mut operand) = (read[n] == Some(true), 0);
        node.def.clone().operands_mut(|v| {
            let by_looker = looks || (refuses && operand > 0);
            let of = &mut read[of_value[v.0 as usize]];
            *of = Some(of.unwrap_or(true) && by_looker);
            operand += 1;
        });
    }
    read.into_iter().map(|read| read == Some(true)).collect()
}

impl Writer<'_> {
    fn push(&mut self, name: String, def: Def, before: Vec<(usize, Step)>, after: Option<Step>) {
        let count = self.named.entry(name.clone()).or_default();
        *count += 1;
        let name = format!("{name} #{count}");
        self.out.push(Mutation { name, node: self.node, def, before, after });
    }

    fn instead(&mut self, name: &str, def: Def) {
        self.push(name.into(), def, vec![], None);
    }

    /// The same node on other operands.
    fn over(&mut self, name: &str, before: Vec<(usize, Step)>, after: Option<Step>) {
        self.push(name.into(), self.graph.nodes[self.node].def.clone(), before, after);
    }

    /// The same node with another kernel.
    fn other(&mut self, name: String, other: Kernel) {
        if let Def::Kernel { inputs, params, .. } = &self.graph.nodes[self.node].def {
            let def = Def::Kernel { kernel: other, inputs: inputs.clone(), params: params.clone() };
            self.push(name, def, vec![], None);
        }
    }

    fn kernel(&mut self, kernel: &Kernel, inputs: &[Val]) {
        match kernel {
            Kernel::Map(map) => {
                for (name, program) in program::changed(&map.program) {
                    self.other(name, Kernel::Map(Map { program }));
                }
            }
            Kernel::Reduce(k) => {
                for (name, pre) in k.pre.iter().flat_map(program::changed) {
                    self.other(
                        format!("before a reduction, {name}"),
                        Kernel::Reduce(Reduce { pre: Some(pre), ..k.clone() }),
                    );
                }
                for (name, post) in k.post.iter().flat_map(program::changed) {
                    self.other(
                        format!("after a reduction, {name}"),
                        Kernel::Reduce(Reduce { post: Some(post), ..k.clone() }),
                    );
                }
                let combine = match k.combine {
                    Combine::Value(monoid) => Combine::Value(opposite(monoid)),
                    Combine::ArgMax => Combine::ArgMin,
                    Combine::ArgMin => Combine::ArgMax,
                };
                self.other(format!("{:?} for {:?}", combine, k.combine), Kernel::Reduce(Reduce { combine, ..k.clone() }));
                self.reduction(k, inputs[0]);
            }
            Kernel::Scan(k) => {
                let mut other = k.clone();
                other.combine = opposite(k.combine);
                self.other(format!("{:?} for {:?}", other.combine, k.combine), Kernel::Scan(other));
                let dims = self.graph.dims(inputs[0]);
                let flip = Step::flip(dims, dims.len() - 1..dims.len());
                self.over("a scan from the end", vec![(0, flip.clone())], Some(flip));
            }
            Kernel::Scatter(k) => {
                let update = match k.update {
                    Update::Set => Update::Combine(Monoid::Sum),
                    Update::Combine(monoid) => {
                        let update = Update::Combine(opposite(monoid));
                        self.other(
                            format!("{update:?} for {:?}", k.update),
                            Kernel::Scatter(Scatter { update, ..k.clone() }),
                        );
                        Update::Set
                    }
                };
                self.other(format!("{update:?} for {:?}", k.update), Kernel::Scatter(Scatter { update, ..k.clone() }));
            }
            Kernel::Window(k) => {
                if let WindowCombine::Reduce(monoid) = k.combine {
                    let mut other = k.clone();
                    other.combine = WindowCombine::Reduce(opposite(monoid));
                    self.other(format!("{:?} for {monoid:?}", opposite(monoid)), Kernel::Window(other));
                }
                for (a, axis) in k.axes.iter().enumerate() {
                    let mut with = |name: &str, applies: bool, (stride, dilation, low): (usize, usize, usize)| {
                        let mut other = k.clone();
                        (other.axes[a].stride, other.axes[a].dilation, other.axes[a].low) = (stride, dilation, low);
                        if applies {
                            self.other(format!("{name}, axis {a}"), Kernel::Window(other));
                        }
                    };
                    with("windows further apart", true, (axis.stride + 1, axis.dilation, axis.low));
                    with("windows with wider gaps", axis.size > 1, (axis.stride, axis.dilation + 1, axis.low));
                    with("windows without padding", axis.low > 0, (axis.stride, axis.dilation, 0));
                }
            }
            // Fusion makes them, of what was broken before.
            Kernel::Rows(_) | Kernel::Attention(_) => {}
            Kernel::Sort(k) => {
                let mut other = k.clone();
                other.descending = !k.descending;
                self.other("a sort in the other order".into(), Kernel::Sort(other));
            }
            Kernel::Routine(Routine::Fft { dtype, inverse }) => {
                let other = Routine::Fft { dtype: *dtype, inverse: !inverse };
                self.other("a transform of the other sign".into(), Kernel::Routine(other));
            }
            Kernel::Gather(_) | Kernel::Contract(_) | Kernel::Routine(_) => {}
        }
    }

    fn reduction(&mut self, k: &Reduce, input: Val) {
        let dims = self.graph.dims(input).clone();
        if k.axes > 0
            && let Some(step) = Step::shortened(&dims, dims.len() - 1)
        {
            self.over("a reduction without its last element", vec![(0, step)], None);
        }
        let output = &self.graph.values[self.graph.nodes[self.node].first.0 as usize];
        if let (Combine::Value(monoid), true) = (k.combine, dims[dims.len() - k.axes..].contains(&0)) {
            let wrong = if matches!(monoid, Monoid::Prod | Monoid::All) { 0.0 } else { 1.0 };
            let constant = Op::Const(literal_bits(output.dtype, wrong));
            let instrs = vec![Instr { op: constant, dtype: output.dtype, args: Args::new() }];
            let program = Program { inputs: vec![], params: vec![], instrs, outputs: vec![0] };
            let kernel = Kernel::Map(Map { program });
            let def = Def::Kernel { kernel, inputs: SmallVec::new(), params: SmallVec::new() };
            self.instead("another value for the reduction of nothing", def);
        }
    }

    /// Changes of what a kernel reads.
    fn operands(&mut self, kernel: &Kernel, inputs: &[Val]) {
        let shapes: Vec<Dims> = inputs.iter().map(|&v| self.graph.dims(v).clone()).collect();
        let rank = |n: usize| shapes[n].len();
        match kernel {
            Kernel::Gather(Gather { index, .. }) | Kernel::Scatter(Scatter { index, .. }) => {
                for (k, &dtype) in index.iter().enumerate() {
                    let mut with = |name: &str, step| self.over(&format!("{name}, operand {k}"), vec![(1 + k, step)], None);
                    with("indices one further", Step::integers(dtype, Op::Add, 1.0));
                    if matches!(kernel, Kernel::Gather(k) if k.out_of_range == OutOfRange::Overflow) {
                        with("no look for an overflow", Step::integers(dtype, Op::Min, 0.0));
                    }
                    if dtype.kind() == ferrotensor_core::Kind::Signed {
                        with("negative indices as zero", Step::integers(dtype, Op::Max, 0.0));
                    }
                }
                let same = |&k: &usize| shapes[k] == shapes[k + 1] && index[k - 1] == index[k];
                for k in (1..index.len()).filter(same).collect::<Vec<_>>() {
                    self.exchanged(k);
                }
                if matches!(kernel, Kernel::Scatter(s) if s.update == Update::Set) && rank(1) > 0 {
                    let flips = (1..inputs.len()).map(|k| (k, Step::flip(&shapes[k], 0..rank(1)))).collect();
                    self.over("updates from the last to the first", flips, None);
                }
            }
            Kernel::Contract(_) => {
                let (a, b) = (Step::shortened(&shapes[0], rank(0) - 1), Step::shortened(&shapes[1], rank(1) - 2));
                if let (Some(a), Some(b)) = (a, b) {
                    self.over("a product without its last term", vec![(0, a), (1, b)], None);
                }
                if shapes[0] == shapes[1] {
                    self.exchanged(0);
                }
            }
            // Not of those whose results a transposed matrix shares.
            Kernel::Routine(
                Routine::Solve(_)
                | Routine::Triangular { .. }
                | Routine::Cholesky(_)
                | Routine::Eigh { .. }
                | Routine::Expm(_),
            ) => {
                let mut order: SmallVec<[usize; 6]> = (0..rank(0)).collect();
                order.swap(rank(0) - 2, rank(0) - 1);
                let transposed = Step::View(Box::new(View::Permute(order)), shapes[0].clone());
                self.over("the matrix transposed", vec![(0, transposed)], None);
            }
            _ => {}
        }
    }

    fn exchanged(&mut self, k: usize) {
        if let Def::Kernel { kernel, inputs, params } = &self.graph.nodes[self.node].def {
            let mut inputs = inputs.clone();
            inputs.swap(k, k + 1);
            let def = Def::Kernel { kernel: kernel.clone(), inputs, params: params.clone() };
            self.instead(&format!("operands {k} and {} exchanged", k + 1), def);
        }
    }

    fn view(&mut self, of: Val, view: &View) {
        let from = self.graph.dims(of).clone();
        let to = self.graph.values[self.graph.nodes[self.node].first.0 as usize].dims.clone();
        let reversed = || -> Step {
            let dims: Dims = from.iter().rev().copied().collect();
            Step::View(Box::new(View::Permute((0..from.len()).rev().collect())), dims)
        };
        // Along which there is something to confuse.
        let long = |dims: &[usize]| if dims.contains(&0) { 0 } else { dims.iter().filter(|&&d| d > 1).count() };
        match view {
            View::Permute(order) if !order.iter().filter(|&&a| from[a] > 1).is_sorted() && long(&from) > 1 => {
                self.instead("a permutation left out", Def::View { of, view: View::Reshape(to) })
            }
            View::Flip(axes) if axes.iter().any(|&a| from[a] > 1) && long(&from) > 0 => {
                self.instead("a flip left out", Def::View { of, view: View::Flip(SmallVec::new()) })
            }
            View::Reshape(_) if long(&from) > 1 => self.over("a shape filled column by column", vec![(0, reversed())], None),
            View::Broadcast(_) if long(&from) > 0 && !to.contains(&0) => {
                let flip = Step::flip(&from, 0..from.len());
                self.over("a broadcast of the reverse", vec![(0, flip)], None);
            }
            View::Index(items) => {
                for (name, items) in other_items(items, &from) {
                    self.instead(&name, Def::View { of, view: View::Index(items) });
                }
            }
            View::Unfold { axis, windows, window } => {
                let narrower = |v: usize| v.max(2) - 1;
                for (name, stride, dilation) in [
                    ("windows closer together", narrower(window.stride), window.dilation),
                    ("windows with narrower gaps", window.stride, narrower(window.dilation)),
                ] {
                    let mut other = *window;
                    (other.stride, other.dilation) = (stride, dilation);
                    if other != *window {
                        let view = View::Unfold { axis: *axis, windows: *windows, window: other };
                        self.instead(name, Def::View { of, view });
                    }
                }
            }
            View::Permute(_) | View::Flip(_) | View::Reshape(_) | View::Broadcast(_) => {}
        }
    }

    fn assemble(&mut self, base: Option<Val>, parts: &[(Val, Option<View>)]) {
        for (n, (part, region)) in parts.iter().enumerate() {
            if base.is_some() {
                let mut rest = parts.to_vec();
                rest.remove(n);
                self.instead("a part left out", Def::Assemble { base, parts: rest });
            }
            let Some(View::Index(items)) = region else { continue };
            let earlier = items.iter().position(|i| matches!(i, IndexItem::Slice { start: Number::Const(s), .. } if *s > 0));
            if let Some(at) = earlier {
                let mut items = items.clone();
                if let IndexItem::Slice { start: Number::Const(s), .. } = &mut items[at] {
                    *s -= 1;
                }
                // Beside the right one, which would leave a hole.
                let mut more = parts.to_vec();
                more.insert(n + 1, (*part, Some(View::Index(items))));
                self.instead("a part one element too early", Def::Assemble { base, parts: more });
            }
        }
    }
}

fn opposite(monoid: Monoid) -> Monoid {
    match monoid {
        Monoid::Sum => Monoid::Prod,
        Monoid::Prod => Monoid::Sum,
        Monoid::Max => Monoid::Min,
        Monoid::Min => Monoid::Max,
        Monoid::All => Monoid::Any,
        Monoid::Any => Monoid::All,
    }
}

type Items = SmallVec<[IndexItem; 6]>;

/// Index views with one number changed: a constant by one, one that is known at run time by a constant.
fn other_items(items: &Items, from: &[usize]) -> Vec<(String, Items)> {
    let mut out = Vec::new();
    let mut sizes = from.iter().map(|&d| d as i64);
    for (n, item) in items.iter().enumerate() {
        let mut push = |name: &str, item: IndexItem| {
            let mut other = items.clone();
            other[n] = item;
            out.push((name.to_owned(), other));
        };
        match *item {
            IndexItem::NewAxis => {}
            IndexItem::Pick(at) => {
                let size = sizes.next().unwrap_or(0);
                match at {
                    Number::Param(_) => push("a position not heeded", IndexItem::Pick(Number::Const(0))),
                    Number::Const(c) if size > 1 => {
                        push("the next position", IndexItem::Pick(Number::Const((c + 1) % size)))
                    }
                    Number::Const(_) => {}
                }
            }
            IndexItem::Slice { start, step, len } => {
                let size = sizes.next().unwrap_or(0);
                let fits = |s: i64, by: i64| len > 0 && [s, s + by * (len as i64 - 1)].iter().all(|p| (0..size).contains(p));
                match (start, step) {
                    (Number::Param(_), _) => {
                        push("a start not heeded", IndexItem::Slice { start: Number::Const(0), step, len })
                    }
                    (Number::Const(s), Number::Const(by)) => {
                        if let Some(s) = [s + 1, s - 1].into_iter().find(|&s| fits(s, by)) {
                            push("another start", IndexItem::Slice { start: Number::Const(s), step, len });
                        }
                    }
                    (Number::Const(_), Number::Param(_)) => {}
                }
                if step != Number::Const(1) {
                    push("a step not heeded", IndexItem::Slice { start, step: Number::Const(1), len });
                }
            }
        }
    }
    out
}

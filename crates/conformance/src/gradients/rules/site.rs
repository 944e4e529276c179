//! Where a graph's cotangents go through a rule: into an operand of a node, out of one of several results, into an argument of an
//! instruction.

use ferrotensor_core::DType;
use ferrotensor_core::kernel::{Kernel, Routine, Window, WindowCombine};
use ferrotensor_core::scalar::{Op, Program};
use ferrotensor_ops::graph::{Def, Graph, Node, Val, View};

/// What of a node it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// The n-th operand.
    Operand(usize),
    /// The n-th result.
    Result(u32),
    /// An argument of an instruction of its program.
    #[allow(missing_docs)]
    Argument { instr: usize, arg: usize },
}

/// A place, and the rule that it belongs to.
pub struct Site {
    pub node: usize,
    pub place: Place,
    /// The same for the same rule of other graphs.
    pub rule: String,
}

fn moves(dtype: DType) -> bool {
    matches!(dtype, DType::F64 | DType::C128)
}

/// All places that values asked for may go through.
pub fn of(graph: &Graph, wrt: &[Option<Val>]) -> Vec<Site> {
    let mut active = vec![false; graph.values.len()];
    wrt.iter().flatten().for_each(|v| active[v.0 as usize] = true);
    let mut out = Vec::new();
    for (n, node) in graph.nodes.iter().enumerate() {
        let operands = operands(&node.def);
        let reached = operands.iter().any(|v| active[v.0 as usize]);
        let results = node.first.0..node.first.0 + node.outputs;
        let floating = |v: u32| moves(graph.values[v as usize].dtype);
        results.clone().for_each(|v| active[v as usize] |= reached && floating(v));
        if !reached || !results.clone().any(floating) {
            continue;
        }
        if let Def::Kernel { kernel: Kernel::Map(map), inputs, .. } = &node.def {
            let moved: Vec<bool> = inputs.iter().map(|v| active[v.0 as usize]).collect();
            arguments(n, &map.program, &moved, &mut out);
            continue;
        }
        let name = name(node);
        for (k, v) in operands.iter().enumerate().filter(|(_, v)| active[v.0 as usize]) {
            debug_assert!(moves(graph.dtype(*v)));
            let rule = format!("{name}, {}", operand(&node.def, k));
            out.push(Site { node: n, place: Place::Operand(k), rule });
        }
        if results.clone().filter(|&v| floating(v)).count() > 1 {
            // The sign of a permutation jumps.
            let jumps =
                |k: usize| matches!(&node.def, Def::Kernel { kernel: Kernel::Routine(Routine::Lu(_)), .. } if k == 3);
            for (k, _) in results.enumerate().filter(|(k, v)| floating(*v) && !jumps(*k)) {
                out.push(Site { node: n, place: Place::Result(k as u32), rule: format!("{name}, result {k}") });
            }
        }
    }
    out
}

/// The operands of a definition, in the order of [`Def::operands_mut`].
fn operands(def: &Def) -> Vec<Val> {
    let mut out = Vec::new();
    def.clone().operands_mut(|v| out.push(*v));
    out
}

fn arguments(node: usize, program: &Program, moved: &[bool], out: &mut Vec<Site>) {
    let mut active = vec![false; program.instrs.len()];
    for (at, instr) in program.instrs.iter().enumerate() {
        active[at] = match instr.op {
            Op::Input(n) => moved[n as usize],
            _ => instr.args.iter().any(|&a| active[a as usize]) && (moves(instr.dtype) || instr.dtype.is_integer()),
        };
        if matches!(instr.op, Op::Floor | Op::Ceil | Op::Round | Op::Trunc) {
            // They jump: what is derived through them is checked to be nothing in the results of their rows.
            active[at] = false;
            continue;
        }
        let number = |d: DType| if d.is_complex() { "complex" } else { "real" };
        for (k, &a) in instr.args.iter().enumerate().filter(|_| moves(instr.dtype) || instr.op == Op::Bitcast) {
            let from = program.dtype(a);
            if active[a as usize] && moves(from) {
                let name = match instr.op {
                    Op::Call(f) => f.name().to_owned(),
                    Op::Cast => format!("Cast of {}", number(from)),
                    op => format!("{op:?}"),
                };
                let rule = format!("instruction {name}, {}, argument {k}", number(instr.dtype));
                out.push(Site { node, place: Place::Argument { instr: at, arg: k }, rule });
            }
        }
    }
}

/// The n-th operand in words: parts are alike, and so are the places of updates behind any number of indices.
fn operand(def: &Def, n: usize) -> String {
    match def {
        Def::Assemble { base, .. } => (if n == 0 && base.is_some() { "base" } else { "part" }).into(),
        Def::Kernel { kernel: Kernel::Scatter(_), .. } => (if n == 0 { "data" } else { "updates" }).into(),
        _ => format!("operand {n}"),
    }
}

/// The rule of a node in words.
fn name(node: &Node) -> String {
    match &node.def {
        Def::Input(_) | Def::Assemble { .. } => node.def.kind().into(),
        Def::View { view, .. } => {
            let name = match view {
                View::Permute(_) => "Permute",
                View::Reshape(_) => "Reshape",
                View::Broadcast(_) => "Broadcast",
                View::Flip(_) => "Flip",
                View::Index(_) => "Index",
                View::Unfold { .. } => "Unfold",
            };
            format!("view {name}")
        }
        Def::Kernel { kernel, .. } => match kernel {
            Kernel::Reduce(k) => {
                let steps = k.pre.is_some() || k.post.is_some();
                format!("reduce {:?}{}", k.combine, if steps { " in steps" } else { "" })
            }
            Kernel::Scan(k) => format!("scan {:?}", k.combine),
            Kernel::Scatter(k) => format!("scatter {:?}", k.update),
            Kernel::Window(Window { combine: WindowCombine::Reduce(monoid), .. }) => format!("window {monoid:?}"),
            Kernel::Window(_) => "window Dot".into(),
            Kernel::Sort(k) => format!("sort {:?}", k.outputs),
            Kernel::Routine(k) => format!("routine {}", routine(k)),
            other => other.kind().into(),
        },
    }
}

fn routine(kernel: &Routine) -> String {
    match kernel {
        Routine::Solve(_) => "solve".into(),
        Routine::Qr(_) => "qr".into(),
        Routine::Cholesky(_) => "cholesky".into(),
        Routine::Lu(_) => "lu".into(),
        Routine::Triangular { .. } => "triangular".into(),
        Routine::Eigh { vectors, .. } => if *vectors { "eigh" } else { "eigh of values" }.into(),
        Routine::Svd { outputs, .. } => format!("svd {outputs:?}"),
        Routine::Eig { vectors, .. } => if *vectors { "eig" } else { "eig of values" }.into(),
        Routine::Expm(_) => "expm".into(),
        Routine::Fft { inverse, .. } => if *inverse { "inverse fft" } else { "fft" }.into(),
    }
}

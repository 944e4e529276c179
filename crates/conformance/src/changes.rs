//! Changes of one thing in a lowered graph, each of which some golden vector must notice: the few that the quick tier has time
//! for. `mutations.rs` makes all there are.

use ferrotensor_core::kernel::{Combine, Kernel, Monoid, Routine, Update, WindowAxis, WindowCombine};
use ferrotensor_core::scalar::Op;
use ferrotensor_ops::graph::{Def, Graph, IndexItem, Number, View};

/// Changes one thing of a graph; false where there is nothing of the kind.
pub type Change = fn(&mut Graph) -> bool;

fn first_kernel(graph: &mut Graph, mut f: impl FnMut(&mut Kernel) -> bool) -> bool {
    graph.nodes.iter_mut().any(|n| if let Def::Kernel { kernel, .. } = &mut n.def { f(kernel) } else { false })
}

fn first_view(graph: &mut Graph, mut f: impl FnMut(&mut View) -> bool) -> bool {
    graph.nodes.iter_mut().any(|n| if let Def::View { view, .. } = &mut n.def { f(view) } else { false })
}

fn replace_op(graph: &mut Graph, from: Op, to: Op) -> bool {
    first_kernel(graph, |k| match k {
        Kernel::Map(m) => m.program.instrs.iter_mut().any(|i| {
            i.op == from && {
                i.op = to;
                true
            }
        }),
        _ => false,
    })
}

fn replace_monoid(graph: &mut Graph, from: Monoid, to: Monoid) -> bool {
    first_kernel(graph, |k| match k {
        Kernel::Reduce(r) if r.combine == Combine::Value(from) => {
            r.combine = Combine::Value(to);
            true
        }
        Kernel::Window(w) if w.combine == WindowCombine::Reduce(from) => {
            w.combine = WindowCombine::Reduce(to);
            true
        }
        Kernel::Scan(s) if s.combine == from => {
            s.combine = to;
            true
        }
        _ => false,
    })
}

fn replace_update(graph: &mut Graph, from: Update, to: Update) -> bool {
    first_kernel(graph, |k| match k {
        Kernel::Scatter(s) if s.update == from => {
            s.update = to;
            true
        }
        _ => false,
    })
}

/// Changes the first window axis that `f` changes.
fn window_axis(graph: &mut Graph, f: fn(&mut WindowAxis) -> bool) -> bool {
    first_kernel(graph, |k| if let Kernel::Window(w) = k { w.axes.iter_mut().any(f) } else { false })
}

/// Rows in which a change is none: that could be seen.
pub fn equivalent(change: &str, row: &str) -> bool {
    match change {
        // `r < 0` is asked only where `r != 0`, and `0 < x` where `x != 0`; at the border between two formulas both hold.
        // So they do where two samples meet, and half-way between two elements.
        "less or equal for less" => {
            let both = [
                "floorDivide",
                "remainder",
                "nextafter",
                "nn.celu",
                "nn.selu",
                "nn.softshrink",
                "interp",
                "quantile",
                "percentile",
                "nanquantile",
                "nanpercentile",
            ];
            both.contains(&row) || COMPLEX.contains(&row)
        }
        // What the squares lose of a logarithm near the unit circle: seen in the rows of logarithms.
        "multiply for add" => row == "pow",
        // The last sample is met from both sides; at delta both formulas hold.
        "less for less or equal" => ["interp", "nn.huberLoss"].contains(&row),
        // Whole exponents are halved without their sign; places among elements have none.
        "truncation for floor" => ["pow", "quantile", "percentile", "nanquantile", "nanpercentile"].contains(&row),
        _ => false,
    }
}

/// Rows with formulas for complex numbers.
const COMPLEX: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log", "log10", "log1p", "log2",
    "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh",
];

/// Name and change.
pub const CHANGES: &[(&str, Change)] = &[
    ("add for subtract", |g| replace_op(g, Op::Sub, Op::Add)),
    ("multiply for add", |g| replace_op(g, Op::Add, Op::Mul)),
    ("less for less or equal", |g| replace_op(g, Op::Le, Op::Lt)),
    ("less or equal for less", |g| replace_op(g, Op::Lt, Op::Le)),
    ("equal for not equal", |g| replace_op(g, Op::Ne, Op::Eq)),
    ("maximum for minimum", |g| replace_op(g, Op::Min, Op::Max)),
    ("truncation for floor", |g| replace_op(g, Op::Floor, Op::Trunc)),
    ("floor for ceil", |g| replace_op(g, Op::Ceil, Op::Floor)),
    ("a product for a sum", |g| replace_monoid(g, Monoid::Sum, Monoid::Prod)),
    ("a maximum for a minimum", |g| replace_monoid(g, Monoid::Min, Monoid::Max)),
    ("a minimum for a maximum", |g| replace_monoid(g, Monoid::Max, Monoid::Min)),
    ("windows further apart", |g| {
        window_axis(g, |a| {
            a.stride += 1;
            true
        })
    }),
    ("windows with wider gaps", |g| {
        window_axis(g, |a| {
            a.dilation += 1;
            a.size > 1
        })
    }),
    ("windows without padding", |g| window_axis(g, |a| std::mem::take(&mut a.low) > 0)),
    ("any for all", |g| replace_monoid(g, Monoid::All, Monoid::Any)),
    ("the other position", |g| {
        first_kernel(g, |k| match k {
            Kernel::Reduce(r) if r.combine == Combine::ArgMax => {
                r.combine = Combine::ArgMin;
                true
            }
            _ => false,
        })
    }),
    ("the other order of a sort", |g| {
        first_kernel(g, |k| match k {
            Kernel::Sort(s) => {
                s.descending = !s.descending;
                true
            }
            _ => false,
        })
    }),
    ("the other sign of a transform", |g| {
        first_kernel(g, |k| match k {
            Kernel::Routine(Routine::Fft { inverse, .. }) => {
                *inverse = !*inverse;
                true
            }
            _ => false,
        })
    }),
    ("an update that is set, not added", |g| replace_update(g, Update::Combine(Monoid::Sum), Update::Set)),
    ("an update that is added, not set", |g| replace_update(g, Update::Set, Update::Combine(Monoid::Sum))),
    ("indices in another order", |g| {
        g.nodes.iter_mut().any(|n| match &mut n.def {
            Def::Kernel { kernel: kernel @ (Kernel::Gather(_) | Kernel::Scatter(_)), inputs, .. } => {
                let indices = &mut inputs[1..];
                let count = indices.len() - matches!(kernel, Kernel::Scatter(_)) as usize;
                indices[..count].reverse();
                count > 1
            }
            _ => false,
        })
    }),
    ("a flip left out", |g| {
        first_view(g, |v| match v {
            View::Flip(axes) => {
                axes.clear();
                true
            }
            _ => false,
        })
    }),
    ("a region one element further", |g| {
        g.nodes.iter_mut().any(|n| match &mut n.def {
            Def::Assemble { parts, .. } => parts.iter_mut().rev().any(|(_, region)| match region {
                Some(View::Index(items)) => items.iter_mut().any(|i| match i {
                    IndexItem::Slice { start: Number::Const(s), .. } if *s > 0 => {
                        *s -= 1;
                        true
                    }
                    _ => false,
                }),
                _ => false,
            }),
            _ => false,
        })
    }),
];

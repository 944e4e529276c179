//! Gradients: reverse and forward mode over what rows are lowered to, so that every row is differentiable, to any order.
//!
//! A call is lowered beside its gradient, and the nodes that makes are walked backwards (`back.rs`), each by the rule of its kind: views
//! (`views.rs`), maps (`elementwise.rs`, over the tangents of scalar programs in `scalar.rs` and `functions.rs`), and the other kernels.
//! What is written are views and kernels again. A row says in its column [`Gradient`] where that is not what users expect.
//!
//! The cotangent of a complex value is `dL/dRe + i dL/dIm`, PyTorch's convention.

mod algebra;
mod back;
mod combine;
mod contract;
mod elementwise;
mod functions;
pub mod partials;
mod places;
mod routine;
pub mod rules;
mod scalar;
mod special;
mod views;
mod window;

use crate::attrs::Attrs;
use crate::def::OpDef;
use crate::graph::{Graph, Val};
use crate::lower::{self, Lower, Operand};
use crate::write::Writer;
use ferrotensor_core::scalar::{Builder, Value};
use ferrotensor_core::{Error, Result};
pub use scalar::is_differentiable;
use std::collections::HashMap;

pub use back::{Facts, walk};

/// How a row is differentiated.
#[derive(Clone, Copy)]
pub enum Gradient {
    /// By what it is lowered to.
    Derived,
    /// Not at all, and why.
    None(&'static str),
    /// Elementwise, by these slopes.
    Partials(Partials),
    /// As derived, but that in the calls that are said a root of nothing has the gradient 0.
    Rooted(fn(&Attrs) -> bool),
    /// By a rule of its own.
    Rule(Rule),
}

/// The slope of an elementwise row's result by one operand: operands (as in a [`lower::MapFn`], half floats widened), the result, and
/// which operand.
pub type Partials = fn(&mut Builder, &[Value], Value, usize) -> Slope;

/// What an elementwise row's result does when an operand moves.
pub enum Slope {
    /// It stands still.
    Zero,
    /// As the row's program says.
    Derived,
    /// This, in the dtype the operands have; of complex ones the derivative of a holomorphic function.
    Of(Value),
}

/// Cotangents of all operands for the results and their cotangents, written about a call; nothing where the derived ones will do.
pub type Rule = fn(&mut Lower, &[Val], &[Option<Val>]) -> Result<Option<Vec<Option<Val>>>>;

/// Cotangents of the operands asked for: of their dtypes and shapes, nothing where the results do not depend on them. `outputs` are
/// the call's results, known already; `cotangents` has one for each, nothing counting as zero.
///
/// # Errors
/// As [`lower::lower`]; `Code::Unsupported` where there is no derivative.
#[allow(clippy::too_many_arguments)]
pub fn vjp(
    graph: &mut Graph,
    op: &'static OpDef,
    operands: &[Operand],
    attrs: &Attrs,
    first_param: u16,
    outputs: &[Val],
    cotangents: &[Option<Val>],
    wrt: &[bool],
) -> Result<Vec<Option<Val>>> {
    let operands = distinct(graph, op, operands);
    let own = lower::about(graph, op, &operands, attrs, first_param, |l| match op.gradient {
        Gradient::None(_) => Ok(Some(vec![None; operands.len()])),
        Gradient::Rule(rule) => rule(l, outputs, cotangents),
        Gradient::Partials(slopes) => partials::cotangents(l, slopes, outputs[0], cotangents[0], wrt),
        Gradient::Derived | Gradient::Rooted(_) => Ok(None),
    })
    .map_err(|e| e.in_op(&op.path()))?;
    if let Some(found) = own {
        let wanted = |n: usize| wrt.get(n).copied().unwrap_or(false);
        return Ok(found.into_iter().enumerate().map(|(n, g)| g.filter(|_| wanted(n))).collect());
    }
    let start = graph.nodes.len();
    let lowered = lower::lower(graph, op, &operands, attrs, first_param)?;
    let seeds: Vec<(Val, Val)> = lowered.iter().zip(cotangents).filter_map(|(&v, g)| Some((v, (*g)?))).collect();
    let wanted = |n: usize| match operands[n] {
        Operand::Val(v) if wrt.get(n).copied().unwrap_or(false) && is_differentiable(graph.dtype(v)) => Some(v),
        _ => None,
    };
    let wanted: Vec<Option<Val>> = (0..operands.len()).map(wanted).collect();
    let values: Vec<Val> = wanted.iter().flatten().copied().collect();
    // An operand that is handed through is itself.
    let is_operand = |v: &Val| operands.iter().any(|o| matches!(o, Operand::Val(x) if x == v));
    let known: HashMap<Val, Val> =
        lowered.iter().copied().zip(outputs.iter().copied()).filter(|(v, known)| v != known && !is_operand(v)).collect();
    let mut found = walk(graph, op.id(), start, &seeds, &values, Facts { known, ..Facts::of(op, attrs) })
        .map_err(|e| e.in_op(&op.path()))?
        .into_iter();
    Ok(wanted.into_iter().map(|v| v.and_then(|_| found.next().flatten())).collect())
}

/// Tangents of the results for tangents of the operands: the transpose of the transpose, which [`vjp`] is linear in. What is written
/// depends on none of the cotangents it was made with.
///
/// # Errors
/// As [`vjp`].
#[allow(clippy::too_many_arguments)]
pub fn jvp(
    graph: &mut Graph,
    op: &'static OpDef,
    operands: &[Operand],
    attrs: &Attrs,
    first_param: u16,
    outputs: &[Val],
    tangents: &[Option<Val>],
) -> Result<Vec<Option<Val>>> {
    let mut cotangents = Vec::new();
    for &v in outputs {
        let (dtype, dims) = (graph.dtype(v), graph.dims(v).clone());
        let mut w = Writer { graph, op: op.id(), call: () };
        cotangents.push(if is_differentiable(dtype) { Some(w.map(&dims, &[], |b, _| b.lit(dtype, 0.0))?) } else { None });
    }
    let start = graph.nodes.len();
    let wrt: Vec<bool> = tangents.iter().map(Option::is_some).collect();
    let back = vjp(graph, op, operands, attrs, first_param, outputs, &cotangents, &wrt)?;
    let seeds: Vec<(Val, Val)> = back.iter().zip(tangents).filter_map(|(v, t)| Some(((*v)?, (*t)?))).collect();
    let values: Vec<Val> = cotangents.iter().flatten().copied().collect();
    let mut found = walk(graph, op.id(), start, &seeds, &values, Facts::default())?.into_iter();
    Ok(cotangents.into_iter().map(|v| v.and_then(|_| found.next().flatten())).collect())
}

/// The operands as different values: one that stands twice is shown by a view the second time.
fn distinct(graph: &mut Graph, op: &'static OpDef, operands: &[Operand]) -> Vec<Operand> {
    let mut out: Vec<Operand> = Vec::with_capacity(operands.len());
    for operand in operands {
        let again = |o: &Operand| matches!((o, operand), (Operand::Val(a), Operand::Val(b)) if a == b);
        out.push(match *operand {
            Operand::Val(v) if out.iter().any(again) => {
                let mut w = Writer { graph: &mut *graph, op: op.id(), call: () };
                Operand::Val(w.alias(v))
            }
            other => other,
        });
    }
    out
}

/// That a row has a derivative.
///
/// # Errors
/// `Code::Unsupported` with the reason.
pub fn check(op: &OpDef) -> Result<()> {
    match op.gradient {
        Gradient::None(reason) => Err(Error::unsupported(format!("has no gradient: {reason}")).in_op(&op.path())),
        _ => Ok(()),
    }
}

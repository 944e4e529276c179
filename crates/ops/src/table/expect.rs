//! What the elements of a call's argument must be, for calls made of several rows in TypeScript: the argument itself where a
//! condition holds, an error of the call, thrown by the read, where it does not.

use super::rows::{BASE, tensor};
use crate::def::{Doc, Domain, Form, Lowering, OpDef, OperandDef, Refusal};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::lower::{Lower, Val};
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Combine, Monoid};
use ferrotensor_core::{DType, Result, layout};

/// Each element looked up where it stands, or behind the last one, which is what fails.
fn expect(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, holds) = (l.operand(0)?, l.operand(1)?);
    let (dims, seen) = (l.dims(x), l.dims(holds));
    let count = layout::count(&dims)?;
    let truth = l.map(&seen, &[holds], |b, v| b.cast(v[0], DType::Bool))?;
    let axes: Vec<usize> = (0..seen.len()).collect();
    let all = l.reduce(truth, &axes, Combine::Value(Monoid::All), false);
    let flat = l.reshape(x, &[count]);
    let place = l.map(&[count], &[all], |b, v| {
        let (place, behind) = (b.index(0, DType::I64), b.size(count));
        b.select(v[0], place, behind)
    })?;
    let found = l.gather(flat, &[place]);
    Ok(vec![l.reshape(found, &dims)])
}

const OPERANDS: &[OperandDef] = &[tensor("x"), tensor("holds")];

const fn expected(name: &'static str, call: &'static str, words: &'static str) -> OpDef {
    OpDef {
        name,
        form: Form::Internal,
        operands: OPERANDS,
        dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Compute).over(0, 1),
        shape: shape::same,
        domain: Domain::Special,
        lower: Lowering::Graph(expect),
        doc: Doc { summary: words, formula: "x", example: "", numpy: "", torch: "" },
        refused: Some(Refusal { code: Code::Argument, call, words }),
        ..BASE
    }
}

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    expected("digitizeBins", "digitize", "bins must increase or decrease monotonically."),
    expected("histogramEdges", "histogram", "edges must increase monotonically."),
    expected("choiceWeights", "random.choice", "probabilities must be finite numbers, none of them negative, not all of them 0."),
    expected("choiceCount", "random.choice", "there are fewer probabilities above 0 than choices without replacement."),
    expected("bernoulliChances", "random.bernoulli", "probabilities must be numbers from 0 to 1."),
    expected("categoricalLogits", "random.categorical", "logits must not be NaN or Infinity, nor -Infinity for all classes."),
];

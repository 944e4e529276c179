//! Starting points of rows: a row is `OpDef { name: .., doc: .., ..BASE }`.

use crate::def::{AttrDef, AttrKind, Doc, Domain, Form, Lowering, Namespace, OpDef, OperandDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::gradient::Gradient;
use crate::shape;

/// A tensor operand.
pub const fn tensor(name: &'static str) -> OperandDef {
    OperandDef { name, weak: false, optional: false, range: None }
}

/// A tensor or a JavaScript scalar.
pub const fn weak(name: &'static str) -> OperandDef {
    OperandDef { name, weak: true, optional: false, range: None }
}

/// A tensor or a JavaScript scalar of a range.
pub const fn ranged(name: &'static str, low: f64, high: f64) -> OperandDef {
    OperandDef { range: Some((low, high)), ..weak(name) }
}

/// A tensor or a JavaScript scalar that may be left out.
pub const fn optional(name: &'static str) -> OperandDef {
    OperandDef { name, weak: true, optional: true, range: None }
}

/// A tensor that may be left out.
pub const fn optional_tensor(name: &'static str) -> OperandDef {
    OperandDef { name, weak: false, optional: true, range: None }
}

/// An option.
pub const fn attr(name: &'static str, kind: AttrKind) -> AttrDef {
    AttrDef { name, kind, positional: false }
}

/// A positional attribute.
pub const fn arg(name: &'static str, kind: AttrKind) -> AttrDef {
    AttrDef { name, kind, positional: true }
}

/// Documentation.
pub const fn doc(
    summary: &'static str,
    formula: &'static str,
    example: &'static str,
    numpy: &'static str,
    torch: &'static str,
) -> Doc {
    Doc { summary, formula, example, numpy, torch }
}

/// Any operation of one tensor.
pub const BASE: OpDef = OpDef {
    name: "",
    aliases: &[],
    namespace: Namespace::Root,
    also: &[],
    form: Form::Both,
    operands: &[tensor("x")],
    variadic: false,
    attrs: &[],
    params: &[],
    outputs: &[""],
    dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Compute),
    shape: shape::same,
    lower: Lowering::Map(|_, x, _| x[0]),
    gradient: Gradient::Derived,
    domain: Domain::Any,
    doc: doc("", "", "", "", ""),
    errors: &[],
    refused: None,
};

/// An elementwise function of one tensor.
pub const fn unary(class: Class, compute: Compute, out: Out) -> OpDef {
    OpDef { dtype: DTypeRule::new(class, compute, out), ..BASE }
}

const PAIR: &[OperandDef] = &[weak("x1"), weak("x2")];

/// An elementwise function of two operands that broadcast.
pub const fn binary(class: Class, compute: Compute, out: Out) -> OpDef {
    OpDef { operands: PAIR, dtype: DTypeRule::new(class, compute, out), shape: shape::broadcast, ..BASE }
}

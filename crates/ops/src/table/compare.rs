//! Comparisons and logic: bool out.

use super::rows::{binary, doc};
use crate::def::{Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, Out};
use ferrotensor_core::DType;
use ferrotensor_core::scalar::{Builder, Op, Value};

const EQUALITY: OpDef = binary(Class::Any, Compute::Promote, Out::Bool);
const ORDER: OpDef = binary(Class::Ordered, Compute::Promote, Out::Bool);
const LOGIC: OpDef = binary(Class::Any, Compute::Promote, Out::Bool);

fn logic(b: &mut Builder, x: &[Value], op: Op) -> Value {
    let (p, q) = (b.cast(x[0], DType::Bool), b.cast(x[1], DType::Bool));
    b.binary(op, p, q)
}

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "equal", lower: Lowering::Map(|b, x, _| b.compare(Op::Eq, x[0], x[1])),
        doc: doc("Whether elements are equal; NaN equals nothing.", "x1 == x2", "ft.tensor([1, 2]).equal(2) // [false, true]", "equal", "eq"), ..EQUALITY },
    OpDef { name: "notEqual", lower: Lowering::Map(|b, x, _| b.compare(Op::Ne, x[0], x[1])),
        doc: doc("Whether elements differ; NaN differs from everything.", "x1 != x2", "ft.tensor([1, 2]).notEqual(2) // [true, false]", "not_equal", "ne"), ..EQUALITY },
    OpDef { name: "less", lower: Lowering::Map(|b, x, _| b.compare(Op::Lt, x[0], x[1])),
        doc: doc("Whether the first is less.", "x1 < x2", "ft.tensor([1, 2]).less(2) // [true, false]", "less", "lt"), ..ORDER },
    OpDef { name: "lessEqual", lower: Lowering::Map(|b, x, _| b.compare(Op::Le, x[0], x[1])),
        doc: doc("Whether the first is less or equal.", "x1 <= x2", "ft.tensor([1, 3]).lessEqual(2) // [true, false]", "less_equal", "le"), ..ORDER },
    OpDef { name: "greater", lower: Lowering::Map(|b, x, _| b.compare(Op::Lt, x[1], x[0])),
        doc: doc("Whether the first is greater.", "x1 > x2", "ft.tensor([1, 3]).greater(2) // [false, true]", "greater", "gt"), ..ORDER },
    OpDef { name: "greaterEqual", lower: Lowering::Map(|b, x, _| b.compare(Op::Le, x[1], x[0])),
        doc: doc("Whether the first is greater or equal.", "x1 >= x2", "ft.tensor([1, 2]).greaterEqual(2) // [false, true]", "greater_equal", "ge"), ..ORDER },
    OpDef { name: "logicalAnd", lower: Lowering::Map(|b, x, _| logic(b, x, Op::And)),
        doc: doc("Whether both elements are non-zero.", "x1 != 0 && x2 != 0", "ft.tensor([1, 0]).logicalAnd(ft.tensor([2, 2])) // [true, false]", "logical_and", "logical_and"), ..LOGIC },
    OpDef { name: "logicalXor", lower: Lowering::Map(|b, x, _| logic(b, x, Op::Xor)),
        doc: doc("Whether one of both elements is non-zero, and the other is not.", "(x1 != 0) != (x2 != 0)", "ft.tensor([1, 0]).logicalXor(ft.tensor([2, 2])) // [false, true]", "logical_xor", "logical_xor"), ..LOGIC },
    OpDef { name: "logicalOr", lower: Lowering::Map(|b, x, _| logic(b, x, Op::Or)),
        doc: doc("Whether any of both elements is non-zero.", "x1 != 0 || x2 != 0", "ft.tensor([1, 0]).logicalOr(ft.tensor([0, 0])) // [true, false]", "logical_or", "logical_or"), ..LOGIC },
];

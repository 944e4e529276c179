//! Bits of integers: logic, shifts, counts, and the same bits as another dtype.

use super::rows::{BASE, arg, binary, doc, unary};
use crate::def::{AttrKind, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::MapFn;
use crate::shape;
use ferrotensor_core::error::Code;
use ferrotensor_core::scalar::{Builder, Op, Value};
use ferrotensor_core::{DType, Dims, Error, Result};

const LOGIC: OpDef = OpDef {
    errors: &[ErrorCase { call: "ft.tensor([1.5]).bitwiseAnd(ft.tensor([2.5]))", code: Code::DType }],
    ..binary(Class::IntegerOrBool, Compute::Promote, Out::Compute)
};
const SHIFT: OpDef = OpDef {
    errors: &[ErrorCase { call: "ft.tensor([1.5]).bitwiseLeftShift(1)", code: Code::DType }],
    ..binary(Class::Integer, Compute::Promote, Out::Compute)
};
const COUNT: OpDef = OpDef {
    errors: &[ErrorCase { call: "ft.tensor([1.5]).populationCount()", code: Code::DType }],
    ..unary(Class::Integer, Compute::Own, Out::Compute)
};

/// The unsigned integer dtype of as many bytes.
pub fn unsigned(d: DType) -> DType {
    match d.bytes() {
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    }
}

/// An unsigned constant whose bytes are all this one.
fn bytes(b: &mut Builder, d: DType, byte: u8) -> Value {
    b.bits(d, u64::from_le_bytes([byte; 8]) >> (64 - 8 * d.bytes()))
}

/// `x >> by`.
fn shifted(b: &mut Builder, x: Value, by: usize) -> Value {
    let by = b.lit(b.dtype(x), by as f64);
    b.binary(Op::Shr, x, by)
}

/// How many bits of an unsigned integer are set: sums of 2, 4 and 8 neighbours side by side, then of the bytes, which the product
/// adds up in its highest (Warren, Hacker's Delight, 2nd edition, 5-1).
fn set_bits(b: &mut Builder, x: Value) -> Value {
    let d = b.dtype(x);
    let (m1, m2, m4) = (bytes(b, d, 0x55), bytes(b, d, 0x33), bytes(b, d, 0x0f));
    let odd = shifted(b, x, 1);
    let odd = b.binary(Op::And, odd, m1);
    let pairs = b.binary(Op::Sub, x, odd);
    let high = shifted(b, pairs, 2);
    let (high, low) = (b.binary(Op::And, high, m2), b.binary(Op::And, pairs, m2));
    let nibbles = b.binary(Op::Add, high, low);
    let high = shifted(b, nibbles, 4);
    let sums = b.binary(Op::Add, nibbles, high);
    let sums = b.binary(Op::And, sums, m4);
    let ones = bytes(b, d, 0x01);
    let total = b.binary(Op::Mul, sums, ones);
    shifted(b, total, 8 * (d.bytes() - 1))
}

/// The size of an integer, as the unsigned one that holds that of the smallest too.
fn size(b: &mut Builder, x: Value) -> Value {
    let d = b.dtype(x);
    let size = if d.kind() == ferrotensor_core::Kind::Signed { b.unary(Op::Abs, x) } else { x };
    b.bitcast(size, unsigned(d))
}

const POPULATION_COUNT: MapFn = |b, x, d| {
    let bits = b.bitcast(x[0], unsigned(d));
    let count = set_bits(b, bits);
    b.bitcast(count, d)
};

const BITWISE_COUNT: MapFn = |b, x, d| {
    let size = size(b, x[0]);
    let count = set_bits(b, size);
    b.cast(count, d)
};

/// As many as are not set once every bit below the highest is.
const COUNT_LEADING_ZEROS: MapFn = |b, x, d| {
    let mut bits = b.bitcast(x[0], unsigned(d));
    let mut by = 1;
    while by < 8 * d.bytes() {
        let below = shifted(b, bits, by);
        bits = b.binary(Op::Or, bits, below);
        by *= 2;
    }
    let zeros = b.unary(Op::Not, bits);
    let count = set_bits(b, zeros);
    b.bitcast(count, d)
};

fn bitcast_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    match (ctx.dtype(0), ctx.attrs.dtype("dtype")) {
        (Some(from), Some(to)) if from.bytes() != to.bytes() => {
            let (n, m) = (from.bytes(), to.bytes());
            Err(Error::dtype(format!("{from} has {n} byte(s), {to} has {m}; only dtypes of one size share their bits")))
        }
        // Bytes that are neither 0 nor 1 are no bool.
        (Some(from), Some(DType::Bool)) if from != DType::Bool => {
            Err(Error::dtype(format!("bits of {from} are no bool; use astype('bool') or notEqual(0)")))
        }
        _ => shape::same(ctx),
    }
}

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "bitwiseAnd", lower: Lowering::Map(|b, x, _| b.binary(Op::And, x[0], x[1])),
        doc: doc("Bits that are set in both integers; of bool, logical and.", "x1 & x2", "ft.tensor([6, 5], { dtype: 'int32' }).bitwiseAnd(3n) // [2, 1]", "bitwise_and", "bitwise_and"), ..LOGIC },
    OpDef { name: "bitwiseOr", lower: Lowering::Map(|b, x, _| b.binary(Op::Or, x[0], x[1])),
        doc: doc("Bits that are set in either integer; of bool, logical or.", "x1 | x2", "ft.tensor([6, 5], { dtype: 'int32' }).bitwiseOr(3n) // [7, 7]", "bitwise_or", "bitwise_or"), ..LOGIC },
    OpDef { name: "bitwiseXor", lower: Lowering::Map(|b, x, _| b.binary(Op::Xor, x[0], x[1])),
        doc: doc("Bits that are set in one of both integers; of bool, whether they differ.", "x1 ^ x2", "ft.tensor([6, 5], { dtype: 'int32' }).bitwiseXor(3n) // [5, 6]", "bitwise_xor", "bitwise_xor"), ..LOGIC },
    OpDef { name: "bitwiseInvert", lower: Lowering::Map(|b, x, _| b.unary(Op::Not, x[0])),
        doc: doc("Each bit of each integer inverted; of bool, logical not.", "~x", "ft.tensor([0, 5], { dtype: 'int32' }).bitwiseInvert() // [-1, -6]", "bitwise_invert", "bitwise_not"),
        errors: &[ErrorCase { call: "ft.tensor([1.5]).bitwiseInvert()", code: Code::DType }],
        ..unary(Class::IntegerOrBool, Compute::Own, Out::Compute) },
    OpDef { name: "bitwiseLeftShift", lower: Lowering::Map(|b, x, _| b.binary(Op::Shl, x[0], x[1])),
        doc: doc("Bits moved up by x2 places; 0 where that is the width or more, or negative.", "x1 * 2^x2", "ft.tensor([1, 5], { dtype: 'int32' }).bitwiseLeftShift(2n) // [4, 20]", "bitwise_left_shift", "bitwise_left_shift"), ..SHIFT },
    OpDef { name: "bitwiseRightShift", lower: Lowering::Map(|b, x, _| b.binary(Op::Shr, x[0], x[1])),
        doc: doc("Bits moved down by x2 places, copies of the sign moving in; where that is the width or more, or negative, only they are left.", "floor(x1 / 2^x2)", "ft.tensor([20, -5], { dtype: 'int32' }).bitwiseRightShift(2n) // [5, -2]", "bitwise_right_shift", "bitwise_right_shift"), ..SHIFT },
    OpDef { name: "populationCount", lower: Lowering::Map(POPULATION_COUNT),
        doc: doc("How many bits of each integer are set, in its dtype; negative ones in two's complement.", "sum_i bit_i(x)", "ft.tensor([7, -1], { dtype: 'int32' }).populationCount() // [3, 32]", "", ""), ..COUNT },
    OpDef { name: "bitwiseCount", lower: Lowering::Map(BITWISE_COUNT), dtype: DTypeRule::new(Class::Integer, Compute::Own, Out::Fixed(DType::U8)),
        doc: doc("How many bits of the absolute value of each integer are set, as uint8.", "sum_i bit_i(|x|)", "ft.tensor([7, -1], { dtype: 'int32' }).bitwiseCount() // [3, 1]", "bitwise_count", ""), ..COUNT },
    OpDef { name: "countLeadingZeros", lower: Lowering::Map(COUNT_LEADING_ZEROS),
        doc: doc("How many bits of each integer stand above the highest that is set, in its dtype; the width for 0.", "width - 1 - floor(log2(x))", "ft.tensor([1, 0], { dtype: 'int32' }).countLeadingZeros() // [31, 32]", "", ""), ..COUNT },
    OpDef { name: "bitcast", attrs: &[arg("dtype", AttrKind::OptDType)], lower: Lowering::Map(|b, x, d| b.bitcast(x[0], d)), shape: bitcast_shape,
        dtype: DTypeRule::new(Class::Any, Compute::Own, Out::AttrOrCompute),
        errors: &[ErrorCase { call: "ft.tensor([1]).bitcast('int8')", code: Code::DType }, ErrorCase { call: "ft.tensor([1], { dtype: 'int8' }).bitcast('bool')", code: Code::DType }],
        doc: doc("The bits of each element, read as another dtype of the same size.", "bits(out) = bits(x)", "ft.tensor([1, -2]).bitcast('int32') // [1065353216, -1073741824]", "ndarray.view", "Tensor.view"), ..BASE },
];

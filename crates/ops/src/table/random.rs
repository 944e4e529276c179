//! Random numbers: element i depends on (key, i) only, so results are the same on every device and thread count.
//!
//! Word `w` of block `j` is word `w` of Philox with counter `(j low, j high, 0, purpose)`. 32-bit draws take word `i % 4` of
//! block `i / 4`; 64-bit draws take words `2 (i % 2)` and the next of block `i / 2`; integers of a range take all of block `i`. Normal numbers come in pairs from two
//! uniforms of one block (Box and Muller, 1958): even elements the cosine, odd ones the sine.

use super::philox;
use super::rows::{BASE, arg, attr, doc, tensor};
use super::unary::is_finite;
use crate::def::{AttrDef, AttrKind, Domain, Form, Lowering, Namespace, OpDef, ParamDef, ParamKind};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::gradient::Gradient;
use crate::graph::{IndexItem, Number};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::kernel::SortOutputs;
use ferrotensor_core::planted;
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};
use ferrotensor_core::{DType, Dims, Error, Result, layout};
use smallvec::{SmallVec, smallvec};

/// Counter word 3: what a block is drawn for, so that draws, splits and folds of one key never meet.
#[derive(Clone, Copy)]
enum Purpose {
    Draw = 0,
    Split = 1,
    Fold = 2,
}

fn check_key(ctx: &ShapeCtx) -> Result<()> {
    if ctx.shape(0) != [2] || ctx.dtype(0) != Some(DType::U32) {
        return Err(Error::argument("key must come from ft.random.key(), split() or fold()"));
    }
    Ok(())
}

fn draw_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    check_key(ctx)?;
    Ok(vec![SmallVec::from_slice(ctx.attrs.shape("shape"))])
}

/// The two words of the key, as rank-0 values.
fn key_words(l: &mut Lower) -> Result<[Val; 2]> {
    let key = l.operand(0)?;
    Ok([0, 1].map(|i| l.index(key, &[IndexItem::Pick(Number::Const(i))])))
}

/// Low and high word of an int64.
fn split_words(b: &mut Builder, v: Value) -> [Value; 2] {
    let shift = b.lit(DType::I64, 32.0);
    let high = b.binary(Op::Shr, v, shift);
    [b.cast(v, DType::U32), b.cast(high, DType::U32)]
}

fn block(b: &mut Builder, index: Value, key: &[Value], purpose: Purpose) -> [Value; 4] {
    let [low, high] = split_words(b, index);
    let (zero, purpose) = (b.lit(DType::U32, 0.0), b.bits(DType::U32, purpose as u64));
    philox::block(b, [low, high, zero, purpose], [key[0], key[1]])
}

fn shifted(b: &mut Builder, op: Op, x: Value, by: f64) -> Value {
    let by = b.lit(b.dtype(x), by);
    b.binary(op, x, by)
}

/// `i & 1 == at`, of the low 32 bits alone: half as wide.
fn is(b: &mut Builder, i: Value, at: f64) -> Value {
    let low = b.cast(i, DType::U32);
    let low = shifted(b, Op::And, low, 1.0);
    let at = b.lit(DType::U32, at);
    b.compare(Op::Eq, low, at)
}

/// The 32-bit word of element `i`.
fn word32(b: &mut Builder, i: Value, key: &[Value]) -> Value {
    let j = shifted(b, Op::Shr, i, 2.0);
    let w = block(b, j, key, Purpose::Draw);
    // In two steps: what the first chooses between, neighbours share.
    let half = shifted(b, Op::Shr, i, 1.0);
    let (second, odd) = (is(b, half, 1.0), is(b, i, 1.0));
    let last = if planted::is("random-words-are-drawn-twice") { w[2] } else { w[3] };
    let (low, high) = (b.select(second, w[2], w[0]), b.select(second, last, w[1]));
    b.select(odd, high, low)
}

fn join(b: &mut Builder, low: Value, high: Value) -> Value {
    let (low, high) = (b.cast(low, DType::U64), b.cast(high, DType::U64));
    let high = shifted(b, Op::Shl, high, 32.0);
    b.binary(Op::Or, low, high)
}

/// The 64-bit word of element `i`.
fn word64(b: &mut Builder, i: Value, key: &[Value]) -> Value {
    let j = shifted(b, Op::Shr, i, 1.0);
    let w = block(b, j, key, Purpose::Draw);
    let (even, low, high) = (is(b, i, 0.0), join(b, w[0], w[1]), join(b, w[2], w[3]));
    b.select(even, low, high)
}

/// A multiple of 2^-p in [0, 1), p being the significand bits of `dtype`; in the dtype it computes in.
fn unit(b: &mut Builder, word: Value, dtype: DType) -> Value {
    let precision = match dtype {
        DType::F64 => 53,
        DType::F16 => 11,
        DType::BF16 => 8,
        _ => 24,
    };
    let drop = 8 * b.dtype(word).bytes() as i32 - precision;
    let top = shifted(b, Op::Shr, word, f64::from(drop));
    let value = b.cast(top, dtype.compute());
    let scale = b.lit(dtype.compute(), 2f64.powi(-precision));
    b.binary(Op::Mul, value, scale)
}

/// Draws over a flat index, then the shape asked for: the flat index is what makes a draw independent of the shape.
/// The row's first `params` numbers are given in `dtype`.
fn draw(
    l: &mut Lower,
    params: usize,
    dtype: DType,
    f: impl FnOnce(&mut Builder, Value, &[Value], &[Value]) -> Value,
) -> Result<Vec<Val>> {
    let dims = l.out_dims(0);
    let n = layout::count(&dims)?;
    let key = key_words(l)?;
    let params: Vec<_> = (0..params).map(|p| l.param(p, dtype)).collect();
    let flat = l.map_with(&[n], &key, &params, |b, v| {
        let i = b.index(0, DType::I64);
        f(b, i, &v[..2], &v[2..])
    })?;
    let flat = l.cast(flat, l.out_dtype(0))?;
    Ok(vec![l.reshape(flat, &dims)])
}

fn bits(l: &mut Lower) -> Result<Vec<Val>> {
    let dtype = l.out_dtype(0);
    let wide = dtype == DType::U64;
    draw(l, 0, dtype, |b, i, key, _| if wide { word64(b, i, key) } else { word32(b, i, key) })
}

fn bits_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    match ctx.attrs.dtype("dtype") {
        None | Some(DType::U32 | DType::U64) => draw_shape(ctx),
        Some(d) => Err(Error::dtype(format!("bits are uint32 or uint64, not {d}"))),
    }
}

fn float_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    match ctx.attrs.dtype("dtype") {
        Some(d) if !d.is_float() => Err(Error::dtype(format!("takes a floating dtype, got {d}"))),
        _ => draw_shape(ctx),
    }
}

/// `start + share (stop - start)`, by halves where the difference overflows. What depends on the ends alone,
/// two numbers, is the same for all elements.
fn point(b: &mut Builder, start: Value, stop: Value, share: Value) -> Value {
    let d = b.dtype(start);
    let (width, one, half, two) = (b.binary(Op::Sub, stop, start), b.lit(d, 1.0), b.lit(d, 0.5), b.lit(d, 2.0));
    let fits = is_finite(b, width);
    let (down, up) = (b.select(fits, one, half), b.select(fits, one, two));
    let (start, stop) = (b.binary(Op::Mul, start, down), b.binary(Op::Mul, stop, down));
    let width = b.binary(Op::Sub, stop, start);
    let far = b.binary(Op::Mul, share, width);
    let value = b.binary(Op::Add, start, far);
    b.binary(Op::Mul, value, up)
}

fn uniform(l: &mut Lower) -> Result<Vec<Val>> {
    let dtype = l.out_dtype(0);
    draw(l, 2, dtype.compute(), |b, i, key, p| {
        let word = if dtype == DType::F64 { word64(b, i, key) } else { word32(b, i, key) };
        let u = unit(b, word, dtype);
        let value = point(b, p[0], p[1], u);
        // Scaling may round up to `high`, which the interval leaves out.
        let (value, low, high) = (b.cast(value, dtype), b.cast(p[0], dtype), b.cast(p[1], dtype));
        let inside = b.compare(Op::Lt, value, high);
        b.select(inside, value, low)
    })
}

fn normal(l: &mut Lower) -> Result<Vec<Val>> {
    let dtype = l.out_dtype(0).compute();
    draw(l, 2, dtype, |b, i, key, p| {
        let (u1, u2) = if dtype == DType::F64 {
            let j = shifted(b, Op::Shr, i, 1.0);
            let w = block(b, j, key, Purpose::Draw);
            (join(b, w[0], w[1]), join(b, w[2], w[3]))
        } else {
            let j = shifted(b, Op::Shr, i, 2.0);
            let w = block(b, j, key, Purpose::Draw);
            let second = {
                let half = shifted(b, Op::Shr, i, 1.0);
                is(b, half, 1.0)
            };
            (b.select(second, w[2], w[0]), b.select(second, w[3], w[1]))
        };
        // 1 - u lies in (0, 1], where the logarithm is finite.
        let (one, minus2) = (b.lit(dtype, 1.0), b.lit(dtype, -2.0));
        let (u1, u2) = (unit(b, u1, dtype), unit(b, u2, dtype));
        let positive = b.binary(Op::Sub, one, u1);
        let log = b.call(MathFn::Log, &[positive]);
        let square = b.binary(Op::Mul, minus2, log);
        let radius = b.unary(Op::Sqrt, square);
        let turn = b.lit(dtype, std::f64::consts::TAU);
        let angle = b.binary(Op::Mul, turn, u2);
        let (cos, sin) = (b.call(MathFn::Cos, &[angle]), b.call(MathFn::Sin, &[angle]));
        let even = is(b, i, 0.0);
        let direction = b.select(even, cos, sin);
        let z = b.binary(Op::Mul, radius, direction);
        let scaled = b.binary(Op::Mul, z, p[1]);
        b.binary(Op::Add, p[0], scaled)
    })
}

/// `low + floor(U span / 2^128)`, U being the 128 bits of block `i`: the probabilities of two values differ by less
/// than 2^-128 (Lemire, 2019, without rejection, which would need a number of draws that depends on the values). Parameters are float64:
/// `low` and `span` come in two words of 32 bits, the lower ones first, the upper one of a span of 2^64 being 2^32.
fn randint(l: &mut Lower) -> Result<Vec<Val>> {
    let dtype = l.out_dtype(0);
    // An upper word of `low` has a sign where the dtype has one.
    let wide = if dtype == DType::U64 { DType::U64 } else { DType::I64 };
    draw(l, 4, wide, |b, i, key, p| {
        let words = block(b, i, key, Purpose::Draw);
        let [least, above] = [2, 3].map(|at| b.cast(p[at], DType::U64));
        let above = shifted(b, Op::Shl, above, 32.0);
        let span = b.binary(Op::Add, above, least);
        let (low, high) = (low_word(b, span), shifted(b, Op::Shr, span, 32.0));
        // A span of 2^64 is the only one that leaves nothing in 64 bits.
        let (nothing, whole) = (b.lit(DType::U64, 0.0), b.bits(DType::U64, 1 << 32));
        let is_whole = b.compare(Op::Eq, span, nothing);
        let high = b.select(is_whole, whole, high);
        // Long multiplication from the lowest word on: floor((w span + carry) / 2^32), in two halves of the span, fits 64 bits.
        let mut carry = b.lit(DType::U64, 0.0);
        for word in words {
            let word = b.cast(word, DType::U64);
            let (below, above) = (b.binary(Op::Mul, word, low), b.binary(Op::Mul, word, high));
            let [carry_low, carry_high] = [low_word(b, carry), shifted(b, Op::Shr, carry, 32.0)];
            let below = b.binary(Op::Add, below, carry_low);
            let below = shifted(b, Op::Shr, below, 32.0);
            let upper = b.binary(Op::Add, above, carry_high);
            carry = b.binary(Op::Add, upper, below);
        }
        let step = b.cast(carry, wide);
        let above = shifted(b, Op::Shl, p[1], 32.0);
        let first = b.binary(Op::Add, above, p[0]);
        let value = b.binary(Op::Add, first, step);
        b.cast(value, dtype)
    })
}

/// The low 32 bits of a uint64.
fn low_word(b: &mut Builder, v: Value) -> Value {
    let mask = b.bits(DType::U64, 0xffff_ffff);
    b.binary(Op::And, v, mask)
}

fn integer_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    match ctx.attrs.dtype("dtype") {
        Some(d) if !d.is_integer() => Err(Error::dtype(format!("takes an integer dtype, got {d}"))),
        _ => draw_shape(ctx),
    }
}

fn split_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    check_key(ctx)?;
    let n = ctx.attrs.int("count");
    let n = usize::try_from(n).map_err(|_| Error::shape(format!("count {n} is negative")))?;
    Ok(vec![smallvec![n, 2]])
}

/// Words 0 and 1 of one block for each row of the output.
fn derive(l: &mut Lower, dims: &[usize], purpose: Purpose) -> Result<Val> {
    let key = key_words(l)?;
    let folds = matches!(purpose, Purpose::Fold);
    let params = if folds { vec![l.param(0, DType::I64)] } else { Vec::new() };
    let column = dims.len() as u8 - 1;
    l.map_with(dims, &key, &params, |b, v| {
        let number = if folds { v[2] } else { b.index(0, DType::I64) };
        let w = block(b, number, &v[..2], purpose);
        let column = b.index(column, DType::I64);
        let zero = b.lit(DType::I64, 0.0);
        let first = b.compare(Op::Eq, column, zero);
        b.select(first, w[0], w[1])
    })
}

fn permutation(l: &mut Lower) -> Result<Vec<Val>> {
    let dims = l.out_dims(0);
    let key = key_words(l)?;
    // 64-bit keys: two of 10^6 are equal with probability 3e-8.
    let words = l.map(&dims, &key, |b, v| {
        let i = b.index(0, DType::I64);
        word64(b, i, v)
    })?;
    Ok(l.sort(words, 0, false, dims[0], SortOutputs::Indices))
}

fn permutation_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    Ok(vec![smallvec![split_shape(ctx)?[0][0]]])
}

const SHAPE: AttrDef = arg("shape", AttrKind::Shape);
const COUNT: AttrDef = arg("count", AttrKind::Int(Some(2)));
const LENGTH: AttrDef = arg("count", AttrKind::Int(None));
const DTYPE: AttrDef = attr("dtype", AttrKind::OptDType);
const KEYED: OpDef = OpDef {
    gradient: Gradient::None("what is drawn depends on a key, which is no number"),
    namespace: Namespace::Random,
    form: Form::Internal,
    operands: &[tensor("key")],
    domain: Domain::Special,
    dtype: DTypeRule::new(Class::Integer, Compute::Own, Out::Fixed(DType::U32)),
    ..BASE
};
const FLOATS: OpDef = OpDef {
    attrs: &[SHAPE, DTYPE],
    shape: float_shape,
    dtype: DTypeRule::new(Class::Integer, Compute::Own, Out::AttrOr(DType::F32)),
    ..KEYED
};
const fn number(name: &'static str, default: f64) -> ParamDef {
    ParamDef { name, default: Some(default), kind: ParamKind::Number }
}

const fn word(name: &'static str) -> ParamDef {
    ParamDef { name, default: None, kind: ParamKind::Integer }
}

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "split", attrs: &[COUNT], shape: split_shape, lower: Lowering::Graph(|l| { let dims = l.out_dims(0); Ok(vec![derive(l, &dims, Purpose::Split)?]) }),
        doc: doc("Independent keys from one.", "philox(key, i, split)", "", "", ""), ..KEYED },
    OpDef { name: "fold", params: &[ParamDef { name: "data", default: None, kind: ParamKind::Integer }], shape: |ctx| { check_key(ctx)?; Ok(vec![smallvec![2]]) }, lower: Lowering::Graph(|l| Ok(vec![derive(l, &[2], Purpose::Fold)?])),
        doc: doc("The key of a number, from a key.", "philox(key, data, fold)", "", "", ""), ..KEYED },
    OpDef { name: "bits", attrs: &[SHAPE, DTYPE], shape: bits_shape, lower: Lowering::Graph(bits), dtype: DTypeRule::new(Class::Integer, Compute::Own, Out::AttrOr(DType::U32)),
        doc: doc("Random bits: uint32 or uint64.", "philox(key, i)", "", "", ""), ..KEYED },
    OpDef { name: "uniform", params: &[number("low", 0.0), number("high", 1.0)], lower: Lowering::Graph(uniform),
        doc: doc("Uniform numbers in [low, high).", "low + u (high - low)", "", "random.uniform", "rand"), ..FLOATS },
    OpDef { name: "normal", params: &[number("mean", 0.0), number("std", 1.0)], lower: Lowering::Graph(normal),
        doc: doc("Normal numbers.", "mean + std sqrt(-2 ln(1 - u1)) cos(2 pi u2)", "", "random.normal", "randn"), ..FLOATS },
    OpDef { name: "randint", attrs: &[SHAPE, DTYPE], shape: integer_shape, lower: Lowering::Graph(randint), dtype: DTypeRule::new(Class::Integer, Compute::Own, Out::AttrOr(DType::I32)),
        params: &[word("low"), word("lowAbove"), word("span"), word("spanAbove")],
        doc: doc("Integers in [low, low + span), all of the same probability; bounds in words of 32 bits, the lower ones first.", "low + floor(u span)", "", "random.randint", "randint"), ..KEYED },
    OpDef { name: "permutation", attrs: &[LENGTH], shape: permutation_shape, lower: Lowering::Graph(permutation), dtype: DTypeRule::new(Class::Integer, Compute::Own, Out::Int32),
        doc: doc("The numbers 0..count in random order, int32.", "argsort(philox(key, i))", "", "random.permutation", "randperm"), ..KEYED },
];

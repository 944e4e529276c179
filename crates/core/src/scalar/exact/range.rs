//! Which `fma` of float32 meets no subnormal number, so that the device's own will do where it takes them for zeros. Most steps of a
//! polynomial are such: their constant is far above what a subnormal number adds to it.

use crate::dtype::{DType, Kind};
use crate::scalar::{Builder, Op, Value};
use std::collections::HashMap;

/// Every float32 is a multiple of two to this power.
const LAST: i32 = -149;
/// A multiple of two to this one is not subnormal.
const NORMAL: i32 = -126;
/// More than any power of two that counts.
const NONE: i32 = 300;
/// A sum with a constant of at least this size is zero or no less than 2^-119: where nearly all of it cancels, the product is as large, and
/// its last place 48 below.
const LARGE: f32 = 8.5e-22;

/// Whether `x * y + z` of the values of a program is the same where each subnormal number in it is zero.
pub(in crate::scalar) fn is_far_from_subnormal(b: &Builder, [x, y, z]: [Value; 3]) -> bool {
    let mut units = HashMap::new();
    let [ux, uy, uz] = [x, y, z].map(|v| unit(b, v, &mut units));
    if [ux, uy, uz, ux + uy].iter().all(|&unit| NORMAL <= unit) {
        return true;
    }
    let Some(term) = constant(b, z).map(f32::abs).filter(|z| (LARGE..f32::INFINITY).contains(z)) else { return false };
    // Where a factor is subnormal, the product is below a quarter of the last place of the sum.
    let most = f64::from(term) * 2f64.powi(100);
    let is_harmless = |factor, other| {
        is_never_subnormal(b, factor, &mut HashMap::new()) || bound(b, other, factor, &mut HashMap::new()) < most
    };
    is_harmless(x, y) && is_harmless(y, x)
}

fn constant(b: &Builder, v: Value) -> Option<f32> {
    let instr = b.instr(v);
    match instr.op {
        Op::Const(bits) if instr.dtype == DType::F32 => Some(f32::from_bits(bits as u32)),
        _ => None,
    }
}

/// Whether a value is converted from an integer.
fn is_whole(b: &Builder, op: Op, args: &[Value]) -> bool {
    op == Op::Cast && matches!(b.dtype(args[0]).kind(), Kind::Signed | Kind::Unsigned)
}

/// A power of two, as its exponent, of which a float32 is a multiple unless it is infinite or NaN. Rounding to 24 bits leaves a multiple one.
fn unit(b: &Builder, v: Value, known: &mut HashMap<Value, i32>) -> i32 {
    if let Some(&unit) = known.get(&v) {
        return unit;
    }
    let instr = b.instr(v).clone();
    let mut of = |n: usize| unit(b, instr.args[n], known);
    let found = match instr.op {
        Op::Const(_) => match constant(b, v) {
            Some(c) if c.is_finite() && c != 0.0 => {
                let (field, fraction) = (c.to_bits() >> 23 & 0xff, c.to_bits() & 0x7f_ffff);
                let significand = fraction | u32::from(field != 0) << 23;
                field.max(1) as i32 - 150 + significand.trailing_zeros() as i32
            }
            _ => NONE,
        },
        Op::Floor | Op::Ceil | Op::Round | Op::Trunc => 0,
        op if is_whole(b, op, &instr.args) => 0,
        Op::Neg | Op::Abs => of(0),
        Op::Add | Op::Sub => of(0).min(of(1)),
        Op::Select => of(1).min(of(2)),
        Op::Mul => of(0) + of(1),
        Op::Fma => (of(0) + of(1)).min(of(2)),
        _ => LAST,
    };
    let found = found.clamp(LAST, NONE);
    known.insert(v, found);
    found
}

/// Whether a value is zero or normal, or no number.
fn is_never_subnormal(b: &Builder, v: Value, units: &mut HashMap<Value, i32>) -> bool {
    if NORMAL <= unit(b, v, units) {
        return true;
    }
    let instr = b.instr(v).clone();
    let is_large = |v: Value| constant(b, v).is_some_and(|c| LARGE <= c.abs());
    let mut is_never = |n: usize| is_never_subnormal(b, instr.args[n], units);
    match instr.op {
        Op::Neg | Op::Abs => is_never(0),
        Op::Select => is_never(1) && is_never(2),
        Op::Fma => is_large(instr.args[2]),
        Op::Add | Op::Sub => instr.args.iter().any(|&v| is_large(v)),
        _ => false,
    }
}

/// The most that a value may be where `tiny` is subnormal.
fn bound(b: &Builder, v: Value, tiny: Value, known: &mut HashMap<Value, f64>) -> f64 {
    if v == tiny {
        return 2f64.powi(NORMAL);
    }
    if let Some(&bound) = known.get(&v) {
        return bound;
    }
    let instr = b.instr(v).clone();
    let mut of = |n: usize| bound(b, instr.args[n], tiny, known);
    let found = match instr.op {
        Op::Const(_) => constant(b, v).map_or(f64::INFINITY, |c| f64::from(c.abs())),
        op if is_whole(b, op, &instr.args) => 2f64.powi(64),
        Op::Neg | Op::Abs => of(0),
        Op::Floor | Op::Ceil | Op::Round | Op::Trunc => of(0) + 1.0,
        Op::Add | Op::Sub => of(0) + of(1),
        Op::Select => of(1).max(of(2)),
        Op::Mul => of(0) * of(1),
        Op::Fma => of(0) * of(1) + of(2),
        _ => f64::INFINITY,
    };
    // A little more for its own rounding. Of NaN nothing is known.
    let found = if found.is_nan() { f64::INFINITY } else { found * (1.0 + 2f64.powi(-20)) };
    known.insert(v, found);
    found
}

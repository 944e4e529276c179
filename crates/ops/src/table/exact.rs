//! Sums and products of integers are right or refused: a result that its dtype does not hold is an error of the read.
//!
//! Two ways. Sums of what has 32 bits or fewer are made in int64, which holds any that memory has elements for. All else is made twice: in
//! its dtype, where it is right but for a multiple of 2^bits, and in float64, whose error is far below half of that. Where the two are
//! farther apart the multiple is not 0. (Of 64 bits, products may be so large that float64 loses more: then they are refused, whatever is left
//! of their sum.) Sums and products whose operands are too few or too small to leave the dtype are made once.

use crate::graph::Def;
use crate::lower::{Lower, Val};
use ferrotensor_core::kernel::{Combine, Kernel, Monoid};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Kind, Result};

/// The least and the greatest integer of a dtype.
fn range(dtype: DType) -> Option<(i128, i128)> {
    let bits = 8 * dtype.bytes();
    match dtype.kind() {
        Kind::Bool => Some((0, 1)),
        Kind::Unsigned => Some((0, (1 << bits) - 1)),
        Kind::Signed => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        Kind::Float | Kind::Complex => None,
    }
}

/// What elements of a value can be: the integers of its dtype, or of the narrower one that they were converted from.
fn range_of(l: &Lower, v: Val) -> Option<(i128, i128)> {
    let (own, mut v) = (range(l.dtype(v))?, v);
    loop {
        match &l.graph.nodes[l.graph.values[v.0 as usize].node as usize].def {
            Def::View { of, .. } => v = *of,
            Def::Kernel { kernel: Kernel::Map(map), inputs, .. } => {
                let converts = matches!(&map.program.instrs[..], [x, y] if (x.op, y.op) == (Op::Input(0), Op::Cast));
                let from =
                    inputs.first().filter(|_| converts && map.program.outputs[..] == [1]).and_then(|&x| range(l.dtype(x)));
                return Some(from.filter(|&from| within(from, own)).unwrap_or(own));
            }
            _ => return Some(own),
        }
    }
}

/// Whether all integers of the first range are in the second.
fn within((low, high): (i128, i128), (least, greatest): (i128, i128)) -> bool {
    low >= least && high <= greatest
}

/// What `f` makes of integer operands in `dtype`, sums and products of them, or an error of the read where they leave it.
///
/// `places` products are added at most.
fn compared(
    l: &mut Lower,
    operands: &[Val],
    dtype: DType,
    places: usize,
    f: impl Fn(&mut Lower, &[Val]) -> Result<Val>,
) -> Result<Val> {
    let own = operands.iter().map(|&v| l.cast(v, dtype)).collect::<Result<Vec<_>>>()?;
    let value = f(l, &own)?;
    let wide = operands.iter().map(|&v| l.cast(v, DType::F64)).collect::<Result<Vec<_>>>()?;
    let (near, dims, bits) = (f(l, &wide)?, l.dims(value), 8 * dtype.bytes());
    let mut inputs = vec![value, near];
    if bits == 64 && operands.len() > 1 && wide.iter().all(|&v| !l.dims(v).contains(&0)) {
        for &v in &wide {
            inputs.push(largest(l, v)?);
        }
    }
    let beyond = l.map(&dims, &inputs, |b, v| {
        let value = b.cast(v[0], DType::F64);
        let gap = b.binary(Op::Sub, v[1], value);
        let (gap, half) = (b.unary(Op::Abs, gap), b.lit(DType::F64, (1u128 << (bits - 1)) as f64));
        // Not where float64 has NaN, infinity times zero: the product of what has a zero is zero.
        let far = b.compare(Op::Lt, half, gap);
        let Some(most) = v[2..].iter().copied().reduce(|x, y| b.binary(Op::Mul, x, y)) else { return far };
        // Each of the sum's places rounds by 2^-53 of it: 2^62 in all at most.
        let known = b.lit(DType::F64, 2f64.powi(62 + 53) / (places as f64).powi(2));
        let lost = b.compare(Op::Lt, known, most);
        b.binary(Op::Or, far, lost)
    })?;
    l.unless(value, beyond)
}

/// The largest size of elements.
fn largest(l: &mut Lower, v: Val) -> Result<Val> {
    let (dims, axes) = (l.dims(v), (0..l.dims(v).len()).collect::<Vec<_>>());
    let sizes = l.map(&dims, &[v], |b, x| b.unary(Op::Abs, x[0]))?;
    Ok(l.reduce(sizes, &axes, Combine::Value(Monoid::Max), false))
}

/// A value in another integer dtype, or an error of the read where that does not hold it.
fn narrowed(l: &mut Lower, value: Val, to: DType) -> Result<Val> {
    let (dims, from) = (l.dims(value), l.dtype(value));
    if from == to {
        return Ok(value);
    }
    let narrow = l.cast(value, to)?;
    let beyond = l.map(&dims, &[value, narrow], |b, v| {
        let back = b.cast(v[1], from);
        let changed = b.compare(Op::Ne, back, v[0]);
        // Negative numbers come back from the unsigned ones they become, where those are as wide.
        let sign = match (from.kind(), to.kind()) {
            (Kind::Signed, Kind::Unsigned) if to.bytes() == from.bytes() => b.lit(from, 0.0),
            (Kind::Unsigned, Kind::Signed) => b.lit(to, 0.0),
            _ => return changed,
        };
        let negative = b.compare(Op::Lt, if from.kind() == Kind::Signed { v[0] } else { v[1] }, sign);
        b.binary(Op::Or, changed, negative)
    })?;
    l.unless(narrow, beyond)
}

/// What `f` makes of `x` in `dtype`: sums of at most `places` of its elements.
pub fn summed(
    l: &mut Lower,
    x: Val,
    dtype: DType,
    places: usize,
    f: impl Fn(&mut Lower, Val) -> Result<Val>,
) -> Result<Val> {
    let x = integers(l, x, dtype)?;
    let (from, n) = (l.dtype(x), places as i128);
    let fits = match (range_of(l, x), range(dtype)) {
        (Some((low, high)), Some(limits)) => within((low * n, high * n), limits) && within((low, high), limits),
        _ => true,
    };
    if fits || dtype == DType::Bool {
        let x = l.cast(x, dtype)?;
        return f(l, x);
    }
    let total = if from.bytes() == 8 {
        let wide = if dtype.bytes() == 8 { dtype } else { from };
        compared(l, &[x], wide, places, |l, v| f(l, v[0]))?
    } else {
        let x = l.cast(x, DType::I64)?;
        f(l, x)?
    };
    narrowed(l, total, dtype)
}

/// What `f` makes of operands in `dtype`: products of `factors` of them, of which at most `places` are added.
pub fn multiplied(
    l: &mut Lower,
    operands: &[Val],
    dtype: DType,
    (factors, places): (usize, usize),
    f: impl Fn(&mut Lower, &[Val]) -> Result<Val>,
) -> Result<Val> {
    let operands = operands.iter().map(|&v| integers(l, v, dtype)).collect::<Result<Vec<_>>>()?;
    let ranges: Option<Vec<_>> = operands.iter().map(|&v| range_of(l, v)).collect();
    let fits = match (ranges, range(dtype)) {
        (Some(ranges), Some(limits)) => {
            let largest = ranges.iter().map(|&(low, high)| high.max(-low) as f64).fold(1.0, f64::max);
            let most = largest.powf(factors as f64) * places as f64;
            most <= limits.1 as f64 && ranges.iter().all(|&own| within(own, limits))
        }
        _ => true,
    };
    if fits || dtype == DType::Bool {
        let operands = operands.iter().map(|&v| l.cast(v, dtype)).collect::<Result<Vec<_>>>()?;
        return f(l, &operands);
    }
    compared(l, &operands, dtype, places, f)
}

/// What `f` makes of `x` in `dtype`: combinations of at most `places` of its elements.
pub fn combined(
    l: &mut Lower,
    x: Val,
    dtype: DType,
    (monoid, places): (Monoid, usize),
    f: impl Fn(&mut Lower, Val) -> Result<Val>,
) -> Result<Val> {
    match monoid {
        Monoid::Sum => summed(l, x, dtype, places, f),
        Monoid::Prod => multiplied(l, &[x], dtype, (places, 1), |l, v| f(l, v[0])),
        _ => {
            let x = l.cast(x, dtype)?;
            f(l, x)
        }
    }
}

/// An operand as integers, where integers are asked for: other numbers become some first.
fn integers(l: &mut Lower, x: Val, dtype: DType) -> Result<Val> {
    if range(l.dtype(x)).is_none() && range(dtype).is_some() { l.cast(x, dtype) } else { Ok(x) }
}

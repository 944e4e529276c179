//! Convolution and correlation of vectors, as windows over the longer of what they reach.

use super::exact;
use super::rows::{BASE, attr, doc, tensor};
use crate::def::{AttrKind, Domain, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Window, WindowAxis, WindowCombine};
use ferrotensor_core::{Dims, Error, Result};

const FULL: &str = "full";
const SAME: &str = "same";
const VALID: &str = "valid";

/// Which of the overlaps of n elements with m, the shorter, are results: from where on, and how many.
fn overlaps(n: usize, m: usize, mode: &str) -> (usize, usize) {
    let (short, long) = (n.min(m), n.max(m));
    match mode {
        FULL => (0, n + m - 1),
        SAME => (short - 1 - short / 2, long),
        _ => (short - 1, long - short + 1),
    }
}

fn sliding_shape(ctx: &ShapeCtx, modes: [&str; 3]) -> Result<Vec<Dims>> {
    match (ctx.shape(0), ctx.shape(1)) {
        (&[n], &[m]) if n > 0 && m > 0 => {
            let mode = modes[ctx.attrs.int("mode") as usize];
            n.checked_add(m).ok_or_else(|| Error::shape("size overflows"))?;
            Ok(vec![[overlaps(n, m, mode).1].into_iter().collect()])
        }
        (x, y) => Err(Error::shape(format!("takes two vectors with elements, got shapes {x:?} and {y:?}"))),
    }
}

/// Sums of products of `x` with the shorter `weights` moved along it.
fn slid(l: &mut Lower, x: Val, weights: Val, mode: &str) -> Result<Val> {
    let (n, m) = (l.dims(x)[0], l.dims(weights)[0]);
    let (start, count) = overlaps(n, m, mode);
    let (x, weights) = (l.reshape(x, &[1, 1, 1, n]), l.reshape(weights, &[1, 1, 1, m]));
    let axis = WindowAxis { size: m, stride: 1, dilation: 1, low: m - 1 - start };
    let slid = exact::multiplied(l, &[x, weights], l.compute(), (2, m), |l, v| {
        let window = Window { combine: WindowCombine::Dot, dtype: l.dtype(v[0]), axes: vec![axis] };
        Ok(l.window(window, v, &[count]))
    })?;
    Ok(l.reshape(slid, &[count]))
}

fn convolve(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, y) = (l.operand(0)?, l.operand(1)?);
    let (long, short) = if l.dims(y)[0] > l.dims(x)[0] { (y, x) } else { (x, y) };
    let turned = l.flip(short, &[0]);
    let mode = CONVOLVE[l.attrs().int("mode") as usize];
    Ok(vec![slid(l, long, turned, mode)?])
}

fn correlate(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, y) = (l.operand(0)?, l.operand(1)?);
    let (conjugate, mode) = (l.op("conj", &[y], |a| a)?, CORRELATE[l.attrs().int("mode") as usize]);
    if l.dims(y)[0] <= l.dims(x)[0] {
        return Ok(vec![slid(l, x, conjugate, mode)?]);
    }
    // The shorter moves along the longer: 3 places for each of 3 * 10^6 results, not the other way round.
    let turned = slid(l, conjugate, x, mode)?;
    Ok(vec![l.flip(turned, &[0])])
}

/// Words of the modes, the default first.
const CONVOLVE: [&str; 3] = [FULL, SAME, VALID];
const CORRELATE: [&str; 3] = [VALID, SAME, FULL];
const PAIR: OpDef = OpDef {
    operands: &[tensor("x1"), tensor("x2")],
    dtype: DTypeRule::new(Class::Numeric, Compute::Sum, Out::Compute),
    domain: Domain::Special,
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "convolve", attrs: &[attr("mode", AttrKind::Choice(&CONVOLVE))], shape: |ctx| sliding_shape(ctx, CONVOLVE), lower: Lowering::Graph(convolve),
        errors: &[ErrorCase { call: "ft.zeros([0]).convolve(ft.zeros([1]))", code: Code::Shape }, ErrorCase { call: "ft.zeros([2, 2]).convolve(ft.zeros([1]))", code: Code::Shape }],
        doc: doc("Convolution of two vectors: of n and m elements all n + m - 1 overlaps, with mode 'same' the max(n, m) in the middle, with 'valid' those of which nothing lies outside. Small integers give 32 bits, as in sum; a result that its dtype does not hold is a DTypeError when it is read.", "out_k = sum_i x1_i x2_(k - i)", "ft.tensor([1, 2, 3]).convolve(ft.tensor([1, 10])) // [1, 12, 23, 30]", "convolve", ""), ..PAIR },
    OpDef { name: "correlate", attrs: &[attr("mode", AttrKind::Choice(&CORRELATE))], shape: |ctx| sliding_shape(ctx, CORRELATE), lower: Lowering::Graph(correlate),
        errors: &[ErrorCase { call: "ft.zeros([0]).correlate(ft.zeros([1]))", code: Code::Shape }],
        doc: doc("Correlation of two vectors: sums of products of the first with the conjugated second moved along it, where nothing lies outside, with mode 'same' the max(n, m) in the middle, with 'full' all n + m - 1. Small integers give 32 bits, as in sum; a result that its dtype does not hold is a DTypeError when it is read.", "out_k = sum_i x1_(i + k) conj(x2_i)", "ft.tensor([1, 2, 3]).correlate(ft.tensor([1, 10])) // [21, 32]", "correlate", ""), ..PAIR },
];

//! Elements put around a tensor: one number, or its own again.

use super::rows::{BASE, arg, attr, doc};
use crate::attrs::Attrs;
use crate::def::{AttrKind, Domain, ErrorCase, Lowering, OpDef, ParamDef, ParamKind};
use crate::graph::View;
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::selection::Selection;
use crate::write::band;
use ferrotensor_core::error::Code;
use ferrotensor_core::scalar::{Builder, Op, Value};
use ferrotensor_core::{DType, Dims, Error, Result};

/// What stands around the data, as the option names it.
const MODES: AttrKind = AttrKind::Choice(&["constant", "edge", "reflect", "symmetric", "wrap"]);
pub const CONSTANT: i64 = 0;
const EDGE: i64 = 1;
const REFLECT: i64 = 2;
const SYMMETRIC: i64 = 3;

/// Places before and after the data along each axis.
fn widths(attrs: &Attrs, rank: usize) -> Result<Vec<(usize, usize)>> {
    let (low, high) = attrs.pairs("padWidth");
    if low.len() != 1 && low.len() != rank {
        return Err(Error::shape(format!("padWidth has pairs for {} axes, the tensor has {rank}", low.len())));
    }
    let at = |list: &[i64], axis: usize| list[if list.len() == 1 { 0 } else { axis }] as usize;
    Ok((0..rank).map(|axis| (at(low, axis), at(high, axis))).collect())
}

fn pad_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let dims = ctx.shape(0);
    let widths = widths(ctx.attrs, dims.len())?;
    let grown = |(&d, &(low, high)): (&usize, &(usize, usize))| {
        if d == 0 && low + high > 0 && ctx.attrs.int("mode") != CONSTANT {
            return Err(Error::shape(format!("an axis of no elements cannot be continued, got shape {dims:?}")));
        }
        d.checked_add(low).and_then(|d| d.checked_add(high)).ok_or_else(|| Error::shape("size overflows"))
    };
    Ok(vec![dims.iter().zip(&widths).map(grown).collect::<Result<Dims>>()?])
}

/// The position in an axis of `n` elements that a place shows, `low` places from the start of the padded axis.
fn source(b: &mut Builder, place: Value, n: usize, low: usize, mode: i64) -> Value {
    if mode == EDGE {
        let (low, zero, last) = (b.size(low), b.size(0), b.size(n - 1));
        let moved = b.binary(Op::Sub, place, low);
        let least = b.binary(Op::Max, moved, zero);
        return b.binary(Op::Min, least, last);
    }
    // The data and, but for wrapping, its mirror image repeat.
    let period = match mode {
        REFLECT => (2 * (n - 1)).max(1),
        SYMMETRIC => 2 * n,
        _ => n,
    };
    let (offset, length) = (b.size((period - low % period) % period), b.size(period));
    let moved = b.binary(Op::Add, place, offset);
    let within = b.binary(Op::Rem, moved, length);
    if period == n {
        return within;
    }
    let end = b.size(if mode == SYMMETRIC { period - 1 } else { period });
    let mirrored = b.binary(Op::Sub, end, within);
    let extent = b.size(n);
    let there = b.compare(Op::Lt, within, extent);
    b.select(there, within, mirrored)
}

fn pad(l: &mut Lower) -> Result<Vec<Val>> {
    let (x, out, mode) = (l.operand(0)?, l.out_dims(0), l.attrs().int("mode"));
    let widths = widths(l.attrs(), out.len())?;
    if mode == CONSTANT {
        let value = l.param(0, l.dtype(x));
        let around = l.map_with(&out, &[], &[value], |_, v| v[0])?;
        let dims = l.dims(x);
        let region = (0..out.len()).map(|a| band(&out, a, widths[a].0, dims[a])[a]).collect();
        return Ok(vec![l.assemble(&out, Some(around), vec![(x, Some(View::Index(region)))])?]);
    }
    Ok(vec![continued(l, x, &widths, mode)?])
}

/// Data with as many places before and after it as said, which show it again: its edge, its mirror image, or its other end.
pub fn continued(l: &mut Lower, x: Val, widths: &[(usize, usize)], mode: i64) -> Result<Val> {
    let mut padded = x;
    for (axis, &(low, high)) in widths.iter().enumerate().filter(|(_, w)| **w != (0, 0)) {
        let dims = l.dims(padded);
        let places = [low + dims[axis] + high];
        let shown = l.map(&places, &[], |b, _| {
            let place = b.index(0, DType::I64);
            source(b, place, dims[axis], low, mode)
        })?;
        let selection = Selection::along(&dims, axis, &places)?;
        padded = l.gather_selection(padded, &selection, &[shown])?;
    }
    Ok(padded)
}

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "pad", attrs: &[arg("padWidth", AttrKind::Widths), attr("mode", MODES)], params: &[ParamDef { name: "value", default: Some(0.0), kind: ParamKind::Element }], shape: pad_shape, lower: Lowering::Graph(pad), domain: Domain::Special,
        errors: &[ErrorCase { call: "ft.zeros([2]).pad(-1)", code: Code::Argument }, ErrorCase { call: "ft.zeros([2, 2, 2]).pad([[1, 1], [0, 1]])", code: Code::Shape }, ErrorCase { call: "ft.zeros([0]).pad(1, { mode: 'edge' })", code: Code::Shape }],
        doc: doc("Elements around a tensor: a number of places on every side, or a pair [before, after] for all axes or for each. They hold the value, or with a mode the edge's element, the data mirrored about its edge without (reflect) or with it (symmetric), or the data from the other end (wrap), as often as needed.", "out_i = x_(i - before), value outside", "ft.tensor([1, 2, 3]).pad([[2, 1]], { mode: 'reflect' }) // [3, 2, 1, 2, 3, 2]", "pad", "nn.functional.pad"), ..BASE },
];

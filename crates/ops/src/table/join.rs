//! Joining a list of tensors.

use super::rows::{BASE, attr, doc, tensor};
use crate::def::{AttrKind, ErrorCase, Form, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::graph::View;
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use crate::write::band;
use ferrotensor_core::error::Code;
use ferrotensor_core::{Dims, Error, Result};
use smallvec::SmallVec;

fn concat_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let axis = shape::axis(ctx.attrs.int("axis"), ctx.shape(0).len())?;
    let parts: Vec<Dims> = (0..ctx.args.len()).map(|i| SmallVec::from_slice(ctx.shape(i))).collect();
    Ok(vec![joined_dims(&parts, axis, |i| format!("{:?}", parts[i]))?])
}

/// The shape of parts side by side along an axis of the first; an error shows them as `shown` does.
pub fn joined_dims(parts: &[Dims], axis: usize, shown: impl Fn(usize) -> String) -> Result<Dims> {
    let first = &parts[0];
    let mut out = first.clone();
    for (i, dims) in parts.iter().enumerate().skip(1) {
        let fits = dims.len() == first.len() && (0..dims.len()).all(|a| a == axis || dims[a] == first[a]);
        if !fits {
            return Err(Error::shape(format!(
                "tensor {i} has shape {}, which does not fit {} along axis {axis}",
                shown(i),
                shown(0)
            )));
        }
        out[axis] = out[axis].checked_add(dims[axis]).ok_or_else(|| Error::shape("size overflows"))?;
    }
    Ok(out)
}

/// Parts side by side along an axis they have.
pub fn join(l: &mut Lower, axis: usize, parts: &[Val]) -> Result<Val> {
    let mut dims = l.dims(parts[0]);
    dims[axis] = parts.iter().map(|&p| l.dims(p)[axis]).sum();
    let (mut start, mut regions) = (0, Vec::with_capacity(parts.len()));
    for &part in parts {
        let len = l.dims(part)[axis];
        regions.push((part, Some(View::Index(band(&dims, axis, start, len)))));
        start += len;
    }
    l.assemble(&dims, None, regions)
}

/// The operands in the dtype they have in common.
pub fn cast_operands(l: &mut Lower) -> Result<Vec<Val>> {
    let compute = l.compute();
    (0..l.len())
        .map(|i| {
            let x = l.operand(i)?;
            l.cast(x, compute)
        })
        .collect()
}

fn concat(l: &mut Lower) -> Result<Vec<Val>> {
    let parts = cast_operands(l)?;
    let axis = shape::axis(l.attrs().int("axis"), l.out_dims(0).len())?;
    Ok(vec![join(l, axis, &parts)?])
}

fn stack_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut out: Dims = SmallVec::from_slice(ctx.shape(0));
    let axis = shape::new_axis(ctx.attrs.int("axis"), out.len())?;
    if let Some(i) = (1..ctx.args.len()).find(|&i| ctx.shape(i) != ctx.shape(0)) {
        return Err(Error::shape(format!("tensor {i} has shape {:?}, tensor 0 {:?}", ctx.shape(i), ctx.shape(0))));
    }
    out.insert(axis, ctx.args.len());
    Ok(vec![out])
}

fn stack(l: &mut Lower) -> Result<Vec<Val>> {
    let mut parts = cast_operands(l)?;
    let axis = shape::axis(l.attrs().int("axis"), l.out_dims(0).len())?;
    for part in &mut parts {
        let mut dims = l.dims(*part);
        dims.insert(axis, 1);
        *part = l.reshape(*part, &dims);
    }
    Ok(vec![join(l, axis, &parts)?])
}

pub const JOIN: OpDef = OpDef {
    form: Form::Function,
    operands: &[tensor("arrays")],
    variadic: true,
    attrs: &[attr("axis", AttrKind::Int(Some(0)))],
    dtype: DTypeRule::new(Class::Any, Compute::Promote, Out::Compute),
    domain: crate::def::Domain::Special,
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "concat", shape: concat_shape, lower: Lowering::Graph(concat),
        errors: &[ErrorCase { call: "ft.concat([ft.zeros([2]), ft.zeros([2, 2])])", code: Code::Shape }, ErrorCase { call: "ft.concat([])", code: Code::Argument }],
        doc: doc("Tensors joined along an axis they have.", "[x_1, ..., x_n]", "ft.concat([ft.tensor([1, 2]), ft.tensor([3])]) // [1, 2, 3]", "concat", "cat"), ..JOIN },
    OpDef { name: "stack", shape: stack_shape, lower: Lowering::Graph(stack),
        errors: &[ErrorCase { call: "ft.stack([ft.zeros([2]), ft.zeros([3])])", code: Code::Shape }],
        doc: doc("Tensors of one shape joined along a new axis.", "out_i = x_i", "ft.stack([ft.tensor([1, 2]), ft.tensor([3, 4])]) // [[1, 2], [3, 4]]", "stack", "stack"), ..JOIN },
];

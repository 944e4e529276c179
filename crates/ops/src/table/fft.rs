//! Fourier transforms.

use super::join::band;
use super::rows::{BASE, attr, doc};
use crate::def::{AttrDef, AttrKind, ErrorCase, Form, Lowering, Namespace, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::graph::View;
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use crate::shape;
use crate::write::inverse;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::Routine;
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{Dims, Error, Result};
use smallvec::SmallVec;

const NORMS: &[&str] = &["backward", "ortho", "forward"];

fn transform_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let mut dims: Dims = SmallVec::from_slice(ctx.shape(0));
    let axis = shape::axis(ctx.attrs.int("axis"), dims.len())?;
    let n = ctx.attrs.opt_int("n").unwrap_or(dims[axis] as i64);
    if n < 1 {
        return Err(Error::shape(format!("a transform needs at least one point, got {n}")));
    }
    dims[axis] = n as usize;
    Ok(vec![dims])
}

/// `x` cut or padded with zeros to `n` points along `axis`.
fn resize(l: &mut Lower, x: Val, axis: usize, n: usize) -> Result<Val> {
    let dims = l.dims(x);
    if dims[axis] == n {
        return Ok(x);
    }
    if dims[axis] > n {
        let Some(View::Index(items)) = band(&dims, axis, 0, n) else { return Err(Error::internal("band is a view")) };
        return Ok(l.index(x, &items));
    }
    let (dtype, mut wide) = (l.dtype(x), dims.clone());
    wide[axis] = n;
    let zeros = l.map(&wide, &[], |b, _| b.lit(dtype, 0.0))?;
    l.assemble(&wide, Some(zeros), vec![(x, band(&wide, axis, 0, dims[axis]))])
}

fn transform(l: &mut Lower, inverse_sign: bool) -> Result<Vec<Val>> {
    let (x, compute, out) = (l.operand(0)?, l.compute(), l.out_dims(0));
    let axis = shape::axis(l.attrs().int("axis"), out.len())?;
    let n = out[axis];
    let x = l.cast(x, compute)?;
    let x = resize(l, x, axis, n)?;
    let order = l.axes_last(out.len(), &[axis]);
    let moved = l.permute(x, &order);
    let dims = l.dims(moved);
    let mut y = l.routine(Routine::Fft { dtype: compute, inverse: inverse_sign }, &[moved], std::slice::from_ref(&dims))[0];
    let scale = match (l.attrs().int("norm"), inverse_sign) {
        (1, _) => 1.0 / (n as f64).sqrt(),
        (0, true) | (2, false) => 1.0 / n as f64,
        _ => 1.0,
    };
    if scale != 1.0 {
        y = l.map(&dims, &[y], |b, v| {
            let real = b.lit(compute.info().real, scale);
            let factor = b.cast(real, compute);
            b.binary(Op::Mul, v[0], factor)
        })?;
    }
    Ok(vec![l.permute(y, &inverse(&order))])
}

const ATTRS: &[AttrDef] =
    &[attr("n", AttrKind::OptAxis), attr("axis", AttrKind::Int(Some(-1))), attr("norm", AttrKind::Choice(NORMS))];
const FFT: OpDef = OpDef {
    namespace: Namespace::Fft,
    form: Form::Function,
    attrs: ATTRS,
    dtype: DTypeRule::new(Class::Complex, Compute::ComplexFloat, Out::Compute),
    shape: transform_shape,
    errors: &[
        ErrorCase { call: "ft.fft.fft(ft.zeros([2]), { axis: 1 })", code: Code::Index },
        ErrorCase { call: "ft.fft.fft(ft.zeros([2]), { n: 0 })", code: Code::Shape },
    ],
    ..BASE
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "fft", lower: Lowering::Graph(|l| transform(l, false)),
        doc: doc("Discrete Fourier transform along an axis (the last by default), cut or padded with zeros to n points; complex64, complex128 for float64 and complex128.", "out_k = sum_j x_j e^(-2 pi i jk / n)", "ft.fft.fft(ft.tensor([1, 0])) // [{ re: 1, im: 0 }, { re: 1, im: 0 }]", "fft.fft", "fft.fft"), ..FFT },
    OpDef { name: "ifft", lower: Lowering::Graph(|l| transform(l, true)),
        doc: doc("Inverse discrete Fourier transform along an axis (the last by default).", "out_j = 1/n sum_k x_k e^(2 pi i jk / n)", "ft.fft.ifft(ft.tensor([2, 0])) // [{ re: 1, im: 0 }, { re: 1, im: 0 }]", "fft.ifft", "fft.ifft"), ..FFT },
];

//! Eigenvalues and eigenvectors of square matrices.

use super::linalg::{LINALG, adjoint, native, square, stacked};
use super::rows::{attr, doc};
use crate::def::{AttrDef, AttrKind, ErrorCase, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::Routine;
use ferrotensor_core::{Dims, Result};

fn values_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (batch, n) = square(ctx.shape(0))?;
    Ok(vec![stacked(batch, &[n])])
}

fn both_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let (batch, n) = square(ctx.shape(0))?;
    Ok(vec![stacked(batch, &[n]), stacked(batch, &[n, n])])
}

/// The routine's results in the row's dtypes.
fn results(l: &mut Lower, routine: Routine, x: Val, vectors: bool) -> Result<Vec<Val>> {
    let dims: Vec<Dims> = (0..1 + vectors as usize).map(|n| l.out_dims(n)).collect();
    let found = l.routine(routine, &[x], &dims);
    found.into_iter().enumerate().map(|(n, v)| l.cast(v, l.out_dtype(n))).collect()
}

fn symmetric(l: &mut Lower, vectors: bool) -> Result<Vec<Val>> {
    let mut x = native(l, 0)?;
    // The upper triangle is the lower one of the adjoint.
    if l.attrs().bool("upper") {
        x = adjoint(l, x)?;
    }
    results(l, Routine::Eigh { dtype: l.dtype(x), vectors }, x, vectors)
}

fn general(l: &mut Lower, vectors: bool) -> Result<Vec<Val>> {
    let x = native(l, 0)?;
    results(l, Routine::Eig { dtype: l.dtype(x), vectors }, x, vectors)
}

const UPPER: AttrDef = attr("upper", AttrKind::Bool(false));

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "eigh", attrs: &[UPPER], outputs: &["eigenvalues", "eigenvectors"], shape: both_shape, lower: Lowering::Graph(|l| symmetric(l, true)),
        dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Each(&[Out::RealPart, Out::Compute])),
        errors: &[ErrorCase { call: "ft.linalg.eigh(ft.zeros([2, 3]))", code: Code::Shape }],
        doc: doc("Eigenvalues of symmetric (Hermitian) matrices, ascending, and orthonormal eigenvectors as columns, in each of which the first entry of the largest size is real and positive. Only the lower triangle of x is read, with upper the upper one.", "x @ v_i = w_i v_i", "ft.linalg.eigh(ft.tensor([[2, 0], [0, 1]])).eigenvalues // [1, 2]", "linalg.eigh", "linalg.eigh"), ..LINALG },
    OpDef { name: "eigvalsh", attrs: &[UPPER], shape: values_shape, lower: Lowering::Graph(|l| symmetric(l, false)),
        dtype: DTypeRule::new(Class::Any, Compute::Float, Out::RealPart),
        errors: &[ErrorCase { call: "ft.linalg.eigvalsh(ft.zeros([2, 3]))", code: Code::Shape }],
        doc: doc("Eigenvalues of symmetric (Hermitian) matrices, ascending. Only the lower triangle of x is read, with upper the upper one.", "x @ v_i = w_i v_i", "ft.linalg.eigvalsh(ft.tensor([[0, 1], [1, 0]])) // [-1, 1]", "linalg.eigvalsh", "linalg.eigvalsh"), ..LINALG },
    OpDef { name: "eig", outputs: &["eigenvalues", "eigenvectors"], shape: both_shape, lower: Lowering::Graph(|l| general(l, true)),
        dtype: DTypeRule::new(Class::Any, Compute::Float, Out::Each(&[Out::ComplexOf; 2])),
        errors: &[ErrorCase { call: "ft.linalg.eig(ft.zeros([2, 3]))", code: Code::Shape }],
        doc: doc("Eigenvalues of square matrices, ascending by real, then by imaginary part, and eigenvectors of length 1 as columns, in each of which the first entry of the largest size is real and positive; both always complex.", "x @ v_i = w_i v_i", "ft.linalg.eig(ft.tensor([[2, 0], [0, 1]])).eigenvalues.real() // [1, 2]", "linalg.eig", "linalg.eig"), ..LINALG },
    OpDef { name: "eigvals", shape: values_shape, lower: Lowering::Graph(|l| general(l, false)),
        dtype: DTypeRule::new(Class::Any, Compute::Float, Out::ComplexOf),
        errors: &[ErrorCase { call: "ft.linalg.eigvals(ft.zeros([2, 3]))", code: Code::Shape }],
        doc: doc("Eigenvalues of square matrices, always complex, ascending by real, then by imaginary part.", "x @ v_i = w_i v_i", "ft.linalg.eigvals(ft.tensor([[0, 1], [-1, 0]])).imag() // [-1, 1]", "linalg.eigvals", "linalg.eigvals"), ..LINALG },
];

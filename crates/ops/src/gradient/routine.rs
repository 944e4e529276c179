//! Dense algorithms backwards: which rule each has, and systems of equations, exponentials and Fourier transforms themselves.
//!
//! Where an algorithm picks one of several equal answers (the phase of an eigenvector) the rules differentiate the answer it picks.

mod factor;
mod matrices;
mod spectral;

use super::back::{Back, Launch};
use crate::graph::{Val, View};
use crate::write::{Writer, band};
use ferrotensor_core::Result;
use ferrotensor_core::kernel::{Routine, SvdOutputs};
use matrices::Part;

/// A routine.
pub fn routine(back: &mut Back, kernel: Routine, launch: &Launch) -> Result<()> {
    let x = launch.inputs[0];
    let w = &mut back.w;
    let g = match kernel {
        Routine::Solve(_) | Routine::Triangular { .. } => return solve(back, kernel, launch),
        Routine::Cholesky(_) => factor::cholesky(w, launch)?,
        Routine::Qr(_) => factor::qr(w, launch)?,
        Routine::Lu(_) => factor::lu(w, launch)?,
        Routine::Eigh { .. } => spectral::hermitian(w, kernel, launch)?,
        Routine::Eig { .. } => spectral::general(w, kernel, launch)?,
        Routine::Svd { outputs, .. } => spectral::singular(w, outputs == SvdOutputs::Values, launch)?,
        Routine::Expm(_) => launch.cotangents[0].map(|g| exponential(w, kernel, x, g)).transpose()?,
        Routine::Fft { dtype, inverse } => launch.cotangents[0].map(|g| {
            let dims = w.dims(g);
            // The transform's matrix is symmetric, and the other direction's is its conjugate.
            w.routine(Routine::Fft { dtype, inverse: !inverse }, &[g], &[dims])[0]
        }),
    };
    let Some(g) = g else { return Ok(()) };
    // A real matrix of complex results.
    let g = back.w.cast(g, back.w.dtype(x))?;
    back.give(x, g)
}

/// `a y = b`: `gb` solves `a^H gb = g`, and `ga = -gb y^H`, of which a triangle has its own part.
fn solve(back: &mut Back, kernel: Routine, launch: &Launch) -> Result<()> {
    let (a, b, y, Some(g)) = (launch.inputs[0], launch.inputs[1], launch.outputs[0], launch.cotangents[0]) else {
        return Ok(());
    };
    let (adjoint, dims) = (back.w.adjoint(a)?, back.w.dims(b));
    let by = match kernel {
        Routine::Triangular { dtype, upper, unit } => Routine::Triangular { dtype, upper: !upper, unit },
        other => other,
    };
    let of_b = back.w.routine(by, &[adjoint, g], &[dims])[0];
    if back.wants(a) {
        let right = back.w.adjoint(y)?;
        let product = back.w.contract(of_b, right);
        let of_a = back.w.each(product, |b, x| b.unary(ferrotensor_core::scalar::Op::Neg, x))?;
        let of_a = match kernel {
            Routine::Triangular { upper, unit, .. } => {
                let part = if upper { Part::Upper } else { Part::Lower };
                back.w.part(of_a, part, if unit { 0.0 } else { 1.0 })?
            }
            _ => of_a,
        };
        back.give(a, of_a)?;
    }
    back.give(b, of_b)
}

/// The derivative at x^H in the direction g: a block of the exponential of `[[x^H, g], [0, x^H]]` (Mathias, "A chain rule for matrix
/// functions and applications", 1996).
fn exponential(w: &mut Writer, kernel: Routine, x: Val, g: Val) -> Result<Val> {
    let adjoint = w.adjoint(x)?;
    let mut dims = w.dims(x);
    let (rank, n) = (dims.len(), dims[dims.len() - 1]);
    (dims[rank - 2], dims[rank - 1]) = (2 * n, 2 * n);
    let block = |row: usize, column: usize| {
        let mut items = band(&dims, rank - 2, row * n, n);
        items[rank - 1] = band(&dims, rank - 1, column * n, n)[rank - 1];
        Some(View::Index(items))
    };
    let zeros = w.filled(&dims, w.dtype(x), 0.0)?;
    let parts = vec![(adjoint, block(0, 0)), (g, block(0, 1)), (adjoint, block(1, 1))];
    let whole = w.assemble(&dims, Some(zeros), parts)?;
    let exp = w.routine(kernel, &[whole], std::slice::from_ref(&dims))[0];
    let rows = w.narrow(exp, rank - 2, 0, n);
    Ok(w.narrow(rows, rank - 1, n, n))
}

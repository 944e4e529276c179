//! Windows between guard bands: poolings of a few places, and convolutions of floats.

use super::{KernelCase, tensor};
use crate::case::Placement;
use crate::values::{Fill, Rng};
use ferrotensor_core::kernel::{Kernel, Monoid, Window, WindowAxis, WindowCombine};
use ferrotensor_core::{DType, Result};
use ferrotensor_ops::def::Domain;

/// Axes, data behind the leading ones, windows.
type Case = (&'static [WindowAxis], &'static [usize], &'static [usize]);

const fn axis(size: usize, stride: usize, dilation: usize, low: usize) -> WindowAxis {
    WindowAxis { size, stride, dilation, low }
}

const CASES: [Case; 5] = [
    (&[axis(3, 1, 1, 1)], &[33], &[33]),
    (&[axis(2, 2, 1, 0), axis(2, 2, 1, 0)], &[6, 7], &[3, 3]),
    (&[axis(3, 2, 1, 1), axis(3, 2, 1, 1)], &[7, 9], &[4, 5]),
    (&[axis(2, 1, 2, 0), axis(3, 1, 1, 0)], &[8, 20], &[6, 18]),
    (&[axis(2, 3, 1, 2)], &[0], &[1]),
];

/// The cases of a dtype: those that the CPU has a kernel for.
pub fn cases(dtype: DType, placement: Placement, rng: &mut Rng) -> Result<Vec<(String, KernelCase)>> {
    let mut out = Vec::new();
    for (axes, spatial, windows) in CASES {
        let mut add = |name: &str, combine, operands: &[Vec<usize>], lead: &[usize]| {
            let inputs = operands
                .iter()
                .map(|dims| tensor(dtype, dims, placement, Fill::Ordinary(Domain::Any), rng))
                .collect::<Result<_>>()?;
            let kernel = Kernel::Window(Window { combine, dtype, axes: axes.to_vec() });
            let outputs = vec![[lead, windows].concat()];
            out.push((
                name.into(),
                KernelCase { kernel, inputs, outputs, output: Placement::Contiguous, params: Vec::new() },
            ));
            Ok::<(), ferrotensor_core::Error>(())
        };
        let pool = match dtype {
            DType::Bool => Monoid::Any,
            d if d.is_complex() => Monoid::Sum,
            _ => Monoid::Max,
        };
        for monoid in [Monoid::Sum, pool] {
            add("pool", WindowCombine::Reduce(monoid), &[[&[2, 3], spatial].concat()], &[2, 3])?;
        }
        if dtype.is_float() {
            let taps: Vec<usize> = axes.iter().map(|a| a.size).collect();
            let operands = [[&[2, 2, 3], spatial].concat(), [&[2, 5, 3], &taps[..]].concat()];
            add("convolution", WindowCombine::Dot, &operands, &[2, 2, 5])?;
        }
    }
    Ok(out)
}

//! What a launch has to move and to compute, from its kernel and operands: the bytes and floating-point operations of a profile.

use ferrotensor_core::attention::Attention;
use ferrotensor_core::kernel::{Combine, Contract, Kernel, Monoid, Reduce, Routine, Update, WindowCombine};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::rows::{Per, RowStep};
use ferrotensor_core::scalar::{Op, Program};
use ferrotensor_core::{DType, Kind, math};

/// Bytes of operands: each element that a launch needs counts once, however often the kernel comes back to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Of inputs.
    pub read: u64,
    /// Of outputs.
    pub written: u64,
}

/// What a launch of a kernel moves.
pub fn moved<'a>(
    kernel: &Kernel,
    inputs: impl Iterator<Item = &'a Layout>,
    outputs: impl Iterator<Item = &'a Layout>,
) -> Moved {
    let size = |n: usize, dtypes: &[DType]| dtypes.get(n).map_or(0, |d| d.bytes()) as u64;
    let (takes, gives) = (kernel.inputs(), kernel.outputs());
    let mut moved = Moved::default();
    let mut results = 0;
    for (n, layout) in outputs.enumerate() {
        results += layout.len() as u64;
        moved.written += layout.len() as u64 * size(n, &gives);
    }
    for (n, layout) in inputs.enumerate() {
        let picks = n == 0 && matches!(kernel, Kernel::Gather(_));
        moved.read += if picks { distinct(layout).min(results) } else { distinct(layout) } * size(n, &takes);
    }
    moved
}

fn count(dims: &[usize]) -> usize {
    dims.iter().product()
}

/// Elements that a layout shows, each once: broadcast ones, and those that several windows share.
fn distinct(layout: &Layout) -> u64 {
    let axes = layout.dims().iter().zip(layout.strides());
    let met: usize = axes.map(|(&size, &stride)| if stride == 0 { size.min(1) } else { size }).product();
    met.min(layout.range().len()) as u64
}

/// Floating-point operations of a launch with operands of these shapes: additions, multiplications, divisions, roots and choices of
/// the larger, two for a fused multiply-add, and those that a function like `exp` is made of. A complex product has six. Nothing
/// for kinds whose work depends on the values (`None`), zero for integers.
pub fn flops(kernel: &Kernel, inputs: &[&[usize]], outputs: &[&[usize]]) -> Option<f64> {
    let elements = |shapes: &[&[usize]], n: usize| shapes.get(n).map_or(0.0, |dims| count(dims) as f64);
    let last = |n: usize, back: usize| inputs.get(n).and_then(|d| d.iter().nth_back(back)).map_or(1.0, |&k| k as f64);
    let (read, made) = (elements(inputs, 0), elements(outputs, 0));
    Some(match kernel {
        Kernel::Map(k) => made * program(&k.program),
        Kernel::Reduce(k) => reduction(k, read, made),
        Kernel::Scan(k) => read * combination(k.combine, k.dtype),
        Kernel::Gather(_) => 0.0,
        Kernel::Scatter(k) => match k.update {
            Update::Set => 0.0,
            Update::Combine(monoid) => elements(inputs, inputs.len().saturating_sub(1)) * combination(monoid, k.dtype),
        },
        Kernel::Contract(k) => product(k, made, last(0, 0)),
        Kernel::Window(k) => {
            let places = k.axes.iter().map(|a| a.size as f64).product::<f64>();
            match k.combine {
                WindowCombine::Reduce(monoid) => made * places * combination(monoid, k.dtype),
                // Weights are [group, cout, cin, places...].
                WindowCombine::Dot => made * places * last(1, k.axes.len()) * multiply_add(k.dtype),
            }
        }
        Kernel::Rows(k) => {
            let per = |per: Per| inputs.iter().zip(&k.inputs).find(|(_, i)| i.1 == per).map(|(d, _)| count(d) as f64);
            let elements = per(Per::Element)?;
            let row = k.inputs.iter().zip(inputs).find(|(i, _)| i.1 == Per::Element);
            let row = row.map_or(1.0, |(_, d)| count(&d[d.len().saturating_sub(k.axes)..]) as f64);
            let rows = if row > 0.0 { elements / row } else { 0.0 };
            let values = k.values();
            let steps = k.steps.iter().enumerate().map(|(n, step)| match step {
                RowStep::Map { map, .. } => {
                    let each = if values[k.inputs.len() + n].1 == Per::Element { elements } else { rows };
                    each * program(&map.program)
                }
                RowStep::Reduce { reduce, .. } => reduction(reduce, elements, rows),
            });
            steps.sum()
        }
        Kernel::Attention(k) => return attention(k, inputs, outputs),
        Kernel::Routine(routine) => return routine_flops(routine, inputs.first()?, inputs.get(1).copied()),
        Kernel::Sort(_) => return None,
    })
}

fn attention(k: &Attention, inputs: &[&[usize]], outputs: &[&[usize]]) -> Option<f64> {
    let [factors, beside, more] = k.split(inputs)?;
    let (kept, n) = (outputs.first()?.split_last()?.1, *factors.get(1)?.last()?);
    let square = &[kept, &[n]].concat()[..];
    let [scores, weights, values] = k.parts();
    let weights = flops(&weights, &k.weighed(beside, square), &[square])?;
    Some(flops(&scores, factors, &[square])? + weights + flops(&values, &[&[square], more].concat(), outputs)?)
}

fn reduction(k: &Reduce, read: f64, made: f64) -> f64 {
    let combine = match k.combine {
        Combine::Value(monoid) => combination(monoid, k.acc),
        Combine::ArgMax | Combine::ArgMin => weight(k.acc, 1.0, 0.0),
    };
    read * (combine + k.pre.as_ref().map_or(0.0, program)) + made * k.post.as_ref().map_or(0.0, program)
}

fn product(k: &Contract, made: f64, inner: f64) -> f64 {
    made * (inner * multiply_add(k.dtype) + k.post.as_ref().map_or(0.0, program))
}

/// Of a real and of a complex dtype; integers have none.
fn weight(dtype: DType, real: f64, complex: f64) -> f64 {
    match dtype.info().kind {
        Kind::Float => real,
        Kind::Complex => complex,
        _ => 0.0,
    }
}

fn multiply_add(dtype: DType) -> f64 {
    weight(dtype, 2.0, 8.0)
}

fn combination(monoid: Monoid, dtype: DType) -> f64 {
    match monoid {
        Monoid::Prod => weight(dtype, 1.0, 6.0),
        _ => weight(dtype, 1.0, 2.0),
    }
}

/// Operations of a program for one element, its functions written out.
fn program(program: &Program) -> f64 {
    let each = math::expand_calls(program).instrs.into_iter().map(|i| match i.op {
        Op::Add | Op::Sub => weight(i.dtype, 1.0, 2.0),
        Op::Mul => weight(i.dtype, 1.0, 6.0),
        // Of scaled operands.
        Op::Div => weight(i.dtype, 1.0, 11.0),
        Op::Rem | Op::Sqrt | Op::Min | Op::Max => weight(i.dtype, 1.0, 0.0),
        Op::Fma => multiply_add(i.dtype),
        _ => 0.0,
    });
    each.sum()
}

/// The leading terms of textbooks (Golub and Van Loan), four times as many for complex numbers; `None` where they depend on how
/// fast something converges.
fn routine_flops(routine: &Routine, a: &[usize], b: Option<&[usize]>) -> Option<f64> {
    let axis = |dims: &[usize], back: usize| dims.iter().nth_back(back).map_or(1.0, |&n| n as f64);
    let (m, n) = (axis(a, 1), axis(a, 0));
    let matrices = |axes: usize| a[..a.len().saturating_sub(axes)].iter().map(|&n| n as f64).product::<f64>();
    let right = b.map_or(0.0, |b| axis(b, 0));
    let k = m.min(n);
    let (dtype, each) = match *routine {
        Routine::Solve(d) => (d, 2.0 / 3.0 * n.powi(3) + 2.0 * n * n * right),
        Routine::Triangular { dtype, .. } => (dtype, n * n * right),
        Routine::Cholesky(d) => (d, n.powi(3) / 3.0),
        Routine::Lu(d) => (d, k * k * (m.max(n) - k / 3.0)),
        // The triangle, and the columns of q.
        Routine::Qr(d) => (d, 2.0 * (2.0 * k * k * (m.max(n) - k / 3.0))),
        // Of complex numbers already: 5 n log2 n.
        Routine::Fft { .. } => return Some(matrices(1) * 5.0 * n * n.max(1.0).log2()),
        Routine::Eigh { .. } | Routine::Svd { .. } | Routine::Eig { .. } | Routine::Expm(_) => return None,
    };
    Some(matrices(2) * each * weight(dtype, 1.0, 4.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrotensor_core::scalar::{Builder, MathFn};

    fn map(write: impl FnOnce(&mut Builder, u32, u32) -> u32) -> Kernel {
        let mut b = Builder::new();
        let (x, y) = (b.input(DType::F32), b.input(DType::F32));
        let out = write(&mut b, x, y);
        Kernel::Map(ferrotensor_core::kernel::Map { program: b.finish(&[out]) })
    }

    #[test]
    fn each_element_of_an_operand_counts_once() {
        let add = map(|b, x, y| b.binary(Op::Add, x, y));
        let whole = Layout::dense(&[4, 8]).unwrap();
        let row = Layout::new(&[4, 8], &[0, 1], 0, 8).unwrap();
        let windows = Layout::new(&[4, 8], &[1, 1], 0, 11).unwrap();
        for (second, elements) in [(&whole, 32), (&row, 8), (&windows, 11)] {
            let moved = moved(&add, [&whole, second].into_iter(), std::iter::once(&whole));
            assert_eq!(moved, Moved { read: (32 + elements) * 4, written: 32 * 4 });
        }
    }

    #[test]
    fn functions_count_what_they_are_made_of() {
        let one = map(|b, x, y| b.binary(Op::Mul, x, y));
        let shapes: [&[usize]; 2] = [&[10], &[10]];
        assert_eq!(flops(&one, &shapes, &shapes[..1]), Some(10.0));
        let exp = map(|b, x, _| b.call(MathFn::Exp, &[x]));
        let exp = flops(&exp, &shapes, &shapes[..1]).unwrap();
        assert!((80.0..400.0).contains(&exp), "{exp}");
    }

    #[test]
    fn products_have_two_for_each_inner_place_and_integers_none() {
        let shapes: [&[usize]; 2] = [&[3, 4, 5], &[3, 5, 6]];
        let product = |dtype| flops(&Kernel::Contract(Contract::new(dtype)), &shapes, &[&[3, 4, 6]]);
        assert_eq!(product(DType::F32), Some(2.0 * 3.0 * 4.0 * 5.0 * 6.0));
        assert_eq!(product(DType::C64), Some(8.0 * 3.0 * 4.0 * 5.0 * 6.0));
        assert_eq!(product(DType::I32), Some(0.0));
    }
}

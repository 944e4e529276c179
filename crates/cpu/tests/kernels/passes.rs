//! Steps of `Rows` that one pass takes together: each kind of them has the bits of its steps, on every instruction set, for rows of every length
//! at which the tree changes, with special values, in any layout.

use crate::harness::{Rng, STYLES, Style};
use crate::rows::{SHAPES, compare, map, program, reduce};
use ferrotensor_core::DType;
use ferrotensor_core::kernel::{Combine, Monoid, Reduce};
use ferrotensor_core::reference::Array;
use ferrotensor_core::rows::{Per, RowStep, Rows};
use ferrotensor_core::scalar::{MathFn, Op, Program, Value};

fn binary(d: DType, op: Op) -> Program {
    program(d, 2, 0, |b, v| b.binary(op, v[0], v[1]))
}

fn exp_less(d: DType) -> Program {
    program(d, 2, 0, |b, v| {
        let gap = b.binary(Op::Sub, v[0], v[1]);
        b.call(MathFn::Exp, &[gap])
    })
}

fn inverse(d: DType) -> Program {
    program(d, 1, 0, |b, v| {
        let one = b.lit(d, 1.0);
        b.binary(Op::Div, one, v[0])
    })
}

/// A sum of what a program makes of each element, by 7.
fn sum_of(axes: usize, d: DType, operand: usize, pre: Option<Program>) -> RowStep {
    let post = program(d, 1, 0, |b, v| {
        let count = b.lit(d, 7.0);
        b.binary(Op::Div, v[0], count)
    });
    RowStep::Reduce {
        reduce: Reduce { axes, combine: Combine::Value(Monoid::Sum), input: d, acc: d, pre, post: Some(post) },
        operand,
    }
}

fn square(d: DType) -> Option<Program> {
    Some(program(d, 1, 0, |b, v| b.binary(Op::Mul, v[0], v[0])))
}

fn exp(d: DType) -> Option<Program> {
    Some(program(d, 1, 0, |b, v| b.call(MathFn::Exp, v)))
}

/// `(x row) w + b`, of so many inputs.
fn scaled(d: DType, inputs: usize) -> Program {
    program(d, inputs, 0, |b, v| {
        let mut y: Value = b.binary(Op::Mul, v[0], v[1]);
        if inputs > 2 {
            y = b.binary(Op::Mul, y, v[2]);
        }
        if inputs > 3 {
            y = b.binary(Op::Add, y, v[3]);
        }
        y
    })
}

/// Exponentials by their sum.
fn softmax(d: DType, axes: usize) -> Rows {
    let steps = vec![
        reduce(axes, Monoid::Max, d, 0),
        map(exp_less(d), &[0, 1]),
        reduce(axes, Monoid::Sum, d, 2),
        map(inverse(d), &[3]),
        map(scaled(d, 2), &[2, 4]),
    ];
    Rows { axes, inputs: vec![(d, Per::Element)], steps, outputs: vec![5] }
}

/// What the largest leaves, less the logarithm of the sum of its exponentials; the sum goes out as well.
fn log_softmax(d: DType, axes: usize) -> Rows {
    let log = program(d, 1, 0, |b, v| b.call(MathFn::Log, v));
    let steps = vec![
        reduce(axes, Monoid::Max, d, 0),
        map(binary(d, Op::Sub), &[0, 1]),
        sum_of(axes, d, 2, exp(d)),
        map(log, &[3]),
        map(binary(d, Op::Sub), &[2, 4]),
    ];
    Rows { axes, inputs: vec![(d, Per::Element)], steps, outputs: vec![5, 3] }
}

/// Less the mean, by the spread, with a weight and a bias.
fn layer_norm(d: DType, axes: usize) -> Rows {
    let steps = vec![
        sum_of(axes, d, 0, None),
        map(binary(d, Op::Sub), &[0, 3]),
        sum_of(axes, d, 4, square(d)),
        map(inverse(d), &[5]),
        map(scaled(d, 4), &[4, 6, 1, 2]),
    ];
    Rows { axes, inputs: vec![(d, Per::Element); 3], steps, outputs: vec![7] }
}

/// The same by what is left of the mean, which is subtracted at the end, with so many of weight and bias.
fn norm_of_the_rest<const OTHERS: usize>(d: DType, axes: usize) -> Rows {
    let last = program(d, 3 + OTHERS, 0, |b, v| {
        let centred = b.binary(Op::Sub, v[0], v[1]);
        let mut y = b.binary(Op::Mul, centred, v[2]);
        if OTHERS > 0 {
            y = b.binary(Op::Mul, y, v[3]);
        }
        if OTHERS > 1 {
            y = b.binary(Op::Add, y, v[4]);
        }
        y
    });
    let steps = vec![
        sum_of(axes, d, 0, None),
        map(binary(d, Op::Sub), &[0, 3]),
        sum_of(axes, d, 4, None),
        sum_of(axes, d, 4, square(d)),
        map(inverse(d), &[6]),
        map(last, &[&[4, 5, 7][..], &[1, 2][..OTHERS]].concat()),
    ];
    Rows { axes, inputs: vec![(d, Per::Element); 3], steps, outputs: vec![8] }
}

/// By the mean square, with a weight: the first sum absorbs nothing.
fn rms_norm(d: DType, axes: usize) -> Rows {
    let steps = vec![sum_of(axes, d, 0, square(d)), map(inverse(d), &[3]), map(scaled(d, 3), &[0, 4, 1])];
    Rows { axes, inputs: vec![(d, Per::Element); 3], steps, outputs: vec![5] }
}

/// The gradient of a softmax: products that only their sum reads.
fn softmax_gradient(d: DType, axes: usize) -> Rows {
    let last = program(d, 3, 0, |b, v| {
        let rest = b.binary(Op::Sub, v[1], v[2]);
        b.binary(Op::Mul, v[0], rest)
    });
    let steps = vec![map(binary(d, Op::Mul), &[0, 1]), reduce(axes, Monoid::Sum, d, 3), map(last, &[0, 1, 4])];
    Rows { axes, inputs: vec![(d, Per::Element); 3], steps, outputs: vec![5] }
}

/// Two sums of one difference, which goes out too: the first pass keeps it, the second reads it.
fn two_sums(d: DType, axes: usize) -> Rows {
    let steps = vec![
        reduce(axes, Monoid::Min, d, 1),
        map(binary(d, Op::Sub), &[0, 3]),
        reduce(axes, Monoid::Sum, d, 4),
        sum_of(axes, d, 4, square(d)),
        map(exp_less(d), &[2, 6]),
        sum_of(axes, d, 7, None),
    ];
    Rows { axes, inputs: vec![(d, Per::Element); 3], steps, outputs: vec![4, 5, 6, 8, 7] }
}

const KINDS: [fn(DType, usize) -> Rows; 9] = [
    softmax,
    log_softmax,
    layer_norm,
    norm_of_the_rest::<0>,
    norm_of_the_rest::<1>,
    norm_of_the_rest::<2>,
    rms_norm,
    softmax_gradient,
    two_sums,
];

/// Moderate numbers of both signs.
fn moderate(rng: &mut Rng, d: DType, dims: &[usize]) -> Array {
    let count: usize = dims.iter().product();
    let period = count.min(4099);
    let numbers: Vec<f64> = (0..period).map(|_| (rng.next() >> 11) as f64 / (1u64 << 50) as f64 - 4.0).collect();
    let cycle = || numbers.iter().copied().cycle().take(count);
    match d {
        DType::F32 => Array::from_slice(dims, &cycle().map(|x| x as f32).collect::<Vec<f32>>()).unwrap(),
        _ => Array::from_slice(dims, &cycle().collect::<Vec<f64>>()).unwrap(),
    }
}

/// A row for all rows.
fn repeated(row: &Array, dims: &[usize]) -> Array {
    Array::new(row.dtype(), dims, row.bytes().repeat(dims[0])).unwrap()
}

fn run(kind: fn(DType, usize) -> Rows, axes: usize, arrays: &[Array; 3], styles: [Style; 3], output: Style) {
    let kernel = kind(arrays[0].dtype(), axes);
    let inputs: Vec<(&Array, Style)> = arrays.iter().zip(styles).take(kernel.inputs.len()).collect();
    compare(&kernel, &inputs, &[], output);
}

#[test]
fn each_kind_has_the_bits_of_its_steps() {
    let mut rng = Rng(71);
    for (n, (dims, axes)) in SHAPES.into_iter().enumerate().filter(|(n, _)| !cfg!(miri) || n % 5 == 4) {
        for d in [DType::F32, DType::F64] {
            let arrays = [(); 3].map(|()| moderate(&mut rng, d, dims));
            for (k, kind) in KINDS.into_iter().enumerate() {
                run(kind, axes, &arrays, [Style::Dense; 3], Style::Dense);
                let style = |i: usize| STYLES[(n + k + i) % STYLES.len()];
                run(kind, axes, &arrays, [style(0), style(1), style(2)], style(3));
            }
        }
    }
}

#[test]
fn each_kind_has_the_bits_of_its_steps_beside_special_values() {
    let mut rng = Rng(72);
    for (dims, axes) in [(&[9, 127][..], 1), (&[3, 513], 1), (&[2, 3, 170], 2), (&[40, 33], 1), (&[3, 600], 1)] {
        for d in [DType::F32, DType::F64] {
            for _ in 0..if cfg!(miri) { 1 } else { 4 } {
                let arrays = [(); 3].map(|()| rng.array(d, dims));
                KINDS.into_iter().for_each(|kind| run(kind, axes, &arrays, [Style::Dense; 3], Style::Dense));
            }
        }
    }
}

#[test]
fn rows_of_one_number_have_the_bits_of_their_steps() {
    for number in [0.0f32, -0.0, 1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, 1e-40] {
        for extent in [32, 33, 64, 100, 512, 1500] {
            let mut numbers = vec![number; 3 * extent];
            // A row of it alone, one with a zero of the other sign, and one with a one.
            numbers[extent + extent / 2] = 0.0;
            numbers[2 * extent] = 1.0;
            let x = Array::from_slice(&[3, extent], &numbers).unwrap();
            let arrays = [(); 3].map(|()| x.clone());
            KINDS.into_iter().for_each(|kind| run(kind, 1, &arrays, [Style::Dense; 3], Style::Dense));
        }
    }
}

/// Every length from that of the lanes over two groups, so that each end of the tree is met.
#[test]
fn rows_of_every_length_have_the_bits_of_their_steps() {
    let mut rng = Rng(73);
    let longest = if cfg!(miri) { 34 } else { 1100 };
    for extent in (31..=longest).filter(|e| e % 7 == 3 || (e % 512) < 34 || (e % 512) > 478) {
        let arrays = [(); 3].map(|()| moderate(&mut rng, DType::F32, &[3, extent]));
        for kind in [softmax, layer_norm] {
            run(kind, 1, &arrays, [Style::Dense; 3], Style::Dense);
        }
    }
}

#[test]
fn weights_and_biases_of_all_rows_have_the_bits_of_their_steps() {
    let mut rng = Rng(74);
    for dims in [[3, 33], [70, 512], [5, 1500]] {
        for d in [DType::F32, DType::F64] {
            let x = moderate(&mut rng, d, &dims);
            let rows = [(); 2].map(|()| moderate(&mut rng, d, &dims[1..]));
            let arrays = [x, repeated(&rows[0], &dims), repeated(&rows[1], &dims)];
            for kind in [layer_norm, norm_of_the_rest::<2>, rms_norm] {
                run(kind, 1, &arrays, [Style::Dense, Style::Broadcast, Style::Broadcast], Style::Dense);
                run(kind, 1, &arrays, [Style::Dense, Style::Dense, Style::Broadcast], Style::Dense);
            }
            // Of what is summed one row is not all rows.
            run(
                layer_norm,
                1,
                &[arrays[1].clone(), arrays[0].clone(), arrays[2].clone()],
                [Style::Broadcast, Style::Dense, Style::Broadcast],
                Style::Dense,
            );
        }
    }
}

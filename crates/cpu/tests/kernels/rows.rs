//! `Rows`: the bits of its steps run one after the other, for every length of rows at which something changes, and what its rules
//! refuse.

use crate::harness::{Rng, STYLES, Style, assert_same, check, expected, run, tiers};
use ferrotensor_core::backend::Backend;
use ferrotensor_core::kernel::{Combine, Kernel, Map, Monoid, Reduce};
use ferrotensor_core::reference::Array;
use ferrotensor_core::rows::{LONGEST, Per, RowStep, Rows};
use ferrotensor_core::scalar::{Builder, MathFn, Op, Program, Value};
use ferrotensor_core::{Code, DType};
use ferrotensor_cpu::CpuBackend;

/// A program of operands and parameters of one dtype.
pub fn program(d: DType, inputs: usize, params: usize, f: impl FnOnce(&mut Builder, &[Value]) -> Value) -> Program {
    let mut b = Builder::new();
    let mut values: Vec<Value> = (0..inputs).map(|_| b.input(d)).collect();
    values.extend((0..params).map(|_| b.param(d)));
    let result = f(&mut b, &values);
    b.finish(&[result])
}

pub fn map(program: Program, operands: &[usize]) -> RowStep {
    RowStep::Map { map: Map { program }, operands: operands.to_vec() }
}

pub fn reduce(axes: usize, monoid: Monoid, d: DType, operand: usize) -> RowStep {
    let combine = Combine::Value(monoid);
    RowStep::Reduce { reduce: Reduce { axes, combine, input: d, acc: d, pre: None, post: None }, operand }
}

/// The softmax: exponentials of what the largest leaves, by their sum.
pub fn softmax(d: DType, axes: usize) -> Rows {
    let gap = program(d, 2, 0, |b, v| {
        let gap = b.binary(Op::Sub, v[0], v[1]);
        b.call(MathFn::Exp, &[gap])
    });
    let share = program(d, 2, 0, |b, v| b.binary(Op::Div, v[0], v[1]));
    let steps =
        vec![reduce(axes, Monoid::Max, d, 0), map(gap, &[0, 1]), reduce(axes, Monoid::Sum, d, 2), map(share, &[2, 3])];
    Rows { axes, inputs: vec![(d, Per::Element)], steps, outputs: vec![4] }
}

/// Two inputs of elements and one of rows; a difference and a mean that go out, programs on both sides, parameters, half floats.
fn mixed(axes: usize) -> Rows {
    let d = DType::F32;
    let scaled = program(d, 2, 1, |b, v| {
        let product = b.binary(Op::Mul, v[0], v[1]);
        b.binary(Op::Add, product, v[2])
    });
    let pre = program(d, 1, 0, |b, v| b.binary(Op::Mul, v[0], v[0]));
    let post = program(d, 1, 1, |b, v| b.binary(Op::Mul, v[0], v[1]));
    let near = program(d, 2, 0, |b, v| b.binary(Op::Sub, v[0], v[1]));
    let (combine, input, acc) = (Combine::Value(Monoid::Sum), d, d);
    let squares = Reduce { axes, combine, input, acc, pre: Some(pre), post: Some(post) };
    let mut b = Builder::new();
    let (x, y) = (b.input(d), b.input(d));
    let root = b.unary(Op::Sqrt, y);
    let ratio = b.binary(Op::Div, x, root);
    let narrow = b.cast(ratio, DType::F16);
    let steps = vec![
        map(scaled, &[0, 1]),
        RowStep::Reduce { reduce: squares, operand: 3 },
        map(near.clone(), &[4, 2]),
        map(near, &[3, 5]),
        map(b.finish(&[ratio, narrow][1..]), &[6, 4]),
    ];
    Rows { axes, inputs: vec![(d, Per::Element), (d, Per::Element), (d, Per::Row)], steps, outputs: vec![6, 5, 7] }
}

/// Elements less the largest of their row, that less a value of the row which comes in, and the smallest of what is left.
pub fn below_the_largest(d: DType, axes: usize) -> Kernel {
    let less = program(d, 2, 0, |b, v| b.binary(Op::Sub, v[0], v[1]));
    let steps = vec![
        reduce(axes, Monoid::Max, d, 0),
        map(less.clone(), &[0, 2]),
        map(less, &[2, 1]),
        reduce(axes, Monoid::Min, d, 3),
    ];
    Kernel::Rows(Rows { axes, inputs: vec![(d, Per::Element), (d, Per::Row)], steps, outputs: vec![3, 4, 5] })
}

/// Elements less the largest of their row: nothing is rounded of whole numbers.
pub fn less_the_largest(d: DType) -> Rows {
    let less = program(d, 2, 0, |b, v| b.binary(Op::Sub, v[0], v[1]));
    let steps = vec![reduce(1, Monoid::Max, d, 0), map(less, &[0, 1])];
    Rows { axes: 1, inputs: vec![(d, Per::Element)], steps, outputs: vec![2] }
}

/// A value of each row for each of its elements.
fn spread(rows: &Array, dims: &[usize]) -> Array {
    let length = dims.iter().product::<usize>() / rows.len().max(1);
    let bytes = rows.bytes().chunks(rows.dtype().bytes()).flat_map(|v| v.repeat(length)).collect();
    Array::new(rows.dtype(), dims, bytes).unwrap()
}

/// The outputs by maps and reductions of their own.
fn by_steps(kernel: &Rows, inputs: &[&Array], params: &[u64]) -> Vec<Array> {
    let types = kernel.values();
    let dims = inputs[0].dims().to_vec();
    let kept = &dims[..dims.len() - kernel.axes];
    let mut values: Vec<Array> = inputs.iter().map(|&a| a.clone()).collect();
    let mut from = 0;
    for step in &kernel.steps {
        let own = &params[from..from + step.params().len()];
        from += own.len();
        let per = types[values.len()].1;
        let shape: &[usize] = if per == Per::Element { &dims } else { kept };
        let operands: Vec<Array> = step
            .operands()
            .iter()
            .map(|&o| if types[o].1 != per && per == Per::Element { spread(&values[o], &dims) } else { values[o].clone() })
            .collect();
        let operands: Vec<(&Array, Style)> = operands.iter().map(|a| (a, Style::Dense)).collect();
        let part = match step {
            RowStep::Map { map, .. } => Kernel::Map(map.clone()),
            RowStep::Reduce { reduce, .. } => Kernel::Reduce(reduce.clone()),
        };
        let found = run(&part, &operands, &[(shape, Style::Dense)], own).remove(0);
        values.push(found);
    }
    kernel.outputs.iter().map(|&o| values[o].clone()).collect()
}

/// That a kernel has the bits of its steps.
pub fn compare(kernel: &Rows, inputs: &[(&Array, Style)], params: &[u64], output: Style) {
    let arrays: Vec<&Array> = inputs.iter().map(|i| i.0).collect();
    let dims = arrays[0].dims();
    let kept = &dims[..dims.len() - kernel.axes];
    let shapes = kernel.results().into_iter().map(|(_, per)| if per == Per::Element { dims } else { kept });
    let outputs: Vec<(&[usize], Style)> = shapes.map(|d| (d, output)).collect();
    let got = run(&Kernel::Rows(kernel.clone()), inputs, &outputs, params);
    for (n, (x, y)) in by_steps(kernel, &arrays, params).iter().zip(&got).enumerate() {
        let styles: Vec<Style> = inputs.iter().map(|i| i.1).collect();
        assert_same(x, y, format_args!("output {n} of {dims:?} over {} axes, {styles:?} to {output:?}", kernel.axes));
    }
}

/// Shapes, and how many of their axes make a row.
pub const SHAPES: [(&[usize], usize); 16] = [
    (&[5], 1),
    (&[7, 1], 1),
    (&[3000, 3], 1),
    (&[40, 31], 1),
    (&[70, 32], 1),
    (&[3, 33], 1),
    (&[9, 127], 1),
    (&[5, 4, 130], 1),
    (&[3, 2, 511], 1),
    (&[3, 512], 1),
    (&[3, 513], 1),
    (&[2, 3, 170], 2),
    (&[6, 2, 40, 3], 2),
    (&[300, 1024], 1),
    (&[3, LONGEST], 1),
    (&[2, LONGEST + 1], 1),
];

#[test]
fn a_softmax_has_the_bits_of_its_parts() {
    let mut rng = Rng(61);
    for (n, (dims, axes)) in SHAPES.into_iter().enumerate() {
        let x = rng.repeated(DType::F32, dims, 4099);
        for k in 0..STYLES.len() {
            compare(&softmax(DType::F32, axes), &[(&x, STYLES[k])], &[], STYLES[(n + k) % STYLES.len()]);
        }
    }
}

#[test]
fn rows_of_every_short_length_have_the_bits_of_their_parts() {
    let mut rng = Rng(65);
    for extent in 1..=if cfg!(miri) { 3 } else { 40 } {
        for d in [DType::F32, DType::F64] {
            let x = rng.array(d, &[37, extent]);
            compare(&softmax(d, 1), &[(&x, Style::Dense)], &[], Style::Dense);
        }
    }
}

#[test]
fn values_of_elements_and_of_rows_come_in_and_go_out() {
    let mut rng = Rng(62);
    let params = [0.5f32, 0.125].map(|p| u64::from(p.to_bits()));
    for (n, (dims, axes)) in SHAPES.into_iter().enumerate() {
        let kept = &dims[..dims.len() - axes];
        let x = rng.repeated(DType::F32, dims, 4099);
        // One value for all elements, or a row for all rows, where the shape has them.
        let one = rng.array(DType::F32, &[1]);
        let w = Array::new(DType::F32, dims, one.bytes().repeat(x.len())).unwrap();
        let r = rng.repeated(DType::F32, kept, 4099);
        let style = |k: usize| STYLES[(n + k) % STYLES.len()];
        for k in 0..3 {
            let spread = if k == 2 { Style::Single } else { Style::Spread };
            compare(&mixed(axes), &[(&x, style(k)), (&w, spread), (&r, style(k + 1))], &params, style(k + 2));
        }
        let row = rng.array(DType::F32, &dims[1..]);
        let w = Array::new(DType::F32, dims, row.bytes().repeat(dims[0])).unwrap();
        if dims.len() > 1 {
            compare(&mixed(axes), &[(&x, Style::Dense), (&w, Style::Broadcast), (&r, Style::Dense)], &params, Style::Dense);
        }
    }
}

/// Whole numbers have one right answer, which the reference knows without the tree.
#[test]
fn steps_drawn_at_random_equal_the_reference() {
    let mut rng = Rng(63);
    for _ in 0..if cfg!(miri) { 2 } else { 150 } {
        let d = rng.pick(&[DType::I32, DType::I64, DType::U8, DType::I16]);
        let dims: Vec<usize> = [rng.pick(&[1, 3, 40]), rng.pick(&[1, 2]), rng.pick(&[1, 5, 33, 140, 513])].to_vec();
        let axes = 1 + rng.below(2);
        let mut rows =
            Rows { axes, inputs: vec![(d, Per::Element), (d, Per::Element), (d, Per::Row)], steps: vec![], outputs: vec![] };
        for _ in 0..2 + rng.below(6) {
            let types = rows.values();
            let pick = |rng: &mut Rng| rng.below(types.len());
            let elements: Vec<usize> = (0..types.len()).filter(|&v| types[v].1 == Per::Element).collect();
            let step = if rng.below(3) == 0 {
                reduce(axes, rng.pick(&[Monoid::Sum, Monoid::Prod, Monoid::Max, Monoid::Min]), d, rng.pick(&elements))
            } else {
                let op = rng.pick(&[Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Xor]);
                map(program(d, 2, 0, |b, v| b.binary(op, v[0], v[1])), &[pick(&mut rng), pick(&mut rng)])
            };
            rows.steps.push(step);
        }
        let last = rows.inputs.len() + rows.steps.len() - 1;
        rows.outputs = (rows.inputs.len()..=last).filter(|&v| v == last || rng.below(3) == 0).collect();
        assert_eq!(rows.verify(), Ok(()));
        let kept = &dims[..3 - axes];
        let (x, y, r) = (rng.array(d, &dims), rng.array(d, &dims), rng.array(d, kept));
        let outputs: Vec<(&[usize], Style)> = rows
            .results()
            .into_iter()
            .map(|(_, per)| (if per == Per::Element { &dims[..] } else { kept }, rng.pick(&STYLES)))
            .collect();
        let inputs = [(&x, rng.pick(&STYLES)), (&y, rng.pick(&STYLES)), (&r, rng.pick(&STYLES))];
        check(&Kernel::Rows(rows), &inputs, &outputs, &[]);
    }
}

#[test]
fn rows_of_nothing_have_what_reducing_nothing_gives() {
    let x = Array::from_slice::<f32>(&[2, 0], &[]).unwrap();
    let mut kernel = softmax(DType::F32, 1);
    kernel.outputs = vec![3, 4];
    let got =
        run(&Kernel::Rows(kernel.clone()), &[(&x, Style::Dense)], &[(&[2], Style::Dense), (&[2, 0], Style::Dense)], &[]);
    assert_eq!((got[0].bytes(), got[1].len()), (&[0u8; 8][..], 0));
    let none = Array::from_slice::<f32>(&[0, 3], &[]).unwrap();
    let got = run(&Kernel::Rows(kernel), &[(&none, Style::Dense)], &[(&[0], Style::Dense), (&[0, 3], Style::Dense)], &[]);
    assert!(got.iter().all(Array::is_empty));
}

type Spoil = fn(&mut Rows);

#[test]
fn broken_rules_are_refused_in_words_and_broken_shapes_are_errors() {
    let backend = CpuBackend::new(tiers()[0]).unwrap();
    let broken: [(&str, Spoil); 7] = [
        ("comes later", |r| r.steps[1] = map(program(DType::F32, 2, 0, |b, v| b.binary(Op::Sub, v[0], v[1])), &[0, 2])),
        ("positions", |r| {
            r.steps[3] = map(
                program(DType::F32, 1, 0, |b, v| {
                    let (i, x) = (b.index(0, DType::I32), v[0]);
                    let i = b.cast(i, DType::F32);
                    b.binary(Op::Add, x, i)
                }),
                &[2],
            );
        }),
        ("do not fit", |r| r.steps[0] = reduce(2, Monoid::Max, DType::F32, 0)),
        ("do not fit", |r| r.steps[2] = reduce(1, Monoid::Sum, DType::F32, 1)),
        ("do not fit", |r| r.inputs[0].0 = DType::F64),
        ("stored once", |r| r.outputs = vec![4, 4]),
        ("stored once", |r| r.outputs = vec![0]),
    ];
    for (reason, spoil) in broken {
        let mut kernel = softmax(DType::F32, 1);
        spoil(&mut kernel);
        let found = backend.supports(&Kernel::Rows(kernel.clone())).unwrap_err();
        assert!(found.contains(reason), "{found}");
        assert_eq!(backend.prepare(&Kernel::Rows(kernel)).err().map(|e| e.code), Some(Code::Unsupported));
    }
    let x = Array::from_slice(&[2, 3], &[0f32; 6]).unwrap();
    let (_, outcome) = crate::harness::launch(
        tiers()[0],
        &Kernel::Rows(softmax(DType::F32, 1)),
        &[(&x, Style::Dense)],
        &[(&[3, 2], Style::Dense)],
        &[],
    );
    assert_eq!(outcome.failed[0].1.code, Code::Internal);
}

/// The check itself: a softmax of sums in another order is no softmax of the tree.
#[test]
#[should_panic(expected = "output 0 of")]
fn other_bits_are_noticed() {
    let x: Vec<f32> = (0..3 * 600).map(|i| (i as f32 * 0.7).sin()).collect();
    let x = Array::from_slice(&[3, 600], &x).unwrap();
    let want = expected(&Kernel::Rows(softmax(DType::F32, 1)), &[&x], &[&[3, 600]], &[]).remove(0);
    let got = by_steps(&softmax(DType::F32, 1), &[&x], &[]).remove(0);
    assert_same(&want, &got, format_args!("output 0 of the reference, which adds exactly"));
}

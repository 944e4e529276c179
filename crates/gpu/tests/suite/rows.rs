//! Kernels of rows on a device: the bits of their steps launched one after the other there, and of the reference where that has them,
//! over lengths of rows at which something changes.

use super::launches::{canonical, elements, run_to};
use super::random::{Lie, bits, numbers, placed};
use crate::host::{self, Device};
use ferrotensor_core::backend::Backend;
use ferrotensor_core::kernel::{Combine, Kernel, Map, Monoid, Reduce};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::reference::{self, Array};
use ferrotensor_core::rows::{LONGEST, Per, RowStep, Rows};
use ferrotensor_core::scalar::{Builder, MathFn, Op, Program, Value};
use ferrotensor_core::{DType, Result};
use ferrotensor_gpu::Can;

fn program(d: DType, inputs: usize, params: usize, f: impl FnOnce(&mut Builder, &[Value]) -> Value) -> Program {
    let mut b = Builder::new();
    let mut values: Vec<Value> = (0..inputs).map(|_| b.input(d)).collect();
    values.extend((0..params).map(|_| b.param(d)));
    let result = f(&mut b, &values);
    b.finish(&[result])
}

fn map(program: Program, operands: &[usize]) -> RowStep {
    RowStep::Map { map: Map { program }, operands: operands.to_vec() }
}

fn reduce(axes: usize, monoid: Monoid, d: DType, operand: usize) -> RowStep {
    let combine = Combine::Value(monoid);
    RowStep::Reduce { reduce: Reduce { axes, combine, input: d, acc: d, pre: None, post: None }, operand }
}

/// The softmax of a dtype in its own arithmetic.
fn softmax(d: DType, axes: usize) -> Rows {
    let gap = program(d, 2, 0, |b, v| {
        let gap = b.binary(Op::Sub, v[0], v[1]);
        b.call(MathFn::Exp, &[gap])
    });
    let share = program(d, 2, 0, |b, v| b.binary(Op::Div, v[0], v[1]));
    let steps =
        vec![reduce(axes, Monoid::Max, d, 0), map(gap, &[0, 1]), reduce(axes, Monoid::Sum, d, 2), map(share, &[2, 3])];
    Rows { axes, inputs: vec![(d, Per::Element)], steps, outputs: vec![4] }
}

/// Everything a kernel may have: two operands of elements and one of rows, parameters, programs around a sum, values of rows that
/// are computed, three outputs of two dtypes.
fn mixed(d: DType, axes: usize) -> Rows {
    let scaled = program(d, 2, 1, |b, v| {
        let product = b.binary(Op::Mul, v[0], v[1]);
        b.binary(Op::Add, product, v[2])
    });
    let pre = program(d, 1, 0, |b, v| b.binary(Op::Mul, v[0], v[0]));
    let post = program(d, 1, 1, |b, v| b.binary(Op::Sub, v[0], v[1]));
    let less = program(d, 2, 0, |b, v| b.binary(Op::Sub, v[0], v[1]));
    let (combine, input, acc) = (Combine::Value(Monoid::Sum), d, d);
    let squares = Reduce { axes, combine, input, acc, pre: Some(pre), post: Some(post) };
    let mut b = Builder::new();
    let (x, y) = (b.input(d), b.input(d));
    let order = b.compare(Op::Lt, x, y);
    let steps = vec![
        map(scaled, &[0, 1]),
        RowStep::Reduce { reduce: squares, operand: 3 },
        map(less.clone(), &[4, 2]),
        map(less, &[3, 5]),
        map(b.finish(&[order]), &[6, 4]),
    ];
    Rows { axes, inputs: vec![(d, Per::Element), (d, Per::Element), (d, Per::Row)], steps, outputs: vec![6, 5, 7] }
}

fn shape(per: Per, dims: &[usize], axes: usize) -> &[usize] {
    if per == Per::Element { dims } else { &dims[..dims.len() - axes] }
}

/// The kernel in one launch.
fn at_once(device: &Device, kernel: &Rows, inputs: &[(Vec<u8>, Layout)], params: &[u64]) -> Result<Vec<Array>> {
    let dims = inputs[0].1.dims();
    let shapes: Vec<&[usize]> = kernel.results().iter().map(|r| shape(r.1, dims, kernel.axes)).collect();
    run_to(device, &Kernel::Rows(kernel.clone()), inputs, &shapes, params)
}

/// Its steps in launches of their own.
fn by_steps(device: &Device, kernel: &Rows, inputs: &[(Vec<u8>, Layout)], params: &[u64]) -> Vec<Array> {
    let (types, dims) = (kernel.values(), inputs[0].1.dims().to_vec());
    let (mut values, mut from) = (inputs.to_vec(), 0);
    for step in &kernel.steps {
        let own = &params[from..from + step.params().len()];
        from += own.len();
        let (to, per) = (values.len(), types[values.len()].1);
        let seen = |&o: &usize| {
            let (bytes, layout) = &values[o];
            if types[o].1 == per || per == Per::Row {
                return (bytes.clone(), layout.clone());
            }
            let strides = [layout.strides(), &vec![0; kernel.axes][..]].concat();
            (bytes.clone(), Layout::new(&dims, &strides, layout.offset(), usize::MAX >> 1).unwrap())
        };
        let operands: Vec<(Vec<u8>, Layout)> = step.operands().iter().map(seen).collect();
        let part = match step {
            RowStep::Map { map, .. } => Kernel::Map(map.clone()),
            RowStep::Reduce { reduce, .. } => Kernel::Reduce(reduce.clone()),
        };
        let out = shape(per, &dims, kernel.axes);
        let found = run_to(device, &part, &operands, &[out], own).unwrap_or_else(|e| panic!("step {to}: {e:?}")).remove(0);
        values.push((found.bytes().to_vec(), Layout::dense(out).unwrap()));
    }
    let array = |&v: &usize| Array::new(types[v].0, values[v].1.dims(), values[v].0.clone()).unwrap();
    kernel.outputs.iter().map(array).collect()
}

#[track_caller]
fn same(found: &[Array], wanted: &[Array], what: &str) {
    for (n, (f, w)) in found.iter().zip(wanted).enumerate() {
        let (a, b) = (canonical(f), canonical(w));
        let size = w.dtype().bytes();
        if let Some(i) = a.chunks(size).zip(b.chunks(size)).position(|(x, y)| x != y) {
            panic!("{what}: element {i} of output {n} is {:?}, not {:?}", f.get(i), w.get(i));
        }
    }
    assert_eq!(found.len(), wanted.len());
}

const SHAPES: [(&[usize], usize); 17] = [
    (&[1], 1),
    (&[31], 1),
    (&[5, 32], 1),
    (&[3, 33], 1),
    (&[70, 3], 1),
    (&[9, 1, 511], 1),
    (&[3, 512], 1),
    (&[2, 3, 513], 1),
    (&[2, 2, 30, 40], 2),
    (&[3, 2, 2, 3, 2, 3, 2, 3, 2, 5], 5),
    (&[2049, 600], 1),
    (&[1, 4097], 1),
    (&[5, 9000], 1),
    (&[2, LONGEST], 1),
    (&[2, LONGEST + 1], 1),
    (&[0, 7], 1),
    (&[3, 0], 1),
];

#[test]
fn a_softmax_has_the_bits_of_its_parts() {
    let Some(device) = host::first() else { return };
    for (n, (dims, axes)) in SHAPES.into_iter().enumerate() {
        for lie in if dims.len() > 1 { &Lie::ALL[..] } else { &Lie::ALL[..1] } {
            if dims.len() > 6 && *lie == Lie::Broadcast {
                continue;
            }
            let inputs = [placed(DType::F32, dims, *lie, n as u64)];
            let kernel = softmax(DType::F32, axes);
            let wanted = by_steps(&device, &kernel, &inputs, &[]);
            let what = format!("{dims:?} over {axes}, {lie:?}");
            same(&at_once(&device, &kernel, &inputs, &[]).unwrap_or_else(|e| panic!("{what}: {e:?}")), &wanted, &what);
        }
    }
}

#[test]
fn values_of_elements_and_of_rows_come_in_and_go_out_in_every_dtype() {
    let Some(device) = host::first() else { return };
    let mut native = 0;
    for (k, d) in DType::all().enumerate().filter(|(_, d)| *d != DType::Bool && !d.is_complex()) {
        if device.supports(&Kernel::Rows(mixed(d, 1))).is_err() {
            continue;
        }
        native += 1;
        for (n, (dims, axes)) in SHAPES.into_iter().enumerate() {
            // Of the large shapes each dtype has its share.
            if dims.iter().product::<usize>() > 20_000 && (n + k) % 4 != 0 {
                continue;
            }
            let lie = |k: usize| if dims.len() > 1 { Lie::ALL[(n + k) % 5 % 4] } else { Lie::Dense };
            let kept = &dims[..dims.len() - axes];
            let row = if kept.len() > 1 { placed(d, kept, lie(2), 3) } else { placed_dense(d, kept) };
            let inputs = [placed(d, dims, lie(0), 1), placed(d, dims, lie(1), 2), row];
            let params = [3.0, 0.5].map(|v| ferrotensor_core::scalar::literal_bits(d, v));
            let kernel = mixed(d, axes);
            let wanted = by_steps(&device, &kernel, &inputs, &params);
            let what = format!("{d} {dims:?} over {axes}");
            let found = at_once(&device, &kernel, &inputs, &params).unwrap_or_else(|e| panic!("{what}: {e:?}"));
            same(&found, &wanted, &what);
            if d.is_integer() {
                let dense: Vec<Array> = inputs.iter().map(|(b, l)| Array::gather(b, l, d).unwrap()).collect();
                let shapes: Vec<&[usize]> = kernel.results().iter().map(|r| shape(r.1, dims, axes)).collect();
                same(&found, &reference::run(&Kernel::Rows(kernel), &dense, &shapes, &params).unwrap(), &what);
            }
        }
    }
    assert!(native >= 8, "{native} dtypes");
}

fn placed_dense(d: DType, dims: &[usize]) -> (Vec<u8>, Layout) {
    let layout = Layout::dense(dims).unwrap();
    (numbers(d, layout.len(), 3), layout)
}

/// Complex sums and products, logical ones, half floats: types that a lane holds in several words or in wider ones.
#[test]
fn every_dtype_has_its_rows() {
    let Some(device) = host::first() else { return };
    let mut native = 0;
    for d in DType::all() {
        let rules: &[Monoid] = match d {
            DType::Bool => &[Monoid::Any, Monoid::All],
            d if d.is_complex() => &[Monoid::Sum],
            _ => &[Monoid::Sum, Monoid::Prod, Monoid::Max, Monoid::Min],
        };
        let op = if d == DType::Bool { Op::Xor } else { Op::Sub };
        for &monoid in rules {
            for (dims, axes) in [(&[5usize, 33][..], 1), (&[3, 2, 40, 30], 2), (&[40, 700], 1)] {
                let less = program(d, 2, 0, |b, v| b.binary(op, v[0], v[1]));
                let steps = vec![reduce(axes, monoid, d, 0), map(less, &[0, 1]), reduce(axes, rules[0], d, 2)];
                let kernel = Rows { axes, inputs: vec![(d, Per::Element)], steps, outputs: vec![1, 2, 3] };
                if device.supports(&Kernel::Rows(kernel.clone())).is_err() {
                    continue;
                }
                native += 1;
                let layout = Layout::dense(dims).unwrap();
                let inputs = [(elements(d, layout.len(), 7), layout)];
                let wanted = by_steps(&device, &kernel, &inputs, &[]);
                same(&at_once(&device, &kernel, &inputs, &[]).unwrap(), &wanted, &format!("{monoid:?} of {d} {dims:?}"));
            }
        }
    }
    assert!(native >= 60, "{native}");
}

#[test]
fn steps_drawn_at_random_equal_the_reference() {
    let Some(device) = host::first() else { return };
    let mut next = bits(5);
    let mut below = |n: usize| (next() >> 20) as usize % n;
    for trial in 0..40 {
        let d = [DType::I32, DType::U8, DType::I16][below(3)];
        let dims = [[1, 3, 40][below(3)], [1, 2][below(2)], [1, 5, 33, 140, 1300][below(5)]];
        let axes = 1 + below(2);
        let inputs = vec![(d, Per::Element), (d, Per::Element), (d, Per::Row)];
        let mut rows = Rows { axes, inputs, steps: vec![], outputs: vec![] };
        for _ in 0..2 + below(6) {
            let types = rows.values();
            let elements: Vec<usize> = (0..types.len()).filter(|&v| types[v].1 == Per::Element).collect();
            let step = if below(3) == 0 {
                let monoid = [Monoid::Sum, Monoid::Prod, Monoid::Max, Monoid::Min][below(4)];
                reduce(axes, monoid, d, elements[below(elements.len())])
            } else {
                let op = [Op::Add, Op::Sub, Op::Mul, Op::Max, Op::Xor][below(5)];
                let operands = [below(types.len()), below(types.len())];
                map(program(d, 2, 0, |b, v| b.binary(op, v[0], v[1])), &operands)
            };
            rows.steps.push(step);
        }
        let last = rows.inputs.len() + rows.steps.len() - 1;
        rows.outputs = (rows.inputs.len()..=last).filter(|&v| v == last || below(3) == 0).collect();
        let kept = &dims[..3 - axes];
        let row = placed_dense(d, kept);
        let inputs = [placed(d, &dims, Lie::ALL[below(6)], 1), placed(d, &dims, Lie::ALL[below(6)], 2), row];
        let dense: Vec<Array> = inputs.iter().map(|(b, l)| Array::gather(b, l, d).unwrap()).collect();
        let shapes: Vec<&[usize]> = rows.results().iter().map(|r| shape(r.1, &dims, axes)).collect();
        let wanted = reference::run(&Kernel::Rows(rows.clone()), &dense, &shapes, &[]).unwrap();
        same(&at_once(&device, &rows, &inputs, &[]).unwrap(), &wanted, &format!("trial {trial}: {d} {dims:?} {rows:?}"));
    }
}

/// More rows than a dispatch may have groups, and operands beyond a descriptor.
#[test]
fn launches_beyond_a_devices_limits_are_cut_or_run_by_steps() {
    let Some(given) = host::can() else { return };
    let few = Can { max_groups: 3, ..given.clone() };
    let narrow = Can { max_range: 8 << 10, ..given };
    for (what, can) in [("three groups", few), ("8 KiB", narrow)] {
        let device = host::open(can);
        for (dims, lie) in [(&[300usize, 40][..], Lie::Dense), (&[300, 40], Lie::Turned), (&[7, 1500], Lie::Backwards)] {
            let inputs = [placed(DType::F32, dims, lie, 9)];
            let kernel = softmax(DType::F32, 1);
            let wanted = by_steps(&device, &kernel, &inputs, &[]);
            let found = at_once(&device, &kernel, &inputs, &[]).unwrap_or_else(|e| panic!("{what} {dims:?}: {e:?}"));
            same(&found, &wanted, &format!("{what} {dims:?} {lie:?}"));
        }
    }
}

#[test]
fn what_a_device_lacks_is_refused_in_words() {
    let Some(given) = host::can() else { return };
    let can = Can { float64: false, storage16: false, max_buffers: 5, ..given };
    let device = host::open(can);
    let reason = |kernel: Rows| device.supports(&Kernel::Rows(kernel)).unwrap_err();
    assert_eq!(reason(softmax(DType::F64, 1)), "no float64 to compute in");
    let less = program(DType::F16, 2, 0, |b, v| b.binary(Op::Sub, v[0], v[1]));
    let mut halves = softmax(DType::F16, 1);
    halves.steps[1] = map(less.clone(), &[0, 1]);
    halves.steps[3] = map(less, &[2, 3]);
    assert_eq!(reason(halves), "no 16-bit storage for float16");
    assert_eq!(reason(mixed(DType::F32, 1)), "more than 5 operands");
    let mut broken = softmax(DType::F32, 1);
    broken.outputs = vec![0];
    assert!(reason(broken).contains("stored once"));
}

/// The check itself: a sum in another order is noticed.
#[test]
#[should_panic(expected = "of output 0")]
fn other_bits_are_noticed() {
    let x: Vec<u8> = (0..1800).flat_map(|i| (i as f32 * 0.7).sin().to_le_bytes()).collect();
    let total = |f: f32| Array::from_slice(&[1], &[f]).unwrap();
    let values: Vec<f32> = x.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    let (there, back): (f32, f32) = (values.iter().sum(), values.iter().rev().sum());
    same(&[total(there)], &[total(back)], "a sum there and back");
}

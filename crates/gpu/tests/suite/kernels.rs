//! Kernels on a device against the reference, bit by bit: every instruction of every dtype over odd layouts, reductions over every
//! number of elements that changes their tree.

use super::emitter::instructions;
use super::launches::{compare, elements, layouts, run};
use crate::host::{self, Device};
use ferrotensor_core::DType;
use ferrotensor_core::backend::Backend;
use ferrotensor_core::kernel::tree::{LANES, ROWS};
use ferrotensor_core::kernel::{Combine, Kernel, Map, Monoid, Reduce};
use ferrotensor_core::layout::{Layout, positions};
use ferrotensor_core::scalar::{Builder, Instr, Op, Program, verify};
use ferrotensor_gpu::Can;

#[test]
fn every_instruction_of_every_dtype_gives_the_reference_bits() {
    let Some(device) = host::first() else { return };
    every_instruction(&device);
}

/// What the device leaves of float32 is done with integers: forced, so that a device that leaves nothing has the same bits by either way.
#[test]
fn float32_by_integers_gives_the_reference_bits() {
    let Some(given) = host::can() else { return };
    let can = Can { roots: false, quotients: false, subnormals: false, ..given };
    let device = host::open(can);
    let can = device.can().unwrap();
    assert!(!can.roots && !can.quotients && !can.subnormals);
    every_instruction(&device);
}

#[test]
fn the_software_device_is_found_to_compute_as_ieee_754_asks_for() {
    let Some(given) = host::can() else { return };
    let device = host::open(given);
    let can = device.can().unwrap();
    assert!(!can.software || (can.roots && can.quotients && can.subnormals), "{can:?}");
}

fn every_instruction(device: &Device) {
    let (mut native, mut refused) = (0, Vec::new());
    for d in DType::all() {
        for (n, (op, count, to)) in instructions(d).into_iter().enumerate() {
            let inputs = (0..count).map(|n| Instr { op: Op::Input(n as u16), dtype: d, args: Default::default() });
            let instr = Instr { op, dtype: to, args: (0..count).collect() };
            let program = Program {
                inputs: vec![d; count as usize],
                params: Vec::new(),
                instrs: inputs.chain([instr]).collect(),
                outputs: vec![count],
            };
            // Complex products are bounded, not promised.
            if verify(&program).is_err() || (d.is_complex() && matches!(op, Op::Mul | Op::Div)) {
                continue;
            }
            let kernel = Kernel::Map(Map { program });
            if let Err(reason) = device.supports(&kernel) {
                assert!(device.prepare(&kernel).is_err());
                refused.push(format!("{op:?} {d}: {reason}"));
                continue;
            }
            native += 1;
            let inputs: Vec<(Vec<u8>, Layout)> = (0..count)
                .map(|k| {
                    let (_, layout) = layouts(n + k as usize);
                    (elements(d, 300, (n * 7 + k as usize) as u64), layout)
                })
                .collect();
            compare(device, &kernel, &inputs, &[3, 5, 7], &[], &format!("{op:?} {d} -> {to}"));
        }
    }
    assert!(native > 400, "{native} native; refused: {refused:?}");
}

#[test]
fn parameters_and_positions_reach_the_program() {
    let Some(device) = host::first() else { return };
    for d in DType::all().filter(|&d| d != DType::C128) {
        let mut b = Builder::new();
        let (x, p, i) = (b.input(d), b.param(d), b.index(1, DType::I64));
        let place = b.cast(i, d);
        let sum = b.binary(Op::Add, x, p);
        let sum = b.binary(Op::Add, sum, place);
        let other = b.index(2, DType::I32);
        let kernel = Kernel::Map(Map { program: b.finish(&[sum, other]) });
        let (dims, layout) = layouts(2);
        let bits = if d == DType::Bool { 0 } else { ferrotensor_core::scalar::literal_bits(d, 3.0) };
        let inputs = [(elements(d, 300, 5), layout)];
        compare(&device, &kernel, &inputs, &dims, &[bits], d.name());
    }
}

#[test]
fn many_axes_and_no_elements_are_walked() {
    let Some(device) = host::first() else { return };
    let kernel = Kernel::Map(Map { program: Program::identity(DType::F32) });
    let dims = [2usize; 11];
    let order: Vec<usize> = (0..11).rev().collect();
    let turned = Layout::dense(&dims).unwrap().permute(&order);
    compare(&device, &kernel, &[(elements(DType::F32, 2048, 1), turned)], &dims, &[], "eleven axes");
    let empty = Layout::dense(&[3, 0, 2]).unwrap();
    compare(&device, &kernel, &[(vec![], empty)], &[3, 0, 2], &[], "nothing");
    let one = Layout::dense(&[]).unwrap();
    compare(&device, &kernel, &[(elements(DType::F32, 1, 1), one)], &[], &[], "a scalar");
}

fn reduction(combine: Combine, input: DType, acc: DType, axes: usize) -> Kernel {
    Kernel::Reduce(Reduce { axes, combine, input, acc, pre: None, post: None })
}

/// The sum that [`ferrotensor_core::kernel::tree`] describes, written down from its words.
fn tree(x: &[f32]) -> f32 {
    if x.is_empty() {
        return 0.0;
    }
    let lane = |l: usize| -> Option<f32> {
        let own: Vec<f32> = x.iter().copied().skip(l).step_by(LANES).collect();
        let mut partials: Vec<f32> = Vec::new();
        for (g, rows) in own.chunks(ROWS).enumerate() {
            partials.push(rows.iter().copied().reduce(|a, b| a + b)?);
            for _ in 0..g.trailing_ones() {
                let (newer, older) = (partials.pop()?, partials.pop()?);
                partials.push(older + newer);
            }
        }
        partials.into_iter().rev().reduce(|newer, older| older + newer)
    };
    let mut lanes: Vec<Option<f32>> = (0..LANES).map(lane).collect();
    for w in [16, 8, 4, 2, 1] {
        for l in 0..w {
            if let (Some(a), Some(b)) = (lanes[l], lanes[l + w]) {
                lanes[l] = Some(a + b);
            }
        }
    }
    lanes[0].unwrap()
}

#[test]
fn sums_follow_the_tree_for_every_number_of_elements() {
    let Some(device) = host::first() else { return };
    let kernel = reduction(Combine::Value(Monoid::Sum), DType::F32, DType::F32, 1);
    // Rows of nothing, more of them than the empty operand has bytes.
    let found = run(&device, &kernel, &[(vec![], Layout::dense(&[1000, 0]).unwrap())], &[1000], &[]).unwrap();
    assert!(found[0].bytes().iter().all(|&b| b == 0));
    for n in [0usize, 1, 2, 31, 32, 33, 63, 511, 512, 513, 1024, 1537, 4095, 8192, 8193, 10_000, 70_001, 300_007] {
        for rows in [1usize, 3] {
            let x: Vec<f32> = (0..rows * n).map(|i| ((i * 7919) % 1009) as f32 / 7.0 - 60.0).collect();
            let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
            let found = run(&device, &kernel, &[(bytes, Layout::dense(&[rows, n]).unwrap())], &[rows], &[]).unwrap();
            let want: Vec<u8> = (0..rows).flat_map(|r| tree(&x[r * n..(r + 1) * n]).to_le_bytes()).collect();
            assert_eq!(found[0].bytes(), want, "{rows} sums of {n}");
        }
    }
}

#[test]
fn every_rule_of_every_dtype_reduces_over_any_axes() {
    let Some(device) = host::first() else { return };
    let mut native = 0;
    for d in DType::all() {
        let rules = [
            Combine::Value(Monoid::Sum),
            Combine::Value(Monoid::Prod),
            Combine::Value(Monoid::Max),
            Combine::Value(Monoid::Min),
            Combine::Value(Monoid::All),
            Combine::Value(Monoid::Any),
            Combine::ArgMax,
            Combine::ArgMin,
        ];
        for (n, combine) in rules.into_iter().enumerate() {
            let ordered = !matches!(combine, Combine::Value(Monoid::Sum | Monoid::Prod));
            let logical = matches!(combine, Combine::Value(Monoid::All | Monoid::Any));
            // Sums and products of floats are bounded by the reference, not equal to it.
            let exact = d.is_integer() || d == DType::Bool;
            if (ordered && d.is_complex()) || (logical && d != DType::Bool) || (!ordered && !exact) {
                continue;
            }
            for axes in 0..=3 {
                let kernel = reduction(combine, d, d, axes);
                if device.supports(&kernel).is_err() {
                    continue;
                }
                native += 1;
                let (dims, layout) = layouts(n + axes);
                let inputs = [(elements(d, 300, (n + axes) as u64), layout)];
                compare(&device, &kernel, &inputs, &dims[..3 - axes], &[], &format!("{combine:?} {d} over {axes}"));
            }
        }
    }
    assert!(native > 200, "{native}");
}

#[test]
fn a_reduction_has_a_program_before_and_after_it() {
    let Some(device) = host::first() else { return };
    let mut b = Builder::new();
    let (x, p, i) = (b.input(DType::I16), b.param(DType::I32), b.index(2, DType::I32));
    let wide = b.cast(x, DType::I32);
    let sum = b.binary(Op::Add, wide, p);
    let sum = b.binary(Op::Mul, sum, i);
    let pre = b.finish(&[sum]);
    let mut b = Builder::new();
    let (x, p, i) = (b.input(DType::I32), b.param(DType::I32), b.index(0, DType::I32));
    let sum = b.binary(Op::Sub, x, p);
    let sum = b.binary(Op::Add, sum, i);
    let out = b.cast(sum, DType::F32);
    let post = b.finish(&[out]);
    let kernel = Kernel::Reduce(Reduce {
        axes: 2,
        combine: Combine::Value(Monoid::Sum),
        input: DType::I16,
        acc: DType::I32,
        pre: Some(pre),
        post: Some(post),
    });
    for n in 0..4 {
        let (dims, layout) = layouts(n);
        compare(&device, &kernel, &[(elements(DType::I16, 300, 3), layout)], &dims[..1], &[11, 5], "pre and post");
    }
}

/// Without what software devices happen to have, less is native, and nothing is wrong.
#[test]
fn poor_devices_refuse_in_words_what_they_lack() {
    let Some(given) = host::can() else { return };
    let can = Can { float64: false, int64: false, storage8: false, storage16: false, ..given };
    let device = host::open(can);
    let copy = |d| Kernel::Map(Map { program: Program::identity(d) });
    for (d, reason) in [
        (DType::F64, "no float64 to compute in"),
        (DType::I64, "no int64 to compute in"),
        (DType::U8, "no 8-bit storage for uint8"),
        (DType::F16, "no 16-bit storage for float16"),
    ] {
        assert_eq!(device.supports(&copy(d)).unwrap_err(), reason);
    }
    let layout = Layout::dense(&[100]).unwrap();
    compare(&device, &copy(DType::F32), &[(elements(DType::F32, 100, 1), layout)], &[100], &[], "a copy");
}

/// A map of operands larger than one descriptor shows is cut into windows.
#[test]
fn operands_beyond_a_descriptors_range_are_windowed() {
    let Some(given) = host::can() else { return };
    let can = Can { max_range: 4096, ..given };
    let device = host::open(can);
    let mut b = Builder::new();
    let (x, y, i) = (b.input(DType::F32), b.input(DType::F32), b.index(0, DType::I32));
    let i = b.cast(i, DType::F32);
    let sum = b.binary(Op::Add, x, y);
    let sum = b.binary(Op::Mul, sum, i);
    let kernel = Kernel::Map(Map { program: b.finish(&[sum]) });
    let turned = Layout::dense(&[50, 100]).unwrap().permute(&[1, 0]);
    let dense = Layout::dense(&[100, 50]).unwrap();
    let mut bytes = Vec::new();
    (0..5000).for_each(|i| bytes.extend((i as f32).to_le_bytes()));
    compare(&device, &kernel, &[(bytes.clone(), turned), (bytes, dense)], &[100, 50], &[], "windows");
}

/// So are the elements of one result.
#[test]
fn reductions_of_more_than_a_descriptor_shows_are_windowed() {
    let Some(given) = host::can() else { return };
    let can = Can { max_range: 64 << 10, ..given };
    let device = host::open(can);
    let n = 100_003;
    let dense = Layout::dense(&[2, n]).unwrap();
    let every_third = Layout::new(&[2, n], &[1, 3], 5, 3 * n + 10).unwrap();
    let layouts = [("dense", dense.clone()), ("backwards", dense.flip(1)), ("every third", every_third)];
    for (what, layout) in layouts {
        for (combine, d) in [
            (Combine::Value(Monoid::Sum), DType::I32),
            (Combine::Value(Monoid::Min), DType::I8),
            (Combine::Value(Monoid::Max), DType::F64),
            (Combine::ArgMax, DType::F32),
            (Combine::ArgMin, DType::U16),
        ] {
            let kernel = reduction(combine, d, d, 1);
            let inputs = [(elements(d, 3 * n + 10, 5), layout.clone())];
            compare(&device, &kernel, &inputs, &[2], &[], &format!("{combine:?} of {d}, {what}"));
        }
        let x: Vec<f32> = (0..3 * n + 10).map(|i| ((i * 7919) % 1009) as f32 / 7.0 - 60.0).collect();
        let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
        let kernel = reduction(Combine::Value(Monoid::Sum), DType::F32, DType::F32, 1);
        let found = run(&device, &kernel, &[(bytes, layout.clone())], &[2], &[]).unwrap();
        let own: Vec<f32> = positions(&layout).map(|at| x[at]).collect();
        let want: Vec<u8> = own.chunks(n).flat_map(|row| tree(row).to_le_bytes()).collect();
        assert_eq!(found[0].bytes(), want, "{what}");
    }
    // Axes of elements, and ways through memory that are no single loop.
    let mut b = Builder::new();
    let (x, i) = (b.input(DType::I32), b.index(1, DType::I32));
    let product = b.binary(Op::Mul, x, i);
    let kernel = Kernel::Reduce(Reduce {
        axes: 1,
        combine: Combine::Value(Monoid::Sum),
        input: DType::I32,
        acc: DType::I32,
        pre: Some(b.finish(&[product])),
        post: None,
    });
    let inputs = [(elements(DType::I32, 2 * n, 6), dense)];
    compare(&device, &kernel, &inputs, &[2], &[], "elements times their numbers");
    let turned = Layout::dense(&[400, 300]).unwrap().permute(&[1, 0]);
    let kernel = reduction(Combine::Value(Monoid::Sum), DType::I32, DType::I32, 2);
    compare(&device, &kernel, &[(elements(DType::I32, 120_000, 6), turned.clone())], &[], &[], "rows of columns");
    let mut b = Builder::new();
    let (x, p, i) = (b.input(DType::I16), b.param(DType::I32), b.index(0, DType::I32));
    let x = b.cast(x, DType::I32);
    let sum = b.binary(Op::Add, x, p);
    let product = b.binary(Op::Mul, sum, i);
    let pre = Some(b.finish(&[product]));
    let mut b = Builder::new();
    let (x, p) = (b.input(DType::I32), b.param(DType::I32));
    let sum = b.binary(Op::Sub, x, p);
    let post = Some(b.finish(&[sum]));
    let (combine, input, acc) = (Combine::Value(Monoid::Sum), DType::I16, DType::I32);
    let kernel = Kernel::Reduce(Reduce { axes: 2, combine, input, acc, pre, post });
    compare(&device, &kernel, &[(elements(input, 120_000, 6), turned)], &[], &[7, 9], "with programs");
}

/// Mesa's software device leaves the loops of a thread after 65,535 rounds in all: those of remainders count too.
#[test]
fn remainders_inside_of_a_reduction_go_to_their_end() {
    let Some(device) = host::first() else { return };
    let mut b = Builder::new();
    let x = b.input(DType::F64);
    let step = b.lit(DType::F64, 3e-300);
    let rest = b.binary(Op::Rem, x, step);
    let (combine, input, acc) = (Combine::Value(Monoid::Max), DType::F64, DType::F64);
    let kernel = Kernel::Reduce(Reduce { axes: 1, combine, input, acc, pre: Some(b.finish(&[rest])), post: None });
    let bytes: Vec<u8> = (0..4300).flat_map(|n| (1e300 + n as f64 * 1e290).to_le_bytes()).collect();
    compare(&device, &kernel, &[(bytes, Layout::dense(&[1, 4300]).unwrap())], &[1], &[], "remainders");
}

/// Integers widened before they are divided, and compared with a literal.
#[test]
fn widened_integers_divide_and_compare() {
    let Some(device) = host::first() else { return };
    for from in [DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32] {
        for op in [Op::Div, Op::Rem, Op::Gcd, Op::Mul] {
            let mut b = Builder::new();
            let (x, y) = (b.input(from), b.input(DType::I64));
            let wide = b.cast(x, DType::I64);
            let result = b.binary(op, wide, y);
            let other = b.binary(op, y, wide);
            let five = b.size(5);
            let (less, more) = (b.compare(Op::Lt, wide, five), b.compare(Op::Le, five, wide));
            let kernel = Kernel::Map(Map { program: b.finish(&[result, other, less, more]) });
            let (dims, layout) = layouts(0);
            let inputs = [(elements(from, 300, 9), layout.clone()), (elements(DType::I64, 300, 4), layout)];
            compare(&device, &kernel, &inputs, &dims, &[], &format!("{op:?} of {from}"));
        }
    }
}

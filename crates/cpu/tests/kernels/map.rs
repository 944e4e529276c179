//! `Map`: random programs over random layouts.

use crate::harness::{Rng, STYLES, Style, assert_same, check, expected, run};
use ferrotensor_core::DType;
use ferrotensor_core::kernel::{Kernel, Map};
use ferrotensor_core::reference::Array;
use ferrotensor_core::scalar::{Builder, Instr, MathFn, Op, Program, Value, verify};

pub fn map(program: Program) -> Kernel {
    Kernel::Map(Map { program })
}

#[rustfmt::skip]
const OPS: [Op; 32] = [
    Op::Neg, Op::Abs, Op::Sqrt, Op::Floor, Op::Ceil, Op::Round, Op::Trunc, Op::Not, Op::Add, Op::Sub, Op::Mul, Op::Div,
    Op::Rem, Op::Gcd, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor, Op::Shl, Op::Shr, Op::MulHi, Op::Eq, Op::Ne, Op::Lt, Op::Le,
    Op::Select, Op::Fma, Op::Cast, Op::Bitcast, Op::Imag, Op::Complex,
];

fn arity(op: Op) -> usize {
    match op {
        Op::Select | Op::Fma => 3,
        Op::Neg | Op::Abs | Op::Sqrt | Op::Floor | Op::Ceil | Op::Round | Op::Trunc | Op::Not => 1,
        Op::Cast | Op::Bitcast | Op::Imag => 1,
        Op::Call(f) => f.arity(),
        _ => 2,
    }
}

/// Whether the reference defines the instruction to the bit.
fn is_exact(op: Op, program: &Program) -> bool {
    let complex = program.instrs.last().is_some_and(|i| i.dtype.is_complex());
    !(matches!(op, Op::Call(_)) || complex && matches!(op, Op::Mul | Op::Div))
}

/// A valid program of about `length` instructions over the given inputs and one parameter.
fn random_program(rng: &mut Rng, dtypes: &[DType], length: usize, axes: usize, exact: bool) -> Program {
    let start = Program::default();
    random_rest(start, rng, dtypes, length, axes, exact)
}

/// The same after the instructions of `p`.
fn random_rest(mut p: Program, rng: &mut Rng, dtypes: &[DType], length: usize, axes: usize, exact: bool) -> Program {
    for (n, &d) in dtypes.iter().enumerate() {
        p.inputs.push(d);
        p.instrs.push(Instr { op: Op::Input(n as u16), dtype: d, args: Default::default() });
    }
    p.params.push(dtypes[0]);
    p.instrs.push(Instr { op: Op::Param(0), dtype: dtypes[0], args: Default::default() });
    p.instrs.push(Instr { op: Op::Const(rng.next()), dtype: DType::I32, args: Default::default() });
    if axes > 0 {
        let (axis, dtype) = (rng.below(axes) as u8, rng.pick(&[DType::I32, DType::I64]));
        p.instrs.push(Instr { op: Op::Index(axis), dtype, args: Default::default() });
    }
    let all: Vec<DType> = DType::all().collect();
    let target = p.instrs.len() + length;
    while p.instrs.len() < target {
        let op = if !exact && rng.below(6) == 0 { Op::Call(rng.pick(MathFn::ALL)) } else { rng.pick(&OPS) };
        // The first operand is any value; the others are sought among those of the dtypes the operation wants.
        let first = rng.below(p.instrs.len()) as Value;
        let d = p.dtype(first);
        let mut of = |d: DType, p: &Program| {
            let found: Vec<Value> = (0..p.instrs.len() as Value).filter(|&v| p.dtype(v) == d).collect();
            (!found.is_empty()).then(|| rng.pick(&found))
        };
        let rest: Vec<Option<Value>> = (1..arity(op)).map(|_| of(d, &p)).collect();
        let mut args: Vec<Value> = std::iter::once(first).chain(rest.into_iter().flatten()).collect();
        if op == Op::Select {
            let Some(c) = of(DType::Bool, &p) else { continue };
            args = vec![c, first, args[1]];
        }
        let dtype = match op {
            Op::Eq | Op::Ne | Op::Lt | Op::Le => DType::Bool,
            Op::Cast | Op::Bitcast => rng.pick(&all),
            Op::Imag => d.info().real,
            Op::Complex => all.iter().copied().find(|c| c.is_complex() && c.info().real == d).unwrap_or(d),
            _ => d,
        };
        p.instrs.push(Instr { op, dtype, args: args.into_iter().collect() });
        if verify(&p).is_err() || (exact && !is_exact(op, &p)) {
            p.instrs.pop();
        }
    }
    p.outputs = (0..1 + rng.below(2)).map(|_| (p.instrs.len() - 1 - rng.below(4)) as Value).collect();
    p
}

/// Shapes around the tile and the row length from which rows are walked one at a time.
const SHAPES: [&[usize]; 9] = [&[], &[1], &[4], &[0, 3], &[3, 5, 7], &[2, 1, 300], &[513], &[37, 61], &[2, 3, 2, 2, 190]];

fn random_cases(seed: u64, cases: usize, exact: bool) {
    let mut rng = Rng(seed);
    let dtypes: Vec<DType> = DType::all().collect();
    for case in 0..cases {
        let dims = SHAPES[case % SHAPES.len()];
        let inputs: Vec<DType> = (0..1 + rng.below(3)).map(|_| rng.pick(&dtypes)).collect();
        let length = 1 + rng.below(14);
        let program = random_program(&mut rng, &inputs, length, dims.len(), exact);
        let arrays: Vec<Array> = inputs.iter().map(|&d| rng.array(d, dims)).collect();
        let operands: Vec<(&Array, Style)> = arrays.iter().map(|a| (a, rng.pick(&STYLES))).collect();
        let outputs: Vec<(&[usize], Style)> = program.outputs.iter().map(|_| (dims, rng.pick(&STYLES[1..]))).collect();
        let kernel = map(program);
        let params = [rng.next()];
        if exact {
            check(&kernel, &operands, &outputs, &params);
        } else {
            run(&kernel, &operands, &outputs, &params);
        }
    }
}

#[test]
fn random_programs_equal_the_reference_on_every_tier() {
    random_cases(1, 600, true);
}

#[test]
fn random_programs_with_functions_are_equal_on_every_tier() {
    random_cases(2, 400, false);
}

#[test]
fn operands_that_repeat_within_short_rows_equal_the_reference() {
    let mut rng = Rng(9);
    let dtypes: Vec<DType> = DType::all().collect();
    // Around a tile and a long row of several short loops; runs of 1 to 17 equal elements; cycles of up to 300.
    let shapes: [&[usize]; 8] =
        [&[700, 3], &[40, 30, 5], &[9, 130, 2], &[6, 20, 4, 3], &[50, 17], &[3, 7, 300], &[2, 31, 9, 7], &[2200, 4]];
    for case in 0..400 {
        let dims = shapes[case % shapes.len()];
        let inputs: Vec<DType> = (0..1 + rng.below(3)).map(|_| rng.pick(&dtypes)).collect();
        let length = 1 + rng.below(6);
        let program = random_program(&mut rng, &inputs, length, dims.len(), true);
        let axes: Vec<u8> = inputs.iter().map(|_| rng.below(1 << dims.len()) as u8).collect();
        let arrays: Vec<Array> = inputs.iter().zip(&axes).map(|(&d, &axes)| rng.equal(d, dims, axes)).collect();
        let operands: Vec<(&Array, Style)> = arrays.iter().zip(axes).map(|(a, axes)| (a, Style::Equal(axes))).collect();
        let outputs: Vec<(&[usize], Style)> =
            program.outputs.iter().map(|_| (dims, rng.pick(&[Style::Dense, Style::Dense, Style::Padded]))).collect();
        check(&map(program), &operands, &outputs, &[rng.next()]);
    }
}

/// Coordinates divided by 2, 4 and 8, along one axis, and their low bits.
fn group_numbers(rng: &mut Rng) -> Program {
    let mut p = Program::default();
    let dtype = rng.pick(&[DType::I32, DType::I64]);
    let mut push = |op, dtype, args: &[Value]| {
        p.instrs.push(Instr { op, dtype, args: args.iter().copied().collect() });
        p.instrs.len() as Value - 1
    };
    let i = push(Op::Index(0), dtype, &[]);
    push(Op::Cast, rng.pick(&[DType::I32, DType::U32]), &[i]);
    for n in 1..4 {
        let by = push(Op::Const(n), dtype, &[]);
        push(Op::Shr, dtype, &[i, by]);
    }
    p
}

#[test]
fn values_that_neighbours_share_equal_the_reference() {
    let mut rng = Rng(7);
    let dtypes: Vec<DType> = DType::all().collect();
    for case in 0..500 {
        // Around a tile of 512 to 2048 elements and a group of 8; the last is of two axes, where nobody shares.
        let dims = [&[2049][..], &[4099], &[6150], &[5001], &[3, 1500]][case % 5];
        let inputs: Vec<DType> = (0..1 + rng.below(3)).map(|_| rng.pick(&dtypes)).collect();
        let styles: Vec<Style> = inputs.iter().map(|_| rng.pick(&[Style::Single, Style::Single, Style::Dense])).collect();
        let start = group_numbers(&mut rng);
        let length = 4 + rng.below(20);
        let program = random_rest(start, &mut rng, &inputs, length, 0, true);
        let period = |style| if style == Style::Single { 1 } else { usize::MAX };
        let arrays: Vec<Array> = inputs.iter().zip(&styles).map(|(&d, &s)| rng.repeated(d, dims, period(s))).collect();
        let operands: Vec<(&Array, Style)> = arrays.iter().zip(styles).collect();
        let outputs: Vec<(&[usize], Style)> =
            program.outputs.iter().map(|_| (dims, rng.pick(&[Style::Dense, Style::Dense, Style::Reversed]))).collect();
        check(&map(program), &operands, &outputs, &[rng.next()]);
    }
}

#[test]
fn every_cast_equals_the_reference() {
    let mut rng = Rng(3);
    for from in DType::all() {
        let array = rng.array(from, &[1500]);
        for to in DType::all() {
            let mut b = Builder::new();
            let x = b.input(from);
            let y = b.cast(x, to);
            check(&map(b.finish(&[y])), &[(&array, Style::Offset)], &[(&[1500], Style::Offset)], &[]);
        }
    }
}

#[test]
fn every_binary_instruction_of_every_dtype_equals_the_reference() {
    let mut rng = Rng(4);
    for d in DType::all() {
        let (x, y, z) = (rng.array(d, &[700]), rng.array(d, &[700]), rng.array(d, &[700]));
        for op in OPS.iter().copied().filter(|&op| !matches!(op, Op::Select | Op::Bitcast | Op::Cast)) {
            let mut p = Program { inputs: vec![d; arity(op)], ..Default::default() };
            for n in 0..arity(op) as u16 {
                p.instrs.push(Instr { op: Op::Input(n), dtype: d, args: Default::default() });
            }
            let dtype = if matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le) { DType::Bool } else { d };
            p.instrs.push(Instr { op, dtype, args: (0..arity(op) as Value).collect() });
            p.outputs = vec![arity(op) as Value];
            if verify(&p).is_err() {
                continue;
            }
            let inputs = [(&x, Style::Offset), (&y, Style::Reversed), (&z, Style::Dense)];
            let exact = is_exact(op, &p);
            let (kernel, outputs) = (map(p), [(&[700usize][..], Style::Offset)]);
            if exact {
                check(&kernel, &inputs[..arity(op)], &outputs, &[])
            } else {
                drop(run(&kernel, &inputs[..arity(op)], &outputs, &[]))
            }
        }
    }
}

#[test]
fn complex_products_and_quotients_are_those_of_the_definition() {
    let mut b = Builder::new();
    let (x, y) = (b.input(DType::C64), b.input(DType::C64));
    let (p, q) = (b.binary(Op::Mul, x, y), b.binary(Op::Div, x, y));
    let kernel = map(b.finish(&[p, q]));
    let c = |v: &[[f32; 2]]| Array::new(DType::C64, &[v.len()], bytemuck::cast_slice(v).to_vec()).unwrap();
    let (x, y) = (c(&[[1.0, 2.0], [5.0, -1.0], [1.0, 1.0]]), c(&[[3.0, -4.0], [2.0, 0.0], [1e30, 1e30]]));
    let dims: &[usize] = &[3];
    let out =
        run(&kernel, &[(&x, Style::Dense), (&y, Style::Stepped)], &[(dims, Style::Dense), (dims, Style::Stepped)], &[]);
    assert_same(&c(&[[11.0, 2.0], [10.0, -2.0], [0.0, 2e30]]), &out[0], "product");
    assert_same(&c(&[[-0.2, 0.4], [2.5, -0.5], [1e-30, 0.0]]), &out[1], "quotient");
}

#[test]
fn large_maps_over_broadcast_and_transposed_operands_use_threads() {
    let mut rng = Rng(5);
    let dims: &[usize] = &[300, 900];
    let mut b = Builder::new();
    let (x, y, z) = (b.input(DType::F32), b.input(DType::F32), b.input(DType::F32));
    let f = b.fma(x, y, z);
    let e = b.call(MathFn::Exp, &[f]);
    let g = b.binary(Op::Div, e, z);
    let kernel = map(b.finish(&[g, f]));
    let row = rng.array(DType::F32, &[1, 900]);
    let repeated = Array::new(DType::F32, dims, row.bytes().repeat(300)).unwrap();
    let (x, y) = (rng.array(DType::F32, dims), rng.array(DType::F32, dims));
    let inputs = [(&x, Style::Transposed), (&repeated, Style::Broadcast), (&y, Style::Padded)];
    let outputs = [(dims, Style::Padded), (dims, Style::Transposed)];
    let strided = run(&kernel, &inputs, &outputs, &[]);
    let dense = run(&kernel, &inputs.map(|i| (i.0, Style::Dense)), &outputs.map(|o| (o.0, Style::Dense)), &[]);
    for (a, b) in dense.iter().zip(&strided) {
        assert_same(a, b, "layouts change no bit");
    }
    let want = expected(&kernel, &inputs.map(|i| i.0), &[dims, dims], &[]);
    assert_same(&want[1], &dense[1], "fma");
}

#[test]
fn an_identity_and_a_doubled_output_are_copied() {
    let mut rng = Rng(6);
    for d in DType::all() {
        let mut b = Builder::new();
        let x = b.input(d);
        let k = b.bits(d, 1);
        let kernel = map(b.finish(&[x, k, x]));
        let array = rng.array(d, &[3, 300]);
        let dims: &[usize] = &[3, 300];
        check(
            &kernel,
            &[(&array, Style::Transposed)],
            &[(dims, Style::Padded), (dims, Style::Offset), (dims, Style::Reversed)],
            &[],
        );
    }
}

#[test]
fn large_turned_copies_and_casts_equal_the_reference() {
    let mut rng = Rng(7);
    let dims: &[usize] = &[20, 45, 40];
    for d in DType::all() {
        let array = rng.array(d, dims);
        for to in [d, DType::F32] {
            let mut b = Builder::new();
            let x = b.input(d);
            let y = b.cast(x, to);
            check(&map(b.finish(&[y])), &[(&array, Style::Transposed)], &[(dims, rng.pick(&STYLES[1..]))], &[]);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "nothing goes past the caches there")]
fn results_that_go_past_the_caches_are_complete() {
    let mut rng = Rng(8);
    // 17 MB on either side; a part of a cache line at the end of each column.
    let dims: &[usize] = &[1100, 2000];
    let array = rng.repeated(DType::F64, dims, 1000);
    let negated = array.bytes().chunks(8).flat_map(|x| [&x[..7], &[x[7] ^ 0x80]].concat()).collect();
    let negated = Array::new(DType::F64, dims, negated).unwrap();
    for (style, to) in [(Style::Dense, Style::Dense), (Style::Padded, Style::Padded), (Style::Transposed, Style::Dense)] {
        let program = |negate: bool| {
            let mut b = Builder::new();
            let x = b.input(DType::F64);
            let y = if negate { b.unary(Op::Neg, x) } else { x };
            map(b.finish(&[y]))
        };
        for (negate, want) in [(true, &negated), (false, &array)] {
            let got = run(&program(negate), &[(&array, style)], &[(dims, to)], &[]);
            assert_same(want, &got[0], format_args!("{style:?} {to:?} {negate}"));
        }
    }
}

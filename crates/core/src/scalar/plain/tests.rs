//! Every instruction on every dtype, in plain form and as written: the reference gives both the same bits.

use super::*;
use crate::kernel::{Kernel, Map};
use crate::reference::{self, Array, Scalar};
use crate::scalar::{MathFn, verify};

/// Elements of a dtype, as bytes: numbers near every edge of its format, and bits at random.
fn elements(dtype: DType, seed: u64, count: usize) -> Vec<u8> {
    const EDGES: [f64; 24] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        3.0,
        -7.0,
        8.0,
        0.5,
        -2.5,
        100.0,
        127.0,
        128.0,
        255.0,
        256.0,
        -128.0,
        32768.0,
        65519.0,
        65520.0,
        -65536.0,
        3e9,
        1e-5,
        6e-8,
        f64::INFINITY,
    ];
    let mut state = seed | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..count)
        .flat_map(|i| {
            let edge = |n: u64| EDGES[n as usize % EDGES.len()];
            let mut bytes = if i % 3 == 0 {
                let (re, im) = (edge(next() >> 7).into(), edge(next() >> 7).into());
                let number = if dtype.is_complex() { Scalar::Complex(re, im) } else { Scalar::Float(re) };
                number.encode(dtype)
            } else {
                (next() as u128 | (next() as u128) << 64).to_le_bytes()
            };
            if dtype == DType::Bool {
                bytes[0] &= 1;
            }
            bytes.into_iter().take(dtype.bytes())
        })
        .collect()
}

/// Bytes in which every NaN is the same one.
fn canonical(array: &Array) -> Vec<u8> {
    let (dtype, size) = (array.dtype(), array.dtype().bytes());
    let parts = if dtype.is_complex() { 2 } else { 1 };
    let real = dtype.info().real;
    array
        .bytes()
        .chunks_exact(size / parts)
        .flat_map(|part| if Scalar::decode(real, part).is_nan() { vec![0xff; size / parts] } else { part.to_vec() })
        .collect()
}

/// Runs a program of one instruction, as it is and in plain form.
fn agree(op: Op, d: DType, args: &[DType]) {
    agree_on(op, d, args, Arithmetic::IEEE);
    agree_on(op, d, args, Arithmetic { roots: false, quotients: false, subnormals: false, ..Arithmetic::IEEE });
}

/// On a device with this arithmetic.
fn agree_on(op: Op, d: DType, args: &[DType], arithmetic: Arithmetic) {
    const COUNT: usize = 600;
    let mut b = Builder::new();
    let values: Args = args.iter().map(|&dtype| b.input(dtype)).collect();
    let result = b.raw(Instr { op, dtype: d, args: values });
    let written = b.finish(&[result]);
    let plain = plain(&written, arithmetic);
    assert_eq!(verify(&plain), Ok(()), "{op:?} {d} {args:?}\n{plain}");
    only_plain(&plain);
    let seed = 0x9e37_79b9_7f4a_7c15 ^ (d as u64) << 8;
    let inputs: Vec<Array> = args
        .iter()
        .enumerate()
        .map(|(n, &dtype)| Array::new(dtype, &[COUNT], elements(dtype, seed + 77 * n as u64, COUNT)).unwrap())
        .collect();
    let run = |program: &Program| {
        let kernel = Kernel::Map(Map { program: program.clone() });
        reference::run(&kernel, &inputs, &[&[COUNT]], &[]).unwrap().remove(0)
    };
    let (want, found) = (run(&written), run(&plain));
    let (want, found) = (canonical(&want), canonical(&found));
    for (i, (w, f)) in want.chunks_exact(d.bytes()).zip(found.chunks_exact(d.bytes())).enumerate() {
        let of = |array: &Array| array.bytes()[i * array.dtype().bytes()..][..array.dtype().bytes()].to_vec();
        assert_eq!(w, f, "{op:?} {d} of {:x?}\n{plain}", inputs.iter().map(of).collect::<Vec<_>>());
    }
}

/// What an emitter has to know, and nothing else.
fn only_plain(program: &Program) {
    for instr in &program.instrs {
        let plain = wide(instr.dtype) == instr.dtype && !instr.dtype.is_complex();
        let border = matches!(instr.op, Op::Input(_) | Op::Param(_) | Op::Cast | Op::Bitcast | Op::Complex);
        assert!(plain || border, "{instr:?}\n{program}");
        assert!(!matches!(instr.op, Op::Call(_)), "{program}");
    }
}

fn dtypes(of: impl Fn(DType) -> bool) -> Vec<DType> {
    DType::all().filter(|&d| of(d)).collect()
}

#[test]
fn every_instruction_keeps_its_meaning() {
    let one = [Op::Neg, Op::Abs, Op::Sqrt, Op::Floor, Op::Ceil, Op::Round, Op::Trunc, Op::Not];
    // Complex products and quotients are measured against the reference by their bounds, not by bits: see `complex`.
    let two = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Div,
        Op::Rem,
        Op::Gcd,
        Op::Min,
        Op::Max,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Shl,
        Op::Shr,
        Op::MulHi,
    ];
    let mut tried = 0;
    for d in DType::all() {
        for (op, count) in one.iter().map(|&op| (op, 1)).chain(two.iter().map(|&op| (op, 2))).chain([(Op::Fma, 3)]) {
            let inputs = (0..count).map(|n| Instr { op: Op::Input(n as u16), dtype: d, args: Args::new() });
            let instr = Instr { op, dtype: d, args: (0..count as Value).collect() };
            let program = Program {
                inputs: vec![d; count],
                params: Vec::new(),
                instrs: inputs.chain([instr]).collect(),
                outputs: vec![count as Value],
            };
            if verify(&program).is_err() || (d.is_complex() && matches!(op, Op::Mul | Op::Div)) {
                continue;
            }
            tried += 1;
            agree(op, d, &vec![d; count]);
            if op == Op::Fma && d != DType::F64 {
                agree_on(op, d, &vec![d; count], Arithmetic { fused: false, ..Arithmetic::IEEE });
            }
        }
        agree(Op::Select, d, &[DType::Bool, d, d]);
        for op in [Op::Eq, Op::Ne] {
            agree(op, DType::Bool, &[d, d]);
        }
        if !d.is_complex() {
            agree(Op::Lt, DType::Bool, &[d, d]);
            agree(Op::Le, DType::Bool, &[d, d]);
        }
    }
    assert!(tried > 150, "{tried}");
}

#[test]
fn every_conversion_keeps_its_meaning() {
    for from in DType::all() {
        for to in DType::all() {
            if from != to {
                agree(Op::Cast, to, &[from]);
            }
            if from != to && from.bytes() == to.bytes() {
                agree(Op::Bitcast, to, &[from]);
            }
        }
        if from.is_complex() {
            agree(Op::Imag, from.info().real, &[from]);
            agree(Op::Complex, from, &[from.info().real; 2]);
        }
    }
}

#[test]
fn constants_and_parameters_of_every_dtype_keep_their_value() {
    for d in dtypes(|d| d != DType::C128) {
        for bits in [0u64, 1, 0x80, 0xff, 0x3c00, 0x8001, 0x7f80, 0xc000_0000, 0x3ff0_0000_0000_0001, 0xbf80_0000_4000_0000]
        {
            let bits = if d == DType::Bool { bits & 1 } else { bits };
            let mut b = Builder::new();
            let (x, p, c) = (b.input(d), b.param(d), b.bits(d, bits));
            let (a, s) = (b.binary(Op::Add, x, p), b.binary(Op::Add, x, c));
            let written = b.finish(&[a, s, p, c]);
            let zero = Array::new(d, &[1], vec![0; d.bytes()]).unwrap();
            let run = |program: &Program| {
                let kernel = Kernel::Map(Map { program: program.clone() });
                let dims: [&[usize]; 4] = [&[1]; 4];
                reference::run(&kernel, std::slice::from_ref(&zero), &dims, &[bits]).unwrap()
            };
            let (want, found) = (run(&written), run(&plain(&written, Arithmetic::IEEE)));
            for (w, f) in want.iter().zip(&found) {
                assert_eq!(canonical(w), canonical(f), "{d} {bits:x}");
            }
        }
    }
}

/// A copy hands on bits as they are, those of NaN too.
#[test]
fn copies_and_selections_keep_every_bit_of_half_floats() {
    for d in [DType::F16, DType::BF16] {
        let mut b = Builder::new();
        let (c, x, y) = (b.input(DType::Bool), b.input(d), b.input(d));
        let chosen = b.select(c, x, y);
        let program = plain(&b.finish(&[x, chosen]), Arithmetic::IEEE);
        let moves = |op| matches!(op, Op::Input(_) | Op::Cast | Op::Bitcast | Op::Select);
        assert!(program.instrs.iter().all(|i| moves(i.op)), "{program}");
    }
}

#[test]
fn functions_are_expanded_and_rounded_once() {
    for d in dtypes(|d| d.is_float()) {
        let mut b = Builder::new();
        let x = b.input(d);
        let y = b.call(MathFn::Exp, &[x]);
        let program = plain(&b.finish(&[y]), Arithmetic::IEEE);
        only_plain(&program);
        assert_eq!(verify(&program), Ok(()));
    }
}

/// `(ac - bd) + (ad + bc)i` as float32 computes it, and quotients within a few roundings of the reference's.
#[test]
fn complex_products_are_the_plain_formula_and_quotients_are_close() {
    let (x, y) = (elements(DType::C64, 5, 300), elements(DType::C64, 6, 300));
    for op in [Op::Mul, Op::Div] {
        let mut b = Builder::new();
        let (u, v) = (b.input(DType::C64), b.input(DType::C64));
        let result = b.binary(op, u, v);
        let program = plain(&b.finish(&[result]), Arithmetic::IEEE);
        let inputs = [&x, &y].map(|bytes| Array::new(DType::C64, &[300], bytes.clone()).unwrap());
        let out = reference::run(&Kernel::Map(Map { program }), &inputs, &[&[300]], &[]).unwrap().remove(0);
        let floats = |bytes: &[u8]| bytemuck::pod_collect_to_vec::<u8, f32>(bytes);
        let (x, y, out) = (floats(&x), floats(&y), floats(out.bytes()));
        for ((x, y), found) in x.chunks(2).zip(y.chunks(2)).zip(out.chunks(2)) {
            let pairs = ((x[0], x[1]), (y[0], y[1]));
            let want = if op == Op::Mul { complex::product(pairs.0, pairs.1) } else { complex::quotient(pairs.0, pairs.1) };
            let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            assert!(same(want.0, found[0]) && same(want.1, found[1]), "{op:?} {x:?} {y:?}: {found:?}, not {want:?}");
        }
    }
}

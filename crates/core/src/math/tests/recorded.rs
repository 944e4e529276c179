//! The recorded programs, run by a small evaluator on native arithmetic, give the bits of the functions.

use super::super::{call, expand};
use crate::dtype::DType;
use crate::scalar::{MathFn, Op, Program, verify};
use half::{bf16, f16};

/// The result of a program of one output on inputs given by their bits.
fn run(program: &Program, inputs: &[u64]) -> u64 {
    let mut values: Vec<u64> = Vec::with_capacity(program.instrs.len());
    for instr in &program.instrs {
        let args: Vec<u64> = instr.args.iter().map(|&a| values[a as usize]).collect();
        // Comparisons and conversions go by the dtype of what they read.
        let from = instr.args.last().map_or(instr.dtype, |&a| program.dtype(a));
        values.push(match instr.op {
            Op::Input(n) => inputs[n as usize],
            Op::Const(bits) => bits,
            Op::Bitcast => args[0],
            Op::Select => args[if args[0] != 0 { 1 } else { 2 }],
            Op::Cast => match (from, instr.dtype) {
                (DType::F16, DType::F32) => f16::from_bits(args[0] as u16).to_f32().to_bits() as u64,
                (DType::BF16, DType::F32) => bf16::from_bits(args[0] as u16).to_f32().to_bits() as u64,
                (DType::F32, DType::F16) => f16::from_f32(f32::from_bits(args[0] as u32)).to_bits() as u64,
                (DType::F32, DType::BF16) => bf16::from_f32(f32::from_bits(args[0] as u32)).to_bits() as u64,
                other => panic!("no conversion {other:?} belongs into these programs"),
            },
            op => match from {
                DType::F32 => float_op(op, &args, |a| f32::from_bits(a as u32), |x| x.to_bits() as u64),
                DType::F64 => float_op(op, &args, f64::from_bits, f64::to_bits),
                DType::U32 => integer_op(op, &args, 32),
                DType::U64 => integer_op(op, &args, 64),
                DType::Bool => integer_op(op, &args, 1),
                other => panic!("no {other} belongs into these programs"),
            },
        });
    }
    values[program.outputs[0] as usize]
}

fn float_op<F>(op: Op, args: &[u64], value: impl Fn(u64) -> F, bits: impl Fn(F) -> u64) -> u64
where
    F: super::super::Real<Mask = bool>,
{
    let x = |n: usize| value(args[n]);
    bits(match op {
        Op::Neg => -x(0),
        Op::Abs => x(0).abs(),
        Op::Sqrt => x(0).sqrt(),
        Op::Add => x(0) + x(1),
        Op::Sub => x(0) - x(1),
        Op::Mul => x(0) * x(1),
        Op::Div => x(0) / x(1),
        Op::Fma => x(0).fma(x(1), x(2)),
        Op::Eq => return x(0).eq(x(1)) as u64,
        Op::Lt => return x(0).lt(x(1)) as u64,
        other => panic!("no float {other:?} belongs into these programs"),
    })
}

fn integer_op(op: Op, args: &[u64], width: u32) -> u64 {
    let x = |n: usize| args[n];
    let result = match op {
        Op::Not => !x(0),
        Op::Add => x(0).wrapping_add(x(1)),
        Op::Sub => x(0).wrapping_sub(x(1)),
        Op::Mul => x(0).wrapping_mul(x(1)),
        Op::MulHi => ((x(0) as u128 * x(1) as u128) >> width) as u64,
        Op::And => x(0) & x(1),
        Op::Or => x(0) | x(1),
        Op::Xor => x(0) ^ x(1),
        Op::Shl if x(1) < width as u64 => x(0) << x(1),
        Op::Shr if x(1) < width as u64 => x(0) >> x(1),
        Op::Eq => (x(0) == x(1)) as u64,
        Op::Lt => (x(0) < x(1)) as u64,
        // The functions promise counts below the width: native shifts differ beyond.
        other => panic!("no integer {other:?} of {args:?} belongs into these programs"),
    };
    result & (u64::MAX >> (64 - width))
}

/// Pairs of bit patterns: all exponents, small integers, and pairs that make `pow` interesting.
fn inputs(count: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..count).map(move |i| {
        let x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (x, x.rotate_left(23) ^ (i << 40))
    })
}

fn same(got: u64, want: u64, nan: impl Fn(u64) -> bool) -> bool {
    got == want || (nan(got) && nan(want))
}

#[test]
fn programs_have_the_bits_of_the_functions() {
    for &f in MathFn::ALL {
        let (single, double) = (expand(f, DType::F32), expand(f, DType::F64));
        let check32 = |x: f32, y: f32| {
            let got = run(&single, &[x.to_bits() as u64, y.to_bits() as u64]);
            let want = call(f, x, y).to_bits() as u64;
            assert!(same(got, want, |b| f32::from_bits(b as u32).is_nan()), "float32 {}({x:e}, {y:e})", f.name());
        };
        let check64 = |x: f64, y: f64| {
            let got = run(&double, &[x.to_bits(), y.to_bits()]);
            assert!(
                same(got, call(f, x, y).to_bits(), |b| f64::from_bits(b).is_nan()),
                "float64 {}({x:e}, {y:e})",
                f.name()
            );
        };
        for (x, y) in inputs(2000) {
            check32(f32::from_bits((x >> 32) as u32), f32::from_bits((y >> 32) as u32));
            check64(f64::from_bits(x), f64::from_bits(y));
            // Arguments of ordinary size, most of which give finite results.
            let scale = |bits: u64| (bits as i64) as f64 * 2f64.powi(-59);
            check32(scale(x) as f32, scale(y).round() as f32);
            check64(scale(x), scale(y));
        }
    }
}

#[test]
fn programs_are_valid_closed_and_free_of_float64_unless_asked() {
    for &f in MathFn::ALL {
        for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            let program = expand(f, dtype);
            assert_eq!(verify(&program), Ok(()));
            assert_eq!(program.inputs, vec![dtype; f.arity()]);
            assert_eq!(program.output_dtype(0), dtype);
            assert!(!program.instrs.iter().any(|i| matches!(i.op, Op::Call(_))), "{} calls", f.name());
            // Devices without 64-bit types run float32 and less.
            assert!(dtype == DType::F64 || program.instrs.iter().all(|i| i.dtype.bytes() <= 4), "{} is wide", f.name());
        }
    }
}

#[test]
fn half_precision_computes_in_float32_and_rounds_once() {
    let program = expand(MathFn::Tanh, DType::F16);
    for bits in (0..=u16::MAX).step_by(17) {
        let want = f16::from_f32(call(MathFn::Tanh, f16::from_bits(bits).to_f32(), 0.0));
        let got = f16::from_bits(run(&program, &[bits as u64]) as u16);
        assert!(got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan()), "{bits:#x}");
    }
}

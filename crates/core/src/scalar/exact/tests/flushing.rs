//! A device that takes subnormal numbers for zeros, and gives zeros for them, imitated by integers around each of its instructions.

use super::{NORMAL, NOTHING, SIGN, array, assert_equal, numbers, run};
use crate::dtype::DType;
use crate::element::bf16;
use crate::reference::Array;
use crate::scalar::exact::exact;
use crate::scalar::{Arithmetic, Builder, Instr, MathFn, Op, Program, Value, plain};

/// Which instructions of float32 flush.
#[derive(Clone, Copy, PartialEq)]
enum Flushing {
    /// All, as Vulkan allows.
    All,
    /// All but sums, products and quotients, as on an H100.
    Most,
}

impl Flushing {
    fn covers(self, op: Op) -> bool {
        let keeps = matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Neg);
        !matches!(op, Op::Input(_) | Op::Param(_) | Op::Const(_) | Op::Bitcast | Op::Complex)
            && (self == Flushing::All || !keeps)
    }

    /// What the device computes, as a program of one that flushes nothing.
    fn imitated(self, program: &Program) -> Program {
        let mut b = Builder::new();
        let inputs: Vec<Value> = program.inputs.iter().map(|&d| b.input(d)).collect();
        let mut values: Vec<Value> = Vec::new();
        for instr in &program.instrs {
            if let Op::Input(n) = instr.op {
                values.push(inputs[n as usize]);
                continue;
            }
            let on = self.covers(instr.op);
            let seen = |b: &mut Builder, x: Value| if on && b.dtype(x) == DType::F32 { flushed(b, x) } else { x };
            let args = instr.args.iter().map(|&a| seen(&mut b, values[a as usize])).collect();
            let result = b.raw(Instr { op: instr.op, dtype: instr.dtype, args });
            values.push(seen(&mut b, result));
        }
        let outputs: Vec<Value> = program.outputs.iter().map(|&o| values[o as usize]).collect();
        b.finish(&outputs)
    }
}

/// A float32, or a zero of its sign where it is subnormal.
fn flushed(b: &mut Builder, x: Value) -> Value {
    let bits = b.bitcast(x, DType::U32);
    let [all, zero, minus] = [0x7f80_0000, 0, SIGN].map(|v| b.bits(DType::U32, v));
    let exponent = b.binary(Op::And, bits, all);
    let is_tiny = b.compare(Op::Eq, exponent, zero);
    let sign = b.binary(Op::And, bits, minus);
    let seen = b.select(is_tiny, sign, bits);
    b.bitcast(seen, DType::F32)
}

/// A program of one instruction.
fn single(op: Op, result: DType, of: &[DType]) -> Program {
    let mut b = Builder::new();
    let args = of.iter().map(|&d| b.input(d)).collect();
    let value = b.raw(Instr { op, dtype: result, args });
    b.finish(&[value])
}

/// What a device that flushes makes of a program, written for one with this arithmetic.
fn found(program: &Program, arithmetic: Arithmetic, flushing: Flushing, inputs: &[Array]) -> Array {
    run(&flushing.imitated(&plain(program, arithmetic)), inputs)
}

/// Every kind of number below the normal ones, beside what [`numbers`] has.
fn small(count: usize) -> Vec<f32> {
    let tiny = |n: usize| f32::from_bits((n as u32).wrapping_mul(0x9e37_79b9) & 0x807f_ffff);
    (0..count).map(tiny).chain(numbers(count)).collect()
}

fn same_doubles(found: &Array, want: impl Iterator<Item = f64>) -> bool {
    let found: Vec<f64> = found.to_vec().unwrap();
    found.into_iter().zip(want).all(|(x, y)| x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan())
}

#[test]
fn float32_is_widened_by_bits() {
    let x = small(20_000);
    let cast = single(Op::Cast, DType::F64, &[DType::F32]);
    let of = [array(&x)];
    let want = || x.iter().map(|&v| f64::from(v));
    for flushing in [Flushing::All, Flushing::Most] {
        assert!(same_doubles(&found(&cast, NOTHING, flushing, &of), want()));
        // The imitation would show it.
        assert!(!same_doubles(&found(&cast, Arithmetic::IEEE, flushing, &of), want()));
    }
}

/// Numbers whose float32 is subnormal or nearly: on its places, between two, beside the middle, and far below all of them.
fn doubles() -> Vec<f64> {
    let unit = 2f64.powi(-149);
    let places = (0..4000u64).map(|n| n % 40 + if n % 3 == 0 { 0 } else { n.wrapping_mul(0x9e37_79b9) % (1 << 23) });
    let near = places.chain([(1 << 23) - 2, (1 << 23) - 1, 1 << 23, (1 << 23) + 1]).flat_map(|place| {
        [0.0, 0.25, 0.5, 0.75].map(|part| (place as f64 + part) * unit).into_iter().flat_map(|v| {
            let bits = v.to_bits();
            [bits, bits + 1, bits.saturating_sub(1)].map(f64::from_bits)
        })
    });
    let edges =
        [0.0, f64::MIN_POSITIVE, 5e-324, 1e-310, f64::MAX, f64::INFINITY, f64::NAN, f64::from(f32::MAX) * 1.000_000_05];
    let random = (0..4000u64).map(|n| f64::from_bits((n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    near.chain(edges).chain(random).flat_map(|v| [v, -v]).collect()
}

#[test]
fn float64_is_rounded_once_below_the_normal_numbers() {
    let x = doubles();
    let of = [Array::from_slice(&[x.len()], &x).unwrap()];
    let cast = single(Op::Cast, DType::F32, &[DType::F64]);
    let want: Vec<f32> = x.iter().map(|&v| v as f32).collect();
    for flushing in [Flushing::All, Flushing::Most] {
        let narrow = found(&cast, NOTHING, flushing, &of);
        assert_equal(&narrow, want.iter().copied(), |n| format!("{:e}", x[n]));
        let raw = found(&cast, Arithmetic::IEEE, flushing, &of).to_vec::<f32>().unwrap();
        assert!(raw.iter().zip(&want).any(|(x, y)| x.to_bits() != y.to_bits() && !y.is_nan()));
    }
}

/// Factors and terms whose sums are near, among and below subnormal numbers, or cancel.
fn triples() -> [Vec<f32>; 3] {
    let any: [Vec<f32>; 3] = {
        let all = small(45_000);
        [0, 30_000, 60_000].map(|from| all[from..from + 30_000].to_vec())
    };
    let count = 120_000u64;
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut near: [Vec<f32>; 3] = Default::default();
    for n in 0..count {
        // A product between 2^-160 and 2^-100, of a significand of few bits now and then, so that there are ties.
        let keep = if n % 3 == 0 { 0xffff_ffff << (next() % 23) } else { 0xffff_ffff };
        let field = 1 + next() % 200;
        let other = (254 - 160 + next() % 60).saturating_sub(field).clamp(0, 254);
        let [x, y] = [field, other].map(|e| f32::from_bits((e << 23) as u32 | next() as u32 & 0x7f_ffff & keep));
        let product = f64::from(x) * f64::from(y);
        let z = match n % 5 {
            0 => f32::from_bits(next() as u32 & 0x00ff_ffff),
            1 => -(product as f32),
            2 => f32::from_bits((-product as f32).to_bits().wrapping_add(next() as u32 % 9).wrapping_sub(4)),
            3 => f32::from_bits(next() as u32 & 0x1fff_ffff),
            _ => 0.0,
        };
        let signs = next();
        let signed = |v: f32, bit: u64| if signs >> bit & 1 == 1 { -v } else { v };
        near.iter_mut().zip([signed(x, 1), y, signed(z, 2)]).for_each(|(to, v)| to.push(v));
    }
    let mut n = 0;
    any.map(|of| {
        n += 1;
        [of, near[n - 1].clone()].concat()
    })
}

#[test]
fn a_fused_product_is_rounded_once_where_nothing_subnormal_is_kept() {
    let [x, y, z] = triples();
    let of = [&x, &y, &z].map(|v| array(v));
    let fma = single(Op::Fma, DType::F32, &[DType::F32; 3]);
    let want: Vec<f32> = (0..x.len()).map(|n| x[n].mul_add(y[n], z[n])).collect();
    for flushing in [Flushing::All, Flushing::Most] {
        let sums = found(&fma, NOTHING, flushing, &of);
        assert_equal(&sums, want.iter().copied(), |n| format!("{:e} * {:e} + {:e}", x[n], y[n], z[n]));
        let raw = found(&fma, Arithmetic::IEEE, flushing, &of).to_vec::<f32>().unwrap();
        assert!(raw.iter().zip(&want).filter(|(x, y)| x.to_bits() != y.to_bits()).count() > x.len() / 10);
    }
    // Without float64 it is the device's.
    let own = plain(&fma, Arithmetic { doubles: false, ..NOTHING });
    assert!(own.instrs.iter().any(|i| i.op == Op::Fma) && own.instrs.iter().all(|i| i.dtype != DType::F64), "{own}");
}

#[test]
fn what_was_exact_before_is_so_where_every_instruction_flushes() {
    let (x, y) = (small(10_000), numbers(30_000).split_off(10_000));
    let pair = [array(&x), array(&y)];
    for (op, count) in [(Op::Div, 2), (Op::Sqrt, 1), (Op::Abs, 1), (Op::Neg, 1), (Op::Min, 2), (Op::Max, 2), (Op::Ceil, 1)] {
        let program = single(op, DType::F32, &[DType::F32; 2][..count]);
        let want = run(&program, &pair[..count]).to_vec::<f32>().unwrap();
        let found = found(&program, NOTHING, Flushing::All, &pair[..count]);
        assert_equal(&found, want.into_iter(), |n| format!("{op:?} of {:e} and {:e}", x[n], y[n]));
    }
}

/// Bits of bfloat16, in whose range there are as many subnormal numbers as in that of float32.
#[test]
fn bfloat16_is_converted_and_multiplied_by_bits() {
    let bits: Vec<u16> = (0..=u16::MAX).collect();
    let halves = |of: &[u16]| {
        let of: Vec<bf16> = of.iter().map(|&b| bf16::from_bits(b)).collect();
        Array::from_slice(&[of.len()], &of).unwrap()
    };
    let x = halves(&bits);
    let wide = found(&single(Op::Cast, DType::F64, &[DType::BF16]), NOTHING, Flushing::All, std::slice::from_ref(&x));
    assert!(same_doubles(&wide, bits.iter().map(|&b| bf16::from_bits(b).to_f64())));
    let near: Vec<f64> = bits.iter().map(|&b| bf16::from_bits(b).to_f64() * 1.003_906_25).collect();
    let near = Array::from_slice(&[near.len()], &near).unwrap();
    let others: Vec<u16> = bits.iter().map(|&b| b.wrapping_mul(0x9e37)).collect();
    let sums = [halves(&others), halves(&others.iter().rev().copied().collect::<Vec<_>>()), x];
    let narrow = single(Op::Cast, DType::BF16, &[DType::F64]);
    let fma = single(Op::Fma, DType::BF16, &[DType::BF16; 3]);
    for (program, of) in [(narrow, &[near][..]), (fma, &sums[..])] {
        let (want, found) = (run(&program, of), found(&program, NOTHING, Flushing::All, of));
        let [want, found] = [want, found].map(|v| v.to_vec::<bf16>().unwrap());
        for (n, (want, found)) in want.into_iter().zip(found).enumerate() {
            assert!(want.to_bits() == found.to_bits() || want.is_nan() && found.is_nan(), "{n}: {found:e}, not {want:e}");
        }
    }
}

#[test]
fn functions_of_subnormal_numbers_are_those_of_a_device_that_keeps_them() {
    let edge = (1..400).map(|n| f32::from_bits(NORMAL as u32 - 200 + n));
    let x: Vec<f32> = small(500).into_iter().chain(edge).collect();
    let y: Vec<f32> = x.iter().rev().copied().collect();
    let of = [array(&x), array(&y)];
    for &f in MathFn::ALL {
        let inputs = &of[..f.arity()];
        let program = single(Op::Call(f), DType::F32, &[DType::F32; 2][..f.arity()]);
        let want = run(&plain(&program, Arithmetic::IEEE), inputs).to_vec::<f32>().unwrap();
        let found = found(&program, NOTHING, Flushing::Most, inputs);
        assert_equal(&found, want.into_iter(), |n| format!("{} of {:e} and {:e}", f.name(), x[n], y[n]));
    }
}

/// How many of a program's `fma` are left to the device.
fn own(program: &Program) -> usize {
    let plain = plain(program, NOTHING);
    plain.instrs.iter().filter(|i| i.op == Op::Fma && i.dtype == DType::F32).count()
}

#[test]
fn the_device_computes_what_meets_no_subnormal_number() {
    let sum = |write: &dyn Fn(&mut Builder, [Value; 2]) -> [Value; 3]| {
        let mut b = Builder::new();
        let inputs = [b.input(DType::F32), b.input(DType::F32)];
        let [x, y, z] = write(&mut b, inputs);
        let sum = b.fma(x, y, z);
        own(&b.finish(&[sum]))
    };
    let one = |b: &mut Builder, value: f64| b.lit(DType::F32, value);
    assert_eq!(sum(&|_, [x, y]| [x, y, x]), 0);
    // A huge factor of a subnormal one.
    assert_eq!(sum(&|b, [x, y]| [x, y, one(b, 1.0)]), 0);
    assert_eq!(sum(&|b, [x, _]| [x, x, one(b, 1.0)]), 1);
    assert_eq!(sum(&|b, [x, _]| [x, one(b, 1e30), one(b, 1.0)]), 1);
    assert_eq!(sum(&|b, [x, _]| [x, one(b, 1e31), one(b, 1.0)]), 0);
    // What nearly cancels may leave a subnormal number.
    assert_eq!(sum(&|b, [x, _]| [x, x, one(b, 1e-30)]), 0);
    assert_eq!(sum(&|b, [x, y]| [x, y, one(b, 0.0)]), 0);
    assert_eq!(sum(&|b, [x, y]| [x, y, one(b, f64::INFINITY)]), 0);
    // A step of a polynomial, and the one after it.
    let next = |b: &mut Builder, x: Value| {
        let (slope, start) = (one(b, 0.25), one(b, 0.5));
        b.fma(x, slope, start)
    };
    assert_eq!(sum(&|b, [x, _]| [next(b, x), x, one(b, 1.0)]), 2);
    assert_eq!(sum(&|b, [x, y]| [next(b, y), x, one(b, 1.0)]), 1);
    // Whole numbers.
    let mut b = Builder::new();
    let [x, y] = [(); 2].map(|()| b.input(DType::I32)).map(|n| b.cast(n, DType::F32));
    let z = b.lit(DType::F32, 2f64.powi(-100));
    let (near, far) = (b.fma(x, y, z), b.fma(x, z, y));
    // Their products with 2^-100 are not below it, and those of two such are.
    let [scaled, other] = [x, y].map(|v| b.binary(Op::Mul, v, z));
    let below = b.fma(scaled, other, y);
    assert_eq!(own(&b.finish(&[near, far, below])), 2);
}

#[test]
fn nothing_is_changed_where_subnormal_numbers_are_kept() {
    let keeps = Arithmetic { roots: false, quotients: false, ..Arithmetic::IEEE };
    for program in [
        single(Op::Cast, DType::F64, &[DType::F32]),
        single(Op::Cast, DType::F32, &[DType::F64]),
        single(Op::Fma, DType::F32, &[DType::F32; 3]),
    ] {
        assert_eq!(exact(&program, keeps), program);
        assert_eq!(plain(&program, keeps), program);
    }
}

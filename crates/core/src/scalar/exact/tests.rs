//! What is done in place of a device's float32 gives the bits that IEEE 754 asks for, also where the device is as far off as it may be.

use super::*;
use crate::kernel::{Kernel, Map};
use crate::reference::{self, Array};

/// Numbers near every edge of the format, and bits at random.
fn numbers(count: usize) -> Vec<f32> {
    const EDGES: [u32; 18] = [
        0,
        1,
        2,
        3,
        0x7f_fffe,
        0x7f_ffff,
        0x80_0000,
        0x80_0001,
        0x100_0000,
        0x3f80_0000,
        0x3f80_0001,
        0x3fff_ffff,
        0x4000_0000,
        0x40c0_0000,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7fc0_0000,
        0x7f80_0001,
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let edges = EDGES.into_iter().flat_map(|bits| [bits, bits | 0x8000_0000]).collect::<Vec<_>>();
    (0..count)
        .map(|_| if next() % 3 == 0 { edges[next() as usize % edges.len()] } else { next() as u32 })
        .map(f32::from_bits)
        .collect()
}

fn run(program: &Program, inputs: &[Array]) -> Array {
    let kernel = Kernel::Map(Map { program: program.clone() });
    reference::run(&kernel, inputs, &[inputs[0].dims()], &[]).unwrap().remove(0)
}

fn array(values: &[f32]) -> Array {
    Array::from_slice(&[values.len()], values).unwrap()
}

fn assert_equal(found: &Array, want: impl Iterator<Item = f32>, of: impl Fn(usize) -> String) {
    let found: Vec<f32> = found.to_vec().unwrap();
    for (n, (found, want)) in found.into_iter().zip(want).enumerate() {
        let same = found.to_bits() == want.to_bits() || found.is_nan() && want.is_nan();
        assert!(same, "{}: {found:e} ({:#010x}), not {want:e} ({:#010x})", of(n), found.to_bits(), want.to_bits());
    }
}

const NOTHING: Arithmetic = Arithmetic { roots: false, quotients: false, subnormals: false, ..Arithmetic::IEEE };

#[test]
fn roots_and_quotients_are_correctly_rounded() {
    let (x, y) = (numbers(20_000), numbers(40_000).split_off(20_000));
    let mut b = Builder::new();
    let v = b.input(DType::F32);
    let root = b.unary(Op::Sqrt, v);
    let roots = run(&exact(&b.finish(&[root]), NOTHING), &[array(&x)]);
    assert_equal(&roots, x.iter().map(|v| v.sqrt()), |n| format!("the root of {:e}", x[n]));
    let mut b = Builder::new();
    let (u, v) = (b.input(DType::F32), b.input(DType::F32));
    let quotient = b.binary(Op::Div, u, v);
    let quotients = run(&exact(&b.finish(&[quotient]), NOTHING), &[array(&x), array(&y)]);
    assert_equal(&quotients, x.iter().zip(&y).map(|(x, y)| x / y), |n| format!("{:e} / {:e}", x[n], y[n]));
    // Ties below the normal numbers, and what rounds up to one.
    let below: Vec<f32> = (1..4000).map(f32::from_bits).collect();
    let by: Vec<f32> = (1..4000).map(|n| [2.0, 4.0, 8.0, 3.0, 0.75][n % 5]).collect();
    let quotients = run(&exact(&quotient_program(), NOTHING), &[array(&below), array(&by)]);
    assert_equal(&quotients, below.iter().zip(&by).map(|(x, y)| x / y), |n| format!("{:e} / {:e}", below[n], by[n]));
}

fn quotient_program() -> Program {
    let mut b = Builder::new();
    let (u, v) = (b.input(DType::F32), b.input(DType::F32));
    let quotient = b.binary(Op::Div, u, v);
    b.finish(&[quotient])
}

/// Significands and the two whole numbers that a device may be farthest off.
fn significands(count: u64) -> Vec<u64> {
    (0..count).map(|n| (1 << 23) + n.wrapping_mul(0x9e37_79b9) % (1 << 23)).chain([(1 << 23), (1 << 24) - 1]).collect()
}

#[test]
fn a_root_is_found_from_as_far_as_a_device_may_be_off() {
    let mut writer = Writer { b: Builder::new(), arithmetic: NOTHING };
    let (n, guess) = (writer.b.input(DType::U32), writer.b.input(DType::U32));
    let root = writer.nearest_root(n, guess);
    let program = writer.b.finish(&[root]);
    let (mut of, mut guesses, mut want) = (vec![], vec![], vec![]);
    for n in significands(500).into_iter().flat_map(|s| [s << 23, s << 24]) {
        // Exact: n has 48 bits, and (r + 1/2)^2 = r^2 + r + 1/4.
        let floor = n.isqrt();
        let near = floor + u64::from(n - floor * floor > floor);
        for off in -(root::OFF as i64)..=root::OFF as i64 {
            of.push(n as u32);
            guesses.push((near as i64 + off) as u32);
            want.push(near as u32);
        }
    }
    let [of, guesses] = [of, guesses].map(|v| Array::from_slice(&[v.len()], &v).unwrap());
    assert_eq!(run(&program, &[of, guesses]).to_vec::<u32>().unwrap(), want);
}

#[test]
fn a_quotient_is_found_from_as_far_as_a_device_may_be_off() {
    let mut writer = Writer { b: Builder::new(), arithmetic: NOTHING };
    let [x, y, guess] = [(); 3].map(|()| writer.b.input(DType::U32));
    let (quotient, rest) = writer.quotient_below((x, y), guess);
    let program = writer.b.finish(&[quotient, rest]);
    let (mut of, mut want) = ([vec![], vec![], vec![]], [vec![], vec![]]);
    let all = significands(300);
    for (n, &y) in all.iter().enumerate() {
        let x = all[(n * 7 + 3) % all.len()];
        let x = if x < y { 2 * x } else { x };
        for off in -(quotient::OFF as i64)..=quotient::OFF as i64 {
            let (quotient, rest) = ((x << 23) / y, (x << 23) % y);
            of.iter_mut().zip([x, y, (quotient as i64 + off) as u64]).for_each(|(to, v)| to.push(v as u32));
            want.iter_mut().zip([quotient, rest]).for_each(|(to, v)| to.push(v as u32));
        }
    }
    let inputs = of.map(|v| Array::from_slice(&[v.len()], &v).unwrap());
    let kernel = Kernel::Map(Map { program });
    let dims = inputs[0].dims();
    let found = reference::run(&kernel, &inputs, &[dims, dims], &[]).unwrap();
    for (found, want) in found.iter().zip(want) {
        assert_eq!(found.to_vec::<u32>().unwrap(), want);
    }
}

#[test]
fn nothing_that_computes_nothing_is_left_to_floats() {
    let mut b = Builder::new();
    let (x, y) = (b.input(DType::F32), b.input(DType::F32));
    let less = b.compare(Op::Le, x, y);
    let chosen = b.select(less, x, y);
    let other = b.unary(Op::Neg, chosen);
    let size = b.unary(Op::Abs, other);
    let program = exact(&b.finish(&[size]), NOTHING);
    for instr in &program.instrs {
        let of = instr.args.first().map_or(DType::Bool, |&a| program.dtype(a));
        let floats = instr.dtype == DType::F32 || of == DType::F32;
        assert!(!floats || matches!(instr.op, Op::Input(_) | Op::Bitcast), "{:?} of {of}", instr.op);
    }
}

mod flushing;

//! Hand-computed results of each kernel kind and dtype class.

use super::*;
use crate::dtype::DType;
use crate::element::{Bool, Complex, Element, bf16, f16};
use crate::error::Code;
use crate::kernel::*;
use crate::layout::Layout;
use crate::scalar::{Builder, MathFn, Op, Program, Value};

fn array<T: Element>(dims: &[usize], elements: &[T]) -> Array {
    Array::from_slice(dims, elements).unwrap()
}

fn one<T: Element>(kernel: Kernel, inputs: &[Array], dims: &[usize]) -> Vec<T> {
    run(&kernel, inputs, &[dims], &[]).unwrap()[0].to_vec().unwrap()
}

/// A map over vectors of one dtype whose program is `body`.
fn map<T: Element, U: Element>(inputs: &[&[T]], body: impl Fn(&mut Builder, &[Value]) -> Value) -> Vec<U> {
    let mut b = Builder::new();
    let values: Vec<Value> = inputs.iter().map(|_| b.input(T::DTYPE)).collect();
    let result = body(&mut b, &values);
    let arrays: Vec<Array> = inputs.iter().map(|x| array(&[x.len()], x)).collect();
    one(Kernel::Map(Map { program: b.finish(&[result]) }), &arrays, &[inputs[0].len()])
}

fn binary<T: Element>(op: Op, x: &[T], y: &[T]) -> Vec<T> {
    map(&[x, y], |b, v| b.binary(op, v[0], v[1]))
}

fn cast<T: Element, U: Element>(x: &[T]) -> Vec<U> {
    map(&[x], |b, v| b.cast(v[0], U::DTYPE))
}

fn reduce(combine: Combine, dtype: DType) -> Kernel {
    Kernel::Reduce(Reduce { axes: 1, combine, input: dtype, acc: dtype, pre: None, post: None })
}

#[test]
fn integers_wrap_and_divide_as_documented() {
    assert_eq!(binary(Op::Add, &[127i8, -128], &[1, -1]), [-128, 127]);
    assert_eq!(binary(Op::Mul, &[u64::MAX, 1 << 63], &[u64::MAX, 2]), [1, 0]);
    assert_eq!(binary(Op::Div, &[7i32, -7, 5, i32::MIN], &[2, 2, 0, -1]), [3, -3, 0, i32::MIN]);
    assert_eq!(binary(Op::Rem, &[7i32, -7, 5, i32::MIN], &[2, 2, 0, -1]), [1, -1, 0, 0]);
    assert_eq!(binary(Op::Shl, &[1u8, 1, 1], &[7, 8, 200]), [128, 0, 0]);
    assert_eq!(binary(Op::Shr, &[-128i8, -128, 64, 64], &[7, 100, 6, -1]), [-1, -1, 1, 0]);
    assert_eq!(binary(Op::MulHi, &[u64::MAX, 3], &[u64::MAX, 5]), [u64::MAX - 1, 0]);
    assert_eq!(binary(Op::Xor, &[0b1100u16], &[0b1010]), [0b0110]);
    assert_eq!(binary(Op::Min, &[-3i64], &[2]), [-3]);
    assert_eq!(map::<i8, i8>(&[&[-128, 5]], |b, v| b.unary(Op::Abs, v[0])), [-128, 5]);
    assert_eq!(map::<u16, u16>(&[&[1]], |b, v| b.unary(Op::Neg, v[0])), [0xffff]);
    assert_eq!(map::<u16, u16>(&[&[1]], |b, v| b.unary(Op::Not, v[0])), [0xfffe]);
}

#[test]
fn bool_is_logic() {
    let (x, y) = ([Bool(0), Bool(1), Bool(7)], [Bool(1), Bool(1), Bool(0)]);
    assert_eq!(binary(Op::Add, &x, &y), [Bool(1), Bool(1), Bool(1)]);
    assert_eq!(binary(Op::Mul, &x, &y), [Bool(0), Bool(1), Bool(0)]);
    assert_eq!(binary(Op::Xor, &x, &y), [Bool(1), Bool(0), Bool(1)]);
    assert_eq!(map::<Bool, Bool>(&[&x], |b, v| b.unary(Op::Not, v[0])), [Bool(1), Bool(0), Bool(0)]);
    assert_eq!(map::<Bool, i32>(&[&x], |b, v| b.cast(v[0], DType::I32)), [0, 1, 1]);
}

#[test]
fn float_extremes_and_comparisons_know_nan_and_signed_zero() {
    let bits = |v: Vec<f32>| v.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let (x, y) = ([0.0f32, -0.0, 1.0], [-0.0f32, 0.0, 2.0]);
    assert_eq!(bits(binary(Op::Min, &x, &y)), bits(vec![-0.0, -0.0, 1.0]));
    assert_eq!(bits(binary(Op::Max, &x, &y)), bits(vec![0.0, 0.0, 2.0]));
    assert!(binary(Op::Max, &[f32::NAN, 1.0], &[1.0, f32::NAN]).iter().all(|v| v.is_nan()));
    let compare =
        |op| map::<f32, Bool>(&[&[0.0, f32::NAN, 1.0], &[-0.0, f32::NAN, 2.0]], move |b, v| b.compare(op, v[0], v[1]));
    assert_eq!(compare(Op::Eq), [Bool(1), Bool(0), Bool(0)]);
    assert_eq!(compare(Op::Ne), [Bool(0), Bool(1), Bool(1)]);
    assert_eq!(compare(Op::Lt), [Bool(0), Bool(0), Bool(1)]);
    assert_eq!(compare(Op::Le), [Bool(1), Bool(0), Bool(1)]);
}

#[test]
fn casts_truncate_saturate_and_round_once() {
    assert_eq!(cast::<f64, i8>(&[-1.9, 1e300, -1e300, f64::NAN, f64::INFINITY]), [-1, 127, -128, 0, 127]);
    assert_eq!(cast::<f64, u64>(&[-1.0, 1.8446744073709552e19, 9007199254740993.0]), [0, u64::MAX, 9007199254740992]);
    assert_eq!(cast::<i32, u8>(&[-1, 256, 300]), [255, 0, 44]);
    assert_eq!(cast::<f32, Bool>(&[-0.0, f32::NAN, 0.5]), [Bool(0), Bool(1), Bool(1)]);
    // Just above a tie of float16: rounding in two steps, or dropping low bits first, would give 1.
    assert_eq!(cast::<f64, f16>(&[1.0 + 2f64.powi(-11) + 2f64.powi(-50)]), [f16::from_bits(0x3c01)]);
    assert_eq!(cast::<f64, f16>(&[1.0 + 2f64.powi(-11)]), [f16::from_bits(0x3c00)]);
    assert_eq!(cast::<f64, bf16>(&[f64::MAX, 1e-300]), [bf16::INFINITY, bf16::ZERO]);
    // 2^53 + 1 is between two float64; 2^24 + 1 plus a little is above a tie of float32.
    assert_eq!(cast::<i64, f64>(&[(1 << 53) + 1]), [9007199254740992.0]);
    assert_eq!(
        cast::<i64, f32>(&[(1 << 60) + (1 << 36), (1 << 60) + (1 << 36) + 1]),
        [2f32.powi(60), 2f32.powi(60) + 2f32.powi(37)]
    );
    assert_eq!(cast::<Complex<f64>, f32>(&[Complex::new(2.5, 9.0)]), [2.5]);
    assert_eq!(cast::<f32, Complex<f64>>(&[2.5]), [Complex::new(2.5, 0.0)]);
    assert_eq!(map::<f32, i32>(&[&[1.0]], |b, v| b.bitcast(v[0], DType::I32)), [0x3f80_0000]);
    // A signalling NaN stays one.
    assert_eq!(map::<f32, i32>(&[&[f32::from_bits(0xff80_0001)]], |b, v| b.bitcast(v[0], DType::I32)), [-0x7f_ffff]);
    assert_eq!(map::<f16, u16>(&[&[f16::from_bits(0x7c0a)]], |b, v| b.bitcast(v[0], DType::U16)), [0x7c0a]);
    assert_eq!(map::<u16, bf16>(&[&[0xff81]], |b, v| b.bitcast(v[0], DType::BF16))[0].to_bits(), 0xff81);
}

#[test]
fn each_instruction_rounds_once() {
    assert_eq!(map::<f64, f64>(&[&[0.5, 1.5, -2.5]], |b, v| b.unary(Op::Round, v[0])), [0.0, 2.0, -2.0]);
    assert_eq!(binary(Op::Rem, &[-7.5f64, 1e300], &[2.0, 3.0]), [-1.5, 1e300 % 3.0]);
    assert_eq!(binary(Op::Div, &[1f32], &[3.0]), [1.0 / 3.0]);
    let (x, y, z) = (1.0f32 + f32::EPSILON, 1.0f32 - f32::EPSILON, -1.0f32);
    assert_eq!(map::<f32, f32>(&[&[x], &[y], &[z]], |b, v| b.fma(v[0], v[1], v[2])), [x.mul_add(y, z)]);
    let h = |v: f32| f16::from_f32(v);
    let fused = map::<f16, f16>(&[&[h(1.0 + 2f32.powi(-5))], &[h(1.0 + 2f32.powi(-6))], &[f16::from_bits(1)]], |b, v| {
        b.fma(v[0], v[1], v[2])
    });
    // (1 + 2^-5)(1 + 2^-6) = 1 + 2^-5 + 2^-6 + 2^-11, a tie; 2^-24 more goes up.
    assert_eq!(fused, [f16::from_f64(1.0 + 2f64.powi(-5) + 2f64.powi(-6) + 2f64.powi(-10))]);
    // 2049 is a tie of float16: to even, after each addition.
    assert_eq!(binary(Op::Add, &[h(2048.0)], &[h(1.0)]), [h(2048.0)]);
}

#[test]
fn functions_round_the_float64_value() {
    let call = |f: MathFn, x: f32| map::<f32, f32>(&[&[x]], |b, v| b.call(f, &[v[0]]))[0];
    assert_eq!(call(MathFn::Exp, 1.0), std::f32::consts::E);
    assert_eq!(call(MathFn::Log, 0.0), f32::NEG_INFINITY);
    assert_eq!(call(MathFn::Sin, 1.0), 0.841_470_98);
    assert_eq!(call(MathFn::Erf, 0.5), 0.520_499_9);
    assert_eq!(call(MathFn::Tanh, f32::INFINITY), 1.0);
    assert_eq!(call(MathFn::Sigmoid, -100.0), 3.8e-44);
    assert_eq!(map::<f64, f64>(&[&[2.0, 0.0], &[0.5, 0.0]], |b, v| b.call(MathFn::Pow, v)), [std::f64::consts::SQRT_2, 1.0]);
}

#[test]
fn complex_arithmetic() {
    let c = |re, im| Complex::<f64>::new(re, im);
    assert_eq!(binary(Op::Mul, &[c(1.0, 2.0)], &[c(3.0, -1.0)]), [c(5.0, 5.0)]);
    assert_eq!(
        binary(Op::Div, &[c(5.0, 5.0), c(1e300, 0.0)], &[c(3.0, -1.0), c(1e300, 1e300)]),
        [c(1.0, 2.0), c(0.5, -0.5)]
    );
    // Cancellation that float64 products would lose: (1 + e)(1 + e) - (1 + 2e) = e^2.
    let e = f64::EPSILON;
    assert_eq!(binary(Op::Mul, &[c(1.0 + e, 1.0)], &[c(1.0 + e, 1.0 + 2.0 * e)])[0].re, e * e);
    assert_eq!(
        map::<Complex<f64>, Bool>(&[&[c(1.0, 2.0)], &[c(1.0, 3.0)]], |b, v| b.compare(Op::Eq, v[0], v[1])),
        [Bool(0)]
    );
}

#[test]
fn parameters_constants_indices_and_several_outputs() {
    let mut b = Builder::new();
    let (x, p) = (b.input(DType::F32), b.param(DType::F32));
    let (scaled, column) = (b.binary(Op::Mul, x, p), b.index(1, DType::I64));
    let (two, row) = (b.lit(DType::I64, 2.0), b.index(0, DType::I64));
    let doubled = b.binary(Op::Mul, row, two);
    let cell = b.binary(Op::Add, doubled, column);
    let kernel = Kernel::Map(Map { program: b.finish(&[scaled, cell]) });
    let x = array(&[2, 2], &[1f32, 2.0, 3.0, 4.0]);
    let out = run(&kernel, &[x], &[&[2, 2], &[2, 2]], &[10f32.to_bits() as u64]).unwrap();
    assert_eq!(out[0].to_vec::<f32>(), Ok(vec![10.0, 20.0, 30.0, 40.0]));
    assert_eq!(out[1].to_vec::<i64>(), Ok(vec![0, 1, 2, 3]));
}

#[test]
fn sums_are_exact_before_their_one_rounding() {
    let sum = |d| reduce(Combine::Value(Monoid::Sum), d);
    assert_eq!(one::<f64>(sum(DType::F64), &[array(&[4], &[1e16, 1.0, 1.0, -1e16])], &[]), [2.0]);
    assert_eq!(one::<f16>(sum(DType::F16), &[array(&[4097], &[f16::from_f32(0.5); 4097])], &[]), [f16::from_f32(2048.0)]);
    assert_eq!(one::<i8>(sum(DType::I8), &[array(&[2, 2], &[100i8, 100, 1, 2])], &[2]), [-56, 3]);
    assert_eq!(one::<Bool>(sum(DType::Bool), &[array(&[2], &[Bool(0), Bool(1)])], &[]), [Bool(1)]);
    let c = Complex::new(1f32, 2.0);
    assert_eq!(one::<Complex<f32>>(sum(DType::C64), &[array(&[2], &[c, c])], &[]), [c + c]);
    assert_eq!(one::<f32>(sum(DType::F32), &[array::<f32>(&[2, 0], &[])], &[2])[0].to_bits(), 0);
    assert_eq!(one::<f32>(sum(DType::F32), &[array(&[2], &[-0f32, -0.0])], &[])[0].to_bits(), (-0f32).to_bits());
    assert_eq!(magnitude(&sum(DType::F32), &[array(&[3], &[1f32, -2.0, 3.0])], &[&[]], &[]), Ok(Some(vec![6.0])));
}

#[test]
fn other_combinations() {
    let value = |m, d| reduce(Combine::Value(m), d);
    assert_eq!(one::<f32>(value(Monoid::Prod, DType::F32), &[array(&[3], &[2f32, -3.0, 0.5])], &[]), [-3.0]);
    assert_eq!(one::<i32>(value(Monoid::Max, DType::I32), &[array::<i32>(&[0], &[])], &[]), [i32::MIN]);
    assert_eq!(one::<f64>(value(Monoid::Min, DType::F64), &[array::<f64>(&[0], &[])], &[]), [f64::INFINITY]);
    assert!(one::<f32>(value(Monoid::Max, DType::F32), &[array(&[3], &[1.0, f32::NAN, 2.0])], &[])[0].is_nan());
    assert_eq!(
        one::<Bool>(value(Monoid::All, DType::Bool), &[array(&[2, 2], &[Bool(1), Bool(0), Bool(1), Bool(1)])], &[2]),
        [Bool(0), Bool(1)]
    );
    assert_eq!(one::<Bool>(value(Monoid::Any, DType::Bool), &[array::<Bool>(&[0], &[])], &[]), [Bool(0)]);
    let arg = |c, x: &[f32]| one::<i32>(reduce(c, DType::F32), &[array(&[x.len()], x)], &[])[0];
    assert_eq!(arg(Combine::ArgMax, &[1.0, 3.0, 3.0]), 1);
    assert_eq!(arg(Combine::ArgMin, &[0.0, -0.0, 5.0]), 0);
    assert_eq!(arg(Combine::ArgMin, &[0.0, f32::NAN, f32::NAN]), 1);
    let empty = run(&reduce(Combine::ArgMax, DType::F32), &[array::<f32>(&[0], &[])], &[&[]], &[]);
    assert_eq!(empty.unwrap_err().code, Code::Argument);
}

#[test]
fn pre_and_post_take_their_own_parameters() {
    let scale = |from: DType, to: DType| {
        let mut b = Builder::new();
        let (x, p) = (b.input(from), b.param(to));
        let wide = b.cast(x, to);
        let product = b.binary(Op::Mul, wide, p);
        b.finish(&[product])
    };
    let kernel = Kernel::Reduce(Reduce {
        axes: 2,
        combine: Combine::Value(Monoid::Sum),
        input: DType::I32,
        acc: DType::F32,
        pre: Some(scale(DType::I32, DType::F32)),
        post: Some(scale(DType::F32, DType::F64)),
    });
    let params = [2f32.to_bits() as u64, 10f64.to_bits()];
    let x = array(&[1, 2, 2], &[1i32, 2, 3, 4]);
    assert_eq!(run(&kernel, &[x], &[&[1]], &params).unwrap()[0].to_vec::<f64>(), Ok(vec![200.0]));
}

#[test]
fn scans_run_along_the_last_axis() {
    let scan = |combine, dtype| Kernel::Scan(Scan { combine, dtype });
    assert_eq!(
        one::<i32>(scan(Monoid::Sum, DType::I32), &[array(&[2, 3], &[1, 2, 3, 4, 5, 6])], &[2, 3]),
        [1, 3, 6, 4, 9, 15]
    );
    assert_eq!(one::<u8>(scan(Monoid::Prod, DType::U8), &[array(&[3], &[20u8, 20, 1])], &[3]), [20, 144, 144]);
    assert_eq!(one::<f32>(scan(Monoid::Max, DType::F32), &[array(&[3], &[1f32, -2.0, 3.0])], &[3]), [1.0, 1.0, 3.0]);
    assert_eq!(one::<f64>(scan(Monoid::Sum, DType::F64), &[array(&[3], &[1e16, 1.0, 1.0])], &[3]), [1e16, 1e16, 1e16]);
    // A small sum within a block beside what the block before ended with; a product goes on.
    let mut x = vec![1f32; 600];
    (x[0], x[300]) = (1e8, 0.0);
    let sums = one::<f32>(scan(Monoid::Sum, DType::F32), &[array(&[2, 300], &x)], &[2, 300]);
    assert_eq!([0, 255, 256, 299].map(|i| sums[i]), [1e8, 1e8, 1e8 + 1.0, 1e8 + 44.0].map(|v: f64| v as f32));
    assert_eq!([300, 555, 556, 599].map(|i| sums[i]), [0.0, 255.0, 256.0, 299.0]);
    let mut x = vec![1f32; 300];
    (x[0], x[256], x[257]) = (1e30, 1e-30, 1e-30);
    let products = one::<f32>(scan(Monoid::Prod, DType::F32), &[array(&[300], &x)], &[300]);
    assert!((products[299] * 1e30 - 1.0).abs() < 1e-6, "{}", products[299]);
}

#[test]
fn gather_and_scatter_select_rows() {
    let data = array(&[3, 2], &[1f32, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let gather = |index: Vec<DType>| Kernel::Gather(Gather::new(DType::F32, index));
    assert_eq!(one::<f32>(gather(vec![DType::I8]), &[data.clone(), array(&[2], &[-1i8, 0])], &[2, 2]), [5.0, 6.0, 1.0, 2.0]);
    let both = [data.clone(), array(&[2], &[2u8, 1]), array(&[2], &[-2i64, 1])];
    assert_eq!(one::<f32>(gather(vec![DType::U8, DType::I64]), &both, &[2]), [5.0, 4.0]);
    for bad in [3i32, -4] {
        let error = run(&gather(vec![DType::I32]), &[data.clone(), array(&[1], &[bad])], &[&[1, 2]], &[]).unwrap_err();
        assert_eq!((error.code, error.message.contains(&bad.to_string())), (Code::Index, true));
    }
    let scatter = |update| Kernel::Scatter(Scatter { dtype: DType::F32, index: vec![DType::I32], update });
    let operands = [data, array(&[2], &[1, 1]), array(&[2, 2], &[10f32, 20.0, 30.0, 40.0])];
    assert_eq!(one::<f32>(scatter(Update::Set), &operands, &[3, 2]), [1.0, 2.0, 30.0, 40.0, 5.0, 6.0]);
    assert_eq!(one::<f32>(scatter(Update::Combine(Monoid::Sum)), &operands, &[3, 2]), [1.0, 2.0, 43.0, 64.0, 5.0, 6.0]);
}

#[test]
fn contractions_of_each_class() {
    for (from, to) in [(DType::U8, DType::I32), (DType::I32, DType::I64), (DType::F16, DType::F32), (DType::C64, DType::C64)]
    {
        assert!(Contract::widens(from, to), "{to} has all values of {from}");
    }
    let narrow = [(DType::U32, DType::I32), (DType::I8, DType::F32), (DType::Bool, DType::I32), (DType::F16, DType::BF16)];
    for (from, to) in narrow {
        let kernel = Contract { operands: [to, from], ..Contract::new(to) };
        assert!(
            kernel.verify().unwrap_err().contains("does not have all values"),
            "{to} does not have all values of {from}"
        );
    }
    let contract = |dtype| Kernel::Contract(Contract::new(dtype));
    let (a, b) = (array(&[1, 2, 2], &[1i32, 2, 3, 4]), array(&[1, 2, 1], &[5i32, 6]));
    assert_eq!(one::<i32>(contract(DType::I32), &[a, b], &[1, 2, 1]), [17, 39]);
    let (a, b) = (array(&[1, 3], &[1e8f64, 1.0, -1e8]), array(&[3, 1], &[1e8, 1.0, 1e8]));
    assert_eq!(one::<f64>(contract(DType::F64), &[a.clone(), b.clone()], &[1, 1]), [1.0]);
    assert_eq!(magnitude(&contract(DType::F64), &[a, b], &[&[1, 1]], &[]), Ok(Some(vec![2e16])));
    let (a, b) = (array(&[1, 2], &[Bool(0), Bool(1)]), array(&[2, 1], &[Bool(1), Bool(1)]));
    assert_eq!(one::<Bool>(contract(DType::Bool), &[a, b], &[1, 1]), [Bool(1)]);
    let i = Complex::new(0f32, 1.0);
    assert_eq!(one::<Complex<f32>>(contract(DType::C64), &[array(&[1, 1], &[i]), array(&[1, 1], &[i])], &[1, 1]), [i * i]);
    let empty = [array::<f32>(&[2, 0], &[]), array::<f32>(&[0, 1], &[])];
    assert_eq!(one::<f32>(contract(DType::F32), &empty, &[2, 1]), [0.0, 0.0]);
}

#[test]
fn sorting_is_stable_with_nan_largest() {
    let sort = |descending| Kernel::Sort(Sort { dtype: DType::F32, descending, outputs: SortOutputs::Both });
    let x = array(&[1, 5], &[0.0, f32::NAN, -0.0, -1.0, f32::NAN]);
    let positions = |descending, k: usize| {
        run(&sort(descending), std::slice::from_ref(&x), &[&[1, k], &[1, k]], &[]).unwrap()[1].to_vec::<i32>().unwrap()
    };
    assert_eq!(positions(false, 5), [3, 0, 2, 1, 4]);
    assert_eq!(positions(true, 5), [1, 4, 0, 2, 3]);
    assert_eq!(positions(true, 3), [1, 4, 0]);
    let bytes = Kernel::Sort(Sort { dtype: DType::U8, descending: true, outputs: SortOutputs::Values });
    assert_eq!(one::<u8>(bytes, &[array(&[2, 2], &[1u8, 200, 9, 3])], &[2, 1]), [200, 9]);
}

#[test]
fn linear_systems() {
    let solve = Kernel::Routine(Routine::Solve(DType::F64));
    let (a, b) = (array(&[2, 2], &[0.0, 2.0, 4.0, 1.0]), array(&[2, 1], &[2.0, 9.0]));
    assert_eq!(one::<f64>(solve.clone(), &[a, b.clone()], &[2, 1]), [2.0, 1.0]);
    let singular = run(&solve, &[array(&[2, 2], &[1.0, 2.0, 2.0, 4.0]), b], &[&[2, 1]], &[]);
    assert_eq!(singular.unwrap_err().code, Code::LinAlg);
    assert!(one::<f64>(solve, &[array(&[1, 1], &[f64::NAN]), array(&[1, 1], &[1.0])], &[1, 1])[0].is_nan());
}

#[test]
fn qr_of_known_matrices() {
    let qr = Kernel::Routine(Routine::Qr(DType::F64));
    let out = run(&qr, &[array(&[2, 2], &[3.0, 1.0, 4.0, 2.0])], &[&[2, 2], &[2, 2]], &[]).unwrap();
    assert_eq!(out[0].to_vec::<f64>(), Ok(vec![0.6, -0.8, 0.8, 0.6]));
    assert_eq!(out[1].to_vec::<f64>(), Ok(vec![5.0, 2.2, 0.0, 0.4]));
    let wide = run(&qr, &[array(&[1, 2], &[-2.0, 6.0])], &[&[1, 1], &[1, 2]], &[]).unwrap();
    assert_eq!((wide[0].to_vec::<f64>(), wide[1].to_vec::<f64>()), (Ok(vec![-1.0]), Ok(vec![2.0, -6.0])));
}

#[test]
fn fourier_transforms_of_known_signals() {
    let fft = |inverse| Kernel::Routine(Routine::Fft { dtype: DType::C128, inverse });
    let c = |re, im| Complex::<f64>::new(re, im);
    let x = array(&[4], &[c(1.0, 0.0), c(2.0, 0.0), c(3.0, 0.0), c(4.0, 0.0)]);
    assert_eq!(one::<Complex<f64>>(fft(false), &[x], &[4]), [c(10.0, 0.0), c(-2.0, 2.0), c(-2.0, 0.0), c(-2.0, -2.0)]);
    let delta = array(&[3], &[c(0.0, 0.0), c(1.0, 0.0), c(0.0, 0.0)]);
    let half = 0.75f64.sqrt();
    assert_eq!(one::<Complex<f64>>(fft(true), &[delta], &[3]), [c(1.0, 0.0), c(-0.5, half), c(-0.5, -half)]);
}

fn axis(size: usize, stride: usize, dilation: usize, low: usize) -> WindowAxis {
    WindowAxis { size, stride, dilation, low }
}

fn window(combine: WindowCombine, dtype: DType, axes: &[WindowAxis]) -> Kernel {
    Kernel::Window(Window { combine, dtype, axes: axes.to_vec() })
}

#[test]
fn windows_reduce_with_the_identity_outside() {
    let (max, sum) = (WindowCombine::Reduce(Monoid::Max), WindowCombine::Reduce(Monoid::Sum));
    let x = array(&[5], &[1f32, 5.0, 2.0, 4.0, 3.0]);
    let pool =
        |combine, axes: &[WindowAxis], n| one::<f32>(window(combine, DType::F32, axes), std::slice::from_ref(&x), &[n]);
    assert_eq!(pool(max, &[axis(2, 2, 1, 0)], 2), [5.0, 4.0]);
    assert_eq!(pool(max, &[axis(2, 1, 3, 0)], 2), [4.0, 5.0]);
    assert_eq!(pool(sum, &[axis(3, 2, 1, 1)], 3), [6.0, 11.0, 7.0]);
    // A window beyond the data on both sides, and one that shows none of it.
    assert_eq!(pool(sum, &[axis(3, 1, 5, 5)], 1), [1.0]);
    assert_eq!(pool(max, &[axis(2, 4, 1, 4)], 3), [f32::NEG_INFINITY, 5.0, 3.0]);
    assert!(pool(sum, &[axis(2, 9, 1, 2)], 1)[0].is_sign_negative());
    let bytes = window(WindowCombine::Reduce(Monoid::Min), DType::U8, &[axis(2, 1, 1, 0), axis(2, 1, 1, 1)]);
    let image = array(&[1, 3, 2], &[9u8, 8, 7, 6, 5, 4]);
    assert_eq!(one::<u8>(bytes, &[image], &[1, 2, 3]), [7, 6, 6, 5, 4, 4]);
}

#[test]
fn windows_multiply_weights_of_their_group() {
    let dot = |dtype, axes: &[WindowAxis]| window(WindowCombine::Dot, dtype, axes);
    let x = array(&[1, 1, 1, 4], &[1i32, 2, 3, 4]);
    let w = array(&[1, 1, 1, 2], &[10i32, 1]);
    assert_eq!(one::<i32>(dot(DType::I32, &[axis(2, 1, 1, 0)]), &[x.clone(), w.clone()], &[1, 1, 1, 3]), [12, 23, 34]);
    assert_eq!(one::<i32>(dot(DType::I32, &[axis(2, 2, 1, 1)]), &[x.clone(), w.clone()], &[1, 1, 1, 3]), [1, 23, 40]);
    assert_eq!(one::<i32>(dot(DType::I32, &[axis(2, 1, 2, 0)]), &[x.clone(), w.clone()], &[1, 1, 1, 2]), [13, 24]);
    // Two images, two groups of two channels, one output channel each: every operand axis has a part.
    let x = array(&[2, 2, 2, 1], &[1i64, 2, 3, 4, 5, 6, 7, 8]);
    let w = array(&[2, 1, 2, 1], &[1i64, 10, 100, 1000]);
    let k = dot(DType::I64, &[axis(1, 1, 1, 0)]);
    assert_eq!(one::<i64>(k.clone(), &[x.clone(), w.clone()], &[2, 2, 1, 1]), [21, 4300, 65, 8700]);
    assert_eq!(magnitude(&k, &[x.clone(), w.clone()], &[&[2, 2, 1, 1]], &[]), Ok(Some(vec![21.0, 4300.0, 65.0, 8700.0])));
    for dims in [&[2, 1, 2, 1][..], &[2, 2, 2, 1], &[2, 2, 1]] {
        assert_eq!(run(&k, &[x.clone(), w.clone()], &[dims], &[]).unwrap_err().code, Code::Internal);
    }
    // No channels: sums of nothing.
    let empty = [array::<f32>(&[1, 1, 0, 3], &[]), array::<f32>(&[1, 2, 0, 2], &[])];
    assert_eq!(one::<f32>(dot(DType::F32, &[axis(2, 1, 1, 0)]), &empty, &[1, 1, 2, 2]), [0.0; 4]);
}

#[test]
fn views_become_dense_and_broken_operands_are_refused() {
    let buffer: Vec<u8> = (0..6).collect();
    let transposed = Layout::dense(&[2, 3]).unwrap().permute(&[1, 0]).flip(0);
    assert_eq!(Array::gather(&buffer, &transposed, DType::U8).unwrap().to_vec::<u8>(), Ok(vec![2, 5, 1, 4, 0, 3]));
    assert!(Array::gather(&buffer, &transposed, DType::U16).is_err());
    assert!(Array::new(DType::F32, &[2], vec![0; 7]).is_err());
    let x = array(&[2], &[1f32, 2.0]);
    let identity = Kernel::Map(Map { program: Program::identity(DType::F32) });
    for (kernel, inputs, dims) in [
        (&identity, vec![x.clone()], vec![3]),
        (&identity, vec![], vec![2]),
        (&identity, vec![array(&[2], &[1i32, 2])], vec![2]),
        (&reduce(Combine::Value(Monoid::Sum), DType::F32), vec![x.clone()], vec![2]),
        (&reduce(Combine::Value(Monoid::Max), DType::C64), vec![array(&[1], &[Complex::new(1f32, 0.0)])], vec![]),
        (&Kernel::Contract(Contract::new(DType::F32)), vec![x.clone(), x.clone()], vec![]),
        (&Kernel::Scan(Scan { combine: Monoid::Sum, dtype: DType::F32 }), vec![x.clone()], vec![1]),
    ] {
        assert_eq!(run(kernel, &inputs, &[&dims], &[]).unwrap_err().code, Code::Internal, "{kernel:?}");
    }
}

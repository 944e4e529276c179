//! `Reduce` of several operands to several values: the bits of one reduction after the other.

use crate::harness::{Rng, Style, assert_same, check, expected, run};
use ferrotensor_core::DType;
use ferrotensor_core::kernel::{Combine, Kernel, Map, Monoid, Reduce};
use ferrotensor_core::reference::Array;
use ferrotensor_core::scalar::{Builder, Op, Program, Value};

/// `x - y`, its square less a parameter, and x, of operands of a dtype.
fn before(d: DType) -> Program {
    let mut b = Builder::new();
    let (x, y, p) = (b.input(d), b.input(d), b.param(d));
    let difference = b.binary(Op::Sub, x, y);
    let square = b.binary(Op::Mul, difference, difference);
    let square = b.binary(Op::Sub, square, p);
    b.finish(&[difference, square, x])
}

/// The first total plus a parameter, the second one times the third.
fn after(d: DType) -> Program {
    let mut b = Builder::new();
    let totals: Vec<Value> = (0..3).map(|_| b.input(d)).collect();
    let p = b.param(d);
    let results = [b.binary(Op::Add, totals[0], p), b.binary(Op::Mul, totals[1], totals[2])];
    b.finish(&results)
}

fn kernel(d: DType, monoid: Monoid, post: Option<Program>) -> Kernel {
    Kernel::Reduce(Reduce { axes: 2, combine: Combine::Value(monoid), input: d, acc: d, pre: Some(before(d)), post })
}

/// Long extents that threads share, columns, short items, operands that are spread over the kept or the reduced axes.
const SIZES: [[usize; 3]; 7] = [[1, 1, 1], [3, 5, 7], [70, 2, 9], [300, 1, 40], [2, 300, 450], [129, 30, 40], [5, 0, 3]];

#[test]
fn several_sums_of_several_operands_have_the_bits_of_each_alone() {
    let d = DType::F32;
    let mut rng = Rng(31);
    let one = 1.5f32.to_bits() as u64;
    for dims in if cfg!(miri) { &SIZES[..3] } else { &SIZES[..] } {
        let (x, y) = (rng.array(d, dims), rng.array(d, dims));
        let styles = [
            [Style::Dense, Style::Dense],
            [Style::Transposed, Style::Dense],
            [Style::Transposed, Style::Broadcast],
            [Style::Spread, Style::Transposed],
            [Style::Reversed, Style::Single],
            [Style::Padded, Style::Equal(2)],
        ];
        for [of_x, of_y] in styles {
            let map = Kernel::Map(Map { program: before(d) });
            let inputs = [(&x, of_x), (&y, of_y)];
            let parts = run(&map, &inputs, &[(&dims[..], Style::Dense); 3], &[one]);
            let out = (&dims[..1], Style::Offset);
            let together = run(&kernel(d, Monoid::Sum, None), &inputs, &[out; 3], &[one]);
            let plain = Kernel::Reduce(Reduce {
                axes: 2,
                combine: Combine::Value(Monoid::Sum),
                input: d,
                acc: d,
                pre: None,
                post: None,
            });
            let alone: Vec<Array> =
                parts.iter().map(|part| run(&plain, &[(part, Style::Dense)], &[out], &[]).remove(0)).collect();
            for (n, (a, b)) in alone.iter().zip(&together).enumerate() {
                assert_same(a, b, format_args!("sum {n} of {dims:?}, {of_x:?} and {of_y:?}"));
            }
            let finished = run(&kernel(d, Monoid::Sum, Some(after(d))), &inputs, &[out; 2], &[one, one]);
            let map = Kernel::Map(Map { program: after(d) });
            let totals: Vec<(&Array, Style)> = alone.iter().map(|a| (a, Style::Dense)).collect();
            for (a, b) in run(&map, &totals, &[out; 2], &[one]).iter().zip(&finished) {
                assert_same(a, b, format_args!("results of {dims:?}, {of_x:?} and {of_y:?}"));
            }
        }
    }
}

#[test]
fn several_values_of_integers_and_orders_are_those_of_the_reference() {
    let mut rng = Rng(32);
    for (d, monoid) in
        [(DType::I32, Monoid::Sum), (DType::I64, Monoid::Prod), (DType::F64, Monoid::Max), (DType::U8, Monoid::Min)]
    {
        for dims in if cfg!(miri) { &SIZES[..3] } else { &SIZES[..6] } {
            let (x, y) = (rng.array(d, dims), rng.array(d, dims));
            for styles in [[Style::Dense, Style::Transposed], [Style::Transposed, Style::Dense]] {
                let inputs = [(&x, styles[0]), (&y, styles[1])];
                check(&kernel(d, monoid, None), &inputs, &[(&dims[..1], Style::Padded); 3], &[1]);
                check(&kernel(d, monoid, Some(after(d))), &inputs, &[(&dims[..1], Style::Dense); 2], &[1, 2]);
            }
        }
    }
}

#[test]
fn programs_that_do_not_fit_a_reduction_are_refused() {
    let good = kernel(DType::F32, Monoid::Sum, Some(after(DType::F32)));
    let Kernel::Reduce(good) = good else { unreachable!() };
    assert!(good.verify().is_ok() && !good.is_plain());
    let bad = [
        Reduce { input: DType::F64, ..good.clone() },
        Reduce { acc: DType::F64, ..good.clone() },
        Reduce { combine: Combine::ArgMax, ..good.clone() },
        Reduce { combine: Combine::ArgMax, post: None, ..good.clone() },
        Reduce { post: Some(before(DType::F32)), ..good.clone() },
    ];
    for kernel in bad {
        assert!(kernel.verify().is_err(), "{kernel:?}");
        let x = Array::from_slice(&[1, 1, 1], &[1.0f32]).unwrap();
        let kernel = Kernel::Reduce(kernel);
        let run = ferrotensor_core::reference::run(&kernel, &[x.clone(), x], &[&[1usize][..]; 3], &[0, 0]);
        assert!(run.is_err(), "{kernel:?}");
    }
    let x = Array::from_slice(&[1, 1, 1], &[3.0f32]).unwrap();
    assert_eq!(expected(&Kernel::Reduce(good), &[&x, &x], &[&[1usize][..]; 2], &[0, 0]).len(), 2);
}

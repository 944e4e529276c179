//! `Contract`: integers exactly, floats within their bound.

use crate::harness::{Rng, STYLES, Style, assert_same, check, run};
use ferrotensor_core::element::bf16;
use ferrotensor_core::kernel::{Contract, Kernel, Map};
use ferrotensor_core::reference::{self, Array};
use ferrotensor_core::scalar::{Builder, Op};
use ferrotensor_core::{DType, blocks};
use std::ops::{Add, Range};

/// Batch axes, m, k, n.
type Case = (&'static [usize], usize, usize, usize);
const CASES: [Case; 8] = [
    (&[], 1, 1, 1),
    (&[], 3, 5, 7),
    (&[2], 4, 0, 3),
    (&[], 0, 2, 2),
    (&[2, 3], 9, 17, 5),
    (&[], 70, 33, 1),
    (&[], 1, 40, 65),
    (&[3], 33, 70, 41),
];

/// The shape of a batch of matrices.
pub fn dims(batch: &[usize], rows: usize, columns: usize) -> Vec<usize> {
    [batch, &[rows, columns]].concat()
}

#[test]
fn integer_products_equal_the_reference() {
    let mut rng = Rng(31);
    for d in DType::all().filter(|d| d.is_integer() || *d == DType::Bool) {
        for (batch, m, k, n) in CASES {
            let (a, b) = (rng.array(d, &dims(batch, m, k)), rng.array(d, &dims(batch, k, n)));
            let inputs = [(&a, rng.pick(&STYLES)), (&b, rng.pick(&STYLES))];
            check(&Kernel::Contract(Contract::new(d)), &inputs, &[(&dims(batch, m, n), rng.pick(&STYLES[1..]))], &[]);
        }
    }
}

#[test]
fn float_products_keep_their_bound_in_every_layout() {
    let mut rng = Rng(32);
    for (d, u) in [
        (DType::F32, 2f64.powi(-24)),
        (DType::F64, 2f64.powi(-53)),
        (DType::C64, 2f64.powi(-22)),
        (DType::C128, 2f64.powi(-51)),
        (DType::F16, 2f64.powi(-11)),
        (DType::BF16, 2f64.powi(-8)),
    ] {
        for (batch, m, k, n) in CASES {
            let array = |rng: &mut Rng, dims: Vec<usize>| {
                let count = dims.iter().product::<usize>() * if d.is_complex() { 2 } else { 1 };
                let noise: Vec<f64> = (0..count).map(|_| (rng.below(2001) as f64 - 1000.0) / 512.0).collect();
                let bytes: Vec<u8> = noise
                    .iter()
                    .flat_map(|&v| reference::Scalar::float(v).encode(d.info().real).into_iter().take(d.info().real.bytes()))
                    .collect();
                Array::new(d, &dims, bytes).unwrap()
            };
            let (a, b) = (array(&mut rng, dims(batch, m, k)), array(&mut rng, dims(batch, k, n)));
            let (kernel, out) = (Kernel::Contract(Contract::new(d)), dims(batch, m, n));
            let want = reference::run(&kernel, &[a.clone(), b.clone()], &[&out], &[]).unwrap().remove(0);
            let scale = reference::magnitude(&kernel, &[a.clone(), b.clone()], &[&out], &[]).unwrap().unwrap();
            for style in [Style::Dense, Style::Transposed, Style::Reversed, Style::Padded] {
                let got = run(&kernel, &[(&a, style), (&b, Style::Offset)], &[(&out, style)], &[]).remove(0);
                for (i, scale) in scale.iter().enumerate() {
                    let error = match (got.get(i), want.get(i)) {
                        (reference::Scalar::Complex(a, b), reference::Scalar::Complex(c, d)) => {
                            (a.hi - c.hi).hypot(b.hi - d.hi)
                        }
                        (x, y) => (x.real().hi - y.real().hi).abs(),
                    };
                    let bound = (k as f64 + 1.0) * u * scale;
                    assert!(error <= bound, "{d} {m}x{k}x{n} {style:?}: error {error}, bound {bound}");
                }
            }
        }
    }
}

#[test]
fn a_large_product_is_the_same_for_one_and_two_threads_and_right() {
    let (m, k, n) = (600, 64, 300);
    let values = |count: usize| -> Vec<f32> { (0..count).map(|i| (i % 17) as f32 - 8.0).collect() };
    let (a, b) = (Array::from_slice(&[m, k], &values(m * k)).unwrap(), Array::from_slice(&[k, n], &values(k * n)).unwrap());
    let kernel = Kernel::Contract(Contract::new(DType::F32));
    // Small integers: exact in any order.
    let (av, bv) = (values(m * k), values(k * n));
    let got = run(&kernel, &[(&a, Style::Transposed), (&b, Style::Padded)], &[(&[m, n], Style::Padded)], &[]).remove(0);
    let got: Vec<f32> = got.to_vec().unwrap();
    for (i, j) in [(0, 0), (599, 299), (255, 1), (256, 299), (311, 77)] {
        let want: f32 = (0..k).map(|l| av[i * k + l] * bv[l * n + j]).sum();
        assert_eq!(got[i * n + j], want, "element {i}, {j}");
    }
    let turned = run(
        &kernel,
        &[(&turn(&b, k, n), Style::Transposed), (&turn(&a, m, k), Style::Dense)],
        &[(&[n, m], Style::Dense)],
        &[],
    );
    let turned: Vec<f32> = turned[0].to_vec().unwrap();
    assert!((0..m * n).all(|p| turned[p % n * m + p / n] == got[p]), "(a b) transposed is b transposed times a transposed");
}

/// The transpose.
fn turn(x: &Array, rows: usize, columns: usize) -> Array {
    let v: Vec<f32> = x.to_vec().unwrap();
    let t: Vec<f32> = (0..rows * columns).map(|p| v[p % rows * columns + p / rows]).collect();
    Array::from_slice(&[columns, rows], &t).unwrap()
}

/// Shapes around every seam: tiles of rows and columns, blocks of rows, columns and places, groups, few rows, few columns.
const SEAMS: [(usize, usize, usize); 25] = [
    (4, 35, 50),
    (1, 300, 1100),
    (1, 1300, 1100),
    (3, 1300, 140),
    (60, 1300, 33),
    (16, 16, 16),
    (60, 300, 3),
    (1900, 3, 40),
    (40, 3, 2100),
    (1, 1, 1),
    (1, 700, 131),
    (131, 700, 1),
    (2, 33, 200),
    (13, 9, 31),
    (14, 9, 32),
    (15, 9, 33),
    (28, 20, 97),
    (29, 20, 97),
    (29, 600, 10),
    (64, 64, 64),
    (65, 63, 66),
    (300, 513, 40),
    (40, 1030, 530),
    (257, 5, 600),
    (100, 0, 40),
];

/// Numbers of a sum whose rounding errors show the order of its terms.
fn uneven<T>(count: usize, seed: u64, of: impl Fn(f64) -> T) -> Vec<T> {
    let mut rng = Rng(seed);
    (0..count).map(|_| of((rng.below(1 << 20) as f64 - 5e5) * 1.1f64.powi(rng.below(40) as i32))).collect()
}

/// A sum by the definition; `step` adds the product of a place.
fn by_blocks<T: Default + Add<Output = T>>(k: usize, d: DType, step: impl Fn(usize, T) -> T) -> T {
    blocks::sum(k, blocks::places(d), |places| places.fold(T::default(), |sum, l| step(l, sum)), |x, y| x + y)
}

#[test]
fn after_so_many_blocks_a_total_is_set_aside() {
    let dense = (Style::Dense, Style::Dense, Style::Dense);
    let turned = (Style::Padded, Style::Transposed, Style::Transposed);
    // One row over far columns, few rows over columns whose places lie beside each other, few columns, and copies of both.
    for (nth, (m, n)) in [(1, 131), (2, 3), (31, 1), (30, 9)].into_iter().enumerate() {
        for d in [DType::F32, DType::F64, DType::BF16].into_iter().take(2 + nth / 3) {
            let total = blocks::places(d.compute()) * blocks::BLOCKS;
            let k = if m * n == 6 { 2 * total + 700 } else { total + 700 };
            let (x, y) = (uneven(m * k, 7, bf16::from_f64), uneven(k * n, 8, bf16::from_f64));
            let array = |dims: &[usize], v: &[bf16]| match d {
                DType::BF16 => Array::from_slice(dims, v),
                DType::F32 => Array::from_slice(dims, &v.iter().map(|x| x.to_f32()).collect::<Vec<_>>()),
                _ => Array::from_slice(dims, &v.iter().map(|x| x.to_f64()).collect::<Vec<_>>()),
            };
            let (a, b) = (array(&[m, k], &x).unwrap(), array(&[k, n], &y).unwrap());
            let sum = |p: usize| {
                let at = |l: usize| (x[p / n * k + l], y[l * n + p % n]);
                if d == DType::F64 {
                    return by_blocks(k, d, |l, sum: f64| at(l).0.to_f64().mul_add(at(l).1.to_f64(), sum));
                }
                let sum = by_blocks(k, DType::F32, |l, sum: f32| at(l).0.to_f32().mul_add(at(l).1.to_f32(), sum));
                f64::from(if d == DType::BF16 { bf16::from_f32(sum).to_f32() } else { sum })
            };
            let sums: Vec<f64> = (0..m * n).map(sum).collect();
            let (of_a, of_b, to) = if m == 2 || m == 30 && d == DType::F64 { turned } else { dense };
            let got = run(&Kernel::Contract(Contract::new(d)), &[(&a, of_a), (&b, of_b)], &[(&[m, n], to)], &[]).remove(0);
            for (p, sum) in sums.iter().enumerate() {
                assert_eq!(got.get(p).real().hi.to_bits(), sum.to_bits(), "{d} {m} x {k} x {n}, {of_b:?} {to:?}: {p}");
            }
        }
    }
}

#[test]
fn every_sum_goes_by_blocks_of_places() {
    for (m, k, n) in SEAMS {
        let (x, y) = (uneven(m * k, 1, |v| v as f32), uneven(k * n, 2, |v| v as f32));
        let (a, b) = (Array::from_slice(&[m, k], &x).unwrap(), Array::from_slice(&[k, n], &y).unwrap());
        let sum = |p: usize| by_blocks(k, DType::F32, |l, sum: f32| x[p / n * k + l].mul_add(y[l * n + p % n], sum));
        let sums: Vec<f32> = (0..m * n).map(sum).collect();
        let kernel = Kernel::Contract(Contract::new(DType::F32));
        for (of_a, of_b) in [
            (Style::Dense, Style::Dense),
            (Style::Transposed, Style::Dense),
            (Style::Padded, Style::Transposed),
            (Style::Reversed, Style::Stepped),
        ] {
            for to in [Style::Dense, Style::Transposed, Style::Padded] {
                let got: Vec<f32> = run(&kernel, &[(&a, of_a), (&b, of_b)], &[(&[m, n], to)], &[])[0].to_vec().unwrap();
                for (p, (got, sum)) in got.iter().zip(&sums).enumerate() {
                    assert_eq!(got.to_bits(), sum.to_bits(), "{m} x {k} x {n}, {of_a:?} {of_b:?} {to:?}: {p}");
                }
            }
        }
    }
}

#[test]
fn sums_of_doubles_and_complex_numbers_go_by_blocks_too() {
    for (m, k, n) in SEAMS.into_iter().filter(|(m, k, n)| m * k * n < 300_000) {
        let (x, y) = (uneven(2 * m * k, 3, |v| v), uneven(2 * k * n, 4, |v| v));
        let kernel = |d| Kernel::Contract(Contract::new(d));
        let array = |d: DType, dims: [usize; 2], values: &[f64]| {
            let bytes = values.iter().flat_map(|&v| v.to_ne_bytes()).collect();
            Array::new(d, &dims, bytes).unwrap()
        };
        let (a, b) = (array(DType::F64, [m, k], &x[..m * k]), array(DType::F64, [k, n], &y[..k * n]));
        let got: Vec<f64> =
            run(&kernel(DType::F64), &[(&a, Style::Dense), (&b, Style::Dense)], &[(&[m, n], Style::Dense)], &[])[0]
                .to_vec()
                .unwrap();
        for (p, got) in got.iter().enumerate() {
            let (i, j) = (p / n, p % n);
            let sum = by_blocks(k, DType::F64, |l, sum: f64| x[i * k + l].mul_add(y[l * n + j], sum));
            assert_eq!(got.to_bits(), sum.to_bits(), "float64 {m} x {k} x {n}: {p}");
        }
        let (a, b) = (array(DType::C128, [m, k], &x), array(DType::C128, [k, n], &y));
        let got =
            run(&kernel(DType::C128), &[(&a, Style::Transposed), (&b, Style::Dense)], &[(&[m, n], Style::Padded)], &[])
                .remove(0);
        for p in 0..m * n {
            let (i, j) = (p / n, p % n);
            let step = |l: usize, (re, im): (f64, f64)| {
                let (a, b) = (i * k + l, l * n + j);
                let (re, im) = (x[2 * a].mul_add(y[2 * b], re), x[2 * a].mul_add(y[2 * b + 1], im));
                (x[2 * a + 1].mul_add(-y[2 * b + 1], re), x[2 * a + 1].mul_add(y[2 * b], im))
            };
            let chain = |places: Range<usize>| places.fold((0., 0.), |sum, l| step(l, sum));
            let sum = blocks::sum(k, blocks::places(DType::C128), chain, |x, y| (x.0 + y.0, x.1 + y.1));
            let reference::Scalar::Complex(re, im) = got.get(p) else { panic!("a complex number") };
            assert_eq!((re.hi, im.hi), sum, "complex128 {m} x {k} x {n}: {p}");
        }
    }
}

#[test]
fn halves_are_rounded_once_however_many_places_there_are() {
    for (m, k, n) in [(1, 1100, 40), (20, 1100, 33), (70, 1100, 40), (40, 600, 1), (1100, 3, 40)] {
        let (x, y) = (uneven(m * k, 5, bf16::from_f64), uneven(k * n, 6, bf16::from_f64));
        let (a, b) = (Array::from_slice(&[m, k], &x).unwrap(), Array::from_slice(&[k, n], &y).unwrap());
        let kernel = Kernel::Contract(Contract::new(DType::BF16));
        for (of, to) in [(Style::Dense, Style::Dense), (Style::Transposed, Style::Padded)] {
            let got: Vec<bf16> = run(&kernel, &[(&a, of), (&b, of)], &[(&[m, n], to)], &[])[0].to_vec().unwrap();
            for (p, got) in got.iter().enumerate() {
                let (i, j) = (p / n, p % n);
                let step = |l: usize, sum: f32| x[i * k + l].to_f32().mul_add(y[l * n + j].to_f32(), sum);
                let sum = by_blocks(k, DType::F32, step);
                assert_eq!(got.to_bits(), bf16::from_f32(sum).to_bits(), "{m} x {k} x {n}, {of:?} {to:?}: {p}");
            }
        }
    }
}

#[test]
fn a_batch_has_the_bits_of_its_products_one_by_one_also_where_all_share_a_factor() {
    let mut rng = Rng(34);
    let (count, m, k, n) = (3, 20, 40, 35);
    for d in [DType::F32, DType::F16, DType::C64] {
        let (a, one) = (rng.array(d, &[count, m, k]), rng.array(d, &[k, n]));
        let row = m * k * d.bytes();
        let same: Vec<u8> = (0..count).flat_map(|_| one.bytes().iter().copied()).collect();
        let b = Array::new(d, &[count, k, n], same).unwrap();
        let kernel = Kernel::Contract(Contract::new(d));
        let alone: Vec<u8> = (0..count)
            .flat_map(|i| {
                let a = Array::new(d, &[m, k], a.bytes()[i * row..][..row].to_vec()).unwrap();
                let inputs = [(&a, Style::Dense), (&one, Style::Dense)];
                run(&kernel, &inputs, &[(&[m, n], Style::Dense)], &[])[0].bytes().to_vec()
            })
            .collect();
        let want = Array::new(d, &[count, m, n], alone).unwrap();
        for (of_a, of_b, to) in [
            (Style::Dense, Style::Broadcast, Style::Dense),
            (Style::Dense, Style::Broadcast, Style::Padded),
            (Style::Transposed, Style::Broadcast, Style::Dense),
            (Style::Reversed, Style::Transposed, Style::Reversed),
        ] {
            let got = run(&kernel, &[(&a, of_a), (&b, of_b)], &[(&[count, m, n], to)], &[]).remove(0);
            assert_same(&got, &want, format_args!("{d} {of_a:?} {of_b:?} {to:?}"));
        }
    }
}

#[test]
fn a_map_after_a_product_may_change_its_dtype() {
    let mut rng = Rng(36);
    for (from, to) in
        [(DType::F32, DType::I32), (DType::I64, DType::F64), (DType::I16, DType::F32), (DType::Bool, DType::I64)]
    {
        let mut b = Builder::new();
        let (sum, more) = (b.input(from), b.input(to));
        let sum = b.cast(sum, to);
        let out = b.binary(Op::Add, sum, more);
        let post = b.finish(&[out]);
        for (m, k, n) in [(3, 5, 7), (30, 600, 70)] {
            let of = [vec![m, k], vec![k, n], vec![m, n]];
            let [x, y] = [0, 1].map(|i| rng.array(from, &of[i]));
            let (z, style) = (rng.array(to, &of[2]), rng.pick(&STYLES));
            let bare = Kernel::Contract(Contract::new(from));
            let sums = run(&bare, &[(&x, Style::Dense), (&y, Style::Dense)], &[(&of[2], Style::Dense)], &[]).remove(0);
            let map = Kernel::Map(Map { program: post.clone() });
            let want = run(&map, &[(&sums, Style::Dense), (&z, Style::Dense)], &[(&of[2], Style::Dense)], &[]).remove(0);
            let fused = Kernel::Contract(Contract { post: Some(post.clone()), ..Contract::new(from) });
            let inputs = [(&x, Style::Padded), (&y, Style::Transposed), (&z, style)];
            let got = run(&fused, &inputs, &[(&of[2], style)], &[]).remove(0);
            assert_same(&got, &want, format_args!("{from} to {to}, {m} x {k} x {n}, {style:?}"));
        }
    }
}

#[test]
fn operands_may_be_narrower_integers() {
    let mut rng = Rng(37);
    let pairs =
        [(DType::I8, DType::I16, DType::I32), (DType::U8, DType::I8, DType::I16), (DType::U32, DType::I64, DType::I64)];
    for (a, b, d) in pairs {
        for (batch, m, k, n) in CASES {
            let (x, y) = (rng.array(a, &dims(batch, m, k)), rng.array(b, &dims(batch, k, n)));
            let kernel = Kernel::Contract(Contract { operands: [a, b], ..Contract::new(d) });
            let inputs = [(&x, rng.pick(&STYLES)), (&y, rng.pick(&STYLES))];
            check(&kernel, &inputs, &[(&dims(batch, m, n), rng.pick(&STYLES))], &[]);
        }
    }
}

#[test]
fn a_map_after_a_product_has_the_bits_of_both_one_after_the_other() {
    let mut rng = Rng(33);
    for d in [DType::F32, DType::F64, DType::BF16, DType::C64] {
        // sums * scale + bias, the sums read twice; less the row's number and twice the column's.
        let post = |rank: usize| {
            let mut b = Builder::new();
            let (sum, bias) = (b.input(d), b.input(d));
            let scale = b.param(DType::F32);
            let scale = b.cast(scale, d);
            let scaled = b.binary(Op::Mul, sum, scale);
            let (biased, twice) = (b.binary(Op::Add, scaled, bias), b.binary(Op::Add, sum, sum));
            let mut out = b.binary(Op::Sub, biased, twice);
            for axis in [rank - 2, rank - 1, rank - 1] {
                let place = b.index(axis as u8, DType::I32);
                let place = b.cast(place, d);
                out = b.binary(Op::Sub, out, place);
            }
            b.finish(&[out])
        };
        let params = [u64::from(0.75f32.to_bits())];
        for (batch, m, k, n) in CASES.into_iter().chain([(&[][..], 300, 600, 70), (&[2], 70, 300, 9)]) {
            let of = [dims(batch, m, k), dims(batch, k, n), dims(batch, m, n)];
            let [x, y, z] = of.clone().map(|dims| rng.array(d, &dims));
            let (post, style) = (post(of[2].len()), rng.pick(&STYLES[1..]));
            let bare = Kernel::Contract(Contract::new(d));
            let sums = run(&bare, &[(&x, Style::Dense), (&y, Style::Dense)], &[(&of[2], Style::Dense)], &[]).remove(0);
            let map = Kernel::Map(Map { program: post.clone() });
            let want = run(&map, &[(&sums, Style::Dense), (&z, Style::Dense)], &[(&of[2], Style::Dense)], &params).remove(0);
            let fused = Kernel::Contract(Contract { post: Some(post.clone()), ..Contract::new(d) });
            let inputs = [(&x, Style::Dense), (&y, Style::Transposed), (&z, rng.pick(&STYLES))];
            let got = run(&fused, &inputs, &[(&of[2], style)], &params).remove(0);
            assert_same(&got, &want, format_args!("{d} {batch:?} {m} x {k} x {n}, {style:?}"));
        }
    }
}

//! `Contract`: integers exactly, floats within their bound.

use crate::harness::{Rng, STYLES, Style, check, run};
use ferrotensor_core::DType;
use ferrotensor_core::kernel::{Contract, Kernel};
use ferrotensor_core::reference::{self, Array};

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

fn dims(batch: &[usize], rows: usize, columns: usize) -> Vec<usize> {
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

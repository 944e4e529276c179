//! `Window`: poolings have the bits of the reduction tree over their places, convolutions those of products over theirs.

use crate::harness::{Rng, STYLES, Style, assert_same, check, run};
use ferrotensor_core::kernel::{Combine, Kernel, Monoid, Reduce, Window, WindowAxis, WindowCombine};
use ferrotensor_core::reference::{Array, Scalar};
use ferrotensor_core::{DType, blocks};

/// Size, stride, dilation, positions before the data.
type Axis = (usize, usize, usize, usize);

fn window(combine: WindowCombine, dtype: DType, axes: &[Axis]) -> Kernel {
    let axis = |&(size, stride, dilation, low): &Axis| WindowAxis { size, stride, dilation, low };
    Kernel::Window(Window { combine, dtype, axes: axes.iter().map(axis).collect() })
}

/// Axes, data behind the leading ones, windows: around every seam of the copy that poolings and convolutions read.
const POOLS: [(&[Axis], &[usize], &[usize]); 18] = [
    (&[(2, 1, 1, 0)], &[5], &[4]),
    (&[(3, 2, 1, 1)], &[7], &[4]),
    (&[(2, 5, 1, 0)], &[40], &[8]),
    (&[(4, 2, 3, 4)], &[9], &[5]),
    (&[(3, 3, 2, 2)], &[1], &[2]),
    (&[(2, 1, 1, 3)], &[2], &[7]),
    (&[(12, 7, 1, 0)], &[200], &[27]),
    (&[(2, 2, 1, 0), (2, 2, 1, 0)], &[6, 8], &[3, 4]),
    (&[(3, 2, 1, 1), (3, 2, 1, 1)], &[11, 13], &[6, 7]),
    (&[(3, 1, 2, 2), (2, 3, 1, 0)], &[6, 9], &[6, 3]),
    (&[(1, 4, 1, 0), (3, 1, 1, 1)], &[9, 5], &[3, 5]),
    (&[(2, 1, 1, 0), (1, 1, 1, 0), (3, 2, 1, 2)], &[3, 2, 6], &[2, 2, 4]),
    (&[(2, 2, 1, 1), (2, 2, 1, 1)], &[70, 60], &[36, 31]),
    // More places than half a row of lanes, than a row, and as many as are met.
    (&[(5, 1, 1, 2), (5, 1, 1, 2)], &[9, 21], &[9, 21]),
    (&[(7, 2, 1, 3), (7, 2, 1, 3)], &[11, 15], &[6, 8]),
    (&[(33, 1, 1, 4)], &[40], &[12]),
    (&[(4, 3, 1, 0), (4, 1, 1, 1), (4, 4, 1, 0)], &[7, 6, 16], &[2, 5, 4]),
    (&[(32, 1, 1, 0)], &[35], &[4]),
];

#[test]
fn poolings_have_the_bits_of_the_tree_over_their_places() {
    let mut rng = Rng(71);
    for (n, (axes, spatial, windows)) in POOLS.into_iter().enumerate() {
        for (k, d) in DType::all().enumerate() {
            let monoid = match (d, (n + k) % 4) {
                (DType::Bool, _) => Monoid::Any,
                (d, m) if d.is_complex() => [Monoid::Sum, Monoid::Prod][m % 2],
                (_, m) => [Monoid::Sum, Monoid::Prod, Monoid::Max, Monoid::Min][m],
            };
            let lead: &[usize] = [&[3][..], &[2, 2], &[1, 5], &[]][(n + k) % 4];
            let data = rng.array(d, &[lead, spatial].concat());
            check_pooling(monoid, axes, (spatial, windows), &data, [rng.pick(&STYLES), rng.pick(&STYLES)]);
        }
    }
}

/// Compares a pooling with a reduction of the windows one by one.
fn check_pooling(monoid: Monoid, axes: &[Axis], sizes: (&[usize], &[usize]), data: &Array, styles: [Style; 2]) {
    let ((spatial, windows), d) = (sizes, data.dtype());
    let out = [&data.dims()[..data.dims().len() - spatial.len()], windows].concat();
    let kernel = window(WindowCombine::Reduce(monoid), d, axes);
    let got = run(&kernel, &[(data, styles[0])], &[(&out, styles[1])], &[]).remove(0);
    let places: usize = axes.iter().map(|a| a.0).product();
    let rows = windows_of(data, axes, spatial, windows, outside(monoid, d));
    let reduce =
        Kernel::Reduce(Reduce { axes: 1, combine: Combine::Value(monoid), input: d, acc: d, pre: None, post: None });
    let flat = Array::new(d, &[rows.len() / places, places], rows.concat()).unwrap();
    let want = run(&reduce, &[(&flat, Style::Dense)], &[(&[rows.len() / places], Style::Dense)], &[]).remove(0);
    let want = Array::new(d, &out, want.bytes().to_vec()).unwrap();
    // What a product with the identity makes of infinite parts is no promise.
    if !(d.is_complex() && monoid == Monoid::Prod) {
        assert_same(&want, &got, format_args!("{kernel:?} over {:?}, {styles:?}", data.dims()));
    }
}

/// Rows of windows that are met line by line, unless one of the elements is NaN.
const LONG: [(&[Axis], &[usize], &[usize]); 11] = [
    (&[(3, 2, 1, 1)], &[40], &[20]),
    (&[(12, 1, 1, 0)], &[27], &[16]),
    (&[(3, 2, 1, 1), (3, 2, 1, 1)], &[9, 112], &[5, 56]),
    (&[(2, 2, 1, 0), (2, 2, 1, 0)], &[6, 35], &[3, 17]),
    (&[(3, 1, 2, 5), (3, 1, 2, 3)], &[4, 33], &[11, 35]),
    (&[(2, 3, 1, 0), (4, 3, 2, 2)], &[7, 60], &[2, 19]),
    (&[(2, 1, 1, 1), (1, 2, 1, 0), (3, 2, 1, 2)], &[3, 4, 34], &[4, 2, 18]),
    (&[(5, 1, 1, 2), (5, 1, 1, 2)], &[8, 40], &[8, 40]),
    (&[(64, 1, 1, 3)], &[90], &[30]),
    (&[(8, 4, 1, 0), (8, 2, 1, 3)], &[17, 50], &[3, 24]),
    // More windows than data.
    (&[(3, 1, 1, 30)], &[16], &[74]),
];

#[test]
fn largest_and_smallest_of_long_lines_have_the_bits_of_the_tree() {
    let mut rng = Rng(76);
    for (n, (axes, spatial, windows)) in LONG.into_iter().enumerate() {
        for (k, d) in DType::all().filter(|d| !d.is_complex() && *d != DType::Bool).enumerate() {
            let monoid = [Monoid::Max, Monoid::Min][(n + k) % 2];
            let area: usize = spatial.iter().product();
            let mut values: Vec<Scalar> = (0..5 * area)
                .map(|_| match rng.below(6) {
                    0 => Scalar::float(-0.0),
                    _ => Scalar::float(rng.below(9) as f64 - 4.0),
                })
                .collect();
            // One plane of five is in doubt.
            values[2 * area + rng.below(area)] = Scalar::float(if d.is_float() { f64::NAN } else { 3.0 });
            let data = Array::from_scalars(d, &[&[5], spatial].concat(), values.into_iter().map(|x| x.fit(d))).unwrap();
            for styles in [[Style::Dense; 2], [Style::Padded, Style::Offset], [Style::Offset, Style::Padded]] {
                check_pooling(monoid, axes, (spatial, windows), &data, styles);
            }
            check_pooling(monoid, axes, (spatial, windows), &data, [rng.pick(&STYLES), rng.pick(&STYLES)]);
        }
    }
}

/// The bytes of the identity.
fn outside(monoid: Monoid, dtype: DType) -> Vec<u8> {
    let number = Scalar::float(monoid.identity_literal(dtype));
    let one = |x: Scalar| Array::from_scalars(dtype, &[1], [x]).unwrap().bytes().to_vec();
    match (monoid, dtype) {
        (Monoid::Sum, d) if d.is_complex() => one(Scalar::Complex((-0.0).into(), (-0.0).into())),
        (Monoid::Max | Monoid::Min, d) if d.is_integer() => {
            let literal = ferrotensor_core::scalar::literal_bits(d, monoid.identity_literal(d));
            literal.to_le_bytes()[..d.bytes()].to_vec()
        }
        _ => one(number.fit(dtype)),
    }
}

/// The bytes of the element each place of each window shows, window by window, of each plane.
fn windows_of(data: &Array, axes: &[Axis], spatial: &[usize], windows: &[usize], outside: Vec<u8>) -> Vec<Vec<u8>> {
    let (size, area) = (data.dtype().bytes(), spatial.iter().product::<usize>());
    let lead = data.dims()[..data.dims().len() - axes.len()].iter().product::<usize>();
    let digits = |mut n: usize, of: &[usize]| {
        let mut all: Vec<usize> = of.iter().rev().map(|&d| (n % d, n /= d).0).collect();
        all.reverse();
        all
    };
    let sizes: Vec<usize> = axes.iter().map(|a| a.0).collect();
    let mut all = Vec::new();
    for plane in 0..lead {
        for o in 0..windows.iter().product() {
            for k in 0..sizes.iter().product() {
                let (o, k) = (digits(o, windows), digits(k, &sizes));
                let mut at = Some(0);
                for (a, &(_, stride, dilation, low)) in axes.iter().enumerate() {
                    let position = (o[a] * stride + k[a] * dilation).checked_sub(low).filter(|&p| p < spatial[a]);
                    at = at.zip(position).map(|(at, p)| at * spatial[a] + p);
                }
                let element = at.map(|at| data.bytes()[(plane * area + at) * size..][..size].to_vec());
                all.push(element.unwrap_or_else(|| outside.clone()));
            }
        }
    }
    all
}

/// Batch, groups, channels, rows; axes; data; windows.
type Case = ([usize; 4], &'static [Axis], &'static [usize], &'static [usize]);
const CASES: [Case; 17] = [
    ([1, 1, 1, 1], &[(1, 1, 1, 0)], &[1], &[1]),
    ([2, 1, 3, 5], &[(3, 1, 1, 1)], &[50], &[50]),
    ([1, 2, 4, 3], &[(3, 1, 1, 0)], &[40], &[38]),
    ([2, 3, 1, 1], &[(3, 2, 1, 1), (3, 2, 1, 1)], &[12, 14], &[6, 7]),
    ([1, 1, 5, 29], &[(3, 1, 1, 1), (3, 1, 1, 1)], &[9, 11], &[9, 11]),
    ([1, 1, 70, 14], &[(3, 1, 1, 1), (3, 1, 1, 1)], &[8, 33], &[8, 33]),
    ([3, 1, 2, 4], &[(2, 1, 1, 0), (2, 1, 1, 0)], &[3, 3], &[2, 2]),
    ([2, 1, 6, 15], &[(1, 1, 1, 0), (1, 1, 1, 0)], &[7, 9], &[7, 9]),
    ([2, 2, 3, 2], &[(1, 2, 1, 0), (1, 3, 1, 0)], &[7, 9], &[4, 3]),
    ([1, 1, 2, 3], &[(3, 1, 2, 2), (5, 3, 2, 4)], &[10, 30], &[10, 10]),
    ([4, 1, 2, 3], &[(9, 1, 1, 1), (10, 1, 1, 1)], &[9, 10], &[3, 3]),
    ([1, 1, 2, 3], &[(2, 1, 1, 0), (3, 1, 1, 1), (2, 2, 1, 0)], &[4, 9, 8], &[3, 9, 4]),
    ([1, 1, 0, 3], &[(2, 1, 1, 0)], &[40], &[39]),
    ([1, 1, 3, 2], &[(2, 1, 1, 3)], &[2], &[7]),
    ([2, 1, 3, 300], &[(3, 1, 1, 0), (3, 1, 1, 0)], &[9, 40], &[7, 38]),
    ([0, 1, 3, 2], &[(2, 1, 1, 0)], &[5], &[4]),
    ([1, 1, 300, 3], &[(3, 1, 1, 1), (2, 1, 1, 0)], &[9, 11], &[9, 10]),
];

#[test]
fn convolutions_add_as_products_do() {
    let mut rng = Rng(72);
    for ([batch, group, channels, rows], axes, spatial, windows) in CASES {
        let taps: Vec<usize> = axes.iter().map(|a| a.0).collect();
        let dims = |lead: &[usize], last: &[usize]| [lead, last].concat();
        let (of_data, of_weights) = (dims(&[batch, group, channels], spatial), dims(&[group, rows, channels], &taps));
        let out = dims(&[batch, group, rows], windows);
        let mut values = |dims: &[usize]| -> Vec<f32> {
            let one = |_| ((rng.below(1 << 20) as f64 - 5e5) * 1.1f64.powi(rng.below(40) as i32)) as f32;
            (0..dims.iter().product()).map(one).collect()
        };
        let (x, w) = (values(&of_data), values(&of_weights));
        let (data, weights) = (Array::from_slice(&of_data, &x).unwrap(), Array::from_slice(&of_weights, &w).unwrap());
        let shown = windows_of(&data, axes, spatial, windows, vec![0; 4]);
        let shown: Vec<f32> = shown.iter().map(|b| f32::from_le_bytes(b[..].try_into().unwrap())).collect();
        let (count, volume): (usize, usize) = (windows.iter().product(), taps.iter().product());
        let chain = |p: usize| {
            let (window, row) = (p % count, p / count % rows);
            let (g, n) = (p / count / rows % group, p / count / rows / group);
            let step = |sum: f32, l: usize| {
                let plane = (n * group + g) * channels + l / volume;
                let x = shown[(plane * count + window) * volume + l % volume];
                w[((g * rows + row) * channels) * volume + l].mul_add(x, sum)
            };
            let chain = |places: std::ops::Range<usize>| places.fold(0f32, step);
            blocks::sum(channels * volume, blocks::places(DType::F32), chain, |x, y| x + y)
        };
        let kernel = window(WindowCombine::Dot, DType::F32, axes);
        for (of_data, of_weights, to) in [
            (Style::Dense, Style::Dense, Style::Dense),
            (Style::Padded, Style::Transposed, Style::Padded),
            (Style::Transposed, Style::Reversed, Style::Stepped),
            (Style::Reversed, Style::Padded, Style::Transposed),
        ] {
            let got: Vec<f32> =
                run(&kernel, &[(&data, of_data), (&weights, of_weights)], &[(&out, to)], &[])[0].to_vec().unwrap();
            for (p, got) in got.iter().enumerate() {
                assert_eq!(got.to_bits(), chain(p).to_bits(), "{kernel:?} over {:?}, {of_data:?} {to:?}: {p}", data.dims());
            }
        }
    }
}

#[test]
fn convolutions_of_other_floats_are_right() {
    for d in [DType::F16, DType::BF16, DType::F64] {
        for ([batch, group, channels, rows], axes, spatial, windows) in CASES {
            let taps: Vec<usize> = axes.iter().map(|a| a.0).collect();
            // Small integers: exact in any order.
            let whole = |dims: Vec<usize>| {
                let values = (0..dims.iter().product()).map(|i: usize| Scalar::float((i * 7 % 5) as f64 - 2.0));
                Array::from_scalars(d, &dims, values).unwrap()
            };
            let data = whole([&[batch, group, channels], spatial].concat());
            let weights = whole([&[group, rows, channels], &taps[..]].concat());
            let kernel = window(WindowCombine::Dot, d, axes);
            let out = [&[batch, group, rows], windows].concat();
            check(&kernel, &[(&data, Style::Padded), (&weights, Style::Dense)], &[(&out, Style::Dense)], &[]);
        }
    }
}

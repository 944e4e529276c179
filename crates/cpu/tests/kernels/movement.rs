//! `Gather`, `Scatter`, `Sort`.

use crate::harness::{Rng, STYLES, Style, check, launch, tiers};
use ferrotensor_core::kernel::{Gather, Kernel, Monoid, Scatter, Sort, SortOutputs, Update};
use ferrotensor_core::reference::{Array, Scalar};
use ferrotensor_core::{Code, DType};

#[test]
fn gathers_and_scatters_equal_the_reference() {
    let mut rng = Rng(21);
    // Data, number of index operands, their shape.
    let cases: [(&[usize], usize, &[usize]); 6] = [
        (&[5], 1, &[]),
        (&[5], 1, &[700]),
        (&[4, 6], 1, &[3]),
        (&[4, 6], 2, &[2, 3]),
        (&[3, 4, 5, 2], 2, &[600]),
        (&[3, 0], 1, &[2]),
    ];
    for d in DType::all() {
        for (data_dims, n, b) in cases {
            let data = rng.array(d, data_dims);
            let index = rng.indices(data_dims, n, b);
            let dims = [b, &data_dims[n..]].concat();
            let mut inputs = vec![(&data, rng.pick(&STYLES))];
            inputs.extend(index.iter().map(|i| (i, Style::Stepped)));
            let kernel = Kernel::Gather(Gather::new(d, vec![DType::I64; n]));
            check(&kernel, &inputs, &[(&dims, rng.pick(&STYLES[1..]))], &[]);
            let updates = rng.array(d, &dims);
            inputs.push((&updates, rng.pick(&STYLES)));
            for update in [Update::Set, Update::Combine(Monoid::Sum)] {
                let kernel = Kernel::Scatter(Scatter { dtype: d, index: vec![DType::I64; n], update });
                check(&kernel, &inputs, &[(data_dims, rng.pick(&STYLES[1..]))], &[]);
            }
        }
    }
}

/// Updates that lie equally far apart, all in one place too, for single elements and rows of neighbours, more of them than a tile has.
#[test]
fn updates_of_few_targets_are_applied_in_order() {
    let mut rng = Rng(24);
    for d in [DType::F32, DType::BF16, DType::I8, DType::C128] {
        for (data_dims, n) in [(&[3][..], 1), (&[3, 2], 2), (&[2, 5], 1)] {
            let b = &[5000][..];
            let (data, index) = (rng.array(d, data_dims), rng.indices(data_dims, n, b));
            let dims = [b, &data_dims[n..]].concat();
            for (updates, style) in [(rng.array(d, &dims), Style::Dense), (rng.equal(d, &dims, 1), Style::Equal(1))] {
                let mut inputs = vec![(&data, Style::Dense)];
                inputs.extend(index.iter().map(|i| (i, Style::Dense)));
                inputs.push((&updates, style));
                for update in [Update::Set, Update::Combine(Monoid::Sum)] {
                    let kernel = Kernel::Scatter(Scatter { dtype: d, index: vec![DType::I64; n], update });
                    check(&kernel, &inputs, &[(data_dims, Style::Offset)], &[]);
                }
            }
        }
    }
}

/// One index out of range in a tile, along either axis: the others are applied.
#[test]
fn updates_beside_an_index_out_of_range_are_applied() {
    let data = Array::from_slice(&[2, 3], &[0i32; 6]).unwrap();
    let along = |wrong: usize, dim: i64| -> Array {
        let of = |i: usize| if i == wrong { dim } else { i as i64 % dim };
        Array::from_slice(&[600], &(0..600).map(of).collect::<Vec<_>>()).unwrap()
    };
    let index = [along(100, 2), along(400, 3)];
    let updates = Array::from_slice(&[600], &[1i32; 600]).unwrap();
    let update = Update::Combine(Monoid::Sum);
    let kernel = Kernel::Scatter(Scatter { dtype: DType::I32, index: vec![DType::I64; 2], update });
    for tier in tiers() {
        let inputs = [&data, &index[0], &index[1], &updates].map(|a| (a, Style::Dense));
        let (out, outcome) = launch(tier, &kernel, &inputs, &[(&[2, 3], Style::Offset)], &[]);
        // The places 100 and 400 are (0, 1) and (0, 1).
        assert_eq!(out[0].to_vec::<i32>().unwrap(), [100, 98, 100, 100, 100, 100]);
        assert!(outcome.failed[0].1.message.contains("index 2 "), "{:?}", outcome.failed);
    }
}

#[test]
fn every_index_dtype_is_read() {
    let data = Array::from_slice(&[3], &[10i32, 20, 30]).unwrap();
    for d in DType::all().filter(|d| d.is_integer()) {
        let bytes =
            [2u8, 0, 1].iter().flat_map(|&v| std::iter::once(v).chain(std::iter::repeat_n(0, d.bytes() - 1))).collect();
        let index = Array::new(d, &[3], bytes).unwrap();
        let kernel = Kernel::Gather(Gather::new(DType::I32, vec![d]));
        check(&kernel, &[(&data, Style::Dense), (&index, Style::Dense)], &[(&[3], Style::Dense)], &[]);
    }
}

#[test]
fn an_index_out_of_range_fails_with_its_value_and_leaves_the_rest() {
    let data = Array::from_slice(&[3], &[10i32, 20, 30]).unwrap();
    let index = Array::from_slice(&[4], &[1u64, u64::MAX, 2, 3]).unwrap();
    let kernel = Kernel::Gather(Gather::new(DType::I32, vec![DType::U64]));
    for tier in tiers() {
        let inputs = [(&data, Style::Dense), (&index, Style::Dense)];
        let (out, outcome) = launch(tier, &kernel, &inputs, &[(&[4], Style::Offset)], &[]);
        assert_eq!(out[0].to_vec::<i32>().unwrap(), [20, 0, 30, 0]);
        assert_eq!((outcome.failed[0].0, outcome.failed[0].1.code), (0, Code::Index));
    }
    let index = Array::from_slice(&[3], &[1i32, -4, 1]).unwrap();
    let updates = Array::from_slice(&[3], &[1i32, 2, 3]).unwrap();
    let kernel =
        Kernel::Scatter(Scatter { dtype: DType::I32, index: vec![DType::I32], update: Update::Combine(Monoid::Sum) });
    let inputs = [(&data, Style::Dense), (&index, Style::Dense), (&updates, Style::Dense)];
    let (out, outcome) = launch(tiers()[0], &kernel, &inputs, &[(&[3], Style::Offset)], &[]);
    assert_eq!(out[0].to_vec::<i32>().unwrap(), [10, 24, 30]);
    assert!(outcome.failed[0].1.message.contains("-4"), "{:?}", outcome.failed);
}

#[test]
fn sorts_equal_the_reference() {
    let mut rng = Rng(22);
    for d in DType::all().filter(|d| !d.is_complex()) {
        for (dims, k) in
            [(&[1usize][..], 1), (&[3, 50], 50), (&[2, 700], 700), (&[3, 600], 7), (&[4, 0], 0), (&[2, 3, 9], 4)]
        {
            let array = rng.array(d, dims);
            let mut out = dims.to_vec();
            *out.last_mut().unwrap() = k;
            for descending in [false, true] {
                for outputs in [SortOutputs::Values, SortOutputs::Indices, SortOutputs::Both] {
                    let kernel = Kernel::Sort(Sort { dtype: d, descending, outputs });
                    let places = vec![(&out[..], rng.pick(&STYLES[1..])); if outputs == SortOutputs::Both { 2 } else { 1 }];
                    check(&kernel, &[(&array, rng.pick(&STYLES))], &places, &[]);
                }
            }
        }
    }
}

/// Rows that threads share: by digits, by what is kept of each part, and elements that share a key in the order of the row.
#[test]
fn long_sorts_equal_the_reference() {
    let mut rng = Rng(23);
    use SortOutputs::{Both, Indices, Values};
    let n = 140_000;
    for d in [DType::F32, DType::F16, DType::I64] {
        let array = rng.repeated(d, &[n], 50_021);
        for (k, descending, outputs) in [(n, false, Indices), (n, true, Values), (n - 1, false, Both), (700, true, Both)] {
            let kernel = Kernel::Sort(Sort { dtype: d, descending, outputs });
            let out = [k];
            let places = vec![(&out[..], Style::Stepped); if outputs == Both { 2 } else { 1 }];
            check(&kernel, &[(&array, Style::Offset)], &places, &[]);
        }
    }
}

/// Rows long enough for buckets, as they fall into them: all into one, some far larger than others, in order, the other way round, and of
/// as many values as there are buckets.
#[test]
fn long_sorts_of_each_kind_of_row_equal_the_reference() {
    use SortOutputs::{Both, Indices, Values};
    let n = 33_000;
    let float = |of: &dyn Fn(usize) -> f64| (0..n).map(of).collect::<Vec<f64>>();
    let rows = [
        float(&|_| 1.5),
        float(&|i| if i == 777 { -1e30 } else { 1.0 + (i * 7919 % 32_999) as f64 / 32_999.0 }),
        float(&|i| i as f64),
        float(&|i| -(i as f64)),
        float(&|i| [f64::NAN, 0.0, -0.0, 1e-300, -1.0, f64::INFINITY][i * 31 % 6]),
    ];
    for (r, row) in rows.iter().enumerate() {
        for d in [DType::F32, DType::F64, DType::I32, DType::U8, DType::Bool] {
            let array = Array::from_scalars(d, &[n], row.iter().map(|&x| Scalar::float(x).fit(d))).unwrap();
            for (k, descending, outputs) in [(n, r % 2 == 0, Both), (n, r % 2 == 1, [Values, Indices][r % 2])] {
                let kernel = Kernel::Sort(Sort { dtype: d, descending, outputs });
                let out = [k];
                let places = vec![(&out[..], Style::Dense); if outputs == Both { 2 } else { 1 }];
                check(&kernel, &[(&array, Style::Dense)], &places, &[]);
            }
        }
    }
}

/// Which of equal elements come first is decided by their places, in whichever blocks they lie.
#[test]
fn the_first_of_rows_of_few_values_equal_the_reference() {
    let mut rng = Rng(24);
    for n in [64, 257, 3000, 70_001] {
        let values: Vec<f32> = (0..n).map(|_| rng.pick(&[f32::NAN, 0.0, -0.0, 1.0, -1.0])).collect();
        let array = Array::from_slice(&[n], &values).unwrap();
        for k in [1, 4, n / 100 + 1, n / 16] {
            for (descending, outputs) in
                [(false, SortOutputs::Values), (true, SortOutputs::Indices), (true, SortOutputs::Both)]
            {
                let kernel = Kernel::Sort(Sort { dtype: DType::F32, descending, outputs });
                let out = [k];
                let places = vec![(&out[..], Style::Dense); if outputs == SortOutputs::Both { 2 } else { 1 }];
                check(&kernel, &[(&array, rng.pick(&[Style::Dense, Style::Reversed, Style::Stepped]))], &places, &[]);
            }
        }
    }
}

/// The worst order for selection, in which every element is better than those before; and rows all of whose digits but one are equal.
#[test]
fn sorts_of_ascending_and_of_nearly_equal_elements_equal_the_reference() {
    let ascending = Array::from_slice(&[1, 5000], &(0..5000).map(|i| i as f64 / 8.0).collect::<Vec<_>>()).unwrap();
    let near =
        Array::from_slice(&[1, 5000], &(0..5000).map(|i| 70_000 + ((i * 37 % 11) << 8)).collect::<Vec<i32>>()).unwrap();
    for array in [&ascending, &near] {
        for k in [5000, 312, 40, 1] {
            for descending in [false, true] {
                let kernel = Kernel::Sort(Sort { dtype: array.dtype(), descending, outputs: SortOutputs::Both });
                check(&kernel, &[(array, Style::Dense)], &[(&[1, k], Style::Dense), (&[1, k], Style::Padded)], &[]);
            }
        }
    }
}

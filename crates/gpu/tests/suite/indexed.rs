//! Gathers and scatters on a device: the reference's bits, and its errors for indices out of range.

use super::launches::{compare, elements, run};
use super::random::numbers;
use crate::host;
use ferrotensor_core::kernel::{Gather, Kernel, Monoid, Scatter, Update};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::reference::Scalar;
use ferrotensor_core::{Code, DType};
use ferrotensor_gpu::Can;

const INDICES: [DType; 8] = [DType::I8, DType::U8, DType::I16, DType::U16, DType::I32, DType::U32, DType::I64, DType::U64];

/// Indices along an axis, from its end too where the dtype has a sign.
fn indices(dtype: DType, count: usize, dim: usize, seed: usize) -> Vec<u8> {
    let signed = matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
    let index = |n: usize| {
        let at = (n * 7919 + seed * 31) % dim;
        if signed && (n + seed).is_multiple_of(3) { at as i128 - dim as i128 } else { at as i128 }
    };
    list(dtype, (0..count).map(index))
}

fn list(dtype: DType, indices: impl IntoIterator<Item = i128>) -> Vec<u8> {
    indices.into_iter().flat_map(|i| Scalar::Int(i).encode(dtype).into_iter().take(dtype.bytes())).collect()
}

fn gather(dtype: DType, index: &[DType]) -> Kernel {
    Kernel::Gather(Gather::new(dtype, index.to_vec()))
}

fn dense(dims: &[usize]) -> Layout {
    Layout::dense(dims).unwrap()
}

#[test]
fn elements_of_every_dtype_are_gathered_by_indices_of_every_dtype() {
    let Some(device) = host::first() else { return };
    for (n, d) in DType::all().enumerate() {
        for (k, index) in INDICES.into_iter().enumerate() {
            let inputs = [(elements(d, 6 * 5, n as u64), dense(&[6, 5])), (indices(index, 12, 6, k), dense(&[3, 4]))];
            compare(&device, &gather(d, &[index]), &inputs, &[3, 4, 5], &[], &format!("{d} by {index}"));
        }
    }
}

#[test]
fn data_and_indices_lie_in_any_way() {
    let Some(device) = host::first() else { return };
    let base = elements(DType::I16, 2000, 3);
    let turned = dense(&[4, 5, 7]).permute(&[2, 1, 0]).flip(0).flip(2);
    let gaps = dense(&[7, 10, 9]).slice(1, 9, -2, 5).slice(2, 1, 2, 4);
    let wide = dense(&[1, 5, 1]).broadcast(&[7, 5, 4]);
    for (n, data) in [dense(&[7, 5, 4]), turned, gaps, wide].into_iter().enumerate() {
        let index = indices(DType::I32, 60, 4, n);
        for layout in [dense(&[3, 2]), dense(&[2, 3]).permute(&[1, 0]).flip(1), dense(&[1, 2]).broadcast(&[3, 2])] {
            let one = [(base.clone(), data.clone()), (index.clone(), layout.clone())];
            compare(&device, &gather(DType::I16, &[DType::I32]), &one, &[3, 2, 5, 4], &[], "one axis");
            let two = [one[0].clone(), one[1].clone(), (indices(DType::I64, 6, 5, n), dense(&[3, 2]))];
            compare(&device, &gather(DType::I16, &[DType::I32, DType::I64]), &two, &[3, 2, 4], &[], "two axes");
            let all = [two[0].clone(), two[1].clone(), two[2].clone(), (indices(DType::U8, 6, 4, n), dense(&[3, 2]))];
            let kernel = gather(DType::I16, &[DType::I32, DType::I64, DType::U8]);
            compare(&device, &kernel, &all, &[3, 2], &[], "all axes");
        }
    }
    // One index of no axes, and rows of many.
    let dims = [3usize, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2];
    let order: Vec<usize> = (0..11).map(|n| if n == 0 { 0 } else { 11 - n }).collect();
    let kept: Vec<usize> = order.iter().map(|&n| dims[n]).collect();
    let many = dense(&kept).permute(&order);
    let inputs = [(elements(DType::F32, 3072, 8), many), (list(DType::I32, [-2]), dense(&[]))];
    compare(&device, &gather(DType::F32, &[DType::I32]), &inputs, &dims[1..], &[], "eleven axes");
}

#[test]
fn nothing_is_gathered_by_no_index_and_from_empty_rows() {
    let Some(device) = host::first() else { return };
    let kernel = gather(DType::F32, &[DType::I32]);
    let none = [(elements(DType::F32, 6, 1), dense(&[3, 2])), (vec![], dense(&[0]))];
    compare(&device, &kernel, &none, &[0, 2], &[], "no index");
    let empty = [(vec![], dense(&[3, 0])), (list(DType::I32, [2, -3]), dense(&[2]))];
    compare(&device, &kernel, &empty, &[2, 0], &[], "rows of nothing");
    let error = run(&device, &kernel, &[(vec![], dense(&[3, 0])), (list(DType::I32, [3]), dense(&[1]))], &[1, 0], &[]);
    assert_eq!(error.unwrap_err().message, "index 3 is out of range for an axis of size 3");
    let error = run(&device, &kernel, &[(vec![], dense(&[0, 2])), (list(DType::I32, [0]), dense(&[1]))], &[1, 2], &[]);
    assert_eq!(error.unwrap_err().message, "index 0 is out of range for an axis of size 0");
}

#[test]
fn an_index_out_of_range_fails_its_launch_in_words() {
    let Some(device) = host::first() else { return };
    let data = (elements(DType::F32, 30, 1), dense(&[6, 5]));
    for (dtype, index, told) in [
        (DType::I32, vec![0, 6, -7, 5], "index 6 is out of range for an axis of size 6"),
        (DType::I32, vec![0, -7, -9, 5], "index -9 is out of range for an axis of size 6"),
        (DType::I8, vec![-128, 1, 2, 3], "index -128 is out of range for an axis of size 6"),
        (DType::U8, vec![255, 1, 2, 3], "index 255 is out of range for an axis of size 6"),
        (DType::U32, vec![1, u32::MAX as i128, 2, 3], "index 4294967294 or more is out of range for an axis of size 6"),
        (DType::I64, vec![1, 1 << 40, 2, 3], "index 4294967294 or more is out of range for an axis of size 6"),
        (DType::I64, vec![1, -(1 << 40), 2, 3], "index -4294967295 or less is out of range for an axis of size 6"),
        (DType::I64, vec![i64::MIN as i128, 1, 2, 3], "index -4294967295 or less is out of range for an axis of size 6"),
        (DType::I64, vec![1, 4_294_967_297, 2, 6], "index 4294967294 or more is out of range for an axis of size 6"),
        (DType::I64, vec![-6, 5, -7, 0], "index -7 is out of range for an axis of size 6"),
        (DType::U64, vec![1, u64::MAX as i128, 2, 3], "index 4294967294 or more is out of range for an axis of size 6"),
    ] {
        let inputs = [data.clone(), (list(dtype, index.iter().copied()), dense(&[4]))];
        let error = run(&device, &gather(DType::F32, &[dtype]), &inputs, &[4, 5], &[]).unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (Code::Index, told), "{index:?}");
    }
    let two = [data, (list(DType::I32, [1, 5]), dense(&[2])), (list(DType::I32, [5, 4]), dense(&[2]))];
    let error = run(&device, &gather(DType::F32, &[DType::I32; 2]), &two, &[2], &[]).unwrap_err();
    assert_eq!(error.message, "index 5 is out of range for an axis of size 5");
}

/// Data larger than one descriptor shows, of which each window gives what lies in it.
#[test]
fn gathers_reach_beyond_a_descriptors_range() {
    let Some(given) = host::can() else { return };
    let can = Can { max_range: 4096, ..given };
    let device = host::open(can);
    for data in [dense(&[500, 9]), dense(&[9, 500]).permute(&[1, 0]), dense(&[500, 9]).flip(0).flip(1)] {
        let inputs = [(elements(DType::F64, 4500, 2), data), (indices(DType::I32, 700, 500, 1), dense(&[700]))];
        compare(&device, &gather(DType::F64, &[DType::I32]), &inputs, &[700, 9], &[], "windows");
        let mut bad = inputs.clone();
        bad[1].0 = list(DType::I32, (0..700).map(|n| if n == 333 { 500 } else { 3 }));
        let error = run(&device, &gather(DType::F64, &[DType::I32]), &bad, &[700, 9], &[]).unwrap_err();
        assert_eq!(error.message, "index 500 is out of range for an axis of size 500");
    }
}

fn scatter(dtype: DType, index: &[DType], update: Update) -> Kernel {
    Kernel::Scatter(Scatter { dtype, index: index.to_vec(), update })
}

/// Every way an update may meet what is there, with the dtypes it is defined for.
fn updates() -> impl Iterator<Item = (Update, DType)> {
    let monoids = [Monoid::Sum, Monoid::Prod, Monoid::Max, Monoid::Min, Monoid::All, Monoid::Any];
    let all = std::iter::once(Update::Set).chain(monoids.map(Update::Combine));
    all.flat_map(|update| {
        let defined = move |d: &DType| match update {
            Update::Set => true,
            Update::Combine(Monoid::All | Monoid::Any) => *d == DType::Bool,
            Update::Combine(Monoid::Max | Monoid::Min) => !d.is_complex(),
            // Complex products are bounded, not promised.
            Update::Combine(Monoid::Prod) => !d.is_complex() && *d != DType::Bool,
            Update::Combine(Monoid::Sum) => *d != DType::Bool,
        };
        DType::all().filter(defined).map(move |d| (update, d))
    })
}

#[test]
fn updates_of_every_dtype_meet_what_is_there_in_their_order() {
    let Some(device) = host::first() else { return };
    let mut count = 0;
    for (n, (update, d)) in updates().enumerate() {
        let index = INDICES[n % INDICES.len()];
        let inputs = [
            (elements(d, 6 * 5, n as u64), dense(&[6, 5])),
            // Each of six places twice and more, in no order.
            (indices(index, 40, 6, n), dense(&[4, 10])),
            (elements(d, 40 * 5, n as u64 + 1), dense(&[4, 10, 5])),
        ];
        compare(&device, &scatter(d, &[index], update), &inputs, &[6, 5], &[], &format!("{update:?} {d} by {index}"));
        count += 1;
    }
    assert!(count > 60, "{count}");
}

#[test]
fn updates_and_data_lie_in_any_way() {
    let Some(device) = host::first() else { return };
    let (d, base) = (DType::F32, elements(DType::F32, 4000, 3));
    let data =
        [dense(&[7, 5, 4]), dense(&[4, 5, 7]).permute(&[2, 1, 0]).flip(0).flip(2), dense(&[1, 5, 1]).broadcast(&[7, 5, 4])];
    let rows = [
        dense(&[3, 9, 5, 4]),
        dense(&[9, 5, 4, 3]).permute(&[3, 0, 1, 2]).flip(2),
        dense(&[3, 1, 1, 4]).broadcast(&[3, 9, 5, 4]),
    ];
    for update in [Update::Set, Update::Combine(Monoid::Sum)] {
        for (n, (data, rows)) in data.iter().flat_map(|d| rows.iter().map(move |r| (d, r))).enumerate() {
            let index = (indices(DType::I32, 27, 7, n), dense(&[9, 3]).permute(&[1, 0]));
            let inputs = [(base.clone(), data.clone()), index.clone(), (base.clone(), rows.clone())];
            compare(&device, &scatter(d, &[DType::I32], update), &inputs, &[7, 5, 4], &[], &format!("{update:?} {n}"));
            let two = [
                inputs[0].clone(),
                index,
                (indices(DType::I64, 27, 5, n), dense(&[3, 9])),
                (base.clone(), dense(&[3, 9, 4])),
            ];
            compare(&device, &scatter(d, &[DType::I32, DType::I64], update), &two, &[7, 5, 4], &[], "two axes");
        }
    }
}

/// More updates of one place than one loop may go along, and more than are sorted together.
#[test]
fn many_updates_of_one_place_are_applied_one_after_the_other() {
    let Some(device) = host::first() else { return };
    let sum = Update::Combine(Monoid::Sum);
    for (update, d, count) in [(sum, DType::I32, 70_000), (sum, DType::F32, 200_000), (Update::Set, DType::I64, 300_000)] {
        let index = list(DType::I32, (0..count).map(|n| if n % 97 == 0 { n as i128 % 100 } else { 3 }));
        let inputs =
            [(numbers(d, 100, 1), dense(&[100])), (index, dense(&[count])), (numbers(d, count, 2), dense(&[count]))];
        compare(&device, &scatter(d, &[DType::I32], update), &inputs, &[100], &[], &format!("{update:?} {count}"));
    }
}

/// Wide rows are cut, not the updates that share them.
#[test]
fn updates_that_lie_across_are_cut_along_their_rows() {
    let Some(given) = host::can() else { return };
    let can = Can { max_range: 64 << 10, ..given };
    let device = host::open(can);
    let (updates, row) = (1 << 12, 33);
    let inputs = [
        (numbers(DType::F32, 50 * row, 1), dense(&[50, row])),
        (indices(DType::I32, updates, 50, 3), dense(&[updates])),
        (numbers(DType::F32, updates * row, 2), dense(&[row, updates]).permute(&[1, 0])),
    ];
    let kernel = scatter(DType::F32, &[DType::I32], Update::Combine(Monoid::Sum));
    let before = device.counts().dispatches;
    compare(&device, &kernel, &inputs, &[50, row], &[], "rows apart");
    assert!(device.counts().dispatches - before < 2000);
}

#[test]
fn nothing_is_scattered_by_no_index_and_into_nothing() {
    let Some(device) = host::first() else { return };
    let kernel = scatter(DType::F32, &[DType::I32], Update::Set);
    let data = (elements(DType::F32, 6, 1), dense(&[3, 2]));
    compare(&device, &kernel, &[data.clone(), (vec![], dense(&[0])), (vec![], dense(&[0, 2]))], &[3, 2], &[], "no index");
    let one = [data, (list(DType::I32, [-1]), dense(&[])), (elements(DType::F32, 2, 2), dense(&[2]))];
    compare(&device, &kernel, &one, &[3, 2], &[], "one index");
    let empty = [(vec![], dense(&[3, 0])), (list(DType::I32, [2, -3]), dense(&[2])), (vec![], dense(&[2, 0]))];
    compare(&device, &kernel, &empty, &[3, 0], &[], "rows of nothing");
    for (index, dims, told) in [
        (3, [3, 0], "index 3 is out of range for an axis of size 3"),
        (0, [0, 2], "index 0 is out of range for an axis of size 0"),
    ] {
        let rows = dims[1];
        let inputs = [
            (vec![], dense(&dims)),
            (list(DType::I32, [index]), dense(&[1])),
            (elements(DType::F32, rows, 1), dense(&[1, rows])),
        ];
        assert_eq!(run(&device, &kernel, &inputs, &dims, &[]).unwrap_err().message, told);
    }
}

#[test]
fn an_update_out_of_range_is_left_out_and_told() {
    let Some(device) = host::first() else { return };
    for update in [Update::Set, Update::Combine(Monoid::Sum)] {
        let inputs = [
            (elements(DType::F32, 6, 1), dense(&[6])),
            (list(DType::I32, [1, 6, 2]), dense(&[3])),
            (elements(DType::F32, 3, 2), dense(&[3])),
        ];
        let error = run(&device, &scatter(DType::F32, &[DType::I32], update), &inputs, &[6], &[]).unwrap_err();
        assert_eq!(error.message, "index 6 is out of range for an axis of size 6");
    }
}

/// Operands larger than one descriptor shows: stretches of updates, windows of the output.
#[test]
fn scatters_reach_beyond_a_descriptors_range() {
    let Some(given) = host::can() else { return };
    let can = Can { max_range: 16 << 10, ..given };
    let device = host::open(can);
    for update in [Update::Set, Update::Combine(Monoid::Sum)] {
        for data in [dense(&[900, 9]), dense(&[9, 900]).permute(&[1, 0])] {
            let inputs = [
                (elements(DType::F32, 8100, 2), data),
                (indices(DType::I32, 1200, 900, 1), dense(&[1200])),
                (elements(DType::F32, 10_800, 5), dense(&[1200, 9]).flip(0)),
            ];
            compare(&device, &scatter(DType::F32, &[DType::I32], update), &inputs, &[900, 9], &[], &format!("{update:?}"));
        }
    }
}

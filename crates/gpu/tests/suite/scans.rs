//! Scans on a device: every rule and dtype, serially rounded as the reference does.

use super::launches::{compare, elements, layouts};
use super::random::numbers;
use crate::host::{self, Device};
use ferrotensor_core::DType;
use ferrotensor_core::backend::Backend;
use ferrotensor_core::kernel::{Kernel, Monoid, Scan};
use ferrotensor_core::layout::Layout;
use ferrotensor_gpu::Can;

fn scan(combine: Monoid, dtype: DType) -> Kernel {
    Kernel::Scan(Scan { combine, dtype })
}

const RULES: [Monoid; 6] = [Monoid::Sum, Monoid::Prod, Monoid::Max, Monoid::Min, Monoid::All, Monoid::Any];

#[test]
fn every_rule_of_every_dtype_scans_any_layout() {
    let Some(device) = host::first() else { return };
    let mut native = 0;
    for d in DType::all() {
        for (n, rule) in RULES.into_iter().enumerate() {
            let logical = matches!(rule, Monoid::All | Monoid::Any);
            // Complex products are bounded, not promised.
            if logical != (d == DType::Bool) || (d.is_complex() && rule != Monoid::Sum) {
                continue;
            }
            let kernel = scan(rule, d);
            assert_eq!(device.supports(&kernel), Ok(()), "{rule:?} {d}");
            native += 1;
            for k in 0..4 {
                let (dims, layout) = layouts(k);
                compare(
                    &device,
                    &kernel,
                    &[(elements(d, 300, (n + k) as u64), layout)],
                    &dims,
                    &[],
                    &format!("{rule:?} {d}"),
                );
            }
        }
    }
    assert!(native > 45, "{native}");
}

/// The device, and one whose descriptors show so many bytes.
fn as_it_is_and_narrow(max_range: u64) -> Vec<Device> {
    let Some(given) = host::can() else { return Vec::new() };
    let narrow = Can { max_range, ..given.clone() };
    let with = |can| host::open(can);
    [given.clone(), narrow].map(with).into()
}

#[test]
fn long_rows_go_on_where_a_stretch_ended() {
    for device in as_it_is_and_narrow(4096) {
        let n = 3001;
        let every_third = Layout::new(&[2, n], &[1, 3], 5, 3 * n + 10).unwrap();
        let dense = Layout::dense(&[2, n]).unwrap();
        for layout in
            [dense.clone(), dense.flip(1), dense.flip(0), every_third, Layout::dense(&[n, 2]).unwrap().permute(&[1, 0])]
        {
            for (rule, d) in
                [(Monoid::Sum, DType::F32), (Monoid::Sum, DType::F16), (Monoid::Sum, DType::C64), (Monoid::Min, DType::I8)]
            {
                let inputs = [(numbers(d, 3 * n + 10, 4), layout.clone())];
                compare(&device, &scan(rule, d), &inputs, &[2, n], &[], &format!("{rule:?} of {d}"));
            }
        }
    }
    // More elements than one loop may go along.
    let Some(device) = host::first() else { return };
    for (n, d) in [(200_000, DType::F32), (600_000, DType::I32)] {
        let long = Layout::dense(&[n]).unwrap();
        compare(&device, &scan(Monoid::Sum, d), &[(numbers(d, n, 7), long)], &[n], &[], &format!("{n} {d}"));
    }
}

/// Rows around the ends of blocks, of which each is scanned by itself.
#[test]
fn sums_that_round_go_from_block_to_block() {
    // Less than a block of most dtypes.
    for device in as_it_is_and_narrow(1024) {
        for (n, length) in [255, 256, 257, 511, 512, 513, 1000].into_iter().enumerate() {
            let dense = Layout::dense(&[3, length]).unwrap();
            let turned = Layout::dense(&[length, 3]).unwrap().permute(&[1, 0]);
            for (k, layout) in [dense.clone(), dense.flip(1), turned].into_iter().enumerate() {
                let d = [DType::F32, DType::F64, DType::F16, DType::C64][(n + k) % 4];
                let inputs = [(numbers(d, 3 * length, n as u64), layout)];
                compare(&device, &scan(Monoid::Sum, d), &inputs, &[3, length], &[], &format!("{length} of {d}"));
            }
        }
    }
}

/// Where no rounding depends on the order, chunks of a row are gone along side by side.
#[test]
fn chunks_of_long_rows_give_what_rows_do() {
    let Some(device) = host::first() else { return };
    let exact = [
        (Monoid::Sum, DType::I64),
        (Monoid::Prod, DType::U8),
        (Monoid::Max, DType::F16),
        (Monoid::Min, DType::F64),
        (Monoid::Max, DType::Bool),
        (Monoid::All, DType::Bool),
        (Monoid::Any, DType::Bool),
    ];
    for (n, (rule, d)) in exact.into_iter().enumerate() {
        for length in [127, 128, 129, 1000, 70_001] {
            let dense = Layout::dense(&[3, length]).unwrap();
            let layout =
                [dense.clone(), dense.flip(1), Layout::dense(&[length, 3]).unwrap().permute(&[1, 0])][n % 3].clone();
            let inputs = [(elements(d, 3 * length, n as u64), layout)];
            let before = device.counts().dispatches;
            compare(&device, &scan(rule, d), &inputs, &[3, length], &[], &format!("{rule:?} of {d}, {length}"));
            assert_eq!(device.counts().dispatches - before > 1, length >= 128);
        }
    }
}

#[test]
fn rows_of_one_element_and_none_are_scanned() {
    let Some(device) = host::first() else { return };
    for dims in [vec![1], vec![5, 1], vec![0], vec![3, 0], vec![0, 3], vec![0, 300]] {
        let layout = Layout::dense(&dims).unwrap();
        let bytes = elements(DType::F64, layout.len(), 3);
        compare(&device, &scan(Monoid::Sum, DType::F64), &[(bytes, layout)], &dims, &[], &format!("{dims:?}"));
    }
}

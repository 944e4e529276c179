//! Sorts on a device: every dtype in both directions, over any layout and number of elements, stable and bit by bit as the reference;
//! what is emitted for them is valid.

use super::everything;
use super::launches::{canonical, compare, elements, outcome, place, run};
use super::random::Lie;
use crate::host::{self, Device, complaint};
use ferrotensor_core::backend::{Backend, Launch, Operand};
use ferrotensor_core::kernel::{Kernel, Map, Sort, SortOutputs};
use ferrotensor_core::layout::{Layout, positions};
use ferrotensor_core::reference::{self, Array, Scalar};
use ferrotensor_core::scalar::{Arithmetic, plain, verify};
use ferrotensor_core::{Code, DType};
use ferrotensor_gpu::Can;
use ferrotensor_gpu::emit::network::{self, Stage};
use ferrotensor_gpu::emit::{map, sort as emitted, space};
use smallvec::SmallVec;

const OUTPUTS: [SortOutputs; 3] = [SortOutputs::Values, SortOutputs::Indices, SortOutputs::Both];

fn sort(dtype: DType, descending: bool, outputs: SortOutputs) -> Kernel {
    Kernel::Sort(Sort { dtype, descending, outputs })
}

fn ordered() -> impl Iterator<Item = DType> {
    DType::all().filter(|d| !d.is_complex())
}

/// The device, whose descriptors show so many bytes.
fn narrow(max_range: u64) -> Option<Device> {
    let given = host::can()?;
    let can = Can { max_range, ..given };
    Some(host::open(can))
}

/// Many equal elements among others, and of floats both zeros, infinities, NaN of both signs and denormals.
fn tied(dtype: DType, count: usize, seed: u64) -> Vec<u8> {
    let mut bytes = elements(dtype, count, seed);
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN, 1.0, -1.0];
    for (n, element) in bytes.chunks_exact_mut(dtype.bytes()).enumerate() {
        let pick = (n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(seed) >> 40;
        if dtype.is_float() && pick.is_multiple_of(5) {
            let value = Scalar::Float(special[(pick / 5) as usize % special.len()].into());
            element.copy_from_slice(&value.encode(dtype)[..dtype.bytes()]);
        } else if pick.is_multiple_of(3) {
            // Small integers; of floats denormals.
            element.fill(0);
            element[0] = (pick / 3 % 4) as u8 & if dtype == DType::Bool { 1 } else { 3 };
        }
    }
    bytes
}

/// Such elements that lie so.
fn lying(dtype: DType, dims: &[usize], lie: Lie, seed: u64) -> (Vec<u8>, Layout) {
    let (layout, count) = lie.layout(dims);
    (tied(dtype, count, seed), layout)
}

#[test]
fn kernels_of_every_dtype_are_valid() {
    let can = everything();
    let mut count = 0;
    for dtype in ordered() {
        for outputs in OUTPUTS {
            for descending in [false, true] {
                let kernel = Sort { dtype, descending, outputs };
                let keys = emitted::keys(&kernel).unwrap();
                assert_eq!(verify(&keys), Ok(()));
                let mut shaders = vec![map::shader(&plain(&keys, Arithmetic::IEEE), 1, &can).unwrap()];
                shaders.extend(space::RANKS.iter().map(|&rank| emitted::shader(&kernel, rank, &can).unwrap()));
                for shader in &shaders {
                    assert_eq!(complaint(shader), None, "{kernel:?}");
                    count += 1;
                }
            }
        }
    }
    for key in [DType::U32, DType::U64] {
        for stage in [Stage::Blocks, Stage::Exchange] {
            assert_eq!(complaint(&network::shader(key, stage, &can)), None, "{stage:?} of {key}");
        }
    }
    assert!(count > 300, "{count}");
}

/// The order of keys is the order of elements, whatever does the sorting: the reference runs the program, no device is needed.
#[test]
fn keys_are_in_the_order_of_the_elements() {
    for dtype in ordered() {
        for descending in [false, true] {
            let kernel = Sort { dtype, descending, outputs: SortOutputs::Indices };
            let (n, program) = (400, emitted::keys(&kernel).unwrap());
            let x = Array::new(dtype, &[n], tied(dtype, n, 3)).unwrap();
            let keys = Kernel::Map(Map { program });
            let keys = reference::run(&keys, std::slice::from_ref(&x), &[&[n]], &[]).unwrap();
            let by_keys = sort(keys[0].dtype(), false, SortOutputs::Indices);
            let found = reference::run(&by_keys, &keys, &[&[n]], &[]).unwrap();
            let want = reference::run(&Kernel::Sort(kernel), &[x], &[&[n]], &[]).unwrap();
            assert_eq!(found[0].bytes(), want[0].bytes(), "{dtype} {descending}");
        }
    }
}

#[test]
fn every_dtype_sorts_both_ways() {
    let Some(device) = host::first() else { return };
    for (nth, d) in ordered().enumerate() {
        for (k, outputs) in OUTPUTS.into_iter().enumerate() {
            for descending in [false, true] {
                let kernel = sort(d, descending, outputs);
                assert_eq!(device.supports(&kernel), Ok(()));
                for n in [3, 300] {
                    let lie = Lie::ALL[(nth + k) % Lie::ALL.len()];
                    let inputs = [lying(d, &[2, 3, n], lie, (nth + k) as u64)];
                    let what = format!("{d} {outputs:?} {descending} {n} {lie:?}");
                    compare(&device, &kernel, &inputs, &[2, 3, n], &[], &what);
                }
            }
        }
    }
}

#[test]
fn rows_of_any_length_and_layout_are_sorted() {
    let Some(device) = host::first() else { return };
    for n in [0, 1, 2, 3, 31, 255, 256, 257, 1023, 1024, 1025, 2048, 2049, 5000] {
        for (k, lie) in Lie::ALL.into_iter().enumerate() {
            for (d, descending) in [(DType::F32, k % 2 == 0), (DType::I64, k % 2 == 1)] {
                let inputs = [lying(d, &[1, 3, n], lie, (n + k) as u64)];
                let kernel = sort(d, descending, SortOutputs::Both);
                compare(&device, &kernel, &inputs, &[1, 3, n], &[], &format!("{n} of {d}, {lie:?}"));
            }
        }
    }
}

#[test]
fn the_first_elements_are_those_of_the_whole_sort() {
    let Some(device) = host::first() else { return };
    for n in [1, 5, 1024, 1025, 3000, 20_000] {
        for k in [0, 1, 2, 100, 511, 512, 513, 1023, 1500, n] {
            if k > n {
                continue;
            }
            for (d, descending) in [(DType::F16, true), (DType::F64, false)] {
                let lie = Lie::ALL[(n + k) % Lie::ALL.len()];
                let inputs = [lying(d, &[2, n], lie, (n * 7 + k) as u64)];
                let kernel = sort(d, descending, SortOutputs::Both);
                compare(&device, &kernel, &inputs, &[2, k], &[], &format!("{k} of {n} of {d}, {lie:?}"));
            }
        }
    }
}

/// All elements equal: only their positions decide.
#[test]
fn equal_elements_keep_their_order() {
    let Some(device) = host::first() else { return };
    for (d, value) in [(DType::F32, f64::NAN), (DType::I8, 3.0), (DType::F64, 0.0), (DType::U64, f64::INFINITY)] {
        for n in [700, 4097] {
            let one = Scalar::Float(value.into()).encode(d);
            let bytes: Vec<u8> = (0..n).flat_map(|_| one.into_iter().take(d.bytes())).collect();
            for descending in [false, true] {
                let kernel = sort(d, descending, SortOutputs::Indices);
                let found = run(&device, &kernel, &[(bytes.clone(), Layout::dense(&[n]).unwrap())], &[n], &[]).unwrap();
                assert_eq!(found[0].to_vec::<i32>().unwrap(), (0..n as i32).collect::<Vec<_>>(), "{d} {descending}");
            }
        }
    }
}

/// Loops of more than 65,535 rounds, which Mesa's software device leaves, are none here.
#[test]
fn long_rows_and_many_rows_are_sorted() {
    let Some(device) = host::first() else { return };
    for dims in [vec![70_000], vec![70_000, 3], vec![3, 70_000], vec![300, 5, 300]] {
        let layout = Layout::dense(&dims).unwrap();
        let bytes = tied(DType::F32, layout.len(), 11);
        let kernel = sort(DType::F32, false, SortOutputs::Both);
        compare(&device, &kernel, &[(bytes, layout)], &dims, &[], &format!("{dims:?}"));
    }
}

#[test]
fn many_axes_are_sorted_along_the_last() {
    let Some(device) = host::first() else { return };
    let (dims, order) = ([2usize; 11], (0..11).rev().collect::<Vec<usize>>());
    let turned = Layout::dense(&dims).unwrap().permute(&order).flip(4);
    let kernel = sort(DType::I16, true, SortOutputs::Both);
    compare(&device, &kernel, &[(tied(DType::I16, 2048, 1), turned)], &dims, &[], "eleven axes");
    let dims = [300, 7, 2, 9];
    let (layout, count) = Lie::Gaps.layout(&dims);
    compare(&device, &kernel, &[(tied(DType::I16, count, 2), layout)], &[300, 7, 2, 4], &[], "rows with gaps");
}

/// What one descriptor does not show is sorted in windows: keys and positions, the input, the outputs.
#[test]
fn rows_of_more_than_a_descriptor_shows_are_sorted() {
    let Some(device) = narrow(32 << 10) else { return };
    for (d, descending) in [(DType::F32, false), (DType::I64, true), (DType::U8, false)] {
        for (dims, lie) in [
            ([1, 1, 70_000], Lie::Dense),
            ([1, 2, 17_001], Lie::Turned),
            ([2, 3, 9000], Lie::Backwards),
            ([1, 2, 33_000], Lie::Gaps),
            ([1, 40, 1100], Lie::Repeated),
        ] {
            let inputs = [lying(d, &dims, lie, 5)];
            let kernel = sort(d, descending, SortOutputs::Both);
            compare(&device, &kernel, &inputs, &dims, &[], &format!("{dims:?} of {d}, {lie:?}"));
            let some = [dims[0], dims[1], 400];
            compare(&device, &kernel, &inputs, &some, &[], &format!("400 of {dims:?} of {d}, {lie:?}"));
        }
    }
}

/// Rows that are sorted one after the other, because all of them together would take too much memory.
#[test]
fn more_rows_than_are_sorted_together_are_sorted() {
    let Some(device) = host::first() else { return };
    let (dims, d) = ([3, 700, 2500], DType::U16);
    let layout = Layout::dense(&dims).unwrap();
    let kernel = sort(d, true, SortOutputs::Values);
    let inputs = [(tied(d, layout.len(), 8), layout)];
    compare(&device, &kernel, &inputs, &[3, 700, 20], &[], "the first 20 of 2100 rows");
}

/// Outputs lie as they like, too.
#[test]
fn outputs_are_written_at_any_layout() {
    let Some(device) = host::first() else { return };
    let (dims, d) = ([2, 3, 40], DType::F32);
    let kernel = sort(d, false, SortOutputs::Both);
    let (bytes, layout) = lying(d, &dims, Lie::Gaps, 9);
    let dense = Array::gather(&bytes, &layout, d).unwrap();
    let want = reference::run(&kernel, &[dense], &[&dims, &dims], &[]).unwrap();
    for lie in [Lie::Dense, Lie::Turned, Lie::Gaps, Lie::Backwards] {
        let (to, count) = lie.layout(&dims);
        let input = place(&device, &bytes, layout.clone()).unwrap();
        let outputs: SmallVec<[Operand; 1]> =
            (0..2).map(|_| place(&device, &vec![0xA5; 4 * count], to.clone()).unwrap()).collect();
        let (inputs, prepared) = (SmallVec::from_iter([input]), device.prepare(&kernel).unwrap());
        let launch = Launch { kernel: prepared, inputs, outputs: outputs.clone(), params: Default::default() };
        let outcome = outcome(&device, launch);
        assert!(outcome.failed.is_empty() && outcome.lost.is_none(), "{outcome:?}");
        let met: Vec<usize> = positions(&to).collect();
        for (output, want) in outputs.iter().zip(&want) {
            let mut found = vec![0; 4 * count];
            device.download(&output.buffer, 0, &mut found).unwrap();
            let own = Array::gather(&found, &to, want.dtype()).unwrap();
            assert_eq!(canonical(&own), canonical(want), "{lie:?}");
            let untouched = |(n, element): (usize, &[u8])| met.contains(&n) || element == [0xA5; 4];
            assert!(found.chunks(4).enumerate().all(untouched), "{lie:?}");
        }
    }
}

#[test]
fn what_has_no_order_or_no_positions_is_refused_in_words() {
    let complex = Sort { dtype: DType::C64, descending: false, outputs: SortOutputs::Both };
    assert_eq!(emitted::keys(&complex).unwrap_err(), "complex64 has no order");
    let Some(device) = host::first() else { return };
    assert_eq!(device.supports(&Kernel::Sort(complex)).unwrap_err(), "complex64 has no order");
    let given = host::can().unwrap();
    let can = Can { int64: false, storage8: false, ..given };
    let poor = host::open(can);
    for (d, reason) in [(DType::F64, "no int64 to compute in"), (DType::Bool, "no 8-bit storage for bool")] {
        assert_eq!(poor.supports(&sort(d, false, SortOutputs::Both)).unwrap_err(), reason);
    }
    // One element seen 2^31 times.
    let many = Layout::dense(&[1]).unwrap().broadcast(&[1 << 31]);
    let kernel = sort(DType::U8, false, SortOutputs::Values);
    let error = run(&device, &kernel, &[(vec![1], many)], &[1], &[]).unwrap_err();
    assert_eq!(error.code, Code::Unsupported, "{error}");
}

//! Convolutions against the reference: every dtype over one to three axes with strides, dilations, padding and groups, in any layouts,
//! in one piece and in many.

use super::launches::{run, within};
use super::random::{Lie, placed};
use crate::host::{self, Device};
use ferrotensor_core::DType;
use ferrotensor_core::backend::Backend;
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Kernel, Monoid, Window, WindowAxis, WindowCombine};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::reference::Scalar;
use ferrotensor_gpu::Can;

fn axis(size: usize, stride: usize, dilation: usize, low: usize) -> WindowAxis {
    WindowAxis { size, stride, dilation, low }
}

fn devices(change: impl Fn(Can) -> Can) -> Vec<Device> {
    let with = |software: bool| {
        let given = host::can()?;
        let can = change(Can { software, ..given });
        Some(host::open(can))
    };
    [true, false].into_iter().filter_map(with).collect()
}

/// `channels`: batch, groups, channels that go in and come out of each; `spatial`: positions of data and number of windows.
struct Case<'a> {
    channels: [usize; 4],
    axes: &'a [WindowAxis],
    spatial: &'a [(usize, usize)],
}

fn check(device: &Device, dtype: DType, case: &Case, lies: [Lie; 2]) {
    let [batch, groups, cin, cout] = case.channels;
    let extents: Vec<usize> = case.spatial.iter().map(|s| s.0).collect();
    let windows: Vec<usize> = case.spatial.iter().map(|s| s.1).collect();
    let places: Vec<usize> = case.axes.iter().map(|a| a.size).collect();
    let inputs = [
        placed(dtype, &[&[batch, groups, cin], &extents[..]].concat(), lies[0], 3),
        placed(dtype, &[&[groups, cout, cin], &places[..]].concat(), lies[1], 4),
    ];
    let kernel = Kernel::Window(Window { combine: WindowCombine::Dot, dtype, axes: case.axes.to_vec() });
    let inner = cin * places.iter().product::<usize>();
    let what = format!("{dtype} {:?} {:?} {:?} {lies:?}", case.channels, case.axes, case.spatial);
    within(device, &kernel, &inputs, &[&[batch, groups, cout], &windows[..]].concat(), inner, &what);
}

/// Cases of one, two and three axes; windows that lie partly, or entirely, outside of the data.
fn cases() -> Vec<Case<'static>> {
    const ONE: &[WindowAxis] = &[WindowAxis { size: 3, stride: 1, dilation: 1, low: 1 }];
    const FAR: &[WindowAxis] = &[WindowAxis { size: 2, stride: 3, dilation: 4, low: 9 }];
    const TWO: &[WindowAxis] =
        &[WindowAxis { size: 3, stride: 2, dilation: 1, low: 1 }, WindowAxis { size: 2, stride: 1, dilation: 2, low: 0 }];
    const POINT: &[WindowAxis] = &[WindowAxis { size: 1, stride: 1, dilation: 1, low: 0 }; 2];
    const THREE: &[WindowAxis] = &[
        WindowAxis { size: 2, stride: 1, dilation: 1, low: 1 },
        WindowAxis { size: 1, stride: 2, dilation: 1, low: 0 },
        WindowAxis { size: 3, stride: 1, dilation: 2, low: 2 },
    ];
    vec![
        Case { channels: [2, 1, 3, 5], axes: ONE, spatial: &[(11, 11)] },
        Case { channels: [1, 1, 2, 3], axes: FAR, spatial: &[(4, 9)] },
        Case { channels: [2, 3, 2, 4], axes: TWO, spatial: &[(9, 5), (8, 6)] },
        Case { channels: [1, 1, 9, 17], axes: POINT, spatial: &[(5, 5), (7, 7)] },
        Case { channels: [1, 4, 1, 1], axes: TWO, spatial: &[(9, 5), (8, 6)] },
        Case { channels: [1, 1, 2, 3], axes: THREE, spatial: &[(3, 4), (5, 3), (6, 6)] },
        Case { channels: [1, 1, 20, 33], axes: TWO, spatial: &[(17, 9), (9, 7)] },
    ]
}

#[test]
fn every_dtype_is_convolved_over_any_axes() {
    for device in devices(|can| can) {
        for dtype in DType::all() {
            for case in cases() {
                check(&device, dtype, &case, [Lie::Dense, Lie::Dense]);
            }
        }
    }
}

#[test]
fn data_and_weights_lie_anyhow() {
    for device in devices(|can| can) {
        for dtype in [DType::F32, DType::I16, DType::C64] {
            for (n, lie) in Lie::ALL.into_iter().enumerate() {
                // A matrix for the whole batch has two axes.
                let other = Lie::ALL[(n + 3) % Lie::ALL.len()];
                for case in cases() {
                    check(&device, dtype, &case, [lie, other]);
                }
            }
        }
    }
}

#[test]
fn data_beyond_a_descriptors_range_is_cut() {
    for device in devices(|can| Can { max_range: 1024, ..can }) {
        for dtype in [DType::F32, DType::F64, DType::F16, DType::I8] {
            for case in cases() {
                check(&device, dtype, &case, [Lie::Dense, Lie::Dense]);
                check(&device, dtype, &case, [Lie::Backwards, Lie::Gaps]);
            }
        }
    }
}

#[test]
fn nothing_is_convolved_to_zeros() {
    for device in devices(|can| can) {
        let around: &[WindowAxis] = &[axis(2, 1, 1, 3)];
        for channels in [[1, 1, 0, 3], [2, 3, 0, 1], [1, 1, 2, 0], [0, 1, 2, 2]] {
            check(&device, DType::F32, &Case { channels, axes: around, spatial: &[(4, 6)] }, [Lie::Dense, Lie::Dense]);
        }
        // No data, and windows around it.
        check(
            &device,
            DType::F32,
            &Case { channels: [1, 1, 2, 3], axes: around, spatial: &[(0, 5)] },
            [Lie::Dense, Lie::Dense],
        );
        check(
            &device,
            DType::F32,
            &Case { channels: [1, 1, 2, 3], axes: around, spatial: &[(4, 0)] },
            [Lie::Dense, Lie::Dense],
        );
    }
}

/// What stands outside of the data is zero, not absent: an infinite weight makes NaN of it.
#[test]
fn padding_is_multiplied() {
    for device in devices(|can| can) {
        let kernel = Kernel::Window(Window { combine: WindowCombine::Dot, dtype: DType::F32, axes: vec![axis(2, 1, 1, 1)] });
        let bytes = |x: &[f32]| x.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let data = (bytes(&[1.0, 2.0]), Layout::dense(&[1, 1, 1, 2]).unwrap());
        let weights = (bytes(&[f32::INFINITY, 1.0]), Layout::dense(&[1, 1, 1, 2]).unwrap());
        let found = run(&device, &kernel, &[data, weights], &[1, 1, 1, 3], &[]).unwrap();
        let found: Vec<Scalar> = found[0].scalars().collect();
        assert!(found[0].is_nan());
        assert!(found[1..].iter().all(|x| matches!(x, Scalar::Float(x) if x.hi == f64::INFINITY)), "{found:?}");
    }
}

#[test]
fn windows_that_reach_too_far_are_refused_in_words() {
    for device in devices(|can| can) {
        for far in [axis(2, 1, 1 << 31, 0), axis(2, 1, usize::MAX >> 12, 0), axis(1, 1, 1, 1 << 31)] {
            let kernel = Kernel::Window(Window { combine: WindowCombine::Dot, dtype: DType::F32, axes: vec![far] });
            let data = (vec![0; 16], Layout::dense(&[1, 1, 1, 4]).unwrap());
            let weights = (vec![0; 8], Layout::dense(&[1, 1, 1, far.size]).unwrap());
            let error = run(&device, &kernel, &[data, weights], &[1, 1, 1, 2], &[]).unwrap_err();
            assert_eq!(error.code, Code::Unsupported, "{error}");
        }
    }
}

/// Poolings are rewritten where they are not native; convolutions are native and are not.
#[test]
fn a_device_may_convolve_and_not_pool() {
    for device in devices(|can| can) {
        let window = |combine| Kernel::Window(Window { combine, dtype: DType::F32, axes: vec![axis(2, 2, 1, 0)] });
        assert_eq!(device.supports(&window(WindowCombine::Dot)), Ok(()));
        assert_eq!(device.supports(&window(WindowCombine::Reduce(Monoid::Max))), Err("no window kernel yet".into()));
    }
}

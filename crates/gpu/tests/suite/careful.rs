//! Products on a device that keeps no subnormal numbers: tiles that meet small factors are computed anew, with the same bits.

use super::everything;
use super::launches::{canonical, run};
use crate::host::{self, Device, complaint};
use ferrotensor_core::DType;
use ferrotensor_core::kernel::{Contract, Kernel, Window, WindowAxis, WindowCombine};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::reference::Scalar;
use ferrotensor_gpu::Can;
use ferrotensor_gpu::emit::contract::{Part, Plan, Tile, Variant, shader};

/// Devices whose products look at their factors, and those whose do not.
fn pairs() -> Vec<[Device; 2]> {
    let with = |software: bool, subnormals: bool, max_range: Option<u64>| {
        let given = host::can()?;
        let max_range = max_range.unwrap_or(given.max_range);
        let can = Can { software, subnormals, max_range, ..given };
        Some(host::open(can))
    };
    [(true, None), (false, None), (false, Some(2048))]
        .into_iter()
        .filter_map(|(software, range)| Some([with(software, false, range)?, with(software, true, range)?]))
        .collect()
}

/// Whole numbers, and below every `small`-th place of the first half numbers so small that their products are subnormal or none.
fn factors(dtype: DType, count: usize, small: usize, seed: usize) -> Vec<u8> {
    let number = |n: usize| {
        let whole = ((n * 31 + seed * 17) % 23) as f64 - 11.0;
        let power = [-65, -75, -90, -126, -140][n / small % 5];
        if n < count / 2 && n % small == seed % small { whole * 2f64.powi(power) } else { whole }
    };
    let one = |n: usize| {
        let (re, im) = (number(n).into(), number(n + 1).into());
        let value = if dtype.is_complex() { Scalar::Complex(re, im) } else { Scalar::Float(re) };
        value.encode(dtype).into_iter().take(dtype.bytes())
    };
    (0..count).flat_map(one).collect()
}

#[test]
fn tiles_that_meet_small_factors_have_the_same_bits() {
    let sizes =
        [[3, 7, 5], [40, 70, 33], [130, 33, 129], [300, 5, 1], [1, 3000, 1], [5, 1500, 7], [3, 1030, 70], [64, 600, 64]];
    for [careful, own] in pairs() {
        for dtype in [DType::F32, DType::BF16, DType::C64, DType::F16] {
            // All sizes of one, and some of each other: a kernel is compiled for nearly every one.
            for (nth, [m, k, n]) in sizes.into_iter().enumerate().filter(|(n, _)| dtype == DType::F32 || n % 3 == 1) {
                let dense = |dims: [usize; 2]| Layout::dense(&dims).unwrap();
                // Few, half of them, and none at all.
                let small = [97, 2, usize::MAX][nth % 3];
                let inputs =
                    [(factors(dtype, m * k, small, 1), dense([m, k])), (factors(dtype, k * n, small, 2), dense([k, n]))];
                let kernel = Kernel::Contract(Contract::new(dtype));
                let [found, want] = [&careful, &own].map(|device| run(device, &kernel, &inputs, &[m, n], &[]).unwrap());
                assert!(canonical(&found[0]) == canonical(&want[0]), "{dtype} {m} x {k} x {n}: {found:?}, not {want:?}");
            }
        }
    }
}

#[test]
fn windows_that_meet_small_factors_have_the_same_bits() {
    let axis = WindowAxis { size: 3, stride: 2, dilation: 1, low: 1 };
    for [careful, own] in pairs() {
        for dtype in [DType::F32, DType::BF16] {
            let kernel = Kernel::Window(Window { combine: WindowCombine::Dot, dtype, axes: vec![axis; 2] });
            let dense = |dims: &[usize]| Layout::dense(dims).unwrap();
            for channels in [1, 40] {
                let images = (factors(dtype, 2 * channels * 99, 13, 1), dense(&[2, 1, channels, 9, 11]));
                let weights = (factors(dtype, 20 * channels * 9, 5, 2), dense(&[1, 20, channels, 3, 3]));
                let of = |device| run(device, &kernel, &[images.clone(), weights.clone()], &[2, 1, 20, 5, 6], &[]).unwrap();
                assert!(canonical(&of(&careful)[0]) == canonical(&of(&own)[0]), "{dtype}, {channels} channels");
            }
        }
    }
}

#[test]
fn their_kernels_are_valid_with_either_product() {
    let tiles = [
        Tile::Registers { rows: 1, columns: 1, team: 1 },
        Tile::Registers { rows: 8, columns: 8, team: 1 },
        Tile::Registers { rows: 4, columns: 1, team: 32 },
        Tile::Shared { rows: 8, columns: 8, depth: 8 },
        Tile::Shared { rows: 4, columns: 4, depth: 8 },
    ];
    for fma32 in [false, true] {
        let can = Can { fma32, subnormals: false, ..everything() };
        for dtype in [DType::F32, DType::BF16, DType::C64, DType::F16, DType::F64] {
            let plan = Plan::new(dtype, 0, None, &can);
            for (n, tile) in tiles.into_iter().enumerate() {
                let part = [Part::Whole, Part::First, Part::Further][n % 3];
                let variant = Variant { tile, rank: 1, part, blocks: part != Part::Whole || n % 2 == 0 };
                assert_eq!(complaint(&shader(&plan, variant, &can).unwrap()), None, "{dtype}, {variant:?}");
            }
        }
    }
}

//! Matrix products against the reference: every dtype within its bound (integers and bool exactly), any layouts, sizes around the
//! edges of tiles, by the tiles of software devices and by those of GPUs, in one piece and in many.

use super::everything;
use super::launches::{canonical, run, within};
use super::random::{Lie, numbers, placed};
use crate::host::{self, Device, complaint};
use ferrotensor_core::backend::Backend;
use ferrotensor_core::kernel::{Contract, Kernel, Map};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::reference::{Array, Scalar};
use ferrotensor_core::scalar::{Builder, MathFn, Op, Program, literal_bits};
use ferrotensor_core::{DType, blocks};
use ferrotensor_gpu::Can;
use ferrotensor_gpu::emit::contract::{Part, Plan, Tile, Variant, shader};

const TILES: [Tile; 7] = [
    Tile::Registers { rows: 1, columns: 1, team: 1 },
    Tile::Registers { rows: 4, columns: 4, team: 1 },
    Tile::Registers { rows: 8, columns: 8, team: 1 },
    Tile::Registers { rows: 4, columns: 1, team: 32 },
    Tile::Registers { rows: 1, columns: 4, team: 256 },
    Tile::Shared { rows: 4, columns: 4, depth: 16 },
    Tile::Shared { rows: 4, columns: 4, depth: 4 },
];

/// The device as software runs it, and as a GPU would.
fn devices() -> Vec<(&'static str, Device)> {
    let with = |software: bool| {
        let given = host::can()?;
        let can = Can { software, ..given };
        Some(host::open(can))
    };
    [("registers", true), ("shared memory", false)].into_iter().filter_map(|(name, s)| Some((name, with(s)?))).collect()
}

fn product(dtype: DType) -> Kernel {
    Kernel::Contract(Contract::new(dtype))
}

/// `a [batch..., m, k]` and `b [batch..., k, n]`, lying as told, multiplied on the device and compared.
fn check(device: &Device, dtype: DType, batch: &[usize], [m, k, n]: [usize; 3], lies: [Lie; 2], what: &str) {
    let seed = (m * 131 + k * 17 + n) as u64;
    let inputs = [
        placed(dtype, &[batch, &[m, k]].concat(), lies[0], seed),
        placed(dtype, &[batch, &[k, n]].concat(), lies[1], seed + 1),
    ];
    let what = format!("{what}: {dtype} {batch:?} {m} x {k} x {n}, {lies:?}");
    within(device, &product(dtype), &inputs, &[batch, &[m, n]].concat(), k, &what);
}

#[test]
fn kernels_of_every_dtype_and_tile_are_valid() {
    let mut count = 0;
    for fma in [false, true] {
        let can = Can { fma32: fma, fma64: fma, ..everything() };
        for (d, dtype) in DType::all().enumerate() {
            for axes in [0, 1 + d % 3] {
                let post = (axes == 0 && dtype != DType::Bool).then(|| epilogue(dtype, [dtype, DType::F32][d % 2]));
                let plan = Plan::new(dtype, axes, post.as_ref(), &can);
                for (n, tile) in TILES.into_iter().enumerate() {
                    let part = [Part::Whole, Part::First, Part::Further][(n + d) % 3];
                    let variant =
                        Variant { tile, rank: [1, 3, 8][(n + axes) % 3], part, blocks: part != Part::Whole || n % 2 == 0 };
                    let shader = shader(&plan, variant, &can).unwrap();
                    assert_eq!(complaint(&shader), None, "{dtype} over {axes} axes, {variant:?}");
                    count += 1;
                }
            }
        }
    }
    let plan = Plan::new(DType::F32, 0, None, &everything());
    let variant =
        Variant { tile: Tile::Shared { rows: 8, columns: 8, depth: 8 }, rank: 1, part: Part::Whole, blocks: false };
    assert_eq!(complaint(&shader(&plan, variant, &everything()).unwrap()), None);
    assert_eq!(count, 2 * 2 * TILES.len() * DType::all().count());
}

#[test]
fn what_a_device_lacks_is_refused_in_words() {
    let poor = Can::default();
    let least = Variant { tile: TILES[0], rank: 1, part: Part::Whole, blocks: false };
    for (dtype, want) in [(DType::U8, "no 8-bit storage for uint8"), (DType::F64, "no float64 for float64")] {
        assert_eq!(shader(&Plan::new(dtype, 0, None, &poor), least, &poor).unwrap_err(), want);
    }
    assert!(shader(&Plan::new(DType::F32, 0, None, &poor), least, &poor).is_ok());
    let many = Plan::new(DType::F32, 9, None, &everything());
    assert_eq!(shader(&many, least, &everything()).unwrap_err(), "windows over more than 8 axes");
}

#[test]
fn every_dtype_multiplies_in_any_layouts() {
    for (name, device) in devices() {
        for (d, dtype) in DType::all().enumerate() {
            for (n, lie) in Lie::ALL.into_iter().enumerate() {
                let other = Lie::ALL[(n + d + 2) % Lie::ALL.len()];
                check(&device, dtype, &[2], [7, 19, 6], [lie, other], name);
                check(&device, dtype, &[3], [33, 21, 35], [other, lie], name);
            }
        }
    }
}

#[test]
fn sizes_around_the_edges_of_tiles() {
    let sizes = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 127, 128, 129];
    for (name, device) in devices() {
        for (i, &m) in sizes.iter().enumerate() {
            for (j, &n) in sizes.iter().enumerate() {
                let k = sizes[(5 * i + 7 * j) % sizes.len()];
                let lies = if (i + j) % 2 == 0 { [Lie::Dense, Lie::Dense] } else { [Lie::Turned, Lie::Turned] };
                check(&device, DType::F32, &[], [m, k, n], lies, name);
            }
        }
    }
}

/// Tiles of 128 x 128 are for products that have many of them.
#[test]
fn large_products_on_gpus_have_large_tiles() {
    let Some((name, device)) = devices().into_iter().nth(1) else { return };
    for lies in [[Lie::Dense, Lie::Dense], [Lie::Turned, Lie::Dense], [Lie::Dense, Lie::Turned]] {
        check(&device, DType::F32, &[128], [129, 9, 3], lies, name);
        check(&device, DType::F32, &[32], [129, 11, 130], lies, name);
    }
}

#[test]
fn products_of_nothing_are_zeros() {
    for (name, device) in devices() {
        for dtype in DType::all() {
            check(&device, dtype, &[2], [3, 0, 5], [Lie::Dense, Lie::Dense], name);
            check(&device, dtype, &[2], [40, 0, 50], [Lie::Dense, Lie::Turned], name);
        }
        for sizes in [[0, 3, 4], [3, 4, 0], [0, 0, 0]] {
            check(&device, DType::F32, &[2], sizes, [Lie::Dense, Lie::Dense], name);
        }
        check(&device, DType::F32, &[0], [2, 2, 2], [Lie::Dense, Lie::Dense], name);
    }
}

#[test]
fn skinny_products_share_long_rows() {
    for (name, device) in devices() {
        for dtype in [DType::F32, DType::F64, DType::C64, DType::BF16, DType::I16, DType::I64, DType::Bool] {
            for sizes in [[1, 3000, 1], [5, 2049, 1], [1, 1500, 7], [3, 1025, 2], [1, 5, 300], [300, 5, 1]] {
                check(&device, dtype, &[], sizes, [Lie::Dense, Lie::Dense], name);
                check(&device, dtype, &[2], sizes, [Lie::Turned, Lie::Backwards], name);
            }
        }
    }
}

/// More inner places than one loop may have rounds, in a thread of its own for each tile.
#[test]
fn long_inner_places_are_added_in_parts() {
    for (name, device) in devices() {
        for dtype in [DType::I32, DType::F16] {
            check(&device, dtype, &[64], [1, 70_000, 1], [Lie::Dense, Lie::Turned], name);
        }
    }
}

/// The last place of more than a loop may have rounds is the only one that is true.
#[test]
fn no_place_of_a_long_row_of_bools_is_left_out() {
    for (name, device) in devices() {
        let k = 150_000;
        let inputs = [[1, k], [k, 1]].map(|dims| {
            let bytes: Vec<u8> = (0..k).map(|n| u8::from(n == k - 1)).collect();
            (bytes, Layout::dense(&dims).unwrap())
        });
        let found = run(&device, &product(DType::Bool), &inputs, &[1, 1], &[]).unwrap().remove(0);
        assert_eq!(found.bytes(), [1], "{name}");
    }
}

/// What is added to each matrix of a batch whose matrices would be rows of one product is done apart, after sums that are there.
#[test]
fn a_map_apart_from_a_product_of_nothing_meets_zeros() {
    let mut b = Builder::new();
    let (sum, bias) = (b.input(DType::F32), b.input(DType::F32));
    let out = b.binary(Op::Add, sum, bias);
    let kernel = Kernel::Contract(Contract { post: Some(b.finish(&[out])), ..Contract::new(DType::F32) });
    for (name, device) in devices() {
        for k in [0, 5, 700] {
            let dims = |of: [usize; 3]| Layout::dense(&of).unwrap();
            let ones = |count: usize| vec![1f32; count].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
            let one = Layout::dense(&[1, k, 4]).unwrap().broadcast(&[2, k, 4]);
            let bias = dims([2, 1, 4]).broadcast(&[2, 3, 4]);
            let inputs = [(ones(6 * k), dims([2, 3, k])), (ones(4 * k), one), (ones(8), bias)];
            let found = run(&device, &kernel, &inputs, &[2, 3, 4], &[]).unwrap().remove(0);
            assert_eq!(found.to_vec::<f32>().unwrap(), [1.0 + k as f32; 24], "{name}, {k}");
        }
    }
}

#[test]
fn sums_go_by_blocks_of_places_as_on_every_device() {
    let sizes = [[1, 3000, 1], [5, 2049, 1], [3, 1300, 70], [40, 1030, 33], [33, 513, 1], [2, 70_000, 3], [1, 525_000, 2]];
    for (name, device) in devices() {
        let can = device.can().unwrap();
        for dtype in [DType::F32, DType::F64, DType::BF16, DType::C64] {
            let is_double = dtype == DType::F64;
            let fuses = if is_double { can.fma64 } else { can.fma32 };
            if is_double && !can.float64 || dtype.is_complex() && !fuses {
                continue;
            }
            let fma = |x: f64, y: f64, sum: f64| match (is_double, fuses) {
                (true, true) => x.mul_add(y, sum),
                (true, false) => sum + x * y,
                (false, true) => (x as f32).mul_add(y as f32, sum as f32).into(),
                (false, false) => (sum as f32 + x as f32 * y as f32).into(),
            };
            let add = |x: f64, y: f64| if is_double { x + y } else { (x as f32 + y as f32).into() };
            let parts = |x: Scalar| match x {
                Scalar::Complex(re, im) => [re.hi, im.hi],
                x => [x.real().hi, 0.0],
            };
            for (nth, [m, k, n]) in sizes.into_iter().enumerate() {
                let lies = [[Lie::Dense, Lie::Dense], [Lie::Turned, Lie::Backwards]][nth % 2];
                let inputs = [placed(dtype, &[m, k], lies[0], 1), placed(dtype, &[k, n], lies[1], 2)];
                let [a, b] = inputs.each_ref().map(|(bytes, layout)| {
                    let array = Array::gather(bytes, layout, dtype).unwrap();
                    array.scalars().map(parts).collect::<Vec<_>>()
                });
                let sum = |o: usize| {
                    let step = |[re, im]: [f64; 2], l: usize| {
                        let ([xr, xi], [yr, yi]) = (a[o / n * k + l], b[l * n + o % n]);
                        match dtype.is_complex() {
                            true => [fma(xi, -yi, fma(xr, yr, re)), fma(xi, yr, fma(xr, yi, im))],
                            false => [fma(xr, yr, re), 0.0],
                        }
                    };
                    let chain = |places: std::ops::Range<usize>| places.fold([0.0; 2], step);
                    let block = blocks::places(dtype.compute());
                    blocks::sum(k, block, chain, |[x, u], [y, v]| [add(x, y), add(u, v)])
                };
                let number = |[re, im]: [f64; 2]| match dtype {
                    DType::C64 => Scalar::Complex(re.into(), im.into()),
                    _ => Scalar::Float(re.into()),
                };
                let want = Array::from_scalars(dtype, &[m, n], (0..m * n).map(sum).map(number)).unwrap();
                let got = run(&device, &product(dtype), &inputs, &[m, n], &[]).unwrap().remove(0);
                assert!(canonical(&got) == canonical(&want), "{name}: {dtype} {m} x {k} x {n}: {got:?}, not {want:?}");
            }
        }
    }
}

#[test]
fn batches_of_many_axes_lie_anyhow() {
    for (name, device) in devices() {
        let batch = [2, 1, 3, 2];
        for (n, lie) in Lie::ALL.into_iter().enumerate() {
            check(&device, DType::F32, &batch, [5, 6, 4], [lie, Lie::ALL[(n + 1) % Lie::ALL.len()]], name);
        }
        // Each axis is a loop of its own where they are turned around.
        let dims = [2usize; 12];
        let order: Vec<usize> = (0..10).rev().chain([10, 11]).collect();
        let turned = Layout::dense(&dims).unwrap().permute(&order);
        let inputs = [(numbers(DType::I32, 4096, 1), turned), (numbers(DType::I32, 4096, 2), Layout::dense(&dims).unwrap())];
        within(&device, &product(DType::I32), &inputs, &dims, 2, name);
    }
}

/// Operands that a descriptor does not show whole are cut along every axis; half floats are added up before they are rounded.
#[test]
fn operands_beyond_a_descriptors_range_are_cut() {
    for software in [true, false] {
        let Some(given) = host::can() else { return };
        let can = Can { max_range: 2048, software, ..given };
        let device = host::open(can);
        for dtype in [DType::F32, DType::F64, DType::F16, DType::BF16, DType::C64, DType::I8, DType::U32, DType::Bool] {
            let sizes = [[40, 35, 50], [3, 700, 2], [70, 3, 70], [1, 1500, 1]];
            for (n, &sizes) in sizes.iter().enumerate() {
                for lies in [[Lie::Dense, Lie::Dense], [Lie::Turned, Lie::Backwards], [Lie::Gaps, Lie::Broadcast]] {
                    let batch = [2];
                    check(&device, dtype, &batch[..n % 2], sizes, lies, "in parts");
                }
            }
        }
    }
}

/// What would hold up a software device for over 100 ms is several dispatches.
#[test]
fn heavy_products_are_cut() {
    let Some((_, device)) = devices().into_iter().next() else { return };
    let n = 700;
    let dense = Layout::dense(&[n, n]).unwrap();
    let inputs = [(numbers(DType::I32, n * n, 1), dense.clone()), (numbers(DType::I32, n * n, 2), dense)];
    let before = device.counts().dispatches;
    let found = run(&device, &product(DType::I32), &inputs, &[n, n], &[]).unwrap()[0].to_vec::<i32>().unwrap();
    assert!(device.counts().dispatches >= before + 2);
    let of = |bytes: &[u8]| bytes.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().unwrap())).collect::<Vec<i32>>();
    let (a, b) = (of(&inputs[0].0), of(&inputs[1].0));
    for (i, row) in found.chunks_exact(n).enumerate() {
        let mut want = vec![0i32; n];
        for k in 0..n {
            let factor = a[i * n + k];
            want.iter_mut().zip(&b[k * n..]).for_each(|(w, &x)| *w = w.wrapping_add(factor.wrapping_mul(x)));
        }
        assert_eq!(row, want, "row {i}");
    }
}

#[test]
fn equal_launches_give_equal_bits() {
    for (_, device) in devices() {
        for (dtype, [m, k, n]) in [(DType::F32, [70, 90, 80]), (DType::F32, [1, 5000, 1]), (DType::BF16, [9, 3000, 2])] {
            let inputs = [placed(dtype, &[m, k], Lie::Dense, 5), placed(dtype, &[k, n], Lie::Turned, 6)];
            let once = || run(&device, &product(dtype), &inputs, &[m, n], &[]).unwrap();
            let first = once();
            assert!((0..3).all(|_| once() == first));
        }
    }
}

/// `post` of a dtype: the product times a parameter, and two operands beside it, larger than zero or not, in another dtype.
fn epilogue(dtype: DType, to: DType) -> Program {
    let mut b = Builder::new();
    let [x, y] = [(); 2].map(|()| b.input(dtype));
    let z = b.input(DType::I32);
    let factor = b.param(dtype.info().real);
    let factor = b.cast(factor, dtype);
    let scaled = b.binary(Op::Mul, x, factor);
    let moved = b.binary(Op::Add, scaled, y);
    let zero = b.lit(DType::I32, 0.0);
    let below = b.compare(Op::Lt, z, zero);
    let kept = b.select(below, y, moved);
    let result = b.cast(kept, to);
    b.finish(&[result])
}

/// A product with a map after it has the bits of one after the other, wherever its operands lie: biases of columns and rows, of
/// one matrix for all.
#[test]
fn what_comes_after_a_product_is_done_where_it_is_written() {
    let narrow = |can: &Can| Can { max_range: 2048, ..can.clone() };
    for (software, cut) in [(true, false), (false, false), (true, true), (false, true)] {
        let Some(given) = host::can() else { return };
        let can = Can { software, ..if cut { narrow(&given) } else { given } };
        let device = host::open(can);
        for (d, dtype) in DType::all().filter(|&d| d != DType::Bool).enumerate() {
            let to = [dtype, DType::F32, DType::Bool][d % 3];
            let post = epilogue(dtype, to);
            let after = Kernel::Map(Map { program: post.clone() });
            let fused = Kernel::Contract(Contract { post: Some(post), ..Contract::new(dtype) });
            assert_eq!(device.supports(&fused), Ok(()), "{dtype} to {to}");
            let sizes = [[7, 19, 6], [1, 1500, 3], [130, 9, 70], [5, 0, 4]].into_iter().enumerate();
            // Half of them for each dtype: 100 kernels to compile instead of 200.
            for (n, [m, k, columns]) in sizes.filter(|(n, _)| (n + d) % 2 == usize::from(cut)) {
                // Sums of floats may take another way where a batch is no part of the rows.
                let batch: &[usize] = if dtype.is_integer() && n % 2 == 0 { &[3] } else { &[] };
                let dims = [batch, &[m, columns]].concat();
                let lies = [Lie::Dense, Lie::Turned, Lie::Repeated, Lie::Broadcast, Lie::Backwards];
                let factors = [
                    placed(dtype, &[batch, &[m, k]].concat(), Lie::Dense, 1),
                    placed(dtype, &[batch, &[k, columns]].concat(), Lie::Turned, 2),
                ];
                let beside = [
                    placed(dtype, &dims, lies[(n + d) % lies.len()], 3),
                    placed(DType::I32, &dims, lies[(n + d + 2) % lies.len()], 4),
                ];
                let params = [literal_bits(dtype.info().real, 3.0)];
                let product = run(&device, &product(dtype), &factors, &dims, &[]).unwrap().remove(0);
                let dense = (product.bytes().to_vec(), Layout::dense(&dims).unwrap());
                let [y, z] = beside.clone();
                let want = run(&device, &after, &[dense, y, z], &dims, &params).unwrap();
                let all = [factors, beside].concat();
                let found = run(&device, &fused, &all, &dims, &params).unwrap();
                assert_eq!(
                    canonical(&found[0]),
                    canonical(&want[0]),
                    "{dtype} to {to}, {batch:?} {m} x {k} x {columns}, software {software}, cut {cut}"
                );
            }
        }
    }
}

/// What would be long 64 times over, or go in circles, stays a map of its own.
#[test]
fn functions_after_a_product_are_refused() {
    let Some((_, device)) = devices().into_iter().next() else { return };
    let mut b = Builder::new();
    let x = b.input(DType::F32);
    let y = b.call(MathFn::Tanh, &[x]);
    let tanh = b.finish(&[y]);
    let mut b = Builder::new();
    let x = b.input(DType::F32);
    let two = b.lit(DType::F32, 2.0);
    let y = b.binary(Op::Rem, x, two);
    for post in [tanh, b.finish(&[y])] {
        let kernel = Kernel::Contract(Contract { post: Some(post), ..Contract::new(DType::F32) });
        assert_eq!(device.supports(&kernel), Err("a function, or a loop, after a product".into()));
    }
}

/// One product is left out of a sum of many, or counted twice.
#[test]
fn a_sum_of_other_products_is_noticed() {
    let n = 400;
    let bytes = numbers(DType::F32, n, 3);
    let (a, b) = (Array::new(DType::F32, &[1, n], bytes.clone()).unwrap(), Array::new(DType::F32, &[n, 1], bytes).unwrap());
    let kernel = product(DType::F32);
    let Scalar::Float(whole) =
        ferrotensor_core::reference::run(&kernel, &[a.clone(), b.clone()], &[&[1, 1]], &[]).unwrap()[0].get(0)
    else {
        panic!("a product of floats is a float")
    };
    let Scalar::Float(term) = a.get(17) else { panic!("a float") };
    for (value, good) in [(whole.hi, true), (whole.hi - term.hi * term.hi, false), (whole.hi + term.hi * term.hi, false)] {
        let found = Array::from_slice(&[1, 1], &[value as f32]).unwrap();
        assert_eq!(super::launches::difference(&kernel, &[a.clone(), b.clone()], &found, n).is_none(), good);
    }
}

#[test]
fn all_dtypes_are_native_on_a_device_that_has_them() {
    for (_, device) in devices() {
        for dtype in DType::all() {
            assert_eq!(device.supports(&product(dtype)), Ok(()));
        }
    }
}

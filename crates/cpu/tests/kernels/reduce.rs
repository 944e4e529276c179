//! `Reduce` and `Scan`: the tree to the bit, all layouts, positions, accuracy.

use crate::harness::{Rng, STYLES, Style, assert_same, check, expected, run};
use ferrotensor_core::DType;
use ferrotensor_core::kernel::tree::{LANES, ROWS};
use ferrotensor_core::kernel::{Combine, Kernel, Monoid, Reduce, Scan};
use ferrotensor_core::reference::Array;
use ferrotensor_core::scalar::{Builder, Op};

pub fn reduce(axes: usize, combine: Combine, d: DType) -> Kernel {
    Kernel::Reduce(Reduce { axes, combine, input: d, acc: d, pre: None, post: None })
}

/// The documented tree, spelled out: identities in empty lanes, a list of partials.
fn tree_sum(x: &[f32]) -> f32 {
    let mut partials: Vec<[f32; LANES]> = Vec::new();
    for (g, group) in x.chunks(LANES * ROWS).enumerate() {
        let mut lanes = [-0.0f32; LANES];
        for (r, row) in group.chunks(LANES).enumerate() {
            for (l, &v) in row.iter().enumerate() {
                lanes[l] = if r == 0 { v } else { lanes[l] + v };
            }
        }
        partials.push(lanes);
        for _ in 0..g.trailing_ones() {
            merge(&mut partials);
        }
    }
    while partials.len() > 1 {
        merge(&mut partials);
    }
    let mut lanes = partials[0];
    for w in [16, 8, 4, 2, 1] {
        for l in 0..w {
            lanes[l] += lanes[l + w];
        }
    }
    lanes[0]
}

fn merge(partials: &mut Vec<[f32; LANES]>) {
    let newer = partials.pop().unwrap();
    let older = partials.last_mut().unwrap();
    for (o, n) in older.iter_mut().zip(newer) {
        *o += n;
    }
}

fn noise(rng: &mut Rng, n: usize) -> Vec<f32> {
    (0..n).map(|_| (rng.next() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
}

#[test]
fn a_sum_follows_the_documented_tree_at_every_length_and_in_every_layout() {
    let mut rng = Rng(7);
    let lengths = [1, 2, 3, 31, 32, 33, 511, 512, 513, 543, 1024, 1537, 4099, 65536, 131_072, 131_073, 200_001, 400_000];
    for n in lengths {
        for kept in [1usize, 3, 70] {
            if kept * n > 1_300_000 {
                continue;
            }
            let x = noise(&mut rng, kept * n);
            let array = Array::from_slice(&[kept, n], &x).unwrap();
            let want: Vec<f32> = x.chunks(n).map(tree_sum).collect();
            let want = Array::from_slice(&[kept], &want).unwrap();
            let kernel = reduce(1, Combine::Value(Monoid::Sum), DType::F32);
            for style in [Style::Dense, Style::Transposed, Style::Padded, Style::Reversed] {
                let got = run(&kernel, &[(&array, style)], &[(&[kept], Style::Offset)], &[]);
                assert_same(&want, &got[0], format_args!("sum of {n}, {kept} kept, {style:?}"));
            }
        }
    }
}

/// Items side by side, and those that are left over: of every length below a row of lanes, and a little above.
#[test]
fn short_items_follow_the_tree_however_many_there_are() {
    let mut rng = Rng(10);
    let most = if cfg!(miri) { 4 } else { LANES + 2 };
    for extent in 1..=most {
        for items in [1usize, 15, 16, 17, 50] {
            let x = noise(&mut rng, items * extent);
            let array = Array::from_slice(&[items, extent], &x).unwrap();
            let want: Vec<f32> = x.chunks(extent).map(tree_sum).collect();
            let want = Array::from_slice(&[items], &want).unwrap();
            let sum = reduce(1, Combine::Value(Monoid::Sum), DType::F32);
            let got = run(&sum, &[(&array, Style::Dense)], &[(&[items], Style::Dense)], &[]);
            assert_same(&want, &got[0], format_args!("sum of {extent}, {items} items"));
            for (d, monoid) in [(DType::F32, Monoid::Max), (DType::F64, Monoid::Min), (DType::F16, Monoid::Max)] {
                // Zeros of both signs, NaN and infinities are among the elements.
                let array = rng.array(d, &[items, extent]);
                let kernel = reduce(1, Combine::Value(monoid), d);
                check(&kernel, &[(&array, Style::Dense)], &[(&[items], Style::Dense)], &[]);
            }
        }
    }
}

/// Axes that are kept and follow each other in memory, behind the one that is reduced: they are walked as one.
#[test]
fn kept_axes_side_by_side_in_memory_give_the_tree_of_each_output() {
    let mut rng = Rng(12);
    for dims in [&[70, 3, 40][..], &[5, 3, 600], &[2, 9, 4, 33], &[1, 3, 5], &[300, 1, 7]] {
        let (extent, kept) = (dims[dims.len() - 1], &dims[..dims.len() - 1]);
        let x = noise(&mut rng, dims.iter().product());
        let array = Array::from_slice(dims, &x).unwrap();
        let want: Vec<f32> = x.chunks(extent).map(tree_sum).collect();
        let want = Array::from_slice(kept, &want).unwrap();
        let sum = reduce(1, Combine::Value(Monoid::Sum), DType::F32);
        for style in [Style::LastFirst, Style::Transposed] {
            let got = run(&sum, &[(&array, style)], &[(kept, Style::Dense)], &[]);
            assert_same(&want, &got[0], format_args!("sum of {dims:?}, {style:?}"));
            for d in [DType::F32, DType::U8, DType::F64] {
                let array = rng.array(d, dims);
                for combine in [Combine::Value(Monoid::Max), Combine::ArgMin] {
                    check(&reduce(1, combine, d), &[(&array, style)], &[(kept, Style::Padded)], &[]);
                }
            }
        }
    }
}

#[test]
fn exact_reductions_equal_the_reference_for_every_monoid_dtype_and_layout() {
    let mut rng = Rng(8);
    let shapes: [(&[usize], usize); 7] =
        [(&[], 0), (&[5], 1), (&[4, 33], 1), (&[3, 2, 70], 2), (&[2, 0, 3], 2), (&[600, 2], 1), (&[2, 70, 5, 3], 2)];
    for d in DType::all() {
        for monoid in [Monoid::Sum, Monoid::Prod, Monoid::Max, Monoid::Min, Monoid::All, Monoid::Any] {
            let ordered = !matches!(monoid, Monoid::Sum | Monoid::Prod);
            let logical = matches!(monoid, Monoid::All | Monoid::Any);
            // Rounded sums have an error bound instead; see the tree above.
            if (logical && d != DType::Bool) || (ordered && d.is_complex()) || (!ordered && (d.is_float() || d.is_complex()))
            {
                continue;
            }
            for (dims, axes) in shapes {
                let array = rng.array(d, dims);
                let out = (&dims[..dims.len() - axes], rng.pick(&STYLES[1..]));
                check(&reduce(axes, Combine::Value(monoid), d), &[(&array, rng.pick(&STYLES))], &[out], &[]);
            }
        }
    }
}

#[test]
fn positions_are_those_of_the_first_in_every_layout() {
    let mut rng = Rng(9);
    let shapes: [(&[usize], usize); 5] = [(&[7], 1), (&[4, 900], 1), (&[3, 130, 2], 2), (&[600, 3], 1), (&[2, 70, 5, 3], 2)];
    for d in DType::all().filter(|d| !d.is_complex()) {
        for combine in [Combine::ArgMax, Combine::ArgMin] {
            for (dims, axes) in shapes {
                let array = rng.array(d, dims);
                for style in [Style::Dense, Style::Transposed, Style::Stepped] {
                    let kept = &dims[..dims.len() - axes];
                    check(&reduce(axes, combine, d), &[(&array, style)], &[(kept, Style::Offset)], &[]);
                }
            }
        }
    }
}

/// Items side by side, and those that are left over.
#[test]
fn positions_in_short_items_are_those_of_the_first_however_many_there_are() {
    let mut rng = Rng(15);
    let most = if cfg!(miri) { 4 } else { LANES + 2 };
    for extent in 1..=most {
        for items in [1usize, 16, 50] {
            for (n, d) in DType::all().filter(|d| !d.is_complex()).enumerate() {
                let array = rng.array(d, &[items, extent]);
                let combine = if (n + extent) % 2 == 0 { Combine::ArgMax } else { Combine::ArgMin };
                check(&reduce(1, combine, d), &[(&array, Style::Dense)], &[(&[items], Style::Dense)], &[]);
            }
        }
    }
}

/// Extents of which threads take parts, along and across memory; the elements repeat, so that the first of equal ones is in
/// another part than the others.
#[test]
fn positions_in_long_extents_are_those_of_the_first() {
    let mut rng = Rng(11);
    for (dims, axes, style) in [
        (&[140_000][..], 1, Style::Offset),
        (&[3, 50_000], 1, Style::Transposed),
        (&[2, 1100, 70], 1, Style::Transposed),
        (&[2, 300, 250], 2, Style::Stepped),
    ] {
        for d in [DType::F32, DType::BF16, DType::U8, DType::Bool] {
            let array = rng.repeated(d, dims, 8191);
            for combine in [Combine::ArgMax, Combine::ArgMin] {
                let kept = &dims[..dims.len() - axes];
                check(&reduce(axes, combine, d), &[(&array, style)], &[(kept, Style::Offset)], &[]);
            }
        }
    }
}

/// A sum with programs on both sides, which read a parameter and a coordinate each.
pub fn with_programs() -> Kernel {
    let mut b = Builder::new();
    let x = b.input(DType::I16);
    let p = b.param(DType::I64);
    let wide = b.cast(x, DType::I64);
    let i = b.index(1, DType::I64);
    let sum = b.binary(Op::Mul, wide, i);
    let y = b.binary(Op::Add, sum, p);
    let pre = b.finish(&[y]);
    let mut b = Builder::new();
    let x = b.input(DType::I64);
    let p = b.param(DType::I64);
    let i = b.index(0, DType::I64);
    let y = b.binary(Op::Add, x, p);
    let y = b.binary(Op::Sub, y, i);
    let z = b.cast(y, DType::F64);
    let post = b.finish(&[z]);
    let combine = Combine::Value(Monoid::Sum);
    Kernel::Reduce(Reduce { axes: 1, combine, input: DType::I16, acc: DType::I64, pre: Some(pre), post: Some(post) })
}

#[test]
fn programs_before_and_after_get_their_parameters_and_coordinates() {
    let mut rng = Rng(10);
    let kernel = with_programs();
    for dims in [[40usize, 17], [300, 600]] {
        let array = rng.array(DType::I16, &dims);
        for style in STYLES {
            check(&kernel, &[(&array, style)], &[(&dims[..1], Style::Padded)], &[5, 7]);
        }
    }
}

#[test]
fn a_sum_of_nothing_is_plus_zero_and_a_position_of_nothing_an_error() {
    let empty = Array::from_slice::<f32>(&[2, 0], &[]).unwrap();
    let kernel = reduce(1, Combine::Value(Monoid::Sum), DType::F32);
    let got = run(&kernel, &[(&empty, Style::Dense)], &[(&[2], Style::Dense)], &[]);
    assert_eq!(got[0].bytes(), [0u8; 8]);
    let kernel = reduce(1, Combine::ArgMax, DType::F32);
    let (_, outcome) = crate::harness::launch(
        ferrotensor_cpu::Tier::Baseline,
        &kernel,
        &[(&empty, Style::Dense)],
        &[(&[2], Style::Dense)],
        &[],
    );
    assert_eq!(outcome.failed[0].1.code, ferrotensor_core::Code::Argument);
}

#[test]
fn a_long_sum_keeps_its_error_bound() {
    let mut rng = Rng(11);
    for n in [1000usize, 1_000_000] {
        let x = noise(&mut rng, n);
        let array = Array::from_slice(&[n], &x).unwrap();
        let kernel = reduce(1, Combine::Value(Monoid::Sum), DType::F32);
        let got = run(&kernel, &[(&array, Style::Dense)], &[(&[], Style::Dense)], &[]);
        let exact: f64 = x.iter().map(|&v| v as f64).sum();
        let scale: f64 = x.iter().map(|&v| (v as f64).abs()).sum();
        let bound = ((n as f64).log2() + 16.0) * f32::EPSILON as f64 * scale;
        let error = (got[0].get(0).real().hi - exact).abs();
        assert!(error <= bound / 50.0, "error {error} of {n}; even a fiftieth of the bound is {}", bound / 50.0);
    }
}

#[test]
fn complex_and_half_sums_are_close_to_the_reference() {
    let mut rng = Rng(12);
    for (d, tolerance) in
        [(DType::F16, 2e-2), (DType::BF16, 2e-1), (DType::C64, 1e-4), (DType::C128, 1e-12), (DType::F64, 1e-12)]
    {
        let mut b = Builder::new();
        let x = b.input(DType::F32);
        let y = b.cast(x, d);
        let cast = Kernel::Map(ferrotensor_core::kernel::Map { program: b.finish(&[y]) });
        let x = Array::from_slice(&[3, 700], &noise(&mut rng, 2100)).unwrap();
        let x = expected(&cast, &[&x], &[&[3, 700]], &[]).remove(0);
        let kernel = reduce(1, Combine::Value(Monoid::Sum), d);
        let want = expected(&kernel, &[&x], &[&[3]], &[]).remove(0);
        for style in [Style::Dense, Style::Transposed] {
            let got = run(&kernel, &[(&x, style)], &[(&[3], Style::Dense)], &[]).remove(0);
            for i in 0..3 {
                let (g, w) = (got.get(i).real().hi, want.get(i).real().hi);
                assert!((g - w).abs() <= tolerance * (1.0 + w.abs()), "{d}: {g} for {w}");
            }
        }
    }
}

#[test]
fn scans_equal_the_reference() {
    let mut rng = Rng(13);
    let shapes: [&[usize]; 5] = [&[], &[5], &[3, 0], &[4, 900], &[130, 2, 1100]];
    for d in DType::all() {
        for combine in [Monoid::Sum, Monoid::Prod, Monoid::Max, Monoid::Min, Monoid::All, Monoid::Any] {
            let ordered = !matches!(combine, Monoid::Sum | Monoid::Prod);
            if d.is_complex() && combine != Monoid::Sum || (matches!(combine, Monoid::All | Monoid::Any) && d != DType::Bool)
            {
                assert!(ordered || combine == Monoid::Prod);
                continue;
            }
            let last = if d == DType::F32 && combine == Monoid::Sum { 5 } else { 4 };
            for dims in &shapes[..last] {
                let array = rng.array(d, dims);
                let kernel = Kernel::Scan(Scan { combine, dtype: d });
                check(&kernel, &[(&array, rng.pick(&STYLES))], &[(dims, rng.pick(&STYLES[1..]))], &[]);
            }
        }
    }
}

/// Rows that are met where they lie, in stretches, and rows that are laid straight first.
#[test]
fn scans_of_long_rows_equal_the_reference() {
    let mut rng = Rng(12);
    for (d, dims, style) in [
        (DType::F32, [7, 5000], Style::Dense),
        (DType::F64, [1, 70_000], Style::Offset),
        (DType::F32, [300, 200], Style::Transposed),
        (DType::BF16, [9, 2100], Style::Padded),
        // Blocks that fill rows, and rows that lie beside each other.
        (DType::I64, [40, 1024], Style::Dense),
        (DType::F32, [37, 256], Style::Dense),
        // Blocks that threads share, wave after wave, past the caches.
        (DType::F32, [1, 2_100_003], Style::Dense),
    ] {
        let array = rng.array(d, &dims);
        for combine in [Monoid::Sum, Monoid::Max] {
            let kernel = Kernel::Scan(Scan { combine, dtype: d });
            for to in [Style::Dense, Style::Stepped] {
                check(&kernel, &[(&array, style)], &[(&dims, to)], &[]);
            }
        }
    }
}

/// Of values that stay exact: random ones have NaN among them, behind which all is alike.
#[test]
fn running_sums_that_threads_share_leave_nothing_out() {
    for (rows, row) in [(1, 2_100_003), (3, 70_000)] {
        let values: Vec<f64> = (0..rows * row).map(|i| ((i * 7) % 11) as f64 - 4.0).collect();
        let mut want = values.clone();
        for row in want.chunks_mut(row) {
            (1..row.len()).for_each(|i| row[i] += row[i - 1]);
        }
        let [array, want] = [&values, &want].map(|v| Array::from_slice(&[rows, row], v).unwrap());
        let kernel = Kernel::Scan(Scan { combine: Monoid::Sum, dtype: DType::F64 });
        let got = run(&kernel, &[(&array, Style::Dense)], &[(&[rows, row], Style::Dense)], &[]);
        assert_same(&got[0], &want, format_args!("{rows} rows of {row}"));
    }
}

//! Every kind of kernel over few elements, in every way that operands are met, for Miri (`scripts/miri.mjs`): it interprets
//! tens of elements while a machine computes millions.

use crate::harness::{Rng, STYLES, Style, check};
use crate::map::map;
use crate::reduce::{reduce, with_programs};
use crate::rows::{below_the_largest, less_the_largest};
use ferrotensor_core::DType;
use ferrotensor_core::attention::Attention;
use ferrotensor_core::kernel::{
    Combine, Contract, Gather, Kernel, Monoid, Scan, Scatter, Sort, SortOutputs, Update, Window, WindowAxis, WindowCombine,
};
use ferrotensor_core::reference::{Array, Scalar};
use ferrotensor_core::scalar::{Builder, MathFn, Op};

// Elements of long operands repeat after this many, fewer than a row of lanes and no divisor of one.
const PERIOD: usize = 13;

/// Whole numbers so small that they are added and multiplied without rounding, in any order.
fn whole(dtype: DType, dims: &[usize]) -> Array {
    let values = (0..dims.iter().product()).map(|i: usize| Scalar::float((i % 5) as f64 - 2.0));
    Array::from_scalars(dtype, dims, values).unwrap()
}

fn copy(from: DType, to: DType) -> Kernel {
    let mut b = Builder::new();
    let x = b.input(from);
    let y = b.cast(x, to);
    map(b.finish(&[y]))
}

#[test]
fn maps_of_every_dtype_in_every_layout() {
    let mut rng = Rng(41);
    for (n, d) in DType::all().enumerate() {
        let mut b = Builder::new();
        let (x, y) = (b.input(d), b.input(d));
        let (same, sum) = (b.compare(Op::Eq, x, y), b.binary(if d == DType::Bool { Op::Xor } else { Op::Add }, x, y));
        let kernel = map(b.finish(&[same, sum]));
        let style = |k: usize| STYLES[(n + k) % STYLES.len()];
        let (x, y, dims) = (rng.array(d, &[2, 3]), rng.array(d, &[2, 3]), &[2, 3][..]);
        check(&kernel, &[(&x, style(0)), (&y, style(1))], &[(dims, style(3)), (dims, style(5))], &[]);
    }
}

#[test]
fn maps_of_one_tile_with_constants_and_coordinates() {
    let mut rng = Rng(42);
    for d in [DType::U8, DType::F16, DType::I32, DType::F64] {
        let mut b = Builder::new();
        let (x, y, p, k, i) = (b.input(d), b.input(d), b.param(d), b.lit(d, 3.0), b.index(1, DType::I64));
        let i = b.cast(i, d);
        let sum = [y, p, k, i].into_iter().fold(x, |sum, v| b.binary(Op::Add, sum, v));
        let kernel = map(b.finish(&[sum]));
        let (x, dims) = (rng.array(d, &[2, 3]), &[2, 3][..]);
        let y = Array::new(d, dims, x.bytes()[..d.bytes()].repeat(6)).unwrap();
        check(&kernel, &[(&x, Style::Dense), (&y, Style::Single)], &[(dims, Style::Offset)], &[7]);
    }
}

#[test]
fn maps_over_long_rows() {
    let mut rng = Rng(43);
    let (d, dims) = (DType::U8, &[2, 129][..]);
    let mut b = Builder::new();
    let [rows, equal_rows, equal_columns, one] = [0; 4].map(|_| b.input(d));
    let (smaller, larger) = (b.binary(Op::Min, rows, equal_columns), b.binary(Op::Max, equal_rows, one));
    let kernel = map(b.finish(&[smaller, larger]));
    let array = |bytes: [&[u8]; 2], times: usize| Array::new(d, dims, bytes.map(|b| b.repeat(times)).concat()).unwrap();
    let (rows, row) = (rng.repeated(d, dims, PERIOD), rng.repeated(d, &[129], PERIOD));
    let (equal_rows, equal_columns, one) = (array([row.bytes(); 2], 1), array([&[3], &[200]], 129), array([&[7]; 2], 129));
    let inputs =
        [(&rows, Style::Padded), (&equal_rows, Style::Broadcast), (&equal_columns, Style::Spread), (&one, Style::Single)];
    check(&kernel, &inputs, &[(dims, Style::Padded), (dims, Style::Stepped)], &[]);
}

#[test]
fn maps_past_the_end_of_a_tile() {
    // A tile has 512 elements of the widest dtype.
    let array = Rng(44).repeated(DType::U8, &[515], PERIOD);
    check(&copy(DType::U8, DType::C128), &[(&array, Style::Reversed)], &[(&[515], Style::Offset)], &[]);
}

#[test]
fn functions_and_fused_products() {
    for d in [DType::F16, DType::F32, DType::F64] {
        let mut b = Builder::new();
        let (x, y) = (b.input(d), b.input(d));
        let results = [b.call(MathFn::Exp, &[x]), b.call(MathFn::Sin, &[x]), b.call(MathFn::Pow, &[y, y]), b.fma(x, y, y)];
        let kernel = map(b.finish(&results));
        // Where every function's value is exact.
        let x = Array::from_scalars(d, &[3], [0.0, -0.0, f64::NAN].map(Scalar::float)).unwrap();
        let y = Array::from_scalars(d, &[3], [1.0, 2.0, 3.0].map(Scalar::float)).unwrap();
        check(&kernel, &[(&x, Style::Dense), (&y, Style::Reversed)], &[(&[3][..], Style::Offset); 4], &[]);
    }
}

#[test]
fn turned_copies_and_casts() {
    let mut rng = Rng(44);
    for (from, to, dims) in [(DType::F32, DType::F32, [17, 16]), (DType::F32, DType::I8, [16, 16])] {
        let array = rng.repeated(from, &dims, PERIOD);
        check(&copy(from, to), &[(&array, Style::Transposed)], &[(&dims, Style::Padded)], &[]);
    }
}

#[test]
fn reductions_of_short_and_long_extents_along_either_axis() {
    let mut rng = Rng(45);
    let value = Combine::Value;
    let (across, along) = (Style::Transposed, Style::Offset);
    for (d, combine, dims, styles) in [
        (DType::I8, value(Monoid::Sum), [2, 35], &[across, along][..]),
        (DType::U64, value(Monoid::Prod), [1, 3], &[along]),
        (DType::F32, value(Monoid::Max), [3, 33], &[across]),
        (DType::F16, value(Monoid::Min), [35, 1], &[along]),
        (DType::Bool, value(Monoid::All), [2, 33], &[across]),
        (DType::Bool, value(Monoid::Any), [2, 0], &[along]),
        (DType::BF16, Combine::ArgMax, [3, 3], &[across, along]),
        (DType::F64, Combine::ArgMin, [2, 3], &[across, along]),
        // Past a group of the tree, past two, and past the elements that positions are sought among.
        (DType::U8, value(Monoid::Sum), [1, 515], &[along]),
        (DType::I8, value(Monoid::Min), [2, 1027], &[across]),
        (DType::I16, Combine::ArgMax, [1, 259], &[along]),
        // Extents of which threads take parts.
        (DType::I8, Combine::ArgMin, [2, 515], &[across]),
        (DType::U8, Combine::ArgMax, [1, 1027], &[along]),
        // Past the outputs that are reduced side by side.
        (DType::F64, value(Monoid::Max), [67, 2], &[across]),
    ] {
        let array = rng.repeated(d, &dims, PERIOD);
        for &style in styles {
            check(&reduce(1, combine, d), &[(&array, style)], &[(&dims[..1], Style::Stepped)], &[]);
        }
    }
}

#[test]
fn sums_of_floats_without_rounding() {
    for (d, dims, style) in [
        (DType::F32, [1, 35], Style::Padded),
        (DType::F64, [1, 3], Style::Stepped),
        (DType::BF16, [3, 3], Style::Transposed),
        (DType::C64, [3, 1], Style::Reversed),
        (DType::C128, [3, 3], Style::Transposed),
    ] {
        let kernel = reduce(1, Combine::Value(Monoid::Sum), d);
        check(&kernel, &[(&whole(d, &dims), style)], &[(&dims[..1], Style::Reversed)], &[]);
    }
}

#[test]
fn reductions_with_programs_before_and_after() {
    let mut rng = Rng(46);
    let array = rng.array(DType::I16, &[3, 17]);
    for style in [Style::Reversed, Style::Transposed] {
        check(&with_programs(), &[(&array, style)], &[(&[3], Style::Padded)], &[5, 7]);
    }
}

#[test]
fn products_of_matrices() {
    let mut rng = Rng(47);
    let check = |a: &Array, b: &Array, out: &[usize], styles: [Style; 3]| {
        let kernel = Kernel::Contract(Contract::new(a.dtype()));
        check(&kernel, &[(a, styles[0]), (b, styles[1])], &[(out, styles[2])], &[]);
    };
    let (turned, padded) = ([Style::Transposed, Style::Stepped, Style::Reversed], [Style::Padded; 3]);
    for d in [DType::Bool, DType::U64] {
        check(&rng.array(d, &[2, 3, 5]), &rng.array(d, &[2, 5, 3]), &[2, 3, 3], turned);
    }
    for d in [DType::F16, DType::BF16, DType::F32, DType::F64, DType::C64, DType::C128] {
        check(&whole(d, &[2, 3, 2]), &whole(d, &[2, 2, 3]), &[2, 3, 3], turned);
    }
    // Past the columns that are summed at a time, and past the rows that one thread multiplies.
    let d = DType::U8;
    check(&rng.array(d, &[1, 1]), &rng.repeated(d, &[1, 515], PERIOD), &[1, 515], padded);
    let d = DType::F32;
    check(&whole(d, &[259, 3]), &whole(d, &[3, 1]), &[259, 1], padded);
}

#[test]
fn gathers_and_scatters() {
    let mut rng = Rng(48);
    // One dtype of each size; data, number of index operands, their shape.
    for (n, (d, data_dims, axes, b)) in [
        (DType::Bool, &[5][..], 1, &[][..]),
        (DType::BF16, &[4, 3], 2, &[2, 3]),
        (DType::I32, &[2, 33], 1, &[3]),
        (DType::C64, &[3, 2, 3], 1, &[2]),
        (DType::C128, &[3, 2, 3, 1], 2, &[3]),
    ]
    .into_iter()
    .enumerate()
    {
        let style = |k: usize| STYLES[(n + k) % STYLES.len()];
        let data = rng.array(d, data_dims);
        let index = rng.indices(data_dims, axes, b);
        let dims = [b, &data_dims[axes..]].concat();
        let mut inputs = vec![(&data, style(0))];
        inputs.extend(index.iter().map(|i| (i, Style::Stepped)));
        let indices = vec![DType::I64; axes];
        check(&Kernel::Gather(Gather::new(d, indices.clone())), &inputs, &[(&dims, style(1))], &[]);
        let updates = rng.array(d, &dims);
        inputs.push((&updates, style(2)));
        let update = if n % 2 == 0 { Update::Combine(Monoid::Sum) } else { Update::Set };
        let kernel = Kernel::Scatter(Scatter { dtype: d, index: indices, update });
        check(&kernel, &inputs, &[(data_dims, style(3))], &[]);
    }
}

#[test]
fn scans() {
    let mut rng = Rng(49);
    for (n, (d, combine, dims)) in [
        (DType::Bool, Monoid::Any, &[3][..]),
        (DType::I16, Monoid::Prod, &[2, 3]),
        (DType::F32, Monoid::Sum, &[3, 35]),
        (DType::BF16, Monoid::Max, &[1, 3]),
        (DType::C128, Monoid::Sum, &[3, 1]),
        // A row that is met where it lies.
        (DType::U8, Monoid::Min, &[2, 131]),
    ]
    .into_iter()
    .enumerate()
    {
        let array = rng.repeated(d, dims, PERIOD);
        let style = |k: usize| STYLES[(n + k) % STYLES.len()];
        check(&Kernel::Scan(Scan { combine, dtype: d }), &[(&array, style(0))], &[(dims, style(3))], &[]);
    }
    // Four rows together and one alone, dense on both sides.
    for d in [DType::I8, DType::C128] {
        let array = rng.array(d, &[5, 3]);
        let kernel = Kernel::Scan(Scan { combine: Monoid::Sum, dtype: d });
        check(&kernel, &[(&array, Style::Offset)], &[(&[5, 3], Style::Offset)], &[]);
    }
}

/// Whole rows of one tile, rows that are gone along one by one, and steps over whole operands (of a row of nothing).
#[test]
fn rows() {
    let mut rng = Rng(52);
    for (n, (dims, axes)) in
        [(&[3, 5][..], 1), (&[2, 2, 65], 2), (&[2, 129], 1), (&[2, 520], 1), (&[2, 0], 1)].into_iter().enumerate()
    {
        let kept = &dims[..dims.len() - axes];
        let (x, r) = (rng.repeated(DType::I16, dims, PERIOD), rng.repeated(DType::I16, kept, PERIOD));
        let style = |k: usize| STYLES[(n + k) % STYLES.len()];
        let outputs = [(dims, style(2)), (kept, style(3)), (kept, style(4))];
        check(&below_the_largest(DType::I16, axes), &[(&x, style(0)), (&r, style(1))], &outputs, &[]);
    }
}

#[test]
fn sorts() {
    let mut rng = Rng(50);
    use SortOutputs::{Both, Indices, Values};
    let sort = |array: &Array, k: usize, descending: bool, outputs: SortOutputs| {
        let kernel = Kernel::Sort(Sort { dtype: array.dtype(), descending, outputs });
        let out: &[usize] = &[array.dims()[0], k];
        let places = [(out, Style::Reversed), (out, Style::Padded)];
        check(&kernel, &[(array, Style::Transposed)], &places[..kernel.outputs().len()], &[]);
    };
    // Where at most a sixteenth is wanted, only that is kept: by one thread, and of a part by each.
    for (d, dims, k, outputs) in [
        (DType::Bool, [3, 9], 9, Values),
        (DType::I64, [2, 3], 3, Indices),
        (DType::F16, [2, 9], 9, Both),
        (DType::F64, [3, 17], 1, Both),
        (DType::I8, [1, 261], 3, Both),
        (DType::F32, [1, 261], 261, Values),
    ] {
        let array = rng.array(d, &dims);
        sort(&array, k, false, outputs);
        sort(&array, k, true, outputs);
    }
    // Long rows are sorted by digits. This one is three ascending runs, which the reference soon merges.
    let runs: Vec<u8> = (0..513).map(|i| i as u8).collect();
    sort(&Array::from_slice(&[1, 513], &runs).unwrap(), 513, false, Indices);
}

#[test]
fn windows_of_each_kind() {
    let axis = |size, stride, low| WindowAxis { size, stride, dilation: 1, low };
    let axes = vec![axis(2, 2, 1), axis(3, 1, 1)];
    for d in [DType::U8, DType::F16, DType::F32, DType::C128] {
        let kernel = Kernel::Window(Window { combine: WindowCombine::Reduce(Monoid::Sum), dtype: d, axes: axes.clone() });
        let data = whole(d, &[2, 3, 4]);
        check(&kernel, &[(&data, Style::Padded)], &[(&[2, 2, 4], Style::Stepped)], &[]);
    }
    for d in [DType::F16, DType::F32, DType::F64] {
        let kernel = Kernel::Window(Window { combine: WindowCombine::Dot, dtype: d, axes: axes.clone() });
        let (data, weights) = (whole(d, &[2, 1, 2, 3, 4]), whole(d, &[1, 3, 2, 2, 3]));
        check(&kernel, &[(&data, Style::Reversed), (&weights, Style::Dense)], &[(&[2, 1, 3, 2, 4], Style::Dense)], &[]);
        // Columns that tiles read where they lie.
        let kernel = Kernel::Window(Window { combine: WindowCombine::Dot, dtype: d, axes: vec![axis(2, 1, 1)] });
        let (data, weights) = (whole(d, &[1, 1, 1, 40]), whole(d, &[1, 2, 1, 2]));
        check(&kernel, &[(&data, Style::Dense), (&weights, Style::Dense)], &[(&[1, 1, 2, 41], Style::Offset)], &[]);
    }
}

#[test]
fn attention_in_every_layout() {
    for (n, d) in [DType::F32, DType::F64].into_iter().enumerate() {
        // Scores and a mask, less the number of the key; what they leave of the largest; values and what is added to them.
        let added = |places: bool| {
            let mut b = Builder::new();
            let (x, y) = (b.input(d), b.input(d));
            let mut sum = b.binary(Op::Add, x, y);
            if places {
                let key = b.index(2, DType::I32);
                let key = b.cast(key, d);
                sum = b.binary(Op::Sub, sum, key);
            }
            Some(b.finish(&[sum]))
        };
        let [scores, values] = [true, false].map(|first| Contract { post: added(first), ..Contract::new(d) });
        let kernel = Kernel::Attention(Box::new(Attention { scores, weights: less_the_largest(d), input: 0, values }));
        let shapes: [&[usize]; 5] = [&[2, 3, 2], &[2, 2, 5], &[2, 3, 5], &[2, 5, 2], &[2, 3, 2]];
        let arrays = shapes.map(|dims| whole(d, dims));
        for k in 0..STYLES.len() {
            let style = |i: usize| STYLES[(n + k + i) % STYLES.len()];
            let inputs: Vec<(&Array, Style)> = arrays.iter().enumerate().map(|(i, a)| (a, style(i))).collect();
            check(&kernel, &inputs, &[(&[2, 3, 2], style(5))], &[]);
        }
    }
}

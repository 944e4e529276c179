//! `Attention`: the bits of its parts run one after the other, on every tier and number of threads, and what its rules refuse.

use crate::harness::{Rng, STYLES, Style, assert_same, run, tiers};
use crate::rows::softmax;
use ferrotensor_core::DType;
use ferrotensor_core::attention::Attention;
use ferrotensor_core::backend::Backend;
use ferrotensor_core::kernel::{Contract, Kernel, Map};
use ferrotensor_core::reference::Array;
use ferrotensor_core::rows::{Per, RowStep};
use ferrotensor_core::scalar::{Builder, Op};
use ferrotensor_cpu::CpuBackend;

/// The softmax of scores, plain or scaled by a parameter, with a mask, and with none of the keys behind a query's place.
fn attention(d: DType, mask: Option<DType>, causal: bool) -> Attention {
    let post = (mask.is_some() || causal).then(|| {
        let mut b = Builder::new();
        let (x, beside, scale) = (b.input(d), mask.map(|m| b.input(m)), b.param(d));
        let mut score = b.binary(Op::Mul, x, scale);
        let nothing = b.lit(d, f64::NEG_INFINITY);
        if let Some(beside) = beside {
            let added = if mask == Some(DType::Bool) { score } else { b.binary(Op::Add, score, beside) };
            score = if mask == Some(DType::Bool) { b.select(beside, score, nothing) } else { added };
        }
        if causal {
            let (row, column) = (b.index(1, DType::I32), b.index(2, DType::I32));
            let seen = b.compare(Op::Le, column, row);
            score = b.select(seen, score, nothing);
        }
        b.finish(&[score])
    });
    Attention { scores: Contract { post, ..Contract::new(d) }, weights: softmax(d, 1), input: 0, values: Contract::new(d) }
}

fn params(kernel: &Attention) -> Vec<u64> {
    let half = |d: &DType| if *d == DType::F64 { 0.5f64.to_bits() } else { u64::from(0.5f32.to_bits()) };
    kernel.params().iter().map(half).collect()
}

/// Compares with the parts.
#[track_caller]
fn compare(kernel: &Attention, inputs: &[(&Array, Style)], output: Style) {
    let params = params(kernel);
    let [factors, beside, more] = kernel.split(inputs).unwrap();
    let (&[batch, m, _], &[_, _, n]) = (factors[0].0.dims(), factors[1].0.dims()) else { panic!("matrices") };
    let ([scores, weights, values], own) = (kernel.parts(), kernel.params_of(&params));
    let square = [(&[batch, m, n][..], Style::Dense)];
    let scores = run(&scores, factors, &square, own[0]).remove(0);
    let weighed = kernel.weighed(beside, (&scores, Style::Dense));
    let weights = run(&weights, &weighed, &square, own[1]).remove(0);
    let dims = [batch, m, more[0].0.dims()[2]];
    let weighed = [&[(&weights, Style::Dense)], more].concat();
    let wanted = run(&values, &weighed, &[(&dims, Style::Dense)], own[2]);
    let found = run(&Kernel::Attention(Box::new(kernel.clone())), inputs, &[(&dims, output)], &params);
    assert_same(&found[0], &wanted[0], format_args!("attention of {dims:?} over {n} keys"));
}

#[test]
fn attention_has_the_bits_of_its_parts() {
    let mut rng = Rng(31);
    // Batch, queries, keys, their length, that of values: less than a tile, tiles and what is left, several blocks, rows a page apart.
    let shapes = [
        [1, 1, 2, 1, 1],
        [2, 3, 5, 4, 3],
        [3, 15, 33, 17, 40],
        [1, 61, 2048, 8, 33],
        [2, 130, 640, 5, 64],
        [1, 40, 5000, 3, 2],
        [1, 20, 5, 262_800, 3],
    ];
    for d in [DType::F32, DType::F64] {
        for (n, [batch, m, n_keys, k, columns]) in shapes.into_iter().enumerate() {
            let (q, keys) = (rng.array(d, &[batch, m, k]), rng.array(d, &[batch, k, n_keys]));
            let v = rng.array(d, &[batch, n_keys, columns]);
            let mask = [None, Some(DType::Bool), Some(d)][n % 3];
            let beside = mask.map(|m_dtype| rng.array(m_dtype, &[batch, m, n_keys]));
            for causal in [false, true] {
                let style = |i: usize| STYLES[(n + i + causal as usize) % STYLES.len()];
                let mut inputs = vec![(&q, style(0)), (&keys, style(1))];
                inputs.extend(beside.iter().map(|b| (b, style(2))));
                inputs.push((&v, style(3)));
                compare(&attention(d, mask, causal), &inputs, style(4));
            }
        }
    }
}

fn array(d: DType, dims: &[usize], value: impl Fn(usize) -> f64) -> Array {
    let values: Vec<f64> = (0..dims.iter().product()).map(value).collect();
    match d {
        DType::F32 => Array::from_slice(dims, &values.iter().map(|&v| v as f32).collect::<Vec<f32>>()).unwrap(),
        _ => Array::from_slice(dims, &values).unwrap(),
    }
}

#[test]
fn keys_that_are_not_seen_show_in_no_bit() {
    for d in [DType::F32, DType::F64] {
        for [batch, m, keys, k, columns] in [[2, 90, 90, 5, 7], [1, 300, 200, 8, 40], [1, 70, 1024, 3, 33]] {
            let waves = |dims: &[usize], step: f64| array(d, dims, |i| (i as f64 * step).sin() * 3.0);
            let q = waves(&[batch, m, k], 0.7);
            let b = waves(&[batch, k, keys], 0.3);
            let plain = waves(&[batch, keys, columns], 1.1);
            // Infinite where the last queries alone see it, and not a number for none of them.
            let odd = array(d, &[batch, keys, columns], |i| match i / columns % keys {
                60 => f64::INFINITY,
                key if key + 1 == keys => f64::NAN,
                _ => (i as f64 * 1.1).sin(),
            });
            for v in [plain, odd] {
                compare(
                    &attention(d, None, true),
                    &[(&q, Style::Dense), (&b, Style::Dense), (&v, Style::Dense)],
                    Style::Dense,
                );
            }
        }
    }
}

#[test]
fn zeros_have_the_sign_that_all_keys_give_them() {
    // The second query's sum is minus zero: a weight of e^-80 of -1e-30, rounded, and others of -0. Keys far behind it make it plus zero.
    let (d, n) = (DType::F32, 1000);
    let q = array(d, &[1, n, 1], |_| 2.0);
    let b = array(d, &[1, 1, n], |key| if key == 0 { -80.0 } else { 0.0 });
    let v = array(d, &[1, n, 1], |key| match key {
        0 => -1e-30,
        1..500 => -0.0,
        _ => 1.0,
    });
    let inputs = [(&q, Style::Dense), (&b, Style::Dense), (&v, Style::Dense)];
    compare(&attention(d, None, true), &inputs, Style::Dense);
    let kernel = attention(d, None, true);
    let found = run(&Kernel::Attention(Box::new(kernel.clone())), &inputs, &[(&[1, n, 1], Style::Dense)], &params(&kernel));
    assert_eq!(found[0].bytes()[4..8], 0.0f32.to_le_bytes());
}

#[test]
fn scores_may_be_any_input_of_the_weights() {
    let mut rng = Rng(32);
    let d = DType::F32;
    // Beside the scores an element each, added before the softmax, and a value of each row, by which the weights are multiplied; beside
    // the values what is taken from them.
    let two = |op| {
        let mut b = Builder::new();
        let (x, y) = (b.input(d), b.input(d));
        let z = b.binary(op, x, y);
        Map { program: b.finish(&[z]) }
    };
    let mut weights = softmax(d, 1);
    weights.inputs = vec![(d, Per::Row), (d, Per::Element), (d, Per::Element)];
    for step in &mut weights.steps {
        let moved = |o: usize| if o == 0 { 3 } else { o + 3 };
        match step {
            RowStep::Map { operands, .. } => operands.iter_mut().for_each(|o| *o = moved(*o)),
            RowStep::Reduce { operand, .. } => *operand = moved(*operand),
        }
    }
    weights.steps.insert(0, RowStep::Map { map: two(Op::Add), operands: vec![1, 2] });
    weights.steps.push(RowStep::Map { map: two(Op::Mul), operands: vec![7, 0] });
    weights.outputs = vec![8];
    let (q, keys, v) = (rng.array(d, &[2, 50, 6]), rng.array(d, &[2, 6, 300]), rng.array(d, &[2, 300, 20]));
    let (rows, elements) = (rng.array(d, &[2, 50]), rng.array(d, &[2, 50, 300]));
    let bias = rng.array(d, &[2, 50, 20]);
    for input in [1, 2] {
        let (scores, values) = (Contract::new(d), Contract { post: Some(two(Op::Sub).program), ..Contract::new(d) });
        let kernel = Attention { scores, weights: weights.clone(), input, values };
        for style in STYLES {
            let inputs = [(&q, style), (&keys, style), (&rows, style), (&elements, style), (&v, style), (&bias, style)];
            compare(&kernel, &inputs, Style::Dense);
        }
    }
}

#[test]
fn matrices_of_a_batch_may_share_keys_values_and_mask() {
    let d = DType::F32;
    let [batch, m, keys, k, columns] = [3, 700, 100, 8, 5];
    let mut rng = Rng(34);
    let mut equal = |dtype: DType, dims: &[usize]| {
        let one = rng.array(dtype, &dims[1..]);
        Array::new(dtype, dims, one.bytes().repeat(dims[0])).unwrap()
    };
    let (b, v) = (equal(d, &[batch, k, keys]), equal(d, &[batch, keys, columns]));
    // One for all queries of all matrices.
    let row = equal(DType::Bool, &[batch * m, keys]);
    let mask = Array::new(DType::Bool, &[batch, m, keys], row.bytes().to_vec()).unwrap();
    let q = rng.array(d, &[batch, m, k]);
    for causal in [false, true] {
        let kernel = attention(d, Some(DType::Bool), causal);
        let inputs = [(&q, Style::Padded), (&b, Style::Broadcast), (&mask, Style::Broadcast), (&v, Style::Broadcast)];
        compare(&kernel, &inputs, Style::Dense);
    }
}

#[test]
fn nothing_is_written_where_there_is_nothing() {
    let kernel = attention(DType::F32, None, false);
    let mut rng = Rng(33);
    // Without places scores are zeros.
    for [batch, m, columns, k] in [[0, 3, 2, 4], [2, 0, 2, 4], [2, 3, 0, 4], [2, 3, 2, 0]] {
        let q = rng.array(DType::F32, &[batch, m, k]);
        let (keys, v) = (rng.array(DType::F32, &[batch, k, 6]), rng.array(DType::F32, &[batch, 6, columns]));
        compare(&kernel, &[(&q, Style::Dense), (&keys, Style::Dense), (&v, Style::Dense)], Style::Dense);
    }
}

#[test]
fn what_is_no_attention_is_refused() {
    let backend = CpuBackend::new(tiers()[0]).unwrap();
    let refusal = |kernel: Attention| backend.supports(&Kernel::Attention(Box::new(kernel))).unwrap_err();
    let good = attention(DType::F32, None, false);
    assert!(backend.supports(&Kernel::Attention(Box::new(good.clone()))).is_ok());
    assert!(refusal(Attention { input: 1, ..good.clone() }).contains("scores are an input"));
    assert!(refusal(Attention { weights: softmax(DType::F32, 2), ..good.clone() }).contains("one axis"));
    assert!(refusal(Attention { scores: Contract::new(DType::F64), ..good }).contains("scores are an input"));
    let mut narrow = attention(DType::F64, None, false);
    narrow.values.operands[1] = DType::F32;
    assert!(refusal(narrow).contains("operands of their own dtype"));
    let mut halves = attention(DType::F32, None, false);
    halves.scores = Contract::new(DType::F16);
    halves.weights = softmax(DType::F16, 1);
    halves.values = Contract::new(DType::F16);
    assert!(refusal(halves).contains("attention with scores of float16"));
}

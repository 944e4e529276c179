//! Products of integers of 8 bits, in 32 bits and in their own: exactly, on every tier, however operands lie.

use crate::contract::dims;
use crate::harness::{Rng, STYLES, Style, assert_same, check, expected, run};
use ferrotensor_core::DType;
use ferrotensor_core::kernel::{Contract, Kernel};
use ferrotensor_core::reference::Array;
use ferrotensor_core::scalar::{Builder, Op};

const BYTES: [DType; 2] = [DType::I8, DType::U8];

/// Every pair of operands with a product in 32 bits.
fn wide() -> impl Iterator<Item = Contract> {
    let pairs = BYTES.into_iter().flat_map(|a| BYTES.map(|b| [a, b]));
    let unsigned = Contract { operands: [DType::U8; 2], ..Contract::new(DType::U32) };
    pairs.map(|operands| Contract { operands, ..Contract::new(DType::I32) }).chain([unsigned])
}

/// Those, and of operands alike products in their dtype.
fn products() -> Vec<Contract> {
    wide().chain(BYTES.map(Contract::new)).collect()
}

/// Any bits.
fn array(rng: &mut Rng, dtype: DType, dims: &[usize]) -> Array {
    let bytes = (0..dims.iter().product()).map(|_| rng.next() as u8).collect();
    Array::new(dtype, dims, bytes).unwrap()
}

#[test]
fn equal_the_reference() {
    let mut rng = Rng(61);
    let cases: [(&[usize], usize, usize, usize); 12] = [
        (&[], 1, 1, 1),
        (&[], 3, 5, 7),
        (&[2], 4, 0, 3),
        (&[], 0, 4, 2),
        (&[2, 3], 9, 17, 5),
        (&[], 70, 33, 1),
        (&[], 1, 64, 65),
        (&[], 1, 68, 70),
        (&[3], 33, 72, 41),
        (&[], 31, 4, 33),
        (&[2], 30, 2100, 34),
        (&[], 3, 20, 300),
    ];
    for kernel in products() {
        for (batch, m, k, n) in cases {
            let of = [dims(batch, m, k), dims(batch, k, n), dims(batch, m, n)];
            let [a, b] = [0, 1].map(|i| array(&mut rng, kernel.operands[i], &of[i]));
            let plain = [(&a, Style::Dense), (&b, Style::Dense)];
            // Places of both lie beside each other in quads.
            let turned = [(&a, Style::Dense), (&b, Style::Transposed)];
            let any = [(&a, rng.pick(&STYLES)), (&b, rng.pick(&STYLES))];
            // So they do here, unless k is none of them.
            let fours = [(&a, Style::Fours { turned: false }), (&b, Style::Fours { turned: true })];
            let kernel = Kernel::Contract(kernel.clone());
            let wanted = expected(&kernel, &[&a, &b], &[&of[2]], &[]);
            for inputs in [plain, turned, fours, any] {
                let styles = [inputs[0].1, inputs[1].1, rng.pick(&STYLES)];
                let got = run(&kernel, &inputs, &[(&of[2], styles[2])], &[]);
                assert_same(&wanted[0], &got[0], format_args!("{kernel:?} {of:?} {styles:?}"));
            }
        }
    }
}

#[test]
fn matrices_of_a_batch_may_be_one() {
    let mut rng = Rng(62);
    for kernel in products() {
        for k in [8, 11] {
            let (a, one) = (array(&mut rng, kernel.operands[0], &[3, 5, k]), array(&mut rng, kernel.operands[1], &[k, 6]));
            let bytes: Vec<u8> = std::iter::repeat_n(one.bytes(), 3).flatten().copied().collect();
            let b = Array::new(kernel.operands[1], &[3, k, 6], bytes).unwrap();
            let kernel = Kernel::Contract(kernel.clone());
            check(&kernel, &[(&a, Style::Offset), (&b, Style::Broadcast)], &[(&[3, 5, 6], Style::Padded)], &[]);
        }
    }
}

#[test]
fn outputs_of_8_bits_are_made_part_by_part() {
    let mut rng = Rng(64);
    for (batch, m, n) in [(&[][..], 1, 1_100_000), (&[3][..], 700, 900), (&[2][..], 1_100_000, 1)] {
        let of = [dims(batch, m, 5), dims(batch, 5, n), dims(batch, m, n)];
        let [a, b] = [0, 1].map(|i| array(&mut rng, DType::I8, &of[i]));
        let inputs = [(&a, Style::Padded), (&b, Style::Transposed)];
        check(&Kernel::Contract(Contract::new(DType::I8)), &inputs, &[(&of[2], Style::Padded)], &[]);
    }
}

#[test]
fn one_row_may_be_all() {
    let mut rng = Rng(65);
    for kernel in products() {
        let (a, b) = (array(&mut rng, kernel.operands[0], &[1, 13]), array(&mut rng, kernel.operands[1], &[13, 6]));
        let rows: Vec<u8> = std::iter::repeat_n(a.bytes(), 9).flatten().copied().collect();
        let a = Array::new(kernel.operands[0], &[9, 13], rows).unwrap();
        let inputs = [(&a, Style::Broadcast), (&b, Style::Dense)];
        check(&Kernel::Contract(kernel), &inputs, &[(&[9, 6], Style::Dense)], &[]);
    }
}

#[test]
fn sums_past_32_bits_wrap() {
    let k = 140_000;
    for kernel in wide() {
        let operands = kernel.operands;
        let most = |d: DType| if d == DType::I8 { 0x80 } else { 0xff };
        let [a, b] = [[1, k], [k, 2]].map(|dims| dims.to_vec());
        let a = Array::new(operands[0], &a, vec![most(operands[0]); k]).unwrap();
        let b = Array::new(operands[1], &b, vec![most(operands[1]); 2 * k]).unwrap();
        let kernel = Kernel::Contract(kernel);
        check(&kernel, &[(&a, Style::Dense), (&b, Style::Dense)], &[(&[1, 2], Style::Dense)], &[]);
    }
}

#[test]
fn sums_may_become_floats_at_once() {
    let mut rng = Rng(63);
    for Contract { operands, dtype, .. } in wide() {
        let mut b = Builder::new();
        let (sum, scale, bias) = (b.input(dtype), b.input(DType::F32), b.input(DType::F32));
        let sum = b.cast(sum, DType::F32);
        let scaled = b.binary(Op::Mul, sum, scale);
        let out = b.binary(Op::Add, scaled, bias);
        let post = Some(b.finish(&[out]));
        let kernel = Kernel::Contract(Contract { operands, post, ..Contract::new(dtype) });
        // The last one is large enough for blocks of places.
        for (m, k, n) in [(5, 9, 7), (40, 64, 70), (70, 33, 1), (33, 2100, 34)] {
            let (x, y) = (array(&mut rng, operands[0], &[m, k]), array(&mut rng, operands[1], &[k, n]));
            let small = |rng: &mut Rng| -> Vec<f32> { (0..m * n).map(|_| rng.below(9) as f32 / 8.0).collect() };
            let [scale, bias] = [small(&mut rng), small(&mut rng)].map(|v| Array::from_slice(&[m, n], &v).unwrap());
            let inputs =
                [(&x, rng.pick(&STYLES)), (&y, rng.pick(&STYLES)), (&scale, Style::Offset), (&bias, Style::Transposed)];
            check(&kernel, &inputs, &[(&[m, n], rng.pick(&STYLES))], &[]);
        }
    }
}

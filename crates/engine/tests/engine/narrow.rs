//! Products read operands as they are stored where a conversion of both was asked for, with the same bits.

use crate::support::{Arg, Program, launches_and_bits};
use ferrotensor_core::DType;
use ferrotensor_engine::Session;

const WAVES: [(&[usize], f32); 2] = [(&[2, 5, 9], 0.7), (&[2, 9, 6], 0.9)];

fn cast(s: &mut Session, p: &mut Program, x: Arg, dtype: DType) -> Arg {
    p.op(s, "astype", &[x], &[f64::from(dtype as u8)])
}

/// Integers of 8 bits from waves: a kernel each.
fn bytes(s: &mut Session, p: &mut Program, x: &[Arg]) -> [Arg; 2] {
    let scaled = [0, 1].map(|i| p.op(s, "multiply", &[x[i], Arg::Number(40.0)], &[]));
    [cast(s, p, scaled[0], DType::I8), cast(s, p, scaled[1], DType::I8)]
}

/// A product, as floats: what programs are read in.
fn product(s: &mut Session, p: &mut Program, [a, b]: [Arg; 2]) -> Arg {
    let product = p.op(s, "matmul", &[a, b], &[]);
    cast(s, p, product, DType::F32)
}

#[track_caller]
fn launches(build: impl Fn(&mut Session, &mut Program, &[Arg]) -> Vec<Arg>) -> u64 {
    let (fused, bits) = launches_and_bits(&WAVES, true, &build);
    let (apart, wanted) = launches_and_bits(&WAVES, false, &build);
    assert!(bits == wanted, "fused and unfused differ");
    assert!(fused < apart);
    fused
}

#[test]
fn conversions_become_part_of_the_product() {
    let plain = |s: &mut Session, p: &mut Program, x: &[Arg]| {
        let wide = bytes(s, p, x).map(|v| cast(s, p, v, DType::I32));
        let real = product(s, p, wide);
        vec![p.op(s, "multiply", &[real, Arg::Number(0.01)], &[])]
    };
    assert_eq!(launches(plain), 3, "two of operands, and the product with the floats it becomes");
}

#[test]
fn through_views() {
    let turned = |s: &mut Session, p: &mut Program, x: &[Arg]| {
        let wide = bytes(s, p, x).map(|v| cast(s, p, v, DType::I32));
        let wide = wide.map(|v| p.op(s, "swapaxes", &[v], &[1.0, 2.0]));
        vec![product(s, p, [wide[1], wide[0]])]
    };
    assert_eq!(launches(turned), 3);
    let squared = |s: &mut Session, p: &mut Program, x: &[Arg]| {
        let [x, _] = bytes(s, p, x);
        let x = p.op(s, "reshape", &[x], &[3.0, 3.0, 3.0, 10.0]);
        let (wide, turned) = (cast(s, p, x, DType::I32), p.op(s, "swapaxes", &[x], &[1.0, 2.0]));
        vec![product(s, p, [wide, turned])]
    };
    // One of both is wide already, after promotion: its conversion is the product's.
    assert_eq!(launches(squared), 2);
}

#[test]
fn what_others_convert_too() {
    // As the queries, keys and values of a layer.
    let three = |s: &mut Session, p: &mut Program, x: &[Arg]| {
        let [a, b] = bytes(s, p, x);
        let other = p.op(s, "negative", &[b], &[]);
        let products = [b, other].map(|b| {
            let wide = [a, b].map(|v| cast(s, p, v, DType::I32));
            product(s, p, wide)
        });
        products.to_vec()
    };
    assert_eq!(launches(three), 5, "three of operands and two products");
    let gram = |s: &mut Session, p: &mut Program, x: &[Arg]| {
        let [a, _] = bytes(s, p, x);
        let wide = cast(s, p, a, DType::I32);
        let turned = p.op(s, "swapaxes", &[wide], &[1.0, 2.0]);
        vec![product(s, p, [wide, turned])]
    };
    assert_eq!(launches(gram), 2);
}

#[test]
fn a_value_times_itself() {
    for turned in [false, true] {
        let square = |s: &mut Session, p: &mut Program, x: &[Arg]| {
            let [x, _] = bytes(s, p, x);
            let x = p.op(s, "reshape", &[x], &[3.0, 10.0, 3.0, 3.0]);
            let mut wide = cast(s, p, x, DType::I32);
            if turned {
                wide = p.op(s, "swapaxes", &[wide], &[1.0, 2.0]);
            }
            vec![product(s, p, [wide, wide])]
        };
        assert_eq!(launches(square), 2);
    }
}

#[test]
fn views_that_are_asked_for_stay_wide() {
    let asked = |s: &mut Session, p: &mut Program, x: &[Arg]| {
        let wide = bytes(s, p, x).map(|v| cast(s, p, v, DType::I32));
        let wide = wide.map(|v| p.op(s, "swapaxes", &[v], &[1.0, 2.0]));
        vec![product(s, p, [wide[1], wide[0]]), cast(s, p, wide[1], DType::F32)]
    };
    assert!(launches(asked) > 3);
}

#[test]
fn others_keep_their_conversions() {
    let read = |s: &mut Session, p: &mut Program, x: &[Arg]| {
        let wide = bytes(s, p, x).map(|v| cast(s, p, v, DType::I32));
        vec![product(s, p, wide), cast(s, p, wide[0], DType::F32)]
    };
    assert!(launches(read) > 3);
    let halves = |s: &mut Session, p: &mut Program, x: &[Arg]| {
        let half = [0, 1].map(|i| cast(s, p, x[i], DType::F16));
        let wide = half.map(|v| cast(s, p, v, DType::F32));
        vec![p.op(s, "matmul", &wide, &[])]
    };
    assert_eq!(launches(halves), 3, "a map each makes halves and floats of them");
}

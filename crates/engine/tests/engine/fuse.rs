//! Maps become part of what follows them, with the same bits.

use crate::support::{Arg, Program, launches_and_bits};
use ferrotensor_core::DType;
use ferrotensor_engine::Session;

/// Sums over leading axes read permutations; blocks of outputs side by side, and what is left beside them.
const SHAPES: [&[usize]; 4] = [&[40, 5], &[3, 70], &[70, 300], &[2, 300, 33]];

#[track_caller]
fn launches(dims: &[usize], build: impl Fn(&mut Session, &mut Program, Arg) -> Vec<Arg>) -> [u64; 2] {
    let build = |s: &mut Session, p: &mut Program, x: &[Arg]| build(s, p, x[0]);
    let (fused, bits) = launches_and_bits(&[(dims, 0.7)], true, build);
    let (apart, wanted) = launches_and_bits(&[(dims, 0.7)], false, build);
    assert!(bits == wanted, "fused and unfused differ over {dims:?}");
    [fused, apart]
}

/// The sum over the first axis, of a dtype.
fn over_first(s: &mut Session, p: &mut Program, x: Arg, dtype: DType) -> Arg {
    let sum = p.op(s, "sum", &[x], &[1.0, 0.0, 0.0, f64::from(dtype as u8)]);
    p.op(s, "astype", &[sum], &[f64::from(DType::F32 as u8)])
}

#[test]
fn a_map_before_a_sum_over_leading_axes_is_part_of_it() {
    for dims in SHAPES {
        let squares = launches(dims, |s, p, x| {
            let squares = p.op(s, "square", &[x], &[]);
            vec![over_first(s, p, squares, DType::F32)]
        });
        assert!(squares[0] == 1 && squares[1] > 1, "{squares:?} over {dims:?}");
        assert_eq!(launches(dims, |s, p, x| vec![over_first(s, p, x, DType::F64)])[0], 1, "{dims:?}");
    }
}

#[test]
fn a_map_that_others_read_is_computed_once() {
    for dims in SHAPES {
        let both = launches(dims, |s, p, x| {
            let squares = p.op(s, "square", &[x], &[]);
            vec![over_first(s, p, squares, DType::F32), squares]
        });
        assert!(both[0] == 2 && both[1] >= 2, "{both:?} over {dims:?}");
    }
}

#[test]
fn maps_on_both_sides_of_a_permutation_are_part_of_the_sum() {
    for dims in SHAPES {
        let twice = launches(dims, |s, p, x| {
            let squares = p.op(s, "square", &[x], &[]);
            let turned = p.op(s, "flip", &[squares], &[1.0, 0.0]);
            let roots = p.op(s, "sqrt", &[turned], &[]);
            vec![over_first(s, p, roots, DType::F32)]
        });
        assert!(twice[0] <= 2 && twice[0] < twice[1], "{twice:?} over {dims:?}");
    }
}

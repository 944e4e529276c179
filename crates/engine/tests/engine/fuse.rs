//! Maps become part of what follows them, with the same bits; reductions of one operand become one pass.

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

/// Launches of a program of two operands, whose bits do not depend on fusion.
#[track_caller]
fn launches_of_two(dims: [&[usize]; 2], build: impl Fn(&mut Session, &mut Program, &[Arg]) -> Vec<Arg>) -> u64 {
    let waves = [(dims[0], 0.7), (dims[1], 0.3)];
    let (fused, bits) = launches_and_bits(&waves, true, &build);
    let (_, wanted) = launches_and_bits(&waves, false, &build);
    assert!(bits == wanted, "fused and unfused differ over {dims:?}");
    fused
}

#[test]
fn a_map_of_several_operands_before_a_sum_over_leading_axes_is_part_of_it() {
    for dims in SHAPES {
        let row = &dims[1..];
        for other in [dims, row] {
            let products = launches_of_two([dims, other], |s, p, x| {
                let products = p.op(s, "multiply", &[x[0], x[1]], &[]);
                vec![over_first(s, p, products, DType::F32)]
            });
            assert_eq!(products, 1, "{dims:?} and {other:?}");
        }
    }
    // A sum over all elements, longer than rows are.
    let long: &[usize] = &[40_000];
    let product = launches_of_two([long, long], |s, p, x| {
        let products = p.op(s, "multiply", &[x[0], x[1]], &[]);
        vec![p.op(s, "sum", &[products], &[1.0, 0.0, 0.0, f64::from(DType::F32 as u8)])]
    });
    assert_eq!(product, 1);
}

/// A factor of each channel, spread over the pixels of a line, which are kept as well.
#[test]
fn what_is_spread_over_some_of_the_kept_axes_stays_apart() {
    let dims: &[usize] = &[40, 30, 3];
    let products = |other: &[usize]| {
        launches_of_two([dims, other], |s, p, x| {
            let products = p.op(s, "multiply", &[x[0], x[1]], &[]);
            vec![over_first(s, p, products, DType::F32)]
        })
    };
    assert_eq!((products(&[3]), products(&[30, 1]), products(&[40, 1, 1]), products(&[30, 3])), (2, 2, 1, 1));
}

/// Deviations from a row, their sum and that of their squares, and what is made of them: the deviations are not stored.
#[test]
fn sums_of_one_operand_are_one_pass_and_cheap_maps_are_computed_anew() {
    for dims in SHAPES {
        let row = &dims[1..];
        let launches = launches_of_two([dims, row], |s, p, x| {
            let gaps = p.op(s, "subtract", &[x[0], x[1]], &[]);
            let squares = p.op(s, "square", &[gaps], &[]);
            let sums = [over_first(s, p, gaps, DType::F32), over_first(s, p, squares, DType::F32)];
            let scaled = p.op(s, "multiply", &[gaps, x[1]], &[]);
            vec![sums[0], sums[1], scaled]
        });
        assert_eq!(launches, 2, "{dims:?}");
    }
}

/// A map that takes longer than reading its results is stored, and so is one of two operands that are no smaller.
#[test]
fn what_is_dear_to_compute_is_computed_once() {
    for (name, dear) in [("exp", true), ("multiply", true), ("negative", false)] {
        let dims: &[usize] = &[70, 300];
        let launches = launches_of_two([dims, dims], |s, p, x| {
            let args: &[Arg] = if name == "multiply" { &x[..2] } else { &x[..1] };
            let made = p.op(s, name, args, &[]);
            let sum = over_first(s, p, made, DType::F32);
            let more = p.op(s, "add", &[made, x[1]], &[]);
            vec![sum, more]
        });
        assert_eq!(launches, if dear { 3 } else { 2 }, "{name}");
    }
}

/// A pass whose reductions read what other passes make, and maps between them that are computed anew for both.
#[test]
fn passes_follow_each_other() {
    for dims in SHAPES {
        let row = &dims[dims.len() - 1..];
        launches_of_two([dims, row], |s, p, x| {
            let mut values = vec![p.op(s, "add", &[x[0], x[1]], &[])];
            let mut sums = Vec::new();
            for _ in 0..4 {
                let last = values[values.len() - 1];
                let sum = over_first(s, p, last, DType::F32);
                let squares = p.op(s, "square", &[last], &[]);
                sums.extend([sum, over_first(s, p, squares, DType::F32)]);
                values.push(p.op(s, "subtract", &[last, sum], &[]));
            }
            sums.push(values[values.len() - 1]);
            sums
        });
    }
}

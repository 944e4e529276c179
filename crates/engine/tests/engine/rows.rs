//! What belongs to one row is one launch: softmax, norms, variances; with the bits of the parts, and nothing computed in a circle.

use crate::support::{Arg, Program, cpu, launches_and_bits, read, upload, upload_i32};
use ferrotensor_engine::{Mode, Session};

type Build = fn(&mut Session, &mut Program, &[Arg]) -> Vec<Arg>;
/// One that knows sizes.
type Recorded<'a> = dyn Fn(&mut Session, &mut Program, &[Arg]) -> Vec<Arg> + 'a;

const LAST: [f64; 3] = [1.0, -1.0, 0.0];
const LAST_KEPT: [f64; 3] = [1.0, -1.0, 1.0];

fn norm(s: &mut Session, p: &mut Program, x: &[Arg]) -> Arg {
    p.op_with(s, "nn.layerNorm", x, &[-1.0], &[1e-5])
}

/// Launches and bits of a program over a matrix, a row and a matrix again.
fn run(
    build: impl Fn(&mut Session, &mut Program, &[Arg]) -> Vec<Arg>,
    dims: [usize; 2],
    fusion: bool,
) -> (u64, Vec<Vec<u32>>) {
    launches_and_bits(&[(&dims, 0.7), (&dims[1..], 1.3), (&dims, 0.3)], fusion, build)
}

#[track_caller]
fn assert_same(bits: &[Vec<u32>], wanted: &[Vec<u32>], dims: [usize; 2]) {
    assert!(bits == wanted, "fused and unfused differ over {dims:?}");
}

/// The number of launches, and that the bits are those of the parts.
#[track_caller]
fn launches(build: Build, dims: [usize; 2]) -> u64 {
    let (fused, bits) = run(build, dims, true);
    let (apart, wanted) = run(build, dims, false);
    assert_same(&bits, &wanted, dims);
    assert!(fused <= apart);
    fused
}

const SHAPES: [[usize; 2]; 7] = [[1, 2], [3, 31], [40, 3], [5, 200], [130, 700], [3, 5000], [2, 1 << 14]];

#[test]
fn a_softmax_is_one_launch() {
    for dims in SHAPES {
        assert_eq!(launches(|s, p, x| vec![p.op(s, "softmax", &x[..1], &[-1.0])], dims), 1, "{dims:?}");
        assert_eq!(launches(|s, p, x| vec![p.op(s, "logSoftmax", &x[..1], &[-1.0])], dims), 1, "{dims:?}");
    }
}

#[test]
fn norms_are_one_launch_with_weight_and_bias_and_what_follows() {
    for dims in SHAPES {
        assert_eq!(launches(|s, p, x| vec![norm(s, p, &[x[0], x[1], x[1]])], dims), 1, "{dims:?}");
        assert_eq!(launches(|s, p, x| vec![p.op_with(s, "nn.rmsNorm", &x[..2], &[-1.0], &[1e-5])], dims), 1);
        let residual: Build = |s, p, x| {
            let sum = p.op(s, "add", &[x[0], x[2]], &[]);
            let y = norm(s, p, &[sum, x[1], x[1]]);
            vec![sum, p.op(s, "tanh", &[y], &[])]
        };
        assert_eq!(launches(residual, dims), 1, "{dims:?}");
    }
}

#[test]
fn variances_and_logsumexp_are_one_launch() {
    for dims in SHAPES {
        for name in ["var", "std"] {
            let build: Build = match name {
                "var" => |s, p, x| vec![p.op_with(s, "var", &x[..1], &LAST, &[1.0])],
                _ => |s, p, x| vec![p.op_with(s, "std", &x[..1], &LAST_KEPT, &[0.0])],
            };
            assert_eq!(launches(build, dims), 1, "{name} {dims:?}");
        }
        assert_eq!(launches(|s, p, x| vec![p.op(s, "logsumexp", &x[..1], &LAST)], dims), 1, "{dims:?}");
        assert_eq!(launches(|s, p, x| vec![p.op(s, "logsumexp", &x[..1], &LAST_KEPT)], dims), 1, "{dims:?}");
    }
}

/// The gradient of a softmax: a product that is summed and used again.
#[test]
fn a_map_of_several_operands_is_summed_in_the_same_launch() {
    let build: Build = |s, p, x| {
        let product = p.op(s, "multiply", &[x[0], x[2]], &[]);
        let total = p.op(s, "sum", &[product], &[1.0, -1.0, 1.0, f64::NAN]);
        let gap = p.op(s, "subtract", &[x[2], total], &[]);
        vec![p.op(s, "multiply", &[x[0], gap], &[])]
    };
    let alone: Build = |s, p, x| {
        let product = p.op(s, "multiply", &[x[0], x[2]], &[]);
        vec![p.op(s, "sum", &[product], &[1.0, -1.0, 0.0, f64::NAN])]
    };
    for dims in SHAPES {
        assert_eq!(launches(build, dims), 1, "{dims:?}");
        assert_eq!(launches(alone, dims), 1, "{dims:?}");
    }
}

#[test]
fn reductions_of_the_same_rows_are_one_launch() {
    let build: Build = |s, p, x| {
        let (high, low) = (p.op(s, "max", &x[..1], &LAST), p.op(s, "min", &x[..1], &LAST));
        vec![high, low, p.op(s, "subtract", &[high, low], &[])]
    };
    for dims in SHAPES {
        assert_eq!(launches(build, dims), 1, "{dims:?}");
    }
}

/// A sorted copy lies between two parts that would otherwise be one group, and a value of the group is read from outside.
#[test]
fn nothing_that_waits_for_a_group_comes_into_it() {
    let build: Build = |s, p, x| {
        let y = p.op(s, "softmax", &x[..1], &[-1.0]);
        let sorted = p.op(s, "sort", &[y], &[-1.0, 0.0]);
        let both = p.op(s, "multiply", &[y, sorted], &[]);
        let z = p.op(s, "softmax", &[both], &[-1.0]);
        vec![y, p.op(s, "add", &[z, y], &[])]
    };
    for dims in SHAPES {
        assert_eq!(launches(build, dims), 3, "{dims:?}");
    }
    // Two groups of different rows, each of which reads the other's first part.
    let crossed: Build = |s, p, x| {
        let a = p.op(s, "softmax", &x[..1], &[-1.0]);
        let b = p.op(s, "softmax", &x[2..3], &[-1.0]);
        let (at, bt) = (p.op(s, "flip", &[a], &[1.0, 1.0]), p.op(s, "flip", &[b], &[1.0, 1.0]));
        let c = p.op(s, "multiply", &[a, bt], &[]);
        let d = p.op(s, "multiply", &[b, at], &[]);
        let (c, d) = (p.op(s, "softmax", &[c], &[-1.0]), p.op(s, "softmax", &[d], &[-1.0]));
        vec![c, d, a]
    };
    for dims in SHAPES {
        let fused = launches(crossed, dims);
        assert!((2..=4).contains(&fused), "{fused} launches of {dims:?}");
    }
}

#[test]
fn long_rows_and_other_axes_stay_as_they_are() {
    let softmax: Build = |s, p, x| vec![p.op(s, "softmax", &x[..1], &[-1.0])];
    assert!(launches(softmax, [2, (1 << 14) + 1]) > 1);
    let across: Build = |s, p, x| vec![p.op(s, "softmax", &x[..1], &[0.0])];
    assert!(launches(across, [130, 70]) > 1);
}

/// Chains of norms are groups of so many steps each; planning them takes no more than a few looks at each node.
#[test]
fn a_long_program_is_cut_into_groups() {
    let build: Build = |s, p, x| {
        let mut y = x[0];
        for _ in 0..100 {
            let z = norm(s, p, &[y, x[1], x[1]]);
            y = p.op(s, "add", &[y, z], &[]);
        }
        vec![y]
    };
    let fused = launches(build, [5, 40]);
    assert!((10..=200).contains(&fused), "{fused}");
}

/// The check itself: the bits of other numbers are not those.
#[test]
#[should_panic(expected = "differ")]
fn other_bits_are_noticed() {
    let by = |n: f64| move |s: &mut Session, p: &mut Program, x: &[Arg]| vec![p.op(s, "add", &[x[0], Arg::Number(n)], &[])];
    assert_same(&run(by(1.0), [3, 4], true).1, &run(by(1.0000001), [3, 4], false).1, [3, 4]);
}

/// A map over elements that only spreads values of rows has no element of its own to go by.
#[test]
fn what_spreads_values_of_rows_is_as_large_as_it_says() {
    for dims in [[2, 3], [40, 300], [7, 2]] {
        let shape = [2.0, dims[0] as f64, dims[1] as f64];
        let programs: [&Recorded; 3] = [
            &|s, p, x| {
                let scaled = p.op(s, "multiply", &[x[0], Arg::Number(0.1)], &[]);
                let sum = p.op(s, "sum", &[scaled], &[1.0, -1.0, 1.0, f64::NAN]);
                let wide = p.op(s, "broadcastTo", &[sum], &shape);
                vec![p.op(s, "exp", &[wide], &[])]
            },
            &|s, p, x| {
                let ones = p.op(s, "ones", &[], &[shape[0], shape[1], shape[2], f64::NAN, 0.0]);
                let max = p.op(s, "max", &[x[0]], &LAST_KEPT);
                let spread = p.op(s, "multiply", &[ones, max], &[]);
                vec![p.op(s, "cumulativeSum", &[spread], &[1.0, f64::NAN, 0.0])]
            },
            &|s, p, x| {
                // A gradient that is the same along rows, times a rate.
                let sum = p.op(s, "sum", &[x[0]], &[1.0, -1.0, 1.0, f64::NAN]);
                let wide = p.op(s, "broadcastTo", &[sum], &shape);
                let step = p.op(s, "multiply", &[wide, Arg::Number(0.5)], &[]);
                let total = p.op(s, "sum", &[step], &[1.0, -1.0, 0.0, f64::NAN]);
                vec![step, p.op(s, "subtract", &[x[0], step], &[]), total]
            },
        ];
        for build in programs {
            assert_same(&run(build, dims, true).1, &run(build, dims, false).1, dims);
        }
    }
}

/// An operand that failed fails what depends on it, and nothing else of its kernel.
#[test]
fn a_failure_reaches_what_depends_on_it_alone() {
    let mut s = cpu();
    let x = upload(&mut s, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]);
    let places = upload_i32(&mut s, &[0, 7], &[2]);
    let mut p = Program::default();
    let (a, i) = (p.input(&mut s, &x), p.input(&mut s, &places));
    let taken = p.op(&mut s, "take", &[a, i], &[0.0]);
    let soft = p.op(&mut s, "softmax", &[a], &[-1.0]);
    let moved = p.op(&mut s, "add", &[soft, taken], &[]);
    let out = p.run(&mut s, &[soft, moved], Mode::Sync).unwrap();
    assert!((read(&out[0]).iter().sum::<f32>() - 2.0).abs() < 1e-6);
    assert_eq!(out[1].wait().unwrap_err().code, ferrotensor_core::Code::Index);
}

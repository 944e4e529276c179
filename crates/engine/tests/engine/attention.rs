//! Attention is one launch, written as a call or by hand, with the bits of its parts; not where somebody else reads what is between.

use crate::support::{Arg, Program, launches_and_bits};
use ferrotensor_engine::Session;

/// Queries, keys, values and a mask.
const WAVES: [(&[usize], f32); 4] = [(&[2, 40, 8], 0.7), (&[2, 8, 70], 0.7), (&[2, 70, 5], 0.7), (&[40, 70], 0.7)];

#[track_caller]
fn launches(build: impl Fn(&mut Session, &mut Program, &[Arg]) -> Vec<Arg>) -> u64 {
    let (fused, bits) = launches_and_bits(&WAVES, true, &build);
    let (apart, wanted) = launches_and_bits(&WAVES, false, &build);
    assert!(bits == wanted, "fused and unfused differ");
    assert!(fused <= apart);
    fused
}

fn weights(s: &mut Session, p: &mut Program, x: &[Arg]) -> Arg {
    let scores = p.op(s, "matmul", &[x[0], x[1]], &[]);
    p.op(s, "softmax", &[scores], &[-1.0])
}

#[test]
fn a_call_is_one_launch() {
    for causal in [0.0, 1.0] {
        let call = |s: &mut Session, p: &mut Program, x: &[Arg]| {
            let keys = p.op(s, "swapaxes", &[x[1]], &[1.0, 2.0]);
            vec![p.op_with(s, "nn.scaledDotProductAttention", &[x[0], keys, x[2], x[3]], &[causal], &[f64::NAN])]
        };
        assert_eq!(launches(call), 1);
    }
}

#[test]
fn what_is_written_by_hand_is_one_launch_too() {
    let plain = |s: &mut Session, p: &mut Program, x: &[Arg]| {
        let w = weights(s, p, x);
        vec![p.op(s, "matmul", &[w, x[2]], &[])]
    };
    assert_eq!(launches(plain), 1);
    let masked = |s: &mut Session, p: &mut Program, x: &[Arg]| {
        let scores = p.op(s, "matmul", &[x[0], x[1]], &[]);
        let scores = p.op(s, "add", &[scores, x[3]], &[]);
        let weights = p.op(s, "softmax", &[scores], &[-1.0]);
        let values = p.op(s, "matmul", &[weights, x[2]], &[]);
        vec![p.op(s, "tanh", &[values], &[])]
    };
    assert_eq!(launches(masked), 1);
}

#[test]
fn weights_and_scores_that_are_read_stay() {
    let read = |s: &mut Session, p: &mut Program, x: &[Arg]| {
        let w = weights(s, p, x);
        vec![p.op(s, "matmul", &[w, x[2]], &[]), w]
    };
    assert_eq!(launches(read), 3);
    // On the right of the second product they are no rows of it.
    let turned = |s: &mut Session, p: &mut Program, x: &[Arg]| {
        let w = weights(s, p, x);
        let right = p.op(s, "swapaxes", &[w], &[1.0, 2.0]);
        vec![p.op(s, "matmul", &[x[3], right], &[])]
    };
    assert_eq!(launches(turned), 3);
}

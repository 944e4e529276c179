//! How many more cases a row has than one for every pair of circumstances: as many as it takes to tell its kernels from broken
//! ones (`mutants.rs`). The numbers were found by trying; each of these cases runs with one variant only.

use ferrotensor_ops::def::{Namespace, OpDef};
use ferrotensor_ops::dtype_rule::Out;

/// Further coverings of all pairs, and rounds of calls of nothing but tensors of one dtype, of a row that goes so many ways by its
/// elements, has several dtypes, several attributes or two parts (`varied`), or takes index tensors.
pub fn of(op: &OpDef, ways: usize, varied: bool, indexed: bool) -> (usize, usize) {
    // Pairs leave too few calls of each three dtypes, of several indices, and of each way with each dtype.
    let coverings = (op.operands.len() > 2 || indexed || ways > 4) as usize;
    let rounds = match op.name {
        // All elements together say yes or no.
        "allclose" => 128,
        "arrayEqual" => 64,
        // Weights, smoothing and classes that are left out must meet; infinite samples; matrices of several batches.
        "crossEntropy" | "interp" | "lstsq" => 24,
        // As other places of q, in lines of which each has its own numbers.
        "nanquantile" | "nanpercentile" => 32,
        // Each axis has its own ways of what is interpolated, convolved or padded.
        "interpolate" => 32,
        "windowScatterMax" | "windowScatterMin" => 40,
        "conv" => 32,
        "pad" | "nanToNum" => 12,
        // Numbers beside each other, and beside the end of a branch.
        "isclose" | "log1p" => 32,
        "withAt" => 12,
        // Norms of six orders, ranks that few matrices of a batch tell, steps of several axes.
        "cond" | "matrixRank" | "trapezoid" | "windowMin" | "windowMax" => 6,
        "trace" => 2,
        // Of integers many are beyond their dtype, which tells nothing else; masks hide keys, or all of them.
        "sum" | "prod" | "nansum" | "nanprod" => 24,
        "scaledDotProductAttention" => 12,
        _ if ways > 4 => 12,
        // A place of q is between two elements, or on one, at one of its ends, and each by five methods.
        _ if op.operands.iter().any(|o| o.name == "q") => 12,
        // Truth values say little each.
        _ if ways == 4 || op.dtype.out == Out::Bool => 6,
        _ if op.operands.iter().any(|o| o.optional && !o.weak) => 4,
        // Along several axes, each one of which is cut, padded or neither.
        _ if op.namespace == Namespace::Fft && op.attrs.iter().any(|a| a.name == "axes") => 8,
        _ => 2 * varied as usize,
    };
    (coverings, rounds)
}

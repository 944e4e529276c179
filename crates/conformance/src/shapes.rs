//! The shapes rows are tried with: around a lane (32), a row group (512), tiles (1024 and 2048), rank 0 and 5, sizes 0 and 1;
//! pairs of shapes for rows whose operands must fit in their own way; and shapes that several threads share.

use ferrotensor_core::Dims;
use ferrotensor_ops::def::{Lowering, Namespace, OpDef};
use ferrotensor_ops::dtype_rule::Compute;

/// The operand shapes of one choice.
#[derive(Clone, Debug)]
pub struct Shapes {
    /// Name in cases.
    pub name: String,
    /// Of the first operand, or of the result where there is none.
    pub first: Dims,
    /// Of the other operands, where they do not follow from the first.
    pub others: Vec<Dims>,
    /// Contracted axes of both operands (`tensordot`).
    pub pairs: (Vec<f64>, Vec<f64>),
}

const GENERAL: &[(&str, &[usize])] = &[
    ("rank 0", &[]),
    ("size 0", &[3, 0, 2]),
    ("size 1", &[1, 1]),
    ("below a lane", &[31]),
    ("a lane", &[32]),
    ("above a lane", &[33]),
    ("below a row group", &[511]),
    ("a row group", &[512]),
    ("above a row group", &[2, 513]),
    ("below a tile", &[1023]),
    ("a tile", &[1024]),
    ("above a tile", &[1025]),
    ("two tiles", &[2048]),
    ("above two tiles", &[2049]),
    ("matrix", &[5, 7]),
    ("rank 3", &[3, 4, 5]),
    ("rank 5", &[2, 3, 2, 2, 3]),
    ("unit axes", &[1, 33, 1]),
    ("tall", &[600, 3]),
];

/// For rows made of several kernels, each of which has a row of its own that meets its tiles and groups.
const COMPOSED: &[(&str, &[usize])] = &[
    ("rank 0", &[]),
    ("size 0", &[3, 0, 2]),
    ("size 1", &[1, 1]),
    ("a lane", &[32]),
    ("above a lane", &[2, 33]),
    ("above a row group", &[513]),
    ("matrix", &[5, 7]),
    ("square", &[4, 4]),
    ("rank 3", &[3, 4, 5]),
    ("rank 5", &[2, 3, 2, 2, 3]),
    ("unit axes", &[1, 33, 1]),
    ("tall", &[60, 3]),
];

/// Rows of one kernel that are written as graphs.
const KERNELS: &[&str] = &[
    "sum",
    "prod",
    "mean",
    "max",
    "min",
    "all",
    "any",
    "argmax",
    "argmin",
    "cumulativeSum",
    "cumulativeProd",
    "cumulativeMax",
    "cumulativeMin",
    "sort",
    "argsort",
    "topk",
    "take",
    "scatterAdd",
    "at",
    "withAt",
    "concat",
    "softmax",
];

type Row = (&'static [usize], &'static [usize], &'static [f64], &'static [f64]);

const MATMUL: &[Row] = &[
    (&[4], &[4], &[], &[]),
    (&[3, 4], &[4], &[], &[]),
    (&[4], &[4, 3], &[], &[]),
    (&[1, 1], &[1, 1], &[], &[]),
    (&[3, 4], &[4, 5], &[], &[]),
    (&[3, 3], &[3, 3], &[], &[]),
    (&[2, 0], &[0, 3], &[], &[]),
    (&[0, 2], &[2, 3], &[], &[]),
    (&[31, 33], &[33, 32], &[], &[]),
    (&[2, 3, 4], &[2, 4, 2], &[], &[]),
    (&[2, 1, 3, 4], &[3, 4, 2], &[], &[]),
    (&[3, 1, 2, 2, 3], &[2, 1, 3, 4], &[], &[]),
    (&[1, 300], &[300, 65], &[], &[]),
];

const TENSORDOT: &[Row] = &[
    (&[2, 3, 4], &[3, 4, 5], &[-2.0, -1.0], &[0.0, 1.0]),
    (&[4], &[4], &[0.0], &[0.0]),
    (&[3, 3], &[3, 3], &[1.0], &[0.0]),
    (&[2, 3], &[4, 5], &[], &[]),
    (&[], &[], &[], &[]),
    (&[3, 4, 5], &[5, 3, 2], &[0.0, 2.0], &[1.0, 0.0]),
    (&[2, 3, 2, 2, 3], &[3, 2], &[1.0], &[-2.0]),
    (&[2, 0], &[0, 3], &[1.0], &[0.0]),
    (&[1, 1], &[1, 1], &[1.0], &[0.0]),
];

const CONV: &[Row] = &[
    (&[1, 1, 5], &[1, 1, 3], &[], &[]),
    (&[2, 4, 9], &[6, 2, 3], &[], &[]),
    (&[2, 3, 8], &[3, 1, 2], &[], &[]),
    (&[3, 2, 33], &[4, 2, 1], &[], &[]),
    (&[1, 3, 6, 7], &[4, 3, 3, 2], &[], &[]),
    (&[2, 4, 5, 6], &[2, 2, 2, 3], &[], &[]),
    (&[2, 2, 5, 5], &[3, 2, 1, 1], &[], &[]),
    (&[1, 6, 4, 5], &[6, 2, 4, 1], &[], &[]),
    (&[1, 2, 2, 3, 3], &[2, 1, 2, 3, 2], &[], &[]),
    (&[2, 2, 3, 2, 4], &[2, 2, 2, 1, 2], &[], &[]),
    (&[0, 2, 5], &[2, 2, 3], &[], &[]),
    (&[2, 0, 5], &[3, 0, 3], &[], &[]),
    (&[1, 1, 0], &[1, 1, 2], &[], &[]),
];

/// Data and weights of transposed convolutions.
const TRANSPOSED: &[Row] = &[
    (&[1, 1, 3], &[1, 1, 3], &[], &[]),
    (&[2, 4, 5], &[4, 2, 3], &[], &[]),
    (&[2, 3, 4], &[3, 1, 2], &[], &[]),
    (&[3, 2, 33], &[2, 4, 1], &[], &[]),
    (&[1, 3, 4, 5], &[3, 2, 3, 2], &[], &[]),
    (&[2, 4, 3, 4], &[4, 1, 2, 3], &[], &[]),
    (&[1, 2, 2, 3, 2], &[2, 1, 2, 3, 2], &[], &[]),
    (&[0, 2, 5], &[2, 2, 3], &[], &[]),
    (&[2, 0, 5], &[0, 3, 3], &[], &[]),
];

/// Data under windows along all axes, which a device may have to copy once for each place.
const SLIDING: &[(&str, &[usize])] = &[
    ("rank 0", &[]),
    ("size 0", &[3, 0, 2]),
    ("size 1", &[1, 1]),
    ("above a lane", &[2, 33]),
    ("above a row group", &[513]),
    ("matrix", &[5, 7]),
    ("rank 3", &[3, 4, 5]),
    ("rank 4", &[3, 2, 2, 2]),
    ("unit axes", &[1, 33, 1]),
];

/// Images and volumes.
const POOLED: &[(&str, &[usize])] = &[
    ("a signal", &[2, 3, 11]),
    ("two positions", &[1, 2, 2]),
    ("above a lane", &[1, 1, 67]),
    ("image", &[2, 3, 6, 7]),
    ("one row", &[1, 2, 1, 9]),
    ("volume", &[2, 2, 4, 5, 5]),
    ("small volume", &[1, 1, 3, 5, 4]),
    ("no images", &[0, 2, 5, 5]),
    ("no channels", &[2, 0, 5]),
    ("no positions", &[2, 2, 0]),
];

const SOLVE: &[Row] = &[
    (&[3, 3], &[3], &[], &[]),
    (&[1, 1], &[1], &[], &[]),
    (&[3, 3], &[3, 2], &[], &[]),
    (&[2, 3, 3], &[3, 2], &[], &[]),
    (&[2, 3, 3], &[1, 3, 1], &[], &[]),
    (&[2, 1, 4, 4], &[3, 4, 2], &[], &[]),
    (&[0, 0], &[0], &[], &[]),
    (&[33, 33], &[33, 5], &[], &[]),
];

/// Sorted elements, around powers of two, and values. Each bit of the size is a step of the search.
const SEARCHED: &[Row] = &[
    (&[4], &[5], &[], &[]),
    (&[0], &[3], &[], &[]),
    (&[1], &[2, 3], &[], &[]),
    (&[7], &[], &[], &[]),
    (&[8], &[0], &[], &[]),
    (&[9], &[70], &[], &[]),
    (&[5], &[3, 1, 5], &[], &[]),
    // As many as the sum of some steps of a bisection.
    (&[6], &[33], &[], &[]),
    (&[12], &[9, 5], &[], &[]),
];

const FACTORED: &[(&str, &[usize])] = &[
    ("1 x 1", &[1, 1]),
    ("square", &[3, 3]),
    ("tall", &[5, 3]),
    ("wide", &[3, 5]),
    ("stack", &[2, 4, 4]),
    ("empty", &[0, 3]),
    ("no columns", &[2, 3, 0]),
    // Float32 numbers of AVX-512; the reference takes the third power of it.
    ("above a lane", &[17, 17]),
    ("rank 5", &[2, 1, 2, 3, 3]),
];

/// Vectors, which become matrices of as many rows, and matrices.
const DIAGONALS: &[(&str, &[usize])] = &[
    ("no element", &[0]),
    ("one element", &[1]),
    ("a vector", &[5]),
    ("above a lane", &[33]),
    ("matrix", &[5, 7]),
    ("tall", &[7, 4]),
    ("square", &[4, 4]),
    ("no rows", &[0, 3]),
    ("two columns", &[4, 2]),
];

/// Square ones.
const SQUARE: &[(&str, &[usize])] = &[
    ("1 x 1", &[1, 1]),
    ("2 x 2", &[2, 2]),
    ("square", &[3, 3]),
    ("stack", &[2, 4, 4]),
    ("empty", &[0, 0]),
    ("no matrices", &[0, 2, 2]),
    ("above a lane", &[17, 17]),
    ("rank 5", &[2, 1, 2, 3, 3]),
];

const LSTSQ: &[Row] = &[
    (&[3, 3], &[3], &[], &[]),
    (&[3, 3], &[3, 3], &[], &[]),
    (&[1, 1], &[1], &[], &[]),
    (&[5, 3], &[5, 2], &[], &[]),
    (&[3, 5], &[3, 2], &[], &[]),
    (&[2, 4, 3], &[4, 2], &[], &[]),
    (&[2, 1, 4, 4], &[3, 4, 2], &[], &[]),
    (&[0, 2], &[0], &[], &[]),
    (&[3, 0], &[3, 2], &[], &[]),
];

const VECDOT: &[Row] = &[
    (&[4], &[4], &[], &[]),
    (&[3, 4], &[4], &[], &[]),
    (&[3, 4], &[3, 4], &[], &[]),
    (&[3, 1], &[3, 1], &[], &[]),
    (&[33], &[5, 33], &[], &[]),
    (&[3, 1, 4], &[2, 4], &[], &[]),
    (&[3, 3, 3], &[3, 3, 3], &[], &[]),
    (&[2, 0], &[2, 0], &[], &[]),
    (&[513], &[513], &[], &[]),
];

const CROSS: &[Row] = &[
    (&[3], &[3], &[], &[]),
    (&[4, 3], &[3], &[], &[]),
    (&[3, 3, 3], &[3, 3, 3], &[], &[]),
    (&[5, 1, 3], &[2, 3], &[], &[]),
    (&[3, 4], &[3, 4], &[], &[]),
    (&[0, 3], &[0, 3], &[], &[]),
];

const OUTER: &[Row] = &[(&[3], &[4], &[], &[]), (&[1], &[1], &[], &[]), (&[33], &[2], &[], &[]), (&[0], &[2], &[], &[])];

const INNER: &[Row] = &[
    (&[4], &[4], &[], &[]),
    (&[3, 4], &[4], &[], &[]),
    (&[2, 3, 4], &[5, 4], &[], &[]),
    (&[3, 3], &[3, 3], &[], &[]),
    (&[], &[3, 2], &[], &[]),
    (&[3, 2], &[], &[], &[]),
    (&[2, 0], &[3, 0], &[], &[]),
    (&[33], &[2, 33], &[], &[]),
];

const KRON: &[Row] = &[
    (&[2], &[3], &[], &[]),
    (&[2, 3], &[3, 2], &[], &[]),
    (&[2, 2], &[2, 2], &[], &[]),
    (&[], &[3], &[], &[]),
    (&[3], &[2, 1, 2], &[], &[]),
    (&[0, 2], &[2, 2], &[], &[]),
];

const SLID: &[Row] = &[
    (&[5], &[3], &[], &[]),
    (&[3], &[5], &[], &[]),
    (&[4], &[4], &[], &[]),
    (&[1], &[1], &[], &[]),
    (&[70], &[33], &[], &[]),
    (&[2], &[9], &[], &[]),
];

/// Where values are wanted, and how many samples there are.
const INTERPOLATED: &[Row] = &[
    (&[5], &[4], &[], &[]),
    (&[2, 3], &[1], &[], &[]),
    (&[], &[7], &[], &[]),
    (&[0], &[8], &[], &[]),
    (&[70], &[9], &[], &[]),
    // As many as the sum of some steps of a bisection, or fewer than all of them.
    (&[33], &[5], &[], &[]),
    (&[9, 5], &[6], &[], &[]),
    (&[40], &[12], &[], &[]),
];

/// Queries and keys.
const ATTENDED: &[Row] = &[
    (&[3, 4], &[5, 4], &[], &[]),
    (&[1, 1], &[1, 1], &[], &[]),
    (&[2, 3, 4], &[2, 5, 4], &[], &[]),
    (&[2, 1, 3, 2], &[2, 4, 2], &[], &[]),
    (&[4, 33], &[4, 33], &[], &[]),
    (&[3, 3], &[3, 3], &[], &[]),
    (&[4, 3], &[4, 3], &[], &[]),
    (&[0, 2], &[3, 2], &[], &[]),
    (&[3, 0], &[2, 0], &[], &[]),
];

/// Sizes of labels in alphabetical order, over and over.
const LABELLED: &[(&str, &[usize])] = &[
    ("small", &[3, 4, 5, 2]),
    ("ones", &[1]),
    ("empty", &[2, 0, 3]),
    ("above a lane", &[33, 2, 3]),
    ("square", &[4]),
    ("stretched", &[3, 4, 5, 2]),
];

/// Whether a shape's name is that of one of [`parallel`].
pub fn is_parallel(name: &str) -> bool {
    name.starts_with(PARALLEL)
}

const PARALLEL: &str = "many ";

/// Transforms: the reference takes n^2 steps.
const TRANSFORMED: &[(&str, &[usize])] = &[
    ("size 0", &[3, 0, 2]),
    ("one point", &[1]),
    ("two points", &[2]),
    ("a power of two", &[64]),
    ("a prime", &[67]),
    ("smooth", &[2, 48]),
    ("rank 3", &[3, 4, 5]),
    // Two points have one transform of both signs.
    ("rank 5", &[3, 4, 3, 3, 3]),
];

/// Random numbers and integer powers: hundreds of instructions for each element.
const LONG: &[(&str, &[usize])] = &[
    ("rank 0", &[]),
    ("size 0", &[3, 0, 2]),
    ("above a lane", &[33]),
    ("above a tile", &[1025]),
    ("rank 5", &[2, 3, 2, 2, 3]),
];

fn one(name: &str, dims: &[usize]) -> Shapes {
    Shapes { name: name.into(), first: dims.iter().copied().collect(), others: vec![], pairs: (vec![], vec![]) }
}

fn pairs(rows: &[Row]) -> Vec<Shapes> {
    rows.iter()
        .map(|(a, b, p, q)| Shapes {
            name: format!("{a:?} {b:?}"),
            first: a.iter().copied().collect(),
            others: vec![b.iter().copied().collect()],
            pairs: (p.to_vec(), q.to_vec()),
        })
        .collect()
}

fn many(shapes: Vec<Shapes>) -> Vec<Shapes> {
    shapes.into_iter().map(|s| Shapes { name: format!("{PARALLEL}{}", s.name), ..s }).collect()
}

/// Shapes of the quick tier.
pub fn small(op: &OpDef) -> Vec<Shapes> {
    let list = |all: &[(&str, &[usize])]| all.iter().map(|(n, d)| one(n, d)).collect();
    match op.path().as_ref() {
        "matmul" => pairs(MATMUL),
        "tensordot" => pairs(TENSORDOT),
        "nn.conv" => pairs(CONV),
        "nn.convTranspose" => pairs(TRANSPOSED),
        "nn.maxPool" | "nn.avgPool" | "nn.adaptiveMaxPool" | "nn.adaptiveAvgPool" | "nn.interpolate" => list(POOLED),
        "searchsorted" => pairs(SEARCHED),
        "linalg.solve" | "linalg.solveTriangular" => pairs(SOLVE),
        "linalg.lstsq" => pairs(LSTSQ),
        "vecdot" => pairs(VECDOT),
        "cross" => pairs(CROSS),
        "outer" => pairs(OUTER),
        "inner" => pairs(INNER),
        "kron" => pairs(KRON),
        "diag" | "cov" | "corrcoef" => list(DIAGONALS),
        "convolve" | "correlate" => pairs(SLID),
        "interp" => pairs(INTERPOLATED),
        "einsum" => list(LABELLED),
        "nn.scaledDotProductAttention" => pairs(ATTENDED),
        "linalg.qr" | "linalg.lu" | "linalg.svd" | "linalg.svdvals" | "linalg.pinv" | "linalg.matrixRank" => list(FACTORED),
        // Most of their norms are of matrices of any shape.
        "linalg.matrixNorm" | "linalg.cond" => list(FACTORED),
        "linalg.vectorNorm" => list(COMPOSED),
        // Twenty products of matrices, in the reference too.
        "linalg.expm" => list(&SQUARE[..6]),
        _ if op.namespace == Namespace::Linalg => list(SQUARE),
        _ if op.namespace == Namespace::Fft => list(TRANSFORMED),
        // A square of so many rows.
        "eye" => list(FACTORED),
        "pow" => list(LONG),
        // As many rows and columns as indices: along a mistaken axis the updates fit as well.
        "scatterAdd" => list(GENERAL).into_iter().chain([one("square", &[4, 4])]).collect(),
        "scatter" | "scatterMul" | "scatterMin" | "scatterMax" => {
            list(COMPOSED).into_iter().chain([one("cube", &[4, 4, 4])]).collect()
        }
        "pad" => list(COMPOSED).into_iter().chain([one("small rank 5", &[1, 2, 1, 2, 3])]).collect(),
        // The last of them is 0 in int8.
        "nn.nllLoss" => list(COMPOSED).into_iter().chain([one("many classes", &[9, 257])]).collect(),
        _ if op.namespace == Namespace::Random => list(LONG),
        name if name.starts_with("window") => list(SLIDING),
        name if matches!(op.lower, Lowering::Graph(_)) && !KERNELS.contains(&name) => list(COMPOSED),
        _ => list(GENERAL),
    }
}

/// One shape of several tiles, with more work than one thread is given: from 1.2 us of estimated work on (`machine::with_threads`).
pub fn parallel(op: &OpDef) -> Vec<Shapes> {
    match op.path().as_ref() {
        "matmul" => many(pairs(&[(&[70, 61], &[61, 64], &[], &[])])),
        "tensordot" => many(pairs(&[(&[6, 13, 61], &[61, 64], &[2.0], &[0.0])])),
        "nn.conv" => many(pairs(&[(&[2, 6, 12, 13], &[12, 6, 3, 3], &[], &[])])),
        "nn.convTranspose" => many(pairs(&[(&[1, 6, 10, 11], &[6, 8, 3, 3], &[], &[])])),
        "nn.maxPool" | "nn.avgPool" => vec![one("many images", &[3, 6, 20, 21])],
        "nn.adaptiveMaxPool" | "nn.adaptiveAvgPool" | "nn.interpolate" => vec![one("many images", &[3, 6, 20, 21])],
        name if name.starts_with("window") => vec![one("many rows", &[7, 1201])],
        "vecdot" => many(pairs(&[(&[30, 401], &[401], &[], &[])])),
        "cross" => many(pairs(&[(&[4013, 3], &[3], &[], &[])])),
        "outer" => many(pairs(&[(&[90], &[101], &[], &[])])),
        "inner" => many(pairs(&[(&[70, 61], &[64, 61], &[], &[])])),
        "kron" => many(pairs(&[(&[10, 9], &[11, 13], &[], &[])])),
        "diag" => vec![one("many rows", &[100])],
        "cov" | "corrcoef" => vec![one("many rows", &[50, 60])],
        "convolve" | "correlate" => many(pairs(&[(&[3001], &[20], &[], &[])])),
        "interp" => many(pairs(&[(&[9001], &[603], &[], &[])])),
        "nn.scaledDotProductAttention" => many(pairs(&[(&[6, 20, 17], &[6, 21, 17], &[], &[])])),
        "einsum" => vec![one("many labels", &[10, 11, 12, 9])],
        "linalg.lstsq" => many(pairs(&[(&[40, 30], &[40, 3], &[], &[])])),
        "linalg.vectorNorm" => vec![one("many rows", &[7, 2003])],
        "linalg.solveTriangular" => many(pairs(&[(&[40, 40], &[40, 3], &[], &[])])),
        "linalg.expm" => vec![one("many matrices", &[40, 5, 5])],
        _ if op.namespace == Namespace::Linalg && op.name != "solve" && op.name != "qr" => {
            vec![one("many columns", &[36, 36])]
        }
        "linalg.solve" => many(pairs(&[(&[40, 40], &[40, 3], &[], &[])])),
        "linalg.qr" => vec![one("many columns", &[40, 30])],
        _ if op.namespace == Namespace::Fft => vec![one("many rows", &[24, 31])],
        "searchsorted" => many(pairs(&[(&[603], &[9001], &[], &[])])),
        "sort" | "argsort" | "topk" | "kthvalue" | "median" | "quantile" | "percentile" | "nanmedian" | "nanquantile"
        | "nanpercentile" => {
            vec![one("many rows", &[9, 601])]
        }
        // Integer powers and random blocks take a hundred instructions an element, in the reference too.
        "eye" => vec![one("many rows", &[100])],
        "pow" | "random.bits" | "random.uniform" => vec![one("many rows", &[7, 2003])],
        "random.normal" => vec![one("many rows", &[3, 5003])],
        // Functions take tens of instructions an element, and their bounds five runs of the reference.
        _ if matches!(op.dtype.compute, Compute::Float | Compute::ComplexFloat) => vec![one("many rows", &[7, 2003])],
        _ => vec![one("many rows", &[7, 2003])],
    }
}

//! Kernels: all that a backend sees. Hundreds of operations lower to these few kinds.
//!
//! Sizes and strides are launch data ([`crate::backend::Launch`]); a kernel says only what is done. Each kind documents
//! the order of its operands and the shapes they must have; the engine permutes layouts so that they do.

use crate::attention::Attention;
use crate::dtype::DType;
use crate::error::Error;
use crate::promotion;
use crate::rows::Rows;
use crate::scalar::Program;

/// What a launch computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// See [`Map`].
    Map(Map),
    /// See [`Reduce`].
    Reduce(Reduce),
    /// See [`Scan`].
    Scan(Scan),
    /// See [`Gather`].
    Gather(Gather),
    /// See [`Scatter`].
    Scatter(Scatter),
    /// See [`Contract`].
    Contract(Contract),
    /// See [`Window`].
    Window(Window),
    /// See [`Sort`].
    Sort(Sort),
    /// See [`Rows`].
    Rows(Rows),
    /// See [`Attention`].
    Attention(Box<Attention>),
    /// See [`Routine`].
    Routine(Routine),
}

/// Elementwise: n inputs and m outputs of one shape, any layouts. `Index(axis)` counts along the outputs' axes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Map {
    /// What happens to one element.
    pub program: Program,
}

/// An associative combination with an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Monoid {
    /// `a + b`, identity -0 for floats; integers wrap.
    Sum,
    /// `a * b`, identity 1; integers wrap.
    Prod,
    /// Larger; NaN wins; identity: the dtype's smallest value (`-inf` for floats).
    Max,
    /// Smaller; NaN wins; identity: the dtype's largest value (`inf` for floats).
    Min,
    /// `a && b` on bool, identity true.
    All,
    /// `a || b` on bool, identity false.
    Any,
}

impl Monoid {
    /// The identity as a literal of a dtype: infinity is the dtype's own limit where it has none.
    pub fn identity_literal(self, dtype: DType) -> f64 {
        match self {
            Monoid::Sum => -0.0,
            Monoid::Prod | Monoid::All => 1.0,
            Monoid::Max if dtype == DType::Bool => 0.0,
            Monoid::Max => f64::NEG_INFINITY,
            Monoid::Min => f64::INFINITY,
            Monoid::Any => 0.0,
        }
    }
}

/// Which position a reduction reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// The combined value.
    Value(Monoid),
    /// int32 position of the first largest element in row-major order over the reduced axes; the first NaN wins.
    ArgMax,
    /// int32 position of the first smallest element; the first NaN wins.
    ArgMin,
}

/// Inputs `[kept..., reduced...]` of one shape -> outputs `[kept...]`.
///
/// `pre` makes the combined values of the inputs, all of dtype `acc`, and `post` the outputs of the results. Rows of the table have one input,
/// one combination and one output; fusion lets `pre` take further inputs, and combines several values in one pass
/// ([`Reduce::is_plain`] is false then). The tree depends on the reduced extent alone (see [`tree`]). The launch's parameters are those of
/// `pre` followed by those of `post`. Parameters apart, a missing program is the identity. Reducing zero elements gives the identity (+0
/// for a float sum).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reduce {
    /// Number of trailing axes that are reduced, in row-major order.
    pub axes: usize,
    /// How two accumulators become one.
    pub combine: Combine,
    /// Dtype of the first input operand.
    pub input: DType,
    /// Dtype of the accumulators (for `ArgMax` and `ArgMin`: of the compared values; the result is int32).
    pub acc: DType,
    /// Applied to each element.
    pub pre: Option<Program>,
    /// Applied to each result (not with `ArgMax` or `ArgMin`).
    pub post: Option<Program>,
}

impl Reduce {
    /// Dtype of each input.
    pub fn inputs(&self) -> Vec<DType> {
        self.pre.as_ref().map_or_else(|| vec![self.input], |pre| pre.inputs.clone())
    }

    /// How many values are combined.
    pub fn sums(&self) -> usize {
        self.pre.as_ref().map_or(1, |pre| pre.outputs.len())
    }

    /// Dtype of each output.
    pub fn results(&self) -> Vec<DType> {
        match (&self.combine, &self.post) {
            (Combine::ArgMax | Combine::ArgMin, _) => vec![DType::I32],
            (_, Some(post)) => (0..post.outputs.len()).map(|n| post.output_dtype(n)).collect(),
            (_, None) => vec![self.acc; self.sums()],
        }
    }

    /// Whether one input is combined to one output: what backends that refuse the others have to support.
    pub fn is_plain(&self) -> bool {
        self.pre.iter().chain(&self.post).all(|program| program.inputs.len() == 1 && program.outputs.len() == 1)
    }

    /// The rules of its programs.
    ///
    /// # Errors
    /// A sentence.
    pub fn verify(&self) -> Result<(), String> {
        if let Some(pre) = &self.pre
            && (pre.inputs.first() != Some(&self.input)
                || pre.outputs.is_empty()
                || (0..pre.outputs.len()).any(|n| pre.output_dtype(n) != self.acc))
        {
            return Err("reduce: the first program takes the inputs and gives accumulators".into());
        }
        let valued = matches!(self.combine, Combine::Value(_));
        if self.post.as_ref().is_some_and(|post| !valued || post.inputs != vec![self.acc; self.sums()]) {
            return Err("reduce: the second program takes the combined values".into());
        }
        if valued || self.sums() == 1 { Ok(()) } else { Err("reduce: a position is of one value".into()) }
    }

    /// Dtype of each launch parameter.
    pub fn params(&self) -> Vec<DType> {
        self.pre.iter().chain(&self.post).flat_map(|p| p.params.iter().copied()).collect()
    }
}

/// The one reduction tree, for every backend that promises equal bits.
///
/// Element `i` of the reduced extent stands in lane `i % LANES` of row `i / LANES`. `ROWS` rows form a group; the rows of a
/// group are combined one after the other, lane by lane. Groups are combined lane by lane as a binary counter does: after
/// group `g` (from 0) is finished, the topmost partials are merged (`older op newer`) once for each trailing one bit of `g`;
/// at the end the partials left are merged from the newest to the oldest (`older op newer`). Then lanes: for
/// `w = 16, 8, 4, 2, 1`, lane `l < w` becomes `l op (l + w)`. Lanes without an element are skipped; the first row of a
/// group is stored, not combined with the identity.
pub mod tree {
    /// Elements combined side by side.
    // 32 lanes: equal to 64 from L2 outwards, and 2.5 times faster on 128-bit vectors, where 64 spill.
    pub const LANES: usize = 32;
    /// Rows of a group.
    pub const ROWS: usize = 16;
}

/// Cumulative combination along the last axis, first to last: input and output of one shape.
///
/// A row is cut into blocks of [`Scan::block`] elements. Within one the running value takes element after element, beginning with the
/// first; the result of an element is what the block before ended with, combined with the block's running value. So blocks can be gone
/// along side by side, the error of a sum grows with their number instead of their elements', and sums of what is not negative
/// never decrease.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scan {
    /// How the running value takes the next element.
    pub combine: Monoid,
    /// Dtype of input, accumulator and output.
    pub dtype: DType,
}

impl Scan {
    /// Elements of a block of sums.
    pub const BLOCK: usize = 256;

    /// Elements of a block: [`Scan::BLOCK`] for sums. A product is one block, as that of a block alone may leave the dtype's range where
    /// the running product does not; of the others every order gives the same bits.
    pub fn block(&self) -> usize {
        if self.combine == Monoid::Sum { Scan::BLOCK } else { usize::MAX }
    }
}

/// `data [i1, ..., in, rest...]`, n index operands `[b...]` -> output `[b..., rest...]`.
///
/// Index `k` selects along data axis `k`; negative indices count from the end; one out of range fails the launch, see [`OutOfRange`], and
/// its elements are written as zero.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Gather {
    /// Dtype of data and output.
    pub dtype: DType,
    /// Integer dtype of each index operand.
    pub index: Vec<DType>,
    /// What it means that one is out of range.
    pub out_of_range: OutOfRange,
}

/// What an index of a [`Gather`] out of range means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OutOfRange {
    /// That there is no such place: `Code::Index`.
    Index,
    /// That the data, results on the way, are beyond their dtype: `Code::DType`.
    Overflow,
}

impl Gather {
    /// By indices that users gave.
    pub fn new(dtype: DType, index: Vec<DType>) -> Gather {
        Gather { dtype, index, out_of_range: OutOfRange::Index }
    }

    /// The error of an index out of range, of which `index` speaks.
    pub fn failed(&self, index: Error) -> Error {
        let wider =
            if self.dtype.bytes() < 8 { "int64, or beyond that float64, holds it" } else { "float64 holds it, rounded" };
        match self.out_of_range {
            OutOfRange::Index => index,
            OutOfRange::Overflow => Error::dtype(format!("a result is beyond the range of {}: {wider}", self.dtype)),
        }
    }
}

/// What there was before there was an overflow to tell: fingerprints of rows are kept, as text.
impl std::fmt::Debug for Gather {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let mut text = f.debug_struct("Gather");
        text.field("dtype", &self.dtype).field("index", &self.index);
        if self.out_of_range != OutOfRange::Index {
            text.field("out_of_range", &self.out_of_range);
        }
        text.finish()
    }
}

/// How a scattered update meets what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// It takes its place.
    Set,
    /// It is combined with it, what is there first.
    Combine(Monoid),
}

/// `data [i1, ..., in, rest...]`, n index operands `[b...]`, `updates [b..., rest...]` -> output of data's shape.
///
/// Updates are applied in row-major order of `b`, so duplicates have a defined result. Indices as in [`Gather`]; an update
/// whose index is out of range is left out and fails the launch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scatter {
    /// Dtype of data, updates and output.
    pub dtype: DType,
    /// Integer dtype of each index operand.
    pub index: Vec<DType>,
    /// How an update is applied.
    pub update: Update,
}

/// `a [batch..., m, k]`, `b [batch..., k, n]` and what `post` takes, `[batch..., m, n]` each -> output `[batch..., m, n]`, any
/// strides.
///
/// Integers wrap; bool uses or and and. Floats add products in blocks of places, each a chain of fused multiply-adds ([`crate::blocks`], which
/// has the bound of their error).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Contract {
    /// Dtypes of `a` and `b`: that of the product, or narrower ones, integers of integers and floats of floats ([`Contract::verify`]).
    pub operands: [DType; 2],
    /// Dtype of the product, which `a` and `b` are converted to before they are multiplied.
    pub dtype: DType,
    /// Applied to each element of the product, rounded to its dtype: the first input. One output; positions count along its axes, the
    /// batch's included. The launch's parameters are its own.
    pub post: Option<Program>,
}

/// A product alone is no more than its dtype: all that a row lowers to, of which fingerprints are kept, as text.
impl std::fmt::Debug for Contract {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let mut text = f.debug_struct("Contract");
        text.field("dtype", &self.dtype);
        if self.is_narrow() {
            text.field("operands", &self.operands);
        }
        if let Some(post) = &self.post {
            text.field("post", post);
        }
        text.finish()
    }
}

impl Contract {
    /// The product alone.
    pub fn new(dtype: DType) -> Contract {
        Contract { operands: [dtype; 2], dtype, post: None }
    }

    /// Whether an operand is converted.
    pub fn is_narrow(&self) -> bool {
        self.operands != [self.dtype; 2]
    }

    /// Whether an integer dtype has all values of another one, or a float dtype.
    pub fn widens(from: DType, to: DType) -> bool {
        let alike = (from.is_integer() && to.is_integer()) || (from.is_float() && to.is_float());
        from == to || (alike && promotion::promote(from, to) == Ok(to))
    }

    /// The rule stated above.
    ///
    /// # Errors
    /// A sentence.
    pub fn verify(&self) -> Result<(), String> {
        match self.operands.iter().find(|&&from| !Contract::widens(from, self.dtype)) {
            Some(from) => Err(format!("contract: {} does not have all values of {from}", self.dtype)),
            None => Ok(()),
        }
    }

    /// Dtype of the output.
    pub fn result(&self) -> DType {
        self.post.as_ref().map_or(self.dtype, |post| post.output_dtype(0))
    }
}

/// What becomes of the elements a window shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowCombine {
    /// They are combined (pooling).
    Reduce(Monoid),
    /// They are multiplied with weights and added (convolution; cross-correlation, as in neural networks).
    Dot,
}

/// How windows lie along one spatial axis: place `k` of window `o` is position `o * stride + k * dilation - low` of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowAxis {
    /// Places of a window, at least 1.
    pub size: usize,
    /// Positions from one window to the next, at least 1.
    pub stride: usize,
    /// Positions from one place to the next, at least 1.
    pub dilation: usize,
    /// Positions before the data; those after it follow from the output's extent.
    pub low: usize,
}

impl WindowAxis {
    /// Positions from the first place of a window to its last, both counted.
    pub fn span(&self) -> usize {
        (self.size - 1) * self.dilation + 1
    }

    /// Positions that `windows` windows reach over, counted from the first place of the first.
    pub fn reach(&self, windows: usize) -> usize {
        if windows == 0 { 0 } else { (windows - 1) * self.stride + self.span() }
    }
}

/// Windows sliding over the last n axes. Reduce: `data [lead..., s1, ..., sn]` -> output `[lead..., o1, ..., on]`. Dot:
/// `data [batch, group, cin, s1, ..., sn]`, `weights [group, cout, cin, w1, ..., wn]` -> output
/// `[batch, group, cout, o1, ..., on]`.
///
/// A place outside the data counts as the monoid's identity, or as zero (0 times an infinite weight is NaN). Reduce has the
/// bits of [`Reduce`] over the window's places in row-major order (see [`tree`]); dot is bounded as [`Contract`] with
/// K = cin w1 ... wn, and wraps as that does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    /// What is done with what a window shows.
    pub combine: WindowCombine,
    /// Dtype of all operands.
    pub dtype: DType,
    /// The n spatial axes, n >= 1.
    pub axes: Vec<WindowAxis>,
}

/// Which of a sort's two results are outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum SortOutputs {
    Values,
    /// int32 positions.
    Indices,
    Both,
}

/// Stable sort along the last axis: input `[rest..., n]` -> outputs `[rest..., k]`, the first `k <= n` of the sorted order.
/// NaN counts as the largest value (last when ascending, first when descending); `-0` equals `+0`. Equal elements keep
/// their order, descending too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sort {
    /// Dtype of the input and the values.
    pub dtype: DType,
    /// Largest first.
    pub descending: bool,
    /// What is written: values, indices, or values then indices.
    pub outputs: SortOutputs,
}

/// Which results of a singular value decomposition are outputs, for `a [batch..., m, n]` and k = min(m, n).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SvdOutputs {
    /// `s [batch..., k]`.
    Values,
    /// `u [batch..., m, k]`, s, `vh [batch..., k, n]`.
    Thin,
    /// `u [batch..., m, m]`, s, `vh [batch..., n, n]`.
    Full,
}

/// A dense algorithm that `host` provides for every backend; all operands are row-major. Where nothing else is said, dtypes are
/// float32, float64, complex64 and complex128, and a matrix that holds NaN or infinity gives NaN in all floating results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Routine {
    /// `a [batch..., n, n]`, `b [batch..., n, k]` -> `x [batch..., n, k]`; float32, float64, complex. Singular:
    /// `Code::LinAlg`.
    Solve(DType),
    /// `a [batch..., m, n]` -> `q [batch..., m, k]`, `r [batch..., k, n]`, k = min(m, n), diagonal of r real and not negative;
    /// dtypes as above.
    Qr(DType),
    /// `a [batch..., n, n]` -> `l [batch..., n, n]`, lower triangular with a positive diagonal, `l l^H = a`; only the lower triangle
    /// of a and the real parts of its diagonal are read. Not positive definite: `Code::LinAlg`.
    Cholesky(DType),
    /// `a [batch..., m, n]` -> `l [batch..., m, k]`, unit lower, `u [batch..., k, n]`, upper triangular, `rows [batch..., m]`, int32,
    /// `sign [batch...]`, k = min(m, n): row i of `l u` is row `rows_i` of a, and sign is that of the permutation, 1 or -1 (NaN for
    /// a matrix that holds NaN or infinity, whose rows stay in order). Pivots are largest by `|re| + |im|`, the first of equals; a
    /// column of nothing but zeros is left as it is.
    Lu(DType),
    /// `a [batch..., n, n]`, `b [batch..., n, k]` -> `x [batch..., n, k]`, `t x = b` where t is the lower (upper) triangle of a, the
    /// only one that is read; with `unit` its diagonal is ones and not read. A zero on the diagonal: `Code::LinAlg`.
    #[allow(missing_docs)]
    Triangular { dtype: DType, upper: bool, unit: bool },
    /// `a [batch..., n, n]` -> eigenvalues `w [batch..., n]` in the dtype of a's parts, ascending, and with `vectors` orthonormal
    /// eigenvectors as the columns of `v [batch..., n, n]`, `a v = v w`. Only the lower triangle of a and the real parts of its
    /// diagonal are read. Of each column the first entry among the largest in size is real and positive.
    #[allow(missing_docs)]
    Eigh { dtype: DType, vectors: bool },
    /// `a [batch..., m, n]` -> singular values s in the dtype of a's parts, descending, and orthonormal columns of u and rows of vh,
    /// `u s vh = a` (see [`SvdOutputs`]). Of each row of vh the first entry among the largest in size is real and positive, and so
    /// it is of each further column of u.
    #[allow(missing_docs)]
    Svd { dtype: DType, outputs: SvdOutputs },
    /// `a [batch..., n, n]` -> complex eigenvalues `w [batch..., n]`, ascending by real, then by imaginary part, and with `vectors`
    /// eigenvectors of length 1 as the columns of `v [batch..., n, n]`, `a v = v w`. Of each column the first entry among the
    /// largest in size is real and positive.
    #[allow(missing_docs)]
    Eig { dtype: DType, vectors: bool },
    /// `a [batch..., n, n]` -> its exponential, of the same shape.
    Expm(DType),
    /// `x [batch..., n]` -> `[batch..., n]`, complex; unnormalised forward or inverse transform, any length.
    Fft {
        /// complex64 or complex128.
        dtype: DType,
        /// Exponent sign +1 instead of -1.
        inverse: bool,
    },
}

impl Routine {
    /// Dtype of each output operand.
    fn outputs(&self) -> Vec<DType> {
        match *self {
            Routine::Solve(d) | Routine::Triangular { dtype: d, .. } => vec![d],
            Routine::Cholesky(d) | Routine::Expm(d) | Routine::Fft { dtype: d, .. } => vec![d],
            Routine::Qr(d) => vec![d; 2],
            Routine::Lu(d) => vec![d, d, DType::I32, d],
            Routine::Eigh { dtype: d, vectors: false } => vec![d.info().real],
            Routine::Eigh { dtype: d, vectors: true } => vec![d.info().real, d],
            Routine::Svd { dtype: d, outputs: SvdOutputs::Values } => vec![d.info().real],
            Routine::Svd { dtype: d, outputs: SvdOutputs::Thin | SvdOutputs::Full } => vec![d, d.info().real, d],
            Routine::Eig { dtype: d, vectors } => vec![promotion::to_complex(d); 1 + vectors as usize],
        }
    }
}

impl Kernel {
    /// The kind's name, for statistics and the support ledger.
    pub fn kind(&self) -> &'static str {
        match self {
            Kernel::Map(_) => "map",
            Kernel::Reduce(_) => "reduce",
            Kernel::Scan(_) => "scan",
            Kernel::Gather(_) => "gather",
            Kernel::Scatter(_) => "scatter",
            Kernel::Contract(_) => "contract",
            Kernel::Window(_) => "window",
            Kernel::Sort(_) => "sort",
            Kernel::Rows(_) => "rows",
            Kernel::Attention(_) => "attention",
            Kernel::Routine(_) => "routine",
        }
    }

    /// Dtype of each input operand.
    pub fn inputs(&self) -> Vec<DType> {
        match self {
            Kernel::Map(k) => k.program.inputs.clone(),
            Kernel::Reduce(k) => k.inputs(),
            Kernel::Scan(k) => vec![k.dtype],
            Kernel::Gather(k) => std::iter::once(k.dtype).chain(k.index.iter().copied()).collect(),
            Kernel::Scatter(k) => {
                std::iter::once(k.dtype).chain(k.index.iter().copied()).chain(std::iter::once(k.dtype)).collect()
            }
            Kernel::Contract(k) => {
                let more = k.post.iter().flat_map(|post| post.inputs.iter().skip(1).copied());
                k.operands.into_iter().chain(more).collect()
            }
            Kernel::Window(k) => vec![k.dtype; if k.combine == WindowCombine::Dot { 2 } else { 1 }],
            Kernel::Sort(k) => vec![k.dtype],
            Kernel::Rows(k) => k.inputs.iter().map(|i| i.0).collect(),
            Kernel::Attention(k) => k.inputs(),
            Kernel::Routine(Routine::Solve(d) | Routine::Triangular { dtype: d, .. }) => vec![*d; 2],
            Kernel::Routine(
                Routine::Qr(d)
                | Routine::Cholesky(d)
                | Routine::Lu(d)
                | Routine::Eigh { dtype: d, .. }
                | Routine::Svd { dtype: d, .. }
                | Routine::Eig { dtype: d, .. }
                | Routine::Expm(d)
                | Routine::Fft { dtype: d, .. },
            ) => vec![*d],
        }
    }

    /// Dtype of each output operand.
    pub fn outputs(&self) -> Vec<DType> {
        match self {
            Kernel::Map(k) => (0..k.program.outputs.len()).map(|n| k.program.output_dtype(n)).collect(),
            Kernel::Reduce(k) => k.results(),
            Kernel::Scan(k) => vec![k.dtype],
            Kernel::Gather(k) => vec![k.dtype],
            Kernel::Scatter(k) => vec![k.dtype],
            Kernel::Contract(k) => vec![k.result()],
            Kernel::Window(k) => vec![k.dtype],
            Kernel::Sort(k) => match k.outputs {
                SortOutputs::Values => vec![k.dtype],
                SortOutputs::Indices => vec![DType::I32],
                SortOutputs::Both => vec![k.dtype, DType::I32],
            },
            Kernel::Rows(k) => k.results().iter().map(|r| r.0).collect(),
            Kernel::Attention(k) => vec![k.values.result()],
            Kernel::Routine(routine) => routine.outputs(),
        }
    }

    /// Dtype of each launch parameter.
    pub fn params(&self) -> Vec<DType> {
        match self {
            Kernel::Map(k) => k.program.params.clone(),
            Kernel::Reduce(k) => k.params(),
            Kernel::Rows(k) => k.steps.iter().flat_map(|s| s.params()).collect(),
            Kernel::Contract(k) => k.post.iter().flat_map(|p| p.params.iter().copied()).collect(),
            Kernel::Attention(k) => k.params(),
            _ => Vec::new(),
        }
    }
}

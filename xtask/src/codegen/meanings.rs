//! What the arguments and options of rows mean, in words: the part of a comment that kinds and dtypes do not say.

use ferrotensor_ops::OpDef;

/// Rows by their paths (none: every row that has no words of its own), the name of an argument or option, and the words. What is left out by
/// default is added where the table of rows knows it.
const MEANINGS: &[(&str, &str, &str)] = &[
    // Axes and shapes.
    (
        "argmax argmin repeat",
        "axis",
        "One axis; negative ones count from the last; all elements in row-major order by default",
    ),
    (
        "cumulativeSum cumulativeProd cumulativeMax cumulativeMin nancumulativeSum nancumulativeProd take scatter scatterAdd scatterMul \
         scatterMin scatterMax",
        "axis",
        "One axis; negative ones count from the last; of a vector its only one by default, of other tensors it must be named",
    ),
    (
        "nn.layerNorm nn.rmsNorm",
        "axis",
        "The axes that are normalised, one or several; negative ones count from the last; the last one by default",
    ),
    (
        "roll",
        "axis",
        "The axes that elements move along, one or several; negative ones count from the last; all elements in row-major order by default",
    ),
    (
        "squeeze",
        "axis",
        "The axes to leave out, one or several; negative ones count from the last; all of size 1 by default",
    ),
    ("expandDims", "axis", "Where the new axis stands in the result; negative places count from the end"),
    ("unfold", "axis", "The axis that windows move along; negative ones count from the last"),
    ("permuteDims", "axes", "Each axis of `x` once, in the order of the result; negative ones count from the last"),
    (
        "rot90",
        "axes",
        "Two axes, turned from the first towards the second; negative ones count from the last; the first two by default",
    ),
    ("fft.fftshift fft.ifftshift", "axes", "One axis or several; negative ones count from the last; all by default"),
    ("tensordot", "axes", "How many axes, the last of `x1` with the first of `x2`, or a list of axes of each; 2 by default"),
    (
        "",
        "axes",
        "One axis or several; negative ones count from the last; by default the last ones, as many as `s` has sizes, or all",
    ),
    ("", "axis1", "One of the axes; negative ones count from the last"),
    ("", "axis2", "The other axis; negative ones count from the last"),
    ("moveaxis", "source", "The axes to move, one or several; negative ones count from the last"),
    ("moveaxis", "destination", "Where they stand in the result; negative places count from the end"),
    ("flatten", "startAxis", "The first axis that is flattened; negative ones count from the last"),
    ("flatten", "endAxis", "The last axis that is flattened; negative ones count from the last"),
    ("reshape", "shape", "The size of each axis of the result; one may be -1, and follows from the others"),
    ("", "shape", "The size of each axis of the result"),
    ("eye", "rows", "How many rows"),
    ("eye", "cols", "How many columns; as many as rows by default"),
    ("tile", "repetitions", "How many times the tensor stands along each axis"),
    ("repeat", "repeats", "How many times each element stands"),
    (
        "roll",
        "shift",
        "How many places elements move on, one number for all axes or one for each; negative numbers move them back",
    ),
    ("rot90", "k", "How many right angles; negative numbers turn the other way"),
    ("topk", "k", "How many elements; at most the size of the axis"),
    ("kthvalue", "k", "Which element: 1 for the smallest"),
    ("", "k", "The number of the diagonal: 0 for the main one, positive above it, negative below"),
    ("", "offset", "The number of the diagonal: 0 for the main one, positive above it, negative below"),
    ("pad", "padWidth", "How many places on every side, or a pair [before, after] for all axes or for each"),
    (
        "pad",
        "mode",
        "What stands there: 'constant' the option `value`, 'edge' the outermost element, 'reflect' the data mirrored about its outermost element, \
         'symmetric' the data mirrored about its edge, 'wrap' the data from the other end",
    ),
    ("pad", "value", "What stands around the data in the mode 'constant'"),
    // Windows.
    (
        "windowSum windowProd windowMin windowMax windowScatterMax windowScatterMin",
        "window",
        "The size of a window: one number for all axes, or one for each",
    ),
    ("", "window", "The size of a window: one number for all spatial axes, or one for each"),
    ("unfold", "size", "The size of a window"),
    ("unfold", "step", "How many places from one window to the next"),
    ("", "stride", "How many places from one window to the next: one number for all axes of a window, or one for each"),
    (
        "",
        "dilation",
        "How many places from one element of a window to the next: one number for all axes of a window, or one for each",
    ),
    (
        "nn.conv",
        "inputDilation",
        "How many places from one element of `x` to the next, with zeros between: one number for all spatial axes, or one for each",
    ),
    (
        "nn.convTranspose",
        "outputPadding",
        "How many places more at the end of the result, below the stride or the dilation: one number for all axes of a window, or one for each",
    ),
    (
        "nn.conv",
        "paddingMode",
        "What lies outside of `x`: 'zeros', 'replicate' for the outermost element, 'reflect' for the data mirrored about its outermost element, \
         'symmetric' for the data mirrored about its edge, 'circular' for the data from the other end",
    ),
    ("windowScatterMax windowScatterMin", "initial", "The number that each element begins with"),
    ("windowScatterMax windowScatterMin", "source", "one element for each window"),
    ("nn.conv nn.convTranspose", "groups", "How many groups of channels, each with weights of its own"),
    ("nn.conv", "weights", "[out, channels / groups, window...]"),
    ("nn.convTranspose", "weights", "[channels, out / groups, window...]"),
    ("", "size", "The size of the spatial axes of the result: one number for all, or one for each"),
    (
        "nn.interpolate",
        "mode",
        "'nearest' for the nearest element before each place, 'linear' for lines between neighbours along each axis",
    ),
    (
        "nn.interpolate",
        "alignCorners",
        "Whether the first and the last elements of both are matched, instead of the edges of their cells",
    ),
    // Elements.
    ("polar", "abs", "absolute values"),
    ("polar", "angle", "angles in radians"),
    ("complex", "real", "real parts"),
    ("complex", "imag", "imaginary parts"),
    ("where", "condition", "elements of `x1` are taken where it is true, or not 0"),
    ("clip", "min", "the lower bound; none by default"),
    ("clip", "max", "the upper bound; none by default"),
    ("nn.hardtanh", "min", "The lower bound"),
    ("nn.hardtanh", "max", "The upper bound"),
    ("lerp", "start", "the value at weight 0"),
    ("lerp", "end", "the value at weight 1"),
    ("lerp", "weight", "how far from `start` to `end`"),
    ("nanToNum", "nan", "what replaces NaN; 0 by default"),
    ("nanToNum", "posinf", "what replaces Infinity; the largest number of the dtype by default"),
    ("nanToNum", "neginf", "what replaces -Infinity; the smallest number of the dtype by default"),
    ("full", "fillValue", "the value of every element"),
    ("oneHot", "numClasses", "How many classes: the size of the new axis"),
    ("isclose allclose", "rtol", "The tolerance relative to `x2`"),
    ("isclose allclose", "atol", "The absolute tolerance"),
    ("", "equalNan", "Whether NaN equals NaN"),
    // Reductions and sorting.
    (
        "",
        "correction",
        "What is subtracted from the number of elements in the divisor; 1 gives the unbiased estimate of a sample's variance",
    ),
    ("quantile nanquantile", "q", "the fraction, from 0 to 1; axes of a tensor stand first in the result"),
    ("percentile nanpercentile", "q", "the percentage, from 0 to 100; axes of a tensor stand first in the result"),
    ("", "method", "What is taken between two elements: one of NumPy's thirteen methods"),
    (
        "cov corrcoef",
        "rowvar",
        "Whether each row is a variable and each column an observation, instead of the other way round",
    ),
    ("", "includeInitial", "Whether the result begins with the value of no elements: 0 of sums, 1 of products"),
    ("", "descending", "Whether the largest element comes first"),
    ("topk", "largest", "Whether the largest elements are taken, instead of the smallest"),
    ("searchsorted", "sorter", "positions that sort `x1`, as `argsort` gives them"),
    ("searchsorted", "side", "'left' for the first position that keeps the order, 'right' for the last"),
    // Indices.
    ("", "indices", "positions along the axis; negative ones count from the last"),
    ("", "updates", "the slices that are written, in the order of `indices` along the axis"),
    ("putAlongAxis", "values", "what is written, broadcast to the shape of `indices`"),
    (
        "putAlongAxis",
        "update",
        "What a value does to the element at its place: 'set' replaces it, 'add' and 'multiply' combine both, 'minimum' and 'maximum' keep one of them",
    ),
    ("", "segments", "the number of each row's segment, from 0"),
    ("", "numSegments", "How many segments: the size of the first axis of the result"),
    // Samples.
    ("diff", "prepend", "elements before the first along the axis"),
    ("diff", "append", "elements after the last along the axis"),
    ("diff", "n", "How many times differences are taken"),
    ("gradient trapezoid", "y", "samples"),
    ("gradient", "coordinates", "the coordinate of each sample, in place of the option `spacing`"),
    ("gradient", "spacing", "The distance between two samples"),
    ("gradient", "edgeOrder", "1 for lines at both ends, 2 for parabolas"),
    ("trapezoid", "coordinates", "the coordinate of each sample, in place of the option `dx`"),
    ("trapezoid", "dx", "The distance between two samples"),
    ("interp", "xp", "coordinates of the samples, increasing"),
    ("interp", "fp", "values of the samples"),
    ("interp", "left", "the value before the first coordinate; that of the first sample by default"),
    ("interp", "right", "the value after the last coordinate; that of the last sample by default"),
    (
        "convolve correlate",
        "mode",
        "'full' for every overlap, 'same' for as many as the longer operand has elements, 'valid' for overlaps of which nothing lies outside",
    ),
    // Products and linear algebra.
    ("einsum", "equation", "A label for each axis of each tensor, and behind '->' the labels of the result: 'ij,jk->ik'"),
    ("linalg.matrixPower", "n", "The exponent"),
    ("linalg.cholesky", "upper", "Whether the upper triangle is read and given, instead of the lower one"),
    ("", "upper", "Whether the upper triangle is read, instead of the lower one"),
    ("linalg.solveTriangular", "transposed", "Whether the transposed triangle is the matrix of the system"),
    ("linalg.solveTriangular", "unitDiagonal", "Whether the diagonal counts as ones"),
    ("linalg.qr", "mode", "'reduced' for as many columns of `q` as the shorter side has, 'complete' for a square `q`"),
    ("linalg.svd", "fullMatrices", "Whether `u` and `vh` are square, instead of having one vector for each singular value"),
    ("linalg.vectorNorm", "ord", "The order of the norm, which may be infinite"),
    ("linalg.matrixNorm", "ord", "The norm"),
    ("linalg.cond", "ord", "The norm in which the condition is computed"),
    (
        "",
        "rtol",
        "Singular values up to this times the largest count as 0; the longer side times the distance from 1 to the next number by default",
    ),
    // Transforms.
    ("fft.fftfreq fft.rfftfreq", "n", "How many samples the transform has"),
    ("fft.fftfreq fft.rfftfreq", "d", "The time between two samples"),
    ("fft.irfft fft.hfft", "n", "How many points the result has; 2 (m - 1) for m elements by default"),
    ("", "n", "How many points: elements are cut off, or zeros appended, at the end; the size of the axis by default"),
    (
        "",
        "s",
        "How many points along each axis: elements are cut off, or zeros appended, at the end; the sizes of the axes by default",
    ),
    (
        "",
        "norm",
        "Which direction is divided: 'backward' the inverse by n, 'forward' the other by n, 'ortho' both by the root of n",
    ),
    // Networks.
    ("nn.elu nn.celu", "alpha", "Far below 0 the function approaches the negative of this"),
    ("nn.gelu", "approximate", "'none' for the exact function, 'tanh' for its approximation"),
    ("nn.softplus", "beta", "How sharply the function bends at 0"),
    ("nn.leakyRelu", "negativeSlope", "The slope below 0"),
    ("nn.prelu", "weight", "slopes below 0, broadcast with `x`"),
    ("nn.hardshrink", "lambda", "Elements up to this size become 0"),
    ("nn.softshrink", "lambda", "How far each element moves towards 0; not negative"),
    ("nn.rmsNorm", "eps", "What is added to the mean of squares before the root"),
    ("", "eps", "What is added to the variance before the root"),
    ("nn.layerNorm nn.rmsNorm", "weight", "factors, of the shape of the normalised axes; 1 by default"),
    ("nn.layerNorm", "bias", "summands, of the shape of the normalised axes; 0 by default"),
    ("nn.groupNorm nn.batchNorm", "weight", "the factor of each channel; 1 by default"),
    ("nn.groupNorm nn.batchNorm", "bias", "the summand of each channel; 0 by default"),
    ("nn.groupNorm", "groups", "How many groups of channels; it divides their number"),
    ("nn.batchNorm", "mean", "the mean of each channel; that of `x` by default"),
    ("nn.batchNorm", "variance", "the variance of each channel; that of `x` by default"),
    ("nn.scaledDotProductAttention", "query", "[..., m, length]"),
    ("nn.scaledDotProductAttention", "keys", "[..., n, length]"),
    ("nn.scaledDotProductAttention", "values", "[..., n, values]"),
    (
        "nn.scaledDotProductAttention",
        "mask",
        "[..., m, n]: a bool one is true where a key takes part, a floating one is added to the scores",
    ),
    ("nn.scaledDotProductAttention", "causal", "Whether the query at place i sees the keys up to place i alone"),
    ("nn.scaledDotProductAttention", "scale", "The factor of the scores; 1 / sqrt(length) by default"),
    ("nn.klDiv", "target", "the true probabilities, or with `logTarget` their logarithms, in the shape of `x`"),
    ("nn.klDiv", "logTarget", "Whether `target` holds logarithms of probabilities"),
    (
        "nn.klDiv",
        "reduction",
        "'mean' for the mean of all terms, 'sum' for their sum, 'batchmean' for their sum divided by the number of samples, 'none' for each term",
    ),
    ("nn.binaryCrossEntropyWithLogits", "target", "the true probabilities, from 0 to 1, in the shape of `x`"),
    ("nn.binaryCrossEntropyWithLogits", "posWeight", "the weight of positive targets; 1 by default"),
    ("nn.nllLoss", "target", "the true class of each sample, [batch, ...]"),
    ("nn.crossEntropy", "target", "the true class of each sample, [batch, ...], or probabilities in the shape of `x`"),
    ("", "target", "the true values, in the shape of `x`"),
    ("nn.nllLoss nn.crossEntropy", "weight", "the weight of each class; 1 by default"),
    ("", "ignoreIndex", "The class whose samples are left out"),
    ("nn.crossEntropy", "labelSmoothing", "The part of each target, from 0 to 1, that is spread over all classes"),
    ("nn.huberLoss", "delta", "The error up to which the loss is quadratic, and beyond which it is linear; above 0"),
    ("", "reduction", "'mean' for the mean of all losses, 'sum' for their sum, 'none' for the loss of each element"),
];

/// The words for an argument or option of a row.
pub fn meaning(op: &OpDef, name: &str) -> Option<&'static str> {
    let path = op.path();
    let mut all = MEANINGS.iter().filter(|(_, known, _)| *known == name);
    let own = all.clone().find(|(rows, ..)| rows.split(' ').any(|row| row == path));
    own.or_else(|| all.find(|(rows, ..)| rows.is_empty())).map(|(.., words)| *words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::call::Call;
    use ferrotensor_ops::OPS;
    use ferrotensor_ops::def::{AttrKind, Form};

    /// Names of which kind and dtype say all.
    const PLAIN: &[&str] = &["x", "x1", "x2", "arrays", "tensors", "axis", "keepdims", "dtype", "device", "padding"];

    fn public() -> impl Iterator<Item = &'static OpDef> {
        OPS.iter().filter(|op| op.form != Form::Internal && Call::of(op).is_ok())
    }

    fn names(op: &OpDef) -> Vec<&'static str> {
        let attrs = op.attrs.iter().filter(|a| !matches!(a.kind, AttrKind::Items | AttrKind::Call)).map(|a| a.name);
        op.operands.iter().map(|o| o.name).chain(attrs).chain(op.params.iter().map(|p| p.name)).collect()
    }

    #[test]
    fn every_argument_and_option_is_explained() {
        for op in public() {
            for name in names(op).into_iter().filter(|name| !PLAIN.contains(name)) {
                assert!(meaning(op, name).is_some(), "{}: what '{name}' means is missing in MEANINGS", op.path());
            }
        }
    }

    #[test]
    fn every_meaning_is_of_a_row_and_a_name_that_there_are() {
        for (rows, name, words) in MEANINGS {
            for row in rows.split(' ').filter(|row| !row.is_empty()) {
                assert!(public().any(|op| op.path() == row && names(op).contains(name)), "{row} has no '{name}'");
            }
            assert!(public().any(|op| meaning(op, name) == Some(*words)), "'{words}' explains nothing");
        }
    }
}

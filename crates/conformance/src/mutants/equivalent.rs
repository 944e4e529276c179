//! What is said of mutants that no case and no answer can tell from the row.

/// How the row and dtype begin, how the names of its mutants begin, and why no case and no answer can know of them.
pub type Line = (&'static str, &'static [&'static str], &'static str);

/// Whether a line speaks for a mutant of a row (before answers) or `row/dtype` (before cases).
pub fn excuses((row, starts, _): &Line, of: &str, name: &str) -> bool {
    of.starts_with(row) && starts.iter().any(|start| name.starts_with(start))
}

/// The lines. What a scalar program alone shows is found by `same.rs` and needs none.
pub const EQUIVALENT: &[Line] = &[
    ("softmax/", &["another value for the reduction of nothing"], "nothing is divided by it"),
    ("logSoftmax/", &["another value for the reduction of nothing"], "it is subtracted from nothing"),
    ("softmax/bool", SHIFT, "their exponentials do not overflow, whatever is subtracted from all of them"),
    ("logSoftmax/bool", SHIFT, "their exponentials do not overflow, whatever is subtracted from all of them"),
    ("logsumexp/bool", SHIFT, "their exponentials do not overflow, whatever is subtracted from all of them"),
    // An infinite logarithm has no bound, and what is added to it none either; NumPy's answers see both.
    (
        "logsumexp/",
        &["Const: another #2", "Max: operand 0 instead #1"],
        "only infinite results show it, which have no bound",
    ),
    ("median/", &["a sort in the other order"], "the middle is the same, but for the place of NaN"),
    ("nanmedian/", &["a sort in the other order"], "the middle is the same, but for the place of NaN"),
    ("nanmedian", &["negative indices as zero"], "positions that are counted are not negative"),
    ("putAlongAxis", COUNTED, "positions that are counted are not negative"),
    ("nn.adaptiveAvgPool", &["Lt: Ne instead"], "no part is two places shorter than the longest"),
    (
        "nn.adaptiveAvgPool",
        &["Cast: by way of another dtype #1", "Cast: by way of another dtype #2"],
        "parts have few positions, which every dtype holds",
    ),
    ("nn.adaptiveAvgPool", PART_LENGTHS, "parts are as long from the end as from the start"),
    ("nn.klDiv/bool", &["Eq: Le instead"], "nothing is negative"),
    ("nn.klDiv/uint", &["Eq: Le instead"], "nothing is negative"),
    ("nn.binaryCrossEntropyWithLogits/bool", OF_NEGATIVE_LOGITS, "nothing is negative"),
    ("nn.binaryCrossEntropyWithLogits/uint", OF_NEGATIVE_LOGITS, "nothing is negative"),
    ("nn.nllLoss", &["negative indices as zero"], "positions are counted, and negative classes out of range"),
    ("nn.crossEntropy", &["negative indices as zero"], "positions are counted, and negative classes out of range"),
    (
        "nn.crossEntropy/",
        &["another value for the reduction of nothing #1", "another value for the reduction of nothing #2"],
        "there is nothing it is subtracted from",
    ),
    ("nn.crossEntropy/bool", SHIFT, "their exponentials do not overflow, whatever is subtracted from all of them"),
    ("nn.nllLoss", &["Const: another #3"], "what is beyond the first class out of range is so too"),
    ("nn.prelu/bool", &["a broadcast of the reverse"], "nothing is negative, and every weight has a product with zero"),
    ("nn.prelu/uint", &["a broadcast of the reverse"], "nothing is negative, and every weight has a product with zero"),
    ("var", OF_SPREADS, OF_ROUNDED_PARTS),
    ("std", OF_SPREADS, OF_ROUNDED_PARTS),
    ("nanvar", OF_SPREADS, OF_ROUNDED_PARTS),
    ("nanstd", OF_SPREADS, OF_ROUNDED_PARTS),
    ("var", TURNED_DEVIATIONS, "deviations are squared"),
    ("std", TURNED_DEVIATIONS, "deviations are squared"),
    ("nanvar", TURNED_DEVIATIONS, "deviations are squared"),
    ("nanstd", TURNED_DEVIATIONS, "deviations are squared"),
    ("cov", &["Sub: operands 0 and 1 exchanged #2"], "both factors change their signs"),
    ("corrcoef", &["Sub: operands 0 and 1 exchanged #2"], "both factors change their signs"),
    ("cov", EITHER_MEAN, OF_MEANS),
    ("corrcoef", EITHER_MEAN, OF_MEANS),
    ("cov", &["Const: another #3"], OF_LAST_BITS),
    ("corrcoef", &["Const: another #3"], OF_LAST_BITS),
    ("corrcoef/", &["Const: another #4", "Const: another #5"], "only roundings carry a coefficient beyond 1"),
    ("nn.layerNorm", FIRST_MEAN, OF_FIRST_MEAN),
    ("nn.layerNorm/bool", MEANS, OF_MEANS),
    ("nn.layerNorm/int8", MEANS, OF_MEANS),
    ("nn.layerNorm/uint8", MEANS, OF_MEANS),
    ("nn.layerNorm/float16", MEANS, OF_MEANS),
    ("nn.layerNorm/bfloat16", MEANS, OF_MEANS),
    ("nn.groupNorm", FIRST_MEAN, OF_FIRST_MEAN),
    ("nn.groupNorm/bool", MEANS, OF_MEANS),
    ("nn.groupNorm/int8", MEANS, OF_MEANS),
    ("nn.groupNorm/uint8", MEANS, OF_MEANS),
    ("nn.groupNorm/float16", MEANS, OF_MEANS),
    ("nn.rmsNorm/bool", &["Mul: operand 0 instead #1", "Mul: operand 1 instead #1"], "0 and 1 are their squares"),
    (
        "nn.scaledDotProductAttention/",
        &["another value for the reduction of nothing"],
        "it is subtracted from nothing, and nothing is divided by it",
    ),
    ("nn.scaledDotProductAttention", &["Const: another #7"], "whatever is subtracted from -Infinity, it stays that"),
    (
        "nn.scaledDotProductAttention/",
        &[
            "Const: another #2",
            "Select: operand 1 instead #6",
            "a broadcast of the reverse #7",
            "a broadcast of the reverse #8",
            "a reduction without its last element #3",
        ],
        "keys that no query sees, and scores that overflow as they are, are rare in cases; answers have them",
    ),
    ("sum/uint64", &["a shape filled column by column #2"], OF_OVERFLOW),
    ("prod/int8", &["a shape filled column by column #2"], OF_OVERFLOW),
    ("prod/int32", &["Cast: by way of another dtype #1"], OF_OVERFLOW),
    ("nanprod/int32", &["Cast: by way of another dtype #1"], OF_OVERFLOW),
    ("convolve/", &["no look for an overflow"], OF_OVERFLOW),
    ("einsum/", &["no look for an overflow"], OF_OVERFLOW),
    ("tensordot/", &["no look for an overflow"], OF_OVERFLOW),
    ("trace/", &["no look for an overflow"], OF_OVERFLOW),
    ("nn.convTranspose/", &["no look for an overflow"], OF_OVERFLOW),
    ("takeAlongAxis", COUNTED, "positions that are counted are not negative"),
    ("pad", &["negative indices as zero"], "positions that are counted are not negative"),
    ("interp/bool", BETWEEN, "nothing is between two truth values"),
    ("interp", &["negative indices as zero", "Const: another #2"], BEFORE),
    ("digitizeBins", &["Const: another #1", "negative indices as zero"], OF_EXPECTED),
    ("digitizeBins/", HOLDS, OF_HOLDS),
    ("histogramEdges", &["Const: another #1", "negative indices as zero"], OF_EXPECTED),
    ("histogramEdges/", HOLDS, OF_HOLDS),
    ("choiceWeights", &["Const: another #1", "negative indices as zero"], OF_EXPECTED),
    ("choiceWeights/", HOLDS, OF_HOLDS),
    ("choiceCount", &["Const: another #1", "negative indices as zero"], OF_EXPECTED),
    ("choiceCount/", HOLDS, OF_HOLDS),
    ("bernoulliChances", &["Const: another #1", "negative indices as zero"], OF_EXPECTED),
    ("bernoulliChances/", HOLDS, OF_HOLDS),
    ("categoricalLogits", &["Const: another #1", "negative indices as zero"], OF_EXPECTED),
    ("categoricalLogits/", HOLDS, OF_HOLDS),
    ("quantile", &["Const: another #2"], "what is behind a place out of range is so too"),
    ("nanquantile", &["Const: another #20"], OF_SHARES),
    ("nanquantile/float16", &["Const: another #18"], OF_SHARES),
    ("nanpercentile/float16", &["Const: another #21"], OF_SHARES),
    ("percentile", &["Const: another #23"], OF_SHARES),
    ("nanpercentile", &["Const: another #23"], OF_SHARES),
    ("quantile", &["Max: operand 0 instead #2"], OF_FIRST),
    ("nanquantile", &["Max: operand 0 instead #2"], OF_FIRST),
    ("percentile", &["Max: operand 0 instead #2"], OF_FIRST),
    ("nanpercentile", &["Max: operand 0 instead #2"], OF_FIRST),
    ("quantile/b", WAYS, OF_WAYS),
    ("percentile/b", WAYS, OF_WAYS),
    ("nanquantile/b", WAYS, OF_WAYS),
    ("nanpercentile/b", WAYS, OF_WAYS),
    ("quantile", PLACES, OF_PLACES),
    ("percentile", PLACES, OF_PLACES),
    ("nanquantile", PLACES, OF_PLACES),
    ("nanpercentile", PLACES, OF_PLACES),
    ("searchsorted", &["negative indices as zero"], "positions that are counted are not negative"),
    ("window", &["negative indices as zero"], "positions that are counted are not negative"),
    ("nn.adaptive", &["negative indices as zero"], "positions that are counted are not negative"),
    ("nn.interpolate", &["negative indices as zero"], "positions that are counted are not negative"),
    ("searchsorted/bool", &["And: operand 1 instead"], "bools are no NaN, whatever is looked for"),
    ("nn.interpolate", &["Eq: Le instead"], "weights are not negative"),
    (
        "nn.interpolate",
        &["Const: another #48"],
        "answers with an infinite neighbour along this axis are beyond those that are tried; cases have one",
    ),
    ("windowScatter", &["stride taken for"], "another stride fits only where there is one window"),
    (
        "windowScatterMin/uint32",
        &["Max: operand 0 instead #4"],
        "no case has nothing but the largest number in a window at an end of the first of four axes; answers have",
    ),
    ("windowScatterMax/", &["Cast: by way of another dtype"], "no window of the cases has 128 places; answers have"),
    ("windowScatterMin/", &["Cast: by way of another dtype"], "no window of the cases has 128 places; answers have"),
    ("isclose/complex", &["Cast: by way of another dtype"], SIZES),
    ("isclose/mixed", &["Cast: by way of another dtype"], SIZES),
    ("allclose/complex", &["Cast: by way of another dtype"], SIZES),
    ("allclose/complex64", &["Le: Lt instead"], "whether a distance that is rounded is at the bound hangs on its last bits"),
    ("allclose/mixed", &["Cast: by way of another dtype"], SIZES),
    ("isclose/bool", NUMBERS, FINITE),
    ("isclose/int", NUMBERS, FINITE),
    ("isclose/uint", NUMBERS, FINITE),
    ("allclose/bool", NUMBERS, FINITE),
    ("allclose/int", NUMBERS, FINITE),
    ("allclose/uint", NUMBERS, FINITE),
    ("isclose/bool", POSITIVE, "nothing is negative"),
    ("isclose/uint", POSITIVE, "nothing is negative"),
    ("allclose/bool", POSITIVE, "nothing is negative"),
    ("allclose/uint", POSITIVE, "nothing is negative"),
    ("arrayEqual/bool", &["equalNan taken for"], "truth values hold no NaN"),
    ("arrayEqual/int", &["equalNan taken for"], "integers hold no NaN"),
    ("arrayEqual/uint", &["equalNan taken for"], "integers hold no NaN"),
    ("copysign/bool", &["a broadcast of the reverse"], "nothing is negative"),
    ("copysign/uint", &["a broadcast of the reverse"], "nothing is negative"),
    ("logspace/bool", &[""], "none of the powers tried is zero"),
    ("nn.conv", &["negative indices as zero"], "positions that are counted are not negative"),
    ("nn.conv/", &["groups taken for"], "both fit the operands only where there are no channels"),
    ("random.randint", LOWEST, "the lowest words of a draw show once in 2^32 draws"),
    ("random.randint/int8", &["number lowAbove taken"], "the upper word is beyond these dtypes"),
    ("random.randint/uint8", &["number lowAbove taken"], "the upper word is beyond these dtypes"),
    ("random.randint/int16", &["number lowAbove taken"], "the upper word is beyond these dtypes"),
    ("random.randint/uint16", &["number lowAbove taken"], "the upper word is beyond these dtypes"),
    ("random.randint/int32", &["number lowAbove taken"], "the upper word is beyond these dtypes"),
    ("random.randint/uint32", &["number lowAbove taken"], "the upper word is beyond these dtypes"),
    ("random.uniform", &["Lt: Ne instead"], "no number is scaled beyond the end"),
    ("linalg.matrixPower", &["operands 0 and 1 exchanged"], "powers of one matrix commute"),
    ("linalg.det", &["Mul: Div instead"], "what is multiplied with is 1 or -1"),
    ("linalg.slogdet", &["Mul: Div instead"], "what is multiplied with is 1 or -1"),
    (
        "linalg.det/bool",
        &["Mul: operand 1 instead", "a reduction without its last element"],
        "of bool every pivot is 1 where anything is promised",
    ),
    ("linalg.matrixRank/", &["Lt: Le instead"], AT_THE_BOUND),
    ("linalg.pinv/", &["Lt: Le instead"], AT_THE_BOUND),
    ("linalg.lstsq/", &["Lt: Le instead"], AT_THE_BOUND),
    ("linalg.lstsq/int", &["a broadcast of the reverse #2"], OF_ONE_SIZE),
    ("linalg.lstsq/uint", &["a broadcast of the reverse #2"], OF_ONE_SIZE),
    ("linalg.matrixRank/", &["Cast: by way of another dtype"], "singular values of fewer digits are as many"),
    ("nanToNum/bool", &["a broadcast of the reverse"], FINITE),
    ("nanToNum/int", &["a broadcast of the reverse"], FINITE),
    ("nanToNum/uint", &["a broadcast of the reverse"], FINITE),
    (
        "linalg.cond/",
        &[
            "Const: another #1",
            "Const: another #2",
            "Eq: Le instead #2",
            "Eq: Ne instead #2",
            "Index: one more",
            "Input(1): Input(2) instead #1",
            "Select: operand 2 instead",
            "Value(All) for Value(Any)",
            "a broadcast of the reverse #1",
            "a reduction without its last element #1",
            "a shape filled column by column #2",
            "a step not heeded #1",
        ],
        SINGULAR,
    ),
    ("linalg.cond/complex", &["Eq: Le instead #1"], SINGULAR),
    ("linalg.cond/bool", &["Abs: operand 0 instead #1"], "nothing is negative"),
    ("linalg.cond/uint", &["Abs: operand 0 instead #1"], "nothing is negative"),
    ("linalg.cond/bool", &["Eq: Le instead #1"], "of bool every pivot is 1 where anything is promised"),
    ("cov", &["Sub: operands 0 and 1 exchanged #1"], "products of deviations of the other sign are the same"),
    ("corrcoef", &["Sub: operands 0 and 1 exchanged #1"], "products of deviations of the other sign are the same"),
    ("cov/", &["another value for the reduction of nothing"], "it is subtracted from nothing"),
    ("corrcoef/", &["another value for the reduction of nothing"], "it is subtracted from nothing"),
    ("corrcoef", &["a shape filled column by column #1"], "a matrix and its transpose have one diagonal"),
    // Coefficients beyond 1 are within the bound; NumPy's answers see them.
    (
        "corrcoef/",
        &["Const: another #2", "Const: another #3", "Max: operand 0 instead", "Min: operand 0 instead"],
        "only roundings carry a coefficient beyond 1",
    ),
    ("linalg.eigvalsh", &["Neg: operand 0 instead"], "a Hermitian matrix and its conjugate have the same eigenvalues"),
    ("linalg.matrixNorm/bool", &["Abs: operand 0 instead"], "nothing is negative"),
    ("linalg.matrixNorm/uint", &["Abs: operand 0 instead"], "nothing is negative"),
    ("linalg.matrixNorm/bool", &["Mul: operand 0 instead", "Mul: operand 1 instead"], "0 and 1 are their squares"),
    ("linalg.vectorNorm/bool", &["Abs: operand 0 instead", "Eq: Le instead #1"], "nothing is negative"),
    ("linalg.vectorNorm/uint", &["Abs: operand 0 instead", "Eq: Le instead #1"], "nothing is negative"),
    ("linalg.vectorNorm/bool", &["Mul: operand 0 instead", "Mul: operand 1 instead"], "0 and 1 are their squares"),
    ("linalg.slogdet/bfloat16", &["Cast: by way of another dtype #1"], "signs are whole numbers"),
    ("linalg.slogdet/float16", &["Cast: by way of another dtype #2"], "signs are whole numbers"),
    (
        "linalg.slogdet/",
        &["Add: Mul instead #1", "Add: Sub instead #1", "Add: operand 0 instead #1"],
        "no case ends with a pivot of -0",
    ),
    ("linalg.slogdet", &["Add: operand 1 instead"], "where a pivot is NaN, so is the sign of the order of rows"),
    ("linalg.slogdet", &["Lt: Ne instead #2"], "where a pivot is NaN, so is the sign of the order of rows"),
    (
        "linalg.slogdet/bool",
        &[
            "Abs: operand 0 instead",
            "Const: another",
            "Lt: ",
            "Mul: operand 1 instead",
            "Select: ",
            "Value(Prod) for Value(Sum)",
            "a reduction without its last element",
            "output 1 one element further",
        ],
        "of bool every pivot is 1 where anything is promised",
    ),
    ("linalg.slogdet/complex", &["Const: another #1", "Select: operand 2 instead #1"], SINGULAR),
    ("linalg.slogdet/", &["Lt: Le instead", "Lt: Ne instead #2", "Select: operand 1 instead #1"], SINGULAR),
    ("fft.hfft/bool", HALF, "8 bits are digits of bfloat16"),
    ("fft.hfft/int8", HALF, "8 bits are digits of bfloat16"),
    ("fft.hfft/uint8", HALF, "8 bits are digits of bfloat16"),
    ("fft.irfft/bool", HALF, "8 bits are digits of bfloat16"),
    ("fft.irfft/int8", HALF, "8 bits are digits of bfloat16"),
    ("fft.irfft/uint8", HALF, "8 bits are digits of bfloat16"),
    ("fft.hfft/b", OWN_CONJUGATES, REAL),
    ("fft.hfft/f", OWN_CONJUGATES, REAL),
    ("fft.hfft/i", OWN_CONJUGATES, REAL),
    ("fft.hfft/u", OWN_CONJUGATES, REAL),
    ("fft.irfft/b", OWN_CONJUGATES, REAL),
    ("fft.irfft/f", OWN_CONJUGATES, REAL),
    ("fft.irfft/i", OWN_CONJUGATES, REAL),
    ("fft.irfft/u", OWN_CONJUGATES, REAL),
    ("linalg.cholesky/bool", &["a permutation left out"], "of bool only the unit matrix is definite among the cases"),
];

/// Broadcasts of how many positions each part of an axis has.
const PART_LENGTHS: &[&str] = &[
    "a broadcast of the reverse #3",
    "a broadcast of the reverse #4",
    "a broadcast of the reverse #5",
    "a broadcast of the reverse #6",
];
/// What the two lowest words of a draw go through.
const LOWEST: &[&str] = &[
    "Add: operand 0 instead #27",
    "Add: operand 1 instead #24",
    "Add: operand 1 instead #25",
    "Mul: Add instead #15",
    "Mul: Add instead #20",
    "Mul: Add instead #24",
    "Mul: Div instead #15",
    "Mul: Div instead #20",
    "Mul: Div instead #24",
    "Mul: operand 0 instead #15",
    "Mul: operand 0 instead #20",
    "Mul: operand 0 instead #24",
    "Mul: operand 1 instead #15",
    "Mul: operand 1 instead #20",
    "Mul: operand 1 instead #24",
    "MulHi: Mul instead #17",
    "MulHi: operand 0 instead #17",
    "MulHi: operand 1 instead #17",
    "Shr: operand 0 instead #5",
    "Shr: operand 1 instead #7",
    "Shr: operands 0 and 1 exchanged #7",
    "Xor: And instead #34",
    "Xor: And instead #36",
    "Xor: Or instead #34",
    "Xor: Or instead #36",
    "Xor: operand 0 instead #34",
    "Xor: operand 0 instead #36",
    "Xor: operand 1 instead #34",
    "Xor: operand 1 instead #36",
];
/// What only values that do not hold would show.
const HOLDS: &[&str] =
    &["Cast: by way of another dtype", "Select: operand 1 instead", "a reduction without its last element"];
const OF_HOLDS: &str = "cases keep to what holds; the answers have what does not";
const OF_SHARES: &str = "shares are between 0 and 1, where either way is as good near the middle";
const OF_FIRST: &str = "what is above a place before the first element has no share";
const OF_EXPECTED: &str = "what is behind a place out of range is so too, and positions that are counted are not negative";
/// Of places among elements, in rows whose linear ways between two of them are the same point from either end.
const PLACES: &[&str] = &["Floor: Trunc instead", "Lt: Le instead", "Min: operand 0 instead", "negative indices as zero"];
const OF_PLACES: &str =
    "half-way both ends are as near; places are not negative, but of no numbers, and beyond the last only of 2^24 elements";
/// From which end the point between two elements is reached.
const WAYS: &[&str] = &["Lt: Ne instead", "Lt: operands 0 and 1 exchanged", "Select: operand 1 instead #2"];
const OF_WAYS: &str = "between truth values either way is exact, and half floats have no digits for what the ways differ in";
/// Where elements are neither infinite nor NaN.
const NUMBERS: &[&str] = &["equalNan taken for", "And: operand 0 instead", "And: operand 1 instead #2", "Ne: Eq instead"];
const FINITE: &str = "integers are numbers";
const SIZES: &str =
    "sizes of complex numbers that lie between the digits of bfloat16 are next to no case's; answers have them";
const POSITIVE: &[&str] = &["Abs: operand 0 instead #2"];
/// The line between two samples.
const BETWEEN: &[&str] = &[
    "Add: Mul instead #7",
    "Add: Sub instead #5",
    "Add: Sub instead #7",
    "Add: operand 0 instead #5",
    "Add: operand 0 instead #7",
    "Add: operand 1 instead #7",
    "Div: ",
    "Eq: Le instead #1",
    "Input(2): Input(1) instead #4",
    "Input(4): ",
    "Le: Eq instead",
    "Lt: Ne instead #1",
    "Mul: ",
    "Sub: ",
];
const BEFORE: &str = "what is before the first sample is on the left of it, whatever sample is looked up";
/// Of squares about a mean less a part of them.
const OF_SPREADS: &[&str] = &["Lt: Ne instead #1"];
const OF_ROUNDED_PARTS: &str = "a part that is larger by a rounding takes 4,099 equal numbers; a test of std has them";
const TURNED_DEVIATIONS: &[&str] = &["Sub: operands 0 and 1 exchanged #1"];
const OF_LAST_BITS: &str = "of what is subtracted the last bit changes";
const EITHER_MEAN: &[&str] = &["a reduction without its last element #1", "Const: another #1"];
/// Of norms that take two means, each of which corrects the other.
const FIRST_MEAN: &[&str] = &["Const: another #3", "a broadcast of the reverse #1", "a broadcast of the reverse #2"];
const OF_FIRST_MEAN: &str =
    "of whatever is subtracted first the second mean takes the rest, and its last bit is below theirs";
const MEANS: &[&str] = &[
    "Bitcast: Cast instead #1",
    "Const: another #1",
    "Const: another #2",
    "Div: Mul instead #1",
    "Div: Mul instead #2",
    "Div: Rem instead #1",
    "Div: Rem instead #2",
    "Div: operand 0 instead #1",
    "Div: operand 0 instead #2",
    "Div: operand 1 instead #1",
    "Sub: Add instead #1",
    "Sub: Add instead #2",
    "Sub: operand 0 instead #1",
    "Sub: operand 0 instead #2",
    "Value(Prod) for Value(Sum) #1",
    "Xor: And instead #1",
    "Xor: operand 1 instead #1",
    "a permutation left out #1",
    "a reduction without its last element #1",
];
const OF_MEANS: &str = "of numbers of few digits either mean does without the other; wider ones show it";
/// Of which a pivot is 0, or NaN: what then is a pivot hangs on the last bits.
const SINGULAR: &str = "nothing is promised of singular matrices but by NumPy's answers";
const OF_ONE_SIZE: &str = "matrices of wide integers have singular values of one size, far from any bound";
const AT_THE_BOUND: &str = "whether a singular value is at the bound hangs on its last bits";
/// A spectrum's conjugates and its direction.
const OWN_CONJUGATES: &[&str] = &["Neg: Abs instead", "Neg: operand 0 instead", "a transform of the other sign"];
/// The real part of a conjugate.
const HALF: &[&str] = &["Cast: by way of another dtype #1"];
const REAL: &str = "real numbers are their own conjugates, and such a spectrum is the same backwards";
/// The operands of a gather that are not the caller's.
const COUNTED: &[&str] = &["negative indices as zero, operand 0", "negative indices as zero, operand 2"];
const OF_OVERFLOW: &str = "cases that are near the ends of a dtype and not beyond it are rare; answers have them";
/// What keeps apart the logits of either sign; the second sum is that of a call with a weight.
const OF_NEGATIVE_LOGITS: &[&str] = &["Abs: operand 0 instead", "Add: Sub instead #2", "Add: operand 0 instead #2"];
/// What finds the largest element of a softmax.
const SHIFT: &[&str] = &[
    "Sub: Add instead #1",
    "Sub: operand 0 instead #1",
    "Value(Min) for Value(Max) #1",
    "a broadcast of the reverse #1",
    "a permutation left out #1",
    "a reduction without its last element #1",
    "a shape filled column by column #1",
];

//! The values attributes and run-time numbers are tried with, and their words as TypeScript sends them.

use crate::compare::epsilon;
use crate::shapes::Shapes;
use ferrotensor_core::DType;
use ferrotensor_ops::def::{AttrDef, AttrKind, EachAxis, Namespace, OpDef, ParamDef, ParamKind};

/// As axis values.
pub fn names(values: &[&str]) -> Vec<String> {
    values.iter().map(|v| v.to_string()).collect()
}

/// As axis values.
pub fn dtype_names(dtypes: &[DType]) -> Vec<String> {
    dtypes.iter().map(|d| d.name().to_string()).collect()
}

/// A run-time number of a row, by its name; `None` for one the suite was not taught to choose, whose row then has no cases.
pub fn number(def: &ParamDef, choice: &str, dtype: DType) -> Option<f64> {
    let float = dtype.is_float() || dtype.is_complex();
    let of = |values: [f64; 4]| Some(values[NUMBERS.iter().position(|&n| n == choice).unwrap_or(0)]);
    match def.name {
        // Words of 0, -7, 5 and the ends of 64 bits, and of how many numbers there are: 10, 15, most of 2^53, and all of 2^64.
        "low" if def.kind == ParamKind::Integer => of([0.0, 4_294_967_289.0, 5.0, 0.0]),
        "lowAbove" if dtype == DType::U64 => of([0.0, 4_294_967_295.0, 0.0, 2_147_483_648.0]),
        "lowAbove" => of([0.0, -1.0, 0.0, -2_147_483_648.0]),
        "span" => of([10.0, 15.0, 4_294_967_290.0, 0.0]),
        "spanAbove" => of([0.0, 0.0, 2_097_151.0, 4_294_967_296.0]),
        "base" => of([10.0, 2.0, 0.5, 3.0]),
        "k" => of([0.0, -1.0, 2.0, -3.0]),
        "start" if float => of([0.0, -3.25, 1e3, 1e17]),
        "step" | "stop" if float => of([1.0, 0.1, -2.5, 0.25]),
        // Truth values change at zero only, which these meet at the ends (not exactly without care), in the middle and behind 300 steps.
        "start" if dtype == DType::Bool => of([-1.3, -2.0, -301.7, -302.0]),
        "start" => of([0.0, 3.0, 1.0, -1e17]),
        // The end of a line that a start of ordinary size swallows is not zero.
        "step" | "stop" if dtype == DType::Bool => of([1.0, 1e-20, 0.0, 302.0]),
        "step" | "stop" => of([1.0, 2.0, 0.0, 302.0]),
        "data" => of([0.0, 3_000_000_019.0, 4_294_967_297.0, 8_765_432_109_876_543.0]),
        // An interval of one number: scaling rounds up to its end half of the time.
        "low" | "mean" => of([0.0, -2.0, 0.3, 1.0]),
        "high" | "std" => of([1.0, 3.0, 0.7, 1.0 + if float { epsilon(dtype) } else { 0.0 }]),
        "d" | "spacing" | "dx" => of([1.0, 0.5, -3.0, 0.1]),
        // By hundredths and thousandths products of numbers of many digits are scores of ordinary size.
        "scale" => of([f64::NAN, 0.5, -1e-3, 0.01]),
        // Of equal elements only minus zero tells which branch was taken.
        "delta" => of([1.0, 0.5, 2.0, -0.0]),
        "eps" => of([1e-5, 1.0, 1e-3, 0.0]),
        "value" | "initial" => of([0.0, 1.0, -2.5, 3.0]),
        "correction" => of([0.0, 1.0, 0.3, 3.3]),
        // The last is the default, from which rank is deficient by rounding alone.
        "rtol" if def.default.is_some_and(f64::is_nan) => of([1e-3, 0.25, 0.5, f64::NAN]),
        "rtol" => of([1e-5, 0.25, 0.0, 0.5]),
        // Of equal elements a distance below nothing tells which branch was taken.
        "atol" => of([1e-8, 1.0, 0.5, -1.0]),
        "negativeSlope" => of([0.01, 0.5, -2.0, 0.0]),
        // What is no product with zero shows where nothing is negative.
        "alpha" => of([0.3, -2.5, 0.0, f64::INFINITY]),
        "beta" => of([1.0, 2.5, 0.3, -1.0]),
        // Integers are between 2.3 and its negative, and at 1 and -1; only a minus zero is not less than minus zero.
        "lambda" => of([2.3, 1.0, -1.0, -0.0]),
        "min" => of([-1.0, 0.0, 0.3, -2.5]),
        // The last is beyond what has few digits.
        "max" => of([1.0, 6.0, 0.7, 1e3]),
        _ => None,
    }
}

/// Names of the values a run-time number is tried with.
pub const NUMBERS: [&str; 4] = ["plain", "other", "odd", "edge"];

/// Names of the values an attribute is tried with.
pub fn attribute_values(op: &OpDef, def: &AttrDef) -> Vec<String> {
    match (def.kind, def.name) {
        (AttrKind::Axes, "axes") if op.name == "rot90" => names(&["all", "both"]),
        (AttrKind::Axes, "s") => names(&["all", "resized"]),
        (AttrKind::Axes, "axes") if op.namespace == Namespace::Fft => names(&["all", "first", "last", "both", "empty"]),
        (AttrKind::Axes, "axes") => names(&["reverse", "rotate", "identity"]),
        (AttrKind::Axes, "source") => names(&["first", "last", "both"]),
        // As many as the source names.
        (AttrKind::Axes, "destination") => names(&["front", "back"]),
        (AttrKind::Axes, "shift") => names(&["one", "back by 2", "two"]),
        (AttrKind::Axes, _) if op.name == "roll" => names(&["all", "first", "last", "both"]),
        (AttrKind::Axes, _) => names(&["all", "first", "last", "both", "empty"]),
        (AttrKind::OptAxis, "n") => names(&["none", "fewer", "more", "one"]),
        (AttrKind::OptAxis, "cols") => names(&["none", "wide", "narrow", "zero"]),
        (AttrKind::OptAxis, _) => names(&["none", "0", "-1", "middle"]),
        (AttrKind::Int(_), "axis" | "axis1" | "axis2" | "startAxis" | "endAxis") => names(&["0", "-1", "middle"]),
        (AttrKind::Int(_), "k") if op.name == "rot90" => names(&["1", "2", "3", "4", "-1"]),
        (AttrKind::Int(_), "n") if op.namespace == Namespace::Fft => names(&["1", "2", "7", "8", "515"]),
        (AttrKind::Int(_), "k") if op.name == "diag" => names(&["0", "1", "-2", "40"]),
        (AttrKind::Int(_), "offset") => names(&["0", "1", "-2", "40"]),
        (AttrKind::Int(_), "n") if op.namespace == Namespace::Linalg => names(&["0", "1", "2", "5", "-1", "-2"]),
        (AttrKind::Number(_), "ord") => names(&["2", "1", "0", "inf", "-inf", "3", "0.5", "-1"]),
        (AttrKind::Number(_), "labelSmoothing") => names(&["0", "0.1", "1"]),
        (AttrKind::Number(default), _) => vec![default.to_string()],
        (AttrKind::Int(_), "n") => names(&["1", "0", "2", "9"]),
        (AttrKind::Int(_), "repeats") => names(&["2", "0", "1", "5"]),
        (AttrKind::Int(_), "k") => names(&["0", "1", "half", "all"]),
        (AttrKind::Int(_), "groups") => names(&["1", "2", "3"]),
        (AttrKind::Int(_), "ignoreIndex") => names(&["-100", "0"]),
        (AttrKind::Int(_), "size" | "step") => names(&["1", "2", "3"]),
        (AttrKind::Int(_), "numSegments") => names(&["5", "1", "0"]),
        (AttrKind::Int(_), "numClasses") => names(&["0", "1", "5"]),
        // Of so many random words of 32 bits some are equal.
        (AttrKind::Int(_), "count") if op.name == "permutation" => names(&["0", "1", "2", "34", "1000", "200000"]),
        (AttrKind::Int(_), "count") => names(&["0", "1", "2", "34", "1000"]),
        (AttrKind::Int(_), _) => names(&["shape"]),
        (AttrKind::Bool(_), _) => names(&["false", "true"]),
        (AttrKind::OptDType, _) if ["astype", "bitcast"].contains(&op.name) => {
            dtype_names(&DType::all().collect::<Vec<_>>())
        }
        (AttrKind::OptDType, _) => {
            let mut out = names(&["none"]);
            out.extend(dtype_names(&[DType::F64, DType::F32, DType::I64, DType::U8, DType::F16]));
            out
        }
        (AttrKind::Choice(words), _) => names(words),
        (AttrKind::Device, _) => names(&["0"]),
        (AttrKind::Shape, _) if op.name == "broadcastTo" => names(&["same", "leading", "stretched"]),
        (AttrKind::Shape, "repetitions") => names(&["last", "leading", "each", "zero", "none"]),
        (AttrKind::Shape, _) => names(&["shape"]),
        (AttrKind::NewShape, _) => names(&["flat", "inferred", "reversed", "unit"]),
        (AttrKind::AxisPairs, _) => names(&["shape"]),
        (AttrKind::PerAxis(EachAxis::Required), "size") => names(&["1", "2", "uneven", "9"]),
        (AttrKind::PerAxis(EachAxis::Number(0)), _) => names(&["none", "0", "1"]),
        (AttrKind::PerAxis(EachAxis::Required), _) => names(&["1", "2", "3", "uneven"]),
        (AttrKind::PerAxis(_), _) => names(&["none", "1", "2", "uneven"]),
        (AttrKind::Padding, _) => names(&["0", "1", "uneven", "pairs", "same"]),
        (AttrKind::Widths, _) => names(&["1", "0", "3", "uneven", "after"]),
        (AttrKind::Text, _) => names(EQUATIONS),
        // Of rows that are not of the table.
        (AttrKind::Call, _) => Vec::new(),
        (AttrKind::Items, _) => names(&[
            "all",
            "reversed",
            "step",
            "pick",
            "new axis",
            "empty",
            "index",
            "indices",
            "apart",
            "beside a number",
            "merged",
            "mask",
        ]),
    }
}

/// Equations of `einsum`: views, diagonals, sums, products with and without what they share, and three operands.
const EQUATIONS: &[&str] = &[
    "ij,jk->ik",
    "ij->ji",
    "ii->i",
    "ii",
    "ji",
    "ik->",
    "...j->j...",
    "ij,jk",
    "i,j->ij",
    "ij,ij->ij",
    "ij,ij->",
    "...ij,...jk->...ik",
    "ij,jk,kl->il",
    "am,my,yi->ai",
    "i,i,i->i",
    "ijk,jk->i",
    "iij,j->i",
    "ij,k->",
    "ji,ki->jk",
    "bij,bjk->bki",
];

/// The size that the labels of an equation have for a shape, by the letters' order; what `...` stands for is one axis of size 2.
pub fn equation_dims(equation: &str, operand: usize, sizes: &[usize]) -> Option<Vec<usize>> {
    let terms = equation.split("->").next()?.split(',').nth(operand)?;
    let size = |c: char| sizes.get((c as usize - 'a' as usize) % sizes.len().max(1)).copied();
    terms.replace("...", "`").chars().map(|c| if c == '`' { Some(2) } else { size(c) }).collect()
}

/// Appends an attribute's words, and for index items the numbers that go with them.
pub fn attribute_words(
    op: &OpDef,
    def: &AttrDef,
    value: &str,
    shape: &Shapes,
    words: &mut Vec<f64>,
    numbers: &mut Vec<f64>,
) -> Option<()> {
    let dims = &shape.first;
    let (rank, size) = (dims.len() as f64, |a: usize| dims.get(a).copied().unwrap_or(0) as f64);
    let list = |items: &[f64]| std::iter::once(items.len() as f64).chain(items.iter().copied()).collect::<Vec<_>>();
    let sizes: Vec<f64> = dims.iter().map(|&d| d as f64).collect();
    let count: f64 = sizes.iter().product();
    // Windows of networks leave out the axes of images and channels.
    let lead = if op.namespace == Namespace::Nn { 2 } else { 0 };
    words.extend(match (def.kind, value) {
        (AttrKind::Axes, "reverse") => list(&(0..dims.len()).rev().map(|a| a as f64).collect::<Vec<_>>()),
        (AttrKind::Axes, "rotate") => {
            list(&(0..dims.len()).map(|a| ((a + 1) % dims.len()) as f64 - rank).collect::<Vec<_>>())
        }
        (AttrKind::Axes, "identity") => list(&(0..dims.len()).map(|a| a as f64).collect::<Vec<_>>()),
        (AttrKind::Axes, "all") => vec![-1.0],
        (AttrKind::Axes, "first") => list(&[0.0]),
        (AttrKind::Axes, "last") => list(&[-1.0]),
        (AttrKind::Axes, "both") if dims.len() > 1 => list(&[-1.0, 0.0]),
        (AttrKind::Axes, "empty") => list(&[]),
        // Along each of the axes, longer than some and shorter than others.
        (AttrKind::Axes, "resized") => list(&vec![4.0; if words[0] < 0.0 { dims.len() } else { words[0] as usize }]),
        (AttrKind::Axes, "front") => list(&(0..words[0] as usize).map(|a| a as f64).collect::<Vec<_>>()),
        (AttrKind::Axes, "back") => list(&(0..words[0] as usize).map(|a| -(a as f64) - 1.0).collect::<Vec<_>>()),
        (AttrKind::Axes, "one") => list(&[1.0]),
        (AttrKind::Axes, "back by 2") => list(&[-2.0]),
        (AttrKind::Axes, "two") => list(&[3.0, -1.0]),
        // Without spatial axes there is no call.
        (AttrKind::PerAxis(_) | AttrKind::Padding, _) if lead > 0 && dims.len() <= lead => return None,
        (AttrKind::PerAxis(_) | AttrKind::Padding | AttrKind::Widths, "uneven" | "pairs") if dims.is_empty() => return None,
        (AttrKind::PerAxis(_), "none") | (AttrKind::Padding, "same") => vec![-1.0],
        (AttrKind::PerAxis(_), "uneven") => list(&(lead..dims.len()).map(|a| ((a + 1) % 3 + 1) as f64).collect::<Vec<_>>()),
        (AttrKind::PerAxis(_), number) => list(&[number.parse().ok()?]),
        (AttrKind::Padding, "uneven" | "pairs") => {
            let low: Vec<f64> = (lead..dims.len()).map(|a| (a % 2) as f64).collect();
            let high: Vec<f64> = low.iter().map(|&l| if value == "pairs" { 1.0 - l } else { l }).collect();
            [list(&low), list(&high)].concat()
        }
        (AttrKind::Widths, "uneven") => {
            let low: Vec<f64> = (0..dims.len()).map(|a| ((a + 1) % 3) as f64).collect();
            let high: Vec<f64> = (0..dims.len()).map(|a| (a % 2) as f64).collect();
            [list(&low), list(&high)].concat()
        }
        (AttrKind::Widths, "after") => [list(&[0.0]), list(&[2.0])].concat(),
        (AttrKind::Text, equation) => list(&equation.bytes().map(f64::from).collect::<Vec<_>>()),
        (AttrKind::Widths, number) => [list(&[number.parse().ok()?]), list(&[number.parse().ok()?])].concat(),
        (AttrKind::Padding, number) => [list(&[number.parse().ok()?]), list(&[number.parse().ok()?])].concat(),
        (AttrKind::OptAxis, "none") => vec![f64::NAN],
        (AttrKind::OptAxis, "fewer") => vec![(dims.iter().max().copied().unwrap_or(0) as f64 - 1.0).max(1.0)],
        (AttrKind::OptAxis, "more") => vec![dims.iter().max().copied().unwrap_or(0) as f64 + 3.0],
        (AttrKind::OptAxis, "wide") => vec![size(0) + 3.0],
        (AttrKind::OptAxis, "narrow") => vec![(size(0) - 1.0).max(0.0)],
        (AttrKind::OptAxis, "zero") => vec![0.0],
        (AttrKind::OptAxis, "one") => vec![1.0],
        (AttrKind::OptAxis | AttrKind::Int(_), "middle") if dims.len() > 2 => vec![1.0],
        (AttrKind::OptAxis | AttrKind::Int(_), "half" | "all") => {
            // topk stands behind its axis in no row; it takes k of the last axis unless the axis says otherwise.
            let n = dims.iter().min().copied().unwrap_or(0) as f64;
            vec![if value == "all" { n } else { (n / 2.0).floor() }]
        }
        (AttrKind::Int(_), "" | "shape") if def.name == "axis" => vec![0.0],
        (AttrKind::Int(_), "" | "shape") => vec![if def.name == "length" { count } else { size(0) }],
        (AttrKind::OptAxis | AttrKind::Int(_) | AttrKind::Number(_), number) => vec![number.parse().ok()?],
        (AttrKind::Bool(_), value) => vec![(value == "true") as u8 as f64],
        (AttrKind::OptDType, "" | "none") => vec![f64::NAN],
        (AttrKind::OptDType, name) => vec![DType::from_name(name)? as u8 as f64],
        (AttrKind::Choice(all), value) => vec![all.iter().position(|w| *w == value)? as f64],
        (AttrKind::Device, _) => vec![0.0],
        (AttrKind::Shape, _) if def.name == "repetitions" => match value {
            "last" => list(&[3.0]),
            "leading" => list(&[&[2.0][..], &vec![1.0; dims.len()]].concat()),
            "each" => list(&vec![2.0; dims.len()]),
            "zero" => list(&[0.0]),
            _ => list(&[]),
        },
        (AttrKind::Shape, "leading") => list(&[&[2.0][..], &sizes].concat()),
        (AttrKind::Shape, "stretched") if dims.contains(&1) => {
            list(&sizes.iter().map(|&d| if d == 1.0 { 3.0 } else { d }).collect::<Vec<_>>())
        }
        (AttrKind::Shape, "stretched") => return None,
        (AttrKind::Shape, _) => list(&sizes),
        (AttrKind::NewShape, "flat") => list(&[count]),
        (AttrKind::NewShape, "inferred") => list(&[-1.0, sizes.last().copied().unwrap_or(1.0)]),
        (AttrKind::NewShape, "reversed") => list(&sizes.iter().rev().copied().collect::<Vec<_>>()),
        (AttrKind::NewShape, _) => list(&[1.0, count, 1.0]),
        (AttrKind::AxisPairs, _) => [list(&shape.pairs.0), list(&shape.pairs.1)].concat(),
        (AttrKind::Items, value) => items(dims, value, numbers)?,
        _ => return None,
    });
    Some(())
}

/// Kinds of index items, as `Attrs::decode` knows them.
const WHOLE: f64 = 3.0;
const INDEX: f64 = 4.0;
const MASK: f64 = 5.0;

/// Index items: words (kind, length) for each, and two numbers for each slice, one for each pick.
fn items(dims: &[usize], value: &str, numbers: &mut Vec<f64>) -> Option<Vec<f64>> {
    let last = dims.len().wrapping_sub(1);
    let least = match value {
        "index" | "mask" => 1,
        "indices" | "beside a number" | "merged" => 2,
        "apart" => 3,
        _ => 0,
    };
    if dims.len() < least {
        return None;
    }
    let mut words = Vec::new();
    for (a, &d) in dims.iter().enumerate() {
        let (start, step, len) = match (value, a) {
            ("index", 0) | ("indices", 0 | 1) | ("beside a number", 1) => {
                words.extend([INDEX, 1.0]);
                continue;
            }
            // Two indices with slices between them, so that what they select comes first; and a new axis for one of them.
            ("apart", _) if a == 0 || a == last => {
                words.extend([INDEX, 1.0]);
                continue;
            }
            ("apart", 1) => {
                words.extend([WHOLE, 1.0, INDEX, 0.0]);
                continue;
            }
            // Two axes taken as one.
            ("merged", 0) => {
                words.extend([INDEX, 2.0]);
                continue;
            }
            ("merged", 1) => continue,
            // The leading axes but the last, if there are two.
            ("mask", 0) => {
                words.extend([MASK, last.clamp(1, 2) as f64]);
                continue;
            }
            ("mask", 1) if last > 1 => continue,
            ("pick" | "beside a number", 0) => {
                numbers.push(d.checked_sub(1)? as f64);
                words.extend([1.0, 0.0]);
                continue;
            }
            ("reversed" | "index" | "mask", _) => (d.saturating_sub(1), -1.0, d),
            ("step", _) => (1.min(d.saturating_sub(1)), 2.0, d / 2),
            ("empty", _) => (0, 1.0, 0),
            _ => (0, 1.0, d),
        };
        words.extend([2.0, len as f64]);
        numbers.extend([start as f64, step]);
    }
    if value == "new axis" {
        words.extend([0.0, 0.0]);
    }
    words.insert(0, (words.len() / 2) as f64);
    Some(words)
}

/// What an operand of index items must be.
pub enum Indexing {
    /// Indices into an axis, or axes taken as one, of this size.
    Axis(usize),
    /// A mask of this shape.
    Mask(Vec<usize>),
}

/// The operands that index items ask for, in order.
pub fn indexing(words: &[f64], dims: &[usize]) -> Vec<Indexing> {
    let (mut out, mut axis) = (Vec::new(), 0);
    for item in words[1..].chunks_exact(2) {
        let taken = if item[0] == 0.0 {
            0
        } else if item[0] < WHOLE {
            1
        } else {
            item[1] as usize
        };
        let under = &dims[axis..axis + taken];
        match item[0] {
            INDEX => out.push(Indexing::Axis(under.iter().product())),
            MASK => out.push(Indexing::Mask(under.to_vec())),
            _ => {}
        }
        axis += taken;
    }
    out
}

/// The axis a row's first attribute names.
pub fn axis_of(words: &[f64], rank: usize) -> Option<usize> {
    let a = words.first().copied().unwrap_or(f64::NAN);
    let a = if a.is_nan() {
        0.0
    } else if a < 0.0 {
        a + rank as f64
    } else {
        a
    };
    (a >= 0.0 && a < rank as f64).then_some(a as usize)
}

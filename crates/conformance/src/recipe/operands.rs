//! What a row is given for each of its operands: forms, dtypes and elements to choose from, and the operand that one choice
//! of each stands for.

use super::{Chosen, Recipe};
use crate::attributes::{Indexing, axis_of, dtype_names, equation_dims, indexing, names};
use crate::case::Placement;
use crate::shapes::Shapes;
use crate::values::Fill;
use ferrotensor_core::{DType, Dims, Kind};
use ferrotensor_ops::attrs::Attrs;
use ferrotensor_ops::def::{AttrKind, Domain, Lowering, Namespace, OpDef, OperandDef};
use ferrotensor_ops::dtype_rule::{Arg, Compute, Out};
use ferrotensor_ops::infer;
use std::f64::consts::FRAC_PI_2;

/// A tensor operand before it has elements.
pub struct Planned {
    pub dtype: DType,
    pub dims: Dims,
    pub placement: Placement,
    pub fill: Fill,
}

pub enum PlannedOperand {
    Tensor(Planned),
    Weak(Arg, u64),
    Absent,
}

/// Whether the row's list of operands belongs to its index items.
pub fn is_indexed(op: &OpDef) -> bool {
    op.attrs.iter().any(|a| a.kind == AttrKind::Items)
}

/// Whether the shape of an operand is that of index tensors.
pub fn takes_indices(op: &OpDef) -> bool {
    op.name.starts_with("scatter") || ["take", "at", "withAt"].contains(&op.name)
}

/// Whether the row's targets may be numbers of classes.
fn by_class(op: &OpDef) -> bool {
    op.attrs.iter().any(|a| a.name == "ignoreIndex")
}

/// Whether the row's dtype rule speaks of an operand.
pub fn is_ruled(op: &OpDef, operand: usize) -> bool {
    // A list of operands that the rule speaks of is ruled whole.
    let n = operand.min(op.operands.len() - 1);
    n >= op.dtype.first && n < op.dtype.last
}

pub fn forms(def: &OperandDef) -> Vec<String> {
    let mut out = names(&["tensor"]);
    // Second, where ordinary calls find it.
    if def.optional {
        out.extend(names(&["absent"]));
    }
    if def.name == "q" {
        out.extend(names(&["number", "bigint", "below", "beyond"]));
    } else if def.weak {
        out.extend(names(&["number", "negative", "bigint", "boolean"]));
    }
    out
}

/// The dtypes an operand is tried with beside the row's; the first ruled one has it always.
pub fn operand_dtypes(op: &OpDef, i: usize, def: &OperandDef, dtype: DType) -> Vec<String> {
    match def.name {
        "key" | "fillValue" => vec![],
        "target" if by_class(op) => {
            let integers = dtype_names(&[DType::I32, DType::I64, DType::U8, DType::I8]);
            let floats = dtype_names(if op.name == "crossEntropy" { &[DType::F32, DType::F16] } else { &[] });
            integers.into_iter().chain(floats).collect()
        }
        // Integers are no fractions, but for both ends.
        "q" if !dtype.is_float() => {
            let fractions = dtype_names(&[DType::F32, DType::F64, DType::F16, DType::BF16]);
            fractions.into_iter().chain(names(&["same"])).collect()
        }
        "indices" | "sorter" | "segments" => dtype_names(&[DType::I32, DType::I64, DType::U8, DType::I8, DType::U32]),
        // First as the other operands are, so that it can be taken for one of them.
        "mask" => dtype_names(&[DType::Bool, DType::F32, DType::F16]),
        "condition" => {
            let others = dtype_names(&[DType::Bool, DType::I32, DType::F32]);
            names(&["same"]).into_iter().chain(others.into_iter().filter(|d| *d != dtype.name())).collect()
        }
        _ if !is_ruled(op, i) || (op.dtype.compute == Compute::Own && i > 0) => {
            let mut out = names(&["same"]);
            out.extend(dtype_names(&[DType::F32, DType::I8]));
            out
        }
        _ if i > op.dtype.first => {
            let mut out = names(&["same"]);
            let others = [
                DType::Bool,
                DType::I8,
                DType::U16,
                DType::I64,
                DType::U64,
                DType::F16,
                DType::BF16,
                DType::F32,
                DType::F64,
                DType::C64,
            ];
            out.extend(dtype_names(&others.into_iter().filter(|&d| d != dtype).collect::<Vec<_>>()));
            out
        }
        _ => vec![],
    }
}

/// Whether a result that its dtype does not hold is an error.
fn is_refused_beyond(op: &OpDef) -> bool {
    op.dtype.compute == Compute::Sum || ["segmentSum", "segmentProd", "windowSum", "windowProd"].contains(&op.name)
}

pub fn fills(op: &OpDef, dtype: DType) -> Vec<String> {
    match op.domain {
        // Pivots of every size and order.
        Domain::Matrix if op.name == "slogdet" => names(&["matrix", "ordinary", "factors", "few numbers"]),
        Domain::Matrix => names(&["matrix"]),
        // Of large elements the exponentials overflow.
        _ if op.name == "expm" => names(&["ordinary", "rotations"]),
        // An infinite point makes every result NaN or not, by the order of the algorithm's products.
        _ if op.namespace == Namespace::Fft => names(&["ordinary"]),
        // Of larger integers most sums and nearly all products are beyond their dtype, which tells little else.
        _ if dtype.is_integer() && is_refused_beyond(op) => {
            names(&[if op.name.to_lowercase().ends_with("prod") { "factors" } else { "ordinary" }, "special", "small"])
        }
        _ if ["prod", "windowProd"].contains(&op.name) => names(&["factors", "special", "bits"]),
        _ if ["floorDivide", "remainder"].contains(&op.name) => names(&["ordinary", "special", "bits", "large quotients"]),
        // Whole exponents are a way of their own.
        _ if op.name == "pow" => names(&["ordinary", "special", "bits", "whole exponents", "turns"]),
        _ if op.name == "nanprod" => names(&["ordinary", "special", "bits", "holes", "few zeros"]),
        // Of many random elements some are zero and not all; of each number of elements about half are in one of these.
        _ if op.name.starts_with("nan") && op.name != "nanToNum" => names(&["ordinary", "special", "bits", "holes"]),
        // Squares of what is large overflow, differences of integers wrap to anything.
        _ if ["var", "std", "diff", "quantile", "percentile"].contains(&op.name) => {
            names(&["ordinary", "special", "bits", "few numbers"])
        }
        // A mean that is larger than the spread.
        _ if ["cov", "corrcoef"].contains(&op.name) => names(&["ordinary", "special", "bits", "far from zero"]),
        _ if op.name == "searchsorted" && dtype.is_float() => {
            names(&["ordinary", "special", "bits", "rising", "rising to NaN"])
        }
        _ if ["searchsorted", "interp"].contains(&op.name) => names(&["ordinary", "special", "bits", "rising"]),
        // The largest of a window is there twice, or as large as what stands around the data.
        _ if op.name.starts_with("windowScatter") => names(&["ordinary", "special", "bits", "few numbers", "extremes"]),
        _ if by_class(op) => names(&["ordinary", "special", "bits", "left out"]),
        // Of large scores one key has all the weight.
        _ if op.name == "scaledDotProductAttention" => names(&["ordinary", "special", "bits", "small", "few numbers"]),
        // Predictions that are met are few.
        _ if op.name == "huberLoss" => names(&["ordinary", "special", "bits", "few numbers"]),
        _ if op.name == "logsumexp" => names(&["ordinary", "special", "bits", "infinities"]),
        _ if ["countNonzero", "vectorNorm"].contains(&op.name) => names(&["ordinary", "special", "bits", "half zeros"]),
        _ if ["all", "any"].contains(&op.name) => {
            names(&["special", "bits", "few zeros", "some zeros", "half zeros", "most zeros", "many zeros"])
        }
        // Two random tensors are never equal or close: pairs of numbers, each alone, and rows that may be shared.
        _ if ["allclose", "arrayEqual"].contains(&op.name) => names(&[
            "ordinary",
            "special",
            "bits",
            "few numbers",
            "nothing but 257",
            "nothing but NaN",
            "ones beside NaN",
            "NaN beside ones",
            "one or infinity",
            "one pair",
            "columns",
        ]),
        _ if op.name == "isclose" => names(&["ordinary", "special", "bits", "few numbers", "pairs", "infinities"]),
        // Where both ways to the point between meet.
        _ if op.name == "lerp" => names(&["ordinary", "special", "bits", "halfway"]),
        // Three complex factors of which none is infinite or NaN.
        _ if op.name == "einsum" => names(&["ordinary", "special", "bits", "factors"]),
        // Two random elements are hardly ever equal, or one of them zero.
        _ if op.dtype.out == Out::Bool && op.operands.len() > 1 => names(&["ordinary", "special", "bits", "few numbers"]),
        _ if dtype.is_complex() && op.operands.len() == 1 && matches!(op.lower, Lowering::Map(_)) => {
            names(&["ordinary", "special", "bits", "turns"])
        }
        _ => names(&["ordinary", "special", "bits"]),
    }
}

/// Where powers go other ways: of bases that are infinite or nothing, or of a size near 1 (1 and a 64th as parts), and by exponents
/// that are whole up to 128. What is there twice is met twice as often.
const BASE_TURNS: &[f64] = &[0.0, 1.0, 1.0, 0.015625, 0.015625, 3.0, 0.5, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY];
const EXPONENT_TURNS: &[f64] = &[0.0, 1.0, 2.0, 3.0, 0.5, 128.0, 128.0, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY];
/// Where functions of complex numbers do: at poles, beside right angles, where a hyperbolic tangent has reached 1, just below the
/// sizes whose squares they avoid, or where a part vanishes beside 1.
const FUNCTION_TURNS: &[f64] = &[0.0, 1.0, FRAC_PI_2, 10.5, 20.5, 2.5e17, 1e150, f64::MAX, f64::MIN_POSITIVE];

/// The elements that one of [`fills`] means for the i-th operand.
fn fill(op: &OpDef, i: usize, values: &str) -> Fill {
    match values {
        // What is expected holds: the others fail.
        _ if op.refused.is_some() && i == 1 => Fill::Only(1.0),
        "factors" => Fill::Factors,
        "large quotients" if i > 0 => Fill::Factors,
        "large quotients" => Fill::Steep,
        "whole exponents" if i == 0 => Fill::Factors,
        "whole exponents" => Fill::Whole,
        "turns" if op.name == "pow" => Fill::Turns(if i == 0 { BASE_TURNS } else { EXPONENT_TURNS }),
        "turns" => Fill::Turns(FUNCTION_TURNS),
        "few numbers" => Fill::Few,
        "small" => Fill::Ordinary(Domain::Unit),
        "infinities" => Fill::Turns(&[f64::INFINITY, f64::INFINITY, 1.0]),
        "nothing but 257" => Fill::Only(257.0),
        "nothing but NaN" => Fill::Only(f64::NAN),
        "ones beside NaN" => Fill::Only(if i == 0 { 1.0 } else { f64::NAN }),
        "NaN beside ones" => Fill::Only(if i == 0 { f64::NAN } else { 1.0 }),
        "one or infinity" => Fill::Alike(&[1.0, f64::INFINITY]),
        "one pair" => Fill::Real(&[1.0, 1.5]),
        "pairs" => Fill::Turns(&[1.0, 1.5]),
        "extremes" => Fill::Extremes,
        "columns" => Fill::Columns,
        "halfway" if i == 2 => Fill::Only(0.5),
        "rotations" => Fill::Rotations,
        "far from zero" => Fill::Far,
        "rising" if i == (op.name == "interp") as usize => Fill::Rising,
        "rising to NaN" if i == 0 => Fill::RisingToNan,
        "holes" | "rising to NaN" => Fill::Holes,
        "few zeros" => Fill::Coin(1, 24),
        "some zeros" => Fill::Coin(1, 5),
        "half zeros" => Fill::Coin(1, 2),
        "most zeros" => Fill::Coin(4, 5),
        "many zeros" => Fill::Coin(23, 24),
        "matrix" | "" if op.domain == Domain::Matrix && i == 0 => Fill::Matrix,
        "special" => Fill::Special,
        "bits" => Fill::Bits,
        // Which other operands, or their classes, are meant.
        "ordinary" | "" | "halfway" | "left out" | "matrix" | "rising" => Fill::Ordinary(op.domain),
        other => unreachable!("no elements are called {other}"),
    }
}

/// The weak scalar in the n-th operand's place; the third operand's is larger than the second's, so that they can be told apart.
/// `float` says that the row computes in a floating dtype.
fn weak(form: &str, values: &str, dtype: DType, float: bool, n: usize) -> Option<PlannedOperand> {
    let more = 2 * n.saturating_sub(1) as i64;
    let bigint = |v: i64| PlannedOperand::Weak(Arg::BigInt, (v + more) as u64);
    Some(match (form, values) {
        // Of many digits, so that both ways to the point between round.
        ("number", "halfway") if n == 2 => PlannedOperand::Weak(Arg::Number, 0.5f64.to_bits()),
        ("number" | "negative", "halfway") if n == 1 => PlannedOperand::Weak(Arg::Number, (1.0f64 / 3.0).to_bits()),
        ("negative", _) if float => PlannedOperand::Weak(Arg::Number, (-2.5 - more as f64).to_bits()),
        ("negative", _) if dtype.kind() == Kind::Signed => PlannedOperand::Weak(Arg::Number, (-3.0 - more as f64).to_bits()),
        ("number" | "bigint", "few numbers") => {
            let v = if dtype.bytes() > 1 { 257 } else { 1 };
            if form == "bigint" { bigint(v) } else { PlannedOperand::Weak(Arg::Number, ((v + more) as f64).to_bits()) }
        }
        ("bigint", "special") if dtype.kind() == Kind::Unsigned => bigint(200),
        ("bigint", "special") => bigint(-3),
        ("bigint", "bits") if dtype.bytes() == 8 => bigint(9_007_199_254_740_993),
        ("bigint", _) => bigint(3),
        ("boolean", values) => {
            PlannedOperand::Weak(Arg::Boolean, (if values == "special" { 0.0f64 } else { 1.0 }).to_bits())
        }
        ("number", values) => {
            let v: f64 = match values {
                "special" if float => f64::NAN,
                "special" => 0.0,
                "bits" if float => -0.0,
                "bits" if dtype.kind() == Kind::Signed => -7.0,
                _ if float => 2.3,
                _ => 3.0,
            };
            // Minus zero plus zero would be zero.
            let v = if more == 0 { v } else { v + more as f64 };
            PlannedOperand::Weak(Arg::Number, v.to_bits())
        }
        _ => return None,
    })
}

fn operand_dims(op: &OpDef, i: usize, shape: &Shapes, pairing: &str, indices: &str, words: &[f64]) -> Option<Dims> {
    let first = &shape.first;
    if op.operands.first().is_some_and(|o| o.name == "key") {
        return Some([2].into_iter().collect());
    }
    if let Some(dims) = i.checked_sub(1).and_then(|n| shape.others.get(n)) {
        return Some(dims.clone());
    }
    let index_dims: &[usize] = match indices {
        "scalar" => &[],
        "matrix" => &[2, 3],
        "none" => &[0],
        "long" => &[70],
        _ => &[4],
    };
    match (op.name, i) {
        ("full", _) => Some(if first.len() > 2 { first[1..].iter().copied().collect() } else { Dims::new() }),
        (name, 1) if name == "take" || name.starts_with("scatter") => Some(index_dims.iter().copied().collect()),
        (name, 2) if name.starts_with("scatter") => {
            let axis = axis_of(words, first.len())?;
            Some(first[..axis].iter().chain(index_dims).chain(&first[axis + 1..]).copied().collect())
        }
        ("withAt", 1) if pairing == "scalar" => Some(Dims::new()),
        ("withAt", 1) => {
            let at = ferrotensor_ops::find("at")?;
            let indices: Vec<Dims> = (0..indexing(words, first).len()).map(|k| nth_index(index_dims, k)).collect();
            let args: Vec<Arg> =
                std::iter::once(Arg::Tensor(DType::F32)).chain(indices.iter().map(|_| Arg::Tensor(DType::I32))).collect();
            let dims = std::iter::once(first.clone()).chain(indices).map(Some).collect();
            let inferred = infer::infer(at, &args, dims, &Attrs::decode(at, words).ok()?).ok()?;
            Some(inferred.outputs[0].1.clone())
        }
        ("at" | "withAt", i) if i >= op.least_operands() => Some(nth_index(index_dims, i - op.least_operands())),
        ("concat", _) if i > 0 => {
            let axis = axis_of(words, first.len())?;
            Some(first.iter().enumerate().map(|(a, &d)| if a == axis { d + i } else { d }).collect())
        }
        // One for each window.
        (name, 1) if name.starts_with("windowScatter") => {
            let sum = ferrotensor_ops::find("windowSum")?;
            let attrs = Attrs::decode(sum, &[words, &[-1.0]].concat()).ok()?;
            let inferred =
                infer::infer(sum, &[Arg::Tensor(DType::F32)], std::iter::once(Some(first.clone())).collect(), &attrs)
                    .ok()?;
            Some(inferred.outputs[0].1.clone())
        }
        ("stack" | "hstack" | "vstack" | "dstack" | "columnStack", _) => Some(first.clone()),
        ("diff", i) if i > 0 => {
            let axis = axis_of(words, first.len())?;
            Some(first.iter().enumerate().map(|(a, &d)| if a == axis { i } else { d }).collect())
        }
        (name, 1) if name.starts_with("segment") => first.first().map(|&n| [n].into_iter().collect()),
        ("quantile" | "percentile" | "nanquantile" | "nanpercentile", 1) => Some(match pairing {
            "scalar" => Dims::new(),
            "row" => [2, 2].into_iter().collect(),
            "column" => [0].into_iter().collect(),
            _ => [3].into_iter().collect(),
        }),
        ("gradient" | "trapezoid", 1) => first.get(axis_of(words, first.len())?).map(|&n| [n].into_iter().collect()),
        ("interp", 2) => shape.others.first().cloned(),
        ("interp", _) if i > 2 => Some(Dims::new()),
        ("einsum", i) => {
            let letters: String = words[1..].iter().map(|&c| c as u8 as char).collect();
            let mut dims: Dims = equation_dims(&letters, i, first)?.into_iter().collect();
            if shape.name == "stretched" && i == 1 && !dims.is_empty() {
                dims[0] = 1;
            }
            Some(dims)
        }
        // One number for each place along the axes, or for each channel.
        ("layerNorm" | "rmsNorm", i) if i > 0 => match words[0] {
            n if n < 0.0 => first.last().map(|&d| [d].into_iter().collect()),
            n => {
                let at = |&a: &f64| first.get(if a < 0.0 { (first.len() as f64 + a) as usize } else { a as usize }).copied();
                let mut axes: Vec<f64> =
                    words[1..=n as usize].iter().map(|&a| if a < 0.0 { first.len() as f64 + a } else { a }).collect();
                axes.sort_by(f64::total_cmp);
                axes.iter().map(at).collect()
            }
        },
        ("scaledDotProductAttention", 2) => {
            let (m, keys) = (*first.last()?, shape.others.first()?);
            Some(keys.iter().enumerate().map(|(a, &d)| if a + 1 == keys.len() { m + 1 } else { d }).collect())
        }
        ("scaledDotProductAttention", 3) => {
            let keys = shape.others.first()?;
            Some([*first.get(first.len().checked_sub(2)?)?, *keys.get(keys.len().checked_sub(2)?)?].into_iter().collect())
        }
        // Classes, or probabilities, which inference tells by their dtype.
        (_, 1) if by_class(op) && pairing != "same" => {
            let axis = (first.len() > 1) as usize;
            Some(first.iter().enumerate().filter(|(a, _)| *a != axis).map(|(_, &d)| d).collect())
        }
        (_, 2) if by_class(op) => first.get((first.len() > 1) as usize).map(|&d| [d].into_iter().collect()),
        ("groupNorm" | "batchNorm", i) if i > 0 => first.get(1).map(|&d| [d].into_iter().collect()),
        ("putAlongAxis", 2) if pairing == "scalar" => Some(Dims::new()),
        // Data and indices broadcast but for the axis.
        ("takeAlongAxis" | "putAlongAxis", i) => {
            let axis = axis_of(words, first.len())?;
            let one = [("row", 1), ("column", if op.name == "putAlongAxis" { 2 } else { 0 })].contains(&(pairing, i));
            let size = |(a, &d): (usize, &usize)| match a == axis {
                true if i > 0 => 5,
                true => d,
                false if one => 1,
                false => d,
            };
            Some(first.iter().enumerate().map(size).collect())
        }
        ("searchsorted", 2) => Some(first.clone()),
        _ => {
            // The third operand of a call is paired the other way round.
            let pairing = match (pairing, i) {
                ("row", 2) => "column",
                ("column", 2) => "row",
                (p, _) => p,
            };
            Some(match (pairing, i) {
                ("first scalar", 0) => Dims::new(),
                ("scalar", i) if i > 0 => Dims::new(),
                ("row", i) if i > 0 => first.last().copied().into_iter().collect(),
                ("column", i) if i > 0 => {
                    first.iter().enumerate().map(|(a, &d)| if a + 1 == first.len() { 1 } else { d }).collect()
                }
                _ => first.clone(),
            })
        }
    }
}

/// The i-th operand of a call with these attributes, or nothing where the choices do not go together.
pub fn planned(chosen: &Chosen, i: usize, words: &[f64], indexing: &[Indexing]) -> Option<PlannedOperand> {
    let Recipe { op, dtype: of_row, .. } = chosen.recipe;
    let (def, n, values) = (op.operand(i), i.min(op.operands.len() - 1), chosen.value("values"));
    match chosen.form(n) {
        "" | "tensor" => {}
        "absent" => return Some(PlannedOperand::Absent),
        "number" if def.name == "q" => return Some(PlannedOperand::Weak(Arg::Number, 0.75f64.to_bits())),
        // Errors.
        "below" => return Some(PlannedOperand::Weak(Arg::Number, (-0.25f64).to_bits())),
        "beyond" => return Some(PlannedOperand::Weak(Arg::Number, 100.5f64.to_bits())),
        "bigint" if def.name == "q" => return Some(PlannedOperand::Weak(Arg::BigInt, 1)),
        form => {
            let float = of_row.is_float() || of_row.is_complex() || op.dtype.compute == Compute::Float;
            return weak(form, values, *of_row, float, i);
        }
    }
    let index = i.checked_sub(op.least_operands()).and_then(|k| indexing.get(k));
    let dtype = match chosen.dtype(n) {
        _ if def.name == "key" => DType::U32,
        _ if matches!(index, Some(Indexing::Mask(_))) => DType::Bool,
        "" | "same" => *of_row,
        name => DType::from_name(name)?,
    };
    let dims = match index {
        Some(Indexing::Mask(under)) => under.iter().copied().collect(),
        _ => operand_dims(op, i, chosen.shape(), chosen.value("pairing"), chosen.value("indices"), words)?,
    };
    let placement = placement(chosen.layout(n));
    let first = &chosen.shape().first;
    let fill = match (def.name, index) {
        ("indices", Some(Indexing::Axis(size))) => Fill::Index(*size),
        ("indices", Some(_)) => Fill::Ordinary(Domain::Any),
        ("indices", None) => Fill::Index(first.get(axis_of(words, first.len())?).copied().unwrap_or(0)),
        ("target", _) if by_class(op) && dtype.is_integer() => {
            let classes = first.get((first.len() > 1) as usize).copied().unwrap_or(0);
            Fill::Classes(classes, values == "left out")
        }
        ("segments", _) => Fill::Index(words[0] as usize),
        ("q", _) => Fill::Fractions(if op.name.ends_with("percentile") { 100.0 } else { 1.0 }),
        ("sorter", _) => Fill::Index(first.first().copied().unwrap_or(0)),
        ("key", _) => Fill::Bits,
        // A random element is hardly ever zero.
        ("condition", _) if values != "special" => Fill::Coin(1, 2),
        ("mask", _) if dtype == DType::Bool => Fill::Coin(1, 3),
        _ => fill(op, i, values),
    };
    // A repeated row would make the matrix singular.
    let singular = fill == Fill::Matrix && placement == Placement::Broadcast;
    (placement.fits(dims.len()) && !singular).then_some(PlannedOperand::Tensor(Planned { dtype, dims, placement, fill }))
}

/// How an operand lies that is said to; contiguous where nothing is said.
pub fn placement(name: &str) -> Placement {
    Placement::ALL.into_iter().find(|p| p.name() == name).unwrap_or(Placement::Contiguous)
}

/// The shape of a call's k-th index operand, which broadcasts to that of the first.
fn nth_index(first: &[usize], k: usize) -> Dims {
    first.iter().copied().skip(k % 2).collect()
}

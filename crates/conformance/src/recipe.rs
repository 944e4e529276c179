//! Which circumstances a row is tried in: the axes of one (row, dtype), made from the row's operands, attributes and
//! parameters, and the call that one choice on each axis stands for.

use crate::attributes::{
    Indexing, NUMBERS, attribute_values, attribute_words, axis_of, dtype_names, indexing, names, number,
};
use crate::case::{Case, Operand, Placement};
use crate::shapes::{self, Shapes};
use crate::values::{self, Fill, Rng};
use ferrotensor_core::{Code, DType, Dims, Kind, Result};
use ferrotensor_ops::attrs::Attrs;
use ferrotensor_ops::def::{AttrDef, AttrKind, Domain, Namespace, OpDef, OperandDef};
use ferrotensor_ops::dtype_rule::{Arg, Compute, Out};
use ferrotensor_ops::infer;

/// One circumstance and its possible values.
#[derive(Clone, Debug)]
pub struct Axis {
    /// `shape`, `layout0`, `values`, an attribute's name, ...
    pub name: String,
    /// Names of the values.
    pub values: Vec<String>,
}

/// The axes of one row and dtype.
pub struct Recipe {
    op: &'static OpDef,
    dtype: DType,
    shapes: Vec<Shapes>,
    /// In a fixed order.
    pub axes: Vec<Axis>,
}

/// A tensor operand before it has elements.
struct Planned {
    dtype: DType,
    dims: Dims,
    placement: Placement,
    fill: Fill,
}

enum PlannedOperand {
    Tensor(Planned),
    Weak(Arg, u64),
    Absent,
}

/// A call before its operands have elements.
pub struct Plan {
    operands: Vec<PlannedOperand>,
    words: Vec<f64>,
    numbers: Vec<f64>,
    device_word: Option<usize>,
    axes: Vec<(String, String)>,
    /// Bytes of its largest operand or result in the widest of their dtypes: none of its temporaries is larger.
    pub largest: usize,
}

/// Whether the row's dtype is that of its `dtype` attribute because no operand has one.
fn by_attribute(op: &OpDef) -> bool {
    op.attrs.iter().any(|a| a.name == "dtype")
        && op.operands.first().is_none_or(|o| o.name == "key" || o.name == "fillValue")
}

/// Whether the row's list of operands belongs to its index items.
fn is_indexed(op: &OpDef) -> bool {
    op.attrs.iter().any(|a| a.kind == AttrKind::Items)
}

/// Whether the shape of an operand is that of index tensors.
fn takes_indices(op: &OpDef) -> bool {
    ["take", "scatterAdd", "at", "withAt"].contains(&op.name)
}

/// The dtypes a row is tried with.
pub fn dtypes(op: &'static OpDef) -> Vec<DType> {
    if op.operands.first().is_some_and(|o| o.name == "key") && !by_attribute(op) {
        return vec![DType::U32];
    }
    DType::all().collect()
}

fn is_ruled(op: &OpDef, operand: usize) -> bool {
    // A list of operands that the rule speaks of is ruled whole.
    let n = operand.min(op.operands.len() - 1);
    n >= op.dtype.first && n < op.dtype.last
}

impl Recipe {
    /// The axes of a row for a dtype; the shapes are the small ones, or the one that several threads share.
    pub fn new(op: &'static OpDef, dtype: DType, parallel: bool) -> Recipe {
        let shapes = if parallel { shapes::parallel(op) } else { shapes::small(op) };
        let mut axes = vec![Axis { name: "shape".into(), values: shapes.iter().map(|s| s.name.clone()).collect() }];
        let mut push = |name: String, values: Vec<String>| {
            if values.len() > 1 {
                axes.push(Axis { name, values });
            }
        };
        let keyed = op.operands.first().is_some_and(|o| o.name == "key");
        for (i, def) in op.operands.iter().enumerate() {
            push(format!("form{i}"), forms(def));
            if def.name != "key" {
                push(format!("layout{i}"), Placement::ALL.iter().map(|p| p.name().into()).collect());
            }
            push(format!("dtype{i}"), operand_dtypes(op, i, def, dtype));
        }
        if op.variadic && !is_indexed(op) {
            push("operands".into(), names(&["1", "2", "3"]));
        }
        if op.operands.len() > 1 && shapes.iter().all(|s| s.others.is_empty()) && !takes_indices(op) {
            push("pairing".into(), names(&["same", "scalar", "row", "column", "first scalar"]));
        }
        if takes_indices(op) {
            push("indices".into(), names(&["vector", "scalar", "matrix", "none", "long"]));
        }
        if op.name == "withAt" {
            push("pairing".into(), names(&["same", "scalar"]));
        }
        push("values".into(), if keyed || op.operands.is_empty() { vec![] } else { fills(op) });
        for def in op.attrs {
            if !(def.name == "dtype" && by_attribute(op)) {
                push(axis_name(def).into(), attribute_values(op, def));
            }
        }
        for def in op.params {
            push(format!("number {}", def.name), names(&NUMBERS));
        }
        Recipe { op, dtype, shapes, axes }
    }

    /// The call of one choice on each axis; `None` where the choices do not go together (what inference refuses, and a layout
    /// that a shape cannot have).
    ///
    /// # Errors
    /// A sentence when inference fails by an internal error.
    pub fn plan(&self, assignment: &[usize]) -> Result<Option<Plan>, String> {
        let Some(mut plan) = self.assemble(assignment) else { return Ok(None) };
        let args: Vec<Arg> = plan
            .operands
            .iter()
            .map(|o| match o {
                PlannedOperand::Tensor(t) => Arg::Tensor(t.dtype),
                PlannedOperand::Weak(kind, _) => *kind,
                PlannedOperand::Absent => Arg::Absent,
            })
            .collect();
        let dims = plan
            .operands
            .iter()
            .map(|o| match o {
                PlannedOperand::Tensor(t) => Some(t.dims.clone()),
                PlannedOperand::Weak(..) => Some(Dims::new()),
                PlannedOperand::Absent => None,
            })
            .collect();
        let inferred = Attrs::decode(self.op, &plan.words).and_then(|attrs| infer::infer(self.op, &args, dims, &attrs));
        match inferred {
            Ok(inferred) => {
                let mut types: Vec<(DType, Dims)> = inferred.outputs;
                for operand in &plan.operands {
                    if let PlannedOperand::Tensor(t) = operand {
                        types.extend([(t.dtype, t.dims.clone()), (t.dtype, t.placement.base_dims(&t.dims))]);
                    }
                }
                let elements = types.iter().map(|t| t.1.iter().product::<usize>()).max();
                let bytes = types.iter().map(|t| t.0.bytes()).max();
                plan.largest = elements.unwrap_or(0) * bytes.unwrap_or(0);
                Ok(Some(plan))
            }
            Err(e) if e.code == Code::Internal => Err(format!("inference of {} {:?}: {e}", self.op.path(), plan.axes)),
            Err(_) => Ok(None),
        }
    }

    /// Attribute words and run-time numbers of a call on a first operand of this shape, chosen at random.
    pub fn attributes(op: &'static OpDef, dims: &[usize], rng: &mut Rng) -> Option<(Vec<f64>, Vec<f64>)> {
        let shape =
            Shapes { name: String::new(), first: dims.iter().copied().collect(), others: vec![], pairs: (vec![], vec![]) };
        let (mut words, mut numbers) = (Vec::new(), Vec::new());
        for def in op.attrs {
            let values = attribute_values(op, def);
            attribute_words(def, &values[rng.below(values.len())], &shape, &mut words, &mut numbers)?;
        }
        Some((words, numbers))
    }

    /// Gives a plan its elements.
    ///
    /// # Errors
    /// As [`values::array`].
    pub fn fill(&self, plan: Plan, rng: &mut Rng) -> Result<Case> {
        let operands = plan.operands.into_iter().map(|o| {
            Ok(match o {
                PlannedOperand::Tensor(t) => {
                    let base = values::array(t.dtype, &t.placement.base_dims(&t.dims), t.fill, rng)?;
                    Operand::tensor(base, t.placement, &t.dims)?
                }
                PlannedOperand::Weak(kind, bits) => Operand::Weak(kind, bits),
                PlannedOperand::Absent => Operand::Absent,
            })
        });
        let operands = operands.collect::<Result<Vec<_>>>()?;
        let Plan { words, numbers, device_word, axes, .. } = plan;
        Ok(Case { op: self.op, operands, words, numbers, device_word, axes })
    }

    /// How many values each axis has where all operands are tensors of the row's dtype.
    pub fn ordinary(&self) -> Vec<usize> {
        let of_operand = |name: &str| {
            let digits = name.strip_prefix("form").or(name.strip_prefix("dtype"));
            digits.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        };
        self.axes.iter().map(|a| if of_operand(&a.name) { 1 } else { a.values.len() }).collect()
    }

    /// A case of an assignment with every other value of one attribute or number after the other, where inference takes the
    /// operands with it.
    ///
    /// # Errors
    /// As [`Recipe::plan`].
    pub fn mistaken(&self, assignment: &[usize], case: &Case) -> Result<Vec<(String, Case)>, String> {
        let mut out = Vec::new();
        for (at, axis) in self.axes.iter().enumerate() {
            if !axis.name.starts_with("number ") && !self.op.attrs.iter().any(|a| axis_name(a) == axis.name) {
                continue;
            }
            for (n, value) in axis.values.iter().enumerate().filter(|(n, _)| *n != assignment[at]) {
                let mut other = assignment.to_vec();
                other[at] = n;
                if let Some(Plan { words, numbers, .. }) = self.plan(&other)? {
                    out.push((format!("{} taken for {value}", axis.name), Case { words, numbers, ..case.clone() }));
                }
            }
        }
        Ok(out)
    }

    fn assemble(&self, assignment: &[usize]) -> Option<Plan> {
        let op = self.op;
        let choice = |name: &str| -> &str {
            let at = self.axes.iter().position(|a| a.name == name);
            at.map_or("", |i| self.axes[i].values[assignment[i]].as_str())
        };
        let shape = &self.shapes[assignment[0]];
        let first = &shape.first;
        let mut words = Vec::new();
        let mut numbers = Vec::new();
        let mut device_word = None;
        for def in op.attrs {
            if def.kind == AttrKind::Device {
                device_word = Some(words.len());
            }
            if def.name == "dtype" && by_attribute(op) {
                words.push(self.dtype as u8 as f64);
            } else {
                let value = choice(axis_name(def));
                attribute_words(def, value, shape, &mut words, &mut numbers)?;
            }
        }
        for def in op.params {
            numbers.push(number(def, choice(&format!("number {}", def.name)), self.dtype)?);
        }
        let indexing = if is_indexed(op) { indexing(&words, first) } else { vec![] };
        let count = match op.variadic {
            true if is_indexed(op) => op.least_operands() + indexing.len(),
            true => choice("operands").parse().ok()?,
            false => op.operands.len(),
        };
        let mut operands = Vec::new();
        for i in 0..count {
            let def = op.operand(i);
            let (n, values) = (i.min(op.operands.len() - 1), choice("values"));
            let index = i.checked_sub(op.least_operands()).and_then(|k| indexing.get(k));
            let dtype = match choice(&format!("dtype{n}")) {
                _ if def.name == "key" => DType::U32,
                _ if matches!(index, Some(Indexing::Mask(_))) => DType::Bool,
                "" | "same" => self.dtype,
                name => DType::from_name(name)?,
            };
            match choice(&format!("form{n}")) {
                "" | "tensor" => {}
                "absent" => {
                    operands.push(PlannedOperand::Absent);
                    continue;
                }
                form => {
                    operands.push(weak(form, values, self.dtype, i)?);
                    continue;
                }
            }
            let dims = match index {
                Some(Indexing::Mask(under)) => under.iter().copied().collect(),
                _ => operand_dims(op, i, shape, choice("pairing"), choice("indices"), &words)?,
            };
            let placement = Placement::ALL
                .into_iter()
                .find(|p| p.name() == choice(&format!("layout{n}")))
                .unwrap_or(Placement::Contiguous);
            if !placement.fits(dims.len()) {
                return None;
            }
            let fill = match (def.name, values) {
                ("key", _) => Fill::Bits,
                ("indices", _) if index.is_some() => match index {
                    Some(Indexing::Axis(size)) => Fill::Index(*size),
                    _ => Fill::Ordinary(Domain::Any),
                },
                ("indices", _) => Fill::Index(first.get(axis_of(&words, first.len())?).copied().unwrap_or(0)),
                (_, "factors") => Fill::Factors,
                (_, "large quotients") if i > 0 => Fill::Factors,
                (_, "large quotients") => Fill::Steep,
                (_, "whole exponents") if i == 0 => Fill::Factors,
                (_, "whole exponents") => Fill::Whole,
                (_, "few numbers") => Fill::Few,
                (_, "few zeros") => Fill::Coin(1, 24),
                (_, "half zeros") => Fill::Coin(1, 2),
                (_, "many zeros") => Fill::Coin(23, 24),
                _ if op.domain == Domain::Matrix && i == 0 => Fill::Matrix,
                (_, "special") => Fill::Special,
                (_, "bits") => Fill::Bits,
                _ => Fill::Ordinary(op.domain),
            };
            // A repeated row would make the matrix singular.
            if fill == Fill::Matrix && placement == Placement::Broadcast {
                return None;
            }
            operands.push(PlannedOperand::Tensor(Planned { dtype, dims, placement, fill }));
        }
        // A call in which scalars took the place of every operand of this dtype is another dtype's case.
        let of_dtype = |o: &PlannedOperand| matches!(o, PlannedOperand::Tensor(t) if t.dtype == self.dtype);
        if !by_attribute(op) && !op.operands.is_empty() && !operands.iter().any(of_dtype) {
            return None;
        }
        Some(Plan { operands, words, numbers, device_word, axes: self.names(assignment).collect(), largest: 0 })
    }

    /// The choices of an assignment as (axis, value).
    pub fn names<'a>(&'a self, assignment: &'a [usize]) -> impl Iterator<Item = (String, String)> + 'a {
        self.axes.iter().zip(assignment).map(|(a, &v)| (a.name.clone(), a.values[v].clone()))
    }

    /// How the first operand of an assignment lies.
    pub fn placement(&self, assignment: &[usize]) -> Placement {
        let chosen = |name: &str| self.names(assignment).find(|(a, _)| a == name).map(|(_, v)| v);
        match chosen("form0").as_deref() {
            None | Some("tensor") => Placement::ALL.into_iter().find(|p| chosen("layout0").as_deref() == Some(p.name())),
            Some(_) => None,
        }
        .unwrap_or(Placement::Contiguous)
    }
}

/// The name of an attribute's axis: its own, unless that is taken by the operands' shapes.
fn axis_name(def: &AttrDef) -> &'static str {
    if def.name == "shape" { "new shape" } else { def.name }
}

/// The shape of a call's k-th index operand, which broadcasts to that of the first.
fn nth_index(first: &[usize], k: usize) -> Dims {
    first.iter().copied().skip(k % 2).collect()
}

fn forms(def: &OperandDef) -> Vec<String> {
    let mut out = names(&["tensor"]);
    if def.weak {
        out.extend(names(&["number", "bigint", "boolean"]));
    }
    if def.optional {
        out.extend(names(&["absent"]));
    }
    out
}

/// The dtypes an operand is tried with beside the row's; the first ruled one has it always.
fn operand_dtypes(op: &OpDef, i: usize, def: &OperandDef, dtype: DType) -> Vec<String> {
    match def.name {
        "key" | "fillValue" => vec![],
        "indices" => dtype_names(&[DType::I32, DType::I64, DType::U8, DType::I8, DType::U32]),
        "condition" => dtype_names(&[DType::Bool, DType::I32, DType::F32]),
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

fn fills(op: &OpDef) -> Vec<String> {
    match op.domain {
        Domain::Matrix => names(&["matrix"]),
        // An infinite point makes every result NaN or not, by the order of the algorithm's products.
        _ if op.namespace == Namespace::Fft => names(&["ordinary"]),
        _ if op.name == "prod" => names(&["factors", "special", "bits"]),
        _ if ["floorDivide", "remainder"].contains(&op.name) => names(&["ordinary", "special", "bits", "large quotients"]),
        // Whole exponents are a way of their own.
        _ if op.name == "pow" => names(&["ordinary", "special", "bits", "whole exponents"]),
        // Of many random elements some are zero and not all.
        _ if ["all", "any"].contains(&op.name) => names(&["special", "bits", "few zeros", "half zeros", "many zeros"]),
        // Two random elements are hardly ever equal, or one of them zero.
        _ if op.dtype.out == Out::Bool && op.operands.len() > 1 => names(&["ordinary", "special", "bits", "few numbers"]),
        _ => names(&["ordinary", "special", "bits"]),
    }
}

/// The weak scalar in the n-th operand's place; the third operand's is larger than the second's, so that they can be told apart.
fn weak(form: &str, values: &str, dtype: DType, n: usize) -> Option<PlannedOperand> {
    let float = dtype.is_float() || dtype.is_complex();
    let more = 2 * n.saturating_sub(1) as i64;
    let bigint = |v: i64| PlannedOperand::Weak(Arg::BigInt, (v + more) as u64);
    Some(match (form, values) {
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
        ("take" | "scatterAdd", 1) => Some(index_dims.iter().copied().collect()),
        ("scatterAdd", 2) => {
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
        ("stack", _) => Some(first.clone()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_axes_of_a_row_have_one_name() {
        for op in &ferrotensor_ops::OPS {
            let recipe = Recipe::new(op, DType::F32, false);
            let names: BTreeSet<&str> = recipe.axes.iter().map(|a| a.name.as_str()).collect();
            assert_eq!(names.len(), recipe.axes.len(), "{}: {:?}", op.path(), recipe.axes);
        }
    }
}

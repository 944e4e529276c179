//! Which circumstances a row is tried in: the axes of one (row, dtype), made from the row's operands, attributes and
//! parameters, and the call that one choice on each axis stands for.

mod operands;

use crate::attributes::{NUMBERS, attribute_values, attribute_words, indexing, names, number};
use crate::case::{Case, Operand, Placement};
use crate::shapes::{self, Shapes};
use crate::values::{self, Rng};
use ferrotensor_core::reference::Array;
use ferrotensor_core::{Code, DType, Dims, Result};
use ferrotensor_ops::attrs::Attrs;
use ferrotensor_ops::def::{AttrDef, AttrKind, OpDef};
use ferrotensor_ops::dtype_rule::Arg;
use ferrotensor_ops::infer;
pub use operands::is_indexed;
use operands::{PlannedOperand, fills, forms, operand_dtypes, takes_indices};

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
    /// Of each operand's definition, the places of its axes: planning asks for them millions of times.
    of_operands: Vec<OperandAxes>,
}

/// Where the axes of an operand are, as far as it has them.
struct OperandAxes {
    form: Option<usize>,
    layout: Option<usize>,
    dtype: Option<usize>,
}

/// A call before its operands have elements.
pub struct Plan {
    operands: Vec<PlannedOperand>,
    words: Vec<f64>,
    numbers: Vec<f64>,
    device_word: Option<usize>,
    /// Bytes of its largest operand or result in the widest of their dtypes: none of its temporaries is larger.
    pub largest: usize,
}

/// A recipe with the choice of a value on each of its axes.
struct Chosen<'a> {
    recipe: &'a Recipe,
    assignment: &'a [usize],
}

impl Chosen<'_> {
    /// The value on an axis; an empty text where there is no such axis.
    fn value(&self, axis: &str) -> &str {
        self.at(self.recipe.axes.iter().position(|a| a.name == axis))
    }

    /// The same of an axis by its place.
    fn at(&self, place: Option<usize>) -> &str {
        place.map_or("", |n| self.recipe.axes[n].values[self.assignment[n]].as_str())
    }

    /// Form of the n-th operand's definition.
    fn form(&self, n: usize) -> &str {
        self.at(self.recipe.of_operands[n].form)
    }

    /// Its dtype.
    fn dtype(&self, n: usize) -> &str {
        self.at(self.recipe.of_operands[n].dtype)
    }

    /// Its layout.
    fn layout(&self, n: usize) -> &str {
        self.at(self.recipe.of_operands[n].layout)
    }

    fn shape(&self) -> &Shapes {
        &self.recipe.shapes[self.assignment[0]]
    }
}

/// Whether the row's dtype is that of its `dtype` attribute because no operand has one.
fn by_attribute(op: &OpDef) -> bool {
    op.attrs.iter().any(|a| a.name == "dtype")
        && op.operands.first().is_none_or(|o| o.name == "key" || o.name == "fillValue")
}

/// The dtypes a row is tried with.
pub fn dtypes(op: &'static OpDef) -> Vec<DType> {
    if op.operands.first().is_some_and(|o| o.name == "key") && !by_attribute(op) {
        return vec![DType::U32];
    }
    DType::all().collect()
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
        push("values".into(), if keyed || op.operands.is_empty() { vec![] } else { fills(op, dtype) });
        for def in op.attrs {
            if !(def.name == "dtype" && by_attribute(op)) {
                push(axis_name(def).into(), attribute_values(op, def));
            }
        }
        for def in op.params {
            push(format!("number {}", def.name), names(&NUMBERS));
        }
        let place = |name: String| axes.iter().position(|a| a.name == name);
        let of_operand = |n: usize| OperandAxes {
            form: place(format!("form{n}")),
            layout: place(format!("layout{n}")),
            dtype: place(format!("dtype{n}")),
        };
        let of_operands = (0..op.operands.len()).map(of_operand).collect();
        Recipe { op, dtype, shapes, axes, of_operands }
    }

    /// Puts axes that mean nothing beside the other choices at their first value: the dtype and layout of what is no tensor.
    pub fn settle(&self, assignment: &mut [usize]) {
        for (n, OperandAxes { layout, dtype, .. }) in self.of_operands.iter().enumerate() {
            if !["", "tensor"].contains(&(Chosen { recipe: self, assignment }).form(n)) {
                [layout, dtype].into_iter().flatten().for_each(|&idle| assignment[idle] = 0);
            }
        }
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
            Err(e) if e.code == Code::Internal => {
                let axes: Vec<_> = self.names(assignment).collect();
                Err(format!("inference of {} {axes:?}: {e}", self.op.path()))
            }
            Err(_) => Ok(None),
        }
    }

    /// The shape of the first operand of a choice of shapes.
    pub fn first_dims(&self, choice: usize) -> &[usize] {
        &self.shapes[choice].first
    }

    /// Attribute words and run-time numbers of a call on a first operand of this shape, chosen at random.
    pub fn attributes(op: &'static OpDef, dims: &[usize], rng: &mut Rng) -> Option<(Vec<f64>, Vec<f64>)> {
        let shape =
            Shapes { name: String::new(), first: dims.iter().copied().collect(), others: vec![], pairs: (vec![], vec![]) };
        let (mut words, mut numbers) = (Vec::new(), Vec::new());
        for def in op.attrs {
            let values = attribute_values(op, def);
            attribute_words(op, def, &values[rng.below(values.len())], &shape, &mut words, &mut numbers)?;
        }
        Some((words, numbers))
    }

    /// Gives the plan of an assignment its elements.
    ///
    /// # Errors
    /// As [`values::repeated`].
    pub fn fill(&self, assignment: &[usize], plan: Plan, rng: &mut Rng) -> Result<Case> {
        let axes = self.names(assignment).collect();
        // What numbers among NaN are, few elements tell: these rows need all.
        let draw = if self.op.name.starts_with("nan") { values::array } else { values::repeated };
        self.made(plan, axes, |t| {
            let base = draw(t.dtype, &t.placement.base_dims(&t.dims), t.fill, rng)?;
            Operand::tensor(base, t.placement, &t.dims)
        })
    }

    /// The call of a plan whose elements are all zero: for what depends on none.
    ///
    /// # Errors
    /// As [`Array::new`].
    pub fn outline(&self, plan: Plan) -> Result<Case> {
        self.made(plan, vec![], |t| {
            let bytes = t.dims.iter().product::<usize>() * t.dtype.bytes();
            let logical = Array::new(t.dtype, &t.dims, vec![0; bytes])?;
            Ok(Operand::Tensor { base: logical.clone(), placement: Placement::Contiguous, logical })
        })
    }

    fn made(
        &self,
        plan: Plan,
        axes: Vec<(String, String)>,
        mut tensor: impl FnMut(operands::Planned) -> Result<Operand>,
    ) -> Result<Case> {
        let operands = plan.operands.into_iter().map(|o| match o {
            PlannedOperand::Tensor(t) => tensor(t),
            PlannedOperand::Weak(kind, bits) => Ok(Operand::Weak(kind, bits)),
            PlannedOperand::Absent => Ok(Operand::Absent),
        });
        let operands = operands.collect::<Result<Vec<_>>>()?;
        let Plan { words, numbers, device_word, .. } = plan;
        Ok(Case { op: self.op, operands, words, numbers, device_word, axes })
    }

    /// How many values each axis has where all operands are tensors of the row's dtype, of which some may be left out.
    pub fn ordinary(&self) -> Vec<usize> {
        let operand = |name: &str| {
            let digits = name.strip_prefix("form").or(name.strip_prefix("dtype"));
            digits.and_then(|n| n.parse().ok()).map(|n| self.op.operand(n))
        };
        // Masks of truth values and numbers go different ways.
        let fixed = |a: &Axis| operand(&a.name).is_some_and(|o| o.name != "mask");
        let forms = |a: &Axis| 1 + (a.values.get(1).is_some_and(|v| v == "absent")) as usize;
        self.axes.iter().map(|a| if fixed(a) { forms(a) } else { a.values.len() }).collect()
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
        let chosen = Chosen { recipe: self, assignment };
        let shape = chosen.shape();
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
                attribute_words(op, def, chosen.value(axis_name(def)), shape, &mut words, &mut numbers)?;
            }
        }
        for def in op.params {
            numbers.push(number(def, chosen.value(&format!("number {}", def.name)), self.dtype)?);
        }
        let indexing = if is_indexed(op) { indexing(&words, &shape.first) } else { vec![] };
        let count = match op.variadic {
            true if is_indexed(op) => op.least_operands() + indexing.len(),
            true => chosen.value("operands").parse().ok()?,
            false => op.operands.len(),
        };
        let operands = (0..count).map(|i| operands::planned(&chosen, i, &words, &indexing)).collect::<Option<Vec<_>>>()?;
        // A call in which scalars took the place of every operand of this dtype is another dtype's case.
        let of_dtype = |o: &PlannedOperand| matches!(o, PlannedOperand::Tensor(t) if t.dtype == self.dtype);
        if !by_attribute(op) && !op.operands.is_empty() && !operands.iter().any(of_dtype) {
            return None;
        }
        Some(Plan { operands, words, numbers, device_word, largest: 0 })
    }

    /// The choices of an assignment as (axis, value).
    pub fn names<'a>(&'a self, assignment: &'a [usize]) -> impl Iterator<Item = (String, String)> + 'a {
        self.axes.iter().zip(assignment).map(|(a, &v)| (a.name.clone(), a.values[v].clone()))
    }

    /// Whether all operands the row's dtype rule speaks of are of the row's dtype (or the first of those that say more), and so is
    /// what the row computes: what other calls do behind their conversions, these do.
    pub fn is_own(&self, assignment: &[usize]) -> bool {
        self.axes.iter().zip(assignment).all(|(axis, &value)| match axis.name.strip_prefix("dtype") {
            // A dtype that has to be named is an attribute like any other.
            Some("") => axis.values[value] == "none" || axis.values.iter().all(|v| v != "none"),
            Some(n) => value == 0 || n.parse().is_ok_and(|n| !operands::is_ruled(self.op, n)),
            None => true,
        })
    }

    /// How the first operand of an assignment lies.
    pub fn placement(&self, assignment: &[usize]) -> Placement {
        let chosen = Chosen { recipe: self, assignment };
        match self.of_operands.first() {
            Some(_) if ["", "tensor"].contains(&chosen.form(0)) => operands::placement(chosen.layout(0)),
            _ => Placement::Contiguous,
        }
    }
}

/// The name of an attribute's axis: its own, unless that is taken by the operands' shapes.
fn axis_name(def: &AttrDef) -> &'static str {
    if def.name == "shape" { "new shape" } else { def.name }
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

//! Gradients of every row against differences of its values: reverse mode, forward mode against reverse mode, and the gradient of the
//! gradient, in float64 and complex128, on the reference, with every choice of each attribute at small shapes.
//!
//! Operands are moved off the grid of quarters that the suite draws from, so that none lies on a kink: what happens there is a
//! convention, which differences cannot know.

mod arrays;
mod calls;
mod differences;
mod narrow;
mod pytorch;

use crate::Check;
use crate::case::{Case, Operand};
use crate::executor::{self, Known};
use crate::ledger;
use crate::values::Rng;
use arrays::{array, dot, first_of, hermitian, numbers, random, size};
use calls::cases;
use differences::{difference, near};
use ferrotensor_core::reference::Array;
use ferrotensor_core::{Code, DType, Dims, Error, Result};
use ferrotensor_ops::attrs::Attrs;
use ferrotensor_ops::def::OpDef;
use ferrotensor_ops::gradient::{self, Gradient};
use ferrotensor_ops::graph::{Def, Graph, Val};
use ferrotensor_ops::lower::{self, Operand as Lowered};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What of a row and dtype was compared.
#[derive(Clone, Debug, Default)]
struct Tally {
    first: usize,
    second: usize,
    /// Calls at which differences say nothing: near a jump, or not finite.
    undefined: usize,
}

static TALLIES: Mutex<BTreeMap<String, [Tally; 2]>> = Mutex::new(BTreeMap::new());
const DTYPES: [DType; 2] = [DType::F64, DType::C128];

/// For each kind of node a row that is lowered to it.
const BROKEN: [(&str, &str); 11] = [
    ("map", "square"),
    ("reduce", "prod"),
    ("scan", "cumulativeProd"),
    ("gather", "take"),
    ("scatter", "scatterAdd"),
    ("contract", "matmul"),
    ("window", "nn.conv"),
    ("sort", "sort"),
    ("routine", "linalg.solve"),
    ("view", "flip"),
    ("assemble", "pad"),
];

/// One check for each row, and one for each kind of node whose rule is broken.
pub fn trials() -> Vec<(String, Check)> {
    let rows = ferrotensor_ops::OPS.iter().map(|op| {
        let check: Check = Box::new(move || check_row(op));
        (format!("gradients/{}", op.path()), check)
    });
    let broken = BROKEN.iter().map(|(kind, row)| {
        let check: Check = Box::new(move || check_broken(kind, row));
        (format!("gradients/broken {kind}"), check)
    });
    let narrow = ferrotensor_ops::OPS.iter().map(|op| {
        let check: Check = Box::new(move || narrow::check(op).map(drop));
        (format!("gradients/narrow {}", op.path()), check)
    });
    let twice: Check = Box::new(one_operand_twice);
    rows.chain(broken)
        .chain(pytorch::trials())
        .chain(narrow)
        .chain([("gradients/one operand twice".into(), twice)])
        .collect()
}

fn check_row(op: &'static OpDef) -> Result<(), String> {
    let (mut tallies, mut problems) = ([Tally::default(), Tally::default()], Vec::new());
    for (dtype, tally) in DTYPES.into_iter().zip(&mut tallies) {
        for case in cases(op, dtype)? {
            if let Err(e) = check_case(&case, tally, None) {
                problems.push(format!("{dtype} {case}: {e}"));
            }
        }
    }
    TALLIES.lock().unwrap_or_else(PoisonError::into_inner).insert(op.path().into_owned(), tallies);
    if problems.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = problems.iter().take(4).cloned().collect();
    Err(format!("{} comparisons\n  {}", problems.len(), shown.join("\n  ")))
}

/// That a rule whose cotangents are a thousandth off is found, in each dtype.
fn check_broken(kind: &'static str, row: &str) -> Result<(), String> {
    let op = ferrotensor_ops::find(row).ok_or_else(|| format!("no row {row}"))?;
    for dtype in DTYPES {
        let cases = cases(op, dtype)?;
        let found = cases.iter().any(|case| check_case(case, &mut Tally::default(), Some(kind)).is_err());
        if !found && !cases.is_empty() {
            return Err(format!("nobody sees that the rule of {kind} is wrong in {row} of {dtype}"));
        }
    }
    Ok(())
}

/// A tensor that is two operands has the cotangent of each by itself: `x x` of which one is held still has x, not 2 x.
fn one_operand_twice() -> Result<(), String> {
    let (mut graph, mut inputs) = (Graph::default(), Vec::new());
    let number = |v: f64| array(DType::F64, &[], &[v]).map_err(told);
    let x = input(&mut graph, &mut inputs, number(3.0)?);
    let g = input(&mut graph, &mut inputs, number(1.0)?);
    let op = ferrotensor_ops::find("multiply").ok_or("no row")?;
    let (operands, attrs) = ([Lowered::Val(x), Lowered::Val(x)], Attrs::default());
    let y = lower::lower(&mut graph, op, &operands, &attrs, 0).map_err(told)?;
    let found = gradient::vjp(&mut graph, op, &operands, &attrs, 0, &y, &[Some(g)], &[true, false]).map_err(told)?;
    let built = Built { graph, operands: vec![], attrs, first_param: 0, inputs };
    let wanted: Vec<Val> = found.iter().flatten().copied().collect();
    let values = built.run(&built.inputs, &[], &wanted).map_err(told)?;
    match values.iter().map(numbers).collect::<Vec<_>>()[..] {
        [Some(ref only)] if only == &[3.0] && found[1].is_none() => Ok(()),
        ref other => Err(format!("{other:?}")),
    }
}

/// Compares what was differentiated with the checked-in list, where all rows were.
///
/// # Errors
/// The first lines that differ, in either direction.
pub fn check_file() -> Result<Option<String>, String> {
    let tallies = TALLIES.lock().unwrap_or_else(PoisonError::into_inner);
    if tallies.len() != ferrotensor_ops::OPS.len() {
        return Ok(None);
    }
    let line = |(row, tallies): (&String, &[Tally; 2])| {
        let gradient = ferrotensor_ops::find(row).map(|op| op.gradient);
        if let Some(Gradient::None(reason)) = gradient {
            return format!("{row}: none, {reason}");
        }
        let parts: Vec<String> = DTYPES
            .iter()
            .zip(tallies)
            .filter(|(_, t)| t.first > 0)
            .map(|(dtype, t)| format!("{dtype}{}", if t.second > 0 { ", twice" } else { "" }))
            .collect();
        match parts.is_empty() {
            true => format!("{row}: nothing to differentiate"),
            false => format!("{row}: {}", parts.join("; ")),
        }
    };
    let lines: Vec<String> = tallies.iter().map(line).collect();
    ledger::check_file("gradients", &lines)?;
    let all = || tallies.values().flatten();
    let with = tallies.values().filter(|t| t.iter().any(|t| t.first > 0)).count();
    let count = |f: fn(&Tally) -> usize| all().map(f).sum::<usize>();
    Ok(Some(format!(
        "gradients: {with} rows, {} without; {} calls, {} of them twice, {} at which differences say nothing",
        tallies.len() - with,
        count(|t| t.first),
        count(|t| t.second),
        count(|t| t.undefined)
    )))
}

/// A graph over the call's tensors and more inputs.
struct Built {
    graph: Graph,
    operands: Vec<Lowered>,
    attrs: Attrs,
    first_param: u16,
    inputs: Vec<Array>,
}

impl Built {
    fn new(case: &Case) -> Result<Built> {
        let (mut graph, mut inputs, mut weak, mut operands) = (Graph::default(), Vec::new(), 0, Vec::new());
        for operand in &case.operands {
            operands.push(match operand {
                Operand::Tensor { logical, .. } => Lowered::Val(input(&mut graph, &mut inputs, logical.clone())),
                Operand::Weak(kind, _) => {
                    weak += 1;
                    Lowered::Weak(weak - 1, *kind)
                }
                Operand::Absent => Lowered::Absent,
            });
        }
        Ok(Built { graph, operands, attrs: Attrs::decode(case.op, &case.words)?, first_param: weak, inputs })
    }

    /// The operands that have derivatives.
    fn wrt(&self) -> Vec<Option<Val>> {
        let float = |v: Val| matches!(self.graph.dtype(v), DType::F64 | DType::C128);
        let val = |o: &Lowered| if let Lowered::Val(v) = o { Some(*v).filter(|&v| float(v)) } else { None };
        self.operands.iter().map(val).collect()
    }

    fn run(&self, inputs: &[Array], params: &[u64], wanted: &[Val]) -> Result<Vec<Array>> {
        let known: Vec<Known> = inputs.iter().cloned().map(Known::exact).collect();
        let values = executor::unbounded(&self.graph, &known, params)?;
        wanted.iter().map(|v| values[v.0 as usize].clone().map(|k| k.array)).collect()
    }
}

fn input(graph: &mut Graph, inputs: &mut Vec<Array>, a: Array) -> Val {
    let dims: Dims = a.dims().iter().copied().collect();
    let v = graph.push(0, Def::Input(inputs.len() as u32), [(a.dtype(), dims)]);
    inputs.push(a);
    v
}

fn told(e: Error) -> String {
    format!("{:?}: {e}", e.code)
}

fn check_case(case: &Case, tally: &mut Tally, broken: Option<&'static str>) -> Result<(), String> {
    if matches!(case.op.gradient, Gradient::None(_)) {
        return Ok(());
    }
    let mut rng = Rng::named(&case.to_string());
    let mut built = Built::new(case).map_err(told)?;
    let wrt = built.wrt();
    if wrt.iter().all(Option::is_none) {
        return Ok(());
    }
    let params = case.params();
    let start = built.graph.nodes.len();
    let outputs = lower::lower(&mut built.graph, case.op, &built.operands, &built.attrs, built.first_param).map_err(told)?;
    let plain = built.graph.clone();
    // Narrower numbers on the way have no differences to speak of.
    if plain.values.iter().any(|v| matches!(v.dtype, DType::F16 | DType::BF16 | DType::F32 | DType::C64)) {
        return Ok(());
    }
    let values = match built.run(&built.inputs, &params, &outputs) {
        Ok(values) => values,
        Err(e) if e.code == Code::Internal => return Err(told(e)),
        // A call that fails has no gradient.
        Err(_) => return Ok(()),
    };
    // Cotangents of the outputs, directions of the operands, and a cotangent of each cotangent.
    let operands = built.inputs.len();
    let mut cotangents = Vec::new();
    let mut weights = Vec::new();
    for a in &values {
        let mut weight =
            if numbers(a).is_some() { Some(random(a.dtype(), a.dims(), &mut rng).map_err(told)?) } else { None };
        if let (Some(w), Some(keep)) = (&weight, spanned(case, weights.len())) {
            weight = Some(first_of(w, keep).map_err(told)?);
        }
        cotangents.push(weight.clone().map(|w| input(&mut built.graph, &mut built.inputs, w)));
        weights.push(weight.unwrap_or_else(|| a.clone()));
    }
    if cotangents.iter().all(Option::is_none) {
        return Ok(());
    }
    let mut directions: Vec<(usize, Array)> = Vec::new();
    let mut tangents = Vec::new();
    for v in &wrt {
        tangents.push(match *v {
            None => None,
            Some(v) => {
                let Def::Input(n) = built.graph.nodes[built.graph.values[v.0 as usize].node as usize].def else {
                    return Ok(());
                };
                let dims = built.graph.dims(v).clone();
                let mut d = random(built.graph.dtype(v), &dims, &mut rng).map_err(told)?;
                if reads_triangle(case.op) {
                    d = hermitian(&d).map_err(told)?;
                }
                directions.push((n as usize, d.clone()));
                Some(input(&mut built.graph, &mut built.inputs, d))
            }
        });
    }
    let scalar = |inputs: &[Array]| -> Result<f64> {
        let graph =
            Built { graph: plain.clone(), operands: vec![], attrs: Attrs::default(), first_param: 0, inputs: vec![] };
        Ok(dot(&weights, &graph.run(&inputs[..operands], &params, &outputs)?))
    };
    let asked: Vec<bool> = wrt.iter().map(Option::is_some).collect();
    let Built { graph, operands: lowered, attrs, first_param, inputs } = &mut built;
    let found = match broken {
        None => gradient::vjp(graph, case.op, lowered, attrs, *first_param, &outputs, &cotangents, &asked).map_err(told)?,
        Some(_) => {
            let seeds: Vec<(Val, Val)> = outputs.iter().zip(&cotangents).filter_map(|(&v, g)| Some((v, (*g)?))).collect();
            let values: Vec<Val> = wrt.iter().flatten().copied().collect();
            let facts = gradient::Facts { broken, ..Default::default() };
            let mut found = gradient::walk(graph, case.op.id(), start, &seeds, &values, facts).map_err(told)?.into_iter();
            wrt.iter().map(|v| v.and_then(|_| found.next().flatten())).collect()
        }
    };
    for (g, v) in found.iter().zip(&wrt) {
        let (Some(g), Some(v)) = (g, v) else { continue };
        if graph.dtype(*g) != graph.dtype(*v) || graph.dims(*g) != graph.dims(*v) {
            return Err(format!("a cotangent is {} {:?}", graph.dtype(*g), graph.dims(*g)));
        }
    }
    let first: Vec<(Val, Val)> = found.iter().zip(&wrt).filter_map(|(g, v)| Some(((*g)?, (*v)?))).collect();
    let moves = gradient::jvp(graph, case.op, lowered, attrs, *first_param, &outputs, &tangents)
        .map_err(|e| format!("jvp: {}", told(e)))?;
    let after = graph.clone();
    // Second order: cotangents of the gradient.
    let mut seeds = Vec::new();
    for (g, _) in &first {
        let (dtype, dims) = (graph.dtype(*g), graph.dims(*g).clone());
        seeds.push((*g, input(graph, inputs, random(dtype, &dims, &mut rng).map_err(told)?)));
    }
    let mut sources: Vec<Val> = wrt.iter().flatten().copied().collect();
    sources.extend(cotangents.iter().flatten());
    let facts = gradient::Facts::of(case.op, attrs);
    let second = gradient::walk(graph, case.op.id(), start, &seeds, &sources, facts)
        .map_err(|e| format!("second order: {}", told(e)))?;

    let wanted: Vec<Val> = first.iter().map(|(g, _)| *g).collect();
    let slope = built.run(&built.inputs, &params, &wanted).map_err(told)?;
    let along: Vec<Array> = first.iter().filter_map(|(_, v)| direction(&built, &directions, *v)).collect();
    let (is, of) = (dot(&slope, &along), size(&slope, &along));
    let should = difference(&built.inputs, &directions, &scalar).map_err(|e| format!("differences: {}", told(e)))?;
    if !near("vjp", is, should, of, size(&weights, &values))? {
        tally.undefined += 1;
        return Ok(());
    }
    tally.first += 1;
    let pairs: Vec<(Val, Array)> = moves.iter().zip(&weights).filter_map(|(m, w)| Some(((*m)?, w.clone()))).collect();
    let wanted: Vec<Val> = pairs.iter().map(|(m, _)| *m).collect();
    let tangent = built.run(&built.inputs, &params, &wanted).map_err(told)?;
    let by: Vec<Array> = pairs.into_iter().map(|(_, w)| w).collect();
    near("jvp", dot(&tangent, &by), Some(is), of, 0.0)?;

    if seeds.is_empty() {
        return Ok(());
    }
    // The gradient by its seeds, along directions of operands and cotangents.
    let mut more = directions.clone();
    for v in cotangents.iter().flatten() {
        let Def::Input(n) = built.graph.nodes[built.graph.values[v.0 as usize].node as usize].def else { return Ok(()) };
        let dims = built.graph.dims(*v).clone();
        more.push((n as usize, random(built.graph.dtype(*v), &dims, &mut rng).map_err(told)?));
    }
    let by: Vec<Array> = seeds.iter().filter_map(|(_, v)| known_input(&built, *v)).collect();
    let firsts: Vec<Val> = first.iter().map(|(g, _)| *g).collect();
    let scalar = |inputs: &[Array]| -> Result<f64> {
        let graph =
            Built { graph: after.clone(), operands: vec![], attrs: Attrs::default(), first_param: 0, inputs: vec![] };
        Ok(dot(&by, &graph.run(inputs, &params, &firsts)?))
    };
    let pairs: Vec<(Val, Array)> =
        second.iter().zip(&sources).filter_map(|(h, v)| Some(((*h)?, direction(&built, &more, *v)?))).collect();
    let wanted: Vec<Val> = pairs.iter().map(|(h, _)| *h).collect();
    let slope = built.run(&built.inputs, &params, &wanted).map_err(told)?;
    let along: Vec<Array> = pairs.into_iter().map(|(_, d)| d).collect();
    let should = difference(&built.inputs, &more, &scalar).map_err(|e| format!("second differences: {}", told(e)))?;
    let value = scalar(&built.inputs).map_err(told)?;
    if near("second order", dot(&slope, &along), should, size(&slope, &along), value.abs())? {
        tally.second += 1;
    }
    Ok(())
}

fn known_input(built: &Built, v: Val) -> Option<Array> {
    match built.graph.nodes[built.graph.values[v.0 as usize].node as usize].def {
        Def::Input(n) => built.inputs.get(n as usize).cloned(),
        _ => None,
    }
}

fn direction(built: &Built, directions: &[(usize, Array)], v: Val) -> Option<Array> {
    let Def::Input(at) = built.graph.nodes[built.graph.values[v.0 as usize].node as usize].def else { return None };
    directions.iter().find(|(n, _)| *n == at as usize).map(|(_, d)| d.clone())
}

/// Rows that read one triangle of a matrix and mean a symmetric (Hermitian) one: their gradients, as PyTorch's, are those of the whole.
fn reads_triangle(op: &OpDef) -> bool {
    ["cholesky", "eigh", "eigvalsh"].contains(&op.name)
}

/// Of singular vectors beyond the values, which span what is left and have no derivative: the axis of the vectors from behind, and how
/// many have one.
fn spanned(case: &Case, output: usize) -> Option<(usize, usize)> {
    let Some(Operand::Tensor { logical, .. }) = case.operands.first() else { return None };
    let axis = [Some(1), None, Some(2)].get(output).copied().flatten()?;
    let dims = logical.dims();
    let k = dims.iter().rev().take(2).copied().min()?;
    (case.op.name == "svd").then_some((axis, k))
}

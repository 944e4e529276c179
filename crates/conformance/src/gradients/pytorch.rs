//! PyTorch's gradients (golden/gradients.txt.gz, written by golden/gradients.py): what differences cannot know are conventions, at ties,
//! ends of ranges and special values.

use super::narrow::parts;
use super::trial::{Built, input, told};
use crate::Check;
use crate::case::{Case, Operand};
use crate::golden::{self, Golden};
use ferrotensor_core::DType;
use ferrotensor_core::reference::Array;
use ferrotensor_ops::gradient::{self, Facts, is_differentiable};
use ferrotensor_ops::graph::Val;
use ferrotensor_ops::lower;
use std::collections::BTreeMap;

const PACKED: &[u8] = include_bytes!("../../golden/gradients.txt.gz");
/// Rows that have a gradient, a line each.
const ROWS: &str = include_str!("../../expected/gradients.txt");
/// Those of them that PyTorch has no gradient of, and why.
const APART: [(&str, &str); 13] = [
    ("bitcast", "a view of other bits has none"),
    ("broadcastShapes", "is there for shapes, inside the library"),
    ("cbrt", "no such function"),
    ("full", "takes numbers alone"),
    ("heaviside", "not implemented"),
    ("interp", "no such function"),
    ("resultType", "is there for dtypes, inside the library"),
    ("bernoulliChances", "asks something of values, inside the library"),
    ("categoricalLogits", "asks something of values, inside the library"),
    ("choiceCount", "asks something of values, inside the library"),
    ("choiceWeights", "asks something of values, inside the library"),
    ("digitizeBins", "asks something of values, inside the library"),
    ("histogramEdges", "asks something of values, inside the library"),
];

/// Of each number, or of 1: digits are for differences to tell, and PyTorch's float64 has constants of float32 in it.
fn tolerance(dtype: DType) -> f64 {
    if matches!(dtype, DType::F64 | DType::C128) { 1e-7 } else { 2e-5 }
}

/// One test for each row, and one that all rows have theirs.
pub fn trials() -> Vec<(String, Check)> {
    let calls = match golden::unpacked(PACKED).and_then(|text| golden::records("gradients", &text)) {
        Ok(calls) => calls,
        Err(e) => return vec![("gradients/pytorch".into(), Box::new(move || Err(e)))],
    };
    let mut rows: BTreeMap<String, Vec<Golden>> = BTreeMap::new();
    for call in calls {
        rows.entry(call.case.op.path().into_owned()).or_default().push(call);
    }
    let check = |(row, calls): (String, Vec<Golden>)| -> (String, Check) {
        (format!("gradients/pytorch {row}"), Box::new(move || check_all(&calls)))
    };
    let names: Vec<String> = rows.keys().cloned().collect();
    let covered: Check = Box::new(move || covered(&names));
    let covered = ("gradients/pytorch has every row".to_string(), covered);
    rows.into_iter().map(check).chain([covered]).collect()
}

/// That golden/gradients.py has calls of all rows with a gradient, but for those that are told.
fn covered(names: &[String]) -> Result<(), String> {
    let lines = ROWS.lines().filter_map(|line| line.split_once(": "));
    // "nothing to differentiate" or "none, ...".
    let with = lines.filter(|(_, what)| !what.starts_with("no"));
    let (mut problems, apart) = (Vec::new(), |row: &str| APART.iter().any(|(name, _)| *name == row));
    for (row, _) in with {
        match (names.iter().any(|name| name == row), apart(row)) {
            (false, false) => problems.push(format!("no call of {row}")),
            (true, true) => problems.push(format!("{row} has calls")),
            _ => {}
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join(", ")) }
}

fn check_all(calls: &[Golden]) -> Result<(), String> {
    let failures: Vec<String> =
        calls.iter().filter_map(|c| check(c).err().map(|e| format!("line {}, {}: {e}", c.line, c.case))).collect();
    match failures.len() {
        0 => Ok(()),
        n => Err(format!("{n} of {} gradients\n  {}", calls.len(), failures[..n.min(5)].join("\n  "))),
    }
}

fn check(call: &Golden) -> Result<(), String> {
    let case = &call.case;
    let mut built = Built::new(case).map_err(told)?;
    let differentiable = |o: &Operand| matches!(o, Operand::Tensor { logical, .. } if is_differentiable(logical.dtype()));
    let asked: Vec<bool> = case.operands.iter().map(differentiable).collect();
    let outputs = lower::lower(&mut built.graph, case.op, &built.operands, &built.attrs, built.first_param).map_err(told)?;
    // Results are known when a gradient is asked for.
    let values = built.run(&built.inputs, &case.params(), &outputs).map_err(told)?;
    let known: Vec<Val> = values.into_iter().map(|a| input(&mut built.graph, &mut built.inputs, a)).collect();
    let given = |n: usize| call.cotangents.get(n).cloned().flatten();
    let mut cotangents = Vec::new();
    for n in 0..known.len() {
        cotangents.push(given(n).map(|a| input(&mut built.graph, &mut built.inputs, a)));
    }
    let (start, found) = (built.graph.nodes.len(), vjp(&mut built, call, &known, &cotangents, &asked)?);
    for (n, wanted) in call.gradients.iter().enumerate().filter(|(n, _)| asked[*n]) {
        let got = sum(&built, call, &[found[n]])?;
        compare(n, got, wanted, case).map_err(|e| format!("operand {n}: {e}"))?;
    }
    if call.seconds.is_empty() {
        return Ok(());
    }
    let (second, through) = twice(&mut built, call, start, &found, &known, &asked)?;
    for (n, wanted) in call.seconds.iter().enumerate().filter(|(n, _)| asked[*n]) {
        let got = sum(&built, call, &[second[n], through[n]])?;
        compare(n, got, wanted, case).map_err(|e| format!("operand {n}, twice: {e}"))?;
    }
    Ok(())
}

fn vjp(
    built: &mut Built,
    call: &Golden,
    known: &[Val],
    cotangents: &[Option<Val>],
    asked: &[bool],
) -> Result<Vec<Option<Val>>, String> {
    let Built { graph, operands, attrs, first_param, .. } = built;
    gradient::vjp(graph, call.case.op, operands, attrs, *first_param, known, cotangents, asked).map_err(told)
}

type Parts = Vec<Option<Val>>;

/// Of each operand the gradients of its own and by way of the results, of the gradients that were found, weighed.
fn twice(
    built: &mut Built,
    call: &Golden,
    start: usize,
    found: &[Option<Val>],
    known: &[Val],
    asked: &[bool],
) -> Result<(Parts, Parts), String> {
    let mut seeds = Vec::new();
    for (g, weight) in found.iter().zip(&call.weights) {
        if let (Some(g), Some(Some(weight))) = (g, weight) {
            seeds.push((*g, input(&mut built.graph, &mut built.inputs, weight.clone())));
        }
    }
    let tensors = built.operands.iter().zip(asked);
    let operands: Parts =
        tensors.map(|(o, &asked)| if let lower::Operand::Val(v) = o { Some(*v).filter(|_| asked) } else { None }).collect();
    let sources: Vec<Val> = operands.iter().flatten().chain(known).copied().collect();
    let (op, facts) = (call.case.op, Facts::of(call.case.op, &built.attrs));
    let second = gradient::walk(&mut built.graph, op.id(), start, &seeds, &sources, facts).map_err(told)?;
    let (own, by_results) = second.split_at(sources.len() - known.len());
    let mut own = own.iter().copied();
    let own: Parts = operands.iter().map(|v| v.and_then(|_| own.next().flatten())).collect();
    let through = match by_results.iter().any(Option::is_some) {
        true => vjp(built, call, known, by_results, asked)?,
        false => vec![None; own.len()],
    };
    Ok((own, through))
}

/// The numbers of what is there, added up; none for zeros.
fn sum(built: &Built, call: &Golden, terms: &[Option<Val>]) -> Result<Option<Vec<f64>>, String> {
    let there: Vec<Val> = terms.iter().flatten().copied().collect();
    let arrays = built.run(&built.inputs, &call.case.params(), &there).map_err(told)?;
    Ok(arrays.iter().map(parts).reduce(|a, b| a.iter().zip(&b).map(|(x, y)| x + y).collect()))
}

/// Nothing stands for zeros. Where PyTorch has NaN it has no opinion, and of NaN anything is as good; where it has infinity there is no
/// number.
fn compare(n: usize, got: Option<Vec<f64>>, wanted: &Option<Option<Array>>, case: &Case) -> Result<(), String> {
    let (Some(wanted), Some(Operand::Tensor { logical, .. })) = (wanted, case.operands.get(n)) else { return Ok(()) };
    let (tolerance, operand) = (tolerance(logical.dtype()), parts(logical));
    let zeros = || vec![0.0; operand.len()];
    let (got, wanted) = (got.unwrap_or_else(zeros), wanted.as_ref().map_or_else(zeros, parts));
    if got.len() != wanted.len() || got.len() != operand.len() {
        return Err(format!("{} numbers instead of {}", got.len(), wanted.len()));
    }
    let agree = |n: &usize| {
        let (is, should) = (got[*n], wanted[*n]);
        let near = (is - should).abs() <= tolerance * should.abs().max(1.0);
        near || should.is_nan() || operand[*n].is_nan() || should.is_infinite() && !is.is_finite()
    };
    match (0..got.len()).find(|n| !agree(n)) {
        None => Ok(()),
        Some(at) => Err(format!("number {at}, of {}, is {}, should be {}", operand[at], got[at], wanted[at])),
    }
}

//! Gradients of every row against differences of its values: reverse mode, forward mode against reverse mode, and the gradient of the
//! gradient, in float64 and complex128, on the reference, with every choice of each attribute at small shapes.
//!
//! Operands are moved off the grid of quarters that the suite draws from, so that none lies on a kink: what happens there is a
//! convention, which differences cannot know.

mod arrays;
pub(crate) mod calls;
mod comparison;
mod differences;
mod narrow;
mod pytorch;
mod results;
mod rules;
pub(crate) mod trial;

use crate::Check;
use crate::breadth;
use crate::case::{Case, Operand, Placement};
use crate::ledger;
use arrays::{array, numbers};
use calls::cases;
use ferrotensor_core::DType;
use ferrotensor_ops::attrs::Attrs;
use ferrotensor_ops::def::OpDef;
use ferrotensor_ops::gradient::{self, Gradient};
use ferrotensor_ops::graph::{Graph, Val};
use ferrotensor_ops::lower::{self, Operand as Lowered};
use results::Spoiled;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use trial::{Built, How, input, told};

/// What of a row and dtype was compared.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    first: usize,
    second: usize,
    /// Calls at which differences say nothing: near a jump, or not finite.
    undefined: usize,
}

static TALLIES: Mutex<BTreeMap<String, [(Tally, Spoiled); 2]>> = Mutex::new(BTreeMap::new());
const DTYPES: [DType; 2] = [DType::F64, DType::C128];

/// One check for each row, and one for the rules of each dtype.
pub fn trials() -> Vec<(String, Check)> {
    let rows = ferrotensor_ops::OPS.iter().map(|op| {
        let check: Check = Box::new(move || check_row(op));
        (format!("gradients/{}", op.path()), check)
    });
    // What spoils the rules tells comparisons from each other, and changes with neither.
    let rules = DTYPES.iter().filter(|_| breadth::is_whole()).map(|&dtype| {
        let check: Check = Box::new(move || rules::check(dtype));
        (format!("gradients/wrong rules of {dtype}"), check)
    });
    let narrow = ferrotensor_ops::OPS.iter().map(|op| {
        let check: Check = Box::new(move || narrow::check(op).map(drop));
        (format!("gradients/narrow {}", op.path()), check)
    });
    let twice: Check = Box::new(one_operand_twice);
    let special: Check = Box::new(special_matrices);
    let elsewhere: Check = Box::new(results_of_another_computation);
    let single = [
        ("gradients/results of another computation".into(), elsewhere),
        ("gradients/one operand twice".into(), twice),
        ("gradients/special matrices".into(), special),
    ];
    rules.chain(rows).chain(pytorch::trials()).chain(narrow).chain(single).collect()
}

fn check_row(op: &'static OpDef) -> Result<(), String> {
    let (mut found, mut problems) = (<[(Tally, Spoiled); 2]>::default(), Vec::new());
    for (dtype, (tally, spoiled)) in DTYPES.into_iter().zip(&mut found) {
        let cases = cases(op, dtype)?;
        for case in &cases {
            if let Err(e) = trial::check(case, tally, How::Whole, &mut |right| spoiled.meet(right)) {
                problems.push(format!("{dtype} {case}: {e}"));
            }
        }
        if tally.first > 0 {
            let operands = cases.iter().flat_map(|case| case.operands.iter().enumerate());
            let moves = |o: &Operand| matches!(o, Operand::Tensor { logical, .. } if DTYPES.contains(&logical.dtype()));
            operands.filter(|(_, o)| moves(o)).for_each(|(n, _)| spoiled.expect("vjp", n));
        }
        problems.extend(spoiled.counts().1.into_iter().map(|missed| format!("{dtype}: nobody sees {missed}")));
    }
    TALLIES.lock().unwrap_or_else(PoisonError::into_inner).insert(op.path().into_owned(), found);
    if problems.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = problems.iter().take(4).cloned().collect();
    Err(format!("{} comparisons\n  {}", problems.len(), shown.join("\n  ")))
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

/// Matrices whose factors have no derivatives where what is made of them has one: equal singular values, and a determinant of 0 (once:
/// twice PyTorch has none either).
fn special_matrices() -> Result<(), String> {
    let calls: [(&str, &[f64], [usize; 2]); 2] =
        [("linalg.pinv", &[1.0, 0.0, 0.0, 1.0, 0.0, 0.0], [3, 2]), ("linalg.det", &[1.0, 2.0, 2.0, 4.0], [2, 2])];
    for (row, numbers, dims) in calls {
        let op = ferrotensor_ops::find(row).ok_or("no such row")?;
        let operand = array(DType::F64, &dims, numbers).and_then(|a| Operand::tensor(a, Placement::Contiguous, &dims));
        let numbers = op.params.iter().map(|_| f64::NAN).collect();
        let operands = vec![operand.map_err(told)?];
        let case = Case { op, operands, words: vec![], numbers, device_word: None, axes: vec![] };
        let mut tally = Tally::default();
        match trial::check(&case, &mut tally, How::Whole, &mut |_| {}) {
            Err(e) if row == "linalg.pinv" || !e.starts_with("second order") => return Err(format!("{row}: {e}")),
            _ if tally.first == 0 => return Err(format!("{row}: nothing was compared")),
            _ => {}
        }
    }
    Ok(())
}

/// Extremes of what was rounded are not equal to any element when they come from elsewhere.
fn results_of_another_computation() -> Result<(), String> {
    for row in ["linalg.matrixNorm", "linalg.cond", "std", "linalg.vectorNorm", "softmax", "logsumexp", "nn.crossEntropy"] {
        let op = ferrotensor_ops::find(row).ok_or("no such row")?;
        for case in cases(op, DType::F64)? {
            trial::check(&case, &mut Tally::default(), How::Elsewhere, &mut |_| {}).map_err(|e| format!("{case}: {e}"))?;
        }
    }
    Ok(())
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
    let line = |(row, tallies): (&String, &[(Tally, Spoiled); 2])| {
        let gradient = ferrotensor_ops::find(row).map(|op| op.gradient);
        if let Some(Gradient::None(reason)) = gradient {
            return format!("{row}: none, {reason}");
        }
        let parts: Vec<String> = DTYPES
            .iter()
            .zip(tallies)
            .filter(|(_, (t, _))| t.first > 0)
            .map(|(dtype, (t, _))| format!("{dtype}{}", if t.second > 0 { ", twice" } else { "" }))
            .collect();
        match parts.is_empty() {
            true => format!("{row}: nothing to differentiate"),
            false => format!("{row}: {}", parts.join("; ")),
        }
    };
    let lines: Vec<String> = tallies.iter().map(line).collect();
    ledger::check_file("gradients", &lines)?;
    let all = || tallies.values().flatten().map(|(tally, _)| tally);
    let with = tallies.values().filter(|t| t.iter().any(|(t, _)| t.first > 0)).count();
    let count = |f: fn(&Tally) -> usize| all().map(f).sum::<usize>();
    let spoiled = || tallies.values().flatten().map(|(_, spoiled)| spoiled.counts());
    let (mut mutants, mut missed) = (spoiled().map(|s| s.0).sum::<usize>(), spoiled().map(|s| s.1.len()).sum::<usize>());
    let results = mutants;
    if let Some((caught, all)) = rules::check_file(DTYPES)? {
        (mutants, missed) = (mutants + all, missed + all - caught);
    }
    Ok(Some(format!(
        "gradients: {with} rows, {} without; {} calls, {} of them twice, {} at which differences say nothing\n\
         mutants of gradients: {} of {mutants} caught, {results} of results and {} of rules",
        tallies.len() - with,
        count(|t| t.first),
        count(|t| t.second),
        count(|t| t.undefined),
        mutants - missed,
        mutants - results,
    )))
}

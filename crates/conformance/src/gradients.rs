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
mod trial;

use crate::Check;
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
    let special: Check = Box::new(special_matrices);
    let elsewhere: Check = Box::new(results_of_another_computation);
    let single = [
        ("gradients/results of another computation".into(), elsewhere),
        ("gradients/one operand twice".into(), twice),
        ("gradients/special matrices".into(), special),
    ];
    rows.chain(broken).chain(pytorch::trials()).chain(narrow).chain(single).collect()
}

fn check_row(op: &'static OpDef) -> Result<(), String> {
    let (mut tallies, mut problems) = ([Tally::default(), Tally::default()], Vec::new());
    for (dtype, tally) in DTYPES.into_iter().zip(&mut tallies) {
        for case in cases(op, dtype)? {
            if let Err(e) = trial::check(&case, tally, How::Whole) {
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
        let found = cases.iter().any(|case| trial::check(case, &mut Tally::default(), How::Broken(kind)).is_err());
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
        match trial::check(&case, &mut tally, How::Whole) {
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
            trial::check(&case, &mut Tally::default(), How::Elsewhere).map_err(|e| format!("{case}: {e}"))?;
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

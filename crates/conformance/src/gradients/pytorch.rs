//! PyTorch's gradients (golden/gradients.txt.gz, written by golden/gradients.py): what differences cannot know are conventions, at ties,
//! ends of ranges and special values.

use super::arrays::numbers;
use super::trial::{Built, input, told};
use crate::Check;
use crate::case::Operand;
use crate::golden::{self, Golden};
use ferrotensor_core::reference::Array;
use ferrotensor_ops::gradient;
use ferrotensor_ops::lower;
use std::collections::BTreeMap;

const PACKED: &[u8] = include_bytes!("../../golden/gradients.txt.gz");
/// Of each number, or of 1: digits are for differences to tell, and PyTorch's float64 has constants of float32 in it.
const TOLERANCE: f64 = 1e-7;

/// One test for each row.
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
    rows.into_iter().map(check).collect()
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
    let wrt = built.wrt();
    let outputs = lower::lower(&mut built.graph, case.op, &built.operands, &built.attrs, built.first_param).map_err(told)?;
    let mut cotangents = Vec::new();
    for n in 0..outputs.len() {
        let given = call.cotangents.get(n).cloned().flatten();
        cotangents.push(given.map(|a| input(&mut built.graph, &mut built.inputs, a)));
    }
    let asked: Vec<bool> = wrt.iter().map(Option::is_some).collect();
    let Built { graph, operands, attrs, first_param, .. } = &mut built;
    let found = gradient::vjp(graph, case.op, operands, attrs, *first_param, &outputs, &cotangents, &asked).map_err(told)?;
    for (n, wanted) in call.gradients.iter().enumerate() {
        let (Some(wanted), Some(_)) = (wanted, wrt.get(n).copied().flatten()) else { continue };
        let got = match found[n] {
            Some(g) => built.run(&built.inputs, &case.params(), &[g]).map_err(told)?.into_iter().next(),
            None => None,
        };
        let operand = match &case.operands[n] {
            Operand::Tensor { logical, .. } => numbers(logical).unwrap_or_default(),
            _ => vec![],
        };
        compare(got.as_ref(), wanted.as_ref(), &operand).map_err(|e| format!("operand {n}: {e}"))?;
    }
    Ok(())
}

/// Nothing stands for zeros. Where PyTorch has NaN it has no opinion, and of NaN anything is as good; where it has infinity there is no
/// number.
fn compare(got: Option<&Array>, wanted: Option<&Array>, operand: &[f64]) -> Result<(), String> {
    let list = |a: Option<&Array>| a.map_or_else(|| Some(vec![0.0; operand.len()]), numbers).unwrap_or_default();
    let (got, wanted) = (list(got), list(wanted));
    if got.len() != wanted.len() || got.len() != operand.len() {
        return Err(format!("{} numbers instead of {}", got.len(), wanted.len()));
    }
    let agree = |n: &usize| {
        let (is, should) = (got[*n], wanted[*n]);
        let near = (is - should).abs() <= TOLERANCE * should.abs().max(1.0);
        near || should.is_nan() || operand[*n].is_nan() || should.is_infinite() && !is.is_finite()
    };
    match (0..got.len()).find(|n| !agree(n)) {
        None => Ok(()),
        Some(at) => Err(format!("number {at}, of {}, is {}, should be {}", operand[at], got[at], wanted[at])),
    }
}

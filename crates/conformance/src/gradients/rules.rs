//! The rules compared: each part of a kernel, a view or a scalar instruction through which a cotangent goes, wrong in one way at a time,
//! must be noticed in some call of some row.
//!
//! The rules stay as they are; the graph that is differentiated is another one, with the same values: x becomes `c + f(x - c)`, where c is
//! the value of x as an input, which nothing is derived by. So whatever comes to x on its way back goes through the transpose of f.

mod detour;
mod site;

use super::calls::cases;
use super::trial::{How, Trial, told};
use crate::ledger;
use crate::values::Rng;
use detour::Change;
use ferrotensor_core::{Code, DType};
use ferrotensor_ops::gradient::Gradient;
use site::Site;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Places of one call that are tried for a change: a program may have hundreds of products.
const PLACES: usize = 4;

/// Whether anything noticed, by rule and change.
type Fates = BTreeMap<(String, Change), bool>;

static FOUND: Mutex<BTreeMap<u8, Fates>> = Mutex::new(BTreeMap::new());

/// Breaks all rules of a dtype.
///
/// # Errors
/// Those that nobody notices.
pub fn check(dtype: DType) -> Result<(), String> {
    let mut fates = Fates::new();
    for op in ferrotensor_ops::OPS.iter().filter(|op| !matches!(op.gradient, Gradient::None(_))) {
        for case in cases(op, dtype)? {
            let mut rng = Rng::named(&case.to_string());
            if let Some(trial) = Trial::new(&case, &mut rng, How::Whole).map_err(told)? {
                broken(&trial, &mut fates).map_err(|e| format!("{case}: {e}"))?;
            }
        }
    }
    let missed: Vec<String> = fates
        .iter()
        .filter(|(_, caught)| !**caught)
        .map(|((rule, change), _)| format!("{rule}: {}", change.name()))
        .collect();
    let of = fates.len();
    FOUND.lock().unwrap_or_else(PoisonError::into_inner).insert(dtype as u8, fates);
    match missed.len() {
        0 => Ok(()),
        n => Err(format!("nobody sees {n} of {of} wrong rules of {dtype}\n  {}", missed.join("\n  "))),
    }
}

/// Breaks the rules that a call goes through and that nobody has noticed yet.
fn broken(trial: &Trial, fates: &mut Fates) -> Result<(), String> {
    let mut should = None;
    let mut tried: BTreeMap<(String, Change), usize> = BTreeMap::new();
    for site in site::of(&trial.plain, &trial.wrt) {
        for change in Change::ALL {
            let key = (site.rule.clone(), change);
            let count = tried.entry(key.clone()).or_default();
            if fates.get(&key) == Some(&true) || *count == PLACES {
                continue;
            }
            *count += 1;
            if should.is_none() {
                should = Some(trial.should().map_err(told)?);
                let (graph, inputs) = (trial.plain.clone(), trial.operands().to_vec());
                let whole = trial.walked(graph, inputs, &trial.outputs, should.flatten()).map_err(told)?;
                // What is not right without the row's own rule, or not known, tells nothing.
                if whole.judged() != Ok(true) {
                    return Ok(());
                }
            }
            if let Some(noticed) = noticed(trial, &site, change, should.flatten())? {
                *fates.entry(key).or_default() |= noticed;
            }
        }
    }
    Ok(())
}

/// Whether a comparison fails with a changed rule; nothing where the change is none.
fn noticed(trial: &Trial, site: &Site, change: Change, should: Option<f64>) -> Result<Option<bool>, String> {
    let mut inputs = trial.operands().to_vec();
    let Some((graph, moved)) = detour::around(trial, site, change, &mut inputs).map_err(told)? else { return Ok(None) };
    let outputs: Vec<_> = trial.outputs.iter().map(|v| moved[v.0 as usize]).collect();
    match trial.walked(graph, inputs, &outputs, should) {
        // Where a value is infinite the graph has others, which would be noticed for another reason.
        Ok(found) => Ok(found.sum().is_finite().then(|| found.judged().is_err())),
        Err(e) if e.code == Code::Internal => Err(told(e)),
        Err(_) => Ok(None),
    }
}

/// Compares the rules that were met with the checked-in list, where all were.
///
/// # Errors
/// The first lines that differ, in either direction.
pub fn check_file(dtypes: [DType; 2]) -> Result<Option<(usize, usize)>, String> {
    let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if found.len() != dtypes.len() {
        return Ok(None);
    }
    let mut lines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for dtype in dtypes {
        for (rule, _) in found.get(&(dtype as u8)).into_iter().flat_map(BTreeMap::keys) {
            let met = lines.entry(rule).or_default();
            if met.last() != Some(&dtype.name()) {
                met.push(dtype.name());
            }
        }
    }
    let lines: Vec<String> = lines.iter().map(|(rule, met)| format!("{rule}: {}", met.join(", "))).collect();
    ledger::check_file("rules", &lines)?;
    let all = || found.values().flat_map(BTreeMap::values);
    Ok(Some((all().filter(|caught| **caught).count(), all().count())))
}

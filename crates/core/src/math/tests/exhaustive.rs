//! The checked-in sweep over all float32 inputs is about the functions there are.

use super::super::fingerprint;
use crate::scalar::MathFn;
use std::collections::BTreeMap;

const RESULTS: &str = include_str!("../../../golden/exhaustive_f32.txt");

/// Fewer inputs are not even a sample; `npm run test:slow` completes what is one.
const FEWEST: u64 = 1 << 22;

#[test]
fn every_function_of_one_argument_has_an_up_to_date_sweep_below_one_unit() {
    let mut lines: BTreeMap<&str, Vec<&str>> = RESULTS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(' ').collect::<Vec<_>>())
        .map(|fields| (fields[0], fields))
        .collect();
    let again = "run `npm run test:slow`";
    for f in MathFn::ALL.iter().filter(|f| f.arity() == 1) {
        let fields = lines.remove(f.name()).unwrap_or_else(|| panic!("no sweep of {}: {again}", f.name()));
        let [_, inputs, error, _, own, _, hash] = fields[..] else { panic!("{fields:?} has not seven fields") };
        assert_eq!(hash, format!("{:016x}", fingerprint(*f)), "{} has changed since its sweep: {again}", f.name());
        assert!(inputs.parse::<u64>().is_ok_and(|n| n >= FEWEST), "{} has {inputs} inputs: {again}", f.name());
        assert!(error.parse::<f64>().is_ok_and(|e| e < 1.0), "{} errs by {error}", f.name());
        // Only these two have zeros that are no factors of their formulas.
        let exempt = matches!(f, MathFn::Lgamma | MathFn::Digamma);
        assert!(exempt || own == error, "{} errs by {own} of its own units", f.name());
    }
    assert!(lines.is_empty(), "sweeps of functions that are gone: {:?}", lines.keys());
}

//! The conformance suite: `cargo test --release -p ferrotensor-conformance [-- FILTER]`.
//!
//! `EXPECT_ISA=baseline,avx2` and `EXPECT_BACKENDS=cpu` make what is listed and missing a failure; what is not listed and
//! missing is a printed, counted skip. `UPDATE_EXPECT=1` rewrites `expected/cpu.txt` and `docs/accuracy.md`.
// A test runner reports to the terminal.
#![allow(clippy::print_stdout)]

use ferrotensor_conformance::case::Placement;
use ferrotensor_conformance::{golden, guards, ledger, machine, programs, random, refusals, rows, saboteur};
use ferrotensor_cpu::Tier;
use libtest_mimic::{Arguments, Failed, FormatSetting, Trial};
use std::process::ExitCode;
use std::sync::Arc;

fn trial(name: String, f: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    Trial::test(name, || f().map_err(Failed::from))
}

fn listed(variable: &str) -> Vec<String> {
    std::env::var(variable).unwrap_or_default().split(',').filter(|s| !s.is_empty()).map(String::from).collect()
}

fn main() -> ExitCode {
    let mut args = Arguments::from_args();
    // Twenty thousand lines help nobody; failures are shown in full either way.
    if args.format.is_none() && !args.list {
        args.format = Some(FormatSetting::Terse);
    }
    let (present, absent) = machine::tiers();
    let mut problems: Vec<String> = Vec::new();
    for name in listed("EXPECT_ISA") {
        if !present.iter().any(|t| t.name() == name) {
            problems.push(format!("EXPECT_ISA lists {name}, which this machine or build lacks"));
        }
    }
    problems.extend(
        listed("EXPECT_BACKENDS")
            .into_iter()
            .filter(|n| n != "cpu")
            .map(|n| format!("EXPECT_BACKENDS lists {n}, which is not built")),
    );

    let filter = args.filter.clone().unwrap_or_default();
    let whole = filter.is_empty() && args.skip.is_empty() && !args.list;
    let name = |group: &str, placement: Placement, tier: Tier| format!("{group}/{}/{}", placement.name(), tier.name());
    // Planning every row takes seconds: only those whose tests the filter may name.
    let wanted = |group: &str| Placement::ALL.iter().any(|&p| present.iter().any(|&t| name(group, p, t).contains(&filter)));
    let groups = match rows::groups(wanted) {
        Ok(groups) => groups,
        Err(e) => {
            println!("{e}");
            return ExitCode::FAILURE;
        }
    };
    let planned: Vec<(String, (String, String))> = if whole {
        groups.iter().flat_map(|g| g.planned().map(|circumstance| (g.name(), circumstance))).collect()
    } else {
        Vec::new()
    };
    let (mut trials, mut cases) = (Vec::new(), 0);
    for group in groups {
        for placement in group.placements() {
            for &tier in &present {
                cases += group.count(placement);
                let own = Arc::clone(&group);
                trials.push(trial(name(&group.name(), placement, tier), move || own.check(placement, tier)));
            }
        }
    }
    let others =
        [programs::trials(), guards::trials(), refusals::trials(), golden::trials(), random::trials(), saboteur::trials()];
    trials.extend(others.into_iter().flatten().map(|(name, f)| trial(name, f)));

    let conclusion = libtest_mimic::run(&args, trials);
    if args.list {
        return ExitCode::SUCCESS;
    }
    for name in &absent {
        println!("skipped: {cases} row cases on {name} (this machine lacks it)");
    }
    if whole {
        println!("compared cases by axis:{}", ledger::counts());
        problems.extend(ledger::check_coverage(planned.into_iter()).err());
        if conclusion.num_failed == 0 {
            problems.extend(ledger::check_files().err());
        }
    }
    println!("row cases: {cases} on {} tiers, each with fusion on and off", present.len());
    for problem in &problems {
        println!("FAILED: {problem}");
    }
    println!("{} passed, {} failed", conclusion.num_passed, conclusion.num_failed + problems.len() as u64);
    if conclusion.has_failed() || !problems.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

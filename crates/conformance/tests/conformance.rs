//! The conformance suite: `cargo test --release -p ferrotensor-conformance [-- FILTER]`.
//!
//! `EXPECT_ISA=baseline,avx2` and `EXPECT_BACKENDS=cpu,hostile,vulkan` make what is listed and missing a failure; what is not listed
//! and missing is a printed, counted skip. `UPDATE_EXPECT=1` rewrites `expected/` and `docs/accuracy.md`; with the filter `/hostile` or
//! `/vulkan` all of that device runs and nothing else, and its file is compared or rewritten. `SHARE=10` leaves 10 of 100 tests, always the same ones (by their names), and compares no file;
//! `SHARE=10 ... -- /vulkan` is what runs under validation layers, and with `VULKAN_WITHOUT=float64,int64` on a device that lacks those
//! (`machine.rs` names them), whose file is not compared either; a share also has what `expected/h100.txt` lists for an answer that
//! `VULKAN_WITHOUT` forces. `CONFORMANCE=all` tries every variant of every case, of which a run without it takes
//! a sample (`breadth.rs`). `DURATIONS=20` lists the 20 longest rows.
// A test runner reports to the terminal.
#![allow(clippy::print_stdout)]

use ferrotensor_conformance::case::Placement;
use ferrotensor_conformance::machine::Device;
use ferrotensor_conformance::{
    breadth, forced, golden, gradients, guards, ledger, machine, mutants, programs, random, refusals, rows, saboteur, share,
    vmap,
};
use ferrotensor_cpu::Tier;
use libtest_mimic::{Arguments, Failed, FormatSetting, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time spent by the first part of the tests' names: a row, or a kind of check.
static SPENT: Mutex<BTreeMap<String, Duration>> = Mutex::new(BTreeMap::new());

fn trial(name: String, f: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    let row = name.split('/').next().unwrap_or_default().to_string();
    Trial::test(name, || {
        let start = Instant::now();
        let outcome = f().map_err(Failed::from);
        *SPENT.lock().unwrap_or_else(PoisonError::into_inner).entry(row).or_default() += start.elapsed();
        outcome
    })
}

/// The rows that took longest, and what all took.
fn print_durations(count: usize) {
    let spent = SPENT.lock().unwrap_or_else(PoisonError::into_inner);
    let mut rows: Vec<_> = spent.iter().collect();
    rows.sort_by(|a, b| b.1.cmp(a.1));
    println!("all rows: {:.1} s of threads", spent.values().sum::<Duration>().as_secs_f64());
    for (row, time) in rows.into_iter().take(count) {
        println!("took: {:.1} s {row}", time.as_secs_f64());
    }
}

/// The test of a row and dtype on a device beside the CPU.
fn on(device: &str, group: &str) -> String {
    format!("{group}/{device}")
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
    let backends: BTreeSet<&'static str> = Device::present().into_iter().map(Device::backend).collect();
    problems.extend(
        listed("EXPECT_BACKENDS")
            .into_iter()
            .filter(|n| !backends.contains(n.as_str()))
            .map(|n| format!("EXPECT_BACKENDS lists {n}, which is not built")),
    );

    problems.extend(breadth::asked().err());
    let filter = args.filter.clone().unwrap_or_default();
    let mut percent = 100;
    if let Ok(text) = std::env::var("SHARE") {
        match text.parse() {
            Ok(number @ 1..=100) => percent = number,
            _ => problems.push(format!("SHARE={text} is no whole number from 1 to 100")),
        }
    }
    let unskipped = args.skip.is_empty() && !args.list && percent == 100 && std::env::var_os("VULKAN_WITHOUT").is_none();
    let sampled: Vec<Device> = Device::present().into_iter().filter(|device| !device.is_cpu()).collect();
    // Backends of which every row case runs.
    let alone = |backend: &str| backend != "cpu" && filter.len() > 1 && on(backend, "").contains(&filter);
    let whole = |backend: &&str| unskipped && (filter.is_empty() || alone(backend));
    let whole: BTreeSet<&'static str> = backends.iter().copied().filter(whole).collect();
    let name = |group: &str, placement: Placement, tier: Tier| format!("{group}/{}/{}", placement.name(), tier.name());
    // Planning every row takes a minute: only those whose tests the filter may name, and that are of the share.
    let chosen = |test: &str| share::is_chosen(test, percent) || forced::keeps(test);
    let asked = |test: &str| test.contains(&filter) && chosen(test);
    let wanted = |group: &str| {
        let on_cpu = || Placement::ALL.iter().any(|&p| present.iter().any(|&t| asked(&name(group, p, t))));
        sampled.iter().any(|device| asked(&on(device.name(), group))) || on_cpu()
    };
    let groups = match rows::groups(wanted) {
        Ok(groups) => groups,
        Err(e) => {
            println!("{e}");
            return ExitCode::FAILURE;
        }
    };
    let unreached = rows::unreached(&groups);
    // On Vulkan, whose driver compiles each pipeline for some 15 ms, a sample of the groups.
    let tried = |group: &str, backend: &str| {
        backend != "vulkan" || alone(backend) || breadth::is_sampled(group) || forced::keeps(&on(backend, group))
    };
    let of_backend =
        |b: &&'static str| groups.iter().filter(|g| tried(&g.name(), b)).flat_map(|g| g.planned(b)).collect::<Vec<_>>();
    let planned: Vec<(String, (String, String))> = whole.iter().flat_map(of_backend).collect();
    let (mut trials, mut cases, mut elsewhere, mut left) = (Vec::new(), 0, 0, 0);
    // Long single checks first, so that none is left over when the rows are done.
    let others = [
        programs::trials(),
        guards::trials(),
        refusals::trials(),
        golden::trials(),
        gradients::trials(),
        vmap::trials(),
        random::trials(),
        saboteur::trials(),
        mutants::trials(&groups),
    ];
    trials.extend(others.into_iter().flatten().map(|(name, f)| trial(name, f)));
    // A group's trials stand together, and the last one to end frees its cases. The first tier's prepare them, on other cases
    // side by side; the other devices come last: they compare with their bits.
    for group in groups {
        left += (present.len() - group.tiers().len()) * group.placements().len();
        for tier in group.tiers() {
            for placement in group.placements() {
                cases += group.count(placement);
                let own = Arc::clone(&group);
                trials.push(trial(name(&group.name(), placement, tier), move || own.check(placement, tier)));
            }
        }
        for &device in &sampled {
            if !tried(&group.name(), device.backend()) {
                left += 1;
                continue;
            }
            elsewhere += group.sample().len();
            let own = Arc::clone(&group);
            trials.push(trial(on(device.name(), &group.name()), move || own.check_sample(device)));
        }
    }

    let names: BTreeSet<&str> = trials.iter().map(Trial::name).collect();
    let devices: Vec<&str> = sampled.iter().map(|device| device.name()).collect();
    problems.extend(forced::missing(&devices, asked, &names));
    trials.retain(|trial| chosen(trial.name()));
    let conclusion = libtest_mimic::run(&args, trials);
    if args.list {
        return ExitCode::SUCCESS;
    }
    for name in &absent {
        println!("skipped: {cases} row cases on {name} (this machine lacks it)");
    }
    if !whole.is_empty() {
        println!("compared cases by axis:{}", ledger::counts());
        problems.extend(ledger::check_coverage(planned.into_iter()).err());
        if conclusion.num_failed == 0 {
            problems.extend(ledger::check_files(&whole, unreached, |backend| backend != "vulkan" || alone(backend)).err());
        }
    }
    match gradients::check_file() {
        Ok(Some(counts)) => println!("{counts}"),
        Ok(None) => {}
        Err(e) => problems.push(e),
    }
    let names: Vec<&str> = sampled.iter().map(|device| device.name()).collect();
    println!("row cases: {cases} on {} tiers, {elsewhere} on {}", present.len(), names.join(" and "));
    if left > 0 {
        println!(
            "note: a sample: {left} more tests of rows, on older instruction sets and on Vulkan, are run with CONFORMANCE=all"
        );
    }
    if machine::vulkan().is_ok() {
        println!("pipelines compiled on vulkan: {}", machine::compiled());
    }
    if let Some(count) = std::env::var("DURATIONS").ok().and_then(|n| n.parse().ok()) {
        print_durations(count);
    }
    for problem in &problems {
        println!("FAILED: {problem}");
    }
    println!("{} passed, {} failed", conclusion.num_passed, conclusion.num_failed + problems.len() as u64);
    if conclusion.has_failed() || !problems.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

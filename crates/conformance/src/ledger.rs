//! What the run found out about each row: where it runs, how far it was from the reference, which circumstances it met; and
//! the files that hold the agreed answers, `expected/<backend>.txt` and `docs/accuracy.md` (of the CPU).

use crate::bounds;
use crate::breadth;
use crate::case::Case;
use crate::compare::Distance;
use crate::machine;
use ferrotensor_core::DType;
use ferrotensor_core::backend::Backend;
use ferrotensor_core::kernel::{Combine, Kernel, Monoid, Routine, WindowCombine};
use ferrotensor_core::scalar::{MathFn, Op};
use ferrotensor_engine::Stats;
use ferrotensor_ops::def::OpDef;
use ferrotensor_ops::graph::Graph;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where a row of a dtype runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// On the device.
    Native,
    /// On the device, as other kernels.
    Rewritten,
    /// On the CPU instead of the device.
    Fallback,
    /// By the host's routines.
    Host,
    /// Nowhere: a typed error.
    Unsupported,
}

impl Status {
    /// Of what a session counted, in a graph with or without a routine.
    pub fn of(stats: &Stats, routine: bool) -> Status {
        match (stats.fallbacks.is_empty(), stats.rewritten.is_empty()) {
            (false, _) => Status::Fallback,
            (true, false) => Status::Rewritten,
            (true, true) if routine => Status::Host,
            (true, true) => Status::Native,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Status::Native => "native",
            Status::Rewritten => "rewritten",
            Status::Fallback => "fallback",
            Status::Host => "host",
            Status::Unsupported => "unsupported",
        }
    }
}

/// Where the cases of a row and dtype ran, the easy ones apart.
#[derive(Default)]
struct Statuses {
    /// Operands of the row's own dtype that do not walk backwards.
    plain: BTreeSet<Status>,
    other: BTreeSet<Status>,
}

impl Statuses {
    /// `native`, and in brackets what only other circumstances lead to: `native (fallback)`.
    fn show(&self) -> String {
        let words = |set: &BTreeSet<Status>| set.iter().map(|s| s.name()).collect::<Vec<_>>().join(" or ");
        let (first, rest) = match self.plain.is_empty() {
            true => (&self.other, BTreeSet::new()),
            false => (&self.plain, self.other.difference(&self.plain).copied().collect()),
        };
        if rest.is_empty() { words(first) } else { format!("{} ({})", words(first), words(&rest)) }
    }
}

#[derive(Default)]
struct Ledger {
    /// By backend, row and dtype.
    status: BTreeMap<(&'static str, u16, u8), Statuses>,
    measured: BTreeMap<(u16, u8), Distance>,
    bounds: BTreeMap<(u16, u8), &'static str>,
    /// Cases compared, by row on backend, axis and value.
    hits: BTreeMap<String, Hits>,
}

/// By axis and value.
type Hits = BTreeMap<String, BTreeMap<String, u64>>;

static LEDGER: Mutex<Option<Ledger>> = Mutex::new(None);

fn ledger<R>(f: impl FnOnce(&mut Ledger) -> R) -> R {
    let mut guard: MutexGuard<Option<Ledger>> = LEDGER.lock().unwrap_or_else(PoisonError::into_inner);
    f(guard.get_or_insert_default())
}

/// Notes where a case of a row ran; a plain one has operands of the row's own dtype that do not walk backwards.
pub fn status(backend: &'static str, op: &OpDef, dtype: DType, plain: bool, status: Status) {
    ledger(|l| {
        let known = l.status.entry((backend, op.id(), dtype as u8)).or_default();
        if plain { &mut known.plain } else { &mut known.other }.insert(status)
    });
}

/// Notes how far a result was from the reference.
pub fn measured(op: &OpDef, dtype: DType, distance: Distance) {
    ledger(|l| {
        let worst = l.measured.entry((op.id(), dtype as u8)).or_default();
        *worst = worst.max(distance);
    });
}

/// Notes how the bound of a row and dtype is derived; of cases with different kernels the last words in alphabetical order count,
/// whatever order they run in.
pub fn bound(op: &OpDef, dtype: DType, words: &'static str) {
    ledger(|l| {
        let known = l.bounds.entry((op.id(), dtype as u8)).or_insert(words);
        *known = words.max(known);
    });
}

/// Notes the circumstances of a case that was compared.
pub fn hit(group: &str, case: &Case, more: &[(&str, &str)]) {
    ledger(|l| {
        let hits = known(&mut l.hits, group);
        let own = case.axes.iter().map(|(a, v)| (a.as_str(), v.as_str()));
        for (axis, value) in own.chain(more.iter().copied()) {
            *known(known(hits, axis), value) += 1;
        }
    });
}

/// An entry, made where there is none; a name is copied for that alone: this is asked ten million times.
fn known<'a, T: Default>(map: &'a mut BTreeMap<String, T>, name: &str) -> &'a mut T {
    if !map.contains_key(name) {
        map.insert(name.to_owned(), T::default());
    }
    map.get_mut(name).unwrap_or_else(|| unreachable!("it was inserted"))
}

/// How the bound of a graph follows from its kernels (see `bounds.rs`); `None` where the bits are promised.
pub fn bound_words(graph: &Graph) -> Option<&'static str> {
    let float = |d: DType| d.is_float() || d.is_complex();
    let mut words = None;
    for kernel in crate::rows::kernels(graph) {
        let more = match kernel {
            Kernel::Routine(Routine::Fft { .. }) => "8 (log2 n + 2) eps norm2 y",
            Kernel::Routine(Routine::Solve(d)) if d.is_complex() => "32 n eps norm(inv A) norm(A) norm(x)",
            Kernel::Routine(Routine::Solve(_)) => "8 n eps norm(inv A) norm(A) norm(x)",
            Kernel::Routine(Routine::Qr(d)) if d.is_complex() => "64 m eps cond(R) norm(A)",
            Kernel::Routine(Routine::Qr(_)) => "16 m eps cond(R) norm(A)",
            Kernel::Routine(Routine::Triangular { dtype: d, .. }) if d.is_complex() => {
                "32 n eps norm(inv T) norm(T) norm(x)"
            }
            Kernel::Routine(Routine::Triangular { .. }) => "8 n eps norm(inv T) norm(T) norm(x)",
            Kernel::Routine(Routine::Cholesky(d)) if d.is_complex() => "32 n eps cond(L)^2 norm(L)",
            Kernel::Routine(Routine::Cholesky(_)) => "8 n eps cond(L)^2 norm(L)",
            Kernel::Routine(Routine::Lu(d)) if d.is_complex() => "32 n eps cond(L) cond(U) norm(A)",
            Kernel::Routine(Routine::Lu(_)) => "8 n eps cond(L) cond(U) norm(A)",
            Kernel::Routine(Routine::Eigh { dtype: d, .. }) if d.is_complex() => "64 n eps norm(A), vectors by gap",
            Kernel::Routine(Routine::Eigh { .. }) => "16 n eps norm(A), vectors by gap",
            Kernel::Routine(Routine::Svd { dtype: d, .. }) if d.is_complex() => "32 n eps norm(A), vectors by gap",
            Kernel::Routine(Routine::Svd { .. }) => "8 n eps norm(A), vectors by gap",
            Kernel::Routine(Routine::Eig { dtype: d, .. }) if d.is_complex() => "64 n eps norm(A) cond, vectors by gap",
            Kernel::Routine(Routine::Eig { .. }) => "16 n eps norm(A) cond, vectors by gap",
            Kernel::Routine(Routine::Expm(d)) if d.is_complex() => "64 n eps (norm(A) + 1) norm(derivative)",
            Kernel::Routine(Routine::Expm(_)) => "16 n eps (norm(A) + 1) norm(derivative)",
            Kernel::Contract(k) if float(k.dtype) => "blocks(K) u abs A abs B",
            Kernel::Window(k) if float(k.dtype) => match k.combine {
                WindowCombine::Dot => "blocks(K) u abs A abs B",
                WindowCombine::Reduce(Monoid::Sum) => "(log2 n + 16) eps sum abs x",
                WindowCombine::Reduce(_) => continue,
            },
            Kernel::Reduce(k) if float(k.acc) && k.combine == Combine::Value(Monoid::Sum) => "(log2 n + 16) eps sum abs x",
            Kernel::Reduce(k) if float(k.acc) && k.combine == Combine::Value(Monoid::Prod) => "n eps abs p",
            Kernel::Map(k) => match k.program.instrs.iter().rposition(|i| bounds::rounds_freely(&k.program, i)) {
                None => continue,
                Some(_) if words.is_some() => "1 ulp a function, (log2 n + 16) eps a sum, carried on",
                Some(at) if k.program.outputs == [at as u32] => match k.program.instrs[at].op {
                    Op::Call(MathFn::Lgamma | MathFn::Digamma | MathFn::Logaddexp | MathFn::Logaddexp2) => {
                        "1 ulp (float64: 2) of the result, or of its terms where they cancel"
                    }
                    Op::Call(_) => "1 ulp (float64: 2)",
                    _ if k.program.instrs[..at].iter().any(|i| matches!(i.op, Op::Call(_))) => {
                        "1 ulp a function, carried on"
                    }
                    _ => "1 ulp of each part's terms",
                },
                Some(_) => "1 ulp a function, carried on",
            },
            _ => continue,
        };
        words = Some(match words {
            Some(before) if before != more => "1 ulp a function, (log2 n + 16) eps a sum, carried on",
            _ => more,
        });
    }
    words
}

fn path(relative: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(relative)
}

/// Circumstances that were planned for a row and never compared.
///
/// # Errors
/// A sentence that names the first ones.
pub fn check_coverage(planned: impl Iterator<Item = (String, (String, String))>) -> Result<(), String> {
    ledger(|l| {
        let missing: BTreeSet<String> = planned
            .filter(|(group, (axis, value))| {
                let values = l.hits.get(group).and_then(|axes| axes.get(axis));
                values.is_none_or(|values| !values.contains_key(value))
            })
            .map(|(group, (axis, value))| format!("{group} {axis}={value}"))
            .collect();
        match missing.len() {
            0 => Ok(()),
            n => Err(format!(
                "{n} circumstances were never compared: {}",
                missing.into_iter().take(8).collect::<Vec<_>>().join(", ")
            )),
        }
    })
}

/// Cases compared for each value of each axis, as a table in words.
pub fn counts() -> String {
    ledger(|l| {
        let mut all: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        for (axis, values) in l.hits.values().flatten() {
            let of_axis = all.entry(axis).or_default();
            values.iter().for_each(|(value, n)| *of_axis.entry(value).or_default() += n);
        }
        let mut out = String::new();
        for (axis, values) in all {
            let _ = write!(out, "\n  {axis}:");
            for (value, n) in values {
                let _ = write!(out, " {value} {n};");
            }
        }
        out
    })
}

/// Compares what was found of some backends, and circumstances that no case stands for, with the checked-in files, or writes them
/// with `UPDATE_EXPECT=1`. Of a backend that is not `whole` only the rows and dtypes that were met are compared.
///
/// # Errors
/// A sentence with the first lines that differ, in either direction.
pub fn check_files(
    backends: &BTreeSet<&'static str>,
    unreached: Vec<String>,
    whole: impl Fn(&str) -> bool,
) -> Result<(), String> {
    let update = std::env::var("UPDATE_EXPECT").is_ok_and(|v| v == "1");
    let write = |p: PathBuf, text: String| std::fs::write(&p, text).map_err(|e| format!("{}: {e}", p.display()));
    let read =
        |p: PathBuf| std::fs::read_to_string(&p).map_err(|e| format!("{}: {e}; UPDATE_EXPECT=1 writes it", p.display()));
    let mut files: Vec<(&str, Vec<String>)> = backends.iter().map(|&backend| (backend, lines(backend))).collect();
    if backends.contains("cpu") {
        files.push(("unreached", unreached));
    }
    for (name, found) in files {
        let partly = !breadth::is_whole() && !whole(name);
        let class = if name == "vulkan" { machine::vulkan()?.caps().class.name() } else { "" };
        let name = format!("expected/{name}{}{class}.txt", if class.is_empty() { "" } else { "-" });
        if update {
            write(path(&name), found.join("\n") + "\n")?;
        } else if let Some(changed) = difference(&met(&read(path(&name))?, &found, partly), &found) {
            return Err(format!("{name} differs: {changed}; UPDATE_EXPECT=1 rewrites it"));
        }
    }
    if !backends.contains("cpu") {
        return Ok(());
    }
    let accuracy = accuracy();
    if update {
        return write(path("../../docs/accuracy.md"), accuracy);
    }
    // Measured errors of routines depend on the processor; rows, dtypes and bounds do not.
    let promises = |text: &str| -> Vec<String> {
        text.lines().filter(|l| l.starts_with('|')).map(|l| l.split('|').take(4).collect::<Vec<_>>().join("|")).collect()
    };
    let (agreed, found) = (promises(&read(path("../../docs/accuracy.md"))?), promises(&accuracy));
    let stale = if breadth::is_whole() { agreed != found } else { !found.iter().all(|line| allows(&agreed, line)) };
    if stale { Err("docs/accuracy.md is stale; UPDATE_EXPECT=1 rewrites it".into()) } else { Ok(()) }
}

/// Whether the agreed lines have the row and dtype of a line found by a sample, with the same words or later ones (see [`bound`]).
fn allows(agreed: &[String], found: &str) -> bool {
    let Some((key, _)) = found.rsplit_once('|') else { return false };
    agreed.iter().any(|line| line.starts_with(key) && line.as_str() >= found)
}

/// Compares lines with those of a file of `expected/`, or writes them with `UPDATE_EXPECT=1`.
///
/// # Errors
/// As [`check_files`].
pub fn check_file(name: &str, found: &[String]) -> Result<(), String> {
    let (name, failed) = (format!("expected/{name}.txt"), |e: std::io::Error| format!("expected/{name}.txt: {e}"));
    if std::env::var("UPDATE_EXPECT").is_ok_and(|v| v == "1") {
        return std::fs::write(path(&name), found.join("\n") + "\n").map_err(failed);
    }
    match difference(&std::fs::read_to_string(path(&name)).map_err(failed)?, found) {
        Some(changed) => Err(format!("{name} differs: {changed}; UPDATE_EXPECT=1 rewrites it")),
        None => Ok(()),
    }
}

/// One line for each row and dtype that ran on a backend.
fn lines(backend: &str) -> Vec<String> {
    let line = |(&(_, op, dtype), statuses): (&(&str, u16, u8), &Statuses)| {
        let op = ferrotensor_ops::def::by_id(op).map(|o| o.path().into_owned()).unwrap_or_default();
        format!("{op} {} {}", DType::from_code(dtype).map_or("?", DType::name), statuses.show())
    };
    ledger(|l| l.status.iter().filter(|(key, _)| key.0 == backend).map(line).collect())
}

/// Of agreed lines, where not all were tried, those whose first two words, row and dtype, were found.
fn met(agreed: &str, found: &[String], partly: bool) -> String {
    fn key(line: &str) -> (Option<&str>, Option<&str>) {
        let mut words = line.split(' ');
        (words.next(), words.next())
    }
    let tried: BTreeSet<_> = found.iter().map(|line| key(line)).collect();
    agreed.lines().filter(|line| !partly || tried.contains(&key(line))).map(|line| format!("{line}\n")).collect()
}

/// The first lines that only one of the two has: `-` what was agreed and is no longer so, `+` what is new.
fn difference(agreed: &str, found: &[String]) -> Option<String> {
    let agreed: BTreeSet<&str> = agreed.lines().collect();
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    let gone = agreed.difference(&found).map(|l| format!("-{l}"));
    let new = found.difference(&agreed).map(|l| format!("+{l}"));
    let changed: Vec<String> = gone.chain(new).take(8).collect();
    (!changed.is_empty()).then(|| changed.join(", "))
}

/// The table of bounds and measured errors.
fn accuracy() -> String {
    let mut out = String::from(
        "<!-- Written by `UPDATE_EXPECT=1 cargo test --release -p ferrotensor-conformance`; do not edit. -->\n\
         # Accuracy\n\n\
         Every result is compared with a reference in double-double (functions: libm in float64, which is allowed 1 ulp of its\n\
         own, for `digamma` 6, `gamma` 7, `erfcx` and `ndtri` 4: shares of float64 functions are of both allowances). Rows that are not listed give the\n\
         reference's bits: real arithmetic, comparisons, rounding, conversions, moves, integers, maxima, positions, cumulative\n\
         sums, sorts. Bounds follow from the kinds of kernels a row lowers to (`crates/conformance/src/bounds.rs`, with the\n\
         sources); no row has a tolerance of its own. Measured: the largest error of the quick tier, in units in the last\n\
         place of the exact result, and as a share of the bound. A sum near zero of large terms may be many units off and\n\
         well inside its bound.\n\n\
         float32 functions of one argument are also measured on all inputs: `crates/core/golden/exhaustive_f32.txt` has the\n\
         largest error of each. `lgamma` and `digamma` of negative arguments, `logaddexp` and `logaddexp2` are differences of terms that\n\
         cancel near their zeros: there the error is below 1 ulp of 0.25, 2, 0.25 and 0.25 (`math::resolution`), which may be\n\
         thousands of the result's own.\n\n\
         | Operation | dtype | bound | largest error (ulp) | share of the bound |\n|---|---|---|---:|---:|\n",
    );
    ledger(|l| {
        for (key, words) in &l.bounds {
            let (Some(def), Some(dtype)) = (ferrotensor_ops::def::by_id(key.0), DType::from_code(key.1)) else { continue };
            let distance = l.measured.get(key).copied().unwrap_or_default();
            // Beyond this the exact result is all but zero, and its last place says nothing.
            let ulps = if distance.ulps < 1e6 { format!("{:.0}", distance.ulps) } else { "-".into() };
            let _ = writeln!(out, "| {} | {dtype} | {words} | {ulps} | {:.3} |", def.path(), distance.share);
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_tells_the_easy_cases_from_the_others() {
        use Status::{Fallback, Native};
        let show = |plain: &[Status], other: &[Status]| {
            Statuses { plain: plain.iter().copied().collect(), other: other.iter().copied().collect() }.show()
        };
        assert_eq!(show(&[Native], &[Native]), "native");
        assert_eq!(show(&[Native], &[Fallback, Native]), "native (fallback)");
        assert_eq!(show(&[Native, Fallback], &[Fallback]), "native or fallback");
        assert_eq!(show(&[], &[Fallback, Native]), "native or fallback");
    }

    #[test]
    fn a_sample_may_meet_the_earlier_words_of_a_bound_alone() {
        let agreed = ["| exp | float32 | b".to_string()];
        assert!(allows(&agreed, "| exp | float32 | a") && allows(&agreed, "| exp | float32 | b"));
        assert!(!allows(&agreed, "| exp | float32 | c") && !allows(&agreed, "| exp | float64 | a"));
    }

    #[test]
    fn of_a_sample_only_what_was_tried_is_compared() {
        let agreed = "add float32 native\nadd int8 native (fallback)\nsort int8 native\n";
        let found = ["add int8 fallback".to_string()];
        assert_eq!(met(agreed, &found, true), "add int8 native (fallback)\n");
        assert_eq!(met(agreed, &found, false), agreed);
    }

    #[test]
    fn a_support_file_fails_in_both_directions() {
        let found = ["add float32 native".to_string(), "nn.conv float32 rewritten".to_string()];
        assert_eq!(difference("nn.conv float32 rewritten\nadd float32 native\n", &found), None);
        let lost = difference("add float32 native\nnn.conv float32 rewritten\nsort int8 native\n", &found);
        assert_eq!(lost.as_deref(), Some("-sort int8 native"));
        let gained = difference("add float32 native\n", &found);
        assert_eq!(gained.as_deref(), Some("+nn.conv float32 rewritten"));
        let better = difference("add float32 native\nnn.conv float32 fallback\n", &found);
        assert_eq!(better.as_deref(), Some("-nn.conv float32 fallback, +nn.conv float32 rewritten"));
    }
}

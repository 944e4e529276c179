//! What came of breaking each row: printed as each is done, and kept in `expected/mutants.txt`, so that rows that have not changed
//! since are not tried again and a run that was stopped goes on where it was.

use super::equivalent::{EQUIVALENT, excuses};
use super::{Fate, Fates, of_answers, of_cases};
use crate::Check;
use crate::golden::{self, Golden};
use crate::recipe;
use crate::rows::Group;
use ferrotensor_core::{DType, math};
use ferrotensor_ops::def::OpDef;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/expected/mutants.txt");
const HEADER: &str = "\
# What came of breaking every row of the table. Written by `cargo xtask mutate`, which tries rows that are not here or have
# changed; `cargo xtask mutate ROW` tries those with a text in their names again, which is due after a change of elements or bounds.
# row, mutants before its cases and those of them nobody can see, the same before NumPy's and PyTorch's answers, fingerprints of what
# it lowers to and of the answers.
# Below a row: mutants that crates/conformance/src/mutants/equivalent.rs excuses, and where.
";

/// Where a mutant was judged: a dtype or `mixed`, of cases; this word, of answers.
const ANSWERS: &str = "answers";
/// As [`of_cases`] calls those of several dtypes.
const MIXED: &str = "mixed";

/// A row whose mutants are all settled.
#[derive(Clone, PartialEq, Eq)]
struct Entry {
    /// Mutants and equivalent ones before cases, and before answers.
    counts: [usize; 4],
    /// Of what was broken and of its answers, see [`fingerprint`] and [`fingerprint_of_answers`].
    fingerprints: [u64; 2],
    /// Names of those excused, and where each was.
    excused: BTreeMap<String, BTreeSet<String>>,
}

/// Entries by row.
type Results = BTreeMap<String, Entry>;

/// Breaks the rows whose name has this text in it, or without a text those that are not in the file as they are now; prints what came
/// of each and keeps it. How many mutants of those rows are settled, and how many are not.
///
/// # Errors
/// A sentence for a case or an answer that cannot be made, and for a file that cannot be written.
pub fn report(filter: &str) -> Result<(usize, usize), String> {
    let answers = golden::answers()?;
    let named: BTreeSet<String> = ferrotensor_ops::OPS.iter().map(|op| op.path().into_owned()).collect();
    let wanted: Vec<&'static OpDef> = ferrotensor_ops::OPS.iter().filter(|op| op.path().contains(filter)).collect();
    let mut known = read()?;
    // What is no row any more.
    known.retain(|row, _| named.contains(row));
    let (known, next, left) = (Mutex::new(known), AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || -> Result<(), String> {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(&op) = wanted.get(at) else { return Ok(()) };
            let (row, start) = (op.path().into_owned(), Instant::now());
            let answers = answers.get(&row).map_or(&[][..], Vec::as_slice);
            let fingerprints = [fingerprint(&groups(op)?)?, fingerprint_of_answers(answers)];
            let entries = || known.lock().unwrap_or_else(PoisonError::into_inner);
            if filter.is_empty() && entries().get(&row).is_some_and(|e| e.fingerprints == fingerprints) {
                continue;
            }
            let judged = judged(op, answers)?;
            let (found, missed) = (Entry::new(&judged, fingerprints), missed(&judged));
            left.fetch_add(missed.len(), Ordering::Relaxed);
            let ([cases, _, answered, _], seconds) = (found.counts, start.elapsed().as_secs_f64());
            let mut text = format!("{row}: {cases} before cases, {answered} before answers, {} left", missed.len());
            // Writing to a string does not fail.
            let _ = write!(text, ", {seconds:.1} s ({} of {})", at + 1, wanted.len());
            missed.iter().for_each(|line| text.push_str(&format!("\n  {line}")));
            let mut entries = entries();
            match missed.is_empty() {
                true => entries.insert(row, found),
                false => entries.remove(&row),
            };
            write(&entries).map_err(|e| format!("{FILE}: {e}"))?;
            writeln!(std::io::stdout(), "{text}").map_err(|e| e.to_string())?;
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let outcome: Result<Vec<()>, String> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        handles.into_iter().map(|h| h.join().unwrap_or_else(|_| Err("a mutant panicked".into()))).collect()
    });
    outcome?;
    let known = known.into_inner().unwrap_or_else(PoisonError::into_inner);
    let settled = wanted.iter().filter_map(|op| known.get(&*op.path())).map(|e| e.counts[0] + e.counts[2]).sum();
    let wrong = if known.len() == named.len() { wrong_excuses(&known) } else { vec![] };
    for line in &wrong {
        writeln!(std::io::stdout(), "equivalent.rs: {line}").map_err(|e| e.to_string())?;
    }
    Ok((settled, left.into_inner() + wrong.len()))
}

/// Whether the file speaks of each row as it is: what is missing or has changed was not tried. `planned` may have the groups already.
pub fn trials(planned: &[Arc<Group>]) -> Vec<(String, Check)> {
    let (mut known, answers) = match read().and_then(|known| Ok((known, golden::answers()?))) {
        Ok(both) => both,
        Err(e) => return vec![("mutants/format".into(), Box::new(move || Err(e)))],
    };
    let wrong = wrong_excuses(&known);
    let mut out: Vec<(String, Check)> = Vec::new();
    for op in &ferrotensor_ops::OPS {
        let row = op.path().into_owned();
        let own: Vec<Arc<Group>> = planned.iter().filter(|group| group.is_of(op)).cloned().collect();
        let tried = known.remove(&row).map(|entry| entry.fingerprints);
        let answers = answers.get(&row).map_or(&[][..], Vec::as_slice);
        let name = format!("mutants/{row}");
        let check = move || {
            let whole = own.len() == recipe::dtypes(op).len();
            let now = if whole { fingerprint(own.iter().map(AsRef::as_ref))? } else { fingerprint(&groups(op)?)? };
            match Some([now, fingerprint_of_answers(answers)]) == tried {
                true => Ok(()),
                false => Err(format!(
                    "what it lowers to, or its answers, have changed since its mutants were tried: `cargo xtask mutate {row}`"
                )),
            }
        };
        out.push((name, Box::new(check)));
    }
    let gone = known.into_keys().map(|row| format!("mutants.txt has {row}, which is no row"));
    let wrong: Vec<String> = wrong.into_iter().chain(gone).collect();
    out.push(("mutants/excuses".into(), Box::new(move || if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n  ")) })));
    out
}

/// The mutants of a row before both judges, by where they were judged.
fn judged(op: &'static OpDef, answers: &[Golden]) -> Result<Vec<(&'static str, Fates)>, String> {
    let mut out = of_cases(op)?;
    for (dtype, fates) in &mut out {
        // Nobody has answers in bfloat16, which computes as float32 does; mixed calls have the kernels of others, behind conversions.
        let float = *dtype == DType::BF16.name();
        let named = |d: DType| d.name() == *dtype || *dtype == MIXED || (d == DType::F32 && float);
        let mut own: Vec<&Golden> = answers.iter().filter(|g| g.is_of(&named)).collect();
        if own.is_empty() {
            own.extend(answers);
        }
        let missed = |fates: &Fates, name: &str| matches!(fates.get(name), Some(Fate::Missed(_)));
        let told = of_answers(&op.path(), &own, &|name| missed(fates, name), usize::MAX)?;
        for (name, _) in told.into_iter().filter(|(_, fate)| *fate == Fate::Caught) {
            fates.insert(name, Fate::Answered);
        }
    }
    out.push((ANSWERS, of_answers(&op.path(), &answers.iter().collect::<Vec<_>>(), &|_| true, usize::MAX)?));
    Ok(out)
}

/// The groups of a row.
fn groups(op: &'static OpDef) -> Result<Vec<Group>, String> {
    recipe::dtypes(op).into_iter().map(|dtype| Group::new(op, dtype, false)).collect()
}

/// Identifies what is broken: the 64-bit FNV-1a hash of all that a row lowers to in the cases of its groups. Elements are not in it.
fn fingerprint<'a>(groups: impl IntoIterator<Item = &'a Group>) -> Result<u64, String> {
    let texts: Result<Vec<String>, String> = groups.into_iter().map(Group::lowered).collect();
    Ok(math::fnv1a(&texts?.concat()))
}

/// The same of its answers.
fn fingerprint_of_answers(answers: &[Golden]) -> u64 {
    math::fnv1a(&answers.iter().map(Golden::text).collect::<String>())
}

/// The mutants that are not settled: the name, what is known, and where.
fn missed(judged: &[(&'static str, Fates)]) -> Vec<String> {
    let mut places: BTreeMap<(&str, &Fate), Vec<&str>> = BTreeMap::new();
    for (place, fates) in judged {
        for (name, fate) in fates.iter().filter(|(_, fate)| !fate.is_settled()) {
            places.entry((name, fate)).or_default().push(place);
        }
    }
    places.into_iter().map(|((name, fate), places)| format!("{name}: {fate:?} [{}]", places.join(" "))).collect()
}

/// Lines of `equivalent.rs` that speak for no mutant of these rows, and excused mutants that no line speaks for any more.
fn wrong_excuses(known: &Results) -> Vec<String> {
    let (mut used, mut out) = (BTreeSet::new(), Vec::new());
    for (row, entry) in known {
        for (name, place) in entry.excused.iter().flat_map(|(name, places)| places.iter().map(move |p| (name, p))) {
            let of = if place == ANSWERS { row.clone() } else { format!("{row}/{place}") };
            let lines: Vec<usize> = (0..EQUIVALENT.len()).filter(|&n| excuses(&EQUIVALENT[n], &of, name)).collect();
            if lines.is_empty() {
                out.push(format!("nothing speaks for {of}: {name}"));
            }
            used.extend(lines);
        }
    }
    let idle = EQUIVALENT.iter().enumerate().filter(|(n, _)| !used.contains(n));
    out.extend(idle.map(|(_, (row, starts, reason))| format!("every {row} {starts:?} is caught ({reason})")));
    out
}

impl Entry {
    fn new(judged: &[(&'static str, Fates)], fingerprints: [u64; 2]) -> Entry {
        let (mut counts, mut excused) = ([0; 4], BTreeMap::<String, BTreeSet<String>>::new());
        for (place, fates) in judged {
            let at = if *place == ANSWERS { 2 } else { 0 };
            for (name, fate) in fates {
                counts[at] += 1;
                counts[at + 1] += matches!(fate, Fate::Equivalent(_)) as usize;
                if *fate == Fate::Excused {
                    excused.entry(name.clone()).or_default().insert((*place).to_owned());
                }
            }
        }
        Entry { counts, fingerprints, excused }
    }
}

/// What the file has; nothing where there is none.
fn read() -> Result<Results, String> {
    parse(&std::fs::read_to_string(FILE).unwrap_or_default())
}

fn write(known: &Results) -> std::io::Result<()> {
    std::fs::write(FILE, show(known))
}

fn parse(text: &str) -> Result<Results, String> {
    let mut known: Vec<(String, Entry)> = Vec::new();
    for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let wrong = || format!("mutants.txt: line {} is not as `cargo xtask mutate` writes it", n + 1);
        match (line.strip_prefix("  "), known.last_mut()) {
            (Some(excused), Some((_, entry))) => {
                let (name, places) = excused.strip_suffix(']').and_then(|l| l.rsplit_once(" [")).ok_or_else(wrong)?;
                entry.excused.insert(name.to_owned(), places.split(' ').map(str::to_owned).collect());
            }
            _ => {
                let [row, counts @ .., lowered, answers] = &line.split(' ').collect::<Vec<_>>()[..] else {
                    return Err(wrong());
                };
                let counts: Vec<usize> = counts.iter().map_while(|c| c.parse().ok()).collect();
                let counts = counts.try_into().map_err(|_| wrong())?;
                let hash = |text: &str| u64::from_str_radix(text, 16).map_err(|_| wrong());
                let fingerprints = [hash(lowered)?, hash(answers)?];
                known.push(((*row).to_owned(), Entry { counts, fingerprints, excused: BTreeMap::new() }));
            }
        }
    }
    Ok(known.into_iter().collect())
}

fn show(known: &Results) -> String {
    let mut text = HEADER.to_owned();
    for (row, Entry { counts: [a, b, c, d], fingerprints: [lowered, answers], excused }) in known {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{row} {a} {b} {c} {d} {lowered:016x} {answers:016x}");
        for (name, places) in excused {
            let _ = writeln!(text, "  {name} [{}]", places.iter().map(String::as_str).collect::<Vec<_>>().join(" "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(row: &str, name: &str) -> Results {
        let places = ["bool".to_owned(), ANSWERS.to_owned()].into_iter().collect();
        let excused = [(name.to_owned(), places)].into_iter().collect();
        [(row.to_owned(), Entry { counts: [9, 1, 7, 0], fingerprints: [0xfeed, 0xbeef], excused })].into_iter().collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let known = results("pad", "negative indices as zero, operand 1");
        assert!(parse(&show(&known)).is_ok_and(|read| read == known));
        assert!(parse("pad 9 1 7 feed beef\n").is_err(), "a count is missing");
        assert!(parse("pad 9 1 7 0 feed beef\n  a name without places\n").is_err());
    }

    #[test]
    fn excuses_are_held_against_their_lines() {
        let wrong =
            |known: &Results, start: &str| wrong_excuses(known).iter().filter(|line| line.starts_with(start)).count();
        let (good, bad) = (results("pad", "negative indices as zero"), results("pad", "what no line says"));
        assert_eq!((wrong(&good, "nothing speaks"), wrong(&bad, "nothing speaks")), (0, 2));
        assert_eq!(wrong(&good, "every") + 1, wrong(&bad, "every"), "the line of pad is used by the first alone");
    }
}

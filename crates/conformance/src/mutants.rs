//! Is every row's meaning held? Each row is broken in one way after the other, and each mutant goes through the row's own cases as
//! any backend would: its results come from the reference executor, run on the changed graph (`mutations.rs`), or on the call as
//! a row sees it that mistakes an attribute, or are the right ones with one thing changed. The first case that fails
//! ends it. Two judges are asked, each alone: the cases of `rows.rs`, whose values must tell kernels apart, and NumPy's
//! answers of `golden.rs`, without which a wrong lowering would agree with itself. What the cases of a dtype cannot show, since nothing is
//! promised where a sum overflows, say, answers of that dtype may.

mod equivalent;
mod report;
mod same;

use crate::case::Case;
use crate::executor::Known;
use crate::golden::Golden;
use crate::mutations::{self, Mutation};
use crate::recipe;
use crate::rows::Group;
use equivalent::{EQUIVALENT, excuses};
use ferrotensor_core::reference::Array;
use ferrotensor_core::{Code, Error, Result};
use ferrotensor_ops::def::OpDef;
use ferrotensor_ops::graph::{Graph, Val};
pub use report::{report, trials};
use same::Same;
use std::collections::{BTreeMap, BTreeSet};

/// Cases that must have missed a mutant before it is asked whether there is anything to see; and one of which a sample says little.
const PATIENCE: usize = 4;
const MORE_PATIENCE: usize = 64;

/// Mutants of a row that every run tries: complex powers have 1,783, which take a minute.
const QUICK: usize = 100;

/// What came of one mutant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// A case failed.
    Caught,
    /// There is nothing to see, and why.
    Equivalent(&'static str),
    /// Every case passed, and an answer of the same dtype did not.
    Answered,
    /// Every case passed, and `equivalent.rs` says why.
    Excused,
    /// Every case passed; an example of operands that show it, where there is one.
    Missed(String),
    /// No case could run it: a mistake of the mutation.
    Stillborn,
}

impl Fate {
    /// Nothing is left to do about it.
    fn is_settled(&self) -> bool {
        matches!(self, Fate::Caught | Fate::Equivalent(_) | Fate::Answered | Fate::Excused)
    }
}

/// The mutants of one row and dtype before one judge, by name.
pub type Fates = BTreeMap<String, Fate>;

type Results = Result<Vec<Result<Known>>>;

/// A call with what it lowers to.
struct Call {
    case: Case,
    graph: Graph,
    outputs: Vec<Val>,
}

/// One way to get wrong results from a call.
enum Mutant {
    Graph(Box<Mutation>),
    Mistaken(Case),
    /// The elements of an output one place further.
    Turned(usize),
    /// The last element of an output is something else.
    Last(usize),
}

/// The mutants of a row before its cases: for each dtype those of calls with operands of that dtype, and as `mixed` those that only
/// calls of several dtypes have. These are the same kernels behind conversions, so that what a call of one dtype has caught is
/// broken in them too.
///
/// # Errors
/// A sentence when a case cannot be made.
pub fn of_cases(op: &'static OpDef) -> Result<Vec<(&'static str, Fates)>, String> {
    let (mut out, mut mixed, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    let patience = |mutant: &Mutant, call: &Call| if mutant.is_hard(call) { MORE_PATIENCE } else { PATIENCE };
    let judged = |dtype: &str, groups: &[Group], cases: Vec<(usize, usize, Case)>, asked: &dyn Fn(&str) -> bool| {
        let places: Vec<(usize, usize)> = cases.iter().map(|&(g, n, _)| (g, n)).collect();
        // What attributes mean does not hang on other operands' dtypes.
        let mistaken = |i: usize, case: &Case| {
            if dtype == "mixed" { Ok(vec![]) } else { groups[places[i].0].mistaken(places[i].1, case) }
        };
        let accepts = |i: usize, results: Results| {
            let arrays = results.map(|all| all.into_iter().map(|r| r.map(|known| known.array)).collect());
            groups[places[i].0].accepts(places[i].1, arrays)
        };
        let cases = cases.into_iter().map(|c| c.2).collect();
        judge(&format!("{}/{dtype}", op.path()), cases, asked, mistaken, accepts, patience, usize::MAX)
    };
    for dtype in recipe::dtypes(op) {
        let (group, mut own) = (Group::new(op, dtype, true)?, Vec::new());
        for n in group.small() {
            let of = if group.is_own(n) { &mut own } else { &mut mixed };
            of.push((groups.len(), n, group.case(n)?));
        }
        groups.push(group);
        out.push((dtype.name(), judged(dtype.name(), &groups, own, &|_| true)?));
        // What was prepared is prepared again where a mixed call asks for it.
        groups.iter_mut().for_each(Group::forget);
    }
    let caught: BTreeSet<String> = out
        .iter()
        .flat_map(|(_, fates)| fates.iter().filter(|(_, f)| **f == Fate::Caught))
        .map(|(name, _)| name.clone())
        .collect();
    let only_mixed = |name: &str| name.contains("Cast: ") || !caught.contains(name);
    out.push(("mixed", judged("mixed", &groups, mixed, &only_mixed)?));
    Ok(out)
}

/// The mutants of a row before NumPy's answers, at most so many of those asked for.
fn of_answers(row: &str, goldens: &[&Golden], asked: &dyn Fn(&str) -> bool, most: usize) -> Result<Fates, String> {
    let cases = goldens.iter().map(|g| g.case.clone()).collect();
    // Few and small, and stricter than bounds: they know the signs of zeros.
    let patience = |_: &Mutant, _: &Call| usize::MAX;
    judge(
        row,
        cases,
        asked,
        |_, _| Ok(vec![]),
        |i, results| Ok(results.is_ok_and(|r| goldens[i].accepts(&r))),
        patience,
        most,
    )
}

/// Whether NumPy's answers find every mutant of a row; of rows with more than [`QUICK`], as many of them, evenly spaced.
///
/// # Errors
/// A sentence with those that no answer tells from the row, and those that never ran.
pub fn found(row: &str, goldens: &[Golden]) -> Result<(), String> {
    let fates = of_answers(row, &goldens.iter().collect::<Vec<_>>(), &|_| true, QUICK)?;
    let left: Vec<String> =
        fates.iter().filter(|(_, fate)| !fate.is_settled()).map(|(name, fate)| format!("{name}: {fate:?}")).collect();
    match (fates.is_empty(), left.is_empty()) {
        (true, _) => Err("there is no mutant of it".into()),
        (_, false) => Err(format!("{} of {} mutants\n  {}", left.len(), fates.len(), left.join("\n  "))),
        _ => Ok(()),
    }
}

fn judge(
    of: &str,
    cases: Vec<Case>,
    asked: &dyn Fn(&str) -> bool,
    mistaken: impl Fn(usize, &Case) -> Result<Vec<(String, Case)>, String>,
    accepts: impl Fn(usize, Results) -> Result<bool, String>,
    patience: fn(&Mutant, &Call) -> usize,
    most: usize,
) -> Result<Fates, String> {
    let mut calls = Vec::new();
    let mut mutants: BTreeMap<String, Vec<(usize, Mutant)>> = BTreeMap::new();
    for (i, case) in cases.into_iter().enumerate() {
        let mut push = |name: String, mutant| {
            if asked(&name) {
                mutants.entry(name).or_default().push((i, mutant));
            }
        };
        for (name, other) in mistaken(i, &case)? {
            push(name, Mutant::Mistaken(other));
        }
        // A call that is refused has no kernels to break.
        let (graph, outputs) = case.lower().unwrap_or_default();
        for mutation in mutations::of(&graph) {
            push(mutation.name.clone(), Mutant::Graph(Box::new(mutation)));
        }
        for n in 0..outputs.len() {
            push(format!("output {n} one element further"), Mutant::Turned(n));
            push(format!("another last element of output {n}"), Mutant::Last(n));
        }
        calls.push(Call { case, graph, outputs });
    }
    let mut fates = Fates::new();
    let every = mutants.len().div_ceil(most).max(1);
    for (name, places) in mutants.into_iter().step_by(every) {
        let mut fate = fate(&places, &calls, &accepts, patience)?;
        if matches!(fate, Fate::Missed(_)) && EQUIVALENT.iter().any(|line| excuses(line, of, &name)) {
            fate = Fate::Excused;
        }
        fates.insert(name, fate);
    }
    Ok(fates)
}

/// What comes of one mutant in the calls that have it.
fn fate(
    places: &[(usize, Mutant)],
    calls: &[Call],
    accepts: &impl Fn(usize, Results) -> Result<bool, String>,
    patience: fn(&Mutant, &Call) -> usize,
) -> Result<Fate, String> {
    // Whether a call's case fails with the mutant; nothing, where it does not run.
    let fails = |i: usize, mutant: &Mutant| -> Result<Option<bool>, String> {
        let results = mutant.results(&calls[i]);
        let ran = !matches!(&results, Err(e) if e.code == Code::Internal);
        if ran { accepts(i, results).map(|passes| Some(!passes)) } else { Ok(None) }
    };
    // What is known of programs; the calls that missed the mutant, and those that were not asked.
    let (mut same, mut missed, mut left) = (Same::default(), Vec::new(), Vec::new());
    for (i, mutant) in places {
        let call = &calls[*i];
        if missed.len() >= patience(mutant, call) && (same.is_clear() || mutant.witness(call, &mut same)?.is_none()) {
            left.push((*i, mutant));
            continue;
        }
        match fails(*i, mutant)? {
            Some(true) => return Ok(Fate::Caught),
            Some(false) => missed.push((call, mutant)),
            None => {}
        }
    }
    let mut witness = None;
    for (call, mutant) in &missed {
        witness = mutant.witness(call, &mut same)?;
        if witness.is_some() {
            break;
        }
    }
    let Some(witness) = witness else {
        return Ok(match places[0].1 {
            _ if !missed.is_empty() => Fate::Equivalent(Same::REASON),
            Mutant::Turned(_) => Fate::Equivalent("its elements are equal"),
            Mutant::Mistaken(_) => Fate::Equivalent("it means the same"),
            _ => Fate::Stillborn,
        });
    };
    // There is something to see, so that it may be seen where a sample saw nothing.
    for (i, mutant) in left {
        if fails(i, mutant)? == Some(true) {
            return Ok(Fate::Caught);
        }
    }
    Ok(Fate::Missed(witness))
}

impl Mutant {
    /// Operands that tell it from the call, or nothing where none do; an empty text for what is no change of a scalar program.
    fn witness(&self, call: &Call, same: &mut Same) -> Result<Option<String>, String> {
        let Mutant::Graph(mutation) = self else { return Ok(Some(String::new())) };
        mutation.programs(&call.graph).map_or_else(|| Ok(Some(String::new())), |(a, b)| same.witness(a, b))
    }

    fn is_hard(&self, call: &Call) -> bool {
        let program = if let Mutant::Graph(mutation) = self { mutation.programs(&call.graph) } else { None };
        program.is_some_and(|(before, _)| same::is_hard(before))
    }

    fn results(&self, call: &Call) -> Results {
        let right = || call.case.evaluate(&call.graph, &call.outputs);
        match self {
            Mutant::Graph(mutation) => {
                let (graph, moved) = mutation.apply(&call.graph);
                let outputs: Vec<Val> = call.outputs.iter().map(|v| moved[v.0 as usize]).collect();
                call.case.evaluate(&graph, &outputs)
            }
            // What lowering refuses is no mutant, and inference took it; nor is another word for the same.
            Mutant::Mistaken(case) => {
                let (graph, outputs) = case.lower().map_err(|e| Error::internal(e.message))?;
                if graph.nodes == call.graph.nodes && outputs == call.outputs && case.params() == call.case.params() {
                    return Err(Error::internal("it means the same"));
                }
                case.evaluate(&graph, &outputs)
            }
            Mutant::Turned(n) => changed(right()?, *n, |bytes, size| bytes.rotate_left(size)),
            Mutant::Last(n) => changed(right()?, *n, |bytes, size| {
                let at = bytes.len() - size;
                bytes[at..].iter_mut().for_each(|b| *b ^= if size == 1 { 1 } else { 0xff });
            }),
        }
    }
}

/// The results with other bytes of one of them.
///
/// # Errors
/// `Code::Internal` where it failed, or the bytes are the same: there is no mutant then.
fn changed(mut results: Vec<Result<Known>>, n: usize, change: impl Fn(&mut [u8], usize)) -> Results {
    let array = &results[n].as_ref().map_err(|e| Error::internal(e.message.clone()))?.array;
    let mut bytes = array.bytes().to_vec();
    if !bytes.is_empty() {
        change(&mut bytes, array.dtype().bytes());
    }
    if bytes == array.bytes() {
        return Err(Error::internal("nothing is changed"));
    }
    let array = Array::new(array.dtype(), array.dims(), bytes)?;
    results[n] = results[n].clone().map(|known| Known { array, ..known });
    Ok(results)
}

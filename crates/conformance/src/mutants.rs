//! Is every row's meaning held? Each row is broken in one way after the other, and each mutant goes through the row's own cases as
//! any backend would: its results come from the reference executor, run on the changed graph (`mutations.rs`), or on the call as
//! a row sees it that mistakes an attribute, or are the right ones with one thing changed. The first case that fails
//! ends it. Two judges are asked, each alone: the cases of `rows.rs`, whose values must tell kernels apart, and NumPy's
//! answers of `golden.rs`, without which a wrong lowering would agree with itself.

use crate::case::Case;
use crate::compare;
use crate::executor::Known;
use crate::golden::{self, Golden};
use crate::mutations::{self, Mutation};
use crate::recipe;
use crate::rows::{Group, is_plain};
use crate::values::{self, Fill, Rng};
use ferrotensor_core::kernel::{Kernel, Map};
use ferrotensor_core::reference::{self, Array};
use ferrotensor_core::scalar::{Op, Program};
use ferrotensor_core::{Code, DType, Error, Result};
use ferrotensor_ops::def::{Domain, OpDef};
use ferrotensor_ops::graph::{Graph, Val};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Cases that must have missed a mutant before it is asked whether there is anything to see.
const PATIENCE: usize = 4;
/// Tuples of operands on which two programs must agree to count as one: all there are of 16 bits, or a sample, smaller for
/// programs of hundreds of instructions (integer powers), which take seconds.
const TUPLES: usize = 1 << 16;
const SAMPLE: usize = 1 << 14;
const LONG_SAMPLE: usize = 1 << 11;

/// Mutants of which no case can know: how the row and dtype begin, how the name begins, and why. What a scalar program alone shows is
/// found by [`Same`] and needs no line here.
const EQUIVALENT: &[(&str, &str, &str)] = &[
    ("softmax/", "another value for the reduction of nothing", "nothing is divided by it"),
    ("logSoftmax/", "another value for the reduction of nothing", "it is subtracted from nothing"),
];

/// What came of one mutant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// A case failed.
    Caught,
    /// There is nothing to see, and why.
    Equivalent(String),
    /// Every case passed.
    Missed,
    /// No case could run it: a mistake of the mutation.
    Stillborn,
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

/// The mutants of a row before its cases: for each dtype those of calls with operands of that dtype alone, and `mixed` those of
/// all other calls, of which each dtype has too few to ask each for every mutant.
///
/// # Errors
/// A sentence when a case cannot be made.
pub fn of_cases(op: &'static OpDef) -> Result<Vec<(&'static str, Fates)>, String> {
    let (mut out, mut mixed, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    let judged = |dtype: &str, groups: &[Group], cases: Vec<(usize, usize, Case)>| {
        let places: Vec<(usize, usize)> = cases.iter().map(|&(g, n, _)| (g, n)).collect();
        let mistaken = |i: usize, case: &Case| groups[places[i].0].mistaken(places[i].1, case);
        judge(&format!("{}/{dtype}", op.path()), cases.into_iter().map(|c| c.2).collect(), mistaken, |i, results| {
            let arrays = results.map(|all| all.into_iter().map(|r| r.map(|known| known.array)).collect());
            groups[places[i].0].accepts(places[i].1, arrays)
        })
    };
    for dtype in recipe::dtypes(op) {
        let (group, mut plain) = (Group::new(op, dtype)?, Vec::new());
        for n in group.small() {
            let case = group.case(n)?;
            if is_plain(&case) { &mut plain } else { &mut mixed }.push((groups.len(), n, case));
        }
        groups.push(group);
        out.push((dtype.name(), judged(dtype.name(), &groups, plain)?));
        // What was prepared is prepared again where a mixed call asks for it.
        groups.iter_mut().for_each(Group::forget);
    }
    out.push(("mixed", judged("mixed", &groups, mixed)?));
    Ok(out)
}

/// The mutants of the wanted rows before NumPy's answers, by row.
///
/// # Errors
/// As [`golden::answers`].
pub fn of_answers(wanted: impl Fn(&str) -> bool) -> Result<BTreeMap<String, Fates>, String> {
    let mut rows: BTreeMap<String, Vec<Golden>> = BTreeMap::new();
    for golden in golden::answers()? {
        rows.entry(golden.case.op.path().into_owned()).or_default().push(golden);
    }
    let judged = |(row, goldens): (String, Vec<Golden>)| {
        let cases = goldens.iter().map(|g| g.case.clone()).collect();
        let fates = judge(&row, cases, |_, _| Ok(vec![]), |i, results| Ok(results.is_ok_and(|r| goldens[i].accepts(&r))))?;
        Ok((row, fates))
    };
    rows.into_iter().filter(|(row, _)| wanted(row)).map(judged).collect()
}

fn judge(
    of: &str,
    cases: Vec<Case>,
    mistaken: impl Fn(usize, &Case) -> Result<Vec<(String, Case)>, String>,
    accepts: impl Fn(usize, Results) -> Result<bool, String>,
) -> Result<Fates, String> {
    let mut calls = Vec::new();
    let mut mutants: BTreeMap<String, Vec<(usize, Mutant)>> = BTreeMap::new();
    for (i, case) in cases.into_iter().enumerate() {
        let mut push = |name: String, mutant| mutants.entry(name).or_default().push((i, mutant));
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
    for (name, places) in mutants {
        let mut fate = match places[0].1 {
            Mutant::Turned(_) => Fate::Equivalent("its elements are equal".into()),
            Mutant::Mistaken(_) => Fate::Equivalent("it means the same".into()),
            _ => Fate::Stillborn,
        };
        // Changes of programs that are none, and the places that missed the mutant.
        let (mut none, mut missed) = (Same::default(), Vec::new());
        for (i, mutant) in &places {
            let call = &calls[*i];
            if missed.len() >= PATIENCE && none.is(mutant, call)? {
                continue;
            }
            let results = mutant.results(call);
            if matches!(&results, Err(e) if e.code == Code::Internal) {
                continue;
            }
            if !accepts(*i, results)? {
                fate = Fate::Caught;
                break;
            }
            missed.push((mutant, call));
        }
        if fate != Fate::Caught && !missed.is_empty() {
            fate = Fate::Equivalent(Same::REASON.into());
            for (mutant, call) in missed {
                if !none.is(mutant, call)? {
                    fate = Fate::Missed;
                    break;
                }
            }
        }
        let listed = EQUIVALENT.iter().find(|(row, start, _)| of.starts_with(row) && name.starts_with(start));
        if let (Fate::Missed, Some((.., reason))) = (&fate, listed) {
            fate = Fate::Equivalent((*reason).into());
        }
        fates.insert(name, fate);
    }
    Ok(fates)
}

impl Mutant {
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

/// Changed scalar programs that are the same functions as before.
#[derive(Default)]
struct Same {
    known: Vec<(Program, Program, bool)>,
}

impl Same {
    const REASON: &str = "the same function, by all operands of 16 bits or a sample of every class";

    fn is(&mut self, mutant: &Mutant, call: &Call) -> Result<bool, String> {
        let Mutant::Graph(mutation) = mutant else { return Ok(false) };
        let Some((before, after)) = mutation.programs(&call.graph) else { return Ok(false) };
        if let Some((.., same)) = self.known.iter().find(|(a, b, _)| (a, b) == (before, after)) {
            return Ok(*same);
        }
        let same = agree(before, after).map_err(|e| e.message)?;
        self.known.push((before.clone(), after.clone(), same));
        Ok(same)
    }
}

/// Whether two programs give the same bits, NaN apart.
fn agree(before: &Program, after: &Program) -> Result<bool> {
    let (before, after) = (without_params(before), without_params(after));
    let axes = before.instrs.iter().filter_map(|i| if let Op::Index(a) = i.op { Some(a as usize + 1) } else { None }).max();
    let equal = |count: usize, operands: fn(&[DType], &[usize]) -> Result<Vec<Array>>| {
        let mut dims = vec![2; axes.unwrap_or(1) - 1];
        dims.push(count >> dims.len());
        let inputs = operands(&before.inputs, &dims)?;
        let shapes = vec![dims.as_slice(); before.outputs.len()];
        let run = |program: &Program| reference::run(&Kernel::Map(Map { program: program.clone() }), &inputs, &shapes, &[]);
        let (a, b) = (run(&before)?, run(&after)?);
        Ok(a.iter().zip(&b).all(|(a, b)| compare::same_bits(a.dtype(), b.bytes(), a.bytes()).is_ok()))
    };
    // Most that differ do so at once.
    if !equal(SAMPLE >> 6, sample)? {
        return Ok(false);
    }
    let bits: usize = before.inputs.iter().map(|d| if *d == DType::Bool { 1 } else { 8 * d.bytes() }).sum();
    if bits <= 16 && axes.is_none() {
        equal(TUPLES, every)
    } else {
        equal(if before.instrs.len() > 100 { LONG_SAMPLE } else { SAMPLE }, sample)
    }
}

/// The program with its parameters as inputs, behind the others.
fn without_params(program: &Program) -> Program {
    let mut out = program.clone();
    let inputs = out.inputs.len() as u16;
    out.inputs.append(&mut out.params);
    for instr in &mut out.instrs {
        if let Op::Param(n) = instr.op {
            instr.op = Op::Input(inputs + n);
        }
    }
    out
}

/// Every tuple of operands that have 16 bits together.
fn every(dtypes: &[DType], dims: &[usize]) -> Result<Vec<Array>> {
    let mut shift = 0;
    let array = |&dtype: &DType| {
        let (from, size, mask) = (shift, dtype.bytes(), if dtype == DType::Bool { 1 } else { u16::MAX });
        shift += if dtype == DType::Bool { 1 } else { 8 * size };
        let bytes = (0..TUPLES).flat_map(|i| (((i >> from) as u16) & mask).to_le_bytes()[..size].to_vec()).collect();
        Array::new(dtype, dims, bytes)
    };
    dtypes.iter().map(array).collect()
}

/// Ordinary numbers, special ones and random bits, in all combinations; now and then equal in all operands of a dtype.
fn sample(dtypes: &[DType], dims: &[usize]) -> Result<Vec<Array>> {
    let (mut rng, count) = (Rng::named("operands of every class"), dims.iter().product());
    let mut pools: Vec<(DType, Vec<Array>)> = Vec::new();
    let fills = [Fill::Ordinary(Domain::Any), Fill::Special, Fill::Bits, Fill::Ordinary(Domain::Unit)];
    for &dtype in dtypes {
        if !pools.iter().any(|(d, _)| *d == dtype) {
            let arrays = fills.iter().map(|&fill| values::array(dtype, &[count], fill, &mut rng)).collect::<Result<_>>()?;
            pools.push((dtype, arrays));
        }
    }
    let mut bytes: Vec<Vec<u8>> = vec![Vec::new(); dtypes.len()];
    for _ in 0..count {
        let (equal, fill, at) = (rng.below(8) == 0, rng.below(fills.len()), rng.below(count));
        for (out, dtype) in bytes.iter_mut().zip(dtypes) {
            let pool = pools.iter().find(|(d, _)| d == dtype).map_or(&[][..], |(_, arrays)| arrays);
            let (fill, at) = if equal { (fill, at) } else { (rng.below(fills.len()), rng.below(count)) };
            out.extend_from_slice(&pool[fill].bytes()[at * dtype.bytes()..][..dtype.bytes()]);
        }
    }
    dtypes.iter().zip(bytes).map(|(&dtype, bytes)| Array::new(dtype, dims, bytes)).collect()
}

/// What was found of every row.
#[derive(Default)]
pub struct Report {
    /// Rows with mutants.
    pub rows: usize,
    /// By judge, row, name of the mutant: the dtypes (or nothing, of answers) and what came of it.
    fates: BTreeMap<(&'static str, String, String, Fate), Vec<&'static str>>,
}

/// The mutants of the rows whose name has this text in it, before both judges.
///
/// # Errors
/// As [`of_cases`] and [`of_answers`].
pub fn report(filter: &str) -> Result<Report, String> {
    let wanted: Vec<&'static OpDef> = ferrotensor_ops::OPS.iter().filter(|op| op.path().contains(filter)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut out = Vec::new();
        while let Some(&op) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            for (dtype, fates) in of_cases(op)? {
                out.push((op.path().into_owned(), dtype, fates));
            }
        }
        Ok(out)
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let found: Result<Vec<Vec<_>>, String> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        handles.into_iter().map(|h| h.join().unwrap_or_else(|_| Err("a mutant panicked".into()))).collect()
    });
    let mut report = Report { rows: wanted.len(), ..Report::default() };
    let cases = found?.into_iter().flatten().map(|(row, dtype, fates)| ("cases", row, dtype, fates));
    let answers = of_answers(|row| row.contains(filter))?.into_iter().map(|(row, f)| ("answers", row, "", f));
    for (judge, row, dtype, fates) in cases.chain(answers) {
        for (name, fate) in fates {
            report.fates.entry((judge, row.clone(), name, fate)).or_default().push(dtype);
        }
    }
    Ok(report)
}

impl Report {
    /// Mutants that were caught or cannot be, and those that were not.
    pub fn counts(&self) -> (usize, usize) {
        let good = |fate: &Fate| matches!(fate, Fate::Caught | Fate::Equivalent(_));
        let count = |wanted: bool| self.fates.iter().filter(|(k, _)| good(&k.3) == wanted).map(|(_, d)| d.len()).sum();
        (count(true), count(false))
    }
}

impl std::fmt::Display for Report {
    /// Equivalent ones and those nobody caught by name, and the sums of each judge.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for ((judge, row, name, fate), dtypes) in &self.fates {
            let words = match fate {
                Fate::Caught => continue,
                Fate::Equivalent(reason) => format!("equivalent ({reason})"),
                Fate::Missed => "NOT CAUGHT".into(),
                Fate::Stillborn => "NEVER RAN".into(),
            };
            writeln!(f, "{judge}: {row}: {name}: {words} {}", dtypes.join(" "))?;
        }
        for judge in ["cases", "answers"] {
            let count = |wanted: fn(&Fate) -> bool| -> usize {
                self.fates.iter().filter(|(k, _)| k.0 == judge && wanted(&k.3)).map(|(_, d)| d.len()).sum()
            };
            writeln!(
                f,
                "{judge}: {} rows, {} mutants: {} caught, {} equivalent, {} not caught, {} never ran",
                self.rows,
                count(|_| true),
                count(|f| *f == Fate::Caught),
                count(|f| matches!(f, Fate::Equivalent(_))),
                count(|f| *f == Fate::Missed),
                count(|f| *f == Fate::Stillborn)
            )?;
        }
        Ok(())
    }
}

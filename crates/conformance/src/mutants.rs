//! Is every row's meaning held? Each row is broken in one way after the other, and each mutant goes through the row's own cases as
//! any backend would: its results come from the reference executor, run on the changed graph (`mutations.rs`), or on the call as
//! a row sees it that mistakes an attribute, or are the right ones with one thing changed. The first case that fails
//! ends it. Two judges are asked, each alone: the cases of `rows.rs`, whose values must tell kernels apart, and NumPy's
//! answers of `golden.rs`, without which a wrong lowering would agree with itself.

mod same;

use crate::case::Case;
use crate::executor::Known;
use crate::golden::{self, Golden};
use crate::mutations::{self, Mutation};
use crate::recipe;
use crate::rows::Group;
use ferrotensor_core::reference::Array;
use ferrotensor_core::{Code, Error, Result};
use ferrotensor_ops::def::OpDef;
use ferrotensor_ops::graph::{Graph, Val};
use same::Same;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Cases that must have missed a mutant before it is asked whether there is anything to see; and one of which a sample says little.
const PATIENCE: usize = 4;
const MORE_PATIENCE: usize = 64;

/// Mutants of a row that every run tries: complex powers have 1,783, which take a minute.
const QUICK: usize = 100;

/// Mutants of which no case can know: how the row and dtype begin, how the names begin, and why. What a scalar program alone shows
/// is found by [`Same`] and needs no line here.
const EQUIVALENT: &[(&str, &[&str], &str)] = &[
    ("softmax/", &["another value for the reduction of nothing"], "nothing is divided by it"),
    ("logSoftmax/", &["another value for the reduction of nothing"], "it is subtracted from nothing"),
    ("softmax/bool", SHIFT, "their exponentials do not overflow, whatever is subtracted from all of them"),
    ("logSoftmax/bool", SHIFT, "their exponentials do not overflow, whatever is subtracted from all of them"),
    ("logsumexp/bool", SHIFT, "their exponentials do not overflow, whatever is subtracted from all of them"),
    ("logsumexp/", &["another value for the reduction of nothing"], "nothing is divided by it"),
    // An infinite logarithm has no bound, and what is added to it none either; NumPy's answers see both.
    (
        "logsumexp/",
        &["Const: another #2", "Max: operand 0 instead #1"],
        "only infinite results show it, which have no bound",
    ),
    ("diff/", &["axis taken for"], "another axis fits only where both have one place, and gives the same"),
    ("median/", &["a sort in the other order"], "the middle is the same, but for the place of NaN"),
    ("nanmedian/", &["a sort in the other order"], "the middle is the same, but for the place of NaN"),
    ("nanmedian/float16", &["Select: operand 2 instead"], "twice a half float is a number of the accumulator"),
    ("nanmedian", &["negative indices as zero"], "positions that are counted are not negative"),
    ("putAlongAxis", COUNTED, "positions that are counted are not negative"),
    ("nn.adaptiveAvgPool", &["Lt: Ne instead"], "no part is two places shorter than the longest"),
    ("nn.klDiv/bool", &["Eq: Le instead"], "nothing is negative"),
    ("nn.klDiv/uint", &["Eq: Le instead"], "nothing is negative"),
    ("nn.binaryCrossEntropyWithLogits/bool", OF_NEGATIVE_LOGITS, "nothing is negative"),
    ("nn.binaryCrossEntropyWithLogits/uint", OF_NEGATIVE_LOGITS, "nothing is negative"),
    ("nn.nllLoss", &["negative indices as zero"], "positions are counted, and negative classes out of range"),
    ("nn.crossEntropy", &["negative indices as zero"], "positions are counted, and negative classes out of range"),
    (
        "nn.crossEntropy/",
        &["another value for the reduction of nothing #1", "another value for the reduction of nothing #2"],
        "there is nothing it is subtracted from",
    ),
    ("nn.crossEntropy/bool", SHIFT, "their exponentials do not overflow, whatever is subtracted from all of them"),
    ("nn.nllLoss", &["Const: another #3"], "what is beyond the first class out of range is so too"),
    ("nn.prelu/bool", &["a broadcast of the reverse"], "nothing is negative, and every weight has a product with zero"),
    ("nn.prelu/uint", &["a broadcast of the reverse"], "nothing is negative, and every weight has a product with zero"),
    ("nn.rmsNorm/bool", &["Mul: operand 0 instead #1", "Mul: operand 1 instead #1"], "0 and 1 are their squares"),
    ("takeAlongAxis", COUNTED, "positions that are counted are not negative"),
    ("pad", &["negative indices as zero"], "positions that are counted are not negative"),
    ("interp", &["negative indices as zero", "Const: another #2"], BEFORE),
    ("quantile", &["Const: another #2"], "what is behind a place out of range is so too"),
    ("nanquantile", &["Const: another #2"], "what is behind a place out of range is so too"),
    ("percentile", &["Const: another #3"], "what is behind a place out of range is so too"),
    ("nanpercentile", &["Const: another #3"], "what is behind a place out of range is so too"),
    ("percentile", &["Const: another #9"], OF_PLACES),
    ("nanpercentile", &["Const: another #9"], OF_PLACES),
    ("quantile", PLACES, OF_PLACES),
    ("percentile", PLACES, OF_PLACES),
    ("nanquantile", PLACES, OF_PLACES),
    ("nanpercentile", PLACES, OF_PLACES),
    ("searchsorted", &["negative indices as zero"], "positions that are counted are not negative"),
    ("window", &["negative indices as zero"], "positions that are counted are not negative"),
    ("nn.adaptive", &["negative indices as zero"], "positions that are counted are not negative"),
    ("nn.interpolate", &["negative indices as zero"], "positions that are counted are not negative"),
    ("arrayEqual/bool", &["equalNan taken for"], "truth values hold no NaN"),
    ("arrayEqual/int", &["equalNan taken for"], "integers hold no NaN"),
    ("arrayEqual/uint", &["equalNan taken for"], "integers hold no NaN"),
    ("copysign/bool", &["a broadcast of the reverse"], "nothing is negative"),
    ("copysign/uint", &["a broadcast of the reverse"], "nothing is negative"),
    ("logspace/bool", &[""], "none of the powers tried is zero"),
    ("nn.conv", &["negative indices as zero"], "positions that are counted are not negative"),
    ("nn.conv/", &["groups taken for"], "both fit the operands only where there are no channels"),
    ("random.uniform", &["Lt: Ne instead"], "no number is scaled beyond the end"),
    ("linalg.matrixPower", &["operands 0 and 1 exchanged"], "powers of one matrix commute"),
    ("linalg.det", &["Mul: Div instead"], "what is multiplied with is 1 or -1"),
    ("linalg.slogdet", &["Mul: Div instead"], "what is multiplied with is 1 or -1"),
    (
        "linalg.cond/",
        &[
            "Const: another #1",
            "Const: another #2",
            "Eq: Le instead #2",
            "Eq: Ne instead #2",
            "Index: one more",
            "Input(1): Input(2) instead #1",
            "Select: operand 2 instead",
            "Value(All) for Value(Any)",
            "a broadcast of the reverse #1",
            "a reduction without its last element #1",
            "a shape filled column by column #2",
            "a step not heeded #1",
        ],
        SINGULAR,
    ),
    ("linalg.cond/complex", &["Eq: Le instead #1"], SINGULAR),
    ("linalg.cond/bool", &["Abs: operand 0 instead #1"], "nothing is negative"),
    ("linalg.cond/uint", &["Abs: operand 0 instead #1"], "nothing is negative"),
    ("linalg.cond/bool", &["Eq: Le instead #1"], "of bool every pivot is 1 where anything is promised"),
    ("cov", &["Sub: operands 0 and 1 exchanged #1"], "products of deviations of the other sign are the same"),
    ("corrcoef", &["Sub: operands 0 and 1 exchanged #1"], "products of deviations of the other sign are the same"),
    ("cov/", &["another value for the reduction of nothing"], "it is subtracted from nothing"),
    ("corrcoef/", &["another value for the reduction of nothing"], "it is subtracted from nothing"),
    ("corrcoef", &["a shape filled column by column #1"], "a matrix and its transpose have one diagonal"),
    // Coefficients beyond 1 are within the bound; NumPy's answers see them.
    (
        "corrcoef/",
        &["Const: another #2", "Const: another #3", "Max: operand 0 instead", "Min: operand 0 instead"],
        "only roundings carry a coefficient beyond 1",
    ),
    ("linalg.eigvalsh", &["Neg: operand 0 instead"], "a Hermitian matrix and its conjugate have the same eigenvalues"),
    ("linalg.matrixNorm/bool", &["Abs: operand 0 instead"], "nothing is negative"),
    ("linalg.matrixNorm/uint", &["Abs: operand 0 instead"], "nothing is negative"),
    ("linalg.matrixNorm/bool", &["Mul: operand 0 instead", "Mul: operand 1 instead"], "0 and 1 are their squares"),
    ("linalg.vectorNorm/bool", &["Abs: operand 0 instead", "Eq: Le instead #1"], "nothing is negative"),
    ("linalg.vectorNorm/uint", &["Abs: operand 0 instead", "Eq: Le instead #1"], "nothing is negative"),
    ("linalg.vectorNorm/bool", &["Mul: operand 0 instead", "Mul: operand 1 instead"], "0 and 1 are their squares"),
    ("linalg.slogdet/bfloat16", &["Cast: by way of another dtype #1"], "signs are whole numbers"),
    ("linalg.slogdet/float16", &["Cast: by way of another dtype #2"], "signs are whole numbers"),
    ("linalg.slogdet", &["Lt: Ne instead #2"], "where a pivot is NaN, so is the sign of the order of rows"),
    (
        "linalg.slogdet/bool",
        &[
            "Abs: operand 0 instead",
            "Const: another",
            "Lt: ",
            "Mul: operand 1 instead",
            "Select: ",
            "Value(Prod) for Value(Sum)",
            "a reduction without its last element",
            "output 1 one element further",
        ],
        "of bool every pivot is 1 where anything is promised",
    ),
    ("linalg.slogdet/complex", &["Const: another #1", "Select: operand 2 instead #1"], SINGULAR),
    ("linalg.slogdet/", &["Lt: Le instead", "Lt: Ne instead #2", "Select: operand 1 instead #1"], SINGULAR),
    ("fft.hfft/bool", HALF, "8 bits are digits of bfloat16"),
    ("fft.hfft/int8", HALF, "8 bits are digits of bfloat16"),
    ("fft.hfft/uint8", HALF, "8 bits are digits of bfloat16"),
    ("fft.irfft/bool", HALF, "8 bits are digits of bfloat16"),
    ("fft.irfft/int8", HALF, "8 bits are digits of bfloat16"),
    ("fft.irfft/uint8", HALF, "8 bits are digits of bfloat16"),
    ("fft.hfft/b", OWN_CONJUGATES, REAL),
    ("fft.hfft/f", OWN_CONJUGATES, REAL),
    ("fft.hfft/i", OWN_CONJUGATES, REAL),
    ("fft.hfft/u", OWN_CONJUGATES, REAL),
    ("fft.irfft/b", OWN_CONJUGATES, REAL),
    ("fft.irfft/f", OWN_CONJUGATES, REAL),
    ("fft.irfft/i", OWN_CONJUGATES, REAL),
    ("fft.irfft/u", OWN_CONJUGATES, REAL),
    ("linalg.cholesky/bool", &["a permutation left out"], "of bool only the unit matrix is definite among the cases"),
];
/// Of places among elements, in rows whose linear ways between two of them are the same point from either end.
const PLACES: &[&str] = &["Floor: Trunc instead", "Lt: Le instead", "Min: operand 0 instead", "negative indices as zero"];
const OF_PLACES: &str =
    "half-way both ends are as near; places are not negative, but of no numbers, and beyond the last only of 2^24 elements";
const BEFORE: &str = "what is before the first sample is on the left of it, whatever sample is looked up";
/// Of which a pivot is 0, or NaN: what then is a pivot hangs on the last bits.
const SINGULAR: &str = "nothing is promised of singular matrices but by NumPy's answers";
/// A spectrum's conjugates and its direction.
const OWN_CONJUGATES: &[&str] = &["Neg: Abs instead", "Neg: operand 0 instead", "a transform of the other sign"];
/// The real part of a conjugate.
const HALF: &[&str] = &["Cast: by way of another dtype #1"];
const REAL: &str = "real numbers are their own conjugates, and such a spectrum is the same backwards";
/// The operands of a gather that are not the caller's.
const COUNTED: &[&str] = &["negative indices as zero, operand 0", "negative indices as zero, operand 2"];
/// What keeps apart the logits of either sign; the second sum is that of a call with a weight.
const OF_NEGATIVE_LOGITS: &[&str] = &["Abs: operand 0 instead", "Add: Sub instead #2", "Add: operand 0 instead #2"];
/// What finds the largest element of a softmax.
const SHIFT: &[&str] = &[
    "Sub: Add instead #1",
    "Sub: operand 0 instead #1",
    "Value(Min) for Value(Max) #1",
    "a broadcast of the reverse #1",
    "a permutation left out #1",
    "a reduction without its last element #1",
    "a shape filled column by column #1",
];

/// What came of one mutant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// A case failed.
    Caught,
    /// There is nothing to see, and why.
    Equivalent(String),
    /// Every case passed; an example of operands that show it, where there is one.
    Missed(String),
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
        let (group, mut own) = (Group::new(op, dtype)?, Vec::new());
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

/// The mutants of a row before NumPy's answers, at most so many.
fn of_answers(row: &str, goldens: &[Golden], most: usize) -> Result<Fates, String> {
    let cases = goldens.iter().map(|g| g.case.clone()).collect();
    // Few and small, and stricter than bounds: they know the signs of zeros.
    let patience = |_: &Mutant, _: &Call| usize::MAX;
    judge(
        row,
        cases,
        &|_| true,
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
    let fates = of_answers(row, goldens, QUICK)?;
    let left: Vec<String> = fates
        .iter()
        .filter(|(_, fate)| matches!(fate, Fate::Missed(_) | Fate::Stillborn))
        .map(|(name, fate)| format!("{name}: {fate:?}"))
        .collect();
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
        let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        let listed = EQUIVALENT.iter().find(|(row, starts, _)| of.starts_with(row) && begins(starts));
        if let (Fate::Missed(_), Some((.., reason))) = (&fate, listed) {
            fate = Fate::Equivalent((*reason).into());
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
        if missed.len() >= patience(mutant, call) && mutant.witness(call, &mut same)?.is_none() {
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
            _ if !missed.is_empty() => Fate::Equivalent(Same::REASON.into()),
            Mutant::Turned(_) => Fate::Equivalent("its elements are equal".into()),
            Mutant::Mistaken(_) => Fate::Equivalent("it means the same".into()),
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
/// As [`of_cases`] and [`golden::answers`].
pub fn report(filter: &str) -> Result<Report, String> {
    let wanted: Vec<&'static OpDef> = ferrotensor_ops::OPS.iter().filter(|op| op.path().contains(filter)).collect();
    let answers = golden::answers()?;
    let next = AtomicUsize::new(0);
    let work = || {
        let mut out = Vec::new();
        while let Some(&op) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            let row = op.path().into_owned();
            if let Some(goldens) = answers.get(&row) {
                out.push(("answers", row.clone(), "", of_answers(&row, goldens, usize::MAX)?));
            }
            out.extend(of_cases(op)?.into_iter().map(|(dtype, fates)| ("cases", row.clone(), dtype, fates)));
        }
        Ok(out)
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let found: Result<Vec<Vec<_>>, String> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        handles.into_iter().map(|h| h.join().unwrap_or_else(|_| Err("a mutant panicked".into()))).collect()
    });
    let mut report = Report { rows: wanted.len(), ..Report::default() };
    for (judge, row, dtype, fates) in found?.into_iter().flatten() {
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
                Fate::Missed(at) if at.is_empty() => "NOT CAUGHT".into(),
                Fate::Missed(at) => format!("NOT CAUGHT (of {at})"),
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
                count(|f| matches!(f, Fate::Missed(_))),
                count(|f| *f == Fate::Stillborn)
            )?;
        }
        Ok(())
    }
}

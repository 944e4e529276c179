//! The rows: op x dtype in full, each with a covering array of circumstances, on every instruction-set tier with fusion on
//! and off, against the reference and against each other; and a sample of them on the devices beside the CPU.

use crate::bounds::Bound;
use crate::breadth;
use crate::case::{Case, Operand, Placement};
use crate::compare;
use crate::covering;
use crate::executor::Known;
use crate::hash::Folded;
use crate::ledger::{self, Status};
use crate::machine::{self, Device, Machine};
use crate::recipe::{self, Plan, Recipe};
use crate::rounds;
use crate::shapes;
use crate::values::Rng;
use ferrotensor_core::kernel::{Kernel, WindowCombine};
use ferrotensor_core::reference::Array;
use ferrotensor_core::{Code, DType, Result};
use ferrotensor_cpu::Tier;
use ferrotensor_engine::Stats;
use ferrotensor_ops::def::{Lowering, OpDef};
use ferrotensor_ops::dtype_rule::Compute;
use ferrotensor_ops::graph::{Def, Graph};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::hash::BuildHasherDefault;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Most cases of one covering of an op and dtype.
const LIMIT: usize = 400;
/// Most calls of nothing but tensors of one dtype in each round beside it (`rounds.rs`): of ten dtypes for each operand, pairs alone
/// leave one such call in ten.
const ORDINARY: usize = 32;
/// Of those with several threads for functions.
const WIDE: [DType; 3] = [DType::F32, DType::F64, DType::C64];
/// Dtypes tried with several threads: one for each loop the CPU has (bytes, halves, words, long words, complex).
const PARALLEL: [DType; 7] = [DType::U8, DType::BF16, DType::I32, DType::F32, DType::I64, DType::F64, DType::C64];

/// One row with one dtype.
pub struct Group {
    op: &'static OpDef,
    dtype: DType,
    /// For the small shapes, and for the one that threads share.
    recipes: Vec<Recipe>,
    cases: Vec<Planned>,
    /// Whether this run tries it in every way (`breadth.rs`).
    sampled: bool,
    sample: OnceLock<Vec<usize>>,
}

/// A case before its operands have elements.
struct Planned {
    recipe: usize,
    assignment: Vec<usize>,
    placement: Placement,
    /// Bytes of its largest operand, result or temporary.
    largest: usize,
    /// It is there to tell kernels from each other, beside a covering that meets every circumstance: one variant says as much as all.
    spare: bool,
    /// Made by the first variant that runs, shared by all.
    prepared: OnceLock<Result<Prepared, String>>,
}

/// What every variant of a case is compared with.
struct Prepared {
    case: Case,
    reference: Result<Vec<Result<Known>>>,
    same_bits: SameBits,
    routine: bool,
    /// What the first variant gave.
    first: OnceLock<Vec<Vec<u8>>>,
}

/// `exp/float32`.
fn name(op: &OpDef, dtype: DType) -> String {
    format!("{}/{}", op.path(), dtype.name())
}

/// Every row and dtype whose name the filter may accept, with their cases.
///
/// # Errors
/// A sentence for a row that no case could be made for.
pub fn groups(wanted: impl Fn(&str) -> bool + Sync) -> Result<Vec<Arc<Group>>, String> {
    let all: Vec<(&'static OpDef, DType)> = ferrotensor_ops::OPS
        .iter()
        .flat_map(|op| recipe::dtypes(op).into_iter().map(move |d| (op, d)))
        .filter(|(op, d)| wanted(&name(op, *d)))
        .collect();
    // Two threads take the next one each: some rows take a thousand times as long as others.
    let next = AtomicUsize::new(0);
    let plan = || {
        let mut planned = Vec::new();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(&(op, dtype)) = all.get(n) else { return Ok(planned) };
            planned.push((n, Group::new(op, dtype, breadth::is_sampled(&name(op, dtype)))?));
        }
    };
    let planned: Result<Vec<_>, String> = std::thread::scope(|scope| {
        let workers = [(); 2].map(|()| scope.spawn(plan));
        workers.into_iter().map(|w| w.join().unwrap_or_else(|_| Err("planning of cases panicked".into()))).collect()
    });
    let mut planned: Vec<_> = planned?.into_iter().flatten().collect();
    planned.sort_by_key(|(n, _)| *n);
    let groups: Vec<Arc<Group>> =
        planned.into_iter().map(|(_, g)| g).filter(|g| !g.cases.is_empty()).map(Arc::new).collect();
    for op in &ferrotensor_ops::OPS {
        let named = |g: &Arc<Group>| g.is_of(op);
        // A filter may leave just a dtype that the row refuses.
        let unfiltered = all.iter().filter(|(o, _)| std::ptr::eq(*o, op)).count() == recipe::dtypes(op).len();
        if unfiltered && !groups.iter().any(named) {
            return Err(format!(
                "no case could be made for {}: teach crates/conformance/src/recipe/operands.rs its operands",
                op.path()
            ));
        }
    }
    Ok(groups)
}

impl Group {
    /// The cases of a row and dtype; of one that is tried in every way, also those that tell rows from broken ones.
    ///
    /// # Errors
    /// As [`Recipe::plan`].
    pub fn new(op: &'static OpDef, dtype: DType, sampled: bool) -> Result<Group, String> {
        let name = name(op, dtype);
        let (mut recipes, mut cases) = (Vec::new(), Vec::new());
        for parallel in [false, true] {
            // Functions of other dtypes are the same ones behind a conversion.
            let converted = matches!(op.lower, Lowering::Map(_)) && op.dtype.compute == Compute::Float;
            if parallel && (!PARALLEL.contains(&dtype) || converted && !WIDE.contains(&dtype)) {
                continue;
            }
            let recipe = Recipe::new(op, dtype, parallel);
            let mut rng = Rng::named(&format!("{name}/{parallel}"));
            let sizes: Vec<usize> = recipe.axes.iter().map(|a| a.values.len()).collect();
            let mut broken = None;
            // Coverings try the same assignments over and over, and a plan is dear.
            let mut known: HashMap<u128, Option<usize>, BuildHasherDefault<Folded>> = HashMap::default();
            let mut largest = |a: &[usize]| {
                // A number by itself: an assignment as digits.
                let key = a.iter().zip(&sizes).fold(0u128, |key, (&value, &size)| key * size as u128 + value as u128);
                if let Some(&largest) = known.get(&key) {
                    return largest;
                }
                let plan = recipe.plan(a).unwrap_or_else(|e| {
                    broken = Some(e);
                    None
                });
                let largest = plan.map(|plan| plan.largest);
                known.insert(key, largest);
                largest
            };
            let mut settle = |a: &mut [usize]| {
                recipe.settle(a);
                largest(a).is_some()
            };
            // Two are enough to cross the threshold of threads: circumstances are the small shapes' business.
            let mut assignments = covering::pairwise(&sizes, if parallel { 2 } else { LIMIT }, &mut rng, &mut settle);
            let met = assignments.len();
            let varied = sizes != recipe.ordinary() || op.attrs.len() > 2;
            // Rows that go many ways have elements for each of them among their values.
            let ways = recipe.axes.iter().find(|a| a.name == "values").map_or(0, |a| a.values.len());
            if sampled && !parallel {
                let (coverings, rounds) = rounds::of(op, ways, varied || dtype.is_complex(), recipe::is_indexed(op));
                for _ in 0..coverings {
                    assignments.extend(covering::pairwise(&sizes, LIMIT, &mut rng, &mut settle));
                }
                for _ in 0..rounds {
                    assignments.extend(covering::pairwise(&recipe.ordinary(), ORDINARY, &mut rng, &mut settle));
                }
            }
            for (n, assignment) in assignments.into_iter().enumerate() {
                let (placement, recipe_number) = (recipe.placement(&assignment), recipes.len());
                let largest = largest(&assignment).unwrap_or(0);
                let prepared = OnceLock::new();
                cases.push(Planned { recipe: recipe_number, assignment, placement, largest, spare: n >= met, prepared });
            }
            if let Some(e) = broken {
                return Err(e);
            }
            recipes.push(recipe);
        }
        Ok(Group { op, dtype, recipes, cases, sampled, sample: OnceLock::new() })
    }

    /// `exp/float32`.
    pub fn name(&self) -> String {
        name(self.op, self.dtype)
    }

    /// The layouts of the first operand that its cases have.
    pub fn placements(&self) -> Vec<Placement> {
        Placement::ALL.into_iter().filter(|p| self.cases.iter().any(|c| c.placement == *p)).collect()
    }

    /// Number of cases with this layout.
    pub fn count(&self, placement: Placement) -> usize {
        self.cases.iter().filter(|c| c.placement == placement).count()
    }

    /// Every circumstance that some case stands for on a backend, as (row on backend, (axis, value)).
    pub fn planned(&self, backend: &str) -> impl Iterator<Item = (String, (String, String))> {
        let name = self.on(backend);
        let cases = if backend == "cpu" { (0..self.cases.len()).collect() } else { self.sample().to_vec() };
        let choices = |n: usize| {
            let Planned { recipe, assignment, .. } = &self.cases[n];
            assignment.iter().enumerate().map(move |(axis, &value)| (*recipe, axis, value))
        };
        let met: BTreeSet<(usize, usize, usize)> = cases.into_iter().flat_map(choices).collect();
        met.into_iter().map(move |(recipe, axis, value)| {
            let axis = &self.recipes[recipe].axes[axis];
            (name.clone(), (axis.name.clone(), axis.values[value].clone()))
        })
    }

    /// Choices on an axis that no case of the small shapes stands for, spare ones apart, which not every run plans.
    fn unreached(&self) -> impl Iterator<Item = String> {
        let small = self.cases.iter().filter(|c| c.recipe == 0 && !c.spare);
        let reached: BTreeSet<(usize, usize)> = small.flat_map(|c| c.assignment.iter().copied().enumerate()).collect();
        let axes = self.recipes.first().map_or(&[][..], |r| &r.axes).iter().enumerate();
        let all =
            axes.flat_map(|(a, axis)| axis.values.iter().enumerate().map(move |(v, value)| ((a, v), &axis.name, value)));
        all.filter(move |(at, ..)| !reached.contains(at)).map(|(_, axis, value)| format!("{axis}={value}"))
    }

    fn on(&self, backend: &str) -> String {
        format!("{} on {backend}", self.name())
    }

    /// Numbers of the cases for devices beside the CPU, in every run the same: a few in which every circumstance occurs that fits the
    /// hostile one's buffers.
    pub fn sample(&self) -> &[usize] {
        self.sample.get_or_init(|| self.few(|case| !case.spare && case.largest <= ferrotensor_fakes::MAX_BUFFER))
    }

    /// Numbers of a few cases of small shapes in which every circumstance occurs of those that are wanted.
    fn few(&self, wanted: impl Fn(&Planned) -> bool) -> Vec<usize> {
        let all: Vec<usize> =
            (0..self.cases.len()).filter(|&n| self.cases[n].recipe == 0 && wanted(&self.cases[n])).collect();
        let assignments: Vec<&[usize]> = all.iter().map(|&n| self.cases[n].assignment.as_slice()).collect();
        covering::singles(&assignments).into_iter().map(|n| all[n]).collect()
    }

    /// The tiers it is tried on in this run: the newest one first, whose results the others must have.
    pub fn tiers(&self) -> Vec<Tier> {
        machine::tiers().0.into_iter().rev().filter(|&tier| self.sampled || tier == machine::newest()).collect()
    }

    /// Runs the cases of one layout on one tier.
    ///
    /// # Errors
    /// A sentence for each case that is wrong, at most five.
    pub fn check(&self, placement: Placement, tier: Tier) -> Result<(), String> {
        let here = |n: &usize| self.cases[*n].placement == placement && self.turn(*n).is_none_or(|(turn, _)| turn == tier);
        self.check_all((0..self.cases.len()).filter(here), |n, p| self.check_case(n, p, Device::Cpu(tier)))
    }

    /// The tier and the setting of fusion that a spare case runs with: in turn. Nothing for one that runs with all of them.
    fn turn(&self, n: usize) -> Option<(Tier, bool)> {
        let (tiers, _) = machine::tiers();
        self.cases[n].spare.then(|| (tiers[n % tiers.len()], (n / tiers.len()).is_multiple_of(2)))
    }

    /// Runs the sample on a device beside the CPU.
    ///
    /// # Errors
    /// A sentence for each case that is wrong, at most five.
    pub fn check_sample(&self, device: Device) -> Result<(), String> {
        self.check_all(self.sample().iter().copied(), |n, p| {
            // Whose bits it must have.
            if p.same_bits.on(device) && p.first.get().is_none() {
                self.check_case(n, p, Device::Cpu(machine::newest()))?;
            }
            self.check_case(n, p, device)
        })
    }

    fn check_all(
        &self,
        cases: impl Iterator<Item = usize>,
        check: impl Fn(usize, &Prepared) -> Result<(), String>,
    ) -> Result<(), String> {
        let (mut failures, mut count) = (Vec::new(), 0);
        for n in cases {
            count += 1;
            let planned = &self.cases[n];
            let prepared = planned.prepared.get_or_init(|| self.prepare(n)).as_ref().map_err(Clone::clone);
            if let Err(e) = prepared.and_then(|p| check(n, p).map_err(|e| format!("{}: {e}", p.case))) {
                failures.push(e);
            }
        }
        let shown: Vec<String> = failures.iter().take(5).cloned().collect();
        if failures.is_empty() {
            Ok(())
        } else {
            Err(format!("{} of {count} cases\n  {}", failures.len(), shown.join("\n  ")))
        }
    }

    /// Numbers of the cases of small shapes, in the order in which they show a mistake at least cost: few elements first, but
    /// those that have next to none last.
    pub fn small(&self) -> Vec<usize> {
        let mut small: Vec<usize> = (0..self.cases.len()).filter(|&n| self.cases[n].recipe == 0).collect();
        small.sort_by_key(|&n| (self.cases[n].largest < 64, self.cases[n].largest));
        small
    }

    /// Whether it is one of this row.
    pub fn is_of(&self, op: &OpDef) -> bool {
        std::ptr::eq(self.op, op)
    }

    /// What a few of its cases lower to, in words, in which every circumstance occurs: a row whose lowering has changed is another one in
    /// some of them.
    ///
    /// # Errors
    /// As [`Group::case`].
    pub fn lowered(&self) -> Result<String, String> {
        let mut text = String::new();
        for n in self.few(|case| !case.spare) {
            let (recipe, _, plan) = self.plan(n)?;
            let case = recipe.outline(plan).map_err(|e| e.message)?;
            let (graph, outputs) = case.lower().unwrap_or_default();
            // Not the numbers of rows, which are others when one comes before them. Writing to a string does not fail.
            for node in &graph.nodes {
                let _ = write!(text, "{:?}", node.def);
            }
            let _ = write!(text, "{:?}{outputs:?}{:?}", graph.values, case.params());
        }
        Ok(text)
    }

    /// As [`Recipe::is_own`], of the n-th case.
    pub fn is_own(&self, n: usize) -> bool {
        self.recipes[self.cases[n].recipe].is_own(&self.cases[n].assignment)
    }

    /// The n-th case.
    ///
    /// # Errors
    /// A sentence when its operands cannot be made.
    pub fn case(&self, n: usize) -> Result<Case, String> {
        let (recipe, assignment, plan) = self.plan(n)?;
        recipe.fill(assignment, plan, &mut Rng::named(&format!("{}/{n}", self.name()))).map_err(|e| e.message)
    }

    fn plan(&self, n: usize) -> Result<(&Recipe, &[usize], Plan), String> {
        let Planned { recipe, assignment, .. } = &self.cases[n];
        let recipe = &self.recipes[*recipe];
        let plan = recipe.plan(assignment)?.ok_or("a valid assignment has a plan")?;
        Ok((recipe, assignment, plan))
    }

    /// Drops what was prepared for comparisons.
    pub fn forget(&mut self) {
        self.cases.iter_mut().for_each(|c| drop(c.prepared.take()));
    }

    /// The n-th case as a row sees it that takes an attribute or a number for another: what is mistaken, and the case.
    ///
    /// # Errors
    /// As [`Recipe::plan`].
    pub fn mistaken(&self, n: usize, case: &Case) -> Result<Vec<(String, Case)>, String> {
        let Planned { recipe, assignment, .. } = &self.cases[n];
        self.recipes[*recipe].mistaken(assignment, case)
    }

    /// Whether results pass as those of the n-th case.
    ///
    /// # Errors
    /// A sentence when the case cannot be prepared.
    pub fn accepts(&self, n: usize, results: Result<Vec<Result<Array>>>) -> Result<bool, String> {
        let planned = &self.cases[n];
        let prepared = planned.prepared.get_or_init(|| self.prepare(n)).as_ref().map_err(Clone::clone)?;
        // A mistake of the table has the same bits on every variant.
        Ok(check_result(prepared, results, &Stats::default(), false).is_ok_and(|(status, _)| status != Status::Unsupported))
    }

    fn prepare(&self, n: usize) -> Result<Prepared, String> {
        let case = self.case(n)?;
        let graph = case.lower().map(|l| l.0).unwrap_or_default();
        if let (Some(words), true) = (ledger::bound_words(&graph), is_plain(&case)) {
            ledger::bound(self.op, self.dtype, words);
        }
        Ok(Prepared {
            reference: case.reference(),
            same_bits: SameBits::of(&graph),
            routine: kernels(&graph).any(|k| matches!(k, Kernel::Routine(_))),
            first: OnceLock::new(),
            case,
        })
    }

    fn check_case(&self, n: usize, prepared: &Prepared, device: Device) -> Result<(), String> {
        let case = &prepared.case;
        let parallel = case.axes.iter().any(|(a, v)| a == "shape" && shapes::is_parallel(v));
        let backwards = |o: &Operand| matches!(o, Operand::Tensor { placement: Placement::Reversed, .. });
        let plain = is_plain(case) && !case.operands.iter().any(backwards);
        let wanted = |fusion: &bool| match device {
            Device::Cpu(_) => self.turn(n).map_or(*fusion || self.sampled, |(_, turn)| turn == *fusion),
            Device::Hostile => true,
            // Each pipeline takes the driver some 15 ms.
            Device::Vulkan => n.is_multiple_of(2) == *fusion,
        };
        let place = self.on(device.backend());
        for fusion in [true, false].into_iter().filter(wanted) {
            let run = |threads| {
                machine::with(device, fusion, |m| {
                    // Whatever ran on this machine before is not this row's.
                    m.take_stats();
                    let got = m.call(case);
                    m.forget();
                    Ok((threads, got, m.take_stats()))
                })
            };
            let results = if !parallel {
                vec![run(0)]
            } else {
                // More threads than most machines have; of two such cases each variant but one runs one with few, one with many.
                let counts: &[usize] = match (fusion && device == Device::Cpu(machine::newest()), n % 2) {
                    (true, _) => &[1, 2, 4, 8],
                    (_, 0) => &[1, 2],
                    _ => &[4, 8],
                };
                machine::with_threads(counts, run)
            };
            for result in results {
                let (threads, got, stats) = result?;
                let threads = if parallel { threads.to_string() } else { "any".into() };
                let variant =
                    [("device", device.name()), ("fusion", if fusion { "on" } else { "off" }), ("threads", &threads)];
                let (status, distance) = check_result(prepared, got, &stats, prepared.same_bits.on(device))
                    .map_err(|e| format!("{variant:?}: {e}"))?;
                ledger::status(device.backend(), self.op, self.dtype, plain, status);
                if is_plain(case) && matches!(device, Device::Cpu(_)) {
                    ledger::measured(self.op, self.dtype, distance);
                }
                ledger::hit(&place, case, &variant);
            }
        }
        Ok(())
    }
}

/// The choices that no case of a row stands for, each with the dtypes that is true of: combinations inference refuses, or for
/// which [`covering::pairwise`] found nothing.
pub fn unreached(groups: &[Arc<Group>]) -> Vec<String> {
    let mut lines: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for group in groups {
        for choice in group.unreached() {
            lines.entry(format!("{} {choice}", group.op.path())).or_default().push(group.dtype.name());
        }
    }
    let all = DType::all().count();
    let named = |dtypes: Vec<&str>| if dtypes.len() == all { "every dtype".into() } else { dtypes.join(" ") };
    lines.into_iter().map(|(choice, dtypes)| format!("{choice}: {}", named(dtypes))).collect()
}

/// Whether a machine gives the right results in the small cases of a row and dtype.
///
/// # Errors
/// A sentence when the row has no cases.
pub fn sample(op: &str, dtype: DType, machine: &mut Machine) -> Result<bool, String> {
    let op = ferrotensor_ops::find(op).ok_or("no such row")?;
    let group = Group::new(op, dtype, true)?;
    let mut right = true;
    for n in group.small() {
        let prepared = group.prepare(n)?;
        right &= check_result(&prepared, machine.call(&prepared.case), &Stats::default(), false).is_ok();
    }
    Ok(right)
}

/// Where a graph has the same bits, whatever the instruction set, the threads and fusion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SameBits {
    /// Its routines are a library's.
    Nowhere,
    /// Its products of floats are chains in one order there.
    OnTheCpu,
    /// And those of the CPU.
    Everywhere,
}

impl SameBits {
    /// Where it does.
    pub fn of(graph: &Graph) -> SameBits {
        let free = |dtype: DType| dtype.is_float() || dtype.is_complex();
        let is_product = |k: &Kernel| match k {
            Kernel::Contract(c) => free(c.dtype),
            Kernel::Window(w) => w.combine == WindowCombine::Dot && free(w.dtype),
            _ => false,
        };
        if kernels(graph).any(|k| matches!(k, Kernel::Routine(_))) {
            SameBits::Nowhere
        } else if kernels(graph).any(is_product) {
            SameBits::OnTheCpu
        } else {
            SameBits::Everywhere
        }
    }

    /// Whether a device has them.
    pub fn on(self, device: Device) -> bool {
        self == SameBits::Everywhere || (self == SameBits::OnTheCpu && device.is_cpu())
    }
}

/// The kernels of a graph.
pub fn kernels(graph: &Graph) -> impl Iterator<Item = &Kernel> {
    graph.nodes.iter().filter_map(|n| if let Def::Kernel { kernel, .. } = &n.def { Some(kernel) } else { None })
}

/// Whether all operands and the result are of the case's own dtype: only then does it say something about that dtype's accuracy.
fn is_plain(case: &Case) -> bool {
    case.axes.iter().all(|(axis, value)| !axis.starts_with("dtype") || value == "same" || value == "none")
}

fn check_result(
    prepared: &Prepared,
    got: Result<Vec<Result<Array>>>,
    stats: &Stats,
    same_bits: bool,
) -> Result<(Status, compare::Distance), String> {
    let status = Status::of(stats, prepared.routine);
    let got = match (got, &prepared.reference) {
        (Err(e), _) if e.code == Code::Unsupported => return Ok((Status::Unsupported, Default::default())),
        (Err(e), Err(r)) if e.code == r.code && e.code != Code::Internal => {
            return Ok((status, Default::default()));
        }
        (Err(e), _) => return Err(format!("refused with {:?}: {e}", e.code)),
        (Ok(_), Err(r)) => return Err(format!("accepted, but the reference says {:?}: {r}", r.code)),
        (Ok(got), Ok(_)) => got,
    };
    let wanted = prepared.reference.as_ref().map_err(|e| e.message.clone())?;
    if got.len() != wanted.len() {
        return Err(format!("{} outputs instead of {}", got.len(), wanted.len()));
    }
    let mut worst = compare::Distance::default();
    let mut bits = Vec::new();
    for (n, (got, wanted)) in got.into_iter().zip(wanted).enumerate() {
        match (got, wanted) {
            (Err(e), Err(r)) if e.code == r.code => bits.push(Vec::new()),
            (Err(e), Err(r)) => return Err(format!("output {n} fails with {:?} instead of {:?}", e.code, r.code)),
            (Err(e), Ok(_)) => return Err(format!("output {n} fails: {e}")),
            (Ok(_), Err(r)) => return Err(format!("output {n} has a value, but should fail with {:?}: {r}", r.code)),
            (Ok(array), Ok(known)) => {
                let (is, should) = ((array.dtype(), array.dims()), (known.array.dtype(), known.array.dims()));
                if is != should {
                    return Err(format!("output {n} is {is:?}, should be {should:?}"));
                }
                worst = worst.max(compare::within(array.bytes(), known).map_err(|e| format!("output {n}: {e}"))?);
                bits.push(array.bytes().to_vec());
            }
        }
    }
    if same_bits {
        let first = prepared.first.get_or_init(|| bits.clone());
        for (n, ((bits, first), known)) in bits.iter().zip(first).zip(wanted).enumerate() {
            let Ok(known) = known else { continue };
            if matches!(&known.bound, Bound::Absolute(_)) {
                compare::same_bits(known.array.dtype(), bits, first)
                    .map_err(|e| format!("output {n} differs from another variant of the same case: {e}"))?;
            }
        }
    }
    Ok((status, worst))
}

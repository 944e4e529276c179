//! The kernel of rows: a group of 256 threads has eight slots of 32 lanes, and a row has one of them, or all eight where rows are few
//! and long. Each reduction goes along the row as in `reduce.rs`, maps computed anew from the operands for each element; every
//! thread then has the row's value. At last the elements that are stored are computed once more.

use super::element::{self, Operand};
use super::module::{Array, Module};
use super::reduce::{Plan as Reduction, SLOTS};
use super::scalar::{self, Id, held};
use super::space::{Arguments, Space};
use super::tree::{Writer, compare, word};
use crate::Can;
use crate::code::{Code, GROUP, Inst, Type, Word};
use ferrotensor_core::DType;
use ferrotensor_core::kernel::tree::{LANES, ROWS};
use ferrotensor_core::rows::{LONGEST, Per, RowStep, Rows};
use ferrotensor_core::scalar::{Arithmetic, Op, Program, plain};
use std::collections::HashMap;

/// Words before the spaces: rows, groups of the tree that a slot goes along (a power of two).
const HEAD: u32 = 2;
/// Partials of the longest row, and one more.
const DEEPEST: u32 = (LONGEST / (LANES * ROWS)).ilog2() + 2;

/// A step in plain form.
enum Step {
    Map(Program),
    Reduce(Box<Reduction>),
}

/// A kernel of rows in plain form.
pub struct Plan {
    kernel: Rows,
    values: Vec<(DType, Per)>,
    steps: Vec<Step>,
    /// Launch parameters before each step.
    params: Vec<usize>,
}

impl Plan {
    /// The plan of a kernel that keeps the rules.
    pub fn new(kernel: &Rows, arithmetic: Arithmetic) -> Plan {
        let mut params = vec![0];
        for step in &kernel.steps {
            params.push(params[params.len() - 1] + step.params().len());
        }
        let steps = kernel.steps.iter().map(|step| match step {
            RowStep::Map { map, .. } => Step::Map(plain(&map.program, arithmetic)),
            RowStep::Reduce { reduce, .. } => Step::Reduce(Box::new(Reduction::new(reduce, arithmetic))),
        });
        Plan { values: kernel.values(), steps: steps.collect(), params, kernel: kernel.clone() }
    }

    /// Every program in it.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        self.steps.iter().flat_map(|step| match step {
            Step::Map(program) => vec![program],
            Step::Reduce(plan) => plan.programs().to_vec(),
        })
    }

    /// Reductions, and instructions for an element in all passes over a row.
    pub fn work(&self) -> (usize, usize) {
        let map = |s: &Step| if let Step::Map(program) = s { program.instrs.len() } else { 0 };
        let maps: usize = self.steps.iter().map(map).sum();
        let reductions = self.steps.iter().map(|s| if let Step::Reduce(plan) = s { plan.work() } else { 0 });
        let count = self.steps.iter().filter(|s| matches!(s, Step::Reduce(_))).count();
        (count, maps * (count + 1) + reductions.sum::<usize>() + 20)
    }

    /// Numbers of the operands' values: inputs, then outputs.
    pub fn operands(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.kernel.inputs.len()).chain(self.kernel.outputs.iter().copied())
    }

    /// Where the numbers of the space of rows stand, and of that of a row's elements: operands, parameters.
    pub fn arguments(&self, rank: usize) -> (Arguments, Arguments) {
        let operands = self.operands().count();
        let rows = Arguments { start: HEAD, rank, operands, params: 0 };
        (rows, Arguments { start: rows.end(), rank, operands, params: self.params[self.steps.len()] })
    }
}

/// What the parts of a kernel need.
struct Kernel<'a> {
    plan: &'a Plan,
    /// Of the steps: launch parameters.
    params: Vec<Vec<Id>>,
    operands: Vec<Operand>,
    row: Arguments,
    trouble: Result<(), String>,
}

/// A row that a thread is at: its place in the operands, and the values it has by now.
struct Row {
    space: Space,
    known: Vec<Option<Id>>,
}

/// The kernel over at most `rank` loops of rows and of a row's elements; a row has so many slots (1, 2, 4 or 8).
///
/// # Errors
/// A sentence naming what the device lacks.
pub fn shader(plan: &Plan, rank: usize, team: u32, can: &Can) -> Result<Code, String> {
    let types: Vec<DType> = plan.operands().map(|v| plan.values[v].0).collect();
    types.iter().try_for_each(|&d| element::check(d, can))?;
    if types.len() > can.max_buffers as usize {
        return Err(format!("more than {} operands", can.max_buffers));
    }
    let (rows, row) = plan.arguments(rank);
    let mut m = Module::new(row.end());
    let inputs = plan.kernel.inputs.len();
    let operands = types.iter().enumerate().map(|(n, &d)| Operand::new(&mut m, d, n >= inputs, can)).collect();
    let mut at = 0;
    let params = plan.kernel.steps.iter().map(|step| {
        let own = step.params();
        at += own.len();
        own.iter().zip(at - own.len()..).map(|(&d, n)| element::parameter(&mut m, d, row.param(n))).collect()
    });
    let params = params.collect();
    let mut k = Kernel { plan, params, operands, row, trouble: Ok(()) };
    let mut memory: HashMap<(Type, usize), (Array, Array)> = HashMap::new();

    let [local, group, groups] = m.thread();
    let (total, span, count) = (m.argument(0), m.argument(1), m.argument(row.start));
    let [zero, one, five, mask] = [0, 1, LANES.ilog2(), LANES as u32 - 1].map(|v| m.word(v));
    let lane = m.op(Inst::BitwiseAnd, Type::U32, &[local, mask]);
    let slot = m.op(Inst::ShiftRightLogical, Type::U32, &[local, five]);
    let [members, together, shift] = [team - 1, SLOTS / team, team.ilog2()].map(|v| m.word(v));
    let (part, own) = (word(&mut m, Inst::BitwiseAnd, slot, members), word(&mut m, Inst::ShiftRightLogical, slot, shift));
    let (first, step) = (word(&mut m, Inst::IMul, group, together), word(&mut m, Inst::IMul, groups, together));
    // Elements of a group of the tree, and of a slot.
    let size = m.word((LANES * ROWS) as u32);
    let share = word(&mut m, Inst::IMul, span, size);
    let begin = word(&mut m, Inst::IMul, part, share);
    let begin = word(&mut m, Inst::IAdd, begin, lane);
    let more = |m: &mut Module, v: &[Word]| compare(m, v[0], total);
    m.repeat(&[(Type::U32, first)], more, |m, v| {
        let n = word(m, Inst::IAdd, v[0], own);
        let active = compare(m, n, total);
        // A slot without a row is at the last one, and stores nothing.
        let last = word(m, Inst::ISub, total, one);
        let n = m.op(Inst::Select, Type::U32, &[active, n, last]);
        let mut at = Row { space: Space::new(m, rows, n), known: vec![None; plan.values.len()] };
        for v in (0..inputs).filter(|&v| plan.values[v].1 == Per::Row) {
            let place = at.space.position(m, v);
            at.known[v] = Some(k.operands[v].load(m, place));
        }
        for (s, step) in plan.steps.iter().enumerate() {
            let to = inputs + s;
            let reduction = match step {
                Step::Map(_) if plan.values[to].1 == Per::Element => continue,
                Step::Map(program) => {
                    let given = k.given(&at, s);
                    at.known[to] = Some(k.run(m, program, &given, s));
                    continue;
                }
                Step::Reduce(reduction) => reduction,
            };
            let mut w = Writer::new(reduction, k.params[s].clone());
            let types = w.types.clone();
            let mut nth: HashMap<Type, usize> = HashMap::new();
            let arrays = types.iter().map(|&of| {
                let n = nth.entry(of).or_insert(0);
                *n += 1;
                let make = || (m.array(of, DEEPEST, false), m.array(of, GROUP, true));
                *memory.entry((of, *n)).or_insert_with(make)
            });
            let (stack, shared): (Vec<Array>, Vec<Array>) = arrays.unzip();
            let from = plan.kernel.steps[s].operands()[0];
            let exists = |m: &mut Module, n: Word| {
                let far = word(m, Inst::IMul, n, size);
                let at = word(m, Inst::IAdd, begin, far);
                let (inside, left) = (compare(m, at, count), compare(m, n, span));
                (m.op(Inst::LogicalAnd, Type::Bool, &[inside, left]), at)
            };
            let mine = w.counted(
                m,
                &stack,
                |m, n| exists(m, n).0,
                |w, m, n| {
                    let (_, first) = exists(m, n);
                    w.group(m, first, count, |w, m, i| {
                        let x = k.element(m, &at, i, from);
                        w.run(m, reduction.pre(), &[x], 0, |m, _| m.word(0))[0].words().to_vec()
                    })
                },
            );
            let mine = if team > 1 { w.parts(m, &shared, mine, [local, part, begin], share, count, team) } else { mine };
            w.lanes(m, &shared, mine, local, lane, count);
            // What the row's first thread has is everybody's.
            let beginning = m.word(!(team * LANES as u32 - 1));
            let leader = word(m, Inst::BitwiseAnd, local, beginning);
            let all: Vec<Word> = shared.iter().map(|&s| m.get(s, leader)).collect();
            m.barrier();
            let sum = w.ids(&all)[0];
            at.known[to] = Some(w.run(m, reduction.post(), &[sum], reduction.pre().params.len(), |m, _| m.word(0))[0]);
            if let Err(reason) = w.trouble {
                k.trouble = Err(reason);
            }
        }
        let within = m.word(team * LANES as u32 - 1);
        let thread = word(m, Inst::BitwiseAnd, local, within);
        let stored: Vec<(usize, usize)> = plan.kernel.outputs.iter().enumerate().map(|(n, &v)| (inputs + n, v)).collect();
        let of = |per: Per| stored.iter().copied().filter(move |(_, v)| plan.values[*v].1 == per).collect::<Vec<_>>();
        let of_rows = of(Per::Row);
        if !of_rows.is_empty() {
            let leads = m.op(Inst::IEqual, Type::Bool, &[thread, zero]);
            let leads = m.op(Inst::LogicalAnd, Type::Bool, &[leads, active]);
            m.when(leads, |m| {
                for (operand, v) in of_rows {
                    let place = at.space.position(m, operand);
                    if let Some(value) = at.known[v] {
                        k.operands[operand].store(m, place, value);
                    }
                }
            });
        }
        let elements = of(Per::Element);
        if !elements.is_empty() {
            let stride = m.word(team * LANES as u32);
            let more = |m: &mut Module, v: &[Word]| {
                let inside = compare(m, v[0], count);
                m.op(Inst::LogicalAnd, Type::Bool, &[inside, active])
            };
            m.repeat(&[(Type::U32, thread)], more, |m, v| {
                let place = Space::new(m, row, v[0]);
                let mut known = HashMap::new();
                for &(operand, value) in &elements {
                    let value = k.value(m, &at, &place, value, &mut known);
                    let (base, more) = (at.space.position(m, operand), place.position(m, operand));
                    let to = word(m, Inst::IAdd, base, more);
                    k.operands[operand].store(m, to, value);
                }
                vec![word(m, Inst::IAdd, v[0], stride)]
            });
        }
        vec![word(m, Inst::IAdd, v[0], step)]
    });
    k.trouble.map(|()| m.finish())
}

impl Kernel<'_> {
    /// The values of rows that a step reads.
    fn given(&self, at: &Row, step: usize) -> Vec<Id> {
        let operands = self.plan.kernel.steps[step].operands();
        operands.iter().map(|&o| at.known[o].unwrap_or(Id::One(0))).collect()
    }

    /// The output of a step's program; a problem is remembered, and something else returned.
    fn run(&mut self, m: &mut Module, program: &Program, inputs: &[Id], step: usize) -> Id {
        let params = &self.params[step];
        let values = scalar::program(m, program, |m, instr| match instr.op {
            Op::Input(n) => inputs[n as usize],
            Op::Param(n) => params[n as usize],
            // Refused before: programs of rows ask for no positions.
            _ => Id::One(m.constant(held(instr.dtype), 0)),
        });
        match values {
            Ok(values) => values[program.outputs[0] as usize],
            Err(reason) => {
                self.trouble = Err(reason);
                Id::One(m.word(0))
            }
        }
    }

    /// A value at an element of the row.
    fn element(&mut self, m: &mut Module, at: &Row, i: Word, value: usize) -> Id {
        let place = Space::new(m, self.row, i);
        self.value(m, at, &place, value, &mut HashMap::new())
    }

    /// The same, of what is `known` at the element.
    fn value(&mut self, m: &mut Module, at: &Row, place: &Space, value: usize, known: &mut HashMap<usize, Id>) -> Id {
        if let Some(id) = at.known[value].or_else(|| known.get(&value).copied()) {
            return id;
        }
        let plan = self.plan;
        let inputs = plan.kernel.inputs.len();
        let id = match value.checked_sub(inputs).map(|s| (s, &plan.steps[s])) {
            Some((s, Step::Map(program))) => {
                let operands = plan.kernel.steps[s].operands();
                let given: Vec<Id> = operands.iter().map(|&o| self.value(m, at, place, o, known)).collect();
                self.run(m, program, &given, s)
            }
            // A reduction's value is the row's, and known.
            Some((_, Step::Reduce(_))) => Id::One(m.word(0)),
            None => {
                let (base, more) = (at.space.position(m, value), place.position(m, value));
                let from = word(m, Inst::IAdd, base, more);
                self.operands[value].load(m, from)
            }
        };
        known.insert(value, id);
        id
    }
}

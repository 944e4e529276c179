//! Which steps of a kernel a pass of [`super::passes`] takes: the sums of a softmax, a norm and their gradients with what is done to each element
//! before, largest elements, and the last product with weights and biases. What no pass takes is done step by step.

use super::passes::{self, Before, Extremes, Scaled, Sums, Within};
use super::wide::PassItem;
use crate::map::compile::simple;
use crate::tier::Tier;
use ferrotensor_core::DType;
use ferrotensor_core::kernel::tree::LANES;
use ferrotensor_core::kernel::{Combine, Map, Monoid, Reduce};
use ferrotensor_core::rows::{Per, RowStep, Rows};
use ferrotensor_core::scalar::{MathFn, Op, Program, Value};

/// Elements of a row from which on there are passes: each lane of the tree has one.
pub const SHORTEST: usize = LANES;

/// A pass in the place of a step. Operands are numbers of values.
pub enum Pass {
    /// Nothing is left to do: the pass of a later step does it.
    Absorbed,
    /// A sum; `kept` is the value of an absorbed step that somebody reads.
    Sum { run: unsafe fn(Sums), x: usize, y: Option<usize>, row: Option<usize>, kept: Option<usize> },
    /// A largest or smallest element.
    Extreme { run: unsafe fn(Extremes), x: usize },
    /// A product with a value of the row, of what another value of the row leaves where there is one; `others`: with weights and biases.
    Scale { run: unsafe fn(Scaled), x: usize, less: Option<usize>, row: usize, others: Vec<usize> },
}

/// The passes of a kernel, for each step the one in its place.
///
/// # Errors
/// As [`simple`].
pub fn passes(kernel: &Rows, tier: Tier) -> Result<Vec<Option<Pass>>, String> {
    match kernel.inputs.iter().find(|i| i.1 == Per::Element).map(|i| i.0) {
        Some(DType::F32) => found::<f32>(kernel, DType::F32, tier),
        Some(DType::F64) => found::<f64>(kernel, DType::F64, tier),
        _ => Ok(kernel.steps.iter().map(|_| None).collect()),
    }
}

fn found<T: PassItem>(kernel: &Rows, dtype: DType, tier: Tier) -> Result<Vec<Option<Pass>>, String> {
    let values = kernel.values();
    let is = |v: usize, per: Per| values[v] == (dtype, per);
    let mut passes: Vec<Option<Pass>> = kernel.steps.iter().map(|_| None).collect();
    for (n, step) in kernel.steps.iter().enumerate() {
        let pass = match step {
            RowStep::Map { map, operands } if is(kernel.inputs.len() + n, Per::Element) => {
                let roles = scaling(&simple(&map.program)?).map(|roles| roles.of(operands));
                roles.filter(|r| r.fits(&is)).map(|Roles { x, less, row, others }| Pass::Scale {
                    run: passes::scale::<T>(less.is_some(), others.len(), tier),
                    x,
                    less,
                    row,
                    others,
                })
            }
            RowStep::Reduce { reduce, operand } if is(*operand, Per::Element) && reduce.acc == dtype => {
                let Some(within) = within(reduce)? else { continue };
                match reduce.combine {
                    Combine::Value(Monoid::Sum) => {
                        let (absorbed, pass) = summing::<T>(kernel, n, *operand, within, tier, &is)?;
                        if let Some(absorbed) = absorbed {
                            passes[absorbed] = Some(Pass::Absorbed);
                        }
                        pass
                    }
                    Combine::Value(monoid @ (Monoid::Max | Monoid::Min)) if within == Within::Nothing => {
                        Some(Pass::Extreme { run: passes::extreme::<T>(monoid == Monoid::Max, tier), x: *operand })
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        if passes[n].is_none() {
            passes[n] = pass;
        }
    }
    Ok(passes)
}

/// The pass of a sum, and the step that it absorbs: the one that makes its operand, where nobody reads that in between.
fn summing<T: PassItem>(
    kernel: &Rows,
    n: usize,
    operand: usize,
    within: Within,
    tier: Tier,
    is: &impl Fn(usize, Per) -> bool,
) -> Result<(Option<usize>, Option<Pass>), String> {
    let made = operand.checked_sub(kernel.inputs.len()).and_then(|m| match &kernel.steps[m] {
        RowStep::Map { map, operands } => Some((m, map, operands)),
        RowStep::Reduce { .. } => None,
    });
    let reads = |step: &RowStep| step.operands().contains(&operand);
    if let Some((m, map, operands)) = made
        && !kernel.steps[m + 1..n].iter().any(reads)
        && let Some(before) = before(map, operands, is)?
        && let Some(run) = passes::sum::<T>(before, within, tier)
    {
        let (y, row) = if before == Before::Times { (Some(operands[1]), None) } else { (None, Some(operands[1])) };
        let is_kept = kernel.outputs.contains(&operand) || kernel.steps[n + 1..].iter().any(reads);
        let kept = is_kept.then_some(operand);
        return Ok((Some(m), Some(Pass::Sum { run, x: operands[0], y, row, kept })));
    }
    let run = passes::sum::<T>(Before::Nothing, within, tier);
    Ok((None, run.map(|run| Pass::Sum { run, x: operand, y: None, row: None, kept: None })))
}

/// What a step does to each element.
fn before(map: &Map, operands: &[usize], is: &impl Fn(usize, Per) -> bool) -> Result<Option<Before>, String> {
    let program = simple(&map.program)?;
    let [x, other] = operands else { return Ok(None) };
    if !is(*x, Per::Element) {
        return Ok(None);
    }
    let result = program.outputs[0];
    Ok(match (is(*other, Per::Row), is(*other, Per::Element)) {
        (true, _) if is_less(&program, result) => Some(Before::Less),
        (true, _) => called(&program, result, MathFn::Exp).filter(|&gap| is_less(&program, gap)).map(|_| Before::ExpLess),
        (_, true) => (of(&program, result, Op::Mul) == Some([0, 1].map(Some))).then_some(Before::Times),
        _ => None,
    })
}

fn is_less(program: &Program, value: Value) -> bool {
    of(program, value, Op::Sub) == Some([0, 1].map(Some))
}

/// What a reduction does to what it combines.
fn within(reduce: &Reduce) -> Result<Option<Within>, String> {
    let Some(program) = &reduce.pre else { return Ok((reduce.input == reduce.acc).then_some(Within::Nothing)) };
    let program = simple(program)?;
    let result = program.outputs[0];
    Ok(match input(&program, result) {
        Some(_) => Some(Within::Nothing),
        None if of(&program, result, Op::Mul) == Some([0, 0].map(Some)) => Some(Within::Square),
        None => called(&program, result, MathFn::Exp).and_then(|x| input(&program, x)).map(|_| Within::Exp),
    })
}

/// What the operands of a product are, by their numbers.
struct Roles {
    x: usize,
    less: Option<usize>,
    row: usize,
    others: Vec<usize>,
}

impl Roles {
    /// The same of the operands of a step.
    fn of(self, operands: &[usize]) -> Roles {
        let at = |n: usize| operands[n];
        Roles {
            x: at(self.x),
            less: self.less.map(at),
            row: at(self.row),
            others: self.others.into_iter().map(at).collect(),
        }
    }

    fn fits(&self, is: &impl Fn(usize, Per) -> bool) -> bool {
        let rows = self.less.into_iter().chain([self.row]);
        self.others.iter().chain([&self.x]).all(|&o| is(o, Per::Element)) && rows.into_iter().all(|o| is(o, Per::Row))
    }
}

/// The inputs of `x row`, `(x - less) row`, that times a weight, and that plus a bias.
fn scaling(program: &Program) -> Option<Roles> {
    let number = |v: Value| input(program, v).map(usize::from);
    let (mut value, mut others) = (program.outputs[0], Vec::new());
    if let Some((sum, bias)) = sides(program, value, Op::Add) {
        others.push(number(bias)?);
        value = sum;
    }
    let (mut product, mut factor) = sides(program, value, Op::Mul)?;
    if program.instrs[product as usize].op == Op::Mul {
        others.insert(0, number(factor)?);
        (product, factor) = sides(program, product, Op::Mul)?;
    } else if !others.is_empty() {
        return None;
    }
    let (x, less) = match sides(program, product, Op::Sub) {
        Some((x, less)) => (number(x)?, Some(number(less)?)),
        None => (number(product)?, None),
    };
    Some(Roles { x, less, row: number(factor)?, others })
}

/// The number of the input that a value is.
fn input(program: &Program, value: Value) -> Option<u16> {
    match program.instrs[value as usize].op {
        Op::Input(n) => Some(n),
        _ => None,
    }
}

/// The operand of a call of this function.
fn called(program: &Program, value: Value, function: MathFn) -> Option<Value> {
    let instr = &program.instrs[value as usize];
    (instr.op == Op::Call(function)).then(|| instr.args[0])
}

/// The operands of this operation.
fn sides(program: &Program, value: Value, op: Op) -> Option<(Value, Value)> {
    let instr = &program.instrs[value as usize];
    (instr.op == op).then(|| (instr.args[0], instr.args[1]))
}

/// The same as inputs.
fn of(program: &Program, value: Value, op: Op) -> Option<[Option<u16>; 2]> {
    sides(program, value, op).map(|(x, y)| [input(program, x), input(program, y)])
}

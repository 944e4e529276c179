//! Compiles a scalar program to a tile program: a list of (tile function, registers). A register is a pointer to one
//! tile's worth of elements; which memory it points at is decided for each launch in `frame.rs`.

use super::groups::{OWN, Shared, group_number, groups, shared};
use super::table::{copy, repeat, tile_fn};
use super::tile::TileFn;
use crate::tier::Tier;
use ferrotensor_core::DType;
use ferrotensor_core::scalar::{MathFn, Op, Program, Value, simplify, verify};

/// A register number: inputs first, then outputs, then constants, coordinates and temporaries.
pub type Register = u16;

/// One instruction.
pub struct Step {
    pub run: TileFn,
    pub out: Register,
    /// Unused ones name any register.
    pub args: [Register; 3],
    /// It computes one value for each 2^n elements.
    pub group: u8,
}

/// A register that holds one value in all its elements.
pub struct Constant {
    pub register: Register,
    pub bits: Bits,
    pub dtype: DType,
    /// It is read once for each 2^n elements.
    pub group: u8,
}

/// Where a constant's value comes from.
pub enum Bits {
    Literal(u64),
    Param(usize),
}

/// A register that holds coordinates along an output axis, as int64 or int32; or, with a group, their quotients by 2^n, once for each 2^n
/// elements.
pub struct Coordinate {
    pub register: Register,
    pub axis: usize,
    pub wide: bool,
    pub group: u8,
}

/// A compiled program.
pub struct TileProgram {
    pub steps: Vec<Step>,
    /// What is the same for all elements: run once for a frame.
    pub once: Vec<Step>,
    pub constants: Vec<Constant>,
    pub coordinates: Vec<Coordinate>,
    /// For each input its element size, and whether any instruction reads it.
    pub inputs: Vec<(usize, bool)>,
    /// For each output its register and element size.
    pub outputs: Vec<(Register, usize)>,
    pub registers: usize,
    /// Elements of a tile.
    pub tile: usize,
    /// Bytes between the registers' own memory.
    pub slot: usize,
    /// Whether the one output is the one input.
    pub is_copy: bool,
    /// Estimated cost of one element.
    pub nanos: f64,
}

/// What becomes of a program's results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Results {
    /// Each has a register of its own, which may point into an operand.
    Stored,
    /// They stay where they arise, for the caller to read: an input handed through is not copied.
    Kept,
}

// A register's memory. Five of them fit a 48 KB first-level cache; 512 to 2048 elements are equally fast, 4096 loses 20 %.
const REGISTER_BYTES: usize = 8192;

/// The widest element any dtype has.
const WIDEST: usize = 16;

/// Compiles a program for a tier.
///
/// # Errors
/// A sentence: the first broken rule, or an instruction the CPU does not have.
pub fn compile(program: &Program, results: Results, tier: Tier) -> Result<TileProgram, String> {
    compile_apart(&simple(program)?, results, tier)
}

/// A program to compile, in its simplest form.
///
/// # Errors
/// The first broken rule.
pub fn simple(program: &Program) -> Result<Program, String> {
    verify(program)?;
    Ok(simplify(program))
}

/// Compiles a simple program, each element by itself.
///
/// # Errors
/// As [`compile`].
pub fn compile_apart(program: &Program, results: Results, tier: Tier) -> Result<TileProgram, String> {
    compile_simple(program, vec![OWN; program.instrs.len()], results, tier)
}

/// The same for launches of one axis whose inputs in `scalars` (a bit for each) have one element: what neighbours
/// share is computed once for them.
///
/// # Errors
/// As [`compile`].
pub fn compile_in_groups(program: &Program, tier: Tier, scalars: u64) -> Result<TileProgram, String> {
    compile_simple(program, shared(program, scalars), Results::Stored, tier)
}

fn compile_simple(program: &Program, shared: Vec<Shared>, results: Results, tier: Tier) -> Result<TileProgram, String> {
    let groups = groups(program, &shared);
    // What is read once for several elements has as few of them in a register; operands and results always have all.
    let kept = (0..program.instrs.len()).filter(|&v| !is_replaced(program, &shared, v));
    let kept = kept.map(|v| program.instrs[v].dtype.bytes() >> groups[v]);
    let whole = program.inputs.iter().copied().chain(program.outputs.iter().map(|&v| program.dtype(v)));
    let widest = kept.chain(whole.map(|d| d.bytes())).max().unwrap_or(1).clamp(4, WIDEST);
    let tile = REGISTER_BYTES / widest;
    // One line more than the data: registers 8 KiB apart would share their low 12 address bits, which makes a load wait
    // for an unrelated store.
    let slot = REGISTER_BYTES + 64;
    let mut compiler = Compiler {
        tier,
        groups,
        shared,
        assigned: vec![None; program.instrs.len()],
        repeated: Vec::new(),
        free: Vec::new(),
        next: program.inputs.len(),
        last_use: last_uses(program, results),
        out: TileProgram {
            steps: Vec::new(),
            once: Vec::new(),
            constants: Vec::new(),
            coordinates: Vec::new(),
            inputs: program.inputs.iter().map(|d| (d.bytes(), false)).collect(),
            outputs: Vec::new(),
            registers: 0,
            tile,
            slot,
            is_copy: matches!(program.outputs[..], [v] if matches!(program.instrs[v as usize].op, Op::Input(0))),
            nanos: 0.0,
        },
    };
    if results == Results::Stored {
        compiler.reserve_outputs(program);
    }
    for value in 0..program.instrs.len() {
        compiler.instruction(program, value)?;
    }
    match results {
        Results::Stored => compiler.copy_to_outputs(program),
        Results::Kept => {
            for &value in &program.outputs {
                let register = compiler.assigned[value as usize].ok_or("a result has no register")?;
                compiler.out.outputs.push((register, program.dtype(value).bytes()));
            }
        }
    }
    if compiler.next > Register::MAX as usize {
        return Err(format!("a program of {} instructions needs too many registers", program.instrs.len()));
    }
    compiler.out.registers = compiler.next;
    Ok(compiler.out)
}

struct Compiler {
    tier: Tier,
    /// Of each value, who shares it, and that it is read or computed once for each 2^n elements.
    shared: Vec<Shared>,
    groups: Vec<u8>,
    assigned: Vec<Option<Register>>,
    /// Shared values once more, for smaller groups.
    repeated: Vec<(Value, u8, Register)>,
    free: Vec<Register>,
    next: usize,
    /// For each value the last instruction that reads it; `usize::MAX` for results.
    last_use: Vec<usize>,
    out: TileProgram,
}

fn last_uses(program: &Program, results: Results) -> Vec<usize> {
    let mut last = vec![0; program.instrs.len()];
    for (i, instr) in program.instrs.iter().enumerate() {
        for &a in &instr.args {
            last[a as usize] = i;
        }
    }
    // Stored results own their register; only those kept in a temporary must not be overwritten.
    let pinned = if results == Results::Kept { &program.outputs[..] } else { &[] };
    for &o in pinned {
        last[o as usize] = usize::MAX;
    }
    last
}

impl Compiler {
    fn fresh(&mut self) -> Register {
        self.next += 1;
        // A program with more registers than that is refused at the end.
        (self.next - 1) as Register
    }

    /// The results' registers; the instruction that computes a result writes there directly.
    fn reserve_outputs(&mut self, program: &Program) {
        for &value in &program.outputs {
            let register = self.fresh();
            self.out.outputs.push((register, program.dtype(value).bytes()));
            if is_computed(program, value) && self.assigned[value as usize].is_none() {
                self.last_use[value as usize] = usize::MAX;
                if self.shared[value as usize] == OWN {
                    self.assigned[value as usize] = Some(register);
                }
            }
        }
    }

    /// The register of a value with one element for each 2^`group`.
    fn operand(&mut self, program: &Program, value: Value, group: u8) -> Result<Register, String> {
        let from = self.assigned[value as usize].ok_or("an operand has no register")?;
        let own = self.groups[value as usize];
        if self.shared[value as usize] == Shared::ByAll || own == group {
            return Ok(from);
        }
        if let Some(&(.., register)) = self.repeated.iter().find(|r| (r.0, r.1) == (value, group)) {
            return Ok(register);
        }
        let out = self.free.pop().unwrap_or_else(|| self.fresh());
        self.repeat(program.dtype(value), from, out, own, group);
        self.repeated.push((value, group, out));
        Ok(out)
    }

    fn repeat(&mut self, dtype: DType, from: Register, out: Register, own: u8, group: u8) {
        let run = repeat(dtype, own - group, self.tier);
        self.out.steps.push(Step { run, out, args: [from; 3], group });
        self.out.nanos += 0.02 * dtype.bytes() as f64 / f64::from(1u32 << group);
    }

    /// Results that are not computed by an instruction of their own, or were asked for twice.
    fn copy_to_outputs(&mut self, program: &Program) {
        for (n, &value) in program.outputs.iter().enumerate() {
            let (out, size) = self.out.outputs[n];
            match self.assigned[value as usize] {
                Some(from) if self.groups[value as usize] > 0 => {
                    self.repeat(program.dtype(value), from, out, self.groups[value as usize], 0);
                }
                Some(from) if from != out => {
                    let run = copy(program.dtype(value), self.tier);
                    self.out.steps.push(Step { run, out, args: [from; 3], group: 0 });
                    self.out.nanos += 0.02 * size as f64;
                }
                _ => {}
            }
        }
    }

    fn instruction(&mut self, program: &Program, value: usize) -> Result<(), String> {
        let instr = &program.instrs[value];
        let size = instr.dtype.bytes();
        match instr.op {
            Op::Input(n) => {
                self.out.inputs[n as usize].1 |= self.last_use[value] > 0 || program.outputs.contains(&(value as Value));
                self.assigned[value] = Some(n);
            }
            Op::Const(_) | Op::Param(_) => {
                let register = self.fresh();
                let bits = match instr.op {
                    Op::Param(n) => Bits::Param(n as usize),
                    Op::Const(bits) => Bits::Literal(bits),
                    _ => Bits::Literal(0),
                };
                self.out.constants.push(Constant { register, bits, dtype: instr.dtype, group: self.groups[value] });
                self.assigned[value] = Some(register);
            }
            Op::Index(_) if is_replaced(program, &self.shared, value) => {}
            Op::Index(axis) => self.coordinate(value, axis, instr.dtype, 0),
            op => {
                if let Some(axis) = narrow_index(program, value) {
                    self.coordinate(value, axis, instr.dtype, 0);
                    return Ok(());
                }
                let group = self.groups[value];
                if let (Some((axis, _)), 1..) = (group_number(program, value as Value), group) {
                    self.coordinate(value, axis, instr.dtype, group);
                    return Ok(());
                }
                let arg = instr.args.last().map_or(instr.dtype, |&a| program.dtype(a));
                let run = tile_fn(op, instr.dtype, arg, self.tier)?;
                let mut args = [0; 3];
                for (slot, &a) in args.iter_mut().zip(&instr.args) {
                    *slot = self.operand(program, a, group)?;
                }
                let for_all = self.shared[value] == Shared::ByAll;
                // The target is chosen before the operands are given back, so it never is one of them. What is computed once for all keeps
                // its register.
                let out = match self.assigned[value] {
                    Some(reserved) => reserved,
                    None if for_all => self.fresh(),
                    None => self.free.pop().unwrap_or_else(|| self.fresh()),
                };
                self.assigned[value] = Some(out);
                let steps = if for_all { &mut self.out.once } else { &mut self.out.steps };
                steps.push(Step { run, out, args, group });
                if !for_all {
                    self.out.nanos += cost(op, size) / f64::from(1u32 << group);
                }
                self.give_back(program, value);
            }
        }
        Ok(())
    }

    fn coordinate(&mut self, value: usize, axis: u8, dtype: DType, group: u8) {
        // Coordinates are written before all else: into no register that something earlier uses.
        let register = match self.assigned[value] {
            Some(reserved) => reserved,
            None => self.fresh(),
        };
        let wide = dtype == DType::I64;
        self.out.coordinates.push(Coordinate { register, axis: axis as usize, wide, group });
        self.out.nanos += 0.3 / f64::from(1u32 << group);
        self.assigned[value] = Some(register);
    }

    /// Frees the registers of what this instruction reads last.
    fn give_back(&mut self, program: &Program, value: usize) {
        let operands = program.instrs[value].args.iter().copied();
        let mut dying: Vec<Value> = operands.filter(|&a| self.last_use[a as usize] == value).collect();
        dying.sort_unstable();
        dying.dedup();
        for a in dying {
            let kept = self.shared[a as usize] == Shared::ByAll;
            if let (false, true, Some(register)) = (kept, is_computed(program, a), self.assigned[a as usize]) {
                self.free.push(register);
            }
            self.free.extend(self.repeated.iter().filter(|r| r.0 == a).map(|r| r.2));
            self.repeated.retain(|r| r.0 != a);
        }
    }
}

/// The axis of a coordinate of which only the low 32 bits are wanted: it is written as such.
fn narrow_index(program: &Program, value: usize) -> Option<u8> {
    let instr = &program.instrs[value];
    match (instr.op, instr.dtype, instr.args.first().map(|&x| program.instrs[x as usize].op)) {
        (Op::Cast, DType::I32 | DType::U32, Some(Op::Index(axis))) => Some(axis),
        _ => None,
    }
}

/// Whether a value is a coordinate that is only read through what is written in its place: numbers of groups, and its low bits.
fn is_replaced(program: &Program, shared: &[Shared], value: usize) -> bool {
    let mut users = program.instrs.iter().enumerate().filter(|(_, i)| i.args.contains(&(value as Value)));
    matches!(program.instrs[value].op, Op::Index(_))
        && !program.outputs.contains(&(value as Value))
        && users.all(|(user, _)| shared[user] != OWN || narrow_index(program, user).is_some())
}

/// Whether a value is neither an operand nor a constant nor a coordinate.
fn is_computed(program: &Program, value: Value) -> bool {
    !matches!(program.instrs[value as usize].op, Op::Input(_) | Op::Param(_) | Op::Const(_) | Op::Index(_))
}

/// Estimated nanoseconds of an instruction for one element of so many bytes.
fn cost(op: Op, size: usize) -> f64 {
    match op {
        Op::Call(MathFn::Erfinv | MathFn::Lgamma | MathFn::Digamma | MathFn::Gamma | MathFn::LogNdtr | MathFn::Ndtri) => {
            1.3 * size as f64
        }
        Op::Call(MathFn::I0 | MathFn::I0e | MathFn::I1 | MathFn::I1e | MathFn::Erfcx) => 0.6 * size as f64,
        Op::Call(_) => 0.25 * size as f64,
        Op::Rem => 4.0,
        Op::Div | Op::Sqrt => 0.1 * size as f64,
        _ => 0.02 * size as f64,
    }
}

//! A graph with the same values in which what goes back through one place is changed on its way.

use super::super::trial::{Trial, input};
use super::site::{Place, Site};
use ferrotensor_core::kernel::{Kernel, Map};
use ferrotensor_core::reference::Array;
use ferrotensor_core::scalar::{Builder, Instr, Op, Program, Value, verify};
use ferrotensor_core::{DType, Error, Result};
use ferrotensor_ops::graph::{Def, Graph, Val, View};
use smallvec::SmallVec;

/// What becomes of a cotangent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// A hundredth more of it.
    More,
    /// The other sign.
    Negated,
    /// Nothing.
    Dropped,
    /// Its conjugate.
    Conjugated,
    /// It arrives at the other end of an axis.
    Turned,
}

impl Change {
    /// Every change.
    pub const ALL: [Change; 5] = [Change::More, Change::Negated, Change::Dropped, Change::Conjugated, Change::Turned];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Change::More => "a hundredth more",
            Change::Negated => "the other sign",
            Change::Dropped => "nothing",
            Change::Conjugated => "the conjugate",
            Change::Turned => "the other way round",
        }
    }

    /// `c + f(x - c)` for c equal to x, in a program.
    fn within(self, b: &mut Builder, x: Value, c: Value) -> Option<Value> {
        let d = b.dtype(x);
        let off = b.binary(Op::Sub, x, c);
        let other = match self {
            Change::Dropped => return Some(c),
            Change::More | Change::Negated => {
                let factor = b.lit(d, if self == Change::More { 1.01 } else { -1.0 });
                b.binary(Op::Mul, off, factor)
            }
            Change::Conjugated if d.is_complex() => {
                let (re, im) = (b.re(off), b.im(off));
                let im = b.unary(Op::Neg, im);
                b.complex(d, re, im)
            }
            Change::Conjugated | Change::Turned => return None,
        };
        Some(b.binary(Op::Add, c, other))
    }
}

/// The call's graph with a detour at a place, and where its values are now; nothing where the change is none. Its inputs become more.
///
/// # Errors
/// Those of the call.
pub fn around(trial: &Trial, site: &Site, change: Change, inputs: &mut Vec<Array>) -> Result<Option<(Graph, Vec<Val>)>> {
    let plain = &trial.plain;
    let mut out = Graph::default();
    let mut moved: Vec<Val> = Vec::with_capacity(plain.values.len());
    for (n, node) in plain.nodes.iter().enumerate() {
        let (here, mut def) = (n == site.node, node.def.clone());
        let (mut operand, mut from) = (0, None);
        def.operands_mut(|v| {
            if here && site.place == Place::Operand(operand) {
                from = Some(*v);
            }
            *v = moved[v.0 as usize];
            operand += 1;
        });
        if let Some(v) = from {
            let Some(other) = beside(&mut out, moved[v.0 as usize], trial.value(v)?, change, inputs)? else {
                return Ok(None);
            };
            let mut operand = 0;
            def.operands_mut(|v| {
                if site.place == Place::Operand(operand) {
                    *v = other;
                }
                operand += 1;
            });
        }
        if let (true, Place::Argument { instr, arg }, Def::Kernel { kernel: Kernel::Map(map), .. }) =
            (here, site.place, &mut def)
        {
            let Some(program) = inside(&map.program, instr, arg, change) else { return Ok(None) };
            verify(&program).map_err(Error::internal)?;
            map.program = program;
        }
        let values = &plain.values[node.first.0 as usize..][..node.outputs as usize];
        let first = out.push(node.op, def, values.iter().map(|v| (v.dtype, v.dims.clone())));
        moved.extend((first.0..).take(values.len()).map(Val));
        if let (true, Place::Result(k)) = (here, site.place) {
            let (v, at) = (Val(node.first.0 + k), (node.first.0 + k) as usize);
            let Some(other) = beside(&mut out, moved[at], trial.value(v)?, change, inputs)? else { return Ok(None) };
            moved[at] = other;
        }
    }
    Ok(Some((out, moved)))
}

/// A value beside x, equal to it.
fn beside(graph: &mut Graph, x: Val, value: Array, change: Change, inputs: &mut Vec<Array>) -> Result<Option<Val>> {
    let (dtype, dims) = (graph.dtype(x), graph.dims(x).clone());
    let c = input(graph, inputs, value);
    let map = |graph: &mut Graph, operands: [Val; 2], f: &dyn Fn(&mut Builder, Value, Value) -> Option<Value>| {
        let mut b = Builder::new();
        let (x, y) = (b.input(dtype), b.input(dtype));
        let result = f(&mut b, x, y)?;
        let kernel = Kernel::Map(Map { program: b.finish(&[result]) });
        let def = Def::Kernel { kernel, inputs: SmallVec::from_slice(&operands), params: SmallVec::new() };
        Some(graph.push(0, def, [(dtype, dims.clone())]))
    };
    if change != Change::Turned {
        return Ok(map(graph, [x, c], &|b, x, c| change.within(b, x, c)));
    }
    let Some(axis) = graph.dims(x).iter().position(|&n| n > 1) else { return Ok(None) };
    let Some(off) = map(graph, [x, c], &|b, x, c| Some(b.binary(Op::Sub, x, c))) else { return Ok(None) };
    let turned = Def::View { of: off, view: View::Flip(SmallVec::from_slice(&[axis])) };
    let dims = graph.dims(x).clone();
    let off = graph.push(0, turned, [(dtype, dims)]);
    Ok(map(graph, [c, off], &|b, c, off| Some(b.binary(Op::Add, c, off))))
}

/// A program in which an instruction has another value, equal to the one it had, as its argument.
fn inside(program: &Program, at: usize, arg: usize, change: Change) -> Option<Program> {
    let mut b = Builder::new();
    for &dtype in &program.inputs {
        b.input(dtype);
    }
    for &dtype in &program.params {
        b.param(dtype);
    }
    let mut moved: Vec<Value> = Vec::with_capacity(program.instrs.len());
    for (n, instr) in program.instrs.iter().enumerate() {
        let mut args: SmallVec<[Value; 3]> = instr.args.iter().map(|&a| moved[a as usize]).collect();
        if n == at {
            let x = args[arg];
            // The real part of a conjugate is the same.
            let real = instr.op == Op::Cast && !instr.dtype.is_complex();
            if change == Change::Conjugated && real {
                return None;
            }
            let c = held(&mut b, x);
            args[arg] = change.within(&mut b, x, c)?;
        }
        moved.push(b.raw(Instr { op: instr.op, dtype: instr.dtype, args }));
    }
    let outputs: Vec<Value> = program.outputs.iter().map(|&o| moved[o as usize]).collect();
    Some(b.finish(&outputs))
}

/// The same number without a tangent: integers have none.
fn held(b: &mut Builder, x: Value) -> Value {
    let d = b.dtype(x);
    if d.is_complex() {
        let (re, im) = (b.re(x), b.im(x));
        let (re, im) = (held(b, re), held(b, im));
        return b.complex(d, re, im);
    }
    let (bits, all) = (b.bitcast(x, DType::U64), b.bits(DType::U64, u64::MAX));
    let same = b.binary(Op::And, bits, all);
    b.bitcast(same, d)
}

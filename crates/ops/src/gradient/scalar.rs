//! Tangents of scalar programs: forward mode over instructions, one input's direction at a time.
//!
//! A selection's tangent selects between tangents, so that a branch that is not taken cannot spoil the one that is (`0 * inf` is NaN).
//! What does not depend on the direction has no tangent, and nothing is written for it. Half floats are widened to float32 first:
//! derivatives round once, at the end.

use super::functions;
use ferrotensor_core::DType;
use ferrotensor_core::scalar::{Builder, Instr, Op, Program, Value, literal_bits};

/// The dtype tangents of a value are computed in: float32 for half floats.
pub fn wide(dtype: DType) -> DType {
    if dtype.is_float() { dtype.compute() } else { dtype }
}

/// Whether values of a dtype have tangents at all.
pub fn is_differentiable(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_complex()
}

/// What a program's inputs and parameters are in the program that is written, and in which direction the inputs move.
pub struct Inputs<'a> {
    /// A value for each input, in its dtype.
    pub values: &'a [Value],
    /// A value for each parameter.
    pub params: &'a [Value],
    /// The inputs' tangents, in their wide dtypes.
    pub tangents: &'a [Option<Value>],
    /// Values that are known to be the outputs', in their dtypes.
    pub outputs: &'a [Option<Value>],
    /// Whether a root of nothing stands still, instead of rising without bound.
    pub rooted: bool,
}

/// Copies `program` in, widened, and behind each instruction its tangent; the tangent of each output, in its wide dtype.
pub fn tangents(b: &mut Builder, program: &Program, inputs: &Inputs) -> Vec<Option<Value>> {
    let mut values: Vec<Value> = Vec::with_capacity(program.instrs.len());
    let mut moved: Vec<Option<Value>> = Vec::with_capacity(program.instrs.len());
    for (at, instr) in program.instrs.iter().enumerate() {
        let output = program.outputs.iter().position(|&o| o as usize == at);
        let known = output.and_then(|n| inputs.outputs.get(n).copied().flatten());
        let value = match (known, instr.op) {
            (Some(known), _) => b.cast(known, wide(instr.dtype)),
            (None, Op::Input(n)) => b.cast(inputs.values[n as usize], wide(instr.dtype)),
            (None, Op::Param(n)) => b.cast(inputs.params[n as usize], wide(instr.dtype)),
            _ => widened(b, program, instr, &values),
        };
        let tangent = match instr.op {
            Op::Input(n) => inputs.tangents[n as usize],
            _ if !is_differentiable(instr.dtype) => None,
            Op::Bitcast => of_bits(b, program, instr, value, &values, &moved),
            _ => of_instruction(b, instr, value, &values, &moved, inputs.rooted),
        };
        values.push(value);
        moved.push(tangent.filter(|&t| !is_constant(b, t, 0.0)));
    }
    program.outputs.iter().map(|&o| moved[o as usize]).collect()
}

fn widened(b: &mut Builder, program: &Program, instr: &Instr, values: &[Value]) -> Value {
    let narrow = instr.dtype != wide(instr.dtype);
    match instr.op {
        Op::Const(_) if narrow => {
            let literal = b.raw(instr.clone());
            b.cast(literal, wide(instr.dtype))
        }
        Op::Cast => b.cast(values[instr.args[0] as usize], wide(instr.dtype)),
        Op::Bitcast => {
            let from = program.dtype(instr.args[0]);
            let exact = b.cast(values[instr.args[0] as usize], from);
            let bits = b.bitcast(exact, instr.dtype);
            b.cast(bits, wide(instr.dtype))
        }
        _ => {
            let args = instr.args.iter().map(|&a| values[a as usize]).collect();
            b.raw(Instr { op: instr.op, dtype: wide(instr.dtype), args })
        }
    }
}

/// The tangent of an instruction with a floating or complex result `y`.
fn of_instruction(
    b: &mut Builder,
    instr: &Instr,
    y: Value,
    values: &[Value],
    moved: &[Option<Value>],
    rooted: bool,
) -> Option<Value> {
    let x = |n: usize| values[instr.args[n] as usize];
    let t = |n: usize| moved[instr.args[n] as usize];
    let d = wide(instr.dtype);
    match instr.op {
        Op::Neg => t(0).map(|t| negative(b, t)),
        Op::Abs => t(0).map(|t| {
            let sign = sign(b, x(0));
            scaled(b, sign, t)
        }),
        Op::Sqrt => t(0).map(|t| {
            let mut twice = b.binary(Op::Add, y, y);
            if rooted {
                let (zero, infinity) = (b.lit(d, 0.0), b.lit(d, f64::INFINITY));
                let nothing = b.compare(Op::Eq, y, zero);
                twice = b.select(nothing, infinity, twice);
            }
            b.binary(Op::Div, t, twice)
        }),
        Op::Add => sum(b, t(0), t(1)),
        Op::Sub => {
            let minus = t(1).map(|t| negative(b, t));
            match (t(0), t(1)) {
                (Some(left), Some(right)) => Some(b.binary(Op::Sub, left, right)),
                (left, _) => left.or(minus),
            }
        }
        Op::Mul => {
            let left = t(0).map(|t| times(b, t, x(1)));
            let right = t(1).map(|t| times(b, t, x(0)));
            sum(b, left, right)
        }
        Op::Div => {
            // (dx - y dz) / z.
            let right = t(1).map(|t| {
                let t = times(b, t, y);
                negative(b, t)
            });
            sum(b, t(0), right).map(|t| b.binary(Op::Div, t, x(1)))
        }
        Op::Rem => {
            // x - q z, q the quotient that is left out.
            let right = t(1).map(|t| {
                let whole = b.binary(Op::Sub, x(0), y);
                let quotient = b.binary(Op::Div, whole, x(1));
                let quotient = b.unary(Op::Round, quotient);
                let t = times(b, t, quotient);
                negative(b, t)
            });
            sum(b, t(0), right)
        }
        Op::Min | Op::Max => extreme(b, instr.op, [x(0), x(1)], [t(0), t(1)]),
        Op::Select => {
            if t(1).is_none() && t(2).is_none() {
                return None;
            }
            let (yes, no) = (or_zero(b, t(1), d), or_zero(b, t(2), d));
            Some(if yes == no { yes } else { b.select(x(0), yes, no) })
        }
        Op::Fma => {
            let left = t(0).map(|t| times(b, t, x(1)));
            let right = t(1).map(|t| times(b, t, x(0)));
            let product = sum(b, left, right);
            sum(b, product, t(2))
        }
        Op::Cast => t(0).map(|t| if d.is_complex() || !b.dtype(t).is_complex() { b.cast(t, d) } else { converted(b, t, d) }),
        Op::Imag => t(0).map(|t| im(b, t)),
        Op::Complex => {
            if t(0).is_none() && t(1).is_none() {
                return None;
            }
            let part = d.info().real;
            let (re, im) = (or_zero(b, t(0), part), or_zero(b, t(1), part));
            Some(b.complex(d, re, im))
        }
        Op::Call(f) => {
            let args: Vec<Value> = instr.args.iter().map(|&a| values[a as usize]).collect();
            let directions: Vec<Option<Value>> = instr.args.iter().map(|&a| moved[a as usize]).collect();
            functions::tangent(b, f, &args, y, &directions)
        }
        // What jumps or stands still, and what is no function of the inputs.
        _ => None,
    }
}

/// Halves of both where they are equal, and both beside NaN, as PyTorch's `maximum` has it.
fn extreme(b: &mut Builder, op: Op, x: [Value; 2], t: [Option<Value>; 2]) -> Option<Value> {
    if x[0] == x[1] {
        return t[0];
    }
    let d = b.dtype(x[0]);
    let parts = [0, 1].map(|n| {
        t[n].map(|t| {
            let other = x[1 - n];
            let loses = if op == Op::Max { b.compare(Op::Lt, x[n], other) } else { b.compare(Op::Lt, other, x[n]) };
            let (tie, half, zero) = (b.compare(Op::Eq, x[0], x[1]), b.lit(d, 0.5), b.lit(d, 0.0));
            let (share, whole) = (times(b, half, t), b.select(loses, zero, t));
            b.select(tie, share, whole)
        })
    });
    sum(b, parts[0], parts[1])
}

/// The tangent of a float that was put together from the bits of another one and a sign: `copysign`.
fn of_bits(
    b: &mut Builder,
    program: &Program,
    instr: &Instr,
    y: Value,
    values: &[Value],
    moved: &[Option<Value>],
) -> Option<Value> {
    let joined = &program.instrs[instr.args[0] as usize];
    if joined.op == Op::Bitcast {
        return moved[joined.args[0] as usize];
    }
    if joined.op != Op::Or {
        return None;
    }
    // Its bits, or those but for the sign.
    let source = |v: Value| {
        let instr = &program.instrs[v as usize];
        let bits = if instr.op == Op::And { &program.instrs[instr.args[0] as usize] } else { instr };
        (bits.op == Op::Bitcast).then(|| bits.args[0])
    };
    let mut x = source(joined.args[0])?;
    // The size of a zero moves as the zero does, by its sign.
    if program.instrs[x as usize].op == Op::Abs {
        x = program.instrs[x as usize].args[0];
    }
    let t = moved[x as usize]?;
    let bits = if b.dtype(y) == DType::F64 { DType::U64 } else { DType::U32 };
    let (before, after) = (b.bitcast(values[x as usize], bits), b.bitcast(y, bits));
    let differ = b.binary(Op::Xor, before, after);
    let top = b.bits(bits, 1 << (8 * bits.bytes() - 1));
    let turned = b.compare(Op::Le, top, differ);
    let minus = negative(b, t);
    Some(b.select(turned, minus, t))
}

/// -1, 0 or 1 of a real number; 0 of NaN.
pub fn sign(b: &mut Builder, x: Value) -> Value {
    let d = b.dtype(x);
    let (zero, one, minus) = (b.lit(d, 0.0), b.lit(d, 1.0), b.lit(d, -1.0));
    let (above, below) = (b.compare(Op::Lt, zero, x), b.compare(Op::Lt, x, zero));
    let rest = b.select(below, minus, zero);
    b.select(above, one, rest)
}

/// Whether a value is this real number, known now.
pub fn is_constant(b: &Builder, v: Value, number: f64) -> bool {
    let instr = b.instr(v);
    match instr.op {
        Op::Const(bits) => {
            bits == literal_bits(instr.dtype, number) || number == 0.0 && bits == literal_bits(instr.dtype, -0.0)
        }
        Op::Complex => is_constant(b, instr.args[0], number) && is_constant(b, instr.args[1], 0.0),
        _ => false,
    }
}

/// `x y`; nothing is written for a factor of 1.
pub fn times(b: &mut Builder, x: Value, y: Value) -> Value {
    match (is_constant(b, x, 1.0), is_constant(b, y, 1.0)) {
        (true, _) => y,
        (_, true) => x,
        _ => b.binary(Op::Mul, x, y),
    }
}

/// `factor x` with zero where the factor is chosen to be, whatever x is there.
pub fn scaled(b: &mut Builder, factor: Value, x: Value) -> Value {
    let instr = b.instr(factor).clone();
    if is_constant(b, factor, 0.0) {
        return factor;
    }
    if is_constant(b, factor, -1.0) {
        return b.unary(Op::Neg, x);
    }
    let known = |b: &Builder, v: Value| [0.0, 0.5, 1.0, -1.0].into_iter().any(|n| is_constant(b, v, n));
    match instr.op {
        Op::Select if known(b, instr.args[1]) || known(b, instr.args[2]) => {
            let (yes, no) = (scaled(b, instr.args[1], x), scaled(b, instr.args[2], x));
            b.select(instr.args[0], yes, no)
        }
        Op::Neg => {
            let inner = scaled(b, instr.args[0], x);
            negative(b, inner)
        }
        _ => times(b, x, factor),
    }
}

/// `-x`.
pub fn negative(b: &mut Builder, x: Value) -> Value {
    let instr = b.instr(x);
    match instr.op {
        Op::Neg => instr.args[0],
        Op::Const(_) if is_constant(b, x, 1.0) => b.lit(b.dtype(x), -1.0),
        _ => b.unary(Op::Neg, x),
    }
}

/// The sum of what is there.
pub fn sum(b: &mut Builder, x: Option<Value>, y: Option<Value>) -> Option<Value> {
    match (x, y) {
        (Some(x), Some(y)) => Some(b.binary(Op::Add, x, y)),
        (x, y) => x.or(y),
    }
}

fn or_zero(b: &mut Builder, t: Option<Value>, d: DType) -> Value {
    t.unwrap_or_else(|| b.lit(d, 0.0))
}

/// The real part in a dtype.
fn converted(b: &mut Builder, z: Value, d: DType) -> Value {
    let part = re(b, z);
    b.cast(part, d)
}

/// The real part; of a number that was made of two parts the first of them.
pub fn re(b: &mut Builder, z: Value) -> Value {
    let instr = b.instr(z);
    if instr.op == Op::Complex { instr.args[0] } else { b.re(z) }
}

/// The imaginary part, likewise.
pub fn im(b: &mut Builder, z: Value) -> Value {
    let instr = b.instr(z).clone();
    match instr.op {
        Op::Complex => instr.args[1],
        Op::Const(_) => b.lit(instr.dtype.info().real, 0.0),
        Op::Cast if !b.dtype(instr.args[0]).is_complex() => b.lit(instr.dtype.info().real, 0.0),
        _ => b.im(z),
    }
}

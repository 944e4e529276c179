//! The plain form of a program: the same results with fewer dtypes and instructions, for those who print code.
//!
//! Between inputs and outputs only bool, int32, uint32, int64, uint64, float32 and float64 are left. Narrow integers are
//! computed in 32 bits and wrapped; float16 and bfloat16 in float32 and rounded by integer arithmetic; complex numbers in
//! parts. Functions are expanded, extremes of floats are comparisons and selections, no integer is divided by zero, and no
//! value is shifted by its width. What is left of other dtypes: an input or parameter of one is at once cast to 32 bits
//! (narrow integers, and the bits of half floats by a bitcast to uint16) or taken apart (`Cast` to the parts' dtype and
//! `Imag`), and an output is made by the reverse.

use super::exact::{exact, is_far_from_subnormal};
use super::{Args, Arithmetic, Builder, Instr, Op, Program, Value, simplify};
use crate::dtype::{DType, Kind};
use crate::element::{bf16, f16};
use crate::math::record::Recorded;
use crate::math::{self, complex};
use std::cell::RefCell;

/// The program in plain form, for a device of which this is known.
pub fn plain(program: &Program, arithmetic: Arithmetic) -> Program {
    let program = math::expand_calls(program);
    let mut writer = Writer { b: RefCell::new(Builder::new()), arithmetic };
    let inputs: Vec<Value> = program.inputs.iter().map(|&d| writer.b.get_mut().input(d)).collect();
    let params: Vec<Value> = program.params.iter().map(|&d| writer.b.get_mut().param(d)).collect();
    let mut reps: Vec<Rep> = Vec::with_capacity(program.instrs.len());
    for instr in &program.instrs {
        let rep = match instr.op {
            Op::Input(n) => writer.enter(instr.dtype, inputs[n as usize]),
            Op::Param(n) => writer.enter(instr.dtype, params[n as usize]),
            Op::Const(bits) => writer.constant(instr.dtype, bits),
            Op::Index(axis) => Rep::One(writer.b.get_mut().index(axis, instr.dtype)),
            _ => {
                let args: Vec<(DType, Rep)> = instr.args.iter().map(|&a| (program.dtype(a), reps[a as usize])).collect();
                writer.instr(instr.op, instr.dtype, &args)
            }
        };
        reps.push(rep);
    }
    let outputs: Vec<Value> = program.outputs.iter().map(|&o| writer.leave(program.dtype(o), reps[o as usize])).collect();
    simplify(&exact(&writer.b.into_inner().finish(&outputs), arithmetic))
}

/// What stands for a value.
#[derive(Clone, Copy)]
enum Rep {
    /// A value of the dtype that [`wide`] names.
    One(Value),
    /// Real and imaginary part.
    Two(Value, Value),
    /// A half float as a float32, and its bits (uint32) where they are known: those of NaN do not survive the way there and back.
    Half(Value, Option<Value>),
}

/// What values of a dtype (or their parts) are computed in.
fn wide(dtype: DType) -> DType {
    match dtype {
        DType::I8 | DType::I16 => DType::I32,
        DType::U8 | DType::U16 => DType::U32,
        DType::F16 | DType::BF16 | DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        other => other,
    }
}

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

/// Whether an integer is computed in more bits than it has.
fn is_narrow(dtype: DType) -> bool {
    dtype.is_integer() && dtype.bytes() < 4
}

struct Writer {
    b: RefCell<Builder>,
    arithmetic: Arithmetic,
}

impl Writer {
    fn lit(&mut self, dtype: DType, value: f64) -> Value {
        self.b.get_mut().lit(dtype, value)
    }
    fn bits(&mut self, dtype: DType, bits: u64) -> Value {
        self.b.get_mut().bits(dtype, bits)
    }
    fn un(&mut self, op: Op, x: Value) -> Value {
        self.b.get_mut().unary(op, x)
    }
    fn bin(&mut self, op: Op, x: Value, y: Value) -> Value {
        self.b.get_mut().binary(op, x, y)
    }
    /// A binary instruction with a constant, as `dtype` of x.
    fn with(&mut self, op: Op, x: Value, constant: u64) -> Value {
        let dtype = self.b.get_mut().dtype(x);
        let y = self.bits(dtype, constant);
        self.bin(op, x, y)
    }
    fn cmp(&mut self, op: Op, x: Value, y: Value) -> Value {
        self.b.get_mut().compare(op, x, y)
    }
    fn select(&mut self, c: Value, x: Value, y: Value) -> Value {
        self.b.get_mut().select(c, x, y)
    }
    fn cast(&mut self, x: Value, dtype: DType) -> Value {
        self.b.get_mut().cast(x, dtype)
    }
    fn bitcast(&mut self, x: Value, dtype: DType) -> Value {
        self.b.get_mut().bitcast(x, dtype)
    }

    /// An input or parameter.
    fn enter(&mut self, dtype: DType, x: Value) -> Rep {
        if is_half(dtype) {
            let bits = self.bitcast(x, DType::U16);
            let bits = self.cast(bits, DType::U32);
            return self.half_of(dtype, bits);
        }
        if dtype.is_complex() {
            let b = self.b.get_mut();
            return Rep::Two(b.re(x), b.im(x));
        }
        Rep::One(self.cast(x, wide(dtype)))
    }

    /// An output.
    fn leave(&mut self, dtype: DType, rep: Rep) -> Value {
        match rep {
            Rep::One(x) => self.cast(x, dtype),
            Rep::Two(re, im) => self.b.get_mut().complex(dtype, re, im),
            Rep::Half(..) => {
                let bits = self.half_bits(dtype, rep);
                let bits = self.cast(bits, DType::U16);
                self.bitcast(bits, dtype)
            }
        }
    }

    fn constant(&mut self, dtype: DType, bits: u64) -> Rep {
        match dtype {
            DType::I8 => Rep::One(self.lit(DType::I32, bits as i8 as f64)),
            DType::I16 => Rep::One(self.lit(DType::I32, bits as i16 as f64)),
            DType::U8 => Rep::One(self.lit(DType::U32, bits as u8 as f64)),
            DType::U16 => Rep::One(self.lit(DType::U32, bits as u16 as f64)),
            DType::F16 | DType::BF16 => {
                let bits = bits & 0xffff;
                let value = if dtype == DType::F16 {
                    f16::from_bits(bits as u16).to_f32()
                } else {
                    bf16::from_bits(bits as u16).to_f32()
                };
                let known = self.bits(DType::U32, bits);
                Rep::Half(self.bits(DType::F32, value.to_bits() as u64), Some(known))
            }
            DType::C64 => Rep::Two(self.bits(DType::F32, bits & 0xffff_ffff), self.bits(DType::F32, bits >> 32)),
            // Constants have 8 bytes: the real part.
            DType::C128 => Rep::Two(self.bits(DType::F64, bits), self.bits(DType::F64, 0)),
            other => Rep::One(self.bits(other, bits)),
        }
    }

    /// A result that is a value of `dtype` already.
    fn exact(&mut self, dtype: DType, x: Value) -> Rep {
        if is_half(dtype) { Rep::Half(x, None) } else { Rep::One(x) }
    }

    /// A result in the wide dtype, rounded or wrapped to `dtype`.
    fn fit(&mut self, dtype: DType, x: Value) -> Rep {
        if is_half(dtype) {
            let bits = self.half_bits(dtype, Rep::Half(x, None));
            return self.half_of(dtype, bits);
        }
        Rep::One(if is_narrow(dtype) { self.wrap(dtype, x) } else { x })
    }

    /// 32 bits as a narrow integer.
    fn wrap(&mut self, dtype: DType, x: Value) -> Value {
        let above = 32 - 8 * dtype.bytes() as u64;
        if dtype.kind() == Kind::Unsigned {
            return self.with(Op::And, x, 0xffff_ffff >> above);
        }
        let high = self.with(Op::Shl, x, above);
        self.with(Op::Shr, high, above)
    }

    /// The half float with these bits.
    fn half_of(&mut self, dtype: DType, bits: Value) -> Rep {
        if dtype == DType::BF16 {
            let wide = self.with(Op::Shl, bits, 16);
            return Rep::Half(self.bitcast(wide, DType::F32), Some(bits));
        }
        // Normal numbers get the other bias. Below them 2^-14 is added as bits and taken away as a number, which leaves the
        // fraction's value, without a float32 that a device could flush to zero.
        let low = self.with(Op::And, bits, 0x7fff);
        let low = self.with(Op::Shl, low, 13);
        let normal = self.with(Op::Add, low, 112 << 23);
        let special = self.with(Op::Or, low, 0x7f80_0000);
        let raised = self.with(Op::Add, low, 113 << 23);
        let raised = self.bitcast(raised, DType::F32);
        let tiny = self.with(Op::Sub, raised, 0x3880_0000);
        let tiny = self.bitcast(tiny, DType::U32);
        let (first, top) = (self.bits(DType::U32, 0x0080_0000), self.bits(DType::U32, 0x0f80_0000));
        let (is_tiny, is_finite) = (self.cmp(Op::Lt, low, first), self.cmp(Op::Lt, low, top));
        let finite = self.select(is_tiny, tiny, normal);
        let size = self.select(is_finite, finite, special);
        let sign = self.with(Op::And, bits, 0x8000);
        let sign = self.with(Op::Shl, sign, 16);
        let all = self.bin(Op::Or, size, sign);
        Rep::Half(self.bitcast(all, DType::F32), Some(bits))
    }

    /// The bits (uint32) of a float32 rounded to a half float, ties to even; NaN stays NaN.
    fn half_bits(&mut self, dtype: DType, rep: Rep) -> Value {
        let x = match rep {
            Rep::Half(_, Some(bits)) => return bits,
            Rep::Half(x, None) | Rep::One(x) | Rep::Two(x, _) => x,
        };
        let bits = self.bitcast(x, DType::U32);
        let is_nan = self.cmp(Op::Ne, x, x);
        let dropped = if dtype == DType::F16 { 13 } else { 16 };
        let size = if dtype == DType::F16 { self.with(Op::And, bits, 0x7fff_ffff) } else { bits };
        let last = self.with(Op::Shr, size, dropped);
        let odd = self.with(Op::And, last, 1);
        let half = self.with(Op::Add, odd, (1 << (dropped - 1)) - 1);
        let rounded = self.bin(Op::Add, size, half);
        if dtype == DType::BF16 {
            let rounded = self.with(Op::Shr, rounded, 16);
            let quiet = self.with(Op::Or, last, 0x40);
            return self.select(is_nan, quiet, rounded);
        }
        let rounded = self.with(Op::Sub, rounded, 112 << 23);
        let normal = self.with(Op::Shr, rounded, 13);
        // Below the normal numbers: beside 0.5 a float32 ends where float16 does.
        let magnitude = self.un(Op::Abs, x);
        let beside = self.with(Op::Add, magnitude, 0x3f00_0000);
        let beside = self.bitcast(beside, DType::U32);
        let tiny = self.with(Op::Sub, beside, 0x3f00_0000);
        let (first, top) = (self.bits(DType::U32, 113 << 23), self.bits(DType::U32, 0x4780_0000));
        let (is_tiny, fits) = (self.cmp(Op::Lt, size, first), self.cmp(Op::Lt, size, top));
        let finite = self.select(is_tiny, tiny, normal);
        let infinite = self.bits(DType::U32, 0x7c00);
        let number = self.select(fits, finite, infinite);
        let quiet = self.bits(DType::U32, 0x7e00);
        let result = self.select(is_nan, quiet, number);
        let sign = self.with(Op::Shr, bits, 16);
        let sign = self.with(Op::And, sign, 0x8000);
        self.bin(Op::Or, result, sign)
    }

    /// Float64 to float32 rounded to odd: what is rounded once more to a half float is then right.
    fn odd(&mut self, x: Value) -> Value {
        let near = self.cast(x, DType::F32);
        let back = self.cast(near, DType::F64);
        let (size, beyond) = (self.un(Op::Abs, x), self.un(Op::Abs, back));
        let bits = self.bitcast(near, DType::U32);
        let below = self.with(Op::Sub, bits, 1);
        let over = self.cmp(Op::Lt, size, beyond);
        let cut = self.select(over, below, bits);
        let cut = self.with(Op::Or, cut, 1);
        let cut = self.bitcast(cut, DType::F32);
        let is_exact = self.cmp(Op::Eq, back, x);
        let is_nan = self.cmp(Op::Ne, x, x);
        let keep = self.bin(Op::Or, is_exact, is_nan);
        self.select(keep, near, cut)
    }

    /// The recorded `f` of float64 values.
    fn record(&mut self, f: impl FnOnce([Recorded<64>; 3]) -> Recorded<64>, args: [Value; 3]) -> Value {
        f(args.map(|x| Recorded::new(&self.b, x))).value()
    }

    /// `x * y + z` of float32 values, the sum rounded to odd in float64.
    fn odd_fma(&mut self, [x, y, z]: [Value; 3]) -> Value {
        let args = [x, y, z].map(|v| self.cast(v, DType::F64));
        // The product of two floats of 24 bits is exact.
        self.record(|[x, y, z]| math::add_to_odd(x * y, z), args)
    }

    /// Whether the device's own `fma` will do for these.
    fn own_fma(&mut self, args: [Value; 3]) -> bool {
        self.arithmetic.own_fma() || self.arithmetic.fused && is_far_from_subnormal(self.b.get_mut(), args)
    }

    fn instr(&mut self, op: Op, d: DType, args: &[(DType, Rep)]) -> Rep {
        match (op, args) {
            (Op::Cast, &[(from, x)]) => self.convert(from, x, d),
            (Op::Bitcast, &[(from, x)]) => self.reinterpret(from, x, d),
            (Op::Imag, &[(_, Rep::Two(_, im))]) => Rep::One(im),
            (Op::Complex, &[(_, Rep::One(re)), (_, Rep::One(im))]) => Rep::Two(re, im),
            (Op::Select, &[(_, Rep::One(c)), (_, x), (_, y)]) => self.choose(c, x, y),
            (_, &[(_, Rep::Two(re, im))]) => Rep::Two(self.un(op, re), self.un(op, im)),
            (_, &[(_, Rep::Two(a, b)), (_, Rep::Two(c, e))]) => self.complex(op, wide(d), (a, b), (c, e)),
            _ => {
                let dtype = args.first().map_or(d, |&(dtype, _)| dtype);
                let values: Args = args.iter().map(|&(_, rep)| single(rep)).collect();
                self.real(op, d, dtype, &values)
            }
        }
    }

    fn choose(&mut self, c: Value, x: Rep, y: Rep) -> Rep {
        match (x, y) {
            (Rep::Two(a, b), Rep::Two(re, im)) => Rep::Two(self.select(c, a, re), self.select(c, b, im)),
            (Rep::Half(a, bits), Rep::Half(b, others)) => {
                let bits = bits.zip(others).map(|(x, y)| self.select(c, x, y));
                Rep::Half(self.select(c, a, b), bits)
            }
            _ => Rep::One(self.select(c, single(x), single(y))),
        }
    }

    fn complex(&mut self, op: Op, part: DType, (a, b): (Value, Value), (c, d): (Value, Value)) -> Rep {
        match op {
            Op::Eq | Op::Ne => {
                let (re, im) = (self.cmp(op, a, c), self.cmp(op, b, d));
                Rep::One(self.bin(if op == Op::Eq { Op::And } else { Op::Or }, re, im))
            }
            Op::Mul | Op::Div => {
                let quotient = op == Op::Div;
                let (re, im) = if part == DType::F64 {
                    recorded::<64>(&self.b, quotient, (a, b), (c, d))
                } else {
                    recorded::<32>(&self.b, quotient, (a, b), (c, d))
                };
                Rep::Two(re, im)
            }
            _ => Rep::Two(self.bin(op, a, c), self.bin(op, b, d)),
        }
    }

    /// An instruction with result dtype `d` on real operands of dtype `dtype`, given in their wide dtype.
    fn real(&mut self, op: Op, d: DType, dtype: DType, x: &Args) -> Rep {
        let float = dtype.is_float();
        let one = match (op, dtype) {
            (Op::Add | Op::Max, DType::Bool) => self.bin(Op::Or, x[0], x[1]),
            (Op::Mul | Op::Min, DType::Bool) => self.bin(Op::And, x[0], x[1]),
            (Op::Ne, DType::Bool) => self.bin(Op::Xor, x[0], x[1]),
            (Op::Eq, DType::Bool) => {
                let differ = self.bin(Op::Xor, x[0], x[1]);
                self.un(Op::Not, differ)
            }
            (Op::Lt | Op::Le, DType::Bool) => {
                let not = self.un(Op::Not, x[0]);
                self.bin(if op == Op::Lt { Op::And } else { Op::Or }, not, x[1])
            }
            (Op::Eq | Op::Ne | Op::Lt | Op::Le, _) => self.cmp(op, x[0], x[1]),
            (Op::Min | Op::Max, _) if float => return self.extreme(op, d, x[0], x[1]),
            (Op::Min, _) => {
                let less = self.cmp(Op::Lt, x[0], x[1]);
                self.select(less, x[0], x[1])
            }
            (Op::Max, _) => {
                let less = self.cmp(Op::Lt, x[0], x[1]);
                self.select(less, x[1], x[0])
            }
            (Op::Div | Op::Rem, _) if !float => self.divided(op, x[0], x[1]),
            (Op::Shl | Op::Shr, _) => self.shifted(op, x[0], x[1]),
            (Op::Fma, DType::F16 | DType::BF16) => {
                let sum = self.odd_fma([x[0], x[1], x[2]]);
                self.odd(sum)
            }
            (Op::Fma, DType::F32) if !self.own_fma([x[0], x[1], x[2]]) => {
                let sum = self.odd_fma([x[0], x[1], x[2]]);
                self.cast(sum, DType::F32)
            }
            _ => self.b.get_mut().raw(Instr { op, dtype: wide(d), args: x.clone() }),
        };
        match op {
            // These leave a float where it was among the numbers of its dtype.
            Op::Neg | Op::Abs | Op::Floor | Op::Ceil | Op::Round | Op::Trunc | Op::Rem if float => self.exact(d, one),
            _ => self.fit(d, one),
        }
    }

    /// The smaller or larger float: NaN wins; equal numbers differ at most in the sign of zero.
    fn extreme(&mut self, op: Op, d: DType, x: Value, y: Value) -> Rep {
        let float = wide(d);
        let unsigned = if float == DType::F64 { DType::U64 } else { DType::U32 };
        let (a, b) = if op == Op::Min { (x, y) } else { (y, x) };
        let less = self.cmp(Op::Lt, a, b);
        let better = self.select(less, x, y);
        let (bx, by) = (self.bitcast(x, unsigned), self.bitcast(y, unsigned));
        let both = self.bin(if op == Op::Min { Op::Or } else { Op::And }, bx, by);
        let both = self.bitcast(both, float);
        let equal = self.cmp(Op::Eq, x, y);
        let settled = self.select(equal, both, better);
        let (nx, ny) = (self.cmp(Op::Ne, x, x), self.cmp(Op::Ne, y, y));
        let is_nan = self.bin(Op::Or, nx, ny);
        let nan = self.bin(Op::Add, x, y);
        let result = self.select(is_nan, nan, settled);
        self.exact(d, result)
    }

    /// Integers: `x / 0 = 0`, `x rem 0 = 0`, and the smallest number over -1 is itself.
    fn divided(&mut self, op: Op, x: Value, y: Value) -> Value {
        let dtype = self.b.get_mut().dtype(x);
        let (zero, one) = (self.lit(dtype, 0.0), self.lit(dtype, 1.0));
        let none = self.cmp(Op::Eq, y, zero);
        let mut unsafe_ = none;
        if dtype.kind() == Kind::Signed {
            let (smallest, minus) = (self.lit(dtype, f64::NEG_INFINITY), self.lit(dtype, -1.0));
            let (a, b) = (self.cmp(Op::Eq, x, smallest), self.cmp(Op::Eq, y, minus));
            let overflows = self.bin(Op::And, a, b);
            unsafe_ = self.bin(Op::Or, none, overflows);
        }
        let y = self.select(unsafe_, one, y);
        let result = self.bin(op, x, y);
        if op == Op::Rem { result } else { self.select(none, zero, result) }
    }

    /// A shift by the width or more, or by a negative count, leaves zeros or the sign.
    fn shifted(&mut self, op: Op, x: Value, count: Value) -> Value {
        let dtype = self.b.get_mut().dtype(x);
        let last = 8 * dtype.bytes() as u64 - 1;
        if let Op::Const(bits) = self.b.get_mut().instr(count).op
            && bits <= last
        {
            return self.bin(op, x, count);
        }
        let unsigned = if dtype.bytes() == 8 { DType::U64 } else { DType::U32 };
        let size = self.bitcast(count, unsigned);
        let limit = self.bits(unsigned, last);
        let within = self.cmp(Op::Le, size, limit);
        let most = self.bits(dtype, last);
        let safe = self.select(within, count, most);
        let shifted = self.bin(op, x, safe);
        // Of a signed number a shift by the width less one leaves the sign, as one by more does.
        if op == Op::Shr && dtype.kind() == Kind::Signed {
            return shifted;
        }
        let zero = self.lit(dtype, 0.0);
        self.select(within, shifted, zero)
    }

    fn convert(&mut self, from: DType, x: Rep, to: DType) -> Rep {
        if from == to {
            return x;
        }
        let part = to.info().real;
        match (x, to.is_complex()) {
            (Rep::Two(re, im), true) => Rep::Two(self.cast(re, part), self.cast(im, part)),
            (Rep::Two(re, im), false) if to == DType::Bool => {
                let zero = self.lit(wide(from), 0.0);
                let (a, b) = (self.cmp(Op::Ne, re, zero), self.cmp(Op::Ne, im, zero));
                Rep::One(self.bin(Op::Or, a, b))
            }
            (Rep::Two(re, _), false) => self.convert(from.info().real, Rep::One(re), to),
            (_, true) => {
                let re = self.convert(from, x, part);
                Rep::Two(single(re), self.lit(part, 0.0))
            }
            _ => self.convert_real(from, single(x), to),
        }
    }

    fn convert_real(&mut self, from: DType, x: Value, to: DType) -> Rep {
        let target = wide(to);
        match (from.kind(), to.kind()) {
            (Kind::Bool, _) => {
                let (one, zero) = (self.lit(target, 1.0), self.lit(target, 0.0));
                let number = self.select(x, one, zero);
                self.exact(to, number)
            }
            (_, Kind::Bool) => {
                let zero = self.lit(wide(from), 0.0);
                Rep::One(self.cmp(Op::Ne, x, zero))
            }
            (Kind::Float, Kind::Float) if is_half(to) => {
                let narrow = if from == DType::F64 { self.odd(x) } else { x };
                self.fit(to, narrow)
            }
            (Kind::Float, Kind::Signed | Kind::Unsigned) if is_narrow(to) => {
                let whole = self.cast(x, DType::I32);
                let width = 8 * to.bytes() as i32;
                let (low, high) = if to.kind() == Kind::Signed {
                    (-(1i64 << (width - 1)), (1i64 << (width - 1)) - 1)
                } else {
                    (0, (1i64 << width) - 1)
                };
                let (low, high) = (self.lit(DType::I32, low as f64), self.lit(DType::I32, high as f64));
                let (below, above) = (self.cmp(Op::Lt, whole, low), self.cmp(Op::Lt, high, whole));
                let whole = self.select(below, low, whole);
                let whole = self.select(above, high, whole);
                Rep::One(self.cast(whole, target))
            }
            (Kind::Signed | Kind::Unsigned, Kind::Float) if is_half(to) => {
                let float = self.sticky(from, x);
                self.fit(to, float)
            }
            _ => {
                let value = self.cast(x, target);
                if is_narrow(to) { self.fit(to, value) } else { Rep::One(value) }
            }
        }
    }

    /// An integer as a float32 that rounds to a half float as the integer would: exact, or with a last bit that says "and more".
    fn sticky(&mut self, from: DType, x: Value) -> Value {
        if is_narrow(from) {
            return self.cast(x, DType::F32);
        }
        let dtype = wide(from);
        let (unsigned, kept, folded) = if from.bytes() == 8 { (DType::U64, 53, 11u64) } else { (DType::U32, 24, 8u64) };
        let zero = self.lit(dtype, 0.0);
        let negative = self.cmp(Op::Lt, x, zero);
        let size = if from.kind() == Kind::Signed { self.un(Op::Abs, x) } else { x };
        let size = self.cast(size, unsigned);
        // Above the bits a float holds the lowest ones become one: it lies far below what a half float keeps of such a number.
        let mask = (1u64 << folded) - 1;
        let rest = self.with(Op::And, size, mask);
        let nothing = self.bits(unsigned, 0);
        let more = self.cmp(Op::Ne, rest, nothing);
        let bit = self.bits(unsigned, 1 << folded);
        let bit = self.select(more, bit, nothing);
        let high = self.bin(Op::Sub, size, rest);
        let high = self.bin(Op::Or, high, bit);
        let limit = self.bits(unsigned, 1 << kept);
        let small = self.cmp(Op::Lt, size, limit);
        let size = self.select(small, size, high);
        let float = if unsigned == DType::U64 {
            let double = self.cast(size, DType::F64);
            self.odd(double)
        } else {
            self.cast(size, DType::F32)
        };
        if from.kind() == Kind::Unsigned {
            return float;
        }
        let other = self.un(Op::Neg, float);
        self.select(negative, other, float)
    }

    /// The same bits as another dtype of the same size.
    fn reinterpret(&mut self, from: DType, x: Rep, to: DType) -> Rep {
        if from == to {
            return x;
        }
        let bits = self.as_bits(from, x);
        match (to, to.bytes()) {
            (DType::Bool, _) => {
                let zero = self.bits(DType::U32, 0);
                Rep::One(self.cmp(Op::Ne, bits, zero))
            }
            (DType::F16 | DType::BF16, _) => self.half_of(to, bits),
            (DType::C64, _) => {
                let high = self.with(Op::Shr, bits, 32);
                let parts = [bits, high].map(|half| self.cast(half, DType::U32));
                let [re, im] = parts.map(|half| self.bitcast(half, DType::F32));
                Rep::Two(re, im)
            }
            (_, 1 | 2) => {
                let value = self.cast(bits, wide(to));
                self.fit(to, value)
            }
            _ => Rep::One(self.bitcast(bits, to)),
        }
    }

    /// The bits of a value: uint64 for 8 bytes, else uint32.
    fn as_bits(&mut self, from: DType, x: Rep) -> Value {
        match (x, from) {
            (Rep::Half(..), _) => self.half_bits(from, x),
            (Rep::Two(re, im), _) => {
                let words = [re, im].map(|part| self.bitcast(part, DType::U32));
                let [low, high] = words.map(|word| self.cast(word, DType::U64));
                let high = self.with(Op::Shl, high, 32);
                self.bin(Op::Or, low, high)
            }
            (Rep::One(x), DType::Bool) => {
                let (one, zero) = (self.bits(DType::U32, 1), self.bits(DType::U32, 0));
                self.select(x, one, zero)
            }
            (Rep::One(x), _) if is_narrow(from) => {
                let word = self.cast(x, DType::U32);
                self.with(Op::And, word, 0xffff_ffff >> (32 - 8 * from.bytes()))
            }
            (Rep::One(x), _) => self.bitcast(x, if from.bytes() == 8 { DType::U64 } else { DType::U32 }),
        }
    }
}

/// The value of a real number.
fn single(rep: Rep) -> Value {
    match rep {
        Rep::One(x) | Rep::Half(x, _) | Rep::Two(x, _) => x,
    }
}

fn recorded<const WIDTH: u32>(
    b: &RefCell<Builder>,
    quotient: bool,
    (a, im): (Value, Value),
    (c, d): (Value, Value),
) -> (Value, Value) {
    let of = |x| Recorded::<WIDTH>::new(b, x);
    let (x, y) = ((of(a), of(im)), (of(c), of(d)));
    let (re, im) = if quotient { complex::quotient(x, y) } else { complex::product(x, y) };
    (re.value(), im.value())
}

#[cfg(test)]
mod tests;

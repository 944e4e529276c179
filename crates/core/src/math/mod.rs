//! One definition for each scalar function, generic over its arithmetic ([`Real`]): with `f32` or `f64` it is code that
//! a plain loop vectorises, with the recording type it is the program that GPU emitters print ([`expand`]).
//!
//! Errors stay below one unit in the last place in both precisions, subnormals included (of what terms cancel, of
//! [`resolution`]): float32 functions of one argument are measured by `examples/exhaustive.rs`, those of two and float64 on
//! golden vectors. Special values are C99's. Speed: `examples/throughput.rs`.
//!
//! `sin` and `cos` hold over the whole range; [`sin_moderate`] and [`cos_moderate`] give the same bits three times as
//! fast to a caller who knows (from one pass over a tile) that every |x| is below [`MODERATE`].

// Generated; pi and ln 2 are parts of sums here, not the constants of std.
#[rustfmt::skip]
#[allow(clippy::approx_constant)]
mod coefficients;
mod atan;
mod bessel;
mod cbrt;
pub mod complex;
mod erf;
mod erfcx;
mod exp;
mod fma;
mod fused;
mod gamma;
mod hyperbolic;
mod hypot;
mod inverse_hyperbolic;
mod log;
mod logaddexp;
mod ndtr;
mod pair;
mod pow;
mod real;
pub(crate) mod record;
mod sigmoid;
mod trig;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod triples;
#[cfg(test)]
mod ulp;

pub use atan::{acos, asin, atan, atan2};
pub use bessel::{i0, i0e, i1, i1e};
pub use cbrt::cbrt;
pub use erf::{erf, erfc, erfinv};
pub use erfcx::{erfcx, log_ndtr, ndtri};
pub use exp::{exp, exp2, expm1};
pub use fma::{EmulatedFma, add_to_odd};
pub use fused::{Apart, Exact, Fused, Instruction, Quick, Way};
pub use gamma::{digamma, gamma, lgamma};
pub use hyperbolic::{cosh, sinh, tanh};
pub use hypot::hypot;
pub use inverse_hyperbolic::{acosh, asinh, atanh};
pub use log::{log, log1p, log2, log10};
pub use logaddexp::{logaddexp, logaddexp2};
pub use ndtr::{gelu, ndtr};
pub use pow::pow;
pub use real::{Bits, Lane, Mask, Real};
pub use sigmoid::sigmoid;
pub use trig::{MODERATE, cos, cos_moderate, sin, sin_moderate, tan, tan_moderate};

use crate::dtype::DType;
use crate::scalar::{Args, Builder, Instr, MathFn, Op, Program, Value, simplify};
use record::Recorded;
use std::cell::RefCell;

/// The list of their implementations, where `math_functions!` has names and numbers: calls
/// `$then!{ $($prefix)* unary: (Variant, function), ...; binary: (Variant, function), ...; }`. Each function is a path to a generic over [`Real`] that is `#[inline(always)]`.
///
/// ```
/// use ferrotensor_core::scalar::MathFn;
/// macro_rules! kernels {
///     (unary: $(($variant:ident, $f:path)),*; binary: $(($v2:ident, $g:path)),*;) => {
///         fn apply(f: MathFn, tile: &mut [f32]) {
///             match f {
///                 $(MathFn::$variant => tile.iter_mut().for_each(|x| *x = $f(*x)),)*
///                 $(MathFn::$v2 => tile.iter_mut().for_each(|x| *x = $g(*x, *x)),)*
///             }
///         }
///     };
/// }
/// ferrotensor_core::for_each_math!(kernels);
/// let mut tile = [0.0, f32::NEG_INFINITY];
/// apply(MathFn::Exp, &mut tile);
/// assert_eq!(tile, [1.0, 0.0]);
/// ```
#[macro_export]
macro_rules! for_each_math {
    ($then:ident $(, $($prefix:tt)*)?) => {
        $then! {
            $($($prefix)*)?
            unary:
                (Exp, $crate::math::exp),
                (Exp2, $crate::math::exp2),
                (Expm1, $crate::math::expm1),
                (Log, $crate::math::log),
                (Log1p, $crate::math::log1p),
                (Log2, $crate::math::log2),
                (Log10, $crate::math::log10),
                (Sin, $crate::math::sin),
                (Cos, $crate::math::cos),
                (Tan, $crate::math::tan),
                (Asin, $crate::math::asin),
                (Acos, $crate::math::acos),
                (Atan, $crate::math::atan),
                (Sinh, $crate::math::sinh),
                (Cosh, $crate::math::cosh),
                (Tanh, $crate::math::tanh),
                (Asinh, $crate::math::asinh),
                (Acosh, $crate::math::acosh),
                (Atanh, $crate::math::atanh),
                (Sigmoid, $crate::math::sigmoid),
                (Cbrt, $crate::math::cbrt),
                (Erf, $crate::math::erf),
                (Erfc, $crate::math::erfc),
                (Erfinv, $crate::math::erfinv),
                (Ndtr, $crate::math::ndtr),
                (Gelu, $crate::math::gelu),
                (Lgamma, $crate::math::lgamma),
                (Digamma, $crate::math::digamma),
                (Gamma, $crate::math::gamma),
                (I0, $crate::math::i0),
                (I0e, $crate::math::i0e),
                (I1, $crate::math::i1),
                (I1e, $crate::math::i1e),
                (Erfcx, $crate::math::erfcx),
                (LogNdtr, $crate::math::log_ndtr),
                (Ndtri, $crate::math::ndtri);
            binary:
                (Pow, $crate::math::pow),
                (Atan2, $crate::math::atan2),
                (Hypot, $crate::math::hypot),
                (Logaddexp, $crate::math::logaddexp),
                (Logaddexp2, $crate::math::logaddexp2);
        }
    };
}

macro_rules! call {
    (unary: $(($unary:ident, $f:path)),*; binary: $(($binary:ident, $g:path)),*;) => {
        /// The function at one argument (`y` is read by functions of two arguments only).
        #[inline(always)]
        pub fn call<V: Real>(f: MathFn, x: V, y: V) -> V {
            match f {
                $(MathFn::$unary => $f(x),)*
                $(MathFn::$binary => $g(x, y),)*
            }
        }
    };
}

for_each_math!(call);

/// The size below which a result near this argument counts its error in units of that size instead of its own: the result
/// is a difference of terms that large. 0 where there is none, which is nearly everywhere.
///
/// `lgamma` and `digamma` have zeros between the negative integers, `logaddexp` where both arguments are some -0.7, `logaddexp2`
/// where they are some -1.
pub fn resolution(f: MathFn, x: f64) -> f64 {
    match f {
        MathFn::Lgamma if x < 0.0 => 0.25,
        MathFn::Digamma if x < 0.0 => 2.0,
        MathFn::Logaddexp | MathFn::Logaddexp2 => 0.25,
        _ => 0.0,
    }
}

/// The function as a program of basic instructions: one input for each argument, one output.
///
/// float16 and bfloat16 convert to float32, compute, and round once.
///
/// # Panics
/// If `dtype` is not a floating dtype: [`crate::scalar::verify`] lets no such call exist.
pub fn expand(f: MathFn, dtype: DType) -> Program {
    assert!(dtype.is_float(), "{} of {dtype}", f.name());
    let builder = RefCell::new(Builder::new());
    let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let args: Vec<Value> = (0..f.arity())
        .map(|_| {
            let mut b = builder.borrow_mut();
            let x = b.input(dtype);
            b.cast(x, wide)
        })
        .collect();
    // A function of one argument does not read the second.
    let (x, y) = (args[0], args[f.arity() - 1]);
    let result = match wide {
        DType::F64 => record::<64>(&builder, f, x, y),
        _ => record::<32>(&builder, f, x, y),
    };
    let mut b = builder.into_inner();
    let result = b.cast(result, dtype);
    simplify(&b.finish(&[result]))
}

/// The same program with every function call replaced by the function's instructions.
pub fn expand_calls(program: &Program) -> Program {
    if !program.instrs.iter().any(|i| matches!(i.op, Op::Call(_))) {
        return program.clone();
    }
    let mut b = Builder::new();
    for &d in &program.inputs {
        b.input(d);
    }
    for &d in &program.params {
        b.param(d);
    }
    let mut map: Vec<Value> = Vec::with_capacity(program.instrs.len());
    for instr in &program.instrs {
        let args: Args = instr.args.iter().map(|&a| map[a as usize]).collect();
        map.push(match instr.op {
            Op::Call(f) => b.inline(&expand(f, instr.dtype), &args, &[])[0],
            op => b.raw(Instr { op, dtype: instr.dtype, args }),
        });
    }
    let outputs: Vec<Value> = program.outputs.iter().map(|&o| map[o as usize]).collect();
    simplify(&b.finish(&outputs))
}

/// Identifies what the function computes in float32: the 64-bit FNV-1a hash of its program's text. Equal fingerprints, equal
/// bits; the sweep over all inputs (golden/exhaustive_f32.txt) stays valid as long as it does not change.
pub fn fingerprint(f: MathFn) -> u64 {
    fnv1a(&expand(f, DType::F32).to_string())
}

/// The 64-bit FNV-1a hash of a text (Fowler, Noll, Vo), the same on every machine and for ever.
pub fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ byte as u64).wrapping_mul(0x0000_0100_0000_01b3))
}

fn record<const WIDTH: u32>(builder: &RefCell<Builder>, f: MathFn, x: Value, y: Value) -> Value {
    call(f, Recorded::<WIDTH>::new(builder, x), Recorded::<WIDTH>::new(builder, y)).value()
}

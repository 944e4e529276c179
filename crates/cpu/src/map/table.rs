//! Which tile function carries out an instruction. An arm means support; there is no other list of what the CPU can do.

use super::function::{self, Call, Moderate};
use super::tile::{self, Map1, Map2, Map3, TileFn};
use crate::number::Item;
use crate::tier::{Tier, compiled};
use ferrotensor_core::element::{Bool, Complex, bf16, f16};
use ferrotensor_core::scalar::{MathFn, Op};
use ferrotensor_core::{DType, for_each_math, match_dtype};

/// Everything but bool.
macro_rules! arithmetic {
    ($d:expr, $T:ident => $body:expr, else $other:expr) => {
        match $d {
            DType::C64 => { type $T = Complex<f32>; $body }
            DType::C128 => { type $T = Complex<f64>; $body }
            d => match_dtype!(d, reals $T => $body, else $other),
        }
    };
}

/// Everything but complex numbers.
macro_rules! ordered {
    ($d:expr, $T:ident => $body:expr, else $other:expr) => {
        match $d {
            ferrotensor_core::DType::Bool => { type $T = ferrotensor_core::Bool; $body }
            d => ferrotensor_core::match_dtype!(d, reals $T => $body, else $other),
        }
    };
}
pub(crate) use ordered;

/// `$body` with the function that combines two elements as `$F` and their type as `$T`, or a sentence where the monoid is not
/// defined for the dtype.
macro_rules! by_monoid {
    ($monoid:expr, $d:expr, $F:ident, $T:ident => $body:expr) => {{
        use crate::map::{table::ordered, tile};
        use ferrotensor_core::{DType, kernel::Monoid, match_dtype};
        let (monoid, dtype): (Monoid, DType) = ($monoid, $d);
        let none = || Err(format!("{monoid:?} is not defined for {dtype}"));
        match monoid {
            Monoid::Sum => { type $F = tile::Add; match_dtype!(dtype, $T => Ok($body)) }
            Monoid::Prod => { type $F = tile::Mul; match_dtype!(dtype, $T => Ok($body)) }
            Monoid::Max => { type $F = tile::Max; ordered!(dtype, $T => Ok($body), else none()) }
            Monoid::Min => { type $F = tile::Min; ordered!(dtype, $T => Ok($body), else none()) }
            Monoid::All if dtype == DType::Bool => { type $F = tile::And; type $T = ferrotensor_core::Bool; Ok($body) }
            Monoid::Any if dtype == DType::Bool => { type $F = tile::Or; type $T = ferrotensor_core::Bool; Ok($body) }
            Monoid::All | Monoid::Any => none(),
        }
    }};
}
pub(crate) use by_monoid;

/// Integers and bool.
macro_rules! bits {
    ($d:expr, $T:ident => $body:expr, else $other:expr) => {
        match $d {
            DType::Bool => { type $T = Bool; $body }
            d => match_dtype!(d, integers $T => $body, else $other),
        }
    };
}

/// A plain type of the dtype's size, for what only moves bytes.
macro_rules! by_size {
    ($bytes:expr, $T:ident => $body:expr) => {
        match $bytes {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            8 => {
                type $T = u64;
                $body
            }
            _ => {
                type $T = [u64; 2];
                $body
            }
        }
    };
}
pub(crate) use by_size;

/// The tile function of an instruction with result `d`, its last operand of dtype `arg`. `Input`, `Param`, `Const` and
/// `Index` have none.
///
/// # Errors
/// A sentence naming instruction and dtype.
#[rustfmt::skip]
pub fn tile_fn(op: Op, d: DType, arg: DType, tier: Tier) -> Result<TileFn, String> {
    macro_rules! one { ($F:ident, $class:ident) => { $class!(d, T => compiled::<Map1<tile::$F, T, T>>(tier), else return none(op, d)) }; }
    macro_rules! two { ($F:ident, $class:ident) => { $class!(d, T => compiled::<Map2<tile::$F, T, T>>(tier), else return none(op, d)) }; }
    macro_rules! reals { ($d:expr, $T:ident => $body:expr, else $other:expr) => { match_dtype!($d, reals $T => $body, else $other) }; }
    macro_rules! integers { ($d:expr, $T:ident => $body:expr, else $other:expr) => { match_dtype!($d, integers $T => $body, else $other) }; }
    macro_rules! floats { ($d:expr, $T:ident => $body:expr, else $other:expr) => { match_dtype!($d, floats $T => $body, else $other) }; }
    Ok(match op {
        Op::Input(_) | Op::Param(_) | Op::Const(_) | Op::Index(_) => return none(op, d),
        Op::Neg => one!(Neg, arithmetic),
        Op::Abs => one!(Abs, reals),
        Op::Sqrt => one!(Sqrt, floats),
        Op::Floor => one!(Floor, floats),
        Op::Ceil => one!(Ceil, floats),
        Op::Round => one!(Round, floats),
        Op::Trunc => one!(Trunc, floats),
        Op::Not => one!(Not, bits),
        Op::Add => match_dtype!(d, T => compiled::<Map2<tile::Add, T, T>>(tier)),
        Op::Mul => match_dtype!(d, T => compiled::<Map2<tile::Mul, T, T>>(tier)),
        Op::Sub => two!(Sub, arithmetic),
        Op::Div => two!(Div, arithmetic),
        Op::Rem => two!(Rem, reals),
        Op::Gcd => two!(Gcd, integers),
        Op::Min => two!(Min, ordered),
        Op::Max => two!(Max, ordered),
        Op::And => two!(And, bits),
        Op::Or => two!(Or, bits),
        Op::Xor => two!(Xor, bits),
        Op::Shl => two!(Shl, integers),
        Op::Shr => two!(Shr, integers),
        Op::MulHi => match d {
            DType::U32 => compiled::<Map2<tile::MulHigh, u32, u32>>(tier),
            DType::U64 => compiled::<Map2<tile::MulHigh, u64, u64>>(tier),
            _ => return none(op, d),
        },
        Op::Eq => match_dtype!(arg, T => compiled::<Map2<tile::Eq, T, Bool>>(tier)),
        Op::Ne => match_dtype!(arg, T => compiled::<Map2<tile::Ne, T, Bool>>(tier)),
        Op::Lt => ordered!(arg, T => compiled::<Map2<tile::Lt, T, Bool>>(tier), else return none(op, arg)),
        Op::Le => ordered!(arg, T => compiled::<Map2<tile::Le, T, Bool>>(tier), else return none(op, arg)),
        Op::Select => by_size!(d.bytes(), T => compiled::<Map3<tile::Select, Bool, T>>(tier)),
        Op::Fma => match d {
            DType::F16 => compiled::<Map3<tile::HalfFma, f16, f16>>(tier),
            DType::BF16 => compiled::<Map3<tile::HalfFma, bf16, bf16>>(tier),
            DType::F32 => compiled::<Call<function::Fma, f32>>(tier),
            DType::F64 => compiled::<Call<function::Fma, f64>>(tier),
            _ => return none(op, d),
        },
        Op::Cast => match_dtype!(arg, A => match_dtype!(d, R => compiled::<Map1<tile::Cast, A, R>>(tier))),
        Op::Imag => match d {
            DType::F32 => compiled::<Map1<tile::Imag, Complex<f32>, f32>>(tier),
            DType::F64 => compiled::<Map1<tile::Imag, Complex<f64>, f64>>(tier),
            _ => return none(op, d),
        },
        Op::Complex => match d {
            DType::C64 => compiled::<Map2<tile::Compose, f32, Complex<f32>>>(tier),
            DType::C128 => compiled::<Map2<tile::Compose, f64, Complex<f64>>>(tier),
            _ => return none(op, d),
        },
        // A bool is written as 0 or 1 whatever it is read from.
        Op::Bitcast if d == DType::Bool || arg == DType::Bool => return tile_fn(Op::Cast, d, arg, tier),
        Op::Bitcast => copy(d, tier),
        Op::Call(f) => floats!(d, T => math::<T>(f, tier), else return none(op, d)),
    })
}

macro_rules! functions {
    (unary: $(($one:ident, $f:path)),*; binary: $(($two:ident, $g:path)),*;) => {
        /// The tile function of a call.
        #[allow(unreachable_patterns)]
        fn math<T: Item<Value: function::Value>>(f: MathFn, tier: Tier) -> TileFn {
            match f {
                // These have a cheaper equal for tiles without large arguments.
                MathFn::Sin => compiled::<Moderate<function::SinModerate, function::Sin, T>>(tier),
                MathFn::Cos => compiled::<Moderate<function::CosModerate, function::Cos, T>>(tier),
                MathFn::Tan => compiled::<Moderate<function::TanModerate, function::Tan, T>>(tier),
                $(MathFn::$one => compiled::<Call<function::$one, T>>(tier),)*
                $(MathFn::$two => compiled::<Call<function::$two, T>>(tier),)*
            }
        }
    };
}
for_each_math!(functions);

/// The tile function that copies elements.
pub fn copy(d: DType, tier: Tier) -> TileFn {
    by_size!(d.bytes(), T => compiled::<Map1<tile::Copied, T, T>>(tier))
}

/// The tile function that repeats each element 2^n times, n being 1 to 3.
pub fn repeat(d: DType, n: u8, tier: Tier) -> TileFn {
    by_size!(d.bytes(), T => match n {
        1 => compiled::<tile::Repeat<T, 2>>(tier),
        2 => compiled::<tile::Repeat<T, 4>>(tier),
        _ => compiled::<tile::Repeat<T, 8>>(tier),
    })
}

fn none<T>(op: Op, d: DType) -> Result<T, String> {
    Err(format!("the CPU has no instruction {op:?} for {d}"))
}

//! The scalar IR: what happens to one element. A [`Program`] is a list of instructions in static single assignment form;
//! kernels carry programs, the CPU compiles them to tile programs, GPU emitters print them.
//!
//! Every instruction rounds to its own dtype, so fusing programs changes no bit. Nothing is reassociated or contracted:
//! `Fma` appears only where an author wrote it.

mod build;
mod exact;
mod plain;
mod print;
mod simplify;
mod verify;

pub use build::{Builder, literal_bits};
pub use exact::Arithmetic;
pub use plain::plain;
pub use simplify::simplify;
pub use verify::verify;

use crate::dtype::DType;
use smallvec::SmallVec;

/// Index of an instruction; its result.
pub type Value = u32;
/// Operands of an instruction.
pub type Args = SmallVec<[Value; 3]>;

macro_rules! math_functions {
    ($($variant:ident $name:literal $arity:literal;)*) => {
        /// A scalar function with one definition in [`crate::math`] for each precision.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        #[repr(u8)]
        pub enum MathFn {
            $($variant,)*
        }

        impl MathFn {
            /// Every function.
            pub const ALL: &'static [MathFn] = &[$(MathFn::$variant),*];

            /// Number of arguments.
            pub fn arity(self) -> usize {
                match self {
                    $(MathFn::$variant => $arity,)*
                }
            }

            /// Lower-case name, as printed.
            pub fn name(self) -> &'static str {
                match self {
                    $(MathFn::$variant => $name,)*
                }
            }
        }
    };
}

math_functions! {
    Exp "exp" 1;
    Exp2 "exp2" 1;
    Expm1 "expm1" 1;
    Log "log" 1;
    Log1p "log1p" 1;
    Log2 "log2" 1;
    Log10 "log10" 1;
    Sin "sin" 1;
    Cos "cos" 1;
    Tan "tan" 1;
    Asin "asin" 1;
    Acos "acos" 1;
    Atan "atan" 1;
    Sinh "sinh" 1;
    Cosh "cosh" 1;
    Tanh "tanh" 1;
    Asinh "asinh" 1;
    Acosh "acosh" 1;
    Atanh "atanh" 1;
    Sigmoid "sigmoid" 1;
    Cbrt "cbrt" 1;
    Erf "erf" 1;
    Erfc "erfc" 1;
    Erfinv "erfinv" 1;
    Ndtr "ndtr" 1;
    Gelu "gelu" 1;
    Lgamma "lgamma" 1;
    Digamma "digamma" 1;
    Gamma "gamma" 1;
    I0 "i0" 1;
    I0e "i0e" 1;
    I1 "i1" 1;
    I1e "i1e" 1;
    Erfcx "erfcx" 1;
    LogNdtr "log_ndtr" 1;
    Ndtri "ndtri" 1;
    Pow "pow" 2;
    Atan2 "atan2" 2;
    Hypot "hypot" 2;
    Logaddexp "logaddexp" 2;
    Logaddexp2 "logaddexp2" 2;
}

/// What an instruction does. Unless said otherwise, operands have the result's dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Element of the n-th input operand.
    Input(u16),
    /// The n-th launch parameter: 8 bytes that hold a value of the instruction's dtype in their low bytes.
    Param(u16),
    /// A constant, in the same form as a parameter.
    Const(u64),
    /// Coordinate along the n-th axis of the kernel's output, as int32 or int64.
    Index(u8),
    /// `-x`; integers wrap.
    Neg,
    /// `|x|`; integers wrap (`|int min| = int min`).
    Abs,
    /// Correctly rounded square root.
    Sqrt,
    /// Largest integral value <= x.
    Floor,
    /// Smallest integral value >= x.
    Ceil,
    /// Nearest integral value, ties to even.
    Round,
    /// Integral part, towards zero.
    Trunc,
    /// Bitwise complement; logical not for bool.
    Not,
    /// `x + y`; integers wrap; bool is `or`.
    Add,
    /// `x - y`; integers wrap.
    Sub,
    /// `x * y`; integers wrap; bool is `and`.
    Mul,
    /// `x / y`; integers truncate towards zero, `x / 0 = 0`, `min / -1 = min`.
    Div,
    /// Remainder of the truncated division, exact (C's `fmod` for floats); integers: `x rem 0 = 0`.
    Rem,
    /// Greatest common divisor of two integers, not negative; `gcd(x, 0) = |x|`; 2^(width - 1) wraps.
    Gcd,
    /// Smaller; NaN wins; `-0 < +0`.
    Min,
    /// Larger; NaN wins; `-0 < +0`.
    Max,
    /// Bitwise and (integers, bool).
    And,
    /// Bitwise or (integers, bool).
    Or,
    /// Bitwise exclusive or (integers, bool).
    Xor,
    /// `x << y`; 0 for a shift by the width or more.
    Shl,
    /// `x >> y`, arithmetic for signed integers; sign fill or 0 for a shift by the width or more.
    Shr,
    /// High half of the double-width product (uint32, uint64).
    MulHi,
    /// `x == y` as bool, operands of one dtype.
    Eq,
    /// `x != y` as bool, operands of one dtype.
    Ne,
    /// `x < y` as bool, operands of one real dtype.
    Lt,
    /// `x <= y` as bool, operands of one real dtype.
    Le,
    /// `c ? x : y`, c bool.
    Select,
    /// `x * y + z` rounded once (floats).
    Fma,
    /// Value conversion from any dtype. Float to integer truncates towards zero and saturates, NaN gives 0; integer to
    /// integer wraps; to bool is `x != 0`; complex to real takes the real part; the rest rounds to nearest even.
    Cast,
    /// The imaginary part of a complex number, in the dtype of its parts. The real part is a cast.
    Imag,
    /// The complex number `x + yi` of two floats in the dtype of its parts.
    Complex,
    /// The same bits as another dtype of the same size.
    Bitcast,
    /// A function of [`crate::math`]; float16 and bfloat16 compute in float32 and round once.
    Call(MathFn),
}

/// One instruction: its result has dtype `dtype`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instr {
    /// What it does.
    pub op: Op,
    /// The dtype of the result.
    pub dtype: DType,
    /// The operands, all defined by earlier instructions.
    pub args: Args,
}

/// A scalar program: `inputs` and `params` in, `outputs` out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Program {
    /// Dtype of each input operand.
    pub inputs: Vec<DType>,
    /// Dtype of each launch parameter.
    pub params: Vec<DType>,
    /// The instructions, in order.
    pub instrs: Vec<Instr>,
    /// The results.
    pub outputs: Vec<Value>,
}

impl Program {
    /// Dtype of the n-th output.
    pub fn output_dtype(&self, n: usize) -> DType {
        self.instrs[self.outputs[n] as usize].dtype
    }

    /// Dtype of a value.
    pub fn dtype(&self, value: Value) -> DType {
        self.instrs[value as usize].dtype
    }

    /// Whether the program asks where an element stands.
    pub fn uses_index(&self) -> bool {
        self.instrs.iter().any(|i| matches!(i.op, Op::Index(_)))
    }

    /// The program that hands its input through.
    pub fn identity(dtype: DType) -> Program {
        let mut b = Builder::new();
        let x = b.input(dtype);
        b.finish(&[x])
    }
}

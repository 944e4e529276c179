//! Which SPIR-V an instruction becomes.

use ferrotensor_gpu::code::Inst;
use rspirv::spirv::{GlslStd450Op as Glsl, Op};

/// How an instruction is written.
pub enum Spelling {
    /// By its own.
    Plain(Op),
    /// The same, which rounds, and is not to be contracted.
    Rounds(Op),
    /// By one of GLSL.std.450, exact or correctly rounded wherever it is what it says (which opening a device finds out).
    Extended(Glsl),
    /// By a product of two parts.
    HighProduct,
    /// By a vector.
    Join,
}

/// How it is written.
pub fn spelling(inst: Inst) -> Spelling {
    use Spelling::{Extended, HighProduct, Join, Plain, Rounds};
    match inst {
        Inst::FNegate => Plain(Op::FNegate),
        Inst::FAdd => Rounds(Op::FAdd),
        Inst::FSub => Rounds(Op::FSub),
        Inst::FMul => Rounds(Op::FMul),
        Inst::FDiv => Rounds(Op::FDiv),
        Inst::FAbs => Extended(Glsl::FAbs),
        Inst::Sqrt => Extended(Glsl::Sqrt),
        Inst::Fma => Extended(Glsl::Fma),
        Inst::Floor => Extended(Glsl::Floor),
        Inst::Ceil => Extended(Glsl::Ceil),
        Inst::RoundEven => Extended(Glsl::RoundEven),
        Inst::Trunc => Extended(Glsl::Trunc),
        Inst::SNegate => Plain(Op::SNegate),
        Inst::SAbs => Extended(Glsl::SAbs),
        Inst::IAdd => Plain(Op::IAdd),
        Inst::ISub => Plain(Op::ISub),
        Inst::IMul => Plain(Op::IMul),
        Inst::UMulHigh => HighProduct,
        Inst::SDiv => Plain(Op::SDiv),
        Inst::UDiv => Plain(Op::UDiv),
        Inst::UMod => Plain(Op::UMod),
        Inst::Not => Plain(Op::Not),
        Inst::BitwiseAnd => Plain(Op::BitwiseAnd),
        Inst::BitwiseOr => Plain(Op::BitwiseOr),
        Inst::BitwiseXor => Plain(Op::BitwiseXor),
        Inst::ShiftLeftLogical => Plain(Op::ShiftLeftLogical),
        Inst::ShiftRightLogical => Plain(Op::ShiftRightLogical),
        Inst::ShiftRightArithmetic => Plain(Op::ShiftRightArithmetic),
        Inst::LogicalNot => Plain(Op::LogicalNot),
        Inst::LogicalAnd => Plain(Op::LogicalAnd),
        Inst::LogicalOr => Plain(Op::LogicalOr),
        Inst::LogicalNotEqual => Plain(Op::LogicalNotEqual),
        Inst::FOrdEqual => Plain(Op::FOrdEqual),
        Inst::FUnordNotEqual => Plain(Op::FUnordNotEqual),
        Inst::FOrdLessThan => Plain(Op::FOrdLessThan),
        Inst::FOrdLessThanEqual => Plain(Op::FOrdLessThanEqual),
        Inst::FOrdGreaterThanEqual => Plain(Op::FOrdGreaterThanEqual),
        Inst::IEqual => Plain(Op::IEqual),
        Inst::INotEqual => Plain(Op::INotEqual),
        Inst::SLessThan => Plain(Op::SLessThan),
        Inst::SLessThanEqual => Plain(Op::SLessThanEqual),
        Inst::ULessThan => Plain(Op::ULessThan),
        Inst::ULessThanEqual => Plain(Op::ULessThanEqual),
        Inst::UGreaterThanEqual => Plain(Op::UGreaterThanEqual),
        Inst::Select => Plain(Op::Select),
        Inst::FConvert => Plain(Op::FConvert),
        Inst::ConvertSToF => Plain(Op::ConvertSToF),
        Inst::ConvertUToF => Plain(Op::ConvertUToF),
        Inst::ConvertFToS => Plain(Op::ConvertFToS),
        Inst::ConvertFToU => Plain(Op::ConvertFToU),
        Inst::SConvert => Plain(Op::SConvert),
        Inst::UConvert => Plain(Op::UConvert),
        Inst::Bitcast => Plain(Op::Bitcast),
        Inst::Join => Join,
    }
}

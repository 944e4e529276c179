//! A kernel as data, before any device's language: typed values, and the statements that make them. Emitters record it (`module.rs`), a
//! backend prints it. Nothing here is chosen for one compiler.
//!
//! Values are numbered in the order of their statements: each statement with a value has the next number, and `types` says what it is.
//! Blocks are statements too: a loop is from [`Statement::Loop`] over [`Statement::While`] to [`Statement::Next`], a branch from
//! [`Statement::When`] to [`Statement::End`]. What is computed in a block stays inside, but for constants and
//! the values of a loop.

/// The number of a value.
pub type Word = u32;

/// Threads of a group. 256 is what every desktop GPU takes, and keeps a 64-wide machine's four units of a core busy.
pub const GROUP: u32 = 256;

/// A scalar type. Integers are unsigned: instructions say what is signed. Those of 8 and 16 bits are loaded, stored and converted, and
/// nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Type {
    Bool,
    U8,
    U16,
    U32,
    U64,
    F32,
    F64,
}

impl Type {
    /// Bytes of an element.
    pub fn bytes(self) -> u32 {
        match self {
            Type::Bool | Type::U8 => 1,
            Type::U16 => 2,
            Type::U32 | Type::F32 => 4,
            Type::U64 | Type::F64 => 8,
        }
    }
}

/// An instruction, by the name it has in SPIR-V, where it is defined. Floats are those of IEEE 754, and no two instructions may be
/// contracted. No divisor is zero, no shift is as wide as its operand, no float beyond an integer's range is converted to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Inst {
    FNegate,
    FAdd,
    FSub,
    FMul,
    FDiv,
    FAbs,
    /// Correctly rounded, as `Fma`, wherever a device says so.
    Sqrt,
    Fma,
    Floor,
    Ceil,
    /// Halves to even.
    RoundEven,
    Trunc,
    SNegate,
    SAbs,
    IAdd,
    ISub,
    IMul,
    /// The high half of an unsigned product.
    UMulHigh,
    SDiv,
    UDiv,
    UMod,
    Not,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    ShiftLeftLogical,
    ShiftRightLogical,
    ShiftRightArithmetic,
    LogicalNot,
    LogicalAnd,
    LogicalOr,
    LogicalNotEqual,
    FOrdEqual,
    FUnordNotEqual,
    FOrdLessThan,
    FOrdLessThanEqual,
    FOrdGreaterThanEqual,
    IEqual,
    INotEqual,
    SLessThan,
    SLessThanEqual,
    ULessThan,
    ULessThanEqual,
    UGreaterThanEqual,
    /// By a bool the second operand or the third.
    Select,
    /// Between float32 and float64.
    FConvert,
    ConvertSToF,
    ConvertUToF,
    ConvertFToS,
    ConvertFToU,
    /// Narrows, or widens by the sign.
    SConvert,
    /// Narrows, or widens by zeros.
    UConvert,
    /// The same bits.
    Bitcast,
    /// 64 bits from two words, the low one first.
    Join,
}

/// Operands of an instruction: one to three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Args {
    values: [Word; 3],
    count: u8,
}

impl Args {
    /// Of at most three values.
    pub fn new(values: &[Word]) -> Args {
        let mut args = Args { values: [0; 3], count: values.len() as u8 };
        args.values[..values.len()].copy_from_slice(values);
        args
    }
}

impl std::ops::Deref for Args {
    type Target = [Word];

    fn deref(&self) -> &[Word] {
        &self.values[..self.count as usize]
    }
}

/// A number of the thread or of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Of the thread in the launch.
    Thread,
    /// Of the thread in its group.
    Local,
    /// Of the group.
    Group,
    /// How many groups there are.
    Groups,
}

/// A step of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// Value: a constant by its bits. Each is recorded once.
    Const(u64),
    /// Value: a constant of the scalar program, whose arithmetic a printer may have to hide from a compiler that gets it wrong.
    Literal(u64),
    /// Value: that of an instruction.
    Op(Inst, Args),
    /// Value: the n-th word of the arguments.
    Argument(u32),
    /// Value: a number of the thread.
    Place(Place),
    /// From here on there is the n-th buffer.
    Buffer(u32),
    /// From here on there is the n-th array, whose elements are anything.
    Array(u32),
    /// Value: an element of a buffer.
    #[allow(missing_docs)]
    Load { buffer: u32, index: Word },
    /// Writes an element of a buffer.
    #[allow(missing_docs)]
    Store { buffer: u32, index: Word, value: Word },
    /// Raises a word of a buffer to a value, whoever else does so at the same time.
    #[allow(missing_docs)]
    Raise { buffer: u32, index: Word, value: Word },
    /// Value: an element of an array.
    #[allow(missing_docs)]
    Get { array: u32, index: Word },
    /// Writes an element of an array.
    #[allow(missing_docs)]
    Set { array: u32, index: Word, value: Word },
    /// All threads of the group arrive, and see what the others wrote to shared arrays.
    Barrier,
    /// Values, one for each of these, with which they start: a loop begins with what decides on another round.
    Loop(Box<[Word]>),
    /// Another round where this holds; its statements follow.
    While(Word),
    /// The round's end, and what its values are in the next one.
    Next(Box<[Word]>),
    /// A branch taken where this holds.
    When(Word),
    /// Its end.
    End,
}

/// Elements that a launch binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Of an element.
    pub of: Type,
    /// Whether the kernel may write it.
    pub written: bool,
}

/// An array in a thread's or a group's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Of an element.
    pub of: Type,
    /// Elements.
    pub length: u32,
    /// Whether it is the group's.
    pub shared: bool,
}

/// A kernel. Groups have [`GROUP`] threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Code {
    /// Of each value.
    pub types: Vec<Type>,
    /// In order.
    pub statements: Vec<Statement>,
    /// In the order in which a launch binds them.
    pub buffers: Vec<Bound>,
    /// Those of threads and groups.
    pub arrays: Vec<Room>,
    /// Words of arguments. A launch gives one more, a 0 that no compiler knows of.
    pub arguments: u32,
}

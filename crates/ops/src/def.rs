//! The columns of the operation table.

use crate::dtype_rule::DTypeRule;
use crate::gradient::Gradient;
use crate::infer::ShapeCtx;
use crate::lower::{Lower, MapFn, Val};
use ferrotensor_core::{Dims, Error, Result, error::Code};

/// Position of a row in [`crate::OPS`], plus one (0 means "input" in a program).
pub type OpId = u16;

/// Where the public function lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Namespace {
    Root,
    Linalg,
    Fft,
    Random,
    Nn,
}

/// How users call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `x.op()` and `ft.op(x)`.
    Both,
    /// `ft.op(...)` only.
    Function,
    /// Called by hand-written TypeScript alone (indexing, random); not exported under its name.
    Internal,
}

/// One tensor operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OperandDef {
    /// Parameter name.
    pub name: &'static str,
    /// Whether a JavaScript number, bigint or boolean may stand in its place (a weak scalar).
    pub weak: bool,
    /// Whether it may be left out.
    pub optional: bool,
    /// Where the scalar in its place must lie, ends included; what lies outside is an IndexError at the call. Elements of tensors
    /// are the lowering's to refuse.
    pub range: Option<(f64, f64)>,
}

/// What an attribute of each axis is when it is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EachAxis {
    /// It may not be.
    Required,
    /// The window's size.
    Window,
    /// A number.
    Number(i64),
}

impl EachAxis {
    /// The smallest number that makes sense.
    pub fn least(self) -> i64 {
        (self != EachAxis::Number(0)).into()
    }
}

/// The kind of an attribute: something that changes the result type. Encoded as float64 words in table order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AttrKind {
    /// One integer. A default of `None` makes it required.
    Int(Option<i64>),
    /// One number that is not NaN, infinite or not, with its default.
    Number(f64),
    /// One axis, or none (NaN).
    OptAxis,
    /// A list of axes, or none (count -1) for "all".
    Axes,
    /// One integer for all axes of a window, or one for each: positive ones, and zeros where 0 is the default.
    PerAxis(EachAxis),
    /// Places before and after the data along each axis of a window: two lists of one number or one for each axis, or none
    /// (count -1) for "as many as keep the size".
    Padding,
    /// Places before and after the data along each axis (`pad`): two lists of one number or one for each axis.
    Widths,
    /// Text, as a list of the codes of its ASCII characters (`einsum`).
    Text,
    /// Two lists of axes or a count (`tensordot`).
    AxisPairs,
    /// A list of sizes.
    Shape,
    /// A list of sizes, one of which may be -1 (`reshape`).
    NewShape,
    /// true or false.
    Bool(bool),
    /// A dtype number, or none (NaN).
    OptDType,
    /// A device number.
    Device,
    /// One of a few words, as its position; the default is the first. A word that spells a number stands for that number.
    Choice(&'static [&'static str]),
    /// Index items, see [`crate::attrs::Item`]: count, then kind and length for each.
    Items,
    /// A call of another row, see [`crate::derived::Recorded`]; the last attribute.
    Call,
}

/// One attribute.
#[derive(Clone, Copy, Debug)]
pub struct AttrDef {
    /// Option name (`axis`, `keepdims`, ...).
    pub name: &'static str,
    /// Its kind and default.
    pub kind: AttrKind,
    /// Whether it stands before the options object (`reshape(shape)`).
    pub positional: bool,
}

/// A number that does not change the result type, handed over at run time as a float64.
#[derive(Clone, Copy, Debug)]
pub struct ParamDef {
    /// Option name.
    pub name: &'static str,
    /// Value when left out; `None` makes it required (and positional).
    pub default: Option<f64>,
    /// Which numbers make sense.
    pub kind: ParamKind,
}

/// Which numbers a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// Any.
    Number,
    /// Those above 0.
    Positive,
    /// Those not below 0.
    NotNegative,
    /// Whole ones.
    Integer,
    /// What elements of the result may be: a number that its dtype holds, as beside a tensor.
    Element,
}

impl ParamKind {
    /// The name in the generated table.
    pub fn name(self) -> &'static str {
        match self {
            ParamKind::Number => "number",
            ParamKind::Positive => "positive",
            ParamKind::NotNegative => "notNegative",
            ParamKind::Integer => "integer",
            ParamKind::Element => "element",
        }
    }
}

/// How a row becomes kernels.
#[derive(Clone, Copy)]
pub enum Lowering {
    /// Elementwise: the scalar program of one element, given the operands in the rule's compute dtype. Casts, broadcasting
    /// and weak scalars are the engine's work.
    Map(MapFn),
    /// Views and kernels.
    Graph(fn(&mut Lower) -> Result<Vec<Val>>),
}

/// What a row's documentation says.
#[derive(Clone, Copy, Debug)]
pub struct Doc {
    /// One sentence.
    pub summary: &'static str,
    /// The formula, in plain text.
    pub formula: &'static str,
    /// A TypeScript expression and, after ` // `, its `toArray()` as a JavaScript literal (`null` for NaN); executed by the
    /// tests and compared within 1e-5. With several outputs, the expression picks one.
    pub example: &'static str,
    /// The NumPy name.
    pub numpy: &'static str,
    /// The PyTorch name.
    pub torch: &'static str,
}

/// Where the conformance suite draws random operands from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Domain {
    /// Ordinary numbers of both signs, with special values.
    Any,
    /// The same without zeros.
    NonZero,
    /// Positive numbers.
    Positive,
    /// Numbers from -1 to 1.
    Unit,
    /// Well-conditioned square matrices.
    Matrix,
    /// Made by the row's own case generator.
    Special,
}

/// A call that must throw.
#[derive(Clone, Copy, Debug)]
pub struct ErrorCase {
    /// A TypeScript expression.
    pub call: &'static str,
    /// The error's code.
    pub code: Code,
}

/// An error that depends on values: thrown by the read, in the name of the call whose argument was wrong.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    /// The error's code.
    pub code: Code,
    /// The call.
    pub call: &'static str,
    /// What must be.
    pub words: &'static str,
}

/// One row of the table.
#[derive(Clone, Copy)]
pub struct OpDef {
    /// The public name.
    pub name: &'static str,
    /// Other names for the same function.
    pub aliases: &'static [&'static str],
    /// Where it lives.
    pub namespace: Namespace,
    /// Other namespaces that show the same function.
    pub also: &'static [Namespace],
    /// How it is called.
    pub form: Form,
    /// Tensor operands, in order.
    pub operands: &'static [OperandDef],
    /// Whether the last operand stands for a list: of any length >= 1 where it is the only one, else of any length.
    pub variadic: bool,
    /// Attributes, in order.
    pub attrs: &'static [AttrDef],
    /// Run-time numbers, in order.
    pub params: &'static [ParamDef],
    /// Names of the outputs; one unnamed output is `&[""]`.
    pub outputs: &'static [&'static str],
    /// Dtypes in and out.
    pub dtype: DTypeRule,
    /// Shapes out.
    pub shape: fn(&ShapeCtx) -> Result<Vec<Dims>>,
    /// Kernels.
    pub lower: Lowering,
    /// How it is differentiated.
    pub gradient: Gradient,
    /// Where tests draw operands from.
    pub domain: Domain,
    /// Documentation.
    pub doc: Doc,
    /// Calls that must throw, beyond those every operation has.
    pub errors: &'static [ErrorCase],
    /// What a look-up that fails means to the user, who asked for none.
    pub refused: Option<Refusal>,
}

impl Namespace {
    /// The property of `ft` that holds it; empty for the root.
    pub const fn path(self) -> &'static str {
        match self {
            Namespace::Root => "",
            Namespace::Linalg => "linalg",
            Namespace::Fft => "fft",
            Namespace::Random => "random",
            Namespace::Nn => "nn",
        }
    }
}

impl OpDef {
    /// The name as users write it after `ft.`: `exp`, `linalg.solve`.
    pub fn path(&self) -> std::borrow::Cow<'static, str> {
        match self.namespace {
            Namespace::Root => self.name.into(),
            space => format!("{}.{}", space.path(), self.name).into(),
        }
    }

    /// Whether this is its [`OpDef::path`].
    pub fn is_at(&self, path: &str) -> bool {
        let name = match self.namespace {
            Namespace::Root => Some(path),
            space => path.strip_prefix(space.path()).and_then(|rest| rest.strip_prefix('.')),
        };
        name == Some(self.name)
    }

    /// What users read of a kernel that failed. Positions of elements out of range follow from an operand that has a range: nobody passed
    /// them.
    pub fn failed(&self, e: Error) -> Error {
        if let (Some(refused), Code::Index) = (self.refused, e.code) {
            return Error::new(refused.code, refused.words.trim_end_matches('.')).in_op(refused.call);
        }
        let ranged = self.operands.iter().find_map(|o| Some((o.name, o.range?)));
        let told = match ranged {
            Some((name, (low, high))) if e.code == Code::Index => {
                Error::index(format!("an element of '{name}' is outside of [{low}, {high}]"))
            }
            // A result beyond its dtype: where another one is asked for.
            _ if e.code == Code::DType && self.attrs.iter().any(|a| a.name == "dtype") => {
                Error::dtype(format!("{}, with the option dtype", e.message))
            }
            _ if e.code == Code::DType => Error::dtype(format!("{}, by astype of the operands", e.message)),
            _ => e,
        };
        told.in_op(&self.path())
    }

    /// Number of operands of every call, and the fewest: only a list may be longer.
    pub fn least_operands(&self) -> usize {
        (self.operands.len() - self.variadic as usize).max(self.operands.len().min(1))
    }

    /// The definition of the n-th operand of a call; those of a list share theirs.
    pub fn operand(&self, n: usize) -> &OperandDef {
        &self.operands[n.min(self.operands.len() - 1)]
    }

    /// This row's number in programs: those of the table, then the derived ones.
    pub fn id(&self) -> OpId {
        let place = |rows: &[OpDef]| rows.iter().position(|row| std::ptr::eq(row, self));
        let offset = (self as *const OpDef).addr().wrapping_sub(crate::OPS.as_ptr().addr());
        let position = match offset / size_of::<OpDef>() {
            n if n < crate::OPS.len() => n,
            _ => crate::OPS.len() + place(&crate::DERIVED).unwrap_or_default(),
        };
        position as OpId + 1
    }
}

/// The row with this number.
pub fn by_id(id: OpId) -> Option<&'static OpDef> {
    let position = (id as usize).wrapping_sub(1);
    crate::OPS.get(position).or_else(|| crate::DERIVED.get(position.wrapping_sub(crate::OPS.len())))
}

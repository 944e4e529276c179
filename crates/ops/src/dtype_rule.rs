//! Dtype rules: a closed set that codegen prints as TypeScript types.

use crate::attrs::Attrs;
use ferrotensor_core::planted;
use ferrotensor_core::{DType, Error, Result, promotion};

/// Which dtypes an operation takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Class {
    Any,
    /// Everything but bool.
    Numeric,
    /// Integers and floats.
    Real,
    /// Bool, integers and floats: everything with an order.
    Ordered,
    /// Integers, and what `to_float` makes floating: everything but complex.
    RealOrBool,
    /// Floats.
    Float,
    /// float32 and float64.
    Native,
    /// Complex and what becomes complex.
    Complex,
    /// Bool.
    Bool,
    /// Integers.
    Integer,
    /// Integers and bool.
    IntegerOrBool,
}

impl Class {
    /// Whether a dtype belongs to it.
    pub fn has(self, d: DType) -> bool {
        match self {
            Class::Any | Class::Complex => true,
            Class::Numeric => d != DType::Bool,
            Class::Real => d.is_integer() || d.is_float(),
            Class::Ordered | Class::RealOrBool => !d.is_complex(),
            Class::Float => d.is_float(),
            Class::Native => matches!(d, DType::F32 | DType::F64),
            Class::Bool => d == DType::Bool,
            Class::Integer => d.is_integer(),
            Class::IntegerOrBool => d.is_integer() || d == DType::Bool,
        }
    }

    /// What error messages call it.
    pub fn words(self) -> &'static str {
        match self {
            Class::Any | Class::Complex => "any dtype",
            Class::Numeric => "a numeric dtype",
            Class::Real => "an integer or floating dtype",
            Class::Ordered | Class::RealOrBool => "a real dtype",
            Class::Float => "a floating dtype",
            Class::Native => "float32 or float64",
            Class::Bool => "bool",
            Class::Integer => "an integer dtype",
            Class::IntegerOrBool => "an integer dtype or bool",
        }
    }
}

/// What the operands are cast to before the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Compute {
    /// Each stays what it is.
    Own,
    /// The promoted dtype of all of them.
    Promote,
    /// Promoted, integers and bool to float32.
    Float,
    /// float32 or float64 to complex64 or complex128; integers, bool and half floats to complex64.
    ComplexFloat,
    /// `sum`'s accumulator.
    Sum,
    /// The `dtype` attribute; without one, promoted.
    AttrOrPromote,
    /// Bool.
    Truth,
}

/// What comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Out {
    /// The compute dtype (of operand 0 for `Compute::Own`).
    Compute,
    /// The dtype of the compute dtype's parts: what is not complex itself.
    RealPart,
    /// The complex dtype of the compute dtype: complex128 of float64, else complex64.
    ComplexOf,
    Bool,
    Int32,
    /// The compute dtype, then int32 (`topk`).
    ComputeAndInt32,
    /// The compute dtype, twice (`qr`).
    Twice,
    /// The `dtype` attribute; without one, the compute dtype.
    AttrOrCompute,
    /// The `dtype` attribute; without one, this dtype.
    AttrOr(DType),
    Fixed(DType),
    /// One of these for each output.
    Each(&'static [Out]),
}

/// Dtypes in and out of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DTypeRule {
    /// Dtypes each operand the rule speaks of may have.
    pub class: Class,
    /// Cast before.
    pub compute: Compute,
    /// Result.
    pub out: Out,
    /// Operands before this one stand outside the rule (`where`'s condition); checked by the row's shape function.
    pub first: usize,
    /// Operands from this one on stand outside the rule (`take`'s indices).
    pub last: usize,
}

impl DTypeRule {
    /// A rule over all operands.
    pub const fn new(class: Class, compute: Compute, out: Out) -> Self {
        DTypeRule { class, compute, out, first: 0, last: usize::MAX }
    }

    /// The rule over operands `first..last` only.
    pub const fn over(self, first: usize, last: usize) -> Self {
        DTypeRule { first, last, ..self }
    }
}

/// An operand as dtype rules see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Arg {
    Tensor(DType),
    /// A JavaScript number, bigint or boolean: never changes the tensors' dtype, but for a number beside bools.
    Number,
    BigInt,
    Boolean,
    Absent,
}

/// What a dtype rule decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dtypes {
    /// What operands are cast to.
    pub compute: DType,
    /// Each output.
    pub outputs: Vec<DType>,
}

/// Applies a rule.
///
/// # Errors
/// `Code::DType` when an operand is outside the class or operands do not promote.
pub fn apply(rule: &DTypeRule, args: &[Arg], attrs: &Attrs) -> Result<Dtypes> {
    let ruled = &args[rule.first.min(args.len())..rule.last.min(args.len())];
    let mut common: Option<DType> = None;
    for d in ruled.iter().filter_map(|a| if let Arg::Tensor(d) = a { Some(*d) } else { None }) {
        if !rule.class.has(d) {
            return Err(refused(rule.class, d));
        }
        common = Some(match (common, rule.compute) {
            (None, _) => d,
            (Some(c), Compute::Own) => c,
            (Some(c), _) => promotion::promote(c, d)?,
        });
    }
    let weak = weak_only(ruled);
    let number = weak.filter(|&d| d != DType::Bool);
    let common = match (common, number) {
        // Bool holds no number, which then brings its own dtype.
        (Some(DType::Bool), Some(own)) if rule.compute == Compute::Promote && rule.class.has(own) => own,
        (Some(d), _) => d,
        (None, _) => weak.unwrap_or(DType::F32),
    };
    if !rule.class.has(common) {
        return Err(refused(rule.class, common));
    }
    let compute = match rule.compute {
        Compute::Own | Compute::Promote => common,
        Compute::Float => promotion::to_float(common),
        Compute::ComplexFloat => promotion::to_complex(common),
        Compute::Sum => {
            let own = if planted::is("sums-stay-narrow") { common } else { promotion::to_sum(common) };
            attrs.dtype("dtype").unwrap_or(own)
        }
        Compute::AttrOrPromote => attrs.dtype("dtype").unwrap_or(common),
        Compute::Truth => DType::Bool,
    };
    if compute == DType::Bool && rule.compute != Compute::Truth && number.is_some() && common == DType::Bool {
        return Err(Error::dtype("a number does not combine with a bool tensor; use a boolean, or astype('int32') first"));
    }
    Ok(Dtypes { compute, outputs: outputs(rule.out, compute, attrs) })
}

fn outputs(out: Out, compute: DType, attrs: &Attrs) -> Vec<DType> {
    match out {
        Out::Compute => vec![compute],
        Out::RealPart => vec![compute.info().real],
        Out::ComplexOf => vec![promotion::to_complex(compute)],
        Out::Bool => vec![DType::Bool],
        Out::Int32 => vec![DType::I32],
        Out::ComputeAndInt32 => vec![compute, DType::I32],
        Out::Twice => vec![compute; 2],
        Out::AttrOrCompute => vec![attrs.dtype("dtype").unwrap_or(compute)],
        Out::AttrOr(default) => vec![attrs.dtype("dtype").unwrap_or(default)],
        Out::Fixed(dtype) => vec![dtype],
        Out::Each(all) => all.iter().flat_map(|&one| outputs(one, compute, attrs)).collect(),
    }
}

/// A dtype outside of a class, with the conversion that probably helps.
fn refused(class: Class, d: DType) -> Error {
    let to = match class {
        Class::Float | Class::Native => DType::F32,
        Class::Bool => DType::Bool,
        _ => DType::I32,
    };
    // Complex numbers have no real counterpart that a cast would find.
    let hint = if d.is_complex() { String::new() } else { format!("; convert with astype('{to}')") };
    Error::dtype(format!("takes {}, got {d}{hint}", class.words()))
}

/// The dtype of an expression of weak scalars alone: number float32, bigint int64, boolean bool.
fn weak_only(args: &[Arg]) -> Option<DType> {
    args.iter()
        .filter_map(|a| match a {
            Arg::Number => Some(DType::F32),
            Arg::BigInt => Some(DType::I64),
            Arg::Boolean => Some(DType::Bool),
            Arg::Tensor(_) | Arg::Absent => None,
        })
        .max_by_key(|d| (d.kind(), d.bytes()))
}

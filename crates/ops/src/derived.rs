//! Rows that are not of the table: what a result's cotangent, or an operand's tangent, becomes through a call of another row; that call at
//! each position of an axis; and the value of a tensor, for gradients of the caller's making, and to be computed again. They are recorded, typed and run as the rows of the
//! table, whose numbers theirs follow, and have gradients like those.

use crate::attrs::{Attrs, Words};
use crate::def::{AttrDef, AttrKind, Domain, Form, Lowering, OpDef, OpId, by_id};
use crate::dtype_rule::{Arg, Class, Compute, DTypeRule, Out};
use crate::gradient::{self, Gradient, is_differentiable};
use crate::infer::{self, Inferred, ShapeCtx};
use crate::lower::{Lower, Operand, Val};
use crate::table::rows::{BASE, arg, tensor};
use crate::vmap;
use ferrotensor_core::planted;
use ferrotensor_core::{DType, Dims, Error, Result};

/// A call that a derived row speaks of.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its row.
    pub op: OpId,
    /// What stood in the place of each operand; nothing for a tensor.
    pub forms: Vec<Option<Arg>>,
    /// `vjp`: the operand whose cotangent is asked for; `jvp`: the result whose tangent is; `vmap`: the result.
    pub of: usize,
    /// `vjp`: results that have a cotangent; `jvp`: operands that have a tangent. The others' are zero. `vmap`: for each operand that is a
    /// tensor, whether it has the axis of positions.
    pub given: Vec<bool>,
    /// Its attributes.
    pub attrs: Attrs,
}

impl Recorded {
    /// From words: row, forms (0 tensor, 1 number, 2 bigint, 3 boolean, 4 absent) as a list, `of`, `given` as a list of 0 and 1, and
    /// the words of its attributes.
    pub(crate) fn decode(words: &mut Words) -> Result<Recorded> {
        let unknown = || Error::internal("a gradient of no call");
        let op = OpId::try_from(words.int("op")?).map_err(|_| unknown())?;
        let def = by_id(op).ok_or_else(unknown)?;
        let forms = words.list("forms")?.unwrap_or_default().into_iter().map(|code| match code {
            0 => Ok(None),
            1 => Ok(Some(Arg::Number)),
            2 => Ok(Some(Arg::BigInt)),
            3 => Ok(Some(Arg::Boolean)),
            4 => Ok(Some(Arg::Absent)),
            _ => Err(unknown()),
        });
        let forms = forms.collect::<Result<Vec<_>>>()?;
        let of = usize::try_from(words.int("of")?).map_err(|_| unknown())?;
        let given = words.list("given")?.unwrap_or_default().into_iter().map(|flag| flag != 0).collect();
        let attrs = match words.rest() {
            [] => Attrs::defaults(def).ok_or_else(unknown)?,
            words => Attrs::decode(def, words)?,
        };
        Ok(Recorded { op, forms, of, given, attrs })
    }

    pub(crate) fn def(&self) -> Result<&'static OpDef> {
        by_id(self.op).ok_or_else(|| Error::internal("a gradient of no row"))
    }

    /// Numbers of the operands that are tensors.
    pub(crate) fn tensors(&self) -> Vec<usize> {
        (0..self.forms.len()).filter(|&n| self.forms[n].is_none()).collect()
    }

    /// What the call itself gives, for the types of its tensors.
    ///
    /// # Errors
    /// As inference; `Code::Internal` for too few.
    pub(crate) fn infer_call(&self, own: &[(DType, Dims)]) -> Result<Inferred> {
        let mut next = own.iter();
        let (mut args, mut shapes) = (Vec::new(), Vec::new());
        for form in &self.forms {
            let (arg, dims) = match form {
                None => next.next().map(|(dtype, dims)| (Arg::Tensor(*dtype), Some(dims.clone()))).ok_or_else(short)?,
                Some(Arg::Absent) => (Arg::Absent, None),
                Some(weak) => (*weak, Some(Dims::new())),
            };
            args.push(arg);
            shapes.push(dims);
        }
        infer::infer(self.def()?, &args, shapes, &self.attrs)
    }

    /// That the call has a derivative.
    fn check_differentiable(&self) -> Result<()> {
        let def = self.def()?;
        if is_mapped(def) { self.attrs.call()?.check_differentiable() } else { gradient::check(def) }
    }

    /// The type that comes out of `vjp` or `jvp`: operands are the call's tensors, its results, then what is given.
    ///
    /// # Errors
    /// As inference of the call, `Code::Unsupported` for rows without a gradient, `Code::DType` for integers; `Code::Internal` for
    /// operands that are not the call's.
    fn infer_derivative(&self, backwards: bool, types: &[(DType, Dims)]) -> Result<Inferred> {
        let (def, tensors) = (self.def()?, self.tensors());
        self.check_differentiable()?;
        let (own, rest) = types.split_at_checked(tensors.len()).ok_or_else(short)?;
        let results = self.infer_call(own)?.outputs;
        let (found, given) = rest.split_at_checked(results.len()).ok_or_else(short)?;
        let of_tensor = |n: usize| tensors.iter().position(|&t| t == n).map(|at| own[at].clone());
        let beside = |n: usize| if backwards { results.get(n).cloned() } else { of_tensor(n) };
        let wanted: Vec<_> = (0..self.given.len()).filter(|&n| self.given[n]).map(beside).collect();
        if found != results.as_slice() || !given.iter().eq(wanted.iter().flatten()) || given.len() != wanted.len() {
            return Err(Error::internal("a gradient of other types than its call"));
        }
        let out = if backwards { of_tensor(self.of) } else { results.get(self.of).cloned() };
        let (dtype, dims) = out.ok_or_else(|| Error::internal("a gradient of nothing"))?;
        if !is_differentiable(dtype) {
            return Err(
                Error::dtype(format!("{dtype} has no gradient; it is of floating and complex tensors")).in_op(&def.path())
            );
        }
        Ok(Inferred { compute: dtype, outputs: vec![(dtype, dims)] })
    }
}

fn short() -> Error {
    Error::internal("a derived row without all that its call has")
}

/// The type that comes out of a derived row that speaks of a call.
///
/// # Errors
/// Those of the row, and `Code::Internal` for operands that are no tensors.
pub(crate) fn infer(op: &OpDef, call: &Recorded, args: &[Arg], dims: &[Option<Dims>]) -> Result<Inferred> {
    let types = args.iter().zip(dims).map(|(arg, dims)| match (arg, dims) {
        (Arg::Tensor(dtype), Some(dims)) => Ok((*dtype, dims.clone())),
        _ => Err(Error::internal("an operand of a derived row is no tensor")),
    });
    let types = types.collect::<Result<Vec<(DType, Dims)>>>()?;
    if is_mapped(op) { call.infer_mapped(&types) } else { call.infer_derivative(op.name == DERIVED[0].name, &types) }
}

/// The parts of a derived row being lowered: operands of the call and its first run-time number, its results, what is given.
struct Parts {
    operands: Vec<Operand>,
    first_param: u16,
    outputs: Vec<Val>,
    given: Vec<Option<Val>>,
}

fn parts(l: &mut Lower, recorded: &Recorded) -> Result<Parts> {
    let values = (0..l.len()).map(|n| l.operand(n)).collect::<Result<Vec<Val>>>()?;
    let mut values = values.into_iter();
    let mut next = || values.next().ok_or_else(|| Error::internal("a gradient without all that its call has"));
    let mut first_param = l.first_param();
    let operands = recorded.forms.iter().map(|form| {
        Ok(match form {
            None => Operand::Val(next()?),
            Some(Arg::Absent) => Operand::Absent,
            Some(kind) => {
                first_param += 1;
                Operand::Weak(first_param - 1, *kind)
            }
        })
    });
    let operands = operands.collect::<Result<Vec<Operand>>>()?;
    let outputs = (0..recorded.def()?.outputs.len()).map(|_| next()).collect::<Result<Vec<Val>>>()?;
    let given = recorded.given.iter().map(|&is| is.then(&mut next).transpose()).collect::<Result<Vec<Option<Val>>>>()?;
    Ok(Parts { operands, first_param, outputs, given })
}

/// What was found, or zeros of the result's type.
fn or_zeros(l: &mut Lower, found: Option<Val>) -> Result<Vec<Val>> {
    let (dtype, dims) = (l.out_dtype(0), l.out_dims(0));
    Ok(vec![match found {
        Some(v) => v,
        None => l.map(&dims, &[], |b, _| b.lit(dtype, 0.0))?,
    }])
}

fn vjp(l: &mut Lower) -> Result<Vec<Val>> {
    let recorded = l.attrs().call()?.clone();
    let Parts { operands, first_param, outputs, given } = parts(l, &recorded)?;
    let wrt: Vec<bool> = (0..operands.len()).map(|n| n == recorded.of).collect();
    let op = recorded.def()?;
    let found = gradient::vjp(l.graph, op, &operands, &recorded.attrs, first_param, &outputs, &given, &wrt)?;
    let found = if planted::is("second-derivatives-are-zero") && op.form == Form::Internal { Vec::new() } else { found };
    or_zeros(l, found.get(recorded.of).copied().flatten())
}

fn jvp(l: &mut Lower) -> Result<Vec<Val>> {
    let recorded = l.attrs().call()?.clone();
    let Parts { operands, first_param, outputs, mut given } = parts(l, &recorded)?;
    let op = recorded.def()?;
    if planted::is("a-second-tangent-is-lost") {
        given.iter_mut().skip(1).for_each(|tangent| *tangent = None);
    }
    let found = gradient::jvp(l.graph, op, &operands, &recorded.attrs, first_param, &outputs, &given)?;
    or_zeros(l, found.get(recorded.of).copied().flatten())
}

fn same_as_first(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    Ok(vec![Dims::from_slice(ctx.shape(0))])
}

/// The first operand; the others are what it depends on in the caller's eyes.
fn first(l: &mut Lower) -> Result<Vec<Val>> {
    Ok(vec![l.operand(0)?])
}

/// The first operand as a value of its own, which [`crate::graph::Node`] tells from others by its row.
fn apart(l: &mut Lower) -> Result<Vec<Val>> {
    let v = l.operand(0)?;
    Ok(vec![l.alias(v)])
}

const CALL: &[AttrDef] = &[arg("call", AttrKind::Call)];
const ROW: OpDef = OpDef {
    form: Form::Internal,
    operands: &[tensor("operands")],
    variadic: true,
    attrs: CALL,
    dtype: DTypeRule::new(Class::Any, Compute::Own, Out::Compute),
    domain: Domain::Special,
    ..BASE
};

const VALUE: OpDef = OpDef { attrs: &[], shape: same_as_first, ..ROW };

/// The rows.
pub static DERIVED: [OpDef; 5] = [
    OpDef { name: "vjp", lower: Lowering::Graph(vjp), ..ROW },
    OpDef { name: "jvp", lower: Lowering::Graph(jvp), ..ROW },
    OpDef { name: "custom", lower: Lowering::Graph(first), ..VALUE },
    OpDef { name: "barrier", lower: Lowering::Graph(apart), ..VALUE },
    OpDef { name: "vmap", lower: Lowering::Graph(vmap::vmap), gradient: Gradient::Rule(vmap::cotangents), ..ROW },
];

/// Whether values of a row are never taken for others: what hangs on them is computed again (`checkpoint`).
pub fn is_barrier(op: OpId) -> bool {
    op == DERIVED[3].id()
}

/// Whether a row is a call at each position of an axis.
fn is_mapped(op: &OpDef) -> bool {
    op.name == DERIVED[4].name
}

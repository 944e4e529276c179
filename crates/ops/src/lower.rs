//! What a row's lowering sees: the call's operands, attributes and inferred types, and a [`Writer`] for the result.

use crate::attrs::Attrs;
use crate::def::{Lowering, OpDef};
use crate::dtype_rule::Arg;
use crate::graph::{Graph, Number, Param};
use crate::infer::{self, Inferred};
use crate::write::Writer;
use ferrotensor_core::kernel::{Kernel, Map};
use ferrotensor_core::scalar::{Builder, Value};
use ferrotensor_core::{DType, Dims, Error, Result};

pub use crate::graph::Val;

/// Stands for an operand that was left out among a [`MapFn`]'s values.
pub const ABSENT: Value = Value::MAX;

/// The scalar program of an elementwise row: operands in the compute dtype in, the result in the given dtype out.
pub type MapFn = fn(&mut Builder, &[Value], DType) -> Value;

/// One operand of a call being lowered.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    /// A tensor.
    Val(Val),
    /// A weak scalar: parameter number, and whether it holds an int64.
    Weak(u16, Arg),
    /// Left out.
    Absent,
}

/// Writes what a call becomes.
pub type Lower<'a> = Writer<'a, Call<'a>>;

/// The operands and numbers of an elementwise call, as its program sees them.
pub struct Elements {
    /// Tensor operands, broadcast.
    pub inputs: Vec<Val>,
    /// Launch parameters.
    pub params: Vec<Param>,
    /// A value for each operand, or [`ABSENT`], in the dtypes the program takes; then one for each run-time number.
    pub values: Vec<Value>,
}

/// A call being lowered.
pub struct Call<'a> {
    op: &'static OpDef,
    operands: &'a [Operand],
    attrs: &'a Attrs,
    inferred: &'a Inferred,
    first_param: u16,
}

/// Lowers one call into the graph; `first_param` is the number of its first run-time number.
///
/// # Errors
/// As inference, and `Code::Internal` for a row whose lowering disagrees with its types.
pub fn lower(
    graph: &mut Graph,
    op: &'static OpDef,
    operands: &[Operand],
    attrs: &Attrs,
    first_param: u16,
) -> Result<Vec<Val>> {
    let inferred = inferred(graph, op, operands, attrs)?;
    let call = Call { op, operands, attrs, inferred: &inferred, first_param };
    let mut l = Lower { graph, op: op.id(), call };
    let outputs = match op.lower {
        Lowering::Map(f) => vec![l.elementwise(f)?],
        Lowering::Graph(f) => f(&mut l)?,
    };
    for (v, (dtype, dims)) in outputs.iter().zip(&inferred.outputs) {
        if graph.dtype(*v) != *dtype || graph.dims(*v) != dims {
            let (d, s) = (graph.dtype(*v), graph.dims(*v));
            return Err(Error::internal(format!("{}: lowered to {d} {s:?}, inferred {dtype} {dims:?}", op.name)));
        }
    }
    Ok(outputs)
}

/// The types of a call's results.
fn inferred(graph: &Graph, op: &'static OpDef, operands: &[Operand], attrs: &Attrs) -> Result<Inferred> {
    let args: Vec<Arg> = operands.iter().map(|o| arg(graph, o)).collect();
    let dims = operands.iter().map(|o| dims(graph, o)).collect();
    infer::infer(op, &args, dims, attrs)
}

/// Writes something else about a call than what it becomes: its gradient.
///
/// # Errors
/// As inference, and those of `f`.
pub fn about<R>(
    graph: &mut Graph,
    op: &'static OpDef,
    operands: &[Operand],
    attrs: &Attrs,
    first_param: u16,
    f: impl FnOnce(&mut Lower) -> Result<R>,
) -> Result<R> {
    let inferred = inferred(graph, op, operands, attrs)?;
    let call = Call { op, operands, attrs, inferred: &inferred, first_param };
    f(&mut Lower { graph, op: op.id(), call })
}

fn arg(graph: &Graph, o: &Operand) -> Arg {
    match o {
        Operand::Val(v) => Arg::Tensor(graph.dtype(*v)),
        Operand::Weak(_, kind) => *kind,
        Operand::Absent => Arg::Absent,
    }
}

fn dims(graph: &Graph, o: &Operand) -> Option<Dims> {
    match o {
        Operand::Val(v) => Some(graph.dims(*v).clone()),
        Operand::Weak(..) => Some(Dims::new()),
        Operand::Absent => None,
    }
}

/// A weak scalar in a program: its value in the compute dtype. Parameters are real; 8 bytes hold no complex128.
fn weak(b: &mut Builder, index: u16, kind: Arg, compute: DType) -> (Value, Param) {
    let dtype = compute.info().real;
    let value = b.param(dtype);
    (b.cast(value, compute), Param { index, bigint: kind == Arg::BigInt, dtype })
}

impl Lower<'_> {
    /// The call's attributes.
    pub fn attrs(&self) -> &Attrs {
        self.call.attrs
    }

    /// The dtype operands are cast to.
    pub fn compute(&self) -> DType {
        self.call.inferred.compute
    }

    /// Dtype of the n-th result.
    pub fn out_dtype(&self, n: usize) -> DType {
        self.call.inferred.outputs[n].0
    }

    /// Shape of the n-th result.
    pub fn out_dims(&self, n: usize) -> Dims {
        self.call.inferred.outputs[n].1.clone()
    }

    /// Number of operands.
    pub fn len(&self) -> usize {
        self.call.operands.len()
    }

    /// Whether there are no operands.
    pub fn is_empty(&self) -> bool {
        self.call.operands.is_empty()
    }

    /// Whether the n-th operand was left out.
    pub fn is_absent(&self, n: usize) -> bool {
        matches!(self.call.operands.get(n), None | Some(Operand::Absent))
    }

    /// The n-th operand, where it is a tensor.
    pub fn tensor(&self, n: usize) -> Option<Val> {
        if let Some(Operand::Val(v)) = self.call.operands.get(n) { Some(*v) } else { None }
    }

    /// The n-th operand as it is; a weak scalar becomes a rank-0 value of the compute dtype.
    pub fn operand(&mut self, n: usize) -> Result<Val> {
        match self.call.operands[n] {
            Operand::Val(v) => Ok(v),
            Operand::Weak(index, kind) => {
                let mut b = Builder::new();
                let (value, param) = weak(&mut b, index, kind, self.compute());
                let program = b.finish(&[value]);
                Ok(self.launch(Kernel::Map(Map { program }), &[], &[param], &[Dims::new()]))
            }
            Operand::Absent => Err(Error::argument(format!("missing operand '{}'", self.call.op.operands[n].name))),
        }
    }

    /// Whether the row has run-time numbers.
    pub fn has_params(&self) -> bool {
        !self.call.op.params.is_empty()
    }

    /// The number of the call's first run-time number among those of the program.
    pub fn first_param(&self) -> u16 {
        self.call.first_param
    }

    /// The n-th run-time number of the row, as the integer of a view.
    pub fn number(&self, n: usize) -> Number {
        Number::Param(self.call.first_param + n as u16)
    }

    /// The n-th run-time number of the row, as a launch parameter.
    pub fn param(&self, n: usize, dtype: DType) -> Param {
        Param { index: self.call.first_param + n as u16, bigint: false, dtype }
    }

    fn elementwise(&mut self, f: MapFn) -> Result<Val> {
        let (out, dims) = self.call.inferred.outputs[0].clone();
        let mut b = Builder::new();
        let Elements { inputs, params, values } = self.elements(&mut b)?;
        let result = f(&mut b, &values, out);
        let program = b.finish(&[result]);
        Ok(self.launch(Kernel::Map(Map { program }), &inputs, &params, &[dims]))
    }

    /// What the program of an elementwise row is given.
    ///
    /// # Errors
    /// As [`Writer::broadcast`].
    pub fn elements(&mut self, b: &mut Builder) -> Result<Elements> {
        let (compute, dims) = (self.compute(), self.out_dims(0));
        let (mut inputs, mut params, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (n, operand) in self.call.operands.iter().enumerate() {
            let ruled = n >= self.call.op.dtype.first && n < self.call.op.dtype.last;
            match *operand {
                Operand::Val(v) => {
                    let value = b.input(self.graph.dtype(v));
                    let own = self.call.op.dtype.compute == crate::dtype_rule::Compute::Own;
                    values.push(if ruled && !own { b.cast(value, compute) } else { value });
                    inputs.push(self.broadcast(v, &dims)?);
                }
                Operand::Weak(index, kind) => {
                    let (value, param) = weak(b, index, kind, compute);
                    values.push(value);
                    params.push(param);
                }
                Operand::Absent => values.push(ABSENT),
            }
        }
        for n in 0..self.call.op.params.len() {
            values.push(b.param(compute));
            params.push(self.param(n, compute));
        }
        Ok(Elements { inputs, params, values })
    }

    /// Another row, applied to values.
    pub fn op(&mut self, name: &str, inputs: &[Val], attrs: impl FnOnce(Attrs) -> Attrs) -> Result<Val> {
        let op = crate::find(name).ok_or_else(|| Error::internal(format!("no row '{name}'")))?;
        let defaults =
            Attrs::defaults(op).ok_or_else(|| Error::internal(format!("row '{name}' has required attributes")))?;
        let operands: Vec<Operand> = inputs.iter().map(|&v| Operand::Val(v)).collect();
        Ok(lower(self.graph, op, &operands, &attrs(defaults), 0)?[0])
    }
}

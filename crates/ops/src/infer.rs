//! Type inference of one operation: everything that can be wrong before there are values is found here, at the call.

use crate::attrs::Attrs;
use crate::def::OpDef;
use crate::derived;
use crate::dtype_rule::{self, Arg};
use ferrotensor_core::{DType, Dims, Error, Result};

/// What a shape function sees.
pub struct ShapeCtx<'a> {
    /// The row.
    pub op: &'a OpDef,
    /// Shape of each operand; weak scalars have rank 0, absent operands none.
    pub dims: Vec<Option<Dims>>,
    /// Dtype or weak kind of each operand.
    pub args: &'a [Arg],
    /// Attributes.
    pub attrs: &'a Attrs,
}

impl ShapeCtx<'_> {
    /// Shape of an operand that is there.
    pub fn shape(&self, i: usize) -> &[usize] {
        self.dims.get(i).and_then(|d| d.as_deref()).unwrap_or(&[])
    }

    /// Dtype of a tensor operand.
    pub fn dtype(&self, i: usize) -> Option<DType> {
        if let Some(Arg::Tensor(d)) = self.args.get(i) { Some(*d) } else { None }
    }
}

/// The types of one operation's results.
#[derive(Clone, Debug, PartialEq)]
pub struct Inferred {
    /// What operands are cast to.
    pub compute: DType,
    /// Dtype and shape of each output.
    pub outputs: Vec<(DType, Dims)>,
}

/// Infers the result types.
///
/// # Errors
/// The typed error of the call, led by the operation's name.
pub fn infer(op: &'static OpDef, args: &[Arg], dims: Vec<Option<Dims>>, attrs: &Attrs) -> Result<Inferred> {
    infer_inner(op, args, dims, attrs).map_err(|e| e.in_op(&op.path()))
}

fn infer_inner(op: &'static OpDef, args: &[Arg], dims: Vec<Option<Dims>>, attrs: &Attrs) -> Result<Inferred> {
    check_operands(op, args)?;
    if let Ok(call) = attrs.call() {
        return derived::infer(op, call, args, &dims);
    }
    let dtypes = dtype_rule::apply(&op.dtype, args, attrs)?;
    let ctx = ShapeCtx { op, dims, args, attrs };
    let shapes = (op.shape)(&ctx)?;
    for dims in &shapes {
        ferrotensor_core::layout::count(dims)?;
    }
    if shapes.len() != dtypes.outputs.len() {
        return Err(Error::internal(format!("{} shapes for {} outputs", shapes.len(), dtypes.outputs.len())));
    }
    Ok(Inferred { compute: dtypes.compute, outputs: dtypes.outputs.into_iter().zip(shapes).collect() })
}

fn check_operands(op: &OpDef, args: &[Arg]) -> Result<()> {
    let least = op.least_operands();
    if args.len() < least || (args.len() > least && !op.variadic) {
        let at = if op.variadic { "at least " } else { "" };
        return Err(Error::argument(format!("got {} operands, takes {at}{least}", args.len())));
    }
    for (i, arg) in args.iter().enumerate() {
        let def = op.operand(i);
        match arg {
            Arg::Absent if !def.optional => return Err(Error::argument(format!("missing operand '{}'", def.name))),
            Arg::Number | Arg::BigInt | Arg::Boolean if !def.weak => {
                return Err(Error::argument(format!("operand '{}' must be a tensor", def.name)));
            }
            _ => {}
        }
    }
    Ok(())
}

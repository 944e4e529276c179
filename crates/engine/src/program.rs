//! The wire format of programs, decoded and lowered.
//!
//! A program is int32 words, nodes in topological order; each defines consecutive value slots, numbered from 0:
//! - input: `[0, type]`, takes the next handle;
//! - op: `[op | forms << 10 | nparams << 25, attributes, (count if variadic), slots of the tensor operands...]`.
//!
//! `forms` holds three bits for each of up to five operands: 0 tensor, 1 number, 2 bigint, 3 boolean, 4 absent. Weak scalars
//! come first among the node's parameters, in operand order, then the row's own.

use crate::types::{AttrTable, Types};
use ferrotensor_core::{Error, Result};
use ferrotensor_ops::OpId;
use ferrotensor_ops::def::{OpDef, by_id};
use ferrotensor_ops::dtype_rule::Arg;
use ferrotensor_ops::graph::{Def, Graph, Val};
use ferrotensor_ops::lower::{self, Operand};

/// A decoded program: its graph, and which value each slot is.
pub struct Lowered {
    /// Views and kernels.
    pub graph: Graph,
    /// Value of each slot.
    pub slots: Vec<Val>,
    /// Type id of each input.
    pub inputs: Vec<i32>,
    /// Number of parameters.
    pub params: usize,
    /// Number of op nodes.
    pub ops: usize,
    /// Device it runs on.
    pub device: u16,
}

/// Operands that a form is known of; of a list all others are tensors.
pub const OPERANDS: usize = 5;
const FORMS_AT: u32 = 10;
const PARAMS_AT: u32 = 25;

/// The first word of an op node.
pub fn head(op: OpId, forms: u32, params: usize) -> i32 {
    (u32::from(op) | forms << FORMS_AT | (params as u32) << PARAMS_AT).cast_signed()
}

/// The weak kind of an operand form; `None` for a tensor.
pub fn form(forms: u32, operand: usize) -> Result<Option<Arg>> {
    let code = if operand < OPERANDS { (forms >> (3 * operand)) & 7 } else { 0 };
    Ok(match code {
        0 => None,
        1 => Some(Arg::Number),
        2 => Some(Arg::BigInt),
        3 => Some(Arg::Boolean),
        4 => Some(Arg::Absent),
        _ => return Err(Error::internal("unknown operand form")),
    })
}

/// The row of an op number.
pub fn row(op: OpId) -> Result<&'static OpDef> {
    by_id(op).ok_or_else(|| Error::internal(format!("unknown op {op}")))
}

struct Words<'a> {
    words: &'a [i32],
}

impl Words<'_> {
    fn next(&mut self) -> Result<i32> {
        let (&first, rest) = self.words.split_first().ok_or_else(|| Error::internal("program ends early"))?;
        self.words = rest;
        Ok(first)
    }
}

/// Decodes and lowers a program.
///
/// # Errors
/// Type errors of its operations; `Code::Internal` for words that are no program.
pub fn lower(words: &[i32], types: &Types, attrs: &AttrTable) -> Result<Lowered> {
    let mut words = Words { words };
    let mut out = Lowered { graph: Graph::default(), slots: Vec::new(), inputs: Vec::new(), params: 0, ops: 0, device: 0 };
    let mut device = None;
    while !words.words.is_empty() {
        let head = words.next()? as u32;
        if head == 0 {
            let id = words.next()?;
            let ty = types.known(id)?;
            join_device(&mut device, ty.device)?;
            let def = Def::Input(out.inputs.len() as u32);
            out.inputs.push(id);
            let value = out.graph.push(0, def, [(ty.dtype, ty.dims.clone())]);
            out.slots.push(value);
            continue;
        }
        let (op, forms, nparams) = ((head & 0x3ff) as OpId, (head >> FORMS_AT) & 0x7fff, (head >> PARAMS_AT) as usize);
        let def = row(op)?;
        let attrs = attrs.get(op, words.next()?)?;
        let count = if def.variadic { words.next()? as usize } else { def.operands.len() };
        let mut next_param = out.params as u16;
        let mut operands = Vec::with_capacity(count.min(words.words.len()));
        for i in 0..count {
            operands.push(match form(forms, i)? {
                None => {
                    let slot = words.next()?;
                    let value = usize::try_from(slot).ok().and_then(|s| out.slots.get(s));
                    Operand::Val(*value.ok_or_else(|| Error::internal(format!("unknown slot {slot}")))?)
                }
                Some(Arg::Absent) => Operand::Absent,
                Some(kind) => {
                    next_param += 1;
                    Operand::Weak(next_param - 1, kind)
                }
            });
        }
        if out.params + nparams > u16::MAX as usize {
            return Err(Error::internal("too many parameters"));
        }
        let values = lower::lower(&mut out.graph, def, &operands, &attrs, next_param)?;
        out.slots.extend(values);
        out.params += nparams;
        out.ops += 1;
        if !operands.iter().any(|o| matches!(o, Operand::Val(_))) {
            join_device(&mut device, u16::try_from(attrs.int("device")).unwrap_or(u16::MAX))?;
        }
    }
    out.device = device.unwrap_or(0);
    Ok(out)
}

fn join_device(known: &mut Option<u16>, device: u16) -> Result<()> {
    match *known {
        Some(k) if k != device => Err(Error::internal("a program spans devices")),
        _ => {
            *known = Some(device);
            Ok(())
        }
    }
}

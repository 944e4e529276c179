//! Interned types and attributes of one environment: small numbers that programs and memos speak in.

use ferrotensor_core::{DType, Dims, Error, Result, layout};
use ferrotensor_ops::attrs::Attrs;
use ferrotensor_ops::def::by_id;
use ferrotensor_ops::{OpId, TensorType};
use std::collections::HashMap;

/// The types of an epoch; a type's id is its position plus one.
#[derive(Default)]
pub struct Types {
    list: Vec<TensorType>,
    ids: HashMap<TensorType, i32>,
}

impl Types {
    /// The id of a type.
    pub fn intern(&mut self, ty: TensorType) -> i32 {
        if let Some(&id) = self.ids.get(&ty) {
            return id;
        }
        self.list.push(ty.clone());
        let id = self.list.len() as i32;
        self.ids.insert(ty, id);
        id
    }

    /// The type with this id.
    pub fn get(&self, id: i32) -> Option<&TensorType> {
        self.list.get(usize::try_from(id).ok()?.checked_sub(1)?)
    }

    /// The type with this id, or the error of a caller who made it up.
    pub fn known(&self, id: i32) -> Result<&TensorType> {
        self.get(id).ok_or_else(|| Error::internal(format!("unknown type {id}")))
    }
}

/// A type from numbers that came from outside.
///
/// # Errors
/// `Code::Argument` for sizes that are no integers, `Code::Shape` for negative or too large ones.
pub fn checked(dtype: u8, dims: &[f64], device: u16) -> Result<TensorType> {
    let dtype = DType::from_code(dtype).ok_or_else(|| Error::dtype(format!("unknown dtype number {dtype}")))?;
    let dims = dims
        .iter()
        .map(|&d| match d {
            _ if d.fract() != 0.0 || !d.is_finite() => Err(Error::argument(format!("size {d} is not an integer"))),
            _ if d < 0.0 => Err(Error::shape(format!("size {d} is negative"))),
            _ if d > layout::MAX_ELEMENTS as f64 => Err(Error::shape(format!("size {d} is above 2^53 - 1"))),
            _ => Ok(d as usize),
        })
        .collect::<Result<Dims>>()?;
    layout::count(&dims)?;
    Ok(TensorType { dtype, dims, device, encoding: 0 })
}

/// The attributes of an epoch; id 0 stands for none.
#[derive(Default)]
pub struct AttrTable {
    list: Vec<(OpId, Attrs)>,
    ids: HashMap<(OpId, Vec<u64>), i32>,
}

impl AttrTable {
    /// The id of one call's attributes.
    ///
    /// # Errors
    /// As [`Attrs::decode`].
    pub fn intern(&mut self, op: OpId, words: &[f64]) -> Result<i32> {
        let key = (op, words.iter().map(|w| w.to_bits()).collect::<Vec<_>>());
        if let Some(&id) = self.ids.get(&key) {
            return Ok(id);
        }
        let def = by_id(op).ok_or_else(|| Error::internal(format!("unknown op {op}")))?;
        let attrs = Attrs::decode(def, words).map_err(|e| e.in_op(&def.path()))?;
        self.list.push((op, attrs));
        let id = self.list.len() as i32;
        self.ids.insert(key, id);
        Ok(id)
    }

    /// The attributes with this id, made for this op. Id 0: the row's defaults.
    pub fn get(&self, op: OpId, id: i32) -> Result<Attrs> {
        if id == 0 {
            let def = by_id(op).ok_or_else(|| Error::internal(format!("unknown op {op}")))?;
            return Attrs::defaults(def).ok_or_else(|| Error::argument(format!("{}: missing arguments", def.path())));
        }
        let entry = usize::try_from(id).ok().and_then(|i| self.list.get(i.wrapping_sub(1)));
        match entry {
            Some((owner, attrs)) if *owner == op => Ok(attrs.clone()),
            _ => Err(Error::internal(format!("unknown attributes {id}"))),
        }
    }
}

//! Attribute values: decoded from float64 words by a row's schema, checked once when they are interned.

use crate::def::{AttrDef, AttrKind, EachAxis, OpDef};
use crate::derived::Recorded;
use ferrotensor_core::{DType, Dims, Error, Result, layout};

/// One item of an index expression. Starts and steps are run-time parameters, two for each slice, one for each pick.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// `null`: a new axis of size 1.
    NewAxis,
    /// A number: removes an axis. Parameter: the index, not negative.
    Pick,
    /// A slice of this many elements. Parameters: start and step.
    Slice(usize),
    /// The next axes, this many, whole: `...` (which may stand for none) and `:`.
    Whole(usize),
    /// The next index operand, along this many axes taken as one in row-major order: one for an array of positions, its own for
    /// a mask that was read, none (a new axis of size 1) for a boolean of rank 0.
    Index(usize),
    /// The next index operand is a mask over this many axes (`withAt` only).
    Mask(usize),
}

/// A decoded attribute.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Value {
    Int(i64),
    Number(f64),
    None,
    Ints(Vec<i64>),
    Pairs(Vec<i64>, Vec<i64>),
    Shape(Dims),
    Bool(bool),
    DType(DType),
    Items(Vec<Item>),
    Text(String),
    Call(Box<Recorded>),
}

/// The attributes of one call, in the row's order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Attrs {
    values: Vec<(&'static str, Value)>,
}

/// Words still to be decoded.
pub(crate) struct Words<'a>(&'a [f64]);

impl<'a> Words<'a> {
    fn next(&mut self) -> Result<f64> {
        let (&first, rest) = self.0.split_first().ok_or_else(|| Error::internal("attribute words end early"))?;
        self.0 = rest;
        Ok(first)
    }

    pub(crate) fn int(&mut self, name: &str) -> Result<i64> {
        let v = self.next()?;
        if v.fract() != 0.0 || v.abs() > 9_007_199_254_740_991.0 || v.is_nan() {
            return Err(Error::argument(format!("{name} must be an integer, got {v}")));
        }
        Ok(v as i64)
    }

    pub(crate) fn list(&mut self, name: &str) -> Result<Option<Vec<i64>>> {
        match self.int(name)? {
            -1 => Ok(None),
            n => (0..n).map(|_| self.int(name)).collect::<Result<Vec<_>>>().map(Some),
        }
    }

    /// All that are left.
    pub(crate) fn rest(&mut self) -> &'a [f64] {
        std::mem::take(&mut self.0)
    }
}

impl Attrs {
    /// Decodes the words of one call.
    ///
    /// # Errors
    /// `Code::Argument` for fractional numbers, `Code::Shape` for sizes out of range, `Code::DType` for unknown dtypes.
    pub fn decode(op: &OpDef, words: &[f64]) -> Result<Attrs> {
        let mut words = Words(words);
        let values = op.attrs.iter().map(|def| Ok((def.name, decode_one(def, &mut words)?))).collect::<Result<Vec<_>>>()?;
        if !words.0.is_empty() {
            return Err(Error::internal(format!("{}: {} attribute words too many", op.name, words.0.len())));
        }
        Ok(Attrs { values })
    }

    /// The defaults of a row, where every attribute has one.
    pub fn defaults(op: &OpDef) -> Option<Attrs> {
        let values = op.attrs.iter().map(|def| Some((def.name, default(def)?))).collect::<Option<Vec<_>>>()?;
        Some(Attrs { values })
    }

    /// The same attributes with one replaced.
    pub fn with(mut self, name: &str, value: Value) -> Attrs {
        if let Some(slot) = self.values.iter_mut().find(|(n, _)| *n == name) {
            slot.1 = value;
        }
        self
    }

    fn get(&self, name: &str) -> &Value {
        self.values.iter().find(|(n, _)| *n == name).map_or(&Value::None, |(_, v)| v)
    }

    /// An integer; 0 where the row has none of that name.
    pub fn int(&self, name: &str) -> i64 {
        if let Value::Int(v) = self.get(name) { *v } else { 0 }
    }

    /// A number; 0 where the row has none of that name.
    pub fn number(&self, name: &str) -> f64 {
        if let Value::Number(v) = self.get(name) { *v } else { 0.0 }
    }

    /// An integer that may be left out.
    pub fn opt_int(&self, name: &str) -> Option<i64> {
        if let Value::Int(v) = self.get(name) { Some(*v) } else { None }
    }

    /// A flag; false where the row has none of that name.
    pub fn bool(&self, name: &str) -> bool {
        matches!(self.get(name), Value::Bool(true))
    }

    /// A dtype that may be left out.
    pub fn dtype(&self, name: &str) -> Option<DType> {
        if let Value::DType(d) = self.get(name) { Some(*d) } else { None }
    }

    /// A list that may be left out.
    pub fn ints(&self, name: &str) -> Option<&[i64]> {
        if let Value::Ints(v) = self.get(name) { Some(v) } else { None }
    }

    /// A shape; empty where the row has none of that name.
    pub fn shape(&self, name: &str) -> &[usize] {
        if let Value::Shape(v) = self.get(name) { v } else { &[] }
    }

    /// Two lists; empty where they were left out.
    pub fn pairs(&self, name: &str) -> (&[i64], &[i64]) {
        if let Value::Pairs(a, b) = self.get(name) { (a, b) } else { (&[], &[]) }
    }

    /// A text; empty where the row has none of that name.
    pub fn text(&self, name: &str) -> &str {
        if let Value::Text(v) = self.get(name) { v } else { "" }
    }

    /// The call that a derived row speaks of.
    ///
    /// # Errors
    /// `Code::Internal` for a row that has none.
    pub fn call(&self) -> Result<&Recorded> {
        if let Value::Call(call) = self.get("call") {
            Ok(call)
        } else {
            Err(Error::internal("a row that speaks of no call"))
        }
    }

    /// Index items.
    pub fn items(&self, name: &str) -> &[Item] {
        if let Value::Items(v) = self.get(name) { v } else { &[] }
    }
}

fn default(def: &AttrDef) -> Option<Value> {
    match def.kind {
        AttrKind::Int(v) => v.map(Value::Int),
        AttrKind::Number(v) => Some(Value::Number(v)),
        AttrKind::OptAxis | AttrKind::Axes | AttrKind::OptDType => Some(Value::None),
        AttrKind::Bool(v) => Some(Value::Bool(v)),
        AttrKind::Device | AttrKind::Choice(_) => Some(Value::Int(0)),
        AttrKind::PerAxis(default) => (default != EachAxis::Required).then_some(Value::None),
        AttrKind::Padding => Some(Value::Pairs(vec![0], vec![0])),
        AttrKind::Widths | AttrKind::Text | AttrKind::AxisPairs | AttrKind::Shape | AttrKind::NewShape => None,
        AttrKind::Items | AttrKind::Call => None,
    }
}

/// Places before and after, as many of each.
fn sides(name: &str, low: Vec<i64>, high: Vec<i64>) -> Result<Value> {
    if low.is_empty() || low.len() != high.len() || low.iter().chain(&high).any(|&v| v < 0) {
        return Err(Error::argument(format!("{name} must not be negative, got {low:?} before and {high:?} after")));
    }
    Ok(Value::Pairs(low, high))
}

fn decode_one(def: &AttrDef, words: &mut Words) -> Result<Value> {
    let name = def.name;
    Ok(match def.kind {
        AttrKind::Int(_) | AttrKind::Device => Value::Int(words.int(name)?),
        AttrKind::Number(_) => match words.next()? {
            v if v.is_nan() => return Err(Error::argument(format!("{name} must be a number, got NaN"))),
            v => Value::Number(v),
        },
        AttrKind::Choice(names) => {
            let v = words.int(name)?;
            if v < 0 || v as usize >= names.len() {
                return Err(Error::argument(format!("{name} must be one of {}", names.join(", "))));
            }
            Value::Int(v)
        }
        AttrKind::OptAxis => {
            if words.0.first().is_some_and(|v| v.is_nan()) {
                words.next()?;
                Value::None
            } else {
                Value::Int(words.int(name)?)
            }
        }
        AttrKind::OptDType => {
            let v = words.next()?;
            if v.is_nan() {
                Value::None
            } else {
                let code = if (0.0..256.0).contains(&v) && v.fract() == 0.0 { DType::from_code(v as u8) } else { None };
                Value::DType(code.ok_or_else(|| Error::dtype(format!("unknown dtype number {v}")))?)
            }
        }
        AttrKind::Axes | AttrKind::NewShape => words.list(name)?.map_or(Value::None, Value::Ints),
        AttrKind::PerAxis(default) => match words.list(name)? {
            Some(list) if list.iter().any(|&v| v < default.least()) => {
                let wanted = if default.least() == 0 { "must not be negative" } else { "must be positive" };
                return Err(Error::argument(format!("{name} {wanted}, got {list:?}")));
            }
            Some(list) => Value::Ints(list),
            None if default == EachAxis::Required => return Err(Error::argument(format!("{name} must be given"))),
            None => Value::None,
        },
        AttrKind::Padding => match words.list(name)? {
            None => Value::None,
            Some(low) => sides(name, low, words.list(name)?.unwrap_or_default())?,
        },
        AttrKind::Widths => sides(name, words.list(name)?.unwrap_or_default(), words.list(name)?.unwrap_or_default())?,
        AttrKind::Text => {
            let codes = words.list(name)?.unwrap_or_default();
            let text = codes.into_iter().map(|c| u8::try_from(c).ok().filter(u8::is_ascii).map(char::from));
            let text = text.collect::<Option<String>>();
            Value::Text(text.ok_or_else(|| Error::argument(format!("{name} must be text of ASCII characters")))?)
        }
        AttrKind::AxisPairs => Value::Pairs(words.list(name)?.unwrap_or_default(), words.list(name)?.unwrap_or_default()),
        AttrKind::Shape => {
            let sizes = words.list(name)?.unwrap_or_default();
            if sizes.len() > layout::MAX_RANK {
                return Err(Error::shape(format!("rank {} is above the maximum of {}", sizes.len(), layout::MAX_RANK)));
            }
            if let Some(bad) = sizes.iter().find(|&&s| s < 0) {
                return Err(Error::shape(format!("{name} {sizes:?}: size {bad} is negative")));
            }
            let dims: Dims = sizes.iter().map(|&s| s as usize).collect();
            layout::count(&dims)?;
            Value::Shape(dims)
        }
        AttrKind::Bool(_) => Value::Bool(words.int(name)? != 0),
        AttrKind::Call => Value::Call(Box::new(Recorded::decode(words)?)),
        AttrKind::Items => {
            let n = words.int(name)?;
            let items = (0..n)
                .map(|_| {
                    let (kind, len) = (words.int(name)?, words.int(name)?);
                    let len = usize::try_from(len).map_err(|_| Error::index("an index item of negative length"))?;
                    match kind {
                        0 => Ok(Item::NewAxis),
                        1 => Ok(Item::Pick),
                        2 => Ok(Item::Slice(len)),
                        3 => Ok(Item::Whole(len)),
                        4 => Ok(Item::Index(len)),
                        5 => Ok(Item::Mask(len)),
                        _ => Err(Error::internal(format!("no index item is of kind {kind}"))),
                    }
                })
                .collect::<Result<Vec<_>>>()?;
            Value::Items(items)
        }
    })
}

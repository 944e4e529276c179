//! The few elementwise and linear forms that the rules are written in.

use super::scalar::wide;
use crate::graph::{Val, View};
use crate::write::{Writer, band};
use ferrotensor_core::kernel::{Combine, Monoid, Update};
use ferrotensor_core::scalar::{Builder, Op, Value};
use ferrotensor_core::{DType, Result};

impl<C> Writer<'_, C> {
    /// A number in every element of a shape.
    pub fn filled(&mut self, dims: &[usize], dtype: DType, number: f64) -> Result<Val> {
        let one = self.map(&[], &[], |b, _| b.lit(dtype, number))?;
        self.broadcast(one, dims)
    }

    /// What `f` makes of each element.
    pub fn each(&mut self, v: Val, f: impl FnOnce(&mut Builder, Value) -> Value) -> Result<Val> {
        let dims = self.dims(v);
        self.map(&dims, &[v], |b, x| f(b, x[0]))
    }

    /// Two values of one shape, element by element.
    pub fn binary(&mut self, op: Op, x: Val, y: Val) -> Result<Val> {
        let dims = self.dims(x);
        self.map(&dims, &[x, y], |b, v| b.binary(op, v[0], v[1]))
    }

    /// The complex conjugate; a real value itself.
    pub fn conjugate(&mut self, v: Val) -> Result<Val> {
        let d = self.dtype(v);
        if !d.is_complex() {
            return Ok(v);
        }
        self.each(v, |b, x| {
            let (re, im) = (b.re(x), b.im(x));
            let im = b.unary(Op::Neg, im);
            b.complex(d, re, im)
        })
    }

    /// The last two axes exchanged.
    pub fn transposed(&mut self, v: Val) -> Val {
        let rank = self.dims(v).len();
        let mut order: Vec<usize> = (0..rank).collect();
        order.swap(rank - 2, rank - 1);
        self.permute(v, &order)
    }

    /// The last two axes exchanged, and conjugated.
    pub fn adjoint(&mut self, v: Val) -> Result<Val> {
        let v = self.transposed(v);
        self.conjugate(v)
    }

    /// The value in the dtype sums run in: float32 for half floats.
    pub fn widened(&mut self, v: Val) -> Result<Val> {
        let d = self.dtype(v);
        self.cast(v, wide(d))
    }

    /// What of a value of a broadcast shape belongs to each element of `dims`, added up (half floats in float32).
    pub fn summed_to(&mut self, v: Val, dims: &[usize]) -> Result<Val> {
        let from = self.dims(v);
        if from.as_slice() == dims {
            return Ok(v);
        }
        let (lead, dtype) = (from.len() - dims.len(), self.dtype(v));
        let axes: Vec<usize> = (0..from.len()).filter(|&a| a < lead || dims[a - lead] != from[a]).collect();
        let v = if axes.is_empty() { v } else { self.widened(v)? };
        let total = if axes.is_empty() { v } else { self.reduce(v, &axes, Combine::Value(Monoid::Sum), false) };
        let total = self.cast(total, dtype)?;
        Ok(self.reshape(total, dims))
    }

    /// Zeros of a shape with `v` at the positions `start..` of an axis.
    pub fn placed(&mut self, v: Val, axis: usize, start: usize, size: usize, around: f64) -> Result<Val> {
        let mut dims = self.dims(v);
        let len = std::mem::replace(&mut dims[axis], size);
        let base = self.filled(&dims, self.dtype(v), around)?;
        let region = Some(View::Index(band(&dims, axis, start, len)));
        self.assemble(&dims, Some(base), vec![(v, region)])
    }

    /// All axes but the last as one.
    pub fn lines(&mut self, v: Val) -> Val {
        let dims = self.dims(v);
        let (last, rows) = (dims.len() - 1, dims[..dims.len() - 1].iter().product());
        self.reshape(v, &[rows, dims[last]])
    }

    /// `updates [rows, k]` added up at the positions `at [rows, k]` (int32) of rows of `n`: `[rows, n]`.
    pub fn spread_along(&mut self, updates: Val, at: Val, n: usize) -> Result<Val> {
        let (dims, dtype) = (self.dims(updates), self.dtype(updates));
        let flat = self.map(&dims, &[at], |b, v| {
            let (row, n) = (b.index(0, DType::I64), b.size(n));
            let (start, at) = (b.binary(Op::Mul, row, n), b.cast(v[0], DType::I64));
            b.binary(Op::Add, start, at)
        })?;
        let count = dims[0] * dims[1];
        let (flat, updates) = (self.reshape(flat, &[count]), self.reshape(updates, &[count]));
        let total = self.scattered_sum(&[dims[0] * n], dtype, &[flat], updates)?;
        Ok(self.reshape(total, &[dims[0], n]))
    }

    /// Updates added up in zeros of a shape (half floats in float32).
    pub fn scattered_sum(&mut self, dims: &[usize], dtype: DType, indices: &[Val], updates: Val) -> Result<Val> {
        let updates = self.widened(updates)?;
        let zeros = self.filled(dims, self.dtype(updates), 0.0)?;
        let total = self.scatter(zeros, indices, updates, Update::Combine(Monoid::Sum));
        self.cast(total, dtype)
    }
}

/// `a - bi` of a program's value; a real one itself.
pub fn conjugate(b: &mut Builder, x: Value) -> Value {
    let d = b.dtype(x);
    if !d.is_complex() {
        return x;
    }
    let (re, im) = (super::scalar::re(b, x), super::scalar::im(b, x));
    let im = b.unary(Op::Neg, im);
    b.complex(d, re, im)
}

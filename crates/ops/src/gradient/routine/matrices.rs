//! Forms of stacked matrices that the rules of routines are written in.

use crate::graph::Val;
use crate::write::Writer;
use ferrotensor_core::kernel::Routine;
use ferrotensor_core::scalar::{Builder, Op, Value};
use ferrotensor_core::{DType, Dims, Result};

/// A triangle of a matrix.
#[derive(Clone, Copy, PartialEq)]
pub enum Part {
    Lower,
    Upper,
}

impl Writer<'_> {
    /// A triangle, its diagonal times `diagonal`; zeros elsewhere.
    pub fn part(&mut self, v: Val, part: Part, diagonal: f64) -> Result<Val> {
        let (dims, d) = (self.dims(v), self.dtype(v));
        let rank = dims.len() as u8;
        self.map(&dims, &[v], |b, x| {
            let (row, column) = (b.index(rank - 2, DType::I64), b.index(rank - 1, DType::I64));
            let inside = if part == Part::Lower { b.compare(Op::Lt, column, row) } else { b.compare(Op::Lt, row, column) };
            let (on, zero, by) = (b.compare(Op::Eq, row, column), b.lit(d, 0.0), b.lit(d, diagonal));
            let on_it = if diagonal == 0.0 { zero } else { b.binary(Op::Mul, x[0], by) };
            let rest = b.select(inside, x[0], zero);
            b.select(on, on_it, rest)
        })
    }

    /// A map over matrices that knows whether an element is on the diagonal.
    pub fn matrix_map(
        &mut self,
        dims: &Dims,
        inputs: &[Val],
        f: impl FnOnce(&mut Builder, &[Value], Value) -> Value,
    ) -> Result<Val> {
        let rank = dims.len() as u8;
        self.map(dims, inputs, |b, x| {
            let (row, column) = (b.index(rank - 2, DType::I64), b.index(rank - 1, DType::I64));
            let on = b.compare(Op::Eq, row, column);
            f(b, x, on)
        })
    }

    /// A vector `[..., n]` as the columns' numbers `[..., 1, n]` or the rows' `[..., n, 1]`.
    pub fn across(&mut self, v: Val, rows: bool) -> Val {
        let mut dims = self.dims(v);
        let at = if rows { dims.len() } else { dims.len() - 1 };
        dims.insert(at, 1);
        self.reshape(v, &dims)
    }

    /// `t x = v`, t a triangle.
    pub fn triangular(&mut self, t: Val, v: Val, upper: bool) -> Val {
        let (dtype, dims) = (self.dtype(t), self.dims(v));
        self.routine(Routine::Triangular { dtype, upper, unit: false }, &[t, v], &[dims])[0]
    }

    /// `x t = v`, t a triangle: of the adjoints `t^H x^H = v^H`.
    pub fn triangular_right(&mut self, v: Val, t: Val, upper: bool) -> Result<Val> {
        let (t, v) = (self.adjoint(t)?, self.adjoint(v)?);
        let x = self.triangular(t, v, !upper);
        self.adjoint(x)
    }

    /// `a^H b`.
    pub fn inner(&mut self, a: Val, b: Val) -> Result<Val> {
        let a = self.adjoint(a)?;
        Ok(self.contract(a, b))
    }

    /// `a b^H`.
    pub fn outer(&mut self, a: Val, b: Val) -> Result<Val> {
        let b = self.adjoint(b)?;
        Ok(self.contract(a, b))
    }

    /// The sum of those that are there.
    pub fn added(&mut self, x: Option<Val>, y: Option<Val>) -> Result<Option<Val>> {
        match (x, y) {
            (Some(x), Some(y)) => self.binary(Op::Add, x, y).map(Some),
            (x, y) => Ok(x.or(y)),
        }
    }
}

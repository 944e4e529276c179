//! What a row's lowering writes with: operands in, views and kernels out.

use crate::attrs::Attrs;
use crate::def::{Lowering, OpDef};
use crate::dtype_rule::Arg;
use crate::graph::{Def, Graph, IndexItem, Number, Param, Region, View};
use crate::infer::{self, Inferred};
use crate::shape;
use ferrotensor_core::kernel::{
    Combine, Contract, Gather, Kernel, Map, Monoid, Reduce, Routine, Scan, Scatter, Sort, SortOutputs, Update,
};
use ferrotensor_core::scalar::{Builder, Program, Value};
use ferrotensor_core::{DType, Dims, Error, Result, layout};
use smallvec::SmallVec;

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

/// A call being lowered.
pub struct Lower<'a> {
    graph: &'a mut Graph,
    op: &'static OpDef,
    id: u16,
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
    let args: Vec<Arg> = operands.iter().map(|o| arg(graph, o)).collect();
    let dims = operands.iter().map(|o| dims(graph, o)).collect();
    let inferred = infer::infer(op, &args, dims, attrs)?;
    let id = op.id();
    let mut l = Lower { graph, op, id, operands, attrs, inferred: &inferred, first_param };
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
        self.attrs
    }

    /// The dtype operands are cast to.
    pub fn compute(&self) -> DType {
        self.inferred.compute
    }

    /// Dtype of the n-th result.
    pub fn out_dtype(&self, n: usize) -> DType {
        self.inferred.outputs[n].0
    }

    /// Shape of the n-th result.
    pub fn out_dims(&self, n: usize) -> Dims {
        self.inferred.outputs[n].1.clone()
    }

    /// Number of operands.
    pub fn len(&self) -> usize {
        self.operands.len()
    }

    /// Whether there are no operands.
    pub fn is_empty(&self) -> bool {
        self.operands.is_empty()
    }

    /// Element type of a value.
    pub fn dtype(&self, v: Val) -> DType {
        self.graph.dtype(v)
    }

    /// Shape of a value.
    pub fn dims(&self, v: Val) -> Dims {
        self.graph.dims(v).clone()
    }

    /// The n-th operand as it is; a weak scalar becomes a rank-0 value of the compute dtype.
    pub fn operand(&mut self, n: usize) -> Result<Val> {
        match self.operands[n] {
            Operand::Val(v) => Ok(v),
            Operand::Weak(index, kind) => {
                let mut b = Builder::new();
                let (value, param) = weak(&mut b, index, kind, self.compute());
                let program = b.finish(&[value]);
                Ok(self.launch(Kernel::Map(Map { program }), &[], &[param], &[Dims::new()]))
            }
            Operand::Absent => Err(Error::argument(format!("missing operand '{}'", self.op.operands[n].name))),
        }
    }

    /// The n-th run-time number of the row, as the integer of a view.
    pub fn number(&self, n: usize) -> Number {
        Number::Param(self.first_param + n as u16)
    }

    /// The n-th run-time number of the row, as a launch parameter.
    pub fn param(&self, n: usize, dtype: DType) -> Param {
        Param { index: self.first_param + n as u16, bigint: false, dtype }
    }

    fn launch(&mut self, kernel: Kernel, inputs: &[Val], params: &[Param], dims: &[Dims]) -> Val {
        let outputs: Vec<(DType, Dims)> = kernel.outputs().into_iter().zip(dims.iter().cloned()).collect();
        let def = Def::Kernel { kernel, inputs: SmallVec::from_slice(inputs), params: SmallVec::from_slice(params) };
        self.graph.push(self.id, def, outputs)
    }

    fn elementwise(&mut self, f: MapFn) -> Result<Val> {
        let (compute, (out, dims)) = (self.compute(), self.inferred.outputs[0].clone());
        let mut b = Builder::new();
        let (mut inputs, mut params, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (n, operand) in self.operands.iter().enumerate() {
            let ruled = n >= self.op.dtype.first && n < self.op.dtype.last;
            match *operand {
                Operand::Val(v) => {
                    let value = b.input(self.graph.dtype(v));
                    let own = self.op.dtype.compute == crate::dtype_rule::Compute::Own;
                    values.push(if ruled && !own { b.cast(value, compute) } else { value });
                    inputs.push(self.broadcast(v, &dims)?);
                }
                Operand::Weak(index, kind) => {
                    let (value, param) = weak(&mut b, index, kind, compute);
                    values.push(value);
                    params.push(param);
                }
                Operand::Absent => values.push(ABSENT),
            }
        }
        for n in 0..self.op.params.len() {
            values.push(b.param(compute));
            params.push(self.param(n, compute));
        }
        let result = f(&mut b, &values, out);
        let program = b.finish(&[result]);
        Ok(self.launch(Kernel::Map(Map { program }), &inputs, &params, &[dims]))
    }

    /// An elementwise kernel over values that broadcast to `dims`.
    pub fn map(&mut self, dims: &[usize], inputs: &[Val], f: impl FnOnce(&mut Builder, &[Value]) -> Value) -> Result<Val> {
        self.map_with(dims, inputs, &[], f)
    }

    /// An elementwise kernel with launch parameters; they follow the inputs in the closure's values.
    pub fn map_with(
        &mut self,
        dims: &[usize],
        inputs: &[Val],
        params: &[Param],
        f: impl FnOnce(&mut Builder, &[Value]) -> Value,
    ) -> Result<Val> {
        let mut b = Builder::new();
        let mut values: Vec<Value> = inputs.iter().map(|&v| b.input(self.graph.dtype(v))).collect();
        values.extend(params.iter().map(|p| b.param(p.dtype)));
        let result = f(&mut b, &values);
        let program = b.finish(&[result]);
        let inputs = inputs.iter().map(|&v| self.broadcast(v, dims)).collect::<Result<Vec<_>>>()?;
        Ok(self.launch(Kernel::Map(Map { program }), &inputs, params, &[SmallVec::from_slice(dims)]))
    }

    /// The value in another dtype; nothing where it has it already.
    pub fn cast(&mut self, v: Val, dtype: DType) -> Result<Val> {
        if self.graph.dtype(v) == dtype {
            return Ok(v);
        }
        let dims = self.dims(v);
        self.map(&dims, &[v], |b, x| b.cast(x[0], dtype))
    }

    fn view(&mut self, of: Val, view: View, dims: Dims) -> Val {
        let dtype = self.graph.dtype(of);
        self.graph.push(self.id, Def::View { of, view }, [(dtype, dims)])
    }

    /// Axes in another order.
    pub fn permute(&mut self, v: Val, axes: &[usize]) -> Val {
        if axes.iter().enumerate().all(|(i, &a)| i == a) {
            return v;
        }
        let dims = axes.iter().map(|&a| self.graph.dims(v)[a]).collect();
        self.view(v, View::Permute(SmallVec::from_slice(axes)), dims)
    }

    /// Another shape of the same size.
    pub fn reshape(&mut self, v: Val, dims: &[usize]) -> Val {
        if self.graph.dims(v).as_slice() == dims {
            return v;
        }
        self.view(v, View::Reshape(SmallVec::from_slice(dims)), SmallVec::from_slice(dims))
    }

    /// Broadcast to a shape.
    ///
    /// # Errors
    /// `Code::Shape` where it does not broadcast.
    pub fn broadcast(&mut self, v: Val, dims: &[usize]) -> Result<Val> {
        if self.graph.dims(v).as_slice() == dims {
            return Ok(v);
        }
        let from = self.graph.dims(v);
        if layout::broadcast_shapes(from, dims)?.as_slice() != dims {
            return Err(Error::shape(format!("shape {:?} does not broadcast to {dims:?}", from.as_slice())));
        }
        Ok(self.view(v, View::Broadcast(SmallVec::from_slice(dims)), SmallVec::from_slice(dims)))
    }

    /// Axes walked backwards.
    pub fn flip(&mut self, v: Val, axes: &[usize]) -> Val {
        let dims = self.dims(v);
        self.view(v, View::Flip(SmallVec::from_slice(axes)), dims)
    }

    /// Basic indexing; one item for each axis, new axes apart.
    pub fn index(&mut self, v: Val, items: &[IndexItem]) -> Val {
        let dims = index_dims(self.graph.dims(v), items);
        self.view(v, View::Index(SmallVec::from_slice(items)), dims)
    }

    /// The axes of `v` with `last` moved to the end, kept in order otherwise.
    pub fn axes_last(&self, rank: usize, last: &[usize]) -> Vec<usize> {
        (0..rank).filter(|a| !last.contains(a)).chain(last.iter().copied()).collect()
    }

    /// Reduces sorted axes. `pre` and `post` are left to the scheduler, which folds neighbouring maps.
    pub fn reduce(&mut self, v: Val, axes: &[usize], combine: Combine, keepdims: bool) -> Val {
        let (dims, dtype) = (self.dims(v), self.graph.dtype(v));
        let order = self.axes_last(dims.len(), axes);
        let moved = self.permute(v, &order);
        let kept = shape::reduced_dims(&dims, axes, false);
        let kernel = Kernel::Reduce(Reduce { axes: axes.len(), combine, input: dtype, acc: dtype, pre: None, post: None });
        let out = self.launch(kernel, &[moved], &[], &[kept]);
        if keepdims { self.reshape(out, &shape::reduced_dims(&dims, axes, true)) } else { out }
    }

    /// Cumulative combination along an axis.
    pub fn scan(&mut self, v: Val, axis: usize, combine: Monoid) -> Val {
        let (rank, dtype) = (self.graph.dims(v).len(), self.graph.dtype(v));
        let order = self.axes_last(rank, &[axis]);
        let moved = self.permute(v, &order);
        let dims = self.dims(moved);
        let out = self.launch(Kernel::Scan(Scan { combine, dtype }), &[moved], &[], &[dims]);
        self.permute(out, &inverse(&order))
    }

    /// `a [batch..., m, k] @ b [batch..., k, n]`, batches equal.
    pub fn contract(&mut self, a: Val, b: Val) -> Val {
        let (x, y) = (self.dims(a), self.dims(b));
        let mut dims: Dims = SmallVec::from_slice(&x[..x.len() - 1]);
        dims.push(y[y.len() - 1]);
        let dtype = self.graph.dtype(a);
        self.launch(Kernel::Contract(Contract { dtype }), &[a, b], &[], &[dims])
    }

    /// Gathers along the leading axes: `data [i..., rest...]`, indices of one shape `[b...]`.
    pub fn gather(&mut self, data: Val, indices: &[Val]) -> Val {
        let mut dims = self.dims(indices[0]);
        dims.extend_from_slice(&self.graph.dims(data)[indices.len()..]);
        let kernel = Gather { dtype: self.graph.dtype(data), index: indices.iter().map(|&i| self.graph.dtype(i)).collect() };
        let inputs: Vec<Val> = std::iter::once(data).chain(indices.iter().copied()).collect();
        self.launch(Kernel::Gather(kernel), &inputs, &[], &[dims])
    }

    /// Scatters along the leading axes, the mirror of [`Lower::gather`].
    pub fn scatter(&mut self, data: Val, indices: &[Val], updates: Val, update: Update) -> Val {
        let dims = self.dims(data);
        let index = indices.iter().map(|&i| self.graph.dtype(i)).collect();
        let kernel = Scatter { dtype: self.graph.dtype(data), index, update };
        let inputs: Vec<Val> = std::iter::once(data).chain(indices.iter().copied()).chain([updates]).collect();
        self.launch(Kernel::Scatter(kernel), &inputs, &[], &[dims])
    }

    /// Sorts along an axis and keeps the first `k`; values, indices, or both.
    pub fn sort(&mut self, v: Val, axis: usize, descending: bool, k: usize, outputs: SortOutputs) -> Vec<Val> {
        let (rank, dtype) = (self.graph.dims(v).len(), self.graph.dtype(v));
        let order = self.axes_last(rank, &[axis]);
        let moved = self.permute(v, &order);
        let mut dims = self.dims(moved);
        dims[rank - 1] = k;
        let n = if outputs == SortOutputs::Both { 2 } else { 1 };
        let first = self.launch(Kernel::Sort(Sort { dtype, descending, outputs }), &[moved], &[], &vec![dims; n]);
        let back = inverse(&order);
        (0..n as u32).map(|i| self.permute(Val(first.0 + i), &back)).collect()
    }

    /// A dense algorithm; results have these shapes.
    pub fn routine(&mut self, routine: Routine, inputs: &[Val], dims: &[Dims]) -> Vec<Val> {
        let first = self.launch(Kernel::Routine(routine), inputs, &[], dims);
        (0..dims.len() as u32).map(|i| Val(first.0 + i)).collect()
    }

    /// A value written region by region.
    pub fn assemble(&mut self, dims: &[usize], base: Option<Val>, parts: Vec<(Val, Region)>) -> Result<Val> {
        let first = base.or(parts.first().map(|p| p.0)).ok_or_else(|| Error::internal("assemble: nothing to write"))?;
        let dtype = self.graph.dtype(first);
        Ok(self.graph.push(self.id, Def::Assemble { base, parts }, [(dtype, SmallVec::from_slice(dims))]))
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

/// Shape of an index view.
pub fn index_dims(dims: &[usize], items: &[IndexItem]) -> Dims {
    debug_assert_eq!(items.iter().filter(|i| !matches!(i, IndexItem::NewAxis)).count(), dims.len());
    items
        .iter()
        .filter_map(|item| match item {
            IndexItem::NewAxis => Some(1),
            IndexItem::Pick(_) => None,
            IndexItem::Slice { len, .. } => Some(*len),
        })
        .collect()
}

/// The order that undoes a permutation.
pub fn inverse(order: &[usize]) -> Vec<usize> {
    let mut out = vec![0; order.len()];
    for (i, &a) in order.iter().enumerate() {
        out[a] = i;
    }
    out
}

/// The identity program of a dtype, as a map kernel: a copy.
pub fn copy_kernel(dtype: DType) -> Kernel {
    Kernel::Map(Map { program: Program::identity(dtype) })
}

//! Writes views and kernels into a graph, with the permutations and shapes each kernel kind asks for.

use crate::def::OpId;
use crate::graph::{Def, Graph, IndexItem, Number, Param, Region, Val, View};
use crate::shape;
use ferrotensor_core::kernel::{
    Combine, Contract, Gather, Kernel, Map, Monoid, OutOfRange, Reduce, Routine, Scan, Scatter, Sort, SortOutputs, Update,
    Window, WindowAxis,
};
use ferrotensor_core::scalar::{Builder, Program, Value};
use ferrotensor_core::{DType, Dims, Error, Result, layout};
use smallvec::SmallVec;

/// Adds nodes that belong to one row. `C` is what is known of the call they come from.
pub struct Writer<'a, C = ()> {
    /// What is written.
    pub(crate) graph: &'a mut Graph,
    /// The operation users know.
    pub(crate) op: OpId,
    /// The call, see [`crate::lower::Call`].
    pub(crate) call: C,
}

impl<C> Writer<'_, C> {
    /// Element type of a value.
    pub fn dtype(&self, v: Val) -> DType {
        self.graph.dtype(v)
    }

    /// Shape of a value.
    pub fn dims(&self, v: Val) -> Dims {
        self.graph.dims(v).clone()
    }

    /// A kernel whose outputs have these shapes; the first of them.
    pub fn launch(&mut self, kernel: Kernel, inputs: &[Val], params: &[Param], dims: &[Dims]) -> Val {
        let outputs: Vec<(DType, Dims)> = kernel.outputs().into_iter().zip(dims.iter().cloned()).collect();
        let def = Def::Kernel { kernel, inputs: SmallVec::from_slice(inputs), params: SmallVec::from_slice(params) };
        self.graph.push(self.op, def, outputs)
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
        self.graph.push(self.op, Def::View { of, view }, [(dtype, dims)])
    }

    /// Axes in another order.
    pub fn permute(&mut self, v: Val, axes: &[usize]) -> Val {
        if axes.iter().enumerate().all(|(i, &a)| i == a) {
            return v;
        }
        let dims = axes.iter().map(|&a| self.graph.dims(v)[a]).collect();
        self.view(v, View::Permute(SmallVec::from_slice(axes)), dims)
    }

    /// The same elements as another value.
    pub fn alias(&mut self, v: Val) -> Val {
        let dims = self.dims(v);
        self.view(v, View::Reshape(dims.clone()), dims)
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

    /// The positions `start..start + len` of an axis.
    pub fn narrow(&mut self, v: Val, axis: usize, start: usize, len: usize) -> Val {
        let items = band(self.graph.dims(v), axis, start, len);
        self.index(v, &items)
    }

    /// One position of an axis, which is gone.
    pub fn pick(&mut self, v: Val, axis: usize, position: usize) -> Val {
        let mut items = band(self.graph.dims(v), axis, 0, 0);
        items[axis] = IndexItem::Pick(Number::Const(position as i64));
        self.index(v, &items)
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
        // One element is its own combination. A complex product with the identity would spoil infinite parts.
        if matches!(combine, Combine::Value(_)) && axes.iter().all(|&a| dims[a] == 1) {
            return self.reshape(v, &shape::reduced_dims(&dims, axes, keepdims));
        }
        let kernel = Kernel::Reduce(Reduce { axes: axes.len(), combine, input: dtype, acc: dtype, pre: None, post: None });
        let out = self.launch(kernel, &[moved], &[], &[kept]);
        if keepdims { self.reshape(out, &shape::reduced_dims(&dims, axes, true)) } else { out }
    }

    /// The sum along one axis, in the dtype of the value.
    pub fn sum(&mut self, v: Val, axis: usize, keepdims: bool) -> Val {
        self.reduce(v, &[axis], Combine::Value(Monoid::Sum), keepdims)
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
        self.launch(Kernel::Contract(Contract::new(dtype)), &[a, b], &[], &[dims])
    }

    /// Windows over the last axes of `data`, `windows` of them along each; with weights a dot. Shapes as in [`Window`].
    pub fn window(&mut self, window: Window, inputs: &[Val], windows: &[usize]) -> Val {
        let data = self.dims(inputs[0]);
        let mut dims: Dims = SmallVec::from_slice(&data[..data.len() - windows.len()]);
        if let (Some(weights), Some(channels)) = (inputs.get(1), dims.last_mut()) {
            *channels = self.graph.dims(*weights)[1];
        }
        dims.extend_from_slice(windows);
        self.launch(Kernel::Window(window), inputs, &[], &[dims])
    }

    /// The windows along an axis: it counts `windows`, and a new last axis has a window's places. `low` is not looked at.
    pub fn unfold(&mut self, v: Val, axis: usize, windows: usize, window: WindowAxis) -> Val {
        let mut dims = self.dims(v);
        dims[axis] = windows;
        dims.push(window.size);
        self.view(v, View::Unfold { axis, windows, window }, dims)
    }

    /// Gathers along the leading axes: `data [i..., rest...]`, indices of one shape `[b...]`.
    pub fn gather(&mut self, data: Val, indices: &[Val]) -> Val {
        let mut dims = self.dims(indices[0]);
        dims.extend_from_slice(&self.graph.dims(data)[indices.len()..]);
        let kernel = Gather::new(self.graph.dtype(data), indices.iter().map(|&i| self.graph.dtype(i)).collect());
        let inputs: Vec<Val> = std::iter::once(data).chain(indices.iter().copied()).collect();
        self.launch(Kernel::Gather(kernel), &inputs, &[], &[dims])
    }

    /// `v`, or an error of the read that says that it is beyond its dtype where an element of `beyond`, a bool, is true.
    pub fn unless(&mut self, v: Val, beyond: Val) -> Result<Val> {
        let (dims, axes) = (self.dims(v), (0..self.dims(beyond).len()).collect::<Vec<_>>());
        let any = self.reduce(beyond, &axes, Combine::Value(Monoid::Any), false);
        // The only row, or one behind it, which is what fails.
        let row = self.cast(any, DType::U32)?;
        let rows = self.reshape(v, &[&[1], dims.as_slice()].concat());
        let kernel = Gather { out_of_range: OutOfRange::Overflow, ..Gather::new(self.graph.dtype(v), vec![DType::U32]) };
        Ok(self.launch(Kernel::Gather(kernel), &[rows, row], &[], &[dims]))
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
        Ok(self.graph.push(self.op, Def::Assemble { base, parts }, [(dtype, SmallVec::from_slice(dims))]))
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

/// The items that take `len` positions of `axis` from `start`.
pub fn band(dims: &[usize], axis: usize, start: usize, len: usize) -> SmallVec<[IndexItem; 6]> {
    let item = |(a, &d): (usize, &usize)| {
        let (start, len) = if a == axis { (start, len) } else { (0, d) };
        IndexItem::Slice { start: Number::Const(start as i64), step: Number::Const(1), len }
    };
    dims.iter().enumerate().map(item).collect()
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

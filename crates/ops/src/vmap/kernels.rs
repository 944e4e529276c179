//! Kernels at each position of a leading axis, as one kernel. Most have any number of leading axes. Where they have not, the axis goes where
//! the kernel lets one through: into the rest of what is gathered, the rows or columns of a product, the batch or the groups of a
//! convolution.

use super::Mapped;
use crate::graph::{Def, Graph, Param, Val, View};
use crate::write::inverse;
use ferrotensor_core::kernel::{Contract, Gather, Kernel, Map, Reduce, Scatter, Window, WindowCombine};
use ferrotensor_core::planted;
use ferrotensor_core::scalar::{Op, Program};
use ferrotensor_core::{DType, Dims, Error, Result};
use smallvec::SmallVec;

/// The program whose positions count along the axes after the first.
fn shifted(program: &Program) -> Program {
    let mut program = program.clone();
    for instr in &mut program.instrs {
        if let Op::Index(axis) = &mut instr.op
            && !planted::is("mapped-coordinates-count-positions")
        {
            *axis += 1;
        }
    }
    program
}

impl Mapped<'_> {
    /// The kernel's results, which have these shapes at each position.
    pub(super) fn kernel(
        &mut self,
        from: &Graph,
        kernel: &Kernel,
        inputs: &[Val],
        params: &[Param],
        dims: &[Dims],
    ) -> Result<Vec<Val>> {
        let kernel = match kernel {
            Kernel::Gather(k) => return Ok(vec![self.gather(from, k, inputs, &dims[0])?]),
            Kernel::Scatter(k) => return Ok(vec![self.scatter(from, k, inputs, &dims[0])?]),
            Kernel::Contract(k) => match self.merged_product(k, inputs, &dims[0])? {
                Some(found) => return Ok(vec![found]),
                None => Kernel::Contract(Contract { post: k.post.as_ref().map(shifted), ..k.clone() }),
            },
            Kernel::Window(k) if k.combine == WindowCombine::Dot => {
                return Ok(vec![self.convolution(k, inputs, &dims[0])?]);
            }
            Kernel::Map(k) => Kernel::Map(Map { program: shifted(&k.program) }),
            Kernel::Reduce(k) => {
                let (pre, post) = (k.pre.as_ref().map(shifted), k.post.as_ref().map(shifted));
                Kernel::Reduce(Reduce { pre, post, ..k.clone() })
            }
            Kernel::Scan(_) | Kernel::Sort(_) | Kernel::Window(_) | Kernel::Routine(_) => kernel.clone(),
            Kernel::Rows(_) | Kernel::Attention(_) => {
                return Err(Error::internal("made when programs are fused, which comes later"));
            }
        };
        let inputs = inputs.iter().map(|&v| self.whole(v, from.dims(v))).collect::<Result<Vec<Val>>>()?;
        let dims: Vec<Dims> = dims.iter().map(|dims| self.with_axis(dims)).collect();
        let first = self.w.launch(kernel, &inputs, params, &dims);
        Ok((0..dims.len() as u32).map(|n| Val(first.0 + n)).collect())
    }

    /// The axis of positions moved behind the first `n` others.
    fn behind(&mut self, v: Val, n: usize) -> Val {
        let rank = self.w.dims(v).len();
        let order: Vec<usize> = (1..=n).chain([0]).chain(n + 1..rank).collect();
        self.w.permute(v, &order)
    }

    /// The axis of positions, which stands behind `n` others, in front.
    fn in_front(&mut self, v: Val, n: usize) -> Val {
        let rank = self.w.dims(v).len();
        let order: Vec<usize> = (1..=n).chain([0]).chain(n + 1..rank).collect();
        self.w.permute(v, &inverse(&order))
    }

    /// Two neighbouring axes as one.
    fn merged(&mut self, v: Val, axis: usize) -> Result<Val> {
        let mut dims = self.w.dims(v);
        let size = dims[axis].checked_mul(dims[axis + 1]);
        dims[axis] = size.ok_or_else(|| Error::shape("vmap: a product or convolution of more places than there can be"))?;
        dims.remove(axis + 1);
        Ok(self.w.reshape(v, &dims))
    }

    /// An axis as two, of which the first has the positions.
    fn parted(&mut self, v: Val, axis: usize, inner: usize) -> Val {
        let mut dims = self.w.dims(v);
        dims[axis] = inner;
        dims.insert(axis, self.size);
        self.w.reshape(v, &dims)
    }

    /// Indices with the axis, and one more that takes each position to its own.
    fn own_positions(&mut self, from: &Graph, indices: &[Val]) -> Result<Vec<Val>> {
        let mut all = indices.iter().map(|&v| self.whole(v, from.dims(v))).collect::<Result<Vec<Val>>>()?;
        let dims = self.w.dims(all[0]);
        let count = self.w.map(&[self.size], &[], |b, _| b.index(0, DType::I64))?;
        let ones: Dims = std::iter::once(self.size).chain(std::iter::repeat_n(1, dims.len() - 1)).collect();
        let count = self.w.reshape(count, &ones);
        all.push(self.w.broadcast(count, &dims)?);
        Ok(all)
    }

    fn gather(&mut self, from: &Graph, k: &Gather, inputs: &[Val], dims: &Dims) -> Result<Val> {
        let (data, indices) = inputs.split_first().ok_or_else(|| Error::internal("vmap: a gather of nothing"))?;
        let n = indices.len();
        let batch = from.dims(indices[0]).len();
        let of_each = indices.iter().any(|&v| self.is_mapped(v));
        let mut kernel = k.clone();
        let with_axis = self.with_axis(dims);
        if !self.is_mapped(*data) {
            let mut all = vec![self.values[data.0 as usize].0];
            for &v in indices {
                all.push(self.whole(v, from.dims(v))?);
            }
            return Ok(self.w.launch(Kernel::Gather(kernel), &all, &[], &[with_axis]));
        }
        // The axis is the first of the rest, or what one more index walks: the last, so that errors count the others as before.
        let value = self.values[data.0 as usize].0;
        let moved = self.behind(value, n);
        if of_each {
            kernel.index.push(DType::I64);
            let mut all = vec![moved];
            all.extend(self.own_positions(from, indices)?);
            return Ok(self.w.launch(Kernel::Gather(kernel), &all, &[], &[with_axis]));
        }
        let mut all = vec![moved];
        all.extend(indices.iter().map(|v| self.values[v.0 as usize].0));
        let mut out = dims.clone();
        out.insert(batch, self.size);
        let found = self.w.launch(Kernel::Gather(kernel), &all, &[], &[out]);
        Ok(self.in_front(found, batch))
    }

    fn scatter(&mut self, from: &Graph, k: &Scatter, inputs: &[Val], dims: &Dims) -> Result<Val> {
        let ([data, indices @ ..], Some(&updates)) = (&inputs[..inputs.len() - 1], inputs.last()) else {
            return Err(Error::internal("vmap: a scatter of nothing"));
        };
        let (n, batch) = (indices.len(), from.dims(indices[0]).len());
        let mut kernel = k.clone();
        let data = self.whole(*data, from.dims(*data))?;
        let mut all = vec![self.behind(data, n)];
        let updates = self.whole(updates, from.dims(updates))?;
        if indices.iter().any(|&v| self.is_mapped(v)) {
            kernel.index.push(DType::I64);
            all.extend(self.own_positions(from, indices)?);
            all.push(updates);
        } else {
            all.extend(indices.iter().map(|v| self.values[v.0 as usize].0));
            all.push(self.behind(updates, batch));
        }
        let mut out = dims.clone();
        out.insert(n, self.size);
        let found = self.w.launch(Kernel::Scatter(kernel), &all, &[], &[out]);
        Ok(self.in_front(found, n))
    }

    /// A product of matrices of which one is the same at all positions, as one product: rows of `a`, or columns of `b`, of all of them.
    fn merged_product(&mut self, k: &Contract, inputs: &[Val], dims: &Dims) -> Result<Option<Val>> {
        let [(a, a_mapped), (b, b_mapped)] = [inputs[0], inputs[1]].map(|v| self.values[v.0 as usize]);
        if k.post.is_some() || dims.len() != 2 || a_mapped == b_mapped {
            return Ok(None);
        }
        let (m, n) = (dims[0], dims[1]);
        if a_mapped {
            let rows = self.merged(a, 0)?;
            let found = self.product(k, rows, b);
            return Ok(Some(self.parted(found, 0, m)));
        }
        let columns = self.behind(b, 1);
        let columns = self.merged(columns, 1)?;
        let found = self.product(k, a, columns);
        let found = self.parted(found, 1, n);
        Ok(Some(self.in_front(found, 1)))
    }

    fn product(&mut self, k: &Contract, a: Val, b: Val) -> Val {
        let dims: Dims = SmallVec::from_slice(&[self.w.dims(a)[0], self.w.dims(b)[1]]);
        self.w.launch(Kernel::Contract(k.clone()), &[a, b], &[], &[dims])
    }

    /// `data [batch, group, ...]`, `weights [group, cout, ...]`: the positions of data are more of a batch, those of weights more channels,
    /// those of both more groups.
    fn convolution(&mut self, k: &Window, inputs: &[Val], dims: &Dims) -> Result<Val> {
        let [(data, of_data), (weights, of_weights)] = [inputs[0], inputs[1]].map(|v| self.values[v.0 as usize]);
        let (data, weights, axis) = match (of_data, of_weights) {
            (true, false) => (self.merged(data, 0)?, weights, 0),
            (true, true) => {
                let data = self.behind(data, 1);
                (self.merged(data, 1)?, self.merged(weights, 0)?, 1)
            }
            _ => {
                let weights = self.behind(weights, 1);
                (data, self.merged(weights, 1)?, 2)
            }
        };
        let windows = &dims[3..];
        let found = self.w.window(k.clone(), &[data, weights], windows);
        let found = self.parted(found, axis, dims[axis]);
        Ok(self.in_front(found, axis))
    }

    /// The sum over all positions of what stands for a value.
    pub(super) fn total(&mut self, from: &Graph, v: Val) -> Result<Val> {
        let (value, mapped) = self.values[v.0 as usize];
        if !mapped {
            return Ok(value);
        }
        let dims = from.dims(v);
        match &from.nodes[from.values[v.0 as usize].node as usize].def {
            // The sum is taken below what only moves elements.
            Def::View { of, view: view @ (View::Permute(_) | View::Reshape(_) | View::Flip(_)) } => {
                let of = self.total(from, *of)?;
                let dtype = self.w.dtype(of);
                Ok(self.w.graph.push(self.w.op, Def::View { of, view: view.clone() }, [(dtype, dims.clone())]))
            }
            // A sum of products is a product of more inner places: the products, one for each position, are never there.
            Def::Kernel { kernel: Kernel::Contract(k), inputs, .. }
                if k.post.is_none() && dims.len() == 2 && inputs.iter().all(|&v| self.is_mapped(v)) =>
            {
                let [a, b] = [inputs[0], inputs[1]].map(|v| self.values[v.0 as usize].0);
                let a = self.behind(a, 1);
                let (a, b) = (self.merged(a, 1)?, self.merged(b, 0)?);
                Ok(self.product(k, a, b))
            }
            _ => self.w.summed_to(value, dims),
        }
    }
}

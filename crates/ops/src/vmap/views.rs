//! Views and assembled values with an axis of positions in front.

use super::Mapped;
use crate::graph::{Def, Graph, IndexItem, Number, Region, Val, View};
use ferrotensor_core::{Dims, Result};

impl Mapped<'_> {
    /// A view at each position; its result has these dims there.
    pub(super) fn view(&mut self, of: Val, view: &View, dims: &Dims) -> Val {
        let mut of = of;
        if let View::Broadcast(_) = view {
            // New axes come after that of positions.
            let own = &self.w.dims(of)[1..];
            let padded: Dims = std::iter::repeat_n(1, dims.len() - own.len()).chain(own.iter().copied()).collect();
            let padded = self.with_axis(&padded);
            of = self.w.reshape(of, &padded);
        }
        let (view, dtype, dims) = (self.at_each(view), self.w.dtype(of), self.with_axis(dims));
        self.w.graph.push(self.w.op, Def::View { of, view }, [(dtype, dims)])
    }

    /// The view that leaves the axis of positions in front.
    fn at_each(&self, view: &View) -> View {
        let after = |axes: &[usize]| axes.iter().map(|&a| a + 1).collect::<Vec<usize>>();
        match view {
            View::Permute(axes) => View::Permute(std::iter::once(0).chain(after(axes)).collect()),
            View::Reshape(dims) => View::Reshape(self.with_axis(dims)),
            View::Broadcast(dims) => View::Broadcast(self.with_axis(dims)),
            View::Flip(axes) => View::Flip(after(axes).into_iter().collect()),
            View::Index(items) => {
                let all = IndexItem::Slice { start: Number::Const(0), step: Number::Const(1), len: self.size };
                View::Index(std::iter::once(all).chain(items.iter().copied()).collect())
            }
            View::Unfold { axis, windows, window } => View::Unfold { axis: axis + 1, windows: *windows, window: *window },
        }
    }

    /// A value that is assembled at each position.
    pub(super) fn assemble(&mut self, from: &Graph, base: Option<Val>, parts: &[(Val, Region)], dims: &Dims) -> Result<Val> {
        let base = base.map(|v| self.whole(v, from.dims(v))).transpose()?;
        let parts = parts.iter().map(|(v, region)| {
            let region = region.as_ref().map(|view| self.at_each(view));
            Ok((self.whole(*v, from.dims(*v))?, region))
        });
        let parts = parts.collect::<Result<Vec<(Val, Region)>>>()?;
        let dims = self.with_axis(dims);
        self.w.assemble(&dims, base, parts)
    }
}

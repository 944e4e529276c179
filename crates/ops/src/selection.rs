//! What index items select of a tensor, by NumPy's rules: the region that numbers, slices and new axes leave, the axes of it
//! that index operands walk, and where their common shape stands in the result.

use crate::attrs::Item;
use crate::graph::{IndexItem, Number, Val};
use crate::write::{Writer, index_dims, inverse};
use ferrotensor_core::kernel::Update;
use ferrotensor_core::{Dims, Error, Result, layout};
use smallvec::SmallVec;
use std::ops::Range;

/// A part of a tensor.
pub struct Selection {
    /// The view of the tensor that index operands select from; an axis with indices is whole here.
    pub items: SmallVec<[IndexItem; 6]>,
    /// Shape of that view.
    pub region: Dims,
    /// Whether that view is all of the tensor.
    pub whole: bool,
    /// Axes of the view under a mask, which selects nothing by itself.
    pub mask: Option<Range<usize>>,
    /// Axis of the view that each index operand walks.
    axes: SmallVec<[usize; 4]>,
    /// Common shape of the index operands.
    batch: Dims,
    /// How many axes of the result stand before those of the batch.
    place: usize,
}

impl Selection {
    /// What these items select of a tensor; `operands` are the shapes of indices and masks in the items' order, `number` gives
    /// the run-time numbers one after the other.
    ///
    /// # Errors
    /// `Code::Index` for items that do not fit the axes, `Code::Argument` for too few or too many operands, `Code::Shape` for
    /// indices that do not broadcast or a mask that does not have its axes' shape.
    pub fn new(dims: &[usize], items: &[Item], operands: &[Dims], mut number: impl FnMut() -> Number) -> Result<Selection> {
        let used = items.iter().fold(0usize, |sum, item| sum.saturating_add(taken(item)));
        if used != dims.len() {
            return Err(Error::index(format!("{used} indices for rank {}", dims.len())));
        }
        let wanted = items.iter().filter(|i| matches!(i, Item::Index(_) | Item::Mask(_))).count();
        if wanted != operands.len() {
            return Err(Error::argument(format!("{wanted} index items and {} index operands", operands.len())));
        }
        let all = |len| IndexItem::Slice { start: Number::Const(0), step: Number::Const(1), len };
        let mut view = SmallVec::new();
        let (mut axes, mut mask, mut batch) = (SmallVec::<[usize; 4]>::new(), None, Dims::new());
        let (mut axis, mut at, mut shapes, mut empty) = (0, 0, operands.iter(), None);
        for item in items {
            let under = &dims[axis..axis + taken(item)];
            match *item {
                Item::NewAxis | Item::Index(0) => view.push(IndexItem::NewAxis),
                Item::Pick => view.push(IndexItem::Pick(number())),
                Item::Slice(len) if len > under[0] => {
                    return Err(Error::index(format!("slice of {len} elements from axis {axis} of size {}", under[0])));
                }
                Item::Slice(len) => view.push(IndexItem::Slice { start: number(), step: number(), len }),
                Item::Whole(_) | Item::Index(_) | Item::Mask(_) => view.extend(under.iter().map(|&len| all(len))),
            }
            match (item, shapes.as_slice().first()) {
                (Item::Index(_), Some(shape)) => {
                    batch = layout::broadcast_shapes(&batch, shape)?;
                    axes.push(at);
                    empty = empty.or(under.contains(&0).then_some(axis));
                    shapes.next();
                }
                (Item::Mask(n), Some(shape)) => {
                    if shape.as_slice() != under {
                        return Err(Error::shape(format!(
                            "a mask of shape {:?} over axes of shape {under:?}",
                            shape.as_slice()
                        )));
                    }
                    mask = Some(at..at + n);
                    shapes.next();
                }
                _ => {}
            }
            axis += under.len();
            at += match item {
                Item::NewAxis | Item::Index(0) => 1,
                Item::Pick => 0,
                _ => under.len(),
            };
        }
        in_range(empty, &batch)?;
        let whole = items.iter().all(|i| matches!(i, Item::Whole(_) | Item::Index(1) | Item::Mask(_)));
        Ok(Selection { region: index_dims(dims, &view), items: view, whole, mask, axes, batch, place: place(items) })
    }

    /// What indices of this shape select along one axis.
    ///
    /// # Errors
    /// `Code::Index` for indices into an axis without elements.
    pub fn along(dims: &[usize], axis: usize, indices: &[usize]) -> Result<Selection> {
        let batch = SmallVec::from_slice(indices);
        in_range((dims[axis] == 0).then_some(axis), &batch)?;
        let (region, axes) = (SmallVec::from_slice(dims), SmallVec::from_slice(&[axis]));
        Ok(Selection { items: SmallVec::new(), region, whole: true, mask: None, axes, batch, place: axis })
    }

    /// Shape of the result.
    pub fn dims(&self) -> Dims {
        let mut rest = (0..self.region.len()).filter(|a| !self.axes.contains(a)).map(|a| self.region[a]);
        let before: Dims = rest.by_ref().take(self.place).collect();
        before.into_iter().chain(self.batch.iter().copied()).chain(rest).collect()
    }

    /// Axes of the view in the order of a gather's data: those with indices, then the others.
    fn data_order(&self) -> Vec<usize> {
        let rest = (0..self.region.len()).filter(|a| !self.axes.contains(a));
        self.axes.iter().copied().chain(rest).collect()
    }

    /// For each axis of the result where a gather gives it: the batch stands first there.
    fn result_order(&self) -> Vec<usize> {
        let (batch, rank) = (self.batch.len(), self.batch.len() + self.region.len() - self.axes.len());
        (batch..batch + self.place).chain(0..batch).chain(batch + self.place..rank).collect()
    }
}

/// How many axes of the tensor an item takes.
fn taken(item: &Item) -> usize {
    match *item {
        Item::NewAxis => 0,
        Item::Pick | Item::Slice(_) => 1,
        Item::Whole(n) | Item::Index(n) | Item::Mask(n) => n,
    }
}

/// Refuses indices into an axis without elements.
fn in_range(empty: Option<usize>, batch: &[usize]) -> Result<()> {
    match empty {
        Some(axis) if layout::count(batch)? > 0 => {
            Err(Error::index(format!("no index is in range for axis {axis} of size 0")))
        }
        _ => Ok(()),
    }
}

/// NumPy's placement: indices and the numbers beside them that stand together are replaced by their common shape where they
/// stand; with a slice, a new axis or `...` between them it comes first.
fn place(items: &[Item]) -> usize {
    let indexed = items.iter().any(|i| matches!(i, Item::Index(_)));
    let advanced = |i: &Item| indexed && matches!(i, Item::Index(_) | Item::Pick);
    let (Some(first), Some(last)) = (items.iter().position(advanced), items.iter().rposition(advanced)) else { return 0 };
    if !items[first..=last].iter().all(advanced) {
        return 0;
    }
    items[..first].iter().map(|i| if *i == Item::NewAxis { 1 } else { taken(i) }).sum()
}

impl<C> Writer<'_, C> {
    /// What indices select of a region.
    ///
    /// # Errors
    /// As [`Writer::broadcast`].
    pub fn gather_selection(&mut self, region: Val, s: &Selection, indices: &[Val]) -> Result<Val> {
        let indices = self.broadcast_all(indices, &s.batch)?;
        let data = self.permute(region, &s.data_order());
        let out = self.gather(data, &indices);
        Ok(self.permute(out, &s.result_order()))
    }

    /// The region with what the indices select updated, one after the other in row-major order of the indices.
    ///
    /// # Errors
    /// As [`Writer::broadcast`].
    pub fn scatter_selection(
        &mut self,
        region: Val,
        s: &Selection,
        indices: &[Val],
        updates: Val,
        update: Update,
    ) -> Result<Val> {
        let indices = self.broadcast_all(indices, &s.batch)?;
        let order = s.data_order();
        let data = self.permute(region, &order);
        let updates = self.permute(updates, &inverse(&s.result_order()));
        let out = self.scatter(data, &indices, updates, update);
        Ok(self.permute(out, &inverse(&order)))
    }

    fn broadcast_all(&mut self, values: &[Val], dims: &[usize]) -> Result<Vec<Val>> {
        values.iter().map(|&v| self.broadcast(v, dims)).collect()
    }
}

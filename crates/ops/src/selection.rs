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
    /// The view of the tensor that is selected from; axes with indices are whole here.
    pub items: SmallVec<[IndexItem; 6]>,
    /// Shape of that view.
    pub region: Dims,
    /// Its shape as index operands see it, the axes of each taken as one.
    data: Dims,
    /// Whether that view is all of the tensor.
    pub whole: bool,
    /// Axes of the view under a mask, which selects nothing by itself.
    pub mask: Option<Range<usize>>,
    /// Axis of `data` that each index operand walks.
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
        if wanted > 1 && items.iter().any(|i| matches!(i, Item::Mask(_))) {
            return Err(Error::argument("a mask beside other indices must be read first"));
        }
        let all = |&len: &usize| IndexItem::Slice { start: Number::Const(0), step: Number::Const(1), len };
        let mut view = SmallVec::new();
        let (mut axes, mut mask, mut batch, mut data) = (SmallVec::new(), None, Dims::new(), Dims::new());
        let (mut axis, mut empty) = (0, None);
        for item in items {
            let under = &dims[axis..axis + taken(item)];
            match *item {
                Item::NewAxis => {
                    view.push(IndexItem::NewAxis);
                    data.push(1);
                }
                Item::Pick => view.push(IndexItem::Pick(number())),
                Item::Slice(len) if len > under[0] => {
                    return Err(Error::index(format!("slice of {len} elements from axis {axis} of size {}", under[0])));
                }
                Item::Slice(len) => {
                    view.push(IndexItem::Slice { start: number(), step: number(), len });
                    data.push(len);
                }
                Item::Whole(_) => {
                    view.extend(under.iter().map(all));
                    data.extend_from_slice(under);
                }
                Item::Index(n) => {
                    batch = layout::broadcast_shapes(&batch, &operands[axes.len()])?;
                    axes.push(data.len());
                    view.extend(under.iter().map(all));
                    if n == 0 {
                        view.push(IndexItem::NewAxis);
                    }
                    data.push(layout::count(under)?);
                    empty = empty.or(under.contains(&0).then_some(axis));
                }
                Item::Mask(n) => {
                    let shape = operands[0].as_slice();
                    if shape != under {
                        return Err(Error::shape(format!("a mask of shape {shape:?} over axes of shape {under:?}")));
                    }
                    mask = Some(data.len()..data.len() + n);
                    view.extend(under.iter().map(all));
                    data.extend_from_slice(under);
                }
            }
            axis += under.len();
        }
        in_range(empty, &batch)?;
        let whole = items.iter().all(|i| matches!(i, Item::Whole(_) | Item::Index(1..) | Item::Mask(_)));
        Ok(Selection { region: index_dims(dims, &view), items: view, data, whole, mask, axes, batch, place: place(items) })
    }

    /// What indices of this shape select along one axis.
    ///
    /// # Errors
    /// `Code::Index` for indices into an axis without elements.
    pub fn along(dims: &[usize], axis: usize, indices: &[usize]) -> Result<Selection> {
        let batch = SmallVec::from_slice(indices);
        in_range((dims[axis] == 0).then_some(axis), &batch)?;
        let (region, axes): (Dims, _) = (SmallVec::from_slice(dims), SmallVec::from_slice(&[axis]));
        let data = region.clone();
        Ok(Selection { items: SmallVec::new(), region, data, whole: true, mask: None, axes, batch, place: axis })
    }

    /// Shape of the result.
    pub fn dims(&self) -> Dims {
        let mut rest = (0..self.data.len()).filter(|a| !self.axes.contains(a)).map(|a| self.data[a]);
        let before: Dims = rest.by_ref().take(self.place).collect();
        before.into_iter().chain(self.batch.iter().copied()).chain(rest).collect()
    }

    /// Axes of `data` as a gather has them: those with indices, then the others.
    fn data_order(&self) -> Vec<usize> {
        let rest = (0..self.data.len()).filter(|a| !self.axes.contains(a));
        self.axes.iter().copied().chain(rest).collect()
    }

    /// For each axis of the result where a gather gives it: the batch stands first there.
    fn result_order(&self) -> Vec<usize> {
        let (batch, rank) = (self.batch.len(), self.batch.len() + self.data.len() - self.axes.len());
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
        let data = self.reshape(region, &s.data);
        let data = self.permute(data, &s.data_order());
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
        let data = self.reshape(region, &s.data);
        let data = self.permute(data, &order);
        let updates = self.permute(updates, &inverse(&s.result_order()));
        let out = self.scatter(data, &indices, updates, update);
        let out = self.permute(out, &inverse(&order));
        Ok(self.reshape(out, &s.region))
    }

    fn broadcast_all(&mut self, values: &[Val], dims: &[usize]) -> Result<Vec<Val>> {
        values.iter().map(|&v| self.broadcast(v, dims)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrotensor_core::Code;

    fn select(dims: &[usize], items: &[Item], operands: &[&[usize]]) -> Result<Selection> {
        let operands: Vec<Dims> = operands.iter().map(|d| SmallVec::from_slice(d)).collect();
        Selection::new(dims, items, &operands, || Number::Const(0))
    }

    #[test]
    fn indices_stand_where_they_stand_or_first() {
        use Item::{Index, NewAxis, Pick, Slice, Whole};
        let dims = |items: &[Item], operands: &[&[usize]]| select(&[2, 3, 4], items, operands).unwrap().dims().to_vec();
        assert_eq!(dims(&[Whole(1), Index(1), Index(1)], &[&[7], &[6, 1]]), [2, 6, 7]);
        assert_eq!(dims(&[Index(1), Whole(1), Index(1)], &[&[7], &[7]]), [7, 3]);
        assert_eq!(dims(&[Pick, Slice(1), Index(1)], &[&[7]]), [7, 1]);
        assert_eq!(dims(&[Whole(1), Pick, Index(1)], &[&[7]]), [2, 7]);
        assert_eq!(dims(&[NewAxis, Whole(1), Index(2)], &[&[7]]), [1, 2, 7]);
        assert_eq!(dims(&[Index(1), Whole(0), Index(1), Whole(1)], &[&[7], &[]]), [7, 4]);
        assert_eq!(dims(&[Whole(3), Index(0)], &[&[0]]), [2, 3, 4, 0]);
    }

    #[test]
    fn items_and_operands_must_fit() {
        let code = |items: &[Item], operands: &[&[usize]]| select(&[2, 0], items, operands).err().map(|e| e.code);
        assert_eq!(code(&[Item::Whole(1)], &[]), Some(Code::Index));
        assert_eq!(code(&[Item::Whole(usize::MAX), Item::Mask(usize::MAX)], &[&[]]), Some(Code::Index));
        assert_eq!(code(&[Item::Slice(3), Item::Whole(1)], &[]), Some(Code::Index));
        assert_eq!(code(&[Item::Whole(1), Item::Index(1)], &[&[1]]), Some(Code::Index));
        assert_eq!(code(&[Item::Index(1), Item::Whole(1)], &[]), Some(Code::Argument));
        assert_eq!(code(&[Item::Whole(2)], &[&[1]]), Some(Code::Argument));
        assert_eq!(code(&[Item::Index(1), Item::Mask(1)], &[&[1], &[0]]), Some(Code::Argument));
        assert_eq!(code(&[Item::Index(1), Item::Index(1)], &[&[2], &[3]]), Some(Code::Shape));
        assert_eq!(code(&[Item::Mask(2)], &[&[2, 1]]), Some(Code::Shape));
        assert_eq!(code(&[Item::Whole(1), Item::Index(1)], &[&[0]]), None);
    }
}

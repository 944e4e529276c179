//! How a tensor's elements lie in a buffer: dims, signed strides and an offset, all in elements.
//!
//! Broadcast is stride 0, flip a negative stride; transpose, slice, diagonal and sliding windows are other layouts of the
//! same buffer. Constructors check once; kernels then trust a layout. [`coalesce`] alone decides what a loop looks like.

use crate::error::{Error, Result};
use crate::planted;
use smallvec::SmallVec;

/// Sizes of the axes, in elements.
pub type Dims = SmallVec<[usize; 6]>;
/// Signed steps between neighbours along each axis, in elements.
pub type Strides = SmallVec<[isize; 6]>;

/// The largest rank a tensor may have.
pub const MAX_RANK: usize = 32;
/// The largest number of elements (2^53 - 1: counts stay exact as JavaScript numbers).
pub const MAX_ELEMENTS: usize = (1 << 53) - 1;

/// A view of a buffer. Element `index` lies at `offset + sum(index[i] * strides[i])`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    dims: Dims,
    strides: Strides,
    offset: usize,
}

/// The number of elements of a shape, checked.
///
/// # Errors
/// `Code::Shape` for more than [`MAX_RANK`] axes, more than [`MAX_ELEMENTS`] elements, or an axis that long of an empty tensor.
pub fn count(dims: &[usize]) -> Result<usize> {
    if dims.len() > MAX_RANK {
        return Err(Error::shape(format!("rank {} is above the maximum of {MAX_RANK}", dims.len())));
    }
    if let Some(long) = dims.iter().find(|&&d| d > MAX_ELEMENTS) {
        return Err(Error::shape(format!("an axis of {long} is longer than 2^53 - 1")));
    }
    if dims.contains(&0) {
        return Ok(0);
    }
    dims.iter()
        .try_fold(1usize, |n, &d| n.checked_mul(d))
        .filter(|&n| n <= MAX_ELEMENTS)
        .ok_or_else(|| Error::shape(format!("shape {dims:?} has more than 2^53 - 1 elements")))
}

/// Row-major strides of a dense shape.
pub fn row_major(dims: &[usize]) -> Strides {
    let mut strides: Strides = SmallVec::from_elem(0, dims.len());
    let mut step = 1isize;
    for (stride, &dim) in strides.iter_mut().zip(dims).rev() {
        *stride = step;
        step = step.wrapping_mul(dim.max(1) as isize);
    }
    strides
}

/// The shape both operands broadcast to (array API, "Broadcasting").
///
/// # Errors
/// `Code::Shape` naming the axis that differs.
pub fn broadcast_shapes(a: &[usize], b: &[usize]) -> Result<Dims> {
    let rank = a.len().max(b.len());
    let mut out: Dims = SmallVec::from_elem(1, rank);
    for i in 0..rank {
        let x = if i + a.len() >= rank { a[i + a.len() - rank] } else { 1 };
        let y = if i + b.len() >= rank { b[i + b.len() - rank] } else { 1 };
        out[i] = match (x, y) {
            _ if x == y => x,
            (1, _) => y,
            (_, 1) => x,
            _ => {
                return Err(Error::shape(format!(
                    "shapes {a:?} and {b:?} do not broadcast: axis {} is {x} and {y}",
                    i as isize - rank as isize
                )));
            }
        };
    }
    count(&out)?;
    Ok(out)
}

impl Layout {
    /// The dense row-major layout of a shape.
    ///
    /// # Errors
    /// As [`count`].
    pub fn dense(dims: &[usize]) -> Result<Layout> {
        count(dims)?;
        Ok(Layout { dims: SmallVec::from_slice(dims), strides: row_major(dims), offset: 0 })
    }

    /// A layout from its parts, checked against a buffer of `len` elements.
    ///
    /// # Errors
    /// `Code::Internal` when an element would lie outside the buffer.
    pub fn new(dims: &[usize], strides: &[isize], offset: usize, len: usize) -> Result<Layout> {
        let layout = Layout { dims: SmallVec::from_slice(dims), strides: SmallVec::from_slice(strides), offset };
        if dims.len() != strides.len() {
            return Err(Error::internal("layout: dims and strides differ in length"));
        }
        if count(dims)? > 0 {
            let (low, high) = layout.span().ok_or_else(|| Error::internal("layout: span overflows"))?;
            if low < 0 || high >= len as i128 {
                return Err(Error::internal(format!("layout: elements {low}..={high} outside a buffer of {len}")));
            }
        }
        Ok(layout)
    }

    /// Axis sizes.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// Axis strides, in elements.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// Position of element (0, ..., 0), in elements.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.dims.iter().product()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.dims.contains(&0)
    }

    /// The positions from the smallest to the largest one touched; empty for an empty layout.
    pub fn range(&self) -> std::ops::Range<usize> {
        match self.span() {
            // Layouts were checked against their buffer when they were made.
            Some((low, high)) if !self.is_empty() => low as usize..high as usize + 1,
            _ => 0..0,
        }
    }

    /// Smallest and largest position touched (meaningless for an empty layout).
    fn span(&self) -> Option<(i128, i128)> {
        let (mut low, mut high) = (self.offset as i128, self.offset as i128);
        for (&dim, &stride) in self.dims.iter().zip(&self.strides) {
            let reach = (dim.saturating_sub(1) as i128).checked_mul(stride as i128)?;
            if reach < 0 { low += reach } else { high += reach }
        }
        Some((low, high))
    }

    /// Whether the elements lie densely in row-major order (whatever the offset).
    pub fn is_row_major(&self) -> bool {
        let mut step = 1isize;
        for (&dim, &stride) in self.dims.iter().zip(&self.strides).rev() {
            if dim == 0 {
                return true;
            }
            if dim != 1 {
                if stride != step {
                    return false;
                }
                step *= dim as isize;
            }
        }
        true
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]` of `self`.
    pub fn permute(&self, axes: &[usize]) -> Layout {
        Layout {
            dims: axes.iter().map(|&a| self.dims[a]).collect(),
            strides: axes.iter().map(|&a| self.strides[a]).collect(),
            offset: self.offset,
        }
    }

    /// The view with `axis` walked backwards.
    pub fn flip(&self, axis: usize) -> Layout {
        let mut out = self.clone();
        if self.dims[axis] > 0 && !planted::is("flip-keeps-its-direction") {
            out.offset = (self.offset as isize + (self.dims[axis] as isize - 1) * self.strides[axis]) as usize;
            out.strides[axis] = -self.strides[axis];
        }
        out
    }

    /// The view of `len` elements of `axis`, from `start`, `step` apart. The caller has checked the range.
    pub fn slice(&self, axis: usize, start: usize, step: isize, len: usize) -> Layout {
        let mut out = self.clone();
        out.dims[axis] = len;
        if len > 0 {
            out.offset = (self.offset as isize + start as isize * self.strides[axis]) as usize;
            out.strides[axis] = self.strides[axis] * step;
        }
        out
    }

    /// The view without `axis`, at position `index` of it. The caller has checked the range.
    pub fn pick(&self, axis: usize, index: usize) -> Layout {
        let mut out = self.slice(axis, index, 1, 1);
        out.dims.remove(axis);
        out.strides.remove(axis);
        out
    }

    /// The view with a new axis of size 1 before `axis`.
    pub fn expand(&self, axis: usize) -> Layout {
        let mut out = self.clone();
        out.dims.insert(axis, 1);
        out.strides.insert(axis, 0);
        out
    }

    /// The view of `count` windows along `axis`, `stride` apart; a new last axis has a window's `size` elements, `dilation`
    /// apart. The caller has checked that the last window ends inside.
    pub fn unfold(&self, axis: usize, count: usize, stride: usize, size: usize, dilation: usize) -> Layout {
        let mut out = self.clone();
        let step = self.strides[axis];
        (out.dims[axis], out.strides[axis]) = (count, step * stride as isize);
        out.dims.push(size);
        out.strides.push(step * dilation as isize);
        out
    }

    /// The view broadcast to `dims` (the caller has checked that it broadcasts).
    pub fn broadcast(&self, dims: &[usize]) -> Layout {
        let lead = dims.len() - self.rank();
        let strides = (0..dims.len())
            .map(|i| if i < lead || (self.dims[i - lead] == 1 && dims[i] != 1) { 0 } else { self.strides[i - lead] })
            .collect();
        Layout { dims: SmallVec::from_slice(dims), strides, offset: self.offset }
    }

    /// The view with another shape of the same size, or `None` where only a copy can have it.
    pub fn reshape(&self, dims: &[usize]) -> Option<Layout> {
        if self.len() != dims.iter().product::<usize>() {
            debug_assert!(false, "{:?} has another size than {dims:?}", self.dims);
            return None;
        }
        if self.is_empty() || self.is_row_major() {
            return Some(Layout { dims: SmallVec::from_slice(dims), strides: row_major(dims), offset: self.offset });
        }
        // Merge neighbouring axes that form one run, then cut the runs into the new axes, right to left.
        let merged = coalesce(&[self]);
        let (old_dims, old_strides) = (&merged.dims, &merged.strides[0]);
        let mut strides: Strides = SmallVec::from_elem(0, dims.len());
        let mut run = old_dims.len();
        let (mut left, mut step) = (1usize, 0isize);
        for i in (0..dims.len()).rev() {
            if dims[i] == 1 {
                strides[i] = 0;
                continue;
            }
            if left == 1 {
                run = run.checked_sub(1)?;
                (left, step) = (old_dims[run], old_strides[run]);
            }
            if left % dims[i] != 0 {
                return None;
            }
            strides[i] = step;
            step *= dims[i] as isize;
            left /= dims[i];
        }
        Some(Layout { dims: SmallVec::from_slice(dims), strides, offset: self.offset })
    }
}

/// The loop nest over several operands of one shape: axes of size 1 dropped, axes merged where every operand allows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loops {
    /// Loop sizes, outermost first.
    pub dims: Dims,
    /// For each operand its strides over those loops.
    pub strides: SmallVec<[Strides; 4]>,
}

/// Decides the loops of a kernel over operands of one shape. Row-major order of the elements is kept.
pub fn coalesce(operands: &[&Layout]) -> Loops {
    let mut dims = Dims::new();
    let mut strides: SmallVec<[Strides; 4]> = SmallVec::from_elem(Strides::new(), operands.len());
    let shape = operands.first().map_or(&[][..], |l| l.dims());
    debug_assert!(operands.iter().all(|l| l.dims() == shape));
    let looked_at = if planted::is("axes-merge-by-the-first-operand") { 1 } else { operands.len() };
    for (axis, &dim) in shape.iter().enumerate() {
        if dim == 1 {
            continue;
        }
        let mergeable = !dims.is_empty()
            && operands
                .iter()
                .zip(&strides)
                .take(looked_at)
                .all(|(l, s)| s[s.len() - 1] == l.strides[axis].wrapping_mul(dim as isize));
        if mergeable {
            let last = dims.len() - 1;
            dims[last] *= dim;
            for (l, s) in operands.iter().zip(&mut strides) {
                s[last] = l.strides[axis];
            }
        } else {
            dims.push(dim);
            for (l, s) in operands.iter().zip(&mut strides) {
                s.push(l.strides[axis]);
            }
        }
    }
    Loops { dims, strides }
}

/// Every element position of a layout in row-major order. Slow and obvious: for the reference and for tests.
pub fn positions(layout: &Layout) -> impl Iterator<Item = usize> + '_ {
    (0..layout.len()).map(move |mut linear| {
        let mut at = layout.offset as isize;
        for (&dim, &stride) in layout.dims.iter().zip(&layout.strides).rev() {
            at += (linear % dim) as isize * stride;
            linear /= dim;
        }
        at as usize
    })
}

#[cfg(test)]
mod tests;

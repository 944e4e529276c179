//! The loops of matrix products and convolutions, as one kind of task.

use crate::launch::pieces::Piece;
use ferrotensor_core::kernel::Window;
use ferrotensor_core::layout::{Layout, coalesce};
use ferrotensor_core::{Error, Result};
use smallvec::SmallVec;

/// The loops of a launch.
pub struct Task {
    /// Batch, then rows, columns and inner places, which stay apart. Its operands: `a`, `b`, the output, the place among the inner
    /// ones (above 0 where the first is not among them), then positions along spatial axes, then operands beside the output.
    pub whole: Piece,
    /// Loops of the columns.
    pub columns: usize,
    /// Whether there is no inner place; the loops then have one, of no element.
    pub nothing: bool,
    /// Positions of the data along each spatial axis.
    pub extents: Vec<u32>,
    /// Whether the product alone would have fewer loops: what comes after it is then done apart.
    pub apart: bool,
}

/// Strides of an operand along some loops.
type Strides = SmallVec<[isize; 8]>;

/// Loops of one kind: their sizes, and the strides of `a`, `b`, the output and the operands beside it.
struct Loops {
    dims: SmallVec<[usize; 8]>,
    strides: Vec<Strides>,
}

impl Loops {
    fn one(dim: usize, strides: impl IntoIterator<Item = isize>) -> Loops {
        Loops {
            dims: SmallVec::from_slice(&[dim]),
            strides: strides.into_iter().map(|s| SmallVec::from_slice(&[s])).collect(),
        }
    }
}

/// A launch's batch, rows, columns and inner places as one piece.
fn task(
    batch: &Loops,
    rows: &Loops,
    columns: &Loops,
    inner: &Loops,
    first: &[i64],
    data: Option<(i64, i64)>,
    windows: Option<&Window>,
) -> Piece {
    let kinds = [batch, rows, columns, inner];
    let dims: Vec<usize> = kinds.iter().flat_map(|l| l.dims.iter().copied()).map(|d| d.max(1)).collect();
    let apart = dims.len() - batch.dims.len();
    let operand = |n: usize| {
        let strides: Vec<isize> = kinds.iter().flat_map(|l| l.strides[n].iter().copied()).collect();
        (first[n], strides, data.filter(|_| n == 1).unwrap_or((i64::MIN, i64::MAX)))
    };
    let mut operands: Vec<(i64, Vec<isize>, (i64, i64))> = (0..3).map(operand).collect();
    let before = dims.len() - inner.dims.len();
    let everywhere = (i64::MIN, i64::MAX);
    // Beyond 0 where the first inner place is not among them.
    operands.push((0, (0..dims.len()).map(|n| (n >= before) as isize).collect(), everywhere));
    for (n, axis) in windows.iter().flat_map(|w| w.axes.iter().enumerate()) {
        let mut strides = vec![0; dims.len()];
        strides[before - columns.dims.len() + n] = axis.stride as isize;
        strides[before + 1 + n] = axis.dilation as isize;
        operands.push((-(axis.low as i64), strides, everywhere));
    }
    operands.extend((3..first.len()).map(operand));
    let operands: Vec<(i64, &[isize], (i64, i64))> = operands.iter().map(|(f, s, e)| (*f, s.as_slice(), *e)).collect();
    Piece::over(&dims, apart, &operands)
}

/// The loops of a matrix product: `a`, `b`, the output and the operands beside it.
///
/// # Errors
/// `Code::Internal` for shapes that do not fit.
pub fn matrices(layouts: &[&Layout]) -> Result<Task> {
    let &[a, b, c, ref beside @ ..] = layouts else { return Err(Error::internal("contract: an operand is missing")) };
    let shapes = || Error::internal(format!("contract: {:?} and {:?} do not make {:?}", a.dims(), b.dims(), c.dims()));
    let (lead, m, k, n) = match (a.dims(), b.dims(), c.dims()) {
        ([x @ .., m, k], [y @ .., l, n], [z @ .., p, q])
            if x == z && y == z && (k, m, n) == (l, p, q) && beside.iter().all(|l| l.dims() == c.dims()) =>
        {
            (z, *m, *k, *n)
        }
        _ => return Err(shapes()),
    };
    let rank = lead.len();
    // Nothing is read where there are no inner places, and strides of an empty layout lead anywhere.
    let empty = |l: &Layout| k == 0 && l.is_empty();
    let part = |l: &Layout| {
        let strides: SmallVec<[isize; 6]> = if empty(l) { SmallVec::from_elem(0, rank) } else { l.strides()[..rank].into() };
        Layout::new(lead, &strides, if empty(l) { 0 } else { l.offset() }, usize::MAX >> 1)
    };
    let batches = layouts.iter().map(|l| part(l)).collect::<Result<Vec<Layout>>>()?;
    let loops = coalesce(&batches.iter().collect::<SmallVec<[&Layout; 4]>>());
    let strides = loops.strides.iter().map(|s| s.iter().copied().collect()).collect();
    let mut batch = Loops { dims: loops.dims.iter().copied().collect(), strides };
    let step = |l: &Layout, axis: usize| if empty(l) { 0 } else { l.strides()[rank + axis] };
    // Operands beside the output lie along rows and columns as it does.
    let written = |axis: usize| layouts[2..].iter().map(move |l| step(l, axis));
    let mut rows = Loops::one(m, [step(a, 0), 0].into_iter().chain(written(0)));
    let columns = Loops::one(n, [0, step(b, 1)].into_iter().chain(written(1)));
    let inner = Loops::one(k, [step(a, 1), step(b, 0)].into_iter().chain(layouts[2..].iter().map(|_| 0)));
    // Matrices times one matrix are one product of many rows.
    let mut apart = false;
    if let Some(last) = batch.dims.len().checked_sub(1)
        && batch.strides[1][last] == 0
    {
        if m == 1 {
            // A single row has no step of its own.
            for (rows, batch) in rows.strides.iter_mut().zip(&batch.strides) {
                rows[0] = batch[last];
            }
        }
        let joins = |n: usize| batch.strides[n][last] == rows.strides[n][0].wrapping_mul(m as isize);
        let product = joins(0) && joins(2);
        apart = product && !(3..layouts.len()).all(joins);
        if product && !apart {
            rows.dims[0] *= batch.dims[last];
            batch.dims.pop();
            for strides in &mut batch.strides {
                strides.pop();
            }
        }
    }
    let first: Vec<i64> = layouts.iter().map(|l| if empty(l) { 0 } else { l.offset() as i64 }).collect();
    let whole = task(&batch, &rows, &columns, &inner, &first, None, None);
    Ok(Task { whole, columns: 1, nothing: k == 0, extents: Vec::new(), apart })
}

/// The loops of a convolution: `a` are the weights, `b` is the data.
///
/// # Errors
/// `Code::Internal` for shapes that do not fit, `Code::Unsupported` for windows that reach too far.
pub fn convolution(window: &Window, [data, weights, c]: [&Layout; 3]) -> Result<Task> {
    let n = window.axes.len();
    let unfit = || Error::internal(format!("window: {:?} and {:?} do not make {:?}", data.dims(), weights.dims(), c.dims()));
    let (&[batch, group, cin], &[group2, cout, cin2], &[batch2, group3, cout2]) = (
        data.dims().get(..3).unwrap_or_default(),
        weights.dims().get(..3).unwrap_or_default(),
        c.dims().get(..3).unwrap_or_default(),
    ) else {
        return Err(unfit());
    };
    let fits = (batch, group, cin, cout, group) == (batch2, group2, cin2, cout2, group3);
    let sizes = window.axes.iter().map(|a| a.size);
    if !fits || [data, weights, c].iter().any(|l| l.rank() != 3 + n) || !weights.dims()[3..].iter().copied().eq(sizes) {
        return Err(unfit());
    }
    let windows = &c.dims()[3..];
    // Strides of an empty layout lead anywhere, and along an axis of one position there is no step.
    let along = |l: &Layout, axis: usize| if l.is_empty() || l.dims()[axis] == 1 { 0 } else { l.strides()[axis] };
    let (mut steps, mut taps) = (SmallVec::new(), SmallVec::<[isize; 8]>::new());
    for (n, (axis, &count)) in window.axes.iter().zip(windows).enumerate() {
        let last = count.saturating_sub(1).saturating_mul(axis.stride);
        let reach = last.saturating_add(axis.size.saturating_sub(1).saturating_mul(axis.dilation));
        let stride = along(data, 3 + n);
        // The second: positions in memory of all axes together must not overflow.
        let beyond =
            reach.max(axis.low).saturating_add(1).checked_mul(stride.unsigned_abs()).is_none_or(|far| far >= 1 << 58);
        if reach.max(axis.low) >= 1 << 31 || beyond {
            return Err(Error::unsupported("windows that reach over 2^31 positions"));
        }
        // A step that is longer than all of that is not taken.
        let step = |by: usize| stride.wrapping_mul(by.min(1 << 31) as isize);
        steps.push(step(axis.stride));
        taps.push(step(axis.dilation));
    }
    let batches = Loops {
        dims: SmallVec::from_slice(&[batch, group]),
        strides: vec![
            SmallVec::from_slice(&[0, along(weights, 0)]),
            SmallVec::from_slice(&[along(data, 0), along(data, 1)]),
            SmallVec::from_slice(&[along(c, 0), along(c, 1)]),
        ],
    };
    let rows = Loops::one(cout, [along(weights, 1), 0, along(c, 2)]);
    let columns = Loops {
        dims: SmallVec::from_slice(windows),
        strides: vec![SmallVec::from_elem(0, n), steps, (3..3 + n).map(|axis| along(c, axis)).collect()],
    };
    let inner = Loops {
        dims: SmallVec::from_slice(&weights.dims()[2..]),
        strides: vec![
            (2..3 + n).map(|axis| along(weights, axis)).collect(),
            std::iter::once(along(data, 2)).chain(taps).collect(),
            SmallVec::from_elem(0, 1 + n),
        ],
    };
    let exist = if data.is_empty() { (0, 0) } else { (data.range().start as i64, data.range().end as i64 - 1) };
    let mut origin = if data.is_empty() { 0 } else { data.offset() as i64 };
    for (axis, a) in window.axes.iter().enumerate() {
        origin -= a.low as i64 * along(data, 3 + axis) as i64;
    }
    let first = [if weights.is_empty() { 0 } else { weights.offset() as i64 }, origin, c.offset() as i64];
    let whole = task(&batches, &rows, &columns, &inner, &first, Some(exist), Some(window));
    let extents = data.dims()[3..].iter().map(|&d| d.min(1 << 31) as u32).collect();
    Ok(Task { whole, columns: n, nothing: cin == 0, extents, apart: false })
}

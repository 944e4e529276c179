//! Views of a buffer, reached by any sequence of view operations, against the same views as plain lists of positions;
//! layouts from any parts against arithmetic that cannot overflow; broadcasting against its definition.

use crate::bytes::Bytes;
use ferrotensor_core::layout::{self, Layout, MAX_ELEMENTS, MAX_RANK, coalesce, positions};

/// Elements above which a view is grown no further.
const LARGE: usize = 2000;
/// Sizes and strides at and around the limits.
const EDGES: [u64; 10] = [0, 1, 2, 3, 1 << 31, 1 << 32, 1 << 52, (1 << 53) - 1, i64::MAX as u64, u64::MAX];

/// A view as a list: which element of the buffer each element is, in row-major order.
#[derive(Clone, Debug, PartialEq)]
struct Listed {
    dims: Vec<usize>,
    elements: Vec<usize>,
}

impl Listed {
    /// The view of shape `dims` whose element at an index is this view's element at `at(index)`.
    fn view(&self, dims: &[usize], at: impl Fn(&[usize]) -> Vec<usize>) -> Listed {
        let count: usize = dims.iter().product();
        let elements = (0..count).map(|n| {
            let from = at(&unravel(n, dims));
            let linear = from.iter().zip(&self.dims).fold(0, |linear, (&i, &dim)| linear * dim + i);
            self.elements[linear]
        });
        Listed { dims: dims.to_vec(), elements: elements.collect() }
    }
}

/// The index of the n-th element of a shape in row-major order.
fn unravel(mut n: usize, dims: &[usize]) -> Vec<usize> {
    let mut index = vec![0; dims.len()];
    for (i, &dim) in index.iter_mut().zip(dims).rev() {
        *i = n % dim;
        n /= dim;
    }
    index
}

fn replaced(list: &[usize], at: usize, value: usize) -> Vec<usize> {
    let mut out = list.to_vec();
    out[at] = value;
    out
}

fn without(list: &[usize], at: usize) -> Vec<usize> {
    let mut out = list.to_vec();
    out.remove(at);
    out
}

fn with(list: &[usize], at: usize, value: usize) -> Vec<usize> {
    let mut out = list.to_vec();
    out.insert(at, value);
    out
}

/// One view operation on both.
fn step(bytes: &mut Bytes, layout: &Layout, listed: &Listed) -> (Layout, Listed) {
    let dims = listed.dims.clone();
    let rank = dims.len();
    let what = bytes.below(8);
    let axis = bytes.below(rank);
    match what {
        0 if rank < 7 => {
            let at = bytes.below(rank + 1);
            (layout.expand(at), listed.view(&with(&dims, at, 1), |i| without(i, at)))
        }
        1 if rank < 7 && listed.elements.len() < LARGE => {
            let shape: Vec<usize> =
                (0..bytes.below(2)).map(|_| bytes.below(4)).chain(dims.iter().copied()).collect::<Vec<_>>();
            let lead = shape.len() - rank;
            let shape: Vec<usize> =
                shape.iter().enumerate().map(|(i, &d)| if i >= lead && d == 1 { bytes.below(4) } else { d }).collect();
            let old = dims.clone();
            let listed = listed.view(&shape, |i| i[lead..].iter().zip(&old).map(|(&i, &d)| i.min(d - 1)).collect());
            (layout.broadcast(&shape), listed)
        }
        2 => {
            let count = listed.elements.len();
            let divisors: Vec<usize> = (1..=count.min(60)).filter(|d| count.is_multiple_of(*d)).collect();
            let mut shape = vec![];
            if count > 0 {
                let first = bytes.pick(&divisors);
                let rest = count / first;
                let second = bytes.pick(&(1..=rest.min(60)).filter(|d| rest.is_multiple_of(*d)).collect::<Vec<_>>());
                shape = vec![first, second, rest / second];
            } else {
                shape.extend([bytes.below(3), 0, bytes.below(3)]);
            }
            match layout.reshape(&shape) {
                Some(view) => (view, Listed { dims: shape, elements: listed.elements.clone() }),
                None => (layout.clone(), listed.clone()),
            }
        }
        _ if rank == 0 => (layout.clone(), listed.clone()),
        3 => {
            let mut axes: Vec<usize> = (0..rank).collect();
            axes.swap(axis, bytes.below(rank));
            axes.rotate_left(bytes.below(rank));
            let shape: Vec<usize> = axes.iter().map(|&a| dims[a]).collect();
            let back = |i: &[usize]| (0..rank).map(|a| i[axes.iter().position(|&b| b == a).unwrap_or(0)]).collect();
            (layout.permute(&axes), listed.view(&shape, back))
        }
        4 => (layout.flip(axis), listed.view(&dims, |i| replaced(i, axis, dims[axis] - 1 - i[axis]))),
        5 if dims[axis] > 0 => {
            let start = bytes.below(dims[axis]);
            let step = bytes.pick(&[1isize, 1, 2, 3, -1, -2]);
            let room = if step > 0 { dims[axis] - 1 - start } else { start };
            let len = bytes.below(room / step.unsigned_abs() + 2);
            let at = |i: usize| (start as isize + i as isize * step) as usize;
            let shape = replaced(&dims, axis, len);
            (layout.slice(axis, start, step, len), listed.view(&shape, |i| replaced(i, axis, at(i[axis]))))
        }
        6 if dims[axis] > 0 => {
            let index = bytes.below(dims[axis]);
            (layout.pick(axis, index), listed.view(&without(&dims, axis), |i| with(i, axis, index)))
        }
        7 if rank < 7 && dims[axis] > 0 && listed.elements.len() < LARGE => {
            let (stride, dilation) = (1 + bytes.below(3), 1 + bytes.below(3));
            let size = 1 + bytes.below((dims[axis] - 1) / dilation + 1);
            let count = (dims[axis] - 1 - (size - 1) * dilation) / stride + 1;
            let shape = with(&replaced(&dims, axis, count), rank, size);
            let at = |i: &[usize]| replaced(&i[..rank], axis, i[axis] * stride + i[rank] * dilation);
            (layout.unfold(axis, count, stride, size, dilation), listed.view(&shape, at))
        }
        _ => (layout.clone(), listed.clone()),
    }
}

/// What a layout and a list must agree on.
fn agree(layout: &Layout, listed: &Listed, buffer: usize) -> Result<(), String> {
    let differs = |what: &str| Err(format!("{what}: {layout:?} is not {listed:?}"));
    if layout.dims() != listed.dims || layout.len() != listed.elements.len() || layout.rank() != listed.dims.len() {
        return differs("shape");
    }
    if !positions(layout).eq(listed.elements.iter().copied()) {
        return differs("elements");
    }
    let (low, high) = (listed.elements.iter().min(), listed.elements.iter().max());
    if layout.range() != low.zip(high).map_or(0..0, |(&low, &high)| low..high + 1) {
        return differs("range");
    }
    if Layout::new(layout.dims(), layout.strides(), layout.offset(), buffer).is_err() {
        return differs("inside its buffer");
    }
    let dense = listed.elements.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    if layout.is_row_major() != dense && !listed.elements.is_empty() {
        return differs("row-major");
    }
    if dense && layout.reshape(&[layout.len()]).is_none() {
        return differs("flat");
    }
    // Both operands, walked by common loops.
    let other = Layout::dense(layout.dims()).map_err(|e| e.message)?;
    let loops = coalesce(&[layout, &other]);
    for (operand, offset, wanted) in
        [(0, layout.offset(), listed.elements.clone()), (1, 0, (0..listed.elements.len()).collect())]
    {
        let walked = walk(&loops.dims, &loops.strides[operand], offset as isize);
        if walked != wanted.iter().map(|&p| p as isize).collect::<Vec<_>>() {
            return differs(&format!("loops of operand {operand} ({loops:?})"));
        }
    }
    let outermost = loops.dims.contains(&1) && !layout.is_empty();
    if outermost { differs("loops of one turn") } else { Ok(()) }
}

/// The positions that nested loops touch, in their order.
fn walk(dims: &[usize], strides: &[isize], at: isize) -> Vec<isize> {
    let Some((&dim, dims)) = dims.split_first() else { return vec![at] };
    (0..dim).flat_map(|i| walk(dims, &strides[1..], at + i as isize * strides[0])).collect()
}

fn edge(bytes: &mut Bytes) -> u64 {
    match bytes.below(3) {
        0 => bytes.below(5) as u64,
        1 => bytes.pick(&EDGES),
        _ => bytes.word(),
    }
}

/// A layout from any parts: accepted exactly where every element is inside the buffer.
fn parts(bytes: &mut Bytes) -> Result<(), String> {
    let rank = bytes.below(5) + if bytes.byte() == 255 { 30 } else { 0 };
    let dims: Vec<usize> = (0..rank).map(|_| edge(bytes) as usize).collect();
    let strides: Vec<isize> = (0..rank).map(|_| edge(bytes) as isize).collect();
    let (offset, len) = (edge(bytes) as usize, edge(bytes) as usize);
    // Floats cannot overflow and are exact up to far above the limit.
    let size: f64 = dims.iter().map(|&d| d as f64).product();
    let empty = dims.contains(&0);
    let short = dims.iter().all(|&d| d <= MAX_ELEMENTS);
    let counted = rank <= MAX_RANK && short && (empty || size <= MAX_ELEMENTS as f64);
    if layout::count(&dims).is_ok() != counted {
        return Err(format!("count of {dims:?} is {:?}", layout::count(&dims)));
    }
    let reach = |down: bool| -> i128 {
        let reaches = dims.iter().zip(&strides).map(|(&d, &s)| d.saturating_sub(1) as i128 * s as i128);
        reaches.filter(|&r| (r < 0) == down).fold(offset as i128, i128::saturating_add)
    };
    let inside = counted && (empty || (reach(true) >= 0 && reach(false) < len as i128));
    let made = Layout::new(&dims, &strides, offset, len);
    if made.is_ok() != inside {
        return Err(format!("dims {dims:?} strides {strides:?} offset {offset} in {len}: {made:?}"));
    }
    let Ok(layout) = made else { return Ok(()) };
    let right = layout.is_empty() == empty
        && layout.len() as f64 == if empty { 0.0 } else { size }
        && layout.range().end <= len.max(usize::from(empty));
    let _ = (layout.is_row_major(), coalesce(&[&layout]));
    if right { Ok(()) } else { Err(format!("{layout:?} in {len}")) }
}

/// Broadcasting as the array API defines it: aligned at the last axis, sizes equal or one of them 1.
fn broadcasting(bytes: &mut Bytes) -> Result<(), String> {
    let mut shape =
        || -> Vec<usize> { (0..bytes.below(5)).map(|_| bytes.pick(&[0, 1, 1, 2, 3, 1 << 27, usize::MAX])).collect() };
    let (a, b) = (shape(), shape());
    let rank = a.len().max(b.len());
    let padded = |s: &[usize]| [vec![1; rank - s.len()], s.to_vec()].concat();
    let pairs: Vec<(usize, usize)> = padded(&a).into_iter().zip(padded(&b)).collect();
    let wanted: Option<Vec<usize>> =
        pairs.iter().map(|&(x, y)| if x == 1 { Some(y) } else { (y == 1 || x == y).then_some(x) }).collect();
    let wanted = wanted.filter(|dims| layout::count(dims).is_ok());
    let got = layout::broadcast_shapes(&a, &b).ok().map(|dims| dims.to_vec());
    if got == wanted { Ok(()) } else { Err(format!("{a:?} and {b:?} broadcast to {got:?}, should be {wanted:?}")) }
}

/// Checks what the bytes describe.
///
/// # Errors
/// A sentence that says what is wrong.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let mut bytes = Bytes::new(bytes);
    match bytes.below(4) {
        0 => return parts(&mut bytes),
        1 => return broadcasting(&mut bytes),
        _ => {}
    }
    let dims: Vec<usize> = (0..bytes.below(5)).map(|_| bytes.below(6)).collect();
    let buffer: usize = dims.iter().product();
    let mut layout = Layout::dense(&dims).map_err(|e| e.message)?;
    let mut listed = Listed { dims, elements: (0..buffer).collect() };
    agree(&layout, &listed, buffer)?;
    for _ in 0..20 {
        if bytes.is_empty() {
            break;
        }
        (layout, listed) = step(&mut bytes, &layout, &listed);
        agree(&layout, &listed, buffer)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_that_is_not_the_list_is_found() {
        let listed = Listed { dims: vec![2, 3], elements: vec![0, 1, 2, 3, 4, 5] };
        let dense = Layout::dense(&[2, 3]).unwrap();
        assert_eq!(agree(&dense, &listed, 6), Ok(()));
        for wrong in [dense.flip(1), dense.permute(&[1, 0]), dense.slice(0, 0, 1, 1), dense.expand(0)] {
            assert!(agree(&wrong, &listed, 6).is_err(), "{wrong:?}");
        }
        assert!(agree(&dense, &listed, 5).is_err());
    }
}

//! How a tile meets an operand: the loops of a launch, and for each operand whether a tile is a pointer into it, one value
//! for all, or collected and spread element by element.

use super::table::by_size;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::layout::{Layout, Loops, coalesce};
use ferrotensor_core::planted;
use smallvec::SmallVec;

/// The elements a kernel walks over, numbered in row-major order.
pub struct Domain {
    /// The loops, where there is an operand that is neither dense nor one element.
    loops: Option<Box<Loops>>,
    /// Number of elements.
    pub total: usize,
    /// Pieces do not cross a multiple of this.
    row: usize,
    /// Pieces that begin at a multiple of this begin where the cycles of operands do.
    cycle: usize,
}

/// An operand in memory, bound to a domain.
pub struct View {
    base: *mut u8,
    /// Bytes of an element.
    pub size: usize,
    /// Its number among the domain's operands.
    operand: usize,
    /// How it is met.
    pub access: Access,
}

/// How a tile meets an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Dense in the domain's order: a pointer.
    Dense,
    /// One element for all.
    Scalar,
    /// Dense within a row: a pointer for each piece.
    Row,
    /// One element for each row.
    RowScalar,
    /// So many elements over and over within a row.
    Cycle(usize),
    /// Collected or spread.
    Strided,
}

// Rows this long are walked one at a time, so that operands that are dense within a row need no copying; below it the
// cost of starting a piece (about 20 ns an operand) outweighs the copy.
const LONG_ROW: usize = 128;
/// Cycles this long are repeated into a register, which is then used for many pieces. Longer ones would seldom be met at their beginning.
const LONGEST_CYCLE: usize = 256;
/// Runs of equal elements up to this long are written by stores of a fixed size.
const SHORT_RUN: usize = 16;

/// Decides the loops over operands of one shape and how each is met.
///
/// # Safety
/// Each pointer is the start of a buffer that holds every element of its layout, of the size given.
pub unsafe fn bind(operands: &[(&Layout, *mut u8, usize)]) -> (Domain, SmallVec<[View; 4]>) {
    let view = |operand: usize, access| {
        let (layout, start, size): (&Layout, *mut u8, usize) = operands[operand];
        // An empty layout may have any offset, but is never reached.
        View { base: start.wrapping_add(layout.offset() * size), size, operand, access }
    };
    let total = operands.first().map_or(0, |(l, ..)| l.len());
    let one = |l: &Layout| l.strides().iter().zip(l.dims()).all(|(&s, &d)| s == 0 || d == 1);
    // The common case needs no loops: everything dense or scalar.
    if operands.iter().all(|(l, ..)| l.is_row_major() || one(l)) {
        let access = |l: &Layout| if total != 1 && one(l) { Access::Scalar } else { Access::Dense };
        let views = (0..operands.len()).map(|n| view(n, access(operands[n].0))).collect();
        return (Domain { loops: None, total, row: usize::MAX, cycle: 1 }, views);
    }
    let layouts: SmallVec<[&Layout; 4]> = operands.iter().map(|(l, ..)| *l).collect();
    let loops = coalesce(&layouts);
    // A row is as many of the innermost loops as make it long: channels at the end of an image's pixels are 3.
    let mut row = 1;
    let first = loops.dims.iter().rposition(|&dim| {
        row *= dim;
        row >= LONG_ROW
    });
    let met = |n: usize| match first {
        _ if layouts[n].is_row_major() => Access::Dense,
        _ if one(layouts[n]) => Access::Scalar,
        Some(first) => within_row(&loops.dims[first..], &loops.strides[n][first..]),
        None => Access::Strided,
    };
    let views: SmallVec<[View; 4]> = (0..operands.len()).map(|n| view(n, met(n))).collect();
    let cycle = views.iter().fold(1, |all, v| match v.access {
        Access::Cycle(len) if all % len != 0 && all * len <= LONGEST_CYCLE => all * len,
        _ => all,
    });
    let row = if first.is_some() { row } else { usize::MAX };
    (Domain { loops: Some(Box::new(loops)), total, row, cycle }, views)
}

/// How an operand is met within a row of these loops.
fn within_row(dims: &[usize], strides: &[isize]) -> Access {
    let Some(first) = strides.iter().position(|&s| s != 0) else { return Access::RowScalar };
    let len: usize = dims[first..].iter().product();
    if first > 0 && len <= LONGEST_CYCLE {
        return Access::Cycle(len);
    }
    let mut dense = 1;
    let is_dense = dims.iter().zip(strides).rev().all(|(&dim, &stride)| {
        let fits = stride == dense as isize;
        dense *= dim;
        fits
    });
    if is_dense { Access::Row } else { Access::Strided }
}

impl Domain {
    /// How many elements from `at` on make one piece, of at most `most`.
    #[inline]
    pub fn piece(&self, at: usize, most: usize) -> usize {
        if self.row == usize::MAX { most } else { most.min(self.row - at % self.row) }
    }

    /// Whether pieces of a multiple of `run` elements, begun at one, end at one too.
    pub fn keeps(&self, run: usize) -> bool {
        self.row == usize::MAX || self.row.is_multiple_of(run)
    }

    /// The longest pieces of at most `tile` elements that begin, one after the other, where the cycles of operands do.
    pub fn whole_cycles(&self, tile: usize) -> usize {
        if self.cycle > tile { tile } else { tile - tile % self.cycle }
    }

    /// The smallest stretch between piece boundaries that splitting work should keep to: about a tile, or a row.
    pub fn grain(&self, tile: usize) -> usize {
        let whole = self.whole_cycles(tile);
        if self.row == usize::MAX || self.row <= tile { whole } else { self.row.min(16 * whole) }
    }

    /// Loop sizes, and an operand's strides over them.
    fn loops(&self, operand: usize) -> (&[usize], &[isize]) {
        self.loops.as_ref().map_or((&[], &[]), |l| (&l.dims, &l.strides[operand]))
    }

    /// Where element `at` of an operand lies, in elements from its first.
    fn position(&self, operand: usize, mut at: usize) -> isize {
        let mut position = 0;
        let (dims, strides) = self.loops(operand);
        for (&dim, &stride) in dims.iter().zip(strides).rev() {
            position += (at % dim) as isize * stride;
            at /= dim;
        }
        position
    }
}

/// Calls `run(elements done, position, stride, count)` for each stretch along the innermost of these loops of `at..at + len`.
#[inline(always)]
fn stretches((dims, strides): (&[usize], &[isize]), at: usize, len: usize, mut run: impl FnMut(usize, isize, isize, usize)) {
    let (Some((&inner, outer)), Some((&step, outer_strides))) = (dims.split_last(), strides.split_last()) else {
        return run(0, 0, 0, len);
    };
    let mut left: SmallVec<[usize; 6]> = SmallVec::with_capacity(outer.len());
    let (mut rest, mut position) = (at / inner, 0);
    for (&dim, &stride) in outer.iter().zip(outer_strides).rev() {
        left.push(dim - rest % dim);
        position += (rest % dim) as isize * stride;
        rest /= dim;
    }
    let (mut done, mut start) = (0, at % inner);
    loop {
        let count = (inner - start).min(len - done);
        run(done, position + start as isize * step, step, count);
        (done, start) = (done + count, 0);
        if done == len {
            return;
        }
        // One step of the odometer; `left` counts from the innermost of the outer loops.
        for (i, left) in left.iter_mut().enumerate() {
            let (dim, stride) = (outer[outer.len() - 1 - i], outer_strides[outer.len() - 1 - i]);
            *left -= 1;
            if *left > 0 {
                position += stride;
                break;
            }
            *left = dim;
            position -= stride * (dim as isize - 1);
        }
    }
}

impl View {
    /// Bytes of all elements.
    pub fn bytes(&self, domain: &Domain) -> usize {
        domain.total.saturating_mul(self.size)
    }

    /// Element `at`: the first of a piece, for all but `Strided`.
    #[inline]
    pub fn pointer(&self, domain: &Domain, at: usize) -> *mut u8 {
        let position = match self.access {
            Access::Dense => at as isize,
            Access::Scalar => 0,
            Access::Row | Access::RowScalar | Access::Cycle(_) | Access::Strided => domain.position(self.operand, at),
        };
        self.base.wrapping_offset(position * self.size as isize)
    }

    /// Copies elements `at..at + len` to dense memory.
    ///
    /// # Safety
    /// The elements exist and `to` has room for them, aligned and apart.
    pub unsafe fn collect(&self, domain: &Domain, at: usize, len: usize, to: *mut u8) {
        let (dims, strides) = domain.loops(self.operand);
        by_size!(self.size, T => {
            let (base, to) = (self.base.cast::<T>(), to.cast::<T>());
            if let (Some((&0, strides)), Some((&times, dims))) = (strides.split_last(), dims.split_last())
                && times <= SHORT_RUN
            {
                // SAFETY: by the contract above.
                return unsafe { repeat_each(base, (dims, strides), times, at, len, to) };
            }
            stretches((dims, strides), at, len, |done, position, step, count| {
                // SAFETY: by the contract above; a layout's elements lie inside its buffer.
                unsafe {
                    let (from, to) = (base.offset(position), to.add(done));
                    let step = if planted::is("strided-operands-are-read-as-dense") { step.min(1) } else { step };
                    match step {
                        1 => std::ptr::copy_nonoverlapping(from, to, count),
                        0 => std::slice::from_raw_parts_mut(to, count).fill(*from),
                        _ => for i in 0..count { *to.add(i) = *from.offset(i as isize * step) },
                    }
                }
            })
        });
    }

    /// Copies elements `at..at + len` of a row, which repeat after `cycle`, to dense memory.
    ///
    /// # Safety
    /// As [`View::collect`].
    pub unsafe fn collect_cycle(&self, domain: &Domain, cycle: usize, at: usize, len: usize, to: *mut u8) {
        let mut done = cycle.min(len);
        // SAFETY: by the contract above; what is copied was written before.
        unsafe {
            self.collect(domain, at, done, to);
            while done < len {
                let count = done.min(len - done);
                std::ptr::copy_nonoverlapping(to, to.add(done * self.size), count * self.size);
                done += count;
            }
        }
    }

    /// Copies dense memory to elements `at..at + len`.
    ///
    /// # Safety
    /// As [`View::collect`], with the elements written.
    pub unsafe fn spread(&self, domain: &Domain, at: usize, len: usize, from: *const u8) {
        by_size!(self.size, T => {
            let (base, from) = (self.base.cast::<T>(), from.cast::<T>());
            stretches(domain.loops(self.operand), at, len, |done, position, step, count| {
                // SAFETY: by the contract above; a layout's elements lie inside its buffer.
                unsafe {
                    let (from, to) = (from.add(done), base.offset(position));
                    if planted::is("a-store-beyond-the-last-element") {
                        *to.offset(count as isize * step.max(1)) = *from;
                    }
                    match step {
                        1 => std::ptr::copy_nonoverlapping(from, to, count),
                        _ => for i in 0..count { *to.offset(i as isize * step) = *from.add(i) },
                    }
                }
            })
        });
    }
}

/// Copies elements `at..at + len`, of which `times` neighbours are each one element over these loops, to dense memory.
///
/// # Safety
/// As [`View::collect`].
unsafe fn repeat_each<T: Copy>(
    base: *const T,
    loops: (&[usize], &[isize]),
    times: usize,
    at: usize,
    len: usize,
    to: *mut T,
) {
    let (first, end) = (at / times, (at + len).div_ceil(times));
    stretches(loops, first, end - first, |done, position, step, count| {
        for i in 0..count {
            let start = (first + done + i) * times;
            let (from, until) = (start.max(at) - at, (start + times).min(at + len) - at);
            // SAFETY: by the contract above. The store of a fixed size, of which the next element's overwrites the end, stays within `len`.
            unsafe {
                let (x, to) = (*base.offset(position + i as isize * step), to.add(from));
                match times {
                    ..=4 if from + 4 <= len => to.cast::<[T; 4]>().write_unaligned([x; 4]),
                    ..=8 if from + 8 <= len => to.cast::<[T; 8]>().write_unaligned([x; 8]),
                    _ if from + SHORT_RUN <= len => to.cast::<[T; SHORT_RUN]>().write_unaligned([x; SHORT_RUN]),
                    _ => std::slice::from_raw_parts_mut(to, until - from).fill(x),
                }
            }
        }
    });
}

/// Elements that become equal to one of them.
struct Fill<T> {
    from: *const T,
    to: *mut T,
    len: usize,
}

impl<T: Copy> Source for Fill<T> {
    type Args = Fill<T>;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(Fill { from, to, len }: Fill<T>) {
        // SAFETY: the contract of [`splat`].
        unsafe { std::slice::from_raw_parts_mut(to, len).fill(*from) };
    }
}

/// Fills `len` elements of `size` bytes with the one at `from`. The bytes are the same on any tier, so the newest one does it: a row of a
/// softmax is filled twice, which by registers of 16 bytes was a quarter of its time.
///
/// # Safety
/// `from` is an element and `to` has room, aligned and apart.
pub unsafe fn splat(from: *const u8, size: usize, len: usize, to: *mut u8) {
    // SAFETY: by the contract above; the machine has its newest tier.
    by_size!(size, T => unsafe {
        compiled::<Fill<T>>(Tier::newest())(Fill { from: from.cast::<T>(), to: to.cast(), len })
    });
}

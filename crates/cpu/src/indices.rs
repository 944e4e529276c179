//! What `Gather` and `Scatter` share: index operands become positions in the data, and blocks of elements are walked in two
//! places at once.

use crate::launch::Slot;
use crate::map::compile::{Results, TileProgram, compile};
use crate::map::frame::{Bound, Frame};
use crate::map::index_program;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::DType;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::layout::{Layout, Loops, coalesce};
use ferrotensor_core::planted;
use smallvec::SmallVec;

/// The programs that read index operands as int64.
pub struct IndexPrograms {
    programs: Vec<TileProgram>,
    along: unsafe fn(Along),
}

/// Indices along an axis of the data, to be added to positions in it.
struct Along {
    indices: *const i64,
    positions: *mut isize,
    len: usize,
    /// Size and stride of the axis.
    dim: i64,
    stride: isize,
    /// Whether all indices are in range: otherwise nothing was added.
    inside: *mut bool,
}

/// Adds the indices of [`Along`]. Looked at and added one by one, with a branch for each, they took 3 ns; now 0.5.
struct AddAlong;

impl Source for AddAlong {
    type Args = Along;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(a: Along) {
        // SAFETY: `len` indices and positions, and the answer's place, all apart.
        let (indices, positions, inside) = unsafe {
            (
                std::slice::from_raw_parts(a.indices, a.len),
                std::slice::from_raw_parts_mut(a.positions, a.len),
                &mut *a.inside,
            )
        };
        *inside = indices.iter().fold(true, |all, &index| all & (index >= -a.dim) & (index < a.dim));
        if *inside {
            for (position, &index) in positions.iter_mut().zip(indices) {
                let found = if index < 0 { index + a.dim } else { index };
                *position += found as isize * a.stride;
            }
        }
    }
}

impl IndexPrograms {
    /// For index operands of these dtypes.
    ///
    /// # Errors
    /// A sentence when there is none, or one is not of an integer dtype.
    pub fn new(dtypes: &[DType], tier: Tier) -> Result<IndexPrograms, String> {
        if dtypes.is_empty() || dtypes.iter().any(|d| !d.is_integer()) {
            return Err("gather and scatter need one or more integer indices".into());
        }
        let programs = dtypes.iter().map(|&d| compile(&index_program(d), Results::Kept, tier)).collect::<Result<_, _>>()?;
        Ok(IndexPrograms { programs, along: compiled::<AddAlong>(tier) })
    }

    /// The programs with their operands.
    ///
    /// # Errors
    /// `Code::Internal` where the operands do not fit each other or the data.
    pub fn bind<'a>(&'a self, operands: &[Slot<'a>], data: &Layout) -> Result<Vec<Bound<'a>>> {
        let fits = operands.iter().all(|o| o.0.dims() == operands[0].0.dims()) && operands.len() <= data.rank();
        if operands.len() != self.programs.len() || !fits {
            return Err(Error::internal("index operands fit neither each other nor the data"));
        }
        // SAFETY: a launch's layouts lie inside its buffers.
        self.programs.iter().zip(operands).map(|(p, &o)| unsafe { Bound::new(p, &[Some(o), None], &[]) }).collect()
    }
}

/// The position that an index out of range has: no element lies there.
pub const NOWHERE: isize = isize::MIN;

/// Reads indices and turns them into positions in the data.
pub struct IndexReader<'a> {
    frames: SmallVec<[Frame<'a>; 2]>,
    bounds: &'a [Bound<'a>],
    data: &'a Layout,
    along: unsafe fn(Along),
    positions: Vec<isize>,
    /// The first index found out of range, with its place in the index operands.
    pub failed: Option<(usize, Error)>,
}

impl<'a> IndexReader<'a> {
    /// A reader for one thread, of operands that these programs were bound to.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn new(programs: &IndexPrograms, bounds: &'a [Bound<'a>], data: &'a Layout) -> Result<IndexReader<'a>> {
        let frames = bounds.iter().map(|b| Frame::new(b, usize::MAX)).collect::<Result<_>>()?;
        Ok(IndexReader { frames, bounds, data, along: programs.along, positions: Vec::new(), failed: None })
    }

    /// For some of the index positions `at..end` (as many as the length says): how far the selected row lies from the
    /// data's first element, or [`NOWHERE`] where an index is out of range.
    ///
    /// # Safety
    /// The positions exist and nobody writes the index operands meanwhile.
    pub unsafe fn read(&mut self, at: usize, end: usize) -> &[isize] {
        let mut len = end - at;
        for (frame, bound) in self.frames.iter().zip(self.bounds) {
            len = bound.domain.piece(at, len.min(frame.tile()));
        }
        self.positions.clear();
        self.positions.resize(len, 0);
        let clamps = planted::is("an-index-out-of-range-is-taken-as-the-last");
        let mut all_inside = !clamps;
        for axis in 0..self.frames.len() {
            let (dim, stride) = (self.data.dims()[axis] as i64, self.data.strides()[axis]);
            // SAFETY: by the contract above; the program leaves `len` int64.
            let indices = unsafe {
                self.frames[axis].run(at, len);
                std::slice::from_raw_parts(self.frames[axis].result(0).cast::<i64>(), len)
            };
            if all_inside {
                let positions = self.positions.as_mut_ptr();
                // SAFETY: as many indices as positions.
                unsafe {
                    (self.along)(Along { indices: indices.as_ptr(), positions, len, dim, stride, inside: &mut all_inside })
                };
                if all_inside {
                    continue;
                }
            }
            self.add_some(indices, at, (dim, stride), clamps && dim > 0);
        }
        &self.positions
    }

    /// Adds indices of which some are out of range, or were along an axis before; `at` is the place of the first.
    fn add_some(&mut self, indices: &[i64], at: usize, (dim, stride): (i64, isize), clamps: bool) {
        for (i, (position, &index)) in self.positions.iter_mut().zip(indices).enumerate() {
            let found = if index < 0 { index + dim } else { index };
            let found = if clamps { found.clamp(0, dim - 1) } else { found };
            if (0..dim).contains(&found) {
                if *position != NOWHERE {
                    *position += found as isize * stride;
                }
                continue;
            }
            *position = NOWHERE;
            if self.failed.as_ref().is_none_or(|(earlier, _)| at + i < *earlier) {
                let text = format!("index {index} is out of range for an axis of size {dim}");
                self.failed = Some((at + i, Error::index(text)));
            }
        }
    }
}

/// A block of elements that lies in two places.
pub struct Block(Loops);

/// Neighbours along the innermost loop of a block, in elements from its first.
pub struct Row {
    /// Where the row starts in either place.
    pub at: [isize; 2],
    /// How far its elements are apart.
    pub step: [isize; 2],
    /// How many there are.
    pub len: usize,
}

impl Block {
    /// The trailing axes of two layouts from axis `first[n]` on. They must be of one shape.
    ///
    /// # Errors
    /// `Code::Internal` where they are not.
    pub fn new(layouts: [&Layout; 2], first: [usize; 2]) -> Result<Block> {
        let [a, b] = [0, 1].map(|n| axes(layouts[n], first[n]..layouts[n].rank()));
        match (a, b) {
            (Some(a), Some(b)) if a.dims() == b.dims() => Ok(Block(coalesce(&[&a, &b]))),
            _ => Err(Error::internal("gather or scatter: rows of data and operand differ in shape")),
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.0.dims.iter().product()
    }

    /// Its number of elements, where they are neighbours in both places.
    pub fn dense(&self) -> Option<usize> {
        match (&self.0.dims[..], &self.0.strides[..]) {
            ([], _) => Some(1),
            (&[len], [a, b]) if a[0] == 1 && b[0] == 1 => Some(len),
            _ => None,
        }
    }

    /// Calls `run` for every row.
    pub fn rows(&self, mut run: impl FnMut(Row)) {
        let (dims, strides) = (&self.0.dims, &self.0.strides);
        let Some((&len, outer)) = dims.split_last() else {
            return run(Row { at: [0, 0], step: [0, 0], len: 1 });
        };
        let step = [strides[0][outer.len()], strides[1][outer.len()]];
        for mut n in 0..outer.iter().product() {
            let mut at = [0, 0];
            for (axis, &dim) in outer.iter().enumerate().rev() {
                for (at, strides) in at.iter_mut().zip(strides) {
                    *at += (n % dim) as isize * strides[axis];
                }
                n /= dim;
            }
            run(Row { at, step, len });
        }
    }
}

/// The axes of a layout in a range, from its first element on.
pub fn axes(layout: &Layout, range: std::ops::Range<usize>) -> Option<Layout> {
    let (dims, strides) = (layout.dims().get(range.clone())?, layout.strides().get(range)?);
    Layout::new(dims, strides, layout.offset(), usize::MAX).ok()
}

/// Where position `n` of the leading `axes` axes lies, in elements from the layout's first.
pub fn leading(layout: &Layout, axes: usize, mut n: usize) -> isize {
    let mut at = 0;
    for (&dim, &stride) in layout.dims()[..axes].iter().zip(layout.strides()).rev() {
        at += (n % dim) as isize * stride;
        n /= dim;
    }
    at
}

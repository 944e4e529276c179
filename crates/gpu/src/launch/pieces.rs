//! A launch cut into pieces that a device can take: at most as many loops as there is code for, fewer than 2^31 elements, and of
//! each operand no more than one descriptor reaches.

use crate::emit::space::RANKS;
use ferrotensor_core::layout::{Layout, coalesce};
use ferrotensor_core::{Error, Result};
use smallvec::SmallVec;

/// What a launch walks over: an operand in memory, or the coordinate along an axis.
#[derive(Clone, Copy)]
pub enum Walked<'a> {
    /// A layout, the bytes of an element, and how many elements below and above each position are met too.
    Memory(&'a Layout, usize, (usize, usize)),
    /// Positions that are only computed with.
    Place(&'a Layout),
    /// An axis of the launch's shape; that of another shape, whose coordinate is 0 here.
    Axis(Option<usize>),
}

/// Elements that an operand of a piece may reach over: positions are signed to SPIR-V, and a window begins up to an alignment (of
/// at most 4096 elements) before the first.
pub const FARTHEST: u64 = (1 << 31) - 4096;

/// Elements of a piece at most: threads count them in 32 bits, and divide by reciprocals that are exact below 2^31.
pub const MOST: usize = (1 << 31) - 1;

/// Rounds that all loops of a thread may go together: Mesa's software device leaves them after so many, without a word.
pub const ROUNDS: usize = 65_535;

/// What keeps a piece from being a dispatch.
enum Obstacle {
    Nothing,
    /// There is too much of a loop.
    Loop(usize),
    /// An operand that one descriptor does not show.
    Operand(usize),
}

/// Where the elements of an operand are that a step meets, beside the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    /// Elements met below and above each position.
    margin: (usize, usize),
    /// The lowest and the highest position that there is; what is met beyond is not read.
    exist: (i64, i64),
}

impl Default for Extent {
    fn default() -> Extent {
        Extent { margin: (0, 0), exist: (i64::MIN, i64::MAX) }
    }
}

/// The parts of a launch, mostly one.
pub type Pieces = SmallVec<[Piece; 1]>;

/// Part of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Sizes of the loops, outermost first.
    pub dims: SmallVec<[usize; 8]>,
    /// For each operand the position of its first element in the piece, and the lowest and highest position met (in elements).
    pub at: SmallVec<[(i64, i64, i64); 4]>,
    /// For each operand its strides over the loops.
    pub strides: SmallVec<[SmallVec<[isize; 8]>; 4]>,
    /// Of each operand.
    extents: SmallVec<[Extent; 4]>,
    /// Trailing loops that stay apart, and stay where they have one step only.
    pub apart: usize,
}

/// The pieces of a launch over `dims`, none for no element. `reach`: bytes that a descriptor may show; `most`: elements that a
/// piece may have.
///
/// # Errors
/// `Code::Unsupported` for an element that lies farther from its neighbours than a descriptor reaches.
pub fn pieces(dims: &[usize], walked: &[Walked], reach: usize, most: usize) -> Result<Pieces> {
    let unit = |axis: Option<usize>| {
        let strides: SmallVec<[isize; 6]> = (0..dims.len()).map(|n| (Some(n) == axis) as isize).collect();
        Layout::new(dims, &strides, 0, usize::MAX >> 1)
    };
    let layouts = walked
        .iter()
        .map(|w| match *w {
            Walked::Memory(layout, ..) | Walked::Place(layout) => Ok(layout.clone()),
            Walked::Axis(axis) => unit(axis),
        })
        .collect::<Result<SmallVec<[Layout; 4]>>>()?;
    if layouts.iter().any(|l| l.dims() != dims) {
        return Err(Error::internal("operands of a launch differ in shape"));
    }
    if dims.contains(&0) {
        return Ok(Pieces::new());
    }
    let references: SmallVec<[&Layout; 4]> = layouts.iter().collect();
    let loops = coalesce(&references);
    let extent = |w: &Walked| match *w {
        Walked::Memory(_, _, margin) => Extent { margin, ..Extent::default() },
        Walked::Place(_) | Walked::Axis(_) => Extent::default(),
    };
    let whole = Piece {
        dims: loops.dims.iter().copied().collect(),
        at: layouts.iter().map(|l| (l.offset() as i64, 0, 0)).collect(),
        strides: loops.strides.iter().map(|s| s.iter().copied().collect()).collect(),
        extents: walked.iter().map(extent).collect(),
        apart: 0,
    };
    let size = |w: &Walked| if let Walked::Memory(_, bytes, _) = *w { Some(bytes) } else { None };
    let sizes: SmallVec<[Option<usize>; 4]> = walked.iter().map(size).collect();
    let heavy = |p: &Piece| (p.dims.len() > RANKS[RANKS.len() - 1] || p.dims.iter().product::<usize>() > most).then_some(0);
    whole.cut(&sizes, reach, &heavy)
}

impl Piece {
    /// One step: for each operand the position of its first element, the lowest and the highest.
    pub fn of(at: &[(i64, i64, i64)]) -> Piece {
        let margin = |&(first, low, high): &(i64, i64, i64)| ((first - low) as usize, (high - first) as usize);
        let extents = at.iter().map(|ends| Extent { margin: margin(ends), ..Extent::default() }).collect();
        let strides = at.iter().map(|_| SmallVec::new()).collect();
        Piece { dims: SmallVec::new(), at: at.iter().copied().collect(), strides, extents, apart: 0 }
    }

    /// Loops, none of no step, of which the last `apart` stay as they are; for each operand its first position, its strides, and
    /// the lowest and highest position that exist.
    pub fn over(dims: &[usize], apart: usize, operands: &[(i64, &[isize], (i64, i64))]) -> Piece {
        Piece {
            dims: dims.iter().copied().collect(),
            at: operands.iter().map(|&(first, ..)| (first, 0, 0)).collect(),
            strides: operands.iter().map(|(_, strides, _)| strides.iter().copied().collect()).collect(),
            extents: operands.iter().map(|&(.., exist)| Extent { exist, ..Extent::default() }).collect(),
            apart,
        }
    }

    /// Cut until each piece can be a dispatch: an operand of elements of `sizes` bytes (none: no memory) lies within `reach`
    /// bytes, and `heavy` names no loop that is too long. The lower part of a loop comes first.
    ///
    /// # Errors
    /// As [`pieces`].
    pub fn cut(self, sizes: &[Option<usize>], reach: usize, heavy: &dyn Fn(&Piece) -> Option<usize>) -> Result<Pieces> {
        let (mut done, mut left) = (Pieces::new(), Pieces::from_iter([self]));
        while let Some(mut piece) = left.pop() {
            // Loops of one step are no loops.
            while piece.dims.len() > piece.apart.max(1)
                && let Some(n) = piece.dims[..piece.dims.len() - piece.apart].iter().position(|&d| d == 1)
            {
                piece.dims.remove(n);
                for strides in &mut piece.strides {
                    strides.remove(n);
                }
            }
            piece.find_ends();
            match piece.obstacle(sizes, reach, heavy) {
                Obstacle::Nothing => done.push(piece),
                Obstacle::Loop(n) => left.extend(piece.halves(n)),
                Obstacle::Operand(n) => {
                    let far = piece.farthest(n).ok_or_else(|| {
                        Error::unsupported(format!("elements farther apart than the {reach} bytes a descriptor shows"))
                    })?;
                    left.extend(piece.halves(far));
                }
            }
        }
        Ok(done)
    }

    fn find_ends(&mut self) {
        for (((first, low, high), strides), extent) in self.at.iter_mut().zip(&self.strides).zip(&self.extents) {
            (*low, *high) = (*first - extent.margin.0 as i64, *first + extent.margin.1 as i64);
            for (&dim, &stride) in self.dims.iter().zip(strides) {
                let end = (dim as i64 - 1) * stride as i64;
                if end < 0 { *low += end } else { *high += end }
            }
            let (lowest, highest) = extent.exist;
            // Where nothing that is met exists, one element stands for it.
            *low = (*low).clamp(lowest, highest);
            *high = (*high).clamp(lowest, highest);
        }
    }

    fn obstacle(&self, sizes: &[Option<usize>], reach: usize, heavy: &dyn Fn(&Piece) -> Option<usize>) -> Obstacle {
        let wide = |(&(_, low, high), size): (&(i64, i64, i64), &Option<usize>)| {
            let elements = (high - low + 1) as u64;
            size.is_some_and(|bytes| elements > FARTHEST || elements * bytes as u64 > reach as u64)
        };
        match self.at.iter().zip(sizes).position(wide) {
            Some(n) => Obstacle::Operand(n),
            None => heavy(self).map_or(Obstacle::Nothing, Obstacle::Loop),
        }
    }

    /// The loop along which an operand reaches farthest: to cut another one could leave it as wide as it is.
    fn farthest(&self, operand: usize) -> Option<usize> {
        let reach = |n: &usize| (self.dims[*n] - 1) * self.strides[operand][*n].unsigned_abs();
        (0..self.dims.len()).max_by_key(reach).filter(|n| reach(n) > 0)
    }

    /// Cut along a loop of more than one step.
    fn halves(&self, n: usize) -> [Piece; 2] {
        let half = self.dims[n] / 2;
        let part = |from: usize, to: usize| {
            let mut dims = self.dims.clone();
            dims[n] = to - from;
            let start = |(&(first, ..), strides): (&(i64, i64, i64), &SmallVec<[isize; 8]>)| {
                (first + from as i64 * strides[n] as i64, 0, 0)
            };
            let at = self.at.iter().zip(&self.strides).map(start).collect();
            Piece { dims, at, strides: self.strides.clone(), extents: self.extents.clone(), apart: self.apart }
        };
        // The last one is taken first.
        [part(half, self.dims[n]), part(0, half)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrotensor_core::layout::positions;

    fn memory(layout: &Layout) -> Walked<'_> {
        Walked::Memory(layout, 4, (0, 0))
    }

    /// The positions of all operands at each element that the pieces walk over, sorted: pieces are in no order.
    fn walk(pieces: &[Piece]) -> Vec<Vec<i64>> {
        let mut all = Vec::new();
        for piece in pieces {
            assert!(piece.dims.len() <= 8);
            for linear in 0..piece.dims.iter().product::<usize>() {
                let position = |(&(first, low, high), strides): (&(i64, i64, i64), &SmallVec<[isize; 8]>)| {
                    let (mut at, mut left) = (first, linear);
                    for (&dim, &stride) in piece.dims.iter().zip(strides).rev() {
                        at += (left % dim) as i64 * stride as i64;
                        left /= dim;
                    }
                    assert!((low..=high).contains(&at));
                    at
                };
                all.push(piece.at.iter().zip(&piece.strides).map(position).collect());
            }
        }
        all.sort();
        all
    }

    fn listed(layouts: &[&Layout]) -> Vec<Vec<i64>> {
        let columns: Vec<Vec<i64>> = layouts.iter().map(|l| positions(l).map(|p| p as i64).collect()).collect();
        let mut all: Vec<Vec<i64>> = (0..columns[0].len()).map(|i| columns.iter().map(|c| c[i]).collect()).collect();
        all.sort();
        all
    }

    #[test]
    fn pieces_walk_over_every_element_once() {
        let dense = Layout::dense(&[3, 1, 5, 7]).unwrap();
        let turned = Layout::dense(&[7, 5, 1, 3]).unwrap().permute(&[3, 2, 1, 0]).flip(0);
        let wide = Layout::dense(&[1, 1, 1, 7]).unwrap().broadcast(&[3, 1, 5, 7]);
        let axis = Layout::new(&[3, 1, 5, 7], &[0, 0, 1, 0], 0, 5).unwrap();
        for reach in [usize::MAX >> 1, 400, 64, 12] {
            let walked = [memory(&dense), memory(&turned), memory(&wide), Walked::Axis(Some(2))];
            let pieces = pieces(&[3, 1, 5, 7], &walked, reach, MOST).unwrap();
            assert_eq!(walk(&pieces), listed(&[&dense, &turned, &wide, &axis]));
        }
    }

    /// The far stride is the inner one: cutting rows would not help until each is alone.
    #[test]
    fn the_loop_that_reaches_far_is_cut() {
        let (rows, columns) = (1 << 20, 2);
        let dense = Layout::dense(&[rows, columns]).unwrap();
        let turned = Layout::dense(&[columns, rows]).unwrap().permute(&[1, 0]);
        let found = pieces(&[rows, columns], &[memory(&turned), memory(&dense)], rows * 4, MOST).unwrap();
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn one_dense_launch_is_one_loop_and_many_axes_are_cut() {
        let dense = Layout::dense(&[4, 5, 6]).unwrap();
        let found = pieces(&[4, 5, 6], &[memory(&dense); 2], 1 << 20, MOST).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].dims.as_slice(), [120]);
        let dims = [2usize; 12];
        let order: Vec<usize> = (0..12).rev().collect();
        let (x, y) = (Layout::dense(&dims).unwrap(), Layout::dense(&dims).unwrap().permute(&order));
        let found = pieces(&dims, &[memory(&x), memory(&y)], 1 << 20, MOST).unwrap();
        assert_eq!(found.len(), 16);
        assert_eq!(walk(&found), listed(&[&x, &y]));
        assert!(pieces(&[0, 3], &[], 1, MOST).unwrap().is_empty());
        let one = Layout::dense(&[]).unwrap();
        assert_eq!(walk(&pieces(&[], &[memory(&one)], 4, MOST).unwrap()), [[0]]);
    }

    /// Loops that stay apart stay where they are, and a window shows nothing beyond what exists.
    #[test]
    fn what_does_not_exist_is_not_shown() {
        // Windows of three over ten positions, two before them: places -2..=7, then 0..=9.
        let walked = |reach: usize| {
            let whole = Piece::over(
                &[1, 1, 8, 3],
                2,
                &[(98, &[500, 7, 1, 1], (100, 109)), (-2, &[0, 0, 1, 1], (i64::MIN, i64::MAX))],
            );
            whole.cut(&[Some(4), None], reach, &|_| None).unwrap()
        };
        let whole = walked(40);
        assert_eq!(whole.len(), 1);
        assert_eq!(whole[0].dims.as_slice(), [8, 3]);
        assert_eq!(whole[0].at.as_slice(), [(98, 100, 107), (-2, -2, 7)]);
        let parts = walked(16);
        assert!(parts.iter().all(|p| p.dims.len() == 2 && p.at[0].1 >= 100 && p.at[0].2 <= 109));
        assert_eq!(parts.iter().map(|p| p.dims.iter().product::<usize>()).sum::<usize>(), 24);
        let nowhere = Piece::over(&[1, 1], 2, &[(50, &[1, 1], (100, 109))]).cut(&[Some(4)], 40, &|_| None).unwrap();
        assert_eq!(nowhere[0].at.as_slice(), [(50, 100, 100)]);
    }

    /// Sums that go on from others come after them.
    #[test]
    fn the_lower_part_of_a_loop_comes_first() {
        let heavy = |p: &Piece| (0..2).rev().find(|&n| p.dims[n] > 1);
        let pieces = Piece::over(&[3, 5], 2, &[(0, &[0, 1], (i64::MIN, i64::MAX))]).cut(&[None], 1, &heavy).unwrap();
        assert_eq!(pieces.len(), 15);
        assert!(pieces.windows(2).all(|p| p[0].at[0].0 <= p[1].at[0].0));
    }
}

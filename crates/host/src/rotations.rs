//! Plane rotations of neighbouring columns: found one sweep at a time, applied to a basis many sweeps at a time.
//!
//! A sweep passes over the whole basis and does six operations for each element that it moves: one by one, sweeps wait for
//! memory. Sweeps that are kept and then applied together to a few rows leave those rows in the first cache, and several of
//! them go through registers at once (as Van Zee, van de Geijn and Quintana-Orti, "Restructuring the tridiagonal and bidiagonal
//! QR algorithms for performance", 2014). While one batch is applied, the next is found.

use crate::{no_memory, scratch};
use bytemuck::Pod;
use faer::Par;
use faer::traits::RealField;
use ferrotensor_core::Result;
use num_traits::{Float, One, Zero};
use rayon::iter::ParallelIterator;
use rayon::slice::ParallelSliceMut;

/// What the elements of a real basis are.
pub trait Real: Float + Pod + RealField {}
impl<R: Float + Pod + RealField> Real for R {}

/// Numbers of a column that are rotated together: one or two vectors of float64.
const ROWS: usize = 8;

/// Sweeps in registers at a time: with vectors of four, eight of the sixteen registers keep columns.
const DEPTH: usize = 4;

/// Bytes that come into the cache together.
const CACHE_LINE: usize = 64;

/// Sweeps of a batch: at n = 512 their sines and cosines take a quarter of a MiB, which stays in the second cache.
const BATCH: usize = 32;

/// Cosine and sine.
type Turn<R> = [R; 2];

/// The rotation that takes (f, g) to (r, 0): cosine, sine, r.
pub fn plane<R: Real>(f: R, g: R) -> (R, R, R) {
    if g.is_zero() {
        return (One::one(), Zero::zero(), f);
    }
    let eps = <R as Float>::epsilon();
    let square = f * f + g * g;
    // `hypot` takes several times as long and is needed where squares overflow or lose digits only.
    let least = <R as Float>::min_positive_value() / (eps * eps);
    let safe = square > least && square <= <R as Float>::max_value();
    let r = if safe { Float::sqrt(square) } else { Float::hypot(f, g) };
    (f / r, g / r, r)
}

/// Which way a sweep goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Columns (0, 1), (1, 2), ...
    Down,
    /// Columns (n - 1, n - 2), (n - 2, n - 3), ...
    Up,
}

/// Of the sweep from column `first` to column `last`, or back, the turns begin at `at`.
#[derive(Clone, Copy)]
struct Sweep {
    way: Way,
    first: usize,
    last: usize,
    at: usize,
}

fn reserve<T>(memory: &mut Vec<T>, length: usize) -> Result<()> {
    memory.try_reserve_exact(length).map_err(|_| no_memory(length.saturating_mul(size_of::<T>())))
}

/// A batch of sweeps.
pub struct Turns<R> {
    /// Whether there is a basis to apply them to.
    wanted: bool,
    turns: Vec<Turn<R>>,
    sweeps: Vec<Sweep>,
    /// The turns of `groups`, step by step, each step with a turn of every sweep in it.
    steps: Vec<[Turn<R>; DEPTH]>,
    groups: Vec<Sweep>,
}

impl<R: Real> Turns<R> {
    fn none(wanted: bool) -> Turns<R> {
        Turns { wanted, turns: Vec::new(), sweeps: Vec::new(), steps: Vec::new(), groups: Vec::new() }
    }

    /// For the sweeps over a basis of n columns.
    fn reserve(&mut self, n: usize) -> Result<()> {
        let sweeps = if self.wanted { BATCH } else { 0 };
        reserve(&mut self.turns, sweeps * n)?;
        reserve(&mut self.sweeps, sweeps)?;
        reserve(&mut self.steps, sweeps * (n + DEPTH))?;
        reserve(&mut self.groups, sweeps)
    }

    fn clear(&mut self) {
        self.turns.clear();
        self.sweeps.clear();
    }

    /// Whether the batch takes no further sweep.
    fn full(&self) -> bool {
        self.sweeps.len() == BATCH
    }

    /// Begins a sweep over the columns `first..=last`; as many turns follow as it has pairs.
    pub fn sweep(&mut self, way: Way, first: usize, last: usize) {
        if self.wanted {
            self.sweeps.push(Sweep { way, first, last, at: self.turns.len() });
        }
    }

    /// The next turn of the sweep: of columns x, then y on its way, the new ones are c x + s y and c y - s x.
    pub fn turn(&mut self, c: R, s: R) {
        if self.wanted {
            self.turns.push([c, s]);
        }
    }

    /// Takes back the last sweep's turns that are missing: it ended early.
    pub fn end(&mut self) {
        if let Some(sweep) = self.sweeps.last_mut() {
            let pairs = self.turns.len() - sweep.at;
            match sweep.way {
                Way::Down => sweep.last = sweep.first + pairs,
                Way::Up => sweep.first = sweep.last - pairs,
            }
        }
    }

    /// Puts sweeps that go the same way over about the same columns together, turns of 0 degrees where one has no other.
    fn group(&mut self) {
        self.steps.clear();
        self.groups.clear();
        let mut rest = &self.sweeps[..];
        while let Some(&start) = rest.first() {
            let (mut group, mut turns, mut members) = (start, 0, 0);
            for sweep in &rest[..rest.len().min(DEPTH)] {
                let (first, last) = (group.first.min(sweep.first), group.last.max(sweep.last));
                let all = turns + sweep.last - sweep.first;
                if sweep.way != start.way || (last - first) * (members + 1) > all + all / 4 + DEPTH {
                    break;
                }
                (group.first, group.last, turns, members) = (first, last, all, members + 1);
            }
            group.at = self.steps.len();
            let still = [[One::one(), Zero::zero()]; DEPTH];
            self.steps.resize(group.at + group.last + 1 - group.first + DEPTH, still);
            for (k, sweep) in rest[..members].iter().enumerate() {
                // Each sweep is one column behind the one before it.
                let skipped = match sweep.way {
                    Way::Down => sweep.first - group.first,
                    Way::Up => group.last - sweep.last,
                };
                let steps = &mut self.steps[group.at + k + 1 + skipped..];
                let turns = &self.turns[sweep.at..][..sweep.last - sweep.first];
                steps.iter_mut().zip(turns).for_each(|(step, turn)| step[k] = *turn);
            }
            self.groups.push(group);
            rest = &rest[members..];
        }
    }
}

/// The columns of a matrix, real or complex, in panels of `ROWS` real numbers of each column.
///
/// Rotations start from a basis that is there, not from the identity: its products of many small sines underflow (singular vectors of
/// 512 columns took 0.40 s from it, 0.21 from here).
pub struct Basis<R> {
    /// Real numbers of a column.
    rows: usize,
    columns: usize,
    memory: Vec<R>,
    /// Where the first cache line of `memory` begins, so that no vector crosses two.
    start: usize,
}

impl<R: Real> Basis<R> {
    /// A column-major matrix; without columns where no basis is wanted.
    pub fn of<T: Pod>(matrix: &[T], columns: usize) -> Result<Basis<R>> {
        let matrix: &[R] = bytemuck::cast_slice(matrix);
        let rows = matrix.len() / columns.max(1);
        let length = rows.next_multiple_of(ROWS) * columns;
        let memory = scratch::<R>(length + CACHE_LINE / size_of::<R>())?;
        let start = memory.as_ptr().align_offset(CACHE_LINE).min(memory.len() - length);
        let mut basis = Basis { rows, columns, memory, start };
        let panels = basis.panels();
        if rows > 0 {
            for (j, column) in matrix.chunks_exact(rows).enumerate() {
                for (panel, from) in panels.chunks_exact_mut(columns).zip(column.chunks(ROWS)) {
                    panel[j][..from.len()].copy_from_slice(from);
                }
            }
        }
        Ok(basis)
    }

    /// Writes column j, times `by`.
    pub fn column<T: Pod>(&mut self, j: usize, by: R, to: &mut [T]) {
        let columns = self.columns;
        for (panel, to) in self.panels().chunks_exact(columns).zip(bytemuck::cast_slice_mut::<T, R>(to).chunks_mut(ROWS)) {
            to.iter_mut().zip(panel[j]).for_each(|(to, x)| *to = by * x);
        }
    }

    fn panels(&mut self) -> &mut [[R; ROWS]] {
        let length = self.rows.next_multiple_of(ROWS) * self.columns;
        self.memory[self.start..][..length].as_chunks_mut().0
    }

    fn apply(&mut self, turns: &mut Turns<R>, par: Par) {
        turns.group();
        let turns = &*turns;
        let each = |panel: &mut [[R; ROWS]]| pass_all(panel, turns);
        let columns = self.columns;
        match par {
            Par::Seq => self.panels().chunks_exact_mut(columns).for_each(each),
            _ => self.panels().par_chunks_exact_mut(columns).for_each(each),
        }
    }
}

/// All groups of a batch for one panel, with the widest vectors that the processor has.
fn pass_all<R: Real>(panel: &mut [[R; ROWS]], turns: &Turns<R>) {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { pass_all_avx512(panel, turns) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: as before.
            return unsafe { pass_all_avx2(panel, turns) };
        }
    }
    // Elsewhere than on aarch64 the fused operation may be a call.
    pass_each::<R, { cfg!(target_arch = "aarch64") }>(panel, turns);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn pass_all_avx512<R: Real>(panel: &mut [[R; ROWS]], turns: &Turns<R>) {
    pass_each::<R, true>(panel, turns);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn pass_all_avx2<R: Real>(panel: &mut [[R; ROWS]], turns: &Turns<R>) {
    pass_each::<R, true>(panel, turns);
}

#[inline(always)]
fn pass_each<R: Real, const FUSED: bool>(panel: &mut [[R; ROWS]], turns: &Turns<R>) {
    for group in &turns.groups {
        let steps = &turns.steps[group.at..][..group.last + 1 - group.first + DEPTH];
        pass::<R, FUSED>(&mut panel[group.first..=group.last], group.way, steps);
    }
}

/// Takes a panel through a group's sweeps: a column goes through all of them before the next, each keeps one back.
#[inline(always)]
fn pass<R: Real, const FUSED: bool>(columns: &mut [[R; ROWS]], way: Way, steps: &[[Turn<R>; DEPTH]]) {
    let zero = <R as Zero>::zero();
    let count = columns.len();
    let at = |step: usize| if way == Way::Down { step } else { count - 1 - step };
    let mut kept = [[zero; ROWS]; DEPTH];
    for (step, turns) in steps.iter().enumerate() {
        let mut column = if step < count { columns[at(step)] } else { [zero; ROWS] };
        for k in 0..DEPTH {
            let [c, s] = turns[k];
            for r in 0..ROWS {
                let (x, y) = (kept[k][r], column[r]);
                (column[r], kept[k][r]) = if FUSED {
                    (Float::mul_add(c, x, s * y), Float::mul_add(-s, x, c * y))
                } else {
                    (c * x + s * y, c * y - s * x)
                };
            }
        }
        if step >= DEPTH {
            columns[at(step - DEPTH)] = column;
        }
    }
}

/// Applies the sweeps that `step` puts into batches, one for each basis of n columns, until it says that there are no more.
///
/// The order of operations on an element depends on no threads. `None` where `step` gives up.
pub fn rotate<R: Real, const SIDES: usize>(
    n: usize,
    mut bases: [Option<&mut Basis<R>>; SIDES],
    par: Par,
    mut step: impl FnMut(&mut [Turns<R>; SIDES]) -> Option<bool> + Send,
) -> Result<Option<()>> {
    let wanted = bases.iter().any(Option::is_some);
    let batch = || -> Result<[Turns<R>; SIDES]> {
        let mut sides = [(); SIDES].map(|()| Turns::none(wanted));
        for side in &mut sides {
            side.reserve(n)?;
        }
        Ok(sides)
    };
    let mut apply = |batch: &mut [Turns<R>; SIDES]| {
        for (basis, turns) in bases.iter_mut().zip(batch) {
            basis.iter_mut().for_each(|basis| basis.apply(turns, par));
            turns.clear();
        }
    };
    // Fills an empty batch; whether there are more sweeps.
    let mut find = |batch: &mut [Turns<R>; SIDES]| {
        while !batch[0].full() {
            if !step(batch)? {
                return Some(false);
            }
        }
        Some(true)
    };
    let mut now = batch()?;
    let mut more = find(&mut now);
    // Without threads one batch is enough, and small matrices notice the allocations.
    let mut next = match (par, more) {
        (Par::Seq, _) | (_, None | Some(false)) => None,
        _ => Some(batch()?),
    };
    while more == Some(true) {
        more = match &mut next {
            None => {
                apply(&mut now);
                find(&mut now)
            }
            Some(next) => {
                let found = rayon::join(|| apply(&mut now), || find(next)).1;
                std::mem::swap(&mut now, next);
                found
            }
        };
    }
    if more.is_some() {
        apply(&mut now);
    }
    Ok(more.map(|_| ()))
}

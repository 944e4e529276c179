//! Long transforms in two passes of short ones, which threads share and which stay in their caches.
//!
//! Source: Bailey, "FFTs in external or hierarchical memory" (1990). With n = n1 n2, j = n2 j1 + j2 and k = k1 + n1 k2 the transform is
//! one of length n1 over j1 for each j2, a turn by w^(j2 k1), and one of length n2 over j2 for each k1. Columns are taken together, so that
//! memory is met in whole cache lines.

use super::{Real, transform_in_place};
use crate::{no_memory, scratch};
use ferrotensor_core::Result;
use num_complex::Complex;
use rayon::ThreadPool;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rustfft::Fft;
use std::f64::consts::TAU;
use std::sync::Arc;

/// Elements from which a transform is taken apart.
const FROM: usize = 1 << 16;
/// The shorter factor, at least: otherwise a pass does little for the memory it meets.
const SHORTEST: usize = 64;
/// Columns taken together: one or two cache lines of each row.
const COLUMNS: usize = 16;

/// The factors of a long transform's length, the second not smaller; nothing where it is short, or has no such factors.
pub fn factors(n: usize) -> Option<[usize; 2]> {
    let first = (SHORTEST..=n.isqrt()).rev().find(|f| n.is_multiple_of(*f));
    first.filter(|_| n >= FROM).map(|first| [first, n / first])
}

/// The powers of exp(-+ 2 pi i / n), as products of two: a table of all would be as long as the signal.
struct Turns {
    /// Powers of 2^shift, and those below.
    coarse: Vec<Complex<f64>>,
    fine: Vec<Complex<f64>>,
    shift: u32,
}

impl Turns {
    fn new(n: usize, inverse: bool) -> Turns {
        let shift = n.ilog2() / 2;
        let unit = if inverse { TAU } else { -TAU } / n as f64;
        let power = |e: usize| Complex::cis(unit * e as f64);
        let coarse = (0..=n >> shift).map(|e| power(e << shift)).collect();
        Turns { coarse, fine: (0..1 << shift).map(power).collect(), shift }
    }

    fn power(&self, e: usize) -> Complex<f64> {
        self.coarse[e >> self.shift] * self.fine[e & (self.fine.len() - 1)]
    }
}

/// A long transform that was planned.
pub struct Long<T> {
    plans: [Arc<dyn Fft<T>>; 2],
    turns: Turns,
}

impl<T: Real> Long<T> {
    /// Of the plans of its two factors.
    pub fn new(plans: [Arc<dyn Fft<T>>; 2], inverse: bool) -> Long<T> {
        let turns = Turns::new(plans[0].len() * plans[1].len(), inverse);
        Long { plans, turns }
    }

    /// The transform of `x`, on the threads of the pool.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn run(&self, x: &[Complex<T>], y: &mut [Complex<T>], pool: Option<&ThreadPool>) -> Result<()> {
        self.first(x, y, pool)?;
        self.second(y, pool)
    }

    /// Columns of `x [n1, n2]` to turned rows of `y [n2, n1]`.
    fn first(&self, x: &[Complex<T>], y: &mut [Complex<T>], pool: Option<&ThreadPool>) -> Result<()> {
        let [n1, n2] = [0, 1].map(|n| self.plans[n].len());
        let blocks = y.chunks_mut(COLUMNS * n1).enumerate().collect();
        each(pool, blocks, |(block, rows)| {
            let column = block * COLUMNS;
            let width = rows.len() / n1;
            for j1 in 0..n1 {
                let from = &x[n2 * j1 + column..][..width];
                from.iter().enumerate().for_each(|(c, &value)| rows[c * n1 + j1] = value);
            }
            transform_in_place(&*self.plans[0], rows)?;
            for (c, row) in rows.chunks_exact_mut(n1).enumerate() {
                for (k1, value) in row.iter_mut().enumerate() {
                    *value = *value * cast(self.turns.power((column + c) * k1));
                }
            }
            Ok(())
        })
    }

    /// Columns of `y [n2, n1]`, each in its place.
    fn second(&self, y: &mut [Complex<T>], pool: Option<&ThreadPool>) -> Result<()> {
        let [n1, n2] = [0, 1].map(|n| self.plans[n].len());
        each(pool, columns(y, n1, n2)?, |mut block| {
            let width = block[0].len();
            let mut rows = scratch::<Complex<T>>(width * n2)?;
            for (j2, part) in block.iter().enumerate() {
                part.iter().enumerate().for_each(|(c, &value)| rows[c * n2 + j2] = value);
            }
            transform_in_place(&*self.plans[1], &mut rows)?;
            for (k2, part) in block.iter_mut().enumerate() {
                part.iter_mut().enumerate().for_each(|(c, value)| *value = rows[c * n2 + k2]);
            }
            Ok(())
        })
    }
}

/// Calls `f` with each item, on the threads of the pool.
fn each<I: Send>(pool: Option<&ThreadPool>, items: Vec<I>, f: impl Fn(I) -> Result<()> + Sync + Send) -> Result<()> {
    match pool {
        Some(pool) => pool.install(|| items.into_par_iter().try_for_each(f)),
        None => items.into_iter().try_for_each(f),
    }
}

/// A row's part of each block of columns.
type Block<'a, T> = Vec<&'a mut [Complex<T>]>;

/// `matrix [rows, width]` in blocks of columns.
fn columns<T>(matrix: &mut [Complex<T>], width: usize, rows: usize) -> Result<Vec<Block<'_, T>>> {
    let count = width.div_ceil(COLUMNS);
    let bytes = count * rows * size_of::<&mut [T]>();
    let empty = || {
        let mut block = Block::new();
        block.try_reserve_exact(rows).map(|()| block).map_err(|_| no_memory(bytes))
    };
    let mut blocks = (0..count).map(|_| empty()).collect::<Result<Vec<_>>>()?;
    for row in matrix.chunks_exact_mut(width) {
        row.chunks_mut(COLUMNS).zip(&mut blocks).for_each(|(part, block)| block.push(part));
    }
    Ok(blocks)
}

fn cast<T: Real>(x: Complex<f64>) -> Complex<T> {
    Complex::new(T::rounded(x.re), T::rounded(x.im))
}

//! Coordinates of the elements of a tile along an axis.

use crate::tier::{Source, Tier, compiled};
use std::marker::PhantomData;

/// The dtypes coordinates come in.
pub trait Coordinate: Copy {
    /// The number as such.
    fn from_count(n: usize) -> Self;
}
impl Coordinate for i32 {
    #[inline(always)]
    fn from_count(n: usize) -> i32 {
        n as i32
    }
}
impl Coordinate for i64 {
    #[inline(always)]
    fn from_count(n: usize) -> i64 {
        n as i64
    }
}

/// Writes the coordinates along `axis` of the elements from `at` on.
pub fn fill<T: Coordinate>(dims: &[usize], axis: usize, at: usize, out: &mut [T]) {
    let (dim, inner) = (dims[axis], dims[axis + 1..].iter().product::<usize>());
    let (mut coordinate, mut left) = (at / inner % dim, inner - at % inner);
    let mut rest = out;
    while !rest.is_empty() {
        let run = if inner == 1 { dim - coordinate } else { left }.min(rest.len());
        let (now, later) = rest.split_at_mut(run);
        if inner == 1 {
            // SAFETY: the machine has its newest tier.
            unsafe { compiled::<Count<T>>(Tier::newest())((now, coordinate)) };
            coordinate = 0;
        } else {
            now.fill(T::from_count(coordinate));
            coordinate = if coordinate + 1 == dim { 0 } else { coordinate + 1 };
        }
        (rest, left) = (later, inner);
    }
}

/// Numbers one after the other. They are the same on any tier, so the newest one writes them: one by one they took a third of the time of
/// `arange`.
struct Count<'a, T>(PhantomData<&'a mut T>);

impl<'a, T: Coordinate> Source for Count<'a, T> {
    type Args = (&'a mut [T], usize);

    #[inline(always)]
    unsafe fn run<const FMA: bool>((out, first): Self::Args) {
        out.iter_mut().enumerate().for_each(|(i, x)| *x = T::from_count(first + i));
    }
}

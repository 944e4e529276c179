//! Four integers of 8 bits as one element of a product: its four places are multiplied and added at once, in 32 bits, which wrap.

use super::dots::DotRows;
use super::lanes::Lanes;
use super::lanes::x86::quads::{Quads8, Quads16, with_vnni};
use super::pack::Transposed;
use super::stored::Stored;
use super::tile::{Chains, Columns, RowOf, Tiled, Tiles, columns, tiles};
use crate::tier::{Source, Tier, compiled};
use std::is_x86_feature_detected;
use std::ops::{Add, Neg};

/// Integers at four places, the first one lowest; or a sum. `A` and `B`: whether the integers of the first operand and of the second one have
/// a sign, of which this is either.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct Quad<const A: bool, const B: bool>(pub i32);

impl<const A: bool, const B: bool> Stored for Quad<A, B> {
    type Real = Self;
    const PARTS: usize = 1;
    const PLAIN: bool = true;
    const COMMUTES: bool = A == B;
    type Sum = Self;
    const IS_EXACT: bool = true;
    const IS_ROUNDED: bool = false;
    #[inline(always)]
    fn parts(self) -> [Self; 2] {
        [self, Quad(0)]
    }
    #[inline(always)]
    fn of(parts: [Self; 2]) -> Self {
        parts[0]
    }
}

/// The integers.
#[inline(always)]
fn integers(quad: i32, signed: bool) -> [i32; 4] {
    quad.to_le_bytes().map(|byte| if signed { i32::from(byte as i8) } else { i32::from(byte) })
}

/// What VNNI's sums begin with: it multiplies integers with a sign by integers without, so that those of `b` that are of the wrong kind have
/// 128 added or taken away (`Quads16`), which adds 128 times the row to each sum, or takes it away.
struct Starts<const A: bool, const B: bool>;

impl<const A: bool, const B: bool> Source for Starts<A, B> {
    type Args = RowOf<Quad<A, B>>;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(row: RowOf<Quad<A, B>>) {
        // Where quads lie beside each other the loop reads registers.
        let step = if row.step == 1 { 1 } else { row.step };
        let mut sum = 0i32;
        for p in 0..row.k {
            // SAFETY: as many elements exist.
            let quad = unsafe { (*row.from.offset(p as isize * step)).0 };
            sum = integers(quad, A).into_iter().fold(sum, i32::wrapping_add);
        }
        // SAFETY: the start exists.
        unsafe { *row.to = Quad(sum.wrapping_mul(if B { -128 } else { 128 })) };
    }
}

impl<const A: bool, const B: bool> Add for Quad<A, B> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Quad(self.0.wrapping_add(other.0))
    }
}

impl<const A: bool, const B: bool> Neg for Quad<A, B> {
    type Output = Self;
    fn neg(self) -> Self {
        Quad(self.0.wrapping_neg())
    }
}

impl<const A: bool, const B: bool> Tiled for Quad<A, B> {
    /// Of the tiers from AVX2 on.
    fn tiles(tier: Tier) -> Tiles<Self> {
        if tier == Tier::Avx512 && is_x86_feature_detected!("avx512vnni") {
            let starts: Option<unsafe fn(RowOf<Self>)> = if A == B { Some(with_vnni::<Starts<A, B>>(tier)) } else { None };
            return tiles!(with_vnni(tier), Quads16<A, B>, 2, wide 8, table false, starts starts, rate 8.0, 1 2 3 4 5 6 7 8 9 10 11 12 13 14);
        }
        // Two products and two sums for an element, and half of each operand at a time: 8 registers of sums leave room for them.
        tiles!(compiled(Tier::Avx2), Quads8<A, B>, 2, wide 4, table false, starts None, rate 2.0, 1 2 3 4)
    }
}

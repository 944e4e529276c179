//! Four integers of 8 bits as one element of a product: its four places are multiplied and added at once, in 32 bits, which wrap.

use super::dots::DotRows;
use super::lanes::Lanes;
#[cfg(target_arch = "x86_64")]
use super::lanes::x86::quads::{Quads8, Quads16, VNNI, with_vnni};
use super::pack::Transposed;
use super::stored::Stored;
use super::tile::{Chains, Columns, RowOf, Tiled, Tiles, columns, tiles};
use crate::tier::{Source, Tier, compiled};

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
    const IS_ROUNDED: bool = false;
    #[inline(always)]
    fn parts(self) -> [Self; 2] {
        [self, Quad(0)]
    }
    #[inline(always)]
    fn turned(self) -> [Self; 2] {
        self.parts()
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

/// A machine without instructions for them.
#[derive(Clone, Copy)]
pub struct OneQuad<const A: bool, const B: bool>(i32);

impl<const A: bool, const B: bool> Lanes for OneQuad<A, B> {
    type Item = Quad<A, B>;
    const COUNT: usize = 1;

    #[inline(always)]
    unsafe fn splat(x: Quad<A, B>) -> Self {
        OneQuad(x.0)
    }
    #[inline(always)]
    unsafe fn load(from: *const Quad<A, B>) -> Self {
        // SAFETY: as the caller promises.
        OneQuad(unsafe { (*from).0 })
    }
    #[inline(always)]
    unsafe fn store(self, to: *mut Quad<A, B>) {
        // SAFETY: as the caller promises.
        unsafe { *to = Quad(self.0) }
    }
    #[inline(always)]
    unsafe fn fma(self, b: Self, c: Self) -> Self {
        let products = integers(self.0, A).into_iter().zip(integers(b.0, B)).map(|(x, y)| x * y);
        OneQuad(products.fold(c.0, i32::wrapping_add))
    }
    #[inline(always)]
    unsafe fn transpose(_: &mut [Self; 16]) {}
}

/// What VNNI's sums begin with: it multiplies integers with a sign by integers without, so that those of `b` that are of the wrong kind have
/// 128 added or taken away (`Quads16`), which adds 128 times the row to each sum, or takes it away.
#[cfg(target_arch = "x86_64")]
struct Starts<const A: bool, const B: bool>;

#[cfg(target_arch = "x86_64")]
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

impl<const A: bool, const B: bool> Tiled for Quad<A, B> {
    fn tiles(tier: Tier) -> Tiles<Self> {
        match tier {
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 if *VNNI => {
                let starts: Option<unsafe fn(RowOf<Self>)> =
                    if A == B { Some(with_vnni::<Starts<A, B>>(tier)) } else { None };
                tiles!(with_vnni(tier), Quads16<A, B>, 2, wide 8, table false, starts starts, rate 8.0, 1 2 3 4 5 6 7 8 9 10 11 12 13 14)
            }
            // Two products and two sums for an element, and half of each operand at a time: 8 registers of sums leave room for them.
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 | Tier::Avx512 => {
                tiles!(compiled(Tier::Avx2), Quads8<A, B>, 2, wide 4, table false, starts None, rate 2.0, 1 2 3 4)
            }
            Tier::Baseline => tiles!(compiled(tier), OneQuad<A, B>, 4, wide 8, table false, starts None, rate 0.5, 1 2 3 4),
        }
    }
}

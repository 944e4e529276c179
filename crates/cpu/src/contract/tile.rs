//! The innermost part of a product: a few rows times a few registers of columns, kept in registers over a block of places, each element as
//! a chain of fused multiply-adds. In which order blocks are added is one definition (`ferrotensor_core::blocks`), so tile sizes and
//! instruction sets show in no bit.

use super::blocks;
use super::dots::{self, DotRows, Dots};
use super::lanes::Lanes;
#[cfg(not(target_arch = "aarch64"))]
use super::lanes::emulated::Emulated;
use super::pack::{Part, Transposed};
use super::stored::Stored;
use crate::tier::{Source, Tier, compiled};
use ferrotensor_core::math::EmulatedFma;
use ferrotensor_core::planted;
use std::marker::PhantomData;
use std::ops::{Add, Neg};

/// What `c` holds when a tile begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Onto {
    /// Nothing: the first block's sums are stored, which begin with `starts`.
    Nothing,
    /// The sums of a block up to here: the tile goes on with it, not beyond its end.
    Chain,
    /// Totals, to which the sums of each block are added.
    Total,
}

/// A tile of `c += a b`, from the first place of a block on, unless it goes on with one. Steps are counted in elements.
pub struct Tile<T> {
    /// Places.
    pub k: usize,
    /// The first element of its rows.
    pub a: *const T,
    /// From a row to the next one, unless the rows lie packed.
    pub a_row: isize,
    /// From a place to the next one, unless the rows lie packed.
    pub a_place: isize,
    /// The first element of its columns, which lie beside each other.
    pub b: *const T,
    /// From a place to the next one, unless `places` says more.
    pub b_place: isize,
    /// Where the columns of each place begin, from `b` on, for tiles by table.
    pub places: *const isize,
    /// The first sum; columns lie beside each other.
    pub c: *mut T,
    /// From a row to the next one.
    pub c_row: isize,
    /// What that holds.
    pub onto: Onto,
    /// What the first block's sums of each row begin with; null: with 0.
    pub starts: *const T,
}

impl<T> Tile<T> {
    /// A tile whose sums are somewhere still to be said. `steps`: from a row of `a`, a place of `a` and a place of `b` to the next one.
    pub fn reading(k: usize, (a, b): (*const T, *const T), steps: (isize, isize, isize), onto: Onto) -> Tile<T> {
        let (a_row, a_place, b_place) = steps;
        let (places, c, starts) = (std::ptr::null(), std::ptr::null_mut(), std::ptr::null());
        Tile { k, a, a_row, a_place, b, b_place, places, c, c_row: 0, onto, starts }
    }
}

impl<T: Copy + Default> Tile<T> {
    /// What the first block's sums of a row begin with.
    ///
    /// # Safety
    /// The tile has the row.
    #[inline(always)]
    pub unsafe fn start(&self, row: usize) -> T {
        // SAFETY: as the caller promises.
        if self.starts.is_null() { T::default() } else { unsafe { *self.starts.add(row) } }
    }
}

/// `R` rows, `C` registers of columns. `PACKED`: the `R` elements of a place of `a` lie beside each other, places a whole number of
/// registers apart. `TABLE`: places of `b` are where a table says.
pub struct Chains<V, const R: usize, const C: usize, const PACKED: bool, const TABLE: bool>(PhantomData<V>);

impl<V: Lanes<Item: Default>, const R: usize, const C: usize, const PACKED: bool, const TABLE: bool> Source
    for Chains<V, R, C, PACKED, TABLE>
{
    type Args = Tile<V::Item>;

    #[inline(always)]
    unsafe fn run<const FMA: bool>(t: Tile<V::Item>) {
        let (a_row, a_place) = if PACKED { (1, R.next_multiple_of(V::COUNT) as isize) } else { (t.a_row, t.a_place) };
        // SAFETY: R rows and C registers of columns of every operand exist, over k places.
        unsafe {
            let zero = V::splat(V::Item::default());
            let at = |i: usize, j: usize| t.c.offset(i as isize * t.c_row).add(j * V::COUNT);
            let on_avx2 = cfg!(target_arch = "x86_64") && size_of::<V>() == 32;
            let short = (on_avx2 && planted::is("avx2-products-leave-out-a-place"))
                || (cfg!(target_arch = "aarch64") && planted::is("arm-products-leave-out-a-place"));
            let k = t.k - usize::from(short && t.k > 1);
            let (mut a, mut b, mut p, mut onto) = (t.a, t.b, 0, t.onto);
            loop {
                let mut sums = [[zero; C]; R];
                for (i, row) in sums.iter_mut().enumerate() {
                    match onto {
                        Onto::Nothing => *row = [V::splat(t.start(i)); C],
                        Onto::Chain => row.iter_mut().enumerate().for_each(|(j, sum)| *sum = V::load(at(i, j))),
                        Onto::Total => {}
                    }
                }
                let end = k.min(p + blocks::floats::<V::Item>());
                while p < end {
                    if TABLE {
                        b = t.b.offset(*t.places.add(p));
                    }
                    let mut columns = [zero; C];
                    for (j, column) in columns.iter_mut().enumerate() {
                        *column = V::load(b.add(j * V::COUNT));
                    }
                    for (i, row) in sums.iter_mut().enumerate() {
                        let x = V::splat(*a.offset(i as isize * a_row));
                        for (sum, &column) in row.iter_mut().zip(&columns) {
                            *sum = x.fma(column, *sum);
                        }
                    }
                    a = a.wrapping_offset(a_place);
                    if !TABLE {
                        b = b.wrapping_offset(t.b_place);
                    }
                    p += 1;
                }
                for (i, row) in sums.iter().enumerate() {
                    for (j, &sum) in row.iter().enumerate() {
                        let sum = if onto == Onto::Total { V::load(at(i, j)).add(sum) } else { sum };
                        sum.store(at(i, j));
                    }
                }
                if p >= k {
                    break;
                }
                onto = Onto::Total;
            }
        }
    }
}

/// Computes a tile of a number of rows and columns.
pub type TileFn<T> = unsafe fn(Tile<T>);

/// A row of `a`, and where goes what its sums begin with.
pub struct RowOf<T> {
    /// Its first element.
    pub from: *const T,
    /// From an element to the next one.
    pub step: isize,
    /// Elements.
    pub k: usize,
    /// The start.
    pub to: *mut T,
}

/// Tiles of a number of columns.
pub struct Columns<T> {
    /// How many.
    pub count: usize,
    /// By rows, from one on: with packed rows of `a`.
    pub packed: Vec<TileFn<T>>,
    /// By rows, from one on: with rows of `a` anywhere.
    pub strided: Vec<TileFn<T>>,
    /// By rows, from one on: with packed rows of `a`, and places of `b` where a table says.
    pub by_table: Vec<TileFn<T>>,
}

/// The tiles of a dtype on a tier.
pub struct Tiles<T: Stored> {
    /// Those of most sums.
    pub full: Columns<T>,
    /// Those of one register of columns, where no more are left.
    pub narrow: Columns<T>,
    /// One row of many columns, whose sums do not wait for each other.
    pub wide: TileFn<T>,
    /// How many.
    pub wide_columns: usize,
    /// By rows, from one on: with a register of columns whose places lie beside each other.
    pub dots: [unsafe fn(Dots<T>); dots::ROWS],
    /// Copies rows or columns whose places lie beside each other.
    pub transposed: unsafe fn(Part<T>),
    /// Finds what the sums of a row begin with, if that is not 0.
    pub starts: Option<unsafe fn(RowOf<T>)>,
    /// Floats of a register.
    pub lanes: usize,
    /// Operations of one core in a nanosecond, with a margin for slower ones than it was seen on.
    pub rate: f64,
}

impl<T: Stored<Real = T>> Tiles<T> {
    /// The most rows of a tile.
    pub fn rows(&self) -> usize {
        self.full.packed.len()
    }

    /// Floats that so many packed rows take at a place.
    pub fn packed_width(&self, rows: usize) -> usize {
        rows.next_multiple_of(self.lanes)
    }

    /// The tiles for so many columns, or for the first of them.
    pub fn fitting(&self, columns: usize) -> &Columns<T> {
        if columns <= self.narrow.count { &self.narrow } else { &self.full }
    }
}

/// `$compiled` hands out a copy for a tier, as [`compiled`] does; `$table` is whether places may be in a table.
macro_rules! columns {
    ($compiled:ident($tier:expr), $register:ty, $columns:literal, table $table:literal, $($rows:literal)*) => {
        Columns {
            count: $columns * <$register as Lanes>::COUNT,
            packed: vec![$($compiled::<Chains<$register, $rows, $columns, true, false>>($tier)),*],
            strided: vec![$($compiled::<Chains<$register, $rows, $columns, false, false>>($tier)),*],
            by_table: if $table { vec![$($compiled::<Chains<$register, $rows, $columns, true, $table>>($tier)),*] } else { vec![] },
        }
    };
}

macro_rules! tiles {
    ($compiled:ident($tier:expr), $register:ty, $columns:literal, wide $wide:literal, table $table:literal, starts $starts:expr, rate $rate:literal, $($rows:literal)*) => {
        Tiles {
            full: columns!($compiled($tier), $register, $columns, table $table, $($rows)*),
            narrow: columns!($compiled($tier), $register, 1, table $table, $($rows)*),
            wide: $compiled::<Chains<$register, 1, $wide, false, false>>($tier),
            wide_columns: $wide * <$register as Lanes>::COUNT,
            dots: [
                $compiled::<DotRows<$register, 1>>($tier),
                $compiled::<DotRows<$register, 2>>($tier),
                $compiled::<DotRows<$register, 3>>($tier),
                $compiled::<DotRows<$register, 4>>($tier),
            ],
            transposed: $compiled::<Transposed<$register>>($tier),
            starts: $starts,
            lanes: <$register as Lanes>::COUNT,
            rate: $rate * <$register as Lanes>::COUNT as f64,
        }
    };
}

pub(super) use {columns, tiles};

/// What products are computed in.
pub trait Tiled: Default + Add<Output = Self> + Neg<Output = Self> + Stored<Real = Self> {
    /// Its tiles on a tier. 28 registers of sums of 32, 12 of 16, 24 of 32: the others hold columns and the element they meet.
    fn tiles(tier: Tier) -> Tiles<Self>;
}

/// A float that products are computed in.
pub trait Float: Tiled + EmulatedFma {}

macro_rules! floats {
    ($($t:ty: $avx2:ident $avx512:ident $neon:ident;)*) => {$(
        impl Float for $t {}

        impl Tiled for $t {
            fn tiles(tier: Tier) -> Tiles<$t> {
                #[cfg(target_arch = "x86_64")]
                use std::arch::x86_64::{$avx2, $avx512};
                match tier {
                    #[cfg(target_arch = "x86_64")]
                    Tier::Avx512 => tiles!(compiled(tier), $avx512, 2, wide 8, table true, starts None, rate 8.0, 1 2 3 4 5 6 7 8 9 10 11 12 13 14),
                    #[cfg(target_arch = "x86_64")]
                    Tier::Avx2 => tiles!(compiled(tier), $avx2, 2, wide 8, table true, starts None, rate 8.0, 1 2 3 4 5 6),
                    #[cfg(target_arch = "aarch64")]
                    Tier::Baseline => tiles!(compiled(tier), std::arch::aarch64::$neon, 3, wide 8, table true, starts None, rate 8.0, 1 2 3 4 5 6 7 8),
                    #[cfg(not(target_arch = "aarch64"))]
                    Tier::Baseline => tiles!(compiled(tier), Emulated<$t>, 4, wide 8, table true, starts None, rate 0.3, 1 2 3 4),
                }
            }
        }
    )*};
}
floats! {
    f32: __m256 __m512 float32x4_t;
    f64: __m256d __m512d float64x2_t;
}

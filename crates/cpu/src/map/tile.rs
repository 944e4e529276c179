//! The loops over one tile: a handful of generic functions that carry every instruction of the scalar IR.

use crate::number::cast::CastTo;
use crate::number::{Arithmetic, Bits, Float, Half, Item, MulHi, Number, Ordered, Real, Shift, Whole};
use crate::tier::Source;
use ferrotensor_core::Bool;
use ferrotensor_core::element::Complex;
use std::marker::PhantomData;

/// What a tile function is called with: `len` elements at each pointer, the target apart from the operands.
pub struct Tile {
    /// Where the results go.
    pub out: *mut u8,
    /// Where the operands are; unused ones point anywhere.
    pub args: [*const u8; 3],
    /// Number of elements.
    pub len: usize,
}

/// One instruction over one tile.
///
/// Safety: `Tile` as described there, its elements aligned and of the dtypes the function was chosen for.
pub type TileFn = unsafe fn(Tile);

/// A function of one element.
pub trait Unary<A, R> {
    /// Its value.
    fn apply(x: A) -> R;
}

/// A function of two elements of one type.
pub trait Binary<A, R> {
    /// Its value.
    fn apply(x: A, y: A) -> R;

    /// The same in fewer steps for a chain of them, where no operand is [`Binary::doubtful`].
    #[inline(always)]
    fn quick(x: A, y: A) -> R {
        Self::apply(x, y)
    }

    /// Whether [`Binary::quick`] may be wrong for an operand.
    #[inline(always)]
    fn doubtful(_: A) -> bool {
        false
    }

    /// Whether every order of a chain of them gives the same bits, where no operand is doubtful.
    const ANY_ORDER: bool = false;

    /// The same in one step where all are combined in any order, and the result is not [`Binary::unclear`].
    #[inline(always)]
    fn rough(x: A, y: A) -> R {
        Self::quick(x, y)
    }

    /// Whether [`Binary::rough`] may be wrong for what came out.
    #[inline(always)]
    fn unclear(_: R) -> bool {
        false
    }

    /// Whether any of these is doubtful.
    #[inline(always)]
    fn any_doubtful(operands: &[A]) -> bool
    where
        A: Copy,
    {
        operands.iter().fold(false, |any, &x| any | Self::doubtful(x))
    }
}

/// A function of three elements, the first of a type of its own.
pub trait Ternary<A, R> {
    /// Its value.
    fn apply(x: A, y: R, z: R) -> R;
}

/// Loop of a [`Unary`].
pub struct Map1<F, A, R>(PhantomData<(F, A, R)>);
/// Loop of a [`Binary`].
pub struct Map2<F, A, R>(PhantomData<(F, A, R)>);
/// Loop of a [`Ternary`].
pub struct Map3<F, A, R>(PhantomData<(F, A, R)>);

/// # Safety
/// `len` aligned elements at `at` that nobody writes meanwhile.
#[inline(always)]
pub unsafe fn operand<'a, T>(at: *const u8, len: usize) -> &'a [T] {
    // SAFETY: by the contract above.
    unsafe { std::slice::from_raw_parts(at.cast(), len) }
}

/// # Safety
/// `len` aligned elements at `at` that nobody else reads or writes meanwhile.
#[inline(always)]
pub unsafe fn target<'a, T>(at: *mut u8, len: usize) -> &'a mut [T] {
    // SAFETY: by the contract above; every element type is valid for any bytes.
    unsafe { std::slice::from_raw_parts_mut(at.cast(), len) }
}

impl<F: Unary<A, R>, A: Copy, R> Source for Map1<F, A, R> {
    type Args = Tile;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(t: Tile) {
        // SAFETY: the contract of `TileFn`.
        let (x, out) = unsafe { (operand::<A>(t.args[0], t.len), target::<R>(t.out, t.len)) };
        for (o, &x) in out.iter_mut().zip(x) {
            *o = F::apply(x);
        }
    }
}

impl<F: Binary<A, R>, A: Copy, R> Source for Map2<F, A, R> {
    type Args = Tile;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(t: Tile) {
        // SAFETY: the contract of `TileFn`.
        let (x, y, out) =
            unsafe { (operand::<A>(t.args[0], t.len), operand::<A>(t.args[1], t.len), target::<R>(t.out, t.len)) };
        for ((o, &x), &y) in out.iter_mut().zip(x).zip(y) {
            *o = F::apply(x, y);
        }
    }
}

impl<F: Ternary<A, R>, A: Copy, R: Copy> Source for Map3<F, A, R> {
    type Args = Tile;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(t: Tile) {
        // SAFETY: the contract of `TileFn`.
        let (x, y, z, out) = unsafe {
            let len = t.len;
            (
                operand::<A>(t.args[0], len),
                operand::<R>(t.args[1], len),
                operand::<R>(t.args[2], len),
                target::<R>(t.out, len),
            )
        };
        for (((o, &x), &y), &z) in out.iter_mut().zip(x).zip(y).zip(z) {
            *o = F::apply(x, y, z);
        }
    }
}

/// Loop that repeats each element `N` times; `len` counts the results.
pub struct Repeat<T, const N: usize>(PhantomData<T>);

impl<T: Copy, const N: usize> Source for Repeat<T, N> {
    type Args = Tile;
    #[inline(always)]
    unsafe fn run<const FMA: bool>(t: Tile) {
        // SAFETY: the contract of `TileFn`.
        let (x, out) = unsafe { (operand::<T>(t.args[0], t.len.div_ceil(N)), target::<T>(t.out, t.len)) };
        let (groups, rest) = out.as_chunks_mut::<N>();
        for (group, &x) in groups.iter_mut().zip(x) {
            *group = [x; N];
        }
        if let Some(&x) = x.last() {
            rest.fill(x);
        }
    }
}

macro_rules! unary {
    ($($name:ident: $bound:ident $method:ident;)*) => {$(
        #[doc = concat!("`", stringify!($method), "` of one value.")]
        pub struct $name;
        impl<T: Item<Value: $bound>> Unary<T, T> for $name {
            #[inline(always)]
            fn apply(x: T) -> T { T::store($bound::$method(x.load())) }
        }
    )*};
}
unary! {
    Neg: Arithmetic neg;
    Abs: Real abs;
    Sqrt: Float sqrt;
    Floor: Float floor;
    Ceil: Float ceil;
    Round: Float round;
    Trunc: Float trunc;
    Not: Bits not;
}

macro_rules! binary {
    ($($name:ident: $bound:ident $method:ident;)*) => {$(
        #[doc = concat!("`", stringify!($method), "` of two values.")]
        pub struct $name;
        impl<T: Item<Value: $bound>> Binary<T, T> for $name {
            #[inline(always)]
            fn apply(x: T, y: T) -> T { T::store($bound::$method(x.load(), y.load())) }
        }
    )*};
}
binary! {
    Add: Number add;
    Mul: Number mul;
    Sub: Arithmetic sub;
    Div: Arithmetic div;
    Rem: Real rem;
    Gcd: Whole gcd;
    And: Bits and;
    Or: Bits or;
    Xor: Bits xor;
    Shl: Shift shl;
    Shr: Shift shr;
    MulHigh: MulHi mul_hi;
}

macro_rules! extremes {
    ($($name:ident: $method:ident $number:ident |$x:ident, $y:ident| $first:expr;)*) => {$(
        #[doc = concat!("`", stringify!($method), "` of two values.")]
        pub struct $name;
        impl<T: Item<Value: Ordered>> Binary<T, T> for $name {
            #[inline(always)]
            fn apply(x: T, y: T) -> T { T::store(x.load().$method(y.load())) }
            #[inline(always)]
            fn quick(x: T, y: T) -> T { T::store(x.load().$number(y.load())) }
            #[inline(always)]
            fn doubtful(x: T) -> bool { x.load().is_nan() }
            const ANY_ORDER: bool = true;
            #[inline(always)]
            fn rough(x: T, y: T) -> T {
                let ($x, $y) = (x.load(), y.load());
                if $first { x } else { y }
            }
            // Of zeros either.
            #[inline(always)]
            fn unclear(x: T) -> bool { T::Value::SIGNED_ZEROS && x.load().same(T::Value::ZERO) }
        }
    )*};
}
extremes! {
    Min: min min_number |x, y| x.less(y);
    Max: max max_number |x, y| y.less(x);
}

macro_rules! compare {
    ($($name:ident: $bound:ident $method:ident;)*) => {$(
        #[doc = concat!("`", stringify!($method), "` of two values, as bool.")]
        pub struct $name;
        impl<T: Item<Value: $bound>> Binary<T, Bool> for $name {
            #[inline(always)]
            fn apply(x: T, y: T) -> Bool { Bool::from($bound::$method(x.load(), y.load())) }
        }
    )*};
}
compare! {
    Eq: Number same;
    Ne: Number differs;
    Lt: Ordered less;
    Le: Ordered less_equal;
}

/// `c ? x : y`, for any type of the right size.
pub struct Select;
impl<R: Copy> Ternary<Bool, R> for Select {
    #[inline(always)]
    fn apply(c: Bool, x: R, y: R) -> R {
        if c.get() { x } else { y }
    }
}

/// `x * y + z`, rounded once, for dtypes narrower than their arithmetic.
pub struct HalfFma;
impl<T: Half> Ternary<T, T> for HalfFma {
    #[inline(always)]
    fn apply(x: T, y: T, z: T) -> T {
        T::fma(x, y, z)
    }
}

/// Value conversion.
pub struct Cast;
impl<A: CastTo<R>, R> Unary<A, R> for Cast {
    #[inline(always)]
    fn apply(x: A) -> R {
        x.cast()
    }
}

/// The imaginary part.
pub struct Imag;
impl<T: Copy> Unary<Complex<T>, T> for Imag {
    #[inline(always)]
    fn apply(x: Complex<T>) -> T {
        x.im
    }
}

/// The complex number of two parts.
pub struct Compose;
impl<T: Copy> Binary<T, Complex<T>> for Compose {
    #[inline(always)]
    fn apply(re: T, im: T) -> Complex<T> {
        Complex::new(re, im)
    }
}

/// The same bits.
pub struct Copied;
impl<T> Unary<T, T> for Copied {
    #[inline(always)]
    fn apply(x: T) -> T {
        x
    }
}

//! The dtypes of operands, and what tiles see of them: floats, or quads (`quads.rs`).

use super::tile::Tiled;
use crate::number::Item;
use ferrotensor_core::element::{Complex, bf16, f16};

/// An element of an operand. A complex number is two floats, of which tiles know nothing: `[re im]` of `a` meets the two rows `[re im]`
/// and `[-im re]` of `b`.
pub trait Stored: Copy + Send + Sync + 'static {
    /// What it is computed in.
    type Real: Tiled;
    /// Floats of an element: 1 or 2.
    const PARTS: usize;
    /// Whether an element is its one float, as tiles read it.
    const PLAIN: bool;
    /// Whether rows and columns may change places: the parts of complex numbers would be added in another order, and tiles of quads know
    /// which operand has a sign.
    const COMMUTES: bool = Self::PARTS == 1;
    /// What holds all of a sum until it is whole.
    type Sum: Stored<Real = Self::Real>;
    /// Whether sums are exact in any order, so that none need be set aside.
    const IS_EXACT: bool = false;
    /// Whether that is more than an element holds.
    const IS_ROUNDED: bool;
    /// Its floats; of one the second is nothing.
    fn parts(self) -> [Self::Real; 2];
    /// The element of these floats.
    fn of(parts: [Self::Real; 2]) -> Self;
}

macro_rules! stored {
    ($($t:ty, $real:ty, $parts:literal, $plain:literal, $sum:ty, $rounded:literal: |$x:ident| $parts_of:expr, |$p:ident| $of:expr;)*) => {$(
        impl Stored for $t {
            type Real = $real;
            const PARTS: usize = $parts;
            const PLAIN: bool = $plain;
            type Sum = $sum;
            const IS_ROUNDED: bool = $rounded;
            #[inline(always)]
            fn parts(self) -> [$real; 2] {
                let $x = self;
                $parts_of
            }
            #[inline(always)]
            fn of($p: [$real; 2]) -> Self {
                $of
            }
        }
    )*};
}
stored! {
    f32, f32, 1, true, f32, false: |x| [x, 0.0], |p| p[0];
    f64, f64, 1, true, f64, false: |x| [x, 0.0], |p| p[0];
    f16, f32, 1, false, f32, true: |x| [x.load(), 0.0], |p| f16::store(p[0]);
    bf16, f32, 1, false, f32, true: |x| [x.load(), 0.0], |p| bf16::store(p[0]);
    Complex<f32>, f32, 2, false, Self, false: |x| [x.re, x.im], |p| Complex::new(p[0], p[1]);
    Complex<f64>, f64, 2, false, Self, false: |x| [x.re, x.im], |p| Complex::new(p[0], p[1]);
}

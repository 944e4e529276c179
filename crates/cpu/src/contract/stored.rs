//! The dtypes of operands, and the floats that tiles see of them.

use super::tile::Float;
use crate::number::Item;
use ferrotensor_core::element::{Complex, bf16, f16};

/// An element of an operand. A complex number is two floats, of which tiles know nothing: `[re im]` of `a` meets the two rows `[re im]`
/// and `[-im re]` of `b`.
pub trait Stored: Copy + Send + Sync + 'static {
    /// What it is computed in.
    type Real: Float;
    /// Floats of an element: 1 or 2.
    const PARTS: usize;
    /// Whether an element is its one float, as tiles read and write it.
    const PLAIN: bool;
    /// Its floats; of one the second is nothing.
    fn parts(self) -> [Self::Real; 2];
    /// The element of these floats.
    fn of(parts: [Self::Real; 2]) -> Self;
}

macro_rules! stored {
    ($($t:ty, $real:ty, $parts:literal, $plain:literal: |$x:ident| $parts_of:expr, |$p:ident| $of:expr;)*) => {$(
        impl Stored for $t {
            type Real = $real;
            const PARTS: usize = $parts;
            const PLAIN: bool = $plain;
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
    f32, f32, 1, true: |x| [x, 0.0], |p| p[0];
    f64, f64, 1, true: |x| [x, 0.0], |p| p[0];
    f16, f32, 1, false: |x| [x.load(), 0.0], |p| f16::store(p[0]);
    bf16, f32, 1, false: |x| [x.load(), 0.0], |p| bf16::store(p[0]);
    Complex<f32>, f32, 2, false: |x| [x.re, x.im], |p| Complex::new(p[0], p[1]);
    Complex<f64>, f64, 2, false: |x| [x.re, x.im], |p| Complex::new(p[0], p[1]);
}

//! The Rust type behind each dtype, and `match_dtype!`, the only place where dtypes become types.

use crate::dtype::DType;

/// A boolean element: one byte, 0 or 1. Any other byte reads as true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Bool(pub u8);

impl Bool {
    /// The value as a Rust `bool`.
    #[inline(always)]
    pub fn get(self) -> bool {
        self.0 != 0
    }
}

impl From<bool> for Bool {
    #[inline(always)]
    fn from(value: bool) -> Self {
        Bool(value as u8)
    }
}

/// A type that can be stored in a tensor.
pub trait Element: bytemuck::Pod + Send + Sync + std::fmt::Debug + PartialEq + 'static {
    /// The dtype of this type.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($t:ty => $d:ident),* $(,)?) => { $(impl Element for $t { const DTYPE: DType = DType::$d; })* };
}

elements! {
    Bool => Bool, i8 => I8, u8 => U8, i16 => I16, u16 => U16, i32 => I32, u32 => U32, i64 => I64, u64 => U64,
    f16 => F16, bf16 => BF16, f32 => F32, f64 => F64, Complex<f32> => C64, Complex<f64> => C128,
}

/// Runs an expression with `$T` bound to the Rust type of a dtype. `only` limits the arms; the rest run `else`.
///
/// ```
/// use ferrotensor_core::{match_dtype, DType};
/// assert_eq!(match_dtype!(DType::F64, T => size_of::<T>()), 8);
/// assert_eq!(match_dtype!(DType::Bool, floats T => size_of::<T>(), else 0), 0);
/// ```
#[macro_export]
macro_rules! match_dtype {
    ($d:expr, $T:ident => $body:expr) => {
        $crate::match_dtype!(@arms $d, $T, $body, (), [
            Bool: $crate::Bool, I8: i8, U8: u8, I16: i16, U16: u16, I32: i32, U32: u32, I64: i64, U64: u64,
            F16: $crate::element::f16, BF16: $crate::element::bf16, F32: f32, F64: f64,
            C64: $crate::element::Complex<f32>, C128: $crate::element::Complex<f64>])
    };
    ($d:expr, reals $T:ident => $body:expr, else $other:expr) => {
        $crate::match_dtype!(@arms $d, $T, $body, (_ => $other), [
            I8: i8, U8: u8, I16: i16, U16: u16, I32: i32, U32: u32, I64: i64, U64: u64,
            F16: $crate::element::f16, BF16: $crate::element::bf16, F32: f32, F64: f64])
    };
    ($d:expr, integers $T:ident => $body:expr, else $other:expr) => {
        $crate::match_dtype!(@arms $d, $T, $body, (_ => $other), [
            I8: i8, U8: u8, I16: i16, U16: u16, I32: i32, U32: u32, I64: i64, U64: u64])
    };
    ($d:expr, floats $T:ident => $body:expr, else $other:expr) => {
        $crate::match_dtype!(@arms $d, $T, $body, (_ => $other), [
            F16: $crate::element::f16, BF16: $crate::element::bf16, F32: f32, F64: f64])
    };
    ($d:expr, halves $T:ident => $body:expr, else $other:expr) => {
        $crate::match_dtype!(@arms $d, $T, $body, (_ => $other), [
            F16: $crate::element::f16, BF16: $crate::element::bf16])
    };
    ($d:expr, native $T:ident => $body:expr, else $other:expr) => {
        $crate::match_dtype!(@arms $d, $T, $body, (_ => $other), [F32: f32, F64: f64])
    };
    (@arms $d:expr, $T:ident, $body:expr, ($($rest:tt)*), [$($v:ident: $t:ty),*]) => {
        match $d { $($crate::DType::$v => { type $T = $t; $body })* $($rest)* }
    };
}

#[doc(hidden)]
pub use half::{bf16, f16};
#[doc(hidden)]
pub use num_complex::Complex;

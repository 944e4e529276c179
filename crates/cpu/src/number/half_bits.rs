//! float16 and bfloat16 from and to float32 in integer and float arithmetic without branches, so that loops vectorise on
//! every tier (`half` asks for processor features at each element). All conversions are exact or round to nearest even.

use ferrotensor_core::element::{bf16, f16};

/// Exact.
#[inline(always)]
pub fn f32_from_f16(x: f16) -> f32 {
    let bits = x.to_bits() as u32;
    let magnitude = (bits & 0x7fff) << 13;
    // Moves the exponent from bias 15 to bias 127; subnormals become normal on the way, exactly.
    let scaled = f32::from_bits(magnitude) * f32::from_bits(0x7780_0000); // 2^112
    let special = f32::from_bits(magnitude | 0x7f80_0000);
    let value = if magnitude >= 0x0f80_0000 { special } else { scaled };
    f32::from_bits(value.to_bits() | (bits & 0x8000) << 16)
}

/// Rounded to nearest even; NaN stays NaN. The method of `fp16_ieee_from_fp32_value` of Maratyszcza's FP16.
#[inline(always)]
pub fn f16_from_f32(x: f32) -> f16 {
    let bits = x.to_bits();
    let doubled = bits.wrapping_add(bits);
    // Overflow becomes infinity by the first factor; the second brings the rest back to a quarter of its size.
    let base = (x.abs() * f32::from_bits(0x7780_0000)) * f32::from_bits(0x0880_0000); // 2^112, 2^-110
    let bias = (doubled & 0xff00_0000).max(0x7100_0000);
    // Adding a power of two that is 2^13 larger rounds the mantissa to float16's length, subnormals too.
    let rounded = (f32::from_bits((bias >> 1) + 0x0780_0000) + base).to_bits();
    let magnitude = ((rounded >> 13) & 0x7c00) + (rounded & 0x0fff);
    let magnitude = if doubled > 0xff00_0000 { 0x7e00 } else { magnitude };
    f16::from_bits((bits >> 16 & 0x8000 | magnitude) as u16)
}

/// Exact.
#[inline(always)]
pub fn f32_from_bf16(x: bf16) -> f32 {
    f32::from_bits((x.to_bits() as u32) << 16)
}

/// Rounded to nearest even; NaN stays NaN.
#[inline(always)]
pub fn bf16_from_f32(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16;
    let quiet = bits >> 16 | 0x40;
    bf16::from_bits(if x.is_nan() { quiet } else { rounded } as u16)
}

/// Float64 to float32 rounded to odd: rounding the result to float16 or bfloat16 then rounds the float64 correctly.
#[inline(always)]
pub fn f32_odd_from_f64(x: f64) -> f32 {
    let near = x as f32;
    let back = near as f64;
    // Towards zero first, then the lowest bit says that something was cut off.
    let cut = near.to_bits().wrapping_sub((back.abs() > x.abs()) as u32) | 1;
    if back == x || x.is_nan() { near } else { f32::from_bits(cut) }
}

//! Error of a result in units in the last place of the exact value. Shared by the tests and `examples/exhaustive.rs`.

/// Error of a float32 against a float64 oracle. Infinity counts as 2^128, a NaN or a zero of the wrong sign as
/// infinite.
pub fn float32(got: f32, want: f64) -> f64 {
    let limit = 2f64.powi(128);
    let finite = |x: f64| if x.is_infinite() { limit.copysign(x) } else { x };
    let want = want.clamp(-limit, limit);
    float64(finite(got as f64), want, 0.0, 23, -126)
}

/// Error of a float32 in the units of numbers of the size of `floor`, which is a normal float32.
#[allow(dead_code)]
pub fn float32_near(got: f32, want: f64, floor: f64) -> f64 {
    if got.is_nan() { f64::INFINITY } else { (got as f64 - want).abs() / unit(floor, 23, -126) }
}

/// The unit in the last place of a normal number.
#[allow(dead_code)]
pub fn unit(x: f64, mantissa: i32, emin: i32) -> f64 {
    libm::scalbn(1.0, libm::ilogb(x).max(emin) - mantissa)
}

/// Error of `got` against hi and `rest` units of hi, for a format with `mantissa` stored bits and the smallest normal
/// exponent `emin`.
pub fn float64(got: f64, hi: f64, rest: f64, mantissa: i32, emin: i32) -> f64 {
    if got.is_nan() || hi.is_nan() {
        return if got.is_nan() && hi.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if got == hi && (got.is_infinite() || rest == 0.0) {
        let same_zero = got != 0.0 || got.is_sign_negative() == hi.is_sign_negative();
        return if same_zero { 0.0 } else { f64::INFINITY };
    }
    // Scaled first: the unit itself may be below the smallest float64.
    let exponent = if hi == 0.0 { emin } else { libm::ilogb(hi).max(emin) };
    let scaled = |x: f64| libm::scalbn(x, mantissa - exponent);
    ((scaled(got) - scaled(hi)) - rest).abs()
}

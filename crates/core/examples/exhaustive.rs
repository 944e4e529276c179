//! Measures every float32 function of one argument on all 2^32 inputs (or every STRIDE-th) against libm's float64, and
//! pow on as many pseudo-random pairs. Fails if an error reaches 1 unit in the last place.
//!
//! `cargo run --release --example exhaustive -p ferrotensor-core [STRIDE]`: about a minute for each function.

use ferrotensor_core::math;
use std::io::Write;
use std::process::ExitCode;

#[path = "../src/math/ulp.rs"]
mod ulp;

/// Largest error of `run` and the input that has it, over the bit patterns 0, stride, ...
fn worst(stride: usize, run: impl Fn(u32) -> f64) -> (f64, u32) {
    let mut worst = (0.0, 0);
    for bits in (0..=u32::MAX).step_by(stride) {
        let error = run(bits);
        if error > worst.0 {
            worst = (error, bits);
        }
    }
    worst
}

fn main() -> ExitCode {
    let stride = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut out = std::io::stdout();
    let mut ok = true;
    let mut report = |name: &str, (error, at): (f64, u32)| {
        ok &= error < 1.0;
        // A closed pipe loses only the printed line; the exit code keeps the verdict.
        let _ = writeln!(out, "{name:8} {error:.4} at {at:#010x} ({:e})", f32::from_bits(at));
    };
    macro_rules! measure {
        ($($name:literal $function:path, $oracle:expr;)*) => {
            $(report($name, worst(stride, |bits| {
                let x = f32::from_bits(bits);
                ulp::float32($function(x), $oracle(x as f64))
            }));)*
        };
    }
    measure! {
        "exp" math::exp, libm::exp;
        "log" math::log, libm::log;
        "tanh" math::tanh, libm::tanh;
        "sigmoid" math::sigmoid, |x: f64| 1.0 / (1.0 + libm::exp(-x));
        "sin" math::sin, libm::sin;
        "cos" math::cos, libm::cos;
        "erf" math::erf, libm::erf;
    }
    report(
        "pow",
        worst(stride, |bits| {
            // Bases around the input's bits, exponents that put most results into range.
            let x = f32::from_bits(bits & 0x7fff_ffff);
            let hash = bits.wrapping_mul(0x9e37_79b9) ^ (bits >> 7);
            let spread = hash as f32 / u32::MAX as f32 * 220.0 - 110.0;
            let y = spread / math::log(x);
            ulp::float32(math::pow(x, y), libm::pow(x as f64, y as f64))
        }),
    );
    if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

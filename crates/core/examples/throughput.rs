//! Measures nanoseconds per element of each function over a tile of 2048 elements, compiled for AVX2 with FMA and for
//! AVX-512 (x86-64 only; a tier the processor lacks is named and left out).
//!
//! `cargo run --release --example throughput -p ferrotensor-core`

use std::io::Write;

/// Prints a line; a closed pipe loses it and nothing else.
fn print(line: std::fmt::Arguments) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

#[cfg(target_arch = "x86_64")]
fn main() {
    use ferrotensor_core::math;
    use std::hint::black_box;
    use std::time::Instant;

    /// Best of 50 times 20 runs over a tile.
    fn time(mut run: impl FnMut()) -> f64 {
        let once = |run: &mut dyn FnMut()| {
            let start = Instant::now();
            (0..20).for_each(|_| run());
            start.elapsed().as_nanos() as f64 / (20.0 * 2048.0)
        };
        (0..50).map(|_| once(&mut run)).fold(f64::INFINITY, f64::min)
    }

    macro_rules! measure {
        ($features:literal, $t:ident: $($name:literal $function:path, $low:expr, $high:expr;)*) => {
            $({
                #[target_feature(enable = $features)]
                fn tile(x: &[$t], y: &mut [$t]) {
                    for (y, &x) in y.iter_mut().zip(x) {
                        *y = $function(x);
                    }
                }
                let x: Vec<$t> = (0..2048).map(|i| $low + ($high - $low) * (i as $t / 2048.0)).collect();
                let mut y = vec![0.0; 2048];
                // SAFETY: `tiers` asked the processor for these features.
                let best = time(|| unsafe { tile(black_box(&x), black_box(&mut y)) });
                print(format_args!("{:14} {} {best:.3} ns/element", $name, stringify!($t)));
            })*
        };
    }
    macro_rules! both {
        ($features:literal, $($rows:tt)*) => {
            measure!($features, f32: $($rows)*);
            measure!($features, f64: $($rows)*);
        };
    }
    macro_rules! tiers {
        ($($tier:literal: $features:literal if $has:expr;)*) => {
            $(if $has {
                print(format_args!("{}", $tier));
                both! { $features,
                    "exp" math::exp, -10.0, 10.0;
                    "exp2" math::exp2, -10.0, 10.0;
                    "expm1" math::expm1, -10.0, 10.0;
                    "log" math::log, 0.1, 1000.0;
                    "log1p" math::log1p, -0.9, 1000.0;
                    "log2" math::log2, 0.1, 1000.0;
                    "log10" math::log10, 0.1, 1000.0;
                    "sin" math::sin, -100.0, 100.0;
                    "sin_moderate" math::sin_moderate, -100.0, 100.0;
                    "cos" math::cos, -100.0, 100.0;
                    "cos_moderate" math::cos_moderate, -100.0, 100.0;
                    "tan" math::tan, -100.0, 100.0;
                    "tan_moderate" math::tan_moderate, -100.0, 100.0;
                    "asin" math::asin, -1.0, 1.0;
                    "acos" math::acos, -1.0, 1.0;
                    "atan" math::atan, -5.0, 5.0;
                    "sinh" math::sinh, -5.0, 5.0;
                    "cosh" math::cosh, -5.0, 5.0;
                    "tanh" math::tanh, -5.0, 5.0;
                    "asinh" math::asinh, -5.0, 5.0;
                    "acosh" math::acosh, 1.0, 5.0;
                    "atanh" math::atanh, -1.0, 1.0;
                    "sigmoid" math::sigmoid, -10.0, 10.0;
                    "cbrt" math::cbrt, -5.0, 5.0;
                    "erf" math::erf, -3.0, 3.0;
                    "erfc" math::erfc, -3.0, 3.0;
                    "erfinv" math::erfinv, -1.0, 1.0;
                    "ndtr" math::ndtr, -3.0, 3.0;
                    "lgamma" math::lgamma, -5.0, 50.0;
                    "digamma" math::digamma, -5.0, 50.0;
                    "gamma" math::gamma, -5.0, 30.0;
                    "i0" math::i0, -30.0, 30.0;
                    "i0e" math::i0e, -30.0, 30.0;
                    "i1" math::i1, -30.0, 30.0;
                    "i1e" math::i1e, -30.0, 30.0;
                    "erfcx" math::erfcx, -3.0, 10.0;
                    "log_ndtr" math::log_ndtr, -30.0, 5.0;
                    "ndtri" math::ndtri, 0.0, 1.0;
                    "pow" pow_self, 0.1, 20.0;
                    "atan2" atan2_self, 0.1, 20.0;
                    "hypot" hypot_self, 0.1, 20.0;
                    "logaddexp" logaddexp_self, 0.1, 20.0;
                    "logaddexp2" logaddexp2_self, 0.1, 20.0;
                }
            } else {
                print(format_args!("{}: not on this processor", $tier));
            })*
        };
    }
    macro_rules! of_one_argument {
        ($($name:ident $function:path;)*) => {
            $(#[inline(always)]
            fn $name<V: math::Real>(x: V) -> V {
                $function(x, x)
            })*
        };
    }
    of_one_argument! {
        pow_self math::pow;
        atan2_self math::atan2;
        hypot_self math::hypot;
        logaddexp_self math::logaddexp;
        logaddexp2_self math::logaddexp2;
    }
    macro_rules! has {
        ($($feature:tt),*) => { true $(&& is_x86_feature_detected!($feature))* };
    }
    tiers! {
        "AVX2": "avx2,fma" if has!("avx2", "fma");
        "AVX-512": "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"
            if has!("avx2", "fma", "avx512f", "avx512bw", "avx512dq", "avx512vl");
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn main() {
    print(format_args!("the tiers measured here are x86-64's"));
}

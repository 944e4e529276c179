//! Measures float32 functions of one argument on all 2^32 inputs against the reference's float64, and keeps the results in
//! golden/exhaustive_f32.txt, where a fast test looks whether they still are about the functions there are.
//!
//! `cargo run --release --example exhaustive -p ferrotensor-core`: measures what is missing, out of date, or only sampled,
//! one to five minutes for a function and a core, and writes the file after each. `-- STRIDE [FUNCTION...]`: samples, the
//! bit patterns 0, STRIDE, 2 STRIDE, ... (an odd stride meets every exponent and every low bit), and prints the lines.

use ferrotensor_core::scalar::MathFn;
use ferrotensor_core::{for_each_math, math, reference};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

#[path = "../src/math/ulp.rs"]
mod ulp;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/exhaustive_f32.txt");
const HEADER: &str = "\
# Largest errors of the float32 functions of one argument. Written by examples/exhaustive.rs (`npm run test:slow`).
# function inputs error at error-in-own-units at fingerprint
# inputs: 4294967296 is all there are, less is a sample. error: in units in the last place of the exact result, or of
# math::resolution where the result is a smaller difference of terms; below 1. error-in-own-units: the same without that
# exception. at: bits of the input. fingerprint: of what was measured.
";

const ALL: u64 = 1 << 32;
const TILE: usize = 4096;

/// Evaluates a tile. Compiled with the instructions the library's own tiers have it is faster, with the same results.
macro_rules! evaluate {
    (unary: $(($one:ident, $f:path)),*; binary: $(($two:ident, $g:path)),*;) => {
        #[inline(always)]
        fn plain(f: MathFn, x: &[f32; TILE], y: &mut [f32; TILE]) {
            match f {
                $(MathFn::$one => (0..TILE).for_each(|i| y[i] = $f(x[i])),)*
                $(MathFn::$two => (0..TILE).for_each(|i| y[i] = $g(x[i], x[i])),)*
            }
        }
    };
}
for_each_math!(evaluate);

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_fma(f: MathFn, x: &[f32; TILE], y: &mut [f32; TILE]) {
    plain(f, x, y);
}

fn evaluate(f: MathFn, x: &[f32; TILE], y: &mut [f32; TILE]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: the processor has the features.
        return unsafe { with_fma(f, x, y) };
    }
    plain(f, x, y);
}

/// An error and the bits of the input that has it.
type Worst = (f64, u32);

/// Keeps the larger error.
fn raise(worst: &mut Worst, new: Worst) {
    if new.0 > worst.0 {
        *worst = new;
    }
}

/// Largest errors over `inputs` bit patterns from the `first`-th on: in units that respect the resolution, and in the
/// results' own.
fn worst(f: MathFn, first: u64, inputs: u64, stride: u64) -> [Worst; 2] {
    let (mut x, mut y) = ([0f32; TILE], [0f32; TILE]);
    let mut worst = [(0.0, 0); 2];
    for start in (0..inputs).step_by(TILE) {
        let bits = |i: usize| ((first + start + i as u64) * stride) as u32;
        (0..TILE).for_each(|i| x[i] = f32::from_bits(bits(i)));
        evaluate(f, &x, &mut y);
        for i in 0..TILE.min((inputs - start) as usize) {
            let want = reference::function(f, x[i] as f64, 0.0);
            // Correctly rounded results, nearly all, change nothing once half a unit has been seen.
            if worst[0].0 >= 0.5 && y[i].to_bits() == (want as f32).to_bits() {
                continue;
            }
            let own = ulp::float32(y[i], want);
            let floor = math::resolution(f, x[i] as f64);
            let error = if want.abs() < floor { ulp::float32_near(y[i], want, floor) } else { own };
            raise(&mut worst[0], (error, bits(i)));
            raise(&mut worst[1], (own, bits(i)));
        }
    }
    worst
}

/// The line of the file for a function, without its end.
fn measure(f: MathFn, stride: u64) -> (String, bool) {
    let total = ALL.div_ceil(stride);
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let share = total.div_ceil(threads);
    let [error, own] = std::thread::scope(|scope| {
        let part = |t: u64| scope.spawn(move || worst(f, t * share, share.min(total.saturating_sub(t * share)), stride));
        let parts: Vec<_> = (0..threads).map(part).collect();
        let lost = [(f64::INFINITY, 0); 2];
        parts.into_iter().map(|p| p.join().unwrap_or(lost)).fold([(0.0, 0); 2], |mut all, part| {
            (0..2).for_each(|i| raise(&mut all[i], part[i]));
            all
        })
    });
    let mut line = format!("{} {total}", f.name());
    for (error, at) in [error, own] {
        // Writing to a string does not fail.
        let _ = write!(line, " {error:.4} {at:#010x}");
    }
    let _ = write!(line, " {:016x}", math::fingerprint(f));
    (line, error.0 < 1.0)
}

/// Brings the file up to date; the closing line is the one the npm scripts read.
fn update(functions: &[MathFn]) -> std::io::Result<ExitCode> {
    let text = std::fs::read_to_string(FILE).unwrap_or_default();
    let old: BTreeMap<&str, &str> =
        text.lines().filter(|l| !l.starts_with('#')).filter_map(|l| Some((l.split(' ').next()?, l))).collect();
    let (mut lines, mut failed) = (BTreeMap::new(), 0);
    for f in functions {
        if let Some(&line) = old.get(f.name()) {
            lines.insert(f.name(), line.to_owned());
        }
    }
    let mut out = std::io::stdout();
    for &f in functions {
        let fields: Vec<&str> = old.get(f.name()).map_or(Vec::new(), |line| line.split(' ').collect());
        let current = fields.get(1) == Some(&ALL.to_string().as_str())
            && fields.last() == Some(&format!("{:016x}", math::fingerprint(f)).as_str());
        if current {
            continue;
        }
        let (line, ok) = measure(f, 1);
        writeln!(out, "{line}")?;
        failed += u32::from(!ok);
        lines.insert(f.name(), line);
        let body: String = lines.values().map(|line| format!("{line}\n")).collect();
        std::fs::write(FILE, format!("{HEADER}{body}"))?;
    }
    writeln!(out, "{} passed, {failed} failed", functions.len() as u32 - failed)?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn main() -> std::io::Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let functions: Vec<MathFn> = MathFn::ALL.iter().copied().filter(|f| f.arity() == 1).collect();
    let Some(stride) = arguments.next() else { return update(&functions) };
    let stride = stride.parse::<u64>().ok().filter(|&s| s > 0).ok_or_else(|| std::io::Error::other("STRIDE is a number"))?;
    let names: Vec<String> = arguments.collect();
    for f in functions.into_iter().filter(|f| names.is_empty() || names.iter().any(|n| n == f.name())) {
        writeln!(std::io::stdout(), "{}", measure(f, stride).0)?;
    }
    Ok(ExitCode::SUCCESS)
}

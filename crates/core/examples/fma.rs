//! Compares the emulated fused multiply-add with the processor's on adversarial operands, a hundred million in each precision.
//!
//! `cargo run --release --example fma -p ferrotensor-core [-- COUNT]`. Needs a processor with the instruction: elsewhere
//! nothing is compared, which is a failure where `EXPECT_ISA` lists a tier that has it.

use ferrotensor_core::math::EmulatedFma;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[path = "../src/math/triples.rs"]
mod triples;
use triples::{DOUBLE, Format, SINGLE, Triples};

const TILE: usize = 1024;

/// A float and the loops over a tile of triples: plain ones, which vectorise as they do in the library's kernels.
trait Checked: EmulatedFma + Default + std::fmt::Debug {
    const FORMAT: Format;
    fn from_u64(bits: u64) -> Self;
    /// Equal bits, or NaN both.
    fn same(self, other: Self) -> bool;
    /// By the instruction.
    ///
    /// # Safety
    /// The processor must have it.
    unsafe fn hardware(xyz: &[[Self; TILE]; 3], out: &mut [Self; TILE]);
}

macro_rules! checked {
    ($($float:ident $bits:ident $format:ident;)*) => {$(
        impl Checked for $float {
            const FORMAT: Format = $format;
            fn from_u64(bits: u64) -> $float {
                $float::from_bits(bits as $bits)
            }
            fn same(self, other: $float) -> bool {
                self.to_bits() == other.to_bits() || self.is_nan() && other.is_nan()
            }
            // On 64-bit ARM the instruction is part of the base.
            #[cfg_attr(target_arch = "x86_64", target_feature(enable = "fma"))]
            unsafe fn hardware([x, y, z]: &[[$float; TILE]; 3], out: &mut [$float; TILE]) {
                (0..TILE).for_each(|i| out[i] = x[i].mul_add(y[i], z[i]));
            }
        }
    )*};
}
checked! { f32 u32 SINGLE; f64 u64 DOUBLE; }

fn has_instruction() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

/// What the tiles of one seed gave.
#[derive(Default)]
struct Counts {
    /// Triples that `quick` was sure of.
    certain: AtomicU64,
    /// Those where it was wrong nevertheless, and those where `exact` was.
    wrong: [AtomicU64; 2],
}

/// Compares `tiles` tiles.
fn compare<F: Checked>(seed: u64, tiles: u64, counts: &Counts) {
    let mut triples = Triples::new(F::FORMAT, seed);
    let mut xyz = [[F::default(); TILE]; 3];
    let (mut want, mut quick, mut in_doubt) = ([F::default(); TILE], [F::default(); TILE], [false; TILE]);
    for _ in 0..tiles {
        (0..TILE).for_each(|i| {
            let bits = triples.next();
            (0..3).for_each(|n| xyz[n][i] = F::from_u64(bits[n]));
        });
        let [x, y, z] = &xyz;
        // SAFETY: `main` asked for the instruction.
        unsafe { F::hardware(&xyz, &mut want) };
        (0..TILE).for_each(|i| (quick[i], in_doubt[i]) = F::quick(x[i], y[i], z[i]));
        for i in 0..TILE {
            counts.certain.fetch_add(!in_doubt[i] as u64, Relaxed);
            let quick = !in_doubt[i] && !quick[i].same(want[i]);
            let exact = !F::exact(x[i], y[i], z[i]).same(want[i]);
            for (n, wrong) in [quick, exact].into_iter().enumerate() {
                // The first few are shown.
                if wrong && counts.wrong[n].fetch_add(1, Relaxed) < 5 {
                    let (way, xyz) = (["quick", "exact"][n], [x[i], y[i], z[i]]);
                    let _ = writeln!(std::io::stdout(), "{way} is wrong: {xyz:?} give {:?}", want[i]);
                }
            }
        }
    }
}

/// Compares `quick` and `exact` in one precision and prints what was found: how many of the two never erred, how many did.
fn check<F: Checked>(name: &str, count: u64) -> std::io::Result<[u64; 2]> {
    let start = std::time::Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let tiles = count.div_ceil(TILE as u64 * threads);
    let counts = Counts::default();
    std::thread::scope(|scope| {
        for seed in 0..threads {
            let counts = &counts;
            scope.spawn(move || compare::<F>(seed << 32 | F::FORMAT.mantissa as u64, tiles, counts));
        }
    });
    let [quick, exact] = counts.wrong.map(AtomicU64::into_inner);
    writeln!(
        std::io::stdout(),
        "{name}: {} triples, {} beyond doubt, {quick} of them wrong; {exact} of the exact results wrong; {:.0} s",
        tiles * threads * TILE as u64,
        counts.certain.into_inner(),
        start.elapsed().as_secs_f64()
    )?;
    let failed = u64::from(quick > 0) + u64::from(exact > 0);
    Ok([2 - failed, failed])
}

fn main() -> std::io::Result<ExitCode> {
    let count = match std::env::args().nth(1) {
        Some(count) => count.parse().map_err(|_| std::io::Error::other("COUNT is a number"))?,
        None => 100_000_000,
    };
    let expected = std::env::var("EXPECT_ISA").unwrap_or_default().split(',').any(|tier| tier.starts_with("avx"));
    let [passed, failed] = if has_instruction() {
        let ([a, b], [c, d]) = (check::<f32>("float32", count)?, check::<f64>("float64", count)?);
        [a + c, b + d]
    } else {
        writeln!(std::io::stdout(), "note: this processor has no fused multiply-add to compare with")?;
        [0, u64::from(expected)]
    };
    writeln!(std::io::stdout(), "{passed} passed, {failed} failed")?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

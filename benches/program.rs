//! What a program of additions on 4 elements costs inside the engine: planned for the first time, and repeated (look-up,
//! admission, one fused launch, handle). `cargo bench -p ferrotensor-engine`; times are medians, read them as ratios.
//!
//! With the name of one of `REPEATED` and a number it does nothing but that, so many times: `scripts/instructions.mjs` counts
//! the instructions.

#![allow(clippy::print_stdout, reason = "a bench reports to the terminal")]

mod chain;

use chain::Chain;
use ferrotensor_core::{Error, Result};
use ferrotensor_engine::{Config, Engine};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Enough for a median that repeats within a few per cent.
const TIME: Duration = Duration::from_millis(500);

/// The median of `f`'s own measurements.
fn median(mut f: impl FnMut() -> Result<Duration>) -> Result<Duration> {
    let (start, mut times) = (Instant::now(), Vec::new());
    while start.elapsed() < TIME {
        times.push(f()?);
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

fn timed(chain: &mut Chain) -> Result<Duration> {
    let start = Instant::now();
    chain.run()?;
    Ok(start.elapsed())
}

/// Additions of a counted program.
const COUNTED: i32 = 32;

/// Something done again and again.
type Repeated = fn(&Arc<Engine>, usize) -> Result<()>;

/// What is counted: a program decoded and scheduled; one that is found, with the one launch it is fused to; and one of 32 launches.
const REPEATED: [(&str, Repeated); 3] = [
    ("decode", |engine, times| (0..times).try_for_each(|_| Chain::new(engine, COUNTED)?.run())),
    ("lookup", |engine, times| repeated(engine, true, times)),
    ("dispatch", |engine, times| repeated(engine, false, times)),
];

fn repeated(engine: &Arc<Engine>, fusion: bool, times: usize) -> Result<()> {
    let mut chain = Chain::new(engine, COUNTED)?;
    chain.session.set_config(Config { fusion, ..Config::default() });
    (0..times).try_for_each(|_| chain.run())
}

fn main() -> Result<()> {
    let engine = chain::engine();
    let args: Vec<String> = std::env::args().collect();
    if let [_, name, times] = args.as_slice()
        && let Some((_, work)) = REPEATED.iter().find(|(known, _)| known == name)
    {
        let times = times.parse().map_err(|_| Error::argument(format!("{times}: how many times?")))?;
        return work(&engine, times);
    }
    println!("additions   planned and run   repeated");
    for count in [1, 32, 256] {
        let first = median(|| timed(&mut Chain::new(&engine, count)?))?;
        let mut chain = Chain::new(&engine, count)?;
        let again = median(|| timed(&mut chain))?;
        println!("{count:9} {first:>17.2?} {again:>10.2?}");
    }
    Ok(())
}

//! Threads: one pool of our own, made when first needed, behind [`parallel_for`].
//!
//! Work is cut into chunks by its estimated cost alone, never by the number of threads, so a kernel that keeps its chunks
//! apart gives the same bits on any number of them.

mod pool;

use ferrotensor_core::error::Result;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Estimated nanoseconds of a chunk: long enough that claiming one is free, short enough that the last one is not waited for.
pub const GRAIN: u32 = 30_000;
/// Chunks' worth of work from which it is shared: where workers sleep, below it the caller is done before they have woken.
const COLD: f64 = 4.0;
/// The same where a worker is awake; jobs of between that follow each other closely wake workers for the next ones.
const HOT: f64 = 0.25;
/// Chunks a hot job is cut into, unless they would be longer than the grain.
const CHUNKS: f64 = 8.0;
// Interpreted, whatever can be shared is, so that small operands show races.
static GRAIN_NOW: AtomicU32 = AtomicU32::new(if cfg!(miri) { 1 } else { GRAIN });

/// Threads wanted, the caller included; 0: as many as there are at first.
static WANTED: AtomicUsize = AtomicUsize::new(0);

/// Threads used for one kernel, the caller included.
pub fn threads() -> usize {
    match WANTED.load(Ordering::Relaxed) {
        0 => initial().as_ref().map_or(1, |n| *n),
        wanted => wanted,
    }
}

/// Sets the number of threads, the caller included; 0 is taken as 1. Work that is running keeps its threads.
pub fn set_threads(n: usize) {
    WANTED.store(n.max(1), Ordering::Relaxed);
}

/// Sets the estimated nanoseconds of a chunk. With fewer than [`GRAIN`] sharing costs more than it saves, and small operands have the
/// seams and the races of large ones: for tests.
pub fn set_grain(nanos: u32) {
    GRAIN_NOW.store(nanos.max(1), Ordering::Relaxed);
}

/// Estimated nanoseconds of a chunk, now.
pub fn grain() -> u32 {
    GRAIN_NOW.load(Ordering::Relaxed)
}

/// `FERROTENSOR_THREADS`, otherwise as many as this process may use.
///
/// # Errors
/// A sentence when the variable is not a positive integer.
pub fn initial() -> &'static Result<usize, String> {
    static INITIAL: OnceLock<Result<usize, String>> = OnceLock::new();
    INITIAL.get_or_init(|| match std::env::var("FERROTENSOR_THREADS") {
        Ok(text) if !text.is_empty() => match text.parse() {
            Ok(n) if n > 0 => Ok(n),
            _ => Err(format!("FERROTENSOR_THREADS={text}: expected a positive integer")),
        },
        _ => Ok(std::thread::available_parallelism().map_or(1, |n| n.get())),
    })
}

/// Runs `work` on this thread and on some of the pool's.
#[cfg(not(miri))]
fn share(helpers: usize, wake: bool, work: &(dyn Fn() + Sync)) {
    pool::share(helpers, wake, work);
}

/// The same on threads of its own: Miri takes it for an error when threads outlive the main one.
#[cfg(miri)]
fn share(helpers: usize, _: bool, work: &(dyn Fn() + Sync)) {
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|| pool::alone(work));
        }
        work();
    });
}

/// Runs `body` over `0..items` in ranges, on several threads where `nanos` per item make it worthwhile.
///
/// # Errors
/// The error of the first range, in item order, that failed among those that ran; later ranges may be left out.
pub fn parallel_for(items: usize, nanos: f64, body: &(dyn Fn(Range<usize>) -> Result<()> + Sync)) -> Result<()> {
    let grain = f64::from(grain());
    let total = items as f64 * nanos;
    if items <= 1 || total < HOT * grain || pool::is_worker() {
        return body(0..items);
    }
    let chunk = ((grain.min(total / CHUNKS) / nanos).ceil() as usize).clamp(1, items);
    let chunks = items.div_ceil(chunk);
    let helpers = (threads() - 1).min(chunks - 1);
    let long = total >= COLD * grain;
    if helpers == 0 {
        return body(0..items);
    }
    if cfg!(not(miri)) {
        if !long && !pool::is_awake() {
            pool::expect_more(helpers);
            return body(0..items);
        }
        if pool::hire(helpers) == 0 {
            return body(0..items);
        }
    }
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, _)>> = Mutex::new(None);
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= chunks {
                return;
            }
            if let Err(error) = body(at * chunk..((at + 1) * chunk).min(items)) {
                let mut first = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(earlier, _)| at < *earlier) {
                    *first = Some((at, error));
                }
                next.store(chunks, Ordering::Relaxed);
            }
        }
    };
    share(helpers, long, &work);
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

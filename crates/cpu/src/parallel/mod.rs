//! Threads: one pool of our own, made when first needed, behind [`parallel_for`].
//!
//! Where work is cut depends on its estimated cost and the number of threads: a kernel gives the same bits wherever that is.

pub mod pool;

use ferrotensor_core::error::Result;
use ferrotensor_core::planted;
use smallvec::SmallVec;
use std::cell::Cell;
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

/// Estimated nanoseconds from which work is shared while a worker is awake.
pub fn least() -> f64 {
    HOT * f64::from(grain())
}

/// `FERROTENSOR_THREADS`, otherwise one for each core that this process may use: two on one core share the units that kernels keep busy.
///
/// # Errors
/// A sentence when the variable is not a positive integer.
pub fn initial() -> &'static Result<usize, String> {
    static INITIAL: OnceLock<Result<usize, String>> = OnceLock::new();
    INITIAL.get_or_init(|| match std::env::var("FERROTENSOR_THREADS") {
        Ok(text) if !text.is_empty() => match text.parse() {
            Ok(n) if n > 0 && !planted::is("number-of-threads-is-ignored") => Ok(n),
            Ok(n) if n > 0 => Ok(1),
            _ => Err(format!("FERROTENSOR_THREADS={text}: expected a positive integer")),
        },
        // The first follows affinity and the quota of a container, the second knows which processors are one core.
        _ => Ok(std::thread::available_parallelism().map_or(1, |n| n.get()).min(cores())),
    })
}

/// Cores of this machine. Miri has no files to read it from.
fn cores() -> usize {
    if cfg!(miri) { usize::MAX } else { num_cpus::get_physical().max(1) }
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
        for number in 1..=helpers {
            scope.spawn(move || pool::alone(number, work));
        }
        work();
    });
}

/// Where the `i`-th of so many nearly equal parts begins, the longer ones spread among the others: `i * len / parts`, also where that
/// product has no place.
pub fn start(i: usize, parts: usize, len: usize) -> usize {
    i * (len / parts) + i * (len % parts) / parts
}

/// Chunks of a job, a stretch of them for each thread, which helps with the others' when its own is done: the same thread meets the
/// same elements in each of the kernels of a program, and in the next call, in a cache of its own.
pub struct Stretches {
    /// The next chunk of each, in lines of the cache of their own.
    next: SmallVec<[Line; 4]>,
    chunks: usize,
}

#[repr(align(128))]
struct Line(AtomicUsize);

impl Stretches {
    /// `chunks` in `count` stretches.
    pub fn new(chunks: usize, count: usize) -> Stretches {
        Stretches { next: (0..count).map(|n| Line(AtomicUsize::new(start(n, count, chunks)))).collect(), chunks }
    }

    /// Claims chunks until there are none, those of stretch `own` (of any number) first.
    pub fn each(&self, own: usize, mut body: impl FnMut(usize)) {
        let count = self.next.len();
        for n in (0..count).map(|n| (own + n) % count) {
            let end = start(n + 1, count, self.chunks);
            loop {
                let at = self.next[n].0.fetch_add(1, Ordering::Relaxed);
                if at >= end {
                    break;
                }
                body(at);
            }
        }
    }

    /// Leaves nothing to claim.
    pub fn end(&self) {
        self.next.iter().for_each(|next| next.0.store(self.chunks, Ordering::Relaxed));
    }
}

thread_local! {
    static UNSHARED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, in which this thread shares nothing with others: it does its part of a job already.
pub fn unshared<R>(work: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            UNSHARED.set(self.0);
        }
    }
    let _before = Before(UNSHARED.replace(true));
    work()
}

/// Runs `body` over `0..items` in ranges, on several threads where `nanos` per item make it worthwhile.
///
/// # Errors
/// The error of the first range, in item order, that failed among those that ran; later ranges may be left out.
pub fn parallel_for(items: usize, nanos: f64, body: &(dyn Fn(Range<usize>) -> Result<()> + Sync)) -> Result<()> {
    let grain = f64::from(grain());
    let total = items as f64 * nanos;
    if items <= 1 || total < HOT * grain || pool::is_worker() || UNSHARED.get() {
        return body(0..items);
    }
    let chunk = ((grain.min(total / CHUNKS) / nanos).ceil() as usize).clamp(1, items);
    let helpers = (threads() - 1).min(items.div_ceil(chunk) - 1);
    // As many for each thread, of one size but for an item: a chunk that another thread takes this time than last time comes out of that
    // one's cache, which takes longer than computing it (exp of 10^5 float32 on Golden Cove: 4.5 us a chunk instead of 2.7).
    let chunks = items.div_ceil(chunk).next_multiple_of(helpers + 1).min(items);
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
    let failed: Mutex<Option<(usize, _)>> = Mutex::new(None);
    let stretches = Stretches::new(chunks, helpers + 1);
    let work = || {
        stretches.each(pool::number(), |at| {
            if let Err(error) = body(start(at, chunks, items)..start(at + 1, chunks, items)) {
                let mut first = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(earlier, _)| at < *earlier) {
                    *first = Some((at, error));
                }
                stretches.end();
            }
        });
    };
    share(helpers, long, &work);
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

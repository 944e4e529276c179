//! Threads: one pool of our own, made when first needed, behind [`parallel_for`].
//!
//! Work is cut into chunks by its estimated cost alone, never by the number of threads, so a kernel that keeps its chunks
//! apart gives the same bits on any number of them.

use ferrotensor_core::error::Result;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Estimated nanoseconds of a chunk: long enough that claiming one is free, short enough that the last one is not waited for.
pub const GRAIN: u32 = 30_000;
// Waking a parked worker costs 20-50 us: below so many chunks the caller is done before help arrives.
const SHARED_FROM: f64 = 4.0;
// Interpreted, whatever can be shared is, so that small operands show races.
static GRAIN_NOW: AtomicU32 = AtomicU32::new(if cfg!(miri) { 1 } else { GRAIN });

/// Workers beside the caller; none while one thread is wanted.
struct Pool {
    threads: usize,
    workers: Option<Arc<ThreadPool>>,
}

impl Pool {
    /// Threads wanted, the caller included.
    fn wanted(&self) -> usize {
        if self.threads > 0 { self.threads } else { initial().as_ref().map_or(1, |n| *n) }
    }
}

static POOL: Mutex<Pool> = Mutex::new(Pool { threads: 0, workers: None });

fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    // A worker that starts parallel work runs it alone: all cores are busy already.
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// Threads used for one kernel, the caller included.
pub fn threads() -> usize {
    pool().wanted()
}

/// Sets the number of threads, the caller included; 0 is taken as 1. Work that is running keeps its threads.
pub fn set_threads(n: usize) {
    *pool() = Pool { threads: n.max(1), workers: None };
}

/// Sets the estimated nanoseconds of a chunk. With fewer than [`GRAIN`] sharing costs more than it saves, and small operands have the
/// seams and the races of large ones: for tests.
pub fn set_grain(nanos: u32) {
    GRAIN_NOW.store(nanos.max(1), Ordering::Relaxed);
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

/// The pool's workers (one less than the threads), or `None` for one thread or where the system refuses threads.
fn workers() -> Option<(usize, Arc<ThreadPool>)> {
    let mut pool = pool();
    let count = pool.wanted() - 1;
    if count == 0 {
        return None;
    }
    #[cfg(feature = "fault")]
    if pool.workers.is_none() && crate::fault::THREADS.strikes() {
        return None;
    }
    if pool.workers.is_none() {
        let built = ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|i| format!("ferrotensor-cpu-{i}"))
            .start_handler(|_| IS_WORKER.set(true))
            .build();
        pool.workers = built.ok().map(Arc::new);
    }
    pool.workers.clone().map(|w| (count, w))
}

/// Runs `work` on this thread and on some of the pool's.
#[cfg(not(miri))]
fn share(pool: &ThreadPool, helpers: usize, work: &(dyn Fn() + Sync)) {
    pool.in_place_scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|_| work());
        }
        work();
    });
}

/// The same on threads of its own: Miri takes the end of rayon's scope for an error, as a job's closure is still an argument of a
/// function that has not returned (rayon#952).
#[cfg(miri)]
fn share(_: &ThreadPool, helpers: usize, work: &(dyn Fn() + Sync)) {
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(|| {
                IS_WORKER.set(true);
                work();
            });
        }
        work();
    });
}

/// Runs `body` over `0..items` in ranges, on several threads where `nanos` per item make it worthwhile.
///
/// # Errors
/// The error of the first range, in item order, that failed among those that ran; later ranges may be left out.
pub fn parallel_for(items: usize, nanos: f64, body: &(dyn Fn(Range<usize>) -> Result<()> + Sync)) -> Result<()> {
    let grain = f64::from(GRAIN_NOW.load(Ordering::Relaxed));
    if items <= 1 || items as f64 * nanos < SHARED_FROM * grain || IS_WORKER.get() {
        return body(0..items);
    }
    let Some((helpers, pool)) = workers() else { return body(0..items) };
    let chunk = ((grain / nanos).ceil() as usize).clamp(1, items);
    let chunks = items.div_ceil(chunk);
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
    share(&pool, helpers.min(chunks - 1), &work);
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

//! Worker threads that help whoever has a job: the caller works itself and never waits for a worker that has not begun.
//!
//! A job stands in one of a few slots. Workers look into them for a while after each job, as the next one comes soon or not at all, and
//! then sleep: joining a job costs 0.1 to 0.4 us while they look, 20 to 50 us when they sleep.

use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Jobs at the same time that may have help; further ones are done alone.
pub const SLOTS: usize = 8;
/// How long a worker looks for the next job. Longer, and a process that is idle between jobs keeps cores busy that others want.
pub const LOOKING: Duration = Duration::from_micros(150);
/// How long a caller waits for workers that have begun before it gives its core away meanwhile.
const WAITING: Duration = Duration::from_micros(20);

/// How long nobody asks for a thread after the system refused one.
const PATIENCE: Duration = Duration::from_millis(100);

/// A job's work: claims parts until there are none.
type Work<'a> = &'a (dyn Fn() + Sync + 'a);

// The state of a slot: whether workers may come in, how many more, and how many are inside.
const OPEN: u32 = 1 << 31;
const PERMIT: u32 = 1 << 16;
const INSIDE: u32 = PERMIT - 1;

/// In lines of the cache of its own: workers look into all slots, callers write to theirs.
#[repr(align(128))]
struct Slot {
    taken: AtomicBool,
    state: AtomicU32,
    work: UnsafeCell<Option<Work<'static>>>,
    /// Of the first worker that panicked.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

// SAFETY: `work` is written by who took the slot while it is not open and nobody is inside, and read by those inside.
unsafe impl Sync for Slot {}

impl Slot {
    const fn new() -> Slot {
        Slot {
            taken: AtomicBool::new(false),
            state: AtomicU32::new(0),
            work: UnsafeCell::new(None),
            panic: Mutex::new(None),
        }
    }

    /// Whether a worker may come in.
    fn is_open(&self) -> bool {
        let state = self.state.load(SeqCst);
        state & OPEN != 0 && (state & !OPEN) >= PERMIT
    }

    /// Helps with the job, if it is open; whether it was.
    fn help(&self) -> bool {
        let enter = |state: u32| (state & OPEN != 0 && (state & !OPEN) >= PERMIT).then(|| state - PERMIT + 1);
        if self.state.fetch_update(SeqCst, SeqCst, enter).is_err() {
            return false;
        }
        // SAFETY: written before the slot was opened, and not again before this worker has left.
        let work = unsafe { *self.work.get() };
        if let Some(Err(panic)) = work.map(|work| catch_unwind(AssertUnwindSafe(work))) {
            let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            match *first {
                None => *first = Some(panic),
                // To drop it might panic again, and the caller would wait for this worker for ever.
                Some(_) => std::mem::forget(panic),
            }
        }
        self.state.fetch_sub(1, SeqCst);
        true
    }
}

static JOBS: [Slot; SLOTS] = [const { Slot::new() }; SLOTS];

/// Workers there are.
static HIRED: AtomicUsize = AtomicUsize::new(0);
/// Held while workers are made: when the system refused one.
static REFUSED: Mutex<Option<Instant>> = Mutex::new(None);
/// Workers that look for a job or help with one, and those that sleep.
static AWAKE: AtomicUsize = AtomicUsize::new(0);
static SLEEPING: AtomicUsize = AtomicUsize::new(0);
/// How many workers shall get up though no job waits for them.
static BED: Mutex<usize> = Mutex::new(0);
static BELL: Condvar = Condvar::new();
/// Microseconds from the first job that woke nobody to the last one.
static SHORT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// Workers from 1 on; 0 for every other thread.
pub fn number() -> usize {
    NUMBER.get()
}

/// Whether this thread helps with somebody's job: it does its own work alone, as all cores are busy already.
pub fn is_worker() -> bool {
    number() > 0
}

/// Whether a worker is awake.
pub fn is_awake() -> bool {
    AWAKE.load(SeqCst) > 0
}

/// Told of each job that is too short to wait for sleepers: where such jobs follow each other closely, it wakes so many workers for the
/// next ones.
pub fn expect_more(helpers: usize) {
    static START: OnceLock<Instant> = OnceLock::new();
    let now = START.get_or_init(Instant::now).elapsed().as_micros() as u64;
    let before = SHORT.swap(now, SeqCst);
    if now.saturating_sub(before) <= LOOKING.as_micros() as u64 && hire(helpers) > 0 {
        let sleeping = helpers.min(SLEEPING.load(SeqCst));
        *BED.lock().unwrap_or_else(PoisonError::into_inner) = sleeping;
        (0..sleeping).for_each(|_| BELL.notify_one());
    }
}

/// Makes there be so many workers, as far as the system has threads; how many there are.
pub fn hire(count: usize) -> usize {
    // Workers live as long as the process: each job meets the refusal that only the first one could.
    #[cfg(feature = "fault")]
    if crate::fault::THREADS.strikes() {
        return 0;
    }
    let known = HIRED.load(SeqCst);
    if known >= count {
        return known;
    }
    let mut refused = REFUSED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut hired = HIRED.load(SeqCst);
    while hired < count && refused.is_none_or(|at| at.elapsed() >= PATIENCE) {
        let name = format!("ferrotensor-cpu-{hired}");
        let number = hired + 1;
        if std::thread::Builder::new().name(name).spawn(move || serve(number)).is_err() {
            *refused = Some(Instant::now());
            break;
        }
        hired = number;
        HIRED.store(hired, SeqCst);
    }
    hired
}

/// Work as a worker does it, on a thread of the caller's.
#[cfg(miri)]
pub fn alone(number: usize, work: Work) {
    NUMBER.set(number);
    work();
}

/// A worker's life.
fn serve(number: usize) {
    NUMBER.set(number);
    loop {
        AWAKE.fetch_add(1, SeqCst);
        let mut since = Instant::now();
        while since.elapsed() < LOOKING {
            if JOBS.iter().any(Slot::help) {
                since = Instant::now();
            }
            std::hint::spin_loop();
        }
        AWAKE.fetch_sub(1, SeqCst);
        let mut bed = BED.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever opens a job looks here afterwards, and this worker at the jobs: one of them sees the other.
        SLEEPING.fetch_add(1, SeqCst);
        while *bed == 0 && !JOBS.iter().any(Slot::is_open) {
            bed = BELL.wait(bed).unwrap_or_else(PoisonError::into_inner);
        }
        *bed = bed.saturating_sub(1);
        SLEEPING.fetch_sub(1, SeqCst);
    }
}

/// Runs `work` on this thread and, as they come, on at most so many workers; returns when nobody is inside any more. `wake`: sleepers too.
///
/// # Panics
/// As `work` does on any thread.
pub fn share(helpers: usize, wake: bool, work: Work) {
    let Some(slot) = JOBS.iter().find(|slot| !slot.taken.swap(true, SeqCst)) else { return work() };
    // SAFETY: the slot is ours and nobody is inside; the work outlives them, as they are waited for below.
    unsafe { *slot.work.get() = Some(std::mem::transmute::<Work<'_>, Work<'static>>(work)) };
    let permits = helpers.min(u16::MAX as usize / 2) as u32 * PERMIT;
    slot.state.store(OPEN | permits, SeqCst);
    if wake && SLEEPING.load(SeqCst) > 0 {
        drop(BED.lock().unwrap_or_else(PoisonError::into_inner));
        (0..helpers.min(SLEEPING.load(SeqCst))).for_each(|_| BELL.notify_one());
    }
    let own = catch_unwind(AssertUnwindSafe(work));
    slot.state.fetch_and(INSIDE, SeqCst);
    let since = Instant::now();
    while slot.state.load(SeqCst) & INSIDE != 0 {
        if since.elapsed() < WAITING { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
    let theirs = slot.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
    slot.taken.store(false, SeqCst);
    if let Some(panic) = own.err().or(theirs) {
        resume_unwind(panic);
    }
}

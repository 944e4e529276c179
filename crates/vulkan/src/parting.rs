//! The end of the process: `exit` destroys what a driver made for itself while its threads and ours may still use it, which ended
//! in a segmentation fault in one of ten processes with work under way (Mesa 22.3). So the last thing done before is to keep
//! everybody from the driver, and to wait for what it still computes.

use crate::timeline::Timeline;
use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, Weak};
use std::time::{Duration, Instant};

/// How long is waited for work that nobody will read: a submission takes 100 ms at most, and 16 of them may be under way.
const PATIENCE: Duration = Duration::from_secs(5);

/// Held for reading while a driver is called, for writing from the end on.
static DOOR: RwLock<()> = RwLock::new(());

/// Whether the end has begun and waits for those inside.
static ENDS: AtomicBool = AtomicBool::new(false);

static OPENED: Mutex<Vec<Weak<Timeline>>> = Mutex::new(Vec::new());

thread_local! {
    /// How often this thread is inside.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Whether this thread began the end.
    static PARTED: Cell<bool> = const { Cell::new(false) };
    #[cfg(target_os = "linux")]
    static LEAVING: Leaving = const { Leaving };
}

/// The main thread's is dropped before `exit` runs anything else. What `atexit` was told last it runs first, and a driver tells it
/// something whenever it first needs an object of its own: a validation layer's were gone before our turn, in two of six runs under
/// the eyes of a thread inside.
#[cfg(target_os = "linux")]
struct Leaving;

#[cfg(target_os = "linux")]
impl Drop for Leaving {
    fn drop(&mut self) {
        // SAFETY: neither takes anything or fails.
        let main = unsafe { libc::gettid() == libc::getpid() };
        if main {
            part();
        }
    }
}

/// Has the end of the process begin when this thread ends, if it is the main thread.
pub fn begin_with_this_thread() {
    #[cfg(target_os = "linux")]
    // Gone already in the destructors of a thread: nothing to do.
    let _ = LEAVING.try_with(|_| ());
}

/// Somebody who may call a driver.
pub struct Inside {
    /// Of the outermost of a thread's.
    _guard: Option<RwLockReadGuard<'static, ()>>,
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Lets the caller in to the driver until what is returned is dropped. From the end of the process on nobody comes back from here,
/// but the thread that ends it: with nothing.
pub fn enter() -> Option<Inside> {
    if PARTED.get() {
        return None;
    }
    begin_with_this_thread();
    let guard = (DEPTH.get() == 0).then(|| DOOR.read().unwrap_or_else(PoisonError::into_inner));
    DEPTH.set(DEPTH.get() + 1);
    Some(Inside { _guard: guard })
}

/// An object of a driver that goes wherever the last handle of a tensor or a kernel is dropped: it is given back among those inside.
pub struct Given<T>(ManuallyDrop<T>);

impl<T> Given<T> {
    /// To be given back one day.
    pub fn new(object: T) -> Given<T> {
        Given(ManuallyDrop::new(object))
    }
}

impl<T> Deref for Given<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for Given<T> {
    fn drop(&mut self) {
        if let Some(_inside) = enter() {
            // SAFETY: dropped here only, and not used after.
            unsafe { ManuallyDrop::drop(&mut self.0) };
        }
    }
}

/// Whether whoever waits for a device is to come back at once, and to begin nothing new: the end of the process waits for them. A batch
/// of heavy launches would else be submitted to its last one first, while nobody is left to read it.
pub fn ends() -> bool {
    ENDS.load(Ordering::Acquire)
}

/// Waits for what is under way on a device, but not for ever; whether it came to its end.
pub fn settle(timeline: &Timeline) -> bool {
    // There is nobody to tell: a device that was lost has nothing to end.
    timeline.wait(timeline.last(), Some(Instant::now() + PATIENCE)) == Ok(true)
}

/// Has the end of the process wait for a device. To be called when the driver has computed something: what it made for itself
/// until then is destroyed after our turn, in the order `atexit` defines.
pub fn attend(timeline: &Arc<Timeline>) {
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    opened.retain(|o| o.strong_count() > 0);
    opened.push(Arc::downgrade(timeline));
    // On Windows other threads are dead by then, maybe holding locks: nothing may be waited for.
    #[cfg(unix)]
    {
        static REGISTERED: std::sync::Once = std::sync::Once::new();
        // SAFETY: the function lives as long as this module does, which is as long as `exit` may call it.
        REGISTERED.call_once(|| unsafe {
            // Refused only for want of memory, which leaves things as they were.
            let _ = libc::atexit(part);
        });
    }
}

/// Runs when the process ends; the second time on a thread it does nothing.
#[cfg(unix)]
extern "C" fn part() {
    // Whoever ends the process from inside a driver would wait for itself.
    if PARTED.replace(true) || DEPTH.get() > 0 {
        return;
    }
    ENDS.store(true, Ordering::Release);
    let closed = DOOR.write();
    // Nobody else is inside, and what follows waits.
    ENDS.store(false, Ordering::Release);
    let opened = std::mem::take(&mut *OPENED.lock().unwrap_or_else(PoisonError::into_inner));
    for timeline in opened.iter().filter_map(Weak::upgrade) {
        if settle(&timeline) {
            timeline.idle();
        }
    }
    // For good.
    std::mem::forget(closed);
}

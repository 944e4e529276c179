//! The end of the process: `exit` destroys what a driver made for itself while its threads and ours may still use it, which ended
//! in a segmentation fault in one of ten processes with work under way (Mesa 22.3). So the last thing done before is to keep
//! everybody from the driver, and to wait for what it still computes.

use crate::timeline::Timeline;
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

/// Lets the caller in to the driver until the guard is dropped; from the end of the process on nobody comes back from here. Not
/// to be asked for twice by one thread.
pub fn enter() -> RwLockReadGuard<'static, ()> {
    DOOR.read().unwrap_or_else(PoisonError::into_inner)
}

/// Whether whoever waits for a device is to come back at once, and to begin nothing new: the end of the process waits for them. A batch
/// of heavy launches would else be submitted to its last one first, while nobody is left to read it.
pub fn ends() -> bool {
    ENDS.load(Ordering::Acquire)
}

/// Waits for what is under way on a device, but not for ever.
pub fn settle(timeline: &Timeline) {
    // There is nobody to tell: a device that was lost has nothing to end.
    drop(timeline.wait(timeline.last(), Some(Instant::now() + PATIENCE)));
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

/// Runs inside `exit`.
#[cfg(unix)]
extern "C" fn part() {
    ENDS.store(true, Ordering::Release);
    let closed = DOOR.write();
    // Nobody else is inside, and what follows waits.
    ENDS.store(false, Ordering::Release);
    let opened = std::mem::take(&mut *OPENED.lock().unwrap_or_else(PoisonError::into_inner));
    opened.iter().filter_map(Weak::upgrade).for_each(|timeline| settle(&timeline));
    // For good.
    std::mem::forget(closed);
}

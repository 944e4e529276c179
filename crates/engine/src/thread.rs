//! Threads the system may refuse: starting one, and the process's reader thread.

use std::sync::{Mutex, OnceLock, PoisonError, mpsc};

type Job = Box<dyn FnOnce() + Send>;

/// Starts a thread; whether the system had one.
pub(crate) fn start(name: &str, work: impl FnOnce() + Send + 'static) -> bool {
    #[cfg(feature = "fault")]
    if crate::fault::THREADS.strikes() {
        return false;
    }
    std::thread::Builder::new().name(name.into()).spawn(work).is_ok()
}

/// Runs a job, which must not panic, on the process's reader thread: copying a large tensor blocks neither JavaScript nor an
/// executor. Where the system refuses a thread, it runs here.
pub fn on_reader_thread(job: Job) {
    static READER: OnceLock<Mutex<mpsc::Sender<Job>>> = OnceLock::new();
    let reader = READER.get_or_init(|| {
        let (sender, jobs) = mpsc::channel::<Job>();
        let body = move || {
            for job in jobs {
                job();
            }
        };
        // Without a thread the receiver is dropped, and every `send` below gives its job back.
        start("ferrotensor-reader", body);
        Mutex::new(sender)
    });
    let sent = reader.lock().unwrap_or_else(PoisonError::into_inner).send(job);
    if let Err(mpsc::SendError(job)) = sent {
        job();
    }
}

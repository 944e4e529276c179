//! Threads the system may refuse: starting one, and the process's threads for copies, for files and for flat arrays.

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

/// A thread that runs jobs in order, started by the first one.
struct Lane(OnceLock<Mutex<mpsc::Sender<Job>>>);

impl Lane {
    const fn new() -> Lane {
        Lane(OnceLock::new())
    }

    fn run(&self, name: &str, job: Job) {
        let lane = self.0.get_or_init(|| {
            let (sender, jobs) = mpsc::channel::<Job>();
            let body = move || {
                for job in jobs {
                    job();
                }
            };
            // Without a thread the receiver is dropped, and every `send` below gives its job back.
            start(name, body);
            Mutex::new(sender)
        });
        let sent = lane.lock().unwrap_or_else(PoisonError::into_inner).send(job);
        if let Err(mpsc::SendError(job)) = sent {
            job();
        }
    }
}

/// Runs a job, which must not panic, on the process's reader thread: copying a large tensor blocks neither JavaScript nor an
/// executor. Where the system refuses a thread, it runs here.
pub fn on_reader_thread(job: Job) {
    static READER: Lane = Lane::new();
    READER.run("ferrotensor-reader", job);
}

/// As [`on_reader_thread`], on a thread for operations on flat arrays.
pub fn on_flat_thread(job: Job) {
    static FLAT: Lane = Lane::new();
    FLAT.run("ferrotensor-flat", job);
}

/// As [`on_reader_thread`], on a thread for files: a slow disk keeps no reader waiting.
pub fn on_file_thread(job: Job) {
    static FILES: Lane = Lane::new();
    FILES.run("ferrotensor-files", job);
}

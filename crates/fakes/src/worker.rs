//! The device's own thread: batches run in order, their outcomes become known late and out of step.

use ferrotensor_core::backend::{Batch, Outcome};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

type Run = Box<dyn Fn(Batch) -> Outcome + Send>;

#[derive(Default)]
struct State {
    queue: VecDeque<(u64, Batch)>,
    /// Ended, and not told yet to anybody.
    known: HashMap<u64, Outcome>,
    /// Ended, but kept back: the outcome becomes known with that of a later batch, or after a while.
    held: Vec<(u64, Outcome)>,
    next: u64,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long every other outcome is kept back when no later batch comes.
const LATE: Duration = Duration::from_micros(200);

/// The thread and its queue.
pub struct Worker {
    shared: Arc<Shared>,
}

impl Worker {
    /// Starts the thread; it ends when the worker is dropped.
    ///
    /// # Errors
    /// A sentence when the system has no thread left.
    pub fn start(run: Run) -> Result<Worker, String> {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("ferrotensor fake device".into())
            .spawn(move || serve(&own, &run))
            .map_err(|e| e.to_string())?;
        Ok(Worker { shared })
    }

    /// Queues a batch; its ticket.
    pub fn submit(&self, batch: Batch) -> u64 {
        let mut state = self.shared.lock();
        state.next += 1;
        let ticket = state.next;
        state.queue.push_back((ticket, batch));
        self.shared.changed.notify_all();
        ticket
    }

    /// The outcome, once.
    pub fn poll(&self, ticket: u64) -> Option<Outcome> {
        self.shared.lock().known.remove(&ticket)
    }

    /// The outcome, if it is known before the deadline.
    pub fn wait(&self, ticket: u64, deadline: Instant) -> Option<Outcome> {
        let mut state = self.shared.lock();
        loop {
            if let Some(outcome) = state.known.remove(&ticket) {
                return Some(outcome);
            }
            let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            state = self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
    }
}

fn serve(shared: &Shared, run: &Run) {
    let mut state = shared.lock();
    loop {
        if let Some((ticket, batch)) = state.queue.pop_front() {
            drop(state);
            let outcome = run(batch);
            state = shared.lock();
            if ticket % 2 == 1 {
                state.held.push((ticket, outcome));
            } else {
                // The later batch is known first.
                state.known.insert(ticket, outcome);
                let held = std::mem::take(&mut state.held);
                state.known.extend(held);
                shared.changed.notify_all();
            }
        } else if !state.held.is_empty() {
            state = shared.changed.wait_timeout(state, LATE).unwrap_or_else(PoisonError::into_inner).0;
            if state.queue.is_empty() {
                let held = std::mem::take(&mut state.held);
                state.known.extend(held);
                shared.changed.notify_all();
            }
        } else if state.closed {
            return;
        } else {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

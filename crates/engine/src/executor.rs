//! One thread for each device runs queued jobs: first in, first out within an environment, in turn between environments,
//! and never a job whose inputs still wait for another environment's program.

use crate::job::Job;
use crate::thread;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Programs of one environment that are queued or running.
#[derive(Default)]
pub struct InFlight {
    count: AtomicUsize,
    lock: Mutex<()>,
    fewer: Condvar,
}

impl InFlight {
    /// How many.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// Blocks until fewer than `limit` are left.
    pub fn wait_below(&self, limit: usize) {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while self.count() >= limit {
            guard = self.fewer.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn one_less(&self) {
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.count.fetch_sub(1, Ordering::AcqRel);
        self.fewer.notify_all();
    }
}

struct Queue {
    environment: u64,
    jobs: VecDeque<(Job, Arc<InFlight>)>,
}

#[derive(Default)]
struct Shared {
    queues: Mutex<VecDeque<Queue>>,
    more: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Queue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next runnable job, taking environments in turn.
    fn next(&self) -> (Job, Arc<InFlight>) {
        let mut queues = self.lock();
        loop {
            for _ in 0..queues.len() {
                let Some(mut queue) = queues.pop_front() else { break };
                let runnable = queue.jobs.front().is_some_and(|(job, _)| job.is_runnable());
                let taken = if runnable { queue.jobs.pop_front() } else { None };
                if !queue.jobs.is_empty() {
                    queues.push_back(queue);
                }
                if let Some(job) = taken {
                    return job;
                }
            }
            queues = self.more.wait(queues).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The executor of one device; its thread starts with the first queued job.
pub struct Executor {
    name: String,
    shared: Arc<Shared>,
    started: OnceLock<bool>,
}

impl Executor {
    /// An executor without a thread yet.
    pub fn new(device: String) -> Self {
        Executor { name: format!("ferrotensor {device}"), shared: Arc::default(), started: OnceLock::new() }
    }

    /// Queues a job of an environment. Without a thread (the system refused one) it runs here.
    pub fn push(&self, environment: u64, job: Job, in_flight: &Arc<InFlight>) {
        let shared = &self.shared;
        let started = *self.started.get_or_init(|| {
            let shared = Arc::clone(shared);
            let work = move || {
                loop {
                    let (job, in_flight) = shared.next();
                    run(job, &in_flight);
                    // A finished job may make another environment's job runnable.
                    shared.more.notify_all();
                }
            };
            thread::start(&self.name, work)
        });
        in_flight.count.fetch_add(1, Ordering::AcqRel);
        if !started {
            for storage in &job.inputs {
                if let Some(completion) = storage.completion() {
                    completion.wait();
                }
            }
            return run(job, in_flight);
        }
        let mut queues = shared.lock();
        match queues.iter_mut().find(|q| q.environment == environment) {
            Some(queue) => queue.jobs.push_back((job, Arc::clone(in_flight))),
            None => queues.push_back(Queue { environment, jobs: VecDeque::from([(job, Arc::clone(in_flight))]) }),
        }
        drop(queues);
        shared.more.notify_all();
    }
}

/// Runs a job; a panic in it fails the job's storages instead of ending the thread.
fn run(job: Job, in_flight: &InFlight) {
    // Weakly: whoever is woken by the job's end may dispose what it made, and expects the memory back at once.
    let own: Vec<_> = job.own.iter().flatten().map(Arc::downgrade).collect();
    let completion = job.completion.clone();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job.run())).is_err();
    if panicked {
        for storage in own.iter().filter_map(Weak::upgrade) {
            storage.fail(ferrotensor_core::Error::internal("a kernel panicked"));
        }
        if let Some(completion) = completion.filter(|c| !c.is_done()) {
            completion.finish();
        }
    }
    in_flight.one_less();
}

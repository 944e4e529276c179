//! Tickets of submitted batches: what became of them, told once, when the timeline has passed their last submission.
//! Whoever waits is a thread of the engine; there is none here.

use crate::timeline::Timeline;
use ferrotensor_core::backend::Outcome;
use ferrotensor_gpu::report::Failures;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Ended tickets that nobody asked about are forgotten beyond this many.
const UNASKED: usize = 1024;

struct Pending {
    timeline: Arc<Timeline>,
    /// What is known already.
    outcome: Outcome,
    /// What the device finds out.
    failures: Arc<Failures>,
}

/// The tickets of one backend, over all its opened devices: a ticket is a timeline value, and a new device goes on counting.
#[derive(Default)]
pub struct Tickets {
    pending: Mutex<BTreeMap<u64, Pending>>,
}

/// What is there and what was done, for tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tickets that were not answered yet.
    pub tickets: usize,
    /// Submissions that the device was not seen to have ended.
    pub under_way: usize,
    /// Submissions of batches.
    pub submissions: u64,
    /// Dispatches recorded.
    pub dispatches: u64,
    /// Barriers put between dependent dispatches.
    pub barriers: u64,
    /// Bytes taken from the driver for tensors.
    pub held: u64,
    /// Pipelines in memory.
    pub pipelines: usize,
    /// Pipelines that the driver made since the device was opened.
    pub compiled: usize,
}

impl Tickets {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a batch whose last submission has this value.
    pub fn enter(&self, ticket: u64, timeline: &Arc<Timeline>, outcome: Outcome, failures: Arc<Failures>) {
        let mut pending = self.lock();
        pending.insert(ticket, Pending { timeline: Arc::clone(timeline), outcome, failures });
        while pending.len() > UNASKED && pending.first_key_value().is_some_and(|(value, p)| p.timeline.seen() >= *value) {
            pending.pop_first();
        }
    }

    /// Tickets that were not answered yet.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    fn answer(&self, ticket: u64) -> Option<Outcome> {
        let Pending { mut outcome, failures, .. } = self.lock().remove(&ticket)?;
        failures.enter(&mut outcome);
        Some(outcome)
    }

    /// The outcome, if it is known by the deadline; without one, now.
    pub fn ask(&self, ticket: u64, deadline: Option<Instant>) -> Option<Outcome> {
        let timeline = Arc::clone(&self.lock().get(&ticket)?.timeline);
        let ended = if timeline.seen() >= ticket {
            Ok(true)
        } else {
            match deadline {
                Some(deadline) => timeline.wait(ticket, Some(deadline)),
                None => timeline.passed().map(|value| value >= ticket),
            }
        };
        match ended {
            Ok(false) => None,
            // What the batch kept goes before its user hears of the end, and may use it again. A loss found here is the next
            // call's business.
            Ok(true) => timeline.retire().map_or_else(|_| self.answer(ticket), |()| self.answer(ticket)),
            Err(lost) => self.answer(ticket).map(|outcome| Outcome { lost: Some(lost), ..outcome }),
        }
    }
}

//! What kernels find out while they run: some words of memory for each dispatch that may fail by its values, which the host reads when
//! the device has passed it.

use ferrotensor_core::Error;
use ferrotensor_core::backend::Outcome;
use std::sync::{Arc, Mutex, PoisonError};

/// Words of a report: two for each of as many index operands as a tensor has axes.
pub const WORDS: usize = 64;

/// What a report says, all zeros being nothing.
pub type Tell = Arc<dyn Fn(&[u32]) -> Option<Error> + Send + Sync>;

/// The failures of a batch that the device found, each with its launch.
#[derive(Default)]
pub struct Failures(Mutex<Vec<(usize, Error)>>);

impl Failures {
    /// Notes that a launch failed.
    pub fn note(&self, launch: usize, error: Error) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((launch, error));
    }

    /// Enters them into an outcome, the first one of each launch, by launch.
    pub fn enter(&self, outcome: &mut Outcome) {
        outcome.failed.append(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        outcome.failed.sort_by_key(|(n, _)| *n);
        outcome.failed.dedup_by_key(|(n, _)| *n);
    }
}

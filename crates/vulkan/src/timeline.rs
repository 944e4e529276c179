//! The queue of an opened device and its timeline: submissions in order, each with a value, and how far the device has come.
//! Here a loss of the device is remembered, for its memory too.

use crate::errors;
use crate::frames::{Frame, Kept};
use crate::memory::Faults;
use crate::parting;
use crate::raw;
use ferrotensor_core::{Error, Result};
use ferrotensor_gpu::loss::{Loss, Progress};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vulkano::device::{Device, Queue};
use vulkano::sync::semaphore::{Semaphore, SemaphoreCreateInfo, SemaphoreType, SemaphoreWaitInfo};
use vulkano::{Validated, VulkanError};

/// Submissions under way before the next one waits: with 64 dispatches each, the device never runs dry.
const FRAMES: usize = 16;

/// Bytes of work under way, as the recorder counts them, before the next submission waits too: 300 ms of the slowest devices. The end
/// of a process or of a worker waits for what is under way.
const AHEAD: u64 = 3 << 30;

/// A wait asks again this often whether another thread found the device lost.
const SLICE: Duration = Duration::from_millis(50);

#[derive(Default)]
struct Frames {
    free: Vec<Frame>,
    /// With the values their ends set, ascending.
    busy: VecDeque<(u64, Frame)>,
    /// The value of the last submission.
    last: u64,
}

/// The queue and its timeline.
pub struct Timeline {
    name: String,
    device: Arc<Device>,
    queue: Arc<Queue>,
    semaphore: Semaphore,
    faults: Arc<Faults>,
    frames: Mutex<Frames>,
    /// As far as the device was seen to have come.
    seen: AtomicU64,
    progress: Mutex<Progress>,
    patience: Duration,
    lost: Arc<Loss>,
}

impl Timeline {
    /// A timeline that begins at `start`, and tells `lost` when the device is gone, or has not moved for as long as `patience` while
    /// somebody waits.
    ///
    /// # Errors
    /// The driver's.
    pub fn new(
        name: &str,
        device: &Arc<Device>,
        queue: Arc<Queue>,
        faults: Arc<Faults>,
        start: u64,
        (patience, lost): (Duration, Arc<Loss>),
    ) -> Result<Timeline> {
        let info = SemaphoreCreateInfo {
            semaphore_type: SemaphoreType::Timeline,
            initial_value: start,
            ..SemaphoreCreateInfo::default()
        };
        let semaphore = Semaphore::new(Arc::clone(device), info).map_err(|e| errors::driver("a semaphore", e))?;
        Ok(Timeline {
            name: name.into(),
            device: Arc::clone(device),
            queue,
            semaphore,
            faults,
            frames: Mutex::new(Frames { last: start, ..Frames::default() }),
            seen: AtomicU64::new(start),
            progress: Mutex::new(Progress::at(start)),
            patience,
            lost,
        })
    }

    /// What goes wrong on its device.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    fn lock(&self) -> MutexGuard<'_, Frames> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the device is gone.
    pub fn is_lost(&self) -> bool {
        self.lost.is_told()
    }

    /// Whether it may still be writing, though nobody waits for it any more.
    pub fn is_hanging(&self) -> bool {
        self.lost.is_hanging()
    }

    /// The error of a lost device.
    pub fn loss(&self) -> Error {
        if self.is_hanging() { errors::hanging(&self.name, self.patience) } else { errors::lost(&self.name) }
    }

    /// The driver's answer as an error; a device that was lost is remembered.
    fn failure(&self, what: &str, error: impl Into<Validated<VulkanError>>) -> Error {
        let error = error.into();
        if matches!(error, Validated::Error(VulkanError::DeviceLost)) {
            self.lost.tell();
            return self.loss();
        }
        errors::driver(what, error)
    }

    /// A frame that records.
    ///
    /// # Errors
    /// The device was lost, or the driver has no memory for it.
    pub fn take(&self) -> Result<Frame> {
        loop {
            if self.is_lost() {
                return Err(self.loss());
            }
            self.retire()?;
            let oldest = {
                let mut frames = self.lock();
                let weight = frames.busy.iter().fold(0u64, |sum, (_, frame)| sum.saturating_add(frame.weight()));
                let frame = match frames.free.pop_if(|_| weight < AHEAD) {
                    Some(frame) => Some(frame),
                    None if frames.busy.len() < FRAMES && weight < AHEAD => {
                        Some(Frame::new(&self.device, &self.queue, &self.faults)?)
                    }
                    None => None,
                };
                if let Some(mut frame) = frame {
                    // SAFETY: it is new, or was retired when the timeline had passed its value.
                    unsafe { frame.begin()? };
                    return Ok(frame);
                }
                frames.busy.front().map_or(0, |(value, _)| *value)
            };
            self.wait(oldest, None)?;
        }
    }

    /// Ends a frame and submits it; the value that says it is done.
    ///
    /// # Errors
    /// The device was lost, or the driver has no memory: the frame did not run.
    pub fn submit(&self, mut frame: Frame) -> Result<u64> {
        frame.end()?;
        let mut frames = self.lock();
        if self.is_lost() {
            return Err(self.loss());
        }
        if self.faults.submit.strikes() {
            return Err(self.failure("submission", VulkanError::DeviceLost));
        }
        let value = frames.last + 1;
        if self.faults.hang.strikes() {
            // Nobody sets this value.
            self.restart(value - 1);
            frames.last = value;
            frames.busy.push_back((value, frame));
            return Ok(value);
        }
        // SAFETY: the frame ended just now; it lives in `busy` with all it names until the timeline has passed the value, or
        // the queue is idle (`drop`); values ascend under the lock.
        unsafe { raw::submit(&self.queue, frame.commands(), &self.semaphore, value) }
            .map_err(|e| self.failure("submission", e))?;
        self.restart(self.seen());
        frames.last = value;
        frames.busy.push_back((value, frame));
        Ok(value)
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The device has something to do from now on.
    fn restart(&self, value: u64) {
        *self.progress() = Progress::at(value);
    }

    /// The value of the last submission.
    pub fn last(&self) -> u64 {
        self.lock().last
    }

    /// Submissions that the device was not seen to have ended.
    pub fn under_way(&self) -> usize {
        self.lock().busy.len()
    }

    /// How far the device has come.
    ///
    /// # Errors
    /// The device was lost.
    pub fn passed(&self) -> Result<u64> {
        if self.is_lost() {
            return Err(self.loss());
        }
        let now = self.semaphore.counter_value().map_err(|e| self.failure("the timeline", e))?;
        Ok(self.seen.fetch_max(now, Ordering::AcqRel).max(now))
    }

    /// As far as the device was seen to have come, lost or not.
    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::Acquire)
    }

    /// Frees the frames the device is done with, and what they kept.
    ///
    /// # Errors
    /// The device was lost.
    pub fn retire(&self) -> Result<()> {
        let passed = self.passed()?;
        let mut kept: Vec<Vec<Kept>> = Vec::new();
        {
            let mut frames = self.lock();
            while frames.busy.front().is_some_and(|(value, _)| *value <= passed) {
                if let Some((_, mut frame)) = frames.busy.pop_front() {
                    kept.push(frame.release());
                    frames.free.push(frame);
                }
            }
        }
        // Outside the lock: buffers have locks of their own.
        drop(kept);
        Ok(())
    }

    /// Waits until the device has passed a value; false when the deadline came first.
    ///
    /// # Errors
    /// The device was lost, or the process ends.
    pub fn wait(&self, value: u64, deadline: Option<Instant>) -> Result<bool> {
        loop {
            let passed = self.passed()?;
            if passed >= value {
                return Ok(true);
            }
            if parting::ends() {
                return Err(Error::abandoned());
            }
            if self.progress().is_stalled(passed, self.patience) {
                self.lost.tell_hanging();
                return Err(self.loss());
            }
            let left = deadline.map_or(SLICE, |d| d.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(false);
            }
            let info = SemaphoreWaitInfo { value, ..SemaphoreWaitInfo::default() };
            match self.semaphore.wait(info, Some(left.min(SLICE))) {
                Ok(()) | Err(Validated::Error(VulkanError::Timeout)) => {}
                Err(e) => return Err(self.failure("waiting", e)),
            }
        }
    }

    /// Waits for the device, and for what drivers and layers do afterwards on threads of their own.
    pub fn idle(&self) {
        // Nothing follows from an error: the device is lost, and its objects may be destroyed.
        let _ = self.queue.with(|mut guard| guard.wait_idle());
    }
}

impl Drop for Timeline {
    /// Frames and what they keep outlive the device's work on them. A lost device answers at once.
    fn drop(&mut self) {
        if self.is_hanging() {
            std::mem::forget(std::mem::take(&mut *self.lock()));
            return;
        }
        self.idle();
    }
}

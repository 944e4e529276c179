//! Recording batches: dispatches with their arguments, bindings and barriers, cut into submissions.

use crate::device::Opened;
use crate::errors;
use crate::frames::{ARGUMENTS, Frame, Kept};
use crate::memory::VulkanBuffer;
use crate::parting;
use crate::pipelines::Pipeline;
use crate::raw::{self, Between, Range};
use ferrotensor_core::backend::{Batch, Buffer, Outcome};
use ferrotensor_core::{Code, Error, Result};
use ferrotensor_gpu::hazards::{Hazards, Touch};
use ferrotensor_gpu::report::{self, Failures, Tell};
use ferrotensor_gpu::{Binding, Compiled, Compiler, Ready, Recorder};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use vulkano::VulkanObject;

/// Dispatches of one submission. A submission costs 12 to 46 us on lavapipe and up to 500 us on old GPUs, a dispatch 0.5 us;
/// another project measured no gain from 32 dispatches to 256. Fewer would let the device wait, more would start it late.
pub const DISPATCHES: u32 = 64;

/// Bytes touched by one submission: 100 ms at the 10 GB/s of the slowest devices (lavapipe moves 8 GB/s), because watchdogs
/// end submissions after 2 s and others wait for the screen. A GPU with 1 TB/s is through in 1 ms, which still hides the
/// submission.
const BYTES: u64 = 1 << 30;

/// How much was recorded, for tests.
#[derive(Default)]
pub struct Recorded {
    /// Submissions of batches.
    pub submissions: AtomicU64,
    /// Dispatches of kernels.
    pub dispatches: AtomicU64,
    /// Barriers between dependent dispatches.
    pub barriers: AtomicU64,
}

/// A dispatch, looked at.
struct Work<'a> {
    kernel: &'a Compiled,
    pipeline: &'a Pipeline,
    arguments: &'a [u32],
    argument_bytes: u64,
    bindings: &'a [Binding<'a>],
    ranges: &'a [Range],
    groups: u32,
}

/// Records the dispatches of a batch and submits them as they come.
pub struct Stream {
    opened: Arc<Opened>,
    abandoned: Arc<AtomicBool>,
    /// What every submission of the batch keeps: its launches.
    batch: Kept,
    frame: Option<Frame>,
    /// Of the frame: the pipeline bound, dispatches, bytes touched, bytes of arguments.
    bound: Option<Compiled>,
    dispatches: u32,
    bytes: u64,
    arguments: u64,
    /// Bytes that the next dispatch counts for beside those it touches.
    charged: u64,
    hazards: Hazards,
    /// Memory of the current launch beside its operands.
    scratch: Vec<Arc<VulkanBuffer>>,
    /// The launch being recorded, and the first one of the frame.
    launch: usize,
    first: usize,
    /// The value of the last submission.
    last: Option<u64>,
    failed: Vec<(usize, Error)>,
    /// What the device finds out later.
    failures: Arc<Failures>,
    /// The launch whose earlier dispatches were not submitted, and why: its others would compute with nothing.
    broken: Option<(usize, Error)>,
    /// Why nothing more is recorded.
    stopped: Option<Error>,
}

impl Stream {
    fn new(opened: &Arc<Opened>, abandoned: Arc<AtomicBool>, batch: Kept) -> Stream {
        Stream {
            opened: Arc::clone(opened),
            abandoned,
            batch,
            frame: None,
            bound: None,
            dispatches: 0,
            bytes: 0,
            arguments: 0,
            charged: 0,
            hazards: Hazards::default(),
            scratch: Vec::new(),
            launch: 0,
            first: 0,
            last: None,
            failed: Vec::new(),
            failures: Arc::default(),
            broken: None,
            stopped: None,
        }
    }

    /// Submits what was recorded, where a dispatch with so many bytes of arguments would make it too much.
    fn make_room(&mut self, argument_bytes: u64) -> Result<()> {
        let long = self.bytes > 0 && self.bytes.saturating_add(self.charged) >= BYTES;
        if self.dispatches >= DISPATCHES || long || self.arguments + argument_bytes > ARGUMENTS {
            self.flush();
            if self.abandoned.load(Relaxed) || parting::ends() {
                self.stopped.get_or_insert_with(Error::abandoned);
            }
            self.goes_on()?;
        }
        Ok(())
    }

    /// Refuses more of a launch, or of anything, that cannot end well.
    fn goes_on(&self) -> Result<()> {
        let broken = self.broken.as_ref().filter(|(launch, _)| *launch == self.launch).map(|(_, e)| e);
        self.stopped.as_ref().or(broken).map_or(Ok(()), |e| Err(e.clone()))
    }

    /// The pipeline of a dispatch, and where its buffers are.
    fn checked<'a>(
        &self,
        kernel: &'a Compiled,
        argument_bytes: u64,
        bindings: &[Binding],
        reports: bool,
        groups: u32,
    ) -> Result<(&'a Pipeline, SmallVec<[Range; 16]>)> {
        let can = &self.opened.can;
        let pipeline: &Pipeline = kernel.downcast_ref().ok_or_else(|| Error::internal("a kernel of another backend"))?;
        if !pipeline.is_of(&self.opened.device) {
            return Err(errors::foreign(&self.opened.name, "pipeline"));
        }
        let buffers = bindings.len() as u32 + reports as u32;
        if buffers != pipeline.buffers() {
            let text = format!("{buffers} buffers bound to a pipeline of {}", pipeline.buffers());
            return Err(Error::internal(text));
        }
        if groups > can.max_groups || argument_bytes > can.max_uniform.min(ARGUMENTS) {
            return Err(Error::internal(format!("{groups} workgroups with {argument_bytes} bytes of arguments")));
        }
        let ranges = bindings.iter().map(|b| {
            let own = VulkanBuffer::of(b.buffer).ok_or_else(|| Error::internal("a buffer of another backend"))?;
            if !own.is_of(&self.opened.memory) {
                return Err(errors::foreign(&self.opened.name, "buffer"));
            }
            let size = b.buffer.bytes() as u64;
            let inside = b.offset.checked_add(b.bytes).is_some_and(|end| end <= size);
            if !inside || b.bytes == 0 || b.bytes > can.max_range || b.offset % can.alignment != 0 {
                let text = format!("a binding of {} bytes at {} of a buffer of {size}", b.bytes, b.offset);
                return Err(Error::internal(text));
            }
            Ok(Range { buffer: own.block().handle(), offset: own.offset() + b.offset, bytes: b.bytes })
        });
        Ok((pipeline, ranges.collect::<Result<_>>()?))
    }

    fn begin(&mut self) -> Result<Frame> {
        self.first = self.launch;
        (self.dispatches, self.bytes, self.arguments) = (0, 0, 0);
        // A frame begins with a barrier after everything submitted before.
        self.hazards.clear();
        self.bound = None;
        self.opened.timeline.take().inspect_err(|e| {
            if self.opened.timeline.is_lost() || parting::ends() {
                self.stopped = Some(e.clone());
            }
        })
    }

    fn record(&mut self, frame: &mut Frame, work: &Work, report: Option<Range>) {
        let (device, commands) = (&self.opened.device, frame.commands());
        let touches = work.bindings.iter().zip(work.ranges).map(|(b, range)| {
            let (buffer, start) = (ash::vk::Handle::as_raw(range.buffer), range.offset);
            Touch { buffer, start, end: start + range.bytes, write: b.write }
        });
        if self.hazards.enter(touches) {
            // SAFETY: the frame records.
            unsafe { raw::barrier(device, commands, Between::Dispatches) };
            self.opened.recorded.barriers.fetch_add(1, Relaxed);
        }
        if !self.bound.as_ref().is_some_and(|bound| Arc::ptr_eq(bound, work.kernel)) {
            // SAFETY: the frame records, and keeps the pipeline from here on.
            unsafe { raw::bind(device, commands, work.pipeline.driver()) };
            frame.keep(Arc::clone(work.kernel));
            self.bound = Some(Arc::clone(work.kernel));
        }
        let mut bytes: SmallVec<[u8; 256]> = SmallVec::with_capacity(work.argument_bytes as usize);
        work.arguments.iter().for_each(|word| bytes.extend_from_slice(&word.to_ne_bytes()));
        frame.arguments().copy_in(&bytes, self.arguments);
        let block = Range { buffer: frame.arguments().handle(), offset: self.arguments, bytes: work.argument_bytes };
        let storage: SmallVec<[Range; 16]> = work.ranges.iter().copied().chain(report).collect();
        // SAFETY: the frame records; layout and bindings fit, lie in their buffers and in the device's limits (`checked`); the
        // buffers are the batch's or scratch, which every submission of it keeps, and the frame's own.
        unsafe {
            raw::push(device, commands, work.pipeline.layout().handle(), block, &storage);
            raw::dispatch(device, commands, work.groups);
        }
        self.opened.recorded.dispatches.fetch_add(1, Relaxed);
        self.dispatches += 1;
        let charged = std::mem::take(&mut self.charged);
        self.bytes = self.bytes.saturating_add(charged).saturating_add(work.ranges.iter().map(|range| range.bytes).sum());
        self.arguments = (self.arguments + work.argument_bytes).next_multiple_of(self.opened.can.alignment.max(16));
    }

    /// Submits what was recorded.
    fn flush(&mut self) {
        let Some(mut frame) = self.frame.take() else { return };
        frame.keep(Arc::clone(&self.batch));
        frame.weigh(self.bytes);
        for buffer in &self.scratch {
            frame.keep(Arc::clone(buffer) as Kept);
        }
        match self.opened.timeline.submit(frame) {
            Ok(value) => {
                self.last = Some(value);
                self.opened.recorded.submissions.fetch_add(1, Relaxed);
            }
            Err(e) if self.opened.timeline.is_lost() => self.stopped = Some(e),
            // What the frame held did not run.
            Err(e) => {
                self.failed.extend((self.first..=self.launch).map(|n| (n, e.clone())));
                self.broken = Some((self.launch, e));
            }
        }
    }
}

impl Recorder for Stream {
    fn compiler(&self) -> &dyn Compiler {
        &self.opened.pipelines
    }

    fn scratch(&mut self, bytes: u64) -> Result<Buffer> {
        let buffer = match self.opened.memory.alloc(bytes) {
            Err(e) if e.code == Code::OutOfMemory => {
                // What earlier launches hold comes back when they have ended.
                self.flush();
                let timeline = &self.opened.timeline;
                timeline.wait(timeline.last(), None)?;
                timeline.retire()?;
                self.opened.memory.trim();
                self.opened.memory.alloc(bytes)?
            }
            other => other?,
        };
        let buffer = Arc::new(buffer);
        self.scratch.push(Arc::clone(&buffer));
        Ok(buffer)
    }

    fn charge(&mut self, bytes: u64) {
        self.charged = self.charged.saturating_add(bytes);
    }

    /// `arguments` become the uniform block at binding 0, the storage buffers follow from binding 1 on.
    fn dispatch(
        &mut self,
        kernel: &Compiled,
        arguments: &[u32],
        bindings: &[Binding],
        tell: Option<&Tell>,
        groups: u32,
    ) -> Result<()> {
        self.goes_on()?;
        if groups == 0 {
            return Ok(());
        }
        let argument_bytes = (arguments.len() as u64 * 4).max(16).next_multiple_of(16);
        let (pipeline, ranges) = self.checked(kernel, argument_bytes, bindings, tell.is_some(), groups)?;
        self.make_room(argument_bytes)?;
        let mut frame = match self.frame.take() {
            Some(frame) => frame,
            None => self.begin()?,
        };
        let report = match tell {
            Some(tell) => frame
                .reports()
                .next((&self.opened.device, self.opened.timeline.faults()), self.launch, tell, &self.failures)
                .map(|(block, offset)| Some(Range { buffer: block.handle(), offset, bytes: report::WORDS as u64 * 4 })),
            None => Ok(None),
        };
        let work = Work { kernel, pipeline, arguments, argument_bytes, bindings, ranges: &ranges, groups };
        let recorded = report.map(|report| self.record(&mut frame, &work, report));
        self.frame = Some(frame);
        recorded
    }
}

/// Records and submits a batch. The value of its last submission, if there is one, what is known of the outcome, and what will be
/// when the device has passed that.
pub fn submit(opened: &Arc<Opened>, batch: Batch) -> (Option<u64>, Outcome, Arc<Failures>) {
    let launches = batch.launches;
    let mut recorder = Stream::new(opened, Arc::clone(&batch.abandoned), Arc::clone(&launches) as Kept);
    if batch.abandoned.load(Relaxed) {
        return (None, Outcome { failed: Vec::new(), lost: Some(Error::abandoned()) }, recorder.failures);
    }
    for (n, launch) in launches.iter().enumerate() {
        recorder.launch = n;
        let program =
            Ready::behind(&*launch.kernel).and_then(|ready| ready.on(opened.generation, &opened.can, &opened.pipelines));
        match program.and_then(|program| program.record(&mut recorder, launch)) {
            // The whole batch's error, not this launch's.
            Err(_) if recorder.stopped.is_some() => break,
            Err(e) => recorder.failed.push((n, e)),
            Ok(()) => {}
        }
        if !recorder.scratch.is_empty() {
            // The frame that goes on keeps the scratch of the launches before.
            let scratch = std::mem::take(&mut recorder.scratch);
            if let Some(frame) = &mut recorder.frame {
                scratch.into_iter().for_each(|buffer| frame.keep(buffer as Kept));
            }
        }
    }
    recorder.flush();
    let mut failed = recorder.failed;
    failed.sort_by_key(|(n, _)| *n);
    failed.dedup_by_key(|(n, _)| *n);
    (recorder.last, Outcome { failed, lost: recorder.stopped }, recorder.failures)
}

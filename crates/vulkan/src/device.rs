//! One Vulkan device as a backend: opened at its first use, opened anew after it was lost, every entry closed to panics.

use crate::arithmetic;
use crate::caps;
use crate::disk_cache::CachePlace;
use crate::errors;
use crate::frames::Kept;
use crate::memory::{ALIGNMENT, Faults, Memory, VulkanBuffer, default_budget, is_unified};
use crate::parting;
use crate::pipelines::Pipelines;
use crate::spirv::Modes;
use crate::staging::Staging;
use crate::stream::{self, Recorded};
use crate::timeline::Timeline;
use crate::wait::{Counts, Tickets};
use ferrotensor_core::backend::{
    Backend, Batch, Buffer, Caps, DeviceBuffer, DeviceClass, MemInfo, Outcome, Prepared, Ticket,
};
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::{Error, Result};
use ferrotensor_gpu::loss::{self, Loss};
use ferrotensor_gpu::{Can, Ready, lower};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use vulkano::device::physical::{PhysicalDevice, PhysicalDeviceType};
use vulkano::device::{Device, DeviceCreateInfo, QueueCreateInfo};

/// How a device is opened.
#[derive(Clone, Default)]
pub struct Options {
    /// Whether host and device share memory; else as the device says.
    pub unified: Option<bool>,
    /// Bytes; else a part of the device's memory.
    pub budget: Option<u64>,
    /// Where pipelines are kept.
    pub cache: CachePlace,
    /// How long it may stand still while somebody waits for it; else [`loss::PATIENCE`].
    pub patience: Option<Duration>,
    /// What kernels ask of floats; else what the device offers.
    pub modes: Option<Modes>,
    /// Failures on demand.
    pub faults: Arc<Faults>,
}

/// A device with everything that lives and dies with it.
pub struct Opened {
    /// The how-many-th opening in this process; 0 is none.
    pub generation: u64,
    /// Its name.
    pub name: String,
    /// What it can do, probed.
    pub can: Can,
    /// Its compiled kernels.
    pub pipelines: Pipelines,
    /// Copies to and from memory the host cannot map.
    pub staging: Staging,
    /// Submissions. Dropped before memory: it waits for the device.
    pub timeline: Arc<Timeline>,
    /// Buffers.
    pub memory: Arc<Memory>,
    /// The driver's device.
    pub device: Arc<Device>,
    /// For tests.
    pub recorded: Arc<Recorded>,
}

impl Opened {
    /// Copies host bytes into a buffer of this device, given as such and as what keeps it.
    ///
    /// # Errors
    /// The device's; `Code::Internal` for bytes outside of the buffer.
    pub fn upload(&self, from: &[u8], own: &VulkanBuffer, to: &Buffer, offset: usize) -> Result<()> {
        inside(own, offset, from.len())?;
        let place = own.offset() + offset as u64;
        if own.block().copy_in(from, place) {
            return Ok(());
        }
        let kept: Kept = Arc::new(Arc::clone(to));
        self.staging.upload(&self.device, &self.timeline, from, own.block(), place, &kept)
    }

    /// Copies bytes of a buffer of this device to the host.
    ///
    /// # Errors
    /// As [`Opened::upload`].
    pub fn download(&self, own: &VulkanBuffer, from: &Buffer, offset: usize, to: &mut [u8]) -> Result<()> {
        inside(own, offset, to.len())?;
        let place = own.offset() + offset as u64;
        if own.block().is_cached() && own.block().copy_out(place, to) {
            return Ok(());
        }
        let kept: Kept = Arc::new(Arc::clone(from));
        self.staging.download(&self.device, &self.timeline, own.block(), place, to, &kept)
    }

    /// Runs a batch to its end.
    ///
    /// # Errors
    /// The first failure; `Code::Device` for a device that has not answered by the deadline.
    pub fn run(self: &Arc<Self>, batch: Batch, deadline: Instant) -> Result<()> {
        let (last, mut outcome, failures) = stream::submit(self, batch);
        let ended = last.map_or(Ok(true), |value| self.timeline.wait(value, Some(deadline)))?;
        self.timeline.retire()?;
        failures.enter(&mut outcome);
        if let Some(error) = outcome.lost.or(outcome.failed.into_iter().next().map(|(_, e)| e)) {
            return Err(error);
        }
        if ended { Ok(()) } else { Err(Error::device(format!("{} does not answer", self.name))) }
    }
}

#[derive(Default)]
struct Slot {
    opened: Option<Arc<Opened>>,
    generation: u64,
    /// The last value of the timelines before.
    last: u64,
}

impl Slot {
    /// The device if it was lost, which is then not here any more; with it goes what it holds.
    fn part(&mut self) -> Option<Arc<Opened>> {
        let lost = self.opened.take_if(|o| o.timeline.is_lost())?;
        // Values go on where the lost device's ended: tickets stay different.
        self.last = lost.timeline.last();
        if lost.timeline.is_hanging() {
            // Nothing of a device that may still be writing is ever destroyed.
            std::mem::forget(lost);
            return None;
        }
        Some(lost)
    }
}

/// A device.
pub struct VulkanBackend {
    caps: Caps,
    physical: Arc<PhysicalDevice>,
    can: Can,
    options: Options,
    slot: Mutex<Slot>,
    tickets: Tickets,
    recorded: Arc<Recorded>,
}

/// What stands behind a device.
pub fn class(physical: &PhysicalDevice) -> DeviceClass {
    match physical.properties().device_type {
        PhysicalDeviceType::Cpu => DeviceClass::Software,
        PhysicalDeviceType::DiscreteGpu => DeviceClass::Discrete,
        _ => DeviceClass::Integrated,
    }
}

fn described(physical: &PhysicalDevice, name: &str) -> Caps {
    let p = physical.properties();
    let driver: Vec<&str> = [&p.driver_name, &p.driver_info].into_iter().flatten().map(String::as_str).collect();
    let allocation = p.max_memory_allocation_size.unwrap_or(1 << 30);
    // Sizes are rounded up to the alignment, and must not leave the limit by it.
    let most = allocation.min(p.max_buffer_size.unwrap_or(allocation)) / ALIGNMENT * ALIGNMENT;
    Caps {
        name: name.into(),
        description: format!("{} ({}, Vulkan {})", p.device_name, driver.join(" "), physical.api_version()),
        max_buffer: usize::try_from(most).unwrap_or(usize::MAX),
        class: class(physical),
        negative_strides: true,
    }
}

impl Drop for VulkanBackend {
    fn drop(&mut self) {
        drop(self.lock().part());
    }
}

impl VulkanBackend {
    /// A device by a name, to be opened when it is used.
    ///
    /// # Errors
    /// What it lacks, in words.
    pub fn new(physical: Arc<PhysicalDevice>, name: &str, options: Options) -> Result<VulkanBackend, String> {
        let can = caps::of(&physical)?;
        Ok(VulkanBackend::with(physical, name, can, options))
    }

    /// A device that can do what it is told: capabilities that are not in `can` are not switched on.
    pub fn with(physical: Arc<PhysicalDevice>, name: &str, can: Can, options: Options) -> VulkanBackend {
        VulkanBackend {
            caps: described(&physical, name),
            physical,
            can,
            options,
            slot: Mutex::default(),
            tickets: Tickets::default(),
            recorded: Arc::default(),
        }
    }

    /// What it can do, and what its arithmetic is like; opens it.
    ///
    /// # Errors
    /// The device's.
    pub fn can(&self) -> Result<Can> {
        Ok(self.opened()?.can.clone())
    }

    /// What was recorded and what is under way.
    pub fn counts(&self) -> Counts {
        let opened = self.lock().opened.clone();
        let (under_way, held, pipelines, compiled) = opened.map_or((0, 0, 0, 0), |o| {
            // What a lost device still holds goes with it.
            drop(o.timeline.retire());
            (o.timeline.under_way(), o.memory.sizes().1, o.pipelines.len(), o.pipelines.compiled())
        });
        Counts {
            tickets: self.tickets.len(),
            under_way,
            submissions: self.recorded.submissions.load(Relaxed),
            dispatches: self.recorded.dispatches.load(Relaxed),
            barriers: self.recorded.barriers.load(Relaxed),
            held,
            pipelines,
            compiled,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The device, opened now if it was not, or was lost.
    fn opened(&self) -> Result<Arc<Opened>> {
        let mut slot = self.lock();
        if let Some(opened) = slot.opened.as_ref().filter(|o| !o.timeline.is_lost()) {
            return Ok(Arc::clone(opened));
        }
        drop(slot.part());
        slot.generation += 1;
        let mut opened = Arc::new(self.open(slot.generation, slot.last)?);
        let can = match arithmetic::probed(&opened) {
            Ok(can) => can,
            Err(e) => {
                if opened.timeline.wait(opened.timeline.last(), Some(Instant::now())) == Ok(false) {
                    // It hangs over the probe's kernel, whose memory it may still write: nothing of it is ever destroyed, and
                    // nobody waits for it.
                    std::mem::forget(opened);
                }
                return Err(e);
            }
        };
        let alone = Arc::get_mut(&mut opened).ok_or_else(|| Error::internal("a probe is still under way"))?;
        (alone.can, alone.recorded) = (can, Arc::clone(&self.recorded));
        parting::attend(&opened.timeline);
        slot.opened = Some(Arc::clone(&opened));
        Ok(opened)
    }

    fn open(&self, generation: u64, start: u64) -> Result<Opened> {
        let name = &self.caps.name;
        let family =
            caps::compute_family(&self.physical).ok_or_else(|| Error::device(format!("{name} has no compute queue")))?;
        let info = DeviceCreateInfo {
            queue_create_infos: vec![QueueCreateInfo { queue_family_index: family, ..QueueCreateInfo::default() }],
            enabled_extensions: caps::extensions(&self.physical),
            enabled_features: caps::features(&self.can),
            ..DeviceCreateInfo::default()
        };
        let (device, mut queues) = Device::new(Arc::clone(&self.physical), info)
            .map_err(|e| errors::driver(&format!("{name} does not open"), e))?;
        let queue = queues.next().ok_or_else(|| Error::internal("a device without its queue"))?;
        let budget = self.options.budget.unwrap_or_else(|| default_budget(&self.physical));
        let unified = self.options.unified.unwrap_or_else(|| is_unified(&self.physical));
        let (faults, lost) = (Arc::clone(&self.options.faults), Arc::<Loss>::default());
        let modes = self.options.modes.unwrap_or_else(|| caps::modes(&self.physical));
        let patience = self.options.patience.unwrap_or(loss::PATIENCE);
        Ok(Opened {
            generation,
            name: name.clone(),
            can: self.can.clone(),
            pipelines: Pipelines::new(&device, modes, &self.options.cache),
            staging: Staging::default(),
            memory: Arc::new(Memory::new(&device, name, unified, budget, (Arc::clone(&lost), Arc::clone(&faults)))),
            timeline: Arc::new(Timeline::new(name, &device, queue, faults, start, (patience, lost))?),
            device,
            // What the probe records is nobody's.
            recorded: Arc::default(),
        })
    }

    /// Runs an entry; what panics below becomes an error.
    fn guarded<R>(&self, entry: impl FnOnce() -> Result<R>) -> Result<R> {
        let _inside = parting::enter().ok_or_else(Error::abandoned)?;
        catch_unwind(AssertUnwindSafe(entry)).unwrap_or_else(|panic| Err(errors::panicked(&self.caps.name, &*panic)))
    }

    /// The opened device of a buffer.
    fn device_of<'a>(&self, buffer: &'a Buffer) -> Result<(Arc<Opened>, &'a VulkanBuffer)> {
        let own = VulkanBuffer::of(buffer).ok_or_else(|| Error::internal("a buffer of another backend"))?;
        let opened = self.lock().opened.clone();
        let opened = opened.filter(|o| own.is_of(&o.memory)).ok_or_else(|| errors::foreign(&self.caps.name, "buffer"))?;
        if opened.timeline.is_lost() {
            return Err(opened.timeline.loss());
        }
        Ok((opened, own))
    }
}

/// Refuses a copy that reaches beyond its buffer.
fn inside(buffer: &VulkanBuffer, offset: usize, bytes: usize) -> Result<()> {
    let end = offset.checked_add(bytes).filter(|&end| end <= buffer.bytes());
    end.map(drop).ok_or_else(|| Error::internal("a copy reaches beyond its buffer"))
}

impl Backend for VulkanBackend {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn alloc(&self, bytes: usize) -> Result<Buffer> {
        self.guarded(|| {
            let opened = self.opened()?;
            if bytes > self.caps.max_buffer || self.options.faults.alloc.strikes_twice() {
                let (name, most) = (&self.caps.name, self.caps.max_buffer);
                let text = format!("{bytes} bytes asked for on {name}, whose buffers have at most {most}");
                return Err(Error::out_of_memory(text));
            }
            // Frames that ended hold buffers that nobody else does.
            opened.timeline.retire()?;
            Ok(Arc::new(opened.memory.alloc(bytes as u64)?) as Buffer)
        })
    }

    fn upload(&self, from: &[u8], to: &Buffer, offset: usize) -> Result<()> {
        self.guarded(|| {
            let (opened, own) = self.device_of(to)?;
            opened.upload(from, own, to, offset)
        })
    }

    fn download(&self, from: &Buffer, offset: usize, to: &mut [u8]) -> Result<()> {
        self.guarded(|| {
            let (opened, own) = self.device_of(from)?;
            opened.download(own, from, offset, to)
        })
    }

    fn supports(&self, kernel: &Kernel) -> Result<(), String> {
        // What `fma` is like is known of an open device only, but what goes without goes with it.
        let closed = || lower::supports(kernel, &self.can);
        if catch_unwind(AssertUnwindSafe(closed)).is_ok_and(|answer| answer.is_ok()) {
            return Ok(());
        }
        let opened = self.guarded(|| self.opened()).map_err(|e| e.message)?;
        catch_unwind(AssertUnwindSafe(|| lower::supports(kernel, &opened.can)))
            .unwrap_or_else(|panic| Err(errors::panic_text(&*panic)))
    }

    fn prepare(&self, kernel: &Kernel) -> Result<Arc<dyn Prepared>> {
        self.guarded(|| Ok(Arc::new(Ready::of(kernel.clone(), &self.opened()?.can)?) as Arc<dyn Prepared>))
    }

    fn submit(&self, batch: Batch) -> Ticket {
        let ticket = self.guarded(|| {
            let opened = self.opened()?;
            let (last, outcome, failures) = stream::submit(&opened, batch);
            opened.pipelines.save_when_due();
            Ok(match last {
                Some(value) => {
                    self.tickets.enter(value, &opened.timeline, outcome, failures);
                    Ticket::Pending(value)
                }
                None => Ticket::Done(outcome),
            })
        });
        ticket.unwrap_or_else(|e| {
            // A panic in the middle: what was submitted before it still uses the batch's buffers.
            let opened = self.lock().opened.clone();
            let idle = opened.map_or(Ok(true), |o| o.timeline.wait(o.timeline.last(), None));
            Ticket::Done(Outcome { failed: Vec::new(), lost: Some(idle.err().unwrap_or(e)) })
        })
    }

    fn poll(&self, ticket: u64) -> Option<Outcome> {
        let asked = self.guarded(|| Ok(self.tickets.ask(ticket, None)));
        asked.unwrap_or_else(|e| Some(Outcome { failed: Vec::new(), lost: Some(e) }))
    }

    fn wait(&self, ticket: u64, deadline: Instant) -> Option<Outcome> {
        let asked = self.guarded(|| Ok(self.tickets.ask(ticket, Some(deadline))));
        asked.unwrap_or_else(|e| Some(Outcome { failed: Vec::new(), lost: Some(e) }))
    }

    fn mem(&self) -> MemInfo {
        let opened = self.lock().opened.clone();
        let (used, total) = opened.map_or_else(
            || (0, self.options.budget.unwrap_or_else(|| default_budget(&self.physical))),
            |o| {
                let (used, _, budget) = o.memory.sizes();
                (used, budget)
            },
        );
        MemInfo { used: used as usize, total: total as usize }
    }

    fn settle(&self) {
        let settled = self.guarded(|| {
            let opened = self.lock().opened.clone();
            if let Some(opened) = opened {
                opened.pipelines.save();
                parting::settle(&opened.timeline);
            }
            Ok(())
        });
        // There is nobody to tell: a device that was lost has nothing to end.
        drop(settled);
    }

    fn trim(&self) {
        let trimmed = self.guarded(|| {
            let mut slot = self.lock();
            let lost = slot.part();
            let opened = slot.opened.clone();
            drop(slot);
            drop(lost);
            if let Some(opened) = opened {
                opened.timeline.retire()?;
                opened.memory.trim();
            }
            Ok(())
        });
        // There is nobody to tell, and what could not be given back is given back later.
        drop(trimmed);
    }
}

//! Profiles: while one is open, each launch of its session is timed alone, and added to the kernel it is of.
//!
//! The times are those of the thread that runs the job: from handing one launch to the backend until its outcome is there. A device
//! that works in batches gets batches of one meanwhile, so its times hold a submission each, and no other kernel's work.

use crate::about::about;
use crate::pool::Pool;
use crate::schedule::Schedule;
use crate::storage::Tensor;
use crate::timeline::{Span, Timeline, What};
use crate::work::{self, Moved};
use ferrotensor_core::backend::Peak;
use ferrotensor_core::layout::Layout;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What ran a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Where {
    /// The tensors' device, or the host's routine on the CPU.
    Device,
    /// The CPU or the host in its place: the time holds the transfers.
    Fallback,
}

/// One launch.
pub struct Launched<'a> {
    /// Of this program.
    pub schedule: &'a Arc<Schedule>,
    /// The step it belongs to.
    pub step: u32,
    /// What runs it.
    pub place: Where,
    /// Memory of the tensors' device.
    pub pool: &'a Pool,
}

/// The profiles that are open; mostly none.
#[derive(Clone, Default)]
pub struct Profiles(SmallVec<[Arc<Profile>; 1]>);

/// One profile.
pub struct Profile {
    id: u32,
    opened: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Launches that run now, and since when there has been one: devices may overlap.
    running: u32,
    since: Option<Instant>,
    busy: Duration,
    /// By the schedule's address: it is kept by its entry.
    entries: HashMap<(usize, u32, Where), Entry>,
    timeline: Timeline,
}

struct Entry {
    /// In the order of first launches.
    number: u32,
    schedule: Arc<Schedule>,
    count: u64,
    time: Duration,
    moved: Moved,
}

/// What a kernel took.
#[derive(Clone, Debug)]
pub struct KernelTime {
    /// Kind, operations, dtype and shape, in words.
    pub name: String,
    /// The device it ran on.
    pub device: String,
    /// The device that lacked it.
    pub lacking: Option<String>,
    /// Launches.
    pub count: u64,
    /// Of all of them.
    pub time: Duration,
    /// Bytes read and written.
    pub moved: (u64, u64),
    /// Floating-point operations, where they are known.
    pub flops: Option<f64>,
    /// Whether they are in float64.
    pub double: bool,
}

/// A closed profile.
#[derive(Clone, Debug)]
pub struct Report {
    /// From opening to closing.
    pub wall: Duration,
    /// The part of it in which a launch was running.
    pub busy: Duration,
    /// Kernels by name and device, those that took longest first.
    pub kernels: Vec<KernelTime>,
    /// What devices that ran kernels can do at best, where that is known.
    pub peaks: Vec<(String, Peak)>,
    /// What ran when; the kernels of launches are indices of `kernels`.
    pub timeline: Timeline,
    /// Names of the devices in it, by their numbers.
    pub devices: Vec<(u16, String)>,
}

impl Profiles {
    /// Whether nothing is timed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Opens one more; returns its number.
    pub fn open(&mut self) -> u32 {
        let id = self.0.iter().map(|p| p.id + 1).max().unwrap_or(1);
        self.0.push(Arc::new(Profile { id, opened: Instant::now(), state: Mutex::default() }));
        id
    }

    /// The last one that was opened.
    pub fn last(&self) -> Option<&Arc<Profile>> {
        self.0.last()
    }

    /// Takes one out.
    pub fn close(&mut self, id: u32) -> Option<Arc<Profile>> {
        let at = self.0.iter().position(|p| p.id == id)?;
        Some(self.0.remove(at))
    }

    /// Runs a launch over operands of these layouts, and notes what it took.
    pub fn time<'a, R>(
        &self,
        launched: &Launched,
        inputs: impl Iterator<Item = &'a Layout>,
        outputs: impl Iterator<Item = &'a Layout>,
        run: impl FnOnce() -> R,
    ) -> R {
        let moved = about(launched.schedule, launched.step).map(|a| work::moved(a.kernel, inputs, outputs));
        let start = Instant::now();
        self.0.iter().for_each(|p| p.begin(start));
        // A panic passes through, and is the job's to catch: the launch must not count as running for ever.
        let guard = Running { profiles: self, start, launched, moved: moved.unwrap_or_default() };
        let result = run();
        drop(guard);
        result
    }

    /// When something begins that [`Profiles::note`] is told of at its end.
    pub fn now(&self) -> Option<Instant> {
        (!self.is_empty()).then(Instant::now)
    }

    /// What began then has ended, in the calling thread.
    pub fn note(&self, since: Option<Instant>, what: What, device: u16, pool: &Pool, amount: u64) {
        let Some(start) = since else { return };
        let end = Instant::now();
        self.0.iter().for_each(|p| p.note(what, device, pool, amount, (start, end)));
    }

    /// Notes a copy of a tensor's elements, or the wait for them.
    pub fn around<R>(&self, what: What, tensor: &Tensor, run: impl FnOnce() -> R) -> R {
        let since = self.now();
        let result = run();
        let bytes = tensor.len() * tensor.dtype().bytes();
        self.note(since, what, tensor.device(), tensor.storage().block().pool(), bytes as u64);
        result
    }

    /// Looks at a device's memory.
    pub fn look(&self, device: u16, pool: &Pool) {
        self.note(self.now(), What::Memory, device, pool, 0);
    }
}

/// A launch that runs.
struct Running<'a, 'b> {
    profiles: &'a Profiles,
    start: Instant,
    launched: &'a Launched<'b>,
    moved: Moved,
}

impl Drop for Running<'_, '_> {
    fn drop(&mut self) {
        let end = Instant::now();
        self.profiles.0.iter().for_each(|p| p.end(self.launched, self.moved, self.start, end));
    }
}

impl Profile {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, now: Instant) {
        let mut state = self.lock();
        state.running += 1;
        state.since.get_or_insert(now);
    }

    fn end(&self, launched: &Launched, moved: Moved, start: Instant, end: Instant) {
        let mut state = self.lock();
        state.running -= 1;
        if state.running == 0
            && let Some(since) = state.since.take()
        {
            state.busy += end - since;
        }
        let key = (Arc::as_ptr(launched.schedule) as usize, launched.step, launched.place);
        let State { entries, timeline, .. } = &mut *state;
        let number = entries.len() as u32;
        let entry = entries.entry(key).or_insert_with(|| Entry {
            number,
            schedule: Arc::clone(launched.schedule),
            count: 0,
            time: Duration::ZERO,
            moved: Moved::default(),
        });
        entry.count += 1;
        entry.time += end - start;
        entry.moved.read += moved.read;
        entry.moved.written += moved.written;
        timeline.push(Span {
            what: What::Launch,
            thread: 0,
            device: launched.schedule.device,
            kernel: entry.number,
            start: start - self.opened,
            end: end - self.opened,
            amount: moved.read + moved.written,
            live: launched.pool.live(),
        });
    }

    fn note(&self, what: What, device: u16, pool: &Pool, amount: u64, (start, end): (Instant, Instant)) {
        // What began before the profile was opened is known from there on.
        let since = |time: Instant| time.saturating_duration_since(self.opened);
        let span =
            Span { what, thread: 0, device, kernel: 0, start: since(start), end: since(end), amount, live: pool.live() };
        self.lock().timeline.push(span);
    }

    /// Looks at a device's memory.
    pub fn look(&self, device: u16, pool: &Pool) {
        let now = Instant::now();
        self.note(What::Memory, device, pool, 0, (now, now));
    }

    /// What came of it, up to now; `device` names the device of a number, and `cpu` is what kernels fall back to.
    pub fn report(&self, device: &dyn Fn(u16) -> String) -> Report {
        let wall = self.opened.elapsed();
        let state = self.lock();
        let mut numbers: Vec<Option<(String, String, Option<String>)>> = vec![None; state.entries.len()];
        let mut kernels: HashMap<(String, String, Option<String>), KernelTime> = HashMap::new();
        for (&(_, step, place), entry) in &state.entries {
            let Some(about) = about(&entry.schedule, step) else { continue };
            let tensors = device(entry.schedule.device);
            let (ran, lacking) = match place {
                Where::Device => (tensors, None),
                Where::Fallback => ("cpu".to_owned(), Some(tensors)),
            };
            let flops = about.flops().map(|each| each * entry.count as f64);
            let key = (about.name(), ran, lacking);
            numbers[entry.number as usize] = Some(key.clone());
            let sum = kernels.entry(key.clone()).or_insert_with(|| KernelTime {
                name: key.0,
                device: key.1,
                lacking: key.2,
                count: 0,
                time: Duration::ZERO,
                moved: (0, 0),
                flops: Some(0.0),
                double: about.is_double(),
            });
            sum.count += entry.count;
            sum.time += entry.time;
            sum.moved.0 += entry.moved.read;
            sum.moved.1 += entry.moved.written;
            sum.flops = sum.flops.zip(flops).map(|(a, b)| a + b);
        }
        let mut kernels: Vec<KernelTime> = kernels.into_values().collect();
        kernels.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.name.cmp(&b.name)));
        let places: HashMap<_, u32> =
            kernels.iter().enumerate().map(|(i, k)| ((&k.name, &k.device, &k.lacking), i as u32)).collect();
        let place = |number: u32| {
            let (name, device, lacking) = numbers.get(number as usize)?.as_ref()?;
            places.get(&(name, device, lacking)).copied()
        };
        let mut timeline = state.timeline.clone();
        timeline.spans.retain_mut(|span| {
            let kernel = if span.what == What::Launch { place(span.kernel) } else { Some(0) };
            span.kernel = kernel.unwrap_or(0);
            kernel.is_some()
        });
        let mut numbers: Vec<u16> = timeline.spans.iter().map(|span| span.device).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let devices = numbers.into_iter().map(|number| (number, device(number))).collect();
        Report { wall, busy: state.busy, kernels, peaks: Vec::new(), timeline, devices }
    }
}

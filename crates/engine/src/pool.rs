//! Recycled device memory under one budget. Pooling is worth 4.5 to 12 times on chains of ops: fresh pages cost 1.75 us
//! per 4 KiB in faults, more than the arithmetic on them.

use ferrotensor_core::backend::{Backend, Buffer};
use ferrotensor_core::planted;
use ferrotensor_core::{Error, Result};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

/// Blocks up to this size are always admitted: a loss of a few bytes must be readable when the budget is full, because
/// reading it is what frees the memory it pins.
pub const ALWAYS_ADMITTED: usize = 64 << 10;

/// Bytes kept for reuse, at least; more while much is live. With 0, 64 and 128 MiB a loop over 8 MiB tensors peaked at 437,
/// 301 and 245 MiB.
const CACHE_FLOOR: usize = 128 << 20;

/// Bytes given back after which a buffer that nobody took meanwhile is of the past: four times what is kept, so that a loop which needs
/// several times as much as is kept, round by round, still finds a part of it.
const TURNOVER: u64 = 4 * CACHE_FLOOR as u64;

/// The process-wide byte budget.
pub struct Budget {
    live: AtomicUsize,
    limit: AtomicUsize,
}

impl Budget {
    /// A budget of `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Budget { live: AtomicUsize::new(0), limit: AtomicUsize::new(limit) }
    }

    /// Bytes in use.
    pub fn live(&self) -> usize {
        self.live.load(Relaxed)
    }

    /// The limit.
    pub fn limit(&self) -> usize {
        self.limit.load(Relaxed)
    }

    /// Changes the limit.
    pub fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Relaxed);
    }

    /// Bytes that are left.
    pub fn spare(&self) -> usize {
        self.limit().saturating_sub(self.live())
    }

    /// Whether this many more bytes fit.
    pub fn admits(&self, bytes: usize) -> bool {
        bytes <= ALWAYS_ADMITTED || self.live().saturating_add(bytes) <= self.limit()
    }
}

/// Memory of one device, in bytes.
#[derive(Clone, Debug)]
pub struct DeviceMemory {
    /// Device name.
    pub device: String,
    /// In tensors and running programs.
    pub live: usize,
    /// Kept for reuse, and in copies of operands that a device keeps to be faster.
    pub cached: usize,
    /// Largest `live` so far.
    pub peak: usize,
}

/// A buffer that may be used again.
struct Idle {
    size: usize,
    buffer: Buffer,
    /// [`Free::returned`] when it came back.
    since: u64,
}

#[derive(Default)]
struct Free {
    /// By size class, last in first out: the last one is warm in cache, the first one has been there longest.
    classes: Vec<Vec<Idle>>,
    cached: usize,
    /// Bytes that came back so far.
    returned: u64,
}

impl Free {
    /// Takes out buffers until one of `size` fits in: what was just freed is what a loop asks for again. Otherwise one whose sizes differ
    /// from those before it finds no room beside those of its past, and faults in each of its buffers anew (10^7 float32 to float64: 9.7 ms
    /// instead of 3; a softmax of 16 MB after it 10.5 ms instead of 2).
    ///
    /// First go those of the past, then others of smaller classes, the largest first. Larger ones stay: they cost more to make again.
    fn make_room(&mut self, size: usize, limit: usize, index: usize) -> Vec<Buffer> {
        let mut evicted = Vec::new();
        let full = |cached: usize| cached + size > limit;
        for class in &mut self.classes {
            while full(self.cached) && class.first().is_some_and(|idle| self.returned - idle.since > TURNOVER) {
                let idle = class.remove(0);
                self.cached -= idle.size;
                evicted.push(idle.buffer);
            }
        }
        for class in self.classes.iter_mut().take(index).rev() {
            while full(self.cached) {
                let Some(idle) = class.pop() else { break };
                self.cached -= idle.size;
                evicted.push(idle.buffer);
            }
        }
        evicted
    }
}

/// The recycler of one device.
pub struct Pool {
    backend: Arc<dyn Backend>,
    budget: Arc<Budget>,
    free: Mutex<Free>,
    live: AtomicUsize,
    peak: AtomicUsize,
}

/// Four classes for each doubling, from 64 bytes: at most a quarter is wasted.
fn class(bytes: usize) -> Option<(usize, usize)> {
    let bytes = bytes.max(64);
    let top = bytes.ilog2() as usize;
    let quarter = 1usize << (top - 2);
    let steps = (bytes - (1 << top)).div_ceil(quarter);
    let size = (1usize << top).checked_add(steps * quarter)?;
    Some(((top - 6) * 4 + steps, size))
}

impl Pool {
    /// An empty pool.
    pub fn new(backend: Arc<dyn Backend>, budget: Arc<Budget>) -> Self {
        Pool { backend, budget, free: Mutex::default(), live: AtomicUsize::new(0), peak: AtomicUsize::new(0) }
    }

    /// The device.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// The budget it draws on.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// A block of at least this many bytes. Admission is the caller's business.
    ///
    /// # Errors
    /// `Code::OutOfMemory` when the device has none left, after the cache was given back.
    pub fn alloc(self: &Arc<Self>, bytes: usize) -> Result<Block> {
        let too_large = || Error::out_of_memory(format!("{bytes} bytes asked for"));
        let (index, size) = class(bytes).ok_or_else(too_large)?;
        // What fits a buffer must not fail because its class does not. What does not fit is for the device to refuse, whatever of its
        // class is free: that is smaller.
        let most = self.backend.caps().max_buffer;
        let size = size.min(most.max(bytes));
        let recycled = {
            let mut free = self.lock();
            let mut found = None;
            // A device that was lost comes back, its memory does not.
            while let Some(Idle { size, buffer, .. }) =
                free.classes.get_mut(index).filter(|_| bytes <= most).and_then(Vec::pop)
            {
                free.cached -= size;
                if !buffer.is_lost() {
                    found = Some(buffer);
                    break;
                }
            }
            found
        };
        let buffer = match recycled {
            Some(buffer) => buffer,
            None => self.backend.alloc(size).or_else(|_| {
                self.trim();
                self.backend.alloc(size)
            })?,
        };
        let live = self.live.fetch_add(size, Relaxed) + size;
        self.peak.fetch_max(live, Relaxed);
        self.budget.live.fetch_add(size, Relaxed);
        Ok(Block { buffer: Some(buffer), size, index, pool: Arc::clone(self) })
    }

    /// A block in a buffer of this device that somebody else's memory was lent for: not counted, nor used again.
    pub fn lent(self: &Arc<Self>, buffer: Buffer) -> Block {
        let size = buffer.bytes();
        Block { buffer: Some(buffer), size, index: LENT, pool: Arc::clone(self) }
    }

    fn put(&self, buffer: Buffer, size: usize, index: usize) {
        buffer.invalidate();
        let live = self.live.fetch_sub(size, Relaxed) - size;
        self.budget.live.fetch_sub(if planted::is("returned-memory-counts-as-live") { 0 } else { size }, Relaxed);
        let limit = CACHE_FLOOR.max(live / 2);
        let mut free = self.lock();
        free.returned += size as u64;
        let lost = buffer.is_lost();
        // Given back after the lock is.
        let mut others = if lost || size > limit { Vec::new() } else { free.make_room(size, limit, index) };
        if lost || free.cached + size > limit {
            others.push(buffer);
        } else {
            free.cached += size;
            if free.classes.len() <= index {
                free.classes.resize_with(index + 1, Vec::new);
            }
            let since = free.returned;
            free.classes[index].push(Idle { size, buffer, since });
        }
        drop(free);
    }

    /// Gives free blocks back to the device.
    pub fn trim(&self) {
        let old = std::mem::take(&mut *self.lock());
        drop(old);
        self.backend.trim();
    }

    /// Whether the budget admits this many more bytes, beside what the device keeps to be faster: where it does not, that goes.
    pub fn make_room(&self, bytes: usize) -> bool {
        if planted::is("the-budget-admits-everything") {
            return true;
        }
        let kept = self.backend.kept();
        if kept == 0 || self.budget.admits(bytes + kept) {
            return self.budget.admits(bytes);
        }
        self.backend.trim();
        self.budget.admits(bytes)
    }

    /// Bytes in tensors and running programs.
    pub fn live(&self) -> usize {
        self.live.load(Relaxed)
    }

    /// Bytes live, cached, peak.
    pub fn memory(&self) -> DeviceMemory {
        DeviceMemory {
            device: self.backend.caps().name.clone(),
            live: self.live(),
            cached: self.lock().cached + self.backend.kept(),
            peak: self.peak.load(Relaxed),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The class of what was lent to the pool.
const LENT: usize = usize::MAX;

/// A buffer on loan; dropping it returns it to the pool.
pub struct Block {
    buffer: Option<Buffer>,
    size: usize,
    index: usize,
    pool: Arc<Pool>,
}

impl Block {
    /// The memory.
    pub fn buffer(&self) -> &Buffer {
        // Taken only by `drop`.
        match &self.buffer {
            Some(buffer) => buffer,
            None => unreachable!("a block keeps its buffer until it is dropped"),
        }
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.size
    }

    /// What it returns to.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The device.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.pool.backend
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(buffer) = self.buffer.take().filter(|_| self.index != LENT) {
            self.pool.put(buffer, self.size, self.index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Pool, class};
    use ferrotensor_core::Code;
    use ferrotensor_core::backend::{Backend, Batch, DeviceClass};
    use ferrotensor_cpu::{CpuBackend, Tier};
    use ferrotensor_fakes::{Faults, Hostile};
    use std::sync::Arc;

    #[test]
    fn memory_of_a_lost_device_is_not_used_again() {
        let faults = Arc::<Faults>::default();
        let device = Arc::new(Hostile::new(DeviceClass::Discrete, Arc::clone(&faults)).unwrap());
        let pool = Arc::new(Pool::new(Arc::clone(&device) as Arc<dyn Backend>, Arc::new(Budget::new(1 << 20))));
        let (kept, returned) = (pool.alloc(1000).unwrap(), pool.alloc(1000).unwrap());
        drop(returned);
        assert!(pool.memory().cached > 0);
        faults.submit.arm(1);
        device.submit(Batch::new(Vec::new()));
        assert_eq!(pool.alloc(1000).err().map(|e| e.code), Some(Code::Device), "the device is asked, which is gone");
        drop(kept);
        assert_eq!(pool.memory().cached, 0);
    }

    #[test]
    fn what_is_freed_now_takes_the_place_of_other_sizes() {
        let device = Arc::new(CpuBackend::new(Tier::Baseline).unwrap());
        let pool = Arc::new(Pool::new(device as Arc<dyn Backend>, Arc::new(Budget::new(1 << 30))));
        let cached = |bytes: &[usize]| {
            drop(bytes.iter().map(|&b| pool.alloc(b).unwrap()).collect::<Vec<_>>());
            pool.memory().cached >> 20
        };
        assert_eq!(cached(&[64 << 20, 32 << 20]), 96);
        assert_eq!(cached(&[80 << 20]), 112, "the largest of the smaller ones is gone");
        assert_eq!(cached(&[80 << 20]), 112, "and the same loop finds its own");
        assert_eq!(cached(&[24 << 20]), 112, "no larger one goes for a smaller");
        assert_eq!(cached(&[1 << 28]), 112, "what is larger than all that is kept is not kept");
        // 440 MiB came back after the 32 MiB that are still there.
        let rounds = (0..).take_while(|_| cached(&[24 << 20]) == 112).count();
        assert_eq!(rounds, 3, "but what nobody took while half a GiB came back goes");
        assert_eq!(pool.memory().cached >> 20, 104, "as far as there must be room");
    }

    #[test]
    fn classes_waste_at_most_a_quarter_and_are_ordered() {
        let mut last = (0, 0);
        for bytes in 0..100_000usize {
            let (index, size) = class(bytes).unwrap();
            assert!(size >= bytes && (bytes < 64 || size * 4 <= bytes * 5 + 4), "{bytes} -> {size}");
            assert!((index, size) >= last, "{bytes}");
            assert_eq!(class(size), Some((index, size)), "a class is its own");
            last = (index, size);
        }
        assert_eq!(class(usize::MAX), None);
    }
}

//! Memory in an address space of its own: a buffer is a number, and only the device can turn it into bytes.

use ferrotensor_core::backend::{Buffer, DeviceBuffer};
use ferrotensor_core::{Error, Result};
use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What fresh memory holds: whoever reads what was never written is found out.
const POISON: u8 = 0xA5;

/// The device's memory.
#[derive(Default)]
pub struct Memory {
    blocks: Mutex<Blocks>,
    lost: AtomicBool,
}

#[derive(Default)]
struct Blocks {
    next: u64,
    bytes: HashMap<u64, Vec<u8>>,
}

/// A name for a block of the device's memory.
pub struct FakeBuffer {
    id: u64,
    bytes: usize,
    memory: Arc<Memory>,
}

impl DeviceBuffer for FakeBuffer {
    fn bytes(&self) -> usize {
        self.bytes
    }
    fn is_lost(&self) -> bool {
        self.memory.is_lost()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for FakeBuffer {
    fn drop(&mut self) {
        self.memory.lock().bytes.remove(&self.id);
    }
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The device is gone, with all that is on it.
    pub fn lose(&self) {
        self.lost.store(true, Ordering::Release);
    }

    /// Whether the device is gone.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// A new block, poisoned.
    pub fn alloc(self: &Arc<Self>, bytes: usize) -> Buffer {
        let mut blocks = self.lock();
        blocks.next += 1;
        let id = blocks.next;
        blocks.bytes.insert(id, vec![POISON; bytes]);
        Arc::new(FakeBuffer { id, bytes, memory: Arc::clone(self) })
    }

    /// Bytes in blocks that exist.
    pub fn used(&self) -> usize {
        self.lock().bytes.values().map(Vec::len).sum()
    }

    /// Calls `f` with the bytes of a buffer of this device.
    ///
    /// # Errors
    /// `Code::Internal` for a buffer of another device.
    pub fn with<R>(self: &Arc<Self>, buffer: &Buffer, f: impl FnOnce(&mut [u8]) -> R) -> Result<R> {
        let foreign = || Error::internal("a buffer of another device");
        let own =
            buffer.as_any().downcast_ref::<FakeBuffer>().filter(|b| Arc::ptr_eq(&b.memory, self)).ok_or_else(foreign)?;
        self.lock().bytes.get_mut(&own.id).map(|bytes| f(bytes)).ok_or_else(foreign)
    }
}

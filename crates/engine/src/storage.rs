//! Materialised tensors: shared device memory, when it is ready, and whether it failed.

use crate::pool::Block;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::{DType, Error, Result};
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

type Waiter = Box<dyn FnOnce() + Send>;

/// The end of one program's work: set once.
#[derive(Default)]
pub struct Completion {
    done: AtomicBool,
    waiters: Mutex<Vec<Waiter>>,
    wake: Condvar,
}

impl Completion {
    /// Whether the work has ended.
    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Waiter>> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the work: wakes and calls everyone who waits.
    pub fn finish(&self) {
        let waiters = {
            let mut guard = self.lock();
            self.done.store(true, Ordering::Release);
            std::mem::take(&mut *guard)
        };
        self.wake.notify_all();
        for waiter in waiters {
            waiter();
        }
    }

    /// Blocks until the work has ended.
    pub fn wait(&self) {
        let mut guard = self.lock();
        while !self.is_done() {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Calls `f` when the work has ended, at once if it has.
    pub fn on_done(&self, f: Waiter) {
        let mut guard = self.lock();
        if self.is_done() {
            drop(guard);
            f();
        } else {
            guard.push(f);
        }
    }
}

/// Device memory with its state.
pub struct Storage {
    block: Block,
    device: u16,
    /// None: ready from the start.
    completion: Option<Arc<Completion>>,
    error: OnceLock<Error>,
    /// Whether memory that was lent is what it was.
    check: Option<Check>,
}

/// Says whether something is as it was, or the error that every read reports from then on.
pub type Check = Arc<dyn Fn() -> Result<()> + Send + Sync>;

impl Storage {
    /// Memory that is written already, or will be when `completion` ends.
    pub fn new(block: Block, device: u16, completion: Option<Arc<Completion>>) -> Self {
        Storage { block, device, completion, error: OnceLock::new(), check: None }
    }

    /// Memory that was lent, and how it is looked after.
    pub fn lent(block: Block, device: u16, check: Check) -> Self {
        Storage { check: Some(check), ..Storage::new(block, device, None) }
    }

    /// The memory.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// Whether its program has ended.
    pub fn is_ready(&self) -> bool {
        self.completion.as_ref().is_none_or(|c| c.is_done())
    }

    /// Its program, if that may still run.
    pub fn completion(&self) -> Option<&Arc<Completion>> {
        self.completion.as_ref()
    }

    /// The failure every read reports.
    pub fn error(&self) -> Option<&Error> {
        if let Some(Err(error)) = self.check.as_ref().map(|check| check()) {
            self.fail(error);
        }
        self.error.get()
    }

    /// Remembers a failure; the first one stays.
    pub fn fail(&self, error: Error) {
        let _ = self.error.set(error);
    }
}

/// A tensor with a value (or a program on its way to one): a view of shared storage.
pub struct Tensor {
    dtype: DType,
    layout: Layout,
    storage: Arc<Storage>,
}

/// A view of a storage that does not keep it alive.
pub struct WeakTensor {
    dtype: DType,
    layout: Layout,
    storage: Weak<Storage>,
}

impl WeakTensor {
    /// The tensor, if any tensor on that storage still lives.
    pub fn upgrade(&self) -> Option<Tensor> {
        let storage = self.storage.upgrade()?;
        Some(Tensor { dtype: self.dtype, layout: self.layout.clone(), storage })
    }

    /// Whether [`WeakTensor::upgrade`] has become impossible.
    pub fn is_gone(&self) -> bool {
        self.storage.strong_count() == 0
    }
}

impl Tensor {
    /// The same view without keeping the storage alive.
    pub fn downgrade(&self) -> WeakTensor {
        WeakTensor { dtype: self.dtype, layout: self.layout.clone(), storage: Arc::downgrade(&self.storage) }
    }

    /// A view of a storage; the layout must lie inside it.
    pub(crate) fn new(dtype: DType, layout: Layout, storage: Arc<Storage>) -> Self {
        Tensor { dtype, layout, storage }
    }

    /// The program that computes it, unless that has ended.
    pub fn pending(&self) -> Option<&Arc<Completion>> {
        self.storage.completion().filter(|c| !c.is_done())
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Axis sizes.
    pub fn dims(&self) -> &[usize] {
        self.layout.dims()
    }

    /// How its elements lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Device number.
    pub fn device(&self) -> u16 {
        self.storage.device
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.layout.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.layout.is_empty()
    }

    /// Bytes of the memory it keeps alive (views share it).
    pub fn storage_bytes(&self) -> usize {
        self.storage.block.bytes()
    }

    /// Its memory.
    pub(crate) fn storage(&self) -> &Arc<Storage> {
        &self.storage
    }

    /// Whether its value, or its failure, is known.
    pub fn is_ready(&self) -> bool {
        self.storage.is_ready()
    }

    /// Blocks until it is ready.
    ///
    /// # Errors
    /// The failure of its program, the same at every call.
    pub fn wait(&self) -> Result<()> {
        if let Some(completion) = &self.storage.completion {
            completion.wait();
        }
        self.storage.error().map_or(Ok(()), |e| Err(e.clone()))
    }

    /// Calls `f` when it is ready: at once, or on the executor's thread.
    pub fn on_ready(&self, f: Box<dyn FnOnce() + Send>) {
        match &self.storage.completion {
            Some(completion) => completion.on_done(f),
            None => f(),
        }
    }

    /// Copies host bytes to a place of its memory. For tensors of [`crate::Session::reserve`] only, by whoever reserved them, before
    /// anybody else sees them: tensors do not change.
    ///
    /// # Errors
    /// The device's; `Code::Internal` for bytes outside of its memory.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.storage.block.backend().upload(bytes, self.storage.block.buffer(), offset)
    }

    /// Calls `f` with the elements, dense and row-major: where they lie, if that is host memory in this order, else with a copy.
    ///
    /// # Errors
    /// Those of [`Tensor::read`], and `Code::OutOfMemory`.
    pub fn lend(&self, f: &mut dyn FnMut(Cow<'_, [u8]>)) -> Result<()> {
        self.wait()?;
        let size = self.dtype.bytes();
        let len = self.len() * size;
        if len > 0 && self.layout.is_row_major() {
            let start = self.layout.offset() * size;
            let (backend, buffer) = (self.storage.block.backend(), self.storage.block.buffer());
            let mut lend = |inputs: &[&[u8]], _: &mut [&mut [u8]]| {
                inputs.iter().for_each(|&bytes| f(bytes.into()));
                Ok(())
            };
            if let Some(lent) = backend.in_place(&[(buffer, start..start + len)], &[], &mut lend) {
                // What was lent may have gone meanwhile.
                return lent.and_then(|()| self.wait());
            }
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(len).map_err(|_| Error::out_of_memory(format!("no memory to read {len} bytes")))?;
        bytes.resize(len, 0);
        self.read(&mut bytes)?;
        f(bytes.into());
        Ok(())
    }

    /// Copies the elements, dense and row-major, into `out`.
    ///
    /// # Errors
    /// The failure of its program; `Code::Internal` if it is not ready or `out` has another size.
    pub fn read(&self, out: &mut [u8]) -> Result<()> {
        if !self.is_ready() {
            return Err(Error::internal("read of a pending tensor"));
        }
        if let Some(error) = self.storage.error() {
            return Err(error.clone());
        }
        let size = self.dtype.bytes();
        if out.len() != self.len() * size {
            return Err(Error::internal(format!("read of {} bytes into {}", self.len() * size, out.len())));
        }
        if out.is_empty() {
            return Ok(());
        }
        let (backend, buffer) = (self.storage.block.backend(), self.storage.block.buffer());
        if self.layout.is_row_major() {
            backend.download(buffer, self.layout.offset() * size, out)?;
        } else {
            crate::run::read_strided(self, out)?;
        }
        // What was lent may have gone meanwhile.
        self.storage.error().map_or(Ok(()), |error| Err(error.clone()))
    }
}

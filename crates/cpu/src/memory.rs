//! Host memory of tensors: 64-byte aligned, obtained fallibly, counted; copies of operands lie beside (`kept.rs`). The pool of buffers is the
//! engine's.

use crate::kept::Kept;
use ferrotensor_core::backend::{Buffer, DeviceBuffer};
use ferrotensor_core::error::{Error, Result};
use std::alloc::Layout;
use std::any::Any;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Alignment of every buffer: a cache line, and the widest vector.
pub const ALIGN: usize = 64;

/// From here memory comes straight from the operating system and goes straight back (glibc keeps large frees otherwise).
pub const MAP_FROM: usize = 1 << 20;

/// A block of host memory, freed when dropped.
pub struct Block {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a block is plain memory owned by this value; who may read or write it when is its user's affair.
unsafe impl Send for Block {}
// SAFETY: as above; no method of `&Block` touches the memory.
unsafe impl Sync for Block {}

impl Block {
    /// `bytes` of undefined memory.
    ///
    /// # Errors
    /// `Code::OutOfMemory`, with nothing changed.
    pub fn new(bytes: usize) -> Result<Block> {
        let refused = || Error::out_of_memory(format!("the operating system refused {bytes} bytes"));
        #[cfg(feature = "fault")]
        if crate::fault::MEMORY.strikes_twice() {
            return Err(refused());
        }
        let start = if bytes >= MAP_FROM {
            map(bytes)
        } else {
            let layout = small(bytes).ok_or_else(refused)?;
            // SAFETY: the layout has a size above 0.
            NonNull::new(unsafe { std::alloc::alloc(layout) })
        };
        Ok(Block { start: start.ok_or_else(refused)?, bytes })
    }

    /// The first byte. Valid for [`Block::bytes`] bytes while the block lives.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.bytes >= MAP_FROM {
            // SAFETY: the block came from `map` with this size, and nobody can reach it any more.
            unsafe { unmap(self.start, self.bytes) };
        } else if let Some(layout) = small(self.bytes) {
            // SAFETY: the block came from `alloc` with this layout.
            unsafe { std::alloc::dealloc(self.start.as_ptr(), layout) };
        }
    }
}

/// The memory of one device: what its buffers take, and the copies beside them.
#[derive(Default)]
pub struct Account {
    used: AtomicUsize,
    /// Copies of operands.
    pub kept: Kept,
}

impl Account {
    /// Bytes in buffers.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

/// Memory that somebody else has: a mapped file. It is read alone.
pub trait Lent: Send + Sync {
    /// All of it; always the same.
    fn bytes(&self) -> &[u8];
}

/// Whose memory a buffer is.
enum Memory {
    Own(Block),
    Lent(Arc<dyn Lent>, Range<usize>),
}

/// A tensor's memory: a block that is counted, or a part of what was lent.
pub struct CpuBuffer {
    memory: Memory,
    account: Arc<Account>,
}

/// What every kernel can read: words of the widest element's parts.
const LENT_ALIGN: usize = 8;

/// A buffer of the device that `beside` is a buffer of, in memory that was lent; none where that is another device than this one, or the bytes do
/// not lie as its kernels need them.
pub fn lend(beside: &Buffer, memory: &Arc<dyn Lent>, range: Range<usize>) -> Option<Buffer> {
    let beside: &CpuBuffer = beside.as_any().downcast_ref()?;
    let start = memory.bytes().get(range.clone())?.as_ptr();
    let account = Arc::clone(&beside.account);
    let fits = (start as usize).is_multiple_of(LENT_ALIGN);
    fits.then(|| Arc::new(CpuBuffer { memory: Memory::Lent(Arc::clone(memory), range), account }) as Buffer)
}

impl CpuBuffer {
    /// `bytes` of undefined memory, counted in an account.
    ///
    /// # Errors
    /// `Code::OutOfMemory`, with nothing changed.
    pub fn new(bytes: usize, account: &Arc<Account>) -> Result<CpuBuffer> {
        let block = Block::new(bytes)?;
        account.used.fetch_add(bytes, Ordering::Relaxed);
        Ok(CpuBuffer { memory: Memory::Own(block), account: Arc::clone(account) })
    }

    /// The first byte. Valid for [`DeviceBuffer::bytes`] bytes while this buffer lives; reading or writing through it must
    /// be ordered with the batches that use the buffer. What is lent is not written.
    pub fn as_ptr(&self) -> *mut u8 {
        match &self.memory {
            Memory::Own(block) => block.as_ptr(),
            Memory::Lent(memory, range) => memory.bytes().as_ptr().wrapping_add(range.start).cast_mut(),
        }
    }

    /// Whether it may be written.
    pub fn is_own(&self) -> bool {
        matches!(self.memory, Memory::Own(_))
    }
}

impl DeviceBuffer for CpuBuffer {
    fn bytes(&self) -> usize {
        match &self.memory {
            Memory::Own(block) => block.bytes(),
            Memory::Lent(_, range) => range.len(),
        }
    }

    fn invalidate(&self) {
        self.account.kept.forget(self.as_ptr());
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for CpuBuffer {
    fn drop(&mut self) {
        self.invalidate();
        if let Memory::Own(block) = &self.memory {
            self.account.used.fetch_sub(block.bytes(), Ordering::Relaxed);
        }
    }
}

fn small(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.max(ALIGN), ALIGN).ok()
}

#[cfg(unix)]
fn map(bytes: usize) -> Option<NonNull<u8>> {
    // SAFETY: an anonymous private mapping at an address the kernel chooses touches no existing memory.
    let start = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANON,
            -1,
            0,
        )
    };
    if start == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: a mapping that was just made.
    unsafe { expect_all(start.cast(), bytes) };
    NonNull::new(start.cast())
}

/// Says of memory that all of it will be written, which may have no pages yet: a result's array, that JavaScript has made. Faulting 40 MB in 4 KB
/// pages costs 17 ms, in huge pages 1 ms.
pub fn expect_writes<T>(to: &mut [T]) {
    let bytes = size_of_val(to);
    if bytes >= HUGE_FROM {
        // SAFETY: memory that is borrowed.
        unsafe { expect_all(to.as_mut_ptr().cast(), bytes) };
    }
}

/// From here memory that others made is asked for in huge pages: of less, their rounding would be a good part.
const HUGE_FROM: usize = 8 << 20;

/// Advice alone: refusal is harmless.
///
/// # Safety
/// Memory of the caller's.
#[cfg(unix)]
unsafe fn expect_all(start: *mut u8, bytes: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        // Of pages of any size up to 64 KiB: the system takes whole ones.
        let first = start.align_offset(1 << 16);
        // SAFETY: advice about a part of memory that is the caller's, which changes nothing in it.
        unsafe { libc::madvise(start.wrapping_add(first).cast(), bytes.saturating_sub(first), libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (start, bytes);
}

#[cfg(not(unix))]
unsafe fn expect_all(_: *mut u8, _: usize) {}

/// # Safety
/// The block came from `map` with this size and is no longer used.
#[cfg(unix)]
unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
    // SAFETY: by the contract above.
    unsafe { libc::munmap(start.as_ptr().cast(), bytes) };
}

#[cfg(windows)]
mod windows {
    use std::ffi::c_void;
    pub const COMMIT_RESERVE: u32 = 0x3000;
    pub const RELEASE: u32 = 0x8000;
    pub const READ_WRITE: u32 = 0x04;
    #[link(name = "kernel32")]
    unsafe extern "system" {
        pub fn VirtualAlloc(address: *mut c_void, size: usize, kind: u32, protect: u32) -> *mut c_void;
        pub fn VirtualFree(address: *mut c_void, size: usize, kind: u32) -> i32;
    }
}

#[cfg(windows)]
fn map(bytes: usize) -> Option<NonNull<u8>> {
    // SAFETY: new pages at an address the system chooses touch no existing memory.
    NonNull::new(unsafe {
        windows::VirtualAlloc(std::ptr::null_mut(), bytes, windows::COMMIT_RESERVE, windows::READ_WRITE).cast()
    })
}

/// # Safety
/// The block came from `map` and is no longer used.
#[cfg(windows)]
unsafe fn unmap(start: NonNull<u8>, _bytes: usize) {
    // SAFETY: by the contract above; a release names no size.
    unsafe { windows::VirtualFree(start.as_ptr().cast(), 0, windows::RELEASE) };
}

/// Bytes of memory this machine has; 0 where the system does not say.
pub fn machine_total() -> usize {
    // Miri knows no such constant.
    #[cfg(all(unix, not(miri)))]
    {
        // SAFETY: sysconf reads a constant of the system.
        let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
        usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(size).unwrap_or(0))
    }
    #[cfg(any(not(unix), miri))]
    0
}

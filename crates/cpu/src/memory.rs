//! Host memory of tensors: 64-byte aligned, obtained fallibly, counted; copies of operands lie beside (`kept.rs`). The pool of buffers is the
//! engine's.

use crate::kept::Kept;
use ferrotensor_core::backend::DeviceBuffer;
use ferrotensor_core::error::{Error, Result};
use std::alloc::Layout;
use std::any::Any;
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

/// A tensor's memory: a block that is counted.
pub struct CpuBuffer {
    block: Block,
    account: Arc<Account>,
}

impl CpuBuffer {
    /// `bytes` of undefined memory, counted in an account.
    ///
    /// # Errors
    /// `Code::OutOfMemory`, with nothing changed.
    pub fn new(bytes: usize, account: &Arc<Account>) -> Result<CpuBuffer> {
        let block = Block::new(bytes)?;
        account.used.fetch_add(bytes, Ordering::Relaxed);
        Ok(CpuBuffer { block, account: Arc::clone(account) })
    }

    /// The first byte. Valid for [`DeviceBuffer::bytes`] bytes while this buffer lives; reading or writing through it must
    /// be ordered with the batches that use the buffer.
    pub fn as_ptr(&self) -> *mut u8 {
        self.block.as_ptr()
    }
}

impl DeviceBuffer for CpuBuffer {
    fn bytes(&self) -> usize {
        self.block.bytes()
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
        self.account.used.fetch_sub(self.block.bytes(), Ordering::Relaxed);
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
    // Faulting 40 MB in 4 KB pages costs 17 ms, in huge pages 1 ms. Refusal is harmless.
    // SAFETY: advice about a mapping that was just made.
    #[cfg(all(target_os = "linux", not(miri)))]
    unsafe {
        libc::madvise(start, bytes, libc::MADV_HUGEPAGE)
    };
    NonNull::new(start.cast())
}

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

//! Mapped files that another program shortens: looking at a part that is gone raises SIGBUS, which would end the process. Here that part
//! becomes zeros, and the mapping remembers it, so that whoever looked can say so. Windows refuses to shorten a mapped file.
//!
//! The handler is the process's, installed at the first mapping. What is not ours goes to the one that was there before; one that is installed
//! later, and passes nothing on, is as if there were none here.

/// Mappings that are guarded at a time; a file beyond them is read instead.
#[cfg(unix)]
const MOST: usize = 1024;

/// A guarded mapping. Dropped before its memory is unmapped.
pub struct Guard {
    #[cfg(unix)]
    slot: &'static unix::Slot,
}

#[cfg(not(unix))]
impl Guard {
    /// Guards `len` bytes of mapped memory.
    pub fn new(_: *const u8, _: usize) -> Option<Guard> {
        Some(Guard {})
    }

    /// Whether nothing that was looked at was gone.
    pub fn is_whole(&self) -> bool {
        true
    }
}

#[cfg(unix)]
impl Guard {
    /// Guards `len` bytes of mapped memory; none where there are too many mappings already.
    pub fn new(start: *const u8, len: usize) -> Option<Guard> {
        unix::slot(start as usize, len).map(|slot| Guard { slot })
    }

    /// Whether nothing that was looked at was gone.
    pub fn is_whole(&self) -> bool {
        !self.slot.lost.load(std::sync::atomic::Ordering::Acquire)
    }
}

#[cfg(unix)]
impl Drop for Guard {
    fn drop(&mut self) {
        self.slot.start.store(unix::FREE, std::sync::atomic::Ordering::Release);
    }
}

#[cfg(unix)]
mod unix {
    use super::MOST;
    use std::ffi::{c_int, c_void};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// No mapping begins there, nor at [`CLAIMED`].
    pub const FREE: usize = 0;
    const CLAIMED: usize = 1;

    /// Where a mapping lies. A signal handler takes no lock: it reads these.
    pub struct Slot {
        pub start: AtomicUsize,
        len: AtomicUsize,
        pub lost: AtomicBool,
    }

    static SLOTS: [Slot; MOST] =
        [const { Slot { start: AtomicUsize::new(FREE), len: AtomicUsize::new(0), lost: AtomicBool::new(false) } }; MOST];

    /// What handled the signal before, and the size of a page.
    static BEFORE: OnceLock<(libc::sigaction, usize)> = OnceLock::new();

    pub fn slot(start: usize, len: usize) -> Option<&'static Slot> {
        install()?;
        let free = |slot: &&Slot| slot.start.compare_exchange(FREE, CLAIMED, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        let slot = SLOTS.iter().find(free)?;
        slot.lost.store(false, Ordering::Relaxed);
        slot.len.store(len, Ordering::Relaxed);
        slot.start.store(start, Ordering::Release);
        Some(slot)
    }

    /// Installs the handler, once. None where the system refuses.
    fn install() -> Option<()> {
        static DONE: OnceLock<bool> = OnceLock::new();
        DONE.get_or_init(|| {
            // SAFETY: plain data, for which zeros are valid; `sigaction` reads and writes what it is given; `handle` is what SA_SIGINFO expects.
            unsafe {
                let (mut ours, mut before): (libc::sigaction, libc::sigaction) = (std::mem::zeroed(), std::mem::zeroed());
                let handler: unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = handle;
                ours.sa_sigaction = handler as usize;
                ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigemptyset(&mut ours.sa_mask);
                let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap_or(1 << 16);
                // Known before the handler can run.
                if libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut before) != 0 || BEFORE.set((before, page)).is_err() {
                    return false;
                }
                libc::sigaction(libc::SIGBUS, &ours, std::ptr::null_mut()) == 0
            }
        })
        .then_some(())
    }

    /// Puts zeros where a mapped file has ended, from the page that was looked at to the end of the mapping.
    ///
    /// # Safety
    /// Called by the system with the signal's description.
    unsafe extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
        let Some((before, page)) = BEFORE.get() else { return };
        // SAFETY: the system's description of a fault.
        let address = unsafe { (*info).si_addr() } as usize;
        for slot in &SLOTS {
            let (start, len) = (slot.start.load(Ordering::Acquire), slot.len.load(Ordering::Relaxed));
            if start <= CLAIMED || address < start || address - start >= len {
                continue;
            }
            slot.lost.store(true, Ordering::Release);
            let (first, end) = (address & !(page - 1), (start + len).next_multiple_of(*page));
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON | libc::MAP_FIXED;
            // SAFETY: a system call, which the handler may make, on pages of a mapping that its owner keeps while it is guarded. They are replaced
            // by others that can be read as those could.
            if unsafe { libc::mmap(first as *mut c_void, end - first, libc::PROT_READ, flags, -1, 0) } != libc::MAP_FAILED {
                return;
            }
        }
        // SAFETY: what `sigaction` said of the handler before: its flags say which of the two kinds of functions it is. Without one the signal's own
        // action is restored, and comes about as the instruction is repeated.
        unsafe {
            match before.sa_sigaction {
                libc::SIG_DFL | libc::SIG_IGN => {
                    let mut default: libc::sigaction = std::mem::zeroed();
                    default.sa_sigaction = libc::SIG_DFL;
                    libc::sigaction(libc::SIGBUS, &default, std::ptr::null_mut());
                }
                theirs if before.sa_flags & libc::SA_SIGINFO != 0 => {
                    let theirs: unsafe extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) = std::mem::transmute(theirs);
                    theirs(signal, info, context);
                }
                theirs => {
                    let theirs: unsafe extern "C" fn(c_int) = std::mem::transmute(theirs);
                    theirs(signal);
                }
            }
        }
    }
}

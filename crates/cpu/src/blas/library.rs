//! The functions of an opened library: products with the calling convention of Fortran, which every BLAS has, and what else it tells.

use libloading::Library as Opened;
use object::read::ReadCache;
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, elf};
use std::ffi::{CStr, c_char, c_int};

/// `xGEMM` of the reference BLAS. Integers are passed by address: of eight bytes, little-endian, a library of 32-bit integers reads the first four.
/// The last two are the lengths of the texts.
pub type Gemm<T> = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const i64,
    *const i64,
    *const i64,
    *const T,
    *const T,
    *const i64,
    *const T,
    *const i64,
    *const T,
    *mut T,
    *const i64,
    usize,
    usize,
);
type Ddot = unsafe extern "C" fn(*const i64, *const f64, *const i64, *const f64, *const i64) -> f64;

/// What is behind the names of functions: nothing, the mark of 64-bit integers, or a compiler's habit of none.
const SUFFIXES: [&str; 3] = ["_", "_64_", ""];

/// Products, and how large integers may be.
pub struct Products {
    /// Of float32.
    pub float32: Gemm<f32>,
    /// Of float64.
    pub float64: Gemm<f64>,
    /// Whether integers have 64 bits.
    pub is_wide: bool,
}

/// An opened library, which stays open: its threads may live as long as the process.
pub struct Library {
    opened: &'static Opened,
    /// The name it was opened by.
    pub file: String,
}

impl Library {
    /// Opens a library.
    ///
    /// # Errors
    /// The system's reason.
    pub fn open(file: &str) -> Result<Library, String> {
        // Where a name without a folder leads, the system's loader alone knows.
        if file.contains(std::path::is_separator) {
            // Reading what is no file may never end.
            if std::fs::metadata(file).is_ok_and(|about| !about.is_file()) {
                return Err(format!("'{file}' is no file"));
            }
            if is_truncated(file) {
                return Err(format!("'{file}' is incomplete: it ends before what is to be loaded of it does"));
            }
        }
        // SAFETY: what a library does when it is loaded is its own affair; it is one that the system's loader finds by a vendor's name, or
        // one that the user names, who trusts it as every native module.
        let opened = unsafe { Opened::new(file) }.map_err(|e| with_causes(&e))?;
        Ok(Library { opened: Box::leak(Box::new(opened)), file: file.into() })
    }

    /// A function by name.
    ///
    /// # Safety
    /// `F` is its type.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> Option<F> {
        // SAFETY: as the caller promises; the library stays.
        unsafe { self.opened.get::<F>(name).ok().map(|f| *f) }
    }

    /// Its products.
    ///
    /// # Errors
    /// Which functions are missing.
    pub fn products(&self) -> Result<Products, String> {
        for suffix in SUFFIXES {
            // SAFETY: the types are those of the reference BLAS.
            let found = unsafe {
                let gemm = (self.function(&format!("sgemm{suffix}")), self.function(&format!("dgemm{suffix}")));
                (gemm.0, gemm.1, self.function::<Ddot>(&format!("ddot{suffix}")))
            };
            if let (Some(float32), Some(float64), Some(ddot)) = found {
                return Ok(Products { float32, float64, is_wide: is_wide(ddot) });
            }
        }
        Err(format!("'{}' is no BLAS: it lacks sgemm, dgemm or ddot", self.file))
    }

    /// What a function without arguments says in a text.
    pub fn text(&self, name: &str) -> Option<String> {
        // SAFETY: the functions that are asked return a text of their own, or nothing.
        unsafe { read_text(self.function::<unsafe extern "C" fn() -> *const c_char>(name)?()) }
    }

    /// What a function says in a text of an integer that another one gives.
    pub fn text_of(&self, number: &str, name: &str) -> Option<String> {
        // SAFETY: as of `text`.
        unsafe {
            let number = self.function::<unsafe extern "C" fn() -> c_int>(number)?();
            read_text(self.function::<unsafe extern "C" fn(c_int) -> *const c_char>(name)?(number))
        }
    }

    /// What a function writes into a buffer.
    pub fn text_into(&self, name: &str) -> Option<String> {
        let mut buffer = [0u8; 512];
        // SAFETY: the function takes a buffer and its length, and ends what it writes with a zero; the last byte stays one.
        unsafe { self.function::<unsafe extern "C" fn(*mut c_char, c_int)>(name)?(buffer.as_mut_ptr().cast(), 511) };
        CStr::from_bytes_until_nul(&buffer).ok().map(|text| text.to_string_lossy().trim().to_owned())
    }

    /// Hands a count to a function.
    pub fn set_count(&self, name: &str, count: usize) {
        // SAFETY: the function takes an int, or an integer of eight bytes, in the same register.
        if let Some(set) = unsafe { self.function::<unsafe extern "C" fn(i64)>(name) } {
            // SAFETY: as above.
            unsafe { set(count as i64) };
        }
    }
}

/// Whether a library of Linux (a 64-bit ELF file) ends before the last byte that is mapped of it. The dynamic linkers of glibc and musl do not
/// compare, and the first look at a page that is not there ends the process (SIGBUS). What is no such file is not judged.
fn is_truncated(file: &str) -> bool {
    let end = |file: &std::fs::File| {
        let data = ReadCache::new(file);
        let header = elf::FileHeader64::<Endianness>::parse(&data).ok()?;
        let endian = header.endian().ok()?;
        if usize::from(header.e_phentsize(endian)) != size_of::<elf::ProgramHeader64<Endianness>>() {
            return None;
        }
        // Rows that lie behind the end of the file.
        let Ok(rows) = header.program_headers(endian, &data) else { return Some(u64::MAX) };
        let loaded = rows.iter().filter(|row| row.p_type(endian) == elf::PT_LOAD);
        loaded.map(|row| row.p_offset(endian).saturating_add(row.p_filesz(endian))).max()
    };
    let lengths = std::fs::File::open(file).and_then(|file| Ok((file.metadata()?.len(), end(&file))));
    lengths.is_ok_and(|(len, end)| end.is_some_and(|end| end > len))
}

/// # Safety
/// `text` is null or ends with a zero.
unsafe fn read_text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: as the caller promises.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().trim().to_owned())
}

/// An error and what is behind it: libloading keeps the system's words there.
fn with_causes(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => with_causes(cause),
        None => error.to_string(),
    }
}

/// Whether the library reads integers of 64 bits: a product of vectors of a negative length is 0, where only the first half of the integer
/// is read it is 1.
fn is_wide(ddot: Ddot) -> bool {
    let (x, length, step) = (3.0, (-1i64 << 32) | 1, 1);
    // SAFETY: one element is read, or none.
    unsafe { ddot(&length, &x, &step, &x, &step) == 0.0 }
}

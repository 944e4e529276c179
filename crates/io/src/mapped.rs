//! The bytes of a file: mapped into memory, or read. Mapping leaves paging to the system, so that nothing but the part that is
//! looked at is ever read; tensors copy from it.
//!
//! The part that a file has lost because another program shortened it while it was mapped reads as zeros (`shortened.rs`), and one that is
//! written to in place may give a mixture of old and new. The length is compared before and after each decoding, and what was lost meanwhile
//! is known; whoever must read files that others rewrite in place, at the same length, asks for a copy. Our own writes replace files.

use crate::shortened::Guard;
use ferrotensor_core::{Error, Result};
use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The bytes of a source.
pub enum Content {
    /// In memory of ours.
    Owned(Vec<u8>),
    /// A mapped file, kept open so that its length can be asked for.
    Mapped {
        /// Before the mapping, so that it is dropped first.
        guard: Guard,
        /// The mapping.
        bytes: Mmap,
        /// The file under it.
        file: File,
    },
}

impl Content {
    /// Opens a regular file; with `mapped` its bytes stay where they are.
    ///
    /// # Errors
    /// `Code::File` with the system's reason; `Code::OutOfMemory` for a copy that does not fit.
    pub fn open(path: &Path, mapped: bool) -> Result<Content> {
        let failed = |e: io::Error| failure("open", path, &e);
        // A pipe without a writer would block at `open`.
        let found = std::fs::metadata(path).map_err(failed)?;
        if found.is_dir() {
            return Err(failure("read", path, &ErrorKind::IsADirectory.into()));
        }
        if !found.is_file() {
            return Err(Error::file(format!("EINVAL: not a regular file, open '{}'", path.display())));
        }
        let mut file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let length = usize::try_from(length).map_err(|_| failed(ErrorKind::FileTooLarge.into()))?;
        // The system maps no empty ranges.
        if mapped && length > 0 {
            // SAFETY: the mapping is private and read-only. That its bytes stay as they are while we look is the caller's part
            // (above); whatever they are, decoding checks every offset against the mapping's length.
            let bytes = unsafe { MmapOptions::new().len(length).map(&file) }.map_err(|e| failure("map", path, &e))?;
            if let Some(guard) = Guard::new(bytes.as_ptr(), length) {
                return Ok(Content::Mapped { guard, bytes, file });
            }
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).map_err(|_| Error::out_of_memory(format!("no memory to read {length} bytes")))?;
        (&mut file).take(length as u64).read_to_end(&mut bytes).map_err(|e| failure("read", path, &e))?;
        Ok(Content::Owned(bytes))
    }

    /// Whether it is a mapped file.
    pub fn is_mapped(&self) -> bool {
        matches!(self, Content::Mapped { .. })
    }

    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Content::Owned(bytes) => bytes,
            Content::Mapped { bytes, .. } => bytes,
        }
    }

    /// Whether a mapped file still has the length it was mapped with, and had it whenever it was looked at.
    ///
    /// # Errors
    /// `Code::Format` where it has, or had, another one.
    pub fn check(&self) -> Result<()> {
        let Content::Mapped { guard, bytes, file } = self else { return Ok(()) };
        match file.metadata() {
            Ok(now) if now.len() == bytes.len() as u64 && guard.is_whole() => Ok(()),
            _ => Err(Error::format("the file was changed while it was being read; { mapped: false } reads a copy first")),
        }
    }
}

/// What the system refused, worded as Node words it: `ENOENT: no such file or directory, open 'name'`.
pub fn failure(call: &str, path: &Path, error: &io::Error) -> Error {
    let (code, words) = named(error);
    Error::file(format!("{code}: {words}, {call} '{}'", path.display()))
}

/// The system's name of an error, and words for it.
fn named(error: &io::Error) -> (&'static str, String) {
    if let Some((code, words)) = system(error) {
        return (code, words.into());
    }
    let known = match error.kind() {
        ErrorKind::NotFound => ("ENOENT", "no such file or directory"),
        ErrorKind::PermissionDenied => ("EACCES", "permission denied"),
        ErrorKind::AlreadyExists => ("EEXIST", "file already exists"),
        ErrorKind::IsADirectory => ("EISDIR", "illegal operation on a directory"),
        ErrorKind::NotADirectory => ("ENOTDIR", "not a directory"),
        ErrorKind::StorageFull => ("ENOSPC", "no space left on device"),
        ErrorKind::QuotaExceeded => ("EDQUOT", "disk quota exceeded"),
        ErrorKind::FileTooLarge => ("EFBIG", "file too large"),
        ErrorKind::ReadOnlyFilesystem => ("EROFS", "read-only file system"),
        ErrorKind::InvalidFilename => ("ENAMETOOLONG", "name too long or not valid"),
        ErrorKind::InvalidInput => ("EINVAL", "invalid argument"),
        ErrorKind::ResourceBusy => ("EBUSY", "resource busy or locked"),
        ErrorKind::OutOfMemory => ("ENOMEM", "not enough memory"),
        ErrorKind::Interrupted => ("EINTR", "interrupted system call"),
        _ => return ("UNKNOWN", error.to_string()),
    };
    (known.0, known.1.into())
}

/// Errors that the standard library has no kind for.
#[cfg(unix)]
fn system(error: &io::Error) -> Option<(&'static str, &'static str)> {
    match error.raw_os_error()? {
        libc::EPERM => Some(("EPERM", "operation not permitted")),
        libc::EIO => Some(("EIO", "i/o error")),
        libc::EMFILE => Some(("EMFILE", "too many open files")),
        libc::ENFILE => Some(("ENFILE", "file table overflow")),
        libc::ELOOP => Some(("ELOOP", "too many symbolic links encountered")),
        libc::ENXIO => Some(("ENXIO", "no such device or address")),
        _ => None,
    }
}

#[cfg(not(unix))]
fn system(_: &io::Error) -> Option<(&'static str, &'static str)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrotensor_core::error::Code;

    #[test]
    fn a_file_is_the_same_mapped_and_read_and_its_change_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        std::fs::write(&path, b"abc").expect("written");
        let (mapped, owned) = (Content::open(&path, true).expect("mapped"), Content::open(&path, false).expect("read"));
        assert_eq!((mapped.bytes(), owned.bytes()), (&b"abc"[..], &b"abc"[..]));
        assert!(mapped.check().is_ok());
        std::fs::write(&path, b"ab").expect("written");
        assert_eq!(mapped.check().expect_err("shorter").code, Code::Format);
        assert!(owned.check().is_ok());
        std::fs::write(&path, b"").expect("written");
        assert_eq!(Content::open(&path, true).expect("empty").bytes(), b"");
    }

    #[cfg(unix)]
    #[test]
    fn what_a_mapped_file_lost_reads_as_zeros_and_is_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, other) = (folder.path().join("x"), folder.path().join("y"));
        let length = 1 << 20;
        std::fs::write(&path, vec![7u8; length]).expect("written");
        std::fs::write(&other, vec![8u8; length]).expect("written");
        let (lost, whole) = (Content::open(&path, true).expect("mapped"), Content::open(&other, true).expect("mapped"));
        let shorten =
            |to: u64| File::options().write(true).open(&path).and_then(|file| file.set_len(to)).expect("shortened");
        shorten(1 << 19);
        let sum = |bytes: &[u8]| bytes.iter().map(|&b| usize::from(b)).sum::<usize>();
        assert_eq!(sum(&lost.bytes()[..1 << 19]), 7 << 19, "what is left is there");
        assert_eq!(sum(&lost.bytes()[1 << 19..]), 0, "what is gone is zeros");
        // As long as before: only who looked meanwhile can tell.
        shorten(length as u64);
        assert_eq!(lost.check().expect_err("was shorter").code, Code::Format);
        assert_eq!(sum(whole.bytes()), 8 << 20);
        assert!(whole.check().is_ok());
        drop(lost);
        assert!(Content::open(&path, true).expect("anew").check().is_ok(), "a new mapping knows nothing of it");
    }

    #[test]
    fn what_cannot_be_opened_has_the_system_s_code() {
        let folder = tempfile::tempdir().expect("a folder");
        let code = |path: &Path| {
            let error = Content::open(path, true).err().expect("refused");
            assert_eq!(error.code, Code::File);
            error.message.split(':').next().unwrap_or_default().to_string()
        };
        assert_eq!(code(&folder.path().join("none")), "ENOENT");
        assert_eq!(code(folder.path()), "EISDIR");
        assert_eq!(code(&folder.path().join("x".repeat(300))), "ENAMETOOLONG");
        #[cfg(unix)]
        assert_eq!(code(Path::new("/dev/zero")), "EINVAL");
    }
}

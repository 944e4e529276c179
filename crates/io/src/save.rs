//! Writing to memory, and writing files so that a reader, and a crash, sees the old file or the new one: a temporary file in the same folder, synced, then
//! renamed.

use crate::mapped::failure;
use crate::{Array, Writing, write};
use ferrotensor_core::planted;
use ferrotensor_core::{Error, Result};
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Bytes between two system calls.
const BUFFER: usize = 1 << 20;

/// Writes a file with what `write` gives. Where anything fails, the old file stays, and nothing is left beside it. Without `sync` a crash of
/// the machine, not of the process, may leave neither.
///
/// # Errors
/// `Code::File` with the system's reason, or what `write` wrapped with [`io::Error::other`].
pub fn save(path: &Path, sync: bool, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let target = resolved(path)?;
    let opened = |e: io::Error| failure("open", path, &e);
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // The name is random and short: one made of the target's could be too long.
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ferrotensor-").suffix(".tmp");
    let replaced = std::fs::metadata(&target).ok();
    if planted::is("saving-empties-the-old-file-first") && replaced.is_some() {
        let _ = File::create(&target);
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As for any new file: everyone may read and write, but for what the process's mask forbids.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(folder).map_err(opened)?;
    let written = |e: io::Error| failed(path, e);
    let mut out = BufWriter::with_capacity(BUFFER, temporary.as_file());
    write(&mut out).map_err(written)?;
    out.flush().map_err(written)?;
    drop(out);
    if let Some(old) = replaced {
        temporary.as_file().set_permissions(old.permissions()).map_err(written)?;
    }
    if sync {
        temporary.as_file().sync_all().map_err(written)?;
    }
    temporary.persist(&target).map_err(|e| failure("rename", path, &e.error))?;
    if sync {
        sync_folder(folder);
    }
    Ok(())
}

/// Bytes that grow as long as there is memory.
struct Growing(Vec<u8>);

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .try_reserve(bytes.len())
            .map_err(|_| io::Error::other(Error::out_of_memory("no memory for the encoded bytes")))?;
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Tensors as the bytes of a file.
///
/// # Errors
/// What the format does not hold, what reading a tensor gives, and `Code::OutOfMemory`.
pub fn encode(arrays: &[Array<'_>], how: &Writing) -> Result<Vec<u8>> {
    let mut out = Growing(Vec::new());
    write(&mut out, arrays, how).map_err(|e| failed(Path::new(""), e))?;
    Ok(out.0)
}

/// Tensors as the bytes of a file, in memory of exactly [`crate::length`].
///
/// # Errors
/// As [`encode`]; `Code::Internal` for another length.
pub fn encode_into(mut out: &mut [u8], arrays: &[Array<'_>], how: &Writing) -> Result<()> {
    write(&mut out, arrays, how).map_err(|e| failed(Path::new(""), e))?;
    if out.is_empty() { Ok(()) } else { Err(Error::internal("fewer bytes were written than there are")) }
}

/// The file to replace: the one a link points to, so that the link stays.
fn resolved(path: &Path) -> Result<PathBuf> {
    let failed = |e: io::Error| failure("open", path, &e);
    let found = match std::fs::metadata(path) {
        // A new file, or a link to a file that does not exist.
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(path.to_path_buf()),
        Err(e) => return Err(failed(e)),
        Ok(found) => found,
    };
    if found.is_dir() {
        return Err(failed(ErrorKind::IsADirectory.into()));
    }
    if !found.is_file() {
        // Renaming onto a device or a pipe would replace it.
        return Err(Error::file(format!("EINVAL: not a regular file, open '{}'", path.display())));
    }
    if found.permissions().readonly() {
        return Err(failed(ErrorKind::PermissionDenied.into()));
    }
    path.canonicalize().map_err(failed)
}

/// Our own error, or the system's.
fn failed(path: &Path, error: io::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(ours) => ours,
        Err(error) => failure("write", path, &error),
    }
}

/// Makes the renaming itself last. File systems that cannot sync a folder do it without being asked.
fn sync_folder(folder: &Path) {
    if cfg!(unix)
        && let Ok(folder) = File::open(folder)
    {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrotensor_core::error::Code;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x");
        save(&path, true, |out| out.write_all(b"old")).expect("written");
        let ours = save(&path, true, |out| {
            out.write_all(b"new")?;
            Err(io::Error::other(Error::dtype("no")))
        });
        assert_eq!(ours, Err(Error::dtype("no")));
        let system = save(&path, true, |_| Err(ErrorKind::StorageFull.into())).expect_err("full");
        assert!(system.code == Code::File && system.message.starts_with("ENOSPC: "), "{system}");
        assert_eq!(std::fs::read(&path).expect("read"), b"old");
        assert_eq!(names(folder.path()), ["x"]);
        save(&path, true, |out| out.write_all(b"new")).expect("written");
        assert_eq!(std::fs::read(&path).expect("read"), b"new");
        assert_eq!(names(folder.path()), ["x"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_permissions_too() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("x"), folder.path().join("link"));
        std::fs::write(&path, b"old").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("set");
        symlink(&path, &link).expect("linked");
        save(&link, false, |out| out.write_all(b"new")).expect("written");
        assert!(link.symlink_metadata().expect("there").file_type().is_symlink());
        assert_eq!(std::fs::read(&path).expect("read"), b"new");
        assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn folders_devices_and_missing_folders_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let code = |path: &Path| {
            save(path, true, |_| Ok(())).expect_err("refused").message.split(':').next().unwrap_or_default().to_string()
        };
        assert_eq!(code(folder.path()), "EISDIR");
        assert_eq!(code(&folder.path().join("none/x")), "ENOENT");
        #[cfg(unix)]
        assert_eq!(code(Path::new("/dev/null")), "EINVAL");
        assert!(names(folder.path()).is_empty());
    }
}

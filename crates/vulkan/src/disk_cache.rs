//! The driver's pipeline cache on disk. It is a help and never a duty: what cannot be read, does not belong to this driver or
//! cannot be written is as if it were not there.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use vulkano::device::Device;
use vulkano::pipeline::cache::{PipelineCache, PipelineCacheCreateInfo};

/// At most one write in this time: a start-up makes dozens of pipelines, and each write is of all of them.
const PAUSE: Duration = Duration::from_secs(5);

/// Larger files are not read: no driver's cache of 1024 pipelines comes near.
const LARGEST: u64 = 256 << 20;

const MAGIC: [u8; 8] = *b"FTVKPC\x00\x01";

/// Bytes before the driver's: magic, pipelineCacheUUID, driver version, length, checksum.
const HEADER: usize = 8 + 16 + 4 + 8 + 8;

/// Where pipelines are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CachePlace {
    /// As `FERROTENSOR_CACHE` says (`off`, or a folder), else the user's cache folder.
    #[default]
    Usual,
    /// Nowhere.
    Off,
    /// In this folder.
    Folder(PathBuf),
}

impl CachePlace {
    fn folder(&self) -> Option<PathBuf> {
        let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        match self {
            CachePlace::Off => None,
            CachePlace::Folder(folder) => Some(folder.clone()),
            CachePlace::Usual => match variable("FERROTENSOR_CACHE") {
                Some(off) if off.as_os_str() == "off" => None,
                Some(folder) => Some(folder),
                None => variable("XDG_CACHE_HOME")
                    .or_else(|| variable("LOCALAPPDATA"))
                    .or_else(|| variable("HOME").map(|home| home.join(".cache")))
                    .map(|cache| cache.join("ferrotensor")),
            },
        }
    }
}

struct Progress {
    /// New pipelines that were seen.
    seen: u64,
    /// Bytes of the driver's in the file. Its cache only grows, so the same number is the same content.
    written: usize,
    last: Instant,
}

/// The driver's cache and its file.
pub struct DiskCache {
    driver: Option<Arc<PipelineCache>>,
    file: Option<PathBuf>,
    identity: [u8; 20],
    made: AtomicU64,
    progress: Mutex<Progress>,
}

impl DiskCache {
    /// The cache of a device, with what its file holds.
    pub fn open(device: &Arc<Device>, place: &CachePlace) -> DiskCache {
        let properties = device.physical_device().properties();
        let mut identity = [0; 20];
        identity[..16].copy_from_slice(&properties.pipeline_cache_uuid);
        identity[16..].copy_from_slice(&properties.driver_version.to_le_bytes());
        let name: String = identity.iter().map(|byte| format!("{byte:02x}")).collect();
        let file = place.folder().map(|folder| folder.join(format!("vulkan-{name}-{}.bin", env!("CARGO_PKG_VERSION"))));
        let initial_data = file.as_deref().and_then(|file| read(file, &identity)).unwrap_or_default();
        let written = initial_data.len();
        let info = PipelineCacheCreateInfo { initial_data, ..PipelineCacheCreateInfo::default() };
        // SAFETY: the data are empty, or what this driver (by its UUID and version) gave us, unchanged (by the checksum).
        let driver = file.is_some().then(|| unsafe { PipelineCache::new(Arc::clone(device), info) }.ok()).flatten();
        let progress = Mutex::new(Progress { seen: 0, written, last: Instant::now() });
        DiskCache { driver, file, identity, made: AtomicU64::new(0), progress }
    }

    /// What pipelines are made with.
    pub fn driver(&self) -> Option<Arc<PipelineCache>> {
        self.driver.clone()
    }

    /// A pipeline was made.
    pub fn note_new(&self) {
        self.made.fetch_add(1, Ordering::AcqRel);
        self.save_when_due();
    }

    /// Writes the file if there is something new and the last look was a while ago.
    pub fn save_when_due(&self) {
        self.save_after(PAUSE);
    }

    /// Writes the file if there is something new.
    pub fn save(&self) {
        self.save_after(Duration::ZERO);
    }

    fn save_after(&self, pause: Duration) {
        let (Some(driver), Some(file)) = (&self.driver, &self.file) else { return };
        let made = self.made.load(Ordering::Acquire);
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.seen == made || progress.last.elapsed() < pause {
            return;
        }
        (progress.seen, progress.last) = (made, Instant::now());
        // Pipelines that came out of the file make nothing new.
        if let Ok(data) = driver.get_data()
            && data.len() != progress.written
        {
            progress.written = data.len();
            // A folder that cannot be written stays without a cache.
            drop(write(file, &self.identity, &data));
        }
    }
}

impl Drop for DiskCache {
    fn drop(&mut self) {
        self.save();
    }
}

/// FNV-1a over 8 bytes at a time: finds torn and flipped bytes, defends against nobody.
fn checksum(data: &[u8]) -> u64 {
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(29);
    data.chunks(8).fold(0xCBF2_9CE4_8422_2325, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        step(hash, u64::from_le_bytes(word))
    })
}

fn header(identity: &[u8; 20], data: &[u8]) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..28].copy_from_slice(identity);
    header[28..36].copy_from_slice(&(data.len() as u64).to_le_bytes());
    header[36..].copy_from_slice(&checksum(data).to_le_bytes());
    header
}

/// The driver's bytes, if the file is whole and this driver's.
fn read(file: &Path, identity: &[u8; 20]) -> Option<Vec<u8>> {
    if std::fs::metadata(file).ok()?.len() > LARGEST {
        return None;
    }
    let bytes = std::fs::read(file).ok()?;
    let (head, data) = bytes.split_at_checked(HEADER)?;
    (head == header(identity, data)).then(|| data.to_vec())
}

/// Writes beside the file and renames, so that a reader sees the old one or the new one.
fn write(file: &Path, identity: &[u8; 20], data: &[u8]) -> std::io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let own = format!("{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let beside = file.with_extension(own);
    let written = std::fs::File::options().write(true).create_new(true).open(&beside).and_then(|mut out| {
        out.write_all(&header(identity, data))?;
        out.write_all(data)
    });
    let renamed = written.and_then(|()| std::fs::rename(&beside, file));
    if renamed.is_err() {
        drop(std::fs::remove_file(&beside));
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_file_of_this_driver_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deeper").join("vulkan-x.bin");
        let (own, other) = ([7; 20], [8; 20]);
        assert_eq!(read(&file, &own), None);
        let data: Vec<u8> = (0..1001).map(|n| n as u8).collect();
        write(&file, &own, &data).unwrap();
        assert_eq!(read(&file, &own).as_ref(), Some(&data));
        assert_eq!(read(&file, &other), None);
        let whole = std::fs::read(&file).unwrap();
        for at in 0..whole.len() {
            let mut bad = whole.clone();
            bad[at] ^= 0x40;
            std::fs::write(&file, &bad).unwrap();
            assert_eq!(read(&file, &own), None, "byte {at} flipped");
        }
        for length in [0, 7, HEADER - 1, HEADER, whole.len() - 1] {
            std::fs::write(&file, &whole[..length]).unwrap();
            assert_eq!(read(&file, &own), None, "{length} bytes left");
        }
        write(&file, &own, &data).unwrap();
        assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
    }
}

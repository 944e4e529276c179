//! Which backends exist, and for each absent one the reason in words.

use crate::backend::{Backend, DeviceClass};
use crate::error::{Code, Error, Result};
use std::sync::Arc;

/// Looks for a backend's devices. Never panics; the error is a sentence for the user.
pub type Probe = fn() -> Result<Vec<Arc<dyn Backend>>, String>;

/// One known backend.
pub struct Entry {
    /// `cpu`, `vulkan`, ...
    pub name: &'static str,
    /// Its devices, or why there are none.
    pub devices: Result<Vec<Arc<dyn Backend>>, String>,
}

/// The backends of this process, each probed once.
pub struct Registry {
    entries: Vec<Entry>,
}

impl Registry {
    /// Probes each backend in turn.
    pub fn new(probes: &[(&'static str, Probe)]) -> Self {
        Registry::of(probes.iter().map(|&(name, probe)| Entry { name, devices: probe() }).collect())
    }

    /// Over backends that were looked for already.
    pub fn of(entries: Vec<Entry>) -> Self {
        Registry { entries }
    }

    /// Every known backend, present or not.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The devices present, in order; a device's number in programs is its position here.
    pub fn devices(&self) -> Vec<Arc<dyn Backend>> {
        self.entries.iter().filter_map(|e| e.devices.as_ref().ok()).flatten().cloned().collect()
    }

    /// The number of the device that tensors go to when nobody names one: the best class that is present, and within it the
    /// first; never a software device, nor one that needs the CPU's help.
    ///
    /// # Errors
    /// `Code::BackendUnavailable` when there are only software devices, or none.
    pub fn preferred(&self) -> Result<usize> {
        let devices = self.devices();
        let fit = |&i: &usize| devices[i].caps().class > DeviceClass::Software && devices[i].caps().complete;
        let real = (0..devices.len()).filter(fit);
        // Of equals `max_by_key` takes the last one.
        real.rev().max_by_key(|&i| devices[i].caps().class).ok_or_else(|| {
            let text = "there is no real device to be the default; name one with setDefaultDevice() or FERROTENSOR_DEVICE";
            Error::new(Code::BackendUnavailable, text)
        })
    }

    /// The number of the device with this name; `vulkan` means `vulkan:0`.
    ///
    /// # Errors
    /// `Code::BackendUnavailable` with the probe's reason, `Code::Device` for a name nobody knows.
    pub fn find(&self, name: &str) -> Result<usize> {
        let devices = self.devices();
        let first = format!("{name}:0");
        if let Some(i) = devices.iter().position(|d| d.caps().name == name || d.caps().name == first) {
            return Ok(i);
        }
        let backend = name.split(':').next().unwrap_or(name);
        match self.entries.iter().find(|e| e.name == backend) {
            Some(Entry { devices: Err(reason), .. }) => {
                Err(Error::new(Code::BackendUnavailable, format!("device '{name}' is not available: {reason}")))
            }
            _ => {
                let known: Vec<&str> = devices.iter().map(|d| d.caps().name.as_str()).collect();
                Err(Error::device(format!("there is no device '{name}'; present: {}", known.join(", "))))
            }
        }
    }
}

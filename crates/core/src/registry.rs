//! Which backends exist, and for each absent one the reason in words.

use crate::backend::{Backend, DeviceClass};
use crate::error::{Code, Error, Result};
use std::sync::{Arc, OnceLock};

/// Looks for a backend's devices. Never panics; the error is a sentence for the user.
pub type Probe = fn() -> Result<Vec<Arc<dyn Backend>>, String>;

/// One known backend.
pub struct Entry {
    /// `cpu`, `vulkan`, ...
    pub name: &'static str,
    /// Its devices, or why there are none.
    pub devices: Result<Vec<Arc<dyn Backend>>, String>,
    /// Whether nearly everything runs on its devices without the CPU's help: those of others are used when named, and are never
    /// the default.
    pub complete: bool,
}

impl Entry {
    fn present(&self) -> &[Arc<dyn Backend>] {
        self.devices.as_deref().unwrap_or_default()
    }
}

/// A backend that is looked for when it is needed.
pub struct Known {
    /// As [`Entry::name`].
    pub name: &'static str,
    /// Looks for its devices.
    pub probe: Probe,
    /// As [`Entry::complete`].
    pub complete: bool,
}

impl Known {
    fn probed(&self) -> Entry {
        Entry { name: self.name, devices: (self.probe)(), complete: self.complete }
    }
}

/// The backends of this process, each probed once: the first at once, the others together when one of them is needed.
pub struct Registry {
    near: Vec<Entry>,
    later: &'static [Known],
    far: OnceLock<Vec<Entry>>,
}

impl Registry {
    /// Probes the first backend. The drivers of others take 60 ms and more to answer, which a program that names none of them
    /// does not wait for.
    pub fn new(known: &'static [Known]) -> Self {
        let (first, later) = known.split_at(known.len().min(1));
        Registry { near: first.iter().map(Known::probed).collect(), later, far: OnceLock::new() }
    }

    /// Over backends that were looked for already.
    pub fn of(entries: Vec<Entry>) -> Self {
        Registry { near: entries, later: &[], far: OnceLock::new() }
    }

    fn far(&self) -> &[Entry] {
        self.far.get_or_init(|| self.later.iter().map(Known::probed).collect())
    }

    /// Every known backend, present or not.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.near.iter().chain(self.far())
    }

    /// The devices there are without looking any further, the first of all.
    pub fn near(&self) -> impl Iterator<Item = &Arc<dyn Backend>> {
        self.near.iter().flat_map(Entry::present)
    }

    /// The devices present, in order; a device's number in programs is its position here.
    pub fn devices(&self) -> impl Iterator<Item = &Arc<dyn Backend>> {
        self.entries().flat_map(Entry::present)
    }

    /// The number of the device that tensors go to when nobody names one: the best class that is present, and within it the
    /// first; never a software device, nor one that needs the CPU's help.
    ///
    /// # Errors
    /// `Code::BackendUnavailable` when there are only software devices, or none.
    pub fn preferred(&self) -> Result<usize> {
        // Who cannot be chosen is not looked for.
        let far = if self.later.iter().any(|k| k.complete) { self.far() } else { &[] };
        let classes = self.near.iter().chain(far).flat_map(|e| e.present().iter().map(|d| (d.caps().class, e.complete)));
        let fit = |(_, (class, complete)): &(usize, (DeviceClass, bool))| *class > DeviceClass::Software && *complete;
        let real: Vec<_> = classes.enumerate().filter(fit).collect();
        // Of equals `max_by_key` takes the last one.
        real.iter().rev().max_by_key(|(_, (class, _))| *class).map(|(number, _)| *number).ok_or_else(|| {
            let absent = self.near.iter().filter_map(|e| Some(format!(" ({}: {})", e.name, e.devices.as_ref().err()?)));
            let reasons = absent.collect::<String>();
            let fix = "name one with setDefaultDevice() or FERROTENSOR_DEVICE";
            Error::new(Code::BackendUnavailable, format!("there is no real device to be the default{reasons}; {fix}"))
        })
    }

    /// The number of the device with this name; `vulkan` means `vulkan:0`.
    ///
    /// # Errors
    /// `Code::BackendUnavailable` with the probe's reason, `Code::Device` for a name nobody knows.
    pub fn find(&self, name: &str) -> Result<usize> {
        let first = format!("{name}:0");
        let named = |d: &Arc<dyn Backend>| d.caps().name == name || d.caps().name == first;
        if let Some(number) = self.near().position(named).or_else(|| self.devices().position(named)) {
            return Ok(number);
        }
        let backend = name.split(':').next().unwrap_or(name);
        match self.entries().find(|e| e.name == backend) {
            Some(Entry { devices: Err(reason), .. }) => {
                Err(Error::new(Code::BackendUnavailable, format!("device '{name}' is not available: {reason}")))
            }
            _ => {
                let known: Vec<&str> = self.devices().map(|d| d.caps().name.as_str()).collect();
                Err(Error::device(format!("there is no device '{name}'; present: {}", known.join(", "))))
            }
        }
    }
}

//! Looks for Vulkan devices, and says in words why there are none. Opens nothing.

use crate::caps;
use crate::device::{Options, VulkanBackend};
use crate::errors;
use crate::parting;
use ferrotensor_core::backend::Backend;
use ferrotensor_gpu::Can;
use std::panic::catch_unwind;
use std::sync::Arc;
use vulkano::device::physical::{DriverId, PhysicalDevice, PhysicalDeviceType};
use vulkano::instance::{Instance, InstanceCreateFlags, InstanceCreateInfo, InstanceExtensions};
use vulkano::library::LoadingError;
use vulkano::{Validated, VulkanError, VulkanLibrary};

/// A device that can be used.
pub struct Found {
    /// The driver's device.
    pub physical: Arc<PhysicalDevice>,
    /// What it can do.
    pub can: Can,
}

/// The devices `vulkan:0`, `vulkan:1`, ..., the best first. `FERROTENSOR_VULKAN=off` switches all off.
///
/// # Errors
/// A sentence that says why there are none.
pub fn probe() -> Result<Vec<Arc<dyn Backend>>, String> {
    let backend = |(n, found): (usize, Found)| {
        let name = format!("vulkan:{n}");
        Arc::new(VulkanBackend::with(found.physical, &name, found.can, Options::default())) as Arc<dyn Backend>
    };
    Ok(found()?.into_iter().enumerate().map(backend).collect())
}

/// The devices that can be used, the best first.
///
/// # Errors
/// As [`probe`].
pub fn found() -> Result<Vec<Found>, String> {
    if std::env::var_os("FERROTENSOR_VULKAN").is_some_and(|v| v == "off") {
        return Err("switched off by FERROTENSOR_VULKAN=off".into());
    }
    parting::begin_with_this_thread();
    catch_unwind(search).unwrap_or_else(|panic| Err(errors::panic_text(&*panic)))
}

fn search() -> Result<Vec<Found>, String> {
    let library = VulkanLibrary::new().map_err(|e| library_reason(&e))?;
    let extensions = InstanceExtensions { khr_portability_enumeration: true, ..InstanceExtensions::empty() };
    let info = InstanceCreateInfo {
        // Devices that are Vulkan only in part (MoltenVK) are listed too.
        flags: InstanceCreateFlags::ENUMERATE_PORTABILITY,
        enabled_extensions: library.supported_extensions().intersection(&extensions),
        application_name: Some("ferrotensor".into()),
        ..InstanceCreateInfo::default()
    };
    let info = if info.enabled_extensions.khr_portability_enumeration {
        info
    } else {
        InstanceCreateInfo { flags: InstanceCreateFlags::empty(), ..info }
    };
    let instance = Instance::new(library, info).map_err(|e| instance_reason(&e))?;
    let physical = instance.enumerate_physical_devices().map_err(|e| format!("Vulkan lists no devices: {e:?}"))?;
    let physical: Vec<_> = without_doubles(physical.collect());
    if physical.is_empty() {
        return Err("the Vulkan drivers of this machine have no device".into());
    }
    let (mut found, mut reasons) = (Vec::new(), Vec::new());
    for physical in physical {
        match caps::of(&physical) {
            Ok(can) => found.push(Found { physical, can }),
            Err(reason) => reasons.push(reason),
        }
    }
    if found.is_empty() { Err(reasons.join("; ")) } else { Ok(found) }
}

/// The loader's file, as users know it.
const LOADER: &str = if cfg!(windows) {
    "vulkan-1.dll, part of the GPU's driver"
} else if cfg!(target_vendor = "apple") {
    "libvulkan.dylib or MoltenVK"
} else {
    "libvulkan.so.1 (package libvulkan1)"
};

fn library_reason(error: &LoadingError) -> String {
    match error {
        LoadingError::LibraryLoadFailure(e) => format!("the Vulkan loader {LOADER} was not found: {e}"),
        // What the loader answers to a driver file that is not JSON.
        LoadingError::VulkanError(VulkanError::OutOfHostMemory) => {
            "a Vulkan driver's description file is broken (the loader reports it as OutOfHostMemory): look at \
             VK_DRIVER_FILES, VK_ICD_FILENAMES and the folders vulkan/icd.d"
                .into()
        }
        LoadingError::VulkanError(VulkanError::IncompatibleDriver) => no_driver(),
        LoadingError::VulkanError(e) => format!("the Vulkan loader failed: {e:?}"),
    }
}

fn instance_reason(error: &Validated<VulkanError>) -> String {
    match error {
        Validated::Error(VulkanError::IncompatibleDriver) => no_driver(),
        e => format!("Vulkan does not start: {e:?}"),
    }
}

fn no_driver() -> String {
    "there is a Vulkan loader but no driver that it can use: install the GPU's driver, or look at VK_DRIVER_FILES and \
     VK_ICD_FILENAMES"
        .into()
}

/// The better the smaller. Software devices are last; the registry makes none of them the default.
fn kind_rank(physical: &PhysicalDevice) -> u8 {
    match physical.properties().device_type {
        PhysicalDeviceType::DiscreteGpu => 0,
        PhysicalDeviceType::IntegratedGpu => 1,
        PhysicalDeviceType::VirtualGpu => 2,
        PhysicalDeviceType::Cpu => 4,
        _ => 3,
    }
}

/// Of two drivers of one GPU the one that is kept has the smaller number (ggml's preferences).
fn driver_rank(driver: Option<DriverId>) -> u8 {
    match driver {
        Some(DriverId::MesaRADV | DriverId::NvidiaProprietary | DriverId::IntelOpenSourceMesa) => 0,
        Some(DriverId::AMDOpenSource | DriverId::IntelProprietaryWindows) => 1,
        Some(DriverId::AMDProprietary) => 2,
        // A layer over Direct3D.
        Some(DriverId::MesaDozen) => 9,
        _ => 5,
    }
}

/// Ranked, each GPU once: drivers of the same one report the same UUID. MoltenVK reports one UUID for different GPUs, and
/// software devices are what they are.
fn without_doubles(mut all: Vec<Arc<PhysicalDevice>>) -> Vec<Arc<PhysicalDevice>> {
    all.sort_by_key(|p| (kind_rank(p), driver_rank(p.properties().driver_id)));
    let mut kept: Vec<Arc<PhysicalDevice>> = Vec::new();
    for physical in all {
        let identity = |p: &PhysicalDevice| {
            let q = p.properties();
            let telling = q.driver_id != Some(DriverId::MoltenVK) && q.device_type != PhysicalDeviceType::Cpu;
            q.device_uuid.filter(|_| telling)
        };
        let own = identity(&physical);
        if own.is_none() || !kept.iter().any(|other| identity(other) == own) {
            kept.push(physical);
        }
    }
    kept
}

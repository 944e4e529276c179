//! What a device can do, as data read without opening it, and what must be switched on for it: one table for both.

use crate::spirv::Modes;
use ferrotensor_gpu::Can;
use ferrotensor_gpu::code::GROUP;
use vulkano::Version;
use vulkano::device::physical::{PhysicalDevice, PhysicalDeviceType, ShaderFloatControlsIndependence as Independence};
use vulkano::device::{DeviceExtensions, DeviceFeatures, DeviceProperties, QueueFlags};

/// One capability: its place, and the features it is made of.
type Feature = (fn(&mut Can) -> &mut bool, DeviceFeatures);

/// One float mode: its place, and what the device's properties must say.
type Control = (fn(&mut Modes) -> &mut bool, fn(&DeviceProperties) -> bool);

const NONE: DeviceFeatures = DeviceFeatures::empty();

/// Where the modes of different widths hang together, a shader of one width may not set its own. `Float32Only` leaves
/// float32 free and ties 16 and 64 bits to each other, so that 64 bits alone are not offered.
fn free32(independence: Option<Independence>) -> bool {
    matches!(independence, Some(Independence::Float32Only | Independence::All))
}

fn free64(independence: Option<Independence>) -> bool {
    independence == Some(Independence::All)
}

const FEATURES: [Feature; 4] = [
    (|c| &mut c.float64, DeviceFeatures { shader_float64: true, ..NONE }),
    (|c| &mut c.int64, DeviceFeatures { shader_int64: true, ..NONE }),
    // Narrow integers are converted in registers.
    (|c| &mut c.storage16, DeviceFeatures { storage_buffer16_bit_access: true, shader_int16: true, ..NONE }),
    (|c| &mut c.storage8, DeviceFeatures { storage_buffer8_bit_access: true, shader_int8: true, ..NONE }),
];

const CONTROLS: [Control; 6] = [
    (|m| &mut m.rte32, |p| p.shader_rounding_mode_rte_float32 == Some(true) && free32(p.rounding_mode_independence)),
    (|m| &mut m.rte64, |p| p.shader_rounding_mode_rte_float64 == Some(true) && free64(p.rounding_mode_independence)),
    (|m| &mut m.preserve32, |p| p.shader_signed_zero_inf_nan_preserve_float32 == Some(true)),
    (|m| &mut m.preserve64, |p| p.shader_signed_zero_inf_nan_preserve_float64 == Some(true)),
    (|m| &mut m.denorm32, |p| p.shader_denorm_preserve_float32 == Some(true) && free32(p.denorm_behavior_independence)),
    (|m| &mut m.denorm64, |p| p.shader_denorm_preserve_float64 == Some(true) && free64(p.denorm_behavior_independence)),
];

/// Without these a device is not offered.
const REQUIRED: [(&str, DeviceFeatures); 2] = [
    ("timelineSemaphore", DeviceFeatures { timeline_semaphore: true, ..NONE }),
    ("uniformBufferStandardLayout", DeviceFeatures { uniform_buffer_standard_layout: true, ..NONE }),
];

/// The required extension, and the one that must be switched on wherever it exists.
const PUSH: DeviceExtensions = DeviceExtensions { khr_push_descriptor: true, ..DeviceExtensions::empty() };
const PORTABILITY: DeviceExtensions = DeviceExtensions { khr_portability_subset: true, ..DeviceExtensions::empty() };

/// The number of the first queue family that computes. On GPUs it is the main one: a family of its own for computing is for
/// running beside graphics, of which there is none here.
pub fn compute_family(physical: &PhysicalDevice) -> Option<u32> {
    let families = physical.queue_family_properties();
    families.iter().position(|f| f.queue_count > 0 && f.queue_flags.intersects(QueueFlags::COMPUTE)).map(|n| n as u32)
}

/// Everything the device has.
///
/// # Errors
/// What it lacks that is required, in words.
pub fn of(physical: &PhysicalDevice) -> Result<Can, String> {
    let properties = physical.properties();
    let lacks = |what: &str| Err(format!("{} has no {what}", properties.device_name));
    if physical.api_version() < Version::V1_2 {
        return Err(format!(
            "{} has Vulkan {}, and 1.2 is needed; a newer driver may have it",
            properties.device_name,
            physical.api_version()
        ));
    }
    if compute_family(physical).is_none() {
        return lacks("compute queue");
    }
    if properties.max_compute_work_group_invocations.min(properties.max_compute_work_group_size[0]) < GROUP {
        return lacks("workgroups of 256 invocations");
    }
    if !physical.supported_extensions().contains(&PUSH) {
        return lacks("VK_KHR_push_descriptor");
    }
    let offered = physical.supported_features();
    if let Some((name, _)) = REQUIRED.iter().find(|(_, f)| !offered.contains(f)) {
        return lacks(name);
    }
    let mut can = limits(properties);
    for (field, features) in &FEATURES {
        *field(&mut can) = offered.contains(features);
    }
    Ok(can)
}

/// The float modes that the device offers.
pub fn modes(physical: &PhysicalDevice) -> Modes {
    let mut modes = Modes::default();
    for (field, holds) in &CONTROLS {
        *field(&mut modes) = holds(physical.properties());
    }
    modes
}

fn limits(p: &DeviceProperties) -> Can {
    let offsets = [p.min_storage_buffer_offset_alignment, p.min_uniform_buffer_offset_alignment];
    // Binding 0 holds the arguments.
    let pushed = p.max_push_descriptors.unwrap_or(32).saturating_sub(1);
    Can {
        float64: false,
        int64: false,
        storage16: false,
        storage8: false,
        fma32: false,
        fma64: false,
        roots: true,
        quotients: true,
        subnormals: true,
        software: p.device_type == PhysicalDeviceType::Cpu,
        max_range: p.max_storage_buffer_range.into(),
        max_uniform: p.max_uniform_buffer_range.into(),
        max_groups: p.max_compute_work_group_count[0],
        max_invocations: p.max_compute_work_group_invocations.min(p.max_compute_work_group_size[0]),
        max_shared: p.max_compute_shared_memory_size,
        max_buffers: p.max_per_stage_descriptor_storage_buffers.min(pushed),
        subgroup: p.subgroup_size.unwrap_or(1),
        alignment: offsets[0].as_devicesize().max(offsets[1].as_devicesize()),
    }
}

/// What to switch on when a device is opened: what is not set in `can` is not.
pub fn features(can: &Can) -> DeviceFeatures {
    let mut own = can.clone();
    let optional = FEATURES.iter().filter(|(field, _)| *field(&mut own)).map(|(_, features)| *features);
    REQUIRED.iter().map(|(_, f)| *f).chain(optional).fold(NONE, |all, f| all.union(&f))
}

/// The extensions to switch on.
pub fn extensions(physical: &PhysicalDevice) -> DeviceExtensions {
    PUSH.union(&physical.supported_extensions().intersection(&PORTABILITY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_away_is_not_switched_on() {
        let mut can = limits(&DeviceProperties::default());
        let bare = features(&can);
        assert_eq!(bare, REQUIRED[0].1.union(&REQUIRED[1].1));
        for (field, _) in &FEATURES {
            *field(&mut can) = true;
        }
        let all = features(&can);
        assert!(all.shader_float64 && all.shader_int64 && all.storage_buffer8_bit_access && all.storage_buffer16_bit_access);
        can.storage8 = false;
        assert!(!features(&can).storage_buffer8_bit_access && features(&can).storage_buffer16_bit_access);
    }
}

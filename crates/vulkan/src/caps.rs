//! What a device can do, as data read without opening it, and what must be switched on for it: one table for both.

use crate::emit::GROUP;
use ferrotensor_core::scalar::Arithmetic;
use vulkano::Version;
use vulkano::device::physical::{PhysicalDevice, PhysicalDeviceType, ShaderFloatControlsIndependence as Independence};
use vulkano::device::{DeviceExtensions, DeviceFeatures, DeviceProperties, QueueFlags};

/// Capabilities and limits of a device. Tests take some away: what is not set here is not switched on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Can {
    /// float64 arithmetic.
    pub float64: bool,
    /// int64 arithmetic.
    pub int64: bool,
    /// int16 arithmetic.
    pub int16: bool,
    /// int8 arithmetic.
    pub int8: bool,
    /// 16-bit elements of storage buffers, and int16 arithmetic.
    pub storage16: bool,
    /// 8-bit elements of storage buffers, and int8 arithmetic.
    pub storage8: bool,
    /// float32 rounding to nearest even can be asked for.
    pub rte32: bool,
    /// The same of float64.
    pub rte64: bool,
    /// float32 signed zeros, infinities and NaN can be kept (`SignedZeroInfNanPreserve`).
    pub preserve32: bool,
    /// The same of float64.
    pub preserve64: bool,
    /// float32 denormals can be kept (`DenormPreserve`).
    pub denorm32: bool,
    /// The same of float64.
    pub denorm64: bool,
    /// Whether the built-in float32 `fma` rounds once; false until a probe on the open device found so.
    pub fma32: bool,
    /// The same of float64.
    pub fma64: bool,
    /// Whether square roots of float32 are correctly rounded: unless a probe on the open device finds otherwise.
    pub roots: bool,
    /// The same of quotients.
    pub quotients: bool,
    /// Whether arithmetic keeps subnormal numbers of float32: likewise.
    pub subnormals: bool,
    /// A program that imitates a GPU on the CPU.
    pub software: bool,
    /// Largest range of a storage buffer binding, in bytes.
    pub max_range: u64,
    /// Largest range of the argument block, in bytes.
    pub max_uniform: u64,
    /// Largest number of workgroups along x.
    pub max_groups: u32,
    /// Largest number of invocations of a workgroup.
    pub max_invocations: u32,
    /// Largest shared memory of a workgroup, in bytes.
    pub max_shared: u32,
    /// Largest number of storage buffers of a dispatch.
    pub max_buffers: u32,
    /// Invocations that run together.
    pub subgroup: u32,
    /// What the offset of any binding is a multiple of, in bytes.
    pub alignment: u64,
}

/// One capability: its place, the features it is made of, and what the device's properties must say.
struct Row {
    field: fn(&mut Can) -> &mut bool,
    features: DeviceFeatures,
    holds: fn(&DeviceProperties) -> bool,
}

const NONE: DeviceFeatures = DeviceFeatures::empty();

const fn feature(field: fn(&mut Can) -> &mut bool, features: DeviceFeatures) -> Row {
    Row { field, features, holds: |_| true }
}

const fn control(field: fn(&mut Can) -> &mut bool, holds: fn(&DeviceProperties) -> bool) -> Row {
    Row { field, features: NONE, holds }
}

/// Where the modes of different widths hang together, a shader of one width may not set its own. `Float32Only` leaves
/// float32 free and ties 16 and 64 bits to each other, so that 64 bits alone are not offered.
fn free32(independence: Option<Independence>) -> bool {
    matches!(independence, Some(Independence::Float32Only | Independence::All))
}

fn free64(independence: Option<Independence>) -> bool {
    independence == Some(Independence::All)
}

const ROWS: [Row; 12] = [
    feature(|c| &mut c.float64, DeviceFeatures { shader_float64: true, ..NONE }),
    feature(|c| &mut c.int64, DeviceFeatures { shader_int64: true, ..NONE }),
    feature(|c| &mut c.int16, DeviceFeatures { shader_int16: true, ..NONE }),
    feature(|c| &mut c.int8, DeviceFeatures { shader_int8: true, ..NONE }),
    feature(|c| &mut c.storage16, DeviceFeatures { storage_buffer16_bit_access: true, shader_int16: true, ..NONE }),
    feature(|c| &mut c.storage8, DeviceFeatures { storage_buffer8_bit_access: true, shader_int8: true, ..NONE }),
    control(|c| &mut c.rte32, |p| p.shader_rounding_mode_rte_float32 == Some(true) && free32(p.rounding_mode_independence)),
    control(|c| &mut c.rte64, |p| p.shader_rounding_mode_rte_float64 == Some(true) && free64(p.rounding_mode_independence)),
    control(|c| &mut c.preserve32, |p| p.shader_signed_zero_inf_nan_preserve_float32 == Some(true)),
    control(|c| &mut c.preserve64, |p| p.shader_signed_zero_inf_nan_preserve_float64 == Some(true)),
    control(
        |c| &mut c.denorm32,
        |p| p.shader_denorm_preserve_float32 == Some(true) && free32(p.denorm_behavior_independence),
    ),
    control(
        |c| &mut c.denorm64,
        |p| p.shader_denorm_preserve_float64 == Some(true) && free64(p.denorm_behavior_independence),
    ),
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

impl Can {
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
        let mut can = Can::limits(properties);
        for row in &ROWS {
            *(row.field)(&mut can) = offered.contains(&row.features) && (row.holds)(properties);
        }
        // What a width cannot compute it cannot round either.
        can.rte64 &= can.float64;
        can.preserve64 &= can.float64;
        can.denorm64 &= can.float64;
        Ok(can)
    }

    fn limits(p: &DeviceProperties) -> Can {
        let offsets = [p.min_storage_buffer_offset_alignment, p.min_uniform_buffer_offset_alignment];
        // Binding 0 holds the arguments.
        let pushed = p.max_push_descriptors.unwrap_or(32).saturating_sub(1);
        Can {
            float64: false,
            int64: false,
            int16: false,
            int8: false,
            storage16: false,
            storage8: false,
            rte32: false,
            rte64: false,
            preserve32: false,
            preserve64: false,
            denorm32: false,
            denorm64: false,
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

    /// The same with what a probe on the open device found out about `fma`.
    pub fn with_fma(self, f32: bool, f64: bool) -> Can {
        Can { fma32: f32, fma64: f64, ..self }
    }

    /// What its float32 is like.
    pub fn arithmetic(&self) -> Arithmetic {
        let Can { fma32: fused, roots, quotients, subnormals, .. } = *self;
        Arithmetic { fused, roots, quotients, subnormals, doubles: self.float64 && self.int64 }
    }

    /// Workgroups for so many elements, a thread for each while there are enough.
    pub(crate) fn groups(&self, elements: usize) -> u32 {
        elements.div_ceil(GROUP as usize).min(self.max_groups as usize) as u32
    }

    /// What to switch on when the device is opened.
    pub(crate) fn features(&self) -> DeviceFeatures {
        let mut own = self.clone();
        let optional = ROWS.iter().filter(|row| *(row.field)(&mut own)).map(|row| row.features);
        REQUIRED.iter().map(|(_, f)| *f).chain(optional).fold(NONE, |all, f| all.union(&f))
    }

    /// The extensions to switch on.
    pub(crate) fn extensions(&self, physical: &PhysicalDevice) -> DeviceExtensions {
        PUSH.union(&physical.supported_extensions().intersection(&PORTABILITY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_taken_away_is_not_switched_on() {
        let mut can = Can::limits(&DeviceProperties::default());
        let bare = can.features();
        assert_eq!(bare, REQUIRED[0].1.union(&REQUIRED[1].1));
        for row in &ROWS {
            *(row.field)(&mut can) = true;
        }
        let all = can.features();
        assert!(all.shader_float64 && all.shader_int64 && all.storage_buffer8_bit_access && all.storage_buffer16_bit_access);
        can.storage8 = false;
        assert!(!can.features().storage_buffer8_bit_access && can.features().shader_int8);
    }
}

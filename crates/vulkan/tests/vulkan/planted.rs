//! Faults on purpose, by which `scripts/vulkan/validation.mjs` sees that Khronos' layer is there and notices what it is to notice.
//! Without the layer they do nothing that shows, and no other run starts them.

use crate::rig::{affine, device, fine, launch, numbers, run};
use ferrotensor_core::Result;
use ferrotensor_core::backend::Launch;
use ferrotensor_gpu::{Binding, Program, Recorder};
use ferrotensor_vulkan::Options;
use std::sync::Arc;
use vulkano::buffer::BufferUsage;
use vulkano::buffer::sys::{BufferCreateInfo, RawBuffer};
use vulkano::device::{Device, DeviceCreateInfo, QueueCreateInfo};

/// Two dispatches, the second of which reads what the first wrote, while the first one's binding says that it only reads: no barrier
/// is put between them.
struct WithoutBarrier;

impl Program for WithoutBarrier {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        let pipeline = affine::compiled(recorder)?;
        let [x, y] = [&launch.inputs[0], &launch.outputs[0]].map(|o| &o.buffer);
        let middle = recorder.scratch(256)?;
        let of = |buffer, write| Binding { buffer, offset: 0, bytes: 256, write };
        let arguments = [64, 1f32.to_bits(), 0];
        recorder.dispatch(&pipeline, &arguments, &[of(x, false), of(&middle, false)], None, 1)?;
        recorder.dispatch(&pipeline, &arguments, &[of(&middle, false), of(y, true)], None, 1)
    }
}

#[test]
#[ignore = "a fault on purpose, for the validation suite"]
fn a_missing_barrier() {
    let Some(device) = device(Options::default()) else { return };
    let [x, y] = [0, 1].map(|_| numbers(&device, (0..64).map(|n| n as f32)));
    fine(&run(&device, vec![launch(WithoutBarrier, &x, &y)]));
}

#[test]
#[ignore = "a fault on purpose, for the validation suite"]
fn a_call_outside_the_rules() {
    let Some(found) = crate::rig::first() else { return };
    let info = DeviceCreateInfo { queue_create_infos: vec![QueueCreateInfo::default()], ..DeviceCreateInfo::default() };
    let (device, _queues) = Device::new(Arc::clone(&found.physical), info).unwrap();
    // A buffer for no use at all.
    let info = BufferCreateInfo { size: 256, usage: BufferUsage::empty(), ..BufferCreateInfo::default() };
    // SAFETY: software devices make such a buffer like any other, and nothing is done with it; run by the suite alone.
    let made = unsafe { RawBuffer::new_unchecked(device, info) };
    drop(made);
}

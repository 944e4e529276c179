//! What the tests share: a device, if there is one, and a kernel for it.

#![allow(dead_code, reason = "each test file is a program of its own and uses a part")]

pub mod affine;

use ferrotensor_core::backend::{Backend, Batch, Buffer, Launch, Operand, Outcome, Ticket};
use ferrotensor_core::{Layout, Result};
use ferrotensor_gpu::{Binding, Program, Ready, Recorder};
use ferrotensor_vulkan::{CachePlace, Found, Options, VulkanBackend, found};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The first device found. Without one the test has nothing to say, unless `EXPECT_BACKENDS` names `vulkan`.
pub fn first() -> Option<Found> {
    match found() {
        Ok(devices) => devices.into_iter().next(),
        Err(reason) => {
            let expected = std::env::var("EXPECT_BACKENDS").unwrap_or_default();
            assert!(!expected.contains("vulkan"), "EXPECT_BACKENDS={expected}, but {reason}");
            let mut out = std::io::stderr();
            writeln!(out, "not tested, no Vulkan device: {reason}").unwrap();
            None
        }
    }
}

/// It as a backend, with nothing kept on disk.
pub fn device(options: Options) -> Option<VulkanBackend> {
    let found = first()?;
    let cache = if options.cache == CachePlace::Usual { CachePlace::Off } else { options.cache.clone() };
    Some(VulkanBackend::with(found.physical, "vulkan:0", found.can, Options { cache, ..options }))
}

/// `y = x * scale + add`, where x and y are whole buffers or parts of them.
pub struct Affine {
    pub scale: f32,
    pub add: f32,
    /// First element and number of elements.
    pub part: (usize, usize),
    /// Through memory of the launch's own: `y = (x * scale + add) * scale + add`.
    pub twice: bool,
}

impl Program for Affine {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        let pipeline = affine::compiled(recorder)?;
        let (start, count) = self.part;
        let arguments = [count as u32, self.scale.to_bits(), self.add.to_bits()];
        let (offset, bytes) = (start as u64 * 4, count as u64 * 4);
        let x = &launch.inputs[0].buffer;
        let y = &launch.outputs[0].buffer;
        let from = Binding { buffer: x, offset, bytes, write: false };
        let to = Binding { buffer: y, offset, bytes, write: true };
        let groups = count.div_ceil(64).min(1024) as u32;
        if !self.twice {
            return recorder.dispatch(&pipeline, &arguments, &[from, to], None, groups);
        }
        let scratch = recorder.scratch(bytes)?;
        let middle = Binding { buffer: &scratch, offset: 0, bytes, write: true };
        recorder.dispatch(&pipeline, &arguments, &[from, middle], None, groups)?;
        recorder.dispatch(&pipeline, &arguments, &[Binding { write: false, ..middle }, to], None, groups)
    }
}

/// A launch over whole buffers.
pub fn launch(program: impl Program + 'static, x: &Buffer, y: &Buffer) -> Launch {
    let operand =
        |buffer: &Buffer| Operand { buffer: Arc::clone(buffer), layout: Layout::dense(&[buffer.bytes() / 4]).unwrap() };
    Launch {
        kernel: Arc::new(Ready::new(Box::new(program))),
        inputs: [operand(x)].into_iter().collect(),
        outputs: [operand(y)].into_iter().collect(),
        params: Default::default(),
    }
}

/// `y = x * scale + add` of the first `count` elements.
pub fn affine(scale: f32, add: f32, count: usize, x: &Buffer, y: &Buffer) -> Launch {
    launch(Affine { scale, add, part: (0, count), twice: false }, x, y)
}

/// Runs launches to their end.
pub fn run(device: &VulkanBackend, launches: Vec<Launch>) -> Outcome {
    finish(device, device.submit(Batch::new(launches)))
}

/// Waits for a ticket, at most 60 seconds.
pub fn finish(device: &VulkanBackend, ticket: Ticket) -> Outcome {
    match ticket {
        Ticket::Done(outcome) => outcome,
        Ticket::Pending(ticket) => device
            .wait(ticket, Instant::now() + Duration::from_secs(60))
            .expect("the device hangs, or the ticket was answered"),
    }
}

/// Refuses an outcome with failures.
pub fn fine(outcome: &Outcome) {
    assert!(outcome.failed.is_empty() && outcome.lost.is_none(), "{outcome:?}");
}

/// New memory with these numbers.
pub fn numbers(device: &VulkanBackend, of: impl Iterator<Item = f32>) -> Buffer {
    let bytes: Vec<u8> = of.flat_map(f32::to_ne_bytes).collect();
    let buffer = device.alloc(bytes.len()).unwrap();
    device.upload(&bytes, &buffer, 0).unwrap();
    buffer
}

/// The first `count` numbers of a buffer.
pub fn read(device: &VulkanBackend, buffer: &Buffer, count: usize) -> Vec<f32> {
    let mut bytes = vec![0; count * 4];
    device.download(buffer, 0, &mut bytes).unwrap();
    bytes.chunks_exact(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect()
}

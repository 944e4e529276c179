//! Programs on a Vulkan device whose allocations, blocks of driver memory and submissions fail one after the other, and which hangs.

use crate::support::{Program, cpu_entry, read, session};
use crate::walk::{After, Point, SCENARIOS, Stage, World, walk};
use ferrotensor_core::DType;
use ferrotensor_core::backend::Backend;
use ferrotensor_core::error::Code;
use ferrotensor_core::registry::Entry;
use ferrotensor_engine::{Config, Mode, Session, Strict};
use ferrotensor_vulkan::{CachePlace, Faults, Options, VulkanBackend, found};
use std::sync::Arc;
use std::time::Duration;

/// A Vulkan device beside the CPU, and the means to break it.
struct Gpu {
    device: Arc<VulkanBackend>,
    faults: Arc<Faults>,
}

impl World for Gpu {
    fn expect_empty(&self) {
        let counts = self.device.counts();
        assert_eq!((counts.tickets, counts.held, counts.under_way), (0, 0, 0), "left on the device: {counts:?}");
    }
}

/// Sessions with a device of their own, number 1, whose memory the host shares or does not, and which hangs when it has stood still for
/// that long; nothing where there is none.
fn worlds(unified: bool, patience: Option<Duration>) -> Option<impl Fn() -> (Session, Gpu)> {
    world_of(Options { unified: Some(unified), patience, ..Options::default() })
}

/// Sessions as those of [`worlds`], with these options; each device has faults of its own.
fn world_of(options: Options) -> Option<impl Fn() -> (Session, Gpu)> {
    let Options { unified, budget, patience, .. } = options;
    let first = match found() {
        Ok(devices) => devices.into_iter().next()?,
        Err(reason) => {
            let expected = std::env::var("EXPECT_BACKENDS").unwrap_or_default();
            assert!(!expected.contains("vulkan"), "EXPECT_BACKENDS={expected}, but {reason}");
            return None;
        }
    };
    Some(move || {
        let options = Options { unified, budget, cache: CachePlace::Off, patience, ..Options::default() };
        let faults = Arc::clone(&options.faults);
        let physical = Arc::clone(&first.physical);
        let device = Arc::new(VulkanBackend::with(physical, "vulkan:0", first.can.clone(), options));
        let entry = Entry { name: "vulkan", devices: Ok(vec![Arc::clone(&device) as Arc<dyn Backend>]), complete: false };
        (session(vec![cpu_entry(), entry]), Gpu { device, faults })
    })
}

const ANYWHERE: &[Stage] = &[Stage::Upload, Stage::Run, Stage::Read];

fn point(
    name: &'static str,
    counter: fn(&Gpu) -> &ferrotensor_core::fault::Countdown,
    code: Code,
    after: After,
) -> Point<Gpu> {
    Point { name, counter, error: Some((code, ANYWHERE)), after, once: false }
}

#[test]
fn every_allocation_of_a_vulkan_device_may_fail() {
    let Some(fresh) = worlds(true, None) else { return };
    walk(SCENARIOS, &point("alloc", |w| &w.faults.alloc, Code::OutOfMemory, After::Works), 1, fresh);
}

/// Of tensors and temporaries in a device that has worked before, of rings, arguments and reports too in a new one.
#[test]
fn a_vulkan_driver_may_be_out_of_memory_at_any_block() {
    for unified in [true, false] {
        let Some(fresh) = worlds(unified, None) else { return };
        let point = point("block", |w| &w.faults.block, Code::OutOfMemory, After::Works);
        walk(SCENARIOS, &point, 1, &fresh);
        walk(&SCENARIOS[1..3], &Point { once: true, ..point }, 1, &fresh);
    }
}

#[test]
fn every_submission_may_be_the_one_at_which_a_vulkan_device_is_lost() {
    for unified in [true, false] {
        let Some(fresh) = worlds(unified, None) else { return };
        walk(SCENARIOS, &point("submit", |w| &w.faults.submit, Code::Device, After::Reopened), 1, fresh);
    }
}

/// Each device that hangs stays in memory, with what it holds: one scenario.
#[test]
fn a_vulkan_device_may_hang_at_any_submission_and_nobody_waits_for_ever() {
    // A hundred times what a submission takes here.
    let Some(fresh) = worlds(true, Some(Duration::from_secs(2))) else { return };
    walk(&SCENARIOS[1..2], &point("hang", |w| &w.faults.hang, Code::Device, After::Reopened), 1, fresh);
}

/// A bias and an activation are added where the product is written.
#[test]
fn what_comes_after_a_product_is_one_launch_with_it() {
    let Some(fresh) = world_of(Options::default()) else { return };
    let mut results = Vec::new();
    for fusion in [true, false] {
        let (mut s, _gpu) = fresh();
        s.set_config(Config { fusion, strict: Strict::Throw });
        let mut tensor = |dims: &[usize], seed: usize| {
            let values: Vec<f32> = (0..dims.iter().product()).map(|i| ((i * 37 + seed) % 23) as f32 / 8.0 - 1.25).collect();
            let sizes: Vec<f64> = dims.iter().map(|&d| d as f64).collect();
            let id = s.intern_type(DType::F32 as u8, &sizes, 1).unwrap();
            s.upload(id, bytemuck::cast_slice(&values), true).unwrap().unwrap()
        };
        let tensors = [tensor(&[5, 7], 1), tensor(&[7, 6], 2), tensor(&[6], 3), tensor(&[5, 6], 4)];
        let mut p = Program::default();
        let [x, w, bias, rest] = tensors.each_ref().map(|t| p.input(&mut s, t));
        let product = p.op(&mut s, "matmul", &[x, w], &[]);
        let moved = p.op(&mut s, "add", &[bias, product], &[]);
        let active = p.op(&mut s, "relu", &[moved], &[]);
        let out = p.op(&mut s, "add", &[active, rest], &[]);
        let out = p.run(&mut s, &[out], Mode::Sync).unwrap();
        results.push(read(&out[0]));
        assert_eq!(s.stats().launches, if fusion { 1 } else { 4 });
    }
    assert_eq!(results[0], results[1]);
}

/// What the engine keeps for reuse is given up for what a launch needs of its own: the pool knows nothing of that memory.
#[test]
fn memory_kept_for_reuse_goes_when_a_launch_needs_memory_of_its_own() {
    let Some(fresh) = world_of(Options { budget: Some(32 << 20), ..Options::default() }) else { return };
    let (mut s, gpu) = fresh();
    let descending: Vec<f32> = (0..1 << 20).rev().map(|i| i as f32).collect();
    let bytes = bytemuck::cast_slice(&descending);
    let id = s.intern_type(DType::F32 as u8, &[descending.len() as f64], 1).unwrap();
    let kept: Vec<_> = (0..7).map(|_| s.upload(id, bytes, true).unwrap().unwrap()).collect();
    let x = Arc::clone(&kept[0]);
    drop(kept);
    let held = gpu.device.mem().used;
    assert!(held >= 7 * bytes.len(), "the pool keeps what was dropped, of {held} bytes");
    for mode in [Mode::Sync, Mode::Async] {
        let mut p = Program::default();
        let a = p.input(&mut s, &x);
        // The sort takes 8 bytes an element for itself, and 4 are left.
        let sorted = p.op(&mut s, "sort", &[a], &[0.0, 0.0]);
        let out = p.run(&mut s, &[sorted], mode).unwrap();
        assert_eq!(read(&out[0])[..3], [0.0, 1.0, 2.0], "{mode:?}");
    }
}

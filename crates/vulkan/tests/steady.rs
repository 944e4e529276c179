//! A steady state: what is launched again and again takes no memory of the heap for each launch, and none of the driver.

#[path = "vulkan/rig/mod.rs"]
mod rig;

use ferrotensor_core::DType;
use ferrotensor_core::backend::{Backend, Batch, Launch, Operand};
use ferrotensor_core::kernel::{Combine, Kernel, Map, Monoid, Reduce, Scan};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::scalar::{Builder, Op};
use ferrotensor_vulkan::{Options, VulkanBackend};
use rig::{device, fine, finish};
use smallvec::smallvec;
use std::alloc::{GlobalAlloc, Layout as Bytes, System};
use std::cell::Cell;

/// The system's memory, and how often a thread has asked for some.
struct Counted;

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is the system allocator's, with the same arguments.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, bytes: Bytes) -> *mut u8 {
        let _ = ASKED.try_with(|n| n.set(n.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(bytes) }
    }

    unsafe fn dealloc(&self, at: *mut u8, bytes: Bytes) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, bytes) }
    }
}

#[global_allocator]
static MEMORY: Counted = Counted;

/// How often this thread asks for memory while it submits so many launches of a kernel over 64 elements, after it has done so
/// before.
fn asked(device: &VulkanBackend, kernel: &Kernel, launches: usize) -> usize {
    let prepared = device.prepare(kernel).unwrap();
    let operand = |dims: &[usize]| Operand { buffer: device.alloc(256).unwrap(), layout: Layout::dense(dims).unwrap() };
    let out: &[usize] = if matches!(kernel, Kernel::Reduce(_)) { &[8] } else { &[8, 8] };
    let (inputs, outputs) = (vec![operand(&[8, 8]); kernel.inputs().len()], vec![operand(out)]);
    let launch = Launch {
        kernel: prepared,
        inputs: inputs.into_iter().collect(),
        outputs: outputs.into_iter().collect(),
        params: smallvec![0x3f80_0000; kernel.params().len()],
    };
    let mut counts = Vec::new();
    for _ in 0..8 {
        let batch = Batch::new(vec![launch.clone(); launches]);
        let before = ASKED.get();
        let ticket = device.submit(batch);
        counts.push(ASKED.get() - before);
        fine(&finish(device, ticket));
    }
    counts.into_iter().min().unwrap()
}

fn kernels() -> Vec<(&'static str, Kernel)> {
    let dtype = DType::F32;
    let mut b = Builder::new();
    let [x, y] = [(); 2].map(|()| b.input(dtype));
    let a = b.param(dtype);
    let scaled = b.binary(Op::Mul, a, x);
    let sum = b.binary(Op::Add, scaled, y);
    let map = Map { program: b.finish(&[sum]) };
    let combine = Combine::Value(Monoid::Sum);
    let reduce = Reduce { axes: 1, combine, input: dtype, acc: dtype, pre: None, post: None };
    let scan = Scan { combine: Monoid::Sum, dtype };
    vec![("map", Kernel::Map(map)), ("reduce", Kernel::Reduce(reduce)), ("scan", Kernel::Scan(scan))]
}

#[test]
fn launches_of_what_was_launched_before_take_no_memory() {
    let Some(device) = device(Options::default()) else { return };
    for (name, kernel) in kernels() {
        let (few, many) = (asked(&device, &kernel, 8), asked(&device, &kernel, 40));
        assert_eq!(few, many, "{name}: a batch takes some memory, a launch none");
        let held = device.counts().held;
        asked(&device, &kernel, 40);
        assert_eq!(device.counts().held, held, "{name}: of the driver");
    }
}

#[test]
fn memory_that_is_asked_for_is_counted() {
    let before = ASKED.get();
    drop(std::hint::black_box(vec![1u8; 100]));
    assert_eq!(ASKED.get(), before + 1);
}

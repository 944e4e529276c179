//! Memory: what goes in comes out, the budget holds, and a refusal changes nothing.

use crate::rig::{affine, device, fine, launch, numbers, read, run};
use ferrotensor_core::backend::{Backend, Launch};
use ferrotensor_core::{Code, Result};
use ferrotensor_gpu::{Binding, Program, Recorder};
use ferrotensor_vulkan::Options;

/// Bytes that no two places near each other share.
fn pattern(bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(bytes).collect()
}

fn round_trips(unified: bool) {
    let Some(device) = device(Options { unified: Some(unified), ..Options::default() }) else { return };
    // Around the sizes of chunks (8 MiB) and of the ring (32 MiB).
    for (bytes, offset) in [(1, 0), (3, 1), (255, 7), (4097, 4095), (8 << 20, 0), ((8 << 20) + 1, 3), ((40 << 20) + 5, 11)] {
        let buffer = device.alloc(offset + bytes + 5).unwrap();
        let whole = vec![0x5A; offset + bytes + 5];
        device.upload(&whole, &buffer, 0).unwrap();
        let data = pattern(bytes, bytes as u64);
        device.upload(&data, &buffer, offset).unwrap();
        let mut back = vec![0; whole.len()];
        device.download(&buffer, 0, &mut back).unwrap();
        assert!(back[offset..offset + bytes] == data[..], "{bytes} at {offset}");
        assert!(back[..offset].iter().chain(&back[offset + bytes..]).all(|&b| b == 0x5A), "{bytes} at {offset}: beside it");
        let mut part = vec![0; bytes.min(100)];
        device.download(&buffer, offset + bytes - part.len(), &mut part).unwrap();
        assert!(part[..] == data[bytes - part.len()..], "the end of {bytes} at {offset}");
        let error = device.upload(&data, &buffer, buffer.bytes()).unwrap_err();
        assert_eq!(error.code, Code::Internal, "{error}");
    }
}

#[test]
fn bytes_come_back_through_mapped_memory() {
    round_trips(true);
}

#[test]
fn bytes_come_back_through_staging() {
    round_trips(false);
}

#[test]
fn small_copies_go_round_the_ring_in_order() {
    let Some(device) = device(Options { unified: Some(false), ..Options::default() }) else { return };
    let buffer = device.alloc(4 << 20).unwrap();
    let mut expected = vec![0; 4 << 20];
    device.upload(&expected, &buffer, 0).unwrap();
    for n in 0..300usize {
        // 300 copies of up to 200 KB: once round the ring of 32 MiB.
        let data = pattern(1 + n * 7919 % 200_000, n as u64);
        let offset = n * 104_729 % ((4 << 20) - data.len());
        device.upload(&data, &buffer, offset).unwrap();
        expected[offset..offset + data.len()].copy_from_slice(&data);
    }
    let mut back = vec![0; expected.len()];
    device.download(&buffer, 0, &mut back).unwrap();
    assert!(back == expected);
}

#[test]
fn a_hundred_budgets_in_a_loop_stay_within_one() {
    const BUDGET: usize = 16 << 20;
    let Some(device) = device(Options { budget: Some(BUDGET as u64), ..Options::default() }) else { return };
    let (mut kept, mut asked, mut random) = (Vec::new(), 0usize, 1u64);
    while asked < 100 * BUDGET {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bytes = 1 + (random >> 33) as usize % (3 << 20);
        match device.alloc(bytes) {
            Ok(buffer) => {
                asked += bytes;
                kept.push(buffer);
            }
            Err(e) => {
                assert_eq!(e.code, Code::OutOfMemory, "{e}");
                assert!(!kept.is_empty(), "an empty device refused {bytes} bytes: {e}");
                kept.swap_remove((random >> 40) as usize % kept.len());
            }
        }
        assert!(device.counts().held as usize <= BUDGET && device.mem().used <= BUDGET);
    }
    kept.clear();
    device.trim();
    assert_eq!((device.mem().used, device.counts().held), (0, 0), "nothing is kept back");
}

#[test]
fn a_refusal_names_the_numbers_and_the_next_request_works() {
    let Some(device) = device(Options { budget: Some(1 << 20), ..Options::default() }) else { return };
    let first = device.alloc(700_000).unwrap();
    let error = device.alloc(700_000).err().unwrap();
    assert_eq!(error.code, Code::OutOfMemory);
    for number in ["700160", "1048576", "vulkan:0"] {
        assert!(error.message.contains(number), "{error}");
    }
    drop(first);
    device.alloc(700_000).unwrap();
    let error = device.alloc(usize::MAX - 5).err().unwrap();
    assert_eq!(error.code, Code::OutOfMemory, "{error}");
    assert_eq!(device.mem().used, 0);
}

#[test]
fn small_buffers_share_blocks_that_trim_gives_back() {
    let Some(device) = device(Options { budget: Some(64 << 20), ..Options::default() }) else { return };
    let buffers: Vec<_> = (0..1000).map(|n| device.alloc(n * 7).unwrap()).collect();
    assert_eq!(device.counts().held, 8 << 20, "one block of an eighth of the budget");
    let alone = device.alloc(20 << 20).unwrap();
    assert_eq!(device.counts().held, 28 << 20);
    drop(alone);
    assert_eq!(device.counts().held, 8 << 20, "a buffer's own block goes with it");
    drop(buffers);
    assert_eq!(device.counts().held, 8 << 20);
    device.trim();
    assert_eq!(device.counts().held, 0);
}

#[test]
fn the_kth_allocation_and_its_repetition_fail_and_the_next_works() {
    let options = Options::default();
    let faults = options.faults.clone();
    let Some(device) = device(options) else { return };
    for k in 1..5 {
        faults.alloc.arm(k);
        let results: Vec<bool> = (1..=7).map(|_| device.alloc(1000).is_ok()).collect();
        let expected: Vec<bool> = (1..=7).map(|n| n != k && n != k + 1).collect();
        assert_eq!(results, expected);
        assert_eq!(device.mem().used, 0);
    }
}

/// Four launches of one batch, each with memory of its own of more than a third of the budget.
#[test]
fn memory_of_launches_that_ended_is_used_again_within_a_batch() {
    let Some(device) = device(Options { budget: Some(16 << 20), ..Options::default() }) else { return };
    let n = (6 << 20) / 4;
    let [x, y] = [0, 1].map(|_| numbers(&device, (0..4).map(|n| n as f32)));
    // Only 4 elements are computed; the memory is that of many.
    let launches = (0..4).map(|_| launch(Scratch { bytes: n * 4 }, &x, &y)).collect();
    fine(&run(&device, launches));
    assert_eq!(read(&device, &y, 4), [0.0, 1.0, 2.0, 3.0]);
    drop((x, y));
    device.trim();
    assert_eq!((device.mem().used, device.counts().held), (0, 0));
}

/// A copy of 4 numbers by way of much memory.
struct Scratch {
    bytes: usize,
}

impl Program for Scratch {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        let pipeline = affine::compiled(recorder)?;
        let scratch = recorder.scratch(self.bytes as u64)?;
        let operand = |buffer, write| Binding { buffer, offset: 0, bytes: 16, write };
        let [x, y] = [&launch.inputs[0], &launch.outputs[0]].map(|o| &o.buffer);
        let arguments = [4, 1f32.to_bits(), 0];
        recorder.dispatch(&pipeline, &arguments, &[operand(x, false), operand(&scratch, true)], None, 1)?;
        recorder.dispatch(&pipeline, &arguments, &[operand(&scratch, false), operand(y, true)], None, 1)
    }
}

#[test]
fn a_budget_beyond_the_device_is_refused_by_the_driver_as_out_of_memory() {
    let Some(device) = device(Options { budget: Some(u64::MAX / 2), ..Options::default() }) else { return };
    let most = device.caps().max_buffer;
    let mut kept = Vec::new();
    // Software devices hand out address space without end: no more than 4 buffers, which are never touched.
    for _ in 0..4 {
        match device.alloc(most) {
            Ok(buffer) => kept.push(buffer),
            Err(e) => assert_eq!(e.code, Code::OutOfMemory, "{e}"),
        }
    }
    kept.clear();
    device.alloc(1).unwrap();
}

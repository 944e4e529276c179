//! How fast products are, beside what the device's memory and arithmetic allow:
//! `cargo test --release -p ferrotensor-vulkan --test vulkan -- --ignored --nocapture product_speed`.
//!
//! `ROOF=3350,67000` gives the GB/s and GFLOP/s of a data sheet; else they are what copies and maps reach on the device, which a
//! product may surpass: Mesa's software device runs loops faster than long maps.

use crate::rig::{device, fine, finish};
use crate::suite::random::numbers;
use ferrotensor_core::DType;
use ferrotensor_core::backend::{Backend, Batch, Launch, Operand, Prepared};
use ferrotensor_core::kernel::{Contract, Kernel, Map, Window, WindowAxis, WindowCombine};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::scalar::{Builder, Op, Program};
use ferrotensor_vulkan::{Options, VulkanBackend};
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

fn operand(device: &VulkanBackend, dims: &[usize], dtype: DType) -> Operand {
    let layout = Layout::dense(dims).unwrap();
    let buffer = device.alloc(layout.len() * dtype.bytes()).unwrap();
    device.upload(&numbers(dtype, layout.len(), 7), &buffer, 0).unwrap();
    Operand { buffer, layout }
}

/// The best of several runs, in seconds.
fn seconds(device: &VulkanBackend, kernel: &Arc<dyn Prepared>, inputs: &[Operand], output: &Operand) -> f64 {
    let launch = || Launch {
        kernel: Arc::clone(kernel),
        inputs: inputs.iter().cloned().collect(),
        outputs: [output.clone()].into_iter().collect(),
        params: Default::default(),
    };
    let once = || {
        let begun = Instant::now();
        fine(&finish(device, device.submit(Batch::new(vec![launch()]))));
        begun.elapsed().as_secs_f64()
    };
    once();
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

/// Floating operations in a second of a map with so many chains of multiplications and additions that feed each other.
fn arithmetic(device: &VulkanBackend, chains: usize) -> f64 {
    let (n, rounds) = (1 << 18, 512 / chains);
    let mut b = Builder::new();
    let x = b.input(DType::F32);
    let mut values: Vec<_> = (1..=chains).map(|n| b.lit(DType::F32, n as f64 / 64.0)).collect();
    for _ in 0..rounds {
        for value in &mut values {
            let product = b.binary(Op::Mul, *value, x);
            *value = b.binary(Op::Add, product, x);
        }
    }
    let sum = values.iter().copied().reduce(|x, y| b.binary(Op::Add, x, y)).unwrap();
    let map = device.prepare(&Kernel::Map(Map { program: b.finish(&[sum]) })).unwrap();
    let (x, y) = (operand(device, &[n], DType::F32), operand(device, &[n], DType::F32));
    2.0 * (chains * rounds * n) as f64 / seconds(device, &map, &[x], &y)
}

/// Bytes and floating operations in a second: of a data sheet, or of a copy and of the map that makes most of them.
fn roof(device: &VulkanBackend) -> (f64, f64) {
    let given = std::env::var("ROOF").ok();
    let given = given.as_ref().and_then(|roof| roof.split_once(','));
    if let Some((bytes, flops)) = given {
        let number = |text: &str| text.parse::<f64>().expect("ROOF is two numbers") * 1e9;
        return (number(bytes), number(flops));
    }
    let n = 1 << 24;
    let (x, y) = (operand(device, &[n], DType::F32), operand(device, &[n], DType::F32));
    let copy = device.prepare(&Kernel::Map(Map { program: Program::identity(DType::F32) })).unwrap();
    let bytes = 8.0 * n as f64 / seconds(device, &copy, &[x], &y);
    (bytes, [2, 4, 8, 16, 32].map(|chains| arithmetic(device, chains)).into_iter().fold(0.0, f64::max))
}

#[test]
#[ignore = "a measurement"]
fn products_and_convolutions() {
    let Some(device) = device(Options::default()) else { return };
    let mut out = std::io::stderr();
    let (bytes, flops) = roof(&device);
    let device_name = &device.caps().description;
    writeln!(out, "{device_name}: roof of {:.1} GB/s and {:.1} GFLOP/s", bytes / 1e9, flops / 1e9).unwrap();
    let mut report = |name: &str, work: f64, moved: usize, taken: f64| {
        let roof = flops.min(work / moved as f64 * bytes);
        let (found, roof) = (work / taken / 1e9, roof / 1e9);
        writeln!(out, "{name:40} {found:10.2} GFLOP/s of {roof:.1} ({:.0} %), {:.3} ms", 100.0 * found / roof, taken * 1e3)
            .unwrap();
    };
    let f32s = |n: usize| operand(&device, &[n, n], DType::F32);
    for (dtype, n) in [(DType::F32, 256), (DType::F32, 1024), (DType::F64, 256), (DType::F16, 256), (DType::C64, 256)] {
        let kernel = device.prepare(&Kernel::Contract(Contract::new(dtype))).unwrap();
        let [a, b, c] = [(); 3].map(|()| operand(&device, &[n, n], dtype));
        for (how, b) in [("", b.clone()), (", b turned", Operand { layout: b.layout.permute(&[1, 0]), ..b })] {
            let work = 2.0 * (n * n * n) as f64;
            let taken = seconds(&device, &kernel, &[a.clone(), b], &c);
            report(&format!("{n} x {n} x {n} {dtype}{how}"), work, 3 * n * n * dtype.bytes(), taken);
        }
    }
    let kernel = device.prepare(&Kernel::Contract(Contract::new(DType::F32))).unwrap();
    let (n, a) = (2048, f32s(2048));
    let (x, y) = (operand(&device, &[n, 1], DType::F32), operand(&device, &[n, 1], DType::F32));
    for (how, a) in [("", a.clone()), (" turned", Operand { layout: a.layout.permute(&[1, 0]), ..a })] {
        let taken = seconds(&device, &kernel, &[a, x.clone()], &y);
        report(&format!("{n} x {n}{how} times a vector"), 2.0 * (n * n) as f64, 4 * n * n, taken);
    }
    let axis = WindowAxis { size: 3, stride: 1, dilation: 1, low: 1 };
    let window = Window { combine: WindowCombine::Dot, dtype: DType::F32, axes: vec![axis; 2] };
    let kernel = device.prepare(&Kernel::Window(window)).unwrap();
    for (channels, side) in [(16, 64), (64, 56)] {
        let data = operand(&device, &[1, 1, channels, side, side], DType::F32);
        let weights = operand(&device, &[1, channels, channels, 3, 3], DType::F32);
        let result = operand(&device, &[1, 1, channels, side, side], DType::F32);
        let work = 2.0 * (channels * channels * 9 * side * side) as f64;
        let taken = seconds(&device, &kernel, &[data, weights], &result);
        report(&format!("{channels} x {channels} x 3 x 3 over {side} x {side}"), work, 8 * channels * side * side, taken);
    }
}

//! What the arithmetic of an opened device is like, found out by computing: specifications leave it open, and two versions of one
//! driver differ.

use crate::device::Opened;
use crate::memory::VulkanBuffer;
use ferrotensor_core::backend::{Batch, Buffer, Launch, Operand};
use ferrotensor_core::kernel::{Kernel, Map};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::scalar::{Builder, Op, Program};
use ferrotensor_core::{DType, Result};
use ferrotensor_gpu::{Can, Ready, lower};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Operands tried: a device that rounds twice is wrong on nearly every one.
const TRIED: usize = 512;
/// As long as a driver may take to compile and run the smallest kernel: tenfold what the slowest one seen takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// The capabilities with what arithmetic turned out to be, of float32 and float64.
///
/// # Errors
/// The device's: it cannot run the smallest kernel.
pub fn probed(opened: &Arc<Opened>) -> Result<Can> {
    // Kernels of the probe have the device's own instructions.
    let given = &opened.can;
    let with = Can { roots: true, quotients: true, subnormals: true, ..given.clone().with_fma(true, given.float64) };
    let single = rounds_once(opened, &with, DType::F32)?;
    let double = with.float64 && with.int64 && rounds_once(opened, &with, DType::F64)?;
    let roots = given.roots && has_roots(opened, &with)?;
    let quotients = given.quotients && has_quotients(opened, &with)?;
    let subnormals = given.subnormals && keeps_subnormals(opened, &with)?;
    Ok(Can { roots, quotients, subnormals, ..with.with_fma(single, double) })
}

/// Significands from a Weyl sequence with steps of the golden ratio.
fn significand(n: usize) -> f64 {
    1.0 + (n as f64 * 0.618_033_988_749_894_8).fract()
}

/// Whether square roots are those of IEEE 754: a device that is a unit off sometimes is so in one of three.
fn has_roots(opened: &Arc<Opened>, can: &Can) -> Result<bool> {
    let of: Vec<f32> = (0..TRIED).map(|n| (significand(n) * 2f64.powi(n as i32 % 200 - 100)) as f32).collect();
    let mut b = Builder::new();
    let x = b.input(DType::F32);
    let root = b.unary(Op::Sqrt, x);
    gives(opened, can, b.finish(&[root]), &[bytes(&of)], &bytes(&of.iter().map(|x| x.sqrt()).collect::<Vec<_>>()))
}

/// The same of quotients.
fn has_quotients(opened: &Arc<Opened>, can: &Can) -> Result<bool> {
    let of = |n: usize| (significand(2 * n + 1) * 2f64.powi(n as i32 % 60 - 30), significand(2 * n + 2));
    let (x, y): (Vec<f32>, Vec<f32>) = (0..TRIED).map(of).map(|(x, y)| (x as f32, y as f32)).unzip();
    let want: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x / y).collect();
    let mut b = Builder::new();
    let (u, v) = (b.input(DType::F32), b.input(DType::F32));
    let quotient = b.binary(Op::Div, u, v);
    gives(opened, can, b.finish(&[quotient]), &[bytes(&x), bytes(&y)], &bytes(&want))
}

/// Whether a product may be subnormal, a sum of what is, and what is compared, loses its sign, or meets a fused multiply-add or another
/// format: an H100 keeps the first two alone.
fn keeps_subnormals(opened: &Arc<Opened>, can: &Can) -> Result<bool> {
    let small = |n: usize| (significand(n) * 2f64.powi(-100)) as f32;
    let tiny = |n: usize| {
        let size = 1 + (n as u32).wrapping_mul(0x9e37_79b9) % 0x7f_ffff;
        f32::from_bits(size | (n as u32 % 2) << 31)
    };
    let x: Vec<f32> = (0..TRIED).map(small).collect();
    let y: Vec<f32> = (0..TRIED).map(|n| (significand(3 * n) * 2f64.powi(-30 - n as i32 % 18)) as f32).collect();
    let z: Vec<f32> = (0..TRIED).map(tiny).collect();
    // Nowhere is the sum the size: no product is zero.
    let chosen = |x: f32, y: f32, z: f32| if 0.0 < z { z.abs() } else { x * y + z };
    // Doubling is exact, so that it does not matter whether the sum is fused, and the way through float64 is no way back.
    let twice = if can.float64 { 2.0 } else { 1.0 };
    let result = |((x, y), z): ((&f32, &f32), &f32)| twice * (2.0 * z + chosen(*x, *y, *z));
    let want: Vec<f32> = x.iter().zip(&y).zip(&z).map(result).collect();
    let mut b = Builder::new();
    let [u, v, w] = [(); 3].map(|()| b.input(DType::F32));
    let product = b.binary(Op::Mul, u, v);
    let sum = b.binary(Op::Add, product, w);
    let zero = b.lit(DType::F32, 0.0);
    let is_above = b.compare(Op::Lt, zero, w);
    let size = b.unary(Op::Abs, w);
    let chosen = b.select(is_above, size, sum);
    let two = b.lit(DType::F32, 2.0);
    let mut last = b.fma(w, two, chosen);
    if can.float64 {
        let (double, two) = (b.cast(last, DType::F64), b.lit(DType::F64, 2.0));
        let doubled = b.binary(Op::Mul, double, two);
        last = b.cast(doubled, DType::F32);
    }
    gives(opened, can, b.finish(&[last]), &[bytes(&x), bytes(&y), bytes(&z)], &bytes(&want))
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// Whether `x * y + z` has one rounding for z near `-x * y`, where two leave nothing.
fn rounds_once(opened: &Arc<Opened>, can: &Can, dtype: DType) -> Result<bool> {
    let of = |n: usize| (significand(2 * n + 1), -significand(2 * n + 2) * 2f64.powi(n as i32 % 20 - 10));
    let mut bytes: [Vec<u8>; 4] = Default::default();
    for (x, y) in (0..TRIED).map(of) {
        if dtype == DType::F64 {
            let numbers = [x, y, -(x * y), x.mul_add(y, -(x * y))];
            bytes.iter_mut().zip(numbers).for_each(|(to, v)| to.extend(v.to_le_bytes()));
        } else {
            let (x, y) = (x as f32, y as f32);
            let numbers = [x, y, -(x * y), x.mul_add(y, -(x * y))];
            bytes.iter_mut().zip(numbers).for_each(|(to, v)| to.extend(v.to_le_bytes()));
        }
    }
    let mut b = Builder::new();
    let [x, y, z] = [(); 3].map(|()| b.input(dtype));
    let sum = b.fma(x, y, z);
    let [x, y, z, want] = bytes;
    gives(opened, can, b.finish(&[sum]), &[x, y, z], &want)
}

/// Whether a program of [`TRIED`] elements gives these bytes on the device.
fn gives(opened: &Arc<Opened>, can: &Can, program: Program, inputs: &[Vec<u8>], want: &[u8]) -> Result<bool> {
    let program = Ready::new(lower::prepare(&Kernel::Map(Map { program }), can, &opened.pipelines)?);
    let operand = |bytes: &[u8]| -> Result<(Operand, Arc<VulkanBuffer>)> {
        let own = Arc::new(opened.memory.alloc(bytes.len() as u64)?);
        let buffer = Arc::clone(&own) as Buffer;
        opened.upload(bytes, &own, &buffer, 0)?;
        Ok((Operand { buffer, layout: Layout::dense(&[TRIED])? }, own))
    };
    let inputs = inputs.iter().map(|v| Ok(operand(v)?.0)).collect::<Result<SmallVec<[Operand; 3]>>>()?;
    let (output, own) = operand(&vec![0; want.len()])?;
    let launch = Launch {
        kernel: Arc::new(program),
        inputs,
        outputs: SmallVec::from_iter([output.clone()]),
        params: SmallVec::new(),
    };
    opened.run(Batch::new(vec![launch]), Instant::now() + PATIENCE)?;
    let mut found = vec![0; want.len()];
    opened.download(&own, &output.buffer, 0, &mut found)?;
    Ok(found == want)
}

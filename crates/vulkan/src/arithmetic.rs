//! What the arithmetic of an opened device is like, found out by computing: specifications leave it open, and two versions of one
//! driver differ.

use crate::caps::Can;
use crate::device::Opened;
use crate::kernel::Ready;
use crate::launch::map::MapProgram;
use crate::memory::VulkanBuffer;
use ferrotensor_core::backend::{Batch, Buffer, Launch, Operand};
use ferrotensor_core::kernel::Map;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::scalar::Builder;
use ferrotensor_core::{DType, Result};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Operands tried: a device that rounds twice is wrong on nearly every one.
const TRIED: usize = 512;
/// As long as a driver may take to compile and run the smallest kernel: tenfold what the slowest one seen takes.
const PATIENCE: Duration = Duration::from_secs(10);

/// The capabilities with what `fma` turned out to be, of float32 and float64.
///
/// # Errors
/// The device's: it cannot run the smallest kernel.
pub fn probed(opened: &Arc<Opened>) -> Result<Can> {
    let with = opened.can.clone().with_fma(true, opened.can.float64);
    let single = rounds_once(opened, &with, DType::F32)?;
    let double = opened.can.float64 && opened.can.int64 && rounds_once(opened, &with, DType::F64)?;
    Ok(with.with_fma(single, double))
}

/// Whether `x * y + z` has one rounding for z near `-x * y`, where two leave nothing.
fn rounds_once(opened: &Arc<Opened>, can: &Can, dtype: DType) -> Result<bool> {
    // Significands from a Weyl sequence with steps of the golden ratio.
    let significand = |n: usize| 1.0 + (n as f64 * 0.618_033_988_749_894_8).fract();
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
    let map = Map { program: b.finish(&[sum]) };
    let program = Ready::new(Box::new(MapProgram::new(&map, can, &opened.pipelines)?));
    let operand = |bytes: &[u8]| -> Result<(Operand, Arc<VulkanBuffer>)> {
        let own = Arc::new(opened.memory.alloc(bytes.len() as u64)?);
        let buffer = Arc::clone(&own) as Buffer;
        opened.upload(bytes, &own, &buffer, 0)?;
        Ok((Operand { buffer, layout: Layout::dense(&[TRIED])? }, own))
    };
    let [x, y, z, want] = &bytes;
    let inputs = [x, y, z].into_iter().map(|v| Ok(operand(v)?.0)).collect::<Result<SmallVec<[Operand; 3]>>>()?;
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
    Ok(found == *want)
}

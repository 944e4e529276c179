//! A rough estimate of a kernel's time, to decide where a program runs. Only its order of magnitude matters.

use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::rows::RowStep;

/// Nanoseconds for each instruction and element in a cached map (AVX2, exp counts as one call of about ten).
const NS_PER_INSTR: f64 = 0.1;
/// Nanoseconds for each byte moved from memory (10 GB/s: one core of a busy server).
const NS_PER_BYTE: f64 = 0.1;
/// Nanoseconds to start a kernel.
const NS_PER_LAUNCH: f64 = 50.0;

/// Nanoseconds for a kernel over these numbers of elements and bytes; `inner` is a contraction's or routine's inner size,
/// or how many keys each query meets.
pub fn estimate(kernel: &Kernel, elements: usize, bytes: usize, inner: usize) -> f64 {
    let n = elements as f64;
    let work = match kernel {
        Kernel::Map(k) => n * NS_PER_INSTR * k.program.instrs.len() as f64,
        Kernel::Reduce(_) | Kernel::Scan(_) => n * 0.5,
        Kernel::Gather(_) | Kernel::Scatter(_) => n * 2.0,
        // 20 GFLOP/s and more.
        Kernel::Contract(_) => n * inner as f64 * 0.1,
        Kernel::Window(k) => n * k.axes.iter().map(|a| a.size as f64).product::<f64>() * 0.5,
        Kernel::Sort(_) => n * 20.0,
        Kernel::Rows(k) => {
            let step = |s: &RowStep| match s {
                RowStep::Map { map, .. } => NS_PER_INSTR * map.program.instrs.len() as f64,
                RowStep::Reduce { .. } => 0.5,
            };
            n * k.steps.iter().map(step).sum::<f64>()
        }
        Kernel::Attention(_) => n * inner as f64 * 0.1,
        Kernel::Routine(_) => n * (inner as f64 + 20.0),
    };
    NS_PER_LAUNCH + work + bytes as f64 * NS_PER_BYTE
}

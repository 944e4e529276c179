//! Operations on flat arrays in plain memory, for callers without tensors: by simple loops, by the kernels of this backend on one thread
//! or on all, or by a vendor's library.

mod loops;

use crate::blas::{self, Blas, Float, Rows};
use crate::contract;
use crate::launch::{Context, Run, Slots};
use crate::map::MapKernel;
use crate::memory::Account;
use crate::parallel::{parallel_for, threads, unshared};
use crate::scratch::Scratch;
use crate::tier::{Tier, compiled};
use ferrotensor_core::error::{Code, Error, Result};
use ferrotensor_core::kernel::{Contract, Map};
use ferrotensor_core::scalar::{Builder, Op, literal_bits};
use ferrotensor_core::{DType, Layout};
use loops::{Blocks, Element, InPlace, Partial, Straight};
use smallvec::smallvec;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// What computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlatEngine {
    /// Loops over numbers, one after the other.
    Scalar,
    /// Kernels for the processor's vectors, on the calling thread.
    Simd,
    /// The same on all threads.
    Parallel,
    /// Products by the vendor's library, the rest as `Parallel`: what BLAS has of it is less accurate than what is promised.
    Blas,
}

impl FlatEngine {
    /// All, in the order users see them.
    pub const ALL: [FlatEngine; 4] = [FlatEngine::Scalar, FlatEngine::Simd, FlatEngine::Parallel, FlatEngine::Blas];

    /// The name users know it by.
    pub fn name(self) -> &'static str {
        match self {
            FlatEngine::Scalar => "scalar",
            FlatEngine::Simd => "simd",
            FlatEngine::Parallel => "parallel",
            FlatEngine::Blas => "blas",
        }
    }

    fn tier(self) -> Result<Tier, String> {
        if self == FlatEngine::Scalar { Ok(Tier::Baseline) } else { Tier::detect() }
    }

    /// What it is here.
    ///
    /// # Errors
    /// Why it is absent, in words.
    pub fn info(self) -> Result<EngineInfo, String> {
        let isa = self.tier()?.name();
        let own = |threads| EngineInfo { isa: Some(isa), threads: Some(threads), ..EngineInfo::default() };
        Ok(match self {
            FlatEngine::Scalar | FlatEngine::Simd => own(1),
            FlatEngine::Parallel => own(threads()),
            FlatEngine::Blas => {
                let library = blas::library()?;
                EngineInfo {
                    isa: None,
                    threads: library.threads(),
                    library: Some(library.name()),
                    version: library.version(),
                    core: library.core(),
                }
            }
        })
    }
}

/// What an engine is.
#[derive(Clone, Debug, Default)]
pub struct EngineInfo {
    /// Its instruction set.
    pub isa: Option<&'static str>,
    /// Threads it uses, the calling one included.
    pub threads: Option<usize>,
    /// The library behind it.
    pub library: Option<String>,
    /// That one's version.
    pub version: Option<String>,
    /// That one's name of the processor it computes for.
    pub core: Option<String>,
}

/// An operation, with its sizes in elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlatOp {
    /// `out = a b`, of m x k and k x n in row-major order.
    Matmul {
        /// Rows.
        m: usize,
        /// Columns.
        n: usize,
        /// Places.
        k: usize,
    },
    /// `out = a + b`.
    Add(usize),
    /// `out[0]`, a float64, is the sum of `a b`.
    Dot(usize),
    /// `out[0]`, a float64, is the sum of `a`.
    Sum(usize),
    /// `out = s a`; `s` is a value of the dtype.
    Scale(usize, f64),
}

/// Memory of a call; who has no `b` points anywhere.
#[derive(Clone, Copy)]
pub struct FlatArrays {
    /// float32 or float64.
    pub dtype: DType,
    /// First operand.
    pub a: *const u8,
    /// Second operand.
    pub b: *const u8,
    /// Result.
    pub out: *mut u8,
}
// SAFETY: pointers, which are used by the one thread that runs the operation and by those that help it.
unsafe impl Send for FlatArrays {}
// SAFETY: as above.
unsafe impl Sync for FlatArrays {}

/// Runs an operation.
///
/// # Errors
/// `Code::BackendUnavailable` with the reason, `Code::OutOfMemory` for copies.
///
/// # Safety
/// The arrays exist and have as many elements as the operation says. `out` shares memory with no operand, or is that of an operand of
/// `Add` or `Scale`, as a whole; nobody else writes to operands or touches `out` meanwhile.
pub unsafe fn run(engine: FlatEngine, op: FlatOp, arrays: FlatArrays) -> Result<()> {
    let tier = engine.tier().map_err(|reason| Error::new(Code::BackendUnavailable, reason))?;
    let work = || {
        // SAFETY: as the caller promises.
        unsafe {
            match (op, arrays.dtype) {
                (FlatOp::Matmul { m, n, k }, dtype) => product(engine, tier, dtype, [m, n, k], arrays),
                (_, DType::F32) => elementwise::<f32>(tier, op, arrays),
                (_, _) => elementwise::<f64>(tier, op, arrays),
            }
        }
    };
    match engine {
        FlatEngine::Scalar | FlatEngine::Simd => unshared(work),
        FlatEngine::Parallel | FlatEngine::Blas => work(),
    }
}

/// # Safety
/// As [`run`].
unsafe fn product(engine: FlatEngine, tier: Tier, dtype: DType, sizes: [usize; 3], arrays: FlatArrays) -> Result<()> {
    let FlatArrays { a, b, out, .. } = arrays;
    let [m, n, k] = sizes;
    // SAFETY: as the caller promises.
    unsafe {
        match (engine, dtype) {
            (FlatEngine::Scalar, DType::F32) => loops::product::<f32>(sizes, a.cast(), b.cast(), out.cast()),
            (FlatEngine::Scalar, _) => loops::product::<f64>(sizes, a.cast(), b.cast(), out.cast()),
            (FlatEngine::Blas, _) => {
                let library = blas::library().map_err(|reason| Error::new(Code::BackendUnavailable, reason))?;
                if !sizes.iter().all(|&size| library.holds(size)) {
                    return Err(Error::unsupported(format!("{} counts to 2^31 - 1", library.name())));
                }
                match dtype {
                    DType::F32 => vendor_product::<f32>(library, sizes, arrays),
                    _ => vendor_product::<f64>(library, sizes, arrays),
                }
            }
            (FlatEngine::Simd | FlatEngine::Parallel, _) => {
                static KERNELS: [OnceLock<Result<Box<dyn Run>, String>>; 2] = [OnceLock::new(), OnceLock::new()];
                let prepare = || contract::prepare(&Contract::new(dtype), tier);
                let layouts = [[m, k], [k, n], [m, n]].map(|dims| Layout::dense(&dims));
                let [x, y, z] = &layouts;
                let (x, y, z) = (x.as_ref(), y.as_ref(), z.as_ref());
                let inputs = smallvec![(x.map_err(Clone::clone)?, a.cast_mut()), (y.map_err(Clone::clone)?, b.cast_mut())];
                let slots = Slots { inputs, outputs: smallvec![(z.map_err(Clone::clone)?, out)] };
                launch(&KERNELS, dtype, prepare, &slots, &[])?;
            }
        }
    }
    Ok(())
}

/// # Safety
/// As [`run`].
unsafe fn vendor_product<T: Float>(library: &Blas, [m, n, k]: [usize; 3], arrays: FlatArrays) {
    let rows = |start: *const u8, leading: usize| Rows::<T> { start: start.cast(), leading, is_transposed: false };
    // SAFETY: as the caller promises.
    unsafe { library.product(threads(), [m, n, k], rows(arrays.a, k), rows(arrays.b, n), (arrays.out.cast(), n), || false) };
}

/// Runs the kernel of a dtype, prepared once.
fn launch(
    kernels: &[OnceLock<Result<Box<dyn Run>, String>>; 2],
    dtype: DType,
    prepare: impl FnOnce() -> Result<Box<dyn Run>, String>,
    slots: &Slots,
    params: &[u64],
) -> Result<()> {
    let kernel =
        kernels[usize::from(dtype == DType::F64)].get_or_init(prepare).as_ref().map_err(|e| Error::internal(e.clone()))?;
    // Without room for copies that stay: the arrays are their owner's, who writes them when he likes.
    let context = Context { abandoned: &AtomicBool::new(false), account: &Arc::<Account>::default(), spare: 0 };
    kernel.run(slots, params, &context)
}

/// # Safety
/// As [`run`].
unsafe fn elementwise<T: Element>(tier: Tier, op: FlatOp, arrays: FlatArrays) -> Result<()> {
    let FlatArrays { a, b, out, dtype } = arrays;
    // SAFETY: as the caller promises.
    unsafe {
        match op {
            FlatOp::Add(len) if a.cast_mut() == out || b.cast_mut() == out => {
                let arrays = FlatArrays { b: if a.cast_mut() == out { b } else { a }, ..arrays };
                over::<T>(len, &arrays, |range, FlatArrays { b, out, .. }| {
                    let to = out.cast::<T>().wrapping_add(range.start);
                    let from = if b.cast_mut() == *out { None } else { Some(b.cast::<T>().wrapping_add(range.start)) };
                    compiled::<InPlace<T>>(tier)(Straight { len: range.len(), from, factor: T::of(2.0), to });
                })
            }
            FlatOp::Scale(len, factor) if a.cast_mut() == out => over::<T>(len, &arrays, |range, arrays| {
                let to = arrays.out.cast::<T>().wrapping_add(range.start);
                compiled::<InPlace<T>>(tier)(Straight { len: range.len(), from: None, factor: T::of(factor), to });
            }),
            FlatOp::Add(len) => {
                static KERNELS: [OnceLock<Result<Box<dyn Run>, String>>; 2] = [OnceLock::new(), OnceLock::new()];
                let layout = Layout::dense(&[len])?;
                let inputs = smallvec![(&layout, a.cast_mut()), (&layout, b.cast_mut())];
                let slots = Slots { inputs, outputs: smallvec![(&layout, out)] };
                launch(&KERNELS, dtype, || sum_of_two(dtype, tier), &slots, &[])
            }
            FlatOp::Scale(len, factor) => {
                static KERNELS: [OnceLock<Result<Box<dyn Run>, String>>; 2] = [OnceLock::new(), OnceLock::new()];
                let layout = Layout::dense(&[len])?;
                let slots = Slots { inputs: smallvec![(&layout, a.cast_mut())], outputs: smallvec![(&layout, out)] };
                launch(&KERNELS, dtype, || multiple(dtype, tier), &slots, &[literal_bits(dtype, factor)])
            }
            FlatOp::Sum(len) => total::<T>(tier, len, (a, None), out),
            FlatOp::Dot(len) => total::<T>(tier, len, (a, Some(b)), out),
            FlatOp::Matmul { .. } => Err(Error::internal("a product is not elementwise")),
        }
    }
}

fn sum_of_two(dtype: DType, tier: Tier) -> Result<Box<dyn Run>, String> {
    let mut program = Builder::new();
    let (x, y) = (program.input(dtype), program.input(dtype));
    let sum = program.binary(Op::Add, x, y);
    Ok(Box::new(MapKernel::new(&Map { program: program.finish(&[sum]) }, tier)?))
}

fn multiple(dtype: DType, tier: Tier) -> Result<Box<dyn Run>, String> {
    let mut program = Builder::new();
    let (x, s) = (program.input(dtype), program.param(dtype));
    let product = program.binary(Op::Mul, x, s);
    Ok(Box::new(MapKernel::new(&Map { program: program.finish(&[product]) }, tier)?))
}

/// Calls `body` for ranges of elements, on several threads where that is allowed and worth it. A nanosecond is four elements or so.
fn over<T: Element>(
    len: usize,
    arrays: &FlatArrays,
    body: impl Fn(std::ops::Range<usize>, &FlatArrays) + Sync,
) -> Result<()> {
    parallel_for(len, 0.25, &|range| {
        body(range, arrays);
        Ok(())
    })
}

/// The sum of all terms, as a float64: of each block by lanes, of the blocks in pairs. Neither depends on the number of threads.
///
/// # Safety
/// The operands have so many elements, and `out` one.
unsafe fn total<T: Element>(tier: Tier, len: usize, (a, b): (*const u8, Option<*const u8>), out: *mut u8) -> Result<()> {
    let blocks = len.div_ceil(loops::BLOCK);
    let room = Scratch::take(blocks * size_of::<f64>())?;
    let partial = Partial { a: a.cast::<T>(), b: b.map(<*const u8>::cast), to: room.as_ptr().cast() };
    // Read at about 20 GB/s.
    parallel_for(blocks, (loops::BLOCK * size_of::<T>()) as f64 / 20.0, &|range| {
        for block in range {
            // SAFETY: the elements exist, and each block has a place of its own.
            unsafe { compiled::<Blocks<T>>(tier)(partial.block(block, len)) };
        }
        Ok(())
    })?;
    // SAFETY: all are written; `out` holds a float64.
    unsafe { *out.cast::<f64>() = loops::in_pairs(std::slice::from_raw_parts(room.as_ptr().cast(), blocks)) };
    Ok(())
}

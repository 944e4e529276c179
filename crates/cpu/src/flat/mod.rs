//! Operations on flat arrays in plain memory, for callers without tensors: by simple loops, by the kernels of this backend on one thread
//! or on all, or by a vendor's library.

mod loops;

use crate::blas::{self, Float, Rows};
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
use loops::{Blocks, Element, InPlace, InPlaceArgs, Partial};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// What computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlatEngine {
    /// Loops for the oldest processors of this kind, on the calling thread.
    Scalar,
    /// Kernels for the processor's vectors, on the calling thread.
    Simd,
    /// The same on all threads.
    Parallel,
    /// Products by the vendor's library, the rest as `Parallel`: BLAS has no sum and no `add` or `scale` into other memory, and its `dot` is less
    /// accurate than what is promised.
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
                    threads: library.has_threads().then(blas::all_threads),
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

/// Runs an operation.
///
/// # Errors
/// `Code::BackendUnavailable` with the reason, `Code::OutOfMemory` for copies, `Code::Unsupported` for sizes that a vendor's library cannot
/// count, `Code::DType` for other dtypes.
///
/// # Safety
/// The arrays exist and have as many elements as the operation says, and no size is 0. `out` shares memory with no operand, or is that of an
/// operand of `Add` or `Scale`, as a whole; nobody else writes to operands or touches `out` meanwhile.
pub unsafe fn run(engine: FlatEngine, op: FlatOp, arrays: FlatArrays) -> Result<()> {
    let tier = engine.tier().map_err(unavailable)?;
    // SAFETY: as the caller promises.
    let work = || unsafe {
        match arrays.dtype {
            DType::F32 => run_in::<f32>(engine, tier, op, arrays),
            DType::F64 => run_in::<f64>(engine, tier, op, arrays),
            other => Err(Error::dtype(format!("flat arrays are of float32 or float64, not of {other}"))),
        }
    };
    match engine {
        FlatEngine::Scalar | FlatEngine::Simd => unshared(work),
        FlatEngine::Parallel | FlatEngine::Blas => work(),
    }
}

fn unavailable(reason: String) -> Error {
    Error::new(Code::BackendUnavailable, reason)
}

/// # Safety
/// As [`run`], of this dtype.
unsafe fn run_in<T: Element + Float>(engine: FlatEngine, tier: Tier, op: FlatOp, arrays: FlatArrays) -> Result<()> {
    let FlatArrays { a, b, out, dtype } = arrays;
    // SAFETY: as the caller promises.
    unsafe {
        match op {
            FlatOp::Matmul { m, n, k } => product::<T>(engine, tier, [m, n, k], arrays),
            FlatOp::Sum(len) => total::<T>(tier, len, (a, None), out),
            FlatOp::Dot(len) => total::<T>(tier, len, (a, Some(b)), out),
            FlatOp::Add(len) if a.cast_mut() == out || b.cast_mut() == out => {
                let other = if a.cast_mut() == out { b } else { a };
                let doubles = other.cast_mut() == out;
                in_place::<T>(tier, len, (!doubles).then_some(other), T::of(2.0), out)
            }
            FlatOp::Scale(len, factor) if a.cast_mut() == out => in_place::<T>(tier, len, None, T::of(factor), out),
            FlatOp::Add(len) => elementwise(Elementwise::Add, dtype, tier, len, &[a, b], out, &[]),
            FlatOp::Scale(len, factor) => {
                elementwise(Elementwise::Scale, dtype, tier, len, &[a], out, &[literal_bits(dtype, factor)])
            }
        }
    }
}

/// # Safety
/// As [`run`].
unsafe fn product<T: Element + Float>(engine: FlatEngine, tier: Tier, sizes: [usize; 3], arrays: FlatArrays) -> Result<()> {
    static KERNELS: Prepared = [const { OnceLock::new() }; 4];
    let FlatArrays { a, b, out, dtype } = arrays;
    let [m, n, k] = sizes;
    // SAFETY: as the caller promises.
    unsafe {
        match engine {
            FlatEngine::Scalar => loops::product::<T>(sizes, a.cast(), b.cast(), out.cast()),
            FlatEngine::Blas => {
                let library = blas::library().map_err(unavailable)?;
                if !sizes.iter().all(|&size| library.holds(size)) {
                    return Err(Error::unsupported(format!("{} counts to 2^31 - 1", library.name())));
                }
                let rows =
                    |start: *const u8, leading: usize| Rows::<T> { start: start.cast(), leading, is_transposed: false };
                library.product(sizes, rows(a, k), rows(b, n), (out.cast(), n), || false);
            }
            FlatEngine::Simd | FlatEngine::Parallel => {
                let [x, y, z] = [Layout::dense(&[m, k])?, Layout::dense(&[k, n])?, Layout::dense(&[m, n])?];
                let slots =
                    Slots { inputs: smallvec![(&x, a.cast_mut()), (&y, b.cast_mut())], outputs: smallvec![(&z, out)] };
                launch(&KERNELS, dtype, tier, || contract::own(&Contract::new(dtype), tier), &slots, &[])?;
            }
        }
    }
    Ok(())
}

/// Kernels that are prepared once: of float32 and of float64, on the oldest tier and on this machine's.
type Prepared = [OnceLock<Result<Box<dyn Run>, String>>; 4];

fn launch(
    kernels: &Prepared,
    dtype: DType,
    tier: Tier,
    prepare: impl FnOnce() -> Result<Box<dyn Run>, String>,
    slots: &Slots,
    params: &[u64],
) -> Result<()> {
    let at = 2 * usize::from(dtype == DType::F64) + usize::from(tier != Tier::Baseline);
    let kernel = kernels[at].get_or_init(prepare).as_ref().map_err(|e| Error::internal(e.clone()))?;
    // Without room for copies that stay: the arrays are their owner's, who writes them when he likes.
    let context = Context { abandoned: &AtomicBool::new(false), account: &Arc::<Account>::default(), spare: 0 };
    kernel.run(slots, params, &context)
}

/// What an element becomes.
#[derive(Clone, Copy)]
enum Elementwise {
    Add,
    Scale,
}

impl Elementwise {
    fn prepare(self, dtype: DType, tier: Tier) -> Result<Box<dyn Run>, String> {
        let mut program = Builder::new();
        let x = program.input(dtype);
        let result = match self {
            Elementwise::Add => {
                let y = program.input(dtype);
                program.binary(Op::Add, x, y)
            }
            Elementwise::Scale => {
                let s = program.param(dtype);
                program.binary(Op::Mul, x, s)
            }
        };
        Ok(Box::new(MapKernel::new(&Map { program: program.finish(&[result]) }, tier)?))
    }
}

/// # Safety
/// The arrays have so many elements, and `out` shares memory with none of the others.
unsafe fn elementwise(
    what: Elementwise,
    dtype: DType,
    tier: Tier,
    len: usize,
    operands: &[*const u8],
    out: *mut u8,
    params: &[u64],
) -> Result<()> {
    static KERNELS: [Prepared; 2] = [const { [const { OnceLock::new() }; 4] }; 2];
    let layout = Layout::dense(&[len])?;
    let inputs: SmallVec<_> = operands.iter().map(|operand| (&layout, operand.cast_mut())).collect();
    let slots = Slots { inputs, outputs: smallvec![(&layout, out)] };
    launch(&KERNELS[what as usize], dtype, tier, || what.prepare(dtype, tier), &slots, params)
}

/// Memory that several threads work on, each on its own part.
#[derive(Clone, Copy)]
struct Parts<T>(Option<*const T>, *mut T);
// SAFETY: as said above.
unsafe impl<T> Sync for Parts<T> {}

impl<T> Parts<T> {
    fn args(&self, range: &Range<usize>, factor: T) -> InPlaceArgs<T> {
        let Parts(from, to) = *self;
        let at = range.start;
        InPlaceArgs { len: range.len(), from: from.map(|from| from.wrapping_add(at)), factor, to: to.wrapping_add(at) }
    }
}

/// Adds to elements where they are, or multiplies them.
///
/// # Safety
/// The arrays have so many elements, and share no memory.
unsafe fn in_place<T: Element>(tier: Tier, len: usize, from: Option<*const u8>, factor: T, to: *mut u8) -> Result<()> {
    let parts = &Parts(from.map(<*const u8>::cast::<T>), to.cast::<T>());
    // A nanosecond is four elements or so.
    parallel_for(len, 0.25, &|range| {
        // SAFETY: as the caller promises; the elements of a range are one thread's.
        unsafe { compiled::<InPlace<T>>(tier)(parts.args(&range, factor)) };
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

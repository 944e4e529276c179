//! A vendor's BLAS, opened at run time where it is asked for: OpenBLAS, BLIS, Intel MKL, Apple's Accelerate, or whatever a path names.

mod library;
mod vendor;

use crate::parallel::threads;
use library::{Gemm, Library, Products};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use vendor::Vendor;

/// A library that multiplies.
pub struct Blas {
    library: Library,
    vendor: Option<&'static Vendor>,
    products: Products,
}

/// A matrix in memory, by rows: its element (i, j) is at `i * leading + j`, of a transposed one at `j * leading + i`.
#[derive(Clone, Copy)]
pub struct Rows<T> {
    /// The first element.
    pub start: *const T,
    /// Elements from a row to the next one.
    pub leading: usize,
    /// Whether rows are columns.
    pub is_transposed: bool,
}

/// float32 or float64.
pub trait Float: Copy {
    /// 0 and 1.
    const UNITS: [Self; 2];
    /// Its product.
    fn gemm(products: &Products) -> Gemm<Self>;
}
impl Float for f32 {
    const UNITS: [f32; 2] = [0.0, 1.0];
    fn gemm(products: &Products) -> Gemm<f32> {
        products.float32
    }
}
impl Float for f64 {
    const UNITS: [f64; 2] = [0.0, 1.0];
    fn gemm(products: &Products) -> Gemm<f64> {
        products.float64
    }
}

/// Held by whoever computes, with the number of threads that the library takes.
static TURN: Mutex<usize> = Mutex::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);
/// Multiply-adds between two looks at whether the process ends: a tenth of a second of a slow machine.
const PIECE: usize = 1 << 31;
/// Rows of a piece at least: for fewer a library copies more than it computes.
const LEAST_ROWS: usize = 128;
/// Multiply-adds below which one thread is faster: BLIS 0.9 starts threads for each product, 40 us.
const ALONE: usize = 1 << 20;

/// Threads of a product that has all: not more than processors, or BLIS 0.9 waits for seconds (600 x 600 on 2 cores with 8 threads: 1.2 s).
pub fn all_threads() -> usize {
    // Looked up once: on Linux each look reads the files of control groups, 11 us.
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    threads().min(*PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from)))
}

/// Whether the process is about to end.
pub fn is_ending() -> bool {
    ENDING.load(Ordering::Relaxed)
}

#[cfg(unix)]
/// Lets what runs come to an end, and nothing begin. Libraries end their threads and give their memory back when the process ends, whoever
/// is using it: OpenBLAS 0.3.21 then waits for ever.
extern "C" fn rest() {
    ENDING.store(true, Ordering::Relaxed);
    std::mem::forget(TURN.lock().unwrap_or_else(PoisonError::into_inner));
}

/// What FERROTENSOR_BLAS says when it is first asked for: a vendor's name or a path; `None` where it says nothing.
pub fn asked() -> Option<&'static str> {
    static ASKED: OnceLock<Option<String>> = OnceLock::new();
    ASKED.get_or_init(|| std::env::var("FERROTENSOR_BLAS").ok().filter(|name| !name.is_empty())).as_deref()
}

/// The library of this process, opened at the first call: the one that FERROTENSOR_BLAS names, otherwise the first that is there.
///
/// # Errors
/// Why there is none, in words.
pub fn library() -> Result<&'static Blas, String> {
    static LIBRARY: OnceLock<Result<Blas, String>> = OnceLock::new();
    LIBRARY.get_or_init(|| named(asked())).as_ref().map_err(Clone::clone)
}

/// The library of this name, or any.
fn named(name: Option<&str>) -> Result<Blas, String> {
    let Some(name) = name else {
        let files = || vendor::here().flat_map(|vendor| vendor.files).copied();
        return files().find_map(|file| Blas::open(file).ok()).ok_or_else(|| {
            let names = files().collect::<Vec<_>>().join(", ");
            format!("no vendor's BLAS found (looked for {names}); install one, or set FERROTENSOR_BLAS to its path")
        });
    };
    let in_words = |reason: String| format!("FERROTENSOR_BLAS={name}: {reason}");
    if name.contains(['/', '\\', '.']) {
        return Blas::open(name).map_err(in_words);
    }
    let vendor = vendor::here().find(|vendor| vendor.name == name).ok_or_else(|| {
        let names = vendor::here().map(|vendor| vendor.name).collect::<Vec<_>>().join(", ");
        in_words(format!("neither a path nor one of {names}"))
    })?;
    let mut reasons = Vec::new();
    for file in vendor.files {
        match Blas::open(file) {
            Ok(blas) => return Ok(blas),
            Err(reason) => reasons.push(reason),
        }
    }
    Err(in_words(reasons.join("; ")))
}

/// `OpenBLAS 0.3.21 (SkylakeX)`.
impl std::fmt::Display for Blas {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.name())?;
        self.version().map_or(Ok(()), |version| write!(f, " {version}"))?;
        self.core().map_or(Ok(()), |core| write!(f, " ({core})"))
    }
}

impl Blas {
    fn open(file: &str) -> Result<Blas, String> {
        let library = Library::open(file)?;
        let products = library.products()?;
        // Called before what the library has registered: the last comes first. Windows ends other threads before it tells libraries.
        #[cfg(unix)]
        // SAFETY: the function may be called at any time.
        unsafe {
            libc::atexit(rest);
        }
        Ok(Blas { vendor: vendor::of(&library), library, products })
    }

    /// The vendor's name, or that of the file.
    pub fn name(&self) -> String {
        self.vendor.map_or_else(|| self.library.file.clone(), |vendor| vendor.title.to_owned())
    }

    /// The library's version, where it tells.
    pub fn version(&self) -> Option<String> {
        self.vendor?.version(&self.library)
    }

    /// The kernels it chose, where it tells.
    pub fn core(&self) -> Option<String> {
        self.vendor?.core(&self.library)
    }

    /// Whether it takes as many threads as it is told.
    pub fn has_threads(&self) -> bool {
        self.vendor.is_some_and(|vendor| vendor.has_threads())
    }

    /// Runs `work`, during which each product takes so many threads. The number is the library's, so that jobs follow each other; work that is
    /// long looks at [`is_ending`].
    pub fn with_threads<R>(&self, count: usize, work: impl FnOnce() -> R) -> R {
        let mut now = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(vendor) = self.vendor.filter(|_| *now != count) {
            vendor.set_threads(&self.library, count);
            *now = count;
        }
        work()
    }

    /// `c = a b` of m x k and k x n on all threads, by rows, so that neither the end of the process nor other jobs wait long. `is_over` says
    /// that nobody wants it any more.
    ///
    /// # Safety
    /// As [`Blas::multiply`].
    pub unsafe fn product<T: Float>(
        &self,
        [m, n, k]: [usize; 3],
        a: Rows<T>,
        b: Rows<T>,
        (c, leading): (*mut T, usize),
        is_over: impl Fn() -> bool,
    ) {
        let rows = (PIECE / n.saturating_mul(k)).max(LEAST_ROWS);
        let threads = if n.saturating_mul(k).saturating_mul(m) < ALONE { 1 } else { all_threads() };
        for at in (0..m).step_by(rows) {
            if is_over() || is_ending() {
                return;
            }
            let part = Rows { start: a.start.wrapping_add(at * if a.is_transposed { 1 } else { a.leading }), ..a };
            let to = (c.wrapping_add(at * leading), leading);
            // SAFETY: as the caller promises.
            self.with_threads(threads, || unsafe { self.multiply([rows.min(m - at), n, k], part, b, to) });
        }
    }

    /// Whether the library's integers hold a size.
    pub fn holds(&self, size: usize) -> bool {
        self.products.is_wide || i32::try_from(size).is_ok()
    }

    /// `c = a b` of m x k and k x n.
    ///
    /// # Safety
    /// The matrices exist, and none is empty; `c` has rows of `leading` elements and shares memory with neither operand; [`Blas::holds`] the sizes
    /// and strides.
    pub unsafe fn multiply<T: Float>(&self, [m, n, k]: [usize; 3], a: Rows<T>, b: Rows<T>, (c, leading): (*mut T, usize)) {
        let transposition = |is_transposed: bool| if is_transposed { c"T" } else { c"N" }.as_ptr();
        let [zero, one] = T::UNITS;
        let [m, n, k, lda, ldb, ldc] = [m, n, k, a.leading, b.leading, leading].map(|size| size as i64);
        // SAFETY: as the caller promises. The library counts by columns: for it these are the transposes, whose product is `b` times `a`.
        unsafe {
            T::gemm(&self.products)(
                transposition(b.is_transposed),
                transposition(a.is_transposed),
                &n,
                &m,
                &k,
                &one,
                b.start,
                &ldb,
                a.start,
                &lda,
                &zero,
                c,
                &ldc,
                1,
                1,
            );
        }
    }
}

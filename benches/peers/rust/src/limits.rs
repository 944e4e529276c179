//! What the machine could do at best: fused multiply-adds in registers, and passes over arrays that read and write each element once.
//! Calls: `fma32 THREADS` and `fma64 THREADS` (seconds for 10^9 operations), `stream READS WRITES BYTES THREADS` (seconds of a pass over
//! arrays of so many bytes each, with regular or streaming stores, whichever is faster).

use crate::protocol::{Library, Operands, Timed, median};
use crate::vector::{self, LANES};
use serde_json::json;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

pub const LIBRARY: Library =
    Library { version: "1", facts: || json!({ "vector bits": (LANES * 32).to_string() }), function };

/// Accumulators: enough to hide four cycles of latency in two units, and few enough for 16 registers.
const CHAINS: usize = 12;

/// Runs `pass(thread)` on all threads at once, again and again; seconds of the median pass. `passes` are made between two looks at the clock
/// and two meetings of the threads.
fn together(threads: usize, seconds: f64, passes: usize, pass: impl Fn(usize) + Sync) -> f64 {
    const END: usize = usize::MAX;
    let (go, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut times = Vec::new();
    std::thread::scope(|scope| {
        for thread in 1..threads {
            let (go, done, pass) = (&go, &done, &pass);
            scope.spawn(move || {
                let mut seen = 0;
                loop {
                    match go.load(Ordering::Acquire) {
                        END => return,
                        now if now == seen => spin_loop(),
                        now => {
                            seen = now;
                            (0..passes).for_each(|_| pass(thread));
                            done.fetch_add(1, Ordering::Release);
                        }
                    }
                }
            });
        }
        let first = Instant::now();
        while first.elapsed().as_secs_f64() < seconds || times.len() < 3 {
            let round = times.len() + 1;
            let start = Instant::now();
            go.store(round, Ordering::Release);
            (0..passes).for_each(|_| pass(0));
            while done.load(Ordering::Acquire) < round * (threads - 1) {
                spin_loop();
            }
            times.push(start.elapsed().as_secs_f64() / passes as f64);
        }
        go.store(END, Ordering::Release);
    });
    median(&mut times)
}

macro_rules! multiply_adds {
    ($name:ident, $splat:ident, $fma:ident, $lanes:expr) => {
        /// Seconds for 10^9 operations, two for each multiply-add.
        fn $name(threads: usize, seconds: f64) -> f64 {
            const STEPS: usize = 20_000;
            let time = together(threads, seconds, 1, |_| {
                // SAFETY: this was built for a processor that has the instructions, and runs on it.
                unsafe {
                    let (x, y) = (black_box(vector::$splat(0.999_999)), black_box(vector::$splat(1e-9)));
                    let mut sums = black_box([vector::$splat(1.0); CHAINS]);
                    for _ in 0..STEPS {
                        for sum in &mut sums {
                            *sum = vector::$fma(*sum, x, y);
                        }
                    }
                    black_box(sums);
                }
            });
            time / (threads * STEPS * CHAINS * $lanes * 2) as f64 * 1e9
        }
    };
}
multiply_adds!(fma32, splat, fma, LANES);
multiply_adds!(fma64, splat_double, fma_double, LANES / 2);

/// Zeros on huge pages where the system has them, `shift` bytes behind their start: arrays at equal places within pages hinder one another.
struct Array {
    base: *mut u8,
    layout: Layout,
    shift: usize,
}

// SAFETY: threads write to parts that are apart.
unsafe impl Sync for Array {}

impl Array {
    fn new(bytes: usize, shift: usize) -> Array {
        const HUGE: usize = 2 << 20;
        let layout = Layout::from_size_align((bytes + shift).next_multiple_of(HUGE), HUGE).expect("a size in memory");
        // SAFETY: the size is not zero.
        let base = unsafe { alloc_zeroed(layout) };
        assert!(!base.is_null(), "out of memory");
        #[cfg(target_os = "linux")]
        // SAFETY: the pages are those of the allocation. What was touched is touched anew, as huge pages.
        unsafe {
            libc::madvise(base.cast(), layout.size(), libc::MADV_DONTNEED);
            libc::madvise(base.cast(), layout.size(), libc::MADV_HUGEPAGE);
            base.write_bytes(0, layout.size());
        }
        Array { base, layout, shift }
    }

    fn start(&self) -> *mut f32 {
        // SAFETY: the allocation is longer than the shift.
        unsafe { self.base.add(self.shift).cast() }
    }
}

impl Drop for Array {
    fn drop(&mut self) {
        // SAFETY: as it was allocated.
        unsafe { dealloc(self.base, self.layout) }
    }
}

/// Reads so many arrays and, where there is an output, writes what they add up to.
///
/// # Safety
/// All arrays have so many vectors from `first`, and the processor the instructions of those.
unsafe fn pass<const READS: usize, const WRITES: bool, const STREAMING: bool>(
    inputs: &[Array],
    output: Option<&Array>,
    first: usize,
    vectors: usize,
) {
    let inputs: [*const f32; READS] = std::array::from_fn(|i| inputs[i].start().cast_const());
    // SAFETY: the caller's; arrays start at a line of the cache.
    unsafe {
        let at = |i: usize| match READS {
            0 => vector::splat(1.0),
            1 => vector::load(inputs[0].add(i * LANES)),
            2 => vector::add(vector::load(inputs[0].add(i * LANES)), vector::load(inputs[1].add(i * LANES))),
            _ => {
                let sum = vector::add(vector::load(inputs[0].add(i * LANES)), vector::load(inputs[1].add(i * LANES)));
                vector::add(sum, vector::load(inputs[2].add(i * LANES)))
            }
        };
        if !WRITES {
            let mut sums = [vector::splat(0.0); SUMS];
            for i in (first..first + vectors / SUMS * SUMS).step_by(SUMS) {
                for (k, sum) in sums.iter_mut().enumerate() {
                    *sum = vector::add(*sum, at(i + k));
                }
            }
            black_box(sums);
        } else if let Some(output) = output {
            let to = output.start();
            for i in first..first + vectors {
                let value = at(i);
                if STREAMING { vector::stream(to.add(i * LANES), value) } else { vector::store(to.add(i * LANES), value) }
            }
            #[cfg(target_arch = "x86_64")]
            if STREAMING {
                // Part of what streaming stores cost.
                std::arch::x86_64::_mm_sfence();
            }
        }
    }
}

/// Sums that go on side by side while an array is read.
const SUMS: usize = 8;

type Pass = unsafe fn(&[Array], Option<&Array>, usize, usize);

/// The passes of so many reads and writes, with regular stores and with streaming ones.
fn passes(reads: usize, writes: usize) -> Option<[Pass; 2]> {
    Some(match (reads, writes) {
        (0, 1) => [pass::<0, true, false>, pass::<0, true, true>],
        (1, 0) => [pass::<1, false, false>, pass::<1, false, false>],
        (1, 1) => [pass::<1, true, false>, pass::<1, true, true>],
        (2, 1) => [pass::<2, true, false>, pass::<2, true, true>],
        (3, 1) => [pass::<3, true, false>, pass::<3, true, true>],
        _ => return None,
    })
}

/// Bytes of all arrays that a thread passes over in some 10 us: less is repeated between looks at the clock.
const SHORT: usize = 1 << 20;

fn stream(reads: usize, writes: usize, bytes: usize, threads: usize) -> Result<Timed, String> {
    let kinds = passes(reads, writes).ok_or_else(|| format!("no pass of {reads} reads and {writes} writes"))?;
    let vectors = bytes / (LANES * 4);
    let arrays: Vec<Array> = (0..reads + writes).map(|i| Array::new(bytes, i * 2304)).collect();
    let repeated = 1 + SHORT * threads / (bytes * (reads + writes));
    Ok(Timed::Own(Box::new(move |seconds| {
        let time = |pass: Pass| {
            together(threads, seconds / 2.0, repeated, |thread| {
                let (first, end) = (vectors * thread / threads, vectors * (thread + 1) / threads);
                // SAFETY: the parts of the threads are apart and within the arrays.
                unsafe { pass(&arrays[..reads], arrays.get(reads), first, end - first) };
            })
        };
        time(kinds[0]).min(time(kinds[1]))
    })))
}

fn function(call: &str, _: &Operands, _chain: usize) -> Result<Timed, String> {
    let words: Vec<&str> = call.split_whitespace().collect();
    let number = |i: usize| {
        words.get(i).and_then(|word| word.parse::<usize>().ok()).ok_or_else(|| format!("'{call}' lacks a number"))
    };
    match words.first() {
        Some(&"fma32") => number(1).map(|threads| Timed::Own(Box::new(move |seconds| fma32(threads, seconds)))),
        Some(&"fma64") => number(1).map(|threads| Timed::Own(Box::new(move |seconds| fma64(threads, seconds)))),
        Some(&"stream") => stream(number(1)?, number(2)?, number(3)?, number(4)?),
        _ => Err(format!("no call '{call}'")),
    }
}

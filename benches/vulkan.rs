//! What the kernels of the first Vulkan device take, each beside what the device itself could do: bytes over the bandwidth of its own
//! copy, operations over the rate of its own multiplications, both measured first. `cargo xtask gpu-suite` runs it after the tests.
//!
//!   cargo bench -p ferrotensor-vulkan --bench vulkan -- [--software] [--small] [--describe] [--json FILE]
//!
//! A software device says nothing about speed: it is refused without `--software`. `--small` has operands of a hundredth, for trying;
//! `--describe` prints class and description, and times nothing. Times are medians.

#![allow(clippy::print_stdout, reason = "a bench reports to the terminal")]

use ferrotensor_core::backend::{Backend, Batch, Launch, Operand, Ticket};
use ferrotensor_core::kernel::{Combine, Contract, Kernel, Map, Monoid, Reduce};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::scalar::{Builder, MathFn, Op, Program};
use ferrotensor_core::{DType, Error, Result};
use std::fmt::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// For each row, once it has run three times.
const TIME: Duration = Duration::from_millis(400);
/// A launch that takes longer than this is one too slow to be repeated within the suite's ten minutes.
const LONG: Duration = Duration::from_secs(5);
const WAIT: Duration = Duration::from_secs(60);

/// What one launch, or several in a row, move and compute.
struct Work {
    name: String,
    launches: Vec<Launch>,
    bytes: f64,
    flops: f64,
}

struct Row {
    name: String,
    seconds: f64,
    /// What the device could do it in, by its own copies and multiplications; nothing for what measures these.
    expected: Option<f64>,
    bytes: f64,
    flops: f64,
}

struct Bench {
    device: Arc<dyn Backend>,
    small: bool,
    rows: Vec<Row>,
    /// Bytes and operations in a second.
    bandwidth: f64,
    rate: f64,
}

fn dense(dims: &[usize]) -> Result<Layout> {
    Layout::dense(dims)
}

fn program(build: impl FnOnce(&mut Builder) -> ferrotensor_core::scalar::Value) -> Kernel {
    let mut b = Builder::new();
    let result = build(&mut b);
    Kernel::Map(Map { program: b.finish(&[result]) })
}

/// 64 times `x = x * a + a`, two operations each.
const CHAIN: usize = 64;

fn multiplications(fused: bool) -> Kernel {
    program(|b| {
        let x = b.input(DType::F32);
        let a = b.param(DType::F32);
        (0..CHAIN).fold(x, |x, _| {
            if fused {
                return b.fma(x, a, a);
            }
            let product = b.binary(Op::Mul, x, a);
            b.binary(Op::Add, product, a)
        })
    })
}

impl Bench {
    /// Memory of a shape whose elements are all one small number.
    fn operand(&self, dtype: DType, dims: &[usize]) -> Result<Operand> {
        let layout = dense(dims)?;
        let buffer = self.device.alloc(layout.len() * dtype.bytes())?;
        // 1 in float16, 0.008 in bfloat16 and float32: nothing that overflows in a chain of operations.
        let bytes: Vec<u8> = [0x00, 0x3c].into_iter().cycle().take(layout.len() * dtype.bytes()).collect();
        self.device.upload(&bytes, &buffer, 0)?;
        Ok(Operand { buffer, layout })
    }

    fn launch(&self, kernel: &Kernel, inputs: &[Operand], outputs: &[Operand]) -> Result<Launch> {
        Ok(Launch {
            kernel: self.device.prepare(kernel)?,
            inputs: inputs.iter().cloned().collect(),
            outputs: outputs.iter().cloned().collect(),
            params: kernel.params().iter().map(|_| u64::from(0.5f32.to_bits())).collect(),
        })
    }

    fn run(&self, launches: Vec<Launch>) -> Result<()> {
        let outcome = match self.device.submit(Batch::new(launches)) {
            Ticket::Done(outcome) => outcome,
            Ticket::Pending(ticket) => {
                self.device.wait(ticket, Instant::now() + WAIT).ok_or_else(|| Error::device("no answer within a minute"))?
            }
        };
        outcome.lost.or(outcome.failed.into_iter().next().map(|(_, e)| e)).map_or(Ok(()), Err)
    }

    /// Seconds of the work; repetitions go in one batch, so that submitting is not what is measured.
    fn seconds(&self, launches: &[Launch]) -> Result<f64> {
        let times = |count: usize| -> Result<f64> {
            let all = (0..count).flat_map(|_| launches.iter().map(copy)).collect();
            let start = Instant::now();
            self.run(all)?;
            Ok(start.elapsed().as_secs_f64() / count as f64)
        };
        // The first one compiles and warms up.
        let first = times(1)?;
        if first > LONG.as_secs_f64() {
            return Ok(first);
        }
        let count = (0.02 / times(1)?.max(1e-6)).clamp(1.0, 200.0) as usize;
        median(|| times(count))
    }

    fn row(&mut self, work: Work) -> Result<()> {
        let seconds = self.seconds(&work.launches)?;
        let least = (work.bytes / self.bandwidth).max(work.flops / self.rate);
        let expected = (least.is_finite() && least > 0.0).then_some(least);
        self.keep(Row { name: work.name, seconds, expected, bytes: work.bytes, flops: work.flops });
        Ok(())
    }

    fn keep(&mut self, row: Row) {
        let beside = row.expected.map_or(String::new(), |e| format!("{:>8.1} % of the roofline", 100.0 * e / row.seconds));
        let bandwidth = if row.bytes > 0.0 { format!("{:.1} GB/s", row.bytes / row.seconds / 1e9) } else { String::new() };
        let rate = if row.flops > 0.0 { format!("{:.1} GFLOP/s", row.flops / row.seconds / 1e9) } else { String::new() };
        println!("{:<46}{:>12.1} us {bandwidth:>14} {rate:>16}{beside}", row.name, row.seconds * 1e6);
        self.rows.push(row);
    }

    /// What the device can do at most, by its own copy and its own multiplications.
    fn roofline(&mut self) -> Result<()> {
        let count = if self.small { 1 << 20 } else { 64 << 20 };
        let [x, y] = [self.operand(DType::F32, &[count])?, self.operand(DType::F32, &[count])?];
        let kernel = Kernel::Map(Map { program: Program::identity(DType::F32) });
        let launches = vec![self.launch(&kernel, &[x], &[y])?];
        let bytes = 8.0 * count as f64;
        self.row(Work { name: format!("copy of {} MiB", count >> 18), launches, bytes, flops: 0.0 })?;
        self.bandwidth = bytes / self.rows[0].seconds;

        let count = if self.small { 1 << 16 } else { 16 << 20 };
        let [x, y] = [self.operand(DType::F32, &[count])?, self.operand(DType::F32, &[count])?];
        // Where fma is emulated in float64 it says nothing about float32.
        let mut best: f64 = 0.0;
        for fused in [true, false] {
            let launches = vec![self.launch(&multiplications(fused), std::slice::from_ref(&x), std::slice::from_ref(&y))?];
            let flops = (2 * CHAIN * count) as f64;
            let name = if fused { "fused multiply-adds" } else { "multiplications and additions" };
            self.row(Work { name: name.into(), launches, bytes: 0.0, flops })?;
            best = best.max(self.rows.last().map_or(0.0, |row| flops / row.seconds));
        }
        self.rate = best;
        Ok(())
    }

    fn maps(&mut self) -> Result<()> {
        let count = if self.small { 1 << 18 } else { 64 << 20 };
        for d in [DType::F32, DType::F16, DType::BF16] {
            let [x, y] = [self.operand(d, &[count])?, self.operand(d, &[count])?];
            let add = program(|b| {
                let (x, y) = (b.input(d), b.input(d));
                b.binary(Op::Add, x, y)
            });
            let chain = program(|b| {
                let x = b.input(d);
                let half = b.lit(d, 0.5);
                let scaled = b.binary(Op::Mul, x, half);
                let more = b.binary(Op::Add, scaled, half);
                let bent = b.call(MathFn::Tanh, &[more]);
                let e = b.call(MathFn::Exp, &[scaled]);
                let sum = b.binary(Op::Sub, bent, e);
                let size = b.unary(Op::Abs, sum);
                b.binary(Op::Max, size, half)
            });
            for (name, kernel) in [("add", add), ("seven operations with tanh and exp", chain)] {
                if self.device.supports(&kernel).is_err() {
                    continue;
                }
                let inputs: Vec<Operand> = kernel.inputs().iter().map(|_| x.clone()).collect();
                let launches = vec![self.launch(&kernel, &inputs, std::slice::from_ref(&y))?];
                // Operands that are one buffer are read once.
                let bytes = (2 * count * d.bytes()) as f64;
                self.row(Work { name: format!("{name}, {d}"), launches, bytes, flops: 0.0 })?;
            }
        }
        Ok(())
    }

    fn reductions(&mut self) -> Result<()> {
        let n = if self.small { 512 } else { 8192 };
        let x = self.operand(DType::F32, &[n, n])?;
        let turned = Operand { buffer: Arc::clone(&x.buffer), layout: x.layout.permute(&[1, 0]) };
        let flat = Operand { buffer: Arc::clone(&x.buffer), layout: dense(&[n * n])? };
        let (line, one) = (self.operand(DType::F32, &[n])?, self.operand(DType::F32, &[])?);
        for (name, x, y) in [("all", flat, one), ("rows", x, line.clone()), ("columns", turned, line)] {
            for monoid in [Monoid::Sum, Monoid::Max] {
                let kernel = Kernel::Reduce(reduction(monoid));
                let launches = vec![self.launch(&kernel, std::slice::from_ref(&x), std::slice::from_ref(&y))?];
                let bytes = (4 * n * n) as f64;
                self.row(Work { name: format!("{monoid:?} of {name}, {n} x {n}"), launches, bytes, flops: 0.0 })?;
            }
        }
        Ok(())
    }

    /// As the engine runs it: the largest of each row, exponentials, their sum, and the quotient.
    fn softmax(&mut self) -> Result<()> {
        let n = if self.small { 256 } else { 4096 };
        let [x, e, y] = [(); 3].map(|()| self.operand(DType::F32, &[n, n]));
        let [m, s] = [(); 2].map(|()| self.operand(DType::F32, &[n, 1]));
        let (x, e, y, m, s) = (x?, e?, y?, m?, s?);
        let two = |op: Op, exponential: bool| {
            program(|b| {
                let (x, y) = (b.input(DType::F32), b.input(DType::F32));
                let result = b.binary(op, x, y);
                if exponential { b.call(MathFn::Exp, &[result]) } else { result }
            })
        };
        let column = |o: &Operand| Operand { buffer: Arc::clone(&o.buffer), layout: o.layout.broadcast(&[n, n]) };
        let line = |o: &Operand| -> Result<Operand> { Ok(Operand { buffer: Arc::clone(&o.buffer), layout: dense(&[n])? }) };
        let launches = vec![
            self.launch(&Kernel::Reduce(reduction(Monoid::Max)), std::slice::from_ref(&x), &[line(&m)?])?,
            self.launch(&two(Op::Sub, true), &[x, column(&m)], std::slice::from_ref(&e))?,
            self.launch(&Kernel::Reduce(reduction(Monoid::Sum)), std::slice::from_ref(&e), &[line(&s)?])?,
            self.launch(&two(Op::Div, false), &[e, column(&s)], &[y])?,
        ];
        // Read once and written once is what one kernel would do.
        self.row(Work { name: format!("softmax of {n} x {n}"), launches, bytes: (8 * n * n) as f64, flops: 0.0 })
    }

    fn products(&mut self) -> Result<()> {
        let sizes: &[usize] = if self.small { &[128, 256] } else { &[1024, 2048, 4096, 8192] };
        for d in [DType::F32, DType::F16] {
            let kernel = Kernel::Contract(Contract::new(d));
            if let Err(reason) = self.device.supports(&kernel) {
                println!("products of {d}: not timed, {reason}");
                continue;
            }
            for &n in sizes {
                let [a, b, c] = [(); 3].map(|()| self.operand(d, &[n, n]));
                let launches = vec![self.launch(&kernel, &[a?, b?], &[c?])?];
                let flops = 2.0 * (n as f64).powi(3);
                self.row(Work {
                    name: format!("product of {n} x {n}, {d}"),
                    launches,
                    bytes: (3 * n * n * d.bytes()) as f64,
                    flops,
                })?;
                // The next size takes eight times as long.
                if self.rows.last().is_some_and(|row| row.seconds > LONG.as_secs_f64() / 4.0) {
                    break;
                }
            }
        }
        Ok(())
    }

    /// From the call to the value, one element.
    fn latency(&mut self) -> Result<()> {
        let [x, y] = [self.operand(DType::F32, &[1])?, self.operand(DType::F32, &[1])?];
        let kernel = Kernel::Map(Map { program: Program::identity(DType::F32) });
        let launch = self.launch(&kernel, &[x], std::slice::from_ref(&y))?;
        let read = || {
            let start = Instant::now();
            self.device.download(&y.buffer, 0, &mut [0; 4])?;
            Ok(start.elapsed().as_secs_f64())
        };
        let compute = || {
            let start = Instant::now();
            self.run(vec![copy(&launch)])?;
            self.device.download(&y.buffer, 0, &mut [0; 4])?;
            Ok(start.elapsed().as_secs_f64())
        };
        let timed = [("read 4 bytes", median(read)?), ("launch and read 4 bytes", median(compute)?)];
        for (name, seconds) in timed {
            self.keep(Row { name: name.into(), seconds, expected: None, bytes: 0.0, flops: 0.0 });
        }
        Ok(())
    }

    /// Between host and device.
    fn transfers(&mut self) -> Result<()> {
        let bytes = if self.small { 1 << 20 } else { 256 << 20 };
        let buffer = self.device.alloc(bytes)?;
        let mut host = vec![1; bytes];
        let up = median(|| {
            let start = Instant::now();
            self.device.upload(&host, &buffer, 0)?;
            // An upload may still run when its call returns; what is read comes after it.
            self.device.download(&buffer, 0, &mut [0; 4])?;
            Ok(start.elapsed().as_secs_f64())
        })?;
        let down = median(|| {
            let start = Instant::now();
            self.device.download(&buffer, 0, &mut host)?;
            Ok(start.elapsed().as_secs_f64())
        })?;
        for (name, seconds) in [("upload", up), ("download", down)] {
            let name = format!("{name} of {} MiB", bytes >> 20);
            self.keep(Row { name, seconds, expected: None, bytes: bytes as f64, flops: 0.0 });
        }
        Ok(())
    }

    fn json(&self) -> String {
        let caps = self.device.caps();
        let number = |x: f64| if x.is_finite() { format!("{x:e}") } else { "null".into() };
        let mut out = format!(
            "{{\"device\":{:?},\"class\":{:?},\"bandwidth\":{},\"rate\":{},\"rows\":[",
            caps.description,
            caps.class.name(),
            number(self.bandwidth),
            number(self.rate)
        );
        for (n, row) in self.rows.iter().enumerate() {
            let expected = row.expected.map_or("null".into(), number);
            // Writing to a string does not fail.
            let _ = write!(
                out,
                "{}{{\"name\":{:?},\"seconds\":{},\"expected\":{expected},\"bytes\":{},\"flops\":{}}}",
                if n == 0 { "" } else { "," },
                row.name,
                number(row.seconds),
                number(row.bytes),
                number(row.flops)
            );
        }
        out + "]}"
    }
}

fn reduction(monoid: Monoid) -> Reduce {
    Reduce { axes: 1, combine: Combine::Value(monoid), input: DType::F32, acc: DType::F32, pre: None, post: None }
}

fn copy(launch: &Launch) -> Launch {
    Launch {
        kernel: Arc::clone(&launch.kernel),
        inputs: launch.inputs.clone(),
        outputs: launch.outputs.clone(),
        params: launch.params.clone(),
    }
}

/// The median of `f`'s own measurements: at least three.
fn median(mut f: impl FnMut() -> Result<f64>) -> Result<f64> {
    let (start, mut times) = (Instant::now(), Vec::new());
    while times.len() < 3 || (start.elapsed() < TIME && times.len() < 1000) {
        times.push(f()?);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn run(args: &[String]) -> std::result::Result<(), String> {
    let has = |name: &str| args.iter().any(|arg| arg == name);
    let device = ferrotensor_vulkan::probe()?.into_iter().next().ok_or("no Vulkan device")?;
    let caps = device.caps();
    println!("{}: {}", caps.class.name(), caps.description);
    if has("--describe") {
        return Ok(());
    }
    if caps.class.name() == "software" && !has("--software") {
        return Err("a software device says nothing about speed; --software times it all the same".into());
    }
    let (rows, infinite) = (Vec::new(), f64::INFINITY);
    let mut bench = Bench { device, small: has("--small"), rows, bandwidth: infinite, rate: infinite };
    let parts: [fn(&mut Bench) -> Result<()>; 7] =
        [Bench::roofline, Bench::maps, Bench::reductions, Bench::softmax, Bench::products, Bench::latency, Bench::transfers];
    for part in parts {
        part(&mut bench).map_err(|e| e.message)?;
    }
    if let Some(file) = args.iter().position(|arg| arg == "--json").and_then(|n| args.get(n + 1)) {
        std::fs::write(file, bench.json()).map_err(|e| format!("{file}: {e}"))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            println!("FAILED: {reason}");
            ExitCode::FAILURE
        }
    }
}

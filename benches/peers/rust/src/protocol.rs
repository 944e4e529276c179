//! JSON lines, time and checksums: what all Rust peers have in common.

use candle_core::{DType, Tensor};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::BufRead;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Operands by name.
pub type Operands = HashMap<String, Tensor>;

/// What a call returned.
pub trait Values {
    /// Its parts in row-major order.
    fn parts(&self) -> Vec<Vec<f64>>;
}

/// A call that is made again and again.
pub type Function = Box<dyn FnMut() -> Box<dyn Values>>;

/// How a call is timed.
pub enum Timed {
    /// As it is.
    Call(Function),
    /// By itself: seconds of the median over about so many seconds.
    Own(Box<dyn FnMut(f64) -> f64>),
}

/// What a peer is.
pub struct Library {
    pub version: &'static str,
    pub facts: fn() -> Value,
    /// Makes a call of its name; `chain` is how often it takes its own result for x.
    pub function: fn(call: &str, operands: &Operands, chain: usize) -> Result<Timed, String>,
}

/// The operand of that name.
pub fn operand<'a>(operands: &'a Operands, name: &str) -> Result<&'a Tensor, String> {
    operands.get(name).ok_or_else(|| format!("no operand '{name}'"))
}

/// The elements of an operand, and its extents.
pub fn elements<T: candle_core::WithDType>(operands: &Operands, name: &str) -> Result<(Vec<T>, Vec<usize>), String> {
    let x = operand(operands, name)?;
    let data = x.flatten_all().and_then(|x| x.to_vec1()).map_err(|error| error.to_string())?;
    Ok((data, x.dims().to_vec()))
}

/// Whether any operand has float64 elements.
pub fn wide(operands: &Operands) -> bool {
    operands.values().any(|x| x.dtype() == DType::F64)
}

impl Values for Vec<f32> {
    fn parts(&self) -> Vec<Vec<f64>> {
        vec![self.iter().map(|&x| x.into()).collect()]
    }
}

impl Values for Vec<f64> {
    fn parts(&self) -> Vec<Vec<f64>> {
        vec![self.clone()]
    }
}

/// As in checksum.ts.
fn checksum(result: &dyn Values, positive: f64) -> f64 {
    let weighed = |(i, x): (usize, &f64)| (if *x < 0.0 { -x } else { positive * x }) * (i % 97 + 1) as f64;
    result.parts().iter().map(|part| part.iter().enumerate().map(weighed).sum::<f64>()).sum()
}

/// The median of some times.
pub fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// As repeat() in race.ts.
fn repeat(seconds: f64, function: &mut Function) -> f64 {
    let (mut times, first) = (Vec::new(), Instant::now());
    while first.elapsed().as_secs_f64() < if times.len() < 3 { seconds.max(1.0) } else { seconds } {
        let start = Instant::now();
        let result = function();
        times.push(start.elapsed().as_secs_f64());
        drop(result);
    }
    median(&mut times)
}

/// Processor seconds of this process.
fn used() -> f64 {
    // SAFETY: zeros are a valid `rusage`, and the call writes to nothing else.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Waits for threads that spin after their work.
fn settle() {
    loop {
        let before = used();
        std::thread::sleep(Duration::from_millis(2));
        if used() - before < 2e-4 {
            return;
        }
    }
}

struct Session<'a> {
    library: &'a Library,
    operands: Operands,
    /// Calls that were made, by their requests, with their checksums.
    made: HashMap<String, (Timed, f64)>,
}

impl Session<'_> {
    fn load(&mut self, file: &str) -> Result<Value, String> {
        self.made.clear();
        self.operands = Tensor::read_npz(file).map_err(|error| error.to_string())?.into_iter().collect();
        Ok(json!({}))
    }

    fn measure(&mut self, request: &Value) -> Result<Value, String> {
        let call = request["call"].as_str().ok_or("no call")?;
        let chain = request["chain"].as_u64().unwrap_or(1) as usize;
        if !self.made.contains_key(call) {
            let mut timed = (self.library.function)(call, &self.operands, chain)?;
            let sum = match &mut timed {
                // Libraries panic where they cannot do a call; later ones can do what the first could.
                Timed::Call(function) => {
                    let first = catch_unwind(AssertUnwindSafe(&mut *function)).map_err(|_| format!("'{call}' panics"))?;
                    checksum(&*first, request["positive"].as_f64().unwrap_or(3.0))
                }
                Timed::Own(_) => 0.0,
            };
            self.made.insert(call.to_string(), (timed, sum));
        }
        let (timed, sum) = self.made.get_mut(call).ok_or("lost")?;
        let seconds = request["seconds"].as_f64().ok_or("no seconds")?;
        let time = match timed {
            Timed::Call(function) => repeat(seconds, function) / chain as f64,
            Timed::Own(measure) => measure(seconds),
        };
        settle();
        // JSON has no numbers that are not finite: null.
        Ok(json!({ "seconds": time, "checksum": *sum }))
    }
}

/// Answers standard input until it ends.
pub fn serve(library: &Library) {
    println!("{}", json!({ "version": library.version, "facts": (library.facts)() }));
    let mut session = Session { library, operands: HashMap::new(), made: HashMap::new() };
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let answer =
            serde_json::from_str::<Value>(&line).map_err(|error| error.to_string()).and_then(|request| {
                match request["operands"].as_str() {
                    Some(file) => session.load(file),
                    None => session.measure(&request),
                }
            });
        let mut answer = answer.unwrap_or_else(|error| json!({ "error": error }));
        answer["cpu"] = used().into();
        println!("{answer}");
    }
}

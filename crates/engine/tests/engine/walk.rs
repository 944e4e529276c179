//! Walks over failures: scenarios (an upload, two programs, reads) are run with the k-th call of some kind failing, k = 1, 2, ...
//! until none fails any more. Each failure must be a typed error in its place, harm nothing else, and leave no memory behind.

use crate::support::{Arg, Program};
use ferrotensor_core::error::Code;
use ferrotensor_core::fault::Countdown;
use ferrotensor_core::{DType, Error, Result};
use ferrotensor_engine::{Config, Mode, Session, Strict, Tensor};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A small program.
pub struct Scenario {
    pub name: &'static str,
    /// Dtype and shape; the elements are 1, 2, 3, ... row by row.
    pub inputs: &'static [(DType, &'static [usize])],
    /// The first program's outputs; the second one negates each of them.
    pub build: fn(&mut Session, &mut Program, &[Arg]) -> Vec<Arg>,
}

/// Attributes of a reduction: all axes.
pub const ALL_AXES: [f64; 3] = [-1.0, 0.0, f64::NAN];
const F32_MATRIX: (DType, &[usize]) = (DType::F32, &[2, 3]);

/// What small programs are made of: uploads, several launches, views, copies into regions, reductions, routines, gathers,
/// rewritings, temporaries together and apart, several outputs.
pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "maps",
        inputs: &[F32_MATRIX],
        build: |s, p, x| {
            let e = p.op(s, "exp", &[x[0]], &[]);
            vec![e, p.op(s, "multiply", &[e, x[0]], &[])]
        },
    },
    Scenario {
        name: "a reduction between maps",
        inputs: &[F32_MATRIX],
        build: |s, p, x| {
            let e = p.op(s, "square", &[x[0]], &[]);
            let m = p.op(s, "sum", &[e], &ALL_AXES);
            vec![e, p.op(s, "sqrt", &[m], &[])]
        },
    },
    Scenario {
        name: "temporaries",
        inputs: &[F32_MATRIX, F32_MATRIX],
        build: |s, p, x| {
            let mut v = p.op(s, "subtract", &[x[0], x[1]], &[]);
            for _ in 0..3 {
                let m = p.op(s, "max", &[v], &[1.0, 1.0, 1.0]);
                let shifted = p.op(s, "subtract", &[v, m], &[]);
                v = p.op(s, "exp", &[shifted], &[]);
            }
            vec![v]
        },
    },
    Scenario {
        // Sorting takes long enough to be an executor's.
        name: "temporaries that fit no buffer together, on the executor",
        inputs: &[(DType::F32, &[10_000])],
        build: |s, p, x| {
            let parts: Vec<Arg> = (1..4)
                .map(|n| {
                    let scaled = p.op(s, "multiply", &[x[0], Arg::Number(n as f64)], &[]);
                    p.op(s, "sort", &[scaled], &[0.0, 0.0])
                })
                .collect();
            let sum = p.op(s, "add", &[parts[0], parts[1]], &[]);
            vec![p.op(s, "add", &[sum, parts[2]], &[])]
        },
    },
    Scenario {
        name: "a routine",
        inputs: &[(DType::F32, &[2, 2]), (DType::F32, &[2])],
        build: |s, p, x| {
            let r = p.op(s, "linalg.solve", &[x[0], x[1]], &[]);
            vec![p.op(s, "add", &[r, x[1]], &[]), p.op(s, "add", &[x[0], x[0]], &[])]
        },
    },
    Scenario {
        name: "regions",
        inputs: &[(DType::I64, &[2, 3])],
        build: |s, p, x| {
            let t = p.op(s, "matrixTranspose", &[x[0]], &[]);
            vec![p.op(s, "concat", &[t, t], &[1.0])]
        },
    },
    Scenario {
        name: "a gather",
        inputs: &[(DType::F32, &[7, 2]), (DType::I32, &[3])],
        build: |s, p, x| {
            let t = p.op(s, "take", &[x[0], x[1]], &[0.0]);
            vec![t, p.op(s, "exp", &[x[0]], &[])]
        },
    },
    Scenario {
        name: "a window",
        inputs: &[(DType::F32, &[1, 1, 5])],
        build: |s, p, x| vec![p.op(s, "nn.maxPool", &[x[0]], &[1.0, 2.0, -1.0, 1.0, 1.0, 1.0, 1.0, -1.0])],
    },
    Scenario {
        name: "views",
        inputs: &[F32_MATRIX, (DType::I32, &[2, 3])],
        build: |s, p, x| {
            let t = p.op(s, "matrixTranspose", &[x[0]], &[]);
            let f = p.op(s, "flip", &[x[0]], &[1.0, 0.0]);
            vec![t, f, p.op(s, "matrixTranspose", &[x[1]], &[])]
        },
    },
    Scenario {
        // One kernel where the device has it, else its parts.
        name: "rows",
        inputs: &[F32_MATRIX],
        build: |s, p, x| {
            let y = p.op(s, "softmax", &[x[0]], &[-1.0]);
            vec![y, p.op_with(s, "var", &[y], &[1.0, -1.0, 0.0], &[0.0])]
        },
    },
];

/// Where an error shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Upload,
    Run,
    Read,
}

/// A resource or a device that may fail, within a world of type `W`.
pub struct Point<W> {
    pub name: &'static str,
    pub counter: fn(&W) -> &Countdown,
    /// What a failure becomes and where it may show; `None`: there is a way without, and nobody notices.
    pub error: Option<(Code, &'static [Stage])>,
    /// What becomes of the device.
    pub after: After,
    /// Whether the call that fails is one that a session makes once.
    pub once: bool,
}

/// What becomes of a device at a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It goes on.
    Works,
    /// What was on it is gone, and its next use finds it anew.
    Reopened,
    /// It is gone for good.
    Gone,
}

impl After {
    /// Whether tensors on it are gone.
    fn is_lost(self) -> bool {
        self != After::Works
    }
}

/// What a session runs in, beside what the engine knows of it.
pub trait World {
    /// Refuses what is left over when every tensor was dropped and every buffer given back.
    fn expect_empty(&self) {}
}

struct Attempt {
    inputs: Vec<Arc<Tensor>>,
    /// Those of the first program, then those of the second.
    outputs: Vec<Arc<Tensor>>,
    results: Vec<Result<Vec<u8>>>,
}

fn bytes(dtype: DType, count: usize) -> Vec<u8> {
    (1..=count as i64)
        .flat_map(|i| match dtype {
            DType::F32 => (i as f32).to_le_bytes().to_vec(),
            DType::I64 => i.to_le_bytes().to_vec(),
            _ => (i as i32).to_le_bytes().to_vec(),
        })
        .collect()
}

fn upload(s: &mut Session, device: u16, dtype: DType, dims: &[usize]) -> Result<Arc<Tensor>> {
    let sizes: Vec<f64> = dims.iter().map(|&d| d as f64).collect();
    let id = s.intern_type(dtype as u8, &sizes, device)?;
    s.upload(id, &bytes(dtype, dims.iter().product()), true)?.ok_or_else(|| Error::internal("refused"))
}

fn read(tensor: &Tensor) -> Result<Vec<u8>> {
    tensor.wait()?;
    let mut out = vec![0; tensor.len() * tensor.dtype().bytes()];
    tensor.read(&mut out)?;
    Ok(out)
}

impl Scenario {
    fn attempt(&self, s: &mut Session, device: u16, mode: Mode) -> Result<Attempt, (Stage, Error)> {
        let inputs = self.inputs.iter().map(|&(dtype, dims)| upload(s, device, dtype, dims));
        let inputs = inputs.collect::<Result<Vec<_>>>().map_err(|e| (Stage::Upload, e))?;
        let mut p = Program::default();
        let args: Vec<Arg> = inputs.iter().map(|x| p.input(s, x)).collect();
        let wanted = (self.build)(s, &mut p, &args);
        let mut outputs = p.run(s, &wanted, mode).map_err(|e| (Stage::Run, e))?;
        let mut p = Program::default();
        let args: Vec<Arg> = outputs.iter().map(|x| p.input(s, x)).collect();
        let wanted: Vec<Arg> = args.iter().map(|&a| p.op(s, "negative", &[a], &[])).collect();
        outputs.extend(p.run(s, &wanted, mode).map_err(|e| (Stage::Run, e))?);
        let results = outputs.iter().map(|t| read(t)).collect();
        Ok(Attempt { inputs, outputs, results })
    }

    fn values(&self, s: &mut Session, device: u16, mode: Mode) -> Result<Vec<Vec<u8>>, (Stage, Error)> {
        self.attempt(s, device, mode)?.results.into_iter().collect::<Result<_>>().map_err(|e| (Stage::Read, e))
    }
}

impl Attempt {
    /// Every result is right or fails as it may, stays so, and harms nothing it should not; whether any failed.
    fn check<W>(&self, point: &Point<W>, right: &[Vec<u8>]) -> bool {
        let half = self.outputs.len() / 2;
        for (n, (tensor, result)) in self.outputs.iter().zip(&self.results).enumerate() {
            let e = match result {
                Ok(values) => {
                    assert_eq!(values, &right[n], "output {n}");
                    continue;
                }
                Err(e) => e,
            };
            expect(point, Stage::Read, e);
            match (tensor.wait(), read(tensor)) {
                // The program failed: so does every read, and what was computed from it.
                (Err(again), Err(read)) => {
                    assert_eq!((&again, &read), (e, e), "output {n}");
                    assert!(n >= half || self.results[n + half].is_err(), "a value was computed from failed output {n}");
                }
                (Ok(()), Err(e)) if point.after.is_lost() => expect(point, Stage::Read, &e),
                // Only the transfer failed.
                (Ok(()), read) => assert_eq!(read.unwrap(), right[n], "output {n}, read again"),
                (Err(e), Ok(_)) => panic!("output {n} failed with {e} and has a value"),
            }
        }
        for input in self.inputs.iter().filter(|_| !point.after.is_lost()) {
            assert_eq!(read(input).unwrap(), bytes(input.dtype(), input.len()), "an input was harmed");
        }
        self.results.iter().any(Result::is_err)
    }
}

fn expect<W>(point: &Point<W>, stage: Stage, e: &Error) {
    let Some((code, stages)) = point.error else { panic!("{stage:?} fails with {e}, where there is a way without") };
    assert!(e.code == code && stages.contains(&stage), "{stage:?} fails with {:?}: {e}", e.code);
}

/// All memory is back, as the engine and as the devices count it. A job lets go of it just after its end, and of what it had besides, which
/// the pool then keeps, after that.
fn expect_no_memory(s: &Session, world: &impl World) {
    let deadline = Instant::now() + Duration::from_secs(10);
    let engine = s.engine();
    let is_left = || {
        engine.trim();
        engine.live_bytes() > 0 || engine.registry().devices().any(|device| device.mem().used > 0)
    };
    while is_left() && Instant::now() < deadline {
        std::thread::yield_now();
    }
    for (memory, device) in engine.memory().iter().zip(engine.registry().devices()) {
        assert_eq!((memory.live, device.mem().used), (0, 0), "bytes left on {}", memory.device);
    }
    world.expect_empty();
}

/// Walks a point through scenarios on a device. `fresh` makes a world and a session in it.
pub fn walk<W: World>(scenarios: &[Scenario], point: &Point<W>, device: u16, fresh: impl Fn() -> (Session, W)) {
    let (mut strikes, mut failures) = (0, 0);
    for scenario in scenarios {
        for (mode, fusion) in [(Mode::Sync, true), (Mode::Async, true), (Mode::Sync, false)] {
            let new = || {
                let (mut s, world) = fresh();
                s.set_config(Config { fusion, strict: Strict::Allow });
                (s, world)
            };
            let (mut s, mut world) = new();
            let right = scenario.values(&mut s, device, mode).unwrap();
            for k in 1.. {
                if point.after == After::Gone || point.once {
                    (s, world) = new();
                }
                // What is kept for reuse would not be asked for again.
                s.engine().trim();
                let counter = (point.counter)(&world);
                counter.arm(k);
                let attempt = scenario.attempt(&mut s, device, mode);
                let untouched = counter.is_armed();
                counter.arm(0);
                let context = format!("{}, {}, {mode:?}, fusion {fusion}, k = {k}", point.name, scenario.name);
                let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                    let failed = match &attempt {
                        Ok(attempt) => attempt.check(point, &right),
                        Err((stage, e)) => {
                            expect(point, *stage, e);
                            true
                        }
                    };
                    drop(attempt);
                    assert!(!(failed && untouched), "a failure that nobody asked for");
                    expect_no_memory(&s, &world);
                    failed
                }));
                let Ok(failed) = checked else { panic!("{context}") };
                if untouched {
                    break;
                }
                strikes += 1;
                failures += failed as u64;
                match (point.after == After::Gone, scenario.values(&mut s, device, mode)) {
                    (false, next) => assert_eq!(next.unwrap(), right, "{context}: the next time"),
                    (true, Ok(_)) => panic!("{context}: a lost device works"),
                    (true, Err((stage, e))) => {
                        assert_eq!((stage, e.code), (Stage::Upload, Code::Device), "{context}");
                        assert_eq!(
                            scenario.values(&mut s, 0, mode).map_err(|e| e.1),
                            Ok(right.clone()),
                            "{context}: the CPU"
                        );
                    }
                }
                expect_no_memory(&s, &world);
            }
        }
    }
    assert!(strikes > 0 && (failures > 0) == point.error.is_some(), "{}: {failures} of {strikes} failed", point.name);
}

//! What a poor device asks of the engine: small buffers, no negative strides, one dtype, and failures at any moment.

use crate::support::{Arg, Program, engine, read};
use ferrotensor_core::backend::{Backend, DeviceClass};
use ferrotensor_core::error::Code;
use ferrotensor_core::{DType, Error};
use ferrotensor_engine::{Mode, Session, Tensor};
use ferrotensor_fakes::{Faults, Hostile};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// A probe takes no argument: what the next device does wrong.
    static PLAN: RefCell<Arc<Faults>> = RefCell::default();
}

fn probe() -> Result<Vec<Arc<dyn Backend>>, String> {
    Ok(vec![Arc::new(Hostile::new(DeviceClass::Discrete, PLAN.with_borrow(Arc::clone))?)])
}

/// A session with a device of its own, and the means to break it.
fn session() -> (Session, Arc<Faults>) {
    let faults = Arc::<Faults>::default();
    PLAN.replace(Arc::clone(&faults));
    (Session::new(engine(&[("cpu", ferrotensor_cpu::probe), ("hostile", probe)])), faults)
}

fn upload<T: bytemuck::NoUninit>(s: &mut Session, dtype: DType, values: &[T], dims: &[usize]) -> Result<Arc<Tensor>, Error> {
    let dims: Vec<f64> = dims.iter().map(|&d| d as f64).collect();
    let id = s.intern_type(dtype as u8, &dims, 1)?;
    s.upload(id, bytemuck::cast_slice(values), true)?.ok_or_else(|| Error::internal("refused"))
}

#[test]
fn an_operand_that_walks_backwards_runs_on_the_cpu() {
    let (mut s, _) = session();
    let x = upload(&mut s, DType::F32, &[1f32, 2.0, 3.0], &[3]).unwrap();
    let mut p = Program::default();
    let a = p.input(&mut s, &x);
    let flipped = p.op(&mut s, "flip", &[a], &[1.0, 0.0]);
    let sum = p.op(&mut s, "add", &[flipped, Arg::Number(10.0)], &[]);
    let out = p.run(&mut s, &[sum, flipped], Mode::Sync).unwrap();
    assert_eq!(read(&out[0]), [13.0, 12.0, 11.0]);
    assert_eq!(read(&out[1]), [3.0, 2.0, 1.0]);
    let fallbacks = s.stats().fallbacks;
    assert_eq!((fallbacks[0].op.as_str(), fallbacks[0].reason.as_str()), ("add", "no negative strides"));
}

#[test]
fn copies_of_dtypes_it_does_not_have_keep_what_is_around_them() {
    let (mut s, _) = session();
    let x = upload(&mut s, DType::I64, &[1i64, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
    let mut p = Program::default();
    let a = p.input(&mut s, &x);
    let t = p.op(&mut s, "matrixTranspose", &[a], &[]);
    let joined = p.op(&mut s, "concat", &[t, t], &[1.0]);
    let out = p.run(&mut s, &[t, joined], Mode::Sync).unwrap();
    let read = |t: &Tensor| {
        let mut values = vec![0i64; t.len()];
        t.wait().unwrap();
        t.read(bytemuck::cast_slice_mut(&mut values)).unwrap();
        values
    };
    assert_eq!(read(&out[0]), [1, 4, 2, 5, 3, 6]);
    assert_eq!(read(&out[1]), [1, 4, 1, 4, 2, 5, 2, 5, 3, 6, 3, 6]);
}

#[test]
fn temporaries_that_do_not_fit_one_buffer_lie_apart() {
    let (mut s, _) = session();
    // Four of 40 KB each, alive together, where a buffer has at most 64 KiB.
    let values: Vec<f32> = (0..10_000).map(|i| i as f32).collect();
    let x = upload(&mut s, DType::F32, &values, &[10_000]).unwrap();
    let mut p = Program::default();
    let a = p.input(&mut s, &x);
    let cumulative: Vec<Arg> = (0..4)
        .map(|n| {
            let scaled = p.op(&mut s, "multiply", &[a, Arg::Number(n as f64)], &[]);
            p.op(&mut s, "flip", &[scaled], &[1.0, 0.0])
        })
        .collect();
    let total = cumulative[1..].iter().fold(cumulative[0], |sum, &c| p.op(&mut s, "add", &[sum, c], &[]));
    let out = p.run(&mut s, &[total], Mode::Sync).unwrap();
    assert_eq!(read(&out[0])[0], 6.0 * 9999.0);
    let error = upload(&mut s, DType::F32, &vec![0f32; 20_000], &[20_000]).err().unwrap();
    assert_eq!(error.code, Code::OutOfMemory);
}

/// Upload, maps, a reduction on the CPU, a read: every kind of call on the device.
fn scenario(s: &mut Session) -> Result<Vec<f32>, Error> {
    let x = upload(s, DType::F32, &[1f32, 2.0, 3.0, 4.0], &[2, 2])?;
    let mut p = Program::default();
    let a = p.input(s, &x);
    let e = p.op(s, "exp", &[a], &[]);
    let m = p.op(s, "sum", &[e], &[1.0, 0.0, 0.0, f64::NAN]);
    let l = p.op(s, "log", &[m], &[]);
    let out = p.run(s, &[e, l], Mode::Async)?;
    out[0].wait()?;
    out[1].wait()?;
    let mut result = vec![0f32; 2];
    out[1].read(bytemuck::cast_slice_mut(&mut result))?;
    Ok(result)
}

#[test]
fn a_failure_at_any_call_is_a_typed_error_and_leaves_nothing_behind() {
    type Counter = fn(&Faults) -> &AtomicU64;
    let counters: [(Counter, Code, bool); 5] = [
        (|f| &f.alloc, Code::OutOfMemory, true),
        (|f| &f.upload, Code::Device, true),
        (|f| &f.download, Code::Device, true),
        (|f| &f.launch, Code::Device, true),
        (|f| &f.submit, Code::Device, false),
    ];
    let (mut plain, _) = session();
    let right = scenario(&mut plain).unwrap();
    for (counter, code, survives) in counters {
        let mut failures = 0;
        for k in 1.. {
            let (mut s, faults) = session();
            counter(&faults).store(k, Ordering::Release);
            match scenario(&mut s) {
                Ok(values) => {
                    assert_eq!(values, right);
                    assert!(failures > 0, "nothing failed");
                    break;
                }
                Err(error) => {
                    failures += 1;
                    assert_eq!(error.code, code, "{error:?} at call {k}");
                    if survives {
                        assert_eq!(scenario(&mut s).unwrap(), right, "after failure {k}");
                    } else {
                        assert_eq!(scenario(&mut s).unwrap_err().code, code, "a lost device stays lost");
                    }
                    let live: usize = s.engine().memory().iter().map(|d| d.live).sum();
                    assert_eq!(live, 0, "after failure {k}");
                }
            }
        }
    }
}

//! What a poor device asks of the engine: small buffers, no negative strides, one dtype, and failures at any moment.

use crate::support::{Arg, Poor, Program, poor, read};
use crate::walk::{After, Point, SCENARIOS, Stage, walk};
use ferrotensor_core::error::Code;
use ferrotensor_core::{DType, Error};
use ferrotensor_engine::{Mode, Session, Tensor};
use std::sync::Arc;

fn upload<T: bytemuck::NoUninit>(s: &mut Session, dtype: DType, values: &[T], dims: &[usize]) -> Result<Arc<Tensor>, Error> {
    let dims: Vec<f64> = dims.iter().map(|&d| d as f64).collect();
    let id = s.intern_type(dtype as u8, &dims, 1)?;
    s.upload(id, bytemuck::cast_slice(values), true)?.ok_or_else(|| Error::internal("refused"))
}

#[test]
fn an_operand_that_walks_backwards_runs_on_the_cpu() {
    let (mut s, _) = poor();
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
    let (mut s, _) = poor();
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
    let (mut s, _) = poor();
    // Four of 40 KB each, alive together, where a buffer has at most 60 KB.
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

#[test]
fn a_buffer_of_the_largest_size_can_be_had() {
    let (mut s, poor) = poor();
    // 60,000 bytes; rounded to a size class of the pool they would be 65,536.
    let x = upload(&mut s, DType::F32, &vec![1f32; 15_000], &[15_000]).unwrap();
    assert_eq!(read(&x), vec![1f32; 15_000]);
    drop(x);
    assert_eq!(s.engine().live_bytes(), 0);
    s.engine().trim();
    assert_eq!(ferrotensor_core::backend::Backend::mem(&*poor.device).used, 0);
}

/// 60,000 and 64,000 bytes are of one size class of the pool, of which this device has the first only.
#[test]
fn what_no_buffer_holds_is_refused_whatever_was_freed_before() {
    let (mut s, _) = poor();
    drop(upload(&mut s, DType::F32, &vec![1f32; 15_000], &[15_000]).unwrap());
    let error = upload(&mut s, DType::F32, &vec![1f32; 16_000], &[16_000]).err().unwrap();
    assert_eq!(error.code, Code::OutOfMemory, "{error}");
    // The windows of a convolution: 18 x 441 complex numbers are 63,504 bytes.
    let x = upload(&mut s, DType::C64, &[0u64; 882], &[1, 2, 21, 21]).unwrap();
    let w = upload(&mut s, DType::C64, &[0u64; 18], &[1, 2, 3, 3]).unwrap();
    let mut p = Program::default();
    let (x, w) = (p.input(&mut s, &x), p.input(&mut s, &w));
    let words = [2.0, 1.0, 1.0, 2.0, 1.0, 1.0, 2.0, 1.0, 1.0, -1.0, 1.0, -1.0, 0.0];
    let y = p.op(&mut s, "nn.conv", &[x, w], &words);
    let outcome = p.run(&mut s, &[y], Mode::Sync).and_then(|out| out[0].wait());
    assert_eq!(outcome.err().map(|e| e.code), Some(Code::OutOfMemory));
}

#[test]
fn a_view_that_is_larger_than_any_buffer_can_be_read() {
    let (mut s, _) = poor();
    let x = upload(&mut s, DType::F32, &[1f32, 2.0], &[2]).unwrap();
    let mut p = Program::default();
    let a = p.input(&mut s, &x);
    let wide = p.op(&mut s, "broadcastTo", &[a], &[2.0, 10_000.0, 2.0]);
    let out = p.run(&mut s, &[wide], Mode::Sync).unwrap();
    assert_eq!(read(&out[0]), [1f32, 2.0].repeat(10_000));
}

#[test]
fn every_byte_that_a_fallback_moves_is_counted() {
    let (mut s, poor) = poor();
    let x = upload(&mut s, DType::I64, &[1i64, 2, 3, 4, 5, 6], &[2, 3]).unwrap();
    let mut p = Program::default();
    let a = p.input(&mut s, &x);
    let t = p.op(&mut s, "matrixTranspose", &[a], &[]);
    let joined = p.op(&mut s, "concat", &[t, t], &[1.0]);
    let sum = p.op(&mut s, "sum", &[joined], &[1.0, 0.0, 0.0, f64::NAN]);
    let before = poor.device.moved();
    p.run(&mut s, &[sum], Mode::Sync).unwrap()[0].wait().unwrap();
    let counted: u64 = s.stats().fallbacks.iter().map(|f| f.bytes).sum();
    assert_eq!(counted, poor.device.moved() - before);
}

#[test]
fn a_failure_at_any_call_is_a_typed_error_and_leaves_nothing_behind() {
    use Stage::{Read, Run, Upload};
    let point = |name, counter, error, after| Point::<Poor> { name, counter, error: Some(error), after, once: false };
    let points: [Point<Poor>; 5] = [
        point("alloc", |w| &w.faults.alloc, (Code::OutOfMemory, &[Upload, Run]), After::Works),
        point("upload", |w| &w.faults.upload, (Code::Device, &[Upload, Read]), After::Works),
        point("download", |w| &w.faults.download, (Code::Device, &[Read]), After::Works),
        point("launch", |w| &w.faults.launch, (Code::Device, &[Read]), After::Works),
        point("submit", |w| &w.faults.submit, (Code::Device, &[Run, Read]), After::Gone),
    ];
    for point in &points {
        walk(SCENARIOS, point, 1, poor);
    }
}

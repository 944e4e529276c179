//! What recording costs: `cargo test --release -p ferrotensor-vulkan --test vulkan -- --ignored --nocapture record_cost`.

use crate::rig::{device, fine, finish, launch, numbers};
use ferrotensor_core::Result;
use ferrotensor_core::backend::{Backend, Batch, Buffer, Launch};
use ferrotensor_gpu::{Binding, Compiled, Program, Recorder};
use ferrotensor_vulkan::Options;
use std::io::Write;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A program that holds its pipeline, as lowered kernels do.
struct Held(Arc<OnceLock<Compiled>>);

impl Program for Held {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        let pipeline = match self.0.get() {
            Some(pipeline) => pipeline,
            None => {
                let made = crate::rig::affine::compiled(recorder)?;
                self.0.get_or_init(|| made)
            }
        };
        let x = &launch.inputs[0].buffer;
        let y = &launch.outputs[0].buffer;
        let from = Binding { buffer: x, offset: 0, bytes: 256, write: false };
        let to = Binding { buffer: y, offset: 0, bytes: 256, write: true };
        recorder.dispatch(pipeline, &[64, 1.0f32.to_bits(), 1.0f32.to_bits()], &[from, to], None, 1)
    }
}

#[test]
#[ignore = "a measurement"]
fn record_and_submit() {
    let Some(device) = device(Options::default()) else { return };
    let x = numbers(&device, (0..64).map(|n| n as f32));
    let outputs: Vec<_> = (0..64).map(|_| device.alloc(256).unwrap()).collect();
    let held = Arc::new(OnceLock::new());
    let affine = |x: &Buffer, y: &Buffer| launch(Held(Arc::clone(&held)), x, y);
    let launches = |dependent: bool, count: usize| {
        let one = |n: usize| {
            if dependent && n > 0 { affine(&outputs[(n - 1) % 64], &outputs[n % 64]) } else { affine(&x, &outputs[n % 64]) }
        };
        Batch::new((0..count).map(one).collect())
    };
    let mut out = std::io::stderr();
    writeln!(out, "{}", device.caps().description).unwrap();
    for (dependent, count) in [(false, 1), (false, 64), (true, 64), (false, 1024)] {
        let (mut submits, mut whole) = (Vec::new(), Vec::new());
        for _ in 0..200 {
            let batch = launches(dependent, count);
            let begun = Instant::now();
            let ticket = device.submit(batch);
            submits.push(begun.elapsed().as_secs_f64() * 1e6);
            fine(&finish(&device, ticket));
            whole.push(begun.elapsed().as_secs_f64() * 1e6);
        }
        let median = |times: &mut Vec<f64>| {
            times.sort_by(f64::total_cmp);
            (times[0], times[times.len() / 2])
        };
        let ((least, submit), (_, end)) = (median(&mut submits), median(&mut whole));
        let each = |us: f64| us / count as f64;
        writeln!(
            out,
            "{count} dispatches, dependent {dependent}: submit() {:.2} us each (least {:.2}), until the answer {:.2} us each",
            each(submit),
            each(least),
            each(end)
        )
        .unwrap();
    }
}

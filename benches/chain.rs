//! Programs of additions: what the bench `program` times and counts, and whose allocations a test of the engine counts.

use ferrotensor_core::registry::{Known, Registry};
use ferrotensor_core::{DType, Error, Result, error::Code};
use ferrotensor_engine::{Engine, Mode, Request, RunOutcome, Session, Tensor};
use std::hint::black_box;
use std::sync::Arc;

const CPU: Known = Known { name: "cpu", probe: ferrotensor_cpu::probe, complete: true };

/// An engine whose only device is the CPU.
pub fn engine() -> Arc<Engine> {
    Engine::new(Registry::new(&[CPU]), ferrotensor_host::run)
}

/// A program of `count` additions: `x + b`, then `+ b` again and again.
pub struct Chain {
    /// What it runs in.
    pub session: Session,
    inputs: [Arc<Tensor>; 2],
    words: Vec<i32>,
    output: i32,
}

impl Chain {
    /// In a session of its own.
    pub fn new(engine: &Arc<Engine>, count: i32) -> Result<Chain> {
        let mut session = Session::new(engine.clone());
        let ty = session.intern_type(DType::F32 as u8, &[4.0], 0)?;
        let bytes: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut upload = || session.upload(ty, &bytes, true)?.ok_or_else(|| Error::out_of_memory("upload refused"));
        let inputs = [upload()?, upload()?];
        let add = ferrotensor_ops::find("add").ok_or_else(|| Error::new(Code::Internal, "no row 'add'"))?.id();
        let mut words = vec![0, ty, 0, ty];
        for i in 0..count {
            let last = if i == 0 { 0 } else { 1 + i };
            words.extend([i32::from(add), 0, last, 1]);
        }
        Ok(Chain { session, inputs, words, output: 1 + count })
    }

    /// Runs it, and waits for the result.
    pub fn run(&mut self) -> Result<()> {
        let request = Request {
            words: &self.words,
            params: &[],
            inputs: &self.inputs,
            outputs: &[self.output],
            mode: Mode::Sync,
            force: false,
        };
        match self.session.run(&request)? {
            RunOutcome::Done(tensors) => tensors.iter().try_for_each(|t| black_box(t).wait()),
            RunOutcome::Refused { bytes } => Err(Error::out_of_memory(format!("{bytes} bytes refused"))),
        }
    }
}

//! A program that is run again asks the allocator for what its launches and results are, and for nothing that grows with its length.

use ferrotensor_core::DType;
use ferrotensor_core::registry::{Entry, Registry};
use ferrotensor_engine::{Config, Engine, Mode, Request, RunOutcome, Session, Tensor};
use std::alloc::{GlobalAlloc, Layout as Bytes, System};
use std::cell::Cell;
use std::sync::Arc;

/// The system's memory, and how often a thread has asked for some.
struct Counted;

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

fn ask() {
    let _ = ASKED.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: every call is the system allocator's, with the same arguments.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, bytes: Bytes) -> *mut u8 {
        ask();
        // SAFETY: as the caller promises.
        unsafe { System.alloc(bytes) }
    }

    unsafe fn dealloc(&self, at: *mut u8, bytes: Bytes) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, bytes) }
    }

    unsafe fn realloc(&self, at: *mut u8, bytes: Bytes, size: usize) -> *mut u8 {
        ask();
        // SAFETY: as the caller promises.
        unsafe { System.realloc(at, bytes, size) }
    }
}

#[global_allocator]
static MEMORY: Counted = Counted;

/// `x + b`, then `+ b` again and again.
struct Chain {
    session: Session,
    inputs: [Arc<Tensor>; 2],
    words: Vec<i32>,
    output: i32,
}

impl Chain {
    fn new(fusion: bool, count: i32) -> Chain {
        let entries = vec![Entry { name: "cpu", devices: ferrotensor_cpu::probe(), complete: true }];
        let mut session = Session::new(Engine::new(Registry::of(entries), ferrotensor_host::run));
        session.set_config(Config { fusion, ..Config::default() });
        let ty = session.intern_type(DType::F32 as u8, &[4.0], 0).unwrap();
        let mut upload = || session.upload(ty, bytemuck::cast_slice(&[1f32, 2.0, 3.0, 4.0]), true).unwrap().unwrap();
        let inputs = [upload(), upload()];
        let add = i32::from(ferrotensor_ops::find("add").unwrap().id());
        let mut words = vec![0, ty, 0, ty];
        for i in 0..count {
            words.extend([add, 0, if i == 0 { 0 } else { 1 + i }, 1]);
        }
        Chain { session, inputs, words, output: 1 + count }
    }

    fn run(&mut self) {
        let (words, inputs, outputs) = (&self.words, &self.inputs, &[self.output]);
        let request = Request { words, params: &[], inputs, outputs, mode: Mode::Sync, force: false };
        match self.session.run(&request).unwrap() {
            RunOutcome::Done(tensors) => tensors[0].wait().unwrap(),
            RunOutcome::Refused { bytes } => panic!("{bytes} refused"),
        }
    }

    /// How often a run asks for memory, once some have gone before.
    fn steady(&mut self) -> u64 {
        (0..10).for_each(|_| self.run());
        let before = ASKED.get();
        (0..100).for_each(|_| self.run());
        let all = ASKED.get() - before;
        assert_eq!(all % 100, 0, "every run is the same");
        all / 100
    }
}

#[test]
fn a_repeated_program_allocates_its_launches_and_results_and_nothing_by_its_length() {
    let fused = [1, 32, 256].map(|count| Chain::new(true, count).steady());
    let apart = [1, 32, 256].map(|count| Chain::new(false, count).steady());
    // The launches, their steps, what holds them, the result's storage and tensor.
    assert_eq!(fused, [5; 3]);
    assert_eq!(apart, [5; 3]);
}

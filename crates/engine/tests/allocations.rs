//! A program that is run again asks the allocator for what its launches and results are, and for nothing that grows with its length.

#[path = "../../../benches/chain.rs"]
mod chain;

use chain::Chain;
use ferrotensor_engine::Config;
use std::alloc::{GlobalAlloc, Layout as Bytes, System};
use std::cell::Cell;

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

/// How often a run of a program of `count` additions asks for memory, once some have gone before.
fn steady(fusion: bool, count: i32) -> u64 {
    let mut chain = Chain::new(&chain::engine(), count).unwrap();
    chain.session.set_config(Config { fusion, ..Config::default() });
    (0..10).for_each(|_| chain.run().unwrap());
    let before = ASKED.get();
    (0..100).for_each(|_| chain.run().unwrap());
    let all = ASKED.get() - before;
    assert_eq!(all % 100, 0, "every run is the same");
    all / 100
}

#[test]
fn a_repeated_program_allocates_its_launches_and_results_and_nothing_by_its_length() {
    let fused = [1, 32, 256].map(|count| steady(true, count));
    let apart = [1, 32, 256].map(|count| steady(false, count));
    // The launches, their steps, what holds them, the result's storage and tensor.
    assert_eq!(fused, [5; 3]);
    assert_eq!(apart, [5; 3]);
}

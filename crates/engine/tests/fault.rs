//! What the process may refuse at any moment: host memory and threads. A binary with one test, as the counters are the process's.
// Of the two modules that other tests share, this one needs a part.
#![allow(dead_code)]

#[path = "engine/support.rs"]
mod support;
#[path = "engine/walk.rs"]
mod walk;

use crate::support::{Poor, poor};
use crate::walk::{ALL_AXES, After, Point, SCENARIOS, Scenario, Stage, walk};
use ferrotensor_core::DType;
use ferrotensor_core::error::Code;

/// Enough work for several threads.
const PARALLEL: &[Scenario] = &[Scenario {
    name: "threads",
    inputs: &[(DType::F32, &[300_000])],
    build: |s, p, x| {
        let e = p.op(s, "sin", &[x[0]], &[]);
        vec![e, p.op(s, "sum", &[e], &ALL_AXES)]
    },
}];

const ANYWHERE: Option<(Code, &[Stage])> = Some((Code::OutOfMemory, &[Stage::Upload, Stage::Run, Stage::Read]));

#[test]
fn whatever_the_process_refuses_is_an_error_or_done_without_and_leaves_nothing_behind() {
    ferrotensor_cpu::fault::keep_no_scratch();
    // Two kernel threads, so that there are workers to be refused, and made anew.
    let fresh = || {
        ferrotensor_cpu::set_threads(2);
        poor()
    };
    let point = |name, counter, error, once| Point::<Poor> { name, counter, error, after: After::Works, once };
    let memory = point("memory of the CPU", |_| &ferrotensor_cpu::fault::MEMORY, ANYWHERE, false);
    let host = point("memory of the host", |_| &ferrotensor_engine::fault::MEMORY, ANYWHERE, false);
    let workers = point("workers", |_| &ferrotensor_cpu::fault::THREADS, None, true);
    let executor = point("executor", |_| &ferrotensor_engine::fault::THREADS, None, true);
    for (device, scenarios) in [(0, SCENARIOS), (0, PARALLEL), (1, SCENARIOS)] {
        walk(scenarios, &memory, device, fresh);
        walk(scenarios, &executor, device, fresh);
    }
    walk(SCENARIOS, &host, 1, fresh);
    walk(PARALLEL, &workers, 0, fresh);

    ferrotensor_engine::fault::THREADS.arm(1);
    let here = std::thread::current().id();
    for _ in 0..2 {
        let (send, ran_on) = std::sync::mpsc::channel();
        ferrotensor_engine::on_reader_thread(Box::new(move || send.send(std::thread::current().id()).unwrap()));
        assert_eq!(ran_on.recv(), Ok(here), "the system refused the reader thread");
    }
}

//! What the process may refuse at any moment: host memory and threads. One test, as the counters are the process's.

use crate::support::{Poor, poor};
use crate::walk::{After, PARALLEL, Point, SCENARIOS, Stage, walk};
use ferrotensor_core::error::Code;

const ANYWHERE: Option<(Code, &[Stage])> = Some((Code::OutOfMemory, &[Stage::Upload, Stage::Run, Stage::Read]));

#[test]
fn whatever_the_process_refuses_is_an_error_or_done_without_and_leaves_nothing_behind() {
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

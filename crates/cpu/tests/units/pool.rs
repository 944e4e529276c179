//! Worker threads.

use ferrotensor_cpu::internals::parallel::pool::{LOOKING, SLOTS, expect_more, hire, is_awake, share};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// Held by each test: another's jobs might take all slots.
fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Claims numbers below `count`, adds them up, and runs `also` for each.
fn added(count: usize, also: &(dyn Fn(usize) + Sync)) -> usize {
    let (next, sum) = (AtomicUsize::new(0), AtomicUsize::new(0));
    share(3, true, &|| {
        loop {
            let n = next.fetch_add(1, SeqCst);
            if n >= count {
                return;
            }
            also(n);
            sum.fetch_add(n, SeqCst);
        }
    });
    sum.load(SeqCst)
}

#[test]
fn every_part_is_done_once_however_many_callers_there_are() {
    let _turn = turn();
    assert!(hire(3) > 0);
    std::thread::scope(|scope| {
        for _ in 0..SLOTS + 4 {
            scope.spawn(|| (0..500).for_each(|n| assert_eq!(added(n, &|_| ()), n * n.saturating_sub(1) / 2)));
        }
    });
}

#[test]
fn workers_that_sleep_come_when_a_job_waits_for_them() {
    let _turn = turn();
    assert!(hire(1) > 0);
    for _ in 0..3 {
        std::thread::sleep(LOOKING * 4);
        let (caller, helped) = (std::thread::current().id(), AtomicBool::new(false));
        // The caller keeps its part until a worker has one; a worker that never comes would hang here.
        added(1000, &|_| {
            let own = std::thread::current().id() == caller;
            while own && !helped.load(SeqCst) {
                std::thread::yield_now();
            }
            helped.store(true, SeqCst);
        });
        assert!(helped.load(SeqCst));
    }
}

#[test]
fn workers_get_up_where_short_jobs_follow_each_other() {
    let _turn = turn();
    assert!(hire(1) > 0);
    // Whoever is awake goes to sleep, and some pair of these jobs is close enough; a worker that never comes would hang here.
    while is_awake() {
        std::thread::yield_now();
    }
    while !is_awake() {
        expect_more(1);
    }
}

#[test]
fn a_panic_comes_to_the_caller_and_the_workers_go_on() {
    let _turn = turn();
    assert!(hire(3) > 0);
    for part in [0, 7, 99] {
        let panic = catch_unwind(|| added(100, &|n| assert!(n != part, "part {n}")));
        let text = panic.unwrap_err();
        assert_eq!(text.downcast_ref::<String>(), Some(&format!("part {part}")));
    }
    assert_eq!(added(100, &|_| ()), 4950);
}

#[test]
fn a_job_inside_a_job_is_done() {
    let _turn = turn();
    assert!(hire(3) > 0);
    let inner = AtomicUsize::new(0);
    added(20, &|_| _ = inner.fetch_add(added(10, &|_| ()), SeqCst));
    assert_eq!(inner.load(SeqCst), 20 * 45);
}

//! Chunks of a job and who claims them.

use ferrotensor_cpu::internals::parallel::Stretches;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn each_chunk_is_claimed_once_and_those_of_the_own_stretch_first() {
    for (chunks, count) in [(1, 1), (1, 2), (2, 2), (7, 3), (8, 3), (64, 5)] {
        for own in 0..2 * count {
            let stretches = Stretches::new(chunks, count);
            let mut claimed = Vec::new();
            stretches.each(own, |at| claimed.push(at));
            let first = own % count * chunks / count;
            let expected: Vec<usize> = (first..chunks).chain(0..first).collect();
            assert_eq!(claimed, expected, "{chunks} chunks, {count} stretches, from {own}");
        }
    }
}

#[test]
fn nothing_is_claimed_after_the_end_and_all_by_several_together() {
    let stretches = Stretches::new(100, 3);
    let sum = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for own in 0..4 {
            let (stretches, sum) = (&stretches, &sum);
            scope.spawn(move || stretches.each(own, |at| _ = sum.fetch_add(at, Ordering::Relaxed)));
        }
    });
    assert_eq!(sum.into_inner(), 4950);
    let stretches = Stretches::new(100, 3);
    let mut claimed = 0;
    stretches.each(1, |_| {
        claimed += 1;
        stretches.end();
    });
    assert_eq!(claimed, 1);
}

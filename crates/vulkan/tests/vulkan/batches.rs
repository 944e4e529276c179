//! Batches: right results, exactly the barriers they need, tickets, and what a lost device leaves behind.

use crate::rig::{Affine, affine, device, fine, finish, launch, numbers, read, run};
use ferrotensor_core::backend::{Backend, Batch, Launch, Ticket};
use ferrotensor_core::{Code, Result};
use ferrotensor_gpu::{Program, Recorder};
use ferrotensor_vulkan::{Faults, Options};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const N: usize = 1000;

fn options(unified: bool) -> Options {
    Options { unified: Some(unified), ..Options::default() }
}

fn dependent_and_independent(unified: bool) {
    let Some(device) = device(options(unified)) else { return };
    let x = numbers(&device, (0..N).map(|n| n as f32));
    let [a, b, c, d] = [(); 4].map(|()| numbers(&device, (0..N).map(|_| -1.0)));
    // Those that looked at the arithmetic of the device.
    let opened = device.counts().pipelines;
    let expect = |scale: f32, add: f32| -> Vec<f32> { (0..N).map(|n| n as f32 * scale + add).collect() };

    fine(&run(&device, vec![affine(2.0, 1.0, N, &x, &a), affine(3.0, 0.0, N, &x, &b)]));
    assert_eq!(device.counts().barriers, 0, "independent");
    assert_eq!((read(&device, &a, N), read(&device, &b, N)), (expect(2.0, 1.0), expect(3.0, 0.0)));

    fine(&run(&device, vec![affine(2.0, 0.0, N, &x, &c), affine(5.0, 1.0, N, &c, &d)]));
    assert_eq!(device.counts().barriers, 1, "one reads what the other writes");
    assert_eq!(read(&device, &d, N), expect(10.0, 1.0));

    // Write after read, then two that read the same.
    fine(&run(&device, vec![affine(1.0, 0.0, N, &a, &b), affine(7.0, 0.0, N, &x, &a), affine(9.0, 0.0, N, &x, &c)]));
    assert_eq!(device.counts().barriers, 2);
    assert_eq!((read(&device, &b, N), read(&device, &a, N)), (expect(2.0, 1.0), expect(7.0, 0.0)));

    // Two halves of one buffer do not meet.
    let half = |part| launch(Affine { scale: 4.0, add: 0.0, part, twice: false }, &x, &d);
    fine(&run(&device, vec![half((0, 512)), half((512, N - 512))]));
    assert_eq!(device.counts().barriers, 2);
    assert_eq!(read(&device, &d, N), expect(4.0, 0.0));

    fine(&run(&device, vec![launch(Affine { scale: 2.0, add: 1.0, part: (0, N), twice: true }, &x, &a)]));
    assert_eq!(device.counts().barriers, 3, "through scratch memory");
    assert_eq!(read(&device, &a, N), expect(4.0, 3.0));
    assert_eq!(device.counts().pipelines, opened + 1);
}

#[test]
fn dependent_dispatches_wait_and_independent_ones_do_not_on_shared_memory() {
    dependent_and_independent(true);
}

#[test]
fn dependent_dispatches_wait_and_independent_ones_do_not_on_own_memory() {
    dependent_and_independent(false);
}

#[test]
fn a_long_batch_is_cut_and_stays_in_order() {
    let Some(device) = device(options(false)) else { return };
    let [a, b] = [0, 1].map(|_| numbers(&device, (0..N).map(|n| n as f32)));
    let launches = (0..1000).map(|n| if n % 2 == 0 { affine(1.0, 1.0, N, &a, &b) } else { affine(1.0, 1.0, N, &b, &a) });
    fine(&run(&device, launches.collect()));
    assert_eq!(read(&device, &a, N), (0..N).map(|n| (n + 1000) as f32).collect::<Vec<_>>());
    let counts = device.counts();
    assert_eq!((counts.dispatches, counts.submissions), (1000, 1000u64.div_ceil(64)));
    // The first dispatch of each submission stands behind the submission's own barrier.
    assert_eq!(counts.barriers, 1000 - counts.submissions);
}

#[test]
fn many_submissions_are_under_way_and_tickets_answer_once() {
    let Some(device) = device(options(true)) else { return };
    let x = numbers(&device, (0..N).map(|n| n as f32));
    let outputs: Vec<_> = (0..200).map(|_| device.alloc(N * 4).unwrap()).collect();
    let tickets: Vec<Ticket> =
        (0..200).map(|n| device.submit(Batch::new(vec![affine(n as f32, 1.0, N, &x, &outputs[n])]))).collect();
    // The last first.
    for (n, ticket) in tickets.into_iter().enumerate().rev() {
        let Ticket::Pending(number) = ticket else { panic!("{ticket:?}") };
        fine(&device.wait(number, Instant::now() + Duration::from_secs(60)).unwrap());
        assert!(device.poll(number).is_none() && device.wait(number, Instant::now()).is_none(), "a ticket answers once");
        assert_eq!(read(&device, &outputs[n], N)[N - 1], (N - 1) as f32 * n as f32 + 1.0);
    }
    assert_eq!((device.counts().tickets, device.counts().under_way), (0, 0));
}

#[test]
fn dropped_tickets_release_what_they_keep() {
    let Some(device) = device(options(true)) else { return };
    let x = numbers(&device, (0..N).map(|n| n as f32));
    let before = device.mem().used;
    for _ in 0..3000 {
        let y = device.alloc(1 << 20).unwrap();
        device.submit(Batch::new(vec![affine(1.0, 1.0, N, &x, &y)]));
    }
    assert!(device.counts().tickets <= 1024 + 16, "{:?}", device.counts());
    fine(&run(&device, vec![affine(1.0, 1.0, N, &x, &numbers(&device, (0..N).map(|n| n as f32)))]));
    assert_eq!(device.counts().under_way, 0);
    assert_eq!(device.mem().used, before);
}

#[test]
fn a_wait_ends_at_its_deadline() {
    let Some(device) = device(options(true)) else { return };
    let n = 4 << 20;
    let x = numbers(&device, (0..n).map(|n| n as f32));
    let y = device.alloc(n * 4).unwrap();
    let Ticket::Pending(ticket) = device.submit(Batch::new((0..32).map(|_| affine(1.0, 1.0, n, &x, &y)).collect())) else {
        panic!("nothing was submitted");
    };
    let begun = Instant::now();
    let early = device.wait(ticket, begun + Duration::from_millis(1));
    assert!(begun.elapsed() < Duration::from_millis(500));
    if early.is_none() {
        fine(&device.wait(ticket, Instant::now() + Duration::from_secs(60)).unwrap());
    }
    assert_eq!(read(&device, &y, 3), [1.0, 2.0, 3.0]);
}

#[test]
fn a_launch_that_fails_is_reported_and_the_others_run() {
    let Some(device) = device(options(true)) else { return };
    let x = numbers(&device, (0..N).map(|n| n as f32));
    let [y, z] = [0, 1].map(|_| device.alloc(N * 4).unwrap());
    let outside = launch(Affine { scale: 1.0, add: 0.0, part: (0, 1 << 20), twice: false }, &x, &y);
    let outcome = run(&device, vec![affine(2.0, 0.0, N, &x, &y), outside, affine(3.0, 0.0, N, &x, &z)]);
    assert!(outcome.lost.is_none());
    assert_eq!(outcome.failed.iter().map(|(n, e)| (*n, e.code)).collect::<Vec<_>>(), [(1, Code::Internal)]);
    assert_eq!((read(&device, &y, N)[9], read(&device, &z, N)[9]), (18.0, 27.0));
}

#[test]
fn an_abandoned_batch_stops_between_submissions() {
    let Some(device) = device(options(true)) else { return };
    let x = numbers(&device, (0..N).map(|n| n as f32));
    let y = device.alloc(N * 4).unwrap();
    let batch = Batch::new((0..1000).map(|_| affine(1.0, 1.0, N, &x, &y)).collect());
    batch.abandoned.store(true, Ordering::Relaxed);
    let outcome = finish(&device, device.submit(batch));
    assert!(outcome.lost.is_some());
    assert_eq!(device.counts().dispatches, 0);
}

#[test]
fn a_lost_device_fails_every_ticket_and_the_next_one_works() {
    let options = options(false);
    let faults = Arc::clone(&options.faults);
    let Some(device) = device(options) else { return };
    for round in 1..4 {
        let x = numbers(&device, (0..N).map(|n| n as f32));
        let y = device.alloc(N * 4).unwrap();
        let long = || Batch::new((0..40).map(|_| affine(1.0, 1.0, N, &x, &y)).collect());
        let before: Vec<Ticket> = (0..5).map(|_| device.submit(long())).collect();
        faults.submit.arm(1);
        let struck = device.submit(long());
        let Ticket::Done(outcome) = struck else { panic!("{struck:?}") };
        let error = outcome.lost.expect("the batch was lost");
        assert!(error.code == Code::Device && error.message.contains("vulkan:0"), "{error}");
        for ticket in before {
            // It had ended and was seen to have, or it was lost: the one or the other, at once.
            let begun = Instant::now();
            let outcome = finish(&device, ticket);
            assert!(outcome.lost.is_none_or(|e| e.code == Code::Device) && outcome.failed.is_empty());
            assert!(begun.elapsed() < Duration::from_secs(1));
        }
        let refused = device.upload(&[1, 2, 3], &x, 0).unwrap_err();
        assert!(refused.code == Code::Device && refused.message.contains("lost"), "{refused}");

        let x2 = numbers(&device, (0..N).map(|n| n as f32));
        let y2 = device.alloc(N * 4).unwrap();
        fine(&run(&device, vec![affine(2.0, round as f32, N, &x2, &y2)]));
        assert_eq!(read(&device, &y2, N)[7], 14.0 + round as f32);
        let refused = device.download(&y, 0, &mut [0; 4]).unwrap_err();
        assert!(refused.code == Code::Device && refused.message.contains("lost"), "{refused}");
        let outcome = run(&device, vec![affine(2.0, 0.0, N, &x, &y2)]);
        assert_eq!(
            outcome.failed.first().map(|(n, e)| (*n, e.code)),
            Some((0, Code::Device)),
            "an old buffer on a new device"
        );
        drop((x, y));
        assert_eq!(device.counts().tickets, 0);
    }
}

/// Nobody waits without end, what it may still write is not used again, and the next device works.
#[test]
fn a_device_that_hangs_is_given_up() {
    let faults = Arc::<Faults>::default();
    let options = Options { patience: Some(Duration::from_secs(2)), faults: Arc::clone(&faults), ..Options::default() };
    let Some(device) = device(options) else { return };
    let x = numbers(&device, (0..100).map(|n| n as f32));
    let y = device.alloc(400).unwrap();
    fine(&run(&device, vec![affine(2.0, 1.0, 100, &x, &y)]));
    faults.hang.arm(1);
    let stuck = device.submit(Batch::new(vec![affine(2.0, 1.0, 100, &x, &y)]));
    let error = finish(&device, stuck).lost.expect("it hangs");
    assert!(error.code == Code::Device && error.message.contains("hangs: it has not ended a submission in 2 s"), "{error}");
    assert!(x.is_lost() && y.is_lost());
    drop((x, y));
    let x = numbers(&device, (0..100).map(|n| n as f32));
    let y = device.alloc(400).unwrap();
    fine(&run(&device, vec![affine(2.0, 1.0, 100, &x, &y)]));
    assert_eq!(read(&device, &y, 100)[99], 199.0);
}

/// How often a device that opens submits work to look at its arithmetic.
fn submissions_of_opening() -> Option<u64> {
    for k in 1.. {
        let options = options(false);
        let faults = Arc::clone(&options.faults);
        let device = device(options)?;
        faults.submit.arm(k);
        match device.alloc(N * 4) {
            Ok(_) if faults.submit.is_armed() => return Some(k - 1),
            Ok(_) => panic!("submission {k} of an opening was lost and nobody said it"),
            Err(e) => assert_eq!(e.code, Code::Device, "{e}"),
        }
    }
    unreachable!()
}

#[test]
fn every_submission_may_be_the_one_that_is_lost() {
    let options = options(false);
    let faults = Arc::clone(&options.faults);
    let Some(device) = device(options) else { return };
    let Some(opening) = submissions_of_opening() else { return };
    for k in 1.. {
        faults.submit.arm(k);
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let data = vec![0; N * 4];
            let x = device.alloc(N * 4)?;
            device.upload(&data, &x, 0)?;
            let y = device.alloc(N * 4)?;
            let outcome = run(&device, (0..200).map(|_| affine(1.0, 1.0, N, &x, &y)).collect());
            assert!(outcome.failed.is_empty());
            outcome.lost.map_or(Ok(()), Err)?;
            device.download(&y, 0, &mut [0; 4])
        }));
        match result.expect("nothing panics") {
            Ok(()) => {
                // A copy up, the batch and a copy down, and the one that is still to fail.
                let submissions = opening + 1 + 200u64.div_ceil(64) + 1 + 1;
                assert_eq!((faults.submit.is_armed(), k), (true, submissions));
                return;
            }
            Err(e) => assert_eq!(e.code, Code::Device, "{e}"),
        }
    }
}

/// Work that is said to take 300 MiB's time.
struct Charged(Affine);

impl Program for Charged {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        recorder.charge(300 << 20);
        self.0.record(recorder, launch)
    }
}

#[test]
fn work_that_takes_long_is_cut_finer() {
    let Some(device) = device(options(true)) else { return };
    let x = numbers(&device, (0..N).map(|n| n as f32));
    let y = device.alloc(N * 4).unwrap();
    let one = || launch(Charged(Affine { scale: 1.0, add: 1.0, part: (0, N), twice: false }), &x, &y);
    fine(&run(&device, (0..8).map(|_| one()).collect()));
    // 3 times 300 MiB are below 1 GiB, 4 times are over it.
    assert_eq!(device.counts().submissions, 3);
}

#[test]
fn threads_copy_compute_and_allocate_side_by_side() {
    for unified in [false, true] {
        let Some(device) = device(options(unified)) else { return };
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let device = &device;
                scope.spawn(move || {
                    for round in 0..40 {
                        let count = 1 + (thread * 7919 + round * 104_729) % 50_000;
                        let x = numbers(device, (0..count).map(|n| (n % 1000) as f32));
                        let [y, z] = [0, 1].map(|_| device.alloc(count * 4).unwrap());
                        fine(&run(device, vec![affine(2.0, 1.0, count, &x, &y), affine(1.0, thread as f32, count, &y, &z)]));
                        let expected = (0..count).map(|n| (n % 1000) as f32 * 2.0 + 1.0 + thread as f32);
                        assert!(read(device, &z, count).into_iter().eq(expected), "thread {thread}, round {round}");
                    }
                });
            }
        });
        assert_eq!((device.mem().used, device.counts().tickets), (0, 0));
    }
}

/// Panics after its dispatch was recorded.
struct Panics(Affine);

impl Program for Panics {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        self.0.record(recorder, launch)?;
        panic!("on purpose")
    }
}

#[test]
fn a_panic_below_an_entry_is_an_error_of_the_batch() {
    let Some(device) = device(options(true)) else { return };
    let x = numbers(&device, (0..N).map(|n| n as f32));
    let y = device.alloc(N * 4).unwrap();
    let good = || affine(1.0, 1.0, N, &x, &y);
    let bad = launch(Panics(Affine { scale: 1.0, add: 1.0, part: (0, N), twice: false }), &x, &y);
    // Two submissions are under way when it happens.
    let outcome = run(&device, (0..150).map(|_| good()).chain([bad]).collect());
    let error = outcome.lost.expect("the batch ends");
    assert!(error.code == Code::Internal && error.message.contains("on purpose"), "{error}");
    assert_eq!(device.counts().under_way, 0);
    fine(&run(&device, vec![good()]));
    assert_eq!(read(&device, &y, 2), [1.0, 2.0]);
}

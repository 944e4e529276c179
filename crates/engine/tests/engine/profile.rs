//! Profiles: each launch counts for the kernel it is of, on the device it ran on, for every profile that is open.

use crate::support::{Arg, Program, cpu, negated_sums_of_squares, poor, read};
use ferrotensor_engine::{KernelTime, Mode, Report, Session, Span, What};
use std::time::Duration;

fn run(s: &mut Session, p: &Program, out: Arg, mode: Mode) {
    let result = p.run(s, &[out], mode).unwrap();
    result[0].wait().unwrap();
    assert_eq!(read(&result[0]), [-5.0, -50.0]);
}

fn named<'a>(report: &'a Report, name: &str) -> &'a KernelTime {
    report.kernels.iter().find(|k| k.name == name).unwrap_or_else(|| panic!("{name} in {:?}", report.kernels))
}

#[test]
fn kernels_count_for_every_profile_that_is_open() {
    let mut s = cpu();
    let (p, out) = negated_sums_of_squares(&mut s, 0);
    run(&mut s, &p, out, Mode::Sync);
    let outer = s.open_profile();
    run(&mut s, &p, out, Mode::Sync);
    let inner = s.open_profile();
    assert_ne!(outer, inner);
    run(&mut s, &p, out, Mode::Async);
    let inner = s.close_profile(inner).unwrap();
    run(&mut s, &p, out, Mode::Sync);
    let outer = s.close_profile(outer).unwrap();
    assert!(s.close_profile(1).is_none() && s.close_profile(9).is_none());
    for (report, times) in [(&inner, 1), (&outer, 3)] {
        let sum = named(report, "reduce sum negative float32 [2, 3] -> [2]");
        let square = report.kernels.iter().find(|k| k.name.contains("square")).unwrap();
        assert_eq!((sum.count, square.count), (times, times));
        assert_eq!((sum.device.as_str(), sum.lacking.as_deref(), sum.double), ("cpu", None, false));
        assert!(sum.time > Duration::ZERO && report.busy <= report.wall);
        let together: Duration = report.kernels.iter().map(|k| k.time).sum();
        assert_eq!(together, report.busy, "one device at a time");
        timeline_is_of(report);
    }
    assert!(outer.peaks[0].0 == "cpu" && outer.peaks[0].1.copy > 0.0);
}

/// Each launch and program has a span, within the profile, and launches add up to their kernels.
fn timeline_is_of(report: &Report) {
    let (timeline, of) = (&report.timeline, |what: What| report.timeline.spans.iter().filter(move |s| s.what == what));
    assert_eq!(timeline.left_out, 0);
    assert!(timeline.spans.iter().all(|s| s.start <= s.end && s.end <= report.wall));
    for (i, kernel) in report.kernels.iter().enumerate() {
        let own: Vec<&Span> = of(What::Launch).filter(|s| s.kernel as usize == i).collect();
        assert_eq!(own.len() as u64, kernel.count);
        assert_eq!(own.iter().map(|s| s.end - s.start).sum::<Duration>(), kernel.time);
    }
    let programs = report.kernels[0].count as usize;
    assert_eq!(of(What::Program).count(), programs);
    assert!(of(What::Program).all(|s| s.thread == 0 && s.amount > 0));
    assert_eq!(of(What::Planning).count(), 0, "they were planned before");
    assert!(of(What::Memory).count() >= 2 + programs, "at both ends, and behind each program");
    assert_eq!(report.devices, [(0, "cpu".to_owned())]);
}

#[test]
fn what_ran_elsewhere_says_for_whom() {
    let (mut s, _) = poor();
    let (p, out) = negated_sums_of_squares(&mut s, 1);
    let profile = s.open_profile();
    run(&mut s, &p, out, Mode::Async);
    let report = s.close_profile(profile).unwrap();
    let square = report.kernels.iter().find(|k| k.name.starts_with("map square")).unwrap();
    assert_eq!((square.device.as_str(), square.lacking.as_deref()), ("hostile:0", None));
    assert_eq!((square.moved, square.flops), ((24, 24), Some(6.0)));
    let sum = report.kernels.iter().find(|k| k.name.starts_with("reduce sum")).unwrap();
    assert_eq!((sum.device.as_str(), sum.lacking.as_deref()), ("cpu", Some("hostile:0")));
}

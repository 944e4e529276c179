//! Profiles: each launch counts for the kernel it is of, on the device it ran on, for every profile that is open.

use crate::support::{Arg, Program, cpu, negated_sums_of_squares, poor, read};
use ferrotensor_engine::{KernelTime, Mode, Report, Session};
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
    }
    assert!(outer.peaks[0].0 == "cpu" && outer.peaks[0].1.copy > 0.0);
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

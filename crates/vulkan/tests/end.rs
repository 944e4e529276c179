//! The end of the process comes in the right order: before anything that `exit` destroys is gone, nobody is in a driver any more.

#[path = "vulkan/rig/mod.rs"]
mod rig;

use ferrotensor_vulkan::Options;
use libtest_mimic::{Arguments, Failed, Trial};
use rig::{affine, device, fine, numbers, read, run};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Set in the process that ends as the test wants it.
const CHILD: &str = "FERROTENSOR_TEST_CHILD";
/// The child's exit status when somebody is in a driver too late.
const LATE: i32 = 42;
/// Visits to the driver that came to their end.
static ENDED: AtomicUsize = AtomicUsize::new(0);

/// What a driver might destroy: registered after all of ours, so the first thing that `exit` runs. Nobody may be in the driver now, or
/// come back from one entered later.
extern "C" fn destroy() {
    let before = ENDED.load(Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(100));
    if ENDED.load(Ordering::SeqCst) != before {
        // SAFETY: ends the process at once.
        unsafe { libc::_exit(LATE) };
    }
}

/// Ends while another thread computes, takes and gives back memory of the driver without end.
fn child() {
    let device = device(Options::default()).expect("the parent has found one");
    let own = numbers(&device, (0..64).map(|n| n as f32));
    std::thread::spawn(move || {
        loop {
            let to = numbers(&device, (0..64).map(|n| n as f32));
            fine(&run(&device, vec![affine(2.0, 1.0, 64, &own, &to)]));
            assert_eq!(read(&device, &to, 2), [1.0, 3.0]);
            ENDED.fetch_add(1, Ordering::SeqCst);
        }
    });
    while ENDED.load(Ordering::SeqCst) < 10 {
        std::thread::yield_now();
    }
    // SAFETY: the function lives as long as the process.
    assert_eq!(unsafe { libc::atexit(destroy) }, 0);
}

fn nobody_is_in_a_driver_when_the_first_thing_is_destroyed() -> Result<(), Failed> {
    if rig::first().is_none() {
        return Ok(());
    }
    for _ in 0..5 {
        let ended = Command::new(std::env::current_exe()?).env(CHILD, "1").output()?;
        if ended.status.code() != Some(0) {
            return Err(format!("{}\n{}", ended.status, String::from_utf8_lossy(&ended.stderr)).into());
        }
    }
    Ok(())
}

fn main() {
    // Here and not in a test, which has a thread of its own: the end is the main thread's.
    if std::env::var_os(CHILD).is_some() {
        return child();
    }
    let test = nobody_is_in_a_driver_when_the_first_thing_is_destroyed;
    // Elsewhere the main thread's destructors do not come first (musl runs none), and `atexit` has to do.
    let first = cfg!(all(target_os = "linux", target_env = "gnu"));
    let trial = first.then(|| Trial::test("nobody_is_in_a_driver_when_the_first_thing_is_destroyed", test));
    libtest_mimic::run(&Arguments::from_args(), trial.into_iter().collect()).exit();
}

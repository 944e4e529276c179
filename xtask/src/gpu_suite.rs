//! `cargo xtask gpu-suite [--software] [--update]`: everything there is to run on a real Vulkan device, within ten minutes once it is
//! built: the conformance cases there, the backend's tests, and the bench. Prints the device, its driver and its clocks, and writes one
//! file of JSON to `benches/results/`.
//!
//! A software device is refused, whose times say nothing; with `--software` it is taken to try the suite itself, with a twentieth of the
//! cases and small operands. `--update` writes the device's ledger (`crates/conformance/expected/vulkan-discrete.txt`, or `integrated`),
//! which is how there comes to be one; without it what differs from the ledger is a failure.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// Of the runs, not of building what they run.
const TIME: Duration = Duration::from_secs(600);

const BENCH: [&str; 6] = ["bench", "--quiet", "--package", "ferrotensor-vulkan", "--bench", "vulkan"];
const CONFORMANCE: [&str; 6] = ["test", "--release", "--package", "ferrotensor-conformance", "--test", "conformance"];
const TESTS: [&str; 4] = ["test", "--release", "--package", "ferrotensor-vulkan"];
/// What `nvidia-smi` is asked for.
const CLOCKS: &str = "name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,temperature.gpu,power.draw";

/// One run, and what came of it.
struct Part {
    name: &'static str,
    passed: u64,
    failed: u64,
    seconds: f64,
}

struct Suite {
    root: PathBuf,
    end: Instant,
    parts: Vec<Part>,
}

/// The suite, with its options.
///
/// # Errors
/// What fails, in words.
pub fn run(options: &[&str]) -> Result<(), String> {
    if let Some(other) = options.iter().find(|o| !["--software", "--update"].contains(o)) {
        return Err(format!("gpu-suite: no option {other}; there are --software and --update"));
    }
    let (software, update) = (options.contains(&"--software"), options.contains(&"--update"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for build in [&BENCH[..], &CONFORMANCE, &TESTS] {
        crate::command::output(&root, "cargo", &[build, &["--no-run"]].concat())?;
    }
    let described = crate::command::output(&root, "cargo", &[&BENCH[..], &["--", "--describe"]].concat())?;
    let device = described.trim();
    if device.starts_with("software") && !software {
        return Err(format!("gpu-suite: {device}: no times of a software device; --software tries the suite on it"));
    }
    // Absent, or not of this vendor: no clocks.
    let clocks = crate::command::output(&root, "nvidia-smi", &[&format!("--query-gpu={CLOCKS}"), "--format=csv,noheader"]);
    let clocks = clocks.map_or_else(|_| "clocks: not known, no nvidia-smi".into(), |text| text.trim().to_owned());
    say(&format!("{device}\n{clocks}"));

    let mut suite = Suite { root: root.clone(), end: Instant::now() + TIME, parts: Vec::new() };
    let backends = ("EXPECT_BACKENDS", "cpu,hostile,vulkan");
    let share = if software { "5" } else { "100" };
    let ledger = if update { "1" } else { "0" };
    let variables = [backends, ("SHARE", share), ("UPDATE_EXPECT", ledger)];
    suite.part("conformance", &[&CONFORMANCE[..], &["--", "/vulkan"]].concat(), &variables)?;
    suite.part("tests", &TESTS, &[backends])?;
    let rows = root.join("target/vulkan-rows.json");
    let mut bench = [&BENCH[..], &["--", "--json"]].concat();
    let file = rows.to_string_lossy().into_owned();
    bench.push(&file);
    if software {
        bench.extend(["--software", "--small"]);
    }
    suite.part("bench", &bench, &[])?;

    let rows = std::fs::read_to_string(&rows).map_err(|e| format!("{}: {e}", rows.display()))?;
    let written = suite.write(device, &clocks, &rows)?;
    let failed: u64 = suite.parts.iter().map(|part| part.failed).sum();
    let passed: u64 = suite.parts.iter().map(|part| part.passed).sum();
    say(&format!("written to {}\n{passed} passed, {failed} failed", written.display()));
    if failed == 0 { Ok(()) } else { Err("gpu-suite: not everything passes on this device".into()) }
}

impl Suite {
    /// Runs cargo to its end, or to that of the suite's time, and shows what it printed.
    fn part(&mut self, name: &'static str, arguments: &[&str], variables: &[(&str, &str)]) -> Result<(), String> {
        let log = self.root.join(format!("target/gpu-suite-{name}.log"));
        let file = || std::fs::File::create(&log).map_err(|e| format!("{}: {e}", log.display()));
        let file = file()?;
        let second = file.try_clone().map_err(|e| e.to_string())?;
        let start = Instant::now();
        let mut child = Command::new("cargo")
            .args(arguments)
            .envs(variables.iter().copied())
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(second)
            .spawn()
            .map_err(|e| format!("cargo: {e}"))?;
        let ended = loop {
            match child.try_wait().map_err(|e| e.to_string())? {
                Some(status) => break status.success(),
                None if Instant::now() > self.end => {
                    // It may have ended just now.
                    drop(child.kill());
                    drop(child.wait());
                    break false;
                }
                None => std::thread::sleep(Duration::from_millis(100)),
            }
        };
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let (passed, mut failed) = counted(&text);
        // A run that failed without saying what, or had no time left.
        failed += u64::from(!ended && failed == 0);
        let seconds = start.elapsed().as_secs_f64();
        say(&format!("{name}: {passed} passed, {failed} failed, {seconds:.1} s"));
        if failed > 0 || name == "bench" {
            say(&text);
        }
        self.parts.push(Part { name, passed, failed, seconds });
        Ok(())
    }

    /// Writes the file, named by the day and the second.
    fn write(&self, device: &str, clocks: &str, rows: &str) -> Result<PathBuf, String> {
        let folder = self.root.join("benches/results");
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_err(|e| e.to_string())?.as_secs();
        let mut text = format!("{{\"device\":{device:?},\"clocks\":{clocks:?},\"time\":{now},\"parts\":[");
        for (n, Part { name, passed, failed, seconds }) in self.parts.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            // Writing to a string does not fail.
            let _ = write!(
                text,
                "{comma}{{\"name\":{name:?},\"passed\":{passed},\"failed\":{failed},\"seconds\":{seconds:.1}}}"
            );
        }
        text += &format!("],\"bench\":{rows}}}\n");
        let file = folder.join(format!("vulkan-{now}.json"));
        std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&file, text)).map_err(|e| e.to_string())?;
        Ok(file)
    }
}

/// Passed and failed, as the closing lines of test binaries say.
fn counted(text: &str) -> (u64, u64) {
    let number = |line: &str, word: &str| {
        let before = line.split(';').find_map(|part| part.trim().strip_suffix(word).map(str::trim))?;
        before.rsplit(' ').next()?.parse::<u64>().ok()
    };
    let of = |word: &str| text.lines().filter(|l| l.starts_with("test result:")).filter_map(|l| number(l, word)).sum();
    (of("passed"), of("failed"))
}

/// The suite reports to the terminal.
#[expect(clippy::print_stdout, reason = "a command line tool speaks through it")]
fn say(text: &str) {
    println!("{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_added_up() {
        let text =
            "test result: ok. 12 passed; 0 failed; 1 ignored\nx\ntest result: FAILED. 3 passed; 2 failed; 0 ignored\n";
        assert_eq!(counted(text), (15, 2));
        assert_eq!(counted("error: could not compile"), (0, 0));
    }

    #[test]
    fn an_option_that_is_none_is_refused_before_anything_runs() {
        assert!(run(&["--fast"]).unwrap_err().contains("no option --fast"));
    }
}

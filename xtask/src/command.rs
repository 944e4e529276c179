//! Programs that chores ask: `cargo`, `git`.

use std::path::Path;
use std::process::Command;

/// What a program prints, run in the repository.
///
/// # Errors
/// What it prints as errors where it fails, or why it cannot be started.
pub fn output(root: &Path, program: &str, args: &[&str]) -> Result<String, String> {
    let output =
        Command::new(program).args(args).current_dir(root).output().map_err(|error| format!("{program}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

//! `cargo xtask validate`: every quick check, cheapest first, up to the first that fails. The list is that of `npm test`.

use std::path::Path;
use std::process::Command;

/// Runs `scripts/test.mjs --bail`, which prints what each step took.
pub fn run() -> Result<(), String> {
    let status = Command::new("node")
        .args(["scripts/test.mjs", "--bail"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .status()
        .map_err(|error| format!("node: {error}"))?;
    if status.success() { Ok(()) } else { Err("validate: stopped at the first failure".into()) }
}

//! `cargo xtask mutate [ROW]`: breaks the rows of the table that have changed, or those with a text in their names, reports what the
//! conformance suite does not catch, and keeps the rest (`crates/conformance/src/mutants/report.rs`).

use std::path::Path;
use std::process::Command;

/// Runs the conformance crate's example of that name.
pub fn run(row: &[&str]) -> Result<(), String> {
    let status = Command::new("cargo")
        .args(["run", "--quiet", "--release", "--package", "ferrotensor-conformance", "--example", "mutate", "--"])
        .args(row)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("mutate: the suite does not catch every mutant".into()) }
}

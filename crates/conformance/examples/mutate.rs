//! Breaks rows of the table and reports what the suite does not catch: `cargo xtask mutate [ROW]`.
// A tool that reports to the terminal.
#![allow(clippy::print_stdout)]

use ferrotensor_conformance::mutants;
use std::process::ExitCode;

fn main() -> ExitCode {
    match mutants::report(&std::env::args().nth(1).unwrap_or_default()) {
        Ok((passed, failed)) => {
            println!("{passed} passed, {failed} failed");
            if passed == 0 || failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
        Err(e) => {
            println!("FAILED: {e}\n0 passed, 1 failed");
            ExitCode::FAILURE
        }
    }
}

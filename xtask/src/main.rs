//! Chores of the repository: `cargo xtask <chore>`.

mod codegen;
mod command;
mod dependencies;
mod features;
mod gpu_suite;
mod links;
mod lint;
mod mutate;
mod notices;
mod rooms;
mod validate;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask codegen [--check] | gpu-suite [--software] [--update] | lint | mutate [ROW] | notices TARGET FILE | validate";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["codegen"] => codegen::write(),
        ["codegen", "--check"] => codegen::check(),
        ["gpu-suite", options @ ..] => gpu_suite::run(options),
        ["lint"] => lint::check(),
        ["mutate", row @ ..] if row.len() < 2 => mutate::run(row),
        ["notices", target, file] => notices::write(target, file),
        ["validate"] => validate::run(),
        _ => Err(USAGE.to_string()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            report(&message);
            ExitCode::FAILURE
        }
    }
}

/// A chore's messages go to standard error; nothing else of this workspace prints.
#[expect(clippy::print_stderr, reason = "a command line tool speaks through it")]
fn report(message: &str) {
    eprintln!("{message}");
}

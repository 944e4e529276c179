//! `lib/generated/protocol.ts`: the words that TypeScript and the native module exchange beside programs.

use super::HEADER;
use std::fmt::Write;

/// The native module's own definitions. A C library cannot be depended on, so the file itself is included.
#[path = "../../../crates/node/src/protocol.rs"]
mod native;

pub fn render() -> String {
    let mut out = String::from(HEADER);
    out.push_str(
        "// The words beside a program that TypeScript and the native module exchange; from `crates/node/src/protocol.rs`.\n",
    );
    for (name, value, doc) in native::ALL {
        let _ = write!(out, "\n/**{doc} */\nexport const {name} = {value}\n");
    }
    out
}

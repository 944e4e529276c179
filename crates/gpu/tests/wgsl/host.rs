//! What naga says of WGSL, and of the kernels of `crates/gpu/tests/suite/emitter.rs` as such.

use crate::printer;
use ferrotensor_gpu::code::Code;
use naga::front::wgsl;
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// What WGSL cannot say, and no printer can help: `expected.txt` says which kernels that is.
const LACKS: [&str; 4] = ["no 8-bit integers", "no 16-bit integers", "no 64-bit integers", "no float64"];

/// What is wrong with a text.
pub fn invalid(text: &str) -> Option<String> {
    let module = match wgsl::parse_str(text) {
        Ok(module) => module,
        Err(error) => return Some(error.emit_to_string(text)),
    };
    // naga takes every variable for one that differs between threads, and so each loop around a barrier.
    let flags = ValidationFlags::all() - ValidationFlags::CONTROL_FLOW_UNIFORMITY;
    let checked = Validator::new(flags, Capabilities::empty()).validate(&module);
    checked.err().map(|error| error.emit_to_string(text))
}

/// What is wrong with a kernel that WGSL can say.
pub fn complaint(code: &Code) -> Option<String> {
    match printer::text(code) {
        Ok(text) => invalid(&text),
        Err(reason) => (!LACKS.contains(&reason.as_str())).then_some(reason),
    }
}

//! What the validator of SPIR-V says.

use ferrotensor_gpu::Can;
use ferrotensor_gpu::code::Code;
use ferrotensor_vulkan::spirv::{self, Modes};
use std::io::Write;
use std::process::{Command, Stdio};

/// A device that has everything.
pub fn everything() -> Can {
    Can {
        float64: true,
        int64: true,
        storage16: true,
        storage8: true,
        roots: true,
        quotients: true,
        subnormals: true,
        max_buffers: 16,
        ..Can::default()
    }
}

/// All that can be asked of floats.
const MODES: Modes = Modes { rte32: true, rte64: true, preserve32: true, preserve64: true, denorm32: true, denorm64: true };

/// The words of a kernel on such a device.
pub fn words(code: &Code) -> Vec<u32> {
    spirv::words(code, MODES)
}

/// What `spirv-val` says of a kernel; nothing of a good one, or where there is no such tool and none is expected.
pub fn complaint(code: &Code) -> Option<String> {
    complaint_about(&words(code))
}

/// What `spirv-val` says of a module; nothing of a good one, or where there is no such tool and none is expected.
pub fn complaint_about(words: &[u32]) -> Option<String> {
    let expected = std::env::var("EXPECT_TOOLS").is_ok_and(|tools| tools.split(',').any(|tool| tool == "spirv-val"));
    let tool = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.2", "--uniform-buffer-standard-layout", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut tool) = tool else {
        assert!(!expected, "spirv-val is expected and absent");
        return None;
    };
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    tool.stdin.take().unwrap().write_all(&bytes).unwrap();
    let output = tool.wait_with_output().unwrap();
    (!output.status.success()).then(|| String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

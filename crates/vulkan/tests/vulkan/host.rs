//! Vulkan's device for the suite of kernels (`crates/gpu/tests/suite`), and what the validator of SPIR-V says of them.

use ferrotensor_core::DType;
use ferrotensor_core::scalar::{Arithmetic, Program, plain};
use ferrotensor_gpu::Can;
use ferrotensor_gpu::code::Code;
use ferrotensor_gpu::emit::map;
use ferrotensor_vulkan::spirv::{self, Modes};
use ferrotensor_vulkan::{CachePlace, Options, VulkanBackend};
use std::io::Write;
use std::process::{Command, Stdio};

/// What the suite runs on.
pub type Device = VulkanBackend;

/// What the first device can do, if there is one.
pub fn can() -> Option<Can> {
    crate::rig::first().map(|found| found.can)
}

/// The first device, if there is one.
pub fn first() -> Option<Device> {
    crate::rig::device(Options::default())
}

/// The first device, which can do what it is told.
pub fn open(can: Can) -> Device {
    opened(can, Options::default())
}

/// The same, whose kernels ask nothing of floats.
pub fn open_bare(can: Can) -> Device {
    opened(can, Options { cache: CachePlace::Off, modes: Some(Modes::default()), ..Options::default() })
}

fn opened(can: Can, options: Options) -> Device {
    let found = crate::rig::first().expect("a device, as somebody knows what it can do");
    VulkanBackend::with(found.physical, "vulkan:0", can, options)
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
fn complaint_about(words: &[u32]) -> Option<String> {
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

#[test]
fn a_broken_module_is_noticed() {
    let can = crate::suite::everything();
    let copy = plain(&Program::identity(DType::F32), Arithmetic::IEEE);
    let mut words = words(&map::shader(&copy, 1, &can).unwrap());
    assert_eq!(complaint_about(&words), None);
    words.pop();
    let tool = Command::new("spirv-val").arg("--version").output().is_ok();
    assert_eq!(complaint_about(&words).is_some(), tool);
}

//! Looking for devices: what there is, and a reason in words where there is nothing. The environment is the process's, so each
//! case is a child of this test program.

use ferrotensor_core::backend::{Backend, DeviceClass};
use ferrotensor_vulkan::spirv::Modes;
use ferrotensor_vulkan::{Options, VulkanBackend, found, probe};
use std::process::Command;

/// Runs `report` in a child with these variables; what it said.
fn child(variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "probing::report", "--nocapture", "--include-ignored"]).env("REPORT_PROBE", "1");
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    let line = text.lines().find_map(|line| line.split_once("PROBE ")).map(|(_, rest)| rest.to_owned());
    line.unwrap_or_else(|| panic!("no report in {text}"))
}

#[test]
#[ignore = "for the other tests, in a child process"]
fn report() {
    use std::io::Write;
    if std::env::var_os("REPORT_PROBE").is_some() {
        let answer = match probe() {
            Ok(devices) => format!("found {}", devices.len()),
            Err(reason) => format!("none: {reason}"),
        };
        let mut out = std::io::stderr();
        writeln!(out, "PROBE {answer}").unwrap();
    }
}

#[test]
fn it_can_be_switched_off() {
    assert_eq!(child(&[("FERROTENSOR_VULKAN", "off")]), "none: switched off by FERROTENSOR_VULKAN=off");
}

#[test]
fn a_missing_driver_file_is_a_reason() {
    if crate::rig::first().is_none() {
        return;
    }
    let missing = "/nowhere/driver.json";
    let reason = child(&[("VK_ICD_FILENAMES", missing), ("VK_DRIVER_FILES", missing)]);
    assert!(reason.starts_with("none: ") && reason.contains("no driver"), "{reason}");
}

#[test]
fn a_broken_driver_file_is_a_reason() {
    if crate::rig::first().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("driver.json");
    for content in ["{ this is not JSON", "", "{\"ICD\": {\"library_path\": \"/nowhere/driver.so\"}}"] {
        std::fs::write(&broken, content).unwrap();
        let file = broken.to_str().unwrap();
        let reason = child(&[("VK_ICD_FILENAMES", file), ("VK_DRIVER_FILES", file)]);
        assert!(reason.starts_with("none: ") && reason.contains("driver"), "{content}: {reason}");
    }
}

#[test]
fn devices_are_named_in_order_and_described() {
    let Some(first) = crate::rig::first() else { return };
    let devices = probe().unwrap();
    for (n, device) in devices.iter().enumerate() {
        let caps = device.caps();
        assert_eq!(caps.name, format!("vulkan:{n}"));
        assert!(caps.description.contains("Vulkan 1.") && caps.max_buffer >= 1 << 27, "{caps:?}");
        assert_eq!(device.mem().used, 0);
    }
    let classes: Vec<DeviceClass> = devices.iter().map(|d| d.caps().class).collect();
    assert!(classes.is_sorted_by(|a, b| a >= b), "{classes:?}");
    let can = &first.can;
    assert!(can.max_range >= 1 << 27 && can.max_uniform >= 1 << 14 && can.max_groups >= 65535, "{can:?}");
    assert!(can.max_buffers >= 3 && can.max_invocations >= 128 && can.alignment <= 256 && can.subgroup >= 1, "{can:?}");
    assert!(!can.fma32 && can.clone().with_fma(true, false).fma32);
}

#[test]
fn a_device_works_without_its_optional_capabilities() {
    let Some(mut first) = found().ok().and_then(|all| all.into_iter().next()) else { return };
    let can = &mut first.can;
    for flag in [&mut can.float64, &mut can.int64, &mut can.storage16, &mut can.storage8] {
        *flag = false;
    }
    let modes = Some(Modes::default());
    let options = Options { cache: ferrotensor_vulkan::CachePlace::Off, modes, ..Options::default() };
    let device = VulkanBackend::with(first.physical, "vulkan:0", first.can, options);
    let x = crate::rig::numbers(&device, (0..100).map(|n| n as f32));
    let y = device.alloc(400).unwrap();
    crate::rig::fine(&crate::rig::run(&device, vec![crate::rig::affine(2.0, 1.0, 100, &x, &y)]));
    assert_eq!(crate::rig::read(&device, &y, 100)[99], 199.0);
}

/// Mesa's software device has subgroups of any width, by an option; `scripts/vulkan/variants.mjs` tests on each.
#[test]
fn subgroups_are_as_wide_as_the_software_device_is_told() {
    let Some(first) = crate::rig::first() else { return };
    let software = first.physical.properties().device_name.starts_with("llvmpipe");
    let bits = std::env::var("LP_NATIVE_VECTOR_WIDTH").ok().and_then(|bits| bits.parse::<u32>().ok());
    if let (true, Some(bits)) = (software, bits) {
        assert_eq!(first.can.subgroup, bits / 32);
    }
}

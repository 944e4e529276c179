//! A device that maps float32 and nothing else: everything else falls back, is counted, and gives the same values.

use crate::support::{Program, hostile_entry, negated_sums_of_squares, poor, read};
use ferrotensor_core::DType;
use ferrotensor_core::backend::{Backend, DeviceClass};
use ferrotensor_core::error::Code;
use ferrotensor_core::registry::{Entry, Known, Registry};
use ferrotensor_engine::{Config, Engine, Mode, Session, Strict};
use ferrotensor_fakes::{Faults, Hostile};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn session() -> Session {
    poor().0
}

#[test]
fn what_a_device_lacks_runs_on_the_cpu_and_is_counted() {
    let mut s = session();
    let (p, out) = negated_sums_of_squares(&mut s, 1);
    let result = p.run(&mut s, &[out], Mode::Sync).unwrap();
    assert_eq!(read(&result[0]), [-5.0, -50.0]);
    assert_eq!(result[0].device(), 1);
    let fallbacks = s.stats().fallbacks;
    assert_eq!(fallbacks.len(), 1);
    let f = &fallbacks[0];
    assert_eq!((f.device.as_str(), f.op.as_str(), f.count), ("hostile:0", "sum", 1));
    assert_eq!((f.reason.as_str(), f.dtype.as_str(), f.bytes), ("no reduce here", "float32", 4 * (6 + 2)));
}

#[test]
fn strict_mode_refuses_it_with_the_reason() {
    let mut s = session();
    let (p, out) = negated_sums_of_squares(&mut s, 1);
    s.set_config(Config { fusion: true, strict: Strict::Throw });
    let error = p.run(&mut s, &[out], Mode::Sync).err().unwrap();
    assert_eq!(error.code, Code::Unsupported);
    assert!(error.message.contains("no reduce here"), "{}", error.message);
    s.set_config(Config { fusion: true, strict: Strict::Warn });
    assert!(p.run(&mut s, &[out], Mode::Sync).is_ok());
    assert_eq!(s.take_warnings().len(), 1);
}

#[test]
fn tensors_of_two_devices_do_not_mix() {
    let mut s = session();
    let (a, b) = (s.intern_type(11, &[2.0], 0).unwrap(), s.intern_type(11, &[2.0], 1).unwrap());
    let add = ferrotensor_ops::find("add").unwrap().id();
    let error = s.infer(add, 0, 0, &[a, b]).unwrap_err();
    assert_eq!(error.code, Code::Device);
    assert!(error.message.contains("cpu and hostile:0"), "{}", error.message);
}

#[test]
fn the_best_real_device_is_the_default_and_a_software_device_never() {
    let cpu = || Entry { name: "cpu", devices: ferrotensor_cpu::probe(), complete: true };
    let hostile = |class| hostile_entry(Arc::new(Hostile::new(class, Arc::<Faults>::default()).unwrap()));
    let preferred = |entries: Vec<Entry>| Registry::of(entries).preferred().map_err(|e| e.code);
    assert_eq!(preferred(vec![cpu(), hostile(DeviceClass::Discrete)]), Ok(1));
    assert_eq!(preferred(vec![cpu(), hostile(DeviceClass::Integrated)]), Ok(1));
    assert_eq!(preferred(vec![hostile(DeviceClass::Software), cpu()]), Ok(1));
    assert_eq!(preferred(vec![cpu(), cpu()]), Ok(0), "the first of equals");
    let helped = Entry { complete: false, ..hostile(DeviceClass::Discrete) };
    assert_eq!(preferred(vec![cpu(), helped]), Ok(0), "one that needs the CPU's help");
    assert_eq!(preferred(vec![hostile(DeviceClass::Software)]), Err(Code::BackendUnavailable));
    let absent = Entry { name: "absent", devices: Err("not here".into()), complete: true };
    assert_eq!(preferred(vec![absent]), Err(Code::BackendUnavailable));
}

/// Drivers are slow to answer, and some crash: who names none of their devices never meets them.
#[test]
fn other_backends_than_the_first_are_looked_for_when_they_are_needed() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    fn late() -> Result<Vec<Arc<dyn Backend>>, String> {
        ASKED.fetch_add(1, Ordering::Relaxed);
        Ok(vec![Arc::new(Hostile::new(DeviceClass::Discrete, Arc::<Faults>::default()).unwrap())])
    }
    const KNOWN: &[Known] = &[
        Known { name: "cpu", probe: ferrotensor_cpu::probe, complete: true },
        Known { name: "hostile", probe: late, complete: false },
    ];
    let engine = Engine::new(Registry::new(KNOWN), ferrotensor_host::run);
    assert_eq!((engine.registry().preferred(), engine.registry().find("cpu")), (Ok(0), Ok(0)));
    assert_eq!((engine.memory().len(), engine.device(0).unwrap().caps().name.as_str()), (1, "cpu"));
    engine.trim();
    assert_eq!(ASKED.load(Ordering::Relaxed), 0);
    assert_eq!(engine.registry().find("hostile:0"), Ok(1));
    assert_eq!(engine.device(1).unwrap().caps().name, "hostile:0");
    assert_eq!(engine.device(2).err().map(|e| e.code), Some(Code::Device));
    assert_eq!((engine.memory().len(), engine.registry().devices().count()), (2, 2));
    assert_eq!(ASKED.load(Ordering::Relaxed), 1, "once");
}

#[test]
fn a_device_option_that_contradicts_a_tensor_is_an_error() {
    let mut s = session();
    let full = ferrotensor_ops::find("full").unwrap();
    let on_hostile = s.intern_type(DType::F32 as u8, &[], 1).unwrap();
    for (device, expected) in [(1.0, Ok(1)), (0.0, Err(Code::Device)), (7.0, Err(Code::Device))] {
        let attr = s.intern_attrs(full.id(), &[1.0, 2.0, f64::NAN, device]).unwrap();
        let got = s.infer(full.id(), 0, attr, &[on_hostile]).map(|ids| s.type_of(ids.outputs[0]).unwrap().device);
        assert_eq!(got.map_err(|e| e.code), expected, "device {device}");
    }
}

#[test]
fn what_a_rewriting_is_made_of_may_fall_back_in_turn() {
    let mut s = session();
    let id = s.intern_type(DType::F32 as u8, &[1.0, 1.0, 5.0, 5.0], 1).unwrap();
    let values: Vec<f32> = (1..26).map(|i| i as f32).collect();
    let x = s.upload(id, bytemuck::cast_slice(&values), false).unwrap().unwrap();
    let mut p = Program::default();
    let a = p.input(&mut s, &x);
    // 16 places: too many for one map, which this device could have run.
    let y = p.op(&mut s, "nn.maxPool", &[a], &[1.0, 4.0, -1.0, 1.0, 1.0, 1.0, 1.0, -1.0]);
    assert_eq!(read(&p.run(&mut s, &[y], Mode::Sync).unwrap()[0]), [13.0]);
    let stats = s.stats();
    assert_eq!((stats.rewritten.len(), stats.rewritten[0].device.as_str()), (1, "hostile:0"));
    assert_eq!((stats.fallbacks.len(), stats.fallbacks[0].reason.as_str()), (1, "no reduce here"));
}

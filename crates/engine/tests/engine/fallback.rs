//! A device that can only map: everything else falls back, is counted, and gives the same values.

use crate::support::{Program, engine, read};
use ferrotensor_core::backend::{Backend, Batch, Buffer, Caps, DeviceClass, MemInfo, Outcome, Prepared, Ticket};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::registry::{Probe, Registry};
use ferrotensor_core::{DType, Result};
use ferrotensor_engine::{Config, Mode, Session, Strict};
use std::sync::Arc;
use std::time::Instant;

/// The CPU, refusing every kernel but maps.
struct Mapper {
    caps: Caps,
    cpu: Arc<dyn Backend>,
}

impl Backend for Mapper {
    fn caps(&self) -> &Caps {
        &self.caps
    }
    fn alloc(&self, bytes: usize) -> Result<Buffer> {
        self.cpu.alloc(bytes)
    }
    fn upload(&self, from: &[u8], to: &Buffer) -> Result<()> {
        self.cpu.upload(from, to)
    }
    fn download(&self, from: &Buffer, offset: usize, to: &mut [u8]) -> Result<()> {
        self.cpu.download(from, offset, to)
    }
    fn supports(&self, kernel: &Kernel) -> Result<(), String> {
        match kernel {
            Kernel::Map(_) => self.cpu.supports(kernel),
            other => Err(format!("no {} here", other.kind())),
        }
    }
    fn prepare(&self, kernel: &Kernel) -> Result<Arc<dyn Prepared>> {
        self.cpu.prepare(kernel)
    }
    fn submit(&self, batch: Batch) -> Ticket {
        self.cpu.submit(batch)
    }
    fn poll(&self, ticket: u64) -> Option<Outcome> {
        self.cpu.poll(ticket)
    }
    fn wait(&self, ticket: u64, deadline: Instant) -> Option<Outcome> {
        self.cpu.wait(ticket, deadline)
    }
    fn mem(&self) -> MemInfo {
        self.cpu.mem()
    }
    fn trim(&self) {}
}

fn mapper(class: DeviceClass) -> Result<Vec<Arc<dyn Backend>>, String> {
    let cpu = ferrotensor_cpu::probe()?.remove(0);
    let caps = Caps { name: "mapper:0".into(), description: "maps only".into(), max_buffer: usize::MAX, class };
    Ok(vec![Arc::new(Mapper { caps, cpu })])
}

fn probe() -> Result<Vec<Arc<dyn Backend>>, String> {
    mapper(DeviceClass::Discrete)
}

fn session() -> Session {
    Session::new(engine(&[("cpu", ferrotensor_cpu::probe), ("mapper", probe)]))
}

fn program(s: &mut Session) -> (Program, crate::support::Arg) {
    let id = s.intern_type(DType::F32 as u8, &[2.0, 3.0], 1).unwrap();
    let values: Vec<f32> = (0..6).map(|i| i as f32).collect();
    let x = s.upload(id, bytemuck::cast_slice(&values), false).unwrap().unwrap();
    let mut p = Program::default();
    let a = p.input(s, &x);
    let e = p.op(s, "square", &[a], &[]);
    let t = p.op(s, "matrixTranspose", &[e], &[]);
    let m = p.op(s, "sum", &[t], &[1.0, 0.0, 0.0, f64::NAN]);
    let n = p.op(s, "negative", &[m], &[]);
    (p, n)
}

#[test]
fn what_a_device_lacks_runs_on_the_cpu_and_is_counted() {
    let mut s = session();
    let (p, out) = program(&mut s);
    let result = p.run(&mut s, &[out], Mode::Sync).unwrap();
    assert_eq!(read(&result[0]), [-5.0, -50.0]);
    assert_eq!(result[0].device(), 1);
    let fallbacks = s.stats().fallbacks;
    assert_eq!(fallbacks.len(), 1);
    let f = &fallbacks[0];
    assert_eq!((f.device.as_str(), f.op.as_str(), f.count), ("mapper:0", "sum", 1));
    assert_eq!((f.reason.as_str(), f.dtype.as_str(), f.bytes), ("no reduce here", "float32", 4 * (6 + 2)));
}

#[test]
fn strict_mode_refuses_it_with_the_reason() {
    let mut s = session();
    let (p, out) = program(&mut s);
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
    assert!(error.message.contains("cpu and mapper:0"), "{}", error.message);
}

#[test]
fn the_best_real_device_is_the_default_and_a_software_device_never() {
    let cpu: Probe = ferrotensor_cpu::probe;
    let preferred = |probes: &[(&'static str, Probe)]| Registry::new(probes).preferred().map_err(|e| e.code);
    assert_eq!(preferred(&[("cpu", cpu), ("mapper", || mapper(DeviceClass::Discrete))]), Ok(1));
    assert_eq!(preferred(&[("cpu", cpu), ("mapper", || mapper(DeviceClass::Integrated))]), Ok(1));
    assert_eq!(preferred(&[("mapper", || mapper(DeviceClass::Software)), ("cpu", cpu)]), Ok(1));
    assert_eq!(preferred(&[("cpu", cpu), ("other", cpu)]), Ok(0), "the first of equals");
    assert_eq!(preferred(&[("mapper", || mapper(DeviceClass::Software))]), Err(Code::BackendUnavailable));
    assert_eq!(preferred(&[("absent", || Err("not here".into()))]), Err(Code::BackendUnavailable));
}

#[test]
fn a_device_option_that_contradicts_a_tensor_is_an_error() {
    let mut s = session();
    let full = ferrotensor_ops::find("full").unwrap();
    let on_mapper = s.intern_type(DType::F32 as u8, &[], 1).unwrap();
    for (device, expected) in [(1.0, Ok(1)), (0.0, Err(Code::Device)), (7.0, Err(Code::Device))] {
        let attr = s.intern_attrs(full.id(), &[1.0, 2.0, f64::NAN, device]).unwrap();
        let got = s.infer(full.id(), 0, attr, &[on_mapper]).map(|ids| s.type_of(ids.outputs[0]).unwrap().device);
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
    assert_eq!((stats.rewritten.len(), stats.rewritten[0].device.as_str()), (1, "mapper:0"));
    assert_eq!((stats.fallbacks.len(), stats.fallbacks[0].reason.as_str()), (1, "no reduce here"));
}

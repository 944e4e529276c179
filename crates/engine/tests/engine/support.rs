//! Writes programs by op names, as TypeScript would, and runs them on a session.

use crate::walk::World;
use ferrotensor_core::backend::{Backend, DeviceClass};
use ferrotensor_core::registry::{Entry, Registry};
use ferrotensor_core::{DType, Result};
use ferrotensor_engine::program::head;
use ferrotensor_engine::{Config, Engine, Mode, Request, RunOutcome, Session, Strict, Tensor};
use ferrotensor_fakes::{Faults, Hostile};
use std::sync::Arc;

pub fn session(entries: Vec<Entry>) -> Session {
    Session::new(Engine::new(Registry::of(entries), ferrotensor_host::run))
}

pub fn cpu_entry() -> Entry {
    Entry { name: "cpu", devices: ferrotensor_cpu::probe(), complete: true }
}

pub fn hostile_entry(device: Arc<dyn Backend>) -> Entry {
    Entry { name: "hostile", devices: Ok(vec![device]), complete: true }
}

pub fn cpu() -> Session {
    session(vec![cpu_entry()])
}

/// A poor device beside the CPU, and the means to break it.
pub struct Poor {
    pub device: Arc<Hostile>,
    pub faults: Arc<Faults>,
}

impl World for Poor {}

/// A session with a device `hostile:0` of its own, number 1.
pub fn poor() -> (Session, Poor) {
    let faults = Arc::<Faults>::default();
    let device = Arc::new(Hostile::new(DeviceClass::Discrete, Arc::clone(&faults)).unwrap());
    (session(vec![cpu_entry(), hostile_entry(Arc::clone(&device) as _)]), Poor { device, faults })
}

/// A program under construction.
#[derive(Default)]
pub struct Program {
    pub words: Vec<i32>,
    pub params: Vec<u64>,
    pub inputs: Vec<Arc<Tensor>>,
    slots: i32,
}

/// An operand: a slot or a weak number.
#[derive(Clone, Copy)]
pub enum Arg {
    Slot(i32),
    Number(f64),
}

impl Program {
    pub fn input(&mut self, session: &mut Session, tensor: &Arc<Tensor>) -> Arg {
        let dims: Vec<f64> = tensor.dims().iter().map(|&d| d as f64).collect();
        let id = session.intern_type(tensor.dtype() as u8, &dims, tensor.device()).unwrap();
        self.words.extend([0, id]);
        self.inputs.push(Arc::clone(tensor));
        self.slots += 1;
        Arg::Slot(self.slots - 1)
    }

    pub fn op(&mut self, session: &mut Session, name: &str, args: &[Arg], attrs: &[f64]) -> Arg {
        self.op_with(session, name, args, attrs, &[])
    }

    pub fn op_with(&mut self, session: &mut Session, name: &str, args: &[Arg], attrs: &[f64], params: &[f64]) -> Arg {
        let op = ferrotensor_ops::find(name).unwrap();
        let attr = if attrs.is_empty() { 0 } else { session.intern_attrs(op.id(), attrs).unwrap() };
        let (mut forms, mut slots) = (0, Vec::new());
        let before = self.params.len();
        for (i, arg) in args.iter().enumerate() {
            match arg {
                Arg::Slot(s) => slots.push(*s),
                Arg::Number(v) => {
                    forms |= 1 << (3 * i);
                    self.params.push(v.to_bits());
                }
            }
        }
        self.params.extend(params.iter().map(|p| p.to_bits()));
        let nparams = (self.params.len() - before) as i32;
        self.words.extend([head(op.id(), forms as u32, nparams as usize), attr]);
        if op.variadic {
            self.words.push(args.len() as i32);
        }
        self.words.extend(slots);
        self.slots += op.outputs.len() as i32;
        Arg::Slot(self.slots - op.outputs.len() as i32)
    }

    pub fn run(&self, session: &mut Session, outputs: &[Arg], mode: Mode) -> Result<Vec<Arc<Tensor>>> {
        let outputs: Vec<i32> = outputs
            .iter()
            .map(|a| match a {
                Arg::Slot(s) => *s,
                Arg::Number(_) => -1,
            })
            .collect();
        let request = Request {
            words: &self.words,
            params: &self.params,
            inputs: &self.inputs,
            outputs: &outputs,
            mode,
            force: false,
        };
        match session.run(&request)? {
            RunOutcome::Done(tensors) => Ok(tensors.into_vec()),
            RunOutcome::Refused { bytes } => Err(ferrotensor_core::Error::out_of_memory(format!("{bytes} refused"))),
        }
    }
}

pub fn upload(session: &mut Session, values: &[f32], dims: &[usize]) -> Arc<Tensor> {
    let dims: Vec<f64> = dims.iter().map(|&d| d as f64).collect();
    let id = session.intern_type(DType::F32 as u8, &dims, 0).unwrap();
    session.upload(id, bytemuck::cast_slice(values), false).unwrap().unwrap()
}

/// Launches and bits of a program over waves of these shapes and steps.
pub fn launches_and_bits(
    waves: &[(&[usize], f32)],
    fusion: bool,
    build: impl Fn(&mut Session, &mut Program, &[Arg]) -> Vec<Arg>,
) -> (u64, Vec<Vec<u32>>) {
    let (mut s, mut p) = (cpu(), Program::default());
    s.set_config(Config { fusion, strict: Strict::Throw });
    let mut inputs = Vec::new();
    for (dims, step) in waves {
        let values: Vec<f32> = (0..dims.iter().product()).map(|i| (i as f32 * step).sin() * 3.0).collect();
        let tensor = upload(&mut s, &values, dims);
        inputs.push(p.input(&mut s, &tensor));
    }
    let outputs = build(&mut s, &mut p, &inputs);
    let out = p.run(&mut s, &outputs, Mode::Sync).unwrap();
    let bits = out.iter().map(|t| read(t).iter().map(|v| v.to_bits()).collect()).collect();
    (s.stats().launches, bits)
}

pub fn upload_i32(session: &mut Session, values: &[i32], dims: &[usize]) -> Arc<Tensor> {
    let dims: Vec<f64> = dims.iter().map(|&d| d as f64).collect();
    let id = session.intern_type(DType::I32 as u8, &dims, 0).unwrap();
    session.upload(id, bytemuck::cast_slice(values), false).unwrap().unwrap()
}

pub fn read(tensor: &Tensor) -> Vec<f32> {
    tensor.wait().unwrap();
    let mut out = vec![0f32; tensor.len()];
    tensor.read(bytemuck::cast_slice_mut(&mut out)).unwrap();
    out
}

/// `-(sum over rows of (x^T)^2)`, x 2 x 3 on a device: -5 and -50.
pub fn negated_sums_of_squares(s: &mut Session, device: u16) -> (Program, Arg) {
    let id = s.intern_type(DType::F32 as u8, &[2.0, 3.0], device).unwrap();
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

//! What must fail, must fail with a typed error: generic wrong calls made for every row, numbers nobody handed out, garbage in
//! place of a program, and failures that depend on values, which poison what depends on them and nothing else.

use crate::Check;
use crate::case::Placement;
use crate::machine::{Device, Machine, read};
use crate::recipe::{self, Recipe};
use crate::values::Rng;
use ferrotensor_core::reference::Array;
use ferrotensor_core::{Code, DType, Error, Result};
use ferrotensor_cpu::Tier;
use ferrotensor_engine::InferredIds;
use ferrotensor_engine::program::head;
use ferrotensor_ops::def::{AttrKind, EachAxis, Namespace, OpDef};
use ferrotensor_ops::shape;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Programs of random words, and broken copies of good ones.
const GARBAGE: usize = 100_000;

/// The tests.
pub fn trials() -> Vec<(String, Check)> {
    let mut out: Vec<(String, Check)> = Vec::new();
    for op in &ferrotensor_ops::OPS {
        out.push((format!("refusals/{}", op.path()), Box::new(move || wrong_calls(op))));
    }
    // In parts, so that both processors work on it.
    for part in 0..4 {
        out.push((format!("refusals/garbage programs/{part}"), Box::new(move || garbage(part))));
    }
    out.push(("refusals/numbers nobody handed out".into(), Box::new(made_up_numbers)));
    for device in [Device::Cpu(Tier::Baseline), Device::Hostile] {
        let mut add = |name: &str, check: Check| out.push((format!("refusals/{name}/{}", device.backend()), check));
        add("index out of range", Box::new(move || poison(device, "take", Code::Index)));
        add("scatter index out of range", Box::new(move || poison(device, "scatterAdd", Code::Index)));
        add("index array out of range", Box::new(move || poison(device, "at", Code::Index)));
        add("index array of a change out of range", Box::new(move || poison(device, "withAt", Code::Index)));
        add("index of no elements out of range", Box::new(move || index_of_empty_rows(device)));
        add("segment out of range", Box::new(move || poison(device, "segmentSum", Code::Index)));
        add("singular matrix", Box::new(move || poison(device, "linalg.solve", Code::LinAlg)));
        add("slice out of range", Box::new(move || slice_out_of_range(device)));
    }
    out
}

fn machine() -> Result<Machine, String> {
    Machine::new(Device::Cpu(Tier::Baseline), true)
}

fn expect<T>(what: &str, got: Result<T>, codes: &[Code]) -> Result<(), String> {
    match got {
        Ok(_) => Err(format!("{what} was accepted")),
        Err(e) if codes.contains(&e.code) && !e.message.is_empty() => Ok(()),
        Err(e) => Err(format!("{what} gives {:?} ({e}), should give {codes:?}", e.code)),
    }
}

/// A good call of the row: operand types with forms, and its attribute words.
struct Good {
    forms: u32,
    types: Vec<(DType, Vec<usize>)>,
    words: Vec<f64>,
}

fn good(op: &'static OpDef) -> Result<Good, String> {
    for dtype in [DType::F32, DType::I32, DType::U32, DType::Bool] {
        if !recipe::dtypes(op).contains(&dtype) {
            continue;
        }
        let recipe = Recipe::new(op, dtype, false);
        let mut rng = Rng::named(op.name);
        for _ in 0..2000 {
            let assignment: Vec<usize> =
                recipe.axes.iter().map(|a| if a.name.starts_with("form") { 0 } else { rng.below(a.values.len()) }).collect();
            let Some(plan) = recipe.plan(&assignment)? else { continue };
            let case = recipe.fill(&assignment, plan, &mut rng).map_err(|e| e.message)?;
            let types: Vec<_> = case.inputs().iter().map(|k| (k.array.dtype(), k.array.dims().to_vec())).collect();
            let vectors = types.iter().all(|t| !t.1.contains(&0)) && types.first().is_none_or(|t| !t.1.is_empty());
            if vectors && types.len() == case.operands.len() {
                return Ok(Good { forms: 0, types, words: case.words });
            }
        }
    }
    Err("no good call was found to break".into())
}

fn infer(m: &mut Machine, op: &OpDef, call: &Good) -> Result<InferredIds> {
    let session = m.session();
    let mut ids = Vec::new();
    for (dtype, dims) in &call.types {
        ids.push(session.intern_type(*dtype as u8, &dims.iter().map(|&d| d as f64).collect::<Vec<_>>(), 0)?);
    }
    let attr = session.intern_attrs(op.id(), &call.words)?;
    session.infer(op.id(), call.forms, attr, &ids)
}

fn wrong_calls(op: &'static OpDef) -> Result<(), String> {
    let mut m = machine()?;
    let good = good(op)?;
    infer(&mut m, op, &good).map_err(|e| format!("the good call fails: {e}"))?;
    let with = |f: &dyn Fn(&mut Good)| {
        let mut bad = Good { forms: good.forms, types: good.types.clone(), words: good.words.clone() };
        f(&mut bad);
        bad
    };
    if !op.operands.is_empty() {
        let fewer = with(&|c| drop(c.types.pop()));
        // A list may be shorter.
        if good.types.len() == op.least_operands() {
            expect("a call without its last operand", infer(&mut m, op, &fewer), &[Code::Argument])?;
        }
    }
    if !op.variadic {
        let more = with(&|c| c.types.push((DType::F32, vec![2])));
        expect("a call with one operand more", infer(&mut m, op, &more), &[Code::Argument])?;
    }
    for (i, def) in op.operands.iter().enumerate().take(good.types.len()) {
        for (form, allowed) in [(1, def.weak), (2, def.weak), (3, def.weak), (4, def.optional)] {
            if !allowed {
                let bad = with(&|c| {
                    c.forms |= form << (3 * i);
                    c.types.remove(i);
                });
                expect(&format!("form {form} of operand {i}"), infer(&mut m, op, &bad), &[Code::Argument, Code::DType])?;
            }
        }
        let ruled = i >= op.dtype.first && i < op.dtype.last;
        for dtype in DType::all().filter(|&d| ruled && i < good.types.len() && !op.dtype.class.has(d)) {
            let bad = with(&|c| c.types[i].0 = dtype);
            expect(&format!("{dtype} for operand {i}"), infer(&mut m, op, &bad), &[Code::DType])?;
        }
    }
    if std::ptr::fn_addr_eq(op.shape, shape::broadcast as fn(&ferrotensor_ops::infer::ShapeCtx) -> _) && good.types.len() > 1
    {
        let bad = with(&|c| {
            c.types[0].1 = vec![2, 3];
            c.types[1].1 = vec![4];
        });
        expect("shapes [2, 3] and [4]", infer(&mut m, op, &bad), &[Code::Shape])?;
    }
    wrong_attributes(&mut m, op, &good)
}

/// Every attribute in turn out of range, and words that are no attributes.
fn wrong_attributes(m: &mut Machine, op: &OpDef, good: &Good) -> Result<(), String> {
    let call = |words: Vec<f64>| Good { forms: good.forms, types: good.types.clone(), words };
    expect("attribute words that go on", infer(m, op, &call([&good.words[..], &[1.0]].concat())), &[Code::Internal])?;
    let mut at = 0;
    for def in op.attrs {
        let len = match def.kind {
            AttrKind::Axes | AttrKind::Shape | AttrKind::NewShape => 1 + good.words[at].max(0.0) as usize,
            AttrKind::AxisPairs => {
                let first = good.words[at].max(0.0) as usize;
                2 + first + good.words[at + 1 + first].max(0.0) as usize
            }
            AttrKind::PerAxis(_) => 1 + good.words[at].max(0.0) as usize,
            AttrKind::Padding if good.words[at] < 0.0 => 1,
            AttrKind::Padding | AttrKind::Widths => 2 + 2 * good.words[at] as usize,
            AttrKind::Text => 1 + good.words[at] as usize,
            AttrKind::Items => 1 + 2 * good.words[at] as usize,
            _ => 1,
        };
        let replaced = |new: &[f64]| call([&good.words[..at], new, &good.words[at + len..]].concat());
        let argument = [Code::Argument];
        let broken: Vec<(Vec<f64>, &[Code])> = match (def.kind, def.name) {
            (AttrKind::Int(_), "axis" | "axis1" | "axis2" | "startAxis" | "endAxis") => {
                vec![(vec![99.0], &[Code::Index]), (vec![-99.0], &[Code::Index]), (vec![0.5], &argument)]
            }
            (AttrKind::OptAxis, "axis") => vec![(vec![99.0], &[Code::Index]), (vec![0.5], &argument)],
            (AttrKind::Int(_), "k") if op.name == "rot90" => vec![(vec![0.5], &argument), (vec![f64::NAN], &argument)],
            (AttrKind::Int(_), "n") if op.namespace == Namespace::Fft => {
                vec![(vec![0.0], &[Code::Shape]), (vec![-1.0], &[Code::Shape]), (vec![0.5], &argument)]
            }
            // Any integer but one whose size is none.
            (AttrKind::Int(_), "n") if op.namespace == Namespace::Linalg => {
                vec![(vec![0.5], &argument), (vec![1e300], &argument)]
            }
            (AttrKind::Int(_), "offset" | "ignoreIndex") => vec![(vec![0.5], &argument), (vec![1e300], &argument)],
            (AttrKind::Int(_), "k") if op.name == "diag" => vec![(vec![0.5], &argument), (vec![1e300], &argument)],
            (AttrKind::Int(_), "n" | "repeats") => {
                vec![(vec![-1.0], &argument), (vec![0.5], &argument), (vec![1e300], &argument)]
            }
            (AttrKind::Int(_), "k") => vec![(vec![-1.0], &argument), (vec![1e9], &argument), (vec![f64::NAN], &argument)],
            (AttrKind::Int(_), "groups") => {
                vec![(vec![0.0], &argument), (vec![-1.0], &argument), (vec![0.5], &argument), (vec![77.0], &[Code::Shape])]
            }
            (AttrKind::PerAxis(default), _) => {
                let mut broken: Vec<(Vec<f64>, &[Code])> = vec![
                    (vec![1.0, (default.least() - 1) as f64], &argument),
                    (vec![0.0], &[Code::Shape]),
                    (vec![1.0, 1.5], &argument),
                    (vec![4.0, 1.0, 1.0, 1.0, 1.0], &[Code::Shape]),
                ];
                if default == EachAxis::Required {
                    broken.extend([(vec![-1.0], &argument[..]), (vec![1.0, 9e15], &[Code::Shape])]);
                }
                broken
            }
            (AttrKind::Text, _) => {
                vec![(vec![1.0, 200.0], &argument), (vec![2.0, 105.0, 49.0], &argument), (vec![1.0, 0.5], &argument)]
            }
            (AttrKind::Padding | AttrKind::Widths, _) => vec![
                (vec![1.0, -1.0, 1.0, 0.0], &argument),
                (vec![1.0, 0.0, 1.0, 0.5], &argument),
                (vec![1.0, 0.0, 2.0, 0.0, 0.0], &argument),
                (vec![0.0, 0.0], &argument),
                (vec![4.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0], &[Code::Shape]),
                (vec![1.0, 9e15, 1.0, 9e15], &[Code::Shape]),
            ],
            (AttrKind::Int(_), _) => vec![(vec![-1.0], &[Code::Shape]), (vec![0.5], &argument), (vec![1e300], &argument)],
            (AttrKind::OptAxis, _) => vec![(vec![-1.0], &[Code::Shape]), (vec![0.5], &argument)],
            (AttrKind::Axes, "s") => {
                vec![(vec![1.0, 0.0], &[Code::Shape]), (vec![1.0, 0.5], &argument), (vec![7.0; 8], &argument)]
            }
            (AttrKind::Axes, "shift") => vec![(vec![1.0, 0.5], &argument), (vec![0.0], &argument)],
            // An axis may be rolled twice.
            (AttrKind::Axes, _) if op.name == "roll" => vec![(vec![1.0, 99.0], &[Code::Index]), (vec![1.0, 0.5], &argument)],
            (AttrKind::Axes, _) => {
                vec![(vec![1.0, 99.0], &[Code::Index]), (vec![1.0, 0.5], &argument), (vec![2.0, 0.0, 0.0], &[Code::Index])]
            }
            (AttrKind::Shape, _) => vec![
                (vec![1.0, -1.0], &[Code::Shape]),
                (vec![1.0, 1.5], &argument),
                (vec![2.0, 2f64.powi(40), 2f64.powi(40)], &[Code::Shape]),
            ],
            (AttrKind::NewShape, _) => vec![
                (vec![2.0, -1.0, -1.0], &[Code::Shape]),
                (vec![1.0, -2.0], &[Code::Shape]),
                (vec![1.0, 1e9 + 7.0], &[Code::Shape]),
            ],
            (AttrKind::AxisPairs, _) => {
                vec![(vec![1.0, 99.0, 1.0, 0.0], &[Code::Index]), (vec![1.0, 0.0, 0.0], &[Code::Shape])]
            }
            (AttrKind::Call, _) => vec![],
            (AttrKind::Items, _) => vec![
                (vec![9.0, 1.0, 0.0], &[Code::Internal]),
                (vec![1.0, 7.0, 0.0], &[Code::Internal]),
                (vec![1.0, 4.0, 99.0], &[Code::Index]),
                (vec![1.0, 2.0, -3.0], &[Code::Index]),
                (vec![1.0, 3.0, 99.0], &[Code::Index]),
                (vec![2.0, 3.0, 9e15, 5.0, 9e15], &[Code::Index]),
            ],
            (AttrKind::OptDType, _) => vec![
                (vec![15.0], &[Code::DType]),
                (vec![-1.0], &[Code::DType]),
                (vec![2.5], &[Code::DType]),
                (vec![1e9], &[Code::DType]),
            ],
            (AttrKind::Choice(_), _) => vec![(vec![-1.0], &argument), (vec![99.0], &argument)],
            // A tensor operand decides where the result is.
            (AttrKind::Device, _) if !good.types.is_empty() => vec![],
            (AttrKind::Device, _) => vec![(vec![7.0], &[Code::Device]), (vec![65536.0], &[Code::Device])],
            (AttrKind::Bool(_), _) => vec![(vec![0.5], &argument)],
            (AttrKind::Number(_), _) => vec![(vec![f64::NAN], &argument)],
        };
        for (new, codes) in broken {
            expect(&format!("{} = {new:?}", def.name), infer(m, op, &replaced(&new)), codes)?;
        }
        at += len;
    }
    Ok(())
}

fn made_up_numbers() -> Result<(), String> {
    let mut m = machine()?;
    let any = Code::ALL;
    let (id, tensor) = m.upload(&Array::from_slice(&[2], &[1f32, 2.0]).map_err(|e| e.message)?).map_err(|e| e.message)?;
    let add = ferrotensor_ops::find("add").map_or(0, |op| op.id());
    for type_id in [0, -1, i32::MIN, i32::MAX, id + 1] {
        expect("an unknown type", m.session().infer(add, 0, 0, &[type_id, id]), &any)?;
        expect("an unknown type in a program", m.run(&[0, type_id], &[], std::slice::from_ref(&tensor), &[0]), &any)?;
    }
    for op in [0, ferrotensor_ops::OPS.len() as u16 + 1, 1023, u16::MAX] {
        expect("an unknown op", m.session().infer(op, 0, 0, &[id]), &any)?;
        expect("attributes of an unknown op", m.session().intern_attrs(op, &[]), &any)?;
    }
    let sum = ferrotensor_ops::find("sum").map_or(0, |op| op.id());
    let own = m.session().intern_attrs(sum, &[-1.0, 0.0, f64::NAN]).map_err(|e| e.message)?;
    for attr in [-1, i32::MIN, i32::MAX, own + 1, own] {
        expect("attributes nobody interned for this op", m.session().infer(add, 0, attr, &[id, id]), &any)?;
    }
    for output in [-1, 1, i32::MAX] {
        expect("an unknown output", m.run(&[0, id], &[], std::slice::from_ref(&tensor), &[output]), &any)?;
    }
    expect("a tensor too few", m.run(&[0, id], &[], &[], &[0]), &any)?;
    expect("a tensor too many", m.run(&[0, id], &[], &[tensor.clone(), tensor.clone()], &[0]), &any)?;
    expect(
        "a parameter too few",
        m.run(&[0, id, head(add, 1 << 3, 1), 0, 0], &[], std::slice::from_ref(&tensor), &[1]),
        &any,
    )?;
    expect(
        "an undeclared parameter",
        m.run(&[0, id, head(add, 1 << 3, 0), 0, 0], &[], std::slice::from_ref(&tensor), &[1]),
        &any,
    )?;
    expect("a negative size", m.session().intern_type(DType::F32 as u8, &[-1.0], 0), &any)?;
    expect("a dtype nobody knows", m.session().intern_type(15, &[1.0], 0), &any)?;
    expect("a device nobody knows", m.session().intern_type(DType::F32 as u8, &[1.0], 9), &any)?;
    Ok(())
}

fn garbage(part: usize) -> Result<(), String> {
    let mut m = machine()?;
    let mut rng = Rng::named(&format!("garbage {part}"));
    let text = |e: Error| e.message;
    let (f, tensor) = m.upload(&Array::from_slice(&[2, 3], &[1f32; 6]).map_err(text)?).map_err(text)?;
    let (i, index) = m.upload(&Array::from_slice(&[3], &[0i32, 1, -1]).map_err(text)?).map_err(text)?;
    let (k, key) = m.upload(&Array::from_slice(&[2], &[7u32, 9]).map_err(text)?).map_err(text)?;
    let tensors = [tensor, index, key];
    // Attributes of every row, good ones: garbage shall get past the first checks.
    let mut attrs = vec![0];
    for op in &ferrotensor_ops::OPS {
        if let Ok(call) = good(op) {
            attrs.push(m.session().intern_attrs(op.id(), &call.words).map_err(text)?);
        }
    }
    let (mut refused, mut ran) = (0u64, 0u64);
    for n in 0..GARBAGE / 4 {
        let mut words: Vec<i32> = if n % 8 == 0 { vec![] } else { vec![0, f, 0, i, 0, k] };
        for _ in 0..rng.below(5) {
            if rng.below(6) == 0 {
                words.push(rng.bits() as i32);
                continue;
            }
            let op = &ferrotensor_ops::OPS[rng.below(ferrotensor_ops::OPS.len())];
            let forms = if rng.below(3) == 0 { rng.bits() as u32 & 0x7fff } else { 0 };
            let numbers = if rng.below(4) == 0 { rng.below(128) as i32 } else { op.params.len() as i32 };
            words.push(head(op.id(), forms, numbers as usize));
            words.push(if rng.below(20) == 0 { rng.bits() as i32 } else { attrs[rng.below(attrs.len())] });
            let operands = if op.variadic {
                words.push(rng.below(4) as i32);
                3
            } else {
                op.operands.len()
            };
            words.extend((0..operands).map(|_| if rng.below(30) == 0 { rng.bits() as i32 } else { rng.below(5) as i32 }));
        }
        if rng.below(5) == 0 && !words.is_empty() {
            let at = rng.below(words.len());
            words[at] ^= 1 << rng.below(32);
        }
        if rng.below(6) == 0 {
            words.truncate(rng.below(words.len() + 1));
        }
        let params: Vec<u64> = (0..rng.below(6))
            .map(|_| if rng.below(2) == 0 { rng.bits() } else { (rng.below(4) as f64).to_bits() })
            .collect();
        let inputs = &tensors[..if n % 8 == 0 { rng.below(4) } else { 3 }];
        let outputs: Vec<i32> = (0..rng.below(3)).map(|_| rng.below(6) as i32).collect();
        let run = catch_unwind(AssertUnwindSafe(|| match m.run(&words, &params, inputs, &outputs) {
            Ok(tensors) => tensors.iter().map(|t| read(t).map(drop)).collect::<Result<Vec<_>>>().map(drop),
            Err(e) => Err(e),
        }));
        match run {
            Err(_) => return Err(format!("a panic on words {words:?} params {params:?} outputs {outputs:?}")),
            Ok(Err(e)) if e.message.contains("panicked") => {
                return Err(format!("{e}: words {words:?} params {params:?} outputs {outputs:?}"));
            }
            Ok(Err(e)) if e.message.is_empty() => return Err("an error without words".into()),
            Ok(Err(_)) => refused += 1,
            Ok(Ok(())) => ran += 1,
        }
        if n % 1000 == 999 {
            // The programs are all different: their schedules would only fill the cache.
            m.session().set_config(Default::default());
        }
    }
    if refused * 20 < (refused + ran) || ran * 50 < (refused + ran) {
        return Err(format!("{refused} refused and {ran} ran: the garbage is too good or too bad to test anything"));
    }
    Ok(())
}

/// One program with a call that fails by its values, what depends on it, and what does not.
fn poison(device: Device, name: &str, code: Code) -> Result<(), String> {
    let text = |e: Error| e.message;
    for fusion in [true, false] {
        let mut m = Machine::new(device, fusion)?;
        let op = ferrotensor_ops::find(name).ok_or("no such row")?;
        let id = |n: &str| ferrotensor_ops::find(n).map_or(0, |op| op.id() as i32);
        let zeros = Array::from_slice(&[3, 3], &[0f32; 9]).map_err(text)?;
        let (x, data) = m.place(&zeros, Placement::Contiguous, &[3, 3]).map_err(text)?;
        let (i, indices) = m.upload(&Array::from_slice(&[2], &[0i32, 3]).map_err(text)?).map_err(text)?;
        let (u, updates) = m.upload(&Array::from_slice(&[2, 3], &[1f32; 6]).map_err(text)?).map_err(text)?;
        // Attribute words and slots of operands; of a list, their number comes first.
        let (words, operands): (&[f64], &[i32]) = match name {
            "take" => (&[0.0], &[0, 1]),
            "scatterAdd" => (&[0.0], &[0, 1, 2]),
            "segmentSum" => (&[3.0], &[2, 1]),
            "at" => (&[2.0, 4.0, 1.0, 3.0, 1.0], &[2, 0, 1]),
            "withAt" => (&[2.0, 4.0, 1.0, 3.0, 1.0], &[3, 0, 2, 1]),
            _ => (&[], &[0, 0]),
        };
        let attr = m.session().intern_attrs(op.id(), words).map_err(text)?;
        // Slots: 0 data, 1 indices, 2 updates, 3 the failing call, 4 exp(3), 5 4 + 4, 6 exp(2), 7 6 + 6.
        let mut program = vec![0, x, 0, i, 0, u, op.id() as i32, attr];
        program.extend(operands);
        program.extend([id("exp"), 0, 3, id("add"), 0, 4, 4, id("exp"), 0, 2, id("add"), 0, 6, 6]);
        let outputs = m.run(&program, &[], &[data, indices, updates.clone()], &[3, 5, 7]).map_err(text)?;
        for (n, bad) in outputs[..2].iter().enumerate() {
            for _ in 0..2 {
                expect(&format!("output {n}, fusion {fusion}"), read(bad), &[code])?;
            }
            let mut out = vec![0; bad.len() * 4];
            expect("read after wait", bad.read(&mut out), &[code])?;
            let message = read(bad).map_err(text).err().unwrap_or_default();
            if !message.contains(op.name) {
                return Err(format!("the message '{message}' does not name {}", op.name));
            }
        }
        let good = read(&outputs[2]).map_err(|e| format!("an independent output failed too: {e}"))?;
        if good
            .chunks_exact(4)
            .any(|b| (f32::from_le_bytes([b[0], b[1], b[2], b[3]]) - 2.0 * std::f32::consts::E).abs() > 1e-5)
        {
            return Err("an independent output is wrong".into());
        }
        // What is computed from a failed tensor fails the same way, in another program; its other inputs are unharmed.
        let dims: Vec<f64> = outputs[1].dims().iter().map(|&d| d as f64).collect();
        let number = m.device();
        let ty = m.session().intern_type(DType::F32 as u8, &dims, number).map_err(text)?;
        let next = m
            .run(&[0, ty, 0, u, id("exp"), 0, 0, id("exp"), 0, 1], &[], &[outputs[1].clone(), updates.clone()], &[2, 3])
            .map_err(text)?;
        expect("a later program on a failed tensor", read(&next[0]), &[code])?;
        read(&next[1]).map_err(|e| format!("a later independent output failed: {e}"))?;
        read(&updates).map_err(|e| format!("an input was harmed: {e}"))?;
    }
    Ok(())
}

/// Whether a machine reads a value where an index is out of range.
///
/// # Errors
/// What keeps the call from being made.
pub fn takes_bad_index(m: &mut Machine) -> Result<bool, String> {
    let mut call = || {
        let (x, data) = m.upload(&Array::from_slice(&[3], &[1f32, 2.0, 3.0])?)?;
        let (i, indices) = m.upload(&Array::from_slice(&[1], &[3i32])?)?;
        let take = ferrotensor_ops::find("take").map_or(0, |op| op.id());
        let attr = m.session().intern_attrs(take, &[0.0])?;
        m.run(&[0, x, 0, i, take as i32, attr, 0, 1], &[], &[data, indices], &[2])
    };
    call().map(|outputs| read(&outputs[0]).is_ok()).map_err(|e| e.message)
}

/// A bad index into rows without elements is as wrong as any other, though nothing is read by it.
fn index_of_empty_rows(device: Device) -> Result<(), String> {
    let text = |e: Error| e.message;
    let mut m = Machine::new(device, true)?;
    let (x, data) = m.upload(&Array::from_slice::<f32>(&[3, 0], &[]).map_err(text)?).map_err(text)?;
    for (bad, index) in [(false, -3i32), (true, -4), (false, 2), (true, 3)] {
        let (i, indices) = m.upload(&Array::from_slice(&[1], &[index]).map_err(text)?).map_err(text)?;
        let (u, updates) = m.upload(&Array::from_slice::<f32>(&[1, 0], &[]).map_err(text)?).map_err(text)?;
        for (name, operands) in [("take", &[0, 1][..]), ("scatterAdd", &[0, 1, 2])] {
            let op = ferrotensor_ops::find(name).ok_or("no such row")?;
            let attr = m.session().intern_attrs(op.id(), &[0.0]).map_err(text)?;
            let mut program = vec![0, x, 0, i, 0, u, op.id() as i32, attr];
            program.extend(operands);
            let inputs = [data.clone(), indices.clone(), updates.clone()];
            let got = m.run(&program, &[], &inputs, &[3]).and_then(|t| read(&t[0]));
            match bad {
                true => expect(&format!("{name}: index {index} of 3 empty rows"), got, &[Code::Index])?,
                false => drop(got.map_err(|e| format!("{name}: index {index} of 3 empty rows gives {e}"))?),
            }
        }
    }
    Ok(())
}

fn slice_out_of_range(device: Device) -> Result<(), String> {
    let text = |e: Error| e.message;
    let mut m = Machine::new(device, true)?;
    let (x, tensor) = m.upload(&Array::from_slice(&[5], &[0f32; 5]).map_err(text)?).map_err(text)?;
    let slice = ferrotensor_ops::find("at").ok_or("no such row")?;
    for (words, numbers) in [
        (vec![1.0, 1.0, 0.0], vec![5.0]),
        (vec![1.0, 1.0, 0.0], vec![-1.0]),
        (vec![1.0, 1.0, 0.0], vec![0.5]),
        (vec![1.0, 1.0, 0.0], vec![f64::NAN]),
        (vec![1.0, 1.0, 0.0], vec![1e300]),
        (vec![1.0, 2.0, 3.0], vec![3.0, 1.0]),
        (vec![1.0, 2.0, 3.0], vec![1.0, -1.0]),
        (vec![1.0, 2.0, 3.0], vec![0.0, 9e18]),
        (vec![1.0, 2.0, 2.0], vec![-9e18, 9e18]),
    ] {
        let attr = m.session().intern_attrs(slice.id(), &words).map_err(text)?;
        let head = head(slice.id(), 0, numbers.len());
        let params: Vec<u64> = numbers.iter().map(|n: &f64| n.to_bits()).collect();
        let got = m.run(&[0, x, head, attr, 1, 0], &params, std::slice::from_ref(&tensor), &[1]).and_then(|t| read(&t[0]));
        expect(&format!("slice {words:?} at {numbers:?}"), got, &[Code::Index])?;
    }
    Ok(())
}

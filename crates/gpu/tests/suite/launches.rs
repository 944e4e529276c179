//! Single kernels on a device, and beside the reference.

use crate::host::Device;
use ferrotensor_core::backend::{Backend, Batch, Launch, Operand, Outcome, Ticket};
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::reference::{self, Array, Scalar};
use ferrotensor_core::{DType, Result, blocks};
use smallvec::SmallVec;
use std::time::{Duration, Instant};

/// Elements at random, a third of them small numbers.
pub fn elements(dtype: DType, count: usize, seed: u64) -> Vec<u8> {
    let mut next = super::random::bits(seed);
    (0..count)
        .flat_map(|n| {
            let small = |bits: u64| ((bits % 41) as f64 - 20.0) / 4.0;
            let bytes = if n % 3 == 0 {
                let (re, im) = (small(next() >> 9).into(), small(next() >> 9).into());
                let value = if dtype.is_complex() { Scalar::Complex(re, im) } else { Scalar::Float(re) };
                value.encode(dtype)
            } else if dtype == DType::Bool {
                [(next() >> 20) as u8 & 1; 16]
            } else {
                (next() as u128 | (next() as u128) << 64).to_le_bytes()
            };
            bytes.into_iter().take(dtype.bytes())
        })
        .collect()
}

/// The bytes of an array, those of NaN all alike.
pub fn canonical(array: &Array) -> Vec<u8> {
    let (dtype, size) = (array.dtype(), array.dtype().bytes());
    let parts = if dtype.is_complex() { 2 } else { 1 };
    let real = dtype.info().real;
    let one = |part: &[u8]| if Scalar::decode(real, part).is_nan() { vec![0xff; part.len()] } else { part.to_vec() };
    array.bytes().chunks_exact(size / parts).flat_map(one).collect()
}

/// A buffer of `bytes` seen through a layout.
pub fn place(device: &Device, bytes: &[u8], layout: Layout) -> Result<Operand> {
    let buffer = device.alloc(bytes.len().max(1))?;
    device.upload(bytes, &buffer, 0)?;
    Ok(Operand { buffer, layout })
}

/// What becomes of a launch, at most 60 seconds later.
pub fn outcome(device: &Device, launch: Launch) -> Outcome {
    match device.submit(Batch::new(vec![launch])) {
        Ticket::Done(outcome) => outcome,
        Ticket::Pending(ticket) => device
            .wait(ticket, Instant::now() + Duration::from_secs(60))
            .expect("the device hangs, or the ticket was answered"),
    }
}

/// The results of one launch on the device.
pub fn run(
    device: &Device,
    kernel: &Kernel,
    inputs: &[(Vec<u8>, Layout)],
    dims: &[usize],
    params: &[u64],
) -> Result<Vec<Array>> {
    run_to(device, kernel, inputs, &vec![dims; kernel.outputs().len()], params)
}

/// The same with outputs of these shapes.
pub fn run_to(
    device: &Device,
    kernel: &Kernel,
    inputs: &[(Vec<u8>, Layout)],
    dims: &[&[usize]],
    params: &[u64],
) -> Result<Vec<Array>> {
    let prepared = device.prepare(kernel)?;
    let inputs = inputs
        .iter()
        .map(|(bytes, layout)| place(device, bytes, layout.clone()))
        .collect::<Result<SmallVec<[Operand; 3]>>>()?;
    let outputs = kernel
        .outputs()
        .iter()
        .zip(dims)
        .map(|(d, dims)| {
            let layout = Layout::dense(dims)?;
            place(device, &vec![0xA5; layout.len() * d.bytes()], layout)
        })
        .collect::<Result<SmallVec<[Operand; 1]>>>()?;
    let launch = Launch { kernel: prepared, inputs, outputs: outputs.clone(), params: params.iter().copied().collect() };
    let outcome = outcome(device, launch);
    assert!(outcome.lost.is_none(), "{:?}", outcome.lost);
    if let Some((_, error)) = outcome.failed.into_iter().next() {
        return Err(error);
    }
    let read = |(o, &d): (&Operand, &DType)| {
        let mut bytes = vec![0; o.layout.len() * d.bytes()];
        device.download(&o.buffer, 0, &mut bytes)?;
        Array::new(d, o.layout.dims(), bytes)
    };
    outputs.iter().zip(&kernel.outputs()).map(read).collect()
}

/// The device's results against the reference's.
pub fn compare(device: &Device, kernel: &Kernel, inputs: &[(Vec<u8>, Layout)], dims: &[usize], params: &[u64], what: &str) {
    let dense: Vec<Array> =
        inputs.iter().zip(kernel.inputs()).map(|((bytes, layout), d)| Array::gather(bytes, layout, d).unwrap()).collect();
    let shapes = vec![dims; kernel.outputs().len()];
    let want = reference::run(kernel, &dense, &shapes, params).unwrap();
    let found = run(device, kernel, inputs, dims, params).unwrap_or_else(|e| panic!("{what}: {e:?}"));
    for (w, f) in want.iter().zip(&found) {
        let (a, b) = (canonical(w), canonical(f));
        let size = w.dtype().bytes();
        if let Some(i) = a.chunks(size).zip(b.chunks(size)).position(|(x, y)| x != y) {
            let of = |bytes: &[u8]| Scalar::decode(w.dtype(), &bytes[i * size..]);
            let given: Vec<Scalar> = if dense.iter().all(|x| x.dims() == dims) {
                dense.iter().map(|x| Scalar::decode(x.dtype(), &x.bytes()[i * x.dtype().bytes()..])).collect()
            } else {
                Vec::new()
            };
            panic!("{what}: element {i} is {:?}, not {:?}; of {given:?}", of(&b), of(&a));
        }
    }
}

/// A shape and ways to lie in it: turned, with gaps and backwards, spread out.
pub fn layouts(n: usize) -> (Vec<usize>, Layout) {
    let dims = vec![3, 5, 7];
    let layout = match n % 4 {
        0 => Layout::dense(&dims),
        1 => Layout::dense(&[7, 5, 3]).map(|l| l.permute(&[2, 1, 0])),
        2 => Layout::dense(&[3, 5, 15]).map(|l| l.slice(2, 14, -2, 7).flip(0)),
        _ => Layout::dense(&[5, 1]).map(|l| l.broadcast(&dims)),
    };
    (dims, layout.unwrap())
}

/// What is farther from the reference than a kernel that adds `inner` products may be (`ferrotensor_core::blocks`) in what it adds in, and the last roundings; nothing for integers.
pub fn difference(kernel: &Kernel, inputs: &[Array], found: &Array, inner: usize) -> Option<String> {
    let dtype = found.dtype();
    let want = &reference::run(kernel, inputs, &[found.dims()], &[]).unwrap()[0];
    let sizes = reference::magnitude(kernel, inputs, &[found.dims()], &[]).unwrap().unwrap();
    // Units in the last place of 1, and smallest numbers.
    let precision = |d: DType| match d.info().real {
        DType::F16 => (2f64.powi(-10), 2f64.powi(-24)),
        DType::BF16 => (2f64.powi(-7), 2f64.powi(-133)),
        DType::F32 => (2f64.powi(-23), 2f64.powi(-149)),
        _ => (2f64.powi(-52), 5e-324),
    };
    let ((eps, tiny), (last, least)) = (precision(dtype.compute()), precision(dtype));
    for (n, (w, f)) in want.scalars().zip(found.scalars()).enumerate() {
        let distance = match (w, f) {
            (Scalar::Float(x), Scalar::Float(y)) => (x.hi - y.hi).abs(),
            (Scalar::Complex(a, b), Scalar::Complex(c, d)) => (a.hi - c.hi).hypot(b.hi - d.hi),
            _ if w == f => continue,
            _ => f64::INFINITY,
        };
        let roundings = blocks::roundings(dtype.compute(), inner) as f64;
        let whole = roundings * eps / 2.0 * sizes[n] + (inner + 1) as f64 * 2.0 * tiny;
        let roundings = if dtype.compute() == dtype { 0.5 } else { 1.0 };
        // Equal infinities, and NaN where NaN belongs, are no distance.
        let same = w == f || w.is_nan() && f.is_nan();
        let allowed = whole + roundings * (last * w.magnitude().hi + least);
        if !same && (distance.is_nan() || distance > allowed) {
            return Some(format!("element {n} is {f:?}, not {w:?}: {distance:e} beside {whole:e}"));
        }
    }
    None
}

/// A launch of a kernel that adds `inner` products, within its bound.
pub fn within(device: &Device, kernel: &Kernel, inputs: &[(Vec<u8>, Layout)], dims: &[usize], inner: usize, what: &str) {
    let dense: Vec<Array> =
        inputs.iter().zip(kernel.inputs()).map(|((bytes, layout), d)| Array::gather(bytes, layout, d).unwrap()).collect();
    let found = run(device, kernel, inputs, dims, &[]).unwrap_or_else(|e| panic!("{what}: {e:?}"));
    if let Some(difference) = difference(kernel, &dense, &found[0], inner) {
        panic!("{what}: {difference}");
    }
}

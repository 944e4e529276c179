//! What the backend promises beyond kernels: support is derived, broken launches are errors, abandoned work stops.

use crate::harness::tiers;
use ferrotensor_core::backend::{Backend, Batch, Launch, Operand, Ticket};
use ferrotensor_core::kernel::{Combine, Kernel, Map, Monoid, Reduce, Routine, Sort, SortOutputs};
use ferrotensor_core::scalar::{Builder, Op};
use ferrotensor_core::{Code, DType, Error, Layout};
use ferrotensor_cpu::CpuBackend;
use std::sync::atomic::Ordering;

fn negation() -> Kernel {
    let mut b = Builder::new();
    let x = b.input(DType::F32);
    let y = b.unary(Op::Neg, x);
    Kernel::Map(Map { program: b.finish(&[y]) })
}

#[test]
fn support_is_what_prepare_says() {
    let backend = CpuBackend::new(tiers()[0]).unwrap();
    let sort = |dtype| Kernel::Sort(Sort { dtype, descending: false, outputs: SortOutputs::Values });
    let largest = |acc| {
        Kernel::Reduce(Reduce { axes: 1, combine: Combine::Value(Monoid::Max), input: acc, acc, pre: None, post: None })
    };
    let cases = [
        (negation(), true),
        (sort(DType::BF16), true),
        (sort(DType::C64), false),
        (largest(DType::Bool), true),
        (largest(DType::C128), false),
        (Kernel::Routine(Routine::Qr(DType::F32)), false),
    ];
    for (kernel, supported) in cases {
        assert_eq!(backend.supports(&kernel).is_ok(), supported, "{kernel:?}");
        let prepared = backend.prepare(&kernel);
        assert_eq!(prepared.is_ok(), supported);
        assert!(prepared.err().is_none_or(|e| e.code == Code::Unsupported));
    }
}

fn launch(backend: &CpuBackend, dims: &[usize], operands: usize) -> Launch {
    let layout = Layout::dense(dims).unwrap();
    let operand = || Operand { buffer: backend.alloc(4 * layout.len()).unwrap(), layout: layout.clone() };
    Launch {
        kernel: backend.prepare(&negation()).unwrap(),
        inputs: (0..operands).map(|_| operand()).collect(),
        outputs: std::iter::once(operand()).collect(),
        params: Default::default(),
    }
}

#[test]
fn a_broken_launch_is_an_error_and_the_others_run() {
    let backend = CpuBackend::new(tiers()[0]).unwrap();
    let mut bad_shape = launch(&backend, &[4], 1);
    bad_shape.inputs[0].layout = Layout::dense(&[3]).unwrap();
    let good = launch(&backend, &[4], 1);
    let (input, output) = (good.inputs[0].buffer.clone(), good.outputs[0].buffer.clone());
    backend.upload(bytemuck::cast_slice(&[1f32, -2.0, 3.0, 0.0]), &input, 0).unwrap();
    let batch = Batch::new(vec![launch(&backend, &[4], 2), bad_shape, good]);
    let Ticket::Done(outcome) = backend.submit(batch) else { panic!("the CPU runs batches at once") };
    let failed: Vec<(usize, Code)> = outcome.failed.iter().map(|(i, e)| (*i, e.code)).collect();
    assert_eq!(failed, [(0, Code::Internal), (1, Code::Internal)]);
    let mut values = [0f32; 4];
    let bytes = bytemuck::bytes_of_mut(&mut values);
    backend.download(&output, 0, bytes).unwrap();
    assert_eq!(backend.download(&output, 8, bytes).unwrap_err().code, Code::Internal);
    assert_eq!(values, [-1.0, 2.0, -3.0, -0.0]);
}

#[test]
fn an_abandoned_batch_is_lost() {
    let backend = CpuBackend::new(tiers()[0]).unwrap();
    let batch = Batch::new(vec![launch(&backend, &[4], 1)]);
    batch.abandoned.store(true, Ordering::Relaxed);
    let Ticket::Done(outcome) = backend.submit(batch) else { panic!("the CPU runs batches at once") };
    assert!(outcome.lost.is_some());
}

#[test]
fn memory_is_counted_while_buffers_live() {
    let backend = CpuBackend::new(tiers()[0]).unwrap();
    let buffer = backend.alloc(5 << 20).unwrap();
    assert_eq!(backend.mem().used, 5 << 20);
    drop(buffer);
    assert_eq!(backend.mem().used, 0);
    // Miri ends where a system would refuse.
    if !cfg!(miri) {
        assert_eq!(backend.alloc(usize::MAX / 2).err().unwrap().code, Code::OutOfMemory);
    }
}

#[test]
fn the_host_works_where_operands_lie_unless_an_output_overlaps_one() {
    let backend = CpuBackend::new(tiers()[0]).unwrap();
    let (x, y) = (backend.alloc(16).unwrap(), backend.alloc(16).unwrap());
    backend.upload(&[7; 16], &x, 0).unwrap();
    let mut copy = |inputs: &[&[u8]], outputs: &mut [&mut [u8]]| {
        outputs[0].copy_from_slice(inputs[0]);
        Ok(())
    };
    assert_eq!(backend.in_place(&[(&x, 4..12)], &[(&y, 8..16)], &mut copy), Some(Ok(())));
    let mut bytes = [0; 8];
    backend.download(&y, 8, &mut bytes).unwrap();
    assert_eq!(bytes, [7; 8]);
    assert_eq!(backend.in_place(&[(&x, 0..8)], &[(&x, 8..16)], &mut copy), Some(Ok(())), "parts of one buffer");
    assert_eq!(backend.in_place(&[(&x, 0..8)], &[(&x, 7..15)], &mut copy), None, "a shared byte");
    assert_eq!(backend.in_place(&[(&x, 0..8)], &[(&y, 0..8), (&y, 4..12)], &mut copy), None, "outputs that overlap");
    assert_eq!(backend.in_place(&[(&x, 0..8)], &[(&y, 9..17)], &mut copy), None, "bytes outside of the buffer");
    let failed = Err(Error::internal("no"));
    assert_eq!(backend.in_place(&[], &[(&y, 0..0)], &mut |_, _| failed.clone()), Some(failed.clone()));
}

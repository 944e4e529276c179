//! Programs through a session on the CPU: values, views, fusion, errors, memory.

use crate::support::{Arg, Program, cpu, read, upload, upload_i32};
use ferrotensor_core::DType;
use ferrotensor_core::error::Code;
use ferrotensor_engine::{Config, Mode, Session, Strict};
use std::sync::mpsc::channel;
use std::thread;

#[test]
fn a_chain_fuses_into_one_launch_and_keeps_its_bits() {
    let mut results = Vec::new();
    for fusion in [true, false] {
        let mut s = cpu();
        s.set_config(Config { fusion, strict: Strict::Throw });
        let x = upload(&mut s, &(0..5000).map(|i| i as f32 * 0.01 - 20.0).collect::<Vec<_>>(), &[5000]);
        let mut p = Program::default();
        let a = p.input(&mut s, &x);
        let b = p.op(&mut s, "multiply", &[a, Arg::Number(0.1)], &[]);
        let c = p.op(&mut s, "exp", &[b], &[]);
        let d = p.op(&mut s, "add", &[c, a], &[]);
        let out = p.run(&mut s, &[d], Mode::Sync).unwrap();
        results.push(read(&out[0]).iter().map(|v| v.to_bits()).collect::<Vec<_>>());
        assert_eq!(s.stats().launches, if fusion { 1 } else { 3 });
        assert_eq!(s.stats().ops, 3);
    }
    assert_eq!(results[0], results[1]);
}

#[test]
fn what_is_computed_twice_is_computed_once() {
    for fusion in [true, false] {
        let mut s = cpu();
        s.set_config(Config { fusion, strict: Strict::Throw });
        let x = upload(&mut s, &[3.0, 1.0, 2.0, 6.0, 5.0, 4.0], &[2, 3]);
        let mut p = Program::default();
        let a = p.input(&mut s, &x);
        let mut norm = |s: &mut _| {
            let t = p.op(s, "matrixTranspose", &[a], &[]);
            let sorted = p.op(s, "sort", &[t], &[1.0, 0.0]);
            p.op(s, "cumulativeSum", &[sorted], &[0.0, f64::NAN, 0.0])
        };
        let (first, second) = (norm(&mut s), norm(&mut s));
        // Constants that are equal but for their shape.
        let ones = [[2.0, 3.0, 0.0], [3.0, 2.0, 0.0]]
            .map(|[m, n, d]| p.op(&mut s, "zeros", &[], &[2.0, m, n, DType::F32 as u8 as f64, d]));
        let sum = p.op(&mut s, "add", &[first, second], &[]);
        let out = p.run(&mut s, &[first, second, sum, ones[0], ones[1]], Mode::Sync).unwrap();
        assert_eq!((out[3].dims(), out[4].dims()), (&[2, 3][..], &[3, 2][..]));
        let (first, second) = (read(&out[0]), read(&out[1]));
        assert_eq!(first, second);
        assert_eq!(read(&out[2]), first.iter().map(|v| v + v).collect::<Vec<_>>());
        assert_eq!(s.stats().launches, if fusion { 5 } else { 7 }, "fusion {fusion}");
    }
}

#[test]
fn the_same_program_with_other_numbers_is_scheduled_once() {
    let mut s = cpu();
    let x = upload(&mut s, &[1.0, 2.0], &[2]);
    for i in 0..10 {
        let mut p = Program::default();
        let a = p.input(&mut s, &x);
        let b = p.op(&mut s, "multiply", &[a, Arg::Number(i as f64)], &[]);
        let out = p.run(&mut s, &[b], Mode::Sync).unwrap();
        assert_eq!(read(&out[0]), [i as f32, 2.0 * i as f32]);
    }
    assert_eq!(s.stats().schedules, 1);
}

#[test]
fn views_share_memory_and_reshape_copies_only_when_it_must() {
    let mut s = cpu();
    let x = upload(&mut s, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], &[2, 3]);
    let mut p = Program::default();
    let a = p.input(&mut s, &x);
    let flat = p.op(&mut s, "reshape", &[a], &[1.0, 6.0]);
    let t = p.op(&mut s, "matrixTranspose", &[a], &[]);
    let tf = p.op(&mut s, "reshape", &[t], &[1.0, 6.0]);
    let picked = p.op_with(&mut s, "at", &[a], &[2.0, 1.0, 0.0, 2.0, 2.0], &[1.0, 2.0, -2.0]);
    let out = p.run(&mut s, &[flat, t, tf, picked], Mode::Sync).unwrap();
    assert_eq!(read(&out[0]), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(read(&out[1]), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    assert_eq!(read(&out[2]), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    assert_eq!(read(&out[3]), [5.0, 3.0]);
    assert_eq!(s.stats().launches, 1, "only the transposed reshape copies");
}

#[test]
fn a_program_of_dense_tensors_is_scheduled_anew_for_others() {
    let mut s = cpu();
    let x = upload(&mut s, &[0.0, 1.0, 2.0, 3.0], &[2, 2]);
    let mut p = Program::default();
    let a = p.input(&mut s, &x);
    let turned = p.op(&mut s, "matrixTranspose", &[a], &[]);
    let turned = p.run(&mut s, &[turned], Mode::Sync).unwrap().remove(0);
    for (tensor, flat) in [(&x, [0.0, 1.0, 2.0, 3.0]), (&turned, [0.0, 2.0, 1.0, 3.0]), (&x, [0.0, 1.0, 2.0, 3.0])] {
        let mut p = Program::default();
        let a = p.input(&mut s, tensor);
        let reshaped = p.op(&mut s, "reshape", &[a], &[1.0, 4.0]);
        assert_eq!(read(&p.run(&mut s, &[reshaped], Mode::Sync).unwrap()[0]), flat);
    }
}

#[test]
fn index_errors_poison_what_depends_on_them_and_nothing_else() {
    let mut s = cpu();
    let x = upload(&mut s, &[1.0, 2.0, 3.0], &[3]);
    let bad = upload_i32(&mut s, &[0, 7], &[2]);
    let mut p = Program::default();
    let (a, i) = (p.input(&mut s, &x), p.input(&mut s, &bad));
    let taken = p.op(&mut s, "take", &[a, i], &[f64::NAN]);
    let after = p.op(&mut s, "exp", &[taken], &[]);
    let good = p.op(&mut s, "square", &[a], &[]);
    for mode in [Mode::Sync, Mode::Async] {
        let out = p.run(&mut s, &[after, good], mode).unwrap();
        let error = out[0].wait().unwrap_err();
        assert_eq!(error.code, Code::Index);
        assert!(error.message.starts_with("take: "), "{}", error.message);
        assert_eq!(out[0].wait().unwrap_err(), error, "the same at every read");
        assert_eq!(read(&out[1]), [1.0, 4.0, 9.0]);
        // A later program that uses the failed tensor fails with the same error.
        let mut q = Program::default();
        let f = q.input(&mut s, &out[0]);
        let g = q.op(&mut s, "negative", &[f], &[]);
        let later = q.run(&mut s, &[g], mode).unwrap();
        assert_eq!(later[0].wait().unwrap_err(), error);
    }
}

#[test]
fn singular_matrices_are_errors_of_the_read() {
    let mut s = cpu();
    let (a, b) = (upload(&mut s, &[1.0, 2.0, 2.0, 4.0], &[2, 2]), upload(&mut s, &[1.0, 1.0], &[2]));
    let mut p = Program::default();
    let (x, y) = (p.input(&mut s, &a), p.input(&mut s, &b));
    let z = p.op(&mut s, "linalg.solve", &[x, y], &[]);
    let out = p.run(&mut s, &[z], Mode::Sync).unwrap();
    assert_eq!(out[0].wait().unwrap_err().code, Code::LinAlg);
}

#[test]
fn queued_programs_see_each_others_results() {
    let mut s = cpu();
    let n = 1 << 20;
    let mut x = upload(&mut s, &vec![1.0; n], &[n]);
    for _ in 0..200 {
        let mut p = Program::default();
        let a = p.input(&mut s, &x);
        let b = p.op(&mut s, "add", &[a, Arg::Number(1.0)], &[]);
        x = p.run(&mut s, &[b], Mode::Async).unwrap().remove(0);
    }
    assert!(read(&x).iter().all(|&v| v == 201.0));
    assert!(s.stats().inline < 200, "large programs go to the executor");
}

#[test]
fn whoever_is_woken_by_the_end_of_a_program_can_free_its_memory() {
    let mut s = cpu();
    let n = 1 << 20;
    let x = upload(&mut s, &vec![1.0; n], &[n]);
    let live = s.engine().live_bytes();
    let mut p = Program::default();
    let a = p.input(&mut s, &x);
    let b = p.op(&mut s, "exp", &[a], &[]);
    let here = thread::current().id();
    let mut woken = 0;
    while woken < 20 {
        // Whoever waits for the first program holds the executor until somebody waits for the second: unless the first was done
        // before that, and nobody was woken.
        let held = p.run(&mut s, &[b], Mode::Async).unwrap().remove(0);
        let (go, gate) = channel();
        held.on_ready(Box::new(move || {
            if thread::current().id() != here {
                gate.recv().unwrap();
            }
        }));
        let out = p.run(&mut s, &[b], Mode::Async).unwrap().remove(0);
        let (engine, (sender, left)) = (s.engine().clone(), channel());
        let storage = out.downgrade();
        out.on_ready(Box::new(move || {
            let gone = storage.is_gone();
            sender.send((gone, engine.live_bytes(), thread::current().id())).unwrap();
        }));
        drop((held, out));
        let _ = go.send(());
        let (gone, bytes, thread) = left.recv().unwrap();
        if thread != here {
            assert_eq!((gone, bytes), (true, live));
            woken += 1;
        }
    }
}

#[test]
fn the_budget_refuses_and_nothing_is_lost() {
    let mut s = cpu();
    let x = upload(&mut s, &vec![1.0; 1 << 20], &[1 << 20]);
    let live = s.engine().live_bytes();
    s.engine().set_limit(live + (1 << 20));
    let mut p = Program::default();
    let a = p.input(&mut s, &x);
    let b = p.op(&mut s, "add", &[a, Arg::Number(1.0)], &[]);
    assert_eq!(p.run(&mut s, &[b], Mode::Sync).err().map(|e| e.code), Some(Code::OutOfMemory));
    let total = p.op(&mut s, "sum", &[b], &[-1.0, 0.0, f64::NAN]);
    let out = p.run(&mut s, &[total], Mode::Sync).unwrap();
    assert_eq!(read(&out[0]), [2.0 * (1 << 20) as f32], "a fused sum needs no temporary");
    s.engine().set_limit(usize::MAX);
    assert!(p.run(&mut s, &[b], Mode::Sync).is_ok());
}

#[test]
fn copies_of_weights_are_cached_memory_under_the_budget() {
    let mut s = cpu();
    const N: usize = 1024;
    let weights = upload(&mut s, &vec![0.5; N * N], &[N, N]);
    let rows = upload(&mut s, &vec![2.0; 4 * N], &[4, N]);
    let mut p = Program::default();
    let (a, b) = (p.input(&mut s, &rows), p.input(&mut s, &weights));
    let c = p.op(&mut s, "matmul", &[a, b], &[]);
    let cached = |s: &Session| s.engine().memory()[0].cached;
    let multiply = |s: &mut Session| {
        let out = p.run(s, &[c], Mode::Sync).unwrap();
        assert_eq!(read(&out[0]), [N as f32; 4 * N]);
    };
    multiply(&mut s);
    let before = cached(&s);
    (0..4).for_each(|_| multiply(&mut s));
    assert!(cached(&s) >= before + 4 * N * N, "the fifth product keeps a copy");
    // A tensor that fits the budget beside everything but the copy.
    let live = s.engine().live_bytes();
    s.engine().set_limit(live + 4 * N * N);
    let other = upload(&mut s, &vec![1.0; N * N], &[N, N]);
    assert!(cached(&s) < 4 * N * N, "the copy goes before a tensor is refused");
    (0..5).for_each(|_| multiply(&mut s));
    assert!(cached(&s) < 4 * N * N, "and does not come back while the budget has no room for it");
    drop(other);
    s.engine().set_limit(usize::MAX);
    s.engine().trim();
    assert_eq!(cached(&s), 0);
    (0..5).for_each(|_| multiply(&mut s));
    assert!(cached(&s) >= 4 * N * N);
    drop((p, weights));
    assert!(cached(&s) < 2 * 4 * N * N, "what the pool keeps of the weights has no copy any more");
}

#[test]
fn type_errors_come_from_inference_with_op_and_shapes() {
    let mut s = cpu();
    let a = s.intern_type(11, &[2.0, 3.0], 0).unwrap();
    let b = s.intern_type(11, &[4.0, 2.0], 0).unwrap();
    let matmul = ferrotensor_ops::find("matmul").unwrap().id();
    let error = s.infer(matmul, 0, 0, &[a, b]).unwrap_err();
    assert_eq!(error.code, Code::Shape);
    assert_eq!(error.message, "matmul: inner dimensions differ: [2, 3] @ [4, 2] (3 != 4)");
    assert_eq!(s.intern_type(11, &[1.5], 0).unwrap_err().code, Code::Argument);
    assert_eq!(s.intern_type(11, &[-1.0], 0).unwrap_err().code, Code::Shape);
    assert_eq!(s.intern_type(11, &[1.0], 9).unwrap_err().code, Code::Device);
    assert!(s.infer(9999, 0, 0, &[a]).is_err());
    assert!(s.infer(matmul, 0, 77, &[a, b]).is_err());
    assert!(s.infer(matmul, 0, 0, &[a, 1 << 20]).is_err());
}

#[test]
fn an_ended_epoch_forgets_ids_but_not_tensors() {
    let mut s = cpu();
    let x = upload(&mut s, &[3.0], &[1]);
    s.end_epoch();
    let mut p = Program::default();
    let a = p.input(&mut s, &x);
    let b = p.op(&mut s, "square", &[a], &[]);
    let out = p.run(&mut s, &[b], Mode::Sync).unwrap();
    assert_eq!(read(&out[0]), [9.0]);
}

#[test]
fn empty_tensors_and_scalars_are_ordinary() {
    let mut s = cpu();
    let (e, x) = (upload(&mut s, &[], &[0, 3]), upload(&mut s, &[2.0], &[]));
    let mut p = Program::default();
    let (a, b) = (p.input(&mut s, &e), p.input(&mut s, &x));
    let c = p.op(&mut s, "add", &[a, b], &[]);
    let total = p.op(&mut s, "sum", &[c], &[1.0, 0.0, 0.0, f64::NAN]);
    let joined = p.op(&mut s, "concat", &[a, c], &[0.0]);
    let out = p.run(&mut s, &[c, total, joined], Mode::Sync).unwrap();
    assert_eq!((read(&out[0]).len(), read(&out[1])), (0, vec![0.0; 3]));
    assert_eq!(out[2].dims(), [0, 3]);
}

//! What writing kernels costs: `cargo test --release -p ferrotensor-vulkan --test vulkan -- --ignored --nocapture emit_cost`. Needs no device.

use ferrotensor_core::DType;
use ferrotensor_core::kernel::{Combine, Contract, Gather, Kernel, Map, Monoid, Reduce, Scan, Sort, SortOutputs};
use ferrotensor_core::rows::{Per, RowStep, Rows};
use ferrotensor_core::scalar::{Builder, Op};
use ferrotensor_gpu::{Can, lower};
use std::io::Write;
use std::time::Instant;

/// `x * y + z`, so many times over, and its maximum with 0 or not.
fn chain(times: usize, relu: bool) -> Map {
    let mut b = Builder::new();
    let [x, y, z] = [(); 3].map(|()| b.input(DType::F32));
    let mut value = x;
    for _ in 0..times {
        let product = b.binary(Op::Mul, value, y);
        value = b.binary(Op::Add, product, z);
        if relu {
            let zero = b.lit(DType::F32, 0.0);
            value = b.binary(Op::Max, value, zero);
        }
    }
    Map { program: b.finish(&[value]) }
}

/// `x * y + x` summed, and once more with the sum for y.
fn rows(combine: Combine) -> Kernel {
    let (input, acc) = (DType::F32, DType::F32);
    let reduce =
        |operand| RowStep::Reduce { reduce: Reduce { axes: 1, combine, input, acc, pre: None, post: None }, operand };
    let mut b = Builder::new();
    let [x, y] = [(); 2].map(|()| b.input(DType::F32));
    let product = b.binary(Op::Mul, x, y);
    let sum = b.binary(Op::Add, product, x);
    let program = b.finish(&[sum]);
    let map = |operands: [usize; 2]| RowStep::Map { map: Map { program: program.clone() }, operands: operands.to_vec() };
    let steps = vec![reduce(0), map([0, 1]), reduce(2), map([2, 3])];
    Kernel::Rows(Rows { axes: 1, inputs: vec![(DType::F32, Per::Element)], steps, outputs: vec![4] })
}

#[test]
#[ignore = "a measurement"]
fn kernels() {
    let can = Can { max_buffers: 16, fma32: true, ..crate::suite::everything() };
    let dtype = DType::F32;
    let (combine, input, acc) = (Combine::Value(Monoid::Sum), dtype, dtype);
    let all = [
        ("map of two operations", Kernel::Map(chain(1, false))),
        ("map of eight operations", Kernel::Map(chain(4, false))),
        ("map of nine operations, three of them maxima", Kernel::Map(chain(3, true))),
        ("reduce", Kernel::Reduce(Reduce { axes: 1, combine, input, acc, pre: None, post: None })),
        ("rows: a map between two reductions and one after them", rows(combine)),
        ("scan", Kernel::Scan(Scan { combine: Monoid::Sum, dtype })),
        ("gather", Kernel::Gather(Gather::new(dtype, vec![DType::I32]))),
        ("sort", Kernel::Sort(Sort { dtype, descending: false, outputs: SortOutputs::Both })),
        ("contract", Kernel::Contract(Contract::new(dtype))),
    ];
    let mut out = std::io::stderr();
    for (name, kernel) in all {
        let once = || {
            let begun = Instant::now();
            std::hint::black_box(crate::host::words(&lower::emitted(&kernel, &can).unwrap()));
            begun.elapsed().as_secs_f64() * 1e6
        };
        let mut times: Vec<f64> = (0..500).map(|_| once()).collect();
        times.sort_by(f64::total_cmp);
        writeln!(out, "{name}: {:.1} us (least {:.1})", times[250], times[0]).unwrap();
    }
}

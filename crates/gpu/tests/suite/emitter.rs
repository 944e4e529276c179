//! What is emitted is valid as the backend prints it, for every instruction, dtype and number of loops; what a device lacks is refused
//! in words. Needs no device, but the backend's validator where it is one of EXPECT_TOOLS.

use crate::host::complaint;
use ferrotensor_core::DType;
use ferrotensor_core::kernel::{Combine, Gather, Map, Monoid, Reduce, Scan};
use ferrotensor_core::rows::{Per, RowStep, Rows};
use ferrotensor_core::scalar::{Arithmetic, Builder, Instr, MathFn, Op, Program, plain, verify};
use ferrotensor_gpu::Can;
use ferrotensor_gpu::emit::reduce::{self, Stage};
use ferrotensor_gpu::emit::{gather, map, rows, scan, space};

/// A device that has everything.
pub fn everything() -> Can {
    Can {
        float64: true,
        int64: true,
        storage16: true,
        storage8: true,
        roots: true,
        quotients: true,
        subnormals: true,
        max_buffers: 16,
        ..Can::default()
    }
}

/// Every instruction of operands of a dtype, with their number and the dtype of its result; not all are defined.
pub fn instructions(dtype: DType) -> Vec<(Op, u32, DType)> {
    let one = [Op::Neg, Op::Abs, Op::Sqrt, Op::Floor, Op::Ceil, Op::Round, Op::Trunc, Op::Not];
    let two = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Div,
        Op::Rem,
        Op::Gcd,
        Op::Min,
        Op::Max,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Shl,
        Op::Shr,
        Op::MulHi,
    ];
    let listed = one.into_iter().map(|op| (op, 1, dtype)).chain(two.into_iter().map(|op| (op, 2, dtype)));
    let compared = [Op::Eq, Op::Ne, Op::Lt, Op::Le].map(|op| (op, 2, DType::Bool));
    let cast = DType::all().filter(|&to| to != dtype).map(|to| (Op::Cast, 1, to));
    listed.chain(compared).chain([(Op::Fma, 3, dtype)]).chain(cast).collect()
}

/// A program of every instruction that is defined for a dtype, with all results as outputs of a few maps.
fn programs(dtype: DType) -> Vec<Program> {
    let (mut all, mut instrs) = (Vec::new(), Vec::new());
    let inputs: Vec<Instr> = (0..3).map(|n| Instr { op: Op::Input(n), dtype, args: Default::default() }).collect();
    for (op, count, to) in instructions(dtype) {
        instrs.push(Instr { op, dtype: to, args: (0..count).collect() });
    }
    for instr in instrs {
        let program = Program {
            inputs: vec![dtype; 3],
            params: Vec::new(),
            instrs: inputs.iter().cloned().chain([instr]).collect(),
            outputs: vec![3],
        };
        if verify(&program).is_ok() {
            all.push(program);
        }
    }
    all
}

#[test]
fn every_instruction_of_every_dtype_is_valid() {
    let can = everything();
    let mut count = 0;
    for dtype in DType::all() {
        for (n, program) in programs(dtype).iter().enumerate() {
            let plain = plain(program, Arithmetic { fused: n % 2 == 0 || dtype == DType::F64, ..Arithmetic::IEEE });
            let rank = space::RANKS[n % space::RANKS.len()];
            let shader = map::shader(&plain, rank, &can).unwrap();
            if let Some(complaint) = complaint(&shader) {
                panic!("{complaint}\n{plain}");
            }
            count += 1;
        }
    }
    assert!(count > 400, "{count}");
}

#[test]
fn functions_parameters_and_positions_are_valid() {
    let can = everything();
    for dtype in DType::all() {
        let mut b = Builder::new();
        let (x, p) = (b.input(dtype), b.param(dtype));
        let sum = b.binary(Op::Add, x, p);
        let place = b.index(1, DType::I64);
        let place = b.cast(place, dtype);
        let all = b.binary(Op::Mul, sum, place);
        let called = if dtype.is_float() { b.call(MathFn::Sin, &[all]) } else { all };
        let other = b.index(0, DType::I32);
        let program = plain(&b.finish(&[called, other]), Arithmetic::IEEE);
        for rank in space::RANKS {
            let shader = map::shader(&program, rank, &can).unwrap();
            assert_eq!(complaint(&shader), None, "{dtype}");
        }
    }
}

#[test]
fn reductions_of_every_dtype_are_valid() {
    let can = everything();
    let mut count = 0;
    for acc in DType::all() {
        let ordered = !acc.is_complex();
        let mut rules = vec![Combine::Value(Monoid::Sum), Combine::Value(Monoid::Prod)];
        if ordered {
            rules.extend([Combine::Value(Monoid::Max), Combine::Value(Monoid::Min), Combine::ArgMax, Combine::ArgMin]);
        }
        if acc == DType::Bool {
            rules.extend([Combine::Value(Monoid::All), Combine::Value(Monoid::Any)]);
        }
        for combine in rules {
            let mut b = Builder::new();
            let (x, p, i) = (b.input(DType::F32), b.param(DType::F32), b.index(1, DType::I32));
            let place = b.cast(i, DType::F32);
            let sum = b.binary(Op::Mul, x, p);
            let sum = b.binary(Op::Add, sum, place);
            let out = b.cast(sum, acc);
            let pre = b.finish(&[out]);
            let post = matches!(combine, Combine::Value(_)).then(|| Program::identity(acc));
            for (pre, input) in [(Some(pre.clone()), DType::F32), (None, acc)] {
                let plan =
                    reduce::Plan::new(&Reduce { axes: 1, combine, input, acc, pre, post: post.clone() }, Arithmetic::IEEE);
                for (n, stage) in [Stage::Whole, Stage::Blocks, Stage::Rest].into_iter().enumerate() {
                    let shader = reduce::shader(&plan, space::RANKS[(n + count) % 3], stage, &can).unwrap();
                    assert_eq!(complaint(&shader), None, "{combine:?} {acc} {stage:?}");
                    count += 1;
                }
            }
        }
    }
    assert!(count > 400, "{count}");
}

#[test]
fn rows_of_every_dtype_are_valid() {
    let can = everything();
    for d in DType::all() {
        let combine = Combine::Value(if d == DType::Bool { Monoid::Any } else { Monoid::Sum });
        let reduce = |operand| RowStep::Reduce {
            reduce: Reduce { axes: 1, combine, input: d, acc: d, pre: None, post: Some(Program::identity(d)) },
            operand,
        };
        let mut b = Builder::new();
        let (x, y, p) = (b.input(d), b.input(d), b.param(d));
        let both = b.binary(if d == DType::Bool { Op::Xor } else { Op::Add }, x, y);
        let all = b.binary(if d == DType::Bool { Op::Xor } else { Op::Add }, both, p);
        let program = b.finish(&[all]);
        let map = |operands: &[usize]| RowStep::Map { map: Map { program: program.clone() }, operands: operands.into() };
        // Elements with a value of rows, rows among each other, and elements with what came of both.
        let steps = vec![reduce(0), map(&[0, 2]), reduce(3), map(&[1, 4]), map(&[3, 5])];
        let kernel = Rows { axes: 1, inputs: vec![(d, Per::Element), (d, Per::Row)], steps, outputs: vec![5, 6, 3] };
        let plan = rows::Plan::new(&kernel, Arithmetic::IEEE);
        for rank in space::RANKS {
            for team in [1, 8] {
                let shader = rows::shader(&plan, rank, team, &can).unwrap();
                assert_eq!(complaint(&shader), None, "{d} over {rank} loops, {team} slots");
            }
        }
    }
}

#[test]
fn scans_of_every_dtype_are_valid() {
    let can = everything();
    for dtype in DType::all() {
        for combine in [Monoid::Sum, Monoid::Prod, Monoid::Max, Monoid::Min, Monoid::All, Monoid::Any] {
            let logical = matches!(combine, Monoid::All | Monoid::Any);
            let ordered = matches!(combine, Monoid::Max | Monoid::Min);
            if logical != (dtype == DType::Bool) || (ordered && dtype.is_complex()) {
                continue;
            }
            let kernel = Scan { combine, dtype };
            let step = scan::step(&kernel, Arithmetic::IEEE);
            for rank in space::RANKS {
                for stage in [scan::Stage::Rows, scan::Stage::Totals, scan::Stage::Chunks] {
                    let shader = scan::shader(&kernel, &step, stage, rank, &can).unwrap();
                    assert_eq!(complaint(&shader), None, "{combine:?} {dtype} {stage:?}");
                }
            }
        }
    }
}

#[test]
fn gathers_by_every_index_are_valid() {
    let can = everything();
    for dtype in DType::all() {
        for index in DType::all().filter(|d| d.is_integer()) {
            let kernel = Gather::new(dtype, vec![index, DType::I32]);
            for rank in space::RANKS {
                let shader = gather::shader(&kernel, rank, &can).unwrap();
                assert_eq!(complaint(&shader), None, "{dtype} by {index}");
            }
        }
    }
    let floats = Gather::new(DType::F32, vec![DType::F32]);
    assert_eq!(gather::shader(&floats, 1, &can).unwrap_err(), "indices that are no integers, or none");
}

#[test]
fn what_a_device_lacks_is_refused_in_words() {
    let (can, poor) = (everything(), Can { max_buffers: 4, ..Can::default() });
    for (dtype, want) in [
        (DType::U8, "no 8-bit storage for uint8"),
        (DType::F16, "no 16-bit storage for float16"),
        (DType::I64, "no int64 for int64"),
        (DType::F64, "no float64 for float64"),
        (DType::C128, "no float64 for complex128"),
    ] {
        let program = plain(&Program::identity(dtype), Arithmetic::IEEE);
        assert_eq!(map::shader(&program, 1, &poor).unwrap_err(), want);
        assert!(map::shader(&program, 1, &can).is_ok());
    }
    assert!(map::shader(&plain(&Program::identity(DType::F32), Arithmetic::IEEE), 1, &poor).is_ok());
    let mut b = Builder::new();
    let sum = (0..4).map(|_| b.input(DType::F32)).collect::<Vec<_>>();
    let sum = sum.into_iter().reduce(|x, y| b.binary(Op::Add, x, y)).unwrap();
    assert_eq!(map::shader(&plain(&b.finish(&[sum]), Arithmetic::IEEE), 1, &poor).unwrap_err(), "more than 4 operands");
}

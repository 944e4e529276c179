//! Code says nothing that SPIR-V alone has: a second printer writes kernels as WGSL, which naga parses and validates. What WGSL cannot say
//! is listed in `expected.txt`, with the reason; `UPDATE_EXPECT=1` rewrites the list. Nothing runs.

#[path = "../suite/emitter.rs"]
mod emitter;
mod host;
mod printer;

pub use emitter::everything;

use ferrotensor_core::DType;
use ferrotensor_core::kernel::{
    Combine, Contract, Gather, Kernel, Map, Monoid, Reduce, Scan, Scatter, Sort, SortOutputs, Update, Window, WindowAxis,
    WindowCombine,
};
use ferrotensor_core::rows::{Per, RowStep, Rows};
use ferrotensor_core::scalar::{Builder, Op, Program};
use ferrotensor_gpu::code::Code;
use ferrotensor_gpu::emit::contract::{self, Part, Plan, Tile, Variant};
use ferrotensor_gpu::emit::network::{self, Stage};
use ferrotensor_gpu::lower;
use std::path::PathBuf;

/// Elements less the sum of their row, kept in one kernel.
fn rows(dtype: DType) -> Kernel {
    let combine = Combine::Value(if dtype == DType::Bool { Monoid::Any } else { Monoid::Sum });
    let reduce = Reduce { axes: 1, combine, input: dtype, acc: dtype, pre: None, post: None };
    let map = Map { program: Program::identity(dtype) };
    let steps = vec![RowStep::Reduce { reduce, operand: 0 }, RowStep::Map { map, operands: vec![1] }];
    Kernel::Rows(Rows { axes: 1, inputs: vec![(dtype, Per::Element)], steps, outputs: vec![2] })
}

/// A kernel of each kind, of elements of a dtype.
fn kinds(dtype: DType) -> Vec<Kernel> {
    let monoid = if dtype == DType::Bool { Monoid::Any } else { Monoid::Sum };
    let index = vec![DType::I32];
    let axes = vec![WindowAxis { size: 3, stride: 1, dilation: 1, low: 1 }];
    let reduce = |combine, acc| Reduce { axes: 1, combine, input: dtype, acc, pre: None, post: None };
    let mut b = Builder::new();
    let (x, p) = (b.input(dtype), b.param(dtype));
    let condition = b.compare(Op::Eq, x, p);
    let chosen = b.select(condition, x, p);
    let mut all = vec![
        Kernel::Map(Map { program: b.finish(&[chosen]) }),
        Kernel::Reduce(reduce(Combine::Value(monoid), dtype)),
        rows(dtype),
        Kernel::Scan(Scan { combine: monoid, dtype }),
        Kernel::Gather(Gather::new(dtype, index.clone())),
        Kernel::Scatter(Scatter { dtype, index, update: Update::Combine(monoid) }),
        Kernel::Contract(Contract::new(dtype)),
        Kernel::Window(Window { combine: WindowCombine::Dot, dtype, axes }),
    ];
    if !dtype.is_complex() {
        all.push(Kernel::Sort(Sort { dtype, descending: false, outputs: SortOutputs::Both }));
    }
    all
}

/// What comes of code as WGSL, in a word or in the reason.
fn verdict(code: &Code) -> String {
    match printer::text(code) {
        Err(reason) => reason,
        Ok(text) => host::invalid(&text).map_or("valid".into(), |complaint| panic!("{complaint}\n{text}")),
    }
}

#[test]
fn what_wgsl_cannot_say_is_what_is_listed() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/wgsl/expected.txt");
    let mut found = String::new();
    for dtype in DType::all() {
        for kernel in kinds(dtype) {
            let code = lower::emitted(&kernel, &everything()).unwrap();
            found += &format!("{} {dtype}: {}\n", kernel.kind(), verdict(&code));
        }
    }
    if std::env::var("UPDATE_EXPECT").is_ok_and(|v| v == "1") {
        return std::fs::write(path, found).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), found, "UPDATE_EXPECT=1 rewrites it");
}

#[test]
fn products_in_every_tile_and_steps_of_a_sort_are_valid() {
    let tiles = [
        Tile::Registers { rows: 4, columns: 4, team: 1 },
        Tile::Registers { rows: 1, columns: 4, team: 256 },
        Tile::Shared { rows: 4, columns: 4, depth: 16 },
    ];
    for dtype in [DType::F32, DType::I32, DType::C64] {
        let plan = Plan::new(dtype, 0, None, &everything());
        for tile in tiles {
            for part in [Part::Whole, Part::First, Part::Further] {
                let variant = Variant { tile, rank: 3, part, blocks: part != Part::Whole };
                assert_eq!(
                    verdict(&contract::shader(&plan, variant, &everything()).unwrap()),
                    "valid",
                    "{dtype} {variant:?}"
                );
            }
        }
    }
    for stage in [Stage::Blocks, Stage::Exchange] {
        assert_eq!(verdict(&network::shader(DType::U32, stage, &everything())), "valid", "{stage:?}");
    }
}

#[test]
fn text_that_is_no_kernel_is_noticed() {
    let kernel = Kernel::Map(Map { program: Program::identity(DType::F32) });
    let text = printer::text(&lower::emitted(&kernel, &everything()).unwrap()).unwrap();
    assert_eq!(host::invalid(&text), None);
    assert!(host::invalid(&text.replacen("u32 =", "f32 =", 1)).is_some());
    assert!(host::invalid(&text.replacen('{', "", 1)).is_some());
}

//! What is emitted, as text that a reviewer reads: `tests/vulkan/snapshots/*.spvasm`. A change of the emitter shows as a change there;
//! `UPDATE_EXPECT=1` rewrites them. Needs no device.

use ferrotensor_core::DType;
use ferrotensor_core::kernel::{Combine, Gather, Map, Monoid, Reduce, Scan, Scatter, Update};
use ferrotensor_core::rows::{Per, RowStep, Rows};
use ferrotensor_core::scalar::{Arithmetic, Builder, Op, plain};
use ferrotensor_gpu::Can;
use ferrotensor_gpu::code::Code;
use ferrotensor_gpu::emit::{contract, gather, map, network, reduce, rows, scan, scatter};
use ferrotensor_vulkan::spirv::{self, Modes};
use rspirv::binary::Disassemble;
use std::path::PathBuf;

/// A device that has what these kernels need.
fn can() -> Can {
    let ieee = Can { roots: true, quotients: true, subnormals: true, ..Can::default() };
    Can { int64: true, storage16: true, storage8: true, max_buffers: 16, ..ieee }
}

fn text(shader: &Code) -> String {
    rspirv::dr::load_words(spirv::words(shader, Modes::default())).unwrap().disassemble() + "\n"
}

/// The first line that differs.
fn difference(agreed: &str, found: &str) -> Option<String> {
    let mut lines = agreed.lines().map(Some).chain(std::iter::repeat(None)).zip(found.lines().map(Some).chain([None]));
    let (n, (old, new)) = lines.by_ref().enumerate().find(|(_, (old, new))| old != new)?;
    Some(format!("line {}: {old:?} is now {new:?}", n + 1))
}

fn agrees(name: &str, shader: &Code) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/vulkan/snapshots/{name}.spvasm"));
    let found = text(shader);
    if std::env::var("UPDATE_EXPECT").is_ok_and(|v| v == "1") {
        return std::fs::write(path, found).unwrap();
    }
    let agreed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(difference(&agreed, &found), None, "{name}: UPDATE_EXPECT=1 rewrites it");
}

#[test]
fn a_map_multiplies_and_adds_without_contraction() {
    let mut b = Builder::new();
    let (x, p) = (b.input(DType::F32), b.param(DType::F32));
    let product = b.binary(Op::Mul, x, p);
    let sum = b.binary(Op::Add, product, x);
    let program = plain(&b.finish(&[sum]), Arithmetic::IEEE);
    agrees("map_f32", &map::shader(&program, 1, &can()).unwrap());
}

#[test]
fn a_map_over_three_loops_divides_by_reciprocals() {
    let mut b = Builder::new();
    let (x, i) = (b.input(DType::I8), b.index(1, DType::I32));
    let x = b.cast(x, DType::I32);
    let sum = b.binary(Op::Add, x, i);
    agrees("map_i8_places", &map::shader(&plain(&b.finish(&[sum]), Arithmetic::IEEE), 3, &can()).unwrap());
}

#[test]
fn a_sum_goes_along_lanes_then_meets_in_shared_memory() {
    let (combine, input, acc) = (Combine::Value(Monoid::Sum), DType::F32, DType::F32);
    let plan = reduce::Plan::new(&Reduce { axes: 1, combine, input, acc, pre: None, post: None }, Arithmetic::IEEE);
    agrees("sum_f32", &reduce::shader(&plan, 1, reduce::Stage::Whole, &can()).unwrap());
}

/// Elements less the largest one of their row, which all slots of a group look for.
#[test]
fn a_row_is_met_by_all_slots_of_a_group() {
    let (combine, input, acc) = (Combine::Value(Monoid::Max), DType::F32, DType::F32);
    let reduce = Reduce { axes: 1, combine, input, acc, pre: None, post: None };
    let mut b = Builder::new();
    let (x, most) = (b.input(DType::F32), b.input(DType::F32));
    let less = b.binary(Op::Sub, x, most);
    let map = Map { program: b.finish(&[less]) };
    let steps = vec![RowStep::Reduce { reduce, operand: 0 }, RowStep::Map { map, operands: vec![0, 1] }];
    let kernel = Rows { axes: 1, inputs: vec![(DType::F32, Per::Element)], steps, outputs: vec![2] };
    agrees("rows_f32", &rows::shader(&rows::Plan::new(&kernel, Arithmetic::IEEE), 1, 8, &can()).unwrap());
}

#[test]
fn a_gather_reports_what_is_out_of_range() {
    let kernel = Gather::new(DType::F16, vec![DType::I32]);
    agrees("gather_f16", &gather::shader(&kernel, 1, &can()).unwrap());
}

#[test]
fn a_scan_goes_along_rows() {
    let kernel = Scan { combine: Monoid::Sum, dtype: DType::F32 };
    let step = scan::step(&kernel, Arithmetic::IEEE);
    agrees("scan_f32", &scan::shader(&kernel, &step, scan::Stage::Rows, 1, &can()).unwrap());
}

#[test]
fn updates_of_a_target_are_applied_one_after_the_other() {
    let kernel = Scatter { dtype: DType::F32, index: vec![DType::I32], update: Update::Combine(Monoid::Sum) };
    let step = scatter::step(&kernel, Arithmetic::IEEE);
    agrees("scatter_f32", &scatter::apply(&kernel, step.as_ref(), 1, &can()).unwrap());
}

#[test]
fn pairs_are_exchanged_across_blocks() {
    agrees("exchange_u32", &network::shader(DType::U32, network::Stage::Exchange, &can()));
}

#[test]
fn a_product_adds_a_bias_where_it_is_written() {
    let mut b = Builder::new();
    let [x, bias] = [(); 2].map(|()| b.input(DType::F32));
    let factor = b.param(DType::F32);
    let scaled = b.binary(Op::Mul, x, factor);
    let moved = b.binary(Op::Add, scaled, bias);
    let plan = contract::Plan::new(DType::F32, 0, Some(&b.finish(&[moved])), &can());
    let tile = contract::Tile::Registers { rows: 1, columns: 1, team: 1 };
    let variant = contract::Variant { tile, rank: 1, part: contract::Part::Whole, blocks: false };
    agrees("product_f32_bias", &contract::shader(&plan, variant, &can()).unwrap());
}

#[test]
fn a_product_keeps_sums_in_registers() {
    let plan = contract::Plan::new(DType::F32, 0, None, &can());
    let tile = contract::Tile::Registers { rows: 2, columns: 2, team: 1 };
    let variant = contract::Variant { tile, rank: 1, part: contract::Part::Whole, blocks: false };
    agrees("product_f32", &contract::shader(&plan, variant, &can()).unwrap());
}

#[test]
fn a_changed_line_is_noticed() {
    let shader =
        map::shader(&plain(&ferrotensor_core::scalar::Program::identity(DType::F32), Arithmetic::IEEE), 1, &can()).unwrap();
    let found = text(&shader);
    assert_eq!(difference(&found, &found), None);
    assert!(difference(&found.replace("OpStore", "OpLoad"), &found).is_some());
    assert!(difference("", &found).is_some());
}

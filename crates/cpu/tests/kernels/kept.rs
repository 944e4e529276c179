//! Copies of constant operands: no bit of a product shows them, and they end when their operand's memory changes hands.

use crate::harness::{Rng, Style, assert_same, launch, lay, tiers};
use ferrotensor_core::backend::{Backend, Batch, Buffer, Launch, Operand, Outcome, Ticket};
use ferrotensor_core::kernel::{Contract, Kernel, Map};
use ferrotensor_core::layout::positions;
use ferrotensor_core::reference::Array;
use ferrotensor_core::scalar::Builder;
use ferrotensor_core::{DType, Layout};
use ferrotensor_cpu::{CpuBackend, Tier};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// More than three mebibytes of any dtype, of no whole number of tiles.
const PLACES: usize = 1030;
const COLUMNS: usize = 1601;
/// Products after which there is a copy.
const OFTEN: usize = 5;

fn product(dtype: DType) -> Kernel {
    Kernel::Contract(Contract::new(dtype))
}

fn copy() -> Kernel {
    let mut b = Builder::new();
    let x = b.input(DType::F32);
    Kernel::Map(Map { program: b.finish(&[x]) })
}

/// A device with columns that stay, as weights do.
struct Layer {
    backend: CpuBackend,
    dtype: DType,
    columns: Operand,
}

impl Layer {
    fn new(tier: Tier, columns: &Array, style: Style) -> Layer {
        let backend = CpuBackend::new(tier).unwrap();
        let (layout, len) = lay(style, columns.dims());
        let buffer = backend.alloc(len * columns.dtype().bytes()).unwrap();
        let layer = Layer { backend, dtype: columns.dtype(), columns: Operand { buffer, layout } };
        layer.write(columns);
        layer
    }

    fn write(&self, columns: &Array) {
        let (size, buffer) = (self.dtype.bytes(), &self.columns.buffer);
        let mut bytes = vec![0; buffer.bytes()];
        for (i, at) in positions(&self.columns.layout).enumerate() {
            bytes[at * size..][..size].copy_from_slice(&columns.bytes()[i * size..][..size]);
        }
        self.backend.upload(&bytes, buffer, 0).unwrap();
    }

    fn batch(&self, rows: &Array) -> (Batch, Buffer) {
        let room = |len: usize| self.backend.alloc(len * self.dtype.bytes()).unwrap();
        let dense = |dims: &[usize], buffer| Operand { buffer, layout: Layout::dense(dims).unwrap() };
        let m = rows.dims()[0];
        let (a, c) = (room(m * PLACES), room(m * COLUMNS));
        self.backend.upload(rows.bytes(), &a, 0).unwrap();
        let launch = Launch {
            kernel: self.backend.prepare(&product(self.dtype)).unwrap(),
            inputs: [dense(&[m, PLACES], a), self.columns.clone()].into_iter().collect(),
            outputs: std::iter::once(dense(&[m, COLUMNS], c.clone())).collect(),
            params: Default::default(),
        };
        (Batch::new(vec![launch]), c)
    }

    fn submit(&self, batch: Batch) -> Outcome {
        let Ticket::Done(outcome) = self.backend.submit(batch) else { panic!("the CPU runs batches at once") };
        outcome
    }

    fn multiply_within(&self, rows: &Array, spare: usize) -> Array {
        let (mut batch, c) = self.batch(rows);
        batch.spare = spare;
        let outcome = self.submit(batch);
        assert!(outcome.failed.is_empty() && outcome.lost.is_none(), "{outcome:?}");
        let dims = [rows.dims()[0], COLUMNS];
        let mut bytes = vec![0; dims[0] * COLUMNS * self.dtype.bytes()];
        self.backend.download(&c, 0, &mut bytes).unwrap();
        Array::new(self.dtype, &dims, bytes).unwrap()
    }

    fn multiply(&self, rows: &Array) -> Array {
        self.multiply_within(rows, usize::MAX)
    }
}

/// The product of operands that nobody has seen.
fn fresh(tier: Tier, rows: &Array, columns: &Array) -> Array {
    let dims = [rows.dims()[0], COLUMNS];
    let (mut outputs, _) = launch(
        tier,
        &product(rows.dtype()),
        &[(rows, Style::Dense), (columns, Style::Dense)],
        &[(&dims, Style::Dense)],
        &[],
    );
    outputs.remove(0)
}

fn operands(dtype: DType, rows: usize) -> (Array, Array) {
    let mut rng = Rng(rows as u64);
    // Few special values: most sums stay numbers.
    let columns = rng.repeated(dtype, &[PLACES, COLUMNS], 7919);
    (rng.array(dtype, &[rows, PLACES]), columns)
}

#[test]
#[cfg_attr(miri, ignore = "large products")]
fn products_have_the_same_bits_before_and_after_a_copy_is_kept() {
    for tier in tiers() {
        for dtype in [DType::F16, DType::F32, DType::F64, DType::C64] {
            // Without a fused multiply-add products take a hundred times as long.
            let counts = if tier == Tier::Baseline { &[3][..] } else { &[1, 2, 17, 150] };
            for &m in counts {
                for style in [Style::Dense, Style::Transposed, Style::Padded] {
                    let (rows, columns) = operands(dtype, m);
                    let layer = Layer::new(tier, &columns, style);
                    let expected = fresh(tier, &rows, &columns);
                    let kept: Vec<usize> = (0..=OFTEN)
                        .map(|n| {
                            let what = format_args!("{dtype} {m} {style:?} {}: {n}", tier.name()).to_string();
                            assert_same(&layer.multiply(&rows), &expected, what);
                            layer.backend.kept()
                        })
                        .collect();
                    let is_kept = m > 1 || dtype == DType::F16 || dtype == DType::C64;
                    assert_eq!(kept[..OFTEN - 1], [0; OFTEN - 1], "first products copy for themselves");
                    assert_eq!(
                        kept[OFTEN - 1] > 0,
                        is_kept,
                        "{dtype} {m}: another one keeps the copy where that is worth it"
                    );
                    assert_eq!(kept[OFTEN], kept[OFTEN - 1], "the next one uses it");
                }
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "large products")]
fn a_copy_of_some_rows_serves_any_number_of_rows() {
    let tier = *tiers().last().unwrap();
    let (few, columns) = operands(DType::F32, 5);
    let layer = Layer::new(tier, &columns, Style::Dense);
    (0..OFTEN).for_each(|_| _ = layer.multiply(&few));
    assert!(layer.backend.kept() > 0);
    for m in [2, 14, 15, 29, 61] {
        let (rows, _) = operands(DType::F32, m);
        assert_same(&layer.multiply(&rows), &fresh(tier, &rows, &columns), m);
    }
}

#[test]
#[cfg_attr(miri, ignore = "large products")]
fn copies_end_with_what_they_are_copies_of() {
    let tier = *tiers().last().unwrap();
    let (rows, columns) = operands(DType::F32, 3);
    let layer = Layer::new(tier, &columns, Style::Dense);
    let keep = || {
        (0..OFTEN).for_each(|_| _ = layer.multiply(&rows));
        assert!(layer.backend.kept() >= 4 * PLACES * COLUMNS);
    };
    keep();
    // Written by the host.
    let others = Rng(7).repeated(DType::F32, &[PLACES, COLUMNS], 6007);
    layer.write(&others);
    assert_eq!(layer.backend.kept(), 0);
    assert_same(&layer.multiply(&rows), &fresh(tier, &rows, &others), "written");
    keep();
    // Written by a routine that works where operands lie.
    let whole = [(&layer.columns.buffer, 0..layer.columns.buffer.bytes())];
    let mut fill = |_: &[&[u8]], outputs: &mut [&mut [u8]]| {
        outputs[0].copy_from_slice(columns.bytes());
        Ok(())
    };
    layer.backend.in_place(&[], &whole, &mut fill).unwrap().unwrap();
    assert_eq!(layer.backend.kept(), 0);
    assert_same(&layer.multiply(&rows), &fresh(tier, &rows, &columns), "written in place");
    keep();
    // Written by a launch.
    let from = Operand { buffer: layer.backend.alloc(others.bytes().len()).unwrap(), ..layer.columns.clone() };
    layer.backend.upload(others.bytes(), &from.buffer, 0).unwrap();
    let copy = Launch {
        kernel: layer.backend.prepare(&copy()).unwrap(),
        inputs: std::iter::once(from).collect(),
        outputs: std::iter::once(layer.columns.clone()).collect(),
        params: Default::default(),
    };
    let outcome = layer.submit(Batch::new(vec![copy]));
    assert!(outcome.failed.is_empty(), "{outcome:?}");
    assert_eq!(layer.backend.kept(), 0);
    assert_same(&layer.multiply(&rows), &fresh(tier, &rows, &others), "written by a launch");
    keep();
    layer.columns.buffer.invalidate();
    assert_eq!(layer.backend.kept(), 0, "given back to a pool");
    keep();
    layer.backend.trim();
    assert_eq!(layer.backend.kept(), 0, "asked for");
    keep();
    let Layer { backend, columns, .. } = layer;
    drop(columns);
    assert_eq!(backend.kept(), 0, "freed");
}

#[test]
#[cfg_attr(miri, ignore = "large products")]
fn copies_stay_within_the_spare_bytes() {
    let tier = *tiers().last().unwrap();
    let (rows, columns) = operands(DType::F32, 3);
    let layer = Layer::new(tier, &columns, Style::Dense);
    let expected = fresh(tier, &rows, &columns);
    for spare in [0, 1, 1, 1, 1, 1, 4 * PLACES * COLUMNS - 1] {
        assert_same(&layer.multiply_within(&rows, spare), &expected, spare);
        assert_eq!(layer.backend.kept(), 0);
    }
    assert_same(&layer.multiply(&rows), &expected, "room");
    assert!(layer.backend.kept() > 0);
}

#[test]
#[cfg_attr(miri, ignore = "large products")]
fn an_abandoned_product_keeps_no_unfinished_copy() {
    let tier = *tiers().last().unwrap();
    let (rows, columns) = operands(DType::F32, 3);
    let layer = Layer::new(tier, &columns, Style::Dense);
    let expected = fresh(tier, &rows, &columns);
    // Of the many moments some lie inside the product that makes the copy, which takes about a millisecond.
    for moment in 0..15 {
        (1..OFTEN).for_each(|_| _ = layer.multiply(&rows));
        let (batch, _) = layer.batch(&rows);
        let abandoned = batch.abandoned.clone();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(std::time::Duration::from_micros(60 * moment));
                abandoned.store(true, Ordering::Relaxed);
            });
            layer.submit(batch);
        });
        assert_same(&layer.multiply(&rows), &expected, moment);
        layer.columns.buffer.invalidate();
    }
}

#[test]
#[cfg_attr(miri, ignore = "large products")]
fn threads_that_multiply_by_the_same_columns_agree() {
    let tier = *tiers().last().unwrap();
    let (rows, columns) = operands(DType::F32, 3);
    let layer = Layer::new(tier, &columns, Style::Dense);
    let expected = fresh(tier, &rows, &columns);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..16 {
                    assert_same(&layer.multiply(&rows), &expected, n);
                    if n % 7 == 6 {
                        layer.backend.trim();
                    }
                }
            });
        }
    });
    layer.backend.trim();
    assert_eq!(layer.backend.kept(), 0);
}

#[test]
#[cfg_attr(miri, ignore = "large products")]
fn views_that_are_read_once_do_not_push_out_a_copy() {
    let tier = *tiers().last().unwrap();
    let (rows, columns) = operands(DType::F32, 3);
    let layer = Layer::new(tier, &columns, Style::Dense);
    (0..OFTEN).for_each(|_| _ = layer.multiply(&rows));
    let kept = layer.backend.kept();
    assert!(kept > 0);
    for left in 1..20 {
        let (mut batch, c) = layer.batch(&rows);
        let mut launch = batch.launches[0].clone();
        launch.inputs[1].layout = layer.columns.layout.slice(1, left, 1, COLUMNS - left);
        launch.outputs[0] = Operand { buffer: c, layout: Layout::dense(&[3, COLUMNS - left]).unwrap() };
        batch.launches = Arc::new(vec![launch]);
        assert!(layer.submit(batch).failed.is_empty());
        assert_eq!(layer.backend.kept(), kept);
    }
}

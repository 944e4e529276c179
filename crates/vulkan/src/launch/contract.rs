//! Launches of matrix products and convolutions: the loops of each, the tiles that suit the device and the sizes, and what is cut
//! so that descriptors show it and no dispatch takes too long.

use super::map::{MapProgram, computes};
use super::pieces::{MOST, Piece};
use super::window::window;
use crate::caps::Can;
use crate::emit::Shader;
use crate::emit::contract::{Part, Plan, Tile, Variant, shader};
use crate::emit::space::RANKS;
use crate::kernel::Program;
use crate::pipelines::{Pipeline, Pipelines};
use crate::stream::Recorder;
use ferrotensor_core::backend::{Buffer, Launch, Operand};
use ferrotensor_core::kernel::{Kernel, Map, Window, WindowCombine};
use ferrotensor_core::layout::{Layout, coalesce};
use ferrotensor_core::scalar::Builder;
use ferrotensor_core::{DType, Error, Result};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Products of two float32 that a dispatch adds at most, of a software device and of a GPU: 100 ms at 5 GFLOP/s (measured on
/// Mesa's with two cores) and at the 0.3 TFLOP/s of small integrated ones.
const LONGEST: [usize; 2] = [1 << 28, 1 << 34];
/// What one submission may be charged in all, see [`Recorder::charge`].
const CHARGE: usize = 1 << 30;

/// Operands of a piece: `a`, `b`, the output, the place among the inner ones, then positions along spatial axes.
const OUTPUT: usize = 2;
const INNER: usize = 3;
const AXES: usize = 4;

/// A product in plain form, and its pipelines, made when first met.
pub struct ContractProgram {
    plan: Plan,
    windows: Option<Window>,
    can: Can,
    pipelines: Mutex<HashMap<Variant, Arc<Pipeline>>>,
    /// From sums to half floats, for products in several parts.
    narrow: OnceLock<MapProgram>,
}

/// The plan of a matrix product or a convolution, and its smallest kernel.
///
/// # Errors
/// What the device lacks, in words.
pub fn emitted(kernel: &Kernel, can: &Can) -> Result<(Plan, Shader), String> {
    let plan = match kernel {
        Kernel::Contract(k) => Plan::new(k.dtype, 0, can),
        Kernel::Window(k) if k.combine == WindowCombine::Dot => Plan::new(k.dtype, k.axes.len(), can),
        other => return Err(format!("a {} is no product", other.kind())),
    };
    plan.programs().into_iter().try_for_each(|program| computes(program, can))?;
    let least = Variant { tile: Tile::Registers { rows: 1, columns: 1, team: 1 }, rank: RANKS[0], part: Part::Whole };
    shader(&plan, least, can).map(|shader| (plan, shader))
}

/// The loops of a launch.
struct Task {
    /// Batch, then rows, columns and inner places, which stay apart.
    whole: Piece,
    /// Loops of the columns.
    columns: usize,
    /// Whether there is no inner place; the loops then have one, of no element.
    nothing: bool,
    /// Positions of the data along each spatial axis.
    extents: Vec<u32>,
}

/// Strides of `a`, `b` and the output along some loops.
type Strides = [SmallVec<[isize; 8]>; 3];

/// Loops of one kind: their sizes, and the strides of `a`, `b` and the output.
struct Loops {
    dims: SmallVec<[usize; 8]>,
    strides: Strides,
}

impl Loops {
    fn one(dim: usize, strides: [isize; 3]) -> Loops {
        Loops { dims: SmallVec::from_slice(&[dim]), strides: strides.map(|s| SmallVec::from_slice(&[s])) }
    }
}

/// A launch's batch, rows, columns and inner places as one piece.
fn task(
    batch: &Loops,
    rows: &Loops,
    columns: &Loops,
    inner: &Loops,
    first: [i64; 3],
    data: Option<(i64, i64)>,
    windows: Option<&Window>,
) -> Piece {
    let kinds = [batch, rows, columns, inner];
    let dims: Vec<usize> = kinds.iter().flat_map(|l| l.dims.iter().copied()).map(|d| d.max(1)).collect();
    let apart = dims.len() - batch.dims.len();
    let mut operands: Vec<(i64, Vec<isize>, (i64, i64))> = (0..3)
        .map(|n| {
            let strides = kinds.iter().flat_map(|l| l.strides[n].iter().copied()).collect();
            (first[n], strides, data.filter(|_| n == 1).unwrap_or((i64::MIN, i64::MAX)))
        })
        .collect();
    let before = dims.len() - inner.dims.len();
    let everywhere = (i64::MIN, i64::MAX);
    // Beyond 0 where the first inner place is not among them.
    operands.push((0, (0..dims.len()).map(|n| (n >= before) as isize).collect(), everywhere));
    for (n, axis) in windows.iter().flat_map(|w| w.axes.iter().enumerate()) {
        let mut strides = vec![0; dims.len()];
        strides[before - columns.dims.len() + n] = axis.stride as isize;
        strides[before + 1 + n] = axis.dilation as isize;
        operands.push((-(axis.low as i64), strides, everywhere));
    }
    let operands: Vec<(i64, &[isize], (i64, i64))> = operands.iter().map(|(f, s, e)| (*f, s.as_slice(), *e)).collect();
    Piece::over(&dims, apart, &operands)
}

/// The loops of a matrix product.
fn matrices([a, b, c]: [&Layout; 3]) -> Result<Task> {
    let shapes = || Error::internal(format!("contract: {:?} and {:?} do not make {:?}", a.dims(), b.dims(), c.dims()));
    let (lead, m, k, n) = match (a.dims(), b.dims(), c.dims()) {
        ([x @ .., m, k], [y @ .., l, n], [z @ .., p, q]) if x == z && y == z && (k, m, n) == (l, p, q) => (z, *m, *k, *n),
        _ => return Err(shapes()),
    };
    let rank = lead.len();
    // Nothing is read where there are no inner places, and strides of an empty layout lead anywhere.
    let empty = |l: &Layout| k == 0 && l.is_empty();
    let part = |l: &Layout| {
        let strides: SmallVec<[isize; 6]> = if empty(l) { SmallVec::from_elem(0, rank) } else { l.strides()[..rank].into() };
        Layout::new(lead, &strides, if empty(l) { 0 } else { l.offset() }, usize::MAX >> 1)
    };
    let batches = [part(a)?, part(b)?, part(c)?];
    let loops = coalesce(&batches.each_ref());
    let strides = |n: usize| loops.strides[n].iter().copied().collect();
    let mut batch = Loops { dims: loops.dims.iter().copied().collect(), strides: [0, 1, 2].map(strides) };
    let step = |l: &Layout, axis: usize| if empty(l) { 0 } else { l.strides()[rank + axis] };
    let mut rows = Loops::one(m, [step(a, 0), 0, step(c, 0)]);
    let columns = Loops::one(n, [0, step(b, 1), step(c, 1)]);
    let inner = Loops::one(k, [step(a, 1), step(b, 0), 0]);
    // Matrices times one matrix are one product of many rows.
    if let Some(last) = batch.dims.len().checked_sub(1)
        && batch.strides[1][last] == 0
        && [0, 2].iter().all(|&n| batch.strides[n][last] == rows.strides[n][0].wrapping_mul(m as isize))
    {
        rows.dims[0] *= batch.dims[last];
        batch.dims.pop();
        for strides in &mut batch.strides {
            strides.pop();
        }
    }
    let first = [a, b, c].map(|l| if empty(l) { 0 } else { l.offset() as i64 });
    let whole = task(&batch, &rows, &columns, &inner, first, None, None);
    Ok(Task { whole, columns: 1, nothing: k == 0, extents: Vec::new() })
}

/// The loops of a convolution: `a` are the weights, `b` is the data.
fn convolution(window: &Window, [data, weights, c]: [&Layout; 3]) -> Result<Task> {
    let n = window.axes.len();
    let unfit = || Error::internal(format!("window: {:?} and {:?} do not make {:?}", data.dims(), weights.dims(), c.dims()));
    let (&[batch, group, cin], &[group2, cout, cin2], &[batch2, group3, cout2]) = (
        data.dims().get(..3).unwrap_or_default(),
        weights.dims().get(..3).unwrap_or_default(),
        c.dims().get(..3).unwrap_or_default(),
    ) else {
        return Err(unfit());
    };
    let fits = (batch, group, cin, cout, group) == (batch2, group2, cin2, cout2, group3);
    let sizes = window.axes.iter().map(|a| a.size);
    if !fits || [data, weights, c].iter().any(|l| l.rank() != 3 + n) || !weights.dims()[3..].iter().copied().eq(sizes) {
        return Err(unfit());
    }
    let windows = &c.dims()[3..];
    // Strides of an empty layout lead anywhere, and along an axis of one position there is no step.
    let along = |l: &Layout, axis: usize| if l.is_empty() || l.dims()[axis] == 1 { 0 } else { l.strides()[axis] };
    let (mut steps, mut taps) = (SmallVec::new(), SmallVec::<[isize; 8]>::new());
    for (n, (axis, &count)) in window.axes.iter().zip(windows).enumerate() {
        let last = count.saturating_sub(1).saturating_mul(axis.stride);
        let reach = last.saturating_add(axis.size.saturating_sub(1).saturating_mul(axis.dilation));
        let stride = along(data, 3 + n);
        // The second: positions in memory of all axes together must not overflow.
        let beyond =
            reach.max(axis.low).saturating_add(1).checked_mul(stride.unsigned_abs()).is_none_or(|far| far >= 1 << 58);
        if reach.max(axis.low) >= 1 << 31 || beyond {
            return Err(Error::unsupported("windows that reach over 2^31 positions"));
        }
        // A step that is longer than all of that is not taken.
        let step = |by: usize| stride.wrapping_mul(by.min(1 << 31) as isize);
        steps.push(step(axis.stride));
        taps.push(step(axis.dilation));
    }
    let batches = Loops {
        dims: SmallVec::from_slice(&[batch, group]),
        strides: [
            SmallVec::from_slice(&[0, along(weights, 0)]),
            SmallVec::from_slice(&[along(data, 0), along(data, 1)]),
            SmallVec::from_slice(&[along(c, 0), along(c, 1)]),
        ],
    };
    let rows = Loops::one(cout, [along(weights, 1), 0, along(c, 2)]);
    let columns = Loops {
        dims: SmallVec::from_slice(windows),
        strides: [SmallVec::from_elem(0, n), steps, (3..3 + n).map(|axis| along(c, axis)).collect()],
    };
    let inner = Loops {
        dims: SmallVec::from_slice(&weights.dims()[2..]),
        strides: [
            (2..3 + n).map(|axis| along(weights, axis)).collect(),
            std::iter::once(along(data, 2)).chain(taps).collect(),
            SmallVec::from_elem(0, 1 + n),
        ],
    };
    let exist = if data.is_empty() { (0, 0) } else { (data.range().start as i64, data.range().end as i64 - 1) };
    let mut origin = if data.is_empty() { 0 } else { data.offset() as i64 };
    for (axis, a) in window.axes.iter().enumerate() {
        origin -= a.low as i64 * along(data, 3 + axis) as i64;
    }
    let first = [if weights.is_empty() { 0 } else { weights.offset() as i64 }, origin, c.offset() as i64];
    let whole = task(&batches, &rows, &columns, &inner, first, Some(exist), Some(window));
    let extents = data.dims()[3..].iter().map(|&d| d.min(1 << 31) as u32).collect();
    Ok(Task { whole, columns: n, nothing: cin == 0, extents })
}

/// How long a product takes beside one of float32.
fn weight(dtype: DType, software: bool) -> usize {
    match dtype {
        DType::F32 | DType::I32 | DType::U32 | DType::Bool => 1,
        DType::C64 => 4,
        // GPUs for games have a 32nd or a 64th of the units.
        DType::F64 => {
            if software {
                2
            } else {
                32
            }
        }
        DType::C128 => {
            if software {
                8
            } else {
                128
            }
        }
        _ => 3,
    }
}

/// The sizes of a product: matrices of a batch, rows, columns, inner places.
type Sizes = [usize; 4];

/// Tiles that suit a device and the sizes.
fn tile(plan: &Plan, [batch, m, n, k]: Sizes, software: bool) -> Tile {
    let tiles = |rows: usize, columns: usize| batch.saturating_mul(m.div_ceil(rows)).saturating_mul(n.div_ceil(columns));
    let side = |count: usize, wide: bool| match count {
        1 => 1,
        // Twice as fast as 4 on Mesa's software device: its loads are single elements, 16 for 64 products instead of 8 for 16.
        8.. if wide => 8,
        _ => 4,
    };
    let wide = software && tiles(8, 8) >= 64;
    let (rows, columns) = (side(m, wide), side(n, wide));
    let alone = tiles(rows, columns);
    let registers = |team| Tile::Registers { rows: rows as u32, columns: columns as u32, team };
    if software {
        // Fewer threads than two cores have lanes are left alone with many inner places.
        return registers(if alone < 64 && k >= 1024 { 32 } else { 1 });
    }
    // 64 tiles keep half of a large device busy; 16 of them are better taken apart where the inner places are many.
    let few = tiles(64, 64) < 16 && k >= 1024;
    if m.min(n) <= 16 || few {
        return registers(match alone {
            0..64 if k >= 1024 => 256,
            0..65_536 if k >= 64 => 32,
            _ => 1,
        });
    }
    // Shared memory for both is at most 9 KiB, of the 16 that every device has.
    let short = plan.bytes() <= 4;
    if short && m.min(n) >= 128 && tiles(128, 128) >= 128 {
        return Tile::Shared { rows: 8, columns: 8, depth: 8 };
    }
    Tile::Shared { rows: 4, columns: 4, depth: 64 / plan.bytes().max(4) }
}

impl ContractProgram {
    /// # Errors
    /// `Code::Unsupported` as [`emitted`]; the driver's.
    pub fn new(kernel: &Kernel, can: &Can, pipelines: &Pipelines) -> Result<ContractProgram> {
        let (plan, shader) = emitted(kernel, can).map_err(Error::unsupported)?;
        // What the driver refuses it refuses here.
        pipelines.get(&shader.words, shader.buffers as u32)?;
        let windows = if let Kernel::Window(window) = kernel { Some(window.clone()) } else { None };
        Ok(ContractProgram { plan, windows, can: can.clone(), pipelines: Mutex::default(), narrow: OnceLock::new() })
    }

    fn pipeline(&self, variant: Variant, pipelines: &Pipelines) -> Result<Arc<Pipeline>> {
        let known = |made: &HashMap<Variant, Arc<Pipeline>>| made.get(&variant).cloned();
        if let Some(made) = known(&self.pipelines.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(made);
        }
        let shader = shader(&self.plan, variant, &self.can).map_err(Error::unsupported)?;
        let made = pipelines.get(&shader.words, shader.buffers as u32)?;
        self.pipelines.lock().unwrap_or_else(PoisonError::into_inner).insert(variant, Arc::clone(&made));
        Ok(made)
    }

    fn task(&self, [a, b, c]: [&Operand; 3]) -> Result<Task> {
        match &self.windows {
            Some(window) => convolution(window, [&b.layout, &a.layout, &c.layout]),
            None => matrices([&a.layout, &b.layout, &c.layout]),
        }
    }

    /// Pieces of a task whose output has elements of `size` bytes.
    fn pieces(&self, task: &Task, size: usize) -> Result<Vec<Piece>> {
        let (from, outer) = (self.plan.dtype().bytes(), 1 + task.columns);
        let mut sizes = vec![Some(from), Some(from), Some(size)];
        sizes.resize(task.whole.at.len(), None);
        let most = LONGEST[!self.can.software as usize] / weight(self.plan.dtype(), self.can.software);
        let heavy = |piece: &Piece| {
            let batch = piece.dims.len() - piece.apart;
            let (outputs, inner) = piece.dims.split_at(batch + outer);
            let longest = |from: usize, dims: &[usize]| {
                let longest = (0..dims.len()).max_by_key(|&n| dims[n]).filter(|&n| dims[n] > 1);
                longest.map(|n| from + n)
            };
            let (count, each) = (outputs.iter().product::<usize>(), inner.iter().product::<usize>());
            if batch > RANKS[RANKS.len() - 1] {
                return Some(0);
            }
            if each > MOST {
                return longest(outputs.len(), inner);
            }
            let long = count > MOST || count.saturating_mul(each) > most;
            long.then(|| longest(0, outputs)).flatten()
        };
        task.whole.clone().cut(&sizes, (self.can.max_range - self.can.alignment) as usize, &heavy)
    }

    fn dispatch(
        &self,
        recorder: &mut Recorder,
        task: &Task,
        piece: &Piece,
        operands: [&Operand; 3],
        part: Part,
    ) -> Result<()> {
        let (from, to) = (self.plan.dtype().bytes(), self.plan.output(part).bytes());
        let alignment = self.can.alignment;
        let (left, a) = window(operands[0], from, piece, 0, alignment, false)?;
        let (right, b) = window(operands[1], from, piece, 1, alignment, false)?;
        let (output, c) = window(operands[2], to, piece, OUTPUT, alignment, true)?;
        let batch = piece.dims.len() - piece.apart;
        let (row, columns) = (batch, batch + 1..batch + 1 + task.columns);
        let inner = columns.end..piece.dims.len();
        let none = [0; 1 + crate::emit::contract::MOST_AXES];
        let places = if task.nothing { &none[..inner.len()] } else { &piece.dims[inner.clone()] };
        let sizes = [
            piece.dims[..batch].iter().product::<usize>(),
            piece.dims[row],
            piece.dims[columns.clone()].iter().product(),
            places.iter().product(),
        ];
        let variant = Variant {
            tile: tile(&self.plan, sizes, self.can.software),
            rank: RANKS.iter().copied().find(|&r| r >= batch).unwrap_or(RANKS[RANKS.len() - 1]),
            part,
        };
        let pipeline = self.pipeline(variant, recorder.pipelines())?;
        let at = self.plan.places(variant.rank);
        let (high, wide) = variant.tile.extent();
        let [matrices, m, n, k] = sizes;
        let counts = [matrices, m.div_ceil(high as usize), n.div_ceil(wide as usize)];
        let tiles: usize = counts.iter().product();
        let strides = &piece.strides;
        // Which of two neighbours is nearer in memory.
        let near = |n: usize, loops: usize| strides[n][loops].unsigned_abs() < strides[n][inner.end - 1].unsigned_abs();
        let mut words = vec![near(0, row) as u32, near(1, columns.end - 1) as u32];
        words.extend(at.tiles.write(&counts, &[], &[]));
        let lead = [a, b, c].into_iter().zip(strides).map(|(first, s)| (first, &s[..batch]));
        words.extend(at.batch.write(&piece.dims[..batch], &lead.collect::<SmallVec<[_; 4]>>(), &[]));
        words.extend(at.rows.write(&[m], &[(0, &strides[0][row..=row]), (0, &strides[OUTPUT][row..=row])], &[]));
        let axes = || piece.at.iter().zip(strides).skip(AXES);
        let mut along: SmallVec<[(usize, &[isize]); 4]> =
            [1, OUTPUT].into_iter().map(|n| (0, &strides[n][columns.clone()])).collect();
        along.extend(axes().map(|(&(first, ..), s)| (first as usize, &s[columns.clone()])));
        words.extend(at.columns.write(&piece.dims[columns.clone()], &along, &[]));
        let mut along: SmallVec<[(usize, &[isize]); 4]> =
            [0, 1].into_iter().map(|n| (0, &strides[n][inner.clone()])).collect();
        along.extend(axes().map(|(_, s)| (0, &s[inner.clone()])));
        words.extend(at.inner.write(places, &along, &[]));
        words.extend(&task.extents);
        words.push(0);
        let groups = tiles.div_ceil(variant.tile.slots() as usize).min(self.can.max_groups as usize) as u32;
        let work = matrices.saturating_mul(m).saturating_mul(n).saturating_mul(k);
        let work = work.saturating_mul(weight(self.plan.dtype(), self.can.software));
        let charge = work as u128 * CHARGE as u128 / LONGEST[!self.can.software as usize] as u128;
        recorder.charge(u64::try_from(charge).unwrap_or(u64::MAX));
        recorder.dispatch(&pipeline, &words, &[left, right, output], groups)
    }

    /// Sums of half floats in several parts, in float32; rounded at the end.
    fn in_parts(&self, recorder: &mut Recorder, [a, b, c]: [&Operand; 3]) -> Result<()> {
        let layout = Layout::dense(c.layout.dims())?;
        let wide = recorder.scratch((layout.len() * DType::F32.bytes()) as u64)?;
        let sums = Operand { buffer: wide as Buffer, layout };
        let operands = [a, b, &sums];
        let task = self.task(operands)?;
        for piece in self.pieces(&task, DType::F32.bytes())? {
            let part = if piece.at[INNER].0 > 0 { Part::Further } else { Part::First };
            self.dispatch(recorder, &task, &piece, operands, part)?;
        }
        if self.narrow.get().is_none() {
            let mut builder = Builder::new();
            let x = builder.input(DType::F32);
            let y = builder.cast(x, self.plan.dtype());
            let map = Map { program: builder.finish(&[y]) };
            let _ = self.narrow.set(MapProgram::new(&map, &self.can, recorder.pipelines())?);
        }
        let narrow = self.narrow.get().ok_or_else(|| Error::internal("a map was made and is gone"))?;
        narrow.apply(recorder, &[sums], std::slice::from_ref(c), &[])
    }
}

impl Program for ContractProgram {
    fn record(&self, recorder: &mut Recorder, launch: &Launch) -> Result<()> {
        let ([x, y], [c]) = (&launch.inputs[..], &launch.outputs[..]) else {
            return Err(Error::internal("a product has two inputs and one output"));
        };
        // The weights of a convolution come second, and are what is multiplied from the left.
        let operands = if self.windows.is_some() { [y, x, c] } else { [x, y, c] };
        if c.layout.is_empty() {
            return Ok(());
        }
        let task = self.task(operands)?;
        let pieces = self.pieces(&task, self.plan.dtype().bytes())?;
        if self.plan.output(Part::First) != self.plan.dtype() && pieces.iter().any(|p| p.at[INNER].0 > 0) {
            return self.in_parts(recorder, operands);
        }
        for piece in &pieces {
            let part = if piece.at[INNER].0 > 0 { Part::Further } else { Part::Whole };
            self.dispatch(recorder, &task, piece, operands, part)?;
        }
        Ok(())
    }
}

//! Launches of matrix products and convolutions, cut so that descriptors show all operands and no dispatch takes too long.

mod loops;
mod tiles;

use self::loops::{Task, convolution, matrices};
use self::tiles::{tile, weight};
use super::map::{MapProgram, computes};
use super::pieces::{MOST, Piece, Pieces, ROUNDS};
use super::reduce::loops_inside;
use super::window::window;
use crate::Can;
use crate::Program;
use crate::code::Code;
use crate::emit::contract::{Part, Plan, Tile, Variant, shader};
use crate::emit::space::{Numbers, RANKS};
use crate::{Binding, Recorder};
use crate::{Compiled, Compiler};
use ferrotensor_core::backend::{Launch, Operand};
use ferrotensor_core::kernel::{Kernel, Map, Window, WindowCombine};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::scalar::{self, Builder, Op, Value};
use ferrotensor_core::{Error, Result, blocks};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Products of two float32 that a dispatch adds at most, of a software device and of a GPU: 100 ms at 5 GFLOP/s (measured on
/// Mesa's with two cores) and at the 0.3 TFLOP/s of small integrated ones.
const LONGEST: [usize; 2] = [1 << 28, 1 << 34];
/// What one submission may be charged in all, see [`Recorder::charge`].
const CHARGE: usize = 1 << 30;

/// Instructions, in plain form, of what comes after a product: they are written for each of a thread's up to 64 outputs. A bias and
/// a rectifier have 6, of half floats 20 times as many, each with its rounding. Functions are none of them: a hyperbolic tangent
/// took Mesa's compiler 1.8 s where a map takes 0.05.
const MOST_AFTER: usize = 200;

/// Inner places that a dispatch adds at most, whole blocks of every dtype: half as many as a thread may go round.
const PLACES: usize = 1 << 15;
const _: () = assert!(PLACES < ROUNDS && PLACES.is_multiple_of(blocks::BYTES));

/// Operands of a piece after `a` and `b`, see [`Task::whole`].
const OUTPUT: usize = 2;
const INNER: usize = 3;
const AXES: usize = 4;

/// A product in plain form, and its pipelines, made when first met.
pub struct ContractProgram {
    plan: Plan,
    /// Of parts, which have nothing after them.
    bare: Plan,
    /// What comes after the product.
    post: Option<scalar::Program>,
    windows: Option<Window>,
    can: Can,
    pipelines: Mutex<HashMap<Variant, Compiled>>,
    /// From the sums of several parts to what is written: rounded to half floats, and what comes after.
    finished: OnceLock<MapProgram>,
    /// Two totals to one.
    joined: OnceLock<MapProgram>,
}

/// What comes after a product.
fn post(kernel: &Kernel) -> Option<&scalar::Program> {
    if let Kernel::Contract(k) = kernel { k.post.as_ref() } else { None }
}

/// The plan of a matrix product or a convolution, with or without what comes after.
fn plan(kernel: &Kernel, bare: bool, can: &Can) -> Result<Plan, String> {
    match kernel {
        Kernel::Contract(k) if k.is_narrow() => Err("a product of narrower operands".into()),
        Kernel::Contract(k) => Ok(Plan::new(k.dtype, 0, k.post.as_ref().filter(|_| !bare), can)),
        Kernel::Window(k) if k.combine == WindowCombine::Dot => Ok(Plan::new(k.dtype, k.axes.len(), None, can)),
        other => Err(format!("a {} is no product", other.kind())),
    }
}

/// The plan of a matrix product or a convolution, and its smallest kernel.
///
/// # Errors
/// What the device lacks, in words.
pub fn emitted(kernel: &Kernel, can: &Can) -> Result<(Plan, Code), String> {
    let plan = plan(kernel, false, can)?;
    plan.programs().try_for_each(|program| computes(program, can))?;
    if let Some(post) = plan.post() {
        if post.uses_index() {
            return Err("a map that asks for positions after a product".into());
        }
        if loops_inside(post) || self::post(kernel).is_some_and(|p| p.instrs.iter().any(|i| matches!(i.op, Op::Call(_)))) {
            return Err("a function, or a loop, after a product".into());
        }
        if post.instrs.len() > MOST_AFTER {
            return Err(format!("a map of more than {MOST_AFTER} instructions after a product"));
        }
    }
    let least =
        Variant { tile: Tile::Registers { rows: 1, columns: 1, team: 1 }, rank: RANKS[0], part: Part::Whole, blocks: false };
    shader(&plan, least, can).map(|shader| (plan, shader))
}

/// What an output costs beside its products, as products.
fn after(plan: &Plan) -> usize {
    plan.post().map_or(0, |post| post.instrs.len())
}

impl ContractProgram {
    /// # Errors
    /// `Code::Unsupported` as [`emitted`]; the driver's.
    pub fn new(kernel: &Kernel, can: &Can, compiler: &dyn Compiler) -> Result<ContractProgram> {
        let (plan, shader) = emitted(kernel, can).map_err(Error::unsupported)?;
        // What the driver refuses it refuses here.
        compiler.compile(&shader)?;
        let windows = if let Kernel::Window(window) = kernel { Some(window.clone()) } else { None };
        let post = post(kernel).cloned();
        let bare = self::plan(kernel, true, can).map_err(Error::unsupported)?;
        let (can, pipelines) = (can.clone(), Mutex::default());
        let [finished, joined] = [(); 2].map(|()| OnceLock::new());
        Ok(ContractProgram { plan, bare, post, windows, can, pipelines, finished, joined })
    }

    fn plan(&self, part: Part) -> &Plan {
        if part == Part::Whole { &self.plan } else { &self.bare }
    }

    fn pipeline(&self, variant: Variant, compiler: &dyn Compiler) -> Result<Compiled> {
        let known = |made: &HashMap<Variant, Compiled>| made.get(&variant).cloned();
        if let Some(made) = known(&self.pipelines.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(made);
        }
        let shader = shader(self.plan(variant.part), variant, &self.can).map_err(Error::unsupported)?;
        let made = compiler.compile(&shader)?;
        self.pipelines.lock().unwrap_or_else(PoisonError::into_inner).insert(variant, Arc::clone(&made));
        Ok(made)
    }

    /// Operands: `a`, `b`, the output, those beside it.
    fn task(&self, operands: &[&Operand]) -> Result<Task> {
        match (&self.windows, operands) {
            (Some(window), [a, b, c]) => convolution(window, [&b.layout, &a.layout, &c.layout]),
            _ => matrices(&operands.iter().map(|o| &o.layout).collect::<SmallVec<[&Layout; 4]>>()),
        }
    }

    /// Pieces of a task that writes elements of a dtype.
    fn pieces(&self, task: &Task, part: Part) -> Result<Pieces> {
        let (plan, outer) = (self.plan(part), 1 + task.columns);
        let from = plan.dtype().bytes();
        let mut sizes = vec![Some(from), Some(from), Some(plan.output(part).bytes())];
        sizes.resize(AXES + plan.axes(), None);
        sizes.extend(plan.beside().iter().map(|d| Some(d.bytes())));
        let most = LONGEST[!self.can.software as usize] / weight(self.plan.dtype(), self.can.software);
        let heavy = |piece: &Piece| {
            let batch = piece.dims.len() - piece.apart;
            let (outputs, inner) = piece.dims.split_at(batch + outer);
            let (count, each) = (outputs.iter().product::<usize>(), inner.iter().product::<usize>());
            if batch > RANKS[RANKS.len() - 1] {
                return Some(0);
            }
            // More places are added by several dispatches.
            let each = each.min(PLACES);
            let long = count > MOST || count.saturating_mul(each + after(plan)) > most;
            let longest = (0..outputs.len()).max_by_key(|&n| outputs[n]).filter(|&n| outputs[n] > 1);
            longest.filter(|_| long)
        };
        task.whole.clone().cut(&sizes, (self.can.max_range - self.can.alignment) as usize, &heavy)
    }

    fn dispatch(
        &self,
        recorder: &mut dyn Recorder,
        task: &Task,
        piece: &Piece,
        (operands, params): (&[&Operand], &[u64]),
        (places, part): (Range<usize>, Part),
    ) -> Result<()> {
        let plan = self.plan(part);
        let (from, to) = (plan.dtype().bytes(), plan.output(part).bytes());
        let alignment = self.can.alignment;
        let (left, a) = window(operands[0], from, piece, 0, alignment, false)?;
        let (right, b) = window(operands[1], from, piece, 1, alignment, false)?;
        let (output, c) = window(operands[2], to, piece, OUTPUT, alignment, true)?;
        let mut bindings: SmallVec<[Binding; 4]> = SmallVec::from_iter([left, right, output]);
        // Of the operands beside the output: where they begin, and which operands of the piece they are.
        let mut beside: SmallVec<[(usize, usize); 2]> = SmallVec::new();
        for (n, (operand, dtype)) in operands[3..].iter().zip(plan.beside()).enumerate() {
            let walked = AXES + plan.axes() + n;
            let (binding, first) = window(operand, dtype.bytes(), piece, walked, alignment, false)?;
            bindings.push(binding);
            beside.push((first, walked));
        }
        let batch = piece.dims.len() - piece.apart;
        let (row, columns) = (batch, batch + 1..batch + 1 + task.columns);
        let inner = columns.end..piece.dims.len();
        let none = [0; 1 + crate::emit::contract::MOST_AXES];
        let axes_of_places = if task.nothing { &none[..inner.len()] } else { &piece.dims[inner.clone()] };
        let sizes = [
            piece.dims[..batch].iter().product::<usize>(),
            piece.dims[row],
            piece.dims[columns.clone()].iter().product(),
            places.len(),
        ];
        let variant = Variant {
            tile: tile(plan, sizes, self.can.software),
            rank: RANKS.iter().copied().find(|&r| r >= batch).unwrap_or(RANKS[RANKS.len() - 1]),
            part,
            blocks: part == Part::Further || places.len() > plan.block(),
        };
        let pipeline = self.pipeline(variant, recorder.compiler())?;
        let at = plan.places(variant.rank);
        let (high, wide) = variant.tile.extent();
        let [matrices, m, n, k] = sizes;
        let counts = [matrices, m.div_ceil(high as usize), n.div_ceil(wide as usize)];
        let tiles: usize = counts.iter().product();
        let strides = &piece.strides;
        // Which of two neighbours is nearer in memory; outputs lie along the columns mostly.
        let step = |n: usize, along: usize| strides[n][along].unsigned_abs();
        let near = [step(0, row) < step(0, inner.end - 1), step(1, columns.end - 1) <= step(1, inner.end - 1)];
        let mut words = Numbers::from_slice(&near.map(u32::from));
        words.extend([places.start as u32, places.end as u32]);
        words.extend(at.tiles.write(&counts, &[], &[]));
        let lead = [(a, 0), (b, 1), (c, OUTPUT)].into_iter().chain(beside.iter().copied());
        let lead = lead.map(|(first, n)| (first, &strides[n][..batch]));
        words.extend(at.batch.write(&piece.dims[..batch], &lead.collect::<SmallVec<[_; 4]>>(), &[]));
        let written = || std::iter::once(OUTPUT).chain(beside.iter().map(|&(_, n)| n));
        let along = std::iter::once(0).chain(written()).map(|n| (0, &strides[n][row..=row]));
        words.extend(at.rows.write(&[m], &along.collect::<SmallVec<[_; 4]>>(), &[]));
        let axes = || piece.at.iter().zip(strides).skip(AXES).take(plan.axes());
        let mut along: SmallVec<[(usize, &[isize]); 4]> =
            std::iter::once(1).chain(written()).map(|n| (0, &strides[n][columns.clone()])).collect();
        along.extend(axes().map(|(&(first, ..), s)| (first as usize, &s[columns.clone()])));
        words.extend(at.columns.write(&piece.dims[columns.clone()], &along, &[]));
        let mut along: SmallVec<[(usize, &[isize]); 4]> =
            [0, 1].into_iter().map(|n| (0, &strides[n][inner.clone()])).collect();
        along.extend(axes().map(|(_, s)| (0, &s[inner.clone()])));
        words.extend(at.inner.write(axes_of_places, &along, &[]));
        words.extend_from_slice(&task.extents);
        words.extend(params.iter().flat_map(|&p| [p as u32, (p >> 32) as u32]));
        words.push(0);
        let groups = tiles.div_ceil(variant.tile.slots() as usize).min(self.can.max_groups as usize) as u32;
        let each = k.saturating_mul(weight(plan.dtype(), self.can.software)).saturating_add(after(plan));
        let work = matrices.saturating_mul(m).saturating_mul(n).saturating_mul(each);
        let charge = work as u128 * CHARGE as u128 / LONGEST[!self.can.software as usize] as u128;
        recorder.charge(u64::try_from(charge).unwrap_or(u64::MAX));
        recorder.dispatch(&pipeline, &words, &bindings, None, groups)
    }

    /// Inner places of a piece.
    fn inner(&self, task: &Task, piece: &Piece) -> usize {
        let inner = piece.dims.len() - piece.apart + 1 + task.columns;
        if task.nothing { 0 } else { piece.dims[inner..].iter().product() }
    }

    /// Adds some inner places of a task by as many dispatches as they take, whose totals lie in the output meanwhile.
    fn add(
        &self,
        recorder: &mut dyn Recorder,
        (task, pieces): (&Task, &Pieces),
        operands: &[&Operand],
        total: Range<usize>,
    ) -> Result<()> {
        for piece in pieces {
            let inner = self.inner(task, piece);
            let end = total.end.min(inner);
            // A sum of nothing is written too.
            for from in (total.start..end.max(total.start + 1)).step_by(PLACES) {
                let is_first = from == total.start && piece.at[INNER].0 == 0;
                let part = if is_first { Part::First } else { Part::Further };
                let places = from..end.min(from + PLACES);
                self.dispatch(recorder, task, piece, (operands, &[]), (places, part))?;
            }
        }
        Ok(())
    }

    /// Memory for sums of an output's shape.
    fn sums(&self, recorder: &mut dyn Recorder, output: &Operand) -> Result<Operand> {
        let layout = Layout::dense(output.layout.dims())?;
        let bytes = layout.len() * self.bare.output(Part::First).bytes();
        Ok(Operand { buffer: recorder.scratch(bytes as u64)?, layout })
    }

    /// A map of ours, made when first met; `write` gives what it has.
    fn made<'a>(
        &self,
        place: &'a OnceLock<MapProgram>,
        recorder: &dyn Recorder,
        write: impl FnOnce(&mut Builder) -> Vec<Value>,
    ) -> Result<&'a MapProgram> {
        if place.get().is_none() {
            let mut builder = Builder::new();
            let results = write(&mut builder);
            let map = Map { program: builder.finish(&results) };
            let _ = place.set(MapProgram::new(&map, &self.can, recorder.compiler())?);
        }
        place.get().ok_or_else(|| Error::internal("a map was made and is gone"))
    }

    /// Sums in several parts, half floats in float32; rounded, and what comes after, at the end.
    fn in_parts(&self, recorder: &mut dyn Recorder, operands: &[&Operand], params: &[u64]) -> Result<()> {
        let &[a, b, c, ref beside @ ..] = operands else { return Err(Error::internal("a product without operands")) };
        let dtype = self.bare.output(Part::First);
        let mut sums = self.sums(recorder, c)?;
        let task = self.task(&[a, b, &sums])?;
        let pieces = self.pieces(&task, Part::First)?;
        // Where an operand's inner places are cut, those of a piece are one total.
        let is_cut = pieces.iter().any(|piece| piece.at[INNER].0 > 0);
        let inner = pieces.first().map_or(0, |piece| self.inner(&task, piece));
        let total = if is_cut { inner } else { self.bare.block() * blocks::BLOCKS };
        self.add(recorder, (&task, &pieces), &[a, b, &sums], 0..if is_cut { usize::MAX } else { total })?;
        for from in (total..inner).step_by(total) {
            let running = self.sums(recorder, c)?;
            self.add(recorder, (&task, &pieces), &[a, b, &running], from..from + total)?;
            let both = self.sums(recorder, c)?;
            let joined = self.made(&self.joined, recorder, |builder| {
                let (x, y) = (builder.input(dtype), builder.input(dtype));
                vec![builder.binary(Op::Add, x, y)]
            })?;
            joined.apply(recorder, &[sums, running], std::slice::from_ref(&both), &[])?;
            sums = both;
        }
        let finished = self.made(&self.finished, recorder, |builder| {
            let x = builder.input(dtype);
            let product = builder.cast(x, self.plan.dtype());
            match &self.post {
                Some(post) => {
                    let beside: Vec<Value> = post.inputs[1..].iter().map(|&d| builder.input(d)).collect();
                    let params: Vec<Value> = post.params.iter().map(|&d| builder.param(d)).collect();
                    builder.inline(post, &[&[product], &beside[..]].concat(), &params)
                }
                None => vec![product],
            }
        })?;
        let inputs: Vec<Operand> = std::iter::once(&sums).chain(beside.iter().copied()).cloned().collect();
        finished.apply(recorder, &inputs, std::slice::from_ref(c), params)
    }
}

impl Program for ContractProgram {
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()> {
        let ([x, y, beside @ ..], [c]) = (&launch.inputs[..], &launch.outputs[..]) else {
            return Err(Error::internal("a product has two factors and one output"));
        };
        // The weights of a convolution come second, and are what is multiplied from the left.
        let [a, b] = if self.windows.is_some() { [y, x] } else { [x, y] };
        let operands: SmallVec<[&Operand; 4]> = [a, b, c].into_iter().chain(beside).collect();
        if operands.len() != 3 + self.plan.beside().len() {
            return Err(Error::internal("a product with too few or too many operands"));
        }
        if c.layout.is_empty() {
            return Ok(());
        }
        let task = self.task(&operands)?;
        let pieces = self.pieces(&task, Part::Whole)?;
        let is_whole = |piece: &Piece| piece.at[INNER].0 == 0 && self.inner(&task, piece) <= PLACES;
        if task.apart || !pieces.iter().all(is_whole) {
            return self.in_parts(recorder, &operands, &launch.params);
        }
        for piece in &pieces {
            let places = 0..self.inner(&task, piece);
            self.dispatch(recorder, &task, piece, (&operands, &launch.params), (places, Part::Whole))?;
        }
        Ok(())
    }
}

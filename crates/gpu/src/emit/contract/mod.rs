//! The kernels of matrix products and convolutions. Both add, for each output, the products of a row of `a` and a column of `b`
//! over the inner places, block by block (`ferrotensor_core::blocks`); a convolution's rows are its weights, its columns the windows, its
//! inner places channels and places of a window, and what a window shows outside of the data is zero.
//!
//! How a launch is cut into tiles is chosen when it is recorded: [`registers`] keeps all in registers, [`shared`] goes through
//! shared memory. This file has what they have in common: the arithmetic, and where elements are.

mod careful;
mod plan;
mod registers;
mod shared;

pub use plan::{MOST_AXES, Places, Plan};

use self::plan::HEAD;
use super::element::{self, Operand};
use super::module::Module;
use super::scalar::{self, Id, Words, held};
use super::space::Known;
use super::words::{both, less, word};
use crate::Can;
use crate::code::{Code, GROUP, Inst, Type, Word};
use ferrotensor_core::scalar::Program;
use smallvec::SmallVec;

/// Which part of the inner places a kernel adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All.
    Whole,
    /// The first of several: leaves a total.
    First,
    /// Another one, whose blocks are added to the total that is there.
    Further,
}

/// Who computes which outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tile {
    /// Each thread has so many rows and columns; the threads of a team (a power of two) share the blocks of inner places.
    #[allow(missing_docs)]
    Registers { rows: u32, columns: u32, team: u32 },
    /// A group of 16 x 16 threads with so many rows and columns each, `depth` inner places at a time from shared memory. A group
    /// has at least as many elements of each operand to load as threads.
    #[allow(missing_docs)]
    Shared { rows: u32, columns: u32, depth: u32 },
}

impl Tile {
    /// Rows and columns of a tile.
    pub fn extent(self) -> (u32, u32) {
        match self {
            Tile::Registers { rows, columns, .. } => (rows, columns),
            Tile::Shared { rows, columns, .. } => (shared::SIDE * rows, shared::SIDE * columns),
        }
    }

    /// Tiles that a group of threads works on at once.
    pub fn slots(self) -> u32 {
        match self {
            Tile::Registers { team, .. } => GROUP / team,
            Tile::Shared { .. } => 1,
        }
    }
}

/// One of the kernels of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub struct Variant {
    pub tile: Tile,
    /// Loops of the batch.
    pub rank: usize,
    pub part: Part,
    /// Whether there may be more than one block of inner places, or a total is there already.
    pub blocks: bool,
}

/// A row of a tile: whether there is one, and where it is in `a`, in the output and the operands beside it.
struct Row {
    exists: Word,
    a: Word,
    written: Written,
}

/// A column of a tile: whether there is one, where it is in `b`, how far from a row's start in the output and the operands beside
/// it, and its window's positions.
struct Column {
    exists: Word,
    b: Word,
    written: Written,
    at: Vec<Word>,
}

/// A place in the output and in the operands beside it.
type Written = SmallVec<[Word; 2]>;

/// An inner place: where it is in `a` and `b`, and in windows.
struct Inner {
    a: Word,
    b: Word,
    at: Vec<Word>,
}

/// What all kernels of a plan need while they are written.
struct Writer<'a> {
    plan: &'a Plan,
    /// Type of each word of a value.
    types: Vec<Type>,
    part: Part,
    operands: [Operand; 3],
    /// Those that `post` takes, and its parameters.
    beside: Vec<Operand>,
    params: Vec<Id>,
    /// From a sum to what is written of it, and back.
    leave: Program,
    resumed: Program,
    tiles: Known,
    batch: Known,
    rows: Known,
    columns: Known,
    inner: Known,
    extents: Vec<Word>,
    /// Tiles, rows, columns.
    counts: [Word; 3],
    near: [Word; 2],
    /// The first inner place, and that after the last one.
    ends: [Word; 2],
    zero: Words,
    /// What totals begin with.
    none: Words,
    /// Products are added by the step that meets any number.
    is_careful: bool,
    trouble: Result<(), String>,
}

/// One of the kernels of a plan.
///
/// # Errors
/// A sentence naming what the device lacks.
pub fn shader(plan: &Plan, variant: Variant, can: &Can) -> Result<Code, String> {
    let output = plan.output(variant.part);
    [plan.dtype, output].iter().chain(plan.beside()).try_for_each(|&d| element::check(d, can))?;
    if !plan.beside().is_empty() && 3 + plan.beside().len() > can.max_buffers as usize {
        return Err(format!("more than {} operands", can.max_buffers));
    }
    if plan.axes > MOST_AXES {
        return Err(format!("windows over more than {MOST_AXES} axes"));
    }
    let places = plan.places(variant.rank);
    let mut m = Module::new(places.end());
    let operands =
        [(plan.dtype, false), (plan.dtype, false), (output, true)].map(|(d, written)| Operand::new(&mut m, d, written, can));
    let beside = plan.beside().iter().map(|&d| Operand::new(&mut m, d, false, can)).collect();
    let params = plan.params().iter().zip(0..).map(|(&d, n)| element::parameter(&mut m, d, places.param(n))).collect();
    let spaces = [places.tiles, places.batch, places.rows, places.columns, places.inner];
    let [tiles, batch, rows, columns, inner] = spaces.map(|space| Known::new(&mut m, space));
    let counts = [places.tiles, places.rows, places.columns].map(|space| m.argument(space.start));
    let extents = (0..places.axes).map(|n| m.argument(places.extents + n)).collect();
    let [x, y, first, end]: [Word; HEAD as usize] = [0, 1, 2, 3].map(|n| m.argument(n));
    let [leave, resumed] = plan.written(if variant.part == Part::Whole { plan.dtype } else { output });
    let parts = if plan.acc.is_complex() { 2 } else { 1 };
    let mut w = Writer {
        plan,
        types: vec![held(plan.acc); parts],
        part: variant.part,
        operands,
        beside,
        params,
        leave,
        resumed,
        tiles,
        batch,
        rows,
        columns,
        inner,
        extents,
        counts,
        near: [x, y],
        ends: [first, end],
        zero: Words::new(),
        none: Words::new(),
        is_careful: false,
        trouble: Ok(()),
    };
    w.zero = w.call(&mut m, &plan.nothing, &[]);
    w.none = w.call(&mut m, &plan.none, &[]);
    match variant.tile {
        Tile::Registers { rows, columns, team } => registers::write(&mut m, &mut w, [rows, columns], team, variant.blocks),
        Tile::Shared { rows, columns, depth } => shared::write(&mut m, &mut w, [rows, columns], depth, variant.blocks),
    }
    w.trouble.map(|()| m.finish())
}

/// `n`, and whether it is below `count`; else the last one.
fn clamped(m: &mut Module, n: Word, count: Word) -> (Word, Word) {
    let (exists, one) = (less(m, n, count), m.word(1));
    let last = word(m, Inst::ISub, count, one);
    (m.op(Inst::Select, Type::U32, &[exists, n, last]), exists)
}

impl Writer<'_> {
    /// A program's output; a problem is remembered, and something else returned.
    fn call(&mut self, m: &mut Module, program: &Program, inputs: &[Id]) -> Words {
        match scalar::call(m, program, inputs) {
            Ok(id) => id.words(),
            Err(reason) => {
                self.trouble = Err(reason);
                self.types.iter().map(|&of| m.constant(of, 0)).collect()
            }
        }
    }

    /// The sum with one product more.
    fn step(&mut self, m: &mut Module, x: &[Word], y: &[Word], sum: &[Word]) -> Words {
        let step = self.plan.careful.as_ref().filter(|_| self.is_careful).map_or(&self.plan.step, |careful| &careful.step);
        self.call(m, step, &[x, y, sum].map(Id::of))
    }

    /// The sum of two sums.
    fn meet(&mut self, m: &mut Module, x: &[Word], y: &[Word]) -> Words {
        self.call(m, &self.plan.meet, &[x, y].map(Id::of))
    }

    fn select(&self, m: &mut Module, condition: Word, x: &[Word], y: &[Word]) -> Words {
        let pick = |((&of, &x), &y): ((&Type, &Word), &Word)| m.op(Inst::Select, of, &[condition, x, y]);
        self.types.iter().zip(x).zip(y).map(pick).collect()
    }

    /// The values, each a number of words, as what a loop carries.
    fn typed(&self, words: &[Word]) -> Vec<(Type, Word)> {
        self.types.iter().copied().cycle().zip(words.iter().copied()).collect()
    }

    /// The `n`-th value among words.
    fn nth<'b>(&self, words: &'b [Word], n: usize) -> &'b [Word] {
        &words[n * self.types.len()..(n + 1) * self.types.len()]
    }

    /// Where the matrices of a tile begin in `a`, `b`, the output and the operands beside it, and the tile's numbers among rows
    /// and columns.
    fn tile(&mut self, m: &mut Module, tile: Word) -> (Vec<Word>, [Word; 2]) {
        let numbers = self.tiles.coordinates(m, tile);
        let at = self.batch.coordinates(m, numbers[0]);
        let base = (0..3 + self.beside.len()).map(|n| self.batch.position(m, n, &at)).collect();
        (base, [numbers[1], numbers[2]])
    }

    fn row(&mut self, m: &mut Module, base: &[Word], i: Word) -> Row {
        let (i, exists) = clamped(m, i, self.counts[1]);
        let mut place = |n: usize, operand: usize| {
            let far = self.rows.reach(m, n, &[i]);
            word(m, Inst::IAdd, base[operand], far)
        };
        let a = place(0, 0);
        let written = (0..1 + self.beside.len()).map(|n| place(1 + n, 2 + n)).collect();
        Row { exists, a, written }
    }

    fn column(&mut self, m: &mut Module, base: &[Word], j: Word) -> Column {
        let (j, exists) = clamped(m, j, self.counts[2]);
        let coordinates = self.columns.coordinates(m, j);
        let far = self.columns.reach(m, 0, &coordinates);
        let b = word(m, Inst::IAdd, base[1], far);
        let first_axis = 2 + self.beside.len();
        let written = (1..first_axis).map(|n| self.columns.reach(m, n, &coordinates)).collect();
        let at = (0..self.extents.len()).map(|n| self.columns.position(m, first_axis + n, &coordinates)).collect();
        Column { exists, b, written, at }
    }

    fn inner(&mut self, m: &mut Module, k: Word) -> Inner {
        let coordinates = self.inner.coordinates(m, k);
        let [a, b] = [0, 1].map(|n| self.inner.reach(m, n, &coordinates));
        let at = (0..self.extents.len()).map(|n| self.inner.reach(m, 2 + n, &coordinates)).collect();
        Inner { a, b, at }
    }

    /// The element of `a` at a row and an inner place.
    fn left(&mut self, m: &mut Module, row: &Row, inner: &Inner) -> Words {
        let at = word(m, Inst::IAdd, row.a, inner.a);
        let x = self.operands[0].load(m, at);
        self.call(m, &self.plan.enter, &[x])
    }

    /// The element of `b` at an inner place and a column; zero outside of the data.
    fn right(&mut self, m: &mut Module, column: &Column, inner: &Inner) -> Words {
        let at = word(m, Inst::IAdd, column.b, inner.b);
        let inside = (0..self.extents.len()).map(|n| {
            // Below the first position it wraps to one beyond all.
            let place = word(m, Inst::IAdd, column.at[n], inner.at[n]);
            less(m, place, self.extents[n])
        });
        let inside: Vec<Word> = inside.collect();
        let Some(inside) = inside.into_iter().reduce(|x, y| both(m, x, y)) else {
            let x = self.operands[1].load(m, at);
            return self.call(m, &self.plan.enter, &[x]);
        };
        // What is read instead is not looked at: the first element of what is bound.
        let first = m.word(0);
        let at = m.op(Inst::Select, Type::U32, &[inside, at, first]);
        let x = self.operands[1].load(m, at);
        let x = self.call(m, &self.plan.enter, &[x]);
        let zero = self.zero.clone();
        self.select(m, inside, &x, &zero)
    }

    /// What the totals of a thread's rows and columns begin with: those that are there, if others were before.
    fn totals(&mut self, m: &mut Module, rows: &[Row], columns: &[Column]) -> Vec<Word> {
        if self.part != Part::Further {
            return (0..rows.len() * columns.len()).flat_map(|_| self.none.clone()).collect();
        }
        let resumed = self.resumed.clone();
        let mut totals = Vec::new();
        for (row, column) in rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column))) {
            let at = word(m, Inst::IAdd, row.written[0], column.written[0]);
            let before = self.operands[2].load(m, at);
            totals.extend(self.call(m, &resumed, &[before]));
        }
        totals
    }

    /// Totals with sums added, one by one.
    fn met(&mut self, m: &mut Module, totals: &[Word], sums: &[Word]) -> Vec<Word> {
        let parts = self.types.len();
        totals.chunks(parts).zip(sums.chunks(parts)).flat_map(|(total, sum)| self.meet(m, total, sum)).collect()
    }

    /// The smaller of two numbers.
    fn least(m: &mut Module, x: Word, y: Word) -> Word {
        let less = less(m, x, y);
        m.op(Inst::Select, Type::U32, &[less, x, y])
    }

    /// Writes a sum, or what `post` makes of it.
    fn store(&mut self, m: &mut Module, row: &Row, column: &Column, sum: &[Word]) {
        let places = row.written.iter().zip(&column.written);
        let places: Written = places.map(|(&row, &column)| word(m, Inst::IAdd, row, column)).collect();
        let at = places[0];
        let leave = self.leave.clone();
        let value = self.call(m, &leave, &[Id::of(sum)]);
        let value = match &self.plan.post {
            Some(post) if self.part == Part::Whole => {
                let beside = self.beside.iter().zip(&places[1..]);
                let beside: Vec<Id> = beside.map(|(operand, &at)| operand.load(m, at)).collect();
                match scalar::call_with(m, post, &[&[Id::of(&value)], &beside[..]].concat(), &self.params) {
                    Ok(id) => id,
                    Err(reason) => {
                        self.trouble = Err(reason);
                        return;
                    }
                }
            }
            _ => Id::of(&value),
        };
        self.operands[2].store(m, at, value);
    }

    /// Writes the sums of a thread's rows and columns, those that exist.
    fn store_all(&mut self, m: &mut Module, writes: Option<Word>, rows: &[Row], columns: &[Column], sums: &[Word]) {
        for (r, row) in rows.iter().enumerate() {
            for (c, column) in columns.iter().enumerate() {
                let mut exists = both(m, row.exists, column.exists);
                if let Some(writes) = writes {
                    exists = both(m, exists, writes);
                }
                let sum = Words::from_slice(self.nth(sums, r * columns.len() + c));
                m.when(exists, |m| self.store(m, row, column, &sum));
            }
        }
    }

    /// The products of a thread's rows and columns at an inner place, added to its sums.
    fn products(&mut self, m: &mut Module, left: &[Words], right: &[Words], sums: &[Word]) -> Vec<Word> {
        let mut next = Vec::with_capacity(sums.len());
        for (r, x) in left.iter().enumerate() {
            for (c, y) in right.iter().enumerate() {
                let sum = Words::from_slice(self.nth(sums, r * right.len() + c));
                next.extend(self.step(m, x, y, &sum));
            }
        }
        next
    }
}

//! Products by tiles in shared memory: a group of 16 x 16 threads loads some inner places of a tile's rows and columns together,
//! in the order in which they lie in memory, and each thread multiplies those of its own rows and columns from there. What the
//! next round needs is under way from memory while this one is multiplied.

use super::careful::{self, Met, Outputs};
use super::{Column, Row, Writer, less, word};
use crate::code::{GROUP, Inst, Type, Word};
use crate::emit::module::{Array, Module};
use crate::emit::scalar::Words;

/// Threads along each side of a tile.
pub const SIDE: u32 = 16;

/// One operand's part of a tile, and who loads what of it.
struct Side {
    /// Inner places, each of which has a row of the array.
    arrays: Vec<Array>,
    /// Elements of a row of the array, some of them unused.
    pitch: u32,
    /// Rows (columns) of the tile that a thread has.
    own: u32,
    /// Those of a thread that lie side by side: 16 bytes, which hardware loads at once.
    together: u32,
    /// Elements that a thread loads, and where the first is along the tile and along the inner places, and how far from each other.
    loads: u32,
    start: [Word; 2],
    step: [Word; 2],
}

impl Side {
    /// `near`: whether neighbours along the tile are nearer in memory than along the inner places.
    fn new(m: &mut Module, w: &Writer, own: u32, depth: u32, local: Word, near: Word) -> Side {
        let (across, bytes) = (SIDE * own, w.plan.bytes() / w.types.len() as u32);
        let together = (16 / bytes).clamp(1, own);
        // Threads of different inner places write to different banks.
        let pitch = across + (16 / bytes).max(1);
        let arrays = w.types.iter().map(|&of| m.array(of, pitch * depth, true)).collect();
        let zero = m.word(0);
        let inner_first = place_of(m, local, depth);
        let [inner, along] = inner_first;
        let [along_near, inner_near] = place_of(m, local, across);
        let nonzero = m.op(Inst::INotEqual, Type::Bool, &[near, zero]);
        let mut pick = |x: Word, y: Word| m.op(Inst::Select, Type::U32, &[nonzero, x, y]);
        let start = [pick(along_near, along), pick(inner_near, inner)];
        let step = [GROUP / depth, GROUP / across].map(|v| m.word(v));
        let mut pick = |x: Word, y: Word| m.op(Inst::Select, Type::U32, &[nonzero, x, y]);
        let step = [pick(zero, step[0]), pick(step[1], zero)];
        Side { arrays, pitch, own, together, loads: across * depth / GROUP, start, step }
    }

    /// Where along the tile and the inner places the `n`-th element is that this thread loads.
    fn load(&self, m: &mut Module, n: u32) -> [Word; 2] {
        let n = m.word(n);
        [0, 1].map(|k| {
            let far = word(m, Inst::IMul, n, self.step[k]);
            word(m, Inst::IAdd, self.start[k], far)
        })
    }

    /// Where along the tile the thread's `n`-th row (column) is.
    fn place(&self, m: &mut Module, thread: Word, n: u32) -> Word {
        let [width, offset] =
            [self.together, n / self.together * SIDE * self.together + n % self.together].map(|v| m.word(v));
        let first = word(m, Inst::IMul, thread, width);
        word(m, Inst::IAdd, first, offset)
    }

    /// Puts loaded elements into shared memory.
    fn fill(&self, m: &mut Module, w: &Writer, values: &[Word]) {
        for n in 0..self.loads {
            let [along, inner] = self.load(m, n);
            let pitch = m.word(self.pitch);
            let row = word(m, Inst::IMul, inner, pitch);
            let at = word(m, Inst::IAdd, row, along);
            let value = w.nth(values, n as usize);
            self.arrays.iter().zip(value).for_each(|(&array, &x)| m.set(array, at, x));
        }
    }

    /// The thread's elements at an inner place.
    fn read(&self, m: &mut Module, places: &[Word], inner: u32) -> Vec<Words> {
        let row = m.word(inner * self.pitch);
        let read = |&place: &Word| {
            let at = word(m, Inst::IAdd, place, row);
            self.arrays.iter().map(|&array| m.get(array, at)).collect()
        };
        places.iter().map(read).collect()
    }
}

/// A number's remainder and quotient by a power of two.
fn place_of(m: &mut Module, n: Word, by: u32) -> [Word; 2] {
    let [mask, shift] = [by - 1, by.trailing_zeros()].map(|v| m.word(v));
    [word(m, Inst::BitwiseAnd, n, mask), word(m, Inst::ShiftRightLogical, n, shift)]
}

pub fn write(m: &mut Module, w: &mut Writer, [rows, columns]: [u32; 2], depth: u32, blocks: bool) {
    let [local, group, groups] = m.thread();
    let (total, [begin, end]) = (w.counts[0], w.ends);
    let left = Side::new(m, w, rows, depth, local, w.near[0]);
    let right = Side::new(m, w, columns, depth, local, w.near[1]);
    let telling = w.plan.careful.is_some().then(|| m.array(Type::U32, GROUP, true));
    let [x, y] = place_of(m, local, SIDE);
    let own: [Vec<Word>; 2] = [(&left, y), (&right, x)].map(|(side, thread)| {
        let places = (0..side.own).map(|n| side.place(m, thread, n));
        places.collect()
    });
    let more = |m: &mut Module, v: &[Word]| less(m, v[0], total);
    m.repeat(&[(Type::U32, group)], more, |m, v| {
        let (base, numbers) = w.tile(m, v[0]);
        let [high, wide, deep] = [SIDE * rows, SIDE * columns, depth].map(|v| m.word(v));
        let (i, j) = (word(m, Inst::IMul, numbers[0], high), word(m, Inst::IMul, numbers[1], wide));
        let loaded_rows: Vec<Row> = (0..left.loads)
            .map(|n| {
                let [along, _] = left.load(m, n);
                let i = word(m, Inst::IAdd, i, along);
                w.row(m, &base, i)
            })
            .collect();
        let loaded_columns: Vec<Column> = (0..right.loads)
            .map(|n| {
                let [along, _] = right.load(m, n);
                let j = word(m, Inst::IAdd, j, along);
                w.column(m, &base, j)
            })
            .collect();
        // What is loaded for the round that begins at an inner place: zeros after the last one, of which those of `a` are minus zeros, so that
        // their products change no sum, not even the sign of a zero.
        let fetch = |m: &mut Module, w: &mut Writer, k: Word| -> Vec<Word> {
            let mut values = Vec::new();
            let (zero, none) = (w.zero.clone(), w.none.clone());
            for (n, row) in loaded_rows.iter().enumerate() {
                let (place, exists) = at(m, w, &left, n as u32, k, end);
                let value = w.left(m, row, &place);
                values.extend(w.select(m, exists, &value, &none));
            }
            for (n, column) in loaded_columns.iter().enumerate() {
                let (place, exists) = at(m, w, &right, n as u32, k, end);
                let value = w.right(m, column, &place);
                values.extend(w.select(m, exists, &value, &zero));
            }
            values
        };
        let own_rows: Vec<Row> = own[0]
            .iter()
            .map(|&along| {
                let i = word(m, Inst::IAdd, i, along);
                w.row(m, &base, i)
            })
            .collect();
        let own_columns: Vec<Column> = own[1]
            .iter()
            .map(|&along| {
                let j = word(m, Inst::IAdd, j, along);
                w.column(m, &base, j)
            })
            .collect();
        let fetched = fetch(m, w, begin);
        let met = w.unmet(m);
        let met = w.meets(m, met, &fetched);
        let zeros: Vec<Word> = (0..rows * columns).flat_map(|_| w.zero.clone()).collect();
        let parts = w.types.len();
        // The sums over places up to another one, from zero on, and what was loaded last, with what was met.
        let chain = |m: &mut Module, w: &mut Writer, from: Word, to: Word, (fetched, met): (&[Word], Met)| {
            let mut state = vec![(Type::U32, from)];
            state.extend(w.typed(&zeros));
            state.extend(w.typed(fetched));
            let state = w.carrying(state, met);
            let (sums, ends) = (1 + zeros.len(), 1 + zeros.len() + fetched.len());
            let again = |m: &mut Module, v: &[Word]| less(m, v[0], to);
            let done = m.repeat(&state, again, |m, v| {
                let (a, b) = v[sums..ends].split_at(left.loads as usize * parts);
                m.barrier();
                left.fill(m, w, a);
                right.fill(m, w, b);
                m.barrier();
                let next = word(m, Inst::IAdd, v[0], deep);
                let fetched = fetch(m, w, next);
                let mut now = v[1..sums].to_vec();
                for k in 0..depth {
                    let (a, b) = (left.read(m, &own[0], k), right.read(m, &own[1], k));
                    now = w.products(m, &a, &b, &now);
                }
                let met = w.meets(m, w.carried(v), &fetched);
                [vec![next], now, fetched, met.into_iter().collect()].concat()
            });
            (done[1..sums].to_vec(), done[sums..ends].to_vec(), w.carried(&done))
        };
        let (sums, met) = if blocks {
            let totals = w.totals(m, &own_rows, &own_columns);
            let mut state = vec![(Type::U32, begin)];
            state.extend(w.typed(&totals));
            state.extend(w.typed(&fetched));
            let state = w.carrying(state, met);
            let (here, ends) = (1 + totals.len(), 1 + totals.len() + fetched.len());
            let again = |m: &mut Module, v: &[Word]| less(m, v[0], end);
            let done = m.repeat(&state, again, |m, v| {
                let block = m.word(w.plan.block() as u32);
                let next = word(m, Inst::IAdd, v[0], block);
                let to = Writer::least(m, next, end);
                let (sums, fetched, met) = chain(m, w, v[0], to, (&v[here..ends], w.carried(v)));
                [vec![next], w.met(m, &v[1..here], &sums), fetched, met.into_iter().collect()].concat()
            });
            (done[1..here].to_vec(), w.carried(&done))
        } else {
            let (sums, _, met) = chain(m, w, begin, end, (&fetched, met));
            (sums, met)
        };
        let (Some(met), Some(words)) = (met, telling) else {
            w.store_all(m, None, &own_rows, &own_columns, &sums);
            return vec![word(m, Inst::IAdd, v[0], groups)];
        };
        // Along one side of the group's square, and then along the other.
        let [one, side, all] = [1, SIDE, GROUP].map(|v| m.word(v));
        let line = word(m, Inst::ISub, local, x);
        let met = careful::told(m, words, local, [line, one], SIDE, met);
        let met = careful::told(m, words, local, [x, side], SIDE, met);
        let extent = [SIDE * rows, SIDE * columns];
        let anew = Outputs { base: &base, from: [i, j], extent, first: local, next: all, exists: None, blocks };
        careful::store(m, w, met, (None, &own_rows, &own_columns, &sums), &anew);
        vec![word(m, Inst::IAdd, v[0], groups)]
    });
}

/// The inner place of the `n`-th element that this thread loads of an operand, and whether there is one.
fn at(m: &mut Module, w: &mut Writer, side: &Side, n: u32, k: Word, count: Word) -> (super::Inner, Word) {
    let [_, inner] = side.load(m, n);
    let k = word(m, Inst::IAdd, k, inner);
    let (k, exists) = super::clamped(m, k, count);
    (w.inner(m, k), exists)
}

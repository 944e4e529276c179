//! Products on a device whose `fma` takes subnormal numbers for zeros. What is loaded is looked at, each element once; a tile that has
//! met one below what the device's own will do for is computed anew, output by output.

use super::plan::Careful;
use super::{Column, Row, Writer, less, registers, word};
use crate::code::{Inst, Type, Word};
use crate::emit::module::{Array, Module};

/// Not zero where a small factor was met, as a loop carries it last of all; nothing where none is looked for.
pub type Met = Option<Word>;

impl Writer<'_> {
    /// What is looked for.
    fn watched(&self) -> Option<&Careful> {
        self.plan.careful.as_ref().filter(|_| !self.is_careful)
    }

    /// What a tile begins with.
    pub(super) fn unmet(&self, m: &mut Module) -> Met {
        self.watched().map(|_| m.constant(Type::U32, 0))
    }

    /// A loop's state with it.
    pub(super) fn carrying(&self, mut state: Vec<(Type, Word)>, met: Met) -> Vec<(Type, Word)> {
        state.extend(met.map(|met| (Type::U32, met)));
        state
    }

    /// That of a loop's values.
    pub(super) fn carried(&self, values: &[Word]) -> Met {
        self.watched().and(values.last().copied())
    }

    /// It, and whether one of these is small.
    pub(super) fn meets(&self, m: &mut Module, met: Met, values: &[Word]) -> Met {
        let least = self.watched()?.least;
        let [unsigned, one, below] = [0x7fff_ffff, 1, least - 1].map(|v| m.word(v));
        values.iter().fold(met, |met, &value| {
            let bits = m.op(Inst::Bitcast, Type::U32, &[value]);
            let size = word(m, Inst::BitwiseAnd, bits, unsigned);
            // One less than zero is above all.
            let place = word(m, Inst::ISub, size, one);
            let is_small = less(m, place, below);
            met.map(|met| m.op(Inst::Select, Type::U32, &[is_small, one, met]))
        })
    }
}

/// What the threads of a team have met: those that begin with the first one, `step` from each other.
pub fn told(m: &mut Module, words: Array, own: Word, [first, step]: [Word; 2], team: u32, met: Word) -> Word {
    // Nobody reads the last ones any more.
    m.barrier();
    m.set(words, own, met);
    m.barrier();
    let [zero, one, count] = [0, 1, team].map(|v| m.word(v));
    let again = |m: &mut Module, v: &[Word]| less(m, v[0], count);
    let state = [zero, first, zero].map(|v| (Type::U32, v));
    m.repeat(&state, again, |m, v| {
        let other = m.get(words, v[1]);
        vec![word(m, Inst::IAdd, v[0], one), word(m, Inst::IAdd, v[1], step), word(m, Inst::BitwiseOr, v[2], other)]
    })[2]
}

/// The outputs of a tile, and which of them a thread computes anew.
pub struct Outputs<'a> {
    /// Where the tile's matrices begin.
    pub base: &'a [Word],
    /// The tile's first row and column.
    pub from: [Word; 2],
    /// How many it has: powers of two.
    pub extent: [u32; 2],
    pub first: Word,
    /// How far a thread's next output is.
    pub next: Word,
    /// Whether there is such a tile.
    pub exists: Option<Word>,
    pub blocks: bool,
}

/// Writes a thread's sums, or where a small factor was met, the same on all threads of the tile, each output anew.
pub fn store(
    m: &mut Module,
    w: &mut Writer,
    met: Word,
    (writes, rows, columns, sums): (Option<Word>, &[Row], &[Column], &[Word]),
    anew: &Outputs,
) {
    let zero = m.word(0);
    let mut fine = m.op(Inst::IEqual, Type::Bool, &[met, zero]);
    let [high, wide] = anew.extent;
    let [all, mask, shift] = [high * wide, wide - 1, wide.trailing_zeros()].map(|v| m.word(v));
    let count = m.op(Inst::Select, Type::U32, &[fine, zero, all]);
    if let Some(writes) = writes {
        fine = super::both(m, fine, writes);
    }
    w.store_all(m, Some(fine), rows, columns, sums);
    let again = |m: &mut Module, v: &[Word]| less(m, v[0], count);
    w.is_careful = true;
    m.repeat(&[(Type::U32, anew.first)], again, |m, v| {
        let (r, c) = (word(m, Inst::ShiftRightLogical, v[0], shift), word(m, Inst::BitwiseAnd, v[0], mask));
        let (i, j) = (word(m, Inst::IAdd, anew.from[0], r), word(m, Inst::IAdd, anew.from[1], c));
        let (row, column) = ([w.row(m, anew.base, i)], [w.column(m, anew.base, j)]);
        let sums = registers::alone(m, w, &row, &column, anew.blocks);
        w.store_all(m, anew.exists, &row, &column, &sums);
        vec![word(m, Inst::IAdd, v[0], anew.next)]
    });
    w.is_careful = false;
}

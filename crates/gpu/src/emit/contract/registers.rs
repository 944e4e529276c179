//! Products without shared memory: each thread keeps the sums of its rows and columns in registers and loads what it multiplies
//! itself. Software devices are fastest so (a barrier is a change of coroutines there), and where a product has few outputs, the
//! threads of a team share the blocks of inner places, whose sums are added in order.

use super::careful::{self, Met, Outputs};
use super::{Column, Row, Writer, both, clamped, less, word};
use crate::code::{GROUP, Inst, Type, Word};
use crate::emit::module::{Array, Module};
use crate::emit::scalar::Words;

pub fn write(m: &mut Module, w: &mut Writer, [rows, columns]: [u32; 2], team: u32, blocks: bool) {
    let meeting: Vec<Array> =
        if team > 1 { w.types.iter().map(|&of| m.array(of, GROUP, true)).collect() } else { Vec::new() };
    let telling = (team > 1 && w.plan.careful.is_some()).then(|| m.array(Type::U32, GROUP, true));
    let [local, group, groups] = m.thread();
    let total = w.counts[0];
    let [mask, shift, slots, high, wide] = [team - 1, team.trailing_zeros(), GROUP / team, rows, columns].map(|v| m.word(v));
    let lane = word(m, Inst::BitwiseAnd, local, mask);
    let own = word(m, Inst::ShiftRightLogical, local, shift);
    let (first, step) = (word(m, Inst::IMul, group, slots), word(m, Inst::IMul, groups, slots));
    let more = |m: &mut Module, v: &[Word]| less(m, v[0], total);
    m.repeat(&[(Type::U32, first)], more, |m, v| {
        let slot = word(m, Inst::IAdd, v[0], own);
        let (tile, active) = clamped(m, slot, total);
        let (base, [i, j]) = w.tile(m, tile);
        let (i, j) = (word(m, Inst::IMul, i, high), word(m, Inst::IMul, j, wide));
        let own_rows: Vec<Row> = (0..rows)
            .map(|r| {
                let r = m.word(r);
                let i = word(m, Inst::IAdd, i, r);
                w.row(m, &base, i)
            })
            .collect();
        let own_columns: Vec<Column> = (0..columns)
            .map(|c| {
                let c = m.word(c);
                let j = word(m, Inst::IAdd, j, c);
                w.column(m, &base, j)
            })
            .collect();
        let (sums, met) =
            added_up(m, w, (&own_rows, &own_columns), &Team { meeting: &meeting, local, lane, size: team }, blocks);
        let mut writes = active;
        if team > 1 {
            let zero = m.word(0);
            let leads = m.op(Inst::IEqual, Type::Bool, &[lane, zero]);
            writes = both(m, writes, leads);
        }
        let Some(mut met) = met else {
            w.store_all(m, Some(writes), &own_rows, &own_columns, &sums);
            return vec![word(m, Inst::IAdd, v[0], step)];
        };
        if let Some(words) = telling {
            let (first, one) = (word(m, Inst::ISub, local, lane), m.word(1));
            met = careful::told(m, words, local, [first, one], team, met);
        }
        let next = m.word(team);
        let anew =
            Outputs { base: &base, from: [i, j], extent: [rows, columns], first: lane, next, exists: Some(active), blocks };
        careful::store(m, w, met, (Some(writes), &own_rows, &own_columns, &sums), &anew);
        vec![word(m, Inst::IAdd, v[0], step)]
    });
}

/// Threads that share blocks of inner places, and which of them one is.
struct Team<'a> {
    meeting: &'a [Array],
    local: Word,
    lane: Word,
    size: u32,
}

/// The sums of a thread by itself.
pub fn alone(m: &mut Module, w: &mut Writer, rows: &[Row], columns: &[Column], blocks: bool) -> Vec<Word> {
    let zero = m.word(0);
    added_up(m, w, (rows, columns), &Team { meeting: &[], local: zero, lane: zero, size: 1 }, blocks).0
}

/// The sums of a team, and whether what it loaded is small.
fn added_up(
    m: &mut Module,
    w: &mut Writer,
    (rows, columns): (&[Row], &[Column]),
    team: &Team,
    blocks: bool,
) -> (Vec<Word>, Met) {
    let [begin, end] = w.ends;
    if !blocks && team.size == 1 {
        let met = w.unmet(m);
        return chain(m, w, (rows, columns), [begin, end], met);
    }
    let totals = w.totals(m, rows, columns);
    let mut state = vec![(Type::U32, begin)];
    state.extend(w.typed(&totals));
    let met = w.unmet(m);
    let state = w.carrying(state, met);
    let again = |m: &mut Module, v: &[Word]| less(m, v[0], end);
    let done = m.repeat(&state, again, |m, v| {
        let [block, together] = [w.plan.block() as u32, w.plan.block() as u32 * team.size].map(|v| m.word(v));
        let far = word(m, Inst::IMul, team.lane, block);
        let from = word(m, Inst::IAdd, v[0], far);
        let to = word(m, Inst::IAdd, from, block);
        let to = Writer::least(m, to, end);
        let (sums, met) = chain(m, w, (rows, columns), [from, to], w.carried(v));
        let exists = less(m, from, end);
        let before = &v[1..1 + sums.len()];
        let totals = match team.size {
            1 => w.met(m, before, &sums),
            _ => added(m, w, team, (before, &sums, exists)),
        };
        let mut next = [vec![word(m, Inst::IAdd, v[0], together)], totals].concat();
        next.extend(met);
        next
    });
    (done[1..1 + totals.len()].to_vec(), w.carried(&done))
}

/// The sums over some places of one block, from zero on.
fn chain(
    m: &mut Module,
    w: &mut Writer,
    (rows, columns): (&[Row], &[Column]),
    [from, to]: [Word; 2],
    met: Met,
) -> (Vec<Word>, Met) {
    let zeros: Vec<Word> = (0..rows.len() * columns.len()).flat_map(|_| w.zero.clone()).collect();
    let mut state = vec![(Type::U32, from)];
    state.extend(w.typed(&zeros));
    let state = w.carrying(state, met);
    let sums = 1 + zeros.len();
    let again = |m: &mut Module, v: &[Word]| less(m, v[0], to);
    let done = m.repeat(&state, again, |m, v| {
        let place = w.inner(m, v[0]);
        let left: Vec<Words> = rows.iter().map(|row| w.left(m, row, &place)).collect();
        let right: Vec<Words> = columns.iter().map(|column| w.right(m, column, &place)).collect();
        let one = m.word(1);
        let mut next = vec![word(m, Inst::IAdd, v[0], one)];
        next.extend(w.products(m, &left, &right, &v[1..sums]));
        next.extend(w.meets(m, w.carried(v), &[left, right].concat().concat()));
        next
    });
    (done[1..sums].to_vec(), w.carried(&done))
}

/// Totals with the sums of a team's blocks, one thread's after the other's. A block that does not exist changes nothing.
fn added(m: &mut Module, w: &mut Writer, team: &Team, (totals, sums, exists): (&[Word], &[Word], Word)) -> Vec<Word> {
    let (meeting, local) = (team.meeting, team.local);
    let first = word(m, Inst::ISub, local, team.lane);
    let (parts, none) = (w.types.len(), w.none.clone());
    let mut next = Vec::with_capacity(totals.len());
    for (total, sum) in totals.chunks(parts).zip(sums.chunks(parts)) {
        let mine = w.select(m, exists, sum, &none);
        // Nobody reads the last ones any more.
        m.barrier();
        meeting.iter().zip(&mine).for_each(|(&array, &value)| m.set(array, local, value));
        m.barrier();
        let [zero, count, one] = [0, team.size, 1].map(|v| m.word(v));
        let mut state = vec![(Type::U32, zero)];
        state.extend(w.typed(total));
        let again = |m: &mut Module, v: &[Word]| less(m, v[0], count);
        let met = m.repeat(&state, again, |m, v| {
            let at = word(m, Inst::IAdd, first, v[0]);
            let other: Words = meeting.iter().map(|&array| m.get(array, at)).collect();
            let mut next = vec![word(m, Inst::IAdd, v[0], one)];
            next.extend(w.meet(m, &v[1..], &other));
            next
        });
        next.extend_from_slice(&met[1..]);
    }
    next
}

//! Products without shared memory: each thread keeps the sums of its rows and columns in registers and loads what it multiplies
//! itself. Software devices are fastest so (a barrier is a change of coroutines there), and where a product has few outputs, the
//! threads of a team share the blocks of inner places, whose sums are added in order.

use super::{Column, Row, Writer, both, clamped, less, word};
use crate::emit::module::{Array, GROUP, Module, Type};
use crate::emit::scalar::Words;
use rspirv::spirv::{Op as Spirv, Word};

pub fn write(m: &mut Module, w: &mut Writer, [rows, columns]: [u32; 2], team: u32, blocks: bool) {
    let meeting: Vec<Array> =
        if team > 1 { w.types.iter().map(|&of| m.array(of, GROUP, true)).collect() } else { Vec::new() };
    let [local, group, groups] = m.thread();
    let total = w.counts[0];
    let [mask, shift, slots, high, wide] = [team - 1, team.trailing_zeros(), GROUP / team, rows, columns].map(|v| m.word(v));
    let lane = word(m, Spirv::BitwiseAnd, local, mask);
    let own = word(m, Spirv::ShiftRightLogical, local, shift);
    let (first, step) = (word(m, Spirv::IMul, group, slots), word(m, Spirv::IMul, groups, slots));
    let more = |m: &mut Module, v: &[Word]| less(m, v[0], total);
    m.repeat(&[(Type::U32, first)], more, |m, v| {
        let slot = word(m, Spirv::IAdd, v[0], own);
        let (tile, active) = clamped(m, slot, total);
        let (base, [i, j]) = w.tile(m, tile);
        let (i, j) = (word(m, Spirv::IMul, i, high), word(m, Spirv::IMul, j, wide));
        let own_rows: Vec<Row> = (0..rows)
            .map(|r| {
                let r = m.word(r);
                let i = word(m, Spirv::IAdd, i, r);
                w.row(m, &base, i)
            })
            .collect();
        let own_columns: Vec<Column> = (0..columns)
            .map(|c| {
                let c = m.word(c);
                let j = word(m, Spirv::IAdd, j, c);
                w.column(m, &base, j)
            })
            .collect();
        let [begin, end] = w.ends;
        let mut writes = active;
        let sums = if !blocks && team == 1 {
            chain(m, w, &own_rows, &own_columns, [begin, end])
        } else {
            let totals = w.totals(m, &own_rows, &own_columns);
            let mut state = vec![(Type::U32, begin)];
            state.extend(w.typed(&totals));
            let again = |m: &mut Module, v: &[Word]| less(m, v[0], end);
            let mut totals = m.repeat(&state, again, |m, v| {
                let [block, together] = [w.plan.block() as u32, w.plan.block() as u32 * team].map(|v| m.word(v));
                let far = word(m, Spirv::IMul, lane, block);
                let from = word(m, Spirv::IAdd, v[0], far);
                let to = word(m, Spirv::IAdd, from, block);
                let to = Writer::least(m, to, end);
                let sums = chain(m, w, &own_rows, &own_columns, [from, to]);
                let exists = less(m, from, end);
                let totals = match team {
                    1 => w.met(m, &v[1..], &sums),
                    _ => added(m, w, &meeting, (&v[1..], &sums, exists), [local, lane], team),
                };
                [vec![word(m, Spirv::IAdd, v[0], together)], totals].concat()
            });
            totals.remove(0);
            totals
        };
        if team > 1 {
            let zero = m.word(0);
            let leads = m.op(Spirv::IEqual, Type::Bool, &[lane, zero]);
            writes = both(m, writes, leads);
        }
        w.store_all(m, Some(writes), &own_rows, &own_columns, &sums);
        vec![word(m, Spirv::IAdd, v[0], step)]
    });
}

/// The sums over some places of one block, from zero on.
fn chain(m: &mut Module, w: &mut Writer, rows: &[Row], columns: &[Column], [from, to]: [Word; 2]) -> Vec<Word> {
    let zeros: Vec<Word> = (0..rows.len() * columns.len()).flat_map(|_| w.zero.clone()).collect();
    let mut state = vec![(Type::U32, from)];
    state.extend(w.typed(&zeros));
    let again = |m: &mut Module, v: &[Word]| less(m, v[0], to);
    let mut sums = m.repeat(&state, again, |m, v| {
        let place = w.inner(m, v[0]);
        let left: Vec<Words> = rows.iter().map(|row| w.left(m, row, &place)).collect();
        let right: Vec<Words> = columns.iter().map(|column| w.right(m, column, &place)).collect();
        let one = m.word(1);
        let mut next = vec![word(m, Spirv::IAdd, v[0], one)];
        next.extend(w.products(m, &left, &right, &v[1..]));
        next
    });
    sums.remove(0);
    sums
}

/// Totals with the sums of a team's blocks, one thread's after the other's. A block that does not exist changes nothing.
fn added(
    m: &mut Module,
    w: &mut Writer,
    meeting: &[Array],
    (totals, sums, exists): (&[Word], &[Word], Word),
    [local, lane]: [Word; 2],
    team: u32,
) -> Vec<Word> {
    let first = word(m, Spirv::ISub, local, lane);
    let (parts, none) = (w.types.len(), w.none.clone());
    let mut next = Vec::with_capacity(totals.len());
    for (total, sum) in totals.chunks(parts).zip(sums.chunks(parts)) {
        let mine = w.select(m, exists, sum, &none);
        // Nobody reads the last ones any more.
        m.barrier();
        meeting.iter().zip(&mine).for_each(|(&array, &value)| m.set(array, local, value));
        m.barrier();
        let [zero, count, one] = [0, team, 1].map(|v| m.word(v));
        let mut state = vec![(Type::U32, zero)];
        state.extend(w.typed(total));
        let again = |m: &mut Module, v: &[Word]| less(m, v[0], count);
        let met = m.repeat(&state, again, |m, v| {
            let at = word(m, Spirv::IAdd, first, v[0]);
            let other: Words = meeting.iter().map(|&array| m.get(array, at)).collect();
            let mut next = vec![word(m, Spirv::IAdd, v[0], one)];
            next.extend(w.meet(m, &v[1..], &other));
            next
        });
        next.extend_from_slice(&met[1..]);
    }
    next
}

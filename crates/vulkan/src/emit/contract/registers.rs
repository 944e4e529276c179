//! Products without shared memory: each thread keeps the sums of its rows and columns in registers and loads what it multiplies
//! itself. Software devices are fastest so (a barrier is a change of coroutines there), and where a product has few outputs, the
//! threads of a team share the inner places and add their sums by a fixed tree.

use super::{Column, Row, Writer, both, clamped, less, word};
use crate::emit::module::{Array, GROUP, Module, Type};
use crate::emit::scalar::Words;
use rspirv::spirv::{Op as Spirv, Word};

pub fn write(m: &mut Module, w: &mut Writer, rows: u32, columns: u32, team: u32) {
    let meeting: Vec<Array> =
        if team > 1 { w.types.iter().map(|&of| m.array(of, GROUP, true)).collect() } else { Vec::new() };
    let [local, group, groups] = m.thread();
    let [total, _, _, inner] = w.counts;
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
        let zeros: Vec<Word> = (0..rows * columns).flat_map(|_| w.zero.clone()).collect();
        let mut state = vec![(Type::U32, lane)];
        state.extend(w.typed(&zeros));
        let again = |m: &mut Module, v: &[Word]| less(m, v[0], inner);
        let mut sums = m.repeat(&state, again, |m, v| {
            let place = w.inner(m, v[0]);
            let left: Vec<Words> = own_rows.iter().map(|row| w.left(m, row, &place)).collect();
            let right: Vec<Words> = own_columns.iter().map(|column| w.right(m, column, &place)).collect();
            let together = m.word(team);
            let mut next = vec![word(m, Spirv::IAdd, v[0], together)];
            next.extend(w.products(m, &left, &right, &v[1..]));
            next
        });
        sums.remove(0);
        let mut writes = active;
        if team > 1 {
            sums =
                (0..(rows * columns) as usize).flat_map(|n| added(m, w, &meeting, &sums, n, [local, lane, team])).collect();
            let zero = m.word(0);
            let leads = m.op(Spirv::IEqual, Type::Bool, &[lane, zero]);
            writes = both(m, writes, leads);
        }
        w.store_all(m, Some(writes), &own_rows, &own_columns, &sums);
        vec![word(m, Spirv::IAdd, v[0], step)]
    });
}

/// The `n`-th sums of a team's threads in one, which its first thread has.
fn added(m: &mut Module, w: &mut Writer, meeting: &[Array], sums: &[Word], n: usize, who: [Word; 3]) -> Words {
    let [local, lane, team] = who;
    let mut mine = Words::from_slice(w.nth(sums, n));
    let put = |m: &mut Module, values: &[Word]| {
        meeting.iter().zip(values).for_each(|(&array, &value)| m.set(array, local, value));
        m.barrier();
    };
    put(m, &mine);
    let mut half = team / 2;
    while half > 0 {
        let distance = m.word(half);
        let far = word(m, Spirv::IAdd, local, distance);
        let joins = less(m, lane, distance);
        let at = m.op(Spirv::Select, Type::U32, &[joins, far, local]);
        let other: Words = meeting.iter().map(|&array| m.get(array, at)).collect();
        let met = w.meet(m, &mine, &other);
        mine = w.select(m, joins, &met, &mine);
        m.barrier();
        put(m, &mine);
        half /= 2;
    }
    mine
}

//! Pairwise covering arrays: a few assignments in which every two values of two axes meet, where they can.
//!
//! Most failures of kernels need one or two particular circumstances (Kuhn, Wallace, Gallo, "Software fault interactions and
//! implications for software testing", 2004); the full product of eight axes has millions of cases, the pairs fit into a
//! hundred.

use crate::values::Rng;

/// Attempts to complete an assignment around a pair before the pair counts as impossible.
const ATTEMPTS: usize = 24;
/// Completions compared for each new assignment; the one that covers most new pairs is taken.
const CANDIDATES: usize = 6;

/// Assignments (one value number for each axis) that cover every feasible pair, at most `limit`. What `settle` makes of an
/// assignment, by setting axes that mean nothing beside the others, is taken instead; nothing, if it refuses it.
pub fn pairwise(
    sizes: &[usize],
    limit: usize,
    rng: &mut Rng,
    mut settle: impl FnMut(&mut [usize]) -> bool,
) -> Vec<Vec<usize>> {
    let mut out: Vec<Vec<usize>> = Vec::new();
    if sizes.len() < 2 {
        let all = sizes.first().map_or(1, |&n| n);
        return (0..all).map(|v| vec![v; sizes.len()]).filter_map(|mut a| settle(&mut a).then_some(a)).take(limit).collect();
    }
    // One number for each value of each axis; a pair of values that has not met yet is open.
    let first: Vec<usize> = sizes.iter().scan(0, |n, &size| Some(std::mem::replace(n, *n + size))).collect();
    let total: usize = sizes.iter().sum();
    let mut open = vec![false; total * total];
    let mut left: Vec<[usize; 4]> = Vec::new();
    for a in 0..sizes.len() {
        for b in a + 1..sizes.len() {
            left.extend((0..sizes[a]).flat_map(|x| (0..sizes[b]).map(move |y| [a, x, b, y])));
        }
    }
    let at = |a: usize, x: usize, b: usize, y: usize| (first[a] + x) * total + first[b] + y;
    left.iter().for_each(|&[a, x, b, y]| open[at(a, x, b, y)] = true);
    // Places of all pairs of a candidate; millions of candidates are looked at.
    let each_pair = |candidate: &[usize], f: &mut dyn FnMut(usize)| {
        for (a, &x) in candidate.iter().enumerate() {
            for (b, &y) in candidate.iter().enumerate().skip(a + 1) {
                f(at(a, x, b, y));
            }
        }
    };
    let mut candidate = vec![0; sizes.len()];
    while let (Some([a, x, b, y]), true) = (left.pop(), out.len() < limit) {
        if !open[at(a, x, b, y)] {
            continue;
        }
        let mut best: Option<(usize, Vec<usize>)> = None;
        let mut found = 0;
        for _ in 0..ATTEMPTS {
            candidate.iter_mut().zip(sizes).for_each(|(value, &n)| *value = rng.below(n));
            (candidate[a], candidate[b]) = (x, y);
            if !settle(&mut candidate) || (candidate[a], candidate[b]) != (x, y) {
                continue;
            }
            let mut covers = 0;
            each_pair(&candidate, &mut |p| covers += open[p] as usize);
            if best.as_ref().is_none_or(|(most, _)| covers > *most) {
                best = Some((covers, candidate.clone()));
            }
            found += 1;
            if found == CANDIDATES {
                break;
            }
        }
        if let Some((_, assignment)) = best {
            each_pair(&assignment, &mut |p| open[p] = false);
            out.push(assignment);
        }
    }
    out
}

/// Positions of a few of the assignments in which still every value of every axis occurs: in turn the one with most values that
/// are missing.
pub fn singles(assignments: &[&[usize]]) -> Vec<usize> {
    let axes = assignments.first().map_or(0, |a| a.len());
    let sizes = (0..axes).map(|axis| assignments.iter().map(|a| a[axis] + 1).max().unwrap_or(0));
    let mut missing: Vec<Vec<bool>> = sizes.map(|size| vec![false; size]).collect();
    assignments.iter().for_each(|a| a.iter().zip(&mut missing).for_each(|(&value, axis)| axis[value] = true));
    let mut out = Vec::new();
    loop {
        let news = |n: usize| assignments[n].iter().zip(&missing).filter(|&(&value, axis)| axis[value]).count();
        // Of equals the last one is taken; the order is as good as any, and always the same.
        let best = (0..assignments.len()).map(|n| (news(n), n)).max().filter(|&(news, _)| news > 0);
        let Some((_, best)) = best else { break };
        assignments[best].iter().zip(&mut missing).for_each(|(&value, axis)| axis[value] = false);
        out.push(best);
    }
    out.sort_unstable();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_has_every_value_and_no_useless_assignment() {
        let all: [&[usize]; 5] = [&[0, 0, 0], &[0, 1, 0], &[1, 1, 2], &[1, 0, 1], &[0, 0, 1]];
        assert_eq!(singles(&all), [1, 2, 4]);
        assert_eq!(singles(&[]), [0usize; 0]);
    }

    #[test]
    fn every_feasible_pair_is_covered_and_no_infeasible_one() {
        let sizes = [4, 3, 5, 2];
        let forbidden = |a: &[usize]| a[0] == 1 && a[2] == 3;
        // The last axis means nothing where the second is 2.
        let settle = |a: &mut [usize]| {
            a[3] *= usize::from(a[1] != 2);
            !forbidden(a)
        };
        let cases = pairwise(&sizes, 400, &mut Rng::named("t"), settle);
        assert!(cases.len() < 40 && !cases.iter().any(|a| forbidden(a)));
        for (a, b) in (0..4).flat_map(|a| (a + 1..4).map(move |b| (a, b))) {
            for (x, y) in (0..sizes[a]).flat_map(|x| (0..sizes[b]).map(move |y| (x, y))) {
                let hit = cases.iter().any(|c| c[a] == x && c[b] == y);
                let feasible = ![[0, 1, 2, 3], [1, 2, 3, 1]].contains(&[a, x, b, y]);
                assert_eq!(hit, feasible, "{a}={x} {b}={y}");
            }
        }
    }
}

//! Groups maps and reductions along the same rows into kernels of rows ([`Rows`]): what a softmax or a layer norm computes meets each
//! row once. The bits are those of the parts.
//!
//! From each reduction over the last axes a group grows along its users: maps over elements and reductions of the same shape, and
//! maps over one value of each row. A row's value reaches elements through views alone (the kept axes of size 1, and a broadcast).
//! What reads the group and does not belong to it is *behind* it, with all that follows: nothing behind a group may come into it, or
//! the group would wait for itself.

mod rebuild;

use crate::fuse::{Merged, Users, count_uses, operands, users_of, uses_of};
use ferrotensor_core::Dims;
use ferrotensor_core::kernel::{Combine, Kernel, Map, Reduce};
use ferrotensor_core::layout::count;
use ferrotensor_core::rows::{LONGEST, Per, RowStep, Rows};
use ferrotensor_ops::graph::{Def, Graph, Node, Param, Val, View};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Operands that a kernel reads: as of a fused map, each is a stream the hardware prefetcher must follow.
const MAX_INPUTS: usize = 12;
/// Steps of a kernel: each has temporaries of a row, and a GPU computes the elements anew for each reduction.
const MAX_STEPS: usize = 12;
/// Instructions of all its programs, as of a fused map.
const MAX_INSTRS: usize = 256;
/// Nodes looked at for one group, so that planning stays linear.
const MAX_VISITS: usize = 256;

/// Groups in place; `supports` asks the device. Returns the number of kernels saved. `merged` speaks of the new graph then.
pub fn group(graph: &mut Graph, outputs: &mut [Val], supports: &dyn Fn(&Kernel) -> bool, merged: &mut Merged) -> u64 {
    let is_reduction = |n: &Node| matches!(&n.def, Def::Kernel { kernel: Kernel::Reduce(_), .. });
    if !graph.nodes.iter().any(is_reduction) {
        return 0;
    }
    let mut plan = Plan::new(graph, outputs);
    for n in 0..graph.nodes.len() {
        if plan.is_live(n)
            && plan.unit[n].is_none()
            && let Some(found) = Group::around(&plan, n)
            && found.is_worth_it(&plan)
            && let Some(made) = found.kernel(&plan).filter(|made| supports(&made.0))
        {
            plan.take(found, made);
        }
    }
    // Not all of a large program was looked at: where groups wait for each other, the last ones are none.
    let mut groups = std::mem::take(&mut plan.groups);
    let order = loop {
        if groups.is_empty() {
            return 0;
        }
        if let Some(order) = rebuild::order(&plan, &groups) {
            break order;
        }
        groups.pop().iter().flat_map(|g| &g.members).for_each(|&n| plan.unit[n] = None);
    };
    let saved = groups.iter().map(|g| g.members.len() as u64 - 1).sum();
    let live: Vec<bool> = (0..graph.nodes.len()).map(|n| plan.is_live(n)).collect();
    rebuild::rebuild(graph, outputs, groups, &order, &live, merged);
    saved
}

/// The graph with what is looked up in it.
struct Plan<'a> {
    graph: &'a Graph,
    uses: Vec<u32>,
    /// Live nodes that read each value.
    users: Vec<Users>,
    outputs: HashSet<Val>,
    /// The group of a node.
    unit: Vec<Option<u32>>,
    groups: Vec<Made>,
}

/// A group that takes the place of its members.
struct Made {
    members: Vec<usize>,
    kernel: Kernel,
    inputs: Vec<(Val, Per)>,
    params: SmallVec<[Param; 2]>,
    /// Members whose values are stored.
    stored: Vec<usize>,
    dims: Dims,
    kept: Dims,
}

impl<'a> Plan<'a> {
    fn new(graph: &'a Graph, outputs: &[Val]) -> Plan<'a> {
        let uses = count_uses(graph, outputs);
        let users = users_of(graph, &uses);
        let (outputs, unit) = (outputs.iter().copied().collect(), vec![None; graph.nodes.len()]);
        Plan { graph, uses, users, outputs, unit, groups: Vec::new() }
    }

    fn is_live(&self, n: usize) -> bool {
        uses_of(&self.graph.nodes[n], &self.uses) > 0
    }

    fn node_of(&self, v: Val) -> usize {
        self.graph.values[v.0 as usize].node as usize
    }

    fn value_of(&self, n: usize) -> Val {
        self.graph.nodes[n].first
    }

    /// Nodes that read a node's values.
    fn readers(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        let node = &self.graph.nodes[n];
        let values = node.first.0 as usize..(node.first.0 + node.outputs) as usize;
        self.users[values].iter().flatten().copied()
    }

    fn take(&mut self, found: Group, (kernel, params, stored): (Kernel, SmallVec<[Param; 2]>, Vec<usize>)) {
        let number = self.groups.len() as u32;
        for &n in &found.members {
            self.unit[n] = Some(number);
        }
        let Group { members, inputs, dims, kept, .. } = found;
        self.groups.push(Made { members, kernel, inputs, params, stored, dims, kept });
    }
}

/// What a node is to rows of a shape.
#[derive(Clone, Copy)]
enum Role<'a> {
    Reduce(&'a Reduce),
    /// A map over elements or over a value of each row.
    Map(&'a Map, Per),
}

/// Where a step's operand comes from.
#[derive(Clone, Copy)]
enum Source {
    Member(usize),
    Outside(Val, Per),
}

/// A group being grown.
struct Group {
    dims: Dims,
    kept: Dims,
    axes: usize,
    rows: usize,
    /// Nodes, sorted once the group is grown.
    members: Vec<usize>,
    per: HashMap<usize, Per>,
    /// Views of the values of rows: whether they show one for each element.
    views: HashMap<usize, bool>,
    behind: HashSet<usize>,
    inputs: Vec<(Val, Per)>,
    instrs: usize,
}

impl Group {
    /// The group of a reduction, where it is one along rows that are no longer than a kernel of rows is made for.
    fn around(plan: &Plan, seed: usize) -> Option<Group> {
        let Def::Kernel { kernel: Kernel::Reduce(reduce), inputs, .. } = &plan.graph.nodes[seed].def else { return None };
        let dims = plan.graph.dims(inputs[0]).clone();
        let kept: Dims = dims[..dims.len() - reduce.axes].iter().copied().collect();
        let (rows, length) = (count(&kept).ok()?, count(&dims[kept.len()..]).ok()?);
        if rows == 0 || !(2..=LONGEST).contains(&length) || is_turned(plan, inputs[0]) {
            return None;
        }
        let mut group = Group {
            dims,
            kept,
            axes: reduce.axes,
            rows,
            members: Vec::new(),
            per: HashMap::new(),
            views: HashMap::new(),
            behind: HashSet::new(),
            inputs: Vec::new(),
            instrs: 0,
        };
        group.grow(plan, seed).then_some(group)
    }

    fn role<'a>(&self, plan: &Plan<'a>, n: usize) -> Option<Role<'a>> {
        let node = &plan.graph.nodes[n];
        let Def::Kernel { kernel, inputs, .. } = &node.def else { return None };
        match kernel {
            Kernel::Reduce(reduce) => {
                let index = reduce.pre.iter().chain(&reduce.post).any(|p| p.uses_index());
                let valued = matches!(reduce.combine, Combine::Value(_)) && !index && reduce.axes == self.axes;
                (valued && *plan.graph.dims(inputs[0]) == self.dims).then_some(Role::Reduce(reduce))
            }
            Kernel::Map(map) if map.program.outputs.len() == 1 && !map.program.uses_index() && !inputs.is_empty() => {
                let dims = plan.graph.dims(node.first);
                match dims {
                    d if *d == self.dims => Some(Role::Map(map, Per::Element)),
                    d if count(d).is_ok_and(|n| n == self.rows) => Some(Role::Map(map, Per::Row)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Adds what belongs to the group, in the order of nodes; says whether the reduction it began with does.
    fn grow(&mut self, plan: &Plan, seed: usize) -> bool {
        let mut heap = BinaryHeap::from([Reverse(seed)]);
        // What comes in before the reduction: maps over its elements.
        let mut wanted = HashSet::from([seed]);
        let mut stack = vec![seed];
        while let Some(n) = stack.pop().filter(|_| wanted.len() < MAX_STEPS) {
            for p in operands(&plan.graph.nodes[n].def).into_iter().map(|v| plan.node_of(v)) {
                let fits = matches!(self.role(plan, p), Some(Role::Map(_, Per::Element))) && plan.unit[p].is_none();
                if fits && wanted.insert(p) {
                    heap.push(Reverse(p));
                    stack.push(p);
                }
            }
        }
        let mut pushed: HashSet<usize> = wanted.clone();
        for _ in 0..MAX_VISITS {
            let Some(Reverse(n)) = heap.pop() else { break };
            let reads: SmallVec<[usize; 4]> =
                operands(&plan.graph.nodes[n].def).into_iter().map(|v| plan.node_of(v)).collect();
            let is_behind = reads.iter().any(|r| self.behind.contains(r));
            if self.per.contains_key(&n) {
                // Another group that is behind this one leads back into it.
                if is_behind {
                    return false;
                }
                continue;
            }
            let reads_group = reads.iter().any(|r| self.per.contains_key(r) || self.views.contains_key(r));
            let known = self.inputs.len();
            let joins = !is_behind
                && plan.unit[n].is_none()
                && ((reads_group && self.sees(plan, n)) || self.adds(plan, n, reads_group || wanted.contains(&n)));
            if joins {
                let entered = self.inputs[known..].iter().filter(|(_, per)| *per == Per::Element);
                // Reductions of what is read anyway.
                let beside = entered.flat_map(|(v, _)| plan.users[v.0 as usize].iter().copied());
                let next: Vec<usize> = plan.readers(n).chain(beside.filter(|&u| u > n)).collect();
                heap.extend(next.into_iter().filter(|&u| pushed.insert(u)).map(Reverse));
            } else if is_behind || reads_group {
                let together = match plan.unit[n] {
                    Some(g) => plan.groups[g as usize].members.clone(),
                    None => vec![n],
                };
                for n in together {
                    self.behind.insert(n);
                    // Again where they were met before: another group may lead back to them.
                    heap.extend(plan.readers(n).filter(|u| !self.behind.contains(u)).map(Reverse));
                }
            }
        }
        self.members.sort_unstable();
        // Without other groups what was not looked at stands after everything that was.
        let leads_back = !heap.is_empty() && self.behind.iter().any(|&n| plan.unit[n].is_some());
        self.per.contains_key(&seed) && !leads_back
    }

    /// Takes in a view of the values of rows.
    fn sees(&mut self, plan: &Plan, n: usize) -> bool {
        let node = &plan.graph.nodes[n];
        let Def::View { of, view } = &node.def else { return false };
        let from = plan.node_of(*of);
        let of_rows = self.per.get(&from) == Some(&Per::Row) || self.views.get(&from) == Some(&false);
        let spreads = match view {
            View::Reshape(_) => false,
            View::Broadcast(to) if *to == self.dims => {
                // Aligned at the last axis: the kept axes as they are, those of the row of size 1.
                let dims = plan.graph.dims(*of);
                let absent = self.dims.len() - dims.len();
                let size = |axis: usize| if axis < absent { 1 } else { dims[axis - absent] };
                let wanted = |axis: usize| if axis < self.kept.len() { self.dims[axis] } else { 1 };
                if (0..self.dims.len()).any(|axis| size(axis) != wanted(axis)) {
                    return false;
                }
                true
            }
            _ => return false,
        };
        if of_rows {
            self.views.insert(n, spreads);
        }
        of_rows
    }

    /// Where the operands of a node come from, if it can be a step; a value of rows is none of elements.
    fn sources(&self, plan: &Plan, n: usize, role: Role) -> Option<SmallVec<[Source; 4]>> {
        let per = match role {
            Role::Reduce(_) => Per::Element,
            Role::Map(_, per) => per,
        };
        let source = |v: Val| {
            let from = plan.node_of(v);
            match (self.per.get(&from), self.views.get(&from)) {
                (Some(&of), _) => (of == per).then_some(Source::Member(from)),
                (_, Some(&spreads)) if spreads == (per == Per::Element) => {
                    let reduces = matches!(role, Role::Reduce(_));
                    (!reduces).then(|| Source::Member(self.behind_views(plan, from)))
                }
                (_, Some(_)) => None,
                (None, None) => Some(Source::Outside(v, per)),
            }
        };
        operands(&plan.graph.nodes[n].def).into_iter().map(source).collect()
    }

    /// The member that views show.
    fn behind_views(&self, plan: &Plan, view: usize) -> usize {
        let mut n = view;
        while let (true, Def::View { of, .. }) = (self.views.contains_key(&n), &plan.graph.nodes[n].def) {
            n = plan.node_of(*of);
        }
        n
    }

    /// Takes in a step, if it fits; one that does not read the group only where it reduces what the group reads.
    fn adds(&mut self, plan: &Plan, n: usize, related: bool) -> bool {
        let Some(role) = self.role(plan, n) else { return false };
        let Some(sources) = self.sources(plan, n, role) else { return false };
        let known = |s: &Source| matches!(s, Source::Outside(v, per) if self.inputs.contains(&(*v, *per)));
        let beside = matches!(role, Role::Reduce(_)) && sources.iter().all(known);
        // A step has a value for each element where an operand has: a map that only spreads values of rows is none.
        let elements = |s: &Source| match s {
            Source::Outside(_, per) => *per == Per::Element,
            Source::Member(m) => self.per.get(m) == Some(&Per::Element),
        };
        let spreads = matches!(role, Role::Map(_, Per::Element)) && !sources.iter().any(elements);
        if !(related || beside) || spreads {
            return false;
        }
        // A reduction brings the map that it alone reads.
        if let (Role::Reduce(_), [Source::Outside(v, _)]) = (role, &sources[..]) {
            let p = plan.node_of(*v);
            let alone = plan.uses[v.0 as usize] == 1 && plan.unit[p].is_none() && !self.behind.contains(&p);
            if alone && matches!(self.role(plan, p), Some(Role::Map(_, Per::Element))) && self.adds(plan, p, true) {
                return self.adds(plan, n, true);
            }
        }
        let outside = sources.iter().filter_map(|s| if let Source::Outside(v, per) = *s { Some((v, per)) } else { None });
        let mut inputs = self.inputs.clone();
        for input in outside {
            if !inputs.contains(&input) {
                inputs.push(input);
            }
        }
        let instrs = match role {
            Role::Reduce(r) => r.pre.iter().chain(&r.post).map(|p| p.instrs.len()).sum(),
            Role::Map(map, _) => map.program.instrs.len(),
        };
        if inputs.len() > MAX_INPUTS || self.members.len() >= MAX_STEPS || self.instrs + instrs > MAX_INSTRS {
            return false;
        }
        let per = match role {
            Role::Reduce(_) => Per::Row,
            Role::Map(_, per) => per,
        };
        self.inputs = inputs;
        self.instrs += instrs;
        self.members.push(n);
        self.per.insert(n, per);
        true
    }

    /// Whether a pass over elements is saved.
    fn is_worth_it(&self, plan: &Plan) -> bool {
        let passes = |n: &&usize| matches!(self.role(plan, **n), Some(Role::Reduce(_) | Role::Map(_, Per::Element)));
        self.members.iter().filter(passes).count() >= 2
    }

    /// Whether somebody outside reads a value, of rows also through views.
    fn is_read(&self, plan: &Plan, n: usize) -> bool {
        plan.outputs.contains(&plan.value_of(n))
            || plan.readers(n).any(|u| match (self.per.contains_key(&u), self.views.contains_key(&u)) {
                (true, _) => false,
                (_, true) => self.is_read(plan, u),
                _ => true,
            })
    }

    /// The kernel, its launch parameters, and the members whose values it stores; nothing where it would not be one.
    fn kernel(&self, plan: &Plan) -> Option<(Kernel, SmallVec<[Param; 2]>, Vec<usize>)> {
        let mut params: SmallVec<[Param; 2]> = SmallVec::new();
        let number = |source: Source| match source {
            Source::Outside(v, per) => self.inputs.iter().position(|&i| i == (v, per)),
            Source::Member(n) => self.members.iter().position(|&m| m == n).map(|at| self.inputs.len() + at),
        };
        let mut steps = Vec::with_capacity(self.members.len());
        for &n in &self.members {
            let Def::Kernel { params: own, .. } = &plan.graph.nodes[n].def else { return None };
            let role = self.role(plan, n)?;
            params.extend_from_slice(own);
            let operands = self.sources(plan, n, role)?.into_iter().map(number).collect::<Option<Vec<usize>>>()?;
            steps.push(match role {
                Role::Reduce(reduce) => RowStep::Reduce { reduce: reduce.clone(), operand: *operands.first()? },
                Role::Map(map, _) => RowStep::Map { map: map.clone(), operands },
            });
        }
        let stored: Vec<usize> = self.members.iter().copied().filter(|&n| self.is_read(plan, n)).collect();
        let outputs = stored.iter().map(|&n| number(Source::Member(n))).collect::<Option<Vec<usize>>>()?;
        let inputs = self.inputs.iter().map(|&(v, per)| (plan.graph.dtype(v), per)).collect();
        let rows = Rows { axes: self.axes, inputs, steps, outputs };
        let shaped = || stored.iter().zip(rows.results()).all(|(n, (_, per))| self.per.get(n) == Some(&per));
        if rows.verify().is_err() || !shaped() {
            debug_assert!(false, "no kernel of rows: {rows:?}");
            return None;
        }
        Some((Kernel::Rows(rows), params, stored))
    }
}

/// Whether a value is seen through a permutation: its rows lie across memory, where a reduction goes along many of them at once.
fn is_turned(plan: &Plan, v: Val) -> bool {
    let mut v = v;
    while let Def::View { of, view } = &plan.graph.nodes[plan.node_of(v)].def {
        if matches!(view, View::Permute(_)) {
            return true;
        }
        v = *of;
    }
    false
}

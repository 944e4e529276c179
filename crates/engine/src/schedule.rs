//! What a program does, decided once: which kernels run in which order, what is stored, where temporaries lie.
//!
//! Layouts are run-time data, except that a schedule knows which inputs are dense: it is part of its key, so that reshapes
//! of dense values reserve no memory for a copy.

use crate::arena::{self, Life};
use crate::attention;
use crate::cost;
use crate::dedup::dedup;
use crate::fuse::{self, Merged, Ops, ops_of};
use crate::narrow;
use crate::program::Lowered;
use crate::reductions;
use crate::resolve::Resolved;
use crate::rows;
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::{DType, Dims, Error, Result};
use ferrotensor_ops::graph::{Def, Graph, Number, Param, Val, View};
use ferrotensor_ops::rewrite::{self, Rewritten};
use ferrotensor_ops::write::{copy_kernel, index_dims};
use smallvec::SmallVec;

/// Where a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its own storage, the n-th of the program: it outlives the program.
    Own(u32),
    /// At this byte of the program's arena.
    Arena(usize),
}

/// One thing to do. Values are numbers of the graph.
pub enum Step {
    /// Another view of a value. With `copy`, a dense copy where the view cannot be had, or must be dense.
    View { of: Val, to: Val, view: View, copy: Option<Copy> },
    /// A kernel.
    Launch {
        resolved: Resolved,
        /// The operations it computes, for profiles.
        ops: Ops,
        inputs: SmallVec<[Val; 3]>,
        to: Val,
        outputs: SmallVec<[Place; 1]>,
        params: SmallVec<[Param; 2]>,
        /// For each output the inputs it depends on, as bits; nothing where it is all of them.
        reach: Vec<u64>,
    },
    /// New memory for a value that copies will fill.
    Reserve { to: Val, place: Place },
    /// A copy into a region of a reserved value.
    CopyInto { resolved: Resolved, from: Val, into: Val, region: Option<View> },
}

/// A dense copy that a view may need.
pub struct Copy {
    /// The identity map.
    pub resolved: Resolved,
    /// Where it is written.
    pub place: Place,
    /// Copy unless the value is dense already (for operands that must be).
    pub dense: bool,
}

/// A program ready to run.
pub struct Schedule {
    /// What to do, in order.
    pub steps: Vec<Step>,
    /// The operation each step belongs to.
    pub ops: Vec<u16>,
    /// Type of each value.
    pub values: Vec<(DType, Dims)>,
    /// Type ids of the inputs.
    pub inputs: Vec<i32>,
    /// Value of each input.
    pub input_values: Vec<Val>,
    /// Value of each output asked for.
    pub outputs: Vec<Val>,
    /// Bytes of each own storage.
    pub own: Vec<usize>,
    /// Bytes of the arena.
    pub arena: usize,
    /// Number of parameters.
    pub params: usize,
    /// Device.
    pub device: u16,
    /// Operations of the program.
    pub op_count: u64,
    /// Kernels saved by fusion.
    pub fused: u64,
    /// Kernels the device lacks, replaced by others.
    pub rewritten: Vec<Rewritten>,
    /// Estimated nanoseconds.
    pub estimate: f64,
}

/// Makes a schedule. `dense` says of each input whether it is row-major; `max_buffer` is the device's largest buffer in bytes;
/// `resolve` finds what runs a kernel.
pub fn build(
    lowered: Lowered,
    outputs: &[Val],
    dense: &[bool],
    fusion: bool,
    max_buffer: usize,
    supports: &dyn Fn(&Kernel) -> bool,
    resolve: &mut dyn FnMut(&Kernel) -> Result<Resolved>,
) -> Result<Schedule> {
    let Lowered { mut graph, inputs, params, ops, device, .. } = lowered;
    let mut outputs = outputs.to_vec();
    let rewritten = rewrite::rewrite(&mut graph, &mut outputs, supports)?;
    let mut merged = Merged::new();
    let fused = if fusion {
        dedup(&mut graph, &mut outputs)
            + narrow::fuse(&mut graph, &outputs, supports, &mut merged)
            + fuse::fuse(&mut graph, &outputs, supports, &mut merged)
            + rows::group(&mut graph, &mut outputs, supports, &mut merged)
            + attention::fuse(&mut graph, &outputs, supports, &mut merged)
            + reductions::fuse(&mut graph, &mut outputs, supports, &mut merged)
    } else {
        0
    };
    let outputs = outputs.as_slice();
    let mut b = Build::new(&graph, outputs, dense);
    b.run(resolve, &merged)?;
    let (lives, arena_steps) = b.lives();
    let (offsets, arena) = arena::place(&lives);
    let (places, arena) = if arena <= max_buffer { (b.assign(&arena_steps, &offsets), arena) } else { (b.apart(), 0) };
    let Build { steps, step_ops, own, estimate, input_values, .. } = b;
    let steps = steps.into_iter().map(|s| s.placed(&places)).collect();
    let values = graph.values.iter().map(|v| (v.dtype, v.dims.clone())).collect();
    Ok(Schedule {
        steps,
        ops: step_ops,
        values,
        inputs,
        input_values,
        outputs: outputs.to_vec(),
        own,
        arena,
        params,
        device,
        op_count: ops as u64,
        fused,
        rewritten,
        estimate,
    })
}

/// A buffer being planned.
struct Planned {
    bytes: usize,
    from: usize,
    until: usize,
    /// Number of its own storage, if it outlives the program.
    own: Option<u32>,
}

struct Build<'a> {
    graph: &'a Graph,
    uses: Vec<u32>,
    outputs: &'a [Val],
    /// Statically known layouts.
    layouts: Vec<Option<Layout>>,
    /// The planned buffers each value may lie in.
    roots: Vec<SmallVec<[usize; 2]>>,
    buffers: Vec<Planned>,
    dense: &'a [bool],
    keep: Vec<bool>,
    steps: Vec<Step>,
    step_ops: Vec<u16>,
    own: Vec<usize>,
    estimate: f64,
    input_values: Vec<Val>,
}

impl<'a> Build<'a> {
    fn new(graph: &'a Graph, outputs: &'a [Val], dense: &'a [bool]) -> Self {
        let n = graph.values.len();
        let uses = fuse::count_uses(graph, outputs);
        // A value is kept if it is an output, or an output is a view of it.
        let mut keep = vec![false; n];
        for v in outputs {
            keep[v.0 as usize] = true;
        }
        for node in graph.nodes.iter().rev() {
            if let Def::View { of, .. } = &node.def
                && keep[node.first.0 as usize]
            {
                keep[of.0 as usize] = true;
            }
        }
        Build {
            graph,
            uses,
            outputs,
            layouts: vec![None; n],
            roots: vec![SmallVec::new(); n],
            buffers: Vec::new(),
            dense,
            keep,
            steps: Vec::new(),
            step_ops: Vec::new(),
            own: Vec::new(),
            estimate: 0.0,
            input_values: Vec::new(),
        }
    }

    fn run(&mut self, resolve: &mut dyn FnMut(&Kernel) -> Result<Resolved>, merged: &Merged) -> Result<()> {
        for node in &self.graph.nodes {
            if let Def::Input(n) = node.def {
                self.input_values.push(node.first);
                let layout = self.dense.get(n as usize).copied().unwrap_or(false);
                self.layouts[node.first.0 as usize] = if layout { Some(self.dense_layout(node.first)?) } else { None };
                continue;
            }
            if fuse::uses_of(node, &self.uses) == 0 {
                continue;
            }
            match &node.def {
                Def::Input(_) => {}
                Def::View { of, view } => self.view(node.op, *of, node.first, view, resolve)?,
                Def::Kernel { kernel, inputs, params } => {
                    let resolved = resolve(kernel)?;
                    if matches!(kernel, Kernel::Routine(_)) {
                        for &v in inputs {
                            self.make_dense(node.op, v, resolve)?;
                        }
                    }
                    self.touch(inputs);
                    self.cost(kernel, inputs, node.first, node.outputs);
                    let outputs = (0..node.outputs).map(|o| self.reserve(Val(node.first.0 + o))).collect::<Result<_>>()?;
                    let reach = if let Kernel::Rows(rows) = kernel { rows.reach() } else { Vec::new() };
                    let (inputs, params, ops) = (inputs.clone(), params.clone(), ops_of(node, merged));
                    self.push(node.op, Step::Launch { resolved, ops, inputs, to: node.first, outputs, params, reach });
                }
                Def::Assemble { base, parts } => {
                    let place = self.reserve(node.first)?;
                    self.push(node.op, Step::Reserve { to: node.first, place });
                    let copies = base.iter().map(|v| (*v, None)).chain(parts.iter().cloned());
                    for (from, region) in copies.collect::<Vec<_>>() {
                        let resolved = resolve(&copy_kernel(self.graph.dtype(from)))?;
                        self.touch(&[from, node.first]);
                        self.push(node.op, Step::CopyInto { resolved, from, into: node.first, region });
                    }
                }
            }
        }
        let end = self.steps.len();
        for v in self.outputs {
            for &r in &self.roots[v.0 as usize].clone() {
                self.buffers[r].until = end;
            }
        }
        Ok(())
    }

    fn push(&mut self, op: u16, step: Step) {
        self.steps.push(step);
        self.step_ops.push(op);
    }

    fn dense_layout(&self, v: Val) -> Result<Layout> {
        Layout::dense(self.graph.dims(v))
    }

    fn bytes(&self, v: Val) -> Result<usize> {
        let n: usize = self.graph.dims(v).iter().product();
        n.checked_mul(self.graph.dtype(v).bytes()).ok_or_else(|| Error::out_of_memory("tensor size overflows"))
    }

    /// Values read by the step about to be pushed.
    fn touch(&mut self, values: &[Val]) {
        let now = self.steps.len();
        for v in values {
            for r in self.roots[v.0 as usize].clone() {
                self.buffers[r].until = self.buffers[r].until.max(now);
            }
        }
    }

    /// A planned buffer, its place still a number of the plan.
    fn plan(&mut self, v: Val) -> Result<(usize, Place)> {
        let (bytes, now) = (self.bytes(v)?, self.steps.len());
        let own = if self.keep[v.0 as usize] {
            self.own.push(bytes);
            Some(self.own.len() as u32 - 1)
        } else {
            None
        };
        self.buffers.push(Planned { bytes, from: now, until: now, own });
        Ok((self.buffers.len() - 1, Place::Arena(self.buffers.len() - 1)))
    }

    /// A dense buffer for a value.
    fn reserve(&mut self, v: Val) -> Result<Place> {
        let (buffer, place) = self.plan(v)?;
        self.roots[v.0 as usize].push(buffer);
        self.layouts[v.0 as usize] = Some(self.dense_layout(v)?);
        Ok(place)
    }

    fn view(
        &mut self,
        op: u16,
        of: Val,
        to: Val,
        view: &View,
        resolve: &mut dyn FnMut(&Kernel) -> Result<Resolved>,
    ) -> Result<()> {
        self.touch(&[of]);
        let known = self.layouts[of.0 as usize].clone();
        let target = match (&known, view) {
            (Some(layout), view) => apply_static(layout, view),
            (None, _) => Known::Unknown,
        };
        self.roots[to.0 as usize] = self.roots[of.0 as usize].clone();
        let copy = match (target, view) {
            (Known::Layout(layout), _) => {
                self.layouts[to.0 as usize] = Some(layout);
                None
            }
            (Known::Copy, _) => {
                self.roots[to.0 as usize].clear();
                Some(self.copy(to, false, resolve)?)
            }
            (Known::Unknown, View::Reshape(_)) => Some(self.copy(to, false, resolve)?),
            (Known::Unknown, _) => None,
        };
        self.push(op, Step::View { of, to, view: view.clone(), copy });
        Ok(())
    }

    fn copy(&mut self, to: Val, dense: bool, resolve: &mut dyn FnMut(&Kernel) -> Result<Resolved>) -> Result<Copy> {
        let resolved = resolve(&copy_kernel(self.graph.dtype(to)))?;
        let (buffer, place) = self.plan(to)?;
        self.roots[to.0 as usize].push(buffer);
        Ok(Copy { resolved, place, dense })
    }

    /// Rebinds a value to a dense copy of itself, unless it is known to be dense.
    fn make_dense(&mut self, op: u16, v: Val, resolve: &mut dyn FnMut(&Kernel) -> Result<Resolved>) -> Result<()> {
        if self.layouts[v.0 as usize].as_ref().is_some_and(Layout::is_row_major) {
            return Ok(());
        }
        self.touch(&[v]);
        let copy = self.copy(v, true, resolve)?;
        let view = View::Reshape(self.graph.dims(v).clone());
        self.layouts[v.0 as usize] = None;
        self.push(op, Step::View { of: v, to: v, view, copy: Some(copy) });
        Ok(())
    }

    fn cost(&mut self, kernel: &Kernel, inputs: &[Val], first: Val, outputs: u32) {
        let count = |v: Val| self.graph.dims(v).iter().product::<usize>();
        let results = (0..outputs).map(|o| Val(first.0 + o));
        let last = |v: Option<&Val>| v.and_then(|v| self.graph.dims(*v).last().copied()).unwrap_or(1);
        let bytes = inputs.iter().copied().chain(results.clone()).map(|v| count(v) * self.graph.dtype(v).bytes()).sum();
        let (elements, inner) = match kernel {
            // Queries and their results, each of which meets all keys.
            Kernel::Attention(_) => (inputs.iter().copied().take(1).chain(results).map(count).sum(), last(inputs.get(1))),
            _ => (inputs.iter().copied().chain(results).map(count).max().unwrap_or(0), last(inputs.first())),
        };
        self.estimate += cost::estimate(kernel, elements, bytes, inner);
    }

    /// Lifetimes of the buffers that go to the arena, and which buffers they are.
    fn lives(&self) -> (Vec<Life>, Vec<usize>) {
        let temporary = |b: &&Planned| b.own.is_none();
        let lives = self.buffers.iter().filter(temporary).map(|b| Life { bytes: b.bytes, from: b.from, until: b.until });
        let which = self.buffers.iter().enumerate().filter(|(_, b)| b.own.is_none()).map(|(i, _)| i);
        (lives.collect(), which.collect())
    }

    /// Every planned buffer in a storage of its own: for a device whose buffers are too small for the arena.
    fn apart(&mut self) -> Vec<Place> {
        let own = &mut self.own;
        let place = |b: &Planned| {
            Place::Own(b.own.unwrap_or_else(|| {
                own.push(b.bytes);
                own.len() as u32 - 1
            }))
        };
        self.buffers.iter().map(place).collect()
    }

    /// The final place of each planned buffer.
    fn assign(&self, arena: &[usize], offsets: &[usize]) -> Vec<Place> {
        let mut places: Vec<Place> = self.buffers.iter().map(|b| b.own.map_or(Place::Arena(0), Place::Own)).collect();
        for (&buffer, &offset) in arena.iter().zip(offsets) {
            places[buffer] = Place::Arena(offset);
        }
        places
    }
}

impl Step {
    /// The step with planned buffers replaced by their final places.
    fn placed(mut self, places: &[Place]) -> Step {
        let fix = |p: &mut Place| {
            if let Place::Arena(buffer) = *p {
                *p = places[buffer];
            }
        };
        match &mut self {
            Step::View { copy, .. } => copy.iter_mut().for_each(|c| fix(&mut c.place)),
            Step::Launch { outputs, .. } => outputs.iter_mut().for_each(fix),
            Step::Reserve { place, .. } => fix(place),
            Step::CopyInto { .. } => {}
        }
        self
    }
}

enum Known {
    Layout(Layout),
    Copy,
    Unknown,
}

/// What a view of a known layout is, as far as that does not depend on run-time numbers.
fn apply_static(layout: &Layout, view: &View) -> Known {
    if let View::Index(items) = view
        && items.iter().any(|i| !is_constant(i))
    {
        return Known::Unknown;
    }
    match apply(layout, view, &[]) {
        Ok(Some(layout)) => Known::Layout(layout),
        Ok(None) => Known::Copy,
        Err(_) => Known::Unknown,
    }
}

fn is_constant(item: &ferrotensor_ops::graph::IndexItem) -> bool {
    use ferrotensor_ops::graph::IndexItem;
    match item {
        IndexItem::NewAxis => true,
        IndexItem::Pick(n) => matches!(n, Number::Const(_)),
        IndexItem::Slice { start, step, .. } => matches!((start, step), (Number::Const(_), Number::Const(_))),
    }
}

/// A view of a layout; `None` where only a copy can have it.
///
/// # Errors
/// `Code::Index` for run-time numbers out of range.
pub fn apply(layout: &Layout, view: &View, params: &[u64]) -> Result<Option<Layout>> {
    use ferrotensor_ops::graph::IndexItem;
    let number = |n: &Number| -> Result<i64> {
        match n {
            Number::Const(v) => Ok(*v),
            Number::Param(p) => {
                let value = f64::from_bits(*params.get(*p as usize).ok_or_else(|| Error::internal("missing parameter"))?);
                if value.fract() != 0.0 {
                    Err(Error::index(format!("index {value} is not an integer")))
                } else {
                    Ok(value as i64)
                }
            }
        }
    };
    Ok(Some(match view {
        View::Permute(axes) => layout.permute(axes),
        View::Reshape(dims) => return Ok(layout.reshape(dims)),
        View::Broadcast(dims) => layout.broadcast(dims),
        View::Unfold { axis, windows, window: w } => layout.unfold(*axis, *windows, w.stride, w.size, w.dilation),
        View::Flip(axes) => axes.iter().fold(layout.clone(), |l, &a| l.flip(a)),
        View::Index(items) => {
            let (mut out, mut axis) = (layout.clone(), 0);
            for item in items {
                match item {
                    IndexItem::NewAxis => {
                        out = out.expand(axis);
                        axis += 1;
                    }
                    IndexItem::Pick(at) => {
                        let (at, size) = (number(at)?, out.dims()[axis]);
                        let at = usize::try_from(at).ok().filter(|&a| a < size);
                        out = out.pick(axis, at.ok_or_else(|| Error::index(format!("index out of range for size {size}")))?);
                    }
                    IndexItem::Slice { start, step, len } => {
                        let (start, step, size) = (number(start)?, number(step)?, out.dims()[axis] as i64);
                        let last = start as i128 + step as i128 * (*len as i128 - 1);
                        if *len > 0 && (start < 0 || start >= size || last < 0 || last >= size as i128) {
                            return Err(Error::index(format!("slice out of range for size {size}")));
                        }
                        out = out.slice(axis, start.max(0) as usize, step as isize, *len);
                        axis += 1;
                    }
                }
            }
            debug_assert_eq!(out.dims(), index_dims(layout.dims(), items).as_slice());
            out
        }
    }))
}

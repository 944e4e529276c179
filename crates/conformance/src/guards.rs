//! Kernels alone on a backend: outputs lie between guard bands in memory full of poison, inputs are looked at afterwards.
//! What reads too far, writes too far, or leaves an element out shows here and nowhere else.

mod windows;

use crate::Check;
use crate::bounds;
use crate::breadth;
use crate::case::{Operand as CaseOperand, Placement};
use crate::compare;
use crate::executor::Known;
use crate::machine;
use crate::values::{self, Fill, Rng};
use ferrotensor_core::backend::{Backend, Batch, Buffer, Launch, Operand, Outcome, Ticket};
use ferrotensor_core::kernel::{
    Combine, Contract, Gather, Kernel, Map, Monoid, Reduce, Scan, Scatter, Sort, SortOutputs, Update,
};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::reference::{self, Array};
use ferrotensor_core::rows::{Per, RowStep, Rows};
use ferrotensor_core::scalar::{Builder, MathFn, Op, Program};
use ferrotensor_core::{DType, Error, Kind, Result};
use ferrotensor_cpu::CpuBackend;
use ferrotensor_ops::def::Domain;
use std::time::{Duration, Instant};

/// Elements before and behind every operand: more than the widest vector (64 bytes) of the smallest dtype.
const BAND: usize = 96;

/// Bytes of outputs before they are written; no element of the cases consists of them.
const BLANK: u8 = 0xFD;

/// A kernel with operands and the shapes of its outputs.
pub struct KernelCase {
    /// What runs.
    pub kernel: Kernel,
    /// Its tensors.
    pub inputs: Vec<CaseOperand>,
    /// Shape of each output.
    pub outputs: Vec<Vec<usize>>,
    /// How outputs lie (`Broadcast` is no layout to write through).
    pub output: Placement,
    /// Launch parameters.
    pub params: Vec<u64>,
}

/// An operand's memory: a band, the elements, a band.
struct Guarded {
    buffer: Buffer,
    layout: Layout,
    before: Vec<u8>,
    size: usize,
}

/// Elements that change whatever takes one of them in: NaN, the largest and nearly the smallest integers in turn, and no bool.
fn poison(dtype: DType, count: usize) -> Vec<u8> {
    let bytes = match dtype.kind() {
        Kind::Signed => [0x7F, 0x80],
        Kind::Unsigned => [0xFF, 0x01],
        Kind::Bool => [0xFD; 2],
        Kind::Float | Kind::Complex => [0xFF; 2],
    };
    (0..count).flat_map(|i| std::iter::repeat_n(bytes[i % 2], dtype.bytes())).collect()
}

fn place(
    backend: &dyn Backend,
    base: &[u8],
    base_dims: &[usize],
    placement: Placement,
    dims: &[usize],
    dtype: DType,
) -> Result<Guarded> {
    let size = dtype.bytes();
    let mut bytes = poison(dtype, base.len() / size + 2 * BAND);
    bytes[BAND * size..BAND * size + base.len()].copy_from_slice(base);
    let buffer = backend.alloc(bytes.len())?;
    backend.upload(&bytes, &buffer, 0)?;
    let dense = Layout::dense(base_dims)?;
    let view = match placement {
        Placement::Contiguous => dense,
        Placement::Transposed => dense.permute(&(0..dims.len()).rev().collect::<Vec<_>>()),
        Placement::Reversed => (0..dims.len()).fold(dense, |l, a| l.flip(a)),
        Placement::Broadcast => dense.broadcast(dims),
        Placement::Sliced => {
            (0..dims.len()).fold(dense, |l, a| l.slice(a, 1, if a + 1 == dims.len() { 2 } else { 1 }, dims[a]))
        }
    };
    let layout = Layout::new(view.dims(), view.strides(), view.offset() + BAND, bytes.len() / size)?;
    Ok(Guarded { buffer, layout, before: bytes, size })
}

impl Guarded {
    fn operand(&self) -> Operand {
        Operand { buffer: self.buffer.clone(), layout: self.layout.clone() }
    }

    fn bytes(&self, backend: &dyn Backend) -> Result<Vec<u8>> {
        let mut now = vec![0; self.before.len()];
        backend.download(&self.buffer, 0, &mut now)?;
        Ok(now)
    }

    /// The first byte outside the operand's elements that is not what it was.
    fn trespass(&self, now: &[u8]) -> Option<usize> {
        let mut own = vec![false; now.len()];
        for p in ferrotensor_core::layout::positions(&self.layout) {
            own[p * self.size..(p + 1) * self.size].fill(true);
        }
        (0..now.len()).find(|&i| !own[i] && now[i] != self.before[i])
    }
}

/// Runs launches to their end.
pub fn finish(backend: &dyn Backend, launches: Vec<Launch>) -> Outcome {
    match backend.submit(Batch::new(launches)) {
        Ticket::Done(outcome) => outcome,
        Ticket::Pending(id) => backend.wait(id, Instant::now() + Duration::from_secs(60)).unwrap_or_else(|| Outcome {
            failed: Vec::new(),
            lost: Some(Error::internal("the device did not answer within a minute")),
        }),
    }
}

/// Runs a kernel between guards and returns its dense outputs.
///
/// # Errors
/// A sentence when the backend refuses or fails the kernel, writes outside its outputs, or changes an input.
pub fn run(backend: &dyn Backend, case: &KernelCase) -> Result<Vec<Vec<u8>>, String> {
    let text = |e: Error| e.message;
    let prepared = backend.prepare(&case.kernel).map_err(text)?;
    let mut inputs = Vec::new();
    for operand in &case.inputs {
        let CaseOperand::Tensor { base, placement, logical } = operand else { return Err("kernels take tensors".into()) };
        inputs.push(place(backend, base.bytes(), base.dims(), *placement, logical.dims(), base.dtype()).map_err(text)?);
    }
    let mut outputs = Vec::new();
    for (dims, dtype) in case.outputs.iter().zip(case.kernel.outputs()) {
        let placement = if case.output.fits(dims.len()) { case.output } else { Placement::Contiguous };
        let base = placement.base_dims(dims);
        let blank = vec![BLANK; base.iter().product::<usize>() * dtype.bytes()];
        outputs.push(place(backend, &blank, &base, placement, dims, dtype).map_err(text)?);
    }
    let launch = Launch {
        kernel: prepared,
        inputs: inputs.iter().map(Guarded::operand).collect(),
        outputs: outputs.iter().map(Guarded::operand).collect(),
        params: case.params.iter().copied().collect(),
    };
    let outcome = finish(backend, vec![launch]);
    if let Some(e) = outcome.lost.or(outcome.failed.into_iter().next().map(|f| f.1)) {
        return Err(format!("failed: {e}"));
    }
    for (n, input) in inputs.iter().enumerate() {
        if input.bytes(backend).map_err(text)? != input.before {
            return Err(format!("input {n} was changed"));
        }
    }
    let mut results = Vec::new();
    for (n, (output, dtype)) in outputs.iter().zip(case.kernel.outputs()).enumerate() {
        let now = output.bytes(backend).map_err(text)?;
        if let Some(at) = output.trespass(&now) {
            let element = at as i64 / dtype.bytes() as i64 - BAND as i64;
            return Err(format!("output {n} was written outside its elements, at element {element} of its memory"));
        }
        results.push(Array::gather(&now, &output.layout, dtype).map_err(text)?.bytes().to_vec());
    }
    Ok(results)
}

/// Runs a kernel between guards and compares with the reference.
///
/// # Errors
/// As [`run`], or the first element that is wrong.
pub fn check(backend: &dyn Backend, case: &KernelCase) -> Result<(), String> {
    let text = |e: Error| e.message;
    let logical = |o: &CaseOperand| {
        if let CaseOperand::Tensor { logical, .. } = o { Some(Known::exact(logical.clone())) } else { None }
    };
    let inputs: Vec<Known> = case.inputs.iter().filter_map(logical).collect();
    let arrays: Vec<Array> = inputs.iter().map(|k| k.array.clone()).collect();
    let dims: Vec<&[usize]> = case.outputs.iter().map(Vec::as_slice).collect();
    let outputs = reference::run(&case.kernel, &arrays, &dims, &case.params).map_err(text)?;
    let wanted = bounds::after(&case.kernel, &inputs.iter().collect::<Vec<_>>(), &case.params, outputs).map_err(text)?;
    for (n, (got, wanted)) in run(backend, case)?.iter().zip(&wanted).enumerate() {
        compare::within(got, wanted).map_err(|e| format!("output {n}: {e}"))?;
    }
    Ok(())
}

fn unary(dtype: DType, f: impl FnOnce(&mut Builder, u32) -> u32) -> Program {
    let mut b = Builder::new();
    let x = b.input(dtype);
    let y = f(&mut b, x);
    b.finish(&[y])
}

fn tensor(dtype: DType, dims: &[usize], placement: Placement, fill: Fill, rng: &mut Rng) -> Result<CaseOperand> {
    let placement = if placement.fits(dims.len()) { placement } else { Placement::Contiguous };
    let base = values::array(dtype, &placement.base_dims(dims), fill, rng)?;
    CaseOperand::tensor(base, placement, dims)
}

/// Elements less the largest of their row, the largest less a value that comes in, and the smallest of what is left.
fn spread(dtype: DType, axes: usize) -> Rows {
    let mut b = Builder::new();
    let (x, y) = (b.input(dtype), b.input(dtype));
    let less = b.binary(Op::Sub, x, y);
    let map = Map { program: b.finish(&[less]) };
    let reduce = |monoid, operand| {
        let combine = Combine::Value(monoid);
        RowStep::Reduce { reduce: Reduce { axes, combine, input: dtype, acc: dtype, pre: None, post: None }, operand }
    };
    let steps = vec![
        reduce(Monoid::Max, 0),
        RowStep::Map { map: map.clone(), operands: vec![0, 2] },
        RowStep::Map { map, operands: vec![2, 1] },
        reduce(Monoid::Min, 3),
    ];
    Rows { axes, inputs: vec![(dtype, Per::Element), (dtype, Per::Row)], steps, outputs: vec![3, 4, 5] }
}

/// Kernels over one dtype (windows are rewritten and routines the host's, so that neither has one here), with operands that lie in
/// one way.
///
/// # Errors
/// As [`values::array`].
pub fn cases(dtype: DType, placement: Placement) -> Result<Vec<(String, KernelCase)>> {
    let mut rng = Rng::named(&format!("guards/{dtype}/{}", placement.name()));
    let any = Fill::Ordinary(Domain::Any);
    let mut out = Vec::new();
    let mut add = |name: &str, kernel: Kernel, inputs: Vec<CaseOperand>, outputs: &[&[usize]], output: Placement| {
        let outputs = outputs.iter().map(|d| d.to_vec()).collect();
        out.push((name.to_string(), KernelCase { kernel, inputs, outputs, output, params: vec![] }));
    };
    // Outputs of maps take any layout that shows each element once (regions of a concatenation).
    let written = if placement == Placement::Broadcast { Placement::Sliced } else { placement };
    for dims in [&[0][..], &[1], &[31], &[33], &[1025], &[3, 70], &[2, 3, 2, 2, 3], &[]] {
        let mut b = Builder::new();
        let (x, y) = (b.input(dtype), b.input(dtype));
        let sum = b.binary(Op::Add, x, y);
        let program = b.finish(&[sum, x]);
        let x = tensor(dtype, dims, placement, any, &mut rng)?;
        let y = tensor(dtype, dims, Placement::Contiguous, any, &mut rng)?;
        add("map add and copy", Kernel::Map(Map { program }), vec![x, y], &[dims, dims], written);
        let to = if dtype == DType::F32 { DType::U8 } else { DType::F32 };
        let x = tensor(dtype, dims, placement, any, &mut rng)?;
        add("map cast", Kernel::Map(Map { program: unary(dtype, |b, x| b.cast(x, to)) }), vec![x], &[dims], written);
        if dtype.is_float() {
            let x = tensor(dtype, dims, placement, any, &mut rng)?;
            let program = unary(dtype, |b, x| b.call(MathFn::Exp, &[x]));
            add("map exp", Kernel::Map(Map { program }), vec![x], &[dims], written);
        }
    }
    for (dims, axes) in [
        (&[33][..], 1),
        (&[5, 513], 1),
        (&[5, 33], 0),
        (&[7, 3, 40], 2),
        (&[0, 4], 1),
        (&[4, 0], 1),
        (&[1100], 1),
        (&[513, 2], 1),
        (&[3, 130, 40], 1),
    ] {
        let kept = &dims[..dims.len() - axes];
        let mut combines = vec![Combine::Value(Monoid::Sum), Combine::Value(Monoid::Prod)];
        if dtype == DType::Bool {
            combines = vec![Combine::Value(Monoid::All), Combine::Value(Monoid::Any)];
        }
        if !dtype.is_complex() {
            combines.extend([Combine::Value(Monoid::Max), Combine::Value(Monoid::Min)]);
            if !dims[kept.len()..].contains(&0) {
                combines.extend([Combine::ArgMax, Combine::ArgMin]);
            }
        }
        for combine in combines {
            // Half floats accumulate in float32.
            let acc = dtype.compute();
            let kernel = Kernel::Reduce(Reduce { axes, combine, input: dtype, acc, pre: None, post: None });
            add(
                &format!("reduce {combine:?}"),
                kernel,
                vec![tensor(dtype, dims, placement, Fill::Factors, &mut rng)?],
                &[kept],
                Placement::Contiguous,
            );
        }
    }
    if !dtype.is_complex() && dtype != DType::Bool {
        // What fusion makes: a program before and one after.
        let pre = unary(dtype, |b, x| b.binary(Op::Add, x, x));
        let post = unary(dtype, |b, x| b.cast(x, DType::F64));
        for (dims, axes) in [(&[33][..], 1), (&[513, 2], 1), (&[5, 513], 1), (&[3, 130, 40], 2)] {
            let kernel = Reduce {
                axes,
                combine: Combine::Value(Monoid::Max),
                input: dtype,
                acc: dtype,
                pre: Some(pre.clone()),
                post: Some(post.clone()),
            };
            let x = tensor(dtype, dims, placement, any, &mut rng)?;
            add(
                "reduce between programs",
                Kernel::Reduce(kernel),
                vec![x],
                &[&dims[..dims.len() - axes]],
                Placement::Contiguous,
            );
        }
    }
    if !dtype.is_complex() && dtype != DType::Bool {
        // Rows that are met where they lie, gathered, several at once, and in no place of a thread's own.
        for (dims, axes) in [(&[33][..], 1), (&[40, 3], 1), (&[5, 130], 1), (&[3, 513], 1), (&[2, 7, 40], 2), (&[3, 0], 1)] {
            let kept = &dims[..dims.len() - axes];
            let x = tensor(dtype, dims, placement, any, &mut rng)?;
            let row = tensor(dtype, kept, placement, any, &mut rng)?;
            let kernel = Kernel::Rows(spread(dtype, axes));
            add("rows", kernel, vec![x, row], &[dims, kept, kept], written);
        }
    }
    for dims in [&[33][..], &[5, 40], &[0], &[3, 0], &[2, 1030]] {
        if dtype.compute() == dtype && dtype != DType::Bool {
            for combine in [Monoid::Sum, Monoid::Max].into_iter().filter(|&m| m == Monoid::Sum || !dtype.is_complex()) {
                let x = tensor(dtype, dims, placement, any, &mut rng)?;
                add("scan", Kernel::Scan(Scan { combine, dtype }), vec![x], &[dims], Placement::Contiguous);
            }
        }
        if !dtype.is_complex() {
            let n = dims[dims.len() - 1];
            for (outputs, k) in [(SortOutputs::Values, n), (SortOutputs::Indices, n), (SortOutputs::Both, n / 2)] {
                let cut: Vec<usize> = dims[..dims.len() - 1].iter().copied().chain([k]).collect();
                let shapes: Vec<&[usize]> = vec![&cut; if outputs == SortOutputs::Both { 2 } else { 1 }];
                let kernel = Kernel::Sort(Sort { dtype, descending: k != n, outputs });
                add("sort", kernel, vec![tensor(dtype, dims, placement, any, &mut rng)?], &shapes, Placement::Contiguous);
            }
        }
    }
    for (data, index) in [(&[40, 3][..], &[7][..]), (&[5, 33], &[2, 3]), (&[6], &[0]), (&[9], &[40])] {
        let result: Vec<usize> = index.iter().chain(&data[1..]).copied().collect();
        for index_dtype in [DType::I32, DType::I64, DType::U8] {
            let x = tensor(dtype, data, placement, any, &mut rng)?;
            let i = tensor(index_dtype, index, placement, Fill::Index(data[0]), &mut rng)?;
            add(
                "gather",
                Kernel::Gather(Gather::new(dtype, vec![index_dtype])),
                vec![x.clone(), i.clone()],
                &[&result],
                Placement::Contiguous,
            );
            for update in [Update::Set, Update::Combine(Monoid::Sum), Update::Combine(Monoid::Prod)] {
                let u = tensor(dtype, &result, placement, any, &mut rng)?;
                let kernel = Kernel::Scatter(Scatter { dtype, index: vec![index_dtype], update });
                add("scatter", kernel, vec![x.clone(), i.clone(), u], &[data], Placement::Contiguous);
            }
        }
    }
    for (a, b, c) in [
        (&[3, 4][..], &[4, 5][..], &[3, 5][..]),
        (&[2, 33, 31], &[2, 31, 17], &[2, 33, 17]),
        (&[2, 0], &[0, 3], &[2, 3]),
        (&[1, 1], &[1, 1], &[1, 1]),
    ] {
        let (a, b) = (tensor(dtype, a, placement, any, &mut rng)?, tensor(dtype, b, placement, any, &mut rng)?);
        add("contract", Kernel::Contract(Contract::new(dtype)), vec![a, b], &[c], Placement::Contiguous);
    }
    out.extend(windows::cases(dtype, placement, &mut rng)?);
    Ok(out)
}

/// One test for each dtype, layout and tier.
pub fn trials() -> Vec<(String, Check)> {
    let mut out: Vec<(String, Check)> = Vec::new();
    for tier in machine::tiers().0 {
        for dtype in DType::all() {
            for placement in Placement::ALL {
                let group = format!("guards/{dtype}/{}", placement.name());
                if !breadth::takes(&group, tier) {
                    continue;
                }
                let name = format!("{group}/{}", tier.name());
                out.push((
                    name,
                    Box::new(move || {
                        let backend = CpuBackend::new(tier)?;
                        let cases = cases(dtype, placement).map_err(|e| e.message)?;
                        let failures: Vec<String> = cases
                            .iter()
                            .filter_map(|(name, case)| {
                                check(&backend, case).err().map(|e| format!("{name} {:?}: {e}", case.outputs))
                            })
                            .collect();
                        match failures.len() {
                            0 => Ok(()),
                            n => Err(format!("{n} of {} kernels\n  {}", cases.len(), failures[..n.min(5)].join("\n  "))),
                        }
                    }),
                ));
            }
        }
    }
    out
}

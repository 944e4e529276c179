//! Runs kernels on every tier and thread count over operands in guarded buffers, and compares with the reference.

use ferrotensor_core::backend::{Backend, Batch, Launch, Operand, Outcome, Ticket};
use ferrotensor_core::element::{bf16, f16};
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::layout::{Layout, positions};
use ferrotensor_core::reference::{self, Array};
use ferrotensor_core::{DType, match_dtype};
use ferrotensor_cpu::{CpuBackend, GRAIN, Tier, set_grain, set_threads, threads};
use std::fmt::Display;
use std::sync::Mutex;

/// A small generator (Steele, Lea and Flood's splitmix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// One element: small numbers mostly, then special values and any bits at all.
    fn element(&mut self, dtype: DType) -> [u8; 16] {
        let small = self.below(17) as f64 / 4.0 - 2.0;
        let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.0, 1e-310, 1e-40, 65504.0, 3e38, -1.0];
        let value = if self.below(8) == 0 { self.pick(&special) } else { small };
        let mut out = [0u8; 16];
        let mut put = |bytes: &[u8]| out[..bytes.len()].copy_from_slice(bytes);
        if self.below(8) == 0 && dtype != DType::Bool {
            put(&[self.next().to_le_bytes(), self.next().to_le_bytes()].concat());
            return out;
        }
        match dtype {
            DType::Bool => put(&[self.below(2) as u8]),
            DType::F16 => put(&f16::from_f64(value).to_le_bytes()),
            DType::BF16 => put(&bf16::from_f64(value).to_le_bytes()),
            DType::F32 => put(&(value as f32).to_le_bytes()),
            DType::F64 => put(&value.to_le_bytes()),
            DType::C64 => put(&[(value as f32).to_le_bytes(), (small as f32 + 1.0).to_le_bytes()].concat()),
            DType::C128 => put(&[value.to_le_bytes(), (small + 1.0).to_le_bytes()].concat()),
            d => match_dtype!(d, integers T => put(&((self.below(41) as i64 - 20) as T).to_le_bytes()), else ()),
        }
        out
    }

    pub fn array(&mut self, dtype: DType, dims: &[usize]) -> Array {
        self.repeated(dtype, dims, usize::MAX)
    }

    /// An array that repeats its first `period` elements, which is soon made.
    pub fn repeated(&mut self, dtype: DType, dims: &[usize], period: usize) -> Array {
        let (len, size) = (dims.iter().product::<usize>(), dtype.bytes());
        let mut bytes = Vec::with_capacity(len * size);
        for _ in 0..len.min(period) {
            bytes.extend_from_slice(&self.element(dtype)[..size]);
        }
        while bytes.len() < len * size {
            bytes.extend_from_within(..bytes.len().min(len * size - bytes.len()));
        }
        Array::new(dtype, dims, bytes).unwrap()
    }

    /// An array that is equal along the axes whose bits are set.
    pub fn equal(&mut self, dtype: DType, dims: &[usize], axes: u8) -> Array {
        let one = kept(dims, axes);
        let (array, size) = (self.array(dtype, &one), dtype.bytes());
        let layout = Layout::new(&one, &ferrotensor_core::layout::row_major(&one), 0, usize::MAX).unwrap().broadcast(dims);
        let bytes = positions(&layout).flat_map(|at| array.bytes()[at * size..][..size].to_vec()).collect();
        Array::new(dtype, dims, bytes).unwrap()
    }

    /// Index operands of shape `dims`, in range along the first `axes` axes of data, counted from either end.
    pub fn indices(&mut self, data: &[usize], axes: usize, dims: &[usize]) -> Vec<Array> {
        let mut along = |dim: usize| {
            let values: Vec<i64> = (0..dims.iter().product()).map(|_| self.below(2 * dim) as i64 - dim as i64).collect();
            Array::from_slice(dims, &values).unwrap()
        };
        data[..axes].iter().map(|&dim| along(dim)).collect()
    }
}

/// The shape without the axes whose bits are set.
fn kept(dims: &[usize], axes: u8) -> Vec<usize> {
    dims.iter().enumerate().map(|(axis, &dim)| if axes >> axis & 1 == 1 { 1 } else { dim }).collect()
}

/// How an operand lies in its buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Style {
    Dense,
    Offset,
    Transposed,
    /// The last axis before the others, which stay in order.
    LastFirst,
    Reversed,
    Stepped,
    /// Rows with a gap between them.
    Padded,
    /// Whole fours of elements begin at the start and at each row, rows from the last to the first; turned: each column.
    Fours {
        turned: bool,
    },
    /// Axis 0 broadcast (for inputs that are equal along it).
    Broadcast,
    /// The last axis broadcast, likewise.
    Spread,
    /// All axes broadcast, likewise.
    Single,
    /// The axes whose bits are set broadcast, likewise.
    Equal(u8),
}
pub const STYLES: [Style; 6] =
    [Style::Dense, Style::Offset, Style::Transposed, Style::Reversed, Style::Stepped, Style::Padded];

/// The layout of an operand, and the number of elements of its buffer, guards included.
pub fn lay(style: Style, dims: &[usize]) -> (Layout, usize) {
    const GUARD: usize = 67;
    let rank = dims.len();
    let dense = |dims: &[usize], len: usize, offset: usize| {
        Layout::new(dims, &ferrotensor_core::layout::row_major(dims), offset, len).unwrap()
    };
    let count = |dims: &[usize]| dims.iter().product::<usize>();
    match style {
        Style::Dense => (dense(dims, count(dims), 0), count(dims)),
        Style::Offset => (dense(dims, count(dims) + 2 * GUARD, GUARD), count(dims) + 2 * GUARD),
        Style::Transposed => {
            let axes: Vec<usize> = (0..rank).rev().collect();
            let turned: Vec<usize> = dims.iter().rev().copied().collect();
            (dense(&turned, count(dims) + 2 * GUARD, GUARD).permute(&axes), count(dims) + 2 * GUARD)
        }
        Style::LastFirst => {
            let axes: Vec<usize> = (1..rank).chain(0..rank.min(1)).collect();
            let first: Vec<usize> = dims.iter().rev().take(1).chain(&dims[..rank.max(1) - 1]).copied().collect();
            (dense(&first, count(dims) + 2 * GUARD, GUARD).permute(&axes), count(dims) + 2 * GUARD)
        }
        Style::Reversed => {
            let plain = dense(dims, count(dims) + 2 * GUARD, GUARD);
            ((0..rank).fold(plain, |l, axis| l.flip(axis)), count(dims) + 2 * GUARD)
        }
        Style::Stepped => {
            let wide: Vec<usize> = dims.iter().map(|d| 2 * d).collect();
            let plain = dense(&wide, count(&wide) + 2 * GUARD, GUARD);
            ((0..rank).fold(plain, |l, axis| l.slice(axis, 0, 2, dims[axis])), count(&wide) + 2 * GUARD)
        }
        Style::Padded => {
            let mut wide = dims.to_vec();
            if let Some(last) = wide.last_mut() {
                *last += 3;
            }
            let plain = dense(&wide, count(&wide) + 2 * GUARD, GUARD);
            (if rank > 0 { plain.slice(rank - 1, 1, 1, dims[rank - 1]) } else { plain }, count(&wide) + 2 * GUARD)
        }
        Style::Fours { turned } => {
            let axes: Vec<usize> =
                (0..rank - 2).chain(if turned { [rank - 1, rank - 2] } else { [rank - 2, rank - 1] }).collect();
            let mut wide: Vec<usize> = axes.iter().map(|&a| dims[a]).collect();
            let inner = wide[rank - 1];
            wide[rank - 1] = inner.next_multiple_of(4) + 4;
            let plain = dense(&wide, count(&wide) + 128, 64).slice(rank - 1, 0, 1, inner).flip(rank - 2);
            (plain.permute(&axes), count(&wide) + 128)
        }
        Style::Broadcast | Style::Spread | Style::Single | Style::Equal(_) => {
            let mut one = dims.to_vec();
            match style {
                Style::Broadcast => one[0] = 1,
                Style::Spread => one[rank - 1] = 1,
                Style::Equal(axes) => one = kept(dims, axes),
                _ => one.fill(1),
            }
            (dense(&one, count(&one) + 2 * GUARD, GUARD).broadcast(dims), count(&one) + 2 * GUARD)
        }
    }
}

pub fn tiers() -> Vec<Tier> {
    Tier::ALL.iter().copied().filter(|t| t.is_present()).collect()
}

const GUARD_BYTE: u8 = 0xa5;

fn operand(backend: &CpuBackend, dtype: DType, dims: &[usize], style: Style, content: Option<&Array>) -> Operand {
    let (layout, len) = lay(style, dims);
    let size = dtype.bytes();
    let mut bytes = vec![GUARD_BYTE; len * size];
    if let Some(array) = content {
        for (i, at) in positions(&layout).enumerate() {
            bytes[at * size..][..size].copy_from_slice(&array.bytes()[i * size..][..size]);
        }
    }
    let buffer = backend.alloc(bytes.len()).unwrap();
    backend.upload(&bytes, &buffer, 0).unwrap();
    Operand { buffer, layout }
}

/// Runs a kernel once and returns its outputs with what happened; panics when a guard was touched.
pub fn launch(
    tier: Tier,
    kernel: &Kernel,
    inputs: &[(&Array, Style)],
    outputs: &[(&[usize], Style)],
    params: &[u64],
) -> (Vec<Array>, Outcome) {
    let backend = CpuBackend::new(tier).unwrap();
    let inputs = inputs.iter().map(|(a, s)| operand(&backend, a.dtype(), a.dims(), *s, Some(a))).collect();
    let dtypes = kernel.outputs();
    let outputs: Vec<Operand> =
        outputs.iter().zip(&dtypes).map(|((dims, s), d)| operand(&backend, *d, dims, *s, None)).collect();
    let launch = Launch {
        kernel: backend.prepare(kernel).unwrap(),
        inputs,
        outputs: outputs.iter().cloned().collect(),
        params: params.iter().copied().collect(),
    };
    let Ticket::Done(outcome) = backend.submit(Batch::new(vec![launch])) else { panic!("the CPU runs batches at once") };
    let arrays = outputs
        .iter()
        .zip(&dtypes)
        .map(|(o, &d)| {
            let mut bytes = vec![0; o.buffer.bytes()];
            backend.download(&o.buffer, 0, &mut bytes).unwrap();
            let array = Array::gather(&bytes, &o.layout, d).unwrap();
            for at in positions(&o.layout) {
                bytes[at * d.bytes()..][..d.bytes()].fill(GUARD_BYTE);
            }
            assert!(bytes == vec![GUARD_BYTE; bytes.len()], "{kernel:?} wrote outside its output {:?}", o.layout);
            array
        })
        .collect();
    (arrays, outcome)
}

/// The outputs on every tier with 1 and 2 threads, and with 5 that share whatever they can, which must be equal bit for bit (NaN apart).
pub fn run(kernel: &Kernel, inputs: &[(&Array, Style)], outputs: &[(&[usize], Style)], params: &[u64]) -> Vec<Array> {
    // The number of threads belongs to the process.
    static THREADS: Mutex<()> = Mutex::new(());
    let _guard = THREADS.lock().unwrap_or_else(|e| e.into_inner());
    let mut first: Option<Vec<Array>> = None;
    for tier in tiers() {
        // Interpreted, making threads takes longer than what they do: one set is made, as large as the environment says.
        let counts = if cfg!(miri) { &[(threads(), 1)][..] } else { &[(1, GRAIN), (2, GRAIN), (5, 500)] };
        for &(threads, grain) in counts {
            if !cfg!(miri) {
                set_threads(threads);
                set_grain(grain);
            }
            let (arrays, outcome) = launch(tier, kernel, inputs, outputs, params);
            assert!(outcome.failed.is_empty() && outcome.lost.is_none(), "{kernel:?}: {outcome:?}");
            match &first {
                None => first = Some(arrays),
                Some(first) => {
                    for (x, y) in first.iter().zip(&arrays) {
                        assert_same(x, y, format_args!("{kernel:?} on {} with {threads} threads", tier.name()));
                    }
                }
            }
        }
    }
    first.unwrap()
}

/// Equal bits, or NaN in both.
pub fn assert_same(x: &Array, y: &Array, what: impl Display) {
    assert_eq!((x.dtype(), x.dims()), (y.dtype(), y.dims()), "{what}");
    if x.bytes() == y.bytes() {
        return;
    }
    let size = x.dtype().bytes();
    for (i, (a, b)) in x.bytes().chunks(size).zip(y.bytes().chunks(size)).enumerate() {
        if a == b {
            continue;
        }
        let nan = |array: &Array| match (array.dtype(), array.get(i)) {
            (DType::C64 | DType::C128, reference::Scalar::Complex(re, im)) => [re.hi.is_nan(), im.hi.is_nan()],
            (_, v) => [v.is_nan(); 2],
        };
        let half = size / 2;
        let parts = if x.dtype().is_complex() { [a[..half] == b[..half], a[half..] == b[half..]] } else { [false; 2] };
        let (p, q) = (nan(x), nan(y));
        let same = (0..2).all(|n| parts[n] || (p[n] && q[n]));
        assert!(same, "{what}: element {i} of {:?} is {:?}, expected {:?}", x.dims(), y.get(i), x.get(i));
    }
}

/// What the reference says.
pub fn expected(kernel: &Kernel, inputs: &[&Array], outputs: &[&[usize]], params: &[u64]) -> Vec<Array> {
    let inputs: Vec<Array> = inputs.iter().map(|&a| a.clone()).collect();
    reference::run(kernel, &inputs, outputs, params).unwrap()
}

/// Runs everywhere and compares exactly with the reference.
pub fn check(kernel: &Kernel, inputs: &[(&Array, Style)], outputs: &[(&[usize], Style)], params: &[u64]) {
    let ours = run(kernel, inputs, outputs, params);
    let arrays: Vec<&Array> = inputs.iter().map(|i| i.0).collect();
    let dims: Vec<&[usize]> = outputs.iter().map(|o| o.0).collect();
    let styles: Vec<Style> = inputs.iter().map(|i| i.1).collect();
    for (x, y) in expected(kernel, &arrays, &dims, params).iter().zip(&ours) {
        assert_same(x, y, format_args!("{kernel:?} {styles:?} {outputs:?}"));
    }
}

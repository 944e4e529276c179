//! Devices that lack something: made of the first one by taking it away. Whatever `supports` says yes to gives the reference's bits,
//! whatever it refuses `prepare` refuses in the same words, and both are known of every kind of kernel and every dtype.

use super::launches::{canonical, compare, layouts, run};
use crate::host::{self, Device};
use ferrotensor_core::backend::Backend;
use ferrotensor_core::kernel::{
    Combine, Contract, Gather, Kernel, Map, Monoid, Reduce, Scan, Scatter, Sort, SortOutputs, Update, Window, WindowAxis,
    WindowCombine,
};
use ferrotensor_core::layout::Layout;
use ferrotensor_core::reference::Scalar;
use ferrotensor_core::rows::{Per, RowStep, Rows};
use ferrotensor_core::scalar::{Builder, MathFn, Op, Program, verify};
use ferrotensor_core::{Code, DType};
use ferrotensor_gpu::Can;

/// What is taken away.
struct Poor {
    name: &'static str,
    take: fn(&mut Can),
    /// Of a dtype without which nothing of it runs.
    dtypes: &'static [DType],
    /// Whether launches that reach far may be refused as well as kernels.
    narrow: bool,
    /// Whether kernels ask nothing of floats.
    bare: bool,
}

const fn lack(name: &'static str, take: fn(&mut Can), dtypes: &'static [DType]) -> Poor {
    Poor { name, take, dtypes, narrow: false, bare: false }
}

const WIDE_FLOATS: &[DType] = &[DType::F64, DType::C128];
const WIDE_INTEGERS: &[DType] = &[DType::I64, DType::U64];
const HALVES: &[DType] = &[DType::F16, DType::BF16, DType::I16, DType::U16];
const BYTES: &[DType] = &[DType::Bool, DType::I8, DType::U8];
/// What is left when all that is optional is taken away.
const LEFT: &[DType] = &[DType::I32, DType::U32, DType::F32, DType::C64];

fn none(can: &mut Can) {
    // The alignment, the subgroup and the limits are the device's.
    for flag in [&mut can.float64, &mut can.int64, &mut can.storage16, &mut can.storage8] {
        *flag = false;
    }
}

const ALL: [Poor; 12] = [
    lack("no float64", |c| c.float64 = false, WIDE_FLOATS),
    lack("no int64", |c| c.int64 = false, WIDE_INTEGERS),
    lack("no 16-bit storage", |c| c.storage16 = false, HALVES),
    lack("no 8-bit storage", |c| c.storage8 = false, BYTES),
    Poor { bare: true, ..lack("no float controls", |_| {}, &[]) },
    lack("float32 by integers", |c| (c.roots, c.quotients, c.subnormals) = (false, false, false), &[]),
    lack(
        "ranges of 128 MiB, 65,535 groups, 16 KiB shared",
        |c| {
            (c.max_range, c.max_groups, c.max_shared) = (c.max_range.min(128 << 20), c.max_groups.min(65_535), 16 << 10);
        },
        &[],
    ),
    lack("7 groups", |c| c.max_groups = 7, &[]),
    lack("4 buffers", |c| c.max_buffers = 4, &[]),
    Poor { narrow: true, ..lack("ranges of 4 KiB", |c| c.max_range = 4096, &[]) },
    Poor { bare: true, ..lack("nothing optional", none, &[]) },
    Poor {
        name: "nothing at all",
        take: |c| {
            none(c);
            (c.max_range, c.max_groups, c.max_shared, c.max_buffers) = (64 << 10, 7, 16 << 10, 4);
        },
        dtypes: &[],
        narrow: true,
        bare: true,
    },
];

/// A kernel with operands for it.
struct Case {
    name: String,
    kernel: Kernel,
    inputs: Vec<(Vec<u8>, Layout)>,
    dims: Vec<usize>,
}

/// Small whole numbers, whose sums and products are exact in every dtype.
fn small(dtype: DType, count: usize, seed: usize) -> Vec<u8> {
    let signed = dtype.is_float() || dtype.is_complex() || matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64);
    let one = |n: usize| {
        let value = ((n * 31 + seed * 17) % 97 % 7) as i128 - if signed { 3 } else { 0 };
        let value = if dtype == DType::Bool { value & 1 } else { value };
        Scalar::Int(value).encode(dtype).into_iter().take(dtype.bytes())
    };
    (0..count).flat_map(one).collect()
}

fn dense(dims: &[usize]) -> Layout {
    Layout::dense(dims).unwrap()
}

fn map(name: impl Into<String>, program: Program, seed: usize, dims: &[usize]) -> Case {
    let operand = |(n, d): (usize, &DType)| {
        let turned: Vec<usize> = (0..dims.len()).rev().collect();
        let other: Vec<usize> = dims.iter().rev().copied().collect();
        let layout = if (n + seed).is_multiple_of(2) { dense(dims).flip(0) } else { dense(&other).permute(&turned) };
        (small(*d, dims.iter().product(), n + seed), layout)
    };
    let inputs = program.inputs.iter().enumerate().map(operand).collect();
    Case { name: name.into(), inputs, kernel: Kernel::Map(Map { program }), dims: dims.to_vec() }
}

/// The instructions of a dtype, each an output of its own; at most three.
fn arithmetic(d: DType, dims: &[usize]) -> Vec<Case> {
    let binary = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem, Op::Max, Op::Min, Op::And, Op::Shl];
    let two = |op| {
        let mut b = Builder::new();
        let (x, y) = (b.input(d), b.input(d));
        let result = b.binary(op, x, y);
        b.finish(&[result])
    };
    let compared = || {
        let mut b = Builder::new();
        let (x, y) = (b.input(d), b.input(d));
        let (less, equal) = (b.compare(Op::Le, x, y), b.compare(Op::Eq, x, y));
        b.finish(&[less, equal])
    };
    // Complex products are bounded, not promised.
    let promised = |op: &Op| !(d.is_complex() && matches!(op, Op::Mul | Op::Div));
    let listed = binary.into_iter().filter(promised).map(|op| (format!("{op:?} {d}"), two(op)));
    let programs = listed.chain([(format!("{d} compared"), compared())]);
    programs.filter(|(_, p)| verify(p).is_ok()).enumerate().map(|(n, (name, p))| map(name, p, n, dims)).collect()
}

fn cast(from: DType, to: DType, dims: &[usize]) -> Case {
    let mut b = Builder::new();
    let x = b.input(from);
    let cast = b.cast(x, to);
    map(format!("{from} as {to}"), b.finish(&[cast]), 0, dims)
}

/// A case of every kind for every dtype, over operands of shape `[p, q, 7]`.
fn cases(p: usize, q: usize) -> Vec<Case> {
    let dims = [p, q, 7];
    let count = p * q * 7;
    let mut all = Vec::new();
    let mut case = |name: String, kernel, inputs, dims: &[usize]| {
        all.push(Case { name, kernel, inputs, dims: dims.to_vec() });
    };
    let rows = [1usize, 0, 2].map(|n| n as i128);
    for d in DType::all() {
        let data = |seed| (small(d, count, seed), dense(&dims).flip(2));
        for combine in
            [Combine::Value(Monoid::Sum), Combine::Value(Monoid::Max), Combine::Value(Monoid::Any), Combine::ArgMin]
        {
            let logical = combine == Combine::Value(Monoid::Any);
            let ordered = !matches!(combine, Combine::Value(Monoid::Sum));
            if logical != (d == DType::Bool) || (ordered && d.is_complex()) {
                continue;
            }
            for axes in [1, 2] {
                let kernel = Kernel::Reduce(Reduce { axes, combine, input: d, acc: d, pre: None, post: None });
                case(format!("{combine:?} of {axes} axes of {d}"), kernel, vec![data(1)], &dims[..3 - axes]);
            }
        }
        if !d.is_complex() && d != DType::Bool {
            // The largest element of a row, and how far the others are below it.
            let combine = Combine::Value(Monoid::Max);
            let reduce = Reduce { axes: 1, combine, input: d, acc: d, pre: None, post: None };
            let mut b = Builder::new();
            let (x, most) = (b.input(d), b.input(d));
            let less = b.binary(Op::Sub, x, most);
            let map = Map { program: b.finish(&[less]) };
            let steps = vec![RowStep::Reduce { reduce, operand: 0 }, RowStep::Map { map, operands: vec![0, 1] }];
            let kernel = Kernel::Rows(Rows { axes: 1, inputs: vec![(d, Per::Element)], steps, outputs: vec![2] });
            case(format!("rows of {d}"), kernel, vec![data(12)], &dims);
        }
        let combine = if d == DType::Bool { Monoid::Any } else { Monoid::Sum };
        case(format!("scan of {d}"), Kernel::Scan(Scan { combine, dtype: d }), vec![data(2)], &dims);
        let index: Vec<u8> = rows.iter().flat_map(|&i| Scalar::Int(i).encode(DType::I32).into_iter().take(4)).collect();
        let index = (index, dense(&[3]));
        let kernel = Kernel::Gather(Gather::new(d, vec![DType::I32]));
        case(format!("gather of {d}"), kernel, vec![data(3), index.clone()], &[3, q, 7]);
        for update in [Update::Set, Update::Combine(combine)] {
            let kernel = Kernel::Scatter(Scatter { dtype: d, index: vec![DType::I32], update });
            let updates = (small(d, 3 * q * 7, 4), dense(&[3, q, 7]));
            case(format!("scatter of {d}, {update:?}"), kernel, vec![data(3), index.clone(), updates], &dims);
        }
        let b = (small(d, p * 7 * 5, 5), dense(&[p, 7, 5]));
        case(format!("product of {d}"), Kernel::Contract(Contract::new(d)), vec![data(6), b], &[p, q, 5]);
        if !d.is_complex() {
            let kernel = Kernel::Sort(Sort { dtype: d, descending: true, outputs: SortOutputs::Both });
            case(format!("sort of {d}"), kernel, vec![data(7)], &dims);
        }
        let axis = WindowAxis { size: 3, stride: 2, dilation: 1, low: 1 };
        // Images of one group and one channel, as many as there are outer rows.
        let kernel = Kernel::Window(Window { combine: WindowCombine::Dot, dtype: d, axes: vec![axis; 2] });
        let images = (small(d, count, 10), dense(&[p, 1, 1, q, 7]));
        let weights = (small(d, 2 * 9, 11), dense(&[1, 2, 1, 3, 3]));
        case(format!("convolution of {d}"), kernel, vec![images, weights], &[p, 1, 2, q.div_ceil(2), 4]);
        let reduce = WindowCombine::Reduce(Monoid::Max);
        if !d.is_complex() && d != DType::Bool {
            let kernel = Kernel::Window(Window { combine: reduce, dtype: d, axes: vec![axis] });
            case(format!("windows of {d}"), kernel, vec![data(8)], &[p, q, 4]);
        }
    }
    for index in [DType::I8, DType::U8, DType::I16, DType::U16, DType::U32, DType::I64, DType::U64] {
        let list: Vec<u8> =
            rows.iter().flat_map(|&i| Scalar::Int(i).encode(index).into_iter().take(index.bytes())).collect();
        let kernel = Kernel::Gather(Gather::new(DType::F32, vec![index]));
        let inputs = vec![(small(DType::F32, count, 9), dense(&dims)), (list, dense(&[3]))];
        case(format!("gather by {index}"), kernel, inputs, &[3, q, 7]);
    }
    for d in DType::all() {
        all.push(map(format!("copy of {d}"), Program::identity(d), 1, &dims));
        all.extend(arithmetic(d, &dims));
        for other in [DType::F32, DType::I32, DType::F64] {
            if d != other {
                all.extend([cast(d, other, &dims), cast(other, d, &dims)]);
            }
        }
    }
    let mut b = Builder::new();
    let inputs: Vec<_> = (0..6).map(|_| b.input(DType::I32)).collect();
    let sum = inputs[1..].iter().fold(inputs[0], |sum, &x| b.binary(Op::Add, sum, x));
    all.push(map("six operands", b.finish(&[sum]), 2, &dims));
    let mut b = Builder::new();
    let (x, y, z) = (b.input(DType::F32), b.input(DType::F32), b.input(DType::F32));
    let fma = b.fma(x, y, z);
    all.push(map("fma", b.finish(&[fma]), 2, &dims));
    all
}

fn poor(of: &Poor) -> Option<Device> {
    let mut can = host::can()?;
    (of.take)(&mut can);
    Some(if of.bare { host::open_bare(can) } else { host::open(can) })
}

/// Whether a case ran with the right bits; it did not if it was refused as it must be.
fn ran(device: &Device, case: &Case, poor: &Poor) -> bool {
    let what = format!("{}, {}", poor.name, case.name);
    let answer = device.supports(&case.kernel);
    let prepared = device.prepare(&case.kernel);
    match (answer, prepared) {
        (Err(reason), Err(e)) => {
            assert!(reason.contains(' ') && e.code == Code::Unsupported && e.message == reason, "{what}: {reason}; {e:?}");
            false
        }
        (Err(reason), Ok(_)) => panic!("{what}: refused ({reason}) and prepared"),
        (Ok(()), Err(e)) => panic!("{what}: supported, but {e:?}"),
        (Ok(()), Ok(_)) if poor.narrow => match run(device, &case.kernel, &case.inputs, &case.dims, &[]) {
            Err(e) => {
                assert!(e.code == Code::Unsupported && e.message.contains(' '), "{what}: {e:?}");
                false
            }
            Ok(_) => {
                compare(device, &case.kernel, &case.inputs, &case.dims, &[], &what);
                true
            }
        },
        (Ok(()), Ok(_)) => {
            compare(device, &case.kernel, &case.inputs, &case.dims, &[], &what);
            true
        }
    }
}

fn only(dtypes: &[DType], case: &Case) -> bool {
    case.kernel.inputs().iter().chain(&case.kernel.outputs()).any(|d| dtypes.contains(d))
}

#[test]
fn what_a_poor_device_supports_is_right_and_what_it_lacks_is_refused_in_words() {
    let (few, many) = (cases(3, 5), cases(12, 40));
    for poor_device in &ALL {
        let Some(device) = poor(poor_device) else { return };
        // Those that lack a dtype are asked of everything, those with low limits of much.
        let limits = poor_device.name.contains("groups") || poor_device.narrow;
        let (mut native, mut refused) = (0, 0);
        for case in if limits { &many } else { &few } {
            let ran = ran(&device, case, poor_device);
            assert!(!(ran && only(poor_device.dtypes, case)), "{}: {} runs without it", poor_device.name, case.name);
            native += ran as usize;
            refused += !ran as usize;
        }
        assert!(native > 30, "{}: {native} native, {refused} refused", poor_device.name);
    }
}

/// No dtype is taken away by a limit, and none that is always there by a capability.
#[test]
fn what_every_device_has_runs_on_every_device() {
    let must = |case: &Case| {
        let plain = matches!(case.kernel, Kernel::Map(_) | Kernel::Reduce(_) | Kernel::Scan(_) | Kernel::Gather(_));
        plain && case.kernel.inputs().iter().chain(&case.kernel.outputs()).all(|d| LEFT.contains(d))
    };
    let all = cases(3, 5);
    for poor_device in &ALL {
        let Some(device) = poor(poor_device) else { return };
        for case in all.iter().filter(|case| must(case)) {
            // float32's fma is emulated in float64 where the device has none of its own.
            if !matches!(case.name.as_str(), "six operands" | "fma") {
                assert_eq!(device.supports(&case.kernel), Ok(()), "{}: {}", poor_device.name, case.name);
            }
        }
    }
}

/// Functions have the bits of the CPU, which the reference's are not: they must be those of a device that lacks nothing.
#[test]
fn functions_of_a_poor_device_have_the_bits_of_a_rich_one() {
    let Some(rich) = host::first() else { return };
    let functions = [MathFn::Exp, MathFn::Log, MathFn::Sin, MathFn::Tanh, MathFn::Pow];
    for poor_device in &ALL {
        let Some(device) = poor(poor_device) else { return };
        for d in [DType::F16, DType::BF16, DType::F32, DType::F64] {
            for f in functions {
                let mut b = Builder::new();
                let inputs: Vec<_> = (0..f.arity()).map(|_| b.input(d)).collect();
                let result = b.call(f, &inputs);
                let kernel = Kernel::Map(Map { program: b.finish(&[result]) });
                if device.supports(&kernel).is_err() {
                    assert!(device.prepare(&kernel).is_err_and(|e| e.code == Code::Unsupported));
                    continue;
                }
                let (dims, layout) = layouts(2);
                let inputs: Vec<_> =
                    (0..f.arity()).map(|n| (super::launches::elements(d, 300, n as u64), layout.clone())).collect();
                let of = |device| {
                    run(device, &kernel, &inputs, &dims, &[]).unwrap().iter().flat_map(canonical).collect::<Vec<u8>>()
                };
                assert!(of(&device) == of(&rich), "{}: {f:?} of {d}", poor_device.name);
            }
        }
    }
}

/// The check itself: a device that is believed to lack what it has is found out.
#[test]
#[should_panic(expected = "runs without it")]
fn a_device_that_runs_what_it_lacks_is_noticed() {
    let rich = lack("lacks nothing", |_| {}, HALVES);
    let Some(device) = poor(&rich) else { panic!("no device that runs without it") };
    let all = cases(3, 5);
    let case = all.iter().find(|case| case.name == "copy of float16").unwrap();
    assert!(!(ran(&device, case, &rich) && only(rich.dtypes, case)), "{} runs without it", case.name);
}

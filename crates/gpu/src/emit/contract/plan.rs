//! The arithmetic of a product in plain form, and where the numbers of a launch stand among the arguments.

use super::Part;
use crate::Can;
use crate::emit::space::Arguments;
use ferrotensor_core::scalar::{Arithmetic, Builder, Op, Program, Value, plain};
use ferrotensor_core::{DType, blocks};

/// Words before the spaces: whether neighbours along the rows of `a`, along the columns of `b`, are nearer than along the inner
/// places; the first inner place, of a block, and that after the last one.
pub const HEAD: u32 = 4;
/// Spatial axes that there is room for among the arguments.
pub const MOST_AXES: usize = 8;

/// How products are added on a device that keeps no subnormal numbers: by its own `fma` in tiles that meet none, and else by ours, which
/// has some 50 instructions.
pub(super) struct Careful {
    pub(super) step: Program,
    /// The bits of the smallest factor, but zero, for which the device's own will do.
    pub(super) least: u32,
}

impl Careful {
    /// Where no factor is below 2^-n, products and sums of them are multiples of 2^(-2n) times the product of two last places. That is
    /// 2^-126 here, so that none of them is subnormal.
    fn new(step: &Program, dtype: DType, can: &Can) -> Option<Careful> {
        let below = match dtype {
            DType::F32 | DType::C64 => (126 - 2 * 23) / 2,
            DType::BF16 => (126 - 2 * 7) / 2,
            // Products of float16 are multiples of 2^-48.
            _ => return None,
        };
        let arithmetic = can.arithmetic();
        // Where there is no fused one, and each product is rounded by itself, it gains nothing; but tests have such a device.
        let is_ours = !arithmetic.subnormals && arithmetic.doubles;
        is_ours.then(|| Careful { step: plain(step, arithmetic), least: (127 - below) << 23 })
    }
}

/// A product in plain form.
pub struct Plan {
    pub(super) dtype: DType,
    /// What products are added in.
    pub(super) acc: DType,
    /// Spatial axes of a convolution; none of a matrix product.
    pub(super) axes: usize,
    /// From an element to what it is multiplied in.
    pub(super) enter: Program,
    /// Two factors and a sum to the next sum.
    pub(super) step: Program,
    /// The same where `step` may meet a number that the device takes for zero.
    pub(super) careful: Option<Careful>,
    /// Two sums to one.
    pub(super) meet: Program,
    /// A sum of nothing.
    pub(super) nothing: Program,
    /// What a total begins with: what is added to it keeps its bits, also a zero its sign.
    pub(super) none: Program,
    leave: Program,
    /// What becomes of a product and of operands beside it.
    pub(super) post: Option<Program>,
    arithmetic: Arithmetic,
}

impl Plan {
    /// The plan of a matrix product (no spatial `axes`) or a convolution, and what comes after it.
    pub fn new(dtype: DType, axes: usize, post: Option<&Program>, can: &Can) -> Plan {
        // Narrow integers wrap at the end as they would on the way; half floats are rounded once.
        let acc = match dtype {
            DType::F16 | DType::BF16 => DType::F32,
            DType::I8 | DType::I16 => DType::I32,
            DType::U8 | DType::U16 => DType::U32,
            other => other,
        };
        let fma = match acc {
            DType::F32 | DType::C64 => can.fma32,
            DType::F64 | DType::C128 => can.fma64,
            _ => false,
        };
        let mut b = Builder::new();
        let [x, y, sum] = [(); 3].map(|()| b.input(acc));
        let next = if fma && acc.is_complex() {
            by_parts(&mut b, [x, y, sum])
        } else if fma {
            b.fma(x, y, sum)
        } else {
            let product = b.binary(Op::Mul, x, y);
            b.binary(Op::Add, sum, product)
        };
        let step = b.finish(&[next]);
        let mut b = Builder::new();
        let [x, y] = [(); 2].map(|()| b.input(acc));
        let both = b.binary(Op::Add, x, y);
        let meet = b.finish(&[both]);
        let [nothing, none] = [0.0, -0.0].map(|zero| {
            let mut b = Builder::new();
            let part = b.lit(acc.info().real, zero);
            let zero = if acc.is_complex() { b.complex(acc, part, part) } else { part };
            b.finish(&[zero])
        });
        let careful = Careful::new(&step, dtype, can);
        let step = plain(&step, Arithmetic { subnormals: true, ..can.arithmetic() });
        let [meet, nothing, none] = [meet, nothing, none].map(|program| plain(&program, can.arithmetic()));
        let (enter, leave) = (converted(dtype, acc, can.arithmetic()), converted(acc, dtype, can.arithmetic()));
        let post = post.map(|post| plain(post, can.arithmetic()));
        Plan { dtype, acc, axes, enter, step, careful, meet, nothing, none, leave, post, arithmetic: can.arithmetic() }
    }

    /// From a sum to what is written of it, and back.
    pub(super) fn written(&self, output: DType) -> [Program; 2] {
        [converted(self.acc, output, self.arithmetic), converted(output, self.acc, self.arithmetic)]
    }

    /// Inner places of a block of products (`ferrotensor_core::blocks`).
    pub fn block(&self) -> usize {
        blocks::places(self.acc)
    }

    /// Every program in it.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        let careful = self.careful.as_ref().map(|careful| &careful.step);
        [&self.enter, &self.step, &self.meet, &self.leave].into_iter().chain(careful).chain(&self.post)
    }

    /// What comes after the product.
    pub fn post(&self) -> Option<&Program> {
        self.post.as_ref()
    }

    /// Dtypes of the operands beside the product.
    pub fn beside(&self) -> &[DType] {
        self.post.as_ref().map_or(&[], |post| &post.inputs[1..])
    }

    /// Dtypes of the launch's parameters.
    pub(super) fn params(&self) -> &[DType] {
        self.post.as_ref().map_or(&[], |post| &post.params)
    }

    /// Dtype of the operands.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Dtype of what is written: half floats are not rounded before all parts are added. Parts have no `post`.
    pub fn output(&self, part: Part) -> DType {
        match (&self.post, self.dtype) {
            (Some(post), _) if part == Part::Whole => post.output_dtype(0),
            (_, DType::F16 | DType::BF16) if part != Part::Whole => DType::F32,
            (_, dtype) => dtype,
        }
    }

    /// Spatial axes.
    pub fn axes(&self) -> usize {
        self.axes
    }

    /// Bytes that a thread holds of an element.
    pub fn bytes(&self) -> u32 {
        self.acc.bytes() as u32
    }

    /// Where the numbers of a launch over `rank` loops of the batch stand.
    pub fn places(&self, rank: usize) -> Places {
        let (n, beside) = (self.axes, self.beside().len());
        let space = |start: u32, rank: usize, operands: usize| Arguments { start, rank, operands, params: 0 };
        let tiles = space(HEAD, 3, 0);
        let batch = space(tiles.end(), rank, 3 + beside);
        let rows = space(batch.end(), 1, 2 + beside);
        let columns = space(rows.end(), n.max(1), 2 + beside + n);
        let inner = space(columns.end(), n + 1, 2 + n);
        let extents = inner.end();
        Places { tiles, batch, rows, columns, inner, extents, axes: n as u32, params: self.params().len() as u32 }
    }
}

/// Where the numbers of a launch stand among the arguments, after [`HEAD`] words.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// Batch, tiles of rows, tiles of columns.
    pub tiles: Arguments,
    /// Of the batch: `a`, `b`, output, operands beside it.
    pub batch: Arguments,
    /// Of the rows: `a`, output, operands beside it.
    pub rows: Arguments,
    /// Of the columns: `b`, output, operands beside it, and for each spatial axis the position in the data, less what lies before
    /// it.
    pub columns: Arguments,
    /// Of the inner places: `a`, `b`, and for each spatial axis the steps from a window's first place.
    pub inner: Arguments,
    /// Positions of the data along each spatial axis.
    pub(super) extents: u32,
    pub(super) axes: u32,
    params: u32,
}

impl Places {
    /// The word after the last one.
    pub fn end(&self) -> u32 {
        self.param(self.params)
    }

    /// The first word of a parameter.
    pub(super) fn param(&self, n: u32) -> u32 {
        self.extents + self.axes + 2 * n
    }
}

/// The sum with a product of complex numbers more: each part in two steps, first with the real part of `x`.
fn by_parts(b: &mut Builder, [x, y, sum]: [Value; 3]) -> Value {
    let dtype = b.dtype(sum);
    let [(xr, xi), (yr, yi), (re, im)] = [x, y, sum].map(|z| (b.re(z), b.im(z)));
    let minus = b.unary(Op::Neg, yi);
    let (re, im) = (b.fma(xr, yr, re), b.fma(xr, yi, im));
    let (re, im) = (b.fma(xi, minus, re), b.fma(xi, yr, im));
    b.complex(dtype, re, im)
}

fn converted(from: DType, to: DType, arithmetic: Arithmetic) -> Program {
    let mut b = Builder::new();
    let x = b.input(from);
    let y = b.cast(x, to);
    plain(&b.finish(&[y]), arithmetic)
}

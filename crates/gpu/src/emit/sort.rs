//! What stands before and after the sorting network: the program that makes keys of elements, and the kernel that writes the sorted
//! elements and their positions.

use super::element::{self, Operand};
use super::module::Module;
use super::space::{Arguments, Space};
use crate::Can;
use crate::code::{Code, Inst, Type};
use ferrotensor_core::DType;
use ferrotensor_core::dtype::Kind;
use ferrotensor_core::kernel::{Sort, SortOutputs};
use ferrotensor_core::scalar::{Builder, Op, Program, Value};

/// Words before the space: elements of the input that its window shows, and how far neighbours of a row are apart in it.
pub const HEAD: u32 = 2;

/// What the keys of a dtype are: uint64 for 8 bytes, else uint32.
pub fn key(dtype: DType) -> DType {
    if dtype.bytes() == 8 { DType::U64 } else { DType::U32 }
}

/// From an element to an unsigned key: smaller for what comes earlier, equal for what is equal.
///
/// # Errors
/// A sentence for complex dtypes.
pub fn keys(kernel: &Sort) -> Result<Program, String> {
    let (dtype, key) = (kernel.dtype, key(kernel.dtype));
    if dtype.is_complex() {
        return Err(format!("{dtype} has no order"));
    }
    let mut b = Builder::new();
    let x = b.input(dtype);
    let ascending = match dtype.kind() {
        Kind::Float => float(&mut b, x, key),
        // The smallest number becomes 0.
        Kind::Signed => {
            let wide = b.cast(x, if key == DType::U64 { DType::I64 } else { DType::I32 });
            let (bits, sign) = (b.bitcast(wide, key), b.bits(key, 1 << (8 * key.bytes() - 1)));
            b.binary(Op::Xor, bits, sign)
        }
        _ => b.cast(x, key),
    };
    let order = if kernel.descending { b.unary(Op::Not, ascending) } else { ascending };
    Ok(b.finish(&[order]))
}

/// The sign bit with what follows it added to it or taken away: the zeros are one, and NaN is the largest there is. Looks at no
/// float, so that no device flushes a denormal.
fn float(b: &mut Builder, x: Value, key: DType) -> Value {
    let dtype = b.dtype(x);
    let (width, infinity) = match dtype {
        DType::F16 => (DType::U16, 0x7c00),
        DType::BF16 => (DType::U16, 0x7f80),
        DType::F32 => (DType::U32, 0x7f80_0000),
        _ => (DType::U64, 0x7ff0_0000_0000_0000),
    };
    let bits = b.bitcast(x, width);
    let bits = b.cast(bits, key);
    let top = 1 << (8 * dtype.bytes() - 1);
    let [sign, rest, infinity, most] = [top, top - 1, infinity, u64::MAX >> (64 - 8 * key.bytes())].map(|v| b.bits(key, v));
    let (size, signed) = (b.binary(Op::And, bits, rest), b.binary(Op::And, bits, sign));
    let (up, down) = (b.binary(Op::Add, sign, size), b.binary(Op::Sub, sign, size));
    let (positive, nan) = (b.compare(Op::Lt, signed, sign), b.compare(Op::Lt, infinity, size));
    let number = b.select(positive, up, down);
    b.select(nan, most, number)
}

/// What is written: values, positions.
fn writes(outputs: SortOutputs) -> (bool, bool) {
    (outputs != SortOutputs::Indices, outputs != SortOutputs::Values)
}

/// Where the numbers of the space stand: positions sorted, rows of the input, outputs.
pub fn arguments(kernel: &Sort, rank: usize) -> Arguments {
    let (values, positions) = writes(kernel.outputs);
    Arguments { start: HEAD, rank, operands: 2 + values as usize + positions as usize, params: 0 }
}

/// The kernel that writes outputs, over `rank` loops: positions sorted, input (for values), outputs.
///
/// # Errors
/// A sentence naming what the device lacks.
pub fn shader(kernel: &Sort, rank: usize, can: &Can) -> Result<Code, String> {
    element::check(kernel.dtype, can)?;
    let (values, positions) = writes(kernel.outputs);
    let arguments = arguments(kernel, rank);
    let mut m = Module::new(arguments.end());
    let order = Operand::moved(&mut m, DType::U32, false, can);
    let moved = values.then(|| [false, true].map(|written| Operand::moved(&mut m, kernel.dtype, written, can)));
    let places = positions.then(|| Operand::moved(&mut m, DType::U32, true, can));
    let [shown, apart, count] = [0, 1, arguments.start].map(|n| m.argument(n));
    m.for_each(count, |m, i| {
        let space = Space::new(m, arguments, i);
        let at = space.position(m, 0);
        let place = order.load(m, at);
        if let Some([input, output]) = moved {
            let row = space.position(m, 1);
            let far = m.op(Inst::IMul, Type::U32, &[place.first(), apart]);
            let from = m.op(Inst::IAdd, Type::U32, &[row, far]);
            let found = m.op(Inst::ULessThan, Type::Bool, &[from, shown]);
            m.when(found, |m| {
                let (value, to) = (input.load(m, from), space.position(m, 2));
                output.store(m, to, value);
            });
        }
        if let Some(places) = places {
            let to = space.position(m, 2 + values as usize);
            places.store(m, to, place);
        }
    });
    Ok(m.finish())
}

//! Elementwise arithmetic of two operands.

use super::rows::{binary, doc};
use crate::complex;
use crate::def::{Domain, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, Out};
use crate::gradient::{Gradient, partials};
use crate::lower::MapFn;
use ferrotensor_core::scalar::{Builder, MathFn, Op, Value};
use ferrotensor_core::{DType, Kind};

const NUMERIC: OpDef = binary(Class::Numeric, Compute::Promote, Out::Compute);
const ANY: OpDef = binary(Class::Any, Compute::Promote, Out::Compute);
const INTEGER: OpDef = binary(Class::Integer, Compute::Promote, Out::Compute);
const REAL: OpDef = binary(Class::Real, Compute::Promote, Out::Compute);
const ORDERED: OpDef = binary(Class::Ordered, Compute::Promote, Out::Compute);
const FLOAT: OpDef = binary(Class::RealOrBool, Compute::Float, Out::Compute);
const COMPLEX: OpDef = binary(Class::Any, Compute::Float, Out::Compute);

/// Whether a truncated remainder must move to the divisor's sign: `r != 0 && (r < 0) != (y < 0)`.
fn crosses(b: &mut Builder, r: Value, y: Value, d: DType) -> Value {
    let zero = b.lit(d, 0.0);
    let (some, rn, yn) = (b.compare(Op::Ne, r, zero), b.compare(Op::Lt, r, zero), b.compare(Op::Lt, y, zero));
    let differ = b.binary(Op::Xor, rn, yn);
    b.binary(Op::And, some, differ)
}

/// Zero with the sign of `like`.
fn zero_like(b: &mut Builder, like: Value, d: DType) -> Value {
    let zero = b.lit(d, 0.0);
    let minus = b.lit(d, -0.0);
    let negative = b.compare(Op::Lt, like, zero);
    b.select(negative, minus, zero)
}

const REMAINDER: MapFn = |b, x, d| {
    let (a, y) = (x[0], x[1]);
    let r = b.binary(Op::Rem, a, y);
    if d.kind() == Kind::Unsigned {
        return r;
    }
    let cross = crosses(b, r, y, d);
    let moved = b.binary(Op::Add, r, y);
    let out = b.select(cross, moved, r);
    if !d.is_float() {
        return out;
    }
    // Python: a zero remainder has the divisor's sign.
    let zero = b.lit(d, 0.0);
    let (is_zero, signed) = (b.compare(Op::Eq, out, zero), zero_like(b, y, d));
    b.select(is_zero, signed, out)
};

const FLOOR_DIVIDE: MapFn = |b, x, d| {
    // Half floats divide in float32 and round once, as in NumPy.
    let wide = d.compute();
    let (a, y) = (b.cast(x[0], wide), b.cast(x[1], wide));
    let quotient = floor_divide(b, a, y, wide);
    b.cast(quotient, d)
};

fn floor_divide(b: &mut Builder, a: Value, y: Value, d: DType) -> Value {
    let r = b.binary(Op::Rem, a, y);
    if !d.is_float() {
        let q = b.binary(Op::Div, a, y);
        if d.kind() == Kind::Unsigned {
            return q;
        }
        let cross = crosses(b, r, y, d);
        let one = b.lit(d, 1.0);
        let lower = b.binary(Op::Sub, q, one);
        return b.select(cross, lower, q);
    }
    // NumPy's npy_divmod: the quotient of a - r is integral up to rounding; snap it to the nearest integer.
    let cross = crosses(b, r, y, d);
    let (zero, one, half) = (b.lit(d, 0.0), b.lit(d, 1.0), b.lit(d, 0.5));
    let whole = b.binary(Op::Sub, a, r);
    let q = b.binary(Op::Div, whole, y);
    let lower = b.binary(Op::Sub, q, one);
    let q = b.select(cross, lower, q);
    let floor = b.unary(Op::Floor, q);
    let gap = b.binary(Op::Sub, q, floor);
    let (up, above) = (b.compare(Op::Lt, half, gap), b.binary(Op::Add, floor, one));
    let snapped = b.select(up, above, floor);
    let true_quotient = b.binary(Op::Div, a, y);
    // A zero quotient has the sign of the true one, which may itself be -0.
    let (is_zero, signed) = (b.compare(Op::Eq, q, zero), b.binary(Op::Mul, true_quotient, zero));
    let finite = b.select(is_zero, signed, snapped);
    let by_zero = b.compare(Op::Eq, y, zero);
    b.select(by_zero, true_quotient, finite)
}

/// Integer power by squaring; a negative exponent truncates (`2 ** -1 = 0`).
fn int_pow(b: &mut Builder, base: Value, exponent: Value, d: DType) -> Value {
    let (zero, one) = (b.lit(d, 0.0), b.lit(d, 1.0));
    let bits = 8 * d.bytes() - (d.kind() == Kind::Signed) as usize;
    let (mut result, mut square) = (one, base);
    for bit in 0..bits {
        let shift = b.lit(d, bit as f64);
        let shifted = b.binary(Op::Shr, exponent, shift);
        let low = b.binary(Op::And, shifted, one);
        let odd = b.compare(Op::Ne, low, zero);
        let product = b.binary(Op::Mul, result, square);
        result = b.select(odd, product, result);
        square = b.binary(Op::Mul, square, square);
    }
    if d.kind() != Kind::Signed {
        return result;
    }
    let minus = b.lit(d, -1.0);
    let (is_one, is_minus) = (b.compare(Op::Eq, base, one), b.compare(Op::Eq, base, minus));
    let low = b.binary(Op::And, exponent, one);
    let odd = b.compare(Op::Ne, low, zero);
    let alternating = b.select(odd, minus, one);
    let unit = b.select(is_minus, alternating, zero);
    let reciprocal = b.select(is_one, one, unit);
    let negative = b.compare(Op::Lt, exponent, zero);
    b.select(negative, reciprocal, result)
}

const POW: MapFn = |b, x, d| {
    if d.is_float() || d.is_complex() { complex::pow(b, x[0], x[1]) } else { int_pow(b, x[0], x[1], d) }
};

/// The operand that is a number, where one is.
fn ignoring_nan(b: &mut Builder, x: &[Value], op: Op) -> Value {
    let (both, x_nan, y_nan) = (b.binary(op, x[0], x[1]), b.compare(Op::Ne, x[0], x[0]), b.compare(Op::Ne, x[1], x[1]));
    let rest = b.select(y_nan, x[0], both);
    b.select(x_nan, x[1], rest)
}

const TRUNC_DIVIDE: MapFn = |b, x, d| {
    if !d.is_float() {
        return b.binary(Op::Div, x[0], x[1]);
    }
    // Half floats divide in float32 and round once.
    let (x, y) = (b.cast(x[0], d.compute()), b.cast(x[1], d.compute()));
    let quotient = b.binary(Op::Div, x, y);
    let out = b.unary(Op::Trunc, quotient);
    b.cast(out, d)
};

const HEAVISIDE: MapFn = |b, x, d| {
    let (zero, one) = (b.lit(d, 0.0), b.lit(d, 1.0));
    let (positive, negative) = (b.compare(Op::Lt, zero, x[0]), b.compare(Op::Lt, x[0], zero));
    let nan = b.compare(Op::Ne, x[0], x[0]);
    let at_zero = b.select(nan, x[0], x[1]);
    let rest = b.select(negative, zero, at_zero);
    b.select(positive, one, rest)
};

/// `x f(y)`, and 0 where x is, whatever f(y) is but NaN. Half floats compute in float32 and round once.
fn times_log(b: &mut Builder, x: &[Value], d: DType, f: MathFn) -> Value {
    let (x, y) = (b.cast(x[0], d.compute()), b.cast(x[1], d.compute()));
    let (log, zero) = (b.call(f, &[y]), b.lit(d.compute(), 0.0));
    let product = b.binary(Op::Mul, x, log);
    let (nothing, number) = (b.compare(Op::Eq, x, zero), b.compare(Op::Eq, y, y));
    let known = b.binary(Op::And, nothing, number);
    let out = b.select(known, zero, product);
    b.cast(out, d)
}

/// The quotient by the divisor first: the product wraps only where the multiple does.
const LCM: MapFn = |b, x, d| {
    let divisor = b.binary(Op::Gcd, x[0], x[1]);
    let quotient = b.binary(Op::Div, x[0], divisor);
    let multiple = b.binary(Op::Mul, quotient, x[1]);
    if d.kind() == Kind::Signed { b.unary(Op::Abs, multiple) } else { multiple }
};

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "add", lower: Lowering::Map(|b, x, d| b.binary(if d == DType::Bool { Op::Or } else { Op::Add }, x[0], x[1])),
        doc: doc("Sum of two operands; integers wrap; of bools whether either is true.", "x1 + x2", "ft.tensor([1, 2]).add(ft.tensor([10, 20])) // [11, 22]", "add", "add"), ..ANY },
    OpDef { name: "subtract", aliases: &["sub"], lower: Lowering::Map(|b, x, _| b.binary(Op::Sub, x[0], x[1])),
        doc: doc("Difference of two operands; integers wrap.", "x1 - x2", "ft.tensor([1, 2]).subtract(3) // [-2, -1]", "subtract", "sub"), ..NUMERIC },
    OpDef { name: "multiply", aliases: &["mul"], lower: Lowering::Map(|b, x, d| b.binary(if d == DType::Bool { Op::And } else { Op::Mul }, x[0], x[1])),
        doc: doc("Product of two operands; integers wrap; of bools whether both are true.", "x1 * x2", "ft.tensor([1, 2]).multiply(3) // [3, 6]", "multiply", "mul"), ..ANY },
    OpDef { name: "divide", aliases: &["div"], domain: Domain::NonZero, lower: Lowering::Map(|b, x, _| b.binary(Op::Div, x[0], x[1])),
        doc: doc("True quotient of two operands; integers give float32.", "x1 / x2", "ft.tensor([1, 2]).divide(4) // [0.25, 0.5]", "divide", "div"), ..COMPLEX },
    OpDef { name: "pow", gradient: Gradient::Partials(partials::POW), lower: Lowering::Map(POW),
        doc: doc("Power of two operands; integers wrap, and a negative integer exponent truncates towards zero; complex ones have the principal value.", "x1 ^ x2", "ft.tensor([2, 3]).pow(3) // [8, 27]", "power", "pow"), ..NUMERIC },
    OpDef { name: "atan2", lower: Lowering::Map(|b, x, _| b.call(MathFn::Atan2, x)),
        doc: doc("Angle of the point (x2, x1) from the positive x axis, from -pi to pi.", "y with tan(y) = x1 / x2, in the quadrant of (x2, x1)", "ft.tensor([1, 1]).atan2(ft.tensor([1, -1])) // [0.7853982, 2.3561945]", "atan2", "atan2"), ..FLOAT },
    OpDef { name: "hypot", lower: Lowering::Map(|b, x, _| b.call(MathFn::Hypot, x)),
        doc: doc("Length of the hypotenuse of two operands, without overflow on the way; Infinity if either is infinite.", "sqrt(x1^2 + x2^2)", "ft.tensor([3, 5]).hypot(ft.tensor([4, 12])) // [5, 13]", "hypot", "hypot"), ..FLOAT },
    OpDef { name: "logaddexp", lower: Lowering::Map(|b, x, _| b.call(MathFn::Logaddexp, x)),
        doc: doc("Logarithm of the sum of the exponentials of two operands.", "ln(e^x1 + e^x2)", "ft.tensor([0, 1000]).logaddexp(ft.tensor([0, 1000])) // [0.6931472, 1000.6931]", "logaddexp", "logaddexp"), ..FLOAT },
    OpDef { name: "logaddexp2", lower: Lowering::Map(|b, x, _| b.call(MathFn::Logaddexp2, x)),
        doc: doc("Binary logarithm of the sum of two powers of 2.", "log2(2^x1 + 2^x2)", "ft.tensor([0, 1000]).logaddexp2(ft.tensor([0, 1000])) // [1, 1001]", "logaddexp2", "logaddexp2"), ..FLOAT },
    OpDef { name: "remainder", gradient: Gradient::Partials(partials::REMAINDER), domain: Domain::NonZero, lower: Lowering::Map(REMAINDER),
        doc: doc("Remainder of the floored division, with the divisor's sign as in Python; integers: 0 for a divisor of 0.", "x1 - floor(x1 / x2) * x2", "ft.tensor([5, -5]).remainder(3) // [2, 1]", "remainder", "remainder"), ..REAL },
    OpDef { name: "fmod", domain: Domain::NonZero, lower: Lowering::Map(|b, x, _| b.binary(Op::Rem, x[0], x[1])),
        doc: doc("Remainder of the truncated division, exact, with the dividend's sign as in C; integers: 0 for a divisor of 0.", "x1 - trunc(x1 / x2) * x2", "ft.tensor([5, -5]).fmod(3) // [2, -2]", "fmod", "fmod"), ..REAL },
    OpDef { name: "truncDivide", domain: Domain::NonZero, lower: Lowering::Map(TRUNC_DIVIDE),
        doc: doc("Quotient rounded towards zero; integers: 0 for a divisor of 0.", "trunc(x1 / x2)", "ft.tensor([5, -5]).truncDivide(3) // [1, -1]", "", "div(rounding_mode='trunc')"), ..REAL },
    OpDef { name: "floorDivide", gradient: Gradient::Partials(partials::STEPS), domain: Domain::NonZero, lower: Lowering::Map(FLOOR_DIVIDE),
        doc: doc("Quotient rounded towards minus infinity; integers: 0 for a divisor of 0.", "floor(x1 / x2)", "ft.tensor([5, -5]).floorDivide(3) // [1, -2]", "floor_divide", "floor_divide"), ..REAL },
    OpDef { name: "gcd", lower: Lowering::Map(|b, x, _| b.binary(Op::Gcd, x[0], x[1])),
        doc: doc("Greatest common divisor of two integers, not negative; of 0 and x |x|.", "max { d : d divides x1 and x2 }", "ft.tensor([12, -18], { dtype: 'int32' }).gcd(8) // [4, 2]", "gcd", "gcd"), ..INTEGER },
    OpDef { name: "lcm", lower: Lowering::Map(LCM),
        doc: doc("Least common multiple of two integers, not negative; 0 where either is; wraps.", "|x1 x2| / gcd(x1, x2)", "ft.tensor([4, -6], { dtype: 'int32' }).lcm(10) // [20, 30]", "lcm", "lcm"), ..INTEGER },
    OpDef { name: "minimum", lower: Lowering::Map(|b, x, _| b.binary(Op::Min, x[0], x[1])),
        doc: doc("Smaller of two operands; NaN wins, -0 is below +0.", "min(x1, x2)", "ft.tensor([1, 5]).minimum(3) // [1, 3]", "minimum", "minimum"), ..ORDERED },
    OpDef { name: "fmin", lower: Lowering::Map(|b, x, _| ignoring_nan(b, x, Op::Min)),
        doc: doc("Smaller of two operands; NaN only where both are, -0 is below +0.", "min(x1, x2)", "ft.tensor([1, NaN]).fmin(3) // [1, 3]", "fmin", "fmin"), ..ORDERED },
    OpDef { name: "fmax", lower: Lowering::Map(|b, x, _| ignoring_nan(b, x, Op::Max)),
        doc: doc("Larger of two operands; NaN only where both are, +0 is above -0.", "max(x1, x2)", "ft.tensor([1, NaN]).fmax(3) // [3, 3]", "fmax", "fmax"), ..ORDERED },
    OpDef { name: "heaviside", lower: Lowering::Map(HEAVISIDE),
        doc: doc("Step from 0 to 1 at 0, where it has the second operand's value; NaN stays NaN.", "0 for x1 < 0, x2 for x1 = 0, 1 for x1 > 0", "ft.tensor([-2, 0, 3]).heaviside(0.5) // [0, 0.5, 1]", "heaviside", "heaviside"), ..FLOAT },
    OpDef { name: "xlogy", gradient: Gradient::Partials(partials::XLOGY), domain: Domain::Positive, lower: Lowering::Map(|b, x, d| times_log(b, x, d, MathFn::Log)),
        doc: doc("The first by the natural logarithm of the second; 0 where the first is 0, unless the second is NaN.", "x1 ln(x2)", "ft.tensor([0, 2]).xlogy(ft.tensor([0, 10])) // [0, 4.6051702]", "", "xlogy"), ..FLOAT },
    OpDef { name: "xlog1py", gradient: Gradient::Partials(partials::XLOG1PY), domain: Domain::Positive, lower: Lowering::Map(|b, x, d| times_log(b, x, d, MathFn::Log1p)),
        doc: doc("The first by the natural logarithm of 1 plus the second; 0 where the first is 0, unless the second is NaN.", "x1 ln(1 + x2)", "ft.tensor([0, 2]).xlog1py(ft.tensor([-1, 9])) // [0, 4.6051702]", "", "special.xlog1py"), ..FLOAT },
    OpDef { name: "maximum", lower: Lowering::Map(|b, x, _| b.binary(Op::Max, x[0], x[1])),
        doc: doc("Larger of two operands; NaN wins, +0 is above -0.", "max(x1, x2)", "ft.tensor([1, 5]).maximum(3) // [3, 5]", "maximum", "maximum"), ..ORDERED },
];

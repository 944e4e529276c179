// Special cases of the array API standard, 2025.12, as facts: what an operand of a kind gives. The standard's sentences are at
// https://data-apis.org/array-api/2025.12; each line here says one or several of them.
//
// A case is `operands -> result`. Operands: a number, `+0`, `-0`, `nan`, `inf`, or a kind of them (see KINDS). Results: a number, `x1`,
// `-x2`, `|x1|`; `±` before a result leaves its sign open, as `0` does; `+` and `-` alone say only the sign, `true` and `false` what they say.

/** Values of each kind of operand, in every dtype. */
export const KINDS: Readonly<Record<string, readonly number[]>> = {
  nan: [NaN],
  inf: [Infinity],
  '-inf': [-Infinity],
  '±inf': [Infinity, -Infinity],
  '+0': [0],
  '-0': [-0],
  '±0': [0, -0],
  // Finite and positive; negative; either; and with zeros.
  '+fin': [1e-30, 0.5, 1, 1.5, 3, 1e30],
  '-fin': [-1e-30, -0.5, -1, -1.5, -3, -1e30],
  '±fin': [0.5, 1, 3, 1e30, -0.5, -1, -3, -1e30],
  finite: [0, -0, 0.5, 3, 1e30, -0.5, -3, -1e30],
  // Above and below 0, infinite too.
  '>0': [1e-30, 0.5, 3, Infinity],
  '<0': [-1e-30, -0.5, -3, -Infinity],
  '>1': [1.5, 3, 1e30, Infinity],
  '<-1': [-1.5, -3, -1e30, -Infinity],
  '<1': [0.5, 0, -0, -1, -3, -Infinity],
  any: [0, -0, 0.5, 3, -3, Infinity, -Infinity, NaN],
  number: [0, -0, 0.5, 3, -3, Infinity, -Infinity],
  nonzero: [0.5, 3, -3, Infinity, -Infinity],
  whole: [1, 2, -3, 4096, -4096],
  // Exponents.
  '>0 odd': [1, 3, 5],
  '>0 not odd': [0.5, 2, 2.5, 4, Infinity],
  '<0 odd': [-1, -3, -5],
  '<0 not odd': [-0.5, -2, -2.5, -4, -Infinity],
  fraction: [0.5, -0.5, 2.5, -1.5],
  '|>1|': [1.5, -1.5, 3, -3, Infinity, -Infinity],
  '|<1|': [0.5, -0.5, 0.25, 0, -0],
  '±1': [1, -1],
  'not 1': [0, -0, 0.5, -1, 3, Infinity, -Infinity, NaN]
}

const ROUNDED = 'inf -> inf; -inf -> -inf; +0 -> +0; -0 -> -0; nan -> nan; whole -> x1'
const ODD = 'nan -> nan; +0 -> +0; -0 -> -0'
const LOG = 'nan -> nan; <0 -> nan; ±0 -> -inf; 1 -> +0; inf -> inf'
/** The sign of a quotient of numbers, and where it is none. */
const QUOTIENT =
  'nan, any -> nan; any, nan -> nan; ±inf, ±inf -> nan; ±0, ±0 -> nan; +0, >0 -> +0; -0, >0 -> -0; +0, <0 -> -0; -0, <0 -> +0; >0, +0 -> inf; ' +
  '>0, -0 -> -inf; <0, +0 -> -inf; <0, -0 -> inf; +fin, inf -> +0; -fin, -inf -> +0; 3, 0.5 -> +; -3, -0.5 -> +; 3, -0.5 -> -; -3, 0.5 -> -'

/** Of real numbers. */
export const REAL: Readonly<Record<string, string>> = {
  abs: 'nan -> nan; -0 -> +0; -inf -> inf; +fin -> x1; -fin -> -x1',
  acos: 'nan -> nan; >1 -> nan; <-1 -> nan; 1 -> +0',
  acosh: 'nan -> nan; <1 -> nan; 1 -> +0; inf -> inf',
  add:
    'nan, any -> nan; any, nan -> nan; inf, -inf -> nan; -inf, inf -> nan; inf, inf -> inf; -inf, -inf -> -inf; inf, finite -> inf; -inf, finite -> -inf; ' +
    'finite, inf -> inf; finite, -inf -> -inf; -0, -0 -> -0; -0, +0 -> +0; +0, -0 -> +0; +0, +0 -> +0; ±0, ±fin -> x2; ±fin, ±0 -> x1; 3, -3 -> +0; -0.5, 0.5 -> +0',
  subtract:
    'nan, any -> nan; any, nan -> nan; inf, inf -> nan; -inf, -inf -> nan; inf, -inf -> inf; -inf, inf -> -inf; inf, finite -> inf; -inf, finite -> -inf; ' +
    'finite, inf -> -inf; finite, -inf -> inf; -0, +0 -> -0; -0, -0 -> +0; +0, +0 -> +0; +0, -0 -> +0; ±0, ±fin -> -x2; ±fin, ±0 -> x1; 3, 3 -> +0; -0.5, -0.5 -> +0',
  asin: `${ODD}; >1 -> nan; <-1 -> nan`,
  asinh: `${ODD}; inf -> inf; -inf -> -inf`,
  atan: `${ODD}; inf -> pi/2; -inf -> -pi/2`,
  atan2:
    'nan, any -> nan; any, nan -> nan; >0, ±0 -> pi/2; +0, >0 -> +0; +0, +0 -> +0; +0, -0 -> pi; +0, <0 -> pi; -0, >0 -> -0; -0, +0 -> -0; -0, -0 -> -pi; ' +
    '-0, <0 -> -pi; <0, ±0 -> -pi/2; +fin, inf -> +0; +fin, -inf -> pi; -fin, inf -> -0; -fin, -inf -> -pi; inf, finite -> pi/2; -inf, finite -> -pi/2; ' +
    'inf, inf -> pi/4; inf, -inf -> 3pi/4; -inf, inf -> -pi/4; -inf, -inf -> -3pi/4',
  atanh: `${ODD}; <-1 -> nan; >1 -> nan; -1 -> -inf; 1 -> inf`,
  ceil: ROUNDED,
  floor: ROUNDED,
  trunc: ROUNDED,
  round: `${ROUNDED}; 0.5 -> +0; -0.5 -> -0; 1.5 -> 2; 2.5 -> 2; -2.5 -> -2; -3.5 -> -4`,
  clip: 'nan, any, any -> nan; any, nan, any -> nan; any, any, nan -> nan',
  copysign: 'number, <0 -> -|x1|; number, -0 -> -|x1|; number, +0 -> |x1|; number, >0 -> |x1|; nan, any -> nan',
  cos: 'nan -> nan; ±0 -> 1; ±inf -> nan',
  cosh: 'nan -> nan; ±0 -> 1; ±inf -> inf',
  divide: `${QUOTIENT}; inf, +fin -> inf; inf, -fin -> -inf; -inf, +fin -> -inf; -inf, -fin -> inf; +fin, -inf -> -0; -fin, inf -> -0`,
  // Where one operand is infinite the standard leaves the choice between floor(divide(x1, x2)) and Python's, which are NumPy's and these.
  floorDivide: `${QUOTIENT}; ±inf, ±fin -> nan; +fin, -inf -> -1; -fin, inf -> -1`,
  equal: 'nan, any -> false; any, nan -> false; inf, inf -> true; -inf, -inf -> true; ±0, ±0 -> true; inf, -inf -> false; finite, ±inf -> false; 3, 3 -> true; 3, -3 -> false',
  notEqual: 'nan, any -> true; any, nan -> true; inf, -inf -> true; -inf, inf -> true; inf, inf -> false; ±0, ±0 -> false; 3, 0.5 -> true; 3, 3 -> false',
  exp: 'nan -> nan; ±0 -> 1; inf -> inf; -inf -> +0',
  expm1: `${ODD}; inf -> inf; -inf -> -1`,
  hypot: '±inf, any -> inf; any, ±inf -> inf; ±0, ±fin -> |x2|; ±fin, ±0 -> |x1|; ±0, ±0 -> +0; finite, nan -> nan; nan, finite -> nan; nan, nan -> nan',
  isfinite: '±inf -> false; nan -> false; finite -> true',
  isinf: '±inf -> true; nan -> false; finite -> false',
  isnan: 'nan -> true; number -> false',
  log: LOG,
  log1p: `${ODD}; <-1 -> nan; -1 -> -inf; inf -> inf`,
  log2: LOG,
  log10: LOG,
  logaddexp: 'nan, any -> nan; any, nan -> nan; inf, number -> inf; number, inf -> inf',
  maximum: 'nan, any -> nan; any, nan -> nan',
  minimum: 'nan, any -> nan; any, nan -> nan',
  multiply:
    'nan, any -> nan; any, nan -> nan; ±inf, ±0 -> nan; ±0, ±inf -> nan; inf, inf -> inf; -inf, -inf -> inf; inf, -inf -> -inf; -inf, inf -> -inf; inf, +fin -> inf; ' +
    'inf, -fin -> -inf; -inf, +fin -> -inf; -inf, -fin -> inf; +fin, inf -> inf; -fin, inf -> -inf; +fin, -inf -> -inf; -fin, -inf -> inf; +0, +fin -> +0; -0, +fin -> -0; ' +
    '+0, -fin -> -0; -0, -fin -> +0; +0, -0 -> -0; 3, 0.5 -> +; -3, -0.5 -> +; 3, -0.5 -> -; -3, 0.5 -> -',
  negative: '+0 -> -0; -0 -> +0; inf -> -inf; -inf -> inf; nan -> nan',
  nextafter: 'nan, any -> nan; any, nan -> nan; -0, +0 -> +0; +0, -0 -> -0',
  pow:
    'not 1, nan -> nan; any, ±0 -> 1; nan, nonzero -> nan; |>1|, inf -> inf; |>1|, -inf -> +0; ±1, ±inf -> 1; 1, number -> 1; |<1|, inf -> +0; |<1|, -inf -> inf; ' +
    'inf, >0 -> inf; inf, <0 -> +0; -inf, >0 odd -> -inf; -inf, >0 not odd -> inf; -inf, <0 odd -> -0; -inf, <0 not odd -> +0; +0, >0 -> +0; +0, <0 -> inf; ' +
    '-0, >0 odd -> -0; -0, >0 not odd -> +0; -0, <0 odd -> -inf; -0, <0 not odd -> inf; -fin, fraction -> nan',
  reciprocal: 'nan -> nan; +0 -> inf; -0 -> -inf; inf -> +0; -inf -> -0',
  remainder:
    'nan, any -> nan; any, nan -> nan; ±inf, ±inf -> nan; ±0, ±0 -> nan; ±0, >0 -> +0; ±0, <0 -> -0; >0, ±0 -> nan; <0, ±0 -> nan; ±inf, ±fin -> nan; ' +
    '+fin, inf -> x1; +fin, -inf -> x2; -fin, inf -> x2; -fin, -inf -> x1',
  sign: '<0 -> -1; ±0 -> 0; >0 -> 1; nan -> nan',
  signbit: '+0 -> false; -0 -> true; inf -> false; -inf -> true; +fin -> false; -fin -> true; nan -> false',
  sin: `${ODD}; ±inf -> nan`,
  sinh: `${ODD}; inf -> inf; -inf -> -inf`,
  square: 'nan -> nan; ±0 -> +0; ±inf -> inf',
  sqrt: `${ODD}; <0 -> nan; inf -> inf`,
  tan: `${ODD}; ±inf -> nan`,
  tanh: `${ODD}; inf -> 1; -inf -> -1`
}

/** Of complex numbers: real and imaginary part, of operand and result. All of these functions take conjugates to conjugates. */
export const COMPLEX: Readonly<Record<string, string>> = {
  abs: '±inf any -> inf; any ±inf -> inf; ±0 ±fin -> |b|; ±fin ±0 -> |a|; nan finite -> nan; finite nan -> nan; nan nan -> nan',
  acos:
    '±0 +0 -> pi/2 -0; ±0 nan -> pi/2 nan; finite inf -> pi/2 -inf; ±fin nan -> nan nan; -inf +fin -> pi -inf; inf +fin -> +0 -inf; -inf inf -> 3pi/4 -inf; ' +
    'inf inf -> pi/4 -inf; ±inf nan -> nan ±inf; nan finite -> nan nan; nan inf -> nan -inf; nan nan -> nan nan',
  acosh:
    '±0 +0 -> +0 pi/2; finite inf -> inf pi/2; ±fin nan -> nan nan; +0 nan -> nan ±pi/2; -inf +fin -> inf pi; inf +fin -> inf +0; -inf inf -> inf 3pi/4; inf inf -> inf pi/4; ' +
    '±inf nan -> inf nan; nan finite -> nan nan; nan inf -> inf nan; nan nan -> nan nan',
  asinh:
    '+0 +0 -> +0 +0; +fin inf -> inf pi/2; finite nan -> nan nan; inf +fin -> inf +0; inf inf -> inf pi/4; nan +0 -> nan +0; nan ±fin -> nan nan; nan inf -> ±inf nan; nan nan -> nan nan',
  atanh:
    '+0 +0 -> +0 +0; +0 nan -> +0 nan; 1 +0 -> inf +0; +fin inf -> +0 pi/2; ±fin nan -> nan nan; inf +fin -> +0 pi/2; inf inf -> +0 pi/2; inf nan -> +0 nan; nan finite -> nan nan; ' +
    'nan inf -> ±0 pi/2; nan nan -> nan nan',
  cosh:
    '+0 +0 -> 1 +0; +0 inf -> nan 0; +0 nan -> nan 0; ±fin inf -> nan nan; ±fin nan -> nan nan; inf +0 -> inf +0; inf 1 -> inf inf; inf 3 -> -inf inf; inf inf -> ±inf nan; ' +
    'inf nan -> inf nan; nan ±0 -> nan 0; nan ±fin -> nan nan; nan nan -> nan nan',
  exp:
    '±0 +0 -> 1 +0; finite inf -> nan nan; finite nan -> nan nan; inf +0 -> inf +0; -inf 1 -> +0 +0; -inf 3 -> -0 +0; inf 1 -> inf inf; inf 3 -> -inf inf; -inf inf -> 0 0; inf inf -> ±inf nan; ' +
    '-inf nan -> 0 0; inf nan -> ±inf nan; nan +0 -> nan +0; nan ±fin -> nan nan; nan ±inf -> nan nan; nan nan -> nan nan',
  expm1:
    '±0 +0 -> 0 0; finite inf -> nan nan; finite nan -> nan nan; inf +0 -> inf +0; -inf 1 -> -1 +0; inf 1 -> inf inf; inf 3 -> -inf inf; -inf inf -> -1 0; inf inf -> ±inf nan; -inf nan -> -1 0; ' +
    'inf nan -> ±inf nan; nan +0 -> nan +0; nan ±fin -> nan nan; nan nan -> nan nan',
  isfinite: 'nan any -> false; any nan -> false; ±inf any -> false; any ±inf -> false; finite finite -> true',
  isinf: '±inf any -> true; finite ±inf -> true; nan ±inf -> true; finite finite -> false; nan finite -> false',
  isnan: 'nan any -> true; any nan -> true; number number -> false',
  log:
    '-0 +0 -> -inf pi; +0 +0 -> -inf +0; finite inf -> inf pi/2; finite nan -> nan nan; -inf +fin -> inf pi; inf +fin -> inf +0; -inf inf -> inf 3pi/4; inf inf -> inf pi/4; ' +
    '±inf nan -> inf nan; nan finite -> nan nan; nan inf -> inf nan; nan nan -> nan nan',
  log1p:
    '-1 +0 -> -inf +0; finite inf -> inf pi/2; finite nan -> nan nan; -inf +fin -> inf pi; inf +fin -> inf +0; -inf inf -> inf 3pi/4; inf inf -> inf pi/4; ±inf nan -> inf nan; ' +
    'nan finite -> nan nan; nan inf -> inf nan; nan nan -> nan nan',
  negative: '+0 -0 -> -0 +0; inf -inf -> -inf inf; nan nan -> nan nan',
  round: '±0 inf -> a inf; 0.5 -inf -> +0 -inf; nan 2.5 -> nan 2; -1.5 nan -> -2 nan',
  sign: '±0 ±0 -> 0 0; nan any -> nan nan; any nan -> nan nan',
  sinh:
    '+0 +0 -> +0 +0; +0 inf -> 0 nan; +0 nan -> 0 nan; +fin inf -> nan nan; +fin nan -> nan nan; inf +0 -> inf +0; inf 1 -> inf inf; inf 3 -> -inf inf; inf inf -> ±inf nan; ' +
    'inf nan -> ±inf nan; nan +0 -> nan +0; nan ±fin -> nan nan; nan nan -> nan nan',
  sqrt:
    '±0 +0 -> +0 +0; any inf -> inf inf; finite nan -> nan nan; -inf +fin -> +0 inf; inf +fin -> inf +0; -inf nan -> nan ±inf; inf nan -> inf nan; nan finite -> nan nan; nan nan -> nan nan',
  tanh:
    '+0 +0 -> +0 +0; ±fin inf -> nan nan; +0 inf -> +0 nan; ±fin nan -> nan nan; +0 nan -> +0 nan; inf 1 -> 1 +0; inf inf -> 1 0; inf nan -> 1 0; nan +0 -> nan +0; nan ±fin -> nan nan; nan nan -> nan nan'
}

/** Functions of i z, whose cases are those of another: f(z) = -i g(i z), and cos(z) = cosh(i z). */
export const TURNED: Readonly<Record<string, string>> = { asin: 'asinh', atan: 'atanh', sin: 'sinh', tan: 'tanh', cos: 'cosh' }

// Polynomials by their coefficients, that of the highest power first, as NumPy orders them.

import { checkOptions } from '../arguments/options.js'
import { integer } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { floating, resultType } from '../arrays/dtypes.js'
import { isListed, tensorOf, type Listed } from '../calls/arrays.js'
import { arrayGiven, tensorGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { DTYPE, type ComplexOf, type DType, type FloatLimits, type FloatOf, type Promote, type Takes } from '../generated/dtypes.js'
import { complex, concat, cumulativeProd, eye, ones, zeros } from '../generated/functions.js'
import { eigvals, lstsq } from '../generated/linalg.js'
import { slice } from '../indexing/slice.js'
import { isTensor } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'
import { fromList } from '../values/create.js'
import { dataSync } from '../values/read.js'

/** More coefficients than this are a mistake: each is two operations, and a column of a fit. */
const MOST = 2 ** 16

/** Options of `polyfit`. */
export interface PolyfitOptions<W extends DType = DType> {
  /** What each point's deviation is multiplied with, not its square: a vector; ones by default. */
  readonly weights?: (Tensor<W> & Takes<'real', W>) | undefined
}

/** Two operands by their names, of which an array becomes a tensor beside the other. */
function pairGiven(op: string, operands: Readonly<Record<string, unknown>>, made: (op: string, value: unknown, beside: Tensor | undefined) => Tensor): readonly [Tensor, Tensor] {
  const beside = Object.values(operands).find((value): value is Tensor => isTensor(value))
  const [a, b] = Object.entries(operands).map(([name, value]) => (isListed(value) ? made(op, value, beside) : tensorGiven(op, name, value)))
  return [a as Tensor, b as Tensor]
}

/** An array in the dtype of the tensor beside it, which it never changes. */
const alike = (op: string, value: unknown, beside: Tensor | undefined): Tensor => fromList(op, value, { dtype: beside?.dtype, device: beside?.device })

/**
 * The coefficients, that of the highest power first, of the polynomial of this degree that is nearest to points: of all that make the sum
 * of `(w_i (y_i - p(x_i)))^2` smallest the shortest one, after columns are scaled to length 1.
 *
 * NumPy `polyfit`. `x` is a vector of n positions, `y` one of values or a matrix [n, sets], whose columns are fitted each. In float32 a degree
 * above 5 loses digits: convert to float64. Gradients go through.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a degree that is not an integer from 0, `ERR_SHAPE` for shapes that do not fit and without points; `ERR_DTYPE`.
 * @example
 * ```ts
 * ft.polyfit(ft.tensor([0, 1, 2]), ft.tensor([1, 3, 5]), 1) // [2, 1]
 * ```
 */
export function polyfit<A extends DType = 'bool', B extends DType = 'bool', W extends DType = 'bool'>(
  x: Tensor<A> | Listed,
  y: Tensor<B> | Listed,
  degree: number,
  options?: PolyfitOptions<W>
): Tensor<FloatOf<Promote<Promote<A, B>, W>>> {
  const op = 'polyfit'
  return within(op, () => {
    const [positions, values] = pairGiven(op, { x, y }, tensorOf)
    const count = integer(op, 'degree', degree) + 1
    if (count < 1) throw new ArgumentError(`${op}: 'degree' must be at least 0, got ${count - 1}`)
    if (count > MOST) throw new ShapeError(`${op}: ${count} coefficients are more than ${MOST}`)
    const { weights } = checkOptions(op, options, ['weights'])
    const n = positions.size
    if (positions.ndim !== 1 || n === 0) throw new ShapeError(`${op}: 'x' must be a vector of at least one position, got shape [${positions.shape.join(', ')}]`)
    if (values.ndim < 1 || values.ndim > 2 || values.shape[0] !== n) throw new ShapeError(`${op}: 'y' must have ${n} values or be [${n}, sets], got shape [${values.shape.join(', ')}]`)
    const factors = weights === undefined ? undefined : tensorGiven(op, 'weights', weights)
    if (factors !== undefined && (factors.ndim !== 1 || factors.size !== n)) throw new ShapeError(`${op}: 'weights' must be ${n} numbers, got shape [${factors.shape.join(', ')}]`)
    const each = floating(positions)
    const columns = concat([ones([n, 1], { dtype: each.dtype, device: each.device }), each.expandDims(1).broadcastTo([n, count - 1])], { axis: 1 }) as Tensor
    const powers = cumulativeProd(columns, { axis: 1 }).flip(1) as Tensor
    const [left, right] = factors === undefined ? [powers, values] : [powers.multiply(factors.expandDims(1)), values.multiply(values.ndim === 1 ? factors : factors.expandDims(1))]
    const lengths = left.abs().square().sum(0).sqrt()
    const { eps } = DTYPE[left.dtype].float as FloatLimits
    const solution = lstsq(left.divide(lengths), right, { rtol: n * eps }).solution as Tensor
    return solution.divide(solution.ndim === 1 ? lengths : lengths.expandDims(1))
  }) as Tensor as Tensor<FloatOf<Promote<Promote<A, B>, W>>>
}

/**
 * A polynomial's values by its coefficients `p`, that of the highest power first, at each element of `x` (Horner's rule).
 *
 * `y = p_0 x^(n - 1) + p_1 x^(n - 2) + ... + p_(n - 1)`
 *
 * NumPy `polyval`. Without coefficients it is 0. Integers wrap.
 *
 * @throws {TensorError} `ERR_SHAPE` for coefficients that are not vector or more than 2^16, `ERR_DTYPE`.
 * @example
 * ```ts
 * ft.polyval([2, 1], ft.tensor([0, 1, 2])) // [1, 3, 5]
 * ```
 */
export function polyval(p: Listed, x: Listed): Tensor<'float32'>
export function polyval<A extends DType = 'bool', B extends DType = 'bool'>(p: (Tensor<A> & Takes<'numeric', A>) | Listed, x: (Tensor<B> & Takes<'numeric', B>) | Listed): Tensor<Promote<A, B>>
export function polyval(p: unknown, x: unknown): unknown {
  const op = 'polyval'
  return within(op, () => {
    const [coefficients, values] = pairGiven(op, { p, x }, alike)
    if (coefficients.ndim !== 1) throw new ShapeError(`${op}: 'p' must be a vector, got shape [${coefficients.shape.join(', ')}]`)
    if (coefficients.size > MOST) throw new ShapeError(`${op}: ${coefficients.size} coefficients are more than ${MOST}`)
    // The first step multiplies nothing: 0 times an infinite x would be NaN.
    const none = zeros(values.shape, { dtype: resultType(coefficients, values), device: values.device }) as Tensor
    let y: Tensor = none
    for (let i = 0; i < coefficients.size; i++) y = (i === 0 ? none : y.multiply(values)).add(coefficients.at(i))
    return y
  })
}

/**
 * The roots of the polynomial with these coefficients, that of the highest power first: eigenvalues of its companion matrix (Horn and Johnson,
 * "Matrix Analysis", 3.3), in no order. Reads which coefficients are 0.
 *
 * `p_0 x^n + p_1 x^(n - 1) + ... + p_n = 0`
 *
 * NumPy `roots`. The result is complex, where NumPy's is real if all roots are.
 *
 * @throws {TensorError} `ERR_SHAPE` for an argument that is not a vector, `ERR_DTYPE`; `ERR_LINALG` when the result is read, for coefficients that are not finite.
 * @example
 * ```ts
 * ft.roots(ft.tensor([1, -3])) // [{ re: 3, im: 0 }]
 * ```
 */
export function roots<D extends DType = 'float32'>(p: Tensor<D> | Listed): Tensor<ComplexOf<FloatOf<D>>> {
  const op = 'roots'
  return within(op, () => {
    const given = arrayGiven(op, 'p', p)
    if (given.ndim !== 1) throw new ShapeError(`${op}: 'p' must be a vector, got shape [${given.shape.join(', ')}]`)
    const coefficients: Tensor = floating(given)
    const some = dataSync(coefficients.notEqual(0), op) as Uint8Array
    const [first, last] = [some.indexOf(1), some.lastIndexOf(1)]
    const zeroRoots = (like: Tensor, count: number): Tensor => zeros([count], { dtype: like.dtype, device: like.device }) as Tensor
    const degree = last - first
    // A polynomial without roots but 0, or of no coefficient but 0.
    if (first < 0 || degree === 0) return zeroRoots(complex(coefficients.real() as Tensor, 0) as Tensor, first < 0 ? 0 : some.length - 1 - last)
    const { dtype, device } = coefficients
    const row = coefficients.at(slice(first + 1, last + 1)).divide(coefficients.at(first)).negative().expandDims(0)
    const companion = concat([row as Tensor, eye(degree - 1, { cols: degree, dtype, device }) as Tensor], { axis: 0 }) as Tensor
    const own = eigvals(companion) as Tensor
    return concat([own, zeroRoots(own, some.length - 1 - last)])
  }) as Tensor as Tensor<ComplexOf<FloatOf<D>>>
}

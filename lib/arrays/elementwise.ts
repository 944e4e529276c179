// Elementwise functions that are a few operations each, and what tells values apart.

import { checkOptions } from '../arguments/options.js'
import { axisGiven, number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import type { Listed } from '../calls/arrays.js'
import { arrayGiven, operandGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type DType, type FloatOf, type Promote, type Takes } from '../generated/dtypes.js'
import { add, clip, concat, copysign, divide, equal, full, multiply, nextafter, where } from '../generated/functions.js'
import { isPlain } from '../realm.js'
import type { Fits, Operand, With } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { broadcastShapes } from './broadcasting.js'
import { floating } from './dtypes.js'
import { axisOrOptions } from './options.js'

/** The factor of a product or quotient that is added. */
export interface AddcmulOptions {
  /** What the product or quotient is multiplied with; 1 by default. */
  readonly value?: number | undefined
}

function addedTo(op: string, combine: typeof multiply | typeof divide, input: unknown, a: unknown, b: unknown, options: unknown): Tensor {
  return within(op, () => {
    const { value = 1 } = checkOptions(op, options, ['value'])
    const factor = number(op, 'value', value)
    const [x, left, right] = [arrayGiven(op, 'input', input, a, b), operandGiven(op, 'a', a, input, b), operandGiven(op, 'b', b, input, a)]
    const part = combine(left as Tensor, right as Tensor) as Tensor
    return add(x, factor === 1 ? part : part.multiply(factor)) as Tensor
  })
}

/**
 * An elementwise product added to a tensor, in one program.
 *
 * `input + value a b`
 *
 * PyTorch `addcmul`.
 *
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not broadcast, `ERR_DTYPE`, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.addcmul(ft.tensor([1, 1]), ft.tensor([2, 3]), ft.tensor([4, 5]), { value: 0.5 }) // [5, 8.5]
 * ```
 */
export function addcmul<D extends DType, A extends DType, B extends Operand>(input: Tensor<D>, a: Tensor<A>, b: B & Fits<'any', B, A>, options?: AddcmulOptions): Tensor<Promote<D, With<A, B>>> {
  return addedTo('addcmul', multiply, input, a, b, options) as Tensor<Promote<D, With<A, B>>>
}

/**
 * An elementwise quotient added to a tensor, in one program.
 *
 * `input + value a / b`
 *
 * PyTorch `addcdiv`. Integers are divided as by {@link divide}.
 *
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not broadcast, `ERR_DTYPE`, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.addcdiv(ft.tensor([1, 1]), ft.tensor([2, 3]), ft.tensor([4, 6])) // [1.5, 1.5]
 * ```
 */
export function addcdiv<D extends DType, A extends DType, B extends Operand>(input: Tensor<D>, a: Tensor<A>, b: B & Fits<'any', B, A>, options?: AddcmulOptions): Tensor<Promote<D, FloatOf<With<A, B>>>> {
  return addedTo('addcdiv', divide, input, a, b, options) as Tensor<Promote<D, FloatOf<With<A, B>>>>
}

/** Bounds by name, as PyTorch's users write them. */
export interface ClampOptions<B extends Operand | undefined = Operand | undefined, C extends Operand | undefined = Operand | undefined> {
  /** The least value; none by default. */
  readonly min?: B | undefined
  /** The greatest value; none by default. */
  readonly max?: C | undefined
}

/**
 * Limits each element to a range, as {@link clip}; bounds stand one after the other or have names.
 *
 * `min(max(x, min), max)`
 *
 * PyTorch `clamp`.
 *
 * @throws {TensorError} `ERR_DTYPE`, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.clamp(ft.tensor([1, 5, 9]), { min: 2 }) // [2, 5, 9]
 * ```
 */
export function clamp<A extends DType, B extends Operand | undefined = undefined, C extends Operand | undefined = undefined>(x: Tensor<A> & Takes<'integerOrFloat', A>, bounds: ClampOptions<B & Fits<'integerOrFloat', B>, C & Fits<'integerOrFloat', C>>): Tensor<With<With<A, B>, C>>
export function clamp<A extends DType, B extends Operand | undefined = undefined, C extends Operand | undefined = undefined>(x: Tensor<A> & Takes<'integerOrFloat', A>, min?: B & Fits<'integerOrFloat', B>, max?: C & Fits<'integerOrFloat', C>): Tensor<With<With<A, B>, C>>
export function clamp(x: Tensor, min?: unknown, max?: unknown): Tensor {
  const op = 'clamp'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    const bounds = isPlain(min) && max === undefined ? checkOptions(op, min, ['min', 'max']) : { min, max }
    return clip(values, bounds.min as number, bounds.max as number) as Tensor
  })
}

/**
 * The distance from each element to the next number of larger magnitude, with its sign.
 *
 * `nextafter(x, copysign(Infinity, x)) - x`
 *
 * NumPy `spacing`.
 *
 * @throws {TensorError} `ERR_DTYPE` for a complex tensor.
 * @example
 * ```ts
 * ft.spacing(ft.tensor([1])) // [1.1920928955078125e-7]
 * ```
 */
export function spacing<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'real', D>) | Listed): Tensor<FloatOf<D>> {
  const op = 'spacing'
  return within(op, () => {
    const values: Tensor = floating(arrayGiven(op, 'x', x))
    return nextafter(values, copysign(Infinity, values)).subtract(values)
  }) as Tensor as Tensor<FloatOf<D>>
}

/**
 * Whether each element has no imaginary part; real ones have none.
 *
 * NumPy and PyTorch `isreal`.
 *
 * @example
 * ```ts
 * ft.isreal(ft.tensor([{ re: 1, im: 2 }, { re: 3, im: 0 }])) // [false, true]
 * ```
 */
export function isreal(x: Tensor | Listed): Tensor<'bool'> {
  const op = 'isreal'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x)
    return DTYPE[values.dtype].kind === 'complex' ? values.imag().equal(0) : (full(values.shape, true, { device: values.device }) as Tensor<'bool'>)
  })
}

/**
 * Whether a tensor's dtype is complex, whatever its values. NumPy `iscomplexobj`.
 *
 * @example
 * ```ts
 * ft.iscomplexobj(ft.tensor([{ re: 1, im: 0 }])) // true
 * ```
 */
export function iscomplexobj(x: Tensor | Listed): boolean {
  return DTYPE[arrayGiven('iscomplexobj', 'x', x).dtype].kind === 'complex'
}

/**
 * Whether a tensor's dtype is real, whatever its values. NumPy `isrealobj`.
 *
 * @example
 * ```ts
 * ft.isrealobj(ft.tensor([1])) // true
 * ```
 */
export function isrealobj(x: Tensor | Listed): boolean {
  return DTYPE[arrayGiven('isrealobj', 'x', x).dtype].kind !== 'complex'
}

/**
 * Whether a value is a JavaScript scalar: a number, a bigint, a boolean, a text or `{ re, im }`; a tensor is none. NumPy `isscalar`.
 *
 * @example
 * ```ts
 * ft.isscalar(5) // true
 * ```
 */
export function isscalar(value: unknown): boolean {
  if (['number', 'bigint', 'boolean', 'string'].includes(typeof value)) return true
  return isPlain(value) && typeof (value as { re?: unknown }).re === 'number' && typeof (value as { im?: unknown }).im === 'number'
}

/**
 * Whether two tensors are equal where they are broadcast to one shape, as a bool of rank 0; false where they have none.
 *
 * NumPy `array_equiv`. {@link arrayEqual} asks for equal shapes.
 *
 * @throws {TensorError} `ERR_DTYPE` for dtypes without a common one.
 * @example
 * ```ts
 * ft.arrayEquiv(ft.tensor([1, 1]), ft.tensor([[1], [1]])) // true
 * ```
 */
export function arrayEquiv(x1: Tensor | Listed, x2: Tensor | Listed): Tensor<'bool'> {
  const op = 'arrayEquiv'
  return within(op, () => {
    const [a, b] = [arrayGiven(op, 'x1', x1, x2), arrayGiven(op, 'x2', x2, x1)]
    try {
      broadcastShapes(a.shape, b.shape)
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error
      return full([], false, { device: a.device }) as Tensor<'bool'>
    }
    return equal(a, b).all()
  })
}

/** Options of `unwrap`. */
export interface UnwrapOptions {
  /** The axis; negative ones count from the last; -1 by default. */
  readonly axis?: number | undefined
  /** The largest step that stays as it is; at least half a period, the default. */
  readonly discont?: number | undefined
  /** What may be added; 2 pi by default. */
  readonly period?: number | undefined
}

/**
 * Angles along an axis without jumps: multiples of the period are added so that no step is larger than half of it.
 *
 * NumPy `unwrap`.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_DTYPE` for a complex tensor, `ERR_INDEX` for an axis out of range, `ERR_SHAPE` for a tensor of rank 0,
 * `ERR_ARGUMENT` for a period that is not above 0.
 * @example
 * ```ts
 * ft.unwrap(ft.tensor([0, 3, 7]), { period: 4 }) // [0, -1, -1]
 * ```
 */
export function unwrap<D extends DType = 'float32'>(x: (Tensor<D> & Takes<'real', D>) | Listed, options?: number | UnwrapOptions): Tensor<FloatOf<D>> {
  const op = 'unwrap'
  return within(op, () => {
    const values = floating(arrayGiven(op, 'x', x))
    const { axis = -1, discont, period = 2 * Math.PI } = axisOrOptions(op, options, ['axis', 'discont', 'period'])
    const whole = number(op, 'period', period)
    if (!(whole > 0 && whole < Infinity)) throw new ArgumentError(`${op}: 'period' must be a finite number above 0, got ${shown(period)}`)
    if (values.ndim === 0) throw new ShapeError(`${op}: a tensor of rank 0 has no axis of angles`)
    const at = axisGiven(op, axis, values.ndim)
    const half = whole / 2
    const least = discont === undefined ? half : number(op, 'discont', discont)
    const along = values.moveaxis(at, -1) as Tensor<'float32'>
    const steps = along.diff()
    const wrapped = steps.add(half).remainder(whole).subtract(half)
    // A step of half a period up stays one up.
    const near = where(wrapped.equal(-half).logicalAnd(steps.greater(0)), half, wrapped) as Tensor<'float32'>
    const turns = where(steps.abs().less(least), 0, near.subtract(steps)) as Tensor<'float32'>
    const rest = along.at('...', '1:').add(turns.cumulativeSum({ axis: -1 }))
    return concat([along.at('...', ':1'), rest], { axis: -1 }).moveaxis(-1, at)
  }) as Tensor as Tensor<FloatOf<D>>
}

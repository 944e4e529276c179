// Recursive filters. A recursion of order p is one step `s_t = A s_(t-1) + e_1 f_t` of the state s_t = (y_t, ..., y_(t-p+1)) with its companion
// matrix A. A block of 64 samples is a product with what one sample leaves behind it. From block to block the states are log2 n products: after
// the i-th, each state has what the 2^i steps before it left (Hillis and Steele, "Data parallel algorithms", 1986), which over all samples takes ten
// times as long: 26 ms for 10^6 samples and one pole on two cores, 148 ms for four.

import { checkOptions } from '../arguments/options.js'
import { axisGiven } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { floating } from '../arrays/dtypes.js'
import { stopGradient } from '../autodiff/grad.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, FloatOf } from '../generated/dtypes.js'
import { concat, eye, isfinite, where, zeros } from '../generated/functions.js'
import { isTracked } from '../program/lifetime.js'
import { isTensor } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'
import { fusedForwards, settle } from '../transforms/fused.js'
import { tensor } from '../values/create.js'

/** The coefficients of a polynomial in the delay, from that of no delay on. */
export type Coefficients = readonly number[] | Tensor

/** Options of `lfilter` and `sosfilt`. */
export interface FilterOptions {
  /** The axis of time; negative ones count from the last; the last by default. */
  readonly axis?: number | undefined
}

/** Coefficients in the dtype of the signal. */
function coefficientsGiven(op: string, name: string, value: unknown, rank: number, like: Tensor): Tensor {
  if (!isTensor(value) && !Array.isArray(value)) throw new ArgumentError(`${op}: '${name}' must be an array of numbers or a tensor, got ${shown(value)}`)
  const given = isTensor(value) ? tensorGiven(op, name, value).astype(like.dtype) : tensor(value as number[], { dtype: like.dtype, device: like.device })
  if (given.ndim !== rank || given.size === 0) throw new ShapeError(`${op}: '${name}' must have ${rank} ${rank === 1 ? 'axis' : 'axes'} and at least one coefficient, got shape [${given.shape.join(', ')}]`)
  return given as Tensor
}

/** A signal with time as its last axis, in a floating dtype. */
function signalGiven(op: string, value: unknown, options: unknown): { signal: Tensor; axis: number } {
  const x = tensorGiven(op, 'x', value)
  const { axis = -1 } = typeof options === 'number' ? { axis: options } : checkOptions(op, options, ['axis'])
  const along = axisGiven(op, axis, x.ndim)
  if (!isTracked(x)) settle([x])
  return { signal: floating(x).moveaxis(along, -1), axis: along }
}

/** The sum of the last inputs, times coefficients: [..., n]. */
function forward(x: Tensor, b: Tensor): Tensor {
  const order = b.size - 1
  if (order === 0) return x.multiply(b)
  const before = x.shape.map((_, i): [number, number] => [i === x.ndim - 1 ? order : 0, 0])
  return x.pad(before).unfold(x.ndim - 1, order + 1).matmul(b.flip())
}

/** The samples of a block. */
const BLOCK = 64

/** What states `[..., p, count]` are when each also has what `transition [p, p]`, from one to the next, makes of all before it. */
function carried(states: Tensor, transition: Tensor): Tensor {
  const count = states.shape.at(-1) as number
  let [sums, power] = [states, transition]
  for (let steps = 1; steps < count; steps *= 2) {
    // The first states have nothing before them: powers of a filter that grows may be infinite there, and 0 times that is NaN.
    const later = sums.at('...', `${steps}:`).add(power.matmul(sums.at('...', `:${count - steps}`)))
    sums = concat([sums.at('...', `:${steps}`), later], { axis: -1 }) as Tensor
    power = power.matmul(power)
  }
  return sums
}

/** The recursion y_t = x_t - sum_k a_k y_(t-k) over the last axis, for a_1, a_2, ..., step by step. */
function stepped(x: Tensor, a: Tensor): Tensor {
  const [order, n] = [a.size, x.shape.at(-1) as number]
  const like = { dtype: x.dtype, device: x.device }
  const transition = concat([a.negative().expandDims(0), eye(order - 1, { cols: order, ...like })]) as Tensor
  const states = concat([x.expandDims(-2), zeros([...x.shape.slice(0, -1), order - 1, n], like)], { axis: -2 }) as Tensor
  return carried(states, transition).at('...', 0, ':')
}

/** The same in blocks, whose products meet samples that are still to come, times zero: all are finite. */
function recursive(x: Tensor, a: Tensor): Tensor {
  const [order, n] = [a.size, x.shape.at(-1) as number]
  const width = Math.max(BLOCK, order)
  if (n <= width) return stepped(x, a)
  const [like, count, lead] = [{ dtype: x.dtype, device: x.device }, Math.ceil(n / width), x.shape.slice(0, -1)]
  // What a sample at the start of a block leaves in it, and what each of the samples before the block does.
  const started = concat([eye(1, { cols: width, ...like }), a.negative().pad([[0, width - 1]]).unfold(0, width)]) as Tensor
  const responses = stepped(started, a)
  const [ofSample, ofStates] = [responses.at(0), responses.at('1:')]
  const ofSamples = ofSample.pad([[width - 1, 0]]).unfold(0, width).flip({ axis: 0 })
  const last = (rows: Tensor): Tensor => rows.at('...', `${width - order}:`).flip({ axis: -1 }).matrixTranspose() as Tensor
  const blocks = ended(x, count * width - n).reshape([...lead, count, width])
  const states = carried(blocks.matmul(ofSamples.at(':', `${width - order}:`).flip({ axis: -1 })).matrixTranspose(), last(ofStates))
  const before = concat([zeros([...lead, order, 1], like), states.at('...', `:${count - 1}`)], { axis: -1 }).matrixTranspose()
  return blocks.matmul(ofSamples).add(before.matmul(ofStates)).reshape([...lead, count * width]).at('...', `:${n}`)
}

/** With so many zeros behind each line. */
function ended(x: Tensor, zeros: number): Tensor {
  return zeros === 0 ? x : x.pad(x.shape.map((_, i): [number, number] => [0, i === x.ndim - 1 ? zeros : 0]))
}

/** The same as {@link recorded}, without recording some hundred operations in each call: that takes as long as 10^5 samples. */
const filtered = fusedForwards((_, x, b, a) => recorded(x as Tensor, b as Tensor, a as Tensor))

/** A filter of coefficients that are not yet divided by the first of `a`. */
function recorded(x: Tensor, b: Tensor, a: Tensor): Tensor {
  if (x.shape.at(-1) === 0) return x
  const [first, numerator] = [a.at(0), b.divide(a.at(0))]
  if (a.size === 1) return forward(x, numerator)
  // What is not finite makes NaN of all from there on, and of none before.
  const driven = forward(x, numerator)
  const finite = where(isfinite(driven), driven, zeros([], { dtype: x.dtype, device: x.device })) as Tensor
  return recursive(finite, a.at('1:').divide(first)).add(stopGradient(driven).multiply(0).cumulativeSum({ axis: -1 })) as Tensor
}

/**
 * A signal through the filter with numerator `b` and denominator `a`, from rest; float32 for integers.
 *
 * `a_0 y_t = sum_k b_k x_(t-k) - sum_(k > 0) a_k y_(t-k)`
 *
 * SciPy `signal.lfilter`. Coefficients are converted to the dtype of the signal, gradients go through them. A recursion is computed in blocks of 64
 * samples or more. Behind a sample that is not finite a recursion gives NaN, and a filter that grows so fast that it overflows within a block gives
 * NaN in that block. A filter of high order is better cut into sections of second order ({@link sosfilt}).
 *
 * @param options The axis of time alone, or an object of options.
 * @throws {TensorError} `ERR_ARGUMENT` for what are no coefficients and for an `a` that begins with the number 0, `ERR_SHAPE` for none of them,
 * `ERR_INDEX` for an axis out of range.
 * @example
 * ```ts
 * ft.signal.lfilter([1], [1, -0.5], ft.tensor([1, 0, 0, 0])) // [1, 0.5, 0.25, 0.125]
 * ```
 */
export function lfilter<D extends DType>(b: Coefficients, a: Coefficients, x: Tensor<D>, options?: number | FilterOptions): Tensor<FloatOf<D>> {
  const op = 'signal.lfilter'
  return within(op, () => {
    const { signal, axis } = signalGiven(op, x, options)
    if (Array.isArray(a) && a[0] === 0) throw new ArgumentError(`${op}: 'a' must not begin with 0`)
    const [numerator, denominator] = [coefficientsGiven(op, 'b', b, 1, signal), coefficientsGiven(op, 'a', a, 1, signal)]
    return filtered(null, signal, numerator, denominator).moveaxis(-1, axis)
  }) as Tensor as Tensor<FloatOf<D>>
}

/**
 * A signal through sections of second order, one after the other, from rest; float32 for integers.
 *
 * `a_0 y_t = b_0 x_t + b_1 x_(t-1) + b_2 x_(t-2) - a_1 y_(t-1) - a_2 y_(t-2) of each section`
 *
 * SciPy `signal.sosfilt`. Coefficients are converted to the dtype of the signal, gradients go through them.
 *
 * @param sos The sections [count, 6]: b_0, b_1, b_2, a_0, a_1, a_2 of each.
 * @param options The axis of time alone, or an object of options.
 * @throws {TensorError} as {@link lfilter}; `ERR_SHAPE` for sections of other than 6 coefficients.
 * @example
 * ```ts
 * ft.signal.sosfilt([[1, 0, 0, 1, -0.5, 0], [1, 1, 0, 1, 0, 0]], ft.tensor([1, 0, 0, 0])) // [1, 1.5, 0.75, 0.375]
 * ```
 */
export function sosfilt<D extends DType>(sos: readonly (readonly number[])[] | Tensor, x: Tensor<D>, options?: number | FilterOptions): Tensor<FloatOf<D>> {
  const op = 'signal.sosfilt'
  return within(op, () => {
    const { signal, axis } = signalGiven(op, x, options)
    const sections = coefficientsGiven(op, 'sos', sos, 2, signal)
    const [count, width] = sections.shape as readonly [number, number]
    if (width !== 6) throw new ShapeError(`${op}: a section has 6 coefficients, got shape [${sections.shape.join(', ')}]`)
    const zero = Array.isArray(sos) ? Array.from({ length: count }, (_, i): unknown => (sos[i] as readonly number[])[3]).indexOf(0) : -1
    if (zero >= 0) throw new ArgumentError(`${op}: 'a_0' of section ${zero} must not be 0`)
    let y = signal
    for (let i = 0; i < count; i++) y = filtered(null, y, sections.at(i, ':3'), sections.at(i, '3:'))
    return y.moveaxis(-1, axis)
  }) as Tensor as Tensor<FloatOf<D>>
}

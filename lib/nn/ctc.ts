// Connectionist temporal classification (Graves et al., 2006): how likely a sequence of labels is where nobody says which step each belongs to.

import { checkOptions } from '../arguments/options.js'
import { flag, integer } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { floating } from '../arrays/dtypes.js'
import { arange } from '../arrays/ranges.js'
import type { Positions } from '../calls/arrays.js'
import { arrayGiven, tensorGiven } from '../calls/operands.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type DType, type FloatOf, type Takes } from '../generated/dtypes.js'
import { concat, full, maximum, stack, where } from '../generated/functions.js'
import { unstack } from '../indexing/split.js'
import { isHalf } from '../program/half.js'
import type { Tensor } from '../tensor/tensor.js'
import { reduced, type LossOptions } from './losses.js'

/** Options of `nn.ctcLoss`. */
export interface CtcLossOptions extends LossOptions {
  /** The class of no label; 0 by default. */
  readonly blank?: number | undefined
  /** Whether losses of sequences that are too short for their labels are 0 instead of Infinity; false by default. */
  readonly zeroInfinity?: boolean | undefined
}

/** The logarithm of next to nothing: of -Infinity a sum of exponentials has no gradient. */
const NOTHING = -1e30

/** ln(e^a + e^b + ...) of finite numbers. */
function logSum(terms: readonly Tensor[]): Tensor {
  return stack(terms).logsumexp(0) as Tensor
}

/** Integers [batch], as int32; those of an array are from 0 to `most`. */
function lengths(op: string, name: string, value: unknown, batch: number, most: number): Tensor<'int32'> {
  const wrong = Array.isArray(value) ? value.find((n) => !Number.isInteger(n) || n < 0 || n > most) : undefined
  if (wrong !== undefined) throw new ArgumentError(`${op}: '${name}' must be integers from 0 to ${most}, got ${shown(wrong)}`)
  const found = arrayGiven(op, name, value)
  const whole = Array.isArray(value) ? found.astype('int32') : found
  if (!/^u?int/.test(whole.dtype)) throw new DTypeError(`${op}: '${name}' must be integers, got ${whole.dtype}; convert with astype('int32')`)
  if (whole.ndim !== 1 || whole.shape[0] !== batch) throw new ShapeError(`${op}: '${name}' must have shape [${batch}], got [${whole.shape.join(', ')}]`)
  return whole.astype('int32')
}

/**
 * Minus the log-probability of labels [batch, labels] by the log-probabilities x [time, batch, classes] of each step, over all ways to spread the
 * labels, in order, with blanks between them, over the steps: the mean, each divided by its number of labels, or by `reduction` the sum or each loss. Half
 * floats are computed in float32.
 *
 * `-ln sum over ways of prod_t e^(x[t, way_t])`
 *
 * PyTorch `nn.functional.ctc_loss`, whose gradient is of logits: behind `logSoftmax` both are the same.
 *
 * @param x Log-probabilities, a floating tensor, as `logSoftmax` gives them.
 * @param target Integers: labels, of which the first `targetLengths` count.
 * @param inputLengths How many steps count of each sequence, at most `time`: integers [batch].
 * @param targetLengths How many labels count of each sequence: integers [batch].
 * @throws {TensorError} `ERR_SHAPE` for shapes that do not go together and no steps, `ERR_DTYPE`, `ERR_ARGUMENT` for a blank that is not a class;
 * `ERR_INDEX` when a result is read whose labels are no classes.
 * @example
 * ```ts
 * ft.nn.ctcLoss(ft.full([2, 1, 2], Math.log(0.5)), ft.tensor([[1]], { dtype: 'int32' }), [2], [1]) // 0.2876821
 * ```
 */
export function ctcLoss<A extends DType, B extends DType>(
  x: Tensor<A> & Takes<'float', A>,
  target: Tensor<B> & Takes<'index', B>,
  inputLengths: Tensor | Positions,
  targetLengths: Tensor | Positions,
  options?: CtcLossOptions
): Tensor<FloatOf<A>> {
  const op = 'nn.ctcLoss'
  return within(op, () => {
    const o = checkOptions(op, options, ['reduction', 'blank', 'zeroInfinity'])
    const given = tensorGiven(op, 'x', x) as Tensor
    const labels = tensorGiven(op, 'target', target) as Tensor
    if (DTYPE[given.dtype].kind !== 'float') throw new DTypeError(`${op}: 'x' must be floating, got ${given.dtype}`)
    if (!/^u?int/.test(labels.dtype)) throw new DTypeError(`${op}: 'target' must be integers, got ${labels.dtype}; convert with astype('int32')`)
    const [time, batch, classes] = given.shape
    if (given.ndim !== 3 || time === 0) throw new ShapeError(`${op}: x must have shape [time, batch, classes], got [${given.shape.join(', ')}]`)
    if (labels.ndim !== 2 || labels.shape[0] !== batch) throw new ShapeError(`${op}: 'target' must have shape [${batch}, labels], got [${labels.shape.join(', ')}]`)
    const blank = integer(op, 'blank', o['blank'] ?? 0)
    if (blank < 0 || blank >= (classes as number)) throw new ArgumentError(`${op}: 'blank' must be one of ${classes} classes, got ${blank}`)
    const steps = lengths(op, 'inputLengths', inputLengths, batch as number, time as number)
    const counts = lengths(op, 'targetLengths', targetLengths, batch as number, labels.shape[1] as number)
    const wide = floating(isHalf(given.dtype) ? given.astype('float32') : given)
    const each = losses(maximum(wide, NOTHING) as Tensor, labels.astype('int32'), steps, counts, blank)
    // NaN is neither, and stays.
    const impossible = each.greaterEqual(-NOTHING / 2)
    const known = where(impossible, flag(op, 'zeroInfinity', o['zeroInfinity'], false) ? 0 : Infinity, each)
    const { reduction = 'mean' } = o
    const own = reduction === 'mean' ? known.divide(counts.maximum(1).astype(known.dtype as 'float32')) : known
    return reduced(op, own as Tensor, reduction).astype(given.dtype) as Tensor<FloatOf<A>>
  })
}

/** The loss of each sequence; where there is no way, of the size of -NOTHING. */
function losses(x: Tensor, labels: Tensor<'int32'>, steps: Tensor<'int32'>, counts: Tensor<'int32'>, blank: number): Tensor {
  const [time, batch] = x.shape as [number, number, number]
  const { dtype, device } = x
  const size = 2 * (labels.shape[1] as number) + 1
  const blanks = full([batch, labels.shape[1] as number], blank, { dtype: 'int32', device })
  const last = full([batch, 1], blank, { dtype: 'int32', device })
  // Labels that do not count may be any number.
  const counted = where(arange(labels.shape[1] as number, { dtype: 'int32', device }).less(counts.expandDims(1)), labels, blank) as Tensor<'int32'>
  // Blank, label, blank, ..., blank: [batch, size].
  const states = concat([stack([blanks, counted], { axis: -1 }).reshape([batch, size - 1]), last], { axis: 1 }) as Tensor<'int32'>
  const none = (width: number): Tensor => full([batch, Math.min(width, size)], NOTHING, { dtype: dtype as 'float32', device })
  const behind = (alpha: Tensor, width: number): Tensor => concat([none(width), alpha.at(':', `:${Math.max(size - width, 0)}`)], { axis: 1 }) as Tensor
  // A label follows another one without a blank between them, unless both are the same.
  const before = concat([full([batch, Math.min(2, size)], blank, { dtype: 'int32', device }), states.at(':', `:${Math.max(size - 2, 0)}`)], { axis: 1 })
  const skips = states.notEqual(blank).logicalAnd(states.notEqual(before))
  const scores = unstack(x.takeAlongAxis(states.expandDims(0).broadcastTo([time, batch, size]) as Tensor<'int32'>, { axis: 2 })) as Tensor[]
  const starts = arange(size, { dtype: 'int32', device }).less(2)
  let alpha = where(starts, scores[0] as Tensor, NOTHING) as Tensor
  for (let t = 1; t < time; t++) {
    const next = logSum([alpha, behind(alpha, 1), where(skips, behind(alpha, 2), NOTHING) as Tensor]).add(scores[t] as Tensor)
    alpha = where(steps.greater(t).expandDims(1), next, alpha) as Tensor
  }
  const end = counts.multiply(2).expandDims(1)
  const place = arange(size, { dtype: 'int32', device })
  const ends = place.equal(end).logicalOr(place.equal(end.subtract(1)))
  const found = where(ends, alpha, NOTHING).logsumexp(1).negative() as Tensor
  // No steps have one way to say nothing, and none to say more.
  return where(steps.greater(0), found, where(counts.equal(0), 0, -NOTHING)) as Tensor
}

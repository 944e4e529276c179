// Elements chosen from several tensors, by conditions or by numbers.

import { checkOptions } from '../arguments/options.js'
import { within } from '../arguments/within.js'
import { widest, type Positions } from '../calls/arrays.js'
import { arrayGiven, operandGiven } from '../calls/operands.js'
import { ArgumentError } from '../errors.js'
import type { DType } from '../generated/dtypes.js'
import { full, stack, where } from '../generated/functions.js'
import { isTensor } from '../program/node.js'
import type { Operand } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { broadcastArrays } from './broadcasting.js'
import { zerosLike } from './create-like.js'
import { resultType } from './dtypes.js'
import { indexMode, integersGiven, listGiven, rowsGiven, wideIntegers } from './options.js'

/** Conditions as tensors of bool. */
function conditions(op: string, name: string, value: unknown): Tensor[] {
  return listGiven(op, name, value).map((item, i) => {
    const mask = arrayGiven(op, `${name}[${i}]`, item)
    if (mask.dtype !== 'bool') throw new ArgumentError(`${op}: '${name}[${i}]' must be a tensor of bool, got ${mask.dtype}`)
    return mask
  })
}

/** NumPy's `select`: of each place the choice of the first condition that is true there. */
export function selectedBy(op: string, condlist: unknown, choicelist: unknown, fallback: unknown): Tensor {
  return within(op, () => {
    const listed = listGiven(op, 'choices', choicelist)
    const beside = widest([...listed, fallback])
    const [masks, choices] = [conditions(op, 'conditions', condlist), listed.map((x, i) => operandGiven(op, `choices[${i}]`, x, beside))]
    if (masks.length === 0 || masks.length !== choices.length) throw new ArgumentError(`${op}: there are ${masks.length} conditions and ${choices.length} choices`)
    const last = fallback === undefined ? 0 : operandGiven(op, 'default', fallback, beside)
    const tensors = choices.filter((x) => isTensor(x))
    // What is bool stays bool beside the default.
    const none = fallback === undefined && tensors.length > 0 && resultType(...choices) === 'bool' ? false : last
    return masks.reduceRight<Operand>((rest, mask, i) => where(mask, choices[i] as Tensor, rest as Tensor) as Tensor, none) as Tensor
  })
}

/** What stands where a condition is true: a value, or a function of the whole tensor. */
export type Piece<D extends DType> = Operand | ((x: Tensor<D>) => Operand)

/**
 * A function defined by pieces: for each element the piece of the last condition that is true there, a value or the result of a function. With one
 * piece more than conditions, the last piece stands where no condition is true; without it 0 does.
 *
 * NumPy `piecewise`. A function is called once, with the whole tensor; NumPy's sees the elements where its condition is true. The result has the dtype
 * of `x`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for conditions that are not of bool and a number of pieces that does not fit, `ERR_SHAPE`, `ERR_DTYPE`.
 * @example
 * ```ts
 * ft.piecewise(ft.tensor([-2, 3]), [ft.tensor([true, false])], [(x) => x.neg(), 10]) // [2, 10]
 * ```
 */
export function piecewise<D extends DType>(x: Tensor<D>, conditionList: readonly Tensor<'bool'>[], pieces: readonly Piece<D>[]): Tensor<D> {
  const op = 'piecewise'
  const [values, masks, parts] = within(op, () => {
    const given = [arrayGiven(op, 'x', x) as Tensor<D>, conditions(op, 'conditions', conditionList), listGiven(op, 'pieces', pieces)] as const
    const [, { length: n }, { length: m }] = given
    if (m !== n && m !== n + 1) throw new ArgumentError(`${op}: ${n} conditions take ${n} or ${n + 1} pieces, got ${m}`)
    return given
  })
  // Functions are the caller's: their errors are none of this call.
  const results = parts.map((piece) => (typeof piece === 'function' ? (piece as (x: Tensor<D>) => unknown)(values) : piece))
  return within(op, () => {
    const operands = results.map((result, i) => {
      const operand = operandGiven(op, `pieces[${i}]`, result, x)
      if (isTensor(operand)) return operand.astype(values.dtype)
      // A number would make numbers of bools.
      return values.dtype === 'bool' ? Boolean(operand) : operand
    })
    const rest = operands.length > masks.length ? operands[masks.length] : values.dtype === 'bool' ? false : 0
    const start = where(full(values.shape, true, { device: values.device }), rest as Tensor, zerosLike(values)) as Tensor
    return masks.reduce<Tensor>((out, mask, i) => where(mask, operands[i] as Tensor, out) as Tensor, start)
  }) as Tensor<D>
}

/** Options of `choose`. */
export interface ChooseOptions {
  /** What a number without a choice does: an error when the result is read (`'raise'`, the default), counts around, or is limited. */
  readonly mode?: 'raise' | 'wrap' | 'clip' | undefined
}

/**
 * Elements of several tensors, chosen by `indices`: where `indices` is k, the element of the k-th choice at the same position. All are broadcast
 * to one shape.
 *
 * `out_i = choices_(indices_i, i)`
 *
 * NumPy `choose`. Negative numbers count from the last choice, unless `mode` says otherwise.
 *
 * @throws {TensorError} `ERR_DTYPE` for numbers that are not integers, `ERR_SHAPE` for shapes that do not broadcast, `ERR_ARGUMENT` without choices;
 * `ERR_INDEX` when the result is read, for a number without a choice.
 * @example
 * ```ts
 * ft.choose([0, 1, 0], [ft.tensor([1, 2, 3]), ft.tensor([4, 5, 6])]) // [1, 5, 3]
 * ```
 */
export function choose<D extends DType>(indices: Tensor | Positions, choices: readonly Tensor<D>[] | Tensor<D>, options?: ChooseOptions): Tensor<D> {
  const op = 'choose'
  return within(op, () => {
    const list = isTensor(choices) ? rowsGiven(op, 'choices', choices) : listGiven(op, 'choices', choices)
    const beside = widest(list)
    const tensors = list.map((x, i) => arrayGiven(op, `choices[${i}]`, x, beside))
    if (tensors.length === 0) throw new ArgumentError(`${op}: there are no choices`)
    const mode = indexMode(op, checkOptions(op, options, ['mode'])['mode'])
    const n = tensors.length
    const given = wideIntegers(integersGiven(op, 'indices', indices, tensors[0]))
    const numbers = mode === 'wrap' ? given.remainder(n) : mode === 'clip' ? given.clip(0, n - 1) : given
    const [places, ...wide] = broadcastArrays(numbers as Tensor, ...tensors)
    return stack(wide).takeAlongAxis((places as Tensor<'int32'>).expandDims(0), { axis: 0 }).squeeze(0)
  }) as Tensor<D>
}

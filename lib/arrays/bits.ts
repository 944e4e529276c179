// Booleans packed into bytes, and bytes into bits.

import { axisGiven, integer, oneOf } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import type { Listed, Positions } from '../calls/arrays.js'
import { arrayGiven } from '../calls/operands.js'
import { ArgumentError, DTypeError } from '../errors.js'
import { DTYPE, type DType, type Takes } from '../generated/dtypes.js'
import { slice } from '../indexing/slice.js'
import { isTensor } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'
import { axisOrOptions, integersGiven } from './options.js'
import { arange } from './ranges.js'

/** Options of `packbits`. */
export interface PackbitsOptions {
  /** The axis; negative ones count from the last; the flattened tensor by default. */
  readonly axis?: number | undefined
  /** Whether the first bit is a byte's highest (`'big'`, the default) or its lowest. */
  readonly bitorder?: 'big' | 'little' | undefined
}

/** Options of `unpackbits`. */
export interface UnpackbitsOptions extends PackbitsOptions {
  /** How many bits the result has along the axis, with zeros behind them or some left out; so many fewer if negative; all by default. */
  readonly count?: number | undefined
}

/** What is packed, with the axis last, and how it goes back. */
function lined(op: string, x: Tensor, axis: unknown): readonly [line: Tensor, back: (y: Tensor) => Tensor] {
  if (axis === undefined) return [x.flatten() as Tensor, (y) => y]
  const at = axisGiven(op, axis, x.ndim)
  return [x.moveaxis(at, -1) as Tensor, (y) => y.moveaxis(-1, at) as Tensor]
}

/** How far the eight bits of a byte are from its lowest. */
function shifts(op: string, order: unknown, device: string): Tensor<'uint8'> {
  const up = arange(8, { dtype: 'uint8', device }) as Tensor<'uint8'>
  return oneOf(op, 'bitorder', order, ['big', 'little']) === 'big' ? up.flip() : up
}

const zerosBehind = (x: Tensor, count: number): Tensor => x.pad([...x.shape.slice(1).map((): [number, number] => [0, 0]), [0, count]]) as Tensor

/**
 * Eight elements each as the bits of one uint8: 1 for what is not 0; the last byte is filled with zeros.
 *
 * NumPy `packbits`.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_DTYPE` for anything but integers and bool, `ERR_INDEX` for an axis out of range, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.packbits(ft.tensor([true, false, true])) // [160]
 * ```
 */
export function packbits<D extends DType = 'int32'>(x: (Tensor<D> & Takes<'integerOrBool', D>) | Positions | readonly boolean[], options?: number | PackbitsOptions): Tensor<'uint8'> {
  const op = 'packbits'
  return within(op, () => {
    const values = bitsGiven(op, x)
    const { axis, bitorder = 'big' } = axisOrOptions(op, options, ['axis', 'bitorder'])
    const [line, back] = lined(op, values.astype('bool') as Tensor, axis)
    const n = line.shape.at(-1) as number
    const bytes = Math.ceil(n / 8)
    const bits = zerosBehind(line.astype('uint8') as Tensor, 8 * bytes - n).reshape([...line.shape.slice(0, -1), bytes, 8])
    const shifted = bits.bitwiseLeftShift(shifts(op, bitorder, values.device)) as Tensor
    return back(shifted.sum({ axis: -1, dtype: 'uint8' }) as Tensor)
  }) as Tensor<'uint8'>
}

/** Bools, or integers. */
function bitsGiven(op: string, value: unknown): Tensor {
  let first = value
  for (let levels = 0; Array.isArray(first) && levels < 64; levels++) first = first[0] as unknown
  const isBool = typeof first === 'boolean' || (isTensor(value) && value.dtype === 'bool')
  return isBool ? arrayGiven(op, 'x', value) : integersGiven(op, 'x', value)
}

/**
 * The eight bits of each uint8 as elements of uint8, 0 or 1, one after the other.
 *
 * NumPy `unpackbits`.
 *
 * @param options Options, or the value of `axis` alone.
 * @throws {TensorError} `ERR_DTYPE` for anything but uint8, `ERR_INDEX` for an axis out of range, `ERR_ARGUMENT`.
 * @example
 * ```ts
 * ft.unpackbits(ft.tensor([160], { dtype: 'uint8' }), { count: 3 }) // [1, 0, 1]
 * ```
 */
export function unpackbits(x: Tensor<'uint8'> | Uint8Array, options?: number | UnpackbitsOptions): Tensor<'uint8'> {
  const op = 'unpackbits'
  return within(op, () => {
    const values = arrayGiven(op, 'x', x as Tensor | Listed)
    if (values.dtype !== 'uint8') throw new DTypeError(`${op}: takes uint8, got ${values.dtype}${DTYPE[values.dtype].min === null ? '' : "; the bytes of another integer are x.toBytes()"}`)
    const { axis, bitorder = 'big', count } = axisOrOptions(op, options, ['axis', 'bitorder', 'count'])
    const [line, back] = lined(op, values, axis)
    const bits = line.expandDims(-1).bitwiseRightShift(shifts(op, bitorder, values.device)).bitwiseAnd(1)
    const all = bits.reshape([...line.shape.slice(0, -1), 8 * (line.shape.at(-1) as number)]) as Tensor
    return back(count === undefined ? all : counted(op, all, integer(op, 'count', count)))
  }) as Tensor<'uint8'>
}

/** So many of the last axis's elements, with zeros behind them; so many fewer if negative. */
function counted(op: string, x: Tensor, count: number): Tensor {
  const n = x.shape.at(-1) as number
  const wanted = count < 0 ? n + count : count
  if (wanted < 0) throw new ArgumentError(`${op}: 'count' ${count} leaves out more than the ${n} bits there are`)
  return wanted > n ? zerosBehind(x, wanted - n) : (x.at('...', slice(0, wanted)) as Tensor)
}

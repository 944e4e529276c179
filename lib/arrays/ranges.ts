// Equally spaced numbers, and the coordinates that they make up.

import { checkOptions } from '../arguments/options.js'
import { dtypeOption, integer, number } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { isListed, type Listed } from '../calls/arrays.js'
import { one } from '../calls/record-call.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type DType } from '../generated/dtypes.js'
import { full } from '../generated/functions.js'
import { OP } from '../generated/table.js'
import { checkDefault } from '../program/exact.js'
import { isTensor } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'
import { CREATION, fromList, type CreationOptions } from '../values/create.js'

/** Options of `linspace`. */
export interface LinspaceOptions<E extends DType = DType> extends CreationOptions<E> {
  /** Whether the last number is `stop`; true by default. */
  readonly endpoint?: boolean | undefined
}

/** Options of `logspace`. */
export interface LogspaceOptions<E extends DType = DType> extends LinspaceOptions<E> {
  /** What is raised to the powers; 10 by default. */
  readonly base?: number | undefined
}

/** Options of `meshgrid`. */
export interface MeshgridOptions {
  /** 'xy' (Cartesian): the first array runs along axis 1, the second along axis 0. 'ij': array i runs along axis i. */
  readonly indexing?: 'xy' | 'ij' | undefined
}

/** `arange` of bigints: 64-bit arithmetic that wraps, so that any step counts through the whole range. */
function arangeBig(args: readonly unknown[]): Tensor {
  const given = args.findIndex((arg) => typeof arg !== 'bigint')
  const numbers = (given < 0 ? args : args.slice(0, given)) as bigint[]
  if (numbers.length > 3 || args.length > numbers.length + 1 || typeof args[numbers.length] === 'number') {
    throw new ArgumentError(`arange: takes bigints alone, (stop), (start, stop) or (start, stop, step), and options, got (${args.map((arg) => shown(arg)).join(', ')})`)
  }
  const o = checkOptions('arange', args[numbers.length], CREATION)
  const [start, stop, step] = numbers.length === 1 ? [0n, numbers[0] as bigint, 1n] : [numbers[0] as bigint, numbers[1] as bigint, numbers[2] ?? 1n]
  if (step === 0n) throw new ArgumentError(`arange: step must not be 0, got (${start}, ${stop}, ${step})`)
  const steps = (stop - start + step - (step > 0n ? 1n : -1n)) / step
  const length = steps > 0n ? Number(steps) : 0
  if (!Number.isSafeInteger(length)) throw new ShapeError(`arange: ${length} numbers are too many`)
  const dtype = dtypeOption('arange', o['dtype'], 'int64')
  const { min, max, kind } = DTYPE[dtype]
  const last = start + BigInt(Math.max(0, length - 1)) * step
  const wide = kind === 'unsigned' ? 'uint64' : 'int64'
  const [low, high] = min === null ? [DTYPE.int64.min, DTYPE.int64.max] : [min, max]
  for (const end of length === 0 ? [] : [start, last]) {
    if (end < (low as bigint) || end > (high as bigint)) throw new DTypeError(`arange: ${dtype} does not hold ${end}; name another dtype`)
  }
  const wrapped = wide === 'uint64' ? BigInt.asUintN(64, step) : BigInt.asIntN(64, step)
  const counted = one(OP.arange, [], [length, wide, o['device']], [0, 1]).multiply(wrapped)
  const x = length === 0 ? counted : counted.add(start)
  return dtype === wide ? x : x.astype(dtype)
}

/**
 * Numbers from `start` (0) to `stop` (excluded) by `step` (1); float32 by default, int64 of bigints.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a step of 0 or bounds that are not finite, `ERR_SHAPE` for too many numbers, `ERR_DTYPE` for
 * integers that float32 does not hold exactly where no dtype is named (with a step that is a fraction, if the first two integers are within
 * 1,024 steps), and bigints beyond the dtype.
 * @example
 * ```ts
 * ft.arange(1, 7, 2) // [1, 3, 5]
 * ft.arange(2n ** 53n, 2n ** 53n + 2n).toArray() // [9007199254740992n, 9007199254740993n]
 * ```
 */
export function arange<E extends DType = 'float32'>(stop: number, options?: CreationOptions<E>): Tensor<NoInfer<E>>
export function arange<E extends DType = 'float32'>(start: number, stop: number, options?: CreationOptions<E>): Tensor<NoInfer<E>>
export function arange<E extends DType = 'float32'>(start: number, stop: number, step: number, options?: CreationOptions<E>): Tensor<NoInfer<E>>
export function arange<E extends DType = 'int64'>(stop: bigint, options?: CreationOptions<E>): Tensor<NoInfer<E>>
export function arange<E extends DType = 'int64'>(start: bigint, stop: bigint, options?: CreationOptions<E>): Tensor<NoInfer<E>>
export function arange<E extends DType = 'int64'>(start: bigint, stop: bigint, step: bigint, options?: CreationOptions<E>): Tensor<NoInfer<E>>
export function arange(...args: readonly unknown[]): Tensor {
  if (args.some((arg) => typeof arg === 'bigint')) return arangeBig(args)
  const given = args.findIndex((arg) => typeof arg !== 'number')
  const numbers = (given < 0 ? args : args.slice(0, given)) as number[]
  const options = args[numbers.length]
  const [start, stop, step] = numbers.length === 1 ? [0, numbers[0], 1] : [numbers[0], numbers[1], numbers[2] ?? 1]
  if (start === undefined || stop === undefined || numbers.length > 3 || args.length > numbers.length + 1) {
    throw new ArgumentError(`arange: takes (stop), (start, stop) or (start, stop, step) and options, got (${args.map((arg) => shown(arg)).join(', ')})`)
  }
  const o = checkOptions('arange', options, CREATION)
  if (step === 0 || ![start, stop, step].every(Number.isFinite)) {
    throw new ArgumentError(`arange: bounds must be finite and step not 0, got (${start}, ${stop}, ${step})`)
  }
  const length = Math.max(0, Math.ceil((stop - start) / step))
  if (!Number.isSafeInteger(length)) throw new ShapeError(`arange: ${length} numbers are too many`)
  if (o['dtype'] === undefined) checkRange(start, step, length)
  return one(OP.arange, [], [length, o['dtype'], o['device']], [start, step])
}

/** How many numbers are looked at for integers among fractions. */
const LOOKED_AT = 1024

/** The place of the first integer of a range and how many places apart they are, if two are among the first numbers. */
function integersOf(start: number, step: number, length: number): readonly [first: number, apart: number] | null {
  if (Number.isInteger(step)) return Number.isInteger(start) ? [0, 1] : null
  const found: number[] = []
  for (let i = 0; i < Math.min(length, LOOKED_AT) && found.length < 2; i++) if (Number.isInteger(start + i * step)) found.push(i)
  const [first, second] = found
  return first === undefined ? null : [first, (second ?? length) - first]
}

/**
 * Refuses a range some of whose integers float32, the default, has other digits for. They are multiples of one power of two: of the outermost
 * two on a side one is an odd multiple, so that where one is rounded, that is. Of the outermost four two are, and where these
 * are magnitudes, which may be rounded, so are the integers between them: all multiples of the same power of ten.
 */
function checkRange(start: number, step: number, length: number): void {
  const among = Math.max(Math.abs(start), Math.abs(start + (length - 1) * step)) > 2 ** 24 ? integersOf(start, step, length) : null
  if (among === null) return
  const [first, apart] = among
  // What JavaScript itself does not hold is no matter of digits.
  const [a, b] = [-1, 1].map((side) => (side * Number.MAX_SAFE_INTEGER - start) / step).sort((x, y) => x - y) as [number, number]
  const low = Math.max(0, Math.ceil((a - first) / apart))
  const high = Math.floor((Math.min(b, length - 1) - first) / apart)
  for (const nth of [0, 1, 2, 3].flatMap((k) => [low + k, high - k])) {
    const i = first + nth * apart
    if (nth >= low && nth <= high) checkDefault('arange', DTYPE.float32, start + i * step, () => `number ${i}`)
  }
}

/** Numbers between two ends: the checks that `linspace` and `logspace` share. */
function spaced(op: 'linspace' | 'logspace', start: unknown, stop: unknown, num: unknown, o: Record<string, unknown>): Tensor {
  const ends = [number(op, 'start', start), number(op, 'stop', stop)]
  const length = integer(op, 'num', num)
  if (length < 0) throw new ShapeError(`${op}: num ${length} is negative`)
  if (op === 'linspace' && o['dtype'] === undefined) {
    for (const end of ends) checkDefault(op, DTYPE.float32, end, () => 'an end')
  }
  const [start64, stop64] = ends as [number, number]
  const overflows = Number.isFinite(start64) && Number.isFinite(stop64) && !Number.isFinite(stop64 - start64)
  if (overflows) return overSpan(op, start64, stop64, length, o)
  return one(OP[op], [], [length, o['dtype'], o['device'], o['endpoint']], op === 'logspace' ? [...ends, o['base']] : ends)
}

/** Numbers between two ends whose difference is beyond float64: twice those between their halves, which loses no digit. */
function overSpan(op: 'linspace' | 'logspace', start: number, stop: number, length: number, o: Record<string, unknown>): Tensor {
  const halves = one(OP.linspace, [], [length, 'float64', o['device'], o['endpoint']], [start / 2, stop / 2])
  const dtype = dtypeOption(op, o['dtype'], 'float32')
  const between = halves.multiply(2)
  if (op === 'linspace') return between.astype(dtype)
  const { base = 10 } = o
  return full([], number(op, 'base', base), { dtype: 'float64', device: halves.device }).pow(between as Tensor<'float64'>).astype(dtype)
}

/**
 * `num` equally spaced numbers from `start` to `stop`, both included unless `endpoint` is false; float32 by default.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a `num` that is not an integer, `ERR_SHAPE` for a negative one, `ERR_DTYPE` for an
 * end that is an integer which float32 does not hold exactly where no dtype is named.
 * @example
 * ```ts
 * ft.linspace(0, 1, 3) // [0, 0.5, 1]
 * ```
 */
export function linspace<E extends DType = 'float32'>(start: number, stop: number, num: number, options?: LinspaceOptions<E>): Tensor<NoInfer<E>> {
  return spaced('linspace', start, stop, num, checkOptions('linspace', options, [...CREATION, 'endpoint'])) as Tensor<E>
}

/**
 * `num` powers of `base` (10) whose exponents are equally spaced from `start` to `stop`, both included unless `endpoint` is
 * false; computed in float64, float32 by default.
 *
 * @throws {TensorError} As `linspace`.
 * @example
 * ```ts
 * ft.logspace(0, 3, 4, { base: 2 }) // [1, 2, 4, 8]
 * ```
 */
export function logspace<E extends DType = 'float32'>(start: number, stop: number, num: number, options?: LogspaceOptions<E>): Tensor<NoInfer<E>> {
  return spaced('logspace', start, stop, num, checkOptions('logspace', options, [...CREATION, 'endpoint', 'base'])) as Tensor<E>
}

const INDEXINGS: readonly unknown[] = ['xy', 'ij']

/** A grid's tensor for each array. */
type Grids<T extends readonly unknown[]> = { -readonly [K in keyof T]: T[K] extends Tensor ? T[K] : Tensor<'float32'> }

/**
 * Coordinates of a grid: for each array a tensor of the grid's shape that holds the array's values along its axis. Views.
 *
 * @param args Tensors of one axis (or none), or arrays, then options.
 * @throws {TensorError} `ERR_SHAPE` for a tensor of rank 2 or more, `ERR_ARGUMENT` for anything but tensors and arrays.
 * @example
 * ```ts
 * ft.meshgrid(ft.tensor([1, 2, 3]), ft.tensor([4, 5]))[1] // [[4, 4, 4], [5, 5, 5]]
 * ```
 */
export function meshgrid<const T extends readonly (Tensor | Listed)[]>(...args: readonly [...arrays: T, options: MeshgridOptions]): Grids<T>
export function meshgrid<const T extends readonly (Tensor | Listed)[]>(...args: T): Grids<T>
export function meshgrid(...args: readonly unknown[]): Tensor[] {
  const op = 'meshgrid'
  return within(op, () => {
    const last = args[args.length - 1]
    const arrays = args.length === 0 || isTensor(last) || isListed(last) ? args : args.slice(0, -1)
    const tensors = arrays.map((given, i) => {
      if (Array.isArray(given) && isTensor(given[0])) throw new ArgumentError(`${op}: argument ${i + 1} must be a tensor, got ${shown(given)}; spread it: ${op}(...tensors)`)
      const x = isListed(given) ? fromList(op, given, { dtype: undefined, device: arrays.find(isTensor)?.device }) : given
      if (!isTensor(x)) throw new ArgumentError(`${op}: argument ${i + 1} must be a tensor, got ${shown(x)}`)
      if (x.ndim > 1) throw new ShapeError(`${op}: argument ${i + 1} must have one axis, got shape [${x.shape.join(', ')}]`)
      return x
    })
    const { indexing = 'xy' } = checkOptions(op, arrays === args ? undefined : last, ['indexing'])
    if (!INDEXINGS.includes(indexing)) throw new ArgumentError(`${op}: 'indexing' must be one of 'xy', 'ij', got ${shown(indexing)}`)
    const axisOf = (i: number) => (indexing === 'xy' && i < 2 && tensors.length > 1 ? 1 - i : i)
    const grid = tensors.map((_, axis) => (tensors[axisOf(axis)] as Tensor).size)
    return tensors.map((x, i) => x.reshape(grid.map((_, axis) => (axis === axisOf(i) ? x.size : 1))).broadcastTo(grid))
  })
}

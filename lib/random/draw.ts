// Random tensors from explicit keys: element i of a draw depends on (key, i) only, so a draw is the same on every device and
// for any number of threads. The rows of the table hash with Philox 4x32-10 (Salmon et al., 2011).

import { checkOptions } from '../arguments/options.js'
import { dtypeOption, integer } from '../arguments/validate.js'
import { one } from '../calls/record-call.js'
import { deviceNumber } from '../devices/devices.js'
import { ArgumentError, DTypeError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type FloatDType, type IntegerDType } from '../generated/dtypes.js'
import { OP } from '../generated/table.js'
import type { Tuple } from '../indexing/split.js'
import { isTensor } from '../program/node.js'
import type { Device } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { upload } from '../values/upload.js'

/** A key: two uint32 words. Use each key for one draw only; `split` and `fold` make more. */
export type Key = Tensor<'uint32'>

/** Options of `randint`. */
export interface RandintOptions<E extends IntegerDType = IntegerDType> {
  /** The dtype; int32 by default. */
  readonly dtype?: E | undefined
}

/** Options of `uniform`. */
export interface UniformOptions<E extends FloatDType = FloatDType> {
  /** The dtype; float32 by default. */
  readonly dtype?: E | undefined
  /** Smallest value; 0 by default. */
  readonly low?: number | undefined
  /** Bound that is not reached; 1 by default. */
  readonly high?: number | undefined
}

/** Options of `normal`. */
export interface NormalOptions<E extends FloatDType = FloatDType> {
  /** The dtype; float32 by default. */
  readonly dtype?: E | undefined
  /** Mean; 0 by default. */
  readonly mean?: number | undefined
  /** Standard deviation; 1 by default. */
  readonly std?: number | undefined
}

/** Options of `bits`. */
export interface BitsOptions<E extends 'uint32' | 'uint64' = 'uint32' | 'uint64'> {
  /** The dtype; uint32 by default. */
  readonly dtype?: E | undefined
}

/** A key; a forgotten one shifts all other arguments, so it is looked at before them. `hint` is what an error ends with. */
export function keyGiven(op: string, key: unknown, hint = ''): Tensor {
  const wanted = `${op}: the first argument must be a key from ft.random.key(seed), got`
  if (!isTensor(key)) throw new ArgumentError(`${wanted} ${shown(key)}${hint}`)
  if (key.dtype !== 'uint32') throw new ArgumentError(`${wanted} a ${key.dtype} tensor${hint}`)
  return key
}

/** A parameter of a draw of real numbers. */
export function realGiven(op: string, name: string, value: Tensor): Tensor {
  if (DTYPE[value.dtype].kind === 'complex') throw new DTypeError(`${op}: '${name}' must be real, got ${value.dtype}`)
  return value
}

/** A parameter of each element of a draw. */
export function overShape(op: string, name: string, value: Tensor, shape: readonly number[]): Tensor {
  const before = shape.length - value.ndim
  if (before < 0 || !value.shape.every((n, i) => n === 1 || n === shape[before + i])) {
    throw new ShapeError(`${op}: '${name}' of shape [${value.shape.join(', ')}] does not broadcast to the shape [${shape.join(', ')}]`)
  }
  return value.broadcastTo(shape)
}

/** A draw under a key. */
function draw(name: keyof typeof OP & `random.${string}`, key: unknown, attrs: readonly unknown[], params: readonly unknown[]): Tensor {
  return one(OP[name], [keyGiven(name, key)], attrs, params)
}

/** A finite number, or what stands for one left out. */
export function finite(op: string, name: string, value: unknown, fallback: number): number {
  if (value === undefined) return fallback
  if (!Number.isFinite(value)) throw new ArgumentError(`${op}: '${name}' must be a finite number, got ${shown(value)}`)
  return value as number
}

const seedError = (seed: unknown) =>
  new ArgumentError(`random.key: the seed must be an integer from 0 to 2^64 - 1 (a bigint above 2^53 - 1), got ${shown(seed)}`)

/**
 * The key of a seed: an integer, or a bigint of up to 64 bits.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for anything else.
 */
export function key(seed: number | bigint, options?: { readonly device?: Device | undefined }): Key {
  const o = checkOptions('random.key', options, ['device'])
  if (typeof seed !== 'bigint' && !Number.isSafeInteger(seed)) throw seedError(seed)
  const bits = BigInt(seed)
  if (bits < 0n || bits >> 64n !== 0n) throw seedError(seed)
  const words = new Uint32Array([Number(bits & 0xffffffffn), Number(bits >> 32n)])
  return upload('random.key', DTYPE.uint32, [2], deviceNumber('random.key', o['device']), new Uint8Array(words.buffer)) as Key
}

/** Keys of one `split`: each is an object of its own, and V8 ends the process where its heap ends. */
const MOST_KEYS = 2 ** 20

/**
 * `count` (2) independent keys, as an array: a tuple where the number is known.
 *
 * @throws {TensorError} `ERR_SHAPE` for a count that is negative or above 2^20, `ERR_ARGUMENT` for a key that is none.
 */
export function split<N extends number = 2>(key: Key, count: N = 2 as N): Tuple<Key, N> {
  if (typeof count === 'number' && count > MOST_KEYS) throw new ShapeError(`random.split: ${count} keys are too many for an array; fold a number into a key instead`)
  return [...draw('random.split', key, [count], [])] as Tuple<Key, N>
}

/** The key of a number (an index, a step) under a key. */
export function fold(key: Key, data: number): Key {
  return draw('random.fold', key, [], [data]) as Key
}

/** Random bits: uint32, or uint64 by `dtype`. */
export function bits<E extends 'uint32' | 'uint64' = 'uint32'>(key: Key, shape: readonly number[], options?: BitsOptions<E>): Tensor<NoInfer<E>> {
  const o = checkOptions('random.bits', options, ['dtype'])
  return draw('random.bits', key, [shape, o['dtype']], []) as Tensor<E>
}

/** Draws from the exponential distribution of mean 1: minus the logarithm of a uniform number in (0, 1]. */
export function standardExponential(key: Key, shape: readonly number[], dtype: FloatDType | undefined): Tensor {
  return uniform(key, shape, { dtype }).negative().log1p().negative()
}

/**
 * Draws from the uniform distribution on [low, high), multiples of 2^-24 (float64: 2^-53) before scaling.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for bounds that are not finite or where `low` is above `high`.
 */
export function uniform<E extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: UniformOptions<E>): Tensor<NoInfer<E>> {
  const o = checkOptions('random.uniform', options, ['dtype', 'low', 'high'])
  const op = 'random.uniform'
  const [low, high] = [finite(op, 'low', o['low'], 0), finite(op, 'high', o['high'], 1)]
  if (low > high) throw new ArgumentError(`${op}: low ${low} is above high ${high}`)
  return draw(op, key, [shape, o['dtype']], [low, high]) as Tensor<E>
}

/**
 * Draws from the normal distribution (Box and Muller, 1958).
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a mean that is not finite, or a standard deviation that is not or is negative.
 */
export function normal<E extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: NormalOptions<E>): Tensor<NoInfer<E>> {
  const o = checkOptions('random.normal', options, ['dtype', 'mean', 'std'])
  const op = 'random.normal'
  const [mean, std] = [finite(op, 'mean', o['mean'], 0), finite(op, 'std', o['std'], 1)]
  if (std < 0) throw new ArgumentError(`${op}: 'std' must not be negative, got ${std}`)
  return draw(op, key, [shape, o['dtype']], [mean, std]) as Tensor<E>
}

/** The dtype of integers whose bounds are these, where none is named: int64 of bigints. */
export type BoundsDType<T> = [T] extends [number] ? 'int32' : 'int64'

/** A bound of a range: an integer that JavaScript holds exactly. */
function bound(op: string, name: string, value: unknown): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value)) {
    throw new ArgumentError(`${op}: '${name}' ${value} is beyond 2^53 - 1; write it as a bigint, ${value}n`)
  }
  return BigInt(integer(op, name, value))
}

/** A number of up to 64 bits and one more, or a negative one of 64, in two words, the lower one first. */
function words(n: bigint): [number, number] {
  return [Number(n & 0xffffffffn), Number(n >> 32n)]
}

/**
 * Integers from `low` (included) to `high` (excluded), all of the same probability (within 2^-128); int32 by default, int64 where
 * a bound is a bigint, which reach all of int64 and uint64.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for bounds that are not integers, numbers beyond 2^53 - 1, or an empty range, `ERR_DTYPE` for a range
 * that the dtype does not hold.
 * @example
 * ```ts
 * ft.random.randint(ft.random.key(1), 5, 6, [3]) // [5, 5, 5]
 * ft.random.randint(ft.random.key(1), 2n ** 63n - 1n, 2n ** 63n, []).itemSync() // 9223372036854775807n
 * ```
 */
export function randint<L extends number | bigint, H extends number | bigint, E extends IntegerDType = BoundsDType<L | H>>(
  key: Key,
  low: L,
  high: H,
  shape: readonly number[],
  options?: RandintOptions<E>
): Tensor<NoInfer<E>> {
  const op = 'random.randint'
  keyGiven(op, key)
  const o = checkOptions(op, options, ['dtype'])
  const [first, end] = [bound(op, 'low', low), bound(op, 'high', high)]
  const dtype = dtypeOption(op, o['dtype'], typeof low === 'bigint' || typeof high === 'bigint' ? 'int64' : 'int32')
  const { min, max } = DTYPE[dtype]
  if (first >= end) throw new ArgumentError(`${op}: the range from ${first} to ${end} (excluded) is empty`)
  // What is no integer dtype has no bounds here, and is refused by Rust.
  const held = min === null || (first >= BigInt(min) && end - 1n <= BigInt(max as number | bigint))
  if (!held) throw new DTypeError(`${op}: ${dtype} does not hold the range from ${first} to ${end} (excluded); name another dtype`)
  return draw(op, key, [shape, dtype], [...words(first), ...words(end - first)]) as Tensor<E>
}

/** The numbers 0 to `count - 1` in random order, int32. */
export function permutation(key: Key, count: number): Tensor<'int32'> {
  const op = 'random.permutation'
  if (isTensor(count)) throw new ArgumentError(`${op}: 'count' must be an integer, got a Tensor; the rows of a tensor are shuffled by ft.random.shuffle(key, x)`)
  return draw(op, key, [count], []) as Tensor<'int32'>
}

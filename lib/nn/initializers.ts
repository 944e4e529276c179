// `ft.nn.init`: first values of weights. Weights are laid out [outputs, inputs, window...], as PyTorch has them.

import { checkOptions } from '../arguments/options.js'
import { dtypeOption, shapeGiven } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { ArgumentError, DTypeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type FloatDType } from '../generated/dtypes.js'
import { ones as onesOf, where, zeros as zerosOf } from '../generated/functions.js'
import { qr } from '../generated/linalg.js'
import { truncatedNormal as drawTruncated } from '../random/distributions.js'
import { keyGiven, normal as drawNormal, uniform as drawUniform, type Key } from '../random/draw.js'
import type { Tensor } from '../tensor/tensor.js'
import { fans } from './fans.js'


/** The dtype that an initialiser makes. */
export interface DrawOptions<D extends FloatDType = FloatDType> {
  /** The dtype; float32 by default. */
  readonly dtype?: D | undefined
}

/** Makes the first values of a weight: the same key gives the same values, on the key's device. */
export type Initializer = (key: Key, shape: readonly number[], options?: DrawOptions) => Tensor

/** Options of initialisers that are scaled. */
export interface GainOptions<D extends FloatDType = FloatDType> extends DrawOptions<D> {
  /** What the standard deviation is multiplied by: 1 by default, the square root of 2 for He's, which is for ReLU. */
  readonly gain?: number | undefined
}

/** Options of He's and LeCun's initialisers. */
export interface FanOptions<D extends FloatDType = FloatDType> extends GainOptions<D> {
  /** Whether the variance is kept forwards ('fanIn', the default) or backwards. */
  readonly mode?: 'fanIn' | 'fanOut' | undefined
}

/** Options of `nn.init.truncatedNormal`. */
export interface TruncatedOptions<D extends FloatDType = FloatDType> extends DrawOptions<D> {
  /** Standard deviation before the ends are cut at two of them; 0.02 by default. */
  readonly std?: number | undefined
}

interface Wanted {
  readonly op: string
  readonly shape: readonly number[]
  readonly dtype: FloatDType
  readonly gain: number
  readonly mode: unknown
}

function wanted(op: string, key: unknown, shape: unknown, options: unknown, names: readonly string[], gain: number): Wanted {
  keyGiven(op, key)
  const o = checkOptions(op, options, ['dtype', ...names])
  const given = o['gain'] ?? gain
  if (typeof given !== 'number' || !Number.isFinite(given)) throw new ArgumentError(`${op}: 'gain' must be a finite number, got ${shown(given)}`)
  const mode = o['mode'] ?? 'fanIn'
  if (mode !== 'fanIn' && mode !== 'fanOut') throw new ArgumentError(`${op}: 'mode' must be 'fanIn' or 'fanOut', got ${shown(mode)}`)
  const dtype = dtypeOption(op, o['dtype'], 'float32')
  if (DTYPE[dtype].kind !== 'float') throw new DTypeError(`${op}: takes a floating dtype, got ${dtype}`)
  return { op, shape: shapeGiven(op, shape), dtype: dtype as FloatDType, gain: given, mode }
}

/** Draws from the uniform distribution of a standard deviation. */
function uniformOf(key: Key, { op, shape, dtype }: Wanted, std: number): Tensor {
  const bound = std * Math.sqrt(3)
  return within(op, () => drawUniform(key, shape, { dtype, low: -bound, high: bound }))
}

function normalOf(key: Key, { op, shape, dtype }: Wanted, std: number): Tensor {
  return within(op, () => drawNormal(key, shape, { dtype, std }))
}

function glorotDeviation({ op, shape, gain }: Wanted): number {
  const { fanIn, fanOut } = fans(op, shape)
  return gain * Math.sqrt(2 / (fanIn + fanOut))
}

function fanDeviation({ op, shape, gain, mode }: Wanted): number {
  const { fanIn, fanOut } = fans(op, shape)
  return gain / Math.sqrt(mode === 'fanIn' ? fanIn : fanOut)
}

/**
 * Draws from the uniform distribution with the variance `gain^2 2 / (inputs + outputs)` (Glorot and Bengio, 2010). PyTorch `nn.init.xavier_uniform_`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an argument that is not a key, `ERR_SHAPE` for fewer than two axes.
 * @example
 * ```ts
 * ft.nn.init.glorotUniform(ft.random.key(1), [2, 4]).abs().max().lessEqual(1) // true
 * ```
 */
export function glorotUniform<D extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: GainOptions<D>): Tensor<NoInfer<D>> {
  const want = wanted('nn.init.glorotUniform', key, shape, options, ['gain'], 1)
  return uniformOf(key, want, glorotDeviation(want)) as Tensor<D>
}

/**
 * Draws from the normal distribution with the variance `gain^2 2 / (inputs + outputs)` (Glorot and Bengio, 2010). PyTorch `nn.init.xavier_normal_`.
 *
 * @throws {TensorError} as {@link glorotUniform}.
 * @example
 * ```ts
 * ft.nn.init.glorotNormal(ft.random.key(1), [2, 4]).shape // [2, 4]
 * ```
 */
export function glorotNormal<D extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: GainOptions<D>): Tensor<NoInfer<D>> {
  const want = wanted('nn.init.glorotNormal', key, shape, options, ['gain'], 1)
  return normalOf(key, want, glorotDeviation(want)) as Tensor<D>
}

/**
 * Draws from the uniform distribution with the variance `gain^2 / inputs`, for ReLU by default (He et al., 2015). PyTorch `nn.init.kaiming_uniform_`.
 *
 * @throws {TensorError} as {@link glorotUniform}, and `ERR_ARGUMENT` for an unknown mode.
 * @example
 * ```ts
 * ft.nn.init.heUniform(ft.random.key(1), [2, 6]).abs().max().lessEqual(1) // true
 * ```
 */
export function heUniform<D extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: FanOptions<D>): Tensor<NoInfer<D>> {
  const want = wanted('nn.init.heUniform', key, shape, options, ['gain', 'mode'], Math.SQRT2)
  return uniformOf(key, want, fanDeviation(want)) as Tensor<D>
}

/**
 * Draws from the normal distribution with the variance `gain^2 / inputs`, for ReLU by default (He et al., 2015). PyTorch `nn.init.kaiming_normal_`.
 *
 * @throws {TensorError} as {@link heUniform}.
 * @example
 * ```ts
 * ft.nn.init.heNormal(ft.random.key(1), [8, 3, 5, 5]).shape // [8, 3, 5, 5]
 * ```
 */
export function heNormal<D extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: FanOptions<D>): Tensor<NoInfer<D>> {
  const want = wanted('nn.init.heNormal', key, shape, options, ['gain', 'mode'], Math.SQRT2)
  return normalOf(key, want, fanDeviation(want)) as Tensor<D>
}

/**
 * Draws from the normal distribution with the variance `gain^2 / inputs` (LeCun et al., 1998), for linear layers and SELU.
 *
 * @throws {TensorError} as {@link heUniform}.
 * @example
 * ```ts
 * ft.nn.init.lecunNormal(ft.random.key(1), [2, 4]).shape // [2, 4]
 * ```
 */
export function lecunNormal<D extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: FanOptions<D>): Tensor<NoInfer<D>> {
  const want = wanted('nn.init.lecunNormal', key, shape, options, ['gain', 'mode'], 1)
  return normalOf(key, want, fanDeviation(want)) as Tensor<D>
}

/**
 * Draws from the uniform distribution between `-1 / sqrt(inputs)` and `1 / sqrt(inputs)`: what PyTorch's linear and convolutional layers start from.
 *
 * @throws {TensorError} as {@link glorotUniform}.
 * @example
 * ```ts
 * ft.nn.init.fanInUniform(ft.random.key(1), [2, 4]).abs().max().lessEqual(0.5) // true
 * ```
 */
export function fanInUniform<D extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: DrawOptions<D>): Tensor<NoInfer<D>> {
  const want = wanted('nn.init.fanInUniform', key, shape, options, [], 1 / Math.sqrt(3))
  return uniformOf(key, want, fanDeviation(want)) as Tensor<D>
}

/**
 * A matrix [outputs, inputs times window] whose rows, or whose columns if those are fewer, are orthonormal, times the gain (Saxe et al.,
 * 2013): Q of the QR decomposition of normal numbers, with R's diagonal positive. PyTorch `nn.init.orthogonal_`.
 *
 * @throws {TensorError} as {@link glorotUniform}.
 * @example
 * ```ts
 * const w = ft.nn.init.orthogonal(ft.random.key(1), [2, 3])
 * w.matmul(w.matrixTranspose()) // [[1, 0], [0, 1]]
 * ```
 */
export function orthogonal<D extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: GainOptions<D>): Tensor<NoInfer<D>> {
  const want = wanted('nn.init.orthogonal', key, shape, options, ['gain'], 1)
  const [outputs = 0, ...rest] = want.shape
  fans(want.op, want.shape)
  const inputs = rest.reduce((n, size) => n * size, 1)
  return within(want.op, () => {
    // Half floats have no decomposition of their own, and would lose the right angles.
    const drawn = drawNormal(key, [Math.max(outputs, inputs), Math.min(outputs, inputs)], { dtype: want.dtype === 'float64' ? 'float64' : 'float32' })
    const { q, r } = qr(drawn)
    const diagonal = r.diagonal()
    const columns = q.mul(where(diagonal.less(0), -want.gain, want.gain).astype(q.dtype))
    return (outputs < inputs ? columns.matrixTranspose() : columns).reshape(want.shape).astype(want.dtype) as Tensor<D>
  })
}

/**
 * Draws from the normal distribution, none farther from 0 than two standard deviations: what transformers start from.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an argument that is not a key, and for a standard deviation that is not above 0.
 * @example
 * ```ts
 * ft.nn.init.truncatedNormal(ft.random.key(1), [100], { std: 0.1 }).abs().max().lessEqual(0.2) // true
 * ```
 */
export function truncatedNormal<D extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: TruncatedOptions<D>): Tensor<NoInfer<D>> {
  const op = 'nn.init.truncatedNormal'
  keyGiven(op, key)
  const o = checkOptions(op, options, ['dtype', 'std'])
  return within(op, () => drawTruncated(key, shape, { dtype: o['dtype'] as D | undefined, std: (o['std'] ?? 0.02) as number })) as Tensor<D>
}

/**
 * Draws from the normal distribution with mean 0 and variance 1: what embeddings start from.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an argument that is not a key.
 * @example
 * ```ts
 * ft.nn.init.standardNormal(ft.random.key(1), [3]).shape // [3]
 * ```
 */
export function standardNormal<D extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: DrawOptions<D>): Tensor<NoInfer<D>> {
  return normalOf(key, wanted('nn.init.standardNormal', key, shape, options, [], 1), 1) as Tensor<D>
}

/**
 * Zeros: what biases often start from.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an argument that is not a key.
 * @example
 * ```ts
 * ft.nn.init.zeros(ft.random.key(1), [2]) // [0, 0]
 * ```
 */
export function zeros<D extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: DrawOptions<D>): Tensor<NoInfer<D>> {
  const { op, shape: sizes, dtype } = wanted('nn.init.zeros', key, shape, options, [], 1)
  return within(op, () => zerosOf(sizes, { dtype, device: key.device })) as Tensor<D>
}

/**
 * Ones: what the weights of norms start from.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an argument that is not a key.
 * @example
 * ```ts
 * ft.nn.init.ones(ft.random.key(1), [2]) // [1, 1]
 * ```
 */
export function ones<D extends FloatDType = 'float32'>(key: Key, shape: readonly number[], options?: DrawOptions<D>): Tensor<NoInfer<D>> {
  const { op, shape: sizes, dtype } = wanted('nn.init.ones', key, shape, options, [], 1)
  return within(op, () => onesOf(sizes, { dtype, device: key.device })) as Tensor<D>
}

// Rectifiers and sigmoids as layers, with PyTorch's names and arguments. A `Sequential` takes their functions too.

import { checkOptions } from '../arguments/options.js'
import { within } from '../arguments/within.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { FloatDType } from '../generated/dtypes.js'
import { full, relu, sigmoid, tanh } from '../generated/functions.js'
import { celu, elu, gelu, leakyRelu, logSigmoid, mish, prelu, relu6, selu, silu, type GeluOptions } from '../generated/nn.js'
import { keyGiven, type Key } from '../random/draw.js'
import type { Tensor } from '../tensor/tensor.js'
import type { OfDType } from './dtypes.js'
import { Module, type InitOptions } from './module.js'
import { layerOptions, shaped, size } from './options.js'
import { Stateless } from './stateless.js'

type F = Tensor<'float32'>

/** A finite argument of a constructor. */
export function finite(op: string, name: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new ArgumentError(`${op}: '${name}' must be a finite number, got ${shown(value)}`)
  return value
}

/**
 * max(0, x): `relu` as a layer. PyTorch `nn.ReLU`.
 * @example
 * ```ts
 * new ft.nn.ReLU().apply(null, ft.tensor([-1, 2])) // [0, 2]
 * ```
 */
export class ReLU extends Stateless<'kept'> {
  protected of(x: Tensor): Tensor {
    return relu(x as F)
  }
}

/**
 * min(max(0, x), 6): `nn.relu6` as a layer. PyTorch `nn.ReLU6`.
 * @example
 * ```ts
 * new ft.nn.ReLU6().apply(null, ft.tensor([-1, 8])) // [0, 6]
 * ```
 */
export class ReLU6 extends Stateless<'promoted'> {
  protected of(x: Tensor): Tensor {
    return relu6(x as F)
  }
}

/**
 * x, times a slope where it is negative: `nn.leakyRelu` as a layer. PyTorch `nn.LeakyReLU`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not finite.
 * @example
 * ```ts
 * new ft.nn.LeakyReLU(0.5).apply(null, ft.tensor([-1, 2])) // [-0.5, 2]
 * ```
 */
export class LeakyReLU extends Stateless<'promoted'> {
  readonly negativeSlope: number

  constructor(negativeSlope: number = 0.01) {
    super()
    this.negativeSlope = finite(this.name, 'negativeSlope', negativeSlope)
  }

  protected of(x: Tensor): Tensor {
    return leakyRelu(x as F, { negativeSlope: this.negativeSlope })
  }
}

/**
 * alpha (e^x - 1) where x is negative: `nn.elu` as a layer. PyTorch `nn.ELU`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not finite.
 * @example
 * ```ts
 * new ft.nn.ELU().apply(null, ft.tensor([0, 2])) // [0, 2]
 * ```
 */
export class ELU extends Stateless<'promoted'> {
  readonly alpha: number

  constructor(alpha: number = 1) {
    super()
    this.alpha = finite(this.name, 'alpha', alpha)
  }

  protected of(x: Tensor): Tensor {
    return elu(x as F, { alpha: this.alpha })
  }
}

/**
 * `nn.celu` as a layer. PyTorch `nn.CELU`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not finite.
 * @example
 * ```ts
 * new ft.nn.CELU().apply(null, ft.tensor([0, 2])) // [0, 2]
 * ```
 */
export class CELU extends Stateless<'promoted'> {
  readonly alpha: number

  constructor(alpha: number = 1) {
    super()
    this.alpha = finite(this.name, 'alpha', alpha)
  }

  protected of(x: Tensor): Tensor {
    return celu(x as F, { alpha: this.alpha })
  }
}

/**
 * `nn.selu` as a layer. PyTorch `nn.SELU`.
 * @example
 * ```ts
 * new ft.nn.SELU().apply(null, ft.tensor([0, 1])) // [0, 1.050701]
 * ```
 */
export class SELU extends Stateless<'promoted'> {
  protected of(x: Tensor): Tensor {
    return selu(x as F)
  }
}

/**
 * 1 / (1 + e^-x): `sigmoid` as a layer. PyTorch `nn.Sigmoid`.
 * @example
 * ```ts
 * new ft.nn.Sigmoid().apply(null, ft.tensor([0])) // [0.5]
 * ```
 */
export class Sigmoid extends Stateless<'promoted'> {
  protected of(x: Tensor): Tensor {
    return sigmoid(x as F)
  }
}

/**
 * The logarithm of the sigmoid: `nn.logSigmoid` as a layer. PyTorch `nn.LogSigmoid`.
 * @example
 * ```ts
 * new ft.nn.LogSigmoid().apply(null, ft.tensor([0])) // [-0.6931472]
 * ```
 */
export class LogSigmoid extends Stateless<'promoted'> {
  protected of(x: Tensor): Tensor {
    return logSigmoid(x as F)
  }
}

/**
 * `tanh` as a layer. PyTorch `nn.Tanh`.
 * @example
 * ```ts
 * new ft.nn.Tanh().apply(null, ft.tensor([0])) // [0]
 * ```
 */
export class Tanh extends Stateless<'promoted'> {
  protected of(x: Tensor): Tensor {
    return tanh(x as F)
  }
}

/**
 * x sigmoid(x): `nn.silu` as a layer. PyTorch `nn.SiLU`.
 * @example
 * ```ts
 * new ft.nn.SiLU().apply(null, ft.tensor([0])) // [0]
 * ```
 */
export class SiLU extends Stateless<'promoted'> {
  protected of(x: Tensor): Tensor {
    return silu(x as F)
  }
}

/**
 * x tanh(softplus(x)): `nn.mish` as a layer. PyTorch `nn.Mish`.
 * @example
 * ```ts
 * new ft.nn.Mish().apply(null, ft.tensor([0])) // [0]
 * ```
 */
export class Mish extends Stateless<'promoted'> {
  protected of(x: Tensor): Tensor {
    return mish(x as F)
  }
}

/**
 * x times the share of a normal distribution below it: `nn.gelu` as a layer. PyTorch `nn.GELU`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for options out of range.
 * @example
 * ```ts
 * new ft.nn.GELU({ approximate: 'tanh' }).apply(null, ft.tensor([0])) // [0]
 * ```
 */
export class GELU extends Stateless<'promoted'> {
  readonly #options: GeluOptions

  constructor(options?: GeluOptions) {
    super()
    this.#options = layerOptions<GeluOptions>(this.name, options, ['approximate'])
    const { approximate } = this.#options
    if (approximate !== undefined && approximate !== 'none' && approximate !== 'tanh') throw new ArgumentError(`${this.name}: 'approximate' must be 'none' or 'tanh', got ${shown(approximate)}`)
  }

  protected of(x: Tensor): Tensor {
    return gelu(x as F, this.#options)
  }
}

/** Parameters of `nn.PReLU`. */
export interface PReLUParams {
  /** [channels] */
  readonly weight: Tensor
}

/**
 * x, times a slope that is learned where it is negative: one for all, or one for each channel of x [batch, channels, ...]. PyTorch `nn.PReLU`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for numbers out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.PReLU(1, 0.5)
 * layer.apply(layer.init(ft.random.key(1)), ft.tensor([-1, 2])) // [-0.5, 2]
 * ```
 */
export class PReLU extends Module<PReLUParams, null, 'promoted'> {
  readonly channels: number
  readonly #start: number

  constructor(channels: number = 1, start: number = 0.25) {
    super()
    this.channels = size(this.name, 'channels', channels)
    this.#start = finite(this.name, 'start', start)
  }

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): OfDType<PReLUParams, E> {
    const { device } = keyGiven(this.name, key)
    const { dtype } = checkOptions(this.name, options, ['dtype']) as InitOptions
    return { weight: full([this.channels], this.#start, { dtype: dtype ?? 'float32', device }) } as unknown as OfDType<PReLUParams, E>
  }

  protected run(params: PReLUParams, x: Tensor): readonly [Tensor, null] {
    const { name, channels } = this
    const { weight } = shaped(name, params, { weight: [channels] })
    if (channels > 1 && (x.ndim < 2 || x.shape[1] !== channels)) throw new ShapeError(`${name}: x must have shape [batch, ${channels}, ...], got [${x.shape.join(', ')}]`)
    const slopes = channels === 1 ? weight : weight.reshape([channels, ...x.shape.slice(2).map(() => 1)])
    return [within(name, () => prelu(tensorGiven(name, 'x', x) as F, slopes as F)) as Tensor, null]
  }
}

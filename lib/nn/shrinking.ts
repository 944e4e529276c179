// Functions between a line and none as layers, and shares, with PyTorch's names and arguments. A `Sequential` takes their functions too.

import { integer } from '../arguments/validate.js'
import { logSoftmax, softmax } from '../generated/functions.js'
import { hardshrink, hardsigmoid, hardswish, hardtanh, softshrink, softsign, tanhshrink } from '../generated/nn.js'
import type { Tensor } from '../tensor/tensor.js'
import { finite } from './activations.js'
import { softmin } from './functions.js'
import { softplus } from './softplus.js'
import { Stateless } from './stateless.js'

type F = Tensor<'float32'>

/**
 * ln(1 + e^(beta x)) / beta, and x itself where beta x is above a limit: `nn.softplus` as a layer. PyTorch `nn.Softplus`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not finite.
 * @example
 * ```ts
 * new ft.nn.Softplus().apply(null, ft.tensor([0])) // [0.6931472]
 * ```
 */
export class Softplus extends Stateless<'promoted'> {
  readonly beta: number
  readonly threshold: number

  constructor(beta: number = 1, threshold: number = 20) {
    super()
    this.beta = finite(this.name, 'beta', beta)
    this.threshold = finite(this.name, 'threshold', threshold)
  }

  protected of(x: Tensor): Tensor {
    return softplus(x as F, { beta: this.beta, threshold: this.threshold })
  }
}

/**
 * x / (1 + |x|): `nn.softsign` as a layer. PyTorch `nn.Softsign`.
 * @example
 * ```ts
 * new ft.nn.Softsign().apply(null, ft.tensor([1])) // [0.5]
 * ```
 */
export class Softsign extends Stateless<'promoted'> {
  protected of(x: Tensor): Tensor {
    return softsign(x as F)
  }
}

/**
 * x - tanh(x): `nn.tanhshrink` as a layer. PyTorch `nn.Tanhshrink`.
 * @example
 * ```ts
 * new ft.nn.Tanhshrink().apply(null, ft.tensor([0])) // [0]
 * ```
 */
export class Tanhshrink extends Stateless<'promoted'> {
  protected of(x: Tensor): Tensor {
    return tanhshrink(x as F)
  }
}

/**
 * x between two ends: `nn.hardtanh` as a layer. PyTorch `nn.Hardtanh`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not finite.
 * @example
 * ```ts
 * new ft.nn.Hardtanh(0, 2).apply(null, ft.tensor([-1, 1, 3])) // [0, 1, 2]
 * ```
 */
export class Hardtanh extends Stateless<'promoted'> {
  readonly min: number
  readonly max: number

  constructor(min: number = -1, max: number = 1) {
    super()
    this.min = finite(this.name, 'min', min)
    this.max = finite(this.name, 'max', max)
  }

  protected of(x: Tensor): Tensor {
    return hardtanh(x as F, { min: this.min, max: this.max })
  }
}

/**
 * `nn.hardsigmoid` as a layer. PyTorch `nn.Hardsigmoid`.
 * @example
 * ```ts
 * new ft.nn.Hardsigmoid().apply(null, ft.tensor([0])) // [0.5]
 * ```
 */
export class Hardsigmoid extends Stateless<'promoted'> {
  protected of(x: Tensor): Tensor {
    return hardsigmoid(x as F)
  }
}

/**
 * `nn.hardswish` as a layer. PyTorch `nn.Hardswish`.
 * @example
 * ```ts
 * new ft.nn.Hardswish().apply(null, ft.tensor([4])) // [4]
 * ```
 */
export class Hardswish extends Stateless<'promoted'> {
  protected of(x: Tensor): Tensor {
    return hardswish(x as F)
  }
}

/**
 * 0 where |x| is at most lambda, else x: `nn.hardshrink` as a layer. PyTorch `nn.Hardshrink`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not finite.
 * @example
 * ```ts
 * new ft.nn.Hardshrink().apply(null, ft.tensor([0.25, 1])) // [0, 1]
 * ```
 */
export class Hardshrink extends Stateless<'promoted'> {
  readonly lambda: number

  constructor(lambda: number = 0.5) {
    super()
    this.lambda = finite(this.name, 'lambda', lambda)
  }

  protected of(x: Tensor): Tensor {
    return hardshrink(x as F, { lambda: this.lambda })
  }
}

/**
 * x nearer to 0 by lambda: `nn.softshrink` as a layer. PyTorch `nn.Softshrink`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for a number that is not finite.
 * @example
 * ```ts
 * new ft.nn.Softshrink().apply(null, ft.tensor([0.25, 1])) // [0, 0.5]
 * ```
 */
export class Softshrink extends Stateless<'promoted'> {
  readonly lambda: number

  constructor(lambda: number = 0.5) {
    super()
    this.lambda = finite(this.name, 'lambda', lambda)
  }

  protected of(x: Tensor): Tensor {
    return softshrink(x as F, { lambda: this.lambda })
  }
}

/**
 * Shares that add up to 1 along an axis, the last by default: `softmax` as a layer. PyTorch `nn.Softmax`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an axis that is not an integer; `ERR_INDEX` at the call for one out of range.
 * @example
 * ```ts
 * new ft.nn.Softmax(1).apply(null, ft.tensor([[0, 0]])) // [[0.5, 0.5]]
 * ```
 */
export class Softmax extends Stateless<'promoted'> {
  readonly axis: number

  constructor(axis: number = -1) {
    super()
    this.axis = integer(this.name, 'axis', axis)
  }

  protected of(x: Tensor): Tensor {
    return softmax(x as F, { axis: this.axis })
  }
}

/**
 * Logarithms of shares that add up to 1 along an axis, the last by default: `logSoftmax` as a layer. PyTorch `nn.LogSoftmax`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an axis that is not an integer; `ERR_INDEX` at the call for one out of range.
 * @example
 * ```ts
 * new ft.nn.LogSoftmax(1).apply(null, ft.tensor([[0, 0]])) // [[-0.6931472, -0.6931472]]
 * ```
 */
export class LogSoftmax extends Stateless<'promoted'> {
  readonly axis: number

  constructor(axis: number = -1) {
    super()
    this.axis = integer(this.name, 'axis', axis)
  }

  protected of(x: Tensor): Tensor {
    return logSoftmax(x as F, { axis: this.axis })
  }
}

/**
 * Softmin along an axis, the last by default: `nn.softmin` as a layer. PyTorch `nn.Softmin`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an axis that is not an integer; `ERR_INDEX` at the call for one out of range.
 * @example
 * ```ts
 * new ft.nn.Softmin(1).apply(null, ft.tensor([[0, 0]])) // [[0.5, 0.5]]
 * ```
 */
export class Softmin extends Stateless<'promoted'> {
  readonly axis: number

  constructor(axis: number = -1) {
    super()
    this.axis = integer(this.name, 'axis', axis)
  }

  protected of(x: Tensor): Tensor {
    return softmin(x as F, { axis: this.axis })
  }
}

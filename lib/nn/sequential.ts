// Layers after one another, and layers that drop something while they are trained.

import { within } from '../arguments/within.js'
import { ArgumentError, TensorError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, FloatDType } from '../generated/dtypes.js'
import { isTensor } from '../program/node.js'
import { fold, keyGiven, type Key } from '../random/draw.js'
import type { Tensor } from '../tensor/tensor.js'
import type { FreshOf, ParamsOf } from './dtypes.js'
import { channelDropout, dropout } from './functions.js'
import { Module, type InitOptions, type Layer, type Run, type StateOf, type StateOptions } from './module.js'
import { layerOptions, ranged } from './options.js'

/** Options of `nn.Dropout` and `nn.ChannelDropout`. */
export interface DropoutLayerOptions {
  /** How likely an element, or a channel, is to be dropped while training, from 0 to 1; 0.5 by default. */
  readonly p?: number | undefined
}

/** What layers that drop something have in common. */
abstract class Dropping extends Module<null, null, 'promoted'> {
  readonly p: number

  constructor(options?: number | DropoutLayerOptions) {
    super()
    const p = typeof options === 'number' ? options : layerOptions<DropoutLayerOptions>(this.name, options, ['p']).p
    this.p = ranged(this.name, 'p', p, 0.5, 0, 1)
  }

  init(key: Key, _options?: InitOptions): null {
    keyGiven(this.name, key)
    return null
  }

  /** The tensor without what is dropped. */
  protected abstract drop(key: Key, x: Tensor): Tensor

  protected run(_params: null, x: Tensor, { training, key }: Run<null>): readonly [Tensor, null] {
    if (!training || this.p === 0) return [x, null]
    if (key === undefined) throw new ArgumentError(`${this.name}: what is dropped goes by a key; pass { key }`)
    return [within(this.name, () => this.drop(key, x)), null]
  }
}

/**
 * Sets elements to zero while it is trained, and nothing when it is applied (Srivastava et al., 2014). PyTorch `nn.Dropout`.
 *
 * @param options How likely an element is to be dropped, or an object of options.
 * @throws {TensorError} `ERR_ARGUMENT` for a probability outside [0, 1].
 * @example
 * ```ts
 * new ft.nn.Dropout(0.1).apply(null, ft.ones([2])) // [1, 1]
 * ```
 */
export class Dropout extends Dropping {
  protected drop(key: Key, x: Tensor): Tensor {
    return dropout(key, x, { p: this.p })
  }
}

/**
 * Sets whole channels of x [batch, channels, spatial...] to zero while it is trained, and nothing when it is applied (Tompson et al., 2015). PyTorch
 * `nn.Dropout1d`, `Dropout2d` and `Dropout3d`.
 *
 * @param options How likely a channel is to be dropped, or an object of options.
 * @throws {TensorError} `ERR_ARGUMENT` for a probability outside [0, 1].
 * @example
 * ```ts
 * new ft.nn.Dropout2d(0.1).apply(null, ft.ones([1, 2, 1, 1])) // [[[[1]], [[1]]]]
 * ```
 */
export class ChannelDropout extends Dropping {
  protected drop(key: Key, x: Tensor): Tensor {
    return channelDropout(key, x, { p: this.p })
  }
}

/**
 * Layers after one another, each a layer or a function of a tensor. Parameters and states are arrays with one for each; those of
 * functions are null. PyTorch `nn.Sequential`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for anything but layers and functions.
 * @example
 * ```ts
 * const model = new ft.nn.Sequential(new ft.nn.Linear(4, 8), ft.relu, new ft.nn.Linear(8, 2))
 * model.apply(model.init(ft.random.key(1)), ft.zeros([5, 4])).shape // [5, 2]
 * ```
 */
export class Sequential<L extends readonly Layer[]> extends Module<ParamsOf<L, DType>, StateOf<L>, L> {
  readonly layers: L

  constructor(...layers: L) {
    super()
    layers.forEach((layer: unknown, i) => {
      if (!(layer instanceof Module) && typeof layer !== 'function') throw new ArgumentError(`${this.name}: layer ${i} must be a layer or a function of a tensor, got ${shown(layer)}${Array.isArray(layer) ? '; spread the array: new ft.nn.Sequential(...layers)' : ''}`)
    })
    this.layers = layers
  }

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): FreshOf<L, ParamsOf<L, DType>, E> {
    keyGiven(this.name, key)
    return this.layers.map((layer, i) => (layer instanceof Module ? (layer as Module).init(fold(key, i), options) : null)) as FreshOf<L, ParamsOf<L, DType>, E>
  }

  override initState(options?: StateOptions): StateOf<L> {
    return this.layers.map((layer) => (layer instanceof Module ? (layer as Module).initState(options) : null)) as StateOf<L>
  }

  protected run(params: ParamsOf<L, DType>, x: Tensor, { training, state, key }: Run<StateOf<L>>): readonly [Tensor, StateOf<L>] {
    const { layers, name } = this
    const each = (what: string, list: unknown): readonly unknown[] => {
      if (Array.isArray(list) && list.length === layers.length) return list
      throw new ArgumentError(`${name}: the ${what} must be an array of ${layers.length}, one for each layer, got ${shown(list)}`)
    }
    const own = each('parameters', params)
    const states = state === undefined ? [] : each('state', state)
    const next: unknown[] = []
    const result = layers.reduce<Tensor>((value, layer, i) => {
      try {
        if (!(layer instanceof Module)) {
          next.push(null)
          const made: unknown = (layer as (x: Tensor) => unknown)(value)
          if (!isTensor(made)) throw new ArgumentError(`${name}: the function must return a tensor, got ${shown(made)}`)
          return made
        }
        const run = { training, state: states[i], key: key === undefined ? undefined : fold(key, i) }
        const [made, after] = Module.run(layer as Module, own[i], value, run)
        next.push(after)
        return made
      } catch (error) {
        throw located(`${name}: layer ${i}`, error)
      }
    }, x)
    return [result, next as StateOf<L>]
  }
}

/** An error of the library that says in which layer it arose; others as they are. */
function located(where: string, error: unknown): unknown {
  if (!(error instanceof TensorError)) return error
  return new (error.constructor as new (message: string) => TensorError)(`${where}: ${error.message}`)
}

// Layers: what their parameters are, and what they make of a tensor with them. A layer holds no tensor: parameters are trees that are
// passed, differentiated, optimised and saved like any other value.

import { checkOptions } from '../arguments/options.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, FloatDType } from '../generated/dtypes.js'
import { fold, keyGiven, type Key } from '../random/draw.js'
import { isPlain } from '../realm.js'
import type { Device } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import type { AppliedDType, FreshOf, ParamsOf } from './dtypes.js'

/** Options of `init`. */
export interface InitOptions<E extends FloatDType = FloatDType> {
  /** The dtype of the parameters; float32 by default. */
  readonly dtype?: E | undefined
}

/** Options of `initState`. */
export interface StateOptions extends InitOptions {
  /** The device of the state; `ft.setDefaultDevice` sets the default. */
  readonly device?: Device | undefined
}

/** What a layer is used with, as it is not trained. */
export interface ApplyOptions<S> {
  /** What the layer keeps apart from its parameters (running averages); layers without such need none. */
  readonly state?: S | undefined
}

/** What a layer is trained with. */
export interface TrainOptions<S> extends ApplyOptions<S> {
  /** For what is random (dropout); layers without such need none. */
  readonly key?: Key | undefined
}

/** A run of a layer: as it is trained or not, with what. */
export interface Run<S> extends TrainOptions<S> {
  readonly training: boolean
}

/**
 * A layer of parameters `P` (a tree of tensors, or null) and state `S` (likewise), from one tensor to another. Subclasses say what both
 * are, and how one `run` goes. `R` says what is known of dtypes: of layers of this library how a result's follows, of others nothing.
 */
export abstract class Module<P = unknown, S = unknown, R = unknown> {
  /** No value: what types are inferred from. */
  declare protected readonly $types?: { readonly params: P; readonly state: S; readonly rule: R }

  /** Fresh parameters: the same key gives the same ones, on the key's device. */
  abstract init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): FreshOf<R, P, E>

  /** One run, arguments checked: the result and the next state. */
  protected abstract run(params: P, x: Tensor, run: Run<S>): readonly [Tensor, S]

  /** The state before the first batch; null for a layer that keeps none. */
  initState(options?: StateOptions): S {
    checkOptions(this.name, options, ['dtype', 'device'])
    return null as S
  }

  /** The layer's name in errors. */
  get name(): string {
    return `nn.${this.constructor.name}`
  }

  /**
   * What the layer makes of a tensor when it is not being trained: nothing is dropped, norms go by running averages.
   *
   * @throws {TensorError} for parameters and tensors that do not fit the layer, naming it.
   */
  apply<Q extends P, D extends DType>(params: Q, x: Tensor<D>, options?: ApplyOptions<S>): Tensor<AppliedDType<R, Q, D>> {
    const { state } = checkOptions(this.name, options, ['state']) as ApplyOptions<S>
    return this.run(params, tensorGiven(this.name, 'x', x), { training: false, state })[0] as Tensor<AppliedDType<R, Q, D>>
  }

  /**
   * What the layer makes of a tensor while it is trained, and its next state.
   *
   * @throws {TensorError} as {@link Module.apply}; `ERR_ARGUMENT` without a key where something is random.
   */
  train<Q extends P, D extends DType>(params: Q, x: Tensor<D>, options?: TrainOptions<S>): [result: Tensor<AppliedDType<R, Q, D>>, state: S] {
    const { state, key } = checkOptions(this.name, options, ['state', 'key']) as TrainOptions<S>
    if (key !== undefined) keyGiven(this.name, key)
    const [result, next] = this.run(params, tensorGiven(this.name, 'x', x), { training: true, state, key })
    return [result as Tensor<AppliedDType<R, Q, D>>, next]
  }

  /** `run` for layers made of others. */
  static run<P, S>(layer: Module<P, S>, params: P, x: Tensor, run: Run<S>): readonly [Tensor, S] {
    return layer.run(params, x, run)
  }
}

/** A layer, or a function of a tensor, which has neither parameters nor state. */
export type Layer = Module<any, any, any> | (<D extends FloatDType>(x: Tensor<D>) => Tensor)

/** The state of a layer, or of a tree of layers. */
export type StateOf<L> = L extends Module<infer _, infer S, infer _> ? S : L extends (...args: never[]) => unknown ? null : { -readonly [K in keyof L]: StateOf<L[K]> }

/** Deeper trees of layers contain themselves, and an array's length may be that of nothing but holes. */
const DEEPEST = 64
const MOST_PARTS = 1 << 16

/** A tree of layers with what `f` makes of each, which is told how many came before it; null for functions. */
function mapLayers(op: string, tree: unknown, f: (layer: Module, n: number) => unknown): unknown {
  let n = 0
  let parts = 0
  const inner = (part: unknown, path: string, depth: number): unknown => {
    parts += Array.isArray(part) ? part.length : 1
    if (parts > MOST_PARTS) throw new ArgumentError(`${op}: the layers have more than ${MOST_PARTS} parts`)
    if (depth > DEEPEST) throw new ArgumentError(`${op}: the layers are nested deeper than ${DEEPEST} levels; they may contain themselves`)
    if (part instanceof Module) return f(part, n++)
    if (typeof part === 'function') return null
    if (Array.isArray(part)) return Array.from({ length: part.length }, (_, i) => inner(part[i], `${path}[${i}]`, depth + 1))
    if (isPlain(part)) return Object.fromEntries(Object.entries(part).map(([name, item]) => [name, inner(item, `${path}.${name}`, depth + 1)]))
    throw new ArgumentError(`${op}: layers${path} must be a layer or a function, or an object or array of such, got ${shown(part)}`)
  }
  return inner(tree, '', 0)
}

/**
 * Fresh parameters of layers in plain objects and arrays, in the same structure: `{ attention: new ft.nn.MultiHeadAttention(8, 2) }`
 * gives `{ attention: { inProjWeight, ... } }`.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for an argument that is not a key, and for anything but layers and functions in the tree.
 * @example
 * ```ts
 * ft.nn.initTree({ first: new ft.nn.Linear(3, 2), rest: [Math.abs] }, ft.random.key(1)).first.weight.shape // [2, 3]
 * ```
 */
export function initTree<L, E extends FloatDType = 'float32'>(layers: L, key: Key, options?: InitOptions<E>): ParamsOf<L, E> {
  const op = 'nn.initTree'
  keyGiven(op, key, '; the key comes after the layers: nn.initTree(layers, key)')
  checkOptions(op, options, ['dtype'])
  return mapLayers(op, layers, (layer, n) => layer.init(fold(key, n), options)) as ParamsOf<L, E>
}

/**
 * The states of layers in plain objects and arrays before the first batch, in the same structure.
 *
 * @throws {TensorError} `ERR_ARGUMENT` for anything but layers and functions in the tree.
 * @example
 * ```ts
 * ft.nn.initStateTree({ norm: new ft.nn.BatchNorm(2) }).norm?.runningVar // [1, 1]
 * ```
 */
export function initStateTree<L>(layers: L, options?: StateOptions): StateOf<L> {
  const op = 'nn.initStateTree'
  checkOptions(op, options, ['dtype', 'device'])
  return mapLayers(op, layers, (layer) => layer.initState(options)) as StateOf<L>
}

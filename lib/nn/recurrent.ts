// Recurrent layers over sequences [batch, time, features]: the plain one (Elman, 1990), LSTM (Hochreiter and Schmidhuber, 1997) and GRU (Cho et
// al., 2014), with the gates, names and layouts of PyTorch.

import { checkOptions } from '../arguments/options.js'
import { flag } from '../arguments/validate.js'
import { within } from '../arguments/within.js'
import { tensorGiven } from '../calls/operands.js'
import { ArgumentError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import type { DType, FloatDType, Promote } from '../generated/dtypes.js'
import { concat, stack, zeros } from '../generated/functions.js'
import { slice } from '../indexing/slice.js'
import { consecutive, piecesAt, split, unstack } from '../indexing/split.js'
import { fold, keyGiven, uniform, type Key } from '../random/draw.js'
import type { AsDType } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import { fused, isRunAtOnce, type Fused, settle } from '../transforms/fused.js'
import type { AppliedDType, OfDType } from './dtypes.js'
import { dropout } from './functions.js'
import { linear } from './linear.js'
import { Module, type InitOptions, type Run } from './module.js'
import { layerOptions, ranged, shaped, size } from './options.js'

/**
 * Parameters of recurrent layers, by PyTorch's names: `weightIhL0` [gates hidden, inputs], `weightHhL0` [gates hidden, hidden], `biasIhL0`
 * and `biasHhL0` [gates hidden]; `L1` and so on for layers above, and `Reverse` behind for the other direction.
 */
export type RecurrentParams = { readonly [name: string]: Tensor }

/** Options of recurrent layers. */
export interface RecurrentOptions {
  /** Layers above one another; 1 by default. */
  readonly layers?: number | undefined
  /** Whether there are biases; true by default. */
  readonly bias?: boolean | undefined
  /** Whether a second one runs backwards, its outputs beside the first one's; false by default. */
  readonly bidirectional?: boolean | undefined
  /** How likely an element between two layers is to be dropped while training; 0 by default. */
  readonly dropout?: number | undefined
}

/** What a cell carries from step to step: h, and for LSTM c, [batch, hidden]. */
type Carried = readonly Tensor[]

/** The hidden state's weight and bias. */
type Weights = readonly [weight: Tensor, bias: Tensor | undefined]

/** Steps that are one program: planning it takes 50 ms once, and running it as long as 20 operations take to record. */
const SEGMENT = 32
/** Steps from which on segments are: fewer take no longer to record than to hand over, forwards and back. */
const LEAST = 8

/** Lengths of the segments of so many steps, in the order in which they are run: the shorter one last. */
function segmentLengths(time: number): number[] {
  const whole = Array.from({ length: Math.floor(time / SEGMENT) }, () => SEGMENT)
  return time % SEGMENT === 0 ? whole : [...whole, time % SEGMENT]
}

/** Segments of steps, by the layer's kind. */
const FUSED = new WeakMap<object, Fused>()

/** What all recurrent layers have in common; a cell says what one step is. */
abstract class Recurrent extends Module<RecurrentParams, null, 'promoted'> {
  readonly inputs: number
  readonly hidden: number
  readonly layers: number
  readonly bidirectional: boolean
  readonly #bias: boolean
  readonly #dropout: number
  /** How many gates a step has, and how many tensors are carried. */
  protected abstract readonly gates: number
  protected abstract readonly carried: number

  constructor(inputs: number, hidden: number, options?: RecurrentOptions) {
    super()
    // A layer's own options are named here, where no argument can be taken for them.
    const more = this instanceof RNN ? ['nonlinearity'] : []
    const op = this.name
    this.inputs = size(op, 'inputs', inputs)
    this.hidden = size(op, 'hidden', hidden)
    const o = layerOptions<RecurrentOptions>(op, options, ['layers', 'bias', 'bidirectional', 'dropout', ...more] as (keyof RecurrentOptions)[])
    this.layers = size(op, 'layers', o.layers ?? 1)
    this.bidirectional = flag(op, 'bidirectional', o.bidirectional, false)
    this.#bias = flag(op, 'bias', o.bias, true)
    this.#dropout = ranged(op, 'dropout', o.dropout, 0, 0, 1)
  }

  /** What layers whose steps are the same have in common. */
  protected get kind(): object {
    return this.constructor
  }

  /** One step: the input's share of the gates [batch, gates hidden], what is carried, and the hidden state's weight and bias. */
  protected abstract step(gates: Tensor, before: Carried, weight: Tensor, bias: Tensor | undefined): Carried

  /** The runs of a pass, from the bottom up: each layer's, and behind it the other direction's. */
  #runs(): { readonly layer: number; readonly backwards: boolean; readonly suffix: string }[] {
    const directions = this.bidirectional ? [false, true] : [false]
    return Array.from({ length: this.layers }, (_, layer) => directions.map((backwards) => ({ layer, backwards, suffix: `L${layer}${backwards ? 'Reverse' : ''}` }))).flat()
  }

  /** The shapes of a run's parameters, in the order they are drawn in. */
  #shapes({ layer, suffix }: { readonly layer: number; readonly suffix: string }): [name: string, shape: readonly number[] | undefined][] {
    const rows = this.gates * this.hidden
    const inputs = layer === 0 ? this.inputs : this.hidden * (this.bidirectional ? 2 : 1)
    const bias = this.#bias ? [rows] : undefined
    return [
      [`weightIh${suffix}`, [rows, inputs]],
      [`weightHh${suffix}`, [rows, this.hidden]],
      [`biasIh${suffix}`, bias],
      [`biasHh${suffix}`, bias]
    ]
  }

  init<E extends FloatDType = 'float32'>(key: Key, options?: InitOptions<E>): OfDType<RecurrentParams, E> {
    keyGiven(this.name, key)
    const { dtype } = checkOptions(this.name, options, ['dtype']) as InitOptions
    const bound = 1 / Math.sqrt(this.hidden)
    let drawn = 0
    const draw = (shape: readonly number[]): Tensor => uniform(fold(key, drawn++), shape, { dtype, low: -bound, high: bound })
    const params: Record<string, Tensor> = {}
    for (const [name, shape] of this.#runs().flatMap((each) => this.#shapes(each))) if (shape !== undefined) params[name] = draw(shape)
    return params as OfDType<RecurrentParams, E>
  }

  protected run(params: RecurrentParams, x: Tensor, run: Run<null>): readonly [Tensor, null] {
    return [this.sequence(params, x, undefined, run).output, null]
  }

  /** Outputs [batch, time, directions hidden], and what is carried at the end: each [layers directions, batch, hidden]. */
  protected sequence(params: RecurrentParams, x: Tensor, initial: readonly unknown[] | undefined, { training, key }: Run<null>): { output: Tensor; last: Tensor[] } {
    const op = this.name
    const runs = this.#runs()
    shaped(op, params, Object.fromEntries(runs.flatMap((each) => this.#shapes(each))))
    const { shape } = tensorGiven(op, 'x', x)
    if (shape.length !== 3 || shape[2] !== this.inputs) throw new ShapeError(`${op}: x must have shape [batch, time, ${this.inputs}], got [${shape.join(', ')}]`)
    const [batch, time] = shape as [number, number, number]
    if (time === 0) throw new ShapeError(`${op}: a sequence has at least one step, got shape [${shape.join(', ')}]`)
    const first = this.#initial(initial, x, [runs.length, batch, this.hidden])
    if (time >= LEAST) settle([x, ...first, ...Object.values(params)])
    const drops = training && this.#dropout > 0 && this.layers > 1
    if (drops && key === undefined) throw new ArgumentError(`${op}: what is dropped goes by a key; pass { key }`)
    return within(op, () => {
      let below = x
      let outputs: Tensor[] = []
      const ends: Carried[] = []
      runs.forEach(({ layer, backwards, suffix }, n) => {
        if (!backwards && layer > 0) {
          below = outputs.length === 1 ? (outputs[0] as Tensor) : concat(outputs, { axis: -1 })
          if (drops) below = dropout(fold(key as Key, layer), below, { p: this.#dropout })
          outputs = []
        }
        const gates = linear(below, params[`weightIh${suffix}`] as Tensor, params[`biasIh${suffix}`]) as Tensor
        const weights = [params[`weightHh${suffix}`] as Tensor, params[`biasHh${suffix}`]] as const
        const [output, carried] = this.#steps(gates, first.map((tensor) => tensor.at(n)), weights, backwards)
        ends.push(carried)
        outputs.push(output)
      })
      const output = outputs.length === 1 ? (outputs[0] as Tensor) : concat(outputs, { axis: -1 })
      return { output, last: first.map((_, i) => stack(ends.map((carried) => carried[i] as Tensor))) }
    })
  }

  /** Hidden states of all steps [batch, time, hidden] over the input's shares of the gates [batch, time, gates hidden], and what is carried at the end. */
  #steps(gates: Tensor, first: Carried, weights: Weights, backwards: boolean): [output: Tensor, carried: Carried] {
    const time = gates.shape[1] as number
    if (time < LEAST || !isRunAtOnce()) {
      const [steps, carried] = this.#segment(unstack(gates, { axis: 1 }), first, weights, backwards)
      return [stack(steps, { axis: 1 }), carried]
    }
    const lengths = segmentLengths(time)
    if (backwards) lengths.reverse()
    let end = 0
    const segments = consecutive(gates, 1, lengths.slice(1).map((_, i) => (end += lengths[i] as number)))
    let carried = first
    const found: (readonly [others: Tensor, last: Tensor])[] = []
    for (const segment of backwards ? segments.reverse() : segments) {
      const all = this.#fused(backwards, segment, ...weights, ...carried)
      const length = segment.shape[1] as number
      const others = backwards ? slice(1, length) : slice(0, length - 1)
      const last = backwards ? 0 : length - 1
      const rest = Array.from({ length: this.carried - 1 }, (_, i) => length + i)
      const pieces = piecesAt(all, 1, backwards ? [last, others, ...rest] : [others, last, ...rest])
      const [h, steps] = (backwards ? pieces : [pieces[1], pieces[0]]) as [Tensor, Tensor]
      found.push([steps, h])
      carried = [h, ...pieces.slice(2)]
    }
    if (backwards) found.reverse()
    // Of all states at once: the way back then comes here before it comes to a segment, and what a state's cotangent is the sum of is added in the
    // order in which it is where steps are recorded.
    const lasts = consecutive(stack(found.map(([, h]) => h), { axis: 1 }), 1, found.slice(1).map((_, i) => i + 1))
    const parts = found.map(([steps], i) => (backwards ? [lasts[i], steps] : [steps, lasts[i]]) as [Tensor, Tensor])
    return [concat(parts.flat(), { axis: 1 }), carried]
  }

  /** Some steps, recorded. */
  #segment(gates: readonly Tensor[], first: Carried, weights: Weights, backwards: boolean): [steps: Tensor[], carried: Carried] {
    let carried = first
    const steps = Array<Tensor>(gates.length)
    for (let i = 0; i < gates.length; i++) {
      const t = backwards ? gates.length - 1 - i : i
      carried = this.step(gates[t] as Tensor, carried, ...weights)
      steps[t] = carried[0] as Tensor
    }
    return [steps, carried]
  }

  /** The hidden states of a segment, and behind them what else is carried at its end; of all layers of a kind, so that they share traces. */
  get #fused(): Fused {
    let found = FUSED.get(this.kind)
    if (found === undefined) {
      found = fused((backwards, gates, weight, bias, ...carried) => {
        const [steps, last] = this.#segment(unstack(gates as Tensor, { axis: 1 }), carried as Carried, [weight as Tensor, bias], backwards as boolean)
        return stack([...steps, ...last.slice(1)], { axis: 1 })
      })
      FUSED.set(this.kind, found)
    }
    return found
  }

  /** What is carried into the first step: zeros where nothing is given. */
  #initial(initial: readonly unknown[] | undefined, x: Tensor, shape: readonly number[]): Tensor[] {
    if (initial === undefined) return Array.from({ length: this.carried }, () => zeros(shape, { dtype: x.dtype, device: x.device }))
    return initial.map((value) => {
      const tensor = tensorGiven(this.name, 'initial', value)
      if (tensor.shape.join() !== shape.join()) throw new ShapeError(`${this.name}: the initial state must have shape [${shape.join(', ')}], got [${tensor.shape.join(', ')}]`)
      return tensor
    })
  }
}

/** Outputs and what is carried at the end, in the dtype of parameters, operand and initial state together. */
export interface Sequence<Q, D extends DType, I extends DType, State> {
  readonly output: Tensor<AppliedDType<'promoted', Q, AsDType<Promote<D, I>>>>
  readonly state: State
}

/** What an LSTM carries: both [layers directions, batch, hidden]. */
export interface LSTMState<D extends DType = DType> {
  readonly h: Tensor<D>
  readonly c: Tensor<D>
}

/**
 * Long short-term memory over x [batch, time, inputs]: outputs [batch, time, hidden]. The batch comes first, always. PyTorch `nn.LSTM`.
 *
 * `i, f, o = sigmoid(...)`, `g = tanh(...)` of `W_ih x + b_ih + W_hh h + b_hh`; `c = f c + i g`, `h = o tanh(c)`
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.LSTM(3, 4)
 * layer.apply(layer.init(ft.random.key(1)), ft.zeros([2, 5, 3])).shape // [2, 5, 4]
 * ```
 */
export class LSTM extends Recurrent {
  protected readonly gates = 4
  protected readonly carried = 2

  protected step(gates: Tensor, [h, c]: Carried, weight: Tensor, bias: Tensor | undefined): Carried {
    const [i, f, g, o] = split(gates.add(linear(h as Tensor, weight, bias) as Tensor), 4, { axis: 1 })
    const next = f.sigmoid().mul(c as Tensor).add(i.sigmoid().mul(g.tanh()))
    return [o.sigmoid().mul(next.tanh()), next]
  }

  /**
   * Outputs, and what is carried at the end, from what is carried at the start (zeros by default).
   *
   * @throws {TensorError} as {@link Module.apply}.
   */
  forward<Q extends RecurrentParams, D extends DType, I extends DType = D>(params: Q, x: Tensor<D>, initial?: LSTMState<I>): Sequence<Q, D, I, LSTMState<AppliedDType<'promoted', Q, AsDType<Promote<D, I>>>>> {
    if (initial !== undefined && (typeof initial !== 'object' || initial === null)) throw new ArgumentError(`${this.name}: 'initial' must be { h, c }, got ${shown(initial)}`)
    const { output, last } = this.sequence(params, x as unknown as Tensor, initial && [initial.h, initial.c], { training: false })
    return { output, state: { h: last[0], c: last[1] } } as never
  }
}

/**
 * Gated recurrent units over x [batch, time, inputs]: outputs [batch, time, hidden]. The batch comes first, always. PyTorch `nn.GRU`.
 *
 * `r, z = sigmoid(W_ih x + b_ih + W_hh h + b_hh)`, `n = tanh(W_in x + b_in + r (W_hn h + b_hn))`; `h = (1 - z) n + z h`
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.GRU(3, 4, { bidirectional: true })
 * layer.apply(layer.init(ft.random.key(1)), ft.zeros([2, 5, 3])).shape // [2, 5, 8]
 * ```
 */
export class GRU extends Recurrent {
  protected readonly gates = 3
  protected readonly carried = 1

  protected step(gates: Tensor, [h]: Carried, weight: Tensor, bias: Tensor | undefined): Carried {
    const ofInput = split(gates, 3, { axis: 1 })
    const ofHidden = split(linear(h as Tensor, weight, bias) as Tensor, 3, { axis: 1 })
    const [r, z] = ([0, 1] as const).map((k) => ofInput[k].add(ofHidden[k]).sigmoid()) as [Tensor, Tensor]
    const n = ofInput[2].add(r.mul(ofHidden[2])).tanh()
    return [n.add(z.mul((h as Tensor).sub(n)))]
  }

  /**
   * Outputs, and the hidden state [layers directions, batch, hidden] at the end, from that at the start (zeros by default).
   *
   * @throws {TensorError} as {@link Module.apply}.
   */
  forward<Q extends RecurrentParams, D extends DType, I extends DType = D>(params: Q, x: Tensor<D>, initial?: Tensor<I>): Sequence<Q, D, I, Tensor<AppliedDType<'promoted', Q, AsDType<Promote<D, I>>>>> {
    const { output, last } = this.sequence(params, x as unknown as Tensor, initial === undefined ? undefined : [initial], { training: false })
    return { output, state: last[0] } as never
  }
}

/** Options of `nn.RNN`. */
export interface RNNOptions extends RecurrentOptions {
  /** What a step ends with; 'tanh' by default. */
  readonly nonlinearity?: 'tanh' | 'relu' | undefined
}

/** The layers whose steps end with `relu`, which have traces of their own. */
const RECTIFIED = {}

/**
 * A plain recurrent layer over x [batch, time, inputs]: outputs [batch, time, hidden]. The batch comes first, always. PyTorch `nn.RNN`.
 *
 * `h = tanh(W_ih x + b_ih + W_hh h + b_hh)`, or `relu` of it
 *
 * @throws {TensorError} `ERR_ARGUMENT` for sizes and options out of range.
 * @example
 * ```ts
 * const layer = new ft.nn.RNN(3, 4, { nonlinearity: 'relu' })
 * layer.apply(layer.init(ft.random.key(1)), ft.zeros([2, 5, 3])).shape // [2, 5, 4]
 * ```
 */
export class RNN extends Recurrent {
  protected readonly gates = 1
  protected readonly carried = 1
  readonly nonlinearity: 'tanh' | 'relu'

  constructor(inputs: number, hidden: number, options?: RNNOptions) {
    super(inputs, hidden, options)
    const { nonlinearity = 'tanh' } = options ?? {}
    if (nonlinearity !== 'tanh' && nonlinearity !== 'relu') throw new ArgumentError(`${this.name}: 'nonlinearity' must be 'tanh' or 'relu', got ${shown(nonlinearity)}`)
    this.nonlinearity = nonlinearity
  }

  protected override get kind(): object {
    return this.nonlinearity === 'relu' ? RECTIFIED : super.kind
  }

  protected step(gates: Tensor, [h]: Carried, weight: Tensor, bias: Tensor | undefined): Carried {
    const sum = gates.add(linear(h as Tensor, weight, bias) as Tensor)
    return [this.nonlinearity === 'relu' ? sum.relu() : sum.tanh()]
  }

  /**
   * Outputs, and the hidden state [layers directions, batch, hidden] at the end, from that at the start (zeros by default).
   *
   * @throws {TensorError} as {@link Module.apply}.
   */
  forward<Q extends RecurrentParams, D extends DType, I extends DType = D>(params: Q, x: Tensor<D>, initial?: Tensor<I>): Sequence<Q, D, I, Tensor<AppliedDType<'promoted', Q, AsDType<Promote<D, I>>>>> {
    const { output, last } = this.sequence(params, x as unknown as Tensor, initial === undefined ? undefined : [initial], { training: false })
    return { output, state: last[0] } as never
  }
}

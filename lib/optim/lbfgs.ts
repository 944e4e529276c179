// L-BFGS (Liu and Nocedal, "On the limited memory BFGS method for large scale optimization", 1989): steps by a curvature that the last gradients
// tell of. It decides by numbers, so each iteration reads some.

import { checkOptions } from '../arguments/options.js'
import { ArgumentError, DTypeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { concat, stack } from '../generated/functions.js'
import { isHalf } from '../program/half.js'
import { checkAlive, isTensor } from '../program/node.js'
import type { Tensor } from '../tensor/tensor.js'
import { alike, leaves, mapTree, sameType } from '../tree/traverse.js'
import { dataSync } from '../values/read.js'
import { strongWolfe, type Place } from './line-search.js'

/** Options of `optim.lbfgs`. */
export interface LbfgsOptions {
  /** Length of a step, of the first one by the sum of the gradient's magnitudes; 1 by default. */
  readonly learningRate?: number
  /** Iterations of a step, at most; 20 by default. */
  readonly maxIterations?: number
  /** Losses that a step asks for, at most; 5/4 of the iterations by default. */
  readonly maxEvaluations?: number
  /** A step ends where no element of the gradient is larger; 1e-7 by default. */
  readonly toleranceGradient?: number
  /** A step ends where no element of the parameters, or the loss, changes by more; 1e-9 by default. */
  readonly toleranceChange?: number
  /** Steps whose gradients are kept; 100 by default. */
  readonly historySize?: number
  /** How far a direction is followed: as far as the learning rate says, or until the strong Wolfe conditions hold; 'none' by default. */
  readonly lineSearch?: 'none' | 'strongWolfe'
}

/** What L-BFGS keeps from step to step: a tree like any other, to be saved and restored. */
export interface LbfgsState {
  /** Iterations so far. */
  readonly count: number
  /** Losses that were asked for so far. */
  readonly evaluations: number
  /** Of the last iteration: its direction and gradient, as vectors, how far it went, and its loss; null before the first. */
  readonly last: { readonly direction: Tensor; readonly gradient: Tensor; readonly length: number; readonly loss: number } | null
  /** Changes of the gradient and of the parameters in the iterations that are kept, as vectors, oldest first. */
  readonly gradients: readonly Tensor[]
  readonly steps: readonly Tensor[]
  /** The curvature that directions begin with. */
  readonly scale: number
}

/** L-BFGS over a tree of parameters. Nothing is changed in place. */
export interface Lbfgs {
  /** The state before the first step. */
  init(params: unknown): LbfgsState
  /**
   * New parameters, the new state, and the loss before the step, by a function that gives a loss and its gradients, as `ft.valueAndGrad(loss)` does.
   * It reads losses and gradients, and cannot be traced by `jit`.
   *
   * @throws {TensorError} `ERR_ARGUMENT` for trees of different structure and for a `lossAndGradients` that is not such a function, `ERR_SHAPE`, `ERR_DTYPE` for their tensors.
   */
  step<P>(params: P, lossAndGradients: (params: P) => readonly [loss: Tensor, gradients: P], state: LbfgsState): [params: P, state: LbfgsState, loss: Tensor]
}

/** Curvature below it is none. */
const LEAST_CURVATURE = 1e-10

/** Numbers of tensors of one element, in one program. */
function numbersOf(...scalars: readonly Tensor[]): number[] {
  return Array.from(dataSync(stack(scalars.map((x) => x.reshape([]))).astype('float64')) as Float64Array)
}

const dot = (a: Tensor, b: Tensor): Tensor => a.mul(b).sum() as Tensor

/** The direction of steps by the gradient and what is kept (two loops, Nocedal, 1980). */
function directionOf(gradient: Tensor, gradients: readonly Tensor[], steps: readonly Tensor[], scale: number): Tensor {
  const inverse = gradients.map((y, i) => dot(y, steps[i] as Tensor).reciprocal())
  let q = gradient.negative() as Tensor
  const shares: Tensor[] = []
  for (let i = gradients.length - 1; i >= 0; i--) {
    const share = dot(steps[i] as Tensor, q).mul(inverse[i] as Tensor) as Tensor
    shares[i] = share
    q = q.sub((gradients[i] as Tensor).mul(share)) as Tensor
  }
  let r = q.mul(scale) as Tensor
  for (let i = 0; i < gradients.length; i++) {
    const share = dot(gradients[i] as Tensor, r).mul(inverse[i] as Tensor)
    r = r.add((steps[i] as Tensor).mul((shares[i] as Tensor).sub(share))) as Tensor
  }
  return r
}

/** A tree of parameters as one vector, and the tree of a vector. */
function flattening(name: string, params: unknown): { flat: (tree: unknown) => Tensor; tree: <P>(vector: Tensor) => P } {
  const own = leaves(params, `${name}: the parameters`)
  if (own.length === 0) throw new ArgumentError(`${name}: there is no tensor in the parameters`)
  for (const p of own) {
    checkAlive(name, p)
    if (p.type.row.kind !== 'float') throw new DTypeError(`${name}: parameters are floating tensors, got ${p.dtype}`)
  }
  return {
    flat: (tree) => {
      const found = alike(`${name}: the gradients`, params, tree, sameType) as Tensor[]
      // Sums of squares of half floats are no matter of theirs.
      return concat(found.map((x) => (isHalf(x.dtype) ? x.astype('float32') : x).flatten())) as Tensor
    },
    tree: <P>(vector: Tensor) => {
      let at = 0
      return mapTree(params, (p) => {
        const part = vector.at(`${at}:${at + p.size}`).reshape(p.shape).astype(p.dtype as 'float32')
        at += p.size
        return part
      }) as P
    }
  }
}

/** The options, checked. */
function optionsGiven(name: string, options: LbfgsOptions): Required<LbfgsOptions> {
  const o = checkOptions(name, options, ['learningRate', 'maxIterations', 'maxEvaluations', 'toleranceGradient', 'toleranceChange', 'historySize', 'lineSearch']) as LbfgsOptions
  const { learningRate = 1, maxIterations = 20, toleranceGradient = 1e-7, toleranceChange = 1e-9, historySize = 100, lineSearch = 'none' } = o
  const counted = (what: string, value: unknown): number => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) throw new ArgumentError(`${name}: '${what}' must be a positive integer, got ${shown(value)}`)
    return value
  }
  counted('maxIterations', maxIterations)
  counted('historySize', historySize)
  const maxEvaluations = counted('maxEvaluations', o.maxEvaluations ?? Math.floor((maxIterations * 5) / 4))
  for (const [what, value] of Object.entries({ learningRate, toleranceGradient, toleranceChange })) {
    if (typeof value !== 'number' || !(value >= 0 && value < Infinity)) throw new ArgumentError(`${name}: '${what}' must be a number from 0, got ${shown(value)}`)
  }
  if (lineSearch !== 'none' && lineSearch !== 'strongWolfe') throw new ArgumentError(`${name}: 'lineSearch' must be 'none' or 'strongWolfe', got ${shown(lineSearch)}`)
  return { learningRate, maxIterations, maxEvaluations, toleranceGradient, toleranceChange, historySize, lineSearch }
}

/** The state, looked at. */
function stateGiven(name: string, state: unknown): LbfgsState {
  const { count, evaluations, last, gradients, steps, scale } = (typeof state === 'object' && state !== null ? state : {}) as Partial<LbfgsState>
  const lists = [gradients, steps].every((list) => Array.isArray(list) && list.every((x) => isTensor(x))) && gradients?.length === steps?.length
  const numbers = [count, evaluations, scale].every((n) => typeof n === 'number')
  const known = last === null || (typeof last === 'object' && isTensor(last.direction) && isTensor(last.gradient) && typeof last.length === 'number' && typeof last.loss === 'number')
  if (!lists || !numbers || !known || ((count as number) > 0 && last === null)) throw new ArgumentError(`${name}: the state must come from init or from the last step, got ${shown(state)}`)
  return state as LbfgsState
}

/**
 * L-BFGS: each step runs up to `maxIterations` iterations, which ask a function for the loss and its gradients, and go along directions by the
 * curvature that the last gradients tell of. For losses over all examples, of few parameters. PyTorch `optim.LBFGS`, with its `strong_wolfe` line
 * search.
 *
 * @throws {ArgumentError} for options out of range.
 * @example
 * ```ts
 * const f = ft.valueAndGrad((x: ft.Tensor<'float32'>) => x.sub(ft.tensor([1, 2])).square().sum())
 * const optimizer = ft.optim.lbfgs({ lineSearch: 'strongWolfe' })
 * const start = ft.tensor([5, -3])
 * optimizer.step(start, f, optimizer.init(start))[0] // [1, 2]
 * ```
 */
export function lbfgs(options: LbfgsOptions = {}): Lbfgs {
  const name = 'optim.lbfgs'
  const { learningRate, maxIterations, maxEvaluations, toleranceGradient, toleranceChange, historySize, lineSearch } = optionsGiven(name, options)
  return {
    init(params) {
      flattening(name, params)
      return { count: 0, evaluations: 0, last: null, gradients: [], steps: [], scale: 1 }
    },
    step<P>(params: P, lossAndGradients: (params: P) => readonly [Tensor, P], state: LbfgsState): [P, LbfgsState, Tensor] {
      if (typeof lossAndGradients !== 'function') throw new ArgumentError(`${name}: the second argument must be a function from parameters to [loss, gradients], such as ft.valueAndGrad(loss), got ${shown(lossAndGradients)}`)
      const { flat, tree } = flattening(name, params)
      const asked = (vector: Tensor): [loss: Tensor, gradient: Tensor] => {
        const found: unknown = lossAndGradients(tree<P>(vector))
        if (!Array.isArray(found) || !isTensor(found[0]) || found[0].size !== 1) throw new ArgumentError(`${name}: the function must return [loss, gradients], the loss a tensor of one element, got ${shown(found)}`)
        return [found[0], flat(found[1])]
      }
      const before = stateGiven(name, state)
      let { count, evaluations, last, scale } = before
      let [gradients, steps] = [[...before.gradients], [...before.steps]]
      let x = flat(params)
      const [first, start] = asked(x)
      let gradient = start
      let [loss, steepest] = numbersOf(first, gradient.abs().max()) as [number, number]
      let own = 1
      evaluations++
      const end = (): [P, LbfgsState, Tensor] => [tree<P>(x), { count, evaluations, last, gradients, steps, scale }, first]
      if (steepest <= toleranceGradient) return end()
      for (let iteration = 1; ; iteration++) {
        count++
        if (last !== null && count > 1) {
          const [y, s] = [gradient.sub(last.gradient), last.direction.mul(last.length)] as [Tensor, Tensor]
          const [curvature, square] = numbersOf(dot(y, s), dot(y, y)) as [number, number]
          if (curvature > LEAST_CURVATURE) {
            gradients = [...gradients, y].slice(-historySize)
            steps = [...steps, s].slice(-historySize)
            scale = curvature / square
          }
        } else [gradients, steps, scale] = [[], [], 1]
        const direction = directionOf(gradient, gradients, steps, scale)
        const [slope, sum, size] = numbersOf(dot(gradient, direction), gradient.abs().sum() as Tensor, direction.abs().max()) as [number, number, number]
        let length = count === 1 ? Math.min(1, 1 / sum) * learningRate : learningRate
        const [lossBefore, gradientBefore] = [loss, gradient]
        last = { direction, gradient: gradientBefore, length, loss }
        // Nothing is to be gained along the direction.
        if (slope > -toleranceChange) break
        const along = (t: number): Place<Tensor> => {
          const [value, g] = asked(x.add(direction.mul(t)) as Tensor)
          const [known, own] = numbersOf(value, dot(g, direction)) as [number, number]
          return { t, loss: known, slope: own, gradient: g }
        }
        let more = 0
        if (lineSearch === 'strongWolfe') {
          const [place, looked] = strongWolfe<Tensor>({ t: 0, loss, slope, gradient }, length, size, toleranceChange, maxEvaluations - own, along)
          more = looked
          ;[length, loss, gradient] = [place.t, place.loss, place.gradient]
          last = { ...last, length }
          x = x.add(direction.mul(length)) as Tensor
          ;[steepest] = numbersOf(gradient.abs().max()) as [number]
        } else {
          x = x.add(direction.mul(length)) as Tensor
          // The last iteration's loss is the next step's first.
          if (iteration < maxIterations) {
            const [value, g] = asked(x)
            gradient = g
            ;[loss, steepest] = numbersOf(value, g.abs().max()) as [number, number]
            more = 1
          }
        }
        own += more
        evaluations += more
        if (iteration === maxIterations || own >= maxEvaluations || steepest <= toleranceGradient) break
        if (size * Math.abs(length) <= toleranceChange || Math.abs(loss - lossBefore) < toleranceChange) break
      }
      return end()
    }
  }
}

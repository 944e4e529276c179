// The training steps that are measured: weights and data made of their positions, so that every contender has the same.

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { transformer } from '../../examples/digits/models.js'

type F = Tensor<'float32'>
type Params = Readonly<Record<string, F>>

/** A network, how it is trained, and on how many rows at a time. */
export interface Training {
  readonly what: string
  readonly batch: number
  /** Pixels of an image. */
  readonly pixels: number
  /** Shapes of the parameters by their names in PyTorch. */
  readonly shapes: Readonly<Record<string, readonly number[]>>
  /** The tree of parameters by name. */
  readonly tree: (params: Params) => unknown
  /** Logits [rows, 10] of a tree and images [rows, pixels]. */
  readonly logits: (tree: unknown, images: F) => Tensor
  readonly optimizer: ft.optim.Optimizer
}

const dense: Training = {
  what: 'network of 784, 256 and 10, batches of 128, gradient descent',
  batch: 128,
  pixels: 784,
  shapes: { w1: [784, 256], b1: [256], w2: [256, 10], b2: [10] },
  tree: ({ w1, b1, w2, b2 }) => [w1, b1, w2, b2],
  logits: (tree, images) => {
    const [w1, b1, w2, b2] = tree as [F, F, F, F]
    return images.matmul(w1).add(b1).relu().matmul(w2).add(b2)
  },
  optimizer: ft.optim.sgd({ learningRate: 0.01 })
}

const template = transformer.init(ft.random.key(0))
const attentive: Training = {
  // Without dropout, whose draws differ between libraries.
  what: 'transformer of the digits example, batches of 64, AdamW',
  batch: 64,
  pixels: 64,
  shapes: Object.fromEntries(Object.entries(ft.nn.stateDict(template)).map(([name, { shape }]) => [name, shape])),
  tree: (params) => ft.nn.loadStateDict(params, [template])[0],
  logits: (tree, images) => transformer.apply(tree, images),
  optimizer: ft.optim.adamw({ learningRate: 0.001 })
}

export const TRAININGS: Readonly<Record<string, Training>> = { dense, attentive }

/** What the other libraries make the same networks of. */
export const DESCRIBED = Object.fromEntries(Object.entries(TRAININGS).map(([name, { batch, pixels, shapes }]) => [name, { batch, pixels, shapes }]))

const numbers = (shape: readonly number[], f: (i: number) => number): Float32Array => Float32Array.from({ length: shape.reduce((n, size) => n * size, 1) }, (_, i) => f(i))

/** As peers/training.py makes them: matrices of sines, scales of norms 1, biases 0. */
export function weights({ shapes }: Pick<Training, 'shapes'>): [name: string, shape: readonly number[], data: Float32Array][] {
  return Object.entries(shapes).map(([name, shape]) => {
    const rest = name.endsWith('weight') ? 1 : 0
    return [name, shape, numbers(shape, (i) => (shape.length > 1 ? Math.sin(i) * 0.05 : rest))]
  })
}

export const images = ({ pixels }: Pick<Training, 'pixels'>, rows: number): Float32Array => numbers([rows, pixels], (i) => Math.cos(i * 0.37))
export const labels = (rows: number): Int32Array => Int32Array.from({ length: rows }, (_, i) => i % 10)

type State = ft.optim.OptimizerState
export type Step = (tree: unknown, state: State, x: F, y: Tensor<'int32'>) => [tree: unknown, state: State, loss: Tensor]

/** Our step; what changes between calls are arguments. */
export function stepOf({ logits, optimizer }: Training): Step {
  return (tree, state, x, y) => {
    const [value, gradients] = ft.valueAndGrad((tree: unknown): Tensor => ft.nn.crossEntropy(logits(tree, x), y), {})(tree)
    return [...optimizer.step(tree, gradients, state), value]
  }
}

/** What our first step is given. */
export function started(training: Training, rows = training.batch): Parameters<Step> {
  const tree = training.tree(Object.fromEntries(weights(training).map(([name, shape, data]) => [name, ft.fromTypedArray(data, shape)])))
  return [tree, training.optimizer.init(tree), ft.fromTypedArray(images(training, rows), [rows, training.pixels]), ft.fromTypedArray(labels(rows), [rows])]
}

/** Steps that go on from one another, each with its loss read. */
export function running(training: Training, step: Step, rows?: number): () => number {
  let [tree, state, x, y] = started(training, rows)
  return () => {
    const [newer, after, loss] = step(tree, state, x, y)
    ;[tree, state] = [newer, after]
    return loss.itemSync() as number
  }
}

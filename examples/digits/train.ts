// Training a classifier, and how well it does.

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { CLASSES, type Digits } from './data.js'
import { convolutional, softmax, transformer } from './models.js'

export interface Experiment {
  readonly name: string
  readonly model: ft.nn.Module
  readonly epochs: number
  /** The highest learning rate, after the warm-up. */
  readonly rate: number
}

export const EXPERIMENTS: readonly Experiment[] = [
  { name: 'softmax classifier', model: softmax, epochs: 20, rate: 0.1 },
  { name: 'convolutional network', model: convolutional, epochs: 8, rate: 0.01 },
  { name: 'transformer', model: transformer, epochs: 8, rate: 0.01 }
]

const BATCH = 64
/** Share of the steps in which the learning rate grows. */
const WARMUP = 0.1

export interface Trained {
  readonly params: unknown
  /** Running averages of batch norms. */
  readonly state: unknown
  /** The mean loss of each epoch. */
  readonly losses: readonly number[]
}

/**
 * Trains a classifier. The same key gives the same result every time: first weights, the order of each epoch and what is dropped come
 * from it.
 */
export async function train({ model, epochs, rate }: Experiment, digits: Digits, key: ft.random.Key, onProgress: (progress: ft.Progress) => void = () => {}): Promise<Trained> {
  const [fresh, orders, drops] = ft.random.split(key, 3) as [ft.random.Key, ft.random.Key, ft.random.Key]
  const batches = ft.data.batches(digits, { size: BATCH, key: orders, dropLast: true })
  const steps = epochs * batches.length
  const rising = Math.round(WARMUP * steps)
  const optimizer = ft.optim.adamw({ learningRate: ft.optim.warmup(rising, ft.optim.cosine(rate, steps - rising)) })

  const lossAndGradients = ft.valueAndGrad(
    (params: unknown, { images, labels }: Digits, state: unknown, key: ft.random.Key): [Tensor, unknown] => {
      const [logits, next] = model.train(params, images, { state, key })
      return [ft.nn.crossEntropy(logits, labels), next]
    },
    { hasAux: true }
  )

  let params = model.init(fresh)
  let state = model.initState()
  let averages = optimizer.init(params)
  const losses: number[] = []
  for (let epoch = 0, step = 0; epoch < epochs; epoch++) {
    let total = 0
    for await (const batch of batches.epoch(epoch)) {
      const [[loss, next], gradients] = lossAndGradients(params, batch, state, ft.random.fold(drops, step))
      ;[params, averages] = optimizer.step(params, gradients, averages)
      state = next
      // So far all was recorded; this read runs it as one program, while timers and requests go on being served.
      const value = Number(await loss.item())
      total += value
      onProgress({ done: ++step, total: steps, label: `loss ${value.toFixed(4)}` })
    }
    losses.push(total / batches.length)
  }
  return { params, state, losses }
}

export interface Evaluation {
  /** The share of images that are read correctly. */
  readonly accuracy: number
  /** confusion[true digit][predicted digit] = number of images. */
  readonly confusion: readonly (readonly number[])[]
  /** Predicted digit of each image. */
  readonly predicted: readonly number[]
}

export async function evaluate(model: ft.nn.Module, { params, state }: Pick<Trained, 'params' | 'state'>, { images, labels }: Digits): Promise<Evaluation> {
  const predicted = model.apply(params, images, { state }).argmax(-1)
  const [truth, guess] = [labels, predicted].map((digits) => ft.oneHot(digits, CLASSES)) as [Tensor, Tensor]
  const confusion = truth.matrixTranspose().matmul(guess)
  return {
    accuracy: Number(await predicted.equal(labels).mean().item()),
    confusion: (await confusion.toArray()) as number[][],
    predicted: (await predicted.toArray()) as number[]
  }
}

// Mini-batch gradient descent, the two experiments of this example, and how well a classifier does.

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { CLASSES, PIXELS, type Digits } from './data.js'
import { initialise, lossAndGradients, predict, relu, type Activation, type Layers } from './model.js'

export interface Experiment {
  readonly name: string
  /** Inputs of the first layer, then the outputs of each. */
  readonly sizes: readonly number[]
  readonly epochs: number
  readonly rate: number
}

export const EXPERIMENTS: readonly Experiment[] = [
  { name: 'softmax classifier', sizes: [PIXELS, CLASSES], epochs: 60, rate: 0.5 },
  { name: 'network with ReLU', sizes: [PIXELS, 64, CLASSES], epochs: 60, rate: 0.2 }
]

const BATCH = 64

export interface Trained {
  readonly layers: Layers
  /** The mean loss of each epoch. */
  readonly losses: readonly number[]
}

/**
 * Trains a classifier. The same seed gives the same result on every machine: each epoch's order and the first weights come
 * from keys.
 */
export async function train(
  { sizes, epochs, rate }: Experiment,
  digits: Digits,
  seed: number,
  onEpoch: (done: number, loss: number) => void = () => {},
  activation: Activation = relu
): Promise<Trained> {
  const [first, orders] = ft.random.split(ft.random.key(seed)) as [ft.random.Key, ft.random.Key]
  let layers = initialise(first, sizes)
  const losses: number[] = []
  for (let epoch = 0; epoch < epochs; epoch++) {
    const batches = shuffledBatches(digits, ft.random.fold(orders, epoch))
    let total: Tensor = ft.zeros([])
    for (const batch of batches) {
      const [loss, gradients] = lossAndGradients(layers, batch, activation)
      layers = descend(layers, gradients, rate)
      total = total.add(loss)
    }
    // Nothing has been computed so far but recorded; this read runs it, while timers and requests go on being served.
    const mean = Number(await total.item()) / batches.length
    losses.push(mean)
    onEpoch(epoch + 1, mean)
  }
  return { layers, losses }
}

/** The rows in random order, in batches of one size; the few left over wait for the next epoch's order. */
function shuffledBatches({ images, labels }: Digits, key: ft.random.Key): Digits[] {
  const rows = labels.size
  const order = ft.random.permutation(key, rows)
  const shuffled = { images: images.take(order, { axis: 0 }), labels: labels.take(order, { axis: 0 }) }
  return Array.from({ length: Math.floor(rows / BATCH) }, (_, i) => {
    const range = ft.slice(i * BATCH, (i + 1) * BATCH)
    return { images: shuffled.images.at(range), labels: shuffled.labels.at(range) }
  })
}

function descend(layers: Layers, gradients: Layers, rate: number): Layers {
  return layers.map(({ weights, bias }, i) => {
    const gradient = gradients[i] as Layers[number]
    return { weights: weights.sub(gradient.weights.mul(rate)), bias: bias.sub(gradient.bias.mul(rate)) }
  })
}

export interface Evaluation {
  /** The share of images that are read correctly. */
  readonly accuracy: number
  /** confusion[true digit][predicted digit] = number of images. */
  readonly confusion: readonly (readonly number[])[]
  /** Predicted digit of each image. */
  readonly predicted: readonly number[]
}

export async function evaluate(layers: Layers, { images, labels }: Digits, activation: Activation = relu): Promise<Evaluation> {
  const predicted = predict(layers, images, activation)
  const [truth, guess] = [labels, predicted].map((digits) => ft.oneHot(digits, CLASSES)) as [Tensor, Tensor]
  const confusion = truth.matrixTranspose().matmul(guess)
  return {
    accuracy: Number(await predicted.equal(labels).mean().item()),
    confusion: (await confusion.toArray()) as number[][],
    predicted: (await predicted.toArray()) as number[]
  }
}

// A fully connected classifier: its layers, its loss, and the loss's gradients written out by hand. One layer makes a softmax
// classifier, more make a network.

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { CLASSES, type Digits } from './data.js'

export interface Layer {
  /** [inputs, outputs] */
  readonly weights: Tensor
  /** [outputs] */
  readonly bias: Tensor
}

export type Layers = readonly Layer[]

/** What stands between two layers. */
export interface Activation {
  apply(x: Tensor): Tensor
  /** The gradient before the activation, from the one behind it and the activation's output. */
  gradient(behind: Tensor, output: Tensor): Tensor
}

export const relu: Activation = {
  apply: (x) => x.relu(),
  gradient: (behind, output) => ft.where(output.greater(0), behind, 0)
}

export const identity: Activation = {
  apply: (x) => x,
  gradient: (behind) => behind
}

/**
 * Fresh layers for the given sizes, [64, 10] or [64, 64, 10]: normal weights of variance 2 / inputs (He et al., 2015, which
 * keeps the variance through ReLU) and zero biases.
 */
export function initialise(key: ft.random.Key, sizes: readonly number[], dtype: 'float32' | 'float64' = 'float32'): Layers {
  return sizes.slice(1).map((outputs, i) => {
    const inputs = sizes[i] as number
    return {
      weights: ft.random.normal(ft.random.fold(key, i), [inputs, outputs], { dtype, std: Math.sqrt(2 / inputs) }),
      bias: ft.zeros([outputs], { dtype })
    }
  })
}

/** The input of each layer, and behind them the logits [rows, classes]. */
function forward(layers: Layers, images: Tensor, activation: Activation): Tensor[] {
  const values = [images]
  for (const [i, { weights, bias }] of layers.entries()) {
    const sum = (values[i] as Tensor).matmul(weights).add(bias)
    values.push(i < layers.length - 1 ? activation.apply(sum) : sum)
  }
  return values
}

/** The mean cross-entropy of softmax(logits) and the labels, a scalar. */
function crossEntropy(logits: Tensor, target: Tensor): Tensor {
  return logits.logSoftmax(-1).mul(target).sum(-1).mean().neg()
}

function target({ images, labels }: Digits): Tensor {
  return ft.oneHot(labels, CLASSES, { dtype: images.dtype })
}

/** The loss alone. */
export function loss(layers: Layers, digits: Digits, activation: Activation): Tensor {
  return crossEntropy(forward(layers, digits.images, activation).at(-1) as Tensor, target(digits))
}

/** The loss and its gradients with respect to every weight and bias. */
export function lossAndGradients(layers: Layers, digits: Digits, activation: Activation): { loss: Tensor; gradients: Layers } {
  const values = forward(layers, digits.images, activation)
  const logits = values.at(-1) as Tensor
  const truth = target(digits)
  const rows = digits.images.shape[0] as number
  const gradients: Layer[] = []
  // d loss / d logits = (softmax(logits) - truth) / rows; from there backwards, layer by layer.
  let behind: Tensor = logits.softmax(-1).sub(truth).div(rows)
  for (let i = layers.length - 1; i >= 0; i--) {
    const input = values[i] as Tensor
    gradients.unshift({ weights: input.matrixTranspose().matmul(behind), bias: behind.sum(0) })
    if (i > 0) behind = activation.gradient(behind.matmul((layers[i] as Layer).weights.matrixTranspose()), input)
  }
  return { loss: crossEntropy(logits, truth), gradients }
}

/** The most likely class of each image, [rows]. */
export function predict(layers: Layers, images: Tensor, activation: Activation): Tensor<'int32'> {
  return (forward(layers, images, activation).at(-1) as Tensor).argmax(-1)
}

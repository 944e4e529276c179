// A fully connected classifier: its layers, its loss, and the loss's gradients. One layer makes a softmax classifier, more make a network.

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
export type Activation = (x: Tensor) => Tensor

export const relu: Activation = (x) => x.relu()
export const identity: Activation = (x) => x

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

/** The logits [rows, classes]. */
function forward(layers: Layers, images: Tensor, activation: Activation): Tensor {
  return layers.reduce((x, { weights, bias }, i) => {
    const sum = x.matmul(weights).add(bias)
    return i < layers.length - 1 ? activation(sum) : sum
  }, images)
}

/** The mean cross-entropy of softmax(logits) and the labels, a scalar. */
function crossEntropy(logits: Tensor, target: Tensor): Tensor {
  return logits.logSoftmax(-1).mul(target).sum(-1).mean().neg()
}

function target({ images, labels }: Digits): Tensor {
  return ft.oneHot(labels, CLASSES, { dtype: images.dtype })
}

/** The loss, a scalar. */
export function loss(layers: Layers, digits: Digits, activation: Activation): Tensor {
  return crossEntropy(forward(layers, digits.images, activation), target(digits))
}

/** The loss and its gradients with respect to every weight and bias. */
export const lossAndGradients = ft.valueAndGrad(loss)

/** The most likely class of each image, [rows]. */
export function predict(layers: Layers, images: Tensor, activation: Activation): Tensor<'int32'> {
  return forward(layers, images, activation).argmax(-1)
}

// Three classifiers of digits, each made of layers after one another: images [rows, 64] become logits [rows, 10].

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { CLASSES, PIXELS, SIDE } from './data.js'

const { BatchNorm, Conv2d, Dropout, LayerNorm, Linear, Module, MultiHeadAttention, Sequential } = ft.nn

/** A template for each digit: the image is compared with all ten. */
export const softmax: ft.nn.Module = new Sequential(new Linear(PIXELS, CLASSES))

const CHANNELS = 32
/** What is left of an image after pooling. */
const POOLED = CHANNELS * (SIDE / 2) ** 2

/** Windows of 3 x 3 pixels that look for strokes, and windows over what those found. Norms have biases, so convolutions need none. */
export const convolutional: ft.nn.Module = new Sequential(
  (images) => images.reshape([-1, 1, SIDE, SIDE]),
  new Conv2d(1, 16, 3, { padding: 1, bias: false }),
  new BatchNorm(16),
  ft.relu,
  (x) => ft.nn.avgPool(x, 2),
  new Conv2d(16, CHANNELS, 3, { padding: 1, bias: false }),
  new BatchNorm(CHANNELS),
  ft.relu,
  (x) => x.reshape([-1, POOLED]),
  new Dropout({ p: 0.3 }),
  new Linear(POOLED, CLASSES)
)

/** The tokens of the transformer are the rows of an image. */
const TOKENS = SIDE
const FEATURES = 32
const DROPPED = 0.1

interface PositionParams {
  /** [tokens, features] */
  readonly weight: Tensor
}

/** Adds a learnt vector to each token, as attention does not know where a token stands. */
class Positions extends Module<PositionParams, null> {
  init(key: ft.random.Key, options?: ft.nn.InitOptions): PositionParams {
    return { weight: ft.nn.init.truncatedNormal(key, [TOKENS, FEATURES], { std: 0.1, ...options }) }
  }

  protected run({ weight }: PositionParams, x: Tensor): readonly [Tensor, null] {
    return [x.add(weight), null]
  }
}

/** A tensor plus what a layer makes of it (He et al., 2016). */
class Residual<P, S> extends Module<P, S> {
  constructor(readonly layer: ft.nn.Module<P, S>) {
    super()
  }

  init(key: ft.random.Key, options?: ft.nn.InitOptions): P {
    return this.layer.init(key, options)
  }

  override initState(options?: ft.nn.StateOptions): S {
    return this.layer.initState(options)
  }

  protected run(params: P, x: Tensor, run: ft.nn.Run<S>): readonly [Tensor, S] {
    const [y, state] = Module.run(this.layer, params, x, run)
    return [x.add(y), state]
  }
}

/** One block of Vaswani et al., 2017, with norms first: rows look at one another, then each is worked on alone. */
export const transformer: ft.nn.Module = new Sequential(
  (images) => images.reshape([-1, TOKENS, SIDE]),
  new Linear(SIDE, FEATURES),
  new Positions(),
  new Residual(new Sequential(new LayerNorm(FEATURES), new MultiHeadAttention(FEATURES, 2, { dropout: DROPPED }))),
  new Residual(
    new Sequential(new LayerNorm(FEATURES), new Linear(FEATURES, 2 * FEATURES), ft.nn.gelu, new Dropout({ p: DROPPED }), new Linear(2 * FEATURES, FEATURES))
  ),
  new LayerNorm(FEATURES),
  (x) => x.reshape([-1, TOKENS * FEATURES]),
  new Linear(TOKENS * FEATURES, CLASSES)
)

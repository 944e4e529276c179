// Layers without parameters and state: what they make of a tensor is a function of it alone.

import { within } from '../arguments/within.js'
import type { FloatDType } from '../generated/dtypes.js'
import { keyGiven, type Key } from '../random/draw.js'
import type { Tensor } from '../tensor/tensor.js'
import type { FreshOf } from './dtypes.js'
import { Module, type InitOptions } from './module.js'

/** A layer that is the same whether it is trained or not. */
export abstract class Stateless<R> extends Module<null, null, R> {
  init<E extends FloatDType = 'float32'>(key: Key, _options?: InitOptions<E>): FreshOf<R, null, E> {
    keyGiven(this.name, key)
    return null as FreshOf<R, null, E>
  }

  /** What the layer makes of a tensor. */
  protected abstract of(x: Tensor): Tensor

  protected run(_params: null, x: Tensor): readonly [Tensor, null] {
    return [within(this.name, () => this.of(x)), null]
  }
}

// Loops as people write them, of any number of steps: what a step costs must not depend on how many there are. A bench shows times, work
// and memory by steps (loops.bench.ts).

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'

type F = ft.Tensor<'float32'>

export interface LongLoop {
  readonly what: string
  /** Numbers of steps that are run, the fewest first; ratios are of the last to those of `from`. */
  readonly steps: readonly number[]
  readonly from: number
  /** Makes what the loop starts from, and returns the loop. */
  readonly prepare: () => (steps: number) => void
}

const GRADIENT = [10, 100, 1000, 10_000]

const recurrent = (kind: 'GRU' | 'LSTM'): LongLoop => ({
  what: `nn.${kind} of 16 units over a batch of 4, with gradients`,
  steps: GRADIENT,
  from: 100,
  prepare() {
    const layer = new ft.nn[kind](8, 16)
    const params = layer.init(ft.random.key(1))
    ft.evaluateSync(...Object.values(params))
    return (steps) => {
      const x = ft.random.normal(ft.random.key(2), [4, steps, 8])
      const [loss, found] = ft.valueAndGrad((p: typeof params) => layer.apply(p, x).square().mean())(params)
      ft.evaluateSync(loss, ...Object.values(found))
    }
  }
})

export const LONG_LOOPS: Readonly<Record<string, LongLoop>> = {
  spiral: {
    what: 'a state of two numbers whose elements make the next, with a gradient',
    steps: GRADIENT,
    from: 100,
    prepare() {
      const x = ft.tensor([1, 0.5])
      return (steps) => {
        const loss = (x: F): F => {
          let y = x
          for (let i = 0; i < steps; i++) y = ft.stack([y.at(0).mul(0.99), y.at(1).mul(y.at(0)).add(0.1)]) as F
          return y.sum()
        }
        ft.grad(loss)(x).dataSync()
      }
    }
  },
  gru: recurrent('GRU'),
  lstm: recurrent('LSTM'),
  second: {
    what: 'second derivatives of a loop of maps',
    steps: [10, 100, 500, 2000],
    from: 100,
    prepare() {
      const x = ft.tensor([1, 0.5])
      return (steps) => {
        const loss = (x: F): F => {
          let y = x
          for (let i = 0; i < steps; i++) y = y.mul(0.99).add(y.mul(x).sin().mul(0.01))
          return y.sum()
        }
        ft.grad((x: F) => ft.grad(loss)(x).square().sum())(x).dataSync()
      }
    }
  },
  cache: {
    what: 'a cache of keys and values of fixed size, in two layers of attention, of which a token is read in each step',
    steps: GRADIENT,
    from: 100,
    prepare() {
      const layer = new ft.nn.MultiHeadAttention(64, 4)
      const layers = [1, 2].map((seed) => layer.init(ft.random.key(seed)))
      const embedding = ft.random.normal(ft.random.key(3), [96, 64])
      ft.evaluateSync(embedding)
      return (steps) => {
        let caches = layers.map(() => layer.cache(1, 512))
        let token = 1
        for (let i = 0; i < steps; i++) {
          let x: Tensor = embedding.at(token).reshape([1, 1, 64])
          caches = layers.map((params, l) => {
            const [y, cache] = layer.extend(params, x, caches[l] as ft.nn.AttentionCache, i % 512)
            x = x.add(y)
            return cache
          })
          token = Number(embedding.matmul(x.reshape([64])).argmax().itemSync())
        }
      }
    }
  },
  spectra: {
    what: 'spectra of frames of a signal of 2^18 samples, evaluated, whose power is read',
    steps: [10, 100, 1000],
    from: 100,
    prepare() {
      const signal = ft.random.normal(ft.random.key(1), [1 << 18])
      const window = ft.arange(1024).mul(Math.PI / 1024).sin()
      ft.evaluateSync(signal, window)
      return (steps) => {
        for (let i = 0; i < steps; i++) {
          const spectrum = ft.fft.rfft(signal.mul(1 + i / steps).reshape([256, 1024]).mul(window))
          const power = spectrum.abs().square()
          ft.evaluateSync(spectrum, power)
          power.add(1e-6).log().mean().itemSync()
        }
      }
    }
  },
  losses: {
    what: 'losses of a state that goes on, pushed and read at the end',
    steps: GRADIENT,
    from: 100,
    prepare: () => (steps) => {
      let w: Tensor = ft.ones([64])
      const losses: Tensor[] = []
      for (let i = 0; i < steps; i++) {
        w = w.mul(0.999).add(w.square().mul(1e-4))
        losses.push(w.mean())
      }
      ft.evaluateSync(...losses)
    }
  },
  simulation: {
    what: 'a simulation that is read every 1,000 steps',
    steps: [1000, 10_000, 100_000],
    from: 1000,
    prepare: () => (steps) => {
      let x: Tensor = ft.ones([256])
      let v: Tensor = ft.zeros([256])
      for (let i = 1; i <= steps; i++) {
        v = v.sub(x.mul(0.01))
        x = x.add(v.mul(0.01))
        if (i % 1000 === 0) x.square().add(v.square()).mean().itemSync()
      }
    }
  },
  optimiser: {
    what: 'steps of Adam on a layer of 16 x 16, whose loss is read every 100',
    steps: GRADIENT,
    from: 100,
    prepare() {
      const x = ft.random.normal(ft.random.key(1), [32, 16])
      const start = { w: ft.random.normal(ft.random.key(2), [16, 16]) }
      ft.evaluateSync(x, start.w)
      const loss = ft.valueAndGrad((p: typeof start) => x.matmul(p.w).tanh().square().mean())
      return (steps) => {
        const adam = ft.optim.adam()
        let params = start
        let state = adam.init(params)
        for (let i = 1; i <= steps; i++) {
          const [value, gradient] = loss(params)
          ;[params, state] = adam.step(params, gradient, state)
          if (i % 100 === 0) value.itemSync()
        }
        ft.evaluateSync(params.w)
      }
    }
  }
}

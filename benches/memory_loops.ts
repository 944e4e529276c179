// Plain loops that must not run out of memory: no dispose, no turn of the event loop. Tests hold them to their bounds
// (__test__/memory.test.ts), a bench shows how far below they stay.

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'

export interface Loop {
  readonly what: string
  /** Mebibytes above the start that the resident set may reach. */
  readonly bound: number
  readonly steps: number
  readonly run: (steps: number) => void
}

/** Elements of float32 in so many KiB. */
const kib = (count: number) => (count << 10) / 4
const EIGHT_MIB = kib(8 << 10)

/** 400 additions on 8 MiB, with what happens after each. */
const chain = (what: string, after: (x: Tensor, i: number) => void): Loop => ({
  what: `x = x.add(1) 400 times on 8 MiB, ${what}`,
  bound: 400,
  steps: 400,
  run(steps) {
    let x: Tensor = ft.ones([EIGHT_MIB])
    for (let i = 0; i < steps; i++) after((x = x.add(1)), i)
    x.at(0).itemSync()
  }
})

const losses = (size: string, elements: number): Loop => ({
  what: `10,000 losses of fresh tensors of ${size}, pushed and never read`,
  bound: 600,
  steps: 1e4,
  run(steps) {
    const data = new Float32Array(elements)
    const kept: Tensor[] = []
    for (let i = 0; i < steps; i++) kept.push(ft.fromTypedArray(data).mul(2).mean())
    if (kept.length !== steps) throw new Error('a loss is missing')
  }
})

const FOUR_MIB = kib(4 << 10)

/** Calls whose results are dropped, each of which JavaScript is given, or keeps open, 4 MiB. */
const calls = (what: string, prepare: () => () => unknown, steps = 300): Loop => ({
  what: `${what} ${steps} times, 4 MiB each`,
  bound: 300,
  steps,
  run(count) {
    const call = prepare()
    for (let i = 0; i < count; i++) call()
  }
})

/** The same of one tensor. */
const results = (what: string, call: (x: Tensor<'float32'>) => unknown, steps?: number): Loop =>
  calls(
    what,
    () => {
      const x = ft.ones([FOUR_MIB])
      ft.evaluateSync(x)
      return () => call(x)
    },
    steps
  )

/** The same of bytes in a format. */
const files = (what: string, encode: (x: Tensor<'float32'>) => Uint8Array, call: (bytes: Uint8Array) => unknown): Loop =>
  calls(what, () => {
    const bytes = encode(ft.ones([FOUR_MIB]))
    return () => call(bytes)
  })

const safetensors = (w: Tensor<'float32'>): Uint8Array => ft.io.encodeSafetensorsSync({ w })

export const LOOPS: Readonly<Record<string, Loop>> = {
  unread: chain('never read', () => {}),
  sums: chain('a sum read every 4 steps', (x, i) => void (i % 4 === 0 && x.sum().itemSync())),
  evaluated: chain('each evaluated', (x) => ft.evaluateSync(x)),
  read: chain('each read', (x) => void x.dataSync()),
  uploads: {
    what: '400 uploads of 8 MiB',
    bound: 400,
    steps: 400,
    run(steps) {
      const data = new Float32Array(EIGHT_MIB)
      for (let i = 0; i < steps; i++) ft.fromTypedArray(data)
    }
  },
  small: {
    what: 'a million operations on 4 KiB',
    bound: 200,
    steps: 1e6,
    run(steps) {
      let x: Tensor = ft.ones([kib(4)])
      for (let i = 0; i < steps; i++) x = x.add(1)
      x.at(0).itemSync()
    }
  },
  losses: losses('1 MiB', kib(1 << 10)),
  smallLosses: losses('64 KiB', kib(64)),
  state: {
    what: 'a 32 MiB state replaced 12 times, with 400 MiB of evaluated temporaries between',
    bound: 1024,
    steps: 12,
    run(steps) {
      let state: Tensor = ft.ones([kib(32 << 10)])
      for (let step = 0; step < steps; step++) {
        for (let i = 0; i < 100; i++) ft.evaluateSync(ft.ones([kib(4 << 10)]).add(i))
        ft.evaluateSync((state = state.mul(0.5)))
      }
    }
  },
  positions: {
    what: 'a million slice positions',
    bound: 200,
    steps: 1e6,
    run(steps) {
      const x = ft.arange(1000)
      for (let i = 0; i < steps; i++) x.at(i % 1000)
    }
  },
  dropped: {
    what: 'a million dropped expressions over one tensor of 4 MiB',
    bound: 200,
    steps: 1e6,
    run(steps) {
      const x = ft.ones([kib(4 << 10)])
      ft.evaluateSync(x)
      for (let i = 0; i < steps; i++) x.mul(2).sum()
    }
  },
  shapes: {
    what: '400,000 shapes',
    // Node 24 lets its heap grow to 220 MiB here, after 10^5 shapes as after 8 * 10^5; Node 22 to 70 MiB.
    bound: 320,
    steps: 4e5,
    run(steps) {
      for (let i = 0; i < steps; i++) ft.zeros([1 + (i % 1000), 1 + Math.floor(i / 1000)])
    }
  },
  npy: results('encodeNpySync', (x) => ft.io.encodeNpySync(x)),
  npz: results('encodeNpzSync', (x) => ft.io.encodeNpzSync({ x })),
  deflated: results('encodeNpzSync, deflated,', (x) => ft.io.encodeNpzSync({ x }, { compressed: true }), 100),
  safetensors: results('encodeSafetensorsSync', safetensors),
  text: results('encodeTextSync', (x) => ft.io.encodeTextSync(x), 80),
  data: results('dataSync', (x) => x.dataSync()),
  bytes: results('toBytes', (x) => x.toBytes()),
  opened: files('openSafetensorsSync without close', safetensors, (bytes) => ft.io.openSafetensorsSync(bytes)),
  loaded: files('loadSafetensorsSync', safetensors, (bytes) => ft.io.loadSafetensorsSync(bytes)),
  array: files('loadNpySync', (x) => ft.io.encodeNpySync(x), (bytes) => ft.io.loadNpySync(bytes)),
  scopes: {
    what: '300 scopes with temporaries of 8 MiB',
    bound: 300,
    steps: 300,
    run(steps) {
      const x = ft.ones([EIGHT_MIB])
      for (let i = 0; i < steps; i++) ft.scope(() => x.add(i).mul(2).sum().itemSync())
    }
  }
}

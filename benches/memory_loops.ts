// Plain loops that must not run out of memory: no scope, no dispose, no turn of the event loop.

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'

export interface Loop {
  readonly what: string
  /** Mebibytes above the start that the resident set may reach. */
  readonly bound: number
  readonly run: (smoke: boolean) => void
}

const floats = (mebibytes: number) => (mebibytes << 20) / 4

export const LOOPS: Readonly<Record<string, Loop>> = {
  chain: {
    what: 'x = x.add(1) 400 times on 8 MiB, a sum read every 4 steps',
    bound: 400,
    run() {
      let x: Tensor = ft.zeros([floats(8)])
      for (let i = 1; i <= 400; i++) {
        x = x.add(1)
        if (i % 4 === 0) x.sum().itemSync()
      }
    }
  },
  reads: {
    what: 'x = x.add(1) 400 times on 8 MiB, every result evaluated',
    bound: 400,
    run() {
      let x: Tensor = ft.zeros([floats(8)])
      for (let i = 0; i < 400; i++) ft.evaluateSync((x = x.add(1)))
    }
  },
  small: {
    what: 'a million operations on 4 KiB',
    bound: 150,
    run(smoke) {
      let x: Tensor = ft.zeros([1024])
      for (let i = 0; i < (smoke ? 1e4 : 1e6); i++) x = x.add(1)
      x.dataSync()
    }
  },
  losses: {
    what: '10,000 losses of fresh 1 MiB tensors, pushed and never read',
    bound: 600,
    run(smoke) {
      const data = new Float32Array(floats(1))
      const losses: Tensor[] = []
      for (let i = 0; i < (smoke ? 1e3 : 1e4); i++) losses.push(ft.fromTypedArray(data).mul(2).mean())
    }
  },
  state: {
    what: 'a 32 MiB state replaced 20 times with 400 MiB of evaluated temporaries between',
    bound: 1024,
    run(smoke) {
      let state: Tensor = ft.zeros([floats(32)])
      for (let step = 0; step < (smoke ? 2 : 20); step++) {
        for (let i = 0; i < 50; i++) ft.evaluateSync(ft.full([floats(8)], i))
        ft.evaluateSync((state = state.add(1)))
      }
    }
  },
  shapes: {
    what: 'a million distinct slice positions and 100,000 distinct shapes',
    bound: 150,
    run(smoke) {
      const x = ft.arange(1 << 20)
      for (let i = 0; i < (smoke ? 1e4 : 1e6); i++) x.at(i)
      for (let i = 1; i <= (smoke ? 1e3 : 1e5); i++) ft.zeros([i % 300, Math.floor(i / 300)])
    }
  }
}

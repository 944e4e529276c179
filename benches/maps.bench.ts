// Elementwise maps on float32 beside NumPy in the same run: exp and tanh on 1e5 elements, add on 1e7.

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { besideNumPy } from './beside_numpy.js'
import { printMachine } from './machine.js'
import { startPeer } from './peers/peer.js'
import { PEERS, withFile } from './peers/registry.js'
import { duration } from './race.js'

interface Case {
  readonly name: string
  readonly size: number
  readonly run: (x: Tensor) => Tensor
  /** The same in Python. */
  readonly numpy: string
}

const CASES: readonly Case[] = [
  { name: 'exp', size: 1e5, run: (x) => x.exp(), numpy: 'np.exp(x)' },
  { name: 'tanh', size: 1e5, run: (x) => x.tanh(), numpy: 'np.tanh(x)' },
  { name: 'add', size: 1e7, run: (x) => x.add(x), numpy: 'x + x' }
]

/** Results differ by an ULP at most. */
const TOLERANCE = 1e-6

/** -2 to 2 in steps of 0.004. */
const operand = (size: number): Tensor => ft.fromTypedArray(Float32Array.from({ length: size }, (_, i) => Math.fround((i % 1000) / 250) - 2))

printMachine()
const numpy = await startPeer(PEERS.numpy)
if (numpy !== null) console.log(`NumPy ${numpy.version}`)
console.log()
for (const { name, size, run, numpy: expression } of CASES) {
  const x = operand(size)
  if (numpy !== null) await withFile({ x }, (file) => numpy.load(file))
  const { own, peer, noise, difference } = await besideNumPy(numpy, () => run(x), expression, TOLERANCE)
  const noisy = noise === null ? '' : `  (noisy: others used ${(100 * noise).toFixed(0)} % of the machine)`
  const ratio = peer === null ? '' : `, NumPy ${duration(peer)}: ${(peer / own).toFixed(2)} x`
  console.log(`${name} ${size.toExponential()} float32: ${duration(own)}${ratio}${noisy}`)
  if (difference !== null) {
    console.log(`${name}: ${difference}`)
    process.exitCode = 1
  }
}
numpy?.close()

// Elementwise maps on float32 beside NumPy in the same run: exp and tanh on 1e5 elements, add on 1e7.

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
import { printMachine, watchNeighbours } from './machine.js'
import { startNumPy } from './numpy.js'
import { duration, NOISY, race, repeat, type Contender } from './race.js'

interface Case {
  readonly name: string
  readonly size: number
  readonly run: (x: Tensor) => Tensor
}

const CASES: readonly Case[] = [
  { name: 'exp', size: 1e5, run: (x) => x.exp() },
  { name: 'tanh', size: 1e5, run: (x) => x.tanh() },
  { name: 'add', size: 1e7, run: (x) => x.add(x) }
]

/** Checksums are sums of float64 over results that differ by an ULP at most. */
const CHECKSUM_TOLERANCE = 1e-5

/** The same numbers as in numpy_peer.py: -2 to 2 in steps of 0.004. */
const operand = (size: number): Tensor => ft.fromTypedArray(Float32Array.from({ length: size }, (_, i) => Math.fround((i % 1000) / 250) - 2))

function ours({ size, run }: Case): Contender {
  const x = operand(size)
  return {
    name: 'ferrotensor',
    slice(seconds) {
      const time = repeat(seconds, 1, () => {
        const y = run(x)
        ft.evaluateSync(y)
        y.dispose()
      })
      return { seconds: time, checksum: Number(run(x).astype('float64').sum().itemSync()) }
    }
  }
}

printMachine()
const numpy = await startNumPy()
if (numpy !== null) console.log(`NumPy ${numpy.version}`)
console.log()
for (const which of CASES) {
  const { name, size } = which
  const share = watchNeighbours()
  const before = numpy?.cpuSeconds() ?? 0
  const [own, peer] = await race([ours(which), ...(numpy === null ? [] : [numpy.contender(name, size)])])
  if (own === undefined) throw new Error('nothing ran')
  const others = share((numpy?.cpuSeconds() ?? 0) - before)
  const noise = others === null || others <= NOISY ? '' : `  (noisy: others used ${(100 * others).toFixed(0)} % of the machine)`
  const ratio = peer === undefined ? '' : `, NumPy ${duration(peer.seconds)}: ${(peer.seconds / own.seconds).toFixed(2)} x`
  console.log(`${name} ${size.toExponential()} float32: ${duration(own.seconds)}${ratio}${noise}`)
  if (peer !== undefined && Math.abs(own.checksum - peer.checksum) > CHECKSUM_TOLERANCE * Math.abs(peer.checksum) + size * 1e-7) {
    console.log(`${name}: checksums differ: ${own.checksum} and NumPy's ${peer.checksum}`)
    process.exitCode = 1
  }
}
numpy?.close()

// Every operation on about 10^6 elements beside NumPy: time per element of the largest operand or result, and the list of what is
// slower than NumPy. Fails where results differ, and where an operation has no case.

import { Tensor } from 'ferrotensor'
import { besideNumPy, type Comparison } from './beside_numpy.js'
import { tensorsOf } from './contender.js'
import { printMachine } from './machine.js'
import { ALGEBRA } from './operations/algebra.js'
import type { Case } from './operations/case.js'
import { omissions } from './operations/coverage.js'
import { CREATION } from './operations/creation.js'
import { ELEMENTWISE } from './operations/elementwise.js'
import { NETWORKS } from './operations/networks.js'
import { makeOperands, tensors, type Operands } from './operations/operands.js'
import { PLACES } from './operations/places.js'
import { REDUCTIONS } from './operations/reductions.js'
import { startPeer } from './peers/peer.js'
import { PEERS, withFile } from './peers/registry.js'
import { duration, type Pace } from './race.js'

const CASES: readonly Case[] = [...ELEMENTWISE, ...REDUCTIONS, ...ALGEBRA, ...NETWORKS, ...PLACES, ...CREATION]

const smoke = process.argv.includes('--smoke')
const SIDE = smoke ? 32 : 1000
/** Small slices: there are some 400 races. The limit is for calls that take longer than a slice. */
const PACE: Pace = smoke ? { rounds: 1, slice: 0.001 } : { rounds: 5, slice: 0.02, limit: 1 }
/** Of results of the same functions in float32, once summed up. */
const TOLERANCE = 1e-5
/** A ratio worth a look. */
const SLOWER = 1.5

/** What a case reads, as text, and how many elements its largest tensor has. */
function sizes(run: Case[1], operands: Operands): { readonly on: string; readonly elements: number } {
  const read = new Map<string, Tensor>()
  const watched = new Proxy(operands, {
    get(all, name) {
      const value: unknown = Reflect.get(all, name)
      if (value instanceof Tensor) read.set(String(name), value)
      return value
    }
  })
  const results = tensorsOf(run(watched))
  const elements = Math.max(...[...read.values(), ...results].map(({ size }) => size))
  results.forEach((x) => x.dispose())
  return { on: [...read].map(([name, { dtype, shape }]) => `${name} ${dtype}[${shape.join(', ')}]`).join(', '), elements }
}

const line = (name: string, own: string, peer: string, ratio: string, rest: string) =>
  console.log(`${name.padEnd(30)} ${own.padStart(8)} ${peer.padStart(8)} ${ratio.padStart(7)}  ${rest}`.trimEnd())

printMachine()
const numpy = await startPeer(PEERS.numpy)
if (numpy !== null) console.log(`NumPy ${numpy.version}`)
const operands = makeOperands(SIDE)
if (numpy !== null) await withFile(tensors(operands), (file) => numpy.load(file, { n: operands.n, side: operands.side }))
const wrong = omissions(CASES.map(([name]) => name.split(' ')[0] as string))
const compared: (Comparison & { readonly name: string; readonly ratio: number })[] = []

console.log('\ntime per element; how many times as long NumPy takes; operands. ~: others used the machine')
line('', 'ours', 'NumPy', '', '')
for (const [name, run, expression, tolerance = TOLERANCE] of CASES) {
  const { on, elements } = sizes(run, operands)
  const result = await besideNumPy(numpy, () => run(operands), expression === '-' ? null : expression, tolerance, PACE)
  const { own, peer, noise, difference } = result
  const ratio = peer === null ? '' : `${(peer / own).toFixed(2)} x`
  line(name, duration(own / elements), peer === null ? '-' : duration(peer / elements), `${ratio}${noise === null ? ' ' : '~'}`, on)
  if (peer !== null) compared.push({ ...result, name, ratio: own / peer })
  if (difference !== null) wrong.push(`${name}: ${difference}`)
}
numpy?.close()

// On small operands all is slower that has a call to make: see the bench tiny.
if (numpy !== null && !smoke) {
  console.log(`\nslower than NumPy by more than ${SLOWER} x:`)
  const slower = compared.filter(({ ratio }) => ratio > SLOWER).sort((a, b) => b.ratio - a.ratio)
  for (const { name, own, peer, ratio, noise } of slower) {
    console.log(`${ratio.toFixed(2).padStart(8)} x  ${name}: ${duration(own)}, NumPy ${duration(peer as number)}${noise === null ? '' : '  ~'}`)
  }
}
if (wrong.length > 0) {
  console.log(`\nwrong:\n${wrong.join('\n')}`)
  process.exitCode = 1
}

// Backends of flat arrays on the same work, from tiny to large: which is fastest, what `autoSelect` chooses, and how far that is from the
// best. `lib/backends/thresholds.ts` is set by hand after it.

import * as ft from 'ferrotensor'
import { printMachine, watchNeighbours } from './machine.js'
import { duration, NOISY, PACE, race, repeat, type Contender } from './race.js'

type Backend = ft.backends.Backend

/** A piece of work that every backend can do, and the size it is listed by. */
interface Work {
  readonly size: number
  readonly workload: ft.backends.Workload
  /** A call into memory that is there: allocation is not what is compared. */
  call(backend: Backend): () => number
}

const smoke = process.argv.includes('--smoke')
const SIDES = smoke ? [4, 100] : [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048]
const LENGTHS = smoke ? [16, 1 << 14] : [16, 64, 256, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22]
/** A call that takes longer is the last of its backend: the next is up to eight times as long. */
const LONGEST = 0.5
/** Calls between two looks at the clock take at least this long together. */
const LOOK = 1e-5
/** float32 products of different backends agree within this, relative to the first. */
const TOLERANCE = 1e-4

const operand = (length: number): Float32Array => Float32Array.from({ length }, (_, i) => ((i * 37) % 101) / 101 + 0.5)

function square(n: number): Work {
  const [a, b, out] = [operand(n * n), operand(n * n), new Float32Array(n * n)]
  return { size: n, workload: { op: 'matmul', m: n, n, k: n }, call: (backend) => () => backend.matmul(a, b, n, n, n, { out })[n * n - 1] as number }
}

type Vector = Exclude<ft.backends.Workload['op'], 'matmul'>

function vector(op: Vector, length: number): Work {
  const [a, b, out] = [operand(length), operand(length), new Float32Array(length)]
  const calls: Record<Vector, (backend: Backend) => () => number> = {
    add: (backend) => () => backend.add(a, b, { out })[length - 1] as number,
    dot: (backend) => () => backend.dot(a, b),
    sum: (backend) => () => backend.sum(a),
    scale: (backend) => () => backend.scale(a, 1.5, { out })[length - 1] as number
  }
  return { size: length, workload: { op, length }, call: calls[op] }
}

const CASES: readonly (readonly [title: string, sizes: readonly number[], work: (size: number) => Work])[] = [
  ['matmul, n x n by n x n', SIDES, square],
  ...(['add', 'dot', 'sum', 'scale'] as const).map((op) => [op, LENGTHS, (length: number) => vector(op, length)] as const)
]

function contender(backend: Backend, call: () => number): Contender {
  let calls = 0
  return {
    name: backend.name,
    slice(seconds) {
      if (calls === 0) {
        const once = repeat(0, 1, () => void call())
        calls = Math.max(1, Math.ceil(LOOK / Math.max(once, 1e-8)))
      }
      return { seconds: repeat(seconds, calls, () => void call()), checksum: call() }
    }
  }
}

printMachine()
const here = ft.backends.list().filter((backend) => backend.isAvailable())
for (const { name, reason } of ft.backends.list().map((backend) => backend.info())) if (reason !== undefined) console.log(`left out: ${name}: ${reason}`)

for (const [title, sizes, make] of CASES) {
  console.log(`\n${title}, float32\n${'size'.padStart(9)}${here.map(({ name }) => name.padStart(11)).join('')}   fastest    autoSelect`)
  let racing = here
  for (const size of sizes) {
    const work = make(size)
    const share = watchNeighbours()
    const results = await race(racing.map((backend) => contender(backend, work.call(backend))), { ...PACE, limit: 4 * LONGEST })
    const noise = share(0)
    const seconds = new Map(results.map((result) => [result.name, result.seconds]))
    const best = results.reduce((fastest, result) => (result.seconds < fastest.seconds ? result : fastest))
    const chosen = ft.backends.autoSelect(work.workload).name
    const behind = (seconds.get(chosen) ?? Infinity) / best.seconds
    const times = here.map(({ name }) => (seconds.has(name) ? duration(seconds.get(name) as number) : '-').padStart(11))
    const noisy = noise !== null && noise > NOISY ? '  ~' : ''
    console.log(`${String(size).padStart(9)}${times.join('')}   ${best.name.padEnd(11)}${chosen}, ${behind.toFixed(2)} x its time${noisy}`)
    for (const { name, checksum } of results) {
      if (Math.abs(checksum - (results[0]?.checksum ?? NaN)) <= TOLERANCE * Math.abs(checksum)) continue
      console.log(`${name}: results differ: ${checksum}, ${results[0]?.name}'s is ${results[0]?.checksum}`)
      process.exitCode = 1
    }
    racing = racing.filter(({ name }) => (seconds.get(name) ?? Infinity) <= LONGEST)
    if (racing.length === 0) break
  }
}

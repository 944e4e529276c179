// The cost of an operation that computes almost nothing: `a.add(b)` on 4 elements. In programs of 32 with the share of
// recording, serialising and the native call; alone with `dataSync()`; alone with an awaited `data()`.

import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'
// Inside the package: the bench puts a clock around the one native call of a program.
import { native } from '../lib/native.js'
import { printMachine } from './machine.js'
import { duration, median, PACE, repeat } from './race.js'

const PROGRAM = 32
/** Calls between two looks at the clock, which takes 40 ns. */
const CALLS = 100

const a = ft.tensor([1, 2, 3, 4])
const b = ft.tensor([1e-9, 1e-9, 1e-9, 1e-9])
let sink: Tensor = a

function record(): void {
  let x: Tensor = a
  for (let i = 0; i < PROGRAM; i++) x = x.add(b)
  sink = x
}

function recordAndRead(): void {
  record()
  sink.dataSync()
}

/** The median of several slices, in seconds per call. */
const measure = (calls: number, f: () => void) => {
  repeat(PACE.slice, calls, f)
  return median(Array.from({ length: PACE.rounds }, () => repeat(PACE.slice, calls, f)))
}

/** The native call's share: a clock around it, less what the clock itself takes. */
function nativeSeconds(): number {
  const { run } = native
  let total = 0
  native.run = (out) => {
    const start = performance.now()
    const handle = run(out)
    total += performance.now() - start
    return handle
  }
  const clock = measure(CALLS, () => void performance.now())
  const shares = Array.from({ length: PACE.rounds }, () => {
    total = 0
    for (let i = 0; i < CALLS; i++) recordAndRead()
    return total / 1000 / CALLS - clock
  })
  native.run = run
  return median(shares)
}

async function awaited(): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < PACE.rounds; round++) {
    const start = performance.now()
    for (let i = 0; i < CALLS; i++) await a.add(b).data()
    times.push((performance.now() - start) / 1000 / CALLS)
  }
  return median(times)
}

printMachine()
const whole = measure(CALLS, recordAndRead)
const recording = measure(CALLS, record)
const running = nativeSeconds()
const perOp = (seconds: number) => duration(seconds / PROGRAM).padStart(8)
console.log(`\na.add(b) on 4 elements, per operation in programs of ${PROGRAM}, read included:`)
console.log(`  all          ${perOp(whole)}`)
console.log(`  recording    ${perOp(recording)}`)
console.log(`  native call  ${perOp(running)}  (look-up, admission, kernels, handle; \`cargo bench -p ferrotensor-engine\` splits it)`)
console.log(`  the rest     ${perOp(Math.max(0, whole - recording - running))}  (serialising, reading, collecting)`)
console.log(`one operation and dataSync(): ${duration(measure(CALLS, () => void a.add(b).dataSync()))}`)
console.log(`one operation and await data(): ${duration(await awaited())}`)

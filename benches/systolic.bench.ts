// Ticks a second of systolic arrays of 32 x 32 multiply-accumulate elements, on each way to run them, and the time in which a network's layers are simulated. Fails
// where the interpreted array makes fewer than 20,000 ticks a second, or 54 layers take more than 50 ms; `--smoke` runs it for a moment and judges nothing.

import * as ft from 'ferrotensor'
import { printMachine } from './machine.js'

const { systolic } = ft
const smoke = process.argv.includes('--smoke')

const SIZE = 32
const TICKS = smoke ? 100 : 2000
const ROUNDS = smoke ? 1 : 7
const GATES = { ticks: 20_000, milliseconds: 50 } as const

/** The same arithmetic as an element that the package does not know. */
const OWN: ft.systolic.Element<{ readonly acc: number }> = {
  init: () => ({ acc: 0 }),
  step: ({ acc }, { west, north }) => [{ acc: acc + (west === systolic.EMPTY || north === systolic.EMPTY ? 0 : (west as number) * (north as number)) }, { east: west, south: north }]
}

/** A square array with values for all ticks. */
function fed(element: ft.systolic.Element): ft.systolic.SystolicArray {
  const values = Array.from({ length: TICKS }, (_, i) => i % 7)
  const edge = Array.from({ length: SIZE }, (_, i) => i)
  return systolic.array(SIZE, SIZE).fill(element).connect('west_to_east').connect('north_to_south')
    .input('west', edge.map((i) => [[i, 0], values]))
    .input('north', edge.map((i) => [[0, i], values]))
}

/** The fewest milliseconds of some rounds: other programs only take time away. */
function fastest(run: () => void): number {
  run()
  return Math.min(...Array.from({ length: ROUNDS }, () => {
    const before = performance.now()
    run()
    return performance.now() - before
  }))
}

const tiles = { backend: 'partitioned', dispatch: 'pool', tileRows: SIZE / 2 } as const
const known = fed(systolic.mac())
const WAYS: readonly (readonly [what: string, array: ft.systolic.SystolicArray, options: Omit<ft.systolic.RunOptions, 'ticks'>])[] = [
  ['mac, interpreted', known, {}],
  ['mac, interpreted, one port collected: elements in general', known.output('east', [[0, SIZE - 1]]), {}],
  ['an element of one\'s own, interpreted', fed(OWN), {}],
  ['mac, two tiles on a kept thread', known, { ...tiles, workers: 1 }],
  ['mac, two tiles on two kept threads', known, { ...tiles, workers: 2 }]
]

printMachine()
console.log(`\nticks a second, ${SIZE} x ${SIZE} elements:`)
WAYS.forEach(([what, array, options], i) => {
  const ticks = (1000 * TICKS) / fastest(() => void systolic.run(array, { ticks: TICKS, ...options }))
  const slow = i === 0 && !smoke && ticks < GATES.ticks
  console.log(`${ticks.toFixed(0).padStart(8)}  ${what}${slow ? `  TOO FEW, ${GATES.ticks} are wanted` : ''}`)
  if (slow) process.exitCode = 1
})

const layers = Array.from({ length: 54 }, (_, i) => ({ height: 14, width: 14, channels: 64 + i, filters: 256, filterHeight: 3, filterWidth: 3, padding: 1 }))
const milliseconds = fastest(() => void systolic.simulate(layers, { rows: 128, cols: 128, dataflow: 'ws' }))
const slow = !smoke && milliseconds > GATES.milliseconds
console.log(`\n${milliseconds.toFixed(2)} ms to simulate 54 layers on 128 x 128${slow ? `  TOO MUCH, ${GATES.milliseconds} are allowed` : ''}`)
if (slow) process.exitCode = 1

// Ticks a second of systolic arrays of multiply-accumulate elements, 32 x 32 on each way to run them, 128 x 128 interpreted and as tensors, and the time in which a network's
// layers are simulated. Fails where the interpreted array of 32 x 32 makes fewer than 20,000 ticks a second, that of tensors fewer than 60,000, or 54 layers take more than
// 50 ms; `--smoke` runs it for a moment and judges nothing.

import * as ft from 'ferrotensor'
import { printMachine } from './machine.js'

const { systolic } = ft
const smoke = process.argv.includes('--smoke')

const SIZE = 32
const TICKS = smoke ? 100 : 2000
const ROUNDS = smoke ? 1 : 7
const GATES = { ticks: 20_000, traced: 60_000, milliseconds: 50 } as const

/** The same arithmetic as an element that the package does not know. */
const OWN: ft.systolic.Element<{ readonly acc: number }> = {
  init: () => ({ acc: 0 }),
  step: ({ acc }, { west, north }) => [{ acc: acc + (west === systolic.EMPTY || north === systolic.EMPTY ? 0 : (west as number) * (north as number)) }, { east: west, south: north }]
}

/** A square array with values for all ticks. */
function fed(element: ft.systolic.Element, size = SIZE): ft.systolic.SystolicArray {
  const values = Array.from({ length: TICKS }, (_, i) => i % 7)
  const edge = Array.from({ length: size }, (_, i) => i)
  return systolic.array(size, size).fill(element).connect('west_to_east').connect('north_to_south')
    .input('west', edge.map((i) => [[i, 0], values]))
    .input('north', edge.map((i) => [[0, i], values]))
}

/** The same as tensors: a run of all ticks, to the end. */
function tracedRun(size: number, outputs: readonly 'east'[]): () => void {
  const net = systolic.traced({
    rows: size, cols: size,
    state: { acc: 'float32' },
    ports: { east: [0, 1], south: [1, 0] },
    step: ({ acc }, { west, north }) => [{ acc: acc.add(west.mul(north)) }, { east: west, south: north }]
  })
  const values = ft.arange(TICKS, { dtype: 'float32' }).mod(7).reshape([TICKS, 1]).mul(ft.ones([size]))
  ft.evaluateSync(values)
  return () => {
    const { state, outputs: left } = net.run({ west: values, north: values }, { ticks: TICKS, outputs })
    ft.evaluateSync(state.acc, ...Object.values(left))
  }
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

const wide = fed(systolic.mac(), 128)
/** Rows of the table, with the ticks a second that are the least. */
const rows: readonly (readonly [what: string, run: () => void, least: number])[] = [
  ...WAYS.map(([what, array, options], i) => [what, () => void systolic.run(array, { ticks: TICKS, ...options }), i === 0 ? GATES.ticks : 0] as const),
  ['traced', tracedRun(SIZE, []), GATES.traced],
  ['traced, one port collected', tracedRun(SIZE, ['east']), 0],
  ['128 x 128: mac, interpreted', () => void systolic.run(wide, { ticks: TICKS }), 0],
  ['128 x 128: traced', tracedRun(128, []), 0]
]

printMachine()
console.log(`\nticks a second, ${SIZE} x ${SIZE} elements where nothing else is said:`)
for (const [what, run, least] of rows) {
  const ticks = (1000 * TICKS) / fastest(run)
  const slow = !smoke && ticks < least
  console.log(`${ticks.toFixed(0).padStart(8)}  ${what}${slow ? `  TOO FEW, ${least} are wanted` : ''}`)
  if (slow) process.exitCode = 1
}

const layers = Array.from({ length: 54 }, (_, i) => ({ height: 14, width: 14, channels: 64 + i, filters: 256, filterHeight: 3, filterWidth: 3, padding: 1 }))
const milliseconds = fastest(() => void systolic.simulate(layers, { rows: 128, cols: 128, dataflow: 'ws' }))
const slow = !smoke && milliseconds > GATES.milliseconds
console.log(`\n${milliseconds.toFixed(2)} ms to simulate 54 layers on 128 x 128${slow ? `  TOO MUCH, ${GATES.milliseconds} are allowed` : ''}`)
if (slow) process.exitCode = 1

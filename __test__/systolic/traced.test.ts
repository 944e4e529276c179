// Systolic arrays of tensor programs: the same values as the interpreted array, on integers and in float32, in one run or several; products; gradients; long runs.
// runs on: node, vulkan

import test, { type ExecutionContext } from 'ava'
import * as ft from 'ferrotensor'
import { edgeOf, interpretedOf, KINDS, mixer, tracedOf, type Kind, type KindPort } from './traced-kinds.js'

const { systolic } = ft

/** Whole numbers from -9 to 9, the same for a seed. */
function drawn(seed: number): () => number {
  let state = seed + 1
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 16) % 19 - 9
  }
}

/** Inputs for all ports but one of three, as rows of ticks. */
function inputsFor({ ports }: Kind, rows: number, cols: number, ticks: number, seed: number): Record<string, number[][]> {
  const draw = drawn(seed)
  const fed = Object.values(ports).filter((_, i) => (seed + i) % 3 > 0)
  return Object.fromEntries(fed.map(({ as, offset }) => [as, Array.from({ length: ticks }, () => edgeOf(rows, cols, offset, false).map(draw))]))
}

const tensorsOf = (inputs: Record<string, number[][]>): Record<string, ft.Tensor> => Object.fromEntries(Object.entries(inputs).map(([name, rows]) => [name, ft.tensor(rows, { dtype: 'int32' })]))

/** States and outputs of both arrays after some ticks. */
function same(t: ExecutionContext, kind: Kind, rows: number, cols: number, ticks: number, seed: number, about: string): void {
  const inputs = inputsFor(kind, rows, cols, ticks, seed)
  const names = Object.keys(kind.ports)
  const expected = systolic.run(interpretedOf(kind, rows, cols, inputs), { ticks })
  const run = tracedOf(kind, rows, cols).run(tensorsOf(inputs), { ticks, outputs: names })
  const states = [...expected.resultMap().values()] as Record<string, number>[]
  for (const name of Object.keys(kind.init)) t.deepEqual((run.state[name].toArray() as number[][]).flat(), states.map((state) => state[name] as number), `${about}: ${name}`)
  for (const name of names) {
    const left = expected.outputs.filter(({ port }) => port === name).map(({ value }) => value)
    t.deepEqual((run.outputs[name].toArray() as number[][]).flat(), left, `${about}: ${name}`)
    t.deepEqual(run.outputs[name].shape, [ticks, edgeOf(rows, cols, (kind.ports[name] as KindPort).offset, true).length])
  }
  t.is(run.tick, ticks)
}

const SIZES: readonly (readonly [number, number, number])[] = [[1, 1, 3], [1, 7, 20], [6, 1, 9], [2, 2, 64], [5, 4, 65], [8, 8, 1], [33, 17, 40]]

for (const [name, kind] of Object.entries(KINDS)) {
  test(`traced == interpreted: ${name}`, (t) => {
    SIZES.forEach(([rows, cols, ticks], i) => same(t, kind, rows, cols, ticks, i, `${name} ${rows} x ${cols}, ${ticks} ticks`))
  })
}

test('traced == interpreted: ports of any offset and latency', (t) => {
  const offsets = [[0, 1], [1, 0], [0, -1], [-1, 0], [1, 1], [-1, 1], [1, -1], [-1, -1], [0, 2], [-2, 0], [2, -3], [-3, 1]] as const
  for (let seed = 0; seed < 24; seed++) {
    const draw = drawn(100 + seed)
    const ports = Object.fromEntries(Array.from({ length: 1 + (seed % 3) }, (_, i): [string, KindPort] => [`p${i}`, { offset: offsets[(seed + 5 * i) % offsets.length]!, as: `r${i}`, latency: 1 + ((seed + i) % 4), empty: draw() }]))
    const [rows, cols] = [1 + (seed % 5), 1 + ((seed * 3) % 7)]
    same(t, mixer(ports), rows, cols, 3 + 5 * (seed % 6), seed, `mixer ${seed}, ${rows} x ${cols}`)
  }
})

test('a run goes on from another', (t) => {
  for (const [kind, ticks] of [[KINDS['dp'], [1, 2, 70]], [KINDS['minPlus'], [2, 0, 1, 1, 9]], [KINDS['sorter'], [65, 1]]] as [Kind, number[]][]) {
    const all = ticks.reduce((sum, n) => sum + n, 0)
    const inputs = inputsFor(kind, 4, 3, all, 1)
    const net = tracedOf(kind, 4, 3)
    const outputs = Object.keys(kind.ports)
    const whole = net.run(tensorsOf(inputs), { ticks: all, outputs })
    const slice = (from: number, count: number): Record<string, ft.Tensor> => Object.fromEntries(Object.entries(tensorsOf(inputs)).map(([name, x]) => [name, x.at(ft.slice(from, from + count))]))
    let run: any
    const left: Record<string, number[][]> = Object.fromEntries(outputs.map((name) => [name, []]))
    let done = 0
    for (const count of ticks) {
      run = net.run(slice(done, count), { ticks: count, outputs, from: run })
      for (const name of outputs) left[name]!.push(...(run.outputs[name].toArray() as number[][]))
      done += count
    }
    for (const name of Object.keys(kind.init)) t.deepEqual(run.state[name].toArray(), whole.state[name].toArray())
    for (const name of outputs) t.deepEqual(left[name], whole.outputs[name].toArray())
    for (const name of outputs) t.deepEqual(run.links[name].map((x: ft.Tensor) => x.toArray()), whole.links[name].map((x: ft.Tensor) => x.toArray()))
    t.is(run.tick, all)
  }
})

/** Multiply-accumulate elements over a dtype. */
const macs = <D extends ft.DType>(rows: number, cols: number, dtype: D) => systolic.traced({
  rows, cols,
  state: { acc: dtype },
  ports: { east: [0, 1], south: [1, 0] },
  step: ({ acc }, { west, north }) => [{ acc: acc.add(west.mul(north)) as typeof acc }, { east: west, south: north }]
})

/** Rows that begin one tick later each, [ticks, rows]. */
const skewed = (x: ft.Tensor, ticks: number): ft.Tensor => {
  const [rows, length] = x.shape as [number, number]
  return ft.stack(Array.from({ length: rows }, (_, i) => x.at(i).pad([[i, ticks - length - i]])), { axis: 1 })
}

/** A product on an array of its result's size. */
function product(a: ft.Tensor, b: ft.Tensor): ft.Tensor {
  const [m, k] = a.shape as [number, number]
  const n = b.shape[1] as number
  const ticks = m + n + k - 2
  return macs(m, n, a.dtype).run({ west: skewed(a, ticks), north: skewed(b.transpose(), ticks) } as never, { ticks }).state.acc
}

test('products are those of matmul', (t) => {
  for (const dtype of ['float32', 'int32', 'float64', 'float16', 'bfloat16'] as const) {
    for (const [m, k, n] of [[1, 1, 1], [3, 5, 2], [17, 9, 33]] as const) {
      const draw = drawn(m)
      const values = (rows: number, cols: number): ft.Tensor => ft.tensor(Array.from({ length: rows }, () => Array.from({ length: cols }, () => draw() % 4)), { dtype, device: 'cpu' })
      const [a, b] = [values(m, k), values(k, n)]
      t.deepEqual(product(a, b).toArray(), a.matmul(b).toArray(), `${dtype} ${m} ${k} ${n}`)
    }
  }
})

test('float32 sums are rounded at each operation, as Math.fround does', (t) => {
  const [rows, cols, ticks] = [9, 5, 80]
  const round = Math.fround
  const values = (seed: number, n: number): number[][] => {
    const draw = drawn(seed)
    return Array.from({ length: ticks }, () => Array.from({ length: n }, () => round(draw() / 7 + draw() / 1000)))
  }
  const [west, north] = [values(1, rows), values(2, cols)]
  const element: ft.systolic.Element<number> = {
    init: () => 0,
    step: (acc, read) => {
      const [w, n] = [read['west'], read['north']].map((value) => (value === systolic.EMPTY ? 0 : (value as number))) as [number, number]
      return [round(acc + round(w * n)), { east: w, south: n }]
    }
  }
  const column = (list: number[][], i: number): number[] => list.map((row) => row[i] as number)
  const expected = systolic.run(systolic.array(rows, cols).fill(element).connect('west_to_east').connect('north_to_south')
    .input('west', Array.from({ length: rows }, (_, i) => [[i, 0], column(west, i)]))
    .input('north', Array.from({ length: cols }, (_, j) => [[0, j], column(north, j)])), { ticks })
  t.deepEqual(macs(rows, cols, 'float32').run({ west: ft.tensor(west), north: ft.tensor(north) }, { ticks }).state.acc.toArray(), expected.resultMatrix())
})

test('the dtypes of states and ports', (t) => {
  for (const dtype of ['bool', 'uint8', 'int64', 'float16', 'bfloat16', 'float64', 'complex64'] as const) {
    const net = systolic.traced({ rows: 1, cols: 2, state: { any: dtype }, ports: { east: [0, 1] }, step: ({ any }, { west }) => [{ any: (dtype === 'bool' ? ft.logicalOr(any as ft.Tensor, west as ft.Tensor) : ft.add(any as ft.Tensor, west as ft.Tensor)) as typeof any }, { east: west }] })
    const run = net.run({ west: ft.ones([3, 1], { dtype, device: 'cpu' }) as never }, { ticks: 3, outputs: ['east'] })
    t.is(run.state.any.dtype, dtype)
    t.deepEqual(run.state.any.astype('bool').toArray(), [[true, true]])
    t.deepEqual(run.outputs.east.astype('bool').toArray(), [[false], [true], [true]])
    t.deepEqual(net.run({}, { ticks: 0, outputs: ['east'] }).outputs.east.shape, [0, 1])
  }
})

test('gradients go through a run', (t) => {
  const net = macs(2, 3, 'float64')
  const ticks = 70
  const north = ft.random.uniform(ft.random.key(1), [ticks, 3], { dtype: 'float64' })
  const west = ft.random.uniform(ft.random.key(2), [ticks, 2], { dtype: 'float64' })
  const found = ft.grad((w: ft.Tensor<'float64'>) => net.run({ west: w, north }, { ticks }).state.acc.sum())(west)
  // Row i of column j meets what came from the north i ticks, and is met j ticks later.
  const n = north.toArray() as number[][]
  const expected = Array.from({ length: ticks }, (_, tick) => [0, 1].map((i) => [0, 1, 2].reduce((sum, j) => sum + (tick + j < ticks ? (n[tick + j - i]?.[j] ?? 0) : 0), 0)))
  t.true(ft.allclose(found, ft.tensor(expected, { dtype: 'float64' }), { rtol: 1e-12 }).itemSync())
  // The state that a run begins with, through two runs.
  const through = ft.grad((acc: ft.Tensor<'float64'>) => {
    const first = net.run({ west, north }, { ticks, state: { acc } })
    return net.run({}, { ticks: 3, from: first }).state.acc.square().sum()
  })(ft.ones([2, 3], { dtype: 'float64' }))
  t.deepEqual(through.toArray(), net.run({}, { ticks: 3, from: net.run({ west, north }, { ticks, state: { acc: ft.ones([2, 3], { dtype: 'float64' }) } }) }).state.acc.mul(2).toArray())
})

test('inside of jit and vmap', (t) => {
  const net = macs(2, 2, 'float32')
  const west = ft.tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]])
  const north = ft.tensor([[1, 1], [2, 3]])
  const run = (w: ft.Tensor<'float32'>): ft.Tensor => net.run({ west: w, north }, { ticks: 2 }).state.acc
  const expected = [run(west.at(0)).toArray(), run(west.at(1)).toArray()]
  t.deepEqual(ft.jit(run)(west.at(0)).toArray(), expected[0])
  t.deepEqual(ft.vmap(run)(west).toArray(), expected)
})

test('results can be given up alone', (t) => {
  const net = systolic.traced({ rows: 1, cols: 2, state: { held: { dtype: 'float32', init: ft.tensor([[1, 2]]) } }, ports: { east: { offset: [0, 1], latency: 3 } }, step: ({ held }, { west }) => [{ held: held.add(west) }, { east: held }] })
  const first = net.run({}, { ticks: 0 })
  first.state.held.dispose()
  const second = net.run({}, { ticks: 1 })
  second.state.held.dispose()
  t.deepEqual(second.links.east[0]?.toArray(), [[1, 2]])
  const kept = net.run({}, { ticks: 2 })
  const third = net.run({}, { ticks: 1, from: kept })
  for (const x of [kept.state.held, ...kept.links.east]) x.dispose()
  t.deepEqual([third.state.held, ...third.links.east].map((x) => x.toArray()), [[[1, 2]], [[1, 2]], [[0, 1]], [[0, 1]]])
})

test('a long run keeps its memory', (t) => {
  const net = macs(16, 16, 'float32')
  const seen: number[] = []
  const progress: number[] = []
  const run = net.run({}, {
    ticks: 100_000,
    onProgress: ({ done, total, label }) => {
      progress.push(done)
      if (done === 64 * 50 || done === total) seen.push(ft.memory().live)
      if (label !== 'ticks' || total !== 100_000) t.fail()
    }
  })
  t.is(run.tick, 100_000)
  t.deepEqual(progress.slice(0, 2), [64, 128])
  t.is(progress.length, Math.ceil(100_000 / 64))
  t.true((seen[1] as number) < (seen[0] as number) + 2 ** 19, seen.join())
})

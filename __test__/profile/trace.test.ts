// What a profile tells of time: spans and memory, and the trace that Perfetto and chrome://tracing open.
// runs on: node, vulkan

import { readFile } from 'node:fs/promises'
import test from 'ava'
import * as ft from 'ferrotensor'
import { folder } from '../io/folder.js'

const file = folder()

function ready(shape: number[]): ft.Tensor<'float32'> {
  const x = ft.ones(shape)
  ft.evaluateSync(x)
  return x
}

/** A profile with everything in it: programs that are planned, waits, copies in both directions, and the executor's thread. */
const whole = (): Promise<ft.Profile<Float32Array>> =>
  ft.profile(async () => {
    const x = ft.fromTypedArray(new Float32Array(300 * 300).fill(0.01), [300, 300])
    let y = x
    for (let i = 0; i < 3; i++) y = y.matmul(x).add(1) as ft.Tensor<'float32'>
    await ft.evaluate(y)
    y.exp().dataSync()
    return (await y.mul(2).data()) as Float32Array
  })

test.serial('each launch has a span, with the bytes and times of its kernel', async (t) => {
  const p = await whole()
  t.is(p.leftOut, 0)
  for (const kernel of p.kernels) {
    const own = p.spans.filter((span) => span.kernel === kernel)
    t.is(own.length, kernel.count, kernel.name)
    t.true(own.every(({ kind, name, device }) => kind === 'kernel' && name === kernel.name && device === kernel.device))
    t.true(Math.abs(own.reduce((sum, { time }) => sum + time, 0) - kernel.time) <= 1e-6 * kernel.time + 1e-9, kernel.name)
    t.is(own.reduce((sum, { bytes }) => sum + bytes, 0), kernel.read + kernel.written)
  }
  t.true(p.spans.every(({ start, time }) => start >= 0 && time >= 0 && start + time <= p.time), 'within the profile')
  t.true(p.spans.every(({ start }, i) => i === 0 || start >= (p.spans[i - 1] as ft.ProfileSpan).start), 'in the order of starts')
  const of = (kind: ft.SpanKind): readonly ft.ProfileSpan[] => p.spans.filter((span) => span.kind === kind)
  t.is(of('upload').reduce((sum, { bytes }) => sum + bytes, 0), 4 * 300 * 300)
  t.is(of('download').reduce((sum, { bytes }) => sum + bytes, 0), 2 * 4 * 300 * 300)
  t.true(of('program').every(({ thread }) => thread === 'JavaScript') && of('program').reduce((sum, { operations }) => sum + operations, 0) >= 8)
  // What is evaluated without blocking runs on the executor's thread.
  t.true(of('kernel').some(({ thread }) => /^\S+ executor$/.test(thread)), [...new Set(p.spans.map(({ thread }) => thread))].join())
})

test.serial('a program that is met for the first time is planned, within its span', (t) => {
  const x = ready([3, 7, 5])
  const step = (): ft.Tensor => x.sin().sum(1).sqrt().mul(3).cumulativeSum({ axis: 0 })
  const kinds = (p: ft.Profile): string[] => p.spans.filter(({ kind }) => kind !== 'kernel').map(({ kind }) => kind)
  const first = ft.profile(step)
  t.deepEqual(kinds(first).slice(0, 2), ['program', 'planning'])
  const [program, planning] = first.spans as readonly [ft.ProfileSpan, ft.ProfileSpan]
  t.true(planning.start >= program.start && planning.start + planning.time <= program.start + program.time)
  t.false(kinds(ft.profile(step)).includes('planning'))
})

test.serial('memory goes up with what is made, and down with what is dropped', (t) => {
  const x = ready([1 << 20])
  const p = ft.profile(() => {
    const y = x.add(1)
    ft.evaluateSync(y)
    y.dispose()
    const z = x.add(2)
    ft.evaluateSync(z)
    z.dispose()
    ft.evaluateSync(x.at(':4').add(1))
  })
  const own = p.memory.filter(({ device }) => device === x.device).map(({ live }) => live)
  const [before, most, after] = [own[0] as number, Math.max(...own), own.at(-1) as number]
  t.true(most - before >= 4 << 20 && most - before < 8 << 20, `${own}`)
  t.true(after - before < 1 << 20, `${own}`)
  t.true(p.memory.every(({ time }, i) => time >= 0 && (i === 0 || time >= (p.memory[i - 1] as ft.MemorySample).time)))
})

/** What the Trace Event Format asks of an event (section "Event Descriptions"). */
function check(t: { true: (value: boolean, message: string) => void }, events: readonly ft.TraceEvent[]): void {
  for (const event of events) {
    const what = JSON.stringify(event)
    t.true(typeof event.name === 'string' && Number.isInteger(event.pid) && Number.isInteger(event.tid), what)
    t.true(['X', 'C', 'M'].includes(event.ph) && Number.isFinite(event.ts) && event.ts >= 0, what)
    t.true(Object.values(event.args).every((arg) => typeof arg === 'string' || Number.isFinite(arg)), what)
    if (event.ph === 'X') t.true(Number.isFinite(event.dur) && (event.dur as number) >= 0 && typeof event.cat === 'string', what)
    if (event.ph === 'C') t.true(Object.values(event.args).every((arg) => typeof arg === 'number'), what)
    if (event.ph === 'M') t.true(['process_name', 'thread_name', 'thread_sort_index'].includes(event.name), what)
  }
}

test.serial('a trace has valid events, whose threads have names, and whose complete events nest', async (t) => {
  const p = await whole()
  const path = file('trace.json')
  await p.saveTrace(path)
  const trace = JSON.parse(await readFile(path, 'utf8')) as ft.Trace
  t.deepEqual(trace, JSON.parse(JSON.stringify(p.trace())))
  t.is(trace.displayTimeUnit, 'ms')
  const { traceEvents: events } = trace
  check(t, events)
  const names = new Map(events.filter(({ name }) => name === 'thread_name').map(({ tid, args }) => [tid, args['name']]))
  t.is(names.get(1), 'JavaScript')
  const complete = events.filter(({ ph }) => ph === 'X')
  t.is(complete.length, p.spans.length + 1)
  t.true(complete.every(({ tid }) => names.has(tid)))
  for (const tid of names.keys()) {
    const open: number[] = []
    // Viewers need events of a thread inside of one another or apart; a nanosecond is what the sum of two roundings may be off.
    for (const { name, ts, dur } of complete.filter((event) => event.tid === tid)) {
      while (open.length > 0 && (open.at(-1) as number) <= ts + 1e-3) open.pop()
      const end = ts + (dur as number)
      t.true(open.length === 0 || end <= (open.at(-1) as number) + 1e-3, `${name} at ${ts} ends after what it is in`)
      open.push(end)
    }
  }
  const matmul = complete.find(({ name }) => name.startsWith('contract matmul')) as ft.TraceEvent
  t.is(matmul.cat, 'kernel')
  t.true(Number(matmul.args['flop']) >= 2 * 300 ** 3 && Number(matmul.args['bytes']) >= 3 * 4 * 300 * 300 && Number(matmul.args['GFLOP/s']) > 0)
  const counters = events.filter(({ ph }) => ph === 'C')
  t.true(counters.length >= 2 && counters.every(({ name, args }) => name.startsWith('memory of ') && typeof args['bytes'] === 'number'))
})

test.serial('more spans than are kept are counted, and so are their launches', (t) => {
  const x = ready([2])
  const turns = 90_000
  const p = ft.profile(() => {
    for (let i = 0; i < turns; i++) ft.evaluateSync(x.add(i))
  })
  t.is(p.kernels.reduce((sum, { count }) => sum + count, 0), turns)
  // A launch, a program, and a look at memory of each turn.
  t.true(p.spans.length <= (2 / 3) * (1 << 18) + 1 && p.leftOut > 0, `${p.spans.length} and ${p.leftOut}`)
  const { 'spans left out': said } = p.trace().otherData
  t.is(said, p.leftOut)
  t.regex(p.html(), new RegExp(`first ${p.spans.length} spans; ${p.leftOut} more entries are left out`))
})

test.serial('a profile of nothing is a trace of nothing', (t) => {
  const p = ft.profile(() => 1)
  t.deepEqual(p.spans, [])
  check(t, p.trace().traceEvents)
  t.deepEqual(p.trace().traceEvents.filter(({ ph }) => ph === 'X').map(({ name }) => name), ['ft.profile'])
})

test.serial('where a file cannot be written, the error has the system\'s code', async (t) => {
  const p = ft.profile(() => 1)
  for (const save of [p.saveTrace, p.saveHtml]) {
    const error = await t.throwsAsync(save.call(p, file('no/such/folder')))
    t.true(error instanceof ft.FileError && error.systemCode === 'ENOENT', String(error))
    await t.throwsAsync(save.call(p, 7 as never), { message: /^Profile\.save\w+: 'path' must be a path/ })
  }
})

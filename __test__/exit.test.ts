// The process ends soon whatever is in flight, on the CPU within a second, and the event loop stays free meanwhile.
// runs on: node, musl, vulkan, blas

import test, { type ExecutionContext } from 'ava'
import { run } from './child.js'
import { tested } from './device.js'

/**
 * Milliseconds: another device than the CPU is waited for while it ends what was submitted, an estimated 300 ms, and so is a vendor's library
 * while it ends a product, some 1,200 ms at times, on a machine that may be busy.
 */
const SOON = tested === 'cpu' && process.env['FERROTENSOR_BLAS'] === undefined ? 1000 : 10_000

/** Some ten seconds of matrix products, pending as `promise`. */
const SLOW = `
const a = ft.ones([1500, 1500])
let b = a
for (let i = 0; i < 200; i++) b = b.matmul(a).mul(1e-3)
const promise = b.sum().data()`

/** The same script in a worker, whose first message says that it has begun. */
const inWorker = (script: string): string => `
import { Worker } from 'node:worker_threads'
const worker = new Worker(${JSON.stringify(`import * as ft from 'ferrotensor'\nimport { parentPort } from 'node:worker_threads'\n${SLOW}\nparentPort.postMessage('go')\n${script}`)}, { eval: true, execArgv: ['--input-type=module'] })
worker.on('message', () => console.log('go'))
worker.on('error', (e) => { console.error(e.message); process.exitCode = 1 })
worker.on('exit', (code) => { process.exitCode ||= code })`

async function ends(t: ExecutionContext, script: string, code: number | null, onGo?: (kill: (s: NodeJS.Signals) => void) => void): Promise<void> {
  const ended = await run(script, onGo ? { onGo } : {})
  t.log(`${ended.afterGo.toFixed(0)} ms`)
  t.true(ended.stdout.includes('go\n'), ended.stderr)
  t.is(ended.code, code, ended.stderr)
  t.true(ended.afterGo < SOON, `${ended.afterGo} ms`)
}

test.serial('process.exit() while a program runs', (t) => ends(t, `${SLOW}\nconsole.log('go'); setTimeout(() => process.exit(3), 50)`, 3))

test.serial('an uncaught error while a program runs', (t) => ends(t, `${SLOW}\nconsole.log('go'); setTimeout(() => { throw new Error('end') }, 50)`, 1))

test.serial('SIGTERM while a program runs', (t) => ends(t, `${SLOW}\nconsole.log('go'); await promise`, null, (kill) => kill('SIGTERM')))

test.serial('SIGTERM during a synchronous read', (t) =>
  ends(t, `import { writeSync } from 'node:fs'\nconst a = ft.ones([1500, 1500]); let b = a\nfor (let i = 0; i < 200; i++) b = b.matmul(a).mul(1e-3)\nwriteSync(1, 'go\\n'); b.sum().dataSync()`, null, (kill) => setTimeout(kill, 100, 'SIGTERM'))
)

test.serial('process.exit() in a worker', (t) => ends(t, inWorker('setTimeout(() => process.exit(3), 50)'), 3))

test.serial('an uncaught error in a worker', (t) => ends(t, inWorker("setTimeout(() => { throw new Error('end') }, 50)"), 1))

test.serial('worker.terminate()', (t) => ends(t, `${inWorker('await promise')}\nworker.on('message', () => setTimeout(() => worker.terminate(), 50))`, 1))

test.serial('what a worker was computing when it ended holds up nobody', async (t) => {
  const { stdout, stderr } = await run(`${inWorker('await promise')}
    worker.on('message', () => setTimeout(async () => {
      await worker.terminate()
      const start = performance.now()
      const x = ft.ones([600, 600])
      await x.matmul(x).sum().data()
      console.log(performance.now() - start)
    }, 50))`)
  const [went, ms] = stdout.split('\n')
  t.is(went, 'go', stderr)
  t.true(Number(ms) < SOON, `${ms} ms`)
})

test.serial('a 1 ms timer keeps firing while a program runs', async (t) => {
  const { stdout, stderr } = await run(`
    const a = ft.ones([1200, 1200]); let b = a
    for (let i = 0; i < 12; i++) b = b.matmul(a).mul(1e-3)
    let ticks = 0, last = performance.now(), gap = 0
    const timer = setInterval(() => { const now = performance.now(); gap = Math.max(gap, now - last); last = now; ticks++ }, 1)
    const start = performance.now()
    await b.sum().data()
    clearInterval(timer)
    console.log(JSON.stringify({ ticks, gap, ms: performance.now() - start }))`)
  const { ticks, gap, ms } = JSON.parse(stdout || '{}') as { ticks: number; gap: number; ms: number }
  t.log(stdout)
  t.true(ms > 50, stderr)
  // A blocked loop ticks once, after a gap of all the time; on a busy machine a free one still ticks many times.
  t.true(ticks > 5 && gap < ms / 2, stdout)
})

test.serial('a 1 ms timer keeps firing during a loop of small awaited reads', async (t) => {
  const { stdout } = await run(`
    const x = ft.ones([4]); let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    const start = performance.now()
    while (performance.now() - start < 400) await x.add(1).data()
    clearInterval(timer)
    console.log(ticks)`)
  // A loop that starves timers gives 0.
  t.true(Number(stdout) > 4, stdout)
})

test.serial('a pending promise keeps the process alive, and nothing else does', async (t) => {
  const { code, stdout } = await run(`
    const a = ft.ones([800, 800]); let b = a
    for (let i = 0; i < 10; i++) b = b.matmul(a).mul(1e-3)
    b.sum().data().then(() => console.log('done'))`)
  t.is(code, 0)
  t.is(stdout, 'done\n')
})

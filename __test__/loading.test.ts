// Loading: without a binary, twice in one thread, in many workers, and with settings from the environment.
// runs on: node, musl, blas

import test from 'ava'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PLATFORMS, VERSION } from '../lib/generated/package.js'
import { evaluateScript, run } from './child.js'
import { BINARY, ROOT } from './no-binary/installation.js'

test('without a binary the package imports, and functions throw the reason', async (t) => {
  const result = await evaluateScript<{ code: string; name: string; message: string }>(
    `try { ft.tensor([1]) } catch ({ code, name, message }) { console.log(JSON.stringify({ code, name, message })) }`,
    { env: { FERROTENSOR_NATIVE: '/nowhere/ferrotensor.node' } }
  )
  t.is(result.code, 'ERR_BACKEND_UNAVAILABLE')
  t.is(result.name, 'BackendUnavailableError')
  t.regex(result.message, /FERROTENSOR_NATIVE/)
})

test('a broken binary is reported as broken, not as missing', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ferrotensor-'))
  try {
    const file = join(folder, 'broken.node')
    writeFileSync(file, 'not a shared library')
    const message = await evaluateScript<string>(`try { ft.tensor([1]) } catch (e) { console.log(JSON.stringify(e.message)) }`, {
      env: { FERROTENSOR_NATIVE: file }
    })
    t.regex(message, /exists but cannot be loaded/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('loaded twice in one thread, each copy knows its own tensors only', async (t) => {
  const answers = await evaluateScript<unknown[]>(`
    import { loadNative } from './dist/lib/loader.js'
    const { module: first } = loadNative()
    const { module: second } = loadNative()
    const x = ft.tensor([1, 2])
    let code
    try { second.wait(x.handle) } catch (e) { code = e.message }
    console.log(JSON.stringify([first !== second, code, x.sum().itemSync()]))`)
  t.deepEqual(answers, [true, 'the tensor was disposed', 3])
})

test('two copies of the package in one thread compute side by side, and throw their own errors', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ferrotensor-'))
  try {
    cpSync(join(ROOT, 'dist/index.js'), join(folder, 'dist/index.js'))
    cpSync(join(ROOT, 'dist/lib'), join(folder, 'dist/lib'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module' }))
    const answers = await evaluateScript<unknown[]>(
      `
      const other = await import(${JSON.stringify(pathToFileURL(join(folder, 'dist/index.js')).href)})
      const [x, y] = [ft.arange(100).add(1), other.arange(100).mul(2)]
      const sums = [x.sum().itemSync(), y.sum().itemSync(), x.mul(3).sum().itemSync()]
      const errors = [ft, other].map((one) => { try { one.ones([2, 3]).matmul(one.ones([2, 3])) } catch (e) { return [e instanceof ft.ShapeError, e instanceof other.ShapeError] } })
      console.log(JSON.stringify([sums, errors]))`,
      { env: { FERROTENSOR_NATIVE: BINARY } }
    )
    t.deepEqual(answers, [[5050, 9900, 15150], [[true, false], [false, true]]])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('what the package knows of itself is what its package.json says', (t) => {
  const { version, napi } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string; napi: { targets: string[] } }
  t.is(VERSION, version)
  t.is(PLATFORMS.length, napi.targets.length)
})

test('workers that are terminated in the middle of work leave the process healthy', async (t) => {
  const { code, stdout, stderr } = await run(`
    import { Worker } from 'node:worker_threads'
    const source = "import * as ft from 'ferrotensor'; const a = ft.ones([200, 200]); for (;;) { for (let i = 0; i < 20; i++) void a.matmul(a).data(); await a.add(1).data() }"
    await Promise.all(Array.from({ length: 12 }, (_, i) => new Promise((resolve) => {
      const worker = new Worker(source, { eval: true, execArgv: ['--input-type=module'] })
      worker.on('error', (e) => { console.error(e); process.exitCode = 7 })
      worker.on('exit', resolve)
      setTimeout(() => worker.terminate(), 100 + 37 * i)
    })))
    console.log(ft.ones([10]).sum().itemSync())`)
  t.is(code, 0, stderr)
  t.is(stdout, '10\n')
})

test('FERROTENSOR_EAGER=1 runs each operation at once, with the same results', async (t) => {
  const script = `
    const x = ft.tensor([1, 2, 3]); ft.resetStats()
    const y = x.add(1).mul(2).exp().sum()
    const { programs } = ft.stats()
    console.log(JSON.stringify([programs, y.itemSync()]))`
  const [eager, lazy] = [await evaluateScript<number[]>(script, { env: { FERROTENSOR_EAGER: '1' } }), await evaluateScript<number[]>(script)]
  t.deepEqual([eager[0], lazy[0]], [4, 0])
  t.is(eager[1], lazy[1])
})

test('FERROTENSOR_THREADS is the number of threads', async (t) => {
  const threads = await evaluateScript<number>("console.log(ft.backends.get('parallel').info().threads)", { env: { FERROTENSOR_THREADS: '3' } })
  t.is(threads, 3)
})

test('FERROTENSOR_DEVICE names the default device', async (t) => {
  const [device, code] = await evaluateScript<string[]>(
    `let code; try { ft.setDefaultDevice('cuda:7') } catch (e) { code = e.code }; console.log(JSON.stringify([ft.ones([1]).device, code]))`,
    { env: { FERROTENSOR_DEVICE: 'cpu' } }
  )
  t.is(device, 'cpu')
  t.regex(code as string, /ERR_DEVICE|ERR_BACKEND_UNAVAILABLE/)
})

// Which backends there are, which one is chosen for what, and what is left without a native binary.
// runs on: blas; each backend is named, a Vulkan device too

import test from 'ava'
import * as ft from 'ferrotensor'
import { evaluateScript } from '../child.js'
import { throws } from '../expect.js'

const { autoSelect, get, list } = ft.backends

test('the list begins in TypeScript and has every engine and GPU, absent ones with a reason', (t) => {
  const names = list().map(({ name }) => name)
  t.deepEqual(names.slice(0, 5), ['pure', 'scalar', 'simd', 'parallel', 'blas'])
  const gpus = ft.devices().filter(({ kind }) => kind !== 'cpu' && kind !== 'systolic')
  t.deepEqual(names.slice(5), gpus.map(({ name }) => name))
  for (const backend of list()) {
    const { name, available, reason, version } = backend.info()
    t.is(name, backend.name)
    t.is(available, backend.isAvailable())
    t.is(available, reason === undefined, name)
    t.true(!available || typeof version === 'string', name)
    t.is(get(name), backend)
  }
})

test('a name that there is not is refused with those that there are, and why others are absent', (t) => {
  throws(t, 'ERR_ARGUMENT', /^backends\.get: there is no backend 'nope'; there (is|are) pure.*; absent: .*cuda.* \(.+\)/, () => get('nope'))
  throws(t, 'ERR_ARGUMENT', /^backends\.get: there is no backend 'Pure'; did you mean 'pure'\?/, () => get('Pure'))
  for (const name of [undefined, null, 5, {}, Symbol('s')]) throws(t, 'ERR_ARGUMENT', /^backends\.get: there is no backend /, () => get(name as never))
})

test('an absent backend throws its reason, in both forms and before it looks at arguments', async (t) => {
  const absent = list().filter((backend) => !backend.isAvailable())
  t.log(`absent: ${absent.map(({ name }) => name).join(', ')}`)
  for (const backend of absent) {
    const message = (name: string) => `backends.${name}: backend '${backend.name}' is not available: ${backend.info().reason}`
    const x = new Float32Array(1)
    const error = t.throws(() => backend.sum(x), { instanceOf: ft.BackendUnavailableError })
    t.is(error?.message, message('sum'))
    t.is((await t.throwsAsync(backend.addAsync(x, x), { instanceOf: ft.BackendUnavailableError }))?.message, message('addAsync'))
    t.throws(() => backend.matmul(1 as never, 2 as never, -1, 0, 0), { instanceOf: ft.BackendUnavailableError })
  }
})

test('workloads are checked', (t) => {
  const select = autoSelect as (workload: unknown) => unknown
  throws(t, 'ERR_ARGUMENT', /^backends\.autoSelect: 'workload' must be an object such as .*, got 'matmul'$/, () => select('matmul'))
  throws(t, 'ERR_ARGUMENT', /^backends\.autoSelect: 'workload' must be an object/, () => select(null))
  throws(t, 'ERR_ARGUMENT', /^backends\.autoSelect: 'op' must be one of matmul, add, dot, sum, scale, got undefined$/, () => select({}))
  throws(t, 'ERR_ARGUMENT', /^backends\.autoSelect: 'op' must be one of .*, got 'toString'$/, () => select({ op: 'toString' }))
  throws(t, 'ERR_ARGUMENT', /^backends\.autoSelect: unknown option 'length'/, () => select({ op: 'matmul', length: 3 }))
  throws(t, 'ERR_ARGUMENT', /^backends\.autoSelect: 'k' must be an integer, got undefined$/, () => select({ op: 'matmul', m: 1, n: 1 }))
  throws(t, 'ERR_ARGUMENT', /^backends\.autoSelect: 'length' must be an integer, got 0.5$/, () => select({ op: 'sum', length: 0.5 }))
  throws(t, 'ERR_SHAPE', /^backends\.autoSelect: length is negative: -1$/, () => select({ op: 'sum', length: -1 }))
  throws(t, 'ERR_SHAPE', /^backends\.autoSelect: 'a' of .* would have more than 2\^53 elements$/, () => select({ op: 'matmul', m: 2 ** 40, n: 1, k: 2 ** 40 }))
  throws(t, 'ERR_DTYPE', /^backends\.autoSelect: 'dtype' must be 'float32' or 'float64', got 'float16'$/, () => select({ op: 'sum', length: 1, dtype: 'float16' }))
})

test('tiny work stays in TypeScript', (t) => {
  t.is(autoSelect({ op: 'matmul', m: 2, n: 2, k: 2 }).name, 'pure')
  for (const op of ['add', 'dot', 'sum', 'scale'] as const) t.is(autoSelect({ op, length: 8, dtype: 'float64' }).name, 'pure')
  t.is(autoSelect({ op: 'matmul', m: 0, n: 1e6, k: 1e6 }).name, 'pure')
})

/** A script in a process whose native code has these engines and devices, whatever the machine has. */
const pretending = (absent: readonly string[], gpus: readonly object[], body: string): string => `
  import { native } from './dist/lib/native.js'
  const absent = ${JSON.stringify(absent)}
  native.engine = (name) => (absent.includes(name) ? { name, reason: 'is away' } : { name, version: '1', threads: 2 })
  native.devices = () => ${JSON.stringify(gpus)}
  const { autoSelect } = ft.backends
  const square = (n, dtype) => autoSelect({ op: 'matmul', m: n, n, k: n, dtype }).name
  const along = (op, length) => autoSelect({ op, length }).name
  ${body}`

const gpu = (name: string, kind: string, dtypes: readonly string[]) => ({ name, kind: name.split(':')[0], class: kind, number: 9, description: name, dtypes, memory: 1, maxBuffer: 1 })
const SOFTWARE = gpu('vulkan:0', 'software', ['float32', 'float64'])
const DISCRETE = gpu('cuda:0', 'discrete', ['float32'])

test('work goes from TypeScript to vectors, to threads, and to a real GPU', async (t) => {
  const asked = { env: { FERROTENSOR_BLAS: '', FERROTENSOR_BACKEND: '' } }
  const products = 'square(2), square(64), square(512), square(8192), square(8192, "float64")'
  const chosen = `console.log(JSON.stringify([${products}, along("add", 1e9), along("sum", 1e9), autoSelect().name]))`
  const threads = ['parallel', 'parallel', 'parallel']
  t.deepEqual(await evaluateScript(pretending([], [SOFTWARE, DISCRETE], chosen), asked), ['pure', 'simd', 'parallel', 'cuda:0', ...threads, 'cuda:0'])
  t.deepEqual(await evaluateScript(pretending([], [SOFTWARE], chosen), asked), ['pure', 'simd', ...threads, ...threads])
  t.deepEqual(await evaluateScript(pretending(['simd', 'parallel'], [], chosen), asked), ['pure', ...Array<string>(7).fill('scalar')])
  t.deepEqual(await evaluateScript(pretending(['scalar', 'simd', 'parallel', 'blas'], [], chosen), asked), Array(8).fill('pure'))
})

test('a BLAS is chosen where it was asked for and is there', async (t) => {
  const chosen = 'console.log(JSON.stringify([square(2), square(512), along("add", 1e9), autoSelect().name]))'
  const asked = { env: { FERROTENSOR_BLAS: 'auto', FERROTENSOR_BACKEND: '' } }
  t.deepEqual(await evaluateScript(pretending([], [], chosen), asked), ['pure', 'blas', 'parallel', 'blas'])
  t.deepEqual(await evaluateScript(pretending(['blas'], [], chosen), asked), ['pure', 'parallel', 'parallel', 'parallel'])
})

test('FERROTENSOR_BACKEND names one for everything; unknown and absent ones are refused with those that are there', async (t) => {
  const answer = 'let answer; try { answer = square(512) } catch ({ code, message }) { answer = [code, message] } console.log(JSON.stringify(answer))'
  const with_ = (name: string) => evaluateScript<unknown>(pretending(['blas'], [], answer), { env: { FERROTENSOR_BACKEND: name } })
  t.is(await with_('pure'), 'pure')
  t.is(await with_('scalar'), 'scalar')
  const there = 'there are pure, scalar, simd, parallel; absent: blas (is away)'
  t.deepEqual(await with_('nope'), ['ERR_ARGUMENT', `backends.autoSelect: FERROTENSOR_BACKEND names 'nope'; ${there}`])
  t.deepEqual(await with_('blas'), ['ERR_BACKEND_UNAVAILABLE', `backends.autoSelect: FERROTENSOR_BACKEND names 'blas', which is not available; ${there}`])
})

test('without a native binary pure computes, and the others say why they do not', async (t) => {
  const result = await evaluateScript<{ names: string[]; reasons: string[]; values: unknown[]; chosen: string[]; error: string; unknown: string }>(
    `const x = new Float32Array([1, 2, 3, 4])
     const pure = ft.backends.get('pure')
     let error, unknown
     try { ft.backends.get('simd').sum(x) } catch (e) { error = e.code }
     try { ft.backends.get('vulkan:0') } catch (e) { unknown = e.message }
     console.log(JSON.stringify({
       names: ft.backends.list().map(({ name }) => name),
       reasons: ft.backends.list().slice(1).map((backend) => backend.info().reason),
       values: [
         [...pure.matmul(x, x, 2, 2, 2)], [...await pure.matmulAsync(x, x, 2, 2, 2)], [...pure.add(x, x)], [...pure.scale(x, 3)],
         pure.sum(x), pure.dot(x, x), await pure.sumAsync(x), pure.info()
       ],
       chosen: [ft.backends.autoSelect().name, ft.backends.autoSelect({ op: 'sum', length: 1e9 }).name],
       error, unknown
     }))`,
    { env: { FERROTENSOR_NATIVE: '/nowhere/ferrotensor.node' } }
  )
  t.deepEqual(result.names, ['pure', 'scalar', 'simd', 'parallel', 'blas'])
  for (const reason of result.reasons) t.regex(reason, /FERROTENSOR_NATIVE/)
  const { version } = get('pure').info()
  t.deepEqual(result.values, [[7, 10, 15, 22], [7, 10, 15, 22], [2, 4, 6, 8], [3, 6, 9, 12], 10, 30, 10, { name: 'pure', available: true, version, threads: 1 }])
  t.deepEqual(result.chosen, ['pure', 'pure'])
  t.is(result.error, 'ERR_BACKEND_UNAVAILABLE')
  t.regex(result.unknown, /^backends\.get: there is no backend 'vulkan:0'; there is pure; absent: scalar, simd, parallel, blas \(.*FERROTENSOR_NATIVE/)
})

// The vendor's library behind `blas` and, on request, behind tensors: what is missing, wrong or of another machine is refused with the reason.
// runs on: musl, blas

import test from 'ava'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { platformTriple } from '../../lib/loader.js'
import { evaluateScript } from '../child.js'

interface Answer {
  readonly info: { readonly available: boolean; readonly reason?: string; readonly library?: string }
  readonly product: string
  /** Of an engine that no library concerns. */
  readonly own: string
  readonly device: string
  readonly tensor: string
}

/** What a process says where FERROTENSOR_BLAS has this value. */
const asked = (name: string): Promise<Answer> =>
  evaluateScript<Answer>(
    `const failure = (f) => { try { return String(f()) } catch (e) { return e.code + ' ' + e.message } }
     const one = new Float64Array([3])
     const blas = ft.backends.get('blas')
     console.log(JSON.stringify({
       info: blas.info(),
       own: failure(() => ft.backends.get('simd').matmul(one, one, 1, 1, 1)),
       product: failure(() => blas.matmul(one, one, 1, 1, 1)),
       device: ft.devices().find(({ kind }) => kind === 'cpu').reason ?? 'there',
       tensor: failure(() => ft.tensor([[3]], { device: 'cpu' }).matmul(ft.tensor([[3]], { device: 'cpu' })).itemSync())
     }))`,
    { env: { FERROTENSOR_BLAS: name, FERROTENSOR_DEVICE: '', FERROTENSOR_BACKEND: '' } }
  )

/** An ELF file of another processor: its header says so, and nothing follows. */
function foreignLibrary(): Uint8Array {
  const bytes = new Uint8Array(4096)
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  // A shared library (3) of a processor that no Node runs on (8: MIPS), of version 1.
  bytes.set([3, 0, 8, 0, 1], 16)
  return bytes
}

/** A library of this system that is no BLAS: our own. */
const OURS = process.env['FERROTENSOR_NATIVE'] || fileURLToPath(new URL(`../../../native/ferrotensor.${platformTriple()}.node`, import.meta.url))

const WRONG: readonly (readonly [what: string, contents: Uint8Array | string | null])[] = [
  ['a path to nothing', null],
  ['a text', 'not a library'],
  ['a library of another processor', foreignLibrary()],
  ['a library that was cut off', readFileSync(OURS).subarray(0, 1 << 20)]
]

for (const [what, contents] of WRONG) {
  test(`${what} is refused with the system's reason, by the backend and by the device`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'ferrotensor-'))
    try {
      const path = join(folder, contents === null ? 'nothing.so' : 'library.so')
      if (contents !== null) writeFileSync(path, contents)
      const { info, product, own, device, tensor } = await asked(path)
      const { reason: said = '' } = info
      t.true(said.startsWith(`FERROTENSOR_BLAS=${path}: `) && said.length > path.length + 25, said)
      t.false(info.available)
      t.is(product, `ERR_BACKEND_UNAVAILABLE backends.matmul: backend 'blas' is not available: ${said}`)
      t.is(device, said)
      t.is(own, '9')
      t.true(tensor.startsWith('ERR_BACKEND_UNAVAILABLE ') && tensor.includes(said), tensor)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
}

test('a name that is neither a path nor a vendor is refused with those that there are', async (t) => {
  const { info, device } = await asked('openblast')
  t.regex(info.reason ?? '', /^FERROTENSOR_BLAS=openblast: neither a path nor one of .*(openblas|accelerate)/)
  t.is(device, info.reason ?? '')
})

test('a library that is no BLAS is refused by what it lacks', async (t) => {
  const { info } = await asked(OURS)
  t.is(info.reason ?? '', `FERROTENSOR_BLAS=${OURS}: '${OURS}' is no BLAS: it lacks sgemm, dgemm or ddot`)
})

test('what is no file is not opened', async (t) => {
  const { info } = await asked(`${tmpdir()}/`)
  t.is(info.reason, `FERROTENSOR_BLAS=${tmpdir()}/: '${tmpdir()}/' is no file`)
})

/** Products whose rows lie in other ways once a batch is one product: where it is not, and where a stride is 0 or negative. */
const ODD = [
  'ft.arange(6).reshape([3, 1, 2]).at("::-1").matmul(ft.eye(2))',
  'ft.ones([8]).broadcastTo([4, 1, 8]).matmul(ft.arange(24).reshape([8, 3]))',
  'ft.arange(20).unfold(0, 8, { step: 1 }).expandDims(1).matmul(ft.ones([8, 3]))',
  'ft.arange(24).reshape([2, 3, 4]).mT.matmul(ft.arange(12).reshape([3, 4]).mT.mT)',
  'ft.arange(12).reshape([3, 4]).at(":, ::2").matmul(ft.arange(8).reshape([2, 4])).add(1).relu()',
  'ft.zeros([2, 0]).matmul(ft.zeros([0, 3]))'
]

test('products by a library have the values of our own in all layouts', async (t) => {
  const values = (env: Readonly<Record<string, string>>) =>
    evaluateScript<unknown>(`console.log(JSON.stringify([${ODD.map((code) => `${code}.toArray()`).join(', ')}]))`, { env: { FERROTENSOR_DEVICE: 'cpu', ...env } })
  const own = await values({ FERROTENSOR_BLAS: '' })
  let ran = 0
  for (const name of ['openblas', 'blis', 'mkl', 'accelerate']) {
    if (!(await asked(name)).info.available) continue
    t.deepEqual(await values({ FERROTENSOR_BLAS: name }), own, name)
    ran++
  }
  t.log(`${ran} libraries`)
  t.true(Array.isArray(own))
})

// What is refused, and how: each mistake has its class, names the call, and says what was found.
// runs on: node, musl

import { mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from '../expect.js'
import { run } from '../child.js'
import { folder, golden } from './folder.js'

const at = folder()
const { io } = ft
const loose = io as unknown as Record<string, (...args: unknown[]) => unknown>
const call = (name: string, ...args: unknown[]): (() => unknown) => () => (loose[name] as (...args: unknown[]) => unknown)(...args)
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const one = ft.tensor([1, 2])

test('golden files that must be refused say why, and promises reject as calls throw', async (t) => {
  for (const line of readFileSync(golden('refused.txt'), 'utf8').trim().split('\n')) {
    const [file, why] = [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]
    const name = file.endsWith('.npy') ? 'loadNpy' : 'loadNpz'
    throws(t, 'ERR_FORMAT', new RegExp(`^io\\.${name}Sync: '.*${file}': .*${why}|^io\\.${name}Sync: .*${why}`), call(`${name}Sync`, golden(file)))
    const error = await t.throwsAsync(call(name, readFileSync(golden(file))) as () => Promise<unknown>, { instanceOf: ft.FormatError })
    t.regex(error.message, new RegExp(`^io\\.${name}: .*${why}`))
  }
})

test('what the system refuses has its code', async (t) => {
  mkdirSync(at('folder'))
  symlinkSync(at('loop'), at('loop'))
  const cases: [string, string][] = [[at('none.npy'), 'ENOENT'], [at('none/x.npy'), 'ENOENT'], [at('folder'), 'EISDIR'], [at('x'.repeat(300)), 'ENAMETOOLONG'], [at('loop'), 'ELOOP'], ['/dev/zero', 'EINVAL']]
  for (const [path, code] of cases) {
    for (const name of ['loadNpy', 'loadNpz', 'loadSafetensors', 'openSafetensors', 'loadText']) {
      const error = await t.throwsAsync(call(name, path) as () => Promise<unknown>, { instanceOf: ft.FileError })
      t.is(error.systemCode, code, error.message)
      t.is(error.code, 'ERR_FILE')
      t.true(error.message.startsWith(`io.${name}: ${code}: `), error.message)
    }
  }
  const unwritable: [string, string][] = [[at('none/x.npy'), 'ENOENT'], [at('folder'), 'EISDIR'], [at('x'.repeat(300)), 'ENAMETOOLONG'], ['/dev/null', 'EINVAL']]
  for (const [path, code] of unwritable) {
    const error = await t.throwsAsync(io.saveNpy(path, one), { instanceOf: ft.FileError })
    t.is(error.systemCode, code, error.message)
  }
  t.true(statSync('/dev/null').isCharacterDevice())
})

test('dtypes that a format does not hold name the one that does', (t) => {
  const brain = ft.tensor([1], { dtype: 'bfloat16' })
  throws(t, 'ERR_DTYPE', /^io.encodeNpySync: NumPy has no bfloat16.*saveSafetensors/, call('encodeNpySync', brain))
  throws(t, 'ERR_DTYPE', /^io.encodeNpzSync: NumPy has no bfloat16.*saveSafetensors/, call('encodeNpzSync', { brain }))
  throws(t, 'ERR_DTYPE', /^io.encodeSafetensorsSync: safetensors has no complex128 \(tensor 'z'\).*saveNpz/, call('encodeSafetensorsSync', { z: ft.zeros([1], { dtype: 'complex128' }) }))
  throws(t, 'ERR_DTYPE', /^io.encodeTextSync: text holds real numbers, not complex64/, call('encodeTextSync', ft.zeros([1], { dtype: 'complex64' })))
  throws(t, 'ERR_DTYPE', /^io.loadTextSync: text holds real numbers/, call('loadTextSync', bytes('1'), { dtype: 'complex64' }))
})

test('a dtype of safetensors that tensors do not have is refused when it is loaded', async (t) => {
  const header = '{"a":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}'
  const file = new Uint8Array([header.length, 0, 0, 0, 0, 0, 0, 0, ...bytes(header), 1, 2, 3])
  const open = io.openSafetensorsSync(file)
  t.deepEqual(open.info('a'), { name: 'a', dtype: null, code: 'F8_E4M3', shape: [2], bytes: 2 })
  t.deepEqual(open.loadSync('b').toArray(), [3])
  throws(t, 'ERR_UNSUPPORTED', /tensor 'a' is of dtype F8_E4M3/, () => open.loadSync('a'))
  throws(t, 'ERR_UNSUPPORTED', /tensor 'a' is of dtype F8_E4M3/, call('loadSafetensorsSync', file))
  t.deepEqual(io.loadSafetensorsSync(file, { names: ['b'] })['b']?.toArray(), [3])
  await t.throwsAsync(io.loadSafetensors(file), { instanceOf: ft.UnsupportedError })
})

test('tables name line and column', (t) => {
  throws(t, 'ERR_FORMAT', /^io.loadTextSync: line 2, column 2: 'x' is no number of float32$/, call('loadTextSync', bytes('1,2\n3,x\n')))
  throws(t, 'ERR_FORMAT', /^io.loadTextSync: line 3: 1 fields, column 1; the rows before have 2$/, call('loadTextSync', bytes('# a\n1,2\n3\n')))
  throws(t, 'ERR_FORMAT', /line 1, column 1: '300' is no number of uint8/, call('loadTextSync', bytes('300'), { dtype: 'uint8' }))
  throws(t, 'ERR_SHAPE', /^io.encodeTextSync: text is a table of rows/, call('encodeTextSync', ft.zeros([1, 1, 1])))
  throws(t, 'ERR_ARGUMENT', /^io.encodeTextSync: 'header' has 1 names, the table 2 columns/, call('encodeTextSync', ft.zeros([1, 2]), { header: ['a'] }))
})

test('arguments of the wrong kind', async (t) => {
  for (const source of [undefined, null, 7, {}, [], () => 1, one, Symbol('s')]) {
    throws(t, 'ERR_ARGUMENT', /^io.loadNpySync: 'source' must be a path, a file: URL or bytes/, call('loadNpySync', source))
  }
  throws(t, 'ERR_ARGUMENT', /'source' must be a path or a file: URL, got an? URL/, call('loadNpySync', new URL('https://example.com/x.npy')))
  throws(t, 'ERR_ARGUMENT', /'source' is no path: it is empty/, call('loadNpySync', ''))
  throws(t, 'ERR_ARGUMENT', /'source' is no path: it has a null byte/, call('loadNpySync', 'a\0b'))
  for (const name of ['loadTextSync', 'loadTableSync'] as const) {
    throws(t, 'ERR_ARGUMENT', /a table in a string is passed as bytes: new TextEncoder\(\)\.encode\(text\)$/, call(name, 'a,b\n1,2'))
  }
  throws(t, 'ERR_FILE', /ENOENT/, call('loadTableSync', 'a,b'))
  throws(t, 'ERR_ARGUMENT', /'path' must be a path or a file: URL, got an? Uint8Array/, call('saveNpySync', new Uint8Array(1), one))
  throws(t, 'ERR_ARGUMENT', /'x' must be a tensor, got \[1, 2\]/, call('saveNpySync', at('x'), [1, 2]))
  throws(t, 'ERR_ARGUMENT', /'tensors' must be an object of tensors by name, got an? Tensor/, call('saveNpzSync', at('x'), one))
  throws(t, 'ERR_ARGUMENT', /'tensors\['a'\]' must be a tensor, got 1/, call('encodeNpzSync', { a: 1 }))
  throws(t, 'ERR_ARGUMENT', /half of a surrogate pair/, call('encodeNpzSync', { '\ud800': one }))
  throws(t, 'ERR_ARGUMENT', /would be a path elsewhere/, call('encodeNpzSync', { '../a': one }))
  throws(t, 'ERR_ARGUMENT', /'__metadata__'/, call('encodeSafetensorsSync', { __metadata__: one }))
  throws(t, 'ERR_ARGUMENT', /'metadata.a' must be a text, got 1/, call('encodeSafetensorsSync', { one }, { metadata: { a: 1 } }))
  throws(t, 'ERR_ARGUMENT', /unknown option 'compress'; did you mean 'compressed'/, call('encodeNpzSync', { one }, { compress: true }))
  throws(t, 'ERR_ARGUMENT', /'compressed' must be a boolean, got 1/, call('encodeNpzSync', { one }, { compressed: 1 }))
  throws(t, 'ERR_ARGUMENT', /'maxBytes' must not be negative/, call('loadNpySync', at('x'), { maxBytes: -1 }))
  throws(t, 'ERR_ARGUMENT', /there is no array 'z'; there are 'a'/, call('loadNpzSync', io.encodeNpzSync({ a: one }), { names: ['z'] }))
  for (const delimiter of ['', ',,', 'é', '1', 'e', '.', '"', '\n', 7]) throws(t, 'ERR_ARGUMENT', /'delimiter' must be one ASCII character/, call('loadTextSync', bytes('1'), { delimiter }))
  throws(t, 'ERR_ARGUMENT', /'delimiter' and 'comments' must differ/, call('loadTextSync', bytes('1'), { delimiter: '#' }))
  throws(t, 'ERR_ARGUMENT', /'skipRows' must not be negative/, call('loadTextSync', bytes('1'), { skipRows: -1 }))
  throws(t, 'ERR_DEVICE', /abacus/, call('loadNpySync', at('x'), { device: 'abacus' }))
  const gone = ft.ones([2])
  gone.dispose()
  throws(t, 'ERR_DISPOSED', /^io.encodeNpySync/, call('encodeNpySync', gone))
  await t.throwsAsync(call('saveNpy', at('x'), 7) as () => Promise<unknown>, { instanceOf: ft.ArgumentError })
  t.false(readdirSync(at('.')).includes('x'))
})

test('a tensor that failed is not written, and the old file stays', async (t) => {
  const singular = ft.linalg.solve(ft.zeros([2, 2]), ft.ones([2]))
  io.saveNpySync(at('old.npy'), one)
  const before = readFileSync(at('old.npy'))
  throws(t, 'ERR_LINALG', /singular/, call('saveNpySync', at('old.npy'), singular))
  await t.throwsAsync(io.saveNpz(at('old.npy'), { one, singular }), { instanceOf: ft.LinAlgError })
  await t.throwsAsync(io.saveSafetensors(at('old.npy'), { one, z: ft.zeros([1], { dtype: 'complex128' }) }), { instanceOf: ft.DTypeError })
  t.deepEqual(readFileSync(at('old.npy')), before)
  t.deepEqual(readdirSync(at('.')).filter((name) => name.startsWith('.')), [])
})

test('what compressed members may take is bounded', (t) => {
  const zeros = ft.zeros([1 << 20])
  const packed = io.encodeNpzSync({ zeros }, { compressed: true })
  t.true(packed.length < 10_000)
  throws(t, 'ERR_FORMAT', /the arrays take 4194304 bytes, more than the 4194303 that 'maxBytes' allows/, call('loadNpzSync', packed, { maxBytes: 4194303 }))
  t.is(io.loadNpzSync(packed, { maxBytes: 4194304 })['zeros']?.size, 1 << 20)
  throws(t, 'ERR_FORMAT', /'maxBytes' allows/, call('loadNpySync', io.encodeNpySync(one), { maxBytes: 7 }))
})

test('the memory budget is asked before elements are decoded, and nothing stays of a load that fails', async (t) => {
  const { code, stdout, stderr } = await run(`
    import { readFileSync } from 'node:fs'
    const packed = ft.io.encodeNpzSync({ a: ft.ones([1 << 18]), b: ft.ones([1 << 22]) }, { compressed: true })
    ft.trim()
    ft.setMemoryLimit(8 << 20)
    const codes = []
    try { ft.io.loadNpzSync(packed) } catch (error) { codes.push(error.code) }
    await ft.io.loadNpz(packed).catch((error) => codes.push(error.code))
    codes.push(ft.io.loadNpzSync(packed, { names: ['a'] }).a.size)
    ft.trim()
    console.log(codes.join(), ft.memory().live)
  `)
  t.is(code, 0, stderr)
  t.is(stdout, 'ERR_OUT_OF_MEMORY,ERR_OUT_OF_MEMORY,262144 0\n')
})

test('a file that was changed under an open one is noticed', (t) => {
  io.saveSafetensorsSync(at('open.safetensors'), { one })
  const file = io.openSafetensorsSync(at('open.safetensors'))
  // Replaced as a whole, the old one stays what it was.
  io.saveSafetensorsSync(at('open.safetensors'), { one: ft.tensor([3, 4, 5]) })
  t.deepEqual(file.loadSync('one').toArray(), [1, 2])
  const changed = io.openSafetensorsSync(at('open.safetensors'))
  writeFileSync(at('open.safetensors'), 'short')
  throws(t, 'ERR_FORMAT', /the file was changed while it was being read/, () => changed.loadSync('one'))
})

// `inspect` and `convert`: every array of every format is described and arrives bit for bit, or is refused before anything is written.
// runs on: host; replacing.test.ts and io/ have what the system does with files

import test from 'ava'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import * as ft from 'ferrotensor'
import { DTYPES } from '../../lib/generated/dtypes.js'
import { folder, golden } from '../io/folder.js'
import { command, type Ended } from './command.js'

const path = folder()

interface Inspected {
  readonly format: string
  readonly arrays: readonly {
    readonly name: string | null
    readonly dtype: string | null
    readonly code: string
    readonly shape: readonly number[]
    readonly bytes: number | null
    readonly compressed: boolean
    readonly stats?: { readonly min: unknown; readonly max: unknown; readonly mean: unknown; readonly nan: number }
  }[]
  readonly metadata: Readonly<Record<string, string>>
}

async function inspect(...words: readonly string[]): Promise<Inspected> {
  const { code, stdout, stderr } = await command(['inspect', '--json', ...words])
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Inspected
}

const convert = (...words: readonly string[]): Promise<Ended> => command(['convert', ...words])

/** An array of each dtype, with numbers of up to 12 bits: all that float16 has room for. */
const arrays = (dtypes: readonly ft.DType[]): Record<string, ft.Tensor> =>
  Object.fromEntries(dtypes.map((dtype) => [`x.${dtype}`, ft.random.bits(ft.random.key(7), [2, 3, 4]).bitwiseRightShift(20).astype(dtype)]))

/** The bytes of each array of a file. */
function contents(file: string): Record<string, unknown> {
  const tensors = file.endsWith('.npz') ? ft.io.loadNpzSync(file) : ft.io.loadSafetensorsSync(file)
  return Object.fromEntries(Object.entries(tensors).map(([name, x]) => [name, [x.dtype, x.shape, Buffer.from(x.toBytes()).toString('hex')]]))
}

test.serial('inspect describes each array of an archive, with statistics only where asked', async (t) => {
  const plain = await inspect(golden('deflated.npz'))
  t.deepEqual([plain.format, plain.metadata], ['npz', {}])
  t.deepEqual(plain.arrays.slice(0, 3).map(({ name, dtype, shape, bytes, compressed, stats }) => [name, dtype, shape, bytes, compressed, stats]), [
    ['a', 'int32', [2, 2], 16, true, undefined],
    ['layer/0:w', 'float32', [2, 3], 24, true, undefined],
    ['é', 'bool', [], 1, true, undefined]
  ])
  const { arrays: [a] } = await inspect(golden('deflated.npz'), '--stats')
  t.deepEqual(a?.stats, { min: 0, max: 3, mean: 1.5, nan: 0 })
})

test.serial('statistics leave NaN out and count it; what has none is null, 64-bit integers are exact texts', async (t) => {
  ft.io.saveSafetensorsSync(path('stats.safetensors'), {
    nan: ft.tensor([NaN, 1, -3, NaN]),
    only: ft.tensor([NaN]),
    wide: ft.tensor([2n ** 63n - 1n, -1n]),
    empty: ft.zeros([0, 3]),
    complex: ft.tensor([1, 2], { dtype: 'complex64' }),
    bool: ft.tensor([true, false]),
    inf: ft.tensor([Infinity, 1])
  })
  const { arrays: found } = await inspect(path('stats.safetensors'), '--stats')
  t.deepEqual(Object.fromEntries(found.map(({ name, stats }) => [name, stats])), {
    nan: { min: -3, max: 1, mean: -1, nan: 2 },
    only: { min: 'NaN', max: 'NaN', mean: 'NaN', nan: 1 },
    wide: { min: '-1', max: '9223372036854775807', mean: 2 ** 62, nan: 0 },
    empty: { min: null, max: null, mean: null, nan: 0 },
    complex: { min: null, max: null, mean: null, nan: 0 },
    bool: { min: 0, max: 1, mean: 0.5, nan: 0 },
    inf: { min: 1, max: 'Infinity', mean: 'Infinity', nan: 0 }
  })
  const { code, stdout, stderr } = await command(['inspect', '--stats', path('stats.safetensors')])
  t.deepEqual([code, stderr], [0, ''])
  t.regex(stdout, /^nan +float32 +\[4\] +16 B +-3 +1 +-1 +2$/m)
  t.regex(stdout, /^empty +float32 +\[0, 3\] +0 B +- +- +- +0$/m)
})

test.serial('inspect shows metadata, and dtypes that tensors do not have', async (t) => {
  const header = Buffer.from(JSON.stringify({ __metadata__: { format: 'pt' }, q: { dtype: 'F8_E4M3', shape: [3], data_offsets: [0, 3] } }))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  writeFileSync(path('f8.safetensors'), Buffer.concat([length, header, Buffer.from([1, 2, 3])]))
  const found = await inspect(path('f8.safetensors'), '--stats')
  t.deepEqual(found.metadata, { format: 'pt' })
  t.deepEqual(found.arrays, [{ name: 'q', dtype: null, code: 'F8_E4M3', shape: [3], bytes: 3, compressed: false }])
  const { stdout } = await command(['inspect', path('f8.safetensors')])
  t.regex(stdout, /^q +F8_E4M3 +\[3\] +3 B\n\nmetadata:\n {2}format: pt$/m)
  const { code, stderr } = await convert(path('f8.safetensors'), path('f8.npz'))
  t.is(code, 1)
  t.regex(stderr, /'q', F8_E4M3 \[3\]: tensors have no such dtype\n$/)
})

test.serial('names and metadata of a file cannot steer the terminal', async (t) => {
  ft.io.saveSafetensorsSync(path('hostile.safetensors'), { 'a\u001b[2Jb\nc\u202e': ft.ones([1]) }, { metadata: { 'k\r': '\u0007'.repeat(500) } })
  for (const words of [['inspect', path('hostile.safetensors')], ['convert', path('hostile.safetensors'), path('hostile.npy'), '--name', 'x']]) {
    const { stdout, stderr } = await command(words)
    t.notRegex(stdout + stderr, /[^\P{Cc}\n]|\u202e/u)
  }
  t.deepEqual((await inspect(path('hostile.safetensors'))).arrays.map(({ name }) => name), ['a\u001b[2Jb\nc\u202e'])
})

test.serial('arrays of every dtype that both formats have arrive bit for bit', async (t) => {
  const both = DTYPES.map(({ name }) => name).filter((dtype) => dtype !== 'bfloat16' && dtype !== 'complex128')
  ft.io.saveSafetensorsSync(path('all.safetensors'), arrays(both))
  for (const [from, to, ...flags] of [['all.safetensors', 'all.npz'], ['all.npz', 'back.safetensors'], ['all.npz', 'deflated.npz', '--compressed']]) {
    const { code, stdout, stderr } = await convert(path(from as string), path(to as string), ...flags)
    t.deepEqual([code, stderr], [0, ''])
    t.regex(stdout, new RegExp(`${to}: \\w+, ${both.length} arrays, [\\d.]+ kB of elements\\n$`))
    t.deepEqual(contents(path(to as string)), contents(path('all.safetensors')), to)
  }
  t.true(statSync(path('deflated.npz')).size < statSync(path('all.npz')).size)
})

test.serial('a dtype that the target lacks is refused by name, before anything is written', async (t) => {
  ft.io.saveSafetensorsSync(path('bf.safetensors'), arrays(['float32', 'bfloat16']))
  ft.io.saveNpzSync(path('c.npz'), arrays(['complex128']))
  const cases = [
    ['bf.safetensors', 'bf.npz', /\.npz cannot hold 'x\.bfloat16', bfloat16 \[2, 3, 4\]; \.safetensors can\n$/],
    ['c.npz', 'c.safetensors', /\.safetensors cannot hold 'x\.complex128', complex128 \[2, 3, 4\]; \.npy, \.npz can\n$/],
    ['c.npz', 'c.csv', /\.csv cannot hold 'x\.complex128'/],
    ['all.npz', 'all.csv', /has 13 arrays, and \.csv holds one; choose with --name: 'x\..* and 5 more\n$/],
    ['all.npz', 'all.npy', /--name/]
  ] as const
  for (const [from, to, message] of cases) {
    const { code, stdout, stderr } = await convert(path(from), path(to))
    t.is(stdout, '')
    t.true(code === 1 || code === 2)
    t.regex(stderr, message)
    t.false(existsSync(path(to)), to)
  }
})

test.serial('--name takes one array, and names one that has no name', async (t) => {
  const one = await convert(path('all.npz'), path('one.npy'), '--name', 'x.int64')
  t.is(one.code, 0, one.stderr)
  const x = ft.io.loadNpySync(path('one.npy'))
  t.deepEqual([x.dtype, x.shape], ['int64', [2, 3, 4]])
  t.is((await convert(path('one.npy'), path('named.npz'), '--name', 'w')).code, 0)
  t.is((await convert(path('one.npy'), path('stem.safetensors'))).code, 0)
  t.deepEqual([Object.keys(contents(path('named.npz'))), Object.keys(contents(path('stem.safetensors')))], [['w'], ['one']])
  const wrong = await convert(path('all.npz'), path('none.npy'), '--name', 'x.int46')
  t.is(wrong.code, 2)
  t.regex(wrong.stderr, /there is no array 'x\.int46' in .*; did you mean 'x\.int\d+'\?\n$/)
  t.regex((await convert(path('one.npy'), path('again.npy'), '--name', 'w')).stderr, /--name is for arrays with names/)
})

test.serial('metadata stays where there is room for it, and is named where there is none', async (t) => {
  ft.io.saveSafetensorsSync(path('meta.safetensors'), { w: ft.ones([2]) }, { metadata: { format: 'pt', step: '12' } })
  const kept = await convert(path('meta.safetensors'), path('kept.safetensors'))
  t.deepEqual([kept.code, kept.stderr], [0, ''])
  t.deepEqual((await inspect(path('kept.safetensors'))).metadata, { format: 'pt', step: '12' })
  const lost = await convert(path('meta.safetensors'), path('lost.npz'))
  t.is(lost.code, 0)
  t.regex(lost.stderr, /note: \.npz holds no metadata; left out: 'format', 'step'\n$/)
})

test.serial('an array in Fortran order keeps its elements in their places', async (t) => {
  const { code, stderr } = await convert(golden('fortran.npy'), path('fortran.safetensors'))
  t.is(code, 0, stderr)
  t.deepEqual(ft.io.loadSafetensorsSync(path('fortran.safetensors'))['fortran']?.toArray(), ft.io.loadNpySync(golden('fortran.npy')).toArray())
})

const TABLES: readonly (readonly [text: string, words: readonly string[], dtype: string, values: unknown])[] = [
  ['1,2\n-3,4\n', [], 'int64', [[1n, 2n], [-3n, 4n]]],
  ['18446744073709551615\n', [], 'uint64', [[2n ** 64n - 1n]]],
  ['1,0.1\n', [], 'float64', [[1, 0.1]]],
  ['a,b\n1,2\n', ['--header'], 'int64', [[1n, 2n]]],
  ['1,0.5\n', ['--dtype', 'float32'], 'float32', [[1, 0.5]]],
  ['true,false\n', ['--dtype', 'bool'], 'bool', [[true, false]]],
  ['9007199254740993,0.5\n', ['--dtype', 'float64'], 'float64', [[9007199254740992, 0.5]]],
  ['9007199254740992,0.5 # note\n', [], 'float64', [[9007199254740992, 0.5]]]
]

for (const [at, [text, words, dtype, values]] of TABLES.entries()) {
  test.serial(`the table ${JSON.stringify(text)} with ${words.join(' ') || 'no options'} is ${dtype}`, async (t) => {
    writeFileSync(path(`table${at}.csv`), text)
    const { code, stderr } = await convert(path(`table${at}.csv`), path(`table${at}.npy`), ...words)
    t.is(code, 0, stderr)
    const x = ft.io.loadNpySync(path(`table${at}.npy`))
    t.deepEqual([x.dtype, x.toArray()], [dtype, values])
  })
}

test.serial('several arrays of one file go where arrays have names', async (t) => {
  t.is((await convert(golden('several.npy'), path('several-arrays.npz'))).code, 0)
  t.deepEqual(Object.keys(ft.io.loadNpzSync(path('several-arrays.npz'))), ['several', 'several_1', 'several_2', 'several_3'])
  const { code, stderr } = await convert(golden('several.npy'), path('several-arrays.csv'))
  t.is(code, 2)
  t.regex(stderr, /has 4 arrays, and \.csv holds one/)
  t.is((await inspect(golden('several.npy'))).arrays.length, 4)
})

test.serial('a table of blanks, and a digit that float64 has not', async (t) => {
  writeFileSync(path('blanks.txt'), '1   2 # note\n 3\t4 \n')
  t.is((await convert(path('blanks.txt'), path('blanks.npy'))).code, 0)
  t.deepEqual(ft.io.loadNpySync(path('blanks.npy')).toArray(), [[1n, 2n], [3n, 4n]])
  writeFileSync(path('digits.csv'), '9007199254740993,0.5\n')
  const { code, stderr } = await convert(path('digits.csv'), path('digits.npy'))
  t.is(code, 1)
  t.regex(stderr, /line 1, column 1: '9007199254740993' is not exact in float64, the default; name a dtype/)
})

test.serial('tables go out and come back, with each of the delimiters', async (t) => {
  ft.io.saveNpySync(path('numbers.npy'), ft.tensor([[0.1, -2], [1e300, 3]], { dtype: 'float64' }))
  for (const [ending, first] of [['csv', '0.1,-2.0'], ['tsv', '0.1\t-2.0'], ['txt', '0.1 -2.0']] as const) {
    t.is((await convert(path('numbers.npy'), path(`numbers.${ending}`))).code, 0)
    t.is(readFileSync(path(`numbers.${ending}`), 'utf8').split('\n')[0], first)
    t.is((await convert(path(`numbers.${ending}`), path(`numbers-${ending}.npy`))).code, 0)
    t.deepEqual(ft.io.loadNpySync(path(`numbers-${ending}.npy`)).toArray(), [[0.1, -2], [1e300, 3]])
  }
  const { arrays: [unread] } = await inspect(path('numbers.csv'))
  t.deepEqual([unread?.dtype, unread?.code, unread?.shape, unread?.bytes], [null, 'text', [2, 2], null])
  const { arrays: [read] } = await inspect(path('numbers.csv'), '--stats')
  t.deepEqual([read?.dtype, read?.bytes, read?.stats?.min], ['float64', 32, -2])
})

test.serial('wrong tables, wrong bytes and files that are not there end with 1 and the reason', async (t) => {
  writeFileSync(path('names.csv'), 'a,b\n1,2\n')
  writeFileSync(path('text.csv'), '1,2\n3,x\n')
  writeFileSync(path('wrong.npy'), 'no npy file')
  mkdirSync(path('folder.npy'))
  const cases = [
    ['names.csv', /line 1, column 1: 'a' is no number of float64; --header skips a first row of names\n$/],
    ['text.csv', /line 2, column 2: 'x' is no number of float64\n$/],
    ['wrong.npy', /it is no npy file/],
    ['absent.npy', /ENOENT: no such file or directory/],
    ['folder.npy', /EISDIR/]
  ] as const
  for (const [from, message] of cases) {
    for (const words of [['inspect', path(from), '--stats'], ['convert', path(from), path('never.npz')]]) {
      const { code, stdout, stderr } = await command(words)
      t.deepEqual([code, stdout], [1, ''])
      t.regex(stderr, message)
      t.regex(stderr, new RegExp(`^ferrotensor: ${words[0]}: .*\\n$`))
    }
  }
  t.false(existsSync(path('never.npz')))
})

test.serial('a folder that is not there is a failure, and nothing is left beside any file', async (t) => {
  const { code, stderr } = await convert(path('one.npy'), path('absent/one.npz'))
  t.is(code, 1)
  t.regex(stderr, /^ferrotensor: convert: ENOENT: no such file or directory.*\n$/)
  t.deepEqual(readdirSync(path('.')).filter((name) => basename(name).startsWith('.')), [])
})

// What users of NumPy and PyTorch type without looking it up: it runs and gives the right value, or throws what to write. The guesses are
// in `names/`; most run, and the names that the library itself lists keep what they say.
// runs on: host

import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import test from 'ava'
import * as ft from 'ferrotensor'
import { INSTEAD, SAME } from '../lib/generated/names/methods.js'
import { close, evaluate } from './expect.js'

/** What guesses are made of. */
const FIXTURES: Readonly<Record<string, () => unknown>> = {
  a: () => ft.tensor([[1, 2], [3, 4]]),
  b: () => ft.tensor([[5, 6], [7, 8]]),
  v: () => ft.tensor([1, 2, 3]),
  w: () => ft.tensor([4, 5, 6]),
  i: () => ft.tensor([6, 3, 5], { dtype: 'int32' }),
  m: () => ft.tensor([true, false, true]),
  z: () => ft.tensor([{ re: 1, im: 2 }]),
  s: () => ft.tensor([[4, 2], [2, 3]]),
  c: () => ft.arange(24).reshape([2, 3, 4]),
  key: () => ft.random.key(0)
}

const read = (name: string): string => readFileSync(new URL(`../../__test__/names/${name}.txt`, import.meta.url), 'utf8')

/** The guesses of a file: code, and what it gives. */
function guesses(name: string): (readonly [code: string, gives: string])[] {
  return read(name).split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
    const at = line.lastIndexOf(' // ')
    return [line.slice(0, at), line.slice(at + 4)]
  })
}

function run(code: string): unknown {
  const names = Object.keys(FIXTURES)
  return new Function('ft', ...names, `return (${code})`)(ft, ...names.map((name) => FIXTURES[name]?.()))
}

/** Tensors as their elements, typed arrays as arrays. */
function plain(value: unknown): unknown {
  if (value instanceof ft.Tensor) return value.toArray()
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<unknown>)
  return Array.isArray(value) ? value.map(plain) : value
}

/** What is wrong with a guess; nothing where it does what its line says. */
function wrong(code: string, gives: string): string | undefined {
  const words = /^hint (.+)$/.exec(gives)?.[1]
  try {
    const value = plain(run(code))
    if (words !== undefined) return `${code}: gave ${inspect(value)}, and should say '${words}'`
    return close(value, evaluate(gives)) ? undefined : `${code}: gave ${inspect(value)}, not ${gives}`
  } catch (error) {
    if (words === undefined || !(error instanceof ft.TensorError)) return `${code}: threw ${inspect(error).split('\n', 1)[0]}`
    return error.message.includes(words) ? undefined : `${code}: says '${error.message}', and not '${words}'`
  }
}

const FILES = ['functions', 'methods', 'namespaces', 'pieces']

for (const file of FILES) {
  test(`guesses of ${file} run, or say what to write`, (t) => {
    t.deepEqual(guesses(file).flatMap(([code, gives]) => wrong(code, gives) ?? []), [])
  })
}

test('a guess that is wrong is seen', (t) => {
  t.regex(wrong('v.sum()', '7') ?? '', /gave 6, not 7/)
  t.regex(wrong('v.sum()', 'hint sum') ?? '', /should say 'sum'/)
  t.regex(wrong('v.summe()', '6') ?? '', /threw TypeError/)
  t.regex(wrong('v.summe()', 'hint sum') ?? '', /threw TypeError/)
  t.regex(wrong('v.backward()', 'hint ft.optim') ?? '', /and not 'ft.optim'/)
})

test('most guesses run', (t) => {
  const all = FILES.flatMap(guesses)
  const running = all.filter(([, gives]) => !gives.startsWith('hint '))
  t.true(all.length >= 1000, `${all.length} guesses`)
  t.is(new Set(all.map(([code]) => code)).size, all.length, 'a guess stands twice')
  // Those that do not run are hints: the tests above know no third kind.
  t.true(running.length / all.length > 0.85, `${running.length} of ${all.length} run`)
})

test('an alias is the same function', (t) => {
  t.is(ft.cat, ft.concat)
  t.is(ft.nn.conv2d, ft.nn.conv)
  t.is(ft.special.expit, ft.sigmoid)
  t.is(ft.random.integers, ft.random.randint)
  t.is(ft.nn.BatchNorm2d, ft.nn.BatchNorm)
  const methods = ft.Tensor.prototype as unknown as Record<string, unknown>
  t.deepEqual(Object.entries(SAME).filter(([name, target]) => typeof methods[name] !== 'function' || methods[name] !== methods[target]), [])
  t.true(Object.keys(SAME).length > 50)
})

test('dtypes are constants', (t) => {
  const constants = ft as unknown as Record<string, unknown>
  t.deepEqual(ft.arrayNamespaceInfo().dtypes().filter((name) => constants[name] !== name), [])
})

/** Names that throw, of a namespace. */
const throwing = (space: object): string[] => Object.keys(space).filter((name) => typeof (space as Record<string, unknown>)[name] === 'function' && 'instead' in ((space as Record<string, object>)[name] as object))

test('a name that does not run throws, called and constructed, and says what to write', (t) => {
  const spaces = [ft, ft.linalg, ft.fft, ft.random, ft.nn, ft.nn.init, ft.optim, ft.special, ft.data, ft.io] as unknown as Record<string, new () => unknown>[]
  let count = 0
  for (const space of spaces) {
    for (const name of throwing(space)) {
      const stub = space[name] as (new () => unknown) & { instead: string }
      for (const call of [() => Reflect.apply(stub, undefined, []) as unknown, () => new stub()]) {
        const error = t.throws(call, { instanceOf: ft.UnsupportedError }, name)
        t.true(error?.message.endsWith(`${name}: ${stub.instead}`), error?.message)
      }
      count++
    }
  }
  t.true(count > 150, String(count))
})

test('what to write instead is there', (t) => {
  const spaces = [ft, ft.linalg, ft.fft, ft.random, ft.nn, ft.nn.init, ft.optim, ft.special, ft.data, ft.io] as unknown as Record<string, { instead: string }>[]
  const words = [...spaces.flatMap((space) => throwing(space).map((name) => space[name]?.instead ?? '')), ...INSTEAD.map(([sentence]) => sentence)]
  const at = (path: string): unknown => path.split('.').reduce<unknown>((space, name) => (space as Record<string, unknown> | undefined)?.[name], ft)
  const runs = (value: unknown): boolean => value !== undefined && !(typeof value === 'function' && 'instead' in value)
  const paths = words.flatMap((sentence) => [...sentence.matchAll(/\bft\.([a-zA-Z][\w.]*\w)/g)].map(([, path]) => path as string))
  t.deepEqual(paths.filter((path) => !runs(at(path))), [])
  // Of JavaScript's own arrays and texts nothing is asked.
  const ours = words.map((sentence) => sentence.replaceAll(/(toArray|split)\([^)]*\)\.map/g, ''))
  const methods = ours.flatMap((sentence) => [...sentence.matchAll(/(?:\b(?:x|a|b|input|gradients)|\))\.([a-z]\w*)\(/gi)].map(([, name]) => name as string))
  t.deepEqual(methods.filter((name) => !runs((ft.Tensor.prototype as unknown as Record<string, unknown>)[name])), [])
  t.true(paths.length > 200 && methods.length > 50, `${paths.length} and ${methods.length}`)
})

test('methods that throw are seen by nobody who lists, prints or compares', (t) => {
  const x = ft.tensor([1, 2])
  t.deepEqual(Object.keys(x).filter((name) => name in SAME), [])
  for (const [, names] of INSTEAD) t.deepEqual(Object.keys(ft.Tensor.prototype).filter((key) => names.split(' ').includes(key)), [])
  const listed: string[] = []
  for (const name in x) listed.push(name)
  t.false(listed.includes('backward') || listed.includes('unsqueeze'))
  t.notThrows(() => [inspect(ft.Tensor.prototype), inspect(x, { showHidden: true }), JSON.stringify(x), inspect(ft.nn)])
  t.deepEqual(ft.tensor([1, 2]).toArray(), x.toArray())
  // Words that JavaScript or a library asks for.
  for (const name of ['then', 'catch', 'length', 'nodeType', 'asymmetricMatch', '$$typeof', 'toPrimitive', 'inspect']) t.false(name in x, name)
})

test('results are taken apart by name and by position', (t) => {
  const { values, indices } = ft.tensor([3, 9, 5]).topk(2)
  const [first, second] = ft.tensor([3, 9, 5]).topk(2)
  t.deepEqual([first?.toArray(), second?.toArray()], [values.toArray(), indices.toArray()])
  const [w, v] = ft.linalg.eigh(ft.tensor([[2, 0], [0, 3]]))
  t.deepEqual([w?.toArray(), v?.shape], [[2, 3], [2, 2]])
  const [distinct, counts] = ft.uniqueCounts(ft.tensor([1, 1, 2]))
  t.deepEqual([distinct?.toArray(), counts?.toArray()], [[1, 2], [2, 1]])
  const [hist, edges] = ft.histogram(ft.tensor([0, 1]), { bins: 2 })
  t.deepEqual([hist?.toArray(), edges?.toArray()], [[1, 1], [0, 0.5, 1]])
  // A plain object for everything else: trees, spreading, printing.
  const result = ft.linalg.qr(ft.eye(2))
  t.deepEqual(Object.keys(result), ['q', 'r'])
  t.deepEqual(Object.keys({ ...result }), ['q', 'r'])
  t.is(ft.tree.leaves(result).length, 2)
  t.notRegex(inspect(result), /iterator/)
})

test('arrays stand for tensors; their numbers never change the dtype of a tensor beside them', (t) => {
  const i8 = ft.tensor([1, 2], { dtype: 'int8' })
  const f64 = ft.tensor([1, 2], { dtype: 'float64' })
  // The compiler takes arrays of numbers as operands and as positions, where a tensor is beside them or none is needed.
  const list = (value: unknown): never => value as never
  t.deepEqual([i8.add([1, 2]).dtype, i8.divide([1, 2]).dtype, i8.equal([1, 2]).dtype], ['int8', 'float32', 'bool'])
  t.throws(() => i8.add([0.5, 2]), { code: 'ERR_DTYPE', message: /^add: / })
  t.throws(() => i8.add([300, 2]), { code: 'ERR_DTYPE', message: /^add: / })
  t.deepEqual(f64.add([0.1, 0]).toArray(), [1.1, 2])
  t.is((f64.add(list(new Float32Array([1, 2]))) as ft.Tensor).dtype, 'float64')
  t.is((f64.matmul(list([1, 1])) as ft.Tensor).dtype, 'float64')
  t.deepEqual(i8.quantile([0.5, 1]).toArray(), [1.5, 2])
  t.is(ft.mean([1, 2]).dtype, 'float32')
  t.is((ft.mean(list(new Float64Array([1, 2]))) as ft.Tensor).dtype, 'float64')
  t.is(ft.sum(list([true, true])).itemSync(), 2)
  t.is(ft.tensor([true, false]).logicalAnd(list([true, true])).dtype, 'bool')
  t.deepEqual(ft.concat(list([[1, 2], [3]])).toArray(), [1, 2, 3])
  t.deepEqual(ft.add(list([1, 2]), list([3, 4])).toArray(), [4, 6])
  t.deepEqual(ft.tensor([5, 6, 7]).take([2n, 0n]).toArray(), [7, 5])
  t.deepEqual(ft.tensor([1, 2, 3]).take(new Int8Array([2, -1])).toArray(), [3, 3])
  t.throws(() => ft.tensor([1, 2, 3]).take([0.5]), { code: 'ERR_ARGUMENT', message: /^take: an index must be an integer/ })
  t.throws(() => ft.mean([[1], [1, 2]]), { code: 'ERR_SHAPE', message: /^mean: / })
  t.throws(() => ft.mean(list(['a'])), { code: 'ERR_ARGUMENT', message: /^mean: / })
  t.throws(() => ft.tensor([1, 2, 3]).take([3]).toArray(), { code: 'ERR_INDEX' })
  t.throws(() => ft.tensor([1, 2, 3]).add([1, 2]), { code: 'ERR_SHAPE' })
  // A mask takes one value without being read, and several where it is.
  const mask = ft.tensor([true, false, true])
  t.deepEqual(ft.tensor([1, 2, 3]).withAt([mask], [7, 8]).toArray(), [7, 2, 8])
  t.deepEqual(ft.tensor([1, 2, 3]).withAt([[0, 2]], [7, 8]).toArray(), [7, 2, 8])
})

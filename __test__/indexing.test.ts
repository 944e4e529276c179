// Basic indexing: Python's meaning of items, the text form, changed copies, and what is refused.

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

// What CPython 3.11 gives for list(range(5))[...].
const SLICES: readonly (readonly [string, readonly number[]])[] = [
  ['4:-2:-1', [4]], ['7:7:-7', []], [':1:3', [0]], ['5::2', []], ['-7:-1:-3', []], ['-4:0:-7', [1]], ['-7:4:3', [0, 3]],
  [':7:3', [0, 3]], ['0:-2:2', [0, 2]], ['0:-5:1', []], ['-5:4:-3', []], ['-5:-5:', []], [':-4:3', [0]], ['-5:-5:7', []],
  ['-1:-4:-7', [4]], ['5:5:3', []], ['-5:7:3', [0, 3]], ['0:-2:', [0, 1, 2]], ['-1:0:2', []], ['-5:-2:1', [0, 1, 2]],
  ['-1:-2:', []], ['4:5:-1', []], ['-7:-2:-1', []], ['-2:1:-1', [3, 2]], ['-5:1:-3', []], ['7:-5:', []],
  ['-2::-1', [3, 2, 1, 0]], ['0::-7', [0]], ['0:-1:-2', []], ['4::-3', [4, 1]], [':7:2', [0, 2, 4]], ['4:-4:1', []],
  ['-4:1:-1', []], ['2:-1:-7', []], ['-2:1:1', []], ['4:7:-1', []], ['-2::-2', [3, 1]], ['2:4:-1', []], ['-5:-1:7', [0]]
]

const matrix = () => ft.arange(12).reshape([3, 4])

test('slices have the meaning of Python', (t) => {
  const x = ft.arange(5)
  for (const [text, expected] of SLICES) {
    t.deepEqual(x.at(text).toArray(), expected, text)
    const bounds = text.split(':').map((part) => (part === '' ? null : Number(part)))
    t.deepEqual(x.at(ft.slice(...bounds)).toArray(), expected, `slice(${bounds.join()})`)
  }
})

test('items: picks, ranges, new axes, ellipsis', (t) => {
  const x = matrix()
  t.deepEqual(x.at(1).toArray(), [4, 5, 6, 7])
  t.deepEqual(x.at(-1, -1).toArray(), 11)
  t.deepEqual(x.at(':', 1).toArray(), [1, 5, 9])
  t.deepEqual(x.at('...', 0).toArray(), [0, 4, 8])
  t.deepEqual(x.at(null, '1:', 0).shape, [1, 2])
  t.deepEqual(x.at('...', null).shape, [3, 4, 1])
  t.deepEqual(x.at(0, null, '::3').toArray(), [[0, 3]])
  t.deepEqual(x.at().toArray(), x.toArray())
  t.deepEqual(x.at('::-1', '::-2').toArray(), [[11, 9], [7, 5], [3, 1]])
  t.deepEqual(ft.tensor(3).at('...').toArray(), 3)
})

test('the text form is the items in one string', (t) => {
  const x = matrix()
  t.deepEqual(x.at(' 1:3 , ::2 ').toArray(), [[4, 6], [8, 10]])
  t.deepEqual(x.at('null, 1, newaxis, ...').shape, [1, 1, 4])
  t.deepEqual(x.at('+1,-1').toArray(), 7)
})

test('a wrong text is shown with its column', (t) => {
  for (const [text, column] of [['', 1], ['1,,2', 3], ['a', 1], ['1:2:3:4', 6], ['1 2', 1], ['1::0', 1], ['1.5', 2], [':x', 2], ['0, 1,', 6], ['--1', 1], ['0, 99999999999999999999', 4]] as const) {
    throws(t, 'ERR_INDEX', new RegExp(`at column ${column} of the index\\n  ${text.replace(/[.*+?^]/g, '\\$&')}\\n {${column + 1}}\\^`), () => matrix().at(text))
  }
})

test('positions out of range and too many items', (t) => {
  const x = matrix()
  throws(t, 'ERR_INDEX', /index 3 is out of range for axis 0 of size 3/, () => x.at(3))
  throws(t, 'ERR_INDEX', /index -5 is out of range for axis 1 of size 4/, () => x.at(0, -5))
  throws(t, 'ERR_INDEX', /3 indices for a tensor of rank 2/, () => x.at(0, 0, 0))
  throws(t, 'ERR_INDEX', /may stand only once/, () => x.at('...', '...'))
  throws(t, 'ERR_INDEX', /step must not be 0/, () => ft.slice(0, 1, 0))
  throws(t, 'ERR_ARGUMENT', /'start' must be an integer, got 0.5/, () => ft.slice(0.5))
})

test('what is no index item', (t) => {
  const x = matrix() as unknown as { at(...items: unknown[]): unknown; withAt(...args: unknown[]): unknown }
  for (const item of [0.5, NaN, Infinity, 2 ** 60]) throws(t, 'ERR_ARGUMENT', /must be an integer/, () => x.at(item))
  for (const item of [undefined, {}, true, 1n, Symbol('s'), () => 0]) throws(t, 'ERR_ARGUMENT', /an index item must be/, () => x.at(item))
  for (const item of [[0, 1], new Int32Array(1), ft.tensor([0])]) throws(t, 'ERR_UNSUPPORTED', /take\(/, () => x.at(item))
  for (const items of [0, null, undefined]) throws(t, 'ERR_ARGUMENT', /array of items or text/, () => x.withAt(items, 1))
})

test('withAt replaces a part of a copy', (t) => {
  const x = matrix()
  t.deepEqual(x.withAt([1], 0).toArray(), [[0, 1, 2, 3], [0, 0, 0, 0], [8, 9, 10, 11]])
  t.deepEqual(x.withAt(':, ::2', ft.tensor([-1, -2])).toArray(), [[-1, 1, -2, 3], [-1, 5, -2, 7], [-1, 9, -2, 11]])
  t.deepEqual(x.withAt([0, 0], 5).at(0).toArray(), [5, 1, 2, 3])
  t.deepEqual(x.at(0).toArray(), [0, 1, 2, 3], 'the original stays')
  t.deepEqual(x.withAt(['::-1'], ft.arange(3).reshape([3, 1])).toArray(), [[2, 2, 2, 2], [1, 1, 1, 1], [0, 0, 0, 0]])
  throws(t, 'ERR_SHAPE', /^withAt: .*broadcast/, () => x.withAt([0], ft.zeros([3])))
  throws(t, 'ERR_DTYPE', /^withAt: 0.5 is not an integer/, () => ft.tensor([1], { dtype: 'int32' }).withAt([0], 0.5))
  throws(t, 'ERR_INDEX', /^withAt: index 9 is out of range/, () => x.withAt([9], 1))
  throws(t, 'ERR_INDEX', /^withAt: 3 indices for/, () => x.withAt([0, 0, 0], 1))
  throws(t, 'ERR_INDEX', /^withAt: unexpected 'a' at column 1/, () => x.withAt('a', 1))
  throws(t, 'ERR_INDEX', /^withAt: '...' may stand only once/, () => x.withAt('..., ...', 1))
  const loose = x as unknown as { withAt(...args: unknown[]): unknown }
  throws(t, 'ERR_ARGUMENT', /^withAt: missing operand 'value'/, () => loose.withAt([0]))
  throws(t, 'ERR_ARGUMENT', /^withAt: 'value' must be a tensor or a number, got 'a'/, () => loose.withAt([0], 'a'))
  throws(t, 'ERR_ARGUMENT', /^withAt: an index item must be/, () => loose.withAt([true], 1))
  throws(t, 'ERR_UNSUPPORTED', /^withAt: index arrays/, () => loose.withAt([[0]], 1))
})

test('a bad index is an error where nothing would be read by it, too', (t) => {
  const empty = ft.zeros([3, 0])
  const index = (i: number) => ft.tensor([i], { dtype: 'int32' })
  t.deepEqual(empty.take(index(-3), { axis: 0 }).toArray(), [[]])
  throws(t, 'ERR_INDEX', /^take: index 7 is out of range for axis 0 of size 3/, () => empty.take(index(7), { axis: 0 }).toArray())
  throws(t, 'ERR_INDEX', /^scatterAdd: index -4 is out of range for axis 0 of size 3/, () => empty.scatterAdd(index(-4), ft.zeros([1, 0]), { axis: 0 }).toArray())
})

test('iteration walks the first axis', (t) => {
  t.deepEqual([...matrix()].map((row) => row.toArray()), matrix().toArray())
  t.deepEqual([...ft.zeros([0, 2])], [])
  throws(t, 'ERR_SHAPE', /rank 0/, () => [...ft.tensor(1)])
})

test('a view of a view of a view', (t) => {
  const x = ft.arange(60).reshape([3, 4, 5])
  t.deepEqual(x.at('::-1').at(0, '1:').at(':', '::2').toArray(), [[45, 47, 49], [50, 52, 54], [55, 57, 59]])
})

// Indexing: Python's meaning of items, the text form, index arrays and masks, changed copies, and what is refused.
// runs on: vulkan

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
    t.deepEqual(x.at(String(ft.slice(...bounds))).toArray(), expected, `the text of slice(${bounds.join()})`)
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
  for (const item of [undefined, {}, 1n, Symbol('s'), () => 0, new DataView(new ArrayBuffer(4)), new Set([0])]) {
    throws(t, 'ERR_ARGUMENT', /an index item must be/, () => x.at(item))
  }
  for (const items of [0, null, undefined]) throws(t, 'ERR_ARGUMENT', /array of items or text/, () => x.withAt(items, 1))
  for (const items of [ft.tensor([0]), new Int32Array(1)]) throws(t, 'ERR_ARGUMENT', /write \[index\]$/, () => x.withAt(items, 1))
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
  const odd = Object.assign([0], { [Symbol.iterator]: undefined })
  t.deepEqual(x.withAt(odd, 7).at(0).toArray(), [7, 7, 7, 7], 'an array without its iterator')
  throws(t, 'ERR_ARGUMENT', /^withAt: missing operand 'value'/, () => loose.withAt([0]))
  throws(t, 'ERR_ARGUMENT', /^withAt: 'value' must be a tensor or a number, got 'a'/, () => loose.withAt([0], 'a'))
  throws(t, 'ERR_ARGUMENT', /^withAt: an index item must be/, () => loose.withAt([1n], 1))
})

const ints = (values: number[], dtype: ft.DType = 'int32') => ft.tensor(values, { dtype })

test('index arrays in every form gather along their axis', (t) => {
  const x = matrix()
  const rows = [[8, 9, 10, 11], [0, 1, 2, 3]]
  for (const index of [[2, 0], [2n, 0n], [-1, -3], new Int8Array([2, -3]), new BigInt64Array([-1n, 0n]), ints([2, 0]), ints([2, 0], 'uint8'), ints([-1, 0], 'int64')]) {
    t.deepEqual(x.at(index).toArray(), rows, String(index))
    t.deepEqual(x.at(index, ':').toArray(), rows, String(index))
    t.deepEqual(x.matrixTranspose().at('...', index).matrixTranspose().toArray(), rows, String(index))
  }
  t.deepEqual(x.at([[0, 1], [2, 0]]).shape, [2, 2, 4])
  t.deepEqual(x.at([0, 2], [1, -1]).toArray(), [1, 11])
  t.deepEqual(x.at([[0], [2]], [1, -1]).toArray(), [[1, 3], [9, 11]])
  t.deepEqual(x.at([]).shape, [0, 4])
  t.deepEqual(x.at([[], []]).shape, [2, 0, 4])
  t.deepEqual(x.at(ft.tensor(1, { dtype: 'int32' })).toArray(), [4, 5, 6, 7])
  t.deepEqual(ft.zeros([0, 3]).at([]).shape, [0, 3])
  t.deepEqual(ft.zeros([0, 3]).at('...', [2, 2]).shape, [0, 2])
})

test('what index arrays select stands where they stand, or first if something stands between them', (t) => {
  const x = ft.zeros([2, 3, 4, 5])
  const i = [0, 1, 0, 1, 0, 1, 0]
  t.deepEqual(x.at(':', i, i).shape, [2, 7, 5])
  t.deepEqual(x.at(i, ':', i).shape, [7, 3, 5])
  t.deepEqual(x.at(':', i, ':', i).shape, [7, 2, 4])
  t.deepEqual(x.at(0, ':', i).shape, [7, 3, 5])
  t.deepEqual(x.at(':', 0, i).shape, [2, 7, 5])
  t.deepEqual(x.at(':', i, null, i).shape, [7, 2, 1, 5])
  t.deepEqual(x.at(i, '...', 0).shape, [7, 3, 4])
  t.deepEqual(ft.zeros([2, 3]).at(0, '...', i).shape, [7])
  t.deepEqual(ft.zeros([2, 3]).at(null, [[0], [1]], '...', [0, 2]).shape, [2, 2, 1])
})

test('masks select where they are true', (t) => {
  const x = matrix()
  const even = x.remainder(2).equal(0)
  t.deepEqual(x.at(even).toArray(), [0, 2, 4, 6, 8, 10])
  t.deepEqual(x.at(even.toArray() as boolean[][]).toArray(), [0, 2, 4, 6, 8, 10])
  t.deepEqual(x.at([true, false, true]).toArray(), [[0, 1, 2, 3], [8, 9, 10, 11]])
  t.deepEqual(x.at('::-1', ft.tensor([false, true, true, false])).toArray(), [[9, 10], [5, 6], [1, 2]])
  t.deepEqual(x.at([true, false, true], [0, -1]).toArray(), [0, 11])
  t.deepEqual(x.at(x.greater(99)).shape, [0])
  t.deepEqual(x.at(true).toArray(), [x.toArray()])
  t.deepEqual(x.at(false).shape, [0, 3, 4])
  t.deepEqual(ft.tensor(5).at(ft.tensor(5).greater(3)).toArray(), [5])
  t.deepEqual(ft.zeros([3, 0]).at(ft.ones([3, 0], { dtype: 'bool' })).shape, [0])
})

test('the asynchronous twins give the same, and reject what the others throw', async (t) => {
  const x = matrix()
  const mask = x.greater(6)
  t.deepEqual((await x.atAsync(mask)).toArray(), x.at(mask).toArray())
  t.deepEqual((await x.atAsync('1:', mask.at(1))).toArray(), [[7], [11]])
  t.deepEqual((await x.atAsync(1, [0, 1])).toArray(), [4, 5])
  const values = ft.arange(5).add(100)
  t.deepEqual((await x.withAtAsync([mask], values)).toArray(), x.withAt([mask], values).toArray())
  t.deepEqual((await x.withAtAsync([mask], 0)).toArray(), x.withAt([mask], 0).toArray())
  for (const call of [() => x.atAsync(9), () => x.atAsync(ft.ones([2], { dtype: 'bool' })), () => x.withAtAsync('9', 0)]) {
    const error = await t.throwsAsync(call(), { any: true })
    t.true(error instanceof ft.IndexError || error instanceof ft.ShapeError, String(error))
  }
})

test('a mask without elements along an axis selects nothing, whatever the size of the axis', async (t) => {
  const [none, x] = [(...shape: number[]) => ft.zeros(shape, { dtype: 'bool' }), ft.ones([2, 3])]
  t.deepEqual(ft.zeros([2]).at(none(0)).shape, [0])
  t.deepEqual(x.at(none(0)).shape, [0, 3])
  for (const mask of [none(0, 0), none(2, 0), none(0, 3)]) t.deepEqual(x.at(mask).shape, [0])
  t.deepEqual(x.at(':', none(0)).shape, [2, 0])
  t.deepEqual((await x.atAsync(none(0))).shape, [0, 3])
  t.deepEqual(x.withAt([none(0)], 7).toArray(), x.toArray())
  t.deepEqual((await x.withAtAsync([none(0)], 7)).toArray(), x.toArray())
  throws(t, 'ERR_SHAPE', /^at: a mask of shape \[0, 2\] for axes of shape \[2, 3\], from axis 0 on$/, () => x.at(none(0, 2)))
})

test('a mask that is awaited while the tensor is disposed', async (t) => {
  const x = matrix()
  const waiting = x.atAsync(x.greater(6))
  x.dispose()
  await t.throwsAsync(waiting, { instanceOf: ft.DisposedError })
})

test('arrays are copied at the call', async (t) => {
  const x = matrix()
  const [nested, typed] = [[[0, 1]], new Int32Array([0, 1])]
  const recorded = [x.at(nested), x.at(typed), x.at(new Uint8Array(new SharedArrayBuffer(2)))]
  const awaited = x.atAsync(x.at(':', 0).greater(-1), typed.subarray(0, 1))
  nested[0] = [2, 2]
  typed.fill(2)
  t.deepEqual(recorded.map((y) => y.at('...', 0).toArray()), [[[0, 4]], [0, 4], [0, 0]])
  t.deepEqual((await awaited).toArray(), [0, 4, 8])
})

test('what is wrong with index arrays throws at the call', (t) => {
  const x = matrix()
  throws(t, 'ERR_INDEX', /^at: index 3 is out of range for axis 0 of size 3$/, () => x.at([0, 3]))
  throws(t, 'ERR_INDEX', /^at: index -5 is out of range for axis 1 of size 4$/, () => x.at(':', [[0], [-5]]))
  throws(t, 'ERR_INDEX', /^at: index 200 is out of range for axis 1 of size 4$/, () => x.at('...', new Uint8Array([200])))
  throws(t, 'ERR_INDEX', /^at: index 9007199254740991 is out of range for axis 0/, () => x.at([Number.MAX_SAFE_INTEGER]))
  throws(t, 'ERR_INDEX', /^at: index 99999999999999999 is out of range for axis 0/, () => x.at(new BigInt64Array([99999999999999999n])))
  throws(t, 'ERR_INDEX', /^at: index 0 is out of range for axis 0 of size 0$/, () => ft.zeros([0, 2]).at([0]))
  throws(t, 'ERR_INDEX', /^at: no index is in range for axis 1 of size 0$/, () => ft.zeros([2, 0]).at(':', ints([0])))
  throws(t, 'ERR_INDEX', /^at: 3 indices for a tensor of rank 2$/, () => x.at([0], [0], [0]))
  throws(t, 'ERR_INDEX', /^at: 3 indices for a tensor of rank 2$/, () => x.at(x.greater(0), 0))
  throws(t, 'ERR_SHAPE', /^at: shapes \[2\] and \[3\] do not broadcast/, () => x.at([0, 1], [0, 1, 2]))
  throws(t, 'ERR_SHAPE', /^at: ragged array: element \[1\] has 1 items/, () => x.at([[0, 1], [0]]))
  throws(t, 'ERR_SHAPE', /^at: a mask of shape \[2\] for axes of shape \[3\], from axis 0 on$/, () => x.at([true, false]))
  throws(t, 'ERR_SHAPE', /^at: a mask of shape \[3, 3\] for axes of shape \[3, 4\], from axis 0 on$/, () => x.at(ft.ones([3, 3], { dtype: 'bool' })))
  throws(t, 'ERR_SHAPE', /^at: a mask of shape \[3\] for axes of shape \[4\], from axis 1 on$/, () => x.at('::2', [true, true, true]))
  throws(t, 'ERR_SHAPE', /^at: shapes \[2\] and \[3\] do not broadcast/, () => x.at([true, false, true], [0, 1, 2]))
  throws(t, 'ERR_SHAPE', /rank 33 is above the maximum/, () => x.at(...new Array<null>(31).fill(null)))
  throws(t, 'ERR_ARGUMENT', /^at: an index must be an integer, got 0.5$/, () => x.at([0, 0.5]))
  throws(t, 'ERR_ARGUMENT', /^at: an index must be an integer, got NaN$/, () => x.at([[NaN]]))
  throws(t, 'ERR_ARGUMENT', /^at: element \[1\] is a boolean among elements of kind number$/, () => x.at([0, true] as never))
  throws(t, 'ERR_ARGUMENT', /^at: element \[0\] must be a number.*got 'a'$/, () => x.at(['a'] as never))
  // @ts-expect-error positions are integers
  throws(t, 'ERR_DTYPE', /^at: indices must be integers up to int64, got float32/, () => x.at(ft.tensor([0])))
  throws(t, 'ERR_DTYPE', /^at: indices must be integers up to int64, got uint64/, () => x.at(ints([0], 'uint64')))
  // @ts-expect-error positions are at most int64
  throws(t, 'ERR_DTYPE', /^at: indices must be integers up to int64, got uint64/, () => x.at(new BigUint64Array(1)))
  // @ts-expect-error positions are integers
  throws(t, 'ERR_DTYPE', /^at: indices must be integers up to int64, got float64/, () => x.at(new Float64Array([99])))
  const detached = new Int32Array(2)
  structuredClone(detached.buffer, { transfer: [detached.buffer] })
  throws(t, 'ERR_ARGUMENT', /^at: the buffer under an Int32Array is detached/, () => x.at(detached))
  const gone = ints([0])
  gone.dispose()
  throws(t, 'ERR_DISPOSED', /disposed/, () => x.at(gone))
})

test('positions in a tensor are checked when the result is read', (t) => {
  const x = matrix()
  for (const index of [ints([0, 3]), ints([-4], 'int8')]) {
    const [part, changed] = [x.at(index), x.withAt([index], 1)]
    throws(t, 'ERR_INDEX', /^at: index (3|-4) is out of range for an axis of size 3$/, () => part.toArray())
    throws(t, 'ERR_INDEX', /^at: index/, () => part.add(1).toArray())
    throws(t, 'ERR_INDEX', /^withAt: index (3|-4) is out of range for an axis of size 3$/, () => changed.toArray())
  }
  throws(t, 'ERR_INDEX', /^take: index 4 is out of range for an axis of size 4$/, () => x.take(ints([4]), { axis: 1 }).toArray())
})

test('an axis longer than int32 reaches', (t) => {
  const long = ft.tensor([7], { dtype: 'uint8', device: 'cpu' }).broadcastTo([2 ** 32])
  t.deepEqual(long.at([2 ** 32 - 1, -(2 ** 32), 5]).toArray(), [7, 7, 7])
  throws(t, 'ERR_INDEX', /index 4294967296 is out of range for axis 0 of size 4294967296/, () => long.at([2 ** 32]))
})

test('withAt with index arrays: later values win', (t) => {
  const x = matrix()
  t.deepEqual(x.withAt([[0, 2]], -1).toArray(), [[-1, -1, -1, -1], [4, 5, 6, 7], [-1, -1, -1, -1]])
  t.deepEqual(x.withAt([[0, 2], [1, -1]], ft.tensor([-1, -2])).toArray(), [[0, -1, 2, 3], [4, 5, 6, 7], [8, 9, 10, -2]])
  t.deepEqual(x.withAt([1, [0, 0, 0]], ft.tensor([1, 2, 3])).at(1).toArray(), [3, 5, 6, 7])
  t.deepEqual(x.withAt(['::-1', ints([3, 0])], ft.tensor([[1, 2], [3, 4], [5, 6]])).toArray(), [[6, 1, 2, 5], [4, 5, 6, 3], [2, 9, 10, 1]])
  t.deepEqual(x.withAt([[]], 1).toArray(), x.toArray())
  t.is(ints([1, 2, 3]).withAt([[0]], ft.tensor([2.9])).dtype, 'int32')
  t.deepEqual(ints([1, 2, 3]).withAt([[0, 1]], ft.tensor([2.9])).toArray(), [2, 2, 3])
  throws(t, 'ERR_SHAPE', /^withAt: value of shape \[3\] does not broadcast to the region \[2\]$/, () => x.withAt([[0, 1], [0, 1]], ft.zeros([3])))
  throws(t, 'ERR_INDEX', /^withAt: index 3 is out of range for axis 0 of size 3$/, () => x.withAt([[3]], 1))
  throws(t, 'ERR_SHAPE', /^withAt: shapes \[2\] and \[3\] do not broadcast/, () => x.withAt([[0, 1], [0, 1, 2]], 1))
  throws(t, 'ERR_DTYPE', /^withAt: 0.5 is not an integer/, () => ints([1]).withAt([[0]], 0.5))
})

test('withAt with a mask: one value is filled in without reading the mask', (t) => {
  const x = matrix()
  const odd = x.remainder(2).equal(1)
  const programs = ft.stats().programs
  const filled = [x.withAt([odd], 0), x.withAt([odd], ft.tensor(0)), x.withAt(['1:', ft.tensor([true, false, false, true])], -1), x.withAt([1, [true, false, false, true]], -1)]
  t.is(ft.stats().programs, programs)
  t.deepEqual(filled[0]?.toArray(), [[0, 0, 2, 0], [4, 0, 6, 0], [8, 0, 10, 0]])
  t.deepEqual(filled[1]?.toArray(), filled[0]?.toArray())
  t.deepEqual(filled[2]?.toArray(), [[0, 1, 2, 3], [-1, 5, 6, -1], [-1, 9, 10, -1]])
  t.deepEqual(filled[3]?.toArray(), [[0, 1, 2, 3], [-1, 5, 6, -1], [8, 9, 10, 11]])
  t.deepEqual(x.withAt([odd], ft.arange(6).sub(5)).toArray(), [[0, -5, 2, -4], [4, -3, 6, -2], [8, -1, 10, 0]])
  t.deepEqual(x.withAt([[true, false, true]], ft.arange(4)).toArray(), [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 2, 3]])
  t.deepEqual(x.withAt([odd, true], 9).toArray(), x.withAt([odd], 9).toArray())
  t.deepEqual(ft.tensor(1).withAt([true], 9).toArray(), 9)
  t.deepEqual(ft.tensor(1).withAt([false], 9).toArray(), 1)
  throws(t, 'ERR_SHAPE', /^withAt: value of shape \[5\] does not broadcast to the region \[6\]$/, () => x.withAt([odd], ft.zeros([5])))
  throws(t, 'ERR_SHAPE', /^withAt: a mask of shape \[3\] for axes of shape \[4\], from axis 1 on$/, () => x.withAt([0, [true, true, true]], 1))
  throws(t, 'ERR_DTYPE', /^withAt: 0.5 is not an integer/, () => ints([1]).withAt([[true]], 0.5))
})

test('every dtype is gathered and changed', (t) => {
  for (const dtype of ['bool', 'int8', 'uint16', 'int32', 'uint64', 'float16', 'bfloat16', 'float64', 'complex64', 'complex128'] as const) {
    const x = ft.tensor([0, 1, 0, 1]).astype(dtype)
    t.deepEqual(x.at([1, 0, -1]).toArray(), x.take(ints([1, 0, 3])).toArray(), dtype)
    t.is(x.at([true, false, true, true]).dtype, dtype)
    t.deepEqual(x.withAt([[3, 0]], x.at('::-1').at([0, 3])).toArray(), x.withAt('0', x.at(0)).toArray(), dtype)
  }
})

test('a bad index is an error where nothing would be read by it, too', (t) => {
  const empty = ft.zeros([3, 0])
  const index = (i: number) => ft.tensor([i], { dtype: 'int32' })
  t.deepEqual(empty.take(index(-3), { axis: 0 }).toArray(), [[]])
  throws(t, 'ERR_INDEX', /^take: index 7 is out of range for an axis of size 3/, () => empty.take(index(7), { axis: 0 }).toArray())
  throws(t, 'ERR_INDEX', /^at: index 7 is out of range for an axis of size 3/, () => empty.at(index(7)).toArray())
  throws(t, 'ERR_INDEX', /^scatterAdd: index -4 is out of range for an axis of size 3/, () => empty.scatterAdd(index(-4), ft.zeros([1, 0]), { axis: 0 }).toArray())
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

test('an index of very many items is refused at once', (t) => {
  throws(t, 'ERR_INDEX', /at most 64 index items/, () => ft.zeros([2, 3]).at(...new Array<null>(65).fill(null)))
  throws(t, 'ERR_INDEX', /at most 64 index items/, () => ft.zeros([2, 3]).withAt(new Array<boolean>(100_000).fill(true), 7))
  const long = new Array<number>(1e5).fill(0)
  throws(t, 'ERR_INDEX', /at most 64 index items/, () => ft.zeros([2, 3]).withAt(new Array<number[]>(1e5).fill(long), 7))
  throws(t, 'ERR_INDEX', /at most 64 index items/, () => ft.zeros([2, 3]).at(new Array(1000).fill('null').join(',')))
})

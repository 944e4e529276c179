// Functions made of others at the ends of their definitions: narrow integers, infinities and NaN, what has no end, lengths of zero.
// runs on: host

import test from 'ava'
import * as ft from 'ferrotensor'
import { close, throws } from './expect.js'

test('differences, powers and counts of narrow integers do not wrap on the way', (t) => {
  const [a, b] = [ft.tensor([[1]], { dtype: 'uint8' }), ft.tensor([[2]], { dtype: 'uint8' })]
  t.is(ft.dist(a, b).itemSync(), 1)
  t.deepEqual(ft.cdist(a, b).toArray(), [[1]])
  // 3^200 mod 2^8 = 97: NumPy's int8 wraps as well.
  t.is(ft.vander(ft.tensor([3], { dtype: 'int8' }), { n: 201 }).at(0, 0).itemSync(), Number(BigInt.asIntN(8, 3n ** 200n)))
  t.is(ft.vander(ft.tensor([1], { dtype: 'bfloat16' }), { n: 300 }).sum().itemSync(), 300)
  throws(t, 'ERR_DTYPE', /^histc: takes float32 or float64, got uint8/, () => ft.histc(ft.zeros([300], { dtype: 'uint8' }) as never))
  t.deepEqual(ft.ravelMultiIndex([ft.tensor([1], { dtype: 'uint8' }), ft.tensor([250], { dtype: 'uint8' })], [2, 300], { mode: 'wrap' }).toArray(), [550])
  t.deepEqual(ft.choose(ft.tensor([1], { dtype: 'uint8' }), Array.from({ length: 300 }, (_, i) => ft.tensor([i])), { mode: 'clip' }).toArray(), [1])
})

test('ends of definitions: infinite operands, NaN tolerances, tiny ends, pieces of bools', (t) => {
  const none = ft.complex(ft.tensor([-Infinity]), ft.tensor([0]))
  t.deepEqual(ft.logaddexp(none, 0).toArray(), [{ re: 0, im: 0 }])
  t.is(ft.logaddexp(none, none).real().itemSync(), -Infinity)
  t.deepEqual(ft.linalg.matrixRank(ft.stack([ft.eye(2), ft.eye(2)], 0), { rtol: [NaN, 2] }).toArray(), [2, 0])
  t.true(close(ft.geomspace(1e-170, 1e-160, 3, { dtype: 'float64' }).log10().toArray(), [-170, -165, -160]))
  const bools = ft.tensor([true, false])
  t.deepEqual(ft.piecewise(bools, [bools], [false]).toArray(), [false, false])
  t.is(ft.piecewise(bools, [bools], [1]).dtype, 'bool')
  t.deepEqual(ft.insert(ft.tensor([1, 2, 3]), [1], [4, 5]).toArray(), [1, 4, 5, 2, 3])
  t.is(ft.jacobian((x: ft.Tensor) => x.astype('float64').sum())(ft.ones([2])).dtype, 'float64')
})

test('what has no end is refused at once', (t) => {
  let shared: unknown = ft.ones([1])
  for (let i = 0; i < 31; i++) shared = [shared, shared]
  throws(t, 'ERR_SHAPE', /^block: more than 16384 blocks/, () => ft.block(shared as never))
  const virtual = ft.broadcastTo(ft.zeros([1]), [2 ** 40])
  throws(t, 'ERR_SHAPE', /^delete: an axis of 1099511627776 places/, () => ft.delete(virtual, 0))
  throws(t, 'ERR_SHAPE', /^insert: an axis of/, () => ft.insert(virtual, 0, 1))
  throws(t, 'ERR_SHAPE', /^repeat: an axis of/, () => ft.repeat(virtual, [2]))
  throws(t, 'ERR_SHAPE', /^random\.multinomial: 5000 outcomes are more than 4096/, () => ft.random.multinomial(ft.random.key(0), 3, ft.ones([5000])))
  const optimizer = ft.optim.nadam()
  const p = ft.tensor([1])
  const state = { ...optimizer.init(p), count: 2 ** 50 }
  t.is(optimizer.step(p, p, state)[0].shape.length, 1)
  throws(t, 'ERR_ARGUMENT', /^aminmax: unknown option 'correction'/, () => ft.aminmax(p, { correction: 1 } as never))
  throws(t, 'ERR_ARGUMENT', /^vmap: the axes of argument 0|^vmap: the axes of the arguments\[0\]/, () => ft.vmap((x: { a: ft.Tensor }) => x.a, { inAxes: [{ a: 0, b: 1 }] })({ a: p }))
})

test('ctcLoss: NaN stays, lengths are whole numbers of the shape, and no steps say nothing', (t) => {
  const x = ft.full([2, 1, 2], Math.log(0.5))
  const labels = ft.tensor([[1]], { dtype: 'int32' })
  t.is(ft.nn.ctcLoss(ft.full([2, 1, 2], NaN), labels, [2], [1], { zeroInfinity: true }).itemSync(), NaN)
  t.is(ft.nn.ctcLoss(x, labels, [0], [0], { reduction: 'sum' }).itemSync(), 0)
  t.is(ft.nn.ctcLoss(x, labels, [0], [1], { reduction: 'sum' }).itemSync(), Infinity)
  throws(t, 'ERR_ARGUMENT', /^nn\.ctcLoss: 'inputLengths' must be integers from 0 to 2, got 3/, () => ft.nn.ctcLoss(x, labels, [3], [1]))
  throws(t, 'ERR_ARGUMENT', /^nn\.ctcLoss: 'targetLengths' must be integers from 0 to 1, got 1.5/, () => ft.nn.ctcLoss(x, labels, [2], [1.5]))
})

test('a list that changes while it is read is read once', (t) => {
  // A number at the first read of each place, what no text can be made of afterwards.
  const changing = (values: readonly number[]): number[] => {
    const read = new Set<string | symbol>()
    return new Proxy([...values], {
      get: (list, key) => {
        const again = typeof key === 'string' && /^\d+$/.test(key) && read.has(key)
        read.add(key)
        return again ? Symbol('changed') : Reflect.get(list, key)
      }
    })
  }
  throws(t, 'ERR_SHAPE', /^nn\.affineGrid: a size .* got \[1, 1, 2, 2\] and shape \[2, 2, 3\]/, () => ft.nn.affineGrid(ft.ones([2, 2, 3]), changing([1, 1, 2, 2])))
  t.deepEqual(ft.nn.maxPool(ft.ones([1, 1, 3, 3]), changing([2, 2]), { ceilMode: true }).shape, [1, 1, 2, 2])
})

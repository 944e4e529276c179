// What combinations by the caller's functions refuse, and what they hand on: results of the wrong kind, the function's own errors, wrong
// arguments.
// runs on: host; refused at the call, before anything is computed

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

type F = ft.Tensor<'float32'>

const float64 = { dtype: 'float64' } as const
const add = (a: F, b: F): F => a.add(b)

test('what the function returns is checked, and nothing is broadcast', (t) => {
  const x = ft.ones([4, 2])
  const wrong: [code: string, message: RegExp, fn: (a: F, b: F) => unknown][] = [
    ['ERR_SHAPE', /the function's result must have shape \[.*\], got \[\]$/, (a) => a.sum()],
    ['ERR_SHAPE', /must have shape/, (a) => a.reshape([...a.shape, 1])],
    ['ERR_DTYPE', /must be float32, got int32$/, (a) => a.astype('int32')],
    ['ERR_ARGUMENT', /the function's result must be a tensor, got 3$/, () => 3],
    ['ERR_ARGUMENT', /got undefined$/, () => undefined],
    ['ERR_ARGUMENT', /got \[a Tensor\]$/, (a) => [a]],
    ['ERR_ARGUMENT', /the function returned a promise; it has to be synchronous/, async (a) => a],
    ['ERR_ARGUMENT', /the function returned a promise/, () => Promise.reject(new Error('nobody waits for it'))],
    ['ERR_DISPOSED', /the tensor was disposed/, (a, b) => {
      const y = a.add(b)
      y.dispose()
      return y
    }]
  ]
  for (const [code, message, fn] of wrong) {
    const calls: Record<string, () => unknown> = {
      associativeScan: () => ft.associativeScan(fn as never, x),
      reduce: () => ft.reduce(x, 0, fn as never),
      windowReduce: () => ft.windowReduce(x, 0, fn as never, { window: 2 })
    }
    for (const [op, call] of Object.entries(calls)) throws(t, code, new RegExp(`^${op}: .*${message.source}`), call)
  }
  // Where there is another device.
  for (const { name } of ft.devices().filter(({ available, name }) => available && name !== x.device)) {
    throws(t, 'ERR_DEVICE', /^reduce: the function's result must be on .*, got a tensor on /, () => ft.reduce(x, 0, (a, b) => a.add(b).to(name)))
    throws(t, 'ERR_DEVICE', /^reduce: 'init' must be on /, () => ft.reduce(x, ft.tensor(0, { device: name }), add))
  }
  const tree = { u: ft.ones([4]), v: [ft.zeros([4])] }
  type Tree = typeof tree
  const scan = (fn: (a: Tree, b: Tree) => unknown) => () => ft.associativeScan(fn as never, tree)
  throws(t, 'ERR_SHAPE', /^associativeScan: the function's result\.v\[0\] must have shape \[2\], got \[1\]$/, scan((a) => ({ u: a.u, v: [a.v[0]!.at(':1')] })))
  throws(t, 'ERR_ARGUMENT', /^associativeScan: the function's result\.v must be an array of 1, got undefined$/, scan((a) => ({ u: a.u })))
  throws(t, 'ERR_ARGUMENT', /^associativeScan: the function's result must be an object, got/, scan((a) => [a.u, a.v]))
  throws(t, 'ERR_ARGUMENT', /must have the 2 tensors of its arguments, got 3$/, scan((a) => ({ ...a, w: a.u })))
  // What it was given may be changed, and is not what the result is compared with.
  throws(t, 'ERR_DTYPE', /result\.u must be float32, got int32$/, scan((a) => Object.assign(a, { u: a.u.astype('int32') })))
  const summed = ft.associativeScan((a, b) => Object.assign(a, { u: a.u.add(b.u), v: [a.v[0]!.add(b.v[0]!)] }), tree)
  t.deepEqual([summed.u.toArray(), summed.v[0]!.toArray()], [[1, 2, 3, 4], [0, 0, 0, 0]])
})

test('what the function throws goes through as it is', (t) => {
  const x = ft.ones([4, 2])
  const own = new RangeError('reduce: mine')
  const fail = (): never => {
    throw own
  }
  const mixed = (a: F): F => a.add(ft.ones([3, 5, 7]))
  const calls = [(fn: never) => ft.reduce(x, 0, fn), (fn: never) => ft.associativeScan(fn, x), (fn: never) => ft.windowReduce(x, 0, fn, { window: 2 })]
  for (const call of calls) {
    t.is(t.throws(() => call(fail as never), { any: true }), own)
    throws(t, 'ERR_SHAPE', /^add: /, () => call(mixed as never))
  }
  // Errors that depend on values come with the read, of the operation that failed.
  const late = ft.reduce(x, 0, (a, b) => a.add(b).add(ft.tensor([1]).take(ft.tensor([5], { dtype: 'int32' })).sum()))
  throws(t, 'ERR_INDEX', /^take: /, () => late.toArray())
})

test('what is wrong with arguments throws at the call', (t) => {
  const x = ft.ones([4, 2])
  const scan = (...args: unknown[]) => () => (ft.associativeScan as (...args: unknown[]) => unknown)(...args)
  const reduce = (...args: unknown[]) => () => (ft.reduce as (...args: unknown[]) => unknown)(...args)
  const windows = (...args: unknown[]) => () => (ft.windowReduce as (...args: unknown[]) => unknown)(...args)
  const cyclic: Record<string, unknown> = { x }
  cyclic['self'] = cyclic
  const gone = ft.ones([2])
  gone.dispose()

  throws(t, 'ERR_ARGUMENT', /^associativeScan: expected a function, got a Tensor$/, scan(x, add))
  throws(t, 'ERR_ARGUMENT', /^associativeScan: there is no tensor in 'x', got an Object$/, scan(add, {}))
  throws(t, 'ERR_ARGUMENT', /^associativeScan: there is no tensor in 'x', got 3$/, scan(add, 3))
  throws(t, 'ERR_ARGUMENT', /^associativeScan: x is nested deeper than 256 levels/, scan(add, cyclic))
  throws(t, 'ERR_ARGUMENT', /^associativeScan: x\.m is a Map with tensors in it/, scan(add, { m: new Map([[1, x]]) }))
  throws(t, 'ERR_SHAPE', /^associativeScan: x\.b\[0\] has length 3 along axis 0, x\.a has 4$/, scan(add, { a: x, b: [ft.ones([3])] }))
  throws(t, 'ERR_INDEX', /^associativeScan: axis 0 is out of range for rank 0$/, scan(add, ft.tensor(1)))
  throws(t, 'ERR_INDEX', /^associativeScan: axis 2 is out of range for rank 2$/, scan(add, x, 2))
  throws(t, 'ERR_INDEX', /^associativeScan: axis 1 is out of range for rank 1$/, scan(add, [x, ft.ones([2])], 1))
  throws(t, 'ERR_ARGUMENT', /^associativeScan: 'axis' must be an integer, got NaN$/, scan(add, x, { axis: NaN }))
  throws(t, 'ERR_ARGUMENT', /^associativeScan: 'axis' must be an integer, got \[0\]$/, scan(add, x, { axis: [0] }))
  throws(t, 'ERR_ARGUMENT', /^associativeScan: 'reverse' must be a boolean, got 1$/, scan(add, x, { reverse: 1 }))
  throws(t, 'ERR_ARGUMENT', /^associativeScan: unknown option 'axes'; did you mean 'axis'\?/, scan(add, x, { axes: 0 }))
  throws(t, 'ERR_DISPOSED', /^associativeScan: the tensor was disposed$/, scan(add, { x, gone }))

  throws(t, 'ERR_ARGUMENT', /^reduce: expected a function, got 0$/, reduce(x, add, 0))
  throws(t, 'ERR_ARGUMENT', /^reduce: 'init' must be a tensor or a number, got undefined$/, reduce(x, undefined, add))
  throws(t, 'ERR_ARGUMENT', /^reduce: 'x' must be a tensor, got \[1\]; wrap it with ft\.tensor/, reduce([1], 0, add))
  throws(t, 'ERR_DTYPE', /^reduce: 'init' must be float32, got float64$/, reduce(x, ft.tensor(1, float64), add))
  throws(t, 'ERR_SHAPE', /^reduce: 'init' must be a scalar, got shape \[2\]$/, reduce(x, ft.ones([2]), add))
  throws(t, 'ERR_DISPOSED', /^reduce: /, reduce(gone, 0, add))
  throws(t, 'ERR_DISPOSED', /^reduce: /, reduce(x, gone, add))
  throws(t, 'ERR_DTYPE', /^reduce: 0\.5 is not an integer/, reduce(ft.zeros([2], { dtype: 'int32' }), 0.5, add))
  throws(t, 'ERR_DTYPE', /^reduce: 1 is a number, and the dtype is bool/, reduce(x.greater(0), 1, add))
  throws(t, 'ERR_ARGUMENT', /^reduce: 'axis' must be an integer, got NaN$/, reduce(x, 0, add, { axis: NaN }))
  throws(t, 'ERR_ARGUMENT', /^reduce: 'axis\[1\]' must be an integer, got '1'$/, reduce(x, 0, add, { axis: [0, '1'] }))
  throws(t, 'ERR_INDEX', /^reduce: axis -3 is out of range for rank 2$/, reduce(x, 0, add, -3))
  throws(t, 'ERR_INDEX', /^reduce: axis 1 is named twice$/, reduce(x, 0, add, [1, -1]))
  throws(t, 'ERR_ARGUMENT', /^reduce: 'keepdims' must be a boolean, got 'yes'$/, reduce(x, 0, add, { keepdims: 'yes' }))

  throws(t, 'ERR_ARGUMENT', /^windowReduce: 'window' must be/, windows(x, 0, add))
  throws(t, 'ERR_ARGUMENT', /^windowReduce: 'options' must be an object/, windows(x, 0, add, 2))
  throws(t, 'ERR_ARGUMENT', /^windowReduce: unknown option 'strides'; did you mean 'stride'\?/, windows(x, 0, add, { window: 2, strides: 1 }))
  throws(t, 'ERR_ARGUMENT', /^windowReduce: /, windows(x, 0, add, { window: 0 }))
  throws(t, 'ERR_ARGUMENT', /^windowReduce: 'window\[0\]' must be an integer, got NaN$/, windows(x, 0, add, { window: [NaN, 1] }))
  throws(t, 'ERR_ARGUMENT', /^windowReduce: 'stride' must be/, windows(x, 0, add, { window: 1, stride: null }))
  throws(t, 'ERR_ARGUMENT', /^windowReduce: 'padding' must be .*got 'full'$/, windows(x, 0, add, { window: 1, padding: 'full' }))
  throws(t, 'ERR_ARGUMENT', /^windowReduce: padding must not be negative/, windows(x, 0, add, { window: 1, padding: -1 }))
  throws(t, 'ERR_SHAPE', /^windowReduce: a window of 5 places .* is larger than axis 0 of \[4, 2\]/, windows(x, 0, add, { window: [5, 1] }))
  throws(t, 'ERR_SHAPE', /^windowReduce: window \[1, 1, 1\] does not fit 2 axes$/, windows(x, 0, add, { window: [1, 1, 1] }))
  throws(t, 'ERR_DTYPE', /^windowReduce: 'init' must be float32, got int32$/, windows(x, ft.tensor(1, { dtype: 'int32' }), add, { window: 1 }))
})

// Arguments of the wrong JavaScript kind, for every operation: an error that names operation and argument, never a crash.

import test from 'ava'
import * as ft from 'ferrotensor'
import { failure, throws } from './expect.js'
import { EXAMPLES } from './generated/examples.js'

type Loose = Record<string, (...args: unknown[]) => unknown>
const root = ft as unknown as Loose & Record<string, Loose>

function functionOf(path: string): (...args: unknown[]) => unknown {
  const [space, name] = path.includes('.') ? (path.split('.') as [string, string]) : [null, path]
  return (space === null ? root[name] : root[space]?.[name]) as (...args: unknown[]) => unknown
}

const WRONG: readonly unknown[] = [undefined, null, 'text', {}, Symbol('s'), () => 1, new Map(), [ft.zeros([1]), null], new Float32Array(2)]

test('no operation takes what is no argument', (t) => {
  for (const { op } of EXAMPLES) {
    for (const value of WRONG) {
      const error = failure(t, () => functionOf(op)(value), `${op}(${String(value)})`)
      t.is(error.code, 'ERR_ARGUMENT', `${op}(${String(value)}): ${error.message}`)
      t.true(error.message.startsWith(`${op}: `), error.message)
    }
    throws(t, 'ERR_ARGUMENT', new RegExp(`^${op}: `), () => functionOf(op)())
  }
})

test('no operation takes wrong further arguments', (t) => {
  const x = ft.ones([2, 2])
  for (const { op } of EXAMPLES) {
    for (const value of [null, 'text', Symbol('s'), () => 1, new Map([[1, 2]])]) {
      // Whatever comes out: our own error, or a tensor where JavaScript's surplus arguments are ignored.
      try {
        functionOf(op)(x, value, value, value)
      } catch (error) {
        t.true(error instanceof ft.TensorError, `${op}(x, ${String(value)}): ${String(error)}`)
      }
    }
  }
  t.pass()
})

test('options', (t) => {
  const x = ft.ones([2, 2]) as unknown as Loose
  throws(t, 'ERR_ARGUMENT', /^sum: unknown option 'axes'; one of axis, keepdims, dtype/, () => x.sum?.({ axes: 0 }))
  throws(t, 'ERR_ARGUMENT', /^sum: 'options' must be an object/, () => x.sum?.('0'))
  throws(t, 'ERR_ARGUMENT', /^sum: 'options' must be an object/, () => x.sum?.(null))
  throws(t, 'ERR_ARGUMENT', /^sum: 'axis' must be an array of integers, got null/, () => x.sum?.({ axis: null }))
  throws(t, 'ERR_ARGUMENT', /^sum: 'axis' must be an integer, got 0.5/, () => x.sum?.(0.5))
  throws(t, 'ERR_ARGUMENT', /^sum: 'axis\[1\]' must be an integer, got '1'/, () => x.sum?.([0, '1']))
  const cyclic: unknown[] = []
  cyclic.push(cyclic, cyclic)
  throws(t, 'ERR_ARGUMENT', /^sum: 'axis\[0\]' must be an integer, got \[an array of 2, an array of 2\]/, () => x.sum?.(cyclic))
  throws(t, 'ERR_ARGUMENT', /^sum: 'keepdims' must be a boolean, got 1/, () => x.sum?.({ keepdims: 1 }))
  throws(t, 'ERR_INDEX', /axis 9007199254740991 is out of range/, () => x.sum?.(Number.MAX_SAFE_INTEGER))
  throws(t, 'ERR_DTYPE', /^astype: 'float' is not a dtype; one of bool/, () => x.astype?.('float'))
  throws(t, 'ERR_ARGUMENT', /^astype: 'dtype' must be the name of a dtype, got undefined/, () => x.astype?.())
  throws(t, 'ERR_ARGUMENT', /^reshape: 'shape' must be an array of integers, got 4/, () => x.reshape?.(4))
  throws(t, 'ERR_ARGUMENT', /^concat: 'arrays' must be an array of tensors/, () => root.concat?.(x))
  throws(t, 'ERR_ARGUMENT', /^tensordot: 'axes' must be a number of axes/, () => x.tensordot?.(x, { axes: -1 }))
  throws(t, 'ERR_ARGUMENT', /^zeros: 'shape/, () => root.zeros?.())
})

test('weak scalars keep the dtype, or throw', (t) => {
  const i = ft.tensor([1, 2], { dtype: 'int8' })
  t.is(i.add(1).dtype, 'int8')
  t.is(i.add(1n).dtype, 'int8')
  throws(t, 'ERR_DTYPE', /0.5/, () => i.add(0.5))
  throws(t, 'ERR_DTYPE', /300/, () => i.mul(300))
  throws(t, 'ERR_DTYPE', /bool/, () => ft.tensor([true]).minimum(2))
  throws(t, 'ERR_ARGUMENT', /^add: /, () => ft.add(1, 2))
})

test('reserved words and aliases are functions', (t) => {
  t.is(ft.mul, ft.multiply)
  t.is(ft.sub, ft.subtract)
  t.is(ft.div, ft.divide)
  t.is(ft.neg, ft.negative)
  t.deepEqual(ft.add(1, ft.tensor([1])).toArray(), [2])
})

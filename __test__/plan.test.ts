// Plans: what would run, where, and why not elsewhere; nothing runs.
// runs on: vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { inspect } from 'node:util'
import { throws } from './expect.js'

const names = ({ kernels }: ft.Plan): string[] => kernels.map(({ name }) => name)

test('a plan has the kernels that a profile of the same function has, with the same bytes and operations', (t) => {
  const layer = (x: ft.Tensor, w: ft.Tensor, b: ft.Tensor): ft.Tensor => x.matmul(w).add(b).relu().softmax(-1)
  const args = [ft.ones([8, 32]), ft.ones([32, 16]), ft.ones([16])] as const
  ft.evaluateSync(...args)
  const plan = ft.plan(layer)(...args)
  const { kernels } = ft.profile(() => layer(...args))
  const profiled = kernels.map(({ name, read, written, flops }) => ({ name, read, written, flops })).sort((a, b) => (a.name < b.name ? -1 : 1))
  const planned = plan.kernels.map(({ name, read, written, flops }) => ({ name, read, written, flops })).sort((a, b) => (a.name < b.name ? -1 : 1))
  t.deepEqual(planned, profiled)
  t.true(plan.fused > 0)
  t.is(plan.results, 8 * 16 * 4)
})

test('nothing runs and nothing is allocated', (t) => {
  // No machine has memory for these.
  const huge = ft.ones([2 ** 20, 2 ** 20], { device: 'cpu' })
  ft.resetStats()
  const { live } = ft.memory()
  const plan = ft.plan((x: ft.Tensor) => x.matmul(x).sum())(huge)
  t.is(plan.kernels[0]?.flops, 2 * 2 ** 60)
  t.is(plan.temporary >= 4 * 2 ** 40, true)
  const { programs, launches } = ft.stats()
  t.deepEqual([programs, launches, ft.memory().live - live], [0, 0, 0])
})

test('what was recorded before is part of what would run, and stays recorded', (t) => {
  const a = ft.ones([4]).mul(3)
  const plan = ft.plan(() => a.exp())()
  t.deepEqual(names(plan), ['map ones multiply exp float32 [4]'])
  t.deepEqual([...a.dataSync()], [3, 3, 3, 3])
})

test('an operation is planned by its name, its operands and its options', (t) => {
  const x = ft.ones([3, 5], { device: 'cpu' })
  t.deepEqual(names(ft.plan('sum', [x], { axis: 0 })), names(ft.plan((y: ft.Tensor) => y.sum(0))(x)))
  const square = ft.ones([3, 3], { device: 'cpu' })
  t.is(ft.plan('linalg.solve', [square, square]).kernels.length, 1)
  throws(t, 'ERR_ARGUMENT', /^plan: there is no operation 'matmull'; did you mean 'matmul'/, () => ft.plan('matmull', [x, x]))
  throws(t, 'ERR_ARGUMENT', /^plan: there is no operation '\.exp'/, () => ft.plan('.exp', [x]))
  throws(t, 'ERR_ARGUMENT', /^plan: there is no operation 'toString'/, () => ft.plan('toString', [x]))
  throws(t, 'ERR_ARGUMENT', /^plan: there is no operation '__proto__\.valueOf'/, () => ft.plan('__proto__.valueOf', [x]))
  throws(t, 'ERR_ARGUMENT', /^plan: 'inputs' must be an array of operands, got /, () => ft.plan('exp', x as never))
  throws(t, 'ERR_ARGUMENT', /^plan: 'inputs' must be an array of operands, got /, () => ft.plan('exp', new Array(2 ** 32 - 1)))
  for (const length of [-1, 0.5, NaN, '1', 1n, Symbol('1'), { valueOf: () => 1 }]) {
    const liar = new Proxy([x], { get: (target, key): unknown => (key === 'length' ? length : Reflect.get(target, key)) })
    throws(t, 'ERR_ARGUMENT', /^plan: 'inputs' must be an array of operands, got /, () => ft.plan('exp', liar))
  }
  for (const holes of [new Array(1), new Array(3)]) throws(t, 'ERR_ARGUMENT', /^exp: /, () => ft.plan('exp', holes))
  throws(t, 'ERR_SHAPE', /^matmul: inner dimensions differ/, () => ft.plan('matmul', [x, x]))
})

test('every device and backend that does not run a kernel says why, or that it could', (t) => {
  const [kernel] = ft.plan('matmul', [ft.ones([2, 2], { device: 'cpu' }), ft.ones([2, 2], { device: 'cpu' })]).kernels
  t.is(kernel?.selected, 'cpu')
  t.is(kernel?.lacking, null)
  const said = [...(kernel?.fallbacks ?? []), ...(kernel?.rejected ?? []).map(({ backend }) => backend)].sort()
  const others = ft.devices().map(({ name }) => name as string).filter((name) => name !== 'cpu')
  t.deepEqual(said, others.sort())
  for (const { backend, reason } of kernel?.rejected ?? []) t.true(reason.length > 0, backend)
  for (const name of kernel?.fallbacks ?? []) t.true(ft.devices().some((device) => device.name === name && device.available), name)
})

test('what a device lacks is planned on the CPU, with the bytes that are carried', (t) => {
  const device = ft.devices().find(({ kind, available }) => kind === 'vulkan' && available)
  if (device === undefined) {
    t.pass('there is no Vulkan device')
    return
  }
  const a = ft.ones([4, 4], { device: device.name })
  const plan = ft.plan('linalg.solve', [a, a])
  const kernel = plan.kernels.find(({ lacking }) => lacking !== null)
  t.is(plan.device, device.name)
  t.is(kernel?.selected, 'cpu')
  t.is(kernel?.carried, 3 * 64)
  t.regex(String(plan), new RegExp(`${device.name} lacks `))
})

test('a plan is printed as a table', (t) => {
  const plan = ft.plan((x: ft.Tensor) => x.exp().sum())(ft.ones([1000], { device: 'cpu' }))
  const text = inspect(plan)
  t.is(text, String(plan))
  t.regex(text, /^kernel +runs on +read +written +carried +flop +also on\n/)
  t.regex(text, /1 kernel on cpu, /)
})

test('values cannot be read inside, tensors must come out, and plans are made from outside', (t) => {
  const x = ft.ones([3])
  throws(t, 'ERR_ARGUMENT', /./, () => ft.plan((y: ft.Tensor) => (y.sum().toArray() === 0 ? y : y.neg()))(x))
  throws(t, 'ERR_ARGUMENT', /^plan: the function returns no tensor$/, () => ft.plan(() => 5)())
  throws(t, 'ERR_ARGUMENT', /^plan: expected a function|^plan: /, () => ft.plan(5 as never))
  throws(t, 'ERR_ARGUMENT', /^plan: not while a function is traced/, () => ft.grad((y: ft.Tensor) => (ft.plan('exp', [y]), y.sum()))(x))
  throws(t, 'ERR_ARGUMENT', /^plan: not while a function is traced/, () => ft.jit((y: ft.Tensor) => (ft.plan('exp', [y]), y.sum()))(x))
  throws(t, 'ERR_DISPOSED', /^plan: /, () => {
    const gone = ft.ones([2])
    gone.dispose()
    ft.plan('exp', [gone])
  })
  t.deepEqual([...x.add(1).dataSync()], [2, 2, 2])
})

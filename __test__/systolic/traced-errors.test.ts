// What traced arrays refuse, at the call that is wrong, by the name of the state or port.
// runs on: host; refused at the call, before anything is computed

import test, { type ExecutionContext } from 'ava'
import * as ft from 'ferrotensor'
import { throws } from '../expect.js'

const { systolic } = ft

const GOOD = { rows: 2, cols: 3, state: { acc: 'float32' }, ports: { east: [0, 1], south: [1, 0] }, step: ({ acc }: any, { west, north }: any) => [{ acc: acc.add(west.mul(north)) }, { east: west, south: north }] }
const made = (t: ExecutionContext, change: object, code: string, message: RegExp): void => throws(t, code, message, () => systolic.traced({ ...GOOD, ...change } as never), JSON.stringify(change))
const step = (found: (state: any, inputs: any) => unknown): object => ({ step: found })

test('sizes, states and ports', (t) => {
  throws(t, 'ERR_ARGUMENT', /^systolic\.traced: 'options' must be an object/, () => systolic.traced(undefined as never))
  made(t, { rows: 0 }, 'ERR_ARGUMENT', /^systolic\.traced: 'rows' must be at least 1, got 0$/)
  made(t, { cols: 1.5 }, 'ERR_ARGUMENT', /^systolic\.traced: 'cols' must be an integer, got 1\.5$/)
  made(t, { rows: 2 ** 20, cols: 2 ** 20 }, 'ERR_ARGUMENT', /elements are more than 67108864$/)
  made(t, { row: 2 }, 'ERR_ARGUMENT', /unknown option 'row'; did you mean 'rows'\?/)
  made(t, { state: undefined }, 'ERR_ARGUMENT', /'state' must be an object by name, got undefined/)
  made(t, { state: ['float32'] }, 'ERR_ARGUMENT', /'state' must be an object by name/)
  made(t, { state: { acc: 'float31' } }, 'ERR_DTYPE', /'float31' is not a dtype/)
  made(t, { state: { acc: 7 } }, 'ERR_ARGUMENT', /state 'acc' must be a dtype, or \{ dtype, init \}, got 7/)
  made(t, { state: { acc: { init: 1 } } }, 'ERR_ARGUMENT', /'state\.acc\.dtype' must be the name of a dtype, got undefined/)
  made(t, { state: { acc: { dtype: 'float32', first: 1 } } }, 'ERR_ARGUMENT', /^systolic\.traced: state 'acc': unknown option 'first'/)
  made(t, { state: { acc: { dtype: 'int32', init: 1.5 } } }, 'ERR_DTYPE', /^systolic\.traced: the 'init' of state 'acc': .*1\.5/)
  made(t, { state: { acc: { dtype: 'float32', init: 'x' } } }, 'ERR_ARGUMENT', /the 'init' of state 'acc' must be a number, got 'x'/)
  made(t, { state: { acc: { dtype: 'float32', init: ft.ones([3, 2]) } } }, 'ERR_SHAPE', /the 'init' of state 'acc' must have shape \[2, 3\], got \[3, 2\]/)
  made(t, { state: { acc: { dtype: 'float32', init: ft.ones([2, 3], { dtype: 'int32' }) } } }, 'ERR_DTYPE', /the 'init' of state 'acc' must be float32, got int32/)
  made(t, { ports: [] }, 'ERR_ARGUMENT', /'ports' must be an object by name/)
  made(t, { ports: { east: 'east' } }, 'ERR_ARGUMENT', /'ports\.east' must be an offset \[rows, cols\], or \{ offset, \.\.\. \}, got 'east'/)
  made(t, { ports: { east: [1] } }, 'ERR_ARGUMENT', /'ports\.east' must be two integers, rows and columns/)
  made(t, { ports: { east: [0, 0.5] } }, 'ERR_ARGUMENT', /'ports\.east\[1\]' must be an integer, got 0\.5/)
  made(t, { ports: { east: [0, 0] } }, 'ERR_ARGUMENT', /'ports\.east' is \[0, 0\], which leads to the element itself/)
  made(t, { ports: { east: { offset: [0, 1], latency: 0 } } }, 'ERR_ARGUMENT', /'ports\.east\.latency' must be at least 1, got 0/)
  made(t, { ports: { east: { offset: [0, 1], latency: 65 } } }, 'ERR_ARGUMENT', /'ports\.east\.latency' is 65, more than 64/)
  made(t, { ports: { east: { offset: [0, 1], empty: 'none' } } }, 'ERR_ARGUMENT', /the 'empty' of port 'east' must be a number, got 'none'/)
  made(t, { ports: { east: { offset: [0, 1], dtype: 'int32', empty: Infinity } } }, 'ERR_DTYPE', /the 'empty' of port 'east': .*Infinity/)
  made(t, { ports: { east: { offset: [0, 1], as: '' } } }, 'ERR_ARGUMENT', /'ports\.east\.as' must be a name/)
  made(t, { ports: { east: [0, 1], other: { offset: [1, 0], as: 'west' } } }, 'ERR_ARGUMENT', /two ports are read as 'west'; name one by 'as'/)
  made(t, { state: { a: 'float32', b: 'int32' }, ports: { east: [0, 1] } }, 'ERR_ARGUMENT', /the states have several dtypes, so that port 'east' needs one of its own/)
  made(t, { step: 'add' }, 'ERR_ARGUMENT', /^systolic\.traced: 'step': expected a function, got 'add'/)
})

test('steps that return nonsense', (t) => {
  made(t, step(() => undefined), 'ERR_ARGUMENT', /^systolic\.traced: 'step' must return \[state, outputs\], got undefined$/)
  made(t, step(() => []), 'ERR_ARGUMENT', /'step' must return \[state, outputs\]/)
  made(t, step(async ({ acc }) => [{ acc }]), 'ERR_ARGUMENT', /returned a promise; 'step' has to be synchronous/)
  made(t, step(({ acc }) => [acc]), 'ERR_ARGUMENT', /the states that 'step' returns must be an object by name/)
  made(t, step(() => [{}]), 'ERR_ARGUMENT', /^systolic\.traced: the state 'acc' that 'step' returns must be a tensor, got undefined$/)
  made(t, step(({ acc }) => [{ acc, add: acc }]), 'ERR_ARGUMENT', /unknown name 'add' in the states that 'step' returns/)
  made(t, step(({ acc }) => [{ acc }, { est: acc }]), 'ERR_ARGUMENT', /unknown name 'est' in the outputs that 'step' returns; did you mean 'east'\?/)
  made(t, step(({ acc }) => [{ acc }, { east: 1 }]), 'ERR_ARGUMENT', /the output 'east' that 'step' returns must be a tensor, got 1/)
  made(t, step(({ acc }) => [{ acc: acc.sum() }]), 'ERR_SHAPE', /^systolic\.traced: the state 'acc' that 'step' returns must have shape \[2, 3\], got \[\]$/)
  made(t, step(({ acc }) => [{ acc: acc.astype('float64') }]), 'ERR_DTYPE', /the state 'acc' that 'step' returns must be float32, got float64/)
  made(t, step(({ acc }) => [{ acc }, { south: acc.at(0) }]), 'ERR_SHAPE', /the output 'south' that 'step' returns must have shape \[2, 3\], got \[3\]/)
})

test('steps that depend on values', (t) => {
  const wanted = /^systolic\.traced: 'step' needs the value of a tensor, and is recorded once for all elements and ticks; choose by ft\.where/
  made(t, step(({ acc }) => [{ acc: acc.at(0, 0).itemSync() > 0 ? acc : acc.negative() }]), 'ERR_ARGUMENT', wanted)
  made(t, step(({ acc }) => [{ acc: acc.at(acc.greater(0)).broadcastTo([2, 3]) }]), 'ERR_ARGUMENT', wanted)
  // Recording goes on as before.
  t.deepEqual(ft.ones([2]).add(1).toArray(), [2, 2])
})

test('an error of the step goes through', (t) => {
  class Own extends Error {}
  t.throws(() => systolic.traced({ ...GOOD, step: () => { throw new Own('mine') } } as never), { instanceOf: Own, message: 'mine' })
  made(t, step(({ acc }) => [{ acc: acc.matmul(acc) }]), 'ERR_SHAPE', /^matmul: /)
})

test('runs', (t) => {
  const net = systolic.traced(GOOD as never) as ft.systolic.TracedArray<any, any>
  const ran = (inputs: unknown, options: unknown, code: string, message: RegExp): void => throws(t, code, message, () => net.run(inputs as never, options as never))
  ran({}, undefined, 'ERR_ARGUMENT', /^systolic\.traced\.run: 'ticks' is missing: how long to run$/)
  ran({}, { ticks: -1 }, 'ERR_ARGUMENT', /'ticks' must not be negative, got -1/)
  ran({}, { ticks: 0.5 }, 'ERR_ARGUMENT', /'ticks' must be an integer/)
  ran({}, { ticks: 2 ** 30 }, 'ERR_ARGUMENT', /are more than 1048576 ticks; longer runs are several calls/)
  ran({}, { ticks: 1, backend: 'cpu' }, 'ERR_ARGUMENT', /unknown option 'backend'/)
  ran(undefined, { ticks: 1 }, 'ERR_ARGUMENT', /'inputs' must be an object by name, got undefined/)
  ran({ east: ft.ones([1, 2]) }, { ticks: 1 }, 'ERR_ARGUMENT', /unknown name 'east' in 'inputs'/)
  ran({ west: [[1, 2]] }, { ticks: 1 }, 'ERR_ARGUMENT', /input 'west' must be a tensor \[ticks, 2\], got/)
  ran({ west: ft.ones([1, 3]) }, { ticks: 1 }, 'ERR_SHAPE', /^systolic\.traced\.run: input 'west' must have shape \[1, 2\] \(ticks, places at its edge\), got \[1, 3\]$/)
  ran({ north: ft.ones([2, 3]) }, { ticks: 1 }, 'ERR_SHAPE', /input 'north' must have shape \[1, 3\]/)
  ran({ north: ft.ones([1, 3], { dtype: 'float64' }) }, { ticks: 1 }, 'ERR_DTYPE', /input 'north' must be float32, got float64/)
  ran({}, { ticks: 1, outputs: 'east' }, 'ERR_ARGUMENT', /'outputs' must be an array of names of ports/)
  ran({}, { ticks: 1, outputs: ['west'] }, 'ERR_ARGUMENT', /'outputs\[0\]' must be the name of a port, got 'west'/)
  ran({}, { ticks: 1, outputs: ['east', 'east'] }, 'ERR_ARGUMENT', /'outputs' names 'east' twice/)
  ran({}, { ticks: 1, state: { ac: ft.ones([2, 3]) } }, 'ERR_ARGUMENT', /unknown name 'ac' in 'state'/)
  ran({}, { ticks: 1, state: { acc: 1 } }, 'ERR_ARGUMENT', /state 'acc' must be a tensor \[2, 3\], got 1/)
  ran({}, { ticks: 1, state: { acc: ft.ones([3, 2]) } }, 'ERR_SHAPE', /state 'acc' must have shape \[2, 3\], got \[3, 2\]/)
  ran({}, { ticks: 1, device: 'gpu:7' }, 'ERR_DEVICE', /^systolic\.traced\.run: /)
  ran({}, { ticks: 1, onProgress: 1 }, 'ERR_ARGUMENT', /'onProgress' must be a function, got 1/)
  const left = net.run({}, { ticks: 1 })
  ran({}, { ticks: 1, from: 1 }, 'ERR_ARGUMENT', /'from' must be what an earlier run left, got 1/)
  ran({}, { ticks: 1, from: {} }, 'ERR_ARGUMENT', /'from\.state' must be an object by name/)
  ran({}, { ticks: 1, from: { ...left, links: { ...left.links, east: [] } } }, 'ERR_ARGUMENT', /the links of port 'east' of 'from' must be an array of 1 tensors/)
  ran({}, { ticks: 1, from: { ...left, tick: -1 } }, 'ERR_ARGUMENT', /'from\.tick' must not be negative/)
  ran({}, { ticks: 1, from: { ...left, state: { acc: ft.ones([1, 1]) } } }, 'ERR_SHAPE', /state 'acc' of 'from' must have shape/)
  const given = ft.ones([1, 2])
  given.dispose()
  ran({ west: given }, { ticks: 1 }, 'ERR_DISPOSED', /systolic\.traced\.run/)
  t.throws(() => net.run({}, { ticks: 100, onProgress: () => { throw new RangeError('enough') } }), { instanceOf: RangeError, message: 'enough' })
  t.deepEqual(net.run({}, { ticks: 2, from: left }).tick, 3)
})

test('tensors that a step takes from around it', (t) => {
  const weights = ft.ones([2, 3])
  ft.evaluateSync(weights)
  const net = systolic.traced({ ...GOOD, ports: {}, step: ({ acc }: any) => [{ acc: acc.add(weights) }] } as never) as ft.systolic.TracedArray<any, any>
  t.deepEqual(net.run({}, { ticks: 2 }).state['acc']!.toArray(), [[2, 2, 2], [2, 2, 2]])
  weights.dispose()
  throws(t, 'ERR_DISPOSED', /^systolic\.traced\.run: a captured tensor: the tensor was disposed$/, () => net.run({}, { ticks: 2 }))
})

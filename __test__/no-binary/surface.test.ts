// The whole public surface without a native binary: each function, method and example works, or throws an error of this package, and
// all that need native code throw the reason there is none.
// runs on: host; the same names everywhere

import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import { Installation } from './installation.js'

/**
 * What needs no native code: JavaScript's own values, what speaks of dtypes alone, layers and optimisers before they have parameters, and
 * trees. A star stands for names with this beginning or end.
 */
const PURE = [
  'new *Error', 'new Slice', 'slice', 'arrayNamespaceInfo', 'finfo', 'iinfo', 'isdtype', 'issubdtype',
  'devices', 'isTensor', 'isscalar', 'getPrintOptions', 'setPrintOptions',
  'new nn.*', 'nn.initStateTree', 'nn.stateDict', 'nn.loadStateDict', 'Linear.initState', 'Linear.name', 'new random.Generator',
  'backends.autoSelect', 'backends.get', 'backends.list',
  'optim.adadelta', 'optim.adafactor', 'optim.adagrad', 'optim.adam', 'optim.adamax', 'optim.adamw', 'optim.lbfgs', 'optim.lion', 'optim.nadam', 'optim.radam', 'optim.rmsprop',
  'optim.sgd',
  'optim.cosine', 'optim.cosineRestarts', 'optim.exponentialDecay', 'optim.linear', 'optim.multiStepDecay', 'optim.oneCycle', 'optim.polynomial', 'optim.reduceOnPlateau',
  'optim.stepDecay', 'optim.warmup',
  'systolic.*', 'example ft.systolic.*', 'example Object.isFrozen(ft.systolic.*',
  'tree.flatten', 'tree.leaves', 'tree.register',
  'Tensor.shape', 'Tensor.dtype', 'Tensor.ndim', 'Tensor.size', 'Tensor.dispose',
  'Tensor.isComplex', 'Tensor.isFloatingPoint', 'Tensor.dim', 'Tensor.numel', 'Tensor.itemsize', 'Tensor.elementSize', 'Tensor.nbytes', `Tensor.${String(Symbol.dispose)}`, 'Tensor.Symbol(Symbol.toPrimitive)',
  "example ft.finfo('float16').max", "example ft.iinfo('int8').min", 'example ft.isdtype(*', 'example ft.issubdtype(*', 'example ft.isscalar(*', 'example ft.arrayNamespaceInfo()*', 'example [...ft.backends*', 'example ft.backends*'
]

/** What needs none for some arguments: nothing to do, a tensor that is one already, functions that make none. */
const IN_PART = [
  'numel', 'ndim', 'shape', 'size', 'isComplex', 'isFloatingPoint', 't', 'Tensor.t',
  'iscomplexobj', 'isrealobj', 'asarray', 'broadcastArrays', 'cartesianProd', 'data.batches', 'detectNaN', 'evaluate', 'evaluateSync', 'meshgrid', 'noGrad', 'scopeAsync', 'tree.map', 'vjp',
  'Tensor.Symbol(Symbol.iterator)', 'Optimiser.init'
]

const UNAVAILABLE = 'ERR_BACKEND_UNAVAILABLE'

/** Whether a table has a name. */
const among = (names: readonly string[], path: string): boolean =>
  names.some((name) => {
    const [before = '', after] = name.split('*')
    return after === undefined ? path === name : path.startsWith(before) && path.endsWith(after)
  })

let outcomes: Record<string, string[]> = {}
let installation: Installation

test.before(async () => {
  installation = new Installation()
  const program = join(installation.folder, 'outcomes.mjs')
  cpSync(fileURLToPath(new URL('outcomes.js', import.meta.url)), program)
  outcomes = await installation.evaluate(`await import(${JSON.stringify(program)})`)
})
test.after.always(() => installation.remove())

/** How calls of a function ended, with what came of the functions it returned. */
const endsOf = (path: string): string[] => [...(outcomes[path] ?? []), ...(outcomes[`${path}()`] ?? [])]
const paths = (): string[] => Object.keys(outcomes).filter((path) => !path.endsWith('()') || path.startsWith('example'))

test('every call works or ends with an error of this package', (t) => {
  t.true(paths().length > 1000, 'the surface was not found')
  const broken = Object.entries(outcomes).flatMap(([path, ends]) => ends.filter((end) => !/^(works|a function|(rejects )?ERR_(?!INTERNAL)\w+)$/.test(end)).map((end) => `${path}: ${end}`))
  t.deepEqual(broken, [])
})

test('what needs native code throws that there is none; what needs none is listed', (t) => {
  const throwing = paths().filter((path) => endsOf(path).some((end) => end.endsWith(UNAVAILABLE)))
  const silent = paths().filter((path) => !throwing.includes(path))
  t.deepEqual(silent.filter((path) => !among(PURE, path)), [], 'needs no native code and is not listed, or no argument list here is plausible')
  const working = throwing.filter((path) => endsOf(path).includes('works') && !path.startsWith('example'))
  t.deepEqual(working.filter((path) => !among([...IN_PART, 'new *Error'], path)), [], 'works for some arguments and is not listed')
  t.deepEqual(IN_PART.filter((name) => !working.includes(name)), [], 'is listed and needs native code for all arguments, or for none')
  t.deepEqual(PURE.filter((name) => !silent.some((path) => among([name], path)) && name !== 'new *Error'), [], 'is listed and needs native code, or is gone')
})

test('asynchronous functions reject, they never throw', (t) => {
  const both = Object.entries(outcomes).filter(([, ends]) => ends.some((end) => end.startsWith('rejects')) && ends.some((end) => end.startsWith('ERR_')))
  t.deepEqual(both, [])
  const throwing = Object.entries(outcomes).filter(([path, ends]) => path.endsWith('Async') && ends.some((end) => end.startsWith('ERR_')))
  t.deepEqual(throwing, [])
})

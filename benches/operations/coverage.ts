// Whether every operation has a case, so that a new one is not forgotten: what the package exports, and the rows of the table.

import * as ft from 'ferrotensor'
// Inside the package: the table is not exported.
import { OP_TABLE } from '../../lib/generated/table.js'

/** What has no case, by the reason. */
const NOT_TIMED: Readonly<Record<string, readonly string[]>> = {
  'answers about dtypes and shapes': ['arrayNamespaceInfo', 'broadcastShapes', 'canCast', 'finfo', 'iinfo', 'isdtype', 'issubdtype', 'resultType'],
  'functions of functions, and the rows they record': ['barrier', 'checkpoint', 'custom', 'customGradient', 'detectNaN', 'grad', 'hessian', 'jacobian', 'jit', 'jvp', 'noGrad', 'stopGradient', 'valueAndGrad', 'vjp'],
  'settings, memory and devices': ['config', 'devices', 'memory', 'resetStats', 'setDefaultDevice', 'setMemoryLimit', 'plan', 'profile', 'setThreads', 'stats', 'strict', 'trim'],
  'text for people, of a few elements': ['array2string', 'getPrintOptions', 'setPrintOptions'],
  'no work of its own': ['asarray', 'evaluate', 'evaluateSync', 'fromShared', 'random.generator', 'scope', 'slice'],
  'layers of functions that have cases': ['nn.linear'],
  'trees of layers and names': ['nn.initStateTree', 'nn.initTree', 'nn.loadStateDict', 'nn.stateDict'],
  'a few numbers, however large the tensors': ['random.fold', 'random.key', 'random.split']
}

const SPACES = { '': ft, 'linalg.': ft.linalg, 'fft.': ft.fft, 'nn.': ft.nn, 'random.': ft.random }

/** What a name stands for: a function, or a method where there is no function. */
const lookUp = (name: string): unknown =>
  name.split('.').reduce<unknown>((space, part) => (space as Record<string, unknown> | undefined)?.[part], ft) ?? Reflect.get(ft.Tensor.prototype, name)

/** Every operation once, whatever its other names: an async twin does the same work, and a class none. */
function operations(): Map<unknown, string> {
  const exported = Object.entries(SPACES).flatMap(([prefix, space]) => Object.entries(space).filter(([, value]) => typeof value === 'function').map(([name]) => prefix + name))
  const names = [...OP_TABLE.map(({ name }) => name), ...exported].filter((name) => !name.endsWith('Async') && !/(^|\.)[A-Z]/.test(name))
  return new Map(names.reverse().map((name) => [lookUp(name), name]))
}

/** What is wrong with a list of names: operations that are missing, and names of none. */
export function omissions(names: readonly string[]): string[] {
  const known = operations()
  const excused = Object.values(NOT_TIMED).flat()
  const met = new Set([...names, ...excused].map(lookUp))
  const unknown = [...names, ...excused].filter((name) => !known.has(lookUp(name)))
  const missing = [...known].filter(([operation]) => !met.has(operation)).map(([, name]) => name)
  return [
    ...missing.map((name) => `${name} has no case: it needs one below benches/operations, or a reason in coverage.ts why not`),
    ...unknown.map((name) => `${name} is no operation`)
  ]
}

// What is called: every function, method, getter and constructor that the module itself shows, each with argument lists that
// work. Those come from the examples in the declarations, which every row of the table has; the few parts of the surface
// without an example are in `seeds.mjs`, and one that is in neither place is an error.

import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import * as ft from 'ferrotensor'
import { OP_TABLE } from '../../dist/lib/generated/table.js'
import { SEEDS } from './seeds.mjs'

/** Classes that nobody constructs: the tensor's constructor is `@internal`, a module's abstract, and errors are only thrown. */
const NOT_CONSTRUCTED = new Set(['Tensor', 'Module', 'Profile', 'Plan', ...Object.keys(ft).filter((name) => name.endsWith('Error'))])

/** The attributes of each row by `row.name`: they tell what kind of value an option takes. */
const ATTRIBUTES = new Map(OP_TABLE.flatMap(({ name, attrs }) => attrs.map((attr) => [`${name}.${attr.name}`, attr])))

const types = readFileSync(new URL('../../index.d.ts', import.meta.url), 'utf8')

/** Names of methods that are for subclasses alone. */
const PROTECTED = new Set([...types.matchAll(/\bprotected (?:(?:abstract|readonly|get) )*(\w+)/g)].map(([, name]) => name))

/** Whether a function is called by its own name: names of other libraries are the same functions, or throw what to write. */
const isOwn = (name, f) => !('instead' in f) && [name, `${name}_`].includes(f.name)

const isClass = (f) => /^class\b/.test(Function.prototype.toString.call(f))

/** The callable parts of a namespace: their path, and `call`, which takes the receiver of a method first. */
function* surface(space = ft, prefix = '') {
  for (const [name, value] of Object.entries(space)) {
    const path = prefix + name
    if (typeof value === 'object' && value !== null) yield* surface(value, `${path}.`)
    // Constants are not called.
    else if (typeof value !== 'function' || !isOwn(name, value)) continue
    else if (!isClass(value)) yield { path, call: (...args) => value(...args) }
    else {
      if (!NOT_CONSTRUCTED.has(name)) yield { path: `new ${name}`, call: (...args) => new value(...args) }
      if (!name.endsWith('Error')) yield* methods(name, value.prototype)
    }
  }
}

/** Functions of objects that others give, with the object first. */
const OF_RESULTS = [{ path: 'TracedArray.run', call: (self, ...args) => self.run(...args), method: true }]

function* methods(name, prototype) {
  for (let holder = prototype; holder !== Object.prototype; holder = Object.getPrototypeOf(holder)) {
    for (const key of Reflect.ownKeys(holder)) {
      const { get, value } = Object.getOwnPropertyDescriptor(holder, key)
      const path = `${name}${typeof key === 'symbol' ? `[${key.description}]` : `.${key}`}`
      if (PROTECTED.has(key) || (typeof value === 'function' && typeof key === 'string' && key !== 'constructor' && !isOwn(key, value))) continue
      if (get !== undefined) yield { path, call: (self) => get.call(self), method: true }
      else if (key !== 'constructor' && typeof value === 'function') yield { path, call: (self, ...args) => value.apply(self, args), holder, key, method: true }
    }
  }
}

/** A tensor as an example used it; each call gets its own. */
class TensorSeed {
  constructor(x) {
    Object.assign(this, { shape: x.shape, dtype: x.dtype, buffer: x.toBytes().buffer })
  }

  make() {
    return ft.fromTypedArray(this.buffer, this.shape, { dtype: this.dtype })
  }
}

/** Whether it has a value: what `jit` traces has none. */
const hasValue = (x) => !inspect(x).includes('(traced by jit')

const frozen = (value) => (value instanceof ft.Tensor ? new TensorSeed(value) : Array.isArray(value) ? value.map(frozen) : value)
const fresh = (value) => (value instanceof TensorSeed ? value.make() : Array.isArray(value) ? value.map(fresh) : value)

/** Runs the examples with every function and method recording its arguments; what they call inside is not recorded. */
function harvest(all) {
  const recorded = new Map()
  let depth = 0
  const recording = (path, f, method) =>
    function (...args) {
      depth++
      try {
        if (depth === 1 && args.every((x) => !(x instanceof ft.Tensor) || hasValue(x)) && !(this instanceof ft.Tensor && !hasValue(this))) recorded.set(path, [...(recorded.get(path) ?? []), frozen(method ? [this, ...args] : args)])
        return f.apply(this, args)
      } finally {
        depth--
      }
    }
  // Exports cannot be replaced, so the examples see a copy of the module; methods are put back at the end.
  const copied = (space) => Object.fromEntries(Object.entries(space).map(([name, value]) => [name, typeof value === 'object' && value !== null ? copied(value) : value]))
  const copy = copied(ft)
  const restore = []
  for (const { path, call, holder, key, method } of all) {
    if (holder !== undefined) {
      const before = Object.getOwnPropertyDescriptor(holder, key)
      restore.push(() => Object.defineProperty(holder, key, before))
      Object.defineProperty(holder, key, { ...before, value: recording(path, before.value, true) })
    } else if (!method && /^[\w.]+$/.test(path)) {
      const names = path.split('.')
      const space = names.slice(0, -1).reduce((holder, name) => holder[name], copy)
      space[names.at(-1)] = recording(path, call, false)
    }
  }
  const examples = [...types.matchAll(/```ts\n\s*\* (.+) \/\/ .+\n\s*\* ```/g)].map(([, code]) => code)
  for (const code of examples) new Function('ft', `return (${code})`)(copy)
  // A method that classes inherit was replaced once for each of them: the first to be replaced is the last to be put back.
  restore.reverse().forEach((put) => put())
  return recorded
}

/** Where a target takes options, and their names and kinds: asked for one that nobody knows, it tells. */
async function learnOptions({ call, seeds, method, row }) {
  const args = seeds[0]()
  // The last such place: `arange` takes options after one, two or three numbers.
  for (let at = args.length; at >= (method ? 1 : 0); at--) {
    try {
      await call(...args.slice(0, at), { nobodyKnows: 1 })
    } catch (error) {
      const names = /unknown option 'nobodyKnows'.*(?:one of|there is only) ([\w, ]+)/.exec(error.message)?.[1]
      if (names !== undefined) return { at, names: names.split(', '), attribute: (name) => ATTRIBUTES.get(`${row}.${name}`) }
    }
  }
  return null
}

/** Every target, in the module's order, with functions that make argument lists known to work. */
export async function targets() {
  const all = [...surface(), ...OF_RESULTS]
  const recorded = harvest(all)
  // A row is a function and a method, which take the same with the receiver first, and may have a second name.
  const seedsOf = (row) => {
    const names = new Set([row, ...Object.keys(ft).filter((name) => ft[name] === ft[row] && ft[name] !== undefined)])
    const examples = [...names].flatMap((name) => [...(recorded.get(name) ?? []), ...(recorded.get(`Tensor.${name}`) ?? [])])
    return [...(SEEDS[row] ?? []), ...examples.map((args) => () => fresh(args))]
  }
  for (const target of all) {
    const [, space, name] = /^(Tensor|Generator)\.(\w+)$/.exec(target.path) ?? [null, null, target.path]
    target.row = space === 'Generator' ? `random.${name}` : name
    // What a namespace shows of the root is the same function.
    const [holder, shown] = target.path.split('.')
    if (shown !== undefined && ft[holder]?.[shown] !== undefined && ft[holder][shown] === ft[shown]) target.row = shown
    target.seeds = SEEDS[target.path] ?? seedsOf(target.row)
    // A generator stands where the function takes a key.
    if (space === 'Generator' && !(target.path in SEEDS)) {
      target.seeds = target.seeds.map((make) => () => [ft.random.generator(1), ...make().slice(1)])
    }
  }
  const missing = all.filter(({ seeds }) => seeds.length === 0).map(({ path }) => path)
  if (missing.length > 0) throw new Error(`neither an example in index.d.ts nor a seed in scripts/fuzz/seeds.mjs for: ${missing.join(', ')}`)
  for (const target of all) target.options = await learnOptions(target)
  if (!all.some(({ options }) => options !== null)) throw new Error('no function told its options: has the message of unknown ones changed?')
  return all
}

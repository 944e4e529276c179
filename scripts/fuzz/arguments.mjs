// The arguments of one call: those of a working one, varied so that most still work, and with hostile values in some places.

import * as ft from 'ferrotensor'
import { DTYPE_NAMES, hostile, hostileNumber, hostileOptions, hostileTensor, hostileText } from './hostile.mjs'

/** Shares of calls: varied only; one hostile argument; all hostile; a wrong number of arguments. The rest is as the example is. */
const SHARES = { varied: 0.35, one: 0.45, all: 0.1, count: 0.06 }

/** The same tensor in another state: recorded, computed, a view, of another owner. */
const STATES = [
  (x) => x,
  (x) => x.copy(),
  (x) => {
    const y = x.copy()
    ft.evaluateSync(y)
    return y
  },
  (x) => x.reshape(x.shape),
  (x) => x.flip().flip(),
  (x) => {
    const back = x.shape.map((_, i) => x.ndim - 1 - i)
    const y = x.permuteDims(back).copy()
    ft.evaluateSync(y)
    return y.permuteDims(back)
  },
  (x) => ft.fromShared(x.share()),
  (x) => ft.stack([x, x]).at(1),
  (x) => ft.scope(() => x.copy()),
  (x) => x.broadcastTo([2, ...x.shape]).at(0)
]

/** Values for an option of this name and attribute. */
function optionValue(name, attribute, rng) {
  const axis = () => rng.pick([0, 0, -1, -1, 1])
  switch (attribute?.kind ?? name) {
    case 'axes':
      return rng.pick([axis(), [axis()], [0, 1], []])
    case 'axisPairs':
      return rng.pick([0, 1, 2, [[0], [0]]])
    case 'padding':
      return rng.pick([0, 1, 'same', 'valid', [1, 1]])
    case 'int':
    case 'optAxis':
    case 'axis':
      return axis()
    case 'bool':
    case 'keepdims':
    case 'reverse':
      return rng.chance(0.5)
    case 'window':
    case 'stride':
    case 'dilation':
      return rng.pick([1, 1, 2, [2], [1]])
    case 'choice':
      return rng.pick(attribute.choices)
    case 'shape':
      return rng.pick([[4], [2, 3], [6], [1]])
    case 'dtype':
      return rng.pick(DTYPE_NAMES)
    case 'device':
      return 'cpu'
    case 'mapped':
    case 'compressed':
      return rng.chance(0.5)
    case 'maxBytes':
      return rng.pick([0, 4, 1e6])
    case 'delimiter':
    case 'comments':
      return rng.pick([',', ';', '#', '%', '\t'])
    case 'names':
      return rng.pick([['a'], ['b', 'a'], []])
    case 'metadata':
      return rng.pick([{}, { format: 'pt' }])
    case 'skipRows':
      return rng.pick([0, 1, 5])
    default:
      return rng.pick([0, 1, -1, 2, 0.5, true])
  }
}

function kindOf(value) {
  if (value instanceof ft.Tensor) return 'tensor'
  if (Array.isArray(value)) return 'list'
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return 'buffer'
  return typeof value
}

/** A tensor like this one: other values of the dtype, another dtype, another state. */
function variedTensor(x, rng, dtype) {
  // Complex numbers become no others.
  let y = dtype === null || x.dtype.startsWith('complex') ? x : x.astype(dtype)
  if (rng.chance(0.1)) y = ft.fromTypedArray(new Uint8Array(y.toBytes().length).map(() => rng.int(0, 255)).buffer, y.shape, { dtype: y.dtype })
  return rng.pick(STATES)(y)
}

function varied(value, rng, dtype) {
  switch (kindOf(value)) {
    case 'tensor':
      return variedTensor(value, rng, dtype)
    case 'list':
      return rng.chance(0.05) ? value.slice(1) : value.map((item) => (rng.chance(0.7) ? item : varied(item, rng, dtype)))
    case 'number':
      return rng.chance(0.7) ? value : rng.pick([0, 1, -1, 2, 3, value + 1, value - 1])
    case 'bigint':
      return rng.chance(0.7) ? value : value + BigInt(rng.int(-3, 3))
    case 'boolean':
      return rng.chance(0.5)
    case 'string':
      return rng.chance(0.6) ? value : rng.pick([...DTYPE_NAMES, 'cpu', '...', ':', '0', '::2', '-1'])
    default:
      return value
  }
}

function variedOptions({ names, attribute }, given, rng) {
  const options = { ...(typeof given === 'object' && !Array.isArray(given) ? given : {}) }
  for (const name of names) if (rng.chance(0.3)) options[name] = optionValue(name, attribute(name), rng)
  return options
}

function hostileFor(value, rng, ctx) {
  const kind = kindOf(value)
  if (kind === 'number' && rng.chance(0.5)) return hostileNumber(rng)
  if (kind === 'string' && rng.chance(0.5)) return hostileText(rng)
  return hostile(kind, rng, ctx)
}

/** As long as a list can be, with nothing in it: whoever walks it to the end takes minutes, whoever copies it all memory. */
const endless = () => new Array(2 ** 32 - 1)

/** Of the highest rank: a computation that sets an axis beside the others has no room for it. */
const deepest = () => ft.ones(new Array(32).fill(1))

/** Argument lists that every target is called with, whatever is drawn: what is largest in each place and each option. */
export function certain({ seeds, options, method }) {
  const seed = seeds[0]
  const first = method ? 1 : 0
  const places = seed().map((_, at) => at).filter((at) => at !== options?.at)
  const lists = places.filter((at) => at >= first).map((at) => () => seed().with(at, endless()))
  const tensors = places.filter((at) => kindOf(seed()[at]) === 'tensor').map((at) => () => seed().with(at, deepest()))
  const named = (options?.names ?? []).map((name) => () => {
    const args = seed()
    return [...args.slice(0, options.at), { ...args[options.at], [name]: endless() }]
  })
  return [...lists, ...tensors, ...named]
}

/**
 * Arguments for one call of a target. `ctx.enormous` says that results must not be computed.
 */
export function argumentsOf(target, rng, ctx) {
  const seed = rng.pick(target.seeds)()
  const { options } = target
  const dtype = rng.chance(0.35) ? rng.pick(DTYPE_NAMES) : null
  const first = target.method ? 1 : 0
  let share = rng.next()
  const falls = (part) => (share -= part) < 0
  const isOptions = (i) => options !== null && i === options.at
  const plain = (i) => (isOptions(i) ? variedOptions(options, seed[i], rng) : varied(seed[i], rng, dtype))
  const length = options !== null && rng.chance(0.5) ? Math.max(seed.length, options.at + 1) : seed.length
  const positions = Array.from({ length }, (_, i) => i)
  if (falls(SHARES.varied)) return positions.map(plain)
  if (falls(SHARES.one)) {
    const args = positions.map(plain)
    const at = rng.int(0, Math.max(0, length - 1))
    // A receiver is a tensor, though any tensor.
    if (at < first) {
      if (target.path.startsWith('Tensor')) args[at] = hostileTensor(rng, ctx)
    } else args[at] = isOptions(at) ? hostileOptions(options.names, args[at], rng, args) : hostileFor(seed[at], rng, ctx)
    return args
  }
  if (falls(SHARES.all)) return positions.map((i) => (i < first ? plain(i) : hostileFor(seed[i], rng, ctx)))
  if (falls(SHARES.count)) {
    const args = positions.map(plain)
    return rng.chance(0.5) ? args.slice(0, Math.max(first, args.length - 1)) : [...args, hostile('none', rng, ctx)]
  }
  return seed
}

// How a tensor prints: NumPy's layout with JavaScript's brackets and commas. Large tensors read only what they show.

import { DisposedError } from '../errors.js'
import { DTYPE, type Complex, type DType } from '../generated/dtypes.js'
import { slice } from '../indexing/slice.js'
import { isMapping, isNoValue } from '../program/placeholder.js'
import { thrown } from '../realm.js'
import { evaluateSync } from '../values/read.js'
import type { Tensor } from './tensor.js'

/** How a tensor is written, as NumPy's print options say it. */
export interface TextOptions {
  /** Most digits after the point, from 0 to 100; 8 by default. */
  readonly precision?: number | undefined
  /** Above this many elements only the edges of long axes are read and shown; 1000 by default. */
  readonly threshold?: number | undefined
  /** How many items each edge shows; 3 by default. */
  readonly edgeitems?: number | undefined
  /** Characters after which lines are broken; 80 by default, with room for the header of `console.log`. */
  readonly linewidth?: number | undefined
  /** What stands between items; ', ' by default. */
  readonly separator?: string | undefined
  /** Whether small numbers stay in fixed point, where all their digits may be zeros; false by default. */
  readonly suppressSmall?: boolean | undefined
}

/** Options of which each has a value. */
export type Layout = { readonly [K in keyof TextOptions]-?: NonNullable<TextOptions[K]> }

/** What `console.log` and `String(x)` go by until `setPrintOptions` says otherwise. */
export const LAYOUT: Layout = { precision: 8, threshold: 1000, edgeitems: 3, linewidth: 80, separator: ', ', suppressSmall: false }

let current = LAYOUT

/** What `console.log` and `String(x)` go by now. */
export const currentLayout = (): Layout => current

/** From here on they go by this. */
export function setLayout(layout: Layout): void {
  current = layout
}

/** Numbers from here on are shown in scientific notation. */
const LARGE = 1e8

type Item = number | bigint | boolean | Complex
type Nested = Item | readonly Nested[]
type Text = string | readonly Text[]

/** Stands for the items left out. */
const DOTS = '...'

/** Stored mantissa bits and smallest normal exponent of the floats that are read as wider ones. */
const PRECISIONS: Partial<Record<DType, readonly [bits: number, exponent: number]>> = {
  float16: [10, -14],
  bfloat16: [7, -126],
  float32: [23, -126],
  complex64: [23, -126]
}

/** The number with the fewest digits that still reads back as `v` in its dtype. */
function shortest(v: number, dtype: DType): number {
  const precision = PRECISIONS[dtype]
  // Whole numbers keep all digits: 65504, the largest float16, would be 65500.
  if (precision === undefined || !Number.isFinite(v) || (Number.isInteger(v) && Math.abs(v) < LARGE)) return v
  const [bits, smallest] = precision
  const size = Math.abs(v)
  const exponent = Math.max(Math.floor(Math.log2(size)), smallest)
  const half = 2 ** (exponent - bits - 1)
  // Below a power of two the neighbours are half as far apart.
  const below = size === 2 ** exponent && exponent > smallest ? half / 2 : half
  for (let digits = 1; digits < 9; digits++) {
    const short = Math.abs(Number(v.toPrecision(digits)))
    if (short - size < half && size - short < below) return Math.sign(v) * short
  }
  return Number(v.toPrecision(9))
}

function decimals(v: number): number {
  const [, fraction = '', exponent = '0'] = /^-?\d+(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(v)) ?? []
  return Math.max(0, fraction.length - Number(exponent))
}

/** The format of one tensor's floats: fixed point, or scientific where the range asks for it. */
function floatFormat(values: readonly number[], dtype: DType, { precision, suppressSmall }: Layout): (v: number) => string {
  const finite = values.filter((v) => Number.isFinite(v) && v !== 0).map((v) => Math.abs(shortest(v, dtype)))
  const largest = finite.reduce((a, b) => Math.max(a, b), 0)
  const least = finite.reduce((a, b) => Math.min(a, b), Infinity)
  const scientific = largest >= LARGE || (!suppressSmall && least < 1e-4 && finite.length > 0)
  // All mantissas get as many digits as the longest needs.
  const mantissa = (v: number) => /\.(\d+)e/.exec(Number(v.toExponential(precision)).toExponential())?.[1]?.length ?? 0
  const digits = scientific ? finite.reduce((most, v) => Math.max(most, mantissa(v)), 0) : 0
  return (v) => {
    if (Number.isNaN(v)) return 'nan'
    if (!Number.isFinite(v)) return v > 0 ? 'inf' : '-inf'
    const short = shortest(v, dtype)
    if (scientific) return short.toExponential(digits).replace(/e([+-])(\d)$/, 'e$10$2')
    const cut = Number(short.toFixed(precision))
    const fixed = cut.toFixed(decimals(cut))
    return Object.is(v, -0) ? `-${fixed}` : fixed
  }
}

function complexFormat(values: readonly Complex[], dtype: DType, layout: Layout): (v: Complex) => string {
  const format = floatFormat(values.flatMap(({ re, im }) => [re, im]), dtype, layout)
  return ({ re, im }) => {
    const part = format(im)
    return `${format(re)}${part.startsWith('-') ? '' : '+'}${part}i`
  }
}

function leaves(data: Nested): Item[] {
  return Array.isArray(data) ? data.flatMap(leaves) : [data as Item]
}

function formatOf(data: Nested, dtype: DType, layout: Layout): (v: Item) => string {
  if (DTYPE[dtype].kind === 'float') {
    const format = floatFormat(leaves(data) as number[], dtype, layout)
    return (v) => format(v as number)
  }
  if (DTYPE[dtype].kind === 'complex') {
    const format = complexFormat(leaves(data) as Complex[], dtype, layout)
    return (v) => format(v as Complex)
  }
  return String
}

/** Cuts the long axes down to their edges, reading nothing else; which axes were cut follows from the shape. */
function edges(x: Tensor, axis: number, edge: number): Nested {
  const long = x.shape.findIndex((size, i) => i >= axis && size > 2 * edge)
  if (long < 0) return x.toArray() as Nested
  const part = (range: ReturnType<typeof slice>) => edges(x.at(...x.shape.slice(0, long).map(() => ':'), range), long + 1, edge)
  return join(part(slice(0, edge)), part(slice(-edge)), long)
}

function join(a: Nested, b: Nested, axis: number): Nested {
  const [first, second] = [a as readonly Nested[], b as readonly Nested[]]
  return axis === 0 ? [...first, ...second] : first.map((item, i) => join(item, second[i] as Nested, axis - 1))
}

/** `edge` is how many items are left at each end of long axes; infinite where nothing was cut. */
function text(data: Nested, shape: readonly number[], edge: number, format: (v: Item) => string): Text {
  if (!Array.isArray(data)) return format(data as Item)
  const items = data.map((item: Nested) => text(item, shape.slice(1), edge, format))
  if ((shape[0] as number) > 2 * edge) items.splice(edge, 0, DOTS)
  return items
}

/** What has no point: stands at the right edge of its column, as in NumPy, and moves no number. */
const SPECIAL = /^-?(?:nan|inf)$/

/** Pads so that points, or last digits, stand in one column. */
function align(data: Text): Text {
  const all: string[] = []
  const collect = (node: Text): void => (typeof node === 'string' ? void (node !== DOTS && all.push(node)) : node.forEach(collect))
  collect(data)
  const split = (s: string): [string, string] => {
    const point = /^-?\d+\./.test(s) && !s.includes('i') ? s.indexOf('.') : s.length
    return [s.slice(0, point), s.slice(point)]
  }
  const width = (part: 0 | 1) => all.reduce((w, s) => (SPECIAL.test(s) ? w : Math.max(w, split(s)[part].length)), 0)
  const after = width(1)
  const whole = all.reduce((w, s) => (SPECIAL.test(s) ? Math.max(w, s.length) : w), width(0) + after)
  const before = whole - after
  const pad = (node: Text): Text => {
    if (typeof node !== 'string') return node.map(pad)
    if (node === DOTS) return node
    if (SPECIAL.test(node)) return node.padStart(whole)
    const [head, tail] = split(node)
    return head.padStart(before) + tail.padEnd(after)
  }
  return pad(data)
}

function depth(data: Text): number {
  return typeof data === 'string' ? 0 : 1 + data.reduce((d, item) => Math.max(d, depth(item)), 0)
}

function layOut(data: Text, indent: number, layout: Layout): string {
  const { linewidth, separator } = layout
  if (typeof data === 'string') return data
  const inner = depth(data)
  const margin = ' '.repeat(indent + 1)
  // At the end of a line nobody sees the space of a separator.
  if (inner > 1) return `[${data.map((item) => layOut(item, indent + 1, layout)).join(`${separator.trimEnd()}${'\n'.repeat(inner - 1)}${margin}`)}]`
  let line = ''
  const lines: string[] = []
  for (const item of data as readonly string[]) {
    if (line !== '' && indent + line.length + item.length + separator.length > linewidth) {
      lines.push(line.trimEnd())
      line = ''
    }
    line += `${item}${separator}`
  }
  lines.push(line.slice(0, line.length - separator.length))
  return `[${lines.join(`\n${margin}`)}]`
}

/** The elements as text: `[[1, 2], [3, 4]]` over as many lines as it takes. */
export function elementsText(x: Tensor, layout: Layout = current): string {
  evaluateSync(x)
  // Empty rows are text too: a tensor of shape [10^9, 0] has no element, and would print 10^9 pairs of brackets.
  const cut = x.shape.reduce((n, size) => n * Math.max(size, 1), 1) > layout.threshold
  const data = cut ? edges(x, 0, layout.edgeitems) : (x.toArray() as Nested)
  const plain = text(data, x.shape, cut ? layout.edgeitems : Infinity, formatOf(data, x.dtype, layout))
  return layOut(x.ndim > 1 || x.size * 4 > layout.linewidth ? align(plain) : plain, 0, layout)
}

/** The text of `console.log(x)`: dtype, shape, device, elements. A disposed, failed or traced tensor shows its state. */
export function inspectText(x: Tensor): string {
  const header = `Tensor<${x.dtype}>[${x.shape.join(', ')}] ${x.device}`
  try {
    const elements = elementsText(x)
    return `${header}${elements.includes('\n') ? '\n' : ' '}${elements}`
  } catch (error) {
    if (error instanceof DisposedError) return `${header} (disposed)`
    if (isNoValue(error)) return `${header} (${isMapping() ? 'all positions of vmap' : 'traced by jit'}, which has no values)`
    return `${header} (failed: ${thrown(error)})`
  }
}

/** The text of `String(x)`: the elements, or the state of a disposed or failed tensor. */
export function plainText(x: Tensor, layout: Layout = current): string {
  try {
    return elementsText(x, layout)
  } catch {
    return inspectText(x)
  }
}

function jsonItem(item: Item): unknown {
  if (typeof item === 'object') return { re: jsonItem(item.re), im: jsonItem(item.im) }
  if (typeof item === 'bigint') return item.toString()
  return typeof item === 'number' && !Number.isFinite(item) ? String(item) : item
}

/** What `JSON.stringify` sees; 64-bit integers, NaN and infinities are strings, for JSON has none of them. */
export interface TensorJSON<D extends DType = DType> {
  readonly shape: readonly number[]
  readonly dtype: D
  /** Elements in row-major order. */
  readonly data: readonly unknown[]
}

/** `x.toJSON()`. */
export function json(x: Tensor): TensorJSON {
  return { shape: x.shape, dtype: x.dtype, data: (x.reshape([-1]).toArray() as Item[]).map(jsonItem) }
}

/** The property by which Jest asks a value what to copy of it. */
export const JEST_COPIES: unique symbol = Symbol.for('@jest/serializableProperties')

/**
 * The fields that `toJSON` needs once there is a value, of a tensor and of nothing else: Jest asks the prototypes too. Untold, Jest copies all
 * fields, operands and caches with them, and reads all getters, of which `T` throws for most tensors.
 */
export function jestCopies(x: Tensor): readonly string[] {
  if (!Object.hasOwn(x, 'type')) return []
  evaluateSync(x)
  return ['type', 'disposed', 'handle', 'owner']
}

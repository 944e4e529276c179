// From the arguments of a call to operands, attribute words and run-time numbers. What is checked here is only what
// JavaScript gets wrong (a string for an axis, null, an unknown option); shapes, axes and dtypes are Rust's to judge.

import { deviceNumber } from './devices.js'
import { ArgumentError, DTypeError, IndexError, ShapeError, TensorError } from './errors.js'
import { checkDefault } from './exact.js'
import { DTYPE, type DType } from './generated/dtypes.js'
import { OP, type AttrRow, type OpRow, type ParamRow } from './generated/table.js'
import { isListed, tensorOf } from './listed.js'
import { didYouMean, meantOrAll, nowhere } from './nearest.js'
import { axisLast, multi, nary, rowOf, type Scalar } from './record.js'
import { checkAlive, IDENTITY, Tensor } from './tensor.js'
import { TracedNumber } from './traced.js'
import { internAttr, type Attr } from './types.js'

/** A value as error messages show it: kind and, where short, the value. */
export function shown(value: unknown, inside = false): string {
  if (value === null || value === undefined) return String(value)
  if (typeof value === 'string') return value.length <= 40 ? `'${value}'` : 'a long string'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number' || typeof value === 'boolean') return Object.is(value, -0) ? '-0' : String(value)
  if (Array.isArray(value)) return listed(value, inside)
  if (typeof value === 'function') return 'a function'
  if (value instanceof TracedNumber) return "a number that jit traces, which no shape or choice can depend on; name its argument in 'static'"
  const what = typeof value === 'object' ? className(value) : typeof value
  return `${/^[AEIO]/i.test(what) ? 'an' : 'a'} ${what}`
}

/** The items of a short array; a proxy may have any length, and throw. */
function listed(value: readonly unknown[], inside: boolean): string {
  try {
    const short = value.length <= 8 && !inside
    return short ? `[${value.map((item) => shown(item, true)).join(', ')}]` : `an array of ${value.length}`
  } catch {
    return 'an array'
  }
}

/** The name of an object's class; a proxy or a getter may throw or give anything, and an error message must not. */
function className(value: object): string {
  try {
    if (IDENTITY in value && !(value instanceof Tensor)) return "object with a tensor's fields, which is no copy of it ({...x}); tensors do not change, so use x itself"
    const name: unknown = value.constructor?.name
    return typeof name === 'string' && name !== '' ? name : 'object'
  } catch {
    return 'object'
  }
}

function wrong(op: string, name: string, wanted: string, value: unknown): ArgumentError {
  return new ArgumentError(`${op}: '${name}' must be ${wanted}, got ${shown(value)}`)
}

/** A whole number that a float64 holds exactly. */
export function integer(op: string, name: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(op, name, Number.isInteger(value) ? 'an integer within 2^53 - 1 of zero' : 'an integer', value)
  return value
}

/** An axis of a rank, not negative. */
export function axisGiven(op: string, value: unknown, rank: number): number {
  const axis = integer(op, 'axis', value)
  if (axis < -rank || axis >= rank) throw new IndexError(`${op}: axis ${axis} is out of range for rank ${rank}`)
  return axis < 0 ? axis + rank : axis
}

/** A number, finite or not. */
export function number(op: string, name: string, value: unknown): number {
  if (typeof value !== 'number') throw wrong(op, name, 'a number', value)
  return value
}

/** Whether something is so, or `fallback` where it is left out. */
export function flag(op: string, name: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback
  if (typeof value !== 'boolean') throw wrong(op, name, 'a boolean', value)
  return value
}

/** One of some words. */
export function oneOf<W extends string>(op: string, name: string, value: unknown, words: readonly W[]): W {
  const found = words.find((word) => word === value)
  if (found === undefined) throw wrong(op, name, `one of ${words.map((word) => shown(word)).join(', ')}`, value)
  return found
}

/** A list of whole numbers, copied: each is read once, and the caller's list may change afterwards. */
export function integers(op: string, name: string, value: unknown): readonly number[] {
  if (!Array.isArray(value)) {
    const hint = typeof value === 'number' ? `; write [${value}], or [${value}, ...] for several` : ''
    throw new ArgumentError(`${op}: '${name}' must be an array of integers, got ${shown(value)}${hint}`)
  }
  const numbers: number[] = []
  for (let i = 0; i < value.length; i++) numbers.push(integer(op, `${name}[${i}]`, value[i]))
  return numbers
}

/** A shape: integers that are not negative. */
export function shapeGiven(op: string, value: unknown): readonly number[] {
  const sizes = integers(op, 'shape', value)
  const negative = sizes.find((size) => size < 0)
  if (negative !== undefined) throw new ShapeError(`${op}: shape [${sizes.join(', ')}]: size ${negative} is negative`)
  return sizes
}

function isDType(value: string): value is DType {
  return Object.hasOwn(DTYPE, value)
}

/** The name of a dtype, as the user wrote it. */
function dtypeNamed(op: string, name: string, value: unknown): DType {
  if (typeof value !== 'string') throw wrong(op, name, 'the name of a dtype', value)
  if (isDType(value)) return value
  throw new DTypeError(`${op}: ${shown(value)} is not a dtype${meantOrAll(value, Object.keys(DTYPE))}`)
}

function list(words: number[], values: readonly number[]): void {
  words.push(values.length)
  // Not spread: 10^6 arguments are more than a call can have.
  for (let i = 0; i < values.length; i++) words.push(values[i] as number)
}

/** Counting from the end of the first operand and the start of the second, as `tensordot` does with a number. */
function axisPairs(op: string, name: string, value: unknown): [readonly number[], readonly number[]] {
  if (typeof value === 'number') {
    const n = integer(op, name, value)
    if (n < 0 || n > 64) throw wrong(op, name, 'a number of axes', value)
    const axes = Array.from({ length: n }, (_, i) => i)
    return [axes.map((i) => i - n), axes]
  }
  if (!Array.isArray(value) || value.length !== 2) throw wrong(op, name, 'a number or two lists of axes', value)
  return [integers(op, `${name}[0]`, value[0]), integers(op, `${name}[1]`, value[1])]
}

/** Axes that a tensor may have: longer lists are not walked. */
const MOST_AXES = 64
/** Characters of a text: an equation of 32 operands with 32 labels each has half of them. */
const MOST_CHARACTERS = 2048

/** Places before and after the data: a number, one for each axis, a pair for each axis, or a word; of `'same'`, which follows from sizes, none. */
export function padding(op: string, name: string, value: unknown): readonly (readonly number[])[] {
  if (value === 'same') return []
  if (value === 'valid') return [[0], [0]]
  if (typeof value === 'number') return [[integer(op, name, value)], [value]]
  if (!Array.isArray(value) || value.length > MOST_AXES) throw wrong(op, name, "a number, numbers, pairs, 'same' or 'valid'", value)
  const sides = Array.from({ length: value.length }, (_, i): unknown => value[i])
  if (!sides.some((item) => Array.isArray(item))) {
    const both = integers(op, name, sides)
    return [both, both]
  }
  const pairs = sides.map((item, i) => integers(op, `${name}[${i}]`, item))
  const odd = pairs.findIndex((pair) => pair.length !== 2)
  if (odd >= 0) throw wrong(op, `${name}[${odd}]`, 'two numbers, before and after', pairs[odd])
  return [pairs.map((pair) => pair[0] as number), pairs.map((pair) => pair[1] as number)]
}

/** Places before and after the data: a number for every side, or a pair for all axes or for each. */
function widths(op: string, name: string, value: unknown): readonly (readonly number[])[] {
  const pairs = Array.isArray(value) && value.length > 0 && value.length <= MOST_AXES && value.every((item) => Array.isArray(item))
  if (typeof value !== 'number' && !pairs) throw wrong(op, name, 'a number or pairs [[before, after], ...]', value)
  return padding(op, name, value)
}

/** Text as the codes of its characters. */
function text(op: string, name: string, value: unknown): readonly number[] {
  if (typeof value !== 'string' || value.length > MOST_CHARACTERS) throw wrong(op, name, `text of at most ${MOST_CHARACTERS} characters`, value)
  return Array.from({ length: value.length }, (_, i) => value.charCodeAt(i))
}

/** Appends an attribute's words; the layout is that of `crates/ops/src/attrs.rs`. */
function encode(words: number[], op: string, row: AttrRow, value: unknown): void {
  const { name } = row
  if (value === undefined && row.default !== null && row.kind !== 'axisPairs' && row.kind !== 'padding') {
    words.push(row.default)
    return
  }
  switch (row.kind) {
    case 'int':
    case 'optAxis':
      words.push(integer(op, name, value))
      return
    case 'number':
      words.push(number(op, name, value))
      return
    case 'axes':
      if (typeof value !== 'number' && !Array.isArray(value)) throw wrong(op, name, 'an integer or an array of integers', value)
      list(words, typeof value === 'number' ? [integer(op, name, value)] : integers(op, name, value))
      return
    case 'axisPairs':
      for (const axes of axisPairs(op, name, value === undefined ? row.default : value)) list(words, axes)
      return
    case 'padding': {
      const sides = padding(op, name, value === undefined ? row.default : value)
      if (sides.length === 0) words.push(-1)
      for (const places of sides) list(words, places)
      return
    }
    case 'widths':
      for (const places of widths(op, name, value)) list(words, places)
      return
    case 'text':
      list(words, text(op, name, value))
      return
    case 'shape':
      list(words, integers(op, name, value))
      return
    case 'bool':
      if (typeof value !== 'boolean') throw wrong(op, name, 'a boolean', value)
      words.push(value ? 1 : 0)
      return
    case 'dtype':
      words.push(DTYPE[dtypeNamed(op, name, value)].code)
      return
    case 'device':
      words.push(deviceNumber(op, value))
      return
    case 'choice': {
      const choice = row.choices?.indexOf(value as string | number) ?? -1
      if (choice < 0) throw wrong(op, name, `one of ${row.choices?.map((word) => shown(word)).join(', ')}`, value)
      words.push(choice)
      return
    }
  }
}

function attrOf(op: number, row: OpRow, values: readonly unknown[], operands: readonly unknown[]): Attr | null {
  if (row.attrs.length === 0) return null
  const words: number[] = []
  row.attrs.forEach((attr, i) => {
    // A tensor says where the result goes, unless the option does; whether both agree is checked with the types.
    const beside = attr.kind === 'device' && values[i] === undefined ? operands.find((x) => x instanceof Tensor) : undefined
    if (beside === undefined) encode(words, row.name, attr, values[i])
    else words.push((beside as Tensor).type.device)
  })
  return internAttr(op, words)
}

const READ: Readonly<Record<ParamRow['kind'], (op: string, name: string, value: unknown) => number>> = {
  number,
  element: number,
  integer,
  positive: (op, name, value) => {
    if (!(number(op, name, value) > 0)) throw wrong(op, name, 'a number above 0', value)
    return value as number
  },
  notNegative: (op, name, value) => {
    if (!(number(op, name, value) >= 0)) throw wrong(op, name, 'a number of at least 0', value)
    return value as number
  }
}

function paramsOf(row: OpRow, values: readonly unknown[]): readonly number[] | null {
  if (row.params.length === 0) return null
  return row.params.map(({ name, default: fallback, kind }, i) => {
    const value = values[i]
    if (value === undefined && fallback !== null) return fallback
    const read = READ[kind]
    if (!(value instanceof TracedNumber)) return read(row.name, name, value)
    value.check((n) => read(row.name, name, n))
    return value as unknown as number
  })
}

/** A number that alone says what dtype comes out. */
function checkFill(value: unknown): void {
  if (typeof value === 'number') checkDefault('full', DTYPE.float32, value, () => "'fillValue'")
  else if (value instanceof TracedNumber) value.check(checkFill)
}

/** Records an operation with one output. */
export function one(op: number, operands: readonly unknown[], attrs: readonly unknown[], params: readonly unknown[]): Tensor {
  const row = rowOf(op)
  if (op === OP.full && attrs[1] === undefined) checkFill(operands[0])
  return nary(op, operands, attrOf(op, row, attrs, operands), paramsOf(row, params))
}

/** Records an operation with several outputs. */
export function many(op: number, operands: readonly unknown[], attrs: readonly unknown[], params: readonly unknown[]): Tensor[] {
  const row = rowOf(op)
  return multi(op, operands, attrOf(op, row, attrs, operands), paramsOf(row, params))
}

/** As {@link tensorGiven}; an array becomes one. */
export function arrayGiven(op: string, name: string, value: unknown): Tensor {
  return isListed(value) ? tensorOf(op, value, undefined) : tensorGiven(op, name, value)
}

/** A tensor that can be used. */
export function tensorGiven(op: string, name: string, value: unknown): Tensor {
  if (!(value instanceof Tensor)) throw wrong(op, name, 'a tensor', value)
  checkAlive(op, value)
  return value
}

/** A tensor that can be used, or what may stand for one. */
export function operandGiven(op: string, name: string, value: unknown): Tensor | Scalar {
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return value
  if (value instanceof TracedNumber) return value as unknown as number
  if (isListed(value)) return tensorOf(op, value, undefined)
  if (!(value instanceof Tensor)) throw wrong(op, name, 'a tensor or a number', value)
  checkAlive(op, value)
  return value
}

/** Runs the body of a function that is made of others. Their errors name the one that was called: its user never called the others. */
export function within<T>(op: string, body: () => T): T {
  try {
    return body()
  } catch (error) {
    if (!(error instanceof TensorError) || error.message.startsWith(`${op}: `)) throw error
    throw new (error.constructor as new (message: string) => TensorError)(error.message.replace(/^[a-z][\w.]*: /, `${op}: `))
  }
}

/** The tensors of a variadic operation, copied: the caller's list may change before they are computed. */
export function tensorList(op: number, list: unknown): readonly Tensor[] {
  const { name, operands } = rowOf(op)
  if (!Array.isArray(list)) throw wrong(name, operands[0] as string, 'an array of tensors', list)
  const tensors: Tensor[] = []
  for (let i = 0; i < list.length; i++) {
    const x: unknown = isListed(list[i]) ? tensorOf(name, list[i], tensors[0]) : list[i]
    if (!(x instanceof Tensor)) throw wrong(name, `${operands[0]}[${i}]`, 'a tensor', x)
    tensors.push(x)
  }
  return tensors
}

/**
 * An options object, checked for names nobody reads: `{ axes: 0 }` would silently reduce everything. `row` tells what kind of value a
 * name takes; without one the name does.
 */
export function checkOptions(op: string, options: unknown, names: readonly string[], row?: OpRow): Record<string, unknown> {
  if (options === undefined) return {}
  // What can be walked (arrays, typed arrays, maps, tensors) is an argument in the wrong place.
  if (typeof options !== 'object' || options === null || Symbol.iterator in options || options instanceof TracedNumber) {
    const meant = names.find((name) => isValueOf(kindOf(name, row), options))
    const sizes = row?.attrs[0]?.kind === 'shape' && typeof options === 'number' ? '; write the sizes as one array' : ''
    const order = options instanceof Tensor && row?.operands.includes('indices') === true ? axisLast(row) : op.startsWith('random.') ? '; a key comes first, the shape after what is drawn from' : sizes
    const hint = meant === undefined ? order : `; write { ${meant}: ${shown(options)} }`
    throw new ArgumentError(`${op}: 'options' must be an object (${names.join(', ')}), got ${shown(options)}${hint}`)
  }
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) {
      throw new ArgumentError(`${op}: unknown option '${name}'${didYouMean(name, names) || nowhere(op, name)}${names.length > 1 ? ` (one of ${names.join(', ')})` : ` (there is only ${names[0]})`}`)
    }
  }
  return options as Record<string, unknown>
}

function kindOf(name: string, row: OpRow | undefined): string {
  return row?.attrs.find((attr) => attr.name === name)?.kind ?? (row?.params.some((param) => param.name === name) ? 'int' : name)
}

/** Whether a value that stands where options belong is probably meant as one of this kind. */
function isValueOf(kind: string, value: unknown): boolean {
  switch (kind) {
    case 'dtype':
      return typeof value === 'string' && isDType(value)
    case 'shape':
      return Array.isArray(value)
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
    case 'number':
    case 'optAxis':
    case 'axes':
    case 'axisPairs':
      return typeof value === 'number'
    default:
      return false
  }
}

/** The options of an operation: its last argument but for the `surplus` behind it. `bare` names the one that may stand alone. */
export function readOptions(op: number, options: unknown, names: readonly string[], surplus: number, bare?: string): Record<string, unknown> {
  const row = rowOf(op)
  const alone = bare !== undefined && (typeof options === 'number' || Array.isArray(options))
  const read = alone ? { [bare]: options } : checkOptions(row.name, options, names, row)
  if (surplus > 0) throw new ArgumentError(`${row.name}: ${surplus} too many arguments; options are one object (${names.join(', ')})`)
  return read
}

/**
 * Refuses what is passed behind the `count` arguments of an operation without options. An array's `map` passes each element's position and
 * the array besides, which means nothing.
 */
export function surplus(op: number, passed: IArguments, count: number): void {
  const mapped = count === 1 && passed.length === 3 && typeof passed[1] === 'number' && Array.isArray(passed[2])
  if (mapped) return
  const { name, attrs } = rowOf(op)
  const hint = attrs.length > 0 && typeof passed[count] === 'number' ? '; several numbers are one array' : ''
  throw new ArgumentError(`${name}: ${passed.length - count} too many arguments${hint}`)
}

/** The dtype option of a creation function. */
export function dtypeOption(op: string, value: unknown, fallback: DType): DType {
  return value === undefined ? fallback : dtypeNamed(op, 'dtype', value)
}

// Nested JavaScript arrays of numbers, bigints, booleans or complex numbers: shape, dtype, and elements in a typed array.
// Every element is checked: a ragged array, a hole or a number the dtype cannot hold is an error that names its position. So is an
// integer that the default dtype would round.

import { ArgumentError, DTypeError, OutOfMemoryError, ShapeError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, DTYPES, type Complex, type DType, type DTypeRow, type ElementArray } from '../generated/dtypes.js'
import { native } from '../native.js'
import { checkDefault } from '../program/exact.js'
import { isHalf } from '../program/half.js'
import { isTensor } from '../program/node.js'
import { sizeOf } from '../program/types.js'

/** Nested arrays whose leaves are of one kind. */
export type Nested<T> = T | readonly Nested<T>[]

/** Elements of a shape; `dtype` is what they are stored as, which may be wider than what was asked for. */
export interface Flat {
  readonly shape: readonly number[]
  readonly dtype: DType
  readonly data: ElementArray
}

type Kind = 'number' | 'bigint' | 'boolean' | 'complex'

/** Bytes that are allocated without asking what the memory budget is. */
const BUDGET_UNASKED = 1 << 20

/** Deeper nesting than any tensor has rank; also ends the walk of an array that contains itself. */
const MAX_RANK = 32

/** What a kind of leaf becomes where no dtype is named. */
const DEFAULTS: Record<Kind, DType> = { number: 'float32', bigint: 'int64', boolean: 'bool', complex: 'complex64' }

function kindOf(leaf: unknown): Kind | null {
  const kind = typeof leaf
  if (kind === 'number' || kind === 'bigint' || kind === 'boolean') return kind
  const { re, im } = (leaf ?? {}) as Partial<Complex>
  return typeof re === 'number' && typeof im === 'number' ? 'complex' : null
}

/** A leaf whose parts stay what they were when they were looked at. */
function readOnce(leaf: unknown): unknown {
  if (typeof leaf !== 'object' || leaf === null) return leaf
  const { re, im } = leaf as Partial<Complex>
  return { re, im }
}

const at = (path: readonly number[]) => (path.length === 0 ? 'the value' : `element [${path.join(', ')}]`)

/** Shape along the first elements; the fill checks the others against it. */
function shapeOf(op: string, data: unknown): { shape: number[]; first: unknown } {
  const shape: number[] = []
  let first = data
  while (Array.isArray(first)) {
    if (shape.length === MAX_RANK) throw new ShapeError(`${op}: arrays are nested more than ${MAX_RANK} deep`)
    shape.push(first.length)
    first = first[0]
  }
  return { shape, first }
}

/** Calls `put` for every leaf in row-major order. */
function walk(op: string, data: unknown, shape: readonly number[], put: (leaf: unknown, path: () => number[]) => void): void {
  const path: number[] = new Array(shape.length).fill(0)
  const here = () => [...path]
  const visit = (node: unknown, axis: number): void => {
    if (axis === shape.length) {
      if (Array.isArray(node)) throw new ShapeError(`${op}: ${at(path)} is an array where a single value stands elsewhere`)
      put(node, here)
      return
    }
    const above = path.slice(0, axis)
    if (!Array.isArray(node)) {
      throw new ShapeError(`${op}: ${at(above)} is ${shown(node)} where an array of ${shape[axis]} is expected`)
    }
    if (node.length !== shape[axis]) {
      throw new ShapeError(`${op}: ragged array: ${at(above)} has ${node.length} items, others have ${shape[axis]}`)
    }
    for (let i = 0; i < node.length; i++) {
      path[axis] = i
      visit(node[i], axis + 1)
    }
  }
  visit(data, 0)
}

/** The value an integer dtype stores for a leaf, or null where it cannot. */
function integerOf(leaf: number | bigint | boolean, row: DTypeRow): number | bigint | null {
  const value = typeof leaf === 'boolean' ? Number(leaf) : leaf
  if (typeof value === 'number' && !Number.isInteger(value)) return null
  if (value < (row.min as number | bigint) || value > (row.max as number | bigint)) return null
  return row.bytes === 8 ? BigInt(value) : Number(value)
}

/** Half floats are converted by the engine from float64, which rounds once. */
function storedAs(dtype: DType): DType {
  return isHalf(dtype) ? 'float64' : dtype
}

/** Room for all elements, unless they are more than a tensor may hold: rows may repeat, so a small array can nest any number. */
/** Memory for elements, where the budget has it. */
export function allocate(op: string, row: DTypeRow, count: number): ElementArray {
  const bytes = count * row.bytes
  // Asking takes 2 us, more than a small array.
  const fits = bytes <= BUDGET_UNASKED || bytes <= native.memory().limit
  try {
    if (fits) return new row.storage(row.kind === 'complex' ? 2 * count : count)
  } catch {
    // JavaScript refuses the array.
  }
  throw new OutOfMemoryError(`${op}: ${count} elements of ${row.name} do not fit`)
}

/**
 * Flattens nested arrays into the elements of a dtype; without one, numbers become float32 (or what `numbers` says), bigints
 * int64, booleans bool and `{ re, im }` complex64.
 *
 * @throws {TensorError} `ERR_SHAPE` for ragged arrays, `ERR_ARGUMENT` for leaves that are not numbers or of mixed kinds,
 * `ERR_DTYPE` for a value that the dtype cannot hold, and for an integer that a default dtype would round.
 */
export function flatten(op: string, nested: unknown, wanted: DType | undefined, numbers: DType = DEFAULTS.number): Flat {
  const { shape, first } = shapeOf(op, nested)
  const count = sizeOf(shape)
  const kind = count === 0 ? 'number' : kindOf(first)
  if (kind === null) {
    const path = shape.map(() => 0)
    throw new ArgumentError(`${op}: ${at(path)} must be a number, bigint, boolean or { re, im }, got ${shown(first)}${isTensor(first) && path.length > 0 && op === 'tensor' ? '; of tensors write ft.stack([x, y])' : ''}`)
  }
  const dtype = wanted ?? (kind === 'number' ? numbers : DEFAULTS[kind])
  const row = DTYPE[storedAs(dtype)]
  if (kind === 'complex' && row.kind !== 'complex') {
    throw new DTypeError(`${op}: complex numbers do not fit ${dtype}; use complex64 or complex128`)
  }
  const data = allocate(op, row, count)
  let n = 0
  const store = encoder(op, row, dtype, data, wanted === undefined)
  walk(op, nested, shape, (given, path) => {
    const leaf = readOnce(given)
    const own = kindOf(leaf)
    if (own !== kind) {
      const what = own === null ? `is ${shown(given)}` : `is a ${own}`
      throw new ArgumentError(`${op}: ${at(path())} ${what} among elements of kind ${kind}`)
    }
    store(n++, leaf as number, path)
  })
  return { shape, dtype: row.name, data }
}

/** What to do about a number that an integer dtype cannot hold: the narrowest dtype that can, or the conversion that rounds. */
function adviceFor(leaf: number | bigint | boolean, dtype: DType): string {
  const wider = DTYPES.filter((row) => row.min !== null && integerOf(leaf, row) !== null)
  const [holds] = wider.sort((a, b) => a.bytes - b.bytes)
  if (holds !== undefined) return `; name a dtype that can: { dtype: '${holds.name}' }`
  if (typeof leaf === 'bigint') return ', nor can any other integer dtype; use float64 and Number(...) if rounding is meant'
  return `; to round, make a float tensor and convert it with astype('${dtype}')`
}

/** How leaves of one kind are written into the elements of a dtype, which is the default one or was named. */
function encoder(op: string, row: DTypeRow, dtype: DType, data: ElementArray, byDefault: boolean) {
  const out = data as unknown as (number | bigint)[]
  switch (row.kind) {
    case 'float':
      if (byDefault) {
        return (n: number, leaf: number, path: () => number[]): void => {
          out[n] = leaf
          // What was rounded is looked at again; fractions pass there at once.
          if (out[n] !== leaf) checkDefault(op, row, leaf, () => at(path()))
        }
      }
      return (n: number, leaf: number | bigint | boolean): void => void (out[n] = Number(leaf))
    case 'bool':
      // As astype('bool'): whatever is not zero, NaN too.
      return (n: number, leaf: number | bigint | boolean): void => void (out[n] = Number(leaf) === 0 ? 0 : 1)
    case 'complex':
      return (n: number, leaf: unknown, path: () => number[]): void => {
        const { re, im } = typeof leaf === 'object' ? (leaf as Complex) : { re: Number(leaf), im: 0 }
        if (byDefault) for (const part of [re, im]) checkDefault(op, row, part, () => `a part of ${at(path())}`)
        out[2 * n] = re
        out[2 * n + 1] = im
      }
    default:
      return (n: number, leaf: number | bigint | boolean, path: () => number[]): void => {
        const value = integerOf(leaf, row)
        if (value === null) {
          throw new DTypeError(`${op}: ${at(path())} is ${shown(leaf)}, which ${dtype} cannot hold${adviceFor(leaf, dtype)}`)
        }
        out[n] = value
      }
  }
}

// Two tensors element by element, and in words how they differ: the largest difference, where it is, both values, shapes and dtypes.

import { isTensor, tensor, type DType, type Tensor, type TensorData } from '../../index.js'
import { checkOptions } from '../arguments/options.js'
import { ArgumentError } from '../errors.js'
import { shown } from '../errors/describe-value.js'

/** How far elements may be from what is expected: as in `allclose`, `|actual - expected| <= atol + rtol * |expected|`. */
export interface Tolerance {
  /** Relative to the expected element; 1e-5 by default, not negative. */
  readonly rtol?: number | undefined
  /** The same for all elements; 1e-8 by default, not negative. */
  readonly atol?: number | undefined
  /** Whether NaN is close to NaN; true by default, as in `numpy.testing.assert_allclose`. */
  readonly equalNan?: boolean | undefined
}

/** What a tensor is compared with: another one, or numbers, nested arrays and typed arrays, which become one of its dtype. */
export type Expected = Tensor | TensorData

interface Limits {
  readonly rtol: number
  readonly atol: number
  readonly equalNan: boolean
}

/** Elements equal as numbers: 0 equals -0, and NaN NaN. */
const EXACT: Limits = { rtol: 0, atol: 0, equalNan: true }

/** Up to so many elements both tensors are shown as a whole. */
const SHOWN = 16

/** What is compared; its own name leads the errors of arguments. */
export class Comparison {
  readonly actual: Tensor
  readonly expected: Tensor

  /** @throws {ArgumentError} where the first is no tensor; what `ft.tensor` throws where the second cannot be one of its dtype. */
  constructor(name: string, actual: unknown, expected: unknown) {
    if (!isTensor(actual)) throw new ArgumentError(`${name}: compares a tensor, got ${shown(actual)}`)
    this.actual = actual
    this.expected = isTensor(expected) ? expected : tensor(expected as TensorData, { dtype: actual.dtype })
  }

  /** How two tensors of one shape and dtype differ in words; undefined where they are equal. Devices may differ. */
  unequal(): string | undefined {
    const { actual, expected } = this
    if (actual === expected) return undefined
    if (actual.dtype !== expected.dtype) return `dtypes differ${this.both()}`
    return this.different(EXACT, 'tensors are not equal')
  }

  /** How two tensors of one shape differ by more than a tolerance, in words; dtypes may differ. */
  notClose(name: string, tolerance: unknown): string | undefined {
    const o = checkOptions(name, tolerance, ['rtol', 'atol', 'equalNan'])
    const limits = { rtol: bound(name, 'rtol', o['rtol'], 1e-5), atol: bound(name, 'atol', o['atol'], 1e-8), equalNan: o['equalNan'] ?? true }
    if (typeof limits.equalNan !== 'boolean') throw new ArgumentError(`${name}: 'equalNan' must be a boolean, got ${shown(limits.equalNan)}`)
    return this.different(limits as Limits, `tensors are not close: |actual - expected| <= ${limits.atol} + ${limits.rtol} * |expected|`)
  }

  /** Both tensors, as lines of a message. */
  both(): string {
    const { actual, expected } = this
    const text = (x: Tensor): string => `${x.dtype} [${x.shape.join(', ')}]${x.size <= SHOWN ? ` ${String(x).replace(/\s+/g, ' ')}` : ''}`
    return `\n  actual:   ${text(actual)}\n  expected: ${text(expected)}`
  }

  private different(limits: Limits, headline: string): string | undefined {
    const { actual, expected } = this
    if (actual.ndim !== expected.ndim || actual.shape.some((size, axis) => size !== expected.shape[axis])) return `shapes differ${this.both()}`
    const [a, b] = [elements(actual), elements(expected)]
    let [wrong, worst, at] = [0, -1, 0]
    for (let i = 0; i < actual.size; i++) {
      const difference = distance(a, b, i, limits)
      if (difference === 0) continue
      wrong++
      if (difference > worst) [worst, at] = [difference, i]
    }
    if (wrong === 0) return undefined
    const relative = worst / size(b, at)
    const compared = Number.isFinite(relative) ? `, ${short(relative)} of the expected element` : ''
    return `${headline}${this.both()}
  ${wrong} of ${actual.size} elements differ${limits === EXACT ? '' : ' by more'}
  largest difference: ${short(worst)} at [${position(at, actual.shape).join(', ')}]: actual ${text(a, at)}, expected ${text(b, at)}${compared}`
  }
}

function bound(name: string, option: string, value: unknown, fallback: number): number {
  if (value === undefined) return fallback
  if (typeof value !== 'number' || !(value >= 0)) throw new ArgumentError(`${name}: '${option}' must be a number that is not negative, got ${shown(value)}`)
  return value
}

/** What `data` reads, and whether two of it are an element. */
interface Elements {
  readonly values: ArrayLike<number | bigint>
  readonly complex: boolean
  readonly dtype: DType
}

const elements = (x: Tensor): Elements => ({ values: x.dataSync(), complex: x.dtype.startsWith('complex'), dtype: x.dtype })

/** The real part, as the number it is read as. */
const re = ({ values, complex }: Elements, i: number): number | bigint => values[complex ? 2 * i : i] as number | bigint
const im = ({ values, complex }: Elements, i: number): number => (complex ? (values[2 * i + 1] as number) : 0)
const size = (x: Elements, i: number): number => Math.hypot(Number(re(x, i)), im(x, i))

/** How far an element is from the expected one where that is too far, else 0; infinite where one of them is NaN or infinite. */
function distance(a: Elements, b: Elements, i: number, { rtol, atol, equalNan }: Limits): number {
  const [x, y] = [re(a, i), re(b, i)]
  const [u, v] = [im(a, i), im(b, i)]
  // The difference of 64-bit integers is exact before it is a number.
  if (typeof x === 'bigint' && typeof y === 'bigint') {
    const difference = Math.abs(Number(x - y))
    return difference <= atol + rtol * Math.abs(Number(y)) ? 0 : difference
  }
  const [p, q] = [Number(x), Number(y)]
  if ((p === q && u === v) || (equalNan && hasNaN(p, u) && hasNaN(q, v))) return 0
  const difference = Math.hypot(p - q, u - v)
  const finite = isFinite(p) && isFinite(q) && isFinite(u) && isFinite(v)
  if (!finite) return Infinity
  return difference <= atol + rtol * Math.hypot(q, v) ? 0 : difference
}

const hasNaN = (real: number, imaginary: number): boolean => isNaN(real) || isNaN(imaginary)

function text(x: Elements, i: number): string {
  if (x.dtype === 'bool') return String(re(x, i) !== 0)
  return x.complex ? `${re(x, i)}${im(x, i) < 0 ? '-' : '+'}${Math.abs(im(x, i))}i` : String(re(x, i))
}

const short = (x: number): string => String(Number(x.toPrecision(4)))

/** The indices of the i-th element in row-major order. */
function position(i: number, shape: readonly number[]): number[] {
  const indices: number[] = []
  for (const length of shape.toReversed()) {
    indices.unshift(i % length)
    i = Math.floor(i / length)
  }
  return indices
}

// What dtypes are and make of each other: limits, kinds, promotion. The array API's dtype functions and its inspection.

import { deviceName, deviceNumber, devices } from '../devices/devices.js'
import { ArgumentError, DTypeError, TensorError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { didYouMean, meantOrAll } from '../errors/did-you-mean.js'
import { DTYPE, type DType, type DTypeKind, type ItemOf, type Promote, type RealOf, type Takes } from '../generated/dtypes.js'
import { zeros } from '../generated/functions.js'
import { OP } from '../generated/table.js'
import { isTensor } from '../program/node.js'
import { recordCall, type Scalar } from '../program/record.js'
import type { Device, Weak } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'

/** Limits of a floating dtype, or of the parts of a complex one. */
export interface FInfo<D extends DType = DType> {
  /** Bits of a number. */
  readonly bits: number
  /** From 1 to the next number. */
  readonly eps: number
  /** The largest finite number. */
  readonly max: number
  /** The smallest finite number, `-max`. */
  readonly min: number
  /** The smallest positive number that has all digits. */
  readonly smallestNormal: number
  /** The floating dtype these are the limits of. */
  readonly dtype: D
}

/** Limits of an integer dtype. */
export interface IInfo<D extends DType = DType> {
  /** Bits of a number. */
  readonly bits: number
  /** The largest number; a bigint for 64 bits. */
  readonly max: ItemOf<D>
  /** The smallest number; a bigint for 64 bits. */
  readonly min: ItemOf<D>
  readonly dtype: D
}

/** The array API's names for sets of dtypes. */
export type Kind = 'bool' | 'signed integer' | 'unsigned integer' | 'integral' | 'real floating' | 'complex floating' | 'numeric'

const KINDS: Readonly<Record<Kind, readonly DTypeKind[]>> = {
  bool: ['bool'],
  'signed integer': ['signed'],
  'unsigned integer': ['unsigned'],
  integral: ['signed', 'unsigned'],
  'real floating': ['float'],
  'complex floating': ['complex'],
  numeric: ['signed', 'unsigned', 'float', 'complex']
}

/** NumPy's names for sets of dtypes: its classes of scalars. */
export type ScalarKind = 'generic' | 'number' | 'integer' | 'signedinteger' | 'unsignedinteger' | 'inexact' | 'floating' | 'complexfloating'

const SCALAR_KINDS: Readonly<Record<ScalarKind | Kind, readonly DTypeKind[]>> = {
  ...KINDS,
  generic: ['bool', ...KINDS.numeric],
  number: KINDS.numeric,
  integer: KINDS.integral,
  signedinteger: ['signed'],
  unsignedinteger: ['unsigned'],
  inexact: ['float', 'complex'],
  floating: ['float'],
  complexfloating: ['complex']
}

/** Kinds of JavaScript scalars, the widest first: of scalars alone it gives the dtype. */
const SCALARS: readonly string[] = ['number', 'bigint', 'boolean']

function isDType(value: unknown): value is DType {
  return typeof value === 'string' && Object.hasOwn(DTYPE, value)
}

function dtypeOf(op: string, value: unknown): DType {
  if (isTensor(value)) return value.dtype
  if (isDType(value)) return value
  if (typeof value !== 'string') throw new ArgumentError(`${op}: expected a dtype or a tensor, got ${shown(value)}`)
  throw new DTypeError(`${op}: ${shown(value)} is not a dtype${meantOrAll(value, Object.keys(DTYPE))}`)
}

/**
 * Limits of a floating dtype (or of a tensor's); of a complex one those of its parts.
 *
 * @throws {TensorError} `ERR_DTYPE` for another dtype.
 * @example
 * ```ts
 * ft.finfo('float16').max // 65504
 * ```
 */
export function finfo<D extends DType>(type: (D | Tensor<D>) & Takes<'floatOrComplex', D>): FInfo<RealOf<D>> {
  const name = dtypeOf('finfo', type)
  const { float } = DTYPE[name]
  if (float === null) throw new DTypeError(`finfo: takes a floating or complex dtype, got ${name}${DTYPE[name].min === null ? '' : '; see iinfo'}`)
  const { dtype, eps, max, smallestNormal } = float
  return { bits: 8 * DTYPE[dtype].bytes, eps, max, min: -max, smallestNormal, dtype: dtype as RealOf<D> }
}

/**
 * Limits of an integer dtype (or of a tensor's).
 *
 * @throws {TensorError} `ERR_DTYPE` for another dtype.
 * @example
 * ```ts
 * ft.iinfo('int8').min // -128
 * ```
 */
export function iinfo<D extends DType>(type: (D | Tensor<D>) & Takes<'integer', D>): IInfo<D> {
  const dtype = dtypeOf('iinfo', type)
  const { bytes, min, max, float } = DTYPE[dtype]
  if (min === null || max === null) throw new DTypeError(`iinfo: takes an integer dtype, got ${dtype}${float === null ? '' : '; see finfo'}`)
  return { bits: 8 * bytes, max, min, dtype } as IInfo<D>
}

/** Whether a dtype is another, or of a kind by one of the names of `kinds`. */
function isOf(op: string, dtype: DType, kinds: Readonly<Record<string, readonly DTypeKind[]>>, kind: unknown): boolean {
  if (typeof kind === 'string' && Object.hasOwn(kinds, kind)) return (kinds[kind] as readonly DTypeKind[]).includes(DTYPE[dtype].kind)
  if (isDType(kind)) return kind === dtype
  const names = Object.keys(kinds)
  const hint = typeof kind === 'string' ? didYouMean(kind, [...names, ...Object.keys(DTYPE)]) : ''
  throw new ArgumentError(`${op}: expected a dtype or one of ${names.map((name) => `'${name}'`).join(', ')}, got ${shown(kind)}${hint}`)
}

/**
 * Whether a dtype is a given one or of a kind, or of one of several.
 *
 * @throws {TensorError} `ERR_DTYPE`, `ERR_ARGUMENT` for what is neither a dtype nor a kind.
 * @example
 * ```ts
 * ft.isdtype('int8', ['real floating', 'signed integer']) // true
 * ```
 */
export function isdtype(dtype: DType, kind: DType | Kind | readonly (DType | Kind)[]): boolean {
  const own = dtypeOf('isdtype', dtype)
  const asked: readonly unknown[] = Array.isArray(kind) ? kind : [kind]
  let found = false
  // Every kind is checked, and the first wrong one ends the walk of a list of any length.
  for (let i = 0; i < asked.length; i++) if (isOf('isdtype', own, KINDS, asked[i])) found = true
  return found
}

/**
 * Whether a dtype (or a tensor's) is another, or below one of NumPy's classes of scalars, by its name; or of a kind as {@link isdtype} names them.
 *
 * NumPy `issubdtype`.
 *
 * @throws {TensorError} `ERR_DTYPE`, `ERR_ARGUMENT` for what is neither a dtype nor such a name.
 * @example
 * ```ts
 * ft.issubdtype('int8', 'integer') // true
 * ```
 */
export function issubdtype(dtype: DType | Tensor, kind: DType | ScalarKind | Kind): boolean {
  return isOf('issubdtype', dtypeOf('issubdtype', dtype), SCALAR_KINDS, kind)
}

/** What has a dtype, or follows that of others. */
export type Typed = DType | Tensor | Scalar

type Named<T> = T extends DType ? T : T extends Tensor<infer D> ? D : never

type NamedAll<T extends readonly unknown[], D extends DType = 'bool'> = T extends readonly [infer First, ...infer Rest]
  ? NamedAll<Rest, [Named<First>] extends [never] ? D : Promote<D, Named<First>>>
  : D

/** The dtype in which a list of these is combined; any for a list of unknown length. */
export type ResultOf<T extends readonly Typed[]> = number extends T['length'] ? DType : [Named<T[number]>] extends [never] ? Weak<T[number]> : [NamedAll<T>] extends ['bool'] ? Weak<Extract<T[number], Scalar>> : NamedAll<T>

/**
 * The dtype in which tensors, dtypes and JavaScript scalars are combined; a scalar changes nothing, but beside bools, and for scalars alone.
 *
 * @throws {TensorError} `ERR_DTYPE` for dtypes without a common one, `ERR_ARGUMENT` for no arguments or anything else.
 * @example
 * ```ts
 * ft.resultType('int8', 'uint8', 2) // 'int16'
 * ```
 */
export function resultType<const T extends readonly Typed[]>(...types: T): ResultOf<T> {
  const scalars = SCALARS.flatMap((kind) => types.filter((x) => typeof x === kind)) as Scalar[]
  // Values that are never computed stand for dtypes.
  const typed = types.filter((x) => !SCALARS.includes(typeof x)).map((x): Tensor => zeros([], { dtype: dtypeOf('resultType', x) }))
  const [first = scalars[0], ...rest] = [...typed, ...(typed.length > 0 ? scalars : [])]
  if (first === undefined) throw new ArgumentError('resultType: takes dtypes, tensors or scalars, got none')
  const combined = (x: Tensor | Scalar, y: Tensor | Scalar): Tensor => recordCall(OP.resultType, [x, y], null, null)
  return rest.reduce<Tensor>(combined, combined(first, first)).dtype as ResultOf<T>
}

/**
 * Whether promotion takes a dtype (or a tensor's) to another: whether combining both gives the second.
 *
 * @throws {TensorError} `ERR_DTYPE`, `ERR_ARGUMENT` for an argument that is not a dtype.
 * @example
 * ```ts
 * ft.canCast('int8', 'int16') // true
 * ```
 */
export function canCast(from: DType | Tensor, to: DType): boolean {
  const pair = [dtypeOf('canCast', from), dtypeOf('canCast', to)] as const
  try {
    return resultType(...pair) === pair[1]
  } catch (error) {
    if (error instanceof TensorError && error.code === 'ERR_DTYPE') return false
    throw error
  }
}

/** What this namespace offers, as the array API's inspection functions tell it. */
export interface ArrayNamespaceInfo {
  /** What may differ between libraries. */
  capabilities(): { readonly booleanIndexing: boolean; readonly dataDependentShapes: boolean; readonly maxDimensions: number }
  /** The device of tensors made without one. */
  defaultDevice(): Device
  /** Dtypes of tensors made without one. */
  defaultDtypes(): { readonly realFloating: DType; readonly complexFloating: DType; readonly integral: DType; readonly indexing: DType }
  /** The devices that are there. */
  devices(): readonly Device[]
  /** The dtypes there are, all or of a kind. */
  dtypes(kind?: Kind | readonly Kind[]): readonly DType[]
}

/**
 * What this namespace offers: capabilities, defaults, devices and dtypes.
 *
 * @example
 * ```ts
 * ft.arrayNamespaceInfo().defaultDtypes().indexing // 'int32'
 * ```
 */
export function arrayNamespaceInfo(): ArrayNamespaceInfo {
  return {
    capabilities: () => ({ booleanIndexing: true, dataDependentShapes: true, maxDimensions: 32 }),
    defaultDevice: () => deviceName(deviceNumber('arrayNamespaceInfo', undefined)),
    defaultDtypes: () => ({ realFloating: 'float32', complexFloating: 'complex64', integral: 'int32', indexing: 'int32' }),
    devices: () => devices().flatMap((device) => (device.available ? [device.name] : [])),
    dtypes: (kind) => (Object.keys(DTYPE) as DType[]).filter((dtype) => kind === undefined || isdtype(dtype, kind))
  }
}

/** A tensor in the floating or complex dtype that its means and roots have. */
export function floating(x: Tensor): Tensor {
  const { kind } = DTYPE[x.dtype]
  return kind === 'float' || kind === 'complex' ? x : x.astype('float32')
}

// Files on their way to tensors and back: what the caller gave is checked, Rust opens, decodes and writes; memory for the elements is
// reserved here, under the budget. Each step exists twice, blocking and on a thread; between the two nothing else differs.

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { integer, integers } from '../arguments/validate.js'
import { deviceNumber } from '../devices/devices.js'
import { ArgumentError, FormatError, UnsupportedError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { flush } from '../execution/flush.js'
import { withRoom, withRoomAsync } from '../execution/pressure.js'
import { DTYPES, type DTypeRow } from '../generated/dtypes.js'
import { native } from '../native.js'
import type { NativeSource } from '../native/files.js'
import { checkAlive, isTensor } from '../program/node.js'
import { thrown } from '../realm.js'
import { allocated } from '../values/read.js'
// The class of the tensors that are made here: the command line comes without the package's index.
import '../tensor/tensor.js'
import type { Tensor } from '../tensor/tensor.js'
import { bytesOf, isBuffer } from '../values/typed-arrays.js'
import { adopt, reserve } from '../values/upload.js'

/** What compressed arrays of one call may take together unless told: a few megabytes can claim to be many gigabytes. */
export const MAX_PACKED_BYTES = 2 ** 32

/** Whether a value is a URL: by what it has, for other realms and polyfills have classes of their own. */
function isURL(value: unknown): value is { readonly href: string; readonly protocol: string } {
  const { href, protocol } = (typeof value === 'object' && value !== null ? value : {}) as { readonly href?: unknown; readonly protocol?: unknown }
  return typeof href === 'string' && typeof protocol === 'string'
}

/** The path in a `file:` URL. */
function pathIn(op: string, name: string, { href }: { readonly href: string }): string {
  try {
    return fileURLToPath(href)
  } catch (error) {
    throw new ArgumentError(`${op}: '${name}' is no path: ${thrown(error)}`, { cause: error })
  }
}

/** A path as the system takes it. */
function pathOf(op: string, name: string, value: unknown): string {
  const path = isURL(value) && value.protocol === 'file:' ? pathIn(op, name, value) : value
  if (typeof path !== 'string') throw new ArgumentError(`${op}: '${name}' must be a path or a file: URL, got ${shown(value)}`)
  if (path === '' || path.includes('\0')) throw new ArgumentError(`${op}: '${name}' is no path: ${path === '' ? 'it is empty' : 'it has a null byte'}`)
  return resolve(path)
}

/** A path, or the bytes themselves. */
function sourceOf(op: string, source: unknown, isText: boolean): string | Uint8Array {
  if (ArrayBuffer.isView(source) || isBuffer(source)) return bytesOf(op, source)
  if (isText && typeof source === 'string' && /[\r\n]/.test(source) && !existsSync(source)) {
    throw new ArgumentError(`${op}: 'source' is a path, and no file has this name; a table in a string is passed as bytes: new TextEncoder().encode(text)`)
  }
  if (typeof source === 'string' || isURL(source)) return pathOf(op, 'source', source)
  throw new ArgumentError(`${op}: 'source' must be a path, a file: URL or bytes (a Uint8Array), got ${shown(source)}`)
}

function flagOption(op: string, name: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback
  if (typeof value !== 'boolean') throw new ArgumentError(`${op}: '${name}' must be a boolean, got ${shown(value)}`)
  return value
}

/** A list of texts, each read once. */
function textsOption(op: string, name: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new ArgumentError(`${op}: '${name}' must be an array of texts, got ${shown(value)}`)
  return Array.from({ length: value.length }, (_, i) => textOf(op, `${name}[${i}]`, value[i]))
}

/** A text that UTF-8 can hold: files would have another one in its place. */
export function textOf(op: string, name: string, value: unknown): string {
  if (typeof value !== 'string') throw new ArgumentError(`${op}: '${name}' must be a text, got ${shown(value)}`)
  if (/\p{Surrogate}/u.test(value)) throw new ArgumentError(`${op}: '${name}' has half of a surrogate pair, which no file can hold`)
  return value
}

/** One ASCII character that can stand between numbers. */
function characterOption(op: string, name: string, value: unknown, fallback: string): string {
  if (value === undefined) return fallback
  const fits = typeof value === 'string' && /^[\t\x20-\x7e]$/.test(value) && !/^[\w"+.-]$/.test(value)
  if (!fits) throw new ArgumentError(`${op}: '${name}' must be one ASCII character that is in no number, got ${shown(value)}`)
  return value
}

/** What is to be opened, checked, and how its arrays become tensors. */
export interface Loading {
  readonly op: string
  readonly source: string | Uint8Array
  readonly native: object
  readonly device: number
  readonly maxBytes: number | undefined
  /** Whether arrays may lie in a mapped file. */
  readonly lend: boolean
  /** The arrays to load; all of them where none are named. */
  readonly names: readonly string[] | undefined
}

/** One array of an opened source. */
export interface Entry {
  readonly name: string
  /** The dtype's number, or -1. */
  readonly dtype: number
  /** The file's own name of the dtype. */
  readonly code: string
  readonly shape: readonly number[]
  /** The elements are those of the transposed array, in row-major order. */
  readonly fortran: boolean
  readonly bytes: number
  /** Compressed: the file may have far fewer bytes. */
  readonly packed: boolean
  /** Why it cannot be read, though others of its file can. */
  readonly refusal: string | null
}

/** What is in a file, before its elements are looked at. */
export interface Opened {
  readonly id: number
  readonly lend: boolean
  readonly entries: readonly Entry[]
  readonly metadata: NativeSource['metadata']
}

/** The arrays that native code describes as numbers. */
function described({ id, names, codes, facts, refusals, metadata }: NativeSource, lend: boolean): Opened {
  const numbers = new Float64Array(facts)
  let at = 0
  const next = (): number => numbers[at++] as number
  const reasons = new Map(refusals)
  const entries = names.map((name, i): Entry => {
    const [dtype, code, fortran, packed, bytes] = [next(), codes[next()] as string, next() !== 0, next() !== 0, next()]
    const shape: number[] = []
    for (let rank = next(); rank > 0; rank--) shape.push(next())
    return { name, dtype, code, shape, fortran, bytes, packed, refusal: reasons.get(i) ?? null }
  })
  return { id, lend, entries, metadata }
}

/** Opens a source. */
export function open({ op, source, native: options, lend }: Loading): Opened {
  return described(withRoom(() => native.openSource(op, source, options)), lend)
}

/** As {@link open}, on a thread. */
export async function openAsync({ op, source, native: options, lend }: Loading): Promise<Opened> {
  return described(await withRoomAsync(() => native.openSourceAsync(op, source, options)), lend)
}

/** The formats, as native code names them. */
export type Format = 'npy' | 'npz' | 'safetensors' | 'text' | 'table'

/** Reads the options that formats share; `details` are a format's own, checked. */
export function loading(op: string, format: Format, source: unknown, o: Record<string, unknown>, details: object = {}): Loading {
  const device = deviceNumber(op, o['device'])
  const { maxBytes, names } = o
  const mapped = flagOption(op, 'mapped', o['mapped'], true)
  const lend = flagOption(op, 'lend', o['lend'], false)
  if (maxBytes !== undefined && integer(op, 'maxBytes', maxBytes) < 0) throw new ArgumentError(`${op}: 'maxBytes' must not be negative, got ${shown(maxBytes)}`)
  const wanted = names === undefined ? undefined : [...new Set(textsOption(op, 'names', names))]
  // The source last: reading options may run the caller's code, which could detach a buffer.
  const read = sourceOf(op, source, format === 'text' || format === 'table')
  return { op, source: read, native: { ...details, format, mapped }, device, lend, maxBytes: maxBytes as number | undefined, names: wanted }
}

/** What stands for an empty field, as text; none where that is an error. Words that stand for one are NaN by default. */
function fillingOption(op: string, value: unknown, missing: readonly string[]): readonly string[] {
  if (value === undefined) return missing.length > 0 ? ['NaN'] : []
  const scalar = typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean'
  if (!scalar) throw new ArgumentError(`${op}: 'fillingValue' must be a number, a bigint or a boolean, got ${shown(value)}`)
  return [Object.is(value, -0) ? '-0' : String(value)]
}

/** The columns that are read, as names or as places; neither where all are. */
function columnsOption(op: string, value: unknown, header: boolean): { readonly names: readonly string[]; readonly places: Float64Array } {
  if (value === undefined) return { names: [], places: new Float64Array() }
  if (!Array.isArray(value)) throw new ArgumentError(`${op}: 'columns' must be an array of names or of places, got ${shown(value)}`)
  if (value.length === 0) throw new ArgumentError(`${op}: 'columns' must not be empty; without it all columns are read`)
  if (typeof value[0] !== 'string') return { names: [], places: Float64Array.from(integers(op, 'columns', value)) }
  const names = textsOption(op, 'columns', value)
  if (!header) throw new ArgumentError(`${op}: 'columns' has names, which need a row of names: { header: true }; without one write places, counted from 0`)
  return { names, places: new Float64Array() }
}

/** How a table of text is written and which columns are read, checked, as native code reads it. */
export function layoutOptions(op: string, o: Record<string, unknown>, defaults: { readonly comments: string; readonly header: boolean }): object {
  const delimiter = o['delimiter'] === null ? '' : characterOption(op, 'delimiter', o['delimiter'], ',')
  const comments = o['comments'] === null ? '' : characterOption(op, 'comments', o['comments'], defaults.comments)
  if (delimiter !== '' && delimiter === comments) throw new ArgumentError(`${op}: 'delimiter' and 'comments' must differ, both are ${shown(delimiter)}`)
  const skipRows = o['skipRows'] === undefined ? 0 : integer(op, 'skipRows', o['skipRows'])
  if (skipRows < 0) throw new ArgumentError(`${op}: 'skipRows' must not be negative, got ${skipRows}`)
  const missing = o['missingValues'] === undefined ? [] : textsOption(op, 'missingValues', o['missingValues'])
  const filling = fillingOption(op, o['fillingValue'], missing)
  const header = flagOption(op, 'header', o['header'], defaults.header)
  return { delimiter, comments, skipRows, header, filling, missing, ...columnsOption(op, o['columns'], header) }
}

/** Options of tables of numbers, checked; `exact` where nobody chose the dtype. */
export function tableOptions(op: string, o: Record<string, unknown>, dtype: DTypeRow, exact: boolean): object {
  return { ...layoutOptions(op, o, { comments: '#', header: false }), dtype: dtype.code, exact }
}

/** Where the arrays to load are, checked for their size before any memory is taken. */
export function chosen({ op, source, names, maxBytes }: Loading, entries: readonly Entry[]): readonly number[] {
  const positions = new Map(entries.map(({ name }, i) => [name, i]))
  const picked = names?.map((name) => {
    const at = positions.get(name)
    if (at === undefined) throw new ArgumentError(`${op}: there is no array ${shown(name)}; there are ${listed([...positions.keys()])}`)
    return at
  }) ?? [...positions.values()]
  const refused = picked.map((i) => entries[i] as Entry).find(({ refusal }) => refusal !== null)
  if (refused !== undefined) {
    const others = entries.filter(({ refusal }) => refusal === null).map(({ name }) => name)
    const hint = names !== undefined || others.length === 0 || others.includes('') ? '' : `; 'names' loads the others: ${listed(others)}`
    const file = typeof source === 'string' ? `'${source}': ` : ''
    throw new FormatError(`${op}: ${file}${refused.refusal}${hint}`)
  }
  const sum = (counted: (entry: Entry) => boolean): number =>
    picked.reduce((n, i) => n + (counted(entries[i] as Entry) ? (entries[i] as Entry).bytes : 0), 0)
  const bytes = maxBytes === undefined ? sum(({ packed }) => packed) : sum(() => true)
  const most = maxBytes ?? MAX_PACKED_BYTES
  if (bytes > most) throw new FormatError(`${op}: the arrays take ${bytes} bytes, more than the ${most} that 'maxBytes' allows`)
  return picked
}

/** Names as an error lists them. */
export function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none'
  return names.length <= 8 ? names.map((name) => shown(name)).join(', ') : `${names.slice(0, 8).map((name) => shown(name)).join(', ')} and ${names.length - 8} more`
}

/** The dtype of an array that can be read. */
function rowOf(op: string, { name, dtype, code, refusal }: Entry): DTypeRow {
  if (refusal !== null) throw new FormatError(`${op}: ${refusal}`)
  const row = DTYPES[dtype]
  if (row === undefined) throw new UnsupportedError(`${op}: tensor ${shown(name)} is of dtype ${code}, which tensors do not have`)
  return row
}

/** As the elements lie: those in Fortran order are those of the transposed array. */
const lying = ({ fortran, shape }: Entry): readonly number[] => (fortran ? [...shape].reverse() : shape)

/** The array in the mapped file itself, where that is wanted and can be. */
function lent(op: string, { id, lend, entries }: Opened, at: number, device: number): Tensor | undefined {
  const entry = entries[at] as Entry
  return lend ? adopt(rowOf(op, entry), lying(entry), device, (type, t) => native.lend(id, at, type, t)) : undefined
}

/** Memory for an array. */
function room(op: string, entry: Entry, device: number): Tensor {
  return reserve(op, rowOf(op, entry), lying(entry), device)
}

/** The array as the file means it. */
function oriented({ fortran, shape }: Entry, x: Tensor): Tensor {
  return fortran && shape.length > 1 ? x.permuteDims(shape.map((_, i) => shape.length - 1 - i)) : x
}

/** A tensor from an array of an open source. */
export function load(op: string, source: Opened, at: number, device: number): Tensor {
  const entry = source.entries[at] as Entry
  const there = lent(op, source, at, device)
  if (there !== undefined) return oriented(entry, there)
  const x = room(op, entry, device)
  try {
    native.fill(op, source.id, at, x.handle as number)
  } catch (error) {
    x.dispose()
    throw error
  }
  return oriented(entry, x)
}

/** As {@link load}, on a thread. */
export async function loadAsync(op: string, source: Opened, at: number, device: number): Promise<Tensor> {
  const entry = source.entries[at] as Entry
  const there = lent(op, source, at, device)
  if (there !== undefined) return oriented(entry, there)
  const x = room(op, entry, device)
  try {
    await native.fillAsync(op, source.id, at, x.handle as number)
  } catch (error) {
    x.dispose()
    throw error
  }
  return oriented(entry, x)
}

/** Tensors by name; without a prototype, so that no name means anything else. */
export type Tensors = Record<string, Tensor>

/** Every array that was asked for, in order; none where one of them fails. */
export function loadEach(what: Loading): [string, Tensor][] {
  const source = open(what)
  const loaded: [string, Tensor][] = []
  try {
    for (const at of chosen(what, source.entries)) loaded.push([(source.entries[at] as Entry).name, load(what.op, source, at, what.device)])
  } catch (error) {
    for (const [, x] of loaded) x.dispose()
    throw error
  } finally {
    native.closeSource(source.id)
  }
  return loaded
}

/** As {@link loadEach}, on a thread. */
export async function loadEachAsync(what: Loading): Promise<[string, Tensor][]> {
  const source = await openAsync(what)
  const loaded: [string, Tensor][] = []
  try {
    for (const at of chosen(what, source.entries)) loaded.push([(source.entries[at] as Entry).name, await loadAsync(what.op, source, at, what.device)])
  } catch (error) {
    for (const [, x] of loaded) x.dispose()
    throw error
  } finally {
    native.closeSource(source.id)
  }
  return loaded
}

function byName(loaded: readonly [string, Tensor][]): Tensors {
  const tensors = Object.create(null) as Tensors
  for (const [name, x] of loaded) tensors[name] = x
  return tensors
}

/** As {@link loadEach}, by name. */
export function loadAll(what: Loading): Tensors {
  return byName(loadEach(what))
}

/** As {@link loadAll}, on a thread. */
export async function loadAllAsync(what: Loading): Promise<Tensors> {
  return byName(await loadEachAsync(what))
}

/** Tensors to be written, computed or on their way, and how. */
export interface Writing {
  readonly op: string
  readonly path: string
  readonly handles: Float64Array
  readonly native: object
}

/** A path for `writing`. */
export function target(op: string, path: unknown): string {
  return pathOf(op, 'path', path)
}

/** The bytes of a format instead of a file. */
export const IN_MEMORY = ''

/** What `tensors` holds, by name, in its order; each property is read once. */
export function named(op: string, tensors: unknown): [string, Tensor][] {
  if (typeof tensors !== 'object' || tensors === null || Symbol.iterator in tensors) {
    throw new ArgumentError(`${op}: 'tensors' must be an object of tensors by name, got ${shown(tensors)}`)
  }
  return Object.entries(tensors).map(([name, x]) => [textOf(op, `the name ${shown(name)}`, name), single(op, `tensors[${shown(name)}]`, x)])
}

/** A tensor. */
export function single(op: string, name: string, x: unknown): Tensor {
  if (!isTensor(x)) throw new ArgumentError(`${op}: '${name}' must be a tensor, got ${shown(x)}`)
  return x
}

/** Text pairs, one after the other. */
export function metadataOption(op: string, value: unknown): readonly string[] {
  if (value === undefined) return []
  if (typeof value !== 'object' || value === null || Symbol.iterator in value) {
    throw new ArgumentError(`${op}: 'metadata' must be an object of texts, got ${shown(value)}`)
  }
  return Object.entries(value).flatMap(([key, text]) => [textOf(op, 'metadata', key), textOf(op, `metadata.${key}`, text)])
}

/** How a table is written, checked. */
export function tableLayout(op: string, o: Record<string, unknown>): object {
  const delimiter = characterOption(op, 'delimiter', o['delimiter'], ',')
  return { delimiter, header: o['header'] === undefined ? [] : textsOption(op, 'header', o['header']) }
}

/** `sync`, checked. */
export function syncOption(op: string, value: unknown): boolean {
  return flagOption(op, 'sync', value, true)
}

/** `compressed`, checked. */
export function compressedOption(op: string, value: unknown): boolean {
  return flagOption(op, 'compressed', value, false)
}

/** Starts computing the tensors; their values as they are now are what is written, whatever happens to the wrappers. */
export function writing(op: string, format: Format, path: string, tensors: readonly [string, Tensor][], details: object, wait: boolean): Writing {
  const each = tensors.map(([, x]) => x)
  for (const x of each) checkAlive(op, x)
  if (each.length > 0) flush(each, wait)
  const handles = Float64Array.from(each, (x) => x.handle as number)
  return { op, path, handles, native: { sync: true, ...details, op, format, names: tensors.map(([name]) => name) } }
}

/** Writes, and gives the bytes where there is no path: in memory of JavaScript's own, which it frees in the middle of a loop. */
export function write({ op, path, handles, native: options }: Writing): Uint8Array {
  const bytes = native.write(path, handles, options)
  if (path !== IN_MEMORY) return new Uint8Array(0)
  let into: Uint8Array | undefined
  try {
    into = allocated(op, bytes, () => new Uint8Array(bytes))
  } finally {
    native.encoded(into)
  }
  return into
}

/** As {@link write}, on a thread. */
export async function writeAsync({ path, handles, native: options }: Writing): Promise<Uint8Array> {
  return new Uint8Array((await native.writeAsync(path, handles, options)) ?? new ArrayBuffer(0))
}

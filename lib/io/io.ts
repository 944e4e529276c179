// `ft.io`: tensors in files. NumPy's npy and npz, safetensors, and tables of text; each from and to a path, or bytes in memory.

import { checkOptions } from '../arguments/options.js'
import { dtypeOption } from '../arguments/validate.js'
import { deviceNumber } from '../devices/devices.js'
import { ArgumentError, DisposedError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { relieveSoftly } from '../execution/pressure.js'
import { DTYPE, DTYPES, type DType } from '../generated/dtypes.js'
import { native } from '../native.js'
import type { Device } from '../tensor/operand.js'
import type { Tensor } from '../tensor/tensor.js'
import {
  compressedOption, IN_MEMORY, listed, load, loadAll, loadAllAsync, loadAsync, loadEach, loadEachAsync, loading, metadataOption, named, open, openAsync,
  single, syncOption, tableLayout, tableOptions, target, write, writeAsync, writing, type Loading, type Opened, type Tensors, type Writing
} from './transfer.js'

export * from '../generated/names/io.js'
export * from './table.js'

/** A `file:` URL, such as `new URL('x.npy', import.meta.url)`. */
export interface FileURL {
  readonly href: string
  readonly protocol: string
}

/** A path, relative to the working directory, or a `file:` URL. */
export type FilePath = string | FileURL

/** Where tensors come from: a file, or the bytes of one, copied at the call. */
export type FileSource = FilePath | ArrayBufferView | ArrayBufferLike

/** What every load takes. */
export interface LoadOptions {
  /** The device of the tensors; `ft.setDefaultDevice` sets the default. */
  readonly device?: Device | undefined
  /**
   * Whether a file is mapped into memory instead of read first; true by default. A file that another program shortens in place while it is
   * being looked at is refused (`ERR_FORMAT`); one that is rewritten at the same length may give a mixture of old and new, so whoever must load
   * such files says false.
   */
  readonly mapped?: boolean | undefined
  /**
   * Whether arrays may lie in the mapped file instead of being copied; false by default. Then they take no memory of the process's own, nor of
   * the memory budget: the system reads pages when they are first used, and shares them with other processes. So lie arrays of safetensors and
   * npy files on the CPU, but for bool and the other byte order; the rest is copied as ever. The file must stay as it is for as long as the tensors
   * live: where it is shortened, or replaced in place by a shorter one, they fail (`ERR_FORMAT`); where it is written to, they change.
   */
  readonly lend?: boolean | undefined
  /**
   * The most bytes that the elements of all arrays together may take. Unless told, arrays are bounded by the size of the file, and
   * those of compressed members by 4 GiB (2^32); the memory budget bounds all of them.
   */
  readonly maxBytes?: number | undefined
}

/** Options of loads of several tensors. */
export interface LoadNamedOptions extends LoadOptions {
  /** The arrays to load, all of them by default. */
  readonly names?: readonly string[] | undefined
}

/** Options of `loadText`. */
export interface LoadTextOptions<E extends DType = DType> extends LoadOptions {
  /** What the numbers become; float32 by default. */
  readonly dtype?: E | undefined
  /**
   * One ASCII character between numbers; a comma by default. Spaces and tabs around a number do not matter. null is any number of
   * spaces and tabs, as `numpy.loadtxt` reads by default.
   */
  readonly delimiter?: string | null | undefined
  /** What follows this character in a line is skipped; `#` by default, null for none. */
  readonly comments?: string | null | undefined
  /** Lines to skip at the start, whatever they hold; none by default. */
  readonly skipRows?: number | undefined
  /** Whether a row of names stands before the numbers, which is skipped; false by default. */
  readonly header?: boolean | undefined
  /**
   * What stands for empty fields, as `filling_values` of `numpy.genfromtxt`; by default they are an error, or NaN where `missingValues` are
   * given.
   */
  readonly fillingValue?: number | bigint | boolean | undefined
  /**
   * Texts that are taken for empty fields, such as `NA`; NaN stands for them, and for fields that are empty, unless `fillingValue` says
   * otherwise, as in `numpy.genfromtxt`.
   */
  readonly missingValues?: readonly string[] | undefined
  /**
   * The columns to read, in this order, as `usecols` of `numpy.loadtxt`: names, which need `header: true`, or places, counted from 0 and from the
   * end where they are negative. What the other columns hold does not matter. All columns by default.
   */
  readonly columns?: readonly string[] | readonly number[] | undefined
}

/** What every save takes. */
export interface SaveOptions {
  /**
   * Whether the bytes are on the disk when the save is done; true by default. Without, the file is replaced as a whole all the same, and a
   * crash of the machine in the next seconds may leave an empty one; `numpy.save` does not sync.
   */
  readonly sync?: boolean | undefined
}

/** Options of `encodeNpz`. */
export interface NpzOptions {
  /** Whether members are deflated; false by default. */
  readonly compressed?: boolean | undefined
}

/** Options of `saveNpz`. */
export interface SaveNpzOptions extends NpzOptions, SaveOptions {}

/** Options of `encodeSafetensors`. */
export interface SafetensorsOptions {
  /** Texts beside the tensors. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/** Options of `saveSafetensors`. */
export interface SaveSafetensorsOptions extends SafetensorsOptions, SaveOptions {}

/** Options of `encodeText`. */
export interface TextOptions {
  /** One ASCII character between numbers; a comma by default. */
  readonly delimiter?: string | undefined
  /** Names of the columns, written as the first line; no such line by default. */
  readonly header?: readonly string[] | undefined
}

/** Options of `saveText`. */
export interface SaveTextOptions extends TextOptions, SaveOptions {}

const LOAD = ['device', 'mapped', 'lend', 'maxBytes']
const LOAD_NAMED = [...LOAD, 'names']
const LOAD_TEXT = [...LOAD, 'dtype', 'delimiter', 'comments', 'skipRows', 'header', 'fillingValue', 'missingValues', 'columns']

/** The only array of formats that hold one. */
const only = (tensors: Tensors): Tensor => tensors[''] as Tensor

const npyAll = (op: string, source: unknown, options: unknown): Loading => loading(op, 'npy', source, checkOptions(op, options, LOAD))
/** The first array of a file: it has no name. */
const npy = (op: string, source: unknown, options: unknown): Loading => ({ ...npyAll(op, source, options), names: [''] })

/**
 * Reads an npy file (NumPy's, format versions 1.0 to 3.0): the array's own shape and dtype, in either byte order and either
 * order of elements; one in Fortran order becomes a transposed view. Of a file to which several arrays were written, the first.
 *
 * @throws {TensorError} `ERR_FILE` from the system, with its code (`ENOENT`, ...) as `systemCode`; `ERR_FORMAT` for a file
 * that is not npy or is cut off, or holds an array that tensors have no dtype for: structured ones, Python objects, text, dates, extended
 * precision; `ERR_OUT_OF_MEMORY`.
 */
export async function loadNpy(source: FileSource, options?: LoadOptions): Promise<Tensor> {
  return only(await loadAllAsync(npy('io.loadNpy', source, options)))
}

/**
 * As {@link loadNpy}, blocking.
 *
 * @example
 * ```ts
 * ft.io.loadNpySync(ft.io.encodeNpySync(ft.tensor([[1, 2], [3, 4]]))) // [[1, 2], [3, 4]]
 * ```
 */
export function loadNpySync(source: FileSource, options?: LoadOptions): Tensor {
  return only(loadAll(npy('io.loadNpySync', source, options)))
}

/**
 * Reads all arrays of an npy file to which several were written, one `numpy.save` after the other, in their order.
 *
 * @throws {TensorError} as {@link loadNpy}, for any of them.
 */
export async function loadNpyAll(source: FileSource, options?: LoadOptions): Promise<Tensor[]> {
  return (await loadEachAsync(npyAll('io.loadNpyAll', source, options))).map(([, x]) => x)
}

/**
 * As {@link loadNpyAll}, blocking.
 *
 * @example
 * ```ts
 * ft.io.loadNpyAllSync(Buffer.concat([ft.ones([1]), ft.zeros([2])].map((x) => ft.io.encodeNpySync(x)))).map((x) => x.toArray()) // [[1], [0, 0]]
 * ```
 */
export function loadNpyAllSync(source: FileSource, options?: LoadOptions): Tensor[] {
  return loadEach(npyAll('io.loadNpyAllSync', source, options)).map(([, x]) => x)
}

/** Options of a save, or with a path in memory of an encoding, which has nothing to sync. */
function saving(op: string, path: string, options: unknown, names: readonly string[]): Record<string, unknown> & { readonly sync: boolean } {
  const o = checkOptions(op, options, path === IN_MEMORY ? names : [...names, 'sync'])
  return { ...o, sync: syncOption(op, o['sync']) }
}

function npyWriting(op: string, path: string, x: unknown, options: unknown, wait: boolean): Writing {
  const { sync } = saving(op, path, options, [])
  return writing(op, 'npy', path, [['', single(op, 'x', x)]], { sync }, wait)
}

/**
 * Writes a tensor as an npy file: version 1.0, little-endian, in row-major order. The file is replaced as a whole: a temporary
 * file beside it is written, synced and renamed, so that a failure leaves the old one.
 *
 * @throws {TensorError} `ERR_DTYPE` for bfloat16, which NumPy does not have; `ERR_FILE` from the system; the tensor's own failure.
 */
export async function saveNpy(path: FilePath, x: Tensor, options?: SaveOptions): Promise<void> {
  await writeAsync(npyWriting('io.saveNpy', target('io.saveNpy', path), x, options, false))
}

/** As {@link saveNpy}, blocking. */
export function saveNpySync(path: FilePath, x: Tensor, options?: SaveOptions): void {
  write(npyWriting('io.saveNpySync', target('io.saveNpySync', path), x, options, true))
}

/** The bytes that {@link saveNpy} would write. */
export async function encodeNpy(x: Tensor): Promise<Uint8Array> {
  return writeAsync(npyWriting('io.encodeNpy', IN_MEMORY, x, undefined, false))
}

/**
 * As {@link encodeNpy}, blocking.
 *
 * @example
 * ```ts
 * ft.io.encodeNpySync(ft.ones([2])).length // 136
 * ```
 */
export function encodeNpySync(x: Tensor): Uint8Array {
  return write(npyWriting('io.encodeNpySync', IN_MEMORY, x, undefined, true))
}

const npz = (op: string, source: unknown, options: unknown): Loading => loading(op, 'npz', source, checkOptions(op, options, LOAD_NAMED))

/**
 * Reads the arrays of an npz archive, by name: stored and deflated members, each as {@link loadNpy} reads it. The result has no
 * prototype, so that any name is only a name; names are never paths. Members that are not arrays, nor called so, are left out; an array
 * that cannot be read is an error only where it is asked for.
 *
 * @throws {TensorError} as {@link loadNpy}; `ERR_FORMAT` also for archives that no honest program writes: names that repeat,
 * members that overlap or claim more than their bytes can hold, wrong checksums; `ERR_ARGUMENT` for a name in `names` that is not there.
 */
export async function loadNpz(source: FileSource, options?: LoadNamedOptions): Promise<Record<string, Tensor>> {
  return loadAllAsync(npz('io.loadNpz', source, options))
}

/**
 * As {@link loadNpz}, blocking.
 *
 * @example
 * ```ts
 * ft.io.loadNpzSync(ft.io.encodeNpzSync({ a: ft.tensor([1, 2]), b: ft.tensor(3) }, { compressed: true })).a // [1, 2]
 * ```
 */
export function loadNpzSync(source: FileSource, options?: LoadNamedOptions): Record<string, Tensor> {
  return loadAll(npz('io.loadNpzSync', source, options))
}

function npzWriting(op: string, path: string, tensors: unknown, options: unknown, wait: boolean): Writing {
  const { compressed, sync } = saving(op, path, options, ['compressed'])
  return writing(op, 'npz', path, named(op, tensors), { compressed: compressedOption(op, compressed), sync }, wait)
}

/**
 * Writes tensors as an npz archive, which `numpy.load` reads; the file is replaced as by {@link saveNpy}.
 *
 * @param tensors The tensors by name.
 * @throws {TensorError} as {@link saveNpy}; `ERR_ARGUMENT` for a name that would be a path elsewhere where the archive is unpacked
 * (`../a`, `/a`, `a\b`).
 */
export async function saveNpz(path: FilePath, tensors: Readonly<Record<string, Tensor>>, options?: SaveNpzOptions): Promise<void> {
  await writeAsync(npzWriting('io.saveNpz', target('io.saveNpz', path), tensors, options, false))
}

/** As {@link saveNpz}, blocking. */
export function saveNpzSync(path: FilePath, tensors: Readonly<Record<string, Tensor>>, options?: SaveNpzOptions): void {
  write(npzWriting('io.saveNpzSync', target('io.saveNpzSync', path), tensors, options, true))
}

/** The bytes that {@link saveNpz} would write. */
export async function encodeNpz(tensors: Readonly<Record<string, Tensor>>, options?: NpzOptions): Promise<Uint8Array> {
  return writeAsync(npzWriting('io.encodeNpz', IN_MEMORY, tensors, options, false))
}

/** As {@link encodeNpz}, blocking. */
export function encodeNpzSync(tensors: Readonly<Record<string, Tensor>>, options?: NpzOptions): Uint8Array {
  return write(npzWriting('io.encodeNpzSync', IN_MEMORY, tensors, options, true))
}

/** What a safetensors file says of one tensor. */
export interface TensorInfo {
  /** Its name. */
  readonly name: string
  /** Its dtype; null for one that tensors do not have (`F8_E4M3`, ...), which cannot be loaded. */
  readonly dtype: DType | null
  /** The format's own name of its dtype. */
  readonly code: string
  /** Axis sizes. */
  readonly shape: readonly number[]
  /** How many bytes its elements take. */
  readonly bytes: number
}

/** Closes the files of objects that were dropped without `close()`, in a turn of the event loop, where no collection of ours did so before. */
const dropped = new FinalizationRegistry<number>((source) => native.closeSource(source))

/** Texts by key, without a prototype. */
function texts(pairs: Opened['metadata']): Record<string, string> {
  const found = Object.create(null) as Record<string, string>
  for (const [key, text] of pairs) found[key] = text
  return found
}

/** An open safetensors file: its tensors are described, and loaded one by one. `openSafetensors` makes them. */
class OpenSafetensors {
  /** The tensors' names, in the order of their data. */
  readonly names: readonly string[]
  /** The texts beside the tensors. */
  readonly metadata: Readonly<Record<string, string>>
  readonly #entries: Opened['entries']
  readonly #places: ReadonlyMap<string, number>
  /** What the registry watches: minor collections spare what it knows, and are to find this. */
  readonly #dropped = {}
  #source: Opened | null

  /** @internal */
  constructor(source: Opened) {
    this.#source = source
    dropped.register(this.#dropped, source.id, this.#dropped)
    relieveSoftly(native.holdSource(source.id, this))
    this.#entries = source.entries
    this.names = Object.freeze(source.entries.map(({ name }) => name))
    this.#places = new Map(this.names.map((name, at) => [name, at]))
    this.metadata = Object.freeze(texts(source.metadata))
  }

  /**
   * What the file says of a tensor, without reading it.
   *
   * @throws {TensorError} `ERR_ARGUMENT` for a name that is not there.
   */
  info(name: string): TensorInfo {
    const { dtype, code, shape, bytes } = this.#entries[this.#place('io.info', name)] as Opened['entries'][number]
    return { name, dtype: DTYPES[dtype]?.name ?? null, code, shape: [...shape], bytes }
  }

  /**
   * Loads one tensor.
   *
   * @throws {TensorError} `ERR_ARGUMENT` for a name that is not there, `ERR_UNSUPPORTED` for a dtype that tensors do not have,
   * `ERR_DISPOSED` after `close()`, `ERR_FORMAT` where the file was changed since, `ERR_OUT_OF_MEMORY`.
   */
  async load(name: string, options?: { readonly device?: Device | undefined }): Promise<Tensor> {
    return loadAsync(...this.#arguments('io.load', name, options))
  }

  /** As `load`, blocking. */
  loadSync(name: string, options?: { readonly device?: Device | undefined }): Tensor {
    return load(...this.#arguments('io.loadSync', name, options))
  }

  /** Closes the file. Tensors that were loaded stay; `names`, `metadata` and `info` too. */
  close(): void {
    if (this.#source === null) return
    native.closeSource(this.#source.id)
    this.#source = null
    dropped.unregister(this.#dropped)
  }

  /** `using file = ...` closes at the end of the block. */
  [Symbol.dispose](): void {
    this.close()
  }

  #place(op: string, name: unknown): number {
    const found = this.#places.get(name as string)
    if (found === undefined) throw new ArgumentError(`${op}: there is no tensor ${shown(name)}; there are ${listed(this.names)}`)
    return found
  }

  #arguments(op: string, name: unknown, options: unknown): [op: string, source: Opened, at: number, device: number] {
    const device = deviceNumber(op, checkOptions(op, options, ['device'])['device'])
    const at = this.#place(op, name)
    if (this.#source === null) throw new DisposedError(`${op}: the file was closed`)
    return [op, this.#source, at, device]
  }
}

/** An open safetensors file, from `openSafetensors`. */
export type SafetensorsFile = OpenSafetensors

/** Options of `openSafetensors`. */
export interface OpenOptions {
  /** As in {@link LoadOptions}. The file stays mapped until `close()`. */
  readonly mapped?: boolean | undefined
  /** As in {@link LoadOptions}. What was loaded keeps the file mapped beyond `close()`. */
  readonly lend?: boolean | undefined
}

const safetensors = (op: string, source: unknown, options: unknown, names: readonly string[]): Loading =>
  loading(op, 'safetensors', source, checkOptions(op, options, names))

/**
 * Opens a safetensors file: names, shapes, dtypes and metadata are read, tensors when `load` asks for them.
 *
 * @throws {TensorError} `ERR_FILE` from the system, `ERR_FORMAT` for a file that is not safetensors, or is cut off.
 */
export async function openSafetensors(source: FileSource, options?: OpenOptions): Promise<SafetensorsFile> {
  const what = safetensors('io.openSafetensors', source, options, ['mapped', 'lend'])
  return new OpenSafetensors(await openAsync(what))
}

/**
 * As {@link openSafetensors}, blocking.
 *
 * @example
 * ```ts
 * ft.io.openSafetensorsSync(ft.io.encodeSafetensorsSync({ w: ft.ones([2, 3]) })).info('w').shape // [2, 3]
 * ```
 */
export function openSafetensorsSync(source: FileSource, options?: OpenOptions): SafetensorsFile {
  const what = safetensors('io.openSafetensorsSync', source, options, ['mapped', 'lend'])
  return new OpenSafetensors(open(what))
}

/**
 * Loads the tensors of a safetensors file, by name, in an object without prototype.
 *
 * @throws {TensorError} as {@link openSafetensors}; `ERR_UNSUPPORTED` for a tensor of a dtype that tensors do not have, by name;
 * `ERR_ARGUMENT` for a name in `names` that is not there; `ERR_OUT_OF_MEMORY`.
 */
export async function loadSafetensors(source: FileSource, options?: LoadNamedOptions): Promise<Record<string, Tensor>> {
  return loadAllAsync(safetensors('io.loadSafetensors', source, options, LOAD_NAMED))
}

/**
 * As {@link loadSafetensors}, blocking.
 *
 * @example
 * ```ts
 * ft.io.loadSafetensorsSync(ft.io.encodeSafetensorsSync({ w: ft.tensor([1, 2], { dtype: 'bfloat16' }) })).w // [1, 2]
 * ```
 */
export function loadSafetensorsSync(source: FileSource, options?: LoadNamedOptions): Record<string, Tensor> {
  return loadAll(safetensors('io.loadSafetensorsSync', source, options, LOAD_NAMED))
}

function safetensorsWriting(op: string, path: string, tensors: unknown, options: unknown, wait: boolean): Writing {
  const { metadata, sync } = saving(op, path, options, ['metadata'])
  return writing(op, 'safetensors', path, named(op, tensors), { metadata: metadataOption(op, metadata), sync }, wait)
}

/**
 * Writes tensors as a safetensors file; the file is replaced as by {@link saveNpy}.
 *
 * @param tensors The tensors by name.
 * @throws {TensorError} `ERR_DTYPE` for complex128, which the format does not have; `ERR_ARGUMENT` for the name `__metadata__`;
 * `ERR_FILE` from the system; a tensor's own failure.
 */
export async function saveSafetensors(path: FilePath, tensors: Readonly<Record<string, Tensor>>, options?: SaveSafetensorsOptions): Promise<void> {
  const op = 'io.saveSafetensors'
  await writeAsync(safetensorsWriting(op, target(op, path), tensors, options, false))
}

/** As {@link saveSafetensors}, blocking. */
export function saveSafetensorsSync(path: FilePath, tensors: Readonly<Record<string, Tensor>>, options?: SaveSafetensorsOptions): void {
  const op = 'io.saveSafetensorsSync'
  write(safetensorsWriting(op, target(op, path), tensors, options, true))
}

/** The bytes that {@link saveSafetensors} would write. */
export async function encodeSafetensors(tensors: Readonly<Record<string, Tensor>>, options?: SafetensorsOptions): Promise<Uint8Array> {
  return writeAsync(safetensorsWriting('io.encodeSafetensors', IN_MEMORY, tensors, options, false))
}

/** As {@link encodeSafetensors}, blocking. */
export function encodeSafetensorsSync(tensors: Readonly<Record<string, Tensor>>, options?: SafetensorsOptions): Uint8Array {
  return write(safetensorsWriting('io.encodeSafetensorsSync', IN_MEMORY, tensors, options, true))
}

function table(op: string, source: unknown, options: unknown): Loading {
  const o = checkOptions(op, options, LOAD_TEXT)
  return loading(op, 'text', source, o, tableOptions(op, o, DTYPE[dtypeOption(op, o['dtype'], 'float32')], o['dtype'] === undefined))
}

/**
 * Reads a table of numbers, one row a line (CSV, and what `numpy.savetxt` writes): always a tensor of two axes, rows and columns.
 * Empty lines are skipped; numbers may stand in double quotes, floats may be `inf` and `nan`, booleans `0`, `1`, `true`, `false`. Where no
 * dtype is named an integer that float32 does not hold exactly is refused, as by `ft.tensor`.
 *
 * @throws {TensorError} `ERR_FORMAT`, with line and column, where a row has another number of fields than the first, or a field is
 * no number that the dtype holds; `ERR_DTYPE` for complex dtypes, and a `fillingValue` that the dtype does not hold; `ERR_ARGUMENT` for a name
 * in `columns` that is not there, `ERR_INDEX` for such a place; `ERR_FILE` from the system; `ERR_OUT_OF_MEMORY`.
 */
export async function loadText<E extends DType = 'float32'>(source: FileSource, options?: LoadTextOptions<E>): Promise<Tensor<NoInfer<E>>> {
  return only(await loadAllAsync(table('io.loadText', source, options))) as Tensor<E>
}

/**
 * As {@link loadText}, blocking.
 *
 * @example
 * ```ts
 * ft.io.loadTextSync(new TextEncoder().encode('x;y\n1;2\n3;4'), { delimiter: ';', header: true }) // [[1, 2], [3, 4]]
 * ft.io.loadTextSync(new TextEncoder().encode('1   2 # note\n3   4'), { delimiter: null }) // [[1, 2], [3, 4]]
 * ft.io.loadTextSync(new TextEncoder().encode('1,\n3,4'), { fillingValue: -1 }) // [[1, -1], [3, 4]]
 * ft.io.loadTextSync(new TextEncoder().encode('name,x,y\nann,1,2'), { header: true, columns: ['y', 'x'] }) // [[2, 1]]
 * ```
 */
export function loadTextSync<E extends DType = 'float32'>(source: FileSource, options?: LoadTextOptions<E>): Tensor<NoInfer<E>> {
  return only(loadAll(table('io.loadTextSync', source, options))) as Tensor<E>
}

function textWriting(op: string, path: string, x: unknown, options: unknown, wait: boolean): Writing {
  const o = saving(op, path, options, ['delimiter', 'header'])
  return writing(op, 'text', path, [['', single(op, 'x', x)]], { ...tableLayout(op, o), sync: o.sync }, wait)
}

/**
 * Writes a table of numbers, one row a line; a tensor of one axis has one number in each line. Each number is the shortest text
 * that reads back as itself; booleans are `0` and `1`. The file is replaced as by {@link saveNpy}.
 *
 * @throws {TensorError} `ERR_SHAPE` for more than two axes, `ERR_DTYPE` for complex numbers, `ERR_ARGUMENT` for a header of another
 * number of names than there are columns, `ERR_FILE` from the system; the tensor's own failure.
 */
export async function saveText(path: FilePath, x: Tensor, options?: SaveTextOptions): Promise<void> {
  await writeAsync(textWriting('io.saveText', target('io.saveText', path), x, options, false))
}

/** As {@link saveText}, blocking. */
export function saveTextSync(path: FilePath, x: Tensor, options?: SaveTextOptions): void {
  write(textWriting('io.saveTextSync', target('io.saveTextSync', path), x, options, true))
}

/** The bytes that {@link saveText} would write. */
export async function encodeText(x: Tensor, options?: TextOptions): Promise<Uint8Array> {
  return writeAsync(textWriting('io.encodeText', IN_MEMORY, x, options, false))
}

/**
 * As {@link encodeText}, blocking.
 *
 * @example
 * ```ts
 * new TextDecoder().decode(ft.io.encodeTextSync(ft.tensor([[1, 0.5]]), { header: ['a', 'b'] })).split('\n') // ['a,b', '1.0,0.5', '']
 * ```
 */
export function encodeTextSync(x: Tensor, options?: TextOptions): Uint8Array {
  return write(textWriting('io.encodeTextSync', IN_MEMORY, x, options, true))
}

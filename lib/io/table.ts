// `ft.io.loadTable`: tables of text whose columns have dtypes of their own, or are text. Rust walks the file once and infers what is not said; here
// columns of numbers become tensors, and those of text arrays of strings.

import { getHeapStatistics } from 'node:v8'
import { checkOptions } from '../arguments/options.js'
import { dtypeOption } from '../arguments/validate.js'
import { ArgumentError, DTypeError, OutOfMemoryError } from '../errors.js'
import { shown } from '../errors/describe-value.js'
import { DTYPE, type DType } from '../generated/dtypes.js'
import { native } from '../native.js'
import type { Tensor } from '../tensor/tensor.js'
import { allocated } from '../values/read.js'
import type { FileSource, LoadOptions, LoadTextOptions } from './io.js'
import { chosen, layoutOptions, load, loadAsync, loading, open, openAsync, textOf, type Entry, type Loading } from './transfer.js'

/** What the fields of a column become: numbers of a dtype, or text. */
export type ColumnType = DType | 'string'

/** A column as it is loaded: a tensor of one axis, or strings. */
export type TableColumn<T extends ColumnType = ColumnType> =
  | (T extends 'string' ? string[] : never)
  | ([Exclude<T, 'string'>] extends [never] ? never : Tensor<Exclude<T, 'string'>>)

/** What `dtype` of `loadTable` may be: one type for all columns, or types by the names of columns. */
export type TableTypes = ColumnType | { readonly [name: string]: ColumnType }

/** The columns of a table by name, as `dtype` says; a column that it does not name may be either. */
export type Table<T = undefined> = [T] extends [ColumnType]
  ? Record<string, TableColumn<T>>
  : [T] extends [{ readonly [name: string]: ColumnType }]
    ? { [Name in keyof T]: TableColumn<T[Name]> } & Record<string, TableColumn>
    : Record<string, TableColumn>

/** Options of `loadTable`. */
export interface LoadTableOptions<T extends TableTypes | undefined = TableTypes | undefined>
  extends Pick<LoadOptions, 'device' | 'mapped' | 'maxBytes'>,
    Pick<LoadTextOptions, 'skipRows'> {
  /**
   * What the fields become: one dtype or `'string'` for all columns, or each by the name of its column. Columns without one are inferred:
   * float32 where all fields are numbers, a wider dtype where float32 would lose digits of an integer, and text otherwise.
   */
  readonly dtype?: T
  /**
   * One ASCII character between fields; a comma by default. null is any number of spaces and tabs.
   */
  readonly delimiter?: string | null | undefined
  /** What follows this character in a line is skipped, outside of quotes; none by default. */
  readonly comments?: string | null | undefined
  /** Whether the first row has the names of the columns; true by default. Without one the names are `'0'`, `'1'`, ... */
  readonly header?: boolean | undefined
  /**
   * The columns to read, in this order, as `usecols` of `pandas.read_csv`: names, or places, counted from 0 and from the end where they are
   * negative. What the other columns hold does not matter. All columns by default.
   */
  readonly columns?: readonly string[] | readonly number[] | undefined
  /** What stands for missing numbers; NaN by default, which integer dtypes do not hold. */
  readonly fillingValue?: number | bigint | boolean | undefined
  /** Texts that are taken for missing numbers, such as `NA`, beside fields that are empty. In columns of text they stay as they are. */
  readonly missingValues?: readonly string[] | undefined
}

const LOAD_TABLE = ['device', 'mapped', 'maxBytes', 'dtype', 'delimiter', 'comments', 'skipRows', 'header', 'columns', 'fillingValue', 'missingValues']

/** The numbers that native code takes for columns that are inferred, and for text; those of dtypes are not negative. */
const INFERRED = -1
const TEXT = -2

/** The code of columns of text, as native code writes it. */
const STRING = 'string'

/** What NumPy, pandas and SQL call it. */
const TEXTS: readonly unknown[] = ['str', 'text', 'object', 'category', 'varchar']

function typeOf(op: string, value: unknown): number {
  if (TEXTS.includes(value)) throw new DTypeError(`${op}: ${shown(value)} is not a dtype; text is '${STRING}'`)
  return value === STRING ? TEXT : DTYPE[dtypeOption(op, value, 'float32')].code
}

/** `dtype`, checked: one for all columns, or some by name. */
function typesOption(op: string, value: unknown): object {
  if (value === undefined) return { kind: INFERRED, typed: [], kinds: new Float64Array() }
  if (typeof value === 'string') return { kind: typeOf(op, value), typed: [], kinds: new Float64Array() }
  if (typeof value !== 'object' || value === null || Symbol.iterator in value) {
    throw new ArgumentError(`${op}: 'dtype' must be a dtype, 'string', or an object of them by the names of columns, got ${shown(value)}`)
  }
  const types = Object.entries(value).filter(([, type]) => type !== undefined)
  return { kind: INFERRED, typed: types.map(([name]) => textOf(op, 'dtype', name)), kinds: Float64Array.from(types, ([, type]) => typeOf(op, type)) }
}

function table(op: string, source: unknown, options: unknown): Loading {
  const o = checkOptions(op, options, LOAD_TABLE)
  return loading(op, 'table', source, o, { ...layoutOptions(op, o, { comments: '', header: true }), ...typesOption(op, o['dtype']) })
}

/** Bytes and fields of text that become strings at a time: strings of V8 that are parts of one keep all of it alive. */
const PART_BYTES = 1 << 16
const PART_FIELDS = 1 << 13

/** Parts of a column of text between which another turn of the event loop may come: some milliseconds. */
const PARTS_PER_TURN = 32

/** The strings of a column, which are added part by part: it yields after each. */
function* parts(op: string, source: number, entry: number, count: number, strings: string[]): Generator<void, void> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const ends = new Uint32Array(2 + Math.min(PART_FIELDS, count))
  let bytes = new Uint8Array(PART_BYTES)
  for (let start = 0; strings.length < count; ) {
    native.texts(source, entry, strings.length, start, bytes, ends)
    const [fields, taken] = [ends[0] as number, ends[1] as number]
    if (fields === 0) {
      bytes = allocated(op, taken, () => new Uint8Array(taken))
      continue
    }
    const whole = allocated(op, taken, () => decoder.decode(bytes.subarray(0, taken)))
    for (let i = 0, at = 0; i < fields; i++) {
      const end = ends[2 + i] as number
      strings.push(whole.slice(at, end))
      at = end
    }
    start += taken
    yield
  }
}

/** Columns that are loaded one after the other. */
class Columns {
  /** Without a prototype, so that no name means anything else. */
  readonly byName = Object.create(null) as Record<string, TableColumn>
  readonly #tensors: Tensor[] = []

  addTensor(entry: Entry, x: Tensor): void {
    this.#tensors.push(x)
    this.byName[entry.name] = x
  }

  /** Frees what was loaded before another column failed. */
  dispose(): void {
    for (const x of this.#tensors) x.dispose()
  }
}

/** What a string takes in V8's heap beside its letters: a header and padding, and its place in an array. */
const STRING_BYTES = 32

/** The share of the heap that strings may fill: where it is full V8 ends the process. */
const HEAP_SHARE = 0.75

const isText = (entry: Entry): boolean => entry.code === STRING
const rowsOf = (entry: Entry): number => entry.shape[0] as number

/** The columns to load, checked for their size before they become tensors and strings. */
function wanted(what: Loading, entries: readonly Entry[]): readonly number[] {
  const bytes = entries.reduce((sum, entry) => sum + (isText(entry) ? entry.bytes + STRING_BYTES * rowsOf(entry) : 0), 0)
  const most = getHeapStatistics().heap_size_limit * HEAP_SHARE
  if (bytes > most) {
    const hint = "'columns' selects some, and node --max-old-space-size=MEGABYTES gives it more"
    throw new OutOfMemoryError(`${what.op}: the text takes about ${bytes} bytes of JavaScript's heap, which may fill ${Math.floor(most)}; ${hint}`)
  }
  return chosen(what, entries)
}

/**
 * Reads a table with a header (CSV as RFC 4180 describes it): an object without prototype from the name of each column to a tensor of one axis, or to
 * an array of strings. Quoted fields may hold delimiters, line ends and doubled quotes. Columns whose `dtype` is not named are inferred: float32
 * where all fields are numbers and no digit of an integer is lost, then the first of int32, int64 (integers without missing ones) and float64, and
 * text where a field is no number. Missing numbers are NaN, or `fillingValue`. Names that repeat get `.1`, `.2`, ..., and a column without a name
 * is `Unnamed: 2`, counted from 0, as in pandas. As in every object of JavaScript, names that are integers come before the others as keys.
 *
 * @throws {TensorError} `ERR_FORMAT`, with line and column, where a row has another number of fields than the header, a field is none that its dtype
 * holds, or is not UTF-8, and where there is no header; `ERR_ARGUMENT` for a name in `columns` or `dtype` that is not there, `ERR_INDEX` for
 * such a place; `ERR_DTYPE` for complex dtypes, and where the dtype of a missing number does not hold `fillingValue`; `ERR_FILE` from the system;
 * `ERR_OUT_OF_MEMORY`.
 */
export async function loadTable<const T extends TableTypes | undefined = undefined>(source: FileSource, options?: LoadTableOptions<T>): Promise<Table<T>> {
  const what = table('io.loadTable', source, options)
  const opened = await openAsync(what)
  const columns = new Columns()
  try {
    for (const at of wanted(what, opened.entries)) {
      const entry = opened.entries[at] as Entry
      if (isText(entry)) {
        const strings: string[] = []
        let done = 0
        for (const _ of parts(what.op, opened.id, at, rowsOf(entry), strings)) {
          if (++done % PARTS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve))
        }
        columns.byName[entry.name] = strings
      } else {
        columns.addTensor(entry, await loadAsync(what.op, opened, at, what.device))
      }
    }
  } catch (error) {
    columns.dispose()
    throw error
  } finally {
    native.closeSource(opened.id)
  }
  return columns.byName as Table<T>
}

/**
 * As {@link loadTable}, blocking.
 *
 * @example
 * ```ts
 * ft.io.loadTableSync(new TextEncoder().encode('city,area\n"Paris, FR",105\nRome,')).city // ['Paris, FR', 'Rome']
 * ft.io.loadTableSync(new TextEncoder().encode('city,area\n"Paris, FR",105\nRome,')).area // [105, NaN]
 * ft.io.loadTableSync(new TextEncoder().encode('1;x;2\n3;y;4'), { header: false, delimiter: ';', columns: [-1], dtype: 'int32' })['2'] // [2, 4]
 * ```
 */
export function loadTableSync<const T extends TableTypes | undefined = undefined>(source: FileSource, options?: LoadTableOptions<T>): Table<T> {
  const what = table('io.loadTableSync', source, options)
  const opened = open(what)
  const columns = new Columns()
  try {
    for (const at of wanted(what, opened.entries)) {
      const entry = opened.entries[at] as Entry
      if (isText(entry)) {
        const strings: string[] = []
        for (const _ of parts(what.op, opened.id, at, rowsOf(entry), strings));
        columns.byName[entry.name] = strings
      } else {
        columns.addTensor(entry, load(what.op, opened, at, what.device))
      }
    }
  } catch (error) {
    columns.dispose()
    throw error
  } finally {
    native.closeSource(opened.id)
  }
  return columns.byName as Table<T>
}

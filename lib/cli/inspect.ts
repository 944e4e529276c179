// `ferrotensor inspect`: the arrays of a file and its metadata, and with `--stats` what is in the elements.

import { DTYPE, DTYPES } from '../generated/dtypes.js'
import type { Entry } from '../io/transfer.js'
import type { Tensor } from '../tensor/tensor.js'
import { columns } from '../text/table.js'
import { digits, metric } from '../text/units.js'
import { evaluate } from '../values/read.js'
import { withBar } from './bar.js'
import { EXIT, type Run } from './commands.js'
import { tableReading, withFile, type OpenFile } from './formats.js'
import { print, printJson, shortened, summary } from './output.js'

/** What is in the elements of an array, those that are NaN left out; null where there is no such number, as of complex ones. */
interface Statistics {
  readonly min: number | bigint | null
  readonly max: number | bigint | null
  readonly mean: number | null
  readonly nan: number
}

/** What is known of an array. */
interface Row {
  /** Null where the format has no names. */
  readonly name: string | null
  /** Null where tensors have no such dtype, and for numbers of text that were not read. */
  readonly dtype: string | null
  /** The format's own name of it. */
  readonly code: string
  readonly shape: readonly number[]
  /** Of the elements; null for text that was not read. */
  readonly bytes: number | null
  readonly compressed: boolean
  readonly stats?: Statistics
}

/** Of a text of metadata, which may be a whole document; all of it is in JSON. */
const MOST_CHARACTERS = 100

/** The numbers that describe an array, computed in one pass; a mean is one in float64. */
async function statisticsOf(x: Tensor): Promise<Statistics> {
  const nan = x.isnan().sum({ dtype: 'int64' })
  if (x.dtype.startsWith('complex') || x.size === 0) return { min: null, max: null, mean: null, nan: Number(await nan.item()) }
  const [min, max, mean] = [x.nanmin(), x.nanmax(), x.astype('float64').nanmean()]
  await evaluate(min, max, mean, nan)
  const number = (value: unknown): number | bigint => (typeof value === 'bigint' ? value : Number(value))
  return { min: number(await min.item()), max: number(await max.item()), mean: Number(await mean.item()), nan: Number(await nan.item()) }
}

function described({ ending }: OpenFile, { name, dtype, code, shape, bytes, packed }: Entry): Row {
  // The dtype of a table is known once its numbers are read.
  const text = ending.format === 'text'
  const known = text ? { dtype: null, code: 'text', bytes: null } : { dtype: DTYPES[dtype]?.name ?? null, code, bytes }
  return { name: ending.named ? name : null, ...known, shape, compressed: packed }
}

/** An array with what is in its elements; of a dtype that tensors do not have nothing is known. */
async function withStatistics(file: OpenFile, entry: Entry): Promise<Row> {
  const row = described(file, entry)
  if (DTYPES[entry.dtype] === undefined) return row
  const x = await file.load(entry)
  const stats = await statisticsOf(x)
  const read = { ...row, dtype: x.dtype, bytes: x.size * DTYPE[x.dtype].bytes, stats }
  x.dispose()
  return read
}

function rowsOf(file: OpenFile, stats: boolean): Promise<Row[]> {
  if (!stats) return Promise.resolve(file.entries.map((entry) => described(file, entry)))
  return withBar(async (show) => {
    const rows: Row[] = []
    const total = file.entries.reduce((sum, { bytes }) => sum + bytes, 0)
    let done = 0
    for (const entry of file.entries) {
      show({ done, total, label: entry.name })
      rows.push(await withStatistics(file, entry))
      done += entry.bytes
    }
    return rows
  })
}

/** A number of an array, of any size. */
function shownNumber(value: number | bigint | null): string {
  if (value === null) return '-'
  if (typeof value === 'bigint' || Number.isSafeInteger(value) || !Number.isFinite(value)) return String(value)
  return Math.abs(value) >= 1e6 || Math.abs(value) < 1e-3 ? value.toExponential(3) : digits(value)
}

function cells({ name, dtype, code, shape, bytes, stats }: Row, withStats: boolean): string[] {
  const numbers = stats === undefined ? ['-', '-', '-', '-'] : [stats.min, stats.max, stats.mean, stats.nan].map(shownNumber)
  const size = bytes === null ? '-' : metric(bytes, 'B')
  const described = [...(name === null ? [] : [name]), dtype ?? code, `[${shape.join(', ')}]`, size, ...(withStats ? numbers : [])]
  return described.map((cell) => shortened(cell))
}

/** Runs the command. */
export const run: Run = async (given) => {
  const [path] = given.operands as [string]
  const withStats = given.flag('stats')
  return withFile('inspect', path, tableReading('inspect', path, given), async (file) => {
    const rows = await rowsOf(file, withStats)
    const { ending: { format, named }, metadata } = file
    if (given.flag('json')) {
      printJson({ file: path, format, arrays: rows, metadata: Object.fromEntries(metadata) })
      return EXIT.success
    }
    const headings = [...(named ? ['name'] : []), 'dtype', 'shape', 'bytes', ...(withStats ? ['min', 'max', 'mean', 'NaN'] : [])]
    const sides = `${named ? 'l' : ''}llr${withStats ? 'rrrr' : ''}`
    print([
      summary(path, format, rows.map(({ bytes }) => bytes)),
      ...(rows.length > 0 ? ['', ...columns(sides, [headings, ...rows.map((row) => cells(row, withStats))])] : []),
      ...(metadata.length > 0 ? ['', 'metadata:', ...metadata.map(([key, text]) => `  ${shortened(key)}: ${shortened(text, MOST_CHARACTERS)}`)] : [])
    ])
    return EXIT.success
  })
}

// The formats by the endings of file names, and files opened in them: arrays are described at once, and loaded one by one.

import { basename, extname } from 'node:path'
import { dtypeOption } from '../arguments/validate.js'
import { deviceNumber } from '../devices/devices.js'
import { FormatError } from '../errors.js'
import { didYouMean, meantOrAll } from '../errors/did-you-mean.js'
import { DTYPE, type DType } from '../generated/dtypes.js'
import { loadAsync, loading, openAsync, tableOptions, type Entry, type Format, type Opened } from '../io/transfer.js'
import { native } from '../native.js'
import type { Tensor } from '../tensor/tensor.js'
import { UsageError, type Arguments } from './arguments.js'
import { quoted } from './output.js'

/** A format as the ending of a file's name says it. */
export interface Ending {
  readonly ending: string
  readonly format: Format
  /** Whether arrays have names, so that there may be several. */
  readonly named: boolean
  /** Between the numbers of a table. */
  readonly delimiter?: string
  /** Where any number of blanks is one delimiter to a reader. */
  readonly blanks?: true
}

export const ENDINGS: readonly Ending[] = [
  { ending: '.npy', format: 'npy', named: false },
  { ending: '.npz', format: 'npz', named: true },
  { ending: '.safetensors', format: 'safetensors', named: true },
  { ending: '.csv', format: 'text', named: false, delimiter: ',' },
  { ending: '.tsv', format: 'text', named: false, delimiter: '\t' },
  // As numpy.savetxt writes, and numpy.loadtxt reads, unless told.
  { ending: '.txt', format: 'text', named: false, delimiter: ' ', blanks: true }
]

/** What the numbers of a table become: the first that holds all of them. */
const NUMBERS: readonly DType[] = ['int64', 'uint64', 'float64']

/** The format of a file, by its name. */
export function endingOf(op: string, path: string): Ending {
  const ending = extname(path).toLowerCase()
  const found = ENDINGS.find((row) => row.ending === ending)
  if (found !== undefined) return found
  const endings = ENDINGS.map((row) => row.ending)
  const hint = ending === '' ? '' : didYouMean(ending, endings)
  throw new UsageError(`${op}: the name ${quoted(basename(path))} ends in none of ${endings.join(', ')}${hint}`)
}

/** How tables are to be read. */
export interface TableReading {
  readonly header: boolean
  readonly dtype: string | undefined
}

/**
 * The options that tables are read with.
 *
 * @throws {UsageError} where they are given for a file of another format, and for an argument that is not a dtype.
 */
export function tableReading(op: string, path: string, { flag, text }: Arguments): TableReading {
  const { ending, format } = endingOf(op, path)
  const given = ['header', 'dtype'].find((name) => flag(name))
  if (given !== undefined && format !== 'text') throw new UsageError(`${op}: --${given} is for tables of text, not for ${ending}`)
  const dtype = text('dtype')
  if (dtype !== undefined && !Object.hasOwn(DTYPE, dtype)) {
    throw new UsageError(`${op}: ${quoted(dtype)} is no dtype${meantOrAll(dtype, Object.keys(DTYPE))}`)
  }
  return { header: flag('header'), dtype }
}

/** An open file. */
export interface OpenFile {
  readonly ending: Ending
  readonly entries: readonly Entry[]
  readonly metadata: Opened['metadata']
  /** Loads an array onto the CPU. */
  readonly load: (entry: Entry) => Promise<Tensor>
}

/** Opens a file; the numbers of a table are read as a dtype, exactly where the caller named none. */
async function opened(op: string, path: string, { format, delimiter, blanks }: Ending, reading: TableReading, dtype = reading.dtype): Promise<Opened> {
  const layout = { delimiter: blanks ? null : delimiter, header: reading.header }
  const row = DTYPE[dtypeOption(op, dtype, 'float64')]
  const table = format === 'text' ? tableOptions(op, layout, row, reading.dtype === undefined) : {}
  return openAsync(loading(op, format, path, { device: 'cpu' }, table))
}

async function loaded(op: string, source: Opened, entry: Entry): Promise<Tensor> {
  return loadAsync(op, source, source.entries.indexOf(entry), deviceNumber(op, 'cpu'))
}

/** The numbers of a table, in the dtype that was asked for or the first that holds them. */
async function numbersOf(op: string, path: string, ending: Ending, reading: TableReading): Promise<Tensor> {
  const dtypes = reading.dtype === undefined ? NUMBERS : [reading.dtype]
  let refusal = ''
  for (const dtype of dtypes) {
    try {
      return await withSource(opened(op, path, ending, reading, dtype), (source) => loaded(op, source, source.entries[0] as Entry))
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      refusal = error.message
    }
  }
  const names = !reading.header && / line 1, /.test(refusal)
  throw new FormatError(names ? `${refusal}; --header skips a first row of names` : refusal)
}

/** Uses an opened source, and closes it. */
async function withSource<T>(opening: Promise<Opened>, use: (source: Opened) => Promise<T>): Promise<T> {
  const source = await opening
  try {
    return await use(source)
  } finally {
    native.closeSource(source.id)
  }
}

/**
 * Opens a file, has it used, and closes it.
 *
 * @throws {UsageError} for a name without a known ending.
 * @throws {TensorError} `ERR_FILE`, `ERR_FORMAT`.
 */
export function withFile<T>(op: string, path: string, reading: TableReading, use: (file: OpenFile) => Promise<T>): Promise<T> {
  const ending = endingOf(op, path)
  return withSource(opened(op, path, ending, reading), (source) => {
    const load = (entry: Entry): Promise<Tensor> => (ending.format === 'text' ? numbersOf(op, path, ending, reading) : loaded(op, source, entry))
    return use({ ending, entries: source.entries, metadata: source.metadata, load })
  })
}

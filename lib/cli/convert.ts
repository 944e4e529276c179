// `ferrotensor convert`: the arrays of a file in another format, bit for bit, or not at all.

import { basename, extname } from 'node:path'
import { DTypeError, FormatError, ShapeError, UnsupportedError } from '../errors.js'
import { didYouMean } from '../errors/did-you-mean.js'
import { DTYPES, type DType } from '../generated/dtypes.js'
import { empty } from '../generated/functions.js'
import { IN_MEMORY, listed, tableLayout, write, writeAsync, writing, type Entry } from '../io/transfer.js'
import type { Tensor } from '../tensor/tensor.js'
import { UsageError, type Arguments } from './arguments.js'
import { withBar } from './bar.js'
import { EXIT, type Run } from './commands.js'
import { endingOf, ENDINGS, tableReading, withFile, type Ending, type OpenFile } from './formats.js'
import { print, printable, quoted, report, shortened, summary } from './output.js'
import { checkNew, writeWhole } from './whole-file.js'

const OP = 'convert'

/** The options of a format as native code reads them. */
function detailsOf({ format, delimiter }: Ending, metadata: OpenFile['metadata'], compressed: boolean): object {
  if (format === 'npz') return { compressed }
  if (format === 'safetensors') return { metadata: metadata.flat() }
  return format === 'text' ? tableLayout(OP, { delimiter }) : {}
}

/** Whether a format holds arrays of this dtype and rank: it is asked to write one without elements. */
function holds(target: Ending, name: string, dtype: DType, rank: number): boolean {
  try {
    const none = empty(Array.from({ length: rank }, () => 0), { dtype, device: 'cpu' })
    write(writing(OP, target.format, IN_MEMORY, [[target.named ? name : '', none]], detailsOf(target, [], false), true))
    return true
  } catch (error) {
    if (error instanceof DTypeError || error instanceof ShapeError) return false
    throw error
  }
}

/** Refuses an array that the target cannot hold, before anything is read. */
function checkHeld(target: Ending, name: string, { dtype, code, shape, refusal }: Entry): void {
  if (refusal !== null) throw new FormatError(`${OP}: ${refusal}`)
  const row = DTYPES[dtype]
  const what = `${name === '' ? 'an array' : quoted(name)}, ${row?.name ?? code} [${shape.join(', ')}]`
  if (row === undefined) throw new UnsupportedError(`${OP}: ${what}: tensors have no such dtype`)
  if (holds(target, name, row.name, shape.length)) return
  const others = ENDINGS.filter((other) => holds(other, name, row.name, shape.length)).map(({ ending }) => ending)
  throw new DTypeError(`${OP}: ${target.ending} cannot hold ${what}; ${others.join(', ')} can`)
}

/** The arrays to convert and their names in the target; checked, so that nothing is read in vain. */
function chosen({ ending, entries }: OpenFile, target: Ending, from: string, wanted: string | undefined): [string, Entry][] {
  const names = entries.map(({ name }) => name)
  if (!ending.named) {
    if (wanted !== undefined && !target.named) {
      throw new UsageError(`${OP}: --name is for arrays with names, which neither ${ending.ending} nor ${target.ending} has`)
    }
    if (entries.length > 1 && (wanted !== undefined || !target.named)) {
      const why = target.named ? '--name is for one' : `${target.ending} holds one`
      throw new UsageError(`${OP}: '${printable(from)}' has ${entries.length} arrays, and ${why}`)
    }
    const base = wanted ?? basename(from, extname(from))
    return entries.map((entry, i) => [i === 0 ? base : `${base}_${i}`, entry])
  }
  if (wanted !== undefined) {
    const found = entries.find(({ name }) => name === wanted)
    if (found !== undefined) return [[wanted, found]]
    const hint = didYouMean(wanted, names.map((name) => shortened(name))) || `; there are ${listed(names)}`
    throw new UsageError(`${OP}: there is no array ${quoted(wanted)} in '${printable(from)}'${hint}`)
  }
  if (!target.named && entries.length !== 1) {
    throw new UsageError(`${OP}: '${printable(from)}' has ${entries.length} arrays, and ${target.ending} holds one; choose with --name: ${listed(names)}`)
  }
  return entries.map((entry) => [entry.name, entry])
}

/** How the target is written. */
interface Manner {
  /** Replacing a file that exists. */
  readonly force: boolean
  readonly compressed: boolean
}

/** Loads the arrays and writes them; the file appears once it is complete. */
function transfer(file: OpenFile, arrays: readonly [string, Entry][], target: Ending, to: string, { force, compressed }: Manner): Promise<void> {
  return withBar(async (show) => {
    const bytes = arrays.reduce((sum, [, entry]) => sum + entry.bytes, 0)
    // Each byte is read and written; writing is one call.
    const total = 2 * bytes
    const tensors: [string, Tensor][] = []
    let done = 0
    for (const [name, entry] of arrays) {
      show({ done, total, label: `reading ${name}` })
      tensors.push([target.named ? name : '', await file.load(entry)])
      done += entry.bytes
    }
    show({ done, total, label: `writing ${basename(to)}` })
    await writeWhole(OP, to, force, async (path) => {
      await writeAsync(writing(OP, target.format, path, tensors, detailsOf(target, file.metadata, compressed), false))
    })
  })
}

function compressedFlag(given: Arguments, { ending, format }: Ending): boolean {
  if (given.flag('compressed') && format !== 'npz') throw new UsageError(`${OP}: --compressed is for .npz, not for ${ending}`)
  return given.flag('compressed')
}

/** Runs the command. */
export const run: Run = async (given) => {
  const [from, to] = given.operands as [string, string]
  const reading = tableReading(OP, from, given)
  const target = endingOf(OP, to)
  const compressed = compressedFlag(given, target)
  const force = given.flag('force')
  if (!force) checkNew(OP, to)
  return withFile(OP, from, reading, async (file) => {
    const arrays = chosen(file, target, from, given.text('name'))
    for (const [name, entry] of arrays) checkHeld(target, name, entry)
    await transfer(file, arrays, target, to, { force, compressed })
    if (file.metadata.length > 0 && target.format !== 'safetensors') {
      report(`note: ${target.ending} holds no metadata; left out: ${listed(file.metadata.map(([key]) => key))}`)
    }
    print([summary(to, target.format, arrays.map(([, { bytes }]) => bytes))])
    return EXIT.success
  })
}

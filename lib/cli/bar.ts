// A progress bar on standard error, drawn only where that is a terminal, and gone once the job is done.

import type { Progress } from '../arguments/job-options.js'
import { printable } from './output.js'

/** Characters of the bar alone. */
const LENGTH = 30
/** To the start of the line, and what stands there erased. */
const ERASE = '\r\x1b[2K'
/** A terminal that does not say how wide it is. */
const USUAL_WIDTH = 80

/** Where bars are drawn: standard error, or what plays it. */
export type Terminal = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>

/** Shows how far a job is until it ends, well or badly. */
export async function withBar<T>(job: (show: (progress: Progress) => void) => Promise<T>, terminal: Terminal = process.stderr): Promise<T> {
  if (!terminal.isTTY) return job(() => {})
  let drawn = ''
  try {
    return await job((progress) => {
      const line = lineOf(progress, terminal.columns || USUAL_WIDTH)
      if (line !== drawn) terminal.write(`${ERASE}${line}`)
      drawn = line
    })
  } finally {
    terminal.write(ERASE)
  }
}

/** A bar with its label, shorter than the terminal: a line that wraps is never erased. */
function lineOf({ done, total, label }: Progress, width: number): string {
  const part = total > 0 ? Math.min(1, done / total) : 1
  const full = Math.round(part * LENGTH)
  const line = `${'█'.repeat(full)}${'░'.repeat(LENGTH - full)} ${String(Math.floor(100 * part)).padStart(3)} %  ${printable(label)}`
  return [...line].slice(0, width - 1).join('')
}

// A progress bar.

import type { Progress } from 'ferrotensor'

const BAR = 30
/** Without a terminal a bar would fill log files: a few lines do. */
const SPARSE_LINES = 4

export class ProgressBar {
  readonly #label: string
  readonly #out: NodeJS.WriteStream

  constructor(label: string, out: NodeJS.WriteStream = process.stdout) {
    this.#label = label
    this.#out = out
  }

  update({ done, total, label }: Progress): void {
    const full = Math.round((done / total) * BAR)
    const line = `${this.#label} ${'█'.repeat(full)}${'░'.repeat(BAR - full)} ${done}/${total}  ${label}`
    if (this.#out.isTTY) this.#out.write(`\r\x1b[2K${line}${done === total ? '\n' : ''}`)
    else if (done % Math.ceil(total / SPARSE_LINES) === 0 || done === total) this.#out.write(`${line}\n`)
  }
}

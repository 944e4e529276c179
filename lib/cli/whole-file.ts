// A file that appears whole or not at all, also when the program is ended meanwhile: `ft.io` renames a temporary file once it is
// complete, and a signal in between would leave that one behind.

import { accessSync, chmodSync, constants, mkdtempSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { constants as system } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { FileError } from '../errors.js'

/** What ends a program from outside: Ctrl-C, `kill`, a closed terminal. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Calls of the system, whose refusals become errors of this package. */
function systemCall<T>(op: string, call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw new FileError(`${op}: ${(error as Error).message}`, { cause: error })
  }
}

/** The file that is there to be replaced, behind links; undefined where there is none. */
function replaced(op: string, path: string): { readonly target: string; readonly mode: number } | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  // Renaming onto a device or a pipe would replace it.
  if (!found.isFile()) throw new FileError(`${op}: EINVAL: not a regular file, open '${path}'`)
  accessSync(path, constants.W_OK)
  return { target: realpathSync(path), mode: found.mode }
}

/**
 * Has a file written in a folder of its own beside `path`, and renames it when it is complete. A file that is there already stays as it
 * is until then; links to it and its permissions stay.
 *
 * @param write Writes the file of the path it is given; until its promise is settled, signals remove what there is and end the process
 * with 128 and the signal's number, as shells count.
 * @throws {FileError} with the system's reason.
 */
export async function writeWhole(op: string, path: string, write: (path: string) => Promise<void>): Promise<void> {
  const old = systemCall(op, () => replaced(op, path))
  const target = old?.target ?? resolve(path)
  const folder = systemCall(op, () => mkdtempSync(join(dirname(target), '.ferrotensor-')))
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 2 })
  const end = (signal: (typeof SIGNALS)[number]): void => {
    remove()
    process.exit(128 + system.signals[signal])
  }
  for (const signal of SIGNALS) process.on(signal, end)
  try {
    const whole = join(folder, basename(target))
    await write(whole)
    systemCall(op, () => {
      if (old !== undefined) chmodSync(whole, old.mode)
      renameSync(whole, target)
    })
  } finally {
    for (const signal of SIGNALS) process.off(signal, end)
    remove()
  }
}

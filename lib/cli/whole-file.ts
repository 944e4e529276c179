// A file that appears whole or not at all, also when the program is ended meanwhile: `ft.io` renames a temporary file once it is
// complete, and a signal in between would leave that one behind.

import { accessSync, chmodSync, constants, linkSync, lstatSync, mkdtempSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { constants as system } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { FileError } from '../errors.js'

/** What ends a program from outside: Ctrl-C, Ctrl-\, `kill`, a closed terminal. */
const SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const

/** Calls of the system, whose refusals become errors of this package. */
function systemCall<T>(op: string, call: () => T): T {
  try {
    return call()
  } catch (error) {
    if (error instanceof FileError) throw error
    throw new FileError(`${op}: ${(error as Error).message}`, { cause: error })
  }
}

/**
 * Refuses a name that is taken: by a file of any kind, or by a link, also one that names nothing.
 *
 * @throws {FileError} `EEXIST`.
 */
export function checkNew(op: string, path: string): void {
  if (systemCall(op, () => lstatSync(path, { throwIfNoEntry: false })) !== undefined) throw taken(op, path)
}

const taken = (op: string, path: string): FileError => new FileError(`${op}: EEXIST: file already exists, '${path}'; --force replaces it`)

/** The file that is there to be replaced, behind links; undefined where there is none. */
function replaced(op: string, path: string): { readonly target: string; readonly mode: number } | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  // Renaming onto a device or a pipe would replace it.
  if (!found.isFile()) throw new FileError(`${op}: EINVAL: not a regular file, open '${path}'`)
  accessSync(path, constants.W_OK)
  return { target: realpathSync(path), mode: found.mode }
}

/** Gives a complete file its name, unless that was taken meanwhile: a new link never replaces, as renaming does. */
function nameNew(op: string, whole: string, path: string): void {
  try {
    linkSync(whole, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw taken(op, path)
    // FAT and some file systems of networks have no hard links. Between these two calls another program may still make the file.
    checkNew(op, path)
    renameSync(whole, path)
  }
}

/**
 * Has a file written in a folder of its own beside `path`, and moves it there when it is complete.
 *
 * @param force Whether a file that is there is replaced; it stays as it is until then. Its permissions stay, and so does a symbolic
 * link, whose target is replaced, unless it names nothing. Other names of the file (hard links) keep the old one.
 * @param write Writes the file of the path it is given; until its promise is settled, signals remove what there is and end the process
 * with 128 and the signal's number, as shells count.
 * @throws {FileError} with the system's reason.
 */
export async function writeWhole(op: string, path: string, force: boolean, write: (path: string) => Promise<void>): Promise<void> {
  if (!force) checkNew(op, path)
  const old = systemCall(op, () => replaced(op, path))
  const target = old?.target ?? resolve(path)
  let folder: string | undefined
  const remove = (): void => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 2 })
  }
  const end = (signal: (typeof SIGNALS)[number]): void => {
    remove()
    process.exit(128 + system.signals[signal])
  }
  // Before there is a folder: a signal that comes right behind it would find nobody who removes it.
  for (const signal of SIGNALS) process.on(signal, end)
  try {
    folder = systemCall(op, () => mkdtempSync(join(dirname(target), '.ferrotensor-')))
    const whole = join(folder, basename(target))
    await write(whole)
    systemCall(op, () => {
      if (old !== undefined) chmodSync(whole, old.mode)
      if (force) renameSync(whole, target)
      else nameNew(op, whole, path)
    })
  } finally {
    for (const signal of SIGNALS) process.off(signal, end)
    remove()
  }
}

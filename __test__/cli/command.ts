// Runs the command line as a user does: in a process of its own, with its output in pipes.

import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The program that `bin` of package.json names. */
export const PROGRAM = fileURLToPath(new URL('../../lib/cli/main.js', import.meta.url))

/** How a run ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** What may be asked of a run. */
export interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>
  /** An open file for standard output, in the place of a pipe. */
  readonly stdout?: number
  /** Called with the process once it is started. */
  readonly onStart?: (child: ChildProcess) => void
}

/** Runs the program with these words. */
export function command(words: readonly string[], { env = {}, stdout: file, onStart = () => {} }: CommandOptions = {}): Promise<Ended> {
  const child = spawn(process.execPath, [PROGRAM, ...words], { env: { ...process.env, ...env }, stdio: ['pipe', file ?? 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  onStart(child)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
}

/** The environment of a machine without the native module. */
export const WITHOUT_NATIVE = { FERROTENSOR_NATIVE: '/nowhere/ferrotensor.node' }

// Runs a script in a fresh Node process and reports how it ended. Scripts see the package as `ft`.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The package's root: scripts resolve `ferrotensor` to it, as an installed package's users do. */
const root = fileURLToPath(new URL('../..', import.meta.url))

/** How a process ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
  /** Milliseconds from the line `go` on its standard output (or its start) to its end. */
  readonly afterGo: number
}

/** What may be asked of a run. */
export interface RunOptions {
  readonly env?: Record<string, string>
  /** The working folder, from which scripts resolve `ferrotensor`; the package's root unless told. */
  readonly cwd?: string
  /** Called with the process at the line `go`. */
  readonly onGo?: (kill: (signal: NodeJS.Signals) => void) => void
}

/** Runs a module script. */
export function run(script: string, { env = {}, cwd = root, onGo }: RunOptions = {}): Promise<Ended> {
  const source = `import * as ft from 'ferrotensor'\n${script}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], { cwd, env: { ...process.env, ...env } })
  let [stdout, stderr, start] = ['', '', performance.now()]
  child.stderr.on('data', (text) => (stderr += text))
  child.stdout.on('data', (text) => {
    const went = stdout.includes('go\n')
    stdout += text
    if (went || !stdout.includes('go\n')) return
    start = performance.now()
    onGo?.((signal) => child.kill(signal))
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr, afterGo: performance.now() - start }))
  })
}

/** Runs a script that prints one JSON line, and gives its value. */
export async function evaluateScript<T>(script: string, options?: RunOptions): Promise<T> {
  const { code, stdout, stderr } = await run(script, options)
  if (code !== 0) throw new Error(`the script ended with ${code}:\n${stderr}`)
  return JSON.parse(stdout) as T
}

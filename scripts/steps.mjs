// One step of a longer job: runs a command quietly, shows that it is alive, says how long it took, and shows everything it
// printed if it failed.

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The repository. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url))

const NAME_COLUMNS = 34
const LIVE_COLUMNS = 70

export const seconds = (since) => ((performance.now() - since) / 1000).toFixed(1)

/** How npm is called here: its script when npm started us (also right on Windows), else the command. */
export function npm(...args) {
  const script = process.env.npm_execpath
  return script?.endsWith('npm-cli.js') ? [process.execPath, script, ...args] : ['npm', ...args]
}

/**
 * Runs a command in the repository and resolves to `{ code, output, seconds }`; nothing is printed.
 * `onLine` sees the last line of what arrives. After `limit` milliseconds, if any, it is ended with all that it started.
 */
export function run([command, ...args], { env = {}, cwd = ROOT, onLine = () => {}, limit } = {}) {
  const started = performance.now()
  return new Promise((resolve) => {
    // No colours and no progress bars in output that is parsed; a shell finds npm.cmd on Windows.
    const shell = process.platform === 'win32' && command === 'npm'
    const detached = limit !== undefined
    const child = spawn(command, args, { cwd, shell, detached, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, FORCE_COLOR: '0', ...env } })
    const timer = detached && setTimeout(() => process.kill(-child.pid, 'SIGKILL'), limit)
    let output = ''
    const take = (chunk) => {
      output += chunk
      const line = chunk.trimEnd().split('\n').pop()
      if (line) onLine(line.trim())
    }
    child.stdout.setEncoding('utf8').on('data', take)
    child.stderr.setEncoding('utf8').on('data', take)
    child.on('close', () => clearTimeout(timer))
    child.on('error', (error) => resolve({ code: 127, output: `${command}: ${error.message}\n`, seconds: seconds(started) }))
    child.on('close', (code, signal) => resolve({ code: code ?? 1, output: signal ? `${output}\nended by ${signal}\n` : output, seconds: seconds(started) }))
  })
}

/** `run`, with one line about it: alive on a terminal, once at its end elsewhere, and where it is `beside` another step. */
export async function step(name, command, options = {}) {
  const live = process.stdout.isTTY && !options.beside
  const label = name.padEnd(NAME_COLUMNS, ' ')
  if (live) process.stdout.write(label)
  const onLine = live ? (line) => process.stdout.write(`\r\x1b[2K${label}${line.slice(0, LIVE_COLUMNS)}`) : undefined
  const result = await run(command, { ...options, ...(onLine && { onLine }) })
  const verdict = result.code === 0 ? `${result.seconds} s` : `FAILED after ${result.seconds} s`
  process.stdout.write(`${live ? '\r\x1b[2K' : ''}${label}${verdict}\n`)
  if (result.code !== 0) process.stdout.write(`${result.output.trimEnd()}\n`)
  return result
}

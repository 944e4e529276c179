// Another library in a long-lived process of its own, which answers JSON lines and takes its turn in the same run.

import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Contender, Slice } from '../race.js'

/** What a peer is asked to time: a call in its own words, or the step of a training. */
export type Call = { readonly call: unknown; readonly chain?: number | undefined; readonly positive?: number | undefined } | { readonly training: string }

interface Answer extends Slice {
  readonly cpu: number
  readonly error?: string
}

/** How its process says what it is. */
interface Hello {
  readonly version: string
  readonly facts: Readonly<Record<string, string>>
}

export interface Peer extends Hello {
  /** What it is called in tables. */
  readonly label: string
  /** Hands over a file of arrays, and numbers, which calls may name; what was handed over before is forgotten. */
  load(file: string, numbers?: Readonly<Record<string, number>>): Promise<void>
  /** Hands over what networks are made of. */
  describe(trainings: object): Promise<void>
  /** A contender that does the call. */
  contender(call: Call): Contender
  /** Processor seconds used so far. */
  cpuSeconds(): number
  close(): void
}

/** How to start a peer, and what to do where it does not start. */
export interface Command {
  readonly label: string
  readonly command: readonly string[]
  readonly hint: string
}

const KEPT = 2000

/** The last that a process wrote to standard error. */
function complaints(child: ChildProcess): () => string {
  let text = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (text = (text + chunk).slice(-KEPT)))
  return () => text.trimEnd().split('\n').at(-1) ?? ''
}

/** Starts a peer; null, with a printed line that says why, where it is missing. */
export async function startPeer({ label, command: [program, ...args], hint }: Command): Promise<Peer | null> {
  const child = spawn(program as string, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  const last = complaints(child)
  const exited = new Promise<null>((resolve) => child.on('error', () => resolve(null)).on('close', () => resolve(null)))
  // Writing to a process that is gone is told by `close`.
  child.stdin.on('error', () => {})
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const answer = async (): Promise<unknown> => {
    const next = await Promise.race([lines.next(), exited])
    return next === null || next.done ? null : (JSON.parse(next.value) as unknown)
  }
  const hello = (await answer()) as Hello | null
  if (hello === null) {
    console.log(`${label} skipped: ${last() || `'${program}' is missing`} (${hint})`)
    return null
  }
  let cpu = 0
  const ask = async (request: object): Promise<Answer> => {
    child.stdin.write(`${JSON.stringify(request)}\n`)
    const result = (await answer()) as Answer | null
    if (result === null || result.error !== undefined) throw new Error(`${label}: ${result?.error ?? `ended: ${last()}`}`)
    cpu = result.cpu
    return result
  }
  return {
    ...hello,
    label,
    load: async (file, numbers = {}) => void (await ask({ operands: file, numbers })),
    describe: async (trainings) => void (await ask({ trainings })),
    contender: (call) => ({ name: label, slice: (seconds) => ask({ ...call, seconds }) }),
    cpuSeconds: () => cpu,
    close: () => child.stdin.end()
  }
}

/** What a process prints that ends with a line of JSON. */
export function lastLine([program, ...args]: readonly string[], input: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const child = execFile(program as string, args, (error, stdout) => (error === null ? resolve(JSON.parse(stdout.trimEnd().split('\n').at(-1) as string)) : reject(error)))
    child.stdin?.end(input)
  })
}

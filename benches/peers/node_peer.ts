// The JavaScript side of the benches: `node node_peer.js LIBRARY FOLDER` answers JSON lines as peer.py does, about a library in that folder's
// node_modules.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
// Reads the operands; nothing of it runs while a peer is timed.
import * as ft from 'ferrotensor'
import { checksum } from '../checksum.js'
import { ownSeconds } from '../machine.js'
import { median, PATIENCE_MS } from '../race.js'
import type { Training } from '../training/steps.js'
import { LIBRARIES, type Library } from './node_libraries.js'

interface Request {
  readonly operands?: string
  readonly trainings?: Readonly<Record<string, Training>>
  readonly call?: string
  readonly training?: string
  readonly seconds: number
  readonly chain?: number
  readonly positive?: number
}

/** Seconds of the median call, as `repeat` in race.ts, of calls that may be asynchronous. */
async function repeat(seconds: number, f: () => Promise<void> | void): Promise<number> {
  const times: number[] = []
  const first = performance.now()
  const end = first + seconds * 1000
  do {
    const start = performance.now()
    const pending = f()
    if (pending instanceof Promise) await pending
    times.push((performance.now() - start) / 1000)
  } while (performance.now() < end || (times.length < 3 && performance.now() < first + PATIENCE_MS))
  return median(times)
}

/** Waits for threads that spin after their work. */
async function settle(pause: number): Promise<void> {
  await sleep(pause)
  for (let used = -1; ownSeconds() - used > 5e-4; await sleep(2)) used = ownSeconds()
}

/** A call, made once, with the checksum of its result. */
interface Made {
  readonly run: () => Promise<void> | void
  readonly sum: number
}

async function makeCall({ library }: { readonly library: Library }, { call, chain, positive }: Request): Promise<Made> {
  const f = await library.function(call as string, chain ?? 1)
  const result = await f()
  const sum = checksum(library.parts(result), positive)
  library.dispose(result)
  const run = (): Promise<void> | void => {
    const result = f()
    if (result instanceof Promise) return result.then((result) => library.dispose(result))
    library.dispose(result)
  }
  return { run, sum }
}

async function serve(name: string, folder: string): Promise<void> {
  const require = createRequire(pathToFileURL(join(folder, 'package.json')))
  const load = (what: string): Promise<unknown> => import(pathToFileURL(require.resolve(what)).href)
  const start = LIBRARIES[name]
  if (start === undefined) throw new Error(`no library '${name}'; there are: ${Object.keys(LIBRARIES).join(', ')}`)
  const library = await start(require, load)
  const say = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`)
  say({ version: library.version, facts: library.facts })
  const made = new Map<string, Made>()
  let trainings: Readonly<Record<string, Training>> = {}

  const answer = async (request: Request): Promise<object> => {
    if (request.operands !== undefined) {
      made.clear()
      const arrays = Object.entries(ft.io.loadNpzSync(request.operands))
      library.load(arrays.map(([name, x]) => [name, x.dtype, x.shape, x.dataSync()] as const))
      arrays.forEach(([, x]) => x.dispose())
      return {}
    }
    if (request.trainings !== undefined) {
      trainings = request.trainings
      return {}
    }
    const key = request.call ?? (request.training as string)
    let known = made.get(key)
    if (known === undefined) {
      if (request.training === undefined) known = await makeCall({ library }, request)
      else {
        const step = library.step?.(trainings[request.training] as Training)
        if (step === undefined) throw new Error('it has no training steps here')
        known = { run: () => void step(), sum: step() }
      }
      made.set(key, known)
    }
    const seconds = (await repeat(request.seconds, known.run)) / (request.chain ?? 1)
    await settle(library.pause)
    return { seconds, checksum: Number.isFinite(known.sum) ? known.sum : null }
  }

  for await (const line of createInterface({ input: process.stdin })) {
    const result = await answer(JSON.parse(line) as Request).catch((error: unknown) => ({ error: String(error) }))
    say({ ...result, cpu: ownSeconds() })
  }
}

const [name, folder] = process.argv.slice(2) as [string, string]
await serve(name, folder)

// The file of results of a machine, benches/results/<processor>-<cores>.json: what was measured with other versions or another table is
// dropped, other rows are kept, so that a run may measure some rows only.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Measured, Verdict } from './verdict.js'

/** This file runs as dist/benches/gates/results.js. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

export interface Saved extends Measured {
  readonly gate: number
  readonly stretch: number
  readonly verdict: Verdict | null
  /** The commit that was measured, `+` behind it where files had changed. */
  readonly commit: string
  readonly date: string
}

export interface Results {
  readonly machine: Readonly<Record<string, string>>
  /** Versions and what else matters, by the label of a peer. */
  readonly peers: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly rows: Readonly<Record<string, Saved>>
}

const model = cpus()[0]?.model.trim() ?? 'unknown'
const slug = `${model} ${cpus().length} cores`.toLowerCase().replace(/[^a-z0-9]+/g, '-')
const FILE = join(ROOT, 'benches', 'results', `${slug}.json`)

/** The commit that is checked out. */
export function commit(): string {
  const git = (...args: string[]): string => spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' }).stdout?.trim() ?? ''
  return `${git('rev-parse', '--short', 'HEAD') || 'unknown'}${git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '+'}`
}

function read(): Results | null {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Results
  } catch {
    return null
  }
}

/** Adds rows to the machine's file; `order` is that of the table. Gives its path from the repository. */
export function save({ machine, peers, rows }: Results, order: readonly string[]): string {
  const old = read()
  const same = old === null || (JSON.stringify(old.machine) === JSON.stringify(machine) && JSON.stringify(old.peers) === JSON.stringify(peers))
  if (!same) console.log('what the file had is dropped: it was measured with other versions or settings')
  const all: Record<string, Saved> = { ...(same ? old?.rows : {}), ...rows }
  const sorted = Object.fromEntries(order.filter((name) => name in all).map((name) => [name, all[name] as Saved]))
  mkdirSync(join(ROOT, 'benches', 'results'), { recursive: true })
  writeFileSync(FILE, `${JSON.stringify({ machine, peers, rows: sorted }, null, 1)}\n`)
  return FILE.slice(ROOT.length)
}

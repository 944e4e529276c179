// What a bench ran on, and how much of the machine others used meanwhile: figures without these say nothing.

import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import * as ft from 'ferrotensor'
import { NOISY } from './race.js'

/** Clock ticks per second of /proc/stat, fixed by Linux's user interface. */
const TICKS = 100

/** Versions, processor and threads. */
export function machineFacts(): Record<string, string> {
  const device = ft.devices().find(({ name }) => name === 'cpu')
  const threads = process.env['FERROTENSOR_THREADS'] ?? String(cpus().length)
  return {
    Node: process.versions.node,
    processor: `${cpus()[0]?.model.trim()}, ${cpus().length} cores`,
    ferrotensor: `${device?.available ? device.description : 'no device'}, ${threads} threads`
  }
}

/** Prints versions, processor and threads. */
export function printMachine(): void {
  for (const [what, fact] of Object.entries(machineFacts())) console.log(`${what} ${fact}`)
}

/** Seconds of all cores that were busy since boot; null where the system does not tell. */
function busySeconds(): number | null {
  try {
    const [user, nice, system, , , irq, softirq] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/\s+/).slice(1).map(Number)
    return (user! + nice! + system! + irq! + softirq!) / TICKS
  } catch {
    return null
  }
}

/** Processor seconds of this process. */
export const ownSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

/** Watches the machine from now on. */
export function watchNeighbours(): (peerSeconds: number) => number | null {
  const [busy, own, wall] = [busySeconds(), ownSeconds(), performance.now()]
  /** The share of the machine that other processes used; `peerSeconds` is what our own children used. */
  return (peerSeconds) => {
    const now = busySeconds()
    if (busy === null || now === null) return null
    const elapsed = ((performance.now() - wall) / 1000) * cpus().length
    return Math.max(0, (now - busy - (ownSeconds() - own) - peerSeconds) / elapsed)
  }
}

/** How long a look for neighbours takes, and how long they are waited for. */
const [LOOK_MS, WAIT_MS] = [100, 10_000]

/** Waits until others leave the machine alone, but not for ever: a row that was not quiet is marked. */
export async function untilQuiet(): Promise<void> {
  for (const end = performance.now() + WAIT_MS; performance.now() < end; ) {
    const share = watchNeighbours()
    await sleep(LOOK_MS)
    if ((share(0) ?? 0) <= NOISY / 2) return
  }
}

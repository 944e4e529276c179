// What a bench ran on, and how much of the machine others used meanwhile: figures without these say nothing.

import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import * as ft from 'ferrotensor'

/** Clock ticks per second of /proc/stat, fixed by Linux's user interface. */
const TICKS = 100

/** Prints versions, processor and threads. */
export function printMachine(): void {
  const device = ft.devices().find(({ name }) => name === 'cpu')
  const threads = process.env['FERROTENSOR_THREADS'] ?? String(cpus().length)
  console.log(`Node ${process.versions.node}, ${cpus()[0]?.model.trim()}, ${cpus().length} cores, ${threads} threads`)
  if (device?.available) console.log(`ferrotensor ${device.name}: ${device.description}`)
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

const ownSeconds = () => {
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

// Peak memory of plain synchronous loops, each in a process of its own. Fails where a loop passes its bound.
// `--loop NAME` runs one, `--worker` in a worker.

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { isMainThread, Worker } from 'node:worker_threads'
import * as ft from 'ferrotensor'
import { printMachine } from './machine.js'
import { LOOPS, type Loop } from './memory_loops.js'

const MEBIBYTE = 1 << 20
const smoke = process.argv.includes('--smoke')

/** In the child: runs one loop and prints how far the resident set rose. */
function runLoop({ steps, run }: Loop): void {
  // Code and threads that the first program brings are no part of the loop.
  ft.ones([4]).add(1).dataSync()
  const start = process.memoryUsage.rss()
  const began = performance.now()
  run(smoke ? Math.ceil(steps / 10) : steps)
  // maxRSS is in KiB.
  const rise = (process.resourceUsage().maxRSS * 1024 - start) / MEBIBYTE
  console.log(JSON.stringify({ rise, seconds: (performance.now() - began) / 1000 }))
}

async function report(): Promise<void> {
  printMachine()
  console.log(`\npeak resident memory above the start${smoke ? ', loops cut short' : ''}:`)
  for (const [name, { what, bound }] of Object.entries(LOOPS)) {
    const args = [fileURLToPath(import.meta.url), '--loop', name, ...(smoke ? ['--smoke'] : [])]
    const { stdout } = await promisify(execFile)(process.execPath, args)
    const { rise, seconds } = JSON.parse(stdout) as { rise: number; seconds: number }
    const verdict = rise <= bound ? '' : '  TOO MUCH'
    console.log(`${rise.toFixed(0).padStart(6)} MiB of ${bound} allowed, ${seconds.toFixed(2)} s: ${what}${verdict}`)
    if (rise > bound) process.exitCode = 1
  }
}

const at = process.argv.indexOf('--loop')
if (isMainThread && at >= 0 && process.argv.includes('--worker')) new Worker(new URL(import.meta.url), { argv: process.argv.slice(at) })
else if (at >= 0) runLoop(LOOPS[process.argv[at + 1] as string] as Loop)
else await report()

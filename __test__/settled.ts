// Waiting for memory to come back.

import { setTimeout as delay } from 'node:timers/promises'
import type { ExecutionContext } from 'ava'
import * as ft from 'ferrotensor'

/**
 * Waits until no more than `bytes` are in use. What a worker had queued may still be running when it is gone, and what V8 compiles in the
 * background it holds until that is done, the contexts of closures among it: in one run of two a tensor outlived a full collection so.
 */
export async function settled(t: ExecutionContext, bytes: number): Promise<void> {
  ft.trim()
  for (let i = 0; i < 400 && ft.memory().live > bytes; i++) {
    await delay(50)
    ft.trim()
  }
  t.true(ft.memory().live <= bytes, `${ft.memory().live} bytes live, ${bytes} at the start`)
}

// Plain loops stay bounded: peak memory of child processes, measured above what they had before the loop.
// runs on: node, musl; of other devices jit-memory, workers and vulkan.test.ts look at what comes back

import { existsSync, readFileSync } from 'node:fs'
import test from 'ava'
import { LOOPS } from '../benches/memory_loops.js'
import { bounded } from './bounded.js'
import { evaluateScript } from './child.js'

for (const name of Object.keys(LOOPS)) bounded(name)

test.serial('unread loops run each operation once: one state', async (t) => {
  const work = await evaluateScript<number>(`
    const b = ft.ones([4]); let w = ft.ones([4]); const n = 50000
    ft.evaluateSync(b, w); ft.resetStats()
    for (let i = 0; i < n; i++) w = w.add(w.mul(b).exp().mul(-0.001))
    w.dataSync()
    console.log(ft.stats().ops / (4 * n))`)
  t.true(work >= 1 && work <= 1.02, `work ${work}`)
})

test.serial('unread loops run each operation once: nine states feeding each other', async (t) => {
  const work = await evaluateScript<number>(`
    const n = 5000, layers = [0, 1, 2].map(() => ({ w: ft.ones([4]), m: ft.zeros([4]), v: ft.zeros([4]) }))
    ft.evaluateSync(...layers.flatMap((l) => Object.values(l))); ft.resetStats()
    let x = ft.ones([4]); ft.evaluateSync(x)
    for (let i = 0; i < n; i++) {
      let h = x
      for (const l of layers) h = h.mul(l.w)
      for (const l of layers) {
        const g = h.mul(l.w)
        l.m = l.m.mul(0.9).add(g.mul(0.1))
        l.v = l.v.mul(0.99).add(g.mul(g).mul(0.01))
        l.w = l.w.sub(l.m.div(l.v.add(1)).mul(0.001))
      }
    }
    ft.evaluateSync(...layers.flatMap((l) => Object.values(l)))
    console.log(ft.stats().ops / (n * (3 + 3 * 12)))`)
  t.true(work >= 0.99 && work <= 1.02, `work ${work}`)
})

/** Where Linux gives huge pages to whoever asks. */
const HUGE = '/sys/kernel/mm/transparent_hugepage/enabled'
const huge = existsSync(HUGE) && !readFileSync(HUGE, 'utf8').includes('[never]')

test.serial('a large result is read in few page faults', async (t) => {
  const faults = await evaluateScript<number[]>(`
    const x = ft.ones([16 << 20]); ft.evaluateSync(x)
    const faults = async (read) => {
      const before = process.resourceUsage().minorPageFault
      await read()
      return process.resourceUsage().minorPageFault - before
    }
    const reads = [() => x.dataSync(), () => x.toBytes(), () => ft.io.encodeNpySync(x), () => x.data()], each = []
    for (const read of reads) each.push(await faults(read))
    console.log(JSON.stringify(each))`)
  t.log(faults.join(', '))
  // 64 MiB are 16,384 pages of 4 KiB.
  if (huge) for (const n of faults) t.true(n < 8192, `${n} faults`)
  else t.pass()
})

test.serial('a refused program is serialised again: results stay right under a tight budget', async (t) => {
  const wrong = await evaluateScript<number>(`
    ft.setMemoryLimit(24 << 20)
    const n = 1 << 18, kept = []
    let wrong = 0
    for (let i = 0; i < 300; i++) {
      const x = ft.full([n], i)
      ft.evaluateSync(x)
      kept.push(x.mul(2).sum())
      const y = x.add(1).mul(3)
      if (y.at(n - 1).itemSync() !== (i + 1) * 3) wrong++
    }
    kept.forEach((loss, i) => { if (loss.itemSync() !== 2 * i * n) wrong++ })
    console.log(wrong)`)
  t.is(wrong, 0)
})

test.serial('beyond the budget: OutOfMemoryError, and work goes on after freeing', async (t) => {
  const [code, after] = await evaluateScript<[string, number]>(`
    ft.setMemoryLimit(32 << 20)
    const held = []
    let code = ''
    try { for (let i = 0; i < 100; i++) { const x = ft.ones([1 << 20]); ft.evaluateSync(x); held.push(x) } } catch (e) { code = e.code }
    held.forEach((x) => x.dispose())
    console.log(JSON.stringify([code, ft.ones([1 << 20]).sum().itemSync()]))`)
  t.is(code, 'ERR_OUT_OF_MEMORY')
  t.is(after, 1 << 20)
})

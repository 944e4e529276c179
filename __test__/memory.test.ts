// Plain loops stay bounded: peak memory of child processes, measured above what they had before the loop.

import test from 'ava'
import { evaluateScript } from './child.js'

/** A loop, and the MiB its peak may lie above the start. */
const LOOPS: readonly [name: string, limit: number, script: string][] = [
  [
    'x = x.add(1) 400 times on 8 MiB, never read',
    400,
    'let x = ft.ones([1 << 21]); for (let i = 0; i < 400; i++) x = x.add(1); x.at(0).itemSync()'
  ],
  [
    'x = x.add(1) 400 times on 8 MiB, a sum read every 4 steps',
    400,
    'let x = ft.ones([1 << 21]); for (let i = 0; i < 400; i++) { x = x.add(1); if (i % 4 === 0) x.sum().itemSync() }'
  ],
  [
    'x = x.add(1) 400 times on 8 MiB, each evaluated',
    400,
    'let x = ft.ones([1 << 21]); for (let i = 0; i < 400; i++) { x = x.add(1); ft.evaluateSync(x) }'
  ],
  [
    'x = x.add(1) 400 times on 8 MiB, each read',
    400,
    'let x = ft.ones([1 << 21]); for (let i = 0; i < 400; i++) { x = x.add(1); x.dataSync() }'
  ],
  [
    '400 uploads of 8 MiB in a synchronous loop',
    400,
    'const a = new Float32Array(1 << 21); for (let i = 0; i < 400; i++) ft.fromTypedArray(a)'
  ],
  ['10^6 operations on 4 KiB tensors', 200, 'let x = ft.ones([1024]); for (let i = 0; i < 1e6; i++) x = x.add(1); x.at(0).itemSync()'],
  [
    '10,000 losses over fresh 1 MiB tensors, never read',
    600,
    'const a = new Float32Array(1 << 18), l = []; for (let i = 0; i < 1e4; i++) l.push(ft.fromTypedArray(a).mul(2).mean()); if (l.length !== 1e4) throw 0'
  ],
  [
    '10,000 losses over fresh 64 KiB tensors, never read',
    600,
    'const a = new Float32Array(1 << 14), l = []; for (let i = 0; i < 1e4; i++) l.push(ft.fromTypedArray(a).mul(2).mean()); if (l.length !== 1e4) throw 0'
  ],
  [
    'a 32 MiB state replaced each step, with 400 MiB of evaluated temporaries between',
    1024,
    `let state = ft.ones([1 << 23])
     for (let step = 0; step < 12; step++) {
       for (let i = 0; i < 100; i++) ft.evaluateSync(ft.ones([1 << 20]).add(i))
       state = state.mul(0.5)
       ft.evaluateSync(state)
     }`
  ],
  ['10^6 slice positions', 200, 'const x = ft.arange(1000); for (let i = 0; i < 1e6; i++) x.at(i % 1000)'],
  ['10^6 dropped expressions over one large tensor', 200, 'const x = ft.ones([1 << 20]); ft.evaluateSync(x); for (let i = 0; i < 1e6; i++) x.mul(2).sum()'],
  // Node 24 lets its heap grow to 220 MiB here, after 10^5 shapes as after 8 * 10^5; Node 22 to 70 MiB.
  ['4 * 10^5 shapes', 320, 'for (let i = 0; i < 4e5; i++) ft.zeros([1 + (i % 1000), 1 + Math.floor(i / 1000)])'],
  ['300 scopes with 8 MiB temporaries', 300, 'const x = ft.ones([1 << 21]); for (let i = 0; i < 300; i++) ft.scope(() => x.add(i).mul(2).sum().itemSync())']
]

/** V8's own collections promote tensors that are still in use: in the middle of every hundredth step, or all the time. */
const YOUNG_SPACES: readonly [name: string, options: string][] = [
  ['', ''],
  [' (a young generation of 1 MiB)', '--max-semi-space-size=1']
]

for (const [name, limit, script] of LOOPS) {
  for (const [space, options] of YOUNG_SPACES) {
    test.serial(`bounded: ${name}${space}`, async (t) => {
      const measured = `
        ft.ones([4]).add(1).dataSync()
        const start = process.memoryUsage().rss
        ${script}
        console.log((process.resourceUsage().maxRSS * 1024 - start) / 2 ** 20)`
      const peak = await evaluateScript<number>(measured, { env: { NODE_OPTIONS: options } })
      t.log(`${peak.toFixed(0)} MiB above the start`)
      t.true(peak < limit, `${peak.toFixed(0)} MiB, allowed ${limit}`)
    })
  }
}

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

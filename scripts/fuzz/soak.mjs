// A long run of random programs, each once as users run them (recorded and fused; read blocking, with promises, late or never;
// disposed of or dropped; collected at random moments) and once eagerly, without fusion. Both must see the same bits, and
// memory must be as it was.
//
//   node scripts/fuzz/soak.mjs [--seed text] [--seconds 60] [--growth MiB] [--program number]

import { parseArgs } from 'node:util'
import * as ft from 'ferrotensor'
import { codeOf, digest, failed, run } from './programs.mjs'
import { Random } from './random.mjs'

const { values: given } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    growth: { type: 'string', default: '96' },
    program: { type: 'string' }
  }
})
const { seed } = given
const milliseconds = 1000 * Number(given.seconds)

/** Programs between two looks at memory. */
const EPOCH = 200
/** Growth of resident memory that is allowed after the first fifth of the time: V8's heap and the pools breathe. */
const GROWTH = Number(given.growth) * 2 ** 20
/** The budget: programs need a few MiB, and what is too large is refused without being tried. */
const BUDGET = 64 << 20
/** The first differences are shown; more would hide them. */
const SHOWN = 5

const read = (x) => {
  try {
    return digest(x.dtype, x.shape, x.dataSync())
  } catch (error) {
    return failed(error)
  }
}

const readLater = async (x) => {
  const { dtype, shape } = x
  try {
    return digest(dtype, shape, await x.data())
  } catch (error) {
    return failed(error)
  }
}

/** Through a token; a value that is an error throws where it is taken. */
const readShared = (x) => {
  try {
    return readLater(ft.fromShared(x.share()))
  } catch (error) {
    return failed(error)
  }
}

/** Every operation at once, every value read at once. */
async function eagerly(name) {
  ft.config({ fusion: false, limit: 1 })
  return run(new Random(name), { read, drop() {}, async between() {} })
}

/** As recorded programs, in a random manner. */
async function recorded(name) {
  const manner = new Random(`${name}/manner`)
  ft.config({ fusion: true, limit: manner.pick([2048, 2048, 64, 5]) })
  const abandoned = []
  const observed = await run(new Random(name), {
    read: (x) => (manner.pick([read, read, read, readLater, readLater, readShared])(x)),
    drop: (x) => {
      if (manner.chance(0.2)) abandoned.push(x.data().catch(codeOf))
      if (manner.chance(0.5)) x.dispose()
    },
    between: async () => {
      if (manner.chance(0.1)) await new Promise(setImmediate)
      if (manner.chance(0.002)) ft.trim()
    }
  })
  // Half of the promises nobody waits for outlive their program.
  if (manner.chance(0.5)) await Promise.all(abandoned)
  return observed
}

/** Runs one program both ways; null, or the first difference. */
async function compare(number) {
  const name = `${seed}/${number}`
  const [want, got] = [await eagerly(name), await recorded(name)]
  const at = want.findIndex((text, i) => text !== got[i])
  const differs = at >= 0 || want.length !== got.length
  return { observed: want.length, problem: differs ? `program ${number}, observation ${at}: eager ${want[at]}, recorded ${got[at]}` : null }
}

/** Live bytes when everything that can be freed is: abandoned promises may take a while to settle on a busy machine. */
async function rest(wanted = 0) {
  for (let patience = 100; ; patience--) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    for (let i = 0; i < 3; i++) ft.trim()
    const { live } = ft.memory()
    if (live <= wanted || patience === 0) return live
  }
}

const problems = []
ft.setMemoryLimit(BUDGET)
const live = await rest()
let [programs, observations, rss, peak, leftBefore] = [0, 0, 0, 0, 0]
const began = performance.now()
const only = given.program === undefined ? null : Number(given.program)
do {
  for (let i = 0; i < (only === null ? EPOCH : 1); i++, programs++) {
    const { observed, problem } = await compare(only ?? programs)
    observations += observed
    if (problem !== null) problems.push(`${problem}\n  node scripts/fuzz/soak.mjs --seed ${seed} --program ${only ?? programs}`)
  }
  // One small tensor may still be named by a frame that has ended; what outlives the next programs too is a leak.
  const left = (await rest(live)) - live
  if (left > 0 && leftBefore > 0) problems.push(`${left} bytes are left after ${programs} programs`)
  leftBefore = left
  const now = process.memoryUsage().rss
  if (performance.now() - began < milliseconds / 5 || rss === 0) rss = now
  peak = Math.max(peak, now - rss)
  process.stderr.write(`\r${programs} programs, ${(now / 2 ** 20).toFixed(0)} MiB resident `)
} while (only === null && performance.now() - began < milliseconds && problems.length < SHOWN)
if (leftBefore > 0) {
  await compare(only ?? 0)
  const left = (await rest(live)) - live
  if (left > 0) problems.push(`${left} bytes are left at the end`)
}
if (peak > GROWTH) problems.push(`resident memory grew by ${(peak / 2 ** 20).toFixed(0)} MiB`)
problems.slice(0, SHOWN).forEach((text) => console.log(text))
console.log(`\nseed ${seed}: ${programs} programs, ${observations} observations, ${((performance.now() - began) / 1000).toFixed(0)} s; resident memory grew by ${(peak / 2 ** 20).toFixed(0)} MiB`)
console.log(`${Math.max(0, programs - problems.length)} passed, ${problems.length} failed`)
process.exitCode = problems.length === 0 ? 0 : 1

// Calls on arrays of shapes that a loop is made for in passing: short rows, groups, windows, tall matrices, recurrences, a copy of all there is. Beside NumPy
// or SciPy, and a plain loop over typed arrays. Fails where results differ.

import { startPeer } from './peers/peer.js'
import { PEERS, withFile } from './peers/registry.js'
import { ours } from './contender.js'
import { printMachine, watchNeighbours } from './machine.js'
import { duration, NOISY, race, type Contender } from './race.js'
import { makeShapes, plain, ROWS, tensorsOfShapes } from './shapes/rows.js'

const smoke = process.argv.includes('--smoke')
/** A ratio to the fastest that is worth a look. */
const SLOWER = 1.2
const at = process.argv.indexOf('--only')
const only = at < 0 ? null : (process.argv[at + 1] ?? '').split(',')

printMachine()
const shapes = makeShapes(smoke ? 50 : 1)
const numpy = await startPeer(PEERS.numpy)
if (numpy !== null) {
  console.log(`NumPy ${numpy.version}, SciPy ${numpy.facts['SciPy'] ?? 'missing'}`)
  await withFile(tensorsOfShapes(shapes), (file) => numpy.load(file))
}
const [wrong, slower]: [string[], string[]] = [[], []]
const cells = (values: readonly string[]): string => values.map((text) => text.padStart(10)).join('')

console.log(`\n~: others used the machine\n${''.padEnd(44)}${cells(['ours', 'NumPy', 'a loop', 'x fastest'])}`)
for (const { name, run, numpy: call, loop, tolerance = 1e-5 } of ROWS.filter((row) => only === null || only.some((text) => row.name.includes(text)))) {
  const peers: Contender[] = []
  if (numpy !== null && call !== undefined) peers.push({ ...numpy.contender({ call }), name: 'NumPy' })
  if (loop !== undefined) peers.push(plain(() => loop(shapes)))
  const share = watchNeighbours()
  const before = numpy?.cpuSeconds() ?? 0
  const [own, ...others] = await race([ours(() => run(shapes)), ...peers])
  const used = share((numpy?.cpuSeconds() ?? 0) - before)
  if (own === undefined) throw new Error('nothing ran')
  const of = (peer: string): string => {
    const found = others.find((other) => other.name === peer)
    return found === undefined ? '-' : duration(found.seconds)
  }
  const ratio = own.seconds / Math.min(...others.map(({ seconds }) => seconds))
  const mark = used !== null && used > NOISY ? '~' : ' '
  console.log(`${name.padEnd(44)}${cells([duration(own.seconds), of('NumPy'), of('a loop'), Number.isFinite(ratio) ? ratio.toFixed(2) : '-'])}${mark}`.trimEnd())
  if (ratio > SLOWER && Number.isFinite(ratio)) slower.push(`${ratio.toFixed(2).padStart(8)} x  ${name}${mark}`)
  for (const other of others) {
    if (!(Math.abs(own.checksum - other.checksum) <= tolerance * Math.abs(own.checksum))) wrong.push(`${name}: checksums differ: ${own.checksum} and ${other.checksum} (${other.name})`)
  }
}
numpy?.close()
if (!smoke && slower.length > 0) console.log(`\nslower than the fastest by more than ${SLOWER} x:\n${slower.join('\n')}`)
if (wrong.length > 0) {
  console.log(`\nwrong:\n${wrong.join('\n')}`)
  process.exitCode = 1
}

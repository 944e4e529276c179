// The JavaScript tests on other versions of Node than the one that runs this: the newest of each line that has users, and the
// newest there is. Those files run that can differ there (scripts/javascript.mjs), or all. Node comes as an npm package, kept under
// target/node until a newer one is out.
//
//   node scripts/node-test.mjs [--all | FILE...]

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { testsFor } from './javascript.mjs'
import { npm, ROOT, run, step } from './steps.mjs'
import { ava, verdict } from './suites.mjs'

/** What npm calls the wanted versions. */
const WANTED = ['22', '24', 'latest']

const platform = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`

/** The path of an installed Node. */
async function install(wanted) {
  const folder = join(ROOT, 'target/node', wanted)
  const packageName = `node-${platform}`
  const installed = await run(npm('install', '--prefix', folder, '--no-audit', '--no-fund', `${packageName}@${wanted}`))
  const binary = join(folder, 'node_modules', packageName, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (installed.code !== 0 || !existsSync(binary)) throw new Error(installed.output)
  return binary
}

const given = process.argv.slice(2)
const { args, note } = testsFor('node', { all: given.includes('--all'), files: given.filter((arg) => arg !== '--all') })
console.log(`note: ${note}`)
// npm asks for all of them at once, and waits for the network while tests run; what fails is told at its turn.
const installed = WANTED.map((wanted) => install(wanted).then((node) => ({ node }), (error) => ({ error })))
let [passed, failed] = [0, 0]
for (const [i, wanted] of WANTED.entries()) {
  try {
    const { node, error } = await installed[i]
    if (error) throw error
    const version = (await run([node, '--version'])).output.trim()
    const result = await step(`JavaScript tests, Node ${version}`, [node, ...args])
    const counted = verdict({ count: ava }, result)
    console.log(`note: Node ${version}: ${counted.passed} passed, ${counted.failed} failed`)
    passed += counted.passed
    failed += counted.failed
  } catch (error) {
    console.log(`Node ${wanted}: npm has no binary for ${platform}, or it does not run\n${error.message}`)
    failed++
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

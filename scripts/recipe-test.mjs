// Applies the recipe "add an operation" of CONTRIBUTING.md to a copy of the repository, text by text as it stands there, and
// looks for the operation in TypeScript, in the documentation and among the conformance cases.

import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, run, step } from './steps.mjs'

const TABLE = 'crates/ops/src/table/unary.rs'
const ROWS = 'pub const ROWS: &[OpDef] = &[\n'

let [passed, failed] = [0, 0]
function check(what, ok) {
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${what}`)
  if (ok) passed++
  else failed++
}

/**
 * Tracked files and new ones, without what git ignores, and what was built in release. Times are kept: to cargo all but the
 * changed crate and its users is fresh. The folder for builds is a copy too, since cargo would take the changed crate in a
 * shared one for the original.
 */
async function copyRepository(copy) {
  const { output } = await run(['git', 'ls-files', '--cached', '--others', '--exclude-standard'])
  const built = ['target/release', `target/${process.env.CARGO_BUILD_TARGET}/release`]
  for (const path of [...output.trim().split('\n'), ...built]) {
    const from = join(ROOT, path)
    if (existsSync(from)) await cp(from, join(copy, path), { recursive: true, preserveTimestamps: true })
  }
}

const recipe = await readFile(join(ROOT, 'CONTRIBUTING.md'), 'utf8')
const row = recipe.match(/```rust\n([^]*?)```/)?.[1]
const name = row?.match(/name: "(\w+)"/)?.[1]
const copy = await mkdtemp(join(tmpdir(), 'ferrotensor-recipe-'))
try {
  await copyRepository(copy)
  const table = await readFile(join(copy, TABLE), 'utf8')
  check('CONTRIBUTING.md has a row, and the table a place for it', name !== undefined && table.split(ROWS).length === 2)
  check('the operation is new', !table.includes(`"${name}"`))
  await writeFile(join(copy, TABLE), table.replace(ROWS, () => ROWS + row))
  const cargo = { cwd: copy, env: { CARGO_TARGET_DIR: join(copy, 'target') } }
  const codegen = await step('codegen in a copy', ['cargo', 'run', '--quiet', '--release', '--package', 'xtask', '--', 'codegen'], cargo)
  check('codegen accepts it', codegen.code === 0)
  const generated = async (path) => readFile(join(copy, path), 'utf8')
  check('TypeScript has the method', new RegExp(`^  ${name}\\(`, 'm').test(await generated('lib/generated/ops.ts')))
  check('TypeScript has the function', new RegExp(`^export function ${name}[<(]`, 'm').test(await generated('lib/generated/functions.ts')))
  check('the documentation has it', (await generated('docs/ops/elementwise.md')).includes(`\n## ${name}\n`))
  const suite = ['cargo', 'test', '--quiet', '--release', '--package', 'ferrotensor-conformance', '--', `${name}/`]
  const ran = await step('conformance cases in a copy', suite, cargo)
  const [, cases = 0, wrong] = /^(\d+) passed, (\d+) failed$/m.exec(ran.output) ?? []
  check('the conformance suite has cases for it, which it passes', ran.code === 0 && cases > 0 && wrong === '0')
} finally {
  await rm(copy, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

// Parts of the steps of scripts/suites.mjs, as commands: what a step runs, told to run less of it. And in which tier each step is, today and
// before the quick tier took a sample of the product of rows, instruction sets and layouts.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../steps.mjs'
import { SLOW } from '../slow/suites.mjs'
import { FULL, QUICK } from '../suites.mjs'

const TIERS = { quick: QUICK, full: FULL, slow: SLOW }

/** The step that runs the whole product, of which `conformance` runs a sample. */
export const WHOLE = 'conformance, all'

/** What was no quick step before. */
const BEFORE = {
  full: [
    'refused memory and threads', 'package and consumer', 'recipe: add an op', 'other versions of Node', 'arm64, emulated', 'musl', 'JavaScript tests on Vulkan',
    'Vulkan under validation', 'other Vulkan devices', 'benches, smoke', 'bench of the engine', 'vendor BLAS', 'instruction counts', 'hostile calls', 'index texts',
    'soak, half a minute'
  ],
  slow: ['AddressSanitizer', 'ThreadSanitizer', 'Miri', 'mutants of every row', 'fuzz targets']
}
/** What a step was called before. */
const CALLED = { [WHOLE]: 'conformance' }

/** The suite of a step; undefined where there is none. */
export const suiteOf = (step) => Object.values(TIERS).flat().find(({ name }) => name === step)

/** The tier of a step. */
export const tierOf = (step) => Object.keys(TIERS).find((tier) => TIERS[tier].some(({ name }) => name === step)) ?? 'full'

/** The tier that a step was in, and what it was called there. */
export const before = (step) => ({ tier: Object.keys(BEFORE).find((tier) => BEFORE[tier].includes(step)) ?? 'quick', step: CALLED[step] ?? step })

/** A step as it is, with more arguments. */
export const step = (name, ...more) => ({ step: name, command: [...(suiteOf(name)?.command ?? []), ...more] })

/** Conformance tests whose names have this text. */
export const conformance = (filter) => step('conformance', '--', filter)

/** The same of the whole product. */
export const whole = ({ command }) => ({ step: WHOLE, command, env: { CONFORMANCE: 'all' } })

/** Rust tests of a package, of one of its test binaries (`--lib` or the name of one), whose names have one of these texts. */
export const rust = (crate, binary, ...filters) => ({
  step: 'Rust tests',
  command: ['cargo', 'test', '--release', '--package', `ferrotensor-${crate}`, ...(binary === '--lib' ? [binary] : ['--test', binary]), '--', ...filters]
})

/** JavaScript tests of some files, by their names without `.test.ts`. */
export const javascript = (...files) => step('JavaScript tests', ...files.map((name) => `dist/__test__/${name}.test.js`))

/** One file of them, of which the tests with these titles (`*` stands for anything). */
export const titled = (file, ...titles) => {
  const { command, ...rest } = javascript(file)
  return { ...rest, command: [...command, ...titles.flatMap((title) => ['--match', title])] }
}

/** The names of all JavaScript tests. */
export const testFiles = () => readdirSync(join(ROOT, '__test__'), { recursive: true }).map(String).filter((name) => name.endsWith('.test.ts'))

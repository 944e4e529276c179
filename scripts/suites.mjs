// Every suite there is, cheapest first: the one list that `npm test`, `npm run test:full` and `cargo xtask validate` run.
// Each suite says how its runner reports what passed; a suite that reports nothing did not run, and that is a failure.

import { npm } from './steps.mjs'

const sum = (output, pattern) => [...output.matchAll(pattern)].reduce((total, match) => total + Number(match[1]), 0)

/** A check that passes or fails as a whole. */
const whole = (_output, code) => (code === 0 ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 })

/** The closing lines of Rust test binaries: `test result: ok. 12 passed; 0 failed; ...`. */
const rust = (output) => ({
  passed: sum(output, /^test result: .*?(\d+) passed;/gm),
  failed: sum(output, /^test result: .*?(\d+) failed;/gm)
})

/** The closing lines of ava. */
const ava = (output) => ({
  passed: sum(output, /^\s*(\d+) tests? passed/gm),
  failed: sum(output, /^\s*(\d+) (?:tests? failed|uncaught exceptions?|unhandled rejections?)/gm)
})

/** Our own scripts: `N passed, N failed` alone on the last line. */
export const closing = (output) => {
  const lines = [...output.matchAll(/^(\d+) passed, (\d+) failed$/gm)]
  const [, passed, failed] = lines.at(-1) ?? [null, 0, 0]
  return { passed: Number(passed), failed: Number(failed) }
}

// Everything is built in one profile, release: numerical tests need it, and the dependencies are compiled once.
const cargo = (...args) => ['cargo', ...args]
const xtask = (...args) => cargo('run', '--quiet', '--release', '--package', 'xtask', '--', ...args)
const script = (name) => [process.execPath, `scripts/${name}.mjs`]

/** @type {{ name: string, command: string[], count: (output: string, code: number) => { passed: number, failed: number }, env?: object, setup?: boolean }[]} */
export const QUICK = [
  { name: 'format', command: cargo('fmt', '--all', '--check'), count: whole },
  { name: 'house rules', command: xtask('lint'), count: whole },
  { name: 'generated files', command: xtask('codegen', '--check'), count: whole },
  { name: 'clippy', command: cargo('clippy', '--quiet', '--release', '--workspace', '--all-targets', '--', '-D', 'warnings'), count: whole },
  { name: 'Rust tests', command: cargo('test', '--release', '--workspace', '--exclude', 'ferrotensor-conformance'), count: rust },
  { name: 'conformance', command: cargo('test', '--release', '--package', 'ferrotensor-conformance'), count: rust },
  // From here on the native module and the compiled TypeScript are needed.
  { name: 'declarations', command: [...script('bundle-types'), '--check'], count: whole, setup: true },
  { name: 'JavaScript tests', command: npm('exec', '--', 'ava'), count: ava, setup: true }
]

export const FULL = [
  { name: 'package and consumer', command: script('package-test'), count: closing, setup: true },
  { name: 'recipe: add an op', command: script('recipe-test'), count: closing },
  { name: 'benches, smoke', command: [...script('bench'), '--smoke'], count: closing, setup: true }
]

// Faults of the TypeScript half: texts, traces, trees, and what computes without Rust.

import { javascript, step, titled } from './commands.mjs'

export const SURFACE = [
  {
    name: 'a-step-backwards-goes-forwards',
    class: 'A text that users write is read as another (indices)',
    by: [javascript('indexing'), step('index texts')],
    patch: { file: 'lib/indexing/slice.ts', find: '  const by = read(step) ?? 1\n', replace: '  const by = Math.abs(read(step) ?? 1)\n' }
  },
  {
    name: 'a-slice-is-shown-without-its-step',
    class: 'A text that is shown reads back as another value',
    by: [javascript('indexing')],
    patch: { file: 'lib/indexing/slice.ts', find: "const tail = this.step === 1 ? '' : `:${this.step}`", replace: "const tail = this.step <= 1 ? '' : `:${this.step}`" }
  },
  {
    name: 'numbers-print-with-a-digit-less',
    class: 'A value is shown as another one',
    by: [javascript('print')],
    patch: { file: 'lib/tensor/print.ts', find: 'return Number(v.toPrecision(9))', replace: 'return Number(v.toPrecision(7))' }
  },
  {
    name: 'a-trace-serves-another-dtype',
    class: 'A traced program is used for arguments it was not made of',
    by: [javascript('jit')],
    patch: { file: 'lib/transforms/argument-signature.ts', find: 'if (type.row !== spec.type.row || type.device', replace: 'if (type.device' }
  },
  {
    name: 'pure-drops-the-last-sums',
    class: 'What computes without a native binary is wrong',
    by: [javascript('backends/values')],
    patch: { file: 'lib/backends/pure.ts', find: '  for (; i < to; i++) s0 += x[i]!\n', replace: '  for (; i < to - 1; i++) s0 += x[i]!\n' }
  },
  {
    name: 'a-cycle-is-walked-for-ever',
    class: 'An argument that contains itself is walked until the stack ends',
    by: [javascript('trees', 'robustness'), step('hostile calls')],
    patch: { file: 'lib/tree/traverse.ts', find: 'if (depth > DEEPEST) throw new ArgumentError(`${name} is nested deeper', replace: 'if (depth < 0) throw new ArgumentError(`${name} is nested deeper' }
  },
  {
    name: 'an-error-of-another-class',
    class: 'An error has another class or code than documented',
    by: [javascript('lifecycle')],
    patch: { file: 'lib/errors.ts', find: "readonly code = 'ERR_SHAPE'", replace: "readonly code = 'ERR_SHAPES'" }
  },
  {
    name: 'an-import-that-newer-nodes-lack',
    class: 'Something is used that another version of Node does not have',
    by: [step('other versions of Node', 'dist/__test__/surface.test.js')],
    why: 'Node 20, which runs the quick suites, still has it.',
    patch: { file: 'lib/tree/classes.ts', find: "import { ArgumentError } from '../errors.js'\n", replace: "import { isBoolean } from 'node:util'\nimport { ArgumentError } from '../errors.js'\nexport const isFlag: (value: unknown) => boolean = isBoolean\n" }
  },
  {
    name: 'a-wrong-argument-is-taken',
    class: 'A wrong call is taken without a word',
    by: [javascript('arguments')],
    patch: { file: 'lib/arguments/options.ts', find: '    if (!names.includes(name)) {\n      throw new ArgumentError(`${op}: unknown option', replace: "    if (!names.includes(name) && name === '') {\n      throw new ArgumentError(`${op}: unknown option" }
  },
  {
    name: 'an-average-is-not-corrected',
    class: "An optimiser's or a layer's steps are not PyTorch's",
    by: [javascript('optim/optim')],
    patch: { file: 'lib/optim/rules.ts', find: '1 - rate * weightDecay, Math.sqrt(1 - beta2 ** count)] as const', replace: '1 - rate * weightDecay, Math.sqrt(1 - beta2)] as const' }
  },
  {
    name: 'a-generator-repeats-its-draws',
    class: 'A state that each call must change stays as it is',
    by: [javascript('random')],
    patch: { file: 'lib/random/generator.ts', find: '    this.#draws++\n', replace: '' }
  },
  {
    name: 'a-command-replaces-a-file-unasked',
    class: 'The command line replaces what it was not told to replace',
    by: [javascript('cli/replacing')],
    patch: { file: 'lib/cli/convert.ts', find: "  const force = given.flag('force')\n", replace: "  const force = given.flag('force') || to !== ''\n" }
  },
  {
    name: 'a-dropped-value-is-computed-again-and-again',
    class: 'Work is done twice, which shows in counters alone',
    by: [titled('lifecycle', 'values dropped by*', 'operations with several*'), titled('memory', 'unread loops*')],
    patch: { file: 'lib/program/writer.ts', find: '    if (again) recomputed++\n', replace: '    if (again) recomputed += 2\n' }
  },
  {
    name: 'an-operation-has-no-bench',
    class: 'A new operation is not measured beside its peers',
    by: [{ ...step('benches, smoke'), command: [process.execPath, 'scripts/bench.mjs', 'operations', '--smoke'] }],
    why: 'Benches are no tests; the short run of each is what holds them.',
    patch: { file: 'benches/operations/elementwise.ts', find: "  ['rsqrt', ({ p }) => ft.rsqrt(p), '1 / np.sqrt(p)'],\n", replace: '' }
  }
]

// Faults of the repository itself: what is generated, formatted, spelt, linted, documented and packed. Sources in Rust are patched in xtask,
// which nothing is built on: with another time of change all that uses a crate is built anew. Words that the checks forbid are
// written in two parts, so that this file passes them.

import { javascript, step, titled } from './commands.mjs'

export const REPOSITORY = [
  {
    name: 'a-file-is-not-formatted',
    class: 'A source file is not as the formatter leaves it',
    by: [step('format')],
    patch: { file: 'xtask/src/links.rs', find: 'use std::path::Path;', replace: 'use   std::path::Path;' }
  },
  {
    name: 'a-word-is-misspelt',
    class: 'A word is misspelt',
    by: [step('spelling')],
    patch: { file: 'docs/indexing.md', find: '# Indexing\n', replace: `# Indexing\n\nWhat is rec${'ie'}ved.\n` }
  },
  {
    name: 'a-file-says-nothing',
    class: 'A file breaks a house rule',
    by: [step('house rules')],
    patch: { file: 'lib/indexing/slice.ts', find: "// Index items as users write them, and the text form `'1:3, ..., ::-1'`.\n\n", replace: '' }
  },
  {
    name: 'a-dependency-goes-the-wrong-way',
    class: 'A crate uses one that stands above it',
    by: [step('house rules')],
    patch: { file: 'crates/io/Cargo.toml', find: 'ferrotensor-core.workspace = true\n', replace: 'ferrotensor-core.workspace = true\nferrotensor-ops.workspace = true\n' }
  },
  {
    name: 'an-import-goes-the-wrong-way',
    class: 'A file of lib/ imports one of a folder above it',
    by: [step('house rules')],
    patch: { file: 'lib/text/units.ts', find: '/** Three significant digits. */', replace: "import '../tensor/tensor.js'\n\n/** Three significant digits. */" }
  },
  {
    name: 'a-path-is-gone',
    class: 'A document names a file that is not there',
    by: [step('house rules')],
    patch: { file: 'ARCHITECTURE.md', find: '`crates/engine/src/arena.rs`', replace: '`crates/engine/src/arenas.rs`' }
  },
  {
    name: 'a-licence-is-not-allowed',
    class: 'A crate has a licence that the package must not pass on',
    by: [step('licences and sources')],
    patch: { file: 'xtask/Cargo.toml', find: 'license.workspace = true', replace: 'license = "GPL-3.0-only"' }
  },
  {
    name: 'a-generated-file-is-edited',
    class: 'What is generated from the table is not what the table says',
    by: [step('generated files')],
    patch: { file: 'lib/generated/protocol.ts', find: '/** Header: parameters of the program. */', replace: '/** Header: numbers of the program. */' }
  },
  {
    name: 'a-result-is-better-than-measured',
    class: 'Documented figures are not those of the last measurement',
    by: [step('table of performance')],
    patch: { file: 'docs/benchmarks.md', find: 'gates met. Node', replace: 'gates met, nearly. Node' }
  },
  {
    name: 'a-lint-is-not-kept',
    class: 'A compiler or linter warns',
    by: [{ ...step('clippy'), command: ['cargo', 'clippy', '--quiet', '--release', '--package', 'xtask', '--all-targets', '--', '-D', 'warnings'] }],
    patch: { file: 'xtask/src/links.rs', find: "word.rsplit_once('/').unwrap_or((\"\", \"\"));", replace: "word.rsplit_once('/').unwrap_or((\"\", \"\")).clone();" }
  },
  {
    name: 'declarations-are-old',
    class: 'The declarations that are checked in are not those of the sources',
    by: [step('declarations')],
    patch: { file: 'lib/devices/devices.ts', find: 'export function setThreads(count: number): void {', replace: 'export function setThreads(count: number, _pinned = false): void {' }
  },
  {
    name: 'a-type-is-wrong-for-users',
    class: 'The declarations compile here and not in a project of their users',
    by: [javascript('consumer')],
    patch: { file: 'index.d.ts', find: 'declare function setThreads(count: number): void;', replace: 'declare function setThreads(count: number): void;\ndeclare const hidden: Hidden;' }
  },
  {
    name: 'an-example-gives-something-else',
    class: 'A documented example gives something else',
    by: [titled('documentation', 'ft.arange(12).reshape(\\[3, 4\\]).at(1*'), javascript('documentation')],
    patch: { file: 'docs/indexing.md', find: ".at(1, '::-1') // [7, 6, 5, 4]", replace: ".at(1, '::-1') // [4, 5, 6, 7]" }
  },
  {
    name: 'a-help-is-another',
    class: 'A documented help or output is another',
    by: [javascript('cli/usage')],
    patch: { file: 'docs/command-line.md', find: '  check                verify the installation on each device\n', replace: '  check                verify the installation\n' }
  },
  {
    name: 'a-package-lacks-a-file',
    class: 'A package lacks what its users need',
    by: [step('package and consumer')],
    why: 'It packs what npm would publish and installs it in an empty project.',
    patch: { file: 'package.json', find: '    "dist/lib",\n    "/index.d.ts",\n', replace: '    "dist/lib",\n' }
  },
  {
    name: 'a-recipe-is-out-of-date',
    class: 'A recipe of CONTRIBUTING.md no longer works',
    by: [step('recipe: add an op')],
    why: 'It builds a copy of the repository with the row of the recipe in it.',
    patch: { file: 'CONTRIBUTING.md', find: 'b.binary(Op::Mul, square, x[0]) })', replace: 'b.product(square, x[0]) })' }
  }
]

// Faults of the boundary between JavaScript and native code, and of finding the native binary.

import { javascript, rust, step, titled } from './commands.mjs'

export const BOUNDARY = [
  {
    name: 'a-closed-scope-keeps-its-handles',
    class: 'Handles leak',
    by: [titled('lifecycle', 'the end of a scope frees*')]
  },
  {
    name: 'a-stale-handle-is-another-tensor',
    class: 'A handle that was freed is taken for what has its place now',
    by: [titled('lifecycle', 'a handle that was freed*')]
  },
  {
    name: 'dead-wrappers-keep-their-tensors',
    class: 'Memory of what JavaScript has collected is not freed',
    by: [titled('memory', 'bounded: 400 uploads*')]
  },
  {
    name: 'a-panic-leaves-native-code',
    class: 'A panic ends the process of the caller',
    by: [rust('node', '--lib', 'error')]
  },
  {
    name: 'a-promise-is-never-settled',
    class: 'A promise stays open, and what waits for it waits for ever',
    // ava ends a file that says nothing for this long; the suite itself waits two minutes.
    by: [{ ...titled('lifecycle', 'large results*'), more: ['--timeout=15s'] }]
  },
  {
    name: 'a-function-is-missing-on-one-side',
    class: 'The two sides of the boundary differ',
    by: [javascript('boundary')],
    patch: { file: 'lib/native/control.ts', find: '  setThreads: true,\n', replace: '  setThreads: true,\n  // @ts-expect-error\n  setThreadCount: true,\n' }
  },
  {
    name: 'musl-is-taken-for-glibc',
    class: "The package of another platform is looked for (system, processor, C library)",
    by: [javascript('no-binary/absent')],
    patch: { file: 'lib/loader.ts', find: "`linux-${arch}-${usesGlibc() ? 'gnu' : 'musl'}`", replace: "`linux-${arch}-${usesGlibc() || arch === 'x64' ? 'gnu' : 'musl'}`" }
  },
  {
    name: 'a-platform-without-a-package-is-not-told',
    class: 'A binary that is missing is explained wrongly',
    by: [javascript('no-binary/absent')],
    patch: { file: 'lib/loader.ts', find: 'if (!PLATFORMS.includes(triple)) {', replace: 'if (PLATFORMS.length === 0) {' }
  },
  {
    name: 'a-cut-library-is-opened',
    class: 'A damaged binary ends the process',
    by: [javascript('no-binary/damaged')],
    patch: { file: 'lib/elf.ts', find: 'if (table.readUInt32LE(row + ROW.type) === LOAD && end > size) return true', replace: 'if (table.readUInt32LE(row + ROW.type) === LOAD && end > 2n * size) return true' }
  },
  {
    name: 'a-package-of-another-version-is-loaded',
    class: 'Halves of different versions are put together',
    by: [javascript('no-binary/absent', 'no-binary/damaged'), step('package and consumer')],
    patch: { file: 'lib/loader.ts', find: 'if (version !== VERSION) throw', replace: 'if (version === undefined) throw' }
  },
  {
    name: 'tables-of-another-version-are-loaded',
    class: 'Halves that were made from different tables are put together',
    by: [javascript('no-binary/absent')],
    patch: { file: 'lib/loader.ts', find: 'return theirs === TABLE_HASH ? null', replace: "return typeof theirs === 'string' ? null" }
  }
]

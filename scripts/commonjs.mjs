// The package for those that cannot load ES modules through `require`, as Jest: all of its modules as one of CommonJS, the entry points over
// it, and the declarations that go with them (docs/decisions/033-commonjs-build.md). Written into the folder of a package by scripts/pack.mjs.

import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rollup } from 'rollup'

/** The entry points, by the names of their declarations and of their CommonJS: what is imported, and its ES module. */
const ENTRIES = {
  index: ['.', 'dist/index.js'],
  plot: ['./plot', 'dist/lib/plot/index.js'],
  testing: ['./testing', 'dist/testing.js']
}

/** What each condition leads to. */
const conditions = (name, module) => ({
  // Node, which requires ES modules: `import` and `require` have one library.
  'module-sync': `./${module}`,
  // Bundlers, likewise for both.
  module: `./${module}`,
  // Jest; TypeScript for CommonJS.
  require: { types: `./${name}.d.cts`, default: `./dist/cjs/${name}.cjs` },
  default: { types: `./${name}.d.ts`, default: `./${module}` }
})

/** `exports` of the published package; the first condition that a tool knows counts. A checkout has the ES modules alone. */
export const EXPORTS = {
  ...Object.fromEntries(Object.entries(ENTRIES).map(([name, [path, module]]) => [path, conditions(name, module)])),
  './package.json': './package.json'
}

/** What the package has beside the files of a checkout. */
export const FILES = ['dist/cjs', ...Object.keys(ENTRIES).map((name) => `/${name}.d.cts`)]

/** A module for each entry point over one of all the others: a second library would not know the tensors of the first. */
async function write(folder) {
  const input = Object.fromEntries(Object.entries(ENTRIES).map(([name, [, module]]) => [name, join(folder, module)]))
  const entries = Object.values(input)
  const bundle = await rollup({
    input,
    external: /^node:/,
    // The loader has its file from `__filename`, and the address of a page is none (Jest with jsdom).
    plugins: [{ name: 'no-url', resolveImportMeta: () => 'undefined' }],
    onLog(level, log) {
      if (level === 'warn' && log.code !== 'CIRCULAR_DEPENDENCY') throw new Error(log.message)
    }
  })
  await bundle.write({
    dir: join(folder, 'dist/cjs'),
    format: 'cjs',
    esModule: true,
    generatedCode: 'es2015',
    externalLiveBindings: false,
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    manualChunks: (id) => (entries.includes(id) ? undefined : 'library')
  })
  await bundle.close()
}

/** Adds what is for `require` to a package that has the ES modules and their declarations. */
export async function addCommonJs(folder) {
  await write(folder)
  // One set of declarations, too: a class that is declared twice is two types. ES modules may import CommonJS in every version of TypeScript.
  for (const name of Object.keys(ENTRIES)) {
    await rename(join(folder, `${name}.d.ts`), join(folder, `${name}.d.cts`))
    await writeFile(join(folder, `${name}.d.ts`), `export * from './${name}.cjs'\n`)
  }
}

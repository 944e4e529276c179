// The package for those that cannot load ES modules through `require`, as Jest: all of its modules as one of CommonJS, and the declarations
// that go with it (docs/decisions/033-commonjs-build.md). Written into the folder of a package by scripts/pack.mjs.

import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rollup } from 'rollup'

/** `exports` of the published package; the first condition that a tool knows counts. A checkout has the ES modules alone. */
export const EXPORTS = {
  '.': {
    // Node, which requires ES modules: `import` and `require` have one library.
    'module-sync': './dist/index.js',
    // Bundlers, likewise for both.
    module: './dist/index.js',
    // Jest; TypeScript for CommonJS.
    require: { types: './index.d.cts', default: './dist/cjs/index.cjs' },
    default: { types: './index.d.ts', default: './dist/index.js' }
  },
  './package.json': './package.json'
}

/** What the package has beside the files of a checkout. */
export const FILES = ['dist/cjs', 'index.d.cts']

/** One module of all. */
async function bundled(input) {
  const bundle = await rollup({
    input,
    external: /^node:/,
    // The loader has its file from `__filename`, and the address of a page is none (Jest with jsdom).
    plugins: [{ name: 'no-url', resolveImportMeta: () => 'undefined' }],
    onLog(level, log) {
      if (level === 'warn' && log.code !== 'CIRCULAR_DEPENDENCY') throw new Error(log.message)
    }
  })
  const { output } = await bundle.generate({ format: 'cjs', esModule: true, generatedCode: 'es2015', externalLiveBindings: false })
  await bundle.close()
  return output[0].code
}

/** Adds what is for `require` to a package that has the ES modules and their declarations. */
export async function addCommonJs(folder) {
  await mkdir(join(folder, 'dist/cjs'))
  await writeFile(join(folder, 'dist/cjs/index.cjs'), await bundled(join(folder, 'dist/index.js')))
  // One set of declarations, too: a class that is declared twice is two types. ES modules may import CommonJS in every version of TypeScript.
  await rename(join(folder, 'index.d.ts'), join(folder, 'index.d.cts'))
  await writeFile(join(folder, 'index.d.ts'), "export * from './index.cjs'\n")
}

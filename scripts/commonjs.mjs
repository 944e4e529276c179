// The package for those that require it: all of its modules as one in CommonJS, which is also what `import` loads in Node, so that both see
// one library (docs/decisions/033-one-commonjs-module.md). Written into the folder of a package by scripts/pack.mjs.

import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rollup } from 'rollup'

/**
 * `exports` of the published package; the first condition that a tool knows counts. A checkout has the ES modules alone, since its tests share
 * their state.
 */
export const EXPORTS = {
  '.': {
    // Bundlers, for `import` and `require`: one file of CommonJS in an ES module could not require Node's own modules.
    module: './dist/index.js',
    // Node, Jest, Vitest, Bun.
    'node-addons': { require: './dist/cjs/index.cjs', default: './dist/cjs/index.js' },
    // TypeScript; Jest with jsdom.
    require: { types: './index.d.cts', default: './dist/cjs/index.cjs' },
    default: { types: './index.d.ts', default: './dist/index.js' }
  },
  './package.json': './package.json'
}

/** What the package has beside the files of a checkout. */
export const FILES = ['dist/cjs', 'index.d.cts']

/** One module of all, and the names it exports. */
async function bundled(input) {
  const bundle = await rollup({
    input,
    external: /^node:/,
    // The loader has a file's path from `__filename`, and a page's address is none (Jest with jsdom).
    plugins: [{ name: 'no-url', resolveImportMeta: () => 'undefined' }],
    onLog(level, log) {
      if (level === 'warn' && log.code !== 'CIRCULAR_DEPENDENCY') throw new Error(log.message)
    }
  })
  const { output } = await bundle.generate({ format: 'cjs', esModule: true, generatedCode: 'es2015', externalLiveBindings: false })
  await bundle.close()
  const [{ code, exports }] = output
  return { code, names: exports.toSorted() }
}

/**
 * The ES module that exports the same objects. It requires them: an import would have Node search the text for names (200 ms of 400 on Node 22),
 * and bring a name `module.exports` with it. Each has a local name, since `var` is none.
 */
const wrapper = (names) => `import { createRequire } from 'node:module'

const { ${names.map((name) => `${name}: $${name}`).join(', ')} } = createRequire(import.meta.url)('./index.cjs')

export { ${names.map((name) => `$${name} as ${name}`).join(', ')} }
`

/** Adds what is for `require` to a package that has the ES modules and their declarations. */
export async function addCommonJs(folder) {
  const { code, names } = await bundled(join(folder, 'dist/index.js'))
  await mkdir(join(folder, 'dist/cjs'))
  await writeFile(join(folder, 'dist/cjs/index.cjs'), code)
  await writeFile(join(folder, 'dist/cjs/index.js'), wrapper(names))
  // One set of declarations, too: a class that is declared twice is two types. ES modules may import CommonJS in every version of TypeScript.
  await rename(join(folder, 'index.d.ts'), join(folder, 'index.d.cts'))
  await writeFile(join(folder, 'index.d.ts'), "export * from './index.cjs'\n")
}

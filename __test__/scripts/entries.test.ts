// The published package beside the checkout: every entry point, for `import` and for what requires CommonJS, with one library behind all of them.
// runs on: host

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'

interface Published {
  readonly EXPORTS: Readonly<Record<string, unknown>>
  addCommonJs(folder: string): Promise<void>
}

// This file runs as dist/__test__/scripts/entries.test.js.
const root = fileURLToPath(new URL('../../../', import.meta.url))
const { EXPORTS, addCommonJs } = (await import(new URL('../../../scripts/commonjs.mjs', import.meta.url).href)) as Published
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly exports: Readonly<Record<string, unknown>> }

const targets = (target: unknown): string[] => (typeof target === 'string' ? [target] : Object.values(target as object).flatMap(targets))

test('the published package has the entry points of the checkout', (t) => {
  t.deepEqual(Object.keys(EXPORTS), Object.keys(manifest.exports))
})

test('entry points have one library, required by Jest and imported', async (t) => {
  const project = mkdtempSync(join(tmpdir(), 'ferrotensor-entries-'))
  t.teardown(() => rmSync(project, { recursive: true }))
  const folder = join(project, 'node_modules/ferrotensor')
  mkdirSync(join(folder, 'dist'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, exports: EXPORTS }))
  for (const path of ['dist/index.js', 'dist/testing.js', 'dist/lib', 'index.d.ts', 'plot.d.ts', 'testing.d.ts']) cpSync(join(root, path), join(folder, path), { recursive: true })
  symlinkSync(join(root, 'native'), join(folder, 'native'))
  await addCommonJs(folder)
  t.deepEqual(targets(EXPORTS).filter((path) => !existsSync(join(folder, path))), [])

  const uses = "console.log([assertEqual(ft.tensor([1]), [1]) === undefined, typeof plot.lines([1, 2]).svg, ft.tensor([1]) instanceof ft.Tensor].join())"
  const programs = {
    'required.cjs': `const ft = require('ferrotensor'), { assertEqual } = require('ferrotensor/testing'), plot = require('ferrotensor/plot')\n${uses}`,
    'imported.mjs': `import * as ft from 'ferrotensor'\nimport { assertEqual } from 'ferrotensor/testing'\nimport * as plot from 'ferrotensor/plot'\n${uses}`
  }
  // Without ES modules for `require`, Node meets the conditions of Jest.
  for (const [name, flags] of [['required.cjs', []], ['required.cjs', ['--no-experimental-require-module']], ['imported.mjs', []]] as const) {
    writeFileSync(join(project, name), programs[name])
    const { stdout, stderr } = spawnSync(process.execPath, [...flags, name], { cwd: project, encoding: 'utf8' })
    t.is(stdout, 'true,string,true\n', `${name} ${flags.join(' ')}\n${stderr}`)
  }

  writeFileSync(join(project, 'typed.cts'), "import ft = require('ferrotensor')\nimport testing = require('ferrotensor/testing')\nimport plot = require('ferrotensor/plot')\ntesting.assertEqual(ft.tensor([1]), [1])\nexport const text: string = plot.lines([1, 2]).svg\n")
  writeFileSync(join(project, 'typed.mts'), "import * as ft from 'ferrotensor'\nimport { assertEqual } from 'ferrotensor/testing'\nimport * as plot from 'ferrotensor/plot'\nassertEqual(ft.tensor([1]), [1])\nexport const text: string = plot.lines([1, 2]).svg\n")
  const tsc = [join(root, 'node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--skipLibCheck', 'false', '--types', '', '--lib', 'ES2023,DOM', '--target', 'ES2022', '--module']
  // What holds where CommonJS may not require ES modules holds elsewhere.
  const { status, stdout } = spawnSync(process.execPath, [...tsc, 'node16', 'typed.cts', 'typed.mts'], { cwd: project, encoding: 'utf8' })
  t.is(status, 0, stdout)
})

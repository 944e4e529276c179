// The package in bundlers and under test runners: the files and commands of docs/toolchains.md, run in a folder with the tools from the
// registry. Each command must succeed; a program, bundled or not, must print what it does from the sources.

import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { npm, ROOT, run } from './steps.mjs'

const TOOLS = {
  '@rollup/plugin-node-resolve': '16.0.3',
  ava: '7.0.0',
  esbuild: '0.28.2',
  jest: '30.5.2',
  rollup: '4.68.7',
  vite: '8.4.0',
  // The newest that runs on Node 20.
  vitest: '4.1.12',
  webpack: '5.113.0',
  'webpack-cli': '7.3.1'
}

/** Where each tool's program is. */
const PROGRAMS = {
  ava: 'ava/entrypoints/cli.mjs',
  jest: 'jest/bin/jest.js',
  rollup: 'rollup/dist/bin/rollup',
  vite: 'vite/bin/vite.js',
  vitest: 'vitest/vitest.mjs',
  webpack: 'webpack-cli/bin/cli.js'
}

/** What a bundler may spoil: the native module, names of classes and the version. */
const APP = `import * as ft from 'ferrotensor'
import { createRequire } from 'node:module'

const classes = { ...ft, ...ft.nn, ...ft.random }
const renamed = Object.keys(classes).filter((name) => /^[A-Z]/.test(name) && /^class\\b/.test(String(classes[name])) && classes[classes[name].name] !== classes[name])
// An uncaught error would print the line of a minified bundle before its message.
try { ft.tensor([1]) } catch (e) { console.log(String(e)); process.exit(1) }
let error
try { ft.ones([2]).add(ft.ones([3])) } catch (e) { error = e }
const { version } = ft.backends.get('pure').info()
console.log(JSON.stringify({ sum: ft.tensor([1, 2, 3]).sum().itemSync(), device: ft.devices()[0].name, typed: error instanceof ft.ShapeError, text: String(error), layer: new ft.nn.Linear(3, 1).name, renamed, version }))
`

const page = await readFile(join(ROOT, 'docs/toolchains.md'), 'utf8')

/** The parts of the page that have commands: title, files by name, commands. */
const sections = page.split(/^## /m).slice(1).map((text) => {
  const blocks = [...text.matchAll(/^```(\w+)\n([^]*?)^```/gm)]
  const files = blocks.flatMap(([, , code]) => [/^\/\/ (\S+)\n/.exec(code)].filter(Boolean).map(([, name]) => [name, code]))
  return { title: text.slice(0, text.indexOf('\n')), files, commands: blocks.flatMap(([, language, code]) => (language === 'sh' ? code.trim().split('\n') : [])) }
}).filter(({ commands }) => commands.length > 0)

/** A command as a process is started: tools by their scripts, which need no shell. That of esbuild may be a binary. */
function started(command) {
  const [program, ...args] = command.split(' ')
  if (program === 'node') return [process.execPath, ...args]
  if (program === 'esbuild') return npm('exec', '--', ...command.split(' '))
  const script = PROGRAMS[program]
  if (script === undefined) throw new Error(`docs/toolchains.md runs what is no tool: ${command}`)
  return [process.execPath, join('node_modules', script), ...args]
}

/** Programs are compared with what the sources print; of other commands the end says enough. */
const isBundle = (command) => command.startsWith('node out/')

/**
 * Runs the page in a new project with these tarballs. `check` takes what was looked at, whether it holds, and details.
 */
export async function checkToolchains(cwd, tarballs, check) {
  const env = { FERROTENSOR_NATIVE: '', NODE_OPTIONS: '', NODE_ENV: '' }
  await mkdir(cwd)
  await writeFile(join(cwd, 'package.json'), JSON.stringify({ private: true, dependencies: TOOLS }))
  const installed = await run(npm('install', '--no-audit', '--no-fund', ...tarballs), { cwd, env })
  check(`toolchains: npm install of ${Object.keys(TOOLS).join(', ')}`, installed.code === 0, installed.output)
  if (installed.code !== 0) return
  await writeFile(join(cwd, 'app.mjs'), APP)
  const expected = await run([process.execPath, 'app.mjs'], { cwd, env })
  check('the program runs as it is', expected.code === 0 && expected.output.includes('"renamed":[]') && expected.output.includes('"sum":6'), expected.output)
  for (const { title, files, commands } of sections) {
    for (const [name, code] of files) {
      await mkdir(dirname(join(cwd, name)), { recursive: true })
      await writeFile(join(cwd, name), code)
    }
    for (const command of commands) {
      const { code, output } = await run(started(command), { cwd, env })
      check(`${title}: ${command}`, code === 0 && (!isBundle(command) || output === expected.output), output)
    }
  }
  await checkMoved(cwd, env, expected.output, check)
}

/** Bundles in a folder that has the platform's package alone, and in one that has nothing. */
async function checkMoved(cwd, env, expected, check) {
  const bundles = sections.flatMap(({ commands }) => commands).filter((command) => isBundle(command) && !command.includes('external')).map((command) => command.replace('node ', ''))
  const folders = { 'with the package of the platform alone': join(cwd, '../moved'), 'without any package': join(cwd, '../bare') }
  for (const [what, folder] of Object.entries(folders)) {
    await cp(join(cwd, 'out'), join(folder, 'out'), { recursive: true })
    if (what.startsWith('with the')) await cp(join(cwd, 'node_modules/@ferrotensor'), join(folder, 'node_modules/@ferrotensor'), { recursive: true })
  }
  // A path of the machine that bundled, as webpack writes it, leads nowhere here.
  await rm(join(cwd, 'node_modules/ferrotensor'), { recursive: true })
  for (const bundle of bundles) {
    const [moved, bare] = await Promise.all(Object.values(folders).map((folder) => run([process.execPath, bundle], { cwd: folder, env })))
    check(`${bundle} runs with the package of the platform alone`, moved.code === 0 && moved.output === expected, moved.output)
    check(`${bundle} says what is missing where there is nothing`, bare.code !== 0 && /native-\S+" is not installed\.\n {2}ferrotensor is part of a bundle here, .*\n {2}Fix: install it there: npm i/.test(bare.output), bare.output)
  }
}

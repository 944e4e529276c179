// What npm would publish, installed as a user installs it: the tarballs of the main package and of this platform's in an empty
// folder, without Rust and without network. The example of README.md runs there in JavaScript and TypeScript, as ES module and
// through `require`, and the command line as `npx` finds it. Without the platform's package, with a wrong one and on an unknown platform the package says so.
// Then, with tools from the registry, what docs/toolchains.md runs (toolchains.mjs).

import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { packAll, PLATFORMS, sizes } from './pack.mjs'
import { npm, ROOT, run } from './steps.mjs'
import { checkToolchains } from './toolchains.mjs'

/** Everything the main package may contain; tests, examples, sources and binaries stay at home. */
const ALLOWED = /^(package\.json|README\.md|LICENSE|(index|plot|testing)\.d\.c?ts|dist\/(index|testing)\.js|dist\/cjs\/(index|library|plot|testing)\.cjs|dist\/lib\/[\w./-]+\.js)$/
const REQUIRED = ['package.json', 'README.md', 'LICENSE', 'index.d.ts', 'index.d.cts', 'plot.d.ts', 'plot.d.cts', 'testing.d.ts', 'testing.d.cts', 'dist/index.js', 'dist/testing.js', 'dist/cjs/index.cjs', 'dist/cjs/library.cjs', 'dist/lib/plot/index.js', 'dist/lib/tensor/tensor.js']

const TYPED = `import * as ft from 'ferrotensor'
const sum: ft.Tensor<'float64'> = ft.tensor([1, 2, 3]).add(ft.fromTypedArray(new Float64Array([1, 1, 1])))
// @ts-expect-error: a float64 tensor is no int32 tensor
export const wrong: ft.Tensor<'int32'> = sum
using product = sum.mul(2)
console.log(JSON.stringify(product.toArray()))
`
const REQUIRING = `import ft = require('ferrotensor')
const x: ft.Tensor<'float32'> = ft.tensor([1, 2])
console.log(JSON.stringify(x.toArray()))
`
/** A sum of what is required, and whether it is of the class that is imported; the other entry points, which know tensors of their own library alone. */
const BOTH = `import { createRequire } from 'node:module'
import * as ft from 'ferrotensor'
import { assertEqual } from 'ferrotensor/testing'
import { lines } from 'ferrotensor/plot'
const require = createRequire(import.meta.url)
const sum = require('ferrotensor').tensor([1, 2]).sum()
require('ferrotensor/testing').assertEqual(sum, 3)
assertEqual(ft.tensor([1]), [1])
if (require('ferrotensor/plot').lines([1, 2]).svg !== lines([1, 2]).svg) throw new Error('plots differ')
console.log(JSON.stringify([sum.itemSync(), sum instanceof ft.Tensor]))
`
/** CommonJS and an ES module of one program: what one makes, the other takes. */
const MAKING = `import * as ft from 'ferrotensor'
export const made: ft.Tensor<'float32'> = ft.tensor([1, 2])
`
const TAKING = `import type { made } from './making.cjs'
import * as ft from 'ferrotensor'
export const take = (x: typeof made): ft.Tensor<'float32'> => x
`
/** Types of Node itself are the consumer's: \`console\` is all these programs need of them. */
const CONFIG = {
  compilerOptions: { target: 'ES2022', lib: ['ES2023', 'DOM'], module: 'NodeNext', strict: true, skipLibCheck: false, types: [], outDir: 'out' },
  include: ['*.ts', '*.cts']
}
/** Prints the message of what using the package throws; importing it must not. */
const REASON = `import * as ft from 'ferrotensor'
try { ft.tensor([1]); console.log('no error') } catch (e) { console.log(e.code, e.message) }
`

let [passed, failed] = [0, 0]
function check(what, ok, detail = '') {
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${what}${ok ? '' : `\n${detail}`}`)
  if (ok) passed++
  else failed++
}

/** The first fenced block of a language in README.md. */
const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
const block = (language) => readme.match(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``))?.[1]

/** A user's environment: no Rust, and an npm that neither asks the registry nor finds anything in a cache. */
const userEnvironment = (folder) => ({
  PATH: process.env.PATH.split(delimiter).filter((path) => !existsSync(join(path, 'cargo')) && !existsSync(join(path, 'cargo.exe'))).join(delimiter),
  npm_config_offline: 'true',
  npm_config_cache: join(folder, '.npm'),
  FERROTENSOR_NATIVE: ''
})

/** Installs tarballs in an empty project, and returns it with a function that runs a program there. */
async function project(folder, name, tarballs) {
  const cwd = join(folder, name)
  const env = userEnvironment(folder)
  const installed = await run(npm('install', '--prefix', cwd, '--no-audit', '--no-fund', ...tarballs), { cwd: folder, env })
  check(`${name}: npm install of ${tarballs.length} tarballs`, installed.code === 0, installed.output)
  const execute = async (program, source, ...flags) => {
    if (source !== undefined) await writeFile(join(cwd, program), source)
    return run([process.execPath, ...flags, program], { cwd, env })
  }
  return { cwd, env, execute }
}

function checkContents({ main, platforms, absent }) {
  const strangers = main.paths.filter((path) => !ALLOWED.test(path))
  check('the main package contains nothing else', strangers.length === 0, strangers.join('\n'))
  const missing = REQUIRED.filter((path) => !main.paths.includes(path))
  check('the main package contains what it must', missing.length === 0, missing.join('\n'))
  const orphans = main.paths.filter((path) => /^dist\/.*\.js$/.test(path) && !existsSync(join(ROOT, path.replace(/^dist\/(.*)\.js$/, '$1.ts'))))
  check('every module has its source', orphans.length === 0, orphans.join('\n'))
  for (const { name, binary, paths } of platforms) {
    const expected = ['LICENSE', 'README.md', 'THIRD-PARTY-NOTICES', binary, 'package.json']
    check(`${name} contains its binary and the licences`, paths.toSorted().join() === expected.toSorted().join(), paths.join('\n'))
  }
  for (const packed of [main, ...platforms]) console.log(`note: ${sizes(packed)}`)
  console.log(`note: not built here: ${absent.join(', ')}`)
}

async function checkManifests({ main, platforms }) {
  const { exports, bin, scripts, devDependencies, optionalDependencies, private: hidden, version } = JSON.parse(await readFile(join(main.folder, 'package.json'), 'utf8'))
  const paths = (target) => (typeof target === 'string' ? [target] : Object.values(target).flatMap(paths))
  const targets = paths([exports, bin])
  const dangling = targets.filter((target) => !main.paths.includes(target.replace('./', '')))
  check('every export and program is in the package', dangling.length === 0, dangling.join('\n'))
  check('there are no scripts, no install hook among them', scripts === undefined && devDependencies === undefined && hidden === undefined)
  const wanted = Object.fromEntries(PLATFORMS.map(({ name }) => [name, version]))
  check('each platform is an optional dependency, of this version', JSON.stringify(optionalDependencies) === JSON.stringify(wanted), JSON.stringify(optionalDependencies))
  for (const { name, folder, binary } of platforms) {
    const { os, cpu, libc, main: entry, scripts: hooks } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const complete = os?.length === 1 && cpu?.length === 1 && (os[0] !== 'linux' || libc?.length === 1) && entry === binary && hooks === undefined
    check(`${name} says for which os, cpu and libc it is`, complete, JSON.stringify({ os, cpu, libc, entry, hooks }))
  }
}

async function checkPrograms({ cwd, env, execute }) {
  const cargo = await run(['cargo', '--version'], { env })
  check('the user has no Rust', cargo.code !== 0, cargo.output)
  const expected = block('text')
  const script = await execute('readme.mjs', block('ts'))
  check('the example of README.md runs in JavaScript', script.code === 0 && script.output === expected, script.output)
  const required = await execute('required.cjs', `const ft = require('ferrotensor')\nconsole.log(String(ft.tensor([1, 2])))\n`)
  check('require works', required.code === 0 && required.output === '[1, 2]\n', required.output)
  for (const [how, ...flags] of [['Node'], ['a Node that requires no ES modules', '--no-experimental-require-module']]) {
    const both = await execute('both.mjs', BOTH, ...flags)
    check(`${how}: ${flags.length > 0 ? 'require works' : 'import and require have one library'}`, both.code === 0 && both.output === `[3,${flags.length === 0}]\n`, both.output)
  }
  for (const [program, source] of [['readme.ts', block('ts')], ['typed.ts', TYPED], ['requiring.cts', REQUIRING], ['making.cts', MAKING], ['taking.ts', TAKING]]) await writeFile(join(cwd, program), source)
  const pkg = JSON.parse(await readFile(join(cwd, 'package.json'), 'utf8'))
  await writeFile(join(cwd, 'package.json'), JSON.stringify({ ...pkg, type: 'module' }))
  await writeFile(join(cwd, 'tsconfig.json'), JSON.stringify(CONFIG))
  const compiled = await run([process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', cwd])
  check('TypeScript programs compile with skipLibCheck: false', compiled.code === 0, compiled.output)
  const older = await run([process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', cwd, '--module', 'node16', '--noEmit'])
  check('they compile where CommonJS may not require ES modules (module: node16)', older.code === 0, older.output)
  for (const [program, output] of [['readme.js', expected], ['typed.js', '[4,6,8]\n'], ['requiring.cjs', '[1,2]\n']]) {
    const ran = await execute(join('out', program))
    check(`${program}, compiled from TypeScript, runs`, ran.code === 0 && ran.output === output, ran.output)
  }
}

/** The command line, found as `npx ferrotensor` finds it, and by its path as shells run it. */
async function checkCommand({ cwd, env }) {
  const main = join(cwd, 'node_modules/ferrotensor/dist/lib/cli/main.js')
  check('the program begins with how it is run', (await readFile(main, 'utf8')).startsWith('#!/usr/bin/env node\n'))
  const devices = await run(npm('exec', '--', 'ferrotensor', 'devices'), { cwd, env })
  check('npx ferrotensor devices lists the cpu', devices.code === 0 && /^[* ] cpu /m.test(devices.output), devices.output)
  const checked = await run(npm('exec', '--', 'ferrotensor', 'check', '--device', 'cpu', '--json'), { cwd, env })
  check('npx ferrotensor check finds the cpu in order', checked.code === 0 && JSON.parse(checked.output).native.version !== null, checked.output)
  if (process.platform === 'win32') return
  check('the program is executable', ((await stat(main)).mode & 0o111) === 0o111)
  const direct = await run([join(cwd, 'node_modules/.bin/ferrotensor'), '--version'], { cwd, env })
  check('it runs by its path', direct.code === 0 && /^\d+\.\d+\.\d+\n$/.test(direct.output), direct.output)
}

async function checkRefusals(folder, { main, own }) {
  const reasonOf = async ({ execute }, ...flags) => (await execute('reason.mjs', REASON, ...flags)).output
  const bare = await project(folder, 'without the platform', [main.file])
  const absent = await reasonOf(bare)
  const command = await run(npm('exec', '--', 'ferrotensor', 'check'), bare)
  check('the command line says what to install too', command.code === 1 && command.output.includes(`npm i ${own.name}@${own.version}`), command.output)
  check('without the platform package it imports and says what to install', absent.startsWith('ERR_BACKEND_UNAVAILABLE') && absent.includes(`npm i ${own.name}@${own.version}`), absent)
  await writeFile(join(bare.cwd, 'elsewhere.cjs'), `Object.defineProperty(process, 'platform', { value: 'sunos' })\n`)
  const elsewhere = await reasonOf(bare, '--require', './elsewhere.cjs')
  const platforms = PLATFORMS.map(({ platform }) => platform).join(', ')
  check('on an unknown platform it names the known ones', elsewhere.includes('no prebuilt binary for sunos-') && elsewhere.includes(platforms), elsewhere)
}

async function checkWrongVersion({ cwd, execute }, own) {
  const file = join(cwd, 'node_modules', own.name, 'package.json')
  await writeFile(file, (await readFile(file, 'utf8')).replace(own.version, '99.0.0'))
  const { output } = await execute('reason.mjs', REASON)
  check('a platform package of another version is refused', output.includes('is of version 99.0.0') && output.includes(`@${own.version}`), output)
}

const folder = await mkdtemp(join(tmpdir(), 'ferrotensor-package-'))
try {
  const packages = await packAll()
  const { platformTriple } = await import('../dist/lib/loader.js')
  const own = packages.platforms.find(({ platform }) => platform === platformTriple())
  check('this platform has its package', own !== undefined)
  checkContents(packages)
  await checkManifests(packages)
  const user = await project(folder, 'user', [packages.main.file, own.file])
  await checkPrograms(user)
  await checkCommand(user)
  await checkWrongVersion(user, own)
  await checkRefusals(folder, { main: packages.main, own })
  await checkToolchains(join(folder, 'tools'), [packages.main.file, own.file], check)
} finally {
  await rm(folder, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

// Installed without a native binary: the package imports everywhere, and says what is missing and what to do.
// runs on: node, musl

import test from 'ava'
import { FUNCTIONS } from '../../lib/native/families.js'
import { TABLE_HASH } from '../../lib/generated/hash.js'
import { Installation, packageOf, triple, version } from './installation.js'

const bare = new Installation()
test.after.always(() => bare.remove())

/** Runs with an installation of its own, which is gone afterwards. */
async function installed<T>(use: (installation: Installation) => Promise<T>, checkout = false): Promise<T> {
  const installation = new Installation(checkout)
  try {
    return await use(installation)
  } finally {
    installation.remove()
  }
}

/** A module in JavaScript with all native functions but these. */
const stub = (...lacking: string[]): string => `for (const name of ${JSON.stringify(FUNCTIONS.filter((name) => !lacking.includes(name)))}) exports[name] = () => {}
exports.table = () => '${TABLE_HASH}'`

const MISSING = `ferrotensor: no native binary for ${triple}. The package "${packageOf(triple)}" is not installed.`
const INSTALL = `Fix: npm i ${packageOf(triple)}@${version}`

/** Prints what a program without native code sees, as an ES module has it, `require`, or either in a worker. */
const SEES = `const seen = (ft) => {
  const thrown = []
  for (let i = 0; i < 2; i++) try { ft.tensor([1]) } catch (error) { thrown.push(error) }
  const [first, second] = thrown
  return { devices: ft.devices(), typed: first instanceof ft.BackendUnavailableError, own: first !== second, message: second.message }
}`
const WAYS = {
  'an ES module': `${SEES}\nconsole.log(JSON.stringify(seen(ft)))`,
  'require': `${SEES}\nimport { createRequire } from 'node:module'\nconsole.log(JSON.stringify(seen(createRequire(process.cwd() + '/x.js')('ferrotensor'))))`,
  'a worker': `
    import { Worker } from 'node:worker_threads'
    const source = "import * as ft from 'ferrotensor'; import { parentPort } from 'node:worker_threads';" + ${JSON.stringify(SEES)} + "; parentPort.postMessage(seen(ft))"
    new Worker(source, { eval: true, execArgv: ['--input-type=module'] }).on('message', (seen) => console.log(JSON.stringify(seen)))`,
  'a worker that requires it': `
    import { Worker } from 'node:worker_threads'
    const source = ${JSON.stringify(SEES)} + "; require('node:worker_threads').parentPort.postMessage(seen(require('ferrotensor')))"
    new Worker(source, { eval: true, execArgv: [] }).on('message', (seen) => console.log(JSON.stringify(seen)))`
}

for (const [way, script] of Object.entries(WAYS)) {
  test(`${way} imports the package, and is told what to install`, async (t) => {
    const { devices, typed, own, message } = await bare.evaluate<{ devices: object[]; typed: boolean; own: boolean; message: string }>(script)
    t.true(message.startsWith(MISSING) && message.includes(INSTALL), message)
    t.deepEqual(devices, [{ name: 'native', kind: 'native', available: false, reason: message }])
    t.true(typed)
    t.true(own, 'each call has an error of its own')
  })
}

test('the stack of an error is that of the call', async (t) => {
  const stack = await bare.evaluate<string>(`function mine() { return ft.zeros([2]) }\ntry { mine() } catch ({ stack }) { console.log(JSON.stringify(stack)) }`)
  t.regex(stack, /at mine/)
})

test('a checkout that was not built says how to build it', async (t) => {
  await installed(async (installation) => t.regex(await installation.reason(), /no native binary for .* in this checkout\.\n {2}Fix: npm run build$/), true)
})

/** Other platforms as a process sees them: `glibc` is what Node's report says. */
const pretend = (platform: string, arch: string, glibc?: string): string => `
  Object.defineProperties(process, { platform: { value: '${platform}' }, arch: { value: '${arch}' } })
  const report = process.report.getReport.bind(process.report)
  process.report.getReport = () => ({ ...report(), header: { ...report().header, glibcVersionRuntime: ${JSON.stringify(glibc)} } })`

/** What is here, whose package is installed, and how the two differ. */
const ELSEWHERE = [
  ['musl with the package for glibc', pretend('linux', 'x64'), 'linux-x64-musl', 'linux-x64-gnu', 'of another C library: it is for glibc, this Node runs on musl'],
  ['glibc with the package for musl', pretend('linux', 'arm64', '2.36'), 'linux-arm64-gnu', 'linux-arm64-musl', 'of another C library: it is for musl, this Node runs on glibc'],
  ['arm64 with the package for x64', pretend('darwin', 'arm64'), 'darwin-arm64', 'darwin-x64', 'of another processor: it is for x64, this Node for arm64'],
  ['x64 with the package for arm64', pretend('linux', 'x64', '2.36'), 'linux-x64-gnu', 'linux-arm64-musl', 'of another processor: it is for arm64, this Node for x64'],
  ['Linux with the package for Windows', pretend('linux', 'x64', '2.36'), 'linux-x64-gnu', 'win32-x64-msvc', 'of another system: it is for win32, this is linux']
] as const

for (const [title, preload, here, there, differs] of ELSEWHERE) {
  test(`${title}: both are named, and the way out`, async (t) => {
    await installed(async (installation) => {
      installation.add(there)
      const file = installation.write('elsewhere.cjs', preload)
      const reason = await installation.reason({ NODE_OPTIONS: `--require ${JSON.stringify(file)}` })
      t.true(reason.includes(`no native binary for ${here}. The package "${packageOf(here)}" is not installed.`), reason)
      t.true(reason.includes(`"${packageOf(there)}" is, ${differs}.`), reason)
      t.regex(reason, new RegExp(`Fix: .*npm i ${packageOf(here)}@${version}`))
    })
  })
}

test('a platform without a package is told which have one', async (t) => {
  const file = bare.write('elsewhere.cjs', pretend('sunos', 'x64'))
  const reason = await bare.reason({ NODE_OPTIONS: `--require ${JSON.stringify(file)}` })
  t.regex(reason, /there is no prebuilt binary for sunos-x64; there is one for linux-x64-gnu, .*\n {2}Fix: build it from the sources/)
})

/** Packages of this platform that are no half of this one. */
const PACKAGES: readonly (readonly [title: string, content: { source?: string; version?: string }, reason: RegExp])[] = [
  ['of another version', { source: stub(), version: '99.0.0' }, /native-\S+ is of version 99\.0\.0, this package of \S+\.\n {2}Fix: npm i/],
  ['without native functions', { source: 'exports.other = 1' }, /the native binary is no native module of ferrotensor\./],
  ['that lacks functions of this version', { source: stub('run', 'waitAsync') }, /the native binary is of another version: it lacks run, waitAsync\.\n.*\n {2}Fix: npm i/],
  ['that shows nothing', { source: 'module.exports = null' }, /is no native module of ferrotensor/],
  ['that throws while it is loaded', { source: 'throw null' }, /exists but cannot be loaded: null/],
  ['with other tables', { source: `${stub()}\nexports.table = () => 'other'` }, /is of another version: the hash of its tables is other, here it is [0-9a-f]{16}\./],
  ['whose functions throw', { source: `${stub()}\nexports.setBuffers = () => { throw 'no' }` }, /the native binary cannot be used: no$/]
]

for (const [title, content, pattern] of PACKAGES) {
  test(`a package ${title} is refused`, async (t) => {
    await installed(async (installation) => {
      installation.add(triple, content)
      t.regex(await installation.reason(), new RegExp(`^ERR_BACKEND_UNAVAILABLE ferrotensor: .*${pattern.source}`))
    })
  })
}

test('a package that fits is loaded, and known with its file and version', async (t) => {
  const source = "import { loaded } from './node_modules/ferrotensor/dist/lib/native.js'\nconsole.log(JSON.stringify(loaded))"
  const found = await installed((installation) => {
    installation.add(triple, { source: stub() })
    return installation.evaluate<{ file: string; version: string }>(source)
  })
  t.is(found.version, version)
  t.regex(found.file, /binary\.cjs$/)
})

test('a package whose manifest is no JSON is refused', async (t) => {
  await installed(async (installation) => {
    installation.add(triple, { source: stub() })
    installation.write(`node_modules/${packageOf(triple)}/package.json`, '{')
    t.regex(await installation.reason(), /^ERR_BACKEND_UNAVAILABLE ferrotensor: /)
  })
})

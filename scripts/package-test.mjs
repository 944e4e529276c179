// What npm would publish: the list of files, and a project that installs them, compiles with `skipLibCheck: false` and runs.

import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { npm, ROOT, run } from './steps.mjs'

/** Everything a package may contain; tests, examples and sources stay at home. */
const ALLOWED = /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|index\.d\.ts|dist\/index\.(js|d\.ts)|dist\/lib\/[\w./-]+\.(js|d\.ts)|native\/ferrotensor\.[\w-]+\.node)$/
const REQUIRED = ['package.json', 'README.md', 'LICENSE', 'index.d.ts', 'dist/index.js', 'dist/lib/tensor.js']

const CONSUMER = `import * as ft from 'ferrotensor'
const sum: ft.Tensor<'float64'> = ft.tensor([1, 2, 3]).add(ft.fromTypedArray(new Float64Array([1, 1, 1])))
// @ts-expect-error: a float64 tensor is no int32 tensor
export const wrong: ft.Tensor<'int32'> = sum
using product = sum.mul(2)
console.log(JSON.stringify(product.toArray()))
`
const CONFIG = {
  compilerOptions: { target: 'ES2022', lib: ['ES2023'], module: 'NodeNext', strict: true, skipLibCheck: false, types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
  include: ['main.ts']
}

let [passed, failed] = [0, 0]
function check(what, ok, detail = '') {
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${what}${ok ? '' : `\n${detail}`}`)
  if (ok) passed++
  else failed++
}

async function checkPackage(folder) {
  const packed = await run(npm('pack', '--json', '--silent', '--pack-destination', folder))
  if (packed.code !== 0) return check('npm pack', false, packed.output)
  const [{ filename, files }] = JSON.parse(packed.output.slice(packed.output.indexOf('[')))
  const paths = files.map(({ path }) => path)
  const strangers = paths.filter((path) => !ALLOWED.test(path))
  check('the package contains nothing else', strangers.length === 0, strangers.join('\n'))
  const missing = REQUIRED.filter((path) => !paths.includes(path))
  check('the package contains what it must', missing.length === 0, missing.join('\n'))
  const orphans = paths.filter((path) => /^dist\/.*\.js$/.test(path) && !existsSync(join(ROOT, path.replace(/^dist\/(.*)\.js$/, '$1.ts'))))
  check('every module has its source', orphans.length === 0, orphans.join('\n'))
  const { exports, scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  const targets = Object.values(exports).flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target)))
  const dangling = targets.filter((target) => !paths.includes(target.replace('./', '')))
  check('every export is in the package', dangling.length === 0, dangling.join('\n'))
  const hooks = ['preinstall', 'install', 'postinstall', 'prepare'].filter((name) => scripts[name] !== undefined)
  check('there are no install scripts', hooks.length === 0, hooks.join('\n'))
  await checkConsumer(folder, join(folder, filename))
}

async function checkConsumer(folder, tarball) {
  const modules = join(folder, 'node_modules')
  await mkdir(modules)
  const unpacked = await run(['tar', '-xzf', tarball, '-C', modules])
  if (unpacked.code === 0) await rename(join(modules, 'package'), join(modules, 'ferrotensor'))
  else return check('the package unpacks', false, unpacked.output)
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG))
  await writeFile(join(folder, 'main.ts'), CONSUMER)
  const compiled = await run([process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder])
  check('a consumer compiles with skipLibCheck: false', compiled.code === 0, compiled.output)
  const ran = await run([process.execPath, 'main.js'], { cwd: folder })
  check('a consumer runs', ran.code === 0 && ran.output.trim() === '[4,6,8]', ran.output)
}

const folder = await mkdtemp(join(tmpdir(), 'ferrotensor-package-'))
try {
  await checkPackage(folder)
} finally {
  await rm(folder, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

// The packages that npm gets, as folders and tarballs under target/npm. The main package holds no binary and names one package per
// platform as optional dependency; each platform's package holds the binary that lies in native/. The command is pack-all.mjs.

import { parseTriple } from '@napi-rs/cli'
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { addCommonJs, EXPORTS, FILES } from './commonjs.mjs'
import { npm, ROOT, run } from './steps.mjs'
import { ENVIRONMENT } from './suites.mjs'

const OUTPUT = join(ROOT, 'target/npm')

const readJson = async (file) => JSON.parse(await readFile(file, 'utf8'))
const writeJson = (file, value) => writeFile(file, `${JSON.stringify(value, null, 2)}\n`)
const manifest = await readJson(join(ROOT, 'package.json'))

/** npm shows a package's provenance only if the package names the repository that built it. */
const { GITHUB_REPOSITORY } = process.env
const repository = GITHUB_REPOSITORY && { repository: { type: 'git', url: `git+https://github.com/${GITHUB_REPOSITORY}.git` } }

/** The platforms of package.json: Rust's name, npm's name, the package's name and its binary. */
export const PLATFORMS = manifest.napi.targets.map((target) => {
  const platform = parseTriple(target).platformArchABI
  return { target, platform, name: `${manifest.napi.packageName}-${platform}`, binary: `${manifest.napi.binaryName}.${platform}.node` }
})

/** Runs a command or throws what it printed. */
async function must(command, options) {
  const { code, output } = await run(command, options)
  if (code !== 0) throw new Error(`${command.join(' ')}\n${output}`)
  return output
}

/** Makes the tarball of a folder. */
async function tarball(folder) {
  const output = await must(npm('pack', '--json', '--silent', '--pack-destination', OUTPUT), { cwd: folder })
  // npm 12 prints an object by package name, older ones an array.
  const [{ name, version, filename, files, size, unpackedSize }] = Object.values(JSON.parse(output.slice(output.search(/[[{]/))))
  return { name, version, folder, file: join(OUTPUT, filename), paths: files.map(({ path }) => path), size, unpackedSize }
}

async function packMain() {
  const folder = join(OUTPUT, manifest.name)
  await mkdir(folder)
  const { private: _private, napi, scripts, ava, devDependencies, overrides, ...published } = manifest
  const optionalDependencies = Object.fromEntries(PLATFORMS.map(({ name }) => [name, manifest.version]))
  await writeJson(join(folder, 'package.json'), { ...published, exports: EXPORTS, files: [...published.files, ...FILES], ...repository, optionalDependencies })
  const listed = manifest.files.filter((pattern) => !pattern.startsWith('!'))
  for (const path of [...listed, 'README.md', 'LICENSE']) await cp(join(ROOT, path), join(folder, path), { recursive: true })
  await addCommonJs(folder)
  return tarball(folder)
}

async function packPlatform({ target, platform, name, binary }) {
  const folder = join(OUTPUT, platform)
  await cp(join(ROOT, 'native', binary), join(folder, binary))
  await cp(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
  await writeFile(join(folder, 'README.md'), `# ${name}\n\nThe native module of \`${manifest.name}\` for ${target}; installed with it, of no use alone.\n`)
  const notices = join(folder, 'THIRD-PARTY-NOTICES')
  await must(['cargo', 'run', '--quiet', '--release', '--package', 'xtask', '--', 'notices', target, notices], { env: ENVIRONMENT })
  const generated = await readJson(join(folder, 'package.json'))
  await writeJson(join(folder, 'package.json'), { ...generated, ...repository, files: [binary, 'THIRD-PARTY-NOTICES'] })
  return tarball(folder)
}

/**
 * Makes all packages there are binaries for.
 *
 * @returns {Promise<{ main: object, platforms: object[], absent: string[] }>} each package with its name, folder, tarball, paths
 * and sizes; the platforms without a binary
 */
export async function packAll() {
  await rm(OUTPUT, { recursive: true, force: true })
  await must([process.execPath, 'node_modules/@napi-rs/cli/dist/cli.js', 'create-npm-dirs', '--npm-dir', 'target/npm'])
  const platforms = []
  const absent = []
  for (const entry of PLATFORMS) {
    if (existsSync(join(ROOT, 'native', entry.binary))) platforms.push({ ...entry, ...(await packPlatform(entry)) })
    else {
      await rm(join(OUTPUT, entry.platform), { recursive: true })
      absent.push(entry.platform)
    }
  }
  return { main: await packMain(), platforms, absent }
}

/** One line about a package: what is downloaded and what lies on disk then. */
export function sizes({ name, paths, size, unpackedSize }) {
  const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`
  return `${name}: ${paths.length} files, ${megabytes(size)} packed, ${megabytes(unpackedSize)} unpacked`
}

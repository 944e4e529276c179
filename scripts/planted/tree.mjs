// A copy of the repository in which faults are planted: below target/planted, with what is built there kept from run to run. In it the
// feature `planted` of crates/core is on by default, so that every step builds with the switches and is called as `npm test` calls it.

import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, rm, symlink, utimes, writeFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { npm, ROOT, run } from '../steps.mjs'
import { ENVIRONMENT } from '../suites.mjs'

/** The copy. */
export const TREE = join(ROOT, 'target/planted/tree')

const FEATURES = 'crates/core/Cargo.toml'
const OFF = '\nplanted = []\n'
const ON = `\ndefault = ["planted"]${OFF}`

const listed = async (cwd) => (await must(['git', 'ls-files', '--cached', '--others', '--exclude-standard'], cwd)).split('\n').filter((path) => path !== '')

async function must(command, cwd = TREE) {
  const { code, output } = await run(command, { cwd, env: ENVIRONMENT })
  if (code !== 0) throw new Error(`${command.join(' ')}: ended with ${code}\n${output}`)
  return output
}

/** What the copy has under a path. */
async function contents(path) {
  const bytes = await readFile(join(ROOT, path))
  if (path !== FEATURES) return bytes
  const text = bytes.toString()
  if (text.split(OFF).length !== 2) throw new Error(`${FEATURES}: no line 'planted = []' to turn on`)
  return Buffer.from(text.replace(OFF, ON))
}

/** Makes the copy what the repository is: tracked files and new ones, those that are equal left alone so that builds stay fresh. */
export async function refresh() {
  await mkdir(TREE, { recursive: true })
  if (!existsSync(join(TREE, '.git'))) await must(['git', 'init', '--quiet'])
  const paths = (await listed(ROOT)).filter((path) => existsSync(join(ROOT, path)))
  for (const path of await listed(TREE)) if (!paths.includes(path)) await rm(join(TREE, path), { force: true })
  for (const path of paths) {
    const [from, to, wanted] = [join(ROOT, path), join(TREE, path), await contents(path)]
    if (existsSync(to) && wanted.equals(await readFile(to))) continue
    await mkdir(dirname(to), { recursive: true })
    await copyFile(from, to)
    await writeFile(to, wanted)
  }
  // Last of all: to git a link is no folder that it ignores.
  if (!existsSync(join(TREE, 'node_modules'))) await symlink(join(ROOT, 'node_modules'), join(TREE, 'node_modules'))
  // Older than what npm installed, or the scripts would install anew.
  const { atime, mtime } = await stat(join(ROOT, 'package-lock.json'))
  await utimes(join(TREE, 'package-lock.json'), atime, mtime)
}

/** Builds the native module of the copy. */
export const buildNative = () => must(npm('run', '--silent', 'build:native'))

/** Compiles the TypeScript of the copy. */
export const buildTypes = () => must(npm('run', '--silent', 'build:ts'))

/** Why a patch does not apply to a text; null if it does. */
export function misfit({ file, find, replace }, text) {
  const places = text.split(find).length - 1
  if (places !== 1) return `${file} has the text ${places} times, not once: ${find}`
  return find === replace ? `${file}: nothing is replaced` : null
}

/** Applies a patch to the copy, and returns what takes it back. */
export async function apply(patch) {
  const path = join(TREE, patch.file)
  const text = await readFile(path, 'utf8')
  const wrong = misfit(patch, text)
  if (wrong !== null) throw new Error(wrong)
  await writeFile(path, text.replace(patch.find, () => patch.replace))
  return () => writeFile(path, text)
}

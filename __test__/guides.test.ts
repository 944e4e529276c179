// Each page of docs/guides is a program: its `ts` blocks, one after the other, compile with the options that `tsc --init` writes, against the
// published declarations, run in a process of their own, and print what its `text` blocks show.
// runs on: host

import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import test from 'ava'

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const read = (path: string): string => readFileSync(file(path), 'utf8')

/** The pages, but for their index. */
const pages = readdirSync(file('docs/guides')).map((name) => name.replace(/\.md$/, '')).filter((name) => name !== 'README')

/** All fenced blocks of a language, one after the other. */
const blocks = (text: string, language: string): string => [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, block]) => block).join('')

const NUMBER = /-?\d+(?:\.\d+)?/g

/** What differs between two texts, whose numbers may differ by one in their last printed digit: matrix products do between instruction sets. */
function difference(actual: string, expected: string): string | undefined {
  const [shown, wanted] = [actual, expected].map((text) => text.split('\n')) as [string[], string[]]
  const at = wanted.findIndex((line, i) => {
    const other = shown[i] ?? ''
    const values = other.match(NUMBER) ?? []
    return other.replace(NUMBER, '0') !== line.replace(NUMBER, '0') || (line.match(NUMBER) ?? []).some((number, j) => {
      const digits = number.split('.')[1]?.length ?? 0
      // An integer is exact: it counts or names something.
      return digits === 0 ? values[j] !== number : Math.abs(Number(values[j]) - Number(number)) > 1.001 * 10 ** -digits
    })
  })
  if (at >= 0) return `line ${at + 1}: printed '${shown[at]}', the page shows '${wanted[at]}'`
  return shown.length === wanted.length ? undefined : `${shown.length} lines were printed, the page shows ${wanted.length}`
}

const FOLDER = 'dist/guides'

test.before(() => {
  rmSync(file(FOLDER), { recursive: true, force: true })
  mkdirSync(file(FOLDER))
  const compilerOptions = {
    target: 'ES2022', lib: ['ES2023', 'ESNext.Disposable'], module: 'NodeNext', types: ['node'], strict: true, noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true, verbatimModuleSyntax: true, isolatedModules: true, moduleDetection: 'force', skipLibCheck: true
  }
  writeFileSync(file(`${FOLDER}/tsconfig.json`), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  for (const page of pages) writeFileSync(file(`${FOLDER}/${page}.ts`), blocks(read(`docs/guides/${page}.md`), 'ts'))
  const { status, stdout } = spawnSync(process.execPath, [file('node_modules/typescript/bin/tsc'), '-p', FOLDER], { cwd: file('.'), encoding: 'utf8' })
  if (status !== 0) throw new Error(stdout)
})

// One after the other: each uses all cores.
for (const page of pages) {
  test.serial(`${page}: the program prints what the page shows`, async (t) => {
    const text = read(`docs/guides/${page}.md`)
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [file(`${FOLDER}/${page}.js`)], { cwd: file('.'), env: { ...process.env, FERROTENSOR_DEVICE: 'cpu' } })
    t.is(stderr, '')
    t.is(difference(stdout, blocks(text, 'text')), undefined, stdout)
    const lines = blocks(text, 'ts').split('\n').filter((line) => line !== '').length
    t.true(lines >= 30 && lines <= 100, `${lines} lines of code`)
  })
}

test('the index names every page', (t) => {
  t.deepEqual([...read('docs/guides/README.md').matchAll(/\]\(([\w-]+)\.md\)/g)].map(([, name]) => name).sort(), [...pages].sort())
  t.true(pages.length >= 7)
})

test('another text, another integer, a number too far away and lines too few or too many are seen', (t) => {
  t.is(difference('loss 0.124 of 12\n', 'loss 0.123 of 12\n'), undefined)
  t.regex(String(difference('loss 0.125 of 12\n', 'loss 0.123 of 12\n')), /line 1/)
  t.regex(String(difference('loss 0.123 of 13\n', 'loss 0.123 of 12\n')), /line 1/)
  t.regex(String(difference('lost 0.123 of 12\n', 'loss 0.123 of 12\n')), /line 1/)
  t.regex(String(difference('a\n', 'a\nb\n')), /line 2/)
  t.regex(String(difference('a\nb\n', 'a\n')), /line 2/)
  t.regex(String(difference('a\n\n', 'a\n')), /3 lines/)
})

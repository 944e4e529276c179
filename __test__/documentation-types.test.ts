// Every TypeScript block of the documentation compiles as it stands, against the published declarations, with
// `strict`; what is documented to throw need not: those of the declarations' comments each by itself, those of a page one inside of the other, as a reader goes through them.
// runs on: host

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import test from 'ava'

const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const read = (path: string): string => readFileSync(file(path), 'utf8')

const FOLDER = 'dist/documentation'
const IMPORTS = "import * as ft from 'ferrotensor'\nimport * as plot from 'ferrotensor/plot'\n"

/** Pages whose blocks are whole programs are compiled elsewhere: docs/guides, and docs/toolchains.md. */
const pages = ['README.md', ...(readdirSync(file('docs'), { recursive: true }) as string[]).filter((path) => /^(?!guides|decisions|toolchains).*\.md$/.test(path)).map((path) => `docs/${path}`)]

/** The blocks of a text: its lines of imports, and the others, each the beginning of a statement where a bracket would continue the one before. */
function blocks(text: string): { imports: string[]; body: string }[] {
  return [...text.matchAll(/^```ts\n(.*?)^```/gms)].map(([, block]) => ({
    imports: [...(block as string).matchAll(/^import .*/gm)].map(([line]) => line),
    body: (block as string).replace(/^import .*/gm, '').replace(/^(?=[[(])/gm, ';').replace(/^(?=.* \/\/ \w+Error: )/gm, '// @ts-ignore\n')
  }))
}

/** A program of blocks, each in the scope of those before it. */
function nested(text: string): string {
  const all = blocks(text)
  const imports = new Set(all.flatMap((block) => block.imports))
  return `${[...imports].join('\n')}\n${all.map(({ body }) => `{\n${body}`).join('')}${'}'.repeat(all.length)}\n`
}

const compile = (): string => {
  const compilerOptions = {
    target: 'ES2022', lib: ['ES2023', 'ESNext.Disposable'], module: 'NodeNext', types: ['node'], strict: true, noEmit: true, moduleDetection: 'force',
    exactOptionalPropertyTypes: true, skipLibCheck: true
  }
  writeFileSync(file(`${FOLDER}/tsconfig.json`), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  return spawnSync(process.execPath, [file('node_modules/typescript/bin/tsc'), '-p', FOLDER, '--pretty', 'false'], { cwd: file('.'), encoding: 'utf8' }).stdout
}

const programOf = (page: string): string => {
  const program = nested(read(page))
  const missing = IMPORTS.trimEnd().split('\n').filter((line) => !program.includes(line))
  return `${missing.join('\n')}\n${program}`
}

test.beforeEach(() => {
  rmSync(file(FOLDER), { recursive: true, force: true })
  mkdirSync(file(FOLDER))
})

test.serial('every block compiles', (t) => {
  for (const page of pages) writeFileSync(file(`${FOLDER}/${page.replaceAll(/\W/g, '_')}.ts`), programOf(page))
  const comments = blocks(read('index.d.ts').replace(/^ *\* ?/gm, ''))
  t.true(comments.length > 300 && pages.length > 20, `${comments.length} blocks, ${pages.length} pages`)
  writeFileSync(file(`${FOLDER}/comments.ts`), `${IMPORTS}${comments.map(({ body }) => `{\n${body}}\n`).join('')}`)
  t.is(compile(), '')
})

test.serial('a block that does not compile is seen, and one sees those before it', (t) => {
  const text = '```ts\nconst a = ft.ones([2])\n[1].map((n) => n)\n```\n\n```ts\nconst b: string = a\n```\n'
  writeFileSync(file(`${FOLDER}/wrong.ts`), `${IMPORTS}${nested(text)}`)
  const found = compile()
  t.regex(found, /Type 'Tensor<"float32">' is not assignable to type 'string'/)
  t.is(found.trim().split('\n').filter((line) => line.includes('error')).length, 1, found)
})

// README.md leads with examples/quickstart.ts and with what it prints.
// runs on: host

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import test from 'ava'

// This file runs as dist/__test__/examples/quickstart.test.js.
const file = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

/** The first fenced block of a language. */
const block = (text: string, language: string) => text.match(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``))?.[1]

test('README.md shows the quick start and its output', async (t) => {
  const readme = await readFile(file('README.md'), 'utf8')
  const source = await readFile(file('examples/quickstart.ts'), 'utf8')
  t.is(block(readme, 'ts'), source.replace(/^\/\/.*\n\n/, ''))
  const { stdout } = await promisify(execFile)(process.execPath, [file('dist/examples/quickstart.js')], { env: { ...process.env, FERROTENSOR_DEVICE: 'cpu' } })
  t.is(block(readme, 'text'), stdout)
})

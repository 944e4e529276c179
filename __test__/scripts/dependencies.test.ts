// The tables of docs/decisions/dependencies.md: each direct dependency of Cargo.toml and package.json has a row, and no other.
// runs on: host

import { readFileSync } from 'node:fs'
import test from 'ava'

// This file runs as dist/__test__/scripts/dependencies.test.js.
const text = (name: string) => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8')
const page = text('docs/decisions/dependencies.md')

/** Rows of the table below a heading: the name in the first column, and the licence in the last. */
function rows(heading: string): [name: string, licence: string][] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^\| `([^`]+)` \|.*\| ([^|]+) \|$/gm)].map(([, name = '', licence = '']) => [name, licence])
}
const names = (heading: string) => rows(heading).map(([name]) => name)

/** Names of `[workspace.dependencies]`, without the workspace's own. */
function crates(): string[] {
  const section = /^\[workspace\.dependencies\]\n([^]*?)^\[/m.exec(text('Cargo.toml'))?.[1] ?? ''
  return [...section.matchAll(/^([\w-]+) = (?!.*path)/gm)].map(([, name = '']) => name).toSorted()
}

test('every crate that the workspace names has a row', (t) => {
  t.true(crates().length > 20)
  t.deepEqual(names('Rust'), crates())
})

test('a crate whose features alone are set is named below the table', (t) => {
  const own = [...text('crates/unified/Cargo.toml').matchAll(/^(\w[\w-]*) = (?!.*workspace).*version|^(\w[\w-]*) = "/gm)].map(([, long, short]) => long ?? short)
  const features = own.filter((name) => name !== undefined && !['name', 'description', 'path', 'version'].includes(name))
  t.true(features.length > 5)
  for (const name of features) t.true(page.includes(`\`${name}\``), name)
})

test('every package that npm installs for development has a row with its licence', (t) => {
  const locked = JSON.parse(text('package-lock.json')) as { packages: Record<string, { license?: string; devDependencies?: Record<string, string> }> }
  const wanted = Object.keys(locked.packages['']?.devDependencies ?? {}).map((name) => [name, locked.packages[`node_modules/${name}`]?.license])
  t.deepEqual(rows('npm'), wanted)
})

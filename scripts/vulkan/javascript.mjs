// The JavaScript tests with every tensor on the first Vulkan device that has none of its own: `FERROTENSOR_DEVICE=vulkan:0`. What a test
// says of another device it names there, so that all may run; without a word those files do that can differ there
// (scripts/javascript.mjs).
//
//   node scripts/vulkan/javascript.mjs [--all | FILE...]

import { parseArgs } from 'node:util'
import { testsFor } from '../javascript.mjs'
import { step } from '../steps.mjs'
import { ava, verdict } from '../suites.mjs'
import { onDevice } from './device.mjs'

const { values: { all }, positionals: named } = parseArgs({ options: { all: { type: 'boolean', default: false } }, allowPositionals: true })
const { args, note } = testsFor('vulkan', { all: all || named.length > 0, flags: ['--timeout=10m', ...named] })
await onDevice(async (name) => {
  if (named.length === 0) console.log(`note: ${note}`)
  return verdict({ count: ava }, await step(`JavaScript tests on ${name}`, [process.execPath, ...args], { env: { FERROTENSOR_DEVICE: name } }))
})

// The JavaScript tests with every tensor on the first Vulkan device that has none of its own: `FERROTENSOR_DEVICE=vulkan:0`. What a test
// says of another device it names there, so that nothing is left out.
//
//   node scripts/vulkan/javascript.mjs [FILE...]

import { step } from '../steps.mjs'
import { ava, verdict } from '../suites.mjs'
import { onDevice } from './device.mjs'

const command = [process.execPath, 'node_modules/ava/entrypoints/cli.mjs', '--tap', '--timeout=10m', ...process.argv.slice(2)]
await onDevice(async (name) => verdict({ count: ava }, await step(`JavaScript tests on ${name}`, command, { env: { FERROTENSOR_DEVICE: name } })))

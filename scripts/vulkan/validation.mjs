// The Vulkan backend under Khronos' validation layer with synchronisation validation: its own Rust tests, and a fixed tenth of the
// conformance cases. Any message of the layer is a failure, whatever the test says.
//
//   node scripts/vulkan/validation.mjs [--share PERCENT]
//
// First faults on purpose are run (crates/vulkan/tests/vulkan/planted.rs): a layer that does not report them proves nothing. What the layer
// prints it prints to standard output, among the lines of the tests.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { run, step } from '../steps.mjs'
import { ENVIRONMENT, rust, verdict } from '../suites.mjs'
import { onDevice } from './device.mjs'
import { messages } from './messages.mjs'

const { values: given } = parseArgs({ options: { share: { type: 'string', default: '10' } } })
/** Messages shown in full; the rest are counted. */
const SHOWN = 5
const MESSAGE_CHARACTERS = 1500

const folder = mkdtempSync(join(tmpdir(), 'validation-'))
// By file: layers of every age read the first lines, those from 1.3.270 on the last two too, without which they say nothing of what
// shaders do to buffers.
writeFileSync(join(folder, 'vk_layer_settings.txt'), `khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.log_filename = stdout
khronos_validation.report_flags = error,warn
khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
khronos_validation.validate_sync = true
khronos_validation.syncval_shader_accesses_heuristic = true
`)
const LAYER = 'VK_LAYER_KHRONOS_validation'
const watched = {
  ...ENVIRONMENT,
  VK_INSTANCE_LAYERS: LAYER,
  VK_LAYER_ENABLES: 'VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT',
  VK_LAYER_SETTINGS_PATH: folder,
  // A pipeline from the disk would be one that the layer never saw made.
  FERROTENSOR_CACHE: 'off'
}
const test = (crate, ...args) => ['cargo', 'test', '--release', '--package', `ferrotensor-${crate}`, ...args]

/** Faults of tests/planted.rs, and what a message about each must say. */
const PLANTED = { a_missing_barrier: /SYNC-HAZARD-READ[-_]AFTER[-_]WRITE/, a_call_outside_the_rules: /VUID-VkBufferCreateInfo/ }
// One test at a time: version 1.3.239 of the layer now and then crashed inside itself while two threads used devices of their own.
const RUNS = [
  { name: "the backend's tests", command: test('vulkan', '--', '--test-threads=1') },
  { name: `${given.share} % of the conformance cases`, command: test('conformance', '--', '/vulkan'), env: { SHARE: given.share } }
]

let [passed, failed] = [0, 0]
const judge = (good, text) => {
  good ? passed++ : failed++
  if (!good) console.log(text)
  return good
}

/** Whether the layer is there and notices what is planted. */
async function notices() {
  for (const [fault, told] of Object.entries(PLANTED)) {
    const command = test('vulkan', '--test', 'vulkan', '--', '--ignored', '--exact', `planted::${fault}`)
    const silent = await run(command, { env: ENVIRONMENT })
    if (!judge(silent.code === 0 && messages(silent.output).length === 0, silent.output)) return false
    const { output } = await run(command, { env: watched })
    const found = messages(output)
    if (!judge(found.some((text) => told.test(text)), `planted ${fault}, reported: ${found.join('\n') || 'nothing'}\n${output}`)) return false
  }
  return true
}

await onDevice(async () => {
  for (const { name, command, env } of (await notices()) ? RUNS : []) {
    const result = await step(name, command, { env: { ...watched, ...env } })
    const counted = verdict({ count: rust }, result)
    const found = messages(result.output)
    passed += counted.passed
    failed += counted.failed + found.length
    for (const text of found.slice(0, SHOWN)) console.log(text.slice(0, MESSAGE_CHARACTERS))
    console.log(`note: ${name}: ${counted.passed} passed, ${counted.failed} failed, ${found.length} messages, ${result.seconds} s`)
  }
  return { passed, failed }
})
rmSync(folder, { recursive: true })

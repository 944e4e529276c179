// The Vulkan backend on devices that this machine does not have: Mesa's software device with subgroups of 4 and 16 invocations, and
// one whose capabilities were taken away, on a share of the conformance cases.
//
//   node scripts/vulkan/variants.mjs [NAME...] [-- arguments of cargo test, instead of those that choose tests]
//
// Mesa's option is for its software device alone; another device is tested as it is, more than once (`probing.rs` says which it was).

import { join } from 'node:path'
import { ROOT, step } from '../steps.mjs'
import { ENVIRONMENT, rust, verdict } from '../suites.mjs'
import { onDevice } from './device.mjs'

const given = process.argv.slice(2)
const [named, only] = given.includes('--') ? [given.slice(0, given.indexOf('--')), given.slice(given.indexOf('--') + 1)] : [given, []]
const test = (crate, ...args) => ['cargo', 'test', '--release', '--package', `ferrotensor-${crate}`, ...args]
/** Mesa's cache of kernels does not tell widths apart. */
const wide = (bits) => ({ LP_NATIVE_VECTOR_WIDTH: String(bits), MESA_SHADER_CACHE_DIR: join(ROOT, `target/vulkan/${bits}`), FERROTENSOR_CACHE: 'off' })
/** What threads compute together, in workgroups. */
const TOGETHER = ['kernels::', 'rows::', 'scans::', 'sort::']
const subgroups = (count) => ({ command: test('vulkan', '--test', 'vulkan', '--', ...(only.length > 0 ? only : TOGETHER)), env: wide(32 * count) })
const without = (share, ...names) => ({ command: test('conformance', '--', '/vulkan'), env: { SHARE: String(share), VULKAN_WITHOUT: names.join(',') } })

// Subgroups of 8 are what it has by itself where vectors have 256 bits, its widest by default: the suites before this one. No kernel
// asks for their width; smaller ones show sooner what waits for nobody.
const VARIANTS = {
  'subgroups of 4': subgroups(4),
  'subgroups of 16': subgroups(16),
  'no float64, no int64': without(2, 'float64', 'int64'),
  'no 16-bit, no 8-bit': without(2, '16-bit', '8-bit'),
  // What a device leaves of float32 is done with integers, and has the same bits: on all that is sampled.
  'roots, quotients, subnormals by integers': without(100, 'arithmetic'),
  'nothing optional, little room': without(2, 'float64', 'int64', '16-bit', '8-bit', 'controls', 'room')
}

await onDevice(async () => {
  let [passed, failed] = [0, 0]
  for (const name of named.length > 0 ? named : Object.keys(VARIANTS)) {
    const variant = VARIANTS[name]
    if (variant === undefined) throw new Error(`no variant '${name}': there are ${Object.keys(VARIANTS).join('; ')}`)
    const result = await step(name, variant.command, { env: { ...ENVIRONMENT, ...variant.env } })
    const counted = verdict({ count: rust }, result)
    passed += counted.passed
    failed += counted.failed
    console.log(`note: ${name}: ${counted.passed} passed, ${counted.failed} failed, ${result.seconds} s`)
  }
  return { passed, failed }
})

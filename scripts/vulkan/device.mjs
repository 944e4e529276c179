// The Vulkan device that suites run on, or why there is none. Needs the native module.

/**
 * Runs `body` with the name of the first Vulkan device; it gives `{ passed, failed }`, which are printed as the closing line. Without a
 * device the reason is printed and counts as one check, which fails where EXPECT_BACKENDS lists vulkan.
 */
export async function onDevice(body) {
  const { devices } = await import('../../dist/index.js')
  const all = devices().filter(({ kind }) => kind === 'vulkan')
  const found = all.find(({ available }) => available)
  const expected = (process.env.EXPECT_BACKENDS ?? '').split(',').includes('vulkan')
  if (found === undefined) console.log(`note: not run, ${all[0]?.reason ?? 'no Vulkan backend'}`)
  const { passed, failed } = found ? await body(found.name) : { passed: expected ? 0 : 1, failed: expected ? 1 : 0 }
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

// `npm run pack:all`: sets up what is needed, builds the native module as a release has it, and packs for this machine. With `--all`, for
// a release, the binaries of all platforms were built elsewhere and lie in native/: nothing is built, and one that is missing is a failure.

import { setUp } from './setup.mjs'

const all = process.argv.includes('--all')
if (await setUp(all ? null : 'build:dist')) {
  // What this imports is there by now.
  const { packAll, sizes } = await import('./pack.mjs')
  const { main, platforms, absent } = await packAll()
  for (const packed of [main, ...platforms]) console.log(sizes(packed))
  for (const platform of absent) console.log(`${platform}: not built, native/ has no binary`)
  if (all && absent.length > 0) process.exitCode = 1
} else {
  process.exitCode = 1
}

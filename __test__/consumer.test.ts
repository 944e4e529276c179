// The published declarations in a project of their own, with every declaration file checked.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import test from 'ava'

const root = fileURLToPath(new URL('../../', import.meta.url))

test('a consumer compiles with skipLibCheck off, and its expected errors are errors', (t) => {
  const tsc = fileURLToPath(new URL('node_modules/typescript/bin/tsc', new URL('../../', import.meta.url)))
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', '__test__/consumer'], { cwd: root, encoding: 'utf8' })
  t.is(status, 0, stdout)
})

// `npm start`: sets up what is needed, then runs the digits example with the arguments behind `--`.

import { spawn } from 'node:child_process'
import { setUp } from './setup.mjs'
import { ROOT } from './steps.mjs'

if (await setUp()) {
  console.log()
  const child = spawn(process.execPath, ['dist/examples/digits/main.js', ...process.argv.slice(2)], { cwd: ROOT, stdio: 'inherit' })
  child.on('close', (code) => (process.exitCode = code ?? 1))
} else {
  process.exitCode = 1
}

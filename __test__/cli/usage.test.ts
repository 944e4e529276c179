// Help fits a screen; wrong words end with 2 and one line that says what was meant; none of it needs the native module.
// runs on: host; words are read by code of our own

import test from 'ava'
import { readFileSync } from 'node:fs'
import { COMMANDS } from '../../lib/cli/commands.js'
import { command, WITHOUT_NATIVE } from './command.js'

const SCREEN = { columns: 80, lines: 24 }

for (const words of [['--help'], ['-h'], ...COMMANDS.map(({ name }) => [name, '--help'])]) {
  test.serial(`${words.join(' ')} fits a screen, without the native module`, async (t) => {
    const { code, stdout, stderr } = await command(words, { env: WITHOUT_NATIVE })
    t.is(code, 0, stderr)
    t.is(stderr, '')
    const lines = stdout.trimEnd().split('\n')
    t.true(lines.length < SCREEN.lines, `${lines.length} lines`)
    t.deepEqual(lines.filter((line) => line.length > SCREEN.columns), [])
    t.regex(stdout, /^Usage: ferrotensor /)
  })
}

test.serial('the help of a command names each of its options', async (t) => {
  for (const { name, options } of COMMANDS) {
    const { stdout } = await command([name, '-h'])
    for (const option of Object.keys(options)) t.true(stdout.includes(` --${option} `), `${name} --${option}`)
  }
})

test.serial('docs/command-line.md shows the help as it is', async (t) => {
  const text = readFileSync(new URL('../../../docs/command-line.md', import.meta.url), 'utf8')
  t.true(text.includes(`\`\`\`text\n${(await command(['--help'])).stdout}\`\`\`\n`))
})

test.serial('--version is that of package.json', async (t) => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string }
  for (const word of ['--version', '-v']) t.deepEqual(await command([word]), { code: 0, signal: null, stdout: `${version}\n`, stderr: '' })
})

test.serial('without a command: help, on standard error', async (t) => {
  const { code, stdout, stderr } = await command([])
  t.deepEqual([code, stdout], [2, ''])
  t.regex(stderr, /^Usage: ferrotensor <command>/)
})

const WRONG: readonly (readonly [words: readonly string[], message: RegExp])[] = [
  [['bnch'], /there is no command 'bnch'; did you mean 'bench'\?/],
  [['xyzzy'], /there is no command 'xyzzy'; there are devices, check, bench, inspect, convert/],
  [[''], /there is no command ''/],
  [['__proto__'], /there is no command '__proto__'/],
  [['--hlp'], /there is no option '--hlp' without a command; did you mean '--help'\?/],
  [['--json', 'devices'], /options stand behind the command: ferrotensor devices --json/],
  [['check', '--jsn'], /check has no option '--jsn'; did you mean '--json'\?/],
  [['check', '--__proto__'], /check has no option '--__proto__'/],
  [['check', '-x'], /check has no option '-x'/],
  [['check', '--json=1'], /--json takes no value, got '1'/],
  [['check', '--json', '--json'], /--json is given twice/],
  [['check', '--device'], /--device needs a value: --device <name>/],
  [['check', '--device='], /--device needs a value/],
  [['check', '--device', '--json'], /--device needs a value: --device <name>; if '--json' is one, write --device=--json/],
  [['devices', 'cpu'], /'cpu' is one too many: ferrotensor devices$/m],
  [['inspect'], /<file> is missing: ferrotensor inspect <file>/],
  [['inspect', 'a.npy', 'b.npy'], /'b\.npy' is one too many: ferrotensor inspect <file>$/m],
  [['convert', 'a.npy'], /<to> is missing: ferrotensor convert <from> <to>/],
  [['inspect', 'a.np'], /'a\.np' ends in none of \.npy, .*; did you mean '\.npy'\?/],
  [['inspect', 'a'], /'a' ends in none of \.npy, \.npz, \.safetensors, \.csv, \.tsv, \.txt$/m],
  [['inspect', 'a.npy', '--header'], /--header is for tables of text, not for \.npy/],
  [['convert', 'a.npy', 'b.pt'], /'b\.pt' ends in none of/],
  [['convert', 'a.npy', 'b.npy', '--compressed'], /--compressed is for \.npz, not for \.npy/],
  [['convert', 'a.npy', 'b.npy', '--dtype', 'float32'], /--dtype is for tables of text/],
  [['convert', 'a.csv', 'b.npy', '--dtype', 'double'], /'double' is no dtype; did you mean 'float64'\?/],
  [['a\u001b[31mb\nc'], /there is no command 'a\\u\{1b\}\[31mb\\u\{a\}c'/]
]

for (const [words, message] of WRONG) {
  test.serial(`${JSON.stringify(words.join(' '))} is refused with a hint`, async (t) => {
    const { code, stdout, stderr } = await command(words)
    t.is(code, 2)
    t.is(stdout, '')
    t.regex(stderr, message)
    t.regex(stderr, /^ferrotensor: .+\n$/, 'one line, no stack')
  })
}

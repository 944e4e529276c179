// Bars, pipes and signals: nothing is drawn where nobody looks, a closed pipe is no failure, and Ctrl-C leaves no part of a file.
// runs on: node, musl

import test from 'ava'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import * as ft from 'ferrotensor'
import { columns } from '../../lib/text/table.js'
import { withBar, type Terminal } from '../../lib/cli/bar.js'
import { run } from '../child.js'
import { folder } from '../io/folder.js'
import { command } from './command.js'

const path = folder()

/** A terminal that keeps what is written to it. */
function terminal(isTTY: boolean, width: number): { readonly out: Terminal; readonly written: string[] } {
  const written: string[] = []
  const write = (text: string): boolean => written.push(text) > 0
  return { out: { isTTY, columns: width, write } as unknown as Terminal, written }
}

test('a bar shows how far a job is, fits its terminal, and is erased at the end', async (t) => {
  const { out, written } = terminal(true, 50)
  const result = await withBar(async (show) => {
    show({ done: 1, total: 3, label: 'reading a name that is longer than the terminal\u001b[2J' })
    show({ done: 3, total: 3, label: 'end' })
    return 7
  }, out)
  t.is(result, 7)
  const [first = '', second = '', last = ''] = written
  t.true(first.startsWith(`\r\u001b[2K${'█'.repeat(10)}${'░'.repeat(20)}  33 %`), first)
  t.true(second.includes(`${'█'.repeat(30)} 100 %  end`), second)
  t.is(last, '\r\u001b[2K')
  for (const line of written) t.true(line.replace('\r\u001b[2K', '').length < 50 && line.lastIndexOf('\u001b') <= 1)
})

test('a bar is erased when its job fails, and a job without parts has one too', async (t) => {
  const { out, written } = terminal(true, 80)
  await t.throwsAsync(withBar(async (show) => {
    show({ done: 0, total: 0, label: '' })
    throw new Error('failed')
  }, out), { message: 'failed' })
  t.true(written[0]?.includes('100 %'))
  t.is(written.at(-1), '\r\u001b[2K')
})

test('no bar is drawn into a pipe', async (t) => {
  const { out, written } = terminal(false, 80)
  await withBar(async (show) => show({ done: 1, total: 2, label: 'x' }), out)
  t.deepEqual(written, [])
})

test('columns are aligned by what a terminal shows, and lines end without spaces', (t) => {
  t.deepEqual(columns('lrl', [['a', '1', 'x'], ['\u001b[32mbcd\u001b[0m', '22'], []]), ['a     1  x', '\u001b[32mbcd\u001b[0m  22', ''])
})

test.serial('a reader that has seen enough is no failure', async (t) => {
  // 2 MB of JSON: more than pipes hold, so that writing goes on after the reader is gone.
  ft.io.saveNpzSync(path('many.npz'), Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`array${i}`, ft.tensor(i)])))
  const { code, stderr } = await command(['inspect', '--json', path('many.npz')], {
    onStart: ({ stdout }) => stdout?.once('data', () => stdout.destroy())
  })
  t.deepEqual([code, stderr], [0, ''])
})

if (existsSync('/dev/full')) {
  test.serial('an output without room is one line and a failure', async (t) => {
    const full = openSync('/dev/full', 'w')
    for (const words of [['--help'], ['devices', '--json']]) {
      const { code, stderr } = await command(words, { stdout: full })
      t.deepEqual([code, stderr], [1, 'ferrotensor: standard output: ENOSPC: no space left on device, write\n'])
    }
    closeSync(full)
  })
}

test.serial('a pipe that is slow gets everything', async (t) => {
  const { code, stdout } = await command(['inspect', '--json', path('many.npz')])
  t.is(code, 0)
  t.is((JSON.parse(stdout) as { arrays: unknown[] }).arrays.length, 10_000)
})

/** Writes half of a file, says so, and waits for ever. */
const half = (target: string): string => `
import { writeFileSync } from 'node:fs'
import { writeWhole } from './dist/lib/cli/whole-file.js'
setInterval(() => {}, 1000)
await writeWhole('test', ${JSON.stringify(target)}, true, async (path) => {
  writeFileSync(path, 'half')
  console.log('go')
  await new Promise(() => {})
})`

if (process.platform !== 'win32') {
  for (const [signal, code] of [['SIGINT', 130], ['SIGQUIT', 131], ['SIGTERM', 143], ['SIGHUP', 129]] as const) {
    test.serial(`${signal} in the middle of writing leaves the old file, and nothing beside it`, async (t) => {
      const inside = folder()
      writeFileSync(inside('old.npy'), 'old')
      const ended = await run(half(inside('old.npy')), { onGo: (kill) => kill(signal) })
      t.is(ended.code, code, ended.stderr)
      t.is(readFileSync(inside('old.npy'), 'utf8'), 'old')
      t.deepEqual(readdirSync(inside('.')), ['old.npy'])
    })
  }

  test.serial('Ctrl-C during a conversion leaves a whole file or none', async (t) => {
    const inside = folder()
    ft.io.saveNpySync(inside('large.npy'), ft.zeros([1 << 24]))
    const { code, signal } = await command(['convert', inside('large.npy'), inside('large.npz')], {
      onStart: (child) => {
        const watch = setInterval(() => {
          if (!readdirSync(inside('.')).some((name) => name.startsWith('.ferrotensor-'))) return
          clearInterval(watch)
          child.kill('SIGINT')
        }, 1)
        child.on('close', () => clearInterval(watch))
      }
    })
    // The conversion may have been faster than the signal, which then ends the process as any other, or comes too late.
    const whole = existsSync(inside('large.npz'))
    t.true(code === 130 || (whole && (code === 0 || signal === 'SIGINT')), `ended with ${code ?? signal}`)
    if (whole) t.is(ft.io.loadNpzSync(inside('large.npz'))['large']?.size, 1 << 24)
    t.deepEqual(readdirSync(inside('.')), whole ? ['large.npy', 'large.npz'] : ['large.npy'])
  })
}

test.serial('a writer that fails leaves the old file, and nothing beside it', async (t) => {
  const inside = folder()
  writeFileSync(inside('old.npy'), 'old')
  const { stdout } = await run(`
    import { writeFileSync } from 'node:fs'
    import { writeWhole } from './dist/lib/cli/whole-file.js'
    const write = async (path) => { writeFileSync(path, 'half'); throw new Error('no room') }
    await writeWhole('test', ${JSON.stringify(inside('old.npy'))}, true, write).catch((e) => console.log(e.message))`)
  t.is(stdout, 'no room\n')
  t.is(readFileSync(inside('old.npy'), 'utf8'), 'old')
  t.deepEqual(readdirSync(inside('.')), ['old.npy'])
})

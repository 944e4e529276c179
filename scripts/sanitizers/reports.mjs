// The reports that the runtimes of sanitizers write, one file a process: which of it is ours, and at which lines.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'

/** Leaks shown of one process. */
const SHOWN = 5

/** Where a frame is: a module, and the offset in it. */
const FRAME = /\((\S+)\+(0x[0-9a-f]+)\)/g
/** Memory that was asked for and refused, which is no error: whoever asked gets null, and tells its caller. */
const REFUSED = /^==\d+==WARNING: AddressSanitizer failed to allocate 0x[0-9a-f]+ bytes$/gm
const RUNTIME = /(^|\/)lib(asan|tsan|c|gcc_s)\.so/
/**
 * Node frees the other half of a promise when it is settled, which it forbids once a worker is being terminated: 8 bytes for each read
 * that was pending then. (A promise forgotten otherwise keeps its process alive, which tests notice.)
 */
const DEFERRED = /::promise at [^\n]*\n \(inlined by\) promise at [^\n]*crates\/node\/src\/promise\.rs/

/**
 * What is ours of a report, or nothing. Node leaves V8's heap as it is when it exits, some 200 leaks a process, and V8 allocates
 * below calls of ours too: of leaks those count that the module itself allocated, or the function of Node-API that it called
 * (references). Node's threads synchronise by atomics that are not instrumented: of races those count in one of whose accesses the
 * module is, but for V8's jobs that collect garbage below a call of ours. Everything else counts, wherever it happened.
 */
function ours(report, module) {
  const files = (stack) => [...stack.matchAll(FRAME)].map(([, file]) => file).filter((file) => !RUNTIME.test(file))
  if (report.includes('ThreadSanitizer')) {
    const accesses = (race) => race.split(/\n +(?:Location|Mutex|Thread) /)[0].split('\n\n')
    const isJob = (stack) => /^ +#1 v8::platform::/m.test(stack)
    const isOurs = (race) => accesses(race).some((stack) => files(stack).includes(basename(module)) && !isJob(stack))
    return report.split(/^=+$/m).filter(isOurs).join('\n').trim()
  }
  if (!report.includes('LeakSanitizer')) return report
  const allocators = (part) => files(part).slice(0, 2)
  const [head, ...leaks] = report.split(/\n\n(?=(?:Direct|Indirect) leak of)/)
  const mine = leaks.filter((leak) => allocators(leak).includes(module) && !DEFERRED.test(symbolized(leak, module)))
  return mine.length === 0 ? '' : [head, ...mine.slice(0, SHOWN)].join('\n\n')
}

/** A report with the lines of a module's frames. */
export function symbolized(report, module) {
  const offsets = [...new Set([...report.matchAll(FRAME)].filter(([, file]) => file === module).map(([, , offset]) => offset))]
  const { stdout = '' } = offsets.length === 0 ? {} : spawnSync('addr2line', ['-Cfipe', module, ...offsets], { encoding: 'utf8' })
  const lines = stdout.trim().split(/\n(?! \(inlined by\))/)
  return report.replaceAll(FRAME, (frame, file, offset) => (file === module ? (lines[offsets.indexOf(offset)] ?? frame) : frame))
}

/** What a folder has of reports that are ours, written since it was last asked. */
export function takeReports(folder, module) {
  const text = (name) => readFileSync(join(folder, name), 'utf8').replaceAll(REFUSED, '').trim()
  const reports = readdirSync(folder).sort().map((name) => ours(text(name), module))
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  return reports.filter((text) => text !== '')
}

// `ferrotensor check`: versions, the native module, and known results on each device.

import { devices, type PresentDevice } from '../devices/devices.js'
import { stats } from '../diagnostics/stats.js'
import { TensorError } from '../errors.js'
import { VERSION } from '../generated/package.js'
import { absence, loaded } from '../native.js'
import { columns } from '../text/table.js'
import { duration } from '../text/units.js'
import { withBar } from './bar.js'
import { EXIT, type Run } from './commands.js'
import { difference, KNOWN_RESULTS } from './known-results.js'
import { paint, print, printJson } from './output.js'
import { chosenDevices, defaultDevice } from './present.js'

/** What came of a device. */
interface Verdict {
  readonly device: string
  readonly ok: boolean
  /** Operations whose results were known. */
  readonly checks: number
  /** What went wrong, by operation. */
  readonly failures: readonly { readonly check: string; readonly reason: string }[]
  /** Operations that the device lacks, so that the CPU computed them. */
  readonly fallbacks: readonly string[]
  readonly milliseconds: number
}

async function verdictOf({ name: device }: PresentDevice, onCheck: (name: string) => void): Promise<Verdict> {
  const started = performance.now()
  const failures: { check: string; reason: string }[] = []
  for (const known of KNOWN_RESULTS) {
    onCheck(known.name)
    const reason = await difference(known, device).catch((error: unknown) => {
      if (error instanceof TensorError) return `${error.name}: ${error.message}`
      throw error
    })
    if (reason !== undefined) failures.push({ check: known.name, reason })
  }
  const fallbacks = [...new Set(stats().fallbacks.filter((fallback) => fallback.device === device).map(({ op }) => op))]
  return { device, ok: failures.length === 0, checks: KNOWN_RESULTS.length, failures, fallbacks, milliseconds: performance.now() - started }
}

/** Every device, one after the other. */
function verdictsOf(chosen: readonly PresentDevice[]): Promise<Verdict[]> {
  return withBar(async (show) => {
    const verdicts: Verdict[] = []
    let done = 0
    const total = chosen.length * KNOWN_RESULTS.length
    for (const device of chosen) verdicts.push(await verdictOf(device, (name) => show({ done: done++, total, label: `${device.name}: ${name}` })))
    return verdicts
  })
}

function detailOf({ checks, failures, fallbacks, milliseconds }: Verdict): string {
  const elsewhere = fallbacks.length > 0 ? `; computed by the CPU: ${fallbacks.join(', ')}` : ''
  const [first, ...others] = failures
  if (first === undefined) return `${checks} known results in ${duration(milliseconds)}${elsewhere}`
  return `${first.check}: ${first.reason}${others.length > 0 ? `; and ${others.map(({ check }) => check).join(', ')}` : ''}`
}

/** Where the native module is from. */
const origin = ({ file, version }: NonNullable<typeof loaded>): string => (version === null ? file : `${version}, ${file}`)

/** Runs the command. */
export const run: Run = async (given) => {
  const chosen = loaded === null ? [] : chosenDevices('check', given)
  const absent = loaded === null || given.text('device') !== undefined ? [] : devices().filter((device) => !device.available)
  const verdicts = await verdictsOf(chosen)
  // Devices may be there and none of them the default: that FERROTENSOR_DEVICE names, or the CPU with a FERROTENSOR_BLAS that is not.
  const { reason } = loaded === null ? { reason: absence ?? undefined } : defaultDevice('check')
  const ok = reason === undefined && verdicts.every((verdict) => verdict.ok)
  if (given.flag('json')) {
    const { platform, arch, versions } = process
    printJson({ ok, node: versions.node, platform, arch, package: VERSION, native: loaded, reason, devices: verdicts, absent })
  } else {
    const state = (good: boolean): string => (good ? paint('green', 'ok') : paint('red', 'failed'))
    const rows = [
      ['node', '', `${process.versions.node} (${process.platform} ${process.arch})`],
      ['package', '', VERSION],
      ['native', state(loaded !== null), loaded === null ? (reason ?? '') : origin(loaded)],
      ...(loaded !== null && reason !== undefined ? [['default', state(false), reason]] : []),
      ...verdicts.map((verdict) => [verdict.device, state(verdict.ok), detailOf(verdict)]),
      ...absent.map(({ name, reason }) => [name, paint('dim', 'absent'), paint('dim', reason)])
    ]
    print([...columns('lll', rows), '', ok ? 'The installation works.' : 'The installation does not work.'])
  }
  return ok ? EXIT.success : EXIT.failure
}

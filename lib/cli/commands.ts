// The commands: their names, operands and options, and what they say of themselves. Data alone, so that help needs no native module;
// a command's own module is loaded when it runs.

import type { Arguments } from './arguments.js'

/** Exit codes, as of POSIX' `grep` and `diff`: trouble with the call is told apart from a negative answer. */
export const EXIT = { success: 0, failure: 1, usage: 2 } as const

/** Runs a command, and gives its exit code. */
export type Run = (given: Arguments) => Promise<number>

/** An option. */
export interface OptionRow {
  /** What it does, in a few words. */
  readonly about: string
  /** What stands for its value in help; a flag has none. */
  readonly value?: string
}

/** A command. */
export interface CommandRow {
  readonly name: string
  /** What it does, in a few words. */
  readonly about: string
  /** Its operands, all of them needed. */
  readonly operands: readonly string[]
  readonly options: Readonly<Record<string, OptionRow>>
  /** What else its help says, in lines of up to 80 characters. */
  readonly notes: readonly string[]
  readonly load: () => Promise<{ readonly run: Run }>
}

const JSON_OPTION = { json: { about: 'print JSON' } }
const DEVICE_OPTION = { device: { value: 'name', about: 'this device only, cpu or vulkan:0' } }
const FILES = 'Formats, by the ending of the name: .npy, .npz, .safetensors, .csv, .tsv, .txt'

export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'devices',
    about: 'list the devices, and why others are absent',
    operands: [],
    options: JSON_OPTION,
    notes: ['FERROTENSOR_DEVICE=name makes a device the default.'],
    load: () => import('./devices.js')
  },
  {
    name: 'check',
    about: 'verify the installation on each device',
    operands: [],
    options: { ...DEVICE_OPTION, ...JSON_OPTION },
    notes: ['Versions, the native module, and operations whose results are known beforehand.', 'Ends with 1 if a device fails, or if there is none.'],
    load: () => import('./check.js')
  },
  {
    name: 'bench',
    about: 'measure a few operations on each device',
    operands: [],
    options: {
      quick: { about: 'a tenth of the time, and less exact' },
      html: { value: 'file', about: 'write a profile as a page: timeline, memory, kernels' },
      trace: { value: 'file', about: 'write it as a trace for Perfetto or chrome://tracing' },
      ...DEVICE_OPTION,
      ...JSON_OPTION
    },
    notes: [
      'Times are medians. GB/s counts each operand and result once, GFLOP/s the',
      'operations that ft.profile counts; "of peak" compares with a copy of memory',
      'and with multiply-adds as measured in the same run, where that is known.'
    ],
    load: () => import('./bench.js')
  },
  {
    name: 'inspect',
    about: 'list the arrays of a file, and its metadata',
    operands: ['file'],
    options: {
      stats: { about: 'read the elements: least, greatest, mean, number of NaN' },
      header: { about: 'text: the first row has names' },
      ...JSON_OPTION
    },
    notes: [FILES],
    load: () => import('./inspect.js')
  },
  {
    name: 'convert',
    about: 'write the arrays of a file in another format',
    operands: ['from', 'to'],
    options: {
      name: { value: 'name', about: 'this array only; the name of one that has none' },
      force: { about: 'replace a file that exists' },
      compressed: { about: 'npz: deflate the arrays' },
      dtype: { value: 'dtype', about: 'text: what its numbers become' },
      header: { about: 'text: the first row has names' }
    },
    notes: [
      FILES,
      'Dtypes stay as they are; what a format cannot hold is refused. Numbers of text',
      'become int64, uint64 or float64, the first that holds all of them.'
    ],
    load: () => import('./convert.js')
  }
]

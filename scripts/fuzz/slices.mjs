// Index texts: written from random items with random blanks, and broken in places. What the text form reads must be what a second
// parser reads that shares nothing with it, and `x.at(text)` must have the elements that loops over the positions find.
//
//   node scripts/fuzz/slices.mjs [--seed text] [--texts 100000]

import { parseArgs } from 'node:util'
import * as ft from 'ferrotensor'
import { parseItems } from '../../dist/lib/indexing/slice.js'
import { Random } from './random.mjs'

const { values: given } = parseArgs({ options: { seed: { type: 'string', default: '1' }, texts: { type: 'string', default: '100000' } } })
const { seed } = given

const SHAPE = [3, 1, 4]
/** The least share of texts that must succeed, and of those that must be refused. */
const LEAST_SHARE = 0.2
const SHOWN = 5

const INTEGERS = ['0', '1', '-1', '2', '+2', '-3', '3', '007', '-4', '4', '100', '-100', '9007199254740991', '9007199254740992', '1e3', '1.5', '']
const NOISE = [...':,.+-0 \tn', '...', '::', 'null', 'newaxis', ' ', '\u00a0', '٣', '\0', '😀', '"', '1']
const blank = (rng) => (rng.chance(0.2) ? rng.pick([' ', '  ', '\t', '\n']) : '')
const integer = (rng) => (rng.chance(0.9) ? rng.pick(INTEGERS.slice(0, 9)) : rng.pick(INTEGERS))
const bound = (rng) => (rng.chance(0.4) ? '' : integer(rng))

function item(rng) {
  const kind = rng.next()
  if (kind < 0.1) return '...'
  if (kind < 0.2) return rng.pick(['null', 'newaxis'])
  if (kind < 0.5) return integer(rng)
  const parts = Array.from({ length: rng.int(2, 3) }, () => blank(rng) + bound(rng) + blank(rng))
  return parts.join(':')
}

function text(rng) {
  let out = Array.from({ length: rng.int(1, 4) }, () => blank(rng) + item(rng) + blank(rng)).join(',')
  for (let n = rng.chance(0.3) ? rng.int(1, 3) : 0; n > 0; n--) {
    const at = rng.int(0, out.length)
    out = out.slice(0, at) + rng.pick(NOISE) + out.slice(at + rng.int(0, 2))
  }
  return out
}

/** The items of a text; null for one that must be refused. */
function read(source) {
  const whole = (digits) => (/^[+-]?[0-9]+$/.test(digits) && Number.isSafeInteger(Number(digits)) ? Number(digits) : undefined)
  const part = (digits) => (digits === '' ? null : whole(digits))
  const items = source.split(',').map((piece) => {
    const word = piece.trim()
    if (word === '...') return word
    if (word === 'null' || word === 'newaxis') return null
    const parts = word.split(':').map((digits) => digits.trim())
    if (parts.length === 1) return whole(word)
    const [start, stop, step = 1] = parts.map(part)
    const wrong = parts.length > 3 || start === undefined || stop === undefined || parts.map(part).includes(undefined) || step === 0
    return wrong ? undefined : { start, stop, step: step ?? 1 }
  })
  return items.includes(undefined) ? null : items
}

/** The positions of a range along an axis, as Python's `range(*slice.indices(length))`. */
function positions({ start, stop, step }, length) {
  const [low, high] = step > 0 ? [0, length] : [-1, length - 1]
  const clamp = (bound, natural) => (bound === null ? natural : Math.min(Math.max(bound < 0 ? bound + length : bound, low), high))
  const [first, last] = step > 0 ? [clamp(start, low), clamp(stop, high)] : [clamp(start, high), clamp(stop, low)]
  const found = []
  for (let at = first; step > 0 ? at < last : at > last; at += step) found.push(at)
  return found
}

/** Shape and elements of `arange(...).reshape(SHAPE).at(items)`; null where it must be refused. */
function pick(items) {
  const named = items.filter((each) => each !== null && each !== '...').length
  const ellipses = items.filter((each) => each === '...').length
  if (named > SHAPE.length || ellipses > 1) return null
  const all = { start: null, stop: null, step: 1 }
  const rest = Array(SHAPE.length - named).fill(all)
  const full = ellipses === 1 ? items.flatMap((each) => (each === '...' ? rest : [each])) : [...items, ...rest]
  let [shape, offsets, axis] = [[], [0], 0]
  for (const each of full) {
    if (each === null) {
      shape.push(1)
      continue
    }
    const length = SHAPE[axis++]
    const found = typeof each === 'number' ? [each < 0 ? each + length : each] : positions(each, length)
    if (typeof each !== 'number') shape.push(found.length)
    else if (found[0] < 0 || found[0] >= length) return null
    offsets = offsets.flatMap((offset) => found.map((at) => offset * length + at))
  }
  return { shape, offsets }
}

/** The value, or null for an IndexError; anything else thrown is passed on. */
function refusable(call) {
  try {
    return call()
  } catch (error) {
    if (!(error instanceof ft.IndexError)) throw error
    return null
  }
}

const plain = (items) => JSON.stringify(items?.map((each) => (each instanceof ft.Slice ? { start: each.start, stop: each.stop, step: each.step } : each)) ?? null)
const x = ft.arange(SHAPE.reduce((n, length) => n * length, 1)).reshape(SHAPE)

/** What is wrong with the text form on this text; null if nothing is. */
function problem(source) {
  const [wanted, got] = [read(source), refusable(() => parseItems('at', source))]
  if (plain(wanted) !== plain(got)) return `is read as ${plain(got)}, should be ${plain(wanted)}`
  if (wanted === null) return null
  const [elements, y] = [pick(wanted), refusable(() => x.at(source))]
  const [is, should] = [JSON.stringify(y && { shape: y.shape, offsets: [...y.dataSync()] }), JSON.stringify(elements)]
  return is === should ? null : `at gives ${is}, should give ${should}`
}

const problems = []
const [total, counts] = [Number(given.texts), { accepted: 0, refused: 0 }]
for (let n = 0; n < total; n++) {
  const source = text(new Random(`${seed}/${n}`))
  try {
    counts[read(source) === null ? 'refused' : 'accepted']++
    const wrong = problem(source)
    if (wrong !== null) problems.push(`${JSON.stringify(source)} ${wrong}`)
  } catch (error) {
    problems.push(`${JSON.stringify(source)} throws ${error.stack}`)
  }
}
for (const [kind, n] of Object.entries(counts)) if (!(n >= LEAST_SHARE * total)) problems.push(`${n} of ${total} texts are ${kind}: too few`)
problems.slice(0, SHOWN).forEach((line) => console.log(line))
console.log(`seed ${seed}: ${counts.accepted} accepted, ${counts.refused} refused`)
console.log(`${Math.max(0, total - problems.length)} passed, ${problems.length} failed`)
process.exitCode = problems.length === 0 ? 0 : 1

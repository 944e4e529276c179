// The digits example: the program reads unseen digits well, the same every time, what it saves is what it trained, and its picture of
// the run is complete.
// runs on: host; vulkan.test.ts trains the same network on a device

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import * as ft from 'ferrotensor'
import { CLASSES, loadDigits, PIXELS, type Digits } from '../../examples/digits/data.js'
import { convolutional } from '../../examples/digits/models.js'
import { evaluate, EXPERIMENTS, train } from '../../examples/digits/train.js'
import { tested } from '../device.js'
import { folder } from '../io/folder.js'

const file = folder()
const key = (seed: number) => ft.random.key(seed)

/** The first rows. */
const first = ({ images, labels }: Digits, rows: number): Digits => ({ images: images.at(`:${rows}`), labels: labels.at(`:${rows}`) })

test('the program reads at least 95 % of the test digits by each model, and saves the network it trained', async (t) => {
  const program = fileURLToPath(new URL('../../examples/digits/main.js', import.meta.url))
  const saved = file('digits.safetensors')
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--save', saved])
  const accuracies = Object.fromEntries(
    [...stdout.matchAll(/^(.+?) +of +\d+ parameters: test accuracy (\d+\.\d) %, trained in \d+\.\d\d s$/gm)].map(([, name, percent]) => [name, Number(percent)])
  )
  t.deepEqual(Object.keys(accuracies), EXPERIMENTS.map(({ name }) => name))
  for (const [name, accuracy] of Object.entries(accuracies)) t.true(accuracy >= 95, `${name}: ${accuracy} %`)
  t.regex(stdout, new RegExp(`computed by ${tested}: \\S+`))
  // Of each model the curve of its losses and its confusion; pictures of what was misread.
  t.is(stdout.match(/: loss by epoch$/gm)?.length, EXPERIMENTS.length)
  t.is(stdout.match(/^true \\ predicted +0 +1 /gm)?.length, EXPERIMENTS.length)
  t.regex(stdout, /^\d+ of \d+ misread, for example:\n[^]*?^is \d, read \d/m)
  // Without a terminal nothing is written over.
  t.false(stdout.includes('\r'))

  // The program's own split: it has seed 1, and the first of two keys.
  const { test: unseen } = await loadDigits(ft.random.split(key(1))[0] as ft.random.Key)
  const [params, state] = ft.nn.loadStateDict(await ft.io.loadSafetensors(saved), [convolutional.init(key(2)), convolutional.initState()])
  const { accuracy, confusion, predicted } = await evaluate(convolutional, { params, state }, unseen)
  t.is(Number((100 * accuracy).toFixed(1)), accuracies['convolutional network'])
  const truth = unseen.labels.dataSync()
  t.is(accuracy.toFixed(5), (predicted.filter((digit, row) => digit === truth[row]).length / truth.length).toFixed(5))
  t.is(confusion.flat().reduce((a, b) => a + b), truth.length)
  t.true(confusion.every((counts, digit) => counts[digit] === predicted.filter((p, row) => p === digit && truth[row] === digit).length))
})

test('the saved network has the names and shapes of its twin in PyTorch', (t) => {
  const dict = ft.nn.stateDict(convolutional.init(key(1)), convolutional.initState())
  const shapes = Object.fromEntries(Object.entries(dict).map(([name, { shape }]) => [name, shape]))
  const norm = (at: number, channels: number) => {
    const names = ['weight', 'bias', 'running_mean', 'running_var'].map((name) => [`${at}.${name}`, [channels]])
    return Object.fromEntries([...names, [`${at}.num_batches_tracked`, []]])
  }
  t.deepEqual(shapes, { '1.weight': [16, 1, 3, 3], ...norm(2, 16), '5.weight': [32, 16, 3, 3], ...norm(6, 32), '10.weight': [10, 512], '10.bias': [10] })
})

test('a fifth of each class is tested, nothing is in both parts, and a key decides', async (t) => {
  const { training, test: unseen } = await loadDigits(key(3))
  const counts = ({ labels }: Digits) => ft.bincount(labels, { minlength: CLASSES }).toArray() as number[]
  const [learnt, held] = [counts(training), counts(unseen)]
  t.is(training.labels.size + unseen.labels.size, 1797)
  held.forEach((count, digit) => t.is(count, Math.round(0.2 * (count + (learnt[digit] as number)))))
  t.deepEqual(training.images.shape, [training.labels.size, PIXELS])
  const text = ({ images }: Digits) => (images.toArray() as number[][]).map(String)
  const seen = new Set(text(training))
  t.false(text(unseen).some((image) => seen.has(image)))
  t.deepEqual(text((await loadDigits(key(3))).test), text(unseen))
  t.notDeepEqual(text((await loadDigits(key(4))).test), text(unseen))
})

for (const experiment of EXPERIMENTS) {
  test(`${experiment.name}: the same key gives the same training, another one another`, async (t) => {
    const { training } = await loadDigits(key(5))
    const run = async (seed: number) => {
      const { params, state, losses } = await train({ ...experiment, epochs: 2 }, first(training, 200), key(seed))
      return { losses, bytes: Object.values(ft.nn.stateDict(params, state)).map((x) => x.toBytes()) }
    }
    const [once, again, other] = [await run(1), await run(1), await run(2)]
    t.deepEqual(once, again)
    t.notDeepEqual(once.losses, other.losses)
    t.true((once.losses[1] as number) < (once.losses[0] as number), `${once.losses}`)
  })

  test(`${experiment.name}: an image is read the same alone and among others`, async (t) => {
    const { model } = experiment
    const { test: unseen } = await loadDigits(key(6))
    const { images } = first(unseen, 5)
    const [params, state] = [model.init(key(7)), model.initState()]
    const together = model.apply(params, images, { state })
    t.deepEqual(together.shape, [5, CLASSES])
    const alone = model.apply(params, images.at('2:3'), { state })
    t.true((together.at('2:3').sub(alone).abs().max().itemSync() as number) < 1e-5)
  })
}

test('progress is told step by step', async (t) => {
  const { training } = await loadDigits(key(8))
  const told: ft.Progress[] = []
  await train({ ...(EXPERIMENTS[0] as (typeof EXPERIMENTS)[0]), epochs: 2 }, first(training, 200), key(1), (progress) => told.push(progress))
  t.deepEqual(told.map(({ done, total }) => [done, total]), [1, 2, 3, 4, 5, 6].map((done) => [done, 6]))
  t.true(told.every(({ label }) => /^loss \d+\.\d{4}$/.test(label)))
})

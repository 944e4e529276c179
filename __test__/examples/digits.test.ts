// The digits example: it learns, its hand-written gradients are the loss's derivatives, and its picture of the run is complete.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import * as ft from 'ferrotensor'
import { loadDigits, type Digits } from '../../examples/digits/data.js'
import { identity, initialise, loss, lossAndGradients, relu, type Layer, type Layers } from '../../examples/digits/model.js'
import { confusionMatrix, curve, pictures } from '../../examples/digits/plot.js'
import { evaluate, EXPERIMENTS, train } from '../../examples/digits/train.js'
import { tested } from '../device.js'

for (const experiment of EXPERIMENTS) {
  test(`${experiment.name}: reads at least 90 % of the test digits`, async (t) => {
    const { training, test: unseen } = await loadDigits()
    const { layers, losses } = await train(experiment, training, 1)
    const { accuracy, confusion, predicted } = await evaluate(layers, unseen)
    t.true(accuracy >= 0.9, `accuracy ${accuracy}`)
    t.is(losses.length, experiment.epochs)
    t.true((losses.at(-1) as number) < 0.2 * (losses[0] as number))
    const truth = unseen.labels.dataSync()
    t.is(accuracy.toFixed(5), (predicted.filter((digit, row) => digit === truth[row]).length / truth.length).toFixed(5))
    t.is(confusion.flat().reduce((a, b) => a + b), unseen.labels.size)
  })
}

const SMALL = [64, 5, 10]

async function smallProblem(): Promise<{ layers: Layers; digits: Digits }> {
  const { training } = await loadDigits('float64')
  const range = ft.slice(0, 12)
  return {
    layers: initialise(ft.random.key(7), SMALL, 'float64'),
    digits: { images: training.images.at(range), labels: training.labels.at(range) }
  }
}

/** The loss after one parameter of one layer moved by `by`. */
function lossMoved(layers: Layers, digits: Digits, at: number, name: keyof Layer, index: number, by: number): number {
  const value = (layers[at] as Layer)[name]
  const flat = value.reshape([-1])
  const moved = flat.withAt([index], flat.at(index).add(by)).reshape(value.shape)
  const changed = layers.map((layer, i) => (i === at ? { ...layer, [name]: moved } : layer))
  return Number(loss(changed, digits, relu).itemSync())
}

test('the gradients equal central differences in float64', async (t) => {
  const { layers, digits } = await smallProblem()
  const [, gradients] = lossAndGradients(layers, digits, relu)
  // The error of a central difference: h^2 from the curvature, 1e-16 / h from rounding; h = 1e-5 balances them near 1e-10.
  const h = 1e-5
  for (const [at, layer] of gradients.entries()) {
    for (const name of ['weights', 'bias'] as const) {
      const gradient = layer[name].reshape([-1]).dataSync()
      // Every 7th: 7 is coprime to all sizes here, so each row and column is met.
      for (let i = 0; i < gradient.length; i += 7) {
        const slope = (lossMoved(layers, digits, at, name, i, h) - lossMoved(layers, digits, at, name, i, -h)) / (2 * h)
        t.true(Math.abs(slope - Number(gradient[i])) <= 1e-6, `layer ${at} ${name}[${i}]: ${slope} and ${gradient[i]}`)
      }
    }
  }
})

test('the activation matters: without ReLU the loss is another', async (t) => {
  const { layers, digits } = await smallProblem()
  const [withRelu, without] = [relu, identity].map((activation) => Number(loss(layers, digits, activation).itemSync()))
  t.true(Math.abs((withRelu as number) - (without as number)) > 1e-3)
})

test('pictures: axes, counts and captions are where they belong', (t) => {
  const lines = curve('loss', [1, 0.5, 0.25])
  t.is(lines.length, 13)
  t.regex(lines[1] as string, /^ +1\.000 ┤/)
  t.regex(lines[10] as string, /^ +0\.250 ┤/)
  t.deepEqual(confusionMatrix([[2, 0], [1, 3]]).slice(1), ['          0    2   ·', '          1    1   3'])
  const pixels = Array.from({ length: 64 }, (_, i) => (i === 0 ? 1 : 0))
  const drawn = pictures([{ pixels, caption: 'one' }, { pixels, caption: 'two' }])
  t.is(drawn.length, 9)
  t.true((drawn[0] as string).startsWith('██  '))
  t.regex(drawn[8] as string, /^one +two/)
})

test('the program runs without a terminal and reports accuracy, time and device', async (t) => {
  const program = fileURLToPath(new URL('../../examples/digits/main.js', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [program])
  t.is(stdout.match(/test accuracy 9\d\.\d %, trained in \d+\.\d\d s/g)?.length, EXPERIMENTS.length)
  t.regex(stdout, new RegExp(`computed by ${tested}: \\S+`))
  t.false(stdout.includes('\r'))
})

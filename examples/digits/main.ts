// Trains a softmax classifier and a small network on handwritten digits, and shows how it went. Run with `npm start`.

import * as ft from 'ferrotensor'
import { loadDigits } from './data.js'
import { confusionMatrix, curve, pictures, ProgressBar } from './plot.js'
import { evaluate, EXPERIMENTS, train } from './train.js'

const SEED = 1
const MISREAD_SHOWN = 5

const show = (lines: readonly string[]) => console.log(`\n${lines.join('\n')}`)
const percent = (share: number) => `${(100 * share).toFixed(1)} %`

// Whatever FERROTENSOR_DEVICE names computes everything, or the example ends with an error.
ft.strict('throw')

const { training, test } = await loadDigits()
console.log(`${training.labels.size} images to learn from, ${test.labels.size} to be tested on\n`)

const summary: string[] = []
for (const experiment of EXPERIMENTS) {
  const { name, sizes, epochs } = experiment
  const started = performance.now()
  const bar = new ProgressBar(name, epochs)
  const { layers, losses } = await train(experiment, training, SEED, (done, loss) => bar.update(done, `loss ${loss.toFixed(4)}`))
  const seconds = (performance.now() - started) / 1000
  const { accuracy, confusion, predicted } = await evaluate(layers, test)
  show(curve(`${name} ${sizes.join('-')}: loss by epoch`, losses))
  show(confusionMatrix(confusion))

  const truth = (await test.labels.data()) as ArrayLike<number>
  const misread = predicted.map((_, row) => row).filter((row) => predicted[row] !== truth[row])
  const shown = await Promise.all(
    misread.slice(0, MISREAD_SHOWN).map(async (row) => ({
      pixels: (await test.images.at(row).data()) as ArrayLike<number>,
      caption: `is ${truth[row]}, read ${predicted[row]}`
    }))
  )
  if (shown.length > 0) show([`${misread.length} of ${predicted.length} misread, for example:`, ...pictures(shown)])
  console.log()
  summary.push(`${`${name} ${sizes.join('-')}`.padEnd(30)} test accuracy ${percent(accuracy)}, trained in ${seconds.toFixed(2)} s`)
}
console.log(summary.join('\n'))
const device = ft.devices().find(({ name }) => name === training.images.device)
if (device?.available) console.log(`computed by ${device.name}: ${device.description}`)

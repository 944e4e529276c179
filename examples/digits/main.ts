// Trains three classifiers of handwritten digits, and shows how it went. Run with `npm start`; `npm start -- --save digits.safetensors`
// keeps the convolutional network.

import { parseArgs } from 'node:util'
import * as ft from 'ferrotensor'
import { loadDigits } from './data.js'
import { convolutional } from './models.js'
import { confusionMatrix, curve, pictures, ProgressBar } from './plot.js'
import { evaluate, EXPERIMENTS, train } from './train.js'

const SEED = 1
const MISREAD_SHOWN = 5

const show = (lines: readonly string[]) => console.log(`\n${lines.join('\n')}`)
const percent = (share: number) => `${(100 * share).toFixed(1)} %`

const { save } = parseArgs({ options: { save: { type: 'string' } } }).values

// Whatever FERROTENSOR_DEVICE names computes everything, or the example ends with an error.
ft.strict('throw')

const [ofData, ofTraining] = ft.random.split(ft.random.key(SEED)) as [ft.random.Key, ft.random.Key]
const { training, test } = await loadDigits(ofData)
console.log(`${training.labels.size} images to learn from, ${test.labels.size} to be tested on`)

const summary: string[] = []
for (const experiment of EXPERIMENTS) {
  const { name, model } = experiment
  console.log()
  const started = performance.now()
  const bar = new ProgressBar(name)
  const trained = await train(experiment, training, ofTraining, (progress) => bar.update(progress))
  const seconds = (performance.now() - started) / 1000
  const { accuracy, confusion, predicted } = await evaluate(model, trained, test)
  show(curve(`${name}: loss by epoch`, trained.losses))
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

  const numbers = ft.tree.leaves(trained.params).reduce((sum, { size }) => sum + size, 0)
  summary.push(`${name.padEnd(21)} of ${String(numbers).padStart(5)} parameters: test accuracy ${percent(accuracy)}, trained in ${seconds.toFixed(2)} s`)
  if (model === convolutional && save !== undefined) {
    await ft.io.saveSafetensors(save, ft.nn.stateDict(trained.params, trained.state))
    summary.push(`  saved as ${save}, which PyTorch reads: load_state_dict(safetensors.torch.load_file('${save}'))`)
  }
}
show(summary)
const device = ft.devices().find(({ name }) => name === training.images.device)
if (device?.available) console.log(`computed by ${device.name}: ${device.description}`)

// Trains three classifiers of handwritten digits, and shows how it went. Run with `npm start`; `npm start -- --save digits.safetensors`
// keeps the convolutional network.

import { parseArgs } from 'node:util'
import * as ft from 'ferrotensor'
import * as plot from 'ferrotensor/plot'
import { loadDigits, SIDE } from './data.js'
import { convolutional } from './models.js'
import { ProgressBar } from './progress.js'
import { evaluate, EXPERIMENTS, train } from './train.js'

const SEED = 1
const MISREAD_SHOWN = 5

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
  const x = trained.losses.map((_, epoch) => epoch + 1)
  const { losses } = trained
  console.log(`\n${plot.lines(losses, { x, title: `${name}: loss by epoch`, xLabel: 'epoch', logY: true, textHeight: 10, textWidth: 72 })}`)
  console.log(`\n${plot.confusion(confusion)}`)

  const truth = (await test.labels.data()) as ArrayLike<number>
  const misread = predicted.map((_, row) => row).filter((row) => predicted[row] !== truth[row])
  const shown = misread.slice(0, MISREAD_SHOWN)
  if (shown.length > 0) {
    const captions = shown.map((row) => `is ${truth[row]}, read ${predicted[row]}`)
    const pixels = test.images.at(shown).reshape([-1, SIDE, SIDE])
    console.log(`\n${misread.length} of ${predicted.length} misread, for example:\n${plot.images(pixels, { captions, range: [0, 1] })}`)
  }

  const numbers = ft.tree.leaves(trained.params).reduce((sum, { size }) => sum + size, 0)
  summary.push(`${name.padEnd(21)} of ${String(numbers).padStart(5)} parameters: test accuracy ${percent(accuracy)}, trained in ${seconds.toFixed(2)} s`)
  if (model === convolutional && save !== undefined) {
    await ft.io.saveSafetensors(save, ft.nn.stateDict(trained.params, trained.state))
    summary.push(`  saved as ${save}, which PyTorch reads: load_state_dict(safetensors.torch.load_file('${save}'))`)
  }
}
console.log(`\n${summary.join('\n')}`)
const device = ft.devices().find(({ name }) => name === training.images.device)
if (device?.available) console.log(`computed by ${device.name}: ${device.description}`)

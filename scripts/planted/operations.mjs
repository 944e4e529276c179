// Faults of the table of operations: dtypes, shapes, definitions, defaults and gradients.

import { conformance, javascript, rust, step } from './commands.mjs'

export const OPERATIONS = [
  {
    name: 'halves-promote-to-one-of-them',
    class: 'Two dtypes promote to another one than documented',
    by: [conformance('golden/promotion'), javascript('consumer'), step('generated files')]
  },
  {
    name: 'sums-stay-narrow',
    class: "A row's rule of dtypes is wrong",
    by: [conformance('golden/sum'), javascript('consumer')]
  },
  {
    name: 'the-last-window-is-missing',
    class: "A row's rule of shapes is wrong",
    by: [rust('ops', '--lib', 'windows_are_counted'), conformance('golden/nn.maxPool')]
  },
  {
    name: 'a-definition-changes',
    class: 'A definition changes, and with it the reference and every backend',
    by: [conformance('golden/nn.softsign')]
  },
  {
    name: 'a-stride-left-out-is-one',
    class: 'An attribute that is left out has another value than documented',
    by: [conformance('golden/nn.maxPool'), javascript('table')]
  },
  {
    name: 'random-words-are-drawn-twice',
    class: 'Random draws are others than documented (element i by key and i)',
    by: [conformance('golden/random.bits'), conformance('random/')]
  },
  {
    name: 'a-slope-has-the-wrong-sign',
    class: 'A first derivative is wrong',
    by: [conformance('gradients/cos')]
  },
  {
    name: 'second-derivatives-are-zero',
    class: 'A second derivative is wrong where the first is right',
    by: [javascript('gradients')]
  },
  {
    name: 'a-second-tangent-is-lost',
    class: 'Forward mode is wrong where reverse mode is right',
    by: [javascript('jacobian')]
  },
  {
    name: 'mapped-coordinates-count-positions',
    class: 'A function mapped over positions differs from the function at each of them',
    by: [conformance('vmap/')]
  },
  {
    name: 'a-kink-has-another-slope',
    class: "A gradient at a tie or a kink is not PyTorch's",
    by: [conformance('gradients/pytorch relu')]
  }
]

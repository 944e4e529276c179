// What is recorded before the type table turns over is worth the same after it.
// runs on: host; a table of our own, of which no device and no Node knows

import test from 'ava'
import * as ft from 'ferrotensor'

/** More shapes than an epoch has types. */
function turnEpoch(): void {
  for (let i = 0; i < 17_000; i++) ft.zeros([i + 1])
}

test('an expression of an earlier epoch keeps its numbers and attributes', (t) => {
  const x = ft.tensor([1, 2, 3])
  ft.evaluateSync(x)
  const sum = x.mul(5).sum()
  const softmax = x.mul(5).softmax(0)
  const picked = x.at(1)
  turnEpoch()
  x.add(7)
  t.is(sum.itemSync(), 30)
  t.deepEqual(softmax.toArray(), x.mul(5).softmax(0).toArray())
  t.is(picked.itemSync(), 2)
})

test('an expression of an earlier epoch can be the first thing read', (t) => {
  const y = ft.tensor([1, 2, 3]).add(1).sum({ axis: 0, keepdims: true })
  turnEpoch()
  t.deepEqual(y.toArray(), [9])
})

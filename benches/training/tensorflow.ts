// The dense network's step in TensorFlow.js, made by its own optimiser.

import { images, labels, weights, type Training } from './steps.js'

/** The parts of TensorFlow.js that benches take; it has its own types. */
export interface TensorFlow {
  readonly version_core: string
  setBackend(name: string): Promise<boolean>
  ready(): Promise<void>
  tidy<T>(f: () => T): T
  tensor(data: Float32Array | Int32Array, shape: readonly number[], dtype?: string): unknown
  oneHot(labels: unknown, depth: number): unknown
  variable(x: unknown): { matMul(x: unknown): unknown }
  readonly train: { sgd(rate: number): { minimize(f: () => unknown, cost: boolean): { dataSync(): Float32Array; dispose(): void } } }
  readonly losses: { softmaxCrossEntropy(labels: unknown, logits: unknown): unknown }
  matMul(a: unknown, b: unknown): { add(x: unknown): { relu(): unknown } }
}

/** Steps that go on from one another; each gives its loss. */
export function tensorflowStep(tf: TensorFlow, training: Pick<Training, 'batch' | 'pixels' | 'shapes'>): () => number {
  const [w1, b1, w2, b2] = weights(training).map(([, shape, data]) => tf.variable(tf.tensor(data, shape)))
  const x = tf.tensor(images(training, training.batch), [training.batch, training.pixels])
  const y = tf.oneHot(tf.tensor(labels(training.batch), [training.batch], 'int32'), 10)
  const optimizer = tf.train.sgd(0.01)
  return () => {
    const cost = optimizer.minimize(() => tf.losses.softmaxCrossEntropy(y, tf.matMul(tf.matMul(x, w1).add(b1).relu(), w2).add(b2)), true)
    const loss = cost.dataSync()[0] as number
    cost.dispose()
    return loss
  }
}

// Cases of operations.bench.ts: what neural networks are made of. NumPy has none of it by name: its side is the formula as one writes
// it down.

import * as ft from 'ferrotensor'
import { FREE, type Case } from './case.js'

export const NETWORKS: readonly Case[] = [
  ['softmax', ({ m }) => ft.softmax(m), '(e := np.exp(m - m.max(1, keepdims=True))) / e.sum(1, keepdims=True)'],
  ['logSoftmax', ({ m }) => ft.logSoftmax(m), '(d := m - m.max(1, keepdims=True)) - np.log(np.exp(d).sum(1, keepdims=True))'],
  ['nn.relu6', ({ x }) => ft.nn.relu6(x), 'np.clip(x, 0, 6)'],
  ['nn.leakyRelu', ({ x }) => ft.nn.leakyRelu(x), 'np.where(x > 0, x, 0.01 * x)'],
  ['nn.prelu', ({ x, u }) => ft.nn.prelu(x, u), 'np.where(x > 0, x, u * x)'],
  ['nn.elu', ({ x }) => ft.nn.elu(x), 'np.where(x > 0, x, np.expm1(x))'],
  ['nn.celu', ({ x }) => ft.nn.celu(x, { alpha: 2 }), 'np.where(x > 0, x, 2 * np.expm1(x / 2))'],
  ['nn.selu', ({ x }) => ft.nn.selu(x), '1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x))'],
  ['nn.gelu', ({ x }) => ft.nn.gelu(x), '-'],
  ['nn.gelu tanh', ({ x }) => ft.nn.gelu(x, { approximate: 'tanh' }), 'x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x * x * x)))'],
  ['nn.silu', ({ x }) => ft.nn.silu(x), 'x / (1 + np.exp(-x))'],
  ['nn.mish', ({ x }) => ft.nn.mish(x), 'x * np.tanh(np.log1p(np.exp(x)))'],
  ['nn.softplus', ({ x }) => ft.nn.softplus(x), 'np.logaddexp(x, 0)'],
  ['nn.logSigmoid', ({ x }) => ft.nn.logSigmoid(x), '-np.logaddexp(-x, 0)'],
  ['nn.softsign', ({ x }) => ft.nn.softsign(x), 'x / (1 + np.abs(x))'],
  ['nn.tanhshrink', ({ x }) => ft.nn.tanhshrink(x), 'x - np.tanh(x)'],
  ['nn.hardtanh', ({ x }) => ft.nn.hardtanh(x), 'np.clip(x, -1, 1)'],
  ['nn.hardsigmoid', ({ x }) => ft.nn.hardsigmoid(x), 'np.clip(x + 3, 0, 6) / 6'],
  ['nn.hardswish', ({ x }) => ft.nn.hardswish(x), 'x * np.clip(x + 3, 0, 6) / 6'],
  ['nn.hardshrink', ({ x }) => ft.nn.hardshrink(x), 'np.where(np.abs(x) > 0.5, x, 0)'],
  ['nn.softshrink', ({ x }) => ft.nn.softshrink(x), 'np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)'],

  ['nn.layerNorm', ({ m, v, v2 }) => ft.nn.layerNorm(m, v, v2), '(m - m.mean(1, keepdims=True)) / np.sqrt(m.var(1, keepdims=True) + 1e-5) * v + v2'],
  ['nn.rmsNorm', ({ m, v }) => ft.nn.rmsNorm(m, v), 'm / np.sqrt(np.square(m).mean(1, keepdims=True) + 1e-5) * v'],
  ['nn.groupNorm', ({ images }) => ft.nn.groupNorm(images, 4), '((q := images.reshape(4, 4, -1)) - q.mean(2, keepdims=True)) / np.sqrt(q.var(2, keepdims=True) + 1e-5)'],
  ['nn.batchNorm', ({ images }) => ft.nn.batchNorm(images), '(images - images.mean((0, 2, 3), keepdims=True)) / np.sqrt(images.var((0, 2, 3), keepdims=True) + 1e-5)'],
  ['nn.scaledDotProductAttention', ({ query, keys, values }) => ft.nn.scaledDotProductAttention(query, keys, values), '(e := np.exp(query @ keys.mT / 8)) / e.sum(2, keepdims=True) @ values'],
  ['nn.dropout', ({ key, x }) => ft.nn.dropout(key, x), 'np.where(rng.random(n, np.float32) < 0.5, x * 2, 0)', FREE],
  ['nn.embedding', ({ labels, m }) => ft.nn.embedding(labels, m), 'm[labels]'],

  ['nn.mseLoss', ({ x, y }) => ft.nn.mseLoss(x, y), 'np.square(x - y).mean()'],
  ['nn.l1Loss', ({ x, y }) => ft.nn.l1Loss(x, y), 'np.abs(x - y).mean()'],
  ['nn.huberLoss', ({ x, y }) => ft.nn.huberLoss(x, y), 'np.where((d := np.abs(x - y)) <= 1, d * d / 2, d - 0.5).mean()'],
  ['nn.binaryCrossEntropyWithLogits', ({ x, u }) => ft.nn.binaryCrossEntropyWithLogits(x, u), '(np.maximum(x, 0) - x * u + np.log1p(np.exp(-np.abs(x)))).mean()'],
  ['nn.klDiv', ({ x, u }) => ft.nn.klDiv(x, u), '(u * (np.log(u) - x)).mean()'],
  ['nn.nllLoss', ({ m, labels }) => ft.nn.nllLoss(m, labels), '-m[np.arange(side), labels].mean()'],
  ['nn.crossEntropy', ({ m, labels }) => ft.nn.crossEntropy(m, labels), '(np.log(np.exp(m).sum(1)) - m[np.arange(side), labels]).mean()'],

  ['nn.conv', ({ images, kernels }) => ft.nn.conv(images, kernels), 'np.tensordot(windows(images, (3, 3), (2, 3)), kernels, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)'],
  ['nn.convTranspose', ({ images, kernels }) => ft.nn.convTranspose(images, kernels), '-'],
  ['nn.maxPool', ({ images }) => ft.nn.maxPool(images, 2), 'windows(images, (2, 2), (2, 3))[:, :, ::2, ::2].max((4, 5))'],
  ['nn.avgPool', ({ images }) => ft.nn.avgPool(images, 2), 'windows(images, (2, 2), (2, 3))[:, :, ::2, ::2].mean((4, 5))'],
  ['nn.adaptiveAvgPool', ({ images }) => ft.nn.adaptiveAvgPool(images, 3), '-'],
  ['nn.adaptiveMaxPool', ({ images }) => ft.nn.adaptiveMaxPool(images, 3), '-'],
  ['nn.pad', ({ images }) => ft.nn.pad(images, [1, 1, 1, 1], { mode: 'reflect' }), "np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)), mode='reflect')"],
  ['nn.interpolate', ({ images, side }) => ft.nn.interpolate(images, side / 4), 'images.repeat(2, 2).repeat(2, 3)'],
  ['nn.interpolate linear', ({ images, side }) => ft.nn.interpolate(images, side / 4, { mode: 'linear' }), '-']
]

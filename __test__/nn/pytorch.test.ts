// Layers beside PyTorch's: results, states and gradients of 108 modules, and a saved model (pytorch.py made the files).
// runs on: vulkan, blas

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import * as ft from 'ferrotensor'
import type { Tensor } from 'ferrotensor'

// This file runs as dist/__test__/nn/pytorch.test.js.
const path = (name: string): string => fileURLToPath(new URL(`../../../__test__/nn/${name}`, import.meta.url))

interface Case {
  readonly class: string
  readonly options: Readonly<Record<string, unknown>>
  readonly training: boolean
  readonly calls: number
}

type Tensors = Record<string, Tensor>

const file = ft.io.openSafetensorsSync(path('layers.safetensors'))
const cases = Object.entries(file.metadata).filter(([name]) => name !== 'torch')

/** The tensors of a case whose names begin like this, by the rest of their names. */
function part(name: string, prefix: string): Tensors {
  const start = `${name}.${prefix}.`
  const names = file.names.filter((n) => n.startsWith(start))
  return Object.fromEntries(names.map((n) => [n.slice(start.length), file.loadSync(n)]))
}

/** Those that have numbers for names, in order. */
function numbered(tensors: Tensors): Tensor[] {
  const found: Tensor[] = []
  for (let n = 0; tensors[n] !== undefined; n++) found.push(tensors[n] as Tensor)
  return found
}

/** Our layer for one of PyTorch's, and its options. */
function layer({ class: kind, options }: Case): ft.nn.Module {
  const o = options as Record<string, never>
  const affine = { eps: o['eps'], affine: o['affine'] ?? o['elementwise_affine'] }
  const convolution = { bias: o['bias'], stride: o['stride'], padding: o['padding'], dilation: o['dilation'], groups: o['groups'] }
  const recurrent = { layers: o['num_layers'], bias: o['bias'], bidirectional: o['bidirectional'] }
  const encoder = (l: Record<string, never>) =>
    new ft.nn.TransformerEncoderLayer(l['d_model'], l['nhead'], { hidden: l['dim_feedforward'], dropout: l['dropout'], normFirst: l['norm_first'], activation: l['activation'], eps: l['layer_norm_eps'], bias: l['bias'] })
  const made: Record<string, () => ft.nn.Module> = {
    RNN: () => new ft.nn.RNN(o['input_size'], o['hidden_size'], { ...recurrent, nonlinearity: o['nonlinearity'] }),
    InstanceNorm1d: () => new ft.nn.InstanceNorm1d(o['num_features'], affine),
    InstanceNorm2d: () => new ft.nn.InstanceNorm2d(o['num_features'], affine),
    PReLU: () => new ft.nn.PReLU(o['num_parameters']),
    TransformerEncoderLayer: () => encoder(o),
    TransformerEncoder: () => new ft.nn.TransformerEncoder(encoder(o['layer']), o['num_layers'], { norm: o['norm'] ? new ft.nn.LayerNorm((o['layer'] as Record<string, never>)['d_model']) : undefined }),
    Linear: () => new ft.nn.Linear(o['in_features'], o['out_features'], { bias: o['bias'] }),
    Embedding: () => new ft.nn.Embedding(o['num_embeddings'], o['embedding_dim'], { paddingIndex: o['padding_idx'] }),
    Conv1d: () => new ft.nn.Conv1d(o['in_channels'], o['out_channels'], o['kernel_size'], convolution),
    Conv2d: () => new ft.nn.Conv2d(o['in_channels'], o['out_channels'], o['kernel_size'], convolution),
    ConvTranspose2d: () => new ft.nn.ConvTranspose2d(o['in_channels'], o['out_channels'], o['kernel_size'], { ...convolution, outputPadding: o['output_padding'] }),
    LayerNorm: () => new ft.nn.LayerNorm(o['normalized_shape'], { ...affine, bias: o['bias'] }),
    RMSNorm: () => new ft.nn.RMSNorm(o['normalized_shape'], affine),
    GroupNorm: () => new ft.nn.GroupNorm(o['num_groups'], o['num_channels'], affine),
    BatchNorm1d: () => new ft.nn.BatchNorm(o['num_features'], { ...affine, momentum: o['momentum'], trackRunningStats: o['track_running_stats'] }),
    BatchNorm2d: () => new ft.nn.BatchNorm(o['num_features'], { ...affine, momentum: o['momentum'], trackRunningStats: o['track_running_stats'] }),
    MultiheadAttention: () => new ft.nn.MultiHeadAttention(o['embed_dim'], o['num_heads'], { bias: o['bias'] }),
    LSTM: () => new ft.nn.LSTM(o['input_size'], o['hidden_size'], recurrent),
    GRU: () => new ft.nn.GRU(o['input_size'], o['hidden_size'], recurrent)
  }
  return (made[kind] as () => ft.nn.Module)()
}

/** PyTorch's masks, which are true where a key takes no part, as one that says the opposite. */
function seen(masks: Tensors): Tensor | undefined {
  const [padding, causal] = [masks['key_padding_mask'] ?? masks['src_key_padding_mask'], masks['attn_mask'] ?? masks['src_mask']].map((mask) => mask?.logicalNot())
  const wide = padding?.reshape([padding.shape[0] as number, 1, 1, padding.shape[1] as number])
  return wide !== undefined && causal !== undefined ? wide.logicalAnd(causal) : (wide ?? causal)
}

/** The results of a case's calls, in PyTorch's order, and the state after them. */
function results(module: ft.nn.Module, { training, calls }: Case, params: unknown, state: unknown, inputs: readonly Tensor[], masks: Tensors): [Tensor[], unknown] {
  const [x, second, third] = inputs as [Tensor, Tensor, Tensor]
  if (module instanceof ft.nn.MultiHeadAttention) {
    const [own, options] = [params as ft.nn.AttentionParams, { mask: seen(masks) }]
    return [[module.attend(own, x, second, third, options), module.weights(own, x, second, options).mean(1)], null]
  }
  if (module instanceof ft.nn.TransformerEncoderLayer || module instanceof ft.nn.TransformerEncoder) {
    return [[(module as ft.nn.TransformerEncoderLayer).encode(params as ft.nn.TransformerEncoderLayerParams, x, { mask: seen(masks) })], null]
  }
  if (module instanceof ft.nn.LSTM) {
    const { output, state: last } = module.forward(params as ft.nn.RecurrentParams, x, inputs.length > 1 ? { h: second, c: third } : undefined)
    return [[output, last.h, last.c], null]
  }
  if (module instanceof ft.nn.GRU || module instanceof ft.nn.RNN) {
    const { output, state: last } = module.forward(params as ft.nn.RecurrentParams, x, second)
    return [[output, last], null]
  }
  const found: Tensor[] = []
  for (const input of inputs.slice(0, calls)) {
    if (training) {
      const [y, next] = module.train(params, input, { state })
      found.push(y)
      state = next
    } else found.push(module.apply(params, input, { state }))
  }
  return [found, state]
}

/** Both are float64, with sums in another order. */
function close(t: ExecutionContext, name: string, actual: Tensor, expected: Tensor): void {
  t.deepEqual(actual.shape, expected.shape, name)
  const error = actual.sub(expected).abs().div(expected.abs().add(1)).max().itemSync() as number
  t.true(error < 1e-12, `${name}: ${error}`)
}

for (const [name, text] of cases) {
  test(`as PyTorch: ${name}`, (t) => {
    const it = JSON.parse(text) as Case
    const module = layer(it)
    const given = part(name, 'input')
    const fresh = [module.init(ft.random.key(0), { dtype: 'float64' }), module.initState({ dtype: 'float64' })]
    const [params, state] = ft.nn.loadStateDict(part(name, 'state'), fresh)
    const cotangents = numbered(part(name, 'cotangent'))
    const inputs = numbered(given)
    const loss = (variables: { params: unknown; inputs: (Tensor | null)[] }): [Tensor, { ys: Tensor[]; after: unknown }] => {
      const [ys, after] = results(module, it, variables.params, state, inputs.map((x, i) => variables.inputs[i] ?? x), given)
      return [ys.map((y, i) => y.mul(cotangents[i] as Tensor).sum()).reduce((a, b) => a.add(b)), { ys, after }]
    }
    const variables = { params, inputs: inputs.map((x) => (x.dtype === 'float64' ? x : null)) }
    const [found, { ys, after }] = ft.grad(loss, { hasAux: true })(variables)
    const outputs = numbered(part(name, 'output'))
    t.is(ys.length, outputs.length)
    outputs.forEach((y, i) => close(t, `output ${i}`, ys[i] as Tensor, y))
    for (const [key, x] of Object.entries(part(name, `after.${it.calls - 1}`))) {
      close(t, key, (ft.nn.stateDict(after)[key] as Tensor).astype('float64'), x.astype('float64'))
    }
    const gradients = { ...ft.nn.stateDict(found.params), ...ft.nn.stateDict({ input: found.inputs }) }
    const expected = part(name, 'gradient')
    t.deepEqual(Object.keys(gradients).sort(), Object.keys(expected).sort())
    for (const [key, x] of Object.entries(expected)) close(t, `gradient of ${key}`, gradients[key] as Tensor, x)
  })
}

/** The saved model, as it is written here. */
function model() {
  const { BatchNorm, Conv2d, Embedding, LayerNorm, Linear, LSTM, MultiHeadAttention, Sequential } = ft.nn
  const pool = (x: Tensor): Tensor => ft.nn.maxPool(x as Tensor<'float32'>, 2)
  const flatten = (x: Tensor): Tensor => x.reshape([x.shape[0] as number, -1])
  const relu = (x: Tensor): Tensor => x.relu()
  const block = () => ({ attention: new MultiHeadAttention(8, 2), linear1: new Linear(8, 16), linear2: new Linear(16, 8), norm1: new LayerNorm(8), norm2: new LayerNorm(8) })
  const first = [new Conv2d(1, 4, 3, { padding: 1 }), new BatchNorm(4), relu, pool] as const
  const second = [new Conv2d(4, 6, 3, { padding: 1, bias: false }), new BatchNorm(6), relu, pool] as const
  const layers = {
    convolutional: new Sequential(...first, ...second, flatten),
    encoder: { tokenEmbedding: new Embedding(11, 8), positionEmbedding: new Embedding(5, 8), layers: [block(), block()], norm: new LayerNorm(8) },
    recurrent: new LSTM(8, 6),
    classifier: new Linear(24 + 8 + 6, 3)
  }
  type Params = ft.nn.ParamsOf<typeof layers>
  const encode = ({ tokenEmbedding, positionEmbedding, layers: blocks, norm }: typeof layers.encoder, params: Params['encoder'], tokens: Tensor): Tensor => {
    const places = ft.arange(tokens.shape[1] as number, { dtype: 'int32' })
    const embedded: Tensor = tokenEmbedding.apply(params.tokenEmbedding, tokens).add(positionEmbedding.apply(params.positionEmbedding, places))
    const result = blocks.reduce((x, { attention, linear1, linear2, norm1, norm2 }, i) => {
      const p = params.layers[i] as Params['encoder']['layers'][number]
      const y: Tensor = x.add(attention.apply(p.attention, norm1.apply(p.norm1, x)))
      return y.add(linear2.apply(p.linear2, ft.nn.gelu(linear1.apply(p.linear1, norm2.apply(p.norm2, y)) as Tensor<'float32'>)))
    }, embedded)
    return norm.apply(params.norm, result)
  }
  const forward = (params: Params, state: ft.nn.StateOf<typeof layers>, image: Tensor, tokens: Tensor): Tensors => {
    const convolutional = layers.convolutional.apply(params.convolutional, image, { state: state.convolutional })
    const encoder = encode(layers.encoder, params.encoder, tokens)
    const recurrent = layers.recurrent.forward(params.recurrent, encoder).state.h.at(-1)
    return { convolutional, encoder, recurrent, logits: layers.classifier.apply(params.classifier, ft.concat([convolutional, encoder.mean(1), recurrent], { axis: 1 })) }
  }
  return { layers, forward }
}

test('a model that PyTorch saved gives the same logits, and is saved as PyTorch saved it', (t) => {
  const { layers, forward } = model()
  const saved = ft.io.loadSafetensorsSync(path('model.safetensors'))
  const [params, state] = ft.nn.loadStateDict(saved, [ft.nn.initTree(layers, ft.random.key(1)), ft.nn.initStateTree(layers)])
  const expected = JSON.parse(readFileSync(path('model.json'), 'utf8')) as Record<string, number[]>
  const found = forward(params, state, ft.tensor(expected['image'] as number[]), ft.tensor(expected['tokens'] as number[], { dtype: 'int32' }))
  for (const [name, values] of Object.entries(found)) {
    const error = values.sub(ft.tensor(expected[name] as number[])).abs().max().itemSync() as number
    t.true(error < 2e-6, `${name}: ${error}`)
  }
  const again = ft.nn.stateDict(params, state)
  t.deepEqual(Object.keys(again).sort(), Object.keys(saved).sort())
  for (const [name, x] of Object.entries(again)) {
    const one = saved[name] as Tensor
    t.deepEqual([x.dtype, x.toBytes()], [one.dtype, one.toBytes()], name)
  }
})

test('every module of the file is tried', (t) => {
  t.is(cases.length, 108)
})

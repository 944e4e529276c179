// The name that was probably meant: a spelling mistake, or the word another library uses.

/** Words of NumPy, PyTorch, JAX and TensorFlow.js, and what they may be called here. */
const OTHERWISE = new Map<string, readonly string[]>(Object.entries({
  digits: ['decimals', 'precision'],
  ndigits: ['decimals'],
  dim: ['axis', 'axes'],
  dims: ['axis', 'axes'],
  keepdim: ['keepdims'],
  start_dim: ['startAxis'],
  startdim: ['startAxis'],
  end_dim: ['endAxis'],
  enddim: ['endAxis'],
  type: ['dtype'],
  ddof: ['correction'],
  unbiased: ['correction'],
  indims: ['inAxes'],
  in_dims: ['inAxes'],
  outdims: ['outAxes'],
  out_dims: ['outAxes'],
  lr: ['learningRate'],
  betas: ['beta1'],
  alpha: ['decay'],
  rho: ['decay'],
  normtype: ['ord'],
  norm_type: ['ord'],
  linesearchfn: ['lineSearch'],
  p: ['ord'],
  inverted: ['invert'],
  batchsize: ['size'],
  batch_size: ['size'],
  shuffle: ['key'],
  length: ['size'],
  kernelsize: ['kernel', 'size'],
  kernel_size: ['kernel', 'size'],
  size: ['shape'],
  reverse: ['descending'],
  loc: ['mean', 'location'],
  sigma: ['std'],
  paddingidx: ['paddingIndex'],
  padding_idx: ['paddingIndex'],
  divisoroverride: ['divisor'],
  divisor_override: ['divisor'],
  dimfeedforward: ['hidden'],
  dim_feedforward: ['hidden'],
  layernormeps: ['eps'],
  layer_norm_eps: ['eps'],
  scale: ['std'],
  stddev: ['std'],
  minval: ['low'],
  maxval: ['high'],
  n: ['num'],
  sep: ['delimiter'],
  usecols: ['columns'],
  na_values: ['missingValues'],
  navalues: ['missingValues'],
  skip_header: ['skipRows'],
  skipheader: ['skipRows'],
  m: ['cols'],
  diagonal: ['k', 'offset'],
  bias: ['correction'],
  interpolation: ['method'],
  constantvalues: ['value'],
  constant_values: ['value'],
  numlayers: ['layers'],
  num_layers: ['layers'],
  boolean: ['bool'],
  byte: ['uint8'],
  char: ['int8'],
  short: ['int16'],
  int: ['int32'],
  long: ['int64'],
  bigint: ['int64'],
  half: ['float16'],
  number: ['float32'],
  float: ['float32'],
  single: ['float32'],
  double: ['float64'],
  complex: ['complex64']
}))

/** `f32`, `u8`, `bf16`: how Rust, XLA and ggml write dtypes. */
const SHORT = new Map(Object.entries({ f: 'float', bf: 'bfloat', i: 'int', u: 'uint', c: 'complex' }))

/** Options of NumPy and PyTorch that nothing here has, and what to write in their place. */
const NOWHERE = new Map<string, string>(Object.entries({
  out: 'results are new tensors, and tensors do not change',
  inplace: 'results are new tensors, and tensors do not change',
  requiresgrad: 'gradients are functions of what they are taken by: ft.grad(fn)(x)',
  generator: 'draws take a key first: ft.random.uniform(key, shape)',
  layout: 'layouts are not visible',
  memoryformat: 'layouts are not visible',
  order: 'elements are in row-major order',
  pinmemory: 'nothing to pin: reading and creation copy at once',
  kind: 'every sort is stable',
  stable: 'every sort is stable',
  casting: 'convert with x.astype(dtype)',
  where: 'choose with ft.where(condition, x, y)',
  initial: 'combine the result with it: x.max().maximum(initial)',
  size: 'a shape is an argument of its own: [2, 3]',
  weights: 'write x.mul(weights).sum().div(weights.sum())'
}))

/** What to write for an option that is not there, or nothing. */
export function nowhere(op: string, option: string): string {
  const name = option.toLowerCase().replaceAll('_', '')
  // SciPy's is what the integrals begin with, NumPy's of reductions an element more.
  if (op === 'cumulativeTrapezoid' && name === 'initial') return '; write ft.pad(integrals, [[1, 0]])'
  const random = op.startsWith('random.') && name === 'device'
  const words = random ? "draws are made on the key's device: ft.random.key(seed, { device }), or key.to(device)" : NOWHERE.get(name)
  return words === undefined ? '' : `; ${words}`
}

/** Letters to insert, remove or replace to get from one word to the other (Levenshtein, 1966). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[b.length] as number
}

/** The one of `names` that `word` probably means; undefined where none is near. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const lower = word.toLowerCase().replace(/^(torch|np|numpy|jnp|tf|ft)\./, '')
  const [, letters = '', bits = ''] = /^([a-z]+)(\d+)$/.exec(lower) ?? []
  const known = [...(OTHERWISE.get(lower) ?? []), `${SHORT.get(letters) ?? letters}${bits}`].find((name) => names.includes(name))
  if (known !== undefined || word.length > 40) return known
  const far = (name: string) => distance(lower, name.toLowerCase())
  const [best] = [...names].sort((a, b) => far(a) - far(b))
  if (best !== undefined && far(best) <= Math.max(1, best.length / 2.5)) return best
  // A part of the name: `hi`, `keep`, `fuse`.
  return lower.length < 2 ? undefined : names.find((name) => name.startsWith(lower.slice(0, 3)))
}

/** `; did you mean 'axis'?`, or nothing. */
export function didYouMean(word: string, names: readonly string[]): string {
  const name = nearest(word, names)
  return name === undefined ? '' : `; did you mean '${name}'?`
}

/** {@link didYouMean}; of a word that is near to none, all there are. */
export function meantOrAll(word: string, names: readonly string[]): string {
  return didYouMean(word, names) || `; there are ${names.join(', ')}`
}

// Tensors from JavaScript data: dtypes, shapes, copies, and everything that is not data.
// runs on: node, vulkan

import test from 'ava'
import * as ft from 'ferrotensor'
import { throws } from './expect.js'

test('the dtype follows from the data', (t) => {
  for (const [data, dtype] of [
    [[1, 2], 'float32'], [[1n], 'int64'], [[true], 'bool'], [[{ re: 1, im: 2 }], 'complex64'], [3, 'float32'], [[], 'float32'],
    [new Int8Array(1), 'int8'], [new Uint8Array(1), 'uint8'], [new Uint8ClampedArray(1), 'uint8'], [Buffer.from('a'), 'uint8'],
    [new Int16Array(1), 'int16'], [new Uint16Array(1), 'uint16'], [new Int32Array(1), 'int32'], [new Uint32Array(1), 'uint32'],
    [new BigInt64Array(1), 'int64'], [new BigUint64Array(1), 'uint64'], [new Float32Array(1), 'float32'], [new Float64Array(1), 'float64']
  ] as const) {
    t.is(ft.tensor(data as ft.TensorData).dtype, dtype)
  }
})

test('nested arrays give shape and elements', (t) => {
  const x = ft.tensor([[[1], [2]], [[3], [4]], [[5], [6]]])
  t.deepEqual(x.shape, [3, 2, 1])
  t.deepEqual(x.toArray(), [[[1], [2]], [[3], [4]], [[5], [6]]])
  t.deepEqual(ft.tensor([[], []]).shape, [2, 0])
  t.deepEqual(ft.tensor(7).shape, [])
})

test('every dtype holds what it is given', (t) => {
  for (const dtype of ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'float16', 'bfloat16', 'float32', 'float64'] as const) {
    t.deepEqual(ft.tensor([1, 2, 100], { dtype }).toArray(), [1, 2, 100], dtype)
    t.is(ft.tensor([1], { dtype }).dtype, dtype)
  }
  t.deepEqual(ft.tensor([1, -2], { dtype: 'int64' }).toArray(), [1n, -2n])
  t.deepEqual(ft.tensor([1n, 18446744073709551615n], { dtype: 'uint64' }).toArray(), [1n, 18446744073709551615n])
  t.deepEqual(ft.tensor([0, NaN, 2], { dtype: 'bool' }).toArray(), [false, true, true])
  t.deepEqual(ft.tensor([1, 2], { dtype: 'complex128' }).toArray(), [{ re: 1, im: 0 }, { re: 2, im: 0 }])
  t.deepEqual(ft.tensor([true, false], { dtype: 'float32' }).toArray(), [1, 0])
  t.deepEqual(ft.tensor([-128, 127], { dtype: 'int8' }).toArray(), [-128, 127])
})

test('float16 and bfloat16 are rounded once, to nearest even', (t) => {
  // 1 + 2^-11 + 2^-40 lies above the midpoint of two float16 numbers; by way of float32 it would fall on it and down to 1.
  t.deepEqual(ft.tensor([1 + 2 ** -11 + 2 ** -40], { dtype: 'float16' }).toArray(), [1 + 2 ** -10])
  t.deepEqual(ft.tensor([1 + 2 ** -8 + 2 ** -40], { dtype: 'bfloat16' }).toArray(), [1 + 2 ** -7])
})

test('typed arrays are copied at the call', (t) => {
  const data = new Float32Array([1, 2, 3, 4])
  const x = ft.fromTypedArray(data, [2, 2])
  data.fill(0)
  t.deepEqual(x.toArray(), [[1, 2], [3, 4]])
})

test('views, shared and resizable buffers are read where they lie', (t) => {
  const bytes = new Uint8Array([9, 9, 9, 9, 1, 2, 3, 4])
  t.deepEqual(ft.tensor(bytes.subarray(4, 6)).toArray(), [1, 2])
  const shared = new Float32Array(new SharedArrayBuffer(8))
  shared.set([5, 6])
  t.deepEqual(ft.tensor(shared).toArray(), [5, 6])
  const Resizable = ArrayBuffer as unknown as new (length: number, options: { maxByteLength: number }) => ArrayBuffer & { resize(n: number): void }
  const buffer = new Resizable(8, { maxByteLength: 16 })
  const view = new Float32Array(buffer)
  view.set([7, 8])
  buffer.resize(12)
  t.deepEqual(ft.tensor(view).toArray(), [7, 8, 0])
})

test('raw bytes become elements of the dtype named', (t) => {
  const bytes = new Uint8Array([1, 0, 2, 0, 0, 60])
  t.deepEqual(ft.fromTypedArray(bytes.buffer, [3], { dtype: 'int16' }).toArray(), [1, 2, 15360])
  t.deepEqual(ft.fromTypedArray(new DataView(bytes.buffer, 4), [1], { dtype: 'float16' }).toArray(), [1])
  t.deepEqual(ft.fromTypedArray(new Uint16Array([0x3f80]), [1], { dtype: 'bfloat16' }).toArray(), [1])
  t.deepEqual(ft.fromTypedArray(new Uint8Array([0, 1]), [2], { dtype: 'bool' }).toArray(), [false, true])
  t.deepEqual(ft.fromTypedArray(new Float32Array([1, 2]), [1], { dtype: 'complex64' }).toArray(), [{ re: 1, im: 2 }])
})

test('detached buffers and views that lost their buffer throw', (t) => {
  const gone = new Float32Array(4)
  structuredClone(gone, { transfer: [gone.buffer] })
  throws(t, 'ERR_ARGUMENT', /detached/, () => ft.tensor(gone))
  throws(t, 'ERR_ARGUMENT', /detached/, () => ft.fromTypedArray(gone.buffer, [1], { dtype: 'int8' }))
  const Resizable = ArrayBuffer as unknown as new (length: number, options: { maxByteLength: number }) => ArrayBuffer & { resize(n: number): void }
  const buffer = new Resizable(16, { maxByteLength: 16 })
  const view = new Float32Array(buffer, 8, 2)
  buffer.resize(4)
  throws(t, 'ERR_ARGUMENT', /too small/, () => ft.tensor(view))
})

test('what is no data is refused, with its place', (t) => {
  const wrong = ft as unknown as Record<string, (...args: unknown[]) => unknown>
  const tensor = wrong.tensor as (...args: unknown[]) => unknown
  const cyclic: unknown[] = []
  cyclic[0] = cyclic
  throws(t, 'ERR_SHAPE', /ragged array: element \[1\] has 1 items, others have 2/, () => tensor([[1, 2], [3]]))
  throws(t, 'ERR_SHAPE', /element \[1\] is 3 where an array of 2/, () => tensor([[1, 2], 3]))
  throws(t, 'ERR_SHAPE', /element \[2\] is an array/, () => tensor([1, 2, [3]]))
  throws(t, 'ERR_SHAPE', /nested more than 32 deep/, () => tensor(cyclic))
  throws(t, 'ERR_ARGUMENT', /element \[1, 0\] is 'a'/, () => tensor([[1], ['a']]))
  throws(t, 'ERR_ARGUMENT', /element \[1\] is a bigint among elements of kind number/, () => tensor([1, 2n]))
  throws(t, 'ERR_ARGUMENT', /element \[0\] must be .* got undefined/, () => tensor(new Array(2)))
  for (const data of [null, undefined, 'x', {}, () => 1, Symbol('s'), new Map(), new Date()]) {
    throws(t, 'ERR_ARGUMENT', /^tensor: the value must be/, () => tensor(data))
  }
  throws(t, 'ERR_ARGUMENT', /has no dtype/, () => tensor(new ArrayBuffer(4)))
  throws(t, 'ERR_ARGUMENT', /'shape' must be an array of integers, got null/, () => tensor([1], { shape: null }))
  throws(t, 'ERR_ARGUMENT', /unknown option 'dtpye'; did you mean 'dtype'\?/, () => tensor([1], { dtpye: 'int8' }))
  throws(t, 'ERR_DTYPE', /'float' is not a dtype; did you mean 'float32'\?/, () => tensor([1], { dtype: 'float' }))
  throws(t, 'ERR_ARGUMENT', /'dtype' must be the name of a dtype, got 3/, () => tensor([1], { dtype: 3 }))
  throws(t, 'ERR_DTYPE', /element \[0\] is 1.5, which int8 cannot hold/, () => tensor([1.5], { dtype: 'int8' }))
  throws(t, 'ERR_DTYPE', /element \[1\] is 128, which int8 cannot hold/, () => tensor([127, 128], { dtype: 'int8' }))
  throws(t, 'ERR_DTYPE', /is -1, which uint64 cannot hold/, () => tensor([-1], { dtype: 'uint64' }))
  throws(t, 'ERR_DTYPE', /complex numbers do not fit float32/, () => tensor([{ re: 1, im: 0 }], { dtype: 'float32' }))
  throws(t, 'ERR_SHAPE', /shape \[3\] holds 3 elements, the data 4/, () => tensor([1, 2, 3, 4], { shape: [3] }))
  throws(t, 'ERR_SHAPE', /size -1 is negative/, () => tensor([1], { shape: [-1, -1] }))
  throws(t, 'ERR_DTYPE', /Float32Array does not hold elements of int8/, () => ft.fromTypedArray(new Float32Array(1), [1], { dtype: 'int8' }))
  throws(t, 'ERR_SHAPE', /3 bytes are no whole number of int16/, () => ft.fromTypedArray(new ArrayBuffer(3), undefined, { dtype: 'int16' }))
  throws(t, 'ERR_ARGUMENT', /must be a typed array or a buffer/, () => wrong.fromTypedArray?.([1]))
})

test('shapes and sizes out of range are refused', (t) => {
  const zeros = ft.zeros as (shape: unknown) => unknown
  for (const shape of [[-1], [2 ** 31, 2 ** 31, 4], [2 ** 53 - 1, 2 ** 53 - 1]]) throws(t, 'ERR_SHAPE', /./, () => zeros(shape))
  for (const shape of [[0.5], [NaN], [Infinity], ['2'], [2n], [null], '2', 2, null, undefined, {}]) {
    throws(t, 'ERR_ARGUMENT', /^zeros: 'shape/, () => zeros(shape))
  }
  throws(t, 'ERR_SHAPE', /rank/, () => zeros(new Array(33).fill(1)))
})

test('ranges', (t) => {
  t.deepEqual(ft.arange(3).toArray(), [0, 1, 2])
  t.deepEqual(ft.arange(5, 1, -2).toArray(), [5, 3])
  t.deepEqual(ft.arange(0, 1, 0.25).toArray(), [0, 0.25, 0.5, 0.75])
  t.deepEqual(ft.arange(2, 1).shape, [0])
  t.deepEqual(ft.arange(1, 4, { dtype: 'int32' }).toArray(), [1, 2, 3])
  t.deepEqual(ft.linspace(0, 1, 5).toArray(), [0, 0.25, 0.5, 0.75, 1])
  t.deepEqual(ft.linspace(2, 3, 1).toArray(), [2])
  const arange = ft.arange as (...args: unknown[]) => unknown
  for (const args of [[], ['3'], [1, 2, 3, 4], [null], [1, '2'], [0, 1, 0], [0, Infinity], [NaN]]) throws(t, 'ERR_ARGUMENT', /^arange/, () => arange(...args))
  throws(t, 'ERR_ARGUMENT', /'num' must be an integer/, () => ft.linspace(0, 1, 2.5))
  throws(t, 'ERR_SHAPE', /^linspace: num -1 is negative/, () => ft.linspace(0, 1, -1))
})

test('linspace and logspace between ends whose difference overflows', (t) => {
  const most = 1.5e308
  t.deepEqual(ft.linspace(-most, most, 5, { dtype: 'float64' }).toArray(), [-most, -most / 2, 0, most / 2, most])
  t.deepEqual(ft.linspace(most, -most, 4, { dtype: 'float64', endpoint: false }).toArray(), [most, most / 2, 0, -most / 2])
  t.deepEqual(ft.linspace(-3e38, 3e38, 5).toArray(), [-3e38, -1.5e38, 0, 1.5e38, 3e38].map(Math.fround))
  t.deepEqual(ft.linspace(-most, most, 3, { dtype: 'float32' }).toArray(), [-Infinity, 0, Infinity])
  t.deepEqual(ft.logspace(-most, most, 3).toArray(), [0, 1, Infinity])
  t.deepEqual(ft.logspace(-most, most, 3, { base: 1, dtype: 'float64' }).toArray(), [1, 1, 1])
  t.deepEqual(ft.linspace(-most, most, 0, { dtype: 'float64' }).toArray(), [])
})

test('linspace and logspace with and without their end', (t) => {
  t.deepEqual(ft.linspace(0, 1, 4, { endpoint: false }).toArray(), [0, 0.25, 0.5, 0.75])
  t.deepEqual(ft.linspace(0, 1, 1, { endpoint: false }).toArray(), [0])
  t.deepEqual(ft.linspace(0, 1, 0, { endpoint: false }).shape, [0])
  t.deepEqual(ft.logspace(0, 3, 4).toArray(), [1, 10, 100, 1000])
  t.deepEqual(ft.logspace(0, 4, 4, { base: 2, endpoint: false, dtype: 'int32' }).toArray(), [1, 2, 4, 8])
  t.is(ft.logspace(0, 1, 2, { dtype: 'float64' }).dtype, 'float64')
  const logspace = ft.logspace as (...args: unknown[]) => unknown
  throws(t, 'ERR_ARGUMENT', /^logspace: 'start' must be a number, got '0'/, () => logspace('0', 1, 2))
  throws(t, 'ERR_ARGUMENT', /^logspace: 'base' must be a number/, () => logspace(0, 1, 2, { base: '2' }))
  throws(t, 'ERR_ARGUMENT', /^logspace: 'endpoint' must be a boolean/, () => logspace(0, 1, 2, { endpoint: 0 }))
  throws(t, 'ERR_ARGUMENT', /^logspace: 'num' must be an integer, got undefined/, () => logspace(0, 1))
})

test('meshgrid: Cartesian and matrix indexing', (t) => {
  const [x, y, z] = [ft.tensor([1, 2, 3]), ft.tensor([4n, 5n]), ft.tensor([true, false, true, true])] as const
  const [a, b] = ft.meshgrid(x, y)
  t.deepEqual(a.toArray(), [[1, 2, 3], [1, 2, 3]])
  t.deepEqual(b.toArray(), [[4n, 4n, 4n], [5n, 5n, 5n]])
  t.deepEqual([a.dtype, b.dtype], ['float32', 'int64'])
  t.deepEqual(ft.meshgrid(x, y, { indexing: 'ij' }).map((g) => g.toArray()), [[[1, 1], [2, 2], [3, 3]], [[4n, 5n], [4n, 5n], [4n, 5n]]])
  t.deepEqual(ft.meshgrid(x, y, z).map((g) => g.shape), [[2, 3, 4], [2, 3, 4], [2, 3, 4]])
  t.deepEqual(ft.meshgrid(x, y, z)[2].at(1, 2).toArray(), [true, false, true, true])
  t.deepEqual(ft.meshgrid(x, y, z, { indexing: 'ij' })[0].shape, [3, 2, 4])
  t.deepEqual(ft.meshgrid(x).map((g) => g.toArray()), [[1, 2, 3]])
  t.deepEqual(ft.meshgrid(ft.tensor(7), x).map((g) => g.shape), [[3, 1], [3, 1]])
  t.deepEqual(ft.meshgrid(ft.zeros([0]), x)[1].shape, [3, 0])
  t.deepEqual(ft.meshgrid(), [])
  const meshgrid = ft.meshgrid as (...args: unknown[]) => unknown
  throws(t, 'ERR_SHAPE', /^meshgrid: argument 2 must have one axis, got shape \[1, 2\]/, () => meshgrid(x, ft.zeros([1, 2])))
  throws(t, 'ERR_ARGUMENT', /^meshgrid: argument 1 must be a tensor, got 1/, () => meshgrid(1, x))
  throws(t, 'ERR_ARGUMENT', /^meshgrid: argument 1 must be a tensor, got \[a Tensor, a Tensor\]; spread it: meshgrid\(\.\.\.tensors\)/, () => meshgrid([x, x]))
  t.deepEqual(ft.meshgrid([1, 2], [3]).map((x) => x.toArray()), [[[1, 2]], [[3, 3]]])
  t.deepEqual(ft.meshgrid([1, 2], ft.tensor([3], { dtype: 'float64' }), { indexing: 'ij' }).map((x) => x.dtype), ['float32', 'float64'])
  throws(t, 'ERR_ARGUMENT', /^meshgrid: 'indexing' must be one of 'xy', 'ij', got 'yx'/, () => meshgrid(x, { indexing: 'yx' }))
  throws(t, 'ERR_ARGUMENT', /^meshgrid: unknown option 'index'; did you mean 'indexing'\?/, () => meshgrid(x, { index: 'ij' }))
})

test('triangles', (t) => {
  const x = ft.tensor([[1, 2, 3], [4, 5, 6], [7, 8, NaN]])
  t.deepEqual(x.tril().toArray(), [[1, 0, 0], [4, 5, 0], [7, 8, NaN]])
  t.deepEqual(x.triu({ k: 1 }).toArray(), [[0, 2, 3], [0, 0, 6], [0, 0, 0]])
  t.deepEqual(ft.tril(ft.ones([2, 2, 3], { dtype: 'bool' }), { k: -1 }).at(1).toArray(), [[false, false, false], [true, false, false]])
  t.deepEqual(ft.triu(x.astype('int8'), { k: -(2 ** 40) }).toArray(), [[1, 2, 3], [4, 5, 6], [7, 8, 0]])
})

test('full names what is wrong with its value', (t) => {
  const full = ft.full as (...args: unknown[]) => ft.Tensor
  t.deepEqual(full([2], true, { dtype: 'int32' }).toArray(), [1, 1])
  t.deepEqual(full([2, 2], ft.tensor([1, 2])).toArray(), [[1, 2], [1, 2]])
  t.is(full([2], ft.tensor(1, { device: 'cpu' }), { device: 'cpu' }).device, 'cpu')
  throws(t, 'ERR_DTYPE', /^full: 1 is a number, and the dtype is bool; use a boolean, or name another dtype$/, () => full([2], 1, { dtype: 'bool' }))
  throws(t, 'ERR_DTYPE', /^full: 0.5 is not an integer, and the dtype is int32; name another dtype$/, () => full([2], 0.5, { dtype: 'int32' }))
  throws(t, 'ERR_DTYPE', /^full: 9223372036854775808 is out of range for int64 .*; name another dtype$/, () => full([2], 2n ** 63n))
  throws(t, 'ERR_ARGUMENT', /^full: 'fillValue' must be a tensor or a number, got 'a'/, () => full([2], 'a'))
})

test('a tag does not make a typed array', (t) => {
  const tensor = ft.tensor as (data: unknown) => unknown
  const from = ft.fromTypedArray as (...args: unknown[]) => unknown
  for (const tag of ['Float32Array', 'ArrayBuffer', 'SharedArrayBuffer', 'DataView']) {
    const fake = { [Symbol.toStringTag]: tag, length: 2, byteLength: 8, 0: 1, 1: 2 }
    throws(t, 'ERR_ARGUMENT', /^tensor: the value must be a number/, () => tensor(fake))
    throws(t, 'ERR_ARGUMENT', /must be a typed array or a buffer, got an Object/, () => from(fake, [2], { dtype: 'float32' }))
  }
  const renamed = Object.defineProperty(new Float32Array([1, 2]), Symbol.toStringTag, { value: 'Float64Array' })
  t.is(ft.tensor(renamed).dtype, 'float32')
  t.deepEqual(ft.tensor(renamed).toArray(), [1, 2])
  throws(t, 'ERR_ARGUMENT', /must be/, () => tensor(new Proxy(new Float32Array(2), {})))
})

test('a number the dtype cannot hold comes with the dtype that can', (t) => {
  throws(t, 'ERR_DTYPE', /9223372036854775808n, which int64 cannot hold; name a dtype that can: { dtype: 'uint64' }/, () => ft.tensor([2n ** 63n]))
  throws(t, 'ERR_DTYPE', /which int64 cannot hold, nor can any other integer dtype/, () => ft.tensor([2n ** 64n]))
  throws(t, 'ERR_DTYPE', /300, which uint8 cannot hold; name a dtype that can: { dtype: 'int16' }/, () => ft.tensor([300], { dtype: 'uint8' }))
  throws(t, 'ERR_DTYPE', /1.5, which int8 cannot hold; to round, make a float tensor and convert it with astype\('int8'\)/, () => ft.tensor([1.5], { dtype: 'int8' }))
})

test('Tensor is made by functions', (t) => {
  const Tensor = ft.Tensor as unknown as new (...args: unknown[]) => unknown
  for (const args of [[], [[1, 2]], [[1, 2], 'float32']]) throws(t, 'ERR_ARGUMENT', /^Tensor: not made with new; use ft.tensor\(data\)/, () => new Tensor(...args))
})

test('like: shape, dtype and device of another tensor', (t) => {
  const x = ft.tensor([[1, 2]], { dtype: 'int16' })
  t.deepEqual(ft.zerosLike(x).toArray(), [[0, 0]])
  t.is(ft.onesLike(x).dtype, 'int16')
  t.deepEqual(ft.fullLike(x, 7).toArray(), [[7, 7]])
  t.is(ft.emptyLike(x, { dtype: 'float64' }).dtype, 'float64')
  throws(t, 'ERR_ARGUMENT', /'x' must be a tensor, got an array|got \[1\]/, () => ft.zerosLike([1] as unknown as ft.Tensor))
})

test('asarray passes tensors through', (t) => {
  const x = ft.tensor([1, 2])
  t.is(ft.asarray(x), x)
  t.is(ft.asarray(x, { dtype: 'int8' }).dtype, 'int8')
  t.deepEqual(ft.asarray([3n]).toArray(), [3n])
})

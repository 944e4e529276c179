// Gradients of functions, optimisers and data: trees keep their types.

import * as ft from 'ferrotensor'
import { dtype, is } from '../expectations.js'
import { f32, f64, i32 } from '../operands.js'

type F = ft.Tensor<'float32'>
interface Params {
  w: F
  layers: { b: ft.Tensor<'float64'> }[]
}

class Layer {
  constructor(
    readonly w: F,
    readonly size = 3
  ) {}

  call(x: F): F {
    return x.mul(this.w)
  }
}

const params = (): Params => ({ w: f32, layers: [{ b: f64 }] })
const loss = (p: Params, x: F): F => p.w.mul(x).sum().add(p.layers[0]!.b.sum().astype('float32'))

export function results(): void {
  // A function of tensors alone needs no types.
  is<F>()(ft.grad((x) => x.mul(x).sum())(f32))
  is<[value: ft.Tensor, gradient: ft.Tensor<'float64'>]>()(ft.valueAndGrad((x, y) => x.mul(y).sum())(f64, f32))
  // The gradient has the type of its argument.
  is<Params>()(ft.grad(loss)(params(), f32))
  dtype('float32', ft.grad((x: F) => x.sum())(f32))
  dtype(['float32', 'float64'], ft.valueAndGrad((x: ft.Tensor<'float64'>) => x.sum().astype('float32'))(f64))
  dtype('float32', ft.grad(loss, { argnums: 1 })(params(), f32))
  is<[F, Params]>()(ft.grad(loss, { argnums: [1, 0] })(params(), f32))
  const aux = (x: F): [F, { logits: F }] => [x.sum(), { logits: x }]
  is<[gradient: F, more: { logits: F }]>()(ft.grad(aux, { hasAux: true })(f32))
  is<[value: [F, { logits: F }], gradient: F]>()(ft.valueAndGrad(aux, { hasAux: true })(f32))
  const both = (x: F, n: ft.Tensor<'float64'>): F => x.mul(n.sum().astype('float32'))
  dtype('float32', ft.vjp(both, f32, f64)[0])
  dtype(['float32', 'float64'], ft.vjp(both, f32, f64)[1](f32))
  dtype(['float32', 'float32'], ft.jvp((x: F) => x.exp(), [f32], [f32]))
  dtype('float32', ft.jacobian((x: F) => x.mul(2))(f32))
  dtype('float32', ft.hessian((x: F) => x.square().sum())(f32))
  dtype('float32', ft.stopGradient(f32))
  dtype('float32', ft.noGrad(() => f32.exp()))
  is<{ n: number }>()(ft.inferenceMode(() => ({ n: 1 })))
  dtype('float32', ft.customGradient((x: F): [F, (g: F) => F[]] => [x, (g) => [g]])(f32))
  dtype('float32', ft.checkpoint((x: F) => x.exp())(f32))

  is<ft.Profile<ft.Tensor<'float32'>>>()(ft.profile(() => f32.exp()))
  is<Promise<ft.Profile<number>>>()(ft.profile(async () => 1))
  is<ft.Plan>()(ft.plan((x: ft.Tensor<'float32'>, y: number) => x.mul(y))(f32, 2))
  is<ft.Plan>()(ft.plan('exp', [f32]) satisfies ft.Plan)
  is<Params>()(ft.detectNaN(() => ft.grad(loss)(params(), f32)))

  // Instances of a class are inner nodes once it is registered, and keep their type.
  is<void>()(ft.tree.register(Layer, { flatten: ({ w }) => ({ w }), unflatten: ({ w }, { size }) => new Layer(w, size) }))
  is<Layer>()(ft.grad((layer: Layer, x: F) => layer.call(x).sum())(new Layer(f32), f32))
  is<ft.Tensor[]>()(ft.tree.leaves(params()))
  is<[leaves: ft.Tensor[], rebuild: (leaves: readonly ft.Tensor[]) => Params]>()(ft.tree.flatten(params()))
  // A function that names no dtype keeps that of each tensor; one that does, or gives no tensor, says what stands there.
  is<Params>()(ft.tree.map((p, g) => p.sub(g.mul(0.1)), params(), params()))
  dtype({ w: 'float64', n: 'float64' }, ft.tree.map((x) => x.astype('float64'), { w: f32, n: i32 }))
  dtype({ w: 'bool' }, ft.tree.map((x) => x.isnan(), { w: f32 }))
  is<{ w: readonly number[]; layers: { b: readonly number[] }[] }>()(ft.tree.map((x) => x.shape, params()))
  is<Layer>()(ft.tree.map((x) => x.mul(2), new Layer(f32)))

  const traced = ft.jit((x: F, n: number): ft.Tensor => x.mul(n), { static: [1], donate: 0 })
  is<(x: F, n: number) => ft.Tensor>()(traced)
  const untyped = ft.jit((x, y) => x.mul(y))
  is<(...args: ft.Tensor[]) => ft.Tensor>()(untyped)
  is<Params>()(ft.jit((p: Params) => p)(params()))
  is<F>()(ft.vmap((x: F, y: F): F => x.add(y), { inAxes: [0, null], outAxes: 1 })(f32, f32))
  const plain = ft.vmap((x) => ({ y: x.mul(2) }))
  is<(...args: ft.Tensor[]) => { y: ft.Tensor }>()(plain)

  is<ft.optim.Optimizer>()(ft.optim.sgd())
  is<ft.optim.Optimizer>()(ft.optim.rmsprop({ decay: 0.9 }))
  is<ft.optim.Optimizer>()(ft.optim.adam({ learningRate: 0.1 }))
  is<ft.optim.Optimizer>()(ft.optim.adamw({ learningRate: (step) => 1 / (step + 1) }))
  is<ft.optim.Optimizer>()(ft.optim.lion())
  is<ft.optim.Optimizer>()(ft.optim.adafactor())
  is<ft.optim.Optimizer>()(ft.optim.adagrad({ learningRateDecay: 0.1 }))
  is<ft.optim.Optimizer>()(ft.optim.adadelta({ decay: 0.8 }))
  is<ft.optim.Optimizer>()(ft.optim.adamax())
  is<ft.optim.Optimizer>()(ft.optim.nadam({ momentumDecay: 0.01 }))
  is<ft.optim.Optimizer>()(ft.optim.radam())
  is<ft.optim.Lbfgs>()(ft.optim.lbfgs({ lineSearch: 'strongWolfe' }))
  const searcher = ft.optim.lbfgs({ maxIterations: 1 })
  is<[params: ft.Tensor<'float32'>, state: ft.optim.LbfgsState, loss: ft.Tensor]>()(searcher.step(ft.ones([2]), ft.valueAndGrad((x: ft.Tensor<'float32'>) => x.square().sum()), searcher.init(ft.ones([2]))))
  is<ft.optim.Plateau>()(ft.optim.reduceOnPlateau(0.1, { mode: 'max' }))
  is<number>()(ft.optim.reduceOnPlateau(0.1).init().rate)
  const optimizer = ft.optim.sgd()
  is<[params: Params, state: ft.optim.OptimizerState<Params>]>()(optimizer.step(params(), params(), optimizer.init(params())))
  is<[gradients: Params, norm: ft.Tensor]>()(ft.optim.clipByGlobalNorm(params(), 1))
  is<[gradients: Params, norm: ft.Tensor]>()(ft.optim.clipByGlobalNorm(params(), 1, { ord: Infinity, errorIfNonfinite: true }))
  is<Params>()(ft.optim.clipByValue(params(), 1))
  is<ft.Tensor>()(ft.optim.globalNorm({ x: f32 }))
  is<(step: number) => number>()(ft.optim.linear(0, 1, 10))
  is<(step: number) => number>()(ft.optim.polynomial(1, 10, 2))
  is<(step: number) => number>()(ft.optim.exponentialDecay(1, 0.9))
  is<(step: number) => number>()(ft.optim.multiStepDecay(1, [3, 5]))
  is<(step: number) => number>()(ft.optim.cosineRestarts(1, 10, { factor: 2 }))
  is<(step: number) => number>()(ft.optim.cosine(1, 10))
  is<(step: number) => number>()(ft.optim.warmup(3, 1))
  is<(step: number) => number>()(ft.optim.stepDecay(1, 10))
  is<(step: number) => number>()(ft.optim.oneCycle(1, 10))
  is<ft.data.Batches<{ x: F }>>()(ft.data.batches({ x: ft.ones([4]) }, { size: 2 }))
  const told: ft.Progress[] = []
  is<ft.data.Batches<F>>()(ft.data.batches(ft.ones([4]), { size: 2, onProgress: (progress) => void told.push(progress), signal: AbortSignal.timeout(1000) }))
  dtype({ x: 'float32' }, ft.data.split({ x: ft.ones([4]) }, { share: 0.5 })[1])
}

/** What must not compile; never called. */
export function refused(): void {
  // @ts-expect-error the arguments are those of the function
  ft.jit((x: F) => x)(3)
  // @ts-expect-error a loss is a tensor
  ft.grad((x: F) => 3)
  // @ts-expect-error a function that returns a promise has no gradient
  ft.grad(async (x: F) => x.sum())
  // @ts-expect-error a tensor for a function
  ft.noGrad(f32)
  // @ts-expect-error without hasAux there is one result
  ft.grad((x: F) => [x.sum(), x])
  // @ts-expect-error the argument is a float32 tensor
  ft.grad((x: F) => x.sum())(i32)
  // @ts-expect-error cotangents are like the result
  ft.vjp((x: F) => x, f32)[1](f64)
  // @ts-expect-error gradients have the structure of the parameters
  ft.optim.sgd().step(params(), { w: f32 }, ft.optim.sgd().init(params()))
  // @ts-expect-error the second tree lacks a part of the first
  ft.tree.map((x, y) => x.add(y), params(), { w: f32 })
  // @ts-expect-error an instance is made of what flatten gives
  ft.tree.register(Layer, { flatten: ({ w }) => [w], unflatten: ({ w }) => new Layer(w) })
  // @ts-expect-error of the class
  ft.tree.register(Layer, { flatten: ({ w }) => [w], unflatten: () => 3 })
  // @ts-expect-error a class is registered, not an instance
  ft.tree.register(new Layer(f32), { flatten: () => [], unflatten: (_: unknown[], x: Layer) => x })
  // @ts-expect-error the option is learningRate
  ft.optim.adam({ lr: 1 })
}

// The example at the top of README.md. A test holds the two together and checks what this prints.

import * as ft from 'ferrotensor'

const a = ft.tensor([[1, 2, 3], [4, 5, 6]]) // float32, shape [2, 3]
const b = ft.fromTypedArray(new Float64Array([1, 0, -1])) // typed arrays keep their dtype
console.log(a.mul(b).sum(1)) // broadcasting and promotion as in NumPy: a Tensor<'float64'>

const shares = a.softmax(-1) // recorded: nothing runs until a value is needed
console.log(await shares.at(0).data()) // now it runs, and the event loop stays free

let w = ft.random.normal(ft.random.key(42), [3, 1]) // random numbers come from explicit keys
const gradient = ft.grad((w) => a.matmul(w).sub(1).square().sum().mul(0.5))
for (let step = 0; step < 1000; step++) {
  w = w.sub(gradient(w).mul(0.02)) // a plain loop: temporaries free themselves
}
console.log(a.matmul(w).sub(1).abs().max().itemSync() < 1e-3) // solved

console.log(a.at('::-1, 1:')) // a view
try {
  a.matmul(a)
} catch (error) {
  console.log(String(error)) // wrong calls throw at the call
}

"""Writes compositions.txt: NumPy's, SciPy's and PyTorch's answers for functions that TypeScript makes of several operations, which
`__test__/compositions.test.ts` replays.

Run in a virtual environment outside the repository with numpy 2.4, scipy and torch 2.15:
    python golden/compositions.py golden/compositions.txt

One line for each case: a JavaScript expression of the package, ` // `, and what it gives as a JavaScript value. Tensors of JavaScript numbers
are float32 there, and computed in float64 here.
"""

import sys

import numpy as np
import scipy.integrate
import scipy.linalg
import torch

torch.set_default_dtype(torch.float64)
np.seterr(all="ignore")
inf, nan = np.inf, np.nan
tensor = torch.tensor
lines = []


def text(value):
    """A value as JavaScript writes it."""
    if isinstance(value, torch.Tensor):
        value = value.detach().numpy()
    if isinstance(value, np.ndarray):
        return text(value.tolist()) if value.ndim else text(value.item())
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text(item) for item in value) + "]"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, complex):
        return f"{{ re: {text(value.real)}, im: {text(value.imag)} }}"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    value = float(value)
    if np.isnan(value):
        return "null"
    if np.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return "-0" if value == 0 and np.signbit(value) else repr(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.9g}"


def case(code, value):
    lines.append(f"{code} // {text(value)}")


def tensors(*arrays):
    """JavaScript for tensors of these elements."""
    return [f"ft.tensor({text(np.asarray(a)).replace('null', 'NaN')})" for a in arrays]


def order(array):
    """By real parts, then by imaginary ones."""
    return np.sort_complex(np.asarray(array))


a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]])
v, w = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])
m = np.array([[3.0, 1.0, 2.0, 1.0], [0.5, 9.0, -4.0, 9.0], [2.0, nan, 1.0, 7.0]])
c = np.arange(24.0).reshape(2, 3, 4)
ja, jb, jv, jw, jm, jc = *tensors(a, b, v, w, m), "ft.arange(24).reshape([2, 3, 4])"

# --- creation
case("ft.geomspace(1, 256, 9)", np.geomspace(1, 256, 9))
case("ft.geomspace(-1000, -1, 4)", np.geomspace(-1000, -1, 4))
case("ft.geomspace(2, 32, 4, { endpoint: false })", np.geomspace(2, 32, 4, endpoint=False))
case("ft.geomspace(5, 7, 1)", np.geomspace(5, 7, 1))
case("ft.geomspace(5, 7, 0)", np.geomspace(5, 7, 0))
case("ft.tri(3)", np.tri(3))
case("ft.tri(2, { cols: 4, k: 1 })", np.tri(2, 4, 1))
case("ft.tri(3, { cols: 2, k: -1, dtype: 'int32' })", np.tri(3, 2, -1, dtype=int))
case(f"ft.diagflat({ja})", np.diagflat(a))
case(f"{jv}.diagflat({{ k: -1 }})", np.diagflat(v, -1))
case("ft.diagflat(ft.tensor(5))", np.diagflat(5.0))
case(f"ft.vander({jv})", np.vander(v))
case(f"ft.vander({jv}, {{ n: 2 }})", np.vander(v, 2))
case(f"ft.vander({jv}, {{ n: 5, increasing: true }})", np.vander(v, 5, increasing=True))
case("ft.vander(ft.tensor([-2, 0, 3], { dtype: 'int32' }))", np.vander([-2, 0, 3]))
case(f"ft.linalg.vander({ja})", torch.linalg.vander(tensor(a)))
case(f"ft.linalg.vander({ja}, {{ n: 4 }})", torch.linalg.vander(tensor(a), N=4))
case("ft.indices([2, 3])", np.indices((2, 3)))
case("ft.indices([0, 2]).shape", np.indices((0, 2)).shape)
case("ft.indices([]).shape", np.indices(()).shape)
case("ft.fromfunction((i, j) => i.mul(2).sub(j), [3, 2])", np.fromfunction(lambda i, j: 2 * i - j, (3, 2)))
for k in [-2, -1, 0, 1, 2]:
    case(f"ft.trilIndices(3, {{ k: {k} }}).map((x) => x.toArray())", np.tril_indices(3, k))
    case(f"ft.triuIndices(3, {{ k: {k}, cols: 4 }}).map((x) => x.toArray())", np.triu_indices(3, k, 4))
case("ft.trilIndices(2, { cols: 4, k: 9 }).map((x) => x.toArray())", np.tril_indices(2, 9, 4))
case("ft.diagIndices(2, { ndim: 3 }).map((x) => x.toArray())", np.diag_indices(2, 3))
case(f"{ja}.at(...ft.triuIndices(2))", a[np.triu_indices(2)])

# --- joining
case(f"ft.append({ja}, {jv})", np.append(a, v))
case(f"ft.append({ja}, {jb}, 1)", np.append(a, b, 1))
case(f"ft.append({jv}, [4, 5])", np.append(v, [4, 5]))
case(f"ft.insert({jv}, 0, 9)", np.insert(v, 0, 9))
case(f"ft.insert({jv}, 3, 9)", np.insert(v, 3, 9))
case(f"ft.insert({jv}, -1, 9)", np.insert(v, -1, 9))
case(f"ft.insert({jv}, 1, [8, 9])", np.insert(v, 1, [8, 9]))
case(f"ft.insert({jv}, [1, 1, 3], [7, 8, 9])", np.insert(v, [1, 1, 3], [7, 8, 9]))
case(f"ft.insert({jv}, [2, 0], [7, 8])", np.insert(v, [2, 0], [7, 8]))
case(f"ft.insert({ja}, 1, 5, 1)", np.insert(a, 1, 5, axis=1))
case(f"ft.insert({ja}, 1, [5, 6], 1)", np.insert(a, 1, [5, 6], axis=1))
case(f"ft.insert({ja}, [1], [[5], [6]], 1)", np.insert(a, [1], [[5], [6]], axis=1))
case(f"ft.insert({ja}, 1, [5, 6], 0)", np.insert(a, 1, [5, 6], axis=0))
case(f"ft.insert({ja}, [0, 2], {jb}, {{ axis: 0 }})", np.insert(a, [0, 2], b, axis=0))
case(f"ft.insert({ja}, 2, 9)", np.insert(a, 2, 9))
case("ft.insert(ft.tensor([1, 2], { dtype: 'int32' }), 1, ft.tensor([2.7]))", np.insert(np.array([1, 2]), 1, [2.7]))
case(f"ft.insert({jc}, 1, 0, -1)", np.insert(c, 1, 0, axis=-1))
case(f"ft.delete({jv}, 1)", np.delete(v, 1))
case(f"ft.delete({jv}, -1)", np.delete(v, -1))
case(f"ft.delete({jv}, [0, 0, 2])", np.delete(v, [0, 0, 2]))
case(f"ft.delete({jv}, [])", v)
case(f"ft.delete({jv}, [true, false, true])", np.delete(v, [True, False, True]))
case(f"ft.delete({jv}, ft.slice(null, null, 2))", np.delete(v, slice(None, None, 2)))
case(f"ft.delete({jv}, '::-2')", np.delete(v, slice(None, None, -2)))
case(f"ft.delete({jv}, new Int8Array([1]))", np.delete(v, [1]))
case(f"ft.delete({jv}, ft.tensor([0, 1], {{ dtype: 'int32' }}))", np.delete(v, [0, 1]))
case(f"ft.delete({jv}, ft.tensor([false, true, false]))", np.delete(v, [False, True, False]))
case(f"ft.delete({ja}, 0, 1)", np.delete(a, 0, 1))
case(f"ft.delete({ja}, 2)", np.delete(a, 2))
case(f"ft.delete({jc}, [0, 2], 1)", np.delete(c, [0, 2], 1))
case("ft.trimZeros([0, 0, 1, 0, 2, 0])", np.trim_zeros(np.array([0, 0, 1, 0, 2, 0.0])))
case("ft.trimZeros([0, 0, 1, 0, 2, 0], { trim: 'f' })", np.trim_zeros(np.array([0, 0, 1, 0, 2, 0.0]), "f"))
case("ft.trimZeros([0, 0, 1, 0, 2, 0], { trim: 'b' })", np.trim_zeros(np.array([0, 0, 1, 0, 2, 0.0]), "b"))
case("ft.trimZeros([0, 0])", np.trim_zeros(np.array([0, 0.0])))
box = np.array([[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 2, 0.0]])
case(f"ft.trimZeros({tensors(box)[0]})", np.trim_zeros(box))
case(f"ft.resize({jv}, [2, 4])", np.resize(v, (2, 4)))
case(f"ft.resize({ja}, [3])", np.resize(a, 3))
case("ft.resize(ft.zeros([0]), [2])", np.resize(np.zeros(0), 2))
case(f"ft.rollaxis({jc}, 2).shape", np.rollaxis(c, 2).shape)
case(f"ft.rollaxis({jc}, 0, 3).shape", np.rollaxis(c, 0, 3).shape)
case(f"ft.rollaxis({jc}, 1, -1).shape", np.rollaxis(c, 1, -1).shape)
case(f"ft.block([[{ja}, {jb}], [ft.zeros([1, 4])]])", np.block([[a, b], [np.zeros((1, 4))]]))
case(f"ft.block([{jv}, 5])", np.block([v, 5]))
case(f"ft.block([[{jv}], [{jw}]])", np.block([[v], [w]]))
case(f"ft.block({ja})", np.block(a))
case(f"ft.block([[[{ja}], [{jb}]]]).shape", np.block([[[a], [b]]]).shape)
case(f"ft.blockDiag({ja}, {jv}, ft.tensor(7))", scipy.linalg.block_diag(a, v, 7))
case("ft.fromiter([1, 2, 3].values())", np.fromiter([1, 2, 3], float))
case("ft.fromiter((function* () { for (let i = 0; ; i++) yield i })(), { count: 4 })", np.arange(4.0))
case(f"ft.expandDims({ja}, [0, -1]).shape", np.expand_dims(a, (0, -1)).shape)
case(f"{ja}.expandDims([1, 3]).shape", np.expand_dims(a, (1, 3)).shape)
case(f"{ja}.expandDims([]).shape", np.expand_dims(a, ()).shape)
case(f"ft.concat([{ja}, {jv}, ft.tensor(5)], null)", np.concatenate([a, v, 5.0], axis=None))
case(f"ft.concat([{ja}, {jb}], {{ axis: null }})", np.concatenate([a, b], axis=None))
case(f"ft.repeat({jv}, [2, 0, 1])", np.repeat(v, [2, 0, 1]))
case(f"{ja}.repeat([1, 3], 1)", np.repeat(a, [1, 3], 1))
case(f"{ja}.repeat([1, 2, 0, 1])", np.repeat(a, [1, 2, 0, 1]))
case(f"{ja}.repeat([2], {{ axis: 0 }})", np.repeat(a, [2], 0))
case(f"ft.repeat({jv}, ft.tensor([0, 1, 2], {{ dtype: 'int64' }}))", np.repeat(v, [0, 1, 2]))

# --- pairs and elementwise
for x, y in [([7.0, -7.0, 7.5], 3.0), ([5.0, -5.0, 0.0], -2.0)]:
    jx = tensors(x)[0]
    q, r = np.divmod(np.array(x), y)
    case(f"ft.divmod({jx}, {text(y)}).quotient", q)
    case(f"ft.divmod({jx}, {text(y)}).remainder", r)
case("ft.divmod(7, ft.tensor([2, -2], { dtype: 'int32' })).quotient", np.divmod(7, np.array([2, -2]))[0])
x = np.array([1.5, -2.25, -0.0, 0.0, -3.0, inf, -inf, nan])
for i, name in enumerate(["fractional", "integral"]):
    case(f"ft.modf({tensors(x)[0]}).{name}", np.modf(x)[i])
    case(f"ft.modf({tensors(x[:-1])[0]}).{name}.signbit()", np.signbit(np.modf(x[:-1])[i]))
for kind, d in [("float32", np.float32), ("float64", np.float64), ("float16", np.float16)]:
    limits = np.finfo(d)
    x = np.array([8, -0.75, 1, 0.5, 3e-5, limits.max, limits.tiny, limits.smallest_subnormal, -limits.smallest_subnormal * 5, 0, -0.0, inf, -inf, nan], d)
    jx = f"ft.tensor([{', '.join('NaN' if np.isnan(e) else text(e) if abs(e) in (0, inf) else repr(float(e)) for e in x)}], {{ dtype: '{kind}' }})"
    for i, name in enumerate(["mantissa", "exponent"]):
        case(f"ft.frexp({jx}).{name}", np.frexp(x)[i])
    case(f"ft.spacing({jx}).isfinite()", np.isfinite(np.spacing(x)))
case("ft.spacing(ft.tensor([1, -1, 1024, 0, -0, 0.75])).mul(2 ** 30)", np.spacing(np.float32([1, -1, 1024, 0, -0.0, 0.75])).astype(float) * 2**30)
case("ft.isreal([1, NaN])", np.isreal([1, nan]))
case("ft.tensor([{ re: 1, im: 0 }, { re: 1, im: 1 }, { re: 1, im: NaN }]).isreal()", np.isreal([1 + 0j, 1 + 1j, complex(1, nan)]))
for value, js in [(5, "5"), ("x", "'x'"), (1j, "{ re: 0, im: 1 }"), (np.array(5), "ft.tensor(5)"), ([1], "[1]"), (None, "null")]:
    case(f"ft.isscalar({js})", np.isscalar(value))
case("ft.arrayEquiv([1, 1], [[1], [1]])", np.array_equiv([1, 1], [[1], [1]]))
case("ft.arrayEquiv([1, 2], [1, 2, 3])", np.array_equiv([1, 2], [1, 2, 3]))
case("ft.arrayEquiv([1, 2], [1, 3])", np.array_equiv([1, 2], [1, 3]))
case(f"ft.addcmul({ja}, {jb}, {ja}, {{ value: -0.5 }})", torch.addcmul(tensor(a), tensor(b), tensor(a), value=-0.5))
case(f"{ja}.addcdiv({jb}, {ja}, {{ value: 2 }})", torch.addcdiv(tensor(a), tensor(b), tensor(a), value=2))
case(f"ft.addcmul({ja}, {ja}, 2)", a + a * 2)
case(f"ft.clamp({jv}, {{ max: 2 }})", torch.clamp(tensor(v), max=2))
case(f"{jv}.clamp({{ min: ft.tensor([2, 1, 5]), max: 4 }})", torch.clamp(torch.clamp(tensor(v), min=tensor([2.0, 1, 5])), max=4))
case(f"{jv}.clamp(2)", torch.clamp(tensor(v), 2))
x = np.array([0, 3, 7, -2, 1.0, 9.5])
case(f"ft.unwrap({tensors(x)[0]})", np.unwrap(x))
case(f"ft.unwrap({tensors(x)[0]}, {{ period: 4 }})", np.unwrap(x, period=4))
case(f"ft.unwrap({tensors(x)[0]}, {{ discont: 5 }})", np.unwrap(x, discont=5))
case(f"ft.unwrap(ft.tensor([0, 2, 4, 2, 0]), {{ period: 4 }})", np.unwrap(np.array([0, 2, 4, 2, 0.0]), period=4))
case(f"ft.unwrap({tensors(x.reshape(3, 2) * 3)[0]}, 0)", np.unwrap(x.reshape(3, 2) * 3, axis=0))
bits = np.array([[1, 0, 1, 1, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0, 0, 0, 1]], bool)
jbits = tensors(bits)[0]
case(f"ft.packbits({jbits})", np.packbits(bits))
case(f"ft.packbits({jbits}, 1)", np.packbits(bits, axis=1))
case(f"ft.packbits({jbits}, {{ axis: 0, bitorder: 'little' }})", np.packbits(bits, axis=0, bitorder="little"))
case("ft.packbits([6, 0, 5])", np.packbits([6, 0, 5]))
case("ft.packbits([])", np.packbits(np.zeros(0, int)))
data = np.array([[2, 7], [23, 255]], np.uint8)
jdata = "ft.tensor([[2, 7], [23, 255]], { dtype: 'uint8' })"
case(f"ft.unpackbits({jdata})", np.unpackbits(data))
case(f"ft.unpackbits({jdata}, {{ axis: 1, bitorder: 'little' }})", np.unpackbits(data, axis=1, bitorder="little"))
case(f"ft.unpackbits({jdata}, {{ axis: 0, count: 3 }})", np.unpackbits(data, axis=0, count=3))
case(f"ft.unpackbits({jdata}, {{ axis: 1, count: -3 }})", np.unpackbits(data, axis=1, count=-3))
case(f"ft.unpackbits({jdata}, {{ axis: 1, count: 18 }})", np.unpackbits(data, axis=1, count=18))
case("ft.unpackbits(new Uint8Array([160]))", np.unpackbits(np.array([160], np.uint8)))

# --- choices
masks = [v > 2, v > 1]
jmasks = f"[{', '.join(tensors(*masks))}]"
case(f"ft.select({jmasks}, [{jv}, {jw}])", np.select(masks, [v, w]))
case(f"ft.select({jmasks}, [{jv}, 7], -1)", np.select(masks, [v, 7], -1))
case(f"ft.piecewise({jv}, {jmasks}, [-1, (x) => x.mul(10)])", np.piecewise(v, masks, [-1, lambda x: x * 10]))
case(f"ft.piecewise({jv}, {jmasks}, [-1, (x) => x.mul(10), (x) => x.neg()])", np.piecewise(v, masks, [-1, lambda x: x * 10, lambda x: -x]))
case("ft.piecewise(ft.tensor([1, 2], { dtype: 'int32' }), [ft.tensor([true, false])], [ft.tensor(2.7), 5])", np.piecewise(np.array([1, 2]), [np.array([True, False])], [2.7, 5]))
case(f"ft.choose([0, 1, 0], [{jv}, {jw}])", np.choose([0, 1, 0], [v, w]))
case(f"ft.choose([5, -1, 2], [{jv}, {jw}], {{ mode: 'wrap' }})", np.choose([5, -1, 2], [v, w], mode="wrap"))
case(f"ft.choose([5, -1, 2], [{jv}, {jw}], {{ mode: 'clip' }})", np.choose([5, -1, 2], [v, w], mode="clip"))
case(f"ft.choose([[0], [1]], {ja})", np.choose([[0], [1]], a))
case(f"ft.tensor([1, 0, 1], {{ dtype: 'int32' }}).choose([{jv}, ft.tensor(9)])", np.choose([1, 0, 1], [v, 9]))

# --- reductions
for name, torch_name in [("varMean", "var_mean"), ("stdMean", "std_mean")]:
    first = name[:3]
    for options, more in [("1", {"dim": 1}), ("{ correction: 1 }", {}), ("{ axis: 0, keepdims: true, correction: 2 }", {"dim": 0, "keepdim": True, "correction": 2})]:
        more = {"correction": 1 if "correction: 1" in options else 0, **more}
        spread, mean = getattr(torch, torch_name)(tensor(c[0]), **more)
        case(f"ft.{name}({jc}.at(0), {options}).{first}", spread)
        case(f"ft.{name}({jc}.at(0), {options}).mean", mean)
case(f"ft.aminmax({jc}, [0, 2]).max", c.max((0, 2)))
case(f"{jc}.aminmax({{ axis: 1, keepdims: true }}).min", c.min(1, keepdims=True))
case(f"ft.aminmax({jm}).max", nan)
for name in ["cummax", "cummin"]:
    for axis in [0, 1]:
        found = getattr(torch, name)(tensor(m), axis)
        case(f"ft.{name}({jm}, {axis}).values", found.values)
        case(f"{jm}.{name}({{ axis: {axis} }}).indices", found.indices)
x = np.array([[1.0, 2, 2, 5], [3, 3, 1, 1], [7, 7, 7, 0], [4, 3, 2, 1]])
jx = tensors(x)[0]
for axis in [0, 1, -1]:
    found = torch.mode(tensor(x), axis)
    case(f"ft.mode({jx}, {axis}).values", found.values)
    case(f"{jx}.mode({{ axis: {axis}, keepdims: true }}).indices.shape", torch.mode(tensor(x), axis, True).indices.shape)
case("ft.mode(ft.tensor(5)).values", torch.mode(tensor(5.0)).values)
x = np.array([[nan, 2, 9, 9], [-inf, nan, 1, nan], [nan, nan, nan, 4]])
jx = tensors(x)[0]
for name in ["nanargmax", "nanargmin"]:
    case(f"ft.{name}({jx})", getattr(np, name)(x))
    case(f"ft.{name}({jx}, 1)", getattr(np, name)(x, 1))
    case(f"ft.{name}({jx}.at(0), {{ keepdims: true }})", getattr(np, name)(x[0], keepdims=True))
case("ft.nanargmax(ft.tensor([NaN, -Infinity]))", 1)

# --- sorting
case(f"ft.msort({ja}.flip())", np.sort(a[::-1, ::-1], 0))
case("ft.lexsort([ft.tensor([9, 4, 0, 4, 0, 2, 1]), ft.tensor([1, 5, 1, 4, 3, 4, 4])])", np.lexsort(([9, 4, 0, 4, 0, 2, 1], [1, 5, 1, 4, 3, 4, 4])))
keys = np.array([[[1, 2], [2, 1]], [[0, 0], [0, 5]]])
case(f"ft.lexsort({tensors(keys)[0]}, 0)", np.lexsort(keys, 0))
case(f"ft.partition({jc}.flip(), [0, 3]).at(0, 0)", np.partition(c[::-1, ::-1, ::-1], [0, 3])[0, 0])
case(f"ft.tensor([7, 1, 5]).argpartition(-1).at(-1)", np.argpartition([7, 1, 5], -1)[-1])
case(f"ft.compress([true, false], {jv})", np.compress([True, False], v))
case(f"{ja}.compress([0, 1], 1)", np.compress([0, 1], a, 1))
case(f"ft.compress([false, true, true], {jc}, {{ axis: -2 }})", np.compress([False, True, True], c, -2))
case(f"ft.extract({ja}.greater(1), {jb})", np.extract(a > 1, b))
x = np.array([[1.0, 1], [1, 1], [2, 1], [2, 1], [1, 1]])
jx = tensors(x)[0]
case(f"ft.uniqueConsecutive({jx})", torch.unique_consecutive(tensor(x)))
case(f"{jx}.uniqueConsecutive(0)", torch.unique_consecutive(tensor(x), dim=0))
case(f"{jx}.uniqueConsecutive(1)", torch.unique_consecutive(tensor(x), dim=1))
case("ft.uniqueConsecutive(ft.zeros([0]))", torch.unique_consecutive(torch.zeros(0)))

# --- updates
def changed(function, x, *arguments, **options):
    x = x.copy()
    function(x, *arguments, **options)
    return x


case(f"ft.put({ja}, [0, -1], [8, 9])", changed(np.put, a, [0, -1], [8, 9]))
case(f"{ja}.put([[0, 1], [2, 3]], 5)", changed(np.put, a, [0, 1, 2, 3], 5))
case(f"ft.put({jv}, [0, 1, 2], [8, 9])", changed(np.put, v, [0, 1, 2], [8, 9]))
case(f"ft.putmask({jv}, {jv}.greater(1), [7, 8])", changed(np.putmask, v, v > 1, [7, 8]))
case(f"ft.putmask({jv}, {jv}.greater(1), 0)", changed(np.putmask, v, v > 1, 0))
case(f"ft.place({jc}, {jc}.remainder(5).equal(0), [7, 8, 9])", changed(np.place, c, c % 5 == 0, [7, 8, 9]))
case(f"ft.maskedScatter({ja}, {ja}.greater(1), {jv})", tensor(a).masked_scatter(tensor(a) > 1, tensor(v)))
case(f"ft.maskedScatter({ja}, ft.tensor([true, false]), [8, 9])", tensor(a).masked_scatter(tensor([True, False]), tensor([8.0, 9])))
for shape in [(2, 2), (3, 2), (2, 4), (7, 2), (3, 3, 3)]:
    zeros = np.zeros(shape)
    case(f"ft.fillDiagonal(ft.zeros({text(list(shape))}), 5)", changed(np.fill_diagonal, zeros, 5))
case("ft.fillDiagonal(ft.zeros([7, 2]), 5, { wrap: true })", changed(np.fill_diagonal, np.zeros((7, 2)), 5, wrap=True))
case("ft.zeros([2, 3]).fillDiagonal([8, 9])", changed(np.fill_diagonal, np.zeros((2, 3)), [8, 9]))
index, source = torch.tensor([0, 2, 0]), torch.arange(12.0).reshape(2, 3, 2)
jsource = "ft.arange(12).reshape([2, 3, 2])"
base = torch.ones(2, 4, 2)
case(f"ft.indexAdd(ft.ones([2, 4, 2]), 1, [0, 2, 0], {jsource}, {{ alpha: -2 }})", base.index_add(1, index, source, alpha=-2))
case(f"ft.ones([2, 4, 2]).indexCopy(-2, [3, 2, 0], {jsource})", base.index_copy(1, torch.tensor([3, 2, 0]), source))
case("ft.indexFill(ft.ones([2, 4, 2]), 1, [0, 2], 7)", base.index_fill(1, torch.tensor([0, 2]), 7))
case("ft.indexPut(ft.zeros([2, 3]), [[0, 1], [2, 0]], [5, 6])", torch.zeros(2, 3).index_put((torch.tensor([0, 1]), torch.tensor([2, 0])), tensor([5.0, 6])))
place, given, own = torch.tensor([[0, 1, 0], [2, 1, 0]]), torch.tensor([[4.0, 9, 7], [-1, 3, 2]]), torch.tensor([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]])
jplace, jgiven, jown = "[[0, 1, 0], [2, 1, 0]]", text(given), tensors(own)[0]
for name in ["sum", "prod", "mean", "amax", "amin"]:
    for included in [True, False]:
        for axis in [0, 1]:
            answer = own.scatter_reduce(axis, place, given, name, include_self=included)
            case(f"ft.scatterReduce({jown}, {axis}, {jplace}, {jgiven}, '{name}', {{ includeSelf: {text(included)} }})", answer)
case("ft.tensor([1, 2, 3], { dtype: 'int8' }).scatterReduce(0, [0, 0], [9, -9], 'amin', { includeSelf: false })", torch.tensor([1, 2, 3], dtype=torch.int8).scatter_reduce(0, torch.tensor([0, 0]), torch.tensor([9, -9], dtype=torch.int8), "amin", include_self=False))

# --- positions
case("ft.unravelIndex([[22, 41], [37, 0]], [7, 6]).map((x) => x.toArray())", np.unravel_index([[22, 41], [37, 0]], (7, 6)))
case("ft.unravelIndex([1621], [6, 7, 8, 9]).map((x) => x.toArray())", np.unravel_index([1621], (6, 7, 8, 9)))
case("ft.unravelIndex(ft.tensor(5, { dtype: 'int32' }), [2, 3]).map((x) => x.toArray())", np.unravel_index(5, (2, 3)))
case("ft.unravelIndex([-1], [2, 3]).map((x) => x.toArray())", [[1], [2]])
case("ft.ravelMultiIndex([[3, 6, 6], [4, 5, 1]], [7, 6])", np.ravel_multi_index([[3, 6, 6], [4, 5, 1]], (7, 6)))
case("ft.ravelMultiIndex([[3, 6, 6], [4, 5, 1]], [4, 4], { mode: 'clip' })", np.ravel_multi_index([[3, 6, 6], [4, 5, 1]], (4, 4), mode="clip"))
case("ft.ravelMultiIndex([[3, 6, -6], [4, 5, 1]], [4, 4], { mode: 'wrap' })", np.ravel_multi_index([[3, 6, -6], [4, 5, 1]], (4, 4), mode="wrap"))
four = torch.tensor([1.0, 2, 3, 4])
for r in range(6):
    for again in [False, True]:
        answer = torch.combinations(four, r, again)
        case(f"ft.combinations([1, 2, 3, 4], {{ r: {r}, withReplacement: {text(again)} }}).shape", list(answer.shape))
        if r in (2, 3):
            case(f"ft.combinations([1, 2, 3, 4], {{ r: {r}, withReplacement: {text(again)} }})", answer)
case(f"ft.cartesianProd({jv}, ft.tensor([8, 9]))", torch.cartesian_prod(tensor(v), tensor([8.0, 9])))
case(f"ft.cartesianProd({jv})", v)

# --- statistics
case(f"ft.ediff1d({ja}, {{ toBegin: [-1, 0], toEnd: 9 }})", np.ediff1d(a, 9, [-1, 0]))
case("ft.ediff1d([5])", np.ediff1d([5.0]))
x = np.array([1, 2, 1, 2.5, 3, -1, 7])
jx = tensors(x)[0]
case(f"ft.histc({jx}, {{ bins: 4, min: 0, max: 3 }})", torch.histc(tensor(x), 4, 0, 3))
case(f"{jx}.histc({{ bins: 5 }})", torch.histc(tensor(x), 5))
case("ft.histc([2, 2]).argmax()", torch.histc(tensor([2.0, 2])).argmax())
y = np.array([0, 1, 1, 3, 2, 2.5, 4])
jy = tensors(y)[0]
for options, more in [
    ("{ bins: 3 }", {"bins": 3}),
    ("{ bins: [2, 4] }", {"bins": [2, 4]}),
    ("{ bins: [[0, 1, 3], [0, 2, 3]] }", {"bins": [[0, 1, 3], [0, 2, 3]]}),
    ("{ bins: [2, 3], range: [[0, 3], [0, 3]] }", {"bins": [2, 3], "range": [[0, 3], [0, 3]]}),
    ("{ bins: 2, weights: [1, 2, 3, 4, 5, 6, 7] }", {"bins": 2, "weights": [1, 2, 3, 4, 5, 6, 7]}),
    ("{ bins: [2, 3], density: true }", {"bins": [2, 3], "density": True}),
]:
    answers = np.histogram2d(x, y, **more)
    for name, answer in zip(["hist", "xEdges", "yEdges"], answers):
        case(f"ft.histogram2d({jx}, {jy}, {options}).{name}", answer)
points = np.stack([x, y, x * y], 1)
hist, edges = np.histogramdd(points, bins=[2, 3, 2])
case(f"ft.histogramdd({tensors(points)[0]}, {{ bins: [2, 3, 2] }}).hist", hist)
case(f"ft.histogramdd({tensors(points)[0]}, {{ bins: [2, 3, 2] }}).edges[2]", edges[2])
x = np.array([[1.0, 2, 4, 7], [3, -1, 2, 0]])
jx = tensors(x)[0]
for options, more in [
    ("{ fweights: [1, 2, 3, 1] }", {"fweights": [1, 2, 3, 1]}),
    ("{ aweights: [0.5, 2, 1, 0.25] }", {"aweights": [0.5, 2, 1, 0.25]}),
    ("{ fweights: [1, 2, 3, 1], aweights: [0.5, 2, 1, 0.25], correction: 0 }", {"fweights": [1, 2, 3, 1], "aweights": [0.5, 2, 1, 0.25], "ddof": 0}),
]:
    case(f"ft.cov({jx}, {options})", np.cov(x, **more))
    case(f"{jx}.T.cov({{ rowvar: false, ...{options} }})", np.cov(x.T, rowvar=False, **more))
    case(f"ft.cov({jx}.at(0), {options})", np.cov(x[0], **more))
case(f"ft.cov({jx})", np.cov(x))
z = np.array([[1 + 2j, 2 - 1j, 0.5j], [3, 1j, 2 + 2j]])
case(f"ft.cov({tensors(z)[0]}, {{ aweights: [1, 2, 0.5] }})", np.cov(z, aweights=[1, 2, 0.5]))
along = np.array([[0, 1, 3, 4], [0, 2, 2.5, 7]])
case(f"ft.trapezoid({jx}, {tensors(along)[0]})", np.trapezoid(x, along))
case(f"{jx}.trapezoid({tensors(along)[0]}, 0)", np.trapezoid(x, along, axis=0))
case(f"ft.trapezoid({jx}, ft.tensor([0, 1, 3, 4]))", np.trapezoid(x, [0, 1, 3, 4]))
case(f"ft.trapezoid({tensors(z)[0]})", np.trapezoid(z))
case(f"ft.trapezoid({tensors(z)[0]}, ft.tensor([0, 1, 3]))", np.trapezoid(z, [0, 1, 3]))
case(f"ft.trapezoid({tensors(z)[0]}, undefined, {{ axis: 0, dx: 0.5 }})", np.trapezoid(z, axis=0, dx=0.5))
case(f"ft.cumulativeTrapezoid({jx})", scipy.integrate.cumulative_trapezoid(x))
case(f"ft.cumulativeTrapezoid({jx}, {tensors(along)[0]}, 0)", scipy.integrate.cumulative_trapezoid(x, along, axis=0))
case(f"ft.cumulativeTrapezoid({jx}, [0, 1, 3, 4])", scipy.integrate.cumulative_trapezoid(x, [0, 1, 3, 4]))
case(f"ft.cumulativeTrapezoid({tensors(z)[0]}, undefined, {{ axis: 0, dx: 0.5 }})", scipy.integrate.cumulative_trapezoid(z, axis=0, dx=0.5))
case("ft.cumulativeTrapezoid([7]).shape", scipy.integrate.cumulative_trapezoid(np.array([7])).shape)
for p in [[1, -3, 2], [0, 0, 2, -4], [1, 0, -1, 0, 0], [5], [0, 0], [3, 0], [1, 0, 0, -8]]:
    case(f"((z) => z.size === 0 ? z.size : z.take(ft.lexsort([z.imag(), z.real().mul(1000).round()])))(ft.roots({text(p)}.map(Number)))", order(np.roots(p)) if len(np.roots(p)) else 0)

# --- linear algebra
stack, other = np.arange(12.0).reshape(3, 2, 2), np.arange(12.0).reshape(3, 2, 2)[::-1] - 3
jstack, jother = tensors(stack, other)
for options, more in [("{}", {}), ("{ beta: 0.5, alpha: -2 }", {"beta": 0.5, "alpha": -2}), ("{ beta: 0 }", {"beta": 0})]:
    case(f"ft.addmm({ja}, {ja}, {jb}, {options})", torch.addmm(tensor(a), tensor(a), tensor(b), **more))
    case(f"ft.tensor([1, 2]).addmv({ja}, ft.tensor([3, 4]), {options})", torch.addmv(tensor([1.0, 2]), tensor(a), tensor([3.0, 4]), **more))
    case(f"{ja}.addr(ft.tensor([1, 2]), ft.tensor([3, 4]), {options})", torch.addr(tensor(a), tensor([1.0, 2]), tensor([3.0, 4]), **more))
    case(f"{ja}.addbmm({jstack}, {jother}, {options})", torch.addbmm(tensor(a), tensor(stack), tensor(other.copy()), **more))
    case(f"ft.baddbmm({jstack}, {jstack}, {jother}, {options})", torch.baddbmm(tensor(stack), tensor(stack), tensor(other.copy()), **more))
case(f"ft.addmm(ft.full([2, 2], NaN), {ja}, {jb}, {{ beta: 0 }})", a @ b)
case(f"ft.addmm(ft.tensor(1), {ja}, {jb})", 1 + a @ b)
chain = [np.arange(6.0).reshape(2, 3) - 2, np.arange(12.0).reshape(3, 4), np.arange(4.0).reshape(4, 1), np.arange(2.0).reshape(1, 2) + 1]
case(f"ft.chainMatmul({', '.join(tensors(*chain))})", np.linalg.multi_dot(chain))
case(f"ft.linalg.multiDot([{', '.join(tensors(chain[0][0], *chain[1:3], np.array([3.0])))}])", np.linalg.multi_dot([chain[0][0], chain[1], chain[2], np.array([3.0])]))
for p in [0, 0.5, 1, 2, 3, inf]:
    case(f"ft.dist({ja}, {jb}, {text(p)})", torch.dist(tensor(a), tensor(b), p))
    case(f"ft.cdist({ja}, {tensors(chain[1].T[:, :2])[0]}, {{ p: {text(p)} }})", torch.cdist(tensor(a), tensor(chain[1].T[:, :2].copy()), p=p))
case(f"ft.cdist({jstack}, {ja}).shape", torch.cdist(tensor(stack), tensor(a)).shape)
case(f"ft.renorm({ja}, 2, 0, 3)", torch.renorm(tensor(a), 2, 0, 3))
case(f"{jc}.renorm(1, -1, 50)", torch.renorm(tensor(c), 1, 2, 50))
s = np.array([[4.0, 2], [2, 3]])
js = tensors(s)[0]
case(f"ft.logdet({js})", torch.logdet(tensor(s)))
case(f"{ja}.logdet()", torch.logdet(tensor(a)))
case("ft.logdet(ft.zeros([2, 2]))", torch.logdet(torch.zeros(2, 2)))
case("ft.logdet(ft.tensor([[{ re: 0, im: 2 }, { re: 1, im: 0 }], [{ re: 0, im: 0 }, { re: -3, im: 0 }]]))", torch.logdet(tensor([[2j, 1], [0, -3]])))
big = np.array([[2.0, 1, 1], [4, 3, 3], [8, 7, 9]])
jbig = tensors(big)[0]
p, low, up = scipy.linalg.lu(big)
case(f"ft.linalg.luFactor({jbig}).lu", np.tril(low, -1) + up)
case(f"ft.linalg.luFactor({jbig}).permutation", np.argmax(p, 0))
case(f"(({{ lu, permutation }}) => ft.linalg.luSolve(lu, permutation, {jv}))(ft.linalg.luFactor({jbig}))", np.linalg.solve(big, v))
case(f"(({{ lu, permutation }}) => ft.linalg.luSolve(lu, permutation, {tensors(big[:, :2])[0]}))(ft.linalg.luFactor({jbig}))", np.linalg.solve(big, big[:, :2]))
pair = np.stack([big, big[[1, 2, 0]]])
case(f"(({{ lu, permutation }}) => ft.linalg.luSolve(lu, permutation, {tensors(big[:, :1])[0]}))(ft.linalg.luFactor({tensors(pair)[0]}))", np.linalg.solve(pair, big[:, :1]))
case(f"ft.linalg.choleskySolve({ja}, ft.linalg.cholesky({js}))", np.linalg.solve(s, a))
case(f"ft.linalg.choleskySolve(ft.tensor([1, 2]), ft.linalg.cholesky({js}).T, {{ upper: true }})", np.linalg.solve(s, [1, 2]))
case(f"ft.linalg.choleskySolve({jv}, ft.linalg.cholesky({tensors(big @ big.T)[0]}))", np.linalg.solve(big @ big.T, v))
square = (np.arange(36.0) ** 2 % 17 + 10 * np.eye(6).ravel()).reshape(2, 3, 6)
jsquare = tensors(square)[0]
case(f"ft.linalg.tensorinv({jsquare})", np.linalg.tensorinv(square))
case(f"ft.linalg.tensorinv({tensors(square.reshape(6, 2, 3))[0]}, {{ ind: 1 }})", np.linalg.tensorinv(square.reshape(6, 2, 3), 1))
case(f"ft.linalg.tensorsolve({jsquare}, {tensors(np.arange(6.0).reshape(2, 3))[0]})", np.linalg.tensorsolve(square, np.arange(6.0).reshape(2, 3)))
moved = square.transpose(2, 0, 1)
case(f"ft.linalg.tensorsolve({tensors(moved)[0]}, {tensors(np.arange(6.0).reshape(2, 3))[0]}, {{ axes: [0] }})", np.linalg.tensorsolve(moved, np.arange(6.0).reshape(2, 3), axes=[0]))
thin = np.array([[[1.0, 0], [0, 0.1], [0, 0]], [[1, 2], [2, 4.5], [3, 6]]])
jthin = tensors(thin)[0]
case(f"ft.linalg.matrixRank({jthin}, {{ rtol: [0.2, 0.01] }})", np.linalg.matrix_rank(thin, rtol=np.array([0.2, 0.01])))
case(f"ft.linalg.pinv({jthin}, {{ rtol: ft.tensor([0.2, 0.001]) }})", np.linalg.pinv(thin, rtol=np.array([0.2, 0.001])))
case(f"ft.linalg.pinv({jthin})", np.linalg.pinv(thin))

# --- complex numbers
z = np.array([[0.5 + 2j, -1 - 1j, 0j], [3 + 0.25j, 100 + 1j, -100 - 2j]])
u = np.array([[1j, 2, -1 + 1j], [2 - 3j, 0.5, 1]])
jz, ju = tensors(z, u)
near = z[:, :1]
jnear = tensors(near)[0]
case(f"ft.exp2({jnear})", np.exp2(near))
case(f"{tensors(z[0])[0]}.exp2()", np.exp2(z[0]))
case(f"ft.sinc({tensors(z[0])[0]})", np.sinc(z[0]))
case(f"ft.sigmoid({jz})", torch.sigmoid(tensor(z)))
case(f"ft.special.expit({ju})", torch.sigmoid(tensor(u)))
case(f"ft.nn.silu({ju})", torch.nn.functional.silu(tensor(u)))
case(f"ft.nn.softsign({ju})", torch.nn.functional.softsign(tensor(u)))
case(f"ft.nn.tanhshrink({ju})", torch.nn.functional.tanhshrink(tensor(u)))
for reduction in ["mean", "sum", "none"]:
    case(f"ft.nn.l1Loss({jz}, {ju}, {{ reduction: '{reduction}' }})", torch.nn.functional.l1_loss(tensor(z), tensor(u), reduction=reduction))
case(f"ft.nn.l1Loss({jz}, ft.ones([2, 3]))", torch.nn.functional.l1_loss(tensor(z), torch.ones(2, 3, dtype=torch.complex128)))
case(f"ft.logaddexp({jz}, {ju})", torch.logaddexp(tensor(z), tensor(u)))
case(f"{ju}.logaddexp(1)", torch.logaddexp(tensor(u), torch.ones(2, 3, dtype=torch.complex128)))
case(f"ft.logaddexp(2, {ju}.at(0))", torch.logaddexp(2 * torch.ones(3, dtype=torch.complex128), tensor(u[0])))
case(f"ft.logsumexp({jz})", torch.logsumexp(tensor(z), (0, 1)))
case(f"{jz}.logsumexp({{ axis: 1, keepdims: true }})", torch.logsumexp(tensor(z), 1, True))
case(f"{ju}.logsumexp([0])", torch.logsumexp(tensor(u), 0))
case(f"ft.gradient({jz})", np.gradient(z, axis=1))
case(f"{jz}.gradient(ft.tensor([0, 1, 3]))", np.gradient(z, [0, 1, 3], axis=1))
case(f"ft.gradient({jz}, undefined, {{ axis: 0, spacing: 2 }})", np.gradient(z, 2, axis=0))

# --- decimals, powers in float64, running logarithms of sums
halves = np.array([1250, 1350, -149, -150, -250, 50, 51])
for decimals in [-3, -2, -1, 1]:
    case(f"ft.round(ft.tensor({text(halves)}, {{ dtype: 'int32' }}), {decimals})", np.round(halves, decimals))
fractions = np.array([1.25, -3.149, 2.675, 0.05, -0.04, 1234.5678])
for decimals in [-2, 1, 2, 3]:
    case(f"ft.round(ft.tensor({text(fractions)}, {{ dtype: 'float64' }}), {{ decimals: {decimals} }})", np.round(fractions, decimals))
case("ft.floatPower(ft.tensor([2, 3], { dtype: 'int32' }), ft.tensor([[-1], [0.5]], { dtype: 'float64' }))", np.float_power([2, 3], [[-1], [0.5]]))
rows = np.array([[0.5, -1, 3], [1000, 1001, -inf]])
for axis in [0, 1]:
    case(f"ft.logcumsumexp(ft.tensor({text(rows)}), {axis})", np.logaddexp.accumulate(rows, axis))

with open(sys.argv[1], "w") as out:
    out.write("\n".join(lines) + "\n")

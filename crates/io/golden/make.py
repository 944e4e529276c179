"""Writes the golden files of crates/io, with NumPy and the Python package safetensors, and what they hold.

    pip install numpy==2.4.6 safetensors==0.8.0 ml_dtypes
    python crates/io/golden/make.py

Each line of `expected.txt` names a file, an array in it (or -), its dtype, its shape and its elements: little-endian, row-major, in
hexadecimal. `refused.txt` names files that must be refused, and a part of the message.
"""

import io
import os
import warnings
import zipfile

import ml_dtypes
import numpy as np
from numpy.lib import format as npy
from safetensors.numpy import save as save_safetensors

HERE = os.path.dirname(os.path.abspath(__file__))
DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
expected, refused = [], []
# Format 3.0 and names that repeat, which are meant.
warnings.simplefilter("ignore")


def write(name, data):
    with open(os.path.join(HERE, name), "wb") as out:
        out.write(data)


def expect(file, member, array, dtype=None):
    plain = np.array(array, order="C", copy=True).astype(array.dtype.newbyteorder("<"))
    shape = ",".join(map(str, array.shape)) or "scalar"
    expected.append(f"{file} {member} {dtype or array.dtype.newbyteorder('=').name} {shape} {plain.tobytes().hex() or 'none'}")


def values(dtype):
    """Six numbers that use every byte of the dtype."""
    d = np.dtype(dtype)
    if d.kind == "b":
        return np.array([True, False, True, True, False, False])
    if d.kind in "iu":
        top = np.iinfo(d)
        return np.array([0, 1, top.max, top.min, top.max // 3, 77], dtype=d)
    if d.kind == "f":
        return np.array([0.0, -0.0, np.inf, 1 / 3, -1e4, np.finfo(d).tiny], dtype=d)
    return (values("float32" if d.itemsize == 8 else "float64") + 1j * np.arange(6)).astype(d)


def one(name, array, version=None):
    out = io.BytesIO()
    npy.write_array(out, array, version=version, allow_pickle=True)
    write(name, out.getvalue())
    return name


for dtype in DTYPES:
    x = values(dtype).reshape(2, 3)
    expect(one(f"{dtype}.npy", x), "-", x)
    if np.dtype(dtype).itemsize > 1:
        big = x.astype(np.dtype(dtype).newbyteorder(">"))
        expect(one(f"{dtype}-big.npy", big), "-", big)

for name, x in {
    "fortran": np.asfortranarray(np.arange(24, dtype="int16").reshape(2, 3, 4)),
    "fortran-big": np.asfortranarray(np.arange(6, dtype=">f8").reshape(2, 3)),
    "scalar": np.array(7, dtype="uint8"),
    "empty": np.zeros((0, 3), dtype="float32"),
    "vector": np.arange(5, dtype="int8"),
}.items():
    expect(one(f"{name}.npy", x), "-", x)
for version in [(1, 0), (2, 0), (3, 0)]:
    x = np.arange(3, dtype="float32")
    expect(one(f"version-{version[0]}.npy", x, version), "-", x)

# As Python 2 wrote headers with text literals that are unicode.
x = np.arange(6, dtype="<f4").reshape(2, 3)
header = b"{u'descr': u'<f4', u'fortran_order': False, u'shape': (2L, 3L), }"
header += b" " * (117 - len(header)) + b"\n"
write("python-2.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + x.tobytes())
expect("python-2.npy", "-", np.load(os.path.join(HERE, "python-2.npy")))

# Several arrays in one file.
out = io.BytesIO()
several = [np.arange(3, dtype="int8"), np.asfortranarray(np.arange(6, dtype=">f8").reshape(2, 3)), np.zeros((0, 2), dtype="bool"), np.array(7, dtype="uint16")]
for x in several:
    np.save(out, x)
write("several.npy", out.getvalue())
for at, x in enumerate(several):
    expect("several.npy", at or "-", x)
write("cut.npy", out.getvalue()[:-1])
write("several-and-more.npy", out.getvalue() + b"x")

for name, x, why in [
    ("structured", np.zeros(2, dtype=[("a", "<f8"), ("b", "<i4")]), "structured array"),
    ("structured-utf8", np.zeros(2, dtype=[("\u20ac", "<f8")]), "structured array"),
    ("object", np.array([None, {"a": 1}], dtype=object), "Python objects"),
    ("bytes", np.array([b"ab", b"c"]), "byte strings"),
    ("text", np.array(["ab", "c"]), "text"),
    ("dates", np.array(["2020-01-01"], dtype="datetime64[D]"), "dates"),
    ("longdouble", np.zeros(1, dtype=np.longdouble), "extended precision"),
    ("bfloat16", np.zeros(2, dtype=ml_dtypes.bfloat16), "safetensors"),
]:
    refused.append(f"{one(name + '.npy', x)} {why}")

arrays = {"a": np.arange(4, dtype="int32").reshape(2, 2), "layer/0:w": np.asfortranarray(np.arange(6, dtype=">f4").reshape(2, 3)), "\u00e9": np.array(True), "zeros": np.zeros(300)}
for name, save in {"stored.npz": np.savez, "deflated.npz": np.savez_compressed}.items():
    out = io.BytesIO()
    save(out, **arrays)
    write(name, out.getvalue())
    for member, x in arrays.items():
        expect(name, member, x)

# Hostile archives, made by hand of honest members.
inner = io.BytesIO()
np.save(inner, np.arange(3, dtype="int8"))


def archive(name, why, *members, edit=lambda data: data, **options):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", **options) as z:
        for member, data in members:
            z.writestr(zipfile.ZipInfo(member), data, compress_type=options.get("compression", zipfile.ZIP_STORED))
    write(name, edit(out.getvalue()))
    refused.append(f"{name} {why}")


def overlapping(data):
    """The second member's directory entry points at the first member."""
    at = data.rindex(b"PK\x01\x02")
    return data[: at + 42] + b"\0\0\0\0" + data[at + 46 :]


def claiming(data):
    """The first member claims 4 GB."""
    at = data.index(b"PK\x01\x02")
    return data[: at + 24] + b"\xfe\xff\xff\xff" + data[at + 28 :]


def corrupted(data):
    at = data.index(b"\x93NUMPY") + 129
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


npy_bytes = inner.getvalue()
archive("twice.npz", "there twice", ("a.npy", npy_bytes), ("a.npy", npy_bytes))
archive("twice-stripped.npz", "there twice", ("a.npy", npy_bytes), ("a", npy_bytes))
archive("overlap.npz", "contradict", ("a.npy", npy_bytes), ("b.npy", npy_bytes), edit=overlapping)
archive("bomb.npz", "no 1", ("a.npy", npy_bytes + bytes(100000)), compression=zipfile.ZIP_DEFLATED, edit=claiming)
archive("checksum.npz", "checksum", ("a.npy", npy_bytes), edit=corrupted)
archive("bzip2.npz", "compression", ("a.npy", npy_bytes), compression=zipfile.ZIP_BZIP2)
archive("no-array.npz", "no npy file", ("a.txt", b"hello"))
archive("trailing.npz", "follows", ("a.npy", npy_bytes), edit=lambda data: data + b"x")

# Arrays beside what is none, of a kind that tensors do not have, and compressed in a way that is not read.
out = io.BytesIO()
with zipfile.ZipFile(out, "w") as z:
    z.writestr("note.txt", "hello")
    z.writestr("broken.npy", b"hello")
    for member, x, how in [("a", np.arange(3, dtype="int8"), zipfile.ZIP_STORED), ("object", np.array([None]), zipfile.ZIP_DEFLATED), ("bzip2", np.arange(3), zipfile.ZIP_BZIP2), ("b", np.arange(4.0), zipfile.ZIP_DEFLATED)]:
        inner = io.BytesIO()
        npy.write_array(inner, x, allow_pickle=True)
        z.writestr(member + ".npy", inner.getvalue(), compress_type=how)
write("mixed.npz", out.getvalue())
expect("mixed.npz", "a", np.arange(3, dtype="int8"))
expect("mixed.npz", "b", np.arange(4.0))

tensors = {d: values(d).reshape(3, 2) for d in DTYPES if d != "complex128"}
tensors |= {"scalar": np.array(2.5), "empty": np.zeros((0, 2), dtype="int16")}
brain = values("float32").astype(ml_dtypes.bfloat16)
write("all.safetensors", save_safetensors(tensors | {"bfloat16": brain}, metadata={"format": "np", "b": "2"}))
for member, x in tensors.items():
    expect("all.safetensors", member, x)
expect("all.safetensors", "bfloat16", brain.view("uint16"), "bfloat16")

table = io.BytesIO()
np.savetxt(table, np.array([[1, 0.1], [-2.5e300, np.inf]]), delimiter=",", header="a,b")
write("table.csv", table.getvalue())

write("expected.txt", ("\n".join(expected) + "\n").encode())
write("refused.txt", ("\n".join(refused) + "\n").encode())

#!/usr/bin/env python3
"""Checks .npy files against NumPy: boxcar reads what NumPy writes, and NumPy reads what boxcar writes.

Usage: npy_test.py BOXCAR. Skipped (status 77) if NumPy is missing.
"""
import itertools
import os
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("skipped: there is no NumPy")
    sys.exit(77)

DTYPES = ["?", "u1", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"]
SHAPES = [(), (0,), (1,), (7,), (2, 3), (3, 1, 2), (0, 4), (2, 0, 3), (2, 3, 4)]


def sample(dtype, shape):
    """Returns an array of different numbers, with signs and fractions if the dtype has them."""
    numbers = numpy.arange(int(numpy.prod(shape)), dtype="f8").reshape(shape)
    kind = numpy.dtype(dtype).kind
    if kind in "fc":
        numbers = numbers / 4 - 1
    if kind == "c":
        numbers = numbers + 1j * (numbers + 0.5)
    if kind == "b":
        numbers = numbers % 2
    return numbers.astype(dtype)


def main():
    boxcar = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        expected = []
        for dtype, shape, order, big, version in itertools.product(
                DTYPES, SHAPES, "CF", [False, True], [(1, 0), (2, 0), (3, 0)]):
            array = numpy.array(sample(dtype, shape), order=order)
            if big:
                array = array.astype(array.dtype.newbyteorder(">"))
            with open(os.path.join(folder, f"in{len(expected)}.npy"), "wb") as file:
                numpy.lib.format.write_array(file, array, version=version)
            expected.append(array)
        # A tensor that is in neither C order nor Fortran order is written in C order.
        script = f"""i = 0
while i < {len(expected)} {{
    x = io::load_npy(f"in{{i}}.npy")
    io::save_npy(x, f"out{{i}}.npy")
    i = i + 1
}}
x = arange(24, dtype=float32).reshape(2, 3, 4)
io::save_npy(x.transpose(0, 1), "transposed.npy")
io::save_npy(x[:, 1], "sliced.npy")
io::save_npy(x[0, 0, :1].expand(3), "expanded.npy")
io::save_npy(x.reshape(4, 6).t(), "fortran.npy")
"""
        with open(os.path.join(folder, "copy.ops"), "w", encoding="utf-8") as file:
            file.write(script)
        subprocess.run([boxcar, "run", os.path.join(folder, "copy.ops")], check=True)

        def load(name):
            return numpy.load(os.path.join(folder, name), allow_pickle=False)

        for i, array in enumerate(expected):
            found = load(f"out{i}.npy")
            what = f"{array.dtype.str} of shape {array.shape}"
            assert found.dtype == array.dtype.newbyteorder("="), (what, found.dtype)
            assert found.shape == array.shape, (what, found.shape)
            assert found.tobytes() == array.astype(array.dtype.newbyteorder("=")).tobytes(), what
            if array.size > 1:
                assert found.flags.f_contiguous == array.flags.f_contiguous, what
            with open(os.path.join(folder, f"out{i}.npy"), "rb") as file:
                start = file.read(10)
            assert start[:8] == b"\x93NUMPY\x01\x00", what
            assert (10 + int.from_bytes(start[8:], "little")) % 64 == 0, what

        x = numpy.arange(24, dtype="f4").reshape(2, 3, 4)
        for name, array in [("transposed", x.transpose(1, 0, 2)), ("sliced", x[:, 1]),
                            ("expanded", numpy.zeros(3, "f4")), ("fortran", x.reshape(4, 6).T)]:
            found = load(name + ".npy")
            assert found.dtype == array.dtype and numpy.array_equal(found, array), name
        assert load("fortran.npy").flags.f_contiguous
        print(len(expected), "arrays are the same in NumPy")


main()

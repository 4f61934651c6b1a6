#!/usr/bin/env python3
"""Loads .npz files written with Python's zipfile, as NumPy writes them, and by NumPy itself if it is installed.

Usage: npz_test.py BOXCAR.
"""
import os
import struct
import subprocess
import sys
import tempfile
import zipfile

try:
    import numpy
except ImportError:
    numpy = None

# NumPy's descr, the format character of struct, the dtype as boxcar prints it, numbers.
DTYPES = [
    ("|b1", "?", "bool", [True, False, True, True, False, True]),
    ("|u1", "B", "uint8", [0, 1, 2, 100, 200, 255]),
    ("|i1", "b", "int8", [0, 1, -2, 100, -128, 127]),
    ("i2", "h", "int16", [0, 1, -2, 1000, -32768, 32767]),
    ("i4", "i", "int32", [0, 1, -2, 100000, -2147483648, 2147483647]),
    ("i8", "q", "int64", [0, 1, -2, 1 << 40, -(1 << 40), 5]),
    ("f2", "e", "float16", [0.0, 1.5, -2.0, 0.25, 8.0, -0.5]),
    ("f4", "f", "float32", [0.0, 1.5, -2.0, 0.25, 8.0, -0.5]),
    ("f8", "d", "float64", [0.0, 1.5, -2.0, 0.25, 8.0, -0.5]),
]


def npy(descr, shape, data, fortran=False):
    """Returns a .npy file in format 1.0."""
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    text += b" " * (-(10 + len(text) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def floats(*numbers):
    return npy("<f4", f"({len(numbers)},)", struct.pack(f"<{len(numbers)}f", *numbers))


class Folder:
    def __init__(self, boxcar, path):
        self.boxcar, self.path = os.path.abspath(boxcar), path

    def write(self, name, members, method=zipfile.ZIP_STORED, zip64=False):
        path = os.path.join(self.path, name)
        with zipfile.ZipFile(path, "w", method) as archive:
            for member, data in members:
                with archive.open(member, "w", force_zip64=zip64) as file:
                    file.write(data)
        return path

    def run(self, script, *options):
        path = os.path.join(self.path, "x.ops")
        with open(path, "w", encoding="utf-8") as file:
            file.write(script)
        return subprocess.run([self.boxcar, "run", *options, path], capture_output=True, text=True)

    def output(self, script):
        done = self.run(script)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def fault(self, name="x.npz", *options):
        done = self.run(f'print(len(io::load("{name}")))', *options)
        assert done.returncode == 1, (done.returncode, done.stdout, done.stderr)
        return done.stderr.replace(self.path + "/", "")

    def refuses(self, expected, name="x.npz", *options):
        found = self.fault(name, *options)
        assert expected in found, f"\nexpected: {expected}\nfound: {found}"


def every_dtype_is_read(folder):
    for method in [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]:
        for zip64 in [False, True]:
            members, expected = [], ""
            for descr, letter, dtype, numbers in DTYPES:
                for order in "<>" if descr[0] != "|" else "|":
                    name = f"{dtype}_{'big' if order == '>' else 'little'}"
                    full = descr if descr[0] == "|" else order + descr
                    data = struct.pack(("<" if order == "|" else order) + f"6{letter}", *numbers)
                    members.append((name + ".npy", npy(full, "(2, 3)", data)))
                    expected += f"{name} torch.{dtype} {[numbers[:3], numbers[3:]]}\n"
            for descr, letter, dtype in [("<c8", "f", "complex64"), ("<c16", "d", "complex128")]:
                members.append((dtype + ".npy", npy(descr, "(2,)", struct.pack("<4" + letter, 1, 2, 3, -4))))
                expected += f"{dtype} torch.{dtype} [(1+2j), (3-4j)]\n"
            folder.write("x.npz", members, method, zip64)
            found = folder.output('for name, x in io::load("x.npz").items() { print(name, x.dtype, x.tolist()) }')
            assert found == expected, f"\nexpected: {expected}\nfound: {found}"


def shapes_and_orders_are_kept(folder):
    six = struct.pack("<6i", *range(6))
    folder.write("x.npz", [
        ("fortran.npy", npy("<i4", "(2, 3)", six, fortran=True)),
        ("number.npy", npy("<i4", "()", struct.pack("<i", 7))),
        ("empty.npy", npy("<i4", "(2, 0, 3)", b"")),
        ("folder/größe.npy", npy("<i4", "(6,)", six)),
        ("no suffix", npy("<i4", "(1, 6)", six)),
    ], zipfile.ZIP_DEFLATED)
    found = folder.output('for name, x in io::load("x.npz").items() { print(name, x.shape, x.tolist()) }')
    assert found == """fortran [2, 3] [[0, 2, 4], [1, 3, 5]]
number [] 7
empty [2, 0, 3] [[], []]
folder/größe [6] [0, 1, 2, 3, 4, 5]
no suffix [1, 6] [[0, 1, 2, 3, 4, 5]]
""", found
    folder.write("x.npz", [])
    assert folder.output('print(io::load("x.npz"))') == "{}\n"


def what_it_holds_tells_the_kind(folder):
    folder.write("weights", [("w.npy", floats(1, 2))])
    found = folder.output('x = io::load("weights")\nx["w"].add_(1)\nprint(x)\nprint(io::load("weights"))\nio::save(x, "x.npz")')
    assert found == "{'w': tensor([2., 3.])}\n{'w': tensor([1., 2.])}\n", found
    # A safetensors file named .npz is not an .npz file.
    folder.refuses("'x.npz' is not a valid zip archive: it has", "x.npz")


def names_are_keys_and_nothing_else(folder):
    folder.write("x.npz", [("../../etc/passwd.npy", floats(1)), ("/root.npy", floats(2))])
    found = folder.output('print(io::load("x.npz"))')
    assert found == "{'../../etc/passwd': tensor([1.]), '/root': tensor([2.])}\n", found


def what_is_no_array_is_refused(folder):
    folder.write("x.npz", [("a.npy", floats(1)), ("o.npy", npy("|O", "(1,)", b"12345678"))])
    folder.refuses("'o.npy' in 'x.npz' cannot be loaded: at byte 20, its dtype is '|O', which boxcar does not have")
    folder.refuses("Python objects are not read: save numbers")
    folder.write("x.npz", [("readme.txt", b"hello")])
    folder.refuses("'readme.txt' in 'x.npz' is not a .npy file: it has 5 bytes and does not begin with '\\x93NUMPY'")
    folder.write("x.npz", [("a.npy", floats(1)), ("a", floats(2))])
    folder.refuses("'a' in 'x.npz' cannot be loaded: another array of the archive is called 'a', too")
    folder.write("x.npz", [("a.npy", npy("<f4", "(9,)", b"1234"))])
    folder.refuses("'a.npy' in 'x.npz' is not a valid .npy file: an array of dtype float32 and shape (9,) has 36 bytes, but "
                   "4 follow the header, which ends at byte 128")
    folder.write("x.npz", [("a.npy", floats(1))], zipfile.ZIP_BZIP2)
    folder.refuses("'a.npy' in 'x.npz' cannot be loaded: it is compressed by method 12, and members must be stored (0) "
                   "or deflated (8)")


def changed(path, at, *values):
    with open(path, "r+b") as file:
        file.seek(at)
        file.write(bytes(values))


def damage_is_noticed(folder):
    data = floats(*range(100))
    for method in [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]:
        path = folder.write("x.npz", [("a.npy", data)], method)
        size = os.path.getsize(path)
        if method == zipfile.ZIP_STORED:
            changed(path, 400, 0xFF)
            folder.refuses("'a.npy' in 'x.npz' cannot be read: at its end, behind byte 528: its bytes do not have the "
                           "checksum of the archive")
        for cut in [1, 30, size // 2, size - 4]:
            folder.write("x.npz", [("a.npy", data)], method)
            os.truncate(path, size - cut)
            folder.refuses(f"'x.npz' is not a valid zip archive: it has {size - cut} bytes, and does not end with the record "
                           "that ends an archive")
    # The directory says that the member is encrypted, but it is not.
    path = folder.write("x.npz", [("a.npy", data)])
    directory = open(path, "rb").read().rindex(b"PK\x01\x02")
    changed(path, directory + 8, 1)
    changed(path, 6, 1)
    folder.refuses("'a.npy' in 'x.npz' cannot be loaded: it is encrypted")


def sizes_are_checked_before_memory_is_taken(folder):
    # Wrong sizes: of a member in the directory, and of the elements in the member's header.
    huge = npy("<f4", "(268435456, 64)", b"1234")
    path = folder.write("x.npz", [("a.npy", huge)], zipfile.ZIP_DEFLATED)
    folder.refuses("has 68719476736 bytes, but 4 follow the header")
    content = open(path, "rb").read()
    directory = content.rindex(b"PK\x01\x02")
    changed(path, directory + 24, *struct.pack("<I", 0xF0000000))
    packed = struct.unpack("<I", content[directory + 20:directory + 24])[0]
    folder.refuses(f"'a.npy' in 'x.npz' cannot be read: it should have 4026531840 bytes, which the {packed} bytes in the "
                   "archive cannot become")
    # Two members share the same bytes.
    path = folder.write("x.npz", [("a.npy", floats(*range(1000))), ("b.npy", floats(1))])
    content = open(path, "rb").read()
    first, second = content.index(b"PK\x01\x02"), content.rindex(b"PK\x01\x02")
    changed(path, second + 20, *content[first + 20:first + 28])
    changed(path, second + 42, *content[first + 42:first + 46])
    folder.refuses("in 'x.npz' cannot be read: its 4128 bytes behind its header at byte 0 overlap what begins at byte 0, ")
    if "MEMORY_CANNOT_BE_LIMITED" in os.environ:
        return
    # Sizes that are correct, but too large.
    folder.write("x.npz", [("a.npy", npy("|u1", "(200000000,)", bytes(200000000)))], zipfile.ZIP_DEFLATED)
    found = folder.fault("x.npz", "--max-memory", "100M")
    assert "200000000" in found and "memory" in found, found


def a_sandbox_holds_for_it(folder):
    os.mkdir(os.path.join(folder.path, "inner"))
    folder.write("x.npz", [("a.npy", floats(1))])
    path = os.path.join(folder.path, "inner", "y.ops")
    with open(path, "w", encoding="utf-8") as file:
        file.write('print(io::load("../x.npz"))')
    done = subprocess.run([folder.boxcar, "run", "--sandbox", path], capture_output=True, text=True)
    assert done.returncode == 1 and "x.npz" in done.stderr and "tensor" not in done.stdout, (done.stdout, done.stderr)


def numpy_writes_what_is_read(folder):
    if numpy is None:
        print("there is no NumPy: what it writes is not read")
        return
    arrays = {f"{dtype}_{i}": numpy.asarray(numpy.arange(numpy.prod(shape)).reshape(shape), dtype=dtype, order=order)
              for dtype in ["?", "u1", "i1", "i2", "i4", "i8", "f2", ">f4", "f8", "c8", "c16"]
              for i, (shape, order) in enumerate([((), "C"), ((0,), "C"), ((2, 3), "C"), ((4, 5), "F"), ((300, 70), "C")])}
    for save in [numpy.savez, numpy.savez_compressed]:
        save(os.path.join(folder.path, "x.npz"), **arrays)
        folder.output('for name, x in io::load("x.npz").items() { io::save_npy(x, name.replace("?", "q") + ".npy") }')
        for name, array in arrays.items():
            found = numpy.load(os.path.join(folder.path, name.replace("?", "q") + ".npy"))
            assert found.dtype == array.dtype.newbyteorder("=") and numpy.array_equal(found, array), name


def what_is_saved_is_read_by_zipfile(folder):
    folder.output('io::save_npz({"a": arange(6).view(2, 3).t(), "b/ä": tensor([True]), "empty": zeros(0, 2)}, "saved.npz")')
    assert folder.output('print(io::load("saved.npz"))') == (
        "{'a': tensor([[0, 3],\n        [1, 4],\n        [2, 5]]), 'b/ä': tensor([True]), 'empty': tensor([], size=(0, 2))}\n")
    with zipfile.ZipFile(os.path.join(folder.path, "saved.npz")) as archive:
        assert archive.testzip() is None and archive.namelist() == ["a.npy", "b/ä.npy", "empty.npy"]
    if numpy is not None:
        with numpy.load(os.path.join(folder.path, "saved.npz")) as arrays:
            assert arrays["a"].tolist() == [[0, 3], [1, 4], [2, 5]] and arrays["empty"].shape == (0, 2)
    failed = folder.run('io::save_npz({"a": zeros(1, dtype=bfloat16)}, "no.npz")').stderr
    assert "the tensor has the dtype bfloat16, which NumPy does not have" in failed, failed
    assert not os.path.exists(os.path.join(folder.path, "no.npz"))


def main():
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(sys.argv[1], os.path.realpath(path))
        for test in [every_dtype_is_read, shapes_and_orders_are_kept, what_it_holds_tells_the_kind,
                     names_are_keys_and_nothing_else, what_is_no_array_is_refused, damage_is_noticed,
                     sizes_are_checked_before_memory_is_taken, a_sandbox_holds_for_it, what_is_saved_is_read_by_zipfile,
                     numpy_writes_what_is_read]:
            test(folder)
            print(test.__name__.replace("_", " "))


main()

"""Uses the package boxcar that is installed, and checks that all libraries are the package's own or every system's."""

import os
import pathlib
import re
import sys

import boxcar

# What the policies of manylinux take for granted, and what Python itself brings.
SYSTEM = re.compile(r"(lib(c|m|dl|rt|pthread|util|stdc\+\+|gcc_s|z|expat)|ld-linux[-a-z0-9_]*)\.so(\.\d+)*")
PACKAGE = pathlib.Path(boxcar.__file__).parent


def check(holds, what):
    if not holds:
        sys.exit(f"uses_wheel.py: {what}")


def libraries():
    """The files with code in this process."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return {line.split(maxsplit=5)[5].strip() for line in maps if re.search(r"\.so(\.|$)", line.strip())}


check(PACKAGE.is_relative_to(sys.prefix), f"boxcar is {PACKAGE}, not the package of {sys.prefix}")

x = boxcar.tensor([[1.0, -2.0], [3.0, 4.0]])
check(boxcar.relu(x).tolist() == [[1.0, 0.0], [3.0, 4.0]], "relu is wrong")
check((x.softmax(1).sum() - 2).abs().item() < 1e-6, "softmax is wrong")

# Gradients.
x.requires_grad = True
(x * x).sum().backward()
check(x.grad.tolist() == [[2.0, -4.0], [6.0, 8.0]], "gradients are wrong")

# OpenBLAS multiplies large matrices of float64 and solves equations.
check(not any("openblas" in path for path in libraries()), "OpenBLAS was opened before it was needed")
boxcar.manual_seed(1)
a = boxcar.rand(256, 256, dtype=boxcar.float64)
product = a.mm(a)
check((product - (a.unsqueeze(2) * a.unsqueeze(0)).sum(1)).abs().max().item() < 1e-9, "a product of float64 is wrong")
solved = boxcar.linalg_solve(a, product)
check((solved - a).abs().max().item() < 1e-6, "linalg_solve is wrong")
check(any("boxcar_openblas" in path for path in libraries()), "the product was not OpenBLAS's")

# oneDNN convolves.
image, weight = boxcar.rand(2, 8, 32, 32), boxcar.rand(16, 8, 3, 3)
convolved = boxcar.conv2d(image, weight, padding=1)
one = (image[:, :, 4:7, 4:7].unsqueeze(1) * weight).sum([2, 3, 4])
check((convolved[:, :, 5, 5] - one).abs().max().item() < 1e-4, "a convolution is wrong")
check(any("dnnl" in path for path in libraries()), "oneDNN is not there")

# KissFFT, whose code is in boxcar's own library.
check((boxcar.fft_fft(boxcar.ones(8)).abs().sum() - 8).abs().item() < 1e-5, "fft_fft is wrong")

script = boxcar.compile("fn twice(Tensor x) -> Tensor { return x + x }")
check(script.twice(boxcar.ones(2)).tolist() == [2.0, 2.0], "a script is wrong")
with boxcar.profile() as scope:
    boxcar.ones(2) + 1
check("aten::add" in scope.report, "a handler reports nothing")

foreign = sorted(path for path in libraries()
                 if not path.startswith(sys.prefix) and not SYSTEM.fullmatch(os.path.basename(path))
                 and "/lib-dynload/" not in path and not os.path.basename(path).startswith("libpython"))
check(not foreign, f"these libraries are not the package's: {', '.join(foreign)}")
for name in ("py.typed", "__init__.pyi", "ops.pyi"):
    check((PACKAGE / name).is_file(), f"the package has no {name}")
check(not list(PACKAGE.glob("*.cpp")) and not list(PACKAGE.glob("*.h")), "the package has sources")
